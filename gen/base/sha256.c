/* SHA-256, as FIPS 180-4 defines it; the names are the standard's. */
#include "base/sha256.h"

#include <stdint.h>
#include <string.h>

enum { BLOCK = 64, LENGTH_AT = BLOCK - 8 };

/* The fractions of the cube roots of the first 64 primes. */
static const uint32_t k[64] = {
    0x428A2F98, 0x71374491, 0xB5C0FBCF, 0xE9B5DBA5, 0x3956C25B, 0x59F111F1, 0x923F82A4, 0xAB1C5ED5,
    0xD807AA98, 0x12835B01, 0x243185BE, 0x550C7DC3, 0x72BE5D74, 0x80DEB1FE, 0x9BDC06A7, 0xC19BF174,
    0xE49B69C1, 0xEFBE4786, 0x0FC19DC6, 0x240CA1CC, 0x2DE92C6F, 0x4A7484AA, 0x5CB0A9DC, 0x76F988DA,
    0x983E5152, 0xA831C66D, 0xB00327C8, 0xBF597FC7, 0xC6E00BF3, 0xD5A79147, 0x06CA6351, 0x14292967,
    0x27B70A85, 0x2E1B2138, 0x4D2C6DFC, 0x53380D13, 0x650A7354, 0x766A0ABB, 0x81C2C92E, 0x92722C85,
    0xA2BFE8A1, 0xA81A664B, 0xC24B8B70, 0xC76C51A3, 0xD192E819, 0xD6990624, 0xF40E3585, 0x106AA070,
    0x19A4C116, 0x1E376C08, 0x2748774C, 0x34B0BCB5, 0x391C0CB3, 0x4ED8AA4A, 0x5B9CCA4F, 0x682E6FF3,
    0x748F82EE, 0x78A5636F, 0x84C87814, 0x8CC70208, 0x90BEFFFA, 0xA4506CEB, 0xBEF9A3F7, 0xC67178F2,
};

static uint32_t rotr(uint32_t x, unsigned n) { return x >> n | x << (32 - n); }

static void expand(const unsigned char *block, uint32_t w[64]) {
    for (unsigned t = 0; t < 16; ++t, block += 4)
        w[t] = (uint32_t)block[0] << 24 | (uint32_t)block[1] << 16 | (uint32_t)block[2] << 8 | block[3];
    for (unsigned t = 16; t < 64; ++t) {
        const uint32_t s0 = rotr(w[t - 15], 7) ^ rotr(w[t - 15], 18) ^ w[t - 15] >> 3;
        const uint32_t s1 = rotr(w[t - 2], 17) ^ rotr(w[t - 2], 19) ^ w[t - 2] >> 10;
        w[t] = s1 + w[t - 7] + s0 + w[t - 16];
    }
}

static void compress(uint32_t hash[8], const unsigned char *block) {
    uint32_t w[64], v[8];
    expand(block, w);
    memcpy(v, hash, sizeof v);
    for (unsigned t = 0; t < 64; ++t) {
        const uint32_t a = v[0], e = v[4];
        const uint32_t ch = (e & v[5]) ^ (~e & v[6]), maj = (a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]);
        const uint32_t t1 = v[7] + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) + ch + k[t] + w[t];
        const uint32_t t2 = (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + maj;
        memmove(v + 1, v, 7 * sizeof *v);
        v[0] = t1 + t2;
        v[4] += t1;
    }
    for (unsigned i = 0; i < 8; ++i) hash[i] += v[i];
}

/* What is left, a bit that is set, and the length in bits at the end of a block. */
static void finish(uint32_t hash[8], const unsigned char *rest, size_t left, uint64_t bits) {
    unsigned char block[BLOCK] = {0};
    if (left) memcpy(block, rest, left);
    block[left] = 0x80;
    if (left >= LENGTH_AT) {
        compress(hash, block);
        memset(block, 0, sizeof block);
    }
    for (unsigned i = 0; i < 8; ++i) block[LENGTH_AT + i] = (unsigned char)(bits >> (56 - 8 * i));
    compress(hash, block);
}

void qg_sha256(const void *data, size_t length, char hex[QG_SHA256_HEX + 1]) {
    /* The fractions of the square roots of the first 8 primes. */
    uint32_t hash[8] = {0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19};
    const unsigned char *at = data;
    size_t left = length;
    for (; left >= BLOCK; left -= BLOCK, at += BLOCK) compress(hash, at);
    finish(hash, at, left, (uint64_t)length * 8);
    for (unsigned i = 0; i < QG_SHA256_HEX; ++i) hex[i] = "0123456789abcdef"[hash[i / 8] >> (28 - i % 8 * 4) & 15];
    hex[QG_SHA256_HEX] = '\0';
}
