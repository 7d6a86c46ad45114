#!/usr/bin/env bash
# Blocks of floats, and rows of them, of each format that says how, on every target: what ggml, MLX and bitsandbytes make of the same
# floats; the same bits on all targets for floats that are zeros, subnormal, infinite or no numbers; that encoding what was decoded
# changes nothing where the method promises it; and what is refused.
source "$(dirname "$0")/../lib.sh"
floats=$BUILD/floats
if ! [ "$floats" -nt "$SOURCE/tests/tools/floats.c" ]; then
  "${CC:-cc}" -std=c11 -O2 -Wall -Wextra -Wpedantic -Werror -o "$floats" "$SOURCE/tests/tools/floats.c" -lm
fi
mx=$BUILD/mx
if ! [ "$mx" -nt "$SOURCE/tests/tools/mx.c" ]; then
  "${CC:-cc}" -std=c11 -O2 -Wall -Wextra -Wpedantic -Werror -o "$mx" "$SOURCE/tests/tools/mx.c" -lm
fi
given=$SOURCE/tests/vectors/encode
export floats mx given

# outputs FORMAT FOLDER: the arguments that name a file for each buffer.
outputs() {
  case $1 in
    affine_*) printf -- '--out %s ' "weight=$2/weight" "scales=$2/scales" "biases=$2/biases" ;;
    mlx_*) printf -- '--out %s ' "weight=$2/weight" "scales=$2/scales" ;;
    mx_*) printf -- '--out %s ' "codes=$2/codes" "scales=$2/scales" ;;
    nf4_* | fp4_*) printf -- '--out %s ' "weight=$2/weight" "absmax=$2/absmax" ;;
    *) echo --out "$2/blocks" ;;
  esac
}

# encode FORMAT TARGET FILE FOLDER
encode() {
  mkdir -p "$4"
  # shellcheck disable=SC2046
  "$QKGEN" run encode --format "$1" --target "$2" --in "$3" $(outputs "$1" "$4") 2>"$4.log" ||
    { fail "$1 on $2: the run failed" "$4.log"; return 1; }
}

# What the library made is made on every target. Other floats, of formats that differ in group and type of scales alone, on C, and of some
# on the targets that compile for seconds.
skips() {
  case ${ALL:-}$2-$1 in
    1* | c-* | *-affine_b?_g64_bf16 | *-affine_b3_g32_f16 | *-affine_b4_g128_f32) return 1 ;;
    *-affine_*) return 0 ;;
  esac
  return 1
}

# What the library made, and the first bytes of a whole tensor of it.
expected() {
  local name
  if [ -e "$given/$1.blocks" ]; then
    check "$1 on $2: other blocks than the library's" cmp "$3/blocks" "$given/$1.blocks"
  else
    for name in "$3"/*; do
      name=${name##*/}
      if [ -e "$given/$1.$name" ]; then
        check "$1 on $2: other $name than the library's" cmp "$3/$name" "$given/$1.$name"
        continue
      fi
      check "$1 on $2: other $name than the library's" \
        cmp "$3/$name" <(head -c "$(stat -c %s "$3/$name")" "$SOURCE/tests/vectors/mlx/$1/$name")
    done
  fi
}

# The values of what was encoded.
decode() {
  local shape=()
  case $1 in nf4_* | fp4_*) shape=(--rows 1 --cols $(($(stat -c %s "$2/weight") * 2))) ;; esac
  # shellcheck disable=SC2046
  "$QKGEN" run dequant --format "$1" --target c --type f32 $(inputs "$2") "${shape[@]}" --out "$3" 2>"$2.log" ||
    fail "$1: what was encoded cannot be decoded" "$2.log"
}

# Formats whose method finds again what it made of usual floats: decoded values, encoded and decoded, are the same.
keeps() {
  case $1 in
    q4_0 | q5_0 | q8_0 | tq1_0 | tq2_0 | mxfp4 | mlx_mxfp8) return 0 ;;
  esac
  return 1
}

one() {
  local format=$1 data=$work/$1 target kind
  mkdir -p "$data"
  for kind in usual hostile; do "$floats" $kind 40960 7 >"$data/$kind.f32"; done
  for target in $targets; do
    encode "$format" "$target" "$given/$format.f32" "$data/$target" || continue
    expected "$format" "$target" "$data/$target"
    if skips "$format" "$target"; then continue; fi
    for kind in usual hostile; do
      encode "$format" "$target" "$data/$kind.f32" "$data/$target.$kind" || continue
      [ "$target" = c ] || check "$format: $kind floats become other blocks on $target than in C" \
        diff -r "$data/c.$kind" "$data/$target.$kind"
    done
  done
  decode "$format" "$data/c.hostile" "$data/values.f32"
  if keeps "$format"; then
    decode "$format" "$data/c.usual" "$data/values.f32"
    encode "$format" c "$data/values.f32" "$data/again" && decode "$format" "$data/again" "$data/again.f32"
    check "$format: values that were decoded are others when they are encoded again" \
      cmp "$data/values.f32" "$data/again.f32"
  fi
  rm -r "$data"
}
# sets FORMAT: rows of 512 floats become rows 3, 0, none, 6, 2 and none of a table of seven; the others keep what they had. The last
# index is 2^28 + 1: where it is not refused, and a row has 16 blocks, the numbers of its blocks in 32 bits are those of row 1.
sets() {
  local format=$1 data=$work/set-$1 target name bytes row token into given_to
  mkdir -p "$data/into" "$data/expected"
  "$floats" usual 3072 3 >"$data/src.f32"
  "$floats" usual 3584 5 >"$data/before.f32"
  printf '\3\0\0\0\0\0\0\0\7\0\0\0\6\0\0\0\2\0\0\0\1\0\0\20' >"$data/indices"
  encode "$format" c "$data/src.f32" "$data/rows"
  encode "$format" c "$data/before.f32" "$data/into"
  for name in "$data/into"/*; do
    name=${name##*/}
    bytes=$(($(stat -c %s "$data/into/$name") / 7))
    row=0
    for token in 1 - 4 0 - - 3; do
      if [ $token = - ]; then into=$data/into/$name given_to=$row; else into=$data/rows/$name given_to=$token; fi
      tail -c +$((given_to * bytes + 1)) "$into" | head -c "$bytes"
      row=$((row + 1))
    done >"$data/expected/$name"
  done
  for target in $targets; do
    mkdir "$data/$target"
    # shellcheck disable=SC2046
    "$QKGEN" run set_rows --format "$format" --target "$target" --rows 7 --cols 512 --in "$data/src.f32" \
      --indices "$data/indices" $(outputs "$format" "$data/into" | sed 's/--out/--into/g') \
      $(outputs "$format" "$data/$target") 2>"$data/log" || { fail "set_rows of $format on $target" "$data/log"; continue; }
    says "$format on $target: the row that there is not" ": 2 of 6 indices are not below --rows 7" "$data/log"
    check "set_rows of $format on $target" diff -r "$data/expected" "$data/$target"
  done
  rm -r "$data"
}
# narrow FORMAT COLS: rows of few blocks, so that those that a device writes as whole words are of several rows, which follow each other
# or do not, and begin where a word does or does not.
narrow() {
  local format=$1 cols=$2 data=$work/narrow-$1-$2 target
  mkdir -p "$data"
  "$floats" usual $((12 * cols)) 9 >"$data/src.f32"
  printf '\4\0\0\0\7\0\0\0\2\0\0\0\3\0\0\0\5\0\0\0\6\0\0\0\0\0\0\0\1\0\0\0\10\0\0\0\11\0\0\0\12\0\0\0\13\0\0\0' >"$data/indices"
  for target in $targets; do
    "$QKGEN" run set_rows --format "$format" --target "$target" --rows 12 --cols "$cols" --in "$data/src.f32" --indices "$data/indices" \
      --out "$data/$target" 2>"$data/log" || fail "narrow rows of $format on $target" "$data/log"
    [ "$target" = c ] || check "rows of $cols columns of $format on $target" cmp "$data/c" "$data/$target"
  done
  rm -r "$data"
}
# types FORMAT: floats of f16 and bf16, of any bits, become the same blocks on all targets.
types() {
  local format=$1 data=$work/types-$1 target type
  mkdir -p "$data"
  "$floats" usual 4096 11 >"$data/src"
  for type in f16 bf16; do
    for target in $targets; do
      mkdir -p "$data/$type.$target"
      # shellcheck disable=SC2046
      "$QKGEN" run encode --format "$format" --target "$target" --type $type --in "$data/src" $(outputs "$format" "$data/$type.$target") \
        2>"$data/log" || { fail "$format of $type on $target" "$data/log"; continue; }
      [ "$target" = c ] || check "$format: $type becomes other blocks on $target than in C" diff -r "$data/$type.c" "$data/$type.$target"
    done
  done
  ! cmp -s "$data"/f16.c/* "$data"/bf16.c/* || fail "$format: f16 and bf16 become the same blocks"
  rm -r "$data"
}
# Of zeros with signs, the first is the least, and the greatest, also where threads do not have elements in their order.
zeros() {
  local data=$work/zeros target i n
  mkdir -p "$data"
  # The first zero of a block is below 0, the next ones are not; all else is above 0 in some blocks, and below in others.
  for i in {0..127}; do
    case $i in
      5 | 70) printf '\0\0\0\200' ;;
      8 | 72 | 77) printf '\0\0\0\0' ;;
      *) [ "$i" -lt 64 ] && printf '\0\0\200\077' || printf '\0\0\200\277' ;;
    esac
  done >"$data/in"
  # Made by a team, and by one thread.
  for n in 64 32; do
    cat >"$data/edges.quant" <<SPEC
format edges "the least and the greatest of some"
block $n { q: u8[$n] lo: f32 hi: f32 }
code c = q { 8 @ 0 ($n:8) }
value = c == 0 ? lo : hi
encode {
    lo = min(x)
    hi = max(x)
    c = even(x, 0, 255)
}
SPEC
    for target in $targets; do
      check "signed zeros on $target" \
        "$QKGEN" run encode --spec "$data/edges.quant" --format edges --target "$target" --in "$data/in" --out "$data/$target"
      [ "$target" = c ] || check "signed zeros: other blocks of $n on $target than in C" cmp "$data/c" "$data/$target"
    done
  done
}
# Signed codes that begin within a block's first 256 bytes, and far behind them.
far() {
  local data=$work/far target n
  mkdir -p "$data"
  "$floats" usual 4096 11 >"$data/in"
  for n in 2 400; do
    cat >"$data/far.quant" <<SPEC
format far "codes behind $n bytes"
block 32 { spare pad: u8[$n] d: f16 w: u8[16] }
code q = w { 4 @ 0 (32:4) }
value = ((q ^ 8) - 8) * d
encode {
    d = max(abs(x)) / 7.0
    t = d == 0.0 ? 1e20 : d
    q = round(x / t, -7, 7) & 15
}
SPEC
    for target in $targets; do
      check "codes behind $n bytes on $target" \
        "$QKGEN" run encode --spec "$data/far.quant" --format far --target "$target" --in "$data/in" --out "$data/$target"
      [ "$target" = c ] || check "codes behind $n bytes: other blocks on $target than in C" cmp "$data/c" "$data/$target"
    done
  done
}
# small FORMAT TYPE: what OCP's specification makes of floats, and the same on all targets of any.
small() {
  local format=$1 data=$work/$1 target kind
  mkdir -p "$data"
  for kind in usual ties hostile; do
    "$floats" $kind 40960 13 >"$data/$kind.f32"
    mkdir "$data/must.$kind"
    [ $kind = hostile ] || "$mx" "$2" "$data/$kind.f32" "$data/must.$kind"
    for target in $targets; do
      encode "$format" "$target" "$data/$kind.f32" "$data/$target.$kind" || continue
      case $kind in
        hostile) [ "$target" = c ] || check "$format: $kind floats become other blocks on $target than in C" \
          diff -r "$data/c.$kind" "$data/$target.$kind" ;;
        *) check "$format: $kind floats become other blocks on $target than OCP's specification has" \
          diff -r "$data/must.$kind" "$data/$target.$kind" ;;
      esac
    done
  done
  rm -r "$data"
}
export -f one outputs encode skips expected decode keeps sets narrow types zeros far small
if [ $# -gt 0 ]; then
  printf '%s\n' "$@" | each
  finish
  exit
fi
for path in "$given"/*.f32; do basename "$path" .f32; done | sed "s/^/one /" | each
printf 'small %s\n' 'mx_fp4 e2m1' 'mx_fp6_e2m3 e2m3' 'mx_fp6_e3m2 e3m2' 'mx_fp8_e4m3 e4m3' 'mx_fp8_e5m2 e5m2' | each
printf 'types %s\n' q4_0 q4_K | each
printf 'sets %s\n' q4_0 q8_0 mxfp4 q4_K tq1_0 affine_b4_g64_bf16 mlx_nvfp4 nf4_b64 | each
printf 'narrow %s\n' 'q8_0 32' 'q8_0 96' 'mxfp4 32' 'mxfp4 96' 'q4_1 32' 'q2_0 64' 'q2_0 4160' 'tq1_0 256' 'nvfp4 64' 'nvfp4 4160' | each
printf '%s\n' zeros far | each

head -c 128 "$given/q4_0.f32" >"$work/one.f32"
: >"$work/empty.f32"
for target in $targets; do
  check "an empty tensor on $target" \
    "$QKGEN" run encode --format q4_0 --target "$target" --in "$work/empty.f32" --out "$work/none"
  check "an empty tensor on $target has bytes, or no file" cmp "$work/none" "$work/empty.f32"
  check "one block on $target" "$QKGEN" run encode --format q4_0 --target "$target" --in "$work/one.f32" --out "$work/block"
  check "one block on $target is not the first" cmp "$work/block" <(head -c 18 "$given/q4_0.blocks")
done

head -c 100 "$given/q4_0.f32" >"$work/short.f32"
refuses "a part of a block" "100 bytes, which is no multiple of the 128 bytes" \
  "$QKGEN" run encode --format q4_0 --target c --in "$work/short.f32" --out "$work/short"
check "a file was left behind" [ ! -e "$work/short" ]
refuses "a format that does not say how" "iq2_s does not say how its blocks are made" \
  "$QKGEN" run encode --format iq2_s --target c --in "$work/one.f32" --out "$work/x"
refuses "no input" "needs --in FILE" "$QKGEN" run encode --format q4_0 --target c --out "$work/x"
refuses "no output" "has 1 buffer, but --out was given 0 times" "$QKGEN" run encode --format q4_0 --target c --in "$work/one.f32"
refuses "an output too few" "has 2 buffers, but --out was given 1 times" \
  "$QKGEN" run encode --format mlx_mxfp4 --target c --in "$work/one.f32" --out weight="$work/x"
refuses "an output of no buffer" "needs --out scales=FILE" \
  "$QKGEN" run encode --format mlx_mxfp4 --target c --in "$work/one.f32" --out weight="$work/x" --out zeros="$work/y"
sets=("$QKGEN" run set_rows --format q4_0 --target c --in "$work/one.f32" --out "$work/x")
refuses "set_rows without a shape" "set_rows needs --rows, at least 1" "${sets[@]}" --indices "$work/one.f32"
refuses "set_rows without indices" "set_rows needs --indices FILE" "${sets[@]}" --rows 1 --cols 32
refuses "columns that are no blocks" "a multiple of the 32 elements" "${sets[@]}" --rows 1 --cols 33 --indices "$work/one.f32"
refuses "floats of other rows" "holds 32 floats, but 32 rows of --cols 32 have 1024" \
  "${sets[@]}" --rows 1 --cols 32 --indices "$work/one.f32"
refuses "a table of another size" "128 bytes, but --rows 9 of --cols 32 have 162 there" \
  "${sets[@]}" --rows 9 --cols 32 --indices "$work/one.f32" --into "$work/one.f32"

# A variable of a whole shader that begins with no value has another one on each device: where some threads make no block, what they
# join to the block before.
if unset=$(grep -nE '^([iu]?vec[234]|f16vec[24]|float16_t|float|u?int|bool) [a-z_0-9]+(\[[^]]*\])?;$' "$SOURCE"/out/*/*.comp); then
  fail "variables of shaders begin with no value: $unset" /dev/null
fi

# Bench, on a Vulkan device: figures of both families, which are held against the reference.
measure=(bench encode,set_rows --format q4_0,affine_b4_g64_bf16 --rows 6 --cols 512 --quick --samples 2)
check "bench" "$QKGEN" "${measure[@]}" --json "$work/bench.json"
check "a figure for each format and family" \
  test "$(grep -cE '"family": "(encode|set_rows)", .*"rows": 6, "cols": 512, .*"checked": 6, .*"wrong": false' "$work/bench.json")" -eq 4
check "bench of halves" "$QKGEN" "${measure[@]}" --type f16,bf16 --json "$work/halves.json"
check "a figure for each type, too" test "$(grep -cE '"type": "b?f16", .*"checked": 6, .*"wrong": false' "$work/halves.json")" -eq 8
# 6 * 512 floats, and 96 blocks of 18 bytes.
check "bytes in and out" grep -q '"format": "q4_0", "family": "encode", .*"bytes": 14016,' "$work/bench.json"
mkdir "$work/data" && cp -r "$SOURCE/formats" "$SOURCE/templates" "$work/data"
sed -i 's/return int(qk_within(v, low, high))/& ^ 1/' "$work/data/templates/encode.glsl"
refuses "bench with a wrong template" "[1-4] of 4 results are wrong" env QKGEN_DATA_DIR="$work/data" "$QKGEN" "${measure[@]}"
refuses "bench of a format that does not say how" "iq2_s has no such kernel" "$QKGEN" bench encode --format iq2_s
refuses "bench --cold" "--cold is about weights that are read, and encode writes them" "$QKGEN" bench encode --format q4_0 --cold
refuses "tune" "encode is not tuned" "$QKGEN" tune encode --format q4_0 --shape 2x32 --out "$work/x"
finish
