#!/bin/sh
# Runs Metal files that others wrote by hand, unchanged, and holds them against models and against our reference.
#   seeds.sh [FOLDER [BLOCKS]]    or QKGEN_SEEDS=FOLDER, QKGEN_SEEDS_BLOCKS=BLOCKS
# FOLDER: dequant_to_f16.metal, gemv_q4_k.metal, qdq_affine.metal, quantized_matmul_id.metal. They are not part of this
# repository. BLOCKS: TYPE.blocks, blocks that ggml wrote (default: tests/vectors/ggml).
# Environment: QKGEN, SOURCE, BUILD as for every test; MSL_SEEDS_TEST, the test program.
set -eu
seeds=${1:-${QKGEN_SEEDS:-}}
source=${SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
blocks=${2:-${QKGEN_SEEDS_BLOCKS:-$source/tests/vectors/ggml}}
if [ -z "$seeds" ]; then
    echo "skipped: QKGEN_SEEDS is not set; it names the folder of the hand-written Metal files"
    exit 77
fi
for file in dequant_to_f16 gemv_q4_k qdq_affine quantized_matmul_id; do
    if [ ! -r "$seeds/$file.metal" ]; then
        echo "skipped: $seeds has no $file.metal"
        exit 77
    fi
done
work=${BUILD:-$(mktemp -d)}
mkdir -p "$work"
exec "$MSL_SEEDS_TEST" "$seeds" "$blocks" "$QKGEN" "$work"
