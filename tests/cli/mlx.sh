#!/usr/bin/env bash
# Modules for MLX: each is imported, and its functions are called, with a stand-in for MLX whose kernels the executor of Metal text
# runs (tests/mlx). Values are those of the library, bit by bit; sums are within their bound. ALL=1 takes every format that has vectors.
source "$(dirname "$0")/../lib.sh"
[ -x "${QKGEN_MSL:-}" ] || { echo "skipped: there is no executor of Metal text" && exit 77; }
command -v python3 >/dev/null || { echo "skipped: no python3 (Debian: python3)" && exit 77; }
export PYTHONPATH=$SOURCE/tests/mlx:$work PYTHONDONTWRITEBYTECODE=1

# ---- what is written ----

check "emits one format" "$QKGEN" emit --target mlx --format q4_K --out "$work"
check "nothing stands beside the module" test "$(cd "$work" && echo ./*.*)" = ./qkgen_q4_K.py
check "--api is the same" "$QKGEN" emit --api mlx --format q4_K --out "$work" --check
check "emits beside a pair" "$QKGEN" emit --embed --api metal --api mlx --format q8_0 --out "$work/pair"
check "emits beside a pair: all three are there" test -s "$work/pair/qkgen_q8_0.py" -a -s "$work/pair/q8_0.c" -a -s "$work/pair/q8_0.h"
check "emits some families" "$QKGEN" emit --target mlx --format q4_0 --family gemv --out "$work/gemv"
check "emits some families: no other" bash -c "! grep -q '^def dequant' '$work/gemv/qkgen_q4_0.py' && grep -q '^def gemv(' '$work/gemv/qkgen_q4_0.py'"
refuses "a format whose blocks are patches" 'awq_b4_g64: modules for MLX are of formats whose blocks lie one after the other' \
  "$QKGEN" emit --target mlx --format awq_b4_g64 --out "$work/none"
refuses "families that it has not" 'MLX has kernels of dequant, gather, gemv, gemm and gemv_id' \
  "$QKGEN" emit --target mlx --format q4_0 --family encode --out "$work/none"
check "nothing is left of that" test ! -e "$work/none"
check "emits all formats" "$QKGEN" emit --target mlx --out "$work"
check "what others left is there" test -s "$work/pair/q8_0.c"

# ---- what it computes ----

# takes FORMAT WHAT...
takes() {
  reference "$1" "$work/$1.data"
  check "$1: $2" python3 "$SOURCE/tests/mlx/check.py" "$1" "$work/$1.data" 512 "${@:2}"
}
export -f takes
few="dequant_f32 gather_f16 gemv_f32_1 gemv_f16_3 matmul"
{
  echo "takes q4_K dequant_f32 dequant_f16 dequant_bf16 gather_f32 gather_f16 gather_bf16 refuses"
  echo "takes q4_K gemv_f32_1 gemv_f32_2 gemv_f16_4 gemv_bf16_1 gemv_f32_11 matmul epilogue gemv_id_f32 gemv_id_f16"
  echo "takes q4_K gemm_f32_1 gemm_f32_37 gemm_f16_3 gemm_bf16_2 gemm_epilogue"
  echo "takes affine_b4_g64_bf16 dequant_bf16 gather_bf16 gemv_bf16_1 gemv_f32_5 epilogue gemv_id_f32 refuses"
  for format in q4_0 q8_0 q6_K iq2_xxs mxfp4 affine_b3_g64_bf16 affine_b6_g128_f32 affine_b8_g32_f16 mlx_mxfp4 mlx_mxfp8 mlx_nvfp4; do
    echo "takes $format $few"
  done
  [ -z "${ALL:-}" ] || formats | sed "s/.*/takes & $few/"
} | each
# Another order of threads has the same results.
check "threads in a random order" env ORDER=random:7 python3 "$SOURCE/tests/mlx/check.py" q4_K "$work/q4_K.data" 512 gemv_f32_1 gemv_id_f32
finish
