/* OpenCL C 1.2: one text for each format, with an entry point for each kernel that decodes a whole tensor. */
#include "text/text.h"

static const qg_target *const opencl = &qg_target_opencl;

static const char *storage_type(uint32_t unit) { return unit == 8 ? "uchar" : unit == 16 ? "ushort" : "uint"; }

/* What `dst` is an array of. Halves are stored by vstore_half, which counts in runs and asks for no extension. */
static const char *stored_type(const qg_plan *plan, qg_scalar type) {
    static const char *const ushorts[] = {0, "ushort", "ushort2", 0, "ushort4"};
    return type == QG_F32   ? opencl->types[QG_K_FLOAT][plan->store_lanes]
           : type == QG_F16 ? "half"
                            : ushorts[plan->store_lanes];
}

/* The buffers of the weights as parameters, or, without their type $T, as what is passed. */
static char *buffers(qg_arena *arena, const qg_plan *plan, const char *open, const char *close) {
    qg_text text = qg_text_new(arena);
    for (uint32_t i = 0; i < plan->layout->n_buffers; ++i) {
        qg_print_filled(&text, open, 'T', storage_type(plan->units[i]));
        qg_text_printf(&text, "%s%s", plan->layout->buffers[i].name, close);
    }
    return text.data;
}

static char *decode(qg_arena *arena, const qg_step *values) {
    const qg_ir *ir = values->code;
    const qg_plan *plan = values->plan;
    const bool matrix = plan->layout->view != QG_VIEW_BLOCKS;
    qg_text text = qg_text_new(arena);
    qg_text_printf(&text, "// The %u values of a tile of a %s, in runs of %u consecutive elements.\n",
                   plan->tile_elements, matrix ? "row" : "block", plan->lanes);
    qg_text_printf(&text, "static void decode(\n%s    %suint %s, uint tile, %s *v)\n{\n",
                   buffers(arena, plan, "    __global const $T *", ",\n"),
                   matrix ? qg_shape_arguments(arena, ir, "uint $$, ") : "", matrix ? "row" : "block",
                   opencl->types[QG_K_FLOAT][plan->lanes]);
    if (matrix) qg_text_puts(&text, qg_grid_lines(arena, ir, plan, opencl));
    qg_decode_body(&text, ir, opencl);
    qg_text_puts(&text, "}\n");
    return text.data;
}

/* ---- what writes a tile, for each type of results ---- */

static void add_head(qg_text *text, const qg_plan *plan, qg_scalar type, const char *where) {
    qg_text_printf(text, "static void write_tile_%s(const %s *v, %s, __global %s *dst) {\n", qg_scalars[type].name,
                   opencl->types[QG_K_FLOAT][plan->lanes], where, stored_type(plan, type));
}

static void add_store(qg_text *text, qg_scalar type, const char *value, uint32_t at) {
    qg_text_printf(text, "store_%s(%s, at", qg_scalars[type].name, value);
    if (at) qg_text_printf(text, " + %uu", at);
    qg_text_puts(text, ", dst);\n");
}

/* A tile that the end of its row may cut off. The elements of a vector have names, and no numbers. */
static void add_cut_tile(qg_text *text, const qg_plan *plan, qg_scalar type) {
    qg_text_puts(text, "// Stores the first `count` elements of a tile from `at` on.\n");
    add_head(text, plan, type, "uint at, uint count");
    for (uint32_t e = 0; e < plan->tile_elements; ++e) {
        const char *run = qg_format(text->arena, "v[%u]", e / plan->lanes);
        qg_text_printf(text, "    if (%uu < count) ", e);
        add_store(text, type, plan->lanes > 1 ? qg_format(text->arena, "%s.%c", run, "xyzw"[e % plan->lanes]) : run, e);
    }
}

/* Of a matrix, runs of a tile are neighbours; else they are where the layout has them in the block. */
static void add_whole_tile(qg_text *text, const qg_program *program, qg_scalar type) {
    const qg_plan *plan = program->plan;
    const bool matrix = plan->layout->view != QG_VIEW_BLOCKS;
    qg_text_puts(text, matrix ? "// Stores a tile's runs from `at` on, counted in runs.\n"
                              : "// Stores a tile's runs where they belong in block `block` of the output.\n");
    add_head(text, plan, type, matrix ? "uint at" : "uint block, uint tile");
    if (!matrix) {
        qg_text_printf(text, "    const uint at = block * %uu", plan->layout->elements / plan->lanes);
        if (plan->n_digits) qg_text_puts(text, " + ");
        if (plan->n_digits) qg_print_expression(text, program->stores, opencl, program->stores->outputs[0].node);
        qg_text_puts(text, ";\n");
    }
    for (uint32_t r = 0; r < plan->n_runs; ++r) {
        qg_text_puts(text, "    ");
        add_store(text, type, qg_format(text->arena, "v[%u]", r), matrix ? r : plan->runs[r] / plan->lanes);
    }
}

static char *write_tile(qg_arena *arena, const qg_program *program, qg_scalar type) {
    qg_text text = qg_text_new(arena);
    if (program->plan->layout->ragged)
        add_cut_tile(&text, program->plan, type);
    else
        add_whole_tile(&text, program, type);
    qg_text_puts(&text, "}\n");
    return text.data;
}

/* ---- all of a format ---- */

static char *kernel_text(qg_arena *arena, const qg_templates *templates, const qg_program *program, const char **why) {
    const qg_kernel *kernel = program->kernel;
    const qg_plan *plan = program->plan;
    qg_holes holes = {.count = 0};
    qg_plan_holes(arena, &holes, plan, opencl);
    qg_hole(&holes, "name", kernel->name);
    qg_hole(&holes, "summary", kernel->family->summary);
    qg_hole(&holes, "type", qg_scalars[kernel->type].name);
    qg_hole(&holes, "buffers", buffers(arena, plan, "    __global const $T *restrict ", ",\n"));
    qg_hole(&holes, "weights", buffers(arena, plan, "", ", "));
    qg_hole(&holes, "shape", qg_shape_arguments(arena, program->values->code, "$$, "));
    qg_hole(&holes, "dst_type", stored_type(plan, kernel->type));
    qg_hole(&holes, "write_tile", write_tile(arena, program, kernel->type));
    return qg_expand(arena, templates, "dequant.cl", holes.items, holes.count, why);
}

static char *format_text(qg_arena *arena, const qg_templates *templates, const qg_request *request,
                         const qg_program *program, const char *kernels, const char **why) {
    static const char *const stores[] = {0, "vstore_half_rte", "vstorea_half2_rte", 0, "vstorea_half4_rte"};
    static const char *const bf16[] = {
        0, "f32_to_bf16(v)", "(ushort2)(f32_to_bf16(v.x), f32_to_bf16(v.y))", 0,
        "(ushort4)(f32_to_bf16(v.x), f32_to_bf16(v.y), f32_to_bf16(v.z), f32_to_bf16(v.w))"};
    const qg_plan *plan = program->plan;
    const char *sentence = qg_format(arena, "%s: OpenCL kernels of the format.", request->layout->name);
    qg_holes holes = {.count = 0};
    qg_prelude_holes(&holes, program->values->code);
    qg_hole(&holes, "banner", qg_banner(arena, request, NULL, sentence, "// ", "// ", ""));
    qg_hole(&holes, "tables", qg_tables(arena, plan, opencl, "__constant"));
    qg_hole(&holes, "decode", decode(arena, program->values));
    qg_hole(&holes, "vec", opencl->types[QG_K_FLOAT][plan->store_lanes]);
    qg_hole(&holes, "ushort_vec", stored_type(plan, QG_BF16));
    qg_hole(&holes, "store_half", stores[plan->store_lanes]);
    qg_hole(&holes, "bf16_of_v", bf16[plan->store_lanes]);
    qg_hole(&holes, "kernels", kernels);
    return qg_wrap(arena, qg_expand(arena, templates, "format.cl", holes.items, holes.count, why));
}

/* What of a request there are kernels for. */
static qg_request decoders_of(qg_arena *arena, const qg_request *request) {
    const qg_family **families = QG_NEW_ARRAY(arena, const qg_family *, 1);
    qg_request own = *request;
    own.vulkan = own.metal = false;
    own.command = qg_format(arena, "%s --api %s", request->command, opencl->api);
    own.families = families;
    own.n_families = 0;
    own.list = QG_NEW(arena, qg_kernel_list);
    for (uint32_t i = 0; i < request->n_families; ++i)
        if (request->families[i]->id == QG_FAMILY_DEQUANT) families[own.n_families++] = request->families[i];
    return own;
}

static char *print_opencl(qg_arena *arena, const qg_templates *templates, const qg_request *request, const char **why) {
    const qg_request own = decoders_of(arena, request);
    const qg_kernel *kernels;
    const uint32_t count = qg_kernels(arena, &own, &kernels);
    const qg_program *program = NULL;
    qg_text text = qg_text_new(arena);
    if (!count)
        *why = "OpenCL has kernels of the family dequant alone: add --family dequant, or leave out --api opencl";
    for (uint32_t i = 0; i < count; ++i) {
        program = qg_program_of(arena, &kernels[i], QK_API_METAL,
                                QK_SCHEDULE_NONE); /* whose tiles all types of results share */
        if ((*why = qg_verify(arena, program, NULL)) != NULL) return NULL;
        const char *kernel = kernel_text(arena, templates, program, why);
        if (!kernel) return NULL;
        qg_text_printf(&text, "%s%s", i ? "\n" : "", kernel);
    }
    return count ? format_text(arena, templates, &own, program, text.data, why) : NULL;
}

const qg_target qg_target_opencl = {.api = "opencl",
                                    .ending = "cl",
                                    .print = print_opencl,
                                    .column = QG_MSL,
                                    .own = {[QG_LOAD_WIDE] = "load_u32_of_u$n($b, $1)",
                                            [QG_TO_FLOAT] = "convert_$T($1)",
                                            [QG_TO_INT] = "convert_$T($1)",
                                            [QG_TO_UINT] = "convert_$T($1)",
                                            [QG_SPLAT] = "($T)($1)",
                                            [QG_SEXT] = "sign_extend_$T($1, $n)",
                                            [QG_F32_BITS] = "as_$T($1)",
                                            [QG_ROUND_F16] = "round_f16_$T($1)",
                                            [QG_ROUND_BF16] = "round_bf16_$T($1)"},
                                    .vector = "($T)(",
                                    .types = {{0, "bool", "int2", "int3", "int4"},
                                              {0, "uint", "uint2", "uint3", "uint4"},
                                              {0, "int", "int2", "int3", "int4"},
                                              {0, "float", "float2", "float3", "float4"}},
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
                                    .narrow_load = "(uint)$b[$i]"};
