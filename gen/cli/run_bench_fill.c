/* Data to measure and to test with. The content hardly matters for the time, but a sum whose terms
 * differ by many powers of two would hide most of what is wrong with it: so scales are of moderate
 * size, and all else is random, or, to test sums that cancel, the same byte again and again. */
#include "cli/run_bench.h"

#include "spec/value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PERIOD = 16 << 20 }; /* bytes, about */

static uint64_t mix(uint64_t x) {
    x = (x ^ (x >> 31)) * 0x7FB5D329728EA185u;
    x = (x ^ (x >> 27)) * 0x81DADEF4BC2DD44Du;
    return x ^ (x >> 33);
}

/* Bits of a float of moderate size, 1/8 to 2, of either sign where it has one; or so many powers of two smaller, down
 * to subnormal numbers. */
static uint32_t moderate(qg_scalar type, uint64_t random, uint32_t smaller) {
    const qg_scalar_info *info = &qg_scalars[type];
    const uint32_t one = 1u << info->mantissa_bits, mantissa = (uint32_t)random & (one - 1);
    const int32_t exponent = info->bias - (int32_t)(random >> 32 & 3) - (int32_t)smaller;
    const bool has_sign = info->bits > info->exponent_bits + info->mantissa_bits;
    const uint32_t size = exponent > 0     ? mantissa | (uint32_t)exponent << info->mantissa_bits
                          : exponent > -31 ? (mantissa | one) >> (1 - exponent)
                                           : 0;
    return size | (has_sign ? (uint32_t)(random >> 40 & 1) << (info->bits - 1) : 0);
}

static void set_bits(unsigned char *at, uint32_t bit, uint32_t width, uint32_t bits) {
    for (uint32_t i = 0; i < width; ++i, ++bit) {
        at[bit / 8] &= (unsigned char)~(1u << bit % 8);
        at[bit / 8] |= (unsigned char)((bits >> i & 1) << bit % 8);
    }
}

/* ---- blocks ---- */

/* True when the code's bits become the exponent of an f32 somewhere in the value. */
static bool is_exponent(const qg_term *term, uint32_t code, bool within) {
    if (!term) return false;
    within |= term->op == QG_BITS_AS && term->ref == QG_F32;
    if (term->op == QG_CODE && within && term->ref == code) return true;
    return is_exponent(term->arg[0], code, within) || is_exponent(term->arg[1], code, within) ||
           is_exponent(term->arg[2], code, within);
}

static bool bits_of_code(const qg_stock *stock, uint32_t number, uint64_t random, uint32_t *bits) {
    const qg_layout *layout = stock->layout;
    const qg_code *code = &layout->codes[number];
    if (code->typed && qg_scalars[code->type].kind == QG_FLOATING)
        *bits = moderate(code->type, random, stock->smaller);
    else if (code->width == 8 && is_exponent(layout->value, number, false))
        *bits = (uint32_t)(qg_scalars[QG_F32].bias - (int32_t)(random & 3) - (int32_t)stock->smaller);
    else
        return false;
    return true;
}

static void set_code(qg_stock *stock, const qg_code *code, uint32_t instance, uint64_t block, uint32_t bits) {
    for (uint32_t s = 0; s < code->n_slices; ++s) {
        const qg_slice *slice = &code->slices[s];
        const uint32_t bytes = stock->layout->buffers[slice->buffer].bytes;
        if (instance < slice->first || instance >= slice->first + slice->count || slice->radix) continue;
        if ((block + 1) * bytes > stock->periods[slice->buffer]) continue;
        set_bits(stock->patterns[slice->buffer] + block * bytes, qg_slice_address(slice, instance), slice->width,
                 bits >> slice->shift);
    }
}

/* Whether a block's part of the code's buffer lies together, in items that are no more than a part of the code. */
static bool is_of_narrow_items(const qg_layout *layout, const qg_code *code) {
    const qg_buffer *buffer = &layout->buffers[code->slices[0].buffer];
    return buffer->tile_rows == 1 && !buffer->header && code->slices[0].width > buffer->item_bits;
}

/* Codes of blocks that lie one after the other; of patches of a matrix, those that no item has alone. */
static void set_blocks(qg_stock *stock) {
    const qg_layout *layout = stock->layout;
    uint64_t blocks = 0;
    for (uint32_t b = 0; b < layout->n_buffers; ++b)
        if (stock->periods[b] / layout->buffers[b].bytes > blocks)
            blocks = stock->periods[b] / layout->buffers[b].bytes;
    for (uint32_t c = 0; c < layout->n_codes; ++c) {
        uint32_t bits;
        if (!bits_of_code(stock, c, 0, &bits)) continue;
        if (layout->view != QG_VIEW_BLOCKS && !is_of_narrow_items(layout, &layout->codes[c])) continue;
        for (uint64_t n = 0; n < blocks; ++n) {
            for (uint32_t i = 0; i < layout->codes[c].count; ++i) {
                bits_of_code(stock, c, mix(stock->seed + (n << 16) + (i << 4) + c + 1), &bits);
                set_code(stock, &layout->codes[c], i, n, bits);
            }
        }
    }
}

/* ---- patches of a matrix: a buffer is items of one kind ---- */

/* The code that has all bits of each item of a field, or n_codes. */
static uint32_t code_of_field(const qg_layout *layout, uint32_t field) {
    uint32_t c = 0;
    for (; c < layout->n_codes; ++c) {
        const qg_slice *slice = &layout->codes[c].slices[0];
        const uint32_t bits = qg_scalars[layout->fields[field].type].bits;
        if (layout->codes[c].n_slices == 1 && slice->field == field && slice->width == bits && slice->bit % bits == 0)
            break;
    }
    return c;
}

/* Whether the code says which item of another buffer belongs to an element. */
static bool is_index(const qg_layout *layout, uint32_t code) {
    for (uint32_t b = 0; b < layout->n_buffers; ++b)
        for (uint32_t a = 0; a < layout->buffers[b].n_axes; ++a)
            if (layout->buffers[b].axes[a] == QG_AXIS_CODE && !layout->buffers[b].entries &&
                layout->buffers[b].index == code)
                return true;
    return false;
}

/* Floats that are parts of an integer item, such as a scale and a bias of 16 bits in a word. */
static void set_parts(qg_stock *stock, const qg_field *field, uint64_t at, uint64_t random) {
    const uint32_t item = qg_scalars[field->type].bits;
    for (uint32_t c = 0; c < stock->layout->n_codes; ++c) {
        const qg_code *code = &stock->layout->codes[c];
        const qg_slice *slice = &code->slices[0];
        uint32_t bits;
        if (!code->typed || qg_scalars[code->type].kind != QG_FLOATING || code->n_slices != 1) continue;
        if (slice->buffer != field->buffer || slice->bit % item + slice->width > item) continue;
        if (bits_of_code(stock, c, mix(random + c), &bits))
            set_bits(stock->patterns[field->buffer] + at, slice->bit % item, slice->width, bits);
    }
}

static void set_items(qg_stock *stock, uint64_t cols) {
    const qg_layout *layout = stock->layout;
    const uint64_t groups = cols > layout->block_cols ? cols / layout->block_cols : 1;
    for (uint32_t f = 0; f < layout->n_fields; ++f) {
        const qg_field *field = &layout->fields[f];
        const uint32_t bytes = qg_scalars[field->type].bits / 8, code = code_of_field(layout, f);
        const bool whole = code < layout->n_codes, index = whole && is_index(layout, code);
        for (uint64_t at = 0; at + bytes <= stock->periods[field->buffer]; at += bytes) {
            const uint64_t random = mix(stock->seed + at + f + 1);
            uint32_t bits = (uint32_t)(random % groups);
            if (!index && whole && !bits_of_code(stock, code, random, &bits)) break;
            if (!whole && qg_scalars[field->type].kind != QG_FLOATING) {
                set_parts(stock, field, at, random);
                continue;
            }
            if (!whole) bits = moderate(field->type, random, stock->smaller);
            memcpy(stock->patterns[field->buffer] + at, &bits, bytes);
        }
    }
}

/* Eight bytes: random ones, or one byte throughout, another in each stretch of 1 KiB. */
static uint64_t pattern_at(const qg_stock *stock, uint32_t buffer, uint64_t at) {
    static const unsigned char constant[] = {0x00, 0xFF, 0x88, 0x80, 0x7F, 0x55, 0xAA, 0x77};
    const uint64_t each = UINT64_C(0x0101010101010101);
    if (stock->bytes != QG_BYTES_CONSTANT) return mix(stock->seed + at * 16 + buffer + 1);
    return constant[mix(stock->seed + at / 1024) % sizeof constant] * each;
}

bool qg_stock_fill_periods(qg_stock *stock, const qg_layout *layout, uint64_t cols) {
    stock->layout = layout;
    for (stock->count = 0; stock->count < layout->n_buffers; ++stock->count) {
        const uint32_t i = stock->count;
        stock->patterns[i] = malloc(stock->periods[i] + 8);
        if (!stock->patterns[i]) return qg_complain("out of memory") == 0;
        for (uint64_t at = 0; at < stock->periods[i]; at += 8) {
            const uint64_t eight = pattern_at(stock, i, at);
            memcpy(stock->patterns[i] + at, &eight, 8);
        }
    }
    if (stock->bytes == QG_BYTES_ANY && layout->view == QG_VIEW_BLOCKS) return true;
    if (layout->view != QG_VIEW_BLOCKS) set_items(stock, cols);
    set_blocks(stock);
    return true;
}

bool qg_stock_fill(qg_stock *stock, const qg_layout *layout, uint64_t cols) {
    for (uint32_t i = 0; i < layout->n_buffers; ++i) {
        /* Whole blocks, and whole words of 8 bytes. */
        const uint64_t unit = (uint64_t)layout->buffers[i].bytes * 8;
        stock->periods[i] = unit > PERIOD ? unit : PERIOD / unit * unit;
    }
    return qg_stock_fill_periods(stock, layout, cols);
}

void qg_stock_drop(qg_stock *stock) {
    for (uint32_t i = 0; i < stock->count; ++i) free(stock->patterns[i]);
    stock->count = 0;
}

void qg_fill_input(void *data, qg_scalar type, uint64_t count) {
    enum { REPEATED = 1 << 22 }; /* more than any block or row is long, so that neighbours differ */
    const uint32_t bytes = qg_scalars[type].bits / 8;
    for (uint64_t i = 0; i < count; ++i) {
        if (i == REPEATED) {
            const uint64_t whole = (uint64_t)REPEATED * bytes;
            for (uint64_t at = whole; at < count * bytes; at += whole)
                memcpy((char *)data + at, data, at + whole < count * bytes ? whole : count * bytes - at);
            return;
        }
        const uint64_t random = mix(i + 12345);
        double sum = -131070;
        for (uint32_t n = 0; n < 4; ++n) sum += (double)(random >> 16 * n & 0xFFFF);
        const uint32_t bits = qg_bits_of(type, (float)(sum / 37837));
        memcpy((char *)data + i * bytes, &bits, bytes);
    }
}

/* As a router names them: each token's experts differ, and may be those of other tokens. */
static uint32_t expert_of(const qg_case *c, uint64_t token, uint64_t slot) {
    static const uint64_t steps[] = {37, 41, 43, 47, 53, 59, 61, 1};
    const uint64_t random = mix(token + 1);
    uint32_t s = (uint32_t)(random % 7);
    while (steps[s] > 1 && c->experts % steps[s] == 0) s += 1;
    return (uint32_t)(((random >> 8) % c->experts + slot * steps[s]) % c->experts);
}

/* Experts whose shares fall as 1, 1/2, 1/3 and so on; each of a token's slots takes another. */
static uint32_t skewed_expert_of(const qg_case *c, uint64_t token, uint64_t slot) {
    enum { MOST = 64 };
    uint32_t taken[MOST], expert = 0;
    for (uint64_t s = 0; s <= slot && s < MOST; ++s) {
        const double u = (double)(mix(token * MOST + s + 77) >> 11) / 9007199254740992.0;
        expert = (uint32_t)pow((double)c->experts, u) - 1;
        for (uint64_t k = 0; k < s && s < c->experts; ++k) {
            if (taken[k] != expert) continue;
            expert = (uint32_t)((expert + 1) % c->experts);
            k = UINT64_MAX; /* from the first one on */
        }
        taken[s] = expert;
    }
    return expert;
}

/* From one row to the next that is set, so that all of them are set once. */
static uint64_t step_between(uint64_t rows) {
    uint64_t step = 40503;
    for (uint64_t a = rows, b = step;;) { /* the greatest common divisor */
        const uint64_t rest = a % b;
        if (rest == 0 && b == 1) return step;
        a = rest ? b : rows;
        b = rest ? rest : (step += 2);
    }
}

uint32_t qg_bench_index(const qg_case *c, uint64_t i) {
    if (c->family->encodes) return (uint32_t)(i * step_between(c->rows) % c->rows);
    if (c->skewed) return skewed_expert_of(c, i / c->slots, i % c->slots);
    return c->family->experts ? expert_of(c, i / c->slots, i % c->slots) : (uint32_t)(i * 40503 % c->rows);
}

uint64_t qg_bench_vectors(const qg_case *c) { return c->batch * (c->x_slots ? c->x_slots : 1); }

uint64_t qg_bench_experts(qg_arena *arena, const qg_case *c) {
    bool *named = QG_NEW_ARRAY(arena, bool, c->experts + 1);
    uint64_t count = 0;
    for (uint64_t i = 0; c->experts && i < c->batch * c->slots; ++i) {
        const uint32_t expert = qg_bench_index(c, i);
        count += !named[expert];
        named[expert] = true;
    }
    return count;
}
