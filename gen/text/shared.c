/* x in the memory of a workgroup, where there are several right-hand sides. What a thread keeps of one of
 * them for a tile is put there as words, four at a time, by whichever thread has loaded it, and taken from
 * there by all. Fours of neighbouring tiles are neighbours, for neighbouring threads read them at once. */
#include "text/text.h"

/* An array of what is kept: its place among the words, and how one of its items is written. */
typedef struct piece {
    const char *array, *at;
    uint32_t count, lanes;
    bool real;
} piece;

static void add_piece(qg_text *text, piece p, bool take, const char *in) {
    qg_arena *arena = text->arena;
    if (!p.count) return;
    qg_text_printf(text, "%s[[unroll]] for (uint i = 0u; i < %uu; ++i) ", in, p.count * p.lanes);
    const char *item = p.lanes > 1 ? qg_format(arena, "%s[i / %uu][i %% %uu]", p.array, p.lanes, p.lanes)
                                   : qg_format(arena, "%s[i]", p.array);
    const char *word = *p.at ? qg_format(arena, "words[%s + i]", p.at) : "words[i]";
    if (take)
        qg_text_printf(text, "%s = %s(%s);\n", item, p.real ? "uintBitsToFloat" : "int", word);
    else
        qg_text_printf(text, "%s = %s(%s);\n", word, p.real ? "floatBitsToUint" : "uint", item);
}

static void add_pieces(qg_text *text, const qg_ir *ir, const qg_plan *plan, bool take) {
    qg_arena *arena = text->arena;
    const char *x = ir->x, *in = "    ";
    if (!ir->n_x_quads) {
        const uint32_t elements = plan->n_runs * plan->lanes;
        add_piece(text, (piece){qg_format(arena, "%s[0]", x), "", plan->n_runs, plan->lanes, true}, take, in);
        add_piece(text,
                  (piece){qg_format(arena, "%s_sum[0]", x), qg_format(arena, "%uu", elements), ir->n_x_sums, 1, true},
                  take, in);
        return;
    }
    const uint32_t quads = ir->n_x_quads, each = quads + ir->n_x_digits, steps = qg_x_steps(plan);
    qg_text_printf(text, "%s[[unroll]] for (uint digit = 0u; digit < DIGITS; ++digit) {\n", in);
    add_piece(text,
              (piece){qg_format(arena, "%s[0][digit]", x), qg_format(arena, "digit * %uu", each), quads, 1, false},
              take, "        ");
    add_piece(text,
              (piece){qg_format(arena, "%s_digits[0][digit]", x), qg_format(arena, "digit * %uu + %uu", each, quads),
                      ir->n_x_digits, 1, false},
              take, "        ");
    qg_text_printf(text, "%s}\n", in);
    add_piece(text, (piece){qg_format(arena, "%s_step[0]", x), qg_format(arena, "DIGITS * %uu", each), steps, 1, true},
              take, in);
    add_piece(text,
              (piece){qg_format(arena, "%s_sum[0]", x), qg_format(arena, "DIGITS * %uu + %uu", each, steps),
                      ir->n_x_sums, 1, true},
              take, in);
}

/* Four sums of a tile, or those that are left. */
static void add_sums(qg_text *text, const qg_ir *ir, uint32_t first, bool take) {
    const uint32_t left = ir->n_x_sums - first;
    for (uint32_t i = 0; i < 4; ++i) {
        if (take && i < left)
            qg_text_printf(text, "%s%s_sum[0][%u] = sums.%c", i ? ", " : "    ", ir->x, first + i, "xyzw"[i]);
        else if (!take && i < left)
            qg_text_printf(text, "%s%s_sum[0][%u]", i ? ", " : "", ir->x, first + i);
        else if (!take)
            qg_text_puts(text, ", 0.0");
    }
}

/* Runs of four floats are fours as they are. */
static char *shared_floats(qg_arena *arena, const qg_step *step) {
    const qg_ir *ir = step->code;
    const uint32_t runs = step->plan->n_runs;
    const char *loop = qg_format(arena, "[[unroll]] for (uint i = 0u; i < %uu; ++i)", runs);
    const char *four = "shared_x[(m * X_FOURS + i) * SLICE + t]";
    qg_text text = qg_text_new(arena), taken = qg_text_new(arena);
    qg_text_printf(
        &text,
        "const uint X_FOURS = %uu, FIT = SHARED_FOURS / (X_FOURS * BATCH), SLICE = FIT < 8u ? FIT : FIT / 8u "
        "* 8u;  // tiles\n"
        "shared vec4 shared_x[BATCH * X_FOURS * SLICE];\n\n"
        "// Puts what is kept of right-hand side `m` and tile `t` of the slice there.\n"
        "void share_x(uint m, uint t) {\n    %s %s = %s[0][i];\n",
        runs + (ir->n_x_sums + 3) / 4, loop, four, ir->x);
    qg_text_printf(&taken, "// Takes it from there.\nvoid take_x(uint m, uint t) {\n    %s %s[0][i] = %s;\n", loop,
                   ir->x, four);
    for (uint32_t first = 0; first < ir->n_x_sums; first += 4) {
        const char *at = qg_format(arena, "shared_x[(m * X_FOURS + %uu) * SLICE + t]", runs + first / 4);
        qg_text_printf(&text, "    %s = vec4(", at);
        add_sums(&text, ir, first, false);
        qg_text_puts(&text, ");\n");
        qg_text_printf(&taken,
                       first              ? "    sums = %s;\n"
                       : ir->n_x_sums > 4 ? "    vec4 sums = %s;\n"
                                          : "    const vec4 sums = %s;\n",
                       at);
        add_sums(&taken, ir, first, true);
        qg_text_puts(&taken, ";\n");
    }
    qg_text_printf(&text, "}\n\n%s}\n", taken.data);
    return text.data;
}

char *qg_shared_x(qg_arena *arena, const qg_step *step, const char *packs) {
    const qg_ir *ir = step->code;
    const qg_plan *plan = step->plan;
    if (!ir->n_x_quads && plan->lanes == 4) return shared_floats(arena, step);
    qg_text text = qg_text_new(arena);
    const char *vec = "uvec4(words[4u * i], words[4u * i + 1u], words[4u * i + 2u], words[4u * i + 3u])";
    if (ir->n_x_quads)
        qg_text_printf(&text, "const uint X_WORDS = DIGITS * %uu + %uu", ir->n_x_quads + ir->n_x_digits,
                       qg_x_steps(plan) + ir->n_x_sums);
    else
        qg_text_printf(&text, "const uint X_WORDS = %uu", qg_shared_words(step, 0));
    qg_text_puts(&text, ", X_FOURS = (X_WORDS + 3u) / 4u, FIT = SHARED_FOURS / (X_FOURS * BATCH);\n"
                        "const uint SLICE = FIT < 8u ? FIT : FIT / 8u * 8u;  // tiles\n"
                        "shared uvec4 shared_x[BATCH * X_FOURS * SLICE];\n\n"
                        "// Puts what is kept of right-hand side `m` and tile `t` of the slice there.\n"
                        "void share_x(uint m, uint t) {\n    uint words[4u * X_FOURS];\n");
    add_pieces(&text, ir, plan, false);
    if (packs)
        qg_text_printf(&text,
                       "    [[unroll]] for (uint i = 0u; i < X_FOURS; ++i) {\n        const uvec4 four = %s;\n"
                       "        if (X_PACKED == 2u) packed_y[(m * X_FOURS + i) * (%s) + t] = four;\n"
                       "        else shared_x[(m * X_FOURS + i) * SLICE + t] = four;\n    }\n",
                       vec, packs);
    else
        qg_text_printf(
            &text, "    [[unroll]] for (uint i = 0u; i < X_FOURS; ++i) shared_x[(m * X_FOURS + i) * SLICE + t] = %s;\n",
            vec);
    qg_text_puts(&text, "}\n\n"
                        "// Takes it from there.\n"
                        "void take_x(uint m, uint t) {\n    uint words[4u * X_FOURS];\n"
                        "    [[unroll]] for (uint i = 0u; i < X_FOURS; ++i) {\n"
                        "        const uvec4 four = shared_x[(m * X_FOURS + i) * SLICE + t];\n"
                        "        [[unroll]] for (uint l = 0u; l < 4u; ++l) words[4u * i + l] = four[l];\n"
                        "    }\n");
    add_pieces(&text, ir, plan, true);
    qg_text_puts(&text, "}\n");
    return text.data;
}
