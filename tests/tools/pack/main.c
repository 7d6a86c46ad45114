/* pack FORMAT ROWS COLS SEED FOLDER   writes each tensor of a random checkpoint to FOLDER/NAME.bin, little-endian, as
 *                                     it stands in the file, and its values to FOLDER/values.f32, [ROWS][COLS]
 * pack list                           each format, its tensors, and shapes for tests: three columns between tabs, the
 *                                     entries of a column between spaces, a shape as ROWSxCOLS
 *
 * ROWS are the output features and COLS the input features. Values are f32, rounded after each operation. Tensors that
 * a decoder does not need, such as shapes, are left out. The same seed gives the same bytes everywhere. */
#include "pack.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

_Noreturn static void die(const char *text, ...) {
    va_list arguments;
    va_start(arguments, text);
    fputs("pack: ", stderr);
    vfprintf(stderr, text, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(2);
}

/* ---- the formats ---- */

static format formats[128];
static size_t n_formats;

static void add_format(format f, const char *name, ...) {
    va_list arguments;
    va_start(arguments, name);
    vsnprintf(f.name, sizeof f.name, name, arguments);
    va_end(arguments);
    if (n_formats == sizeof formats / sizeof *formats) die("no room for the format %s", f.name);
    formats[n_formats++] = f;
}

static const unsigned all_groups[] = {32, 64, 128};
enum { whole_row = 1 << 14 }; /* a group of as many columns as there can be */
static const kind *const all_codes[] = {&u2, &u3, &u4, &u8};

static void add_gptq(const char *version, const char *suffix, bool minus_one, bool act_order) {
    const char *tensors = act_order ? "qweight qzeros scales g_idx" : "qweight qzeros scales";
    format f = {.pack = pack_gptq, .tensors = tensors, .minus_one = minus_one, .act_order = act_order};
    f.shapes = "64x256 96x224 32x352"; /* groups of 128 and of 64 end short */
    f.rows_of = f.cols_of = 32;
    for (size_t i = 0; i < sizeof all_codes / sizeof *all_codes; ++i)
        for (size_t j = 0; j < sizeof all_groups / sizeof *all_groups; ++j) {
            f.code = all_codes[i];
            f.group = all_groups[j];
            add_format(f, "gptq_%s_b%u_g%u%s", version, f.code->bits, f.group, suffix);
        }
    f.group = whole_row;
    for (size_t i = 0; minus_one && !act_order && i < sizeof all_codes / sizeof *all_codes; ++i) {
        f.code = all_codes[i];
        add_format(f, "gptq_%s_b%u_channel", version, f.code->bits);
    }
}

static void add_awq(void) {
    format f = {.pack = pack_awq, .tensors = "qweight qzeros scales", .shapes = "64x256 104x128 40x384", .rows_of = 8};
    for (size_t j = 0; j < sizeof all_groups / sizeof *all_groups; ++j) {
        f.cols_of = f.group = all_groups[j];
        add_format(f, "awq_b4_g%u", f.group);
    }
}

static void add_codebooks(void) {
    format f = {.pack = pack_codebook4, .tensors = "weight absmax", .shapes = "64x256 37x300 53x211"};
    for (size_t j = 1; j < sizeof all_groups / sizeof *all_groups; ++j) {
        f.group = all_groups[j];
        f.table = nf4_table;
        add_format(f, "nf4_b%u", f.group);
        f.table = fp4_table;
        add_format(f, "fp4_b%u", f.group);
    }
}

static void add_hqq(void) {
    format f = {.pack = pack_hqq, .tensors = "W_q scale zero"};
    f.shapes = "64x256 64x208 80x128"; /* lines in rows, across rows, and a multiple of ten lines */
    for (size_t i = 0; i < sizeof all_codes / sizeof *all_codes; ++i)
        for (size_t j = 1; j < sizeof all_groups / sizeof *all_groups; ++j) {
            f.code = all_codes[i];
            f.group = all_groups[j];
            f.elements_of = f.group * (f.code->bits == 3 ? 1 : 8 / f.code->bits);
            add_format(f, "hqq_b%u_g%u", f.code->bits, f.group);
        }
}

static void add_compressed(void) {
    format f = {.pack = pack_compressed_int, .shapes = "64x256 53x256 40x384", .code = &u4};
    for (size_t j = 0; j < sizeof all_groups / sizeof *all_groups; j += 2) {
        f.cols_of = f.group = all_groups[j];
        f.zeros = false;
        f.tensors = "weight_packed weight_scale";
        add_format(f, "ct_b4_g%u", f.group);
        f.zeros = true;
        f.tensors = "weight_packed weight_scale weight_zero_point";
        add_format(f, "ct_b4_zp_g%u", f.group);
        f.zeros = false;
        f.tensors = "weight_packed weight_scale";
        f.code = &u8;
        add_format(f, "ct_b8_g%u", f.group);
        f.code = &u4;
    }
    f.cols_of = 32;
    f.group = whole_row;
    add_format(f, "ct_b4_channel");
}

static void add_microscaling(void) {
    static const struct {
        const char *name;
        const kind *code;
    } all[] = {{"fp4", &e2m1}, {"fp6_e2m3", &e2m3}, {"fp6_e3m2", &e3m2}, {"fp8_e4m3", &e4m3}, {"fp8_e5m2", &e5m2}};
    format f = {.pack = pack_mx, .tensors = "blocks scales", .shapes = "64x256 37x288", .cols_of = 32};
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i) {
        f.code = all[i].code;
        add_format(f, "mx_%s", all[i].name);
    }
    f = (format){.pack = pack_nvfp4, .tensors = "weight weight_scale weight_scale_2", .cols_of = 16};
    f.shapes = "64x256 37x304";
    add_format(f, "nvfp4_ckpt");
}

static void add_bytes(void) {
    format f = {.pack = pack_fp8, .tensors = "weight weight_scale_inv", .shapes = "256x128 300x200 129x257"};
    f.tile_rows = f.tile_cols = 128;
    f.code = &e4m3;
    f.scale = &f32;
    add_format(f, "fp8_block");
    f.shapes = "64x256 53x211";
    f.tensors = "weight weight_scale";
    f.tile_rows = 1;
    f.tile_cols = 0;
    add_format(f, "fp8_channel");
    f.tile_rows = 0;
    add_format(f, "fp8_tensor");
    f.code = &e5m2;
    add_format(f, "fp8_e5m2_tensor");
    f.pack = pack_int8_channel;
    add_format(f, "int8_channel");
}

static void add_formats(void) {
    add_gptq("v1", "", true, false);
    add_gptq("v2", "", false, false);
    add_gptq("v1", "_act", true, true);
    add_gptq("v2", "_act", false, true);
    add_awq();
    add_codebooks();
    add_hqq();
    add_compressed();
    add_microscaling();
    add_bytes();
}

static const format *find_format(const char *name) {
    for (size_t i = 0; i < n_formats; ++i)
        if (strcmp(formats[i].name, name) == 0) return &formats[i];
    die("no format is called %s; `pack list` has them all", name);
}

/* ---- memory of a checkpoint ---- */

void *reserve(checkpoint *c, size_t count, size_t size) {
    void *data = calloc(count, size);
    if (!data || c->n_owned == sizeof c->owned / sizeof *c->owned)
        die("no memory for %zu bytes; take a smaller shape", count * size);
    return c->owned[c->n_owned++] = data;
}

uint8_t *add_tensor(checkpoint *c, size_t size) {
    const char *name = c->format->tensors;
    for (size_t i = 0; i < c->n_tensors; ++i) name = strchr(name, ' ') + 1;
    tensor *t = &c->tensors[c->n_tensors++];
    snprintf(t->name, sizeof t->name, "%.*s", (int)strcspn(name, " "), name);
    t->size = size;
    return t->data = reserve(c, size, 1);
}

/* ---- files ---- */

static void write_file(const char *path, const uint8_t *data, size_t size) {
    FILE *file = fopen(path, "wb");
    if (!file) die("cannot write %s: %s", path, strerror(errno));
    const bool written = fwrite(data, 1, size, file) == size;
    if (fclose(file) != 0 || !written) {
        remove(path);
        die("cannot write %s: %s", path, strerror(errno));
    }
}

/* The values come last: where they are, the tensors are complete. */
static void write_checkpoint(checkpoint *c, const char *folder) {
    char path[4096];
    const size_t count = c->rows * c->cols;
    if (strlen(folder) > sizeof path - 64) die("the name of the folder is too long: %s", folder);
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) die("cannot make %s: %s", folder, strerror(errno));
    for (size_t i = 0; i < c->n_tensors; ++i) {
        snprintf(path, sizeof path, "%s/%s.bin", folder, c->tensors[i].name);
        write_file(path, c->tensors[i].data, c->tensors[i].size);
    }
    uint8_t *bytes = reserve(c, count, 4);
    for (size_t i = 0; i < count; ++i) {
        uint32_t bits;
        memcpy(&bits, &c->values[i], 4);
        put_bits(bytes + 4 * i, 1, 0, 32, bits);
    }
    snprintf(path, sizeof path, "%s/values.f32", folder);
    write_file(path, bytes, 4 * count);
}

/* ---- the command line ---- */

static uint64_t number_of(const char *what, const char *text, uint64_t most) {
    char *end;
    errno = 0;
    const unsigned long long value = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || value > most)
        die("%s is %s, and must be a whole number up to %" PRIu64, what, text, most);
    return value;
}

static void check_multiple(const format *f, const char *what, size_t value, size_t of) {
    if (value == 0 || (of && value % of))
        die("%s is %zu, and %s needs a positive multiple of %zu", what, value, f->name, of ? of : 1);
}

static int list(void) {
    for (size_t i = 0; i < n_formats; ++i)
        printf("%s\t%s\t%s\n", formats[i].name, formats[i].tensors, formats[i].shapes);
    if (fflush(stdout) != 0) die("cannot write the list: %s", strerror(errno));
    return 0;
}

int main(int argc, char **argv) {
    add_formats();
    if (argc == 2 && strcmp(argv[1], "list") == 0) return list();
    const bool plain = argc == 7 && strcmp(argv[6], "plain") == 0;
    if (argc != 6 && !plain) die("usage: pack FORMAT ROWS COLS SEED FOLDER [plain], or pack list");
    checkpoint c = {.format = find_format(argv[1]), .plain = plain};
    c.rows = number_of("ROWS", argv[2], 1 << 14);
    c.cols = number_of("COLS", argv[3], 1 << 14);
    check_multiple(c.format, "ROWS", c.rows, c.format->rows_of);
    check_multiple(c.format, "COLS", c.cols, c.format->cols_of);
    check_multiple(c.format, "ROWS*COLS", c.rows * c.cols, c.format->elements_of);
    seed_random(number_of("SEED", argv[4], UINT64_MAX));
    c.values = reserve(&c, c.rows * c.cols, sizeof *c.values);
    c.format->pack(&c);
    write_checkpoint(&c, argv[5]);
    for (size_t i = 0; i < c.n_owned; ++i) free(c.owned[i]);
    return 0;
}
