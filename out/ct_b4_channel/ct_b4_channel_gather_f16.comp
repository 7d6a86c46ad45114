// ct_b4_channel_gather_f16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16.
// Generated from the specification below by `qkgen emit --format ct_b4_channel`; do not edit.
// Licence: none of qkgen's applies; this text is under that of its specification, or yours.
// 18 bytes for 32 elements, 4 bits each.
// For each weight 0.5 bytes read and 2 written, 6.75 operations: 0.25 loads, 2.12 bits, 1.38 integer, 1 float, 2 conversions.
//
//     format ct_b4_channel "compressed-tensors: 4-bit codes around 8, a scale for each row"
//     from "compressed-tensors: pack-quantized, symmetric, by channels"
//
//     block 1 x 32 {
//         buffer weight_packed      { w: u32[4] }
//         buffer weight_scale[rows] { s: bf16 }
//     }
//
//     code q = w { 4 @ 0 (32:4) }
//
//     value = (q - 8) * s
#version 450
#extension GL_EXT_shader_16bit_storage : require

layout(local_size_x_id = 0) in;

layout(binding = 0, std430) readonly buffer Weight_packedBuffer { uint weight_packed[]; };
layout(binding = 1, std430) readonly buffer Weight_scaleBuffer { uint16_t weight_scale[]; };
layout(binding = 2, std430) readonly buffer Indices { uint indices[]; };
layout(binding = 3, std430) writeonly buffer Dst { uvec4 dst[]; };
layout(binding = 4, std430) buffer Status { uint out_of_range; };

layout(push_constant) uniform Push {
    uint rows;        // of the matrix that the blocks are patches of
    uint cols;
    uint grid_rows;   // blocks
    uint grid_cols;
    uint row_tiles;   // tiles of 8 elements that a row of the table can touch
    uint table_rows;
    uint table_cols;
    uint tokens;
};

// The bfloat16 in the low 16 bits.
float bf16_to_f32(uint bits) { return uintBitsToFloat(bits << 16); }

// Set where the host has given the module the execution modes RoundingModeRTE and DenormPreserve for 16 bits.
layout(constant_id = 8) const bool rounds_f16 = false;

// Elsewhere in integers, because Vulkan leaves the rounding of its own conversion open. What is beyond the largest half is that number's
// neighbour, which rounds to infinity; to subnormal halves 1/2 is added, which rounds at their last bit.
uvec2 pack_f16(vec4 v) {
    if (rounds_f16) return uvec2(packHalf2x16(v.xy), packHalf2x16(v.zw));
    const uvec4 bits = floatBitsToUint(v), magnitude = bits & 0x7FFFFFFFu, most = min(magnitude, uvec4(0x477FF000u));
    precise vec4 lifted = uintBitsToFloat(most) + 0.5;
    const uvec4 normal = most - 0x37FFF001u + ((most >> 13) & 1u) >> 13, subnormal = floatBitsToUint(lifted) - 0x3F000000u;
    uvec4 halves = mix(normal, subnormal, lessThan(most, uvec4(0x38800000u)));
    halves = mix(halves, uvec4(0x7E00u), greaterThan(magnitude, uvec4(0x7F800000u)));  // NaN
    halves |= bits >> 16 & 0x8000u;
    return halves.xz | halves.yw << 16;
}

// The 8 values of a tile of a row, in runs of 4 consecutive elements.
void decode(uint row, uint tile, out precise vec4 v[2]) {
    // elements 0 to 3, counted from the tile's first
    uint w = weight_packed[row * (grid_cols * 4u) + tile];
    uvec4 q0 = (uvec4(w) >> uvec4(0, 4, 8, 12)) & 15u;  // w: 4 bits
    float s = bf16_to_f32(uint(weight_scale[row]));
    v[0] = vec4(ivec4(q0) - 8) * s;

    // elements 4 to 7, counted from the tile's first
    uvec4 q1 = (uvec4(w) >> uvec4(16, 20, 24, 28)) & 15u;  // w: 4 bits
    v[1] = vec4(ivec4(q1) - 8) * s;
}

// Stores a tile from `at` on, counted in stores of 8 elements.
void write_tile(uint at, vec4 v[2]) {
    dst[at] = uvec4(pack_f16(v[0]), pack_f16(v[1]));
}

void main() {
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
    for (uint i = gl_GlobalInvocationID.x; i < tokens * row_tiles; i += threads) {
        const uint token = i / row_tiles, j = i % row_tiles;
        uint index = indices[token];
        const bool found = index < table_rows;
        if (!found) {
            // No such row: zeros, and the token is counted once.
            if (j == 0u) atomicAdd(out_of_range, 1u);
            index = 0u;
        }
        const uint row = index, tile = j;
        vec4 v[2];
        if (found) {
            decode(row, tile, v);
        } else {
            for (uint r = 0u; r < 2u; ++r) v[r] = vec4(0.0);
        }
        write_tile(token * (table_cols / 8u) + j * 1u, v);
    }
}
