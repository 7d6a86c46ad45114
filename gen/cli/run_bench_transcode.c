/* `qkgen bench transcode`: blocks of one format become those of another in one launch, and beside that in two, one that
 * decodes and one that encodes what it decoded. Over f32 both make the same bits, which are compared. */
#include "cli/run_bench.h"
#include "emit/modules.h"

#include <qkgen/dispatch.h>

#include <stdlib.h>
#include <string.h>

typedef struct transcoding {
    const qg_layout *from, *to;
    uint64_t elements;
    double bytes; /* of the blocks of both */
    const qk_kernel *kernel;
    qk_vulkan_buffer *made[QK_MAX_BINDINGS];
    qg_subject decoder, encoder; /* the encoder reads what the decoder writes */
} transcoding;

static uint64_t bytes_of(const qg_layout *layout, uint32_t buffer, uint64_t elements) {
    return elements / layout->elements * layout->buffers[buffer].bytes;
}

static bool record_transcode(qg_bench *b, void *what) {
    const transcoding *t = what;
    qk_backend backend = qk_vulkan_backend(b->vk);
    qk_range from[QK_MAX_BINDINGS], to[QK_MAX_BINDINGS];
    backend.tuning = b->tuning;
    for (uint32_t i = 0; i < t->from->n_buffers; ++i) from[i] = qk_vulkan_range(b->stock.buffers[i]);
    for (uint32_t i = 0; i < t->to->n_buffers; ++i) to[i] = qk_vulkan_range(t->made[i]);
    return qk_dispatch_transcode(&backend, t->kernel, from, to, t->elements, &b->error) == QK_OK || qg_bench_failed(b);
}

static bool record_decoder(qg_bench *b, void *what) {
    return qg_subject_record(b, &((transcoding *)what)->decoder, NULL);
}

static bool record_encoder(qg_bench *b, void *what) {
    return qg_subject_record(b, &((transcoding *)what)->encoder, NULL);
}

static bool record_apart(qg_bench *b, void *what) {
    if (!record_decoder(b, what)) return false;
    qk_vulkan_barrier(b->vk);
    return record_encoder(b, what);
}

static bool open_transcode(qg_bench *b, transcoding *t) {
    qg_arena *arena = b->session->arena;
    const char *why = NULL;
    const qg_request request = {.layout = t->from, .n_to = 1, .to = &t->to, .vulkan = true, .command = "qkgen bench"};
    qg_kernel *kernel = QG_NEW(arena, qg_kernel);
    *kernel = qg_transcode_new(arena, t->from, t->to);
    t->kernel = qg_compile_kernel(arena, b->templates, &request, kernel, 1, &why);
    if (!t->kernel) return qg_complain("%s", why) == 0;
    for (uint32_t i = 0; i < t->from->n_buffers; ++i) t->bytes += (double)bytes_of(t->from, i, t->elements);
    for (uint32_t i = 0; i < t->to->n_buffers; ++i) {
        const uint64_t bytes = bytes_of(t->to, i, t->elements);
        t->bytes += (double)bytes;
        if (qk_vulkan_buffer_create(b->vk, bytes, &t->made[i], &b->error) != QK_OK) return qg_bench_failed(b);
    }
    return true;
}

/* The two launches: what the decoder made takes the place of the encoder's floats. */
static bool open_apart(qg_bench *b, transcoding *t, const qg_case cases[2]) {
    if (!qg_subject_open(b, &cases[0], &t->decoder) || !qg_subject_open(b, &cases[1], &t->encoder)) return false;
    const uint32_t out = t->decoder.n_weights, in = t->encoder.n_weights;
    qk_vulkan_buffer_destroy(b->vk, t->encoder.buffers[in]);
    t->encoder.buffers[in] = t->decoder.buffers[out];
    return true;
}

static void close_apart(qg_bench *b, transcoding *t) {
    const uint32_t in = t->encoder.n_weights;
    if (t->encoder.count > in && t->encoder.buffers[in] == t->decoder.buffers[t->decoder.n_weights])
        t->encoder.buffers[in] = NULL;
    qg_subject_close(b, &t->encoder);
    qg_subject_close(b, &t->decoder);
    t->encoder = t->decoder = (qg_subject){0};
}

static bool same(qg_bench *b, const transcoding *t, uint32_t buffer, char *one, char *other, uint64_t bytes) {
    if (qk_vulkan_download(b->vk, t->made[buffer], 0, one, bytes, &b->error) != QK_OK ||
        qk_vulkan_download(b->vk, t->encoder.buffers[buffer], 0, other, bytes, &b->error) != QK_OK)
        return qg_bench_failed(b);
    if (memcmp(one, other, bytes) == 0) return true;
    uint64_t at = 0;
    while (one[at] == other[at]) ++at;
    return qg_complain("transcode %s to %s makes other blocks than decoding and encoding: byte %llu of %s differs",
                       t->from->name, t->to->name, (unsigned long long)at, t->to->buffers[buffer].name) == 0;
}

/* The blocks that the launches made last. */
static bool check(qg_bench *b, const transcoding *t) {
    bool good = true;
    for (uint32_t i = 0; i < t->to->n_buffers && good; ++i) {
        const uint64_t bytes = bytes_of(t->to, i, t->elements);
        char *both = malloc(2 * bytes);
        good = both ? same(b, t, i, both, both + bytes, bytes) : qg_complain("out of memory") == 0;
        free(both);
    }
    return good;
}

static bool measure_apart(qg_bench *b, transcoding *t, qg_scalar type, double whole) {
    qg_timing decoder, encoder, apart;
    if (!qg_bench_measure(b, record_decoder, t, &decoder) || !qg_bench_measure(b, record_encoder, t, &encoder) ||
        !qg_bench_measure(b, record_apart, t, &apart) || (type == QG_F32 && !check(b, t)))
        return false;
    printf("%-24s %-24s %-5s %10.1f %8.1f %6.1f%% %10.1f %10.1f %10.1f %6.2f\n", t->from->name, t->to->name,
           qg_scalars[type].name, 1e6 * whole, t->bytes / whole / 1e9, 100 * t->bytes / whole / b->copy,
           1e6 * decoder.median, 1e6 * encoder.median, 1e6 * apart.median, apart.median / whole);
    return true;
}

void qg_bench_transcode_heading(const qg_bench *b, uint64_t rows, uint64_t cols) {
    const qk_vulkan_device *info = qk_vulkan_info(b->vk);
    printf("%s%s, driver %s: copies %.1f GB/s, read and written; %llu x %llu\n", info->name,
           b->cpu ? ", a CPU device, whose figures say nothing of GPUs" : "", info->driver, b->copy / 1e9,
           (unsigned long long)rows, (unsigned long long)cols);
    printf("%-24s %-24s %-5s %10s %8s %7s %10s %10s %10s %6s\n", "from", "to", "over", "transcode", "", "of copy",
           "decode", "encode", "apart", "times");
    printf("%-24s %-24s %-5s %10s %8s %7s %10s %10s %10s %6s\n", "", "", "", "us", "GB/s", "", "us", "us", "us", "");
}

bool qg_bench_transcode(qg_bench *b, const qg_layout *from, const qg_layout *to, const qg_scalar *types, uint32_t count,
                        uint64_t rows, uint64_t cols) {
    const char *why = qg_transcode_hindrance(b->session->arena, from, to);
    if (why) return qg_complain("%s", why) == 0;
    transcoding t = {.from = from, .to = to, .elements = rows * cols};
    qg_case cases[2] = {{.layout = from, .family = &qg_families[QG_FAMILY_DEQUANT], .rows = rows, .cols = cols},
                        {.layout = to, .family = &qg_families[QG_FAMILY_ENCODE], .rows = rows, .cols = cols}};
    for (uint32_t i = 0; i < 2; ++i) {
        cases[i].batch = cases[i].slots = 1;
        if (!qg_case_fits(b, &cases[i]))
            return qg_complain("--cols %llu is no multiple of the %u elements of a block of %s",
                               (unsigned long long)cols, cases[i].layout->elements, cases[i].layout->name) == 0;
    }
    qg_timing whole;
    bool good =
        qg_stock_open(b, from, cases, 1) && open_transcode(b, &t) && qg_bench_measure(b, record_transcode, &t, &whole);
    for (uint32_t i = 0; i < count && good; ++i) {
        cases[0].type = cases[1].type = types[i];
        good = open_apart(b, &t, cases) && measure_apart(b, &t, types[i], whole.median);
        close_apart(b, &t);
    }
    for (uint32_t i = 0; i < to->n_buffers; ++i) qk_vulkan_buffer_destroy(b->vk, t.made[i]);
    if (t.kernel) qk_vulkan_forget(b->vk, t.kernel);
    return good;
}
