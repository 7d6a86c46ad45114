/* Which format each tensor of a container has, and of which shape it is: the rules, applied. */
#include "files/rules.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_BINDINGS = 8, MAX_FITS = 32, MAX_TEXT = 1 << 20 };

typedef struct mapper {
    qg_arena *arena;
    const qg_container *container;
    const qg_rules *rules;
    const qg_library *formats;
    const qg_settings *said, *configured;
    bool *used; /* tensors that belong to a weight */
    qg_weights *weights;
} mapper;

/* ---- names with parameters ---- */

typedef struct binding {
    const char *name, *value;
    size_t name_length, value_length;
} binding;

/* A format that a set of tensors may have. */
typedef struct fit {
    const qg_layout *layout;
    qg_shape shape;
    uint32_t n_bindings;
    binding bindings[MAX_BINDINGS];
} fit;

static bool alnum(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/* `{name}` stands for letters and digits. */
static bool match_name(const char *pattern, const char *name, fit *f) {
    while (*pattern) {
        if (*pattern != '{') {
            if (*pattern++ != *name++) return false;
            continue;
        }
        const char *close = strchr(pattern, '}');
        if (!close || f->n_bindings == MAX_BINDINGS) return false;
        binding *b = &f->bindings[f->n_bindings++];
        *b = (binding){.name = pattern + 1, .value = name, .name_length = (size_t)(close - pattern - 1)};
        while (alnum(*name)) name += 1;
        b->value_length = (size_t)(name - b->value);
        if (!b->value_length) return false;
        pattern = close + 1;
    }
    return !*name;
}

static const binding *find_binding(const fit *f, const char *name, size_t length) {
    for (uint32_t i = 0; i < f->n_bindings; ++i)
        if (f->bindings[i].name_length == length && memcmp(f->bindings[i].name, name, length) == 0)
            return &f->bindings[i];
    return NULL;
}

static bool binds(const fit *f, const char *name, const char *value) {
    const binding *b = find_binding(f, name, strlen(name));
    return b && strlen(value) == b->value_length && memcmp(b->value, value, b->value_length) == 0;
}

/* The text with the values of its parameters; NULL when it names one that the format does not have. */
static const char *fill_in(qg_arena *arena, const char *text, const fit *f) {
    qg_text out = qg_text_new(arena);
    while (*text) {
        const char *open = strchr(text, '{'), *close = open ? strchr(open, '}') : NULL;
        if (!close) {
            qg_text_puts(&out, text);
            break;
        }
        const binding *b = find_binding(f, open + 1, (size_t)(close - open - 1));
        if (!b) return NULL;
        qg_text_add(&out, text, (size_t)(open - text));
        qg_text_add(&out, b->value, b->value_length);
        text = close + 1;
    }
    return out.data ? out.data : "";
}

/* ---- settings ---- */

/* The first setting of a module, or of a later one. */
static uint32_t first_setting(const qg_settings *settings, const char *module) {
    uint32_t low = 0, high = settings->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (strcmp(settings->items[middle].module, module) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const char *find_setting(const qg_settings *settings, const char *module, const char *name) {
    for (uint32_t i = first_setting(settings, module);
         i < settings->count && strcmp(settings->items[i].module, module) == 0; ++i)
        if (strcmp(settings->items[i].name, name) == 0) return settings->items[i].value;
    return NULL;
}

/* ---- the tensors of a rule ---- */

/* What a rule finds beside a tensor. */
typedef struct set {
    const qg_set_rule *rule;
    const char *stem;
    uint32_t n_there;                       /* of the rule's types */
    const qg_tensor *tensors[QG_MAX_PARTS]; /* NULL: not there */
    qg_settings beside;                     /* what tensors beside them tell */
} set;

static const qg_tensor *find_part(const mapper *m, const char *stem, const char *suffix) {
    const qg_tensor *t = qg_container_find(m->container, qg_format(m->arena, "%s%s", stem, suffix));
    return t && !m->used[t - m->container->tensors] ? t : NULL;
}

/* A type in braces is a parameter of the format's name. */
static bool has_type(const mapper *m, const char *type, const qg_tensor *t) {
    return *type == '{' ? qg_rules_type(m->rules, m->container->kind, t->type) != NULL : qg_type_listed(type, t->type);
}

/* Finds the tensors of a rule by the name of its first; false when that or another one has a wrong name or type. */
static bool find_set(const mapper *m, const qg_set_rule *rule, const qg_tensor *first, set *s) {
    const size_t length = strlen(first->name), suffix = strlen(rule->suffix[0]);
    if (length < suffix || strcmp(first->name + length - suffix, rule->suffix[0]) != 0) return false;
    if (!has_type(m, rule->type[0], first)) return false;
    *s = (set){.rule = rule, .stem = qg_strndup(m->arena, first->name, length - suffix)};
    for (uint32_t i = 0; i < rule->n_absent; ++i)
        if (qg_container_find(m->container, qg_format(m->arena, "%s%s", s->stem, rule->absent[i]))) return false;
    for (uint32_t i = 0; i < rule->n_buffers; ++i) {
        const qg_tensor *t = i ? find_part(m, s->stem, rule->suffix[i]) : first;
        if (t && !has_type(m, rule->type[i], t)) return false;
        s->tensors[i] = t;
        s->n_there += t != NULL;
    }
    return true;
}

/* ---- tensors that tell about a weight ---- */

static void add_beside(const mapper *m, set *s, const char *name, const char *value) {
    const qg_setting setting = {.module = "", .name = name, .value = value};
    QG_PUSH(m->arena, s->beside.items, s->beside.count, s->beside.capacity, setting);
}

/* Whole numbers, little-endian, as "4" or "64x256"; NULL when the tensor does not hold some. */
static const char *read_numbers(const mapper *m, const qg_tensor *t) {
    const uint64_t size = t->elements ? t->bytes / t->elements : 0;
    qg_text text = qg_text_new(m->arena);
    if (t->elements > QG_MAX_DIMS || (size != 1 && size != 2 && size != 4 && size != 8) ||
        t->bytes != t->elements * size)
        return NULL;
    for (uint64_t i = 0; i < t->elements; ++i) {
        uint64_t number = 0;
        for (uint64_t k = 0; k < size; ++k) number |= (uint64_t)m->container->file[t->offset + i * size + k] << (8 * k);
        qg_text_printf(&text, "%s%llu", i ? "x" : "", (unsigned long long)number);
    }
    return text.data;
}

static const char *read_beside(const mapper *m, const qg_beside_rule *rule, const qg_tensor *t, set *s) {
    const char *why = NULL;
    if (rule->numbers) {
        const char *value = read_numbers(m, t);
        if (value) add_beside(m, s, rule->numbers, value);
    }
    if (rule->n_keys) {
        const char *text = (const char *)m->container->file + t->offset;
        if (t->bytes > MAX_TEXT)
            return QG_AT(m->arena, t->place,
                         "the tensor '%s' must be the text of a JSON object, and has more than %d bytes; the file is "
                         "damaged: fetch it again",
                         t->name, MAX_TEXT);
        why = qg_settings_object(m->arena, text, (size_t)t->bytes, rule->n_keys, rule->parameters, rule->keys,
                                 &s->beside);
    }
    return why ? QG_AT(m->arena, t->place, "the tensor '%s' must be the text of a JSON object, and at its %s", t->name,
                       why)
               : NULL;
}

static const char *read_besides(const mapper *m, set *s) {
    const char *why = NULL;
    for (uint32_t i = 0; i < m->rules->besides.count && !why; ++i) {
        const qg_beside_rule *rule = &m->rules->besides.items[i];
        const qg_tensor *t = find_part(m, s->stem, rule->suffix);
        if (t && qg_type_listed(rule->type, t->type)) why = read_beside(m, rule, t, s);
    }
    return why;
}

static void use_set(const mapper *m, const set *s) {
    for (uint32_t i = 0; i < s->rule->n_buffers; ++i)
        if (s->tensors[i]) m->used[s->tensors[i] - m->container->tensors] = true;
    for (uint32_t i = 0; i < m->rules->besides.count; ++i) {
        const qg_beside_rule *rule = &m->rules->besides.items[i];
        const qg_tensor *t = find_part(m, s->stem, rule->suffix);
        if (t && qg_type_listed(rule->type, t->type)) m->used[t - m->container->tensors] = true;
    }
}

/* ---- formats that fit ---- */

static bool fits_types(const mapper *m, const set *s, const fit *f) {
    for (uint32_t i = 0; i < s->rule->n_buffers; ++i) {
        if (s->rule->type[i][0] != '{') continue;
        const char *scalar = qg_rules_type(m->rules, m->container->kind, s->tensors[i]->type);
        const char *name = s->rule->type[i] + 1, *close = strchr(name, '}');
        if (!scalar || !close) return false;
        const binding *b = find_binding(f, name, (size_t)(close - name));
        if (!b || strlen(scalar) != b->value_length || memcmp(scalar, b->value, b->value_length) != 0) return false;
    }
    return true;
}

/* What is said of a parameter: by the user, beside the tensors, by the configuration of the module,
 * and of the model. */
static const char *value_of(const mapper *m, const set *s, const char *name) {
    const char *value = find_setting(m->said, "", name);
    if (!value) value = find_setting(&s->beside, "", name);
    if (!value && *s->stem) value = find_setting(m->configured, s->stem, name);
    return value ? value : find_setting(m->configured, "", name);
}

static bool fits_conditions(const mapper *m, const set *s, const fit *f) {
    for (uint32_t i = 0; i < s->rule->n_conditions; ++i) {
        const qg_condition *c = &s->rule->conditions[i];
        const char *value = value_of(m, s, c->parameter), *asked = fill_in(m->arena, c->value, f);
        if (value ? !asked || strcmp(value, asked) != 0 : c->needed) return false;
    }
    return true;
}

/* The rule's tensors in the order of the format's buffers. */
static bool order_tensors(const qg_layout *layout, const set *s, const qg_tensor **ordered) {
    if (layout->n_buffers != s->rule->n_buffers) return false;
    for (uint32_t b = 0; b < layout->n_buffers; ++b) {
        uint32_t i = 0;
        while (i < s->rule->n_buffers && strcmp(layout->buffers[b].name, s->rule->buffer[i]) != 0) i += 1;
        if (i == s->rule->n_buffers) return false;
        ordered[b] = s->tensors[i];
    }
    return true;
}

/* A shape beside the tensors must be theirs; one that the user said is for those whose shape is open. */
static bool fits_shape(const mapper *m, const set *s, fit *f) {
    const qg_tensor *tensors[QG_MAX_PARTS];
    if (!order_tensors(f->layout, s, tensors)) return false;
    const char *beside = find_setting(&s->beside, "", "shape"), *said = find_setting(m->said, "", "shape");
    if (beside) return qg_shape_solve(f->layout, tensors, beside, &f->shape);
    return (said && qg_shape_solve(f->layout, tensors, said, &f->shape)) ||
           qg_shape_solve(f->layout, tensors, NULL, &f->shape);
}

static uint32_t find_fits(const mapper *m, const set *s, fit *fits) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < m->formats->layouts.count && count < MAX_FITS; ++i) {
        fit *f = &fits[count];
        *f = (fit){.layout = m->formats->layouts.items[i]};
        count += match_name(s->rule->format, f->layout->name, f) && fits_types(m, s, f) && fits_conditions(m, s, f) &&
                 fits_shape(m, s, f);
    }
    return count;
}

/* Keeps the fits that agree with a setting, unless there are none. */
static void keep_binding(fit *fits, uint32_t *count, const qg_setting *s) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < *count; ++i) kept += binds(&fits[i], s->name, s->value);
    if (!kept) return;
    for (uint32_t i = kept = 0; i < *count; ++i)
        if (binds(&fits[i], s->name, s->value)) fits[kept++] = fits[i];
    *count = kept;
}

static void keep_settings(fit *fits, uint32_t *count, const qg_settings *settings, const char *module) {
    for (uint32_t i = first_setting(settings, module);
         *count > 1 && i < settings->count && strcmp(settings->items[i].module, module) == 0; ++i)
        keep_binding(fits, count, &settings->items[i]);
}

static bool has_word(const char *text, const char *word) {
    const size_t length = strlen(word);
    for (const char *at = strstr(text, word); at && length; at = strstr(at + 1, word))
        if ((at == text || !alnum(at[-1])) && !alnum(at[length])) return true;
    return false;
}

static void keep_named(const mapper *m, const char *stem, fit *fits, uint32_t *count) {
    for (uint32_t n = 0; n<m->rules->names.count && * count> 1; ++n) {
        uint32_t kept = 0;
        fit named[MAX_FITS];
        for (uint32_t i = 0; i < *count; ++i) {
            const char *word = fill_in(m->arena, m->rules->names.items[n], &fits[i]);
            if (word && has_word(stem, word)) named[kept++] = fits[i];
        }
        if (kept) memcpy(fits, named, kept * sizeof *fits);
        if (kept) *count = kept;
    }
}

/* What the shapes leave open: the user says it, or tensors beside, or the configuration, or the tensor's name. */
static void decide(const mapper *m, const set *s, fit *fits, uint32_t *count) {
    keep_settings(fits, count, m->said, "");
    keep_settings(fits, count, &s->beside, "");
    if (*s->stem) keep_settings(fits, count, m->configured, s->stem);
    keep_settings(fits, count, m->configured, "");
    if (*count > 1) keep_named(m, s->stem, fits, count);
}

/* ---- a weight in several tensors ---- */

static void add_weight(const mapper *m, qg_weight w) {
    QG_PUSH(m->arena, m->weights->items, m->weights->count, m->weights->capacity, w);
}

static const char *say_several(const mapper *m, const fit *fits, uint32_t count) {
    qg_text text = qg_text_new(m->arena);
    qg_text_puts(&text, "may be ");
    for (uint32_t i = 0; i < count; ++i)
        qg_text_printf(&text, "%s%s", i == 0 ? "" : i + 1 < count ? ", " : " or ", fits[i].layout->name);
    const binding *b = fits[0].n_bindings ? &fits[0].bindings[0] : NULL;
    for (uint32_t i = 0; b && i < fits[0].n_bindings; ++i) {
        const binding *first = &fits[0].bindings[i], *last = &fits[count - 1].bindings[i];
        if (first->value_length == last->value_length && memcmp(first->value, last->value, first->value_length) == 0)
            continue;
        b = first;
        break;
    }
    if (b)
        qg_text_printf(&text, "; choose with --set %.*s=%.*s or another value", (int)b->name_length, b->name,
                       (int)b->value_length, b->value);
    return text.data;
}

static void add_set(const mapper *m, const set *s, const fit *fits, uint32_t count) {
    const qg_tensor *first = s->tensors[0], *ordered[QG_MAX_PARTS];
    const fit *f = &fits[0];
    qg_weight w = {.name = first->name,
                   .stem = s->stem,
                   .place = first->place,
                   .format = f->layout->name,
                   .layout = f->layout,
                   .plain = QG_SCALAR_COUNT,
                   .elements = f->shape.elements,
                   .rows = f->shape.rows,
                   .cols = f->shape.cols,
                   .n_dims = f->shape.n_dims};
    memcpy(w.dims, f->shape.dims, sizeof w.dims);
    const void **data = QG_NEW_ARRAY(m->arena, const void *, s->rule->n_buffers);
    if (order_tensors(f->layout, s, ordered))
        for (uint32_t b = 0; b < f->layout->n_buffers; ++b) {
            data[b] = m->container->file + ordered[b]->offset;
            w.bytes += ordered[b]->bytes;
        }
    w.data = data;
    if (count > 1) {
        w.layout = NULL;
        w.format = "several fit";
        w.verdict = "which one?";
        w.problem = say_several(m, fits, count);
    }
    use_set(m, s);
    add_weight(m, w);
}

/* ---- sets that are no weight ---- */

static void say_rule(qg_text *text, const qg_set_rule *rule) {
    qg_text_puts(text, rule->format);
    for (uint32_t i = 0; i < rule->n_conditions; ++i)
        qg_text_printf(text, "%s%s=%s", i ? ", " : " (where ", rule->conditions[i].parameter,
                       rule->conditions[i].value);
    if (rule->n_conditions) qg_text_puts(text, ")");
}

static void say_shape(qg_text *text, const qg_tensor *t) {
    qg_text_printf(text, " %s[", t->type);
    for (uint32_t i = 0; i < t->n_dims; ++i)
        qg_text_printf(text, "%s%llu", i ? "x" : "", (unsigned long long)t->dims[i]);
    qg_text_puts(text, "]");
}

static void add_refused(const mapper *m, const set *s, const char *format, const char *problem) {
    const qg_tensor *first = s->tensors[0];
    qg_weight w = {.name = first->name,
                   .stem = s->stem,
                   .place = first->place,
                   .format = format,
                   .plain = QG_SCALAR_COUNT,
                   .verdict = "refused",
                   .problem = problem,
                   .elements = first->elements,
                   .n_dims = first->n_dims};
    memcpy(w.dims, first->dims, sizeof w.dims);
    use_set(m, s);
    add_weight(m, w);
}

/* All tensors of one rule or of several, and no format has their shapes. */
static void refuse_shapes(const mapper *m, const set *sets, uint32_t count) {
    const set *largest = &sets[0];
    bool too_large = false;
    qg_text text = qg_text_new(m->arena);
    for (uint32_t i = 1; i < count; ++i)
        if (sets[i].n_there > largest->n_there) largest = &sets[i];
    qg_text_puts(&text, "fits no known format of ");
    for (uint32_t i = 0; i < count; ++i) {
        if (i) qg_text_puts(&text, i + 1 < count ? ", " : " or ");
        say_rule(&text, sets[i].rule);
    }
    for (uint32_t i = 0; i < largest->rule->n_buffers; ++i) {
        qg_text_printf(&text, "%s%s", i ? ", " : ": it has ", largest->rule->suffix[i]);
        say_shape(&text, largest->tensors[i]);
        too_large = too_large || largest->tensors[i]->elements > UINT32_MAX;
    }
    if (too_large) qg_text_puts(&text, ", and a matrix has less than 2^32 elements");
    const char *shape = find_setting(&largest->beside, "", "shape");
    if (shape)
        qg_text_printf(&text, ", and says that its shape is %s", qg_printable(m->arena, shape, strlen(shape), true));
    qg_text_puts(&text, "; fetch the file again if it is damaged, or describe the format with --spec and --rules");
    add_refused(m, largest, "none fits", text.data);
}

static void refuse_incomplete(const mapper *m, const set *s) {
    qg_text text = qg_text_new(m->arena);
    qg_text_puts(&text, "has no ");
    for (uint32_t i = 0, n = 0; i < s->rule->n_buffers; ++i)
        if (!s->tensors[i]) qg_text_printf(&text, "%s%s%s", n++ ? ", " : "", s->stem, s->rule->suffix[i]);
    qg_text_printf(&text, " beside it, which %s needs; verify the file that has all of its tensors", s->rule->format);
    add_refused(m, s, "incomplete", text.data);
}

static uint32_t n_missing(const set *s) { return s->rule->n_buffers - s->n_there; }

/* Maps what starts with this tensor by the first rule that fits. Where none does, two tensors of a rule show what was
 * meant: the set is refused. */
static const char *map_set(const mapper *m, const qg_tensor *first) {
    enum { MAX_SETS = 8 };
    set complete[MAX_SETS], partial = {0}, s;
    uint32_t n_complete = 0;
    for (uint32_t i = 0; i < m->rules->sets.count; ++i) {
        fit fits[MAX_FITS];
        if (!find_set(m, &m->rules->sets.items[i], first, &s)) continue;
        if (s.n_there < s.rule->n_buffers) {
            if (s.n_there > 1 && (!partial.rule || n_missing(&s) < n_missing(&partial))) partial = s;
            continue;
        }
        const char *why = read_besides(m, &s);
        if (why) return why;
        uint32_t count = find_fits(m, &s, fits);
        if (count) {
            decide(m, &s, fits, &count);
            add_set(m, &s, fits, count);
            return NULL;
        }
        if (n_complete < MAX_SETS) complete[n_complete++] = s;
    }
    if (n_complete)
        refuse_shapes(m, complete, n_complete);
    else if (partial.rule)
        refuse_incomplete(m, &partial);
    return NULL;
}

/* ---- a weight in one tensor ---- */

/* The scalar of whole bytes that a name means, or QG_SCALAR_COUNT. */
static qg_scalar plain_type(const char *name) {
    const qg_scalar type = name ? qg_scalar_named(name, strlen(name)) : QG_SCALAR_COUNT;
    return type != QG_SCALAR_COUNT && qg_scalars[type].bits % 8 == 0 ? type : QG_SCALAR_COUNT;
}

/* The bytes that a tensor has by its type must be those that the container says or has room for. */
static const char *check_bytes(const mapper *m, const qg_tensor *t, uint64_t units, uint64_t bytes, const char *name) {
    const bool sized = m->container->sized;
    if (units <= t->bytes / bytes && (!sized || units * bytes == t->bytes)) return NULL;
    return QG_AT(m->arena, t->place,
                 "the tensor '%s' has %llu elements of type %s, which %s the %llu bytes %s; the file is damaged or cut "
                 "short: fetch it again",
                 t->name, (unsigned long long)t->elements, name, sized ? "do not take" : "do not fit in",
                 (unsigned long long)t->bytes,
                 sized ? "that it states" : "up to the next tensor or the end of the file");
}

static const char *check_plain(const mapper *m, const qg_tensor *t) {
    const char *name = qg_rules_type(m->rules, m->container->kind, t->type);
    const qg_scalar type = plain_type(name);
    return type == QG_SCALAR_COUNT ? NULL : check_bytes(m, t, t->elements, qg_scalars[type].bits / 8, name);
}

static const char *map_blocks(const mapper *m, const qg_tensor *t, const qg_layout *layout, qg_weight *w) {
    const uint64_t row = t->n_dims ? t->dims[t->n_dims - 1] : 1, blocks = t->elements / layout->elements;
    if (row % layout->elements)
        return QG_AT(m->arena, t->place,
                     "the tensor '%s' has rows of %llu elements, and blocks of %s hold %u; the file is damaged, or the "
                     "rule for its type is wrong",
                     t->name, (unsigned long long)row, layout->name, layout->elements);
    const uint64_t header = qg_header_bytes(&layout->buffers[0]), block = layout->block_bytes - header;
    const char *why = blocks > t->bytes / block ? check_bytes(m, t, blocks, block, layout->name) : NULL;
    if (why) return why;
    const uint64_t rows = row ? t->elements / row : 0, row_bytes = header + (row ? row : 1) / layout->elements * block;
    w->bytes = rows * row_bytes;
    if (layout->view == QG_VIEW_BLOCKS || t->elements <= UINT32_MAX) {
        w->layout = layout;
    } else {
        w->verdict = "too large";
        w->problem = qg_format(m->arena, "has %llu elements, and of %s it may have less than 2^32",
                               (unsigned long long)t->elements, layout->name);
    }
    w->rows = rows;
    w->cols = row;
    return rows ? check_bytes(m, t, rows, row_bytes, layout->name) : check_bytes(m, t, 0, block, layout->name);
}

static const char *map_tensor(const mapper *m, const qg_tensor *t) {
    const char *known = qg_rules_type(m->rules, m->container->kind, t->type), *why = NULL;
    const qg_layout *layout = known ? qg_library_find(m->formats, known) : NULL;
    const void **data = QG_NEW_ARRAY(m->arena, const void *, 1);
    qg_weight w = {.name = t->name, .stem = t->name, .place = t->place, .elements = t->elements, .n_dims = t->n_dims};
    w.format = known ? known : qg_format(m->arena, "type %s", t->type);
    w.plain = plain_type(known);
    memcpy(w.dims, t->dims, sizeof w.dims);
    data[0] = m->container->file + t->offset;
    w.data = data;
    if (w.plain != QG_SCALAR_COUNT)
        w.bytes = t->elements * (qg_scalars[w.plain].bits / 8);
    else if (layout && layout->n_buffers == 1)
        why = map_blocks(m, t, layout, &w);
    if (!why) add_weight(m, w);
    return why;
}

static int by_place(const void *a, const void *b) {
    const qg_weight *x = a, *y = b;
    if (x->place != y->place) return x->place < y->place ? -1 : 1;
    return strcmp(x->name, y->name);
}

const char *qg_container_map(qg_arena *arena, const qg_container *container, const qg_rules *rules,
                             const qg_library *library, const qg_settings *said, const qg_settings *configured,
                             qg_weights *weights) {
    const mapper m = {.arena = arena,
                      .container = container,
                      .rules = rules,
                      .formats = library,
                      .said = said,
                      .configured = configured,
                      .used = QG_NEW_ARRAY(arena, bool, container->count),
                      .weights = weights};
    const char *why = NULL;
    for (uint32_t i = 0; i < container->count && !why; ++i) why = check_plain(&m, &container->tensors[i]);
    /* Sets first: their later tensors may come earlier in the file. */
    for (uint32_t i = 0; i < container->count && !why; ++i)
        if (!m.used[i]) why = map_set(&m, &container->tensors[i]);
    for (uint32_t i = 0; i < container->count && !why; ++i)
        if (!m.used[i]) why = map_tensor(&m, &container->tensors[i]);
    if (!why && weights->count) qsort(weights->items, weights->count, sizeof *weights->items, by_place);
    return why;
}
