/* Models as shapes: files of bench/models, whose README.md has their format, and the same as JSON. */
#include "cli/run_bench.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS = 6 };
static const uint64_t MOST = UINT64_C(1000000000);

static bool same_shape(const qg_matrix *a, const qg_matrix *b) {
    return a->rows == b->rows && a->cols == b->cols && a->experts == b->experts && a->used == b->used;
}

bool qg_matrix_is(const qg_matrix *m, const qg_figure *f) {
    const bool experts = f->experts > 0;
    return m->rows == f->rows && m->cols == f->cols && m->experts == f->experts && (!experts || m->used == f->slots);
}

/* Puts a matrix to those of its shape. */
static void add_matrix(qg_arena *arena, qg_model *model, const qg_matrix *m) {
    for (uint32_t i = 0; i < model->count; ++i) {
        qg_matrix *there = &model->items[i];
        if (!same_shape(there, m)) continue;
        there->name = qg_format(arena, "%s,%s", there->name, m->name);
        there->count += m->count;
        return;
    }
    QG_PUSH(arena, model->items, model->count, model->capacity, *m);
}

/* ---- files ---- */

static bool number(const char *word, uint64_t *value) { return qg_whole_number(word, value) && *value <= MOST; }

static const char *read_matrix(const char *const *words, uint32_t count, qg_matrix *m) {
    *m = (qg_matrix){.name = words[0]};
    if (count != 4 && count != 6) return "a line is NAME ROWS COLS COUNT [EXPERTS USED]";
    if (!number(words[1], &m->rows) || !number(words[2], &m->cols) || !number(words[3], &m->count))
        return "rows, columns and count must be whole numbers from 1 to 10^9";
    if (count == 4) return NULL;
    if (!number(words[4], &m->experts) || !number(words[5], &m->used))
        return "experts, and how many a token uses, must be whole numbers from 1 to 10^9";
    if (m->used > m->experts)
        return "a token must use at most as many experts as there are; the last two words are "
               "EXPERTS USED";
    return NULL;
}

/* Where the name stood before; 0 when it did not. */
static uint32_t line_of(const qg_texts *names, const uint32_t *lines, const char *name) {
    for (uint32_t i = 0; i < names->count; ++i)
        if (strcmp(names->items[i], name) == 0) return lines[i];
    return 0;
}

static bool read_model(qg_arena *arena, const char *path, const char *text, qg_model *model) {
    const size_t length = strlen(text);
    uint32_t line = 1, *lines = QG_NEW_ARRAY(arena, uint32_t, length + 1);
    qg_texts names = {0};
    for (const char *at = text; *at; ++line) {
        const size_t size = strcspn(at, "\n");
        const char *words[WORDS + 1] = {0};
        qg_matrix m;
        const uint32_t count = qg_line_words(arena, at, size, words, WORDS + 1);
        at += size + (at[size] == '\n');
        if (count == 0) continue;
        const char *why = read_matrix(words, count, &m);
        const uint32_t before = why ? 0 : line_of(&names, lines, m.name);
        if (before) why = qg_format(arena, "%s is the name of line %u, too; give it another", m.name, before);
        if (why) return qg_complain("%s:%u: %s", path, line, why) == 0;
        lines[names.count] = line;
        QG_PUSH(arena, names.items, names.count, names.capacity, m.name);
        add_matrix(arena, model, &m);
    }
    return model->count ||
           qg_complain("%s:%u: there is no matrix; a line is NAME ROWS COLS COUNT [EXPERTS USED]", path, line) == 0;
}

static int by_name(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

static const char *models_of(qg_arena *arena, const char *folder) {
    qg_texts names = {0};
    qg_text text = qg_text_new(arena);
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        const size_t length = strlen(entry->d_name);
        if (length < 5 || strcmp(entry->d_name + length - 4, ".txt") != 0) continue;
        const char *name = qg_strndup(arena, entry->d_name, length - 4);
        QG_PUSH(arena, names.items, names.count, names.capacity, name);
    }
    if (dir) closedir(dir);
    if (names.count) qsort(names.items, names.count, sizeof *names.items, by_name);
    for (uint32_t i = 0; i < names.count; ++i) qg_text_printf(&text, "%s%s", i ? ", " : "", names.items[i]);
    return names.count ? text.data : "none";
}

static bool read_named(qg_arena *arena, const char *data, const char *name, qg_models *models) {
    const char *why = NULL, *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
    const size_t length = strlen(base);
    const bool ends = length > 4 && strcmp(base + length - 4, ".txt") == 0;
    const char *folder = qg_format(arena, "%s/bench/models", data);
    const char *path = slash || ends ? name : qg_format(arena, "%s/%s.txt", folder, name);
    qg_model model = {.name = ends ? qg_strndup(arena, base, length - 4) : base};
    size_t size = 0;
    const char *text = qg_read_file(arena, path, 1 << 20, &size, &why);
    if (!text && (slash || ends)) return qg_complain("cannot read %s: %s", path, why) == 0;
    if (!text)
        return qg_complain("no model is named %s; %s has %s; or name a file, as ./%s.txt", name, folder,
                           models_of(arena, folder), name) == 0;
    for (uint32_t i = 0; i < models->count; ++i)
        if (strcmp(models->items[i].name, model.name) == 0)
            return qg_complain("--model names %s twice; leave one out", model.name) == 0;
    if (!read_model(arena, path, text, &model)) return false;
    QG_PUSH(arena, models->items, models->count, models->capacity, model);
    return true;
}

bool qg_models_read(qg_arena *arena, const char *data, const qg_texts *names, qg_models *models) {
    *models = (qg_models){0};
    for (uint32_t i = 0; i < names->count; ++i)
        if (!read_named(arena, data, names->items[i], models)) return false;
    return true;
}

void qg_models_add(qg_arena *arena, qg_models *models, const qg_model *model) {
    uint32_t at = 0;
    while (at < models->count && strcmp(models->items[at].name, model->name) != 0) ++at;
    if (at == models->count) QG_PUSH(arena, models->items, models->count, models->capacity, *model);
    qg_model *there = &models->items[at];
    for (uint32_t i = 0; i < model->count; ++i) {
        uint32_t n = 0;
        while (n < there->count && !same_shape(&there->items[n], &model->items[i])) ++n;
        if (n == there->count) QG_PUSH(arena, there->items, there->count, there->capacity, model->items[i]);
    }
}

/* ---- shapes ---- */

static int by_shape(const void *left, const void *right) {
    const qg_matrix *a = left, *b = right;
    const uint64_t keys[][2] = {{a->cols, b->cols}, {a->experts, b->experts}, {a->rows, b->rows}, {a->used, b->used}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; ++i)
        if (keys[i][0] != keys[i][1]) return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

qg_matrix *qg_models_shapes(qg_arena *arena, const qg_models *models, uint32_t *count) {
    qg_model all = {0};
    for (uint32_t i = 0; i < models->count; ++i)
        for (uint32_t m = 0; m < models->items[i].count; ++m) {
            qg_matrix matrix = models->items[i].items[m];
            matrix.name = qg_format(arena, "%s %s", models->items[i].name, matrix.name);
            add_matrix(arena, &all, &matrix);
        }
    if (all.count) qsort(all.items, all.count, sizeof *all.items, by_shape);
    *count = all.count;
    return all.items;
}

/* ---- JSON ---- */

void qg_models_json(qg_text *text, const qg_models *models) {
    qg_text_puts(text, "\"models\": [");
    for (uint32_t i = 0; i < models->count; ++i) {
        const qg_model *model = &models->items[i];
        qg_text_puts(text, i ? ",\n  {\"name\": " : "\n  {\"name\": ");
        qg_json_string(text, model->name);
        qg_text_puts(text, ", \"matrices\": [");
        for (uint32_t n = 0; n < model->count; ++n) {
            const qg_matrix *m = &model->items[n];
            qg_text_puts(text, n ? ",\n    {\"name\": " : "\n    {\"name\": ");
            qg_json_string(text, m->name);
            qg_text_printf(text,
                           ", \"rows\": %llu, \"cols\": %llu, \"count\": %llu, \"experts\": %llu, \"used\": %llu}",
                           (unsigned long long)m->rows, (unsigned long long)m->cols, (unsigned long long)m->count,
                           (unsigned long long)m->experts, (unsigned long long)m->used);
        }
        qg_text_puts(text, "]}");
    }
    qg_text_puts(text, "],\n  ");
}

static bool text_of(qg_arena *arena, const cJSON *object, const char *name, const char **text) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    if (cJSON_IsString(item)) *text = qg_format(arena, "%s", item->valuestring);
    return cJSON_IsString(item);
}

static bool count_of(const cJSON *object, const char *name, double least, uint64_t *count) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    const bool good = cJSON_IsNumber(item) && item->valuedouble >= least && item->valuedouble <= 1e18;
    if (good) *count = (uint64_t)item->valuedouble;
    return good;
}

bool qg_models_from_json(qg_arena *arena, const cJSON *list, qg_models *models) {
    const cJSON *item, *each;
    bool good = cJSON_IsArray(list);
    cJSON_ArrayForEach(item, list) {
        qg_model model = {0};
        const cJSON *matrices = cJSON_GetObjectItemCaseSensitive(item, "matrices");
        good = good && text_of(arena, item, "name", &model.name) && cJSON_IsArray(matrices);
        cJSON_ArrayForEach(each, matrices) {
            qg_matrix m = {0};
            good = good && text_of(arena, each, "name", &m.name) && count_of(each, "rows", 1, &m.rows) &&
                   count_of(each, "cols", 1, &m.cols) && count_of(each, "count", 1, &m.count) &&
                   count_of(each, "experts", 0, &m.experts) && count_of(each, "used", 0, &m.used);
            if (good) QG_PUSH(arena, model.items, model.count, model.capacity, m);
        }
        if (good) QG_PUSH(arena, models->items, models->count, models->capacity, model);
    }
    return good;
}
