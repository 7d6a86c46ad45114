/* x as integers: what a thread makes of the runs of a tile that it has loaded. */
#include "text/text.h"

/* What stands in the loop over right-hand sides, where there is one. */
static const char *inner(const qg_ir *ir) { return ir->single ? "    " : "        "; }

static uint64_t runs_between(uint32_t first, uint32_t end) {
    return (end < 64 ? UINT64_C(1) << end : 0) - (UINT64_C(1) << first);
}

/* x over a set of runs, from integers. */
static void add_sum_of_steps(qg_text *text, const qg_ir *ir, uint32_t n_steps, uint64_t runs) {
    const uint32_t in_step = QG_STEP_ELEMENTS / QG_MAX_LANES;
    bool first = true;
    for (uint32_t s = 0; s < n_steps; ++s) {
        const uint64_t part = runs & runs_between(s * in_step, (s + 1) * in_step);
        uint32_t elements = 0;
        for (uint64_t left = part; left; left &= left - 1) elements += QG_MAX_LANES;
        if (!part) continue;
        qg_text_printf(text, "%s%s_step(%s, %uu) * float(sum_of(", first ? "" : " + ", ir->x, qg_kept_numbers(ir), s);
        qg_add_lanes_of_runs(text, "whole[", part);
        qg_text_printf(text, ") - %u * BIAS)", elements);
        first = false;
    }
}

/* Of how many runs each set is, where all are of so many that follow each other, and of each once; 0: they are not. */
static uint32_t runs_between_sets(const uint64_t *sets, uint32_t count, uint32_t runs) {
    const uint32_t each = count && runs % count == 0 ? runs / count : 0;
    for (uint32_t i = 0; i < count && each; ++i)
        if (sets[i] != runs_between(i * each, (i + 1) * each)) return 0;
    return each;
}

/* Words that hold the elements of those runs, each once, and no others, a bit each; 0: there are none. */
static uint64_t quads_of_runs(const qg_ir *ir, uint64_t runs) {
    uint64_t left[QG_MAX_LANES], quads = 0; /* of each lane, the runs without a word */
    for (uint32_t l = 0; l < QG_MAX_LANES; ++l) left[l] = runs;
    for (uint32_t q = 0; q < ir->n_x_quads && q < 64; ++q) {
        const uint16_t *e = ir->x_quads[q].element;
        bool fits = true;
        for (uint32_t i = 0; i < 4; ++i) fits &= left[e[i] % QG_MAX_LANES] >> e[i] / QG_MAX_LANES & 1;
        if (!fits) continue;
        for (uint32_t i = 0; i < 4; ++i) left[e[i] % QG_MAX_LANES] &= ~(UINT64_C(1) << e[i] / QG_MAX_LANES);
        quads |= UINT64_C(1) << q;
    }
    for (uint32_t l = 0; l < QG_MAX_LANES; ++l)
        if (left[l]) return 0;
    return quads;
}

/* One digit over a set of runs. */
static void add_sum_of_digits(qg_text *text, const qg_ir *ir, uint64_t runs) {
    const uint64_t quads = quads_of_runs(ir, runs);
    const char *plus = "";
    for (uint32_t at = 0; at < 64; ++at) {
        if (!((quads ? quads : runs) >> at & 1)) continue;
        if (quads)
            qg_text_printf(text, "%ssum_of_bytes(%s)", plus, qg_word_of_x(text->arena, ir, at));
        else
            qg_text_printf(text, "%ssum_of_bytes(bytes_of(whole[%u], digit))", plus, at);
        plus = " + ";
    }
}

/* The steps that the integers of a tile stand for: of what is largest in each, unless they are joined, and whether all
 * is finite. With them, where `sums` says so, the sum of each step. */
static void add_integers_of_x(qg_text *text, const qg_ir *ir, const qg_plan *plan, const qg_target *target, bool sums) {
    const uint32_t runs = qg_x_runs(plan), n_steps = qg_x_steps(plan), in_step = runs / n_steps;
    const bool several = n_steps > 1;
    const char *in = inner(ir), *deep = several ? qg_format(text->arena, "%s    ", in) : in;
    const char *at = several ? "[s]" : "";
    /* Bounds that are numbers: some compilers unroll no other loops, and keep in memory what those index. */
    const char *run = several ? qg_format(text->arena, "%uu * s + r", in_step) : "r";
    const char *loop = qg_format(text->arena, "%s%sfor (uint s = 0u; s < %uu; ++s)", in, target->unroll, n_steps);
    const char *run_loop = qg_format(text->arena, "%s%sfor (uint r = 0u; r < %uu; ++r)", deep, target->unroll, in_step);
    if (several)
        qg_text_printf(text, "%s most[s] = all[s] = vec4(0.0);\n", loop);
    else
        qg_text_printf(text, "%svec4 most = vec4(0.0), all = vec4(0.0);\n", in);
    const char *of = several ? qg_format(text->arena, "[r / %uu]", in_step) : "";
    qg_text_printf(text, "%s%sfor (uint r = 0u; r < %uu; ++r) most%s = max(most%s, abs(run[r])), all%s += run[r];\n",
                   in, target->unroll, runs, of, of, of);
    const char *joined = ir->turn_runs ? "DIGITS > 1u && TURNS == 1u" : "DIGITS > 1u";
    if (n_steps == 2 && ir->one_step) {
        qg_text_printf(text,
                       "%sif (%s) most[0] = most[1] = max(most[0], most[1]), all[0] = all[1] = all[0] + all[1];\n", in,
                       joined);
    } else if (several && ir->one_step) {
        qg_text_printf(text, "%sif (%s) {\n", in, joined);
        const char *others =
            qg_format(text->arena, "%s    %sfor (uint s = 1u; s < %uu; ++s)", in, target->unroll, n_steps);
        qg_text_printf(text, "%s most[0] = max(most[0], most[s]), all[0] += all[s];\n", others);
        qg_text_printf(text, "%s most[s] = most[0], all[s] = all[0];\n%s}\n", others, in);
    }
    qg_text_printf(text, "%sivec4 whole[%u];\n", in, runs);
    if (several) qg_text_printf(text, "%s {\n", loop);
    qg_text_printf(text, "%sconst float scale = scale_of(most%s, all%s), step = 1.0 / scale;\n", deep, at, at);
    if (sums) qg_text_printf(text, "%sivec4 sum = ivec4(0);\n", deep);
    qg_text_printf(text, "%s whole[%s] = integers(run[%s] * scale)", run_loop, run, run);
    qg_text_printf(text, sums ? ", sum += whole[%s];\n" : ";\n", run);
    qg_text_printf(text, "%s%s", deep, qg_keep(text->arena, ir, plan, several ? "s" : "0u", "floatBitsToUint(step)"));
    if (sums) {
        const char *i = qg_format(text->arena, several ? "%uu + s" : "%uu", n_steps);
        const char *sum =
            qg_format(text->arena, "floatBitsToUint(step * float(sum.x + sum.y + sum.z + sum.w - %u * BIAS))",
                      in_step * QG_MAX_LANES);
        qg_text_printf(text, "%s%s", deep, qg_keep(text->arena, ir, plan, i, sum));
    }
    if (several) qg_text_printf(text, "%s}\n", in);
}

/* Sums that are not of a step each: in a loop, where each is of `each` runs, one after the other; 0: they are not. */
static void add_other_sums(qg_text *text, const qg_ir *ir, const qg_plan *plan, const qg_target *target,
                           uint32_t each) {
    const uint32_t n_steps = qg_x_steps(plan), in_step = qg_x_runs(plan) / n_steps;
    const char *in = inner(ir), *first = qg_format(text->arena, "%uu + i", n_steps);
    if (ir->n_x_sums > 1 && each && in_step % each == 0) {
        qg_text_printf(text, "%s%sfor (uint i = 0u; i < %uu; ++i) {\n%s    const ivec4 sum = ", in, target->unroll,
                       ir->n_x_sums, in);
        for (uint32_t r = 0; r < each; ++r)
            qg_text_printf(text, r ? " + whole[%uu * i + %uu]" : "whole[%uu * i]", each, r);
        const char *sum =
            qg_format(text->arena, "floatBitsToUint(%s_step(%s, i / %uu) * float(sum_of(sum) - %u * BIAS))", ir->x,
                      qg_kept_numbers(ir), in_step / each, each * QG_MAX_LANES);
        qg_text_printf(text, ";\n%s    %s%s}\n", in, qg_keep(text->arena, ir, plan, first, sum), in);
        return;
    }
    for (uint32_t i = 0; i < ir->n_x_sums; ++i) {
        qg_text sum = qg_text_new(text->arena);
        qg_text_puts(&sum, "floatBitsToUint(");
        add_sum_of_steps(&sum, ir, n_steps, ir->x_sums[i]);
        qg_text_puts(&sum, ")");
        qg_text_printf(text, "%s%s", in,
                       qg_keep(text->arena, ir, plan, qg_format(text->arena, "%uu", n_steps + i), sum.data));
    }
}

/* Whether word q is the four elements of run q, for all of them. */
static bool quads_are_runs(const qg_ir *ir) {
    for (uint32_t q = 0; q < ir->n_x_quads; ++q)
        for (uint32_t i = 0; i < 4; ++i)
            if (ir->x_quads[q].element[i] != 4 * q + i) return false;
    return true;
}

static void add_quads_of_x(qg_text *text, const qg_ir *ir, const qg_target *target, const char *in) {
    const char *kept = qg_kept_at(ir);
    if (quads_are_runs(ir) && ir->n_x_quads % 4 == 0) {
        const char *digits =
            ir->n_x_quads > 4 ? qg_format(text->arena, "digit * %uu + r / 4u", ir->n_x_quads / 4) : "digit";
        qg_text_printf(text, "%s%sfor (uint r = 0u; r < %uu; ++r) %s%s[%s][r%s] = bytes_of(whole[r], digit);\n", in,
                       target->unroll, ir->n_x_quads, ir->x, kept, digits, ir->n_x_quads > 4 ? " % 4u" : "");
        return;
    }
    for (uint32_t q = 0; q < ir->n_x_quads; ++q) {
        const uint16_t *e = ir->x_quads[q].element;
        const char *number = qg_format(text->arena, "digit * %uu + %uu", ir->n_x_quads, q);
        const bool fours = ir->n_x_quads % 4 == 0;
        const char *end = fours ? ";" : ");";
        if (fours)
            qg_text_printf(text, "%s%s = bytes_of(", in, qg_word_of_x(text->arena, ir, q));
        else
            qg_text_printf(text, "%skeep_word(%s, %s, bytes_of(", in, qg_kept_numbers(ir), number);
        if (e[0] % 4 == 0 && e[1] == e[0] + 1 && e[2] == e[0] + 2 && e[3] == e[0] + 3)
            qg_text_printf(text, "whole[%u], digit)%s\n", e[0] / 4, end);
        else
            qg_text_printf(text, "ivec4(whole[%u].%c, whole[%u].%c, whole[%u].%c, whole[%u].%c), digit)%s\n", e[0] / 4,
                           "xyzw"[e[0] % 4], e[1] / 4, "xyzw"[e[1] % 4], e[2] / 4, "xyzw"[e[2] % 4], e[3] / 4,
                           "xyzw"[e[3] % 4], end);
    }
}

uint32_t qg_digits_each(const qg_ir *ir, const qg_plan *plan) {
    const uint32_t each = runs_between_sets(ir->x_digits, ir->n_x_digits, qg_x_runs(plan));
    const bool whole = each % 4 == 0 || 4 % (each ? each : 3) == 0;
    return whole && ir->n_x_digits > 0 && quads_are_runs(ir) && ir->n_x_quads % 4 == 0 ? each : 0;
}

/* Sums of one digit, all of as many words. */
static void add_sums_of_digits(qg_text *text, const qg_ir *ir, const qg_plan *plan, const qg_target *target,
                               const char *in) {
    const uint32_t each = qg_digits_each(ir, plan), count = ir->n_x_digits;
    const uint32_t floats = qg_x_steps(plan) + ir->n_x_sums, fours = ir->n_x_quads / 4;
    qg_arena *arena = text->arena;
    const char *i =
        count > 1 ? qg_format(arena, "digit * %uu + %uu + i", count, floats) : qg_format(arena, "digit + %uu", floats);
    const char *from = fours > 1 ? qg_format(arena, "%s%s[digit * %uu", ir->x, qg_kept_at(ir), fours)
                                 : qg_format(arena, "%s%s[digit", ir->x, qg_kept_at(ir));
    qg_text_puts(text, in);
    if (count > 1) qg_text_printf(text, "%sfor (uint i = 0u; i < %uu; ++i) ", target->unroll, count);
    qg_text sum = qg_text_new(arena);
    for (uint32_t w = 0; w < (each % 4 ? each : each / 4); ++w) {
        qg_text_printf(&sum, "%ssum_of_bytes(%s", w ? " + " : "uint(", from);
        if (each % 4)
            qg_text_printf(&sum,
                           w          ? " + i / %uu][i %% %uu * %uu + %uu])"
                           : each > 1 ? " + i / %uu][i %% %uu * %uu])"
                                      : " + i / %uu][i %% %uu])",
                           4 / each, 4 / each, each, w);
        else if (count > 1)
            qg_text_printf(&sum, each == 4 ? " + i])" : w ? " + i * %uu + %uu])" : " + i * %uu])", each / 4, w);
        else
            qg_text_printf(&sum, w ? " + %uu])" : "])", w);
    }
    qg_text_puts(&sum, ")");
    qg_text_puts(text, qg_keep(arena, ir, plan, i, sum.data));
}

bool qg_sums_steps(const qg_ir *ir, const qg_plan *plan) {
    return runs_between_sets(ir->x_sums, ir->n_x_sums, qg_x_runs(plan)) == qg_x_runs(plan) / qg_x_steps(plan);
}

/* x as integers of DIGITS signed bytes each. */
void qg_digits_of_x(qg_text *text, const qg_ir *ir, const qg_plan *plan, const qg_target *target) {
    const char *in = inner(ir), *deep = qg_format(text->arena, "%s    ", in);
    const uint32_t each = runs_between_sets(ir->x_sums, ir->n_x_sums, qg_x_runs(plan)),
                   floats = qg_x_steps(plan) + ir->n_x_sums;
    const bool of_steps = qg_sums_steps(ir, plan);
    add_integers_of_x(text, ir, plan, target, of_steps);
    if (!of_steps) add_other_sums(text, ir, plan, target, each);
    const bool alone = !ir->n_x_digits && quads_are_runs(ir) && ir->n_x_quads % 4 == 0; /* one statement */
    qg_text_printf(text, "%s%sfor (uint digit = 0u; digit < DIGITS; ++digit)%s\n", in, target->unroll,
                   alone ? "" : " {");
    add_quads_of_x(text, ir, target, deep);
    const bool loops = qg_digits_each(ir, plan) != 0;
    if (loops) add_sums_of_digits(text, ir, plan, target, deep);
    for (uint32_t i = 0; i < ir->n_x_digits && !loops; ++i) {
        const char *digit = ir->n_x_digits > 1 ? qg_format(text->arena, "digit * %uu", ir->n_x_digits) : "digit";
        const char *word = qg_format(text->arena, "%s + %uu", digit, floats + i);
        qg_text sum = qg_text_new(text->arena);
        qg_text_puts(&sum, "uint(");
        add_sum_of_digits(&sum, ir, ir->x_digits[i]);
        qg_text_puts(&sum, ")");
        qg_text_printf(text, "%s%s", deep, qg_keep(text->arena, ir, plan, word, sum.data));
    }
    if (!alone) qg_text_printf(text, "%s}\n", in);
}
