#!/usr/bin/env bash
# Groups in planes, made of floats: what HQQ's equations make of numbers, by a small program that has them, bit for bit; the same on every
# target for any floats, in f32, f16 and bf16; that whole numbers come back where a format holds them as they are, wherever its codes lie;
# that what fills up the last plane is 0; and what is refused.
source "$(dirname "$0")/../lib.sh"
for tool in floats hqq; do
  [ "$BUILD/$tool" -nt "$SOURCE/tests/tools/$tool.c" ] ||
    "${CC:-cc}" -std=c11 -O2 -ffp-contract=off -Wall -Wextra -Wpedantic -Werror -o "$BUILD/$tool" "$SOURCE/tests/tools/$tool.c" -lm
done

# Whole numbers, which are their own codes: nibbles of neighbours, whose words two groups share in turns, codes that cross words, digits of a
# base, one for each plane, codes with a row for each group, and a number for each element, by its place in the block.
cat >"$work/nibbles.quant" <<'SPEC'
format nibbles "a scale for each half of a group, and the codes of a group one after the other"
block 3 apart x 16 {
    buffer weight { w: u8[1][24] }
    buffer scale { d: f16[3][2] }
}
code q = w { 4 @ 0 (16:4, 3:64) }
code s: f16 per 8 = d { 16 @ 0 (6:16) }
value = (q - 8) * s
encode {
    least per 8 = min(x)
    s = least < -100.0 ? 0.5 : 1.0
    q = round(x + 8.0, 0, 15)
}
SPEC
cat >"$work/crossing.quant" <<'SPEC'
format crossing "codes of 5 bits, one after the other, of a group of 6"
block 4 apart x 6 { buffer weight { w: u8[1][15] } }
code q = w { 5 @ 0 (24:5) }
value = q - 16
encode { q = round(x + 16.0, 0, 31) }
SPEC
cat >"$work/leaving.quant" <<'SPEC'
format leaving "codes in 64 bits for four groups, of which those of the last leave the first word"
block 4 apart x 6 { buffer weight { w: u8[1][48] } }
code q = w { 5 @ 0 (6:64, 4:10) }
spare    w { 5 @ 5 (6:64, 3:10) 29 @ 35 (6:64) }
value = q - 16
encode { q = round(x + 16.0, 0, 31) }
SPEC
cat >"$work/digits.quant" <<'SPEC'
format digits "five planes of ternary digits in a byte"
block 5 apart x 8 { buffer weight { w: u8[1][8] } }
code t = w { 8 base 3 @ 0 (8:8, 5:^) }
value = t - 1
encode { t = round(x + 1.0, 0, 2) }
SPEC
cat >"$work/own.quant" <<'SPEC'
format own "a row of bytes for each group, and a sign beside those of other groups"
block 8 apart x 8 {
    buffer weight { w: u8[8][8] }
    buffer signs { g: u8[1][8] }
}
code q = w { 8 @ 0 (64:8) }
code n = g { 1 @ 7 (8:8, 8:-1) }
value = n == 0 ? q : -q
encode {
    q = round(abs(x), 0, 255)
    n = x < 0.0 ? 1 : 0
}
SPEC
cat >"$work/places.quant" <<'SPEC'
format places "twice the place in the block, where x is not 0"
block 2 apart x 8 { buffer weight { w: u8[1][16] } }
code q = w { 8 @ 0 (16:8) }
value = q
encode { q = x == 0.0 ? 0 : 2 * i }
SPEC

# Groups that a team makes on Vulkan: in turns, where a sum has an order; by places, and by a scale as it is stored, or looked for where it
# is set. And those that it cannot: two codes share bytes, some words have none, or parts of a group are looked at.
for format in turns placing direct apart open halved; do
  bits='4 @ 0 (64:8, 2:4)' planes=2 bytes=64 scale='per 64 = d { 16 @ 0 (2:16) }' more='' q='q = even(x, 0, 15)'
  case $format in
    turns) bits='2 @ 6 (64:8, 4:-2)' planes=4 scale='per 64 = d { 16 @ 0 (4:16) }' q='q = even(x, 0, 3)' ;;
    placing) q='q = x < s ? 0 : i >> 3' ;;
    apart) bits='3 @ 0 (64:8, 2:4)' more='code n = w { 1 @ 3 (64:8, 2:4) }' q='q = even(x, 0, 7)
    n = x < 0.0 ? 1 : 0' ;;
    open) bytes=80 more='spare w { 8 @ 512 (16:8) }' ;;
  esac
  case $format in
    direct) set='s = max(abs(x))' ;;
    halved) set='least per 32 = min(x)
    s = max(least)' ;;
    *) set='total = sum(abs(x))
    least = min(x)
    s = total + least' ;;
  esac
  [ $format = apart ] && value='n == 0 ? q * s : -q * s' || value='q * s'
  cat >"$work/$format.quant" <<SPEC
format $format "groups of 64, of which a team makes some"
block $planes apart x 64 {
    buffer weight { w: u8[1][$bytes] }
    buffer scale { d: f16[$planes][1] }
}
code q = w { $bits }
code s: f16 $scale
$more
value = $value
encode {
    $set
    $q
}
SPEC
done

# files OPTION FORMAT FOLDER: the arguments that name a file for each buffer.
files() {
  case $2 in
    hqq_*) echo "$1" W_q="$3/W_q" "$1" scale="$3/scale" "$1" zero="$3/zero" ;;
    nibbles | turns | placing | direct | apart | open | halved) echo "$1" weight="$3/weight" "$1" scale="$3/scale" ;;
    own) echo "$1" weight="$3/weight" "$1" signs="$3/signs" ;;
    *) echo "$1" "${4:-}$3/weight" ;;
  esac
}

# encode FORMAT TARGET ROWS COLS FILE FOLDER [TYPE]
encode() {
  local spec=()
  case $1 in hqq_*) ;; *) spec=(--spec "$work/$1.quant") ;; esac
  mkdir -p "$6"
  # shellcheck disable=SC2046
  "$QKGEN" run encode "${spec[@]}" --format "$1" --target "$2" --rows "$3" --cols "$4" --in "$5" --type "${7:-f32}" \
    $(files --out "$1" "$6") 2>"$6.log" || { fail "$1 on $2: the run failed" "$6.log"; return 1; }
}

# like DATA NAME SENTENCE: each target has the files of C.
like() {
  local target
  for target in $targets; do
    [ "$target" = c ] || check "$3 on $target than in C" diff -r "$1/c.$2" "$1/$target.$2"
  done
}

# again COUNT BYTES: these, so often.
again() {
  local i
  # shellcheck disable=SC2059
  for ((i = 0; i < $1; i++)); do printf "$2"; done
}

# numbers BITS GROUP: groups of usual size; and, of few that leave the last plane open, or of fewer than there are planes: zeros, all alike,
# a narrow and a wide range, ties, and ends that are whole numbers of steps apart.
numbers() {
  local bits=$1 group=$2 format=hqq_b$1_g$2 data=$work/hqq_b$1_g$2 target kind rows
  mkdir -p "$data"
  "$BUILD/floats" usual 32768 5 >"$data/usual.f32"
  for kind in usual odd few; do
    case $kind in
      usual) rows=$((32768 / group)) ;;
      odd)
        rows=23
        {
          head -c $((4 * group)) /dev/zero
          again "$group" '\0\0\300\277'                                                                          # -1.5
          again $((group / 4)) '\0\0\0\300\0\0\200\277\0\0\0\277\0\0\160\101'                                      # -2 -1 -0.5 15
          again $((group / 2)) '\027\267\321\070\0\0\0\0'                                                         # too near
          again $((group / 2)) '\030\267\321\070\0\0\0\200'                                                       # a float farther
          again $((group / 2)) '\0\0\160\300\0\0\0\277'                                                           # -3.75 -0.5
          again $((group / 2)) '\0\044\164\111\0\0\200\077'                                                       # 1e6 1
          head -c $((4 * 16 * group)) "$data/usual.f32"
        } >"$data/odd.f32" ;;
      few)
        rows=3
        head -c $((4 * 3 * group)) "$data/usual.f32" >"$data/few.f32" ;;
    esac
    mkdir -p "$data/model"
    "$BUILD/hqq" "$bits" "$group" "$data/$kind.f32" "$data/model"
    for target in $targets; do
      encode "$format" "$target" "$rows" "$group" "$data/$kind.f32" "$data/$target" || continue
      check "$format: $kind numbers on $target, and as HQQ has them" diff -r "$data/model" "$data/$target"
    done
  done
  rm -r "$data"
}

# any FORMAT GROUP: floats of any bits.
any() {
  local format=$1 group=$2 data=$work/any_$1 target type
  mkdir -p "$data"
  "$BUILD/floats" hostile 22400 7 >"$data/in"
  for target in $targets; do
    encode "$format" "$target" $((22400 / group)) "$group" "$data/in" "$data/$target.f32" || continue
    for type in f16 bf16; do
      encode "$format" "$target" $((44800 / group)) "$group" "$data/in" "$data/$target.$type" $type || continue
    done
  done
  for type in f32 f16 bf16; do like "$data" $type "$format: $type of any bits become others"; done
  check "$format: f16 and bf16 become the same" test "$(cat "$data"/c.f16/* | cksum)" != "$(cat "$data"/c.bf16/* | cksum)"
  rm -r "$data"
}

# back FORMAT GROUP LEAST MOST: whole numbers come back, of groups that fill all planes, or leave some of the last open.
back() {
  local format=$1 group=$2 data=$work/back_$1 groups target bytes
  mkdir -p "$data"
  for groups in 120 61 1; do
    for ((i = 0; i < groups * group; i++)); do echo $(($3 + i * 7919 % 10007 % ($4 - $3 + 1))); done | "$BUILD/hqq" whole >"$data/in"
    for target in $targets; do
      rm -rf "${data:?}/$target"
      encode "$format" "$target" "$groups" "$group" "$data/in" "$data/$target" || continue
      # shellcheck disable=SC2046
      "$QKGEN" run dequant --spec "$work/$format.quant" --format "$format" --target c --type f32 --rows "$groups" --cols "$group" \
        $(files --in "$format" "$data/$target") --out "$data/out" 2>"$data/log" || fail "$format of $target cannot be read" "$data/log"
      check "$format: $groups groups come back from $target" cmp "$data/in" "$data/out"
      [ "$target" = c ] || check "$format: $groups groups become others on $target than in C" diff -r "$data/c" "$data/$target"
    done
  done
  # One group alone: the others of its block are 0, though numbers are not, and 0 has a code.
  bytes=$(od -An -v -tx1 "$data/c/weight" | tr -d ' \n')
  case $format in
    nibbles) check "nibbles: what fills up the planes" test "${bytes:16}" = "$(printf '0%.0s' {1..32})" ;;
    crossing) check "crossing: what fills up the planes" test "${bytes:8}" = "$(printf '0%.0s' {1..22})" ;;
    own) check "own: a row for the group alone" test ${#bytes} = 16 ;;
  esac
  rm -r "$data"
}

# The place of an element of plane 1 goes on behind those of plane 0.
placed() {
  local target
  for ((i = 0; i < 24; i++)); do echo 1; done | "$BUILD/hqq" whole >"$work/ones"
  for target in $targets; do
    encode places "$target" 3 8 "$work/ones" "$work/places.$target" || continue
    check "places on $target" test "$(od -An -v -tu1 "$work/places.$target/weight" | xargs)" = \
      "0 2 4 6 8 10 12 14 16 18 20 22 24 26 28 30 0 2 4 6 8 10 12 14 0 0 0 0 0 0 0 0"
  done
}

refused() {
  local name run=("$QKGEN" run encode --format hqq_b4_g64 --target c --in "$work/ones.f32" --out W_q="$work/x" --out scale="$work/y" --out zero="$work/z")
  head -c 768 /dev/zero >"$work/ones.f32"
  refuses "no shape" 'hqq_b4_g64 needs --rows and --cols, at least 1, which together make whole groups of 64 elements' "${run[@]}"
  refuses "a part of a group" 'make whole groups of 64 elements' "${run[@]}" --rows 3 --cols 63
  refuses "another shape" 'holds 192 floats, but 2 rows of --cols 64 have 128' "${run[@]}" --rows 2 --cols 64
  head -c 772 /dev/zero >"$work/ones.f32"
  refuses "a float too many" 'no multiple of the 256 bytes that the 64 floats \(f32\) of a group of hqq_b4_g64 have' "${run[@]}" --rows 3 --cols 64
  refuses "rows at indices" 'hqq_b4_g64 spreads each row over planes, and set_rows makes rows alone: make the whole tensor' \
    "$QKGEN" run set_rows "${run[@]:3}"
  check "kernels" "$QKGEN" emit --format hqq_b4_g64 --family encode --family set_rows --api metal --out "$work/emitted"
  says "kernels of encode" 'kernel void hqq_b4_g64_encode_f32' "$work/emitted/hqq_b4_g64/hqq_b4_g64.metal"
  check "kernels of set_rows" test "$(grep -c 'kernel void .*set_rows' "$work/emitted/hqq_b4_g64/hqq_b4_g64.metal")" = 0
  refuses "transcode" 'blocks of hqq_b4_g64 are patches of a matrix' \
    "$QKGEN" run transcode --from q8_0 --to hqq_b4_g64 --target c --in "$work/x" --out "$work/y"
  refuses "convert" 'hqq_b4_g64 has its tensors in planes, and a file is converted in pieces of whole rows' \
    "$QKGEN" convert "$work/ones.f32" --to hqq_b4_g64 --out "$work/no.gguf"
  for name in axes per row within group; do
    (cd "$SOURCE/tests/errors" && if "$QKGEN" check encode-plane-$name.quant; then echo accepted; fi) >"$work/$name.err" 2>&1
    check "groups that cannot be made: $name" cmp "$work/$name.err" "$SOURCE/tests/errors/encode-plane-$name.err"
  done
}
export -f again numbers any back placed refused encode files like
export BUILD
# encode_planes.sh LINE...: these alone.
if [ $# -gt 0 ]; then
  printf '%s\n' "$@" | each
  finish
  exit
fi
{
  printf 'numbers %s\n' '2 64' '2 128' '3 64' '3 128' '4 64' '4 128' '8 64' '8 128'
  printf 'any %s\n' 'hqq_b2_g128 128' 'hqq_b3_g64 64' 'hqq_b4_g64 64' 'hqq_b8_g64 64' 'nibbles 16'
  printf 'any %s 64\n' turns placing direct apart open halved
  printf 'back %s\n' 'nibbles 16 -8 7' 'crossing 6 -16 15' 'leaving 6 -16 15' 'digits 8 -1 1' 'own 8 -255 255'
  echo placed
  echo refused
} | each

# Bench holds all groups against the reference: these fill their planes, or leave some of the last one open.
measure=(bench encode --format hqq_b3_g64,hqq_b4_g64 --rows 7 --cols 512 --type f32,f16 --quick --samples 2)
check "bench" "$QKGEN" "${measure[@]}" --json "$work/bench.json"
check "a figure for each format and type" \
  test "$(grep -cE '"family": "encode", .*"rows": 7, "cols": 512, .*"checked": 7, .*"wrong": false' "$work/bench.json")" -eq 4
mkdir "$work/data" && cp -r "$SOURCE/formats" "$SOURCE/templates" "$work/data"
sed -i 's/block < blocks ? block/block != 9u \&\& &/' "$work/data/templates/encode_planes.comp"
refuses "bench with a wrong template" "[1-4] of 4 results are wrong" env QKGEN_DATA_DIR="$work/data" "$QKGEN" "${measure[@]}"
finish
