/* Figures as a table, as JSON, and from JSON. */
#include "cli/run_bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double qg_round_as_json(double x) {
    char text[32];
    snprintf(text, sizeof text, "%.6g", x);
    return strtod(text, NULL);
}

qg_figure qg_figure_new(qg_arena *arena, const qg_case *c) {
    return (qg_figure){.format = c->layout->name,
                       .family = c->family->name,
                       .type = qg_scalars[c->type].name,
                       .sum = c->family->sums ? c->sum->name : "",
                       .rows = c->rows,
                       .cols = c->cols,
                       .batch = c->batch,
                       .experts = c->experts,
                       .slots = c->slots,
                       .used = qg_bench_experts(arena, c),
                       .bits = qg_bits_per_element(c->layout)};
}

void qg_figure_round(qg_figure *f) {
    f->time = (qg_timing){qg_round_as_json(f->time.median), qg_round_as_json(f->time.least),
                          qg_round_as_json(f->time.greatest)};
    f->checked.error = qg_round_as_json(f->checked.error);
    f->checked.ratio = qg_round_as_json(f->checked.ratio);
    f->bits = qg_round_as_json(f->bits);
}

double qg_figure_rate(const qg_figure *f) { return f->bytes / f->time.median; }

static const char *rate_text(qg_arena *arena, double bytes_a_second) {
    const double rate = bytes_a_second / 1e9;
    return qg_format(arena, rate < 10 ? "%.2f" : rate < 100 ? "%.1f" : "%.0f", rate);
}

const char *qg_figure_group(qg_arena *arena, const qg_figure *f) {
    const qg_family *family = qg_family_named(f->family);
    const char *type = strcmp(f->type, "f32") == 0 ? "" : qg_format(arena, " %s", f->type);
    if (*f->sum && qg_sum_class_named(f->sum) != &qg_sum_classes[QG_CLASS_EXACT])
        type = qg_format(arena, "%s, class %s", type, f->sum);
    if (f->experts || !family || !family->sums) return qg_format(arena, "%s%s", f->family, type);
    return qg_format(arena, "%s%s, %llu vector%s", f->family, type, (unsigned long long)f->batch,
                     f->batch > 1 ? "s" : "");
}

const char *qg_figure_shape(qg_arena *arena, const qg_figure *f) {
    const char *shape = qg_format(arena, "%llu x %llu", (unsigned long long)f->rows, (unsigned long long)f->cols);
    if (!f->experts) return shape;
    if (f->batch > 1)
        shape = qg_format(arena, "%s, %llu tokens of %llu", shape, (unsigned long long)f->batch,
                          (unsigned long long)f->slots);
    return qg_format(arena, "%s, %llu of %llu experts", shape, (unsigned long long)f->used,
                     (unsigned long long)f->experts);
}

bool qg_figure_same_group(const qg_figure *a, const qg_figure *b) {
    return strcmp(a->family, b->family) == 0 && strcmp(a->type, b->type) == 0 && strcmp(a->sum, b->sum) == 0 &&
           a->batch == b->batch && a->experts == b->experts && a->slots == b->slots;
}

/* ---- the table ---- */

static int compare_numbers(double a, double b) { return a < b ? -1 : a > b; }

static int by_group(const void *left, const void *right) {
    const qg_figure *a = left, *b = right;
    int order = compare_numbers(a->group, b->group);
    if (!order) order = compare_numbers((double)a->rows, (double)b->rows);
    if (!order) order = compare_numbers((double)a->cols, (double)b->cols);
    if (!order) order = -compare_numbers(qg_figure_rate(a), qg_figure_rate(b));
    return order ? order : strcmp(a->format, b->format);
}

void qg_figures_sort(qg_figures *figures) {
    for (uint32_t i = 0; i < figures->count; ++i) {
        uint32_t first = 0;
        while (!qg_figure_same_group(&figures->items[first], &figures->items[i])) ++first;
        figures->items[i].group = first;
    }
    if (figures->count) qsort(figures->items, figures->count, sizeof *figures->items, by_group);
}

const char *qg_figures_cold(qg_arena *arena, const qg_figures *figures) {
    const char *skewed = figures->skewed ? "; routing is skewed" : "";
    if (!figures->cold) return skewed;
    return qg_format(arena, "; launches take turns over %llu MiB of weights%s",
                     (unsigned long long)(figures->cold >> 20), skewed);
}

void qg_figures_print(qg_arena *arena, const qg_figures *figures) {
    printf("%s%s, driver %s: copies %.1f GB/s, read and written%s\n", figures->device,
           figures->cpu ? ", a CPU device, whose figures say nothing of GPUs" : "", figures->driver,
           figures->copy / 1e9, qg_figures_cold(arena, figures));
    uint32_t width = 6;
    for (uint32_t i = 0; i < figures->count; ++i)
        if (strlen(figures->items[i].format) > width) width = (uint32_t)strlen(figures->items[i].format);
    printf("%-*s %-8s %-4s %-5s %13s %5s %10s %23s %8s %7s %8s  %s\n", (int)width, "format", "family", "type", "class",
           "rows x cols", "batch", "us", "(least to greatest)", "GB/s", "of copy", "of bound", "error");
    for (uint32_t i = 0; i < figures->count; ++i) {
        const qg_figure *f = &figures->items[i];
        const double rate = qg_figure_rate(f);
        const char *shape = qg_format(arena, "%llux%llu", (unsigned long long)f->rows, (unsigned long long)f->cols);
        const char *range = qg_format(arena, "(%.1f to %.1f)", 1e6 * f->time.least, 1e6 * f->time.greatest);
        printf("%-*s %-8s %-4s %-5s %13s %5llu %10.1f %23s %8s %6.1f%% %7.2f%%  %.1e%s\n", (int)width, f->format,
               f->family, f->type, f->sum, shape, (unsigned long long)f->batch, 1e6 * f->time.median, range,
               rate_text(arena, rate), 100 * rate / figures->copy, 100 * f->checked.ratio, f->checked.error,
               f->checked.wrong ? " WRONG" : "");
    }
}

/* ---- JSON ---- */

void qg_json_string(qg_text *text, const char *string) {
    qg_text_puts(text, "\"");
    for (; *string; ++string) {
        const unsigned char c = (unsigned char)*string;
        if (c == '"' || c == '\\')
            qg_text_printf(text, "\\%c", c);
        else if (c < 32)
            qg_text_printf(text, "\\u%04x", c);
        else
            qg_text_add(text, string, 1);
    }
    qg_text_puts(text, "\"");
}

static void add_member(qg_text *text, const char *name, const char *string) {
    qg_text_printf(text, "\"%s\": ", name);
    qg_json_string(text, string);
    qg_text_puts(text, ", ");
}

static void add_left_out(qg_text *text, const qg_texts *left_out) {
    qg_text_puts(text, "\"left_out\": [");
    for (uint32_t i = 0; i < left_out->count; ++i) {
        qg_text_puts(text, i ? ",\n    " : "\n    ");
        qg_json_string(text, left_out->items[i]);
    }
    qg_text_puts(text, "],\n  ");
}

const char *qg_figures_json(qg_arena *arena, const qg_figures *figures) {
    qg_text text = qg_text_new(arena);
    qg_text_puts(&text, "{");
    add_member(&text, "device", figures->device);
    add_member(&text, "driver", figures->driver);
    qg_text_printf(&text, "\"cpu\": %s, \"copy\": %.6g, ", figures->cpu ? "true" : "false", figures->copy);
    if (figures->skewed) qg_text_puts(&text, "\"skewed\": true, ");
    if (figures->cold) qg_text_printf(&text, "\"cold\": %llu, ", (unsigned long long)figures->cold);
    if (figures->models.count) qg_models_json(&text, &figures->models);
    if (figures->left_out.count) add_left_out(&text, &figures->left_out);
    qg_text_puts(&text, "\"results\": [");
    for (uint32_t i = 0; i < figures->count; ++i) {
        const qg_figure *f = &figures->items[i];
        qg_text_puts(&text, i ? ",\n  {" : "\n  {");
        add_member(&text, "format", f->format);
        add_member(&text, "family", f->family);
        add_member(&text, "type", f->type);
        add_member(&text, "class", f->sum);
        qg_text_printf(&text,
                       "\"rows\": %llu, \"cols\": %llu, \"batch\": %llu, \"experts\": %llu, \"slots\": %llu, "
                       "\"experts_used\": %llu, "
                       "\"bits\": %.6g, \"seconds\": [%.6g, %.6g, %.6g], \"bytes\": %.0f, \"share\": %.6g, "
                       "\"checked\": %u, \"of_bound\": %.6g, \"error\": %.6g, \"wrong\": %s%s}",
                       (unsigned long long)f->rows, (unsigned long long)f->cols, (unsigned long long)f->batch,
                       (unsigned long long)f->experts, (unsigned long long)f->slots, (unsigned long long)f->used,
                       f->bits, f->time.least, f->time.median, f->time.greatest, f->bytes,
                       qg_figure_rate(f) / figures->copy, f->checked.rows,
                       isfinite(f->checked.ratio) ? f->checked.ratio : 1e300,
                       isfinite(f->checked.error) ? f->checked.error : 1e300, f->checked.wrong ? "true" : "false",
                       f->chosen ? ", \"chosen\": true" : "");
    }
    qg_text_puts(&text, "\n]}\n");
    return text.data;
}

static const char *string_of(qg_arena *arena, const cJSON *object, const char *name, bool *good) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    *good &= cJSON_IsString(item);
    return cJSON_IsString(item) ? qg_format(arena, "%s", item->valuestring) : "";
}

static double number_of(const cJSON *object, const char *name, double least, bool *good) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    const bool fits = cJSON_IsNumber(item) && item->valuedouble >= least && item->valuedouble <= 1e18;
    *good &= fits || (cJSON_IsNumber(item) && (strcmp(name, "error") == 0 || strcmp(name, "of_bound") == 0));
    return cJSON_IsNumber(item) && *good ? item->valuedouble : least;
}

static bool flag_of(const cJSON *object, const char *name, bool *good) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    *good &= cJSON_IsBool(item);
    return cJSON_IsTrue(item);
}

static bool read_figure(qg_arena *arena, const cJSON *object, qg_figure *f) {
    const cJSON *seconds = cJSON_GetObjectItemCaseSensitive(object, "seconds");
    bool good = cJSON_IsArray(seconds) && cJSON_GetArraySize(seconds) == 3;
    *f = (qg_figure){.format = string_of(arena, object, "format", &good),
                     .family = string_of(arena, object, "family", &good),
                     .type = string_of(arena, object, "type", &good),
                     .sum = string_of(arena, object, "class", &good),
                     .rows = (uint64_t)number_of(object, "rows", 1, &good),
                     .cols = (uint64_t)number_of(object, "cols", 1, &good),
                     .batch = (uint64_t)number_of(object, "batch", 1, &good),
                     .experts = (uint64_t)number_of(object, "experts", 0, &good),
                     .slots = (uint64_t)number_of(object, "slots", 1, &good),
                     .bits = number_of(object, "bits", 0, &good),
                     .bytes = number_of(object, "bytes", 1, &good)};
    /* Without it, each token had experts of its own. */
    f->used = f->experts ? f->batch * f->slots : 0;
    if (cJSON_HasObjectItem(object, "experts_used")) f->used = (uint64_t)number_of(object, "experts_used", 0, &good);
    double times[3] = {1, 1, 1};
    for (int i = 0; i < 3 && good; ++i) {
        const cJSON *item = cJSON_GetArrayItem(seconds, i);
        good = cJSON_IsNumber(item) && item->valuedouble > 0;
        if (good) times[i] = item->valuedouble;
    }
    f->time = (qg_timing){times[1], times[0], times[2]};
    f->checked.rows = (uint32_t)number_of(object, "checked", 0, &good);
    f->checked.error = number_of(object, "error", 0, &good);
    if (cJSON_GetObjectItemCaseSensitive(object, "of_bound"))
        f->checked.ratio = number_of(object, "of_bound", 0, &good);
    f->checked.wrong = flag_of(object, "wrong", &good);
    if (cJSON_HasObjectItem(object, "chosen")) f->chosen = flag_of(object, "chosen", &good);
    return good;
}

/* What `bench --model` and `bench --cold` add. */
static bool read_more(qg_arena *arena, const cJSON *root, qg_figures *figures) {
    bool good = true;
    const cJSON *models = cJSON_GetObjectItemCaseSensitive(root, "models"), *item;
    figures->skewed = cJSON_IsTrue(cJSON_GetObjectItem(root, "skewed"));
    if (cJSON_HasObjectItem(root, "cold")) figures->cold = (uint64_t)number_of(root, "cold", 1, &good);
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(root, "left_out")) {
        good &= cJSON_IsString(item);
        const char *text = good ? qg_format(arena, "%s", item->valuestring) : "";
        qg_texts *all = &figures->left_out;
        QG_PUSH(arena, all->items, all->count, all->capacity, text);
    }
    return good && (!models || qg_models_from_json(arena, models, &figures->models));
}

static bool read_figures(qg_arena *arena, const cJSON *root, qg_figures *figures, int *number) {
    bool good = cJSON_IsObject(root);
    const cJSON *results = cJSON_GetObjectItemCaseSensitive(root, "results"), *item;
    figures->device = string_of(arena, root, "device", &good);
    figures->driver = string_of(arena, root, "driver", &good);
    figures->cpu = flag_of(root, "cpu", &good);
    figures->copy = number_of(root, "copy", 1, &good);
    good &= cJSON_IsArray(results) && read_more(arena, root, figures);
    cJSON_ArrayForEach(item, results) {
        qg_figure f;
        if (!good) break;
        *number += 1;
        good = read_figure(arena, item, &f);
        if (good) QG_PUSH(arena, figures->items, figures->count, figures->capacity, f);
    }
    return good;
}

static bool read_file(qg_arena *arena, const char *path, qg_figures *figures) {
    const char *why = NULL, *end = NULL;
    size_t length = 0;
    int number = 0;
    char *text = qg_read_file(arena, path, 1 << 26, &length, &why);
    if (!text) return qg_complain("cannot read %s: %s", path, why) == 0;
    cJSON *root = cJSON_ParseWithLengthOpts(text, length + 1, &end, true);
    if (!root)
        return qg_complain("%s: byte %zu: this is no JSON; give a file that bench --json wrote", path,
                           end ? (size_t)(end - text) : 0) == 0;
    const bool good = read_figures(arena, root, figures, &number);
    cJSON_Delete(root);
    if (good) return true;
    if (number == 0)
        return qg_complain("%s: device, driver, cpu, copy or results is missing, or another member is wrong; give a "
                           "file that bench --json wrote",
                           path) == 0;
    return qg_complain("%s: result %d lacks a member, or has one out of range; give a file that bench --json wrote",
                       path, number) == 0;
}

static bool same_case(const qg_figure *a, const qg_figure *b) {
    return qg_figure_same_group(a, b) && strcmp(a->format, b->format) == 0 && a->rows == b->rows && a->cols == b->cols;
}

/* Puts figures of a further run to those of the first, which had the same device. */
static bool add_figures(qg_arena *arena, const char *path, const qg_figures *more, qg_figures *figures) {
    if (strcmp(more->device, figures->device) != 0 || strcmp(more->driver, figures->driver) != 0)
        return qg_complain("%s is of %s, driver %s, the file before it of %s, driver %s; read them apart", path,
                           more->device, more->driver, figures->device, figures->driver) == 0;
    if (more->skewed != figures->skewed)
        return qg_complain("%s and the file before it differ in --routing; read them apart", path) == 0;
    if (more->cold != figures->cold)
        return qg_complain("%s and the file before it differ in --cold or --cache; read them apart", path) == 0;
    for (uint32_t i = 0; i < more->count; ++i)
        for (uint32_t j = 0; j < figures->count; ++j)
            if (same_case(&more->items[i], &figures->items[j]))
                return qg_complain("%s: result %u is of the same case as one of the files before; leave one out", path,
                                   i + 1) == 0;
    for (uint32_t i = 0; i < more->count; ++i)
        QG_PUSH(arena, figures->items, figures->count, figures->capacity, more->items[i]);
    for (uint32_t i = 0; i < more->models.count; ++i) qg_models_add(arena, &figures->models, &more->models.items[i]);
    for (uint32_t i = 0; i < more->left_out.count; ++i) qg_figures_leave_out(arena, figures, more->left_out.items[i]);
    return true;
}

bool qg_figures_read(qg_arena *arena, const char *paths, qg_figures *figures) {
    qg_texts files = {0};
    qg_split(arena, paths, &files);
    for (uint32_t i = 0; i < files.count; ++i) {
        qg_figures more = {0};
        if (!read_file(arena, files.items[i], i ? &more : figures)) return false;
        if (i && !add_figures(arena, files.items[i], &more, figures)) return false;
    }
    return files.count > 0 || qg_complain("--read needs the name of a file") == 0;
}

void qg_figures_leave_out(qg_arena *arena, qg_figures *figures, const char *text) {
    qg_texts *out = &figures->left_out;
    for (uint32_t i = 0; i < out->count; ++i)
        if (strcmp(out->items[i], text) == 0) return;
    QG_PUSH(arena, out->items, out->count, out->capacity, text);
}
