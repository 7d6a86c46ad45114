/* The Metal target, where there is no Apple GPU: the emitted MSL text, unchanged, on this machine's
 * processor. The executor is a library of its own, because it brings a whole C++ compiler along; it
 * is loaded when this target is asked for. */
#include "cli/run.h"
#include "cli/run_launch.h"

#include "msl/executor.h"

#include <qkgen/dispatch.h>

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#ifndef QKGEN_MSL_LIBRARY
#define QKGEN_MSL_LIBRARY ""
#endif

/* The functions of the executor that are called here. */
typedef struct executor {
    void *library;
    qk_msl *(*open)(const char *, size_t, const char *, const qk_msl_options *, qk_msl_error *);
    void (*close)(qk_msl *);
    const qk_msl_kernel *(*find)(const qk_msl *, const char *);
    qk_msl_status (*run)(qk_msl *, const qk_msl_kernel *, const qk_msl_launch *, qk_msl_error *);
    int (*compare)(const struct qk_kernel *, const qk_msl_kernel *, void (*)(void *, const char *), void *);
} executor;

typedef struct qg_metal {
    qg_arena *arena;
    executor api;
    qk_msl *file;
    const qk_msl_kernel *entry;
    const qk_kernel *kernel;
    qk_msl_error problem;
    qk_error error;
    qg_text differences;
    double seconds;
    uint32_t out_of_range;
    const char *text, *name; /* opened again with other constants */
    uint32_t values[QK_MAX_CONSTANTS];
} metal_run;

/* ISO C has no conversion from object to function pointers; POSIX promises this one. */
static bool find_function(void *library, const char *name, void *function, size_t size) {
    void *object = dlsym(library, name);
    if (object) memcpy(function, &object, size);
    return object != NULL;
}

#define FIND(api, member, name) find_function((api)->library, name, &(api)->member, sizeof(api)->member)

static const char *load(qg_arena *arena, executor *api) {
    const char *path = getenv("QKGEN_MSL_LIBRARY");
    if (!path || !*path) path = QKGEN_MSL_LIBRARY;
    if (!*path)
        return "this qkgen was built without the MSL executor: install clang-16 and libclang-16-dev, and configure "
               "again";
    api->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!api->library) return qg_format(arena, "cannot load the MSL executor: %s", dlerror());
    if (FIND(api, open, "qk_msl_open") && FIND(api, close, "qk_msl_close") && FIND(api, find, "qk_msl_find") &&
        FIND(api, run, "qk_msl_run") && FIND(api, compare, "qk_msl_compare"))
        return NULL;
    return qg_format(arena, "%s is not the MSL executor", path);
}

static void add_difference(void *context, const char *sentence) {
    qg_text_printf(context, "%s%s", ((qg_text *)context)->length ? "; " : "", sentence);
}

/* With function constants: `constants`, or the descriptor's where that is NULL. */
static const char *open_text(metal_run *m, const qk_kernel *kernel, const uint32_t *constants) {
    qg_arena *arena = m->arena;
    qk_msl_value values[QK_MAX_CONSTANTS];
    const uint32_t count = kernel->spec_constant_count;
    for (uint32_t i = 0; i < count; ++i) {
        m->values[i] = constants ? constants[i] : kernel->spec_constants[i].value;
        values[i] = (qk_msl_value){kernel->spec_constants[i].id, sizeof m->values[i], &m->values[i]};
    }
    const qk_msl_options options = {.values = values, .value_count = count};
    m->kernel = kernel;
    if (m->file) m->api.close(m->file);
    m->file = m->api.open(m->text, strlen(m->text), qg_format(arena, "%s.metal", m->name), &options, &m->problem);
    if (!m->file) return qg_format(arena, "%s", m->problem.text);
    m->entry = m->api.find(m->file, kernel->entry);
    if (!m->entry) return qg_format(arena, "the MSL text has no kernel %s", kernel->entry);
    if (m->api.compare(m->kernel, m->entry, add_difference, &m->differences))
        return qg_format(arena, "descriptor and MSL text differ: %s", m->differences.data);
    return NULL;
}

static const char *open_kernel(const qg_job *job, metal_run *m) {
    qg_arena *arena = job->arena;
    const char *why = NULL;
    const qg_request request = {.layout = job->layout,
                                .classes = job->sum ? UINT32_C(1) << (job->sum - qg_sum_classes) : 0,
                                .n_families = 1,
                                .families = &job->family,
                                .types = job->family->sums ? UINT32_C(1) << job->type : 0,
                                .metal = true,
                                .command = "qkgen run"};
    qg_kernel *kernel = QG_NEW(arena, qg_kernel);
    *kernel = qg_kernel_new(arena, job->layout, job->family, job->type, job->sum);
    m->text = qg_msl(arena, job->templates, &request, &why);
    m->name = job->layout->name;
    return m->text ? open_text(m, qg_describe(arena, kernel, QK_API_METAL, NULL), NULL) : why;
}

/* The dispatch function chooses constants for each launch. */
static const char *set_constants(metal_run *m, const qk_launch *l) {
    const size_t bytes = l->kernel->spec_constant_count * sizeof *m->values;
    if (!l->constants || memcmp(m->values, l->constants, bytes) == 0) return NULL;
    return open_text(m, m->kernel, l->constants);
}

static qk_status launch(void *context, const qk_launch *l, qk_error *error) {
    metal_run *m = context;
    qk_msl_buffer buffers[QK_MAX_BINDINGS + 1];
    const uint32_t count = l->kernel->binding_count;
    const char *why = set_constants(m, l);
    if (why) return qk_fail(error, QK_ERROR_DEVICE, "%.250s", why);
    for (uint32_t i = 0; i < count; ++i)
        buffers[i] = (qk_msl_buffer){l->kernel->bindings[i].index, (char *)l->ranges[i].buffer + l->ranges[i].offset,
                                     l->ranges[i].size};
    unsigned char push[256] = {0};
    memcpy(push, l->push, l->kernel->push_bytes);
    buffers[count] = (qk_msl_buffer){count, push, l->kernel->push_bytes};
    const qk_msl_launch launch = {.buffers = buffers,
                                  .buffer_count = count + 1,
                                  .group = {l->kernel->workgroup_size, 1, 1},
                                  .groups = {l->workgroups, 1, 1}};
    if (m->api.run(m->file, m->entry, &launch, &m->problem) == QK_MSL_OK) return QK_OK;
    return qk_fail(error, QK_ERROR_DEVICE, "%.250s", m->problem.text);
}

/* Launches are done when they return. */
static qk_status barrier(void *context, qk_error *error) {
    (void)context, (void)error;
    return QK_OK;
}

static qk_backend backend(metal_run *m) {
    return (qk_backend){
        .context = m,
        .api = QK_API_METAL,
        .limits = {.storage_range = UINT32_MAX,
                   .offset_alignment = 16,
                   .workgroup_count = 65535,
                   .workgroup_size = 1024,
                   .push_bytes = 256,
                   .features = QK_FEATURE_SUBGROUP_ARITHMETIC | QK_FEATURE_FLOAT16 | QK_FEATURE_COOPERATIVE_MATRIX},
        .launch = launch,
        .barrier = barrier};
}

/* Scratch memory of tiles. */
static qk_range scratch_of(metal_run *m, const qg_job *job) {
    const qk_backend api = backend(m);
    const qk_views *views = job->views.given ? &job->views.dense : NULL;
    if (!job->family->in_tiles) return (qk_range){0};
    const uint64_t bytes = job->ids ? qk_gemm_id_scratch(&api, m->kernel, job->experts, job->rows, job->cols,
                                                         job->batch, job->slots, job->x_slots)
                                    : qk_gemm_views_scratch(&api, m->kernel, job->rows, job->cols, job->batch, views);
    return (qk_range){bytes < SIZE_MAX ? QG_NEW_ARRAY(m->arena, char, bytes + 1) : NULL, 0, bytes};
}

/* x and y begin where the job says, in memory of their own. */
static qk_status run_sums(metal_run *m, const qg_job *job, const qk_range *weights, void *dst, uint64_t bytes) {
    const qk_backend api = backend(m);
    const qg_views *v = &job->views;
    const uint64_t x_bytes = job->places.x_elements * (qg_scalars[job->type].bits / 8);
    char *x_memory = QG_NEW_ARRAY(m->arena, char, v->x_offset + x_bytes + 1);
    char *y_memory = QG_NEW_ARRAY(m->arena, char, v->y_offset + bytes + 1);
    memcpy(x_memory + v->x_offset, job->x, x_bytes);
    memcpy(y_memory + v->y_offset, dst, bytes);
    const qk_range x = {x_memory, v->x_offset, x_bytes}, y = {y_memory, v->y_offset, bytes};
    const qk_range ids = {(void *)(uintptr_t)job->ids, 0, 4 * job->places.ids}, missed = {&m->out_of_range, 0, 4};
    const qg_epilogue *e = &job->epilogue;
    qk_range met[QG_N_EPILOGUES];
    for (uint32_t i = 0; i < QG_N_EPILOGUES; ++i)
        met[i] = (qk_range){(void *)(uintptr_t)e->values[i], 0, 4 * qg_epilogue_count(e, (qg_epilogue_id)i)};
    const qk_epilogue epilogue = qg_epilogue_ranges(e, met);
    const qg_launch launch = {.family = job->family,
                              .kernel = m->kernel,
                              .weights = weights,
                              .in = x,
                              .indices = ids,
                              .out = y,
                              .scratch = scratch_of(m, job),
                              .status = missed,
                              .rows = job->rows,
                              .cols = job->cols,
                              .count = job->batch,
                              .experts = job->experts,
                              .slots = job->slots,
                              .x_slots = job->x_slots,
                              .views = v->given ? &v->dense : NULL,
                              .expert_views = v->given ? &v->experts : NULL,
                              .epilogue = &epilogue};
    const qk_status status = qg_launch_kernel(&api, &launch, &m->error);
    memcpy(dst, y_memory + v->y_offset, bytes);
    return status;
}

static const char *run_part(void *context, const qg_job *job, uint64_t first, uint64_t count, void *dst) {
    metal_run *m = context;
    const qg_layout *layout = job->layout;
    const qk_backend api = backend(m);
    const uint64_t bytes = count * qg_job_unit(job) * qg_job_result_bytes(job);
    const uint64_t blocks = (job->indices || job->x ? job->elements : count) / layout->elements;
    qk_range *weights = QG_NEW_ARRAY(m->arena, qk_range, layout->n_buffers);
    for (uint32_t i = 0; i < layout->n_buffers; ++i) {
        const uint64_t skip =
            job->indices || job->x || job->sizes ? 0 : first / layout->elements * layout->buffers[i].bytes;
        const uint64_t size = job->sizes ? job->sizes[i] : blocks * layout->buffers[i].bytes;
        /* The executor copies what a kernel may only read, and never writes it back. */
        weights[i] = (qk_range){(char *)(uintptr_t)job->weights[i] + skip, 0, size};
    }
    const qk_range out = {dst, 0, bytes};
    const double start = qg_seconds_now();
    const qg_launch launch = {
        .family = job->family,
        .kernel = m->kernel,
        .weights = weights,
        .indices = {(void *)(uintptr_t)(job->indices ? job->indices + first : NULL), 0, 4 * count},
        .out = out,
        .status = {&m->out_of_range, 0, 4},
        .rows = job->rows,
        .cols = job->cols,
        .count = count};
    const qk_status status =
        job->x ? run_sums(m, job, weights, dst, bytes) : qg_launch_kernel(&api, &launch, &m->error);
    m->seconds += qg_seconds_now() - start;
    return status == QK_OK ? NULL : qg_metal_failure(m, &m->error);
}

const char *qg_metal_failure(const qg_metal *metal, const qk_error *error) {
    return qg_format(metal->arena, "%s", metal->problem.status != QK_MSL_OK ? metal->problem.text : error->text);
}

const char *qg_metal_open(qg_arena *arena, const char *text, const char *name, const qk_kernel *kernel,
                          qg_metal **metal) {
    metal_run *m = QG_NEW(arena, metal_run);
    m->arena = arena;
    m->differences = qg_text_new(arena);
    const char *why = load(arena, &m->api);
    m->text = text;
    m->name = name;
    if (!why) why = open_text(m, kernel, NULL);
    if (why) qg_metal_close(m);
    *metal = m;
    return why;
}

qk_backend qg_metal_backend(qg_metal *metal) { return backend(metal); }

void qg_metal_close(qg_metal *metal) {
    if (metal->file) metal->api.close(metal->file);
}

static double spent(void *context) { return ((metal_run *)context)->seconds; }

static uint64_t missed(void *context) { return ((metal_run *)context)->out_of_range; }

static const char *close_metal(void *context) {
    qg_metal_close(context);
    return NULL;
}

const char *qg_run_open_msl(const qg_job *job, uint64_t most, qg_runner *runner) {
    (void)most;
    metal_run *m = QG_NEW(job->arena, metal_run);
    m->arena = job->arena;
    m->differences = qg_text_new(job->arena);
    const char *why = load(job->arena, &m->api);
    if (!why) why = open_kernel(job, m);
    if (why) {
        close_metal(m);
        return why;
    }
    *runner = (qg_runner){m, "the MSL executor", run_part, spent, missed, close_metal};
    return NULL;
}
