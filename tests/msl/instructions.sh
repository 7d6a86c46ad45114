#!/usr/bin/env bash
# bench/instructions.sh: counts what is done for each weight and nothing else, also by kinds, and says what is missing.
# Environment: as for every test; QKGEN_MSL, and CLANG, the clang++ that it was built for.
source "$(dirname "$0")/../lib.sh"
script=$SOURCE/bench/instructions.sh

if ! command -v valgrind >/dev/null; then
  echo "skipped: valgrind is not installed"
  exit 77
fi

cat >"$work/two.metal" <<'METAL'
#include <metal_stdlib>
using namespace metal;

struct shape { uint rows, cols; };

// A row for each thread. The loads and the loop are the same in both.
kernel void plain(device const uint *w [[buffer(0)]], device uint *y [[buffer(1)]], constant shape &s [[buffer(2)]],
    uint row [[thread_position_in_grid]])
{
    uint sum = row * 77u;
    for (uint k = 0; k < s.cols; ++k) sum += w[row * s.cols + k];
    y[row] = sum;
}

kernel void shifted(device const uint *w [[buffer(0)]], device uint *y [[buffer(1)]], constant shape &s [[buffer(2)]],
    uint row [[thread_position_in_grid]])
{
    uint sum = row * 77u;
    for (uint k = 0; k < s.cols; ++k) {
        uint v = w[row * s.cols + k];
        v ^= v << 13;
        v ^= v >> 17;
        v ^= v << 5;
        sum += v;
    }
    y[row] = sum;
}

// The same for all rows: nothing for each weight.
kernel void header(device const uint *w [[buffer(0)]], device uint *y [[buffer(1)]], constant shape &s [[buffer(2)]],
    uint row [[thread_position_in_grid]])
{
    uint sum = 0;
    for (uint k = 0; k < s.cols && row == 0; ++k) sum += w[k] * w[k] >> 3;
    y[row] = sum;
}
METAL

count() {
  bash "$script" --kernel "$work/two.metal" "$1" --grid '$((ROWS))' --group 8 --zeros '0=$((ROWS * COLS * 4))' \
    --zeros '1=$((ROWS * 4))' --u32 '2=$((ROWS)),$((COLS))'
}

plain=$(count plain)
shifted=$(count shifted)
header=$(count header)
echo "plain $plain, shifted $shifted, header $header"
# At least a load with its addition; at most those, a counter, a comparison and a branch.
check "a sum takes 1 to 5 instructions, not $plain" awk -v x="$plain" 'BEGIN { exit !(x >= 1 && x <= 5) }'
# Three shifts, three xors; x86 copies v before it shifts it, and a longer loop is unrolled less: 2 of its own again.
check "six operations more are 6 to 11 more, not $plain and $shifted" \
  awk -v a="$plain" -v b="$shifted" 'BEGIN { exit !(b - a >= 6 && b - a <= 11) }'
check "what is not done for each weight does not count, not $header" awk -v x="$header" 'BEGIN { exit !(x == 0) }'

# The same by kinds.
kinds() {
  bash "$script" --operations "$work/two.metal" "$1" --grid '$((ROWS))' --group 8 --zeros '0=$((ROWS * COLS * 4))' \
    --zeros '1=$((ROWS * 4))' --u32 '2=$((ROWS)),$((COLS))'
}

kinds plain >"$work/plain"
kinds shifted >"$work/shifted"
counted() { awk -v kind="$2" '$1 == kind { printf "%g", $2 }' "$work/$1"; }
for what in "plain load_device 1" "plain bytes_device 4" "plain shift 0" "plain convert 0" "shifted shift 3"; do
  read -r name kind n <<<"$what"
  check "$name has $n of $kind, not $(counted "$name" "$kind")" [ "$(counted "$name" "$kind")" = "$n" ]
done

refuses "no argument" 'needs a folder of kernels, or --kernel' bash "$script"
refuses "a missing folder" 'nowhere is no folder' bash "$script" "$work/nowhere"
refuses "a folder without the kernels" 'has no gemv_q4_k.metal' bash "$script" "$work"
refuses "a missing file" 'none.metal is not there' bash "$script" --kernel "$work/none.metal" plain
refuses "a missing file, by kinds" 'none.metal is not there' bash "$script" --operations "$work/none.metal" plain
refuses "a missing kernel" 'nothing does not run: .*nothing' bash "$script" --kernel "$work/two.metal" nothing --groups 1
refuses "a missing compiler" 'there is no clang\+\+-0: install clang-16' env CLANG=clang++-0 bash "$script" "$work"
refuses "a missing executor" 'missing is not there: build the repository' env QKGEN_MSL="$work/missing" bash "$script" "$work"
refuses "an argument that is a command" 'it may hold words, numbers' bash "$script" --kernel "$work/two.metal" plain \
  --zeros '0=`touch x`'
finish
