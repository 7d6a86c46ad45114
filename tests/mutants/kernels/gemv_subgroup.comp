#version 450
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require
#extension GL_KHR_shader_subgroup_arithmetic : require

// y[r] = sum over c of w[r][c] x[c], w in q8_0. Every subgroup of a workgroup of 32 threads takes blocks of
// the row.

layout(local_size_x = 32) in;
layout(binding = 0) readonly buffer Weights { uint8_t w[]; };
layout(binding = 1) readonly buffer X { float x[]; };
layout(binding = 2) writeonly buffer Y { float y[]; };
layout(push_constant) uniform Sizes { uint rows, cols; };

shared float part[32];

void main() {
    const uint row = gl_WorkGroupID.x, lane = gl_SubgroupInvocationID;
    float sum = 0;
    for (uint k = gl_SubgroupID; k < cols / 32; k += gl_NumSubgroups) {
        const uint at = (row * (cols / 32) + k) * 34;
        const float d = unpackHalf2x16(uint(w[at]) | uint(w[at + 1]) << 8).x;
#ifdef SUBGROUP_OF_8
        // Eight lanes take a block: what they leave is lost where there are four.
        if (lane < 8)
            for (uint c = lane * 4; c < lane * 4 + 4; ++c) sum += d * float(int8_t(w[at + 2 + c])) * x[k * 32 + c];
#else
        for (uint c = lane; c < 32; c += gl_SubgroupSize) sum += d * float(int8_t(w[at + 2 + c])) * x[k * 32 + c];
#endif
    }
    sum = subgroupAdd(sum);
#ifdef SUBGROUP_OF_32
    // The workgroup is one subgroup, is it not?
    if (gl_LocalInvocationID.x == 0) y[row] = sum;
#else
    if (subgroupElect()) part[gl_SubgroupID] = sum;
    barrier();
    if (gl_LocalInvocationID.x != 0) return;
    for (uint k = 1; k < gl_NumSubgroups; ++k) sum += part[k];
    y[row] = sum;
#endif
}
