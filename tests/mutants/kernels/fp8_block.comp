#version 450
#extension GL_EXT_shader_8bit_storage : require

// E4M3 codes with a scale for each patch of 128 x 128; the last patches may be cut off. A thread for an element; the sizes
// are a uniform buffer.

layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer Codes { uint8_t codes[]; };
layout(binding = 1) readonly buffer Scales { float scales[]; };
layout(binding = 2) writeonly buffer Values { float y[]; };
layout(binding = 3, std140) uniform Sizes { uint rows, cols; };

float e4m3(uint bits) {
    const uint exponent = bits >> 3u & 15u, digits = bits & 7u;
    float size = exponent == 0u ? float(digits) / 512.0 : float(8u + digits) * exp2(float(int(exponent) - 10));
#ifdef FP8_BLOCK_SUBNORMAL_ZERO
    if (exponent == 0u) size = 0.0;
#endif
    if (exponent == 15u && digits == 7u) size = uintBitsToFloat(0x7fc00000u);
    return bits >> 7u == 0u ? size : -size;
}

void main() {
    const uint i = gl_GlobalInvocationID.x;
    if (i >= rows * cols) return;
    const uint r = i / cols, c = i % cols;
#ifdef FP8_BLOCK_WHOLE_PATCHES
    const uint patches = cols / 128u;
#else
    const uint patches = (cols + 127u) / 128u;
#endif
#ifdef FP8_BLOCK_PATCH_TURNED
    const float s = scales[c / 128u * ((rows + 127u) / 128u) + r / 128u];
#else
    const float s = scales[r / 128u * patches + c / 128u];
#endif
    y[i] = e4m3(uint(codes[i])) * s;
}
