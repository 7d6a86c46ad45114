/* `qkgen run transcode`: blocks of one format become blocks of another, in one launch for each part. */
#include "cli/run.h"
#include "emit/modules.h"
#include "emit/spirv.h"

#include <qkgen/dispatch.h>
#include <qkgen/vulkan.h>

#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PART_ELEMENTS = 16 << 20, MOST_BUFFERS = 16 };

typedef struct transcode_job {
    qg_arena *arena;
    const qg_layout *from, *to;
    const qg_templates *templates;
    const char *device;
    qg_kernel kernel;
    qg_request request;
    uint64_t elements, part; /* `part`: elements at a time, whole blocks of both */
    qg_input in[MOST_BUFFERS];
    const char *paths[MOST_BUFFERS];
    qg_run_output out[MOST_BUFFERS];
} transcode_job;

/* A target that is open; `run` returns NULL or a sentence saying what failed. */
typedef struct transcode_target {
    const char *where;
    const char *(*run)(struct transcode_target *t, const transcode_job *job, const void *const *from, uint64_t elements,
                       void *const *to);
    const char *(*close)(struct transcode_target *t, const transcode_job *job);
    double seconds; /* in kernels */
    qk_error error;
    const qk_kernel *described;
    void *object, *function;
    qg_metal *metal;
    qk_vulkan *vulkan;
    qk_vulkan_buffer *buffers[MOST_BUFFERS];
} transcode_target;

static uint64_t bytes_of(const qg_layout *layout, uint32_t buffer, uint64_t elements) {
    return elements / layout->elements * layout->buffers[buffer].bytes;
}

/* ---- C ---- */

typedef void transcode_function(const void *const *, uint64_t, void *const *);

static const char *run_c(transcode_target *t, const transcode_job *job, const void *const *from, uint64_t elements,
                         void *const *to) {
    transcode_function *transcode;
    (void)job;
    memcpy(&transcode, &t->function, sizeof transcode); /* ISO C has no conversion from object to function pointers */
    transcode(from, elements, to);
    return NULL;
}

static const char *close_c(transcode_target *t, const transcode_job *job) {
    (void)job;
    dlclose(t->object);
    return NULL;
}

static const char *open_c(transcode_target *t, const transcode_job *job) {
    t->where = "the C reference";
    t->run = run_c;
    t->close = close_c;
    return qg_reference_open_kernel(job->arena, job->templates, &job->request, job->kernel.name, &t->object,
                                    &t->function);
}

/* ---- Metal ---- */

static const char *run_metal(transcode_target *t, const transcode_job *job, const void *const *from, uint64_t elements,
                             void *const *to) {
    const qk_backend backend = qg_metal_backend(t->metal);
    qk_range weights[MOST_BUFFERS], made[MOST_BUFFERS];
    /* The executor copies what a kernel may only read, and never writes it back. */
    for (uint32_t i = 0; i < job->from->n_buffers; ++i)
        weights[i] = (qk_range){(void *)(uintptr_t)from[i], 0, bytes_of(job->from, i, elements)};
    for (uint32_t i = 0; i < job->to->n_buffers; ++i) made[i] = (qk_range){to[i], 0, bytes_of(job->to, i, elements)};
    if (qk_dispatch_transcode(&backend, t->described, weights, made, elements, &t->error) == QK_OK) return NULL;
    return qg_metal_failure(t->metal, &t->error);
}

static const char *close_metal(transcode_target *t, const transcode_job *job) {
    (void)job;
    qg_metal_close(t->metal);
    return NULL;
}

static const char *open_metal(transcode_target *t, const transcode_job *job) {
    const char *why = NULL;
    qg_request request = job->request;
    request.metal = true;
    const char *text = qg_msl(job->arena, job->templates, &request, &why);
    if (!text) return why;
    t->where = "the MSL executor";
    t->run = run_metal;
    t->close = close_metal;
    t->described = qg_describe(job->arena, &job->kernel, QK_API_METAL, NULL);
    return qg_metal_open(job->arena, text, job->kernel.name, t->described, &t->metal);
}

/* ---- Vulkan ---- */

static const char *run_vulkan(transcode_target *t, const transcode_job *job, const void *const *from, uint64_t elements,
                              void *const *to) {
    const uint32_t n_from = job->from->n_buffers;
    const qk_backend backend = qk_vulkan_backend(t->vulkan);
    qk_range ranges[MOST_BUFFERS];
    qk_status status = QK_OK;
    for (uint32_t i = 0; i < n_from + job->to->n_buffers; ++i) ranges[i] = qk_vulkan_range(t->buffers[i]);
    for (uint32_t i = 0; i < n_from && status == QK_OK; ++i)
        status = qk_vulkan_upload(t->vulkan, t->buffers[i], 0, from[i], bytes_of(job->from, i, elements), &t->error);
    if (status == QK_OK) status = qk_vulkan_begin(t->vulkan, &t->error);
    const double start = qg_seconds_now();
    if (status == QK_OK)
        status = qk_dispatch_transcode(&backend, t->described, ranges, ranges + n_from, elements, &t->error);
    if (status == QK_OK) status = qk_vulkan_submit(t->vulkan, &t->error);
    const uint64_t nanoseconds = qk_vulkan_time_ns(t->vulkan);
    t->seconds += nanoseconds ? 1e-9 * (double)nanoseconds : qg_seconds_now() - start;
    for (uint32_t i = 0; i < job->to->n_buffers && status == QK_OK; ++i)
        status =
            qk_vulkan_download(t->vulkan, t->buffers[n_from + i], 0, to[i], bytes_of(job->to, i, elements), &t->error);
    return status == QK_OK ? NULL : qg_format(job->arena, "%s", t->error.text);
}

static const char *close_vulkan(transcode_target *t, const transcode_job *job) {
    for (uint32_t i = 0; i < MOST_BUFFERS; ++i) qk_vulkan_buffer_destroy(t->vulkan, t->buffers[i]);
    return qg_device_close(job->arena, t->vulkan, t->described);
}

static const char *open_vulkan(transcode_target *t, const transcode_job *job) {
    const char *why = NULL;
    qg_request request = job->request;
    request.vulkan = true;
    if (!qg_spirv_open()) return "the GLSL compiler cannot be initialised";
    t->described = qg_compile_kernel(job->arena, job->templates, &request, &job->kernel, 1, &why);
    qg_spirv_close();
    if (!t->described) return why;
    qk_status status = qg_device_open(job->device, &t->vulkan, &t->error);
    for (uint32_t i = 0; i < job->from->n_buffers + job->to->n_buffers && status == QK_OK; ++i) {
        const bool read = i < job->from->n_buffers;
        const uint64_t bytes =
            read ? bytes_of(job->from, i, job->part) : bytes_of(job->to, i - job->from->n_buffers, job->part);
        status = qk_vulkan_buffer_create(t->vulkan, bytes, &t->buffers[i], &t->error);
    }
    if (status != QK_OK) {
        close_vulkan(t, job);
        return qg_format(job->arena, "%s", t->error.text);
    }
    t->where = qk_vulkan_info(t->vulkan)->name;
    t->run = run_vulkan;
    t->close = close_vulkan;
    return NULL;
}

static const struct {
    const char *name;
    const char *(*open)(transcode_target *t, const transcode_job *job);
} transcode_targets[] = {{"c", open_c}, {"vulkan", open_vulkan}, {"msl", open_metal}};

/* ---- files ---- */

/* FILE for a format of one buffer, NAME=FILE for each buffer else; NULL after a message. */
static const char *path_of(const qg_layout *layout, uint32_t buffer, const char *option, const qg_texts *given) {
    const char *name = layout->buffers[buffer].name;
    const size_t length = strlen(name);
    for (uint32_t i = 0; i < given->count; ++i)
        if (strncmp(given->items[i], name, length) == 0 && given->items[i][length] == '=')
            return given->items[i] + length + 1;
    if (layout->n_buffers == 1) return given->items[0];
    qg_complain("%s needs %s %s=FILE", layout->name, option, name);
    return NULL;
}

static bool check_count(const qg_layout *layout, const char *option, const qg_texts *given) {
    return given->count == layout->n_buffers ||
           qg_complain("%s has %u buffer%s, but %s was given %u times", layout->name, layout->n_buffers,
                       layout->n_buffers == 1 ? "" : "s", option, given->count) == 0;
}

static bool open_files(transcode_job *job, const qg_texts *in, const qg_texts *out) {
    const qg_layout *from = job->from;
    uint64_t blocks = 0;
    if (!check_count(from, "--in", in) || !check_count(job->to, "--out", out)) return false;
    for (uint32_t i = 0; i < from->n_buffers; ++i) {
        const char *path = path_of(from, i, "--in", in);
        const uint32_t bytes = from->buffers[i].bytes;
        if (!path || !qg_input_open(path, &job->in[i])) return false;
        if (job->in[i].bytes % bytes)
            return qg_complain("%s holds %llu bytes, which is no multiple of the %u bytes that a block of %s has there",
                               path, (unsigned long long)job->in[i].bytes, bytes, from->name) == 0;
        if (i && job->in[i].bytes / bytes != blocks)
            return qg_complain("%s holds %llu blocks of %s, but %s holds %llu", path,
                               (unsigned long long)(job->in[i].bytes / bytes), from->name, job->in[0].path,
                               (unsigned long long)blocks) == 0;
        blocks = job->in[i].bytes / bytes;
    }
    for (uint32_t i = 0; i < job->to->n_buffers; ++i)
        if (!(job->paths[i] = path_of(job->to, i, "--out", out))) return false;
    const uint32_t unit = qg_unit(&job->kernel);
    job->elements = blocks * from->elements;
    if (job->elements % unit)
        return qg_complain("%s holds %llu elements, which is no multiple of the %u of a block of %s", job->in[0].path,
                           (unsigned long long)job->elements, unit, job->to->name) == 0;
    job->part = PART_ELEMENTS / unit * unit;
    if (job->part > job->elements) job->part = job->elements ? job->elements : unit;
    return true;
}

/* ---- the run ---- */

static bool run_parts(transcode_job *job, transcode_target *t) {
    void *made[MOST_BUFFERS] = {0};
    bool good = true;
    for (uint32_t i = 0; i < job->to->n_buffers && good; ++i)
        good = (made[i] = calloc(1, (size_t)bytes_of(job->to, i, job->part))) || qg_complain("out of memory") == 0;
    for (uint64_t first = 0; first < job->elements && good; first += job->part) {
        const uint64_t count = job->elements - first < job->part ? job->elements - first : job->part;
        const void *from[MOST_BUFFERS];
        for (uint32_t i = 0; i < job->from->n_buffers; ++i)
            from[i] = (const char *)job->in[i].data + bytes_of(job->from, i, first);
        const double start = qg_seconds_now();
        const char *why = t->run(t, job, from, count, made);
        if (!t->vulkan) t->seconds += qg_seconds_now() - start;
        good = !why || qg_complain("%s", why) == 0;
        for (uint32_t i = 0; i < job->to->n_buffers && good; ++i)
            good = qg_run_output_write(&job->out[i], made[i], (size_t)bytes_of(job->to, i, count));
    }
    for (uint32_t i = 0; i < job->to->n_buffers; ++i) free(made[i]);
    return good;
}

static int run_job(transcode_job *job, const char *(*open)(transcode_target *, const transcode_job *)) {
    const double start = qg_seconds_now();
    transcode_target target = {0};
    const char *why = open(&target, job);
    if (why) return qg_complain("%s", why);
    uint32_t opened = 0;
    while (opened < job->to->n_buffers && qg_run_output_open(job->arena, job->paths[opened], &job->out[opened]))
        ++opened;
    bool good = opened == job->to->n_buffers && run_parts(job, &target);
    for (uint32_t i = 0; i < opened; ++i)
        if (!qg_run_output_close(&job->out[i], good) && good) {
            good = false;
            for (uint32_t done = 0; done < i; ++done) unlink(job->paths[done]);
        }
    const double bits = qg_bits_per_element(job->from) + qg_bits_per_element(job->to);
    if (good) {
        fprintf(stderr, "%stranscode %s to %s on %s: %llu elements in %.6f s", qg_case_place(""), job->from->name,
                job->to->name, target.where, (unsigned long long)job->elements, target.seconds);
        if (target.seconds > 0) fprintf(stderr, ", %.2f GB/s", (double)job->elements * bits / 8 / target.seconds / 1e9);
        fprintf(stderr, " (%.3f s with files and transfers)\n", qg_seconds_now() - start);
    }
    why = target.close(&target, job);
    return why ? qg_complain("%s", why) : good ? 0 : 1;
}

int qg_run_transcode(qg_session *session, int argc, char **argv) {
    const char *from = NULL, *to = NULL, *target = NULL, *why = NULL;
    qg_texts in = {0}, out = {0}, rest = {0};
    transcode_job job = {.arena = session->arena};
    qg_templates templates;
    const qg_option options[] = {
        {"--from", QG_TEXT, &from, "F", "the format that is read; `qkgen list` shows them"},
        {"--to", QG_TEXT, &to, "F", "the format that is made, whose specification has `encode`"},
        {"--target", QG_TEXT, &target, "c|vulkan|msl",
         "the C reference, a Vulkan device, or the executor of Metal text"},
        {"--in", QG_TEXTS, &in, "[NAME=]FILE", "the blocks; once for each buffer of a format that has several"},
        {"--out", QG_TEXTS, &out, "[NAME=]FILE", "where blocks go; likewise"},
        {"--device", QG_TEXT, &job.device, "NAME|NUMBER", "vulkan: one of `qkgen devices` (default: the best)"},
        QG_SESSION_OPTIONS(session)};
    if (!qg_options_read(session, argc, argv, options, QG_LENGTH(options), &rest)) return 1;
    if (rest.count != 1) return qg_complain("run needs one kernel family, and '%s' is a second", rest.items[1]);
    if (!from || !to) return qg_complain("transcode needs --from F and --to F; `qkgen list` shows formats");
    if (!qg_target_named(target))
        return qg_complain("--target must be c, vulkan or msl, not '%s'", target ? target : "");
    if (!qg_session_load_named(session, from, to)) return 1;
    if (!(job.from = qg_session_format(session, from)) || !(job.to = qg_session_format(session, to))) return 1;
    if ((why = qg_transcode_hindrance(session->arena, job.from, job.to)) != NULL) return qg_complain("%s", why);
    job.kernel = qg_transcode_new(session->arena, job.from, job.to);
    if (!open_files(&job, &in, &out)) return 1;
    if (!qg_templates_load(session->arena, qg_session_templates(session), &templates, &why))
        return qg_complain("%s", why);
    job.templates = &templates;
    job.request = (qg_request){.layout = job.from, .n_to = 1, .to = &job.to, .command = "qkgen run"};
#ifdef SIGXFSZ
    signal(SIGXFSZ, SIG_IGN); /* a file-size limit is an error of write, like a full disk */
#endif
    for (uint32_t i = 0; i < QG_LENGTH(transcode_targets); ++i)
        if (strcmp(target, transcode_targets[i].name) == 0) return run_job(&job, transcode_targets[i].open);
    return 1;
}
