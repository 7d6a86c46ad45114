/* What readers of a sum see: names for what is worth one, and neighbours of one type. No operation changes. */
#include "ir/ir.h"

#include <string.h>

/* Vectors of a tile at most, of two pairs each; bits from one code of a word to the next. */
enum { MOST_PAIRS = 2 * 64, BYTE = 8 };

/* The pair of halves that lanes `first` and `first` + 2 of a vector are. */
static const qg_node *pair_of(const qg_node *vector, uint32_t first) {
    const qg_node *low = vector->arg[first], *high = vector->arg[first + 2];
    const bool lanes = low->op == QG_LANE && low->integer == 0 && high->op == QG_LANE && high->integer == 1;
    return lanes && low->arg[0] == high->arg[0] && low->arg[0]->op == QG_HALVES ? low->arg[0] : NULL;
}

const qg_node *qg_four_codes(const qg_node *vector, const qg_node **mask) {
    if (vector->op != QG_VECTOR || vector->lanes != QG_MAX_LANES) return NULL;
    const qg_node *pairs[] = {pair_of(vector, 0), pair_of(vector, 1)};
    if (!pairs[0] || !pairs[1]) return NULL;
    const qg_node *even = pairs[0]->arg[0], *odd = pairs[1]->arg[0];
    if (even->op != QG_AND || odd->op != QG_AND || even->arg[1] != odd->arg[1] || even->arg[1]->op != QG_CONST)
        return NULL;
    const qg_node *down = odd->arg[0];
    if (down->op != QG_SHR || down->arg[0] != even->arg[0] || down->arg[1]->op != QG_CONST) return NULL;
    if (down->arg[1]->integer != BYTE) return NULL;
    *mask = even->arg[1];
    return even->arg[0];
}

bool qg_is_four_codes(const qg_node *vector) {
    const qg_node *mask;
    return qg_four_codes(vector, &mask) && !pair_of(vector, 0)->name;
}

/* The pairs that vectors of four codes have. */
typedef struct pairs_of_codes {
    const qg_node *pairs[MOST_PAIRS];
    uint32_t count;
} pairs_of_codes;

static bool has(const pairs_of_codes *all, const qg_node *node) {
    for (uint32_t i = 0; i < all->count; ++i)
        if (all->pairs[i] == node) return true;
    return false;
}

static bool find_pairs(const qg_ir *ir, pairs_of_codes *all) {
    const qg_node *mask;
    for (uint32_t i = 0; i < ir->n_nodes; ++i) {
        const qg_node *node = ir->nodes[i];
        if (!node->used || !qg_four_codes(node, &mask)) continue;
        for (uint32_t p = 0; p < 2; ++p) {
            if (has(all, pair_of(node, p))) continue;
            if (all->count == MOST_PAIRS) return false;
            all->pairs[all->count++] = pair_of(node, p);
        }
    }
    return all->count > 0;
}

/* Whether nothing but vectors of four codes has lanes of those pairs. */
static bool are_in_fours(const qg_ir *ir, const pairs_of_codes *all) {
    const qg_node *mask;
    for (uint32_t i = 0; i < ir->n_nodes; ++i) {
        const qg_node *node = ir->nodes[i];
        if (!node->used || qg_four_codes(node, &mask)) continue;
        for (uint32_t a = 0; a < node->n_args; ++a) {
            const qg_node *arg = node->arg[a];
            if (arg->op == QG_LANE && has(all, arg->arg[0])) return false;
            if (node->op != QG_LANE && has(all, arg)) return false;
        }
    }
    return true;
}

/* Four codes of a word have a function in the text, so that their pairs need no names. Where right-hand sides share a
 * tile, the vectors have names: they are made once for all. */
static void name_codes(qg_ir *ir) {
    pairs_of_codes all = {.count = 0};
    const qg_node *mask;
    if (!find_pairs(ir, &all) || !are_in_fours(ir, &all)) return;
    for (uint32_t i = 0; i < ir->n_nodes; ++i) {
        qg_node *node = ir->nodes[i];
        if (has(&all, node)) node->name = NULL;
        if (node->used && !ir->own_units && !node->name && qg_four_codes(node, &mask)) node->name = "values";
    }
}

/* What all words of a four are called that are used; NULL where they have several names, or none. */
static const char *name_of_words(const qg_ir *ir, const qg_node *four) {
    const char *name = NULL;
    for (uint32_t i = 0; i < ir->n_nodes; ++i) {
        const qg_node *node = ir->nodes[i];
        if (!node->used || node->op != QG_LANE || node->arg[0] != four) continue;
        if (!node->name || node->comment || (name && strcmp(node->name, name) != 0)) return NULL;
        name = node->name;
    }
    return name;
}

/* Sixteen bytes that are one field are called like it, and their words are lanes of it. */
static void name_fours(qg_ir *ir) {
    for (uint32_t i = 0; i < ir->n_nodes; ++i) {
        qg_node *four = ir->nodes[i];
        const char *name = four->used && four->op == QG_LOAD_FOUR && four->name ? name_of_words(ir, four) : NULL;
        if (!name) continue;
        four->name = name;
        for (uint32_t l = 0; l < ir->n_nodes; ++l)
            if (ir->nodes[l]->op == QG_LANE && ir->nodes[l]->arg[0] == four) ir->nodes[l]->name = NULL;
    }
}

/* What a shift goes by, without a constant that is added; NULL where that needs no name. */
static const qg_node *shift_of(const qg_node *node) {
    if (!node->used || (node->op != QG_SHR && node->op != QG_SHL)) return NULL;
    const qg_node *by = node->arg[1];
    if (by->op == QG_ADD && !by->name && by->arg[1]->op == QG_CONST) by = by->arg[0];
    return by->lanes == 1 && !by->name && by->op != QG_CONST && by->op != QG_ARG ? by : NULL;
}

/* Where the bits of several codes lie follows from the tile: that is said once. */
static void name_shifts(qg_ir *ir) {
    uint32_t count = 0;
    const qg_node **by = QG_NEW_ARRAY(ir->arena, const qg_node *, ir->n_nodes + 1);
    for (uint32_t i = 0; i < ir->n_nodes; ++i)
        if (shift_of(ir->nodes[i])) by[count++] = shift_of(ir->nodes[i]);
    for (uint32_t i = 0; i < ir->n_nodes; ++i) {
        uint32_t shifts = 0;
        for (uint32_t k = 0; k < count; ++k) shifts += by[k] == ir->nodes[i];
        if (shifts > 1) ir->nodes[i]->name = "shift";
    }
}

void qg_choose_names(qg_ir *ir) {
    name_codes(ir);
    name_fours(ir);
    name_shifts(ir);
}

/* ---- order ---- */

bool qg_rounds_as_written(const qg_node *node) {
    if (node->precise) return true;
    for (uint32_t i = 0; i < node->n_args; ++i)
        if (!node->arg[i]->name && qg_rounds_as_written(node->arg[i])) return true;
    return false;
}

/* Whether two statements may share a line: one declaration, and what is said of both. */
static bool go_together(const qg_ir *ir, const qg_node *a, const qg_node *b) {
    if (a->kind != b->kind || a->lanes != b->lanes || !a->comment != !b->comment) return false;
    if (a->comment && strcmp(a->comment, b->comment) != 0) return false;
    if (qg_is_added_dot(ir, a) != qg_is_added_dot(ir, b)) return false;
    return qg_rounds_as_written(a) == qg_rounds_as_written(b) && (a->op == QG_HALVES) == (b->op == QG_HALVES);
}

/* Whether all that a node is made of stands before. */
static bool is_ready(const qg_node *const *before, uint32_t count, const qg_node *node) {
    for (uint32_t i = 0; i < node->n_args; ++i) {
        const qg_node *arg = node->arg[i];
        bool known = !arg->name || arg->op == QG_ARG;
        for (uint32_t k = 0; k < count && !known; ++k) known = before[k] == arg;
        if (!known || (!arg->name && !is_ready(before, count, arg))) return false;
    }
    return true;
}

/* Whether a node follows from the place of the tile alone. */
static bool is_of_place(const qg_node *node) {
    if (node->kind != QG_K_UINT || node->op == QG_LOAD || node->op == QG_LOAD_FOUR || node->op == QG_LOAD_WIDE ||
        node->op == QG_TABLE)
        return false;
    for (uint32_t i = 0; i < node->n_args; ++i)
        if (!is_of_place(node->arg[i])) return false;
    return true;
}

void qg_gather(qg_ir *ir) {
    const qg_node **order = QG_NEW_ARRAY(ir->arena, const qg_node *, ir->n_statements + 1);
    bool *taken = QG_NEW_ARRAY(ir->arena, bool, ir->n_statements + 1);
    uint32_t places = 0;
    for (uint32_t i = 0; i < ir->n_statements; ++i) {
        taken[i] = is_of_place(ir->statements[i]);
        if (taken[i]) order[places++] = ir->statements[i];
    }
    for (uint32_t count = places; count < ir->n_statements; ++count) {
        uint32_t next = 0, i = 0;
        while (taken[next]) ++next;
        for (; count > places && i < ir->n_statements; ++i)
            if (!taken[i] && go_together(ir, order[count - 1], ir->statements[i]) &&
                is_ready(order, count, ir->statements[i]))
                break;
        if (count > places && i < ir->n_statements) next = i;
        order[count] = ir->statements[next];
        taken[next] = true;
    }
    for (uint32_t i = 0; i < ir->n_statements; ++i) ir->statements[i] = order[i];
}
