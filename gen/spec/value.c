/* Values straight from the layout: see value.h. */
#include "spec/value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Two registers, so that it is handed on without memory: to read a word of which a part was just written takes long. */
typedef struct number {
    union {
        int64_t integer;
        float real;
    };
    uint64_t floating;
} number;

typedef qg_element element;

static number evaluate(const element *e, const qg_term *term);

/* ---- what neighbours share ---- */

/* A term's value and magnitude for the elements of a run. */
typedef struct shared {
    uint64_t block;
    uint32_t from; /* the first of the run */
    bool has_value, has_size;
    double least; /* of the magnitude */
    number value;
    double size;
} shared;

struct qg_memory {
    uint64_t block; /* counts those that were, from 1 */
    shared *terms;
};

qg_memory *qg_memory_new(qg_arena *arena, const qg_layout *layout) {
    qg_memory *memory = QG_NEW(arena, qg_memory);
    memory->block = 1;
    memory->terms = QG_NEW_ARRAY(arena, shared, layout->n_terms);
    return memory;
}

void qg_memory_clear(qg_memory *memory) { memory->block += 1; }

/* Where the run's value is kept, or will be; NULL: it is not. */
static shared *shared_of(const element *e, const qg_term *term) {
    if (!e->memory || term->per == 1 || term->op == QG_CONST) return NULL;
    shared *s = &e->memory->terms[term->number];
    if (s->block != e->memory->block || e->index - s->from >= term->per)
        *s = (shared){.block = e->memory->block, .from = e->index - e->index % term->per};
    return s;
}

/* 2^power, of those that f32 has and some more. */
static double power_of_two(int power) {
    const uint64_t bits = (uint64_t)(power + 1023) << 52;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

float qg_float_of(qg_scalar type, uint32_t bits) {
    const qg_scalar_info *info = &qg_scalars[type];
    const uint32_t mantissa = bits & ((1u << info->mantissa_bits) - 1);
    const uint32_t exponent = (bits >> info->mantissa_bits) & ((1u << info->exponent_bits) - 1);
    const bool sign_bit = info->bits > info->exponent_bits + info->mantissa_bits;
    const uint32_t top = (1u << (info->exponent_bits + info->mantissa_bits)) - 1;
    const double sign = sign_bit && bits >> (info->bits - 1) & 1 ? -1 : 1;
    if (info->specials == QG_NAN_ON_TOP && (bits & top) == top) return NAN;
    if (info->specials == QG_IEEE && exponent == (1u << info->exponent_bits) - 1)
        return mantissa ? NAN : (float)(sign * INFINITY);
    if (info->mantissa_bits == 0) return (float)power_of_two((int)bits - info->bias);
    const uint32_t whole = mantissa | (exponent ? 1u << info->mantissa_bits : 0);
    const int power = (int)(exponent ? exponent : 1) - info->bias - (int)info->mantissa_bits;
    return (float)(sign * (double)whole * power_of_two(power));
}

/* Digit `n` of the fraction bits / 2^width: the whole part of that times radix^(n + 1), without what came before. */
static uint32_t digit_of(uint32_t bits, uint32_t width, uint32_t radix, uint32_t n) {
    uint64_t scaled = bits;
    for (uint32_t i = 0; i <= n; ++i) scaled *= radix;
    return (uint32_t)((scaled >> width) % radix);
}

static number code_value(const element *e, const qg_code *code) {
    const uint32_t instance = qg_instance_of(e->layout, code, e->index);
    uint32_t bits = 0;
    for (uint32_t s = 0; s < code->n_slices; ++s) {
        const qg_slice *slice = &code->slices[s];
        if (instance < slice->first || instance >= slice->first + slice->count) continue; /* another segment's */
        uint32_t part = 0;
        for (uint32_t i = 0; i < slice->width; i += 8) {
            const uint32_t at = qg_slice_address(slice, instance) + i, left = slice->width - i;
            const unsigned char *from = &e->blocks[slice->buffer][at / 8];
            uint32_t bits8 = from[0] >> (at % 8);
            if (at % 8 + (left < 8 ? left : 8) > 8) bits8 |= (uint32_t)from[1] << (8 - at % 8);
            part |= (bits8 & (left < 8 ? (1u << left) - 1 : 255u)) << i;
        }
        if (slice->radix) part = digit_of(part, slice->width, slice->radix, qg_slice_power(slice, instance));
        bits |= part << slice->shift;
    }
    const qg_scalar_kind kind = code->typed ? qg_scalars[code->type].kind : QG_UNSIGNED;
    if (kind == QG_FLOATING) return (number){.floating = true, .real = qg_float_of(code->type, bits)};
    const int64_t wrap = kind == QG_SIGNED && bits >> (code->width - 1) ? (int64_t)1 << code->width : 0;
    return (number){.integer = (int64_t)bits - wrap};
}

static number look_up(const element *e, const qg_term *term) {
    const qg_table *table = &e->layout->tables[term->ref];
    const int64_t row = evaluate(e, term->arg[0]).integer,
                  column = term->arg[1] ? evaluate(e, term->arg[1]).integer : 0;
    const double value = table->values[row * table->columns + column];
    if (qg_scalars[table->type].kind == QG_FLOATING) return (number){.floating = true, .real = (float)value};
    return (number){.integer = (int64_t)value};
}

static number compute_float(qg_op op, float a, float b) {
    volatile float result = 0; /* rounds here, whatever the compiler would like to fuse */
    switch (op) {
    case QG_ADD: result = a + b; break;
    case QG_SUB: result = a - b; break;
    case QG_MUL: result = a * b; break;
    case QG_NEG: result = -a; break;
    case QG_EQ: return (number){.integer = a == b};
    case QG_NE: return (number){.integer = a != b};
    case QG_LT: return (number){.integer = a < b};
    case QG_LE: return (number){.integer = a <= b};
    case QG_GT: return (number){.integer = a > b};
    case QG_GE: return (number){.integer = a >= b};
    default: abort();
    }
    return (number){.floating = true, .real = result};
}

static int64_t compute_integer(qg_op op, int64_t a, int64_t b) {
    switch (op) {
    case QG_ADD: return a + b;
    case QG_SUB: return a - b;
    case QG_MUL: return a * b;
    case QG_DIV: return a / b;
    case QG_MOD: return a % b;
    case QG_NEG: return -a;
    case QG_AND: return a & b;
    case QG_OR: return a | b;
    case QG_XOR: return a ^ b;
    case QG_SHL: return a << b;
    case QG_SHR: return a >> b;
    case QG_EQ: return a == b;
    case QG_NE: return a != b;
    case QG_LT: return a < b;
    case QG_LE: return a <= b;
    case QG_GT: return a > b;
    case QG_GE: return a >= b;
    default: abort();
    }
}

/* Modulo 2^32. */
static uint32_t compute_word(qg_op op, uint32_t a, uint32_t b) {
    switch (op) {
    case QG_ADD: return a + b;
    case QG_SUB: return a - b;
    case QG_MUL: return a * b;
    case QG_AND: return a & b;
    case QG_OR: return a | b;
    case QG_XOR: return a ^ b;
    case QG_SHL: return a << b;
    case QG_SHR: return a >> b;
    default: abort();
    }
}

/* Rounded to a narrower type, ties to even: to a multiple of the last digit that a number of its size has there. */
static float narrow(qg_scalar type, float x) {
    const qg_scalar_info *info = &qg_scalars[type];
    if (x == 0 || !isfinite(x)) return x;
    int exponent;
    frexp(x, &exponent);
    const int least = 1 - info->bias, power = (exponent - 1 < least ? least : exponent - 1) - (int)info->mantissa_bits;
    const double rounded = ldexp(nearbyint(ldexp(x, -power)), power);
    const double beyond = ldexp(1, info->bias + 1);
    return (float)(fabs(rounded) >= beyond ? copysign(INFINITY, rounded) : rounded);
}

static number evaluate_as_written(const element *e, const qg_term *term);

static number evaluate(const element *e, const qg_term *term) {
    shared *kept = shared_of(e, term);
    if (kept && kept->has_value) return kept->value;
    number result = evaluate_as_written(e, term);
    if (result.floating && e->layout->math != QG_F32) result.real = narrow(e->layout->math, result.real);
    if (kept) {
        kept->has_value = true;
        kept->value = result;
    }
    return result;
}

static number evaluate_as_written(const element *e, const qg_term *term) {
    switch (term->op) {
    case QG_CONST:
        if (term->kind == QG_K_FLOAT) return (number){.floating = true, .real = term->real};
        return (number){.integer = term->integer};
    case QG_CODE: return code_value(e, &e->layout->codes[term->ref]);
    case QG_BITS_AS: {
        const uint32_t bits = (uint32_t)evaluate(e, term->arg[0]).integer;
        if (term->kind == QG_K_FLOAT)
            return (number){.floating = true, .real = qg_float_of((qg_scalar)term->ref, bits)};
        if (term->kind == QG_K_UINT) return (number){.integer = bits};
        const uint32_t width = qg_scalars[term->ref].bits;
        return (number){.integer = (int64_t)bits - (bits >> (width - 1) ? (int64_t)1 << width : 0)};
    }
    case QG_ELEMENT: return (number){.integer = e->index};
    case QG_TABLE: return look_up(e, term);
    case QG_SELECT: return evaluate(e, evaluate(e, term->arg[0]).integer ? term->arg[1] : term->arg[2]);
    case QG_TO_FLOAT: return (number){.floating = true, .real = (float)evaluate(e, term->arg[0]).integer};
    default: break;
    }
    const number a = evaluate(e, term->arg[0]), b = term->arg[1] ? evaluate(e, term->arg[1]) : (number){0};
    if (a.floating) return compute_float(term->op, a.real, b.real);
    if (term->kind == QG_K_UINT)
        return (number){.integer = compute_word(term->op, (uint32_t)a.integer, (uint32_t)b.integer)};
    return (number){.integer = compute_integer(term->op, a.integer, b.integer)};
}

/* ---- magnitudes ---- */

/* Kernels take vectors of at most four neighbours at once; what is the same for these is a factor
 * or an offset of all four. */
enum { NEIGHBOURS = 4 };

static bool is_shared(const qg_term *term) { return term->op == QG_CONST || term->per % NEIGHBOURS == 0; }

static double as_double(number n) { return n.floating ? (double)n.real : (double)n.integer; }

/* A product taken apart: what is the same for neighbours, and what is not. */
typedef struct factors {
    double shared, others; /* magnitudes */
    const qg_term *other;  /* one of those that are not the same */
    uint32_t count;        /* of these */
    double most;           /* of their product; 0: not all are integers, or it is never negative */
    bool negative;
} factors;

static double magnitude(const element *e, double least, const qg_term *term);

/* A number that is not the same for neighbours counts for `least` at least. */
static double of_number(const element *e, double least, const qg_term *term) {
    const double size = fabs(as_double(evaluate(e, term)));
    return size < least && !is_shared(term) ? least : size;
}

static void take_factors(const element *e, double least, const qg_term *term, factors *f) {
    const qg_term *inner = term;
    for (; inner->op == QG_NEG || inner->op == QG_TO_FLOAT; inner = inner->arg[0]) f->negative |= inner->op == QG_NEG;
    if (inner->op == QG_MUL) {
        take_factors(e, least, inner->arg[0], f);
        take_factors(e, least, inner->arg[1], f);
        return;
    }
    if (is_shared(term)) {
        f->shared *= magnitude(e, least, term);
        return;
    }
    f->count += 1;
    f->other = term;
    f->others *= of_number(e, least, term);
    f->most *= inner->kind == QG_K_FLOAT ? 0 : fmax(-(double)inner->low, (double)inner->high);
    f->negative |= inner->low < 0;
}

static double of_product(const element *e, double least, const qg_term *term) {
    factors f = {.shared = 1, .others = 1, .most = 1};
    take_factors(e, least, term, &f);
    if (f.count == 0) return f.shared;
    if (f.count == 1) return f.shared * magnitude(e, least, f.other);
    return f.shared * (f.others + (f.negative ? 2 * f.most : 0));
}

/* A kernel may take the second of two values, and a bit times what the first is more. */
static double of_choice(const element *e, double least, const qg_term *term) {
    const bool yes = evaluate(e, term->arg[0]).integer != 0;
    const double first = magnitude(e, least, term->arg[1]), second = magnitude(e, least, term->arg[2]);
    const bool apart = !is_shared(term->arg[0]) && is_shared(term->arg[1]) && is_shared(term->arg[2]);
    return !yes ? second : apart ? 2 * first + second : first;
}

/* Integers that may be negative may get a bias that makes them positive, which is subtracted again. */
static double magnitude_as_written(const element *e, double least, const qg_term *term) {
    const bool is_float = term->kind == QG_K_FLOAT, is_sum = term->op == QG_ADD || term->op == QG_SUB;
    if (!is_float && is_shared(term)) return fabs(as_double(evaluate(e, term)));
    if (is_sum && (is_float || is_shared(term->arg[0]) || is_shared(term->arg[1])))
        return magnitude(e, least, term->arg[0]) + magnitude(e, least, term->arg[1]);
    if (term->op == QG_MUL) return of_product(e, least, term);
    if (term->op == QG_NEG || term->op == QG_TO_FLOAT) return magnitude(e, least, term->arg[0]);
    if (term->op == QG_SELECT && is_float) return of_choice(e, least, term);
    const double size = of_number(e, least, term);
    return is_float || term->low >= 0 ? size : size - 2 * (double)term->low;
}

static double magnitude(const element *e, double least, const qg_term *term) {
    shared *kept = shared_of(e, term);
    if (kept && kept->has_size && kept->least == least) return kept->size;
    const double size = magnitude_as_written(e, least, term);
    if (kept) {
        kept->has_size = true;
        kept->least = least;
        kept->size = size;
    }
    return size;
}

float qg_value_of(const qg_element *element) { return evaluate(element, element->layout->value).real; }

float qg_magnitude_of(const qg_element *element, double least) {
    return (float)magnitude(element, least, element->layout->value);
}

uint32_t qg_bits_of(qg_scalar type, float value) {
    const qg_scalar_info *info = &qg_scalars[type];
    const float rounded = type == QG_F32 ? value : narrow(type, value);
    uint32_t word;
    memcpy(&word, &rounded, sizeof word);
    const uint32_t sign = word >> 31 << (info->bits - 1), top = (1u << info->exponent_bits) - 1;
    if (type == QG_F32) return word;
    if (isnan(rounded)) return sign | top << info->mantissa_bits | 1u << (info->mantissa_bits - 1);
    if (isinf(rounded)) return sign | top << info->mantissa_bits;
    int exponent;
    const double fraction = frexp(fabs((double)rounded), &exponent);
    const int biased = exponent - 1 + info->bias, shift = biased < 1 ? 1 - biased : 0;
    const uint32_t mantissa = (uint32_t)ldexp(fraction, (int)info->mantissa_bits + 1 - shift);
    return sign | (rounded == 0 ? 0 : ((uint32_t)(biased < 1 ? 0 : biased - 1) << info->mantissa_bits) + mantissa);
}

/* ---- tensors ---- */

enum { MOST_KEPT = 64 << 20 };

/* Where an element lies: its block, and its place in that. */
typedef struct spot {
    uint64_t rows, cols; /* of the matrix that the blocks are patches of */
    uint64_t grid_rows, grid_cols;
    uint64_t block_row, block_col;
    uint32_t r, c;
    uint64_t expert; /* which of several such matrices */
} spot;

static uint64_t up(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

static spot find(const qg_tensor *t, uint64_t row, uint64_t col) {
    const qg_layout *layout = t->layout;
    const uint32_t high = layout->block_rows, wide = layout->block_cols;
    spot s = {.rows = t->rows, .cols = t->cols};
    if (t->experts && layout->view != QG_VIEW_BLOCKS) {
        s.rows = t->rows / t->experts;
        s.expert = row / s.rows;
        row %= s.rows;
    }
    if (layout->view == QG_VIEW_SEQUENCE || layout->view == QG_VIEW_BLOCKS) {
        col += row * t->cols;
        s.cols = t->rows * t->cols;
        s.rows = 1;
        row = 0;
    } else if (layout->view == QG_VIEW_GROUPS) {
        const uint64_t index = row * t->cols + col;
        s.rows = t->rows * t->cols / wide;
        s.cols = wide;
        row = index / wide;
        col = index % wide;
    }
    s.grid_rows = up(s.rows, high);
    s.grid_cols = up(s.cols, wide);
    const bool apart = layout->view == QG_VIEW_GROUPS;
    s.block_row = apart ? row % s.grid_rows : row / high;
    s.r = (uint32_t)(apart ? row / s.grid_rows : row % high);
    s.block_col = col / wide;
    s.c = (uint32_t)(col % wide);
    return s;
}

static bool grows(const qg_buffer *buffer, qg_axis axis) {
    for (uint32_t i = 0; i < buffer->n_axes; ++i)
        if (buffer->axes[i] == axis) return true;
    return false;
}

/* Items along an axis of `elements` elements in `blocks` blocks; a block of `block` elements has `tile` items. */
static uint64_t items_along(const qg_layout *layout, uint64_t elements, uint64_t blocks, uint32_t tile,
                            uint32_t block) {
    return layout->ragged ? up(elements * tile, block) : blocks * tile;
}

/* The byte offset of item (x, y) of a block's tile; items that are cut off are those before them, which is told. */
static uint64_t item_at(const qg_layout *layout, const qg_buffer *b, const spot *s, uint32_t x, uint32_t y,
                        uint64_t block_col, bool *cut) {
    const bool apart = layout->view == QG_VIEW_GROUPS;
    uint64_t row = 0, col = y, rows = 1, cols = b->tile_cols;
    *cut = false;
    if (b->header) { /* an item of it is that of all blocks of the row */
        const uint64_t before = y < b->header ? 0 : block_col * b->tile_cols;
        return (s->block_row * (b->header + s->grid_cols * b->tile_cols) + before + y) * (b->item_bits / 8);
    }
    if (grows(b, QG_AXIS_ROWS) && layout->view != QG_VIEW_SEQUENCE) {
        rows = apart ? s->grid_rows * b->tile_rows
                     : items_along(layout, s->rows, s->grid_rows, b->tile_rows, layout->block_rows);
        row = apart ? x * s->grid_rows + s->block_row : s->block_row * b->tile_rows + x;
    }
    if ((!apart && (grows(b, QG_AXIS_COLS) || grows(b, QG_AXIS_CODE))) || b->entries) {
        cols = b->entries ? (uint64_t)b->entries * b->tile_cols
                          : items_along(layout, s->cols, s->grid_cols, b->tile_cols, layout->block_cols);
        col = block_col * b->tile_cols + y;
    }
    *cut = row >= rows || col >= cols;
    if (row >= rows) row = rows - 1;
    if (col >= cols) col = cols - 1;
    const bool turned = b->n_axes == 2 && b->axes[1] == QG_AXIS_ROWS;
    return (turned ? col * rows + row : row * cols + col) * (b->item_bits / 8);
}

/* Copies the block's bytes of one buffer. */
static void copy_block(const qg_tensor *t, const spot *s, uint32_t buffer, uint64_t block_col, unsigned char *to) {
    const qg_layout *layout = t->layout;
    const qg_buffer *b = &layout->buffers[buffer];
    const unsigned char *from = t->data[buffer];
    const uint64_t period = t->periods[buffer],
                   begin = s->expert ? s->expert * qg_buffer_bytes(layout, buffer, s->rows, s->cols) : 0;
    if (layout->view == QG_VIEW_BLOCKS) {
        for (uint32_t i = 0; i < b->bytes; ++i) to[i] = from[(s->block_col * b->bytes + i) % period];
        return;
    }
    const uint32_t bytes = b->item_bits / 8;
    for (uint32_t x = 0; x < b->tile_rows; ++x) {
        for (uint32_t y = 0; y < b->header + b->tile_cols; ++y) {
            bool cut;
            const uint64_t at = begin + item_at(layout, b, s, x, y, block_col, &cut);
            for (uint32_t i = 0; i < bytes; ++i) *to++ = from[(at + i) % period];
        }
    }
}

/* The bytes of the block of an element in all buffers; those that a code finds come last, when its own bits are there.
 * */
static void copy_blocks(const qg_tensor *t, const spot *s, unsigned char *const *blocks) {
    const qg_layout *layout = t->layout;
    for (int found = 0; found < 2; ++found) {
        for (uint32_t b = 0; b < layout->n_buffers; ++b) {
            const qg_buffer *buffer = &layout->buffers[b];
            if (grows(buffer, QG_AXIS_CODE) != (found == 1)) continue;
            uint64_t block_col = s->block_col;
            if (found) {
                const element e = {.layout = layout,
                                   .blocks = (const unsigned char *const *)blocks,
                                   .index = s->r * layout->block_cols + s->c};
                block_col = (uint64_t)code_value(&e, &layout->codes[buffer->index]).integer;
                if (!buffer->entries && block_col >= s->grid_cols) block_col = s->grid_cols - 1;
            }
            copy_block(t, s, b, block_col, blocks[b]);
        }
    }
}

struct qg_patches {
    uint64_t count; /* in a row of blocks: that of the expert's `block_row` */
    uint64_t expert, block_row;
    bool *has;
    unsigned char **blocks; /* of each, one after the other, its bytes in each buffer */
};

static bool finds_blocks(const qg_layout *layout) {
    bool finds = false;
    for (uint32_t b = 0; b < layout->n_buffers; ++b) finds |= grows(&layout->buffers[b], QG_AXIS_CODE);
    return finds;
}

static void new_blocks(qg_arena *arena, const qg_layout *layout, unsigned char **blocks) {
    for (uint32_t b = 0; b < layout->n_buffers; ++b) blocks[b] = qg_alloc(arena, layout->buffers[b].bytes + 4);
}

qg_patches *qg_patches_new(qg_arena *arena, const qg_tensor *tensor) {
    const qg_layout *layout = tensor->layout;
    const uint64_t count = up(tensor->cols, layout->block_cols);
    uint64_t bytes = 0;
    for (uint32_t b = 0; b < layout->n_buffers; ++b) bytes += layout->buffers[b].bytes + 4;
    if (layout->view != QG_VIEW_MATRIX || layout->block_rows == 1 || finds_blocks(layout) || bytes * count > MOST_KEPT)
        return NULL;
    qg_patches *patches = QG_NEW(arena, qg_patches);
    *patches = (qg_patches){.count = count};
    patches->has = QG_NEW_ARRAY(arena, bool, count);
    patches->blocks = QG_NEW_ARRAY(arena, unsigned char *, count * layout->n_buffers);
    for (uint64_t i = 0; i < count; ++i) new_blocks(arena, layout, patches->blocks + i * layout->n_buffers);
    return patches;
}

/* The blocks of an element, copied if they are not there from another row. */
static unsigned char *const *patch_of(const qg_tensor *tensor, const spot *s) {
    qg_patches *p = tensor->patches;
    if (p->expert != s->expert || p->block_row != s->block_row) memset(p->has, 0, p->count * sizeof *p->has);
    p->expert = s->expert;
    p->block_row = s->block_row;
    unsigned char **blocks = p->blocks + s->block_col * tensor->layout->n_buffers;
    if (!p->has[s->block_col]) copy_blocks(tensor, s, blocks);
    p->has[s->block_col] = true;
    return blocks;
}

/* Of each element the value, or its magnitude, which counts for no less than `least` where that is not negative. */
static void row_of(qg_arena *arena, const qg_tensor *tensor, uint64_t row, uint64_t col, uint64_t count, double least,
                   float *values) {
    const qg_layout *layout = tensor->layout;
    unsigned char **own = tensor->patches ? NULL : QG_NEW_ARRAY(arena, unsigned char *, layout->n_buffers);
    unsigned char *const *blocks = own;
    qg_memory *memory = qg_memory_new(arena, layout);
    const bool by_code = finds_blocks(layout);
    if (own) new_blocks(arena, layout, own);
    spot held = {0};
    for (uint64_t i = 0; i < count; ++i) {
        const spot s = find(tensor, row, col + i);
        if (i == 0 || by_code || s.expert != held.expert || s.block_row != held.block_row ||
            s.block_col != held.block_col) {
            if (own)
                copy_blocks(tensor, &s, own);
            else
                blocks = patch_of(tensor, &s);
            qg_memory_clear(memory);
        }
        held = s;
        const element e = {layout, (const unsigned char *const *)blocks, s.r * layout->block_cols + s.c, memory};
        values[i] = least < 0 ? qg_value_of(&e) : (float)magnitude(&e, least, layout->value);
    }
}

void qg_values_of_row(qg_arena *arena, const qg_tensor *tensor, uint64_t row, uint64_t col, uint64_t count,
                      float *values) {
    row_of(arena, tensor, row, col, count, -1, values);
}

void qg_magnitudes_of_row(qg_arena *arena, const qg_tensor *tensor, uint64_t row, uint64_t col, uint64_t count,
                          double least, float *magnitudes) {
    row_of(arena, tensor, row, col, count, least, magnitudes);
}

/* ---- blocks where they lie in a tensor ---- */

/* The first element of the last block, which tells the grid. */
static spot last_of(const qg_layout *layout, uint64_t rows, uint64_t cols) {
    const qg_tensor t = {.layout = layout, .rows = rows, .cols = cols};
    return find(&t, rows - 1, cols - 1);
}

uint64_t qg_blocks_in(const qg_layout *layout, uint64_t rows, uint64_t cols) {
    const spot s = last_of(layout, rows, cols);
    return s.grid_rows * s.grid_cols;
}

uint64_t qg_place_in_blocks(const qg_layout *layout, uint64_t rows, uint64_t cols, uint64_t row, uint64_t col) {
    const qg_tensor t = {.layout = layout, .rows = rows, .cols = cols};
    const spot s = find(&t, row, col);
    return (s.block_row * s.grid_cols + s.block_col) * layout->elements + s.r * layout->block_cols + s.c;
}

uint64_t qg_buffer_bytes(const qg_layout *layout, uint32_t buffer, uint64_t rows, uint64_t cols) {
    const qg_buffer *b = &layout->buffers[buffer];
    const spot s = last_of(layout, rows, cols);
    bool cut;
    if (layout->view == QG_VIEW_BLOCKS) return b->shared ? b->bytes : s.grid_rows * s.grid_cols * b->bytes;
    const uint64_t last = b->entries ? b->entries - 1 : s.block_col;
    return item_at(layout, b, &s, b->tile_rows - 1, b->header + b->tile_cols - 1, last, &cut) + b->item_bits / 8;
}

void qg_lay_blocks(const qg_layout *layout, uint32_t buffer, uint64_t rows, uint64_t cols, const unsigned char *blocks,
                   unsigned char *to) {
    const qg_buffer *b = &layout->buffers[buffer];
    const uint32_t bytes = b->item_bits / 8;
    spot s = last_of(layout, rows, cols);
    if (layout->view == QG_VIEW_BLOCKS) {
        memcpy(to, blocks, qg_buffer_bytes(layout, buffer, rows, cols));
        return;
    }
    const uint64_t grid_rows = s.grid_rows, grid_cols = s.grid_cols;
    for (s.block_row = 0; s.block_row < grid_rows; ++s.block_row)
        for (s.block_col = 0; s.block_col < grid_cols; ++s.block_col)
            for (uint32_t x = 0; x < b->tile_rows; ++x)
                for (uint32_t y = 0; y < b->header + b->tile_cols; ++y, blocks += bytes) {
                    bool cut;
                    const uint64_t at = item_at(layout, b, &s, x, y, s.block_col, &cut);
                    if (!cut) memcpy(to + at, blocks, bytes);
                }
}
