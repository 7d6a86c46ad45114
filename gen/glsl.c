/* GLSL for Vulkan 1.1: one text for each kernel. */
#include "kernel.h"

#include <string.h>

static const qg_target *const glsl = &qg_targets[QG_GLSL];

static const char *storage_type(uint32_t unit) { return unit == 8 ? "uint8_t" : unit == 16 ? "uint16_t" : "uint"; }

static bool has_unit(const qg_plan *plan, uint32_t unit) {
    for (uint32_t i = 0; i < plan->layout->n_buffers; ++i)
        if (plan->units[i] == unit) return true;
    return false;
}

static char *extensions(qg_arena *arena, const qg_kernel *kernel) {
    const bool single = kernel->family->sums ? kernel->plan->lanes == 1 : qg_stores_singly(kernel);
    const bool narrow_store = kernel->type != QG_F32 && single;
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

static char *buffers(qg_arena *arena, const qg_kernel *kernel) {
    const qg_plan *plan = kernel->plan;
    const qg_layout *layout = plan->layout;
    qg_text text = qg_text_new(arena);
    for (uint32_t i = 0; i < layout->n_buffers; ++i) {
        add_buffer(&text, i, storage_type(plan->units[i]), layout->buffers[i].name, "Buffer");
        qg_text_puts(&text, "\n");
    }
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
    const bool matrix = plan->layout->view != QG_VIEW_BLOCKS;
    const char *rows = plan->tile_rows > 1 ? qg_format(arena, "%u rows", plan->tile_rows) : "a row";
    qg_text_printf(&text, "// The %u values of a tile of %s, in runs of %u consecutive elements.\n",
                   plan->n_runs * plan->lanes, matrix ? rows : "a block", plan->lanes);
    const char *first = !matrix ? "block" : plan->tile_rows > 1 ? "band" : "row";
    qg_text_printf(&text, "void decode(uint %s, uint tile, out precise %s v[%u]) {\n", first, vec, plan->n_runs);
    if (matrix) qg_text_puts(&text, qg_grid_lines(arena, ir, plan, glsl));
    qg_decode_body(&text, ir, glsl);
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

char *qg_glsl(qg_arena *arena, const qg_templates *templates, const qg_request *request, const qg_kernel *kernel,
              const char **why) {
    const qg_plan *plan = kernel->plan;
    const bool sums = kernel->family->sums;
    const qg_ir *ir = sums ? qg_lower_dot(arena, plan) : qg_lower_decode(arena, plan);
    qg_holes prelude = {.count = 0}, holes = {.count = 0};
    qg_prelude_holes(&prelude, ir);
    qg_hole(&prelude, "to_f16", (kernel->type == QG_F16 && !sums) || qg_uses(ir, QG_ROUND_F16) ? "" : NULL);
    qg_hole(&prelude, "to_bf16", kernel->type == QG_BF16 ? "" : NULL);
    if (sums)
        qg_no_store_holes(&prelude);
    else
        qg_store_holes(arena, &holes, &prelude, kernel);
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
    qg_hole(&holes, "tables", qg_tables(arena, plan, glsl, "const"));
    qg_hole(&holes, "prelude", prelude_text);
    if (sums)
        sum_holes(arena, &holes, ir, kernel);
    else
        qg_hole(&holes, "decode", decode(arena, ir, plan));
    return qg_expand(arena, qg_template_of(arena, templates, kernel, "comp"), holes.items, holes.count, why);
}
