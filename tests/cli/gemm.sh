#!/usr/bin/env bash
# A matrix times many vectors: tiles of the result. On this machine's device, where plain arithmetic takes the place of matrix units, so
# that all of the text but their own is run; against the values of the specification. What matrix units are given compiles, and is valid.
source "$(dirname "$0")/../lib.sh"

formats=q4_0,q4_K,q8_0,q6_K,mxfp4,iq3_s,tq1_0,affine_b4_g64_f16,affine_b3_g32_bf16,hqq_b4_g64,ct_b4_channel
mapfile -t wanted < <(tr , '\n' <<<"$formats" | sed 's/^/--format\n/')
check "emits tiles, where their family is named" "$QKGEN" emit --family gemm --api vulkan "${wanted[@]}" --out "$work/out"
check "four modules for each format" test "$(ls "$work"/out/*/*_gemm_mma_*.comp | wc -l)" -eq 44
check "matrix units in one of them" test "$(grep -l coopMatMulAdd "$work"/out/*/*_gemm_mma_*.comp | wc -l)" -eq 11
check "emits those of a table" "$QKGEN" emit --family gemm --family gemv --class mma --format iq4_xs --out "$work/pairs"
for kernel in gemm_mma_tiles gemm_mma_plain_tiles gemv_mma; do
  check "$kernel looks two codes up at a time" grep -q 'unpackFloat2x16(N_pair(' "$work/pairs/iq4_xs/iq4_xs_$kernel.comp"
done
check "on Metal each by itself" test "$(grep -c 'N_pair' "$work/pairs/iq4_xs/iq4_xs.metal")" -eq 0
check "not among all families" "$QKGEN" emit --api vulkan --format q4_0 --out "$work/all"
check "there are none" test ! -e "$work/all/q4_0/q4_0_gemm_mma_tiles.comp"

# bench NAME FORMATS OPTION...: all of them are right.
bench() {
  local name=$1 formats=$2
  shift 2
  "$QKGEN" bench gemm --quick --samples 1 --format "$formats" "$@" >"$work/$name.txt" 2>&1 || fail "$name" "$work/$name.txt"
  check "$name: a line for each" test "$(grep -c ' gemm ' "$work/$name.txt")" -eq "$(tr , '\n' <<<"$formats" | wc -l)"
}
# Neither rows nor columns of the result are whole tiles.
bench all "$formats" --rows 70 --cols 1024 --batch 19
bench halves q4_K,q8_0 --rows 33 --cols 512 --batch 17 --type f16
bench one q4_K --rows 1 --cols 256 --batch 1
# Parts of rows: more of them than there are, as many, and one.
for parts in 1 2 16; do bench "parts_$parts" q4_K --rows 40 --cols 1280 --batch 9 --constant k_parts=$parts; done
# Tiles that are larger than the result, and subgroups that decode nothing.
large="--constant tile_rows=64 --constant tile_cols=64 --constant own_rows=32 --constant own_cols=16"
bench large q4_K,mxfp4 --rows 130 --cols 768 --batch 70 $large
bench idle q4_K --rows 40 --cols 512 --batch 20 --constant tile_rows=16 --constant tile_cols=64 --constant own_rows=16 --constant own_cols=16
bench walk q4_0 --rows 200 --cols 512 --batch 50 --workgroups 2

check "drawn at random" "$QKGEN" soak --family gemm --cases 12 --seed 3 --format "q4_K,q5_0,mx_fp6_e3m2,nvfp4"
check "by hand" "$QKGEN" soak --case \
  'format=mx_fp6_e3m2 family=gemm class=mma type=f32 rows=4 cols=7808 batch=20 seed=12778310 offset=3 padding=32 x=sparse weights=random'

# Through files, and added to what is there.
head -c $((40 * 256 / 32 * 18)) /dev/zero >"$work/w"
head -c $((20 * 256 * 4)) /dev/zero >"$work/x"
for ((i = 0; i < 20 * 40; ++i)); do # floats from 2 to 8: a signalling NaN would come back as a quiet one
  printf -v float '\\x%02x\\x%02x\\x%02x\\x40' $((i % 251)) $((i % 241)) $((i % 256))
  printf "%b" "$float"
done >"$work/y"
check "results are added" "$QKGEN" run gemm --target vulkan --format q4_0 --type f32 --rows 40 --cols 256 --batch 20 --in "$work/w" \
  --x "$work/x" --add "$work/y" --out "$work/sum"
check "to what was there" cmp "$work/y" "$work/sum"
head -c 160 "$work/y" >"$work/bias"
check "a bias is added" "$QKGEN" run gemm --target vulkan --format q4_0 --type f32 --rows 40 --cols 256 --batch 20 --in "$work/w" \
  --x "$work/x" --bias "$work/bias" --out "$work/sum"
check "to each row" cmp <(for _ in {1..20}; do cat "$work/bias"; done) "$work/sum"

# Scales that grow along a row, 2^8 from one four of tiles to the next, do not fit into halves with one power of two. All is exact.
grow() {
  local e
  for ((e = 9; e < 29; ++e)); do
    printf "\\x00\\x$(printf %02x $((e << 2)))"
    printf '\x99%.0s' {1..16}
  done
}
ones() { local i; for ((i = 0; i < $1; ++i)); do printf '\x00\x00\x80\x3f'; done; }
{ grow; grow; grow; } >"$work/w"
ones $((640 * 2)) >"$work/x"
product() { "$QKGEN" run "$1" --target "$2" --format q4_0 --type f32 --rows 3 --cols 640 --batch 2 --in "$work/w" --x "$work/x" "${@:4}" --out "$work/$3"; }
check "the reference" product gemv c expected
check "scales that grow" product gemm vulkan grown
check "are those of the reference" cmp "$work/expected" "$work/grown"
case $targets in
*msl*)
  check "scales that grow, on Metal" product gemm msl grown
  check "are those of the reference, on Metal" cmp "$work/expected" "$work/grown"
  head -c $((40 * 256 / 32 * 18)) /dev/zero >"$work/no_w"
  head -c $((20 * 256 * 4)) /dev/zero >"$work/no_x"
  check "results are added, on Metal" "$QKGEN" run gemm --target msl --format q4_0 --type f32 --rows 40 --cols 256 --batch 20 \
    --in "$work/no_w" --x "$work/no_x" --add "$work/y" --out "$work/sum"
  check "to what was there, on Metal" cmp "$work/y" "$work/sum"
  ;;
esac
cp -r "$SOURCE/templates" "$SOURCE/formats" "$work/"
sed -i 's/four > first_four \&\& grew(four - first_four)/false/' "$work/templates/gemm_tiles.comp"
check "tiles that do not see it" test "$(diff "$SOURCE/templates/gemm_tiles.comp" "$work/templates/gemm_tiles.comp" | grep -c '^>')" -eq 1
check "run" product gemm vulkan wrong --data "$work"
refuses "and are found" "differ" cmp "$work/expected" "$work/wrong"

refuses "a ragged format" "gptq_v1_b4_g128 has no such kernel" "$QKGEN" bench gemm --format gptq_v1_b4_g128 --rows 64 --cols 512
refuses "another class" "gemm has one class, mma" "$QKGEN" bench gemm --format q4_K --class exact --rows 64 --cols 512
refuses "blocks that are joined" "cols is 96, must be a multiple of 64; gemv takes others" \
  "$QKGEN" bench gemm --format q4_0 --rows 64 --cols 96
finish
