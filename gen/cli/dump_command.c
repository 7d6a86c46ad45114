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

int qg_command_dump(qg_session *session, int argc, char **argv) {
    qg_texts rest = {0};
    const char *stage = NULL, *name = NULL, *sum_name = NULL;
    const qg_option options[] = {

        {"--dump", QG_TEXT, &stage, "STAGE",
         "spec, layout, plan, ir, or dot, which is the sum of gemv after its rules"},
        {"--format", QG_TEXT, &name, "F", "the format"},
        {"--class", QG_TEXT, &sum_name, "C", "of dot: the class of the sum, as in emit (default: exact)"},
        QG_SESSION_OPTIONS(session)};
    if (!qg_options_read(session, argc, argv, options, QG_LENGTH(options), &rest)) return 1;
    if (!name) return qg_complain("--dump needs --format F");
    if (!qg_session_load(session)) return 1;
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
        return dump_dot(session, layout, sum_name);
    else
        return qg_complain("--dump takes spec, layout, plan, ir or dot, not '%s'", stage);
    return 0;
}
