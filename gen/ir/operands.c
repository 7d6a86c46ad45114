/* Values of a tile as operands of a matrix unit: halves, two in a word, in an order of which only x has to know.
 *
 * Codes that lie sixteen bits apart in a word are two halves as they are, 2^24 times too small (halves.c), and
 * one multiplication and addition of halves turns both into values. Scales and what is added are halves, too; so
 * that these are neither too large nor too small, all of a tile is multiplied with a power of two, which is made
 * up for in the sum. Where the values of a run are no such codes, they are computed as floats, and rounded. */
#include "ir/dot.h"

#include <math.h>
#include <string.h>

static const double MOST_OF_HALF = 32768;

typedef struct builder {
    products p;
    qg_operands *out;
    uint32_t words_capacity, scales_capacity, offsets_capacity;
} builder;

static const qg_node *apply(qg_ir *ir, qg_op op, const qg_node *a, const qg_node *b) {
    return qg_apply(ir, op, a, b, NULL);
}

static uint32_t scale_number(builder *b, const qg_node *node, float factor, float most) {
    qg_operands *o = b->out;
    for (uint32_t i = 0; i < o->n_scales; ++i)
        if (o->scales[i].node == node && o->scales[i].factor == factor && o->scales[i].most == most) return i;
    const struct qg_operand_scale one = {node, factor, most};
    QG_PUSH(o->ir->arena, o->scales, o->n_scales, b->scales_capacity, one);
    return o->n_scales - 1;
}

static uint32_t offset_number(builder *b, const qg_node *node) {
    qg_operands *o = b->out;
    if (!node) return QG_NO_OFFSET;
    for (uint32_t i = 0; i < o->n_offsets; ++i)
        if (o->offsets[i] == node) return i;
    QG_PUSH(o->ir->arena, o->offsets, o->n_offsets, b->offsets_capacity, node);
    return o->n_offsets - 1;
}

static void add_word(builder *b, qg_operand word) {
    QG_PUSH(b->out->ir->arena, b->out->words, b->out->n_words, b->words_capacity, word);
}

/* coefficient * scale, added to `sum`. */
static const qg_node *plus(qg_ir *ir, const qg_node *sum, float coefficient, const qg_node *scale) {
    const qg_node *term = scale ? scale : qg_real(ir, 1);
    if (coefficient == -1 && sum) return apply(ir, QG_SUB, sum, term);
    if (coefficient != 1) term = apply(ir, QG_MUL, qg_real(ir, coefficient), term);
    return sum ? apply(ir, QG_ADD, sum, term) : term;
}

/* A lane that is half of a word goes beside the other half, where that has the same factors. */
static void add_half(builder *b, const qg_node *lane, uint32_t scale, uint32_t offset, uint16_t element) {
    const qg_node *pair = lane->arg[0];
    const uint32_t half = (uint32_t)lane->integer;
    for (uint32_t i = 0; i < b->out->n_words; ++i) {
        qg_operand *word = &b->out->words[i];
        if (word->node != pair || word->scale != scale || word->offset != offset) continue;
        if (word->element[half] != QG_NO_ELEMENT) continue;
        word->element[half] = element;
        return;
    }
    qg_operand word = {.node = pair, .scale = scale, .offset = offset, .element = {QG_NO_ELEMENT, QG_NO_ELEMENT}};
    word.element[half] = element;
    add_word(b, word);
}

static double most_of_table(const qg_table *table) {
    double most = 0;
    for (uint32_t i = 0; i < table->rows * table->columns; ++i)
        if (fabs(table->values[i]) > most) most = fabs(table->values[i]);
    return most;
}

/* The largest magnitude of any lane; infinite where none is known. */
static double most_of(const qg_ir *ir, const qg_node *node) {
    int64_t low, high;
    double most = 0;
    if (node->op == QG_TABLE) return most_of_table(&ir->layout->tables[node->ref]);
    switch (node->kind == QG_K_FLOAT ? node->op : QG_CONST) {
    case QG_CONST:
        if (node->op == QG_CONST && node->kind == QG_K_FLOAT) return fabs((double)node->real);
        if (!qg_integer_range(ir, node, &low, &high)) return INFINITY;
        return fmax(fabs((double)low), fabs((double)high));
    case QG_TO_FLOAT:
    case QG_LANE:
    case QG_SPLAT:
    case QG_NEG: return most_of(ir, node->arg[0]);
    case QG_VECTOR:
        for (uint32_t i = 0; i < node->n_args; ++i) most = fmax(most, most_of(ir, node->arg[i]));
        return most;
    case QG_SELECT: return fmax(most_of(ir, node->arg[1]), most_of(ir, node->arg[2]));
    case QG_MUL: return most_of(ir, node->arg[0]) * most_of(ir, node->arg[1]);
    case QG_ADD:
    case QG_SUB: return most_of(ir, node->arg[0]) + most_of(ir, node->arg[1]);
    default: return INFINITY;
    }
}

/* What is added to the product of a run, `bias` times the scale of its codes less. */
static uint32_t offset_of_run(builder *b, uint32_t run, const product *codes, float bias) {
    const qg_node *offset = NULL;
    for (uint32_t i = 0; i < b->p.count; ++i) {
        const product *one = &b->p.items[i];
        if (one->run == run && !one->vector) offset = plus(b->p.ir, offset, one->coefficient, one->scale);
    }
    if (bias != 0) offset = plus(b->p.ir, offset, -codes->coefficient * bias, codes->scale);
    return offset_number(b, offset);
}

static void add_floats(builder *b, uint32_t run, qg_operand word, const qg_node *vector) {
    const uint32_t lanes = b->p.lanes;
    word.node = qg_let(b->p.ir, qg_splat(b->p.ir, vector, lanes), "value", NULL);
    word.floats = true;
    for (uint32_t i = 0; i < lanes; i += 2) {
        const uint16_t element = (uint16_t)(run * lanes + i);
        word.lane = i;
        word.element[0] = element;
        word.element[1] = (uint16_t)(element + 1);
        add_word(b, word);
    }
}

/* The values of a run as one product of what fits into halves, and what is added to it; false where
 * they are not that. */
static bool add_codes(builder *b, uint32_t run) {
    const product *codes = NULL;
    qg_halves halves;
    for (uint32_t i = 0; i < b->p.count; ++i) {
        const product *one = &b->p.items[i];
        if (one->run != run || !one->vector) continue;
        if (codes) return false;
        codes = one;
    }
    if (!codes) return false;
    if (!qg_as_halves(b->p.ir, codes->vector, b->p.lanes, &halves)) {
        const double most = most_of(b->p.ir, codes->vector);
        if (!(most < MOST_OF_HALF)) return false;
        const uint32_t scale = scale_number(b, codes->scale, codes->coefficient, most < 1 ? 1 : (float)most);
        add_floats(b, run, (qg_operand){.scale = scale, .offset = offset_of_run(b, run, codes, 0)}, codes->vector);
        return true;
    }
    for (uint32_t i = 0; i < b->p.lanes; ++i)
        if (halves.vector->arg[i]->op != QG_LANE) return false;
    const uint32_t offset = offset_of_run(b, run, codes, halves.bias);
    for (uint32_t i = 0; i < b->p.lanes; ++i)
        add_half(b, halves.vector->arg[i],
                 scale_number(b, codes->scale, codes->coefficient * halves.factor[i], halves.most), offset,
                 (uint16_t)(run * b->p.lanes + i));
    return true;
}

const qg_operands *qg_operands_of(qg_ir *ir, uint32_t lanes, uint32_t n_runs, const qg_node *const *values) {
    if (lanes < 2) return NULL;
    qg_operands *out = QG_NEW(ir->arena, qg_operands);
    builder b = {.p = {.ir = ir, .lanes = lanes}, .out = out};
    out->ir = ir;
    qg_dot_expand(&b.p, n_runs, values);
    for (uint32_t r = 0; r < n_runs; ++r)
        if (!add_codes(&b, r)) {
            out->n_values += 1;
            add_floats(&b, r, (qg_operand){.scale = QG_AS_VALUES, .offset = QG_NO_OFFSET}, values[r]);
        }
    if (out->n_words % 2)
        add_word(
            &b, (qg_operand){.scale = QG_AS_VALUES, .offset = QG_NO_OFFSET, .element = {QG_NO_ELEMENT, QG_NO_ELEMENT}});
    if (out->n_words > QG_MOST_WORDS) return NULL;
    for (uint32_t i = 0; i < out->n_words; ++i)
        if (out->words[i].node) qg_output(ir, out->words[i].node, NULL);
    for (uint32_t i = 0; i < out->n_scales; ++i)
        if (out->scales[i].node) qg_output(ir, out->scales[i].node, NULL);
    for (uint32_t i = 0; i < out->n_offsets; ++i) qg_output(ir, out->offsets[i], NULL);
    const uint32_t products = out->n_words / 2;
    out->part = products % QG_PART == 0 ? QG_PART : products;
    return out;
}
