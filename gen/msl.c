/* Metal Shading Language: one text for each format, with an entry point for each kernel. */
#include "kernel.h"

#include <string.h>

static const qg_target *const msl = &qg_targets[QG_MSL];

static const char *storage_type(uint32_t unit) { return unit == 8 ? "uchar" : unit == 16 ? "ushort" : "uint"; }

static const char *const half_vectors[] = {0, "half", "half2", 0, "half4"};
static const char *const ushort_vectors[] = {0, "ushort", "ushort2", 0, "ushort4"};

static const char *vector_of(qg_scalar type, uint32_t lanes) {
    return type == QG_F32 ? msl->types[QG_K_FLOAT][lanes] : half_vectors[lanes];
}

static const char *stored_type(const qg_kernel *kernel) {
    const uint32_t lanes = kernel->plan->store_lanes;
    return kernel->type == QG_F32   ? msl->types[QG_K_FLOAT][lanes]
           : kernel->type == QG_F16 ? half_vectors[lanes]
                                    : ushort_vectors[lanes];
}

static char *decode(qg_arena *arena, const qg_ir *ir, const qg_plan *plan) {
    qg_text text = qg_text_new(arena);
    const bool matrix = plan->layout->view != QG_VIEW_BLOCKS;
    qg_text_printf(&text, "// The %u values of a tile of a %s, in runs of %u consecutive elements.\n",
                   plan->tile_elements, matrix ? "row" : "block", plan->lanes);
    qg_text_puts(&text, "inline void decode(");
    for (uint32_t i = 0; i < plan->layout->n_buffers; ++i)
        qg_text_printf(&text, "device const %s *%s, ", storage_type(plan->units[i]), plan->layout->buffers[i].name);
    const char *first = "uint block", *tile = plan->tiles == 1 ? "uint" : "uint tile";
    if (matrix) {
        qg_text_puts(&text, qg_shape_arguments(arena, ir, "uint $$, "));
        first = plan->layout->view == QG_VIEW_SEQUENCE ? "uint" : "uint row";
        tile = "uint tile";
    }
    qg_text_printf(&text, "%s, %s, thread %s *v) {\n", first, tile, msl->types[QG_K_FLOAT][plan->lanes]);
    if (matrix) qg_text_puts(&text, qg_grid_lines(arena, ir, plan, msl));
    qg_decode_body(&text, ir, msl);
    qg_text_puts(&text, "}\n");
    return text.data;
}

/* Elements [from, to) of a tile that may be cut off. */
static char *write_cut_tile(qg_arena *arena, const qg_plan *plan) {
    const char *value = plan->lanes > 1 ? qg_format(arena, "v[e / %u][e %% %u]", plan->lanes, plan->lanes) : "v[e]";
    return qg_format(arena,
                     "// Stores elements [from, to) of a tile; its first belongs at `at`.\n"
                     "template <typename T>\n"
                     "inline void write_tile(device T *dst, uint at, uint from, uint to, thread const %s *v) {\n"
                     "    for (uint e = 0; e < %u; ++e) {\n"
                     "        if (e >= from && e < to) store(dst, at + e, %s);\n"
                     "    }\n}\n",
                     msl->types[QG_K_FLOAT][plan->lanes], plan->tile_elements, value);
}

/* A tile lies in one row: its runs are neighbours. */
static char *write_row_tile(qg_arena *arena, const qg_plan *plan) {
    qg_text text = qg_text_new(arena);
    qg_text_printf(&text,
                   "// Stores a tile's runs from `at` on, counted in runs.\n"
                   "template <typename T>\ninline void write_tile(device T *dst, uint at, thread const %s *v) {\n",
                   msl->types[QG_K_FLOAT][plan->lanes]);
    for (uint32_t r = 0; r < plan->n_runs; ++r)
        qg_text_printf(&text, "    store(dst, %s, v[%u]);\n", r ? qg_format(arena, "at + %uu", r) : "at", r);
    qg_text_puts(&text, "}\n");
    return text.data;
}

static char *write_tile(qg_arena *arena, const qg_plan *plan) {
    if (plan->layout->ragged) return write_cut_tile(arena, plan);
    if (plan->layout->view != QG_VIEW_BLOCKS) return write_row_tile(arena, plan);
    const qg_ir *place = qg_lower_place(arena, plan);
    qg_text text = qg_text_new(arena);
    qg_text_puts(&text, "// Stores a tile's runs where they belong in block `block` of the output.\n");
    qg_text_printf(
        &text, "template <typename T>\ninline void write_tile(device T *dst, uint block, %s, thread const %s *v) {\n",
        plan->tiles == 1 ? "uint" : "uint tile", msl->types[QG_K_FLOAT][plan->lanes]);
    qg_text_printf(&text, "    const uint at = block * %uu", plan->layout->elements / plan->lanes);
    if (plan->n_digits) {
        qg_text_puts(&text, " + ");
        qg_print_expression(&text, place, msl, place->outputs[0].node);
    }
    qg_text_puts(&text, ";\n");
    for (uint32_t r = 0; r < plan->n_runs; ++r) {
        if (r)
            qg_text_printf(&text, "    store(dst, at + %uu, v[%u]);\n", plan->runs[r] / plan->lanes, r);
        else
            qg_text_puts(&text, "    store(dst, at, v[0]);\n");
    }
    qg_text_puts(&text, "}\n");
    return text.data;
}

static char *buffers(qg_arena *arena, const qg_plan *plan, bool bound) {
    qg_text text = qg_text_new(arena);
    for (uint32_t i = 0; i < plan->layout->n_buffers; ++i)
        qg_text_printf(&text, "    device const %s *%s%s,\n", storage_type(plan->units[i]),
                       plan->layout->buffers[i].name, bound ? qg_format(arena, " [[buffer(%u)]]", i) : "");
    return text.data;
}

static char *weights(qg_arena *arena, const qg_plan *plan) {
    qg_text text = qg_text_new(arena);
    for (uint32_t i = 0; i < plan->layout->n_buffers; ++i)
        qg_text_printf(&text, "%s%s", i ? ", " : "", plan->layout->buffers[i].name);
    return text.data;
}

static char *kernel_text(qg_arena *arena, const qg_templates *templates, const qg_kernel *kernel, const char **why) {
    const qg_plan *plan = kernel->plan;
    const uint32_t n_weights = plan->layout->n_buffers;
    qg_holes holes = {.count = 0};
    qg_plan_holes(arena, &holes, plan, msl);
    qg_hole(&holes, "name", kernel->name);
    qg_hole(&holes, "buffers", buffers(arena, plan, true));
    qg_hole(&holes, "bound_buffers", buffers(arena, plan, true));
    if (kernel->family->sums) {
        const qg_ir *ir = qg_lower_dot(arena, plan);
        qg_hole(&holes, "x_sums", qg_format(arena, "%u", ir->n_x_sums ? ir->n_x_sums : 1));
    }
    qg_hole(&holes, "x_type", vector_of(kernel->type, plan->lanes));
    qg_hole(&holes, "weights", weights(arena, plan));
    qg_hole(&holes, "shape", qg_shape_arguments(arena, qg_lower_decode(arena, plan), "push.$$, "));
    for (uint32_t i = 0; i < kernel->family->n_bindings; ++i)
        qg_hole(&holes, qg_format(arena, "binding_%s", kernel->family->bindings[i].name),
                qg_format(arena, "%u", n_weights + i));
    qg_hole(&holes, "binding_push", qg_format(arena, "%u", n_weights + kernel->family->n_bindings));
    qg_hole(&holes, "dst_type", stored_type(kernel));
    char *body = qg_expand(arena, qg_template_of(arena, templates, kernel, "metal"), holes.items, holes.count, why);
    return body ? qg_format(arena, "// %s: %s, %s %s.\n%s", kernel->name, kernel->family->summary,
                            kernel->family->sums ? "x in" : "in", qg_scalars[kernel->type].name, body)
                : NULL;
}

/* ---- sums ---- */

static char *load_x(qg_arena *arena, const qg_ir *ir, const qg_plan *plan) {
    const char *vec = msl->types[QG_K_FLOAT][plan->lanes];
    qg_text text = qg_text_new(arena);
    qg_text_printf(&text,
                   "// Loads what tile `j` of a row meets of x, from right-hand side `vector` on.\n"
                   "template <uint TILES, uint BATCH, typename X>\n"
                   "inline void load_x(device const X *x_in, uint batch, uint row_tiles, uint vector, uint j, uint k,\n"
                   "    thread %s (&x)[TILES][BATCH][%u], thread float (&x_sum)[TILES][BATCH][%u])\n{\n",
                   vec, plan->n_runs, ir->n_x_sums ? ir->n_x_sums : 1);
    qg_load_x_body(&text, ir, plan, msl, "row_tiles", "batch", qg_format(arena, "%s(x_in[$i])", vec));
    qg_text_puts(&text, "}\n");
    return text.data;
}

static char *accumulate(qg_arena *arena, const qg_ir *ir, const qg_plan *plan) {
    qg_text text = qg_text_new(arena);
    qg_text_printf(&text,
                   "// Adds the products of tile `j` of row `n` with what is kept of x, for each right-hand side.\n"
                   "template <uint TILES, uint BATCH>\n"
                   "inline void accumulate(\n%s    %suint row_tiles, uint n, uint j, uint k,\n"
                   "    thread const %s (&x)[TILES][BATCH][%u], thread const float (&x_sum)[TILES][BATCH][%u],\n"
                   "    thread float (&sum)[BATCH])\n{\n    #pragma clang fp contract(fast)\n",
                   buffers(arena, plan, false), qg_shape_arguments(arena, ir, "uint $$, "),
                   msl->types[QG_K_FLOAT][plan->lanes], plan->n_runs, ir->n_x_sums ? ir->n_x_sums : 1);
    qg_accumulate_body(&text, ir, plan, msl, "row_tiles");
    qg_text_puts(&text, "}\n");
    return text.data;
}

/* What all kernels of a format that sum over rows share; "" when there are none, NULL on a broken template. */
static char *sum_rows(qg_arena *arena, const qg_templates *templates, const qg_kernel *kernels, uint32_t count,
                      const qg_ir **ir, const char **why) {
    for (uint32_t i = 0; i < count; ++i) {
        if (!kernels[i].family->sums) continue;
        const qg_plan *plan = kernels[i].plan;
        qg_holes holes = {.count = 0};
        *ir = qg_lower_dot(arena, plan);
        qg_plan_holes(arena, &holes, plan, msl);
        qg_hole(&holes, "buffers", buffers(arena, plan, false));
        qg_hole(&holes, "weights", weights(arena, plan));
        qg_hole(&holes, "shape", qg_shape_arguments(arena, *ir, "shape.$$, "));
        qg_hole(&holes, "x_sums", qg_format(arena, "%u", (*ir)->n_x_sums ? (*ir)->n_x_sums : 1));
        qg_hole(&holes, "load_x", load_x(arena, *ir, plan));
        qg_hole(&holes, "accumulate", accumulate(arena, *ir, plan));
        return qg_expand(arena, qg_template_text(templates, "gemv_rows.metal"), holes.items, holes.count, why);
    }
    return "";
}

static bool any_decodes(const qg_kernel *kernels, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i)
        if (!kernels[i].family->sums) return true;
    return false;
}

static const char *bf16_of_v(uint32_t lanes) {
    return lanes == 4   ? "ushort4(f32_to_bf16(v.x), f32_to_bf16(v.y), f32_to_bf16(v.z), f32_to_bf16(v.w))"
           : lanes == 2 ? "ushort2(f32_to_bf16(v.x), f32_to_bf16(v.y))"
                        : "f32_to_bf16(v)";
}

char *qg_msl(qg_arena *arena, const qg_templates *templates, const qg_request *request, const qg_plan *plan,
             const char **why) {
    const qg_ir *ir = qg_lower_decode(arena, plan), *sum_ir = NULL;
    qg_holes prelude = {.count = 0}, holes = {.count = 0};
    const qg_kernel *kernels;
    const uint32_t count = qg_portable_kernels(arena, request, &kernels);
    const char *rows = sum_rows(arena, templates, kernels, count, &sum_ir, why);
    if (!rows) return NULL;
    const bool decodes = any_decodes(kernels, count);
    qg_prelude_holes(&prelude, decodes ? ir : sum_ir);
    if (sum_ir) qg_prelude_add(&prelude, sum_ir);
    qg_hole(&prelude, "vec", msl->types[QG_K_FLOAT][plan->store_lanes]);
    qg_hole(&prelude, "half_vec", half_vectors[plan->store_lanes]);
    qg_hole(&prelude, "ushort_vec", ushort_vectors[plan->store_lanes]);
    qg_hole(&prelude, "bf16_of_v", bf16_of_v(plan->store_lanes));
    char *prelude_text =
        qg_expand(arena, qg_template_text(templates, "prelude.metal"), prelude.items, prelude.count, why);
    if (!prelude_text) return NULL;

    qg_text text = qg_text_new(arena);
    for (uint32_t i = 0; i < count; ++i) {
        const char *kernel = kernel_text(arena, templates, &kernels[i], why);
        if (!kernel) return NULL;
        qg_text_printf(&text, "%s%s", i ? "\n" : "", kernel);
    }
    const char *sentence = qg_format(arena, "%s: Metal kernels of the format.", request->layout->name);
    qg_hole(&holes, "banner", qg_banner(arena, request, plan, sentence, "// ", "// ", ""));
    qg_hole(&holes, "format", request->layout->name);
    qg_hole(&holes, "tables", qg_tables(arena, plan, msl, "constant"));
    qg_hole(&holes, "prelude", prelude_text);
    qg_hole(&holes, "decode", decodes ? decode(arena, ir, plan) : "");
    qg_hole(&holes, "write_tile", decodes ? write_tile(arena, plan) : "");
    qg_hole(&holes, "rows", rows);
    qg_hole(&holes, "kernels", text.data);
    return qg_expand(arena, qg_template_text(templates, "format.metal"), holes.items, holes.count, why);
}
