#version 450
// q4_K to f32 by hand. The macros are mistakes that people make.
#extension GL_EXT_shader_8bit_storage : require
#extension GL_EXT_shader_16bit_storage : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
layout(local_size_x = 64) in;
struct Block {
    float16_t d;
    float16_t dmin;
    uint8_t scales[12];
    uint8_t qs[128];
};
layout(std430, binding = 0) readonly buffer W { Block w[]; };
layout(std430, binding = 1) writeonly buffer Y { float y[]; };
layout(push_constant) uniform P { uint elements; } p;

void main() {
    uint i = gl_GlobalInvocationID.x;
#ifndef NO_GUARD
    if (i >= p.elements) return;
#endif
    uint b = i / 256, e = i % 256, g = e / 32;
    uint sc, mn;
    if (g < 4) {
        sc = uint(w[b].scales[g]) & 63;
        mn = uint(w[b].scales[g + 4]) & 63;
    } else {
#ifdef WRONG_SCALE
        sc = (uint(w[b].scales[g]) & 15) | (uint(w[b].scales[g - 4]) >> 6 << 4);
#else
        sc = (uint(w[b].scales[g + 4]) & 15) | (uint(w[b].scales[g - 4]) >> 6 << 4);
#endif
        mn = (uint(w[b].scales[g + 4]) >> 4) | (uint(w[b].scales[g]) >> 6 << 4);
    }
    uint q = uint(w[b].qs[e / 64 * 32 + e % 32]) >> (e / 32 % 2 * 4) & 15;
#ifdef HANG
    for (uint k = 0; k < 4000000000u; k += w[b].qs[3] & 0u) q ^= k;
#endif
    float d = float(w[b].d);
#ifdef FLUSH
    if (abs(d) < 6.1e-5) d = 0;
#endif
    y[i] = d * float(sc) * float(q) - float(w[b].dmin) * float(mn);
}
