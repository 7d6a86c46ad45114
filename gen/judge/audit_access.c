/* Which buffers a module reads and writes, how much of its push constants, whether indices stay inside of arrays, and
 * shifts below the width. */
#include "judge/audit_module.h"

#include <spirv_cross/spirv.h>
#include <string.h>

static bool is_chain(uint32_t opcode) { return opcode == SpvOpAccessChain || opcode == SpvOpInBoundsAccessChain; }

/* Whether what stands at a block is run by some thread of each launch, as far as the module alone says: not where its
 * own constants switch it off. */
static bool is_decided(const qg_module *m, uint32_t block, qg_interval r) {
    return r.known && !r.assumed && !qg_is_under_constant(m, block);
}

/* ---- bindings ---- */

static qg_audit_binding *binding_of(const qg_module *m, uint32_t variable) {
    const uint32_t set = qg_decoration(m, variable, UINT32_MAX, SpvDecorationDescriptorSet, 0);
    const uint32_t binding = qg_decoration(m, variable, UINT32_MAX, SpvDecorationBinding, UINT32_MAX);
    qg_audit *a = m->audit;
    if (binding == UINT32_MAX) return NULL;
    for (uint32_t k = 0; k < a->n_bindings; ++k)
        if (a->bindings[k].set == set && a->bindings[k].binding == binding) return &a->bindings[k];
    const qg_audit_binding b = {set, binding, m->names[variable] ? m->names[variable] : "", false, false};
    QG_PUSH(m->arena, a->bindings, a->n_bindings, a->bindings_capacity, b);
    return &a->bindings[a->n_bindings - 1];
}

static void note_access(const qg_module *m, uint32_t pointer, bool reads, bool writes) {
    const uint32_t base = qg_base_of(m, pointer);
    qg_audit_binding *b = base ? binding_of(m, base) : NULL;
    if (!b) return;
    b->reads |= reads;
    b->writes |= writes;
}

/* Of matrices, loaded and stored as a whole. */
enum { OP_MATRIX_LOAD = 4457, OP_MATRIX_STORE = 4458 };

static void look_at_access(const qg_module *m, const qg_instruction *i) {
    switch (i->opcode) {
    case SpvOpLoad:
    case OP_MATRIX_LOAD: note_access(m, i->words[3], true, false); return;
    case SpvOpStore:
    case OP_MATRIX_STORE: {
        const uint32_t base = qg_base_of(m, i->words[1]);
        m->audit->stores += base && m->made[base]->words[3] == SpvStorageClassStorageBuffer;
        note_access(m, i->words[1], false, true);
        return;
    }
    case SpvOpCopyMemory:
        note_access(m, i->words[1], false, true);
        note_access(m, i->words[2], true, false);
        return;
    case SpvOpArrayLength: note_access(m, i->words[3], false, false); return;
    case SpvOpAtomicLoad: note_access(m, i->words[3], true, false); return;
    case SpvOpAtomicStore: note_access(m, i->words[1], false, true); return;
    default: break;
    }
    if (i->opcode > SpvOpAtomicStore && i->opcode <= SpvOpAtomicXor) note_access(m, i->words[3], true, true);
    if (i->opcode == SpvOpAtomicFAddEXT) note_access(m, i->words[3], true, true);
}

/* ---- push constants ---- */

static void look_at_push(qg_module *m, const qg_instruction *i, uint32_t variable) {
    uint32_t type = m->made[m->made[variable]->type]->words[3];
    uint64_t offset = 0, value = 0;
    for (uint32_t w = 4; w < i->n_words; ++w) {
        const qg_instruction *t = m->made[type];
        bool assumed = false;
        if (!qg_is_constant(m, i->words[w], &value, &assumed)) break;
        if (t->opcode == SpvOpTypeStruct && value + 2 < t->n_words) {
            offset += qg_decoration(m, type, (uint32_t)value, SpvDecorationOffset, 0);
            type = t->words[2 + value];
        } else if (t->opcode == SpvOpTypeArray) {
            offset += value * qg_decoration(m, type, UINT32_MAX, SpvDecorationArrayStride, 0);
            type = t->words[2];
        } else if (t->opcode == SpvOpTypeVector) {
            offset += value * qg_bytes_of(m, t->words[2]);
            type = t->words[2];
        } else {
            break;
        }
    }
    const uint64_t end = offset + qg_bytes_of(m, type);
    if (end > m->push_read) m->push_read = (uint32_t)end;
}

/* ---- arrays ---- */

typedef struct array_use {
    uint32_t variable, all, proven;
    uint64_t length;
    const qg_instruction *first; /* that is not proven */
    uint32_t index;              /* there */
} array_use;

typedef struct access {
    qg_module *m;
    array_use *arrays;
    uint32_t n_arrays, capacity;
} access;

static array_use *use_of(access *a, uint32_t variable, uint64_t length) {
    for (uint32_t k = 0; k < a->n_arrays; ++k)
        if (a->arrays[k].variable == variable && a->arrays[k].length == length) return &a->arrays[k];
    const array_use u = {.variable = variable, .length = length};
    QG_PUSH(a->m->arena, a->arrays, a->n_arrays, a->capacity, u);
    return &a->arrays[a->n_arrays - 1];
}

static const char *kind_of(const qg_module *m, uint32_t variable) {
    const uint32_t storage = m->made[variable]->words[3];
    return storage == SpvStorageClassWorkgroup ? "shared array" : "array";
}

static void look_at_index(access *a, const qg_instruction *i, uint32_t index, uint32_t variable, uint32_t length_id,
                          uint32_t block) {
    qg_module *m = a->m;
    uint64_t length = 0;
    bool assumed = false;
    if (!qg_is_constant(m, length_id, &length, &assumed)) return;
    const qg_interval r = qg_interval_of(m, index, block);
    array_use *u = use_of(a, variable, length);
    u->all += 1;
    if ((assumed || r.assumed || !r.known || r.high >= (int64_t)length) &&
        qg_is_always_inside(m, index, block, length_id)) {
        u->proven += 1;
        return;
    }
    if (r.known && r.low >= 0 && r.high < (int64_t)length) {
        u->proven += !assumed && !r.assumed; /* whatever the constants */
        return;
    }
    const bool never = r.known && r.low >= (int64_t)length, ends = r.taken && m->blocks[block].always;
    if (!assumed && is_decided(m, block, r) && (never || (ends && r.high >= (int64_t)length))) {
        qg_audit_found(
            m, QG_WRONG, "array",
            "%s takes element %lld of the %s %s, which has %llu; make the array larger, or keep the index below %llu",
            qg_where(m, i), (long long)(never ? r.low : r.high), kind_of(m, variable), qg_called(m, variable),
            (unsigned long long)length, (unsigned long long)length);
        return;
    }
    if (u->first) return;
    u->first = i;
    u->index = index;
}

static void walk_chain(access *a, const qg_instruction *i, uint32_t block) {
    const qg_module *m = a->m;
    const uint32_t variable = qg_base_of(m, i->words[3]);
    if (!variable || !m->made[i->words[3]]->type) return;
    const qg_instruction *pointer = m->made[m->made[i->words[3]]->type];
    if (pointer->opcode != SpvOpTypePointer) return;
    uint32_t type = pointer->words[3];
    for (uint32_t w = 4; w < i->n_words; ++w) {
        const qg_instruction *t = m->made[type];
        uint64_t value = 0;
        bool assumed = false;
        if (t->opcode == SpvOpTypeStruct) {
            if (!qg_is_constant(m, i->words[w], &value, &assumed) || value + 2 >= t->n_words) return;
            type = t->words[2 + value];
            continue;
        }
        if (t->opcode == SpvOpTypeArray) look_at_index(a, i, i->words[w], variable, t->words[3], block);
        if (t->n_words < 3) return;
        type = t->words[2];
    }
}

/* ---- products of 32 bits ---- */

static const qg_instruction *product_in(const qg_module *m, uint32_t id, uint32_t block, uint32_t depth) {
    const qg_instruction *i = m->made[id];
    uint64_t value;
    bool assumed = false;
    if (!i || depth > 12 || i->n_words != 5) return NULL;
    if (i->opcode == SpvOpIMul && qg_width_of(m, i->type) == 32 && m->made[i->type]->opcode == SpvOpTypeInt) {
        const qg_interval a = qg_interval_of(m, i->words[3], block), b = qg_interval_of(m, i->words[4], block);
        const bool small =
            a.known && b.known && a.low >= 0 && b.low >= 0 && a.high <= UINT16_MAX && b.high <= UINT16_MAX;
        if (!small && !qg_is_constant(m, i->words[3], &value, &assumed) &&
            !qg_is_constant(m, i->words[4], &value, &assumed))
            return i;
    }
    if (i->opcode != SpvOpIAdd && i->opcode != SpvOpISub && i->opcode != SpvOpIMul &&
        i->opcode != SpvOpShiftLeftLogical)
        return NULL;
    const qg_instruction *found = product_in(m, i->words[3], block, depth + 1);
    return found ? found : product_in(m, i->words[4], block, depth + 1);
}

static void look_at_product(access *a, const qg_instruction *i, uint32_t block) {
    const qg_module *m = a->m;
    const uint32_t variable = qg_base_of(m, i->words[3]);
    if (!variable || m->made[variable]->words[3] != SpvStorageClassStorageBuffer) return;
    const qg_instruction *p = NULL;
    for (uint32_t w = 5; w < i->n_words && !p; ++w) p = product_in(m, i->words[w], block, 0);
    array_use *u = p ? use_of(a, variable, 0) : NULL;
    if (!u) return;
    u->all += 1;
    if (!u->first) u->first = p;
}

static void report_product(const qg_module *m, const array_use *u) {
    qg_audit_found(
        m, QG_NOTE, "wraps",
        "of %s, %u indices are 32-bit products, the first of %s and %s (%s): they wrap from 2^32 elements on; bound "
        "the product, or multiply in 64 bits",
        qg_called(m, u->variable), u->all, qg_called(m, u->first->words[3]), qg_called(m, u->first->words[4]),
        qg_where(m, u->first));
}

/* ---- shifts ---- */

/* A shift whose result is only chosen from, perhaps where it is not taken. */
static bool is_only_chosen(const qg_module *m, uint32_t id) {
    for (uint32_t at = 0; at < m->count; ++at) {
        const qg_instruction *i = &m->items[at];
        if (i->opcode == SpvOpSelect || i->opcode == SpvOpPhi) continue;
        if (i->opcode == SpvOpDecorate || i->opcode == SpvOpName) continue;
        for (uint32_t w = i->result ? 3 : 1; w < i->n_words; ++w)
            if (i->words[w] == id) return false;
    }
    return true;
}

static void look_at_shift(const qg_module *m, const qg_instruction *i, uint32_t block) {
    if (i->opcode != SpvOpShiftLeftLogical && i->opcode != SpvOpShiftRightLogical &&
        i->opcode != SpvOpShiftRightArithmetic)
        return;
    const uint32_t width = qg_width_of(m, i->type);
    const qg_interval r = qg_interval_of(m, i->words[4], block);
    m->audit->shifts.all += 1;
    if (r.known && r.low >= 0 && r.high < width) {
        m->audit->shifts.proven += !r.assumed; /* whatever the constants */
        return;
    }
    const bool never = r.known && r.low >= width, ends = r.taken && m->blocks[block].always;
    if (is_decided(m, block, r) && (never || (ends && r.high >= width)) && !is_only_chosen(m, i->result))
        qg_audit_found(
            m, QG_WRONG, "shift",
            "%s shifts %u bits by %lld, which is not defined; shift by less than %u, or choose the value without "
            "a shift",
            qg_where(m, i), width, (long long)(never ? r.low : r.high), width);
    else if (r.known && (r.high < UINT16_MAX || never))
        qg_audit_found(m, QG_NOTE, "shift",
                       "%s shifts %u bits by %lld to %lld, as far as is known, and %u is not defined", qg_where(m, i),
                       width, (long long)r.low, (long long)r.high, width);
}

/* ---- all of it ---- */

static void report_arrays(const access *a) {
    for (uint32_t k = 0; k < a->n_arrays; ++k) {
        const array_use *u = &a->arrays[k];
        if (!u->length) { /* of a buffer, which has no length here */
            report_product(a->m, u);
            continue;
        }
        const bool shared = a->m->made[u->variable]->words[3] == SpvStorageClassWorkgroup;
        qg_audit_count *count = shared ? &a->m->audit->shared : &a->m->audit->arrays;
        count->all += u->all;
        count->proven += u->proven;
        if (u->first)
            qg_audit_found(a->m, QG_NOTE, "array",
                           "of %u indices of the %s %s, %u are not proven to be below %llu, the first at %s", u->all,
                           kind_of(a->m, u->variable), qg_called(a->m, u->variable), u->all - u->proven,
                           (unsigned long long)u->length, qg_where(a->m, u->first));
    }
}

void qg_audit_access(qg_module *m) {
    access a = {.m = m};
    uint32_t beyond = 0;
    for (uint32_t at = 0; at < m->count && m->items[at].opcode != SpvOpFunction; ++at) {
        const qg_instruction *i = &m->items[at];
        if (i->opcode != SpvOpVariable) continue;
        if (i->words[3] == SpvStorageClassWorkgroup)
            m->audit->shared_bytes += (uint32_t)qg_bytes_of(m, m->made[i->type]->words[3]);
        if (i->words[3] == SpvStorageClassPushConstant && !m->audit->push_declared)
            m->audit->push_declared = (uint32_t)qg_bytes_of(m, m->made[i->type]->words[3]);
        if (i->words[3] == SpvStorageClassStorageBuffer || i->words[3] == SpvStorageClassUniform)
            binding_of(m, i->result);
    }
    for (uint32_t b = 0; b < m->n_blocks; ++b)
        for (const qg_instruction *i = m->blocks[b].first; i < m->blocks[b].end; ++i) {
            if (!m->blocks[b].reached) {
                beyond += i->opcode == SpvOpStore;
                continue;
            }
            look_at_access(m, i);
            look_at_shift(m, i, b);
            if (!is_chain(i->opcode)) continue;
            const uint32_t base = qg_base_of(m, i->words[3]);
            if (base && m->made[base]->words[3] == SpvStorageClassPushConstant) look_at_push(m, i, base);
            walk_chain(&a, i, b);
            look_at_product(&a, i, b);
        }
    report_arrays(&a);
    /* SPIRV-Cross goes by members; of one that is an array, we know which elements. Both include what is read. */
    if (!m->audit->push_used || m->push_read < m->audit->push_used) m->audit->push_used = m->push_read;
    if (beyond) qg_audit_found(m, QG_NOTE, "unreached", "%u stores are never reached; take them out", beyond);
}
