/* The rules for sums over rows, one by one: what they make of IR that is built by hand, as text and as numbers, and that
 * they leave alone what they do not hold for. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir.h"

/* ---- An interpreter of the IR ------------------------------------------------------------------------------------ */

enum { MAX_WORDS = 64 };

static const qg_buffer buffers[] = {{.name = "blocks"}};
static const qg_table tables[] = {{.name = "table", .type = QG_U32}};
static const qg_layout layout = {.n_buffers = 1, .buffers = buffers, .n_tables = 1, .tables = tables};

typedef struct machine {
    const qg_ir *ir;
    bool magnitude; /* every term of a sum counts as positive: what rounding errors are relative to */
    float x[QG_MAX_RUNS][QG_MAX_LANES];
    uint32_t words[MAX_WORDS]; /* by the number of the node, for arguments and loads */
} machine;

typedef struct value {
    uint32_t bits[QG_MAX_LANES];
    float real[QG_MAX_LANES];
} value;

static uint32_t random_state = 1;

static uint32_t random_word(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 17;
    random_state ^= random_state << 5;
    return random_state;
}

static float half_value(uint32_t bits) {
    const int exponent = (int)(bits >> 10 & 31), mantissa = (int)(bits & 1023);
    assert_true(exponent < 31);
    const float size = ldexpf((float)(exponent ? mantissa | 1024 : mantissa), (exponent ? exponent : 1) - 25);
    return bits & 0x8000 ? -size : size;
}

static float float_of(const machine *m, const qg_node *node, const value *v, uint32_t lane) {
    if (node->kind == QG_K_FLOAT) return v->real[lane];
    const float real = node->kind == QG_K_INT ? (float)(int32_t)v->bits[lane] : (float)v->bits[lane];
    return m->magnitude ? fabsf(real) : real;
}

static value evaluate(const machine *m, const qg_node *node);

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

static float float_result(const machine *m, qg_op op, float a, float b) {
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
        if (node->kind == QG_K_FLOAT)
            result.real[i] = float_result(m, node->op, a.real[l], b.real[r]);
        else
            result.bits[i] = unsigned_result(node->op, a.bits[l], b.bits[r]);
    }
    return result;
}

/* x as it is loaded: for dot products with what makes up for the places of codes. */
static value dot(const machine *m, const qg_node *node) {
    const value v = evaluate(m, node->arg[0]);
    value sum = {{0}, {0}};
    for (uint32_t i = 0; i < node->arg[0]->lanes; ++i) {
        const float x = m->x[node->integer][i] * m->ir->x_factors[node->integer][i];
        sum.real[0] += (m->magnitude ? fabsf(x) : x) * v.real[i];
    }
    return sum;
}

static value x_sum(const machine *m, const qg_node *node) {
    value sum = {{0}, {0}};
    for (uint32_t r = 0; r < QG_MAX_RUNS; ++r)
        for (uint32_t i = 0; i < QG_MAX_LANES; ++i)
            if (m->ir->x_sums[node->integer] >> r & 1) sum.real[0] += m->magnitude ? fabsf(m->x[r][i]) : m->x[r][i];
    return sum;
}

static uint32_t number_of(const qg_ir *ir, const qg_node *node) {
    uint32_t number = 0;
    while (ir->nodes[number] != node) ++number;
    assert_true(number < MAX_WORDS);
    return number;
}

static value unary(const machine *m, const qg_node *node) {
    const value a = evaluate(m, node->arg[0]);
    value result = {{0}, {0}};
    for (uint32_t i = 0; i < node->lanes; ++i) {
        switch (node->op) {
        case QG_TO_FLOAT: result.real[i] = float_of(m, node->arg[0], &a, i); break;
        case QG_TO_INT: result.bits[i] = a.bits[i]; break;
        case QG_SEXT:
            result.bits[i] = (uint32_t)((int32_t)(a.bits[i] << (32 - node->integer)) >> (32 - node->integer));
            break;
        case QG_NEG: result.real[i] = m->magnitude ? a.real[i] : -a.real[i]; break;
        case QG_F16_BITS: result.real[i] = half_value(a.bits[i] & 0xFFFF); break;
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
        if (m->magnitude) result.real[i] = fabsf(result.real[i]);
    }
    return result;
}

static value evaluate(const machine *m, const qg_node *node) {
    value result = {{0}, {0}};
    switch (node->op) {
    case QG_CONST:
        result.bits[0] = (uint32_t)node->integer;
        result.real[0] = m->magnitude ? fabsf(node->real) : node->real;
        return result;
    case QG_ARG:
    case QG_LOAD: result.bits[0] = m->words[number_of(m->ir, node)]; return result;
    case QG_DOT: return dot(m, node);
    case QG_X_SUM: return x_sum(m, node);
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

/* ---- A piece of IR by hand --------------------------------------------------------------------------------------- */

typedef struct bench {
    qg_arena *arena;
    qg_ir *ir;
} bench;

static bench bench_new(void) {
    qg_arena *arena = qg_arena_new();
    return (bench){arena, qg_ir_new(arena, &layout)};
}

static const qg_node *apply(const bench *b, qg_op op, const qg_node *left, const qg_node *right) {
    return qg_apply(b->ir, op, left, right, NULL);
}

static const qg_node *word(const bench *b, const char *name) { return qg_arg(b->ir, name, UINT64_C(1) << 32); }

/* A scale: the same for all elements. */
static const qg_node *half(const bench *b, const char *name) {
    return qg_float_bits(b->ir, QG_F16, qg_arg(b->ir, name, 1 << 16));
}

/* Four floats that no rule takes apart. */
static const qg_node *floats(const bench *b, const char *name) {
    const qg_node *lanes[4];
    for (uint32_t i = 0; i < 4; ++i) lanes[i] = half(b, qg_format(b->arena, "%s%u", name, i));
    return qg_vector(b->ir, lanes, 4);
}

/* Four integers below 2^bits that are no fields of one word. */
static const qg_node *integers(const bench *b, const char *name, uint32_t bits) {
    const qg_node *lanes[4];
    for (uint32_t i = 0; i < 4; ++i)
        lanes[i] = qg_arg(b->ir, qg_format(b->arena, "%s%u", name, i), UINT64_C(1) << bits);
    return qg_vector(b->ir, lanes, 4);
}

static const qg_node *spread(const bench *b, const qg_node *from, uint32_t lanes, const uint32_t *shifts) {
    const qg_node *counts[QG_MAX_LANES];
    for (uint32_t i = 0; i < lanes; ++i) counts[i] = qg_uint(b->ir, shifts[i]);
    return apply(b, QG_SHR, qg_splat(b->ir, from, lanes), qg_vector(b->ir, counts, lanes));
}

static const qg_node *fields(const bench *b, const qg_node *from, uint32_t lanes, const uint32_t *shifts,
                             uint32_t width) {
    return apply(b, QG_AND, spread(b, from, lanes, shifts), qg_uint(b->ir, (UINT32_C(1) << width) - 1));
}

/* Four fields `step` bits apart. */
static const qg_node *every(const bench *b, const char *name, uint32_t first, uint32_t step, uint32_t width) {
    const uint32_t shifts[] = {first, first + step, first + 2 * step, first + 3 * step};
    return fields(b, word(b, name), 4, shifts, width);
}

static const qg_node *signed_every(const bench *b, const qg_node *from, uint32_t step, uint32_t width) {
    const uint32_t shifts[] = {0, step, 2 * step, 3 * step};
    return qg_sign_extend(b->ir, spread(b, from, 4, shifts), width);
}

static const qg_node *to_float(const bench *b, const qg_node *node) { return apply(b, QG_TO_FLOAT, node, NULL); }

static const qg_node *to_int(const bench *b, const qg_node *node) { return apply(b, QG_TO_INT, node, NULL); }

/* Random words; where a half is taken of one, a finite half near one, of either sign. */
static machine machine_new(const qg_ir *ir) {
    machine m = {.ir = ir};
    for (uint32_t r = 0; r < QG_MAX_RUNS; ++r)
        for (uint32_t i = 0; i < QG_MAX_LANES; ++i) m.x[r][i] = (float)(int32_t)random_word() * 0x1p-31f;
    for (uint32_t n = 0; n < ir->n_nodes; ++n) {
        const qg_node *node = ir->nodes[n];
        if (node->op != QG_ARG && node->op != QG_LOAD) continue;
        m.words[n] = random_word();
        if (node->op == QG_ARG && node->max == 0xFFFF) m.words[n] = (m.words[n] & 0x83FF) | 14u << 10;
        if (node->op == QG_ARG) m.words[n] &= (uint32_t)node->max;
    }
    return m;
}

/* The sum as it stands, in double precision. */
static double plain_sum(machine *m, uint32_t lanes, uint32_t n_runs, const qg_node *const *values) {
    double sum = 0;
    for (uint32_t r = 0; r < n_runs; ++r) {
        const value v = evaluate(m, values[r]);
        for (uint32_t i = 0; i < lanes; ++i) sum += (double)m->x[r][i] * (double)v.real[values[r]->lanes > 1 ? i : 0];
        for (uint32_t i = lanes; i < QG_MAX_LANES; ++i) m->x[r][i] = 0;
    }
    for (uint32_t r = n_runs; r < QG_MAX_RUNS; ++r) memset(m->x[r], 0, sizeof m->x[r]);
    return sum;
}

/* Statements, result, and what x is multiplied with, where that is not 1. */
static char *text_of(const bench *b, uint32_t lanes, uint32_t n_runs) {
    qg_text text = qg_text_new(b->arena);
    const qg_target *target = &qg_targets[QG_GLSL];
    for (uint32_t i = 0; i < b->ir->n_statements; ++i)
        qg_print_statement(&text, b->ir, target, b->ir->statements[i], "");
    qg_print_expression(&text, b->ir, target, b->ir->outputs[0].node);
    for (uint32_t r = 0; r < n_runs; ++r) {
        const float *factor = b->ir->x_factors[r];
        if (factor[0] == 1 && factor[lanes - 1] == 1) continue;
        qg_text_printf(&text, "\nx%u *", r);
        for (uint32_t i = 0; i < lanes; ++i) qg_text_printf(&text, " 2^%g", log2((double)factor[i]));
    }
    for (uint32_t i = 0; i < b->ir->n_x_sums; ++i)
        qg_text_printf(&text, "\nsum %u: runs 0x%llx", i, (unsigned long long)b->ir->x_sums[i]);
    return text.data;
}

/* Applies the rules to the sum over the runs, and compares its text, and its numbers for random words. */
static void check_lanes(bench b, uint32_t lanes, uint32_t n_runs, const qg_node *const *values, const char *expected) {
    qg_output(b.ir, qg_dot_of_runs(b.ir, lanes, n_runs, values), NULL);
    for (uint32_t round = 0; round < 100; ++round) {
        machine m = machine_new(b.ir);
        const double sum = plain_sum(&m, lanes, n_runs, values);
        const double ours = (double)evaluate(&m, b.ir->outputs[0].node).real[0];
        m.magnitude = true;
        const double bound = (double)evaluate(&m, b.ir->outputs[0].node).real[0] * 0x1p-20;
        if (!(fabs(ours - sum) <= bound)) fail_msg("%.9g, and not %.9g: %s", ours, sum, expected);
    }
    qg_finish(b.ir, NULL, 0);
    assert_string_equal(text_of(&b, lanes, n_runs), expected);
    qg_arena_free(b.arena);
}

static void check_sum(bench b, const qg_node *value_of_run, const char *expected) {
    check_lanes(b, 4, 1, &value_of_run, expected);
}

#define V "vec4(f16_to_f32(v0), f16_to_f32(v1), f16_to_f32(v2), f16_to_f32(v3))"
#define W "vec4(f16_to_f32(w0), f16_to_f32(w1), f16_to_f32(w2), f16_to_f32(w3))"
#define D "f16_to_f32(d)"
#define E "f16_to_f32(e)"
#define SUM0 "\nsum 0: runs 0x1"

/* ---- distribute -------------------------------------------------------------------------------------------------- */

static void test_distribute(void **state) {
    (void)state;
    bench b = bench_new();
    check_sum(b, apply(&b, QG_ADD, floats(&b, "v"), half(&b, "d")),
              "dot(x[k][m][0], " V ") + " D " * x_sum[k][m][0]" SUM0);
    b = bench_new();
    check_sum(b, apply(&b, QG_SUB, floats(&b, "v"), half(&b, "d")),
              "dot(x[k][m][0], " V ") - " D " * x_sum[k][m][0]" SUM0);
    b = bench_new();
    check_sum(b, apply(&b, QG_SUB, half(&b, "d"), floats(&b, "v")),
              D " * x_sum[k][m][0] - dot(x[k][m][0], " V ")" SUM0);
    b = bench_new();
    check_sum(b, apply(&b, QG_SUB, floats(&b, "v"), qg_real(b.ir, 8)),
              "dot(x[k][m][0], " V ") - 8.0 * x_sum[k][m][0]" SUM0);
    b = bench_new();
    check_sum(b, apply(&b, QG_NEG, floats(&b, "v"), NULL), "-dot(x[k][m][0], " V ")");
    b = bench_new();
    check_sum(b, half(&b, "d"), D " * x_sum[k][m][0]" SUM0);
    b = bench_new(); /* neither is the same for the run */
    check_sum(b, apply(&b, QG_ADD, floats(&b, "v"), floats(&b, "w")), "dot(x[k][m][0], " V " + " W ")");
}

static void test_distribute_integers(void **state) {
    (void)state;
    bench b = bench_new();
    const qg_node *codes = apply(&b, QG_AND, integers(&b, "q", 8), qg_uint(b.ir, 63));
    check_sum(b, to_float(&b, apply(&b, QG_SUB, to_int(&b, codes), qg_int(b.ir, 32))),
              "dot(x[k][m][0], vec4(ivec4(uvec4(q0, q1, q2, q3) & 0x3Fu))) - 32.0 * x_sum[k][m][0]" SUM0);
    b = bench_new();
    check_sum(b, to_float(&b, apply(&b, QG_ADD, integers(&b, "q", 23), qg_arg(b.ir, "n", 1 << 24))),
              "dot(x[k][m][0], vec4(q0, q1, q2, q3)) + float(n) * x_sum[k][m][0]" SUM0);
    b = bench_new(); /* a float does not hold all of them */
    check_sum(b, to_float(&b, apply(&b, QG_ADD, integers(&b, "q", 25), qg_uint(b.ir, 1))),
              "dot(x[k][m][0], vec4(uvec4(q0, q1, q2, q3) + 1u))");
    b = bench_new();
    check_sum(b, to_float(&b, apply(&b, QG_ADD, integers(&b, "q", 6), qg_uint(b.ir, 1 << 24))),
              "dot(x[k][m][0], vec4(uvec4(q0, q1, q2, q3) + 0x1000000u))");
    b = bench_new();
    check_sum(b, to_float(&b, apply(&b, QG_ADD, integers(&b, "q", 6), qg_arg(b.ir, "n", (1 << 24) + 1))),
              "dot(x[k][m][0], vec4(uvec4(q0, q1, q2, q3) + n))");
    b = bench_new(); /* neither is the same for the run */
    check_sum(b, to_float(&b, apply(&b, QG_ADD, integers(&b, "q", 6), integers(&b, "p", 6))),
              "dot(x[k][m][0], vec4(uvec4(q0, q1, q2, q3) + uvec4(p0, p1, p2, p3)))");
}

/* ---- factor ------------------------------------------------------------------------------------------------------ */

static void test_factor(void **state) {
    (void)state;
    bench b = bench_new();
    check_sum(b, apply(&b, QG_MUL, floats(&b, "v"), half(&b, "d")), D " * dot(x[k][m][0], " V ")");
    b = bench_new();
    check_sum(b, apply(&b, QG_MUL, half(&b, "e"), apply(&b, QG_MUL, half(&b, "d"), floats(&b, "v"))),
              E " * " D " * dot(x[k][m][0], " V ")");
    b = bench_new();
    check_sum(b, apply(&b, QG_MUL, floats(&b, "v"), qg_real(b.ir, -0.25f)), "-(0.25 * dot(x[k][m][0], " V "))");
    b = bench_new();
    check_sum(b, apply(&b, QG_MUL, half(&b, "d"), apply(&b, QG_SUB, floats(&b, "v"), half(&b, "e"))),
              D " * dot(x[k][m][0], " V ") - " D " * " E " * x_sum[k][m][0]" SUM0);
    b = bench_new();
    check_sum(b, apply(&b, QG_MUL, half(&b, "d"), apply(&b, QG_SUB, floats(&b, "v"), qg_real(b.ir, 8))),
              D " * (dot(x[k][m][0], " V ") - 8.0 * x_sum[k][m][0])" SUM0);
    b = bench_new();
    check_sum(b,
              apply(&b, QG_NEG,
                    apply(&b, QG_MUL, apply(&b, QG_MUL, floats(&b, "v"), qg_real(b.ir, 3)), qg_real(b.ir, 2)), NULL),
              "-(6.0 * dot(x[k][m][0], " V "))");
    b = bench_new(); /* below the conversion */
    check_sum(b, to_float(&b, apply(&b, QG_MUL, integers(&b, "q", 8), qg_arg(b.ir, "n", 64))),
              "float(n) * dot(x[k][m][0], vec4(q0, q1, q2, q3))");
    b = bench_new();
    check_sum(b, to_float(&b, apply(&b, QG_MUL, integers(&b, "q", 25), qg_arg(b.ir, "n", 64))),
              "dot(x[k][m][0], vec4(uvec4(q0, q1, q2, q3) * n))");
    b = bench_new(); /* neither is the same for the run */
    check_sum(b, apply(&b, QG_MUL, floats(&b, "v"), floats(&b, "w")), "dot(x[k][m][0], " V " * " W ")");
}

/* ---- collect ----------------------------------------------------------------------------------------------------- */

static void test_collect(void **state) {
    (void)state;
    bench b = bench_new();
    const qg_node *runs[4];
    for (uint32_t r = 0; r < 2; ++r) /* d * v - e, of two runs */
        runs[r] = apply(&b, QG_SUB, apply(&b, QG_MUL, half(&b, "d"), floats(&b, r ? "w" : "v")), half(&b, "e"));
    check_lanes(b, 4, 2, runs,
                D " * (dot(x[k][m][0], " V ") + dot(x[k][m][1], " W ")) - " E " * x_sum[k][m][0]\nsum 0: runs 0x3");
    b = bench_new(); /* other scales */
    for (uint32_t r = 0; r < 2; ++r)
        runs[r] =
            apply(&b, QG_MUL, half(&b, r ? "e" : "d"), apply(&b, QG_ADD, floats(&b, r ? "w" : "v"), qg_real(b.ir, 1)));
    check_lanes(b, 4, 2, runs,
                D " * (dot(x[k][m][0], " V ") + x_sum[k][m][0]) + " E " * (dot(x[k][m][1], " W
                  ") + x_sum[k][m][1])\nsum 0: runs 0x1\nsum 1: runs 0x2");
    b = bench_new(); /* other constants with one scale, and of either sign */
    for (uint32_t r = 0; r < 4; ++r)
        runs[r] = apply(&b, QG_MUL, half(&b, "d"),
                        apply(&b, QG_ADD, floats(&b, r % 2 ? "w" : "v"), qg_real(b.ir, r < 2 ? -8.0f : 3.0f)));
    check_lanes(b, 4, 4, runs,
                D " * (dot(x[k][m][0], " V ") + dot(x[k][m][1], " W ") + dot(x[k][m][2], " V
                  ") + 3.0 * x_sum[k][m][0] + dot(x[k][m][3], " W
                  ") - 8.0 * x_sum[k][m][1])\nsum 0: runs 0xc\nsum 1: runs 0x3");
    b = bench_new(); /* other constants of one sign */
    for (uint32_t r = 0; r < 3; ++r)
        runs[r] = apply(&b, QG_ADD, floats(&b, r % 2 ? "w" : "v"), qg_real(b.ir, r == 1 ? 5.0f : 2.0f));
    check_lanes(b, 4, 3, runs,
                "dot(x[k][m][0], " V ") + 2.0 * x_sum[k][m][0] + dot(x[k][m][1], " W
                ") + 5.0 * x_sum[k][m][1] + dot(x[k][m][2], " V ")\nsum 0: runs 0x5\nsum 1: runs 0x2");
    b = bench_new(); /* one lane: there is no run to be the same for */
    runs[0] = apply(&b, QG_MUL, half(&b, "d"), half(&b, "v"));
    runs[1] = apply(&b, QG_ADD, half(&b, "d"), half(&b, "w"));
    check_lanes(b, 1, 2, runs,
                "(x[k][m][0] * (f16_to_f32(d) * f16_to_f32(v))) + (x[k][m][1] * (f16_to_f32(d) + f16_to_f32(w)))");
}

/* ---- halves ------------------------------------------------------------------------------------------------------ */

static void test_halves(void **state) {
    (void)state;
    bench b = bench_new(); /* each in its place */
    check_sum(b, to_float(&b, every(&b, "w", 0, 8, 4)),
              "vec2 pair0 = unpackHalf2x16(w & 0xF000Fu);\nvec2 pair1 = unpackHalf2x16((w >> 8u) & 0xF000Fu);\n"
              "dot(x[k][m][0], vec4(pair0.x, pair1.x, pair0.y, pair1.y))\nx0 * 2^24 2^24 2^24 2^24");
    b = bench_new(); /* below bit ten nothing is shifted */
    check_sum(b, to_float(&b, every(&b, "w", 4, 8, 4)),
              "vec2 pair0 = unpackHalf2x16(w & 0xF000F0u);\nvec2 pair1 = unpackHalf2x16((w >> 8u) & 0xF000F0u);\n"
              "dot(x[k][m][0], vec4(pair0.x, pair1.x, pair0.y, pair1.y))\nx0 * 2^20 2^20 2^20 2^20");
    b = bench_new(); /* four codes to a byte, and a conversion from signed integers */
    check_sum(b, to_float(&b, to_int(&b, every(&b, "w", 0, 2, 2))),
              "vec2 pair0 = unpackHalf2x16(w & 0x30003u);\nvec2 pair1 = unpackHalf2x16(w & 0xC000Cu);\n"
              "vec2 pair2 = unpackHalf2x16(w & 0x300030u);\nvec2 pair3 = unpackHalf2x16(w & 0xC000C0u);\n"
              "dot(x[k][m][0], vec4(pair0.x, pair1.x, pair2.x, pair3.x))\nx0 * 2^24 2^22 2^20 2^18");
    b = bench_new(); /* with a scale and a minimum, as all rules together have it */
    check_sum(b,
              apply(&b, QG_ADD, apply(&b, QG_MUL, half(&b, "d"), to_float(&b, every(&b, "w", 0, 8, 8))), half(&b, "e")),
              "vec2 pair0 = unpackHalf2x16(w & 0xFF00FFu);\nvec2 pair1 = unpackHalf2x16((w >> 8u) & 0xFF00FFu);\n" D
              " * dot(x[k][m][0], vec4(pair0.x, pair1.x, pair0.y, pair1.y)) + " E " * x_sum[k][m][0]\n"
              "x0 * 2^24 2^24 2^24 2^24" SUM0);
}

/* What lies across a half, is wider than its digits, or is not cut out as fields of one word, stays as it is. */
static void test_no_halves(void **state) {
    (void)state;
    const uint32_t ten[] = {0, 16}, eleven[] = {0, 16}, across[] = {4, 14}, places[] = {0, 8};
    qg_halves out;
    bench b = bench_new();
    assert_true(qg_as_halves(b.ir, to_float(&b, fields(&b, word(&b, "w"), 2, ten, 10)), 2, &out));
    assert_false(qg_as_halves(b.ir, to_float(&b, fields(&b, word(&b, "w"), 2, eleven, 11)), 2, &out));
    assert_false(qg_as_halves(b.ir, to_float(&b, fields(&b, word(&b, "w"), 2, across, 4)), 2, &out));
    assert_true(qg_as_halves(b.ir, to_float(&b, fields(&b, word(&b, "w"), 2, across, 2)), 2, &out));
    const qg_node *cut = spread(&b, word(&b, "w"), 2, places);
    assert_false(qg_as_halves(b.ir, to_float(&b, cut), 2, &out)); /* no mask */
    assert_false(qg_as_halves(b.ir, to_float(&b, apply(&b, QG_AND, cut, qg_uint(b.ir, 5))), 2, &out));
    assert_false(qg_as_halves(b.ir, to_float(&b, apply(&b, QG_AND, cut, qg_uint(b.ir, 0))), 2, &out));
    assert_false(qg_as_halves(b.ir, to_float(&b, apply(&b, QG_AND, cut, word(&b, "m"))), 2, &out));
    const qg_node *counts[] = {qg_uint(b.ir, 0), word(&b, "n")};
    const qg_node *moving = apply(&b, QG_SHR, qg_splat(b.ir, word(&b, "w"), 2), qg_vector(b.ir, counts, 2));
    assert_false(qg_as_halves(b.ir, to_float(&b, apply(&b, QG_AND, moving, qg_uint(b.ir, 15))), 2, &out));
    assert_false(qg_as_halves(b.ir, to_float(&b, integers(&b, "q", 4)), 4, &out));
    assert_false(qg_as_halves(b.ir, to_float(&b, apply(&b, QG_AND, word(&b, "w"), qg_uint(b.ir, 15))), 1, &out));
    assert_false(qg_as_halves(b.ir, floats(&b, "v"), 4, &out));
    qg_arena_free(b.arena);
    b = bench_new(); /* nor does the sum change */
    check_sum(b, to_float(&b, every(&b, "w", 0, 7, 11)),
              "dot(x[k][m][0], vec4((uvec4(w) >> uvec4(0, 7, 14, 21)) & 0x7FFu))");
}

/* The floats of a rule's halves are the codes, to the last bit. */
static void same_numbers(const bench *b, const qg_node *codes, uint32_t lanes, const qg_halves *halves) {
    for (uint32_t round = 0; round < 8; ++round) {
        const machine m = machine_new(b->ir);
        const value expected = evaluate(&m, codes), got = evaluate(&m, halves->vector);
        for (uint32_t i = 0; i < lanes; ++i)
            assert_true(got.real[i] * halves->factor[i] - halves->bias == expected.real[i]);
    }
}

/* Every width, first place and distance: the rule applies where all fields lie within the digits of a half, and only there. */
static void test_all_fields(void **state) {
    (void)state;
    uint32_t applied = 0;
    for (uint32_t lanes = 2; lanes <= 4; lanes += 2)
        for (uint32_t width = 1; width <= 12; ++width)
            for (uint32_t first = 0; first < 32; ++first)
                for (uint32_t step = 0; first + step * (lanes - 1) + width <= 32; ++step) {
                    const bench b = bench_new();
                    uint32_t shifts[QG_MAX_LANES];
                    bool within = width <= 10;
                    for (uint32_t i = 0; i < lanes; ++i) {
                        shifts[i] = first + i * step;
                        within &= shifts[i] % 16 + width <= 16;
                    }
                    qg_halves halves;
                    const qg_node *codes = to_float(&b, fields(&b, word(&b, "w"), lanes, shifts, width));
                    assert_int_equal(qg_as_halves(b.ir, codes, lanes, &halves), within);
                    if (within) same_numbers(&b, codes, lanes, &halves);
                    applied += within;
                    const qg_node *twos = spread(&b, word(&b, "w"), lanes, shifts);
                    twos = to_float(&b, qg_sign_extend(b.ir, twos, width));
                    assert_int_equal(qg_as_halves(b.ir, twos, lanes, &halves), within && step >= width);
                    if (within && step >= width) same_numbers(&b, twos, lanes, &halves);
                    qg_arena_free(b.arena);
                }
    assert_true(applied > 500);
}

/* ---- merge ------------------------------------------------------------------------------------------------------- */

static const qg_node *merged(const bench *b, const qg_node *low, const qg_node *high, uint32_t up) {
    return to_float(b, apply(b, QG_OR, low, apply(b, QG_SHL, high, qg_uint(b->ir, up))));
}

static void test_merge(void **state) {
    (void)state;
    bench b = bench_new(); /* four bits of one word, two of another */
    check_sum(b, merged(&b, every(&b, "a", 0, 8, 4), every(&b, "b", 2, 8, 2), 4),
              "uint codes = (a & 0xF0F0F0Fu) | ((b << 2u) & 0x30303030u);  // packed\n"
              "vec2 pair0 = unpackHalf2x16(codes & 0x3F003Fu);\n"
              "vec2 pair1 = unpackHalf2x16((codes >> 8u) & 0x3F003Fu);\n"
              "dot(x[k][m][0], vec4(pair0.x, pair1.x, pair0.y, pair1.y))\nx0 * 2^24 2^24 2^24 2^24");
    b = bench_new(); /* moved down where bits above the low ones would leave the half */
    check_sum(b, merged(&b, every(&b, "a", 4, 8, 4), every(&b, "b", 6, 8, 2), 4),
              "uint codes = ((a >> 4u) & 0xF0F0F0Fu) | ((b >> 2u) & 0x30303030u);  // packed\n"
              "vec2 pair0 = unpackHalf2x16(codes & 0x3F003Fu);\n"
              "vec2 pair1 = unpackHalf2x16((codes >> 8u) & 0x3F003Fu);\n"
              "dot(x[k][m][0], vec4(pair0.x, pair1.x, pair0.y, pair1.y))\nx0 * 2^24 2^24 2^24 2^24");
    qg_halves out;
    b = bench_new(); /* lanes at other distances */
    assert_false(qg_as_halves(b.ir, merged(&b, every(&b, "a", 0, 8, 4), every(&b, "b", 0, 1, 1), 4), 4, &out));
    /* a gap between the parts, and bits that both have */
    assert_false(qg_as_halves(b.ir, merged(&b, every(&b, "a", 0, 8, 4), every(&b, "b", 0, 8, 2), 5), 4, &out));
    assert_false(qg_as_halves(b.ir, merged(&b, every(&b, "a", 0, 8, 4), every(&b, "b", 0, 8, 2), 3), 4, &out));
    /* the fields of one lane lie where the next one begins */
    assert_false(qg_as_halves(b.ir, merged(&b, every(&b, "a", 0, 4, 4), every(&b, "b", 0, 4, 2), 4), 4, &out));
    assert_false(qg_as_halves(b.ir, merged(&b, integers(&b, "p", 4), every(&b, "b", 0, 8, 2), 4), 4, &out));
    assert_false(qg_as_halves(b.ir, merged(&b, every(&b, "a", 0, 8, 4), integers(&b, "p", 2), 4), 4, &out));
    qg_arena_free(b.arena);
}

/* Wherever the rule applies, it gives the same numbers. */
static void test_all_merges(void **state) {
    (void)state;
    uint32_t applied = 0, tried = 0;
    for (uint32_t low = 1; low <= 8; ++low)
        for (uint32_t high = 1; high <= 8; ++high)
            for (uint32_t a = 0; a < 16; ++a)
                for (uint32_t c = 0; c < 16; c += 1 + c % 3)
                    for (uint32_t step = 2; step <= 8; step += 2) {
                        if (a + 3 * step + low > 32 || c + 3 * step + high > 32) continue;
                        const bench b = bench_new();
                        qg_halves halves;
                        const qg_node *codes =
                            merged(&b, every(&b, "a", a, step, low), every(&b, "b", c, step, high), low);
                        ++tried;
                        if (qg_as_halves(b.ir, codes, 4, &halves)) {
                            same_numbers(&b, codes, 4, &halves);
                            ++applied;
                        }
                        qg_arena_free(b.arena);
                    }
    if (applied < 100 || applied == tried) fail_msg("%u of %u", applied, tried);
}

/* ---- bias -------------------------------------------------------------------------------------------------------- */

static void test_bias(void **state) {
    (void)state;
    bench b = bench_new();
    check_sum(b, apply(&b, QG_MUL, half(&b, "d"), to_float(&b, signed_every(&b, word(&b, "w"), 8, 8))),
              "uint biased = w ^ 0x80808080u;  // sign bits turned\n"
              "vec2 pair0 = unpackHalf2x16(biased & 0xFF00FFu);\n"
              "vec2 pair1 = unpackHalf2x16((biased >> 8u) & 0xFF00FFu);\n" D
              " * (dot(x[k][m][0], vec4(pair0.x, pair1.x, pair0.y, pair1.y)) - 128.0 * x_sum[k][m][0])\n"
              "x0 * 2^24 2^24 2^24 2^24" SUM0);
    qg_halves out;
    b = bench_new();
    const qg_node *index = qg_arg(b.ir, "i", 16);
    const qg_node *of_buffer = qg_load(b.ir, 0, 32, index), *of_table = qg_load(b.ir, 1, 32, index);
    const qg_node *of_both = apply(&b, QG_OR, of_buffer, apply(&b, QG_SHL, of_table, qg_uint(b.ir, 3)));
    assert_true(qg_as_halves(b.ir, to_float(&b, signed_every(&b, of_buffer, 8, 8)), 4, &out));
    assert_true(out.bias == 128);
    assert_false(qg_as_halves(b.ir, to_float(&b, signed_every(&b, of_table, 8, 8)), 4, &out));
    assert_false(qg_as_halves(b.ir, to_float(&b, signed_every(&b, of_both, 8, 8)), 4, &out));
    assert_false(qg_as_halves(b.ir, to_float(&b, signed_every(&b, word(&b, "w"), 4, 8)), 4, &out)); /* overlap */
    /* Unsigned values of a table need no bias. */
    const uint32_t bytes[] = {0, 8, 16, 24};
    assert_true(qg_as_halves(b.ir, to_float(&b, fields(&b, of_table, 4, bytes, 8)), 4, &out));
    assert_true(out.bias == 0);
    qg_arena_free(b.arena);
}

/* Each run has the bias of its own width. */
static void test_bias_of_runs(void **state) {
    (void)state;
    bench b = bench_new();
    const qg_node *runs[2];
    for (uint32_t r = 0; r < 2; ++r) runs[r] = to_float(&b, signed_every(&b, word(&b, r ? "w" : "v"), 8, r ? 4 : 8));
    check_lanes(b, 4, 2, runs,
                "uint biased0 = v ^ 0x80808080u;  // sign bits turned\n"
                "vec2 pair0 = unpackHalf2x16(biased0 & 0xFF00FFu);\n"
                "vec2 pair1 = unpackHalf2x16((biased0 >> 8u) & 0xFF00FFu);\n"
                "uint biased1 = w ^ 0x8080808u;  // sign bits turned\n"
                "vec2 pair2 = unpackHalf2x16(biased1 & 0xF000Fu);\n"
                "vec2 pair3 = unpackHalf2x16((biased1 >> 8u) & 0xF000Fu);\n"
                "dot(x[k][m][0], vec4(pair0.x, pair1.x, pair0.y, pair1.y))"
                " + dot(x[k][m][1], vec4(pair2.x, pair3.x, pair2.y, pair3.y))"
                " - 128.0 * x_sum[k][m][0] - 8.0 * x_sum[k][m][1]\n"
                "x0 * 2^24 2^24 2^24 2^24\nx1 * 2^24 2^24 2^24 2^24\nsum 0: runs 0x1\nsum 1: runs 0x2");
}

/* Runs have factors of their own, and a run whose codes are no halves keeps what it has. */
static void test_factors_of_runs(void **state) {
    (void)state;
    bench b = bench_new();
    const qg_node *runs[3];
    for (uint32_t r = 0; r < 2; ++r)
        runs[r] = apply(&b, QG_MUL, half(&b, "d"), to_float(&b, every(&b, "w", 4 * r, 8, 4)));
    runs[2] = apply(&b, QG_MUL, half(&b, "d"), to_float(&b, integers(&b, "q", 4)));
    check_lanes(b, 4, 3, runs,
                "vec2 pair0 = unpackHalf2x16(w & 0xF000Fu);\nvec2 pair1 = unpackHalf2x16((w >> 8u) & 0xF000Fu);\n"
                "vec2 pair2 = unpackHalf2x16(w & 0xF000F0u);\nvec2 pair3 = unpackHalf2x16((w >> 8u) & 0xF000F0u);\n" D
                " * (dot(x[k][m][0], vec4(pair0.x, pair1.x, pair0.y, pair1.y))"
                " + dot(x[k][m][1], vec4(pair2.x, pair3.x, pair2.y, pair3.y))"
                " + dot(x[k][m][2], vec4(q0, q1, q2, q3)))\n"
                "x0 * 2^24 2^24 2^24 2^24\nx1 * 2^20 2^20 2^20 2^20");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distribute),      cmocka_unit_test(test_distribute_integers),
        cmocka_unit_test(test_factor),          cmocka_unit_test(test_collect),
        cmocka_unit_test(test_halves),          cmocka_unit_test(test_no_halves),
        cmocka_unit_test(test_all_fields),      cmocka_unit_test(test_merge),
        cmocka_unit_test(test_all_merges),      cmocka_unit_test(test_bias),
        cmocka_unit_test(test_factors_of_runs), cmocka_unit_test(test_bias_of_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
