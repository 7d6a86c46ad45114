#version 450
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#extension GL_EXT_shader_explicit_arithmetic_types_int16 : require

// y[b][r] = sum over c of w[r][c] x[b][c], w in q8_0. A workgroup has one row and one b: each thread takes every 64th
// block, and a tree in shared memory adds what they have.

layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer Weights { uint8_t w[]; };
layout(binding = 1) readonly buffer X { float x[]; };
layout(binding = 2) buffer Y { float y[]; };
layout(push_constant) uniform Sizes { uint rows, cols, batch; };

shared float part[64];

#ifdef GEMV_F16_SUM
#define SUM float16_t
#else
#define SUM float
#endif

#if defined(GEMV_INDEX_INT32) // wraps at 2^31 bytes
#define ROW_START(row) int(row) * int(cols / 32 * 34)
#define INDEX int
#elif defined(GEMV_INDEX_16_BIT) // wraps at 65536 bytes
#define ROW_START(row) uint(uint16_t(row * (cols / 32 * 34)))
#define INDEX uint
#else
#define ROW_START(row) row * (cols / 32 * 34)
#define INDEX uint
#endif

float dot_block(INDEX at, uint from) {
    SUM sum = SUM(0);
    for (uint k = 0; k < 32; ++k) sum += SUM(float(int8_t(w[at + 2 + k])) * x[from + k]);
    return unpackHalf2x16(uint(w[at]) | uint(w[at + 1]) << 8).x * float(sum);
}

void main() {
    const uint row = gl_WorkGroupID.x, t = gl_LocalInvocationID.x;
#ifdef GEMV_BATCH_OF_8
    const uint vector = min(gl_WorkGroupID.y, 7);
#else
    const uint vector = gl_WorkGroupID.y;
#endif
#ifdef GEMV_X_STRIDE_PADDED
    const uint x_start = vector * ((cols + 127) / 128 * 128);
#else
    const uint x_start = vector * cols;
#endif
    SUM sum = SUM(0);
    for (uint k = t; k < cols / 32; k += 64) sum += SUM(dot_block(ROW_START(row) + INDEX(k * 34), x_start + k * 32));
    part[t] = float(sum);
#ifndef GEMV_NO_FIRST_BARRIER
    barrier();
#endif
    for (uint n = 32; n > 0; n /= 2) {
        if (t < n) part[t] += part[t + n];
#ifndef GEMV_NO_TREE_BARRIER
        barrier();
#endif
    }
#if defined(GEMV_Y_TRANSPOSED)
    if (t == 0) y[row * batch + gl_WorkGroupID.y] = part[0];
#elif defined(GEMV_Y_ADDED)
    if (t == 0) y[gl_WorkGroupID.y * rows + row] += part[0];
#else
    if (t == 0) y[gl_WorkGroupID.y * rows + row] = part[0];
#endif
}
