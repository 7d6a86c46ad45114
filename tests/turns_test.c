/* Tiles of integers in turns: what each adds is all of the sum, exactly, and made of that turn's x alone; and sums that
 * cannot be taken apart so have no turns. */
#include "byte_sums.h"

enum { RUNS = 16, STEP = QG_STEP_ELEMENTS / QG_MAX_LANES };

/* The last two cannot be taken apart. */
typedef enum kind { ONE_SCALE, SCALES, NEGATIVE, CODES_LESS_7, MINIMUMS, ONE_MINIMUM, FIRST_LESS_7 } kind;

static const qg_node *codes_of(const bench *b, uint32_t run) {
    return to_float(b, every(b, run < STEP ? "v" : "w", run / 4 % 2 * 4, 8, 4));
}

static const qg_node *run_of(const bench *b, kind kind, uint32_t run) {
    const bool first = run < STEP;
    const qg_node *codes = codes_of(b, run), *d = half(b, "d"), *of_step = half(b, first ? "d" : "e");
    switch (kind) {
    case ONE_SCALE: return times(b, d, codes);
    case SCALES: return times(b, of_step, codes);
    case NEGATIVE: return first ? times(b, d, codes) : times(b, qg_real(b->ir, -2), times(b, of_step, codes));
    case CODES_LESS_7: return times(b, of_step, apply(b, QG_ADD, codes, qg_real(b->ir, -7)));
    case MINIMUMS: return apply(b, QG_SUB, times(b, d, codes), half(b, first ? "m" : "n"));
    case FIRST_LESS_7:
        if (!first) return times(b, d, codes);
        return times(b, half(b, run < STEP / 2 ? "e" : "f"), apply(b, QG_ADD, codes, qg_real(b->ir, -7)));
    case ONE_MINIMUM: return apply(b, QG_SUB, times(b, d, codes), half(b, "m"));
    }
    return NULL;
}

static const qg_node *sum_of(const bench *b, kind kind, uint32_t n_runs, const qg_node **values) {
    for (uint32_t r = 0; r < n_runs; ++r) values[r] = run_of(b, kind, r % RUNS);
    const qg_node *sum = qg_dot_of_bytes(b->ir, QG_MAX_LANES, n_runs, values);
    assert_non_null(sum);
    qg_output(b->ir, sum, NULL);
    b->ir->turn_runs = STEP;
    return sum;
}

/* Parts of a sum: all of them with the x of one turn are that turn's alone. */
static void check_parts(kind kind) {
    const bench b = bench_new();
    const qg_node *values[RUNS];
    sum_of(&b, kind, RUNS, values);
    assert_int_equal(qg_turns_of_integers(b.ir), 2);
    assert_null(qg_part_in_turn(b.arena, b.ir, 2));
    for (uint32_t round = 0; round < 30; ++round) {
        machine m = machine_new(b.ir);
        use_integers(&m, 1 + round % 3, largest_of_digits(1 + round % 3));
        const double plain = plain_sum(&m, QG_MAX_LANES, RUNS, values);
        double all = 0, of[2];
        for (uint32_t turn = 0; turn < 2; ++turn) {
            of[turn] = evaluate(&m, qg_part_in_turn(b.arena, b.ir, turn)).real[0];
            all += of[turn];
        }
        if (all != plain) fail_msg("kind %d: %.17g, and not %.17g", (int)kind, all, plain);
        for (uint32_t turn = 0; turn < 2; ++turn) {
            machine other = m;
            for (uint32_t r = 0; r < RUNS; ++r)
                for (uint32_t l = 0; l < QG_MAX_LANES && r / STEP != turn; ++l) other.x[r][l] = 0;
            assert_true(evaluate(&other, qg_part_in_turn(b.arena, b.ir, turn)).real[0] == of[turn]);
        }
    }
    qg_arena_free(b.arena);
}

static void test_parts(void **state) {
    (void)state;
    for (kind kind = ONE_SCALE; kind < ONE_MINIMUM; ++kind) check_parts(kind);
}

static uint32_t turns(kind kind, uint32_t n_runs) {
    const bench b = bench_new();
    const qg_node *values[QG_MAX_RUNS];
    sum_of(&b, kind, n_runs, values);
    const uint32_t count = qg_turns_of_integers(b.ir);
    qg_arena_free(b.arena);
    return count;
}

/* Of a single step there is one turn; of more than four, or where one sum is of several, or a turn has fewer words, none. */
static void test_none(void **state) {
    (void)state;
    assert_int_equal(turns(SCALES, STEP), 1);
    assert_int_equal(turns(ONE_MINIMUM, STEP), 1);
    assert_int_equal(turns(ONE_MINIMUM, RUNS), 0);
    assert_int_equal(turns(FIRST_LESS_7, RUNS), 0);
    assert_int_equal(turns(SCALES, RUNS - 1), 0);
    const bench b = bench_new();
    const qg_node *values[RUNS];
    sum_of(&b, SCALES, RUNS, values);
    b.ir->turn_runs = 2;
    assert_int_equal(qg_turns_of_integers(b.ir), 0); /* eight */
    b.ir->turn_runs = 4;
    assert_int_equal(qg_turns_of_integers(b.ir), 0); /* four, but a sum of integers is of two */
    qg_arena_free(b.arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_parts), cmocka_unit_test(test_none)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
