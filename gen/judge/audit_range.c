/* Between which numbers an integer lies at a block: from what made it, and from the branches that lead there. */
#include "judge/audit_module.h"

#include <spirv_cross/spirv.h>

enum { MOST_DEPTH = 20, MOST_STEPS = 4000 };

typedef struct search {
    const qg_module *m;
    uint32_t block, steps;
} search;

static const qg_interval UNKNOWN = {false, false, false, 0, 0};

static qg_interval range_at(search *s, uint32_t id, uint32_t depth, bool refine);

static bool is_signed(const qg_module *m, uint32_t type) {
    const qg_instruction *t = m->made[type];
    if (t && t->opcode == SpvOpTypeVector) t = m->made[t->words[2]];
    return t && t->opcode == SpvOpTypeInt && t->words[3];
}

/* UNKNOWN where it might wrap. */
static qg_interval within(const qg_module *m, uint32_t type, qg_interval r) {
    const uint32_t bits = qg_width_of(m, type);
    if (!r.known || bits == 0 || bits > 32) return UNKNOWN;
    const int64_t most = is_signed(m, type) ? (INT64_C(1) << (bits - 1)) - 1 : (INT64_C(1) << bits) - 1;
    const int64_t least = is_signed(m, type) ? -most - 1 : 0;
    return r.low >= least && r.high <= most ? r : UNKNOWN;
}

static qg_interval whole(const qg_module *m, uint32_t type) {
    const uint32_t bits = qg_width_of(m, type);
    if (bits == 0 || bits > 32 || is_signed(m, type)) return UNKNOWN;
    return (qg_interval){true, false, false, 0, (INT64_C(1) << bits) - 1};
}

static qg_interval join(qg_interval a, qg_interval b) {
    if (!a.known || !b.known) return UNKNOWN;
    return (qg_interval){true, false, a.assumed || b.assumed, a.low < b.low ? a.low : b.low,
                         a.high > b.high ? a.high : b.high};
}

static bool is_fixed(qg_interval r) { return r.known && r.low == r.high; }

static int64_t mask_over(int64_t value) {
    int64_t mask = 1;
    while (mask <= value) mask *= 2;
    return mask - 1;
}

static qg_interval of_two(const qg_module *m, uint32_t opcode, uint32_t type, qg_interval a, qg_interval b) {
    const bool natural = a.known && a.low >= 0;
    /* The ends are taken where one operand is fixed, and the operation monotone. */
    qg_interval r = {true, (a.taken && is_fixed(b)) || (b.taken && is_fixed(a)), a.assumed || b.assumed, 0, 0};
    if (r.assumed) r.taken = false;
    const bool taken = r.taken;
    switch (opcode) {
    case SpvOpBitwiseAnd:
        if (is_fixed(b) && natural && b.low == mask_over(b.low) && a.high <= b.low) return a;
        if (is_fixed(a) && b.known && b.low >= 0 && a.low == mask_over(a.low) && b.high <= a.low) return b;
        r.taken = false;
        r.high = natural && b.known && b.low >= 0 ? (a.high < b.high ? a.high : b.high) : natural ? a.high : b.high;
        r.assumed = false;
        return natural || (b.known && b.low >= 0) ? r : UNKNOWN;
    case SpvOpUMod:
    case SpvOpSRem:
    case SpvOpSMod:
        if (opcode == SpvOpUMod && b.known && !is_fixed(b) && b.low >= 0 && b.high > 0)
            return (qg_interval){true, false, b.assumed, 0, b.high - 1};
        if (!is_fixed(b) || b.low <= 0 || (!natural && opcode != SpvOpUMod)) return UNKNOWN;
        if (natural && a.high < b.low) return a;
        return (qg_interval){true, false, b.assumed, 0, b.low - 1};
    default: break;
    }
    if (!a.known || !b.known) return UNKNOWN;
    r.taken = taken;
    switch (opcode) {
    case SpvOpIAdd: r.low = a.low + b.low, r.high = a.high + b.high; break;
    case SpvOpISub: r.low = a.low - b.high, r.high = a.high - b.low; break;
    case SpvOpIMul:
        if (!natural || b.low < 0 || (b.high > 0 && a.high > UINT32_MAX / b.high)) return UNKNOWN;
        r.low = a.low * b.low, r.high = a.high * b.high;
        break;
    case SpvOpUDiv:
    case SpvOpSDiv:
        if (!natural || b.low <= 0) return UNKNOWN;
        r.low = a.low / b.high, r.high = a.high / b.low;
        break;
    case SpvOpShiftRightLogical:
    case SpvOpShiftRightArithmetic:
        if (!natural || b.low < 0 || b.high > 31) return UNKNOWN;
        r.low = a.low >> b.high, r.high = a.high >> b.low;
        break;
    case SpvOpShiftLeftLogical:
        if (!natural || b.low < 0 || b.high > 31 || a.high > (int64_t)UINT32_MAX >> b.high) return UNKNOWN;
        r.low = a.low << b.low, r.high = a.high << b.high;
        break;
    case SpvOpBitwiseOr:
    case SpvOpBitwiseXor:
        if (!natural || b.low < 0) return UNKNOWN;
        r.taken = false, r.high = mask_over(a.high > b.high ? a.high : b.high);
        break;
    default: return UNKNOWN;
    }
    return within(m, type, r);
}

/* ---- what a thread is told ---- */

/* Between its legal values, which the descriptor of a kernel of ours has: what is proven then is so for all of them. */
static qg_interval legal(const qg_module *m, uint32_t constant) {
    qg_interval r = UNKNOWN;
    if (m->fixed && constant < QG_MOST_CONSTANTS && m->fixed[constant] != QG_NOT_FIXED)
        return (qg_interval){true, false, false, m->fixed[constant], m->fixed[constant]};
    for (uint32_t i = 0; m->kernel && i < m->kernel->spec_constant_count; ++i) {
        const qk_spec_constant *c = &m->kernel->spec_constants[i];
        for (uint32_t k = 0; c->id == constant && k < c->legal_count; ++k) {
            if (!r.known) r = (qg_interval){true, false, false, c->legal[k], c->legal[k]};
            if (c->legal[k] < r.low) r.low = c->legal[k];
            if (c->legal[k] > r.high) r.high = c->legal[k];
        }
    }
    return r;
}

static qg_interval of_built_in(const qg_module *m, uint32_t built_in, uint32_t component) {
    const qg_audit *a = m->audit;
    const bool fixed = !a->sized_by_constants;
    const qg_interval size = legal(m, QK_CONSTANT_LOCAL_SIZE_X); /* of ours, the only size that a constant sets */
    const int64_t threads = (int64_t)a->workgroup[0] * a->workgroup[1] * a->workgroup[2];
    const bool number = built_in == SpvBuiltInLocalInvocationId || built_in == SpvBuiltInLocalInvocationIndex ||
                        built_in == SpvBuiltInSubgroupId;
    if (number && !fixed && size.known) return (qg_interval){true, false, false, 0, component ? 0 : size.high - 1};
    switch (built_in) {
    case SpvBuiltInLocalInvocationId:
        if (component > 2 || !fixed || !a->workgroup[component]) return UNKNOWN;
        return (qg_interval){true, true, false, 0, (int64_t)a->workgroup[component] - 1};
    case SpvBuiltInLocalInvocationIndex: return fixed ? (qg_interval){true, true, false, 0, threads - 1} : UNKNOWN;
    case SpvBuiltInWorkgroupSize:
        if (component > 2) return UNKNOWN;
        if (m->fixed && !fixed && size.known && component == 0) return size;
        return (qg_interval){true, fixed, !fixed, a->workgroup[component], a->workgroup[component]};
    case SpvBuiltInSubgroupLocalInvocationId: return (qg_interval){true, false, false, 0, 127};
    case SpvBuiltInSubgroupSize: return (qg_interval){true, false, false, 1, 128};
    case SpvBuiltInSubgroupId: return fixed ? (qg_interval){true, false, false, 0, threads - 1} : UNKNOWN;
    default: return UNKNOWN;
    }
}

static qg_interval of_load(const qg_module *m, const qg_instruction *load, uint32_t component) {
    const qg_instruction *pointer = m->made[load->words[3]];
    const uint32_t base = qg_base_of(m, load->words[3]);
    if (!base || m->built_in[base] == UINT32_MAX) return UNKNOWN;
    uint64_t at = component;
    bool assumed = false;
    if (pointer->opcode != SpvOpVariable && pointer->n_words == 5 &&
        !qg_is_constant(m, pointer->words[4], &at, &assumed))
        return UNKNOWN;
    return of_built_in(m, m->built_in[base], (uint32_t)at);
}

static qg_interval of_phi(search *s, const qg_instruction *phi, uint32_t depth) {
    const uint32_t own = s->block;
    qg_interval all = UNKNOWN;
    bool first = true;
    for (uint32_t k = 3; k + 1 < phi->n_words; k += 2) {
        const qg_instruction *from = s->m->made[phi->words[k]];
        uint64_t step = 0;
        bool assumed = false;
        /* A counter: what it begins with, and more. */
        if (from && from->opcode == SpvOpIAdd && from->words[3] == phi->result &&
            qg_is_constant(s->m, from->words[4], &step, &assumed) && (int32_t)step > 0 && phi->n_words == 7) {
            const qg_interval begin = range_at(s, phi->words[k == 3 ? 5 : 3], depth, false);
            if (!begin.known) return UNKNOWN;
            return (qg_interval){true, false, begin.assumed, begin.low,
                                 is_signed(s->m, phi->type) ? INT32_MAX : UINT32_MAX};
        }
    }
    for (uint32_t k = 3; k + 1 < phi->n_words; k += 2) {
        const uint32_t block = s->m->block_of[phi->words[k + 1]];
        if (block == QG_NO_BLOCK) return UNKNOWN;
        s->block = block;
        const qg_interval one = range_at(s, phi->words[k], depth, true);
        s->block = own;
        if (!one.known) return UNKNOWN;
        all = first ? (qg_interval){true, false, one.assumed, one.low, one.high} : join(all, one);
        first = false;
    }
    return all;
}

static qg_interval of_parts(search *s, const qg_instruction *i, uint32_t depth) {
    qg_interval all = UNKNOWN;
    for (uint32_t k = 3; k < i->n_words; ++k) {
        const qg_interval one = range_at(s, i->words[k], depth, true);
        all = k == 3 ? one : join(all, one);
    }
    return all;
}

/* `a / b` where a branch before has shown that a < b * c: below c. */
static qg_interval of_quotient(search *s, const qg_instruction *i, uint32_t depth) {
    const qg_module *m = s->m;
    for (uint32_t b = s->block, guard = 0; b < m->n_blocks && guard < 64; ++guard) {
        const uint32_t up = m->blocks[b].dominator;
        if (up >= m->n_blocks || up == b) break;
        const qg_instruction *last = m->blocks[up].end - 1;
        const bool holds = last->opcode == SpvOpBranchConditional && m->blocks[b].n_before == 1 &&
                           last->words[2] != last->words[3] && m->blocks[b].label == last->words[2];
        const qg_instruction *c = holds ? m->made[last->words[1]] : NULL;
        const qg_instruction *product =
            c && c->opcode == SpvOpULessThan && c->words[3] == i->words[3] ? m->made[c->words[4]] : NULL;
        b = up;
        if (!product || product->opcode != SpvOpIMul) continue;
        if (product->words[3] != i->words[4] && product->words[4] != i->words[4]) continue;
        const uint32_t factor = product->words[product->words[3] == i->words[4] ? 4 : 3];
        const qg_interval by = range_at(s, i->words[4], depth, true), f = range_at(s, factor, depth, true);
        if (!by.known || !f.known || by.low < 0 || f.low < 0 || f.high < 1) continue;
        if (by.high > 0 && f.high > UINT32_MAX / by.high) continue; /* the product may wrap */
        return (qg_interval){true, false, by.assumed || f.assumed, 0, f.high - 1};
    }
    return UNKNOWN;
}

/* `a / b * b` is no more than a, for whatever b. */
static qg_interval of_multiple(search *s, const qg_instruction *i, uint32_t depth) {
    for (uint32_t k = 3; k < 5; ++k) {
        const qg_instruction *part = s->m->made[i->words[k]];
        if (!part || part->opcode != SpvOpUDiv || part->words[4] != i->words[7 - k]) continue;
        const qg_interval a = range_at(s, part->words[3], depth, true);
        if (a.known && a.low >= 0) return (qg_interval){true, false, a.assumed, 0, a.high};
    }
    return UNKNOWN;
}

static qg_interval of_instruction(search *s, const qg_instruction *i, uint32_t depth) {
    const qg_module *m = s->m;
    switch (i->opcode) {
    case SpvOpConstantComposite:
    case SpvOpSpecConstantComposite:
    case SpvOpCompositeConstruct: return of_parts(s, i, depth);
    case SpvOpLoad:
        if (m->kept[i->words[3]]) return range_at(s, m->kept[i->words[3]], depth, false);
        return of_load(m, i, 0);
    case SpvOpCompositeExtract: {
        const qg_instruction *of = m->made[i->words[3]];
        if (i->n_words == 5 && of->opcode == SpvOpLoad) return of_load(m, of, i->words[4]);
        if (i->n_words == 5 && i->words[4] + 3 < of->n_words &&
            (of->opcode == SpvOpConstantComposite || of->opcode == SpvOpCompositeConstruct) &&
            m->made[of->type]->words[3] + 3 == of->n_words)
            return range_at(s, of->words[3 + i->words[4]], depth, true);
        return i->n_words == 5 && of->opcode == SpvOpBitwiseAnd ? range_at(s, i->words[3], depth, true) : UNKNOWN;
    }
    case SpvOpCopyObject:
    case SpvOpBitcast:
    case SpvOpUConvert:
    case SpvOpSConvert: {
        const qg_interval r = within(m, i->type, range_at(s, i->words[3], depth, true));
        return r.known && r.low >= 0 ? r : UNKNOWN;
    }
    case SpvOpIMul: {
        const qg_interval r = of_two(m, i->opcode, i->type, range_at(s, i->words[3], depth, true),
                                     range_at(s, i->words[4], depth, true)),
                          multiple = of_multiple(s, i, depth);
        return multiple.known && (!r.known || multiple.high < r.high) ? multiple : r;
    }
    case SpvOpUDiv: {
        const qg_interval r = of_quotient(s, i, depth);
        return r.known ? r
                       : of_two(m, i->opcode, i->type, range_at(s, i->words[3], depth, true),
                                range_at(s, i->words[4], depth, true));
    }
    case SpvOpSelect: return join(range_at(s, i->words[4], depth, true), range_at(s, i->words[5], depth, true));
    case SpvOpPhi: return of_phi(s, i, depth);
    case SpvOpBitFieldUExtract: {
        const qg_interval bits = range_at(s, i->words[5], depth, true);
        if (!bits.known || bits.low < 0 || bits.high > 31) return UNKNOWN;
        return (qg_interval){true, false, bits.assumed, 0, (INT64_C(1) << bits.high) - 1};
    }
    case SpvOpExtInst: {
        if (i->n_words < 7 || (i->words[4] != 38 && i->words[4] != 39)) return UNKNOWN; /* UMin, SMin */
        const qg_interval a = range_at(s, i->words[5], depth, true), b = range_at(s, i->words[6], depth, true);
        if (a.known && b.known)
            return (qg_interval){true, false, a.assumed || b.assumed, a.low < b.low ? a.low : b.low,
                                 a.high < b.high ? a.high : b.high};
        return UNKNOWN;
    }
    default:
        return i->n_words == 5 ? of_two(m, i->opcode, i->type, range_at(s, i->words[3], depth, true),
                                        range_at(s, i->words[4], depth, true))
                               : UNKNOWN;
    }
}

/* ---- branches ---- */

static void clamp(qg_interval *r, qg_interval by, bool above, bool strictly) {
    if (!by.known) return;
    if (above && (!r->known || by.low + strictly > r->low)) {
        if (!r->known) return;
        r->low = by.low + strictly;
        r->taken = false;
        r->assumed |= by.assumed;
    }
    if (!above && r->known && by.high - strictly < r->high) {
        r->high = by.high - strictly;
        r->taken = false;
        r->assumed |= by.assumed;
    }
}

static void refine_by(search *s, qg_interval *r, uint32_t id, uint32_t condition, bool holds, uint32_t depth) {
    const qg_instruction *c = s->m->made[condition];
    if (!c || depth > MOST_DEPTH) return;
    if (c->opcode == SpvOpLogicalNot) {
        refine_by(s, r, id, c->words[3], !holds, depth + 1);
        return;
    }
    if (c->opcode == (holds ? SpvOpLogicalAnd : SpvOpLogicalOr)) {
        refine_by(s, r, id, c->words[3], holds, depth + 1);
        refine_by(s, r, id, c->words[4], holds, depth + 1);
        return;
    }
    if (c->n_words != 5 || (c->words[3] != id && c->words[4] != id)) return;
    const bool left = c->words[3] == id;
    bool less, strictly;
    switch (c->opcode) {
    case SpvOpULessThan:
    case SpvOpSLessThan: less = true, strictly = true; break;
    case SpvOpULessThanEqual:
    case SpvOpSLessThanEqual: less = true, strictly = false; break;
    case SpvOpUGreaterThan:
    case SpvOpSGreaterThan: less = false, strictly = true; break;
    case SpvOpUGreaterThanEqual:
    case SpvOpSGreaterThanEqual: less = false, strictly = false; break;
    case SpvOpIEqual:
        if (holds) {
            const qg_interval by = range_at(s, c->words[left ? 4 : 3], depth + 1, false);
            clamp(r, by, true, false);
            clamp(r, by, false, false);
        }
        return;
    default: return;
    }
    if (!left) less = !less;
    if (!holds) less = !less, strictly = !strictly;
    clamp(r, range_at(s, c->words[left ? 4 : 3], depth + 1, false), !less, strictly);
}

static void refine_by_branches(search *s, qg_interval *r, uint32_t id, uint32_t depth) {
    const qg_module *m = s->m;
    for (uint32_t b = s->block, guard = 0; b < m->n_blocks && guard < 64; ++guard) {
        const uint32_t up = m->blocks[b].dominator;
        if (up >= m->n_blocks || up == b) return;
        const qg_instruction *last = m->blocks[up].end - 1;
        if (last->opcode == SpvOpBranchConditional && m->blocks[b].n_before == 1 && last->words[2] != last->words[3]) {
            const uint32_t label = m->blocks[b].label;
            if (label == last->words[2] || label == last->words[3])
                refine_by(s, r, id, last->words[1], label == last->words[2], depth);
        }
        b = up;
    }
}

static qg_interval range_at(search *s, uint32_t id, uint32_t depth, bool refine) {
    const qg_module *m = s->m;
    const qg_instruction *i = id < m->bound ? m->made[id] : NULL;
    uint64_t value = 0;
    bool assumed = false;
    if (!i || depth > MOST_DEPTH || ++s->steps > MOST_STEPS) return UNKNOWN;
    if (m->kernel && i->opcode == SpvOpSpecConstant) {
        const qg_interval r = legal(m, qg_decoration(m, id, UINT32_MAX, SpvDecorationSpecId, UINT32_MAX));
        if (r.known) return r;
    }
    if (m->kernel && !m->fixed && i->opcode == SpvOpSpecConstantOp && i->n_words == 6) {
        const qg_interval r = of_two(m, i->words[3], i->type, range_at(s, i->words[4], depth + 1, false),
                                     range_at(s, i->words[5], depth + 1, false));
        if (r.known) return r;
    }
    if (qg_is_constant(m, id, &value, &assumed)) {
        const int64_t v = is_signed(m, i->type) ? (int32_t)value : (int64_t)value;
        return (qg_interval){true, !assumed, assumed, v, v};
    }
    qg_interval r = of_instruction(s, i, depth + 1);
    if (!r.known && i->type) r = whole(m, i->type);
    if (refine) refine_by_branches(s, &r, id, depth + 1);
    return r;
}

qg_interval qg_interval_of(const qg_module *m, uint32_t id, uint32_t block) {
    search s = {m, block, 0};
    return range_at(&s, id, 0, true);
}

bool qg_is_under_constant(const qg_module *m, uint32_t block) {
    for (uint32_t b = block, guard = 0; b < m->n_blocks && guard < 4096; ++guard) {
        const uint32_t up = m->blocks[b].dominator;
        if (up >= m->n_blocks || up == b) return false;
        const qg_instruction *last = m->blocks[up].end - 1;
        const qg_instruction *c =
            last->opcode == SpvOpBranchConditional || last->opcode == SpvOpSwitch ? m->made[last->words[1]] : NULL;
        uint64_t value;
        bool assumed = false;
        if (c && (qg_is_constant(m, last->words[1], &value, &assumed) || c->opcode == SpvOpSpecConstantOp)) return true;
        b = up;
    }
    return false;
}
