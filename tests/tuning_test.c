/* Tuning: what its reader takes and refuses, which entry a shape has, and what a dispatch makes of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "qkgen/tuning.h"

enum { ROOM = 8 };

static qk_status parse(const char *text, qk_tuning *tuning, qk_tuning_entry *entries, qk_error *error) {
    uint32_t count = ROOM;
    return qk_tuning_parse("t.txt", text, "A GPU", entries, &count, tuning, error);
}

#define HEAD "qkgen-tuning 1\ndevice A GPU\n"

/* ---- the reader ---- */

static void reads_a_file(void **state) {
    static const char text[] = "# one\n\nqkgen-tuning 1  # version\n  device   A GPU \r\n"
                               "\n# k is\nk_gemv_f32 10x32x1 rows=2 split=8 # fast\n"
                               "k_gemv_f32\t10x64x1 workgroups=4294967295\n"
                               "k_dequant_f16 1x18446744073709551615x1 default";
    qk_tuning tuning;
    qk_tuning_entry entries[ROOM];
    qk_error error = {""};
    uint32_t count = 0;
    (void)state;
    assert_int_equal(qk_tuning_parse("t", text, NULL, NULL, &count, &tuning, &error), QK_OK);
    assert_int_equal(count, 3);
    assert_int_equal(tuning.count, 0);
    assert_int_equal(qk_tuning_parse("t", text, "A GPU", entries, &count, &tuning, &error), QK_OK);
    assert_string_equal(tuning.device, "A GPU");
    assert_int_equal(tuning.count, 3);
    assert_string_equal(entries[0].kernel, "k_gemv_f32");
    assert_int_equal(entries[0].line, 7);
    assert_int_equal(entries[0].rows, 10);
    assert_int_equal(entries[0].cols, 32);
    assert_int_equal(entries[0].batch, 1);
    assert_int_equal(entries[0].count, 2);
    assert_int_equal(entries[0].values[1].id, QK_CONSTANT_SPLIT);
    assert_int_equal(entries[0].values[1].value, 8);
    assert_int_equal(entries[1].values[0].value, UINT32_MAX);
    assert_true(entries[2].cols == UINT64_MAX);
    assert_int_equal(entries[2].count, 0);
}

static void needs_room(void **state) {
    static const char text[] = HEAD "a 1x1x1 rows=1\nb 1x1x1 rows=1\n";
    qk_tuning tuning;
    qk_tuning_entry entries[1];
    qk_error error = {""};
    uint32_t count = 1;
    (void)state;
    assert_int_equal(qk_tuning_parse("t", text, NULL, entries, &count, &tuning, &error), QK_ERROR_SIZE);
    assert_string_equal(error.text, "t: there is room for 1 entries, must be for 2");
    assert_int_equal(count, 2);
}

/* Each row: a text, and what is said of it. */
static const struct {
    const char *text, *message;
} wrong[] = {
    {"", "t.txt:1: this is no tuning: it does not begin with 'qkgen-tuning 1'; qkgen tune writes them"},
    {"# only\n", "t.txt:2: this is no tuning: it does not begin with 'qkgen-tuning 1'; qkgen tune writes them"},
    {"qkgen-tuning 2\n", "t.txt:1: version '2' is unknown, must be 1; write the file with this qkgen's tune"},
    {"qkgen-tuning 1\nk 1x1x1 rows=1\n",
     "t.txt:2: the second line must be 'device NAME', as qkgen devices has the name"},
    {"qkgen-tuning 1\ndevice\n", "t.txt:2: the name of the device has 0 characters, must have from 1 to 255"},
    {"qkgen-tuning 1\ndevice B\n", "t.txt:2: measured on 'B', but this device is 'A GPU'; run qkgen tune here"},
    {HEAD "k\n", "t.txt:3: '' is no shape; write ROWSxCOLSxBATCH, such as 4096x14336x1"},
    {HEAD "k 1x2 rows=1\n", "t.txt:3: '1x2' is no shape; write ROWSxCOLSxBATCH, such as 4096x14336x1"},
    {HEAD "k 1x0x1 rows=1\n", "t.txt:3: '1x0x1' is no shape; write ROWSxCOLSxBATCH, such as 4096x14336x1"},
    {HEAD "k 1x2x3x4 rows=1\n", "t.txt:3: '1x2x3x4' is no shape; write ROWSxCOLSxBATCH, such as 4096x14336x1"},
    {HEAD "k 18446744073709551616x2x1 rows=1\n",
     "t.txt:3: '18446744073709551616x2x1' is no shape; write ROWSxCOLSxBATCH, such as 4096x14336x1"},
    {HEAD "k 1x2x4294967296 rows=1\n",
     "t.txt:3: '1x2x4294967296' is no shape; write ROWSxCOLSxBATCH, such as 4096x14336x1"},
    {HEAD "\nk 1x2x1 # rows=1\n", "t.txt:4: no constant follows the shape; write NAME=VALUE or default"},
    {HEAD "k 1x2x1 rows\n", "t.txt:3: 'rows' is no constant; write NAME=VALUE"},
    {HEAD "k 1x2x1 =2\n", "t.txt:3: '=2' is no constant; write NAME=VALUE"},
    {HEAD "k 1x2x1 a_name_of_more_than_24_characters=2\n",
     "t.txt:3: no constant is named 'a_name_of_more_than_24_characters'; measure again with this qkgen's tune"},
    {HEAD "k 1x2x1 rowz=2\n", "t.txt:3: no constant is named 'rowz'; measure again with this qkgen's tune"},
    {HEAD "k 1x2x1 row=2\n", "t.txt:3: no constant is named 'row'; measure again with this qkgen's tune"},
    {HEAD "k 1x2x1 rows=two\n", "t.txt:3: 'rows=two' has no value; write a whole number from 1 to 4294967295"},
    {HEAD "k 1x2x1 rows=-1\n", "t.txt:3: 'rows=-1' has no value; write a whole number from 1 to 4294967295"},
    {HEAD "k 1x2x1 rows=4294967296\n",
     "t.txt:3: 'rows=4294967296' has no value; write a whole number from 1 to 4294967295"},
    {HEAD "k 1x2x1 rows=1 rows=2\n", "t.txt:3: rows is set twice; remove one"},
    {HEAD "k 1x2x1 default rows=2\n", "t.txt:3: nothing may follow 'default'; remove it, or the rest"},
    {HEAD "k 1x2x1 rows=1 split=1 digits=1 shared_fours=1 staged=1 rounds_f16=1 copies=1 checked=1 schedule=1 "
          "table_copies=1 kept=1 at_once=1 lanes=8\n",
     "t.txt:3: more than 12 constants; remove some"},
    {HEAD "k 1x2x1 rows=1\n\nk 1x2x1 rows=2\n", "t.txt:5: line 3 has this kernel and shape, too; remove one"},
};

static void refuses(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        qk_tuning tuning;
        qk_tuning_entry entries[ROOM];
        qk_error error = {""};
        assert_int_equal(parse(wrong[i].text, &tuning, entries, &error), QK_ERROR_ARGUMENT);
        assert_string_equal(error.text, wrong[i].message);
        assert_int_equal(tuning.count, 0);
    }
}

static void refuses_a_long_name(void **state) {
    char text[256] = HEAD;
    qk_tuning tuning;
    qk_tuning_entry entries[ROOM];
    qk_error error = {""};
    (void)state;
    memset(text + strlen(text), 'k', 96);
    strcat(text, " 1x1x1 rows=1");
    assert_int_equal(parse(text, &tuning, entries, &error), QK_ERROR_ARGUMENT);
    assert_string_equal(error.text, "t.txt:3: the name of a kernel has 96 characters, must be fewer than 96");
}

/* ---- the shape ---- */

static void finds_the_nearest(void **state) {
    static const char text[] =
        HEAD "k 100x1000x1 rows=1\nk 10000x1000x1 rows=2\nk 100x8000x1 rows=3\nk 100x1000x3 rows=4\n"
             "l 100x1000x1 rows=5\n";
    static const struct {
        uint64_t rows, cols, batch;
        uint32_t r; /* 0: none */
    } cases[] = {{100, 1000, 1, 1}, {1, 1000, 1, 1},   {999, 1000, 1, 1}, {1100, 1000, 1, 2},
                 {100, 2800, 1, 1}, {100, 2900, 1, 3}, {100, 1000, 4, 4}, {UINT64_MAX, UINT64_MAX, 3, 4},
                 {100, 1000, 2, 0}, {100, 1000, 5, 0}, {0, 0, 1, 1},      {1u << 31, 1000, 1, 2}};
    qk_tuning tuning;
    qk_tuning_entry entries[ROOM];
    qk_error error = {""};
    (void)state;
    assert_int_equal(parse(text, &tuning, entries, &error), QK_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const qk_tuning_entry *e = qk_tuning_find(&tuning, "k", cases[i].rows, cases[i].cols, cases[i].batch);
        assert_int_equal(e ? e->values[0].value : 0, cases[i].r);
    }
    assert_null(qk_tuning_find(&tuning, "m", 100, 1000, 1));
    assert_null(qk_tuning_find(NULL, "k", 100, 1000, 1));
}

static void logarithms(void **state) {
    (void)state;
    assert_int_equal(qk_log2_(0), 0);
    assert_int_equal(qk_log2_(1), 0);
    assert_int_equal(qk_log2_(2), 16);
    assert_int_equal(qk_log2_(3), 25);     /* 25.36 */
    assert_int_equal(qk_log2_(1000), 159); /* 159.45 */
    assert_int_equal(qk_log2_(UINT64_C(1) << 63), 16 * 63);
    assert_int_equal(qk_log2_(UINT64_MAX), 16 * 64 - 1);
}

/* ---- the dispatch ---- */

#define EPILOGUE_BOUND(bit, NAME, field, name, many, meaning)                                                          \
    , { 0, #name, QK_ROLE_##NAME, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0 }
static const qk_binding bindings[] = {
    {0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U8, 16, 0, 0, 0, 0},
    {1, "x", QK_ROLE_INPUT, QK_READ, QK_TYPE_F32, 0, 0, 0, 0, 0},
    {2, "y", QK_ROLE_OUTPUT, QK_READ_WRITE, QK_TYPE_F32, 0, 0, 0, 0, 0} QK_EPILOGUES(EPILOGUE_BOUND)};
static const uint32_t powers[] = {1, 2, 4, 8}, sizes[] = {32, 64, 128};
static const qk_spec_constant constants[] = {{QK_CONSTANT_LOCAL_SIZE_X, "local_size_x", 64, 3, sizes},
                                             {QK_CONSTANT_BATCH, "batch", 1, 4, powers},
                                             {QK_CONSTANT_ROWS, "rows", 4, 4, powers},
                                             {QK_CONSTANT_SPLIT, "split", 1, 4, powers}};
static const qk_kernel kernel = {.abi = QK_ABI_VERSION,
                                 .name = "toy_gemv_f32",
                                 .binding_count = 2 + QK_RESULT_BINDINGS_,
                                 .bindings = bindings,
                                 .push_bytes = QK_GEMV_PUSH_BYTES,
                                 .spec_constant_count = 4,
                                 .spec_constants = constants,
                                 .workgroup_size = 64,
                                 .block_elements = 32,
                                 .tile_elements = 8};

typedef struct seen {
    uint32_t launches, constants[4], workgroups;
    const qk_kernel *kernel;
} seen;

static qk_status look(void *context, const qk_launch *launch, qk_error *error) {
    seen *s = context;
    (void)error;
    s->launches += 1;
    s->kernel = launch->kernel;
    s->workgroups = launch->workgroups;
    assert_non_null(launch->constants);
    memcpy(s->constants, launch->constants, sizeof s->constants);
    return QK_OK;
}

static uint32_t shared_bytes; /* of the device, or 0 */

/* Dispatches 5000 x 64 with `batch` right-hand sides under a tuning that is HEAD and `lines`. */
static qk_status dispatch(const char *lines, uint64_t batch, seen *s, qk_error *error) {
    static char memory[3];
    const qk_range weights = {memory, 0, 5000 * 2 * 16}, x = {memory + 1, 0, 8 * 64 * 4},
                   y = {memory + 2, 0, 8 * 5000 * 4};
    char text[512];
    qk_tuning tuning;
    qk_tuning_entry entries[ROOM];
    snprintf(text, sizeof text, HEAD "%s", lines);
    assert_int_equal(parse(text, &tuning, entries, error), QK_OK);
    qk_backend backend = {.context = s, .limits = {1 << 30, 16, 65535, 256, 128, 0}, .launch = look, .tuning = &tuning};
    backend.limits.shared_bytes = shared_bytes;
    memset(s, 0, sizeof *s);
    return qk_dispatch_gemv(&backend, &kernel, &weights, x, y, 5000, 64, batch, error);
}

static void launches_with_tuned_constants(void **state) {
    static const uint32_t by_default[] = {64, 1, 4, 1}, tuned[] = {128, 1, 8, 2}, batch[] = {64, 8, 4, 1};
    seen s;
    qk_error error = {""};
    (void)state;
    assert_int_equal(dispatch("other 1x1x1 rows=1\n", 1, &s, &error), QK_OK);
    assert_memory_equal(s.constants, by_default, sizeof by_default);
    assert_ptr_equal(s.kernel, &kernel);
    const uint32_t groups = s.workgroups;
    assert_int_equal(dispatch("toy_gemv_f32 1x1x1 default\n", 1, &s, &error), QK_OK);
    assert_memory_equal(s.constants, by_default, sizeof by_default);
    assert_int_equal(s.workgroups, groups);
    assert_int_equal(dispatch("toy_gemv_f32 1x1x1 rows=8 local_size_x=128 split=2 workgroups=99\n", 1, &s, &error),
                     QK_OK);
    assert_memory_equal(s.constants, tuned, sizeof tuned);
    assert_int_equal(s.launches, 1);
    assert_int_equal(s.workgroups, 99);
    assert_ptr_equal(s.kernel, &kernel); /* pipelines are kept by its address */
    /* What the dispatch would change for a batch of 8 stays as the tuning has it. */
    assert_int_equal(dispatch("toy_gemv_f32 1x1x8 rows=4 split=1\n", 7, &s, &error), QK_OK);
    assert_memory_equal(s.constants, batch, sizeof batch);
}

static void refuses_wrong_constants(void **state) {
    static const char *const cases[][2] = {
        {"toy_gemv_f32 1x1x1 rows=3\n",
         "toy_gemv_f32: line 3 of the tuning sets rows to 3, which is none of its legal values; "
         "measure again with qkgen tune"},
        {"toy_gemv_f32 1x1x1 kept=2\n", "toy_gemv_f32: line 3 of the tuning sets kept, which the kernel does not have; "
                                        "measure again with qkgen tune"},
        {"toy_gemv_f32 1x1x1 batch=1\n",
         "toy_gemv_f32: line 3 of the tuning sets batch, which the kernel does not have; "
         "measure again with qkgen tune"}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        seen s;
        qk_error error = {""};
        assert_int_equal(dispatch(cases[i][0], 1, &s, &error), QK_ERROR_ARGUMENT);
        assert_string_equal(error.text, cases[i][1]);
        assert_int_equal(s.launches, 0);
    }
}

/* Sums take 128 / 4 * 8 * 2 floats, and what is not used a little, which a driver may not refuse. */
static void keeps_to_memory(void **state) {
    seen s;
    qk_error error = {""};
    (void)state;
    shared_bytes = 2048 + QK_UNUSED_SHARED_BYTES;
    assert_int_equal(dispatch("toy_gemv_f32 1x1x1 rows=8 local_size_x=128\n", 1, &s, &error), QK_OK);
    shared_bytes -= 1;
    assert_int_equal(dispatch("toy_gemv_f32 1x1x1 rows=8 local_size_x=128\n", 1, &s, &error), QK_ERROR_ARGUMENT);
    assert_string_equal(error.text, "toy_gemv_f32: a workgroup takes 2144 bytes of shared memory with the tuning's "
                                    "constants, the device has 2143; measure again with qkgen tune");
    assert_int_equal(s.launches, 0);
    shared_bytes = 0;
}

/* What a workgroup shares: sums, x of several right-hand sides or in runs on their way, and tables. */
static void counts_memory(void **state) {
    static const qk_table table = {.name = "G", .bytes = 1000};
    static const qk_spec_constant all[] = {{QK_CONSTANT_LOCAL_SIZE_X, "local_size_x", 64, 3, sizes},
                                           {QK_CONSTANT_BATCH, "batch", 1, 4, powers},
                                           {QK_CONSTANT_ROWS, "rows", 4, 4, powers},
                                           {QK_CONSTANT_SHARED_FOURS, "shared_fours", 512, 0, NULL},
                                           {QK_CONSTANT_STAGED, "staged", 1, 0, NULL},
                                           {QK_CONSTANT_TABLE_COPIES, "table_copies", 1, 0, NULL},
                                           {QK_CONSTANT_COPIES, "copies", 1, 0, NULL},
                                           {QK_CONSTANT_AT_ONCE, "at_once", 2, 0, NULL}};
    static const struct {
        uint32_t values[8];
        uint64_t bytes;
    } cases[] = {{{64, 1, 4, 512, 1, 1, 0, 0}, 512},          {{64, 8, 4, 512, 1, 1, 0, 0}, 512 + 8192},
                 {{64, 1, 4, 512, 512, 1, 0, 0}, 512 + 9216}, {{64, 1, 4, 512, 1, 3, 0, 0}, 512 + 3000},
                 {{64, 1, 4, 512, 1, 1, 32, 0}, 512 + 32768}, {{64, 8, 4, 0, 1, 1, 0, 0}, 2048}};
    qk_kernel of_all = kernel;
    (void)state;
    of_all.spec_constants = all;
    of_all.spec_constant_count = 8;
    of_all.tables = &table;
    of_all.table_count = 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(qk_shared_bytes_(&of_all, cases[i].values), cases[i].bytes + QK_UNUSED_SHARED_BYTES);
    of_all.features = QK_FEATURE_COOPERATIVE_MATRIX;
    const uint32_t mma[] = {512, 8, 0, 0, 0, 0, 0, 2};
    assert_int_equal(qk_shared_bytes_(&of_all, mma), 32768);
}

/* A workgroup that is tuned to be larger than the device's is refused as that of the descriptor would be. */
static void keeps_to_limits(void **state) {
    static char memory[3];
    const qk_range weights = {memory, 0, 1 << 20}, x = {memory + 1, 0, 1 << 20}, y = {memory + 2, 0, 1 << 20};
    qk_tuning tuning;
    qk_tuning_entry entries[ROOM];
    qk_error error = {""};
    seen s = {0};
    (void)state;
    assert_int_equal(parse(HEAD "toy_gemv_f32 1x1x1 local_size_x=128\n", &tuning, entries, &error), QK_OK);
    const qk_backend backend = {
        .context = &s, .limits = {1 << 30, 16, 65535, 64, 128, 0}, .launch = look, .tuning = &tuning};
    assert_int_equal(qk_dispatch_gemv(&backend, &kernel, &weights, x, y, 50, 64, 1, &error), QK_ERROR_LIMIT);
    assert_string_equal(error.text, "toy_gemv_f32: kernel->workgroup_size is 128, must be from 1 to 64 on this device");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(reads_a_file),
                                       cmocka_unit_test(needs_room),
                                       cmocka_unit_test(refuses),
                                       cmocka_unit_test(refuses_a_long_name),
                                       cmocka_unit_test(finds_the_nearest),
                                       cmocka_unit_test(logarithms),
                                       cmocka_unit_test(launches_with_tuned_constants),
                                       cmocka_unit_test(keeps_to_memory),
                                       cmocka_unit_test(counts_memory),
                                       cmocka_unit_test(refuses_wrong_constants),
                                       cmocka_unit_test(keeps_to_limits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
