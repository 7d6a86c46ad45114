/* qkgen/unpack.h: SPIR-V words of a pair that was emitted with --pack, to four or five times fewer bytes. Plain C11, usable from C++;
 * needs libc alone. Engines call qk_unpack_kernels of qkgen/registry.h, or the pair's own function, once before its kernels are used.
 *
 * The words go instruction by instruction through an adaptive model and a binary arithmetic coder, the same code in both directions.
 * Ids are told by their distance from the highest so far. */
#ifndef QKGEN_UNPACK_H
#define QKGEN_UNPACK_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { QK_PACK_CONTEXTS_ = 1 << 18, QK_PACK_SLOTS_ = 1 << 12 };

/* Bytes that a module's words come from or, with `writes`, go to. `failed`: there were too few. */
typedef struct qk_packing_ {
    int writes, failed;
    unsigned char *to;
    const unsigned char *from;
    size_t at, size;
    uint32_t range, code; /* reading: where in the range the bits are */
    uint64_t low;         /* writing: the range's begin, with a carry above its 32 bits; */
    uint64_t waiting;     /* bytes that a carry may still change: one, and 255s behind it */
    unsigned char first;
    uint16_t *odds;  /* of a 1, in 65536, for each context */
    uint32_t *lasts; /* the last word of each operand */
} qk_packing_;

static inline void qk_pack_byte_(qk_packing_ *p, unsigned char byte) {
    if (p->at < p->size)
        p->to[p->at++] = byte;
    else
        p->failed = 1;
}

/* The top byte of `low` is settled, unless it is 255. */
static inline void qk_pack_shift_(qk_packing_ *p) {
    const unsigned char carry = (unsigned char)(p->low >> 32);
    if ((uint32_t)p->low < 0xFF000000u || carry != 0) {
        for (; p->waiting != 0; p->waiting--) {
            qk_pack_byte_(p, (unsigned char)(p->first + carry));
            p->first = 0xFF;
        }
        p->first = (unsigned char)(p->low >> 24);
    }
    p->waiting++;
    p->low = (p->low & 0x00FFFFFFu) << 8;
}

static inline void qk_unpack_byte_(qk_packing_ *p) {
    if (p->at >= p->size + 8)
        p->failed = 1;
    p->code = p->code << 8 | (p->at < p->size ? p->from[p->at] : 0u);
    p->at++;
}

/* A bit in a context. */
static inline uint32_t qk_pack_bit_(qk_packing_ *p, uint32_t context, uint32_t bit) {
    uint16_t *odds = &p->odds[(context * 0x9E3779B1u) >> 14];
    const uint32_t part = (p->range >> 16) * *odds;
    if (!p->writes)
        bit = p->code < part;
    if (!bit) {
        p->low += part;
        p->code -= part;
    }
    p->range = bit ? part : p->range - part;
    for (; p->range < 1u << 24; p->range <<= 8) {
        if (p->writes)
            qk_pack_shift_(p);
        else
            qk_unpack_byte_(p);
    }
    *odds = (uint16_t)(bit ? *odds + ((65280u - *odds) >> 4) : *odds - ((*odds - 256u) >> 4));
    return bit;
}

/* A number: how many bits it has, then these. */
static inline uint32_t qk_pack_number_(qk_packing_ *p, uint32_t context, uint32_t number) {
    uint32_t bits = 0, node = 1, value = 1, wanted = 0;
    if (p->writes)
        while (wanted < 32 && ((uint64_t)number + 1) >> (wanted + 1) != 0)
            wanted++;
    while (bits < 32 && qk_pack_bit_(p, context * 37u + 0x10000u + bits, wanted > bits))
        bits++;
    for (uint32_t i = bits; i-- > 0;) {
        const uint32_t bit = qk_pack_bit_(p, (context * 41u + bits) * 1031u + (node < 1024 ? node : 1024 + i),
                                          (uint32_t)(((uint64_t)number + 1) >> i) & 1);
        node = node * 2 + bit;
        value = value * 2 + bit;
    }
    return value - 1; /* of 2^32 - 1, value has become 0 */
}

/* One module, of `count` words; whether it is one. */
static inline int qk_pack_module_(qk_packing_ *p, uint32_t *words, size_t count) {
    uint32_t bound = 1, before = 0, two_before = 0;
    memset(p->lasts, 0, QK_PACK_SLOTS_ * sizeof *p->lasts);
    for (size_t i = 0; i < 5 && i < count; i++)
        words[i] = qk_pack_number_(p, 7u + (uint32_t)i, words[i]);
    for (size_t i = 5; i < count && !p->failed;) {
        const uint32_t op = qk_pack_number_(p, 64u + before * 769u + two_before * 13u, words[i] & 0xFFFF) & 0xFFFF;
        const uint32_t length = qk_pack_number_(p, 0x20000u + op, words[i] >> 16);
        if (length == 0 || length > count - i)
            return 0;
        words[i] = length << 16 | op;
        for (uint32_t k = 1; k < length; k++) {
            const uint32_t slot = op * 8 + (k < 7 ? k : 7), context = slot * 64 + (length < 63 ? length : 63);
            uint32_t *last = &p->lasts[slot % QK_PACK_SLOTS_], word = words[i + k];
            if (qk_pack_bit_(p, 0x40000000u + slot * 1024u + before, word == *last)) {
                word = *last;
            } else {
                const uint32_t distance = bound - word + 1; /* below 2^17 of what looks like an id */
                if (qk_pack_bit_(p, 0x50000000u + context, distance < 1u << 17))
                    word = bound + 1 - qk_pack_number_(p, 0x60000u + context, distance);
                else
                    word = qk_pack_number_(p, 0x70000u + context, word);
            }
            words[i + k] = *last = word;
            if (word == bound || word == bound + 1)
                bound = word + 1;
        }
        two_before = before;
        before = op;
        i += length;
    }
    return !p->failed;
}

static inline int qk_packing_open_(qk_packing_ *p, int writes, const unsigned char *from, unsigned char *to,
                                   size_t size) {
    memset(p, 0, sizeof *p);
    p->writes = writes;
    p->from = from;
    p->to = to;
    p->size = size;
    p->range = 0xFFFFFFFFu;
    p->odds = (uint16_t *)malloc(QK_PACK_CONTEXTS_ * sizeof *p->odds);
    p->lasts = (uint32_t *)malloc(QK_PACK_SLOTS_ * sizeof *p->lasts);
    for (size_t i = 0; p->odds != NULL && i < QK_PACK_CONTEXTS_; i++)
        p->odds[i] = 32768;
    p->waiting = 1;
    for (int i = 0; !writes && i < 5; i++)
        qk_unpack_byte_(p);
    return p->odds != NULL && p->lasts != NULL;
}

static inline void qk_packing_close_(qk_packing_ *p) {
    free(p->odds);
    free(p->lasts);
}

/* The modules that `bytes` of `packed` hold, one behind the other, each of so many bytes as `sizes` says. 0: there was no memory, or what
 * is packed is damaged. */
static inline int qk_unpack_words(const unsigned char *packed, size_t bytes, uint32_t *words, const uint32_t *sizes,
                                  uint32_t modules) {
    qk_packing_ p;
    int good = qk_packing_open_(&p, 0, packed, NULL, bytes);
    for (uint32_t i = 0; good && i < modules; i++) {
        good = qk_pack_module_(&p, words, sizes[i] / 4);
        words += sizes[i] / 4;
    }
    qk_packing_close_(&p);
    return good;
}

/* The other way; `packed` has room for `bytes`. How many it takes; 0: there is no room or no memory, or the words are no modules. */
static inline size_t qk_pack_words(uint32_t *words, const uint32_t *sizes, uint32_t modules, unsigned char *packed,
                                   size_t bytes) {
    qk_packing_ p;
    int good = qk_packing_open_(&p, 1, NULL, packed, bytes);
    for (uint32_t i = 0; good && i < modules; i++) {
        good = qk_pack_module_(&p, words, sizes[i] / 4);
        words += sizes[i] / 4;
    }
    for (int i = 0; good && i < 5; i++)
        qk_pack_shift_(&p);
    good = good && !p.failed;
    qk_packing_close_(&p);
    return good ? p.at : 0;
}

#endif
