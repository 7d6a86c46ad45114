#include "ir_machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const qg_buffer buffers[] = {{.name = "blocks"}};
static const double words[] = {1, 2, 3, 4};
static const double grid[] = {4, 8, 12, 43, 25, 62, 1, 127};
static const double signed_grid[] = {-7, 0, 4, 12, 3, -2, 1, 5};
static const double levels[] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};
static const double wide[] = {-129, 100};
static const double reals[] = {0.5, 1.5};
static const double sizes[] = {3, 200};
static const qg_table tables[N_TABLES] = {
    [TABLE_WORDS] = {.name = "table", .type = QG_U32, .rows = 1, .columns = 4, .values = words},
    [TABLE_GRID] = {.name = "grid", .type = QG_U8, .rows = 2, .columns = 4, .values = grid},
    [TABLE_SIGNED_GRID] = {.name = "signed_grid", .type = QG_I8, .rows = 2, .columns = 4, .values = signed_grid},
    [TABLE_LEVELS] = {.name = "levels", .type = QG_I8, .rows = 16, .columns = 1, .values = levels},
    [TABLE_WIDE] = {.name = "wide", .type = QG_I16, .rows = 2, .columns = 1, .values = wide},
    [TABLE_REALS] = {.name = "reals", .type = QG_F32, .rows = 2, .columns = 1, .values = reals},
    [TABLE_COLUMN] = {.name = "column", .type = QG_U8, .rows = 2, .columns = 1, .values = sizes},
    [TABLE_SIZES] = {.name = "sizes", .type = QG_U8, .rows = 1, .columns = 2, .values = sizes},
};
static const qg_layout layout = {.n_buffers = 1, .buffers = buffers, .n_tables = N_TABLES, .tables = tables};

/* ---- building ---------------------------------------------------------------------------------------------------- */

bench bench_new(void) {
    qg_arena *arena = qg_arena_new();
    return (bench){arena, qg_ir_new(arena, &layout)};
}

const qg_node *apply(const bench *b, qg_op op, const qg_node *left, const qg_node *right) {
    return qg_apply(b->ir, op, left, right, NULL);
}

const qg_node *word(const bench *b, const char *name) { return qg_arg(b->ir, name, UINT64_C(1) << 32); }

const qg_node *half(const bench *b, const char *name) {
    return qg_float_bits(b->ir, QG_F16, qg_arg(b->ir, name, 1 << 16));
}

const qg_node *floats(const bench *b, const char *name) {
    const qg_node *lanes[4];
    for (uint32_t i = 0; i < 4; ++i) lanes[i] = half(b, qg_format(b->arena, "%s%u", name, i));
    return qg_vector(b->ir, lanes, 4);
}

const qg_node *integers(const bench *b, const char *name, uint32_t bits) {
    const qg_node *lanes[4];
    for (uint32_t i = 0; i < 4; ++i)
        lanes[i] = qg_arg(b->ir, qg_format(b->arena, "%s%u", name, i), UINT64_C(1) << bits);
    return qg_vector(b->ir, lanes, 4);
}

const qg_node *spread(const bench *b, const qg_node *from, uint32_t lanes, const uint32_t *shifts) {
    const qg_node *counts[QG_MAX_LANES];
    for (uint32_t i = 0; i < lanes; ++i) counts[i] = qg_uint(b->ir, shifts[i]);
    return apply(b, QG_SHR, qg_splat(b->ir, from, lanes), qg_vector(b->ir, counts, lanes));
}

const qg_node *fields(const bench *b, const qg_node *from, uint32_t lanes, const uint32_t *shifts, uint32_t width) {
    return apply(b, QG_AND, spread(b, from, lanes, shifts), qg_uint(b->ir, (UINT32_C(1) << width) - 1));
}

const qg_node *every_of(const bench *b, const qg_node *from, uint32_t first, uint32_t step, uint32_t width) {
    const uint32_t shifts[] = {first, first + step, first + 2 * step, first + 3 * step};
    return fields(b, from, 4, shifts, width);
}

const qg_node *every(const bench *b, const char *name, uint32_t first, uint32_t step, uint32_t width) {
    return every_of(b, word(b, name), first, step, width);
}

const qg_node *signed_every(const bench *b, const qg_node *from, uint32_t step, uint32_t width) {
    const uint32_t shifts[] = {0, step, 2 * step, 3 * step};
    return qg_sign_extend(b->ir, spread(b, from, 4, shifts), width);
}

const qg_node *to_float(const bench *b, const qg_node *node) { return apply(b, QG_TO_FLOAT, node, NULL); }

const qg_node *to_int(const bench *b, const qg_node *node) { return apply(b, QG_TO_INT, node, NULL); }

const qg_node *choose(const bench *b, const qg_node *bit, const qg_node *yes, const qg_node *no) {
    const qg_node *zero = bit->kind == QG_K_INT ? qg_int(b->ir, 0) : qg_uint(b->ir, 0);
    const qg_node *condition = apply(b, QG_NE, bit, qg_splat(b->ir, zero, bit->lanes));
    return qg_apply(b->ir, QG_SELECT, condition, qg_splat(b->ir, yes, 4), qg_splat(b->ir, no, 4));
}

/* ---- evaluating -------------------------------------------------------------------------------------------------- */

uint32_t random_word(void) {
    static uint32_t state = 1;
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

static double half_value(uint32_t bits) {
    const int exponent = (int)(bits >> 10 & 31), mantissa = (int)(bits & 1023);
    if ((bits & 0x7FFF) == 0x7E00) return NAN; /* as lowering writes it */
    assert_true(exponent < 31);
    const double size = ldexp(exponent ? mantissa | 1024 : mantissa, (exponent ? exponent : 1) - 25);
    return bits & 0x8000 ? -size : size;
}

static double integer_of(const qg_node *node, const value *v, uint32_t lane) {
    return node->kind == QG_K_INT ? (double)(int32_t)v->bits[lane] : (double)v->bits[lane];
}

static double float_of(const machine *m, const qg_node *node, const value *v, uint32_t lane) {
    if (node->kind == QG_K_FLOAT) return v->real[lane];
    return m->magnitude ? fabs(integer_of(node, v, lane)) : integer_of(node, v, lane);
}

static uint32_t unsigned_result(qg_op op, uint32_t a, uint32_t b) {
    switch (op) {
    case QG_ADD: return a + b;
    case QG_SUB: return a - b;
    case QG_MUL: return a * b;
    case QG_AND: return a & b;
    case QG_OR: return a | b;
    case QG_XOR: return a ^ b;
    case QG_SHL: assert_true(b < 32); return a << b;
    case QG_SHR: assert_true(b < 32); return a >> b;
    default: fail_msg("operation %d of integers", (int)op); return 0;
    }
}

/* Integers with sign must not wrap: targets would not agree. */
static uint32_t signed_result(qg_op op, uint32_t a, uint32_t b) {
    const int64_t x = (int32_t)a, y = (int32_t)b;
    if (op == QG_SHR) return (uint32_t)((int32_t)a >> b);
    if (op != QG_ADD && op != QG_SUB && op != QG_MUL) return unsigned_result(op, a, b);
    const int64_t result = op == QG_ADD ? x + y : op == QG_SUB ? x - y : x * y;
    if (result < INT32_MIN || result > INT32_MAX) fail_msg("%lld does not fit", (long long)result);
    return (uint32_t)result;
}

static double float_result(const machine *m, qg_op op, double a, double b) {
    switch (op) {
    case QG_ADD: return a + b;
    case QG_SUB: return m->magnitude ? a + b : a - b;
    case QG_MUL: return a * b;
    default: fail_msg("operation %d of floats", (int)op); return 0;
    }
}

static value binary(const machine *m, const qg_node *node) {
    const value a = evaluate(m, node->arg[0]), b = evaluate(m, node->arg[1]);
    value result = {{0}, {0}};
    for (uint32_t i = 0; i < node->lanes; ++i) {
        const uint32_t l = node->arg[0]->lanes > 1 ? i : 0, r = node->arg[1]->lanes > 1 ? i : 0;
        if (node->op == QG_NE || node->op == QG_EQ)
            result.bits[i] = (a.bits[l] == b.bits[r]) == (node->op == QG_EQ);
        else if (node->kind == QG_K_FLOAT)
            result.real[i] = float_result(m, node->op, a.real[l], b.real[r]);
        else if (node->kind == QG_K_INT)
            result.bits[i] = signed_result(node->op, a.bits[l], b.bits[r]);
        else
            result.bits[i] = unsigned_result(node->op, a.bits[l], b.bits[r]);
    }
    return result;
}

static value choice(const machine *m, const qg_node *node) {
    const value condition = evaluate(m, node->arg[0]), yes = evaluate(m, node->arg[1]), no = evaluate(m, node->arg[2]);
    value result = {{0}, {0}};
    for (uint32_t i = 0; i < node->lanes; ++i) {
        const bool holds = condition.bits[node->arg[0]->lanes > 1 ? i : 0] != 0;
        const uint32_t lane = node->arg[holds ? 1 : 2]->lanes > 1 ? i : 0;
        result.bits[i] = holds ? yes.bits[lane] : no.bits[lane];
        result.real[i] = holds ? yes.real[lane] : no.real[lane];
    }
    return result;
}

static value lookup(const machine *m, const qg_node *node) {
    const qg_table *table = &m->ir->layout->tables[node->ref];
    const uint32_t row = evaluate(m, node->arg[0]).bits[0];
    const uint32_t column = node->n_args > 1 ? evaluate(m, node->arg[1]).bits[0] : 0;
    assert_true(row < table->rows && column < table->columns);
    const double entry = table->values[row * table->columns + column];
    return (value){{(uint32_t)(int64_t)entry}, {m->magnitude ? fabs(entry) : entry}};
}

/* Bytes: for the lower half of the first byte of codes, of the second, for the upper halves. */
/* The half of an integer of up to eleven bits. */
static uint32_t half_of(int32_t number) {
    int exponent;
    if (number == 0) return 0;
    const double digits = frexp(abs(number), &exponent);
    return (number < 0 ? 0x8000u : 0) | (uint32_t)(exponent + 14) << 10 | ((uint32_t)ldexp(digits, 11) & 1023);
}

static value pair(const machine *m, const qg_node *node) {
    const qg_table *table = &m->ir->layout->tables[node->ref];
    const uint32_t codes = evaluate(m, node->arg[0]).bits[0];
    if (codes > 255) fail_msg("a byte of %u", codes);
    return (value){{half_of((int32_t)table->values[codes & 15]) | half_of((int32_t)table->values[codes >> 4]) << 16},
                   {0}};
}

static value two(const machine *m, const qg_node *node) {
    const qg_table *table = &m->ir->layout->tables[node->ref];
    const uint32_t codes = evaluate(m, node->arg[0]).bits[0];
    if (codes > 255) fail_msg("a byte of %u", codes);
    const double low = table->values[codes & 15], high = table->values[codes >> 4];
    return (value){{0}, {m->magnitude ? fabs(low) : low, m->magnitude ? fabs(high) : high}};
}

/* The bytes of a word that is loaded as such elsewhere. */
static value bytes_of_load(const machine *m, const qg_node *node) {
    value bytes = {{0}, {0}};
    for (uint32_t n = 0; n < m->ir->n_nodes; ++n) {
        const qg_node *load = m->ir->nodes[n];
        if (load->op != QG_LOAD || load->ref != node->ref || load->arg[0] != node->arg[0]) continue;
        for (uint32_t i = 0; i < 4; ++i) {
            bytes.bits[i] = m->words[n] >> 8 * i & 255;
            if (node->op == QG_LOAD_I8) bytes.bits[i] = (uint32_t)(int32_t)(int8_t)bytes.bits[i];
        }
        return bytes;
    }
    fail_msg("no word is loaded where bytes are");
    return bytes;
}

static value pairs(const machine *m, const qg_node *node) {
    const qg_table *table = &m->ir->layout->tables[node->ref];
    const uint32_t codes = evaluate(m, node->arg[0]).bits[0];
    uint32_t word = 0;
    for (uint32_t i = 0; i < 4; ++i)
        word |= ((uint32_t)(int32_t)table->values[codes >> (8 * (i % 2) + 4 * (i / 2)) & 15] & 255) << 8 * i;
    return (value){{word}, {0}};
}

/* x as it is loaded: for dot products with what makes up for the places of codes. */
static value dot(const machine *m, const qg_node *node) {
    const value v = evaluate(m, node->arg[0]);
    value sum = {{0}, {0}};
    for (uint32_t i = 0; i < node->arg[0]->lanes; ++i) {
        const double x = m->x[node->integer][i] * (double)m->ir->x_factors[node->integer][i];
        sum.real[0] += (m->magnitude ? fabs(x) : x) * v.real[i];
    }
    return sum;
}

static value x_sum(const machine *m, const qg_node *node) {
    value sum = {{0}, {0}};
    for (uint32_t r = 0; r < QG_MAX_RUNS; ++r)
        for (uint32_t i = 0; i < QG_MAX_LANES; ++i)
            if (m->ir->x_sums[node->integer] >> r & 1) sum.real[0] += m->magnitude ? fabs(m->x[r][i]) : m->x[r][i];
    sum.real[0] *= fabs((double)m->ir->x_sum_factors[node->integer]);
    if (m->ir->x_sum_factors[node->integer] < 0 && !m->magnitude) sum.real[0] = -sum.real[0];
    return sum;
}

/* The digit in hand of an element, as x is taken apart when it is loaded: the lowest first, each with its sign. */
static int32_t digit_of_x(const machine *m, uint32_t run, uint32_t lane) {
    const double x = m->x[run][lane] / m->step[run * QG_MAX_LANES / QG_STEP_ELEMENTS];
    int32_t rest = (int32_t)x, low = 0;
    assert_true((double)rest == x);
    for (uint32_t digit = m->digits; digit-- > m->digit;) {
        low = (rest & 127) - (rest & 128);
        rest = (rest - low) / 256;
    }
    return low;
}

static value dot4(const machine *m, const qg_node *node) {
    const uint32_t bytes = evaluate(m, node->arg[0]).bits[0];
    assert_true(node->integer < m->ir->n_x_quads);
    int32_t sum = 0;
    for (uint32_t i = 0; i < 4; ++i) {
        const uint32_t element = m->ir->x_quads[node->integer].element[i];
        const int32_t code =
            (int32_t)(bytes >> 8 * i & (node->ref ? 127 : 255)) - (node->ref ? (int32_t)(bytes >> 8 * i & 128) : 0);
        sum += code * digit_of_x(m, element / 4, element % 4);
    }
    return (value){{(uint32_t)sum}, {0}};
}

static value x_digits(const machine *m, const qg_node *node) {
    int32_t sum = 0;
    for (uint32_t r = 0; r < QG_MAX_RUNS; ++r)
        for (uint32_t i = 0; i < 4; ++i)
            if (m->ir->x_digits[node->integer] >> r & 1) sum += digit_of_x(m, r, i);
    return (value){{(uint32_t)sum}, {0}};
}

static bool in_one_step(const machine *m) { return m->ir->one_step && m->digits > 1 && !m->ir->turn_runs; }

/* The sum of a step, or, in the first one, of all, where these are one. */
static value digits(const machine *m, const qg_node *node) {
    machine at = *m;
    value sum = {{0}, {0}};
    for (at.digit = 0; at.digit < m->digits; ++at.digit) {
        sum.real[0] = 256 * sum.real[0] + (double)(int32_t)evaluate(&at, node->arg[0]).bits[0];
        for (uint32_t i = 0; i < m->ir->n_nodes && in_one_step(m) && node->integer == 0; ++i) {
            const qg_node *other = m->ir->nodes[i];
            if (other->op == QG_DIGITS && other != node)
                sum.real[0] += (double)(int32_t)evaluate(&at, other->arg[0]).bits[0];
        }
    }
    return sum;
}

static uint32_t number_of(const qg_ir *ir, const qg_node *node) {
    uint32_t number = 0;
    while (ir->nodes[number] != node) ++number;
    assert_true(number < MAX_NODES);
    return number;
}

static value unary(const machine *m, const qg_node *node) {
    const value a = evaluate(m, node->arg[0]);
    value result = {{0}, {0}};
    for (uint32_t i = 0; i < node->lanes; ++i) {
        switch (node->op) {
        case QG_TO_FLOAT: result.real[i] = float_of(m, node->arg[0], &a, i); break;
        case QG_TO_UINT:
        case QG_TO_INT: result.bits[i] = a.bits[i]; break;
        case QG_SEXT:
            result.bits[i] = (uint32_t)((int32_t)(a.bits[i] << (32 - node->integer)) >> (32 - node->integer));
            break;
        case QG_NEG:
            result.bits[i] = 0u - a.bits[i];
            result.real[i] = m->magnitude ? a.real[i] : -a.real[i];
            break;
        case QG_F16_BITS: result.real[i] = half_value(a.bits[i] & 0xFFFF); break;
        case QG_F32_BITS: {
            float single;
            memcpy(&single, &a.bits[i], sizeof single);
            result.real[i] = single;
            break;
        }
        case QG_HALVES: result.real[i] = half_value(a.bits[0] >> 16 * i & 0xFFFF); break;
        case QG_SPLAT:
            result.bits[i] = a.bits[0];
            result.real[i] = a.real[0];
            break;
        case QG_LANE:
            result.bits[i] = a.bits[node->integer];
            result.real[i] = a.real[node->integer];
            break;
        default: fail_msg("operation %d", (int)node->op);
        }
        if (m->magnitude) result.real[i] = fabs(result.real[i]);
    }
    return result;
}

value evaluate(const machine *m, const qg_node *node) {
    value result = {{0}, {0}};
    switch (node->op) {
    case QG_CONST:
        result.bits[0] = (uint32_t)node->integer;
        result.real[0] = (double)(m->magnitude ? fabsf(node->real) : node->real);
        return result;
    case QG_ARG:
    case QG_LOAD: result.bits[0] = m->words[number_of(m->ir, node)]; return result;
    case QG_TABLE: return lookup(m, node);
    case QG_PAIRS: return pairs(m, node);
    case QG_PAIR: return pair(m, node);
    case QG_TWO: return two(m, node);
    case QG_LOAD_U8:
    case QG_LOAD_I8: return bytes_of_load(m, node);
    case QG_DOT: return dot(m, node);
    case QG_DOT4: return dot4(m, node);
    case QG_X_SUM: return x_sum(m, node);
    case QG_X_DIGITS: return x_digits(m, node);
    case QG_DIGITS: return digits(m, node);
    case QG_X_STEP: result.real[0] = m->step[node->integer]; return result;
    case QG_ONE_STEP: return evaluate(m, node->arg[in_one_step(m) ? 0 : 1]);
    case QG_SELECT: return choice(m, node);
    case QG_VECTOR:
        for (uint32_t i = 0; i < node->n_args; ++i) {
            const value lane = evaluate(m, node->arg[i]);
            result.bits[i] = lane.bits[0];
            result.real[i] = node->kind == QG_K_FLOAT ? float_of(m, node->arg[i], &lane, 0) : 0;
        }
        return result;
    default: return node->n_args == 1 ? unary(m, node) : binary(m, node);
    }
}

/* A word of a stored table: whole values, next to each other. */
static uint32_t word_of_table(const qg_table *table) {
    const uint32_t bits = qg_table_bits(table), count = table->rows * table->columns;
    uint32_t result = 0;
    for (uint32_t at = 0; at < 32; at += bits) {
        const uint32_t entry = (uint32_t)(int64_t)table->values[random_word() % count];
        result |= (bits < 32 ? entry & ((UINT32_C(1) << bits) - 1) : entry) << at;
    }
    return result;
}

machine machine_new(const qg_ir *ir) {
    machine m = {.ir = ir};
    assert_true(ir->n_nodes <= MAX_NODES);
    for (uint32_t r = 0; r < QG_MAX_RUNS; ++r)
        for (uint32_t i = 0; i < QG_MAX_LANES; ++i) m.x[r][i] = (double)(int32_t)random_word() * 0x1p-31;
    for (uint32_t n = 0; n < ir->n_nodes; ++n) {
        const qg_node *node = ir->nodes[n];
        if (node->op != QG_ARG && node->op != QG_LOAD) continue;
        m.words[n] = random_word();
        if (node->op == QG_LOAD && node->ref >= ir->layout->n_buffers)
            m.words[n] = word_of_table(&ir->layout->tables[node->ref - ir->layout->n_buffers]);
        if (node->op == QG_ARG && node->max == 0xFFFF) m.words[n] = (m.words[n] & 0x83E0) | 14u << 10;
        if (node->op == QG_ARG) m.words[n] &= (uint32_t)node->max;
    }
    return m;
}

int32_t largest_of_digits(uint32_t digits) {
    int32_t largest = 0;
    for (uint32_t i = 0; i < digits; ++i) largest = 256 * largest + 127;
    return largest;
}

void use_integers(machine *m, uint32_t digits, int32_t largest) {
    m->digits = digits;
    for (uint32_t s = 0; s < sizeof m->step / sizeof *m->step; ++s)
        m->step[s] = in_one_step(m) ? 0.5 : ldexp(1, (int)(random_word() % 5) - 2);
    for (uint32_t r = 0; r < QG_MAX_RUNS; ++r)
        for (uint32_t i = 0; i < QG_MAX_LANES; ++i)
            m->x[r][i] = ((double)(random_word() % (2 * (uint32_t)largest + 1)) - largest) *
                         m->step[r * QG_MAX_LANES / QG_STEP_ELEMENTS];
}

double plain_sum(machine *m, uint32_t lanes, uint32_t n_runs, const qg_node *const *values) {
    double sum = 0;
    for (uint32_t r = 0; r < n_runs; ++r) {
        const value v = evaluate(m, values[r]);
        for (uint32_t i = 0; i < lanes; ++i) sum += m->x[r][i] * v.real[values[r]->lanes > 1 ? i : 0];
        for (uint32_t i = lanes; i < QG_MAX_LANES; ++i) m->x[r][i] = 0;
    }
    for (uint32_t r = n_runs; r < QG_MAX_RUNS; ++r) memset(m->x[r], 0, sizeof m->x[r]);
    return sum;
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

static void add_sets(qg_text *text, const char *what, const uint64_t *sets, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i)
        qg_text_printf(text, "\n%s %u: runs 0x%llx", what, i, (unsigned long long)sets[i]);
}

char *text_of(const bench *b, uint32_t lanes, uint32_t n_runs) {
    const qg_ir *ir = b->ir;
    qg_text text = qg_text_new(b->arena);
    const qg_target *target = ir->masked ? &qg_target_msl : &qg_target_glsl;
    for (uint32_t i = 0; i < ir->n_statements; ++i) qg_print_statement(&text, ir, target, ir->statements[i], "");
    for (uint32_t i = 0; i < ir->n_nodes; ++i) {
        if (ir->nodes[i]->op != QG_DIGITS || !ir->nodes[i]->used) continue;
        qg_text_printf(&text, "dots%u: ", (unsigned)ir->nodes[i]->integer);
        qg_print_expression(&text, ir, target, ir->nodes[i]->arg[0]);
        qg_text_puts(&text, "\n");
    }
    qg_print_expression(&text, ir, target, ir->outputs[0].node);
    for (uint32_t r = 0; ir->x_factors && r < n_runs; ++r) {
        const float *factor = ir->x_factors[r];
        if (factor[0] == 1 && factor[lanes - 1] == 1) continue;
        qg_text_printf(&text, "\nx%u *", r);
        for (uint32_t i = 0; i < lanes; ++i) qg_text_printf(&text, " 2^%g", log2((double)factor[i]));
    }
    for (uint32_t q = 0; q < ir->n_x_quads; ++q) {
        const uint16_t *e = ir->x_quads[q].element;
        if (e[0] == 4 * q && e[1] == 4 * q + 1 && e[2] == 4 * q + 2 && e[3] == 4 * q + 3) continue;
        qg_text_printf(&text, "\nquad %u: %u %u %u %u", q, e[0], e[1], e[2], e[3]);
    }
    add_sets(&text, "digits", ir->x_digits, ir->n_x_digits);
    add_sets(&text, "sum", ir->x_sums, ir->n_x_sums);
    for (uint32_t i = 0; i < ir->n_x_sums; ++i)
        if (ir->x_sum_factors[i] != 1) qg_text_printf(&text, "\nsum %u * %g", i, (double)ir->x_sum_factors[i]);
    return text.data;
}
