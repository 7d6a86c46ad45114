/* Sums over rows: what a thread keeps of x, and what it adds for a tile of a row. Shared by GLSL and MSL. */
#include "text/text.h"

#include <string.h>

const char *qg_mma_end(qg_arena *arena, const qg_program *program, const char *owner) {
    const qg_ir *ir = program->wide->code;
    const qg_layout *layout = program->wide->plan->layout;
    const uint32_t whole = layout->elements / program->plan->tile_elements;
    const char *rows = qg_format(arena, ir->overruns ? "%srows - 1u" : "%srows", owner);
    if (layout->joined) return qg_format(arena, "%srow_tiles %% %uu == 0u ? %s : 0u", owner, whole, rows);
    return ir->overruns ? rows : "";
}

static const char *quotient(qg_arena *arena, const char *a, const char *operator, uint32_t b, const char *suffix) {
    if (b == 1) return operator[0] == '/' ? a : qg_format(arena, "0%s", suffix);
    return qg_format(arena, "%s %s %u%s", a, operator, b, suffix);
}

/* Whether `code` has that name in it. */
static bool names(const char *code, const char *name) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    for (size_t length; *code; code += length ? length : 1) {
        length = strspn(code, letters);
        if (length == strlen(name) && strncmp(code, name, length) == 0) return true;
    }
    return false;
}

/* The block and the tile in it, where the code that follows has them; with what that declares first, where they fit
 * on a line. */
static void add_block(qg_text *text, const char *block, const char *tile, const qg_target *target, const char *code) {
    enum { COLUMNS = 140 };
    const bool blocks = names(code, "block"), tiles = tile && names(code, "tile");
    const char *where =
        qg_format(text->arena, "%s%s%s", blocks ? block : "", blocks && tiles ? ", " : "", tiles ? tile : "");
    const char *type = target->types[QG_K_UINT][1], *begin = qg_format(text->arena, "    %s%s ", target->local, type);
    const size_t first = strcspn(code, "\n"), taken = strlen(begin);
    const char *remark = strstr(code, "  // ");
    const bool is_remarked = remark && remark < code + first && !qg_says_of_what(code, (size_t)(remark - code), remark);
    const bool joins = strncmp(code, begin, taken) == 0 && !is_remarked && first + strlen(where) + 2 <= COLUMNS;
    if (!*where)
        qg_text_puts(text, code);
    else if (joins)
        qg_text_printf(text, "%s%s, %s", begin, where, code + taken);
    else
        qg_text_printf(text, "    const %s %s;\n%s", type, where, code);
}

/* Code, and before it where tile `j` of row `n` lies: the block and the tile in it, or the row and tile of the matrix.
 * A row has `row_tiles` tiles of the kernel's own plan; NULL: blocks are counted from the first at hand. */
static void add_where(qg_text *text, const qg_step *step, const qg_target *target, const char *row_tiles,
                      const char *code) {
    const qg_ir *ir = step->code;
    const qg_plan *plan = step->plan;
    const uint32_t size = step->size;
    qg_arena *arena = text->arena;
    const char *type = target->types[QG_K_UINT][1], *s = target->unsigned_suffix;
    /* Metal's callers have added where the rows begin. */
    const char *n = *target->unroll ? "row_of_weights(n)" : "n";
    const uint32_t in_block = plan->tiles * size;
    switch (plan->layout->view) {
    case QG_VIEW_BLOCKS: {
        const char *of_row = quotient(arena, "j", "/", plan->tiles, s);
        const char *block = qg_format(arena, "block = %s", of_row);
        if (row_tiles)
            block = qg_format(arena, in_block == 1 ? "block = %s * %s + %s" : "block = %s * (%s) + %s", n,
                              quotient(arena, row_tiles, "/", in_block, s), of_row);
        const char *tile = qg_format(arena, "tile = %s", quotient(arena, "j", "%", plan->tiles, s));
        add_block(text, block, plan->tiles > 1 ? tile : NULL, target, code);
        return;
    }
    case QG_VIEW_SEQUENCE:
        qg_text_printf(text, size == 1 ? "    const %s tile = n * %s + j;\n" : "    const %s tile = n * (%s) + j;\n",
                       type, quotient(arena, row_tiles, "/", size, s));
        break;
    case QG_VIEW_GROUPS:
        qg_text_printf(text, "    const %s row = n * (%s) + %s, tile = %s;\n", type,
                       quotient(arena, row_tiles, "/", plan->row_tiles * size, s),
                       quotient(arena, "j", "/", plan->row_tiles, s), quotient(arena, "j", "%", plan->row_tiles, s));
        break;
    case QG_VIEW_MATRIX:
        if (plan->layout->each)
            qg_text_printf(text, "    const %s expert = n / rows, row = n %% rows, tile = j;\n", type);
        else
            qg_text_printf(text, "    const %s %s = n, tile = j;\n", type, plan->tile_rows > 1 ? "band" : "row");
        break;
    }
    qg_text_puts(text, qg_grid_lines(arena, ir, plan, target));
    qg_text_puts(text, code);
}

/* What stands in the loop over right-hand sides, where there is one. */
static const char *inner(const qg_ir *ir) { return ir->single ? "    " : "        "; }

static void open_batch(qg_text *text, const qg_ir *ir, const qg_target *target) {
    if (ir->single) return;
    qg_text_printf(text, "    %sfor (%s m = 0; m < BATCH; ++m) {\n", target->unroll, target->types[QG_K_UINT][1]);
}

/* Where all steps are one, the first sum is that of all parts; else x has one digit. */
static void add_parts(qg_text *text, long long last, bool in_turns, const char *in) {
    qg_text_printf(text, "%s    dots0 = 256.0 * dots0 + float(DIGITS > 1u%s ? part0", in,
                   in_turns ? " && TURNS == 1u" : "");
    for (long long i = 1; i <= last; ++i) qg_text_printf(text, " + part%lld", i);
    qg_text_puts(text, last ? " : part0)" : " : part0);\n");
    for (long long i = 1; i <= last; ++i) {
        qg_text_printf(text, ", dots%lld = ", i);
        if (in_turns) qg_text_printf(text, "256.0 * dots%lld + ", i);
        qg_text_printf(text, "float(part%lld)%s", i, i < last ? "" : ";\n");
    }
}

/* Sums of integers, digit by digit from the highest. */
static void add_digits(qg_text *text, const qg_ir *ir, const qg_target *target, const char *in) {
    long long last = 0;
    for (int pass = 0; pass < 2; ++pass) {
        bool any = false;
        for (uint32_t i = 0; i < ir->n_nodes; ++i) {
            const qg_node *node = ir->nodes[i];
            if (!node->used || node->op != QG_DIGITS) continue;
            const long long number = (long long)node->integer;
            if (pass == 0) {
                if (!any) qg_text_printf(text, "%sfloat ", in);
                qg_text_printf(text, "%sdots%lld = 0.0", any ? ", " : "", number);
            } else {
                qg_text_printf(
                    text, ir->one_step ? "%s    const int part%lld = " : "%s    dots%lld = 256.0 * dots%lld + float(",
                    in, number, number);
                qg_print_expression(text, ir, target, node->arg[0]);
                qg_text_puts(text, ir->one_step ? ";\n" : ");\n");
            }
            any = true;
            last = number;
        }
        if (pass == 1 && ir->one_step) add_parts(text, last, ir->turn_runs != 0, in);
        if (pass == 0)
            qg_text_printf(text, ";\n%s%sfor (uint digit = 0; digit < DIGITS; ++digit) {\n", in, target->unroll);
        else
            qg_text_printf(text, "%s}\n", in);
    }
}

/* Terms of a sum, the first first, with a sign before each but that. */
static void add_terms(qg_text *text, const qg_ir *ir, const qg_target *target, const qg_node *const *sums,
                      uint32_t first, uint32_t end) {
    for (uint32_t i = first; i < end; ++i) {
        const qg_node *term = i ? sums[i]->arg[1] : sums[i];
        const bool is_sum = (term->op == QG_ADD || term->op == QG_SUB) && !term->name;
        if (i) qg_text_puts(text, sums[i]->op == QG_SUB ? " - " : " + ");
        qg_text_puts(text, is_sum ? "(" : "");
        qg_print_expression(text, ir, target, term);
        qg_text_puts(text, is_sum ? ")" : "");
    }
}

/* The sum of a tile whose terms are added in turns, those of which `turns` is true: all, as they are without. */
static void add_in_turns(qg_text *text, const qg_ir *ir, const qg_target *target) {
    enum { MOST = 64, TURNS = 4 }; /* as constant.def has them */
    const qg_node *sums[MOST], *node = ir->outputs[0].node;
    uint32_t count = MOST;
    for (; count > 1 && (node->op == QG_ADD || node->op == QG_SUB) && !node->name; node = node->arg[0])
        sums[--count] = node;
    sums[--count] = node;
    const uint32_t terms = MOST - count, each = (terms + TURNS - 1) / TURNS;
    qg_text_puts(text, "    float total = 0.0;\n");
    for (uint32_t turn = 0, first = 0; first < terms; ++turn, first += each) {
        qg_text_printf(text, "    if (turns.%c) total = %s", "xyzw"[turn], turn ? "total" : "");
        add_terms(text, ir, target, sums + count, first, first + each < terms ? first + each : terms);
        qg_text_puts(text, ";\n");
    }
    qg_text_puts(text, "    sum += total;\n");
}

/* Of several terms in a turn, each is added by itself where they are few in all: the bound counts six additions for a
 * tile. */
enum { FEW_PARTS = 6 };

/* The parts of one turn with that sign. */
static void add_parts_of_turn(qg_text *text, const qg_tile_turns *turns, const qg_target *target, uint32_t turn,
                              bool minus, bool *any) {
    for (uint32_t i = 0; i < turns->n_parts; ++i) {
        const qg_turn_part *part = &turns->parts[i];
        if (part->turn != turn || part->minus != minus) continue;
        qg_text_puts(text, minus ? " - " : *any ? " + " : "");
        qg_print_expression(text, turns->ir, target, part->term);
        *any = true;
    }
}

/* What a tile adds whose runs are multiplied in turns, those of which `turns` is true. */
static void add_turns_of_runs(qg_text *text, const qg_ir *ir, const qg_target *target) {
    const qg_tile_turns *turns = qg_turns_of(text->arena, ir);
    qg_text_puts(text, "    if (TURNS == 1u) {\n        sum += ");
    qg_print_expression(text, ir, target, ir->outputs[0].node);
    qg_text_puts(text, ";\n        return;\n    }\n");
    for (uint32_t turn = 0; turn < QG_TURNS; ++turn) {
        uint32_t i = 0;
        while (i < turns->n_parts && turns->parts[i].turn != turn) ++i;
        if (i == turns->n_parts) continue; /* of these runs, all values are 0 */
        bool any = turns->n_parts <= FEW_PARTS;
        qg_text_printf(text, "    if (turns.%c) sum %s", "xyzw"[turn], any ? "= sum" : "+= ");
        add_parts_of_turn(text, turns, target, turn, false, &any);
        add_parts_of_turn(text, turns, target, turn, true, &any);
        qg_text_puts(text, ";\n");
    }
}

/* The same of integers: each turn has a step of x. */
static void add_turns_of_integers(qg_text *text, const qg_ir *ir, const qg_target *target) {
    qg_text_puts(text, "    if (TURNS == 1u) sum += ");
    qg_print_expression(text, ir, target, ir->outputs[0].node);
    qg_text_puts(text, ";\n");
    for (uint32_t turn = 0; turn < QG_TURNS; ++turn) {
        const qg_node *part = qg_part_in_turn(text->arena, ir, turn);
        if (!part) continue; /* of a tile of fewer steps, or where all values are 0 */
        qg_text_printf(text, "    if (TURNS > 1u && turns.%c) sum += ", "xyzw"[turn]);
        qg_print_expression(text, ir, target, part);
        qg_text_puts(text, ";\n");
    }
}

/* What one row of a tile adds, or the only one. */
static void add_sum(qg_text *text, const qg_ir *ir, const qg_target *target, uint32_t row, const char *of_row) {
    const char *in = inner(ir);
    open_batch(text, ir, target);
    if (ir->n_x_quads) add_digits(text, ir, target, in);
    for (uint32_t i = 0; i < ir->n_statements; ++i) {
        const qg_node *node = ir->statements[i];
        if (!qg_is_added_dot(ir, node) || (ir->n_outputs > 1 && !qg_is_part(ir->outputs[row].node, node))) continue;
        if (ir->fetched && !qg_is_needed(ir, ir->fetched, node, false)) continue;
        qg_print_statement(text, ir, target, node, in);
    }
    if (ir->in_turns || ir->turn_runs) {
        (ir->in_turns ? add_in_turns : ir->n_x_quads ? add_turns_of_integers : add_turns_of_runs)(text, ir, target);
        return;
    }
    qg_text_printf(text, "%ssum%s%s += ", in, of_row, ir->single ? "" : "[m]");
    if (ir->half) qg_text_printf(text, "%s_step%s * (", ir->x, qg_kept_at(ir));
    qg_print_expression(text, ir, target, ir->outputs[row].node);
    qg_text_puts(text, ir->half ? ");\n" : ";\n");
    if (!ir->single) qg_text_puts(text, "    }\n");
}

void qg_accumulate_body(qg_text *text, const qg_step *step, const qg_target *target, const char *row_tiles, bool rows) {
    const qg_ir *ir = step->code->n_x_quads ? qg_in_fours(step->code) : step->code;
    qg_text code = qg_text_new(text->arena);
    for (uint32_t i = 0; i < ir->n_statements; ++i) {
        const qg_node *node = ir->statements[i];
        if (qg_is_added_dot(ir, node)) continue;
        if (ir->fetched && !qg_is_needed(ir, ir->fetched, node, false)) continue;
        qg_print_statement(&code, ir, target, node, "    ");
    }
    for (uint32_t r = 0; r < ir->n_outputs; ++r)
        add_sum(&code, ir, target, r, rows ? qg_format(text->arena, "[%u]", r) : "");
    add_where(text, step, target, row_tiles, code.data);
}

void qg_accumulate_large_body(qg_text *text, const qg_step *step, const qg_target *target, const char *row_tiles) {
    const qg_ir *ir = step->code;
    qg_text code = qg_text_new(text->arena);
    for (uint32_t i = 0; i < ir->n_statements; ++i) {
        const qg_node *node = ir->statements[i];
        if (node->op == QG_MUL && node->arg[0]->op == QG_ARG && strcmp(node->arg[0]->name, "block") == 0) {
            /* In 64 bits, what is added later goes into the load itself. */
            qg_text_printf(&code, "    const ulong %s = ulong(block) * %lld%s;\n", node->name,
                           (long long)node->arg[1]->integer, target->unsigned_suffix);
            continue;
        }
        if (!qg_is_of_x(node)) {
            qg_print_statement(&code, ir, target, node, "    ");
            continue;
        }
        qg_node unnamed = *node;
        unnamed.name = NULL;
        qg_text_printf(&code, "    float %s[BATCH];\n    for (%s m = 0; m < BATCH; ++m) %s[m] = ", node->name,
                       target->types[QG_K_UINT][1], node->name);
        qg_print_expression(&code, ir, target, &unnamed);
        qg_text_puts(&code, ";\n");
    }
    qg_text_printf(&code, "    for (%s m = 0; m < BATCH; ++m) sum[m] += ", target->types[QG_K_UINT][1]);
    qg_print_expression(&code, ir, target, ir->outputs[0].node);
    qg_text_puts(&code, ";\n");
    add_where(text, step, target, row_tiles, code.data);
}

void qg_operands_of_row(qg_text *text, const qg_step *step, const qg_target *target, const char *row_tiles, bool most) {
    qg_text code = qg_text_new(text->arena);
    (most ? qg_operands_most : qg_operands_body)(&code, step->of_unit, step->code, target);
    add_where(text, step, target, row_tiles, code.data);
}

void qg_fetch_body(qg_text *text, const qg_step *step, const qg_target *target, const char *row_tiles,
                   uint32_t to_end) {
    const qg_ir *ir = step->code;
    const qg_fetches *all = ir->fetched;
    qg_ir loading = *ir;
    loading.fetched = NULL;
    qg_text code = qg_text_new(text->arena);
    for (uint32_t i = 0; i < ir->n_statements; ++i)
        if (qg_is_needed(ir, all, ir->statements[i], true))
            qg_print_statement(&code, &loading, target, ir->statements[i], "    ");
    for (uint32_t i = 0; i < all->n_fours + all->n_words; ++i) {
        const bool four = i < all->n_fours;
        qg_node load = *(four ? all->fours[i] : all->words[i - all->n_fours]);
        load.name = NULL;
        qg_text item = qg_text_new(text->arena);
        qg_text_printf(&item, "%s[%u] = ", four ? "fours" : "words", four ? i : i - all->n_fours);
        if (four && to_end >> load.ref & 1) {
            qg_text_printf(&item, "%s_to_end(", step->plan->layout->buffers[load.ref].name);
            qg_print_expression(&item, &loading, target, load.arg[0]);
            qg_text_puts(&item, ", block)");
        } else {
            qg_print_expression(&item, &loading, target, &load);
        }
        qg_add_item(&code, "    ", item.data, i == 0);
    }
    add_where(text, step, target, row_tiles, code.data);
}

/* The place of the tile's first run in a row of x, counted in runs. */
static void add_place(qg_text *text, const qg_step *step, const qg_target *target) {
    const qg_plan *plan = step->plan;
    const char *type = target->types[QG_K_UINT][1], *s = target->unsigned_suffix;
    if (plan->layout->view != QG_VIEW_BLOCKS) {
        qg_text_printf(text, "    const %s place = j * %u%s;\n", type, qg_x_runs(plan), s);
        return;
    }
    const uint32_t block_runs = plan->layout->elements / plan->lanes;
    if (plan->tiles == 1) {
        qg_text_printf(text, "    const %s place = j * %u%s;\n", type, block_runs, s);
        return;
    }
    qg_text_printf(text, "    const %s tile = j %% %u%s, place = j / %u%s * %u%s + ", type, plan->tiles, s, plan->tiles,
                   s, block_runs, s);
    qg_print_expression(text, step->place, target, step->place->outputs[0].node);
    qg_text_puts(text, ";\n");
}

/* What makes up for codes that are not in their place: a power of two for each lane. */
static void add_factor(qg_text *text, const qg_ir *ir, const qg_plan *plan, const qg_target *target, uint32_t run) {
    const float *factor = ir->x_factors[run];
    bool same = true;
    for (uint32_t i = 1; i < plan->lanes; ++i) same &= factor[i] == factor[0];
    if (same && factor[0] == 1.0f) return;
    qg_text_puts(text, " * ");
    if (!same) qg_text_printf(text, "%s(", target->types[QG_K_FLOAT][plan->lanes]);
    for (uint32_t i = 0; i < (same ? 1 : plan->lanes); ++i) {
        qg_text_puts(text, i ? ", " : "");
        qg_print_float(text, target, factor[i]);
    }
    if (!same) qg_text_puts(text, ")");
}

void qg_add_lanes_of_runs(qg_text *text, const char *name, uint64_t runs) {
    bool first = true;
    for (uint32_t r = 0; r < 64; ++r) {
        if (!(runs >> r & 1)) continue;
        qg_text_printf(text, "%s%s%u%s", first ? "" : " + ", name, r, strchr(name, '[') ? "]" : "");
        first = false;
    }
}

static uint64_t runs_between(uint32_t first, uint32_t end) {
    return (end < 64 ? UINT64_C(1) << end : 0) - (UINT64_C(1) << first);
}

static const char *step_suffix(qg_arena *arena, const qg_plan *plan, uint32_t first, uint32_t end) {
    return first || end < qg_x_runs(plan) ? qg_format(arena, "%u", first / (end - first)) : "";
}

/* What is the largest of x in runs of the tile. */
static void add_most(qg_text *text, const qg_ir *ir, const qg_plan *plan, const qg_target *target, uint32_t first,
                     uint32_t end) {
    const char *vec = target->types[QG_K_FLOAT][plan->lanes], *absolute = target->absolute, *in = inner(ir);
    const char *suffix = step_suffix(text->arena, plan, first, end);
    qg_text_printf(text, "%s%s most%s = %s(x%u);\n", in, vec, suffix, absolute, first);
    for (uint32_t r = first + 1; r < end; ++r)
        qg_text_printf(text, "%smost%s = max(most%s, %s(x%u));\n", in, suffix, suffix, absolute, r);
}

/* The largest of x, whether all of it is finite, and the step that follows. */
static void add_step(qg_text *text, const qg_ir *ir, const qg_plan *plan, const qg_target *target, uint32_t first,
                     uint32_t end) {
    const char *suffix = step_suffix(text->arena, plan, first, end), *in = inner(ir);
    qg_text_printf(text, "%sconst float scale%s = scale_of(most%s, ", in, suffix, suffix);
    qg_add_lanes_of_runs(text, "x", runs_between(first, end));
    qg_text_printf(text, ");\n%s%s_step%s = 1.0%s / scale%s;\n", in, ir->x, qg_kept_at(ir), target->float_suffix,
                   suffix);
}

/* x as halves in one step for the tile, and sums over what became of it. */
static void add_halves_of_x(qg_text *text, const qg_ir *ir, const qg_plan *plan, const qg_target *target) {
    const char *vec = target->types[QG_K_FLOAT][plan->lanes], *s = target->float_suffix, *in = inner(ir);
    add_most(text, ir, plan, target, 0, qg_x_runs(plan));
    add_step(text, ir, plan, target, 0, qg_x_runs(plan));
    for (uint32_t r = 0; r < qg_x_runs(plan); ++r) {
        qg_text_printf(text, "%s%s%s[%u] = %s(x%u * scale", in, ir->x, qg_kept_at(ir), r, target->halves[plan->lanes],
                       r);
        add_factor(text, ir, plan, target, r);
        qg_text_puts(text, ");\n");
    }
    for (uint32_t i = 0; i < ir->n_x_sums; ++i) {
        bool first = true;
        qg_text_printf(text, "%s%s_sum%s[%u] = %s", in, ir->x, qg_kept_at(ir), i, plan->lanes > 1 ? "dot(" : "");
        for (uint32_t r = 0; r < qg_x_runs(plan); ++r) {
            if (!(ir->x_sums[i] >> r & 1)) continue;
            qg_text_printf(text, "%s%s(%s%s[%u])", first ? "" : " + ", vec, ir->x, qg_kept_at(ir), r);
            qg_ir inverse = *ir;
            float factors[QG_MAX_RUNS][QG_MAX_LANES];
            for (uint32_t l = 0; l < plan->lanes; ++l) factors[r][l] = 1.0f / ir->x_factors[r][l];
            inverse.x_factors = factors;
            add_factor(text, &inverse, plan, target, r);
            first = false;
        }
        qg_text_printf(text, plan->lanes > 1 ? ", %s(1.0%s));\n" : ";\n", vec, s);
    }
}

/* Where run `r` of the tile lies in x, from the first on, as an expression of `r`; NULL where that is no sum over the
 * bits of `r`, or one of many terms. */
static const char *place_of_run(qg_arena *arena, const qg_plan *plan) {
    enum { MOST_TERMS = 3 };
    const uint32_t count = qg_x_runs(plan);
    uint32_t strides[8] = {0}, n_bits = 0, terms = 0;
    for (; (1u << n_bits) < count; ++n_bits) strides[n_bits] = plan->runs[1u << n_bits] / plan->lanes;
    for (uint32_t r = 0; r < count; ++r) {
        uint32_t place = 0;
        for (uint32_t bit = 0; bit < n_bits; ++bit) place += (r >> bit & 1) * strides[bit];
        if (place != plan->runs[r] / plan->lanes) return NULL;
    }
    qg_text text = qg_text_new(arena);
    for (uint32_t first = 0, end; first < n_bits; first = end) {
        for (end = first + 1; end < n_bits && strides[end] == 2 * strides[end - 1];) ++end;
        qg_text_printf(&text, " + r");
        if (first) qg_text_printf(&text, " / %uu", 1u << first);
        if (end < n_bits) qg_text_printf(&text, " %% %uu", 1u << (end - first));
        if (strides[first] > 1) qg_text_printf(&text, " * %uu", strides[first]);
        ++terms;
    }
    return terms <= MOST_TERMS ? text.data : NULL;
}

/* What a tile meets of x, as an array. */
static void add_runs(qg_text *text, const qg_ir *ir, const qg_plan *plan, const qg_target *target, const char *load,
                     const char *load_four) {
    const char *in = inner(ir), *vec = target->types[QG_K_FLOAT][plan->lanes];
    const uint32_t count = qg_x_runs(plan), at_once = load_four ? 4 : 1;
    const char *place = count > 1 ? place_of_run(text->arena, plan) : NULL;
    const bool staged = load_four && strncmp(load, "staged_x", 8) == 0;
    if (ir->n_x_quads && qg_x_steps(plan) > 1) /* with what add_integers_of_x makes of them */
        qg_text_printf(text, "%s%s run[%u], most[%u], all[%u];\n", in, vec, count, qg_x_steps(plan), qg_x_steps(plan));
    else
        qg_text_printf(text, "%s%s run[%u];\n", in, vec, count);
    if (place && staged)
        qg_text_printf(text, "%s%sfor (uint r = 0u; r < %uu && STAGED > 1u; ++r) run[r] = staged_x(from%s);\n", in,
                       target->unroll, count, place);
    if (place)
        qg_text_printf(text, "%s%sfor (uint r = 0u; r < %uu%s; %s) ", in, target->unroll, count,
                       staged ? " && STAGED == 1u" : "", at_once > 1 ? "r += 4u" : "++r");
    for (uint32_t r = 0; r < count && staged && !place; ++r)
        qg_text_printf(text, "%sif (STAGED > 1u) run[%u] = staged_x(from + %uu);\n", in, r,
                       plan->runs[r] / plan->lanes);
    for (uint32_t r = 0; r < (place ? 1 : count); r += at_once) {
        const char *at = place ? qg_format(text->arena, "from%s", place)
                         : r   ? qg_format(text->arena, "from + %uu", plan->runs[r] / plan->lanes)
                               : "from";
        if (!place) qg_text_printf(text, "%s%s", in, staged ? "if (STAGED == 1u) " : "");
        if (load_four && place) {
            qg_text_printf(text, "%s(%s, run[r], run[r + 1u], run[r + 2u], run[r + 3u]);\n", load_four, at);
        } else if (load_four) {
            qg_text_printf(text, "%s(%s, run[%u], run[%u], run[%u], run[%u]);\n", load_four, at, r, r + 1, r + 2,
                           r + 3);
        } else {
            qg_text_puts(text, place ? "run[r] = " : qg_format(text->arena, "run[%u] = ", r));
            qg_print_filled(text, load, 'i', at);
            qg_text_puts(text, ";\n");
        }
    }
}

/* Whether runs `a` and `b` have the same factors. */
static bool same_factors(const qg_ir *ir, const qg_plan *plan, uint32_t a, uint32_t b) {
    for (uint32_t l = 0; l < plan->lanes; ++l)
        if (ir->x_factors[a][l] != ir->x_factors[b][l]) return false;
    return true;
}

/* x as floats, each with what makes up for its code's place, and sums over runs. */
static void add_floats_of_x(qg_text *text, const qg_ir *ir, const qg_plan *plan, const qg_target *target) {
    const char *in = inner(ir), *kept = qg_kept_at(ir);
    const uint32_t count = qg_x_runs(plan);
    for (uint32_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && same_factors(ir, plan, first, end);) ++end;
        const char *at = end > first + 1 ? "r" : qg_format(text->arena, "%u", first);
        qg_text_puts(text, in);
        if (end > first + 1) qg_text_printf(text, "%sfor (uint r = %uu; r < %uu; ++r) ", target->unroll, first, end);
        qg_text_printf(text, "%s%s[%s] = run[%s]", ir->x, kept, at, at);
        add_factor(text, ir, plan, target, first);
        qg_text_puts(text, ";\n");
    }
    for (uint32_t i = 0; i < ir->n_x_sums; ++i) {
        qg_text_printf(text, "%s%s_sum%s[%u] = %s", in, ir->x, kept, i, plan->lanes > 1 ? "dot(" : "");
        qg_add_lanes_of_runs(text, "run[", ir->x_sums[i]);
        if (plan->lanes > 1) {
            qg_text_printf(text, ", %s(", target->types[QG_K_FLOAT][plan->lanes]);
            qg_print_float(text, target, ir->x_sum_factors[i]);
            qg_text_puts(text, "))");
        }
        qg_text_puts(text, ";\n");
    }
}

void qg_load_x_body(qg_text *text, const qg_step *step, const qg_x_operands *operands, const qg_target *target,
                    const char *row_runs, const char *batch, const char *load, const char *load_four) {
    const qg_ir *ir = step->code;
    const qg_plan *plan = step->plan;
    const char *type = target->types[QG_K_UINT][1], *s = target->unsigned_suffix;
    const char *vec = target->types[QG_K_FLOAT][plan->lanes], *in = inner(ir);
    add_place(text, step, target);
    if (ir->single && *target->unroll) { /* one declaration */
        text->length -= strlen(";\n");
        qg_text_printf(text, ", from = x_from(min(vector, %s - 1u), %s) + place;\n", batch, row_runs);
    }
    open_batch(text, ir, target);
    if (!ir->single || !*target->unroll)
        qg_text_printf(text,
                       *target->unroll ? "%sconst %s from = x_from(min(vector%s, %s - 1%s), %s) + place;\n"
                                       : "%sconst %s from = min(vector%s, %s - 1%s) * %s + place;\n",
                       in, type, ir->single ? "" : " + m", batch, s, row_runs);
    if (*target->unroll && (operands || !ir->half)) {
        add_runs(text, ir, plan, target, load, load_four);
        if (operands)
            qg_operands_of_x(text, operands, step, target);
        else
            (ir->n_x_quads ? qg_digits_of_x : add_floats_of_x)(text, ir, plan, target);
        if (!ir->single) qg_text_puts(text, "    }\n");
        return;
    }
    for (uint32_t r = 0; r < qg_x_runs(plan); ++r) {
        const char *at = r ? qg_format(text->arena, "from + %u%s", plan->runs[r] / plan->lanes, s) : "from";
        if (load_four) {
            if (r % 4 == 0)
                qg_text_printf(text, "%s%s x%u, x%u, x%u, x%u;\n%s%s(%s, x%u, x%u, x%u, x%u);\n", in, vec, r, r + 1,
                               r + 2, r + 3, in, load_four, at, r, r + 1, r + 2, r + 3);
            continue;
        }
        qg_text_printf(text, "%sconst %s x%u = ", in, vec, r);
        qg_print_filled(text, load, 'i', at);
        qg_text_puts(text, ";\n");
    }
    if (operands) {
        qg_operands_of_x(text, operands, step, target);
        return;
    }
    if (ir->half) {
        add_halves_of_x(text, ir, plan, target);
        if (!ir->single) qg_text_puts(text, "    }\n");
        return;
    }
    for (uint32_t r = 0; r < qg_x_runs(plan); ++r) {
        qg_text_printf(text, "%s%s%s[%u] = x%u", in, ir->x, qg_kept_at(ir), r, r);
        add_factor(text, ir, plan, target, r);
        qg_text_puts(text, ";\n");
    }
    for (uint32_t i = 0; i < ir->n_x_sums; ++i) {
        qg_text_printf(text, "%s%s_sum%s[%u] = %s", in, ir->x, qg_kept_at(ir), i, plan->lanes > 1 ? "dot(" : "");
        bool first = true;
        for (uint32_t r = 0; r < qg_x_runs(plan); ++r) {
            if (!(ir->x_sums[i] >> r & 1)) continue;
            qg_text_printf(text, "%sx%u", first ? "" : " + ", r);
            first = false;
        }
        if (plan->lanes > 1) {
            qg_text_printf(text, ", %s(", vec);
            qg_print_float(text, target, ir->x_sum_factors[i]);
            qg_text_puts(text, "))");
        }
        qg_text_puts(text, ";\n");
    }
    if (!ir->single) qg_text_puts(text, "    }\n");
}

const char *qg_codes_of_words(qg_arena *arena, const qg_ir *ir, const qg_target *target, const char *qualifier) {
    bool any = false;
    for (uint32_t i = 0; i < ir->n_nodes; ++i) any |= ir->nodes[i]->used && qg_is_four_codes(ir->nodes[i]);
    if (!any) return "";
    const char *pair = ir->half ? target->halves[2] : target->types[QG_K_FLOAT][2];
    const char *four = ir->half ? target->halves[4] : target->types[QG_K_FLOAT][4];
    const qg_node words[] = {{.op = QG_ARG, .name = "word & mask"}, {.op = QG_ARG, .name = "(word >> 8) & mask"}};
    qg_text text = qg_text_new(arena);
    qg_text_printf(&text,
                   "// What `mask` has of each byte of a word: the low bits of a half are a number of units of 2^-24.\n"
                   "%s%s four_codes(uint word, uint mask) {\n    const %s even = ",
                   qualifier, four, pair);
    for (uint32_t i = 0; i < 2; ++i) {
        const qg_node halves = {.op = QG_HALVES, .kind = QG_K_FLOAT, .lanes = 2, .n_args = 1, .arg = {&words[i]}};
        qg_text_puts(&text, i ? ", odd = " : "");
        qg_print_expression(&text, ir, target, &halves);
    }
    qg_text_printf(&text, ";\n    return %s(even.x, odd.x, even.y, odd.y);\n}\n\n", four);
    return text.data;
}

char *qg_dot_halves(qg_arena *arena, const qg_plan *plan, const qg_target *target, const char *qualifier) {
    if (plan->lanes == 1) return "";
    const char *type = target->halves[plan->lanes], *vec = target->types[QG_K_FLOAT][plan->lanes];
    return qg_format(arena,
                     "// Products of halves, summed up in floats.\n"
                     "%sfloat dot_halves(%s a, %s b) {\n    const %s p = %s(a * b);\n    return %s;\n}\n",
                     qualifier, type, type, vec, vec, plan->lanes == 4 ? "(p.x + p.y) + (p.z + p.w)" : "p.x + p.y");
}
