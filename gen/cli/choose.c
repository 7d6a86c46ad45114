/* What `emit` and `list --cost` choose by name. */
#include "cli/choose.h"
#include "cli/command.h"

bool qg_choose_families(qg_session *session, const qg_texts *names, qg_emit_options *emit) {
    const qg_family **families = QG_NEW_ARRAY(session->arena, const qg_family *, qg_n_families + names->count);
    for (uint32_t i = 0; i < qg_n_families; ++i) {
        bool chosen = names->count == 0;
        for (uint32_t n = 0; n < names->count; ++n) chosen |= qg_family_named(names->items[n]) == &qg_families[i];
        if (chosen) families[emit->n_families++] = &qg_families[i];
    }
    for (uint32_t n = 0; n < names->count; ++n)
        if (!qg_family_named(names->items[n]) && !qg_plain_named(names->items[n], NULL) &&
            !qg_plain_set_named(names->items[n]))
            return qg_complain("no kernel family is named %s", names->items[n]) == 0;
    emit->families = families;
    return true;
}

bool qg_choose_layouts(qg_session *session, const qg_texts *names, qg_scalar math, qg_emit_options *emit) {
    const qg_library *library = session->library;
    if (names->count == 0 && emit->n_families == 0) return true; /* all families that are named take no format */
    const bool all = names->count == 0;
    emit->every_format = all && math == QG_F32;
    emit->n_layouts = all ? library->layouts.count : names->count;
    const qg_layout **chosen = QG_NEW_ARRAY(session->arena, const qg_layout *, emit->n_layouts);
    for (uint32_t i = 0; i < emit->n_layouts; ++i) {
        chosen[i] = all ? library->layouts.items[i] : qg_session_format(session, names->items[i]);
        if (!chosen[i]) return false;
        chosen[i] = qg_layout_in(session->arena, chosen[i], math);
    }
    emit->layouts = chosen;
    return true;
}
