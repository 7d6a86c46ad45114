/* Codes as floats without conversions of integers, for sums.
 *
 * A half whose exponent bits are zero is its ten low bits times 2^-24, so that one unpacking of a
 * word with two masked codes, sixteen bits apart, gives two floats. Nothing is shifted into place
 * where the code lies below bit ten: it is then 2^p times too large. Both factors are powers of
 * two; x is multiplied with their inverses when it is loaded, once for all rows.
 *
 *   halves   float((w >> s) & mask)          unpack(w & (mask << p | mask << p + 16)).x or .y, with x * 2^(24 - p)
 *   merge    (a >> s & m) | (b >> t & n) << c   one word, before that, where the codes of all lanes
 *                                               lie alike in a and b
 *   twice    the same of two runs at once, where codes are masked: of three bits, the third in another word
 *   bias     float(sign_extend(u, n))        the same for u with its sign bit turned, and minus
 *                                            2^(n-1) for each element
 *   bytes    any four integers that bytes.c makes a word of, all at once: bytes 0 and 2 of it, and
 *            1 and 3, less the lowest that they can be, where that is below zero
 *   in place the same where codes are masked, each where it lies: in a word, or in one of two that were put together
 *   scales   float(code), which is fields of words, less a number, once for a run: those of another code, 16 bits above
 *            all of them, are the other half of one word
 *   pairs    table[(w >> s) & 15], both halves of w's bytes    the table of pairs, a byte at a time
 *   two      the same where codes are masked: all pairs as floats
 *   loaded   float((w >> 8 i) & 255)         where codes are masked, and w is loaded: its bytes are, instead
 *   words    float((w_i >> s) & mask)        unpack(w_i & (mask << p | mask << p + 16)).x or .y, which rows of a
 *                                            matrix share
 *   floats   table[(w >> s) & mask]          where the table holds floats of few bits: the sign goes
 *                                            to the half's, the other bits to its lowest exponents;
 *                                            a power of two makes up for the difference in bias
 *   typed    the same of codes that are such floats by their type; where one may be NaN, bytes tell, and the sum is */
#include "ir/ir.h"

#include <math.h>

enum { HALF_DIGITS = 10, HALF_BITS = 16 };
static const uint32_t EVERY_BYTE = 0x01010101;

/* The lanes of a vector as fields of one word: lane i is `width` bits at `shift[i]`. */
typedef struct fields {
    const qg_node *word;
    uint32_t width;
    uint32_t shift[QG_MAX_LANES];
    bool biased;       /* two's complement: turn the sign bits, and subtract 2^(width - 1) */
    uint32_t exponent; /* bits of a float's exponent, below its sign; 0: integers */
    float unit;        /* what the half stands for, then */
    bool specials;     /* and it may be NaN */
} fields;

static const qg_node *apply(qg_ir *ir, qg_op op, const qg_node *a, const qg_node *b) {
    return qg_apply(ir, op, a, b, NULL);
}

static bool is_word(const qg_node *node) { return node->op == QG_CONST && node->kind == QG_K_UINT; }

static uint32_t ones(uint32_t width) { return (UINT32_C(1) << width) - 1; }

static uint32_t width_of(const qg_node *mask) {
    uint32_t width = 0;
    while (width < 31 && ones(width) < (uint64_t)mask->integer) ++width;
    return ones(width) == (uint64_t)mask->integer ? width : 0;
}

static uint32_t all_fields(const fields *f, uint32_t lanes, uint32_t bits, uint32_t up) {
    uint32_t mask = 0;
    for (uint32_t i = 0; i < lanes; ++i) mask |= bits << (f->shift[i] + up);
    return mask;
}

/* splat(w) >> vector of constants. */
static bool match_spread(const qg_node *node, uint32_t lanes, fields *f) {
    if (node->op != QG_SHR || node->arg[0]->op != QG_SPLAT || node->arg[1]->op != QG_VECTOR) return false;
    f->word = node->arg[0]->arg[0];
    for (uint32_t i = 0; i < lanes; ++i) {
        if (!is_word(node->arg[1]->arg[i])) return false;
        f->shift[i] = (uint32_t)node->arg[1]->arg[i]->integer;
    }
    return true;
}

static bool match_masked(const qg_node *node, uint32_t lanes, fields *f) {
    if (node->op != QG_AND || !is_word(node->arg[1]) || !match_spread(node->arg[0], lanes, f)) return false;
    f->width = width_of(node->arg[1]);
    return f->width > 0;
}

static bool fields_apart(const fields *f, uint32_t lanes) {
    for (uint32_t i = 0; i < lanes; ++i)
        for (uint32_t j = 0; j < i; ++j) {
            const uint32_t low = f->shift[i] < f->shift[j] ? i : j, high = low == i ? j : i;
            if (f->shift[low] + f->width > f->shift[high]) return false;
        }
    return true;
}

/* The sign bits of all fields. */
static uint32_t sign_bits(const fields *f, uint32_t lanes) {
    return all_fields(f, lanes, UINT32_C(1) << (f->width - 1), 0);
}

static const qg_node *moved(qg_ir *ir, const qg_node *word, int32_t up) {
    if (up == 0) return word;
    return up > 0 ? apply(ir, QG_SHL, word, qg_uint(ir, (uint32_t)up))
                  : apply(ir, QG_SHR, word, qg_uint(ir, (uint32_t)-up));
}

/* twice: of four bytes, each has two bits of a code in each quarter, and the third bits of the four codes side by side.
 * These are moved two at a time, so that one word has the codes of two runs, four bits apart; the other two have a word
 * like it. */
static bool merge_twice(qg_ir *ir, const fields *low, const fields *high, uint32_t lanes, fields *f) {
    const uint32_t code = low->shift[0] / 2, first = high->shift[0] - code, odd = code % 2;
    if (lanes != 4 || low->width != 2 || high->width != 1 || low->shift[0] % 2 || code > 3) return false;
    if (high->shift[0] < code || first > 4) return false;
    for (uint32_t i = 1; i < lanes; ++i)
        if (low->shift[i] != low->shift[0] + 8 * i || high->shift[i] != high->shift[0] + 8 * i) return false;
    const qg_node *thirds = apply(ir, QG_AND, moved(ir, high->word, -(int32_t)first), qg_uint(ir, 15 * EVERY_BYTE));
    thirds = qg_let(ir, thirds, "thirds", NULL);
    const qg_node *apart = qg_let(ir, apply(ir, QG_OR, thirds, moved(ir, thirds, 2)), "apart", NULL);
    const qg_node *a = apply(ir, QG_AND, moved(ir, low->word, -2 * (int32_t)odd), qg_uint(ir, 0x33 * EVERY_BYTE));
    const qg_node *b = apply(ir, QG_AND, moved(ir, apart, odd ? 1 : 2), qg_uint(ir, 0x44 * EVERY_BYTE));
    *f = (fields){.width = 3, .word = qg_let(ir, apply(ir, QG_OR, a, b), "codes", "of two runs")};
    for (uint32_t i = 0; i < lanes; ++i) f->shift[i] = code / 2 * 4 + 8 * i;
    return true;
}

/* merge: low | high << c, the fields of both in one word. */
static bool match_merged(qg_ir *ir, const qg_node *node, uint32_t lanes, fields *f) {
    fields low = {.width = 0}, high = {.width = 0};
    if (node->op != QG_OR || !match_masked(node->arg[0], lanes, &low)) return false;
    const qg_node *upper = node->arg[1];
    if (upper->op != QG_SHL || !is_word(upper->arg[1]) || (uint32_t)upper->arg[1]->integer != low.width ||
        !match_masked(upper->arg[0], lanes, &high))
        return false;
    const int32_t up = (int32_t)(low.shift[0] + low.width) - (int32_t)high.shift[0];
    for (uint32_t i = 0; i < lanes; ++i)
        if ((int32_t)(low.shift[i] + low.width) - (int32_t)high.shift[i] != up) return false;
    if (ir->in_place && merge_twice(ir, &low, &high, lanes, f)) return true;
    *f = low;
    f->width = low.width + high.width;
    uint32_t down = 0; /* so that the field stays within the digits of a half */
    for (uint32_t i = 0; i < lanes; ++i)
        if (low.shift[i] % HALF_BITS % 8 + f->width > HALF_DIGITS || low.shift[i] % 8 + f->width > 8)
            down = low.shift[i] % 8;
    for (uint32_t i = 0; i < lanes; ++i) {
        if (low.shift[i] < down) return false;
        f->shift[i] = low.shift[i] - down;
        if (f->shift[i] + f->width > 32) return false;
    }
    if (!fields_apart(f, lanes)) return false;
    const qg_node *a =
        apply(ir, QG_AND, moved(ir, low.word, -(int32_t)down), qg_uint(ir, all_fields(f, lanes, ones(low.width), 0)));
    const qg_node *b = apply(ir, QG_AND, moved(ir, high.word, up - (int32_t)down),
                             qg_uint(ir, all_fields(f, lanes, ones(high.width), low.width)));
    f->word = qg_let(ir, apply(ir, QG_OR, a, b), "codes", "packed");
    return true;
}

/* Values of a table may be far smaller than their type allows, and the bias would drown them. */
static bool is_of_table(const qg_ir *ir, const qg_node *node) {
    if ((node->op == QG_LOAD || node->op == QG_LOAD_WIDE) && node->ref >= ir->layout->n_buffers) return true;
    for (uint32_t i = 0; i < node->n_args; ++i)
        if (is_of_table(ir, node->arg[i])) return true;
    return false;
}

/* What a half with these bits is. */
static double half_value(uint32_t bits) {
    const uint32_t exponent = bits >> HALF_DIGITS & 31, digits = bits & ones(HALF_DIGITS);
    const double size = exponent ? ldexp(1024 + digits, (int)exponent - 25) : ldexp(digits, -24);
    return bits >> 15 ? -size : size;
}

/* The half that takes the place of a float of `width` bits. */
static uint32_t half_of(uint32_t bits, uint32_t width, uint32_t exponent) {
    const uint32_t up = HALF_DIGITS - (width - 1 - exponent);
    return (bits & ones(width - 1)) << up | bits >> (width - 1) << 15;
}

/* Whether a table is that of floats with so many bits of exponent, but for one factor, which goes to *unit. */
static bool holds_floats(const qg_table *table, uint32_t width, uint32_t exponent, float *unit) {
    const double first = table->values[1] / half_value(half_of(1, width, exponent));
    int power;
    if (!(first > 0) || frexp(first, &power) != 0.5) return false;
    for (uint32_t i = 0; i < table->rows; ++i)
        if (table->values[i] != first * half_value(half_of(i, width, exponent))) return false;
    *unit = (float)first;
    return true;
}

/* Lanes that are looked up in one table, which holds floats of few bits. */
static bool match_floats(const qg_ir *ir, const qg_node *node, uint32_t lanes, fields *f) {
    if (node->op != QG_VECTOR || node->kind != QG_K_FLOAT || node->lanes != lanes) return false;
    const qg_node *first = node->arg[0];
    for (uint32_t i = 0; i < lanes; ++i) {
        const qg_node *value = node->arg[i];
        if (value->op != QG_TABLE || value->ref != first->ref || value->n_args != 1 || value->arg[0]->op != QG_LANE)
            return false;
        if (value->arg[0]->integer != i || value->arg[0]->arg[0] != first->arg[0]->arg[0]) return false;
    }
    const qg_table *table = &ir->layout->tables[first->ref];
    if (!match_masked(first->arg[0]->arg[0], lanes, f) || f->width < 3 || table->columns > 1) return false;
    if (table->rows != UINT32_C(1) << f->width) return false;
    for (f->exponent = f->width - 2; f->exponent > 0; --f->exponent)
        if (f->exponent <= 5 && holds_floats(table, f->width, f->exponent, &f->unit)) return true;
    return false;
}

/* (x & mask) << up; NULL where it is anything else. */
static const qg_node *moved_field(const qg_node *node, uint32_t *mask, uint32_t *up) {
    if (node->op != QG_SHL || !is_word(node->arg[1]) || node->arg[0]->op != QG_AND || !is_word(node->arg[0]->arg[1]))
        return NULL;
    *up = (uint32_t)node->arg[1]->integer;
    *mask = (uint32_t)node->arg[0]->arg[1]->integer;
    return node->arg[0]->arg[0];
}

/* What is chosen where all of a lane's digits are not 1, for then it is NaN: QG_NAN_ON_TOP. */
static const qg_node *but_for_nan(const qg_node *node, fields *f) {
    if (node->op != QG_SELECT || node->arg[0]->op != QG_EQ || !is_word(node->arg[0]->arg[1])) return node;
    const qg_node *magnitude = node->arg[0]->arg[0], *moved = node->arg[2];
    f->specials = true;
    if (magnitude->op != QG_AND || magnitude->arg[1] != node->arg[0]->arg[1] || moved->op != QG_SHL) return NULL;
    return moved->arg[0] == magnitude ? moved : NULL;
}

/* A lane of bits whose digits and sign are moved to those of a half; *unit makes up for the difference in bias. */
static const qg_node *typed_lane(const qg_node *node, uint32_t lane, fields *f) {
    uint32_t digits, sign, up, sign_up;
    f->unit = 1;
    if (node->op == QG_MUL && node->arg[1]->op == QG_CONST) {
        f->unit = node->arg[1]->real;
        node = node->arg[0];
    }
    if (node->op != QG_F16_BITS || node->arg[0]->op != QG_OR) return NULL;
    const qg_node *magnitude = but_for_nan(node->arg[0]->arg[0], f);
    const qg_node *bits = magnitude ? moved_field(magnitude, &digits, &up) : NULL;
    if (!bits || bits != moved_field(node->arg[0]->arg[1], &sign, &sign_up)) return NULL;
    f->width = 0;
    while (digits >> f->width & 1) ++f->width;
    f->exponent = f->width + up - HALF_DIGITS;
    const bool whole = digits == ones(f->width) && sign == digits + 1 && sign_up + f->width == HALF_BITS - 1;
    if (!whole || up >= HALF_DIGITS || f->exponent < 1 || f->exponent > f->width) return NULL;
    f->width += 1;
    return bits->op == QG_LANE && (uint32_t)bits->integer == lane ? bits->arg[0] : NULL;
}

/* Lanes that are floats of few bits by their type; without infinities, and NaN only where all digits are 1. */
static bool match_typed(const qg_node *node, uint32_t lanes, fields *f) {
    const qg_node *bits = NULL;
    fields masked = {.width = 0};
    if (node->op != QG_VECTOR || node->kind != QG_K_FLOAT || node->lanes != lanes) return false;
    for (uint32_t i = 0; i < lanes; ++i) {
        const qg_node *own = typed_lane(node->arg[i], i, f);
        if (!own || (i > 0 && own != bits)) return false;
        bits = own;
    }
    if (!match_masked(bits, lanes, &masked) || masked.width != f->width) return false;
    f->word = masked.word;
    for (uint32_t i = 0; i < lanes; ++i) f->shift[i] = masked.shift[i];
    /* Of a word, all bytes are looked at. */
    return !f->specials || (lanes == 4 && f->width == 8 && fields_apart(f, lanes));
}

static bool match(qg_ir *ir, const qg_node *node, uint32_t lanes, fields *f) {
    *f = (fields){.width = 0};
    if (!ir->masked && match_floats(ir, node, lanes, f)) return true;
    *f = (fields){.width = 0};
    if (match_typed(node, lanes, f)) return true;
    *f = (fields){.width = 0};
    if (node->op != QG_TO_FLOAT || node->lanes != lanes) return false;
    const qg_node *codes = node->arg[0];
    if (codes->op == QG_SEXT && codes->arg[0]->op == QG_TO_INT) {
        f->width = (uint32_t)codes->integer;
        f->biased = true;
        return match_spread(codes->arg[0]->arg[0], lanes, f) && fields_apart(f, lanes) && !is_of_table(ir, f->word);
    }
    if (codes->op == QG_TO_INT) codes = codes->arg[0];
    return match_masked(codes, lanes, f) || match_merged(ir, codes, lanes, f);
}

/* Where a field is taken: how far its word is shifted down, and from which bit of the half it then begins. */
static bool place_in_half(uint32_t shift, uint32_t width, uint32_t *down, uint32_t *bit) {
    const uint32_t at = shift % HALF_BITS;
    if (at + width > HALF_BITS || width > HALF_DIGITS) return false;
    *down = at + width <= HALF_DIGITS ? 0 : at >= 8 ? 8 : at;
    *bit = at - *down;
    return true;
}

static bool fits_halves(const fields *f, uint32_t lanes) {
    uint32_t down, bit;
    for (uint32_t i = 0; i < lanes; ++i)
        if (!place_in_half(f->shift[i], f->width, &down, &bit)) return false;
    return true;
}

/* The word whose halves are the floats at `at` and 16 bits above. */
static const qg_node *floats_at(qg_ir *ir, const fields *f, uint32_t at) {
    const uint32_t up = HALF_DIGITS - (f->width - 1 - f->exponent), mask = ones(f->width - 1) << up;
    const qg_node *size = moved(ir, f->word, (int32_t)up - (int32_t)at);
    const qg_node *sign = moved(ir, f->word, (int32_t)(HALF_BITS - f->width) - (int32_t)at);
    return apply(ir, QG_OR, apply(ir, QG_AND, size, qg_uint(ir, mask | mask << HALF_BITS)),
                 apply(ir, QG_AND, sign, qg_uint(ir, 0x80008000)));
}

/* Bits that are not 0 where a byte of a word has all digits: those above each of them. */
static const qg_node *nans_of(qg_ir *ir, const qg_node *word) {
    const qg_node *digits = apply(ir, QG_AND, word, qg_uint(ir, 127 * EVERY_BYTE));
    return apply(ir, QG_ADD, digits, qg_uint(ir, EVERY_BYTE));
}

static bool floats_as_halves(qg_ir *ir, const fields *f, uint32_t lanes, qg_halves *out) {
    const qg_node *parts[QG_MAX_LANES];
    if (f->specials) out->nans = nans_of(ir, f->word);
    for (uint32_t i = 0; i < lanes; ++i)
        if (f->shift[i] % HALF_BITS + f->width > HALF_BITS) return false;
    for (uint32_t i = 0; i < lanes; ++i) {
        const qg_node *pair = qg_let(ir, qg_halves_of(ir, floats_at(ir, f, f->shift[i] % HALF_BITS)), "pair", NULL);
        parts[i] = qg_lane(ir, pair, f->shift[i] >= HALF_BITS);
        out->factor[i] = f->unit;
    }
    out->vector = qg_vector(ir, parts, lanes);
    out->bias = 0;
    return true;
}

/* bytes: where the lowest of a table's values is not known, what makes them positive may be far
 * larger than they are. */
static bool match_bytes(qg_ir *ir, const qg_node *node, uint32_t lanes, fields *f, float *bias) {
    qg_bytes bytes;
    if (lanes != 4 || !qg_as_bytes_at_once(ir, node, &bytes)) return false;
    const uint32_t lowest = bytes.low < 0 ? (uint32_t)-bytes.low : 0;
    if (lowest == 128 && is_of_table(ir, bytes.word)) return false;
    *f = (fields){.word = bytes.word, .width = 1, .shift = {0, 8, 16, 24}};
    if (lowest) { /* 128 more, without a carry from byte to byte, and then less what is too much */
        f->word = apply(ir, QG_XOR, f->word, qg_uint(ir, 128 * EVERY_BYTE));
        f->word = apply(ir, QG_SUB, f->word, qg_uint(ir, (128 - lowest) * EVERY_BYTE));
        f->word = qg_let(ir, f->word, "biased", "from zero on");
    }
    while (ones(f->width) < (uint32_t)(bytes.high + (int32_t)lowest)) ++f->width;
    *bias = (float)((int32_t)lowest - bytes.offset);
    return f->width <= 8;
}

/* pairs: the runs of both halves look up the same. */
static bool pairs_as_halves(qg_ir *ir, const qg_node *node, qg_halves *out) {
    const qg_node *parts[4];
    qg_nibbles codes;
    if (!qg_as_nibbles(ir, node, &codes) || codes.shift % 4) return false; /* 0 or 4 */
    for (uint32_t i = 0; i < 4; ++i) {
        const qg_node *byte = moved(ir, codes.word, -8 * (int32_t)i);
        if (i < 3) byte = apply(ir, QG_AND, byte, qg_uint(ir, 255));
        const qg_node *pair = qg_let(ir, qg_halves_of(ir, qg_pair(ir, codes.table, byte)), "pair", NULL);
        parts[i] = qg_lane(ir, pair, codes.shift / 4);
        out->factor[i] = 1;
    }
    out->vector = qg_vector(ir, parts, 4);
    out->most = (float)(codes.high > -codes.low ? codes.high : -codes.low);
    return true;
}

bool qg_as_halves(qg_ir *ir, const qg_node *node, uint32_t lanes, qg_halves *out) {
    return qg_as_halves_or_nan(ir, node, lanes, out) && !out->nans;
}

/* Lanes that are looked up in a small table in the text, as qg_looks_up_floats says of it. */
static bool looks_up(const qg_ir *ir, const qg_node *node) {
    if (node->op == QG_TO_FLOAT) node = node->arg[0];
    if (node->op != QG_VECTOR || node->arg[0]->op != QG_TABLE) return false;
    const qg_table *table = &ir->layout->tables[node->arg[0]->ref];
    return table->rows <= QG_FEW_ROWS && table->columns <= 1;
}

/* Of a word that was put together of two neighbours, a >> s | b << (32 - s), a field lies in one of them. */
static bool find_in_place(const qg_node **word, uint32_t *shift, uint32_t width) {
    const qg_node *low = (*word)->arg[0], *high = (*word)->arg[1];
    if ((*word)->op != QG_OR || low->op != QG_SHR || high->op != QG_SHL) return false;
    if (!is_word(low->arg[1]) || !is_word(high->arg[1])) return false;
    const uint32_t down = (uint32_t)low->arg[1]->integer, up = (uint32_t)high->arg[1]->integer, at = *shift;
    const bool is_low = at < up;
    if (down + up != 32 || (is_low && at + width > up)) return false;
    *word = is_low ? low->arg[0] : high->arg[0];
    *shift = is_low ? at + down : at - up;
    return true;
}

/* The byte of a word that begins at bit `shift`, with its neighbours: NULL where the word is not loaded as such. */
static const qg_node *load_byte(qg_ir *ir, const qg_node *word, uint32_t shift, bool with_sign) {
    find_in_place(&word, &shift, 8);
    if (word->op != QG_LOAD || word->integer != 32 || word->ref >= ir->layout->n_buffers || shift % 8) return NULL;
    const qg_node *bytes = qg_let(ir, qg_load_bytes(ir, word->ref, word->arg[0], with_sign), "bytes", NULL);
    return qg_lane(ir, bytes, shift / 8);
}

static const qg_node *byte_at(qg_ir *ir, const qg_node *word, uint32_t shift) {
    const qg_node *byte = load_byte(ir, word, shift, false);
    return byte ? byte : apply(ir, QG_AND, moved(ir, word, -(int32_t)shift), qg_uint(ir, 255));
}

/* two: codes of four bits, each half of a byte. */
static bool look_up_two(qg_ir *ir, uint32_t table, const fields *f, uint32_t lanes, const qg_node **parts) {
    if (f->width != 4 || ir->layout->tables[table].rows != 16) return false;
    for (uint32_t i = 0; i < lanes; ++i)
        if (f->shift[i] % 4) return false;
    for (uint32_t i = 0; i < lanes; ++i) {
        const qg_node *byte = byte_at(ir, f->word, f->shift[i] / 8 * 8);
        parts[i] = qg_lane(ir, qg_let(ir, qg_two(ir, table, byte), "two", NULL), f->shift[i] % 8 / 4);
    }
    return true;
}

/* in place: what is looked up in a small table. */
static bool look_up_in_place(qg_ir *ir, const qg_node *node, uint32_t lanes, qg_halves *out) {
    const qg_node *tables = node->op == QG_TO_FLOAT ? node->arg[0] : node, *codes = NULL, *parts[QG_MAX_LANES];
    const uint32_t table = tables->arg[0]->ref;
    fields f = {.width = 0};
    bool any = false;
    for (uint32_t i = 0; i < lanes; ++i) {
        const bool looks = tables->arg[i]->op == QG_TABLE && tables->arg[i]->ref == table;
        const qg_node *lane = looks ? tables->arg[i]->arg[0] : NULL;
        if (!lane || lane->op != QG_LANE || (uint32_t)lane->integer != i || (codes && lane->arg[0] != codes))
            return false;
        codes = lane->arg[0];
        out->factor[i] = 1;
    }
    if (!match_masked(codes, lanes, &f)) return false;
    if (look_up_two(ir, table, &f, lanes, parts)) {
        out->vector = qg_vector(ir, parts, lanes);
        return true;
    }
    for (uint32_t i = 0; i < lanes; ++i) {
        const qg_node *word = f.word;
        uint32_t shift = f.shift[i];
        any |= find_in_place(&word, &shift, f.width);
        const qg_node *code = moved(ir, word, -(int32_t)shift);
        if (shift + f.width < 32) code = apply(ir, QG_AND, code, qg_uint(ir, ones(f.width)));
        parts[i] = qg_lookup(ir, table, code, NULL);
    }
    out->vector = qg_apply(ir, QG_TO_FLOAT, qg_vector(ir, parts, lanes), NULL, NULL);
    return any;
}

/* loaded: whole bytes of words. */
static bool load_as_bytes(qg_ir *ir, const fields *f, uint32_t lanes, qg_halves *out) {
    const qg_node *parts[QG_MAX_LANES];
    for (uint32_t i = 0; i < lanes; ++i) {
        parts[i] = f->width == 8 ? load_byte(ir, f->word, f->shift[i], f->biased) : NULL;
        if (!parts[i]) return false;
        out->factor[i] = 1;
    }
    out->vector = qg_apply(ir, QG_TO_FLOAT, qg_vector(ir, parts, lanes), NULL, NULL);
    return true;
}

/* A code as a half of its word, or of what is eight bits below; NULL where it is none. */
static const qg_node *half_in_place(qg_ir *ir, const qg_node *word, uint32_t shift, uint32_t width, float *factor) {
    uint32_t down, bit;
    if (!place_in_half(shift, width, &down, &bit)) return NULL;
    const uint32_t mask = ones(width) << bit;
    const qg_node *low = down ? qg_let(ir, moved(ir, word, -(int32_t)down), "lower", NULL) : word;
    const qg_node *pair = apply(ir, QG_AND, low, qg_uint(ir, mask | mask << HALF_BITS));
    pair = qg_let(ir, qg_halves_of(ir, pair), "pair", NULL);
    *factor = (float)(UINT32_C(1) << (24 - bit));
    return qg_lane(ir, pair, shift >= HALF_BITS);
}

/* in place: a code that is too wide for a half, or lies across two, is a float by a mask. */
static void make_masked(qg_ir *ir, const fields *f, uint32_t lanes, qg_halves *out) {
    const qg_node *parts[QG_MAX_LANES];
    if (ir->in_place && load_as_bytes(ir, f, lanes, out)) return;
    for (uint32_t i = 0; i < lanes; ++i) {
        const qg_node *word = f->word;
        uint32_t shift = f->shift[i];
        if (ir->in_place && !f->biased) find_in_place(&word, &shift, f->width);
        if (f->biased)
            word = qg_let(ir, apply(ir, QG_XOR, word, qg_uint(ir, sign_bits(f, lanes))), "biased", "sign bits turned");
        parts[i] = half_in_place(ir, word, shift, f->width, &out->factor[i]);
        if (parts[i]) continue;
        const qg_node *code = apply(ir, QG_AND, word, qg_uint(ir, ones(f->width) << shift));
        parts[i] = qg_apply(ir, QG_TO_FLOAT, code, NULL, NULL);
        out->factor[i] = 1.0f / (float)(UINT32_C(1) << shift);
    }
    out->vector = qg_vector(ir, parts, lanes);
    if (f->biased) out->bias = (float)(UINT32_C(1) << (f->width - 1));
}

bool qg_as_halves_or_nan(qg_ir *ir, const qg_node *node, uint32_t lanes, qg_halves *out) {
    fields f;
    if (lanes < 2) return false;
    out->most = 1;
    out->bias = 0;
    out->nans = NULL;
    if (ir->masked && looks_up(ir, node)) return ir->in_place && look_up_in_place(ir, node, lanes, out);
    if (!match(ir, node, lanes, &f) || (!f.exponent && !ir->masked && !fits_halves(&f, lanes))) {
        if (ir->pairs && lanes == 4 && pairs_as_halves(ir, node, out)) return true;
        if (!match_bytes(ir, node, lanes, &f, &out->bias)) return false;
    }
    if (f.exponent) return floats_as_halves(ir, &f, lanes, out);
    if (ir->masked) {
        make_masked(ir, &f, lanes, out);
        return true;
    }
    const qg_node *parts[QG_MAX_LANES];
    uint32_t down[QG_MAX_LANES], bit[QG_MAX_LANES];
    for (uint32_t i = 0; i < lanes; ++i) place_in_half(f.shift[i], f.width, &down[i], &bit[i]);
    const qg_node *word = f.word;
    if (f.biased) {
        word = apply(ir, QG_XOR, word, qg_uint(ir, sign_bits(&f, lanes)));
        word = qg_let(ir, word, "biased", "sign bits turned");
    }
    for (uint32_t i = 0; i < lanes; ++i) {
        const uint32_t mask = ones(f.width) << bit[i];
        const qg_node *pair =
            apply(ir, QG_AND, moved(ir, word, -(int32_t)down[i]), qg_uint(ir, mask | mask << HALF_BITS));
        pair = qg_let(ir, qg_halves_of(ir, pair), "pair", NULL);
        parts[i] = qg_lane(ir, pair, f.shift[i] >= HALF_BITS);
        out->factor[i] = (float)(UINT32_C(1) << (24 - bit[i]));
    }
    out->vector = qg_vector(ir, parts, lanes);
    if (f.biased) out->bias = (float)(UINT32_C(1) << (f.width - 1));
    return true;
}

/* A piece of a code, ((w >> s) & mask) << up, where it goes in a half; *half is the one of w that it lies in. */
static const qg_node *piece_in_half(qg_ir *ir, const qg_node *node, uint32_t *half) {
    uint32_t up = 0, shift = 0;
    if (node->op == QG_SHL && is_word(node->arg[1])) {
        up = (uint32_t)node->arg[1]->integer;
        node = node->arg[0];
    }
    if (node->op != QG_AND || !is_word(node->arg[1])) return NULL;
    const uint32_t width = width_of(node->arg[1]);
    node = node->arg[0];
    if (node->op == QG_SHR && is_word(node->arg[1])) {
        shift = (uint32_t)node->arg[1]->integer;
        node = node->arg[0];
    }
    const uint32_t at = shift % HALF_BITS, mask = ones(width) << up;
    if (!width || up + width > HALF_DIGITS || at + width > HALF_BITS) return NULL;
    *half = shift / HALF_BITS;
    return apply(ir, QG_AND, moved(ir, node, (int32_t)up - (int32_t)at), qg_uint(ir, mask | mask << HALF_BITS));
}

const qg_node *qg_scalar_as_half(qg_ir *ir, const qg_node *node) {
    const qg_node *less = NULL, *high = NULL;
    uint32_t half = 0, other = 0;
    if (node->lanes != 1) return NULL;
    if (node->op == QG_SUB && node->kind == QG_K_INT && node->arg[1]->op == QG_CONST) {
        less = qg_real(ir, (float)node->arg[1]->integer);
        node = node->arg[0];
    }
    if (node->op == QG_TO_INT) node = node->arg[0];
    if (node->kind != QG_K_UINT) return NULL;
    const qg_node *word = piece_in_half(ir, node->op == QG_OR ? node->arg[0] : node, &half);
    if (word && node->op == QG_OR) {
        high = piece_in_half(ir, node->arg[1], &other);
        if (!high || other != half) return NULL;
        word = apply(ir, QG_OR, word, high);
    }
    if (!word) return NULL;
    const qg_node *pair = qg_let(ir, qg_halves_of(ir, word), "pair", NULL);
    const qg_node *value = apply(ir, QG_MUL, qg_lane(ir, pair, half), qg_real(ir, 16777216.0f));
    return less ? apply(ir, QG_SUB, value, less) : value;
}

/* (w >> s) & mask, where s may be 0, and the mask missing where nothing is above. */
static const qg_node *code_in_word(const qg_node *node, uint32_t *shift, uint32_t *width) {
    *width = 0;
    *shift = 0;
    if (node->op == QG_TO_INT) node = node->arg[0];
    if (node->op == QG_AND && is_word(node->arg[1])) {
        *width = width_of(node->arg[1]);
        if (*width == 0) return NULL;
        node = node->arg[0];
    }
    if (node->op == QG_SHR && is_word(node->arg[1])) {
        *shift = (uint32_t)node->arg[1]->integer;
        if (*width == 0) *width = 32 - *shift;
        node = node->arg[0];
    }
    return *width && node->kind == QG_K_UINT && node->lanes == 1 ? node : NULL;
}

bool qg_words_as_halves(qg_ir *ir, const qg_node *node, uint32_t lanes, qg_halves *out) {
    const qg_node *words[QG_MAX_LANES], *parts[QG_MAX_LANES];
    uint32_t shift = 0, width = 0, down, bit;
    if (node->lanes != lanes || node->kind != QG_K_FLOAT) return false;
    const qg_node *codes = node->op == QG_TO_FLOAT ? node->arg[0] : node; /* a vector's constructor converts as well */
    if (codes->op == QG_TO_INT) codes = codes->arg[0];
    if (codes->op != QG_VECTOR) return false;
    for (uint32_t i = 0; i < lanes; ++i) {
        uint32_t own_shift, own_width;
        words[i] = code_in_word(codes->arg[i], &own_shift, &own_width);
        if (!words[i] || (i > 0 && (own_shift != shift || own_width != width))) return false;
        shift = own_shift;
        width = own_width;
    }
    if (!place_in_half(shift, width, &down, &bit)) return false;
    for (uint32_t i = 0; i < lanes; ++i) {
        const uint32_t mask = ones(width) << bit;
        const qg_node *pair =
            apply(ir, QG_AND, moved(ir, words[i], -(int32_t)down), qg_uint(ir, mask | mask << HALF_BITS));
        pair = qg_let(ir, qg_halves_of(ir, pair), "pair", NULL);
        parts[i] = qg_lane(ir, pair, shift >= HALF_BITS);
        out->factor[i] = (float)(UINT32_C(1) << (24 - bit));
    }
    out->vector = qg_vector(ir, parts, lanes);
    out->most = 1;
    out->bias = 0;
    out->nans = NULL;
    return true;
}
