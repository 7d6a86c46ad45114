/* From a specification to proven layouts: names once, then every combination of the parameters in turn, the first
 * parameter slowest. The first instance with errors ends the walk, for the others would mostly repeat them. */
#include "spec/check.h"
#include "spec/lex.h"

#include <stdlib.h>
#include <string.h>

/* ---- names ---------------------------------------------------------------------------------------------------- */

typedef struct named_item {
    const char *name;
    qg_loc loc;
    const char *what;
} named_item;

typedef struct name_list {
    named_item items[QG_MAX_PARAMS + QG_MAX_BUFFERS + QG_MAX_FIELDS + QG_MAX_CODES + QG_MAX_TABLES];
    uint32_t count;
} name_list;

static void add_name(qg_diag *diag, name_list *names, const char *name, qg_loc loc, const char *what) {
    const bool stands_in_kernels = strcmp(what, "buffer") == 0 || strcmp(what, "table") == 0;
    const char *problem = stands_in_kernels ? qg_buffer_name_problem(name) : qg_name_problem(name);
    if (problem != NULL) {
        qg_error(diag, loc, "'%s' cannot be the name of a %s: %s; choose another", name, what, problem);
        return;
    }
    for (uint32_t i = 0; i < names->count; i++) {
        if (strcmp(names->items[i].name, name) == 0) {
            qg_error(diag, loc, "the name '%s' is taken: give this %s another", name, what);
            qg_note(diag, names->items[i].loc, "it is taken by this %s", names->items[i].what);
            return;
        }
    }
    names->items[names->count++] = (named_item){name, loc, what};
}

static void check_names(qg_diag *diag, const qg_spec *spec) {
    name_list names;
    names.count = 0;
    for (uint32_t i = 0; i < spec->n_params; i++) {
        add_name(diag, &names, spec->params[i].name, spec->params[i].loc, "parameter");
    }
    for (uint32_t i = 0; i < spec->n_buffers; i++) {
        const qg_spec_buffer *buffer = &spec->buffers[i];
        if (buffer->loc.column != spec->block_loc.column || buffer->loc.line != spec->block_loc.line) {
            add_name(diag, &names, buffer->name, buffer->loc, "buffer");
        }
        for (uint32_t f = 0; f < buffer->n_fields; f++) {
            add_name(diag, &names, buffer->fields[f].name, buffer->fields[f].loc, "field");
        }
    }
    for (uint32_t i = 0; i < spec->n_codes; i++) {
        if (!spec->codes[i].spare) {
            add_name(diag, &names, spec->codes[i].name, spec->codes[i].loc, "code");
        }
    }
    for (uint32_t i = 0; i < spec->n_tables; i++) {
        add_name(diag, &names, spec->tables[i].name, spec->tables[i].loc, "table");
    }
}

/* ---- the name of the format ----------------------------------------------------------------------------------- */

static qg_loc within(qg_loc loc, size_t offset, size_t length) {
    loc.column += (uint32_t)offset;
    loc.length = (uint32_t)length;
    return loc;
}

static bool known_param(const qg_spec *spec, const char *name, size_t length, uint32_t *at) {
    for (*at = 0; *at < spec->n_params; ++*at) {
        if (strlen(spec->params[*at].name) == length && memcmp(spec->params[*at].name, name, length) == 0) {
            return true;
        }
    }
    return false;
}

/* Braces in pairs, with a parameter in each. */
static bool check_braces(qg_diag *diag, const qg_spec *spec, bool *named) {
    for (const char *at = spec->name; *at != '\0'; at++) {
        size_t offset = (size_t)(at - spec->name);
        if (*at == '}') {
            qg_error(diag, within(spec->name_loc, offset, 1),
                     "'}' without '{' in the name: write parameters as {bits}");
            return false;
        }
        if (*at != '{') {
            continue;
        }
        size_t length = strcspn(at + 1, "{}");
        uint32_t param;
        if (at[1 + length] != '}') {
            qg_error(diag, within(spec->name_loc, offset, 1),
                     "'{' without '}' in the name: write parameters as {bits}");
            return false;
        }
        if (!known_param(spec, at + 1, length, &param)) {
            qg_error(diag, within(spec->name_loc, offset, length + 2),
                     "'%.*s' is not a parameter: declare it with 'for', or remove it from the name", (int)length,
                     at + 1);
            return false;
        }
        named[param] = true;
        at += length + 1;
    }
    return true;
}

static void check_pattern(qg_diag *diag, const qg_spec *spec) {
    bool named[QG_MAX_PARAMS] = {false};
    char first = spec->name[0];
    if (first >= '0' && first <= '9') {
        qg_error(diag, spec->name_loc, "the name of a format begins with a letter: '%.64s' does not", spec->name);
        return;
    }
    if (!check_braces(diag, spec, named)) {
        return;
    }
    for (uint32_t i = 0; i < spec->n_params; i++) {
        if (!named[i] && spec->params[i].n_values > 1) {
            qg_error(diag, spec->name_loc,
                     "parameter '%s' is not in the name of the format, so that instances would share a name: write "
                     "{%s} in it",
                     spec->params[i].name, spec->params[i].name);
        } else if (!named[i]) {
            qg_error(diag, spec->name_loc, "parameter '%s' is not in the name of the format: write {%s} in it",
                     spec->params[i].name, spec->params[i].name);
        }
    }
}

static const char *bound_text(qg_arena *arena, const qg_spec *spec, uint32_t param, int64_t value) {
    return spec->params[param].is_type ? qg_scalars[value].name : qg_format(arena, "%lld", (long long)value);
}

static const char *instance_name(qg_arena *arena, const qg_spec *spec, const int64_t *bound) {
    qg_text text = qg_text_new(arena);
    for (const char *at = spec->name; *at != '\0';) {
        size_t length = strcspn(at, "{");
        qg_text_add(&text, at, length);
        at += length;
        if (*at == '{') {
            uint32_t param;
            length = strcspn(at, "}");
            known_param(spec, at + 1, length - 1, &param);
            qg_text_puts(&text, bound_text(arena, spec, param, bound[param]));
            at += length + 1;
        }
    }
    return text.data;
}

static const char *instance_parameters(qg_arena *arena, const qg_spec *spec, const int64_t *bound) {
    qg_text text = qg_text_new(arena);
    qg_text_puts(&text, "");
    for (uint32_t i = 0; i < spec->n_params; i++) {
        qg_text_printf(&text, "%s%s = %s", i == 0 ? "" : ", ", spec->params[i].name,
                       bound_text(arena, spec, i, bound[i]));
    }
    return text.data;
}

/* ---- instances ------------------------------------------------------------------------------------------------ */

static void check_used(qg_work *work) {
    for (uint32_t c = 0; c < work->n_codes; c++) {
        if (!work->used[c] && work->codes[c].width != 0) {
            qg_error(work->diag, work->codes[c].loc,
                     "code '%s' is never used by the value: use it there, or declare its bits spare",
                     work->codes[c].name);
        }
    }
    for (uint32_t t = 0; t < work->spec->n_tables; t++) {
        if (!work->table_used[t]) {
            qg_error(work->diag, work->spec->tables[t].loc,
                     "table '%s' is never used by the value: use it there, or remove it", work->spec->tables[t].name);
        }
    }
}

static bool within_budget(qg_work *work) {
    if (work->cost <= QG_MAX_WORK) {
        return true;
    }
    qg_error(work->diag, work->spec->name_loc,
             "the instances of this specification are too large together: split the parameters over several files");
    return false;
}

/* Lays out, types and proves one instance; finds as many errors as it can. */
static const qg_term *check_instance(qg_work *work, const qg_encode **encode) {
    work->cost += 64 * ((uint64_t)work->spec->n_exprs + work->spec->n_codes + work->spec->n_tables);
    bool laid_out = qg_layout_fields(work);
    bool filled = qg_fill_tables(work);
    if (!laid_out || !within_budget(work)) {
        return NULL;
    }
    qg_layout_codes(work);
    bool indexed = qg_layout_indices(work);
    const qg_term *value = qg_type_value(work);
    if (value != NULL && indexed) {
        check_used(work);
        *encode = qg_type_encode(work);
    }
    if (!within_budget(work)) {
        return NULL;
    }
    qg_prove_cover(work, value != NULL);
    return filled && indexed ? value : NULL;
}

static qg_layout *finish(const qg_work *work, const qg_term *value, const qg_encode *encode, const char *name) {
    qg_layout *layout = QG_NEW(work->arena, qg_layout);
    *layout = (qg_layout){.spec = work->spec,
                          .name = name,
                          .format = name,
                          .math = QG_F32,
                          .summary = work->spec->summary,
                          .elements = work->elements,
                          .view = work->view,
                          .ragged = work->spec->ragged,
                          .block_rows = work->block_rows,
                          .block_cols = work->block_cols,
                          .parameters = instance_parameters(work->arena, work->spec, work->bound),
                          .n_buffers = work->spec->n_buffers,
                          .buffers = work->buffers,
                          .n_fields = work->n_fields,
                          .fields = work->fields,
                          .n_codes = work->n_codes,
                          .codes = work->codes,
                          .n_spares = work->n_spares,
                          .spares = work->spares,
                          .n_tables = work->spec->n_tables,
                          .tables = work->tables,
                          .n_terms = work->n_terms,
                          .value = value,
                          .encode = encode,
                          .block_bytes = work->block_bytes};
    return layout;
}

static bool check_instance_name(qg_diag *diag, const qg_spec *spec, const char *name) {
    const char *problem = qg_name_problem(name);
    if (problem == NULL && strlen(name) > QG_MAX_NAME) {
        problem = "it has more than 64 characters";
    }
    if (problem != NULL) {
        qg_error(diag, spec->name_loc, "'%.80s' cannot be the name of a format: %s; choose another", name, problem);
    }
    return problem == NULL;
}

static int by_name(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

/* Different parameters can give one name: x{a}{b} with 1, 11 and 11, 1. */
static void check_distinct(qg_arena *arena, qg_diag *diag, const qg_spec *spec, const qg_layouts *layouts) {
    const char **sorted = QG_NEW_ARRAY(arena, const char *, layouts->count);
    for (uint32_t i = 0; i < layouts->count; i++) {
        sorted[i] = layouts->items[i]->name;
    }
    qsort(sorted, layouts->count, sizeof *sorted, by_name);
    for (uint32_t i = 1; i < layouts->count; i++) {
        if (strcmp(sorted[i - 1], sorted[i]) == 0) {
            qg_error(diag, spec->name_loc,
                     "two instances are both named '%s': separate the parameters in the name, as in b{bits}_g{group}",
                     sorted[i]);
            return;
        }
    }
}

/* Steps to the next combination; false after the last. */
static bool next_instance(const qg_spec *spec, uint32_t *at, int64_t *bound) {
    for (uint32_t i = spec->n_params; i-- > 0;) {
        at[i] = at[i] + 1 < spec->params[i].n_values ? at[i] + 1 : 0;
        bound[i] = spec->params[i].values[at[i]];
        if (at[i] != 0) {
            return true;
        }
    }
    return false;
}

static bool count_instances(qg_diag *diag, const qg_spec *spec, uint32_t *count) {
    *count = 1;
    for (uint32_t i = 0; i < spec->n_params; i++) {
        *count *= spec->params[i].n_values;
        if (*count > QG_MAX_INSTANCES) {
            qg_error(diag, spec->params[i].loc, "the parameters give more than %d formats: remove values",
                     QG_MAX_INSTANCES);
            return false;
        }
    }
    return true;
}

static void check_instances(qg_arena *arena, qg_diag *diag, const qg_spec *spec, qg_layouts *layouts) {
    uint32_t at[QG_MAX_PARAMS] = {0}, errors_before = diag->errors;
    int64_t bound[QG_MAX_PARAMS];
    uint64_t cost = 0;
    for (uint32_t i = 0; i < spec->n_params; i++) {
        bound[i] = spec->params[i].values[0];
    }
    do {
        qg_work work = {.arena = arena, .diag = diag, .spec = spec, .bound = bound, .cost = cost};
        const char *name = instance_name(arena, spec, bound);
        const qg_encode *encode = NULL;
        const qg_term *value = check_instance_name(diag, spec, name) ? check_instance(&work, &encode) : NULL;
        if (diag->errors != errors_before) {
            if (spec->n_params > 0) {
                qg_note(diag, spec->params[0].loc, "found with %s", instance_parameters(arena, spec, bound));
            }
            return;
        }
        layouts->items[layouts->count++] = finish(&work, value, encode, name);
        cost = work.cost;
    } while (next_instance(spec, at, bound));
    check_distinct(arena, diag, spec, layouts);
}

qg_layouts qg_check(qg_arena *arena, qg_diag *diag, const qg_spec *spec) {
    qg_layouts layouts = {0};
    uint32_t count, errors_before = diag->errors;
    check_names(diag, spec);
    check_pattern(diag, spec);
    if (!count_instances(diag, spec, &count) || diag->errors != errors_before) {
        return layouts;
    }
    layouts.items = QG_NEW_ARRAY(arena, const qg_layout *, count);
    check_instances(arena, diag, spec, &layouts);
    return diag->errors == errors_before ? layouts : (qg_layouts){0};
}
