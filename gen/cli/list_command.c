/* `qkgen list`: formats, families, and what kernels cost. */
#include "cli/choose.h"
#include "cli/cost_list.h"

#include <string.h>

static int list_families(void) {
    for (uint32_t i = 0; i < qg_n_families; ++i)
        printf("%-22s of each format  %s\n", qg_families[i].name, qg_families[i].summary);
    for (uint32_t s = 0; s < qg_n_plain_sets; ++s)
        for (uint32_t i = 0; i < qg_plain_sets[s].n_families; ++i)
            printf("%-22s without format  %s\n", qg_plain_sets[s].families[i].name,
                   qg_plain_sets[s].families[i].summary);
    return 0;
}

static int list_formats(const qg_session *session) {
    for (uint32_t i = 0; i < session->library->layouts.count; ++i) {
        const qg_layout *l = session->library->layouts.items[i];
        printf("%-22s %5.4g bits  %4u elements in %4u bytes  %s\n", l->name, qg_bits_per_element(l), l->elements,
               l->block_bytes, l->summary);
    }
    return 0;
}

/* What follows `list --cost`. */
typedef struct cost_options {
    qg_texts formats, families;
    const char *sum;
    bool cost, spirv, json;
} cost_options;

static int list_costs(qg_session *session, const cost_options *o) {
    qg_emit_options chosen = {0};
    for (uint32_t i = 0; i < o->families.count; ++i)
        if (qg_plain_named(o->families.items[i], NULL) || qg_plain_set_named(o->families.items[i]))
            return qg_complain("%s takes no format, and has no cost for each weight", o->families.items[i]);
    if (!qg_choose_families(session, &o->families, &chosen) ||
        !qg_choose_layouts(session, &o->formats, QG_F32, &chosen))
        return 1;
    const qg_sum_class *sum;
    if (!qg_session_class(session, &qg_families[QG_FAMILY_GEMV], NULL, o->sum, &sum)) return 1;
    if (o->spirv && sum->digits)
        return qg_complain("--spirv counts no digits of x: take --class exact or half, or leave --spirv out");
    const qg_cost_options options = {.n_layouts = chosen.n_layouts,
                                     .sum = sum,
                                     .layouts = chosen.layouts,
                                     .n_families = chosen.n_families,
                                     .families = chosen.families,
                                     .templates = o->spirv ? qg_session_templates(session) : NULL,
                                     .json = o->json};
    const char *why = NULL, *text = qg_cost_list(session->arena, &options, &why);
    if (!text) return qg_complain("%s", why);
    fputs(text, stdout);
    return 0;
}

int qg_command_list(qg_session *session, int argc, char **argv) {
    qg_texts rest = {0};
    cost_options o = {0};
    const qg_option options[] = {
        {"--cost", QG_FLAG, &o.cost, NULL, "the operations and bytes of each kernel for a weight, counted"},
        {"--format", QG_TEXTS, &o.formats, "F", "of --cost: a format (default: all)"},
        {"--family", QG_TEXTS, &o.families, "FAMILY", "of --cost: a kernel family (default: all)"},
        {"--class", QG_TEXT, &o.sum, "C", "of --cost: the class of sums, as in emit (default: exact)"},
        {"--spirv", QG_FLAG, &o.spirv, NULL, "of --cost: beside it, the count in the compiled SPIR-V"},
        {"--json", QG_FLAG, &o.json, NULL, "of --cost: writes JSON"},
        QG_SESSION_OPTIONS(session)};
    if (!qg_options_read(session, argc, argv, options, QG_LENGTH(options), &rest)) return 1;
    if (!o.cost && (o.formats.count || o.families.count || o.sum || o.spirv || o.json))
        return qg_complain("--format, --family, --class, --spirv and --json belong to list --cost");
    if (rest.count == 1 && strcmp(rest.items[0], "families") == 0 && !o.cost) return list_families();
    if (rest.count) return qg_complain("list takes nothing, --cost, or `families`, not '%s'", rest.items[0]);
    if (!qg_session_load(session)) return 1;
    return o.cost ? list_costs(session, &o) : list_formats(session);
}
