/* One case of `qkgen soak` on a device. Inputs and results lie in one buffer with gaps around them,
 * which is filled before and looked at afterwards as a whole: nothing but results may have changed,
 * and all of them must have. A second launch writes the same bits to another place. */
#include "cli/run_launch.h"
#include "cli/run_soak.h"
#include "emit/modules.h"
#include "emit/spirv.h"

#include <qkgen/dispatch_qdq.h>

#include <stdlib.h>
#include <string.h>

enum { GAP = 256, FILL = 0xA5, MOST_REGIONS = 12, PIECE = 32 << 20 };

typedef struct region {
    uint64_t at, bytes;
    const void *data; /* NULL: a result, or a status word */
    bool status, scratch;
    const void *before; /* what it holds, where it is a result */
} region;

/* The case at work. Regions: the inputs; then, once for each launch, the results. */
typedef struct trial {
    const qg_soak_device *device;
    const qg_soak_case *c;
    const qk_kernel *kernel;
    qg_soak_data data;
    qk_backend backend;
    qk_error error;
    uint64_t alignment;
    region regions[MOST_REGIONS];
    uint32_t count, inputs, outputs;
    unsigned char *image, *after;
    uint64_t bytes;
    qk_vulkan_buffer *rest, *weights[QK_MAX_BINDINGS];
    uint32_t n_weights;
    uint64_t weight_bytes[QK_MAX_BINDINGS];
    unsigned char *made[2][QK_MAX_BINDINGS]; /* families that encode: each buffer of weights after each launch */
} trial;

static bool encodes(const qg_soak_case *c) { return c->family && c->family->encodes; }

/* ---- the kernel ---- */

static const qk_kernel *compile_plain(qg_arena *arena, const qg_soak_device *device, const qg_soak_case *c,
                                      const char **why) {
    const qg_plain_set *set = NULL;
    qg_plain_named(c->plain->name, &set);
    const qg_plain_request request = {
        .set = set, .n_families = 1, .families = &c->plain, .vulkan = true, .command = "qkgen soak"};
    const char *glsl = qg_plain_glsl(arena, device->templates, &request, c->plain, why);
    qk_kernel *described = QG_NEW(arena, qk_kernel);
    qk_code *code = QG_NEW(arena, qk_code);
    *described = *qg_soak_describe(arena, c);
    if (glsl) code->data = qg_spirv_compile(arena, described->name, glsl, &code->bytes, why);
    described->code = code;
    return code->data ? described : NULL;
}

/* A group of cases has one kernel, and several numbers of right-hand sides. */
static const qk_kernel *compile(qg_arena *arena, const qg_soak_device *device, const qg_soak_case *c,
                                const char **why) {
    if (c->plain) return compile_plain(arena, device, c, why);
    const qg_request request = {
        .layout = c->layout, .n_families = 1, .families = &c->family, .vulkan = true, .command = "qkgen soak"};
    qg_kernel *kernel = QG_NEW(arena, qg_kernel);
    *kernel = qg_kernel_new(arena, c->layout, c->family, c->type, c->sum);
    if (qg_is_mma(kernel) && !qg_spirv_has_matrices()) {
        *why = QG_SPIRV_LACKS_MATRICES;
        return NULL;
    }
    return qg_compile_kernel(arena, device->templates, &request, kernel, 0, why);
}

bool qg_soak_compile(const qg_soak_device *device, const qg_soak_case *c, qg_soak_kernel *kernel, const char **why) {
    qg_arena *arena = qg_arena_new();
    *kernel = (qg_soak_kernel){.arena = arena};
    kernel->kernel = compile(arena, device, c, why);
    return kernel->kernel != NULL;
}

/* ---- memory ---- */

static uint64_t up(uint64_t at, uint64_t to) { return (at + to - 1) / to * to; }

/* `offset` bytes from where the device can bind it. */
static void add_region_at(trial *t, uint64_t offset, uint64_t bytes, const void *data, bool status) {
    region *r = &t->regions[t->count++];
    *r = (region){.at = up(t->bytes + GAP, t->alignment) + t->c->offset * t->alignment + offset,
                  .bytes = bytes,
                  .data = data,
                  .status = status};
    t->bytes = r->at + bytes;
}

static void add_region(trial *t, uint64_t bytes, const void *data, bool status) {
    add_region_at(t, 0, bytes, data, status);
}

static const qk_views *views_of(const trial *t) { return t->data.views.given ? &t->data.views.dense : NULL; }

static uint64_t scratch_bytes(const trial *t) {
    const qg_soak_case *c = t->c;
    if (c->rows == 0 || c->cols == 0 || c->batch == 0) return 4;
    if (c->family->experts)
        return qk_gemm_id_scratch(&t->backend, t->kernel, c->experts, c->rows, c->cols, c->batch, c->slots,
                                  qg_soak_x_slots(c));
    return qk_gemm_views_scratch(&t->backend, t->kernel, c->rows, c->cols, c->batch, views_of(t));
}

static void add_results(trial *t) {
    const qg_soak_case *c = t->c;
    for (uint32_t i = 0; c->plain && i < c->plain->n_bindings; ++i) {
        const qg_plain_binding *b = &c->plain->bindings[i];
        if (b->role == QK_ROLE_OUTPUT) add_region(t, c->rows * qg_plain_unit(b, (uint32_t)c->cols), NULL, false);
    }
    if (c->plain) return;
    const qg_soak_data *d = &t->data;
    const uint64_t each = qg_scalars[c->family->sums ? d->y_type : c->type].bits / 8, from = d->views.y_offset;
    /* Up to the end of a word, which two results share. */
    const uint64_t bytes = c->family->sums ? up(from + d->results * each, 4) - from : d->results * each;
    if (!c->family->encodes) {
        add_region_at(t, from, bytes, NULL, false);
        t->regions[t->count - 1].before = d->before;
    }
    if (c->family->in_tiles) {
        add_region(t, scratch_bytes(t), NULL, false);
        t->regions[t->count - 1].scratch = true;
    }
    if (qg_has_role(c->family, QK_ROLE_STATUS)) add_region(t, 4, NULL, true);
}

static bool make_regions(trial *t) {
    const qg_soak_case *c = t->c;
    const qg_soak_data *d = &t->data;
    for (uint32_t i = 0; c->plain && i < c->plain->n_bindings; ++i) {
        const qg_plain_binding *b = &c->plain->bindings[i];
        if (b->role == QK_ROLE_INPUT) add_region(t, c->rows * qg_plain_unit(b, (uint32_t)c->cols), d->inputs[i], false);
    }
    if (!c->plain && d->x)
        add_region_at(t, c->family->sums ? d->views.x_offset : 0, d->x_count * (qg_scalars[c->type].bits / 8), d->x,
                      false);
    if (!c->plain && d->ids) add_region(t, 4 * d->ids_count, d->ids, false);
    if (d->norm) add_region(t, 4 * c->cols, d->norm, false);
    for (uint32_t i = 0; i < QG_N_EPILOGUES; ++i)
        if (d->epilogue.values[i])
            add_region(t, 4 * qg_epilogue_count(&d->epilogue, (qg_epilogue_id)i), d->epilogue.values[i], false);
    t->inputs = t->count;
    add_results(t);
    t->outputs = t->count - t->inputs;
    add_results(t);
    t->bytes += GAP;
    t->image = malloc(t->bytes);
    t->after = malloc(t->bytes);
    if (!t->image || !t->after) return false;
    memset(t->image, FILL, t->bytes);
    for (uint32_t i = 0; i < t->count; ++i) {
        const region *r = &t->regions[i];
        if (r->data && r->bytes) memcpy(t->image + r->at, r->data, r->bytes);
        if (r->before) memcpy(t->image + r->at, r->before, d->results * (qg_scalars[d->y_type].bits / 8));
        if (r->status) memset(t->image + r->at, 0, 4);
    }
    return true;
}

/* Weights begin `offset` alignments into their buffer, and what is around them would spoil a sum. */
static uint64_t buffer_bytes(const trial *t, uint32_t i) {
    return t->c->offset * t->alignment + t->weight_bytes[i] + t->c->padding + GAP;
}

/* Bytes `at` to `at + count` of a buffer of weights, as they are before a launch. */
static void fill_weights(const trial *t, uint32_t i, uint64_t at, uint64_t count, unsigned char *bytes) {
    const qg_stock *w = &t->data.weights;
    const uint64_t first = t->c->offset * t->alignment, end = first + t->weight_bytes[i];
    memset(bytes, 0xFF, count);
    for (uint64_t k = at < first ? first - at : 0; k < count && at + k < end;) {
        const uint64_t from = (at + k - first) % w->periods[i];
        uint64_t run = w->periods[i] - from;
        if (run > count - k) run = count - k;
        if (run > end - at - k) run = end - at - k;
        memcpy(bytes + k, w->patterns[i] + from, run);
        k += run;
    }
}

static qk_status upload_weights(trial *t, uint32_t i) {
    const uint64_t all = buffer_bytes(t, i), piece = all < PIECE ? all : PIECE;
    qk_status status = QK_OK;
    unsigned char *bytes = malloc(piece);
    if (!bytes) return qk_fail(&t->error, QK_ERROR_LIMIT, "out of memory");
    for (uint64_t at = 0; at < all && status == QK_OK; at += piece) {
        const uint64_t count = all - at < piece ? all - at : piece;
        fill_weights(t, i, at, count, bytes);
        status = qk_vulkan_upload(t->device->vk, t->weights[i], at, bytes, count, &t->error);
    }
    free(bytes);
    return status;
}

static qk_status make_weights(trial *t, uint32_t i) {
    const qk_status status = qk_vulkan_buffer_create(t->device->vk, buffer_bytes(t, i), &t->weights[i], &t->error);
    if (status != QK_OK) return status;
    t->n_weights += 1;
    return upload_weights(t, i);
}

static bool same_weights(const qg_soak_case *a, const qg_soak_case *b) {
    return a->layout == b->layout && a->family == b->family && a->rows == b->rows && a->cols == b->cols &&
           a->experts == b->experts && a->seed == b->seed && a->offset == b->offset && a->padding == b->padding &&
           a->weights == b->weights && strcmp(a->views, b->views) == 0;
}

static void drop_weights(const qg_soak_device *device) {
    for (uint32_t i = 0; i < device->kept->count; ++i) qk_vulkan_buffer_destroy(device->vk, device->kept->buffers[i]);
    *device->kept = (qg_soak_weights){.count = 0};
}

void qg_soak_forget(const qg_soak_device *device, qg_soak_kernel *kernel) {
    if (kernel->kernel) qk_vulkan_forget(device->vk, kernel->kernel);
    if (device->kept->count) drop_weights(device);
    if (kernel->arena) qg_arena_free(kernel->arena);
    *kernel = (qg_soak_kernel){NULL, NULL};
}

/* Those of the case before, where only the vectors differ. */
static qk_status take_weights(trial *t) {
    qg_soak_weights *kept = t->device->kept;
    qk_status status = QK_OK;
    const bool same = kept->count && same_weights(&kept->of, t->c);
    if (!same) drop_weights(t->device);
    for (uint32_t i = 0; i < t->c->layout->n_buffers && status == QK_OK; ++i) {
        const bool matrices = t->c->layout->view != QG_VIEW_BLOCKS && t->c->family->experts;
        const uint64_t rows = t->c->family->sums && !matrices ? t->data.places.weight_rows : t->c->rows;
        t->weight_bytes[i] = rows && t->c->cols ? qk_weight_bytes(t->kernel, i, rows, t->c->cols) : 0;
        if (matrices && rows) t->weight_bytes[i] *= t->data.places.weight_rows / rows;
        if (!same) status = make_weights(t, i);
        if (same) t->weights[t->n_weights++] = kept->buffers[i];
    }
    if (same) return status;
    /* Also those of a case that failed, to be destroyed. */
    kept->of = *t->c;
    for (kept->count = 0; kept->count < t->n_weights; ++kept->count)
        kept->buffers[kept->count] = t->weights[kept->count];
    if (status != QK_OK) drop_weights(t->device);
    return status;
}

static qk_status make_buffers(trial *t) {
    qk_status status = qk_vulkan_buffer_create(t->device->vk, t->bytes, &t->rest, &t->error);
    if (status == QK_OK) status = qk_vulkan_upload(t->device->vk, t->rest, 0, t->image, t->bytes, &t->error);
    if (status == QK_OK && t->c->layout) status = take_weights(t);
    return status;
}

/* ---- the launches ---- */

static qk_status dispatch(trial *t, const qk_range *w, const qk_range *r) {
    const qg_soak_case *c = t->c;
    if (c->plain) {
        qk_range ranges[QG_MAX_PLAIN_BINDINGS];
        uint32_t in = 0, out = t->inputs;
        for (uint32_t i = 0; i < c->plain->n_bindings; ++i)
            ranges[i] = r[c->plain->bindings[i].role == QK_ROLE_OUTPUT ? out++ : in++];
        return qg_plain_dispatch(c->plain, &t->backend, t->kernel, ranges, c->rows, (uint32_t)c->cols,
                                 (uint32_t)c->batch, &t->error);
    }
    const qk_range *out = r + t->inputs;
    const bool whole = !c->family->sums && !qg_at_indices(c->family);
    qk_range met[QG_N_EPILOGUES];
    const qk_range *last = out;
    for (uint32_t i = QG_N_EPILOGUES; i-- > 0;)
        if (t->data.epilogue.values[i]) met[i] = *--last;
    const qk_epilogue epilogue = qg_epilogue_ranges(&t->data.epilogue, met);
    qk_views views = t->data.views.dense;
    qg_launch launch = {.family = c->family,
                        .kernel = t->kernel,
                        .weights = w,
                        .rows = c->rows,
                        .cols = c->cols,
                        .count = whole ? c->rows * c->cols : c->batch,
                        .experts = c->experts,
                        .slots = c->slots,
                        .x_slots = qg_soak_x_slots(c),
                        .views = t->data.views.given ? &views : NULL,
                        .expert_views = t->data.views.given ? &t->data.views.experts : NULL,
                        .epilogue = &epilogue};
    const qk_range *in = r, *next = out; /* in the order of make_regions */
    if (t->data.x) launch.in = *in++;
    if (t->data.ids) launch.indices = *in++;
    if (t->data.norm) views.norm = *in;
    if (!c->family->encodes) launch.out = *next++;
    if (c->family->in_tiles) launch.scratch = *next++;
    if (qg_has_role(c->family, QK_ROLE_STATUS)) launch.status = *next;
    return qg_launch_kernel(&t->backend, &launch, &t->error);
}

static qk_status launch(trial *t, uint32_t number) {
    qk_range w[QK_MAX_BINDINGS], r[MOST_REGIONS];
    for (uint32_t i = 0; i < t->n_weights; ++i) {
        w[i] = qk_vulkan_range(t->weights[i]);
        w[i].offset = t->c->offset * t->alignment;
        w[i].size = t->weight_bytes[i] + t->c->padding;
    }
    for (uint32_t i = 0; i < t->inputs + t->outputs; ++i) {
        const region *from = &t->regions[i < t->inputs ? i : i + number * t->outputs];
        r[i] = qk_vulkan_range(t->rest);
        r[i].offset = from->at;
        r[i].size = from->bytes;
    }
    return dispatch(t, w, r);
}

/* Limits as of a device that can bind less, so that the weights are cut into about so many parts. */
static void lower_limits(trial *t) {
    const qg_soak_case *c = t->c;
    uint64_t largest = 256, weights = 0;
    if (c->workgroups && c->workgroups < t->backend.limits.workgroup_count)
        t->backend.limits.workgroup_count = (uint32_t)c->workgroups;
    if (c->range && c->range < t->backend.limits.storage_range) t->backend.limits.storage_range = c->range;
    if (c->parts < 2 || c->plain || c->layout->view != QG_VIEW_BLOCKS) return;
    for (uint32_t i = 0; i < t->count; ++i) largest = t->regions[i].bytes > largest ? t->regions[i].bytes : largest;
    for (uint32_t i = 0; i < t->n_weights; ++i) weights = t->weight_bytes[i] > weights ? t->weight_bytes[i] : weights;
    const uint64_t range = up(weights / c->parts + 1, t->alignment) + c->padding;
    if (c->family->sums && range < largest) return;
    if (range < t->backend.limits.storage_range) t->backend.limits.storage_range = range;
}

/* Launches `first` to `end` in one submission. */
static qk_status submit(trial *t, uint32_t first, uint32_t end) {
    qk_status status = qk_vulkan_begin(t->device->vk, &t->error);
    for (uint32_t i = first; i < end && status == QK_OK; ++i) {
        if (i > first) qk_vulkan_barrier(t->device->vk);
        status = launch(t, i);
    }
    if (status != QK_OK) { /* what was recorded is dropped, so that the next case finds the device as it was */
        if (qk_vulkan_begin(t->device->vk, NULL) == QK_OK) qk_vulkan_submit(t->device->vk, NULL);
        return status;
    }
    return qk_vulkan_submit(t->device->vk, &t->error);
}

/* Both launches write to the same weights, which are as they were before each of them. */
static qk_status run_encoder(trial *t) {
    qk_status status = QK_OK;
    for (uint32_t n = 0; n < 2 && status == QK_OK; ++n) {
        for (uint32_t i = 0; i < t->n_weights && n && status == QK_OK; ++i) status = upload_weights(t, i);
        if (status == QK_OK) status = submit(t, n, n + 1);
        for (uint32_t i = 0; i < t->n_weights && status == QK_OK; ++i) {
            const uint64_t bytes = buffer_bytes(t, i);
            t->made[n][i] = malloc(bytes);
            status = t->made[n][i]
                         ? qk_vulkan_download(t->device->vk, t->weights[i], 0, t->made[n][i], bytes, &t->error)
                         : qk_fail(&t->error, QK_ERROR_LIMIT, "out of memory");
        }
    }
    return status;
}

static qk_status run(trial *t) {
    qk_status status = encodes(t->c) ? run_encoder(t) : submit(t, 0, 2);
    if (status == QK_OK) status = qk_vulkan_download(t->device->vk, t->rest, 0, t->after, t->bytes, &t->error);
    return status;
}

/* ---- what became of the buffer ---- */

static bool wrong(qg_soak_result *result, const char *format, ...) QG_PRINTF(2, 3);
static bool wrong(qg_soak_result *result, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(result->text, sizeof result->text, format, args);
    va_end(args);
    result->outcome = QG_SOAK_WRONG;
    return false;
}

/* Bytes `from` to `end` are as they were. */
static bool unchanged(const trial *t, uint64_t from, uint64_t end, const char *what, qg_soak_result *result) {
    if (memcmp(t->image + from, t->after + from, end - from) == 0) return true;
    while (t->image[from] == t->after[from]) ++from;
    return wrong(result, "byte %llu, %s, was written", (unsigned long long)from, what);
}

static bool only_results_changed(const trial *t, qg_soak_result *result) {
    uint64_t at = 0;
    for (uint32_t i = 0; i < t->count; ++i) {
        const region *r = &t->regions[i];
        if (!unchanged(t, at, r->at, i ? "behind an argument" : "before the arguments", result)) return false;
        if (i < t->inputs && r->data && !unchanged(t, r->at, r->at + r->bytes, "of an input", result)) return false;
        at = r->at + r->bytes;
    }
    return unchanged(t, at, t->bytes, "behind the last argument", result);
}

static bool is_left(const unsigned char *at) {
    for (int i = 0; i < 4; ++i)
        if (at[i] != FILL) return false;
    return true;
}

/* What lies between results is as it was; and, of 32 bits, each of them is another than that. */
static bool is_view_written(const trial *t, const region *r, qg_soak_result *result) {
    const qg_places *p = &t->data.places;
    const uint64_t each = qg_scalars[t->data.y_type].bits / 8, length = t->c->rows * each;
    uint8_t *mask = calloc(r->bytes + 1, 1);
    bool good = mask != NULL;
    for (uint64_t v = 0; v < p->vectors && good; ++v) memset(mask + p->y_of[v] * each, 1, length);
    for (uint64_t at = 0; at < r->bytes && good; ++at)
        if (!mask[at] && t->image[r->at + at] != t->after[r->at + at])
            good = wrong(result, "byte %llu of y, between results, was written", (unsigned long long)at);
    for (uint64_t at = 0; at < r->bytes && good && each == 4; at += 4)
        if (mask[at] && is_left(t->after + r->at + at))
            good = wrong(result, "result %llu was not written", (unsigned long long)(at / 4));
    free(mask);
    return good;
}

/* Of both launches: bits are the same, and of sums, none is left as it was. Decoded values are all
 * compared with what they must be. */
static bool all_written(const trial *t, qg_soak_result *result) {
    const bool nothing = t->c->rows == 0 || t->c->cols == 0;
    for (uint32_t i = t->inputs; i < t->inputs + t->outputs; ++i) {
        const region *a = &t->regions[i], *b = &t->regions[i + t->outputs];
        if (a->scratch) continue;
        if (memcmp(t->after + a->at, t->after + b->at, a->bytes) != 0) {
            uint64_t at = 0;
            while (t->after[a->at + at] == t->after[b->at + at]) ++at;
            return wrong(result, "result %llu of the second launch has other bits than that of the first",
                         (unsigned long long)(at / 4));
        }
        if (!t->c->family || !t->c->family->sums || a->status) continue;
        for (uint32_t k = 0; k < 2 && !nothing; ++k)
            if (!is_view_written(t, k ? b : a, result)) return false;
        if (nothing && !unchanged(t, a->at, a->at + a->bytes, "of the results of no columns", result)) return false;
    }
    return true;
}

/* A buffer of weights after both launches, and what it must be. */
static bool same_blocks(const trial *t, uint32_t i, const unsigned char *must, qg_soak_result *result) {
    const qg_buffer *buffer = &t->c->layout->buffers[i];
    const uint64_t first = t->c->offset * t->alignment, bytes = buffer_bytes(t, i);
    for (uint32_t n = 0; n < 2; ++n) {
        const unsigned char *is = t->made[n][i];
        uint64_t at = 0;
        if (memcmp(is, must, bytes) == 0) continue;
        while (is[at] == must[at]) ++at;
        if (at < first || at >= first + t->weight_bytes[i])
            return wrong(result, "byte %llu, %s the blocks of %s, was written", (unsigned long long)at,
                         at < first ? "before" : "behind", buffer->name);
        return wrong(result, "launch %u: byte %llu of block %llu of %s is 0x%02x, must be 0x%02x", n + 1,
                     (unsigned long long)((at - first) % buffer->bytes),
                     (unsigned long long)((at - first) / buffer->bytes), buffer->name, is[at], must[at]);
    }
    return true;
}

/* Blocks are those of the reference, and nothing else of the weights has changed. */
static bool encoded(qg_arena *arena, const trial *t, qg_soak_result *result) {
    unsigned char *must[QK_MAX_BINDINGS] = {NULL};
    void *blocks[QK_MAX_BINDINGS] = {NULL};
    bool good = true;
    for (uint32_t i = 0; i < t->n_weights && good; ++i) {
        must[i] = malloc(buffer_bytes(t, i));
        good = must[i] != NULL || wrong(result, "out of memory");
        if (!good) break;
        fill_weights(t, i, 0, buffer_bytes(t, i), must[i]);
        blocks[i] = must[i] + t->c->offset * t->alignment;
    }
    const char *why = good ? qg_soak_encode(arena, t->device->templates, &t->data, blocks) : NULL;
    if (why) good = wrong(result, "there is nothing to compare with: %s", why);
    for (uint32_t i = 0; i < t->n_weights && good; ++i) good = same_blocks(t, i, must[i], result);
    for (uint32_t i = 0; i < t->n_weights; ++i) free(must[i]);
    return good;
}

static bool right(qg_arena *arena, trial *t, qg_soak_result *result) {
    void *outputs[QG_MAX_PLAIN_BINDINGS] = {NULL};
    const bool nothing = t->c->rows == 0 || t->c->cols == 0;
    for (uint32_t i = 0; i < t->outputs; ++i) outputs[i] = t->after + t->regions[t->inputs + i].at;
    if (!only_results_changed(t, result) || !all_written(t, result)) return false;
    if (encodes(t->c) ? !encoded(arena, t, result) : !qg_soak_judge(arena, &t->data, outputs, result)) return false;
    if (t->outputs == 0 || !t->regions[t->inputs + t->outputs - 1].status) return true;
    uint32_t counted;
    memcpy(&counted, outputs[t->outputs - 1], 4);
    return counted == (nothing ? 0 : t->data.out_of_range) ||
           wrong(result, "the status word is %u, must be %u", counted, nothing ? 0 : t->data.out_of_range);
}

/* ---- all of it ---- */

static const qk_tuning *tuning_of(qg_arena *arena, const trial *t) {
    const qg_soak_case *c = t->c;
    qg_texts texts = {0}, pairs = {0};
    if (!*c->constants) return NULL;
    qg_split(arena, c->constants, &texts);
    for (uint32_t i = 0; i < texts.count; ++i) {
        char *text = qg_strndup(arena, texts.items[i], strlen(texts.items[i])), *colon = strchr(text, ':');
        if (colon) *colon = '=';
        QG_PUSH(arena, pairs.items, pairs.count, pairs.capacity, text);
    }
    qg_case at = {.layout = c->layout,
                  .family = c->family,
                  .rows = c->rows,
                  .cols = c->cols,
                  .batch = c->batch,
                  .experts = c->experts,
                  .slots = c->slots};
    if (qg_at_indices(c->family)) at.rows = c->batch; /* as many as there are tokens */
    return qg_tuning_with(arena, NULL, t->kernel, &at, &pairs);
}

/* Whether more is to be bound as a whole than a binding has: scratch memory; of experts all but the weights; and with
 * views, which may be of products that share weights, so is x, and y. */
static bool exceeds_binding(const trial *t) {
    for (uint32_t i = 0; i < t->count; ++i) {
        const region *r = &t->regions[i];
        const bool whole = r->scratch || t->data.views.given || (t->c->family && t->c->family->experts);
        if (whole && r->bytes + t->alignment > t->backend.limits.storage_range) return true;
    }
    return false;
}

/* What the device has no feature, or dispatch no room for, where constants, a limit or the size of
 * the case leave none. */
static bool may_refuse(const trial *t, qk_status status) {
    const qg_soak_case *c = t->c;
    const uint64_t elements = c->rows * c->cols * (c->experts ? c->experts : 1);
    const bool unusual = *c->constants || c->parts > 1 || elements > UINT64_C(1) << 26 || exceeds_binding(t);
    return status == QK_ERROR_UNSUPPORTED || (status == QK_ERROR_LIMIT && unusual) ||
           (status == QK_ERROR_ARGUMENT && *c->constants);
}

/* Modes that keep NaNs with signs of zeros, and subnormals, of floats that are encoded: without them, a device that
 * flushes makes other blocks than the reference. */
static bool lacks_modes(const qg_soak_case *c, const qk_vulkan_device *info) {
    const bool subnormal = c->x == QG_SOAK_SUBNORMAL || c->x == QG_SOAK_BITS;
    const bool nan = subnormal || c->x == QG_SOAK_INFINITE;
    return encodes(c) && ((nan && !info->keeps_nan_f32) || (subnormal && !info->keeps_subnormal_f32));
}

static void clean(trial *t) {
    for (uint32_t i = 0; i < 2 * QK_MAX_BINDINGS; ++i) free(t->made[i / QK_MAX_BINDINGS][i % QK_MAX_BINDINGS]);
    if (encodes(t->c)) drop_weights(t->device); /* others would find what it made */
    qk_vulkan_buffer_destroy(t->device->vk, t->rest);
    qg_soak_data_drop(&t->data);
    free(t->image);
    free(t->after);
}

void qg_soak_try(const qg_soak_device *device, const qg_soak_kernel *kernel, const qg_soak_case *c,
                 qg_soak_result *result) {
    qg_arena *arena = qg_arena_new();
    const qk_vulkan_device *info = qk_vulkan_info(device->vk);
    trial t = {.device = device, .c = c, .kernel = kernel->kernel, .backend = qk_vulkan_backend(device->vk)};
    t.data.most = device->most;
    t.data.lanes = info->subgroup_size;
    t.data.flushes = device->flushes;
    t.alignment = t.backend.limits.offset_alignment < 16 ? 16 : t.backend.limits.offset_alignment;
    *result = (qg_soak_result){.outcome = QG_SOAK_RIGHT};
    qk_status status = QK_OK;
    if (t.data.flushes && lacks_modes(c, info))
        status = qk_fail(&t.error, QK_ERROR_UNSUPPORTED,
                         "the device has no modes that keep NaNs and subnormals of f32: such floats make other blocks");
    t.backend.tuning = tuning_of(arena, &t);
    if (status == QK_OK && !qg_soak_data_make(arena, c, kernel->kernel, &t.data))
        status = qk_fail(&t.error, QK_ERROR_LIMIT, "out of memory");
    if (status == QK_OK && !make_regions(&t)) status = qk_fail(&t.error, QK_ERROR_LIMIT, "out of memory");
    if (status == QK_OK) status = make_buffers(&t);
    if (status == QK_OK) {
        lower_limits(&t);
        status = run(&t);
    }
    if (status == QK_OK) {
        right(arena, &t, result);
    } else {
        result->outcome = may_refuse(&t, status) ? QG_SOAK_REFUSED : QG_SOAK_WRONG;
        result->lost = status == QK_ERROR_DEVICE;
        snprintf(result->text, sizeof result->text, "%s", t.error.text);
    }
    clean(&t);
    qg_arena_free(arena);
}

/* Products of codes and scales, such as `x` says, which are compared bit for bit. */
static bool multiplies(const qg_soak_device *device, qg_soak_x x) {
    const qg_soak_case c = {.plain = qg_plain_named("qdq_forward", NULL),
                            .rows = 16,
                            .cols = 32,
                            .batch = 16,
                            .x = x,
                            .parts = 1,
                            .constants = "",
                            .views = ""};
    qg_soak_kernel kernel;
    qg_soak_result result = {.outcome = QG_SOAK_REFUSED};
    const char *why = NULL;
    if (qg_soak_compile(device, &c, &kernel, &why)) qg_soak_try(device, &kernel, &c, &result);
    qg_soak_forget(device, &kernel);
    return result.outcome == QG_SOAK_RIGHT;
}

bool qg_soak_flushes(const qg_soak_device *device) {
    const qk_vulkan_device *info = qk_vulkan_info(device->vk);
    if (info->type != QK_VULKAN_CPU) return true;
    return !info->keeps_subnormal_f32 && multiplies(device, QG_SOAK_GAUSSIAN) && !multiplies(device, QG_SOAK_SUBNORMAL);
}
