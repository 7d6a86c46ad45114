/* Operands of matrix products from a layout.
 *
 * The unit multiplies 16 rows of 16 values with 16 values of up to 8 right-hand sides. A row belongs to four threads,
 * each of which has four values, in two words of two halves. Which element stands where is free, as long as x stands
 * there, too; so the elements of a thread are the lanes of its tiles, and two that one word gives at once share a word:
 *
 *   word & 0x000F000F      two codes of four bits, as halves that are 2^24 times too small: no conversion
 *
 * Rules distribute and factor of dot.c leave, of a value, sums of scale * codes. All codes with one scale, over the
 * four threads, go into one accumulator; the scale is applied to what comes out. So it must be the same for the four,
 * and tiles are made smaller until it is. What is added to all codes alike needs no product: sums of x are the
 * accumulator's first value, or have a scale of their own. A product is exact in what it multiplies: a value that a
 * half cannot hold has no such kernel. */
#include "matrix.h"
#include "lower.h"

#include <string.h>

enum { MOST_IN_TILE = 64, MOST_IN_STEP = 256, MOST_IN_BLOCK = 512, MOST_RUNS = 64, MOST_CHUNK_BYTES = 184 };

/* ---- accumulators ---- */

/* What one thread brings into an accumulator: a lane of a run, as half of a word, or as a float. */
typedef struct entry {
    uint32_t run, lane;
    float factor;
    const qg_node *word; /* NULL: value */
    uint32_t half;
    const qg_node *value;
    bool taken;
} entry;

typedef struct group {
    uint32_t block;
    const qg_node *scale;
    float coefficient;
    bool halves;
    entry *entries;
    uint32_t count, capacity;
    uint32_t start; /* 1 + a sum of x */
} group;

/* coefficient * scale * (sum of x over runs) of a block. */
typedef struct offset {
    uint32_t block;
    const qg_node *scale;
    float coefficient;
    uint64_t runs;
} offset;

typedef struct builder {
    qg_arena *arena;
    qg_matrix *m;
    qg_ir *ir;
    group *groups;
    uint32_t n_groups, groups_capacity;
    offset *offsets;
    uint32_t n_offsets, offsets_capacity;
    qg_matrix_product *products;
    uint32_t products_capacity;
    qg_matrix_x *x;
    uint32_t x_capacity;
    uint32_t sums_capacity;
    const char *why;
} builder;

static group *group_for(builder *b, uint32_t block, const qg_node *scale, float coefficient, bool halves) {
    for (uint32_t i = 0; i < b->n_groups; ++i) {
        group *g = &b->groups[i];
        if (g->block == block && g->scale == scale && g->coefficient == coefficient && g->halves == halves) return g;
    }
    const group fresh = {.block = block, .scale = scale, .coefficient = coefficient, .halves = halves};
    QG_PUSH(b->arena, b->groups, b->n_groups, b->groups_capacity, fresh);
    return &b->groups[b->n_groups - 1];
}

static void add_offset(builder *b, uint32_t block, const qg_node *scale, float coefficient, uint32_t run) {
    for (uint32_t i = 0; i < b->n_offsets; ++i) {
        offset *o = &b->offsets[i];
        if (o->block != block || o->scale != scale || o->coefficient != coefficient || (o->runs >> run & 1)) continue;
        o->runs |= UINT64_C(1) << run;
        return;
    }
    const offset fresh = {block, scale, coefficient, UINT64_C(1) << run};
    QG_PUSH(b->arena, b->offsets, b->n_offsets, b->offsets_capacity, fresh);
}

static const float SUBNORMAL = 16777216.0f; /* 2^24 */

/* A vector that halves.c takes from masked words. */
static bool add_halves(builder *b, uint32_t block, const qg_product *p) {
    const uint32_t lanes = b->m->plan->lanes;
    qg_halves halves;
    if (!qg_as_halves(b->ir, p->vector, lanes, &halves)) return false;
    group *g = group_for(b, block, p->scale, p->coefficient, true);
    for (uint32_t i = 0; i < lanes; ++i) {
        const qg_node *lane = qg_lane(b->ir, halves.vector, i);
        const entry one = {.run = p->run,
                           .lane = i,
                           .factor = halves.factor[i] / SUBNORMAL,
                           .word = lane->arg[0]->arg[0],
                           .half = (uint32_t)lane->integer};
        QG_PUSH(b->arena, g->entries, g->count, g->capacity, one);
    }
    if (halves.bias != 0) add_offset(b, block, p->scale, -p->coefficient * halves.bias, p->run);
    return true;
}

static bool is_real(const qg_node *node) { return node->op == QG_CONST && node->kind == QG_K_FLOAT; }

/* A vector whose lanes are all multiplied with one constant. */
static const qg_node *common_constant(const qg_node *vector) {
    if (vector->op != QG_VECTOR) return NULL;
    const qg_node *constant = NULL;
    for (uint32_t i = 0; i < vector->n_args; ++i) {
        const qg_node *lane = vector->arg[i];
        if (lane->op != QG_MUL || lane->kind != QG_K_FLOAT || !is_real(lane->arg[1])) return NULL;
        if (constant && lane->arg[1] != constant) return NULL;
        constant = lane->arg[1];
    }
    return constant;
}

/* Takes common factors out of a product of vectors, wherever they stand in it. */
static const qg_node *pull(builder *b, const qg_node *node, qg_product *p) {
    const qg_node *constant = common_constant(node);
    if (constant) {
        const qg_node *lanes[QG_MAX_LANES] = {NULL};
        p->coefficient *= constant->real;
        for (uint32_t i = 0; i < node->n_args; ++i) lanes[i] = node->arg[i]->arg[0];
        return qg_vector(b->ir, lanes, node->n_args);
    }
    if (node->op == QG_SPLAT && !node->arg[0]->moving) node = node->arg[0];
    if (node->lanes == 1 && !node->moving) {
        if (is_real(node))
            p->coefficient *= node->real;
        else
            p->scale = p->scale ? qg_apply(b->ir, QG_MUL, p->scale, node, NULL) : node;
        return NULL;
    }
    if (node->op != QG_MUL || node->kind != QG_K_FLOAT) return node;
    const qg_node *left = pull(b, node->arg[0], p), *right = pull(b, node->arg[1], p);
    return left && right ? qg_apply(b->ir, QG_MUL, left, right, NULL) : left ? left : right;
}

static bool add_product(builder *b, uint32_t block, const qg_product *given) {
    qg_product taken = *given;
    const qg_product *p = &taken;
    if (p->vector) taken.vector = pull(b, p->vector, &taken);
    if (!p->vector) {
        add_offset(b, block, p->scale, p->coefficient, p->run);
        return true;
    }
    if (add_halves(b, block, p)) return true;
    if (!qg_is_half(b->ir, p->vector)) {
        b->why = "a value within a scale is not exact as a half";
        return false;
    }
    group *g = group_for(b, block, p->scale, p->coefficient, false);
    const qg_node *vector = p->vector->op == QG_VECTOR ? p->vector : qg_let(b->ir, p->vector, "values", NULL);
    for (uint32_t i = 0; i < b->m->plan->lanes; ++i) {
        const qg_node *value = p->vector->lanes == 1 ? p->vector : qg_lane(b->ir, vector, i);
        const entry one = {.run = p->run, .lane = i, .factor = 1, .value = value};
        QG_PUSH(b->arena, g->entries, g->count, g->capacity, one);
    }
    return true;
}

/* ---- words ---- */

/* Two halves of one word; where they are halves already, by their bits. */
static const qg_node *packed(qg_ir *ir, const entry *first, const entry *second) {
    if (second && first->value->op == QG_F16_BITS && second->value->op == QG_F16_BITS) {
        const qg_node *low = qg_apply(ir, QG_AND, first->value->arg[0], qg_uint(ir, 0xFFFF), NULL);
        return qg_apply(ir, QG_OR, low, qg_apply(ir, QG_SHL, second->value->arg[0], qg_uint(ir, 16), NULL), NULL);
    }
    const qg_node *parts[] = {first->value, second ? second->value : qg_real(ir, 0)};
    return qg_apply(ir, QG_PACK, qg_vector(ir, parts, 2), NULL, NULL);
}

static void put(qg_matrix_x *x, uint32_t half, const entry *e) {
    x->run[half] = e->run;
    x->lane[half] = e->lane;
    x->factor[half] = e->factor;
}

/* The next word of a group; NULL at its end. */
static const qg_node *next_word(builder *b, group *g, qg_matrix_x *x) {
    entry *first = NULL, *second = NULL;
    for (uint32_t i = 0; i < g->count && !first; ++i)
        if (!g->entries[i].taken) first = &g->entries[i];
    if (!first) return NULL;
    for (uint32_t i = 0; i < g->count && !second; ++i) {
        entry *e = &g->entries[i];
        if (!e->taken && e != first && e->word == first->word && (!first->word || e->half != first->half)) second = e;
    }
    *x = (qg_matrix_x){.factor = {0, 0}};
    first->taken = true;
    if (second) second->taken = true;
    put(x, first->word ? first->half : 0, first);
    if (second) put(x, second->word ? second->half : 1, second);
    return first->word ? first->word : packed(b->ir, first, second);
}

static uint32_t x_words(builder *b, const qg_matrix_x *pair) {
    qg_matrix *m = b->m;
    for (uint32_t i = 0; i + 1 < m->n_x; i += 2)
        if (memcmp(&b->x[i], pair, 2 * sizeof *pair) == 0) return i;
    for (uint32_t i = 0; i < 2; ++i) QG_PUSH(b->arena, b->x, m->n_x, b->x_capacity, pair[i]);
    return m->n_x - 2;
}

static void add_words(builder *b, uint32_t number) {
    for (;;) {
        qg_matrix_x pair[2];
        memset(pair, 0, sizeof pair);
        const qg_node *low = next_word(b, &b->groups[number], &pair[0]);
        if (!low) return;
        const qg_node *high = next_word(b, &b->groups[number], &pair[1]);
        qg_output(b->ir, low, NULL);
        qg_output(b->ir, high ? high : qg_uint(b->ir, 0), NULL);
        const qg_matrix_product product = {number, x_words(b, pair)};
        QG_PUSH(b->arena, b->products, b->m->n_products, b->products_capacity, product);
    }
}

/* ---- the sum ---- */

static uint32_t sum_of(builder *b, uint64_t runs, float coefficient) {
    qg_matrix *m = b->m;
    for (uint32_t i = 0; i < m->n_sums; ++i)
        if (m->sums[i].runs == runs && m->sums[i].coefficient == coefficient) return i;
    const struct qg_matrix_sum sum = {runs, coefficient};
    QG_PUSH(b->arena, m->sums, m->n_sums, b->sums_capacity, sum);
    return m->n_sums - 1;
}

/* A sum of x that has a group's scale is what its accumulator begins with. */
static bool begins_group(builder *b, const offset *o) {
    for (uint32_t i = 0; i < b->n_groups; ++i) {
        group *g = &b->groups[i];
        if (g->block != o->block || g->scale != o->scale || g->start) continue;
        g->start = 1 + sum_of(b, o->runs, o->coefficient / g->coefficient / (g->halves ? SUBNORMAL : 1));
        return true;
    }
    return false;
}

static const qg_node *times(qg_ir *ir, const qg_node *scale, float coefficient, const qg_node *sum) {
    if (coefficient != 1) {
        const qg_node *constant = qg_real(ir, coefficient);
        scale = scale ? qg_apply(ir, QG_MUL, scale, constant, NULL) : constant;
    }
    return scale ? qg_apply(ir, QG_MUL, scale, sum, NULL) : sum;
}

static const qg_node *plus(qg_ir *ir, const qg_node *sum, const qg_node *term) {
    return sum ? qg_apply(ir, QG_ADD, sum, term, NULL) : term;
}

/* All accumulators of halves are 2^24 times too small; where that is all of them, it is made up for at the end. */
static float unit_of(const builder *b) {
    for (uint32_t i = 0; i < b->n_groups; ++i)
        if (!b->groups[i].halves) return 1;
    return SUBNORMAL;
}

static const char *item(builder *b, const char *name, uint32_t number) {
    return qg_format(b->arena, "%s[%u]", name, number);
}

static const qg_node *sum_of_block(builder *b, uint32_t block) {
    qg_ir *ir = b->ir;
    const qg_node *sum = NULL;
    for (uint32_t i = 0; i < b->n_groups; ++i) {
        const group *g = &b->groups[i];
        if (g->block != block) continue;
        const float coefficient = g->coefficient * (g->halves ? SUBNORMAL : 1) / b->m->unit;
        sum = plus(ir, sum, times(ir, g->scale, coefficient, qg_float_arg(ir, item(b, "c", i), 2)));
    }
    for (uint32_t i = 0; i < b->n_offsets; ++i) {
        const offset *o = &b->offsets[i];
        if (o->block != block || begins_group(b, o)) continue;
        const uint32_t number = sum_of(b, o->runs, o->coefficient / b->m->unit);
        sum = plus(ir, sum, times(ir, o->scale, 1, qg_float_arg(ir, item(b, "xs", number), 2)));
    }
    return sum ? sum : qg_splat(ir, qg_real(ir, 0), 2);
}

/* ---- lowering ---- */

static lowering new_lowering(qg_arena *arena, const qg_plan *plan) {
    const qg_layout *layout = plan->layout;
    lowering l = {.ir = qg_ir_new(arena, layout), .plan = plan, .layout = layout};
    l.bases = QG_NEW_ARRAY(arena, const qg_node *, layout->n_buffers);
    for (uint32_t i = 0; i < layout->n_buffers; ++i)
        l.bases[i] = qg_arg(l.ir, qg_format(arena, "%s_at", layout->buffers[i].name), UINT64_C(1) << 24);
    return l;
}

static qg_index run_start(lowering *l, uint32_t tiles, uint32_t run) {
    qg_ir *ir = l->ir;
    const uint32_t n = l->plan->n_runs;
    qg_index tile = qg_index_digit(qg_moving_arg(ir, "t", QG_MATRIX_TEAM), QG_MATRIX_TEAM);
    tile = qg_index_add(ir, tile, qg_index_constant((int64_t)run / n % tiles * QG_MATRIX_TEAM));
    return qg_index_add(ir, qg_tile_start(ir, l->plan, tile, false), qg_index_constant(l->plan->runs[run % n]));
}

static void finish(qg_ir *ir) {
    static const char *const names[] = {"a", "xs", "k", "s", "lane", "g", "b", "stage", "stages", "column", "next"};
    qg_lower_finish(ir, names, sizeof names / sizeof *names);
}

/* One lowering for the operands and one for the sums, of which each leaves away what it does not need. */
static bool build(builder *b) {
    qg_matrix *m = b->m;
    const qg_plan *plan = m->plan;
    const uint32_t tiles = plan->tiles / QG_MATRIX_TEAM, in_block = tiles * plan->n_runs;
    const uint32_t capacity = m->blocks * in_block;
    for (int pass = 0; pass < 2; ++pass) {
        lowering l = new_lowering(b->arena, plan);
        const qg_node **values = QG_NEW_ARRAY(b->arena, const qg_node *, capacity);
        b->ir = l.ir;
        b->n_groups = b->groups_capacity = b->n_offsets = b->offsets_capacity = 0;
        b->groups = NULL;
        b->offsets = NULL;
        for (uint32_t r = 0; r < m->n_runs; ++r) {
            l.block = r / in_block;
            const qg_index start = run_start(&l, tiles, r);
            for (uint32_t i = 0; i < plan->lanes; ++i) l.lanes[i] = qg_index_add(l.ir, start, qg_index_constant(i));
            values[r] = qg_lower_value(&l);
        }
        const qg_product *products;
        const uint32_t count = qg_products_of_runs(l.ir, plan->lanes, m->n_runs, values, &products);
        for (uint32_t i = 0; i < count; ++i)
            if (!add_product(b, products[i].run / in_block, &products[i])) return false;
        m->unit = unit_of(b);
        if (pass == 0) {
            for (uint32_t i = 0; i < b->n_groups; ++i) add_words(b, i);
            m->operands = l.ir;
        } else {
            for (uint32_t i = 0; i < m->blocks; ++i) qg_output(l.ir, sum_of_block(b, i), NULL);
            m->values = l.ir;
        }
        finish(l.ir);
    }
    lowering l = new_lowering(b->arena, plan);
    for (uint32_t r = 0; r < m->n_runs; ++r) {
        qg_index start = run_start(&l, tiles, r);
        start = qg_index_add(l.ir, start, qg_index_constant((int64_t)(r / in_block * plan->layout->elements)));
        qg_output(l.ir, qg_index_node(l.ir, NULL, qg_index_div(l.ir, start, plan->lanes)), NULL);
    }
    finish(l.ir);
    m->places = l.ir;
    m->n_groups = b->n_groups;
    m->products = b->products;
    m->x = b->x;
    uint32_t *start = QG_NEW_ARRAY(b->arena, uint32_t, b->n_groups + 1);
    for (uint32_t i = 0; i < b->n_groups; ++i) start[i] = b->groups[i].start;
    m->start = start;
    return true;
}

/* ---- steps and chunks ---- */

static uint32_t low_bits(uint32_t bytes) { return bytes % 4 == 0 ? 32 : bytes % 2 == 0 ? 16 : 8; }

static void measure_step(qg_matrix *m) {
    const qg_layout *layout = m->plan->layout;
    m->phase_bits = 32;
    m->blocks = 1;
    for (uint32_t i = 0; i < layout->n_buffers; ++i)
        if (low_bits(layout->buffers[i].bytes) < m->phase_bits) m->phase_bits = low_bits(layout->buffers[i].bytes);
    if (32 / m->phase_bits * layout->elements <= MOST_IN_STEP) {
        m->blocks = 32 / m->phase_bits;
        m->phase_bits = 32;
    }
    m->steps = 1;
    const uint32_t elements = m->blocks * layout->elements, bytes = m->blocks * layout->block_bytes;
    while (m->phase_bits == 32 && 2 * m->steps * elements <= MOST_IN_STEP && 2 * m->steps * bytes <= MOST_CHUNK_BYTES)
        m->steps *= 2;
}

static const qg_matrix *try_lanes(qg_arena *arena, const qg_layout *layout, uint32_t lanes, bool phased,
                                  const char **why) {
    qg_plan *plan = qg_plan_runs(arena, layout, lanes, phased, MOST_IN_TILE);
    if (!plan || plan->tiles % QG_MATRIX_TEAM) {
        *why = "no four threads share a block";
        return NULL;
    }
    for (uint32_t i = 0; i < layout->n_buffers; ++i) plan->units[i] = 32;
    plan->staged = true;
    plan->workgroup = 512;
    qg_matrix *m = QG_NEW(arena, qg_matrix);
    m->plan = plan;
    measure_step(m);
    m->n_runs = m->blocks * plan->tiles / QG_MATRIX_TEAM * plan->n_runs;
    if (m->n_runs > MOST_RUNS) {
        *why = "a block has too many runs of elements";
        return NULL;
    }
    builder b = {.arena = arena, .m = m};
    if (build(&b)) return m;
    *why = b.why;
    return NULL;
}

const qg_matrix *qg_matrix_of(qg_arena *arena, const qg_layout *layout, const char **why) {
    if (layout->view != QG_VIEW_BLOCKS) {
        *why = "its blocks do not lie one after the other";
        return NULL;
    }
    if (layout->math != QG_F32) {
        *why = "its values are asked for in narrower arithmetic";
        return NULL;
    }
    if (layout->elements > MOST_IN_BLOCK) {
        *why = qg_format(arena, "its blocks have more than %d elements", MOST_IN_BLOCK);
        return NULL;
    }
    for (uint32_t lanes = QG_MAX_LANES; lanes > 1; lanes /= 2) {
        for (int phased = 1; phased >= 0; --phased) {
            const qg_matrix *m = try_lanes(arena, layout, lanes, phased, why);
            if (m) return m;
        }
    }
    return NULL;
}

char *qg_dump_matrix(qg_arena *arena, const qg_matrix *m) {
    qg_text text = qg_text_new(arena);
    qg_text_printf(&text, "matrix %s: %u blocks a step, %u steps a chunk, %u products of %u accumulators\n",
                   m->plan->layout->name, m->blocks, m->steps, m->n_products, m->n_groups);
    for (uint32_t i = 0; i < m->n_products; ++i) {
        const qg_matrix_product *p = &m->products[i];
        qg_text_printf(&text, "  product %u to accumulator %u, x", i, p->group);
        for (uint32_t w = 0; w < 4; ++w) {
            const qg_matrix_x *x = &m->x[p->x + w / 2];
            if (x->factor[w % 2] == 0)
                qg_text_puts(&text, " -");
            else
                qg_text_printf(&text, " %u.%u*%g", x->run[w % 2], x->lane[w % 2], (double)x->factor[w % 2]);
        }
        qg_text_puts(&text, "\n");
    }
    for (uint32_t i = 0; i < m->n_sums; ++i)
        qg_text_printf(&text, "  sum of x %u: runs 0x%llX times %g\n", i, (unsigned long long)m->sums[i].runs,
                       (double)m->sums[i].coefficient);
    qg_text_puts(&text, "operands:\n");
    qg_text_puts(&text, qg_dump_ir(arena, m->operands));
    qg_text_puts(&text, "values:\n");
    qg_text_puts(&text, qg_dump_ir(arena, m->values));
    return text.data;
}
