/* quotients.h: divisions of f32 that are hard to round, for tests in C and in C++. */
#ifndef QKGEN_TESTS_QUOTIENTS_H
#define QKGEN_TESTS_QUOTIENTS_H

#include <math.h>
#include <stdint.h>
#include <string.h>

static uint64_t random_state = 1;

static uint32_t random32(void) {
    uint64_t x = (random_state += 0x9E3779B97F4A7C15u);
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return (uint32_t)((x ^ (x >> 31)) >> 16);
}

static float of_bits(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint32_t bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* The n with n * a = 1 modulo the odd `d`. */
static uint32_t inverse(uint32_t a, uint32_t d) {
    int64_t r[2] = {d, a % d}, s[2] = {0, 1};
    while (r[1] != 0) {
        const int64_t quotient = r[0] / r[1], rest = r[0] - quotient * r[1], next = s[0] - quotient * s[1];
        r[0] = r[1], r[1] = rest;
        s[0] = s[1], s[1] = next;
    }
    return (uint32_t)(s[0] < 0 ? s[0] + d : s[0]);
}

/* Mantissas n < d whose quotient, 25 bits and a rest, has a rest of one unit of d, or of one unit less than d: the first 24
 * bits are as near as they can be to where rounding changes. */
static void near_halfway(uint32_t *n, uint32_t *d) {
    do {
        *d = 0x800001u | (random32() & 0x7FFFFFu);
        *n = inverse((1u << 25) % *d, *d);
        if (random32() % 2) *n = *d - *n;
    } while (*n < 0x800000u);
}

static uint32_t positive(uint32_t bits) {
    bits &= 0x7FFFFFFFu;
    return bits == 0 || bits > 0x7F800000u ? 1 + bits % 0x7F800000u : bits;
}

enum { QUOTIENTS = 3 << 19 };

/* Pairs: any bits; quotients near halfway; subnormal quotients, of which many are exactly halfway; small integers. */
static void make_pairs(uint32_t *pairs) {
    static const uint32_t special[] = {0, 1, 2, 0x7FFFFF, 0x800000, 0x800001, 0x3F800000, 0x7F7FFFFF, 0x7F800000};
    for (uint32_t i = 0; i < QUOTIENTS; i++) {
        uint32_t a = random32() & 0x7FFFFFFFu, b = positive(random32());
        if (i % 4 == 1) {
            const uint32_t exponent = 40 + random32() % 170;
            near_halfway(&a, &b);
            a = (a & 0x7FFFFFu) | ((exponent + random32() % 30) << 23);
            b = (b & 0x7FFFFFu) | (exponent << 23);
        } else if (i % 4 == 2) {
            const uint32_t exponent = 150 + random32() % 100, last = random32() % 23;
            a = (((a >> last) | 1) << last & 0x7FFFFFu) | ((exponent - 127 - random32() % 23) << 23);
            b = exponent << 23;
        } else if (i % 64 == 3) {
            a = special[random32() % 9];
            b = positive(special[random32() % 9]);
        } else if (i % 4 == 3) {
            a = bits_of((float)(random32() % 65536));
            b = bits_of((float)(1 + random32() % 255));
        }
        pairs[2 * i] = a;
        pairs[2 * i + 1] = b;
    }
}

/* How many quotients are within 1e-6 units of halfway between two f32, or there. */
static uint32_t count_halves(const uint32_t *pairs) {
    uint32_t halves = 0;
    for (uint32_t i = 0; i < QUOTIENTS; i++) {
        const double exact = (double)of_bits(pairs[2 * i]) / (double)of_bits(pairs[2 * i + 1]);
        const float near = (float)exact;
        const double step = fabs((double)nextafterf(near, exact > (double)near ? INFINITY : 0) - (double)near);
        halves += fabs(fabs(exact - (double)near) - step / 2) < step * 1e-6;
    }
    return halves;
}

/* How many of `quotients` are not what this processor has. */
static uint32_t count_wrong(const uint32_t *pairs, const uint32_t *quotients) {
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < QUOTIENTS; i++) {
        const volatile float a = of_bits(pairs[2 * i]), b = of_bits(pairs[2 * i + 1]), must = a / b;
        const int both_nan = isnan(must) && isnan(of_bits(quotients[i]));
        wrong += quotients[i] != bits_of(must) && !both_nan;
    }
    return wrong;
}

#endif
