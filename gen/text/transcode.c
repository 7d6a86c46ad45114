/* What the texts of kernels from one format to another share: where values are kept between decoding and encoding. */
#include "text/text.h"

enum { MOST_UNROLLED = 64 }; /* elements that compilers are to keep in registers */

uint32_t qg_transcode_tiles(const qg_program *program) {
    return qg_unit(program->kernel) / program->plan->tile_elements;
}

char *qg_keep_tile(qg_arena *arena, const qg_step *values, const qg_target *target) {
    const bool msl = target == &qg_target_msl;
    const qg_plan *plan = values->plan;
    const char *s = target->unsigned_suffix, *vec = target->types[QG_K_FLOAT][plan->lanes];
    qg_text text = qg_text_new(arena);
    qg_text_puts(&text,
                 "// Keeps a tile's values where they belong among those of its block, which begin at `first`.\n");
    if (msl)
        qg_text_printf(&text, "inline void qk_keep_tile(thread float *qk_kept, uint first, %s, thread const %s *v) {\n",
                       plan->tiles == 1 ? "uint" : "uint tile", vec);
    else
        qg_text_printf(&text, "void qk_keep_tile(uint first, uint tile, %s v[%u]) {\n", vec, plan->n_runs);
    qg_text_puts(&text, "    const uint at = first");
    if (plan->n_digits) {
        qg_text_puts(&text, " + (");
        qg_print_expression(&text, values->place, target, values->place->outputs[0].node);
        qg_text_printf(&text, ") * %u%s", plan->lanes, s);
    }
    qg_text_puts(&text, ";\n");
    for (uint32_t r = 0; r < plan->n_runs; ++r)
        for (uint32_t l = 0; l < plan->lanes; ++l)
            qg_text_printf(
                &text, plan->lanes > 1 ? "    qk_kept[at + %u%s] = v[%u][%u];\n" : "    qk_kept[at + %u%s] = v[%u];\n",
                plan->runs[r] + l, s, r, l);
    qg_text_puts(&text, "}\n");
    return text.data;
}

/* Tiles are counted through all blocks of the unit. */
void qg_transcode_holes(qg_arena *arena, qg_holes *holes, const qg_program *program) {
    const qg_kernel *kernel = program->kernel;
    const qg_plan *plan = program->plan;
    const uint32_t unit = qg_unit(kernel), tiles = qg_transcode_tiles(program), own = plan->tiles;
    const bool whole = unit == plan->layout->elements;
    qg_hole(holes, "unit", qg_format(arena, "%u", unit));
    qg_hole(holes, "unit_fours", qg_format(arena, "%u", (unit + 3) / 4));
    qg_hole(holes, "unit_tiles", qg_format(arena, "%u", tiles));
    qg_hole(holes, "block_of_j",
            whole      ? "i"
            : own == 1 ? qg_format(arena, "i * %uu + j", tiles)
                       : qg_format(arena, "i * %uu + j / %uu", tiles / own, own));
    qg_hole(holes, "tile_of_j", own == 1 ? "0u" : whole ? "j" : qg_format(arena, "j %% %uu", own));
    qg_hole(holes, "first_of_j",
            whole      ? "0u"
            : own == 1 ? qg_format(arena, "j * %uu", plan->layout->elements)
                       : qg_format(arena, "j / %uu * %uu", own, plan->layout->elements));
    qg_hole(holes, "unroll", unit <= MOST_UNROLLED ? "[[unroll]] " : "");
    qg_hole(holes, "to", kernel->to->name);
    qg_hole(holes, "one", unit == kernel->to->elements ? "yes" : NULL);
    qg_hole(holes, "to_blocks", qg_format(arena, "%u", unit / kernel->to->elements));
    qg_hole(holes, "to_elements", qg_format(arena, "%u", kernel->to->elements));
}
