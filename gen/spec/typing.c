/* Types and ranges of the value.
 *
 * The one idea: integers stay integers until they meet a float. Integer operations are exact, with ranges proven from
 * the widths of the codes; at the meeting the integer is converted, proven to be at most 2^24 so that the conversion
 * is exact too. Every rounding of the decoder therefore stands in the specification as an operation on floats, in the
 * order written, and a target may do the integer part in whatever width suits it. */
#include "spec/check.h"
#include "spec/lex.h"

#include <string.h>

static const int64_t EXACT_IN_FLOAT = INT64_C(1) << 24;

static const char *op_name(qg_op op) {
    static const char *const names[QG_OP_COUNT] = {
#define O(id, name, arity, rule, strength, glsl, msl, c) name,
#include "spec/ops.def"
#undef O
    };
    return op == QG_NEG ? "-" : names[op];
}

uint32_t qg_common_divisor(uint32_t a, uint32_t b) {
    while (b != 0) {
        uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

qg_term *qg_new_term(qg_work *work, qg_term term) {
    qg_term *made = QG_NEW(work->arena, qg_term);
    *made = term;
    made->number = work->n_terms++;
    return made;
}

static const qg_term *integer_constant(qg_work *work, qg_loc loc, int64_t value) {
    if (value > INT32_MAX || value < INT32_MIN) {
        qg_error(work->diag, loc, "%lld is beyond integers of 32 bits: write a float, or a smaller number",
                 (long long)value);
        return NULL;
    }
    return qg_new_term(work, (qg_term){.op = QG_CONST,
                                       .kind = QG_K_INT,
                                       .loc = loc,
                                       .integer = value,
                                       .low = value,
                                       .high = value,
                                       .per = work->elements});
}

static const qg_term *float_constant(qg_work *work, qg_loc loc, float value) {
    return qg_new_term(work,
                       (qg_term){.op = QG_CONST, .kind = QG_K_FLOAT, .loc = loc, .real = value, .per = work->elements});
}

static bool is_word(qg_work *work, const qg_term *term, const char *where) {
    if (term->kind == QG_K_UINT) {
        qg_error(work->diag, term->loc,
                 "a word, which is modulo 2^32, cannot stand %s: make it an integer below 2^31 by a mask or a shift",
                 where);
    }
    return term->kind == QG_K_UINT;
}

/* The term as a float; a constant becomes a float constant. */
const qg_term *qg_to_float(qg_work *work, const qg_term *term) {
    if (term->kind == QG_K_FLOAT) {
        return term;
    }
    if (is_word(work, term, "in the place of a float")) {
        return NULL;
    }
    if (term->low < -EXACT_IN_FLOAT || term->high > EXACT_IN_FLOAT) {
        qg_error(work->diag, term->loc,
                 "this integer ranges from %lld to %lld, and floats hold integers exactly only up to 16777216: split "
                 "it into smaller parts",
                 (long long)term->low, (long long)term->high);
        return NULL;
    }
    if (term->op == QG_CONST) {
        return float_constant(work, term->loc, (float)term->integer);
    }
    return qg_new_term(
        work, (qg_term){.op = QG_TO_FLOAT, .kind = QG_K_FLOAT, .loc = term->loc, .per = term->per, .arg = {term}});
}

/* Neither a truth value nor missing. */
bool qg_is_number(qg_work *work, const qg_term *term, const char *where) {
    if (term->kind != QG_K_BOOL) {
        return true;
    }
    qg_error(work->diag, term->loc,
             "a comparison is a truth value, not a number, and cannot stand %s: use parentheses, or write it as a "
             "choice, 'condition ? 1 : 0'",
             where);
    return false;
}

/* Brings two numbers to one kind: both integers, or both floats. */
bool qg_unify(qg_work *work, const qg_term **a, const qg_term **b) {
    if ((*a)->kind == QG_K_INT && (*b)->kind == QG_K_INT) {
        return true;
    }
    *a = qg_to_float(work, *a);
    *b = qg_to_float(work, *b);
    return *a != NULL && *b != NULL;
}

/* ---- leaves --------------------------------------------------------------------------------------------------- */

static const qg_term *type_code(qg_work *work, qg_loc loc, uint32_t at) {
    const qg_code *code = &work->codes[at];
    work->used[at] = true;
    if (code->width == 0) {
        return NULL; /* reported where it is laid out */
    }
    qg_term term = {.op = QG_CODE, .kind = QG_K_INT, .loc = loc, .ref = at, .per = code->per};
    if (qg_index_of(work->buffers, code) != NULL) {
        term.per = 1;
    }
    qg_scalar_kind kind = code->typed ? qg_scalars[code->type].kind : QG_UNSIGNED;
    if (kind == QG_FLOATING) {
        term.kind = QG_K_FLOAT;
        return qg_new_term(work, term);
    }
    if (kind == QG_SIGNED) {
        term.high = ((int64_t)1 << (code->width - 1)) - 1;
        term.low = -term.high - 1;
        return qg_new_term(work, term);
    }
    term.high = code->most;
    if (term.high > INT32_MAX && work->word) {
        term.kind = QG_K_UINT;
        return qg_new_term(work, term);
    }
    if (term.high > INT32_MAX) {
        qg_error(work->diag, loc,
                 "'%s' is unsigned with 32 bits, beyond integers of 32 bits with a sign: take it as two codes, or give "
                 "it a type, or make it a word: u32(...)",
                 code->name);
        return NULL;
    }
    return qg_new_term(work, term);
}

static const qg_term *type_element(qg_work *work, qg_loc loc) {
    return qg_new_term(work,
                       (qg_term){.op = QG_ELEMENT, .kind = QG_K_INT, .loc = loc, .high = work->elements - 1, .per = 1});
}

static const qg_term *type_param(qg_work *work, const qg_expr *expr, uint32_t at) {
    const qg_spec_param *param = &work->spec->params[at];
    if (param->is_type) {
        qg_error(work->diag, expr->loc, "'%s' is a type and has no value: use a code, a field or a number", expr->name);
        return NULL;
    }
    return integer_constant(work, expr->loc, work->bound[at]);
}

static const qg_term *type_field(qg_work *work, const qg_expr *expr, uint32_t at) {
    const qg_field *field = &work->fields[at];
    if (field->spare) {
        qg_error(work->diag, expr->loc, "field '%s' is declared spare: remove 'spare' there to use it", expr->name);
        return NULL;
    }
    if (field->is_array) {
        qg_error(work->diag, expr->loc,
                 "field '%s' is an array and has no single value: take its bits in a code, and name that here",
                 expr->name);
        return NULL;
    }
    return type_code(work, expr->loc, qg_code_of_field(work, at));
}

static const qg_term *type_name(qg_work *work, const qg_expr *expr) {
    const qg_spec *spec = work->spec;
    if (work->scope != NULL && qg_is_of_encode(work, expr->name)) {
        return qg_type_name_of_encode(work, expr);
    }
    if (strcmp(expr->name, "i") == 0) {
        return type_element(work, expr->loc);
    }
    for (uint32_t i = 0; i < spec->n_params; i++) {
        if (strcmp(spec->params[i].name, expr->name) == 0) {
            return type_param(work, expr, i);
        }
    }
    for (uint32_t i = 0; i < work->n_codes; i++) {
        if (strcmp(work->codes[i].name, expr->name) == 0) {
            return type_code(work, expr->loc, i);
        }
    }
    for (uint32_t i = 0; i < work->n_fields; i++) {
        if (strcmp(work->fields[i].name, expr->name) == 0) {
            return type_field(work, expr, i);
        }
    }
    for (uint32_t i = 0; i < spec->n_tables; i++) {
        if (strcmp(spec->tables[i].name, expr->name) == 0) {
            qg_error(work->diag, expr->loc, "'%s' is a table: choose a value with an index, as in %s[q]", expr->name,
                     expr->name);
            return NULL;
        }
    }
    qg_error(work->diag, expr->loc, "'%s' is not known: declare a code, field, table or parameter of that name",
             expr->name);
    return NULL;
}

/* ---- tables --------------------------------------------------------------------------------------------------- */

static const qg_term *type_index(qg_work *work, const qg_expr *expr, uint32_t extent, const char *what) {
    const qg_term *index = qg_type_expr(work, expr);
    if (index == NULL || !qg_is_number(work, index, "as an index") || is_word(work, index, "as an index")) {
        return NULL;
    }
    if (index->kind == QG_K_FLOAT) {
        qg_error(work->diag, expr->loc,
                 "an index must be an integer, and this is a float: use a code or integer operations");
        return NULL;
    }
    if (index->low < 0 || index->high >= extent) {
        qg_error(
            work->diag, expr->loc,
            "the index ranges from %lld to %lld, but the table has %u %s: make the table larger, or the index smaller",
            (long long)index->low, (long long)index->high, extent, what);
        return NULL;
    }
    return index;
}

static const qg_term *type_lookup(qg_work *work, const qg_expr *expr, uint32_t at) {
    const qg_table *table = &work->tables[at];
    bool two = work->spec->tables[at].columns != NULL;
    if (two != (expr->arg[1] != NULL)) {
        qg_error(work->diag, expr->loc,
                 two ? "table '%s' has rows and columns: give two indices, as in %s[g][i %% 8]"
                     : "table '%s' has one dimension: give one index, as in %s[q]",
                 expr->name, expr->name);
        return NULL;
    }
    const qg_term *row = type_index(work, expr->arg[0], table->rows, "rows");
    const qg_term *column = two ? type_index(work, expr->arg[1], table->columns, "columns") : NULL;
    if (row == NULL || (two && column == NULL)) {
        return NULL;
    }
    qg_term term = {.op = QG_TABLE, .kind = QG_K_FLOAT, .loc = expr->loc, .ref = at, .arg = {row, column}};
    term.per = two ? qg_common_divisor(row->per, column->per) : row->per;
    if (qg_scalars[table->type].kind != QG_FLOATING) {
        term.kind = QG_K_INT;
        term.low = work->table_ranges[at].low;
        term.high = work->table_ranges[at].high;
    }
    if (term.high > INT32_MAX && work->word) {
        term.kind = QG_K_UINT;
        return qg_new_term(work, term);
    }
    if (term.high > INT32_MAX) {
        qg_error(work->diag, expr->loc,
                 "table '%s' holds values beyond integers of 32 bits with a sign: use type f32 or smaller values, or "
                 "make them words: u32(%s[...])",
                 expr->name, expr->name);
        return NULL;
    }
    return qg_new_term(work, term);
}

static const qg_term *type_table(qg_work *work, const qg_expr *expr) {
    for (uint32_t t = 0; t < work->spec->n_tables; t++) {
        if (strcmp(work->spec->tables[t].name, expr->name) != 0) {
            continue;
        }
        work->table_used[t] = true;
        return work->tables[t].rows == 0 ? NULL : type_lookup(work, expr, t);
    }
    qg_error(work->diag, expr->loc, "there is no table '%s': only tables take an index, declare one of that name",
             expr->name);
    return NULL;
}

/* ---- operations ----------------------------------------------------------------------------------------------- */

/* Runs of elements with one result: what the operands share; and i / c and i >> c change only every c-th element. */
static uint32_t per_of(const qg_work *work, qg_op op, const qg_term *a, const qg_term *b) {
    if (b != NULL && a->op == QG_ELEMENT && b->op == QG_CONST && (op == QG_DIV || op == QG_SHR)) {
        int64_t run = op == QG_DIV ? b->integer : (int64_t)1 << b->integer;
        return qg_common_divisor((uint32_t)run, work->elements);
    }
    return b == NULL ? a->per : qg_common_divisor(a->per, b->per);
}

static const qg_term *type_integers(qg_work *work, const qg_expr *expr, const qg_term *a, const qg_term *b) {
    qg_range first = {a->low, a->high};
    qg_range second = b == NULL ? first : (qg_range){b->low, b->high};
    qg_range range;
    const char *why = qg_range_of(work->arena, expr->op, first, second, &range);
    if (why != NULL) {
        qg_error(work->diag, expr->loc, "%s", why);
        return NULL;
    }
    if (a->op == QG_CONST && (b == NULL || b->op == QG_CONST)) {
        return integer_constant(work, expr->loc, range.low);
    }
    return qg_new_term(work, (qg_term){.op = expr->op,
                                       .kind = QG_K_INT,
                                       .loc = expr->loc,
                                       .low = range.low,
                                       .high = range.high,
                                       .per = per_of(work, expr->op, a, b),
                                       .arg = {a, b}});
}

/* With a word on one side, all is modulo 2^32. What masks and shifts leave within 31 bits is an integer again. */
static const qg_term *type_words(qg_work *work, const qg_expr *expr, const qg_term *a, const qg_term *b) {
    qg_range range;
    if (a->kind == QG_K_FLOAT || b->kind == QG_K_FLOAT || a->low < 0 || b->low < 0) {
        qg_error(work->diag, expr->loc,
                 "'%s' of a word, with %s on the other side: both must be words or integers from 0", op_name(expr->op),
                 a->kind == QG_K_FLOAT || b->kind == QG_K_FLOAT ? "a float" : "an integer that can be negative");
        return NULL;
    }
    const char *why =
        qg_word_range_of(work->arena, expr->op, (qg_range){a->low, a->high}, (qg_range){b->low, b->high}, &range);
    if (why != NULL) {
        qg_error(work->diag, expr->loc, "%s", why);
        return NULL;
    }
    const bool narrow = (expr->op == QG_AND || expr->op == QG_SHR) && range.high <= INT32_MAX;
    return qg_new_term(work, (qg_term){.op = expr->op,
                                       .kind = narrow ? QG_K_INT : QG_K_UINT,
                                       .loc = expr->loc,
                                       .low = range.low,
                                       .high = range.high,
                                       .per = qg_common_divisor(a->per, b->per),
                                       .arg = {a, b}});
}

static bool is_float_op(qg_work *work, const qg_expr *expr) {
    if (expr->op == QG_ADD || expr->op == QG_SUB || expr->op == QG_MUL || (expr->op == QG_DIV && work->scope != NULL)) {
        return true;
    }
    if (expr->op == QG_DIV || expr->op == QG_MOD) {
        qg_error(work->diag, expr->loc,
                 "'%s' of floats: division is not correctly rounded on every device; multiply by a constant",
                 op_name(expr->op));
    } else {
        qg_error(work->diag, expr->loc, "'%s' needs integers, and one side is a float: use codes and integers only",
                 op_name(expr->op));
    }
    return false;
}

static const qg_term *compare(qg_work *work, const qg_expr *expr, const qg_term *a, const qg_term *b) {
    if (a->op == QG_CONST && b->op == QG_CONST && a->kind == QG_K_INT) {
        int64_t x = a->integer, y = b->integer;
        bool holds = expr->op == QG_EQ   ? x == y
                     : expr->op == QG_NE ? x != y
                     : expr->op == QG_LT ? x < y
                     : expr->op == QG_LE ? x <= y
                     : expr->op == QG_GT ? x > y
                                         : x >= y;
        return qg_new_term(work, (qg_term){.op = QG_CONST,
                                           .kind = QG_K_BOOL,
                                           .loc = expr->loc,
                                           .integer = holds,
                                           .low = holds,
                                           .high = holds,
                                           .per = work->elements});
    }
    return qg_new_term(work, (qg_term){.op = expr->op,
                                       .kind = QG_K_BOOL,
                                       .loc = expr->loc,
                                       .high = 1,
                                       .per = qg_common_divisor(a->per, b->per),
                                       .arg = {a, b}});
}

static const qg_term *type_binary(qg_work *work, const qg_expr *expr) {
    const qg_term *a = qg_type_expr(work, expr->arg[0]);
    const qg_term *b = qg_type_expr(work, expr->arg[1]);
    const char *where = qg_format(work->arena, "beside '%s'", op_name(expr->op));
    if (a == NULL || b == NULL || !qg_is_number(work, a, where) || !qg_is_number(work, b, where)) {
        return NULL;
    }
    if (a->kind == QG_K_UINT || b->kind == QG_K_UINT) {
        return type_words(work, expr, a, b);
    }
    bool compares = expr->op >= QG_EQ && expr->op <= QG_GE;
    bool integers = a->kind == QG_K_INT && b->kind == QG_K_INT;
    if (!integers && !compares && !is_float_op(work, expr)) {
        return NULL;
    }
    if (!qg_unify(work, &a, &b)) {
        return NULL;
    }
    if (compares) {
        return compare(work, expr, a, b);
    }
    if (integers) {
        return type_integers(work, expr, a, b);
    }
    return qg_new_term(work, (qg_term){.op = expr->op == QG_DIV ? QG_CALL : expr->op,
                                       .call = QG_CALL_DIVIDE,
                                       .kind = QG_K_FLOAT,
                                       .loc = expr->loc,
                                       .per = qg_common_divisor(a->per, b->per),
                                       .arg = {a, b}});
}

static const qg_term *type_negation(qg_work *work, const qg_expr *expr) {
    const qg_term *a = qg_type_expr(work, expr->arg[0]);
    if (a == NULL || !qg_is_number(work, a, "behind '-'") || is_word(work, a, "behind '-'")) {
        return NULL;
    }
    if (a->kind == QG_K_INT) {
        return type_integers(work, expr, a, NULL);
    }
    if (a->op == QG_CONST) {
        return float_constant(work, expr->loc, -a->real);
    }
    return qg_new_term(work, (qg_term){.op = QG_NEG, .kind = QG_K_FLOAT, .loc = expr->loc, .per = a->per, .arg = {a}});
}

/* A number as a condition means: it is not zero. */
const qg_term *qg_type_condition(qg_work *work, const qg_expr *expr) {
    const qg_term *condition = qg_type_expr(work, expr);
    if (condition == NULL || condition->kind == QG_K_BOOL) {
        return condition;
    }
    if (is_word(work, condition, "as a condition")) {
        return NULL;
    }
    const qg_expr not_zero = {.op = QG_NE, .loc = condition->loc};
    const qg_term *zero = condition->kind == QG_K_INT ? integer_constant(work, condition->loc, 0)
                                                      : float_constant(work, condition->loc, 0.0f);
    return compare(work, &not_zero, condition, zero);
}

static const qg_term *type_select(qg_work *work, const qg_expr *expr) {
    const qg_term *condition = qg_type_condition(work, expr->arg[0]);
    const qg_term *a = qg_type_expr(work, expr->arg[1]);
    const qg_term *b = qg_type_expr(work, expr->arg[2]);
    if (condition == NULL || a == NULL || b == NULL || !qg_is_number(work, a, "as a branch of '?:'") ||
        !qg_is_number(work, b, "as a branch of '?:'") || !qg_unify(work, &a, &b)) {
        return NULL;
    }
    if (condition->op == QG_CONST) {
        return condition->integer != 0 ? a : b;
    }
    qg_term term = {.op = QG_SELECT, .kind = a->kind, .loc = expr->loc, .arg = {condition, a, b}};
    term.low = a->low < b->low ? a->low : b->low;
    term.high = a->high > b->high ? a->high : b->high;
    term.per = qg_common_divisor(condition->per, qg_common_divisor(a->per, b->per));
    return qg_new_term(work, term);
}

/* Bits, proven to fit, as a value of a type. */
static const qg_term *type_bits(qg_work *work, const qg_expr *expr) {
    const qg_scalar type = qg_scalar_named(expr->name, strlen(expr->name));
    const qg_scalar_info *info = &qg_scalars[type];
    const qg_expr *of = expr->arg[0];
    work->word = type == QG_U32 && work->scope == NULL && (of->kind == QG_E_NAME || of->kind == QG_E_INDEX);
    const qg_term *a = qg_type_expr(work, of);
    work->word = false;
    if (a == NULL || !qg_is_number(work, a, "as bits")) {
        return NULL;
    }
    const int64_t most = ((int64_t)1 << info->bits) - 1;
    if (a->kind == QG_K_FLOAT) {
        qg_error(work->diag, expr->loc, "bits are an integer, and this is a float already: leave '%s(...)' out",
                 info->name);
        return NULL;
    }
    if (a->low < 0 || a->high > most) {
        qg_error(work->diag, expr->loc, "%s has %u bits, and this ranges from %lld to %lld: mask it", info->name,
                 info->bits, (long long)a->low, (long long)a->high);
        return NULL;
    }
    qg_term term = {.op = QG_BITS_AS, .kind = QG_K_FLOAT, .loc = expr->loc, .ref = type, .per = a->per, .arg = {a}};
    if (info->kind == QG_FLOATING) {
        return qg_new_term(work, term);
    }
    if (type == QG_U32 && work->scope == NULL) {
        term.kind = QG_K_UINT;
        term.low = a->low;
        term.high = a->high;
        return a->kind == QG_K_UINT ? a : qg_new_term(work, term);
    }
    if (info->kind == QG_UNSIGNED) {
        return a;
    }
    term.kind = QG_K_INT;
    term.low = -most / 2 - 1;
    term.high = most / 2;
    return qg_new_term(work, term);
}

const qg_term *qg_type_expr(qg_work *work, const qg_expr *expr) {
    switch (expr->kind) {
    case QG_E_INT: return integer_constant(work, expr->loc, expr->integer);
    case QG_E_FLOAT: return float_constant(work, expr->loc, (float)expr->real);
    case QG_E_NAME: return type_name(work, expr);
    case QG_E_UNARY: return type_negation(work, expr);
    case QG_E_BINARY: return type_binary(work, expr);
    case QG_E_SELECT: return type_select(work, expr);
    case QG_E_BITS: return type_bits(work, expr);
    case QG_E_CALL: return qg_type_call(work, expr);
    default: return type_table(work, expr);
    }
}

const qg_term *qg_type_value(qg_work *work) {
    const qg_term *value = qg_type_expr(work, work->spec->value);
    if (value == NULL || !qg_is_number(work, value, "as the value")) {
        return NULL;
    }
    return qg_to_float(work, value);
}
