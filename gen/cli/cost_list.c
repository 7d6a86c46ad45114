/* `qkgen list --cost`: the static counts as a table, or as JSON. */
#include "cli/cost_list.h"
#include "emit/cost_spirv.h"
#include "emit/spirv.h"
#include "text/text.h"

/* In a scratch arena: text and words of a kernel are long, and there are many. */
static bool compiled_cost(qg_arena *arena, const qg_templates *templates, const qg_program *program, qg_cost *cost,
                          const char **why) {
    const qg_kernel *kernel = program->kernel;
    qg_arena *scratch = qg_arena_new();
    const qg_request request = {.layout = kernel->layout,
                                .n_families = 1,
                                .families = &kernel->family,
                                .vulkan = true,
                                .command = "qkgen list --cost"};
    size_t bytes;
    const char *glsl = qg_glsl(scratch, templates, &request, program, why);
    const uint32_t *words = glsl ? qg_spirv_compile(scratch, kernel->name, glsl, &bytes, why) : NULL;
    const bool good = words && qg_cost_of_spirv(scratch, program, words, bytes, cost, why);
    if (!good) *why = qg_format(arena, "%s", *why);
    qg_arena_free(scratch);
    return good;
}

/* ---- table ---- */

static void add_class_heads(qg_text *text) {
    for (uint32_t i = 0; i < QG_COST_CLASSES; ++i)
        qg_text_printf(text, " %*s", i == QG_COST_CONVERSION ? 11 : 7, qg_cost_names[i]);
    qg_text_puts(text, "   total");
}

static void add_head(qg_text *text, bool spirv) {
    qg_text_printf(text, "%-22s %-8s %43s%s\n", "", "", "bytes of a weight | operations for a weight, from the IR",
                   spirv ? "                            | of its SPIR-V, with the loop" : "");
    qg_text_printf(text, "%-22s %-8s %7s %7s %7s |", "format", "family", "stored", "loaded", "written");
    add_class_heads(text);
    if (spirv) qg_text_puts(text, " |");
    if (spirv) add_class_heads(text);
    qg_text_puts(text, "\n");
}

static void add_classes(qg_text *text, const qg_cost *cost) {
    const double weights = cost->weights;
    for (uint32_t i = 0; i < QG_COST_CLASSES; ++i)
        qg_text_printf(text, " %*.4g", i == QG_COST_CONVERSION ? 11 : 7, cost->counts[i] / weights);
    qg_text_printf(text, " %7.4g", qg_cost_total(cost) / weights);
}

static void add_row(qg_text *text, const qg_kernel *kernel, const qg_cost *ir, const qg_cost *spirv) {
    qg_text_printf(text, "%-22s %-8s %7.4g %7.4g %7.4g |", kernel->layout->name, kernel->family->name, ir->stored,
                   (double)ir->loaded / ir->weights, ir->written);
    add_classes(text, ir);
    if (spirv) qg_text_puts(text, " |");
    if (spirv) add_classes(text, spirv);
    qg_text_puts(text, "\n");
}

/* ---- JSON ---- */

static void add_counts(qg_text *text, const char *name, const qg_cost *cost) {
    qg_text_printf(text, ",\n   \"%s\": {", name);
    for (uint32_t i = 0; i < QG_COST_CLASSES; ++i)
        qg_text_printf(text, "\"%s\": %u, ", qg_cost_names[i], cost->counts[i]);
    qg_text_printf(text, "\"loaded_bytes\": %u}", cost->loaded);
}

static void add_item(qg_text *text, const qg_kernel *kernel, const qg_cost *ir, const qg_cost *spirv, bool first) {
    qg_text_printf(text,
                   "%s\n  {\"format\": \"%s\", \"family\": \"%s\", \"type\": \"%s\", \"weights\": %u, \"runs\": %u,",
                   first ? "" : ",", kernel->layout->name, kernel->family->name, qg_scalars[kernel->type].name,
                   ir->weights, kernel->plan->n_runs);
    qg_text_printf(text, "\n   \"stored_bytes_per_weight\": %.9g, \"written_bytes_per_weight\": %.9g", ir->stored,
                   ir->written);
    add_counts(text, "ir", ir);
    if (spirv) add_counts(text, "spirv", spirv);
    qg_text_puts(text, "}");
}

/* ---- */

static bool add_kernel(qg_text *text, const qg_cost_options *o, const qg_templates *templates, const qg_kernel *kernel,
                       bool first, const char **why) {
    const qg_program *program = qg_program_of(text->arena, kernel, QK_API_VULKAN, qg_main_schedule(kernel));
    const qg_cost ir = qg_cost_of_program(program);
    qg_cost spirv;
    if (o->templates && !compiled_cost(text->arena, templates, program, &spirv, why)) return false;
    if (o->json)
        add_item(text, kernel, &ir, o->templates ? &spirv : NULL, first);
    else
        add_row(text, kernel, &ir, o->templates ? &spirv : NULL);
    return true;
}

/* The class that is asked for, or the only one that a family has. What operands cost is counted from the IR alone. */
static const qg_sum_class *class_of(const qg_cost_options *o, const qg_family *family) {
    const bool usual = o->sum == &qg_sum_classes[QG_CLASS_EXACT];
    return family->in_tiles && usual && !o->templates ? &qg_sum_classes[QG_CLASS_MMA] : o->sum;
}

static bool add_all(qg_text *text, const qg_cost_options *o, const qg_templates *templates, const char **why) {
    bool first = true;
    for (uint32_t l = 0; l < o->n_layouts; ++l)
        for (uint32_t f = 0; f < o->n_families; ++f) {
            if (!qg_takes(o->families[f], o->layouts[l]) || o->families[f]->encodes) continue;
            const qg_sum_class *sum = class_of(o, o->families[f]);
            if (o->families[f]->sums && !qg_has_class(text->arena, o->layouts[l], o->families[f], sum)) continue;
            const qg_kernel kernel = qg_kernel_new(text->arena, o->layouts[l], o->families[f], QG_F32, sum);
            if (qg_is_mma(&kernel) && o->templates) {
                *why = "--spirv does not count what matrix units are given: take another class than mma";
                return false;
            }
            if (!add_kernel(text, o, templates, &kernel, first, why)) return false;
            first = false;
        }
    return true;
}

char *qg_cost_list(qg_arena *arena, const qg_cost_options *options, const char **why) {
    qg_templates templates = {0};
    qg_text text = qg_text_new(arena);
    if (options->templates && !qg_templates_load(arena, options->templates, &templates, why)) return NULL;
    if (options->templates && !qg_spirv_open()) {
        *why = "the GLSL compiler cannot be initialised";
        return NULL;
    }
    if (options->json)
        qg_text_puts(&text, "[");
    else
        add_head(&text, options->templates != NULL);
    const bool good = add_all(&text, options, &templates, why);
    if (options->json) qg_text_puts(&text, "\n]\n");
    if (options->templates) qg_spirv_close();
    return good ? text.data : NULL;
}
