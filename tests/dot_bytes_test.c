/* The rules for sums over rows in integers, one by one: what they make of IR that is built by hand, as text and as numbers,
 * which are exactly those of the plain sum, and that they leave alone what they do not hold for. */
#include "byte_sums.h"

/* ---- pairs ------------------------------------------------------------------------------------------------------- */

static void check_pairs(bool pairs, const char *upper, const char *scale, const char *expected) {
    const bench b = bench_new();
    b.ir->pairs = pairs;
    const qg_node *runs[] = {times(&b, half(&b, "d"), to_float(&b, nibble_levels(&b, "w", 0))),
                             times(&b, half(&b, scale), to_float(&b, nibble_levels(&b, upper, 4)))};
    check_runs(b, 2, runs, expected);
}

/* Both halves of a word's bytes, below one scale; and where they are not, or there is no table of pairs, one by one. */
static void test_pairs(void **state) {
    (void)state;
    check_pairs(true, "w", "d",
                "uint bytes0 = levels_pairs(w);\n"
                "uint bytes1 = levels_pairs(w >> 16u);\n"
                "dots0: dot4(bytes0, kept_word(k, m, digit * 2u)) + dot4(bytes1, kept_word(k, m, digit * 2u + 1u))\n"
                "unpackHalf2x16(d).x * (x_step(k, m, 0u) * dots0)\n"
                "quad 0: 0 1 4 5\n"
                "quad 1: 2 3 6 7");
    check_pairs(false, "w", "d",
                "uint bytes0 = (uint(levels[((uvec4(w) >> uvec4(0, 8, 16, 24)) & 15u).x]) & 0xFFu) |"
                " ((uint(levels[((uvec4(w) >> uvec4(0, 8, 16, 24)) & 15u).y]) & 0xFFu) << 8u) |"
                " ((uint(levels[((uvec4(w) >> uvec4(0, 8, 16, 24)) & 15u).z]) & 0xFFu) << 16u) |"
                " (uint(levels[((uvec4(w) >> uvec4(0, 8, 16, 24)) & 15u).w]) << 24u);\n"
                "uint bytes1 = (uint(levels[((uvec4(w) >> uvec4(4, 12, 20, 28)) & 15u).x]) & 0xFFu) |"
                " ((uint(levels[((uvec4(w) >> uvec4(4, 12, 20, 28)) & 15u).y]) & 0xFFu) << 8u) |"
                " ((uint(levels[((uvec4(w) >> uvec4(4, 12, 20, 28)) & 15u).z]) & 0xFFu) << 16u) |"
                " (uint(levels[((uvec4(w) >> uvec4(4, 12, 20, 28)) & 15u).w]) << 24u);\n"
                "dots0: dot4(bytes0, kept_word(k, m, digit * 2u)) + dot4(bytes1, kept_word(k, m, digit * 2u + 1u))\n"
                "unpackHalf2x16(d).x * (x_step(k, m, 0u) * dots0)");
    check_pairs(true, "v", "d",
                "uint bytes0 = (uint(levels[((uvec4(w) >> uvec4(0, 8, 16, 24)) & 15u).x]) & 0xFFu) |"
                " ((uint(levels[((uvec4(w) >> uvec4(0, 8, 16, 24)) & 15u).y]) & 0xFFu) << 8u) |"
                " ((uint(levels[((uvec4(w) >> uvec4(0, 8, 16, 24)) & 15u).z]) & 0xFFu) << 16u) |"
                " (uint(levels[((uvec4(w) >> uvec4(0, 8, 16, 24)) & 15u).w]) << 24u);\n"
                "uint bytes1 = (uint(levels[((uvec4(v) >> uvec4(4, 12, 20, 28)) & 15u).x]) & 0xFFu) |"
                " ((uint(levels[((uvec4(v) >> uvec4(4, 12, 20, 28)) & 15u).y]) & 0xFFu) << 8u) |"
                " ((uint(levels[((uvec4(v) >> uvec4(4, 12, 20, 28)) & 15u).z]) & 0xFFu) << 16u) |"
                " (uint(levels[((uvec4(v) >> uvec4(4, 12, 20, 28)) & 15u).w]) << 24u);\n"
                "dots0: dot4(bytes0, kept_word(k, m, digit * 2u)) + dot4(bytes1, kept_word(k, m, digit * 2u + 1u))\n"
                "unpackHalf2x16(d).x * (x_step(k, m, 0u) * dots0)");
    check_pairs(true, "w", "e",
                "uint bytes0 = (uint(levels[((uvec4(w) >> uvec4(0, 8, 16, 24)) & 15u).x]) & 0xFFu) |"
                " ((uint(levels[((uvec4(w) >> uvec4(0, 8, 16, 24)) & 15u).y]) & 0xFFu) << 8u) |"
                " ((uint(levels[((uvec4(w) >> uvec4(0, 8, 16, 24)) & 15u).z]) & 0xFFu) << 16u) |"
                " (uint(levels[((uvec4(w) >> uvec4(0, 8, 16, 24)) & 15u).w]) << 24u);\n"
                "uint bytes1 = (uint(levels[((uvec4(w) >> uvec4(4, 12, 20, 28)) & 15u).x]) & 0xFFu) |"
                " ((uint(levels[((uvec4(w) >> uvec4(4, 12, 20, 28)) & 15u).y]) & 0xFFu) << 8u) |"
                " ((uint(levels[((uvec4(w) >> uvec4(4, 12, 20, 28)) & 15u).z]) & 0xFFu) << 16u) |"
                " (uint(levels[((uvec4(w) >> uvec4(4, 12, 20, 28)) & 15u).w]) << 24u);\n"
                "dots0: dot4(bytes0, kept_word(k, m, digit * 2u))\n"
                "dots1: dot4(bytes1, kept_word(k, m, digit * 2u + 1u))\n"
                "unpackHalf2x16(d).x * (x_step(k, m, 0u) * dots0) + unpackHalf2x16(e).x * (x_step(k, m, 0u) * dots1)");
}

/* ---- planes ------------------------------------------------------------------------------------------------------ */

static void check_planes(uint32_t width, const char *expected) {
    const bench b = bench_new();
    const qg_node *runs[8];
    for (uint32_t r = 0; r < 8 / width; ++r)
        runs[r] = times(&b, half(&b, "d"), to_float(&b, every(&b, "w", 4 * width * r, width, width)));
    check_runs(b, 8 / width, runs, expected);
}

static void test_planes(void **state) {
    (void)state;
    check_planes(4,
                 "uint bytes0 = w & 0xF0F0F0Fu;\n"
                 "uint bytes1 = (w >> 4u) & 0xF0F0F0Fu;\n"
                 "dots0: dot4(bytes0, kept_word(k, m, digit * 2u)) + dot4(bytes1, kept_word(k, m, digit * 2u + 1u))\n"
                 "unpackHalf2x16(d).x * (x_step(k, m, 0u) * dots0)\n"
                 "quad 0: 0 2 4 6\nquad 1: 1 3 5 7");
    check_planes(2, "uint bytes0 = w & 0x3030303u;\n"
                    "uint bytes1 = (w >> 2u) & 0x3030303u;\n"
                    "uint bytes2 = (w >> 4u) & 0x3030303u;\n"
                    "uint bytes3 = (w >> 6u) & 0x3030303u;\n"
                    "dots0: dot4(bytes0, x[k][m][digit].x) + dot4(bytes1, x[k][m][digit].y) +"
                    " dot4(bytes2, x[k][m][digit].z) + dot4(bytes3, x[k][m][digit].w)\n"
                    "unpackHalf2x16(d).x * (x_step(k, m, 0u) * dots0)\n"
                    "quad 0: 0 4 8 12\nquad 1: 1 5 9 13\nquad 2: 2 6 10 14\nquad 3: 3 7 11 15");
    check_planes(1, "uint bytes0 = w & 0x1010101u;\n"
                    "uint bytes1 = (w >> 1u) & 0x1010101u;\n"
                    "uint bytes2 = (w >> 2u) & 0x1010101u;\n"
                    "uint bytes3 = (w >> 3u) & 0x1010101u;\n"
                    "uint bytes4 = (w >> 4u) & 0x1010101u;\n"
                    "uint bytes5 = (w >> 5u) & 0x1010101u;\n"
                    "uint bytes6 = (w >> 6u) & 0x1010101u;\n"
                    "uint bytes7 = (w >> 7u) & 0x1010101u;\n"
                    "dots0: dot4(bytes0, x[k][m][digit * 2u].x) + dot4(bytes1, x[k][m][digit * 2u].y) +"
                    " dot4(bytes2, x[k][m][digit * 2u].z) + dot4(bytes3, x[k][m][digit * 2u].w) + dot4(bytes4,"
                    " x[k][m][digit * 2u + 1u].x) + dot4(bytes5, x[k][m][digit * 2u + 1u].y) + dot4(bytes6, "
                    "x[k][m][digit * 2u + 1u].z)"
                    " + dot4(bytes7, x[k][m][digit * 2u + 1u].w)\n"
                    "unpackHalf2x16(d).x * (x_step(k, m, 0u) * dots0)\n"
                    "quad 0: 0 8 16 24\nquad 1: 1 9 17 25\nquad 2: 2 10 18 26\nquad 3: 3 11 19 27\n"
                    "quad 4: 4 12 20 28\nquad 5: 5 13 21 29\nquad 6: 6 14 22 30\nquad 7: 7 15 23 31");
    bench b = bench_new(); /* runs in another order, with a bias, which meets the sum of digits */
    const qg_node *runs[2];
    for (uint32_t r = 0; r < 2; ++r)
        runs[r] = times(&b, half(&b, "d"), to_float(&b, minus(&b, every(&b, "w", 16 - 16 * r, 4, 4), 8)));
    check_runs(b, 2, runs,
               "uint bytes0 = w & 0xF0F0F0Fu;\n"
               "uint bytes1 = (w >> 4u) & 0xF0F0F0Fu;\n"
               "dots0: dot4(bytes0, kept_word(k, m, digit * 2u)) + dot4(bytes1, kept_word(k, m, digit * 2u + 1u)) - 8 *"
               " x_digits(k, m, digit, 0u)\n"
               "unpackHalf2x16(d).x * (x_step(k, m, 0u) * dots0)\n"
               "quad 0: 4 6 0 2\nquad 1: 5 7 1 3\ndigits 0: runs 0x3");
}

static void test_no_planes(void **state) {
    (void)state;
    bench b = bench_new(); /* half a word */
    check(b, to_float(&b, every(&b, "w", 16, 4, 4)),
          "uint run = w >> 16u;\n"
          "uint pairs = (run & 0xFFu) | ((run & 65280u) << 8u);\n"
          "uint bytes = (pairs & 0xF000Fu) | ((pairs & 0xF000F0u) << 4u);\n"
          "dots0: dot4(bytes, kept_word(k, m, digit * 1u))\n"
          "x_step(k, m, 0u) * dots0");
    b = bench_new(); /* a scale for each half */
    const qg_node *runs[2];
    for (uint32_t r = 0; r < 2; ++r)
        runs[r] = times(&b, half(&b, r ? "d" : "e"), to_float(&b, every(&b, "w", 16 * r, 4, 4)));
    check_runs(b, 2, runs,
               "uint pairs0 = (w & 0xFFu) | ((w & 65280u) << 8u);\n"
               "uint bytes0 = (pairs0 & 0xF000Fu) | ((pairs0 & 0xF000F0u) << 4u);\n"
               "uint run = w >> 16u;\n"
               "uint pairs1 = (run & 0xFFu) | ((run & 65280u) << 8u);\n"
               "uint bytes1 = (pairs1 & 0xF000Fu) | ((pairs1 & 0xF000F0u) << 4u);\n"
               "dots0: dot4(bytes0, kept_word(k, m, digit * 2u))\n"
               "dots1: dot4(bytes1, kept_word(k, m, digit * 2u + 1u))\n"
               "unpackHalf2x16(e).x * (x_step(k, m, 0u) * dots0) + unpackHalf2x16(d).x * (x_step(k, m, 0u) * dots1)");
    b = bench_new(); /* an integer for each half */
    for (uint32_t r = 0; r < 2; ++r)
        runs[r] = times(&b, to_float(&b, qg_arg(b.ir, r ? "n" : "p", 64)), to_float(&b, every(&b, "w", 16 * r, 4, 4)));
    check_runs(b, 2, runs,
               "uint pairs0 = (w & 0xFFu) | ((w & 65280u) << 8u);\n"
               "uint bytes0 = (pairs0 & 0xF000Fu) | ((pairs0 & 0xF000F0u) << 4u);\n"
               "uint run = w >> 16u;\n"
               "uint pairs1 = (run & 0xFFu) | ((run & 65280u) << 8u);\n"
               "uint bytes1 = (pairs1 & 0xF000Fu) | ((pairs1 & 0xF000F0u) << 4u);\n"
               "dots0: int(p) * dot4(bytes0, kept_word(k, m, digit * 2u)) + int(n) * dot4(bytes1,"
               " kept_word(k, m, digit * 2u + 1u))\n"
               "x_step(k, m, 0u) * dots0");
    b = bench_new(); /* a coefficient for each half */
    for (uint32_t r = 0; r < 2; ++r)
        runs[r] = times(&b, qg_real(b.ir, r ? 3 : 1), to_float(&b, every(&b, "w", 16 * r, 4, 4)));
    check_runs(b, 2, runs,
               "uint pairs0 = (w & 0xFFu) | ((w & 65280u) << 8u);\n"
               "uint bytes0 = (pairs0 & 0xF000Fu) | ((pairs0 & 0xF000F0u) << 4u);\n"
               "uint run = w >> 16u;\n"
               "uint pairs1 = (run & 0xFFu) | ((run & 65280u) << 8u);\n"
               "uint bytes1 = (pairs1 & 0xF000Fu) | ((pairs1 & 0xF000F0u) << 4u);\n"
               "dots0: dot4(bytes0, kept_word(k, m, digit * 2u)) + 3 * dot4(bytes1, kept_word(k, m, digit * 2u + 1u))\n"
               "x_step(k, m, 0u) * dots0");
    b = bench_new(); /* one of the halves is of two bits */
    for (uint32_t r = 0; r < 2; ++r) runs[r] = to_float(&b, every(&b, "w", 16 * r, 4, r ? 4 : 2));
    check_runs(b, 2, runs,
               "uint pairs0 = (w & 51u) | ((w & 13056u) << 8u);\n"
               "uint bytes0 = (pairs0 & 0x30003u) | ((pairs0 & 0x300030u) << 4u);\n"
               "uint run = w >> 16u;\n"
               "uint pairs1 = (run & 0xFFu) | ((run & 65280u) << 8u);\n"
               "uint bytes1 = (pairs1 & 0xF000Fu) | ((pairs1 & 0xF000F0u) << 4u);\n"
               "dots0: dot4(bytes0, kept_word(k, m, digit * 2u)) + dot4(bytes1, kept_word(k, m, digit * 2u + 1u))\n"
               "x_step(k, m, 0u) * dots0");
    b = bench_new();
    for (uint32_t r = 0; r < 2; ++r) runs[r] = to_float(&b, every(&b, "w", 16 * r, 4, r ? 2 : 4));
    check_runs(b, 2, runs,
               "uint pairs0 = (w & 0xFFu) | ((w & 65280u) << 8u);\n"
               "uint bytes0 = (pairs0 & 0xF000Fu) | ((pairs0 & 0xF000F0u) << 4u);\n"
               "uint run = w >> 16u;\n"
               "uint pairs1 = (run & 51u) | ((run & 13056u) << 8u);\n"
               "uint bytes1 = (pairs1 & 0x30003u) | ((pairs1 & 0x300030u) << 4u);\n"
               "dots0: dot4(bytes0, kept_word(k, m, digit * 2u)) + dot4(bytes1, kept_word(k, m, digit * 2u + 1u))\n"
               "x_step(k, m, 0u) * dots0");
    qg_plane plane;
    b = bench_new(); /* in place, of three bits, between the places of its width, eight bits */
    assert_true(qg_as_plane(b.ir, to_float(&b, every(&b, "w", 4, 4, 4)), &plane));
    assert_false(qg_as_plane(b.ir, to_float(&b, every(&b, "w", 4, 8, 4)), &plane));
    assert_false(qg_as_plane(b.ir, to_float(&b, every(&b, "w", 3, 3, 3)), &plane));
    assert_false(qg_as_plane(b.ir, to_float(&b, every(&b, "w", 2, 4, 4)), &plane));
    assert_false(qg_as_plane(b.ir, to_float(&b, every(&b, "w", 0, 4, 8)), &plane));
    assert_false(qg_as_plane(b.ir, to_float(&b, integers(&b, "q", 4)), &plane));
    qg_arena_free(b.arena);
}

/* Halves of two words, whichever they are, are planes of one. */
static void check_halves(uint32_t width, uint32_t low_from, uint32_t high_from, const char *expected) {
    const bench b = bench_new();
    const qg_node *runs[8];
    for (uint32_t r = 0; r < 8 / width; ++r) {
        const bool low = r < 4 / width;
        const uint32_t from = low ? low_from + 4 * width * r : high_from + 4 * width * r - 16;
        runs[r] = times(&b, half(&b, "d"), to_float(&b, every(&b, low ? "v" : "w", from, width, width)));
    }
    check_runs(b, 8 / width, runs, expected);
}

static void test_halves(void **state) {
    (void)state;
    check_halves(4, 16, 0,
                 "uint run = (v >> 16u) | (w << 16u);\n"
                 "uint bytes0 = run & 0xF0F0F0Fu;\n"
                 "uint bytes1 = (run >> 4u) & 0xF0F0F0Fu;\n"
                 "dots0: dot4(bytes0, kept_word(k, m, digit * 2u)) + dot4(bytes1, kept_word(k, m, digit * 2u + 1u))\n"
                 "unpackHalf2x16(d).x * (x_step(k, m, 0u) * dots0)\n"
                 "quad 0: 0 2 4 6\n"
                 "quad 1: 1 3 5 7");
    check_halves(4, 0, 16,
                 "uint run = (v & 0xFFFFu) | (w & 0xFFFF0000u);\n"
                 "uint bytes0 = run & 0xF0F0F0Fu;\n"
                 "uint bytes1 = (run >> 4u) & 0xF0F0F0Fu;\n"
                 "dots0: dot4(bytes0, kept_word(k, m, digit * 2u)) + dot4(bytes1, kept_word(k, m, digit * 2u + 1u))\n"
                 "unpackHalf2x16(d).x * (x_step(k, m, 0u) * dots0)\n"
                 "quad 0: 0 2 4 6\n"
                 "quad 1: 1 3 5 7");
    check_halves(4, 0, 0,
                 "uint run = (v & 0xFFFFu) | (w << 16u);\n"
                 "uint bytes0 = run & 0xF0F0F0Fu;\n"
                 "uint bytes1 = (run >> 4u) & 0xF0F0F0Fu;\n"
                 "dots0: dot4(bytes0, kept_word(k, m, digit * 2u)) + dot4(bytes1, kept_word(k, m, digit * 2u + 1u))\n"
                 "unpackHalf2x16(d).x * (x_step(k, m, 0u) * dots0)\n"
                 "quad 0: 0 2 4 6\n"
                 "quad 1: 1 3 5 7");
    check_halves(4, 16, 16,
                 "uint run = (v >> 16u) | (w & 0xFFFF0000u);\n"
                 "uint bytes0 = run & 0xF0F0F0Fu;\n"
                 "uint bytes1 = (run >> 4u) & 0xF0F0F0Fu;\n"
                 "dots0: dot4(bytes0, kept_word(k, m, digit * 2u)) + dot4(bytes1, kept_word(k, m, digit * 2u + 1u))\n"
                 "unpackHalf2x16(d).x * (x_step(k, m, 0u) * dots0)\n"
                 "quad 0: 0 2 4 6\n"
                 "quad 1: 1 3 5 7");
    check_halves(2, 16, 0,
                 "uint run = (v >> 16u) | (w << 16u);\n"
                 "uint bytes0 = run & 0x3030303u;\n"
                 "uint bytes1 = (run >> 2u) & 0x3030303u;\n"
                 "uint bytes2 = (run >> 4u) & 0x3030303u;\n"
                 "uint bytes3 = (run >> 6u) & 0x3030303u;\n"
                 "dots0: dot4(bytes0, x[k][m][digit].x) + dot4(bytes1, x[k][m][digit].y) + "
                 "dot4(bytes2, x[k][m][digit].z) + dot4(bytes3, x[k][m][digit].w)\n"
                 "unpackHalf2x16(d).x * (x_step(k, m, 0u) * dots0)\n"
                 "quad 0: 0 4 8 12\n"
                 "quad 1: 1 5 9 13\n"
                 "quad 2: 2 6 10 14\n"
                 "quad 3: 3 7 11 15");
}

static void test_no_halves(void **state) {
    (void)state;
    bench b = bench_new(); /* codes of the upper half's products in the lower one, which is not full */
    static const uint32_t shifts[][4] = {
        {16, 18, 20, 22}, {24, 26, 28, 0}, {30, 2, 4, 6}, {0, 2, 4, 6}, {8, 10, 12, 14}};
    const qg_node *runs[8];
    for (uint32_t r = 0; r < 5; ++r) runs[r] = to_float(&b, fields(&b, word(&b, r < 3 ? "w" : "v"), 4, shifts[r], 2));
    check_runs(b, 5, runs,
               "uint run0 = w >> 16u;\n"
               "uint pairs0 = (run0 & 15u) | ((run0 & 240u) << 12u);\n"
               "uint bytes0 = (pairs0 & 0x30003u) | ((pairs0 & 0xC000Cu) << 6u);\n"
               "uint bytes1 = ((w >> 24u) & 3u) | ((w >> 18u) & 768u) | ((w >> 12u) & 0x30000u) | ((w & 3u) << 24u);\n"
               "uint bytes2 = (w >> 30u) | ((w << 6u) & 768u) | ((w << 12u) & 0x30000u) | ((w << 18u) & 0x3000000u);\n"
               "uint pairs1 = (v & 15u) | ((v & 240u) << 12u);\n"
               "uint bytes3 = (pairs1 & 0x30003u) | ((pairs1 & 0xC000Cu) << 6u);\n"
               "uint run1 = v >> 8u;\n"
               "uint pairs2 = (run1 & 15u) | ((run1 & 240u) << 12u);\n"
               "uint bytes4 = (pairs2 & 0x30003u) | ((pairs2 & 0xC000Cu) << 6u);\n"
               "dots0: dot4(bytes0, kept_word(k, m, digit * 5u)) + dot4(bytes1, kept_word(k, m, digit * 5u + 1u)) + "
               "dot4(bytes2, "
               "kept_word(k, m, digit * 5u + 2u)) + dot4(bytes3, kept_word(k, m, digit * 5u + 3u)) + dot4(bytes4, "
               "kept_word(k, m, digit * 5u + 4u))\n"
               "x_step(k, m, 0u) * dots0");
    b = bench_new(); /* a scale for each word */
    for (uint32_t r = 0; r < 2; ++r)
        runs[r] = times(&b, half(&b, r ? "d" : "e"), to_float(&b, every(&b, r ? "w" : "v", 16 - 16 * r, 4, 4)));
    check_runs(b, 2, runs,
               "uint run = v >> 16u;\n"
               "uint pairs0 = (run & 0xFFu) | ((run & 65280u) << 8u);\n"
               "uint bytes0 = (pairs0 & 0xF000Fu) | ((pairs0 & 0xF000F0u) << 4u);\n"
               "uint pairs1 = (w & 0xFFu) | ((w & 65280u) << 8u);\n"
               "uint bytes1 = (pairs1 & 0xF000Fu) | ((pairs1 & 0xF000F0u) << 4u);\n"
               "dots0: dot4(bytes0, kept_word(k, m, digit * 2u))\n"
               "dots1: dot4(bytes1, kept_word(k, m, digit * 2u + 1u))\n"
               "unpackHalf2x16(e).x * (x_step(k, m, 0u) * dots0) + unpackHalf2x16(d).x * (x_step(k, m, 0u) * dots1)");
    b = bench_new(); /* of two bits in one */
    for (uint32_t r = 0; r < 3; ++r)
        runs[r] = to_float(&b, every(&b, r ? "w" : "v", r ? 8 * r - 8 : 16, r ? 2 : 4, r ? 2 : 4));
    check_runs(b, 3, runs,
               "uint run0 = v >> 16u;\n"
               "uint pairs0 = (run0 & 0xFFu) | ((run0 & 65280u) << 8u);\n"
               "uint bytes0 = (pairs0 & 0xF000Fu) | ((pairs0 & 0xF000F0u) << 4u);\n"
               "uint pairs1 = (w & 15u) | ((w & 240u) << 12u);\n"
               "uint bytes1 = (pairs1 & 0x30003u) | ((pairs1 & 0xC000Cu) << 6u);\n"
               "uint run1 = w >> 8u;\n"
               "uint pairs2 = (run1 & 15u) | ((run1 & 240u) << 12u);\n"
               "uint bytes2 = (pairs2 & 0x30003u) | ((pairs2 & 0xC000Cu) << 6u);\n"
               "dots0: dot4(bytes0, kept_word(k, m, digit * 3u)) + dot4(bytes1, kept_word(k, m, digit * 3u + 1u)) + "
               "dot4(bytes2, "
               "kept_word(k, m, digit * 3u + 2u))\n"
               "x_step(k, m, 0u) * dots0");
}

/* Codes that several elements have: a word has a place for each code, not for each element. */
static void test_shared_codes(void **state) {
    (void)state;
    bench b = bench_new();
    const qg_node *runs[16];
    for (uint32_t r = 0; r < 4; ++r) { /* one for two neighbours */
        const uint32_t shifts[] = {8 * r, 8 * r, 8 * r + 4, 8 * r + 4};
        runs[r] = to_float(&b, fields(&b, word(&b, "w"), 4, shifts, 4));
    }
    check_runs(b, 4, runs,
               "uint bytes0 = (w & 15u) | ((w & 15u) << 8u) | ((w << 12u) & 0xF0000u) | ((w << 20u) & 0xF000000u);\n"
               "uint bytes1 = ((w >> 8u) & 15u) | (w & 3840u) | ((w << 4u) & 0xF0000u) | ((w << 12u) & 0xF000000u);\n"
               "uint bytes2 = ((w >> 16u) & 15u) | ((w >> 8u) & 3840u) | ((w >> 4u) & 0xF0000u) | ((w << 4u) &"
               " 0xF000000u);\n"
               "uint bytes3 = ((w >> 24u) & 15u) | ((w >> 16u) & 3840u) | ((w >> 28u) << 16u) | ((w >> 28u) << 24u);\n"
               "dots0: dot4(bytes0, x[k][m][digit].x) + dot4(bytes1, x[k][m][digit].y) +"
               " dot4(bytes2, x[k][m][digit].z) + dot4(bytes3, x[k][m][digit].w)\n"
               "x_step(k, m, 0u) * dots0");
    b = bench_new(); /* one for an element of either half */
    for (uint32_t r = 0; r < 4; ++r) runs[r] = to_float(&b, every(&b, "w", 16 * (r % 2), 4, 4));
    check_runs(b, 4, runs,
               "uint bytes0 = w & 0xF0F0F0Fu;\n"
               "uint bytes1 = (w >> 4u) & 0xF0F0F0Fu;\n"
               "dots0: dot4(bytes0, x[k][m][digit].x) + dot4(bytes1, x[k][m][digit].y) +"
               " dot4(bytes0, x[k][m][digit].z) + dot4(bytes1, x[k][m][digit].w)\n"
               "x_step(k, m, 0u) * dots0\n"
               "quad 0: 0 2 4 6\nquad 1: 1 3 5 7\nquad 2: 8 10 12 14\nquad 3: 9 11 13 15");
    b = bench_new(); /* a word twice, of which the first has a part more */
    for (uint32_t r = 0; r < 3; ++r) runs[r] = to_float(&b, every(&b, "w", r ? 16 * (r - 1) : 0, 4, 4));
    check_runs(b, 3, runs,
               "uint bytes0 = w & 0xF0F0F0Fu;\n"
               "uint bytes1 = (w >> 4u) & 0xF0F0F0Fu;\n"
               "uint pairs = (w & 0xFFu) | ((w & 65280u) << 8u);\n"
               "uint bytes2 = (pairs & 0xF000Fu) | ((pairs & 0xF000F0u) << 4u);\n"
               "dots0: dot4(bytes0, kept_word(k, m, digit * 3u)) + dot4(bytes1, kept_word(k, m, digit * 3u + 1u)) +"
               " dot4(bytes2, kept_word(k, m, digit * 3u + 2u))\n"
               "x_step(k, m, 0u) * dots0\n"
               "quad 0: 0 2 8 10\nquad 1: 1 3 9 11\nquad 2: 4 5 6 7");
}

/* ---- whole ------------------------------------------------------------------------------------------------------- */

static void test_whole(void **state) {
    (void)state;
    bench b = bench_new(); /* two integers below one scale */
    const qg_node *runs[2];
    for (uint32_t r = 0; r < 2; ++r)
        runs[r] = times(&b, times(&b, half(&b, "d"), whole(&b, r ? "p" : "n", 64)),
                        to_float(&b, every(&b, r ? "v" : "w", 0, 8, 4)));
    check_runs(b, 2, runs,
               "uint bytes0 = w & 0xF0F0F0Fu;\n"
               "uint bytes1 = v & 0xF0F0F0Fu;\n"
               "dots0: int(n) * dot4(bytes0, kept_word(k, m, digit * 2u)) + int(p) * dot4(bytes1,"
               " kept_word(k, m, digit * 2u + 1u))\n"
               "unpackHalf2x16(d).x * (x_step(k, m, 0u) * dots0)");
    b = bench_new(); /* with signs, and a bias below them */
    for (uint32_t r = 0; r < 2; ++r)
        runs[r] =
            times(&b, times(&b, half(&b, "d"), to_float(&b, qg_sign_extend(b.ir, qg_arg(b.ir, r ? "p" : "n", 256), 8))),
                  to_float(&b, minus(&b, every(&b, r ? "v" : "w", 0, 8, 6), 32)));
    check_runs(b, 2, runs,
               "uint bytes0 = w & 0x3F3F3F3Fu;\n"
               "uint bytes1 = v & 0x3F3F3F3Fu;\n"
               "dots0: bitfieldExtract(int(n), 0, 8) * (dot4(bytes0, kept_word(k, m, digit * 2u)) - 32 *"
               " x_digits(k, m, digit, 0u)) + bitfieldExtract(int(p), 0, 8) * (dot4(bytes1,"
               " kept_word(k, m, digit * 2u + 1u)) - 32 * x_digits(k, m, digit, 1u))\n"
               "unpackHalf2x16(d).x * (x_step(k, m, 0u) * dots0)\n"
               "digits 0: runs 0x1\ndigits 1: runs 0x2");
    b = bench_new(); /* below the conversion */
    check(b, to_float(&b, times(&b, every(&b, "w", 0, 8, 4), qg_arg(b.ir, "n", 16))),
          "uint bytes = w & 0xF0F0F0Fu;\n"
          "dots0: int(n) * dot4(bytes, kept_word(k, m, digit * 1u))\n"
          "x_step(k, m, 0u) * dots0");
    b = bench_new(); /* two integers: one of them stays */
    check(b, times(&b, whole(&b, "n", 16), times(&b, whole(&b, "p", 16), to_float(&b, every(&b, "w", 0, 8, 4)))),
          "uint bytes = w & 0xF0F0F0Fu;\n"
          "dots0: int(n) * dot4(bytes, kept_word(k, m, digit * 1u))\n"
          "float(p) * (x_step(k, m, 0u) * dots0)");
    b = bench_new(); /* up to 256 */
    check(b, times(&b, whole(&b, "n", 257), to_float(&b, every(&b, "w", 0, 8, 4))),
          "uint bytes = w & 0xF0F0F0Fu;\n"
          "dots0: int(n) * dot4(bytes, kept_word(k, m, digit * 1u))\n"
          "x_step(k, m, 0u) * dots0");
    b = bench_new();
    check(b, times(&b, whole(&b, "n", 258), to_float(&b, every(&b, "w", 0, 8, 4))),
          "uint bytes = w & 0xF0F0F0Fu;\n"
          "dots0: dot4(bytes, kept_word(k, m, digit * 1u))\n"
          "float(n) * (x_step(k, m, 0u) * dots0)");
    b = bench_new(); /* a scale of two factors */
    check(b, times(&b, times(&b, half(&b, "d"), half(&b, "e")), to_float(&b, every(&b, "w", 0, 8, 4))),
          "uint bytes = w & 0xF0F0F0Fu;\n"
          "dots0: dot4(bytes, kept_word(k, m, digit * 1u))\n"
          "unpackHalf2x16(d).x * unpackHalf2x16(e).x * (x_step(k, m, 0u) * dots0)");
}

/* Minima: below the same scale and integer they are of the sum, else they are not. */
static void test_minima(void **state) {
    (void)state;
    bench b = bench_new();
    const qg_node *codes = to_float(&b, every(&b, "w", 0, 8, 4));
    check(b, times(&b, half(&b, "d"), apply(&b, QG_ADD, codes, qg_real(b.ir, -7))),
          "uint bytes = w & 0xF0F0F0Fu;\n"
          "dots0: dot4(bytes, kept_word(k, m, digit * 1u)) - 7 * x_digits(k, m, digit, 0u)\n"
          "unpackHalf2x16(d).x * (x_step(k, m, 0u) * dots0)\n"
          "digits 0: runs 0x1");
    b = bench_new(); /* not an integer, too large, or of another scale */
    codes = to_float(&b, every(&b, "w", 0, 8, 4));
    check(b, times(&b, half(&b, "d"), apply(&b, QG_ADD, codes, qg_real(b.ir, -7.25f))),
          "uint bytes = w & 0xF0F0F0Fu;\n"
          "dots0: dot4(bytes, kept_word(k, m, digit * 1u))\n"
          "unpackHalf2x16(d).x * (x_step(k, m, 0u) * dots0) - unpackHalf2x16(d).x * (7.25 * x_sum(k, m, 0u))\n"
          "sum 0: runs 0x1");
    b = bench_new();
    codes = to_float(&b, every(&b, "w", 0, 8, 4));
    check(b, times(&b, half(&b, "d"), apply(&b, QG_ADD, codes, qg_real(b.ir, 257))),
          "uint bytes = w & 0xF0F0F0Fu;\n"
          "dots0: dot4(bytes, kept_word(k, m, digit * 1u))\n"
          "unpackHalf2x16(d).x * (x_step(k, m, 0u) * dots0) + unpackHalf2x16(d).x * (257.0 * x_sum(k, m, 0u))\n"
          "sum 0: runs 0x1");
    b = bench_new();
    codes = to_float(&b, every(&b, "w", 0, 8, 4));
    check(b,
          apply(&b, QG_SUB, times(&b, times(&b, half(&b, "d"), whole(&b, "n", 64)), codes),
                times(&b, half(&b, "e"), whole(&b, "p", 64))),
          "uint bytes = w & 0xF0F0F0Fu;\n"
          "dots0: int(n) * dot4(bytes, kept_word(k, m, digit * 1u))\n"
          "unpackHalf2x16(d).x * (x_step(k, m, 0u) * dots0) - unpackHalf2x16(e).x * float(p) * x_sum(k, m, 0u)\n"
          "sum 0: runs 0x1");
    b = bench_new(); /* of the same scale, with another integer */
    codes = to_float(&b, every(&b, "w", 0, 8, 4));
    check(b,
          apply(&b, QG_SUB, times(&b, times(&b, half(&b, "d"), whole(&b, "n", 64)), codes),
                times(&b, half(&b, "d"), whole(&b, "p", 64))),
          "uint bytes = w & 0xF0F0F0Fu;\n"
          "dots0: int(n) * dot4(bytes, kept_word(k, m, digit * 1u))\n"
          "unpackHalf2x16(d).x * (x_step(k, m, 0u) * dots0) - unpackHalf2x16(d).x * float(p) * x_sum(k, m, 0u)\n"
          "sum 0: runs 0x1");
    b = bench_new(); /* the same one twice */
    codes = to_float(&b, every(&b, "w", 0, 8, 4));
    const qg_node *less = apply(&b, QG_SUB, codes, qg_real(b.ir, 8));
    check(b, times(&b, half(&b, "d"), apply(&b, QG_SUB, less, qg_real(b.ir, 8))),
          "uint bytes = w & 0xF0F0F0Fu;\n"
          "dots0: dot4(bytes, kept_word(k, m, digit * 1u)) - 8 * x_digits(k, m, digit, 0u) - 8 *"
          " x_digits(k, m, digit, 0u)\n"
          "unpackHalf2x16(d).x * (x_step(k, m, 0u) * dots0)\n"
          "digits 0: runs 0x1");
    b = bench_new();
    codes = to_float(&b, every(&b, "w", 0, 8, 4));
    check(b, apply(&b, QG_SUB, apply(&b, QG_SUB, codes, half(&b, "d")), half(&b, "d")),
          "uint bytes = w & 0xF0F0F0Fu;\n"
          "dots0: dot4(bytes, kept_word(k, m, digit * 1u))\n"
          "x_step(k, m, 0u) * dots0 - unpackHalf2x16(d).x * (x_sum(k, m, 0u) + x_sum(k, m, 0u))\n"
          "sum 0: runs 0x1");
}

static void test_coefficients(void **state) {
    (void)state;
    bench b = bench_new();
    check(b, times(&b, qg_real(b.ir, 3), to_float(&b, every(&b, "w", 0, 8, 4))),
          "uint bytes = w & 0xF0F0F0Fu;\n"
          "dots0: 3 * dot4(bytes, kept_word(k, m, digit * 1u))\n"
          "x_step(k, m, 0u) * dots0");
    b = bench_new();
    check(b, times(&b, qg_real(b.ir, -3), to_float(&b, minus(&b, every(&b, "w", 0, 8, 4), 5))),
          "uint bytes = w & 0xF0F0F0Fu;\n"
          "dots0: 15 * x_digits(k, m, digit, 0u) - 3 * dot4(bytes, kept_word(k, m, digit * 1u))\n"
          "x_step(k, m, 0u) * dots0\n"
          "digits 0: runs 0x1");
    b = bench_new(); /* powers of two are exact in the scale */
    check(b, times(&b, qg_real(b.ir, -0.25f), to_float(&b, every(&b, "w", 0, 8, 4))),
          "uint bytes = w & 0xF0F0F0Fu;\n"
          "dots0: -dot4(bytes, kept_word(k, m, digit * 1u))\n"
          "0.25 * (x_step(k, m, 0u) * dots0)");
    b = bench_new();
    check(b, times(&b, half(&b, "d"), times(&b, qg_real(b.ir, 512), to_float(&b, every(&b, "w", 0, 8, 4)))),
          "uint bytes = w & 0xF0F0F0Fu;\n"
          "dots0: dot4(bytes, kept_word(k, m, digit * 1u))\n"
          "unpackHalf2x16(d).x * 512.0 * (x_step(k, m, 0u) * dots0)");
    b = bench_new(); /* of either sign */
    const qg_node *runs[2];
    for (uint32_t r = 0; r < 2; ++r)
        runs[r] = times(&b, qg_real(b.ir, r ? 2 : -1), to_float(&b, every(&b, r ? "v" : "w", 0, 8, 4)));
    check_runs(b, 2, runs,
               "uint bytes0 = v & 0xF0F0F0Fu;\n"
               "uint bytes1 = w & 0xF0F0F0Fu;\n"
               "dots0: 2 * dot4(bytes0, kept_word(k, m, digit * 2u + 1u)) - dot4(bytes1, kept_word(k, m, digit * 2u))\n"
               "x_step(k, m, 0u) * dots0");
    static const float others[] = {1.5f, 257.0f, 0.1f, -300.0f};
    for (uint32_t i = 0; i < sizeof others / sizeof *others; ++i) {
        b = bench_new();
        refuse(b, times(&b, qg_real(b.ir, others[i]), to_float(&b, every(&b, "w", 0, 8, 4))));
    }
    b = bench_new(); /* beyond what floats hold */
    const qg_node *most = qg_real(b.ir, 3e38f);
    refuse(b, times(&b, most, times(&b, most, to_float(&b, every(&b, "w", 0, 8, 4)))));
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

/* Below one scale the sums of each step by themselves; a word whose codes are of two steps is not shared. */
static void test_steps(void **state) {
    (void)state;
    const bench b = bench_new();
    const qg_node *runs[9];
    for (uint32_t r = 0; r < 9; ++r) {
        const qg_node *codes = r < 7 ? every(&b, "v", 0, 8, 8) : every(&b, "w", 16 * (r - 7), 4, 4);
        runs[r] = times(&b, half(&b, "d"), to_float(&b, codes));
    }
    check_runs(
        b, 9, runs,
        "uint pairs0 = (w & 0xFFu) | ((w & 65280u) << 8u);\n"
        "uint bytes0 = (pairs0 & 0xF000Fu) | ((pairs0 & 0xF000F0u) << 4u);\n"
        "uint run = w >> 16u;\n"
        "uint pairs1 = (run & 0xFFu) | ((run & 65280u) << 8u);\n"
        "uint bytes1 = (pairs1 & 0xF000Fu) | ((pairs1 & 0xF000F0u) << 4u);\n"
        "dots0: dot4_unsigned(v, kept_word(k, m, digit * 9u)) + dot4_unsigned(v, kept_word(k, m, digit * 9u + "
        "1u)) + dot4_unsigned(v, kept_word(k, m, digit * 9u + 2u)) + dot4_unsigned(v,"
        " kept_word(k, m, digit * 9u + 3u)) + dot4_unsigned(v, kept_word(k, m, digit * 9u + 4u)) + "
        "dot4_unsigned(v, kept_word(k, m, digit * 9u + 5u)) + dot4_unsigned(v,"
        " kept_word(k, m, digit * 9u + 6u)) + dot4(bytes0, kept_word(k, m, digit * 9u + 7u))\n"
        "dots1: dot4(bytes1, kept_word(k, m, digit * 9u + 8u))\n"
        "unpackHalf2x16(d).x * (DIGITS > 1u ? x_step(k, m, 0u) * dots0 : x_step(k, m, 0u) * dots0 + x_step(k, m, 1u) "
        "* dots1)");
}

/* Where each step has a scale of its own, steps stay what they are. */
static void test_scales_of_steps(void **state) {
    (void)state;
    const bench b = bench_new();
    const qg_node *runs[9];
    for (uint32_t r = 0; r < 9; ++r)
        runs[r] = times(&b, half(&b, r < 8 ? "d" : "e"), to_float(&b, every(&b, r < 8 ? "v" : "w", 0, 8, 8)));
    check_runs(b, 9, runs,
               "dots0: dot4_unsigned(v, kept_word(k, m, digit * 9u)) + dot4_unsigned(v, kept_word(k, m, digit * 9u + "
               "1u)) + dot4_unsigned(v, kept_word(k, m, digit * 9u + 2u)) + dot4_unsigned(v,"
               " kept_word(k, m, digit * 9u + 3u)) + dot4_unsigned(v, kept_word(k, m, digit * 9u + 4u)) + "
               "dot4_unsigned(v, kept_word(k, m, digit * 9u + 5u)) + dot4_unsigned(v,"
               " kept_word(k, m, digit * 9u + 6u)) + dot4_unsigned(v, kept_word(k, m, digit * 9u + 7u))\n"
               "dots1: dot4_unsigned(w, kept_word(k, m, digit * 9u + 8u))\n"
               "unpackHalf2x16(d).x * (x_step(k, m, 0u) * dots0) + unpackHalf2x16(e).x * (x_step(k, m, 1u) * dots1)");
}

/* ---- what an integer of 32 bits holds ---------------------------------------------------------------------------- */

/* The sum with the largest bytes and digits there are: the interpreter fails where it does not fit. */
static bool fits_at_most(const bench *b, uint32_t n_runs, const qg_node *const *values, int32_t x) {
    const qg_node *sum = qg_dot_of_bytes(b->ir, 4, n_runs, values);
    if (!sum) return false;
    machine m = machine_new(b->ir);
    use_integers(&m, 1, 127);
    for (uint32_t r = 0; r < n_runs; ++r)
        for (uint32_t i = 0; i < 4; ++i) m.x[r][i] = x * m.step[r * 4 / QG_STEP_ELEMENTS];
    for (uint32_t n = 0; n < b->ir->n_nodes; ++n)
        if (b->ir->nodes[n]->op == QG_ARG) m.words[n] = (uint32_t)b->ir->nodes[n]->max;
    assert_true(evaluate(&m, sum).real[0] == plain_sum(&m, 4, n_runs, values));
    return true;
}

/* Codes up to 255 of as many runs as there may be, which are four steps of eight runs, times 255, times a coefficient. */
static bool fits_times(float coefficient, const qg_node *(*more)(const bench *b, const qg_node *codes)) {
    bool fits[2];
    for (uint32_t i = 0; i < 2; ++i) {
        const bench b = bench_new();
        const qg_node *runs[QG_MAX_RUNS];
        for (uint32_t r = 0; r < QG_MAX_RUNS; ++r) {
            const qg_node *codes = to_float(&b, every(&b, qg_format(b.arena, "w%u", r), 0, 8, 8));
            runs[r] =
                times(&b, qg_real(b.ir, coefficient), times(&b, whole(&b, "n", 256), more ? more(&b, codes) : codes));
        }
        fits[i] = fits_at_most(&b, QG_MAX_RUNS, runs, i ? -128 : 127);
        qg_arena_free(b.arena);
    }
    assert_int_equal(fits[0], fits[1]);
    return fits[0];
}

static const qg_node *less_20(const bench *b, const qg_node *codes) {
    return apply(b, QG_SUB, codes, qg_real(b->ir, 20));
}

static const qg_node *plus_4(const bench *b, const qg_node *codes) {
    return apply(b, QG_ADD, codes, qg_real(b->ir, 4));
}

static void test_bound(void **state) {
    (void)state;
    assert_true(fits_times(1, NULL));
    assert_true(fits_times(8, NULL)); /* 8 * 4 * 255 * 128 * 255 * 8 = 2130739200 */
    assert_true(fits_times(-8, NULL));
    assert_false(fits_times(9, NULL));
    assert_false(fits_times(-9, NULL));
    assert_true(fits_times(7, less_20));
    assert_false(fits_times(8, less_20)); /* the digits count, too */
    assert_false(fits_times(8, plus_4));
    assert_true(fits_times(7, plus_4));
}

/* Products of several scales have a bound each; those of several integers below one scale and step one together. */
static void test_bound_of_scales(void **state) {
    (void)state;
    for (uint32_t one = 0; one < 2; ++one) {
        const bench b = bench_new();
        const qg_node *runs[8];
        for (uint32_t r = 0; r < 8; ++r) {
            const bool second = r >= 4;
            const qg_node *codes = to_float(&b, every(&b, qg_format(b.arena, "w%u", r), 0, 8, 8));
            codes = times(&b, times(&b, qg_real(b.ir, 12), whole(&b, second ? "n" : "p", 256)), codes);
            runs[r] = times(&b, half(&b, second && !one ? "e" : "d"), codes);
        }
        assert_int_equal(!qg_dot_of_bytes(b.ir, 4, 8, runs), one);
        qg_arena_free(b.arena);
    }
}

/* ---- what there is no sum of integers of -------------------------------------------------------------------------- */

static void test_no_sum(void **state) {
    (void)state;
    bench b = bench_new();
    refuse(b, floats(&b, "v"));
    b = bench_new();
    refuse(b, times(&b, floats(&b, "v"), to_float(&b, every(&b, "w", 0, 8, 4))));
    b = bench_new();
    refuse(b, apply(&b, QG_ADD, floats(&b, "v"), to_float(&b, every(&b, "w", 0, 8, 4))));
    b = bench_new(); /* nothing but what is the same for a run */
    refuse(b, half(&b, "d"));
    b = bench_new(); /* other lanes */
    const uint32_t shifts[] = {0, 8};
    const qg_node *codes = to_float(&b, fields(&b, word(&b, "w"), 2, shifts, 4));
    assert_null(qg_dot_of_bytes(b.ir, 2, 1, &codes));
    codes = to_float(&b, qg_arg(b.ir, "n", 16));
    assert_null(qg_dot_of_bytes(b.ir, 1, 1, &codes));
    qg_arena_free(b.arena);
    b = bench_new(); /* one run of two */
    const qg_node *runs[] = {to_float(&b, every(&b, "w", 0, 8, 4)), floats(&b, "v")};
    assert_null(qg_dot_of_bytes(b.ir, 4, 2, runs));
    qg_arena_free(b.arena);
}

/* ---- choice ------------------------------------------------------------------------------------------------------ */

static void test_choice(void **state) {
    (void)state;
    bench b = bench_new();
    const qg_node *d = half(&b, "d");
    check(b, choose(&b, every(&b, "w", 0, 8, 1), d, apply(&b, QG_NEG, d, NULL)),
          "uint bytes = w & 0x1010101u;\n"
          "dots0: 2 * dot4(bytes, kept_word(k, m, digit * 1u)) - x_digits(k, m, digit, 0u)\n"
          "unpackHalf2x16(d).x * (x_step(k, m, 0u) * dots0)\n"
          "digits 0: runs 0x1");
    b = bench_new();
    const qg_node *runs[8];
    for (uint32_t r = 0; r < 8; ++r) {
        d = half(&b, "d");
        runs[r] = choose(&b, every(&b, "w", 4 * r, 1, 1), apply(&b, QG_NEG, d, NULL), d);
    }
    check_runs(b, 8, runs,
               "uint bytes0 = w & 0x1010101u;\n"
               "uint bytes1 = (w >> 1u) & 0x1010101u;\n"
               "uint bytes2 = (w >> 2u) & 0x1010101u;\n"
               "uint bytes3 = (w >> 3u) & 0x1010101u;\n"
               "uint bytes4 = (w >> 4u) & 0x1010101u;\n"
               "uint bytes5 = (w >> 5u) & 0x1010101u;\n"
               "uint bytes6 = (w >> 6u) & 0x1010101u;\n"
               "uint bytes7 = (w >> 7u) & 0x1010101u;\n"
               "dots0: x_digits(k, m, digit, 0u) - 2 * (dot4(bytes0, x[k][m][digit * 2u].x) + dot4(bytes1,"
               " x[k][m][digit * 2u].y) + dot4(bytes2, x[k][m][digit * 2u].z) + dot4(bytes3, x[k][m][digit * 2u].w)"
               " + dot4(bytes4, x[k][m][digit * 2u + 1u].x) + dot4(bytes5, x[k][m][digit * 2u + 1u].y) +"
               " dot4(bytes6, x[k][m][digit * 2u + 1u].z) + dot4(bytes7, x[k][m][digit * 2u + 1u].w))\n"
               "unpackHalf2x16(d).x * (x_step(k, m, 0u) * dots0)\n"
               "quad 0: 0 8 16 24\nquad 1: 1 9 17 25\nquad 2: 2 10 18 26\nquad 3: 3 11 19 27\n"
               "quad 4: 4 12 20 28\nquad 5: 5 13 21 29\nquad 6: 6 14 22 30\nquad 7: 7 15 23 31\n"
               "digits 0: runs 0xff");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs),           cmocka_unit_test(test_planes),
        cmocka_unit_test(test_no_planes),       cmocka_unit_test(test_halves),
        cmocka_unit_test(test_no_halves),       cmocka_unit_test(test_shared_codes),
        cmocka_unit_test(test_whole),           cmocka_unit_test(test_minima),
        cmocka_unit_test(test_coefficients),    cmocka_unit_test(test_steps),
        cmocka_unit_test(test_scales_of_steps), cmocka_unit_test(test_bound),
        cmocka_unit_test(test_bound_of_scales), cmocka_unit_test(test_no_sum),
        cmocka_unit_test(test_choice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
