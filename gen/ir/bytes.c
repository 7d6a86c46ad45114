/* Codes as bytes, four in a word, for dot products of integers.
 *
 * A word holds the four lanes of a vector of small integers, lane i in bits 8 i to 8 i + 7, so that
 * one instruction multiplies them with four bytes of x and adds up. Where codes lie a byte apart in
 * memory, a shift and a mask make that word; the rules below make it of anything else, and what is
 * done to codes one by one is done to all four at once:
 *
 *   in place   (w >> s_i) & mask, s_i = s + 8 i      (w >> s) & mask * 0x01010101
 *   spread     (w >> s_i) & mask, s_i = s + n i      two steps that move halves, then quarters,
 *                                                    apart; one product for bits
 *   join       a | b << c                            the words of a and b, likewise
 *   turn       sign_extend(a, n)                     the word of a with its sign bits turned, and
 *                                                    -2^(n-1) for each lane
 *   sign       g * (bit ? -1 : 1)                    (g ^ m) + s, with 255 and 1 in the bytes of negative lanes
 *   digit      ((b * r^n & 255) * r) >> 8            two bytes at a time, with 16 bits for each product
 *   pack       any four integers that fit            each shifted to its byte
 *
 * Where all pairs of a table's values are at hand, of which a byte of two codes picks one,
 * dot_bytes.c has a rule before these. */
#include "ir/ir.h"

enum { LANES = 4, BYTE = 8 };
static const uint32_t EVERY_BYTE = 0x01010101, EVERY_OTHER_BYTE = 0x00FF00FF;

static const qg_node *apply(qg_ir *ir, qg_op op, const qg_node *a, const qg_node *b) {
    return qg_apply(ir, op, a, b, NULL);
}

static const qg_node *masked(qg_ir *ir, const qg_node *word, uint32_t mask) {
    return apply(ir, QG_AND, word, qg_uint(ir, mask));
}

static const qg_node *down(qg_ir *ir, const qg_node *word, uint32_t bits) {
    return apply(ir, QG_SHR, word, qg_uint(ir, bits));
}

static bool is_integer(const qg_node *node) { return node->op == QG_CONST && node->kind != QG_K_FLOAT; }

static uint32_t ones(uint32_t width) { return width < 32 ? (UINT32_C(1) << width) - 1 : UINT32_MAX; }

/* What a mask leaves of a shift or a product that has no name is masked where it goes to: ((w >> 4)
 * & 3) << 2 is (w >> 2) & 12. */
static const qg_node *up(qg_ir *ir, const qg_node *word, uint32_t bits) {
    const qg_node *from = word->op == QG_AND && !word->name && !word->arg[0]->name ? word->arg[0] : word;
    const qg_node *moved = NULL;
    const uint64_t mask =
        from != word && is_integer(word->arg[1]) ? (uint64_t)word->arg[1]->integer << bits : UINT64_MAX;
    const uint64_t by = from->n_args == 2 && is_integer(from->arg[1]) ? (uint64_t)from->arg[1]->integer : UINT64_MAX;
    if (mask <= UINT32_MAX && from->op == QG_SHR && by < 32)
        moved = by < bits ? apply(ir, QG_SHL, from->arg[0], qg_uint(ir, bits - (uint32_t)by))
                          : down(ir, from->arg[0], (uint32_t)by - bits);
    if (mask <= UINT32_MAX && from->op == QG_MUL && by << bits <= UINT32_MAX)
        moved = apply(ir, QG_MUL, from->arg[0], qg_uint(ir, (uint32_t)by << bits));
    return moved ? masked(ir, moved, (uint32_t)mask) : apply(ir, QG_SHL, word, qg_uint(ir, bits));
}

/* ---- ranges ---- */

static void widen(int64_t value, int64_t *low, int64_t *high) {
    if (value < *low) *low = value;
    if (value > *high) *high = value;
}

static bool table_range(const qg_table *table, int64_t *low, int64_t *high) {
    if (qg_scalars[table->type].kind == QG_FLOATING) return false;
    *low = INT64_MAX;
    *high = INT64_MIN;
    for (uint32_t i = 0; i < table->rows * table->columns; ++i) widen((int64_t)table->values[i], low, high);
    return true;
}

static const qg_table *table_of(const qg_ir *ir, const qg_node *node) {
    const bool load = node->op == QG_LOAD || node->op == QG_LOAD_WIDE;
    if (!load || node->ref < ir->layout->n_buffers) return NULL;
    return &ir->layout->tables[node->ref - ir->layout->n_buffers];
}

/* The bounds may be wider than any value is, so that products of them need not fit 32 bits, and then are none. */
static bool range_of_two(const qg_ir *ir, const qg_node *node, int64_t *low, int64_t *high) {
    int64_t a[2], b[2];
    if (!qg_integer_range(ir, node->arg[0], &a[0], &a[1]) || !qg_integer_range(ir, node->arg[1], &b[0], &b[1]))
        return false;
    *low = INT64_MAX;
    *high = INT64_MIN;
    for (uint32_t i = 0; i < 4; ++i) {
        const int64_t x = a[i & 1], y = b[i >> 1];
        widen(node->op == QG_ADD ? x + y : node->op == QG_SUB ? x - y : x * y, low, high);
    }
    return *low >= INT32_MIN && *high <= INT32_MAX;
}

bool qg_integer_range(const qg_ir *ir, const qg_node *node, int64_t *low, int64_t *high) {
    int64_t other[2];
    switch (node->op) {
    case QG_CONST: *low = *high = node->integer; return node->kind != QG_K_FLOAT;
    case QG_TO_INT: return qg_integer_range(ir, node->arg[0], low, high) && *high <= INT32_MAX;
    case QG_SPLAT:
    case QG_LANE: return qg_integer_range(ir, node->arg[0], low, high);
    case QG_SEXT:
        *low = -(INT64_C(1) << (node->integer - 1));
        *high = -*low - 1;
        return true;
    case QG_TABLE: return table_range(&ir->layout->tables[node->ref], low, high);
    case QG_SELECT:
        if (node->kind == QG_K_FLOAT || !qg_integer_range(ir, node->arg[1], low, high) ||
            !qg_integer_range(ir, node->arg[2], &other[0], &other[1]))
            return false;
        widen(other[0], low, high);
        widen(other[1], low, high);
        return true;
    case QG_VECTOR:
        *low = INT64_MAX;
        *high = INT64_MIN;
        for (uint32_t i = 0; i < node->n_args; ++i) {
            if (!qg_integer_range(ir, node->arg[i], &other[0], &other[1])) return false;
            widen(other[0], low, high);
            widen(other[1], low, high);
        }
        return true;
    default: break;
    }
    if (node->kind == QG_K_UINT) {
        *low = 0;
        *high = (int64_t)node->max;
        return true;
    }
    if (node->kind != QG_K_INT || (node->op != QG_ADD && node->op != QG_SUB && node->op != QG_MUL)) return false;
    return range_of_two(ir, node, low, high);
}

/* ---- in place, spread ---- */

/* (splat(w) >> vector of constants) & mask, or without mask where nothing is above. */
typedef struct fields {
    const qg_node *word;
    uint32_t width;
    uint32_t shift[LANES];
    uint32_t step; /* from each lane to the next, or 0 where that differs */
} fields;

static bool match_spread(qg_ir *ir, const qg_node *node, fields *f) {
    if (node->op != QG_SHR || node->arg[0]->op != QG_SPLAT || node->arg[1]->op != QG_VECTOR) return false;
    int64_t low, high;
    f->word = node->arg[0]->arg[0];
    if (node->arg[0]->kind == QG_K_INT) { /* a sign would be moved in from above */
        if (!qg_integer_range(ir, f->word, &low, &high) || low < 0) return false;
        f->word = apply(ir, QG_TO_UINT, f->word, NULL);
    }
    f->width = BYTE;
    for (uint32_t i = 0; i < LANES; ++i) {
        if (!is_integer(node->arg[1]->arg[i])) return false;
        f->shift[i] = (uint32_t)node->arg[1]->arg[i]->integer;
    }
    f->step = f->shift[1] > f->shift[0] ? f->shift[1] - f->shift[0] : 0;
    for (uint32_t i = 1; i < LANES; ++i)
        if (f->shift[i] != f->shift[0] + i * f->step) f->step = 0;
    return true;
}

static bool match_masked(qg_ir *ir, const qg_node *node, fields *f) {
    if (node->op != QG_AND || !is_integer(node->arg[1]) || !match_spread(ir, node->arg[0], f)) return false;
    f->width = 0;
    while (f->width < BYTE && (int64_t)ones(f->width) < node->arg[1]->integer) ++f->width;
    return (int64_t)ones(f->width) == node->arg[1]->integer && f->width > 0;
}

/* Fields a step apart, less than a byte: first the two pairs are moved apart, then the two of each. */
static const qg_node *spread(qg_ir *ir, const fields *f) {
    const uint32_t n = f->step, one = ones(f->width), two = one | one << n;
    const qg_node *word = down(ir, f->word, f->shift[0]);
    if (n == 1) {
        const qg_node *product =
            apply(ir, QG_MUL, masked(ir, word, 15), qg_uint(ir, 1u | 1u << 7 | 1u << 14 | 1u << 21));
        return masked(ir, product, EVERY_BYTE);
    }
    word = qg_let(ir, word, "run", NULL);
    const qg_node *pairs = apply(ir, QG_OR, masked(ir, word, two), up(ir, masked(ir, word, two << 2 * n), 16 - 2 * n));
    pairs = qg_let(ir, pairs, "pairs", NULL);
    return apply(ir, QG_OR, masked(ir, pairs, one | one << 16),
                 up(ir, masked(ir, pairs, (one | one << 16) << n), BYTE - n));
}

static const qg_node *packed(qg_ir *ir, const qg_node *const *lanes, bool mask) {
    const qg_node *word = NULL;
    for (uint32_t i = 0; i < LANES; ++i) {
        const qg_node *lane = lanes[i];
        if (lane->kind == QG_K_INT) lane = apply(ir, QG_TO_UINT, lane, NULL);
        if (mask && i < LANES - 1) lane = masked(ir, lane, 255);
        lane = up(ir, lane, BYTE * i);
        word = word ? apply(ir, QG_OR, word, lane) : lane;
    }
    return word;
}

/* Where each field is a whole value of a table whose values are bytes of that kind: their bounds. */
static void take_table_range(const qg_ir *ir, const fields *f, qg_scalar type, qg_bytes *out) {
    const qg_table *table = table_of(ir, f->word);
    int64_t low = 0, high = 0;
    if (!table || table->type != type || qg_table_bits(table) != BYTE || f->width != BYTE) return;
    for (uint32_t i = 0; i < LANES; ++i)
        if (f->shift[i] % BYTE) return;
    table_range(table, &low, &high);
    out->low = (int32_t)low;
    out->high = (int32_t)high;
}

static bool bytes_of_fields(qg_ir *ir, const fields *f, bool at_once, qg_bytes *out) {
    *out = (qg_bytes){.low = 0, .high = (int32_t)ones(f->width)};
    take_table_range(ir, f, QG_U8, out);
    if (f->step == BYTE) {
        out->word =
            masked(ir, down(ir, f->word, f->shift[0]), f->width == BYTE ? UINT32_MAX : ones(f->width) * EVERY_BYTE);
        if (f->width == BYTE && f->shift[0] == 0) out->word = f->word;
        return true;
    }
    if (at_once && (f->step != 1 || f->width != 1)) return false;
    if (f->step >= f->width && f->step < BYTE) {
        out->word = spread(ir, f);
        return true;
    }
    const qg_node *lanes[LANES];
    for (uint32_t i = 0; i < LANES; ++i) lanes[i] = masked(ir, down(ir, f->word, f->shift[i]), ones(f->width));
    out->word = packed(ir, lanes, false);
    return true;
}

/* ---- join, turn, pack ---- */

static bool bytes_of(qg_ir *ir, const qg_node *node, bool at_once, qg_bytes *out);

static bool join(qg_ir *ir, const qg_node *node, bool at_once, qg_bytes *out) {
    const qg_node *upper = node->arg[1];
    qg_bytes a, b;
    if (upper->op != QG_SHL || !is_integer(upper->arg[1]) || !bytes_of(ir, node->arg[0], at_once, &a) ||
        !bytes_of(ir, upper->arg[0], at_once, &b) || a.low < 0 || b.low < 0 || a.offset || b.offset)
        return false;
    const uint32_t c = (uint32_t)upper->arg[1]->integer;
    if (c >= BYTE || b.high << c > 255 || a.high >= 1 << c) return false;
    *out = (qg_bytes){apply(ir, QG_OR, a.word, up(ir, b.word, c)), 0, a.high | b.high << c, 0};
    return true;
}

static bool turn(qg_ir *ir, const qg_node *node, bool at_once, qg_bytes *out) {
    const uint32_t width = (uint32_t)node->integer;
    const qg_node *bits = node->arg[0]->op == QG_TO_INT ? node->arg[0]->arg[0] : node->arg[0];
    fields f;
    if (width > BYTE) return false;
    if (match_spread(ir, bits, &f)) {
        f.width = width;
        if (!bytes_of_fields(ir, &f, at_once, out)) return false;
        if (width == BYTE) {
            *out = (qg_bytes){out->word, -128, 127, 0};
            take_table_range(ir, &f, QG_I8, out);
            return true;
        }
    } else if (!bytes_of(ir, bits, at_once, out) || out->low < 0 || out->offset || out->high > (int32_t)ones(width)) {
        return false;
    }
    out->word = apply(ir, QG_XOR, out->word, qg_uint(ir, (UINT32_C(1) << (width - 1)) * EVERY_BYTE));
    out->low = 0;
    out->high = (int32_t)ones(width);
    out->offset = -(INT32_C(1) << (width - 1));
    return true;
}

const qg_node *qg_times_radix(qg_ir *ir, const qg_node *pairs, const qg_node *power, uint32_t radix, const char *name) {
    if (power && is_integer(power) && power->integer % radix == 0) {
        const uint32_t before = (uint32_t)power->integer / radix;
        pairs = qg_times_radix(ir, pairs, before > 1 ? qg_uint(ir, before) : NULL, radix, name);
    } else if (power) {
        pairs = apply(ir, QG_MUL, masked(ir, pairs, EVERY_OTHER_BYTE), power);
    }
    return qg_let(ir, apply(ir, QG_MUL, masked(ir, pairs, EVERY_OTHER_BYTE), qg_uint(ir, radix)), name, NULL);
}

/* A digit of fractions of eight bits: the digits above it are moved out, and the next factor moves it out. */
static bool digit(qg_ir *ir, const qg_node *node, bool at_once, qg_bytes *out) {
    const qg_node *product = node->arg[0], *rest = product->n_args ? product->arg[0] : NULL, *power = NULL;
    if (!is_integer(node->arg[1]) || node->arg[1]->integer != BYTE || product->op != QG_MUL ||
        !is_integer(product->arg[1]))
        return false;
    const uint32_t radix = (uint32_t)product->arg[1]->integer;
    if (rest->op == QG_AND && rest->arg[0]->op == QG_MUL && is_integer(rest->arg[1]) && rest->arg[1]->integer == 255) {
        power = rest->arg[0]->arg[1];
        rest = rest->arg[0]->arg[0];
    }
    if (radix < 2 || radix > 256 || (power && (power->lanes > 1 || power->max > 256)) ||
        !bytes_of(ir, rest, at_once, out) || out->low < 0 || out->offset)
        return false;
    const qg_node *even = qg_times_radix(ir, out->word, power, radix, "evens");
    const qg_node *odd = qg_times_radix(ir, down(ir, out->word, BYTE), power, radix, "odds");
    *out = (qg_bytes){.high = (int32_t)radix - 1,
                      .word = apply(ir, QG_OR, masked(ir, down(ir, even, BYTE), EVERY_OTHER_BYTE),
                                    masked(ir, odd, ~EVERY_OTHER_BYTE))};
    return true;
}

static bool offset(qg_ir *ir, const qg_node *node, bool at_once, qg_bytes *out) {
    if (node->arg[1]->op != QG_CONST || !bytes_of(ir, node->arg[0], at_once, out)) return false;
    const int64_t by = node->op == QG_SUB ? -node->arg[1]->integer : node->arg[1]->integer;
    if (by < -255 || by > 255) return false;
    out->offset += (int32_t)by;
    return true;
}

static bool pack(qg_ir *ir, const qg_node *node, qg_bytes *out) {
    int64_t low, high;
    if (!qg_integer_range(ir, node, &low, &high) || low < -128 || high > 255 || (low < 0 && high > 127)) return false;
    if (node->op != QG_VECTOR) node = qg_let(ir, node, "codes", NULL);
    const qg_node *lanes[LANES];
    for (uint32_t i = 0; i < LANES; ++i) lanes[i] = qg_lane(ir, node, i);
    *out = (qg_bytes){packed(ir, lanes, low < 0), (int32_t)low, (int32_t)high, 0};
    return true;
}

static bool bytes_of(qg_ir *ir, const qg_node *node, bool at_once, qg_bytes *out) {
    fields f;
    if (node->lanes != LANES) return false;
    if (match_masked(ir, node, &f)) return bytes_of_fields(ir, &f, at_once, out);
    switch (node->op) {
    case QG_TO_INT: return bytes_of(ir, node->arg[0], at_once, out);
    case QG_OR:
        if (join(ir, node, at_once, out)) return true;
        break;
    case QG_SEXT:
        if (turn(ir, node, at_once, out)) return true;
        break;
    case QG_SHR:
        if (digit(ir, node, at_once, out)) return true;
        break;
    case QG_ADD:
    case QG_SUB:
        if (offset(ir, node, at_once, out)) return true;
        break;
    default: break;
    }
    return !at_once && pack(ir, node, out);
}

/* ---- sign ---- */

/* bit ? -1 : 1, in all lanes: 1 in the bytes of the negative ones. */
static const qg_node *negative_lanes(qg_ir *ir, const qg_node *node, bool at_once) {
    if (node->op == QG_TO_FLOAT) node = node->arg[0];
    if (node->op != QG_SELECT || node->lanes != LANES) return NULL;
    const qg_node *condition = node->arg[0], *yes = node->arg[1], *no = node->arg[2];
    if (yes->op == QG_SPLAT) yes = yes->arg[0];
    if (no->op == QG_SPLAT) no = no->arg[0];
    if (!is_integer(yes) || !is_integer(no) || yes->integer != -no->integer || no->integer * no->integer != 1)
        return NULL;
    const qg_node *bit = qg_bit_of(condition);
    qg_bytes s;
    if (!bit || !bytes_of(ir, bit, at_once, &s) || s.low < 0 || s.offset || s.high != 1) return NULL;
    if (no->integer == 1) return s.word;
    return apply(ir, QG_XOR, s.word, qg_uint(ir, EVERY_BYTE));
}

static bool as_bytes(qg_ir *ir, const qg_node *node, bool at_once, qg_bytes *out);

static bool signed_bytes(qg_ir *ir, const qg_node *sign, const qg_node *node, bool at_once, qg_bytes *out) {
    qg_bytes g;
    const qg_node *s = negative_lanes(ir, sign, at_once);
    if (!s || !as_bytes(ir, node, at_once, &g) || g.offset || g.low < 1 || g.high > 127) return false;
    s = qg_let(ir, s, "negative", NULL);
    const qg_node *all = apply(ir, QG_SUB, up(ir, s, BYTE), s);
    const qg_node *word = qg_let(ir, apply(ir, QG_ADD, apply(ir, QG_XOR, g.word, all), s), "bytes", NULL);
    *out = (qg_bytes){word, -g.high, g.high, 0};
    return true;
}

const qg_node *qg_bit_of(const qg_node *condition) {
    if (condition->op != QG_NE) return NULL;
    const qg_node *zero = condition->arg[1], *bit = condition->arg[0];
    if (zero->op == QG_SPLAT) zero = zero->arg[0];
    if (!is_integer(zero) || zero->integer != 0) return NULL;
    if (bit->op == QG_TO_INT && bit->arg[0]->kind == QG_K_UINT && bit->arg[0]->max <= 1) return bit->arg[0];
    if (bit->kind == QG_K_UINT && bit->max <= 1) return bit;
    const bool lowest = bit->op == QG_AND && is_integer(bit->arg[1]) && bit->arg[1]->integer == 1;
    return lowest ? bit : NULL;
}

/* Lanes of integers, as a constructor of floats converts them. */
static const qg_node *unconverted(qg_ir *ir, const qg_node *node) {
    if (node->op == QG_TO_FLOAT) return node->arg[0];
    if (node->op != QG_VECTOR || node->kind != QG_K_FLOAT) return NULL;
    for (uint32_t i = 0; i < node->n_args; ++i)
        if (node->arg[i]->kind != node->arg[0]->kind || node->arg[i]->kind == QG_K_FLOAT) return NULL;
    return qg_vector(ir, node->arg, node->n_args);
}

static bool as_bytes(qg_ir *ir, const qg_node *node, bool at_once, qg_bytes *out) {
    if (node->lanes != LANES) return false;
    if (node->op == QG_MUL && node->kind == QG_K_FLOAT)
        return signed_bytes(ir, node->arg[1], node->arg[0], at_once, out) ||
               signed_bytes(ir, node->arg[0], node->arg[1], at_once, out);
    const qg_node *codes = unconverted(ir, node);
    if (!codes || !bytes_of(ir, codes, at_once, out)) return false;
    out->word = qg_let(ir, out->word, "bytes", NULL);
    return true;
}

bool qg_as_bytes(qg_ir *ir, const qg_node *node, qg_bytes *out) { return as_bytes(ir, node, false, out); }

bool qg_as_bytes_at_once(qg_ir *ir, const qg_node *node, qg_bytes *out) { return as_bytes(ir, node, true, out); }

const qg_node *qg_word_of_bytes(qg_ir *ir, const qg_node *node) {
    fields f;
    const bool bytes = node->lanes == LANES && match_masked(ir, node, &f) && f.width == BYTE && f.step == BYTE;
    return bytes && f.shift[0] == 0 ? f.word : NULL;
}

bool qg_as_nibbles(qg_ir *ir, const qg_node *node, qg_nibbles *out) {
    const qg_node *values = node->lanes == LANES ? unconverted(ir, node) : NULL, *codes = NULL;
    fields f;
    if (!values || values->op != QG_VECTOR) return false;
    for (uint32_t i = 0; i < LANES; ++i) {
        const qg_node *value = values->arg[i];
        if (value->op != QG_TABLE || value->ref != values->arg[0]->ref || value->n_args != 1) return false;
        const qg_node *row = value->arg[0];
        if (row->op != QG_LANE || row->integer != i || (codes && row->arg[0] != codes)) return false;
        codes = row->arg[0];
    }
    const qg_table *table = &ir->layout->tables[values->arg[0]->ref];
    if (!match_masked(ir, codes, &f) || f.step != BYTE || f.width != 4) return false;
    if (table->rows != 16 || !table_range(table, &out->low, &out->high) || out->low < -128 || out->high > 127)
        return false;
    out->word = f.word;
    out->table = values->arg[0]->ref;
    out->shift = f.shift[0];
    return true;
}

bool qg_as_plane(qg_ir *ir, const qg_node *node, qg_plane *out) {
    const qg_node *codes = node->lanes == LANES ? unconverted(ir, node) : NULL;
    fields f;
    if (!codes) return false;
    if (codes->op == QG_TO_INT) codes = codes->arg[0];
    if (!match_masked(ir, codes, &f) || BYTE % f.width) return false;
    *out = (qg_plane){.word = f.word, .width = f.width};
    for (uint32_t i = 0; i < LANES; ++i) {
        if (f.shift[i] % f.width) return false;
        out->shift[i] = f.shift[i];
    }
    return f.step != BYTE && f.width < BYTE;
}

const qg_node *qg_plane_bytes(qg_ir *ir, const qg_plane *plane, uint32_t shift) {
    return qg_let(ir, masked(ir, down(ir, plane->word, shift), ones(plane->width) * EVERY_BYTE), "bytes", NULL);
}
