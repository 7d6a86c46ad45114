/* Sums over rows: what a thread keeps of x, and what it adds for a tile of a row. Shared by GLSL and MSL. */
#include "kernel.h"

/* About as many values of x as a thread can keep in registers beside everything else. */
enum { KEPT_VALUES = 64 };

uint32_t qg_kept_tiles(const qg_plan *plan) {
    return plan->tile_elements < KEPT_VALUES ? KEPT_VALUES / plan->tile_elements : 1;
}

static const char *quotient(qg_arena *arena, const char *a, const char *operator, uint32_t b, const char *suffix) {
    if (b == 1) return operator[0] == '/' ? a : qg_format(arena, "0%s", suffix);
    return qg_format(arena, "%s %s %u%s", a, operator, b, suffix);
}

/* Where tile `j` of row `n` lies: the block and the tile in it, or the row and tile of the matrix. */
static void add_where(qg_text *text, const qg_ir *ir, const qg_plan *plan, const qg_target *target,
                      const char *row_tiles) {
    qg_arena *arena = text->arena;
    const char *type = target->types[QG_K_UINT][1], *s = target->unsigned_suffix;
    if (plan->staged) {
        for (uint32_t i = 0; i < plan->layout->n_buffers; ++i) {
            const char *name = plan->layout->buffers[i].name;
            qg_text_printf(text, "    const %s %s_at = %s_stage(n);\n", type, name, name);
        }
        qg_text_printf(text, "    const %s block = %s;\n", type, quotient(arena, "j", "/", plan->tiles, s));
        if (qg_uses_argument(ir, "tile"))
            qg_text_printf(text, "    const %s tile = %s;\n", type, quotient(arena, "j", "%", plan->tiles, s));
        return;
    }
    switch (plan->layout->view) {
    case QG_VIEW_BLOCKS:
        if (plan->tiles == 1) {
            qg_text_printf(text, "    const %s block = n * %s + j;\n", type, row_tiles);
            return;
        }
        qg_text_printf(text, "    const %s block = n * (%s) + %s;\n", type,
                       quotient(arena, row_tiles, "/", plan->tiles, s), quotient(arena, "j", "/", plan->tiles, s));
        if (qg_uses_argument(ir, "tile"))
            qg_text_printf(text, "    const %s tile = %s;\n", type, quotient(arena, "j", "%", plan->tiles, s));
        return;
    case QG_VIEW_SEQUENCE: qg_text_printf(text, "    const %s tile = n * %s + j;\n", type, row_tiles); break;
    case QG_VIEW_GROUPS:
        qg_text_printf(text, "    const %s row = n * (%s) + %s, tile = %s;\n", type,
                       quotient(arena, row_tiles, "/", plan->row_tiles, s),
                       quotient(arena, "j", "/", plan->row_tiles, s), quotient(arena, "j", "%", plan->row_tiles, s));
        break;
    case QG_VIEW_MATRIX: qg_text_printf(text, "    const %s row = n, tile = j;\n", type); break;
    }
    qg_text_puts(text, qg_grid_lines(arena, ir, plan, target));
}

void qg_accumulate_body(qg_text *text, const qg_ir *ir, const qg_plan *plan, const qg_target *target,
                        const char *row_tiles) {
    add_where(text, ir, plan, target, row_tiles);
    for (uint32_t i = 0; i < ir->n_statements; ++i) qg_print_statement(text, ir, target, ir->statements[i], "    ");
    const char *type = target->types[QG_K_UINT][1];
    qg_text_printf(text, "    %sfor (%s m = 0; m < BATCH; ++m) {\n        sum[m] += ", target->unroll, type);
    qg_print_expression(text, ir, target, ir->outputs[0].node);
    qg_text_puts(text, ";\n    }\n");
}

/* The place of the tile's first run in a row of x, counted in runs. */
static void add_place(qg_text *text, const qg_plan *plan, const qg_target *target) {
    const char *type = target->types[QG_K_UINT][1], *s = target->unsigned_suffix;
    if (plan->layout->view != QG_VIEW_BLOCKS) {
        qg_text_printf(text, "    const %s place = j * %u%s;\n", type, plan->n_runs, s);
        return;
    }
    const qg_ir *ir = qg_lower_place(text->arena, plan);
    const uint32_t block_runs = plan->layout->elements / plan->lanes;
    if (plan->tiles == 1) {
        qg_text_printf(text, "    const %s place = j * %u%s;\n", type, block_runs, s);
        return;
    }
    qg_text_printf(text, "    const %s tile = j %% %u%s;\n", type, plan->tiles, s);
    qg_text_printf(text, "    const %s place = j / %u%s * %u%s + ", type, plan->tiles, s, block_runs, s);
    qg_print_expression(text, ir, target, ir->outputs[0].node);
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

/* The length of a row of x, which may end within the last of the joined blocks. */
static void add_row_runs(qg_text *text, const qg_plan *plan, const qg_target *target) {
    const qg_layout *layout = plan->layout;
    const uint32_t own = layout->joined ? layout->elements / layout->joined : layout->elements;
    qg_text_printf(text, "    const %s row_runs = row_blocks * %u%s;\n", target->types[QG_K_UINT][1], own / plan->lanes,
                   target->unsigned_suffix);
}

void qg_load_x_body(qg_text *text, const qg_ir *ir, const qg_plan *plan, const qg_target *target, const char *row_tiles,
                    const char *batch, const char *load) {
    const char *type = target->types[QG_K_UINT][1], *s = target->unsigned_suffix;
    const char *vec = target->types[QG_K_FLOAT][plan->lanes];
    add_place(text, plan, target);
    if (plan->staged) add_row_runs(text, plan, target);
    const char *row_runs = plan->staged ? "row_runs" : qg_format(text->arena, "%s * %u%s", row_tiles, plan->n_runs, s);
    qg_text_printf(text, "    %sfor (%s m = 0; m < BATCH; ++m) {\n", target->unroll, type);
    qg_text_printf(text, "        const %s from = min(vector + m, %s - 1%s) * %s + place;\n", type, batch, s, row_runs);
    for (uint32_t r = 0; r < plan->n_runs; ++r) {
        const char *run = qg_format(text->arena, " + %u%s", plan->runs[r] / plan->lanes, s);
        qg_text_printf(text, "        const %s x%u = ", vec, r);
        if (plan->layout->joined) qg_text_printf(text, "place%s < row_runs ? ", r ? run : "");
        qg_print_filled(text, load, 'i', r ? qg_format(text->arena, "from%s", run) : "from");
        qg_text_printf(text, plan->layout->joined ? " : %s(0.0%s);\n" : ";\n", vec, target->float_suffix);
    }
    for (uint32_t r = 0; r < plan->n_runs; ++r) {
        qg_text_printf(text, "        x[k][m][%u] = x%u", r, r);
        add_factor(text, ir, plan, target, r);
        qg_text_puts(text, ";\n");
    }
    for (uint32_t i = 0; i < ir->n_x_sums; ++i) {
        qg_text_printf(text, "        x_sum[k][m][%u] = %s", i, plan->lanes > 1 ? "dot(" : "");
        bool first = true;
        for (uint32_t r = 0; r < plan->n_runs; ++r) {
            if (!(ir->x_sums[i] >> r & 1)) continue;
            qg_text_printf(text, "%sx%u", first ? "" : " + ", r);
            first = false;
        }
        qg_text_printf(text, plan->lanes > 1 ? ", %s(1.0%s));\n" : ";\n", vec, target->float_suffix);
    }
    qg_text_puts(text, "    }\n");
}
