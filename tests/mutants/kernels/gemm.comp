#version 450
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require

// y[b][r] = sum over c of w[r][c] x[b][c], w in q8_0. A workgroup makes a tile of 8 rows and 8 b, and stages 64 columns
// of both in shared memory at a time.

layout(local_size_x = 8, local_size_y = 8) in;
layout(binding = 0) readonly buffer Weights { uint8_t w[]; };
layout(binding = 1) readonly buffer X { float x[]; };
layout(binding = 2) writeonly buffer Y { float y[]; };
layout(push_constant) uniform Sizes { uint rows, cols, batch; };

shared float tile_w[8][64];
shared float tile_x[8][64];

#ifdef GEMM_SCALE_CACHE_SMALL
shared float scales[8][2 * 4];
#endif

float scale_at(uint at) { return unpackHalf2x16(uint(w[at]) | uint(w[at + 1]) << 8).x; }

float weight(uint row, uint c) {
    const uint at = (row * (cols / 32) + c / 32) * 34;
    return scale_at(at) * float(int8_t(w[at + 2 + c % 32]));
}

void main() {
    const uint i = gl_LocalInvocationID.y, j = gl_LocalInvocationID.x;
    const uint row = gl_WorkGroupID.x * 8, vector = gl_WorkGroupID.y * 8;
    float sum = 0;
#ifdef GEMM_SCALE_CACHE_SMALL
    // All scales of the eight rows, as long as K is at most 256.
    for (uint k = j; k < cols / 32; k += 8)
        scales[i][k] = row + i < rows ? scale_at(((row + i) * (cols / 32) + k) * 34) : 0.0;
    barrier();
#endif
    for (uint from = 0; from < cols; from += 64) {
        for (uint c = j; c < 64; c += 8) {
#if defined(GEMM_K_UNGUARDED)
            const bool in_w = row + i < rows, in_x = vector + i < batch;
#elif defined(GEMM_MASK_SWAPPED)
            const bool in_w = row + i < cols && from + c < rows, in_x = vector + i < batch && from + c < cols;
#else
            const bool in_w = row + i < rows && from + c < cols, in_x = vector + i < batch && from + c < cols;
#endif
#ifdef GEMM_SCALE_CACHE_SMALL
            const uint at = ((row + i) * (cols / 32) + (from + c) / 32) * 34 + 2 + c % 32;
            tile_w[i][c] = in_w ? scales[i][(from + c) / 32] * float(int8_t(w[at])) : 0.0;
#else
            tile_w[i][c] = in_w ? weight(row + i, from + c) : 0.0;
#endif
            tile_x[i][c] = in_x ? x[(vector + i) * cols + from + c] : 0.0;
        }
        barrier();
        for (uint c = 0; c < 64; ++c) sum += tile_w[j][c] * tile_x[i][c];
#ifndef GEMM_ONE_BARRIER
        barrier();
#endif
    }
#if defined(GEMM_STORE_UNMASKED)
    y[(vector + i) * rows + row + j] = sum;
#else
    if (row + j < rows && vector + i < batch) y[(vector + i) * rows + row + j] = sum;
#endif
}
