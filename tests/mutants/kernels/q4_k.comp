#version 450
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types_int8 : require

// q4_K: 256 elements in 144 bytes: d, dmin, 12 bytes of scales and minima, 128 bytes of codes.

layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer Weights { uint8_t w[]; };
layout(binding = 1) writeonly buffer Values { float y[]; };
layout(push_constant) uniform Sizes { uint elements; };

#ifdef Q4K_BLOCK_STRIDE
const uint STRIDE = 4 + 8 + 128;
#else
const uint STRIDE = 4 + 12 + 128;
#endif

uint byte(uint at) { return uint(w[at]); }

float half_at(uint at) { return unpackHalf2x16(byte(at) | byte(at + 1) << 8).x; }

// The scale and the minimum of group g, six bits each.
uvec2 scale_and_min(uint s, uint g) {
#ifdef Q4K_12_BIT_SCALES
    const uint both = byte(s + 3 * g) | byte(s + 3 * g + 1) << 8;
    return uvec2(both & 63, both >> 6 & 63);
#endif
#ifdef Q4K_FIRST_GROUP
    g = 0;
#endif
    if (g < 4) return uvec2(byte(s + g), byte(s + 4 + g)) & 63;
    const uint low = byte(s + 4 + g);
#ifdef Q4K_NO_HIGH_SCALE
    return uvec2(low & 15, low >> 4);
#endif
    return uvec2(low & 15 | byte(s + g - 4) >> 6 << 4, low >> 4 | byte(s + g) >> 6 << 4);
}

uint code(uint qs, uint e) {
#ifdef Q4K_NIBBLE_PAIRS
    return byte(qs + e / 2) >> 4 * (e % 2) & 15;
#endif
    const uint at = qs + e / 64 * 32 + e % 32;
#ifdef Q4K_BITS_AS_HALF
    // Two bytes travel as a half; a signalling NaN comes back as a quiet one.
    const uint pair = packHalf2x16(unpackHalf2x16(byte(at & ~1u) | byte(at | 1) << 8));
    return pair >> 8 * (at % 2) >> 4 * (e / 32 % 2) & 15;
#endif
    return byte(at) >> 4 * (e / 32 % 2) & 15;
}

void main() {
    const uint i = gl_GlobalInvocationID.x;
#ifdef Q4K_TAIL_SKIPPED
    if (i / 64 >= elements / 1024 * 16 && elements > 1024) return;
#endif
    if (i >= elements) return;
    const uint at = i / 256 * STRIDE, e = i % 256;
    const vec2 d = vec2(half_at(at), half_at(at + 2));
    const vec2 group = vec2(scale_and_min(at + 4, e / 32));
    const float q = float(code(at + 16, e));
#ifdef Q4K_MIN_ADDED
    y[i] = d.x * group.x * q + d.y * group.y;
#else
    y[i] = d.x * group.x * q - d.y * group.y;
#endif
}
