/* Encoders: which equation needs which, and expressions of their terms. */
#include "text/encode_print.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef qg_encoder_printer printer;

enum { LEAST_OF_BRANCH = 16 };

void qg_encoder_line(printer *p, const char *text) {
    qg_text_printf(&p->text, "%*s%s\n", (int)(4 * p->indent), "", text);
}

void qg_encoder_begin(printer *p, const char *text) {
    qg_encoder_line(p, text);
    p->indent += 1;
}

void qg_encoder_finish(printer *p) {
    p->indent -= 1;
    qg_encoder_line(p, "}");
}

const char *qg_encoder_fresh(printer *p) { return qg_format(p->arena, "qk_%u", p->made++); }

const char *qg_encoder_floating(const printer *p, float value) {
    qg_text text = qg_text_new(p->arena);
    qg_print_float(&text, p->target, value);
    return text.data;
}

/* "precise float", or "const int" */
const char *qg_encoder_declared(const printer *p, bool real, bool constant) {
    return qg_format(p->arena, "%s%s%s", constant ? p->d->constant : "", real ? p->d->precise : "",
                     real ? p->d->floating : p->d->integer);
}

/* ---- what uses what ---- */

bool qg_encoder_names(const printer *p, const qg_term *term, uint32_t equation) {
    const qg_equation *e = &qg_encoder_items(p)[equation];
    if (!term) return false;
    if (term->op == QG_CALL && (term->call == QG_CALL_LOCAL || term->call == QG_CALL_KEPT) && term->ref == equation)
        return true;
    if (term->op == QG_CODE && e->is_code && term->ref == e->code) return true;
    return qg_encoder_names(p, term->arg[0], equation) || qg_encoder_names(p, term->arg[1], equation) ||
           qg_encoder_names(p, term->arg[2], equation);
}

/* Whether a condition compares with what is kept. */
bool qg_encoder_compares(const qg_term *term, uint32_t equation) {
    if (!term) return false;
    if (term->op == QG_CALL && term->call == QG_CALL_KEPT && term->ref == equation) return true;
    return qg_encoder_compares(term->arg[0], equation) || qg_encoder_compares(term->arg[1], equation) ||
           qg_encoder_compares(term->arg[2], equation);
}

/* Whether an equation names another one, in what it is or in what it becomes. */
static bool uses(const printer *p, uint32_t by, uint32_t equation) {
    return qg_encoder_names(p, qg_encoder_items(p)[by].value, equation) ||
           qg_encoder_names(p, qg_encoder_items(p)[by].next, equation);
}

/* Which equation a name is of; the count of all: of none. */
uint32_t qg_encoder_equation(const printer *p, const qg_term *term) {
    if (term->op == QG_CALL && (term->call == QG_CALL_LOCAL || term->call == QG_CALL_KEPT)) return term->ref;
    for (uint32_t i = 0; term->op == QG_CODE && i < p->encode->count; ++i)
        if (qg_encoder_items(p)[i].is_code && qg_encoder_items(p)[i].code == term->ref) return i;
    return p->encode->count;
}

/* Whether an equation's value is needed, itself or by what is written out. */
bool qg_encoder_depends(const printer *p, const qg_term *term, uint32_t first, uint32_t end) {
    if (!term) return false;
    const uint32_t e = qg_encoder_equation(p, term);
    if (e < p->encode->count) {
        if (e >= first && e < end) return true;
        if (qg_encoder_items(p)[e].per == 1 && !qg_encoder_items(p)[e].next)
            return qg_encoder_depends(p, qg_encoder_items(p)[e].value, first, end);
    }
    return qg_encoder_depends(p, term->arg[0], first, end) || qg_encoder_depends(p, term->arg[1], first, end) ||
           qg_encoder_depends(p, term->arg[2], first, end);
}

bool qg_encoder_is_used(const printer *p, uint32_t equation) {
    for (uint32_t i = 0; i < p->encode->count; ++i)
        if (uses(p, i, equation)) return true;
    return false;
}

/* Whether a name is used where it is no variable: outside of these equations, or by what is written out there. */
bool qg_encoder_is_kept(const printer *p, uint32_t equation, uint32_t first, uint32_t end) {
    for (uint32_t i = 0; i < p->encode->count; ++i) {
        const qg_equation *e = &qg_encoder_items(p)[i];
        if (!uses(p, i, equation)) continue;
        if (i < first || i >= end || (e->per == 1 && e->is_code)) return true;
        if (e->per == 1 && !e->best && i != equation && qg_encoder_is_kept(p, i, first, end)) return true;
    }
    return false;
}

/* Whether a term needs x, itself or by what is written out. */
bool qg_encoder_sees_x(const printer *p, const qg_term *term) {
    if (!term) return false;
    if (term->op == QG_CALL && term->call == QG_CALL_X) return true;
    const uint32_t e = qg_encoder_equation(p, term);
    if (e < p->encode->count && qg_encoder_items(p)[e].per == 1 && !qg_encoder_items(p)[e].next &&
        qg_encoder_sees_x(p, qg_encoder_items(p)[e].value))
        return true;
    return qg_encoder_sees_x(p, term->arg[0]) || qg_encoder_sees_x(p, term->arg[1]) ||
           qg_encoder_sees_x(p, term->arg[2]);
}

/* ---- expressions ---- */

const char *qg_encoder_group_at(const printer *p, uint32_t per) {
    if (per == p->layout->elements || per == p->share) return "0";
    return per == p->unit ? p->at : qg_format(p->arena, "%s / %u", p->at, per / p->unit);
}

const char *qg_encoder_name(printer *p, uint32_t number, bool kept) {
    const qg_equation *e = &qg_encoder_items(p)[number];
    if (e->per == 1 && e->next) return qg_format(p->arena, "qk_all_%s[%s]", e->name, p->at);
    if (e->per == 1) {
        if (!p->written[number]) {
            const char *const clear = p->clear;
            p->clear = NULL; /* others may use it */
            const char *value = qg_encoder_text(p, e->value);
            qg_encoder_line(p, qg_format(p->arena, "%s %s = %s;",
                                         qg_encoder_declared(p, qg_encoder_is_float(e->value), true), e->name, value));
            p->written[number] = true;
            p->clear = clear;
        }
        return e->name;
    }
    if (e->best && e->best == p->best && !kept) return qg_format(p->arena, "qk_try_%s", e->name);
    if ((number >= p->first && number < p->end) || e->per == p->layout->elements) return e->name;
    return qg_format(p->arena, "qk_all_%s[%s]", e->name, qg_encoder_group_at(p, e->per));
}

static bool is_arithmetic(const qg_term *term) {
    while (term->op == QG_NEG) term = term->arg[0];
    return qg_encoder_is_float(term) && (term->op == QG_ADD || term->op == QG_SUB || term->op == QG_MUL);
}

/* An operand of anything but arithmetic. In GLSL, `precise` holds for the operations that a variable is made of, and
 * not for those that a function or a comparison is given: these get a variable of their own. */
const char *qg_encoder_apart(printer *p, const qg_term *term) {
    const char *text = qg_encoder_text(p, term);
    if (p->d->id != QG_GLSL || !is_arithmetic(term)) return text;
    const char *name = qg_encoder_fresh(p);
    qg_encoder_line(p, qg_format(p->arena, "%s %s = %s;", qg_encoder_declared(p, true, true), name, text));
    return name;
}

/* A pattern of calls.def, or of one like it. */
static const char *filled(printer *p, const char *pattern, const qg_term *term) {
    const char *arguments[3] = {NULL, NULL, NULL};
    qg_text text = qg_text_new(p->arena);
    for (int i = 0; i < 3 && term->arg[i]; ++i) arguments[i] = qg_encoder_apart(p, term->arg[i]);
    for (; *pattern; ++pattern) {
        if (*pattern != '$') {
            qg_text_add(&text, pattern, 1);
            continue;
        }
        qg_text_puts(&text, arguments[*++pattern - '1']);
    }
    return text.data;
}

static bool is_leaf(const qg_term *term) {
    return term->op == QG_CONST || term->op == QG_CODE || term->op == QG_TABLE || term->op == QG_ELEMENT ||
           term->op == QG_TO_FLOAT || term->op == QG_BITS_AS || (term->op == QG_CALL && term->call != QG_CALL_DIVIDE);
}

/* As an operand: in brackets where it is an operation. */
const char *qg_encoder_operand(printer *p, const qg_term *term) {
    const char *text = qg_encoder_text(p, term);
    const bool negative = term->op == QG_CONST && *text == '-';
    return is_leaf(term) && !negative ? text : qg_format(p->arena, "(%s)", text);
}

/* The same of a comparison or a choice. */
static const char *operand_apart(printer *p, const qg_term *term) {
    return p->d->id == QG_GLSL && is_arithmetic(term) ? qg_encoder_apart(p, term) : qg_encoder_operand(p, term);
}

/* ---- choices ---- */

/* Whether a name of each element, which is written out where it is first used, is not there yet. */
static bool is_unwritten(const printer *p, uint32_t equation) {
    const qg_equation *e = &qg_encoder_items(p)[equation];
    return e->per == 1 && !e->next && !p->written[equation];
}

/* With those of names that are not there yet. */
static uint32_t operations(const printer *p, const qg_term *term) {
    if (!term) return 0;
    const uint32_t e = qg_encoder_equation(p, term);
    if (e < p->encode->count) return is_unwritten(p, e) ? operations(p, qg_encoder_items(p)[e].value) : 0;
    return (is_leaf(term) ? 0 : 1) + operations(p, term->arg[0]) + operations(p, term->arg[1]) +
           operations(p, term->arg[2]);
}

/* Whether all elements of a group find the same. */
static bool is_of_group(const printer *p, const qg_term *term) {
    if (!term) return true;
    if (term->op == QG_ELEMENT || (term->op == QG_CALL && term->call == QG_CALL_X)) return false;
    const uint32_t e = qg_encoder_equation(p, term);
    if (e < p->encode->count && qg_encoder_items(p)[e].per == 1) return false;
    return is_of_group(p, term->arg[0]) && is_of_group(p, term->arg[1]) && is_of_group(p, term->arg[2]);
}

/* What takes much and few groups need is left out of the others. A choice of one element would part the threads. */
static bool is_worth_a_branch(const printer *p, const qg_term *term) {
    return operations(p, term->arg[1]) + operations(p, term->arg[2]) >= LEAST_OF_BRANCH && is_of_group(p, term->arg[0]);
}

static const char *op_text(qg_op op) {
    static const char *const names_of[QG_OP_COUNT] = {
#define O(id, name, arity, rule, strength, glsl, msl, c) name,
#include "spec/ops.def"
#undef O
    };
    return names_of[op];
}

/* Whether a quotient is rounded to nearest, and lies then within bounds for which a guess mostly does. */
static bool is_rounded_quotient(const qg_term *term, const qg_term *bounds) {
    enum { MOST = 1000 };
    return term->op == QG_CALL && (term->call == QG_CALL_ROUND || term->call == QG_CALL_EVEN) &&
           term->arg[0]->op == QG_CALL && term->arg[0]->call == QG_CALL_DIVIDE && bounds->low >= -MOST &&
           bounds->high <= MOST;
}

/* Whether a term is a quotient that becomes an integer, so that a guess of it mostly does. */
static bool takes_guess(const qg_term *term) {
    if (term->op != QG_CALL) return false;
    const qg_term *a = term->arg[0];
    return (term->call == QG_CALL_CLAMPED && is_rounded_quotient(a, term)) ||
           (term->call == QG_CALL_SMALL && a->op == QG_CALL && a->call == QG_CALL_DIVIDE);
}

bool qg_encoder_can_guess(const printer *p, const qg_term *term) {
    if (!term) return false;
    if (takes_guess(term)) return true;
    if (term->op == QG_SELECT && is_worth_a_branch(p, term)) return true;
    return qg_encoder_can_guess(p, term->arg[0]) || qg_encoder_can_guess(p, term->arg[1]) ||
           qg_encoder_can_guess(p, term->arg[2]);
}

bool qg_encoder_is_guess(const qg_term *term) {
    return term->op == QG_CALL && term->call == QG_CALL_CLAMPED && is_rounded_quotient(term->arg[0], term);
}

bool qg_encoder_guesses_quotient(const printer *p, const qg_term *term) {
    if (!term) return false;
    if (takes_guess(term)) return true;
    const uint32_t e = qg_encoder_equation(p, term);
    if (e < p->encode->count && qg_encoder_items(p)[e].per == 1 &&
        qg_encoder_guesses_quotient(p, qg_encoder_items(p)[e].value))
        return true;
    return qg_encoder_guesses_quotient(p, term->arg[0]) || qg_encoder_guesses_quotient(p, term->arg[1]) ||
           qg_encoder_guesses_quotient(p, term->arg[2]);
}

/* Of a constant that is a power of two, 1 divided by it: a product with that is the quotient. 0: it is none. */
static float inverse_of(const qg_term *term) {
    int exponent;
    const float sign = term->op == QG_NEG ? -1.0f : 1.0f;
    if (term->op == QG_NEG) term = term->arg[0];
    if (term->op != QG_CONST || !qg_encoder_is_float(term) || !isfinite(term->real)) return 0.0f;
    if (fabsf(frexpf(term->real, &exponent)) != 0.5f || abs(exponent) > 100) return 0.0f;
    return sign / term->real;
}

/* Whether a float is a whole number, a constant or a rounded one. */
static bool is_whole(const printer *p, const qg_term *term) {
    const uint32_t e = qg_encoder_equation(p, term);
    if (e < p->encode->count) return !qg_encoder_items(p)[e].is_code && is_whole(p, qg_encoder_items(p)[e].value);
    if (term->op == QG_CONST) return qg_encoder_is_float(term) && floorf(term->real) == term->real;
    return term->op == QG_CALL && (term->call == QG_CALL_FLOOR || term->call == QG_CALL_TRUNC ||
                                   term->call == QG_CALL_ROUND || term->call == QG_CALL_EVEN);
}

/* Whether the bits of an integer are those of a power of two, as f32: no digits behind the first, or one of a
 * subnormal. */
static bool has_one_digit(const qg_term *term) {
    enum { DIGITS = 23 };
    if (term->op == QG_SELECT) return has_one_digit(term->arg[1]) && has_one_digit(term->arg[2]);
    if (term->op == QG_CONST) return term->integer > 0 && (term->integer & (term->integer - 1)) == 0;
    return term->op == QG_SHL && term->arg[1]->op == QG_CONST && term->arg[1]->integer == DIGITS;
}

static bool is_power(const printer *p, const qg_term *term) {
    const uint32_t e = qg_encoder_equation(p, term);
    if (e < p->encode->count) return !qg_encoder_items(p)[e].is_code && is_power(p, qg_encoder_items(p)[e].value);
    return term->op == QG_BITS_AS && term->ref == QG_F32 && has_one_digit(term->arg[0]);
}

static const char *rounded_quotient(printer *p, const qg_term *term) {
    const qg_term *rounded = term->arg[0], *quotient = rounded->arg[0];
    const char *a = qg_encoder_apart(p, quotient->arg[0]), *b = qg_encoder_apart(p, quotient->arg[1]);
    if (p->clear)
        return qg_format(p->arena,
                         p->raised ? "qk_clear_quotient(%s, %s, %lld, %lld, %s)"
                                   : "(qk_clear_quotient(%s, %s, %lld, %lld, %s) - QK_ZERO)",
                         a, b, (long long)term->low, (long long)term->high, p->clear);
    return qg_format(p->arena, "qk_clamped(qk_%s_quotient(%s, %s), %lld, %lld)",
                     rounded->call == QG_CALL_EVEN ? "even" : "nearest", a, b, (long long)term->low,
                     (long long)term->high);
}

static const char *small_float(printer *p, const qg_term *term) {
    const qg_small_float f = qg_small_float_of((qg_scalar)term->ref);
    const char *u = p->d->id == QG_C ? "" : "u";
    const char *type = qg_format(p->arena, "%u%s, 0x%X, 0x%X", f.digits, u, f.least, f.most);
    const qg_term *quotient = term->arg[0];
    if (p->clear && takes_guess(term))
        return qg_format(p->arena, "qk_clear_small(%s, %s, %s, %s)", qg_encoder_apart(p, quotient->arg[0]),
                         qg_encoder_apart(p, quotient->arg[1]), type, p->clear);
    return qg_format(p->arena, "qk_small(%s, %s)", qg_encoder_apart(p, quotient), type);
}

/* From where on a float counts as `k`, or, below 0, down to where: a comparison with the number between. */
static const char *edge(const printer *p, const qg_term *rounded, int k) {
    const bool below = k < 0, is_half = rounded->call == QG_CALL_ROUND || rounded->call == QG_CALL_EVEN;
    const bool open = rounded->call == QG_CALL_EVEN ? k % 2 != 0 : rounded->call == QG_CALL_FLOOR && below;
    const float at = (float)k + (is_half ? (below ? 0.5f : -0.5f) : open ? 1.0f : 0.0f);
    return qg_format(p->arena, "%s%s %s", below ? "<" : ">", open ? "" : "=", qg_encoder_floating(p, at));
}

/* A rounded float within bounds, in GLSL: of few integers, how many of the numbers between them are passed, which no
 * NaN does; else with the bounds first. NULL: where it must be done with integers. */
static const char *clamped(printer *p, const qg_term *term) {
    enum { FEW = 3, MOST = 1 << 22 };
    static const char *const names[QG_CALL_COUNT] = {
        [QG_CALL_FLOOR] = "floor", [QG_CALL_TRUNC] = "trunc", [QG_CALL_ROUND] = "round", [QG_CALL_EVEN] = "even"};
    const qg_term *rounded = term->arg[0];
    if (rounded->op != QG_CALL || !names[rounded->call] || term->low < -MOST || term->high > MOST) return NULL;
    const char *value = qg_encoder_text(p, rounded->arg[0]), *v = qg_encoder_fresh(p);
    qg_encoder_line(p, qg_format(p->arena, "%s %s = %s;", qg_encoder_declared(p, true, true), v, value));
    if (term->low > 0 || term->high < 0 || term->high - term->low > FEW)
        return qg_format(p->arena, "qk_clamped_%s(%s, %lld, %lld)", names[rounded->call], v, (long long)term->low,
                         (long long)term->high);
    qg_text text = qg_text_new(p->arena);
    for (int k = 1; k <= term->high; ++k)
        qg_text_printf(&text, "%s(%s %s ? 1 : 0)", k > 1 ? " + " : "", v, edge(p, rounded, k));
    for (int k = -1; k >= term->low; --k) qg_text_printf(&text, " - (%s %s ? 1 : 0)", v, edge(p, rounded, k));
    return text.length ? qg_format(p->arena, "(%s)", text.data) : "0";
}

static const char *call_text(printer *p, const qg_term *term) {
    static const char *const patterns[QG_CALL_COUNT][3] = {
#define F(id, name, takes, glsl, msl, c) {glsl, msl, c},
#include "spec/calls.def"
#undef F
    };
    switch (term->call) {
    case QG_CALL_X:
        if (p->held) return qg_format(p->arena, "qk_held[%s]", p->whole ? p->at : "qk_i");
        if (p->fours) return "qk_fours[qk_l]";
        if (p->spread) return qg_format(p->arena, "qk_x(qk_spread(qk_from, qk_t, qk_n, uint(%s)))", p->at);
        if (p->entire) return qg_format(p->arena, "qk_x(qk_first - uint(qk_t) * %uu + uint(%s))", p->run, p->at);
        if (p->run < p->share)
            return qg_format(p->arena, "qk_x(qk_first + uint(%s / %u * %u + %s %% %u))", p->at, p->run,
                             p->run * p->team, p->at, p->run);
        return p->d->id == QG_GLSL              ? qg_format(p->arena, "qk_x(qk_from + uint(%s))", p->at)
               : p->d->id == QG_MSL && !p->kept ? qg_format(p->arena, "qk_at(qk_x, uint(%s))", p->at)
                                                : qg_format(p->arena, "qk_x[%s]", p->at);
    case QG_CALL_LOCAL: return qg_encoder_name(p, term->ref, false);
    case QG_CALL_KEPT: return qg_encoder_name(p, term->ref, true);
    case QG_CALL_INDEX: return p->counters[term->ref];
    case QG_CALL_GREATER:
    case QG_CALL_LESS: {
        const char *a = qg_encoder_fresh(p), *b = qg_encoder_fresh(p),
                   *type = qg_encoder_declared(p, qg_encoder_is_float(term), true);
        const char *first = qg_encoder_text(p, term->arg[0]);
        qg_encoder_line(p, qg_format(p->arena, "%s %s = %s;", type, a, first));
        const char *second = qg_encoder_text(p, term->arg[1]);
        qg_encoder_line(p, qg_format(p->arena, "%s %s = %s;", type, b, second));
        return term->call == QG_CALL_GREATER ? qg_format(p->arena, "(%s < %s ? %s : %s)", a, b, b, a)
                                             : qg_format(p->arena, "(%s < %s ? %s : %s)", b, a, b, a);
    }
    default: break;
    }
    const char *of_row = qg_encoder_of_row(p, term);
    if (of_row) return of_row;
    if (qg_encoder_is_group(term)) {
        const char *into = qg_encoder_fresh(p);
        qg_encoder_print_group(p, &term, &into, 1);
        return into;
    }
    if (term->count) return qg_encoder_print_counting(p, term);
    if (term->call == QG_CALL_SMALL) return small_float(p, term);
    if (term->call == QG_CALL_CLAMPED && p->d->id == QG_GLSL && !p->mends && is_rounded_quotient(term->arg[0], term))
        return rounded_quotient(p, term);
    if (term->call == QG_CALL_CLAMPED && p->d->id == QG_GLSL) {
        const char *text = clamped(p, term);
        if (text) return text;
    }
    const float inverse = term->call == QG_CALL_DIVIDE && p->d->id == QG_GLSL ? inverse_of(term->arg[1]) : 0.0f;
    if (inverse != 0.0f)
        return qg_format(p->arena, "%s * %s", qg_encoder_operand(p, term->arg[0]), qg_encoder_floating(p, inverse));
    if (term->call == QG_CALL_DIVIDE && p->d->id == QG_C)
        return qg_format(p->arena, "%s / %s", qg_encoder_operand(p, term->arg[0]), qg_encoder_operand(p, term->arg[1]));
    const qg_term *quotient = term->arg[0];
    if ((term->call == QG_CALL_EVEN || term->call == QG_CALL_ROUND) && p->d->id == QG_GLSL && quotient->op == QG_CALL &&
        quotient->call == QG_CALL_DIVIDE && inverse_of(quotient->arg[1]) == 0.0f)
        return filled(p, term->call == QG_CALL_EVEN ? "qk_even_quotient($1, $2)" : "qk_nearest_quotient($1, $2)",
                      quotient);
    if (term->call == QG_CALL_DIVIDE && p->d->id == QG_GLSL && is_whole(p, term->arg[1]))
        return filled(p, "qk_quotient_by_whole($1, $2)", term);
    if (term->call == QG_CALL_DIVIDE && p->d->id == QG_GLSL && is_power(p, term->arg[1]))
        return filled(p, "qk_quotient_by_power($1, $2)", term);
    return filled(p, patterns[term->call][p->d->id], term);
}

static const char *bits_as(printer *p, const qg_term *term) {
    const char *bits = qg_encoder_operand(p, term->arg[0]);
    if (!qg_encoder_is_float(term)) {
        const uint32_t half = UINT32_C(1) << (qg_scalars[term->ref].bits - 1);
        return qg_format(p->arena, "((%s ^ %u) - %u)", bits, half, half);
    }
    const char *word = p->d->id == QG_C ? qg_format(p->arena, "(%s)%s", p->d->word, bits)
                                        : qg_format(p->arena, "%s(%s)", p->d->word, bits);
    const char *c = p->d->id == QG_C ? "qk_" : "";
    return term->ref == QG_F32 ? qg_format(p->arena, "%s(%s)", p->d->bits_of_f32, word)
                               : qg_format(p->arena, "%s%s_to_f32(%s)", c, term->ref == QG_F16 ? "f16" : "bf16", word);
}

static const char *table_text(printer *p, const qg_term *term) {
    const qg_table *table = &p->layout->tables[term->ref];
    const char *row = qg_encoder_operand(p, term->arg[0]);
    if (term->arg[1])
        row = qg_format(p->arena, "%s * %u + %s", row, table->columns, qg_encoder_operand(p, term->arg[1]));
    return qg_format(p->arena, "qk_table_%s[%s]", table->name, row);
}

static const char *choice(printer *p, const qg_term *term) {
    const char *condition = qg_encoder_operand(p, term->arg[0]), *a = operand_apart(p, term->arg[1]);
    return qg_format(p->arena, "%s ? %s : %s", condition, a, operand_apart(p, term->arg[2]));
}

/* One side: what it takes has names of its own. */
static void side(printer *p, const qg_term *term, const char *into) {
    bool written[QG_MOST_WRITTEN];
    memcpy(written, p->written, sizeof written);
    qg_encoder_line(p, qg_format(p->arena, "%s = %s;", into, qg_encoder_text(p, term)));
    memcpy(p->written, written, sizeof written);
}

/* Where a code may be uncertain, it is what the second side has, and groups of the first are made again. */
static const char *guess(printer *p, const qg_term *term) {
    const char *condition = qg_encoder_operand(p, term->arg[0]);
    qg_encoder_line(p, qg_format(p->arena, "%s = %s && !%s;", p->clear, p->clear, condition));
    return qg_encoder_text(p, term->arg[2]);
}

static const char *branch(printer *p, const qg_term *term) {
    const char *into = qg_encoder_fresh(p), *condition = qg_encoder_text(p, term->arg[0]);
    for (uint32_t i = 0; i < p->encode->count; ++i)
        if (is_unwritten(p, i) && qg_encoder_names(p, term->arg[1], i) && qg_encoder_names(p, term->arg[2], i))
            qg_encoder_name(p, i, false); /* what both sides need */
    qg_encoder_line(p, qg_format(p->arena, "%s %s;", qg_encoder_declared(p, qg_encoder_is_float(term), false), into));
    qg_encoder_begin(p, qg_format(p->arena, "if (%s) {", condition));
    side(p, term->arg[1], into);
    p->indent -= 1;
    qg_encoder_begin(p, "} else {");
    side(p, term->arg[2], into);
    qg_encoder_finish(p);
    return into;
}

const char *qg_encoder_text(printer *p, const qg_term *term) {
    switch (term->op) {
    case QG_CONST:
        if (term->kind == QG_K_BOOL) return term->integer ? "true" : "false";
        return qg_encoder_is_float(term) ? qg_encoder_floating(p, term->real)
                                         : qg_format(p->arena, "%lld", (long long)term->integer);
    case QG_CODE: return qg_encoder_name(p, qg_encoder_equation(p, term), false);
    case QG_ELEMENT: {
        const char *at = qg_encoder_in_block(p, p->at, p->share / p->unit);
        return p->planes ? qg_encoder_in_planes(p, at, p->layout->elements / p->unit) : at;
    }
    case QG_CALL: return call_text(p, term);
    case QG_TABLE: return table_text(p, term);
    case QG_BITS_AS: return bits_as(p, term);
    case QG_TO_FLOAT:
        return p->d->id == QG_C ? qg_format(p->arena, "(float)%s", qg_encoder_operand(p, term->arg[0]))
                                : qg_format(p->arena, "float(%s)", qg_encoder_text(p, term->arg[0]));
    case QG_NEG: return qg_format(p->arena, "-%s", qg_encoder_operand(p, term->arg[0]));
    case QG_SELECT:
        if (term == p->chosen) return qg_encoder_operand(p, term->arg[qg_encoder_is_zero(term->arg[1]) ? 2 : 1]);
        if (!is_worth_a_branch(p, term)) return choice(p, term);
        return p->clear ? guess(p, term) : branch(p, term);
    case QG_ADD:
    case QG_SUB:
    case QG_MUL: {
        const char *a = qg_encoder_operand(p, term->arg[0]);
        return qg_format(p->arena, "%s %s %s", a, op_text(term->op), qg_encoder_operand(p, term->arg[1]));
    }
    default: {
        const char *a = operand_apart(p, term->arg[0]);
        return qg_format(p->arena, "%s %s %s", a, op_text(term->op), operand_apart(p, term->arg[1]));
    }
    }
}
