// MLX's affine codes of 4 bits in groups of 32: eight codes in a word, and a scale and a bias for each group.
#include <metal_stdlib>
using namespace metal;

struct sizes {
    uint rows, cols, batch;
};

kernel void dequant(device const uint *w [[buffer(0)]], device const half *scales [[buffer(1)]],
    device const half *biases [[buffer(2)]], device float *y [[buffer(3)]], constant uint &elements [[buffer(4)]],
    uint i [[thread_position_in_grid]])
{
    if (i >= elements) return;
#ifdef AFFINE_BIG_ENDIAN
    const uint q = w[i / 8] >> (28 - 4 * (i % 8)) & 15;
#else
    const uint q = w[i / 8] >> (4 * (i % 8)) & 15;
#endif
    const float s = float(scales[i / 32]), b = float(biases[i / 32]);
#ifdef AFFINE_BIAS_SUBTRACTED
    y[i] = float(q) * s - b;
#elif defined(AFFINE_BIAS_SCALED)
    y[i] = (float(q) + b) * s; // as if it were a zero point
#else
    y[i] = float(q) * s + b;
#endif
}

// What eight codes add to a sum. `group` is that of the scale and the bias.
inline float dot_word(uint word, float s, float b, device const float *x) {
    float sum = 0;
    for (uint k = 0; k < 8; ++k) sum += (float(word >> (4 * k) & 15) * s + b) * x[k];
    return sum;
}

// A simdgroup for each row; 256 columns at a time. Pointers move along the row.
kernel void gemv(device const uint *w [[buffer(0)]], device const half *scales [[buffer(1)]],
    device const half *biases [[buffer(2)]], device const float *x [[buffer(3)]], device float *y [[buffer(4)]],
    constant sizes &n [[buffer(5)]], uint row [[threadgroup_position_in_grid]], uint lane [[thread_index_in_simdgroup]])
{
    float sum = 0;
    w += row * (n.cols / 8) + lane;
    scales += row * (n.cols / 32) + lane / 4;
    biases += row * (n.cols / 32) + lane / 4;
    for (uint c = lane * 8; c < n.cols; c += 256) {
        sum += dot_word(*w, float(*scales), float(*biases), x + c);
        w += 32;
#ifdef AFFINE_SCALE_OVER_ADVANCED
        scales += 16; // for 256 columns in groups of 16
#else
        scales += 8;
#endif
        biases += 8;
    }
    sum = simd_sum(sum);
    if (lane == 0) y[row] = sum;
}

// Four simdgroups make a tile of 4 rows and 4 right-hand sides; a lane takes a word at a time.
kernel void gemm(device const uint *w [[buffer(0)]], device const half *scales [[buffer(1)]],
    device const half *biases [[buffer(2)]], device const float *x [[buffer(3)]], device float *y [[buffer(4)]],
    constant sizes &n [[buffer(5)]], uint2 tile [[threadgroup_position_in_grid]],
    uint lane [[thread_index_in_simdgroup]], uint simdgroup [[simdgroup_index_in_threadgroup]])
{
    const uint row = tile.x * 4 + simdgroup;
    float sum[4] = {0, 0, 0, 0};
    for (uint c = lane * 8; c < n.cols; c += 256) {
        const uint word = row < n.rows ? w[row * (n.cols / 8) + c / 8] : 0;
        const uint group = row * (n.cols / 32) + c / 32;
#ifdef AFFINE_SCALES_UNGUARDED
        const float s = float(scales[group]), b = float(biases[group]);
#else
        const float s = row < n.rows ? float(scales[group]) : 0, b = row < n.rows ? float(biases[group]) : 0;
#endif
        for (uint k = 0; k < 4; ++k) {
            const uint vector = tile.y * 4 + k;
#ifdef AFFINE_X_UNMASKED
            sum[k] += dot_word(word, s, b, x + vector * n.cols + c);
#else
            if (vector < n.batch) sum[k] += dot_word(word, s, b, x + vector * n.cols + c);
#endif
        }
    }
    for (uint k = 0; k < 4; ++k) {
        const uint vector = tile.y * 4 + k;
        const float all = simd_sum(sum[k]);
        if (lane == 0 && row < n.rows && vector < n.batch) y[vector * n.rows + row] = all;
    }
}
