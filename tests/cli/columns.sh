#!/usr/bin/env bash
# Matrices whose neighbours in memory are of different rows: sums in which threads have rows of their own. And ragged formats where
# a matrix is whole blocks, which then has all schedules. On this machine's device, against the values of the specification.
source "$(dirname "$0")/../lib.sh"

check "emits sums of all formats" "$QKGEN" emit --family gemv --api vulkan --out "$work/out"

# having ENDING: the formats whose kernel of that ending can, with commas.
having() { (cd "$work/out" && ls ./*/*"_gemv_$1.comp") | sed -E 's|^\./([^/]*)/.*|\1|' | paste -sd,; }
turned=$(having columns)
check "formats packed along the inputs or the outputs" test "$(tr , '\n' <<<"$turned" | grep -cE '^(gptq|awq)_')" -ge 40
ragged=$(tr , '\n' <<<"$(having wide)" | grep -E '^(fp8|int8|nf4|fp4)_' | paste -sd,)
check "ragged formats with larger tiles" test "$(tr , '\n' <<<"$ragged" | wc -l)" -ge 6

# some FORMATS N: every Nth, and with ALL=1 each: a driver compiles for seconds.
some() { if [ -n "${ALL:-}" ]; then echo "$1"; else tr , '\n' <<<"$1" | awk "NR % $2 == 1" | paste -sd,; fi; }

# bench NAME FORMATS CLASS OPTION...: all of them are right.
bench() {
  local name=$1 formats=$2 class=$3
  shift 3
  "$QKGEN" bench gemv --quick --samples 1 --format "$formats" --class "$class" "$@" >"$work/$name.txt" 2>&1 || fail "$name" "$work/$name.txt"
  check "$name: a line for each" test "$(grep -c ' gemv ' "$work/$name.txt")" -eq "$(tr , '\n' <<<"$formats" | wc -l)"
}
bench one "$(some "$turned" 5)" exact --constant schedule=6 --rows 128 --cols 1024
bench several "$(some "$turned" 11)" exact --constant schedule=6 --rows 64 --cols 512 --batch 3
bench eight awq_b4_g128,gptq_v2_b3_g64 exact --constant schedule=6 --rows 96 --cols 512 --batch 8
bench halves awq_b4_g64,gptq_v1_b4_g64_act exact --constant schedule=6 --rows 96 --cols 512 --type f16
# More rows than workgroups have; workgroups of several subgroups; fewer tiles than threads that share them out.
bench walk awq_b4_g32,gptq_v1_b2_g64 exact --constant schedule=6 --rows 1056 --cols 512 --workgroups 2
bench large awq_b4_g128,gptq_v1_b8_g128 exact --constant schedule=6 --rows 96 --cols 512 --constant local_size_x=128 --constant width=16

# Rows and columns that are not whole blocks: plain rows.
bench cut gptq_v1_b4_g128,gptq_v2_b3_g32,gptq_v1_b4_g64_act exact --rows 72 --cols 200 --batch 2

bench ragged_wide "$(some "$ragged" 2)" exact --constant schedule=2 --rows 256 --cols 1024
bench ragged_shared "$(some "$ragged" 4)" exact --constant schedule=4 --rows 256 --cols 1024 --batch 2
bench ragged_teams int8_channel,fp8_block,nf4_b64 exact --constant schedule=5 --rows 256 --cols 1024 --batch 4
bench ragged_split int8_channel split --constant schedule=2 --rows 256 --cols 1024
bench short_blocks nvfp4_ckpt exact --constant schedule=2 --rows 65 --cols 1024
bench short_several nvfp4_ckpt exact --rows 65 --cols 1024 --batch 3
bench short_rest nvfp4_ckpt exact --rows 65 --cols 1040 --batch 2
bench ragged_cut fp8_block,int8_channel,nf4_b64 exact --rows 130 --cols 1028 --batch 3

# Those kernels, and no others, are asked: one that is wrong there is found.
cp -r "$SOURCE/templates" "$SOURCE/formats" "$work/"
sed -i 's/TILE_ROWS, partial\[from\]);/TILE_ROWS, partial[from] * 1.0001);/' "$work/templates/gemv_columns.comp"
check "kernels that are wrong" test "$(diff "$SOURCE/templates/gemv_columns.comp" "$work/templates/gemv_columns.comp" | grep -c '^>')" -eq 1
refuses "it is found" "1 of 1 results are wrong" \
  "$QKGEN" bench gemv --quick --samples 1 --data "$work" --format gptq_v1_b4_g128 --rows 64 --cols 512
check "it is not run where a matrix is not whole blocks" \
  "$QKGEN" bench gemv --quick --samples 1 --data "$work" --format gptq_v1_b4_g128 --rows 65 --cols 512
finish
