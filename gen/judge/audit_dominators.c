/* Which blocks each way passes, from the start of a function and to its end: the iterative algorithm of Cooper, Harvey
 * and Kennedy, on all functions at once. */
#include "judge/audit_module.h"

#include <string.h>

typedef struct graph {
    uint32_t n, root;         /* nodes: blocks, and one more, the root */
    uint32_t *first, *to;     /* edges of node k: to[first[k]] to to[first[k + 1] - 1] */
    uint32_t *order, n_order; /* postorder from the root */
    uint32_t *number;         /* in it; UINT32_MAX: not reached */
} graph;

typedef struct edge {
    uint32_t from, to;
} edge;

static void set_edges(qg_arena *arena, graph *g, const edge *edges, uint32_t count) {
    g->first = QG_NEW_ARRAY(arena, uint32_t, g->n + 2);
    g->to = QG_NEW_ARRAY(arena, uint32_t, count + 1);
    for (uint32_t e = 0; e < count; ++e) g->first[edges[e].from + 1] += 1;
    for (uint32_t k = 0; k < g->n; ++k) g->first[k + 1] += g->first[k];
    uint32_t *at = QG_NEW_ARRAY(arena, uint32_t, g->n + 1);
    memcpy(at, g->first, g->n * sizeof *at);
    for (uint32_t e = 0; e < count; ++e) g->to[at[edges[e].from]++] = edges[e].to;
}

static void walk(graph *g, uint32_t node, bool *seen) {
    seen[node] = true;
    for (uint32_t e = g->first[node]; e < g->first[node + 1]; ++e)
        if (!seen[g->to[e]]) walk(g, g->to[e], seen);
    g->number[node] = g->n_order;
    g->order[g->n_order++] = node;
}

static uint32_t meet(const graph *g, const uint32_t *up, uint32_t a, uint32_t b) {
    while (a != b) {
        while (g->number[a] < g->number[b]) a = up[a];
        while (g->number[b] < g->number[a]) b = up[b];
    }
    return a;
}

/* up[k]: the nearest dominator of node k; UINT32_MAX where it is not reached. */
static uint32_t *dominators(qg_arena *arena, uint32_t n, uint32_t root, const edge *edges, uint32_t count) {
    graph g = {.n = n, .root = root};
    set_edges(arena, &g, edges, count);
    g.order = QG_NEW_ARRAY(arena, uint32_t, n);
    g.number = QG_NEW_ARRAY(arena, uint32_t, n);
    uint32_t *up = QG_NEW_ARRAY(arena, uint32_t, n);
    memset(g.number, 0xff, n * sizeof *up);
    memset(up, 0xff, n * sizeof *up);
    walk(&g, root, QG_NEW_ARRAY(arena, bool, n));
    up[root] = root;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t k = g.n_order; k-- > 0;) {
            const uint32_t from = g.order[k];
            if (up[from] == UINT32_MAX) continue;
            for (uint32_t e = g.first[from]; e < g.first[from + 1]; ++e) {
                const uint32_t to = g.to[e];
                if (to == root) continue;
                const uint32_t met = up[to] == UINT32_MAX ? from : meet(&g, up, up[to], from);
                changed |= met != up[to];
                up[to] = met;
            }
        }
    }
    return up;
}

bool qg_dominates(const qg_module *m, uint32_t a, uint32_t b) {
    while (b != a && b < m->n_blocks && m->blocks[b].dominator != b) b = m->blocks[b].dominator;
    return a == b;
}

void qg_module_dominators(qg_module *m) {
    const uint32_t n = m->n_blocks;
    uint32_t count = 0, back = 0, most = 2 * n;
    for (uint32_t k = 0; k < n; ++k) most += m->blocks[k].n_next;
    edge *down = QG_NEW_ARRAY(m->arena, edge, most + 1), *reverse = QG_NEW_ARRAY(m->arena, edge, most + 1);
    for (uint32_t k = 0; k < n; ++k) {
        const qg_flow_block *b = &m->blocks[k];
        if (k == 0 || m->blocks[k - 1].function != b->function) down[count++] = (edge){n, k};
        if (b->n_next == 0) reverse[back++] = (edge){n, k};
        for (uint32_t e = 0; e < b->n_next; ++e) {
            down[count++] = (edge){k, b->next[e]};
            reverse[back++] = (edge){b->next[e], k};
        }
    }
    const uint32_t *before = dominators(m->arena, n + 1, n, down, count);
    const uint32_t *after = dominators(m->arena, n + 1, n, reverse, back);
    for (uint32_t k = 0; k < n; ++k) {
        m->blocks[k].dominator = before[k] == UINT32_MAX ? n : before[k];
        m->blocks[k].after = after[k] == UINT32_MAX ? n : after[k];
    }
    /* Each thread comes to what stands on each way from the first block of the entry point. */
    for (uint32_t k = 0; k < n; ++k) {
        if (m->blocks[k].function != m->entry || (k && m->blocks[k - 1].function == m->entry)) continue;
        for (uint32_t b = k, guard = 0; b < n && guard <= n; b = m->blocks[b].after, ++guard)
            m->blocks[b].always = true;
    }
}
