/* `qkgen run encode` and `set_rows`: floats of a file become blocks, one file for each buffer of the format. Data goes
 * to the target part by part, rows that are set in one; files get their names together, when all of them are there. */
#include "cli/run.h"
#include "cli/run_launch.h"
#include "emit/modules.h"
#include "emit/spirv.h"

#include <qkgen/dispatch.h>
#include <qkgen/vulkan.h>

#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ENCODE_PART_BYTES = 64 << 20, MOST_BUFFERS = 16 };

typedef struct encode_job {
    qg_arena *arena;
    qg_request request;
    qg_kernel kernel;
    const qg_layout *layout;
    const qg_templates *templates;
    const char *device;
    qg_input in;
    uint64_t blocks, part;       /* `part`: blocks at a time */
    uint64_t rows, cols, tokens; /* of a matrix, or a table; set_rows: how many rows are set */
    const uint64_t *sizes;       /* of the buffers, of a matrix, or of planes; else NULL */
    const uint32_t *indices;     /* set_rows; else NULL */
    qg_input into[MOST_BUFFERS]; /* set_rows: what the table has; without data zeros */
    const char *paths[MOST_BUFFERS];
    qg_run_output out[MOST_BUFFERS];
} encode_job;

/* A target that is open; `run` returns NULL or a sentence saying what failed. */
typedef struct encode_target {
    const char *where;
    const char *(*run)(struct encode_target *t, const encode_job *job, const void *src, uint64_t blocks,
                       void *const *weights);
    const char *(*close)(struct encode_target *t, const encode_job *job);
    double seconds;
    uint32_t out_of_range;
    qk_error error;
    const qk_kernel *described;
    void *object, *function;
    qg_metal *metal;
    qk_vulkan *vulkan;
    qk_vulkan_buffer *buffers[MOST_BUFFERS + 3]; /* of the format; src; indices, status */
} encode_target;

/* Of an element of what is encoded. */
static uint64_t src_bytes(const encode_job *job) { return qg_scalars[job->kernel.type].bits / 8; }

/* Elements of what is counted as a block: in planes, of a group. */
static uint32_t unit_of(const encode_job *job) {
    return job->layout->view == QG_VIEW_GROUPS ? job->layout->block_cols : job->layout->elements;
}

static uint64_t elements_of(const encode_job *job, uint64_t blocks) { return blocks * unit_of(job); }

/* Blocks that are there when `blocks` are made. */
static uint64_t stored_blocks(const encode_job *job, uint64_t blocks) {
    return job->indices ? job->rows * (job->cols / job->layout->elements) : blocks;
}

static uint64_t bytes_of(const encode_job *job, uint32_t buffer, uint64_t blocks) {
    return job->sizes ? job->sizes[buffer] : stored_blocks(job, blocks) * job->layout->buffers[buffer].bytes;
}

/* `extra`: indices and status. */
static qk_status dispatch(const encode_job *job, encode_target *t, const qk_backend *backend, const qk_range *weights,
                          qk_range src, const qk_range *extra, uint64_t elements) {
    qg_launch launch = {.family = job->kernel.family,
                        .kernel = t->described,
                        .weights = weights,
                        .in = src,
                        .rows = job->rows,
                        .cols = job->cols,
                        .count = job->indices ? job->tokens : elements};
    if (job->indices) launch.indices = extra[0], launch.status = extra[1];
    return qg_launch_kernel(backend, &launch, &t->error);
}

/* ---- C ---- */

typedef void encode_function(void *const *, uint64_t, const void *);
typedef void encode_matrix_function(void *const *, uint64_t, uint64_t, const void *);
typedef uint64_t set_rows_function(void *const *, const uint32_t *, uint64_t, uint64_t, uint64_t, const void *);

void qg_reference_encode(void *function, void *const *weights, uint64_t elements, const void *src) {
    encode_function *encode;
    memcpy(&encode, &function, sizeof encode); /* ISO C has no conversion from object to function pointers */
    encode(weights, elements, src);
}

void qg_reference_encode_rows(void *function, void *const *weights, uint64_t rows, uint64_t cols, const void *src) {
    encode_matrix_function *encode;
    memcpy(&encode, &function, sizeof encode);
    encode(weights, rows, cols, src);
}

uint64_t qg_reference_set_rows(void *function, void *const *weights, const uint32_t *indices, uint64_t rows,
                               uint64_t cols, uint64_t tokens, const void *src) {
    set_rows_function *set_rows;
    memcpy(&set_rows, &function, sizeof set_rows);
    return set_rows(weights, indices, rows, cols, tokens, src);
}

static const char *run_c(encode_target *t, const encode_job *job, const void *src, uint64_t blocks,
                         void *const *weights) {
    if (job->indices)
        t->out_of_range =
            (uint32_t)qg_reference_set_rows(t->function, weights, job->indices, job->rows, job->cols, job->tokens, src);
    else if (job->sizes)
        qg_reference_encode_rows(t->function, weights, job->rows, job->cols, src);
    else
        qg_reference_encode(t->function, weights, elements_of(job, blocks), src);
    return NULL;
}

static const char *close_c(encode_target *t, const encode_job *job) {
    (void)job;
    dlclose(t->object);
    return NULL;
}

static const char *open_c(encode_target *t, const encode_job *job) {
    t->where = "the C reference";
    t->run = run_c;
    t->close = close_c;
    return qg_reference_open(job->arena, job->templates, job->layout, job->request.families[0], job->kernel.type,
                             &t->object, &t->function);
}

/* ---- Metal ---- */

static const char *run_metal(encode_target *t, const encode_job *job, const void *src, uint64_t blocks,
                             void *const *weights) {
    const qk_backend backend = qg_metal_backend(t->metal);
    qk_range ranges[MOST_BUFFERS] = {{0}};
    for (uint32_t i = 0; i < job->layout->n_buffers; ++i)
        ranges[i] = (qk_range){weights[i], 0, bytes_of(job, i, blocks)};
    /* The executor copies what a kernel may only read, and never writes it back. */
    const qk_range from = {(void *)(uintptr_t)src, 0, src_bytes(job) * elements_of(job, blocks)};
    const qk_range extra[] = {{(void *)(uintptr_t)job->indices, 0, 4 * job->tokens}, {&t->out_of_range, 0, 4}};
    if (dispatch(job, t, &backend, ranges, from, extra, elements_of(job, blocks)) == QK_OK) return NULL;
    return qg_metal_failure(t->metal, &t->error);
}

static const char *close_metal(encode_target *t, const encode_job *job) {
    (void)job;
    qg_metal_close(t->metal);
    return NULL;
}

static const char *open_metal(encode_target *t, const encode_job *job) {
    const char *why = NULL;
    qg_request request = job->request;
    request.metal = true;
    const char *text = qg_msl(job->arena, job->templates, &request, &why);
    if (!text) return why;
    t->where = "the MSL executor";
    t->run = run_metal;
    t->close = close_metal;
    t->described = qg_describe(job->arena, &job->kernel, QK_API_METAL, NULL);
    return qg_metal_open(job->arena, text, job->layout->name, t->described, &t->metal);
}

/* ---- Vulkan ---- */

static const char *run_vulkan(encode_target *t, const encode_job *job, const void *src, uint64_t blocks,
                              void *const *weights) {
    const uint32_t count = job->layout->n_buffers;
    const qk_backend backend = qk_vulkan_backend(t->vulkan);
    const uint64_t elements = elements_of(job, blocks);
    qk_range ranges[MOST_BUFFERS] = {{0}};
    for (uint32_t i = 0; i < count; ++i) ranges[i] = qk_vulkan_range(t->buffers[i]);
    qk_range extra[2] = {{0}};
    qk_status status = qk_vulkan_upload(t->vulkan, t->buffers[count], 0, src, src_bytes(job) * elements, &t->error);
    for (uint32_t i = 0; i < count && job->indices && status == QK_OK; ++i)
        status = qk_vulkan_upload(t->vulkan, t->buffers[i], 0, weights[i], bytes_of(job, i, blocks), &t->error);
    for (uint32_t i = 0; i < 2 && job->indices; ++i) extra[i] = qk_vulkan_range(t->buffers[count + 1 + i]);
    if (status == QK_OK && job->indices)
        status = qk_vulkan_upload(t->vulkan, t->buffers[count + 1], 0, job->indices, 4 * job->tokens, &t->error);
    if (status == QK_OK && job->indices) status = qk_vulkan_clear(t->vulkan, t->buffers[count + 2], &t->error);
    if (status == QK_OK) status = qk_vulkan_begin(t->vulkan, &t->error);
    const double start = qg_seconds_now();
    if (status == QK_OK)
        status = dispatch(job, t, &backend, ranges, qk_vulkan_range(t->buffers[count]), extra, elements);
    if (status == QK_OK) status = qk_vulkan_submit(t->vulkan, &t->error);
    const uint64_t nanoseconds = qk_vulkan_time_ns(t->vulkan);
    t->seconds += nanoseconds ? 1e-9 * (double)nanoseconds : qg_seconds_now() - start;
    for (uint32_t i = 0; i < count && status == QK_OK; ++i)
        status = qk_vulkan_download(t->vulkan, t->buffers[i], 0, weights[i], bytes_of(job, i, blocks), &t->error);
    if (status == QK_OK && job->indices)
        status = qk_vulkan_download(t->vulkan, t->buffers[count + 2], 0, &t->out_of_range, 4, &t->error);
    return status == QK_OK ? NULL : qg_format(job->arena, "%s", t->error.text);
}

static const char *close_vulkan(encode_target *t, const encode_job *job) {
    for (uint32_t i = 0; i <= job->layout->n_buffers + 2; ++i) qk_vulkan_buffer_destroy(t->vulkan, t->buffers[i]);
    return qg_device_close(job->arena, t->vulkan, t->described);
}

static const char *open_vulkan(encode_target *t, const encode_job *job) {
    const char *why = NULL;
    qg_request request = job->request;
    request.vulkan = true;
    if (!qg_spirv_open()) return "the GLSL compiler cannot be initialised";
    t->described = qg_compile_kernel(job->arena, job->templates, &request, &job->kernel, 1, &why);
    qg_spirv_close();
    if (!t->described) return why;
    qk_status status = qg_device_open(job->device, &t->vulkan, &t->error);
    for (uint32_t i = 0; i < job->layout->n_buffers && status == QK_OK; ++i)
        status = qk_vulkan_buffer_create(t->vulkan, bytes_of(job, i, job->part), &t->buffers[i], &t->error);
    if (status == QK_OK)
        status = qk_vulkan_buffer_create(t->vulkan, src_bytes(job) * elements_of(job, job->part),
                                         &t->buffers[job->layout->n_buffers], &t->error);
    for (uint32_t i = 0; i < 2 && job->indices && status == QK_OK; ++i)
        status = qk_vulkan_buffer_create(t->vulkan, i ? 4 : 4 * job->tokens,
                                         &t->buffers[job->layout->n_buffers + 1 + i], &t->error);
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
    const char *(*open)(encode_target *t, const encode_job *job);
} encode_targets[] = {{"c", open_c}, {"vulkan", open_vulkan}, {"msl", open_metal}};

/* ---- files ---- */

/* FILE for a format of one buffer, NAME=FILE for each buffer else. */
static const char *path_of(const qg_layout *layout, uint32_t buffer, const qg_texts *given) {
    const char *name = layout->buffers[buffer].name;
    const size_t length = strlen(name);
    for (uint32_t i = 0; i < given->count; ++i)
        if (strncmp(given->items[i], name, length) == 0 && given->items[i][length] == '=')
            return given->items[i] + length + 1;
    return layout->n_buffers == 1 ? given->items[0] : NULL;
}

static bool find_paths(encode_job *job, const qg_texts *out) {
    const qg_layout *layout = job->layout;
    if (out->count != layout->n_buffers)
        return qg_complain("%s has %u buffer%s, but --out was given %u times", layout->name, layout->n_buffers,
                           layout->n_buffers == 1 ? "" : "s", out->count) == 0;
    for (uint32_t b = 0; b < layout->n_buffers; ++b) {
        job->paths[b] = path_of(layout, b, out);
        if (!job->paths[b]) return qg_complain("%s needs --out %s=FILE", layout->name, layout->buffers[b].name) == 0;
    }
    return true;
}

static bool open_input(encode_job *job, const char *path) {
    const uint64_t block = src_bytes(job) * unit_of(job);
    const char *name = job->layout->view == QG_VIEW_GROUPS ? "group" : "block";
    if (!path) return qg_complain("run needs --in FILE, floats of --type") == 0;
    if (!qg_input_open(path, &job->in)) return false;
    if (job->in.bytes % block)
        return qg_complain("%s holds %llu bytes, which is no multiple of the %llu bytes that the %u floats (%s) of a "
                           "%s of %s have: pad the last %s",
                           path, (unsigned long long)job->in.bytes, (unsigned long long)block, unit_of(job),
                           qg_scalars[job->kernel.type].name, name, job->layout->name, name) == 0;
    job->blocks = job->in.bytes / block;
    job->part = job->indices || job->sizes ? job->blocks : ENCODE_PART_BYTES / block;
    if (job->part > job->blocks) job->part = job->blocks ? job->blocks : 1;
    return true;
}

/* The shape of a tensor in planes, whose groups do not care for it. */
static bool open_planes(encode_job *job) {
    const qg_layout *layout = job->layout;
    const bool given = job->rows > 0 && job->cols > 0;
    job->sizes = given ? qg_matrix_sizes(job->arena, layout, job->rows, job->cols) : NULL;
    return job->sizes ||
           qg_complain(
               "%s needs --rows and --cols, at least 1, which together make whole groups of %u elements, with a "
               "product below 2^32",
               layout->name, layout->block_cols) == 0;
}

/* The shape of a matrix whose rows have something of their own. */
static bool open_rows(encode_job *job) {
    const qg_layout *layout = job->layout;
    if (job->rows == 0 || job->cols == 0 || job->cols % layout->elements)
        return qg_complain(
                   "%s needs --rows, at least 1, and --cols, a multiple of the %u elements of a block: its rows have "
                   "something of their own",
                   layout->name, layout->elements) == 0;
    job->sizes = qg_matrix_sizes(job->arena, layout, job->rows, job->cols);
    return job->sizes || qg_complain("--rows times --cols must be below 2^32") == 0;
}

/* set_rows: shape, numbers of rows, and what the table has. */
static bool open_table(encode_job *job, const char *indices, const qg_texts *into) {
    const qg_layout *layout = job->layout;
    qg_input file;
    if (!indices) return qg_complain("set_rows needs --indices FILE, u32 row numbers") == 0;
    if (job->rows == 0 || job->cols == 0 || job->cols % layout->elements)
        return qg_complain(
                   "set_rows needs --rows, at least 1, and --cols, a multiple of the %u elements of a block of %s",
                   layout->elements, layout->name) == 0;
    if (!qg_input_open(indices, &file)) return false;
    if (file.bytes == 0 || file.bytes % 4)
        return qg_complain("%s holds %llu bytes, which is no positive multiple of the 4 bytes of an index", indices,
                           (unsigned long long)file.bytes) == 0;
    job->indices = file.data;
    job->tokens = file.bytes / 4;
    if (into->count && into->count != layout->n_buffers)
        return qg_complain("%s has %u buffers, but --into was given %u times", layout->name, layout->n_buffers,
                           into->count) == 0;
    for (uint32_t b = 0; b < layout->n_buffers && into->count; ++b) {
        const char *path = path_of(layout, b, into);
        if (!path) return qg_complain("%s needs --into %s=FILE", layout->name, layout->buffers[b].name) == 0;
        if (!qg_input_open(path, &job->into[b])) return false;
        if (job->into[b].bytes != bytes_of(job, b, 0))
            return qg_complain("%s holds %llu bytes, but --rows %llu of --cols %llu have %llu there", path,
                               (unsigned long long)job->into[b].bytes, (unsigned long long)job->rows,
                               (unsigned long long)job->cols, (unsigned long long)bytes_of(job, b, 0)) == 0;
    }
    return true;
}

/* ---- the run ---- */

static bool run_part(encode_job *job, encode_target *t, uint64_t first, uint64_t blocks, void *const *weights) {
    const char *src = (const char *)job->in.data + src_bytes(job) * elements_of(job, first);
    const double start = qg_seconds_now();
    const char *why = t->run(t, job, src, blocks, weights);
    if (why) return qg_complain("%s", why) == 0;
    if (!t->vulkan) t->seconds += qg_seconds_now() - start;
    for (uint32_t i = 0; i < job->layout->n_buffers; ++i)
        if (!qg_run_output_write(&job->out[i], weights[i], (size_t)bytes_of(job, i, blocks))) return false;
    return true;
}

static bool run_parts(encode_job *job, encode_target *t) {
    void *weights[MOST_BUFFERS] = {0};
    bool good = true;
    for (uint32_t i = 0; i < job->layout->n_buffers; ++i) {
        weights[i] = calloc(1, (size_t)bytes_of(job, i, job->part) + 1);
        if (!weights[i]) good = qg_complain("out of memory") == 0;
        if (weights[i] && job->into[i].data) memcpy(weights[i], job->into[i].data, job->into[i].bytes);
    }
    qg_progress p = {.start = qg_seconds_now()};
    for (uint64_t first = 0; first < job->blocks && good; first += job->part) {
        const uint64_t blocks = job->blocks - first < job->part ? job->blocks - first : job->part;
        good = run_part(job, t, first, blocks, weights);
        if (good)
            qg_progress_show(&p, first + blocks, job->blocks,
                             (double)(src_bytes(job) * elements_of(job, first + blocks)));
    }
    qg_progress_end(&p);
    for (uint32_t i = 0; i < job->layout->n_buffers; ++i) free(weights[i]);
    return good;
}

/* Gives the files their names: all, or none. */
static bool close_outputs(encode_job *job, uint32_t opened, bool good) {
    for (uint32_t i = 0; i < opened; ++i)
        if (!qg_run_output_close(&job->out[i], good) && good) {
            good = false;
            for (uint32_t done = 0; done < i; ++done) unlink(job->paths[done]);
        }
    return good;
}

static int run_job(encode_job *job, const char *(*open)(encode_target *, const encode_job *)) {
    const double start = qg_seconds_now(), elements = (double)elements_of(job, job->blocks);
    encode_target target = {0};
    const char *why = open(&target, job);
    if (why) return qg_complain("%s", why);
    uint32_t opened = 0;
    while (opened < job->layout->n_buffers && qg_run_output_open(job->arena, job->paths[opened], &job->out[opened]))
        ++opened;
    bool good = opened == job->layout->n_buffers && run_parts(job, &target);
    good = close_outputs(job, opened, good);
    const double bytes = elements * ((double)src_bytes(job) + qg_bits_per_element(job->layout) / 8);
    if (good) {
        fprintf(stderr, "%s%s %s from %s on %s: %.0f elements in %.6f s", qg_case_place(""),
                job->request.families[0]->name, job->layout->name, qg_scalars[job->kernel.type].name, target.where,
                elements, target.seconds);
        if (target.seconds > 0) fprintf(stderr, ", %.2f GB/s", bytes / target.seconds / 1e9);
        fprintf(stderr, " (%.3f s with files and transfers)\n", qg_seconds_now() - start);
        if (target.out_of_range)
            fprintf(stderr, "%swarning: %u of %llu indices are not below --rows %llu; nothing is written for them\n",
                    qg_case_place("qkgen: "), target.out_of_range, (unsigned long long)job->tokens,
                    (unsigned long long)job->rows);
    }
    why = target.close(&target, job);
    return why ? qg_complain("%s", why) : good ? 0 : 1;
}

int qg_run_encode(qg_session *session, const qg_family *family, int argc, char **argv) {
    const char *format = NULL, *target = NULL, *in = NULL, *indices = NULL, *type = "f32";
    qg_texts out = {0}, into = {0}, rest = {0};
    const bool sets_rows = family->id == QG_FAMILY_SET_ROWS;
    encode_job job = {.arena = session->arena};
    const qg_option options[] = {
        {"--format", QG_TEXT, &format, "F", "the format; `qkgen list` shows them"},
        {"--target", QG_TEXT, &target, "c|vulkan|msl",
         "the C reference, a Vulkan device, or the executor of Metal text"},
        {"--in", QG_TEXT, &in, "FILE", "the floats"},
        {"--type", QG_TEXT, &type, "f32|f16|bf16", "of these (default: f32)"},
        {"--out", QG_TEXTS, &out, "[NAME=]FILE", "where blocks go; once for each buffer of a format that has several"},
        {"--rows", QG_COUNT, &job.rows, "N",
         "of the table, of a matrix whose rows have something of their own, or of planes"},
        {"--cols", QG_COUNT, &job.cols, "K", "its columns"},
        {"--indices", QG_TEXT, &indices, "FILE", "set_rows: which row each row of floats becomes, u32"},
        {"--into", QG_TEXTS, &into, "[NAME=]FILE", "set_rows: what the table has (default: zeros)"},
        {"--device", QG_TEXT, &job.device, "NAME|NUMBER", "vulkan: one of `qkgen devices` (default: the best)"},
        QG_SESSION_OPTIONS(session)};
    if (!qg_options_read(session, argc, argv, options, sizeof options / sizeof *options, &rest)) return 1;
    if (rest.count != 1) return qg_complain("run needs one kernel family, and '%s' is a second", rest.items[1]);
    if (!format) return qg_complain("run needs --format F; `qkgen list` shows them");
    if (!qg_target_named(target))
        return qg_complain("--target must be c, vulkan or msl, not '%s'", target ? target : "");
    if (!qg_session_load_named(session, format, NULL)) return 1;
    job.layout = qg_session_format(session, format);
    if (!job.layout) return 1;
    if (job.layout->encode && qg_spreads_rows(family, job.layout))
        return qg_complain("%s spreads each row over planes, and %s makes rows alone: make the whole tensor, with "
                           "`qkgen run encode`",
                           format, family->name);
    if (!qg_takes(family, job.layout))
        return qg_complain("%s does not say how its blocks are made: its specification needs 'encode', see "
                           "docs/format-language.md",
                           format);
    const qg_scalar scalar = qg_family_type(family, type);
    if (scalar == QG_SCALAR_COUNT) return qg_complain("--type must be f32, f16 or bf16, not '%s'", type);
    job.request = (qg_request){.layout = job.layout, .n_families = 1, .families = &family, .command = "qkgen run"};
    job.kernel = qg_kernel_new(session->arena, job.layout, family, scalar, NULL);
    job.layout = job.kernel.layout;
    const bool matrix = job.layout->view != QG_VIEW_BLOCKS;
    if (!sets_rows && (((job.rows || job.cols) && !matrix) || indices || into.count))
        return qg_complain("--rows, --cols, --indices and --into are for set_rows");
    const bool planes = job.layout->view == QG_VIEW_GROUPS;
    if (matrix && !(planes ? open_planes : open_rows)(&job)) return 1;
    if (sets_rows && !open_table(&job, indices, &into)) return 1;
    if (!find_paths(&job, &out) || !open_input(&job, in)) return 1;
    if (matrix && !sets_rows && elements_of(&job, job.blocks) != job.rows * job.cols)
        return qg_complain("%s holds %llu floats, but %llu rows of --cols %llu have %llu", in,
                           (unsigned long long)elements_of(&job, job.blocks), (unsigned long long)job.rows,
                           (unsigned long long)job.cols, (unsigned long long)(job.rows * job.cols));
    if (sets_rows && (job.tokens > UINT64_MAX / job.cols || job.blocks * job.layout->elements != job.tokens * job.cols))
        return qg_complain("%s holds %llu floats, but %llu rows of --cols %llu have %llu", in,
                           (unsigned long long)(job.blocks * job.layout->elements), (unsigned long long)job.tokens,
                           (unsigned long long)job.cols, (unsigned long long)(job.tokens * job.cols));
    qg_templates templates;
    const char *why = NULL;
    if (!qg_templates_load(session->arena, qg_session_templates(session), &templates, &why))
        return qg_complain("%s", why);
    job.templates = &templates;
#ifdef SIGXFSZ
    signal(SIGXFSZ, SIG_IGN); /* a file-size limit is an error of write, like a full disk */
#endif
    for (size_t i = 0; i < sizeof encode_targets / sizeof *encode_targets; ++i)
        if (strcmp(target, encode_targets[i].name) == 0) return run_job(&job, encode_targets[i].open);
    return 1;
}
