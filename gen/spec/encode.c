/* Types and proofs of `encode`.
 *
 * The one idea: an equation is computed once for each aligned run of `per` elements, from x, from equations before it,
 * and from what codes were set to. What a code is given is an integer whose range is proven: a float becomes one by
 * rounding with bounds alone. */
#include "spec/check.h"
#include "spec/lex.h"

#include <string.h>

enum { MOST_COUNT = 256, MOST_BOUND = 1 << 24 };

typedef enum takes { LEAF, GROUP, INDEXED, EITHER, FLOAT, ROUNDED, BITS, TYPED, TWO, DIVIDED, NAME } takes;

static const struct {
    const char *name;
    takes takes;
} calls[QG_CALL_COUNT] = {
#define F(id, name, takes, glsl, msl, c) {name, takes},
#include "spec/calls.def"
#undef F
};

/* ---- names ---------------------------------------------------------------------------------------------------- */

static bool find_equation(const qg_scope *scope, const char *name, uint32_t *at) {
    for (*at = scope->n_equations; (*at)-- > 0;) {
        const qg_equation *e = &scope->equations[*at];
        if (!e->is_code && e->candidates == 0 && strcmp(e->name, name) == 0) {
            return true;
        }
    }
    return false;
}

static bool find_counter(const qg_scope *scope, const char *name, uint32_t *at) {
    for (*at = scope->n_counters; (*at)-- > 0;) {
        if (strcmp(scope->counters[*at], name) == 0) {
            return true;
        }
    }
    return false;
}

static bool find_code(const qg_work *work, const char *name, uint32_t *at) {
    for (*at = 0; *at < work->n_codes; ++*at) {
        if (strcmp(work->codes[*at].name, name) == 0) {
            return true;
        }
    }
    return false;
}

bool qg_is_of_encode(const qg_work *work, const char *name) {
    uint32_t at;
    return strcmp(name, "x") == 0 || find_counter(work->scope, name, &at) || find_equation(work->scope, name, &at) ||
           find_code(work, name, &at);
}

static bool is_small_float(const qg_code *code) {
    return code->typed && qg_scalars[code->type].kind == QG_FLOATING && code->type != QG_F16 && code->type != QG_BF16 &&
           code->type != QG_F32;
}

/* What was stored: the number that the bits stand for. */
static const qg_term *type_stored(qg_work *work, const qg_expr *expr, uint32_t at) {
    const qg_code *code = &work->codes[at];
    if (code->width == 0) {
        return NULL; /* reported where it is laid out */
    }
    if (!work->scope->set[at]) {
        qg_error(work->diag, expr->loc, "'%s' is used before it is set: move its equation before this one", expr->name);
        return NULL;
    }
    if (is_small_float(code)) {
        qg_error(work->diag, expr->loc, "'%s' is a float of %u bits, which encode sets and cannot read: name its bits",
                 expr->name, qg_scalars[code->type].bits);
        return NULL;
    }
    qg_term term = {.op = QG_CODE, .kind = QG_K_INT, .loc = expr->loc, .ref = at, .per = code->per};
    if (code->typed && qg_scalars[code->type].kind == QG_FLOATING) {
        term.kind = QG_K_FLOAT;
    } else if (code->typed && qg_scalars[code->type].kind == QG_SIGNED) {
        term.high = ((int64_t)1 << (code->width - 1)) - 1;
        term.low = -term.high - 1;
    } else {
        term.high = code->most > INT32_MAX ? INT32_MAX : code->most;
    }
    return qg_new_term(work, term);
}

const qg_term *qg_type_name_of_encode(qg_work *work, const qg_expr *expr) {
    const qg_scope *scope = work->scope;
    uint32_t at;
    qg_term term = {.op = QG_CALL, .loc = expr->loc};
    if (strcmp(expr->name, "x") == 0) {
        term.call = QG_CALL_X;
        term.kind = QG_K_FLOAT;
        term.per = 1;
        return qg_new_term(work, term);
    }
    if (find_counter(scope, expr->name, &at)) {
        term.call = QG_CALL_INDEX;
        term.kind = QG_K_INT;
        term.ref = at;
        term.high = (int64_t)scope->extents[at] - 1;
        term.per = work->elements;
        return qg_new_term(work, term);
    }
    if (!find_equation(scope, expr->name, &at)) {
        find_code(work, expr->name, &at);
        return type_stored(work, expr, at);
    }
    const qg_equation *equation = &scope->equations[at];
    if (equation->value == NULL) {
        return NULL; /* reported there */
    }
    const bool stored = equation->per != 1 || equation->next != NULL;
    if (equation->best != scope->best && equation->best != 0 && !stored) {
        qg_error(work->diag, expr->loc,
                 "'%s' is computed for each element and each candidate, of which none is kept: write it again here",
                 expr->name);
        return NULL;
    }
    term.call = QG_CALL_LOCAL;
    term.kind = equation->value->kind;
    term.ref = at;
    term.low = equation->value->low;
    term.high = equation->value->high;
    term.per = equation->per;
    return qg_new_term(work, term);
}

/* ---- functions ------------------------------------------------------------------------------------------------ */

static uint32_t arguments_of(const qg_expr *expr) { return expr->arg[2] != NULL ? 3 : expr->arg[1] != NULL ? 2 : 1; }

/* The row of the table that fits name and arguments, or QG_CALL_COUNT. */
static qg_function find_call(const qg_expr *expr) {
    for (int i = 0; i < QG_CALL_COUNT; i++) {
        if (calls[i].takes == LEAF || calls[i].takes == DIVIDED || strcmp(calls[i].name, expr->name) != 0) {
            continue;
        }
        const uint32_t n = arguments_of(expr);
        const bool counts = expr->index != NULL;
        const bool fits = counts                      ? calls[i].takes == INDEXED || calls[i].takes == EITHER
                          : calls[i].takes == TWO     ? n == 2
                          : calls[i].takes == TYPED   ? n == 2
                          : calls[i].takes == ROUNDED ? n == 1 || n == 3
                                                      : n == 1 && calls[i].takes != INDEXED;
        if (fits) {
            return (qg_function)i;
        }
    }
    return QG_CALL_COUNT;
}

static void report_call(qg_work *work, const qg_expr *expr) {
    for (int i = 0; i < QG_CALL_COUNT; i++) {
        if (calls[i].takes != LEAF && calls[i].takes != DIVIDED && strcmp(calls[i].name, expr->name) == 0) {
            qg_error(work->diag, expr->loc, "'%s' does not take these arguments: %s", expr->name,
                     calls[i].takes == INDEXED   ? "count with a name, as in argmin(k in 16: abs(N[k] - x))"
                     : calls[i].takes == EITHER  ? "give one number, or count, as in sum(k in 15: q < k ? 0 : 1)"
                     : calls[i].takes == ROUNDED ? "give one number, or a number and the bounds of an integer, as in "
                                                   "round(v, 0, 15)"
                     : calls[i].takes == BITS    ? "give one number, or a number and a type, as in bits(v, e4m3)"
                     : calls[i].takes == GROUP   ? "give one number, of all of a group; max and min take two, too"
                                                 : "give one number");
            return;
        }
    }
    qg_error(work->diag, expr->loc,
             "there is no function '%s': use sum max min extreme argmin abs sqrt floor trunc round even bits sign kept",
             expr->name);
}

static const qg_term *integer_in_range(qg_work *work, qg_term term) {
    if (term.low < INT32_MIN || term.high > INT32_MAX) {
        qg_error(work->diag, term.loc, "the sum ranges from %lld to %lld, beyond integers of 32 bits: sum up floats",
                 (long long)term.low, (long long)term.high);
        return NULL;
    }
    return qg_new_term(work, term);
}

static void widen_sum(qg_term *term, uint32_t count) {
    term->low = term->arg[0]->low * count;
    term->high = term->arg[0]->high * count;
}

/* sum(k in COUNT: number), argmin(k in COUNT: number) */
static const qg_term *type_counting(qg_work *work, const qg_expr *expr, qg_function call) {
    qg_scope *scope = work->scope;
    qg_term term = {.op = QG_CALL, .call = call, .loc = expr->loc, .ref = scope->n_counters};
    if (!qg_eval_within(work, expr->arg[0], "what a function counts to", 1, MOST_COUNT, &term.count)) {
        return NULL;
    }
    if (scope->n_counters == QG_MAX_COUNTERS || qg_is_of_encode(work, expr->index) || strcmp(expr->index, "i") == 0) {
        qg_error(work->diag, expr->loc,
                 scope->n_counters == QG_MAX_COUNTERS ? "functions that count nest too deep: name one of them"
                                                      : "'%s' is taken: count with another name",
                 expr->index);
        return NULL;
    }
    scope->counters[scope->n_counters] = expr->index;
    scope->extents[scope->n_counters++] = term.count;
    const qg_term *body = qg_type_expr(work, expr->arg[1]);
    scope->n_counters -= 1;
    if (body == NULL || !qg_is_number(work, body, "as an argument")) {
        return NULL;
    }
    term.arg[0] = body;
    term.per = body->per;
    term.kind = call == QG_CALL_ARGMIN ? QG_K_INT : body->kind;
    if (call == QG_CALL_ARGMIN) {
        term.high = (int64_t)term.count - 1;
    } else if (term.kind == QG_K_INT) {
        widen_sum(&term, term.count);
    }
    return integer_in_range(work, term);
}

/* Of all that the group of the equation has. */
static const qg_term *type_reduction(qg_work *work, const qg_expr *expr, qg_function call) {
    qg_scope *scope = work->scope;
    if (scope->reducing) {
        qg_error(work->diag, expr->loc, "'%s' of a group within another: give it an equation of its own", expr->name);
        return NULL;
    }
    scope->reducing = true;
    const qg_term *body = qg_type_expr(work, expr->arg[0]);
    scope->reducing = false;
    if (body == NULL || !qg_is_number(work, body, "as an argument")) {
        return NULL;
    }
    if (body->per % scope->per == 0) {
        qg_error(work->diag, expr->loc,
                 "'%s' has one value to look at, for the equation is computed for every %u elements: give it a larger "
                 "'per', or leave '%s' out",
                 expr->name, scope->per, expr->name);
        return NULL;
    }
    if (call == QG_CALL_EXTREME && (body = qg_to_float(work, body)) == NULL) {
        return NULL;
    }
    qg_term term = {.op = QG_CALL, .call = call, .loc = expr->loc, .kind = body->kind, .per = scope->per};
    term.arg[0] = body;
    term.low = body->low;
    term.high = body->high;
    if (call == QG_CALL_SUM && term.kind == QG_K_INT) {
        widen_sum(&term, scope->per / qg_common_divisor(body->per, scope->per));
    }
    return integer_in_range(work, term);
}

/* An integer of proven range: NaN counts as 0 before the bounds are looked at. */
static const qg_term *type_clamped(qg_work *work, const qg_expr *expr, const qg_term *rounded) {
    const qg_term *low = qg_type_expr(work, expr->arg[1]), *high = qg_type_expr(work, expr->arg[2]);
    if (low == NULL || high == NULL) {
        return NULL;
    }
    const bool constants =
        low->op == QG_CONST && high->op == QG_CONST && low->kind == QG_K_INT && high->kind == QG_K_INT;
    if (!constants || low->integer > high->integer || low->integer < -MOST_BOUND || high->integer > MOST_BOUND) {
        qg_error(work->diag, expr->arg[1]->loc,
                 "the bounds of '%s' are two constant integers, the smaller first, within 2^24", expr->name);
        return NULL;
    }
    return qg_new_term(work, (qg_term){.op = QG_CALL,
                                       .call = QG_CALL_CLAMPED,
                                       .kind = QG_K_INT,
                                       .loc = expr->loc,
                                       .low = low->integer,
                                       .high = high->integer,
                                       .per = rounded->per,
                                       .arg = {rounded, low, high}});
}

static const qg_term *type_unary(qg_work *work, const qg_expr *expr, qg_function call) {
    const qg_term *a = qg_type_expr(work, expr->arg[0]);
    if (a == NULL || !qg_is_number(work, a, "as an argument") || (a = qg_to_float(work, a)) == NULL) {
        return NULL;
    }
    qg_term term = {.op = QG_CALL, .call = call, .kind = QG_K_FLOAT, .loc = expr->loc, .per = a->per, .arg = {a}};
    if (calls[call].takes == BITS) {
        term.kind = QG_K_INT;
        term.high = call == QG_CALL_SIGN ? 1 : 0x7FC00000;
    }
    const qg_term *made = qg_new_term(work, term);
    return expr->arg[2] == NULL ? made : type_clamped(work, expr, made);
}

static const qg_term *type_two(qg_work *work, const qg_expr *expr, qg_function call) {
    const qg_term *a = qg_type_expr(work, expr->arg[0]), *b = qg_type_expr(work, expr->arg[1]);
    if (a == NULL || b == NULL || !qg_is_number(work, a, "as an argument") ||
        !qg_is_number(work, b, "as an argument") || !qg_unify(work, &a, &b)) {
        return NULL;
    }
    const bool greater = call == QG_CALL_GREATER;
    qg_term term = {.op = QG_CALL, .call = call, .kind = a->kind, .loc = expr->loc, .arg = {a, b}};
    term.low = (a->low < b->low) == greater ? b->low : a->low;
    term.high = (a->high < b->high) == greater ? b->high : a->high;
    term.per = qg_common_divisor(a->per, b->per);
    return qg_new_term(work, term);
}

/* kept(NAME): what the best candidate so far has, 0 at the first. It may be of an equation that is still to come. */
static const qg_term *type_kept(qg_work *work, const qg_expr *expr) {
    qg_scope *scope = work->scope;
    const qg_expr *name = expr->arg[0];
    const bool in_best = scope->best != 0 && !scope->equations[scope->best - 1].sweeps;
    if (!in_best || name->kind != QG_E_NAME || scope->n_kept == QG_MAX_KEPT) {
        qg_error(work->diag, expr->loc, "'kept' takes a name of the 'best' that it stands in, at most %d times",
                 QG_MAX_KEPT);
        return NULL;
    }
    qg_term *term = qg_new_term(work, (qg_term){.op = QG_CALL,
                                                .call = QG_CALL_KEPT,
                                                .kind = QG_K_FLOAT,
                                                .loc = name->loc,
                                                .per = scope->equations[scope->best - 1].per});
    scope->kept[scope->n_kept++] = (struct qg_kept_term){term, name->name};
    return term;
}

/* Finds what `kept` is of, when all equations of best are known. */
static void resolve_kept(qg_work *work) {
    qg_scope *scope = work->scope;
    for (uint32_t i = 0; i < scope->n_kept; i++) {
        uint32_t at;
        const bool found = find_equation(scope, scope->kept[i].name, &at) && scope->equations[at].best == scope->best;
        const qg_equation *e = found ? &scope->equations[at] : NULL;
        if (found && e->value == NULL) {
            continue; /* reported there */
        }
        if (!found || e->per == 1 || e->value->kind != QG_K_FLOAT) {
            qg_error(work->diag, scope->kept[i].term->loc,
                     "'kept' takes a float that this 'best' computes once for its group, which '%s' is not",
                     scope->kept[i].name);
            continue;
        }
        scope->kept[i].term->ref = at;
    }
    scope->n_kept = 0;
}

const qg_term *qg_type_call(qg_work *work, const qg_expr *expr) {
    const qg_function call = find_call(expr);
    if (call == QG_CALL_COUNT) {
        report_call(work, expr);
        return NULL;
    }
    if (expr->index != NULL) {
        return type_counting(work, expr, call);
    }
    switch (calls[call].takes) {
    case GROUP:
    case EITHER: return type_reduction(work, expr, call);
    case TWO: return type_two(work, expr, call);
    case NAME: return type_kept(work, expr);
    case TYPED: return qg_type_small(work, expr);
    default: return type_unary(work, expr, call);
    }
}

/* ---- equations ------------------------------------------------------------------------------------------------ */

static bool is_declared(const qg_work *work, const char *name) {
    const qg_spec *spec = work->spec;
    bool found = false;
    for (uint32_t i = 0; i < spec->n_params; i++) {
        found |= strcmp(spec->params[i].name, name) == 0;
    }
    for (uint32_t i = 0; i < spec->n_tables; i++) {
        found |= strcmp(spec->tables[i].name, name) == 0;
    }
    for (uint32_t i = 0; i < spec->n_buffers; i++) {
        found |= strcmp(spec->buffers[i].name, name) == 0;
    }
    for (uint32_t i = 0; i < work->n_fields; i++) {
        found |= strcmp(work->fields[i].name, name) == 0;
    }
    return found;
}

/* Why an equation cannot have this name; a code may, of course. */
static bool check_name(qg_work *work, const char *name, qg_loc loc) {
    const char *problem = strcmp(name, "x") == 0 ? "it is the element that is encoded" : qg_name_problem(name);
    uint32_t at;
    if (problem == NULL && is_declared(work, name)) {
        problem = "it is declared as something else";
    } else if (problem == NULL && (find_equation(work->scope, name, &at) || find_counter(work->scope, name, &at))) {
        problem = "an equation has it already";
    }
    if (problem != NULL) {
        qg_error(work->diag, loc, "'%s' cannot be the name of an equation: %s; choose another", name, problem);
    }
    return problem == NULL;
}

static bool check_per(qg_work *work, const qg_expr *expr, uint32_t otherwise, uint32_t *per) {
    *per = otherwise;
    if (expr == NULL) {
        return true;
    }
    const uint32_t all = qg_made_together(work);
    if (!qg_eval_within(work, expr, "'per'", 1, all, per)) {
        return false;
    }
    if (all % *per != 0) {
        qg_error(work->diag, expr->loc, "'per %u' does not divide the %u elements of the %s: choose a divisor", *per,
                 all, all < work->elements ? "group" : "block");
        return false;
    }
    return true;
}

static bool is_constant_within(qg_work *work, const qg_term *term, uint32_t per, const char *name) {
    if (term->per % per == 0) {
        return true;
    }
    qg_error(work->diag, term->loc,
             "'%s' has one value for %u elements, and this has one for %u: give '%s' a smaller 'per', or look at all "
             "with 'max', 'min', 'extreme' or 'sum'",
             name, per, term->per, name);
    return false;
}

/* The value as what the bits of the code are. */
static const qg_term *fit_code(qg_work *work, const qg_code *code, const qg_term *value) {
    const qg_scalar_kind kind = code->typed ? qg_scalars[code->type].kind : QG_UNSIGNED;
    int64_t low = 0, high = code->most;
    if (kind == QG_FLOATING && !is_small_float(code)) {
        return qg_to_float(work, value);
    }
    if (kind == QG_FLOATING) {
        high = ((int64_t)1 << code->width) - 1;
    } else if (kind == QG_SIGNED) {
        high = ((int64_t)1 << (code->width - 1)) - 1;
        low = -high - 1;
    }
    if (value->kind != QG_K_INT) {
        qg_error(work->diag, value->loc,
                 "'%s' takes %s, and this is a float: round it with bounds, as in round(v, %lld, %lld)", code->name,
                 kind == QG_FLOATING ? "its bits, an integer" : "an integer", (long long)low, (long long)high);
        return NULL;
    }
    if (value->low < low || value->high > high) {
        qg_error(work->diag, value->loc,
                 "'%s' holds %lld to %lld, and this ranges from %lld to %lld: bound it with 'min' and 'max', or where "
                 "it is rounded",
                 code->name, (long long)low, (long long)high, (long long)value->low, (long long)value->high);
        return NULL;
    }
    return value;
}

static qg_equation *add_equation(qg_scope *scope, qg_equation equation) {
    scope->equations[scope->n_equations] = equation;
    return &scope->equations[scope->n_equations++];
}

/* An equation that sets a code; NULL where it must not. */
static bool is_settable(qg_work *work, const qg_spec_equation *written, uint32_t code) {
    const qg_scope *scope = work->scope;
    if (scope->best != 0) {
        qg_error(work->diag, written->loc, "'%s' is stored, and cannot be set for each candidate: set it behind 'best'",
                 written->name);
        return false;
    }
    if (scope->set[code]) {
        qg_error(work->diag, written->loc, "'%s' is set twice: every bit of a block is set once, remove one equation",
                 written->name);
        return false;
    }
    if (written->of_row) {
        qg_error(work->diag, written->loc, "'%s' is where it was declared: leave 'per row' out", written->name);
        return false;
    }
    if (written->per != NULL) {
        qg_error(work->diag, written->per->loc, "'%s' is 'per %u', as it was declared: leave 'per' out", written->name,
                 work->codes[code].per);
        return false;
    }
    return true;
}

static void type_equation(qg_work *work, const qg_spec_equation *written, uint32_t otherwise) {
    qg_scope *scope = work->scope;
    qg_equation equation = {.name = written->name, .loc = written->loc, .best = scope->best, .of_row = written->of_row};
    equation.is_code = find_code(work, written->name, &equation.code);
    const qg_code *code = equation.is_code ? &work->codes[equation.code] : NULL;
    if (code != NULL ? !is_settable(work, written, equation.code) : !check_name(work, written->name, written->loc)) {
        if (code == NULL) {
            equation.per = otherwise;
            add_equation(scope, equation); /* so that its uses are no further errors */
        }
        return;
    }
    if (!check_per(work, written->per, code != NULL ? code->per : otherwise, &equation.per)) {
        add_equation(scope, equation);
        return;
    }
    if (scope->best != 0 && equation.per != 1 && equation.per != otherwise) {
        qg_error(work->diag, written->per->loc, "within this 'best', 'per' is %u, or 1", otherwise);
        return;
    }
    scope->per = equation.per;
    const qg_term *value = qg_type_expr(work, written->value);
    if (value != NULL && (!qg_is_number(work, value, "as what an equation sets") ||
                          !is_constant_within(work, value, equation.per, written->name))) {
        value = NULL;
    }
    if (value != NULL && code != NULL && code->width != 0) {
        value = fit_code(work, code, value);
    }
    equation.value = value;
    equation.next = written->next != NULL ? value : NULL; /* which is replaced when all names are known */
    if (written->next != NULL && (scope->best == 0 || !scope->equations[scope->best - 1].sweeps)) {
        qg_error(work->diag, written->next->loc, "'then' says what a state of 'sweep' becomes: it stands there alone");
    }
    add_equation(scope, equation);
    if (code != NULL) {
        scope->set[equation.code] = true;
    }
}

/* What the states of a sweep become. They keep the range in which they begin. */
static void type_next(qg_work *work, const qg_spec_equation *written) {
    qg_scope *scope = work->scope;
    uint32_t at;
    if (!find_equation(scope, written->name, &at)) {
        return; /* reported */
    }
    qg_equation *e = &scope->equations[at];
    scope->per = 1;
    const qg_term *next = qg_type_expr(work, written->next);
    if (next == NULL || e->value == NULL || !qg_is_number(work, next, "as what a state becomes")) {
        return;
    }
    if (e->value->kind == QG_K_FLOAT) {
        next = qg_to_float(work, next);
    } else if (next->kind != QG_K_INT || next->low < e->value->low || next->high > e->value->high) {
        qg_error(work->diag, next->loc,
                 "'%s' begins as an integer from %lld to %lld, and must become one: bound it where it is rounded",
                 written->name, (long long)e->value->low, (long long)e->value->high);
        return;
    }
    e->next = next;
}

/* A search: all of a candidate is computed, and it is kept, or not. The first one is. Or a sweep: for one element after
 * the other, names of `per` 1 are computed, and states change, or not. */
static void type_best(qg_work *work, const qg_spec_equation *written) {
    qg_scope *scope = work->scope;
    uint32_t per, candidates;
    if (!check_per(work, written->per, qg_made_together(work), &per) ||
        !check_name(work, written->name, written->loc) ||
        !qg_eval_within(work, written->count, written->sweeps ? "how often a sweep goes" : "the number of candidates",
                        written->sweeps ? 1 : 2, MOST_COUNT, &candidates)) {
        return;
    }
    if (per == 1) {
        qg_error(work->diag, written->loc, "'%s' needs 'per' above 1: it is for a group",
                 written->sweeps ? "sweep" : "best");
        return;
    }
    const uint32_t at = scope->n_equations;
    add_equation(scope, (qg_equation){.name = written->name,
                                      .loc = written->loc,
                                      .per = per,
                                      .candidates = candidates,
                                      .sweeps = written->sweeps});
    scope->best = at + 1;
    scope->counters[0] = written->name;
    scope->extents[0] = candidates;
    scope->n_counters = 1;
    for (uint32_t i = 0; i < written->n_body; i++) {
        type_equation(work, &written->body[i], per);
    }
    for (uint32_t i = 0; i < written->n_body; i++) {
        if (written->sweeps && written->body[i].next != NULL) {
            type_next(work, &written->body[i]);
        }
    }
    scope->per = written->sweeps ? 1 : per;
    const qg_term *condition = qg_type_condition(work, written->value);
    resolve_kept(work);
    if (condition != NULL && !is_constant_within(work, condition, scope->per, "where")) {
        condition = NULL;
    }
    scope->n_counters = 0;
    scope->best = 0;
    qg_equation *best = &scope->equations[at];
    best->value = condition;
    best->first = at + 1;
    best->end = scope->n_equations;
}

/* Radix digits are added up in a word, and then become a fraction there. */
static bool crosses_words(const qg_slice *slice) {
    for (uint32_t j = 0; slice->radix != 0 && j < slice->count; j++) {
        if (qg_slice_address(slice, slice->first + j) % 32 + slice->width > 32) {
            return true;
        }
    }
    return false;
}

static bool check_codes(qg_work *work) {
    bool good = true;
    for (uint32_t c = 0; c < work->n_codes; c++) {
        const qg_code *code = &work->codes[c];
        if (!work->scope->set[c] && code->width != 0) {
            qg_error(work->diag, code->loc,
                     "'%s' is not set by encode: every bit of a block is set once, add an equation for it", code->name);
            good = false;
        }
        if (qg_has_same(code)) {
            qg_error(work->diag, code->loc,
                     "encode sets each instance of '%s' for itself, and some have the same bits, by '=': leave encode "
                     "out",
                     code->name);
            good = false;
        }
        for (uint32_t s = 0; s < code->n_slices; s++) {
            if (crosses_words(&code->slices[s])) {
                qg_error(work->diag, code->slices[s].loc,
                         "encode cannot write digits of a base that cross a word of 32 bits: leave encode out");
                good = false;
            }
        }
    }
    return good;
}

static bool names(const qg_term *term, uint32_t equation) {
    if (term == NULL) {
        return false;
    }
    const bool is_name = term->op == QG_CALL && (term->call == QG_CALL_LOCAL || term->call == QG_CALL_KEPT);
    return (is_name && term->ref == equation) || names(term->arg[0], equation) || names(term->arg[1], equation) ||
           names(term->arg[2], equation);
}

static void check_equations_used(qg_work *work) {
    const qg_scope *scope = work->scope;
    for (uint32_t i = 0; i < scope->n_equations; i++) {
        const qg_equation *e = &scope->equations[i];
        bool used = e->is_code || e->candidates != 0;
        for (uint32_t other = 0; other < scope->n_equations && !used; other++) {
            used = names(scope->equations[other].value, i) || names(scope->equations[other].next, i);
        }
        if (!used) {
            qg_error(work->diag, e->loc, "'%s' is never used: use it in an equation behind this one, or remove it",
                     e->name);
        }
    }
}

const qg_encode *qg_type_encode(qg_work *work) {
    const qg_spec *spec = work->spec;
    const uint32_t errors_before = work->diag->errors;
    if (spec->n_equations == 0 || !qg_is_encodable(work)) {
        return NULL;
    }
    qg_scope scope = {.equations = QG_NEW_ARRAY(work->arena, qg_equation, QG_MAX_EQUATIONS),
                      .set = QG_NEW_ARRAY(work->arena, bool, work->n_codes + 1)};
    work->scope = &scope;
    for (uint32_t i = 0; i < spec->n_equations; i++) {
        const qg_spec_equation *written = &spec->equations[i];
        if (written->count != NULL) {
            type_best(work, written);
        } else {
            type_equation(work, written, qg_made_together(work));
        }
    }
    if (work->diag->errors == errors_before && check_codes(work) && qg_check_rows(work)) {
        check_equations_used(work);
    }
    work->scope = NULL;
    if (work->diag->errors != errors_before) {
        return NULL;
    }
    qg_encode *encode = QG_NEW(work->arena, qg_encode);
    *encode = (qg_encode){.count = scope.n_equations, .items = scope.equations, .rows = work->view == QG_VIEW_MATRIX};
    return encode;
}
