/* The dot product of a tile with x in integers: codes as bytes (bytes.c), x as one to three signed bytes
 * for each element, its digits, with a step for so many elements; with several digits, one for all of
 * the tile, where that has one scale. A product of four codes with four digits is one instruction where
 * devices have it, and all sums below the scale and the step are exact. Rules, after those of dot.c:
 *
 *   pairs    table[(w >> s_i) & 15], both halves of w's bytes    the table of pairs, a byte at a
 *                                                                time; x is packed to match
 *   planes   codes of 1, 2 or 4 bits that fill a word    one mask gives four of them, a byte apart;
 *                                                        x is packed to match
 *   halves   the same that fill halves of two words      both as one word, and then planes of it
 *   bytes    x . float(codes)                             four codes at a time, see bytes.c
 *   whole    d * float(a) * (x . b) + d * float(c) * ..   d * float(a * (x . b) + c * ...), still integers
 *
 * What has no vector of codes, a minimum or a bias, meets the sum of the digits, or of what they stand for. */
#include "ir/dot.h"

#include <math.h>

enum { LANES = 4, DIGIT = 128, STEP_RUNS = QG_STEP_ELEMENTS / LANES };

/* Four elements whose codes are one word. */
typedef struct dot4 {
    const product *of;
    const qg_node *word;
    bool negative; /* bytes are signed */
    uint32_t quad;
    int64_t most; /* of a code's magnitude */
} dot4;

typedef struct byte_sum {
    products p;
    dot4 *dots;
    uint32_t n_dots, dots_capacity;
} byte_sum;

static const qg_node *apply(qg_ir *ir, qg_op op, const qg_node *a, const qg_node *b) {
    return qg_apply(ir, op, a, b, NULL);
}

static uint32_t quad_number(qg_ir *ir, const uint16_t elements[LANES]) {
    for (uint32_t i = 0; i < ir->n_x_quads; ++i) {
        uint32_t same = 0;
        for (uint32_t l = 0; l < LANES; ++l) same += ir->x_quads[i].element[l] == elements[l];
        if (same == LANES) return i;
    }
    qg_quad quad;
    for (uint32_t l = 0; l < LANES; ++l) quad.element[l] = elements[l];
    QG_PUSH(ir->arena, ir->x_quads, ir->n_x_quads, ir->x_quads_capacity, quad);
    return ir->n_x_quads - 1;
}

static void add_dot(byte_sum *s, const product *of, const qg_node *word, int64_t low, int64_t high,
                    const uint16_t elements[LANES]) {
    const dot4 one = {.of = of,
                      .word = word,
                      .negative = high <= 127, /* what is not negative either reads the same */
                      .quad = quad_number(s->p.ir, elements),
                      .most = -low > high ? -low : high};
    QG_PUSH(s->p.ir->arena, s->dots, s->n_dots, s->dots_capacity, one);
}

static uint32_t step_of(const product *one) { return one->run / STEP_RUNS; }

static bool same_place(const product *a, const product *b) {
    return a->scale == b->scale && a->whole == b->whole && a->coefficient == b->coefficient;
}

/* ---- pairs ---- */

/* Two runs whose codes are the lower and the upper halves of a word's bytes. */
static void take_pair(byte_sum *s, uint32_t lower, uint32_t upper, const qg_nibbles *nibbles) {
    qg_ir *ir = s->p.ir;
    for (uint32_t half = 0; half < 2; ++half) {
        uint16_t elements[LANES];
        for (uint32_t l = 0; l < LANES; ++l)
            elements[l] = (uint16_t)(s->p.items[l < 2 ? lower : upper].run * LANES + 2 * half + l % 2);
        const qg_node *codes = half ? apply(ir, QG_SHR, nibbles->word, qg_uint(ir, 16)) : nibbles->word;
        const qg_node *word = qg_let(ir, qg_pairs(ir, nibbles->table, codes), "bytes", NULL);
        add_dot(s, &s->p.items[lower], word, nibbles->low, nibbles->high, elements);
    }
}

static void take_pairs(byte_sum *s, bool *taken) {
    qg_nibbles *nibbles = QG_NEW_ARRAY(s->p.ir->arena, qg_nibbles, s->p.count + 1);
    bool *is_lookup = QG_NEW_ARRAY(s->p.ir->arena, bool, s->p.count + 1);
    for (uint32_t i = 0; i < s->p.count; ++i)
        is_lookup[i] = s->p.items[i].vector && qg_as_nibbles(s->p.ir, s->p.items[i].vector, &nibbles[i]);
    for (uint32_t i = 0; i < s->p.count; ++i)
        for (uint32_t k = 0; k < s->p.count && is_lookup[i] && !taken[i] && nibbles[i].shift == 0; ++k) {
            if (!is_lookup[k] || taken[k] || nibbles[k].shift != 4 || nibbles[k].word != nibbles[i].word ||
                nibbles[k].table != nibbles[i].table || !same_place(&s->p.items[i], &s->p.items[k]) ||
                step_of(&s->p.items[i]) != step_of(&s->p.items[k]))
                continue;
            take_pair(s, i, k, &nibbles[i]);
            taken[i] = taken[k] = true;
        }
}

/* ---- planes ---- */

typedef struct owner {
    uint32_t item, lane;
    bool there;
} owner;

/* Which lane of which product has its code at each bit of a word. A product that has a code twice,
 * or one that another product has, is left out. */
static void find_owners(const byte_sum *s, const qg_plane *planes, const bool *is_plane, const bool *taken,
                        uint32_t first, owner owners[32]) {
    for (uint32_t i = first; i < s->p.count; ++i) {
        if (!is_plane[i] || taken[i] || planes[i].word != planes[first].word ||
            planes[i].width != planes[first].width || !same_place(&s->p.items[i], &s->p.items[first]))
            continue;
        const uint32_t *shift = planes[i].shift;
        bool free = true;
        for (uint32_t l = 0; l < LANES; ++l) {
            free &= !owners[shift[l]].there;
            for (uint32_t k = 0; k < l; ++k) free &= shift[k] != shift[l];
        }
        for (uint32_t l = 0; l < LANES && free; ++l) owners[shift[l]] = (owner){i, l, true};
    }
}

/* A word serves when all of it is codes of these products, and a byte apart are those of one step. */
static bool is_full(const byte_sum *s, const qg_plane *plane, const owner owners[32]) {
    for (uint32_t b = 0; b < 32; b += plane->width)
        if (!owners[b].there || step_of(&s->p.items[owners[b].item]) != step_of(&s->p.items[owners[b % 8].item]))
            return false;
    return true;
}

static void take_word(byte_sum *s, const qg_plane *plane, const owner owners[32], bool *taken) {
    for (uint32_t at = 0; at < 8; at += plane->width) {
        uint16_t elements[LANES];
        for (uint32_t l = 0; l < LANES; ++l) {
            const owner o = owners[at + 8 * l];
            elements[l] = (uint16_t)(s->p.items[o.item].run * LANES + o.lane);
            taken[o.item] = true;
        }
        const int64_t high = (INT64_C(1) << plane->width) - 1;
        add_dot(s, &s->p.items[owners[at].item], qg_plane_bytes(s->p.ir, plane, at), 0, high, elements);
    }
}

/* No product has codes elsewhere, too. */
static bool is_whole(const byte_sum *s, const qg_plane *plane, const owner owners[32]) {
    for (uint32_t i = 0; i < s->p.count; ++i) {
        uint32_t lanes = 0;
        for (uint32_t b = 0; b < 32; b += plane->width) lanes += owners[b].there && owners[b].item == i;
        if (lanes != 0 && lanes != LANES) return false;
    }
    return true;
}

static const qg_node *join_halves(qg_ir *ir, const qg_node *lower, bool from_upper, const qg_node *upper, bool stays) {
    lower = from_upper ? apply(ir, QG_SHR, lower, qg_uint(ir, 16)) : apply(ir, QG_AND, lower, qg_uint(ir, 0xFFFF));
    upper = stays ? apply(ir, QG_AND, upper, qg_uint(ir, 0xFFFF0000)) : apply(ir, QG_SHL, upper, qg_uint(ir, 16));
    return qg_let(ir, apply(ir, QG_OR, lower, upper), "run", NULL);
}

/* Codes that begin in the middle of a word: half of the word of product `first`, and half of another one. */
static bool take_halves(byte_sum *s, const qg_plane *planes, const bool *is_plane, uint32_t first, bool *taken) {
    enum { HALF = 16 };
    owner lower[32] = {{0}};
    find_owners(s, planes, is_plane, taken, first, lower);
    for (uint32_t k = first + 1; k < s->p.count; ++k) {
        owner upper[32] = {{0}};
        if (!is_plane[k] || taken[k] || planes[k].word == planes[first].word ||
            planes[k].width != planes[first].width || !same_place(&s->p.items[k], &s->p.items[first]))
            continue;
        find_owners(s, planes, is_plane, taken, k, upper);
        for (uint32_t halves = 0; halves < 4; ++halves) {
            const uint32_t from = halves & 1 ? 0 : HALF, of = halves & 2 ? HALF : 0;
            owner owners[32];
            for (uint32_t b = 0; b < HALF; ++b) {
                owners[b] = lower[from + b];
                owners[HALF + b] = upper[of + b];
            }
            if (!is_full(s, &planes[first], owners) || !is_whole(s, &planes[first], owners)) continue;
            qg_plane joined = planes[first];
            joined.word = join_halves(s->p.ir, planes[first].word, from == HALF, planes[k].word, of == HALF);
            take_word(s, &joined, owners, taken);
            return true;
        }
    }
    return false;
}

static void take_planes(byte_sum *s, bool *taken) {
    qg_plane *planes = QG_NEW_ARRAY(s->p.ir->arena, qg_plane, s->p.count + 1);
    bool *is_plane = QG_NEW_ARRAY(s->p.ir->arena, bool, s->p.count + 1);
    for (uint32_t i = 0; i < s->p.count; ++i)
        is_plane[i] = s->p.items[i].vector && qg_as_plane(s->p.ir, s->p.items[i].vector, &planes[i]);
    for (uint32_t i = 0; i < s->p.count; ++i) {
        owner owners[32] = {{0}};
        if (!is_plane[i] || taken[i]) continue;
        find_owners(s, planes, is_plane, taken, i, owners);
        if (is_full(s, &planes[i], owners)) take_word(s, &planes[i], owners, taken);
    }
    for (uint32_t i = 0; i < s->p.count; ++i)
        if (is_plane[i] && !taken[i]) take_halves(s, planes, is_plane, i, taken);
}

/* ---- bytes ---- */

static bool take_bytes(byte_sum *s, const bool *taken) {
    const uint32_t count = s->p.count;
    qg_bytes *bytes = QG_NEW_ARRAY(s->p.ir->arena, qg_bytes, count + 1);
    for (uint32_t i = 0; i < count; ++i) {
        const product one = s->p.items[i];
        if (!one.vector || taken[i]) continue;
        if (!qg_as_bytes(s->p.ir, one.vector, &bytes[i])) return false;
        if (bytes[i].offset == 0) continue;
        product rest = one;
        rest.vector = NULL;
        rest.coefficient *= (float)bytes[i].offset;
        QG_PUSH(s->p.ir->arena, s->p.items, s->p.count, s->p.capacity, rest);
    }
    for (uint32_t i = 0; i < count; ++i) {
        const product *one = &s->p.items[i];
        if (!one->vector || taken[i]) continue;
        uint16_t elements[LANES];
        for (uint32_t l = 0; l < LANES; ++l) elements[l] = (uint16_t)(one->run * LANES + l);
        add_dot(s, one, bytes[i].word, bytes[i].low, bytes[i].high, elements);
    }
    return true;
}

/* ---- whole ---- */

static bool small_integer(float value) { return value >= -256 && value <= 256 && value == (float)(int32_t)value; }

static bool is_power_of_two(float value) {
    int exponent;
    return frexpf(value, &exponent) == 0.5f;
}

/* A product in a sum of integers has a coefficient that is one; a power of two else goes to the scale. */
static void settle_coefficient(qg_ir *ir, product *one) {
    const float size = one->coefficient < 0 ? -one->coefficient : one->coefficient;
    if (small_integer(one->coefficient) || !is_power_of_two(size)) return;
    const qg_node *constant = qg_real(ir, size);
    one->scale = one->scale ? apply(ir, QG_MUL, one->scale, constant) : constant;
    one->coefficient /= size;
}

static const qg_node *plus(qg_ir *ir, const qg_node *sum, const qg_node *term, bool negative) {
    if (!sum) return negative ? qg_apply(ir, QG_NEG, term, NULL, NULL) : term;
    return apply(ir, negative ? QG_SUB : QG_ADD, sum, term);
}

static const qg_node *weighted(qg_ir *ir, float coefficient, const qg_node *term) {
    const int64_t size = (int64_t)(coefficient < 0 ? -coefficient : coefficient);
    return size == 1 ? term : apply(ir, QG_MUL, qg_int(ir, size), term);
}

static int64_t most_of(const qg_ir *ir, const qg_node *whole) {
    int64_t low = 1, high = 1;
    if (whole) qg_integer_range(ir, whole, &low, &high);
    return -low > high ? -low : high;
}

/* The dot products of one coefficient and one step below one scale and one whole factor. */
static const qg_node *dots_of(byte_sum *s, const product *like, int64_t *size) {
    const qg_node *sum = NULL;
    for (uint32_t i = 0; i < s->n_dots; ++i) {
        const dot4 *dot = &s->dots[i];
        if (!same_place(dot->of, like) || step_of(dot->of) != step_of(like)) continue;
        sum = plus(s->p.ir, sum, qg_dot4(s->p.ir, dot->quad, dot->word, dot->negative), false);
        *size += LANES * dot->most * DIGIT;
    }
    return sum;
}

/* The sums of digits of one coefficient, likewise; a run that is there twice is left for another one. */
static const qg_node *digits_of(byte_sum *s, uint32_t first, bool *taken, int64_t *size) {
    const product like = s->p.items[first];
    uint64_t runs = 0;
    for (uint32_t i = first; i < s->p.count; ++i) {
        const uint64_t run = UINT64_C(1) << s->p.items[i].run;
        if (taken[i] || s->p.items[i].vector || !same_place(&s->p.items[i], &like) || runs & run) continue;
        if (step_of(&s->p.items[i]) != step_of(&like)) continue;
        taken[i] = true;
        runs |= run;
        *size += LANES * DIGIT;
    }
    return qg_x_digits(s->p.ir, runs);
}

/* The integer sum of one step below one scale and one whole factor; `most` grows by what its magnitude may be. */
static const qg_node *sum_below(byte_sum *s, uint32_t step, const qg_node *scale, const qg_node *whole, bool *taken,
                                int64_t *most) {
    const qg_node *sum = NULL;
    int64_t all = 0;
    for (int pass = 0; pass < 4; ++pass) { /* positive dots, positive digits, negative dots, negative digits */
        const bool negative = pass >= 2, dots = pass % 2 == 0;
        for (uint32_t i = 0; i < s->p.count; ++i) {
            const product *one = &s->p.items[i];
            if (step_of(one) != step || one->scale != scale || one->whole != whole) continue;
            if ((one->coefficient < 0) != negative) continue;
            if (dots ? !one->vector || taken[i] : one->vector || taken[i] || !small_integer(one->coefficient)) continue;
            int64_t size = 0;
            const qg_node *term = dots ? dots_of(s, one, &size) : digits_of(s, i, taken, &size);
            for (uint32_t k = i; dots && k < s->p.count; ++k)
                if (s->p.items[k].vector && step_of(&s->p.items[k]) == step && same_place(&s->p.items[k], one))
                    taken[k] = true;
            sum = plus(s->p.ir, sum, weighted(s->p.ir, one->coefficient, term), negative);
            all += size * (int64_t)(negative ? -one->coefficient : one->coefficient);
        }
    }
    *most += all * most_of(s->p.ir, whole);
    return whole ? apply(s->p.ir, QG_MUL, whole, sum) : sum;
}

/* All sums of integers of one step below one scale; `all` grows by what its magnitude may be. */
static const qg_node *sum_of_step(byte_sum *s, uint32_t first, bool *done, bool *taken, bool *fits, int64_t *all) {
    const uint32_t step = step_of(s->dots[first].of);
    const qg_node *scale = s->dots[first].of->scale, *sum = NULL;
    int64_t most = 0;
    for (uint32_t i = first; i < s->n_dots; ++i) {
        const product *of = s->dots[i].of;
        if (done[i] || of->scale != scale || step_of(of) != step) continue;
        for (uint32_t k = i; k < s->n_dots; ++k) {
            const product *other = s->dots[k].of;
            if (other->scale == scale && other->whole == of->whole && step_of(other) == step) done[k] = true;
        }
        sum = plus(s->p.ir, sum, sum_below(s, step, scale, of->whole, taken, &most), false);
    }
    *fits &= most < INT32_MAX;
    *all += most;
    return apply(s->p.ir, QG_MUL, qg_x_step(s->p.ir, step), qg_digits(s->p.ir, sum));
}

static bool has_one_scale(const byte_sum *s) {
    for (uint32_t i = 1; i < s->n_dots; ++i)
        if (s->dots[i].of->scale != s->dots[0].of->scale) return false;
    return true;
}

/* Sums of several steps, of which x of two digits and more has one for all: its first sum is all of them then. */
static const qg_node *in_one_step(qg_ir *ir, const qg_node *sum) {
    const qg_node *first = sum;
    while (first->op == QG_ADD) first = first->arg[0];
    if (first == sum) return sum;
    ir->one_step = true;
    return apply(ir, QG_ONE_STEP, first, sum);
}

/* All sums below one scale. */
static bool add_scale(byte_sum *s, uint32_t first, bool *done, bool *taken, const qg_node **total) {
    qg_ir *ir = s->p.ir;
    const qg_node *scale = s->dots[first].of->scale, *sum = NULL;
    bool fits = true;
    int64_t most = 0;
    for (uint32_t i = first; i < s->n_dots; ++i)
        if (!done[i] && s->dots[i].of->scale == scale)
            sum = plus(ir, sum, sum_of_step(s, i, done, taken, &fits, &most), false);
    if (has_one_scale(s) && most < INT32_MAX) sum = in_one_step(ir, sum);
    *total = plus(ir, *total, scale ? apply(ir, QG_MUL, scale, sum) : sum, false);
    return fits;
}

static const qg_node *whole_as_float(qg_ir *ir, const qg_node *whole) {
    return qg_apply(ir, QG_TO_FLOAT, whole->op == QG_TO_INT ? whole->arg[0] : whole, NULL, NULL);
}

/* Sums of x with several whole factors below one scale, as of minimums, which are multiplied with it once. */
static const qg_node *add_factors(byte_sum *s, uint32_t first, bool *taken, const qg_node *total) {
    qg_ir *ir = s->p.ir;
    const product like = s->p.items[first];
    products inner = {.ir = ir, .lanes = s->p.lanes};
    bool several = false, negative = true;
    for (uint32_t i = first; i < s->p.count; ++i) {
        const product *one = &s->p.items[i];
        if (taken[i] || !one->whole || one->scale != like.scale) continue;
        several |= one->whole != like.whole;
        negative &= one->coefficient < 0;
    }
    if (!like.whole || !like.scale || !several) return total;
    for (uint32_t i = first; i < s->p.count; ++i) {
        product one = s->p.items[i];
        if (taken[i] || !one.whole || one.scale != like.scale) continue;
        one.scale = whole_as_float(ir, one.whole);
        one.whole = NULL;
        one.coefficient *= negative ? -1.0f : 1.0f;
        QG_PUSH(ir->arena, inner.items, inner.count, inner.capacity, one);
        taken[i] = true;
    }
    return plus(ir, total, apply(ir, QG_MUL, like.scale, qg_dot_collect(&inner, NULL)), negative);
}

const qg_node *qg_dot_of_bytes(qg_ir *ir, uint32_t lanes, uint32_t n_runs, const qg_node *const *values) {
    byte_sum s = {.p = {.ir = ir, .lanes = lanes, .integers = true}};
    if (lanes != LANES) return NULL;
    qg_dot_expand(&s.p, n_runs, values);
    for (uint32_t i = 0; i < s.p.count; ++i) {
        settle_coefficient(ir, &s.p.items[i]);
        if (s.p.items[i].vector && !small_integer(s.p.items[i].coefficient)) return NULL;
    }
    bool *taken = QG_NEW_ARRAY(ir->arena, bool, 2 * s.p.count + 1);
    const uint32_t count = s.p.count;
    product *items = QG_NEW_ARRAY(ir->arena, product, 2 * count + 1); /* that stay where they are: dots point at them */
    for (uint32_t i = 0; i < count; ++i) items[i] = s.p.items[i];
    s.p.items = items;
    s.p.capacity = 2 * count + 1;
    if (ir->pairs) take_pairs(&s, taken);
    take_planes(&s, taken);
    if (!take_bytes(&s, taken) || !s.n_dots) return NULL;
    for (uint32_t i = 0; i < s.p.count; ++i) taken[i] = false;

    const qg_node *total = NULL;
    bool *done = QG_NEW_ARRAY(ir->arena, bool, s.n_dots + 1);
    for (uint32_t i = 0; i < s.n_dots; ++i)
        if (!done[i] && !add_scale(&s, i, done, taken, &total)) return NULL;
    products rest = {.ir = ir, .lanes = lanes};
    for (uint32_t i = 0; i < s.p.count; ++i) {
        if (!taken[i]) total = add_factors(&s, i, taken, total);
        product one = s.p.items[i];
        if (taken[i]) continue;
        if (one.whole) {
            const qg_node *whole = whole_as_float(ir, one.whole);
            one.scale = one.scale ? apply(ir, QG_MUL, one.scale, whole) : whole;
            one.whole = NULL;
        }
        QG_PUSH(ir->arena, rest.items, rest.count, rest.capacity, one);
    }
    return qg_dot_collect(&rest, total);
}
