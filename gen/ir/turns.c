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
