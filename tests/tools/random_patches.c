/* Prints a random specification whose blocks are patches of a matrix, or follow each other in a sequence that a row cuts
 * anywhere: `random_patches SEED`. The first lines are comments for the test: `# shape ROWS COLS` of a tensor, and the bytes of
 * each of its buffers, `# buffer NAME BYTES`. The same seed gives the same text everywhere.
 *
 * Codes are packed along the columns or along the rows, in words of any size; buffers grow along both axes in either order,
 * along one of them, or not at all; scales belong to a part of a row, to a row, to a patch, to the tensor, or to a group that
 * an index names; codes are numbers, or choose from a table of a row or of the tensor, whose entries are numbers, or patches. Where shapes are ragged, words hold bits beyond the end of a row that mean nothing: NaN, with luck. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t state;

static uint32_t below(uint32_t n) {
    state += 0x9E3779B97F4A7C15u;
    uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    z ^= z >> 31;
    return (uint32_t)(z >> 32) % n;
}

static bool chance(uint32_t percent) { return below(100) < percent; }

static uint32_t one_of(const uint32_t *from, uint32_t count) { return from[below(count)]; }

/* A buffer: its axes as they are written, and its tile. */
typedef struct buffer {
    const char *name, *axes, *type;
    uint32_t item_bits, rows, cols;
    bool along_rows, along_cols; /* how it grows */
    uint32_t entries;            /* of a table; else 0 */
} buffer;

static uint32_t block_rows, block_cols;
static bool ragged, sequence;
static uint64_t rows, cols;
static buffer buffers[4];
static uint32_t n_buffers;
static char codes[2048];
static size_t codes_length;

static uint64_t up(uint64_t a, uint64_t b) { return (a + b - 1) / b; }

static uint64_t bytes_of(const buffer *b) {
    const uint64_t all_rows = sequence ? 1 : rows, all_cols = sequence ? rows * cols : cols;
    const uint64_t items =
        (b->along_rows ? up(all_rows * b->rows, block_rows) : 1) * (b->entries      ? (uint64_t)b->entries * b->cols
                                                                    : b->along_cols ? up(all_cols * b->cols, block_cols)
                                                                                    : 1);
    return items * b->item_bits / 8;
}

static const char *word_type(uint32_t bits) { return bits == 8 ? "u8" : bits == 16 ? "u16" : "u32"; }

static buffer *add_buffer(const char *name, const char *type, uint32_t bits, uint32_t tile_rows, uint32_t tile_cols) {
    buffer *b = &buffers[n_buffers++];
    *b = (buffer){name, "", type, bits, tile_rows, tile_cols, true, true, 0};
    return b;
}

#define CODE(...) codes_length += (size_t)snprintf(codes + codes_length, sizeof codes - codes_length, __VA_ARGS__)

/* Codes of `width` bits, and their type or NULL, along the rows of words of several rows or along the columns. */
static void add_codes(uint32_t width, const char *type) {
    static const uint32_t words[] = {8, 16, 32};
    uint32_t word;
    bool down, across;
    do { /* whole words in each row of the tile, or in each column */
        word = one_of(words, 3);
        down = !sequence && word % width == 0 && block_rows % (word / width) == 0 && word > width;
        across = block_cols * width % word == 0;
    } while (!down && !across);
    if (down && across) down = chance(40);
    const char *colon = type ? ": " : "", *name = type ? type : "";
    if (down) {
        const uint32_t in_word = word / width, high = block_rows / in_word;
        buffer *b = add_buffer("weight", word_type(word), word, high, block_cols);
        b->axes = chance(50) ? "[cols][rows]" : "";
        CODE("code q%s%s = w { %" PRIu32 " @ 0 (%" PRIu32 ":%" PRIu32 ", %" PRIu32 ":%" PRIu32, colon, name, width,
             block_cols, word, in_word, width);
        if (high > 1) CODE(", %" PRIu32 ":%" PRIu32, high, block_cols * word);
        CODE(") }\n");
        return;
    }
    buffer *b = add_buffer("weight", word_type(word), word, block_rows, block_cols * width / word);
    b->axes = !sequence && chance(30) ? "[cols][rows]" : "";
    if (word == 8 && width == 4 && chance(50)) { /* the even element in the high nibble */
        CODE("code q%s%s = w { 4 @ 4 (2:-4, %" PRIu32 ":8) }\n", colon, name, block_rows * block_cols / 2);
        return;
    }
    CODE("code q%s%s = w { %" PRIu32 " @ 0 (%" PRIu32 ":%" PRIu32 ") }\n", colon, name, width, block_rows * block_cols,
         width);
}

static uint32_t divisor_of(uint32_t n) {
    uint32_t d;
    do d = 1 + below(n);
    while (n % d || n / d > 8);
    return n / d;
}

/* A scale; returns how the value names it. */
static const char *add_scale(void) {
    const uint32_t kind = sequence ? 3 : below(7);
    const uint32_t parts = block_cols % 8 == 0 ? divisor_of(block_cols) : 1;
    if (kind == 0) { /* for parts of each row */
        buffer *b = add_buffer("scales", "f16", 16, block_rows, parts);
        b->axes = chance(50) ? "[cols][rows]" : "";
        CODE("code s: f16 per %" PRIu32 " = d { 16 @ 0 (%" PRIu32 ":16) }\n", block_cols / parts, block_rows * parts);
    } else if (kind == 1) { /* for a row */
        buffer *b = add_buffer("scales", "f16", 16, block_rows, 1);
        b->axes = "[rows]";
        b->along_cols = false;
        CODE("code s: f16 per %" PRIu32 " = d { 16 @ 0 (%" PRIu32 ":16) }\n", block_cols, block_rows);
    } else if (kind == 2) { /* for the tensor */
        buffer *b = add_buffer("scales", "f16", 16, 1, 1);
        b->axes = "[]";
        b->along_rows = b->along_cols = false;
    } else if (kind == 4) { /* for a group that an index names */
        buffer *b = add_buffer("scales", "f16", 16, block_rows, 1);
        b->axes = chance(50) ? "[g][rows]" : "[rows][g]";
        buffer *g = add_buffer("g_idx", "u8", 8, 1, block_cols);
        g->axes = "[cols]";
        g->along_rows = false;
        CODE("code s: f16 per %" PRIu32 " = d { 16 @ 0 (%" PRIu32 ":16) }\n", block_cols, block_rows);
        CODE("code g = n { 8 @ 0 (%" PRIu32 ":8) }\n", block_cols);
        return "s";
    } else { /* for a patch */
        add_buffer("scales", "f16", 16, 1, 1);
        return "d";
    }
    return kind == 2 ? "d" : "s";
}

/* A table that a code of `width` bits chooses from. */
static void add_table(uint32_t width) {
    static char axes[32];
    const bool of_row = !sequence && chance(50), patches = chance(40), wide = chance(50);
    const uint32_t bits = wide ? 32 : 16, all = block_rows * block_cols;
    const uint32_t high = of_row ? block_rows : 1, across = !patches ? 1 : of_row ? block_cols : all;
    buffer *b = add_buffer("book", wide ? "f32" : "f16", bits, high, across);
    b->entries = (1U << width) + (chance(25) ? 3 : 0);
    b->along_rows = of_row;
    b->along_cols = false;
    snprintf(axes, sizeof axes, "%s[q of %" PRIu32 "]", of_row ? "[rows]" : "", b->entries);
    b->axes = axes;
    CODE("code v: %s per %" PRIu32 " = t { %" PRIu32 " @ 0 (%" PRIu32 ":%" PRIu32 ") }\n", b->type,
         all / (high * across), bits, high * across, bits);
}

static const char *field_of(const buffer *b) {
    return b->name[0] == 'w' ? "w" : b->name[0] == 's' ? "d" : b->name[0] == 'b' ? "t" : "n";
}

static void print_buffer(const buffer *b) {
    printf("    buffer %s%s { %s: %s", b->name, b->axes, field_of(b), b->type);
    const bool rows_alone = b->along_rows && !b->along_cols, cols_alone = b->along_cols && !b->along_rows;
    if (b->entries)
        printf("[%" PRIu32 "][%" PRIu32 "]", b->rows, b->cols);
    else if (rows_alone && b->rows > 1)
        printf("[%" PRIu32 "]", b->rows);
    else if (cols_alone && b->cols > 1)
        printf("[%" PRIu32 "]", b->cols);
    else if (b->rows > 1 || b->cols > 1)
        b->rows == 1 && chance(50) ? printf("[%" PRIu32 "]", b->cols)
                                   : printf("[%" PRIu32 "][%" PRIu32 "]", b->rows, b->cols);
    printf(" }\n");
}

static void choose_shape(void) {
    static const uint32_t heights[] = {1, 1, 1, 2, 3, 4, 8, 32}, widths[] = {8, 12, 16, 24, 30, 32, 64, 96, 128};
    sequence = chance(20);
    ragged = sequence || chance(65);
    block_rows = sequence ? 1 : one_of(heights, 8);
    block_cols = one_of(widths, 9);
    rows = 1 + below(3 * block_rows + 4);
    cols = 1 + below(chance(50) ? 3 * block_cols : 20);
    if (ragged) return;
    rows = up(rows, block_rows) * block_rows;
    cols = up(cols, block_cols) * block_cols;
}

int main(int argc, char **argv) {
    if (argc != 2) {
        fprintf(stderr, "usage: random_patches SEED\n");
        return 2;
    }
    const uint64_t seed = strtoull(argv[1], NULL, 10);
    state = seed * 0xD1342543DE82EF95u + 2;
    choose_shape();
    const uint32_t kind = below(4);
    static const uint32_t widths[] = {1, 2, 4, 8};
    const bool threes = kind == 1 && block_cols % 32 == 0;
    const uint32_t width = kind == 0 ? 8 : threes ? 3 : one_of(widths, 4);
    const bool narrow = block_cols * width % 8 != 0; /* no row of whole bytes */
    static const char *const floats[] = {"e4m3", "e5m2"};
    add_codes(narrow ? 8 : width, kind == 0 || narrow ? floats[below(2)] : NULL);
    const bool looks_up = kind != 0 && !narrow && chance(35);
    if (looks_up) add_table(width);
    const char *scale = add_scale();
    printf("# seed %" PRIu64 "\n# shape %" PRIu64 " %" PRIu64 "\n", seed, rows, cols);
    for (uint32_t b = 0; b < n_buffers; ++b)
        printf("# buffer %s %" PRIu64 "\n", buffers[b].name, bytes_of(&buffers[b]));
    printf("format patches_%" PRIu64 " \"random patches\"\n", seed);
    if (sequence)
        printf("block %" PRIu32 " ragged {\n", block_cols);
    else
        printf("block %" PRIu32 " x %" PRIu32 "%s {\n", block_rows, block_cols, ragged ? " ragged" : "");
    for (uint32_t b = 0; b < n_buffers; ++b) print_buffer(&buffers[b]);
    printf("}\n%s", codes);
    if (kind == 0 || narrow)
        printf("value = q * %s\n", scale);
    else if (looks_up)
        printf("value = v * %s\n", scale);
    else
        printf("value = (q - %" PRIu32 ") * %s\n", below(5), scale);
    return 0;
}
