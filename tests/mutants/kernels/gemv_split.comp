#version 450
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require

// y[r] = sum over c of w[r][c] x[c], w in q8_0. A workgroup has 16 rows; K is cut into four parts, one for each of four
// threads, which step by 32.

layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer Weights { uint8_t w[]; };
layout(binding = 1) readonly buffer X { float x[]; };
layout(binding = 2) writeonly buffer Y { float y[]; };
layout(push_constant) uniform Sizes { uint rows, cols; };

shared float part[64];

float product(uint row, uint c) {
    const uint at = (row * (cols / 32) + c / 32) * 34;
    return unpackHalf2x16(uint(w[at]) | uint(w[at + 1]) << 8).x * float(int8_t(w[at + 2 + c % 32])) * x[c];
}

float dot_32(uint row, uint c) {
    float sum = 0;
    for (uint k = 0; k < 32; ++k) {
#ifdef SPLIT_PADDING_TIMES_ZERO
        // Beyond the row there are zeros of x; but what is multiplied with them may be NaN.
        const uint at = (row * (cols / 32) + (c + k) / 32) * 34;
        const float d = unpackHalf2x16(uint(w[at]) | uint(w[at + 1]) << 8).x;
        sum += d * float(int8_t(w[at + 2 + k])) * (c + k < cols ? x[c + k] : 0.0);
#else
        if (c + k < cols) sum += product(row, c + k);
#endif
    }
    return sum;
}

float dot_full(uint row, uint c) {
    float sum = 0;
    for (uint k = 0; k < 32; ++k) sum += product(row, c + k);
    return sum;
}

void main() {
    const uint t = gl_LocalInvocationID.x, row = gl_WorkGroupID.x * 16 + t / 4;
#ifdef SPLIT_RETURN_BEFORE_BARRIER
    if (row >= rows) return;
#endif
#ifdef SPLIT_CUT_AT_16
    const uint per = (cols / 4 + 15) / 16 * 16;
#else
    const uint per = (cols / 4 + 31) / 32 * 32;
#endif
    const uint first = t % 4 * per, last = min(first + per, cols);
    float sum = 0;
    if (row < rows) {
#if defined(SPLIT_UNROLLED_TAIL)
        for (uint c = first; c < last; c += 64) sum += dot_full(row, c) + dot_full(row, c + 32);
#elif defined(SPLIT_PADDING_TIMES_ZERO)
        for (uint c = first; c < first + per; c += 32) sum += dot_32(row, c);
#else
        for (uint c = first; c < last; c += 32) sum += dot_32(row, c);
#endif
    }
    part[t] = sum;
    barrier();
#ifdef SPLIT_TAIL_ROWS
    if (t % 4 == 0) y[row] = part[t] + part[t + 1] + part[t + 2] + part[t + 3];
#else
    if (t % 4 == 0 && row < rows) y[row] = part[t] + part[t + 1] + part[t + 2] + part[t + 3];
#endif
}
