/* One bit at a time: each is flipped in a block of its own. What changes, and what should? */
#include "judge/trial.h"

#include <math.h>
#include <string.h>

/* What a flip did to the elements of its block, over all blocks that were tried. */
typedef struct flip {
    uint32_t buffer, bit;
    bool *right, *found;   /* elements that should change; that did */
    bool *stray, *missing; /* did, and should not; should, and did not */
    bool *sure;            /* of missing: elements that are right before the flip */
    bool *off;             /* change, and should, but by another amount */
    double weight;         /* of the first of those: the change by what it should be */
    const char *kind;      /* NULL: nothing wrong */
    bool said;
} flip;

typedef struct flips {
    qg_trial *t;
    uint32_t count;
    flip *items;
    const qg_owner **maps; /* for each buffer */
    qg_blocks bases, all;  /* all: base k, then its flips */
    float *expected, *magnitudes, *actual;
    bool overflows; /* results are not finite where only large numbers should be */
} flips;

static bool any(const bool *set, uint32_t count) { return memchr(set, 1, count) != NULL; }

static bool same(const bool *a, const bool *b, uint32_t count) { return !memcmp(a, b, count * sizeof *a); }

static const float *of(const flips *f, const float *values, uint32_t base, uint32_t number) {
    return values + ((uint64_t)base * (f->count + 1) + number) * f->t->layout->elements;
}

enum { MOST_COMPARED = 3000000 }; /* elements of the flips of a block */

/* Which instances of a code are flipped, where a block has more bits than can be: the first, the last, and others at
 * random. */
static bool *choose_instances(flips *f, uint32_t code, uint64_t most_bits) {
    const qg_code *c = &f->t->layout->codes[code];
    bool *chosen = QG_NEW_ARRAY(f->t->arena, bool, c->count);
    const uint64_t most = most_bits / c->width < 4 ? 4 : most_bits / c->width;
    for (uint32_t j = 0; j < c->count; ++j)
        chosen[j] = j == 0 || j + 1 == c->count || c->count <= most || qg_random(&f->t->random) % c->count < most;
    return chosen;
}

static void list_bits(flips *f) {
    const qg_layout *l = f->t->layout;
    qg_arena *arena = f->t->arena;
    uint64_t all = 0;
    bool **chosen = QG_NEW_ARRAY(arena, bool *, l->n_codes);
    f->maps = QG_NEW_ARRAY(arena, const qg_owner *, l->n_buffers);
    for (uint32_t b = 0; b < l->n_buffers; ++b) {
        all += l->buffers[b].bytes * UINT64_C(8);
        f->maps[b] = qg_bit_map(arena, l, b);
    }
    const bool few = all * l->elements <= 2 * (uint64_t)MOST_COMPARED;
    for (uint32_t c = 0; c < l->n_codes; ++c)
        chosen[c] = choose_instances(f, c, few ? UINT64_MAX : MOST_COMPARED / l->elements / l->n_codes);
    f->items = QG_NEW_ARRAY(arena, flip, all);
    for (uint32_t b = 0; b < l->n_buffers; ++b)
        for (uint32_t bit = 0; bit < l->buffers[b].bytes * 8; ++bit) {
            const qg_owner *o = &f->maps[b][bit];
            if (o->kind == QG_OWNER_CODE && !chosen[o->code][o->instance]) continue;
            f->items[f->count++] = (flip){.buffer = b,
                                          .bit = bit,
                                          .right = QG_NEW_ARRAY(arena, bool, l->elements),
                                          .found = QG_NEW_ARRAY(arena, bool, l->elements),
                                          .stray = QG_NEW_ARRAY(arena, bool, l->elements),
                                          .missing = QG_NEW_ARRAY(arena, bool, l->elements),
                                          .sure = QG_NEW_ARRAY(arena, bool, l->elements),
                                          .off = QG_NEW_ARRAY(arena, bool, l->elements)};
        }
    if (f->count < all)
        f->t->judgement->runs[f->t->evidence].left_out =
            qg_format(arena, "flips of %llu of the %llu bits of a block", (unsigned long long)(all - f->count),
                      (unsigned long long)all);
}

/* Bits that nobody sets are left as they are. */
static bool is_idle(const flips *f, const flip *i) {
    const qg_owner *o = &f->maps[i->buffer][i->bit];
    return o->kind == QG_OWNER_SPARE || (o->kind == QG_OWNER_CODE && f->t->idle[o->code] >> o->bit & 1);
}

static void make_blocks(flips *f, uint32_t n_bases) {
    qg_trial *t = f->t;
    f->bases = qg_blocks_new(t->arena, t->layout, n_bases);
    f->all = qg_blocks_new(t->arena, t->layout, (uint64_t)n_bases * (f->count + 1));
    for (uint32_t k = 0; k < n_bases; ++k) {
        const uint64_t first = (uint64_t)k * (f->count + 1);
        qg_block_draw(t, &f->bases, k, 20000, &t->random);
        for (uint32_t n = 0; n <= f->count; ++n) qg_block_copy(t->layout, &f->bases, k, &f->all, first + n);
        for (uint32_t n = 0; n < f->count; ++n) {
            const flip *i = &f->items[n];
            if (is_idle(f, i)) continue;
            f->all.data[i->buffer][(first + n + 1) * t->layout->buffers[i->buffer].bytes + i->bit / 8] ^=
                (unsigned char)(1u << (i->bit % 8));
            qg_block_usual(t->layout, &f->all, first + n + 1); /* other words are for `unused` */
        }
    }
}

/* Values in a narrower type than y's are no mistake, but are said: then roundings of that type are allowed for. */
static void measure_rounding(flips *f) {
    qg_trial *t = f->t;
    double worst = 0;
    for (uint32_t k = 0; k < f->bases.count; ++k)
        for (uint32_t i = 0; i < t->layout->elements; ++i) {
            const double e = (double)qg_stored(t, of(f, f->expected, k, 0)[i]), a = (double)of(f, f->actual, k, 0)[i];
            const double size = fmax(fabs((double)of(f, f->magnitudes, k, 0)[i]), 1e-30);
            const double part = fabs(a - e) / size;
            if (!(part <= 0x1p-7)) return; /* wrong, not rounded */
            worst = fmax(worst, part);
        }
    if (worst <= t->rounding) return;
    t->rounding = 4 * worst;
    if (t->harness->computes == QG_COMPUTES_SUMS)
        qg_find(
            t, QG_WRONG, "beyond-class",
            qg_format(
                t->arena,
                "weights are off by up to %s of their magnitude, which is more than class %s allows; `--class half` is "
                "for kernels that round operands to f16",
                qg_say_number(t->arena, worst), qg_claim_names[t->options.claim]));
    else
        qg_find(
            t, QG_NOTE, "rounded",
            qg_format(
                t->arena,
                "values are off by up to %s of their magnitude: they are computed in a type narrower than %s, as far "
                "as roundings tell; from here on that much is allowed",
                qg_say_number(t->arena, worst), qg_scalars[t->y_type].name));
}

/* By how much a number changed, if that is more than rounding. */
static double change(const qg_trial *t, float from, float to, float size) {
    if (!isfinite(from) || !isfinite(to)) return isfinite(from) == isfinite(to) ? 0 : INFINITY;
    const double d = (double)to - (double)from,
                 most = fmax(fabs((double)size), fmax(fabs((double)from), fabs((double)to)));
    return fabs(d) <= 2 * t->rounding * most + (t->y_type == QG_F16 ? 0x1p-14 : 0) ? 0 : d;
}

/* Arithmetic in halves overflows where a flip made a scale large: worth a note, but no bit is in a wrong place. */
static bool overflowed(flips *f, const float *expected, const float *actual, uint32_t element) {
    float largest = 0;
    if (isfinite(actual[element]) || !isfinite(qg_stored(f->t, expected[element]))) return false;
    for (uint32_t j = 0; j < f->t->layout->elements; ++j) largest = fmaxf(largest, fabsf(expected[j]));
    if (largest < 2048 || isnan(largest)) return false;
    return f->overflows = true;
}

static void compare_flip(flips *f, uint32_t k, uint32_t n) {
    qg_trial *t = f->t;
    flip *i = &f->items[n];
    const float *e0 = of(f, f->expected, k, 0), *e1 = of(f, f->expected, k, n + 1);
    const float *a0 = of(f, f->actual, k, 0), *a1 = of(f, f->actual, k, n + 1);
    const float *m0 = of(f, f->magnitudes, k, 0), *m1 = of(f, f->magnitudes, k, n + 1);
    for (uint32_t j = 0; j < t->layout->elements; ++j) {
        if (overflowed(f, e1, a1, j)) continue;
        const float size = fmaxf(isfinite(m0[j]) ? m0[j] : 0, isfinite(m1[j]) ? m1[j] : 0);
        const float s0 = qg_stored(t, e0[j]), s1 = qg_stored(t, e1[j]);
        const double should = change(t, s0, s1, size), did = change(t, a0[j], a1[j], size);
        if (isfinite(s0) != isfinite(s1) && isfinite(a0[j]) && isfinite(a1[j]) && a0[j] != a1[j]) continue;
        i->right[j] |= should != 0;
        i->found[j] |= did != 0;
        /* Near the threshold neither is sure. */
        i->stray[j] |= fabs(did) > 2 * fabs(should) && did != 0 && s0 == s1 && e0[j] == e1[j];
        const bool misses = should != 0 && did == 0 && fabs(should) > 8 * t->rounding * (double)size;
        i->missing[j] |= misses;
        i->sure[j] |= misses && qg_near(t, a0[j], e0[j], m0[j]);
        if (should == 0 || did == 0 || !isfinite(should) || !isfinite(did)) continue;
        if (fabs(did - should) <= 0.01 * fabs(should) + 8 * t->rounding * (double)size) continue;
        if (!any(i->off, t->layout->elements)) i->weight = did / should;
        i->off[j] = true;
    }
}

static bool within(const bool *a, const bool *b, uint32_t count) {
    for (uint32_t e = 0; e < count; ++e)
        if (a[e] && !b[e]) return false;
    return true;
}

/* An element that is wrong already does not tell whether a bit reaches it: another mistake may hide that. */
static const char *kind_of(const flip *i, uint32_t count) {
    const bool strays = any(i->stray, count), misses = any(i->missing, count), surely = any(i->sure, count);
    bool reaches = false; /* some that it belongs to */
    for (uint32_t e = 0; e < count; ++e) reaches |= i->right[e] && i->found[e];
    if (!strays && !misses) return NULL;
    if (!any(i->found, count)) return "unread";
    if (strays) return surely || !reaches ? "wrong-element" : "stray-element";
    if (!surely) return NULL;
    return within(i->missing, i->found, count) ? "not-always" : "missing-element";
}

/* Elements that bits of one code show to be wrong are wrong for others, too, which are not to blame: a scale of the
 * whole block does not reach them, say. So codes of the fewest elements are looked at first, and of what is known
 * nothing more is said. */
static void learn(flips *f, bool whole_block) {
    const uint32_t count = f->t->layout->elements;
    bool *known = QG_NEW_ARRAY(f->t->arena, bool, count);
    for (uint32_t n = 0; n < f->count; ++n) {
        flip *i = &f->items[n];
        const qg_owner *owner = &f->maps[i->buffer][i->bit];
        const bool whole = owner->kind == QG_OWNER_CODE && f->t->layout->codes[owner->code].count == 1;
        if (whole != whole_block || !(i->kind = kind_of(i, count))) continue;
        if (whole && !any(i->stray, count) && within(i->missing, f->t->known, count)) {
            i->kind = NULL;
            continue;
        }
        const uint32_t per = owner->kind == QG_OWNER_CODE ? f->t->layout->codes[owner->code].per : 1;
        for (uint32_t e = 0; e < count; ++e)
            if (i->stray[e] || i->missing[e]) memset(known + e / per * per, 1, per); /* all that an instance serves */
    }
    for (uint32_t e = 0; e < count; ++e)
        if (known[e]) f->t->known[e] = f->t->any_known = true;
}

static void classify(flips *f) {
    const uint32_t count = f->t->layout->elements;
    bool *off = QG_NEW_ARRAY(f->t->arena, bool, count);
    learn(f, false);
    learn(f, true);
    for (uint32_t n = 0; n < f->count; ++n) {
        flip *i = &f->items[n];
        uint8_t *state = &f->t->judgement->bits[i->buffer][i->bit];
        const bool structural = kind_of(i, count) != NULL;
        if (!i->kind && !structural && !within(i->off, f->t->known, count)) i->kind = "wrong-weight";
        *state = !i->kind && !structural ? QG_BIT_RIGHT : any(i->found, count) ? QG_BIT_WRONG : QG_BIT_UNREAD;
        if (!i->kind && !structural && (is_idle(f, i) || f->maps[i->buffer][i->bit].kind == QG_OWNER_NONE))
            *state = QG_BIT_SPARE;
        for (uint32_t e = 0; e < count && i->kind; ++e) off[e] |= i->off[e];
    }
    for (uint32_t e = 0; e < count; ++e)
        if (off[e]) f->t->known[e] = f->t->any_known = true;
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

static uint32_t first_of(const bool *set, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i)
        if (set[i]) return i;
    return count;
}

static bool joins(const flips *f, const qg_owner *map, const flip *a, const flip *b) {
    const qg_owner *p = &map[a->bit], *q = &map[b->bit];
    const uint32_t count = f->t->layout->elements;
    return b->kind && !b->said && !strcmp(a->kind, b->kind) && a->buffer == b->buffer && p->kind == q->kind &&
           p->code == q->code && p->instance == q->instance && q->bit - p->bit == b->bit - a->bit &&
           same(a->right, b->right, count) && same(a->found, b->found, count);
}

/* Whether flip b is what flip a is for another instance: the same bit of the same code, as far from where it belongs.
 * */
static bool likewise(const flips *f, const qg_owner *map, const flip *a, const flip *b) {
    const qg_owner *p = &map[a->bit], *q = &map[b->bit];
    const uint32_t count = f->t->layout->elements;
    if (!b->kind || b->said || strcmp(a->kind, b->kind) || a->buffer != b->buffer || p->code != q->code ||
        p->bit != q->bit || p->kind != q->kind)
        return false;
    if (!strcmp(a->kind, "unread")) return true;
    if (!strcmp(a->kind, "wrong-weight")) return fabs(a->weight - b->weight) <= 0.01 * fabs(a->weight);
    return (int64_t)first_of(a->found, count) - first_of(a->right, count) ==
           (int64_t)first_of(b->found, count) - first_of(b->right, count);
}

static const char *sentence(const flips *f, const flip *i, uint32_t bits) {
    qg_trial *t = f->t;
    const uint32_t count = t->layout->elements;
    const char *what = qg_say_bits(t->arena, t->layout, i->buffer, i->bit, bits);
    const bool many = !strncmp(what, "bits", 4); /* "bits 4..7 of d reach", "d reaches" */
    const char *reach = many ? "reach" : "reaches", *belong = many ? "they belong" : "it belongs";
    const char *right = qg_say_elements(t->arena, i->right, count), *found = qg_say_which(t->arena, i->found, count);
    if (!strcmp(i->kind, "wrong-weight"))
        return qg_format(t->arena, "%s %s %s, but %s them by %s times what %s should", what, reach,
                         qg_say_which(t->arena, i->off, count), many ? "change" : "changes",
                         qg_say_number(t->arena, i->weight), many ? "they" : "it");
    if (!any(i->right, count)) return qg_format(t->arena, "%s %s %s; %s to none", what, reach, found, belong);
    if (!strcmp(i->kind, "stray-element"))
        return qg_format(t->arena, "%s %s %s, too; %s to %s alone", what, reach,
                         qg_say_which(t->arena, i->stray, count), belong, right);
    if (!strcmp(i->kind, "not-always"))
        return qg_format(t->arena, "%s %s %s at times, but not always; %s to %s", what, reach, found, belong, right);
    if (!strcmp(i->kind, "missing-element"))
        return qg_format(t->arena, "%s %s %s, and not %s; %s to %s", what, reach, found,
                         qg_say_elements(t->arena, i->missing, count), belong, right);
    return qg_format(t->arena, "%s %s %s; %s to %s", what, reach, found, belong, right);
}

/* One finding for neighbours that are wrong alike, and all other instances of their code with which it is the same. */
static void tell(flips *f, uint32_t n) {
    qg_trial *t = f->t;
    flip *i = &f->items[n];
    const qg_owner *map = f->maps[i->buffer];
    uint32_t bits = 1, others = 0;
    bool *instances = QG_NEW_ARRAY(t->arena, bool, t->layout->elements);
    i->said = true;
    while (n + bits < f->count && joins(f, map, i, &f->items[n + bits])) f->items[n + bits++].said = true;
    for (uint32_t m = n + 1; m < f->count && map[i->bit].kind == QG_OWNER_CODE; ++m) {
        const flip *o = &f->items[m];
        if (!likewise(f, map, i, o) || map[o->bit].instance == map[i->bit].instance) continue;
        instances[map[o->bit].instance] = true;
        for (uint32_t k = 0; k < f->count; ++k) /* that instance's other bits of the run */
            if (f->items[k].buffer == i->buffer && map[f->items[k].bit].code == map[i->bit].code &&
                map[f->items[k].bit].instance == map[o->bit].instance && f->items[k].kind &&
                map[f->items[k].bit].bit >= map[i->bit].bit && map[f->items[k].bit].bit < map[i->bit].bit + bits)
                f->items[k].said = true;
        others += 1;
    }
    const char *text = sentence(f, i, bits);
    if (others)
        text = qg_format(t->arena, "%s; likewise for %u other%s: %s[%s]", text, others, others == 1 ? "" : "s",
                         t->layout->codes[map[i->bit].code].name,
                         qg_say_elements(t->arena, instances, t->layout->codes[map[i->bit].code].count));
    const bool spare = map[i->bit].kind != QG_OWNER_CODE; /* 0 in all blocks that anybody writes */
    qg_finding *finding = qg_find(t, spare ? QG_NOTE : QG_WRONG, spare ? "spare-bit" : i->kind, text);
    finding->buffer = i->buffer, finding->bit = i->bit, finding->bits = bits;
    if (map[i->bit].kind == QG_OWNER_CODE) finding->code = map[i->bit].code;
    finding->right = qg_say_elements(t->arena, i->right, t->layout->elements);
    finding->found = qg_say_elements(t->arena, i->found, t->layout->elements);
}

/* ---- values of blocks that nothing was flipped in ---------------------------------------------------------------- */

/* Another element of the block that all wrong ones would be right for, if they were as far away. */
static bool find_shift(const flips *f, const bool *wrong, int64_t *shift) {
    const int64_t count = f->t->layout->elements;
    for (int64_t d = 1 - count; d < count; ++d) {
        bool fits = d != 0;
        uint32_t seen = 0;
        for (uint32_t k = 0; k < f->bases.count && fits; ++k)
            for (int64_t i = 0; i < count && fits; ++i) {
                if (!wrong[i]) continue;
                fits = i + d >= 0 && i + d < count &&
                       qg_near(f->t, of(f, f->actual, k, 0)[i], of(f, f->expected, k, 0)[i + d],
                               of(f, f->magnitudes, k, 0)[i + d]);
                ++seen;
            }
        *shift = d;
        if (fits && seen) return true;
    }
    return false;
}

/* What the wrong values are by the right ones, when that is the same for all; else 0. */
static double find_factor(const flips *f, const bool *wrong, bool difference) {
    double first = 0;
    bool some = false;
    for (uint32_t k = 0; k < f->bases.count; ++k)
        for (uint32_t i = 0; i < f->t->layout->elements; ++i) {
            const double e = (double)of(f, f->expected, k, 0)[i], a = (double)of(f, f->actual, k, 0)[i];
            const double m = (double)of(f, f->magnitudes, k, 0)[i], this = difference ? a - e : a / e;
            if (!wrong[i] || (!difference && fabs(e) < 0.01 * m)) continue;
            if (!isfinite(this) || (some && fabs(this - first) > 0.02 * fabs(first))) return 0;
            first = this, some = true;
        }
    return first;
}

static void see_bases(flips *f) {
    qg_trial *t = f->t;
    const uint32_t count = t->layout->elements;
    bool *wrong = QG_NEW_ARRAY(t->arena, bool, count);
    uint32_t at = UINT32_MAX, in = 0;
    int64_t shift;
    for (uint32_t k = 0; k < f->bases.count; ++k)
        for (uint32_t i = 0; i < count; ++i)
            if (!qg_near(t, of(f, f->actual, k, 0)[i], of(f, f->expected, k, 0)[i], of(f, f->magnitudes, k, 0)[i])) {
                wrong[i] = true;
                if (at == UINT32_MAX) at = i, in = k;
            }
    if (at == UINT32_MAX) return;
    bool explained = true; /* by bits that go astray */
    for (uint32_t i = 0; i < count; ++i) {
        explained &= !wrong[i] || t->known[i];
        if (wrong[i]) t->known[i] = t->any_known = true;
    }
    if (explained) return;
    const char *reason = "";
    const double factor = find_factor(f, wrong, false), difference = find_factor(f, wrong, true);
    if (find_shift(f, wrong, &shift))
        reason = qg_format(t->arena, ": each is what element i %c %lld should be", shift < 0 ? '-' : '+',
                           (long long)(shift < 0 ? -shift : shift));
    else if (factor != 0)
        reason = qg_format(t->arena, ": each is %s times what it should be", qg_say_number(t->arena, factor));
    else if (difference != 0)
        reason = qg_format(t->arena, ": each is off by %s", qg_say_number(t->arena, difference));
    qg_finding *finding = qg_find(t, QG_WRONG, "wrong-value",
                                  qg_format(t->arena, "%s: wrong values%s; element %u %s",
                                            qg_say_which(t->arena, wrong, count), reason, at,
                                            qg_say_instead(t->arena, (double)of(f, f->actual, in, 0)[at],
                                                           (double)qg_stored(t, of(f, f->expected, in, 0)[at]))));
    finding->right = finding->found = qg_say_elements(t->arena, wrong, count);
}

/* How late a bit is spoken of: by the instances of its code, those of the whole block last. */
static uint32_t rank_of(const flips *f, const flip *i) {
    const qg_owner *owner = &f->maps[i->buffer][i->bit];
    if (owner->kind != QG_OWNER_CODE) return UINT32_MAX - 1;
    const uint32_t count = f->t->layout->codes[owner->code].count;
    return count == 1 ? UINT32_MAX - 2 : count;
}

bool qg_take_bits(qg_trial *t) {
    flips f = {.t = t};
    const bool slow = t->harness->computes == QG_COMPUTES_SUMS;
    list_bits(&f);
    make_blocks(&f, slow && t->harness->target == QG_FOREIGN_METAL          ? 1
                    : t->options.quick || slow || t->layout->elements > 512 ? 2
                                                                            : 4);
    const uint64_t n = f.all.count * t->layout->elements;
    f.expected = QG_NEW_ARRAY(t->arena, float, n);
    f.magnitudes = QG_NEW_ARRAY(t->arena, float, n);
    f.actual = QG_NEW_ARRAY(t->arena, float, n);
    qg_expect_values(t, &f.all, f.expected, f.magnitudes);
    if (!qg_actual(t, &f.all, f.actual)) return false;
    measure_rounding(&f);
    for (uint32_t k = 0; k < f.bases.count; ++k)
        for (uint32_t i = 0; i < f.count; ++i) compare_flip(&f, k, i);
    classify(&f);
    /* The scales of few instances say most; what belongs to one element is next. */
    for (uint32_t least = 0, next; least != UINT32_MAX; least = next) {
        next = UINT32_MAX;
        for (uint32_t i = 0; i < f.count; ++i) {
            const uint32_t rank = rank_of(&f, &f.items[i]);
            if (rank == least && f.items[i].kind && !f.items[i].said) tell(&f, i);
            if (rank > least && rank < next) next = rank;
        }
    }
    see_bases(&f);
    if (f.overflows)
        qg_find(t, QG_NOTE, "overflow",
                qg_format(t->arena,
                          "results are not finite where a scale is large, and %s would hold them: it computes in a "
                          "narrower range",
                          qg_scalars[t->y_type].name));
    return true;
}

void qg_see_bits(qg_trial *t) { qg_take_bits(t); }
