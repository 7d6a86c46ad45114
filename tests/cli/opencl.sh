#!/usr/bin/env bash
# OpenCL C: the text of every format compiles as version 1.2, and the kernels of the formats that out/ shows have the values of
# the C reference, bit by bit, on the device that there is (pocl: the CPU). OPENCL_FORMATS=all executes those of all formats.
#
# Compiling needs clang with opencl-c.h, executing a device with its headers; what is not there is said, and left out.
source "$(dirname "$0")/../lib.sh"

refuses "families that OpenCL has no kernels of" 'OpenCL has kernels of the family dequant alone' \
  "$QKGEN" emit --api opencl --family gemv --format q4_0 --out "$work/none"
check "nothing is left of that" test ! -e "$work/none"
refuses "an API that does not exist" '--api takes vulkan\|metal\|opencl.*, not .opencll' \
  "$QKGEN" emit --api opencll --format q4_0 --out "$work/none"
check "the text stands beside a pair" "$QKGEN" emit --embed --api opencl --format q4_0 --out "$work/pair"
check "the text stands beside a pair: there is none" test -s "$work/pair/q4_0.cl"

# The stubs of Metal launch it, too.
out=$work/out
rounded=(--format q4_K --format iq1_m --format mxfp4 --format hqq_b3_g64)
check "emits all formats" "$QKGEN" emit --api metal --api opencl --family dequant --out "$out"
for math in f16 bf16; do
  check "emits formats of decode math $math" \
    "$QKGEN" emit --api metal --api opencl --family dequant --decode-math $math "${rounded[@]}" --out "$out"
done

# ---- compiles ----

for clang in clang-19 clang-18 clang-17 clang-16 clang-15 clang-14 clang ''; do
  [ -n "$clang" ] || break
  syntax=("$clang" -x cl -cl-std=CL1.2 -Xclang -finclude-default-header -fsyntax-only
    -Wall -Wextra -Werror -Wno-unused-parameter -Wno-unused-function)
  ! echo 'kernel void k(global float *x) { x[get_global_id(0)] = 1.0f; }' | "${syntax[@]}" - 2>"$work/clang.log" || break
done
if [ -n "$clang" ]; then
  compiles() {
    check "$1 is no OpenCL C 1.2" "${@:2}" "$1"
  }
  export -f compiles
  # A device's compiler may contract x * y + z unless the text forbids it; not every one that executes it here would.
  contracted() {
    "$clang" -x cl -cl-std=CL1.2 -Xclang -finclude-default-header -target spir64 -S -emit-llvm -o "$work/code.ll" "$2" &&
      [ "$(grep -c 'call.*fmuladd' "$work/code.ll")" "$1" 0 ]
  }
  sed '/FP_CONTRACT/d' "$out/q4_K/q4_K.cl" >"$work/contracted.cl"
  check "nothing would be contracted" contracted -gt "$work/contracted.cl"
  check "products and sums are contracted" contracted -eq "$out/q4_K/q4_K.cl"
  for path in "$out"/*/*.cl; do echo "compiles $path ${syntax[*]}"; done | each
else
  echo "skipped: no clang compiles OpenCL C (Debian: clang, libclang-common-*-dev)"
fi

# ---- executes ----

list() {
  if [ "${OPENCL_FORMATS:-}" = all ]; then
    basename -s .cl -a "$out"/*/*.cl
  else
    sed -nE 's/^([a-zA-Z0-9_]+).*/\1/p' "$SOURCE/formats/shown.txt"
    basename -a "$out"/*_decode_*
  fi
}

for format in $(list); do
  if grep -q 'uint grid_rows,' "$out/$format/$format.cl"; then echo "MATRIX($format)"; else echo "BLOCKS($format)"; fi
done >"$out/formats.inc"
for format in $(list); do echo "#include \"$format/$format.h\""; done >"$out/formats.h"
flags=(-std=c11 -ffp-contract=off "-I$SOURCE/runtime/include" "-I$out")
if ! "${CC:-cc}" "${flags[@]}" -O1 -Wall -Wextra -Werror -c -o "$work/opencl.o" -include formats.h "$SOURCE/tests/tools/opencl.c" \
  2>"$work/cc.log"; then
  if grep -q 'CL/cl.h' "$work/cc.log"; then
    echo "skipped: no headers of OpenCL (Debian: ocl-icd-opencl-dev, and pocl-opencl-icd for a device)"
  else
    fail "the tool does not compile" "$work/cc.log"
  fi
else
  reference() {
    check "$1 compiles" "${CC:-cc}" -std=c11 -O1 -ffp-contract=off "-I$SOURCE/runtime/include" -c -o "$work/$1.o" "$out/$1/$1.c"
    check "$1 compiles" "${CC:-cc}" -std=c11 "-I$SOURCE/runtime/include" -c -o "$work/$1.code.o" "$out/$1/$1_code.c"
  }
  export -f reference
  export out
  list | sed 's/^/reference /' | each
  check "the tool does not link" "${CC:-cc}" -o "$work/opencl" "$work"/*.o -lOpenCL -lm
  export POCL_CACHE_DIR=$work/pocl
  mkdir -p "$POCL_CACHE_DIR"
  status=0
  "$work/opencl" "$out" >"$work/opencl.log" 2>&1 || status=$?
  cat "$work/opencl.log"
  case $status in
  0) pass ;;
  77) echo "skipped: no OpenCL device (Debian: pocl-opencl-icd)" ;;
  *) fail "OpenCL kernels differ from the reference" "$work/opencl.log" ;;
  esac
fi
[ -n "$clang" ] || [ "${status:-77}" != 77 ] || exit 77
finish
