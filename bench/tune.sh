#!/usr/bin/env bash
# Tunes gemv of the most used formats for shapes of large models, on the device of this machine: `bench/tune.sh FILE`, some two
# minutes on a large GPU. FORMATS and SHAPES name others; QKGEN, DATA and DEVICE are as for bench/measure.sh.
set -euo pipefail
file=${1:?names the file that takes the tuning}
here=$(cd "$(dirname "$0")/.." && pwd)
options=(--data "${DATA:-$here}")
[ -z "${DEVICE:-}" ] || options+=(--device "$DEVICE")
"${QKGEN:-$here/build/qkgen}" tune gemv --format "${FORMATS:-q4_0,q8_0,q4_K,q6_K,mxfp4,affine_b4_g64_bf16}" \
  --shape "${SHAPES:-4096x4096x1,14336x4096x1,57344x8192x1,57344x8192x8}" "${options[@]}" --out "$file"
