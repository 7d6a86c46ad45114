/* Encoders: functions that look at several elements, those of a group, of the whole block, or of a name that counts. */
#include "text/encode_print.h"

#include <string.h>

typedef qg_encoder_printer printer;
typedef qg_encoder_loop loop;

/* COUNTED_OUT: what is looked up is then a constant, and its product with a scale is made once. */
enum { UNROLLED_IN_SEARCH = 32, COUNTED_OUT = 16 };

loop qg_encoder_enter(printer *p, const char *at, uint32_t unit) {
    loop before = {.at = p->at, .unit = p->unit, .fours = p->fours};
    memcpy(before.written, p->written, sizeof before.written);
    memset(p->written, 0, sizeof p->written);
    p->at = at;
    p->unit = unit;
    p->fours = false;
    return before;
}

loop qg_encoder_begin_group(printer *p, uint32_t per) {
    const bool whole = per == p->layout->elements;
    return qg_encoder_begin_elements(p, whole ? NULL : p->at, whole ? p->share : per, 1, per + 1, false);
}

loop qg_encoder_begin_elements(printer *p, const char *group, uint32_t n, uint32_t step, uint32_t most, bool looks) {
    const char *at = group ? qg_format(p->arena, "(%s * %u + qk_i)", group, n) : "qk_i", *integer = p->d->integer;
    if (!looks || p->held || p->kept || p->d->id == QG_C || step != 1 || n % 4) {
        qg_encoder_begin(p, qg_format(p->arena, "%sfor (%s qk_i = 0; qk_i < %u; ++qk_i) {",
                                      n <= most ? p->d->unroll : "", integer, n));
        return qg_encoder_enter(p, at, step);
    }
    const char *first = group ? qg_format(p->arena, "%s * %u + qk_f", group, n / 4) : "qk_f";
    qg_encoder_begin(p, qg_format(p->arena, "for (%s qk_f = 0; qk_f < %u; ++qk_f) {", integer, n / 4));
    qg_encoder_line(p, p->d->id == QG_GLSL
                           ? qg_format(p->arena, "const vec4 qk_fours = qk_four(qk_from / 4u + uint(%s));", first)
                           : qg_format(p->arena, "const float4 qk_fours = qk_four(qk_x, uint(%s));", first));
    qg_encoder_begin(p, qg_format(p->arena, "%sfor (%s qk_l = 0; qk_l < 4; ++qk_l) {", p->d->unroll, integer));
    qg_encoder_line(p, qg_format(p->arena, "const %s qk_i = 4 * qk_f + qk_l;", integer));
    const loop before = qg_encoder_enter(p, at, step);
    p->fours = true;
    return before;
}

void qg_encoder_leave(printer *p, const loop *before) {
    if (p->fours) qg_encoder_finish(p);
    p->at = before->at;
    p->unit = before->unit;
    p->fours = before->fours;
    memcpy(p->written, before->written, sizeof p->written);
    qg_encoder_finish(p);
}

const char *qg_encoder_begin_of(printer *p, const qg_term *term) {
    const bool real = qg_encoder_is_float(term->arg[0]), max = term->call == QG_CALL_MAX;
    if (term->call == QG_CALL_SUM || term->call == QG_CALL_EXTREME) return real ? qg_encoder_floating(p, 0.0f) : "0";
    if (!real) return qg_format(p->arena, "%lld", (long long)(max ? term->arg[0]->low : term->arg[0]->high));
    return qg_format(p->arena, "%s(0x%su)", p->d->bits_of_f32, max ? "FF800000" : "7F800000");
}

/* Takes a value where it is the one that the function looks for, and the first of those. */
void qg_encoder_compare(printer *p, const qg_term *term, const char *v, const char *into) {
    const char *absolute = p->d->id == QG_C ? "fabsf" : "abs";
    if (term->call == QG_CALL_EXTREME)
        qg_encoder_line(p, qg_format(p->arena, "if (%s(%s) > %s(%s)) %s = %s;", absolute, v, absolute, into, into, v));
    else
        qg_encoder_line(
            p, qg_format(p->arena, "if (%s %s %s) %s = %s;", v, term->call == QG_CALL_MAX ? ">" : "<", into, into, v));
}

/* What is done with a value that a function looks at. */
void qg_encoder_add_value(printer *p, const qg_term *term, const char *into) {
    const qg_term *body = term->arg[0];
    if (term->call == QG_CALL_SUM) {
        qg_encoder_line(p, qg_format(p->arena, "%s = %s + %s;", into, into, qg_encoder_operand(p, body)));
        return;
    }
    const char *value = qg_encoder_text(p, body), *v = qg_encoder_fresh(p);
    qg_encoder_line(
        p, qg_format(p->arena, "%s %s = %s;", qg_encoder_declared(p, qg_encoder_is_float(body), true), v, value));
    qg_encoder_compare(p, term, v, into);
}

const char *qg_encoder_in_block(const printer *p, const char *at, uint32_t count) {
    if (p->team == 1 || p->entire) return at;
    if (p->run < p->share && count == p->share)
        return qg_format(p->arena, "(qk_t * %u + %s / %u * %u + %s %% %u)", p->run, at, p->run, p->run * p->team, at,
                         p->run);
    return qg_format(p->arena, "(qk_t * %u + %s)", count, at);
}

/* The word that one of a team leaves for the others, as what it is. */
static const char *left(const printer *p, bool real, const char *index) {
    return qg_format(p->arena, real ? "uintBitsToFloat(qk_left[%s])" : "int(qk_left[%s])", index);
}

static void leave(printer *p, bool real, const char *index, const char *value) {
    qg_encoder_line(
        p, qg_format(p->arena, real ? "qk_left[%s] = floatBitsToUint(%s);" : "qk_left[%s] = uint(%s);", index, value));
}

/* Until all have looked at what was left before. */
static void wait_for_others(printer *p) {
    if (p->left) qg_encoder_line(p, "barrier();");
    p->left = false;
}

/* Where a thread leaves number `which` of several. Planes take turns: others may still look at the last
 * one's. */
static const char *place(const printer *p, const char *at, uint32_t which) {
    const uint32_t count = qg_words_left(p->planes ? p->planes : p->layout);
    if (qg_encoder_joins_planes(p))
        return qg_format(p->arena, "(uint(qk_plane) %% 2u * %uu + %uu) * gl_WorkGroupSize.x + %s", count, which, at);
    return which ? qg_format(p->arena, "%u * gl_WorkGroupSize.x + %s", which, at) : at;
}

static bool is_magnitude(const qg_term *term) { return term->op == QG_CALL && term->call == QG_CALL_ABS; }

/* Whether the first of equal numbers may have other bits than the next one: zeros have a sign. */
static bool has_order(const printer *p, const qg_term *term) {
    const qg_term *body = term->arg[0];
    return p->run < p->share && qg_encoder_is_float(body) && !is_magnitude(body);
}

/* Whether the largest or the least of x, or of what it is without a sign, is what all functions look for, in floats
 * that a thread holds: then a device's own function finds it, where there is no NaN among them. */
static bool finds_freely(const printer *p, const qg_term *const *terms, uint32_t count) {
    if (p->d->id != QG_GLSL || !p->held || p->kept || p->entire || p->best) return false;
    for (uint32_t i = 0; i < count; ++i) {
        const qg_term *body = terms[i]->arg[0];
        if (terms[i]->call != QG_CALL_MAX && terms[i]->call != QG_CALL_MIN) return false;
        if (is_magnitude(body)) body = body->arg[0];
        if (body->op != QG_CALL || body->call != QG_CALL_X) return false;
    }
    return true;
}

/* One by one: of a row, what the thread holds; else in memory. */
static void find_again(printer *p, const qg_term *const *terms, const char *const *into, uint32_t count,
                       const char *group, uint32_t n) {
    for (uint32_t i = 0; i < count; ++i)
        qg_encoder_line(p, qg_format(p->arena, "%s = %s;", into[i], qg_encoder_begin_of(p, terms[i])));
    if (p->encode->rows) {
        const loop held = qg_encoder_begin_elements(p, group, n, 1, n, true);
        for (uint32_t i = 0; i < count; ++i) qg_encoder_add_value(p, terms[i], into[i]);
        qg_encoder_leave(p, &held);
        return;
    }
    qg_encoder_begin(p, qg_format(p->arena, "for (int qk_i = 0; qk_i < %u; ++qk_i) {", n));
    const loop before = qg_encoder_enter(p, group ? qg_format(p->arena, "(%s * %u + qk_i)", group, n) : "qk_i", 1);
    p->held = false;
    for (uint32_t i = 0; i < count; ++i) qg_encoder_add_value(p, terms[i], into[i]);
    p->held = true;
    qg_encoder_leave(p, &before);
}

/* A sum tells whether there is a NaN, by its bits: a device may take it that no float is one. Which of two zeros is
 * found first has to be looked at, too. */
static void find_freely(printer *p, const qg_term *const *terms, const char *const *into, uint32_t count,
                        const char *group, uint32_t n, bool shared) {
    const char *all = qg_encoder_fresh(p);
    const char *again = qg_format(p->arena, "(floatBitsToUint(%s) & 0x7F800000u) == 0x7F800000u", all);
    qg_encoder_line(p, qg_format(p->arena, "precise float %s = 0.0;", all));
    const loop before = qg_encoder_begin_elements(p, group, n, 1, n, true);
    for (uint32_t i = 0; i < count; ++i) {
        const qg_term *body = terms[i]->arg[0];
        const char *function = terms[i]->call == QG_CALL_MAX ? "max" : "min";
        qg_encoder_line(p,
                        qg_format(p->arena, "%s = %s(%s, %s);", into[i], function, into[i], qg_encoder_text(p, body)));
        if (!is_magnitude(body) && !(shared && has_order(p, terms[i])))
            again = qg_format(p->arena, "%s || %s == 0.0", again, into[i]);
        const qg_term *x = is_magnitude(body) ? body->arg[0] : body;
        if (i == 0) qg_encoder_line(p, qg_format(p->arena, "%s = %s + %s;", all, all, qg_encoder_operand(p, x)));
    }
    qg_encoder_leave(p, &before);
    qg_encoder_begin(p, qg_format(p->arena, "if (%s) {", again));
    find_again(p, terms, into, count, group, n);
    qg_encoder_finish(p);
}

bool qg_encoder_look_freely(printer *p, const qg_term *const *terms, const char *const *into, uint32_t count) {
    const char *found[QG_MOST_OF_ROW] = {NULL};
    if (!finds_freely(p, terms, count)) return false;
    for (uint32_t i = 0; i < count; ++i) {
        found[i] = qg_encoder_fresh(p);
        qg_encoder_line(p, qg_format(p->arena, "%s %s = %s;", qg_encoder_declared(p, true, false), found[i],
                                     qg_encoder_begin_of(p, terms[i])));
    }
    find_freely(p, terms, found, count, NULL, p->share, false);
    for (uint32_t i = 0; i < count; ++i) qg_encoder_compare(p, terms[i], found[i], into[i]);
    return true;
}

/* What a function finds in the whole block, in its order. */
static void look_in_order(printer *p, const qg_term *term, const char *into) {
    const bool held = p->held;
    qg_encoder_line(p, qg_format(p->arena, "%s = %s;", into, qg_encoder_begin_of(p, term)));
    qg_encoder_begin(p, qg_format(p->arena, "for (int qk_i = 0; qk_i < %u; ++qk_i) {", p->layout->elements));
    const loop before = qg_encoder_enter(p, "qk_i", 1);
    p->held = false;
    p->entire = true;
    qg_encoder_add_value(p, term, into);
    p->entire = false;
    p->held = held;
    qg_encoder_leave(p, &before);
}

/* Takes what each of a team has left, number `which` of several, none of which is a NaN. Where threads have no elements
 * in their order, and it matters which of two zeros is the first, all is looked at again. */
static void join_part(printer *p, const qg_term *term, const char *into, uint32_t which) {
    const bool real = qg_encoder_is_float(term), ordered = has_order(p, term);
    const bool free = real && term->call != QG_CALL_EXTREME && (ordered || is_magnitude(term->arg[0]));
    const char *k = qg_encoder_fresh(p), *v = qg_encoder_fresh(p);
    const char *at = qg_format(p->arena, "gl_LocalInvocationIndex / %uu * %uu + uint(%s)", p->team, p->team, k);
    qg_encoder_line(p, qg_format(p->arena, "%s = %s;", into, qg_encoder_begin_of(p, term)));
    qg_encoder_begin(p, qg_format(p->arena, "[[unroll]] for (int %s = 0; %s < %u; ++%s) {", k, k, p->team, k));
    qg_encoder_line(p, qg_format(p->arena, "%s %s = %s;", qg_encoder_declared(p, real, true), v,
                                 left(p, real, place(p, at, which))));
    if (free)
        qg_encoder_line(
            p, qg_format(p->arena, "%s = %s(%s, %s);", into, term->call == QG_CALL_MAX ? "max" : "min", into, v));
    else
        qg_encoder_compare(p, term, v, into);
    qg_encoder_finish(p);
    if (!ordered) return;
    qg_encoder_begin(p, qg_format(p->arena, "if (%s == 0.0) {", into));
    look_in_order(p, term, into);
    qg_encoder_finish(p);
}

/* What each of a team has found in its part, one after the other. */
static void join_parts(printer *p, const qg_term *const *terms, const char *const *into, uint32_t count) {
    wait_for_others(p);
    for (uint32_t i = 0; i < count; ++i)
        leave(p, qg_encoder_is_float(terms[i]), place(p, "gl_LocalInvocationIndex", i), into[i]);
    qg_encoder_line(p, "barrier();");
    for (uint32_t i = 0; i < count; ++i) join_part(p, terms[i], into[i], i);
    p->left = true;
    if (p->indent > (qg_encoder_joins_planes(p) ? 2 : 1)) wait_for_others(p);
}

uint32_t qg_encoder_step(const qg_term *term, uint32_t per) {
    uint32_t a = term->arg[0]->per, b = per;
    while (b) {
        const uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* A sum is added in the order of the elements: each of a team goes on where the one before has stopped. */
static void take_turns(printer *p, const qg_term *term, const char *into) {
    const bool real = qg_encoder_is_float(term);
    const char *s = qg_encoder_fresh(p), *own = qg_format(p->arena, "gl_LocalInvocationIndex / %uu", p->team);
    const uint32_t step = qg_encoder_step(term, term->per);
    p->left |= qg_encoder_joins_planes(p); /* of the plane before */
    wait_for_others(p);
    qg_encoder_begin(p, qg_format(p->arena, "for (int %s = 0; %s < %u; ++%s) {", s, s, p->team, s));
    qg_encoder_begin(p, qg_format(p->arena, "if (%s == qk_t) {", s));
    qg_encoder_line(p, qg_format(p->arena, "if (%s > 0) %s = %s;", s, into, left(p, real, own)));
    const loop before =
        qg_encoder_begin_elements(p, NULL, p->share / step, step, QG_UNROLLED, qg_encoder_sees_x(p, term->arg[0]));
    qg_encoder_add_value(p, term, into);
    qg_encoder_leave(p, &before);
    leave(p, real, own, into);
    qg_encoder_finish(p);
    qg_encoder_line(p, "barrier();");
    qg_encoder_finish(p);
    qg_encoder_line(p, qg_format(p->arena, "%s = %s;", into, left(p, real, own)));
    p->left = true;
    if (p->indent > 1) wait_for_others(p);
}

/* Several that look at the same, in one loop. */
void qg_encoder_print_group(printer *p, const qg_term *const *terms, const char *const *into, uint32_t count) {
    const uint32_t per = terms[0]->per, step = qg_encoder_step(terms[0], per);
    const bool shared = qg_encoder_is_shared(p, per) && step < per;
    const uint32_t n = (shared ? p->share : per) / step;
    for (uint32_t i = 0; i < count; ++i)
        qg_encoder_line(p,
                        qg_format(p->arena, "%s %s = %s;", qg_encoder_declared(p, qg_encoder_is_float(terms[i]), false),
                                  into[i], qg_encoder_begin_of(p, terms[i])));
    if (shared && terms[0]->call == QG_CALL_SUM) {
        take_turns(p, terms[0], into[0]);
        return;
    }
    bool looks = false;
    for (uint32_t i = 0; i < count; ++i) looks |= qg_encoder_sees_x(p, terms[i]->arg[0]);
    const char *group = per == p->layout->elements ? NULL : qg_encoder_group_at(p, per);
    if (step == 1 && finds_freely(p, terms, count)) {
        find_freely(p, terms, into, count, group, n, shared);
        if (shared) join_parts(p, terms, into, count);
        return;
    }
    const loop before = qg_encoder_begin_elements(p, group, n, step, p->best ? UNROLLED_IN_SEARCH : QG_UNROLLED, looks);
    for (uint32_t i = 0; i < count; ++i) qg_encoder_add_value(p, terms[i], into[i]);
    qg_encoder_leave(p, &before);
    if (shared) join_parts(p, terms, into, count);
}

/* What the loop in hand has written out is there within it, too. */
const char *qg_encoder_print_counting(printer *p, const qg_term *term) {
    const char *result = qg_encoder_fresh(p), *least = qg_encoder_fresh(p), *k = qg_encoder_fresh(p);
    const bool sums = term->call == QG_CALL_SUM, real = qg_encoder_is_float(term->arg[0]);
    qg_encoder_line(p, qg_format(p->arena, "%s %s = %s;", qg_encoder_declared(p, qg_encoder_is_float(term), false),
                                 result, qg_encoder_is_float(term) ? qg_encoder_floating(p, 0.0f) : "0"));
    if (!sums)
        qg_encoder_line(p, real ? qg_format(p->arena, "%s %s = %s(0x7F800000u);", qg_encoder_declared(p, true, false),
                                            least, p->d->bits_of_f32)
                                : qg_format(p->arena, "%s %s = %lld;", qg_encoder_declared(p, false, false), least,
                                            (long long)term->arg[0]->high + 1));
    bool written[QG_MOST_WRITTEN];
    memcpy(written, p->written, sizeof written);
    const char *unroll = term->count <= COUNTED_OUT ? p->d->unroll : "";
    qg_encoder_begin(
        p, qg_format(p->arena, "%sfor (%s %s = 0; %s < %u; ++%s) {", unroll, p->d->integer, k, k, term->count, k));
    p->counters[term->ref] = k;
    if (sums) {
        qg_encoder_add_value(p, term, result);
    } else {
        const char *value = qg_encoder_text(p, term->arg[0]), *v = qg_encoder_fresh(p);
        qg_encoder_line(p, qg_format(p->arena, "%s %s = %s;", qg_encoder_declared(p, real, true), v, value));
        qg_encoder_begin(p, qg_format(p->arena, "if (%s < %s) {", v, least));
        qg_encoder_line(p, qg_format(p->arena, "%s = %s;", least, v));
        qg_encoder_line(p, qg_format(p->arena, "%s = %s;", result, k));
        qg_encoder_finish(p);
    }
    qg_encoder_finish(p);
    memcpy(p->written, written, sizeof written);
    return result;
}

bool qg_encoder_is_group(const qg_term *term) {
    return term->op == QG_CALL && term->count == 0 &&
           (term->call == QG_CALL_SUM || term->call == QG_CALL_MAX || term->call == QG_CALL_MIN ||
            term->call == QG_CALL_EXTREME);
}
