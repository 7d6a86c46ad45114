/* `qkgen run`: checks the request and the files, feeds the data to a target part by part, and
 * writes the result under its final name only when all of it is there. */
#include "cli/run.h"

#include <qkgen/dispatch.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PART_BYTES = 32 << 20 };

double qg_seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- input ---- */

typedef struct mapping {
    struct mapping *before;
    void *data;
    uint64_t bytes;
} mapping;

static mapping *mappings;

static bool remember(void *data, uint64_t bytes) {
    mapping *made = malloc(sizeof *made);
    if (!made) return qg_complain("out of memory") == 0;
    *made = (mapping){mappings, data, bytes};
    mappings = made;
    return true;
}

void qg_inputs_close(void) {
    while (mappings) {
        mapping *before = mappings->before;
        munmap(mappings->data, mappings->bytes);
        free(mappings);
        mappings = before;
    }
}

bool qg_input_open(const char *path, qg_input *in) {
    struct stat info;
    const int file = open(path, O_RDONLY);
    *in = (qg_input){.path = path};
    if (file < 0 || fstat(file, &info) != 0) {
        qg_complain("cannot read %s: %s", path, strerror(errno));
        if (file >= 0) close(file);
        return false;
    }
    if (!S_ISREG(info.st_mode)) {
        close(file);
        return qg_complain("cannot read %s: not a regular file", path) == 0;
    }
    in->bytes = (uint64_t)info.st_size;
    in->data = "";
    if (in->bytes) in->data = mmap(NULL, in->bytes, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
    if (in->data == MAP_FAILED) return qg_complain("cannot map %s: %s", path, strerror(errno)) == 0;
    return !in->bytes || remember((void *)(uintptr_t)in->data, in->bytes);
}

/* `--in FILE` for a format of one buffer, `--in NAME=FILE` for each buffer else. */
static const char *input_path(const qg_layout *layout, uint32_t buffer, const qg_texts *in) {
    const char *name = layout->buffers[buffer].name;
    const size_t length = strlen(name);
    for (uint32_t i = 0; i < in->count; ++i) {
        if (strncmp(in->items[i], name, length) == 0 && in->items[i][length] == '=') return in->items[i] + length + 1;
        if (layout->n_buffers == 1) return in->items[i];
    }
    return NULL;
}

static bool open_buffer(const qg_layout *layout, uint32_t buffer, const qg_texts *in, qg_input *file) {
    const char *path = input_path(layout, buffer, in);
    if (in->count != layout->n_buffers && in->count)
        return qg_complain("%s has %u buffers, but --in was given %u times", layout->name, layout->n_buffers,
                           in->count) == 0;
    if (!path) {
        if (layout->n_buffers == 1) return qg_complain("run needs --in FILE") == 0;
        return qg_complain("%s needs --in %s=FILE", layout->name, layout->buffers[buffer].name) == 0;
    }
    return qg_input_open(path, file);
}

uint64_t *qg_matrix_sizes(qg_arena *arena, const qg_layout *layout, uint64_t rows, uint64_t cols) {
    const qg_kernel kernel = qg_kernel_new(arena, layout, &qg_families[QG_FAMILY_DEQUANT], QG_F32, NULL);
    const qk_kernel *described = qg_describe(arena, &kernel, QK_API_VULKAN, NULL);
    uint64_t *sizes = QG_NEW_ARRAY(arena, uint64_t, layout->n_buffers);
    for (uint32_t i = 0; i < layout->n_buffers; ++i) {
        sizes[i] = qk_weight_bytes(described, i, rows, cols);
        if (!sizes[i]) return NULL;
    }
    return sizes;
}

/* "multiples of 32 and 128" */
static const char *shape_rule(qg_arena *arena, const qg_layout *layout) {
    if (layout->ragged) return "positive";
    if (layout->view == QG_VIEW_GROUPS)
        return qg_format(arena, "positive, and together make whole groups of %u", layout->block_cols);
    return qg_format(arena, "positive multiples of %u and %u", layout->block_rows, layout->block_cols);
}

/* The buffers of a tensor whose blocks are patches of a matrix: their sizes follow from its shape. */
static bool open_matrix(qg_job *job, const qg_texts *in, const void **pointers) {
    const qg_layout *layout = job->layout;
    if (job->rows == 0 || job->cols == 0)
        return qg_complain("%s needs --rows and --cols: its blocks are patches of a matrix", layout->name) == 0;
    uint64_t *sizes = qg_matrix_sizes(job->arena, layout, job->rows, job->cols);
    if (!sizes)
        return qg_complain("--rows is %llu and --cols is %llu: for %s they must be %s, with a product below 2^32",
                           (unsigned long long)job->rows, (unsigned long long)job->cols, layout->name,
                           shape_rule(job->arena, layout)) == 0;
    const bool sums_experts = job->family->sums && job->family->experts && job->experts;
    const uint64_t experts = sums_experts ? qg_experts_of_sets(&job->views, job->experts, job->rows) : 1;
    job->sizes = sizes;
    for (uint32_t i = 0; i < layout->n_buffers; ++i) {
        qg_input file;
        if (!open_buffer(layout, i, in, &file)) return false;
        if (sizes[i] > UINT64_MAX / experts) return qg_complain("--experts is too large") == 0;
        sizes[i] *= experts;
        if (file.bytes != sizes[i] && experts > 1)
            return qg_complain("%s holds %llu bytes, but %llu experts of %llu x %llu in %s have %llu in buffer %s",
                               file.path, (unsigned long long)file.bytes, (unsigned long long)experts,
                               (unsigned long long)job->rows, (unsigned long long)job->cols, layout->name,
                               (unsigned long long)sizes[i], layout->buffers[i].name) == 0;
        if (file.bytes != sizes[i])
            return qg_complain("%s holds %llu bytes, but %s of %llu x %llu has %llu in buffer %s", file.path,
                               (unsigned long long)file.bytes, layout->name, (unsigned long long)job->rows,
                               (unsigned long long)job->cols, (unsigned long long)job->sizes[i],
                               layout->buffers[i].name) == 0;
        pointers[i] = file.data;
    }
    job->weights = pointers;
    job->elements = experts * job->rows * job->cols;
    return true;
}

static bool open_weights(qg_job *job, const qg_texts *in, const void **pointers) {
    const qg_layout *layout = job->layout;
    uint64_t blocks = 0;
    const char *first = "";
    if (layout->view != QG_VIEW_BLOCKS) return open_matrix(job, in, pointers);
    for (uint32_t i = 0; i < layout->n_buffers; ++i) {
        qg_input file;
        if (!open_buffer(layout, i, in, &file)) return false;
        const char *path = file.path;
        const uint32_t bytes = layout->buffers[i].bytes;
        if (file.bytes % bytes)
            return qg_complain("%s holds %llu bytes, which is no multiple of the %u bytes that a block of %s has there",
                               path, (unsigned long long)file.bytes, bytes, layout->name) == 0;
        if (i && file.bytes / bytes != blocks)
            return qg_complain("%s holds %llu blocks of %s, but %s holds %llu", path,
                               (unsigned long long)(file.bytes / bytes), layout->name, first,
                               (unsigned long long)blocks) == 0;
        if (!i) first = path;
        blocks = file.bytes / bytes;
        pointers[i] = file.data;
    }
    job->weights = pointers;
    job->elements = blocks * layout->elements;
    return true;
}

/* Rows and columns, where the call takes them. */
static bool open_shape(qg_job *job) {
    if (job->family->sums || !qg_takes_shape(job->family, job->layout)) return true;
    if (job->rows == 0 || job->cols == 0)
        return qg_complain("%s needs --rows and --cols, both at least 1", job->family->name) == 0;
    if (job->layout->view == QG_VIEW_BLOCKS && job->cols % job->layout->elements)
        return qg_complain("--cols is %llu, and must be a multiple of the %u elements of a block of %s",
                           (unsigned long long)job->cols, job->layout->elements, job->layout->name) == 0;
    if (job->rows > UINT64_MAX / job->cols || job->rows * job->cols != job->elements)
        return qg_complain("the weights hold %llu elements, which is not --rows %llu times --cols %llu",
                           (unsigned long long)job->elements, (unsigned long long)job->rows,
                           (unsigned long long)job->cols) == 0;
    if (job->layout->view != QG_VIEW_BLOCKS) return true;
    uint64_t *sizes = QG_NEW_ARRAY(job->arena, uint64_t, job->layout->n_buffers);
    for (uint32_t i = 0; i < job->layout->n_buffers; ++i)
        sizes[i] = job->elements / job->layout->elements * job->layout->buffers[i].bytes;
    job->sizes = sizes;
    return true;
}

static bool open_indices(qg_job *job, const char *indices) {
    qg_input file;
    if (!qg_at_indices(job->family)) return true;
    if (!indices) return qg_complain("%s needs --indices FILE, u32 row numbers", job->family->name) == 0;
    if (!qg_input_open(indices, &file)) return false;
    if (file.bytes % 4)
        return qg_complain("%s holds %llu bytes, which is no multiple of the 4 bytes of an index", indices,
                           (unsigned long long)file.bytes) == 0;
    job->indices = file.data;
    job->tokens = file.bytes / 4;
    return true;
}

/* "--batch 3", or of experts "--tokens 3 of --x-slots 2". */
static const char *vectors_text(const qg_job *job) {
    if (!job->ids) return qg_format(job->arena, "--batch %llu", (unsigned long long)job->batch);
    if (job->x_slots == 1) return qg_format(job->arena, "--tokens %llu", (unsigned long long)job->batch);
    return qg_format(job->arena, "--tokens %llu of --x-slots %llu", (unsigned long long)job->batch,
                     (unsigned long long)job->x_slots);
}

static bool read_views(qg_job *job, const char *views) {
    if (!views) return true;
    if (!job->family->sums)
        return qg_complain("--views is for families that sum; %s has no vectors", job->family->name) == 0;
    const char *why = qg_views_read(job->arena, views, job->family->experts, &job->views);
    return !why || qg_complain("--views: %s", why) == 0;
}

/* Where vectors and matrices lie. */
static bool place(qg_job *job) {
    if (!job->family->sums) return true;
    if (job->batch == 0) job->batch = 1;
    const qg_sum_shape shape = {job->rows, job->cols, job->batch, job->experts, job->slots, job->x_slots};
    const char *why = qg_places_of(job->arena, &job->views, &shape, &job->places);
    return !why || qg_complain("--views: %s", why) == 0;
}

static bool open_x(qg_job *job, const char *path) {
    qg_input file;
    if (!path) return qg_complain("%s needs --x FILE, the right-hand sides", job->family->name) == 0;
    if (job->rows == 0 || job->cols == 0)
        return qg_complain("%s needs --rows and --cols, both at least 1", job->family->name) == 0;
    const uint64_t matrices = job->places.matrices, rows = job->places.weight_rows,
                   each = qg_scalars[job->type].bits / 8;
    if (rows > UINT64_MAX / job->cols || rows * job->cols != job->elements) {
        const char *what = rows != matrices * job->rows
                               ? qg_format(job->arena, " of %llu rows in all,", (unsigned long long)rows)
                           : job->experts ? qg_format(job->arena, " --experts %llu times", (unsigned long long)matrices)
                           : matrices > 1 ? qg_format(job->arena, " %llu matrices times", (unsigned long long)matrices)
                                          : "";
        return qg_complain("the weights hold %llu elements, which is not%s --rows %llu times --cols %llu",
                           (unsigned long long)job->elements, what, (unsigned long long)job->rows,
                           (unsigned long long)job->cols) == 0;
    }
    if (!qg_input_open(path, &file)) return false;
    const uint64_t elements = job->places.x_elements;
    if (elements > UINT64_MAX / each || file.bytes != elements * each)
        return qg_complain("%s holds %llu bytes, but %s of --cols %llu in %s%s has %llu", path,
                           (unsigned long long)file.bytes, vectors_text(job), (unsigned long long)job->cols,
                           qg_scalars[job->type].name, job->views.given ? " with --views" : "",
                           (unsigned long long)(elements * each)) == 0;
    job->x = file.data;
    return true;
}

/* f32, `count` of them, which `what` says; NULL, or the values. */
static const float *open_floats(const char *path, uint64_t count, const char *what) {
    qg_input file;
    if (!qg_input_open(path, &file)) return NULL;
    if (file.bytes == 4 * count) return (const float *)file.data;
    qg_complain("%s holds %llu bytes, but %s in f32 has %llu", path, (unsigned long long)file.bytes, what,
                (unsigned long long)(4 * count));
    return NULL;
}

static bool open_norm(qg_job *job, const char *path) {
    if (!path != !(job->views.dense.epsilon > 0))
        return qg_complain("--norm FILE is for --views epsilon=E, and the other way round") == 0;
    if (path)
        job->norm = open_floats(path, job->cols, qg_format(job->arena, "--cols %llu", (unsigned long long)job->cols));
    return !path || job->norm;
}

static bool read_per(const char *name, qk_many *per) {
    static const char *const names[] = {"tensor", "row", "vector"};
    for (uint32_t i = 0; i < sizeof names / sizeof *names; ++i)
        if (!name || strcmp(name, names[i]) == 0) return *per = (qk_many)(name ? i : QK_PER_TENSOR), true;
    return qg_complain("--scale-per must be tensor, row or vector, not '%s'", name) == 0;
}

static bool refuse_epilogue(const qg_job *job, const char *option) {
    return qg_complain("--%s is for families that sum; %s has no results for it", option, job->family->name) == 0;
}

/* What y holds before, in the type that it is stored in. */
static bool open_before(qg_job *job, const char *path, const char *what) {
    const qg_scalar type = qg_views_type(&job->views, job->ids != NULL);
    const uint64_t count = job->places.y_elements, bytes = count * qg_job_result_bytes(job);
    qg_input file;
    if (!qg_input_open(path, &file)) return false;
    if (file.bytes != bytes)
        return qg_complain("%s holds %llu bytes, but %s in %s has %llu", path, (unsigned long long)file.bytes, what,
                           qg_scalars[type].name, (unsigned long long)bytes) == 0;
    float *floats = QG_NEW_ARRAY(job->arena, float, count + 1);
    for (uint64_t i = 0; i < count; ++i) floats[i] = qg_result_at(file.data, type, i);
    job->before = file.data;
    job->epilogue.before = floats;
    return true;
}

/* The expert of each vector of results, among those of all sets; NULL: there are none. */
static const uint32_t *ids_of_vectors(const qg_job *job) {
    if (!job->ids) return NULL;
    uint32_t *ids = QG_NEW_ARRAY(job->arena, uint32_t, job->places.vectors + 1);
    qg_matrices_of(&job->places, job->ids, ids);
    return ids;
}

/* What results are added to, and what they meet, from a file for each row of epilogue.def. */
static bool open_epilogue(qg_job *job, const char *added, const char *const *files) {
    qg_epilogue *e = &job->epilogue;
    const unsigned long long rows = job->rows, batch = job->batch, slots = job->slots;
    if (added && !job->family->sums) return refuse_epilogue(job, "add");
    const char *why = added ? qg_epilogue_without_add(files) : NULL;
    if (why) return qg_complain("%s", why) == 0;
    e->rows = job->rows;
    e->vectors = job->places.vectors;
    e->experts = job->ids ? job->places.matrices : 0;
    e->ids = ids_of_vectors(job);
    e->y_of = job->places.y_of;
    e->y_elements = job->places.y_elements;
    bool good = !added || open_before(job, added,
                                      job->ids ? qg_format(job->arena, "--tokens %llu of --slots %llu and --rows %llu",
                                                           batch, slots, rows)
                                               : qg_format(job->arena, "--batch %llu of --rows %llu", batch, rows));
    for (uint32_t i = 0; good && i < QG_N_EPILOGUES; ++i) {
        const qg_epilogue_id id = (qg_epilogue_id)i;
        if (!files[i]) continue;
        if (!job->family->sums) return refuse_epilogue(job, qg_epilogue_name(id));
        e->values[i] = open_floats(files[i], qg_epilogue_count(e, id), qg_epilogue_shape(job->arena, e, id));
        good = e->values[i] != NULL;
    }
    return good;
}

static bool open_ids(qg_job *job, const char *path) {
    qg_input file;
    if (!path || job->experts == 0)
        return qg_complain("%s needs --ids FILE, u32 numbers of experts, and --experts, at least 1",
                           job->family->name) == 0;
    if (job->batch == 0) job->batch = 1;
    if (job->slots == 0) job->slots = 1;
    if (job->x_slots == 0) job->x_slots = 1;
    if (job->x_slots != 1 && job->x_slots != job->slots)
        return qg_complain("--x-slots is %llu, and must be 1, where a token has one x, or --slots %llu",
                           (unsigned long long)job->x_slots, (unsigned long long)job->slots) == 0;
    if (!qg_input_open(path, &file)) return false;
    if (job->slots > UINT64_MAX / 4 / job->batch || !place(job)) return false;
    if (file.bytes != 4 * job->places.ids)
        return qg_complain("%s holds %llu bytes, but --tokens %llu times --slots %llu u32%s have %llu", path,
                           (unsigned long long)file.bytes, (unsigned long long)job->batch,
                           (unsigned long long)job->slots, job->views.given ? " with --views" : "",
                           (unsigned long long)(4 * job->places.ids)) == 0;
    job->ids = file.data;
    return true;
}

/* What a family that sums takes beside weights. */
static bool open_vectors(qg_job *job, const char *ids, const char *x) {
    const bool experts = job->family->sums && job->family->experts;
    return (experts ? open_ids(job, ids) : place(job)) && (!job->family->sums || open_x(job, x));
}

/* ---- output ---- */

bool qg_run_output_open(qg_arena *arena, const char *path, qg_run_output *out) {
    *out = (qg_run_output){.path = path, .temporary = qg_format(arena, "%s.%ld.part", path, (long)getpid())};
    out->file = open(out->temporary, O_WRONLY | O_CREAT | O_EXCL, 0666);
    return out->file >= 0 || qg_complain("cannot write %s: %s", path, strerror(errno)) == 0;
}

bool qg_run_output_write(qg_run_output *out, const void *data, size_t bytes) {
    const char *at = data;
    while (bytes) {
        const ssize_t written = write(out->file, at, bytes);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return qg_complain("cannot write %s: %s", out->path, strerror(errno)) == 0;
        at += written;
        bytes -= (size_t)written;
    }
    return true;
}

bool qg_run_output_close(qg_run_output *out, bool good) {
    if (close(out->file) != 0 && good) good = qg_complain("cannot write %s: %s", out->path, strerror(errno)) == 0;
    if (good && rename(out->temporary, out->path) != 0)
        good = qg_complain("cannot write %s: %s", out->path, strerror(errno)) == 0;
    if (!good) unlink(out->temporary);
    return good;
}

/* ---- progress ---- */

void qg_progress_show(qg_progress *p, uint64_t done, uint64_t all, double bytes) {
    enum { WIDTH = 40 };
    const double now = qg_seconds_now();
    if (!isatty(STDERR_FILENO) || now - p->start < 0.5 || (now - p->last < 0.1 && done < all)) return;
    const int filled = all ? (int)((double)done / (double)all * WIDTH) : WIDTH;
    fprintf(stderr, "\r[%.*s%*s] %3.0f%%  %.2f GB/s ", filled, "########################################",
            WIDTH - filled, "", 100.0 * (double)done / (double)all, bytes / (now - p->start) / 1e9);
    p->last = now;
    p->shown = true;
}

void qg_progress_end(const qg_progress *p) {
    if (p->shown) fputs("\r\033[K", stderr);
}

/* ---- the run ---- */

/* Of sums, all of y from its first result to its last. */
static uint64_t total(const qg_job *job) {
    return job->x         ? job->places.y_elements
           : job->indices ? job->tokens
                          : qg_result_count(job->family, job->elements, job->rows, job->cols, 0);
}

uint64_t qg_part_size(const qg_job *job) {
    const uint64_t bytes = qg_job_unit(job) * qg_job_result_bytes(job);
    if (job->x || (job->sizes && !job->indices)) return total(job);
    uint64_t size = PART_BYTES / bytes ? PART_BYTES / bytes : 1;
    if (!job->indices) size = size / job->layout->elements * job->layout->elements;
    return size ? size : job->layout->elements;
}

static bool run_parts(const qg_job *job, const qg_runner *runner, uint64_t most, qg_run_output *out) {
    const uint64_t all = total(job), unit = qg_job_unit(job) * qg_job_result_bytes(job);
    qg_progress p = {.start = qg_seconds_now()};
    void *dst = malloc((size_t)(most * unit) + 1);
    if (!dst) return qg_complain("out of memory for %llu bytes", (unsigned long long)(most * unit)) == 0;
    bool good = true;
    memset(dst, 0, (size_t)(most * unit));                           /* what lies between results stays */
    if (job->before) memcpy(dst, job->before, (size_t)(all * unit)); /* sums are one part */
    for (uint64_t first = 0; first < all && good; first += most) {
        const uint64_t count = all - first < most ? all - first : most;
        const char *why = runner->part(runner->context, job, first, count, dst);
        if (why) qg_progress_end(&p);
        good = why ? qg_complain("%s", why) == 0 : qg_run_output_write(out, dst, (size_t)(count * unit));
        if (good) qg_progress_show(&p, first + count, all, (double)(first + count) * (double)unit);
    }
    qg_progress_end(&p);
    free(dst);
    return good;
}

static void report(const qg_job *job, const qg_runner *runner, double wall) {
    const uint64_t elements = job->indices ? job->tokens * job->cols : job->elements;
    const double read = (double)elements * qg_bits_per_element(job->layout) / 8.0;
    const double written = (double)(total(job) * qg_job_unit(job)) * qg_job_result_bytes(job);
    const double seconds = runner->seconds(runner->context);
    fprintf(stderr, "%s%s %s %s %s on %s: %llu elements in %.6f s", qg_case_place(""), job->family->name,
            job->layout->name, job->x ? "with x in" : "to", qg_scalars[job->type].name, runner->where,
            (unsigned long long)elements, seconds);
    if (seconds > 0) fprintf(stderr, ", %.2f GB/s", (read + written) / seconds / 1e9);
    fprintf(stderr, " (%.3f s with files and transfers)\n", wall);
    const uint64_t out_of_range = job->indices || job->ids ? runner->out_of_range(runner->context) : 0;
    if (out_of_range && job->ids)
        fprintf(stderr, "%swarning: %llu of %llu ids are not below --experts %llu; their results are zeros\n",
                qg_case_place("qkgen: "), (unsigned long long)out_of_range,
                (unsigned long long)(job->batch * job->slots), (unsigned long long)job->experts);
    else if (out_of_range)
        fprintf(stderr, "%swarning: %llu of %llu indices are not below --rows %llu; their rows are zeros\n",
                qg_case_place("qkgen: "), (unsigned long long)out_of_range, (unsigned long long)job->tokens,
                (unsigned long long)job->rows);
}

static const qg_run_target targets[] = {{"c", qg_run_open_c}, {"vulkan", qg_run_open_vulkan}, {"msl", qg_run_open_msl}};

const qg_run_target *qg_target_named(const char *name) {
    for (size_t i = 0; i < sizeof targets / sizeof *targets; ++i)
        if (name && strcmp(name, targets[i].name) == 0) return &targets[i];
    return NULL;
}

static int run_job(const qg_job *job, const char *target, const char *path) {
#ifdef SIGXFSZ
    signal(SIGXFSZ, SIG_IGN); /* a file-size limit is an error of write, like a full disk */
#endif
    const double start = qg_seconds_now();
    uint64_t most = qg_part_size(job);
    if (most > total(job)) most = total(job);
    qg_runner runner = {0};
    const char *why = qg_target_named(target)->open(job, most, &runner);
    if (why) return qg_complain("%s", why);
    qg_run_output out;
    bool good = qg_run_output_open(job->arena, path, &out);
    if (good) good = qg_run_output_close(&out, run_parts(job, &runner, most, &out));
    if (good) report(job, &runner, qg_seconds_now() - start);
    why = runner.close(runner.context);
    return why ? qg_complain("%s", why) : good ? 0 : 1;
}

qg_scalar qg_family_type(const qg_family *family, const char *name) {
    for (uint32_t i = 0; i < family->n_types; ++i)
        if (name && strcmp(name, qg_scalars[family->types[i]].name) == 0) return family->types[i];
    return QG_SCALAR_COUNT;
}

/* The first argument that is no option and no option's value: the family; "" without one. */
static const char *find_family(int argc, char **argv) {
    for (int i = 0; i < argc; ++i) {
        if (strncmp(argv[i], "--", 2) != 0) return argv[i];
        if (!strchr(argv[i], '=')) ++i;
    }
    return "";
}

static const char *type_list(qg_arena *arena, const qg_family *family) {
    qg_text text = qg_text_new(arena);
    for (uint32_t i = 0; i < family->n_types; ++i)
        qg_text_printf(&text, "%s%s",
                       i == 0                     ? ""
                       : i + 1 == family->n_types ? " or "
                                                  : ", ",
                       qg_scalars[family->types[i]].name);
    return text.data;
}

/* Whether a target has kernels of the class; false after a message. */
static bool target_takes(const qg_job *job, const char *target) {
    const bool metal = strcmp(target, "msl") == 0;
    if (job->sum != &qg_sum_classes[QG_CLASS_EXACT] && strcmp(target, "c") == 0)
        return qg_complain("--class %s is not for --target c: the reference is exact", job->sum->name) == 0;
    if (!job->sum->metal && metal)
        return qg_complain("--class %s is for --target vulkan: Metal has no dot products of integers",
                           job->sum->name) == 0;
    return true;
}

/* A family that reads a format. */
static int run_reader(qg_session *session, int argc, char **argv) {
    const char *format = NULL, *target = NULL, *type = NULL, *out = NULL, *indices = NULL, *x = NULL, *ids = NULL,
               *math_name = NULL, *sum = NULL, *added = NULL, *cases = NULL, *per = NULL, *views = NULL, *norm = NULL,
               *epilogue[QG_N_EPILOGUES] = {NULL};
    qg_scalar math;
    qg_texts in = {0}, rest = {0};
    qg_job job = {.arena = session->arena};
    const qg_option options[] = {
        {"--format", QG_TEXT, &format, "F", "the format; `qkgen list` shows them"},
        {"--target", QG_TEXT, &target, "c|vulkan|msl",
         "the C reference, a Vulkan device, or the executor of Metal text"},
        {"--type", QG_TEXT, &type, "f32|f16|bf16", "of results; of families that sum: of x, f32 or f16"},
        {"--in", QG_TEXTS, &in, "[NAME=]FILE", "the weights; once for each buffer of a format that has several"},
        {"--out", QG_TEXT, &out, "FILE", "where results go; appears when all is done"},
        {"--rows", QG_COUNT, &job.rows, "N", "rows of the matrix; of dequant where blocks are patches of a matrix"},
        {"--cols", QG_COUNT, &job.cols, "K", "its columns, likewise"},
        {"--indices", QG_TEXT, &indices, "FILE", "of gather and others: the numbers of rows, u32"},
        {"--x", QG_TEXT, &x, "FILE", "families that sum: the vectors"},
        {"--batch", QG_COUNT, &job.batch, "M", "gemv, gemm: how many vectors (default: 1)"},
        {"--norm", QG_TEXT, &norm, "FILE", "gemv, with --views epsilon=E: f32, the weights of an RMS norm of x"},
        {"--add", QG_TEXT, &added, "FILE", "families that sum: what results are added to"},
        {"--scale-per", QG_TEXT, &per, "tensor|row|vector", "what has a scale of its own (default: tensor)"},
#define EPILOGUE_OPTION(bit, NAME, field, binding, many, meaning)                                                      \
    {"--" #field, QG_TEXT, &epilogue[QG_EPILOGUE_##NAME], "FILE", "the same: " meaning},
        QK_EPILOGUES(EPILOGUE_OPTION)
#undef EPILOGUE_OPTION
            {"--tokens", QG_COUNT, &job.batch, "M", "gemv_id, gemm_id: how many of them (default: 1)"},
        {"--ids", QG_TEXT, &ids, "FILE", "gemv_id, gemm_id: the experts of each token, u32"},
        {"--experts", QG_COUNT, &job.experts, "E", "gemv_id, gemm_id: matrices in the file"},
        {"--slots", QG_COUNT, &job.slots, "S", "gemv_id, gemm_id: experts for each token (default: 1)"},
        {"--x-slots", QG_COUNT, &job.x_slots, "1|S", "the same: vectors of each token (default: 1)"},
        {"--views", QG_TEXT, &views, "NAME=N[:N],...",
         "families that sum: members of qk_views, or qk_expert_views, y_type=f16 and others"},
        {"--class", QG_TEXT, &sum, qg_class_words(), "how sums multiply (default: exact)"},
        {"--decode-math", QG_TEXT, &math_name, "f32|bf16|f16",
         "rounds each operation of a value to that type (default: f32)"},
        {"--device", QG_TEXT, &job.device, "NAME|NUMBER", "vulkan: one of `qkgen devices` (default: the best)"},
        {"--tuning", QG_TEXT, &job.tuning, "FILE", "vulkan: constants that `qkgen tune` found"},
        {"--cases", QG_TEXT, &cases, "FILE",
         "runs each line: words as behind `qkgen run`, between blanks, without quotes; # begins a comment"},
        QG_SESSION_OPTIONS(session)};
    if (!qg_options_read(session, argc, argv, options, sizeof options / sizeof *options, &rest)) return 1;
    if (rest.count != 1)
        return qg_complain("run needs one kernel family, such as qkgen run dequant; `qkgen list families` shows them");
    job.family = qg_family_named(rest.items[0]);
    if (!job.family)
        return qg_complain("no kernel family is named %s; `qkgen list families` shows them", rest.items[0]);
    if (!format) return qg_complain("run needs --format F; `qkgen list` shows them");
    if (!out) return qg_complain("run needs --out FILE");
    if (!qg_target_named(target))
        return qg_complain("--target must be c, vulkan or msl, not '%s'", target ? target : "");
    if (job.tuning && strcmp(target, "vulkan") != 0)
        return qg_complain("--tuning is for --target vulkan; %s has no constants to tune", target);
    job.type = qg_family_type(job.family, type);
    if (job.type == QG_SCALAR_COUNT)
        return qg_complain("--type must be %s, not '%s'", type_list(session->arena, job.family), type ? type : "");
    if (!qg_math_named(math_name, &math) || !qg_session_load_named(session, format, NULL)) return 1;
    job.layout = qg_session_format(session, format);
    if (!job.layout) return 1;
    job.layout = qg_layout_in(session->arena, job.layout, math);
    if (!qg_takes(job.family, job.layout))
        return qg_complain("there is no %s for %s: its blocks do not lie one after the other", job.family->name,
                           format);
    if (!qg_session_class(session, job.family, job.layout, sum, &job.sum) || !target_takes(&job, target)) return 1;

    const void **pointers = QG_NEW_ARRAY(session->arena, const void *, job.layout->n_buffers);
    if (!read_views(&job, views) || !open_weights(&job, &in, pointers) || !open_shape(&job)) return 1;
    if (!open_indices(&job, indices) || !open_vectors(&job, ids, x) || !open_norm(&job, norm)) return 1;
    if (!read_per(per, &job.epilogue.scale_per) || !open_epilogue(&job, added, epilogue)) return 1;
    qg_templates templates;
    const char *why = NULL;
    if (!qg_templates_load(session->arena, qg_session_templates(session), &templates, &why))
        return qg_complain("%s", why);
    job.templates = &templates;
    return run_job(&job, target, out);
}

int qg_command_run(qg_session *session, int argc, char **argv) {
    const char *list = qg_cases_list(argc, argv), *named = find_family(argc, argv);
    const qg_plain *plain = qg_plain_named(named, NULL);
    const qg_family *family = qg_family_named(named);
    if (list) return qg_run_cases(session, list, argc, argv);
    if (family && family->encodes) return qg_run_encode(session, family, argc, argv);
    if (plain) return qg_run_plain(session, plain, argc, argv);
    if (named && strcmp(named, qg_transcode.name) == 0) return qg_run_transcode(session, argc, argv);
    return run_reader(session, argc, argv);
}
