/* `qkgen bench --model` on a device. A kernel is compiled once for all shapes of a format, class
 * and type. All its cases are opened, and launched once, before any is measured, and are checked
 * after all were: so the device has no time to lower its clocks between two measurements. */
#include "cli/run_bench.h"
#include "emit/spirv.h"

#include <qkgen/tensors.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void leave_out(qg_model_run *run, const char *text) {
    qg_figures_leave_out(run->bench->session->arena, run->figures, text);
}

/* What an engine calls: of each pair, the second makes tiles. */
enum { DENSE, EXPERTS = 2, N_FAMILIES = 4 };
static const qg_family_id families[N_FAMILIES] = {QG_FAMILY_GEMV, QG_FAMILY_GEMM, QG_FAMILY_GEMV_ID, QG_FAMILY_GEMM_ID};

static const qg_family *family_of(const qg_matrix *m) { return &qg_families[families[m->experts ? EXPERTS : DENSE]]; }

static const qk_kernel **kernels_of(const qg_model_run *run, uint32_t k) {
    return run->described + (size_t)k * N_FAMILIES;
}

/* Fills in run->described. */
static void describe_kernels(qg_model_run *run, const qg_layout *layout, const char *type) {
    qg_arena *arena = run->bench->session->arena;
    run->described = QG_NEW_ARRAY(arena, const qk_kernel *, run->n_classes *N_FAMILIES);
    for (uint32_t k = 0; k < run->n_classes; ++k)
        for (uint32_t f = 0; f < N_FAMILIES; ++f) {
            const qg_family *family = &qg_families[families[f]];
            const qg_case c = {
                .layout = layout, .family = family, .type = qg_family_type(family, type), .sum = run->classes[k]};
            if (c.type != QG_SCALAR_COUNT && qg_takes(family, layout) && qg_has_class(arena, layout, family, c.sum))
                kernels_of(run, k)[f] = qg_case_describe(run->bench, &c);
        }
}

/* What the library takes for the shape of a case, of the kernels of classes `first` to `end`. */
static const qk_kernel *plan(const qg_model_run *run, const qg_case *c, uint32_t first, uint32_t end) {
    const qk_backend backend = qk_vulkan_backend(run->bench->vk);
    const qk_kernel *kernels[QK_PRODUCT_MOST_KERNELS];
    uint32_t count = 0;
    const qk_product p = {.weights = {.counts = {c->cols, c->rows, c->experts ? c->experts : 1, 1}},
                          .x = {.counts = {c->cols, 1, 1, 1}},
                          .ids = {.bytes = c->experts ? 4 : 0}};
    for (uint32_t k = first; k < end; ++k)
        for (uint32_t f = c->experts ? EXPERTS : DENSE, last = f + 1; f <= last; ++f) {
            const qk_kernel *kernel = kernels_of(run, k)[f];
            if (kernel && count < QK_PRODUCT_MOST_KERNELS) kernels[count++] = kernel;
        }
    return qk_product_kernel_(&backend, kernels, count, &p, c->batch, (double)INFINITY);
}

static qg_case case_of(const qg_layout *layout, const qg_matrix *m) {
    const bool experts = m->experts > 0;
    return (qg_case){.layout = layout,
                     .family = family_of(m),
                     .type = QG_F32,
                     .sum = &qg_sum_classes[QG_CLASS_EXACT],
                     .rows = m->rows,
                     .cols = m->cols,
                     .batch = 1,
                     .experts = m->experts,
                     .slots = experts ? m->used : 1};
}

/* Cases of all shapes that are tensors of the format; of the others it is said. */
static uint32_t list_shapes(qg_model_run *run, const qg_layout *layout, qg_case *cases) {
    qg_arena *arena = run->bench->session->arena;
    uint32_t count = 0;
    for (uint32_t i = 0; i < run->n_shapes; ++i) {
        const qg_matrix *m = &run->shapes[i];
        const qg_case c = case_of(layout, m);
        if (qg_case_fits(run->bench, &c)) {
            cases[count++] = c;
            continue;
        }
        const char *why = qg_takes(c.family, layout) ? qg_format(arena, "its blocks of %u x %u do not divide it",
                                                                 layout->block_rows, layout->block_cols)
                                                     : qg_format(arena, "it has no kernels of %s", c.family->name);
        leave_out(run, qg_format(arena, "%s: %s, %llu x %llu: %s", layout->name, m->name, (unsigned long long)m->rows,
                                 (unsigned long long)m->cols, why));
    }
    return count;
}

/* Why the kernels of a class, of which each may be NULL, are none for a case on this device. */
static const char *reason(qg_arena *arena, const qk_kernel *const *kernels, const qg_case *c, const char *sum) {
    const qk_kernel *tiles = kernels[1];
    if (!kernels[0] && !tiles) return qg_format(arena, "%s has no class %s", c->family->name, sum);
    if (tiles && c->batch > QK_GEMV_MAX_BATCH && tiles->wide_block && c->cols % tiles->wide_block)
        return qg_format(arena, "%s of %llu columns, which must be a multiple of %u", tiles->family,
                         (unsigned long long)c->cols, tiles->wide_block);
    return qg_format(arena, "no kernel of class %s is for %llu vector%s on this device", sum,
                     (unsigned long long)c->batch, c->batch == 1 ? "" : "s");
}

static void leave_out_case(qg_model_run *run, const qg_case *c, uint32_t k) {
    const qk_kernel *const *kernels = kernels_of(run, k) + (c->experts ? EXPERTS : DENSE);
    qg_arena *arena = run->bench->session->arena;
    leave_out(run, qg_format(arena, "%s: %s", c->layout->name, reason(arena, kernels, c, run->classes[k]->name)));
}

/* Those of one family, class and type, with each number of vectors for which the library takes the family. */
static uint32_t list_cases(qg_model_run *run, const qg_case *shapes, uint32_t n_shapes, uint32_t f, uint32_t k,
                           const char *type, qg_case *cases) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < n_shapes * run->n_batches; ++i) {
        qg_case c = shapes[i / run->n_batches];
        c.batch = run->batches[i % run->n_batches];
        if ((c.experts > 0) != (f >= EXPERTS)) continue;
        const qk_kernel *kernel = plan(run, &c, k, k + 1);
        if (!kernel) leave_out_case(run, &c, k);
        if (!kernel || kernel != kernels_of(run, k)[f]) continue;
        c.family = &qg_families[families[f]];
        c.sum = run->classes[k];
        c.type = qg_family_type(c.family, type);
        cases[count++] = c;
    }
    return count;
}

static void show_progress(const qg_model_run *run, const qg_case *c) {
    if (!isatty(STDERR_FILENO)) return;
    fprintf(stderr, "\r\033[K%u: %s %s %s", run->figures->count, c->layout->name, c->family->name, c->sum->name);
}

static bool place(const qg_case *c) {
    return qg_complain("that was %s of %s, class %s, %llu x %llu, %llu vectors", c->family->name, c->layout->name,
                       c->sum->name, (unsigned long long)c->rows, (unsigned long long)c->cols,
                       (unsigned long long)c->batch) == 0;
}

static const qk_tuning *tuning_of(qg_model_run *run, const qg_subject *s) {
    return run->constants->count
               ? qg_tuning_with(run->bench->session->arena, run->tuning, s->kernel, &s->of, run->constants)
               : run->tuning;
}

/* Of all classes. */
static bool is_chosen(const qg_model_run *run, const qg_case *c) {
    const qk_kernel *kernel = plan(run, c, 0, run->n_classes);
    for (uint32_t i = 0; i < run->n_classes * N_FAMILIES; ++i)
        if (kernel && run->described[i] == kernel)
            return run->classes[i / N_FAMILIES] == c->sum && &qg_families[families[i % N_FAMILIES]] == c->family;
    return false;
}

static bool measure(qg_model_run *run, const qg_case *cases, uint32_t count, qg_subject *s, uint32_t *opened) {
    qg_bench *b = run->bench;
    qg_arena *arena = b->session->arena;
    qg_figure *figures = QG_NEW_ARRAY(arena, qg_figure, count);
    const qk_tuning **tunings = QG_NEW_ARRAY(arena, const qk_tuning *, count);
    for (; *opened < count; ++*opened) {
        const uint32_t i = *opened;
        const bool good = qg_subject_open_like(b, &cases[i], i ? &s[0] : NULL, &s[i]);
        if (good) b->tuning = tunings[i] = tuning_of(run, &s[i]);
        if (!good || (run->constants->count && !tunings[i]) || !qg_subject_run(b, &s[i])) {
            *opened += 1;
            return place(&cases[i]);
        }
    }
    for (uint32_t i = 0; i < count; ++i) {
        figures[i] = qg_figure_new(arena, &cases[i]);
        b->tuning = tunings[i];
        if (!qg_subject_measure(b, &s[i], &figures[i].time)) return place(&cases[i]);
    }
    for (uint32_t i = 0; i < count; ++i) {
        if (!qg_subject_check(b, &s[i], &figures[i].checked)) return place(&cases[i]);
        figures[i].bytes = qg_subject_moved(&s[i]);
        qg_figure_round(&figures[i]);
        figures[i].chosen = is_chosen(run, &cases[i]);
        qg_figures *all = run->figures;
        QG_PUSH(arena, all->items, all->count, all->capacity, figures[i]);
    }
    return true;
}

static bool run_cases(qg_model_run *run, const qg_case *cases, uint32_t count) {
    uint32_t opened = 0;
    if (count == 0) return true;
    show_progress(run, &cases[0]);
    qg_subject *subjects = QG_NEW_ARRAY(run->bench->session->arena, qg_subject, count);
    const bool good = measure(run, cases, count, subjects, &opened);
    run->bench->tuning = run->tuning;
    while (opened > 0) qg_subject_close(run->bench, &subjects[--opened]);
    return good;
}

static bool run_class(qg_model_run *run, const qg_case *shapes, uint32_t n_shapes, uint32_t k) {
    qg_case *cases = QG_NEW_ARRAY(run->bench->session->arena, qg_case, n_shapes * run->n_batches + 1);
    for (uint32_t t = 0; t < run->types->count; ++t) {
        describe_kernels(run, shapes[0].layout, run->types->items[t]);
        for (uint32_t f = 0; f < N_FAMILIES; ++f) {
            const uint32_t count = list_cases(run, shapes, n_shapes, f, k, run->types->items[t], cases);
            if (!run_cases(run, cases, count)) return false;
        }
    }
    return true;
}

static bool check_types(const qg_model_run *run) {
    const qg_family *family = &qg_families[families[DENSE]];
    for (uint32_t t = 0; t < run->types->count; ++t)
        if (qg_family_type(family, run->types->items[t]) == QG_SCALAR_COUNT)
            return qg_complain("%s has no kernels of type %s", family->name, run->types->items[t]) == 0;
    return true;
}

bool qg_bench_models(qg_model_run *run, const qg_layouts *layouts) {
    qg_bench *b = run->bench;
    qg_arena *arena = b->session->arena;
    run->shapes = qg_models_shapes(arena, &run->figures->models, &run->n_shapes);
    run->tuning = b->tuning;
    if (!check_types(run)) return false;
    for (uint32_t l = 0; l < layouts->count; ++l) {
        qg_case *shapes = QG_NEW_ARRAY(arena, qg_case, run->n_shapes + 1);
        const uint32_t count = list_shapes(run, layouts->items[l], shapes);
        if (count && !qg_stock_open(b, layouts->items[l], shapes, count)) return false;
        for (uint32_t k = 0; k < run->n_classes && count; ++k)
            if (!run_class(run, shapes, count, k)) return false;
    }
    if (isatty(STDERR_FILENO)) fputs("\r\033[K", stderr);
    if (run->figures->count) return true;
    const qg_texts *out = &run->figures->left_out;
    return qg_complain("no matrix of these models has a kernel: %s",
                       out->count ? out->items[0] : "no format is named") == 0;
}
