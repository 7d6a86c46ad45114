/* The Vulkan target: compiles the one kernel that is asked for, and runs it through the same checked dispatch that the
 * emitted stubs call. */
#include "cli/run.h"
#include "cli/run_launch.h"
#include "emit/modules.h"
#include "emit/spirv.h"

#include <qkgen/dispatch.h>
#include <qkgen/vulkan.h>

#include <stdlib.h>
#include <string.h>

typedef struct device_run {
    qg_arena *arena;
    qk_vulkan *vulkan;
    const qk_kernel *kernel;
    const qk_tuning *tuning;
    qk_vulkan_buffer **buffers; /* weights, then indices and status, then dst */
    uint32_t n_buffers;
    uint32_t indices, status, x, scratch, dst, norm, met[QG_N_EPILOGUES]; /* numbers in `buffers` */
    qk_error error;
    double seconds;
    bool validated;
} device_run;

static const char *compile_kernel(const qg_job *job, device_run *r) {
    qg_arena *arena = job->arena;
    const char *why = NULL;
    const qg_request request = {
        .layout = job->layout, .n_families = 1, .families = &job->family, .vulkan = true, .command = "qkgen run"};
    qg_kernel *kernel = QG_NEW(arena, qg_kernel);
    *kernel = qg_kernel_new(arena, job->layout, job->family, job->type, job->sum);
    if (qg_is_mma(kernel) && !qg_spirv_has_matrices()) return QG_SPIRV_LACKS_MATRICES;
    if (!qg_spirv_open()) return "the GLSL compiler cannot be initialised";
    r->kernel = qg_compile_kernel(arena, job->templates, &request, kernel, job->family->experts ? 1 : job->batch, &why);
    qg_spirv_close();
    return r->kernel ? NULL : why;
}

static const char *failure(device_run *r) { return qg_format(r->arena, "%s", r->error.text); }

static bool add_buffer(device_run *r, uint64_t bytes, uint32_t *number) {
    *number = r->n_buffers;
    if (qk_vulkan_buffer_create(r->vulkan, bytes ? bytes : 4, &r->buffers[r->n_buffers], &r->error) != QK_OK)
        return false;
    r->n_buffers += 1;
    return true;
}

static const qk_views *views_of(const qg_job *job) { return job->views.given ? &job->views.dense : NULL; }

static qk_range range_from(const device_run *r, uint32_t buffer, uint64_t offset) {
    qk_range range = qk_vulkan_range(r->buffers[buffer]);
    range.offset += offset;
    range.size -= offset;
    return range;
}

static uint64_t scratch_bytes(const device_run *r, const qg_job *job, const qk_backend *backend) {
    if (job->ids)
        return qk_gemm_id_scratch(backend, r->kernel, job->experts, job->rows, job->cols, job->batch, job->slots,
                                  job->x_slots);
    return qk_gemm_views_scratch(backend, r->kernel, job->rows, job->cols, job->batch, views_of(job));
}

/* Weights are uploaded part by part; those of a table or of sums once. */
static bool make_buffers(const qg_job *job, uint64_t most, device_run *r) {
    const qg_layout *layout = job->layout;
    const bool whole = job->indices || job->x; /* everything at once */
    const uint64_t blocks = (whole ? job->elements : most) / layout->elements;
    r->buffers = QG_NEW_ARRAY(job->arena, qk_vulkan_buffer *, layout->n_buffers + 9);
    for (uint32_t i = 0, number; i < layout->n_buffers; ++i) {
        const uint64_t bytes = job->sizes ? job->sizes[i] : blocks * layout->buffers[i].bytes;
        if (!add_buffer(r, bytes, &number)) return false;
        if (whole && qk_vulkan_upload(r->vulkan, r->buffers[i], 0, job->weights[i], bytes, &r->error) != QK_OK)
            return false;
    }
    const uint64_t results = most * qg_job_unit(job);
    if (job->indices && (!add_buffer(r, 4 * most, &r->indices) || !add_buffer(r, 4, &r->status) ||
                         qk_vulkan_clear(r->vulkan, r->buffers[r->status], &r->error) != QK_OK))
        return false;
    if (job->x) {
        const uint64_t bytes = job->places.x_elements * (qg_scalars[job->type].bits / 8);
        if (!add_buffer(r, job->views.x_offset + bytes, &r->x) ||
            qk_vulkan_upload(r->vulkan, r->buffers[r->x], job->views.x_offset, job->x, bytes, &r->error) != QK_OK)
            return false;
    }
    qk_backend backend = qk_vulkan_backend(r->vulkan);
    backend.tuning = r->tuning;
    if (job->family->in_tiles && !add_buffer(r, scratch_bytes(r, job, &backend), &r->scratch)) return false;
    if (job->ids) {
        const uint64_t bytes = 4 * job->places.ids;
        if (!add_buffer(r, bytes, &r->indices) || !add_buffer(r, 4, &r->status) ||
            qk_vulkan_upload(r->vulkan, r->buffers[r->indices], 0, job->ids, bytes, &r->error) != QK_OK ||
            qk_vulkan_clear(r->vulkan, r->buffers[r->status], &r->error) != QK_OK)
            return false;
    }
    for (uint32_t i = 0; i < QG_N_EPILOGUES; ++i) {
        const uint64_t size = 4 * qg_epilogue_count(&job->epilogue, (qg_epilogue_id)i);
        if (job->epilogue.values[i] &&
            (!add_buffer(r, size, &r->met[i]) ||
             qk_vulkan_upload(r->vulkan, r->buffers[r->met[i]], 0, job->epilogue.values[i], size, &r->error) != QK_OK))
            return false;
    }
    if (job->norm &&
        (!add_buffer(r, 4 * job->cols, &r->norm) ||
         qk_vulkan_upload(r->vulkan, r->buffers[r->norm], 0, job->norm, 4 * job->cols, &r->error) != QK_OK))
        return false;
    const uint64_t bytes = results * qg_job_result_bytes(job) + job->views.y_offset;
    return add_buffer(r, (bytes + 3) / 4 * 4, &r->dst) &&
           qk_vulkan_clear(r->vulkan, r->buffers[r->dst], &r->error) == QK_OK &&
           (!job->before || qk_vulkan_upload(r->vulkan, r->buffers[r->dst], job->views.y_offset, job->before,
                                             bytes - job->views.y_offset, &r->error) == QK_OK);
}

static qk_status upload_part(device_run *r, const qg_job *job, uint64_t first, uint64_t count) {
    const qg_layout *layout = job->layout;
    if (job->x) return QK_OK;
    if (job->indices)
        return qk_vulkan_upload(r->vulkan, r->buffers[r->indices], 0, job->indices + first, 4 * count, &r->error);
    for (uint32_t i = 0; i < layout->n_buffers; ++i) {
        const uint64_t bytes = layout->buffers[i].bytes;
        const char *data = (const char *)job->weights[i] + (job->sizes ? 0 : first / layout->elements * bytes);
        const uint64_t size = job->sizes ? job->sizes[i] : count / layout->elements * bytes;
        const qk_status status = qk_vulkan_upload(r->vulkan, r->buffers[i], 0, data, size, &r->error);
        if (status != QK_OK) return status;
    }
    return QK_OK;
}

static qk_status dispatch(device_run *r, const qg_job *job, uint64_t count) {
    qk_backend backend = qk_vulkan_backend(r->vulkan);
    backend.tuning = r->tuning;
    qk_range *weights = QG_NEW_ARRAY(r->arena, qk_range, job->layout->n_buffers);
    for (uint32_t i = 0; i < job->layout->n_buffers; ++i) weights[i] = qk_vulkan_range(r->buffers[i]);
    const qk_range dst = range_from(r, r->dst, job->views.y_offset);
    const qk_range x = job->x ? range_from(r, r->x, job->views.x_offset) : dst;
    qk_range met[QG_N_EPILOGUES];
    for (uint32_t i = 0; i < QG_N_EPILOGUES; ++i)
        met[i] = job->epilogue.values[i] ? qk_vulkan_range(r->buffers[r->met[i]]) : dst;
    const qk_epilogue epilogue = qg_epilogue_ranges(&job->epilogue, met);
    qk_views views = job->views.dense;
    if (job->norm) views.norm = qk_vulkan_range(r->buffers[r->norm]);
    const qg_launch launch = {.family = job->family,
                              .kernel = r->kernel,
                              .weights = weights,
                              .in = x,
                              .indices = qk_vulkan_range(r->buffers[r->indices]),
                              .out = dst,
                              .scratch = qk_vulkan_range(r->buffers[r->scratch]),
                              .status = qk_vulkan_range(r->buffers[r->status]),
                              .rows = job->rows,
                              .cols = job->cols,
                              .count = job->x ? job->batch : count,
                              .experts = job->experts,
                              .slots = job->slots,
                              .x_slots = job->x_slots,
                              .views = job->views.given ? &views : NULL,
                              .expert_views = job->views.given ? &job->views.experts : NULL,
                              .epilogue = &epilogue};
    return qg_launch_kernel(&backend, &launch, &r->error);
}

static const char *run_part(void *context, const qg_job *job, uint64_t first, uint64_t count, void *dst) {
    device_run *r = context;
    const uint64_t bytes = count * qg_job_unit(job) * qg_job_result_bytes(job);
    if (upload_part(r, job, first, count) != QK_OK || qk_vulkan_begin(r->vulkan, &r->error) != QK_OK) return failure(r);
    const double start = qg_seconds_now();
    if (dispatch(r, job, count) != QK_OK || qk_vulkan_submit(r->vulkan, &r->error) != QK_OK) return failure(r);
    const uint64_t nanoseconds = qk_vulkan_time_ns(r->vulkan);
    r->seconds += nanoseconds ? 1e-9 * (double)nanoseconds : qg_seconds_now() - start;
    return qk_vulkan_download(r->vulkan, r->buffers[r->dst], job->views.y_offset, dst, bytes, &r->error) == QK_OK
               ? NULL
               : failure(r);
}

static double spent(void *context) { return ((device_run *)context)->seconds; }

static uint64_t missed(void *context) {
    device_run *r = context;
    uint32_t count = 0;
    qk_vulkan_download(r->vulkan, r->buffers[r->status], 0, &count, sizeof count, &r->error);
    return count;
}

static const char *close_device(void *context) {
    device_run *r = context;
    for (uint32_t i = 0; i < r->n_buffers; ++i) qk_vulkan_buffer_destroy(r->vulkan, r->buffers[i]);
    return qg_device_close(r->arena, r->vulkan, r->kernel);
}

const char *qg_run_open_vulkan(const qg_job *job, uint64_t most, qg_runner *runner) {
    device_run *r = QG_NEW(job->arena, device_run);
    r->arena = job->arena;
    if (qg_device_open(job->device, &r->vulkan, &r->error) != QK_OK) return failure(r);
    const char *why = compile_kernel(job, r);
    if (!why && job->tuning) why = qg_tuning_read(job->arena, job->tuning, qk_vulkan_info(r->vulkan)->name, &r->tuning);
    if (!why && !make_buffers(job, most, r)) why = failure(r);
    if (why) {
        close_device(r);
        return why;
    }
    *runner = (qg_runner){r, qk_vulkan_info(r->vulkan)->name, run_part, spent, missed, close_device};
    return NULL;
}

/* ---- devices ---- */

static void print_device(uint32_t number, const qk_vulkan_device *d) {
    const struct {
        const char *name;
        int there;
    } features[] = {{"8-bit storage", d->storage_8bit},
                    {"16-bit storage", d->storage_16bit},
                    {"f16", d->float16},
                    {"int8", d->int8},
                    {"integer dot product", d->integer_dot_product},
                    {"subgroup shuffles", d->subgroup_shuffle},
                    {"cooperative matrix", d->cooperative_matrix},
                    {"rounding to f16", d->rounds_f16}};
    qk_error error;
    printf("%u: %s (%s, Vulkan %u.%u.%u)\n   driver: %s\n", number, d->name, qk_vulkan_type_name(d->type),
           d->api_version >> 22, (d->api_version >> 12) & 0x3FF, d->api_version & 0xFFF,
           *d->driver ? d->driver : "unnamed");
    printf("   %u lanes a subgroup, %u KiB shared memory, %.1f GiB memory, bindings up to %.2f GiB\n   has:",
           d->subgroup_size, d->shared_bytes / 1024, (double)d->memory / 0x1p30, d->storage_range / 0x1p30);
    for (size_t i = 0; i < sizeof features / sizeof *features; ++i)
        if (features[i].there) printf(" %s;", features[i].name);
    printf("\n   %s\n", qk_vulkan_check(d, &error) == QK_OK ? "runs every kernel" : error.text);
}

int qg_command_devices(qg_session *session, int argc, char **argv) {
    enum { MOST = 32 };
    qg_texts rest = {0};
    if (!qg_options_read(session, argc, argv, NULL, 0, &rest)) return 1;
    qk_vulkan_device devices[MOST];
    uint32_t count = MOST;
    qk_error error;
    if (qk_vulkan_list(devices, &count, &error) != QK_OK) return qg_complain("%s", error.text);
    for (uint32_t i = 0; i < count && i < MOST; ++i) print_device(i, &devices[i]);
    return 0;
}
