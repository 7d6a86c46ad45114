/* What a sum takes of a tile that a row does not fill: formats with ragged rows. Shared by GLSL and MSL.
 *
 * The tile is decoded as a whole, which reads nothing outside of the buffers, and its elements that lie in the row
 * are taken one by one. Values beyond the row are left out, and not multiplied with zero: they may be infinite.
 * Whole tiles do not come here, so that the speed of this matters only for rows that are no multiple of a run. */
#include "text/text.h"

const char *qg_row_cols(qg_arena *arena, const qg_plan *plan, const char *owner) {
    if (plan->layout->view != QG_VIEW_SEQUENCE) return qg_format(arena, "%scols", owner);
    return qg_format(arena, "%scols / %srows", owner, owner); /* a sequence is one row of all elements */
}

uint32_t qg_whole_unit(const qg_plan *plan) {
    return plan->layout->view == QG_VIEW_SEQUENCE ? plan->tile_elements : plan->lanes;
}

/* Elements [from, to) of tile `tile` lie in the row; the tile's first is element `place` of the
 * row, which may be negative. */
static void add_bounds(qg_text *text, const qg_plan *plan, const qg_target *target) {
    const char *type = target->types[QG_K_UINT][1], *s = target->unsigned_suffix;
    const uint32_t tile = plan->tile_elements;
    if (plan->layout->view == QG_VIEW_SEQUENCE) {
        qg_text_printf(text, "    const %s first = n * row_cols, tile = first / %u%s + j, start = tile * %u%s;\n", type,
                       tile, s, tile, s);
        qg_text_printf(text, "    if (start >= first + row_cols) return;\n");
        qg_text_printf(text,
                       "    const %s from = max(first, start) - start, to = min(first + row_cols - start, %u%s);\n",
                       type, tile, s);
        qg_text_printf(text, "    const %s row = 0%s, place = start - first;\n", type, s);
        return;
    }
    qg_text_printf(text, "    const %s row = n, tile = j, place = j * %u%s;\n", type, tile, s);
    qg_text_printf(text, "    const %s from = 0%s, to = min(row_cols - place, %u%s);\n", type, s, tile, s);
}

const char *qg_element_text(qg_arena *arena, const qg_plan *plan, const char *suffix) {
    if (plan->lanes == 1) return "v[e]";
    return qg_format(arena, "v[e / %u%s][e %% %u%s]", plan->lanes, suffix, plan->lanes, suffix);
}

void qg_sum_cut_body(qg_text *text, const qg_plan *plan, const qg_target *target, const qg_cut_names *names) {
    const char *type = target->types[QG_K_UINT][1], *s = target->unsigned_suffix;
    const char *value = qg_element_text(text->arena, plan, s);
    qg_text_printf(text, "    for (%s m = 0; m < BATCH; ++m) part[m] = 0.0%s;\n", type, target->float_suffix);
    add_bounds(text, plan, target);
    qg_text_printf(text, "    %s v[%u];\n    %s(%srow, tile, v);\n", target->types[QG_K_FLOAT][plan->lanes],
                   plan->n_runs, names->decode, names->arguments);
    qg_text_printf(text, "    for (%s e = from; e < to; ++e) {\n", type);
    qg_text_printf(text, "        for (%s m = 0; m < BATCH; ++m) part[m] += %s * ", type, value);
    qg_print_filled(text, names->load, 'i',
                    qg_format(text->arena,
                              *target->unroll ? "x_element_from(min(m, %s - 1%s), row_cols) + place + e"
                                              : "min(m, %s - 1%s) * x_stride + place + e",
                              names->batch, s));
    qg_text_puts(text, ";\n    }\n");
}
