/* `qkgen tune`: measures the legal values of a kernel's constants on a device, and writes those that are best for each
 * shape.
 *
 * Constants are changed one after the other, each to the value with which the kernel is fastest, until no change gains
 * anything; not set at all is a value, too. How many right-hand sides are kept is no choice: the dispatch knows it. */
#include "cli/run_bench.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SAMPLES = 7, MOST_PASSES = 3, MOST_CHOICES = 16, MOST_TRIALS = 512, MOST_SHAPES = 16 };

static const double WORTH = 0.985; /* of the time before: less is noise */

typedef struct dimension {
    uint32_t id; /* of the constant */
    uint32_t count;
    uint32_t values[MOST_CHOICES]; /* 0: not set */
} dimension;

typedef struct trial {
    uint32_t values[QK_MAX_TUNED];
    double seconds; /* infinite where the device could not do it */
} trial;

typedef struct search {
    qg_bench *bench;
    const qg_texts *without;
    qg_subject *subject;
    qk_tuning tuning;
    qk_tuning_entry entry;
    uint32_t n_dimensions, n_trials;
    bool lost; /* the device */
    dimension dimensions[QK_MAX_TUNED];
    trial trials[MOST_TRIALS];
} search;

/* ---- one kernel and shape ---- */

/* Bounds of a grid whose threads loop over the rest; a device of many processors likes a grid that is a multiple of
 * them. */
static const uint32_t grids[] = {132, 256, 264, 512, 528, 768, 1056, 2048, 2112, 4096, 4224, 8192};

/* What `--without NAME=VALUE` or `--without NAME` leaves out. */
static bool left_out(const search *s, uint32_t id, uint32_t value) {
    const char *name = qk_constant_name(id);
    const size_t length = strlen(name);
    for (uint32_t i = 0; i < s->without->count; ++i) {
        const char *text = s->without->items[i];
        if (strncmp(text, name, length) != 0) continue;
        if (!text[length] || (text[length] == '=' && strtoul(text + length + 1, NULL, 10) == value)) return true;
    }
    return false;
}

static void find_dimensions(search *s) {
    const qk_kernel *kernel = s->subject->kernel;
    const uint32_t largest = qk_vulkan_backend(s->bench->vk).limits.workgroup_size;
    for (uint32_t i = 0; i < kernel->spec_constant_count && s->n_dimensions + 1 < QK_MAX_TUNED; ++i) {
        const qk_spec_constant *c = &kernel->spec_constants[i];
        dimension *d = &s->dimensions[s->n_dimensions];
        if (c->legal_count < 2 || qk_follows_call(c->id)) continue;
        *d = (dimension){.id = c->id, .count = 1};
        for (uint32_t l = 0; l < c->legal_count && d->count < MOST_CHOICES; ++l)
            if ((c->id != QK_CONSTANT_LOCAL_SIZE_X || c->legal[l] <= largest) && !left_out(s, c->id, c->legal[l]))
                d->values[d->count++] = c->legal[l];
        s->n_dimensions += 1;
    }
    if (s->bench->cpu) return;
    dimension *grid = &s->dimensions[s->n_dimensions++];
    *grid = (dimension){.id = QK_CONSTANT_WORKGROUPS, .count = 1};
    for (uint32_t i = 0; i < sizeof grids / sizeof *grids; ++i)
        if (!left_out(s, grid->id, grids[i])) grid->values[grid->count++] = grids[i];
}

static void set_entry(search *s, const uint32_t *values) {
    s->entry.count = 0;
    for (uint32_t d = 0; d < s->n_dimensions; ++d) {
        if (!values[d]) continue;
        s->entry.values[s->entry.count++] = (qk_tuned_value){s->dimensions[d].id, values[d]};
    }
    s->tuning.count = s->entry.count ? 1 : 0;
}

/* "rows=2 split=4". */
static const char *values_text(const search *s) {
    qg_text text = qg_text_new(s->bench->session->arena);
    for (uint32_t i = 0; i < s->entry.count; ++i)
        qg_text_printf(&text, "%s%s=%u", i ? " " : "", qk_constant_name(s->entry.values[i].id),
                       s->entry.values[i].value);
    return text.data ? text.data : "default";
}

/* Seconds with these values; each combination is measured once. */
static double try(search *s, const uint32_t *values) {
    qg_timing t;
    for (uint32_t i = 0; i < s->n_trials; ++i)
        if (memcmp(s->trials[i].values, values, s->n_dimensions * sizeof *values) == 0) return s->trials[i].seconds;
    if (s->n_trials == MOST_TRIALS || s->lost) return 1e30;
    set_entry(s, values);
    s->bench->quiet = s->n_trials > 0; /* without any, the kernel must run */
    const double seconds = qg_subject_measure(s->bench, s->subject, &t) ? t.median : 1e30;
    s->bench->quiet = false;
    if (seconds >= 1e30 && qk_vulkan_begin(s->bench->vk, &s->bench->error) != QK_OK) {
        s->lost = true;
        qg_complain(
            "%s was measured with %s when that happened; leave a value out with --without NAME=VALUE, and tune again",
            s->subject->kernel->name, values_text(s));
    }
    trial *new = &s->trials[s->n_trials++];
    memcpy(new->values, values, s->n_dimensions * sizeof *values);
    new->seconds = seconds;
    return seconds;
}

/* Sets `best`, which is not set at first. False where not even the defaults run. */
static bool descend(search *s, uint32_t *best, double *before, double *after) {
    *before = *after = try(s, best);
    if (*before >= 1e30) return false;
    bool changed = true;
    for (uint32_t pass = 0; pass < MOST_PASSES && changed; ++pass) {
        changed = false;
        for (uint32_t d = 0; d < s->n_dimensions; ++d) {
            const dimension *it = &s->dimensions[d];
            uint32_t values[QK_MAX_TUNED] = {0};
            memcpy(values, best, s->n_dimensions * sizeof *values);
            for (uint32_t i = 0; i < it->count; ++i) {
                values[d] = it->values[i];
                const double seconds = try(s, values);
                if (seconds >= *after * WORTH) continue;
                *after = seconds;
                best[d] = it->values[i];
                changed = true;
            }
        }
    }
    return true;
}

/* What the best values give must be right, too. */
static bool check_best(search *s, const uint32_t *best) {
    qg_checked checked;
    set_entry(s, best);
    if (!qg_subject_run(s->bench, s->subject) || !qg_subject_check(s->bench, s->subject, &checked)) return false;
    if (!checked.wrong) return true;
    return qg_complain(
               "%s is wrong with %s: its relative error is %.1e; this is a fault of the kernel. Leave a value out with "
               "--without NAME=VALUE to tune the rest",
               s->subject->kernel->name, values_text(s), checked.error) == 0;
}

static bool tune_case(qg_bench *b, const qg_case *c, const qg_texts *without, qg_text *out) {
    qg_subject subject;
    search *s = calloc(1, sizeof *s);
    uint32_t best[QK_MAX_TUNED] = {0};
    double before = 0, after = 0;
    if (!s) return qg_complain("out of memory") == 0;
    s->bench = b;
    s->without = without;
    s->subject = &subject;
    bool good = qg_subject_open(b, c, &subject);
    if (good) {
        find_dimensions(s);
        snprintf(s->entry.kernel, sizeof s->entry.kernel, "%s", subject.kernel->name);
        qg_tuning_place(c, &s->entry.rows, &s->entry.cols, &s->entry.batch);
        s->tuning.entries = &s->entry;
        b->tuning = &s->tuning;
        good = descend(s, best, &before, &after) && !s->lost && check_best(s, best);
        b->tuning = NULL;
    }
    if (good) {
        qg_text_printf(out, "%-32s %llux%llux%u", s->entry.kernel, (unsigned long long)s->entry.rows,
                       (unsigned long long)s->entry.cols, s->entry.batch);
        for (uint32_t i = 0; i < s->entry.count; ++i)
            qg_text_printf(out, " %s=%u", qk_constant_name(s->entry.values[i].id), s->entry.values[i].value);
        qg_text_printf(out, "%s  # %.1f us, by default %.1f\n", s->entry.count ? "" : " default", 1e6 * after,
                       1e6 * before);
        printf("%-32s %llux%llux%u: %.1f us, by default %.1f; %u combinations\n", s->entry.kernel,
               (unsigned long long)s->entry.rows, (unsigned long long)s->entry.cols, s->entry.batch, 1e6 * after,
               1e6 * before, s->n_trials);
        fflush(stdout);
    }
    qg_subject_close(b, &subject);
    free(s);
    return good;
}

/* ---- the request ---- */

typedef struct request {
    qg_texts families, formats, shapes, without;
    const char *type, *sum, *out, *device;
    uint64_t experts, slots;
} request;

static bool read_shape(const char *text, qg_case *c) {
    char *end;
    uint64_t numbers[3] = {0, 0, 1};
    for (int i = 0; i < 3; ++i) {
        numbers[i] = strtoull(text, &end, 10);
        if (*text < '0' || *text > '9' || numbers[i] == 0 || numbers[i] > UINT32_MAX) return false;
        text = end + 1;
        if (*end != 'x') break;
    }
    c->rows = numbers[0];
    c->cols = numbers[1];
    c->batch = numbers[2];
    return *end == '\0' && numbers[1] != 0;
}

/* The cases of one format; false after a message. */
static bool list_cases(qg_bench *b, const request *r, const qg_layout *layout, qg_case *cases, uint32_t *count) {
    *count = 0;
    for (uint32_t f = 0; f < r->families.count; ++f) {
        const qg_family *family = qg_family_named(r->families.items[f]);
        if (!family) return qg_complain("no kernel family is named %s", r->families.items[f]) == 0;
        const qg_scalar type = qg_family_type(family, r->type);
        if (type == QG_SCALAR_COUNT) return qg_complain("%s has no kernels of type %s", family->name, r->type) == 0;
        const qg_sum_class *sum;
        if (!qg_session_class(b->session, family, layout, family->sums ? r->sum : NULL, &sum)) return false;
        for (uint32_t s = 0; s < r->shapes.count && qg_takes(family, layout); ++s) {
            qg_case c = {.layout = layout, .family = family, .type = type, .sum = sum, .slots = 1};
            if (!read_shape(r->shapes.items[s], &c))
                return qg_complain("--shape must be ROWSxCOLS or ROWSxCOLSxBATCH, such as 4096x14336x1, not '%s'",
                                   r->shapes.items[s]) == 0;
            if (!family->sums && c.batch != 1) continue;
            if (family->experts) c.experts = r->experts ? r->experts : 128;
            if (family->experts) c.slots = r->slots ? r->slots : 8;
            if (!qg_case_fits(b, &c))
                return qg_complain("%s has no tensor of %s; its blocks are %u x %u", layout->name, r->shapes.items[s],
                                   layout->block_rows, layout->block_cols) == 0;
            cases[(*count)++] = c;
        }
    }
    return true;
}

static bool tune_all(qg_bench *b, const request *r, qg_text *out) {
    const qk_vulkan_device *info = qk_vulkan_info(b->vk);
    b->samples = SAMPLES;
    qg_text_printf(out, "qkgen-tuning 1\ndevice %s\n# driver %s\n\n", info->name, info->driver);
    for (uint32_t i = 0; i < r->formats.count; ++i) {
        const qg_layout *layout = qg_session_format(b->session, r->formats.items[i]);
        qg_case *cases = QG_NEW_ARRAY(b->session->arena, qg_case, r->families.count * r->shapes.count + 1);
        uint32_t count = 0;
        if (!layout || !list_cases(b, r, layout, cases, &count)) return false;
        if (count && !qg_stock_open(b, layout, cases, count)) return false;
        for (uint32_t c = 0; c < count; ++c)
            if (!tune_case(b, &cases[c], &r->without, out)) return false;
    }
    return true;
}

int qg_command_tune(qg_session *session, int argc, char **argv) {
    qg_bench b;
    qg_arena *arena = session->arena;
    request r = {.type = "f32"};
    qg_texts formats = {0}, shapes = {0}, without = {0}, rest = {0};
    const qg_option options[] = {
        {"--format", QG_TEXTS, &formats, "F,...", "formats"},
        {"--shape", QG_TEXTS, &shapes, "NxK[xM],...", "rows, columns, and vectors or tokens (default of M: 1)"},
        {"--out", QG_TEXT, &r.out, "FILE", "where the constants go; appears when all was measured"},
        {"--type", QG_TEXT, &r.type, "f32|f16|bf16", "of results; gemv, gemv_id: of x (default: f32)"},
        {"--class", QG_TEXT, &r.sum, qg_class_words(), "how sums multiply (default: exact)"},
        {"--experts", QG_COUNT, &r.experts, "E", "gemv_id: matrices (default: 128)"},
        {"--slots", QG_COUNT, &r.slots, "S", "gemv_id: experts for each token (default: 8)"},
        {"--without", QG_TEXTS, &without, "NAME[=VALUE],...", "leaves a constant, or one of its values, out"},
        {"--device", QG_TEXT, &r.device, "NAME|NUMBER", "one of `qkgen devices` (default: the best)"},
        QG_SESSION_OPTIONS(session)};
    if (!qg_options_read(session, argc, argv, options, sizeof options / sizeof *options, &rest)) return 1;
    for (uint32_t i = 0; i < rest.count; ++i) qg_split(arena, rest.items[i], &r.families);
    for (uint32_t i = 0; i < formats.count; ++i) qg_split(arena, formats.items[i], &r.formats);
    for (uint32_t i = 0; i < without.count; ++i) qg_split(arena, without.items[i], &r.without);
    for (uint32_t i = 0; i < shapes.count; ++i) qg_split(arena, shapes.items[i], &r.shapes);
    if (r.families.count == 0 || r.formats.count == 0 || r.shapes.count == 0 || !r.out)
        return qg_complain("tune needs kernel families, --format, --shape and --out, such as "
                           "qkgen tune gemv --format F --shape 4096x4096x1,57344x8192x1 --out FILE");
    if (!qg_session_load(session)) return 1;
    qg_text out = qg_text_new(arena);
    const bool good = qg_bench_open(&b, session, r.device) && tune_all(&b, &r, &out);
    qg_bench_close(&b);
    if (!good) return 1;
    const char *why = qg_write_file(arena, r.out, out.data, out.length);
    return why ? qg_complain("cannot write %s: %s", r.out, why) : 0;
}
