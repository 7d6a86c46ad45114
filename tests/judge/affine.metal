// Four bits in groups of 64, with scales and biases apart, to f16. SWAPPED takes the high nibble first.
#include <metal_stdlib>
using namespace metal;

kernel void affine(device const uchar *codes [[buffer(0)]], device const half *scales [[buffer(1)]],
                   device const half *biases [[buffer(2)]], device half *y [[buffer(3)]],
                   constant uint &elements [[buffer(4)]], uint i [[thread_position_in_grid]]) {
    if (i >= elements) return;
#ifdef SWAPPED
    uint q = codes[i / 2] >> (4 - i % 2 * 4) & 15;
#else
    uint q = codes[i / 2] >> (i % 2 * 4) & 15;
#endif
    y[i] = half(float(scales[i / 64]) * float(q) + float(biases[i / 64]));
}
