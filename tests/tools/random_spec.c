/* Prints a random specification that is valid by construction, for the property test: `random_spec SEED` on stdout, and
 * `random_spec SEED BYTES` that many random bytes. The first lines are comments that tell the test the seed, how many
 * factors have the range of f32, `# wide COUNT`, and the size of each buffer's part of a block: `# buffer NAME BYTES`. The same
 * seed gives the same text everywhere.
 *
 * A code's slices are placed by a random order of the axes of its index, so every permutation of shape and stride that
 * covers a run of bits exactly can come up; codes share fields at any bit; fields spread over one or several buffers. Some
 * codes are cut into segments of any lengths, some slices hold digits of a base, chosen by any axis, and of some the
 * instances along an axis have the same bits. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_AXES = 5, MAX_CODES = 6, MAX_REGIONS = 32, MAX_FIELDS = 32, MAX_BUFFERS = 3 };

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

typedef struct code {
    char name[8];
    const char *type; /* NULL: unsigned */
    uint32_t per, count, width;
    uint32_t n_regions, regions[8], segments[8]; /* the segment of each region */
} code;

/* A slice of a code for all instances of a segment: a run of bits of a field. */
typedef struct region {
    uint32_t width, bits;
    uint32_t radix; /* 0: plain bits */
    uint32_t field, base;
    char digits[160];
} region;

typedef struct field {
    uint32_t bytes, used; /* bits */
    uint32_t buffer;
    const char *scalar; /* a scalar field, named in the value */
} field;

static uint32_t elements;
static code codes[MAX_CODES];
static region regions[MAX_REGIONS];
static field fields[MAX_FIELDS];
static uint32_t n_codes, n_regions, n_fields, n_buffers;

/* Splits `count` into axes, least significant first. */
static uint32_t split(uint32_t count, uint32_t *axes) {
    uint32_t n = 0;
    while (count > 1 && n < MAX_AXES - 1) {
        uint32_t divisors[64], found = 0;
        for (uint32_t d = 2; d <= count && found < 64; ++d)
            if (count % d == 0) divisors[found++] = d;
        const uint32_t axis = chance(25) ? count : divisors[below(found)];
        axes[n++] = axis;
        count /= axis;
    }
    if (count > 1) axes[n++] = count;
    return n;
}

static uint32_t bits_for(uint32_t most) {
    uint32_t bits = 0;
    for (; most; most >>= 1) bits += 1;
    return bits;
}

/* A base whose digits need `bits` bits, a width for some of them, and the axis of the index that chooses among them; returns
 * that axis. */
static uint32_t choose_radix(region *r, uint32_t count, uint32_t bits, uint32_t *axes, uint32_t *n) {
    const uint32_t low = bits == 1 ? 1 : 1u << (bits - 1);
    uint32_t fitting[17], found = 0, values = 1;
    r->radix = low + 1 + below((1u << bits) - low);
    for (uint32_t extent = 1; (values *= r->radix) <= 1u << 16; ++extent)
        if (count % extent == 0) fitting[found++] = extent;
    const uint32_t extent = fitting[below(found)];
    *n = split(count / extent, axes);
    const uint32_t axis = below(*n + 1);
    memmove(axes + axis + 1, axes + axis, (*n - axis) * sizeof *axes);
    axes[axis] = extent;
    *n += 1;
    values = 1;
    for (uint32_t i = 0; i < extent; ++i) values *= r->radix;
    r->width = bits_for(values - 1);
    r->width += below(17 - r->width) / 2;
    return axis;
}

/* Strides of the axes in a random order of nesting; the slice gives the code `bits` bits. */
static void place(region *r, uint32_t count, uint32_t bits) {
    uint32_t axes[MAX_AXES + 1], order[MAX_AXES + 1], strides[MAX_AXES + 1];
    uint32_t n, power = MAX_AXES + 1, same = MAX_AXES + 1;
    r->width = bits;
    r->radix = 0;
    if (bits <= 8 && chance(20))
        power = choose_radix(r, count, bits, axes, &n);
    else
        n = split(count, axes);
    if (n > 0 && power > MAX_AXES && chance(10)) same = below(n);
    uint32_t stride = r->width;
    for (uint32_t i = 0; i < n; ++i) order[i] = i;
    if (chance(70))
        for (uint32_t i = n; i > 1; --i) {
            const uint32_t j = below(i), swap = order[i - 1];
            order[i - 1] = order[j];
            order[j] = swap;
        }
    for (uint32_t i = 0; i < n; ++i) {
        strides[order[i]] = stride;
        if (order[i] != power && order[i] != same) stride *= axes[order[i]];
    }
    r->bits = stride;
    r->digits[0] = '\0';
    for (uint32_t i = 0; i < n; ++i) {
        char *end = r->digits + strlen(r->digits);
        const size_t room = sizeof r->digits - strlen(r->digits);
        if (i == power || i == same)
            snprintf(end, room, "%s%" PRIu32 ":%c", i ? ", " : "", axes[i], i == power ? '^' : '=');
        else
            snprintf(end, room, "%s%" PRIu32 ":%" PRIu32, i ? ", " : "", axes[i], strides[i]);
    }
}

/* A field with room is shared now and then, so that codes begin at any bit. */
static void find_room(region *r) {
    for (uint32_t f = 0; f < n_fields; ++f) {
        if (fields[f].scalar || !chance(40)) continue;
        r->field = f;
        r->base = fields[f].used + (chance(20) ? below(7) : 0);
        fields[f].used = r->base + r->bits;
        return;
    }
    r->field = n_fields;
    r->base = chance(15) ? below(9) : 0;
    fields[n_fields++] = (field){.used = r->base + r->bits, .buffer = below(n_buffers)};
}

/* Mostly one that leaves several elements together, as formats have it. */
static uint32_t segment_length(uint32_t left) {
    const uint32_t unit = left > 8 && chance(60) ? 8 : left > 4 && chance(50) ? 4 : 1;
    return unit * (1 + below((left - 1) / unit));
}

/* The slices of one segment of a code. */
static void add_regions(code *c, uint32_t segment, uint32_t length, uint32_t most) {
    uint32_t left = c->width;
    for (uint32_t i = 1; left; ++i) {
        const bool last = i == most || chance(60);
        const uint32_t take = last ? left : 1 + below(left);
        region *r = &regions[n_regions];
        place(r, length, take);
        find_room(r);
        c->segments[c->n_regions] = segment;
        c->regions[c->n_regions++] = n_regions++;
        left -= take;
    }
}

static void add_code(const char *name, uint32_t per, uint32_t width, const char *type) {
    code *c = &codes[n_codes++];
    memset(c, 0, sizeof *c);
    snprintf(c->name, sizeof c->name, "%s", name);
    c->per = per;
    c->count = elements / per;
    c->type = type;
    c->width = width;
    const uint32_t segments = c->count > 1 && chance(25) ? 2 + below(2) : 1;
    uint32_t served = 0;
    for (uint32_t s = 0; s < segments && served < c->count; ++s) {
        const bool rest = s + 1 == segments || c->count - served == 1;
        const uint32_t length = rest ? c->count - served : segment_length(c->count - served);
        add_regions(c, s, length, segments == 1 ? 4 : 2);
        served += length;
    }
}

static uint32_t random_divisor(uint32_t n) {
    uint32_t d;
    do d = 1 + below(n);
    while (n % d);
    return d;
}

static void add_scalar(const char *name, const char *type, uint32_t bytes) {
    fields[n_fields++] = (field){.bytes = bytes, .used = 8 * bytes, .buffer = below(n_buffers), .scalar = type};
    (void)name;
}

/* A word of the language can be a name where it has no meaning. */
static const char *field_name(uint32_t f) {
    static char name[16];
    snprintf(name, sizeof name, "f%" PRIu32, f);
    return f == 3 ? "then" : name;
}

static void print_field(uint32_t f, const char *indent) {
    if (fields[f].scalar)
        printf("%sd%" PRIu32 ": %s\n", indent, f, fields[f].scalar);
    else
        printf("%s%s: u8[%" PRIu32 "]\n", indent, field_name(f), fields[f].bytes);
}

static void print_block(void) {
    printf("block %" PRIu32 " {\n", elements);
    for (uint32_t b = 0; b < n_buffers; ++b) {
        if (n_buffers > 1) printf("    buffer b%" PRIu32 " {\n", b);
        for (uint32_t f = 0; f < n_fields; ++f)
            if (fields[f].buffer == b) print_field(f, n_buffers > 1 ? "        " : "    ");
        if (n_buffers > 1) printf("    }\n");
    }
    printf("}\n");
}

static void print_code(const code *c) {
    printf("code %s", c->name);
    if (c->type) printf(": %s", c->type);
    if (c->per > 1) printf(" per %" PRIu32, c->per);
    printf(" =");
    for (uint32_t i = 0; i < c->n_regions; ++i) {
        const region *r = &regions[c->regions[i]];
        if (i && c->segments[i] != c->segments[i - 1]) printf(" then");
        printf(" %s { %" PRIu32, field_name(r->field), r->width);
        if (r->radix) printf(" base %" PRIu32, r->radix);
        printf(" @ %" PRIu32, r->base);
        if (r->digits[0]) printf(" (%s)", r->digits);
        printf(" }");
    }
    printf("\n");
}

/* Bits of array fields that no region covers. */
static void print_spares(void) {
    for (uint32_t f = 0; f < n_fields; ++f) {
        if (fields[f].scalar) continue;
        for (uint32_t bit = 0; bit < 8 * fields[f].bytes;) {
            uint32_t end = 8 * fields[f].bytes;
            bool covered = false;
            for (uint32_t r = 0; r < n_regions; ++r) {
                if (regions[r].field != f) continue;
                if (bit >= regions[r].base && bit < regions[r].base + regions[r].bits) {
                    covered = true;
                    end = regions[r].base + regions[r].bits;
                    break;
                }
                if (regions[r].base > bit && regions[r].base < end) end = regions[r].base;
            }
            for (; !covered && bit<end; bit += end - bit> 32 ? 32 : end - bit)
                printf("spare %s { %" PRIu32 " @ %" PRIu32 " }\n", field_name(f), end - bit > 32 ? 32 : end - bit, bit);
            bit = end;
        }
    }
}

static void close_fields(void) {
    for (uint32_t f = 0; f < n_fields; ++f)
        if (!fields[f].scalar) fields[f].bytes = (fields[f].used + 7) / 8 + (chance(10) ? below(3) : 0);
}

static void print_value(bool table) {
    const uint32_t kind = below(5);
    printf("value = 0.5 * "); /* in floats from the start: products of codes outgrow integers */
    for (uint32_t f = 0; f < n_fields; ++f)
        if (fields[f].scalar) printf("d%" PRIu32 " * ", f);
    if (table)
        printf("T[q]");
    else if (kind == 0)
        printf("(q - %" PRIu32 ")", below(200));
    else if (kind == 1)
        printf("(q %% 2 == 1 ? -q : q / 2)");
    else if (kind == 2)
        printf("(q * 2 + i %% 5)");
    else if (kind == 3)
        printf("(q > %" PRIu32 " ? 0.375 : -1.5) * q", below(8));
    else
        printf("q");
    for (uint32_t c = 1; c < n_codes; ++c) {
        if (codes[c].type && codes[c].type[0] != 'i')
            printf(chance(50) ? " * %s" : " + %s", codes[c].name);
        else
            printf(chance(50) ? " * (%s + 1)" : " - 0.25 * %s", codes[c].name);
    }
    printf("\n");
}

static bool is_wide(const char *type) {
    return type && (strcmp(type, "f32") == 0 || strcmp(type, "bf16") == 0 || strcmp(type, "e8m0") == 0);
}

/* Factors with the exponents of f32. With two of them, whether a product overflows is a matter of the order. */
static uint32_t count_wide(void) {
    uint32_t count = 0;
    for (uint32_t f = 0; f < n_fields; ++f) count += is_wide(fields[f].scalar);
    for (uint32_t c = 0; c < n_codes; ++c) count += is_wide(codes[c].type);
    return count;
}

static void print_specification(uint64_t seed) {
    static const uint32_t sizes[] = {8,   16,  24,  32,  36,  48, 60, 64, 96, 100,
                                     128, 160, 192, 256, 384, 15, 21, 30, 50, 512};
    static const struct {
        const char *type;
        uint32_t bytes;
    } scalars[] = {{"f16", 2}, {"bf16", 2}, {"f32", 4},  {"u8", 1},  {"i8", 1},
                   {"u16", 2}, {"i16", 2},  {"e4m3", 1}, {"e8m0", 1}};
    elements = sizes[below(sizeof sizes / sizeof *sizes)];
    n_buffers = chance(60) ? 1 : 1 + below(MAX_BUFFERS);
    const uint32_t n_scalars = below(3);
    for (uint32_t i = 0; i < n_scalars; ++i) {
        const uint32_t which = below(sizeof scalars / sizeof *scalars);
        add_scalar("d", scalars[which].type, scalars[which].bytes);
    }
    const bool table = chance(25);
    add_code("q", 1, table ? 1 + below(4) : 1 + below(11), NULL);
    const uint32_t groups = below(4);
    for (uint32_t g = 0; g < groups; ++g) {
        static const char *const names[] = {"sa", "sb", "sc", "sd"};
        const uint32_t per = random_divisor(elements), kind = below(4);
        if (kind == 0) {
            static const struct {
                const char *type;
                uint32_t width;
            } floats[] = {{"f16", 16}, {"bf16", 16}, {"e4m3", 8}, {"e5m2", 8}, {"e8m0", 8},
                          {"e2m1", 4}, {"e2m3", 6},  {"e3m2", 6}, {"f16", 16}, {"bf16", 16}};
            const uint32_t which = below(sizeof floats / sizeof *floats);
            add_code(names[g], per, floats[which].width, floats[which].type);
        } else if (kind == 1)
            add_code(names[g], per, 8, "i8");
        else
            add_code(names[g], per, 1 + below(9), NULL);
    }
    /* Every buffer holds something. */
    for (uint32_t b = 0; b < n_buffers; ++b) {
        bool used = false;
        for (uint32_t f = 0; f < n_fields; ++f) used |= fields[f].buffer == b;
        if (used) continue;
        for (uint32_t f = 0; f < n_fields; ++f)
            if (fields[f].buffer > b) fields[f].buffer -= 1;
        n_buffers -= 1;
        b -= 1;
    }
    close_fields();
    printf("# seed %" PRIu64 "\n# wide %" PRIu32 "\n", seed, count_wide());
    for (uint32_t b = 0; b < n_buffers; ++b) {
        uint32_t bytes = 0;
        for (uint32_t f = 0; f < n_fields; ++f)
            if (fields[f].buffer == b) bytes += fields[f].bytes;
        if (n_buffers > 1)
            printf("# buffer b%" PRIu32 " %" PRIu32 "\n", b, bytes);
        else
            printf("# buffer blocks %" PRIu32 "\n", bytes);
    }
    printf("format random_%" PRIu64 " \"random layout\"\n", seed);
    print_block();
    for (uint32_t c = 0; c < n_codes; ++c) print_code(&codes[c]);
    print_spares();
    if (table) {
        printf("table T: %s[16] = {", chance(50) ? "i8" : "f32");
        for (uint32_t i = 0; i < 16; ++i) printf("%s%d", i ? ", " : " ", (int)below(255) - 127);
        printf(" }\n");
    }
    print_value(table);
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: random_spec SEED [BYTES]\n");
        return 2;
    }
    const uint64_t seed = strtoull(argv[1], NULL, 10);
    state = seed * 0xD1342543DE82EF95u + 1;
    if (argc == 2) {
        print_specification(seed);
        return 0;
    }
    for (uint64_t left = strtoull(argv[2], NULL, 10); left; --left) putchar((int)below(256));
    return 0;
}
