/* Numbers of few bits, random ones, and where they are put. */
#include "pack.h"

#include <math.h>

const kind u2 = {UNSIGNED, 2, 0, NONE}, u3 = {UNSIGNED, 3, 0, NONE}, u4 = {UNSIGNED, 4, 0, NONE},
           u8 = {UNSIGNED, 8, 0, NONE}, i8 = {SIGNED, 8, 0, NONE};
const kind f32 = {FLOAT, 32, 23, IEEE}, f16 = {FLOAT, 16, 10, IEEE}, bf16 = {FLOAT, 16, 7, IEEE};
const kind e5m2 = {FLOAT, 8, 2, IEEE}, e4m3 = {FLOAT, 8, 3, NAN_ON_TOP};
const kind e3m2 = {FLOAT, 6, 2, NONE}, e2m3 = {FLOAT, 6, 3, NONE}, e2m1 = {FLOAT, 4, 1, NONE};
const kind e8m0 = {POWER, 8, 0, NAN_ON_TOP};

static float widen_float(const kind *kind, uint32_t code) {
    const unsigned exponent_bits = kind->bits - 1 - kind->mantissa_bits;
    const uint32_t top = (1u << exponent_bits) - 1, exponent = code >> kind->mantissa_bits & top;
    const uint32_t mantissa = code & ((1u << kind->mantissa_bits) - 1);
    const int bias = (int)(top >> 1);
    const double sign = code >> (kind->bits - 1) ? -1 : 1, hidden = exponent ? ldexp(1, (int)kind->mantissa_bits) : 0;
    if (kind->specials == IEEE && exponent == top) return mantissa ? NAN : (float)(sign * INFINITY);
    if (kind->specials == NAN_ON_TOP && exponent == top && mantissa == (1u << kind->mantissa_bits) - 1) return NAN;
    return (float)(sign * ldexp(hidden + mantissa, (exponent ? (int)exponent : 1) - bias - (int)kind->mantissa_bits));
}

float widen(const kind *kind, uint32_t code) {
    switch (kind->class) {
    case UNSIGNED: return (float)code;
    case SIGNED: return (float)((int)code - (code >> (kind->bits - 1) ? 1 << kind->bits : 0));
    case FLOAT: return widen_float(kind, code);
    case POWER: return code == 255 ? NAN : (float)ldexp(1, (int)code - 127);
    }
    return NAN;
}

static uint64_t state;

void seed_random(uint64_t seed) { state = seed; }

/* SplitMix64. */
uint32_t random_below(uint32_t n) {
    state += 0x9E3779B97F4A7C15u;
    uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    z ^= z >> 31;
    return (uint32_t)((z >> 32) % n);
}

void put_bits(uint8_t *words, size_t stride, size_t bit, unsigned width, uint32_t value) {
    for (unsigned i = 0; i < width; ++i) {
        const size_t at = bit + i, byte = at / 32 * stride * 4 + at % 32 / 8;
        words[byte] = (uint8_t)(words[byte] | (value >> i & 1) << at % 8);
    }
}

/* ---- random tensors ---- */

/* The code of the least number, or of the greatest. */
static uint32_t extreme(const kind *kind, bool greatest) {
    uint32_t best = 0;
    for (uint32_t code = 1; code < 1u << kind->bits; ++code) {
        const float value = widen(kind, code), bound = widen(kind, best);
        if (isfinite(value) && (greatest ? value > bound : value < bound)) best = code;
    }
    return best;
}

static uint32_t random_finite(const kind *kind) {
    uint32_t code;
    do code = random_below(1u << kind->bits);
    while (!isfinite(widen(kind, code)));
    return code;
}

const uint8_t *random_codes(checkpoint *c, const kind *kind, size_t count, size_t run) {
    const uint32_t least = extreme(kind, false), greatest = extreme(kind, true), ones = (1u << kind->bits) - 1;
    const uint32_t runs[4] = {0, isfinite(widen(kind, ones)) ? ones : greatest, least, greatest};
    uint8_t *codes = reserve(c, count, 1);
    for (size_t i = 0; i < count; ++i) {
        const size_t after = i - 4 * run;
        if (c->plain)
            codes[i] = (uint8_t)(kind == &e8m0 ? 120 + random_below(8) : random_finite(kind));
        else if (i < 4 * run)
            codes[i] = (uint8_t)runs[i / run];
        else
            codes[i] = (uint8_t)(after <= ones ? ones - after : random_finite(kind));
    }
    return codes;
}

static uint32_t random_scale(const kind *kind) {
    const bool wide = kind->bits - kind->mantissa_bits > 8; /* the range of f32 */
    const uint32_t exponent = wide ? 100 + random_below(41) : random_below(31);
    const uint32_t sign = random_below(4) == 0;
    return sign << (kind->bits - 1) | exponent << kind->mantissa_bits | random_below(1u << kind->mantissa_bits);
}

const float *add_scales(checkpoint *c, const kind *kind, size_t count) {
    const uint32_t sign = 1u << (kind->bits - 1), infinity = sign - (1u << kind->mantissa_bits);
    const uint32_t least = kind == &f16 ? 1 : 31u << kind->mantissa_bits; /* 2^-24, or 2^-96 */
    const uint32_t next = least | ((1u << kind->mantissa_bits) - 1);      /* of f16 the greatest subnormal */
    const uint32_t edges[] = {sign | (infinity >> 1), least, 0, infinity - 1, next, sign | (infinity - 1), sign};
    const size_t n_edges = sizeof edges / sizeof *edges;
    float *values = reserve(c, count, sizeof *values);
    uint8_t *to = add_tensor(c, count * kind->bits / 8);
    for (size_t i = 0; i < count; ++i) {
        uint32_t code = random_scale(kind);
        if (c->plain)
            code = ((kind == &f16 ? 9u : 121u) + random_below(7)) << kind->mantissa_bits |
                   random_below(1u << kind->mantissa_bits);
        else if (i >= 1 && i <= n_edges)
            code = edges[i - 1];
        else if (i && random_below(16) == 0)
            code = edges[random_below(n_edges)];
        put_bits(to, 1, i * kind->bits, kind->bits, code);
        values[i] = widen(kind, code);
    }
    return values;
}
