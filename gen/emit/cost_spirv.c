/* The count of cost.h from a module: what the compiler left of the text, in the body of the loop
 * that loads the weights.
 *
 * SPIR-V names its loops: a header says where the loop is left. Its body are the blocks that are
 * reached from the header without passing that place. */
#include "emit/cost_spirv.h"
#include "emit/spirv_shrink.h"

#include <string.h>

/* The instructions whose meaning, and not only whose count, matters. */
enum {
    OP_EXT_INST = 12,
    OP_ENTRY_POINT = 15,
    OP_TYPE_INT = 21,
    OP_TYPE_FLOAT = 22,
    OP_TYPE_VECTOR = 23,
    OP_TYPE_ARRAY = 28,
    OP_TYPE_POINTER = 32,
    OP_CONSTANT_COMPOSITE = 44,
    OP_FUNCTION = 54,
    OP_FUNCTION_END = 56,
    OP_FUNCTION_CALL = 57,
    OP_VARIABLE = 59,
    OP_LOAD = 61,
    OP_STORE = 62,
    OP_ACCESS_CHAIN = 65,
    OP_IN_BOUNDS_ACCESS_CHAIN = 66,
    OP_DECORATE = 71,
    OP_DOT = 148,
    OP_SELECT = 169,
    OP_PHI = 245,
    OP_LOOP_MERGE = 246,
    OP_SELECTION_MERGE = 247,
    OP_LABEL = 248,
    OP_BRANCH = 249,
    OP_BRANCH_CONDITIONAL = 250,
    OP_SWITCH = 251
};
enum { DECORATION_BINDING = 33, STORAGE_WORKGROUP = 4, STORAGE_PRIVATE = 6, STORAGE_FUNCTION = 7 };
enum { EXT_UNPACK_HALF = 62, EXT_PACK_HALF = 58, EXT_FMA = 50 };

typedef qg_spirv_instruction instruction;

/* What is known of an id. */
typedef struct known {
    const instruction *made; /* by */
    uint32_t binding;        /* of a variable; UINT32_MAX: none */
    bool table; /* an array of the text: it holds a constant; or one of pairs, which a workgroup has made */
} known;

typedef struct block {
    uint32_t label, function;
    const instruction *first, *end;
    uint32_t merge; /* the label after the loop that it is the header of, or 0 */
    uint32_t join;  /* the same of a selection */
} block;

typedef struct module {
    qg_arena *arena;
    const instruction *items;
    uint32_t count, bound;
    known *ids;
    block *blocks;
    uint32_t n_blocks, blocks_capacity;
    uint32_t *block_of; /* label: index + 1 */
    uint32_t weights;   /* bindings below it are the format's buffers, */
    uint32_t first_table, end_table;
    uint32_t entry; /* function */
    bool pairs;     /* what a workgroup shares is a table of pairs, where weights are summed */
} module;

/* ---- reading ---- */

/* The variable that a pointer leads to. */
static uint32_t variable_of(const module *m, uint32_t pointer) {
    const instruction *made = m->ids[pointer].made;
    while (made && (made->opcode == OP_ACCESS_CHAIN || made->opcode == OP_IN_BOUNDS_ACCESS_CHAIN)) {
        pointer = made->words[3];
        made = m->ids[pointer].made;
    }
    return made && made->opcode == OP_VARIABLE ? pointer : 0;
}

static bool is_constant_array(const module *m, uint32_t id) {
    const instruction *made = m->ids[id].made;
    return made && made->opcode == OP_CONSTANT_COMPOSITE && m->ids[made->type].made->opcode == OP_TYPE_ARRAY;
}

static void note(module *m, const instruction *i) {
    if (i->result) m->ids[i->result].made = i;
    if (i->opcode == OP_DECORATE && i->words[2] == DECORATION_BINDING) m->ids[i->words[1]].binding = i->words[3];
    if (i->opcode == OP_ENTRY_POINT) m->entry = i->words[2];
    if (i->opcode == OP_VARIABLE && i->words[3] == STORAGE_WORKGROUP) m->ids[i->result].table = m->pairs;
    if (i->opcode == OP_VARIABLE && i->n_words > 4) m->ids[i->result].table = is_constant_array(m, i->words[4]);
    if (i->opcode == OP_STORE && is_constant_array(m, i->words[2])) m->ids[variable_of(m, i->words[1])].table = true;
}

static void find_blocks(module *m) {
    uint32_t function = 0;
    m->ids = QG_NEW_ARRAY(m->arena, known, m->bound);
    m->block_of = QG_NEW_ARRAY(m->arena, uint32_t, m->bound);
    for (uint32_t i = 0; i < m->bound; ++i) m->ids[i].binding = UINT32_MAX;
    for (uint32_t at = 0; at < m->count; ++at) {
        const instruction *i = &m->items[at];
        note(m, i);
        if (i->opcode == OP_FUNCTION) function = i->result;
        if (i->opcode == OP_LABEL) {
            const block b = {.label = i->result, .function = function, .first = i, .end = i};
            QG_PUSH(m->arena, m->blocks, m->n_blocks, m->blocks_capacity, b);
            m->block_of[i->result] = m->n_blocks;
        }
        if (i->opcode == OP_FUNCTION_END) function = 0;
        if (!function || !m->n_blocks) continue;
        block *last = &m->blocks[m->n_blocks - 1];
        last->end = i + 1;
        if (i->opcode == OP_LOOP_MERGE) last->merge = i->words[1];
        if (i->opcode == OP_SELECTION_MERGE) last->join = i->words[1];
    }
}

/* ---- what is reached ---- */

static void reach(const module *m, uint32_t label, bool *reached) {
    const uint32_t index = m->block_of[label] - 1;
    if (reached[index]) return;
    reached[index] = true;
    const instruction *last = m->blocks[index].end - 1;
    for (const instruction *i = m->blocks[index].first; i <= last; ++i)
        for (uint32_t b = 0; i->opcode == OP_FUNCTION_CALL && b < m->n_blocks; ++b)
            if (m->blocks[b].function == i->words[3] && (b == 0 || m->blocks[b - 1].function != i->words[3]))
                reach(m, m->blocks[b].label, reached);
    if (last->opcode == OP_BRANCH) reach(m, last->words[1], reached);
    if (last->opcode == OP_BRANCH_CONDITIONAL) {
        reach(m, last->words[2], reached);
        reach(m, last->words[3], reached);
    }
    for (uint32_t w = 2; last->opcode == OP_SWITCH && w < last->n_words; w += 2) reach(m, last->words[w], reached);
}

/* Leaves the blocks that are reached from the entry point. */
static void drop_unreached(module *m) {
    bool *reached = QG_NEW_ARRAY(m->arena, bool, m->n_blocks);
    uint32_t count = 0, first = 0;
    while (first < m->n_blocks && m->blocks[first].function != m->entry) ++first;
    if (first == m->n_blocks) return;
    reach(m, m->blocks[first].label, reached);
    for (uint32_t b = 0; b < m->n_blocks; ++b) {
        m->block_of[m->blocks[b].label] = reached[b] ? count + 1 : 0;
        if (reached[b]) m->blocks[count++] = m->blocks[b];
    }
    m->n_blocks = count;
}

/* ---- bodies of loops ---- */

static void enter(const module *m, uint32_t label, uint32_t merge, bool *in) {
    const uint32_t index = m->block_of[label] - 1;
    if (label == merge || !m->block_of[label] || in[index]) return;
    in[index] = true;
    const instruction *last = m->blocks[index].end - 1;
    if (last->opcode == OP_BRANCH) enter(m, last->words[1], merge, in);
    const uint32_t from = last->opcode == OP_BRANCH_CONDITIONAL ? 2 : last->opcode == OP_SWITCH ? 2 : last->n_words;
    const uint32_t step = last->opcode == OP_SWITCH ? 2 : 1;
    const uint32_t end = last->opcode == OP_BRANCH_CONDITIONAL ? 4 : last->n_words;
    for (uint32_t w = from; w < end; w += step) enter(m, last->words[w], merge, in);
}

static bool loads_weights(const module *m, const instruction *i) {
    return i->opcode == OP_LOAD && m->ids[variable_of(m, i->words[3])].binding < m->weights;
}

static bool function_loads(const module *m, uint32_t function) {
    for (uint32_t b = 0; b < m->n_blocks; ++b) {
        if (m->blocks[b].function != function) continue;
        for (const instruction *i = m->blocks[b].first; i < m->blocks[b].end; ++i)
            if (loads_weights(m, i) || (i->opcode == OP_FUNCTION_CALL && function_loads(m, i->words[3]))) return true;
    }
    return false;
}

/* A load of four words at once. */
static bool loads_four(const module *m, const instruction *i) {
    return loads_weights(m, i) && m->ids[i->type].made->opcode == OP_TYPE_VECTOR;
}

/* Loads of weights, and calls that make some, in the blocks of a function that are `in`. */
static uint32_t loads_in(const module *m, uint32_t function, const bool *in) {
    uint32_t count = 0;
    for (uint32_t b = 0; b < m->n_blocks; ++b) {
        if (m->blocks[b].function != function || (in && !in[b])) continue;
        for (const instruction *i = m->blocks[b].first; i < m->blocks[b].end; ++i)
            count += loads_weights(m, i) || (i->opcode == OP_FUNCTION_CALL && function_loads(m, i->words[3]));
    }
    return count;
}

static uint32_t fours_in(const module *m, const bool *in) {
    uint32_t count = 0;
    for (uint32_t b = 0; b < m->n_blocks; ++b)
        for (const instruction *i = m->blocks[b].first; i < m->blocks[b].end && (!in || in[b]); ++i)
            count += loads_four(m, i);
    return count;
}

/* Whether a body loads so many words of weights, and multiplies none of them. */
static bool only_loads(const module *m, const bool *in, uint32_t words) {
    uint32_t count = 0;
    for (uint32_t b = 0; b < m->n_blocks; ++b)
        for (const instruction *i = m->blocks[b].first; i < m->blocks[b].end && in[b]; ++i) {
            if (i->opcode == OP_DOT) return false;
            count += loads_weights(m, i);
        }
    return count == words;
}

/* The loop that is entered next from a label, or NULL. */
static const block *next_loop(const module *m, uint32_t label) {
    while (label && m->block_of[label]) {
        const block *b = &m->blocks[m->block_of[label] - 1];
        const instruction *last = b->end - 1;
        if (b->merge) return b;
        label = last->opcode == OP_BRANCH ? last->words[1] : 0;
    }
    return NULL;
}

/* Where the loads of a wide tile are made: the smallest body that holds all of those of 16 bytes,
 * or, where there are none, so many of words; and the loop after it, that uses them. */
static bool *loops_of_wide(const module *m, uint32_t words) {
    uint32_t least = UINT32_MAX;
    const block *after = NULL;
    bool *best = NULL;
    for (uint32_t b = 0; b < m->n_blocks; ++b) {
        if (!m->blocks[b].merge) continue;
        bool *in = QG_NEW_ARRAY(m->arena, bool, m->n_blocks);
        uint32_t size = 0;
        enter(m, m->blocks[b].label, m->blocks[b].merge, in);
        for (uint32_t i = 0; i < m->n_blocks; ++i) size += in[i];
        const bool all = words ? only_loads(m, in, words) : fours_in(m, in) == fours_in(m, NULL);
        const block *next = all && size < least ? next_loop(m, m->blocks[b].merge) : NULL;
        if (!next) continue;
        least = size;
        best = in;
        after = next;
    }
    if (best) enter(m, after->label, after->merge, best);
    return best;
}

/* The smallest body that holds all loads of its function; or half of them, where what it has stands
 * there twice: for one right-hand side, and for several. */
static bool *inner_loop(const module *m) {
    bool *best = NULL;
    uint32_t least = UINT32_MAX;
    for (uint32_t b = 0; b < m->n_blocks; ++b) {
        if (!m->blocks[b].merge) continue;
        bool *in = QG_NEW_ARRAY(m->arena, bool, m->n_blocks);
        enter(m, m->blocks[b].label, m->blocks[b].merge, in);
        const uint32_t loads = loads_in(m, m->blocks[b].function, in), all = loads_in(m, m->blocks[b].function, NULL);
        if (!loads || (loads != all && 2 * loads != all)) continue;
        uint32_t size = 0;
        for (uint32_t i = 0; i < m->n_blocks; ++i) size += in[i];
        if (size > least) continue;
        least = size;
        best = in;
    }
    return best;
}

/* ---- counting ---- */

static uint32_t lanes_of(const module *m, uint32_t type) {
    const instruction *made = m->ids[type].made;
    return made->opcode == OP_TYPE_VECTOR ? made->words[3] : 1;
}

static uint32_t scalar_of(const module *m, uint32_t type) {
    const instruction *made = m->ids[type].made;
    return made->opcode == OP_TYPE_VECTOR ? made->words[2] : type;
}

static bool is_float(const module *m, uint32_t type) {
    return m->ids[scalar_of(m, type)].made->opcode == OP_TYPE_FLOAT;
}

static uint32_t bytes_of(const module *m, uint32_t type) {
    const instruction *scalar = m->ids[scalar_of(m, type)].made;
    const bool sized = scalar->opcode == OP_TYPE_INT || scalar->opcode == OP_TYPE_FLOAT;
    return sized ? scalar->words[2] / 8 * lanes_of(m, type) : 0;
}

static void count_load(const module *m, const instruction *i, qg_cost *cost) {
    const known *from = &m->ids[variable_of(m, i->words[3])];
    const bool bound = from->binding >= m->first_table && from->binding < m->end_table;
    if (bound || (from->table && m->ids[i->words[3]].made->opcode != OP_VARIABLE)) cost->counts[QG_COST_LOOKUP] += 1;
    if (!loads_weights(m, i)) return;
    cost->counts[QG_COST_LOAD] += 1;
    cost->loaded += bytes_of(m, i->type);
}

/* The functions of GLSL.std.450. */
static void count_function(const module *m, const instruction *i, qg_cost *cost) {
    const uint32_t lanes = lanes_of(m, i->type);
    switch (i->words[4]) {
    case EXT_UNPACK_HALF:
    case EXT_PACK_HALF: cost->counts[QG_COST_CONVERSION] += 1; return;
    case EXT_FMA: cost->counts[QG_COST_FLOAT] += 2 * lanes; return;
    default: cost->counts[is_float(m, i->type) ? QG_COST_FLOAT : QG_COST_INTEGER] += lanes; return;
    }
}

typedef struct row {
    uint32_t opcode;
    qg_cost_class class;
    uint32_t each;
} row;

static void count_by_row(const module *m, const instruction *i, qg_cost *cost) {
    static const row rows[] = {
#define I(number, name, class, each) {number, QG_COST_##class, each},
#include "emit/cost_spirv.def"
#undef I
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; ++r)
        if (rows[r].opcode == i->opcode) cost->counts[rows[r].class] += rows[r].each * lanes_of(m, i->type);
}

static void count_select(const module *m, const instruction *i, qg_cost *cost) {
    cost->counts[is_float(m, i->type) ? QG_COST_FLOAT : QG_COST_INTEGER] += lanes_of(m, i->type);
}

/* True when a selection ends at the label that no load of weights lies in: a value is chosen there.
 * Another one, say whether there is a row to decode, belongs to the schedule. */
static bool chooses_values(const module *m, uint32_t label) {
    for (uint32_t b = 0; b < m->n_blocks; ++b) {
        if (m->blocks[b].join != label) continue;
        bool *in = QG_NEW_ARRAY(m->arena, bool, m->n_blocks);
        enter(m, m->blocks[b].label, label, in);
        in[b] = false;
        return loads_in(m, m->blocks[b].function, in) == 0;
    }
    return false;
}

static void count_function_body(const module *m, uint32_t function, qg_cost *cost);

static void count(const module *m, const instruction *i, qg_cost *cost) {
    switch (i->opcode) {
    case OP_LOAD: count_load(m, i, cost); return;
    case OP_EXT_INST: count_function(m, i, cost); return;
    case OP_FUNCTION_CALL: count_function_body(m, i->words[3], cost); return;
    case OP_DOT: cost->counts[QG_COST_FLOAT] += 2 * lanes_of(m, m->ids[i->words[3]].made->type) - 1; return;
    case OP_SELECT: count_select(m, i, cost); return;
    default: count_by_row(m, i, cost); return;
    }
}

static void count_block(const module *m, const block *b, qg_cost *cost) {
    const bool chosen = b->first + 1 < b->end && b->first[1].opcode == OP_PHI && chooses_values(m, b->label);
    for (const instruction *i = b->first; i < b->end; ++i) {
        if (chosen && i->opcode == OP_PHI) count_select(m, i, cost);
        count(m, i, cost);
    }
}

static void count_function_body(const module *m, uint32_t function, qg_cost *cost) {
    for (uint32_t b = 0; b < m->n_blocks; ++b)
        if (m->blocks[b].function == function) count_block(m, &m->blocks[b], cost);
}

bool qg_cost_of_spirv(qg_arena *arena, const qg_program *program, const uint32_t *words, size_t bytes, qg_cost *cost,
                      const char **why) {
    const qg_kernel *kernel = program->kernel;
    module m = {.arena = arena, .weights = kernel->layout->n_buffers, .pairs = program->main->plan->pairs};
    m.first_table = m.weights + kernel->family->n_bindings;
    m.end_table = m.first_table;
    for (uint32_t i = 0; i < kernel->layout->n_tables; ++i) m.end_table += kernel->plan->stored[i];
    size_t count;
    const uint32_t *flat = qg_spirv_flatten(arena, words, bytes / 4, &count, why);
    m.items = flat ? qg_spirv_read(arena, flat, count * 4, &m.count, &m.bound, why) : NULL;
    if (!m.items) return false;
    find_blocks(&m);
    drop_unreached(&m);
    const qg_step *wide = program->wide;
    const uint32_t fetched = wide && wide->plan->by_words ? wide->code->fetched->n_words : 0;
    const bool *in = wide ? loops_of_wide(&m, fetched) : inner_loop(&m);
    if (!in) {
        *why = qg_format(arena, "%s: no loop of the SPIR-V holds all loads of weights", kernel->name);
        return false;
    }
    *cost = qg_cost_of_program(program);
    memset(cost->counts, 0, sizeof cost->counts);
    cost->loaded = 0;
    for (uint32_t b = 0; b < m.n_blocks; ++b)
        if (in[b]) count_block(&m, &m.blocks[b], cost);
    return true;
}
