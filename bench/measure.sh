#!/usr/bin/env bash
# Measures what docs/performance/figures.md shows, on the device of this machine: `bench/measure.sh OUT`, some minutes on a large GPU. Writes OUT/*.json, which bench/report.sh turns into the page and its pictures, here or elsewhere.
#
# QKGEN names the command (else build/qkgen), DATA the folder of formats/ and templates/, DEVICE a device of `qkgen devices`,
# TUNING a file of constants (docs/tuning.md). MODEL_PEERS is a file of peers (peers/README.md) at the matrices of models, and MODEL_FORMATS
# the formats that are measured at these. Needs no compiler.
set -euo pipefail
out=${1:?names the folder that takes the figures}
here=$(cd "$(dirname "$0")/.." && pwd)
qkgen=${QKGEN:-$here/build/qkgen}
options=(--data "${DATA:-$here}")
[ -z "${DEVICE:-}" ] || options+=(--device "$DEVICE")
[ -z "${TUNING:-}" ] || options+=(--tuning "$TUNING")
mkdir -p "$out"

status=0
# Every format of ggml, and MLX's affine groups of 64; their decoders; one size after the other; and what has no format.
chosen=(--from "ggml (llama.cpp)" --format 'tq1_0,affine_b?_g64_bf16')
"$qkgen" bench gemv,gemv_id,gather "${chosen[@]}" --class exact,split,int8,mma --batch 1,8 "${options[@]}" \
  --json "$out/figures.json" || status=1
"$qkgen" bench dequant "${chosen[@]}" --type f32,f16 --rows 57344 "${options[@]}" --json "$out/decoders.json" || status=1
"$qkgen" bench gemv --format q4_0 --sizes "${options[@]}" --json "$out/sizes.json" >"$out/sizes.txt" || status=1
# The models, whose small matrices are measured in thousands.
"$qkgen" bench --model llama-3.1-8b,llama-3.1-70b,qwen3-8b,qwen3-30b-a3b --format "${MODEL_FORMATS:-q4_0,q4_1,q5_K,q8_0,q4_K,q6_K,q2_K,q3_K,iq4_xs,mxfp4}" \
  --class exact,split,int8,mma --batch 1,2,4,8 --quick ${MODEL_PEERS:+--peers "$MODEL_PEERS"} "${options[@]}" \
  --markdown "$out/models.md" --json "$out/models.json" >"$out/models.txt" || status=1
for group in 64 32; do
  "$qkgen" bench qdq_init,qdq_forward,qdq_backward_scales,qdq_backward_biases --group $group --data "${DATA:-$here}" \
    ${DEVICE:+--device "$DEVICE"}
done | tee "$out/qdq.txt" || status=1
exit $status
