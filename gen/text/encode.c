/* Encoders: a function that makes a block of floats, from the equations of `encode`.
 *
 * The one idea: the languages differ in a few words alone, so one printer writes them all, statement by statement.
 * What looks at a group becomes a loop before the statement that it stands in; names of `per` 1 are written out in
 * each loop that wants them; and what is the same for a group, in a loop over groups, is kept in an array where others
 * need it. */
#include "text/text.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_WRITTEN = 128, UNROLLED = 64, UNROLLED_IN_SEARCH = 32, MOST_NESTING = 16 };

typedef struct dialect {
    qg_target_id id;
    const char *integer, *word, *floating; /* types */
    const char *constant;                  /* before a name that is set once */
    const char *precise;                   /* before one that is a float */
    const char *bits_of_f32;               /* what takes the bits of a word as f32 */
    const char *unroll;
} dialect;

static const dialect dialects[] = {
    {QG_GLSL, "int", "uint", "float", "", "precise ", "uintBitsToFloat", "[[unroll]] "},
    {QG_MSL, "int", "uint", "float", "const ", "", "as_type<float>", ""},
    {QG_C, "int32_t", "uint32_t", "float", "const ", "", "qk_bits_to_f32", ""},
};

typedef struct printer {
    qg_arena *arena;
    qg_text text;
    const qg_layout *layout;
    const qg_encode *encode;
    const dialect *d;
    const qg_target *target;
    uint32_t indent, made; /* made: names of the printer's own */
    const char *at;        /* the variable that counts in the innermost loop, of so many elements; NULL: none */
    uint32_t unit;
    bool held,
        whole; /* x of the group in hand, or of the whole block, is in an array that compilers keep in registers */
    uint32_t first, end;        /* equations whose names are variables here: those of the loop over groups in hand */
    uint32_t best;              /* 1 + the number of the best whose candidates are computed; 0: none */
    bool written[MOST_WRITTEN]; /* names of `per` 1 that have a variable in the loop in hand */
    const char *counters[MOST_NESTING];
} printer;

static const qg_equation *items(const printer *p) { return p->encode->items; }

static void line(printer *p, const char *text) { qg_text_printf(&p->text, "%*s%s\n", (int)(4 * p->indent), "", text); }

static void begin(printer *p, const char *text) {
    line(p, text);
    p->indent += 1;
}

static void finish(printer *p) {
    p->indent -= 1;
    line(p, "}");
}

static const char *fresh(printer *p) { return qg_format(p->arena, "qk_%u", p->made++); }

static const char *floating(const printer *p, float value) {
    qg_text text = qg_text_new(p->arena);
    qg_print_float(&text, p->target, value);
    return text.data;
}

static bool is_float(const qg_term *term) { return term->kind == QG_K_FLOAT; }

/* "precise float", or "const int" */
static const char *declared(const printer *p, bool real, bool constant) {
    return qg_format(p->arena, "%s%s%s", constant ? p->d->constant : "", real ? p->d->precise : "",
                     real ? p->d->floating : p->d->integer);
}

/* ---- what uses what ---- */

static bool names(const printer *p, const qg_term *term, uint32_t equation) {
    const qg_equation *e = &items(p)[equation];
    if (!term) return false;
    if (term->op == QG_CALL && (term->call == QG_CALL_LOCAL || term->call == QG_CALL_KEPT) && term->ref == equation)
        return true;
    if (term->op == QG_CODE && e->is_code && term->ref == e->code) return true;
    return names(p, term->arg[0], equation) || names(p, term->arg[1], equation) || names(p, term->arg[2], equation);
}

/* Whether a condition compares with what is kept. */
static bool compares(const qg_term *term, uint32_t equation) {
    if (!term) return false;
    if (term->op == QG_CALL && term->call == QG_CALL_KEPT && term->ref == equation) return true;
    return compares(term->arg[0], equation) || compares(term->arg[1], equation) || compares(term->arg[2], equation);
}

/* Whether an equation names another one, in what it is or in what it becomes. */
static bool uses(const printer *p, uint32_t by, uint32_t equation) {
    return names(p, items(p)[by].value, equation) || names(p, items(p)[by].next, equation);
}

/* Which equation a name is of; the count of all: of none. */
static uint32_t equation_of(const printer *p, const qg_term *term) {
    if (term->op == QG_CALL && (term->call == QG_CALL_LOCAL || term->call == QG_CALL_KEPT)) return term->ref;
    for (uint32_t i = 0; term->op == QG_CODE && i < p->encode->count; ++i)
        if (items(p)[i].is_code && items(p)[i].code == term->ref) return i;
    return p->encode->count;
}

/* Whether an equation's value is needed, itself or by what is written out. */
static bool depends(const printer *p, const qg_term *term, uint32_t first, uint32_t end) {
    if (!term) return false;
    const uint32_t e = equation_of(p, term);
    if (e < p->encode->count) {
        if (e >= first && e < end) return true;
        if (items(p)[e].per == 1 && !items(p)[e].next) return depends(p, items(p)[e].value, first, end);
    }
    return depends(p, term->arg[0], first, end) || depends(p, term->arg[1], first, end) ||
           depends(p, term->arg[2], first, end);
}

static bool is_used(const printer *p, uint32_t equation) {
    for (uint32_t i = 0; i < p->encode->count; ++i)
        if (uses(p, i, equation)) return true;
    return false;
}

/* Whether a name is used where it is no variable: outside of these equations, or by what is written out there. */
static bool is_kept(const printer *p, uint32_t equation, uint32_t first, uint32_t end) {
    for (uint32_t i = 0; i < p->encode->count; ++i) {
        const qg_equation *e = &items(p)[i];
        if (!uses(p, i, equation)) continue;
        if (i < first || i >= end || (e->per == 1 && e->is_code)) return true;
        if (e->per == 1 && !e->best && i != equation && is_kept(p, i, first, end)) return true;
    }
    return false;
}

/* ---- expressions ---- */

static const char *term_text(printer *p, const qg_term *term);

/* The number of the group of so many elements that the loop in hand is in. */
static const char *group_at(const printer *p, uint32_t per) {
    if (per == p->layout->elements) return "0";
    return per == p->unit ? p->at : qg_format(p->arena, "%s / %u", p->at, per / p->unit);
}

static const char *name_text(printer *p, uint32_t number, bool kept) {
    const qg_equation *e = &items(p)[number];
    if (e->per == 1 && e->next) return qg_format(p->arena, "qk_all_%s[%s]", e->name, p->at);
    if (e->per == 1) {
        if (!p->written[number]) {
            const char *value = term_text(p, e->value);
            line(p, qg_format(p->arena, "%s %s = %s;", declared(p, is_float(e->value), true), e->name, value));
            p->written[number] = true;
        }
        return e->name;
    }
    if (e->best && e->best == p->best && !kept) return qg_format(p->arena, "qk_try_%s", e->name);
    if ((number >= p->first && number < p->end) || e->per == p->layout->elements) return e->name;
    return qg_format(p->arena, "qk_all_%s[%s]", e->name, group_at(p, e->per));
}

static bool is_arithmetic(const qg_term *term) {
    while (term->op == QG_NEG) term = term->arg[0];
    return is_float(term) && (term->op == QG_ADD || term->op == QG_SUB || term->op == QG_MUL);
}

/* An operand of anything but arithmetic. In GLSL, `precise` holds for the operations that a variable is made of, and
 * not for those that a function or a comparison is given: these get a variable of their own. */
static const char *apart(printer *p, const qg_term *term) {
    const char *text = term_text(p, term);
    if (p->d->id != QG_GLSL || !is_arithmetic(term)) return text;
    const char *name = fresh(p);
    line(p, qg_format(p->arena, "%s %s = %s;", declared(p, true, true), name, text));
    return name;
}

/* A pattern of calls.def, or of one like it. */
static const char *filled(printer *p, const char *pattern, const qg_term *term) {
    const char *arguments[3] = {NULL, NULL, NULL};
    qg_text text = qg_text_new(p->arena);
    for (int i = 0; i < 3 && term->arg[i]; ++i) arguments[i] = apart(p, term->arg[i]);
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
static const char *operand(printer *p, const qg_term *term) {
    const char *text = term_text(p, term);
    const bool negative = term->op == QG_CONST && *text == '-';
    return is_leaf(term) && !negative ? text : qg_format(p->arena, "(%s)", text);
}

/* The same of a comparison or a choice. */
static const char *operand_apart(printer *p, const qg_term *term) {
    return p->d->id == QG_GLSL && is_arithmetic(term) ? apart(p, term) : operand(p, term);
}

static const char *op_text(qg_op op) {
    static const char *const names_of[QG_OP_COUNT] = {
#define O(id, name, arity, rule, strength, glsl, msl, c) name,
#include "spec/ops.def"
#undef O
    };
    return names_of[op];
}

/* ---- functions that look at several ---- */

/* The loop over what a function looks at. The variables that it was in come back behind it. */
typedef struct loop {
    const char *at;
    uint32_t unit;
    bool written[MOST_WRITTEN];
} loop;

static loop enter(printer *p, const char *at, uint32_t unit) {
    loop before = {.at = p->at, .unit = p->unit};
    memcpy(before.written, p->written, sizeof before.written);
    memset(p->written, 0, sizeof p->written);
    p->at = at;
    p->unit = unit;
    return before;
}

static void leave(printer *p, const loop *before) {
    p->at = before->at;
    p->unit = before->unit;
    memcpy(p->written, before->written, sizeof p->written);
    finish(p);
}

static const char *begin_of(printer *p, const qg_term *term) {
    const bool real = is_float(term->arg[0]), max = term->call == QG_CALL_MAX;
    if (term->call == QG_CALL_SUM || term->call == QG_CALL_EXTREME) return real ? floating(p, 0.0f) : "0";
    if (!real) return qg_format(p->arena, "%lld", (long long)(max ? term->arg[0]->low : term->arg[0]->high));
    return qg_format(p->arena, "%s(0x%su)", p->d->bits_of_f32, max ? "FF800000" : "7F800000");
}

/* What is done with a value that a function looks at. */
static void add_value(printer *p, const qg_term *term, const char *into) {
    const qg_term *body = term->arg[0];
    if (term->call == QG_CALL_SUM) {
        line(p, qg_format(p->arena, "%s = %s + %s;", into, into, operand(p, body)));
        return;
    }
    const char *value = term_text(p, body), *v = fresh(p);
    line(p, qg_format(p->arena, "%s %s = %s;", declared(p, is_float(body), true), v, value));
    const char *absolute = p->d->id == QG_C ? "fabsf" : "abs";
    if (term->call == QG_CALL_EXTREME)
        line(p, qg_format(p->arena, "if (%s(%s) > %s(%s)) %s = %s;", absolute, v, absolute, into, into, v));
    else
        line(p, qg_format(p->arena, "if (%s %s %s) %s = %s;", v, term->call == QG_CALL_MAX ? ">" : "<", into, into, v));
}

static uint32_t step_of(const qg_term *term, uint32_t per) {
    uint32_t a = term->arg[0]->per, b = per;
    while (b) {
        const uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Several that look at the same, in one loop. */
static void print_group(printer *p, const qg_term *const *terms, const char *const *into, uint32_t count) {
    const uint32_t per = terms[0]->per, step = step_of(terms[0], per), n = per / step;
    for (uint32_t i = 0; i < count; ++i)
        line(p, qg_format(p->arena, "%s %s = %s;", declared(p, is_float(terms[i]), false), into[i],
                          begin_of(p, terms[i])));
    const char *unroll = n <= (p->best ? UNROLLED_IN_SEARCH : UNROLLED) ? p->d->unroll : "";
    const bool whole = per == p->layout->elements;
    const char *at = whole ? "qk_i" : qg_format(p->arena, "(%s * %u + qk_i)", group_at(p, per), n);
    begin(p, qg_format(p->arena, "%sfor (%s qk_i = 0; qk_i < %u; ++qk_i) {", unroll, p->d->integer, n));
    const loop before = enter(p, at, step);
    for (uint32_t i = 0; i < count; ++i) add_value(p, terms[i], into[i]);
    leave(p, &before);
}

/* With a name that counts. What the loop in hand has written out is there within it, too. */
static const char *print_counting(printer *p, const qg_term *term) {
    const char *result = fresh(p), *least = fresh(p), *k = fresh(p);
    const bool sums = term->call == QG_CALL_SUM, real = is_float(term->arg[0]);
    line(p, qg_format(p->arena, "%s %s = %s;", declared(p, is_float(term), false), result,
                      is_float(term) ? floating(p, 0.0f) : "0"));
    if (!sums)
        line(p,
             real ? qg_format(p->arena, "%s %s = %s(0x7F800000u);", declared(p, true, false), least, p->d->bits_of_f32)
                  : qg_format(p->arena, "%s %s = %lld;", declared(p, false, false), least,
                              (long long)term->arg[0]->high + 1));
    bool written[MOST_WRITTEN];
    memcpy(written, p->written, sizeof written);
    begin(p, qg_format(p->arena, "for (%s %s = 0; %s < %u; ++%s) {", p->d->integer, k, k, term->count, k));
    p->counters[term->ref] = k;
    if (sums) {
        add_value(p, term, result);
    } else {
        const char *value = term_text(p, term->arg[0]), *v = fresh(p);
        line(p, qg_format(p->arena, "%s %s = %s;", declared(p, real, true), v, value));
        begin(p, qg_format(p->arena, "if (%s < %s) {", v, least));
        line(p, qg_format(p->arena, "%s = %s;", least, v));
        line(p, qg_format(p->arena, "%s = %s;", result, k));
        finish(p);
    }
    finish(p);
    memcpy(p->written, written, sizeof written);
    return result;
}

static bool is_group(const qg_term *term) {
    return term->op == QG_CALL && term->count == 0 &&
           (term->call == QG_CALL_SUM || term->call == QG_CALL_MAX || term->call == QG_CALL_MIN ||
            term->call == QG_CALL_EXTREME);
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
        return p->d->id == QG_GLSL ? qg_format(p->arena, "qk_x(qk_from + uint(%s))", p->at)
                                   : qg_format(p->arena, "qk_x[%s]", p->at);
    case QG_CALL_LOCAL: return name_text(p, term->ref, false);
    case QG_CALL_KEPT: return name_text(p, term->ref, true);
    case QG_CALL_INDEX: return p->counters[term->ref];
    case QG_CALL_GREATER:
    case QG_CALL_LESS: {
        const char *a = fresh(p), *b = fresh(p), *type = declared(p, is_float(term), true);
        const char *first = term_text(p, term->arg[0]);
        line(p, qg_format(p->arena, "%s %s = %s;", type, a, first));
        const char *second = term_text(p, term->arg[1]);
        line(p, qg_format(p->arena, "%s %s = %s;", type, b, second));
        return term->call == QG_CALL_GREATER ? qg_format(p->arena, "(%s < %s ? %s : %s)", a, b, b, a)
                                             : qg_format(p->arena, "(%s < %s ? %s : %s)", b, a, b, a);
    }
    default: break;
    }
    if (is_group(term)) {
        const char *into = fresh(p);
        print_group(p, &term, &into, 1);
        return into;
    }
    if (term->count) return print_counting(p, term);
    if (term->call == QG_CALL_DIVIDE && p->d->id == QG_C)
        return qg_format(p->arena, "%s / %s", operand(p, term->arg[0]), operand(p, term->arg[1]));
    return filled(p, patterns[term->call][p->d->id], term);
}

static const char *bits_as(printer *p, const qg_term *term) {
    const char *bits = operand(p, term->arg[0]);
    if (!is_float(term)) {
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
    const char *row = operand(p, term->arg[0]);
    if (term->arg[1]) row = qg_format(p->arena, "%s * %u + %s", row, table->columns, operand(p, term->arg[1]));
    return qg_format(p->arena, "qk_table_%s[%s]", table->name, row);
}

static const char *term_text(printer *p, const qg_term *term) {
    switch (term->op) {
    case QG_CONST:
        if (term->kind == QG_K_BOOL) return term->integer ? "true" : "false";
        return is_float(term) ? floating(p, term->real) : qg_format(p->arena, "%lld", (long long)term->integer);
    case QG_CODE: return name_text(p, equation_of(p, term), false);
    case QG_ELEMENT: return p->at;
    case QG_CALL: return call_text(p, term);
    case QG_TABLE: return table_text(p, term);
    case QG_BITS_AS: return bits_as(p, term);
    case QG_TO_FLOAT:
        return p->d->id == QG_C ? qg_format(p->arena, "(float)%s", operand(p, term->arg[0]))
                                : qg_format(p->arena, "float(%s)", term_text(p, term->arg[0]));
    case QG_NEG: return qg_format(p->arena, "-%s", operand(p, term->arg[0]));
    case QG_SELECT: {
        const char *condition = operand(p, term->arg[0]), *a = operand_apart(p, term->arg[1]);
        return qg_format(p->arena, "%s ? %s : %s", condition, a, operand_apart(p, term->arg[2]));
    }
    case QG_ADD:
    case QG_SUB:
    case QG_MUL: {
        const char *a = operand(p, term->arg[0]);
        return qg_format(p->arena, "%s %s %s", a, op_text(term->op), operand(p, term->arg[1]));
    }
    default: {
        const char *a = operand_apart(p, term->arg[0]);
        return qg_format(p->arena, "%s %s %s", a, op_text(term->op), operand_apart(p, term->arg[1]));
    }
    }
}

/* ---- storing ---- */

/* The bit of the block at which instance `j` of the slice, counted from its first, begins. */
static const char *address(const printer *p, const qg_slice *slice, const char *j) {
    qg_text text = qg_text_new(p->arena);
    uint32_t below = 1;
    qg_text_printf(&text, "%u", slice->bit);
    for (uint32_t i = 0; i < slice->n_digits; ++i) {
        const qg_digit *digit = &slice->digits[i];
        const bool power = slice->radix && i == slice->power;
        const bool last = below * digit->extent == slice->count;
        const char *digits = below == 1 ? j : qg_format(p->arena, "%s / %u", j, below);
        if (!power && digit->extent > 1)
            qg_text_printf(&text, last ? " %s %s * %d" : " %s (%s) %% %u * %d", digit->stride < 0 ? "-" : "+", digits,
                           last ? (uint32_t)abs(digit->stride) : digit->extent, abs(digit->stride));
        below *= digit->extent;
    }
    return text.data;
}

static bool crosses(const qg_slice *slice) {
    for (uint32_t j = 0; j < slice->count; ++j)
        if (qg_slice_address(slice, slice->first + j) % 32 + slice->width > 32) return true;
    return false;
}

/* What digit `power` of base `radix` weighs, of `count` digits. */
static const char *weight(const printer *p, const qg_slice *slice, const char *j) {
    uint32_t below = 1, count = slice->digits[slice->power].extent, value = 1;
    for (uint32_t i = 0; i < slice->power; ++i) below *= slice->digits[i].extent;
    const char *digit =
        qg_format(p->arena, below == 1 ? "%s %% %u" : "%s / %u %% %u", j, below == 1 ? count : below, count);
    const char *text = "1u";
    for (uint32_t i = count - 1; i-- > 0;) {
        value *= slice->radix;
        text = qg_format(p->arena, "%s == %u ? %uu : %s", digit, i, value, text);
    }
    return text;
}

static void store_slice(printer *p, const qg_code *code, const qg_slice *slice, const char *bits, const char *j) {
    const char *words = qg_format(p->arena, "qk_words_%s", p->layout->buffers[slice->buffer].name);
    const uint32_t mask = slice->bits >= 32 ? UINT32_MAX : (UINT32_C(1) << slice->bits) - 1;
    const char *part = slice->shift ? qg_format(p->arena, "%s >> %u", bits, slice->shift) : bits;
    if (slice->bits < 32) part = qg_format(p->arena, "(%s & 0x%Xu)", part, mask);
    const bool cut = slice->count < code->count;
    begin(p, cut ? qg_format(p->arena, "if (%s >= %u && %s < %u) {", j, slice->first, j, slice->first + slice->count)
                 : "{");
    const char *own = slice->first ? qg_format(p->arena, "(%s - %u)", j, slice->first) : j;
    if (slice->radix) part = qg_format(p->arena, "%s * (%s)", part, weight(p, slice, own));
    line(p, qg_format(p->arena, "const %s qk_at = %s;", p->d->integer, address(p, slice, own)));
    line(p, qg_format(p->arena, "%s[qk_at >> 5] %s= %s << (qk_at & 31);", words, slice->radix ? "+" : "|", part));
    if (crosses(slice))
        line(p, qg_format(p->arena, "if ((qk_at & 31) > %u) %s[(qk_at >> 5) + 1] |= %s >> (32 - (qk_at & 31));",
                          32 - slice->width, words, part));
    finish(p);
}

/* Sets a code of the group in hand; the name becomes what was stored, where somebody asks. */
static void print_code(printer *p, uint32_t number) {
    const qg_equation *e = &items(p)[number];
    const qg_code *code = &p->layout->codes[e->code];
    const char *bits = qg_format(p->arena, "qk_bits_%s", code->name), *c = p->d->id == QG_C ? "qk_" : "";
    const bool real = is_float(e->value);
    const char *value = e->per == 1 && !real ? name_text(p, number, false) : apart(p, e->value);
    if (real) {
        const char *type = qg_scalars[code->type].name;
        line(p, qg_format(p->arena, "%s %s = qk_bits_of_%s(%s);", p->d->word, bits, type, value));
        const char *back = code->type == QG_F32 ? qg_format(p->arena, "%s(%s)", p->d->bits_of_f32, bits)
                                                : qg_format(p->arena, "%s%s_to_f32(%s)", c, type, bits);
        if (e->per != 1 && is_used(p, number))
            line(p, qg_format(p->arena, "%s %s = %s;", declared(p, true, true), e->name, back));
    } else {
        if (e->per != 1) line(p, qg_format(p->arena, "%s %s = %s;", declared(p, false, true), e->name, value));
        line(p, p->d->id == QG_C ? qg_format(p->arena, "const %s %s = (%s)%s;", p->d->word, bits, p->d->word, e->name)
                                 : qg_format(p->arena, "const %s %s = %s(%s);", p->d->word, bits, p->d->word, e->name));
    }
    const char *j = code->count == 1 ? "0" : p->at;
    for (uint32_t s = 0; s < code->n_slices; ++s) store_slice(p, code, &code->slices[s], bits, j);
}

/* Digits of a base were added up: as a fraction, rounded up. */
static void finish_digits(printer *p, const qg_slice *slice) {
    const char *words = qg_format(p->arena, "qk_words_%s", p->layout->buffers[slice->buffer].name);
    uint32_t all = 1, count = slice->digits[slice->power].extent;
    for (uint32_t i = 0; i < count; ++i) all *= slice->radix;
    qg_slice rest = *slice;
    qg_digit digits[16];
    rest.n_digits = 0;
    for (uint32_t i = 0; i < slice->n_digits; ++i)
        if (i != slice->power) digits[rest.n_digits++] = slice->digits[i];
    rest.digits = digits;
    rest.radix = 0;
    rest.count = slice->count / count;
    const uint32_t mask = (UINT32_C(1) << slice->width) - 1;
    begin(p, qg_format(p->arena, "for (%s qk_j = 0; qk_j < %u; ++qk_j) {", p->d->integer, rest.count));
    line(p, qg_format(p->arena, "const %s qk_at = %s;", p->d->integer, address(p, &rest, "qk_j")));
    line(p, qg_format(p->arena, "const %s qk_v = %s[qk_at >> 5] >> (qk_at & 31) & 0x%Xu;", p->d->word, words, mask));
    line(p, qg_format(p->arena, "%s[qk_at >> 5] += (((qk_v << %u) + %uu) / %uu - qk_v) << (qk_at & 31);", words,
                      slice->width, all - 1, all));
    finish(p);
}

/* ---- equations ---- */

static void print_best(printer *p, uint32_t number);
static void print_sweep(printer *p, uint32_t number);
static loop begin_elements(printer *p, uint32_t per);

/* How many equations from here on look at the same, and need nothing of each other. */
static uint32_t together(const printer *p, uint32_t first, uint32_t end) {
    const qg_term *term = items(p)[first].value;
    uint32_t count = 1;
    for (uint32_t i = first + 1; i < end; ++i, ++count) {
        const qg_equation *e = &items(p)[i];
        if (e->is_code || e->candidates || e->per != items(p)[first].per || !is_group(e->value) ||
            step_of(e->value, e->per) != step_of(term, e->per) || depends(p, e->value, first, i))
            break;
    }
    return count;
}

/* Equations of one group. */
static void print_equations(printer *p, uint32_t first, uint32_t end) {
    for (uint32_t i = first; i < end;) {
        const qg_equation *e = &items(p)[i];
        if (e->candidates) {
            (e->sweeps ? print_sweep : print_best)(p, i);
            i = e->end;
        } else if (e->per == 1 && e->next) {
            const loop before = begin_elements(p, p->unit ? p->unit : p->layout->elements);
            const char *value = term_text(p, e->value);
            line(p, qg_format(p->arena, "%s = %s;", name_text(p, i++, false), value));
            leave(p, &before);
        } else if (e->per == 1) {
            ++i;
        } else if (e->is_code) {
            print_code(p, i++);
        } else if (is_group(e->value)) {
            const qg_term *terms[MOST_WRITTEN];
            const char *into[MOST_WRITTEN];
            const uint32_t count = together(p, i, end);
            for (uint32_t k = 0; k < count; ++k, ++i) {
                terms[k] = items(p)[i].value;
                into[k] = name_text(p, i, false);
            }
            print_group(p, terms, into, count);
        } else {
            const char *value = term_text(p, e->value);
            line(p, qg_format(p->arena, "%s %s = %s;", declared(p, is_float(e->value), !e->next),
                              name_text(p, i, false), value));
            ++i;
        }
    }
}

/* Whether the best candidate's value of a name is wanted: behind the search, or to compare with. */
static bool keeps(const printer *p, uint32_t equation, uint32_t best) {
    const qg_equation *e = items(p);
    if (e[equation].per == 1) return false;
    for (uint32_t i = 0; i < p->encode->count; ++i)
        if (compares(e[i].value, equation) || (i != best && e[i].best != best + 1 && names(p, e[i].value, equation)))
            return true;
    return false;
}

static void print_best(printer *p, uint32_t number) {
    const qg_equation *best = &items(p)[number];
    const char *t = fresh(p);
    for (uint32_t i = best->first; i < best->end; ++i)
        if (keeps(p, i, number))
            line(p,
                 qg_format(p->arena, "%s %s = 0;", declared(p, is_float(items(p)[i].value), false), items(p)[i].name));
    begin(p, qg_format(p->arena, "for (%s %s = 0; %s < %u; ++%s) {", p->d->integer, t, t, best->candidates, t));
    p->counters[0] = t;
    p->best = number + 1;
    print_equations(p, best->first, best->end);
    const char *condition = operand(p, best->value);
    begin(p, qg_format(p->arena, "if (%s == 0 || %s) {", t, condition));
    for (uint32_t i = best->first; i < best->end; ++i)
        if (keeps(p, i, number)) line(p, qg_format(p->arena, "%s = qk_try_%s;", items(p)[i].name, items(p)[i].name));
    p->best = 0;
    finish(p);
    finish(p);
}

/* A loop over the elements of the group in hand, or of the block. */
static loop begin_elements(printer *p, uint32_t per) {
    const char *at = per == p->layout->elements ? "qk_i" : qg_format(p->arena, "(%s * %u + qk_i)", p->at, per);
    begin(p, qg_format(p->arena, "for (%s qk_i = 0; qk_i < %u; ++qk_i) {", p->d->integer, per));
    return enter(p, at, 1);
}

/* Goes over the elements of the group, one after the other; all states change together. */
static void print_sweep(printer *p, uint32_t number) {
    const qg_equation *sweep = &items(p)[number];
    const char *t = fresh(p), *next[MOST_WRITTEN];
    print_equations(p, sweep->first, sweep->end);
    begin(p, qg_format(p->arena, "for (%s %s = 0; %s < %u; ++%s) {", p->d->integer, t, t, sweep->candidates, t));
    p->counters[0] = t;
    const loop before = begin_elements(p, sweep->per);
    const char *condition = operand(p, sweep->value);
    for (uint32_t i = sweep->first; i < sweep->end; ++i) {
        const qg_equation *e = &items(p)[i];
        if (!e->next) continue;
        const char *value = term_text(p, e->next);
        next[i] = fresh(p);
        line(p, qg_format(p->arena, "%s %s = %s;", declared(p, is_float(e->next), true), next[i], value));
    }
    begin(p, qg_format(p->arena, "if (%s) {", condition));
    for (uint32_t i = sweep->first; i < sweep->end; ++i)
        if (items(p)[i].next) line(p, qg_format(p->arena, "%s = %s;", name_text(p, i, false), next[i]));
    finish(p);
    leave(p, &before);
    finish(p);
}

/* Equations from `first` on that are of the same groups. */
static uint32_t segment_end(const printer *p, uint32_t first) {
    uint32_t end = first;
    while (end < p->encode->count && (items(p)[end].per == items(p)[first].per || items(p)[end].per == 1)) ++end;
    return end;
}

static bool sees_x(const printer *p, const qg_term *term) {
    if (!term) return false;
    if (term->op == QG_CALL && term->call == QG_CALL_X) return true;
    const uint32_t e = equation_of(p, term);
    if (e < p->encode->count && items(p)[e].per == 1 && !items(p)[e].next && sees_x(p, items(p)[e].value)) return true;
    return sees_x(p, term->arg[0]) || sees_x(p, term->arg[1]) || sees_x(p, term->arg[2]);
}

/* Whether a run of so many elements is loaded at once. In C, nothing is gained. */
static bool can_hold(const printer *p, uint32_t count) {
    return p->d->id != QG_C && count <= UNROLLED && count % 4 == 0;
}

/* Loads x of `count` elements, four at a time; `from` counts in fours. */
static void hold(printer *p, uint32_t count, const char *from) {
    line(p, qg_format(p->arena, "%s qk_held[%u];", p->d->floating, count));
    begin(p, qg_format(p->arena, "%sfor (%s qk_j = 0; qk_j < %u; ++qk_j) {", p->d->unroll, p->d->integer, count / 4));
    line(p, p->d->id == QG_GLSL
                ? qg_format(p->arena, "const vec4 qk_v = qk_four(%s + uint(qk_j));", from)
                : qg_format(p->arena, "const float4 qk_v = ((device const float4 *)qk_x)[%s + uint(qk_j)];", from));
    for (uint32_t i = 0; i < 4; ++i) line(p, qg_format(p->arena, "qk_held[4 * qk_j + %u] = qk_v[%u];", i, i));
    p->indent -= 1;
    line(p, "}");
    p->held = true;
}

static void print_segment(printer *p, uint32_t first, uint32_t end) {
    const uint32_t per = items(p)[first].per, n = p->layout->elements / per;
    loop before = {NULL, 0, {false}};
    for (uint32_t i = first; i < end; ++i)
        if (items(p)[i].per == 1 && items(p)[i].next)
            line(p, qg_format(p->arena, "%s qk_all_%s[%u];", declared(p, is_float(items(p)[i].value), false),
                              items(p)[i].name, p->layout->elements));
    if (n > 1) {
        for (uint32_t i = first; i < end; ++i)
            if (items(p)[i].per != 1 && !items(p)[i].candidates && is_kept(p, i, first, end))
                line(p, qg_format(p->arena, "%s qk_all_%s[%u];", declared(p, is_float(items(p)[i].value), false),
                                  items(p)[i].name, n));
        begin(p, qg_format(p->arena, "%sfor (%s qk_g = 0; qk_g < %u; ++qk_g) {", p->whole ? p->d->unroll : "",
                           p->d->integer, n));
        before = enter(p, "qk_g", per);
    }
    bool looks = false;
    for (uint32_t i = first; i < end; ++i) looks |= sees_x(p, items(p)[i].value) || sees_x(p, items(p)[i].next);
    const bool holds = n > 1 && !p->held && looks && can_hold(p, per);
    if (holds)
        hold(p, per,
             p->d->id == QG_GLSL ? qg_format(p->arena, "(qk_from + uint(qk_g) * %uu) / 4u", per)
                                 : qg_format(p->arena, "uint(qk_g) * %uu", per / 4));
    p->first = first;
    p->end = end;
    print_equations(p, first, end);
    if (holds) p->held = false;
    if (n > 1) {
        for (uint32_t i = first; i < end; ++i)
            if (items(p)[i].per != 1 && !items(p)[i].candidates && is_kept(p, i, first, end))
                line(p, qg_format(p->arena, "qk_all_%s[qk_g] = %s;", items(p)[i].name, items(p)[i].name));
        leave(p, &before);
    }
    p->first = p->end = 0;
}

/* Codes that each element has of its own, in one loop. */
static void print_codes(printer *p) {
    bool any = false;
    for (uint32_t i = 0; i < p->encode->count; ++i) any |= items(p)[i].is_code && items(p)[i].per == 1;
    if (!any) return;
    const uint32_t n = p->layout->elements;
    begin(p, qg_format(p->arena, "%sfor (%s qk_i = 0; qk_i < %u; ++qk_i) {", n <= UNROLLED ? p->d->unroll : "",
                       p->d->integer, n));
    const loop before = enter(p, "qk_i", 1);
    for (uint32_t i = 0; i < p->encode->count; ++i)
        if (items(p)[i].is_code && items(p)[i].per == 1) print_code(p, i);
    leave(p, &before);
}

/* Bits of the words in which a buffer's part of a block is stored. */
static void store_buffer(printer *p, const qg_buffer *buffer) {
    const uint32_t unit = p->d->id == QG_C ? 8 : qg_encode_unit(buffer), n = buffer->bytes * 8 / unit;
    const char *value = qg_format(p->arena,
                                  unit == 32   ? "qk_words_%s[qk_j]"
                                  : unit == 16 ? "qk_words_%s[qk_j >> 1] >> (qk_j & 1) * 16"
                                               : "qk_words_%s[qk_j >> 2] >> (qk_j & 3) * 8",
                                  buffer->name);
    const char *type = unit == 32           ? "uint"
                       : p->d->id == QG_MSL ? (unit == 16 ? "ushort" : "uchar")
                       : unit == 16         ? "uint16_t"
                                            : "uint8_t";
    begin(p, qg_format(p->arena, "%sfor (%s qk_j = 0; qk_j < %u; ++qk_j) {", n <= UNROLLED ? p->d->unroll : "",
                       p->d->integer, n));
    if (p->d->id == QG_C)
        line(p, qg_format(p->arena, "%s[qk_j] = (uint8_t)(qk_words_%s[qk_j >> 2] >> (qk_j & 3) * 8);", buffer->name,
                          buffer->name));
    else
        line(p, qg_format(p->arena, "%s[qk_block * %uu + uint(qk_j)] = %s(%s);", buffer->name, n, type, value));
    finish(p);
}

static void add_table(printer *p, const qg_table *table) {
    const bool real = qg_scalars[table->type].kind == QG_FLOATING;
    const uint32_t count = table->rows * table->columns;
    const char *type = real ? p->d->floating : p->d->integer;
    qg_text text = qg_text_new(p->arena);
    qg_text_printf(&text, "%s %s qk_table_%s[%u] = %s",
                   p->d->id == QG_MSL ? "constant"
                   : p->d->id == QG_C ? "static const"
                                      : "const",
                   type, table->name, count, p->d->id == QG_GLSL ? qg_format(p->arena, "%s[%u](", type, count) : "{");
    for (uint32_t i = 0; i < count; ++i)
        qg_text_printf(&text, "%s%s", i ? ", " : "",
                       real ? floating(p, (float)table->values[i])
                            : qg_format(p->arena, "%lld", (long long)table->values[i]));
    qg_text_puts(&text, p->d->id == QG_GLSL ? ");" : "};");
    line(p, text.data);
}

static bool looks_up(const qg_term *term, uint32_t table) {
    if (!term) return false;
    if (term->op == QG_TABLE && term->ref == table) return true;
    return looks_up(term->arg[0], table) || looks_up(term->arg[1], table) || looks_up(term->arg[2], table);
}

static void add_tables(printer *p) {
    for (uint32_t t = 0; t < p->layout->n_tables; ++t)
        for (uint32_t i = 0; i < p->encode->count; ++i)
            if (looks_up(items(p)[i].value, t) || looks_up(items(p)[i].next, t)) {
                add_table(p, &p->layout->tables[t]);
                break;
            }
}

static const char *parameters(const printer *p) {
    qg_text text = qg_text_new(p->arena);
    if (p->d->id == QG_GLSL) return "uint qk_block, uint qk_from";
    qg_text_puts(&text, p->d->id == QG_C ? "const float *qk_x" : "uint qk_block, device const float *qk_x");
    for (uint32_t i = 0; i < p->layout->n_buffers; ++i) {
        const uint32_t unit = qg_encode_unit(&p->layout->buffers[i]);
        qg_text_printf(&text, ", %s *%s",
                       p->d->id == QG_C ? "uint8_t"
                                        : qg_format(p->arena, "device %s",
                                                    unit == 32   ? "uint"
                                                    : unit == 16 ? "ushort"
                                                                 : "uchar"),
                       p->layout->buffers[i].name);
    }
    return text.data;
}

char *qg_encoder(qg_arena *arena, const qg_layout *layout, qg_target_id id) {
    printer p = {.arena = arena, .text = qg_text_new(arena), .layout = layout, .encode = layout->encode};
    for (size_t i = 0; i < sizeof dialects / sizeof *dialects; ++i)
        if (dialects[i].id == id) p.d = &dialects[i];
    p.target = &qg_targets[id];
    add_tables(&p);
    line(&p, id == QG_C      ? "/* Makes a block of floats. */"
             : id == QG_GLSL ? "// Makes a block of the floats from `qk_from` on."
                             : "// Makes a block of floats.");
    begin(&p, qg_format(arena, "%svoid qk_encode(%s) {",
                        id == QG_C     ? "static "
                        : id == QG_MSL ? "inline "
                                       : "",
                        parameters(&p)));
    for (uint32_t i = 0; i < layout->n_buffers; ++i) {
        const uint32_t n = (layout->buffers[i].bytes + 3) / 4;
        const char *name = layout->buffers[i].name;
        line(&p, id == QG_GLSL ? qg_format(arena, "uint qk_words_%s[%u];", name, n)
                               : qg_format(arena, "%s qk_words_%s[%u] = {0};", p.d->word, name, n));
        if (id == QG_GLSL)
            line(&p, qg_format(arena, "%sfor (int qk_j = 0; qk_j < %u; ++qk_j) qk_words_%s[qk_j] = 0u;",
                               n <= UNROLLED ? p.d->unroll : "", n, name));
    }
    p.whole = can_hold(&p, layout->elements);
    if (p.whole) hold(&p, layout->elements, id == QG_GLSL ? "qk_from / 4u" : "0u");
    for (uint32_t i = 0; i < layout->encode->count;) {
        if (items(&p)[i].per == 1) {
            ++i;
            continue;
        }
        const uint32_t end = segment_end(&p, i);
        print_segment(&p, i, end);
        i = end;
    }
    print_codes(&p);
    for (uint32_t c = 0; c < layout->n_codes; ++c)
        for (uint32_t s = 0; s < layout->codes[c].n_slices; ++s)
            if (layout->codes[c].slices[s].radix) finish_digits(&p, &layout->codes[c].slices[s]);
    for (uint32_t i = 0; i < layout->n_buffers; ++i) store_buffer(&p, &layout->buffers[i]);
    finish(&p);
    return p.text.data;
}
