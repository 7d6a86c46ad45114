#define accumulators coopmat<float, gl_ScopeSubgroup, UNIT_ROWS, UNIT_COLS, gl_MatrixUseAccumulator>
#define left_operand coopmat<float16_t, gl_ScopeSubgroup, UNIT_ROWS, UNIT_DEPTH, gl_MatrixUseA>
#define right_operand coopmat<float16_t, gl_ScopeSubgroup, UNIT_DEPTH, UNIT_COLS, gl_MatrixUseB>

// A subgroup that makes all weights of its slice keeps them: its threads decode what they multiply.
const bool ALONE = DIRECT && TILE_ROWS == 16u && THREADS == LANES;
uvec4 own_weights[ALONE ? 2u * PART : 1u];

// Of weights two parts, in turn, as threads hold them, and in the end sums. Or one part of each: of rows and columns, four halves each
// after the other, which units load.
const uint STORED_FRAGMENTS = DIRECT ? ROW_FRAGMENTS : 1u, STORED_ROWS = STORED_FRAGMENTS * UNIT_ROWS;
const uint ACROSS = TILE_COLS / OWN_COLS, TURNS = ALONE ? 1u : ACROSS > 2u * PART ? ACROSS : 2u * PART;
shared uvec4 weights_part[DIRECT ? K_SLICES * TURNS * TILE_ROWS * 2u : 1u];
shared uvec2 weight_rows[DIRECT ? 1u : K_SLICES * PART * TILE_ROWS * 4u];
shared uvec2 x_columns[DIRECT ? 1u : K_SLICES * PART * TILE_COLS * 4u];
shared float sums_shared[DIRECT ? 1u : K_SLICES * (THREADS / LANES) * UNIT_ROWS * UNIT_COLS];

void share_weights(uint part, uint p, uint in_product, uvec4 words) {
    const uint at = p * TILE_ROWS * 2u + in_product;
    if (ALONE) {
        own_weights[part % 2u * PART + p] = words;
        return;
    }
    if (DIRECT) {
        weights_part[slice * TURNS * TILE_ROWS * 2u + part % 2u * PART * TILE_ROWS * 2u + at] = words;
        return;
    }
    const uint word = slice * PART * TILE_ROWS * 4u + at / 32u * 64u + at % 32u;
    weight_rows[word] = words.xz;
    weight_rows[word + 32u] = words.yw;
}

void share_x(uint at, uvec4 words) {
    const uint word = slice * PART * TILE_COLS * 4u + at / 32u * 64u + at % 32u;
    x_columns[word] = words.xy;
    x_columns[word + 32u] = words.zw;
}

accumulators no_products() {
    return accumulators(0.0);
}

vec4 values_of(accumulators c) {
    return vec4(c[ORDER_BC >> 8 & 3u], c[ORDER_BC >> 10 & 3u], c[ORDER_BC >> 12 & 3u], c[ORDER_BC >> 14 & 3u]);
}

accumulators sums[ROW_FRAGMENTS][COL_FRAGMENTS];

uint sums_at(uint of_slice) {
    if (DIRECT) return of_slice * TURNS * TILE_ROWS * 2u + subgroup * ROW_FRAGMENTS * 32u;
    return (of_slice * (THREADS / LANES) + subgroup) * UNIT_ROWS * UNIT_COLS;
}

// So many fragments, for the subgroup's own threads: as they hold them, or column by column.
void store_sums(uint i, uint j) {
    subgroupBarrier();
    if (DIRECT) {
        [[unroll]] for (uint k = 0u; k < ROW_FRAGMENTS; ++k)
            weights_part[sums_at(slice) + k * 32u + lane] = floatBitsToUint(values_of(sums[k][j]));
    } else {
        coopMatStore(sums[i][j], sums_shared, sums_at(slice), UNIT_ROWS, gl_CooperativeMatrixLayoutColumnMajor);
    }
    subgroupBarrier();
}

float stored_sum(uint of_slice, uint row, uint column) {
    if (!DIRECT) return sums_shared[sums_at(of_slice) + column * UNIT_ROWS + row];
    const uint words = sums_at(of_slice) + row / 16u * 32u + row % 8u * 4u + column / 2u;
    return uintBitsToFloat(weights_part[words][row / 8u % 2u * 2u + column % 2u]);
}

void scale_rows(uint i, uint j, uint own_row) {
    if (DIRECT) {
        const uint row = slice * TILE_ROWS + own_row + i * 16u + g;
        const float low = row_factor[row], high = row_factor[row + 8u];
        sums[i][j][ORDER_BC >> 8 & 3u] *= low;
        sums[i][j][ORDER_BC >> 10 & 3u] *= low;
        sums[i][j][ORDER_BC >> 12 & 3u] *= high;
        sums[i][j][ORDER_BC >> 14 & 3u] *= high;
        return;
    }
    store_sums(i, j);
    for (uint e = thread % LANES; e < UNIT_ROWS * UNIT_COLS; e += LANES)
        sums_shared[sums_at(slice) + e] *= row_factor[slice * TILE_ROWS + own_row + i * UNIT_ROWS + e % UNIT_ROWS];
    subgroupBarrier();
    coopMatLoad(sums[i][j], sums_shared, sums_at(slice), UNIT_ROWS, gl_CooperativeMatrixLayoutColumnMajor);
}

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

uvec4 left_words[PART][ROW_FRAGMENTS], right_words[PART][(COL_FRAGMENTS + 1u) / 2u];

// Where units load operands themselves, no thread keeps any.
void multiply_shared(uint weights_at, uint x_at) {
    [[unroll]] for (uint k = 0u; k < 16u / UNIT_DEPTH; ++k) {
        left_operand a[ROW_FRAGMENTS];
        [[unroll]] for (uint i = 0u; i < ROW_FRAGMENTS; ++i)
            coopMatLoad(a[i], weight_rows, ((slice * PART * TILE_ROWS + i * UNIT_ROWS) * 2u + weights_at) * 2u + k * UNIT_DEPTH / 4u, 4u,
                        gl_CooperativeMatrixLayoutRowMajor);
        [[unroll]] for (uint j = 0u; j < COL_FRAGMENTS; ++j) {
            right_operand b;
            coopMatLoad(b, x_columns, ((slice * PART * TILE_COLS + j * UNIT_COLS) * 2u + x_at) * 2u + k * UNIT_DEPTH / 4u, 4u,
                        gl_CooperativeMatrixLayoutColumnMajor);
            [[unroll]] for (uint i = 0u; i < ROW_FRAGMENTS; ++i) sums[i][j] = coopMatMulAdd(a[i], b, sums[i][j]);
        }
    }
}

// Of product `p` of a part.
void take_weights(uint part, uint p, uint own_row) {
    const uint at = (slice * TURNS + part % 2u * PART + p) * TILE_ROWS * 2u + own_row * 2u + lane;
    if (ALONE) {
        left_words[p][0] = own_weights[part % 2u * PART + p];
        return;
    }
    [[unroll]] for (uint i = 0u; i < ROW_FRAGMENTS; ++i) left_words[p][i] = weights_part[at + i * 32u];
}

void multiply(uint p) {
    left_operand a[ROW_FRAGMENTS];
    [[unroll]] for (uint i = 0u; i < ROW_FRAGMENTS; ++i) a[i] = left_of(left_words[p][i]);
    [[unroll]] for (uint j = 0u; j + 1u < COL_FRAGMENTS; j += 2u) {
        const right_operand b0 = right_of(right_words[p][j / 2u].xy), b1 = right_of(right_words[p][j / 2u].zw);
        [[unroll]] for (uint i = 0u; i < ROW_FRAGMENTS; ++i) {
            sums[i][j] = coopMatMulAdd(a[i], b0, sums[i][j]);
            sums[i][j + 1u] = coopMatMulAdd(a[i], b1, sums[i][j + 1u]);
        }
    }
}
