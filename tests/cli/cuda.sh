#!/usr/bin/env bash
# CUDA C: the text of every format whose blocks lie one after the other compiles, as C++ in which a grid is one thread, and has the values of
# the C reference, bit by bit.
source "$(dirname "$0")/../lib.sh"

check "emits all formats" "$QKGEN" emit --api cuda --family dequant --out "$work/out"
cat >"$work/main.cc" <<'END'
#include <cstdio>
#include <cstdlib>
#define __device__
#define __global__
#define __constant__
static struct { unsigned x; } blockIdx = {0}, threadIdx = {0}, gridDim = {1}, blockDim = {1};
#include TEXT
int main(int, char **arguments) {
    const uint64_t elements = strtoull(arguments[1], nullptr, 10), bytes = strtoull(arguments[2], nullptr, 10);
    uint8_t *blocks = (uint8_t *)malloc(bytes);
    float *values = (float *)malloc(4 * elements);
    if (fread(blocks, 1, bytes, stdin) != bytes) return 1;
    KERNEL(blocks, values, elements);
    return fwrite(values, 4, elements, stdout) != elements;
}
END

# one FORMAT: of one buffer, with the blocks of the library that it is from.
one() {
  local format=$1 own=$work/$1 elements bytes
  mkdir -p "$own"
  reference "$format" "$own"
  bytes=$(stat -c %s "$own/blocks") elements=$(($(stat -c %s "$own/values.f32") / 4))
  check "$format compiles" c++ -std=c++17 -O1 -ffp-contract=off -Wall -Wno-unused-function -DTEXT="\"$work/out/$format/$format.cu\"" \
    -DKERNEL="${format}_dequant" -o "$own/run" "$work/main.cc"
  check "$format runs" sh -c "'$own/run' $elements $bytes <'$own/blocks' >'$own/values'"
  check "$format: values of the library" "$vectors" same f32 "$own/values" "$own/values.f32"
}
for format in q4_0 q4_K q6_K iq1_m tq1_0 mxfp4; do one "$format"; done
finish
