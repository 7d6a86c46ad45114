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
    const bool single = kernel->family->sums ? qg_least_lanes(kernel) == 1 : qg_stores_singly(kernel);
    const bool narrow_store = kernel->type != QG_F32 && single, dots = kernel->sum && kernel->sum->digits;
    const bool halves = kernel->sum && kernel->sum->products == QG_PRODUCTS_F16;
    return qg_format(
        arena, "%s%s%s%s", halves ? "#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require\n" : "",
        dots ? "#extension GL_EXT_spirv_intrinsics : require\n" : "",
        has_unit(kernel->plan, 8) ? "#extension GL_EXT_shader_8bit_storage : require\n" : "",
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

/* Of one or two functions; `other` may be NULL. */
static void wide_loads(qg_text *text, const qg_ir *ir, const qg_ir *other, const qg_plan *plan) {
    for (uint32_t i = 0; i < plan->layout->n_buffers; ++i) {
        const char *name = plan->layout->buffers[i].name;
        const uint32_t unit = qg_wide_unit(ir, i) || !other ? qg_wide_unit(ir, i) : qg_wide_unit(other, i);
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

/* x again, element by element. */
static const char *x_elements(qg_arena *arena, const qg_kernel *kernel, uint32_t binding) {
    return qg_format(arena, "layout(binding = %u, std430) readonly buffer InputElements { %s x_at[]; };", binding,
                     kernel->type == QG_F32 ? "float" : "uint16_t");
}

static char *load_x(qg_arena *arena, const qg_ir *ir, const qg_kernel *kernel) {
    const qg_plan *plan = kernel->plan;
    const char *row_runs = plan->layout->ragged
                               ? qg_format(arena, "(%s / %uu)", qg_row_cols(arena, plan, ""), plan->lanes)
                               : qg_format(arena, "row_tiles * %uu", plan->n_runs);
    qg_text text = qg_text_new(arena);
    qg_text_puts(&text, "// Loads what tile `j` of a row meets of x, from right-hand side `vector` on.\n"
                        "void load_x(uint vector, uint j, uint k) {\n");
    qg_load_x_body(&text, ir, plan, glsl, row_runs, "batch", x_load(kernel));
    qg_text_puts(&text, "}\n");
    return text.data;
}

static char *accumulate(qg_arena *arena, const qg_ir *ir, const qg_plan *plan) {
    qg_text text = qg_text_new(arena);
    qg_text_puts(&text,
                 "// Adds the products of tile `j` of row `n` with what is kept of x, for each right-hand side.\n"
                 "void accumulate(uint n, uint j, uint k, inout float sum[BATCH]) {\n");
    qg_accumulate_body(&text, ir, plan, glsl, "row_tiles");
    qg_text_puts(&text, "}\n");
    return text.data;
}

/* What a thread keeps of x. */
static char *x_kept(qg_arena *arena, const qg_ir *ir, const qg_plan *plan) {
    const uint32_t sums = ir->n_x_sums ? ir->n_x_sums : 1, digits = ir->n_x_digits ? ir->n_x_digits : 1;
    if (ir->half)
        return qg_format(arena, "%s x[TILES][BATCH][%u];\nfloat x_step[TILES][BATCH];\nfloat x_sum[TILES][BATCH][%u];",
                         glsl->halves[plan->lanes], plan->n_runs, sums);
    if (!ir->n_x_quads)
        return qg_format(arena, "%s x[TILES][BATCH][%u];\nfloat x_sum[TILES][BATCH][%u];",
                         glsl->types[QG_K_FLOAT][plan->lanes], plan->n_runs, sums);
    return qg_format(arena,
                     "int x[TILES][BATCH][DIGITS][%u];\nint x_digits[TILES][BATCH][DIGITS][%u];\n"
                     "float x_step[TILES][BATCH];\nfloat x_sum[TILES][BATCH][%u];",
                     ir->n_x_quads, digits, sums);
}

static char *sum_cut(qg_arena *arena, const qg_ir *ir, const qg_kernel *kernel) {
    const qg_plan *plan = kernel->plan;
    const char *load = kernel->type == QG_F32 ? "x_at[$i]" : "unpackHalf2x16(uint(x_at[$i])).x";
    const qg_cut_names names = {.decode = "decode", .arguments = "", .batch = "batch", .load = load};
    qg_text text = qg_text_new(arena);
    qg_text_printf(&text, "%s\n", decode(arena, ir, plan));
    qg_text_puts(&text, "// The products of what tile `j` of row `n` has in that row, for each right-hand side.\n"
                        "void sum_cut(uint n, uint j, out float part[BATCH]) {\n");
    qg_text_printf(&text, "    const uint row_cols = %s;\n", qg_row_cols(arena, plan, ""));
    qg_sum_cut_body(&text, plan, glsl, &names);
    qg_text_puts(&text, "}\n");
    return text.data;
}

/* `decoded` is the IR of a tile's values, which ragged rows need, or NULL. */
static void sum_holes(qg_arena *arena, qg_holes *holes, const qg_ir *ir, const qg_ir *decoded,
                      const qg_kernel *kernel) {
    qg_text wide = qg_text_new(arena);
    qg_text_puts(&wide, "");
    wide_loads(&wide, ir, decoded, kernel->plan);
    qg_hole(holes, "x_elements", decoded ? x_elements(arena, kernel, kernel->layout->n_buffers) : NULL);
    qg_hole(holes, "sum_cut", decoded ? sum_cut(arena, decoded, kernel) : NULL);
    qg_hole(holes, "x_type", x_type(kernel));
    qg_hole(holes, "x_kept", x_kept(arena, ir, kernel->plan));
    qg_hole(holes, "digits", kernel->sum->digits ? "" : NULL);
    qg_hole(holes, "halves", ir->half ? "" : NULL);
    qg_hole(holes, "floats", ir->half || kernel->sum->digits ? NULL : "");
    qg_hole(holes, "largest_of_most",
            kernel->plan->lanes == 4   ? "max(max(most.x, most.y), max(most.z, most.w))"
            : kernel->plan->lanes == 2 ? "max(most.x, most.y)"
                                       : "most");
    qg_hole(holes, "any", kernel->plan->lanes > 1 ? "any" : "");
    qg_hole(holes, "dot_halves", qg_dot_halves(arena, kernel->plan, glsl, ""));
    qg_hole(holes, "load_x", load_x(arena, ir, kernel));
    qg_hole(holes, "accumulate", qg_format(arena, "%s%s", wide.data, accumulate(arena, ir, kernel->plan)));
}

char *qg_glsl(qg_arena *arena, const qg_templates *templates, const qg_request *request, const qg_kernel *kernel,
              const char **why) {
    const qg_plan *plan = kernel->plan;
    const bool sums = kernel->family->sums;
    const qg_ir *ir = sums ? qg_lower_dot(arena, plan, kernel->sum->products) : qg_lower_decode(arena, plan);
    const qg_ir *decoded = sums && plan->layout->ragged ? qg_lower_decode(arena, plan) : NULL;
    qg_holes prelude = {.count = 0}, holes = {.count = 0};
    qg_prelude_holes(&prelude, ir);
    if (decoded) qg_prelude_add(&prelude, decoded);
    qg_hole(&prelude, "to_f16", (kernel->type == QG_F16 && !sums) || qg_uses(ir, QG_ROUND_F16) ? "" : NULL);
    qg_hole(&prelude, "to_bf16", kernel->type == QG_BF16 ? "" : NULL);
    if (sums)
        qg_no_store_holes(&prelude);
    else
        qg_store_holes(arena, &holes, &prelude, kernel);
    char *prelude_text =
        qg_expand(arena, qg_template_text(templates, "prelude.glsl"), prelude.items, prelude.count, why);
    if (!prelude_text) return NULL;

    const char *sentence = qg_format(arena, "%s: %s, %s %s.", kernel->module, kernel->family->summary,
                                     sums ? "x in" : "in", qg_scalars[kernel->type].name);
    qg_plan_holes(arena, &holes, plan, glsl);
    qg_hole(&holes, "banner", qg_banner(arena, request, kernel, sentence, "// ", "// ", ""));
    qg_hole(&holes, "extensions", extensions(arena, kernel));
    qg_hole(&holes, "buffers", buffers(arena, kernel));
    for (uint32_t i = 0; i < kernel->family->n_bindings; ++i)
        qg_hole(&holes, qg_format(arena, "binding_%s", kernel->family->bindings[i].name),
                qg_format(arena, "%u", plan->layout->n_buffers + i));
    qg_hole(&holes, "tables", qg_tables(arena, plan, glsl, "const"));
    qg_hole(&holes, "prelude", prelude_text);
    if (sums) {
        sum_holes(arena, &holes, ir, decoded, kernel);
    } else {
        qg_text code = qg_text_new(arena);
        wide_loads(&code, ir, NULL, plan);
        qg_text_puts(&code, decode(arena, ir, plan));
        qg_hole(&holes, "decode", code.data);
    }
    return qg_expand(arena, qg_template_of(arena, templates, kernel, "comp"), holes.items, holes.count, why);
}
