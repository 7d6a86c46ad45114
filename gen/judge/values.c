/* Values that hide bugs: scales that are subnormal, zero, infinite; every value of every code in every place. */
#include "judge/trial.h"

#include <math.h>
#include <string.h>

/* A block in which all instances of a code have the same bits. */
typedef struct special {
    uint32_t code, bits;
    const char *kind; /* of a float; NULL: a code's value */
} special;

typedef struct specials {
    qg_trial *t;
    special *items;
    uint32_t count, capacity;
} specials;

static void add(specials *s, uint32_t code, uint32_t bits, const char *kind) {
    if (bits & s->t->idle[code]) return; /* nobody writes it */
    const special item = {code, bits, kind};
    QG_PUSH(s->t->arena, s->items, s->count, s->capacity, item);
}

static void add_floats(specials *s, uint32_t code, const qg_scalar_info *type) {
    const uint32_t m = type->mantissa_bits, top = (1u << type->exponent_bits) - 1, one = (uint32_t)type->bias << m;
    const bool sign = type->bits > type->exponent_bits + m;
    const uint32_t largest =
        type->specials == QG_IEEE ? (top << m) - 1 : (top << m | ((1u << m) - 1)) - (type->specials == QG_NAN_ON_TOP);
    if (m) {
        add(s, code, 1, "the smallest subnormal number");
        add(s, code, 1u << (m - 1) | 1, "a subnormal number");
        add(s, code, (1u << m) - 1, "the largest subnormal number");
        add(s, code, 0, "zero");
    }
    add(s, code, 1u << m, "the smallest normal number");
    add(s, code, largest, "the largest number");
    if (sign) {
        add(s, code, one | 1u << (type->bits - 1), "-1");
        if (m) add(s, code, 1u << (type->bits - 1) | 1u << (m - 1), "a negative subnormal number");
    }
    if (type->specials == QG_IEEE) {
        add(s, code, top << m, "infinity");
        add(s, code, top << m | (m ? 1u << (m - 1) : 0), "NaN");
    }
    if (type->specials == QG_NAN_ON_TOP) add(s, code, top << m | ((1u << m) - 1), "NaN");
}

static void list_specials(specials *s) {
    const qg_layout *l = s->t->layout;
    for (uint32_t c = 0; c < l->n_codes; ++c) {
        const qg_code *code = &l->codes[c];
        if (code->typed && qg_scalars[code->type].kind == QG_FLOATING && code->width >= 8 && code->per > 1) {
            add_floats(s, c, &qg_scalars[code->type]);
        } else if (code->width <= 8) {
            for (uint32_t v = 0; v <= code->most; ++v) add(s, c, v, NULL);
        } else {
            add(s, c, 0, NULL);
            add(s, c, code->most, NULL);
            for (int i = 0; i < 30; ++i) add(s, c, (uint32_t)qg_random(&s->t->random) % (code->most + 1), NULL);
        }
    }
}

/* Neighbours have other bits, so that a code that is read in another's place shows. */
static bool make_block(specials *s, const qg_blocks *blocks, uint32_t n) {
    const special *i = &s->items[n];
    bool set = true;
    qg_block_draw(s->t, blocks, n, 20000, &s->t->random);
    for (uint32_t j = 0; j < s->t->layout->codes[i->code].count && set; ++j)
        set = qg_block_set(s->t->layout, blocks, n, i->code, j, i->bits);
    return set;
}

static const char *name_special(specials *s, const special *i) {
    const qg_code *c = &s->t->layout->codes[i->code];
    if (i->kind) return qg_format(s->t->arena, "%s is %s (0x%0*x)", c->name, i->kind, (int)(c->width + 3) / 4, i->bits);
    return qg_format(s->t->arena, "all %s are 0x%x", c->name, i->bits);
}

/* What becomes of a result that is subnormal in y's type is for the device to choose, unless the module says
 * otherwise. */
static bool is_tiny(const qg_trial *t, float value) {
    if (t->harness->target == QG_FOREIGN_C) return false; /* processors keep them */
    return fabsf(value) <
           (t->y_type == QG_F16 ? 0x1p-14f : 0x1p-120f); /* of f32, what it is made of may be subnormal */
}

/* Whether it computes in halves, or claims no more. */
static bool is_narrow(const qg_trial *t) { return t->rounding >= 0x1p-13; }

/* Of one code: the values for which something is wrong, floats and integers apart. */
typedef struct wrong_values {
    uint32_t count, first; /* index in items */
    const bool *wrong;     /* elements of the first */
    uint32_t element;
    float actual, expected;
} wrong_values;

static void compare_special(specials *s, uint32_t n, const float *expected, const float *magnitudes,
                            const float *actual, wrong_values *found) {
    qg_trial *t = s->t;
    const uint32_t count = t->layout->elements;
    bool *wrong = QG_NEW_ARRAY(t->arena, bool, count);
    const bool sums = t->harness->computes == QG_COMPUTES_SUMS;
    bool beyond = false;
    uint32_t first = count, tiny = 0;
    for (uint32_t e = 0; e < count; ++e) beyond |= fabsf(expected[e]) >= 0x1p120f;
    for (uint32_t e = 0; e < count; ++e) {
        if (t->known[e] || qg_near(t, actual[e], expected[e], magnitudes[e])) continue;
        if (is_tiny(t, expected[e]) && is_tiny(t, actual[e])) {
            ++tiny;
            continue;
        }
        if (is_narrow(t) && fabsf(expected[e]) >= 65504) continue; /* beyond what halves hold */
        /* What it is made of may be beyond f32; then a sum, which has 0 times that, is none. */
        if (beyond && (fabsf(expected[e]) >= 0x1p120f || sums) && !isfinite(actual[e])) continue;
        wrong[e] = true;
        if (first == count) first = e;
    }
    if (tiny && !qg_found(t, "flushed"))
        qg_find(t, QG_NOTE, "flushed",
                qg_format(t->arena, "results that are subnormal in %s lose bits or become 0, as where %s",
                          qg_scalars[t->y_type].name, name_special(s, &s->items[n])));
    if (first == count) return;
    if (found->count++ == 0) *found = (wrong_values){1, n, wrong, first, actual[first], qg_stored(t, expected[first])};
}

static void tell(specials *s, const wrong_values *v) {
    qg_trial *t = s->t;
    const special *i = &s->items[v->first];
    const bool lax = !isfinite(v->expected); /* Vulkan promises NaN and infinities only where a module asks for them */
    const char *rule = i->kind ? lax ? "special-not-finite" : "special-scale" : "special-code";
    const char *others = v->count == 1 ? ""
                                       : qg_format(t->arena, "; likewise for %u other values of %s", v->count - 1,
                                                   t->layout->codes[i->code].name);
    qg_finding *f = qg_find(t, lax ? QG_NOTE : QG_WRONG, rule,
                            qg_format(t->arena, "where %s, %s: wrong, element %u %s%s", name_special(s, i),
                                      qg_say_which(t->arena, v->wrong, t->layout->elements), v->element,
                                      qg_say_instead(t->arena, (double)v->actual, (double)v->expected), others));
    f->code = i->code;
    f->right = f->found = qg_say_elements(t->arena, v->wrong, t->layout->elements);
}

/* One that is not finite, if there is one. */
static float first_value(const float *values, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i)
        if (!isfinite(values[i])) return values[i];
    return 0;
}

void qg_see_values(qg_trial *t) {
    specials s = {.t = t};
    list_specials(&s);
    qg_blocks blocks = qg_blocks_new(t->arena, t->layout, s.count);
    bool *made = QG_NEW_ARRAY(t->arena, bool, s.count);
    const uint64_t n = (uint64_t)s.count * t->layout->elements;
    float *expected = QG_NEW_ARRAY(t->arena, float, n), *magnitudes = QG_NEW_ARRAY(t->arena, float, n);
    float *actual = QG_NEW_ARRAY(t->arena, float, n);
    wrong_values *found = QG_NEW_ARRAY(t->arena, wrong_values, 2 * t->layout->n_codes);
    for (uint32_t i = 0; i < s.count; ++i) made[i] = make_block(&s, &blocks, i);
    qg_expect_values(t, &blocks, expected, magnitudes);
    if (!qg_actual(t, &blocks, actual)) return;
    for (uint32_t i = 0; i < s.count; ++i) {
        const uint64_t at = (uint64_t)i * t->layout->elements;
        const bool lax = s.items[i].kind && !isfinite(first_value(expected + at, t->layout->elements));
        if (made[i])
            compare_special(&s, i, expected + at, magnitudes + at, actual + at, &found[2 * s.items[i].code + lax]);
    }
    for (uint32_t i = 0; i < 2 * t->layout->n_codes; ++i)
        if (found[i].count) tell(&s, &found[i]);
}
