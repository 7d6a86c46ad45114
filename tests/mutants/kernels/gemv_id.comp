#version 450
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require

// q8_0 experts times vectors: a thread for row r of slot s of token t: y[t][s][r]. An id that is no expert makes zeros.

layout(local_size_x = 32) in;
layout(binding = 0) readonly buffer Weights { uint8_t w[]; };
layout(binding = 1) readonly buffer X { float x[]; };
layout(binding = 2) readonly buffer Ids { uint ids[]; };
layout(binding = 3) writeonly buffer Sums { float y[]; };
layout(push_constant) uniform Sizes { uint rows, cols, tokens, slots, experts; };

void main() {
    const uint r = gl_GlobalInvocationID.x, pair = gl_WorkGroupID.y;
    if (r >= rows) return;
#ifdef GEMV_ID_ALWAYS_FIRST_SLOT
    const uint expert = ids[pair / slots * slots];
#else
    const uint expert = ids[pair];
#endif
#ifdef GEMV_ID_X_OF_SLOT
    const uint from = min(pair, tokens - 1) * cols;
#else
    const uint from = pair / slots * cols;
#endif
    float sum = 0;
#ifndef GEMV_ID_NO_GUARD
    if (expert < experts)
#endif
        for (uint c = 0; c < cols; ++c) {
#ifdef GEMV_ID_STRIDE_OF_EXPERTS
            const uint row = expert * experts + r;
#else
            const uint row = expert * rows + r;
#endif
            const uint at = (row * (cols / 32) + c / 32) * 34;
            const float d = unpackHalf2x16(uint(w[at]) | uint(w[at + 1]) << 8).x;
            sum += d * float(int8_t(w[at + 2 + c % 32])) * x[from + c];
        }
    y[pair * rows + r] = sum;
}
