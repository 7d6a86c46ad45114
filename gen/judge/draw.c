/* Random blocks, and bits of codes. */
#include "judge/trial.h"

#include "spec/value.h"

#include <math.h>
#include <string.h>

/* SplitMix64 (Steele, Lea, Flood 2014). */
uint64_t qg_random(uint64_t *state) {
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

qg_blocks qg_blocks_new(qg_arena *arena, const qg_layout *layout, uint64_t count) {
    qg_blocks blocks = {count, QG_NEW_ARRAY(arena, unsigned char *, layout->n_buffers)};
    for (uint32_t i = 0; i < layout->n_buffers; ++i)
        blocks.data[i] = QG_NEW_ARRAY(arena, unsigned char, layout->buffers[i].bytes *count);
    return blocks;
}

void qg_block_copy(const qg_layout *layout, const qg_blocks *from, uint64_t i, const qg_blocks *to, uint64_t j) {
    for (uint32_t b = 0; b < layout->n_buffers; ++b) {
        const uint32_t bytes = layout->buffers[b].bytes;
        memcpy(to->data[b] + j * bytes, from->data[b] + i * bytes, bytes);
    }
}

bool qg_block_set(const qg_layout *layout, const qg_blocks *blocks, uint64_t block, uint32_t code, uint32_t instance,
                  uint32_t bits) {
    const qg_code *c = &layout->codes[code];
    for (uint32_t i = 0; i < c->n_slices; ++i)
        if (c->slices[i].radix) return false;
    for (uint32_t i = 0; i < c->n_slices; ++i) {
        const qg_slice *s = &c->slices[i];
        if (instance < s->first || instance - s->first >= s->count) continue;
        unsigned char *data = blocks->data[s->buffer] + block * layout->buffers[s->buffer].bytes;
        const uint32_t at = qg_slice_address(s, instance);
        for (uint32_t k = 0, taken; k < s->width; k += taken) { /* what lies in one byte */
            const uint32_t place = (at + k) % 8, left = s->width - k;
            taken = left < 8 - place ? left : 8 - place;
            const uint32_t mask = ((1u << taken) - 1) << place;
            unsigned char *byte = &data[(at + k) / 8];
            *byte = (unsigned char)((*byte & ~mask) | (bits >> (s->shift + k) << place & mask));
        }
    }
    return true;
}

uint32_t qg_block_bits(const qg_layout *layout, const qg_blocks *blocks, uint64_t block, uint32_t code,
                       uint32_t instance) {
    const qg_code *c = &layout->codes[code];
    uint32_t bits = 0;
    for (uint32_t i = 0; i < c->n_slices; ++i) {
        const qg_slice *s = &c->slices[i];
        if (s->radix || instance < s->first || instance - s->first >= s->count) continue;
        const unsigned char *data = blocks->data[s->buffer] + block * layout->buffers[s->buffer].bytes;
        const uint32_t at = qg_slice_address(s, instance);
        for (uint32_t k = 0; k < s->width; ++k)
            bits |= (uint32_t)(data[(at + k) / 8] >> (at + k) % 8 & 1) << (s->shift + k);
    }
    return bits;
}

void qg_block_flip(const qg_layout *layout, const qg_blocks *blocks, uint64_t block, uint32_t code, uint32_t instance,
                   uint32_t bit) {
    const uint32_t bits = qg_block_bits(layout, blocks, block, code, instance);
    qg_block_set(layout, blocks, block, code, instance, bits ^ UINT32_C(1) << bit);
}

/* ---- words of digits: a fraction of 2^width, rounded up --------------------------------------------------------- */

static uint32_t word_at(const unsigned char *data, uint32_t at, uint32_t width) {
    uint32_t word = 0;
    for (uint32_t k = 0; k < width; ++k) word |= (uint32_t)(data[(at + k) / 8] >> (at + k) % 8 & 1) << k;
    return word;
}

static void set_word(unsigned char *data, uint32_t at, uint32_t width, uint32_t word) {
    for (uint32_t k = 0; k < width; ++k) {
        const unsigned char mask = (unsigned char)(1u << (at + k) % 8);
        data[(at + k) / 8] = (unsigned char)(word >> k & 1 ? data[(at + k) / 8] | mask : data[(at + k) / 8] & ~mask);
    }
}

static uint32_t usual_word(const qg_slice *s, uint32_t word) {
    uint64_t numbers = 1;
    for (uint32_t i = 0; i < s->digits[s->power].extent; ++i) numbers *= s->radix;
    const uint64_t number = word * numbers >> s->width;
    return (uint32_t)(((number << s->width) + numbers - 1) / numbers);
}

void qg_block_usual(const qg_layout *layout, const qg_blocks *blocks, uint64_t block) {
    for (uint32_t c = 0; c < layout->n_codes; ++c)
        for (uint32_t i = 0; i < layout->codes[c].n_slices; ++i) {
            const qg_slice *s = &layout->codes[c].slices[i];
            unsigned char *data = blocks->data[s->buffer] + block * layout->buffers[s->buffer].bytes;
            for (uint32_t j = s->first; s->radix && j < s->first + s->count; ++j) {
                const uint32_t at = qg_slice_address(s, j);
                set_word(data, at, s->width, usual_word(s, word_at(data, at, s->width)));
            }
        }
}

void qg_block_unusual(const qg_layout *layout, const qg_blocks *blocks, uint64_t block, uint32_t code,
                      uint64_t *random) {
    for (uint32_t i = 0; i < layout->codes[code].n_slices; ++i) {
        const qg_slice *s = &layout->codes[code].slices[i];
        unsigned char *data = blocks->data[s->buffer] + block * layout->buffers[s->buffer].bytes;
        for (uint32_t j = s->first; s->radix && j < s->first + s->count; ++j)
            for (int tries = 0; tries < 1000; ++tries) {
                const uint32_t word = (uint32_t)qg_random(random) & ((UINT32_C(1) << s->width) - 1);
                if (usual_word(s, word) == word) continue;
                set_word(data, qg_slice_address(s, j), s->width, word);
                break;
            }
    }
}

/* ---- random blocks ----------------------------------------------------------------------------------------------- */

/* Bits of a number that a scale could be. */
static uint32_t draw_float(const qg_scalar_info *type, uint64_t *random) {
    const uint64_t r = qg_random(random);
    const uint32_t mantissa = (uint32_t)r & ((UINT32_C(1) << type->mantissa_bits) - 1);
    const uint32_t exponent = (uint32_t)(type->bias + (int32_t)(r >> 32) % 3 - 2);
    const uint32_t sign = type->bits > type->exponent_bits + type->mantissa_bits ? (uint32_t)(r >> 48) & 1 : 0;
    return (mantissa | exponent << type->mantissa_bits) | sign << (type->bits - 1);
}

static uint32_t draw_code(const qg_trial *t, uint32_t code, uint64_t *random) {
    const qg_code *c = &t->layout->codes[code];
    const uint32_t idle = t->idle ? t->idle[code] : 0;
    if (c->typed && qg_scalars[c->type].kind == QG_FLOATING && (c->per > 1 || c->width >= 16) && c->width >= 8)
        return draw_float(&qg_scalars[c->type], random) & ~idle;
    const uint32_t mask = (c->width >= 32 ? UINT32_MAX : (UINT32_C(1) << c->width) - 1) & ~idle;
    for (;;) {
        const uint32_t bits = (uint32_t)qg_random(random) & mask;
        if (bits || !(mask & (mask - 1))) return bits;
    }
}

/* Who writes blocks leaves 0 in bits of no code. */
static void clear_spare(const qg_layout *layout, const qg_blocks *blocks, uint64_t block, const qg_slice *spare) {
    unsigned char *data = blocks->data[spare->buffer] + block * layout->buffers[spare->buffer].bytes;
    for (uint32_t j = spare->first; j < spare->first + spare->count; ++j)
        for (uint32_t k = 0; k < spare->width; ++k) {
            const uint32_t at = qg_slice_address(spare, j) + k;
            data[at / 8] &= (unsigned char)~(1u << (at % 8));
        }
}

static void draw_once(const qg_trial *t, const qg_blocks *blocks, uint64_t block, uint64_t *random) {
    const qg_layout *layout = t->layout;
    for (uint32_t b = 0; b < layout->n_buffers; ++b) {
        const uint32_t bytes = layout->buffers[b].bytes;
        for (uint32_t i = 0; i < bytes; ++i) blocks->data[b][block * bytes + i] = (unsigned char)qg_random(random);
    }
    for (uint32_t i = 0; i < layout->n_spares; ++i) clear_spare(layout, blocks, block, &layout->spares[i]);
    for (uint32_t c = 0; c < layout->n_codes; ++c)
        for (uint32_t j = 0; j < layout->codes[c].count; ++j)
            qg_block_set(layout, blocks, block, c, j, draw_code(t, c, random));
    qg_block_usual(layout, blocks, block);
}

/* An element that is 0, or none, shows nothing: its own codes are drawn again. */
static bool shows(float value) { return value != 0 && isfinite(value); }

static void wake(const qg_trial *t, const qg_blocks *blocks, uint64_t block, const unsigned char *const *at,
                 uint64_t *random) {
    const qg_layout *layout = t->layout;
    for (uint32_t i = 0; i < layout->elements; ++i)
        for (int tries = 0; tries < 20 && !shows(qg_value_of(&(qg_element){layout, at, i, t->memory})); ++tries)
            for (uint32_t c = 0; c < layout->n_codes; ++c)
                if (layout->codes[c].per == 1)
                    qg_block_set(layout, blocks, block, c, qg_instance_of(layout, &layout->codes[c], i),
                                 draw_code(t, c, random));
}

void qg_block_draw(qg_trial *t, const qg_blocks *blocks, uint64_t block, double most, uint64_t *random) {
    const qg_layout *layout = t->layout;
    const unsigned char **at = QG_NEW_ARRAY(t->arena, const unsigned char *, layout->n_buffers);
    for (uint32_t b = 0; b < layout->n_buffers; ++b) at[b] = blocks->data[b] + block * layout->buffers[b].bytes;
    for (int tries = 0; tries < 1000; ++tries) {
        bool good = true, some = false; /* some element of usual size */
        draw_once(t, blocks, block, random);
        qg_memory_clear(t->memory);
        wake(t, blocks, block, at, random);
        for (uint32_t i = 0; i < layout->elements && good; ++i) {
            const float v = qg_value_of(&(qg_element){layout, at, i, t->memory});
            good = isfinite(v) && fabs((double)v) < most;
            some |= fabs((double)v) > 0x1p-10;
        }
        if (good && some) return;
    }
}
