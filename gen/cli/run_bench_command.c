/* `qkgen bench`: how fast the kernels are on a device, as a share of what the device's memory can do in the same run.
 * Every
 * result is checked in that run, too. */
#include "cli/run_bench.h"
#include "emit/spirv.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct request {
    qg_bench *bench;
    qg_texts families, formats, constants, classes, types;
    const char *batches, *from, *tuning, *json, *svg, *markdown, *peers, *read, *device;
    bool all, sizes, quick, cold, layer;
    qg_texts models;
    uint64_t samples, cache; /* MiB */
    uint64_t rows, cols, experts, slots, x_slots, group, bins;
    const char *routing;
    qg_texts to; /* transcode: what is made */
    qg_figures figures;
} request;

/* ---- what is asked for ---- */

static bool is_pattern(const char *name) { return strpbrk(name, "*?[") != NULL; }

static void add_format(qg_layouts *chosen, const qg_layout *layout) {
    for (uint32_t c = 0; c < chosen->count; ++c)
        if (chosen->items[c] == layout) return;
    chosen->items[chosen->count++] = layout;
}

/* The formats that names and patterns mean, those whose origin has the text of --from, or all. */
static bool choose_formats(qg_session *session, const request *r, qg_layouts *chosen) {
    const qg_layouts all = session->library->layouts;
    *chosen = (qg_layouts){.items = QG_NEW_ARRAY(session->arena, const qg_layout *, all.count + 1)};
    if (r->formats.count == 0 && !r->all && !r->from)
        return qg_complain(
                   "bench needs --format F (names or patterns, with commas between them), --from ORIGIN or --all") == 0;
    for (uint32_t l = 0; l < all.count && r->from; ++l)
        if (all.items[l]->spec->origin && strstr(all.items[l]->spec->origin, r->from)) add_format(chosen, all.items[l]);
    if (r->from && chosen->count == 0)
        return qg_complain("no format is from '%s'; it must be part of what stands after `from` in a specification",
                           r->from) == 0;
    for (uint32_t i = 0; i < r->formats.count; ++i) {
        const char *name = r->formats.items[i];
        const qg_layout *layout = is_pattern(name) ? NULL : qg_session_format(session, name);
        bool found = layout != NULL;
        if (layout) add_format(chosen, layout);
        if (!layout && !is_pattern(name)) return false;
        for (uint32_t l = 0; l < all.count && is_pattern(name); ++l) {
            if (fnmatch(name, all.items[l]->name, 0) != 0) continue;
            add_format(chosen, all.items[l]);
            found = true;
        }
        if (!found) return qg_complain("no format matches '%s'; `qkgen list` shows them", name) == 0;
    }
    for (uint32_t l = 0; l < all.count && r->all; ++l) add_format(chosen, all.items[l]);
    return true;
}

/* Shapes that the peers are measured with, or, on a CPU, smaller ones. */
static qg_case case_of(const request *r, const qg_family *family, qg_scalar type, const qg_sum_class *sum,
                       uint64_t batch) {
    const bool cpu = r->bench->cpu;
    qg_case c = {.family = family, .type = type, .sum = sum, .batch = batch, .slots = 1};
    c.rows = !family->sums ? 16384 : family->experts ? 768 : 57344;
    c.cols = family->experts ? 2048 : 8192;
    if (cpu) c.rows = family->experts ? 256 : 512;
    if (cpu) c.cols = family->experts ? 1024 : 4096;
    if (family->experts) c.experts = r->experts ? r->experts : cpu ? 16 : 128;
    if (family->experts) c.slots = r->slots ? r->slots : 8;
    if (family->experts) c.x_slots = r->x_slots;
    c.skewed = family->experts && r->figures.skewed;
    if (r->rows) c.rows = r->rows;
    if (r->cols) c.cols = r->cols;
    return c;
}

static bool read_batches(qg_arena *arena, const char *list, uint64_t batches[8], uint32_t *count) {
    qg_texts words = {0};
    qg_split(arena, list, &words);
    for (*count = 0; *count < words.count; ++*count) {
        char *end;
        const char *word = words.items[*count];
        const unsigned long long number = strtoull(word, &end, 10);
        if (*word < '0' || *word > '9' || *end || number == 0 || number > 1000000 || *count == 8)
            return qg_complain("--batch must be at most eight whole numbers from 1, with commas between them, not '%s'",
                               list) == 0;
        batches[*count] = number;
    }
    return *count > 0 || qg_complain("--batch needs a number") == 0;
}

/* Beside other classes, matrix units are left out where there are none; alone, they are asked for. */
static bool lacks_units(const request *r, const qg_sum_class *sum) {
    if (!sum || sum->products != QG_PRODUCTS_MMA || r->classes.count < 2) return false;
    const uint32_t has = qk_vulkan_backend(r->bench->vk).limits.features;
    return !(has & QK_FEATURE_COOPERATIVE_MATRIX) || !qg_spirv_has_matrices();
}

/* The cases of a family and an element type: gather and dequant have no right-hand sides, and no class. */
static bool add_cases(qg_session *session, const request *r, const qg_family *family, qg_scalar type,
                      const uint64_t *batches, uint32_t n_batches, qg_case *cases, uint32_t *count) {
    const uint32_t n_classes = family->sums && r->classes.count ? r->classes.count : 1;
    for (uint32_t k = 0; k < n_classes; ++k) {
        const qg_sum_class *sum = NULL;
        const char *name = family->sums && r->classes.count ? r->classes.items[k] : NULL;
        if (!family->encodes && !qg_session_class(session, family, NULL, name, &sum)) return false;
        for (uint32_t i = 0; i < (family->sums ? n_batches : 1) && !lacks_units(r, sum); ++i)
            cases[(*count)++] = case_of(r, family, type, sum, family->sums ? batches[i] : 1);
    }
    return true;
}

/* The cases of all families; formats come later. */
static bool list_cases(qg_session *session, const request *r, qg_case **cases, uint32_t *count) {
    uint64_t batches[8];
    uint32_t n_batches;
    if (!read_batches(session->arena, r->batches, batches, &n_batches)) return false;
    *cases = QG_NEW_ARRAY(session->arena, qg_case,
                          r->families.count * r->types.count * n_batches * (r->classes.count + 1) + 1);
    *count = 0;
    for (uint32_t f = 0; f < r->families.count; ++f) {
        const qg_family *family = qg_family_named(r->families.items[f]);
        if (!family) return qg_complain("no kernel family is named %s", r->families.items[f]) == 0;
        if (family->encodes && r->cold)
            return qg_complain("--cold is about weights that are read, and %s writes them: take more --rows instead",
                               family->name) == 0;
        for (uint32_t t = 0; t < r->types.count; ++t) {
            const qg_scalar type = qg_family_type(family, r->types.items[t]);
            if (type == QG_SCALAR_COUNT)
                return qg_complain("%s has no kernels of type %s", family->name, r->types.items[t]) == 0;
            if (!add_cases(session, r, family, type, batches, n_batches, *cases, count)) return false;
        }
    }
    return true;
}

/* A sweep over rows and columns in powers of two, as far as the device has room. */
static uint32_t sweep(const request *r, qg_case base, qg_case **cases, qg_arena *arena) {
    enum { MOST = 32 * 32 };
    const uint64_t most_rows = r->rows ? r->rows : r->bench->cpu ? 1024 : 262144;
    const uint64_t most_cols = r->cols ? r->cols : r->bench->cpu ? 4096 : 65536;
    const uint64_t memory = qk_vulkan_info(r->bench->vk)->memory;
    uint32_t count = 0;
    *cases = QG_NEW_ARRAY(arena, qg_case, MOST);
    for (uint64_t cols = 256; cols <= most_cols && count < MOST - 1; cols *= 2) {
        for (uint64_t rows = 1; rows <= most_rows && count < MOST - 1; rows *= 2) {
            if ((double)rows * (double)cols * qg_bits_per_element(base.layout) / 8 > (double)memory / 2) continue;
            (*cases)[count] = base;
            (*cases)[count].rows = rows;
            (*cases)[count].cols = cols;
            if (qg_case_fits(r->bench, &(*cases)[count])) count += 1;
        }
    }
    return count;
}

/* ---- the run ---- */

static void show_progress(const request *r, const qg_figure *f) {
    if (!isatty(STDERR_FILENO)) return;
    fprintf(stderr, "\r\033[K%u: %s %s %llux%llu, %.0f GB/s", r->figures.count, f->format, f->family,
            (unsigned long long)f->rows, (unsigned long long)f->cols, qg_figure_rate(f) / 1e9);
}

static bool run_case(request *r, const qg_case *c) {
    qg_bench *b = r->bench;
    qg_arena *arena = b->session->arena;
    const qk_tuning *tuning = b->tuning;
    qg_subject s;
    qg_figure f = qg_figure_new(arena, c);
    bool good = qg_subject_open(b, c, &s);
    if (good && r->constants.count)
        good = (b->tuning = qg_tuning_with(arena, tuning, s.kernel, c, &r->constants)) != NULL;
    good = good && qg_subject_measure(b, &s, &f.time) && qg_subject_check(b, &s, &f.checked);
    b->tuning = tuning;
    f.bytes = qg_subject_moved(&s);
    qg_figure_round(&f);
    qg_subject_close(b, &s);
    if (!good)
        return qg_complain("that was %s of %s, %llu x %llu", f.family, f.format, (unsigned long long)f.rows,
                           (unsigned long long)f.cols) == 0;
    QG_PUSH(arena, r->figures.items, r->figures.count, r->figures.capacity, f);
    show_progress(r, &f);
    return true;
}

static bool run_format(request *r, const qg_layout *layout, const qg_case *cases, uint32_t count) {
    qg_arena *arena = r->bench->session->arena;
    qg_case *own = QG_NEW_ARRAY(arena, qg_case, count + 1);
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; ++i) {
        own[n] = cases[i];
        own[n].layout = layout;
        if (qg_case_fits(r->bench, &own[n])) n += 1;
    }
    if (r->sizes) n = sweep(r, (own[0].layout = layout, own[0]), &own, arena);
    if (n == 0 && r->formats.count == 1 && !is_pattern(r->formats.items[0]) && !r->from && !r->all)
        return qg_complain("%s has no such kernel, or no tensor of that shape; blocks are %u x %u", layout->name,
                           layout->block_rows, layout->block_cols) == 0;
    bool good = n == 0 || qg_stock_open(r->bench, layout, own, n);
    for (uint32_t i = 0; i < n && good; ++i) good = run_case(r, &own[i]);
    return good;
}

/* Every matrix of the models, with each class and number of vectors. */
static bool measure_models(request *r, const qg_layouts *layouts) {
    qg_session *session = r->bench->session;
    uint64_t batches[8];
    qg_model_run run = {
        .bench = r->bench, .figures = &r->figures, .types = &r->types, .constants = &r->constants, .batches = batches};
    const qg_sum_class **classes = QG_NEW_ARRAY(session->arena, const qg_sum_class *, r->classes.count + 1);
    if (!read_batches(session->arena, r->batches, batches, &run.n_batches)) return false;
    for (uint32_t k = 0; k < r->classes.count || k == 0; ++k) {
        const qg_sum_class *sum = NULL;
        const char *name = r->classes.count ? r->classes.items[k] : NULL;
        if (!qg_session_class(session, &qg_families[QG_FAMILY_GEMV], NULL, name, &sum)) return false;
        if (!lacks_units(r, sum) || qg_spirv_has_matrices()) /* tiles need none on the device */
            classes[run.n_classes++] = sum;
        else
            qg_figures_leave_out(
                session->arena, &r->figures,
                qg_format(session->arena, "class %s: this device, or compiler, has no matrix units", sum->name));
    }
    run.classes = classes;
    return qg_bench_models(&run, layouts);
}

/* A layer of each model, with each format, class and number of vectors. */
static bool measure_layers(request *r, const qg_layouts *layouts) {
    qg_session *session = r->bench->session;
    uint64_t batches[8];
    uint32_t n_batches;
    if (!read_batches(session->arena, r->batches, batches, &n_batches)) return false;
    qg_bench_layer_heading(r->bench);
    for (uint32_t m = 0; m < r->figures.models.count; ++m)
        for (uint32_t l = 0; l < layouts->count; ++l)
            for (uint32_t k = 0; k < r->classes.count || k == 0; ++k) {
                const qg_sum_class *sum;
                const char *name = r->classes.count ? r->classes.items[k] : NULL;
                if (!qg_session_class(session, &qg_families[QG_FAMILY_GEMV], NULL, name, &sum)) return false;
                for (uint32_t i = 0; i < n_batches && !lacks_units(r, sum); ++i)
                    if (!qg_bench_layer(r->bench, layouts->items[l], &r->figures.models.items[m], sum, batches[i]))
                        return false;
            }
    return true;
}

static bool measure_all(request *r, const qg_layouts *layouts, const qg_case *cases, uint32_t count) {
    qg_bench *b = r->bench;
    const qk_vulkan_device *info = qk_vulkan_info(b->vk);
    if (r->layer) return measure_layers(r, layouts);
    if (!qg_bench_copy(b)) return false;
    r->figures.device = info->name;
    r->figures.driver = info->driver;
    r->figures.cpu = b->cpu;
    r->figures.copy = qg_round_as_json(b->copy);
    r->figures.cold = b->cold;
    if (r->figures.models.count) return measure_models(r, layouts);
    bool good = true;
    for (uint32_t i = 0; i < layouts->count && good; ++i) good = run_format(r, layouts->items[i], cases, count);
    if (isatty(STDERR_FILENO)) fputs("\r\033[K", stderr);
    return good;
}

/* ---- what comes of it ---- */

static bool write_text(qg_arena *arena, const char *path, const char *text) {
    const char *why = path ? qg_write_file(arena, path, text, strlen(text)) : NULL;
    return !why || qg_complain("cannot write %s: %s", path, why) == 0;
}

static bool is_sweep(const qg_figures *f) {
    for (uint32_t i = 1; i < f->count; ++i)
        if (qg_figure_same_group(&f->items[0], &f->items[i]) && strcmp(f->items[0].format, f->items[i].format) == 0)
            return true;
    return false;
}

static bool write_documents(qg_arena *arena, request *r, const qg_peers *peers) {
    const qg_figures *f = &r->figures;
    bool good = write_text(arena, r->json, r->json ? qg_figures_json(arena, f) : NULL);
    if (good && (r->svg || r->markdown) && f->count == 0) return qg_complain("there are no figures to draw") == 0;
    if (r->svg && f->models.count)
        return qg_complain("--svg draws figures of one shape, or of --sizes, not of models; take --markdown") == 0;
    if (good && r->svg)
        good = write_text(arena, r->svg, (is_sweep(f) ? qg_sizes_svg : qg_figures_svg)(arena, f, peers));
    if (good && r->markdown)
        good = write_text(arena, r->markdown,
                          f->models.count ? qg_models_report(arena, f, peers, true)
                                          : qg_figures_markdown(arena, f, peers));
    return good;
}

static bool all_right(const qg_figures *figures) {
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < figures->count; ++i) wrong += figures->items[i].checked.wrong;
    return wrong == 0 ||
           qg_complain("%u of %u results are wrong: they differ from the values of the specification by more "
                       "than the kernel's numeric class allows",
                       wrong, figures->count) == 0;
}

static bool measure(qg_session *session, request *r) {
    qg_layouts layouts;
    qg_case *cases = NULL;
    uint32_t count = 0;
    qg_bench *b = r->bench;
    const uint64_t workgroups = b->workgroups;
    if (r->families.count == 0 && r->figures.models.count == 0)
        return qg_complain(
                   "bench needs kernel families, such as qkgen bench gemv,gather; `qkgen list families` shows them") ==
               0;
    if (!qg_session_load(session) || !choose_formats(session, r, &layouts)) return false;
    bool good = qg_bench_open(b, session, r->device) && list_cases(session, r, &cases, &count);
    b->workgroups = workgroups;
    b->quick = r->quick;
    if (r->quick) b->samples = 5;
    if (r->samples) b->samples = (uint32_t)r->samples;
    if (r->cold || r->layer) b->cold = (r->cache ? 4 * r->cache : 512) << 20;
    if (good && r->sizes && count != 1) good = qg_complain("--sizes takes one family and one --batch") == 0;
    if (good && r->sizes && !r->samples) b->samples = 7;
    if (good && r->tuning) {
        const char *why = qg_tuning_read(session->arena, r->tuning, qk_vulkan_info(b->vk)->name, &b->tuning);
        good = !why || qg_complain("%s", why) == 0;
    }
    good = good && measure_all(r, &layouts, cases, count);
    if (r->figures.device) {
        r->figures.device = qg_format(session->arena, "%s", r->figures.device);
        r->figures.driver = qg_format(session->arena, "%s", r->figures.driver);
    }
    qg_bench_close(b);
    return good;
}

static bool has_files(const request *r) { return r->json || r->svg || r->markdown || r->peers || r->read; }

/* Every format with every one that --to names. */
static int bench_transcode(qg_session *session, request *r) {
    qg_bench *b = r->bench;
    qg_layouts from, to;
    qg_scalar types[QG_SCALAR_COUNT];
    if (r->families.count > 1) return qg_complain("transcode is measured by itself, without other families");
    if (r->to.count == 0) return qg_complain("transcode needs --to F,..., what is made of the blocks of --format");
    if (r->models.count || r->classes.count || r->constants.count || r->tuning || r->sizes || r->cold || r->layer ||
        b->workgroups)
        return qg_complain("transcode takes none of --model, --class, --constant, --tuning, --sizes, --cold, "
                           "--workgroups");
    if (has_files(r))
        return qg_complain("transcode prints its figures: leave --json, --svg, --markdown, --peers, --read out");
    if (r->types.count > QG_SCALAR_COUNT) return qg_complain("--type was given %u times", r->types.count);
    for (uint32_t i = 0; i < r->types.count; ++i) {
        types[i] = qg_family_type(&qg_families[QG_FAMILY_DEQUANT], r->types.items[i]);
        if (types[i] == QG_SCALAR_COUNT) return qg_complain("dequant has no kernels of type %s", r->types.items[i]);
    }
    request made = {.bench = b, .formats = r->to};
    if (!qg_session_load(session) || !choose_formats(session, r, &from) || !choose_formats(session, &made, &to))
        return 1;
    bool good = qg_bench_open(b, session, r->device);
    b->quick = r->quick;
    if (r->quick) b->samples = 5;
    if (r->samples) b->samples = (uint32_t)r->samples;
    good = good && qg_bench_copy(b);
    const uint64_t rows = r->rows ? r->rows : b->cpu ? 512 : 16384, cols = r->cols ? r->cols : b->cpu ? 4096 : 8192;
    if (good) qg_bench_transcode_heading(b, rows, cols);
    for (uint32_t i = 0; i < from.count; ++i)
        for (uint32_t k = 0; k < to.count && good; ++k)
            good = qg_bench_transcode(b, from.items[i], to.items[k], types, r->types.count, rows, cols);
    qg_bench_close(b);
    return good ? 0 : 1;
}

/* Families that take no format: all of those that are named, on 2^29 numbers, or fewer where the device is a CPU. */
static int bench_plain(qg_session *session, request *r) {
    qg_bench *b = r->bench;
    if (r->formats.count || r->all || r->from) return qg_complain("%s takes no format", r->families.items[0]);
    if (r->models.count || r->quick || r->samples || r->cold || r->cache)
        return qg_complain("%s takes none of --model, --quick, --samples, --cold, --cache", r->families.items[0]);
    if (r->types.count || r->classes.count || r->constants.count || r->tuning || r->sizes || b->workgroups)
        return qg_complain("%s takes none of --type, --class, --constant, --tuning, --workgroups, --sizes; it takes "
                           "--group, --bins, --rows and --cols",
                           r->families.items[0]);
    if (has_files(r))
        return qg_complain("%s writes its figures as text alone: leave --json, --svg, --markdown, --peers, --read out",
                           r->families.items[0]);
    if (r->group == 0 || r->group % 4 || r->group > 4096)
        return qg_complain("--group must be a multiple of 4 up to 4096, not %llu", (unsigned long long)r->group);
    if (r->bins < 2 || r->bins > 256)
        return qg_complain("--bins must be from 2 to 256, not %llu", (unsigned long long)r->bins);
    if (!qg_session_load(session)) return 1;
    bool good = qg_bench_open(b, session, r->device) && qg_bench_copy(b);
    const uint64_t rows = r->rows ? r->rows : b->cpu ? 512 : 65536, cols = r->cols ? r->cols : b->cpu ? 4096 : 8192;
    if (good) {
        const qk_vulkan_device *info = qk_vulkan_info(b->vk);
        printf("%s%s, driver %s: copies %.1f GB/s, read and written\n", info->name,
               b->cpu ? ", a CPU device, whose figures say nothing of GPUs" : "", info->driver, b->copy / 1e9);
    }
    for (uint32_t i = 0; i < r->families.count && good; ++i) {
        const qg_plain *family = qg_plain_named(r->families.items[i], NULL);
        if (!family)
            good =
                qg_complain("families with and without formats need runs of their own: %s", r->families.items[i]) == 0;
        else
            good = qg_bench_plain(b, family, rows * cols, (uint32_t)r->group, (uint32_t)r->bins);
    }
    qg_bench_close(b);
    return good ? 0 : 1;
}

/* What goes with --model, --samples and --cold, and the models. */
static bool read_models(qg_session *session, const request *r, qg_models *models) {
    if (r->samples > QG_BENCH_MOST_SAMPLES)
        return qg_complain("--samples must be from 1 to %d, not %llu", QG_BENCH_MOST_SAMPLES,
                           (unsigned long long)r->samples) == 0;
    if (r->layer && r->models.count == 0) return qg_complain("--layer is of a model; give --model NAME, too") == 0;
    if (r->layer && (r->json || r->svg || r->markdown || r->peers || r->read || r->constants.count || r->tuning))
        return qg_complain(
                   "--layer prints its figures, and has the planner's constants: leave --json, --svg, --markdown, "
                   "--peers, --read, --constant and --tuning out") == 0;
    if (r->cache && !r->cold && !r->layer) return qg_complain("--cache is the size for --cold; give that, too") == 0;
    if (r->cache > 65536)
        return qg_complain("--cache must be at most 65536 MiB, not %llu", (unsigned long long)r->cache) == 0;
    if (r->models.count == 0) return true;
    if (r->families.count)
        return qg_complain("--model chooses the families by itself; leave %s out", r->families.items[0]) == 0;
    if (r->rows || r->cols || r->experts || r->slots || r->sizes)
        return qg_complain("--model has the shapes: leave --rows, --cols, --experts, --slots and --sizes out") == 0;
    return qg_models_read(session->arena, session->data ? session->data : qg_session_data(session), &r->models, models);
}

int qg_command_bench(qg_session *session, int argc, char **argv) {
    qg_bench bench = {0};
    request r = {.bench = &bench, .group = 64, .bins = 16};
    qg_texts formats = {0}, classes = {0}, types = {0}, models = {0}, to = {0}, rest = {0};
    const qg_option options[] = {
        {"--format", QG_TEXTS, &formats, "F,...", "formats, by names or patterns such as 'a*'"},
        {"--from", QG_TEXT, &r.from, "ORIGIN", "formats whose specification says that they are from there"},
        {"--all", QG_FLAG, &r.all, NULL, "all formats"},
        {"--to", QG_TEXTS, &to, "F,...", "transcode: formats that are made of these"},
        {"--type", QG_TEXTS, &types, "f32|f16|bf16,...",
         "of results; of families that sum: of x; of those that encode: of floats (default: f32)"},
        {"--class", QG_TEXTS, &classes, qg_format(session->arena, "%s,...", qg_class_words()),
         "how sums multiply (default: exact)"},
        {"--rows", QG_COUNT, &r.rows, "N",
         "rows of the matrix (default: 57344; of families that do not sum: 16384; gemv_id: 768; less on a CPU)"},
        {"--cols", QG_COUNT, &r.cols, "K", "its columns (default: 8192; gemv_id: 2048; less on a CPU)"},
        {"--batch", QG_TEXT, &r.batches, "M,...",
         "how many vectors, up to eight numbers (default: 1; --model: 1,2,3,4,5,8)"},
        {"--tokens", QG_TEXT, &r.batches, "M,...", "the same, of gemv_id and gemm_id"},
        {"--experts", QG_COUNT, &r.experts, "E", "gemv_id, gemm_id: matrices (default: 128; 16 on a CPU)"},
        {"--slots", QG_COUNT, &r.slots, "S", "gemv_id, gemm_id: experts for each token (default: 8)"},
        {"--x-slots", QG_COUNT, &r.x_slots, "1|S", "the same: vectors of each token (default: 1)"},
        {"--routing", QG_TEXT, &r.routing, "uniform|skewed", "the same: which experts tokens have (default: uniform)"},
        {"--group", QG_COUNT, &r.group, "N", "families without a format: elements of a group (default: 64)"},
        {"--bins", QG_COUNT, &r.bins, "N", "families without a format: levels of a group (default: 16)"},
        {"--sizes", QG_FLAG, &r.sizes, NULL, "powers of two of rows and columns, instead of one shape"},
        {"--constant", QG_TEXTS, &r.constants, "NAME=VALUE", "a constant of the kernel other than the planner's"},
        {"--tuning", QG_TEXT, &r.tuning, "FILE", "constants that `qkgen tune` found"},
        {"--workgroups", QG_COUNT, &bench.workgroups, "N", "launches so many, other than the planner's"},
        {"--device", QG_TEXT, &r.device, "NAME|NUMBER", "one of `qkgen devices` (default: the best)"},
        {"--json", QG_TEXT, &r.json, "FILE", "writes the figures"},
        {"--read", QG_TEXT, &r.read, "FILE,...", "takes figures that --json wrote, and measures nothing"},
        {"--svg", QG_TEXT, &r.svg, "FILE", "draws the figures"},
        {"--markdown", QG_TEXT, &r.markdown, "FILE", "writes a table"},
        {"--peers", QG_TEXT, &r.peers, "FILE", "figures of other libraries, to stand beside ours"},
        {"--model", QG_TEXTS, &models, "NAME|FILE,...", "the shapes of models, instead of families and one shape"},
        {"--layer", QG_FLAG, &r.layer, NULL, "one layer of --model, launched apart, together, and fused; is --cold"},
        {"--samples", QG_COUNT, &r.samples, "N", "submissions whose median is taken (default: 21; --quick: 5)"},
        {"--quick", QG_FLAG, &r.quick, NULL, "shorter submissions, and less waiting for the device's clocks"},
        {"--cold", QG_FLAG, &r.cold, NULL, "launches take turns over 512 MiB of weights, which no cache holds"},
        {"--cache", QG_COUNT, &r.cache, "MIB", "of the device: --cold takes four times that"},
        QG_SESSION_OPTIONS(session)};
    if (!qg_options_read(session, argc, argv, options, sizeof options / sizeof *options, &rest)) return 1;
    for (uint32_t i = 0; i < rest.count; ++i) qg_split(session->arena, rest.items[i], &r.families);
    for (uint32_t i = 0; i < formats.count; ++i) qg_split(session->arena, formats.items[i], &r.formats);
    for (uint32_t i = 0; i < classes.count; ++i) qg_split(session->arena, classes.items[i], &r.classes);
    for (uint32_t i = 0; i < types.count; ++i) qg_split(session->arena, types.items[i], &r.types);
    for (uint32_t i = 0; i < models.count; ++i) qg_split(session->arena, models.items[i], &r.models);
    if (r.families.count && qg_plain_named(r.families.items[0], NULL)) return bench_plain(session, &r);
    for (uint32_t i = 0; i < to.count; ++i) qg_split(session->arena, to.items[i], &r.to);
    if (r.types.count == 0) qg_split(session->arena, "f32", &r.types);
    qg_models named = {0};
    if (r.routing && strcmp(r.routing, "uniform") != 0 && strcmp(r.routing, "skewed") != 0)
        return qg_complain("--routing must be uniform or skewed, not '%s'", r.routing);
    r.figures.skewed = r.routing && strcmp(r.routing, "skewed") == 0;
    if (!read_models(session, &r, &named)) return 1;
    for (uint32_t i = 0; i < r.families.count; ++i)
        if (strcmp(r.families.items[i], qg_transcode.name) == 0) return bench_transcode(session, &r);
    if (r.to.count) return qg_complain("--to is of transcode");
    if (!r.read) r.figures.models = named;
    if (!r.batches) r.batches = r.models.count ? "1,2,3,4,5,8" : "1";
    qg_peers peers = {0};
    if (r.peers && !qg_peers_read(session->arena, r.peers, &peers)) return 1;
    bool good = r.read ? qg_figures_read(session->arena, r.read, &r.figures) : measure(session, &r);
    if (r.layer) return good ? 0 : 1;
    if (named.count && r.read) {
        r.figures.models = named;
        r.figures.left_out = (qg_texts){0};
    }
    if (!good && r.figures.count == 0) return 1;
    if (!is_sweep(&r.figures) && r.figures.models.count == 0) qg_figures_sort(&r.figures);
    good = good && write_documents(session->arena, &r, &peers);
    if (r.figures.models.count)
        fputs(qg_models_report(session->arena, &r.figures, &peers, false), stdout);
    else
        qg_figures_print(session->arena, &r.figures);
    return good && all_right(&r.figures) ? 0 : 1;
}
