/* GLSL: how the values of a tile leave. A store is up to 16 bytes of neighbouring values; what
 * cannot leave that way, at the ends of rows that are cut off, leaves value by value. And where sums leave to. */
#include "text/glsl.h"

#include <string.h>

static const qg_target *const glsl = &qg_target_glsl;

static uint32_t stores(const qg_plan *plan) { return plan->tile_elements / plan->store_lanes; }

static const char *whole_type(const qg_kernel *kernel) {
    const uint32_t lanes = kernel->plan->store_lanes;
    if (kernel->type == QG_F32) return glsl->types[QG_K_FLOAT][lanes];
    return lanes == 8 ? "uvec4" : lanes == 4 ? "uvec2" : lanes == 2 ? "uint" : "uint16_t";
}

static const char *single_type(const qg_kernel *kernel) { return kernel->type == QG_F32 ? "float" : "uint16_t"; }

/* Runs from `run` on as one store takes them. */
static const char *whole(qg_arena *arena, const qg_kernel *kernel, uint32_t run) {
    if (kernel->type == QG_F32) return qg_format(arena, "v[%u]", run);
    if (kernel->plan->store_lanes == 1) return qg_format(arena, "uint16_t(f32_to_half(v[%u]))", run);
    if (kernel->plan->store_lanes == kernel->plan->lanes) return qg_format(arena, "pack_halves(v[%u])", run);
    return qg_format(arena, "uvec4(pack_halves(v[%u]), pack_halves(v[%u]))", run, run + 1);
}

/* The stores of a tile, or of one row of it; `at` counts them. */
static void add_stores(qg_text *text, const qg_kernel *kernel, uint32_t row, const char *buffer, const char *indent) {
    const qg_plan *plan = kernel->plan;
    const uint32_t runs = plan->store_lanes / plan->lanes, in_row = plan->n_runs / plan->tile_rows;
    for (uint32_t r = 0; r < in_row; r += runs) {
        const uint32_t offset = plan->runs[r] / plan->store_lanes;
        const char *more = offset ? qg_format(text->arena, " + %uu", offset) : "";
        const char *value = whole(text->arena, kernel, row * in_row + r);
        qg_text_printf(text, "%s%s[at%s] = %s;\n", indent, buffer, more, value);
    }
}

/* A tile lies in one row, or in all rows of its block, which have `step` stores from one to the next. */
static void add_row_tile(qg_text *text, const qg_kernel *kernel) {
    const qg_plan *plan = kernel->plan;
    const char *vec = glsl->types[QG_K_FLOAT][plan->lanes];
    const bool rows = plan->tile_rows > 1;
    qg_text_printf(text, "// Stores a tile from `at` on, counted in stores of %u elements%s.\n", plan->store_lanes,
                   rows ? "; from row to row there are `step`" : "");
    qg_text_printf(text, "void write_tile(uint at, %s%s v[%u]) {\n", rows ? "uint step, " : "", vec, plan->n_runs);
    for (uint32_t r = 0; r < plan->tile_rows; ++r) {
        if (r) qg_text_puts(text, "    at += step;\n");
        add_stores(text, kernel, r, "dst", "    ");
    }
    qg_text_puts(text, "}\n");
}

/* Elements [from, to) of a tile that may be cut off. */
static char *write_cut_tile(qg_arena *arena, const qg_kernel *kernel) {
    const qg_plan *plan = kernel->plan;
    const uint32_t lanes = plan->store_lanes;
    const char *value = plan->lanes > 1 ? qg_format(arena, "v[e / %uu][e %% %uu]", plan->lanes, plan->lanes) : "v[e]";
    if (kernel->type != QG_F32) value = qg_format(arena, "uint16_t(f32_to_half(%s))", value);
    qg_text text = qg_text_new(arena);
    const char *vec = glsl->types[QG_K_FLOAT][plan->lanes];
    const uint32_t in_row = plan->n_runs / plan->tile_rows;
    qg_text_printf(&text,
                   "// Stores elements [from, to) of a tile%s; its first belongs at `first`.\n"
                   "void write_%s(uint first, uint from, uint to, %s v[%u]) {\n",
                   plan->tile_rows > 1 ? "'s row" : "", plan->tile_rows > 1 ? "row" : "tile", vec, in_row);
    if (lanes > 1) {
        qg_text_printf(&text, "    if (from == 0u && to == %uu && first %% %uu == 0u) {\n", plan->tile_elements, lanes);
        qg_text_printf(&text, "        const uint at = first / %uu;\n", lanes);
        add_stores(&text, kernel, 0, "dst_whole", "        ");
        qg_text_puts(&text, "        return;\n    }\n");
    }
    qg_text_printf(&text,
                   "    for (uint e = 0u; e < %uu; ++e) {\n"
                   "        if (e >= from && e < to) dst[first + e] = %s;\n"
                   "    }\n}\n",
                   plan->tile_elements, value);
    if (plan->tile_rows == 1) return text.data;
    qg_text_printf(&text,
                   "\n// Stores the first `to` elements of `rows` rows of a tile.\n"
                   "void write_tile(uint first, uint rows, uint to, %s v[%u]) {\n",
                   vec, plan->n_runs);
    for (uint32_t r = 0; r < plan->tile_rows; ++r) {
        if (r) qg_text_printf(&text, "    if (rows > %uu) ", r);
        qg_text_printf(&text, "%swrite_row(first%s, 0u, to, %s[](", r ? "" : "    ",
                       r ? qg_format(arena, " + %uu * cols", r) : "", vec);
        for (uint32_t i = 0; i < in_row; ++i) qg_text_printf(&text, "%sv[%u]", i ? ", " : "", r * in_row + i);
        qg_text_puts(&text, "));\n");
    }
    qg_text_puts(&text, "}\n");
    return text.data;
}

static char *write_tile(qg_arena *arena, const qg_program *program) {
    const qg_kernel *kernel = program->kernel;
    const qg_plan *plan = program->plan;
    const char *vec = glsl->types[QG_K_FLOAT][plan->lanes];
    if (plan->layout->ragged) return write_cut_tile(arena, kernel);
    qg_text text = qg_text_new(arena);
    if (plan->layout->view != QG_VIEW_BLOCKS) {
        add_row_tile(&text, kernel);
        return text.data;
    }
    const qg_ir *place = program->stores;
    qg_text_puts(&text, "// Stores a tile where it belongs in block `block` of the output.\n");
    qg_text_printf(&text, "void write_tile(uint block, uint tile, %s v[%u]) {\n", vec, plan->n_runs);
    qg_text_printf(&text, "    const uint at = block * %uu", plan->layout->elements / plan->store_lanes);
    if (plan->n_digits) {
        qg_text_puts(&text, " + ");
        qg_print_expression(&text, place, glsl, place->outputs[0].node);
    }
    qg_text_puts(&text, ";\n");
    add_stores(&text, kernel, 0, "dst", "    ");
    qg_text_puts(&text, "}\n");
    return text.data;
}

/* ---- the order of the tiles ---- */

enum { LINE_BITS = 1024, LEAST_STRIP = 8, MOST_STRIP = 256, PATCH_TILES = 8 };

/* Where neighbours in memory belong to different rows: how many bands of rows a line of memory serves. 0 elsewhere. */
static uint32_t strip_bands(const qg_plan *plan) {
    const qg_layout *layout = plan->layout;
    if (layout->view != QG_VIEW_MATRIX || !qg_is_turned(layout)) return 0;
    uint32_t bands = LEAST_STRIP;
    for (uint32_t i = 0; i < layout->n_buffers; ++i) {
        const qg_buffer *buffer = &layout->buffers[i];
        if (buffer->n_axes != 2 || buffer->axes[1] != QG_AXIS_ROWS) continue;
        const uint32_t own = LINE_BITS / buffer->item_bits * layout->block_rows / (plan->tile_rows * buffer->tile_rows);
        if (own > bands) bands = own;
    }
    return bands > MOST_STRIP ? MOST_STRIP : bands;
}

void qg_no_store_holes(qg_holes *prelude) {
    static const char *const names[] = {"halves", "half_singly", "pack_2", "pack_4", "strips"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i) qg_hole(prelude, names[i], NULL);
}

void qg_store_holes(qg_arena *arena, qg_holes *holes, qg_holes *prelude, const qg_program *program) {
    const qg_kernel *kernel = program->kernel;
    const qg_plan *plan = program->plan;
    const uint32_t strip = strip_bands(plan);
    const bool ragged = plan->layout->ragged;
    const bool halves = qg_decodes_halves(kernel);
    qg_hole(prelude, "halves", halves ? "" : NULL);
    qg_hole(prelude, "half_singly", halves && (qg_stores_singly(kernel) || plan->lanes < 4) ? "" : NULL);
    qg_hole(prelude, "pack_2", halves && plan->lanes == 2 ? "" : NULL);
    qg_hole(prelude, "pack_4", halves && plan->lanes == 4 ? "" : NULL);
    qg_hole(prelude, "strips", strip ? "" : NULL);
    qg_hole(prelude, "strip_bands", qg_format(arena, "%u", strip));
    qg_hole(prelude, "patch_tiles", qg_format(arena, "%u", PATCH_TILES));
    qg_hole(prelude, "strip_patch", qg_format(arena, "%u", strip * PATCH_TILES));
    qg_hole(holes, "strips", strip ? "" : NULL);
    /* Of larger tiles a thread has enough to load. */
    qg_hole(holes, "two_at_once", plan->tile_elements * qg_scalars[kernel->type].bits <= 128 ? "" : NULL);
    qg_hole(holes, "dst_type", ragged ? single_type(kernel) : whole_type(kernel));
    qg_hole(holes, "dst_whole_type", whole_type(kernel));
    const bool bands = plan->tile_rows > 1, apart = plan->layout->view == QG_VIEW_GROUPS;
    qg_hole(holes, "band", bands ? "band" : "row");
    qg_hole(holes, "bands",
            !bands  ? "rows"
            : apart ? "grid_rows"
                    : qg_format(arena, "((rows + %uu) / %uu)", plan->tile_rows - 1, plan->tile_rows));
    qg_hole(holes, "tile_rows", qg_format(arena, "%u", plan->tile_rows));
    qg_hole(holes, "in_bands", bands ? "" : NULL);
    qg_hole(holes, "stores", qg_format(arena, "%u", stores(plan)));
    qg_hole(holes, "store_lanes", qg_format(arena, "%u", plan->store_lanes));
    qg_hole(holes, "two_widths", ragged && plan->store_lanes > 1 ? "" : NULL);
    qg_hole(holes, "write_tile", write_tile(arena, program));
}

/* ---- sums ---- */

/* A name in lower case whose words begin with capitals instead. */
static const char *in_capitals(qg_arena *arena, const char *name) {
    qg_text text = qg_text_new(arena);
    for (bool begins = true; *name; begins = *name++ == '_') {
        const char letter = begins && *name >= 'a' && *name <= 'z' ? (char)(*name - 'a' + 'A') : *name;
        if (letter != '_') qg_text_add(&text, &letter, 1);
    }
    return text.data;
}

/* Results, as floats and as halves, and what an epilogue reads; called like their bindings. */
const char *qg_glsl_result_buffers(qg_arena *arena, const qg_kernel *kernel) {
    const qg_family *family = kernel->family;
    qg_text text = qg_text_new(arena);
    for (uint32_t i = family->n_bindings - QG_N_RESULTS; i < family->n_bindings; ++i) {
        const char *name = family->bindings[i].name;
        const uint32_t binding = kernel->layout->n_buffers + i;
        if (family->bindings[i].role != QK_ROLE_OUTPUT) {
            qg_text_printf(&text, "layout(binding = %u, std430) readonly buffer %s { float %s[]; };\n", binding,
                           in_capitals(arena, name), name);
            continue;
        }
        qg_text_printf(&text,
                       "layout(binding = %u, std430) buffer Output { float %s[]; };\n"
                       "layout(binding = %u, std430) buffer OutputHalves { %s %s_halves[]; };\n",
                       binding, name, binding, qg_stores_halves(kernel) ? "uint16_t" : "uint", name);
    }
    return text.data;
}
