/* An oracle: decodes blocks straight from the proven layout, one bit at a time, and evaluates the value's tree as it stands.
 * It shares no line with planning, lowering or printing. `evaluate SPEC FORMAT OUT IN...`, one input for each buffer in the
 * order of the specification; writes f32. EVALUATE_MATH=f16 or bf16 rounds each float of the value to that type. Where blocks
 * are patches of a matrix, EVALUATE_SHAPE=ROWSxCOLS is the tensor's; a read outside of an input is an error. */
#include "spec/library.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct number {
    bool floating;
    int64_t integer;
    float real;
} number;

typedef struct element {
    const qg_layout *layout;
    const unsigned char *const *blocks; /* the element's block in each buffer */
    uint32_t index;                     /* in its block */
    qg_scalar math;
    const size_t *lengths;   /* of the inputs; NULL where blocks lie one after the other */
    uint64_t rows, cols;     /* of the matrix */
    uint64_t row_of, col_of; /* the block's place among the blocks */
} element;

static number evaluate(const element *e, const qg_term *term);

static float float_of(qg_scalar type, uint32_t bits) {
    const qg_scalar_info *info = &qg_scalars[type];
    const uint32_t mantissa = bits & ((1u << info->mantissa_bits) - 1);
    const uint32_t exponent = (bits >> info->mantissa_bits) & ((1u << info->exponent_bits) - 1);
    const bool sign_bit = info->bits > info->exponent_bits + info->mantissa_bits;
    const uint32_t top = (1u << (info->exponent_bits + info->mantissa_bits)) - 1;
    const double sign = sign_bit && bits >> (info->bits - 1) & 1 ? -1 : 1;
    if (info->specials == QG_NAN_ON_TOP && (bits & top) == top) return NAN;
    if (info->specials == QG_IEEE && exponent == (1u << info->exponent_bits) - 1)
        return mantissa ? NAN : (float)(sign * INFINITY);
    if (info->mantissa_bits == 0) return (float)ldexp(1, (int)bits - info->bias);
    const double fraction = (double)mantissa / (double)(1u << info->mantissa_bits);
    const int power = (int)(exponent ? exponent : 1) - info->bias;
    return (float)(sign * ldexp((exponent ? 1 : 0) + fraction, power));
}

static number code_value(const element *e, const qg_code *code);

static uint64_t up(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

/* Bit `at` of the block's tile of a buffer: an item of the buffer's matrix, whose place the axes say. */
static uint32_t bit_of_tile(const element *e, uint32_t b, uint32_t at) {
    const qg_layout *layout = e->layout;
    const qg_buffer *buffer = &layout->buffers[b];
    const uint32_t item = at / buffer->item_bits;
    const uint64_t grid_cols = up(e->cols, layout->block_cols);
    uint64_t place[2] = {0, 0}, extent[2] = {1, 1};
    for (uint32_t i = 0; i < buffer->n_axes; ++i) {
        uint64_t block = e->col_of;
        if (buffer->axes[i] == QG_AXIS_CODE) {
            block = (uint64_t)code_value(e, &layout->codes[buffer->index]).integer;
            if (!buffer->entries && block >= grid_cols) block = grid_cols - 1;
        }
        if (buffer->axes[i] == QG_AXIS_ROWS) {
            place[i] = e->row_of * buffer->tile_rows + item / buffer->tile_cols;
            extent[i] = up(e->rows * buffer->tile_rows, layout->block_rows);
        } else {
            place[i] = block * buffer->tile_cols + item % buffer->tile_cols;
            extent[i] = buffer->entries ? (uint64_t)buffer->entries * buffer->tile_cols
                                        : up(e->cols * buffer->tile_cols, layout->block_cols);
        }
    }
    const uint64_t bit = (place[0] * extent[1] + place[1]) * buffer->item_bits + at % buffer->item_bits;
    if (bit / 8 >= e->lengths[b]) {
        fprintf(stderr, "evaluate: byte %llu of buffer %s\n", (unsigned long long)(bit / 8), buffer->name);
        exit(1);
    }
    return e->blocks[b][bit / 8] >> (bit % 8) & 1;
}

static uint32_t bit_of(const element *e, uint32_t buffer, uint32_t at) {
    return e->lengths ? bit_of_tile(e, buffer, at) : (uint32_t)(e->blocks[buffer][at / 8] >> (at % 8) & 1);
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
        for (uint32_t i = 0; i < slice->width; ++i) {
            const uint32_t at = qg_slice_address(slice, instance) + i;
            part |= bit_of(e, slice->buffer, at) << i;
        }
        if (slice->radix) part = digit_of(part, slice->width, slice->radix, qg_slice_power(slice, instance));
        bits |= part << slice->shift;
    }
    const qg_scalar_kind kind = code->typed ? qg_scalars[code->type].kind : QG_UNSIGNED;
    if (kind == QG_FLOATING) return (number){.floating = true, .real = float_of(code->type, bits)};
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
    number result = evaluate_as_written(e, term);
    if (result.floating && e->math != QG_F32) result.real = narrow(e->math, result.real);
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
        if (term->kind == QG_K_FLOAT) return (number){.floating = true, .real = float_of((qg_scalar)term->ref, bits)};
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
    return (number){.integer = compute_integer(term->op, a.integer, b.integer)};
}

static int fail(const char *what, const char *why) {
    fprintf(stderr, "evaluate: %s: %s\n", what, why);
    return 1;
}

/* All elements of a matrix, row by row. */
static void evaluate_matrix(const qg_layout *layout, const unsigned char *const *inputs, const size_t *lengths,
                            qg_scalar math, uint64_t rows, uint64_t cols, float *out) {
    const bool sequence = layout->view == QG_VIEW_SEQUENCE; /* one row of all elements */
    for (uint64_t n = 0; n < rows * cols; ++n) {
        const uint64_t row = sequence ? 0 : n / cols, col = sequence ? n : n % cols;
        const element e = {.layout = layout,
                           .blocks = inputs,
                           .index =
                               (uint32_t)(row % layout->block_rows * layout->block_cols + col % layout->block_cols),
                           .math = math,
                           .lengths = lengths,
                           .rows = sequence ? 1 : rows,
                           .cols = sequence ? rows * cols : cols,
                           .row_of = row / layout->block_rows,
                           .col_of = col / layout->block_cols};
        out[n] = evaluate(&e, layout->value).real;
    }
}

int main(int argc, char **argv) {
    if (argc < 5) return fail("usage", "evaluate SPEC FORMAT OUT IN...");
    qg_arena *arena = qg_arena_new();
    qg_library *library = qg_library_new(arena, false);
    if (!qg_library_add_file(library, argv[1])) return fail(argv[1], library->diag.text.data);
    const qg_layout *layout = qg_library_find(library, argv[2]);
    if (!layout || (uint32_t)argc != 4 + layout->n_buffers)
        return fail(argv[2], "no such format, or wrong number of inputs");
    const unsigned char *inputs[64];
    size_t lengths[64] = {0};
    for (uint32_t i = 0; i < layout->n_buffers; ++i) {
        const char *why = NULL;
        inputs[i] = (unsigned char *)qg_read_file(arena, argv[4 + i], (size_t)1 << 30, &lengths[i], &why);
        if (!inputs[i]) return fail(argv[4 + i], why);
    }
    const char *named = getenv("EVALUATE_MATH");
    const qg_scalar math = named ? qg_scalar_named(named, strlen(named)) : QG_F32;
    if (math == QG_SCALAR_COUNT) return fail(named, "no such type");
    unsigned long long rows = 0, cols = 0;
    const char *shape = getenv("EVALUATE_SHAPE");
    const bool matrix = layout->view == QG_VIEW_MATRIX || layout->view == QG_VIEW_SEQUENCE;
    if (layout->view != QG_VIEW_BLOCKS && (!matrix || !shape || sscanf(shape, "%llux%llu", &rows, &cols) != 2))
        return fail(argv[2], "needs EVALUATE_SHAPE, and groups that lie apart are not known here");
    const uint32_t last = layout->n_buffers - 1;
    const uint64_t elements = matrix ? rows * cols : lengths[last] / layout->buffers[last].bytes * layout->elements;
    float *out = qg_alloc(arena, (elements + 1) * sizeof *out);
    if (matrix) evaluate_matrix(layout, inputs, lengths, math, rows, cols, out);
    for (uint64_t n = 0; !matrix && n < elements; ++n) {
        const unsigned char *blocks[64];
        for (uint32_t i = 0; i < layout->n_buffers; ++i)
            blocks[i] = inputs[i] + n / layout->elements * layout->buffers[i].bytes;
        const element e = {.layout = layout, .blocks = blocks, .index = (uint32_t)(n % layout->elements), .math = math};
        out[n] = evaluate(&e, layout->value).real;
    }
    const char *why = qg_write_file(arena, argv[3], out, elements * sizeof *out);
    qg_arena_free(arena);
    return why ? fail(argv[3], why) : 0;
}
