/* Metal Shading Language: one text for each format, with an entry point for each kernel. */
#include "text/msl.h"

#include <string.h>

const qg_target qg_target_msl = {.column = QG_MSL,
                                 .vector = "$T(",
                                 .types = {{0, "bool", "bool2", "bool3", "bool4"},
                                           {0, "uint", "uint2", "uint3", "uint4"},
                                           {0, "int", "int2", "int3", "int4"},
                                           {0, "float", "float2", "float3", "float4"}},
                                 .halves = {0, "half", "half2", "half3", "half4"},
                                 .halves_of_word = "as_type<half2>($1)",
                                 .absolute = "fabs",
                                 .unsigned_suffix = "u",
                                 .float_suffix = "f",
                                 .infinity = "INFINITY",
                                 .result = "v[$r] = ",
                                 .array = "{",
                                 .array_2 = "{",
                                 .array_end = "}",
                                 .precise = "const ",
                                 .local = "const ",
                                 .unroll = "",
                                 .stored_in_text = true,
                                 .choose = "select",
                                 .wide_load = "$b[$i]",
                                 .narrow_load = "uint($b[$i])"};

static const qg_target *const msl = &qg_target_msl;

static const char *storage_type(uint32_t unit) { return unit == 8 ? "uchar" : unit == 16 ? "ushort" : "uint"; }

static const char *const half_vectors[] = {0, "half", "half2", 0, "half4"};
static const char *const ushort_vectors[] = {0, "ushort", "ushort2", 0, "ushort4"};

static const char *vector_of(qg_scalar type, uint32_t lanes) {
    return type == QG_F32 ? msl->types[QG_K_FLOAT][lanes] : half_vectors[lanes];
}

static const char *stored_type(const qg_kernel *kernel) {
    const uint32_t lanes = kernel->metal_plan->store_lanes;
    return kernel->type == QG_F32   ? msl->types[QG_K_FLOAT][lanes]
           : kernel->type == QG_F16 ? half_vectors[lanes]
                                    : ushort_vectors[lanes];
}

static char *decode(qg_arena *arena, const qg_step *values, const char *name) {
    const qg_ir *ir = values->code;
    const qg_plan *plan = values->plan;
    qg_text text = qg_text_new(arena);
    const bool matrix = plan->layout->view != QG_VIEW_BLOCKS;
    qg_text_printf(&text, "// The %u values of a tile of a %s, in runs of %u consecutive elements.\n",
                   plan->tile_elements, matrix ? "row" : "block", plan->lanes);
    qg_text_printf(&text, "inline void %s(", name);
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
    return qg_format(arena,
                     "// Stores elements [from, to) of a tile; its first belongs at `at`.\n"
                     "template <typename T>\n"
                     "inline void write_tile(device T *dst, uint at, uint from, uint to, thread const %s *v) {\n"
                     "    for (uint e = 0; e < %u; ++e) {\n"
                     "        if (e >= from && e < to) store(dst, at + e, %s);\n"
                     "    }\n}\n",
                     msl->types[QG_K_FLOAT][plan->lanes], plan->tile_elements, qg_element_text(arena, plan, ""));
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

/* Of a program that decodes. */
static char *write_tile(qg_arena *arena, const qg_program *program) {
    const qg_plan *plan = program->plan;
    const qg_ir *place = program->stores;
    if (plan->layout->ragged) return write_cut_tile(arena, plan);
    if (plan->layout->view != QG_VIEW_BLOCKS) return write_row_tile(arena, plan);
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

char *qg_msl_buffers(qg_arena *arena, const qg_plan *plan, bool bound) {
    qg_text text = qg_text_new(arena);
    for (uint32_t i = 0; i < plan->layout->n_buffers; ++i)
        qg_text_printf(&text, "    device const %s *%s%s,\n", storage_type(plan->units[i]),
                       plan->layout->buffers[i].name, bound ? qg_format(arena, " [[buffer(%u)]]", i) : "");
    return text.data;
}

char *qg_msl_weights(qg_arena *arena, const qg_plan *plan) {
    qg_text text = qg_text_new(arena);
    for (uint32_t i = 0; i < plan->layout->n_buffers; ++i)
        qg_text_printf(&text, "%s%s", i ? ", " : "", plan->layout->buffers[i].name);
    return text.data;
}

static void kept_holes(qg_arena *arena, qg_holes *holes, const qg_step *sum, const char *name, const char *batch) {
    const qg_ir *ir = sum->code;
    const qg_plan *plan = sum->plan;
    const char *vec = ir->half ? msl->halves[plan->lanes] : msl->types[QG_K_FLOAT][plan->lanes];
    const char *steps = ir->half ? qg_format(arena, "float %s_step[TILES][%s];\n", name, batch) : "";
    qg_hole(holes, "x_kept",
            qg_format(arena, "%s %s[TILES][%s][%u];\n%sfloat %s_sum[TILES][%s][%u];", vec, name, batch, plan->n_runs,
                      steps, name, batch, ir->n_x_sums ? ir->n_x_sums : 1));
    qg_hole(holes, "x_passed",
            ir->half ? qg_format(arena, "%s, %s_step, %s_sum", name, name, name)
                     : qg_format(arena, "%s, %s_sum", name, name));
    qg_hole(holes, "halves", ir->half ? "" : NULL);
    qg_hole(holes, "space", qg_format(arena, "qk_%s%s", plan->layout->name, ir->half ? "::half_products" : ""));
    qg_hole(holes, "largest_of_most",
            plan->lanes == 4   ? "max(max(most.x, most.y), max(most.z, most.w))"
            : plan->lanes == 2 ? "max(most.x, most.y)"
                               : "most");
    qg_hole(holes, "any", plan->lanes > 1 ? "any" : "");
    qg_hole(holes, "dot_halves", qg_dot_halves(arena, plan, msl, "inline "));
}

/* Those that an encoder writes. */
static char *written_buffers(qg_arena *arena, const qg_layout *layout, uint32_t first) {
    qg_text text = qg_text_new(arena);
    for (uint32_t i = 0; i < layout->n_buffers; ++i)
        qg_text_printf(&text, "    device %s *%s [[buffer(%u)]],\n", storage_type(qg_encode_unit(&layout->buffers[i])),
                       layout->buffers[i].name, first + i);
    return text.data;
}

/* What the template of a kernel from one format to another has beside. */
static void other_format(qg_arena *arena, qg_holes *holes, const qg_program *program) {
    const qg_layout *to = program->kernel->to;
    qg_text passed = qg_text_new(arena);
    for (uint32_t i = 0; i < to->n_buffers; ++i) qg_text_printf(&passed, "%s%s", i ? ", " : "", to->buffers[i].name);
    qg_transcode_holes(arena, holes, program);
    qg_hole(holes, "to_weights", passed.data);
}

/* Of stacked matrices, where that of an expert begins in each buffer. */
void qg_msl_expert_holes(qg_arena *arena, qg_holes *holes, const qg_program *program) {
    const qg_plan *plan = program->plan;
    qg_text begin = qg_text_new(arena), passed = qg_text_new(arena);
    qg_text_puts(&begin, "");
    for (uint32_t i = 0; i < plan->layout->n_buffers; ++i) {
        const char *name = plan->layout->buffers[i].name;
        const char *units = qg_buffer_units(arena, plan->layout, i, plan->units[i], "push.grid_rows", "push.grid_cols");
        qg_text_printf(&begin, "%sdevice const %s *qk_own_%s = %s + ulong(matrix) * (%s);", i ? "\n" : "",
                       storage_type(plan->units[i]), name, name, units);
        qg_text_printf(&passed, "%sqk_own_%s", i ? ", " : "", name);
    }
    const bool stacked = program->kernel->layout->each != NULL;
    qg_hole(holes, "stacked", stacked ? "" : NULL);
    qg_hole(holes, "expert_begin", begin.data);
    qg_hole(holes, "expert_weights", stacked ? passed.data : qg_msl_weights(arena, plan));
    qg_hole(holes, "shape", qg_shape_arguments(arena, program->main->code, "push.$$, "));
}

/* Of kernels of tiles: where their functions are. */
static void tile_holes(qg_arena *arena, qg_holes *holes, const qg_kernel *kernel) {
    const char *space = qg_format(arena, "qk_%s", kernel->layout->name);
    qg_hole(holes, "space", space);
    qg_hole(holes, "tiles", qg_format(arena, "%s::%s", space, kernel->family->experts ? "expert_tiles" : "tiles"));
}

/* The pattern for each table of which two values are looked up at once, its name in the place of $t;
 * NULL: there is none. */
static const char *of_two(qg_arena *arena, const qg_step *wide, const char *pattern) {
    qg_text text = qg_text_new(arena);
    for (uint32_t i = 0; wide && i < wide->code->layout->n_tables; ++i)
        if (qg_loads(wide->code, QG_TWO, i)) qg_print_filled(&text, pattern, 't', wide->code->layout->tables[i].name);
    return text.data;
}

/* Those tables, which a threadgroup makes. */
static void two_holes(qg_arena *arena, qg_holes *holes, const qg_step *wide) {
    const char *passed = of_two(arena, wide, "$t_of_two, "), *name = wide ? wide->plan->layout->name : "";
    qg_hole(holes, "tables_of_two", of_two(arena, wide, "    threadgroup float2 $t_of_two[256];\n"));
    qg_hole(holes, "make_two",
            of_two(arena, wide,
                   qg_format(arena, "$t_of_two[codes] = float2(qk_%s::$t[codes & 15], qk_%s::$t[codes >> 4]);\n", name,
                             name)));
    qg_hole(holes, "two_parameters", of_two(arena, wide, "    threadgroup const float2 *$t_of_two,\n"));
    qg_hole(holes, "two_passed", passed ? passed : "");
}

/* Of a program that decodes: the shape, and what texts for GLSL, too, have in words of their own. */
static void values_holes(qg_arena *arena, qg_holes *holes, const qg_program *program) {
    const char *shape = qg_shape_arguments(arena, program->values->code, "push.$$, "),
               *of = program->plan->layout->name;
    qg_hole(holes, "shape", shape);
    qg_hole(holes, "thread", "thread_index");
    qg_hole(holes, "push", "push.");
    qg_hole(holes, "to_decode",
            qg_format(arena, "qk_%s::decode(%s, %s", of, qg_msl_weights(arena, program->plan), shape));
    qg_hole(holes, "to_write", qg_format(arena, "qk_%s::write_tile(dst, ", of));
}

static char *kernel_text(qg_arena *arena, const qg_templates *templates, const qg_program *program, const char **why) {
    const qg_kernel *kernel = program->kernel;
    const qg_plan *plan = program->plan;
    const uint32_t n_weights = plan->layout->n_buffers;
    qg_holes holes = {.count = 0};
    qg_plan_holes(arena, &holes, plan, msl);
    qg_hole(&holes, "name", kernel->name);
    qg_hole(&holes, "buffers", qg_msl_buffers(arena, plan, true));
    qg_hole(&holes, "written_buffers",
            kernel->to                ? written_buffers(arena, kernel->to, n_weights)
            : kernel->family->encodes ? written_buffers(arena, kernel->layout, 0)
                                      : NULL);
    if (kernel->to) other_format(arena, &holes, program);
    if (kernel->family->encodes) qg_row_holes(arena, &holes, kernel->layout, QG_MSL);
    qg_plane_holes(arena, &holes, kernel->layout, QG_MSL);
    qg_hole(&holes, "block_elements", qg_format(arena, "%u", kernel->layout->elements));
    qg_hole(&holes, "bound_buffers", qg_msl_buffers(arena, plan, true));
    if (program->sum) kept_holes(arena, &holes, program->sum, "kept", "1");
    if (kernel->family->in_tiles) tile_holes(arena, &holes, kernel);
    if (program->wide && !qg_is_mma(kernel)) {
        const qg_plan *large = program->wide->plan;
        qg_hole(&holes, "large", qg_format(arena, "%u", large->layout->elements / plan->tile_elements));
    } else {
        qg_hole(&holes, "large", NULL);
    }
    two_holes(arena, &holes, program->wide);
    qg_hole(&holes, "x_type", vector_of(kernel->type, plan->lanes));
    qg_hole(&holes, "weights", qg_msl_weights(arena, plan));
    if (program->values) values_holes(arena, &holes, program);
    if (kernel->family->experts) qg_msl_expert_holes(arena, &holes, program);
    qg_binding_holes(arena, &holes, kernel);
    qg_hole(&holes, "binding_push", qg_format(arena, "%u", qg_bindings_of(kernel)));
    qg_hole(&holes, "dst_type", stored_type(kernel));
    qg_hole(&holes, "src_type", kernel->type == QG_BF16 ? "ushort" : vector_of(kernel->type, 1));
    qg_hole(&holes, "simdgroups", qg_format(arena, "%u", QG_MMA_SIMDGROUPS));
    qg_hole(&holes, "threads", qg_format(arena, "%u", 32 * QG_MMA_SIMDGROUPS));
    const bool own = !qg_is_mma(kernel) || kernel->family->in_tiles;
    char *body = own ? qg_kernel_text(arena, templates, kernel, "metal", &holes, why)
                     : qg_expand(arena, templates, "gemv_mma.metal", holes.items, holes.count, why);
    return body ? qg_format(arena, "// %s: %s, %s %s.\n%s", kernel->name, kernel->family->summary,
                            kernel->family->sums      ? "x in"
                            : kernel->family->encodes ? "src in"
                                                      : "in",
                            qg_scalars[kernel->type].name, body)
                : NULL;
}

/* ---- sums ---- */

/* What a thread keeps of x, as parameters, as variables, and as what is passed; `name` is what x is called. */
static char *kept_parameters(qg_arena *arena, const qg_step *sum, const char *qualifier) {
    const qg_ir *ir = sum->code;
    const qg_plan *plan = sum->plan;
    const char *vec = ir->half ? msl->halves[plan->lanes] : msl->types[QG_K_FLOAT][plan->lanes];
    return qg_format(arena, "thread %s%s (&x)[TILES][BATCH][%u], %s%s%sthread %sfloat (&x_sum)[TILES][BATCH][%u]",
                     qualifier, vec, plan->n_runs, ir->half ? "thread " : "", ir->half ? qualifier : "",
                     ir->half ? "float (&x_step)[TILES][BATCH],\n    " : "", qualifier,
                     ir->n_x_sums ? ir->n_x_sums : 1);
}

static char *load_x(qg_arena *arena, const qg_step *sum, const char *name) {
    const qg_plan *plan = sum->plan;
    const char *vec = msl->types[QG_K_FLOAT][plan->lanes];
    qg_text text = qg_text_new(arena);
    qg_text_printf(&text,
                   "// Loads what tile `j` of a row meets of x, from right-hand side `vector` on.\n"
                   "template <uint TILES, uint BATCH, typename X>\n"
                   "inline void %s(device const X *x_in, uint batch, uint row_runs, uint vector, uint j, uint k,\n"
                   "    %s)\n{\n",
                   name, kept_parameters(arena, sum, ""));
    qg_load_x_body(&text, sum, NULL, msl, "row_runs", "batch", qg_format(arena, "%s(x_in[$i])", vec), NULL);
    qg_text_puts(&text, "}\n");
    return text.data;
}

static char *accumulate(qg_arena *arena, const qg_step *sum) {
    qg_text text = qg_text_new(arena);
    qg_text_puts(&text, qg_codes_of_words(arena, sum->code, msl, "inline "));
    qg_text_printf(&text,
                   "// Adds the products of tile `j` of row `n` with what is kept of x, for each right-hand side.\n"
                   "template <uint TILES, uint BATCH>\n"
                   "inline void accumulate(\n%s    %suint row_tiles, uint n, uint j, uint k,\n"
                   "    %s,\n"
                   "    thread float (&sum)[BATCH])\n{\n    #pragma clang fp contract(fast)\n",
                   qg_msl_buffers(arena, sum->plan, false), qg_shape_arguments(arena, sum->code, "uint $$, "),
                   kept_parameters(arena, sum, "const "));
    qg_accumulate_body(&text, sum, msl, "row_tiles", false);
    qg_text_puts(&text, "}\n");
    return text.data;
}

/* Other names of buffers whose words are wider than the kernel's own. */
void qg_msl_add_words(qg_text *text, const qg_step *wide) {
    const qg_layout *layout = wide->plan->layout;
    for (uint32_t i = 0; i < layout->n_buffers; ++i) {
        const char *name = layout->buffers[i].name;
        for (uint32_t unit = 16; unit <= 32; unit += 16) {
            const char *alias = qg_alias(wide->code, i, unit), *type = unit == 16 ? "ushort" : "uint";
            if (*alias && qg_loads_units(wide->code, i, unit))
                qg_text_printf(text, "    device const %s *%s%s = (device const %s *)%s;\n", type, name, alias, type,
                               name);
        }
        if (qg_loads(wide->code, QG_LOAD_FOUR, i))
            qg_text_printf(text, "    device const uint4 *%s_four = (device const uint4 *)%s;\n", name, name);
        if (qg_loads(wide->code, QG_LOAD_U8, i))
            qg_text_printf(text, "    device const uchar4 *%s_uchar4 = (device const uchar4 *)%s;\n", name, name);
        if (qg_loads(wide->code, QG_LOAD_I8, i))
            qg_text_printf(text, "    device const char4 *%s_char4 = (device const char4 *)%s;\n", name, name);
    }
}

static char *accumulate_large(qg_arena *arena, const qg_plan *plan, const qg_step *wide) {
    const char *two = of_two(arena, wide, "    threadgroup const float2 *$t_of_two,\n");
    qg_text text = qg_text_new(arena);
    qg_text_printf(
        &text,
        "// Adds the products of larger tile `j` of row `n` with what is kept of x, for each right-hand side.\n"
        "template <uint TILES, uint BATCH>\n"
        "inline void accumulate_large(\n%s%s    uint row_tiles, uint n, uint j, uint k,\n"
        "    %s,\n"
        "    thread float (&sum)[BATCH])\n{\n    #pragma clang fp contract(fast)\n",
        qg_msl_buffers(arena, plan, false), two ? two : "", kept_parameters(arena, wide, "const "));
    qg_msl_add_words(&text, wide);
    qg_accumulate_large_body(&text, wide, msl, "row_tiles");
    qg_text_puts(&text, "}\n");
    return text.data;
}

static char *sum_cut(qg_arena *arena, const qg_step *values) {
    const qg_ir *ir = values->code;
    const qg_plan *plan = values->plan;
    const char *arguments =
        qg_format(arena, "%s, %s", qg_msl_weights(arena, plan), qg_shape_arguments(arena, ir, "$$, "));
    const qg_cut_names names = {
        .decode = "decode_tile", .arguments = arguments, .batch = "batch", .load = "float(x_at[$i])"};
    qg_text text = qg_text_new(arena);
    qg_text_puts(&text, "// x again, element by element.\n");
    for (int half = 0; half < 2; ++half)
        qg_text_printf(
            &text, "inline device const %s *elements_of(device const %s *x) {\n    return (device const %s *)x;\n}\n\n",
            half ? "half" : "float", vector_of(half ? QG_F16 : QG_F32, plan->lanes), half ? "half" : "float");
    qg_text_printf(&text, "%s\n", decode(arena, values, names.decode));
    qg_text_printf(&text,
                   "// The products of what tile `j` of row `n` has in that row, for each right-hand side.\n"
                   "template <uint BATCH, typename T>\n"
                   "inline void sum_cut(\n%s    %sdevice const T *x_at, uint batch, uint row_cols, uint x_stride, uint "
                   "n, uint j,\n"
                   "    thread float (&part)[BATCH])\n{\n",
                   qg_msl_buffers(arena, plan, false), qg_shape_arguments(arena, ir, "uint $$, "));
    qg_sum_cut_body(&text, plan, msl, &names);
    qg_text_puts(&text, "}\n");
    return text.data;
}

static void row_holes(qg_arena *arena, qg_holes *holes, const qg_step *sum) {
    qg_plan_holes(arena, holes, sum->plan, msl);
    qg_hole(holes, "buffers", qg_msl_buffers(arena, sum->plan, false));
    qg_hole(holes, "weights", qg_msl_weights(arena, sum->plan));
    qg_hole(holes, "shape", qg_shape_arguments(arena, sum->code, "shape.$$, "));
    kept_holes(arena, holes, sum, "x", "BATCH");
}

/* What a row is made of: its shape, and the products of a tile of it. */
static char *tiles_of(qg_arena *arena, const qg_templates *templates, const qg_program *program, const char **why) {
    qg_holes holes = {.count = 0};
    row_holes(arena, &holes, program->sum);
    qg_hole(&holes, "sum_cut", program->values ? sum_cut(arena, program->values) : NULL);
    qg_hole(&holes, "load_x", load_x(arena, program->sum, "load_x"));
    qg_hole(&holes, "accumulate", accumulate(arena, program->sum));
    return qg_expand(arena, templates, "gemv_tiles.metal", holes.items, holes.count, why);
}

/* Floats of small tables of integers. */
static char *tables_as_floats(qg_arena *arena, const qg_ir *ir) {
    qg_text text = qg_text_new(arena);
    qg_text_puts(&text, "");
    for (uint32_t i = 0; i < ir->layout->n_tables; ++i) {
        const qg_table *table = &ir->layout->tables[i];
        if (!qg_looks_up_floats(ir, i)) continue;
        qg_text_printf(&text, "constant float %s_as_float[%u] = {", table->name, table->rows);
        for (uint32_t r = 0; r < table->rows; ++r) {
            qg_text_puts(&text, r ? ", " : "");
            qg_print_float(&text, msl, (float)table->values[r]);
        }
        qg_text_puts(&text, "};\n");
    }
    return text.data;
}

/* The same of larger tiles, for rows that are whole ones: those of joined blocks are not always. */
static char *large_rows(qg_arena *arena, const qg_templates *templates, const qg_program *program, const char **why) {
    const qg_step *wide = program->wide;
    qg_holes holes = {.count = 0};
    row_holes(arena, &holes, wide);
    qg_hole(&holes, "kernel_buffers", qg_msl_buffers(arena, program->plan, false));
    two_holes(arena, &holes, wide);
    qg_hole(&holes, "tables_as_floats", tables_as_floats(arena, wide->code));
    qg_hole(&holes, "size", qg_format(arena, "%u", wide->size));
    qg_hole(&holes, "load_large_x", load_x(arena, wide, "load_large_x"));
    qg_hole(&holes, "accumulate_large", accumulate_large(arena, program->plan, wide));
    return qg_expand(arena, templates, "gemv_wide.metal", holes.items, holes.count, why);
}

static char *rows_of(qg_arena *arena, const qg_templates *templates, const qg_program *program, const char **why) {
    qg_holes holes = {.count = 0};
    row_holes(arena, &holes, program->sum);
    const qg_step *values = program->values;
    qg_hole(&holes, "cut_shape", values ? qg_shape_arguments(arena, values->code, "shape.$$, ") : NULL);
    const char *tiles = tiles_of(arena, templates, program, why);
    char *text = qg_expand(arena, templates, "gemv_rows.metal", holes.items, holes.count, why);
    if (!text || !tiles) return NULL;
    text = qg_format(arena, "%s\n%s", tiles, text);
    if (program->wide) {
        const char *large = large_rows(arena, templates, program, why);
        return large ? qg_format(arena, "%s\n%s", text, large) : NULL;
    }
    if (!program->sum->code->half) return text;
    return qg_format(arena, "namespace half_products {\n\n%s\n}  // namespace half_products\n", text);
}

/* ---- all of a format ---- */

/* The programs of a request's kernels for Metal. */
typedef struct programs {
    uint32_t count;
    const qg_program **items;
} programs;

static programs programs_of(qg_arena *arena, const qg_request *request) {
    const qg_kernel *kernels;
    const uint32_t count = qg_kernels(arena, request, &kernels);
    programs all = {0, QG_NEW_ARRAY(arena, const qg_program *, count + 1)};
    for (uint32_t i = 0; i < count; ++i)
        if (qg_on_metal(&kernels[i]))
            all.items[all.count++] = qg_program_of(arena, &kernels[i], QK_API_METAL, QK_SCHEDULE_NONE);
    return all;
}

/* The first of each kind of products, whose rows the others share. */
static programs distinct_sums(qg_arena *arena, const programs *all) {
    programs distinct = {0, QG_NEW_ARRAY(arena, const qg_program *, all->count + 1)};
    uint32_t done[3] = {0};
    for (uint32_t i = 0; i < all->count; ++i) {
        const qg_sum_class *sum = all->items[i]->kernel->sum;
        const qg_family *family = all->items[i]->kernel->family;
        uint32_t *kinds = &done[!family->in_tiles ? 0 : family->experts ? 2 : 1];
        if (!sum || *kinds >> sum->products & 1) continue;
        *kinds |= UINT32_C(1) << sum->products;
        distinct.items[distinct.count++] = all->items[i];
    }
    return distinct;
}

/* Kernels of tiles have functions of their own, behind all others, and where results go from them. */
static bool add_tiles(qg_text *text, const qg_templates *templates, const programs *sums, bool has_head,
                      const char **why) {
    qg_arena *arena = text->arena;
    for (uint32_t i = 0; i < sums->count; ++i) {
        const qg_program *program = sums->items[i];
        if (!program->kernel->family->in_tiles) continue;
        qg_holes holes = {.count = 0};
        qg_plan_holes(arena, &holes, program->plan, msl);
        const char *head =
            has_head ? "" : qg_expand(arena, templates, "sums_head.metal", holes.items, holes.count, why);
        const char *functions = head ? qg_msl_tiles(arena, templates, program, why) : NULL;
        if (!functions) return false;
        qg_text_printf(text, "%s%s%s%s", text->length ? "\n" : "", head, *head ? "\n" : "", functions);
        has_head = true;
    }
    return true;
}

/* What all kernels of a format that sum over rows share, once for each kind of products; "" when there are none, NULL
 * on a broken template. Matrix units take the tiles of floats, too. */
static char *sum_rows(qg_arena *arena, const qg_templates *templates, const programs *sums, const char **why) {
    qg_text text = qg_text_new(arena);
    qg_text_puts(&text, "");
    bool has_tiles = false, has_head = false;
    for (uint32_t i = 0; i < sums->count; ++i) {
        const qg_program *program = sums->items[i];
        const bool mma = qg_is_mma(program->kernel);
        if (program->kernel->family->in_tiles) continue;
        const char *tiles = mma && !has_tiles ? tiles_of(arena, templates, program, why) : "";
        const char *rows =
            mma ? qg_msl_mma_rows(arena, templates, program, why) : rows_of(arena, templates, program, why);
        if (!rows || !tiles) return NULL;
        has_tiles |= program->kernel->sum->products == QG_PRODUCTS_F32;
        has_head |= mma || program->kernel->sum->products == QG_PRODUCTS_F32;
        qg_text_printf(&text, "%s%s%s%s", text.length ? "\n" : "", tiles, *tiles ? "\n" : "", rows);
    }
    return add_tiles(&text, templates, sums, has_head, why) ? text.data : NULL;
}

/* A program that decodes, or NULL. */
static const qg_program *decoder_of(const programs *all) {
    for (uint32_t i = 0; i < all->count; ++i)
        if (!all->items[i]->kernel->family->sums && !all->items[i]->kernel->family->encodes) return all->items[i];
    return NULL;
}

/* The format, where one of the programs makes blocks of it; or NULL. */
static const qg_layout *encoded_of(const programs *all) {
    for (uint32_t i = 0; i < all->count; ++i)
        if (all->items[i]->kernel->family->encodes) return all->items[i]->kernel->layout;
    return NULL;
}

static bool any_transcodes(const programs *all) {
    for (uint32_t i = 0; i < all->count; ++i)
        if (all->items[i]->kernel->to) return true;
    return false;
}

/* The encoders of other formats, each in a namespace of its own, and what keeps values for them. */
static char *other_encoders(qg_arena *arena, const programs *all) {
    qg_text text = qg_text_new(arena);
    qg_text_puts(&text, "");
    for (uint32_t i = 0; i < all->count; ++i) {
        const qg_layout *to = all->items[i]->kernel->to;
        if (!to) continue;
        if (!text.length) qg_text_printf(&text, "%s\n", qg_keep_tile(arena, all->items[i]->values, msl));
        qg_text_printf(&text, "namespace to_%s {\n\n%s\n}  // namespace to_%s\n\n", to->name,
                       qg_encoder_of_thread(arena, to, QG_MSL, "qk_encode_kept", false), to->name);
    }
    return text.data;
}

/* The prelude's functions that the code of these programs calls. */
static qg_holes prelude_of(const qg_program *first, const programs *sums, bool encodes) {
    static const char *const needed[] = {"f16_to_f32", "bf16_to_f32"};
    qg_holes prelude = {.count = 0};
    qg_prelude_holes(&prelude, first->steps[0].code);
    for (size_t i = 0; i < sizeof needed / sizeof *needed && encodes; ++i) qg_hole_set(&prelude, needed[i]);
    for (uint32_t i = 0; i < sums->count; ++i)
        for (uint32_t k = 0; k < sums->items[i]->n_steps; ++k) qg_prelude_add(&prelude, sums->items[i]->steps[k].code);
    return prelude;
}

static const char *bf16_of_v(uint32_t lanes) {
    return lanes == 4   ? "ushort4(f32_to_bf16(v.x), f32_to_bf16(v.y), f32_to_bf16(v.z), f32_to_bf16(v.w))"
           : lanes == 2 ? "ushort2(f32_to_bf16(v.x), f32_to_bf16(v.y))"
                        : "f32_to_bf16(v)";
}

char *qg_msl(qg_arena *arena, const qg_templates *templates, const qg_request *request, const char **why) {
    const programs all = programs_of(arena, request), sums = distinct_sums(arena, &all);
    const qg_program *decoder = decoder_of(&all);
    const qg_plan *plan = all.items[0]->plan;
    for (uint32_t i = 0; i < all.count; ++i)
        if ((*why = qg_verify(arena, all.items[i], NULL)) != NULL) return NULL;
    const char *rows = sum_rows(arena, templates, &sums, why);
    if (!rows) return NULL;
    const qg_layout *encoded = encoded_of(&all);
    const bool encodes = encoded || any_transcodes(&all);
    qg_holes prelude = prelude_of(decoder ? decoder : all.items[0], &sums, encodes), holes = {.count = 0};
    const char *functions = encodes ? qg_expand(arena, templates, "encode_functions.metal", NULL, 0, why) : "";
    if (!functions) return NULL;
    const char *encoders = encodes ? qg_format(arena, "%s\n%s", encoded ? qg_encoder(arena, encoded, QG_MSL) : "",
                                               other_encoders(arena, &all))
                                   : "";
    qg_hole(&prelude, "vec", msl->types[QG_K_FLOAT][plan->store_lanes]);
    qg_hole(&prelude, "half_vec", half_vectors[plan->store_lanes]);
    qg_hole(&prelude, "ushort_vec", ushort_vectors[plan->store_lanes]);
    qg_hole(&prelude, "bf16_of_v", bf16_of_v(plan->store_lanes));
    char *prelude_text = qg_expand(arena, templates, "prelude.metal", prelude.items, prelude.count, why);
    if (!prelude_text) return NULL;

    qg_text text = qg_text_new(arena);
    for (uint32_t i = 0; i < all.count; ++i) {
        const char *kernel = kernel_text(arena, templates, all.items[i], why);
        if (!kernel) return NULL;
        qg_text_printf(&text, "%s%s", i ? "\n" : "", kernel);
    }
    const char *sentence = qg_format(arena, "%s: Metal kernels of the format.", request->layout->name);
    qg_request own = *request; /* whose counts are those of Metal */
    own.vulkan = false;
    qg_hole(&holes, "banner", qg_banner(arena, &own, NULL, sentence, "// ", "// ", ""));
    qg_hole(&holes, "format", request->layout->name);
    qg_hole(&holes, "tables", qg_tables(arena, plan, msl, "constant"));
    qg_hole(&holes, "prelude", prelude_text);
    qg_hole(&holes, "decode", decoder ? decode(arena, decoder->values, "decode") : "");
    qg_hole(&holes, "write_tile", decoder ? write_tile(arena, decoder) : "");
    qg_hole(&holes, "rows", rows);
    qg_hole(&holes, "encoder",
            encodes ? qg_format(arena, "%s\n\n%s", qg_called_functions(arena, functions, encoders), encoders) : "");
    qg_hole(&holes, "kernels", text.data);
    return qg_wrap(arena, qg_expand(arena, templates, "format.metal", holes.items, holes.count, why));
}
