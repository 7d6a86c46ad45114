/* C: the reference decoder, the descriptors and the dispatch stubs of a format. */
#include "text/text.h"

#include <string.h>

const qg_target qg_target_c = {.column = QG_C,
                               .vector = "$T(",
                               .types = {{0, "bool"}, {0, "uint32_t"}, {0, "int32_t"}, {0, "float"}},
                               .unsigned_suffix = "u",
                               .float_suffix = "f",
                               .infinity = "INFINITY",
                               .casts = true,
                               .result = "return ",
                               .array = "{",
                               .array_2 = "{",
                               .array_end = "}",
                               .precise = "const ",
                               .local = "const ",
                               .unroll = "",
                               .wide_load = "$b[$i]",
                               .narrow_load = "(uint32_t)$b[$i]"};

static const qg_target *const c = &qg_target_c;

static const char *element_type(qg_scalar type) { return type == QG_F32 ? "float" : "uint16_t"; }

static const char *stored_value(qg_scalar type) {
    return type == QG_F32 ? "value_at" : type == QG_F16 ? "f16_at" : "bf16_at";
}

/* ---- reference ---- */

/* The number of blocks along an axis. */
static const char *grid(qg_arena *arena, const qg_layout *layout, bool along_rows) {
    const uint32_t block = along_rows ? layout->block_rows : layout->block_cols;
    const char *elements = along_rows ? "rows" : "cols";
    return block == 1 ? elements : qg_format(arena, "(%s + %uu) / %uu", elements, block - 1, block);
}

static bool uses_rows(const qg_ir *ir) { return qg_uses_argument(ir, "block_row") || qg_uses_argument(ir, "r"); }

/* The tensor as the matrix that the blocks are patches of: its shape, and the place of the element. */
static void add_matrix(qg_text *text, const qg_ir *ir, const qg_plan *plan) {
    qg_arena *arena = text->arena;
    const qg_layout *layout = plan->layout;
    if (layout->view == QG_VIEW_SEQUENCE) {
        qg_text_puts(text, "    col += row * cols;\n    cols *= rows;\n    rows = 1;\n    row = 0;\n");
    } else if (layout->view == QG_VIEW_GROUPS) {
        const uint32_t group = layout->block_cols;
        qg_text_printf(text, "    const uint64_t index = row * cols + col;\n    rows = rows * cols / %uu;\n", group);
        qg_text_printf(text, "    cols = %uu;\n    row = index / %uu;\n    col = index %% %uu;\n", group, group, group);
    }
    for (int along_rows = 1; along_rows >= 0; --along_rows) {
        const char *name = along_rows ? "grid_rows" : "grid_cols";
        const bool apart = along_rows && layout->view == QG_VIEW_GROUPS;
        if (qg_uses_argument(ir, name) || (apart && uses_rows(ir)))
            qg_text_printf(text, "    const uint64_t %s = %s;\n", name, grid(arena, layout, along_rows));
    }
    qg_text_puts(text, qg_grid_lines(arena, ir, plan, c));
}

static bool is_word(char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool mentions(const char *text, const char *name) {
    const size_t length = strlen(name);
    for (const char *at = text; (at = strstr(at, name)) != NULL; at += length)
        if ((at == text || !is_word(at[-1])) && !is_word(at[length])) return true;
    return false;
}

static void add_unused(qg_text *text, const char *body) {
    static const char *const names[] = {"rows", "cols", "row", "col"};
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        if (!mentions(body, names[i])) qg_text_printf(text, "    (void)%s;\n", names[i]);
}

/* The rounded values that the references ask for; nobody wants a static function that nothing calls. */
static void add_rounded(qg_text *text, const char *references, const char *parameters, const char *arguments) {
    static const char *const rounded[] = {"f16", "bf16"};
    for (uint32_t i = 0; i < 2; ++i)
        if (mentions(references, qg_format(text->arena, "%s_at", rounded[i])))
            qg_text_printf(text,
                           "\nstatic uint16_t %s_at(%s) {\n"
                           "    return qk_f32_to_%s(value_at(%s));\n}\n",
                           rounded[i], parameters, rounded[i], arguments);
}

static char *decode_matrix(qg_arena *arena, const qg_ir *ir, const qg_plan *plan, const char *references) {
    const char *const parameters = "const void *const *from, uint64_t rows, uint64_t cols, uint64_t row, uint64_t col";
    qg_text text = qg_text_new(arena);
    qg_text_printf(&text, "/* The value of an element of a tensor of rows x cols. */\nstatic float value_at(%s) {\n",
                   parameters);
    for (uint32_t i = 0; i < plan->layout->n_buffers; ++i)
        qg_text_printf(&text, "    const uint8_t *const %s = from[%u];\n", plan->layout->buffers[i].name, i);
    qg_text body = qg_text_new(arena);
    add_matrix(&body, ir, plan);
    qg_decode_body(&body, ir, c);
    add_unused(&text, body.data);
    qg_text_printf(&text, "%s}\n", body.data);
    add_rounded(&text, references, parameters, "from, rows, cols, row, col");
    return text.data;
}

static char *decode(qg_arena *arena, const qg_ir *ir, const qg_plan *plan, const char *references) {
    const qg_layout *layout = plan->layout;
    if (layout->view != QG_VIEW_BLOCKS) return decode_matrix(arena, ir, plan, references);
    qg_text text = qg_text_new(arena);
    qg_text_puts(&text, "/* The value of element `index` of a tensor. */\n");
    qg_text_puts(&text, "static float value_at(const void *const *from, uint64_t index) {\n");
    for (uint32_t i = 0; i < layout->n_buffers; ++i)
        qg_text_printf(&text, "    const uint8_t *const %s = (const uint8_t *)from[%u] + index / %uu * %uu;\n",
                       layout->buffers[i].name, i, layout->elements, layout->buffers[i].bytes);
    if (layout->elements > 1 && qg_uses(ir, QG_ARG))
        qg_text_printf(&text, "    const uint32_t i = (uint32_t)(index %% %uu);\n", layout->elements);
    qg_decode_body(&text, ir, c);
    qg_text_puts(&text, "}\n");
    add_rounded(&text, references, "const void *const *from, uint64_t index", "from, index");
    return text.data;
}

/* What an encoder takes: where block `i` lies in each buffer. */
static char *blocks_at(qg_arena *arena, const qg_layout *layout) {
    qg_text text = qg_text_new(arena);
    for (uint32_t i = 0; i < layout->n_buffers; ++i) {
        qg_text_printf(&text, ", (uint8_t *)weights[%u]", i);
        if (!layout->encode->rows && layout->view != QG_VIEW_GROUPS)
            qg_text_printf(&text, " + i * %uu", layout->buffers[i].bytes);
    }
    return text.data;
}

/* The same of a kernel to another format. */
static void other_format(qg_arena *arena, qg_holes *holes, const qg_kernel *kernel) {
    const qg_layout *to = kernel->to;
    qg_text text = qg_text_new(arena);
    for (uint32_t i = 0; i < to->n_buffers; ++i)
        qg_text_printf(&text, ", (uint8_t *)to[%u] + i * %uu", i, to->buffers[i].bytes);
    qg_hole(holes, "n_to", qg_format(arena, "%u", to->n_buffers));
    qg_hole(holes, "to", to->name);
    qg_hole(holes, "unit", qg_format(arena, "%u", qg_unit(kernel)));
    qg_hole(holes, "to_blocks", qg_format(arena, "%u", qg_unit(kernel) / to->elements));
    qg_hole(holes, "to_elements", qg_format(arena, "%u", to->elements));
    qg_hole(holes, "blocks_at", text.data);
}

static const char *blocks_along(qg_arena *arena, const char *elements, uint32_t block) {
    return block == 1 ? elements : qg_format(arena, "(%s / %uu)", elements, block);
}

/* Where the matrix of an expert begins in each buffer. */
static char *expert_weights(qg_arena *arena, const qg_layout *layout) {
    qg_text text = qg_text_new(arena);
    for (uint32_t i = 0; i < layout->n_buffers; ++i) {
        const char *bytes = qg_buffer_units(arena, layout, i, 8, blocks_along(arena, "rows", layout->block_rows),
                                            blocks_along(arena, "cols", layout->block_cols));
        qg_text_printf(&text, "%s(const uint8_t *)weights[%u] + of * (%s),", i ? "\n" : "", i, bytes);
    }
    return text.data;
}

static char *reference(qg_arena *arena, const qg_templates *templates, const qg_kernel *kernels, uint32_t count,
                       const char **why) {
    qg_text text = qg_text_new(arena);
    for (uint32_t k = 0; k < count; ++k) {
        if (!kernels[k].reference) continue;
        qg_holes holes = {.count = 0};
        qg_hole(&holes, "name", kernels[k].name);
        qg_hole(&holes, "n_buffers", qg_format(arena, "%u", kernels[k].layout->n_buffers));
        qg_hole(&holes, "c_type", element_type(kernels[k].type));
        qg_hole(&holes, "stored_at", stored_value(kernels[k].type));
        qg_hole(&holes, "x_value", kernels[k].type == QG_F32 ? "x[m * cols + k]" : "qk_f16_to_f32(x[m * cols + k])");
        qg_hole(&holes, "block_elements", qg_format(arena, "%uu", kernels[k].layout->elements));
        qg_hole(&holes, "src_value",
                kernels[k].type == QG_F32 ? NULL : qg_format(arena, "qk_%s_to_f32", qg_scalars[kernels[k].type].name));
        if (kernels[k].to)
            other_format(arena, &holes, &kernels[k]);
        else
            qg_hole(&holes, "blocks_at", kernels[k].family->encodes ? blocks_at(arena, kernels[k].layout) : NULL);
        if (kernels[k].family->encodes) qg_row_holes(arena, &holes, kernels[k].layout, QG_C);
        qg_plane_holes(arena, &holes, kernels[k].layout, QG_C);
        qg_hole(&holes, "value_of_row",
                kernels[k].layout->view == QG_VIEW_BLOCKS ? "value_at(weights, n * cols + k)"
                                                          : "value_at(weights, rows, cols, n, k)");
        const bool apart = kernels[k].family->experts && kernels[k].layout->view != QG_VIEW_BLOCKS;
        qg_hole(&holes, "expert_weights", apart ? expert_weights(arena, kernels[k].layout) : NULL);
        const char *body =
            qg_expand(arena, templates, qg_template_of(arena, &kernels[k], "c"), holes.items, holes.count, why);
        if (!body) return NULL;
        qg_text_printf(&text, "%s%s", k ? "\n" : "", body);
    }
    return text.data;
}

/* ---- descriptors ---- */

#define ROLE(NAME, meaning) "QK_ROLE_" #NAME,
#define EPILOGUE_ROLE(bit, NAME, field, binding, many, meaning) ROLE(NAME, meaning)
static const char *const role_names[] = {QK_ROLES(ROLE) QK_EPILOGUES(EPILOGUE_ROLE)};
#undef EPILOGUE_ROLE
#undef ROLE
static const char *const numeric_names[] = {"QK_NUMERIC_EXACT_DECODE", "QK_NUMERIC_EXACT_SUM", "QK_NUMERIC_SPLIT_SUM",
                                            "QK_NUMERIC_HALF_SUM", "QK_NUMERIC_INT8_SUM"};
static const char *const access_names[] = {"QK_READ", "QK_WRITE", "QK_READ_WRITE"};
static const char *const type_names[] = {"QK_TYPE_U8",  "QK_TYPE_U16",  "QK_TYPE_U32",
                                         "QK_TYPE_F16", "QK_TYPE_BF16", "QK_TYPE_F32"};

static const char *const view_names[] = {"QK_VIEW_BLOCKS", "QK_VIEW_SEQUENCE", "QK_VIEW_MATRIX", "QK_VIEW_GROUPS"};

static const char *const math_names[] = {"QK_MATH_F32", "QK_MATH_F16", "QK_MATH_BF16"};

static const char *api_name(qk_api api) { return api == QK_API_VULKAN ? "vulkan" : "metal"; }

static const char *features_text(qg_arena *arena, uint32_t features) {
    static const struct {
        uint32_t bit;
        const char *name;
    } all[] = {
#define FEATURE(number, NAME, text) {QK_FEATURE_##NAME, "QK_FEATURE_" #NAME},
        QK_FEATURES(FEATURE)
#undef FEATURE
    };
    qg_text text = qg_text_new(arena);
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
        if (features & all[i].bit) qg_text_printf(&text, "%s%s", text.length ? " | " : "", all[i].name);
    return text.length ? text.data : "0";
}

/* The name of a list of `type` with these items: of the first kernel that has `what` with them, where one does. */
static const char *list_name(qg_text *text, qg_c_lists *lists, const char *type, const char *kernel, const char *what,
                             const char *items) {
    for (uint32_t i = 0; i < lists->count; ++i)
        if (strcmp(lists->all[i].what, what) == 0 && strcmp(lists->all[i].items, items) == 0) return lists->all[i].name;
    const char *name = qg_format(text->arena, "%s_%s", kernel, what);
    qg_text_printf(text, "static const %s %s[] = {%s};\n", type, name, items);
    QG_PUSH(text->arena, lists->all, lists->count, lists->room, ((qg_c_list){what, items, name}));
    return name;
}

static const char *bindings(qg_text *text, qg_c_lists *lists, const qk_kernel *k) {
    qg_text items = qg_text_new(text->arena);
    qg_text_puts(&items, "\n");
    for (uint32_t i = 0; i < k->binding_count; ++i) {
        const qk_binding *b = &k->bindings[i];
        qg_text_printf(&items, "    {%u, \"%s\", %s, %s, %s, %u, %u, %u, %u, %u},\n", b->index, b->name,
                       role_names[b->role], access_names[b->access], type_names[b->element], b->block_bytes,
                       b->item_bytes, b->tile_rows, b->tile_cols, b->row_bytes);
    }
    return list_name(text, lists, "qk_binding", k->name, "bindings", items.data);
}

static const char *push(qg_text *text, qg_c_lists *lists, const qk_kernel *k) {
    qg_text items = qg_text_new(text->arena);
    qg_text_puts(&items, "\n");
    for (uint32_t i = 0; i < k->push_count; ++i)
        qg_text_printf(&items, "    {\"%s\", %u, %u},\n", k->push[i].name, k->push[i].offset, k->push[i].bytes);
    return list_name(text, lists, "qk_field", k->name, "push", items.data);
}

static const char *tables(qg_text *text, qg_c_lists *lists, const char *owner, const qk_kernel *k) {
    if (!k->table_count) return NULL;
    qg_text items = qg_text_new(text->arena);
    qg_text_puts(&items, "\n");
    for (uint32_t i = 0; i < k->table_count; ++i)
        qg_text_printf(&items, "    {%u, \"%s\", %s_%s_table, sizeof %s_%s_table},\n", k->tables[i].index,
                       k->tables[i].name, owner, k->tables[i].name, owner, k->tables[i].name);
    return list_name(text, lists, "qk_table", k->name, "tables", items.data);
}

/* The words of stored tables are the same for all kernels of a format. */
static void add_table_words(qg_text *text, const char *owner, const qk_kernel *k) {
    for (uint32_t i = 0; i < k->table_count; ++i) {
        qg_text_printf(text, "static const uint32_t %s_%s_table[] = {", owner, k->tables[i].name);
        qg_add_words(text, k->tables[i].words, k->tables[i].bytes / 4);
        qg_text_puts(text, "\n};\n\n");
    }
}

static const char *legal_values(qg_text *text, qg_c_lists *lists, const qk_kernel *k, const qk_spec_constant *s) {
    if (!s->legal_count) return "0"; /* any value */
    qg_text items = qg_text_new(text->arena);
    for (uint32_t i = 0; i < s->legal_count; ++i) qg_text_printf(&items, "%s%u", i ? ", " : "", s->legal[i]);
    return list_name(text, lists, "uint32_t", qg_format(text->arena, "%s_%s", k->name, api_name(k->api)), s->name,
                     items.data);
}

static const char *constants(qg_text *text, qg_c_lists *lists, const qk_kernel *k) {
    if (!k->spec_constant_count) return NULL;
    qg_text items = qg_text_new(text->arena);
    for (uint32_t i = 0; i < k->spec_constant_count; ++i) {
        const qk_spec_constant *s = &k->spec_constants[i];
        qg_text_printf(&items, "%s{%u, \"%s\", %u, %u, %s}", i ? ",\n    " : "", s->id, s->name, s->value,
                       s->legal_count, legal_values(text, lists, k, s));
    }
    return list_name(text, lists, "qk_spec_constant", qg_format(text->arena, "%s_%s", k->name, api_name(k->api)),
                     "constants", items.data);
}

/* The modules of a kernel by the number of their schedule, up to the last that it has. */
static const char *schedules(qg_text *text, qg_c_lists *lists, const qg_module_names *modules, const qk_kernel *k) {
    uint32_t count = QK_SCHEDULE_COUNT;
    while (count > 0 && !modules->of[count - 1]) --count;
    qg_text items = qg_text_new(text->arena);
    for (uint32_t s = 0; s < count; ++s)
        qg_text_puts(&items, modules->of[s] ? qg_format(text->arena, "%s&qk_%s_spirv", s ? ", " : "", modules->of[s])
                                            : qg_format(text->arena, "%s0", s ? ", " : ""));
    return list_name(text, lists, "qk_code *const", k->name, "schedules", items.data);
}

static const char *first_module(const qg_module_names *modules) {
    for (uint32_t s = 0; s < QK_SCHEDULE_COUNT; ++s)
        if (modules->of[s]) return modules->of[s];
    return NULL;
}

/* The names of the lists that both descriptors of a kernel have. */
typedef struct common_lists {
    const char *bindings, *push, *tables;
} common_lists;

static void add_descriptor(qg_text *text, const char *owner, qg_c_lists *lists, const common_lists *common,
                           const qg_module_names *modules, const qk_kernel *k) {
    const bool vulkan = k->api == QK_API_VULKAN;
    const char *values = constants(text, lists, k);
    const char *scheduled = vulkan && !modules->of[QK_SCHEDULE_NONE] ? schedules(text, lists, modules, k) : NULL;
    qg_text_printf(text, "\nconst qk_kernel qk_%s_%s = {\n", k->name, api_name(k->api));
    qg_text_printf(text, "    .abi = %u,\n", k->abi);
    qg_text_printf(text, "    .name = \"%s\",\n    .format = \"%s\",\n    .family = \"%s\",\n", k->name, k->format,
                   k->family);
    qg_text_printf(text, "    .api = %s,\n    .entry = \"%s\",\n", vulkan ? "QK_API_VULKAN" : "QK_API_METAL", k->entry);
    if (vulkan)
        qg_text_printf(text, "    .code = &qk_%s_spirv,\n", first_module(modules));
    else
        qg_text_printf(text, "    .code = &qk_%s_msl,\n", owner);
    if (scheduled) qg_text_printf(text, "    .schedules = %s,\n", scheduled);
    qg_text_printf(text, "    .binding_count = %u,\n    .bindings = %s,\n", k->binding_count, common->bindings);
    qg_text_printf(text, "    .push_bytes = %u,\n    .push_count = %u,\n    .push = %s,\n", k->push_bytes,
                   k->push_count, common->push);
    if (k->table_count)
        qg_text_printf(text, "    .table_count = %u,\n    .tables = %s,\n", k->table_count, common->tables);
    if (values)
        qg_text_printf(text, "    .spec_constant_count = %u,\n    .spec_constants = %s,\n", k->spec_constant_count,
                       values);
    qg_text_printf(text, "    .workgroup_size = %u,\n    .features = %s,\n", k->workgroup_size,
                   features_text(text->arena, k->features));
    qg_text_printf(text, "    .numeric = %s,\n    .output = %s,\n", numeric_names[k->numeric], type_names[k->output]);
    qg_text_printf(text, "    .block_elements = %u,\n    .tile_elements = %u,\n", k->block_elements, k->tile_elements);
    if (k->decode_math != QK_MATH_F32) qg_text_printf(text, "    .decode_math = %s,\n", math_names[k->decode_math]);
    if (k->view != QK_VIEW_BLOCKS)
        qg_text_printf(text, "    .view = %s,\n    .ragged = %u,\n    .block_rows = %u,\n    .block_cols = %u,\n",
                       view_names[k->view], k->ragged, k->block_rows, k->block_cols);
    if (k->kept_elements) qg_text_printf(text, "    .kept_elements = %u,\n", k->kept_elements);
    if (k->wide_block) qg_text_printf(text, "    .wide_block = %u,\n", k->wide_block);
    if (k->shared_tile)
        qg_text_printf(text,
                       "    .shared_tile = %u,\n    .shares_wide = %u,\n    .teams_tile = %u,\n    .teams_kept = %u,\n"
                       "    .teams_block = %u,\n",
                       k->shared_tile, k->shares_wide, k->teams_tile, k->teams_kept, k->teams_block);
    if (k->columns_kept)
        qg_text_printf(text, "    .columns_kept = %u,\n    .columns_rows = %u,\n", k->columns_kept, k->columns_rows);
    if (k->rows_at_once) qg_text_printf(text, "    .rows_at_once = %u,\n", k->rows_at_once);
    if (k->rows_ahead)
        qg_text_printf(text,
                       "    .rows_ahead = %u,\n    .ahead_kept = %u,\n    .ahead_block = %u,\n    .wide_loads = %u,\n",
                       k->rows_ahead, k->ahead_kept, k->ahead_block, k->wide_loads);
    if (k->operand_tile)
        qg_text_printf(text, "    .operand_tile = %u,\n    .operand_words = %u,\n", k->operand_tile, k->operand_words);
    if (k->operand_tile && k->wide_loads) qg_text_printf(text, "    .wide_loads = %u,\n", k->wide_loads);
    if (k->span_words) qg_text_printf(text, "    .span_words = %u,\n", k->span_words);
    if (k->row_roundings) qg_text_printf(text, "    .row_roundings = %u,\n", k->row_roundings);
    if (k->sum_roundings) qg_text_printf(text, "    .sum_roundings = %u,\n", k->sum_roundings);
    if (k->x_levels)
        qg_text_printf(text, "    .x_levels = %u,\n    .x_group = %u,\n    .x_reach = %u,\n", k->x_levels, k->x_group,
                       k->x_reach);
    if (k->tile_rows > 1) qg_text_printf(text, "    .tile_rows = %u,\n", k->tile_rows);
    qg_text_puts(text, "};\n\n");
}

void qg_c_add_kernel(qg_text *text, const char *owner, qg_c_lists *lists, const qg_module_names *modules,
                     const qk_kernel *vulkan, const qk_kernel *metal) {
    const qk_kernel *one = vulkan ? vulkan : metal;
    const common_lists common = {bindings(text, lists, one), push(text, lists, one),
                                 vulkan ? tables(text, lists, owner, vulkan) : NULL};
    if (vulkan) add_descriptor(text, owner, lists, &common, modules, vulkan);
    if (metal) add_descriptor(text, owner, lists, &common, modules, metal);
}

static bool has_metal(const qg_request *request, const qg_kernel *kernel) {
    return request->metal && qg_on_metal(kernel);
}

static qg_module_names module_names(qg_arena *arena, const qg_kernel *kernel) {
    qg_module_names names = {.of = {NULL}};
    const uint32_t all = qg_schedules_of(kernel) ? qg_schedules_of(kernel) : 1u;
    for (uint32_t s = 0; s < QK_SCHEDULE_COUNT; ++s)
        if (all >> s & 1) names.of[s] = qg_module_name(arena, kernel, (qk_schedule)s);
    return names;
}

static char *descriptors(qg_arena *arena, const qg_request *request, const qg_kernel *kernels, uint32_t count) {
    qg_text text = qg_text_new(arena);
    qg_c_lists lists = {.count = 0};
    if (!request->vulkan && !request->metal) return qg_format(arena, "%s", "");
    if (request->vulkan && count) {
        add_table_words(&text, request->layout->name, qg_describe(arena, &kernels[0], QK_API_VULKAN, NULL));
    }
    for (uint32_t i = 0; i < count; ++i) {
        const qk_kernel *vulkan = qg_describe(arena, &kernels[i], QK_API_VULKAN, NULL);
        const qk_kernel *metal = qg_describe(arena, &kernels[i], QK_API_METAL, NULL);
        const qg_module_names names = module_names(arena, &kernels[i]);
        qg_c_add_kernel(&text, request->layout->name, &lists, &names,
                        qg_on_vulkan(request, &kernels[i]) ? vulkan : NULL,
                        has_metal(request, &kernels[i]) ? metal : NULL);
    }
    return text.data;
}

/* ---- code: words and text ---- */

void qg_c_add_words(qg_text *text, const char *name, const qk_code *code, const char *linkage) {
    const uint32_t *words = code->data;
    const size_t count = code->bytes / 4;
    qg_text_printf(text, "static const uint32_t %s_words[] = {", name);
    qg_add_words(text, words, count);
    qg_text_printf(text, "\n};\n%sconst qk_code qk_%s_spirv = {%s_words, sizeof %s_words};\n\n", linkage, name, name,
                   name);
}

void qg_c_add_msl(qg_text *text, const char *owner, const char *msl, const char *linkage) {
    /* Longer than the 4095 characters that C promises; every compiler in use takes it. */
    qg_text_puts(text, "#if defined(__GNUC__)\n#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n#endif\n");
    qg_text_printf(text, "static const char %s_text[] =", owner);
    for (const char *at = msl; *at;) {
        const char *end = strchr(at, '\n');
        qg_text_puts(text, "\n    \"");
        for (; *at && at != end; ++at) {
            if (*at == '"' || *at == '\\') qg_text_puts(text, "\\");
            qg_text_add(text, at, 1);
        }
        qg_text_puts(text, end ? "\\n\"" : "\"");
        if (end) ++at;
    }
    qg_text_printf(text, ";\n%sconst qk_code qk_%s_msl = {%s_text, sizeof %s_text - 1};\n\n", linkage, owner, owner,
                   owner);
}

/* Whether it could be packed. */
static bool add_packed_code(qg_text *text, const qg_request *request, const qg_kernel *kernels, uint32_t count,
                            const qg_c_options *options) {
    qg_packed_module *list = NULL;
    uint32_t n = 0, capacity = 0;
    for (uint32_t i = 0; i < count; ++i)
        for (uint32_t s = 0; s < QK_SCHEDULE_COUNT && request->vulkan; ++s)
            if (options->modules[i].of[s]) {
                const qg_packed_module module = {qg_module_name(text->arena, &kernels[i], (qk_schedule)s),
                                                 options->modules[i].of[s]};
                QG_PUSH(text->arena, list, n, capacity, module);
            }
    if (request->metal) qg_c_add_msl(text, request->layout->name, options->msl, "static ");
    return qg_c_add_packed(text, request->layout->name, list, n);
}

static void add_code(qg_text *text, const qg_request *request, const qg_kernel *kernels, uint32_t count,
                     const qg_c_options *options, const char *linkage) {
    for (uint32_t i = 0; i < count; ++i)
        for (uint32_t s = 0; s < QK_SCHEDULE_COUNT && request->vulkan; ++s)
            if (options->modules[i].of[s])
                qg_c_add_words(text, qg_module_name(text->arena, &kernels[i], (qk_schedule)s),
                               options->modules[i].of[s], linkage);
    if (request->metal) qg_c_add_msl(text, request->layout->name, options->msl, linkage);
}

static void declare_code(qg_text *text, const qg_request *request, const qg_kernel *kernels, uint32_t count,
                         const qg_c_options *options) {
    qg_text_printf(text, "/* The code itself: %s_code.c. */\n", request->layout->name);
    for (uint32_t i = 0; i < count; ++i)
        for (uint32_t s = 0; s < QK_SCHEDULE_COUNT && request->vulkan; ++s)
            if (options->modules[i].of[s])
                qg_text_printf(text, "extern const qk_code qk_%s_spirv;\n",
                               qg_module_name(text->arena, &kernels[i], (qk_schedule)s));
    if (request->metal) qg_text_printf(text, "extern const qk_code qk_%s_msl;\n", request->layout->name);
    qg_text_puts(text, "\n");
}

char *qg_c_code(qg_arena *arena, const qg_request *request, const qg_c_options *options) {
    const qg_kernel *kernels;
    const uint32_t count = qg_kernels(arena, request, &kernels);
    qg_text text = qg_text_new(arena);
    qg_text_printf(&text, "/* Code of the kernels of %s; generated, do not edit. */\n#include \"%s.h\"\n\n",
                   request->layout->name, request->layout->name);
    declare_code(&text, request, kernels, count, options);
    add_code(&text, request, kernels, count, options, "");
    return qg_wrap(arena, text.data);
}

/* ---- dispatch stubs ---- */

static void add_dispatch_head(qg_text *text, const qg_kernel *kernel) {
    qg_text_printf(
        text, "qk_status qk_%s(const qk_backend *backend, const qk_range weights[%u],\n    %s, qk_error *error)",
        kernel->name, kernel->layout->n_buffers, qg_stub_parameters(text->arena, kernel->family, kernel->layout));
}

const char *qg_c_chosen(qg_arena *arena, bool vulkan, bool metal, const char *name) {
    if (vulkan && metal)
        return qg_format(arena, "backend && backend->api == QK_API_METAL ? &qk_%s_metal : &qk_%s_vulkan", name, name);
    return qg_format(arena, "&qk_%s_%s", name, vulkan ? "vulkan" : "metal");
}

static char *dispatch_stubs(qg_arena *arena, const qg_request *request, const qg_kernel *kernels, uint32_t count) {
    qg_text text = qg_text_new(arena);
    if (!request->vulkan && !request->metal) return "";
    for (uint32_t i = 0; i < count; ++i) {
        if (i) qg_text_puts(&text, "\n");
        add_dispatch_head(&text, &kernels[i]);
        qg_text_printf(
            &text, " {\n    const qk_kernel *const kernel = %s;\n",
            qg_c_chosen(arena, qg_on_vulkan(request, &kernels[i]), has_metal(request, &kernels[i]), kernels[i].name));
        const qg_family_call *call = qg_checked_call(kernels[i].family, kernels[i].layout);
        qg_text_printf(&text, "    return qk_dispatch_%s(backend, kernel, weights, %s, error);\n}\n", call->function,
                       call->arguments);
    }
    return text.data;
}

/* ---- the two files ---- */

static void declare_reference(qg_text *text, const qg_kernel *kernel) {
    const bool sums = kernel->family->sums;
    const char *result = qg_reference_result(kernel->family);
    const char *parameters = qg_reference_parameters(text->arena, kernel->family, kernel->layout);
    if (kernel->to) {
        qg_text_printf(text, "%s qk_%s_ref(const void *const weights[%u],\n    %s, void *const to[%u]);\n", result,
                       kernel->name, kernel->layout->n_buffers, parameters, kernel->to->n_buffers);
        return;
    }
    if (kernel->family->encodes) {
        qg_text_printf(text, "%s qk_%s_ref(void *const weights[%u],\n    %s, const %s *src);\n", result, kernel->name,
                       kernel->layout->n_buffers, parameters, element_type(kernel->type));
        return;
    }
    qg_text_printf(text, "%s qk_%s_ref(const void *const weights[%u],\n    ", result, kernel->name,
                   kernel->layout->n_buffers);
    qg_print_filled(text, parameters, 'X', element_type(kernel->type));
    qg_text_printf(text, ", %s *%s);\n", sums ? "float" : element_type(kernel->type), sums ? "y" : "dst");
}

static const char *sum_class(qg_arena *arena, const qg_kernel *kernel) {
    const bool other = kernel->sum && kernel->sum != &qg_sum_classes[QG_CLASS_EXACT];
    return other ? qg_format(arena, "; class %s", kernel->sum->name) : "";
}

/* All descriptors, by which qkgen/registry.h finds one. */
static char *kernel_set(qg_arena *arena, const qg_request *request, const qg_kernel *kernels, uint32_t count,
                        bool packed) {
    const char *name = request->layout->name;
    qg_text text = qg_text_new(arena);
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; ++i)
        for (int metal = 0; metal < 2; ++metal)
            if (metal ? has_metal(request, &kernels[i]) : qg_on_vulkan(request, &kernels[i]))
                qg_text_printf(&text, "    &qk_%s_%s,\n", kernels[i].name, metal ? "metal" : "vulkan"), ++n;
    if (!n) return "";
    return qg_format(arena,
                     "static const qk_kernel *const %s_all[] = {\n%s};\n\n"
                     "const qk_kernel_set qk_%s_kernels = {\"%s\", %u, %s_all, %s};\n",
                     name, text.data, name, name, n, name, packed ? qg_format(arena, "%s_unpack", name) : "0");
}

static char *declarations(qg_arena *arena, const qg_request *request, const qg_kernel *kernels, uint32_t count) {
    qg_text text = qg_text_new(arena);
    const bool dispatched = request->vulkan || request->metal;
    if (dispatched)
        qg_text_printf(
            &text, "/* All descriptors below, for qkgen/registry.h. */\nextern const qk_kernel_set qk_%s_kernels;\n\n",
            request->layout->name);
    for (uint32_t i = 0; i < count; ++i) {
        const qg_kernel *kernel = &kernels[i];
        qg_text_printf(&text, "%s/* %s: %s, in %s%s. */\n", i ? "\n" : "", kernel->name, kernel->family->summary,
                       qg_scalars[kernel->type].name, sum_class(arena, kernel));
        if (qg_on_vulkan(request, kernel))
            qg_text_printf(&text, "extern const qk_kernel qk_%s_vulkan;\n", kernel->name);
        if (has_metal(request, kernel)) qg_text_printf(&text, "extern const qk_kernel qk_%s_metal;\n", kernel->name);
        if (dispatched) {
            add_dispatch_head(&text, kernel);
            qg_text_puts(&text, ";\n");
        }
        if (kernel->reference) declare_reference(&text, kernel);
    }
    return text.data;
}

char *qg_c_header(qg_arena *arena, const qg_templates *templates, const qg_request *request,
                  const qg_c_options *options, const char **why) {
    const qg_kernel *kernels;
    const uint32_t count = qg_kernels(arena, request, &kernels);
    qg_holes holes = {.count = 0};
    const char *sentence =
        qg_format(arena, "%s: kernels, dispatch and reference decoder of the format.", request->layout->name);
    qg_hole(&holes, "format", request->layout->name);
    qg_hole(&holes, "banner", qg_banner(arena, request, NULL, sentence, "/* ", " * ", " */\n"));
    qg_hole(&holes, "kernel_types", options->embed ? options->kernel_h : "#include <qkgen/kernel.h>");
    qg_hole(&holes, "abi", request->vulkan || request->metal ? qg_format(arena, "%d", QK_ABI_VERSION) : NULL);
    qg_hole(&holes, "declarations", declarations(arena, request, kernels, count));
    return qg_wrap(arena, qg_expand(arena, templates, "format.h", holes.items, holes.count, why));
}

static const char *dispatch_text(qg_arena *arena, const qg_request *request, const qg_c_options *options) {
    if (!request->vulkan && !request->metal) return "";
    if (options->embed && options->pack) return qg_format(arena, "%s\n%s", options->dispatch_h, options->unpack_h);
    return options->embed ? options->dispatch_h : "#include <qkgen/dispatch.h>";
}

static bool has_half_input(const qg_kernel *kernels, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i)
        if (kernels[i].family->sums && kernels[i].type == QG_F16) return true;
    return false;
}

/* Of the format itself. */
static bool has_own_encoder(const qg_kernel *kernels, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i)
        if (kernels[i].family->encodes) return true;
    return false;
}

static bool has_encoder(const qg_kernel *kernels, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i)
        if (kernels[i].to) return true;
    return has_own_encoder(kernels, count);
}

/* What makes a block, and the functions that it calls; "" where no kernel does. */
static const char *encoder(qg_arena *arena, const qg_templates *templates, const qg_kernel *kernels, uint32_t count,
                           const char **why) {
    if (!has_encoder(kernels, count)) return "";
    qg_text text = qg_text_new(arena);
    qg_text_puts(&text, has_own_encoder(kernels, count) ? qg_encoder(arena, kernels[0].layout, QG_C) : "");
    for (uint32_t i = 0; i < count; ++i)
        if (kernels[i].to)
            qg_text_printf(&text, "%s%s", text.length ? "\n" : "",
                           qg_encoder_of_thread(arena, kernels[i].to, QG_C,
                                                qg_format(arena, "qk_encode_%s", kernels[i].to->name), false));
    const char *all = qg_expand(arena, templates, "encode_functions.c", NULL, 0, why);
    return all ? qg_format(arena, "%s\n\n%s", qg_called_functions(arena, all, text.data), text.data) : NULL;
}

char *qg_c_source(qg_arena *arena, const qg_templates *templates, const qg_request *request,
                  const qg_c_options *options, const char **why) {
    const qg_layout *layout = request->layout;
    const qg_program *program = qg_program_of_reference(arena, layout);
    const qg_plan *elements = program->plan;
    const qg_ir *ir = program->values->code;
    const qg_kernel *kernels;
    const uint32_t count = qg_kernels(arena, request, &kernels);
    qg_holes prelude = {.count = 0}, holes = {.count = 0};
    qg_prelude_holes(&prelude, ir);
    if (has_half_input(kernels, count) || qg_uses(ir, QG_ROUND_F16)) qg_hole_set(&prelude, "f16_to_f32");
    if (has_encoder(kernels, count)) {
        qg_hole_set(&prelude, "f16_to_f32");
        qg_hole_set(&prelude, "bf16_to_f32");
        qg_hole_set(&prelude, "bits_to_f32");
    }
    const char *prelude_text = qg_expand(arena, templates, "prelude.c", prelude.items, prelude.count, why);
    const char *reference_text = prelude_text ? reference(arena, templates, kernels, count, why) : NULL;
    const char *encoder_text = reference_text ? encoder(arena, templates, kernels, count, why) : NULL;
    if (!encoder_text) return NULL;
    qg_text code = qg_text_new(arena);
    const bool packed = options->embed && options->pack && request->vulkan && count;
    if (packed && !add_packed_code(&code, request, kernels, count, options)) {
        *why = "the words cannot be packed";
        return NULL;
    }
    if (options->embed && !packed)
        add_code(&code, request, kernels, count, options, "static ");
    else if (!options->embed && (request->vulkan || request->metal))
        declare_code(&code, request, kernels, count, options);
    qg_text_puts(&code, descriptors(arena, request, kernels, count));
    qg_text_puts(&code, kernel_set(arena, request, kernels, count, packed));
    const char *sentence = qg_format(arena, "%s: reference decoder, descriptors and dispatch stubs.", layout->name);
    qg_hole(&holes, "format", layout->name);
    qg_hole(&holes, "banner", qg_banner(arena, request, NULL, sentence, "/* ", " * ", " */\n"));
    qg_hole(&holes, "dispatch", dispatch_text(arena, request, options));
    qg_hole(&holes, "prelude", prelude_text);
    const bool decodes = mentions(reference_text, "value_at") || mentions(reference_text, "f16_at") ||
                         mentions(reference_text, "bf16_at");
    qg_hole(&holes, "tables", decodes ? qg_tables(arena, elements, c, "static const") : "");
    qg_hole(&holes, "decode", decodes ? decode(arena, ir, elements, reference_text) : "");
    qg_hole(&holes, "encoder", encoder_text);
    qg_hole(&holes, "reference", reference_text);
    qg_hole(&holes, "descriptors", code.data);
    qg_hole(&holes, "dispatch_stubs", dispatch_stubs(arena, request, kernels, count));
    return qg_wrap(arena, qg_expand(arena, templates, "format.c", holes.items, holes.count, why));
}
