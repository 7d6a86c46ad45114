/* Metal Shading Language: functions of kernels on matrix units, of a few vectors and of tiles. */
#include "text/msl.h"

static const qg_target *const msl = &qg_target_msl;

/* What was loaded of a wide tile, as parameters. */
static char *fetched_parameters(qg_arena *arena, const qg_step *wide, const char *qualifier) {
    return qg_format(arena, "thread %suint4 *fours%s", qualifier,
                     wide->code->fetched->n_words ? qg_format(arena, ", thread %suint *words", qualifier) : "");
}

/* What makes operands of a tile of x: `what` it does, as a comment, and where they go, as the last parameters. */
static char *load_operands(qg_arena *arena, const qg_step *wide, const qg_x_operands *x, const char *what,
                           const char *to) {
    qg_text text = qg_text_new(arena);
    qg_text_printf(&text,
                   "%stemplate <typename X>\ninline void load_wide_x(device const X *x_in, uint batch, uint row_runs, "
                   "uint vector, uint j, %s)\n{\n",
                   what, to);
    qg_load_x_body(&text, wide, x, msl, "row_runs", "batch",
                   qg_format(arena, "%s(x_in[$i])", msl->types[QG_K_FLOAT][wide->plan->lanes]), NULL);
    qg_text_puts(&text, "}\n");
    return text.data;
}

static char *load_wide_x(qg_arena *arena, const qg_program *program) {
    const qg_x_operands x = {.scale = "    float unit;\n"
                                      "    const float scale = scale_of(most_of_four($m, lane), 7, unit);\n"
                                      "    wide_x_unit = of_vectors(unit, lane);\n",
                             .at_once = 1,
                             .open = "    wide_x[$i] = of_vectors(half2(",
                             .word = "scale * float2(",
                             .word_end = ")",
                             .close = "), lane);\n"};
    return load_operands(arena, program->wide, &x,
                         "// Loads what wide tile `j` of a row meets of right-hand side `vector`, and gives it to the "
                         "lanes that multiply it.\n",
                         "matrix_lane lane,\n    thread half2 *wide_x, thread float2 &wide_x_unit");
}

static char *fetch_wide(qg_arena *arena, const qg_program *program) {
    const qg_step *step = program->wide;
    const qg_ir *ir = step->code;
    qg_text text = qg_text_new(arena);
    qg_text_printf(&text,
                   "// Loads wide tile `j` of row `n`.\n"
                   "inline void fetch_wide(\n%s    %suint row_tiles, uint n, uint j, %s)\n{\n",
                   qg_msl_buffers(arena, program->plan, false), qg_shape_arguments(arena, ir, "uint $$, "),
                   fetched_parameters(arena, step, ""));
    qg_msl_add_words(&text, step);
    qg_fetch_body(&text, step, msl, "row_tiles", 0);
    qg_text_puts(&text, "}\n");
    return text.data;
}

static char *operands_of(qg_arena *arena, const qg_step *wide) {
    qg_text text = qg_text_new(arena);
    const char *shape = qg_shape_arguments(arena, wide->code, "uint $$, ");
    const char *fetched = fetched_parameters(arena, wide, "const ");
    qg_text_printf(&text,
                   "// The largest of the factors that become halves in wide tile `j` of row `n`, which was loaded.\n"
                   "inline float largest_factor(%suint row_tiles, uint n, uint j, %s)\n{\n",
                   shape, fetched);
    qg_operands_of_row(&text, wide, msl, "row_tiles", true);
    qg_text_printf(&text,
                   "}\n\n// Makes operands of a part of it, times `scale`.\n"
                   "inline void operands(uint part, %suint row_tiles, uint n, uint j, %s,\n"
                   "    float scale, thread half2 *v)\n{\n",
                   shape, fetched);
    qg_operands_of_row(&text, wide, msl, "row_tiles", false);
    qg_text_puts(&text, "}\n");
    return text.data;
}

/* What all kernels on matrix units have: functions of wide tiles, `load` that of x. */
static void wide_holes(qg_arena *arena, qg_holes *holes, const qg_program *program, const char *load) {
    const qg_step *wide = program->wide;
    qg_hole(holes, "words", qg_format(arena, "%u", wide->of_unit->n_words));
    qg_hole(holes, "part", qg_format(arena, "%u", 2 * wide->of_unit->part));
    qg_hole(holes, "wide_ratio", qg_format(arena, "%u", wide->size));
    qg_hole(holes, "load_wide_x", load);
    qg_hole(holes, "fetch_wide", fetch_wide(arena, program));
    qg_hole(holes, "operands", operands_of(arena, wide));
    qg_hole(holes, "buffers", qg_msl_buffers(arena, program->plan, false));
    qg_hole(holes, "weights", qg_msl_weights(arena, program->plan));
}

char *qg_msl_mma_rows(qg_arena *arena, const qg_templates *templates, const qg_program *program, const char **why) {
    const qg_plan *plan = program->plan;
    const qg_step *wide = program->wide;
    const qg_ir *small = program->sum->code;
    const qg_fetches *all = wide->code->fetched;
    qg_holes holes = {.count = 0};
    qg_plan_holes(arena, &holes, plan, msl);
    wide_holes(arena, &holes, program, load_wide_x(arena, program));
    qg_hole(&holes, "shape", qg_shape_arguments(arena, wide->code, "shape.$$, "));
    qg_hole(&holes, "narrow_shape", qg_shape_arguments(arena, small, "shape.$$, "));
    qg_hole(&holes, "x_kept",
            qg_format(arena, "%s x[1][1][%u];\nfloat x_sum[1][1][%u];", msl->types[QG_K_FLOAT][plan->lanes],
                      plan->n_runs, small->n_x_sums ? small->n_x_sums : 1));
    const char *end = qg_mma_end(arena, program, "shape.");
    qg_hole(&holes, "restricted", *end ? "" : NULL);
    qg_hole(&holes, "mma_end", end);
    qg_hole(&holes, "fetched",
            qg_format(arena, "uint4 fours[KEPT][2][%u];%s", all->n_fours ? all->n_fours : 1,
                      all->n_words ? qg_format(arena, "\nuint words[KEPT][2][%u];", all->n_words) : ""));
    qg_hole(&holes, "fetched_at", all->n_words ? "fours[k][0], words[k][0]" : "fours[k][0]");
    qg_hole(&holes, "fetched_8", all->n_words ? "fours[k][1], words[k][1]" : "fours[k][1]");
    return qg_expand(arena, templates, "gemv_mma_rows.metal", holes.items, holes.count, why);
}

/* What a thread of tiles loads, of two rows. */
static void loaded_holes(qg_arena *arena, qg_holes *holes, const qg_fetches *all) {
    const char *words = all->n_words ? qg_format(arena, "\nuint words[2][%u];", all->n_words) : "";
    qg_hole(holes, "fetched", qg_format(arena, "uint4 fours[2][%u];%s", all->n_fours ? all->n_fours : 1, words));
    qg_hole(holes, "fetched_low", all->n_words ? "fours[0], words[0]" : "fours[0]");
    qg_hole(holes, "fetched_high", all->n_words ? "fours[1], words[1]" : "fours[1]");
}

/* Operands of a tile of x, each word a vector's `stride` behind the one before. */
static char *pack_wide_x(qg_arena *arena, const qg_program *program) {
    const qg_x_operands x = {.at_once = 1,
                             .open = "    to[$i * stride] = half2(",
                             .word = "scale * float2(",
                             .word_end = ")",
                             .close = ");\n"};
    return load_operands(arena, program->wide, &x,
                         "// Makes operands of what wide tile `j` of a row meets of right-hand side `vector`.\n",
                         "float scale,\n    device half2 *to, uint stride");
}

/* The functions of kernels of tiles. */
char *qg_msl_tiles(qg_arena *arena, const qg_templates *templates, const qg_program *program, const char **why) {
    const qg_plan *plan = program->plan;
    const qg_step *wide = program->wide;
    qg_holes holes = {.count = 0};
    qg_plan_holes(arena, &holes, plan, msl);
    qg_binding_holes(arena, &holes, program->kernel);
    if (program->kernel->family->experts) qg_msl_expert_holes(arena, &holes, program);
    wide_holes(arena, &holes, program, pack_wide_x(arena, program));
    qg_hole(&holes, "shape_of_rows", qg_shape_arguments(arena, wide->code, "shape.$$, "));
    qg_hole(&holes, "largest_of_run",
            plan->lanes == 4   ? "max(max(run.x, run.y), max(run.z, run.w))"
            : plan->lanes == 2 ? "max(run.x, run.y)"
                               : "run");
    loaded_holes(arena, &holes, wide->code->fetched);
    return qg_expand(arena, templates, "gemm_tiles.metal", holes.items, holes.count, why);
}
