/* `qkgen bench --model` on a device. A kernel is compiled once for all shapes of a format, class
 * and type. All its cases are opened, and launched once, before any is measured, and are checked
 * after all were: so the device has no time to lower its clocks between two measurements. */
#include "cli/run_bench.h"
#include "emit/spirv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void leave_out(qg_model_run *run, const char *text) {
    qg_figures_leave_out(run->bench->session->arena, run->figures, text);
}

/* What an engine calls for so many vectors. */
static const qg_family *family_of(bool experts, bool many) {
    return &qg_families[experts ? (many ? QG_FAMILY_GEMM_ID : QG_FAMILY_GEMV_ID)
                                : (many ? QG_FAMILY_GEMM : QG_FAMILY_GEMV)];
}

/* Whether its columns are a multiple of what tiles take. */
static bool takes_columns(qg_model_run *run, const qg_case *c) {
    const uint32_t block = c->family->in_tiles ? qg_case_describe(run->bench, c)->wide_block : 0;
    if (block == 0 || c->cols % block == 0) return true;
    leave_out(run, qg_format(run->bench->session->arena, "%s: %s of %llu columns, which must be a multiple of %u",
                             c->layout->name, c->family->name, (unsigned long long)c->cols, block));
    return false;
}

static qg_case case_of(const qg_layout *layout, const qg_matrix *m) {
    const bool experts = m->experts > 0;
    return (qg_case){.layout = layout,
                     .family = family_of(experts, false),
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

/* Those of one family, class and type, with each number of vectors that is the family's. */
static uint32_t list_cases(qg_model_run *run, const qg_case *shapes, uint32_t n_shapes, const qg_family *family,
                           const qg_sum_class *sum, const char *type, qg_case *cases) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < n_shapes * run->n_batches; ++i) {
        qg_case c = shapes[i / run->n_batches];
        c.batch = run->batches[i % run->n_batches];
        if (family_of(c.experts > 0, c.batch > QK_GEMV_MAX_BATCH) != family) continue;
        c.family = family;
        c.sum = sum;
        c.type = qg_family_type(family, type);
        if (!qg_case_fits(run->bench, &c)) {
            leave_out(run, qg_format(run->bench->session->arena, "%s: %s has no class %s", c.layout->name, family->name,
                                     sum->name));
            return 0;
        }
        if (takes_columns(run, &c)) cases[count++] = c;
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

/* Descriptors of what qk_choose chooses from: all classes of the family. */
static void describe_classes(qg_model_run *run, const qg_case *like) {
    qg_arena *arena = run->bench->session->arena;
    run->described = QG_NEW_ARRAY(arena, const qk_kernel *, run->n_classes);
    for (uint32_t i = 0; i < run->n_classes; ++i) {
        qg_case c = *like;
        c.sum = run->classes[i];
        run->described[i] = qg_case_fits(run->bench, &c) ? qg_case_describe(run->bench, &c) : NULL;
    }
}

static bool is_chosen(const qg_model_run *run, const qg_case *c) {
    const qk_limits limits = qk_vulkan_backend(run->bench->vk).limits;
    const qk_kernel *kernel =
        qk_choose(run->described, run->n_classes, &limits, c->rows, c->cols, c->batch, (double)INFINITY);
    for (uint32_t i = 0; i < run->n_classes; ++i)
        if (kernel && run->described[i] == kernel) return run->classes[i] == c->sum;
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
    describe_classes(run, &cases[0]);
    qg_subject *subjects = QG_NEW_ARRAY(run->bench->session->arena, qg_subject, count);
    const bool good = measure(run, cases, count, subjects, &opened);
    run->bench->tuning = run->tuning;
    while (opened > 0) qg_subject_close(run->bench, &subjects[--opened]);
    return good;
}

static bool run_class(qg_model_run *run, const qg_case *shapes, uint32_t n_shapes, const qg_sum_class *sum) {
    static const bool experts[] = {false, false, true, true};
    qg_case *cases = QG_NEW_ARRAY(run->bench->session->arena, qg_case, n_shapes * run->n_batches + 1);
    for (uint32_t t = 0; t < run->types->count; ++t)
        for (uint32_t f = 0; f < 4; ++f) {
            const qg_family *family = family_of(experts[f], f % 2 == 1);
            const uint32_t count = list_cases(run, shapes, n_shapes, family, sum, run->types->items[t], cases);
            if (!run_cases(run, cases, count)) return false;
        }
    return true;
}

static bool check_types(const qg_model_run *run) {
    const qg_family *family = family_of(false, false);
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
            if (!run_class(run, shapes, count, run->classes[k])) return false;
    }
    if (isatty(STDERR_FILENO)) fputs("\r\033[K", stderr);
    if (run->figures->count) return true;
    const qg_texts *out = &run->figures->left_out;
    return qg_complain("no matrix of these models has a kernel: %s",
                       out->count ? out->items[0] : "no format is named") == 0;
}
