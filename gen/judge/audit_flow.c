/* Barriers in uniform control flow. A value varies where threads of a workgroup may have different ones; a branch on it
 * parts them until the block that each way passes again. Of a function that a parted thread calls, all blocks are
 * parted. */
#include "judge/audit_module.h"

#include <spirv_cross/spirv.h>
#include <string.h>

typedef struct flow {
    qg_module *m;
    bool *varies;              /* by id; of a variable: what is stored in it */
    bool *thread;              /* of these, those made of a thread's number, by integer arithmetic */
    uint32_t *parted;          /* by block: 1 + the block with the branch that parts threads there; 0: none */
    uint32_t *function_parted; /* by id of a function: the same */
    bool changed;
} flow;

static void vary(flow *f, uint32_t id, bool thread) {
    f->changed |= !f->varies[id] || (thread && !f->thread[id]);
    f->varies[id] = true;
    f->thread[id] |= thread;
}

static bool is_number_of_thread(uint32_t built_in) {
    return built_in == SpvBuiltInLocalInvocationId || built_in == SpvBuiltInGlobalInvocationId ||
           built_in == SpvBuiltInLocalInvocationIndex || built_in == SpvBuiltInSubgroupLocalInvocationId ||
           built_in == SpvBuiltInSubgroupId;
}

/* gl_LocalInvocationID.y of a workgroup of one row is 0 in each thread. */
static bool is_one_thread_wide(const flow *f, const qg_instruction *i) {
    const qg_instruction *of = i->opcode == SpvOpCompositeExtract && i->n_words == 5 ? f->m->made[i->words[3]] : NULL;
    const qg_instruction *load = of && of->opcode == SpvOpLoad ? of : i;
    if (load->opcode != SpvOpLoad) return false;
    const qg_instruction *pointer = f->m->made[load->words[3]];
    const uint32_t base = qg_base_of(f->m, load->words[3]);
    if (!base || f->m->audit->sized_by_constants) return false;
    const uint32_t number = f->m->built_in[base];
    uint64_t component = 3;
    bool assumed = false;
    if (of)
        component = i->words[4];
    else if (pointer->opcode != SpvOpVariable && pointer->n_words == 5)
        qg_is_constant(f->m, pointer->words[4], &component, &assumed);
    return (number == SpvBuiltInLocalInvocationId || number == SpvBuiltInGlobalInvocationId) && component < 3 &&
           f->m->audit->workgroup[component] == 1;
}

static bool keeps_thread(uint32_t opcode) {
    switch (opcode) {
    case SpvOpIAdd:
    case SpvOpISub:
    case SpvOpIMul:
    case SpvOpShiftLeftLogical:
    case SpvOpShiftRightLogical:
    case SpvOpUDiv:
    case SpvOpBitcast:
    case SpvOpUConvert:
    case SpvOpSConvert:
    case SpvOpCompositeExtract:
    case SpvOpCopyObject: return true;
    default: return false;
    }
}

static void look_at_load(flow *f, const qg_instruction *i) {
    const qg_module *m = f->m;
    const uint32_t base = qg_base_of(m, i->words[3]);
    const qg_instruction *pointer = m->made[i->words[3]];
    if (!base) {
        vary(f, i->result, false);
        return;
    }
    if (m->built_in[base] != UINT32_MAX) {
        if (is_number_of_thread(m->built_in[base]) && !is_one_thread_wide(f, i)) vary(f, i->result, true);
        return;
    }
    if (f->varies[base]) vary(f, i->result, f->thread[base] && pointer->opcode == SpvOpVariable);
    for (uint32_t k = 4; pointer->opcode != SpvOpVariable && k < pointer->n_words; ++k)
        if (f->varies[pointer->words[k]]) vary(f, i->result, false);
}

static void look_at_store(flow *f, const qg_instruction *i, bool parted) {
    const uint32_t base = qg_base_of(f->m, i->words[1]);
    const uint32_t storage = base ? f->m->made[base]->words[3] : 0;
    if (!base || (storage != SpvStorageClassFunction && storage != SpvStorageClassPrivate)) return;
    if (f->varies[i->words[2]]) vary(f, base, f->thread[i->words[2]]);
    if (parted) vary(f, base, false);
}

static void look_at_call(flow *f, const qg_instruction *i, bool parted, uint32_t by) {
    const qg_module *m = f->m;
    const qg_instruction *p = m->made[i->words[3]];
    if (parted && !f->function_parted[i->words[3]]) {
        f->function_parted[i->words[3]] = by;
        f->changed = true;
    }
    for (uint32_t k = 4; p && k < i->n_words; ++k) {
        do ++p;
        while (p->opcode != SpvOpFunctionParameter && p->opcode != SpvOpFunctionEnd);
        if (p->opcode == SpvOpFunctionEnd) break;
        if (f->varies[i->words[k]]) vary(f, p->result, f->thread[i->words[k]]);
    }
    for (uint32_t b = 0; b < m->n_blocks; ++b) {
        const qg_instruction *last = m->blocks[b].end - 1;
        if (m->blocks[b].function == i->words[3] && last->opcode == SpvOpReturnValue &&
            (f->varies[last->words[1]] || f->parted[b]))
            vary(f, i->result, false);
    }
}

static void look_at(flow *f, const qg_instruction *i, uint32_t block) {
    const uint32_t own = f->parted[block], of_callers = f->function_parted[f->m->blocks[block].function];
    const uint32_t by = own ? own : of_callers;
    if (i->opcode == SpvOpLoad) look_at_load(f, i);
    if (i->opcode == SpvOpStore) look_at_store(f, i, by != 0);
    if (i->opcode == SpvOpFunctionCall) look_at_call(f, i, by != 0, by);
    if (i->opcode == SpvOpLoad || i->opcode == SpvOpFunctionCall) return;
    if (!i->result || i->opcode == SpvOpVariable || i->opcode == SpvOpLabel) return;
    if ((i->opcode >= SpvOpAtomicLoad && i->opcode <= SpvOpAtomicXor) ||
        (i->opcode >= SpvOpGroupNonUniformElect && i->opcode <= SpvOpGroupNonUniformQuadSwap))
        vary(f, i->result, false);
    if (is_one_thread_wide(f, i)) return;
    bool thread = keeps_thread(i->opcode), any = false;
    for (uint32_t w = 3; w < i->n_words; ++w) {
        const uint32_t id = i->words[w];
        if (i->opcode == SpvOpPhi && (w & 1) == 0) continue; /* a label */
        if ((i->opcode == SpvOpCompositeExtract || i->opcode == SpvOpExtInst) && w > 3 &&
            !(i->opcode == SpvOpExtInst && w > 4))
            continue; /* literals */
        if (id >= f->m->bound || !f->varies[id]) continue;
        any = true;
        thread &= f->thread[id];
    }
    if (any) vary(f, i->result, thread);
}

/* ---- branches ---- */

/* Whether both ways are taken by some thread; 0: never, 1: by all that is known here, -1: not decided. */
static int splits(const flow *f, const qg_instruction *c, uint32_t block) {
    if (c->n_words != 5) return -1;
    const qg_interval a = qg_interval_of(f->m, c->words[3], block), b = qg_interval_of(f->m, c->words[4], block);
    if (!a.known || !b.known || a.assumed || b.assumed) return -1;
    const bool ends = (a.taken && b.low == b.high) || (b.taken && a.low == a.high);
    switch (c->opcode) {
    case SpvOpULessThan:
    case SpvOpSLessThan:
    case SpvOpUGreaterThanEqual:
    case SpvOpSGreaterThanEqual:
        if (a.high < b.low || a.low >= b.high) return 0;
        return ends ? 1 : -1;
    case SpvOpULessThanEqual:
    case SpvOpSLessThanEqual:
    case SpvOpUGreaterThan:
    case SpvOpSGreaterThan:
        if (a.high <= b.low || a.low > b.high) return 0;
        return ends ? 1 : -1;
    case SpvOpIEqual:
    case SpvOpINotEqual:
        if (a.high < b.low || a.low > b.high) return 0;
        return ends && (a.low == b.low || a.high == b.high) ? 1 : -1;
    default: return -1;
    }
}

static void part(flow *f, uint32_t block, uint32_t from, uint32_t until, bool *seen) {
    if (block == until || seen[block]) return;
    seen[block] = true;
    if (!f->parted[block]) {
        f->parted[block] = 1 + from;
        f->changed = true;
    }
    for (uint32_t k = 0; k < f->m->blocks[block].n_next; ++k) part(f, f->m->blocks[block].next[k], from, until, seen);
}

static void vary_phis(flow *f, uint32_t block) {
    for (const qg_instruction *i = f->m->blocks[block].first; i < f->m->blocks[block].end; ++i) {
        if (i->opcode != SpvOpPhi) continue;
        for (uint32_t k = 5; k + 1 < i->n_words; k += 2)
            if (i->words[k] != i->words[3]) vary(f, i->result, false);
    }
}

/* What a loop makes that threads leave at different rounds differs behind it. */
static void vary_behind(flow *f, const bool *in) {
    for (uint32_t b = 0; b < f->m->n_blocks; ++b) {
        if (in[b] || !f->m->blocks[b].reached) continue;
        for (const qg_instruction *i = f->m->blocks[b].first; i < f->m->blocks[b].end; ++i)
            for (uint32_t w = 3; i->result && i->opcode != SpvOpPhi && w < i->n_words; ++w) {
                const uint32_t id = i->words[w];
                const uint32_t made = id < f->m->bound ? f->m->block_of[id] : QG_NO_BLOCK;
                if (made != QG_NO_BLOCK && in[made] && f->m->made[id] && f->m->made[id]->type)
                    vary(f, i->result, false);
            }
    }
}

static void look_at_branch(flow *f, uint32_t block) {
    const qg_flow_block *b = &f->m->blocks[block];
    const qg_instruction *last = b->end - 1;
    if ((last->opcode != SpvOpBranchConditional && last->opcode != SpvOpSwitch) || !f->varies[last->words[1]]) return;
    if (b->n_next < 2 || splits(f, f->m->made[last->words[1]], block) == 0) return;
    bool *seen = QG_NEW_ARRAY(f->m->arena, bool, f->m->n_blocks);
    for (uint32_t k = 0; k < b->n_next; ++k) part(f, b->next[k], block, b->after, seen);
    for (uint32_t k = 0; k < f->m->n_blocks; ++k)
        if (seen[k]) vary_phis(f, k);
    if (b->after < f->m->n_blocks) vary_phis(f, b->after);
    if (seen[block]) vary_behind(f, seen);
}

/* ---- barriers ---- */

/* A branch that parts the threads of each launch. */
static bool is_decided(const flow *f, uint32_t block) {
    const qg_instruction *last = f->m->blocks[block].end - 1;
    const qg_instruction *c = f->m->made[last->words[1]];
    if (last->opcode != SpvOpBranchConditional || !c || c->n_words != 5 || !f->m->blocks[block].always) return false;
    return splits(f, c, block) == 1;
}

/* The number of a thread of the launch, beside a push constant: it parts the last workgroup, unless its size divides
 * that. */
static bool is_tail(const flow *f, uint32_t block) {
    const qg_module *m = f->m;
    const qg_instruction *last = m->blocks[block].end - 1, *c = m->made[last->words[1]];
    if (last->opcode != SpvOpBranchConditional || !c || c->n_words != 5 || !m->blocks[block].always) return false;
    for (uint32_t w = 3; w < 5; ++w) {
        const qg_instruction *of = m->made[c->words[7 - w]];
        while (of && of->opcode == SpvOpLoad && m->kept[of->words[3]]) of = m->made[m->kept[of->words[3]]];
        const uint32_t base = of && of->opcode == SpvOpLoad ? qg_base_of(m, of->words[3]) : 0;
        if (strcmp(qg_called(m, c->words[w]), "gl_GlobalInvocationID.x") == 0 && base &&
            m->made[base]->words[3] == SpvStorageClassPushConstant)
            return true;
    }
    return false;
}

/* Whether those that do not come to the barrier do nothing any more: the ways meet at the end. */
static bool leaves(const flow *f, uint32_t block) {
    const uint32_t after = f->m->blocks[block].after;
    if (after >= f->m->n_blocks) return true;
    const qg_flow_block *b = &f->m->blocks[after];
    return b->end - b->first == 2 && b->first[1].opcode == SpvOpReturn;
}

static const char *condition(const flow *f, uint32_t block) {
    static const struct {
        uint32_t opcode;
        const char *text;
    } signs[] = {{SpvOpULessThan, "<"},          {SpvOpSLessThan, "<"},          {SpvOpULessThanEqual, "<="},
                 {SpvOpSLessThanEqual, "<="},    {SpvOpUGreaterThan, ">"},       {SpvOpSGreaterThan, ">"},
                 {SpvOpUGreaterThanEqual, ">="}, {SpvOpSGreaterThanEqual, ">="}, {SpvOpIEqual, "=="},
                 {SpvOpINotEqual, "!="}};
    const qg_instruction *last = f->m->blocks[block].end - 1, *c = f->m->made[last->words[1]];
    for (size_t k = 0; c && k < sizeof signs / sizeof *signs; ++k)
        if (signs[k].opcode == c->opcode)
            return qg_format(f->m->arena, "%s %s %s", qg_called(f->m, c->words[3]), signs[k].text,
                             qg_called(f->m, c->words[4]));
    return qg_called(f->m, last->words[1]);
}

static void look_at_barrier(flow *f, const qg_instruction *i, uint32_t block) {
    qg_module *m = f->m;
    uint64_t scope = 0;
    bool assumed = false;
    uint32_t by = f->parted[block] ? f->parted[block] : f->function_parted[m->blocks[block].function];
    if (qg_is_constant(m, i->words[1], &scope, &assumed) && scope == SpvScopeSubgroup) return;
    m->audit->barriers.all += 1;
    if (!by) {
        m->audit->barriers.proven += 1;
        return;
    }
    by -= 1;
    const char *where = qg_where(m, i), *branch = condition(f, by);
    if (is_decided(f, by) && leaves(f, by))
        qg_audit_found(
            m, QG_WRONG, "barrier",
            "the barrier at %s is not reached by all threads of a workgroup, for some leave before it where %s (%s); "
            "let them skip the work, and not the barrier",
            where, branch, qg_where(m, m->blocks[by].end - 1));
    else if (is_tail(f, by) && leaves(f, by))
        qg_audit_found(
            m, QG_WRONG, "barrier",
            "the barrier at %s is not reached by all threads of the last workgroup, for some leave before it where "
            "%s (%s), unless that is a multiple of %u; let them skip the work, and not the barrier",
            where, branch, qg_where(m, m->blocks[by].end - 1), m->audit->workgroup[0]);
    else if (is_decided(f, by))
        qg_audit_found(m, QG_WRONG, "barrier",
                       "the barrier at %s stands where threads are parted by %s (%s); move it behind the branch", where,
                       branch, qg_where(m, m->blocks[by].end - 1));
    else
        qg_audit_found(
            m, QG_NOTE, "barrier",
            "it is not proven that all threads of a workgroup come to the barrier at %s together: they may be parted "
            "by %s (%s)%s",
            where, branch, qg_where(m, m->blocks[by].end - 1), leaves(f, by) ? ", where some leave before it" : "");
}

void qg_audit_flow(qg_module *m) {
    flow f = {.m = m};
    f.varies = QG_NEW_ARRAY(m->arena, bool, m->bound);
    f.thread = QG_NEW_ARRAY(m->arena, bool, m->bound);
    f.parted = QG_NEW_ARRAY(m->arena, uint32_t, m->n_blocks + 1);
    f.function_parted = QG_NEW_ARRAY(m->arena, uint32_t, m->bound);
    bool barriers = false;
    for (uint32_t at = 0; at < m->count; ++at) barriers |= m->items[at].opcode == SpvOpControlBarrier;
    if (!barriers) return;
    do {
        f.changed = false;
        for (uint32_t b = 0; b < m->n_blocks; ++b) {
            if (!m->blocks[b].reached) continue;
            for (const qg_instruction *i = m->blocks[b].first; i < m->blocks[b].end; ++i) look_at(&f, i, b);
            look_at_branch(&f, b);
        }
    } while (f.changed);
    for (uint32_t b = 0; b < m->n_blocks; ++b)
        for (const qg_instruction *i = m->blocks[b].first; i < m->blocks[b].end && m->blocks[b].reached; ++i)
            if (i->opcode == SpvOpControlBarrier) look_at_barrier(&f, i, b);
}
