/* Families that take no format, and their text in each language. */
#include "plain.h"

#include <string.h>

static const qg_plain qdq[] = {
    {.name = "qdq_init",
     .summary = "groups of w to codes: scale = (max - min) / (bins - 1), bias = min, q = round((w - bias) / scale)",
     .n_bindings = 4,
     .bindings = {{"w", QK_ROLE_INPUT, QK_TYPE_F32, false},
                  {"scales", QK_ROLE_OUTPUT, QK_TYPE_F32, true},
                  {"biases", QK_ROLE_OUTPUT, QK_TYPE_F32, true},
                  {"q", QK_ROLE_OUTPUT, QK_TYPE_U8, false}},
     .n_push = 4,
     .push = {"groups", "quads", "lanes", "bins"},
     .numeric = QK_NUMERIC_EXACT_DECODE,
     .has_bins = true,
     .prelude = {"init"}},
    {.name = "qdq_forward",
     .summary = "codes to values: y[i] = q[i] * scales[g] + biases[g], each operation rounded",
     .n_bindings = 4,
     .bindings = {{"q", QK_ROLE_INPUT, QK_TYPE_U8, false},
                  {"scales", QK_ROLE_INPUT, QK_TYPE_F32, true},
                  {"biases", QK_ROLE_INPUT, QK_TYPE_F32, true},
                  {"y", QK_ROLE_OUTPUT, QK_TYPE_F32, false}},
     .n_push = 2,
     .push = {"all_quads", "quads"},
     .numeric = QK_NUMERIC_EXACT_DECODE,
     .prelude = {"codes"}},
    {.name = "qdq_backward_scales",
     .summary = "gradient of the scales: d_scales[g] = sum of q[i] * dy[i] over the group",
     .n_bindings = 3,
     .bindings = {{"q", QK_ROLE_INPUT, QK_TYPE_U8, false},
                  {"dy", QK_ROLE_INPUT, QK_TYPE_F32, false},
                  {"d_scales", QK_ROLE_OUTPUT, QK_TYPE_F32, true}},
     .n_push = 3,
     .push = {"groups", "quads", "lanes"},
     .numeric = QK_NUMERIC_EXACT_SUM,
     .prelude = {"sums", "codes"}},
    {.name = "qdq_backward_biases",
     .summary = "gradient of the biases: d_biases[g] = sum of dy[i] over the group",
     .n_bindings = 2,
     .bindings = {{"dy", QK_ROLE_INPUT, QK_TYPE_F32, false}, {"d_biases", QK_ROLE_OUTPUT, QK_TYPE_F32, true}},
     .n_push = 3,
     .push = {"groups", "quads", "lanes"},
     .numeric = QK_NUMERIC_EXACT_SUM,
     .prelude = {"sums"}},
};

const qg_plain_set qg_plain_sets[] = {
    {.name = "qdq",
     .summary = "trainable scales and biases for groups of u8 codes",
     .dispatch = "dispatch_qdq.h",
     .n_families = sizeof qdq / sizeof *qdq,
     .families = qdq},
};
const uint32_t qg_n_plain_sets = sizeof qg_plain_sets / sizeof *qg_plain_sets;

/* Parts of a prelude: the names that qg_plain.prelude may hold. */
static const char *const prelude_parts[] = {"init", "sums", "codes"};

enum { WORKGROUP = 256, MOST_QUADS = 1024 };

const qg_plain *qg_plain_named(const char *name, const qg_plain_set **set) {
    for (uint32_t s = 0; s < qg_n_plain_sets; ++s)
        for (uint32_t f = 0; f < qg_plain_sets[s].n_families; ++f) {
            if (strcmp(qg_plain_sets[s].families[f].name, name) != 0) continue;
            if (set) *set = &qg_plain_sets[s];
            return &qg_plain_sets[s].families[f];
        }
    return NULL;
}

const qg_plain_set *qg_plain_set_named(const char *name) {
    for (uint32_t s = 0; s < qg_n_plain_sets; ++s)
        if (strcmp(qg_plain_sets[s].name, name) == 0) return &qg_plain_sets[s];
    return NULL;
}

uint64_t qg_plain_unit(const qg_plain_binding *binding, uint32_t group) {
    return (uint64_t)(binding->per_group ? 1 : group) * (binding->type == QK_TYPE_U8 ? 1 : 4);
}

const qk_kernel *qg_plain_describe(qg_arena *arena, const qg_plain *family, qk_api api, const qk_code *code) {
    qk_kernel *described = QG_NEW(arena, qk_kernel);
    qk_binding *bindings = QG_NEW_ARRAY(arena, qk_binding, family->n_bindings);
    qk_field *push = QG_NEW_ARRAY(arena, qk_field, family->n_push);
    for (uint32_t i = 0; i < family->n_bindings; ++i) {
        const qg_plain_binding *b = &family->bindings[i];
        bindings[i] = (qk_binding){.index = i,
                                   .name = b->name,
                                   .role = b->role,
                                   .access = b->role == QK_ROLE_OUTPUT ? QK_WRITE : QK_READ,
                                   .element = b->type};
    }
    for (uint32_t i = 0; i < family->n_push; ++i) push[i] = (qk_field){family->push[i], 4 * i, 4};
    *described = (qk_kernel){.name = family->name,
                             .format = "",
                             .family = family->name,
                             .api = api,
                             .entry = api == QK_API_VULKAN ? "main" : family->name,
                             .code = code,
                             .binding_count = family->n_bindings,
                             .bindings = bindings,
                             .push_bytes = 4 * family->n_push,
                             .push_count = family->n_push,
                             .push = push,
                             .workgroup_size = WORKGROUP,
                             .numeric = family->numeric,
                             .output = QK_TYPE_F32};
    if (api == QK_API_VULKAN) {
        qk_spec_constant *constant = QG_NEW(arena, qk_spec_constant);
        *constant = qg_constant(QK_CONSTANT_LOCAL_SIZE_X, WORKGROUP);
        described->spec_constant_count = 1;
        described->spec_constants = constant;
    }
    return described;
}

/* ---- kernels ---- */

static const char *binding_name(qg_arena *arena, const char *name) { return qg_format(arena, "binding_%s", name); }

static void kernel_holes(qg_arena *arena, qg_holes *holes, const qg_plain_request *request, const qg_plain *family) {
    qg_hole(holes, "name", family->name);
    qg_hole(holes, "set", request->set->name);
    for (uint32_t i = 0; i < family->n_bindings; ++i)
        qg_hole(holes, binding_name(arena, family->bindings[i].name), qg_format(arena, "%u", i));
    qg_hole(holes, "binding_push", qg_format(arena, "%u", family->n_bindings));
    qg_hole(holes, "workgroup", qg_format(arena, "%u", WORKGROUP));
    qg_hole(holes, "held", qg_format(arena, "%u", MOST_QUADS / WORKGROUP));
}

static const char *text_of(qg_arena *arena, const qg_templates *templates, const char *name, const char *ending) {
    return qg_template_text(templates, qg_format(arena, "%s.%s", name, ending));
}

static char *banner(qg_arena *arena, const qg_plain_request *request, const char *sentence, const char *open,
                    const char *prefix, const char *close) {
    return qg_format(arena, "%s%s\n%sGenerated by `%s`; do not edit.%s\n", open, sentence, prefix, request->command,
                     close);
}

static bool calls(const qg_plain *family, const char *part) {
    for (size_t i = 0; i < sizeof family->prelude / sizeof *family->prelude; ++i)
        if (family->prelude[i] && strcmp(family->prelude[i], part) == 0) return true;
    return false;
}

char *qg_plain_glsl(qg_arena *arena, const qg_templates *templates, const qg_plain_request *request,
                    const qg_plain *family, const char **why) {
    qg_holes prelude = {.count = 0}, holes = {.count = 0};
    for (size_t i = 0; i < sizeof prelude_parts / sizeof *prelude_parts; ++i)
        qg_hole(&prelude, prelude_parts[i], calls(family, prelude_parts[i]) ? "" : NULL);
    const char *prelude_text =
        qg_expand(arena, text_of(arena, templates, request->set->name, "glsl"), prelude.items, prelude.count, why);
    if (!prelude_text) return NULL;
    const char *sentence = qg_format(arena, "%s: %s.", family->name, family->summary);
    kernel_holes(arena, &holes, request, family);
    qg_hole(&holes, "banner", banner(arena, request, sentence, "// ", "// ", ""));
    qg_hole(&holes, "prelude", prelude_text);
    return qg_expand(arena, text_of(arena, templates, family->name, "comp"), holes.items, holes.count, why);
}

char *qg_plain_msl(qg_arena *arena, const qg_templates *templates, const qg_plain_request *request, const char **why) {
    qg_text text = qg_text_new(arena);
    for (uint32_t i = 0; i < request->n_families; ++i) {
        const qg_plain *family = request->families[i];
        qg_holes holes = {.count = 0};
        kernel_holes(arena, &holes, request, family);
        const char *body =
            qg_expand(arena, text_of(arena, templates, family->name, "metal"), holes.items, holes.count, why);
        if (!body) return NULL;
        qg_text_printf(&text, "%s// %s: %s.\n%s", i ? "\n" : "", family->name, family->summary, body);
    }
    qg_holes holes = {.count = 0};
    const char *sentence = qg_format(arena, "%s: Metal kernels, %s.", request->set->name, request->set->summary);
    qg_hole(&holes, "banner", banner(arena, request, sentence, "// ", "// ", ""));
    qg_hole(&holes, "set", request->set->name);
    qg_hole(&holes, "prelude", text_of(arena, templates, request->set->name, "metal"));
    qg_hole(&holes, "kernels", text.data);
    return qg_expand(arena, qg_template_text(templates, "plain.metal"), holes.items, holes.count, why);
}

/* ---- C ---- */

static const char *c_type(qk_type type) { return type == QK_TYPE_U8 ? "uint8_t" : "float"; }

static const char *reference_parameters(qg_arena *arena, const qg_plain *family) {
    qg_text text = qg_text_new(arena);
    qg_text_printf(&text, "uint64_t groups, uint32_t group%s", family->has_bins ? ", uint32_t bins" : "");
    for (uint32_t i = 0; i < family->n_bindings; ++i)
        qg_text_printf(&text, ",%s%s%s *%s", i ? " " : "\n    ",
                       family->bindings[i].role == QK_ROLE_INPUT ? "const " : "", c_type(family->bindings[i].type),
                       family->bindings[i].name);
    return text.data;
}

static void add_stub_head(qg_text *text, const qg_plain *family) {
    qg_text_printf(text, "qk_status qk_%s(const qk_backend *backend,", family->name);
    for (uint32_t i = 0; i < family->n_bindings; ++i) qg_text_printf(text, " qk_range %s,", family->bindings[i].name);
    qg_text_printf(text, "\n    uint64_t groups, uint32_t group,%s qk_error *error)",
                   family->has_bins ? " uint32_t bins," : "");
}

static void add_stub(qg_text *text, const qg_plain_request *request, const qg_plain *family) {
    add_stub_head(text, family);
    qg_text_printf(text, " {\n    const qk_kernel *const kernel = %s;\n",
                   qg_c_chosen(text->arena, request->vulkan, request->metal, family->name));
    qg_text_printf(text, "    return qk_dispatch_%s(backend, kernel", family->name);
    for (uint32_t i = 0; i < family->n_bindings; ++i) qg_text_printf(text, ", %s", family->bindings[i].name);
    qg_text_printf(text, ", groups, group%s, error);\n}\n", family->has_bins ? ", bins" : "");
}

static char *declarations(qg_arena *arena, const qg_plain_request *request) {
    qg_text text = qg_text_new(arena);
    for (uint32_t i = 0; i < request->n_families; ++i) {
        const qg_plain *family = request->families[i];
        qg_text_printf(&text, "%s/* %s: %s. */\n", i ? "\n" : "", family->name, family->summary);
        if (request->vulkan) qg_text_printf(&text, "extern const qk_kernel qk_%s_vulkan;\n", family->name);
        if (request->metal) qg_text_printf(&text, "extern const qk_kernel qk_%s_metal;\n", family->name);
        if (request->vulkan || request->metal) {
            add_stub_head(&text, family);
            qg_text_puts(&text, ";\n");
        }
        qg_text_printf(&text, "void qk_%s_ref(%s);\n", family->name, reference_parameters(arena, family));
    }
    return text.data;
}

char *qg_plain_header(qg_arena *arena, const qg_templates *templates, const qg_plain_request *request,
                      const qg_c_options *options, const char **why) {
    qg_holes holes = {.count = 0};
    const char *sentence =
        qg_format(arena, "%s: kernels, dispatch and reference, %s.", request->set->name, request->set->summary);
    qg_hole(&holes, "set", request->set->name);
    qg_hole(&holes, "banner", banner(arena, request, sentence, "/* ", " * ", " */"));
    qg_hole(&holes, "kernel_types", options->embed ? options->kernel_h : "#include <qkgen/kernel.h>");
    qg_hole(&holes, "declarations", declarations(arena, request));
    return qg_expand(arena, qg_template_text(templates, "plain.h"), holes.items, holes.count, why);
}

static char *reference(qg_arena *arena, const qg_templates *templates, const qg_plain_request *request,
                       const char **why) {
    qg_text text = qg_text_new(arena);
    for (uint32_t i = 0; i < request->n_families; ++i) {
        const qg_plain *family = request->families[i];
        qg_holes holes = {.count = 0};
        qg_hole(&holes, "name", family->name);
        qg_hole(&holes, "reference_parameters", reference_parameters(arena, family));
        const char *body =
            qg_expand(arena, text_of(arena, templates, family->name, "c"), holes.items, holes.count, why);
        if (!body) return NULL;
        qg_text_printf(&text, "%s%s", i ? "\n" : "", body);
    }
    return text.data;
}

static void add_code(qg_text *text, const qg_plain_request *request, const qg_c_options *options, const char *linkage) {
    for (uint32_t i = 0; request->vulkan && i < request->n_families; ++i)
        qg_c_add_words(text, request->families[i]->name, &options->spirv[i], linkage);
    if (request->metal) qg_c_add_msl(text, request->set->name, options->msl, linkage);
}

static void declare_code(qg_text *text, const qg_plain_request *request) {
    qg_text_printf(text, "/* The code itself: %s_code.c. */\n", request->set->name);
    for (uint32_t i = 0; request->vulkan && i < request->n_families; ++i)
        qg_text_printf(text, "extern const qk_code qk_%s_spirv;\n", request->families[i]->name);
    if (request->metal) qg_text_printf(text, "extern const qk_code qk_%s_msl;\n", request->set->name);
    qg_text_puts(text, "\n");
}

static void add_descriptors(qg_text *text, const qg_plain_request *request) {
    for (uint32_t i = 0; i < request->n_families; ++i) {
        const qg_plain *family = request->families[i];
        const qk_kernel *vulkan = qg_plain_describe(text->arena, family, QK_API_VULKAN, NULL);
        const qk_kernel *metal = qg_plain_describe(text->arena, family, QK_API_METAL, NULL);
        qg_c_add_kernel(text, request->set->name, request->families[i]->name, request->vulkan ? vulkan : NULL,
                        request->metal ? metal : NULL);
    }
}

char *qg_plain_source(qg_arena *arena, const qg_templates *templates, const qg_plain_request *request,
                      const qg_c_options *options, const char **why) {
    const bool dispatched = request->vulkan || request->metal;
    const char *reference_text = reference(arena, templates, request, why);
    if (!reference_text) return NULL;
    qg_text code = qg_text_new(arena), stubs = qg_text_new(arena);
    qg_text_puts(&code, "");
    qg_text_puts(&stubs, "");
    if (dispatched && options->embed) add_code(&code, request, options, "static ");
    if (dispatched && !options->embed) declare_code(&code, request);
    if (dispatched) add_descriptors(&code, request);
    for (uint32_t i = 0; dispatched && i < request->n_families; ++i) {
        if (i) qg_text_puts(&stubs, "\n");
        add_stub(&stubs, request, request->families[i]);
    }
    qg_holes holes = {.count = 0};
    const char *sentence = qg_format(arena, "%s: reference, descriptors and dispatch stubs.", request->set->name);
    const char *include = qg_format(arena, "#include <qkgen/%s>", request->set->dispatch);
    qg_hole(&holes, "set", request->set->name);
    qg_hole(&holes, "banner", banner(arena, request, sentence, "/* ", " * ", " */"));
    qg_hole(&holes, "dispatch", !dispatched ? "" : options->embed ? options->dispatch_h : include);
    qg_hole(&holes, "reference", reference_text);
    qg_hole(&holes, "descriptors", code.data);
    qg_hole(&holes, "dispatch_stubs", stubs.data);
    return qg_expand(arena, qg_template_text(templates, "plain.c"), holes.items, holes.count, why);
}

char *qg_plain_code(qg_arena *arena, const qg_plain_request *request, const qg_c_options *options) {
    qg_text text = qg_text_new(arena);
    qg_text_printf(&text, "/* Code of the kernels of %s; generated, do not edit. */\n#include \"%s.h\"\n\n",
                   request->set->name, request->set->name);
    declare_code(&text, request);
    add_code(&text, request, options, "");
    return text.data;
}
