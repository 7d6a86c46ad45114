#!/usr/bin/env bash
# Kernels for matrix units as they ship, on a device that has some: lavapipe of Mesa 26, 8 x 8 times 8 x 8, which cmake/mesa.sh
# unpacks into QKGEN_MESA, a folder, and which is started through its own loader. MMA_TEST is a program.
. "$(dirname "$0")/../lib.sh"

mesa=${QKGEN_MESA:-$SOURCE/build/mesa}
if [ ! -e "$mesa/complete" ]; then
  echo "WARNING: KERNELS FOR MATRIX UNITS ARE NOT TESTED: there is no Mesa 26 in $mesa; cmake/mesa.sh $mesa fetches one" >&2
  exit 77
fi
if ! "$QKGEN" emit --data "$SOURCE" --format q4_0 --family gemv --class mma --api vulkan --out "$work/out" >"$work/said" 2>&1 ||
  ! [ -e "$work/out/q4_0/q4_0_gemv_mma.comp" ]; then
  echo "WARNING: KERNELS FOR MATRIX UNITS ARE NOT TESTED: $(tail -n 1 "$work/said")" >&2
  exit 77
fi
unset QKGEN_VALIDATION
unset GALLIVM_PERF # its compiler takes a quarter less for tiles where it makes less of them first
on_units() { "$mesa/run" "$@"; }

check "the device" on_units "$QKGEN" devices
on_units "$QKGEN" devices >"$work/devices"
says "it has matrix units" 'cooperative matrix' "$work/devices"

# Of sums, whose kernels are many and short, it makes all in two thirds of the time where it does not.
check "gemv of few formats, all shapes, and x that is not finite" env QKGEN_UNITS=1 GALLIVM_PERF=nopt SOURCE="$SOURCE" \
  "$mesa/run" "${MMA_TEST:?names the program}"

# With the memory model that matrices need, atomic operations want a feature of its own: the layer that comes with the driver says so. It
# holds matrices against the device's with what constants are when none are set: what it says of that is left out.
validated() {
  local not_said=VUID-RuntimeSpirv-OpTypeCooperativeMatrixKHR-10163,VUID-RuntimeSpirv-OpCooperativeMatrixMulAddKHR-10060
  QKGEN_VALIDATION=1 VK_LAYER_MESSAGE_ID_FILTER=$not_said on_units "$QKGEN" run "$@"
}
head -c $((2 * 3 * 2 * 18)) /dev/zero >"$work/zeros"
head -c $((64 * 4)) /dev/zero >"$work/zero_x"
printf '\x01\x00\x00\x00\x02\x00\x00\x00' >"$work/ids" # the second is none, and is counted
check "atomic operations under the validation layer" validated gemv_id --data "$SOURCE" --format q4_0 --experts 2 --rows 3 --cols 64 \
  --tokens 1 --slots 2 --target vulkan --type f32 --ids "$work/ids" --in "$work/zeros" --x "$work/zero_x" --out "$work/none"

# bench NAME FAMILY FORMATS OPTION...: all of them are right.
bench() {
  local name=$1 family=$2 formats=$3
  shift 3
  on_units "$QKGEN" bench "$family" --data "$SOURCE" --class mma --quick --samples 1 --format "$formats" "$@" >"$work/$name.txt" 2>&1 ||
    fail "$name" "$work/$name.txt"
  check "$name: a line for each" test "$(grep -c " $family " "$work/$name.txt")" -eq "$(tr , '\n' <<<"$formats" | wc -l)"
}
small="--constant tile_rows=32 --constant tile_cols=32 --constant own_rows=16 --constant own_cols=16"
bench sixteen gemv q4_K,q8_0,iq4_xs --rows 70 --cols 1024 --batch 13
bench seventeen gemv q4_0 --rows 33 --cols 1024 --batch 17 --type f16
bench midway gemv q3_K,iq3_s --rows 37 --cols 768 --batch 5
bench gemm gemm q4_K,q6_K,iq4_xs --rows 70 --cols 1024 --batch 19 $small
bench own gemm q4_0 --rows 150 --cols 512 --batch 40
bench halves gemm q8_0 --rows 33 --cols 512 --batch 17 --type f16 $small
bench parts gemm q4_0 --rows 40 --cols 1280 --batch 9 --constant k_parts=4 $small
bench slices gemm q4_K,q8_0 --rows 70 --cols 1280 --batch 19 --constant k_slices=2 $small
bench empty gemm q4_0 --rows 40 --cols 512 --batch 9 --constant k_slices=4 --constant k_parts=2 $small
bench of_experts gemm_id q4_0 --rows 70 --cols 768 --tokens 19 --experts 4 --slots 2 --constant k_slices=2 $small
bench together gemm_id q8_0 --rows 70 --cols 768 --tokens 19 --experts 4 --slots 2 --constant together=1 $small
bench experts gemm_id q4_K,iq4_xs --rows 70 --cols 512 --tokens 19 --experts 4 --slots 2 --x-slots 2 $small
bench wide gemm mxfp4 --rows 130 --cols 768 --batch 70 --constant tile_rows=64 --constant tile_cols=64 --constant own_rows=32 \
  --constant own_cols=16

# Each vector is another's: so bench, whose vectors are alike, does not say it.
check "gemm drawn at random" on_units "$QKGEN" soak --data "$SOURCE" --family gemm --cases 4 --seed 3 --format q4_K,q8_0

# Scales that grow along a row do not fit into halves with one power of two: sums are scaled on the way. All is exact.
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
product() {
  local family=$1 target=$2 out=$3
  shift 3
  on_units "$QKGEN" run "$family" --data "$SOURCE" --target "$target" --format q4_0 --type f32 --rows 3 --cols 640 --batch 2 \
    --in "$work/w" --x "$work/x" --out "$work/$out" "$@"
}
check "the reference" product gemv c expected
check "scales that grow" product gemm vulkan grown --class mma
check "are those of the reference" cmp "$work/expected" "$work/grown"
device=$(sed -nE '1s/^0: (.*) \((cpu|gpu).*/\1/p' "$work/devices")
printf 'qkgen-tuning 1\ndevice %s\nq4_0_gemm_mma_f32 1x1x2 %s\n' "$device" "tile_rows=32 tile_cols=32 own_rows=16 own_cols=16 k_slices=2" >"$work/tuning"
check "in slices" product gemm vulkan sliced --class mma --tuning "$work/tuning"
check "are the same" cmp "$work/expected" "$work/sliced"

# Threads that load for each other get the words that each alone loads: the same bits. Rows end within four tiles; no two blocks are
# alike. A block has BYTES, and the byte AT of it makes a moderate scale from FROM on.
drawn() { # BYTES AT FROM
  local i k
  for ((i = 0; i < 40 * 20; ++i)); do
    for ((k = 0; k < $1; ++k)); do
      if ((k == $2)); then printf '\\x%02x' $(($3 + i % 11)); else printf '\\x%02x' $(((i * 7 + k * 13 + i * k) % 251)); fi
    done
  done
}
for ((i = 0; i < 640 * 19; ++i)); do printf '\\x00\\x%02x\\x%02x\\x3f' $((i % 256)) $((i * 37 % 256)); done >"$work/text"
printf "$(cat "$work/text")" >"$work/many"
together() { # FORMAT BYTES AT FROM
  printf "$(drawn "${@:2}")" >"$work/blocks"
  local value
  for value in "" together=1; do
    printf 'qkgen-tuning 1\ndevice %s\n%s_gemm_mma_f32 1x1x32 %s\n' "$device" "$1" \
      "tile_rows=32 tile_cols=32 own_rows=16 own_cols=16 $value" >"$work/tuning"
    on_units "$QKGEN" run gemm --data "$SOURCE" --target vulkan --format "$1" --type f32 --rows 40 --cols 640 --batch 19 \
      --class mma --in "$work/blocks" --x "$work/many" --out "$work/$1$value" --tuning "$work/tuning" || return 1
  done
  ! od -An -tx4 "$work/$1" | grep -qiE '(7f8|ff8|7fc|ffc)0000' && cmp "$work/$1" "$work/${1}together=1"
}
check "together: two words of each tile are of two blocks" together q8_0 34 1 40
check "together: two tiles share a block" together mxfp4 17 0 120
finish
