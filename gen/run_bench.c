/* `qkgen bench`: how fast the kernels are on a device, as a share of what the device's memory can do in the same run.
 *
 * The time of a launch is that of a submission of several, by the device's own clock, divided by their number; of many such
 * submissions the median, the least and the greatest are shown. Data is random, and larger than any cache unless the shape
 * says otherwise. The first rows of each result are compared with the C reference. */
#include "matrix.h"
#include "run.h"
#include "spirv.h"

#include <qkgen/dispatch.h>
#include <qkgen/vulkan.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FORMATS = 4096, CHUNK = 64 << 20, LEAST_NS = 2000000, SAMPLES = 21, CHECKED_ROWS = 16 };

typedef struct bench {
    qg_session *session;
    const qg_templates *templates;
    qk_vulkan *vk;
    qk_error error;
    const qg_family *family;
    const char *type;
    uint64_t rows, cols, batch, experts, slots;
    uint64_t workgroups; /* of a launch, at most; 0: as many as there are */
    const qg_texts *constants;
    double copy;         /* bytes a second, read and written */
    unsigned char *data; /* CHUNK random bytes */
    FILE *json;
    uint32_t lines;
} bench;

/* One kernel and its buffers. */
typedef struct subject {
    const qg_layout *layout;
    qg_scalar type;
    const qk_kernel *kernel;
    uint32_t n_weights;
    qk_vulkan_buffer *buffers[QK_MAX_BINDINGS];
    uint64_t sizes[QK_MAX_BINDINGS];
    uint32_t count;
    uint64_t weight_bytes, result_bytes;
} subject;

typedef struct timing {
    double median, least, greatest; /* seconds */
} timing;

static bool failed(const bench *b) { return qg_complain("%s", b->error.text) == 0; }

/* Without bit 6: as a half or a float of any kind, no byte makes a number that is infinite, NaN or very large. */
static void fill(unsigned char *data, size_t bytes) {
    uint64_t state = 1;
    for (size_t i = 0; i < bytes; ++i) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        data[i] = (unsigned char)(state >> 56) & 0xBF;
    }
}

/* ---- time ---- */

static const double WARM_SECONDS = 0.3;

static int by_size(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

typedef bool record(bench *b, void *what);

/* Seconds of one of `count` repetitions in a submission. */
static bool submit(bench *b, record *record, void *what, uint32_t count, double *seconds) {
    if (qk_vulkan_begin(b->vk, &b->error) != QK_OK) return failed(b);
    for (uint32_t i = 0; i < count; ++i) {
        if (i) qk_vulkan_barrier(b->vk);
        if (!record(b, what)) return false;
    }
    const double start = qg_seconds_now();
    if (qk_vulkan_submit(b->vk, &b->error) != QK_OK) return failed(b);
    const uint64_t ns = qk_vulkan_time_ns(b->vk);
    *seconds = (ns ? 1e-9 * (double)ns : qg_seconds_now() - start) / count;
    return true;
}

static bool measure(bench *b, record *record, void *what, timing *t) {
    double seconds[SAMPLES], first = 0;
    uint32_t count = 1;
    const double start = qg_seconds_now();
    do { /* until the clocks of a device that slept are up */
        if (!submit(b, record, what, count, &first)) return false;
        count = first * 1e9 < LEAST_NS ? (uint32_t)(LEAST_NS / (first * 1e9 + 1)) + 1 : 1;
        if (count > 200) count = 200;
    } while (qg_seconds_now() - start < WARM_SECONDS);
    const int samples = first > 0.2 ? 3 : SAMPLES;
    for (int i = 0; i < samples; ++i)
        if (!submit(b, record, what, count, &seconds[i])) return false;
    qsort(seconds, (size_t)samples, sizeof *seconds, by_size);
    *t = (timing){seconds[samples / 2], seconds[0], seconds[samples - 1]};
    return true;
}

/* ---- the device's copy ---- */

typedef struct copy {
    const qk_kernel *kernel;
    qk_vulkan_buffer *buffers[2];
    uint32_t count; /* of 16 bytes; 0: the device's own command */
} copy;

static bool record_copy(bench *b, void *what) {
    copy *c = what;
    if (!c->count) return qk_vulkan_copy(b->vk, c->buffers[0], c->buffers[1], &b->error) == QK_OK || failed(b);
    const qk_backend backend = qk_vulkan_backend(b->vk);
    const qk_range ranges[] = {qk_vulkan_range(c->buffers[0]), qk_vulkan_range(c->buffers[1])};
    const qk_launch launch = {.kernel = c->kernel, .ranges = ranges, .push = &c->count, .workgroups = 8192};
    return backend.launch(backend.context, &launch, &b->error) == QK_OK || failed(b);
}

static bool compile_copy(bench *b, copy *c) {
    static const qk_binding bindings[] = {{0, "from", QK_ROLE_INPUT, QK_READ, QK_TYPE_U32, 0, 0, 0, 0},
                                          {1, "to", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_U32, 0, 0, 0, 0}};
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

/* The faster of a kernel that copies and the device's own command. */
static bool measure_copy(bench *b) {
    const bool cpu = qk_vulkan_info(b->vk)->type == QK_VULKAN_CPU;
    const uint64_t bytes = cpu ? UINT64_C(128) << 20 : UINT64_C(1) << 30;
    copy c = {.count = (uint32_t)(bytes / 16)};
    timing kernel = {0, 0, 0}, command = {0, 0, 0};
    bool good = compile_copy(b, &c);
    for (int i = 0; i < 2 && good; ++i)
        good = qk_vulkan_buffer_create(b->vk, bytes, &c.buffers[i], &b->error) == QK_OK || failed(b);
    good = good && measure(b, record_copy, &c, &kernel);
    c.count = 0;
    good = good && measure(b, record_copy, &c, &command);
    for (int i = 0; i < 2; ++i) qk_vulkan_buffer_destroy(b->vk, c.buffers[i]);
    if (c.kernel) qk_vulkan_forget(b->vk, c.kernel);
    if (good) b->copy = 2.0 * (double)bytes / (kernel.median < command.median ? kernel.median : command.median);
    return good;
}

/* ---- a subject ---- */

static uint64_t vectors(const bench *b) { return b->family->in_blocks ? b->batch * b->slots : b->batch; }

/* `--constant NAME=VALUE`: another value than the descriptor's, if it is legal. */
static bool set_constants(bench *b, subject *s) {
    qk_kernel *kernel = QG_NEW(b->session->arena, qk_kernel);
    qk_spec_constant *list = QG_NEW_ARRAY(b->session->arena, qk_spec_constant, s->kernel->spec_constant_count + 1);
    *kernel = *s->kernel;
    for (uint32_t c = 0; c < kernel->spec_constant_count; ++c) {
        list[c] = kernel->spec_constants[c];
        const size_t length = strlen(list[c].name);
        for (uint32_t i = 0; i < b->constants->count; ++i) {
            const char *said = b->constants->items[i];
            if (strncmp(said, list[c].name, length) != 0 || said[length] != '=') continue;
            const uint32_t value = (uint32_t)strtoul(said + length + 1, NULL, 10);
            bool legal = false;
            for (uint32_t l = 0; l < list[c].legal_count; ++l) legal |= list[c].legal[l] == value;
            if (!legal) return qg_complain("%s is no legal value of a constant of %s", said, kernel->name) == 0;
            list[c].value = value;
            if (list[c].id == 0) kernel->workgroup_size = value;
        }
    }
    kernel->spec_constants = list;
    s->kernel = kernel;
    return true;
}

static bool compile(bench *b, subject *s) {
    qg_arena *arena = b->session->arena;
    const char *why = NULL;
    const qg_request request = {
        .layout = s->layout, .n_families = 1, .families = &b->family, .vulkan = true, .command = "qkgen bench"};
    qg_kernel *kernel = QG_NEW(arena, qg_kernel);
    *kernel = qg_kernel_new(arena, s->layout, b->family, s->type);
    if (!kernel->family)
        return qg_complain("%s has no kernel with matrix units: %s", s->layout->name, kernel->name) == 0;
    if (kernel->matrix && !qg_spirv_has_matrices())
        return qg_complain(
                   "the glslang that this was built with is older than 13, and knows no cooperative matrices") == 0;
    const char *glsl = qg_glsl(arena, b->templates, &request, kernel, &why);
    if (!glsl) return qg_complain("%s", why) == 0;
    qk_code *code = QG_NEW(arena, qk_code);
    code->data = qg_spirv_compile(arena, kernel->name, glsl, &code->bytes, &why);
    if (!code->data) return qg_complain("%s", why) == 0;
    s->kernel = qg_describe(arena, kernel, QK_API_VULKAN, code);
    return set_constants(b, s);
}

static uint64_t bytes_of(const bench *b, const subject *s, uint32_t binding) {
    const uint64_t type = qg_scalars[s->type].bits / 8;
    switch (s->kernel->bindings[binding].role) {
    case QK_ROLE_WEIGHTS:
        return qk_weight_bytes(s->kernel, binding, b->family->in_blocks ? b->rows * b->experts : b->rows, b->cols);
    case QK_ROLE_INPUT: return b->batch * b->cols * type;
    case QK_ROLE_INDICES: return 4 * (b->family->in_blocks ? vectors(b) : b->rows);
    case QK_ROLE_OUTPUT: return b->family->sums ? 4 * vectors(b) * b->rows : b->rows * b->cols * type;
    case QK_ROLE_STATUS: return 4;
    }
    return 0;
}

/* Random weights and vectors; indices that go through all rows, or experts that are far apart. */
static bool fill_buffer(bench *b, subject *s, uint32_t binding) {
    const qk_role role = s->kernel->bindings[binding].role;
    qk_vulkan_buffer *buffer = s->buffers[binding];
    if (role == QK_ROLE_INDICES) {
        const uint64_t count = s->sizes[binding] / 4;
        uint32_t *numbers = malloc(s->sizes[binding]);
        if (!numbers) return qg_complain("out of memory") == 0;
        for (uint64_t i = 0; i < count; ++i)
            numbers[i] = (uint32_t)(b->family->in_blocks ? i * 37 % b->experts : i * 40503 % b->rows);
        const bool good = qk_vulkan_upload(b->vk, buffer, 0, numbers, 4 * count, &b->error) == QK_OK;
        free(numbers);
        return good || failed(b);
    }
    if (role == QK_ROLE_STATUS) return qk_vulkan_clear(b->vk, buffer, &b->error) == QK_OK || failed(b);
    if (role == QK_ROLE_OUTPUT) return true;
    for (uint64_t at = 0; at < s->sizes[binding]; at += CHUNK) {
        const uint64_t rest = s->sizes[binding] - at, bytes = rest < CHUNK ? rest : CHUNK;
        if (qk_vulkan_upload(b->vk, buffer, at, b->data, bytes, &b->error) != QK_OK) return failed(b);
    }
    return true;
}

static bool make_buffers(bench *b, subject *s) {
    for (; s->count < s->kernel->binding_count; ++s->count) {
        const uint32_t i = s->count;
        s->sizes[i] = bytes_of(b, s, i);
        if (!s->sizes[i])
            return qg_complain("%s has no tensor of --rows %llu --cols %llu", s->layout->name,
                               (unsigned long long)b->rows, (unsigned long long)b->cols) == 0;
        if (qk_vulkan_buffer_create(b->vk, s->sizes[i], &s->buffers[i], &b->error) != QK_OK) return failed(b);
        if (s->kernel->bindings[i].role == QK_ROLE_WEIGHTS) s->weight_bytes += s->sizes[i], s->n_weights += 1;
        if (s->kernel->bindings[i].role == QK_ROLE_OUTPUT) s->result_bytes = s->sizes[i];
        if (!fill_buffer(b, s, i)) {
            s->count += 1;
            return false;
        }
    }
    return true;
}

static bool record_subject(bench *b, void *what) {
    const subject *s = what;
    qk_backend backend = qk_vulkan_backend(b->vk);
    if (b->workgroups && b->workgroups < backend.limits.workgroup_count)
        backend.limits.workgroup_count = (uint32_t)b->workgroups;
    qk_range r[QK_MAX_BINDINGS];
    for (uint32_t i = 0; i < s->count; ++i) r[i] = qk_vulkan_range(s->buffers[i]);
    const qk_range *own = r + s->n_weights;
    const bool matrix = s->kernel->view != QK_VIEW_BLOCKS;
    qk_status status;
    if (b->family->in_blocks)
        status = qk_dispatch_gemv_id(&backend, s->kernel, r, own[0], own[1], own[2], own[3], b->experts, b->rows,
                                     b->cols, b->batch, b->slots, &b->error);
    else if (b->family->sums)
        status = qk_dispatch_gemv(&backend, s->kernel, r, own[0], own[1], b->rows, b->cols, b->batch, &b->error);
    else if (b->family->n_bindings > 1)
        status = (matrix ? qk_dispatch_gather_matrix : qk_dispatch_gather)(
            &backend, s->kernel, r, own[0], own[1], own[2], b->rows, b->cols, b->rows, &b->error);
    else if (matrix)
        status = qk_dispatch_dequant_matrix(&backend, s->kernel, r, own[0], b->rows, b->cols, &b->error);
    else
        status = qk_dispatch_dequant(&backend, s->kernel, r, own[0], b->rows * b->cols, &b->error);
    return status == QK_OK || failed(b);
}

/* ---- the check ---- */

/* The relative L2 error of the first rows of the first vector, against the C reference on the same data; -1 where that is not
 * done: matrices of patches, and experts. */
static bool check(bench *b, const subject *s, double *error) {
    const uint64_t rows = b->rows < CHECKED_ROWS ? b->rows : CHECKED_ROWS;
    *error = -1;
    if (!b->family->sums || b->family->in_blocks || s->layout->view != QG_VIEW_BLOCKS || b->copy == 0) return true;
    const uint64_t blocks = rows * b->cols / s->layout->elements;
    const void *weights[QK_MAX_BINDINGS];
    for (uint32_t i = 0; i < s->n_weights; ++i) {
        if (blocks * s->layout->buffers[i].bytes > CHUNK) return true;
        weights[i] = b->data;
    }
    const qg_job job = {.arena = b->session->arena,
                        .layout = s->layout,
                        .family = b->family == &qg_gemv_matrix ? qg_family_named("gemv") : b->family,
                        .type = s->type,
                        .templates = b->templates,
                        .weights = weights,
                        .elements = rows * b->cols,
                        .rows = rows,
                        .cols = b->cols,
                        .x = b->data,
                        .batch = 1};
    float expected[CHECKED_ROWS], got[CHECKED_ROWS];
    qg_runner runner;
    const char *why = qg_run_open_c(&job, rows, &runner);
    if (why) { /* a machine without a compiler can still be measured */
        if (b->lines == 0) fprintf(stderr, "qkgen: warning: results are not checked: %s\n", why);
        return true;
    }
    why = runner.part(runner.context, &job, 0, rows, expected);
    if (why) return qg_complain("%s", why) == 0;
    runner.close(runner.context);
    if (qk_vulkan_download(b->vk, s->buffers[s->n_weights + 1], 0, got, rows * 4, &b->error) != QK_OK) return failed(b);
    double difference = 0, norm = 0;
    for (uint64_t i = 0; i < rows; ++i) {
        const double d = (double)got[i] - (double)expected[i];
        difference += d * d;
        norm += (double)expected[i] * (double)expected[i];
    }
    *error = norm > 0 ? sqrt(difference / norm) : sqrt(difference);
    return true;
}

/* ---- the table ---- */

/* Bytes that count: the weights of a sum; in and out of a decoder. */
static double moved(const bench *b, const subject *s) {
    if (b->family->in_blocks) return (double)s->weight_bytes / (double)b->experts * (double)vectors(b);
    return (double)s->weight_bytes + (b->family->sums ? 0.0 : (double)s->result_bytes);
}

static void print_line(bench *b, const subject *s, timing t, double error) {
    const double rate = moved(b, s) / t.median;
    if (b->lines++ == 0)
        printf("%-24s %-8s %-5s %14s %6s %10s %22s %9s %7s  %s\n", "format", "family", "type", "rows x cols", "batch",
               "us", "(least to greatest)", "GB/s", "copy", "error");
    char shape[48], range[48], checked[24] = "-";
    snprintf(shape, sizeof shape, "%llux%llu", (unsigned long long)b->rows, (unsigned long long)b->cols);
    snprintf(range, sizeof range, "(%.1f to %.1f)", 1e6 * t.least, 1e6 * t.greatest);
    if (error >= 0) snprintf(checked, sizeof checked, "%.1e", error);
    printf("%-24s %-8s %-5s %14s %6llu %10.1f %22s %9.1f %6.1f%%  %s\n", s->layout->name, b->family->name,
           qg_scalars[s->type].name, shape, (unsigned long long)b->batch, 1e6 * t.median, range, rate / 1e9,
           100 * rate / b->copy, checked);
    fflush(stdout);
    if (!b->json) return;
    fprintf(b->json,
            "%s  {\"format\": \"%s\", \"family\": \"%s\", \"type\": \"%s\", \"rows\": %llu, \"cols\": %llu, \"batch\": "
            "%llu, \"bits\": %.6g, \"seconds\": [%.9g, %.9g, %.9g], \"bytes\": %.0f, \"share\": %.6g, \"error\": %.3g}",
            b->lines > 1 ? ",\n" : "", s->layout->name, b->family->name, qg_scalars[s->type].name,
            (unsigned long long)b->rows, (unsigned long long)b->cols, (unsigned long long)b->batch,
            qg_bits_per_element(s->layout), t.least, t.median, t.greatest, moved(b, s), rate / b->copy, error);
}

static bool run_format(bench *b, const qg_layout *layout) {
    subject s = {.layout = layout, .type = qg_family_type(b->family, b->type)};
    timing t;
    double error;
    bool good = compile(b, &s) && make_buffers(b, &s) && measure(b, record_subject, &s, &t) && check(b, &s, &error);
    if (good) print_line(b, &s, t, error);
    for (uint32_t i = 0; i < s.count; ++i) qk_vulkan_buffer_destroy(b->vk, s.buffers[i]);
    if (s.kernel) qk_vulkan_forget(b->vk, s.kernel);
    return good;
}

/* ---- the request ---- */

static bool run_all(bench *b, const qg_texts *formats, const qg_layout **layouts, uint32_t count) {
    bool good = true;
    for (uint32_t i = 0; i < count && good; ++i) {
        const bool fits = b->cols % layouts[i]->block_cols == 0 && b->rows % layouts[i]->block_rows == 0;
        if (!qg_takes(b->family, layouts[i]) || (!fits && formats->count == 0)) continue;
        const char *why = NULL;
        if (b->family == &qg_gemv_matrix && !formats->count && !qg_matrix_of(b->session->arena, layouts[i], &why)) {
            fprintf(stderr, "qkgen: %s is left out: %s\n", layouts[i]->name, why);
            continue;
        }
        good = run_format(b, layouts[i]);
    }
    return good;
}

int qg_command_bench(qg_session *session, int argc, char **argv) {
    bench b = {.session = session, .batch = 1, .slots = 1, .type = "f32"};
    const char *device = NULL, *json = NULL, *why = NULL, *units = NULL;
    qg_texts formats = {0}, rest = {0}, constants = {0};
    b.constants = &constants;
    const qg_option options[] = {{"--data", QG_TEXT, &session->data},
                                 {"--formats", QG_TEXT, &session->formats},
                                 {"--spec", QG_TEXTS, &session->specs},
                                 {"--format", QG_TEXTS, &formats},
                                 {"--type", QG_TEXT, &b.type},
                                 {"--rows", QG_COUNT, &b.rows},
                                 {"--cols", QG_COUNT, &b.cols},
                                 {"--batch", QG_COUNT, &b.batch},
                                 {"--tokens", QG_COUNT, &b.batch},
                                 {"--experts", QG_COUNT, &b.experts},
                                 {"--slots", QG_COUNT, &b.slots},
                                 {"--constant", QG_TEXTS, &constants},
                                 {"--workgroups", QG_COUNT, &b.workgroups},
                                 {"--units", QG_TEXT, &units},
                                 {"--device", QG_TEXT, &device},
                                 {"--json", QG_TEXT, &json}};
    if (!qg_options_read(session->arena, argc, argv, options, sizeof options / sizeof *options, &rest)) return 1;
    if (rest.count != 1) return qg_complain("bench needs one kernel family: qkgen bench dequant|gather|gemv|gemv_id");
    b.family = qg_family_named(rest.items[0]);
    if (!b.family) return qg_complain("no kernel family is named %s", rest.items[0]);
    if (!qg_choose_units(units, &b.family)) return 1;
    if (qg_family_type(b.family, b.type) == QG_SCALAR_COUNT)
        return qg_complain("%s has no kernels of type %s", b.family->name, b.type);
    if (b.batch == 0 || b.slots == 0) return qg_complain("--batch and --slots must be at least 1");
    if (b.family->in_blocks && b.experts == 0) return qg_complain("%s needs --experts", b.family->name);
    if (!qg_session_load(session)) return 1;
    const uint32_t n = formats.count ? formats.count : session->library->layouts.count;
    const qg_layout **layouts = QG_NEW_ARRAY(session->arena, const qg_layout *, n + 1);
    for (uint32_t i = 0; i < n; ++i) {
        layouts[i] = formats.count ? qg_session_format(session, formats.items[i]) : session->library->layouts.items[i];
        if (!layouts[i]) return 1;
    }
    qg_templates templates;
    if (!qg_templates_load(session->arena, qg_session_templates(session), &templates, &why))
        return qg_complain("%s", why);
    b.templates = &templates;
    const qk_vulkan_options vulkan = {.device = device};
    if (qk_vulkan_create(&vulkan, &b.vk, &b.error) != QK_OK) return qg_complain("%s", b.error.text);
    const qk_vulkan_device *info = qk_vulkan_info(b.vk);
    const bool cpu = info->type == QK_VULKAN_CPU;
    if (!b.rows) b.rows = cpu ? 1024 : 57344;
    if (!b.cols) b.cols = cpu ? 4096 : 8192;
    b.data = malloc(CHUNK);
    if (!b.data || !qg_spirv_open()) return qg_complain("out of memory, or the GLSL compiler cannot be initialised");
    fill(b.data, CHUNK);
    bool good = measure_copy(&b);
    if (good)
        printf("%s%s, driver %s: copies %.1f GB/s, read and written\n", info->name, cpu ? " (a CPU)" : "", info->driver,
               b.copy / 1e9);
    if (good && json && !(b.json = fopen(json, "w"))) good = qg_complain("cannot write %s", json) == 0;
    if (b.json)
        fprintf(b.json, "{\"device\": \"%s\", \"cpu\": %s, \"copy\": %.6g, \"results\": [\n", info->name,
                cpu ? "true" : "false", b.copy);
    good = good && run_all(&b, &formats, layouts, n);
    if (b.json) {
        fputs("\n]}\n", b.json);
        if (fclose(b.json) != 0) good = qg_complain("cannot write %s", json) == 0;
    }
    qg_spirv_close();
    qk_vulkan_destroy(b.vk);
    free(b.data);
    return good ? 0 : 1;
}
