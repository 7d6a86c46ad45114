#!/usr/bin/env bash
# Puts qkgen's kernels into a checkout of llama.cpp, or of ggml alone, builds it, and runs ggml's own tests.
#
#   apply.sh CHECKOUT [STEP...]
#
# STEP     patch      ggml.patch, and bench/peers/ggml_quick.sh for the tests, unless they are there already
#          generate   the kernels, into CHECKOUT/qkgen-kernels
#          build      CHECKOUT/build-qkgen, with test-backend-ops; of llama.cpp, with tokens too
#          test       test-backend-ops for MUL_MAT, MUL_MAT_ID, GET_ROWS, SET_ROWS, CPY and fused products; what was routed, and why the rest was not
#          measure    measure.sh: times of ggml's own kernels and of these
#          Without a step: all but measure. Nothing is fetched.
#
# FORMATS        the formats, all of ggml's without
# CLASSES        the classes of sums, "exact split int8 mma" without
# CMAKE_OPTIONS  more options of cmake when build configures
# QKGEN          the program; without, build/qkgen, else the one in PATH
set -euo pipefail
export LC_ALL=C

die() {
  echo "apply.sh: error: $*" >&2
  exit 2
}
if [ $# -lt 1 ] || [ "$1" = -h ] || [ "$1" = --help ]; then
  sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0"
  [ $# -ge 1 ] && exit 0
  exit 1
fi
here=$(cd "$(dirname "$0")" && pwd)
home=$(cd "$here/../.." && pwd)
checkout=$(cd "$1" && pwd) || die "there is no folder $1"
shift
ggml=$checkout
[ -e "$checkout/ggml/src/ggml-vulkan/ggml-vulkan.cpp" ] && ggml=$checkout/ggml
[ -e "$ggml/src/ggml-vulkan/ggml-vulkan.cpp" ] ||
  die "$checkout is no checkout of llama.cpp or ggml: it has neither ggml/src/ggml-vulkan/ggml-vulkan.cpp nor src/ggml-vulkan/ggml-vulkan.cpp"
[ -e "$checkout/tests/test-backend-ops.cpp" ] || die "$checkout has no tests/test-backend-ops.cpp; name the checkout, not a folder in it"
qkgen=${QKGEN:-$home/build/qkgen}
[ -x "$qkgen" ] || qkgen=$(command -v qkgen) || die "there is no qkgen: build it, or set QKGEN"
formats=${FORMATS:-q1_0 q2_0 q4_0 q4_1 q5_0 q5_1 q8_0 q2_K q3_K q4_K q5_K q6_K iq1_s iq1_m iq2_xxs iq2_xs iq2_s iq3_xxs iq3_s iq4_nl iq4_xs tq1_0 tq2_0 mxfp4 nvfp4}
kernels=$checkout/qkgen-kernels
build=$checkout/build-qkgen
program=$build/bin/test-backend-ops

# apply OPTION...: the patch to ggml's folder, which may lie within a repository: git reads its paths from the repository's top.
apply() {
  local top prefix
  top=$(git -C "$ggml" rev-parse --show-toplevel 2>/dev/null) || top=$ggml
  prefix=$(git -C "$ggml" rev-parse --show-prefix 2>/dev/null) || prefix=
  (cd "$top" && git apply ${prefix:+--directory="$prefix"} "$@" "$here/ggml.patch")
}

patch_step() {
  if apply --reverse --check 2>/dev/null; then
    echo "patch: ggml.patch is there"
  else
    apply --check || die "ggml.patch does not apply; it is for the version that README.md names"
    apply
    echo "patch: ggml.patch, $(grep -c '^+\([^+]\|$\)' "$here/ggml.patch") lines more"
  fi
  grep -q QK_PERF_MS "$checkout/tests/test-backend-ops.cpp" || "$home/bench/peers/ggml_quick.sh" "$checkout/tests/test-backend-ops.cpp"
}

generate_step() {
  mkdir -p "$kernels"
  local options=() format
  for class in ${CLASSES:-exact split int8 mma}; do options+=(--class "$class"); done
  for format in $formats; do
    "$qkgen" emit --embed --includes --format "$format" --family gather --family set_rows --family gemv --family gemv_id --family gemm --family gemm_id "${options[@]}" \
      --api vulkan --data "$home" --out "$kernels" >/dev/null
  done
  for format in "$kernels"/*.c; do # of another call
    case " $formats " in *" $(basename "$format" .c) "*) ;; *) rm "$format" "${format%.c}.h" ;; esac
  done
  rm -rf "$kernels/qkgen"
  cp -r "$home/runtime/include/qkgen" "$kernels/qkgen"
  cp "$here/ggml-vulkan-qkgen.cpp" "$kernels"
  {
    echo "// The kernels that apply.sh generated."
    for format in $formats; do echo "#include \"$format.h\""; done
    echo "static const qk_kernel_set * const qkgen_kernels[] = {"
    for format in $formats; do echo "    &qk_${format}_kernels,"; done
    echo "};"
    echo "enum { QKGEN_KERNEL_SETS = $(echo "$formats" | wc -w) };"
  } >"$kernels/qkgen-kernels.h"
  echo "generate: $(cat "$kernels"/*.h | grep -c '^extern const qk_kernel qk_\w*_vulkan;') kernels of $(echo "$formats" | wc -w) formats, $(du -sm "$kernels" | cut -f1) MB of C"
}

build_step() {
  cd "$checkout"
  local options=(-DGGML_BUILD_TESTS=ON) targets=(test-backend-ops)
  if [ "$ggml" != "$checkout" ]; then
    options=(-DLLAMA_BUILD_TESTS=ON "-DCMAKE_PROJECT_llama.cpp_INCLUDE=$here/tokens.cmake")
    targets+=(tokens)
  fi
  # shellcheck disable=SC2086 # several options
  cmake -B "$build" -DCMAKE_BUILD_TYPE=Release -DGGML_VULKAN=ON -DGGML_VULKAN_QKGEN="$kernels" "${options[@]}" ${CMAKE_OPTIONS:-}
  cmake --build "$build" --target "${targets[@]}" -j "$(nproc)"
}

# count OPERATION: its tests, and what was routed.
count() {
  local log
  log=$(mktemp)
  GGML_VK_QKGEN=mul_mat,mul_mat_id,set_rows,cpy,get_rows GGML_VK_QKGEN_LOG=1 "$program" test -b Vulkan0 -o "$1" -p "${2:-.}" >"$log" 2>&1 || true
  grep -aE '^ *[0-9]+/[0-9]+ tests passed|^qkgen: ' "$log" | sed "s/^/$1: /"
  if grep -aqE 'FAIL|ERROR' "$log" || ! grep -aqE ' ([0-9]+)/\1 tests passed' "$log"; then
    grep -aE 'FAIL|ERROR' "$log" | head -n 20
    echo "$1: failed, see $log"
    failed=1
    return
  fi
  rm "$log"
}

test_step() {
  failed=0
  for operation in MUL_MAT MUL_MAT_ID GET_ROWS SET_ROWS CPY MUL_MAT_VEC_FUSION MUL_MAT_ID_FUSION; do count $operation; done
  return $failed
}

measure_step() {
  "$here/measure.sh" "$program"
}

[ $# -gt 0 ] || set -- patch generate build test
for step in "$@"; do
  case $step in
  patch | generate | build | test | measure) "${step}_step" ;;
  *) die "there is no step $step; the steps are patch, generate, build, test, measure" ;;
  esac
done
