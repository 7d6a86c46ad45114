/* Containers, whole and hostile: what the readers say of a file that is wrong, and that thousands of damaged ones end in a
 * sentence, not in a crash. Run it under the sanitizers. */
#include "build/family.h"
#include "files/container.h"

#include <qkgen/dispatch.h>

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static qg_arena *kept; /* formats and rules: read once */
static qg_library *library;
static qg_rules *rules;
static const qk_kernel **kernels; /* of each format, made when it is first asked for */

static const char *in_source(const char *path) {
    const char *source = getenv("SOURCE");
    return qg_format(kept, "%s/%s", source ? source : ".", path);
}

static int load(void **state) {
    (void)state;
    kept = qg_arena_new();
    library = qg_library_new(kept, false);
    rules = qg_rules_new(kept);
    qg_library_add_folder(library, in_source("formats"));
    kernels = QG_NEW_ARRAY(kept, const qk_kernel *, library->layouts.count + 1);
    const char *why = qg_rules_add(rules, in_source("formats/containers.txt"));
    if (why) fprintf(stderr, "%s\n", why);
    return why || library->layouts.count == 0 ? -1 : 0;
}

static int unload(void **state) {
    (void)state;
    qg_arena_free(kept);
    return 0;
}

/* ---- reading one file ---- */

static const qk_kernel *kernel_of(const qg_layout *layout) {
    uint32_t i = 0;
    while (library->layouts.items[i] != layout) i += 1;
    if (!kernels[i]) {
        const qg_kernel kernel = qg_kernel_new(kept, layout, &qg_families[0], QG_F32, NULL);
        kernels[i] = qg_describe(kept, &kernel, QK_API_VULKAN, NULL);
    }
    return kernels[i];
}

/* Bytes of a buffer, as the dispatch of the kernels counts them. */
static uint64_t buffer_bytes(const qg_weight *w, uint32_t buffer) {
    const uint64_t flat = w->elements / w->layout->elements * w->layout->buffers[buffer].bytes;
    if (w->layout->view == QG_VIEW_BLOCKS) return flat;
    assert_true(w->rows && w->cols && w->rows * w->cols == w->elements && w->elements <= UINT32_MAX);
    return qk_weight_bytes(kernel_of(w->layout), buffer, w->rows, w->cols);
}

/* What the weights point to must be there: the sanitizers see it when it is not. */
static unsigned touch(const qg_weights *weights) {
    unsigned sum = 0;
    for (uint32_t i = 0; i < weights->count; ++i) {
        const qg_weight *w = &weights->items[i];
        assert_non_null(w->name);
        assert_non_null(w->format);
        if (!w->layout && w->plain != QG_SCALAR_COUNT && w->bytes) {
            const uint8_t *data = w->data[0];
            sum += data[0] + data[w->bytes - 1];
        }
        uint64_t bytes = 0;
        for (uint32_t b = 0; w->layout && w->elements && b < w->layout->n_buffers; ++b) {
            const uint8_t *data = w->data[b];
            const uint64_t size = buffer_bytes(w, b);
            assert_true(size > 0);
            sum += data[0] + data[size - 1];
            bytes += size;
        }
        if (w->layout && w->elements) assert_int_equal(bytes, w->bytes);
        assert_true(!w->problem == !w->verdict && !(w->problem && w->layout));
    }
    return sum;
}

/* Reads a copy that ends where its memory ends. The answer lives in `arena`. */
static const char *read_with(qg_arena *arena, const uint8_t *file, size_t length, const qg_settings *said,
                             qg_weights *weights) {
    const qg_settings none = {0};
    uint8_t *copy = malloc(length ? length : 1);
    assert_non_null(copy);
    if (length) memcpy(copy, file, length);
    qg_container container;
    const char *why = qg_container_read(arena, copy, length, &container);
    if (!why) why = qg_container_map(arena, &container, rules, library, said, &none, weights);
    if (why && (strncmp(why, "byte ", 5) != 0 || !strstr(why, ": ") || !strchr(why, ';')))
        fail_msg("no place or no remedy: %s", why);
    if (!why) touch(weights);
    free(copy);
    return why;
}

static const char *read_copy(qg_arena *arena, const uint8_t *file, size_t length, qg_weights *weights) {
    const qg_settings none = {0};
    return read_with(arena, file, length, &none, weights);
}

/* True when the file is refused. */
static bool refused(const uint8_t *file, size_t length) {
    qg_arena *arena = qg_arena_new();
    qg_weights weights = {0};
    const bool bad = read_copy(arena, file, length, &weights) != NULL;
    qg_arena_free(arena);
    return bad;
}

static void expect(const uint8_t *file, size_t length, const char *said) {
    qg_arena *arena = qg_arena_new();
    qg_weights weights = {0};
    const char *why = read_copy(arena, file, length, &weights);
    if ((said == NULL) != (why == NULL) || (said && !strstr(why, said)))
        fail_msg("expected '%s', and got '%s'", said ? said : "no error", why ? why : "no error");
    qg_arena_free(arena);
}

/* ---- making files ---- */

typedef struct bytes {
    size_t length;
    uint8_t data[16384];
} bytes;

static void put(bytes *b, uint64_t value, unsigned count) {
    assert_true(b->length + count <= sizeof b->data);
    for (unsigned i = 0; i < count; ++i) b->data[b->length++] = (uint8_t)(value >> (8 * i));
}

static void put_text(bytes *b, const char *text) {
    put(b, strlen(text), 8);
    for (; *text; ++text) put(b, (unsigned char)*text, 1);
}

static void put_zeros(bytes *b, size_t count) {
    while (count--) put(b, 0, 1);
}

static void put_tensor(bytes *b, const char *name, uint64_t rows, uint64_t columns, uint32_t type, uint64_t offset) {
    put_text(b, name);
    put(b, 2, 4);
    put(b, columns, 8);
    put(b, rows, 8);
    put(b, type, 4);
    put(b, offset, 8);
}

enum { F32 = 0, F16 = 1, BLOCKS = 2 /* 32 elements in 18 bytes */, STRANGER = 1000 };
enum { U32 = 4, TEXT = 8, ARRAY = 9, U64 = 10 };

static void put_header(bytes *b, uint32_t version, uint64_t tensors, uint64_t pairs) {
    put(b, 0x46554747, 4);
    put(b, version, 4);
    put(b, tensors, 8);
    put(b, pairs, 8);
}

/* Metadata of every kind; then three tensors, in another order than their data. */
static size_t make_gguf(bytes *b, uint32_t version) {
    *b = (bytes){0};
    put_header(b, version, 3, 4);
    put_text(b, "general.alignment");
    put(b, U32, 4);
    put(b, 64, 4);
    put_text(b, "name");
    put(b, TEXT, 4);
    put_text(b, "small");
    put_text(b, "tokens");
    put(b, ARRAY, 4);
    put(b, TEXT, 4);
    put(b, 2, 8);
    put_text(b, "a");
    put_text(b, "bc");
    put_text(b, "nested");
    put(b, ARRAY, 4);
    put(b, ARRAY, 4);
    put(b, 1, 8);
    put(b, U64, 4);
    put(b, 2, 8);
    put_zeros(b, 16);
    put_tensor(b, "second", 2, 32, BLOCKS, 64);
    put_tensor(b, "first", 1, 8, F32, 0);
    put_tensor(b, "third", 1, 8, STRANGER, 128);
    const size_t header = b->length;
    put_zeros(b, (64 - b->length % 64) % 64 + 128 + 36);
    return header;
}

static void make_safetensors(bytes *b, const char *header, size_t data) {
    *b = (bytes){0};
    put_text(b, header);
    put_zeros(b, data);
}

#define SET                                                                                                            \
    "\"x.weight\":{\"dtype\":\"U32\",\"shape\":[2,5],\"data_offsets\":[0,40]},"                                        \
    "\"x.scales\":{\"dtype\":\"F16\",\"shape\":[2,1],\"data_offsets\":[40,44]},"                                       \
    "\"x.biases\":{\"dtype\":\"F16\",\"shape\":[2,1],\"data_offsets\":[44,48]}"
static const char small[] = "{\"__metadata__\":{\"format\":\"pt\"}," SET
                            ",\"y\":{\"dtype\":\"BF16\",\"shape\":[3],\"data_offsets\":[48,54]}}  ";

/* ---- checkpoints ---- */

enum { MOST_DIMS = 4 };

typedef struct part {
    const char *name, *type;
    uint32_t size; /* of an element */
    uint32_t n_dims;
    uint64_t dims[MOST_DIMS];
    const char *data; /* NULL: zeros */
} part;

static const char state_text[] = "{\"quant_type\":\"nf4\",\"blocksize\":64,\"shape\":[3,21]}";

/* A weight of each kind that has a layout of its own. */
static const part checkpoint[] = {
    {"b.weight.quant_state.bitsandbytes__nf4", "U8", 1, 1, {sizeof state_text - 1}, state_text},
    {"b.weight", "U8", 1, 2, {32, 1}, NULL},
    {"b.weight.absmax", "F32", 4, 1, {1}, NULL},
    {"b.weight.quant_map", "F32", 4, 1, {16}, NULL},
    {"h.W_q", "U8", 1, 2, {1, 64}, NULL},
    {"h.scale", "F16", 2, 2, {2, 1}, NULL},
    {"h.zero", "F16", 2, 2, {2, 1}, NULL},
    {"h.shape", "I64", 8, 1, {2}, "\4\0\0\0\0\0\0\0\40\0\0\0\0\0\0"},
    {"h.nbits", "I32", 4, 0, {0}, "\4\0\0"},
    {"g.qweight", "I32", 4, 2, {8, 32}, NULL},
    {"g.qzeros", "I32", 4, 2, {2, 4}, NULL},
    {"g.scales", "F16", 2, 2, {2, 32}, NULL},
    {"g.g_idx", "I32", 4, 1, {64}, NULL},
    {"r.qweight", "I32", 4, 2, {10, 32}, NULL}, /* 80 columns: the last group is cut off */
    {"r.qzeros", "I32", 4, 2, {2, 4}, NULL},
    {"r.scales", "F16", 2, 2, {2, 32}, NULL},
    {"a.qweight", "I32", 4, 2, {64, 2}, NULL},
    {"a.qzeros", "I32", 4, 2, {2, 2}, NULL},
    {"a.scales", "F16", 2, 2, {2, 16}, NULL},
    {"c.weight_packed", "I32", 4, 2, {10, 8}, NULL},
    {"c.weight_scale", "BF16", 2, 2, {10, 2}, NULL},
    {"c.weight_zero_point", "I32", 4, 2, {2, 2}, NULL},
    {"c.weight_shape", "I64", 8, 1, {2}, "\12\0\0\0\0\0\0\0\100\0\0\0\0\0\0"},
    {"x_blocks", "U8", 1, 4, {2, 3, 2, 16}, NULL},
    {"x_scales", "U8", 1, 3, {2, 3, 2}, NULL},
    {"n.weight", "U8", 1, 2, {3, 16}, NULL},
    {"n.weight_scale", "F8_E4M3", 1, 2, {3, 2}, NULL},
    {"n.weight_scale_2", "F32", 4, 0, {0}, NULL},
    {"t.weight", "F8_E4M3", 1, 2, {3, 130}, NULL},
    {"t.weight_scale_inv", "F32", 4, 2, {1, 2}, NULL},
    {"f.weight", "F8_E4M3", 1, 2, {3, 5}, NULL},
    {"f.weight_scale", "F32", 4, 2, {3, 1}, NULL},
    {"w.weight", "F8_E4M3", 1, 2, {3, 5}, NULL},
    {"w.weight_scale", "F32", 4, 0, {0}, NULL},
    {"i.weight", "I8", 1, 2, {3, 5}, NULL},
    {"i.weight_scale", "BF16", 2, 2, {3, 1}, NULL},
};
enum { N_PARTS = sizeof checkpoint / sizeof *checkpoint, N_WEIGHTS = 11 };

static uint64_t part_bytes(const part *p) {
    uint64_t bytes = p->size;
    for (uint32_t d = 0; d < p->n_dims; ++d) bytes *= p->dims[d];
    return bytes;
}

/* Writes what has a name. Returns the length of the header and of the data that tells about weights. */
static size_t make_checkpoint(bytes *b, const part *parts) {
    qg_arena *arena = qg_arena_new();
    qg_text header = qg_text_new(arena);
    uint64_t at = 0;
    for (uint32_t i = 0; i < N_PARTS; ++i) {
        const part *p = &parts[i];
        if (!p->name) continue;
        qg_text_printf(&header, "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[", at ? "," : "{", p->name, p->type);
        for (uint32_t d = 0; d < p->n_dims; ++d)
            qg_text_printf(&header, "%s%llu", d ? "," : "", (unsigned long long)p->dims[d]);
        qg_text_printf(&header, "],\"data_offsets\":[%llu,", (unsigned long long)at);
        at += part_bytes(p);
        qg_text_printf(&header, "%llu]}", (unsigned long long)at);
    }
    qg_text_puts(&header, at ? "}" : "{}");
    *b = (bytes){0};
    put_text(b, header.data);
    const size_t told = b->length + sizeof state_text - 1;
    for (uint32_t i = 0; i < N_PARTS; ++i)
        for (uint64_t k = 0; parts[i].name && k < part_bytes(&parts[i]); ++k)
            put(b, parts[i].data ? (unsigned char)parts[i].data[k] : 0, 1);
    qg_arena_free(arena);
    return told;
}

/* ---- tests ---- */

static void whole_files(void **state) {
    (void)state;
    bytes b;
    for (uint32_t version = 2; version <= 3; ++version) {
        make_gguf(&b, version);
        expect(b.data, b.length, NULL);
    }
    make_safetensors(&b, small, 54);
    expect(b.data, b.length, NULL);
    make_safetensors(&b, "{}", 0);
    expect(b.data, b.length, NULL);
    b = (bytes){0};
    put_header(&b, 3, 0, 0);
    expect(b.data, b.length, NULL);
}

static void weights_of_a_set(void **state) {
    (void)state;
    bytes b;
    qg_arena *arena = qg_arena_new();
    qg_weights weights = {0};
    make_safetensors(&b, small, 54);
    assert_null(read_copy(arena, b.data, b.length, &weights));
    assert_int_equal(weights.count, 2);
    assert_string_equal(weights.items[0].name, "x.weight");
    assert_string_equal(weights.items[0].stem, "x");
    assert_non_null(weights.items[0].layout);
    assert_int_equal(weights.items[0].layout->n_buffers, 3);
    assert_int_equal(weights.items[0].elements, 64); /* 5 bits, groups of 32: nothing else has these shapes */
    assert_int_equal(weights.items[0].dims[1], 32);
    assert_int_equal(weights.items[1].plain, QG_BF16);
    qg_arena_free(arena);
}

static void weights_of_a_checkpoint(void **state) {
    (void)state;
    static const struct {
        const char *stem, *format;
        uint64_t rows, cols;
    } expected[N_WEIGHTS] = {
        {"b", "nf4_b64", 3, 21},         {"h", "hqq_b4_g64", 4, 32},  {"g", "gptq_v1_b4_g32_act", 32, 64},
        {"r", "gptq_v1_b4_g64", 32, 80}, {"a", "awq_b4_g32", 16, 64}, {"c", "ct_b4_zp_g32", 10, 64},
        {"x", "mx_fp4", 0, 0},           {"n", "nvfp4_ckpt", 3, 32},  {"t", "fp8_block", 3, 130},
        {"f", "fp8_channel", 3, 5},      {"w", "fp8_tensor", 3, 5},
    };
    bytes b;
    qg_arena *arena = qg_arena_new();
    qg_weights weights = {0};
    make_checkpoint(&b, checkpoint);
    assert_null(read_copy(arena, b.data, b.length, &weights));
    assert_int_equal(weights.count, N_WEIGHTS + 1);
    for (uint32_t i = 0; i < N_WEIGHTS; ++i) {
        const qg_weight *w = &weights.items[i];
        assert_string_equal(w->stem, expected[i].stem);
        assert_string_equal(w->format, expected[i].format);
        assert_int_equal(w->rows, expected[i].rows);
        assert_int_equal(w->cols, expected[i].cols);
    }
    const qg_weight *experts = &weights.items[6];
    assert_int_equal(experts->n_dims, 3);
    assert_int_equal(experts->dims[1], 3);
    assert_int_equal(experts->dims[2], 64);
    assert_string_equal(weights.items[N_WEIGHTS].format, "int8_channel");
    qg_arena_free(arena);
}

/* Files with one value changed: where it is, what takes its place, and what is said. */
static void hostile_gguf(void **state) {
    (void)state;
    bytes b;
    const size_t header = make_gguf(&b, 3), third = header - (8 + 5 + 4 + 16 + 4 + 8),
                 first = third - (8 + 5 + 4 + 16 + 4 + 8), second = first - (8 + 6 + 4 + 16 + 4 + 8);
    const struct {
        size_t at;
        uint64_t value;
        unsigned count;
        const char *said;
    } changes[] = {
        {4, 1, 4, "byte 4: the file has version 1"},
        {4, 0x03000000, 4, "big-endian"},
        {8, (uint64_t)1 << 60, 8, "byte 8: the file claims 1152921504606846976 tensors"},
        {8, UINT64_MAX, 8, "tensors, for which it is too short"},
        {16, (uint64_t)1 << 60, 8, "metadata values, for which it is too short"},
        {24, UINT64_MAX, 8, "byte 24: a key is 18446744073709551615 bytes long"},
        {24, UINT64_MAX - 31, 8, "a key is"},
        {24 + 25, 13, 4, "unknown type 13"},
        {24 + 25, 5, 4, "the alignment must be a u32"},
        {24 + 29, 0, 4, "must be a power of two"},
        {24 + 29, 48, 4, "must be a power of two"},
        {24 + 29, 0x80000000u, 4, "after the end of the file"},
        {second, (uint64_t)1 << 62, 8, "the name of a tensor is"},
        {second + 14, 5, 4, "has 5 dimensions"},
        {second + 14, UINT32_MAX, 4, "dimensions"},
        {second + 18, (uint64_t)1 << 63, 8, "more than 2^63 elements"},
        {second + 18, 33, 8, "rows of 33 elements"},
        {second + 26, (uint64_t)1 << 57, 8, "do not fit in the"},
        {second + 26, 4, 8, "do not fit in the"},
        {second + 34, F16, 4, "do not fit in the"},
        {second + 38, 63, 8, "no multiple of 64"},
        {second + 38, (uint64_t)1 << 40, 8, "after the end of the file"},
        {second + 38, UINT64_MAX - 63, 8, "after the end of the file"},
        {second + 38, 128, 8, "do not fit in the 0 bytes"}, /* on another tensor */
        {first + 37, 64, 8, "do not fit in the 0 bytes"},
        {third + 8, 'f', 1, NULL},
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; ++i) {
        make_gguf(&b, 3);
        for (unsigned k = 0; k < changes[i].count; ++k)
            b.data[changes[i].at + k] = (uint8_t)(changes[i].value >> (8 * k));
        expect(b.data, b.length, changes[i].said);
    }
}

static void hostile_gguf_structure(void **state) {
    (void)state;
    bytes b = {0};
    put_header(&b, 3, 0, 1);
    put_text(&b, "deep");
    put(&b, ARRAY, 4);
    for (int i = 0; i < 100; ++i) {
        put(&b, ARRAY, 4);
        put(&b, 1, 8);
    }
    expect(b.data, b.length, "nested deeper than");

    b = (bytes){0};
    put_header(&b, 3, 0, 1);
    put_text(&b, "long");
    put(&b, ARRAY, 4);
    put(&b, U64, 4);
    put(&b, (uint64_t)1 << 61, 8);
    put_zeros(&b, 64);
    expect(b.data, b.length, "an array has 2305843009213693952 values");

    b = (bytes){0};
    put_header(&b, 3, 2, 0);
    put_tensor(&b, "same", 1, 8, F32, 0);
    put_tensor(&b, "same", 1, 8, F32, 32);
    put_zeros(&b, 128);
    expect(b.data, b.length, "a second tensor is named 'same', after the one at byte 24");

    b = (bytes){0};
    put_header(&b, 3, 1, 0);
    put_tensor(&b, "\x1b[2J\n", 1, 8, F32, 32 << 20);
    put_zeros(&b, 128);
    expect(b.data, b.length, "'\\x1B[2J\\x0A'");

    b = (bytes){0};
    put_header(&b, 3, 0, 2);
    for (int i = 0; i < 2; ++i) {
        put_text(&b, "general.alignment");
        put(&b, U32, 4);
        put(&b, 32, 4);
    }
    expect(b.data, b.length, "stated twice");
}

#define ENTRY(dtype, shape, offsets) "{\"a\":{\"dtype\":" dtype ",\"shape\":" shape ",\"data_offsets\":" offsets "}}"

static void hostile_safetensors(void **state) {
    (void)state;
    static const struct {
        const char *header, *said;
    } files[] = {
        {ENTRY("\"F32\"", "[2]", "[0,8]"), NULL},
        {ENTRY("\"NEW\"", "[2]", "[0,5]"), NULL},
        {ENTRY("\"F32\"", "[]", "[0,4]"), NULL},
        {ENTRY("\"F32\"", "[0]", "[0,0]"), NULL},
        {"{", "no valid JSON"},
        {"{}x", "byte 10: the header is no valid JSON"},
        {"{\"a\":1}", "must be an object"},
        {"{\"a\":[]}", "must be an object"},
        {"{\"a\":{}}", "no text named dtype"},
        {ENTRY("4", "[2]", "[0,8]"), "no text named dtype"},
        {ENTRY("\"F32\"", "2", "[0,8]"), "byte 9: the tensor 'a' has no array named shape"},
        {ENTRY("\"F32\"", "[-2]", "[0,8]"), "must be whole numbers"},
        {ENTRY("\"F32\"", "[2.5]", "[0,8]"), "must be whole numbers"},
        {ENTRY("\"F32\"", "[1e300]", "[0,8]"), "must be whole numbers"},
        {ENTRY("\"F32\"", "[\"2\"]", "[0,8]"), "must be whole numbers"},
        {ENTRY("\"F32\"", "[4294967296,4294967296]", "[0,8]"), "2^63 elements"},
        {ENTRY("\"F32\"", "[1,1,1,1,1,1,1,1,1]", "[0,4]"), "more than 8 dimensions"},
        {ENTRY("\"F32\"", "[4611686018427387904]", "[0,0]"), "up to 2^53"},
        {ENTRY("\"F32\"", "[4503599627370496,1024]", "[0,0]"), "do not take the"},
        {ENTRY("\"F32\"", "[0,4503599627370496]", "[0,8]"), "do not take the"},
        {ENTRY("\"F32\"", "[3]", "[0,8]"), "do not take the"},
        {ENTRY("\"F32\"", "[2]", "[8,0]"), "ends at 0, before its start"},
        {ENTRY("\"F32\"", "[2]", "[60,68]"), "ends at 68, after the 64 bytes"},
        {ENTRY("\"F32\"", "[2]", "[0,9007199254740992]"), "after the 64 bytes"},
        {ENTRY("\"F32\"", "[2]", "[0,18446744073709551615]"), "must be two whole numbers"},
        {ENTRY("\"F32\"", "[2]", "[0,8,16]"), "must be two whole numbers"},
        {ENTRY("\"F32\"", "[2]", "[0]"), "must be two whole numbers"},
        {ENTRY("\"F32\"", "[2]", "{}"), "must be two whole numbers"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},"
         "\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[2,4]}}",
         "a second tensor is named 'a'"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]},"
         "\"b\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[3,7]}}",
         "the data of the tensors 'a' and 'b' overlaps"},
        {"{\"\\u0061\\n\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]}}", NULL},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; ++i) {
        bytes b;
        make_safetensors(&b, files[i].header, 64);
        expect(b.data, b.length, files[i].said);
    }
    bytes b;
    make_safetensors(&b, "{}", 64);
    memset(b.data, 0xFF, 8);
    expect(b.data, b.length, "byte 0: the header is 18446744073709551615 bytes long");
    make_safetensors(&b, "{}", 0);
    b.data[0] = 3;
    expect(b.data, b.length, "the header is 3 bytes long");
    expect(b.data, 0, "neither GGUF nor safetensors");
}

/* Much JSON: deep, and with more values than memory should be spent on. */
static void large_headers(void **state) {
    (void)state;
    const size_t length = (size_t)8 << 20;
    uint8_t *file = malloc(length + 8);
    assert_non_null(file);
    for (int i = 0; i < 8; ++i) file[i] = (uint8_t)(length >> (8 * i));
    memset(file + 8, '[', length);
    file[8] = '{';
    expect(file, length + 8, "too many values");
    for (size_t i = 8; i + 2 <= length; i += 2) memcpy(file + i, "0,", 2);
    memcpy(file + 8, "{\"a\":[", 6);
    expect(file, length + 8, "too many values");
    const size_t few = 20000;
    for (int i = 0; i < 8; ++i) file[i] = (uint8_t)(few >> (8 * i));
    memset(file + 8, '[', few);
    memcpy(file + 8, "{\"a\":", 5);
    expect(file, few + 8, "no valid JSON");
    free(file);
}

static void cut_short(void **state) {
    (void)state;
    bytes b;
    for (uint32_t version = 2; version <= 3; ++version) {
        const size_t header = make_gguf(&b, version);
        for (size_t length = 0; length < b.length; ++length) {
            const bool bad = refused(b.data, length);
            if (length <= header && !bad) fail_msg("GGUF %u cut to %zu bytes is taken", version, length);
        }
    }
    make_safetensors(&b, small, 54);
    for (size_t length = 0; length < b.length; ++length)
        if (!refused(b.data, length)) fail_msg("safetensors cut to %zu bytes is taken", length);
}

/* ---- mutations ---- */

static uint64_t random_state;

static uint64_t next_random(void) {
    random_state += 0x9E3779B97F4A7C15u;
    uint64_t x = random_state;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

/* Changes up to four places of the first `header` bytes: a bit, a byte, a number, a run of bytes from elsewhere. */
static size_t mutate(uint8_t *file, size_t length, size_t header) {
    static const uint64_t numbers[] = {0,        1,          2,         0x7F,           0xFF,       0xFFFF,
                                       1u << 31, UINT32_MAX, INT64_MAX, UINT64_MAX - 7, UINT64_MAX, (uint64_t)1 << 60};
    static const char json[] = "{}[]\",:\\0-9eE.tn \x01\xFF";
    for (uint64_t n = 1 + next_random() % 4; n-- > 0;) {
        const size_t at = next_random() % header;
        size_t count = 1 + next_random() % 16;
        uint64_t number = numbers[next_random() % (sizeof numbers / sizeof *numbers)];
        switch (next_random() % 6) {
        case 0: file[at] ^= (uint8_t)(1u << (next_random() % 8)); break;
        case 1: file[at] = (uint8_t)next_random(); break;
        case 2:
            for (size_t i = at; i < header && i < at + 8; ++i, number >>= 8) file[i] = (uint8_t)number;
            break;
        case 3: file[at] = (uint8_t)json[next_random() % (sizeof json - 1)]; break;
        case 4:
            if (count > header - at) count = header - at;
            memmove(file + at, file + next_random() % (header - count + 1), count);
            break;
        default: file[at] = (uint8_t)(file[at] + 1 - 2 * (next_random() & 1)); break;
        }
    }
    return next_random() % 8 ? length : next_random() % (length + 1);
}

static unsigned mutations(const uint8_t *file, size_t length, size_t header, unsigned count) {
    uint8_t *copy = malloc(length);
    unsigned bad = 0;
    assert_non_null(copy);
    for (unsigned i = 0; i < count; ++i) {
        memcpy(copy, file, length);
        const size_t left = mutate(copy, length, header);
        bad += refused(copy, left);
    }
    free(copy);
    return bad;
}

static void mutated(void **state) {
    (void)state;
    bytes b;
    random_state = 1;
    const size_t header = make_gguf(&b, 3);
    unsigned bad = mutations(b.data, b.length, header, 4000);
    make_safetensors(&b, small, 54);
    const unsigned also = mutations(b.data, b.length, sizeof small + 7, 4000);
    print_message("of 8000 mutations, %u are refused\n", bad + also);
    assert_true(bad > 1000 && also > 1000);
}

static void mutated_models(void **state) {
    (void)state;
    static const struct {
        const char *path;
        size_t header;
    } models[] = {{"tests/models/all_types.gguf", 1616}, {"tests/models/named.safetensors", 3000}};
    random_state = 2;
    for (size_t i = 0; i < sizeof models / sizeof *models; ++i) {
        size_t length;
        const char *why = NULL;
        const char *file = qg_read_file(kept, in_source(models[i].path), (size_t)1 << 24, &length, &why);
        assert_non_null(file);
        assert_true(length > models[i].header);
        expect((const uint8_t *)file, length, NULL);
        assert_true(mutations((const uint8_t *)file, length, models[i].header, 600) > 100);
    }
}

/* Whole files, of tensors that are others: shapes, types and names change, and what is told of weights. */
static void change_part(part *p) {
    static const struct {
        const char *name;
        uint32_t size;
    } types[] = {{"I32", 4}, {"U8", 1}, {"F16", 2}, {"BF16", 2}, {"F32", 4}, {"F8_E4M3", 1}, {"I8", 1}, {"I64", 8}};
    static const uint64_t extents[] = {0, 1, 2, 3, 4, 8, 10, 32, 33, 64};
    const part before = *p;
    const uint32_t d = p->n_dims ? (uint32_t)(next_random() % p->n_dims) : 0, other = p->n_dims ? p->n_dims - 1 - d : 0;
    const uint64_t extent = p->dims[d];
    const size_t type = next_random() % (sizeof types / sizeof *types);
    switch (next_random() % 8) {
    case 0: p->name = NULL; break;
    case 1: p->name = checkpoint[next_random() % N_PARTS].name; break;
    case 2:
        p->type = types[type].name;
        p->size = types[type].size;
        break;
    case 3: p->dims[d] = extents[next_random() % (sizeof extents / sizeof *extents)]; break;
    case 4: p->dims[d] = extent + 1 - 2 * (next_random() & 1); break;
    case 5: p->dims[d] = 2 * extent; break;
    case 6:
        p->dims[d] = p->dims[other];
        p->dims[other] = extent;
        break;
    default:
        p->n_dims = (uint32_t)(next_random() % MOST_DIMS);
        for (uint32_t i = 0; i < p->n_dims; ++i) p->dims[i] = p->dims[i] ? p->dims[i] : 1;
        break;
    }
    if (part_bytes(p) > 1500) *p = before;
    if (part_bytes(p) > part_bytes(&before) || p->size != before.size) p->data = NULL;
}

static void mutated_checkpoints(void **state) {
    (void)state;
    enum { COUNT = 4000 };
    static const qg_setting all_said[] = {{"", "shape", "4x32"},  {"", "shape", "4294967296x0"},
                                          {"", "shape", "x"},     {"", "checkpoint_format", "gptq_v2"},
                                          {"", "group", "128"},   {"", "kind", "fp4"},
                                          {"", "act_order", "x"}, {"", "dtype", "fp6_e2m3"}};
    unsigned decoded = 0, refused_weights = 0, bad = 0;
    bytes b;
    random_state = 4;
    const size_t header = make_checkpoint(&b, checkpoint);
    bad += mutations(b.data, b.length, header, COUNT);
    for (unsigned i = 0; i < COUNT; ++i) {
        part parts[N_PARTS];
        qg_arena *arena = qg_arena_new();
        qg_weights weights = {0};
        qg_setting setting = all_said[next_random() % (sizeof all_said / sizeof *all_said)];
        const qg_settings said = {.count = (uint32_t)(next_random() & 1), .items = &setting};
        memcpy(parts, checkpoint, sizeof parts);
        for (uint64_t n = 1 + next_random() % 4; n-- > 0;) change_part(&parts[next_random() % N_PARTS]);
        make_checkpoint(&b, parts);
        bad += read_with(arena, b.data, b.length, &said, &weights) != NULL;
        for (uint32_t w = 0; w < weights.count; ++w) {
            decoded += weights.items[w].layout != NULL;
            refused_weights += weights.items[w].problem != NULL;
        }
        qg_arena_free(arena);
    }
    print_message("of %d mutated checkpoints, %u are refused; the others have %u weights, and %u that are refused\n",
                  2 * COUNT, bad, decoded, refused_weights);
    assert_true(bad > COUNT / 2 && decoded > 5 * COUNT && refused_weights > COUNT / 2);
}

/* ---- configurations ---- */

static void configurations(void **state) {
    (void)state;
    static const char text[] = "{\"quantization\":{\"group_size\":64,\"bits\":4,\"m.0\":{\"bits\":8,\"group_size\":32},"
                               "\"m.1\":false,\"mode\":\"x\"},\"other\":{\"bits\":2}}";
    qg_arena *arena = qg_arena_new();
    qg_settings settings = {0};
    assert_null(qg_settings_read(arena, rules, text, sizeof text - 1, &settings));
    assert_int_equal(settings.count, 4);
    assert_string_equal(settings.items[0].module, "");
    assert_string_equal(settings.items[3].module, "m.0");
    random_state = 3;
    for (unsigned i = 0; i < 2000; ++i) {
        uint8_t copy[sizeof text];
        memcpy(copy, text, sizeof text);
        const size_t length = mutate(copy, sizeof text - 1, sizeof text - 1);
        qg_settings some = {0};
        const char *why = qg_settings_read(arena, rules, (const char *)copy, length, &some);
        if (why) assert_true(strncmp(why, "byte ", 5) == 0);
    }
    qg_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_files),
        cmocka_unit_test(weights_of_a_set),
        cmocka_unit_test(hostile_gguf),
        cmocka_unit_test(hostile_gguf_structure),
        cmocka_unit_test(hostile_safetensors),
        cmocka_unit_test(large_headers),
        cmocka_unit_test(cut_short),
        cmocka_unit_test(mutated),
        cmocka_unit_test(mutated_models),
        cmocka_unit_test(configurations),
        cmocka_unit_test(weights_of_a_checkpoint),
        cmocka_unit_test(mutated_checkpoints),
    };
    return cmocka_run_group_tests(tests, load, unload);
}
