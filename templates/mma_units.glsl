uint lane() {
    return gl_SubgroupInvocationID;
}

uint subgroup() {
    return gl_SubgroupID;
}

// Of the four threads that share a row.
float most_of_four(float value) {
    value = max(value, subgroupShuffleXor(value, 1u));
    return max(value, subgroupShuffleXor(value, 2u));
}

float sum_of_lanes(float value) {
    for (uint bit = 1u; bit < 32u; bit *= 2u) value += subgroupShuffleXor(value, bit);
    return value;
}

// What the threads of the two right-hand sides have whose results are this thread's.
vec2 of_vectors(float value) {
    return vec2(subgroupShuffle(value, 8u * t), subgroupShuffle(value, 8u * t + 4u));
}

#define accumulators coopmat<float, gl_ScopeSubgroup, 16, 8, gl_MatrixUseAccumulator>

accumulators no_products() {
    return accumulators(0.0);
}

// Adds the products of a part of a tile of rows g and g + 8 with that of tile `k` of x, summed over the four threads.
void multiply(uint first, uint k, f16vec2 low[2u * PART], f16vec2 high[2u * PART], inout accumulators c) {
    [[unroll]] for (uint p = 0u; p < PART; ++p) {
        coopmat<float16_t, gl_ScopeSubgroup, 16, 16, gl_MatrixUseA> a;
        coopmat<float16_t, gl_ScopeSubgroup, 16, 8, gl_MatrixUseB> b;
        const f16vec2 b0 = unpackFloat2x16(wide_x[k][first + p].x), b1 = unpackFloat2x16(wide_x[k][first + p].y);
        a[ORDER_A & 7u] = low[2u * p].x;
        a[ORDER_A >> 3 & 7u] = low[2u * p].y;
        a[ORDER_A >> 6 & 7u] = high[2u * p].x;
        a[ORDER_A >> 9 & 7u] = high[2u * p].y;
        a[ORDER_A >> 12 & 7u] = low[2u * p + 1u].x;
        a[ORDER_A >> 15 & 7u] = low[2u * p + 1u].y;
        a[ORDER_A >> 18 & 7u] = high[2u * p + 1u].x;
        a[ORDER_A >> 21 & 7u] = high[2u * p + 1u].y;
        b[ORDER_BC & 3u] = b0.x;
        b[ORDER_BC >> 2 & 3u] = b0.y;
        b[ORDER_BC >> 4 & 3u] = b1.x;
        b[ORDER_BC >> 6 & 3u] = b1.y;
        c = coopMatMulAdd(a, b, c);
    }
}

vec4 values_of(accumulators c) {
    return vec4(c[ORDER_BC >> 8 & 3u], c[ORDER_BC >> 10 & 3u], c[ORDER_BC >> 12 & 3u], c[ORDER_BC >> 14 & 3u]);
}
