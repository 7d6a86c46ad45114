/* What the readers of containers share, and the rules that map tensors to formats. */
#include "container.h"

#include <stdlib.h>
#include <string.h>

/* ---- containers ---- */

const char *qg_printable(qg_arena *arena, const void *bytes, uint64_t length, bool message) {
    const unsigned char *from = bytes;
    const uint64_t shown = message && length > 80 ? 80 : length;
    char *text = qg_alloc(arena, (size_t)(4 * shown) + 4), *to = text;
    for (uint64_t i = 0; i < shown; ++i) {
        if (from[i] < 0x20 || from[i] == 0x7F)
            to += sprintf(to, "\\x%02X", from[i]);
        else
            *to++ = (char)from[i];
    }
    if (shown < length) memcpy(to, "...", 3);
    return text;
}

bool qg_tensor_dim(qg_tensor *tensor, uint64_t extent) {
    const uint64_t most = (uint64_t)1 << 63;
    if (tensor->n_dims == QG_MAX_DIMS || (extent && tensor->elements > most / extent)) return false;
    tensor->dims[tensor->n_dims++] = extent;
    tensor->elements *= extent;
    return true;
}

static int by_name(const void *a, const void *b) {
    const qg_tensor *x = *(const qg_tensor *const *)a, *y = *(const qg_tensor *const *)b;
    const int order = strcmp(x->name, y->name);
    return order ? order : (x > y) - (x < y);
}

static const char *sort_names(qg_arena *arena, qg_container *c) {
    c->by_name = QG_NEW_ARRAY(arena, const qg_tensor *, c->count);
    for (uint32_t i = 0; i < c->count; ++i) c->by_name[i] = &c->tensors[i];
    qsort(c->by_name, c->count, sizeof *c->by_name, by_name);
    for (uint32_t i = 1; i < c->count; ++i)
        if (strcmp(c->by_name[i - 1]->name, c->by_name[i]->name) == 0)
            return QG_AT(arena, c->by_name[i]->place,
                         "a second tensor is named '%s', after the one at byte %llu; rename one of them",
                         qg_printable(arena, c->by_name[i]->name, strlen(c->by_name[i]->name), true),
                         (unsigned long long)c->by_name[i - 1]->place);
    return NULL;
}

static int name_order(const void *name, const void *item) {
    return strcmp(name, (*(const qg_tensor *const *)item)->name);
}

const qg_tensor *qg_container_find(const qg_container *c, const char *name) {
    if (!c->count) return NULL;
    const qg_tensor *const *found = bsearch(name, c->by_name, c->count, sizeof *c->by_name, name_order);
    return found ? *found : NULL;
}

const char *qg_container_read(qg_arena *arena, const void *file, uint64_t length, qg_container *c) {
    *c = (qg_container){.file = file, .length = length};
    const char *why;
    if (length >= 4 && memcmp(file, "GGUF", 4) == 0)
        why = qg_gguf_read(arena, c);
    else if (length > 8 && c->file[8] == '{')
        why = qg_safetensors_read(arena, c);
    else
        why = QG_AT(arena, 0, "neither GGUF nor safetensors; give a model file of one of these kinds");
    return why ? why : sort_names(arena, c);
}

/* ---- rules ---- */

enum { MAX_BUFFERS = 8, MAX_WORDS = 2 + MAX_BUFFERS, MAX_BINDINGS = 8, MAX_FITS = 32 };

/* `gguf 12 FORMAT`: a type of a container, and the format or scalar that it is. */
typedef struct type_rule {
    const char *container, *type, *name;
} type_rule;

/* `tensors FORMAT BUFFER=SUFFIX:TYPE ...`: one weight in several tensors. */
typedef struct set_rule {
    const char *format;
    uint32_t n_buffers;
    const char *buffer[MAX_BUFFERS], *suffix[MAX_BUFFERS], *type[MAX_BUFFERS];
} set_rule;

/* `config OBJECT PARAMETER=KEY`: what a model's configuration calls a parameter. */
typedef struct config_rule {
    const char *object, *parameter, *key;
} config_rule;

struct qg_rules {
    qg_arena *arena;
    struct {
        uint32_t count, capacity;
        type_rule *items;
    } types;
    struct {
        uint32_t count, capacity;
        set_rule *items;
    } sets;
    struct {
        uint32_t count, capacity;
        config_rule *items;
    } configs;
    qg_texts names; /* `name TEXT`: what a tensor is called that is named after its parameters */
};

qg_rules *qg_rules_new(qg_arena *arena) {
    qg_rules *rules = QG_NEW(arena, qg_rules);
    rules->arena = arena;
    return rules;
}

/* `WORD=REST` or `WORD`. */
static const char *split(qg_arena *arena, const char *word, char at, const char **rest) {
    const char *found = strchr(word, at);
    *rest = found ? found + 1 : NULL;
    return found ? qg_strndup(arena, word, (size_t)(found - word)) : word;
}

static const char *add_set(qg_rules *rules, uint32_t count, const char *const *words) {
    set_rule set = {.format = words[1], .n_buffers = count - 2};
    if (count < 3) return "tensors needs a format and at least one buffer";
    for (uint32_t i = 0; i < set.n_buffers; ++i) {
        const char *left = split(rules->arena, words[2 + i], ':', &set.type[i]);
        if (!set.type[i] || !*set.type[i]) return "a buffer is written as NAME:TYPE or NAME=SUFFIX:TYPE";
        set.buffer[i] = split(rules->arena, left, '=', &set.suffix[i]);
        if (!set.suffix[i]) set.suffix[i] = qg_format(rules->arena, ".%s", set.buffer[i]);
    }
    QG_PUSH(rules->arena, rules->sets.items, rules->sets.count, rules->sets.capacity, set);
    return NULL;
}

static const char *add_configs(qg_rules *rules, uint32_t count, const char *const *words) {
    if (count < 3) return "config needs an object and at least one PARAMETER=KEY";
    for (uint32_t i = 2; i < count; ++i) {
        config_rule rule = {.object = words[1]};
        rule.parameter = split(rules->arena, words[i], '=', &rule.key);
        if (!rule.key) return "a parameter is written as PARAMETER=KEY";
        QG_PUSH(rules->arena, rules->configs.items, rules->configs.count, rules->configs.capacity, rule);
    }
    return NULL;
}

static const char *add_line(qg_rules *rules, uint32_t count, const char *const *words) {
    if (strcmp(words[0], "tensors") == 0) return add_set(rules, count, words);
    if (strcmp(words[0], "config") == 0) return add_configs(rules, count, words);
    if (strcmp(words[0], "name") == 0) {
        if (count != 2) return "name needs one text";
        QG_PUSH(rules->arena, rules->names.items, rules->names.count, rules->names.capacity, words[1]);
        return NULL;
    }
    if (strcmp(words[0], "gguf") != 0 && strcmp(words[0], "safetensors") != 0)
        return "a line starts with gguf, safetensors, tensors, config or name";
    if (count != 3) return "a line of a container has its type and our name of it";
    const type_rule rule = {words[0], words[1], words[2]};
    QG_PUSH(rules->arena, rules->types.items, rules->types.count, rules->types.capacity, rule);
    return NULL;
}

const char *qg_rules_add(qg_rules *rules, const char *path) {
    static const char space[] = " \t\r";
    size_t length;
    const char *why = NULL;
    char *text = qg_read_file(rules->arena, path, (size_t)1 << 20, &length, &why);
    if (!text) return qg_format(rules->arena, "cannot read %s: %s", path, why);
    for (uint32_t line = 1; text; ++line) {
        char *next = strchr(text, '\n'), *words[MAX_WORDS + 1];
        uint32_t count = 0;
        if (next) *next++ = '\0';
        text[strcspn(text, "#")] = '\0';
        for (char *at = text + strspn(text, space); *at && count <= MAX_WORDS; at += strspn(at, space)) {
            words[count++] = at;
            at += strcspn(at, space);
            if (*at) *at++ = '\0';
        }
        if (count > MAX_WORDS) return qg_format(rules->arena, "%s:%u: more than %d words", path, line, MAX_WORDS);
        if (count && (why = add_line(rules, count, (const char *const *)words)))
            return qg_format(rules->arena, "%s:%u: %s", path, line, why);
        text = next;
    }
    return NULL;
}

const char *qg_rules_parameter(const qg_rules *rules, const char *object, const char *key) {
    for (uint32_t i = 0; i < rules->configs.count; ++i) {
        const config_rule *rule = &rules->configs.items[i];
        if (strcmp(rule->object, object) == 0 && strcmp(rule->key, key) == 0) return rule->parameter;
    }
    return NULL;
}

static const char *find_type(const qg_rules *rules, const char *container, const char *type) {
    for (uint32_t i = 0; i < rules->types.count; ++i) {
        const type_rule *rule = &rules->types.items[i];
        if (strcmp(rule->container, container) == 0 && strcmp(rule->type, type) == 0) return rule->name;
    }
    return NULL;
}

/* ---- names with parameters ---- */

typedef struct binding {
    const char *name, *value;
    size_t name_length, value_length;
} binding;

/* A format that a set of tensors may have. */
typedef struct fit {
    const qg_layout *layout;
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

/* ---- a weight in several tensors ---- */

typedef struct mapper {
    qg_arena *arena;
    const qg_container *container;
    const qg_rules *rules;
    const qg_library *formats;
    const qg_settings *said, *configured;
    bool *used; /* tensors that belong to a weight */
    qg_weights *weights;
} mapper;

/* Whole blocks of every buffer in every row, and as many of each; the same rows. */
static bool fits_shape(const qg_layout *layout, const set_rule *set, const qg_tensor *const *tensors) {
    const qg_tensor *first = tensors[0];
    uint64_t blocks = 0;
    if (layout->n_buffers != set->n_buffers || first->bytes == 0 || first->elements == 0 || first->n_dims == 0)
        return false;
    const uint64_t rows = first->elements / first->dims[first->n_dims - 1];
    for (uint32_t i = 0; i < set->n_buffers; ++i) {
        const qg_tensor *t = tensors[i];
        uint32_t b = 0;
        while (b < layout->n_buffers && strcmp(layout->buffers[b].name, set->buffer[i]) != 0) b += 1;
        if (b == layout->n_buffers || t->n_dims != first->n_dims) return false;
        for (uint32_t d = 0; d + 1 < t->n_dims; ++d)
            if (t->dims[d] != first->dims[d]) return false;
        const uint64_t row = t->bytes / rows, bytes = layout->buffers[b].bytes;
        if (t->bytes % rows || row % bytes || row == 0) return false;
        if (i && row / bytes != blocks) return false;
        blocks = row / bytes;
    }
    return true;
}

static bool fits_types(const mapper *m, const set_rule *set, const qg_tensor *const *tensors, const fit *f) {
    for (uint32_t i = 0; i < set->n_buffers; ++i) {
        if (set->type[i][0] != '{') {
            if (strcmp(set->type[i], tensors[i]->type) != 0) return false;
            continue;
        }
        const char *scalar = find_type(m->rules, m->container->kind, tensors[i]->type);
        const char *name = set->type[i] + 1, *close = strchr(name, '}');
        if (!scalar || !close) return false;
        const binding *b = find_binding(f, name, (size_t)(close - name));
        if (!b || strlen(scalar) != b->value_length || memcmp(scalar, b->value, b->value_length) != 0) return false;
    }
    return true;
}

/* Finds the tensors of a set by the name of its first; false when one is missing. */
static bool find_set(const mapper *m, const set_rule *set, const qg_tensor *first, const char **stem,
                     const qg_tensor **tensors) {
    const size_t length = strlen(first->name), suffix = strlen(set->suffix[0]);
    if (length < suffix || strcmp(first->name + length - suffix, set->suffix[0]) != 0) return false;
    *stem = qg_strndup(m->arena, first->name, length - suffix);
    tensors[0] = first;
    for (uint32_t i = 1; i < set->n_buffers; ++i) {
        tensors[i] = qg_container_find(m->container, qg_format(m->arena, "%s%s", *stem, set->suffix[i]));
        if (!tensors[i] || m->used[tensors[i] - m->container->tensors]) return false;
    }
    return true;
}

static uint32_t find_fits(const mapper *m, const set_rule *set, const qg_tensor *const *tensors, fit *fits) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < m->formats->layouts.count && count < MAX_FITS; ++i) {
        fit *f = &fits[count];
        *f = (fit){.layout = m->formats->layouts.items[i]};
        count += match_name(set->format, f->layout->name, f) && fits_types(m, set, tensors, f) &&
                 fits_shape(f->layout, set, tensors);
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
    uint32_t low = 0, high = settings->count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (strcmp(settings->items[middle].module, module) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; *count > 1 && low < settings->count && strcmp(settings->items[low].module, module) == 0; ++low)
        keep_binding(fits, count, &settings->items[low]);
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

/* What the shapes leave open: the user says it, or the configuration, or the tensor's name. */
static void decide(const mapper *m, const char *stem, fit *fits, uint32_t *count) {
    keep_settings(fits, count, m->said, "");
    if (*count > 1 && *stem) keep_settings(fits, count, m->configured, stem);
    if (*count > 1) keep_settings(fits, count, m->configured, "");
    if (*count > 1) keep_named(m, stem, fits, count);
}

static const char *say_open(const mapper *m, const fit *fits, uint32_t count) {
    qg_text text = qg_text_new(m->arena);
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

static void add_weight(const mapper *m, qg_weight w) {
    QG_PUSH(m->arena, m->weights->items, m->weights->count, m->weights->capacity, w);
}

static void add_set_weight(const mapper *m, const set_rule *set, const qg_tensor *const *tensors, const char *stem,
                           const fit *fits, uint32_t count) {
    const qg_layout *layout = fits[0].layout;
    const qg_tensor *first = tensors[0];
    qg_weight w = {.name = first->name, .stem = stem, .place = first->place, .format = layout->name, .layout = layout};
    const void **data = QG_NEW_ARRAY(m->arena, const void *, set->n_buffers);
    uint64_t blocks = 0;
    for (uint32_t i = 0; i < set->n_buffers; ++i) {
        for (uint32_t b = 0; b < layout->n_buffers; ++b) {
            if (strcmp(layout->buffers[b].name, set->buffer[i]) != 0) continue;
            data[b] = m->container->file + tensors[i]->offset;
            blocks = tensors[i]->bytes / layout->buffers[b].bytes;
        }
        w.bytes += tensors[i]->bytes;
        m->used[tensors[i] - m->container->tensors] = true;
    }
    w.data = data;
    w.plain = QG_SCALAR_COUNT;
    w.n_dims = first->n_dims;
    memcpy(w.dims, first->dims, sizeof w.dims);
    w.elements = blocks * layout->elements;
    w.dims[w.n_dims - 1] = w.elements / (first->elements / first->dims[first->n_dims - 1]);
    if (count > 1) {
        w.format = "several fit";
        w.open = say_open(m, fits, count);
        w.layout = NULL;
    }
    add_weight(m, w);
}

/* Maps what starts with this tensor by the first rule that fits. */
static void map_set(const mapper *m, const qg_tensor *first) {
    for (uint32_t i = 0; i < m->rules->sets.count; ++i) {
        const set_rule *set = &m->rules->sets.items[i];
        const qg_tensor *tensors[MAX_BUFFERS];
        const char *stem;
        fit fits[MAX_FITS];
        if (!find_set(m, set, first, &stem, tensors)) continue;
        uint32_t count = find_fits(m, set, tensors, fits);
        if (!count) continue;
        decide(m, stem, fits, &count);
        add_set_weight(m, set, tensors, stem, fits, count);
        return;
    }
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
    const char *name = find_type(m->rules, m->container->kind, t->type);
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
    w->layout = layout;
    w->bytes = blocks * layout->block_bytes;
    return check_bytes(m, t, blocks, layout->block_bytes, layout->name);
}

static const char *map_tensor(const mapper *m, const qg_tensor *t) {
    const char *known = find_type(m->rules, m->container->kind, t->type), *why = NULL;
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
        if (!m.used[i]) map_set(&m, &container->tensors[i]);
    for (uint32_t i = 0; i < container->count && !why; ++i)
        if (!m.used[i]) why = map_tensor(&m, &container->tensors[i]);
    if (!why && weights->count) qsort(weights->items, weights->count, sizeof *weights->items, by_place);
    return why;
}
