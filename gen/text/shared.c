/* What a thread keeps of x as integers, and x in the memory of a workgroup, where there are several right-hand sides.
 * There whichever thread has loaded a tile puts what it keeps of it, four words at a time, and all take it. Fours of
 * neighbouring tiles are neighbours, for neighbouring threads read them at once. */
#include "text/text.h"

static const qg_target *const glsl = &qg_target_glsl;

char *qg_word_of_x(qg_arena *arena, const qg_ir *ir, uint32_t quad) {
    const uint32_t quads = ir->n_x_quads;
    if (quads % 4)
        return qg_format(arena, quad ? "kept_word(%s, digit * %uu + %uu)" : "kept_word(%s, digit * %uu)",
                         qg_kept_numbers(ir), quads, quad);
    return qg_format(arena, "%s.%c", qg_four_of_x(arena, ir, quad / 4), "xyzw"[quad % 4]);
}

char *qg_four_of_x(qg_arena *arena, const qg_ir *ir, uint32_t four) {
    const char *digits = ir->n_x_quads > 4 ? qg_format(arena, "digit * %uu", ir->n_x_quads / 4) : "digit";
    return four ? qg_format(arena, "%s%s[%s + %uu]", ir->x, qg_kept_at(ir), digits, four)
                : qg_format(arena, "%s%s[%s]", ir->x, qg_kept_at(ir), digits);
}

/* Whether what follows the digits is one four. */
static bool is_one_four(const qg_ir *ir, const qg_plan *plan) {
    return ir->n_x_quads % 4 == 0 && !ir->n_x_digits && qg_x_steps(plan) + ir->n_x_sums <= 4;
}

static char *word_of_four(qg_arena *arena, const qg_ir *ir, const char *i) {
    return ir->n_x_quads > 4 ? qg_format(arena, "%s%s[DIGITS * %uu][%s]", ir->x, qg_kept_at(ir), ir->n_x_quads / 4, i)
                             : qg_format(arena, "%s%s[DIGITS][%s]", ir->x, qg_kept_at(ir), i);
}

static char *kept_word(qg_arena *arena, const qg_ir *ir, const qg_plan *plan, const char *i) {
    if (is_one_four(ir, plan)) return word_of_four(arena, ir, i);
    return qg_format(arena, "kept_word(%s, DIGITS * %uu + %s)", qg_kept_numbers(ir), ir->n_x_quads, i);
}

char *qg_keep(qg_arena *arena, const qg_ir *ir, const qg_plan *plan, const char *i, const char *value) {
    if (is_one_four(ir, plan)) return qg_format(arena, "%s = %s;\n", word_of_four(arena, ir, i), value);
    return qg_format(arena, "keep_word(%s, DIGITS * %uu + %s, %s);\n", qg_kept_numbers(ir), ir->n_x_quads, i, value);
}

/* How many fours of words integers are kept in. */
static char *fours_kept(qg_arena *arena, const qg_step *step) {
    const qg_ir *ir = step->code;
    const uint32_t words = ir->n_x_quads + ir->n_x_digits, floats = qg_x_steps(step->plan) + ir->n_x_sums;
    return words % 4 ? qg_format(arena, "(DIGITS * %uu + %uu) / 4u", words, floats + 3)
                     : qg_format(arena, "DIGITS * %uu + %uu", words / 4, (floats + 3) / 4);
}

/* As integers, with `outer` lengths, and the functions that find them. The number of fours has a name where they are
 * shared, too. */
static char *kept_integers(qg_arena *arena, const qg_step *step, const char *outer, bool shares) {
    const qg_ir *ir = step->code;
    const uint32_t quads = ir->n_x_quads, steps = qg_x_steps(step->plan), floats = steps + ir->n_x_sums;
    const char *numbers = ir->single ? "uint k" : "uint k, uint m";
    const char *sum = qg_format(arena, "%uu + i", steps), *digits = qg_format(arena, "%uu + digit + i", floats);
    if (ir->n_x_digits > 1) digits = qg_format(arena, "%uu + digit * %uu + i", floats, ir->n_x_digits);
    qg_text text = qg_text_new(arena);
    if (shares) qg_text_printf(&text, "const uint X_FOURS = %s;\n", fours_kept(arena, step));
    qg_text_printf(&text, "uvec4 %s%s[%s];\n", ir->x, outer, shares ? "X_FOURS" : fours_kept(arena, step));
    if (quads % 4 || !is_one_four(ir, step->plan))
        qg_text_printf(&text,
                       "uint kept_word(%s, uint i) { return %s%s[i / 4u][i %% 4u]; }\n"
                       "void keep_word(%s, uint i, uint word) { %s%s[i / 4u][i %% 4u] = word; }\n",
                       numbers, ir->x, qg_kept_at(ir), numbers, ir->x, qg_kept_at(ir));
    qg_text_printf(&text, "float x_step(%s, uint i) { return uintBitsToFloat(%s); }  // that integers stand for\n",
                   numbers, kept_word(arena, ir, step->plan, "i"));
    if (ir->n_x_sums)
        qg_text_printf(&text,
                       "float x_sum(%s, uint i) { return uintBitsToFloat(%s); }  // over runs that share a scale\n",
                       numbers, kept_word(arena, ir, step->plan, sum));
    if (ir->n_x_digits)
        qg_text_printf(&text, "int x_digits(%s, uint digit, uint i) { return int(%s); }  // of them, one digit\n",
                       numbers, kept_word(arena, ir, step->plan, digits));
    return text.data;
}

/* An array of what is kept of x as floats: its place among the words, and how one of its items is written. */
typedef struct piece {
    const char *array, *at;
    uint32_t count, lanes;
} piece;

static void add_piece(qg_text *text, piece p, bool take) {
    qg_arena *arena = text->arena;
    if (!p.count) return;
    qg_text_printf(text, "    [[unroll]] for (uint i = 0u; i < %uu; ++i) ", p.count * p.lanes);
    const char *item = p.lanes > 1 ? qg_format(arena, "%s[i / %uu][i %% %uu]", p.array, p.lanes, p.lanes)
                                   : qg_format(arena, "%s[i]", p.array);
    const char *word = *p.at ? qg_format(arena, "words[%s + i]", p.at) : "words[i]";
    qg_text_printf(text, take ? "%s = uintBitsToFloat(%s);\n" : "%s = floatBitsToUint(%s);\n", take ? item : word,
                   take ? word : item);
}

static void add_pieces(qg_text *text, const qg_ir *ir, const qg_plan *plan, bool take) {
    qg_arena *arena = text->arena;
    add_piece(text, (piece){qg_format(arena, "%s[0]", ir->x), "", plan->n_runs, plan->lanes}, take);
    add_piece(text,
              (piece){qg_format(arena, "%s_sum[0]", ir->x), qg_format(arena, "%uu", plan->n_runs * plan->lanes),
                      ir->n_x_sums, 1},
              take);
}
/* Four sums of a tile, or those that are left. */
static void add_sums(qg_text *text, const qg_ir *ir, uint32_t first, bool take, const char *in) {
    const uint32_t left = ir->n_x_sums - first;
    for (uint32_t i = 0; i < 4; ++i) {
        if (take && i < left)
            qg_text_printf(text, "%s%s_sum[0][%u] = sums.%c", i ? ", " : in, ir->x, first + i, "xyzw"[i]);
        else if (!take && i < left)
            qg_text_printf(text, "%s%s_sum[0][%u]", i ? ", " : "", ir->x, first + i);
        else if (!take)
            qg_text_puts(text, ", 0.0");
    }
}

/* Of a tile that is taken in turns, what is wanted in each: runs, and single sums, or a compiler keeps a four of them
 * from one turn to the next. */
static void take_in_turns(qg_text *text, const qg_ir *ir, const char *loop, const char *four, const char *sums) {
    const uint32_t runs = ir->turn_runs * QG_TURNS, n_sums = ir->n_x_sums;
    const uint32_t *of_sums = qg_turns_of(text->arena, ir)->of_sums;
    qg_text_printf(
        text, "// Takes it from there, for the turns that are true.\nvoid take_x(uint m, uint t, bvec4 turns) {\n");
    if (ir->turn_runs > 1)
        qg_text_printf(text, "    %s if (turns[i / %uu]) %s[0][i] = %s;\n", loop, ir->turn_runs, ir->x, four);
    else
        qg_text_printf(text, "    %s if (turns[i]) %s[0][i] = %s;\n", loop, ir->x, four);
    if (n_sums) qg_text_printf(text, "    if (TURNS == 1u) {\n%s        return;\n    }\n", sums);
    for (uint32_t i = 0; i < n_sums; ++i) {
        const char *begin = "    if (";
        for (uint32_t turn = 0; turn < QG_TURNS; ++turn) {
            if (!(of_sums[i] >> turn & 1)) continue;
            qg_text_printf(text, "%sturns.%c", begin, "xyzw"[turn]);
            begin = " || ";
        }
        qg_text_printf(text, ") %s_sum[0][%u] = shared_x[(m * X_FOURS + %uu) * SLICE + t].%c;\n", ir->x, i,
                       runs + i / 4, "xyzw"[i % 4]);
    }
    qg_text_puts(text, "}\n");
}

/* Runs of four floats are fours as they are. */
static char *shared_floats(qg_arena *arena, const qg_step *step) {
    const qg_ir *ir = step->code;
    const uint32_t runs = step->plan->n_runs;
    const char *loop = qg_format(arena, "[[unroll]] for (uint i = 0u; i < %uu; ++i)", runs);
    const char *four = "shared_x[(m * X_FOURS + i) * SLICE + t]";
    qg_text text = qg_text_new(arena), sums = qg_text_new(arena);
    const char *in = ir->turn_runs ? "        " : "    ";
    qg_text_printf(
        &text,
        "const uint X_FOURS = %uu, FIT = SHARED_FOURS / (X_FOURS * BATCH), SLICE = FIT < 8u ? FIT : FIT / 8u "
        "* 8u;  // tiles\n"
        "shared vec4 shared_x[BATCH * X_FOURS * SLICE];\n\n"
        "// Puts what is kept of right-hand side `m` and tile `t` of the slice there.\n"
        "void share_x(uint m, uint t) {\n    %s %s = %s[0][i];\n",
        runs + (ir->n_x_sums + 3) / 4, loop, four, ir->x);
    qg_text_puts(&sums, "");
    for (uint32_t first = 0; first < ir->n_x_sums; first += 4) {
        const char *at = qg_format(arena, "shared_x[(m * X_FOURS + %uu) * SLICE + t]", runs + first / 4);
        qg_text_printf(&text, "    %s = vec4(", at);
        add_sums(&text, ir, first, false, "");
        qg_text_puts(&text, ");\n");
        qg_text_printf(&sums,
                       first              ? "%ssums = %s;\n"
                       : ir->n_x_sums > 4 ? "%svec4 sums = %s;\n"
                                          : "%sconst vec4 sums = %s;\n",
                       in, at);
        add_sums(&sums, ir, first, true, in);
        qg_text_puts(&sums, ";\n");
    }
    qg_text_puts(&text, "}\n\n");
    if (ir->turn_runs)
        take_in_turns(&text, ir, loop, four, sums.data);
    else
        qg_text_printf(&text, "// Takes it from there.\nvoid take_x(uint m, uint t) {\n    %s %s[0][i] = %s;\n%s}\n",
                       loop, ir->x, four, sums.data);
    return text.data;
}

/* Words from `first` on, in sets of `count` if there are several, of which `each` are of a turn. */
static const char *quotient_behind(qg_arena *arena, uint32_t first, uint32_t count, uint32_t each) {
    const char *at = qg_format(arena, count || each > 1 ? " (behind - %uu)" : " behind - %uu", first);
    if (count > 1) at = qg_format(arena, "%s %% %uu", at, count);
    return each > 1 ? qg_format(arena, "%s / %uu", at, each) : at;
}

/* In which turn a word of integers is made, in the order in which they are kept. */
static void add_turn_of_word(qg_text *text, const qg_ir *ir, const qg_plan *plan) {
    const uint32_t steps = qg_x_steps(plan), quads = ir->n_x_quads, sums = ir->n_x_sums, digits = ir->n_x_digits;
    qg_arena *arena = text->arena;
    const char *of_quad = qg_format(arena, "return i < DIGITS * %uu ? i %% %uu / %uu", quads, quads, quads / steps);
    qg_text_printf(text, "uint turn_of(uint i) {");
    if ((!sums || sums == steps) && (!digits || digits == steps)) {
        qg_text_printf(text, " %s : i %% %uu; }  // in which word `i` is made\n", of_quad, steps);
        return;
    }
    qg_text_printf(
        text,
        "  // in which word `i` is made\n    const uint behind = i - DIGITS * %uu;\n    %s : behind < %uu ? behind",
        quads, of_quad, steps);
    if (sums && digits) qg_text_printf(text, " : behind < %uu ?", steps + sums);
    if (sums && !digits) qg_text_puts(text, " :");
    if (sums) qg_text_puts(text, quotient_behind(arena, steps, 0, sums / steps));
    if (digits) qg_text_printf(text, " :%s", quotient_behind(arena, steps + sums, digits, digits / steps));
    qg_text_puts(text, ";\n}\n");
}

static char *shared_x(qg_arena *arena, const qg_step *step) {
    const qg_ir *ir = step->code;
    const qg_plan *plan = step->plan;
    const char *loop = "[[unroll]] for (uint i = 0u; i < X_FOURS; ++i)";
    const char *four = "shared_x[(m * X_FOURS + i) * SLICE + t]";
    if (!ir->n_x_quads && plan->lanes == 4) return shared_floats(arena, step);
    qg_text text = qg_text_new(arena);
    if (!ir->n_x_quads) qg_text_printf(&text, "const uint X_FOURS = %uu;\n", (qg_shared_words(step, 0) + 3) / 4);
    qg_text_puts(
        &text, "const uint FIT = SHARED_FOURS / (X_FOURS * BATCH), SLICE = FIT < 8u ? FIT : FIT / 8u * 8u;  // tiles\n"
               "shared uvec4 shared_x[BATCH * X_FOURS * SLICE];\n");
    if (ir->turn_runs) add_turn_of_word(&text, ir, plan);
    if (ir->n_x_quads) {
        qg_text_printf(&text, "void take_x(uint m, uint t) { %s %s[0][i] = %s; }\n", loop, ir->x, four);
        return text.data;
    }
    qg_text_puts(&text, "\n// Puts what is kept of right-hand side `m` and tile `t` of the slice there.\n"
                        "void share_x(uint m, uint t) {\n    uint words[4u * X_FOURS];\n");
    add_pieces(&text, ir, plan, false);
    qg_text_printf(
        &text, "    %s %s = uvec4(words[4u * i], words[4u * i + 1u], words[4u * i + 2u], words[4u * i + 3u]);\n}\n\n",
        loop, four);
    qg_text_printf(&text,
                   "// Takes it from there.\nvoid take_x(uint m, uint t) {\n    uint words[4u * X_FOURS];\n"
                   "    %s {\n        const uvec4 four = %s;\n"
                   "        [[unroll]] for (uint l = 0u; l < 4u; ++l) words[4u * i + l] = four[l];\n    }\n",
                   loop, four);
    add_pieces(&text, ir, plan, true);
    qg_text_puts(&text, "}\n");
    return text.data;
}

char *qg_x_kept(qg_arena *arena, const qg_step *step, const char *tiles, const char *batch, bool shares) {
    const qg_ir *ir = step->code;
    const qg_plan *plan = step->plan;
    const uint32_t sums = ir->n_x_sums ? ir->n_x_sums : 1;
    const char *x = ir->x, *outer = qg_format(arena, "[%s]%s", tiles, batch);
    const char *sum = qg_format(arena, "float %s_sum%s[%u];", x, outer, sums);
    if (ir->half)
        return qg_format(arena, "%s %s%s[%u];\nfloat %s_step%s;\n%s", glsl->halves[plan->lanes], x, outer,
                         qg_x_runs(plan), x, outer, sum);
    if (!ir->n_x_quads)
        return qg_format(arena, "%s %s%s[%u];\n%s", glsl->types[QG_K_FLOAT][plan->lanes], x, outer, qg_x_runs(plan),
                         sum);
    return kept_integers(arena, step, outer, shares);
}

/* Whether a thread keeps its part of several right-hand sides, each as one of its tiles. */
static bool keeps_several(const qg_program *program) {
    return qg_schedules[program->schedule].vectors == QG_VECTORS_FEW && !program->kernel->family->experts;
}

void qg_kept_holes(qg_arena *arena, qg_holes *holes, const qg_program *program) {
    const qg_step *step = program->main;
    const qg_ir *ir = step->code;
    const bool shares = qg_schedule_shares_x(program->schedule);
    const bool several = qg_kept_tiles(step->plan) > 1 || program->kernel->family->experts;
    const char *tiles = shares ? "1" : !keeps_several(program) ? "TILES" : several ? "TILES * BATCH" : "BATCH";
    qg_hole(holes, "x_kept", qg_x_kept(arena, step, tiles, ir->single ? "" : "[BATCH]", shares));
    qg_hole(holes, "kept_tiles", qg_format(arena, "%u", qg_kept_tiles(step->plan)));
    qg_hole(holes, "several", several ? "" : NULL); /* tiles in turn, of those that a thread keeps */
    qg_hole(holes, "own", several ? "own" : "j");
    qg_hole(holes, "step_parameter", several ? ", uint step" : "");
    qg_hole(holes, "step_of_subgroup", several ? ", gl_SubgroupSize" : "");
    qg_hole(holes, "step_of_width", several ? ", width" : "");
    qg_hole(holes, "kept", several ? "k * BATCH + m" : "m");
    qg_hole(holes, "sums", shares ? "ROWS" : "SUMS");
    qg_hole(holes, "sums_runs", ir->n_x_quads && ir->n_x_sums && !qg_sums_steps(ir, step->plan) ? "" : NULL);
    qg_hole(holes, "shared_x", shares ? shared_x(arena, step) : "");
}
