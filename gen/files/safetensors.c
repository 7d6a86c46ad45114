/* safetensors: the length of a JSON header, the header, data. And the JSON configuration that lies
 * beside such files. */
#include "files/container.h"

#include <cjson/cJSON.h>

#include <stdlib.h>
#include <string.h>

static const char damaged[] = "the file is damaged or cut short: fetch it again";

/* As the format's own library has it. */
#define MAX_HEADER 100000000u
/* What the JSON library needs for a value, with room to spare. */
enum { VALUE_BYTES = 128, SMALL = 16 << 20 };

typedef struct reader {
    qg_arena *arena;
    qg_container *container;
    const char *header;
    uint64_t header_length;
    uint64_t place; /* in the header: of the tensor that is being read */
    bool lost;      /* a name was not found; places stay where they are */
} reader;

#define AT(r, ...) QG_AT((r)->arena, 8 + (r)->place, __VA_ARGS__)

/* Values outside texts, at most. A file that has more than it could describe tensors with would cost much memory. */
static uint64_t count_values(const char *text, uint64_t length) {
    uint64_t values = 1;
    bool quoted = false;
    for (uint64_t i = 0; i < length; ++i) {
        if (quoted && text[i] == '\\')
            i += 1;
        else if (text[i] == '"')
            quoted = !quoted;
        else if (!quoted)
            values += text[i] == ',' || text[i] == '[' || text[i] == '{';
    }
    return values;
}

static uint64_t spaces(const char *text, uint64_t length) {
    uint64_t at = 0;
    while (at < length && (text[at] == ' ' || text[at] == '\n' || text[at] == '\t' || text[at] == '\r')) at += 1;
    return at;
}

/* Parses; `*bad` is where it failed. The library gets a copy with a NUL behind it: some releases
 * read one byte too far. */
static cJSON *parse_json(const char *text, uint64_t length, uint64_t budget, uint64_t *bad) {
    *bad = 0;
    if (count_values(text, length) > (budget > SMALL ? budget : SMALL) / VALUE_BYTES) return NULL;
    char *copy = malloc((size_t)length + 1);
    if (!copy) return NULL;
    memcpy(copy, text, (size_t)length);
    copy[length] = '\0';
    const char *end = copy;
    cJSON *json = cJSON_ParseWithLengthOpts(copy, (size_t)length, &end, 0);
    uint64_t at = end ? (uint64_t)(end - copy) : 0;
    free(copy);
    if (json) at += spaces(text + at, length - at);
    *bad = at;
    if (json && at < length) {
        cJSON_Delete(json);
        json = NULL;
    }
    return json;
}

/* Moves to where the header names a tensor; stays, from then on, when a name is written with escapes. */
static void find_place(reader *r, const char *name) {
    const size_t length = strlen(name);
    if (r->lost) return;
    r->lost = true;
    for (uint64_t at = r->place; at + length + 2 <= r->header_length; ++at) {
        const char *quote = memchr(r->header + at, '"', (size_t)(r->header_length - length - 1 - at));
        if (!quote) return;
        at = (uint64_t)(quote - r->header);
        if (memcmp(quote + 1, name, length) == 0 && quote[length + 1] == '"') {
            r->place = at;
            r->lost = false;
            return;
        }
    }
}

/* A whole number that a double holds exactly. */
static bool whole(const cJSON *number, uint64_t *value) {
    if (!cJSON_IsNumber(number)) return false;
    const double d = number->valuedouble;
    if (!(d >= 0 && d <= 9007199254740992.0)) return false;
    *value = (uint64_t)d;
    return (double)*value == d;
}

static const char *read_shape(reader *r, const cJSON *shape, qg_tensor *t) {
    if (!cJSON_IsArray(shape)) return AT(r, "the tensor '%s' has no array named shape; %s", t->name, damaged);
    t->elements = 1;
    for (const cJSON *item = shape->child; item; item = item->next) {
        uint64_t extent;
        if (!whole(item, &extent))
            return AT(r, "the shape of the tensor '%s' must be whole numbers, not negative, up to 2^53; %s", t->name,
                      damaged);
        if (!qg_tensor_dim(t, extent))
            return AT(r, "the tensor '%s' has more than %d dimensions or 2^63 elements; %s", t->name, QG_MAX_DIMS,
                      damaged);
    }
    return NULL;
}

static const char *read_offsets(reader *r, const cJSON *offsets, qg_tensor *t) {
    const uint64_t start = 8 + r->header_length, most = r->container->length - start;
    const cJSON *first = cJSON_IsArray(offsets) ? offsets->child : NULL, *last = first ? first->next : NULL;
    uint64_t begin, end;
    if (!last || last->next || !whole(first, &begin) || !whole(last, &end))
        return AT(r, "the data_offsets of the tensor '%s' must be two whole numbers up to 2^53; %s", t->name, damaged);
    if (end < begin)
        return AT(r, "the data of the tensor '%s' ends at %llu, before its start at %llu; %s", t->name,
                  (unsigned long long)end, (unsigned long long)begin, damaged);
    if (end > most)
        return AT(r, "the data of the tensor '%s' ends at %llu, after the %llu bytes that the file has; %s", t->name,
                  (unsigned long long)end, (unsigned long long)most, damaged);
    t->offset = start + begin;
    t->bytes = end - begin;
    return NULL;
}

static const char *read_tensor(reader *r, const cJSON *entry, qg_tensor *t) {
    const size_t length = strlen(entry->string);
    find_place(r, entry->string);
    t->place = 8 + r->place;
    if (length > QG_MAX_NAME)
        return AT(r, "the name of a tensor has %zu bytes, and may have %d; %s", length, QG_MAX_NAME, damaged);
    t->name = qg_printable(r->arena, entry->string, length, false);
    if (!cJSON_IsObject(entry)) return AT(r, "the value of '%s' must be an object; %s", t->name, damaged);
    const char *type = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(entry, "dtype"));
    if (!type) return AT(r, "the tensor '%s' has no text named dtype; %s", t->name, damaged);
    t->type = qg_printable(r->arena, type, strlen(type), true);
    const char *why = read_shape(r, cJSON_GetObjectItemCaseSensitive(entry, "shape"), t);
    return why ? why : read_offsets(r, cJSON_GetObjectItemCaseSensitive(entry, "data_offsets"), t);
}

static int by_offset(const void *a, const void *b) {
    const qg_tensor *x = *(const qg_tensor *const *)a, *y = *(const qg_tensor *const *)b;
    if (x->offset != y->offset) return x->offset < y->offset ? -1 : 1;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static const char *check_overlap(qg_arena *arena, const qg_container *c) {
    const qg_tensor **sorted = QG_NEW_ARRAY(arena, const qg_tensor *, c->count);
    for (uint32_t i = 0; i < c->count; ++i) sorted[i] = &c->tensors[i];
    qsort(sorted, c->count, sizeof *sorted, by_offset);
    for (uint32_t i = 1; i < c->count; ++i)
        if (sorted[i - 1]->offset + sorted[i - 1]->bytes > sorted[i]->offset)
            return QG_AT(arena, sorted[i]->place, "the data of the tensors '%s' and '%s' overlaps; %s",
                         sorted[i - 1]->name, sorted[i]->name, damaged);
    return NULL;
}

static const char *read_header(reader *r, const cJSON *json) {
    uint32_t capacity = 0;
    qg_container *c = r->container;
    if (!cJSON_IsObject(json)) return AT(r, "the header must be an object; %s", damaged);
    for (const cJSON *entry = json->child; entry; entry = entry->next) {
        if (strcmp(entry->string, "__metadata__") == 0) continue;
        qg_tensor t = {0};
        const char *why = read_tensor(r, entry, &t);
        if (why) return why;
        QG_PUSH(r->arena, c->tensors, c->count, capacity, t);
    }
    return check_overlap(r->arena, c);
}

const char *qg_safetensors_read(qg_arena *arena, qg_container *c) {
    reader r = {.arena = arena, .container = c, .header = (const char *)c->file + 8};
    c->kind = "safetensors";
    c->sized = true;
    for (uint32_t i = 0; i < 8; ++i) r.header_length |= (uint64_t)c->file[i] << (8 * i);
    if (r.header_length > c->length - 8 || r.header_length > MAX_HEADER)
        return QG_AT(arena, 0, "the header is %llu bytes long, and the file has %llu more (at most %u are allowed); %s",
                     (unsigned long long)r.header_length, (unsigned long long)(c->length - 8), MAX_HEADER, damaged);
    cJSON *json = parse_json(r.header, r.header_length, c->length, &r.place);
    if (!json)
        return AT(&r, "%s; %s",
                  r.place ? "the header is no valid JSON" : "the header is no valid JSON, or has too many values",
                  damaged);
    r.place = 0;
    const char *why = read_header(&r, json);
    cJSON_Delete(json);
    return why;
}

/* ---- the configuration ---- */

/* A whole number, a text, true or false, or whole numbers as "64x256"; NULL for anything else. */
static const char *value_text(qg_arena *arena, const cJSON *value) {
    uint64_t number;
    if (whole(value, &number)) return qg_format(arena, "%llu", (unsigned long long)number);
    if (cJSON_IsString(value)) return qg_strndup(arena, value->valuestring, strlen(value->valuestring));
    if (cJSON_IsBool(value)) return cJSON_IsTrue(value) ? "true" : "false";
    if (!cJSON_IsArray(value)) return NULL;
    qg_text text = qg_text_new(arena);
    for (const cJSON *item = value->child; item; item = item->next) {
        if (!whole(item, &number)) return NULL;
        qg_text_printf(&text, "%s%llu", text.length ? "x" : "", (unsigned long long)number);
    }
    return text.data;
}

static void add_setting(qg_arena *arena, qg_settings *settings, const char *module, const char *name,
                        const cJSON *value) {
    const qg_setting s = {
        .module = qg_strndup(arena, module, strlen(module)), .name = name, .value = value_text(arena, value)};
    if (s.value) QG_PUSH(arena, settings->items, settings->count, settings->capacity, s);
}

/* An object of parameters. An object inside it is one that rules speak of, or speaks of the module
 * that it is named after. */
static void read_settings(qg_arena *arena, const qg_rules *rules, const char *object, const cJSON *json,
                          const char *module, qg_settings *settings) {
    for (const cJSON *item = json->child; item; item = item->next) {
        const char *name = qg_rules_parameter(rules, object, item->string);
        const char *inner = cJSON_IsObject(item) ? qg_format(arena, "%s.%s", object, item->string) : NULL;
        if (name)
            add_setting(arena, settings, module, name, item);
        else if (inner && qg_rules_object(rules, inner))
            read_settings(arena, rules, inner, item, module, settings);
        else if (inner && !*module && *item->string)
            read_settings(arena, rules, object, item, item->string, settings);
    }
}

const char *qg_settings_object(qg_arena *arena, const char *text, size_t length, uint32_t count,
                               const char *const *parameters, const char *const *keys, qg_settings *settings) {
    uint64_t bad;
    cJSON *json = parse_json(text, length, length, &bad);
    if (!cJSON_IsObject(json)) {
        cJSON_Delete(json);
        return QG_AT(arena, bad, "it is none; %s", damaged);
    }
    for (uint32_t i = 0; i < count; ++i) {
        const cJSON *value = cJSON_GetObjectItemCaseSensitive(json, keys[i]);
        if (value) add_setting(arena, settings, "", parameters[i], value);
    }
    cJSON_Delete(json);
    return NULL;
}

static int by_module(const void *a, const void *b) {
    return strcmp(((const qg_setting *)a)->module, ((const qg_setting *)b)->module);
}

const char *qg_settings_read(qg_arena *arena, const qg_rules *rules, const char *text, size_t length,
                             qg_settings *settings) {
    uint64_t bad;
    cJSON *json = parse_json(text, length, length, &bad);
    if (!json) return QG_AT(arena, bad, "no valid JSON; correct the file, or move it away");
    if (cJSON_IsObject(json))
        for (const cJSON *item = json->child; item; item = item->next)
            if (cJSON_IsObject(item)) read_settings(arena, rules, item->string, item, "", settings);
    cJSON_Delete(json);
    if (settings->count) qsort(settings->items, settings->count, sizeof *settings->items, by_module);
    return NULL;
}
