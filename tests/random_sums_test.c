/* Sums over rows of random values: where the rules make one of integers, it is exactly the plain sum. */
#include "byte_sums.h"

static uint32_t below(uint32_t n) { return random_word() % n; }

static bool once_in(uint32_t n) { return below(n) == 0; }

/* Fields of a word, at any places. */
static const qg_node *random_fields(const bench *b, uint32_t width) {
    uint32_t shifts[4];
    const uint32_t step = once_in(3) ? 8 : below(9), first = below(32 - 3 * step);
    const bool scattered = once_in(4);
    for (uint32_t i = 0; i < 4; ++i) shifts[i] = scattered ? below(32) : first + i * step;
    return fields(b, word(b, qg_format(b->arena, "w%u", below(3))), 4, shifts, width);
}

/* Fields that fill words together, over the runs; or halves of them, when the first begins in the middle. */
static const qg_node *random_plane(const bench *b, bool middle, uint32_t run, uint32_t width) {
    const uint32_t in_word = 8 / width;
    if (middle) run += in_word / 2;
    return every_of(b, word(b, qg_format(b->arena, "plane%u", run / in_word)), 4 * width * (run % in_word), width,
                    width);
}

/* Integers that mostly fit into bytes. */
static const qg_node *random_codes(const bench *b, uint32_t kind, bool middle, uint32_t run) {
    const uint32_t width = 1 + below(8), low = 1 + below(5);
    const uint32_t step = 1 + below(8), shifts[] = {0, step, 2 * step, 3 * step};
    switch (kind) {
    case 0: return random_fields(b, width);
    case 1: return random_plane(b, middle, run, 4);
    case 2: return random_plane(b, middle, run, 2);
    case 3: return joined(b, random_fields(b, low), random_fields(b, 1 + below(8 - low)), low);
    case 4: return qg_sign_extend(b->ir, spread(b, word(b, "z"), 4, shifts), width);
    case 5: return qg_sign_extend(b->ir, random_fields(b, width), width);
    case 6: return qg_sign_extend(b->ir, joined(b, random_fields(b, low), random_fields(b, 2), low), low + 2);
    case 7: return integers(b, qg_format(b->arena, "q%u_", run), width);
    case 8: return look_up(b, TABLE_LEVELS, false);
    case 9: return every_of(b, load_table(b, once_in(2) ? TABLE_GRID : TABLE_SIZES), 0, 8, 8);
    case 11: return nibble_levels(b, qg_format(b->arena, "y%u", run / 2), once_in(8) ? 0 : 4 * (run % 2));
    case 13: { /* a digit of a base */
        static const uint32_t bases[] = {3, 5, 10}, powers[] = {1, 3, 5, 9, 25, 81, 100};
        const qg_node *fraction = apply(b, QG_MUL, random_fields(b, 8), qg_uint(b->ir, powers[below(7)]));
        fraction = apply(b, QG_AND, fraction, qg_uint(b->ir, 255));
        return apply(b, QG_SHR, apply(b, QG_MUL, fraction, qg_uint(b->ir, bases[below(3)])), qg_uint(b->ir, 8));
    }
    case 10: return times(b, integers(b, "p", 4), integers(b, qg_format(b->arena, "q%u_", run), 4));
    default: return qg_sign_extend(b->ir, every_of(b, load_table(b, TABLE_SIGNED_GRID), 0, 8, 8), 8);
    }
}

static const qg_node *random_scale(const bench *b) {
    static const float constants[] = {-1, 2, 0.5f, -8, 3};
    const uint32_t kind = below(6);
    const qg_node *d = half(b, "d");
    if (kind < 2) return d;
    if (kind == 2) return whole(b, once_in(2) ? "m" : "n", once_in(2) ? 16 : 64);
    if (kind == 3) return times(b, d, to_float(b, qg_sign_extend(b->ir, qg_arg(b->ir, "l", 64), 6)));
    return kind == 4 ? half(b, "e") : qg_real(b->ir, constants[below(5)]);
}

/* What values do to codes; `alike`: for all runs the same. */
typedef struct shape {
    uint32_t kind;
    bool sign, scaled, offset, minimum, choice, alike, middle;
} shape;

static const qg_node *random_value(const bench *b, const shape *like, uint32_t run) {
    if (like->choice) {
        const qg_node *d = half(b, like->alike || once_in(2) ? "d" : "e"), *bit = random_plane(b, like->middle, run, 1);
        return choose(b, bit, d, apply(b, QG_NEG, d, NULL));
    }
    const qg_node *value = random_codes(b, like->kind, like->middle, run);
    if (like->offset) value = minus(b, value, (int64_t)below(40) - 20);
    value = to_float(b, value);
    if (like->alike) return like->scaled ? times(b, half(b, "d"), value) : value;
    if (like->sign) {
        const int64_t set = once_in(2) ? 1 : -1;
        value = times(b, value, signs(b, random_fields(b, 1), set, -set));
    }
    if (like->scaled) value = times(b, random_scale(b), value);
    if (once_in(8)) value = apply(b, QG_NEG, value, NULL);
    const qg_op op = once_in(2) ? QG_ADD : QG_SUB;
    if (like->minimum) value = apply(b, op, value, once_in(3) ? qg_real(b->ir, 8) : random_scale(b));
    if (like->minimum && once_in(3)) value = apply(b, op, value, random_scale(b));
    return once_in(3) ? times(b, random_scale(b), value) : value;
}

static void test_random(void **state) {
    (void)state;
    enum { SUMS = 4000 };
    static const uint32_t counts[] = {1, 2, 4, 8};
    uint32_t sums = 0, planes = 0, pairs = 0;
    for (uint32_t i = 0; i < SUMS; ++i) {
        const bench b = bench_new();
        const qg_node *values[8];
        b.ir->pairs = once_in(2);
        const uint32_t n_runs = counts[below(4)];
        const shape like = {below(14),  once_in(4), !once_in(4), once_in(3),
                            once_in(2), once_in(8), once_in(2),  once_in(2)};
        for (uint32_t r = 0; r < n_runs; ++r) values[r] = random_value(&b, &like, r);
        const qg_node *sum = qg_dot_of_bytes(b.ir, 4, n_runs, values);
        for (uint32_t round = 0; round < 6 && sum; ++round) {
            machine m = machine_new(b.ir);
            use_integers(&m, 1 + round % 3, round % 3 == 2 ? 1 << 20 : largest_of_digits(1 + round % 3));
            const double plain = plain_sum(&m, 4, n_runs, values), ours = evaluate(&m, sum).real[0];
            if (ours != plain) fail_msg("sum %u: %.17g, and not %.17g", i, ours, plain);
        }
        sums += sum != NULL;
        planes += sum && b.ir->n_x_quads && b.ir->x_quads[0].element[1] != 1;
        for (uint32_t n = 0; sum && n < b.ir->n_nodes; ++n)
            if (b.ir->nodes[n]->op == QG_PAIRS) {
                pairs += 1;
                break;
            }
        qg_arena_free(b.arena);
    }
    if (sums < SUMS / 2 || sums == SUMS || planes < SUMS / 40 || pairs < SUMS / 200)
        fail_msg("%u sums, %u with planes, %u with pairs", sums, planes, pairs);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
