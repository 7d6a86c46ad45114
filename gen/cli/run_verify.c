/* `qkgen verify`: decodes the tensors of a model file on several targets and compares what comes out, bit for bit. */
#include "cli/run.h"
#include "files/container.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TARGETS = 3 };

/* What became of a weight. */
typedef struct result {
    bool done;
    double seconds[MAX_TARGETS];
    uint64_t differ, first; /* elements that are not the same everywhere, and the first of them */
    uint32_t other;         /* the target that differs there from the first target */
    uint32_t values[2];     /* bits: on the first target, and there */
} result;

typedef struct verify {
    qg_session *session;
    qg_job job;
    uint32_t n_targets;
    const qg_run_target *targets[MAX_TARGETS];
    qg_weights weights;
    result *results;
    qg_run_output *out; /* NULL: nothing is written */
    qg_progress progress;
    uint64_t done, all; /* bytes read */
} verify;

/* Integers are not called plain: they may be codes of a format that no rule finds. */
static bool is_plain(const qg_weight *w) {
    return w->plain != QG_SCALAR_COUNT && qg_scalars[w->plain].kind == QG_FLOATING;
}

/* ---- comparison ---- */

static uint32_t load(const uint8_t *from, uint32_t bytes) {
    uint32_t bits = 0;
    for (uint32_t i = 0; i < bytes; ++i) bits |= (uint32_t)from[i] << (8 * i);
    return bits;
}

static bool is_nan(qg_scalar type, uint32_t bits) {
    const qg_scalar_info *info = &qg_scalars[type];
    const uint32_t magnitude = bits & ((1u << (info->bits - 1)) - 1);
    return magnitude > ((1u << info->exponent_bits) - 1) << info->mantissa_bits;
}

/* Compares a part, which starts at element `first`, of the first target and of another one. */
static void compare(const verify *v, uint32_t target, uint64_t first, uint64_t count, const uint8_t *a,
                    const uint8_t *b, result *r) {
    const uint32_t bytes = qg_scalars[v->job.type].bits / 8;
    if (memcmp(a, b, (size_t)(count * bytes)) == 0) return;
    for (uint64_t i = 0; i < count; ++i) {
        const uint32_t x = load(a + i * bytes, bytes), y = load(b + i * bytes, bytes);
        if (x == y || (is_nan(v->job.type, x) && is_nan(v->job.type, y))) continue;
        if (r->differ++ && r->first <= first + i) continue;
        r->first = first + i;
        r->other = target;
        r->values[0] = x;
        r->values[1] = y;
    }
}

/* ---- decoding ---- */

static bool verify_parts(verify *v, const qg_weight *w, const qg_runner *runners, uint64_t most, uint8_t *const *dst,
                         result *r) {
    const uint64_t done = v->done;
    for (uint64_t first = 0; first < w->elements; first += most) {
        const uint64_t count = w->elements - first < most ? w->elements - first : most;
        for (uint32_t t = 0; t < v->n_targets; ++t) {
            const double before = runners[t].seconds(runners[t].context);
            const char *why = runners[t].part(runners[t].context, &v->job, first, count, dst[t]);
            if (why) return qg_complain("%s on %s: %s", w->name, runners[t].where, why) == 0;
            r->seconds[t] += runners[t].seconds(runners[t].context) - before;
            if (t) compare(v, t, first, count, dst[0], dst[t], r);
        }
        if (v->out && !qg_run_output_write(v->out, dst[0], (size_t)(count * (qg_scalars[v->job.type].bits / 8))))
            return false;
        v->done = done + (uint64_t)((double)w->bytes * ((double)(first + count) / (double)w->elements));
        qg_progress_show(&v->progress, v->done, v->all, (double)v->done);
    }
    v->done = done + w->bytes;
    return r->done = true;
}

static bool is_matrix(const qg_layout *layout) { return layout->view != QG_VIEW_BLOCKS; }

static bool take_weight(verify *v, const qg_weight *w) {
    v->job.weights = w->data;
    v->job.elements = w->elements;
    if (!is_matrix(w->layout)) return true;
    v->job.rows = w->rows;
    v->job.cols = w->cols;
    v->job.sizes = qg_matrix_sizes(v->session->arena, w->layout, w->rows, w->cols);
    uint64_t bytes = 0;
    for (uint32_t i = 0; v->job.sizes && i < w->layout->n_buffers; ++i) bytes += v->job.sizes[i];
    return bytes == w->bytes || qg_complain("%s: %llu x %llu is no shape of %s", w->name, (unsigned long long)w->rows,
                                            (unsigned long long)w->cols, w->layout->name) == 0;
}

/* Targets make their buffers when they are opened: as large as any weight needs them. */
static bool size_buffers(verify *v, const qg_layout *layout) {
    v->job.sizes = NULL;
    if (!is_matrix(layout)) return true;
    uint64_t *most = QG_NEW_ARRAY(v->session->arena, uint64_t, layout->n_buffers);
    for (uint32_t i = 0; i < v->weights.count; ++i) {
        const qg_weight *w = &v->weights.items[i];
        if (w->layout != layout) continue;
        if (!take_weight(v, w)) return false;
        for (uint32_t b = 0; b < layout->n_buffers; ++b)
            if (v->job.sizes[b] > most[b]) most[b] = v->job.sizes[b];
    }
    v->job.sizes = most;
    return true;
}

/* Everything of one format, so that each target compiles its kernel once. */
static bool verify_format(verify *v, const qg_runner *runners, uint64_t most) {
    const uint64_t bytes = most * (qg_scalars[v->job.type].bits / 8);
    uint8_t *dst[MAX_TARGETS] = {NULL};
    bool good = true;
    for (uint32_t t = 0; t < v->n_targets && good; ++t) {
        dst[t] = malloc((size_t)bytes + 1);
        if (!dst[t]) good = qg_complain("out of memory for %llu bytes", (unsigned long long)bytes) == 0;
    }
    for (uint32_t i = 0; i < v->weights.count && good; ++i) {
        const qg_weight *w = &v->weights.items[i];
        if (w->layout != v->job.layout) continue;
        good = take_weight(v, w) && verify_parts(v, w, runners, most, dst, &v->results[i]);
    }
    for (uint32_t t = 0; t < v->n_targets; ++t) free(dst[t]);
    return good;
}

static bool run_format(verify *v, const qg_layout *layout) {
    uint64_t longest = 0;
    qg_runner runners[MAX_TARGETS];
    uint32_t open = 0;
    v->job.layout = layout;
    if (!size_buffers(v, layout)) return false;
    for (uint32_t i = 0; i < v->weights.count; ++i)
        if (v->weights.items[i].layout == layout && v->weights.items[i].elements > longest)
            longest = v->weights.items[i].elements;
    v->job.elements = longest;
    const uint64_t part = qg_part_size(&v->job), most = longest < part ? longest : part;
    bool good = true;
    while (open < v->n_targets && good) {
        const char *why = v->targets[open]->open(&v->job, most, &runners[open]);
        if (why)
            good = qg_complain("%s on the target %s: %s", layout->name, v->targets[open]->name, why) == 0;
        else
            open += 1;
    }
    good = good && verify_format(v, runners, most);
    while (open-- > 0) {
        const char *why = runners[open].close(runners[open].context);
        if (why) good = qg_complain("%s on the target %s: %s", layout->name, v->targets[open]->name, why) == 0;
    }
    return good;
}

static bool run_formats(verify *v) {
    bool good = true;
    for (uint32_t i = 0; i < v->weights.count; ++i)
        if (v->weights.items[i].layout) v->all += v->weights.items[i].bytes;
    v->progress.start = qg_seconds_now();
    for (uint32_t i = 0; i < v->weights.count && good; ++i) {
        if (!v->weights.items[i].layout || v->results[i].done) continue;
        good = run_format(v, v->weights.items[i].layout);
    }
    qg_progress_end(&v->progress);
    return good;
}

/* ---- the table ---- */

enum { COLUMNS = 5 + MAX_TARGETS };

static const char *shape_text(qg_arena *arena, const qg_weight *w) {
    qg_text text = qg_text_new(arena);
    for (uint32_t i = 0; i < w->n_dims; ++i)
        qg_text_printf(&text, "%s%llu", i ? "x" : "", (unsigned long long)w->dims[i]);
    return text.data ? text.data : "1";
}

static const char *agreement(const verify *v, const qg_weight *w, const result *r) {
    if (w->verdict) return w->verdict;
    if (w->layout && !r->done) return "not decoded";
    if (!r->done) return is_plain(w) ? "plain" : "format not known";
    if (r->differ) return qg_format(v->session->arena, "%llu differ", (unsigned long long)r->differ);
    return v->n_targets > 1 ? "agree" : "decoded";
}

static void fill_row(const verify *v, uint32_t i, const char **row) {
    qg_arena *arena = v->session->arena;
    const qg_weight *w = &v->weights.items[i];
    const result *r = &v->results[i];
    row[0] = w->name;
    row[1] = w->format;
    row[2] = shape_text(arena, w);
    row[3] = qg_format(arena, "%llu", (unsigned long long)w->elements);
    const double moved = (double)w->bytes + (double)w->elements * (qg_scalars[v->job.type].bits / 8.0);
    for (uint32_t t = 0; t < v->n_targets; ++t)
        row[4 + t] = r->done && r->seconds[t] > 0 ? qg_format(arena, "%.2f", moved / r->seconds[t] / 1e9) : "-";
    row[4 + v->n_targets] = agreement(v, w, r);
}

static void print_row(const verify *v, const char *const *row, const size_t *width) {
    for (uint32_t c = 0; c < 4 + v->n_targets; ++c) {
        const bool right = c >= 3;
        printf("%*s%s%*s  ", right ? (int)(width[c] - strlen(row[c])) : 0, "", row[c],
               right ? 0 : (int)(width[c] - strlen(row[c])), "");
    }
    puts(row[4 + v->n_targets]);
}

static void print_table(const verify *v) {
    qg_arena *arena = v->session->arena;
    const char *head[COLUMNS] = {"tensor", "format", "shape", "elements"};
    const char **rows = QG_NEW_ARRAY(arena, const char *, (size_t)v->weights.count *COLUMNS);
    size_t width[COLUMNS] = {0};
    for (uint32_t t = 0; t < v->n_targets; ++t) head[4 + t] = qg_format(arena, "GB/s %s", v->targets[t]->name);
    head[4 + v->n_targets] = "agreement";
    for (uint32_t c = 0; c < 4 + v->n_targets; ++c) width[c] = strlen(head[c]);
    for (uint32_t i = 0; i < v->weights.count; ++i) {
        const char **row = rows + (size_t)i * COLUMNS;
        fill_row(v, i, row);
        for (uint32_t c = 0; c < 4 + v->n_targets; ++c)
            if (strlen(row[c]) > width[c]) width[c] = strlen(row[c]);
    }
    print_row(v, head, width);
    for (uint32_t i = 0; i < v->weights.count; ++i) print_row(v, rows + (size_t)i * COLUMNS, width);
}

/* Prints what was found; false when something disagrees, or was not decoded although its format is known. */
static bool conclude(const verify *v) {
    uint32_t decoded = 0, differ = 0, plain = 0, unknown = 0, refused = 0;
    for (uint32_t i = 0; i < v->weights.count; ++i) {
        const qg_weight *w = &v->weights.items[i];
        const result *r = &v->results[i];
        decoded += r->done;
        differ += r->differ > 0;
        refused += w->problem != NULL;
        plain += is_plain(w);
        unknown += !w->layout && !w->problem && !is_plain(w);
        if (w->problem) qg_complain("%s %s", w->name, w->problem);
        if (!r->differ) continue;
        const int digits = (int)qg_scalars[v->job.type].bits / 4;
        qg_complain("%s: %llu comparisons differ, first at element %llu: 0x%0*X on %s, 0x%0*X on %s", w->name,
                    (unsigned long long)r->differ, (unsigned long long)r->first, digits, r->values[0],
                    v->targets[0]->name, digits, r->values[1], v->targets[r->other]->name);
    }
    if (!v->out || differ || refused) {
        printf("%u tensors: %u decoded, %u of them differ; %u plain, %u of formats not known", v->weights.count,
               decoded, differ, plain, unknown);
        if (refused) printf(", %u refused", refused);
        puts("");
    }
    return differ == 0 && refused == 0;
}

/* ---- the request ---- */

/* What the model's config.json, beside the file, says of the formats of its weights. */
static bool read_configuration(qg_arena *arena, const qg_rules *rules, const char *path, qg_settings *settings) {
    const char *slash = strrchr(path, '/'), *why = NULL;
    const char *name = qg_format(arena, "%.*sconfig.json", slash ? (int)(slash + 1 - path) : 0, path);
    size_t length;
    FILE *there = fopen(name, "rb");
    if (!there) return true;
    fclose(there);
    const char *text = qg_read_file(arena, name, (size_t)16 << 20, &length, &why);
    if (text) why = qg_settings_read(arena, rules, text, length, settings);
    return !why || qg_complain("%s: %s", name, why) == 0;
}

static bool read_rules(const qg_session *session, const qg_texts *files, qg_rules *rules) {
    const char *why = NULL;
    for (uint32_t i = 0; i < files->count && !why; ++i) why = qg_rules_add(rules, files->items[i]);
    if (!why) why = qg_rules_add(rules, qg_format(session->arena, "%s/formats/containers.txt", session->data));
    return !why || qg_complain("%s", why) == 0;
}

static bool read_sets(qg_arena *arena, const qg_texts *sets, qg_settings *settings) {
    for (uint32_t i = 0; i < sets->count; ++i) {
        const char *equals = strchr(sets->items[i], '=');
        if (!equals) return qg_complain("--set takes PARAMETER=VALUE, not '%s'", sets->items[i]) == 0;
        const qg_setting s = {.module = "", .value = equals + 1};
        QG_PUSH(arena, settings->items, settings->count, settings->capacity, s);
        settings->items[i].name = qg_strndup(arena, sets->items[i], (size_t)(equals - sets->items[i]));
    }
    return true;
}

static bool read_model(verify *v, const qg_input *file, const qg_texts *rule_files, const qg_texts *sets) {
    qg_arena *arena = v->session->arena;
    qg_container container;
    qg_settings said = {0}, configured = {0};
    qg_rules *rules = qg_rules_new(arena);
    if (!read_rules(v->session, rule_files, rules) || !read_sets(arena, sets, &said) ||
        !read_configuration(arena, rules, file->path, &configured))
        return false;
    const char *why = qg_container_read(arena, file->data, file->bytes, &container);
    if (!why) why = qg_container_map(arena, &container, rules, v->session->library, &said, &configured, &v->weights);
    return !why || qg_complain("%s: %s", file->path, why) == 0;
}

/* Keeps only the weight that --tensor names. */
static bool choose_tensor(verify *v, const char *name) {
    const qg_weight *all = v->weights.items, *found = NULL;
    for (uint32_t i = 0; i < v->weights.count; ++i)
        if (strcmp(all[i].name, name) == 0 || (!found && strcmp(all[i].stem, name) == 0)) found = &all[i];
    if (found) {
        v->weights.items += found - all;
        v->weights.count = 1;
        return true;
    }
    return qg_complain("the file has no tensor named %s; without --tensor, verify lists them", name) == 0;
}

static bool choose_targets(verify *v, const qg_texts *names) {
    static const char *const usual[] = {"c", "vulkan"};
    const uint32_t count = names->count ? names->count : 2;
    for (uint32_t i = 0; i < count; ++i) {
        const qg_run_target *target = qg_target_named(names->count ? names->items[i] : usual[i]);
        if (!target) return qg_complain("--target must be c, vulkan or msl, not '%s'", names->items[i]) == 0;
        for (uint32_t t = 0; t < v->n_targets; ++t)
            if (v->targets[t] == target) target = NULL;
        if (!target) return qg_complain("--target %s is given twice", names->items[i]) == 0;
        v->targets[v->n_targets++] = target;
    }
    return true;
}

/* One tensor, to a file. */
static int extract(verify *v, const char *path) {
    const qg_weight *w = &v->weights.items[0];
    qg_run_output out;
    if (!w->layout && !w->problem && w->plain != v->job.type) {
        if (!is_plain(w))
            return qg_complain("%s is of the format %s, which no specification describes", w->name, w->format);
        if (qg_family_type(v->job.family, w->format) == QG_SCALAR_COUNT)
            return qg_complain("%s is plain %s, which verify does not write", w->name, w->format);
        return qg_complain("%s is plain %s, which is only written as it is; use --type %s for a float type", w->name,
                           w->format, w->format);
    }
    if (!qg_run_output_open(v->session->arena, path, &out)) return 1;
    v->out = &out;
    bool good = w->layout || w->problem ? run_formats(v) : qg_run_output_write(&out, w->data[0], (size_t)w->bytes);
    good = good && conclude(v);
    v->out = NULL;
    return qg_run_output_close(&out, good) ? 0 : 1;
}

int qg_command_verify(qg_session *session, int argc, char **argv) {
    const char *type = "f32", *tensor = NULL, *out = NULL, *why = NULL;
    qg_texts rest = {0}, names = {0}, rules = {0}, sets = {0};
    verify v = {.session = session, .job = {.arena = session->arena}};
    const qg_option options[] = {
        {"--target", QG_TEXTS, &names, "c|vulkan|msl", "a target that decodes (default: c and vulkan)"},
        {"--tensor", QG_TEXT, &tensor, "NAME", "this tensor alone"},
        {"--out", QG_TEXT, &out, "FILE", "writes the tensor's values"},
        {"--type", QG_TEXT, &type, "f32|f16|bf16", "of decoded values (default: f32)"},
        {"--rules", QG_TEXTS, &rules, "FILE", "more rules for finding the format of a tensor: docs/verify.md"},
        {"--set", QG_TEXTS, &sets, "PARAMETER=VALUE", "chooses where several formats fit"},
        {"--device", QG_TEXT, &v.job.device, "NAME|NUMBER", "vulkan: one of `qkgen devices` (default: the best)"},
        QG_SESSION_OPTIONS(session)};
    if (!qg_options_read(session, argc, argv, options, sizeof options / sizeof *options, &rest)) return 1;
    if (rest.count != 1) return qg_complain("verify needs one file: qkgen verify FILE.gguf|FILE.safetensors");
    if (out && !tensor) return qg_complain("--out needs --tensor NAME, the tensor that is written");
    v.job.family = &qg_families[QG_FAMILY_DEQUANT];
    v.job.type = qg_family_type(v.job.family, type);
    if (v.job.type == QG_SCALAR_COUNT) return qg_complain("--type must be f32, f16 or bf16, not '%s'", type);
    qg_templates templates;
    qg_input file;
    if (!choose_targets(&v, &names) || !qg_session_load(session) || !qg_input_open(rest.items[0], &file)) return 1;
    if (!qg_templates_load(session->arena, qg_session_templates(session), &templates, &why))
        return qg_complain("%s", why);
    v.job.templates = &templates;
    if (!read_model(&v, &file, &rules, &sets) || (tensor && !choose_tensor(&v, tensor))) return 1;
    v.results = QG_NEW_ARRAY(session->arena, result, v.weights.count);
#ifdef SIGXFSZ
    signal(SIGXFSZ, SIG_IGN); /* a file-size limit is an error of write, like a full disk */
#endif
    if (out) return extract(&v, out);
    const bool good = run_formats(&v);
    print_table(&v);
    return conclude(&v) && good ? 0 : 1;
}
