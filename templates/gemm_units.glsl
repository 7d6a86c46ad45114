#define accumulators coopmat<float, gl_ScopeSubgroup, 16, 8, gl_MatrixUseAccumulator>

accumulators no_products() {
    return accumulators(0.0);
}

vec4 values_of(accumulators c) {
    return vec4(c[ORDER_BC >> 8 & 3u], c[ORDER_BC >> 10 & 3u], c[ORDER_BC >> 12 & 3u], c[ORDER_BC >> 14 & 3u]);
}

void scale_rows(inout accumulators c, float low, float high) {
    c[ORDER_BC >> 8 & 3u] *= low;
    c[ORDER_BC >> 10 & 3u] *= low;
    c[ORDER_BC >> 12 & 3u] *= high;
    c[ORDER_BC >> 14 & 3u] *= high;
}

accumulators sums[ROW_FRAGMENTS][COL_FRAGMENTS];

#define left_operand coopmat<float16_t, gl_ScopeSubgroup, 16, 16, gl_MatrixUseA>
#define right_operand coopmat<float16_t, gl_ScopeSubgroup, 16, 8, gl_MatrixUseB>

left_operand left_of(uvec4 words) {
    left_operand a;
    const f16vec2 low0 = unpackFloat2x16(words.x), high0 = unpackFloat2x16(words.y);
    const f16vec2 low1 = unpackFloat2x16(words.z), high1 = unpackFloat2x16(words.w);
    a[ORDER_A & 7u] = low0.x;
    a[ORDER_A >> 3 & 7u] = low0.y;
    a[ORDER_A >> 6 & 7u] = high0.x;
    a[ORDER_A >> 9 & 7u] = high0.y;
    a[ORDER_A >> 12 & 7u] = low1.x;
    a[ORDER_A >> 15 & 7u] = low1.y;
    a[ORDER_A >> 18 & 7u] = high1.x;
    a[ORDER_A >> 21 & 7u] = high1.y;
    return a;
}

right_operand right_of(uvec2 words) {
    right_operand b;
    const f16vec2 b0 = unpackFloat2x16(words.x), b1 = unpackFloat2x16(words.y);
    b[ORDER_BC & 3u] = b0.x;
    b[ORDER_BC >> 2 & 3u] = b0.y;
    b[ORDER_BC >> 4 & 3u] = b1.x;
    b[ORDER_BC >> 6 & 3u] = b1.y;
    return b;
}

uvec4 left_words[PART][ROW_FRAGMENTS], right_words[PART][COL_FRAGMENTS / 2u];

// Takes the operands of product `p` of a part, from these places on.
void take_operands(uint p, uint weights_at, uint x_at) {
    [[unroll]] for (uint i = 0u; i < ROW_FRAGMENTS; ++i) left_words[p][i] = weights_part[weights_at + i * 32u + lane];
    [[unroll]] for (uint j = 0u; j < COL_FRAGMENTS / 2u; ++j) right_words[p][j] = x_part[x_at + j * 32u + lane];
}

void multiply(uint p) {
    left_operand a[ROW_FRAGMENTS];
    [[unroll]] for (uint i = 0u; i < ROW_FRAGMENTS; ++i) a[i] = left_of(left_words[p][i]);
    [[unroll]] for (uint j = 0u; j < COL_FRAGMENTS; j += 2u) {
        const right_operand b0 = right_of(right_words[p][j / 2u].xy), b1 = right_of(right_words[p][j / 2u].zw);
        [[unroll]] for (uint i = 0u; i < ROW_FRAGMENTS; ++i) {
            sums[i][j] = coopMatMulAdd(a[i], b0, sums[i][j]);
            sums[i][j + 1u] = coopMatMulAdd(a[i], b1, sums[i][j + 1u]);
        }
    }
}
