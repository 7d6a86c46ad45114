/* From layout and plan to IR: the value of the elements of a tile, and their sums. */
#include "build/lower.h"

#include <string.h>

/* ---- the value ---- */

static void leaf_names(const lowering *l, const qg_term *term, qg_text *text, uint32_t *count) {
    if (term->op == QG_CODE && *count < 3)
        qg_text_printf(text, "%s%s", (*count)++ ? "_" : "", l->layout->codes[term->ref].name);
    for (uint32_t i = 0; i < 3; ++i)
        if (term->arg[i]) leaf_names(l, term->arg[i], text, count);
}

/* A float that is the same for the whole run is computed once, and named after what it is made of. */
static const qg_node *hoist(lowering *l, const qg_term *term, const qg_node *node) {
    if (node->lanes > 1 || l->plan->lanes == 1 || node->kind != QG_K_FLOAT || node->op == QG_TO_FLOAT) return node;
    qg_text name = qg_text_new(l->ir->arena);
    uint32_t count = 0;
    leaf_names(l, term, &name, &count);
    return count > 1 ? qg_let(l->ir, node, name.data, NULL) : node;
}

static const qg_node *lower_term(lowering *l, const qg_term *term);

/* The element's index, or its quotient or remainder by a constant: on index forms, so that the part
 * of it that a tile does not change comes out as a constant. */
static const qg_node *lower_element(lowering *l, qg_op op, uint32_t divisor) {
    const qg_node *parts[QG_MAX_LANES];
    bool same = true;
    for (uint32_t i = 0; i < l->plan->lanes; ++i) {
        qg_index index = l->lanes[i];
        if (l->layout->joined) index = qg_index_mod(l->ir, index, l->layout->elements / l->layout->joined);
        if (op == QG_DIV) index = qg_index_div(l->ir, index, divisor);
        if (op == QG_MOD) index = qg_index_mod(l->ir, index, divisor);
        parts[i] = qg_index_node(l->ir, NULL, index);
        same &= parts[i] == parts[0];
    }
    return qg_vector(l->ir, parts, same ? 1 : l->plan->lanes);
}

/* An index into a table, of which single lanes can be taken. */
static const qg_node *lower_table_index(lowering *l, const qg_term *term, const char *name) {
    const qg_node *node = lower_term(l, term);
    return node->lanes > 1 && node->op != QG_VECTOR ? qg_let(l->ir, node, name, NULL) : node;
}

/* A proven index as a form: a constant, or a digit below `extent`. */
static qg_index table_index(lowering *l, const qg_node *node, uint32_t extent) {
    if (node->op == QG_CONST) return qg_index_constant(node->integer);
    if (node->op == QG_TO_INT && node->arg[0]->kind == QG_K_UINT) node = node->arg[0];
    if (node->kind == QG_K_INT) node = qg_apply(l->ir, QG_TO_UINT, node, NULL, NULL);
    return qg_index_digit(node, extent);
}

/* A table that is kept in memory is read as a layout is: value (row, column) is the bits at their place. */
static const qg_node *lower_stored(lowering *l, const qg_term *term, const qg_node *row, const qg_node *column,
                                   uint32_t lanes) {
    const qg_table *table = &l->layout->tables[term->ref];
    const uint32_t bits = qg_table_bits(table);
    const qg_slice slice = {.width = bits, .buffer = l->layout->n_buffers + term->ref};
    qg_index addresses[QG_MAX_LANES];
    for (uint32_t i = 0; i < lanes; ++i) {
        const qg_index at = qg_index_scale(table_index(l, qg_lane(l->ir, row, i), table->rows), table->columns);
        const qg_index in_row =
            column ? table_index(l, qg_lane(l->ir, column, i), table->columns) : qg_index_constant(0);
        addresses[i] = qg_index_scale(qg_index_add(l->ir, at, in_row), bits);
    }
    const qg_node *value =
        lanes == 1 ? qg_one_lane(l, &slice, NULL, addresses[0]) : qg_several_lanes(l, &slice, NULL, addresses, lanes);
    const qg_scalar_kind kind = qg_scalars[table->type].kind;
    if (kind == QG_FLOATING) return qg_float_bits(l->ir, QG_F32, value);
    if (bits < qg_scalars[table->type].bits) {
        const int32_t offset = qg_table_offset(table);
        const qg_node *more = qg_int(l->ir, offset < 0 ? -offset : offset);
        value =
            qg_apply(l->ir, offset < 0 ? QG_SUB : QG_ADD, qg_apply(l->ir, QG_TO_INT, value, NULL, NULL), more, NULL);
        return kind == QG_SIGNED ? value : qg_apply(l->ir, QG_TO_UINT, value, NULL, NULL);
    }
    const bool masked = value->op == QG_AND && !value->name;
    return kind == QG_SIGNED ? qg_sign_extend(l->ir, masked ? value->arg[0] : value, bits) : value;
}

/* What stands at a constant place is a number. */
static const qg_node *look_up(lowering *l, uint32_t at, const qg_node *row, const qg_node *column) {
    const qg_table *table = &l->layout->tables[at];
    if (row->op != QG_CONST || (column && column->op != QG_CONST)) return qg_lookup(l->ir, at, row, column);
    const double value = table->values[row->integer * table->columns + (column ? column->integer : 0)];
    switch (qg_scalars[table->type].kind) {
    case QG_FLOATING: return qg_real(l->ir, (float)value);
    case QG_SIGNED: return qg_int(l->ir, (int64_t)value);
    default: return qg_uint(l->ir, (uint32_t)value);
    }
}

static const qg_node *lower_lookup(lowering *l, const qg_term *term) {
    const qg_node *row = lower_table_index(l, term->arg[0], "row");
    const qg_node *column = term->arg[1] ? lower_table_index(l, term->arg[1], "column") : NULL;
    const uint32_t lanes = column && column->lanes > row->lanes ? column->lanes : row->lanes;
    if (l->plan->stored[term->ref] && column) return lower_stored(l, term, row, column, lanes);
    const qg_node *parts[QG_MAX_LANES];
    for (uint32_t i = 0; i < lanes; ++i)
        parts[i] = look_up(l, term->ref, qg_lane(l->ir, row, i), column ? qg_lane(l->ir, column, i) : NULL);
    return qg_vector(l->ir, parts, lanes);
}

static const qg_node *lower_constant(lowering *l, const qg_term *term) {
    if (term->kind == QG_K_FLOAT) return qg_real(l->ir, term->real);
    return term->kind == QG_K_INT ? qg_int(l->ir, term->integer) : qg_uint(l->ir, (uint32_t)term->integer);
}

static const qg_node *as_condition(lowering *l, const qg_node *node) {
    if (node->kind == QG_K_BOOL) return node;
    return binary(l->ir, QG_NE, node, node->kind == QG_K_INT ? qg_int(l->ir, 0) : qg_uint(l->ir, 0));
}

static const qg_node *lower_select(lowering *l, const qg_term *term) {
    const qg_node *condition = as_condition(l, lower_term(l, term->arg[0]));
    const qg_node *yes = lower_term(l, term->arg[1]), *no = lower_term(l, term->arg[2]);
    if (term->kind == QG_K_INT) {
        yes = qg_apply(l->ir, QG_TO_INT, yes, NULL, NULL);
        no = qg_apply(l->ir, QG_TO_INT, no, NULL, NULL);
    }
    uint32_t lanes = condition->lanes;
    if (yes->lanes > lanes) lanes = yes->lanes;
    if (no->lanes > lanes) lanes = no->lanes;
    return qg_apply(l->ir, QG_SELECT, qg_splat(l->ir, condition, lanes), qg_splat(l->ir, yes, lanes),
                    qg_splat(l->ir, no, lanes));
}

static bool of_element(const qg_term *term) {
    return (term->op == QG_DIV || term->op == QG_MOD) && term->arg[0]->op == QG_ELEMENT &&
           term->arg[1]->op == QG_CONST && term->arg[1]->integer > 0;
}

static const qg_node *as_word(lowering *l, const qg_node *node) {
    if (node->kind == QG_K_UINT) return node;
    return node->op == QG_CONST ? qg_uint(l->ir, (uint32_t)node->integer)
                                : qg_apply(l->ir, QG_TO_UINT, node, NULL, NULL);
}

/* With a word on one side, all is modulo 2^32. */
static const qg_node *lower_words(lowering *l, const qg_term *term) {
    const qg_node *a = as_word(l, lower_term(l, term->arg[0])), *b = as_word(l, lower_term(l, term->arg[1]));
    if ((term->op == QG_SHL || term->op == QG_SHR) && a->lanes != b->lanes) {
        const uint32_t lanes = a->lanes > b->lanes ? a->lanes : b->lanes;
        a = qg_splat(l->ir, a, lanes);
        b = qg_splat(l->ir, b, lanes);
    }
    const qg_node *node = binary(l->ir, term->op, a, b);
    return term->kind == QG_K_INT && term->op == QG_SHR ? qg_let(l->ir, node, "word", NULL) : node;
}

static const qg_node *lower_binary(lowering *l, const qg_term *term) {
    if (term->arg[0]->kind == QG_K_UINT || term->arg[1]->kind == QG_K_UINT) return lower_words(l, term);
    if (of_element(term)) return lower_element(l, term->op, (uint32_t)term->arg[1]->integer);
    const qg_node *a = hoist(l, term->arg[0], lower_term(l, term->arg[0]));
    const qg_node *b = hoist(l, term->arg[1], lower_term(l, term->arg[1]));
    const bool shift = term->op == QG_SHL || term->op == QG_SHR;
    if (a->kind != b->kind && !shift) { /* one is signed: exact, by the ranges that were proven */
        a = qg_apply(l->ir, QG_TO_INT, a, NULL, NULL);
        b = qg_apply(l->ir, QG_TO_INT, b, NULL, NULL);
    } else if (term->kind == QG_K_INT && a->kind == QG_K_UINT) {
        a = qg_apply(l->ir, QG_TO_INT, a, NULL, NULL);
        if (!shift) b = qg_apply(l->ir, QG_TO_INT, b, NULL, NULL);
    }
    if (shift && a->kind != b->kind) /* Metal wants both of one kind */
        b = qg_apply(l->ir, a->kind == QG_K_INT ? QG_TO_INT : QG_TO_UINT, b, NULL, NULL);
    const bool lanewise = shift || (term->op >= QG_EQ && term->op <= QG_GE);
    if (lanewise && a->lanes != b->lanes) {
        const uint32_t lanes = a->lanes > b->lanes ? a->lanes : b->lanes;
        a = qg_splat(l->ir, a, lanes);
        b = qg_splat(l->ir, b, lanes);
    }
    return binary(l->ir, term->op, a, b);
}

static const qg_node *lower_bits(lowering *l, const qg_term *term) {
    const qg_node *bits = lower_term(l, term->arg[0]);
    if (term->kind == QG_K_UINT) return as_word(l, bits);
    if (bits->kind == QG_K_INT) bits = qg_apply(l->ir, QG_TO_UINT, bits, NULL, NULL);
    return qg_bits_as(l, (qg_scalar)term->ref, "bits", bits);
}

static const qg_node *lower_operation(lowering *l, const qg_term *term) {
    switch (term->op) {
    case QG_CONST: return lower_constant(l, term);
    case QG_CODE: return qg_lower_code(l, &l->layout->codes[term->ref]);
    case QG_ELEMENT: return lower_element(l, QG_ELEMENT, 1);
    case QG_TABLE: return lower_lookup(l, term);
    case QG_SELECT: return lower_select(l, term);
    case QG_BITS_AS: return lower_bits(l, term);
    case QG_TO_FLOAT: return qg_apply(l->ir, QG_TO_FLOAT, lower_term(l, term->arg[0]), NULL, NULL);
    case QG_NEG: {
        const qg_node *a = lower_term(l, term->arg[0]);
        if (term->kind == QG_K_INT) a = qg_apply(l->ir, QG_TO_INT, a, NULL, NULL);
        return qg_apply(l->ir, QG_NEG, a, NULL, NULL);
    }
    default: return lower_binary(l, term);
    }
}

/* What is chosen from rounded values, and their negatives, need no rounding. */
static const qg_node *lower_term(lowering *l, const qg_term *term) {
    const qg_node *node = lower_operation(l, term);
    const bool rounded = node->kind != QG_K_FLOAT || term->op == QG_SELECT || term->op == QG_NEG;
    return rounded ? node : qg_round(l->ir, l->layout->math, node);
}

/* ---- entry points ---- */

/* The first element of the tile, as digits of the tile's number; `named` makes statements of the high ones. */
static qg_index tile_start(qg_ir *ir, const qg_plan *plan, bool named) {
    const qg_layout *layout = plan->layout;
    if (layout->view != QG_VIEW_BLOCKS) {
        const uint32_t step = plan->reference ? 1 : plan->tile_elements, count = layout->block_cols / step;
        const uint32_t bands = layout->block_rows / plan->tile_rows;
        const qg_index r =
            bands > 1 || plan->tile_rows == 1 ? qg_index_digit(qg_arg(ir, "r", bands), bands) : qg_index_constant(0);
        const qg_index t = qg_index_digit(qg_arg(ir, plan->reference ? "c" : "t", count), count);
        return qg_index_add(ir, qg_index_scale(t, step), qg_index_scale(r, plan->tile_rows * layout->block_cols));
    }
    const qg_node *tile = qg_arg(ir, plan->reference ? "i" : "tile", plan->tiles);
    qg_index rest = qg_index_digit(tile, plan->tiles), start = qg_index_constant(0);
    for (uint32_t i = 0; i < plan->n_digits; ++i) {
        const bool last = i + 1 == plan->n_digits;
        const qg_index digit = last ? rest : qg_index_mod(ir, rest, plan->digits[i].extent);
        if (named && i && digit.n_terms == 1) /* the part of the block that the tile lies in */
            qg_let(ir, digit.terms[0].digit, "part",
                   qg_format(ir->arena, "part: of %u elements", plan->digits[i].stride));
        start = qg_index_add(ir, start, qg_index_scale(digit, plan->digits[i].stride));
        if (!last) rest = qg_index_div(ir, rest, plan->digits[i].extent);
    }
    return start;
}

static void name_bases(lowering *l) {
    const qg_node *block = qg_arg(l->ir, "block", UINT64_C(1) << 32);
    l->bases = QG_NEW_ARRAY(l->ir->arena, const qg_node *, l->layout->n_buffers);
    for (uint32_t i = 0; i < l->layout->n_buffers; ++i) {
        const uint32_t words = l->layout->buffers[i].bytes * 8 / l->plan->units[i];
        if (l->plan->reference || l->layout->view != QG_VIEW_BLOCKS || l->layout->buffers[i].shared) continue;
        l->bases[i] = binary(l->ir, QG_MUL, block, qg_uint(l->ir, words));
        if (l->layout->n_buffers == 1 && words > 1) qg_let(l->ir, l->bases[i], "base", NULL);
    }
}

static void finish(qg_ir *ir, bool operands) {
    static const char *const words[] = {
        "most",          "all",       "scale",  "part",     "block", "tile",   "v",          "i",
        "block_row",     "block_col", "row",    "r",        "t",     "c",      "rows",       "cols",
        "grid_rows",     "grid_cols", "x",      "x_sum",    "m",     "sum",    "n",          "j",
        "digit",         "k",         "x_step", "x_digits", "band",  "wide_x", "wide_x_sum", "wide_x_step",
        "wide_x_digits", "fours",     "words"};
    const uint32_t skip = operands ? 0 : 4, fixed = sizeof words / sizeof *words - skip;
    const uint32_t count = fixed + ir->layout->n_buffers + ir->layout->n_tables;
    const char **reserved = QG_NEW_ARRAY(ir->arena, const char *, count);
    memcpy(reserved, words + skip, fixed * sizeof *words);
    for (uint32_t i = 0; i < ir->layout->n_buffers; ++i) reserved[fixed + i] = ir->layout->buffers[i].name;
    for (uint32_t i = 0; i < ir->layout->n_tables; ++i)
        reserved[fixed + ir->layout->n_buffers + i] = ir->layout->tables[i].name;
    qg_finish(ir, reserved, count);
}

static const char *run_comment(const lowering *l, uint32_t run) {
    const qg_plan *plan = l->plan;
    if (plan->n_runs == 1) return NULL;
    uint32_t first = plan->runs[run];
    const char *row = "";
    if (plan->tile_rows > 1) {
        row = qg_format(l->ir->arena, "row %u, ", first / plan->layout->block_cols);
        first %= plan->layout->block_cols;
    }
    return qg_format(l->ir->arena, "%selements %u to %u, counted from the tile's first", row, first,
                     first + plan->lanes - 1);
}

static const qg_ir *lower_decode(qg_arena *arena, const qg_plan *plan) {
    lowering l = {.ir = qg_ir_new(arena, plan->layout), .plan = plan, .layout = plan->layout, .decoding = true};
    name_bases(&l);
    const qg_index start = tile_start(l.ir, plan, true);
    for (uint32_t r = 0; r < plan->n_runs; ++r) {
        for (uint32_t i = 0; i < plan->lanes; ++i)
            l.lanes[i] = qg_index_add(l.ir, start, qg_index_constant(plan->runs[r] + i));
        const qg_node *value = lower_term(&l, plan->layout->value);
        qg_output(l.ir, qg_splat(l.ir, value, plan->lanes), run_comment(&l, r));
    }
    finish(l.ir, false);
    return l.ir;
}

static void lower_values(lowering *l, const qg_node **values) {
    const qg_index start = tile_start(l->ir, l->plan, true);
    for (uint32_t r = 0; r < l->plan->n_runs; ++r) {
        for (uint32_t i = 0; i < l->plan->lanes; ++i)
            l->lanes[i] = qg_index_add(l->ir, start, qg_index_constant(l->plan->runs[r] + i));
        values[r] = lower_term(l, l->layout->value);
    }
}

/* The values of a tile for a sum; where loads are wide, what they are of is noted first. */
static lowering lower_tile(qg_arena *arena, const qg_plan *plan, bool half, const qg_node **values) {
    lowering l = {.ir = qg_ir_new(arena, plan->layout), .plan = plan, .layout = plan->layout};
    name_bases(&l);
    if (plan->wide && (!plan->by_words || qg_is_midway(plan))) {
        l.reads = qg_reads_new(arena);
        l.reading = true;
        lower_values(&l, values);
        l.ir = qg_ir_new(arena, plan->layout);
        l.reading = false;
        name_bases(&l);
    }
    if (plan->wide) {
        l.ir->own_units = plan->own_units;
        l.ir->held = plan->held;
        l.ir->x = "wide_x";
    }
    l.ir->half = half;
    l.ir->masked = plan->masked;
    lower_values(&l, values);
    return l;
}

static const qg_operands *lower_operands(qg_arena *arena, const qg_plan *plan) {
    const qg_node *values[QG_MAX_RUNS];
    if (plan->layout->math != QG_F32) return NULL;
    lowering l = lower_tile(arena, plan, true, values);
    l.ir->single = true;
    l.ir->pairs = plan->pairs;
    l.ir->gathers = true;
    const qg_operands *operands = qg_operands_of(l.ir, plan->lanes, plan->n_runs, values);
    if (operands) finish(l.ir, true);
    return operands;
}

/* Where codes are masked, words and the sums that take their codes follow each other: fewer values live at a time. */
static bool gathers(const qg_plan *plan) { return !plan->masked; }

/* Several rows of a matrix: one output for each. */
static const qg_ir *lower_dots(qg_arena *arena, const qg_plan *plan) {
    const qg_node *values[QG_MAX_RUNS], *sums[QG_MAX_RUNS];
    if (plan->layout->math != QG_F32) return NULL;
    lowering l = lower_tile(arena, plan, false, values);
    l.ir->gathers = gathers(plan);
    qg_dots_of_rows(l.ir, plan->lanes, plan->n_runs / plan->tile_rows, plan->tile_rows, values, sums);
    for (uint32_t r = 0; r < plan->tile_rows; ++r) qg_output(l.ir, sums[r], NULL);
    finish(l.ir, false);
    return l.ir;
}

static const qg_ir *lower_dot(qg_arena *arena, const qg_plan *plan, qg_products products) {
    const qg_node *values[QG_MAX_RUNS];
    if (plan->tile_rows > 1) return products == QG_PRODUCTS_F32 ? lower_dots(arena, plan) : NULL;
    lowering l = lower_tile(arena, plan, products == QG_PRODUCTS_F16, values);
    const bool as_written = plan->layout->math != QG_F32;
    l.ir->pairs = plan->pairs;
    l.ir->copied = plan->copied;
    l.ir->gathers = gathers(plan);
    if (as_written && products != QG_PRODUCTS_F32) return NULL;
    const qg_node *sum = products == QG_PRODUCTS_INT8 ? qg_dot_of_bytes(l.ir, plan->lanes, plan->n_runs, values)
                         : as_written                 ? qg_dot_as_written(l.ir, plan->lanes, plan->n_runs, values)
                                                      : qg_dot_of_runs(l.ir, plan->lanes, plan->n_runs, values);
    if (!sum) return NULL;
    qg_output(l.ir, sum, NULL);
    finish(l.ir, false);
    return l.ir;
}

/* ---- each once ---- */

enum { DECODE, OPERANDS, DOT, KINDS = DOT + QG_PRODUCTS_MMA };

struct qg_lowered {
    qg_arena *arena;  /* that of the plan, which outlives others */
    bool done[KINDS]; /* what there is not is NULL, and need not be tried again */
    const qg_ir *ir[KINDS];
    const qg_operands *operands;
};

qg_plan *qg_plan_copy(qg_arena *arena, const qg_plan *plan) {
    qg_plan *copy = QG_NEW(arena, qg_plan);
    if (plan) *copy = *plan;
    copy->lowered = QG_NEW(arena, qg_lowered);
    copy->lowered->arena = arena;
    return copy;
}

/* Whether it is still to be done. */
static bool begins(const qg_plan *plan, uint32_t kind) {
    const bool begins = !plan->lowered->done[kind];
    plan->lowered->done[kind] = true;
    return begins;
}

const qg_ir *qg_lower_decode(const qg_plan *plan) {
    if (begins(plan, DECODE)) plan->lowered->ir[DECODE] = lower_decode(plan->lowered->arena, plan);
    return plan->lowered->ir[DECODE];
}

const qg_operands *qg_lower_operands(const qg_plan *plan) {
    if (begins(plan, OPERANDS)) plan->lowered->operands = lower_operands(plan->lowered->arena, plan);
    return plan->lowered->operands;
}

const qg_ir *qg_lower_dot(const qg_plan *plan, qg_products products) {
    const uint32_t kind = DOT + (products == QG_PRODUCTS_MMA ? QG_PRODUCTS_F32 : products);
    if (begins(plan, kind)) plan->lowered->ir[kind] = lower_dot(plan->lowered->arena, plan, (qg_products)(kind - DOT));
    return plan->lowered->ir[kind];
}

const qg_ir *qg_lower_place(qg_arena *arena, const qg_plan *plan, uint32_t lanes) {
    qg_ir *ir = qg_ir_new(arena, plan->layout);
    const qg_index start = qg_index_div(ir, tile_start(ir, plan, false), lanes);
    qg_output(ir, qg_index_node(ir, NULL, start), NULL);
    return ir;
}
