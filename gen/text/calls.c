/* What the stub and the reference of a kernel take, which follows from the call of its family's row: what is bound has
 * a type by its role, and all else is a number. */
#include "text/text.h"

#include <string.h>

enum { QG_ONE_LINE = 7, QG_LEAST_FIRST = 5 };

/* Longer lists have two lines, of which the first has at least five. */
static const char *in_lines(qg_arena *arena, const char *const *items, uint32_t count) {
    const uint32_t half = (count + 1) / 2, first = half < QG_LEAST_FIRST ? QG_LEAST_FIRST : half;
    qg_text text = qg_text_new(arena);
    qg_text_puts(&text, "");
    for (uint32_t i = 0; i < count; ++i) {
        if (i) qg_text_puts(&text, count > QG_ONE_LINE && i == first ? ",\n    " : ", ");
        qg_text_puts(&text, items[i]);
    }
    return text.data;
}

static const char *stub_type(const qg_family *family, const char *name) {
    if (family == &qg_transcode && strcmp(name, "to") == 0) return "const qk_range *";
    return qg_family_binding_named(family, name) ? "qk_range " : "uint64_t ";
}

/* NULL: the reference does not take it, or takes it behind all others, as what it writes or encodes. */
static const char *reference_type(const qg_family *family, const char *name) {
    const struct qg_family_binding *binding = qg_family_binding_named(family, name);
    if (!binding) return family == &qg_transcode && strcmp(name, "to") == 0 ? NULL : "uint64_t ";
    if (binding->role == QK_ROLE_INDICES) return "const uint32_t *";
    return binding->role == QK_ROLE_INPUT && family->sums ? "const $X *" : NULL;
}

static const char *parameters(qg_arena *arena, const qg_family *family, const qg_layout *layout,
                              const char *(*type)(const qg_family *, const char *)) {
    const char **items = NULL;
    uint32_t count = 0, capacity = 0;
    for (const char *at = qg_checked_call(family, layout)->arguments; *at;) {
        const size_t length = strcspn(at, ",");
        const char *name = qg_strndup(arena, at, length), *is = type(family, name);
        if (is) QG_PUSH(arena, items, count, capacity, qg_format(arena, "%s%s", is, name));
        at += length + strspn(at + length, ", ");
    }
    return in_lines(arena, items, count);
}

const char *qg_stub_parameters(qg_arena *arena, const qg_family *family, const qg_layout *layout) {
    return parameters(arena, family, layout, stub_type);
}

const char *qg_reference_parameters(qg_arena *arena, const qg_family *family, const qg_layout *layout) {
    return parameters(arena, family, layout, reference_type);
}

const char *qg_reference_result(const qg_family *family) {
    return qg_has_role(family, QK_ROLE_STATUS) ? "uint64_t" : "void";
}
