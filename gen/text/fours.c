/* Codes as bytes, four words at a time, for a text that is read: where four words of codes become bytes in the same
 * way, they are one vector, which meets four words of x. Nothing else is computed than for each alone, and in no other
 * order that a sum of integers could tell. */
#include "text/text.h"

#include <string.h>

enum { WORDS = 4 };

/* Four scalars, and the vector that they are. */
typedef struct zipped {
    const qg_node *lanes[WORDS], *vector;
    qg_node *statement; /* the vector, where the lanes were statements */
    const char *base;   /* what these are called, without a number */
    bool placed;
} zipped;

typedef struct rewriting {
    const qg_ir *ir;
    const qg_node **from, **became; /* for each node of `ir` what it became */
    uint32_t count;
    zipped *vectors;
    uint32_t n_vectors, vectors_capacity;
    zipped *spared; /* those whose lanes something else takes, too: they stay as they are */
    uint32_t n_spared, spared_capacity;
    const qg_node **reached;
    uint32_t n_reached, reached_capacity;
} rewriting;

static qg_node *made(const rewriting *w, qg_node node) {
    qg_node *one = QG_NEW_ARRAY(w->ir->arena, qg_node, 1);
    *one = node;
    one->used = true;
    return one;
}

static bool is_of_lanes(qg_op op) {
    return op == QG_AND || op == QG_OR || op == QG_XOR || op == QG_SHR || op == QG_SHL || op == QG_MUL ||
           op == QG_ADD || op == QG_SUB;
}

static const qg_node *zip(rewriting *w, const qg_node *const lanes[WORDS]);

/* Operands of four operations that are the same, each as a vector, the second also as the scalar that it is of all. */
static bool zip_operands(rewriting *w, const qg_node *const lanes[WORDS], qg_node *vector) {
    for (uint32_t i = 1; i < WORDS; ++i)
        if (lanes[i]->op != lanes[0]->op || lanes[i]->kind != lanes[0]->kind) return false;
    for (uint32_t a = 0; a < lanes[0]->n_args; ++a) {
        const qg_node *operands[WORDS];
        for (uint32_t i = 0; i < WORDS; ++i) operands[i] = lanes[i]->arg[a];
        vector->arg[a] = zip(w, operands);
        if (operands[0]->op == QG_CONST && vector->arg[a] && vector->arg[a]->lanes > 1) return false;
        if (!vector->arg[a] || (a == 0 && vector->arg[a]->lanes != WORDS)) return false;
    }
    return true;
}

/* Whether all are there before they are a vector: loads, lanes, numbers, statements. */
static bool are_leaves(const qg_node *const lanes[WORDS]) {
    for (uint32_t i = 0; i < WORDS; ++i) {
        const qg_op op = lanes[i]->op;
        if (lanes[i]->kind != QG_K_UINT || lanes[i]->lanes != 1) return false;
        if (!lanes[i]->name && op != QG_LOAD && op != QG_LANE && op != QG_CONST) return false;
    }
    return true;
}

static bool are_lanes_of_one(const qg_node *const lanes[WORDS]) {
    for (uint32_t i = 0; i < WORDS; ++i)
        if (lanes[i]->op != QG_LANE || lanes[i]->name || lanes[i]->arg[0] != lanes[0]->arg[0] || lanes[i]->integer != i)
            return false;
    return lanes[0]->arg[0]->lanes == WORDS && lanes[0]->arg[0]->kind == QG_K_UINT;
}

static bool is_spared(const rewriting *w, const qg_node *const lanes[WORDS]) {
    for (uint32_t i = 0; i < w->n_spared; ++i)
        if (memcmp(w->spared[i].lanes, lanes, sizeof w->spared[i].lanes) == 0) return true;
    for (uint32_t i = 0; i < WORDS; ++i)
        for (uint32_t k = 0; k < i; ++k)
            if (lanes[i] == lanes[k]) return true;
    return false;
}

static const qg_node *remember(rewriting *w, const qg_node *const lanes[WORDS], qg_node *vector) {
    zipped one = {.vector = vector};
    bool named = true;
    for (uint32_t i = 0; i < WORDS; ++i) {
        one.lanes[i] = lanes[i];
        named &= lanes[i]->name != NULL;
    }
    if (named) {
        size_t length = strlen(lanes[0]->name);
        while (length > 1 && lanes[0]->name[length - 1] >= '0' && lanes[0]->name[length - 1] <= '9') --length;
        one.base = qg_strndup(w->ir->arena, lanes[0]->name, length);
        one.statement = vector;
        vector->name = lanes[0]->name;
        vector->comment = lanes[0]->comment;
    }
    QG_PUSH(w->ir->arena, w->vectors, w->n_vectors, w->vectors_capacity, one);
    return vector;
}

/* Four scalars as one vector, or as the scalar that all of them are; NULL: they are too different. */
static const qg_node *zip(rewriting *w, const qg_node *const lanes[WORDS]) {
    bool same = true;
    for (uint32_t i = 1; i < WORDS; ++i) same &= lanes[i] == lanes[0];
    if (same) return lanes[0];
    if (are_lanes_of_one(lanes)) return lanes[0]->arg[0];
    for (uint32_t i = 0; i < w->n_vectors; ++i)
        if (memcmp(w->vectors[i].lanes, lanes, sizeof w->vectors[i].lanes) == 0) return w->vectors[i].vector;
    qg_node vector = {.op = lanes[0]->op, .kind = QG_K_UINT, .lanes = WORDS, .n_args = lanes[0]->n_args};
    const bool taken_apart = lanes[0]->kind == QG_K_UINT && is_of_lanes(lanes[0]->op) && !is_spared(w, lanes);
    if (taken_apart && zip_operands(w, lanes, &vector)) return remember(w, lanes, made(w, vector));
    if (!are_leaves(lanes)) return NULL;
    vector.op = QG_VECTOR;
    vector.n_args = WORDS;
    for (uint32_t i = 0; i < WORDS; ++i) vector.arg[i] = lanes[i];
    return made(w, vector);
}

/* ---- sums ---- */

typedef struct terms {
    const qg_node **items;
    uint32_t count, capacity;
} terms;

static void add_terms(rewriting *w, const qg_node *node, terms *all) {
    if (node->op == QG_ADD && !node->name) {
        add_terms(w, node->arg[0], all);
        add_terms(w, node->arg[1], all);
    } else {
        QG_PUSH(w->ir->arena, all->items, all->count, all->capacity, node);
    }
}

/* The term that has that word of x, with codes of that kind, from `first` on. */
static uint32_t term_of(const terms *all, uint32_t first, int64_t quad, const qg_node *like) {
    for (uint32_t i = first; i < all->count; ++i) {
        const qg_node *one = all->items[i];
        if (one && one->op == QG_DOT4 && one->integer == quad && one->ref == like->ref &&
            one->arg[0]->kind == like->arg[0]->kind)
            return i;
    }
    return UINT32_MAX;
}

/* Puts one term in the place of four, the first of which is number `at`; false where there are not four. */
static bool join_terms(rewriting *w, terms *all, uint32_t at) {
    const qg_node *first = all->items[at], *lanes[WORDS];
    uint32_t places[WORDS];
    if (first->op != QG_DOT4 || first->integer % WORDS || first->arg[0]->kind != QG_K_UINT) return false;
    for (uint32_t i = 0; i < WORDS; ++i) {
        places[i] = term_of(all, at, first->integer + i, first);
        if (places[i] == UINT32_MAX) return false;
        lanes[i] = all->items[places[i]]->arg[0];
    }
    qg_node joined = *first;
    joined.arg[0] = zip(w, lanes);
    joined.integer = first->integer / WORDS;
    if (!joined.arg[0] || joined.arg[0]->lanes != WORDS) return false;
    for (uint32_t i = 1; i < WORDS; ++i) all->items[places[i]] = NULL;
    all->items[at] = made(w, joined);
    return true;
}

static const qg_node *became(rewriting *w, const qg_node *node);

static bool is_joined(const qg_node *term) { return term->op == QG_DOT4 && term->arg[0]->lanes == WORDS; }

static const qg_node *sum_of_terms(rewriting *w, const qg_node *node) {
    terms all = {.count = 0};
    const qg_node *sum = NULL;
    bool any = false;
    add_terms(w, node, &all);
    for (uint32_t i = 0; i < all.count; ++i)
        if (all.items[i]) any |= join_terms(w, &all, i);
    for (uint32_t i = 0; i < all.count; ++i) {
        const qg_node *term = all.items[i];
        if (!term) continue;
        term = became(w, term);
        qg_node both = {.op = QG_ADD, .kind = QG_K_INT, .lanes = 1, .n_args = 2, .arg = {sum, term}};
        if (is_joined(term)) { /* begins with the sum before, as the instruction does */
            both = *term;
            both.n_args = 2;
            both.arg[1] = sum ? sum : made(w, (qg_node){.op = QG_CONST, .kind = QG_K_INT, .lanes = 1});
        }
        sum = sum || is_joined(term) ? made(w, both) : term;
        any |= term != all.items[i];
    }
    return any ? sum : node;
}

static const qg_node *became(rewriting *w, const qg_node *node) {
    for (uint32_t i = 0; i < w->count; ++i)
        if (w->from[i] == node) return w->became[i];
    const qg_node *result = node;
    if (node->op == QG_ADD && node->kind == QG_K_INT && !node->name) {
        result = sum_of_terms(w, node);
    } else {
        qg_node other = *node;
        bool differs = false;
        for (uint32_t i = 0; i < node->n_args; ++i) {
            other.arg[i] = became(w, node->arg[i]);
            differs |= other.arg[i] != node->arg[i];
        }
        if (differs) result = made(w, other);
    }
    for (uint32_t i = 0; i < w->ir->n_nodes; ++i) {
        if (w->ir->nodes[i] != node) continue;
        w->from[w->count] = node;
        w->became[w->count++] = result;
        break;
    }
    return result;
}

/* ---- statements ---- */

static bool is_reached(const rewriting *w, const qg_node *node) {
    for (uint32_t i = 0; i < w->n_reached; ++i)
        if (w->reached[i] == node) return true;
    return false;
}

static void reach(rewriting *w, const qg_node *node) {
    if (is_reached(w, node)) return;
    QG_PUSH(w->ir->arena, w->reached, w->n_reached, w->reached_capacity, node);
    for (uint32_t i = 0; i < node->n_args; ++i) reach(w, node->arg[i]);
}

/* Whether all statements that a node takes are among those. */
static bool is_ready(const qg_ir *ir, const qg_node *node, bool itself) {
    if (!itself && node->name && node->op != QG_ARG) {
        for (uint32_t i = 0; i < ir->n_statements; ++i)
            if (ir->statements[i] == node) return true;
        return false;
    }
    for (uint32_t i = 0; i < node->n_args; ++i)
        if (!is_ready(ir, node->arg[i], false)) return false;
    return true;
}

static void place_vectors(rewriting *w, qg_ir *shown) {
    for (uint32_t i = 0; i < w->n_vectors; ++i) {
        zipped *one = &w->vectors[i];
        if (!one->statement || one->placed || !is_reached(w, one->statement) || !is_ready(shown, one->statement, true))
            continue;
        one->placed = true;
        QG_PUSH(w->ir->arena, shown->statements, shown->n_statements, shown->statements_capacity, one->statement);
    }
}

/* Whether a statement is called `base`, or that with a number, that is none of these vectors. */
static bool is_taken(const rewriting *w, const qg_ir *shown, const char *base) {
    for (uint32_t i = 0; i < shown->n_statements; ++i) {
        const char *name = shown->statements[i]->name;
        bool own = false;
        for (uint32_t k = 0; k < w->n_vectors; ++k) own |= w->vectors[k].statement == shown->statements[i];
        if (!own && strncmp(name, base, strlen(base)) == 0 &&
            !name[strlen(base) + strspn(name + strlen(base), "0123456789")])
            return true;
    }
    return false;
}

/* Vectors are numbered anew. */
static void name_vectors(rewriting *w, const qg_ir *shown) {
    for (uint32_t i = 0; i < w->n_vectors; ++i) {
        uint32_t before = 0, all = 0;
        if (!w->vectors[i].placed || is_taken(w, shown, w->vectors[i].base)) continue;
        for (uint32_t k = 0; k < w->n_vectors; ++k) {
            if (!w->vectors[k].placed || strcmp(w->vectors[k].base, w->vectors[i].base) != 0) continue;
            before += k < i;
            ++all;
        }
        if (all > 1) w->vectors[i].statement->name = qg_format(w->ir->arena, "%s%u", w->vectors[i].base, before);
    }
}

/* Whether some lanes of vectors are wanted as they were, too; those vectors are spared the next time. */
static bool spare_some(rewriting *w) {
    bool any = false;
    for (uint32_t i = 0; i < w->n_vectors; ++i) {
        bool wanted = false;
        if (!w->vectors[i].statement || !is_reached(w, w->vectors[i].statement)) continue;
        for (uint32_t l = 0; l < WORDS; ++l) wanted |= is_reached(w, w->vectors[i].lanes[l]);
        if (!wanted) continue;
        QG_PUSH(w->ir->arena, w->spared, w->n_spared, w->spared_capacity, w->vectors[i]);
        any = true;
    }
    return any;
}

static void rewrite_outputs(rewriting *w, qg_ir *shown) {
    do {
        w->count = w->n_vectors = w->n_reached = 0;
        for (uint32_t i = 0; i < w->ir->n_outputs; ++i) {
            shown->outputs[i] = w->ir->outputs[i];
            shown->outputs[i].node = became(w, w->ir->outputs[i].node);
            reach(w, shown->outputs[i].node);
        }
    } while (spare_some(w));
}

qg_ir *qg_in_fours(const qg_ir *ir) {
    rewriting w = {.ir = ir,
                   .from = QG_NEW_ARRAY(ir->arena, const qg_node *, ir->n_nodes + 1),
                   .became = QG_NEW_ARRAY(ir->arena, const qg_node *, ir->n_nodes + 1)};
    qg_ir *shown = QG_NEW_ARRAY(ir->arena, qg_ir, 1);
    *shown = *ir;
    if (ir->n_x_quads % WORDS) return shown;
    shown->nodes = QG_NEW_ARRAY(ir->arena, qg_node *, ir->n_nodes + 1);
    shown->outputs = QG_NEW_ARRAY(ir->arena, struct qg_output, ir->n_outputs + 1);
    rewrite_outputs(&w, shown);
    for (uint32_t i = 0; i < ir->n_nodes; ++i) {
        shown->nodes[i] = made(&w, *(ir->nodes[i]->used ? became(&w, ir->nodes[i]) : ir->nodes[i]));
        shown->nodes[i]->used = ir->nodes[i]->used;
    }
    shown->statements = NULL;
    shown->n_statements = shown->statements_capacity = 0;
    for (uint32_t i = 0; i < ir->n_statements; ++i) {
        const qg_node *one = became(&w, ir->statements[i]);
        if (!is_reached(&w, one)) continue;
        if (one->lanes != WORDS) place_vectors(&w, shown); /* behind those of the same type */
        QG_PUSH(ir->arena, shown->statements, shown->n_statements, shown->statements_capacity, one);
    }
    place_vectors(&w, shown);
    name_vectors(&w, shown);
    return shown;
}
