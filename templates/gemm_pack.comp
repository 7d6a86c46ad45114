@{banner}
#version 450
#extension GL_EXT_control_flow_attributes : require
@{extensions}

layout(local_size_x_id = @{id.local_size_x}) in;
@include x_type.glsl

layout(binding = @{binding_scratch}, std430) buffer Packed { uvec2 packed_x[]; };
layout(binding = @{binding_scratch}, std430) buffer Units { float x_unit[]; };
@include x_buffers.glsl

@include gemm_operands.glsl

@include x_run.glsl

// Right-hand side `vector` is multiplied with a power of two, so that it fits into halves; and its words are so far apart.
float scale;
uint stride;
shared float largest[gl_WorkGroupSize.x];

@{load_wide_x}

float largest_of(uint vector) {
    const uint runs = row_tiles * @{runs}u;
    float most = 0.0;
    for (uint i = gl_LocalInvocationID.x; i < runs; i += gl_WorkGroupSize.x) {
        const @{vec} run = abs(x_run(x_from(vector, runs) + i));
        most = max(most, @{largest_of_run});
    }
    largest[gl_LocalInvocationID.x] = most;
    barrier();
    for (uint count = gl_WorkGroupSize.x / 2u; count > 0u; count /= 2u) {
        const uint i = gl_LocalInvocationID.x;
        if (i < count) largest[i] = max(largest[i], largest[i + count]);
        barrier();
    }
    most = largest[0];
    barrier();
    return most;
}

void main() {
@if !experts
    find_matrix();
@end
    const uint vectors = x_vectors(), columns = (vectors + 15u) / 16u * 16u;
    const uint wide_tiles = row_tiles / @{wide_ratio}u, tiles = (wide_tiles + 3u) / 4u * 4u;
@if experts
    const uint apart = 1u;
    stride = 4u;  // a vector's operands lie one after the other, for it may meet any expert
@else
    const uint apart = 2u;
    stride = columns * 4u;
@end
    for (uint m = group_number(); m < columns; m += group_count()) {
        const uint vector = min(m, vectors - 1u);
        float unit;
        scale = scale_of(largest_of(vector), 7u, unit);
        if (gl_LocalInvocationID.x == 0u) x_unit[operands_at() + m] = unit;
@if experts
        const uint place = operands_at() / 2u + columns / 2u + m * tiles * PRODUCTS;
@else
        // Two columns that are 8 apart lie side by side: one load brings both.
        const uint place = operands_at() / 2u + columns / 2u + m / 16u * 64u + m % 8u * 8u + m / 8u % 2u;
@end
        for (uint j = gl_LocalInvocationID.x; j < tiles; j += gl_WorkGroupSize.x) {
            const uint at = place + j / 4u * PRODUCTS * stride + j % 4u * apart;
            load_wide_x(vector, min(j, wide_tiles - 1u), at);
            if (j < wide_tiles) continue;
            for (uint p = 0u; p < PRODUCTS; ++p) packed_x[at + p * stride] = uvec2(0u);
        }
    }
}
