/* A tile's sum in turns: in each of them some runs of x are multiplied, and what they give is added, so that a thread
 * holds few values and little of x at a time. A chain of dot products is cut where its runs come to the next turn, and
 * begins there with 0; each piece has the scale of the chain. */
#include "ir/ir.h"

static uint32_t turn_of_run(const qg_ir *ir, uint32_t run) { return run / ir->turn_runs; }

/* The last run of a set: there is one. */
static uint32_t last_of(uint64_t runs) {
    uint32_t last = 0;
    while (runs >>= 1) ++last;
    return last;
}

/* Of the last link of a chain; a sum of x has no turn of its own, and QG_TURNS says so. */
static uint32_t turn_of(const qg_ir *ir, const qg_node *link) {
    const qg_node *dot = link->op == QG_ADD ? link->arg[1] : link;
    return dot->op == QG_DOT ? turn_of_run(ir, (uint32_t)dot->integer) : QG_TURNS;
}

bool qg_begins_turn(const qg_ir *ir, const qg_node *link) {
    if (!ir->turn_runs || !qg_is_added_dot(ir, link)) return false;
    const uint32_t before = turn_of(ir, link->arg[0]);
    return before != QG_TURNS && before != turn_of(ir, link);
}

/* The factor of a product that is made of x. */
static uint32_t factor_of_x(const qg_node *product) { return qg_is_of_x(product->arg[1]); }

/* A term with another chain than its own. */
static const qg_node *with_chain(qg_arena *arena, const qg_node *term, const qg_node *chain, const qg_node *other) {
    if (term == chain) return other;
    const uint32_t of_x = factor_of_x(term);
    qg_node *copy = QG_NEW(arena, qg_node);
    *copy = *term;
    copy->arg[of_x] = with_chain(arena, term->arg[of_x], chain, other);
    return copy;
}

static void add_part(qg_arena *arena, qg_tile_turns *turns, qg_turn_part part, const qg_node *chain) {
    const qg_ir *ir = turns->ir;
    const qg_node *link = chain;
    while (qg_is_added_dot(ir, link) && !qg_begins_turn(ir, link)) link = link->arg[0];
    if (link->op == QG_X_SUM) turns->of_sums[link->integer] |= 1u << part.turn;
    QG_PUSH(arena, turns->parts, turns->n_parts, turns->capacity, part);
}

/* False where it is no product of factors and one chain of dot products, or one sum of x. */
static bool add_term(qg_arena *arena, qg_tile_turns *turns, const qg_node *term, bool minus) {
    const qg_ir *ir = turns->ir;
    const qg_node *chain = term, *link, *end;
    while (chain->op == QG_MUL && !chain->name) chain = chain->arg[factor_of_x(chain)];
    for (link = chain; qg_is_added_dot(ir, link);) link = link->arg[0];
    if (chain->op == QG_X_SUM) {
        add_part(arena, turns, (qg_turn_part){turn_of_run(ir, last_of(ir->x_sums[chain->integer])), minus, term},
                 chain);
        return true;
    }
    if (link->op != QG_X_SUM && (link->op != QG_DOT || link->arg[0]->lanes != QG_MAX_LANES)) return false;
    for (link = end = chain;; link = link->arg[0]) {
        const bool begins = qg_begins_turn(ir, link), first = !qg_is_added_dot(ir, link);
        if (begins || first)
            add_part(arena, turns, (qg_turn_part){turn_of(ir, end), minus, with_chain(arena, term, chain, end)}, end);
        if (first) return true;
        if (begins) end = link->arg[0];
    }
}

const qg_tile_turns *qg_turns_of(qg_arena *arena, const qg_ir *ir) {
    enum { MOST = 64 };
    const qg_node *sums[MOST], *node = ir->outputs[0].node;
    uint32_t count = MOST;
    qg_tile_turns *turns = QG_NEW(arena, qg_tile_turns);
    *turns = (qg_tile_turns){.ir = ir, .of_sums = QG_NEW_ARRAY(arena, uint32_t, ir->n_x_sums + 1)};
    if (ir->n_outputs > 1 || ir->n_x_quads || ir->half) return NULL;
    for (; count > 1 && (node->op == QG_ADD || node->op == QG_SUB) && !node->name && !qg_is_added_dot(ir, node);
         node = node->arg[0])
        sums[--count] = node;
    sums[--count] = node;
    for (uint32_t i = count; i < MOST; ++i) {
        const bool first = i == count;
        if (!add_term(arena, turns, first ? sums[i] : sums[i]->arg[1], !first && sums[i]->op == QG_SUB)) return NULL;
    }
    return turns;
}

/* ---- integers ---- */

static uint32_t turns_of_runs(const qg_ir *ir, uint64_t runs) {
    uint32_t turns = 0;
    for (uint32_t run = 0; run < 64; ++run)
        if (runs >> run & 1) turns |= 1u << turn_of_run(ir, run);
    return turns;
}

static uint32_t turns_of_quad(const qg_ir *ir, uint32_t quad) {
    uint32_t turns = 0;
    for (uint32_t i = 0; i < 4; ++i) turns |= 1u << turn_of_run(ir, ir->x_quads[quad].element[i] / QG_MAX_LANES);
    return turns;
}

/* A sum of x is taken where the last of its runs is. */
static uint32_t turn_bit_of_sum(const qg_ir *ir, uint32_t sum) {
    return 1u << turn_of_run(ir, last_of(ir->x_sums[sum]));
}

/* The turns of the x that something is made of, a bit each. */
static uint32_t turns_of(const qg_ir *ir, const qg_node *node) {
    uint32_t turns = 0;
    if (node->op == QG_X_SUM) return turn_bit_of_sum(ir, (uint32_t)node->integer);
    if (node->op == QG_X_DIGITS) return turns_of_runs(ir, ir->x_digits[node->integer]);
    if (node->op == QG_DOT4) {
        const uint32_t words = node->arg[0]->lanes; /* at once */
        for (uint32_t i = 0; i < words; ++i) turns |= turns_of_quad(ir, (uint32_t)node->integer * words + i);
    }
    for (uint32_t i = 0; i < node->n_args; ++i) turns |= turns_of(ir, node->arg[i]);
    return turns;
}

/* NULL: nothing; `*whole` is false where something is of several turns, and cannot be taken apart. */
static const qg_node *part_of(qg_arena *arena, const qg_ir *ir, const qg_node *node, uint32_t turn, bool *whole) {
    const uint32_t turns = turns_of(ir, node);
    if (!(turns >> turn & 1)) return NULL;
    if (turns == 1u << turn) return node;
    if (node->op == QG_ONE_STEP) return part_of(arena, ir, node->arg[1], turn, whole);
    const bool sum = node->op == QG_ADD || node->op == QG_SUB;
    if ((!sum && node->op != QG_MUL) || node->kind != QG_K_FLOAT || node->name) {
        *whole = false;
        return node;
    }
    qg_node *copy = QG_NEW(arena, qg_node);
    *copy = *node;
    for (uint32_t i = 0; i < 2; ++i)
        copy->arg[i] = turns_of(ir, node->arg[i]) || sum ? part_of(arena, ir, node->arg[i], turn, whole) : node->arg[i];
    if (copy->arg[0] && copy->arg[1]) return copy;
    *whole &= copy->arg[0] || node->op == QG_ADD; /* products come before what is subtracted */
    return copy->arg[copy->arg[0] ? 0 : 1];
}

const qg_node *qg_part_in_turn(qg_arena *arena, const qg_ir *ir, uint32_t turn) {
    bool whole = true;
    return part_of(arena, ir, ir->outputs[0].node, turn, &whole);
}

/* Whether of `count` things, number `i` of which is of `turns[i]`, each turn has as many, in that order. */
static bool are_in_order(const uint32_t *turns, uint32_t count, uint32_t n_turns) {
    if (count % n_turns != 0) return false;
    for (uint32_t i = 0; i < count; ++i)
        if (turns[i] != 1u << i / (count / n_turns)) return false;
    return true;
}

uint32_t qg_turns_of_integers(const qg_ir *ir) {
    enum { MOST = 64 };
    const uint32_t counts[] = {ir->n_x_quads, ir->n_x_sums, ir->n_x_digits};
    bool whole = ir->n_outputs == 1 && ir->n_x_quads;
    uint32_t n_turns = 0, of[3][MOST];
    for (uint32_t k = 0; k < 3; ++k) whole &= counts[k] <= MOST;
    if (!whole) return 0;
    for (uint32_t left = turns_of(ir, ir->outputs[0].node); left; left >>= 1) ++n_turns;
    if (n_turns > QG_TURNS) return 0;
    for (uint32_t turn = 0; turn < n_turns; ++turn) part_of(ir->arena, ir, ir->outputs[0].node, turn, &whole);
    for (uint32_t i = 0; i < ir->n_x_quads; ++i) of[0][i] = turns_of_quad(ir, i);
    for (uint32_t i = 0; i < ir->n_x_sums; ++i) of[1][i] = turn_bit_of_sum(ir, i);
    for (uint32_t i = 0; i < ir->n_x_digits; ++i) of[2][i] = turns_of_runs(ir, ir->x_digits[i]);
    for (uint32_t k = 0; k < 3; ++k) whole &= are_in_order(of[k], counts[k], n_turns);
    return whole ? n_turns : 0;
}
