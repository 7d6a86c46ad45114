/* `qkgen --dump`: what a stage made of a format. */
#include "cli/command.h"

#include <string.h>

static int dump_dot(qg_session *session, const qg_layout *layout, const char *name) {
    const qg_sum_class *sum;
    if (!qg_session_class(session, &qg_families[QG_FAMILY_GEMV], layout, name, &sum)) return 1;
    const qg_plan *plan = qg_plan_rows(session->arena, layout);
    fputs(qg_dump_ir(session->arena, qg_lower_dot(plan, sum->products)), stdout);
    return 0;
}

/* What `program` is of: a family, a type, a class and an API, each by name. */
typedef struct named {
    const char *family, *type, *sum, *api, *schedule;
} named;

/* The one of that name, or the main one; false after a complaint. */
static bool find_schedule(const qg_kernel *kernel, const char *name, qk_schedule *schedule) {
    const uint32_t all = qg_schedules_of(kernel);
    *schedule = qg_main_schedule(kernel);
    for (uint32_t s = 1; name && s < QK_SCHEDULE_COUNT; ++s)
        if ((all >> s & 1) && strcmp(qg_schedule_name((qk_schedule)s), name) == 0) {
            *schedule = (qk_schedule)s;
            return true;
        }
    return !name || qg_complain("%s has no schedule %s", kernel->name, name) == 0;
}

static int dump_program(qg_session *session, const qg_layout *layout, const named *of) {
    qg_arena *arena = session->arena;
    const qg_sum_class *sum;
    const qg_family *family = qg_family_named(of->family);
    if (!family) return qg_complain("no kernel family is named %s; `qkgen list families` shows them", of->family);
    if (!qg_takes(family, layout)) return qg_complain("%s has no %s: its blocks are patches", layout->name, of->family);
    if (!qg_session_class(session, family, layout, of->sum, &sum)) return 1;
    qg_scalar type = family->types[0];
    uint32_t i = 0;
    while (i < family->n_types && strcmp(qg_scalars[family->types[i]].name, of->type) != 0) ++i;
    if (i == family->n_types) return qg_complain("%s has no type %s", family->name, of->type);
    type = family->types[i];
    const bool metal = strcmp(of->api, "metal") == 0;
    if (!metal && strcmp(of->api, "vulkan") != 0)
        return qg_complain("--api must be vulkan or metal, not '%s'", of->api);
    qg_kernel *kernel = QG_NEW(arena, qg_kernel);
    *kernel = qg_kernel_new(arena, layout, family, type, sum);
    if (metal && !qg_on_metal(kernel)) return qg_complain("class %s is for Vulkan alone", sum->name);
    qk_schedule schedule = QK_SCHEDULE_NONE;
    if (!metal && !find_schedule(kernel, of->schedule, &schedule)) return 1;
    fputs(qg_dump_program(arena, qg_program_of(arena, kernel, metal ? QK_API_METAL : QK_API_VULKAN, schedule)), stdout);
    return 0;
}

int qg_command_dump(qg_session *session, int argc, char **argv) {
    qg_texts rest = {0};
    const char *stage = NULL, *name = NULL;
    named of = {"gemv", "f32", NULL, "vulkan", NULL};
    const qg_option options[] = {
        {"--dump", QG_TEXT, &stage, "STAGE",
         "spec, layout, plan, ir, dot, which is the sum of gemv after its rules, or program, a whole kernel"},
        {"--format", QG_TEXT, &name, "F", "the format"},
        {"--family", QG_TEXT, &of.family, "FAMILY", "of program: the kernel family (default: gemv)"},
        {"--class", QG_TEXT, &of.sum, "C", "of dot, program: the class of the sum, as in emit (default: exact)"},
        {"--type", QG_TEXT, &of.type, "T", "of program: the type of results, or of x (default: f32)"},
        {"--api", QG_TEXT, &of.api, "vulkan|metal", "of program (default: vulkan)"},
        {"--schedule", QG_TEXT, &of.schedule, "S",
         "of program, of sums for vulkan: one of those of emit (default: wide, or rows where there is no such)"},
        QG_SESSION_OPTIONS(session)};
    if (!qg_options_read(session, argc, argv, options, QG_LENGTH(options), &rest)) return 1;
    if (!name) return qg_complain("--dump needs --format F");
    if (!qg_session_load_named(session, name, NULL)) return 1;
    const qg_layout *layout = qg_session_format(session, name);
    if (!layout) return 1;
    const qg_plan *plan = qg_plan_tiles(session->arena, layout);
    if (strcmp(stage, "spec") == 0)
        fputs(qg_dump_spec(session->arena, layout->spec), stdout);
    else if (strcmp(stage, "layout") == 0)
        fputs(qg_dump_layout(session->arena, layout), stdout);
    else if (strcmp(stage, "plan") == 0)
        fputs(qg_dump_plan(session->arena, plan), stdout);
    else if (strcmp(stage, "ir") == 0)
        fputs(qg_dump_ir(session->arena, qg_lower_decode(plan)), stdout);
    else if (strcmp(stage, "dot") == 0)
        return dump_dot(session, layout, of.sum);
    else if (strcmp(stage, "program") == 0)
        return dump_program(session, layout, &of);
    else
        return qg_complain("--dump takes spec, layout, plan, ir, dot or program, not '%s'", stage);
    return 0;
}
