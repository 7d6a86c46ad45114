#include "byte_sums.h"

#include <string.h>

const qg_node *times(const bench *b, const qg_node *left, const qg_node *right) {
    return apply(b, QG_MUL, left, right);
}

const qg_node *minus(const bench *b, const qg_node *codes, int64_t by) {
    return apply(b, QG_SUB, to_int(b, codes), qg_int(b->ir, by));
}

const qg_node *joined(const bench *b, const qg_node *low, const qg_node *high, uint32_t up) {
    return apply(b, QG_OR, low, apply(b, QG_SHL, high, qg_uint(b->ir, up)));
}

const qg_node *whole(const bench *b, const char *name, uint64_t extent) {
    return to_float(b, qg_arg(b->ir, name, extent));
}

const qg_node *load_table(const bench *b, uint32_t table) {
    return qg_load(b->ir, 1 + table, 32, qg_arg(b->ir, "i", 4));
}

const qg_node *look_up(const bench *b, uint32_t table, bool column) {
    const qg_node *lanes[4];
    for (uint32_t i = 0; i < 4; ++i) {
        const qg_node *at = qg_arg(b->ir, qg_format(b->arena, "i%u", i), 2);
        lanes[i] = qg_lookup(b->ir, table, column ? qg_uint(b->ir, 0) : at, column ? at : NULL);
    }
    return qg_vector(b->ir, lanes, 4);
}

const qg_node *nibble_levels(const bench *b, const char *name, uint32_t shift) {
    const qg_node *codes = every(b, name, shift, 8, 4), *lanes[4];
    for (uint32_t i = 0; i < 4; ++i) lanes[i] = qg_lookup(b->ir, TABLE_LEVELS, qg_lane(b->ir, codes, i), NULL);
    return qg_vector(b->ir, lanes, 4);
}

const qg_node *signs(const bench *b, const qg_node *bit, int64_t yes, int64_t no) {
    return to_float(b, choose(b, bit, qg_int(b->ir, yes), qg_int(b->ir, no)));
}

/* Whether `text` begins with `, NAME = `. */
static bool begins_name(const char *text) {
    const size_t name = strncmp(text, ", ", 2) == 0 ? strspn(text + 2, "abcdefghijklmnopqrstuvwxyz_0123456789") : 0;
    return name && strncmp(text + 2 + name, " = ", 3) == 0;
}

/* The text with each declaration in a line of its own: values of one type may stand in one. */
static char *one_a_line(qg_arena *arena, const char *text) {
    qg_text lines = qg_text_new(arena);
    while (*text) {
        const size_t length = strcspn(text, "\n"), type = strcspn(text, " ");
        for (size_t at = 0; at < length; ++at) {
            if (begins_name(text + at))
                qg_text_printf(&lines, ";\n%.*s", (int)type, text);
            else
                qg_text_add(&lines, text + at, 1);
        }
        if (text[length]) qg_text_puts(&lines, "\n");
        text += length + (text[length] != 0);
    }
    return lines.data;
}

void check_runs(bench b, uint32_t n_runs, const qg_node *const *values, const char *expected) {
    const qg_node *sum = qg_dot_of_bytes(b.ir, 4, n_runs, values);
    if (!sum) fail_msg("no sum of integers: %s", expected);
    qg_output(b.ir, sum, NULL);
    for (uint32_t round = 0; round < 60; ++round) {
        machine m = machine_new(b.ir);
        const uint32_t digits = 1 + round % 3;
        use_integers(&m, digits, largest_of_digits(digits));
        const double plain = plain_sum(&m, 4, n_runs, values), ours = evaluate(&m, sum).real[0];
        if (ours != plain) fail_msg("%.17g, and not %.17g: %s", ours, plain, expected);
    }
    qg_finish(b.ir, NULL, 0);
    assert_string_equal(one_a_line(b.arena, text_of(&b, 4, n_runs)), expected);
    qg_arena_free(b.arena);
}

void check(bench b, const qg_node *value_of_run, const char *expected) { check_runs(b, 1, &value_of_run, expected); }

void refuse(bench b, const qg_node *value_of_run) {
    assert_null(qg_dot_of_bytes(b.ir, 4, 1, &value_of_run));
    qg_arena_free(b.arena);
}
