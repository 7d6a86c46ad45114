// As a matrix unit, a thread has rows g and g + 8 of a fragment, and columns 2 t and 2 t + 1.
#define accumulators vec4

accumulators no_products() {
    return vec4(0.0);
}

accumulators sums[ROW_FRAGMENTS][COL_FRAGMENTS];
shared uvec4 weights_part[PART * TILE_ROWS * 2u];
shared uvec4 x_part[PART * TILE_COLS * 2u];

void share_weights(uint part, uint p, uint in_product, uvec4 words) {
    weights_part[p * TILE_ROWS * 2u + in_product] = words;
}

void share_x(uint at, uvec4 words) {
    x_part[at] = words;
}

void scale_rows(uint i, uint j, uint own_row) {
    const float low = row_factor[own_row + i * 16u + g], high = row_factor[own_row + i * 16u + g + 8u];
    sums[i][j] *= vec4(low, low, high, high);
}

float product(uvec2 a, uvec2 b) {
    return dot(unpackHalf2x16(a.x), unpackHalf2x16(b.x)) + dot(unpackHalf2x16(a.y), unpackHalf2x16(b.y));
}

vec4 products(uvec4 a, uvec2 b, uvec2 next) {
    return vec4(product(a.xz, b), product(a.xz, next), product(a.yw, b), product(a.yw, next));
}

void multiply_shared(uint weights_at, uint x_at) {
    [[unroll]] for (uint j = 0u; j < COL_FRAGMENTS; j += 2u) {
        for (uint s = 0u; s < 4u; ++s) {
            const uvec4 b = x_part[x_at + j * 16u + 8u * t + s], next = x_part[x_at + j * 16u + 8u * t + 4u + s];
            [[unroll]] for (uint i = 0u; i < ROW_FRAGMENTS; ++i) {
                const uvec4 a = weights_part[weights_at + i * 32u + 4u * g + s];
                sums[i][j] += products(a, b.xy, next.xy);
                sums[i][j + 1u] += products(a, b.zw, next.zw);
            }
        }
    }
}
