/* `qkgen run` of a family that takes no format: its inputs are arrays of whole groups, and each output is a file.
 * Data goes to the target part by part, and the files get their names together, when all of them are there. */
#include "cli/run.h"
#include "emit/spirv.h"

#include <qkgen/dispatch_qdq.h>
#include <qkgen/vulkan.h>

#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PLAIN_PART_BYTES = 64 << 20 };

/* One call, checked. Arrays and files are in the order of the bindings. */
typedef struct plain_job {
    qg_arena *arena;
    qg_plain_request request;
    const qg_plain *family;
    const qg_templates *templates;
    const char *device;
    uint64_t group, bins, groups, part; /* `part`: groups at a time */
    qg_input in[QG_MAX_PLAIN_BINDINGS];
    const char *paths[QG_MAX_PLAIN_BINDINGS];
    qg_run_output out[QG_MAX_PLAIN_BINDINGS];
} plain_job;

/* A target that is open. `data` are the arrays of a part; `run` returns NULL or a sentence saying what failed. */
typedef struct plain_target {
    const char *where;
    const char *(*run)(struct plain_target *t, const plain_job *job, uint64_t groups, void *const *data);
    const char *(*close)(struct plain_target *t, const plain_job *job);
    double seconds;
    qk_error error;
    const qk_kernel *kernel;
    void *object;
    qg_metal *metal;
    qk_vulkan *vulkan;
    qk_vulkan_buffer *buffers[QG_MAX_PLAIN_BINDINGS];
} plain_target;

static bool is_output(const plain_job *job, uint32_t i) { return job->family->bindings[i].role == QK_ROLE_OUTPUT; }

static uint64_t unit(const plain_job *job, uint32_t i) {
    return qg_plain_unit(&job->family->bindings[i], (uint32_t)job->group);
}

qk_status qg_plain_dispatch(const qg_plain *family, const qk_backend *backend, const qk_kernel *kernel,
                            const qk_range *r, uint64_t groups, uint32_t group, uint32_t bins, qk_error *error) {
    switch (family->id) {
    case QG_PLAIN_QDQ_INIT:
        return qk_dispatch_qdq_init(backend, kernel, r[0], r[1], r[2], r[3], groups, group, bins, error);
    case QG_PLAIN_QDQ_FORWARD:
        return qk_dispatch_qdq_forward(backend, kernel, r[0], r[1], r[2], r[3], groups, group, error);
    case QG_PLAIN_QDQ_BACKWARD_SCALES:
        return qk_dispatch_qdq_backward_scales(backend, kernel, r[0], r[1], r[2], groups, group, error);
    case QG_PLAIN_QDQ_BACKWARD_BIASES:
        return qk_dispatch_qdq_backward_biases(backend, kernel, r[0], r[1], groups, group, error);
    }
    return qk_fail(error, QK_ERROR_UNSUPPORTED, "%s: it has no dispatch function here", family->name);
}

/* Calls the family's dispatch function. */
static qk_status dispatch(const plain_job *job, const qk_backend *backend, const qk_kernel *kernel, const qk_range *r,
                          uint64_t groups, qk_error *error) {
    return qg_plain_dispatch(job->family, backend, kernel, r, groups, (uint32_t)job->group, (uint32_t)job->bins, error);
}

typedef void reference_4(uint64_t, uint32_t, void *, void *, void *, void *);
typedef void reference_3(uint64_t, uint32_t, void *, void *, void *);
typedef void reference_2(uint64_t, uint32_t, void *, void *);
typedef void reference_bins_4(uint64_t, uint32_t, uint32_t, void *, void *, void *, void *);

/* ---- targets ---- */

static const char *run_c(plain_target *t, const plain_job *job, uint64_t groups, void *const *d) {
    void *function = dlsym(t->object, qg_format(job->arena, "qk_%s_ref", job->family->name));
    const uint32_t group = (uint32_t)job->group, count = job->family->n_bindings;
    union {
        void *object; /* ISO C has no conversion from object to function pointers */
        reference_bins_4 *bins_4;
        reference_4 *four;
        reference_3 *three;
        reference_2 *two;
    } call = {.object = function};
    if (!function) return qg_format(job->arena, "the reference has no function qk_%s_ref", job->family->name);
    if (job->family->has_bins)
        call.bins_4(groups, group, (uint32_t)job->bins, d[0], d[1], d[2], d[3]);
    else if (count == 4)
        call.four(groups, group, d[0], d[1], d[2], d[3]);
    else if (count == 3)
        call.three(groups, group, d[0], d[1], d[2]);
    else
        call.two(groups, group, d[0], d[1]);
    return NULL;
}

static const char *close_c(plain_target *t, const plain_job *job) {
    (void)job;
    dlclose(t->object);
    return NULL;
}

static const char *open_c(plain_target *t, const plain_job *job) {
    const char *why = NULL;
    const qg_c_options options = {
        .embed = true, .kernel_h = "#include <stddef.h>\n#include <stdint.h>", .dispatch_h = ""};
    const char *header = qg_plain_header(job->arena, job->templates, &job->request, &options, &why);
    const char *source = header ? qg_plain_source(job->arena, job->templates, &job->request, &options, &why) : NULL;
    if (!source) return why;
    const char *text = qg_reference_text(job->arena, header, source);
    t->where = "the C reference";
    t->run = run_c;
    t->close = close_c;
    return qg_reference_load(job->arena, text, job->family->name, &t->object);
}

static const char *run_metal(plain_target *t, const plain_job *job, uint64_t groups, void *const *data) {
    const qk_backend backend = qg_metal_backend(t->metal);
    qk_range ranges[QG_MAX_PLAIN_BINDINGS] = {{0}};
    for (uint32_t i = 0; i < job->family->n_bindings; ++i) ranges[i] = (qk_range){data[i], 0, groups * unit(job, i)};
    if (dispatch(job, &backend, t->kernel, ranges, groups, &t->error) == QK_OK) return NULL;
    return qg_metal_failure(t->metal, &t->error);
}

static const char *close_metal(plain_target *t, const plain_job *job) {
    (void)job;
    qg_metal_close(t->metal);
    return NULL;
}

static const char *open_metal(plain_target *t, const plain_job *job) {
    const char *why = NULL, *text = qg_plain_msl(job->arena, job->templates, &job->request, &why);
    if (!text) return why;
    t->where = "the MSL executor";
    t->run = run_metal;
    t->close = close_metal;
    t->kernel = qg_plain_describe(job->arena, job->family, QK_API_METAL, NULL);
    return qg_metal_open(job->arena, text, job->request.set->name, t->kernel, &t->metal);
}

static const char *run_vulkan(plain_target *t, const plain_job *job, uint64_t groups, void *const *data) {
    const uint32_t count = job->family->n_bindings;
    const qk_backend backend = qk_vulkan_backend(t->vulkan);
    qk_range ranges[QG_MAX_PLAIN_BINDINGS] = {{0}};
    qk_status status = QK_OK;
    for (uint32_t i = 0; i < count && status == QK_OK; ++i) {
        ranges[i] = qk_vulkan_range(t->buffers[i]);
        if (!is_output(job, i))
            status = qk_vulkan_upload(t->vulkan, t->buffers[i], 0, data[i], groups * unit(job, i), &t->error);
    }
    if (status == QK_OK) status = qk_vulkan_begin(t->vulkan, &t->error);
    const double start = qg_seconds_now();
    if (status == QK_OK) status = dispatch(job, &backend, t->kernel, ranges, groups, &t->error);
    if (status == QK_OK) status = qk_vulkan_submit(t->vulkan, &t->error);
    const uint64_t nanoseconds = qk_vulkan_time_ns(t->vulkan);
    t->seconds += nanoseconds ? 1e-9 * (double)nanoseconds : qg_seconds_now() - start;
    for (uint32_t i = 0; i < count && status == QK_OK; ++i)
        if (is_output(job, i))
            status = qk_vulkan_download(t->vulkan, t->buffers[i], 0, data[i], groups * unit(job, i), &t->error);
    return status == QK_OK ? NULL : qg_format(job->arena, "%s", t->error.text);
}

static const char *close_vulkan(plain_target *t, const plain_job *job) {
    for (uint32_t i = 0; i < job->family->n_bindings; ++i) qk_vulkan_buffer_destroy(t->vulkan, t->buffers[i]);
    return qg_device_close(job->arena, t->vulkan, t->kernel);
}

static const char *compile_vulkan(plain_target *t, const plain_job *job) {
    const char *why = NULL, *glsl = qg_plain_glsl(job->arena, job->templates, &job->request, job->family, &why);
    if (!glsl) return why;
    if (!qg_spirv_open()) return "the GLSL compiler cannot be initialised";
    qk_code *code = QG_NEW(job->arena, qk_code);
    code->data = qg_spirv_compile(job->arena, job->family->name, glsl, &code->bytes, &why);
    qg_spirv_close();
    t->kernel = qg_plain_describe(job->arena, job->family, QK_API_VULKAN, code);
    return code->data ? NULL : why;
}

static const char *open_vulkan(plain_target *t, const plain_job *job) {
    const char *why = compile_vulkan(t, job);
    if (why) return why;
    qk_status status = qg_device_open(job->device, &t->vulkan, &t->error);
    for (uint32_t i = 0; i < job->family->n_bindings && status == QK_OK; ++i)
        status = qk_vulkan_buffer_create(t->vulkan, job->part * unit(job, i), &t->buffers[i], &t->error);
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
    const char *(*open)(plain_target *t, const plain_job *job);
} plain_targets[] = {{"c", open_c}, {"vulkan", open_vulkan}, {"msl", open_metal}};

/* ---- files ---- */

/* The path for a binding: FILE where there is one file on that side, NAME=FILE else. */
static const char *path_of(const char *name, const qg_texts *given, bool only) {
    const size_t length = strlen(name);
    for (uint32_t i = 0; i < given->count; ++i)
        if (strncmp(given->items[i], name, length) == 0 && given->items[i][length] == '=')
            return given->items[i] + length + 1;
    return only && given->count ? given->items[0] : NULL;
}

static bool find_paths(plain_job *job, const qg_texts *in, const qg_texts *out) {
    const qg_plain *f = job->family;
    uint32_t count[2] = {0};
    for (uint32_t i = 0; i < f->n_bindings; ++i) count[is_output(job, i)] += 1;
    for (uint32_t side = 0; side < 2; ++side) {
        const qg_texts *given = side ? out : in;
        const char *option = side ? "--out" : "--in";
        for (uint32_t i = 0; i < f->n_bindings; ++i) {
            const char *name = f->bindings[i].name;
            if ((uint32_t)is_output(job, i) != side) continue;
            job->paths[i] = path_of(name, given, count[side] == 1);
            if (!job->paths[i]) return qg_complain("%s needs %s %s=FILE", f->name, option, name) == 0;
        }
        if (given->count != count[side])
            return qg_complain("%s takes %s %u times, and it was given %u times", f->name, option, count[side],
                               given->count) == 0;
    }
    return true;
}

static bool open_inputs(plain_job *job) {
    const char *first = NULL;
    for (uint32_t i = 0; i < job->family->n_bindings; ++i) {
        if (is_output(job, i)) continue;
        qg_input *in = &job->in[i];
        if (!qg_input_open(job->paths[i], in)) return false;
        if (in->bytes % unit(job, i))
            return qg_complain(
                       "%s holds %llu bytes, which is no multiple of the %llu bytes that a group of %llu has in %s",
                       in->path, (unsigned long long)in->bytes, (unsigned long long)unit(job, i),
                       (unsigned long long)job->group, job->family->bindings[i].name) == 0;
        const uint64_t groups = in->bytes / unit(job, i);
        if (first && groups != job->groups)
            return qg_complain("%s holds %llu groups of %llu, but %s holds %llu", in->path, (unsigned long long)groups,
                               (unsigned long long)job->group, first, (unsigned long long)job->groups) == 0;
        first = in->path;
        job->groups = groups;
    }
    return true;
}

/* ---- the run ---- */

static bool run_part(const plain_job *job, plain_target *t, uint64_t first, uint64_t groups, void *const *results) {
    void *data[QG_MAX_PLAIN_BINDINGS] = {0};
    for (uint32_t i = 0; i < job->family->n_bindings; ++i)
        data[i] = is_output(job, i) ? results[i]
                                    : (char *)(uintptr_t)job->in[i].data + first * unit(job, i); /* is only read */
    const double start = qg_seconds_now();
    const char *why = t->run(t, job, groups, data);
    if (!t->vulkan) t->seconds += qg_seconds_now() - start;
    return !why || qg_complain("%s", why) == 0;
}

static bool write_part(plain_job *job, uint64_t groups, void *const *results) {
    for (uint32_t i = 0; i < job->family->n_bindings; ++i)
        if (is_output(job, i) && !qg_run_output_write(&job->out[i], results[i], (size_t)(groups * unit(job, i))))
            return false;
    return true;
}

static bool run_parts(plain_job *job, plain_target *t) {
    void *results[QG_MAX_PLAIN_BINDINGS] = {0};
    uint64_t bytes = 0;
    bool good = true;
    for (uint32_t i = 0; i < job->family->n_bindings; ++i) {
        bytes += unit(job, i);
        if (is_output(job, i)) results[i] = malloc((size_t)(job->part * unit(job, i)) + 1);
        if (is_output(job, i) && !results[i]) good = qg_complain("out of memory") == 0;
    }
    qg_progress p = {.start = qg_seconds_now()};
    for (uint64_t first = 0; first < job->groups && good; first += job->part) {
        const uint64_t groups = job->groups - first < job->part ? job->groups - first : job->part;
        good = run_part(job, t, first, groups, results) && write_part(job, groups, results);
        if (good) qg_progress_show(&p, first + groups, job->groups, (double)(first + groups) * (double)bytes);
    }
    qg_progress_end(&p);
    for (uint32_t i = 0; i < job->family->n_bindings; ++i) free(results[i]);
    return good;
}

static bool open_outputs(plain_job *job, uint32_t *count) {
    for (; *count < job->family->n_bindings; ++*count)
        if (is_output(job, *count) && !qg_run_output_open(job->arena, job->paths[*count], &job->out[*count]))
            return false;
    return true;
}

/* Gives the files their names: all, or none. */
static bool close_outputs(plain_job *job, uint32_t opened, bool good) {
    for (uint32_t i = 0; i < opened; ++i)
        if (is_output(job, i) && !qg_run_output_close(&job->out[i], good) && good) {
            good = false;
            for (uint32_t done = 0; done < i; ++done)
                if (is_output(job, done)) unlink(job->paths[done]);
        }
    return good;
}

static void report(const plain_job *job, const plain_target *t, double wall) {
    double bytes = 0;
    for (uint32_t i = 0; i < job->family->n_bindings; ++i) bytes += (double)job->groups * (double)unit(job, i);
    fprintf(stderr, "%s%s on %s: %llu elements in %.6f s", qg_case_place(""), job->family->name, t->where,
            (unsigned long long)(job->groups * job->group), t->seconds);
    if (t->seconds > 0) fprintf(stderr, ", %.2f GB/s", bytes / t->seconds / 1e9);
    fprintf(stderr, " (%.3f s with files and transfers)\n", wall);
}

static int run_job(plain_job *job, const char *(*open)(plain_target *, const plain_job *)) {
    const double start = qg_seconds_now();
    plain_target target = {0};
    const char *why = open(&target, job);
    if (why) return qg_complain("%s", why);
    uint32_t opened = 0;
    bool good = open_outputs(job, &opened) && run_parts(job, &target);
    if (!close_outputs(job, opened, good)) good = false;
    if (good) report(job, &target, qg_seconds_now() - start);
    why = target.close(&target, job);
    return why ? qg_complain("%s", why) : good ? 0 : 1;
}

int qg_run_plain(qg_session *session, const qg_plain *family, int argc, char **argv) {
    const qg_plain_set *set = NULL;
    const char *target = NULL;
    qg_texts in = {0}, out = {0}, rest = {0};
    qg_plain_named(family->name, &set);
    plain_job job = {.arena = session->arena,
                     .family = family,
                     .request = {.set = set, .n_families = 1, .families = &family, .command = "qkgen run"}};
    const qg_option options[] = {
        {"--target", QG_TEXT, &target, "c|vulkan|msl",
         "the C reference, a Vulkan device, or the executor of Metal text"},
        {"--group", QG_COUNT, &job.group, "G", "elements of a group, a multiple of 4"},
        {"--bins", QG_COUNT, &job.bins, "B", "qdq_init: levels of a group, from 2"},
        {"--in", QG_TEXTS, &in, "[NAME=]FILE", "an input; with its name where there are several"},
        {"--out", QG_TEXTS, &out, "[NAME=]FILE", "an output; with its name where there are several"},
        {"--device", QG_TEXT, &job.device, "NAME|NUMBER", "vulkan: one of `qkgen devices` (default: the best)"},
        QG_DATA_OPTION(session)};
    if (!qg_options_read(session, argc, argv, options, sizeof options / sizeof *options, &rest)) return 1;
    if (rest.count != 1) return qg_complain("run needs one kernel family, and '%s' is a second", rest.items[1]);
    if (!qg_target_named(target))
        return qg_complain("--target must be c, vulkan or msl, not '%s'", target ? target : "");
    if (job.group == 0 || job.group % 4 || job.group > QK_QDQ_MAX_GROUP)
        return qg_complain("--group is %llu, and must be a multiple of 4 from 4 to %u", (unsigned long long)job.group,
                           QK_QDQ_MAX_GROUP);
    if (family->has_bins && (job.bins < 2 || job.bins > QK_QDQ_MAX_BINS))
        return qg_complain("--bins is %llu, and must be from 2 to %u", (unsigned long long)job.bins, QK_QDQ_MAX_BINS);
    if (!family->has_bins && job.bins) return qg_complain("%s takes no --bins", family->name);
    if (!find_paths(&job, &in, &out) || !open_inputs(&job)) return 1;
    if (!session->data) session->data = qg_session_data(session);
    qg_templates templates;
    const char *why = NULL;
    if (!qg_templates_load(session->arena, qg_session_templates(session), &templates, &why))
        return qg_complain("%s", why);
    job.templates = &templates;
    job.part = PLAIN_PART_BYTES / (4 * job.group);
    if (job.part > job.groups) job.part = job.groups;
#ifdef SIGXFSZ
    signal(SIGXFSZ, SIG_IGN); /* a file-size limit is an error of write, like a full disk */
#endif
    for (size_t i = 0; i < sizeof plain_targets / sizeof *plain_targets; ++i)
        if (strcmp(target, plain_targets[i].name) == 0) return run_job(&job, plain_targets[i].open);
    return 1;
}
