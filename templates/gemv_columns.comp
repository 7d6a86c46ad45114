@include sums_head.glsl
layout(constant_id = @{id.batch}) const uint BATCH = 1;  // right-hand sides at once, at least as many as there are
layout(constant_id = @{id.width}) const uint WIDTH = 32;  // threads side by side, each with rows of its own
@include sums_constants.glsl

@include gemv_bindings.glsl

const uint TILES = 1u, TILE_ROWS = @{band_rows}u;

@include products.glsl
@{load_x}

@{accumulate}

shared float partial[gl_WorkGroupSize.x * TILE_ROWS];

void main() {
    find_matrix();
    // Neighbours in memory are of different rows. So WIDTH threads have as many rows, or bands of them, whose words they load side by
    // side, and meet the same x. Tiles of these rows are dealt out to all threads of a workgroup.
    const uint place = gl_LocalInvocationID.x % WIDTH, part = gl_LocalInvocationID.x / WIDTH, parts = gl_WorkGroupSize.x / WIDTH;
    const uint bands = rows / TILE_ROWS, tiles = @{own_tiles};
    for (uint first = group_number() * WIDTH; first < bands; first += group_count() * WIDTH) {
        float sum[TILE_ROWS][BATCH];
        [[unroll]] for (uint r = 0u; r < TILE_ROWS; ++r) [[unroll]] for (uint m = 0u; m < BATCH; ++m) sum[r][m] = 0.0;
        for (uint j = part; j < tiles; j += parts) {
            load_x(0u, j, 0u);
            accumulate(min(first + place, bands - 1u), j, 0u, sum);
        }
        [[unroll]] for (uint m = 0u; m < BATCH; ++m) {
            [[unroll]] for (uint r = 0u; r < TILE_ROWS; ++r) partial[r * gl_WorkGroupSize.x + gl_LocalInvocationID.x] = sum[r][m];
            barrier();
            // By pairs: of 2 * apart parts, the second half is added to the first.
            for (uint apart = parts / 2u; apart > 0u; apart /= 2u) {
                for (uint i = gl_LocalInvocationID.x; i < apart * WIDTH * TILE_ROWS; i += gl_WorkGroupSize.x) {
                    const uint at = i / (apart * WIDTH) * gl_WorkGroupSize.x + i % (apart * WIDTH);
                    partial[at] += partial[at + apart * WIDTH];
                }
                barrier();
            }
            for (uint i = gl_LocalInvocationID.x; i < WIDTH * TILE_ROWS; i += gl_WorkGroupSize.x) {
                const uint band = first + i / TILE_ROWS, from = i % TILE_ROWS * gl_WorkGroupSize.x + i / TILE_ROWS;
                if (band < bands && m < batch) finish(m, band * TILE_ROWS + i % TILE_ROWS, partial[from]);
            }
            barrier();
        }
    }
}
