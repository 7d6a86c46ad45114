/* model_gguf: writes a model file (GGUF) of the shape of a known model, with random weights and without a vocabulary, for engines to be
 * measured with. Scales are such that a row of weights neither lets activations grow nor vanish, so that nothing overflows.
 *
 *     model_gguf MODEL FORMAT OUT [DATA]
 *
 * MODEL is one of the table below, FORMAT a format that has a number in GGUF, DATA the folder of formats/ (default: the current one). */
#include "cli/run_bench.h"
#include "spec/library.h"
#include "spec/value.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows of weights, a matrix in a layer after the other, make activations so much larger: f16 must not overflow. */
static const double MOST_LENGTH = 8;

enum { ALIGNMENT = 32, PROBE_ROWS = 16, MOST_SMALLER = 40, MOST_TENSORS = 2048 };

typedef struct shape {
    const char *name, *architecture;
    uint32_t layers, width, inner, heads, heads_kv, head, vocabulary, experts, used;
    float rope_base;
    bool norms_heads; /* queries and keys */
} shape;

/* As their authors' configurations have them; `small` ones are for tests. `inner` is that of one expert. */
static const shape shapes[] = {
    {"llama-3.1-8b", "llama", 32, 4096, 14336, 32, 8, 128, 128256, 0, 0, 500000, false},
    {"llama-3.2-1b", "llama", 16, 2048, 8192, 32, 8, 64, 128256, 0, 0, 500000, false},
    {"qwen3-8b", "qwen3", 36, 4096, 12288, 32, 8, 128, 151936, 0, 0, 1000000, true},
    {"qwen3-30b-a3b", "qwen3moe", 48, 2048, 768, 32, 4, 128, 151936, 128, 8, 1000000, true},
    {"qwen3-0.6b", "qwen3", 28, 1024, 3072, 16, 8, 128, 151936, 0, 0, 1000000, true},
    {"small", "llama", 2, 512, 1024, 4, 2, 128, 1024, 0, 0, 10000, false},
    {"small-moe", "qwen3moe", 2, 512, 256, 4, 2, 128, 1024, 8, 2, 10000, true},
};

/* A tensor: of the format, or of floats that are all `value`, or random ones. */
typedef struct tensor {
    char name[64];
    bool of_format, random;
    uint32_t dims;
    uint64_t dim[3]; /* innermost first */
    uint64_t bytes;
} tensor;

typedef struct file {
    FILE *to;
    const shape *shape;
    const qg_layout *layout;
    qg_stock stock;
    uint32_t type, count;
    tensor tensors[MOST_TENSORS];
} file;

static int fail(const char *text, const char *what) {
    fprintf(stderr, "model_gguf: error: %s: %s\n", what, text);
    return 1;
}

/* ---- tensors ---- */

static void add(file *f, const char *name, int layer, uint64_t cols, uint64_t rows, uint64_t experts, bool of_format) {
    tensor *t = &f->tensors[f->count++];
    memset(t, 0, sizeof *t);
    if (layer < 0)
        snprintf(t->name, sizeof t->name, "%s.weight", name);
    else
        snprintf(t->name, sizeof t->name, "blk.%d.%s.weight", layer, name);
    t->of_format = of_format;
    t->random = rows > 1;
    t->dims = experts > 0 ? 3 : rows > 1 ? 2 : 1;
    t->dim[0] = cols;
    t->dim[1] = rows;
    t->dim[2] = experts > 0 ? experts : 1;
    const uint64_t elements = cols * rows * t->dim[2];
    t->bytes = of_format ? elements / f->layout->elements * f->layout->buffers[0].bytes : elements * 4;
}

static void add_layer(file *f, int i) {
    const shape *s = f->shape;
    const uint64_t width = s->width, inner = s->inner, queries = (uint64_t)s->heads * s->head,
                   keys = (uint64_t)s->heads_kv * s->head;
    add(f, "attn_norm", i, width, 1, 0, false);
    add(f, "attn_q", i, width, queries, 0, true);
    add(f, "attn_k", i, width, keys, 0, true);
    add(f, "attn_v", i, width, keys, 0, true);
    add(f, "attn_output", i, queries, width, 0, true);
    if (s->norms_heads) {
        add(f, "attn_q_norm", i, s->head, 1, 0, false);
        add(f, "attn_k_norm", i, s->head, 1, 0, false);
    }
    add(f, "ffn_norm", i, width, 1, 0, false);
    if (s->experts > 0) add(f, "ffn_gate_inp", i, width, s->experts, 0, false);
    add(f, s->experts > 0 ? "ffn_gate_exps" : "ffn_gate", i, width, inner, s->experts, true);
    add(f, s->experts > 0 ? "ffn_up_exps" : "ffn_up", i, width, inner, s->experts, true);
    add(f, s->experts > 0 ? "ffn_down_exps" : "ffn_down", i, inner, width, s->experts, true);
}

static void add_all(file *f) {
    add(f, "token_embd", -1, f->shape->width, f->shape->vocabulary, 0, true);
    for (uint32_t i = 0; i < f->shape->layers; ++i) add_layer(f, (int)i);
    add(f, "output_norm", -1, f->shape->width, 1, 0, false);
    add(f, "output", -1, f->shape->width, f->shape->vocabulary, 0, true);
}

/* ---- weights ---- */

/* The root of the mean square of the first values of the pattern. */
static double rms(qg_arena *arena, const file *f, uint64_t cols) {
    const unsigned char *data[] = {f->stock.patterns[0]};
    const qg_tensor rows = {f->layout, PROBE_ROWS, cols, data, f->stock.periods, 0, NULL};
    float *values = QG_NEW_ARRAY(arena, float, cols);
    double sum = 0;
    for (uint64_t r = 0; r < PROBE_ROWS; ++r) {
        qg_values_of_row(arena, &rows, r, 0, cols, values);
        for (uint64_t c = 0; c < cols; ++c) sum += (double)values[c] * values[c];
    }
    return sqrt(sum / (double)(PROBE_ROWS * cols));
}

/* Makes scales smaller until rows of `width` weights have a length of 1, or scales cannot be smaller. */
static bool fill(qg_arena *arena, file *f) {
    const uint64_t cols = f->shape->width;
    double before = INFINITY;
    for (f->stock.smaller = 0;; ++f->stock.smaller) {
        if (!qg_stock_fill(&f->stock, f->layout, cols)) return false;
        const double length = rms(arena, f, cols) * sqrt((double)cols);
        if (length <= 1.42 || length >= before || f->stock.smaller == MOST_SMALLER) {
            fprintf(stderr, "model_gguf: rows of weights have a length of %.3g\n", length);
            return length < MOST_LENGTH || fail("its scales cannot be made small enough", f->layout->name) == 0;
        }
        before = length;
        qg_stock_drop(&f->stock);
    }
}

/* ---- the file ---- */

static void put(file *f, const void *data, size_t bytes) { fwrite(data, 1, bytes, f->to); }
static void put_u32(file *f, uint32_t value) { put(f, &value, sizeof value); }
static void put_u64(file *f, uint64_t value) { put(f, &value, sizeof value); }

static void put_text(file *f, const char *text) {
    put_u64(f, strlen(text));
    put(f, text, strlen(text));
}

enum { GGUF_U32 = 4, GGUF_F32 = 6, GGUF_TEXT = 8, KEYS = 17 };

static void key(file *f, const char *name, uint32_t type) {
    char text[96];
    snprintf(text, sizeof text, "%s%s%s", name[0] == '.' ? f->shape->architecture : "", name, "");
    put_text(f, text);
    put_u32(f, type);
}

static void key_u32(file *f, const char *name, uint32_t value) {
    key(f, name, GGUF_U32);
    put_u32(f, value);
}

static void key_f32(file *f, const char *name, float value) {
    key(f, name, GGUF_F32);
    put(f, &value, sizeof value);
}

static void key_text(file *f, const char *name, const char *value) {
    key(f, name, GGUF_TEXT);
    put_text(f, value);
}

static void put_keys(file *f) {
    const shape *s = f->shape;
    key_text(f, "general.architecture", s->architecture);
    key_text(f, "general.name", s->name);
    key_text(f, "tokenizer.ggml.model", "none");
    key_u32(f, ".vocab_size", s->vocabulary);
    key_u32(f, ".context_length", 8192);
    key_u32(f, ".embedding_length", s->width);
    key_u32(f, ".block_count", s->layers);
    key_u32(f, ".feed_forward_length", s->inner);
    key_u32(f, ".attention.head_count", s->heads);
    key_u32(f, ".attention.head_count_kv", s->heads_kv);
    key_u32(f, ".attention.key_length", s->head);
    key_u32(f, ".attention.value_length", s->head);
    key_f32(f, ".attention.layer_norm_rms_epsilon", 1e-6f);
    key_f32(f, ".rope.freq_base", s->rope_base);
    key_u32(f, ".rope.dimension_count", s->head);
    key_u32(f, "general.file_type", 0);
    key_u32(f, "general.alignment", ALIGNMENT);
    if (s->experts == 0) return;
    key_u32(f, ".expert_count", s->experts);
    key_u32(f, ".expert_used_count", s->used);
    key_u32(f, ".expert_feed_forward_length", s->inner);
}

static void put_head(file *f) {
    uint64_t offset = 0;
    put(f, "GGUF", 4);
    put_u32(f, 3);
    put_u64(f, f->count);
    put_u64(f, KEYS + (f->shape->experts > 0 ? 3 : 0));
    put_keys(f);
    for (uint32_t i = 0; i < f->count; ++i) {
        const tensor *t = &f->tensors[i];
        put_text(f, t->name);
        put_u32(f, t->dims);
        for (uint32_t d = 0; d < t->dims; ++d) put_u64(f, t->dim[d]);
        put_u32(f, t->of_format ? f->type : 0);
        put_u64(f, offset);
        offset += (t->bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
}

static void put_floats(file *f, const tensor *t) {
    uint32_t state = 1;
    for (uint64_t i = 0; i < t->bytes / 4; ++i) {
        state = state * 1664525u + 1013904223u;
        const float random = ((float)(state >> 8) / 8388608.0f - 1.0f) / sqrtf((float)t->dim[0] / 3);
        put(f, t->random ? &random : &(const float){1.0f}, 4);
    }
}

/* The pattern from some block on, again and again. */
static void put_blocks(file *f, const tensor *t, uint32_t number) {
    const uint64_t period = f->stock.periods[0], bytes = f->layout->buffers[0].bytes;
    uint64_t at = number * UINT64_C(7919) % (period / bytes) * bytes;
    for (uint64_t left = t->bytes, n; left > 0; left -= n, at = 0) {
        n = period - at < left ? period - at : left;
        put(f, f->stock.patterns[0] + at, n);
    }
}

static void put_data(file *f) {
    static const char zeros[ALIGNMENT];
    const long at = ftell(f->to);
    put(f, zeros, (size_t)(-at & (ALIGNMENT - 1)));
    for (uint32_t i = 0; i < f->count; ++i) {
        const tensor *t = &f->tensors[i];
        if (t->of_format)
            put_blocks(f, t, i);
        else
            put_floats(f, t);
        put(f, zeros, (size_t)(-t->bytes & (ALIGNMENT - 1)));
    }
}

/* ---- arguments ---- */

static bool type_of(const char *data, const char *format, uint32_t *type) {
    char path[4096], line[256], name[64];
    snprintf(path, sizeof path, "%s/formats/containers.txt", data);
    FILE *rules = fopen(path, "r");
    bool found = false;
    while (rules && !found && fgets(line, sizeof line, rules))
        found = sscanf(line, "gguf %" SCNu32 " %63s", type, name) == 2 && strcmp(name, format) == 0;
    if (rules) fclose(rules);
    return found;
}

static int write_model(qg_arena *arena, file *f, const char *path) {
    const uint32_t block = f->layout->elements;
    if (f->shape->width % block != 0 || f->shape->inner % block != 0)
        return fail("its rows are no multiples of the format's block", f->shape->name);
    add_all(f);
    if (!fill(arena, f)) return 1;
    f->to = fopen(path, "wb");
    if (!f->to) return fail("cannot be written", path);
    put_head(f);
    put_data(f);
    const bool failed = ferror(f->to) != 0;
    if (fclose(f->to) != 0 || failed) {
        remove(path);
        return fail("cannot be written; is the disk full?", path);
    }
    qg_stock_drop(&f->stock);
    return 0;
}

int main(int argc, char **argv) {
    static file f;
    char folder[4096];
    if (argc < 4 || argc > 5) {
        fprintf(stderr, "usage: model_gguf MODEL FORMAT OUT [DATA]\nmodels:");
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; ++i) fprintf(stderr, " %s", shapes[i].name);
        fprintf(stderr, "\n");
        return 1;
    }
    const char *data = argc > 4 ? argv[4] : ".";
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; ++i)
        if (strcmp(shapes[i].name, argv[1]) == 0) f.shape = &shapes[i];
    if (!f.shape) return fail("is no model that is known; without arguments, model_gguf lists them", argv[1]);
    qg_arena *arena = qg_arena_new();
    qg_library *library = qg_library_new(arena, false);
    snprintf(folder, sizeof folder, "%s/formats", data);
    if (!qg_library_add_folder(library, folder)) return fail("has no specifications, or some with errors", folder);
    f.layout = qg_library_find(library, argv[2]);
    if (!f.layout || f.layout->n_buffers != 1 || !type_of(data, argv[2], &f.type))
        return fail("is no format that GGUF has a number for", argv[2]);
    return write_model(arena, &f, argv[3]);
}
