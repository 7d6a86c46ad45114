#!/usr/bin/env bash
# Blocks of one format that become blocks of another, on every target: the bits of `run dequant` to f32 and `run encode` of that, for
# blocks of any bytes; the files of `emit --transcode`, which compile; and what is refused.
source "$(dirname "$0")/../lib.sh"
floats=$BUILD/floats
if ! [ "$floats" -nt "$SOURCE/tests/tools/floats.c" ]; then
  "${CC:-cc}" -std=c11 -O2 -Wall -Wextra -Wpedantic -Werror -o "$floats" "$SOURCE/tests/tools/floats.c" -lm
fi
export floats

# files OPTION FOLDER NAME...: sets `files`, the arguments that name a file for each buffer.
files() {
  local name
  files=("$1" "$2/$3")
  [ $# -gt 3 ] || return 0
  files=()
  for name in "${@:3}"; do files+=("$1" "$name=$2/$name"); done
}

# one FROM TO TARGET...: 2048 elements or more of FROM.
one() {
  local from=$1 to=$2 target data=$work/$1-$2 elements names sizes files in out i
  layout "$to"
  out=("${names[@]}")
  layout "$from"
  in=("${names[@]}")
  mkdir -p "$data/in" "$data/expected" "${@/#/$data/}"
  for i in "${!in[@]}"; do # of which a half are of zeros, subnormal and large numbers, infinities and NaNs
    "$floats" bytes $((sizes[i] * (elements < 2048 ? 2048 / elements * 3 : 3))) $((i + 6)) >"$data/in/${in[i]}"
  done
  files --in "$data/in" "${in[@]}"
  in=("${files[@]}")
  files --out "$data/expected" "${out[@]}"
  {
    "$QKGEN" run dequant --format "$from" --target c --type f32 "${in[@]}" --out "$data/values.f32"
    "$QKGEN" run encode --format "$to" --target c --in "$data/values.f32" "${files[@]}"
  } 2>"$data/log" || { fail "$from to $to: values that are encoded" "$data/log"; return; }
  for target in "${@:3}"; do
    if [[ " $targets " != *" $target "* ]]; then continue; fi
    files --out "$data/$target" "${out[@]}"
    "$QKGEN" run transcode --from "$from" --to "$to" --target "$target" "${in[@]}" "${files[@]}" 2>"$data/log" ||
      { fail "$from to $to on $target: the run failed" "$data/log"; continue; }
    check "$from to $to on $target: other blocks than those of the values" diff -r "$data/expected" "$data/$target"
  done
}
export -f files one
if [ $# -gt 0 ]; then
  printf '%s\n' "$@" | each
  finish
  exit
fi

# Pairs that take seconds to compile: blocks that are larger, smaller and the same; one buffer and several; whole words, halves and
# bytes; tables in memory, searches, sweeps, digits of a base.
{
  printf 'one %s c vulkan msl\n' 'q8_0 q4_0' 'q4_K q8_0' 'mxfp4 affine_b4_g32_f16'
  printf 'one %s c vulkan\n' 'q4_0 q4_K' 'q6_K q5_1' 'iq2_s q4_K' 'affine_b3_g64_f16 q4_1' 'q8_0 mlx_nvfp4' 'tq1_0 tq2_0' 'q5_0 mxfp4' \
    'mlx_mxfp8 q8_0' 'iq4_nl tq1_0'
} | each

# In C, every format whose blocks lie one after the other to two others, in turn.
to=(q4_0 q4_K q8_0 mxfp4 affine_b4_g64_bf16 tq1_0 mlx_nvfp4 q5_1 q6_K affine_b6_g128_f32)
number=0
"$QKGEN" list | awk '{ print $1 }' | grep -vE '_(f16|f32)$' | while read -r format; do
  layout "$format"
  if grep -q '^patches of' "$work/$format.layout"; then continue; fi
  if [ "$format" = mlc_q3f16_1 ]; then continue; fi # blocks of 40, which divide none of these
  echo "one $format ${to[number % 10]} c"
  echo "one $format ${to[(number + 3) % 10]} c"
  number=$((number + 1))
done | each

# Files for an engine: a pair that needs nothing else, and one format with two others beside its own kernels.
check "emit" "$QKGEN" emit --embed --transcode q8_0:q4_0 --out "$work/alone"
check "its files" test "$(ls "$work/alone" | tr '\n' ' ')" = "q8_0.c q8_0.h "
check "nothing else is in them" test "$(grep -c '^extern const qk_kernel ' "$work/alone/q8_0.h")" -eq 2
says "the dispatch stub" 'const qk_range \*to, uint64_t elements, qk_error \*error\);' "$work/alone/q8_0.h"
says "the command" 'qkgen emit --format q8_0 --transcode q8_0:q4_0' "$work/alone/q8_0.h"
check "several" "$QKGEN" emit --embed --format q8_0 --family encode --family dequant --transcode q8_0:q4_0 --transcode q8_0:q4_K \
  --out "$work/several"
for folder in alone several; do
  check "C of $folder" "${CC:-cc}" -std=c11 -Wall -Wextra -Wpedantic -Werror -O3 -c -o "$work/$folder.o" "$work/$folder/q8_0.c"
done
check "a reference for each" test "$(nm "$work/several.o" | grep -cE ' T qk_q8_0_(encode_f32|dequant_(f32|f16|bf16)|transcode_q4_[0K])_ref$')" -eq 6

# What is refused.
printf 123 >"$work/short"
"$floats" bytes 34 1 >"$work/block"
run=("$QKGEN" run transcode --target c)
refuses "blocks that do not divide one another" "one must divide the other" "${run[@]}" --from mlc_q3f16_1 --to q4_K
refuses "no formats" 'transcode needs --from F and --to F' "${run[@]}" --from q8_0
refuses "an unknown format" 'no format is named q4_9' "${run[@]}" --from q8_0 --to q4_9
refuses "no encode" 'iq2_s does not say how its blocks are made' "${run[@]}" --from q8_0 --to iq2_s
refuses "patches" 'blocks of awq_b4_g128 are patches of a matrix' "${run[@]}" --from awq_b4_g128 --to q4_0
refuses "a part of a block" 'holds 3 bytes, which is no multiple of the 34 bytes' "${run[@]}" --from q8_0 --to q4_0 --in "$work/short" --out "$work/x"
refuses "too few blocks for one" 'holds 32 elements, which is no multiple of the 256 of a block of q4_K' \
  "${run[@]}" --from q8_0 --to q4_K --in "$work/block" --out "$work/x"
refuses "no input" 'q8_0 has 1 buffer, but --in was given 0 times' "${run[@]}" --from q8_0 --to q4_0 --out "$work/x"
refuses "no name" 'mlx_mxfp4 needs --out scales=FILE' "${run[@]}" --from q8_0 --to mlx_mxfp4 --in "$work/block" \
  --out weight="$work/x" --out "$work/y"
check "nothing is left behind" test ! -e "$work/x"
emit=("$QKGEN" emit --out "$work/none")
refuses "no pair" "takes FROM:TO, two formats, not 'q8_0'" "${emit[@]}" --transcode q8_0
refuses "a pair that does not fit" 'transcode q8_0:iq2_s: iq2_s does not say' "${emit[@]}" --transcode q8_0:iq2_s
refuses "a pair twice" 'q8_0:q4_0 is given twice' "${emit[@]}" --transcode q8_0:q4_0 --transcode q8_0:q4_0
refuses "a format that is not emitted" 'goes into the files of q8_0: name that with --format' "${emit[@]}" --format q4_0 --transcode q8_0:q4_0
refuses "another arithmetic" '--transcode decodes to f32' "${emit[@]}" --transcode q8_0:q4_0 --decode-math bf16
check "nothing is emitted" test ! -e "$work/none"
finish
