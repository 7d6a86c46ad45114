/* The report of `qkgen bench --model`: tables, as text or in Markdown. */
#include "cli/run_bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_COLUMNS = 24, MOST_BATCHES = 16, WORST = 10, PEERS = 4 };

/* ---- tables ---- */

typedef struct table {
    qg_arena *arena;
    const char *title;
    uint32_t columns, count, capacity;
    const char *heads[MOST_COLUMNS]; /* with < in front of those of words */
    const char **cells;
} table;

static void head(table *t, const char *text) {
    if (t->columns < MOST_COLUMNS) t->heads[t->columns++] = text;
}

static void cell(table *t, const char *text) { QG_PUSH(t->arena, t->cells, t->count, t->capacity, text); }

static bool is_left(const char *text) { return *text == '<'; }

static const char *name_of(const char *text) { return text + is_left(text); }

static void add_text_line(qg_text *text, const table *t, const uint32_t *widths, const char *const *cells) {
    for (uint32_t c = 0; c < t->columns; ++c) {
        const bool left = is_left(t->heads[c]), last = c + 1 == t->columns;
        qg_text_printf(text, left ? last ? "%s%*s" : "%s%-*s" : "%s%*s", c ? "  " : "",
                       left && last ? 0 : (int)widths[c], name_of(cells[c]));
    }
    while (text->length && text->data[text->length - 1] == ' ') text->data[--text->length] = '\0';
    qg_text_puts(text, "\n");
}

static void add_text_table(qg_text *text, const table *t) {
    uint32_t widths[MOST_COLUMNS];
    for (uint32_t c = 0; c < t->columns; ++c) {
        widths[c] = (uint32_t)strlen(name_of(t->heads[c]));
        for (uint32_t i = c; i < t->count; i += t->columns)
            if (strlen(t->cells[i]) > widths[c]) widths[c] = (uint32_t)strlen(t->cells[i]);
    }
    qg_text_printf(text, "\n%s\n", t->title);
    add_text_line(text, t, widths, t->heads);
    for (uint32_t i = 0; i < t->count; i += t->columns) add_text_line(text, t, widths, t->cells + i);
}

static void add_markdown_table(qg_text *text, const table *t) {
    qg_text_printf(text, "\n**%s**\n\n|", t->title);
    for (uint32_t c = 0; c < t->columns; ++c) qg_text_printf(text, " %s |", name_of(t->heads[c]));
    qg_text_puts(text, "\n|");
    for (uint32_t c = 0; c < t->columns; ++c) qg_text_puts(text, is_left(t->heads[c]) ? "---|" : "---:|");
    for (uint32_t i = 0; i < t->count; ++i) qg_text_printf(text, "%s %s |", i % t->columns ? "" : "\n|", t->cells[i]);
    qg_text_puts(text, "\n");
}

/* ---- the report ---- */

typedef struct report {
    qg_arena *arena;
    const qg_figures *figures;
    const qg_peers *peers;
    bool markdown;
    qg_text text;
    double *theirs;      /* seconds of each peer for each figure; 0: none */
    const char **places; /* "MODEL MATRIX" of each figure; NULL: of no model */
    bool *fastest;       /* of the classes, in its cell */
    bool chooses;        /* some are marked as chosen */
} report;

static void add_table(report *r, const table *t) { (r->markdown ? add_markdown_table : add_text_table)(&r->text, t); }

static table table_of(report *r, const char *title) { return (table){.arena = r->arena, .title = title}; }

static const char *number(report *r, uint64_t n) { return qg_format(r->arena, "%llu", (unsigned long long)n); }

static const char *microseconds(report *r, double seconds) {
    return seconds > 0 ? qg_format(r->arena, "%.1f", 1e6 * seconds) : "-";
}

static const char *times(report *r, double theirs, double ours) {
    return theirs > 0 && ours > 0 ? qg_format(r->arena, "%.2f", theirs / ours) : "-";
}

static const char *class_of(report *r, const qg_figure *f) {
    return strcmp(f->type, "f32") == 0 ? f->sum : qg_format(r->arena, "%s %s", f->sum, f->type);
}

static const char *shape_of(report *r, const qg_matrix *m) {
    const char *shape = qg_format(r->arena, "%llux%llu", (unsigned long long)m->rows, (unsigned long long)m->cols);
    if (!m->experts) return shape;
    return qg_format(r->arena, "%s, %llu of %llu", shape, (unsigned long long)m->used, (unsigned long long)m->experts);
}

static const qg_matrix *matrix_of(const qg_model *model, const qg_figure *f) {
    for (uint32_t i = 0; i < model->count; ++i)
        if (qg_matrix_is(&model->items[i], f)) return &model->items[i];
    return NULL;
}

static bool same_kind(const qg_figure *a, const qg_figure *b) {
    return strcmp(a->format, b->format) == 0 && strcmp(a->type, b->type) == 0 && a->batch == b->batch;
}

static bool same_group(const qg_figure *a, const qg_figure *b) {
    return same_kind(a, b) && strcmp(a->sum, b->sum) == 0;
}

static bool same_cell(const qg_figure *a, const qg_figure *b) {
    return a->rows == b->rows && a->cols == b->cols && a->experts == b->experts && a->slots == b->slots &&
           same_kind(a, b);
}

static void find_fastest(report *r) {
    const qg_figures *all = r->figures;
    for (uint32_t i = 0; i < all->count; ++i) {
        const qg_figure *f = &all->items[i];
        bool best = !f->checked.wrong;
        for (uint32_t j = 0; j < all->count && best; ++j) {
            const qg_figure *other = &all->items[j];
            const bool faster = other->time.median < f->time.median || (other->time.median == f->time.median && j < i);
            if (faster && !other->checked.wrong && same_cell(f, other)) best = false;
        }
        r->fastest[i] = best;
    }
}

static void look_up(report *r) {
    const qg_figures *all = r->figures;
    r->theirs = QG_NEW_ARRAY(r->arena, double, PEERS *(all->count + 1));
    r->places = QG_NEW_ARRAY(r->arena, const char *, all->count + 1);
    r->fastest = QG_NEW_ARRAY(r->arena, bool, all->count + 1);
    for (uint32_t i = 0; i < all->count; ++i) {
        const qg_figure *f = &all->items[i];
        for (uint32_t p = 0; p < r->peers->n_names; ++p) {
            const double rate = qg_peers_rate(r->peers, p, f);
            r->theirs[PEERS * i + p] = rate > 0 ? f->bytes / rate : 0;
        }
        for (uint32_t m = 0; m < all->models.count && !r->places[i]; ++m) {
            const qg_matrix *matrix = matrix_of(&all->models.items[m], f);
            if (matrix) r->places[i] = qg_format(r->arena, "%s %s", all->models.items[m].name, matrix->name);
        }
    }
    for (uint32_t i = 0; i < all->count; ++i) r->chooses |= all->items[i].chosen;
    find_fastest(r);
}

/* ---- beside a peer ---- */

/* Stands for the class that the library takes for each cell. */
static const qg_figure pick = {.type = "f32", .sum = "the chosen class of each"};

/* Which lines: those of a class and type, or, where `like` is NULL, the fastest class of each cell. */
static bool chosen(const report *r, uint32_t peer, const qg_figure *like, uint32_t i) {
    const qg_figure *f = &r->figures->items[i];
    if (!r->places[i] || r->theirs[PEERS * i + peer] <= 0) return false;
    if (like == &pick) return f->chosen;
    return like ? strcmp(f->sum, like->sum) == 0 && strcmp(f->type, like->type) == 0 : r->fastest[i];
}

typedef struct line {
    double ratio;
    uint32_t figure;
} line;

static int by_ratio(const void *left, const void *right) {
    const line *a = left, *b = right;
    if (a->ratio != b->ratio) return a->ratio < b->ratio ? -1 : 1;
    return a->figure < b->figure ? -1 : a->figure > b->figure;
}

/* All lines that are chosen, the worst first. A wrong result is worse than any. */
static line *list_lines(report *r, uint32_t peer, const qg_figure *like, uint32_t *count) {
    const qg_figures *all = r->figures;
    line *lines = QG_NEW_ARRAY(r->arena, line, all->count + 1);
    *count = 0;
    for (uint32_t i = 0; i < all->count; ++i) {
        if (!chosen(r, peer, like, i)) continue;
        const double ratio = r->theirs[PEERS * i + peer] / all->items[i].time.median;
        lines[(*count)++] = (line){all->items[i].checked.wrong ? 0 : ratio, i};
    }
    if (*count) qsort(lines, *count, sizeof *lines, by_ratio);
    return lines;
}

static void add_worst(report *r, uint32_t peer, const qg_figure *like) {
    uint32_t count;
    const line *lines = list_lines(r, peer, like, &count);
    if (count == 0) return;
    const char *who = r->peers->names[peer], *what = like ? class_of(r, like) : "the fastest class of each";
    const uint32_t shown = count < WORST ? count : WORST;
    table t = table_of(r, qg_format(r->arena, "The worst %u of %u lines beside %s, %s (times: its time in ours)", shown,
                                    count, who, what));
    head(&t, "<format");
    const bool several = !like || like == &pick;
    if (several) head(&t, "<class");
    head(&t, "<matrix");
    head(&t, "<rows x cols");
    head(&t, "n");
    head(&t, "us");
    head(&t, qg_format(r->arena, "%s us", who));
    head(&t, "times");
    for (uint32_t i = 0; i < shown; ++i) {
        const qg_figure *f = &r->figures->items[lines[i].figure];
        const double theirs = r->theirs[PEERS * lines[i].figure + peer];
        const qg_matrix m = {.rows = f->rows, .cols = f->cols, .experts = f->experts, .used = f->slots};
        cell(&t, f->format);
        if (several) cell(&t, class_of(r, f));
        cell(&t, r->places[lines[i].figure]);
        cell(&t, shape_of(r, &m));
        cell(&t, number(r, f->batch));
        cell(&t, microseconds(r, f->time.median));
        cell(&t, microseconds(r, theirs));
        cell(&t, f->checked.wrong ? "wrong" : times(r, theirs, f->time.median));
    }
    add_table(r, &t);
}

/* The numbers of vectors, from the least. */
static uint32_t list_batches(const qg_figures *all, uint64_t batches[MOST_BATCHES]) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < all->count; ++i) {
        const uint64_t n = all->items[i].batch;
        uint32_t at = 0;
        while (at < count && batches[at] < n) ++at;
        if ((at < count && batches[at] == n) || count == MOST_BATCHES) continue;
        memmove(batches + at + 1, batches + at, (count - at) * sizeof *batches);
        batches[at] = n;
        count += 1;
    }
    return count;
}

static void add_means_of(report *r, table *t, uint32_t peer, const qg_figure *like, const uint64_t *batches,
                         uint32_t n_batches) {
    uint32_t count, all = 0;
    const line *lines = list_lines(r, peer, like, &count);
    cell(t, like ? class_of(r, like) : "the fastest of each");
    for (uint32_t n = 0; n < n_batches; ++n) {
        double sum = 0;
        uint32_t of = 0;
        for (uint32_t i = 0; i < count; ++i) {
            if (r->figures->items[lines[i].figure].batch != batches[n] || lines[i].ratio <= 0) continue;
            sum += log(lines[i].ratio);
            of += 1;
        }
        all += of;
        cell(t, of ? qg_format(r->arena, "%.2f", exp(sum / of)) : "-");
    }
    cell(t, number(r, all));
}

/* A figure of each class and type, in the order of their first ones. */
static const qg_figure **list_classes(report *r, uint32_t *count) {
    const qg_figures *all = r->figures;
    const qg_figure **classes = QG_NEW_ARRAY(r->arena, const qg_figure *, all->count + 1);
    *count = 0;
    for (uint32_t i = 0; i < all->count; ++i) {
        uint32_t c = 0;
        while (c < *count &&
               (strcmp(classes[c]->sum, all->items[i].sum) != 0 || strcmp(classes[c]->type, all->items[i].type) != 0))
            ++c;
        if (c == *count) classes[(*count)++] = &all->items[i];
    }
    return classes;
}

static void add_peer(report *r, uint32_t peer) {
    uint64_t batches[MOST_BATCHES];
    uint32_t n_classes, count;
    const uint32_t n_batches = list_batches(r->figures, batches);
    const qg_figure **classes = list_classes(r, &n_classes);
    table t = table_of(
        r, qg_format(r->arena, "Beside %s: its time in ours, geometric mean for each n", r->peers->names[peer]));
    list_lines(r, peer, NULL, &count);
    if (count == 0) return;
    if (n_classes > 1) add_worst(r, peer, NULL);
    if (n_classes > 1 && r->chooses) add_worst(r, peer, &pick);
    for (uint32_t c = 0; c < n_classes; ++c) add_worst(r, peer, classes[c]);
    head(&t, "<class");
    for (uint32_t n = 0; n < n_batches; ++n) head(&t, qg_format(r->arena, "n=%llu", (unsigned long long)batches[n]));
    head(&t, "lines");
    if (n_classes > 1) add_means_of(r, &t, peer, NULL, batches, n_batches);
    if (n_classes > 1 && r->chooses) add_means_of(r, &t, peer, &pick, batches, n_batches);
    for (uint32_t c = 0; c < n_classes; ++c) add_means_of(r, &t, peer, classes[c], batches, n_batches);
    add_table(r, &t);
}

/* ---- a token ---- */

/* The figure of a matrix in the group of `like`, or the number of all. */
static uint32_t find_figure(const report *r, const qg_figure *like, const qg_matrix *m) {
    uint32_t i = 0;
    while (i < r->figures->count &&
           !(qg_matrix_is(m, &r->figures->items[i]) && same_group(like, &r->figures->items[i])))
        ++i;
    return i;
}

/* A figure of each format, class, type and batch, in the order of their first ones. */
static const qg_figure **list_groups(report *r, uint32_t *count) {
    const qg_figures *all = r->figures;
    const qg_figure **groups = QG_NEW_ARRAY(r->arena, const qg_figure *, all->count + 1);
    *count = 0;
    for (uint32_t i = 0; i < all->count; ++i) {
        uint32_t g = 0;
        while (g < *count && !same_group(groups[g], &all->items[i])) ++g;
        if (g == *count) groups[(*count)++] = &all->items[i];
    }
    return groups;
}

typedef struct token {
    double ours, theirs[PEERS]; /* seconds; of peers 0 where a figure lacks */
    bool wrong;
    const char *without; /* matrices that have no figure, or NULL */
} token;

static token token_of(report *r, const qg_model *model, const qg_figure *like) {
    token t = {0};
    bool all[PEERS] = {true, true, true, true};
    for (uint32_t m = 0; m < model->count; ++m) {
        const qg_matrix *matrix = &model->items[m];
        const uint32_t i = find_figure(r, like, matrix);
        if (i == r->figures->count) {
            t.without = t.without ? qg_format(r->arena, "%s %s", t.without, matrix->name) : matrix->name;
            continue;
        }
        t.ours += (double)matrix->count * r->figures->items[i].time.median;
        t.wrong |= r->figures->items[i].checked.wrong;
        for (uint32_t p = 0; p < r->peers->n_names; ++p) {
            all[p] &= r->theirs[PEERS * i + p] > 0;
            t.theirs[p] += (double)matrix->count * r->theirs[PEERS * i + p];
        }
    }
    for (uint32_t p = 0; p < PEERS; ++p)
        if (!all[p] || t.without) t.theirs[p] = 0;
    if (t.without) t.ours = 0;
    return t;
}

static void add_token(report *r, table *t, const qg_model *model, const qg_figure *like, bool lacks) {
    const token of = token_of(r, model, like);
    cell(t, model->name);
    cell(t, like->format);
    cell(t, class_of(r, like));
    cell(t, number(r, like->batch));
    cell(t, of.wrong ? "wrong" : microseconds(r, of.ours));
    for (uint32_t p = 0; p < r->peers->n_names; ++p) {
        cell(t, microseconds(r, of.theirs[p]));
        cell(t, of.wrong ? "-" : times(r, of.theirs[p], of.ours));
    }
    if (lacks) cell(t, of.without ? of.without : "");
}

static void add_tokens(report *r) {
    uint32_t n_groups;
    const qg_figure **groups = list_groups(r, &n_groups);
    table t = table_of(r, "A token: microseconds of all quantised products, for n tokens at once");
    head(&t, "<model");
    head(&t, "<format");
    head(&t, "<class");
    head(&t, "n");
    head(&t, "us");
    for (uint32_t p = 0; p < r->peers->n_names; ++p) {
        head(&t, qg_format(r->arena, "%s us", r->peers->names[p]));
        head(&t, "times");
    }
    const qg_models *models = &r->figures->models;
    bool lacks = false;
    for (uint32_t m = 0; m < models->count; ++m)
        for (uint32_t g = 0; g < n_groups; ++g) lacks |= token_of(r, &models->items[m], groups[g]).without != NULL;
    if (lacks) head(&t, "<without a figure");
    for (uint32_t m = 0; m < models->count; ++m)
        for (uint32_t g = 0; g < n_groups; ++g) add_token(r, &t, &models->items[m], groups[g], lacks);
    add_table(r, &t);
}

/* ---- all lines ---- */

static void add_line(report *r, table *t, const qg_model *model, const qg_matrix *m, uint32_t i) {
    const qg_figure *f = &r->figures->items[i];
    const double rate = qg_figure_rate(f);
    const char *error = qg_format(r->arena, "%.1e", f->checked.error);
    cell(t, f->format);
    cell(t, class_of(r, f));
    cell(t, number(r, f->batch));
    cell(t, model->name);
    cell(t, m->name);
    cell(t, shape_of(r, m));
    cell(t, f->family);
    cell(t, number(r, m->count));
    cell(t, microseconds(r, f->time.median));
    cell(t, qg_format(r->arena, "%.1f to %.1f", 1e6 * f->time.least, 1e6 * f->time.greatest));
    cell(t, qg_format(r->arena, rate < 1e10 ? "%.2f" : rate < 1e11 ? "%.1f" : "%.0f", rate / 1e9));
    cell(t, qg_format(r->arena, "%.1f%%", 100 * rate / r->figures->copy));
    cell(t, f->checked.wrong ? qg_format(r->arena, "%s wrong", error) : error);
    for (uint32_t p = 0; p < r->peers->n_names; ++p) {
        cell(t, microseconds(r, r->theirs[PEERS * i + p]));
        cell(t, times(r, r->theirs[PEERS * i + p], f->time.median));
    }
}

static void add_lines(report *r) {
    static const char *const heads[] = {"<format",      "<class",  "n",     "<model", "<matrix",
                                        "<rows x cols", "<family", "count", "us",     "least to greatest",
                                        "GB/s",         "of copy", "<error"};
    uint32_t n_groups;
    const qg_figure **groups = list_groups(r, &n_groups);
    table t = table_of(r, "Every matrix");
    for (uint32_t i = 0; i < sizeof heads / sizeof *heads; ++i) head(&t, heads[i]);
    for (uint32_t p = 0; p < r->peers->n_names; ++p) {
        head(&t, qg_format(r->arena, "%s us", r->peers->names[p]));
        head(&t, "times");
    }
    for (uint32_t g = 0; g < n_groups; ++g)
        for (uint32_t m = 0; m < r->figures->models.count; ++m) {
            const qg_model *model = &r->figures->models.items[m];
            for (uint32_t k = 0; k < model->count; ++k) {
                const uint32_t i = find_figure(r, groups[g], &model->items[k]);
                if (i < r->figures->count) add_line(r, &t, model, &model->items[k], i);
            }
        }
    add_table(r, &t);
}

static void add_left_out(report *r) {
    const qg_texts *all = &r->figures->left_out;
    if (all->count == 0) return;
    qg_text_puts(&r->text, r->markdown ? "\n**Left out**\n\n" : "\nLeft out\n");
    for (uint32_t i = 0; i < all->count; ++i) qg_text_printf(&r->text, r->markdown ? "* %s\n" : "%s\n", all->items[i]);
}

static void add_head(report *r) {
    const qg_figures *all = r->figures;
    qg_text_printf(&r->text, "%s%s, driver %s: copies %.1f GB/s, read and written", all->device,
                   all->cpu ? ", a CPU device, whose figures say nothing of GPUs" : "", all->driver, all->copy / 1e9);
    qg_text_puts(&r->text, all->cold ? qg_figures_cold(r->arena, all)
                                     : "; each launch reads the same weights, small ones from a cache");
    qg_text_puts(&r->text, r->markdown ? ".\n" : "\n");
}

const char *qg_models_report(qg_arena *arena, const qg_figures *figures, const qg_peers *peers, bool markdown) {
    report r = {.arena = arena, .figures = figures, .peers = peers, .markdown = markdown, .text = qg_text_new(arena)};
    add_head(&r);
    look_up(&r);
    for (uint32_t p = 0; p < peers->n_names; ++p) add_peer(&r, p);
    add_tokens(&r);
    add_left_out(&r);
    add_lines(&r);
    return r.text.data;
}
