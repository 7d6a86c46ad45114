/* GLSL for Vulkan 1.1: one text for each kernel. */
#include "matrix.h"

#include <string.h>

static const qg_target *const glsl = &qg_targets[QG_GLSL];

static const char *storage_type(uint32_t unit) { return unit == 8 ? "uint8_t" : unit == 16 ? "uint16_t" : "uint"; }

static bool has_unit(const qg_plan *plan, uint32_t unit) {
    for (uint32_t i = 0; i < plan->layout->n_buffers; ++i)
        if (plan->units[i] == unit) return true;
    return false;
}

/* A run of results as it is stored: vec4, or halves packed in pairs. */
static const char *stored_type(const qg_kernel *kernel) {
    const uint32_t lanes = kernel->plan->store_lanes;
    if (kernel->type == QG_F32) return glsl->types[QG_K_FLOAT][lanes];
    return lanes == 4 ? "uvec2" : lanes == 2 ? "uint" : "uint16_t";
}

static char *extensions(qg_arena *arena, const qg_kernel *kernel) {
    const uint32_t lanes = kernel->family->sums ? kernel->plan->lanes : kernel->plan->store_lanes;
    const bool narrow_store = kernel->type != QG_F32 && lanes == 1;
    return qg_format(
        arena, "%s%s", has_unit(kernel->plan, 8) ? "#extension GL_EXT_shader_8bit_storage : require\n" : "",
        has_unit(kernel->plan, 16) || narrow_store ? "#extension GL_EXT_shader_16bit_storage : require\n" : "");
}

/* An interface block is called like its buffer, with a capital. */
static void add_buffer(qg_text *text, uint32_t binding, const char *type, const char *name, const char *suffix) {
    const bool lower = *name >= 'a' && *name <= 'z';
    qg_text_printf(text, "layout(binding = %u, std430) readonly buffer %c%s%s { %s %s[]; };", binding,
                   lower ? *name - 'a' + 'A' : *name, name + 1, suffix, type, name);
}

static char *buffers_of_tables(qg_arena *arena, const qg_kernel *kernel) {
    const qg_plan *plan = kernel->plan;
    const qg_layout *layout = plan->layout;
    qg_text text = qg_text_new(arena);
    qg_text_puts(&text, "");
    uint32_t binding = layout->n_buffers + kernel->family->n_bindings;
    for (uint32_t i = 0; i < layout->n_tables; ++i) {
        const qg_table *table = &layout->tables[i];
        if (!plan->stored[i]) continue;
        const bool packed = table->columns > 1;
        add_buffer(&text, binding++, packed ? "uint" : glsl->types[qg_table_kind(table)][1], table->name, "Table");
        if (packed)
            qg_text_printf(&text, "  // %u rows of %u: %s, packed", table->rows, table->columns,
                           qg_scalars[table->type].name);
        qg_text_puts(&text, "\n");
    }
    return text.data;
}

static char *buffers(qg_arena *arena, const qg_kernel *kernel) {
    const qg_plan *plan = kernel->plan;
    const qg_layout *layout = plan->layout;
    qg_text text = qg_text_new(arena);
    for (uint32_t i = 0; i < layout->n_buffers; ++i) {
        add_buffer(&text, i, storage_type(plan->units[i]), layout->buffers[i].name, "Buffer");
        qg_text_puts(&text, "\n");
    }
    qg_text_puts(&text, buffers_of_tables(arena, kernel));
    return text.data;
}

static void wide_loads(qg_text *text, const qg_ir *ir, const qg_plan *plan) {
    for (uint32_t i = 0; i < plan->layout->n_buffers; ++i) {
        const char *name = plan->layout->buffers[i].name;
        const uint32_t unit = qg_wide_unit(ir, i);
        if (!unit) continue;
        qg_text_printf(text, "// 32 bits from words of %u.\nuint %s_u32(uint at) {\n    return uint(%s[at])", unit,
                       name, name);
        for (uint32_t at = 1; at < 32 / unit; ++at)
            qg_text_printf(text, " | (uint(%s[at + %uu]) << %u)", name, at, at * unit);
        qg_text_puts(text, ";\n}\n\n");
    }
}

static char *decode(qg_arena *arena, const qg_ir *ir, const qg_plan *plan) {
    qg_text text = qg_text_new(arena);
    wide_loads(&text, ir, plan);
    const char *vec = glsl->types[QG_K_FLOAT][plan->lanes];
    qg_text_printf(&text, "// The %u values of a tile of a %s, in runs of %u consecutive elements.\n",
                   plan->tile_elements, plan->layout->view == QG_VIEW_BLOCKS ? "block" : "row", plan->lanes);
    const bool matrix = plan->layout->view != QG_VIEW_BLOCKS;
    qg_text_printf(&text, "void decode(uint %s, uint tile, out precise %s v[%u]) {\n", matrix ? "row" : "block", vec,
                   plan->n_runs);
    if (matrix) qg_text_puts(&text, qg_grid_lines(arena, ir, plan, glsl));
    qg_decode_body(&text, ir, glsl);
    qg_text_puts(&text, "}\n");
    return text.data;
}

/* One run as the buffer stores it. */
static char *packed(qg_arena *arena, const qg_kernel *kernel, uint32_t run) {
    const char *convert = kernel->type == QG_F16 ? "f32_to_f16" : "f32_to_bf16";
    if (kernel->type == QG_F32) return qg_format(arena, "v[%u]", run);
    if (kernel->plan->store_lanes == 1) return qg_format(arena, "uint16_t(%s(v[%u]))", convert, run);
    return qg_format(arena, "pack(v[%u])", run);
}

static char *pack_function(qg_arena *arena, const qg_kernel *kernel) {
    const char *convert = kernel->type == QG_F16 ? "f32_to_f16" : "f32_to_bf16";
    if (kernel->type == QG_F32 || kernel->plan->store_lanes == 1) return "";
    if (kernel->plan->lanes == 2)
        return qg_format(arena, "uint pack(vec2 v) {\n    return %s(v.x) | (%s(v.y) << 16);\n}\n\n", convert, convert);
    return qg_format(
        arena, "uvec2 pack(vec4 v) {\n    return uvec2(%s(v.x) | (%s(v.y) << 16), %s(v.z) | (%s(v.w) << 16));\n}\n\n",
        convert, convert, convert, convert);
}

/* Elements [from, to) of a tile that may be cut off. */
static char *write_cut_tile(qg_arena *arena, const qg_kernel *kernel) {
    const qg_plan *plan = kernel->plan;
    const char *value = plan->lanes > 1 ? qg_format(arena, "v[e / %uu][e %% %uu]", plan->lanes, plan->lanes) : "v[e]";
    if (kernel->type != QG_F32)
        value = qg_format(arena, "uint16_t(%s(%s))", kernel->type == QG_F16 ? "f32_to_f16" : "f32_to_bf16", value);
    return qg_format(arena,
                     "// Stores elements [from, to) of a tile; its first belongs at `at`.\n"
                     "void write_tile(uint at, uint from, uint to, %s v[%u]) {\n"
                     "    for (uint e = 0u; e < %uu; ++e) {\n"
                     "        if (e >= from && e < to) dst[at + e] = %s;\n"
                     "    }\n}\n",
                     glsl->types[QG_K_FLOAT][plan->lanes], plan->n_runs, plan->tile_elements, value);
}

/* A tile lies in one row: its runs are neighbours. */
static char *write_row_tile(qg_arena *arena, const qg_kernel *kernel) {
    const qg_plan *plan = kernel->plan;
    qg_text text = qg_text_new(arena);
    qg_text_puts(&text, pack_function(arena, kernel));
    qg_text_printf(&text, "// Stores a tile's runs from `at` on, counted in runs.\n");
    qg_text_printf(&text, "void write_tile(uint at, %s v[%u]) {\n", glsl->types[QG_K_FLOAT][plan->lanes], plan->n_runs);
    for (uint32_t r = 0; r < plan->n_runs; ++r) {
        const char *at = r ? qg_format(arena, "at + %uu", r) : "at";
        qg_text_printf(&text, "    dst[%s] = %s;\n", at, packed(arena, kernel, r));
    }
    qg_text_puts(&text, "}\n");
    return text.data;
}

static char *write_tile(qg_arena *arena, const qg_kernel *kernel) {
    const qg_plan *plan = kernel->plan;
    if (plan->layout->ragged) return write_cut_tile(arena, kernel);
    if (plan->layout->view != QG_VIEW_BLOCKS) return write_row_tile(arena, kernel);
    const qg_ir *place = qg_lower_place(arena, plan);
    qg_text text = qg_text_new(arena);
    qg_text_puts(&text, pack_function(arena, kernel));
    qg_text_printf(&text, "// Stores a tile's runs where they belong in block `block` of the output.\n");
    qg_text_printf(&text, "void write_tile(uint block, uint tile, %s v[%u]) {\n", glsl->types[QG_K_FLOAT][plan->lanes],
                   plan->n_runs);
    qg_text_printf(&text, "    const uint at = block * %uu", plan->layout->elements / plan->lanes);
    if (plan->n_digits) {
        qg_text_puts(&text, " + ");
        qg_print_expression(&text, place, glsl, place->outputs[0].node);
    }
    qg_text_puts(&text, ";\n");
    for (uint32_t r = 0; r < plan->n_runs; ++r) {
        if (r)
            qg_text_printf(&text, "    dst[at + %uu] = %s;\n", plan->runs[r] / plan->lanes, packed(arena, kernel, r));
        else
            qg_text_printf(&text, "    dst[at] = %s;\n", packed(arena, kernel, r));
    }
    qg_text_puts(&text, "}\n");
    return text.data;
}

/* ---- sums ---- */

/* x as it is stored, and a run of it as floats. */
static const char *x_type(const qg_kernel *kernel) {
    const uint32_t lanes = kernel->plan->lanes;
    if (kernel->type == QG_F32) return glsl->types[QG_K_FLOAT][lanes];
    return lanes == 4 ? "uvec2" : lanes == 2 ? "uint" : "uint16_t";
}

static const char *x_load(const qg_kernel *kernel) {
    const uint32_t lanes = kernel->plan->lanes;
    if (kernel->type == QG_F32) return "x_in[$i]";
    return lanes == 4   ? "vec4(unpackHalf2x16(x_in[$i].x), unpackHalf2x16(x_in[$i].y))"
           : lanes == 2 ? "unpackHalf2x16(x_in[$i])"
                        : "unpackHalf2x16(uint(x_in[$i])).x";
}

static char *load_x(qg_arena *arena, const qg_ir *ir, const qg_kernel *kernel) {
    qg_text text = qg_text_new(arena);
    qg_text_puts(&text, "// Loads what tile `j` of a row meets of x, from right-hand side `vector` on.\n"
                        "void load_x(uint vector, uint j, uint k) {\n");
    qg_load_x_body(&text, ir, kernel->plan, glsl, "row_tiles", "batch", x_load(kernel));
    qg_text_puts(&text, "}\n");
    return text.data;
}

static char *accumulate(qg_arena *arena, const qg_ir *ir, const qg_plan *plan) {
    qg_text text = qg_text_new(arena);
    wide_loads(&text, ir, plan);
    qg_text_puts(&text,
                 "// Adds the products of tile `j` of row `n` with what is kept of x, for each right-hand side.\n"
                 "void accumulate(uint n, uint j, uint k, inout float sum[BATCH]) {\n");
    qg_accumulate_body(&text, ir, plan, glsl, "row_tiles");
    qg_text_puts(&text, "}\n");
    return text.data;
}

static void sum_holes(qg_arena *arena, qg_holes *holes, const qg_ir *ir, const qg_kernel *kernel) {
    qg_hole(holes, "x_type", x_type(kernel));
    qg_hole(holes, "x_sums", qg_format(arena, "%u", ir->n_x_sums ? ir->n_x_sums : 1));
    qg_hole(holes, "load_x", load_x(arena, ir, kernel));
    qg_hole(holes, "accumulate", accumulate(arena, ir, kernel->plan));
}

static char *matrix_glsl(qg_arena *arena, const qg_templates *templates, const qg_request *request,
                         const qg_kernel *kernel, const char **why) {
    const qg_matrix *m = kernel->matrix;
    const qg_plan *plan = m->plan;
    qg_holes prelude = {.count = 0}, holes = {.count = 0};
    qg_prelude_holes(&prelude, m->operands);
    qg_prelude_add(&prelude, m->values);
    qg_hole(&prelude, "to_f16", NULL);
    qg_hole(&prelude, "to_bf16", NULL);
    const char *prelude_text =
        qg_expand(arena, qg_template_text(templates, "prelude.glsl"), prelude.items, prelude.count, why);
    if (!prelude_text) return NULL;
    const char *sentence =
        qg_format(arena, "%s: %s, x in %s.", kernel->name, kernel->family->summary, qg_scalars[kernel->type].name);
    qg_hole(&holes, "banner", qg_banner(arena, request, plan, sentence, "// ", "// ", ""));
    qg_hole(&holes, "extensions",
            qg_format(arena, "%s%s",
                      qg_matrix_has_unit(m, 8) ? "#extension GL_EXT_shader_8bit_storage : require\n" : "",
                      qg_matrix_has_unit(m, 16) ? "#extension GL_EXT_shader_16bit_storage : require\n" : ""));
    const qk_kernel *described = qg_describe(arena, kernel, QK_API_VULKAN, NULL);
    qg_hole(&holes, "default_chunks", qg_format(arena, "%u", described->spec_constants[1].value));
    qg_hole(&holes, "buffers", qg_format(arena, "%s%s", qg_matrix_buffers(arena, m), buffers_of_tables(arena, kernel)));
    qg_hole(&holes, "binding_x", qg_format(arena, "%u", plan->layout->n_buffers));
    qg_hole(&holes, "binding_y", qg_format(arena, "%u", plan->layout->n_buffers + 1));
    qg_hole(&holes, "x_type", x_type(kernel));
    qg_hole(&holes, "blocks", qg_format(arena, "%u", m->blocks));
    qg_hole(&holes, "steps", qg_format(arena, "%u", m->steps));
    qg_hole(&holes, "runs", qg_format(arena, "%u", m->n_runs));
    qg_hole(&holes, "sums", qg_format(arena, "%u", m->n_sums ? m->n_sums : 1));
    qg_hole(&holes, "x_pairs", qg_format(arena, "%u", m->n_x / 2));
    qg_hole(&holes, "unit", m->unit == 1 ? "1.0" : "16777216.0");
    qg_hole(&holes, "sizes", qg_matrix_constants(arena, m));
    qg_hole(&holes, "tables", qg_tables(arena, plan, glsl, "const"));
    qg_hole(&holes, "prelude", prelude_text);
    qg_hole(&holes, "unit_extensions", qg_template_text(templates, "matrix_units.ext"));
    qg_hole(&holes, "units", qg_template_text(templates, "matrix_units.glsl"));
    qg_hole(&holes, "staging", qg_matrix_staging(arena, m));
    qg_hole(&holes, "functions", qg_matrix_functions(arena, m, x_load(kernel)));
    return qg_expand(arena, qg_template_of(arena, templates, kernel, "comp"), holes.items, holes.count, why);
}

char *qg_glsl(qg_arena *arena, const qg_templates *templates, const qg_request *request, const qg_kernel *kernel,
              const char **why) {
    const qg_plan *plan = kernel->plan;
    if (kernel->matrix) return matrix_glsl(arena, templates, request, kernel, why);
    const bool sums = kernel->family->sums;
    const qg_ir *ir = sums ? qg_lower_dot(arena, plan) : qg_lower_decode(arena, plan);
    qg_holes prelude = {.count = 0}, holes = {.count = 0};
    qg_prelude_holes(&prelude, ir);
    qg_hole(&prelude, "to_f16", (kernel->type == QG_F16 && !sums) || qg_uses(ir, QG_ROUND_F16) ? "" : NULL);
    qg_hole(&prelude, "to_bf16", kernel->type == QG_BF16 ? "" : NULL);
    char *prelude_text =
        qg_expand(arena, qg_template_text(templates, "prelude.glsl"), prelude.items, prelude.count, why);
    if (!prelude_text) return NULL;

    const char *sentence = qg_format(arena, "%s: %s, %s %s.", kernel->name, kernel->family->summary,
                                     sums ? "x in" : "in", qg_scalars[kernel->type].name);
    qg_plan_holes(arena, &holes, plan, glsl);
    qg_hole(&holes, "banner", qg_banner(arena, request, plan, sentence, "// ", "// ", ""));
    qg_hole(&holes, "extensions", extensions(arena, kernel));
    qg_hole(&holes, "buffers", buffers(arena, kernel));
    for (uint32_t i = 0; i < kernel->family->n_bindings; ++i)
        qg_hole(&holes, qg_format(arena, "binding_%s", kernel->family->bindings[i].name),
                qg_format(arena, "%u", plan->layout->n_buffers + i));
    qg_hole(&holes, "dst_type", stored_type(kernel));
    qg_hole(&holes, "tables", qg_tables(arena, plan, glsl, "const"));
    qg_hole(&holes, "prelude", prelude_text);
    if (sums) {
        sum_holes(arena, &holes, ir, kernel);
    } else {
        qg_hole(&holes, "decode", decode(arena, ir, plan));
        qg_hole(&holes, "write_tile", write_tile(arena, kernel));
    }
    return qg_expand(arena, qg_template_of(arena, templates, kernel, "comp"), holes.items, holes.count, why);
}
