/* The rules that put codes into bytes, one by one: what they make of IR that is built by hand, as text and as numbers, and that
 * they leave alone what they do not hold for. */
#include "byte_sums.h"

/* The bytes of a rule are the codes, in all lanes, and lie within its bounds. */
static void same_codes(const bench *b, const qg_node *codes, const qg_bytes *bytes) {
    for (uint32_t round = 0; round < 8; ++round) {
        const machine m = machine_new(b->ir);
        const value expected = evaluate(&m, codes), got = evaluate(&m, bytes->word);
        for (uint32_t i = 0; i < 4; ++i) {
            const uint32_t byte = got.bits[0] >> 8 * i & 255;
            const int32_t code = (int32_t)byte - (bytes->high <= 127 && byte > 127 ? 256 : 0);
            assert_true(code >= bytes->low && code <= bytes->high);
            assert_true((double)code + (double)bytes->offset == expected.real[i]);
        }
    }
}

static qg_bytes as_bytes(const bench *b, const qg_node *codes) {
    qg_bytes bytes;
    assert_true(qg_as_bytes(b->ir, codes, &bytes));
    same_codes(b, codes, &bytes);
    return bytes;
}

/* ---- ranges ------------------------------------------------------------------------------------------------------ */

static void test_ranges(void **state) {
    (void)state;
    const bench b = bench_new();
    int64_t low, high;
    const qg_node *byte = to_int(&b, qg_arg(b.ir, "n", 256)), *w = to_int(&b, word(&b, "w"));
    assert_true(qg_integer_range(b.ir, apply(&b, QG_MUL, byte, qg_int(b.ir, -3)), &low, &high));
    assert_true(low == -765 && high == 0);
    assert_true(qg_integer_range(b.ir, apply(&b, QG_SUB, qg_int(b.ir, 5), byte), &low, &high));
    assert_true(low == -250 && high == 5);
    assert_true(qg_integer_range(b.ir, look_up(&b, TABLE_LEVELS, false), &low, &high));
    assert_true(low == -127 && high == 113);
    assert_false(qg_integer_range(b.ir, w, &low, &high)); /* a word may be below 0 */
    const qg_node *half_word = to_int(&b, qg_arg(b.ir, "h", UINT64_C(1) << 31));
    assert_false(qg_integer_range(b.ir, times(&b, half_word, half_word), &low, &high));
    assert_false(qg_integer_range(b.ir, apply(&b, QG_AND, w, byte), &low, &high));
    assert_false(qg_integer_range(b.ir, look_up(&b, TABLE_REALS, false), &low, &high));
    assert_false(qg_integer_range(b.ir, qg_real(b.ir, 1), &low, &high));
    assert_false(qg_integer_range(b.ir, half(&b, "d"), &low, &high));
    qg_arena_free(b.arena);
}

/* ---- in place ---------------------------------------------------------------------------------------------------- */

static void test_in_place(void **state) {
    (void)state;
    bench b = bench_new();
    check(b, to_float(&b, every(&b, "w", 0, 8, 4)),
          "uint bytes = w & 0xF0F0F0Fu;\n"
          "dots0: dot4(bytes, kept_word(k, m, digit * 1u))\n"
          "x_step(k, m, 0u) * dots0");
    b = bench_new();
    check(b, to_float(&b, to_int(&b, every(&b, "w", 4, 8, 4))),
          "uint bytes = (w >> 4u) & 0xF0F0F0Fu;\n"
          "dots0: dot4(bytes, kept_word(k, m, digit * 1u))\n"
          "x_step(k, m, 0u) * dots0");
    b = bench_new(); /* codes of eight bits are read without sign */
    check(b, to_float(&b, every(&b, "w", 0, 8, 8)),
          "dots0: dot4_unsigned(w, kept_word(k, m, digit * 1u))\n"
          "x_step(k, m, 0u) * dots0");
    b = bench_new(); /* zeros from above */
    check(b, to_float(&b, every(&b, "w", 4, 8, 8)),
          "uint bytes = w >> 4u;\n"
          "dots0: dot4_unsigned(bytes, kept_word(k, m, digit * 1u))\n"
          "x_step(k, m, 0u) * dots0");
    b = bench_new(); /* seven bits */
    check(b, to_float(&b, every(&b, "w", 1, 8, 7)),
          "uint bytes = (w >> 1u) & 0x7F7F7F7Fu;\n"
          "dots0: dot4(bytes, kept_word(k, m, digit * 1u))\n"
          "x_step(k, m, 0u) * dots0");
}

/* Fields that are none: the lanes are packed one by one where they fit, and refused where they do not. */
static void test_no_fields(void **state) {
    (void)state;
    const uint32_t shifts[] = {0, 8, 16, 24}, across[] = {0, 3, 11, 17};
    bench b = bench_new(); /* no run of ones as mask */
    const qg_node *cut = spread(&b, word(&b, "w"), 4, shifts);
    check(b, to_float(&b, apply(&b, QG_AND, cut, qg_uint(b.ir, 5))),
          "uvec4 codes = (uvec4(w) >> uvec4(0, 8, 16, 24)) & 5u;\n"
          "uint bytes = codes.x | (codes.y << 8u) | (codes.z << 16u) | (codes.w << 24u);\n"
          "dots0: dot4(bytes, kept_word(k, m, digit * 1u))\n"
          "x_step(k, m, 0u) * dots0");
    b = bench_new();
    check(b, to_float(&b, apply(&b, QG_AND, spread(&b, word(&b, "w"), 4, shifts), qg_arg(b.ir, "n", 16))),
          "uvec4 codes = (uvec4(w) >> uvec4(0, 8, 16, 24)) & n;\n"
          "uint bytes = codes.x | (codes.y << 8u) | (codes.z << 16u) | (codes.w << 24u);\n"
          "dots0: dot4(bytes, kept_word(k, m, digit * 1u))\n"
          "x_step(k, m, 0u) * dots0");
    b = bench_new(); /* shifts that are not constant */
    const qg_node *counts[] = {qg_uint(b.ir, 0), qg_uint(b.ir, 8), qg_arg(b.ir, "n", 16), qg_uint(b.ir, 24)};
    const qg_node *moving = apply(&b, QG_SHR, qg_splat(b.ir, word(&b, "w"), 4), qg_vector(b.ir, counts, 4));
    check(b, to_float(&b, apply(&b, QG_AND, moving, qg_uint(b.ir, 15))),
          "uvec4 codes = (uvec4(w) >> uvec4(0, 8, n, 24)) & 15u;\n"
          "uint bytes = codes.x | (codes.y << 8u) | (codes.z << 16u) | (codes.w << 24u);\n"
          "dots0: dot4(bytes, kept_word(k, m, digit * 1u))\n"
          "x_step(k, m, 0u) * dots0");
    b = bench_new(); /* a mask that is lane 3 of something */
    const qg_node *lane = qg_lane(b.ir, every(&b, "v", 0, 8, 4), 3);
    as_bytes(&b, to_float(&b, apply(&b, QG_AND, spread(&b, word(&b, "w"), 4, shifts), lane)));
    qg_arena_free(b.arena);
    b = bench_new(); /* at no step: each for itself, in registers */
    check(b, to_float(&b, fields(&b, word(&b, "w"), 4, across, 5)),
          "uint bytes = (w & 31u) | ((w << 5u) & 7936u) | ((w << 5u) & 0x1F0000u) | ((w << 7u) & 0x1F000000u);\n"
          "dots0: dot4(bytes, kept_word(k, m, digit * 1u))\n"
          "x_step(k, m, 0u) * dots0");
    b = bench_new(); /* nine bits */
    refuse(b, to_float(&b, every(&b, "w", 0, 7, 9)));
    b = bench_new(); /* no mask */
    refuse(b, to_float(&b, spread(&b, word(&b, "w"), 4, shifts)));
    b = bench_new(); /* two lanes */
    qg_bytes bytes;
    assert_false(qg_as_bytes(b.ir, to_float(&b, fields(&b, word(&b, "w"), 2, shifts, 4)), &bytes));
    qg_arena_free(b.arena);
}

/* A word with sign fills up with its sign, which is none of the fields. */
static void test_word_with_sign(void **state) {
    (void)state;
    bench b = bench_new();
    refuse(b, to_float(&b, every_of(&b, to_int(&b, word(&b, "w")), 4, 8, 8)));
    b = bench_new();
    const uint32_t shifts[] = {4, 12, 20, 28};
    const qg_node *codes = qg_sign_extend(b.ir, spread(&b, to_int(&b, word(&b, "w")), 4, shifts), 8);
    qg_bytes bytes = as_bytes(&b, to_float(&b, codes)); /* lane by lane */
    assert_true(bytes.offset == 0 && bytes.low == -128);
    qg_arena_free(b.arena);
    b = bench_new();
    const qg_node *small = qg_sign_extend(b.ir, qg_arg(b.ir, "s", 256), 8);
    refuse(b, to_float(&b, every_of(&b, small, 4, 8, 8)));
    b = bench_new(); /* one that is known to be none below 0 is a word as others are */
    check(b, to_float(&b, every_of(&b, to_int(&b, qg_arg(b.ir, "s", 256)), 4, 1, 1)),
          "uint bytes = ((s >> 4u) * 0x204081u) & 0x1010101u;\ndots0: dot4(bytes, "
          "kept_word(k, m, digit * 1u))\nx_step(k, m, 0u) * dots0");
    b = bench_new();
    codes = to_float(&b, every_of(&b, to_int(&b, qg_arg(b.ir, "s", UINT64_C(1) << 31)), 4, 8, 8));
    as_bytes(&b, codes);
    codes = to_float(&b, qg_sign_extend(b.ir, spread(&b, to_int(&b, qg_arg(b.ir, "s", 256)), 4, shifts), 4));
    as_bytes(&b, codes);
    qg_arena_free(b.arena);
}

/* ---- spread ------------------------------------------------------------------------------------------------------ */

static void test_spread(void **state) {
    (void)state;
    bench b = bench_new();
    check(b, to_float(&b, every(&b, "w", 0, 1, 1)),
          "uint bytes = ((w & 15u) * 0x204081u) & 0x1010101u;\n"
          "dots0: dot4(bytes, kept_word(k, m, digit * 1u))\n"
          "x_step(k, m, 0u) * dots0");
    b = bench_new();
    check(b, to_float(&b, every(&b, "w", 12, 4, 4)),
          "uint run = w >> 12u;\n"
          "uint pairs = (run & 0xFFu) | ((run & 65280u) << 8u);\n"
          "uint bytes = (pairs & 0xF000Fu) | ((pairs & 0xF000F0u) << 4u);\n"
          "dots0: dot4(bytes, kept_word(k, m, digit * 1u))\n"
          "x_step(k, m, 0u) * dots0");
    b = bench_new();
    check(b, to_float(&b, every(&b, "w", 0, 7, 7)),
          "uint pairs = (w & 0x3FFFu) | ((w & 0xFFFC000u) << 2u);\n"
          "uint bytes = (pairs & 0x7F007Fu) | ((pairs & 0x3F803F80u) << 1u);\n"
          "dots0: dot4(bytes, kept_word(k, m, digit * 1u))\n"
          "x_step(k, m, 0u) * dots0");
    b = bench_new(); /* with gaps */
    check(b, to_float(&b, every(&b, "w", 3, 3, 1)),
          "uint run = w >> 3u;\n"
          "uint pairs = (run & 9u) | ((run & 576u) << 10u);\n"
          "uint bytes = (pairs & 0x10001u) | ((pairs & 0x80008u) << 5u);\n"
          "dots0: dot4(bytes, kept_word(k, m, digit * 1u))\n"
          "x_step(k, m, 0u) * dots0");
    b = bench_new(); /* fields that overlap are taken one by one */
    check(b, to_float(&b, every(&b, "w", 0, 3, 4)),
          "uint bytes = (w & 15u) | ((w << 5u) & 3840u) | ((w << 10u) & 0xF0000u) | ((w << 15u) & 0xF000000u);\n"
          "dots0: dot4(bytes, kept_word(k, m, digit * 1u))\n"
          "x_step(k, m, 0u) * dots0");
}

/* Every width, first place and distance, with and without sign, masked or not. */
static void test_all_fields(void **state) {
    (void)state;
    uint32_t tried = 0;
    for (uint32_t width = 1; width <= 8; ++width)
        for (uint32_t first = 0; first < 32; ++first)
            for (uint32_t step = 0; step <= 10 && first + 3 * step < 32; ++step) {
                const bench b = bench_new();
                const qg_node *masked = every(&b, "w", first, step, width);
                as_bytes(&b, to_float(&b, masked));
                as_bytes(&b, to_float(&b, qg_sign_extend(b.ir, masked, width)));
                const uint32_t shifts[] = {first, first + step, first + 2 * step, first + 3 * step};
                as_bytes(&b, to_float(&b, qg_sign_extend(b.ir, spread(&b, word(&b, "w"), 4, shifts), width)));
                qg_arena_free(b.arena);
                ++tried;
            }
    assert_true(tried > 1000);
}

/* ---- join -------------------------------------------------------------------------------------------------------- */

static void test_join(void **state) {
    (void)state;
    bench b = bench_new();
    check(b, to_float(&b, joined(&b, every(&b, "a", 0, 8, 4), every(&b, "b", 2, 8, 2), 4)),
          "uint bytes = (a & 0xF0F0F0Fu) | ((b << 2u) & 0x30303030u);\n"
          "dots0: dot4(bytes, kept_word(k, m, digit * 1u))\n"
          "x_step(k, m, 0u) * dots0");
    b = bench_new(); /* from other distances, up to the eighth bit */
    check(b, to_float(&b, joined(&b, every(&b, "a", 0, 4, 4), every(&b, "b", 0, 1, 1), 7)),
          "uint pairs = (a & 0xFFu) | ((a & 65280u) << 8u);\n"
          "uint bytes = (pairs & 0xF000Fu) | ((pairs & 0xF000F0u) << 4u) | (((b & 15u) * 0x10204080u) & 0x80808080u);\n"
          "dots0: dot4_unsigned(bytes, kept_word(k, m, digit * 1u))\n"
          "x_step(k, m, 0u) * dots0");
    b = bench_new(); /* what is shifted down further than up */
    check(b, to_float(&b, joined(&b, every(&b, "a", 0, 8, 2), every(&b, "b", 6, 8, 2), 2)),
          "uint bytes = (a & 0x3030303u) | ((b >> 4u) & 0xC0C0C0Cu);\n"
          "dots0: dot4(bytes, kept_word(k, m, digit * 1u))\n"
          "x_step(k, m, 0u) * dots0");
    b = bench_new(); /* as far down as up */
    check(b, to_float(&b, joined(&b, every(&b, "a", 0, 8, 2), every(&b, "b", 2, 8, 2), 2)),
          "uint bytes = (a & 0x3030303u) | (b & 0xC0C0C0Cu);\n"
          "dots0: dot4(bytes, kept_word(k, m, digit * 1u))\n"
          "x_step(k, m, 0u) * dots0");
    b = bench_new(); /* three parts */
    check(b,
          to_float(&b, joined(&b, joined(&b, every(&b, "a", 0, 8, 2), every(&b, "b", 0, 8, 2), 2),
                              every(&b, "c", 0, 8, 1), 4)),
          "uint bytes = (a & 0x3030303u) | ((b & 0x3030303u) << 2u) | ((c & 0x1010101u) << 4u);\n"
          "dots0: dot4(bytes, kept_word(k, m, digit * 1u))\n"
          "x_step(k, m, 0u) * dots0");
    b = bench_new(); /* one part is no field */
    check(b, to_float(&b, joined(&b, integers(&b, "p", 4), every(&b, "b", 0, 8, 2), 4)),
          "uint bytes = p0 | (p1 << 8u) | (p2 << 16u) | (p3 << 24u) | ((b & 0x3030303u) << 4u);\n"
          "dots0: dot4(bytes, kept_word(k, m, digit * 1u))\n"
          "x_step(k, m, 0u) * dots0");
}

static void test_no_join(void **state) {
    (void)state;
    bench b = bench_new(); /* bits that both have: no carry, as OR has it */
    check(b, to_float(&b, joined(&b, every(&b, "a", 0, 8, 4), every(&b, "b", 0, 8, 2), 3)),
          "uvec4 codes = ((uvec4(a) >> uvec4(0, 8, 16, 24)) & 15u) | (((uvec4(b) >> uvec4(0, 8, 16, 24)) &"
          " 3u) << 3u);\n"
          "uint bytes = codes.x | (codes.y << 8u) | (codes.z << 16u) | (codes.w << 24u);\n"
          "dots0: dot4(bytes, kept_word(k, m, digit * 1u))\n"
          "x_step(k, m, 0u) * dots0");
    b = bench_new(); /* beyond the byte */
    refuse(b, to_float(&b, joined(&b, every(&b, "a", 0, 8, 4), every(&b, "b", 0, 8, 4), 5)));
    b = bench_new();
    refuse(b, to_float(&b, joined(&b, every(&b, "a", 0, 8, 8), every(&b, "b", 0, 8, 1), 8)));
    b = bench_new(); /* parts below zero */
    refuse(b, to_float(&b, apply(&b, QG_OR, look_up(&b, TABLE_LEVELS, false),
                                 apply(&b, QG_SHL, to_int(&b, every(&b, "b", 0, 8, 1)), qg_uint(b.ir, 7)))));
    b = bench_new();
    const qg_node *grid = signed_every(&b, load_table(&b, TABLE_SIGNED_GRID), 8, 8);
    refuse(b, to_float(&b, apply(&b, QG_OR, to_int(&b, every(&b, "a", 0, 8, 4)),
                                 apply(&b, QG_SHL, grid, qg_uint(b.ir, 4)))));
    b = bench_new(); /* moved to the other side */
    const qg_node *moved = apply(&b, QG_SHR, every(&b, "b", 0, 8, 4), qg_uint(b.ir, 2));
    as_bytes(&b, to_float(&b, apply(&b, QG_OR, every(&b, "a", 0, 8, 2), moved)));
    qg_arena_free(b.arena);
    b = bench_new(); /* by what is lane 2 of something */
    const qg_node *lane = qg_lane(b.ir, every(&b, "v", 0, 8, 2), 2);
    refuse(b,
           to_float(&b, apply(&b, QG_OR, every(&b, "a", 0, 8, 2), apply(&b, QG_SHL, every(&b, "b", 0, 8, 2), lane))));
    b = bench_new(); /* far beyond the byte */
    refuse(b, to_float(&b, joined(&b, every(&b, "a", 0, 8, 8), every(&b, "b", 0, 8, 8), 24)));
    b = bench_new(); /* parts with an offset */
    refuse(b, to_float(&b, apply(&b, QG_OR, minus(&b, every(&b, "a", 0, 8, 2), 1),
                                 apply(&b, QG_SHL, to_int(&b, every(&b, "b", 0, 8, 1)), qg_uint(b.ir, 4)))));
    b = bench_new();
    refuse(b, to_float(&b, apply(&b, QG_OR, to_int(&b, every(&b, "a", 0, 8, 4)),
                                 apply(&b, QG_SHL, minus(&b, every(&b, "b", 0, 8, 1), 1), qg_uint(b.ir, 4)))));
    b = bench_new(); /* a shift that is not constant */
    refuse(b, to_float(&b, apply(&b, QG_OR, every(&b, "a", 0, 8, 4),
                                 apply(&b, QG_SHL, every(&b, "b", 0, 8, 2), qg_arg(b.ir, "n", 4)))));
}

/* Whatever the parts are: the rule gives the codes, or nothing where they exceed a byte. */
static void test_all_joins(void **state) {
    (void)state;
    uint32_t applied = 0;
    for (uint32_t low = 1; low <= 8; ++low)
        for (uint32_t high = 1; high <= 8; ++high)
            for (uint32_t up = 0; up <= 9; ++up)
                for (uint32_t steps = 0; steps < 64; ++steps) {
                    const bench b = bench_new();
                    const uint32_t s = 1 + steps % 8, t = 1 + steps / 8;
                    const qg_node *codes = to_float(
                        &b, joined(&b, every(&b, "a", s - 1, s, low), every(&b, "b", s % 2 ? t - 1 : 0, t, high), up));
                    qg_bytes bytes;
                    const bool fits = (low > high + up ? low : high + up) <= 8;
                    assert_int_equal(qg_as_bytes(b.ir, codes, &bytes), fits);
                    if (fits) same_codes(&b, codes, &bytes);
                    applied += fits;
                    qg_arena_free(b.arena);
                }
    assert_true(applied > 1000);
}

/* ---- turn, offset ------------------------------------------------------------------------------------------------ */

static void test_turn(void **state) {
    (void)state;
    bench b = bench_new();
    check(b, to_float(&b, signed_every(&b, word(&b, "w"), 8, 4)),
          "uint bytes = (w & 0xF0F0F0Fu) ^ 0x8080808u;\n"
          "dots0: dot4(bytes, kept_word(k, m, digit * 1u)) - 8 * x_digits(k, m, digit, 0u)\n"
          "x_step(k, m, 0u) * dots0\n"
          "digits 0: runs 0x1");
    b = bench_new(); /* spread first: what is above a field is masked off though the value had no mask */
    check(b, to_float(&b, signed_every(&b, word(&b, "w"), 5, 5)),
          "uint pairs = (w & 0x3FFu) | ((w & 0xFFC00u) << 6u);\n"
          "uint bytes = ((pairs & 0x1F001Fu) | ((pairs & 0x3E003E0u) << 3u)) ^ 0x10101010u;\n"
          "dots0: dot4(bytes, kept_word(k, m, digit * 1u)) - 16 * x_digits(k, m, digit, 0u)\n"
          "x_step(k, m, 0u) * dots0\n"
          "digits 0: runs 0x1");
    b = bench_new(); /* bytes with sign are what they are */
    check(b, to_float(&b, signed_every(&b, word(&b, "w"), 8, 8)),
          "dots0: dot4(w, kept_word(k, m, digit * 1u))\n"
          "x_step(k, m, 0u) * dots0");
    b = bench_new(); /* what is joined */
    const qg_node *six = joined(&b, every(&b, "a", 0, 8, 4), every(&b, "b", 0, 8, 2), 4);
    check(b, to_float(&b, qg_sign_extend(b.ir, six, 6)),
          "uint bytes = ((a & 0xF0F0F0Fu) | ((b & 0x3030303u) << 4u)) ^ 0x20202020u;\n"
          "dots0: dot4(bytes, kept_word(k, m, digit * 1u)) - 32 * x_digits(k, m, digit, 0u)\n"
          "x_step(k, m, 0u) * dots0\n"
          "digits 0: runs 0x1");
    b = bench_new(); /* eight bits that are joined are no bytes with sign */
    six = joined(&b, every(&b, "a", 0, 8, 4), every(&b, "b", 0, 8, 4), 4);
    check(b, to_float(&b, qg_sign_extend(b.ir, six, 8)),
          "uint bytes = ((a & 0xF0F0F0Fu) | ((b & 0xF0F0F0Fu) << 4u)) ^ 0x80808080u;\n"
          "dots0: dot4_unsigned(bytes, kept_word(k, m, digit * 1u)) - 128 * x_digits(k, m, digit, 0u)\n"
          "x_step(k, m, 0u) * dots0\n"
          "digits 0: runs 0x1");
    b = bench_new();
    check(b, to_float(&b, minus(&b, every(&b, "w", 0, 8, 5), 16)),
          "uint bytes = w & 0x1F1F1F1Fu;\n"
          "dots0: dot4(bytes, kept_word(k, m, digit * 1u)) - 16 * x_digits(k, m, digit, 0u)\n"
          "x_step(k, m, 0u) * dots0\n"
          "digits 0: runs 0x1");
    b = bench_new(); /* an offset to each lane of a table, which floats need not hold for the rules of dot.c */
    check(b, to_float(&b, apply(&b, QG_ADD, look_up(&b, TABLE_LEVELS, false), qg_int(b.ir, 100))),
          "uint bytes = (uint(levels[i0]) & 0xFFu) | ((uint(levels[i1]) & 0xFFu) << 8u) | ((uint(levels[i2])"
          " & 0xFFu) << 16u) | (uint(levels[i3]) << 24u);\n"
          "dots0: dot4(bytes, kept_word(k, m, digit * 1u)) + 100 * x_digits(k, m, digit, 0u)\n"
          "x_step(k, m, 0u) * dots0\n"
          "digits 0: runs 0x1");
}

static void test_no_turn(void **state) {
    (void)state;
    bench b = bench_new(); /* bits above the sign */
    const qg_node *codes = to_float(&b, qg_sign_extend(b.ir, every(&b, "w", 0, 8, 6), 4));
    qg_bytes bytes = as_bytes(&b, codes);
    assert_true(bytes.offset == 0);
    codes = to_float(&b, qg_sign_extend(b.ir, minus(&b, every(&b, "w", 0, 8, 3), 2), 4)); /* an offset below it */
    bytes = as_bytes(&b, codes);
    assert_true(bytes.offset == 0);
    codes = to_float(&b, qg_sign_extend(b.ir, look_up(&b, TABLE_LEVELS, false), 8)); /* a sign below it */
    bytes = as_bytes(&b, codes);
    assert_true(bytes.offset == 0);
    codes = to_float(&b, qg_sign_extend(b.ir, signed_every(&b, word(&b, "w"), 8, 3), 3));
    bytes = as_bytes(&b, codes);
    assert_true(bytes.offset == 0);
    qg_arena_free(b.arena);
    b = bench_new(); /* a sign bit that is turned makes 0 of 64 */
    bytes = as_bytes(&b, to_float(&b, qg_sign_extend(b.ir, every_of(&b, load_table(&b, TABLE_GRID), 0, 8, 8), 7)));
    assert_true(bytes.low == 0 && bytes.offset == -64);
    qg_arena_free(b.arena);
    b = bench_new(); /* nine bits */
    refuse(b, to_float(&b, signed_every(&b, word(&b, "w"), 7, 9)));
    b = bench_new(); /* an offset that a lane has for itself */
    refuse(b, to_float(&b, apply(&b, QG_ADD, look_up(&b, TABLE_LEVELS, false), to_int(&b, integers(&b, "q", 8)))));
    b = bench_new(); /* a large one */
    refuse(b, to_float(&b, apply(&b, QG_SUB, look_up(&b, TABLE_LEVELS, false), qg_int(b.ir, 256))));
}

/* Words of tables have the bounds of their values, where they are cut at these. */
static void test_tables(void **state) {
    (void)state;
    const bench b = bench_new();
    const uint32_t bytes[] = {0, 8, 16, 24}, between[] = {4, 12, 20, 28};
    const qg_node *grid = load_table(&b, TABLE_GRID), *with_sign = load_table(&b, TABLE_SIGNED_GRID);
    const qg_node *sizes = load_table(&b, TABLE_SIZES);
    qg_bytes out = as_bytes(&b, to_float(&b, fields(&b, grid, 4, bytes, 8)));
    assert_true(out.low == 1 && out.high == 127);
    out = as_bytes(&b, to_float(&b, fields(&b, grid, 4, between, 8)));
    assert_true(out.low == 0 && out.high == 255);
    out = as_bytes(&b, to_float(&b, fields(&b, grid, 4, bytes, 7)));
    assert_true(out.low == 0);
    out = as_bytes(&b, to_float(&b, fields(&b, with_sign, 4, bytes, 8))); /* read without the sign */
    assert_true(out.low == 0 && out.high == 255);
    out = as_bytes(&b, to_float(&b, fields(&b, load_table(&b, TABLE_WORDS), 4, bytes, 8))); /* bytes of words */
    assert_true(out.low == 0 && out.high == 255);
    out = as_bytes(&b, to_float(&b, fields(&b, load_table(&b, TABLE_COLUMN), 4, bytes, 8)));
    assert_true(out.low == 0 && out.high == 255);
    out = as_bytes(&b, to_float(&b, qg_sign_extend(b.ir, spread(&b, with_sign, 4, bytes), 8)));
    assert_true(out.low == -7 && out.high == 12);
    out = as_bytes(&b, to_float(&b, qg_sign_extend(b.ir, spread(&b, with_sign, 4, between), 8)));
    assert_true(out.low == -128 && out.high == 127);
    out = as_bytes(&b, to_float(&b, qg_sign_extend(b.ir, spread(&b, sizes, 4, bytes), 8))); /* 200 is -56, then */
    assert_true(out.low == -128 && out.high == 127);
    out = as_bytes(&b, to_float(&b, qg_sign_extend(b.ir, spread(&b, load_table(&b, TABLE_WORDS), 4, bytes), 8)));
    assert_true(out.low == -128 && out.high == 127);
    qg_arena_free(b.arena);
}

/* ---- digit ------------------------------------------------------------------------------------------------------- */

/* The digit of base `radix` that stands above `power` in fractions of eight bits: ((bits * power & 255) * radix) >> 8. */
static const qg_node *digit(const bench *b, const qg_node *bits, const qg_node *power, uint32_t radix) {
    if (power) bits = apply(b, QG_AND, apply(b, QG_MUL, bits, power), qg_uint(b->ir, 255));
    return apply(b, QG_SHR, apply(b, QG_MUL, bits, qg_uint(b->ir, radix)), qg_uint(b->ir, 8));
}

static void test_digit(void **state) {
    (void)state;
    bench b = bench_new();
    check(b, to_float(&b, digit(&b, every(&b, "w", 0, 8, 8), NULL, 3)),
          "uint evens = (w & 0xFF00FFu) * 3u;\n"
          "uint odds = ((w >> 8u) & 0xFF00FFu) * 3u;\n"
          "uint bytes = ((evens >> 8u) & 0xFF00FFu) | (odds & 0xFF00FF00u);\n"
          "dots0: dot4(bytes, kept_word(k, m, digit * 1u))\n"
          "x_step(k, m, 0u) * dots0");
    b = bench_new(); /* one digit after the other */
    check(b, to_float(&b, digit(&b, every(&b, "w", 0, 8, 8), qg_uint(b.ir, 9), 3)),
          "uint evens0 = (w & 0xFF00FFu) * 3u;\n"
          "uint evens1 = (evens0 & 0xFF00FFu) * 3u;\n"
          "uint evens2 = (evens1 & 0xFF00FFu) * 3u;\n"
          "uint odds0 = ((w >> 8u) & 0xFF00FFu) * 3u;\n"
          "uint odds1 = (odds0 & 0xFF00FFu) * 3u;\n"
          "uint odds2 = (odds1 & 0xFF00FFu) * 3u;\n"
          "uint bytes = ((evens2 >> 8u) & 0xFF00FFu) | (odds2 & 0xFF00FF00u);\n"
          "dots0: dot4(bytes, kept_word(k, m, digit * 1u))\n"
          "x_step(k, m, 0u) * dots0");
    b = bench_new(); /* a power that only the kernel knows, or that is none */
    check(b, to_float(&b, digit(&b, every(&b, "w", 0, 8, 8), qg_arg(b.ir, "p", 82), 3)),
          "uint evens = (((w & 0xFF00FFu) * p) & 0xFF00FFu) * 3u;\n"
          "uint odds = ((((w >> 8u) & 0xFF00FFu) * p) & 0xFF00FFu) * 3u;\n"
          "uint bytes = ((evens >> 8u) & 0xFF00FFu) | (odds & 0xFF00FF00u);\n"
          "dots0: dot4(bytes, kept_word(k, m, digit * 1u))\n"
          "x_step(k, m, 0u) * dots0");
    for (uint32_t radix = 2; radix <= 256; radix = radix < 8 ? radix + 1 : 2 * radix)
        for (uint32_t power = 1; power <= 256; power += power < 12 ? 1 : 61) {
            b = bench_new();
            const qg_bytes bytes = as_bytes(
                &b, to_float(&b, digit(&b, every(&b, "w", 0, 8, 8), power > 1 ? qg_uint(b.ir, power) : NULL, radix)));
            assert_true(bytes.low == 0 && bytes.high == (int32_t)radix - 1 && bytes.offset == 0);
            qg_arena_free(b.arena);
        }
    b = bench_new(); /* of fewer bits, and of joined ones */
    as_bytes(&b, to_float(&b, digit(&b, every(&b, "w", 2, 8, 5), qg_uint(b.ir, 25), 5)));
    qg_arena_free(b.arena);
    b = bench_new();
    const qg_node *parts = joined(&b, every(&b, "a", 0, 8, 4), every(&b, "b", 2, 8, 4), 4);
    as_bytes(&b, to_float(&b, digit(&b, parts, qg_uint(b.ir, 9), 3)));
    qg_arena_free(b.arena);
}

/* What is no digit, or leaves 16 bits: the lanes are packed one by one where they fit, and refused where they do not. */
static void test_no_digit(void **state) {
    (void)state;
    bench b = bench_new(); /* a power for each lane */
    const qg_node *powers[] = {qg_uint(b.ir, 1), qg_uint(b.ir, 3), qg_uint(b.ir, 9), qg_uint(b.ir, 27)};
    qg_bytes bytes;
    const qg_node *codes = to_float(&b, digit(&b, every(&b, "w", 0, 8, 8), qg_vector(b.ir, powers, 4), 3));
    assert_false(qg_as_bytes_at_once(b.ir, codes, &bytes));
    as_bytes(&b, codes);
    qg_arena_free(b.arena);
    b = bench_new(); /* a product of 17 bits */
    codes = to_float(&b, digit(&b, every(&b, "w", 0, 8, 8), qg_arg(b.ir, "p", 258), 3));
    assert_false(qg_as_bytes_at_once(b.ir, codes, &bytes));
    as_bytes(&b, codes);
    qg_arena_free(b.arena);
    b = bench_new();
    refuse(b, to_float(&b, digit(&b, every(&b, "w", 0, 8, 8), NULL, 258)));
    b = bench_new(); /* another shift */
    codes = apply(&b, QG_MUL, every(&b, "w", 0, 8, 6), qg_uint(b.ir, 3));
    codes = to_float(&b, apply(&b, QG_SHR, codes, qg_uint(b.ir, 7)));
    assert_false(qg_as_bytes_at_once(b.ir, codes, &bytes));
    as_bytes(&b, codes);
    qg_arena_free(b.arena);
    b = bench_new(); /* another mask: what is above the fraction is not moved out */
    codes = apply(&b, QG_AND, apply(&b, QG_MUL, every(&b, "w", 0, 8, 8), qg_uint(b.ir, 3)), qg_uint(b.ir, 127));
    codes = to_float(&b, digit(&b, codes, NULL, 3));
    assert_false(qg_as_bytes_at_once(b.ir, codes, &bytes));
    as_bytes(&b, codes);
    qg_arena_free(b.arena);
    b = bench_new(); /* a factor that is not constant */
    codes = apply(&b, QG_MUL, every(&b, "w", 0, 8, 8), qg_arg(b.ir, "r", 4));
    codes = to_float(&b, apply(&b, QG_SHR, codes, qg_uint(b.ir, 8)));
    assert_false(qg_as_bytes_at_once(b.ir, codes, &bytes));
    as_bytes(&b, codes);
    qg_arena_free(b.arena);
}

/* ---- sign -------------------------------------------------------------------------------------------------------- */

static const qg_node *grid_bytes(const bench *b, uint32_t table) {
    return to_float(b, every_of(b, load_table(b, table), 0, 8, 8));
}

/* As halves, less what makes the lowest of them zero. */
static void same_halves(const bench *b, const qg_node *codes, float bias) {
    qg_halves halves;
    assert_true(qg_as_halves(b->ir, codes, 4, &halves));
    assert_true(halves.bias == bias);
    for (uint32_t round = 0; round < 8; ++round) {
        const machine m = machine_new(b->ir);
        const value expected = evaluate(&m, codes), got = evaluate(&m, halves.vector);
        for (uint32_t i = 0; i < 4; ++i) assert_true(got.real[i] * (double)halves.factor[i] - bias == expected.real[i]);
    }
}

static void test_halves(void **state) {
    (void)state;
    const uint32_t places[] = {0, 8, 16, 24};
    const bench b = bench_new();
    qg_halves halves;
    same_halves(&b, times(&b, grid_bytes(&b, TABLE_GRID), signs(&b, every(&b, "s", 0, 1, 1), -1, 1)), 127);
    same_halves(&b, times(&b, grid_bytes(&b, TABLE_GRID), signs(&b, every(&b, "s", 5, 1, 1), 1, -1)), 127);
    same_halves(&b, to_float(&b, qg_sign_extend(b.ir, spread(&b, load_table(&b, TABLE_SIGNED_GRID), 4, places), 8)), 7);
    /* How small values are is not known, or each would be moved by itself. */
    assert_false(qg_as_halves(
        b.ir, to_float(&b, qg_sign_extend(b.ir, spread(&b, load_table(&b, TABLE_WORDS), 4, places), 8)), 4, &halves));
    assert_false(qg_as_halves(b.ir, to_float(&b, look_up(&b, TABLE_LEVELS, false)), 4, &halves));
    /* Both halves of the bytes of a word, in a table of pairs, where there may be one. */
    const qg_node *lower = to_float(&b, nibble_levels(&b, "w", 0)), *upper = to_float(&b, nibble_levels(&b, "w", 4));
    assert_false(qg_as_halves(b.ir, lower, 4, &halves));
    b.ir->pairs = true;
    same_halves(&b, lower, 0);
    same_halves(&b, upper, 0);
    assert_false(qg_as_halves(b.ir, to_float(&b, look_up(&b, TABLE_LEVELS, false)), 4, &halves));
    assert_false(qg_as_halves(
        b.ir, times(&b, to_float(&b, look_up(&b, TABLE_SIZES, false)), signs(&b, every(&b, "s", 0, 1, 1), -1, 1)), 4,
        &halves));
    qg_arena_free(b.arena);
}

static void test_sign(void **state) {
    (void)state;
    bench b = bench_new();
    check(b, times(&b, grid_bytes(&b, TABLE_GRID), signs(&b, every(&b, "s", 0, 1, 1), -1, 1)),
          "uint bytes0 = grid[i];\n"
          "uint negative = ((s & 15u) * 0x204081u) & 0x1010101u;\n"
          "uint bytes1 = (bytes0 ^ ((negative << 8u) - negative)) + negative;\n"
          "dots0: dot4(bytes1, kept_word(k, m, digit * 1u))\n"
          "x_step(k, m, 0u) * dots0");
    b = bench_new(); /* the other way round, in both respects */
    check(b, times(&b, signs(&b, to_int(&b, every(&b, "s", 7, 8, 1)), 1, -1), grid_bytes(&b, TABLE_GRID)),
          "uint bytes0 = grid[i];\n"
          "uint negative = ((s >> 7u) & 0x1010101u) ^ 0x1010101u;\n"
          "uint bytes1 = (bytes0 ^ ((negative << 8u) - negative)) + negative;\n"
          "dots0: dot4(bytes1, kept_word(k, m, digit * 1u))\n"
          "x_step(k, m, 0u) * dots0");
    b = bench_new(); /* with a scale */
    check(b, times(&b, half(&b, "d"), times(&b, grid_bytes(&b, TABLE_GRID), signs(&b, every(&b, "s", 0, 8, 1), -1, 1))),
          "uint bytes0 = grid[i];\n"
          "uint negative = s & 0x1010101u;\n"
          "uint bytes1 = (bytes0 ^ ((negative << 8u) - negative)) + negative;\n"
          "dots0: dot4(bytes1, kept_word(k, m, digit * 1u))\n"
          "unpackHalf2x16(d).x * (x_step(k, m, 0u) * dots0)");
}

static void test_no_sign(void **state) {
    (void)state;
    bench b = bench_new(); /* of 0 the negative would carry into the next byte */
    refuse(b, times(&b, to_float(&b, every(&b, "w", 0, 8, 4)), signs(&b, every(&b, "s", 0, 1, 1), -1, 1)));
    b = bench_new();
    refuse(b, times(&b, to_float(&b, every_of(&b, load_table(&b, TABLE_GRID), 4, 8, 8)),
                    signs(&b, every(&b, "s", 0, 1, 1), -1, 1)));
    b = bench_new(); /* of 200 there is no byte */
    refuse(b, times(&b, grid_bytes(&b, TABLE_SIZES), signs(&b, every(&b, "s", 0, 1, 1), -1, 1)));
    b = bench_new(); /* an offset would need the sign, too */
    const qg_node *more =
        apply(&b, QG_ADD, to_int(&b, every_of(&b, load_table(&b, TABLE_GRID), 0, 8, 8)), qg_int(b.ir, 3));
    refuse(b, times(&b, to_float(&b, more), signs(&b, every(&b, "s", 0, 1, 1), -1, 1)));
    static const int64_t others[][2] = {{-2, 2}, {1, 1}, {-1, 0}, {0, 0}, {-1, 2}};
    for (uint32_t i = 0; i < sizeof others / sizeof *others; ++i) {
        b = bench_new();
        refuse(b,
               times(&b, grid_bytes(&b, TABLE_GRID), signs(&b, every(&b, "s", 0, 1, 1), others[i][0], others[i][1])));
    }
    b = bench_new(); /* more than a bit */
    refuse(b, times(&b, grid_bytes(&b, TABLE_GRID), signs(&b, every(&b, "s", 0, 2, 2), -1, 1)));
    b = bench_new();
    refuse(b, times(&b, grid_bytes(&b, TABLE_GRID), signs(&b, to_int(&b, every(&b, "s", 0, 2, 2)), -1, 1)));
    b = bench_new(); /* another condition */
    const qg_node *bit = every(&b, "s", 0, 1, 1), *one = qg_splat(b.ir, qg_uint(b.ir, 1), 4);
    const qg_node *chosen = qg_apply(b.ir, QG_SELECT, apply(&b, QG_NE, bit, one), qg_splat(b.ir, qg_int(b.ir, -1), 4),
                                     qg_splat(b.ir, qg_int(b.ir, 1), 4));
    refuse(b, times(&b, grid_bytes(&b, TABLE_GRID), to_float(&b, chosen)));
    b = bench_new();
    const qg_node *clear = apply(&b, QG_EQ, every(&b, "s", 0, 1, 1), qg_splat(b.ir, qg_uint(b.ir, 0), 4));
    chosen = qg_apply(b.ir, QG_SELECT, clear, qg_splat(b.ir, qg_int(b.ir, -1), 4), qg_splat(b.ir, qg_int(b.ir, 1), 4));
    refuse(b, times(&b, grid_bytes(&b, TABLE_GRID), to_float(&b, chosen)));
    b = bench_new(); /* codes and codes */
    refuse(b, times(&b, grid_bytes(&b, TABLE_GRID), to_float(&b, every(&b, "w", 0, 8, 4))));
}

/* ---- pack -------------------------------------------------------------------------------------------------------- */

static void test_pack(void **state) {
    (void)state;
    bench b = bench_new();
    check(b, to_float(&b, integers(&b, "q", 8)),
          "uint bytes = q0 | (q1 << 8u) | (q2 << 16u) | (q3 << 24u);\n"
          "dots0: dot4_unsigned(bytes, kept_word(k, m, digit * 1u))\n"
          "x_step(k, m, 0u) * dots0");
    b = bench_new(); /* what may be negative is masked, but for the last */
    check(b, to_float(&b, look_up(&b, TABLE_LEVELS, false)),
          "uint bytes = (uint(levels[i0]) & 0xFFu) | ((uint(levels[i1]) & 0xFFu) << 8u) | ((uint(levels[i2])"
          " & 0xFFu) << 16u) | (uint(levels[i3]) << 24u);\n"
          "dots0: dot4(bytes, kept_word(k, m, digit * 1u))\n"
          "x_step(k, m, 0u) * dots0");
    b = bench_new();
    check(b, to_float(&b, look_up(&b, TABLE_SIZES, true)),
          "uint bytes = sizes[0u][i0] | (sizes[0u][i1] << 8u) | (sizes[0u][i2] << 16u) | (sizes[0u][i3] <<"
          " 24u);\n"
          "dots0: dot4_unsigned(bytes, kept_word(k, m, digit * 1u))\n"
          "x_step(k, m, 0u) * dots0");
    b = bench_new(); /* an operation on all lanes is done once */
    check(b, to_float(&b, apply(&b, QG_SUB, to_int(&b, integers(&b, "p", 4)), to_int(&b, integers(&b, "q", 4)))),
          "ivec4 codes = ivec4(int(p0), int(p1), int(p2), int(p3)) - ivec4(int(q0), int(q1), int(q2),"
          " int(q3));\n"
          "uint bytes = (uint(codes.x) & 0xFFu) | ((uint(codes.y) & 0xFFu) << 8u) | ((uint(codes.z) & 0xFFu)"
          " << 16u) | (uint(codes.w) << 24u);\n"
          "dots0: dot4(bytes, kept_word(k, m, digit * 1u))\n"
          "x_step(k, m, 0u) * dots0");
    b = bench_new();
    check(b, to_float(&b, times(&b, integers(&b, "p", 4), integers(&b, "q", 4))),
          "uvec4 codes = uvec4(p0, p1, p2, p3) * uvec4(q0, q1, q2, q3);\n"
          "uint bytes = codes.x | (codes.y << 8u) | (codes.z << 16u) | (codes.w << 24u);\n"
          "dots0: dot4_unsigned(bytes, kept_word(k, m, digit * 1u))\n"
          "x_step(k, m, 0u) * dots0");
    b = bench_new();
    check(b, signs(&b, every(&b, "s", 0, 1, 1), -128, 127),
          "ivec4 codes = mix(ivec4(127), ivec4(-128), notEqual((uvec4(s) >> uvec4(0, 1, 2, 3)) & 1u,"
          " uvec4(0u)));\n"
          "uint bytes = (uint(codes.x) & 0xFFu) | ((uint(codes.y) & 0xFFu) << 8u) | ((uint(codes.z) & 0xFFu)"
          " << 16u) | (uint(codes.w) << 24u);\n"
          "dots0: dot4(bytes, kept_word(k, m, digit * 1u))\n"
          "x_step(k, m, 0u) * dots0");
}

static void test_no_pack(void **state) {
    (void)state;
    bench b = bench_new();
    refuse(b, to_float(&b, integers(&b, "q", 9)));
    b = bench_new();
    refuse(b, to_float(&b, look_up(&b, TABLE_WIDE, false))); /* -129 */
    b = bench_new();
    refuse(b, look_up(&b, TABLE_REALS, false));
    b = bench_new();
    refuse(b, to_float(&b, times(&b, integers(&b, "p", 5), integers(&b, "q", 4))));
    b = bench_new(); /* a byte with sign holds no 128, one without no -1 */
    refuse(b, signs(&b, every(&b, "s", 0, 1, 1), -1, 128));
    b = bench_new();
    refuse(b, signs(&b, every(&b, "s", 0, 1, 1), -129, 0));
    b = bench_new(); /* floats, of integers as they may be */
    const qg_node *order[4], *converted = qg_let(b.ir, to_float(&b, integers(&b, "q", 4)), "q", NULL);
    for (uint32_t i = 0; i < 4; ++i) order[i] = qg_lane(b.ir, converted, 3 - i);
    refuse(b, qg_vector(b.ir, order, 4));
    b = bench_new(); /* products beyond what any integer holds */
    const qg_node *large =
        to_int(&b, qg_vector(b.ir, (const qg_node *[]){word(&b, "a"), word(&b, "b"), word(&b, "c"), word(&b, "e")}, 4));
    refuse(b, to_float(&b, times(&b, times(&b, large, apply(&b, QG_ADD, large, qg_int(b.ir, 1))), large)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranges),         cmocka_unit_test(test_in_place), cmocka_unit_test(test_no_fields),
        cmocka_unit_test(test_word_with_sign), cmocka_unit_test(test_spread),   cmocka_unit_test(test_all_fields),
        cmocka_unit_test(test_join),           cmocka_unit_test(test_no_join),  cmocka_unit_test(test_all_joins),
        cmocka_unit_test(test_turn),           cmocka_unit_test(test_no_turn),  cmocka_unit_test(test_tables),
        cmocka_unit_test(test_halves),         cmocka_unit_test(test_sign),     cmocka_unit_test(test_no_sign),
        cmocka_unit_test(test_digit),          cmocka_unit_test(test_no_digit), cmocka_unit_test(test_pack),
        cmocka_unit_test(test_no_pack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
