/* The device of `qkgen bench` and `qkgen tune`: what its memory can do, kernels and their buffers, and their times.
 *
 * The time of a launch is that of a submission of several, by the device's own clock, divided by their number; of many
 * such
 * submissions the median, the least and the greatest are taken. */
#include "cli/run_bench.h"
#include "cli/run_bench_plain.h"
#include "cli/run_launch.h"
#include "emit/modules.h"
#include "emit/spirv.h"

#include <stdlib.h>
#include <string.h>

enum { LEAST_NS = 2000000, QUICK_NS = 1000000, SAMPLES = 21 };
enum { PULSE_VALUES = 1 << 18, PULSE_LAUNCHES = 32, PULSES = 3, MOST_TRIES = 5 };

bool qg_bench_failed(const qg_bench *b) { return !b->quiet && qg_complain("%s", b->error.text) == 0; }

/* ---- time ---- */

/* A device that waits lowers its clocks, the more the longer, and raises them up to a second after
 * it has something to do: it is kept busy until so long, in seconds, nothing has become faster. */
static const double LAG = 1.0, LAG_OF_SHORT_WAITS = 0.3, NO_LAG = 0.03, QUICK_LAG = 0.01;
static const double SHORT_WAIT = 0.5, NO_WAIT = 0.03;

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Seconds of one of `count` repetitions in a submission. */
static bool submit(qg_bench *b, qg_record *record, void *what, uint32_t count, double *seconds) {
    if (qk_vulkan_begin(b->vk, &b->error) != QK_OK) return qg_bench_failed(b);
    for (uint32_t i = 0; i < count; ++i) {
        if (i) qk_vulkan_barrier(b->vk);
        if (!record(b, what)) return false;
    }
    const double start = qg_seconds_now();
    if (qk_vulkan_submit(b->vk, &b->error) != QK_OK) return qg_bench_failed(b);
    const uint64_t ns = qk_vulkan_time_ns(b->vk);
    *seconds = (ns ? 1e-9 * (double)ns : qg_seconds_now() - start) / count;
    return true;
}

bool qg_bench_once(qg_bench *b, qg_record *record, void *what) {
    double seconds;
    return submit(b, record, what, 1, &seconds);
}

static bool record_pulse(qg_bench *b, void *what) {
    (void)what;
    return qg_values_copy_record(b, &b->pulse, PULSE_VALUES);
}

static double lag_after(const qg_bench *b, double wait) {
    if (b->quick && (wait < NO_WAIT || b->cpu)) return QUICK_LAG;
    if (wait < NO_WAIT) return NO_LAG;
    if (b->quick) return LAG_OF_SHORT_WAITS;
    return wait < SHORT_WAIT || b->cpu ? LAG_OF_SHORT_WAITS : LAG;
}

/* Whether clocks are as high as they have been: the pulse takes at most a tenth more than ever before. */
static bool clocks_are_up(qg_bench *b, bool *up) {
    double now = 0;
    *up = true;
    if (!b->pulse.kernel) return true;
    for (int i = 0; i < PULSES; ++i) {
        double seconds = 0;
        if (!submit(b, record_pulse, b, PULSE_LAUNCHES, &seconds)) return false;
        if (now == 0 || seconds < now) now = seconds;
    }
    if (b->pulse_least == 0 || now < b->pulse_least) b->pulse_least = now;
    *up = now <= 1.1 * b->pulse_least;
    return true;
}

/* Keeps the device busy until nothing has become faster for `lag` seconds; `count` becomes that of repetitions which
 * take long enough to measure. */
static bool warm_up(qg_bench *b, qg_record *record, void *what, double lag, uint32_t *count, double *last) {
    double least = 0, since = qg_seconds_now();
    const double least_ns = b->quick ? QUICK_NS : LEAST_NS;
    do {
        if (!submit(b, record, what, *count, last)) return false;
        if (least == 0 || *last < 0.9 * least) {
            least = *last;
            since = qg_seconds_now();
        }
        *count = *last * 1e9 < least_ns ? (uint32_t)(least_ns / (*last * 1e9 + 1)) + 1 : 1;
        if (*count > 200) *count = 200;
    } while (qg_seconds_now() - since < lag);
    return true;
}

/* Clocks may have fallen while a pipeline was made, and not be back yet: then samples are taken again. */
bool qg_bench_measure(qg_bench *b, qg_record *record, void *what, qg_timing *t) {
    double seconds[QG_BENCH_MOST_SAMPLES], last = 0, lag = lag_after(b, qg_seconds_now() - b->busy);
    uint32_t count = 1;
    int samples = 0;
    bool up = false;
    for (int tries = 0; !up && tries < MOST_TRIES; ++tries) {
        if (!warm_up(b, record, what, lag, &count, &last)) return false;
        samples = last > 0.2 && b->samples > 3 ? 3 : (int)b->samples;
        for (int i = 0; i < samples; ++i)
            if (!submit(b, record, what, count, &seconds[i])) return false;
        if (!clocks_are_up(b, &up)) return false;
        lag = LAG_OF_SHORT_WAITS;
    }
    qsort(seconds, (size_t)samples, sizeof *seconds, by_size);
    b->busy = qg_seconds_now();
    *t = (qg_timing){seconds[samples / 2], seconds[0], seconds[samples - 1]};
    return true;
}

/* ---- the device's copy ---- */

typedef struct copy {
    qg_values_copy values;
    uint32_t count; /* of 16 bytes; 0: the device's own command */
} copy;

static bool launch_copy(qg_bench *b, const qg_values_copy *c, uint32_t fours) {
    const qk_backend backend = qk_vulkan_backend(b->vk);
    const qk_range ranges[] = {qk_vulkan_range(c->buffers[0]), qk_vulkan_range(c->buffers[1])};
    const uint32_t threads = c->kernel->workgroup_size, groups = fours / threads + (fours % threads != 0);
    const qk_launch launch = {
        .kernel = c->kernel, .ranges = ranges, .push = &fours, .workgroups = groups < 8192 ? groups : 8192};
    return backend.launch(backend.context, &launch, &b->error) == QK_OK || qg_bench_failed(b);
}

static bool record_copy(qg_bench *b, void *what) {
    copy *c = what;
    if (c->count) return launch_copy(b, &c->values, c->count);
    return qk_vulkan_copy(b->vk, c->values.buffers[0], c->values.buffers[1], &b->error) == QK_OK || qg_bench_failed(b);
}

static bool compile_copy(qg_bench *b, qg_values_copy *c) {
    static const qk_binding bindings[] = {{0, "from", QK_ROLE_INPUT, QK_READ, QK_TYPE_U32, 0, 0, 0, 0, 0},
                                          {1, "to", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_U32, 0, 0, 0, 0, 0}};
    static const qk_field push[] = {{"count", 0, 4}};
    qg_arena *arena = b->session->arena;
    const char *why = NULL, *path = qg_format(arena, "%s/copy.comp", qg_session_templates(b->session));
    size_t length;
    const char *text = qg_read_file(arena, path, 1 << 20, &length, &why);
    if (!text) return qg_complain("cannot read %s: %s", path, why) == 0;
    qk_code *code = QG_NEW(arena, qk_code);
    qk_kernel *kernel = QG_NEW(arena, qk_kernel);
    code->data = qg_spirv_compile(arena, "copy", text, &code->bytes, &why);
    if (!code->data) return qg_complain("%s", why) == 0;
    *kernel = (qk_kernel){.name = "copy",
                          .format = "",
                          .family = "copy",
                          .api = QK_API_VULKAN,
                          .entry = "main",
                          .code = code,
                          .binding_count = 2,
                          .bindings = bindings,
                          .push_bytes = 4,
                          .push_count = 1,
                          .push = push,
                          .workgroup_size = 256};
    c->kernel = kernel;
    return true;
}

bool qg_values_copy_open(qg_bench *b, qg_values_copy *c, uint64_t most) {
    *c = (qg_values_copy){.kernel = NULL};
    if (!compile_copy(b, c)) return false;
    for (int i = 0; i < 2; ++i)
        if (qk_vulkan_buffer_create(b->vk, (4 * most + 15) / 16 * 16, &c->buffers[i], &b->error) != QK_OK)
            return qg_bench_failed(b);
    return true;
}

bool qg_values_copy_record(qg_bench *b, const qg_values_copy *c, uint64_t count) {
    return launch_copy(b, c, (uint32_t)((count + 3) / 4));
}

void qg_values_copy_close(qg_bench *b, qg_values_copy *c) {
    for (int i = 0; i < 2; ++i) qk_vulkan_buffer_destroy(b->vk, c->buffers[i]);
    if (c->kernel) qk_vulkan_forget(b->vk, c->kernel);
}

/* The faster of a kernel that copies and the device's own command. The pulse begins here, where clocks have risen; of a
 * CPU device it would say what else runs there; and of a quick run, a copy of so much would be most of the time. */
bool qg_bench_copy(qg_bench *b) {
    const uint64_t bytes = b->cpu ? (b->quick ? UINT64_C(8) << 20 : UINT64_C(128) << 20) : UINT64_C(1) << 30;
    copy c = {.count = (uint32_t)(bytes / 16)};
    qg_timing kernel = {0, 0, 0}, command = {0, 0, 0};
    bool good = qg_values_copy_open(b, &c.values, bytes / 4);
    good = good && qg_bench_measure(b, record_copy, &c, &kernel);
    c.count = 0;
    good = good && qg_bench_measure(b, record_copy, &c, &command);
    qg_values_copy_close(b, &c.values);
    if (good && !b->cpu) good = qg_values_copy_open(b, &b->pulse, PULSE_VALUES) && clocks_are_up(b, &(bool){false});
    if (good) b->copy = 2.0 * (double)bytes / (kernel.median < command.median ? kernel.median : command.median);
    return good;
}

/* ---- opening ---- */

bool qg_bench_open(qg_bench *b, qg_session *session, const char *device) {
    const char *why = NULL;
    qg_templates *templates = QG_NEW(session->arena, qg_templates);
    *b = (qg_bench){.session = session, .templates = templates, .samples = SAMPLES};
    if (!qg_templates_load(session->arena, qg_session_templates(session), templates, &why))
        return qg_complain("%s", why) == 0;
    if (!qg_spirv_open()) return qg_complain("the GLSL compiler cannot be initialised") == 0;
    const qk_vulkan_options options = {.device = device};
    if (qk_vulkan_create(&options, &b->vk, &b->error) != QK_OK) return qg_bench_failed(b);
    b->cpu = qk_vulkan_info(b->vk)->type == QK_VULKAN_CPU;
    return true;
}

void qg_bench_close(qg_bench *b) {
    qg_stock_close(b);
    qg_values_copy_close(b, &b->pulse);
    qk_vulkan_destroy(b->vk);
    qg_spirv_close();
}

/* ---- weights ---- */

const qk_kernel *qg_case_describe(qg_bench *b, const qg_case *c) {
    qg_kernel *kernel = QG_NEW(b->session->arena, qg_kernel);
    *kernel = qg_kernel_new(b->session->arena, c->layout, c->family, c->type, c->sum);
    return qg_describe(b->session->arena, kernel, QK_API_VULKAN, NULL);
}

static uint64_t weight_bytes(const qk_kernel *kernel, uint32_t binding, const qg_case *c) {
    return (c->family->experts ? c->experts : 1) * qk_weight_bytes(kernel, binding, c->rows, c->cols);
}

/* ---- copies of the weights, so that a launch does not find in a cache what the one before it read ---- */

static uint64_t common_divisor(uint64_t a, uint64_t b) { return b ? common_divisor(b, a % b) : a; }

/* From one copy to the next: whole blocks, and a multiple of every device's alignment. */
static uint64_t stride_of(const qg_layout *layout, uint32_t buffer, uint64_t bytes) {
    const uint64_t block = layout->buffers[buffer].bytes, unit = block / common_divisor(block, 256) * 256;
    return (bytes + unit - 1) / unit * unit;
}

/* As many as hold b->cold bytes of what one launch reads, in at most a quarter of the device's memory. */
static uint64_t copies_of(qg_bench *b, const qk_kernel *kernel, const qg_case *c) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < c->layout->n_buffers; ++i) bytes += weight_bytes(kernel, i, c);
    const uint64_t read = c->experts ? bytes / c->experts * c->slots : bytes;
    if (!b->cold || !read || read >= b->cold) return 1;
    const uint64_t copies = (b->cold + read - 1) / read, room = qk_vulkan_info(b->vk)->memory / 4 / bytes;
    return copies < room ? copies : room ? room : 1;
}

bool qg_case_fits(qg_bench *b, const qg_case *c) {
    if (!qg_takes(c->family, c->layout)) return false;
    if (c->family->encodes && c->cols % c->layout->block_cols) return false;
    if (c->family->sums && !qg_has_class(b->session->arena, c->layout, c->family, c->sum)) return false;
    if (c->layout->view == QG_VIEW_BLOCKS) return c->cols % c->layout->elements == 0;
    return weight_bytes(qg_case_describe(b, c), 0, c) > 0;
}

static bool upload(qg_bench *b, uint32_t i) {
    qg_stock *stock = &b->stock;
    for (uint64_t at = 0; at < stock->sizes[i]; at += stock->periods[i]) {
        const uint64_t rest = stock->sizes[i] - at, bytes = rest < stock->periods[i] ? rest : stock->periods[i];
        if (qk_vulkan_upload(b->vk, stock->buffers[i], at, stock->patterns[i], bytes, &b->error) != QK_OK)
            return qg_bench_failed(b);
    }
    return true;
}

bool qg_stock_open(qg_bench *b, const qg_layout *layout, const qg_case *cases, uint32_t count) {
    qg_stock_close(b);
    if (!qg_stock_fill(&b->stock, layout, cases[0].cols)) return false;
    for (uint32_t n = 0; n < count; ++n) {
        const qk_kernel *kernel = qg_case_describe(b, &cases[n]);
        const uint64_t copies = copies_of(b, kernel, &cases[n]);
        for (uint32_t i = 0; i < layout->n_buffers; ++i) {
            uint64_t bytes = weight_bytes(kernel, i, &cases[n]);
            if (copies > 1) bytes = copies * stride_of(layout, i, bytes);
            if (bytes > b->stock.sizes[i]) b->stock.sizes[i] = bytes;
        }
    }
    for (uint32_t i = 0; i < layout->n_buffers; ++i) {
        /* As in an engine, something lies behind the weights. */
        if (qk_vulkan_buffer_create(b->vk, b->stock.sizes[i] + QK_PADDING, &b->stock.buffers[i], &b->error) != QK_OK)
            return qg_bench_failed(b);
        if (!upload(b, i)) return false;
    }
    return true;
}

void qg_stock_close(qg_bench *b) {
    for (uint32_t i = 0; i < QK_MAX_BINDINGS; ++i) qk_vulkan_buffer_destroy(b->vk, b->stock.buffers[i]);
    qg_stock_drop(&b->stock);
    b->stock = (qg_stock){0};
}

/* ---- a subject ---- */

static uint64_t vectors(const qg_case *c) { return c->family->experts ? c->batch * c->slots : c->batch; }

static bool compile(qg_bench *b, qg_subject *s) {
    qg_arena *arena = b->session->arena;
    const char *why = NULL;
    const qg_request request = {
        .layout = s->of.layout, .n_families = 1, .families = &s->of.family, .vulkan = true, .command = "qkgen bench"};
    qg_kernel *kernel = QG_NEW(arena, qg_kernel);
    *kernel = qg_kernel_new(arena, s->of.layout, s->of.family, s->of.type, s->of.sum);
    if (qg_is_mma(kernel) && !qg_spirv_has_matrices()) return qg_complain(QG_SPIRV_LACKS_MATRICES) == 0;
    s->kernel = qg_compile_kernel(arena, b->templates, &request, kernel, 0, &why);
    return s->kernel || qg_complain("%s", why) == 0;
}

/* With room for as many parts of rows as a constant may ask for. */
static uint64_t scratch_bytes(const qk_backend *backend, const qg_subject *s) {
    enum { MOST_PARTS = 16, ROOM = 1 << 30 };
    const qg_case *c = &s->of;
    const uint64_t need = c->family->experts ? qk_gemm_id_scratch(backend, s->kernel, c->experts, c->rows, c->cols,
                                                                  c->batch, c->slots, c->x_slots ? c->x_slots : 1)
                                             : qk_gemm_scratch(backend, s->kernel, c->rows, c->cols, c->batch);
    const uint64_t most = need + 4 * MOST_PARTS * c->rows * vectors(c);
    return most < ROOM ? most : need;
}

static uint64_t bytes_of(const qk_backend *backend, const qg_subject *s, uint32_t binding) {
    const qg_case *c = &s->of;
    const uint64_t type = qg_scalars[c->type].bits / 8;
    switch (s->kernel->bindings[binding].role) {
    case QK_ROLE_WEIGHTS: return weight_bytes(s->kernel, binding, c);
    case QK_ROLE_INPUT: return (c->family->encodes ? c->rows : qg_bench_vectors(c)) * c->cols * type;
    case QK_ROLE_INDICES: return 4 * (c->family->experts ? vectors(c) : c->rows);
    case QK_ROLE_OUTPUT:
        return c->family->sums ? 4 * vectors(c) * c->rows
                               : qg_result_count(c->family, c->rows * c->cols, c->rows, c->cols, c->rows) * type;
    case QK_ROLE_STATUS: return 4;
    case QK_ROLE_SCRATCH: return scratch_bytes(backend, s);
    default: return 4; /* of an epilogue, and not read */
    }
}

/* Vectors, and indices that go through all rows, or experts that are far apart. */
static bool fill_buffer(qg_bench *b, qg_subject *s, uint32_t binding) {
    const qk_role role = s->kernel->bindings[binding].role;
    const uint64_t bytes = s->sizes[binding];
    if (role == QK_ROLE_STATUS)
        return qk_vulkan_clear(b->vk, s->buffers[binding], &b->error) == QK_OK || qg_bench_failed(b);
    if (role != QK_ROLE_INDICES && role != QK_ROLE_INPUT) return true;
    uint32_t *data = malloc(bytes + 4);
    if (!data) return qg_complain("out of memory") == 0;
    if (role == QK_ROLE_INPUT)
        qg_fill_input(data, s->of.type, bytes / (qg_scalars[s->of.type].bits / 8));
    else
        for (uint64_t i = 0; i < bytes / 4; ++i) data[i] = qg_bench_index(&s->of, i);
    const bool good = qk_vulkan_upload(b->vk, s->buffers[binding], 0, data, bytes, &b->error) == QK_OK;
    free(data);
    return good || qg_bench_failed(b);
}

static bool make_buffers(qg_bench *b, qg_subject *s) {
    qk_backend backend = qk_vulkan_backend(b->vk);
    backend.tuning = b->tuning;
    for (; s->count < s->kernel->binding_count; ++s->count) {
        const uint32_t i = s->count;
        s->sizes[i] = bytes_of(&backend, s, i);
        if (!s->sizes[i])
            return qg_complain("%s has no tensor of --rows %llu --cols %llu", s->of.layout->name,
                               (unsigned long long)s->of.rows, (unsigned long long)s->of.cols) == 0;
        if (s->kernel->bindings[i].role == QK_ROLE_WEIGHTS) {
            s->weight_bytes += s->sizes[i];
            s->n_weights += 1;
            if (!s->of.family->encodes) continue;
        }
        if (qk_vulkan_buffer_create(b->vk, s->sizes[i], &s->buffers[i], &b->error) != QK_OK) return qg_bench_failed(b);
        if (s->kernel->bindings[i].role == QK_ROLE_OUTPUT) s->result_bytes = s->sizes[i];
        if (s->of.family->encodes && s->kernel->bindings[i].role == QK_ROLE_INPUT) s->result_bytes = s->sizes[i];
        if (!fill_buffer(b, s, i)) {
            s->count += 1;
            return false;
        }
    }
    return true;
}

bool qg_subject_open_like(qg_bench *b, const qg_case *c, const qg_subject *like, qg_subject *s) {
    *s = (qg_subject){.of = *c, .kernel = like ? like->kernel : NULL, .kernel_lent = like != NULL};
    s->experts = qg_bench_experts(b->session->arena, c);
    if ((!like && !compile(b, s)) || !make_buffers(b, s)) return false;
    s->copies = copies_of(b, s->kernel, c);
    return true;
}

bool qg_subject_open(qg_bench *b, const qg_case *c, qg_subject *s) { return qg_subject_open_like(b, c, NULL, s); }

void qg_subject_close(qg_bench *b, qg_subject *s) {
    for (uint32_t i = 0; i < s->count; ++i) qk_vulkan_buffer_destroy(b->vk, s->buffers[i]);
    if (s->kernel && !s->kernel_lent) qk_vulkan_forget(b->vk, s->kernel);
}

double qg_subject_moved(const qg_subject *s) {
    const qg_case *c = &s->of;
    if (c->family->experts && c->family->in_tiles)
        return (double)s->weight_bytes / (double)c->experts * (double)s->experts;
    if (c->family->experts) return (double)s->weight_bytes / (double)c->experts * (double)vectors(c);
    return (double)s->weight_bytes + (c->family->sums ? 0.0 : (double)s->result_bytes);
}

/* NULL: an epilogue has it. */
static qk_range *range_of(qg_launch *launch, qk_role role) {
    switch (role) {
    case QK_ROLE_INPUT: return &launch->in;
    case QK_ROLE_INDICES: return &launch->indices;
    case QK_ROLE_OUTPUT: return &launch->out;
    case QK_ROLE_SCRATCH: return &launch->scratch;
    case QK_ROLE_STATUS: return &launch->status;
    default: return NULL;
    }
}

bool qg_subject_record(qg_bench *b, const qg_subject *s, const qk_epilogue *epilogue) {
    const qg_case *c = &s->of;
    qk_backend backend = qk_vulkan_backend(b->vk);
    backend.tuning = b->tuning;
    if (b->workgroups && b->workgroups < backend.limits.workgroup_count)
        backend.limits.workgroup_count = (uint32_t)b->workgroups;
    qk_range r[QK_MAX_BINDINGS];
    const uint64_t turn = s->copies > 1 ? b->turn++ % s->copies : 0;
    for (uint32_t i = 0; i < s->count; ++i) {
        r[i] = qk_vulkan_range(s->buffers[i] ? s->buffers[i] : b->stock.buffers[i]);
        if (!turn || i >= s->n_weights) continue;
        r[i].offset = turn * stride_of(c->layout, i, s->sizes[i]);
        r[i].size -= r[i].offset;
    }
    const qk_range *own = r + s->n_weights;
    const bool whole = !c->family->sums && !qg_at_indices(c->family);
    qg_launch launch = {.family = c->family,
                        .kernel = s->kernel,
                        .weights = r,
                        .rows = c->rows,
                        .cols = c->cols,
                        .count = whole             ? c->rows * c->cols
                                 : c->family->sums ? c->batch
                                                   : c->rows,
                        .experts = c->experts,
                        .slots = c->slots,
                        .x_slots = c->x_slots ? c->x_slots : 1,
                        .epilogue = epilogue};
    for (uint32_t i = 0; i < c->family->n_bindings; ++i) {
        qk_range *of = range_of(&launch, c->family->bindings[i].role);
        if (of) *of = own[i];
    }
    const qk_status status = qg_launch_kernel(&backend, &launch, &b->error);
    return status == QK_OK || qg_bench_failed(b);
}

static bool record_subject(qg_bench *b, void *what) { return qg_subject_record(b, what, NULL); }

bool qg_subject_run(qg_bench *b, qg_subject *s) { return qg_bench_once(b, record_subject, s); }

/* The result that is checked is of the first copy. */
bool qg_subject_measure(qg_bench *b, qg_subject *s, qg_timing *t) {
    if (!qg_bench_measure(b, record_subject, s, t)) return false;
    b->turn = 0;
    return s->copies < 2 || qg_subject_run(b, s);
}

/* ---- families that take no format ---- */

enum { RANDOM_BYTES = 1 << 22 };

static bool record_plain(qg_bench *b, void *what) {
    return qg_plain_subject_record(b->vk, what, &b->error) == QK_OK || qg_bench_failed(b);
}

bool qg_bench_plain(qg_bench *b, const qg_plain *family, uint64_t elements, uint32_t group, uint32_t bins) {
    const char *why = NULL;
    qg_plain_subject s = {.family = family, .groups = elements / group, .group = group, .bins = bins};
    qg_timing t;
    float *data = malloc(RANDOM_BYTES);
    if (!data) return qg_complain("out of memory") == 0;
    qg_fill_input(data, QG_F32, RANDOM_BYTES / sizeof *data);
    bool good = qg_plain_subject_open(b->session->arena, b->templates, b->vk, data, RANDOM_BYTES, &s, &why) ||
                qg_complain("%s", why) == 0;
    good = good && qg_bench_measure(b, record_plain, &s, &t);
    if (good)
        printf("%-20s groups of %-4u %12llu elements %10.1f us (%.1f to %.1f) %8.1f GB/s %6.1f%% of copy\n",
               family->name, s.group, (unsigned long long)(s.groups * group), 1e6 * t.median, 1e6 * t.least,
               1e6 * t.greatest, s.moved / t.median / 1e9, 100 * s.moved / t.median / b->copy);
    qg_plain_subject_close(b->vk, &s);
    free(data);
    return good;
}
