#!/usr/bin/env bash
# bench/offline/ggml.sh GGML FOLDER: compiles the shaders of ggml's Vulkan backend that bench/offline.sh counts, from a checkout of ggml,
# into FOLDER. Needs glslc. Those for matrix units need a compiler that knows them: they are preprocessed by glslc, and compiled by
# ours. Nothing is fetched.
set -euo pipefail

[ $# -eq 2 ] || { sed -nE 's/^# ?//p' "$0" | sed -n '2,4p' >&2; exit 2; }
home=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=${BUILD:-$home/build}
shaders=$1/src/ggml-vulkan/vulkan-shaders
[ -e "$shaders/mul_mat_vec.comp" ] || { echo "ggml.sh: error: $1 is no checkout of ggml: it has no $shaders" >&2; exit 1; }
command -v glslc >/dev/null || { echo "ggml.sh: error: there is no glslc: install it" >&2; exit 1; }
cmake --build "$build" --target offline >/dev/null
mkdir -p "$2"
out=$(cd "$2" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What vulkan-shaders-gen defines.
few=(-DB_TYPE=float -DB_TYPEV2=vec2 -DB_TYPEV4=vec4 -DD_TYPE=float -DUSE_SUBGROUP_ADD=1 -DFLOAT_TYPE=float -DFLOAT_TYPEV2=vec2)
many=(-DB_TYPE=mat2x4 -DB_TYPE_SCALAR=float -DB_TYPEV4=vec4 -DD_TYPE=float -DFLOAT16=1 -DACC_TYPE=float -DACC_TYPEV2=vec2 -DCOOPMAT=1
  -DFLOAT_TYPE=float16_t -DFLOAT_TYPEV2=f16vec2 -DFLOAT_TYPEV4=f16vec4 -DFLOAT_TYPEV8=f16mat2x4 -DLOAD_VEC_B=8)
cd "$shaders"
for format in q4_0 q4_1 q5_k q8_0 q4_k q6_k q2_k q3_k iq4_xs mxfp4; do
  source=mul_mat_vec.comp each=2
  case $format in *_k) source=mul_mat_vec_$format.comp ;; esac
  case $format in q4_0 | q4_1) each=8 ;; q8_0 | q2_k | q4_k | q5_k | iq4_xs | mxfp4) each=4 ;; esac
  glslc -fshader-stage=compute --target-env=vulkan1.2 -O "-DDATA_A_${format^^}=1" "${few[@]}" "$source" \
    -o "$out/mul_mat_vec_${format}_f32_f32_subgroup.spv"
  glslc -E -fshader-stage=compute --target-env=vulkan1.2 "-DDATA_A_${format^^}=1" "-DLOAD_VEC_A=$each" "${many[@]}" mul_mm.comp |
    sed -E '/^#line/d; /GL_GOOGLE_include/d' >"$work/shader.comp"
  "$build/offline" --glsl "$work/shader.comp" --spirv "$out/matmul_${format}_f32_cm1.spv"
done
git -C "$1" rev-parse HEAD >"$out/commit" 2>/dev/null || echo unknown >"$out/commit"
