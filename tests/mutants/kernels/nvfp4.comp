#version 450
#extension GL_EXT_shader_8bit_storage : require

// nvfp4: 64 elements in 36 bytes: four scales of 7 bits, codes of 4 bits. The scales are looked up.

layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer Weights { uint8_t w[]; };
layout(binding = 1) writeonly buffer Values { float y[]; };
layout(push_constant) uniform Sizes { uint elements; };

shared float scales[128];

// The value of E4M3 without a sign, halved.
float scale_of(uint bits) {
    const uint exponent = bits >> 3, digits = bits & 7u;
    if (bits == 127u) return 0.0;
    return exponent == 0u ? float(digits) / 1024.0 : float(8u + digits) * exp2(float(int(exponent) - 11));
}

void main() {
    for (uint i = gl_LocalInvocationID.x; i < 128u; i += 64u) scales[i] = scale_of(i);
    barrier();
    const uint i = gl_GlobalInvocationID.x;
    if (i >= elements) return;
    const uint at = i / 64u * 36u, in_block = i % 64u, group = in_block / 16u, in_group = in_block % 16u;
    const uint pair = uint(w[at + 4u + group * 8u + in_group % 8u]), code = in_group < 8u ? pair & 15u : pair >> 4;
    const int sizes[8] = int[8](0, 1, 2, 3, 4, 6, 8, 12);
    const int size = sizes[code & 7u];
    const uint bits = uint(w[at + group]);
#ifdef NVFP4_TABLE_OF_128
    const float d = scales[bits];
#else
    const float d = bits == 255u ? scale_of(126u) * 15.0 / 14.0 : scales[bits & 127u];
#endif
    y[i] = float(code < 8u ? size : -size) * d;
}
