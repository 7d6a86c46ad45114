@{banner}
#version 450
@{unit_extensions}
#extension GL_EXT_control_flow_attributes : require
@{extensions}

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint CHUNKS = @{default_chunks};   // of a row, for which a workgroup keeps x
layout(constant_id = 2) const uint ALIGNED = 0;  // 1: every row begins at a multiple of 16 bytes
layout(constant_id = 3) const uint WHOLE = 0;    // 1: a row is whole chunks
layout(constant_id = 4) const uint ORDER_A = 0;  // which element of an operand is which value of a thread; 0: not known
layout(constant_id = 5) const uint ORDER_BC = 0;

@{buffers}
layout(binding = @{binding_x}, std430) readonly buffer Input { @{x_type} x_in[]; };
layout(binding = @{binding_y}, std430) buffer Output { float y[]; };

layout(push_constant) uniform Push {
    uint rows;        // of this launch
    uint row_blocks;  // blocks of a row
    uint batch;       // right-hand sides, at most 8
    uint y_first;     // where the launch begins in y, and
    uint y_rows;      // how many rows each right-hand side has there
};

const uint BLOCKS = @{blocks}u, STEPS = @{steps}u;  // of a step, of a chunk
const uint RUNS = @{runs}u;                      // of a thread, in a step
const uint ROWS = 16u, SUBGROUP = 32u;

const uint SUBGROUPS = gl_WorkGroupSize.x / SUBGROUP;
@{sizes}

// What the subgroups copy of the weights, each for itself; x, as words of operands; its sums over runs that share a
// scale; and what the sums of a chunk are multiplied with.
shared uint stage[SUBGROUPS * STAGE_WORDS + 1u];
shared uvec2 x_words[CHUNKS * STEPS * @{x_pairs}u * SUBGROUP];
shared vec2 x_sums[CHUNKS * STEPS * @{sums}u][4];
shared vec2 x_scale[CHUNKS][4];
shared float x_most[CHUNKS * STEPS][8];
// The thread's place: it has values of rows g and g + 8, and of right-hand side g; of four that share a row it is
// number t.
uint g, t;

@{tables}
@{prelude}
@{units}

@{staging}

@{functions}

void main() {
    g = lane() / 4u;
    t = lane() % 4u;
    const uint row_chunks = (row_blocks + STEPS * BLOCKS - 1u) / (STEPS * BLOCKS);
    const uint tiles = (rows + ROWS - 1u) / ROWS, stride = gl_NumWorkGroups.x * SUBGROUPS;
    find_places();
    for (uint base = 0u; base < row_chunks; base += CHUNKS) {
        // A workgroup keeps x for as many chunks as it can, and its subgroups walk down the rows.
        const uint count = min(CHUNKS, row_chunks - base);
        uint tile = subgroup() * gl_NumWorkGroups.x + gl_WorkGroupID.x;
        if (tile < tiles) fetch(tile * ROWS, base);
        barrier();
        for (uint at = subgroup(); at < count * STEPS; at += SUBGROUPS) measure_x((base * STEPS + at) * BLOCKS, at);
        barrier();
        for (uint at = subgroup(); at < count * STEPS; at += SUBGROUPS) keep_x((base * STEPS + at) * BLOCKS, at);
        barrier();
        for (; tile < tiles; tile += stride) {
            vec4 sum = vec4(0.0), before = vec4(0.0);
            if (base > 0u) {
                [[unroll]] for (uint e = 0u; e < 4u; ++e) {
                    const uint row = tile * ROWS + g + e / 2u * 8u, m = 2u * t + e % 2u;
                    if (row < rows && m < batch) before[e] = y[m * y_rows + y_first + row];
                }
            }
            [[dont_unroll]] for (uint k = 0u; k < count; ++k) {
                subgroup_barrier();
                keep();
                subgroup_barrier();
                // The next piece is on its way while this one is multiplied.
                const uint next_tile = k + 1u < count ? tile : tile + stride;
                if (next_tile < tiles) fetch(next_tile * ROWS, k + 1u < count ? base + k + 1u : base);
                const vec2 scale = @{unit} * x_scale[k][t];
                sum += vec4(scale, scale) * multiply_chunk(tile * ROWS, base + k, k);
            }
            sum += before;
            [[unroll]] for (uint e = 0u; e < 4u; ++e) {
                const uint row = tile * ROWS + g + e / 2u * 8u, m = 2u * t + e % 2u;
                if (row < rows && m < batch) y[m * y_rows + y_first + row] = sum[e];
            }
        }
    }
}
