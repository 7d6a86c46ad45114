#!/usr/bin/env bash
# Rows that have something of their own, before their blocks or beside them, made of floats: what the library that has the format makes
# of the same, bit for bit; the same on every target for rows of any floats, short and long; rows at indices; rows of a model file; and
# what is refused.
source "$(dirname "$0")/../lib.sh"
floats=$BUILD/floats
if ! [ "$floats" -nt "$SOURCE/tests/tools/floats.c" ]; then
  "${CC:-cc}" -std=c11 -O2 -Wall -Wextra -Wpedantic -Werror -o "$floats" "$SOURCE/tests/tools/floats.c" -lm
fi
given=$SOURCE/tests/vectors/encode/rows

# One with all that can be looked at, in a header whose rows begin at multiples of 2.
cat >"$work/ends.quant" <<'SPEC'
format ends "codes between the ends of a row, and what is farthest from 0"

block 32 header { lo: f16  d: f16  far: bf16 } {
    qs: u8[16]
    fs: u8[2]
}

code q        = qs { 4 @ 0 (16:8, 2:4) }
code f per 16 = fs { 8 @ 0 (2:8) }

value = f == 0 ? q * d + lo : far

encode {
    least per row = min(x)
    most per row = max(x)
    a per 1 = abs(x)
    size per row = max(a)
    lo = least
    d = (most - least) / 15.0
    far = extreme(x)
    r per row = d == 0.0 ? 0.0 : 1.0 / d
    f = sum(a) > 8.0 * size ? 1 : 0
    q = round((x - lo) * r, 0, 15)
}
SPEC
# And one whose blocks lie beside: which of equals is farthest from 0 says what sign the scale has.
cat >"$work/far.quant" <<'SPEC'
format far "signed codes of 8 bits, of which the farthest is below 0"

block 1 x 32 {
    buffer weight      { w: i8[32] }
    buffer scale[rows] { s: f32 }
}

code q: i8 = w { 8 @ 0 (32:8) }

value = q * s

encode {
    m per row = extreme(x) / -128.0
    s = m
    q = s == 0.0 ? 0 : even(x / s, -128, 127)
}
SPEC
# Groups of which some are 0, in rows that are not.
cat >"$work/pieces.quant" <<'SPEC'
format pieces "a row's largest, and a scale for each 16, of which some are 0"

block 32 header { s: f32 } {
    w: u8[16]
    d: f16[2]
}

code q             = w { 4 @ 0 (32:4) }
code t: f16 per 16 = d { 16 @ 0 (2:16) }

value = s == 0.0 ? 0.0 : (q - 8) * t

encode {
    m per row = max(abs(x))
    s = m
    g per 16 = max(abs(x)) / 7.0
    t = g
    q = g == 0.0 ? 0 : round(x / g, -7, 7) + 8
}
SPEC
# Blocks that threads take in two parts.
cat >"$work/halves.quant" <<'SPEC'
format halves "codes of 4 bits, 64 in a block"

block 1 x 64 {
    buffer weight      { w: u8[32] }
    buffer scale[rows] { s: f32 }
}

code q = w { 4 @ 0 (64:4) }

value = ((q ^ 8) - 8) * s

encode {
    m per row = max(abs(x)) / 7.0
    s = m
    q = (m > 0.0 ? round(x / m, -7, 7) : 0) & 15
}
SPEC
export floats given

# files OPTION FORMAT FOLDER: the arguments that name a file for each buffer.
files() {
  case $2 in
    iq2_bn | ends | pieces) echo "$1" "$3/blocks" ;;
    bnb_int8) echo "$1" weight="$3/weight" "$1" SCB="$3/SCB" ;;
    i4_channel | far | halves) echo "$1" weight="$3/weight" "$1" scale="$3/scale" ;;
    *) echo "$1" weight="$3/weight" "$1" weight_scale="$3/weight_scale" ;;
  esac
}

# encode FORMAT TARGET ROWS COLS FILE FOLDER [TYPE]
encode() {
  mkdir -p "$6"
  # shellcheck disable=SC2046
  "$QKGEN" run encode $(printf -- '--spec %s ' "$work"/*.quant) --format "$1" --target "$2" --rows "$3" --cols "$4" \
    --in "$5" --type "${7:-f32}" \
    $(files --out "$1" "$6") 2>"$6.log" || { fail "$1 on $2: the run failed" "$6.log"; return 1; }
}

# Rows of a block, of fewer blocks than threads, of some more, and of a number that threads do not share alike.
one() {
  local format=$1 data=$work/$1 block=$2 target kind shape rows cols
  mkdir -p "$data"
  for kind in usual hostile; do "$floats" $kind 33920 7 >"$data/$kind.f32"; done
  { head -c 8192 "$data/hostile.f32"; head -c 4096 /dev/zero; head -c 4092 "$data/usual.f32"; printf '\0\0\200\377'; } >"$data/odd.f32"
  # Two that are as far from 0: the first is the fifth, and the other one of those that the first thread may have.
  {
    head -c 16 "$data/usual.f32"
    printf '\0\100\034\106'
    head -c 236 "$data/usual.f32"
    printf '\0\100\034\306'
    head -c 1788 "$data/usual.f32"
  } >"$data/equal.f32"
  for shape in "5 $block" "4 512" "1 $((block * 530))"; do
    read -r rows cols <<<"$shape"
    for kind in usual hostile; do
      # The last of usual ones, which a thread has looked at last, is the largest.
      { head -c $((4 * rows * cols - 4)) "$data/$kind.f32"; printf '\0\0\200\107'; } >"$data/in.f32"
      for target in $targets; do
        encode "$format" "$target" "$rows" "$cols" "$data/in.f32" "$data/$target" || continue
        [ "$target" = c ] || check "$format: $rows rows of $cols $kind floats become others on $target than in C" \
          diff -r "$data/c" "$data/$target"
      done
    done
  done
  for target in $targets; do
    encode "$format" "$target" 8 512 "$data/odd.f32" "$data/odd.$target" || continue
    [ "$target" = c ] || check "$format: other rows on $target than in C" diff -r "$data/odd.c" "$data/odd.$target"
    encode "$format" "$target" 1 512 "$data/equal.f32" "$data/equal.$target" || continue
    [ "$target" = c ] || check "$format: another of equals on $target than in C" diff -r "$data/equal.c" "$data/equal.$target"
    for kind in f16 bf16; do # of any bits
      encode "$format" "$target" 16 512 "$data/odd.f32" "$data/$kind.$target" $kind || continue
      [ "$target" = c ] || check "$format of $kind: others on $target than in C" diff -r "$data/$kind.c" "$data/$kind.$target"
    done
  done
  sets "$format"
  rm -r "$data"
}

# Rows 3, 0, none and 6 of a table of seven; the others keep what they had.
sets() {
  local format=$1 data=$work/$1/sets target name bytes row token
  mkdir -p "$data/expected"
  "$floats" usual 2048 3 >"$data/src.f32"
  "$floats" usual 3584 5 >"$data/before.f32"
  printf '\3\0\0\0\0\0\0\0\7\0\0\0\6\0\0\0' >"$data/indices"
  encode "$format" c 4 512 "$data/src.f32" "$data/rows"
  encode "$format" c 7 512 "$data/before.f32" "$data/into"
  for name in "$data/into"/*; do
    name=${name##*/}
    bytes=$(($(stat -c %s "$data/into/$name") / 7))
    row=0
    for token in 1 - - 0 - - 3; do
      if [ $token = - ]; then tail -c +$((row * bytes + 1)) "$data/into/$name" | head -c "$bytes"
      else tail -c +$((token * bytes + 1)) "$data/rows/$name" | head -c "$bytes"; fi
      row=$((row + 1))
    done >"$data/expected/$name"
  done
  for target in $targets; do
    mkdir "$data/$target"
    # shellcheck disable=SC2046
    "$QKGEN" run set_rows $(printf -- '--spec %s ' "$work"/*.quant) --format "$format" --target "$target" \
      --rows 7 --cols 512 \
      --in "$data/src.f32" --indices "$data/indices" $(files --into "$format" "$data/into") \
      $(files --out "$format" "$data/$target") 2>"$data/log" ||
      { fail "set_rows of $format on $target" "$data/log"; continue; }
    says "$format on $target: the row that there is not" ': 1 of 4 indices are not below --rows 7' "$data/log"
    check "set_rows of $format on $target" diff -r "$data/expected" "$data/$target"
  done
}
# A model file, of which a row of each tensor has a scale of its own; values are those of the blocks that `run encode` makes.
model() {
  local model=$work/small.gguf tensor=blk.1.ffn_down.weight target
  "${MODEL_GGUF:?names model_gguf, of the build}" small q8_0 "$model" "$SOURCE" 2>"$logs/model" ||
    fail "a model" "$logs/model"
  "$QKGEN" verify "$model" --target c --tensor $tensor --out "$work/old.f32" 2>"$logs/verify" || fail "$tensor" "$logs/verify"
  encode iq2_bn c 512 1024 "$work/old.f32" "$work/made"
  "$QKGEN" run dequant --format iq2_bn --target c --type f32 --rows 512 --cols 1024 --in "$work/made/blocks" \
    --out "$work/expected.f32" 2>"$logs/dequant"
  for target in c vulkan; do
    check "a model to iq2_bn on $target" "$QKGEN" convert "$model" --to iq2_bn --target $target --out "$work/$target.gguf"
    "$QKGEN" verify "$work/$target.gguf" --target c --tensor $tensor --out "$work/new.f32" 2>"$logs/verify" ||
      fail "$tensor in iq2_bn" "$logs/verify"
    check "$tensor in iq2_bn on $target" cmp "$work/expected.f32" "$work/new.f32"
  done
}
export -f one sets encode files model
# encode_rows.sh LINE...: these alone.
if [ $# -gt 0 ]; then
  printf '%s\n' "$@" | each
  finish
  exit
fi
printf 'one %s\n' 'iq2_bn 64' 'ends 32' 'far 32' 'pieces 32' 'halves 64' 'int8_channel 32' 'fp8_channel 32' 'bnb_int8 32' 'i4_channel 32' | each

for target in $targets; do
  encode iq2_bn "$target" 8 512 "$given/iq2_bn.f32" "$work/given"
  check "iq2_bn on $target: other blocks than the library's" cmp "$work/given/blocks" "$given/iq2_bn.blocks"
done
model

run=("$QKGEN" run encode --format iq2_bn --target c --in "$given/iq2_bn.f32" --out "$work/x")
refuses "no shape" 'iq2_bn needs --rows, at least 1, and --cols, a multiple of the 64 elements' "${run[@]}"
refuses "a part of a block" 'a multiple of the 64 elements' "${run[@]}" --rows 8 --cols 500
refuses "another shape" 'holds 4096 floats, but 7 rows of --cols 512 have 3584' "${run[@]}" --rows 7 --cols 512
refuses "transcode" 'blocks of iq2_bn are patches of a matrix' \
  "$QKGEN" run transcode --from q8_0 --to iq2_bn --target c --in "$work/x" --out "$work/y"
finish
