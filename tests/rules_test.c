/* The rules for sums over rows in floats, one by one: what they make of IR that is built by hand, as text and as numbers,
 * and that they leave alone what they do not hold for. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "ir_machine.h"

/* Applies the rules to the sum over the runs, and compares its text, and its numbers for random words. */
static void check_lanes(bench b, uint32_t lanes, uint32_t n_runs, const qg_node *const *values, const char *expected) {
    qg_output(b.ir, qg_dot_of_runs(b.ir, lanes, n_runs, values), NULL);
    for (uint32_t round = 0; round < 100; ++round) {
        machine m = machine_new(b.ir);
        const double sum = plain_sum(&m, lanes, n_runs, values);
        const double ours = evaluate(&m, b.ir->outputs[0].node).real[0];
        m.magnitude = true;
        const double bound = evaluate(&m, b.ir->outputs[0].node).real[0] * 0x1p-40;
        if (!(fabs(ours - sum) <= bound) && !(isnan(ours) && isnan(sum)))
            fail_msg("%.9g, and not %.9g: %s", ours, sum, expected);
    }
    qg_finish(b.ir, NULL, 0);
    assert_string_equal(text_of(&b, lanes, n_runs), expected);
    qg_arena_free(b.arena);
}

static void check_sum(bench b, const qg_node *value_of_run, const char *expected) {
    check_lanes(b, 4, 1, &value_of_run, expected);
}

#define V "vec4(unpackHalf2x16(v0).x, unpackHalf2x16(v1).x, unpackHalf2x16(v2).x, unpackHalf2x16(v3).x)"
#define W "vec4(unpackHalf2x16(w0).x, unpackHalf2x16(w1).x, unpackHalf2x16(w2).x, unpackHalf2x16(w3).x)"
#define D "unpackHalf2x16(d).x"
#define E "unpackHalf2x16(e).x"
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

/* Out of products of vectors what is the same is taken, wherever it stands. */
static void test_factors(void **state) {
    (void)state;
    bench b = bench_new();
    const qg_node *left = apply(&b, QG_MUL, half(&b, "d"), floats(&b, "v"));
    check_sum(b, apply(&b, QG_MUL, left, apply(&b, QG_MUL, floats(&b, "w"), half(&b, "e"))),
              D " * " E " * dot(x[k][m][0], " V " * " W ")");
    b = bench_new(); /* one vector, which is taken apart further */
    left = apply(&b, QG_MUL, half(&b, "d"), apply(&b, QG_SUB, floats(&b, "v"), qg_real(b.ir, 2)));
    check_sum(b, apply(&b, QG_MUL, left, half(&b, "e")),
              D " * " E " * (dot(x[k][m][0], " V ") - 2.0 * x_sum[k][m][0])" SUM0);
    b = bench_new(); /* none, though there are lanes */
    left = qg_splat(b.ir, half(&b, "d"), 4);
    check_sum(b, apply(&b, QG_MUL, left, qg_splat(b.ir, half(&b, "e"), 4)), D " * " E " * x_sum[k][m][0]" SUM0);
    b = bench_new(); /* as many as there are */
    const qg_node *product = floats(&b, "v");
    const char *expected = V;
    for (uint32_t i = 0; i < 40; ++i) {
        product = apply(&b, QG_MUL, product, i % 8 ? to_float(&b, integers(&b, "q", 1)) : half(&b, "d"));
        expected = i % 8 ? qg_format(b.arena, "%s * vec4(q0, q1, q2, q3)", expected) : expected;
    }
    check_sum(b, product, qg_format(b.arena, "%s * dot(x[k][m][0], %s)", D " * " D " * " D " * " D " * " D, expected));
}

/* ---- choice ------------------------------------------------------------------------------------------------------ */

static void test_choice(void **state) {
    (void)state;
    bench b = bench_new();
    const qg_node *d = half(&b, "d");
    check_sum(b, choose(&b, integers(&b, "q", 1), d, apply(&b, QG_NEG, d, NULL)),
              "-(" D " * x_sum[k][m][0]) + " D " * 2.0 * dot(x[k][m][0], vec4(q0, q1, q2, q3))" SUM0);
    b = bench_new(); /* the other way round, and a conversion of the bit */
    d = half(&b, "d");
    check_sum(b, choose(&b, to_int(&b, every(&b, "w", 0, 8, 1)), apply(&b, QG_NEG, d, NULL), d),
              "vec2 pair0 = unpackHalf2x16(w & 0x10001u), pair1 = unpackHalf2x16(w & 0x1000100u);\n" D
              " * x_sum[k][m][0] - " D " * 2.0 * dot(x[k][m][0], vec4(pair0.x, pair1.x, pair0.y, pair1.y))\n"
              "x0 * 2^24 2^16 2^24 2^16" SUM0);
    b = bench_new(); /* constants */
    check_sum(b, choose(&b, integers(&b, "q", 1), qg_real(b.ir, -1.5f), qg_real(b.ir, 1.5f)),
              "1.5 * x_sum[k][m][0] - 3.0 * dot(x[k][m][0], vec4(q0, q1, q2, q3))" SUM0);
    b = bench_new(); /* below a scale, and with a minimum */
    const qg_node *one = choose(&b, integers(&b, "q", 1), qg_real(b.ir, 1), qg_real(b.ir, -1));
    check_sum(b, apply(&b, QG_ADD, apply(&b, QG_MUL, half(&b, "d"), one), half(&b, "e")),
              "-(" D " * x_sum[k][m][0]) + " D " * 2.0 * dot(x[k][m][0], vec4(q0, q1, q2, q3)) + " E
              " * x_sum[k][m][0]" SUM0);
}

static void test_no_choice(void **state) {
    (void)state;
    bench b = bench_new(); /* no opposites */
    check_sum(b, choose(&b, integers(&b, "q", 1), half(&b, "d"), half(&b, "e")),
              "dot(x[k][m][0], mix(vec4(" E "), vec4(" D "), notEqual(uvec4(q0, q1, q2, q3), uvec4(0u))))");
    b = bench_new();
    check_sum(b, choose(&b, integers(&b, "q", 1), half(&b, "d"), apply(&b, QG_NEG, half(&b, "e"), NULL)),
              "dot(x[k][m][0], mix(vec4(-" E "), vec4(" D "), notEqual(uvec4(q0, q1, q2, q3), uvec4(0u))))");
    b = bench_new();
    check_sum(b, choose(&b, integers(&b, "q", 1), apply(&b, QG_NEG, half(&b, "e"), NULL), half(&b, "d")),
              "dot(x[k][m][0], mix(vec4(" D "), vec4(-" E "), notEqual(uvec4(q0, q1, q2, q3), uvec4(0u))))");
    b = bench_new();
    check_sum(b, choose(&b, integers(&b, "q", 1), qg_real(b.ir, 1), qg_real(b.ir, -2)),
              "dot(x[k][m][0], mix(vec4(-2.0), vec4(1.0), notEqual(uvec4(q0, q1, q2, q3), uvec4(0u))))");
    b = bench_new(); /* not by a bit: two bits, and another condition */
    const qg_node *d = half(&b, "d");
    check_sum(b, choose(&b, integers(&b, "q", 2), d, apply(&b, QG_NEG, d, NULL)),
              "dot(x[k][m][0], mix(vec4(-" D "), vec4(" D "), notEqual(uvec4(q0, q1, q2, q3), uvec4(0u))))");
    b = bench_new();
    d = half(&b, "d");
    const qg_node *two = to_int(&b, integers(&b, "q", 2));
    check_sum(b, choose(&b, two, d, apply(&b, QG_NEG, d, NULL)),
              "dot(x[k][m][0], mix(vec4(-" D "), vec4(" D
              "), notEqual(ivec4(int(q0), int(q1), int(q2), int(q3)), ivec4(0))))");
    b = bench_new();
    d = half(&b, "d");
    two = apply(&b, QG_AND, to_int(&b, every(&b, "w", 0, 8, 4)), qg_int(b.ir, 3));
    check_sum(b, choose(&b, two, d, apply(&b, QG_NEG, d, NULL)),
              "dot(x[k][m][0], mix(vec4(-" D "), vec4(" D
              "), notEqual(ivec4((uvec4(w) >> uvec4(0, 8, 16, 24)) & 15u) & 3, ivec4(0))))");
    b = bench_new();
    two = to_int(&b, every(&b, "w", 0, 8, 2));
    d = half(&b, "d");
    check_sum(b, choose(&b, two, d, apply(&b, QG_NEG, d, NULL)),
              "dot(x[k][m][0], mix(vec4(-" D "), vec4(" D
              "), notEqual(ivec4((uvec4(w) >> uvec4(0, 8, 16, 24)) & 3u), ivec4(0))))");
    b = bench_new();
    d = half(&b, "d");
    const qg_node *unlike = apply(&b, QG_NE, integers(&b, "q", 1), qg_splat(b.ir, qg_uint(b.ir, 1), 4));
    check_sum(b, qg_apply(b.ir, QG_SELECT, unlike, qg_splat(b.ir, d, 4), qg_splat(b.ir, apply(&b, QG_NEG, d, NULL), 4)),
              "dot(x[k][m][0], mix(vec4(-" D "), vec4(" D "), notEqual(uvec4(q0, q1, q2, q3), uvec4(1u))))");
    b = bench_new();
    d = half(&b, "d");
    unlike = apply(&b, QG_EQ, integers(&b, "q", 1), qg_splat(b.ir, qg_uint(b.ir, 0), 4));
    check_sum(b, qg_apply(b.ir, QG_SELECT, unlike, qg_splat(b.ir, d, 4), qg_splat(b.ir, apply(&b, QG_NEG, d, NULL), 4)),
              "dot(x[k][m][0], mix(vec4(-" D "), vec4(" D "), equal(uvec4(q0, q1, q2, q3), uvec4(0u))))");
    b = bench_new(); /* not the same for the run */
    const qg_node *v = floats(&b, "v");
    check_sum(b, choose(&b, integers(&b, "q", 1), v, apply(&b, QG_NEG, v, NULL)),
              "dot(x[k][m][0], mix(-" V ", " V ", notEqual(uvec4(q0, q1, q2, q3), uvec4(0u))))");
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
    b = bench_new(); /* a minimum twice: x is summed up once for each */
    check_sum(b, apply(&b, QG_ADD, apply(&b, QG_ADD, floats(&b, "v"), half(&b, "d")), half(&b, "d")),
              "dot(x[k][m][0], " V ") + " D " * (x_sum[k][m][0] + x_sum[k][m][0])" SUM0);
    b = bench_new(); /* a constant that is the bias of halves */
    const qg_node *codes = to_float(&b, signed_every(&b, word(&b, "w"), 8, 8));
    check_sum(
        b, apply(&b, QG_SUB, codes, qg_real(b.ir, 128)),
        "uint biased = w ^ 0x80808080u;  // sign bits turned\n"
        "vec2 pair0 = unpackHalf2x16(biased & 0xFF00FFu), pair1 = unpackHalf2x16((biased >> 8u) & 0xFF00FFu);\n"
        "dot(x[k][m][0], vec4(pair0.x, pair1.x, pair0.y, pair1.y)) - 128.0 * x_sum[k][m][0] - 128.0 * x_sum[k][m][0]\n"
        "x0 * 2^24 2^24 2^24 2^24" SUM0);
    b = bench_new(); /* one lane: there is no run to be the same for */
    runs[0] = apply(&b, QG_MUL, half(&b, "d"), half(&b, "v"));
    runs[1] = apply(&b, QG_ADD, half(&b, "d"), half(&b, "w"));
    check_lanes(b, 1, 2, runs,
                "(x[k][m][0] * (unpackHalf2x16(d).x * unpackHalf2x16(v).x)) + (x[k][m][1] * (unpackHalf2x16(d).x + "
                "unpackHalf2x16(w).x))");
    b = bench_new(); /* a chain ends after eight */
    const qg_node *many[10];
    for (uint32_t r = 0; r < 10; ++r) many[r] = apply(&b, QG_MUL, half(&b, "d"), floats(&b, "v"));
    check_lanes(b, 4, 10, many,
                D " * (dot(x[k][m][0], " V ") + dot(x[k][m][1], " V ") + dot(x[k][m][2], " V ") + dot(x[k][m][3], " V
                  ") + dot(x[k][m][4], " V ") + dot(x[k][m][5], " V ") + dot(x[k][m][6], " V ") + dot(x[k][m][7], " V
                  ") + (dot(x[k][m][8], " V ") + dot(x[k][m][9], " V ")))");
}

/* ---- halves ------------------------------------------------------------------------------------------------------ */

static void test_halves(void **state) {
    (void)state;
    bench b = bench_new(); /* each in its place */
    check_sum(b, to_float(&b, every(&b, "w", 0, 8, 4)),
              "vec2 pair0 = unpackHalf2x16(w & 0xF000Fu), pair1 = unpackHalf2x16((w >> 8u) & 0xF000Fu);\n"
              "dot(x[k][m][0], vec4(pair0.x, pair1.x, pair0.y, pair1.y))\nx0 * 2^24 2^24 2^24 2^24");
    b = bench_new(); /* below bit ten nothing is shifted */
    check_sum(b, to_float(&b, every(&b, "w", 4, 8, 4)),
              "vec2 pair0 = unpackHalf2x16(w & 0xF000F0u), pair1 = unpackHalf2x16((w >> 8u) & 0xF000F0u);\n"
              "dot(x[k][m][0], vec4(pair0.x, pair1.x, pair0.y, pair1.y))\nx0 * 2^20 2^20 2^20 2^20");
    b = bench_new(); /* four codes to a byte, and a conversion from signed integers */
    check_sum(b, to_float(&b, to_int(&b, every(&b, "w", 0, 2, 2))),
              "vec2 pair0 = unpackHalf2x16(w & 0x30003u), pair1 = unpackHalf2x16(w & 0xC000Cu), pair2 = "
              "unpackHalf2x16(w & 0x300030u);\n"
              "vec2 pair3 = unpackHalf2x16(w & 0xC000C0u);\n"
              "dot(x[k][m][0], vec4(pair0.x, pair1.x, pair2.x, pair3.x))\nx0 * 2^24 2^22 2^20 2^18");
    b = bench_new(); /* with a scale and a minimum, as all rules together have it */
    check_sum(b,
              apply(&b, QG_ADD, apply(&b, QG_MUL, half(&b, "d"), to_float(&b, every(&b, "w", 0, 8, 8))), half(&b, "e")),
              "vec2 pair0 = unpackHalf2x16(w & 0xFF00FFu), pair1 = unpackHalf2x16((w >> 8u) & 0xFF00FFu);\n" D
              " * dot(x[k][m][0], vec4(pair0.x, pair1.x, pair0.y, pair1.y)) + " E " * x_sum[k][m][0]\n"
              "x0 * 2^24 2^24 2^24 2^24" SUM0);
}

/* Metal's masks: codes become floats where they lie, also in a word that was put together of two; not those that lie across. */
static const qg_node *joined_words(const bench *b, const qg_node *low, const qg_node *high, uint32_t down) {
    return apply(b, QG_OR, apply(b, QG_SHR, low, qg_uint(b->ir, down)),
                 apply(b, QG_SHL, high, qg_uint(b->ir, 32 - down)));
}

static const qg_node *joined(const bench *b, uint32_t down) {
    return joined_words(b, word(b, "v"), word(b, "w"), down);
}

static const qg_node *loaded(const bench *b, uint32_t at) { return qg_load(b->ir, 0, 32, qg_uint(b->ir, at)); }

static bench bench_masked(void) {
    bench b = bench_new();
    b.ir->masked = true;
    return b;
}

static void test_in_place(void **state) {
    (void)state;
    bench b = bench_masked();
    check_sum(b, to_float(&b, every_of(&b, joined(&b, 16), 4, 8, 4)),
              "const float2 pair0 = float2(as_type<half2>(v & 0xF000F0u));\n"
              "const uint lower0 = v >> 8u;\n"
              "const float2 pair1 = float2(as_type<half2>(lower0 & 0xF000F0u)), pair2 = float2(as_type<half2>(w & "
              "0xF000F0u));\n"
              "const uint lower1 = w >> 8u;\n"
              "const float2 pair3 = float2(as_type<half2>(lower1 & 0xF000F0u));\n"
              "dot(x[k][m][0], float4(pair0.y, pair1.y, pair2.x, pair3.x))\n"
              "x0 * 2^20 2^20 2^20 2^20");
    b = bench_masked(); /* a field lies in both, and one across two halves */
    check_sum(b, to_float(&b, every_of(&b, joined(&b, 20), 0, 8, 8)),
              "const uint lower0 = v >> 4u;\n"
              "const float2 pair0 = float2(as_type<half2>(lower0 & 0xFF00FFu));\n"
              "const uint lower1 = ((v >> 20u) | (w << 12u)) >> 8u;\n"
              "const float2 pair1 = float2(as_type<half2>(lower1 & 0xFF00FFu));\n"
              "const uint lower2 = w >> 4u;\n"
              "const float2 pair2 = float2(as_type<half2>(lower2 & 0xFF00FFu));\n"
              "dot(x[k][m][0], float4(pair0.y, pair1.x, pair2.x, float(w & 0xFF000u)))\n"
              "x0 * 2^24 2^24 2^24 2^-12");
    b = bench_masked(); /* more digits than a half has */
    check_sum(b, to_float(&b, every(&b, "w", 0, 7, 11)),
              "dot(x[k][m][0], float4(float(w & 0x7FFu), float(w & 0x3FF80u), float(w & 0x1FFC000u), float(w & "
              "0xFFE00000u)))\n"
              "x0 * 2^0 2^-7 2^-14 2^-21");
}

/* scales: two pieces each, of which the other half of the word has those of another. */
static const qg_node *scale_at(const bench *b, uint32_t low, uint32_t high) {
    const qg_node *fifteen = qg_uint(b->ir, 15), *three = qg_uint(b->ir, 3);
    const qg_node *lower = apply(b, QG_AND, apply(b, QG_SHR, word(b, "v"), qg_uint(b->ir, low)), fifteen);
    const qg_node *upper = apply(b, QG_AND, apply(b, QG_SHR, word(b, "w"), qg_uint(b->ir, high)), three);
    return apply(b, QG_OR, lower, apply(b, QG_SHL, upper, qg_uint(b->ir, 4)));
}

static void test_scales(void **state) {
    (void)state;
    bench b = bench_masked();
    const qg_node *less = apply(&b, QG_SUB, to_int(&b, scale_at(&b, 0, 2)), qg_int(b.ir, 32));
    const qg_node *both = apply(&b, QG_MUL, to_float(&b, less), to_float(&b, scale_at(&b, 16, 18)));
    check_sum(b, apply(&b, QG_MUL, both, floats(&b, "x")),
              "const float2 pair = float2(as_type<half2>((v & 0xF000Fu) | ((w << 2u) & 0x300030u)));\n"
              "(pair.x * 16777216.0f - 32.0f) * (pair.y * 16777216.0f) * dot(x[k][m][0], float4(f16_to_f32(x0), "
              "f16_to_f32(x1), f16_to_f32(x2), f16_to_f32(x3)))");
    b = bench_masked(); /* pieces in different halves */
    check_sum(b, apply(&b, QG_MUL, to_float(&b, scale_at(&b, 0, 18)), floats(&b, "x")),
              "float((v & 15u) | (((w >> 18u) & 3u) << 4u)) * dot(x[k][m][0], float4(f16_to_f32(x0), f16_to_f32(x1), "
              "f16_to_f32(x2), f16_to_f32(x3)))");
    b = bench_masked(); /* a piece across two halves */
    check_sum(b, apply(&b, QG_MUL, to_float(&b, scale_at(&b, 14, 2)), floats(&b, "x")),
              "float(((v >> 14u) & 15u) | (((w >> 2u) & 3u) << 4u)) * dot(x[k][m][0], float4(f16_to_f32(x0), "
              "f16_to_f32(x1), f16_to_f32(x2), f16_to_f32(x3)))");
}

#define PLACES "\nx0 * 2^24 2^24 2^24 2^24"

/* bytes: of words that are loaded alone, and where each is in one. */
static void test_loaded_bytes(void **state) {
    (void)state;
    bench b = bench_masked();
    check_sum(b, to_float(&b, signed_every(&b, joined_words(&b, loaded(&b, 3), loaded(&b, 4), 16), 8, 8)),
              "const int4 bytes0 = int4(blocks_char4[3u]), bytes1 = int4(blocks_char4[4u]);\n"
              "dot(x[k][m][0], float4(bytes0.z, bytes0.w, bytes1.x, bytes1.y))");
    b = bench_masked();
    check_sum(b, to_float(&b, every_of(&b, loaded(&b, 3), 0, 8, 8)),
              "const uint4 bytes = uint4(blocks_uchar4[3u]);\n"
              "dot(x[k][m][0], float4(bytes.x, bytes.y, bytes.z, bytes.w))");
    b = bench_masked();
    check_sum(b, to_float(&b, signed_every(&b, word(&b, "w"), 8, 8)),
              "const uint biased = w ^ 0x80808080u;  // sign bits turned\n"
              "const float2 pair0 = float2(as_type<half2>(biased & 0xFF00FFu));\n"
              "const uint lower = biased >> 8u;\n"
              "const float2 pair1 = float2(as_type<half2>(lower & 0xFF00FFu));\n"
              "x_sum[k][m][0] + dot(x[k][m][0], float4(pair0.x, pair1.x, pair0.y, pair1.y))" PLACES SUM0
              "\nsum 0 * -128");
    b = bench_masked(); /* four bits of a byte */
    check_sum(b, to_float(&b, every_of(&b, loaded(&b, 3), 4, 8, 4)),
              "const float2 pair0 = float2(as_type<half2>(blocks[3u] & 0xF000F0u));\n"
              "const uint lower = blocks[3u] >> 8u;\n"
              "const float2 pair1 = float2(as_type<half2>(lower & 0xF000F0u));\n"
              "dot(x[k][m][0], float4(pair0.x, pair1.x, pair0.y, pair1.y))\n"
              "x0 * 2^20 2^20 2^20 2^20");
}

static const qg_node *look_up_levels(const bench *b, const qg_node *codes) {
    const qg_node *lanes[4];
    for (uint32_t i = 0; i < 4; ++i) lanes[i] = qg_lookup(b->ir, TABLE_LEVELS, qg_lane(b->ir, codes, i), NULL);
    return to_float(b, qg_vector(b->ir, lanes, 4));
}

/* two: codes of four bits in a small table, also in a word that was put together of two; not
 * those that lie in two bytes. */
static void test_two(void **state) {
    (void)state;
    const uint32_t across[] = {0, 6, 14, 20};
    bench b = bench_masked();
    check_sum(
        b, look_up_levels(&b, every_of(&b, joined_words(&b, loaded(&b, 3), loaded(&b, 4), 8), 4, 8, 4)),
        "const uint4 bytes0 = uint4(blocks_uchar4[3u]);\n"
        "const float2 two0 = levels_of_two[bytes0.y], two1 = levels_of_two[bytes0.z], two2 = levels_of_two[bytes0.w];\n"
        "const uint4 bytes1 = uint4(blocks_uchar4[4u]);\n"
        "const float2 two3 = levels_of_two[bytes1.x];\n"
        "dot(x[k][m][0], float4(two0.y, two1.y, two2.y, two3.y))");
    b = bench_masked();
    check_sum(b, look_up_levels(&b, every(&b, "w", 0, 4, 4)),
              "const float2 two0 = levels_of_two[w & 0xFFu], two1 = levels_of_two[(w >> 8u) & 0xFFu];\n"
              "dot(x[k][m][0], float4(two0.x, two0.y, two1.x, two1.y))");
    b = bench_masked();
    check_sum(b, look_up_levels(&b, fields(&b, word(&b, "w"), 4, across, 4)),
              "dot(x[k][m][0], float4(levels_as_float[((uint4(w) >> uint4(0, 6, 14, 20)) & 15u).x], "
              "levels_as_float[((uint4(w) >> uint4(0, 6, 14, 20)) & 15u).y], levels_as_float[((uint4(w) >> uint4(0, 6, "
              "14, 20)) & "
              "15u).z], levels_as_float[((uint4(w) >> uint4(0, 6, 14, 20)) & 15u).w]))");
}

#define PAIRS                                                                                                          \
    "const float2 pair0 = float2(as_type<half2>(w & 0xF000Fu));\n"                                                     \
    "const uint lower = w >> 8u;\n"                                                                                    \
    "const float2 pair1 = float2(as_type<half2>(lower & 0xF000Fu));\n"
#define CODES "float4(pair0.x, pair1.x, pair0.y, pair1.y)"

/* begin: with x summed up, where the coefficient is a power of two. */
static void test_begin(void **state) {
    (void)state;
    bench b = bench_masked();
    check_sum(
        b, apply(&b, QG_MUL, half(&b, "d"), apply(&b, QG_SUB, to_float(&b, every(&b, "w", 0, 8, 4)), qg_real(b.ir, 8))),
        PAIRS "f16_to_f32(d) * (x_sum[k][m][0] + dot(x[k][m][0], " CODES "))" PLACES SUM0 "\nsum 0 * -8");
    b = bench_masked();
    check_sum(b, apply(&b, QG_SUB, qg_real(b.ir, 4), to_float(&b, every(&b, "w", 0, 8, 4))),
              PAIRS "x_sum[k][m][0] - dot(x[k][m][0], " CODES ")" PLACES SUM0 "\nsum 0 * 4");
    b = bench_masked();
    check_sum(b, apply(&b, QG_SUB, to_float(&b, every(&b, "w", 0, 8, 4)), qg_real(b.ir, 3)),
              PAIRS "dot(x[k][m][0], " CODES ") - 3.0f * x_sum[k][m][0]" PLACES SUM0);
    b = bench_masked(); /* nothing but x */
    check_sum(b, apply(&b, QG_MUL, half(&b, "d"), qg_real(b.ir, 8)), "f16_to_f32(d) * 8.0f * x_sum[k][m][0]" SUM0);
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
            assert_true(got.real[i] * (double)halves->factor[i] - (double)halves->bias == expected.real[i]);
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
              "vec2 pair0 = unpackHalf2x16(codes & 0x3F003Fu), pair1 = unpackHalf2x16((codes >> 8u) & 0x3F003Fu);\n"
              "dot(x[k][m][0], vec4(pair0.x, pair1.x, pair0.y, pair1.y))\nx0 * 2^24 2^24 2^24 2^24");
    b = bench_new(); /* moved down where bits above the low ones would leave the half */
    check_sum(b, merged(&b, every(&b, "a", 4, 8, 4), every(&b, "b", 6, 8, 2), 4),
              "uint codes = ((a >> 4u) & 0xF0F0F0Fu) | ((b >> 2u) & 0x30303030u);  // packed\n"
              "vec2 pair0 = unpackHalf2x16(codes & 0x3F003Fu), pair1 = unpackHalf2x16((codes >> 8u) & 0x3F003Fu);\n"
              "dot(x[k][m][0], vec4(pair0.x, pair1.x, pair0.y, pair1.y))\nx0 * 2^24 2^24 2^24 2^24");
    qg_halves out;
    b = bench_new(); /* lanes at other distances */
    assert_false(qg_as_halves(b.ir, merged(&b, every(&b, "a", 0, 8, 4), every(&b, "b", 0, 2, 2), 4), 4, &out));
    /* bits that both have */
    assert_false(qg_as_halves(b.ir, merged(&b, every(&b, "a", 0, 8, 4), every(&b, "b", 0, 8, 2), 3), 4, &out));
    /* the fields of one lane lie where the next one begins */
    assert_false(qg_as_halves(b.ir, merged(&b, every(&b, "a", 0, 4, 4), every(&b, "b", 0, 4, 2), 4), 4, &out));
    assert_false(qg_as_halves(b.ir, merged(&b, integers(&b, "p", 4), every(&b, "b", 0, 8, 2), 4), 4, &out));
    assert_false(qg_as_halves(b.ir, merged(&b, every(&b, "a", 0, 8, 4), integers(&b, "p", 2), 4), 4, &out));
    qg_arena_free(b.arena);
}

/* The numbers of two words merged are as before; true where the rule applies. */
static bool check_merge(bench b, const qg_node *codes) {
    qg_halves halves;
    const bool applies = qg_as_halves(b.ir, codes, 4, &halves);
    if (applies) same_numbers(&b, codes, 4, &halves);
    qg_arena_free(b.arena);
    return applies;
}

static bench bench_in_place(void) {
    bench b = bench_masked();
    b.ir->in_place = true;
    return b;
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
                        const bench b = bench_new(), m = bench_in_place();
                        ++tried;
                        applied += check_merge(
                            b, merged(&b, every(&b, "a", a, step, low), every(&b, "b", c, step, high), low));
                        check_merge(m, merged(&m, every(&m, "a", a, step, low), every(&m, "b", c, step, high), low));
                    }
    if (applied < 100 || applied == tried) fail_msg("%u of %u", applied, tried);
}

/* twice: of two runs with the same words, which are put together once. */
static void test_merged_twice(void **state) {
    (void)state;
    const bench b = bench_in_place();
    qg_halves halves[4];
    uint32_t words = 0;
    for (uint32_t i = 0; i < 4; ++i)
        assert_true(
            qg_as_halves(b.ir, merged(&b, every(&b, "a", 2 * i, 8, 2), every(&b, "b", 3 + i, 8, 1), 2), 4, &halves[i]));
    for (uint32_t i = 0; i < b.ir->n_nodes; ++i)
        words += b.ir->nodes[i]->name && !strcmp(b.ir->nodes[i]->name, "codes");
    assert_int_equal(words, 2);
    assert_true(halves[0].factor[0] == 16777216.0f && halves[2].factor[0] == 1048576.0f);
    qg_arena_free(b.arena);
}

/* ---- bytes ------------------------------------------------------------------------------------------------------- */

/* What lies in no word apart, but comes to the bytes of one at once: bits that are spread, signs, and both. */
static void test_bytes(void **state) {
    (void)state;
    bench b = bench_new();
    check_sum(b, merged(&b, every(&b, "a", 0, 8, 4), every(&b, "b", 0, 1, 1), 4),
              "uint bytes = (a & 0xF0F0F0Fu) | (((b & 15u) * 0x2040810u) & 0x10101010u);\n"
              "vec2 pair0 = unpackHalf2x16(bytes & 0x1F001Fu), pair1 = unpackHalf2x16((bytes >> 8u) & 0x1F001Fu);\n"
              "dot(x[k][m][0], vec4(pair0.x, pair1.x, pair0.y, pair1.y))\nx0 * 2^24 2^24 2^24 2^24");
    qg_halves halves;
    b = bench_new(); /* with a gap between the parts */
    const qg_node *apart = merged(&b, every(&b, "a", 0, 8, 4), every(&b, "b", 0, 8, 2), 5);
    assert_true(qg_as_halves(b.ir, apart, 4, &halves));
    same_numbers(&b, apart, 4, &halves);
    qg_arena_free(b.arena);
    for (uint32_t low = 1; low <= 7; ++low)
        for (uint32_t first = 0; first <= 28; ++first) {
            b = bench_new();
            const qg_node *codes = merged(&b, every(&b, "a", first % 2, 8, low), every(&b, "b", first, 1, 1), low);
            assert_true(qg_as_halves(b.ir, codes, 4, &halves));
            same_numbers(&b, codes, 4, &halves);
            qg_arena_free(b.arena);
        }
}

/* ---- bias -------------------------------------------------------------------------------------------------------- */

static void test_bias(void **state) {
    (void)state;
    bench b = bench_new();
    check_sum(b, apply(&b, QG_MUL, half(&b, "d"), to_float(&b, signed_every(&b, word(&b, "w"), 8, 8))),
              "uint biased = w ^ 0x80808080u;  // sign bits turned\n"
              "vec2 pair0 = unpackHalf2x16(biased & 0xFF00FFu), pair1 = unpackHalf2x16((biased >> 8u) & 0xFF00FFu);\n" D
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
    check_lanes(
        b, 4, 2, runs,
        "uint biased0 = v ^ 0x80808080u;  // sign bits turned\n"
        "vec2 pair0 = unpackHalf2x16(biased0 & 0xFF00FFu), pair1 = unpackHalf2x16((biased0 >> 8u) & 0xFF00FFu);\n"
        "uint biased1 = w ^ 0x8080808u;  // sign bits turned\n"
        "vec2 pair2 = unpackHalf2x16(biased1 & 0xF000Fu), pair3 = unpackHalf2x16((biased1 >> 8u) & 0xF000Fu);\n"
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
                "vec2 pair0 = unpackHalf2x16(w & 0xF000Fu), pair1 = unpackHalf2x16((w >> 8u) & 0xF000Fu), "
                "pair2 = unpackHalf2x16(w & 0xF000F0u);\n"
                "vec2 pair3 = unpackHalf2x16((w >> 8u) & 0xF000F0u);\n" D
                " * (dot(x[k][m][0], vec4(pair0.x, pair1.x, pair0.y, pair1.y))"
                " + dot(x[k][m][1], vec4(pair2.x, pair3.x, pair2.y, pair3.y))"
                " + dot(x[k][m][2], vec4(q0, q1, q2, q3)))\n"
                "x0 * 2^24 2^24 2^24 2^24\nx1 * 2^20 2^20 2^20 2^20");
}

/* ---- floats of few bits ------------------------------------------------------------------------------------------ */

/* Codes as floats with so many bits of mantissa, and of exponent and mantissa, as lowering writes them. */
static const qg_node *typed(const bench *b, const qg_node *codes, uint32_t mantissa, uint32_t digits, float unit) {
    const qg_node *parts[4], *bits = qg_let(b->ir, codes, "bits", NULL);
    for (uint32_t i = 0; i < 4; ++i) {
        const qg_node *lane = qg_lane(b->ir, bits, i), *sign = qg_uint(b->ir, 1u << digits);
        const qg_node *low = apply(b, QG_AND, lane, qg_uint(b->ir, (1u << digits) - 1));
        const qg_node *high = apply(b, QG_SHL, apply(b, QG_AND, lane, sign), qg_uint(b->ir, 15 - digits));
        const qg_node *all = apply(b, QG_OR, apply(b, QG_SHL, low, qg_uint(b->ir, 10 - mantissa)), high);
        parts[i] = apply(b, QG_MUL, qg_float_bits(b->ir, QG_F16, all), qg_real(b->ir, unit));
    }
    return qg_vector(b->ir, parts, 4);
}

/* E4M3, in which all digits are NaN. */
static const qg_node *with_nans(const bench *b, const qg_node *codes) {
    const qg_node *parts[4], *bits = qg_let(b->ir, codes, "bits", NULL);
    for (uint32_t i = 0; i < 4; ++i) {
        const qg_node *lane = qg_lane(b->ir, bits, i), *low = apply(b, QG_AND, lane, qg_uint(b->ir, 127));
        const qg_node *high = apply(b, QG_SHL, apply(b, QG_AND, lane, qg_uint(b->ir, 128)), qg_uint(b->ir, 8));
        const qg_node *nan = apply(b, QG_EQ, low, qg_uint(b->ir, 127));
        low = apply(b, QG_SHL, low, qg_uint(b->ir, 7));
        low = qg_apply(b->ir, QG_SELECT, nan, qg_uint(b->ir, 0x7E00), low);
        parts[i] = apply(b, QG_MUL, qg_float_bits(b->ir, QG_F16, apply(b, QG_OR, low, high)), qg_real(b->ir, 256));
    }
    return qg_vector(b->ir, parts, 4);
}

static void test_nans(void **state) {
    (void)state;
    bench b = bench_new();
    const qg_node *values[] = {with_nans(&b, every(&b, "w", 0, 8, 8)), with_nans(&b, every(&b, "v", 0, 8, 8))};
    qg_halves halves;
    assert_false(qg_as_halves(b.ir, values[0], 4, &halves));
    check_lanes(
        b, 4, 2, values,
        "float nans = uintBitsToFloat(((((w & 0x7F7F7F7Fu) + 0x1010101u) | ((v & 0x7F7F7F7Fu) + 0x1010101u)) & "
        "0x80808080u) != 0u ? 0x7FC00000u : 0u);  // NaN where a weight is\n"
        "vec2 pair0 = unpackHalf2x16(((w << 7u) & 0x3F803F80u) | ((w << 8u) & 0x80008000u));\n"
        "vec2 pair1 = unpackHalf2x16(((w >> 1u) & 0x3F803F80u) | (w & 0x80008000u));\n"
        "vec2 pair2 = unpackHalf2x16(((v << 7u) & 0x3F803F80u) | ((v << 8u) & 0x80008000u));\n"
        "vec2 pair3 = unpackHalf2x16(((v >> 1u) & 0x3F803F80u) | (v & 0x80008000u));\n"
        "nans + (dot(x[k][m][0], vec4(pair0.x, pair1.x, pair0.y, pair1.y)) + dot(x[k][m][1], vec4(pair2.x, pair3.x, "
        "pair2.y, pair3.y)))\n"
        "x0 * 2^8 2^8 2^8 2^8\nx1 * 2^8 2^8 2^8 2^8");
    b = bench_new(); /* not all bytes of a word, of which others may be NaN */
    static const uint32_t twice[] = {0, 8, 0, 8};
    assert_false(qg_as_halves_or_nan(b.ir, with_nans(&b, fields(&b, word(&b, "w"), 4, twice, 8)), 4, &halves));
    qg_arena_free(b.arena);
}

static void test_typed(void **state) {
    (void)state;
    bench b = bench_new(); /* E2M1 */
    check_sum(b, typed(&b, every(&b, "w", 0, 4, 4), 1, 3, 16384),
              "vec2 pair0 = unpackHalf2x16(((w << 9u) & 0xE000E00u) | ((w << 12u) & 0x80008000u));\n"
              "vec2 pair1 = unpackHalf2x16(((w << 5u) & 0xE000E00u) | ((w << 8u) & 0x80008000u));\n"
              "vec2 pair2 = unpackHalf2x16(((w << 1u) & 0xE000E00u) | ((w << 4u) & 0x80008000u));\n"
              "vec2 pair3 = unpackHalf2x16(((w >> 3u) & 0xE000E00u) | (w & 0x80008000u));\n"
              "dot(x[k][m][0], vec4(pair0.x, pair1.x, pair2.x, pair3.x))\n"
              "x0 * 2^14 2^14 2^14 2^14");
    b = bench_new(); /* E3M2 in bytes */
    check_sum(b, typed(&b, every(&b, "w", 2, 8, 6), 2, 5, 4096),
              "vec2 pair0 = unpackHalf2x16(((w << 6u) & 0x1F001F00u) | ((w << 8u) & 0x80008000u));\n"
              "vec2 pair1 = unpackHalf2x16(((w >> 2u) & 0x1F001F00u) | (w & 0x80008000u));\n"
              "dot(x[k][m][0], vec4(pair0.x, pair1.x, pair0.y, pair1.y))\n"
              "x0 * 2^12 2^12 2^12 2^12");
    b = bench_new(); /* fields that are wider than the type */
    const qg_node *wide = typed(&b, every(&b, "w", 0, 8, 8), 1, 3, 1);
    qg_halves halves;
    assert_false(qg_as_halves(b.ir, wide, 4, &halves));
    qg_arena_free(b.arena);
    b = bench_new(); /* lanes of different words */
    const qg_node *parts[4];
    for (uint32_t i = 0; i < 4; ++i)
        parts[i] = qg_lane(b.ir, typed(&b, every(&b, i % 2 ? "v" : "w", 0, 4, 4), 1, 3, 1), i);
    assert_false(qg_as_halves(b.ir, qg_vector(b.ir, parts, 4), 4, &halves));
    qg_arena_free(b.arena);
}

/* ---- rows that meet the same x ----------------------------------------------------------------------------------- */

/* Compares the sums of rows, each of two runs, with those as they stand. */
static void check_rows(bench b, uint32_t rows, const qg_node *const *values) {
    const qg_node *sums[8];
    qg_dots_of_rows(b.ir, 4, 2, rows, values, sums);
    for (uint32_t round = 0; round < 100; ++round)
        for (uint32_t r = 0; r < rows; ++r) {
            machine m = machine_new(b.ir);
            const double sum = plain_sum(&m, 4, 2, values + 2 * r), ours = evaluate(&m, sums[r]).real[0];
            m.magnitude = true;
            assert_true(fabs(ours - sum) <= evaluate(&m, sums[r]).real[0] * 0x1p-40);
        }
    for (uint32_t r = 0; r < rows; ++r) qg_output(b.ir, sums[r], NULL);
    qg_finish(b.ir, NULL, 0);
}

/* Codes of `width` bits, of each lane in a word of its own. */
static const qg_node *in_words(const bench *b, uint32_t run, const uint32_t *shifts, uint32_t width) {
    const qg_node *parts[4];
    for (uint32_t i = 0; i < 4; ++i) {
        const qg_node *from = word(b, qg_format(b->arena, "w%u", 4 * run + i));
        const qg_node *moved = shifts[i] ? apply(b, QG_SHR, from, qg_uint(b->ir, shifts[i])) : from;
        parts[i] = apply(b, QG_AND, moved, qg_uint(b->ir, (1u << width) - 1));
    }
    return to_float(b, to_int(b, qg_vector(b->ir, parts, 4)));
}

static void test_rows(void **state) {
    (void)state;
    static const uint32_t alike[][4] = {{0, 0, 0, 0}, {16, 16, 16, 16}, {4, 4, 4, 4}, {28, 28, 28, 28}};
    static const uint32_t apart[] = {0, 4, 0, 4};
    const qg_node *values[8];
    bench b = bench_new(); /* rows share words: each sum takes a factor */
    for (uint32_t i = 0; i < 8; ++i)
        values[i] = apply(&b, QG_MUL, half(&b, i < 4 ? "d" : "e"),
                          apply(&b, QG_SUB, in_words(&b, i % 2, alike[i / 2], 4), half(&b, "z")));
    check_rows(b, 4, values);
    assert_true(qg_uses(b.ir, QG_HALVES) && b.ir->x_factors[0][0] == 1);
    uint32_t pairs = 0;
    for (uint32_t i = 0; i < b.ir->n_nodes; ++i) pairs += b.ir->nodes[i]->used && b.ir->nodes[i]->op == QG_HALVES;
    assert_int_equal(pairs, 24); /* of eight words: both halves, and a part of two others */
    qg_arena_free(b.arena);
    b = bench_new(); /* other factors in a row: as they stand */
    for (uint32_t i = 0; i < 4; ++i) values[i] = in_words(&b, i % 2, i < 2 ? apart : alike[1], 4);
    check_rows(b, 2, values);
    qg_arena_free(b.arena);
    b = bench_new(); /* and in other runs of it */
    for (uint32_t i = 0; i < 4; ++i) values[i] = in_words(&b, i % 2, alike[i % 2 * 2], 4);
    check_rows(b, 2, values);
    assert_false(qg_uses(b.ir, QG_HALVES));
    qg_arena_free(b.arena);
    b = bench_new(); /* codes of a run in one word: x takes the factors, of all rows */
    for (uint32_t i = 0; i < 6; ++i)
        values[i] = apply(&b, QG_MUL, half(&b, "d"),
                          to_float(&b, every(&b,
                                             i < 2   ? "u"
                                             : i < 4 ? "v"
                                                     : "w",
                                             16 * (i % 2), 4, 4)));
    check_rows(b, 3, values);
    assert_true(qg_uses(b.ir, QG_HALVES) && b.ir->x_factors[0][0] == 0x1p24f && b.ir->x_factors[0][1] == 0x1p20f);
    qg_arena_free(b.arena);
    b = bench_new(); /* of one row elsewhere: not */
    for (uint32_t i = 0; i < 4; ++i)
        values[i] = to_float(&b, every(&b, i < 2 ? "u" : "v", i == 3 ? 0 : 16 * (i % 2) + 4 * (i / 2), 2, 2));
    check_rows(b, 2, values);
    assert_true(b.ir->x_factors[0][0] == 1);
    qg_arena_free(b.arena);
}

/* ---- four codes of a word ---------------------------------------------------------------------------------------- */

/* Bits of `even`, and of `odd` further up, as four floats. */
static const qg_node *four_of(bench *b, const qg_node *even, const qg_node *odd, uint32_t down, uint32_t even_bits,
                              uint32_t odd_bits) {
    const qg_node *shifted = qg_apply(b->ir, QG_SHR, odd, qg_uint(b->ir, down), NULL);
    const qg_node *low = qg_halves_of(b->ir, qg_apply(b->ir, QG_AND, even, qg_uint(b->ir, even_bits), NULL));
    const qg_node *high = qg_halves_of(b->ir, qg_apply(b->ir, QG_AND, shifted, qg_uint(b->ir, odd_bits), NULL));
    const qg_node *lanes[] = {qg_lane(b->ir, low, 0), qg_lane(b->ir, high, 0), qg_lane(b->ir, low, 1),
                              qg_lane(b->ir, high, 1)};
    return qg_vector(b->ir, lanes, 4);
}

/* Only bytes of one word, with one mask, are what the function of the text takes. */
static void test_four_codes(void **state) {
    (void)state;
    bench b = bench_new();
    const qg_node *word = qg_arg(b.ir, "word", 0), *other = qg_arg(b.ir, "other", 0), *mask = NULL;
    assert_ptr_equal(qg_four_codes(four_of(&b, word, word, 8, 0xF000F, 0xF000F), &mask), word);
    assert_int_equal(mask->integer, 0xF000F);
    assert_null(qg_four_codes(four_of(&b, word, word, 7, 0xF000F, 0xF000F), &mask));
    assert_null(qg_four_codes(four_of(&b, word, word, 8, 0xF000F, 0x7000F), &mask));
    assert_null(qg_four_codes(four_of(&b, word, other, 8, 0xF000F, 0xF000F), &mask));
    qg_arena_free(b.arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distribute),      cmocka_unit_test(test_distribute_integers),
        cmocka_unit_test(test_in_place),        cmocka_unit_test(test_scales),
        cmocka_unit_test(test_loaded_bytes),    cmocka_unit_test(test_two),
        cmocka_unit_test(test_begin),           cmocka_unit_test(test_factor),
        cmocka_unit_test(test_factors),         cmocka_unit_test(test_choice),
        cmocka_unit_test(test_no_choice),       cmocka_unit_test(test_collect),
        cmocka_unit_test(test_halves),          cmocka_unit_test(test_no_halves),
        cmocka_unit_test(test_all_fields),      cmocka_unit_test(test_merge),
        cmocka_unit_test(test_all_merges),      cmocka_unit_test(test_merged_twice),
        cmocka_unit_test(test_bytes),           cmocka_unit_test(test_bias),
        cmocka_unit_test(test_factors_of_runs), cmocka_unit_test(test_bias_of_runs),
        cmocka_unit_test(test_typed),           cmocka_unit_test(test_nans),
        cmocka_unit_test(test_four_codes),      cmocka_unit_test(test_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
