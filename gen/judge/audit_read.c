/* A module taken apart: ids, names, functions, blocks, and what is reached. */
#include "judge/audit_module.h"

#include <spirv_cross/spirv.h>
#include <string.h>

void qg_audit_found(const qg_module *m, qg_severity severity, const char *rule, const char *format, ...) {
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    const qg_audit_finding f = {severity, rule,
                                qg_format(m->arena, "%s: %s: %s", m->audit->name, m->audit->entry, text)};
    for (uint32_t i = 0; i < m->audit->n_findings; ++i)
        if (strcmp(m->audit->findings[i].sentence, f.sentence) == 0) return;
    QG_PUSH(m->arena, m->audit->findings, m->audit->n_findings, m->audit->capacity, f);
}

/* ---- decorations ---- */

uint32_t qg_decoration(const qg_module *m, uint32_t id, uint32_t member, uint32_t decoration, uint32_t otherwise) {
    const bool own = member == UINT32_MAX;
    for (uint32_t at = 0; at < m->count; ++at) {
        const qg_instruction *i = &m->items[at];
        if (i->opcode == SpvOpFunction) break;
        if (own ? i->opcode == SpvOpDecorate && i->words[1] == id && i->words[2] == decoration
                : i->opcode == SpvOpMemberDecorate && i->words[1] == id && i->words[2] == member &&
                      i->words[3] == decoration) {
            const uint32_t word = own ? 3 : 4;
            return i->n_words > word ? i->words[word] : 1;
        }
    }
    return otherwise;
}

bool qg_is_decorated(const qg_module *m, uint32_t id, uint32_t decoration) {
    return qg_decoration(m, id, UINT32_MAX, decoration, UINT32_MAX) != UINT32_MAX;
}

/* ---- types and constants ---- */

static bool is_chain(uint32_t opcode) {
    return opcode == SpvOpAccessChain || opcode == SpvOpInBoundsAccessChain || opcode == SpvOpPtrAccessChain ||
           opcode == SpvOpCopyObject;
}

uint32_t qg_base_of(const qg_module *m, uint32_t pointer) {
    for (uint32_t depth = 0; depth < 64 && pointer; ++depth) {
        const qg_instruction *made = m->made[pointer];
        if (!made) return 0;
        if (made->opcode == SpvOpVariable) return pointer;
        if (is_chain(made->opcode))
            pointer = made->words[3];
        else if (made->opcode == SpvOpFunctionParameter)
            pointer = m->argument[pointer];
        else
            return 0;
    }
    return 0;
}

uint32_t qg_width_of(const qg_module *m, uint32_t type) {
    const qg_instruction *t = m->made[type];
    if (t && t->opcode == SpvOpTypeVector) t = m->made[t->words[2]];
    return t && (t->opcode == SpvOpTypeInt || t->opcode == SpvOpTypeFloat) ? t->words[2] : 0;
}

uint64_t qg_bytes_of(const qg_module *m, uint32_t type) {
    const qg_instruction *t = m->made[type];
    uint64_t length = 0, total = 0;
    bool assumed = false;
    if (!t) return 0;
    switch (t->opcode) {
    case SpvOpTypeBool: return 4;
    case SpvOpTypeInt:
    case SpvOpTypeFloat: return t->words[2] / 8;
    case SpvOpTypeVector:
    case SpvOpTypeMatrix: return qg_bytes_of(m, t->words[2]) * t->words[3];
    case SpvOpTypeArray: {
        const uint64_t stride = qg_decoration(m, type, UINT32_MAX, SpvDecorationArrayStride, 0);
        if (!qg_is_constant(m, t->words[3], &length, &assumed)) return 0;
        return length * (stride ? stride : qg_bytes_of(m, t->words[2]));
    }
    case SpvOpTypeStruct:
        for (uint32_t k = 2; k < t->n_words; ++k) {
            const uint32_t at = qg_decoration(m, type, k - 2, SpvDecorationOffset, UINT32_MAX);
            const uint64_t end = (at == UINT32_MAX ? total : at) + qg_bytes_of(m, t->words[k]);
            if (end > total) total = end;
        }
        return total;
    default: return 0;
    }
}

static bool constant_operation(const qg_module *m, const qg_instruction *i, uint64_t *value) {
    uint64_t a = 0, b = 0, c = 0;
    bool assumed = false;
    if (i->n_words < 6 || !qg_is_constant(m, i->words[4], &a, &assumed) ||
        !qg_is_constant(m, i->words[5], &b, &assumed))
        return false;
    const uint32_t x = (uint32_t)a, y = (uint32_t)b;
    switch (i->words[3]) {
    case SpvOpIAdd: *value = x + y; return true;
    case SpvOpISub: *value = x - y; return true;
    case SpvOpIMul: *value = x * y; return true;
    case SpvOpUDiv:
    case SpvOpSDiv: *value = y ? x / y : 0; return y != 0;
    case SpvOpUMod: *value = y ? x % y : 0; return y != 0;
    case SpvOpShiftLeftLogical: *value = y < 32 ? x << y : 0; return y < 32;
    case SpvOpShiftRightLogical: *value = y < 32 ? x >> y : 0; return y < 32;
    case SpvOpBitwiseAnd: *value = x & y; return true;
    case SpvOpBitwiseOr: *value = x | y; return true;
    case SpvOpULessThan: *value = x < y; return true;
    case SpvOpULessThanEqual: *value = x <= y; return true;
    case SpvOpUGreaterThanEqual: *value = x >= y; return true;
    case SpvOpLogicalAnd: *value = x && y; return true;
    case SpvOpLogicalOr: *value = x || y; return true;
    case SpvOpUGreaterThan: *value = x > y; return true;
    case SpvOpIEqual: *value = x == y; return true;
    case SpvOpINotEqual: *value = x != y; return true;
    case SpvOpSelect:
        if (!qg_is_constant(m, i->words[6], &c, &assumed)) return false;
        *value = a ? b : c;
        return true;
    default: return false;
    }
}

/* Of constants, where the module computes it when it runs. */
static bool comparison(const qg_module *m, const qg_instruction *i, uint64_t *value, bool *assumed) {
    uint64_t a, b;
    if (!qg_is_constant(m, i->words[3], &a, assumed) || !qg_is_constant(m, i->words[4], &b, assumed)) return false;
    *value = i->opcode == SpvOpULessThan      ? a < b
             : i->opcode == SpvOpUGreaterThan ? a > b
             : i->opcode == SpvOpIEqual       ? a == b
                                              : a != b;
    return true;
}

/* Scalars: `assumed` is set where the value is that of a specialisation constant. */
bool qg_is_constant(const qg_module *m, uint32_t id, uint64_t *value, bool *assumed) {
    const qg_instruction *i = id < m->bound ? m->made[id] : NULL;
    if (!i) return false;
    switch (i->opcode) {
    case SpvOpSpecConstant:
        if (qg_fixed_value(m, id) != QG_NOT_FIXED) {
            *value = qg_fixed_value(m, id);
            return m->made[i->type]->opcode == SpvOpTypeInt;
        } /* fall through */
    case SpvOpConstant:
        if (i->opcode == SpvOpSpecConstant) *assumed = true;
        *value = i->words[3];
        if (i->n_words > 4) *value |= (uint64_t)i->words[4] << 32;
        return m->made[i->type]->opcode == SpvOpTypeInt;
    case SpvOpSpecConstantTrue:
    case SpvOpSpecConstantFalse: *assumed = true; /* fall through */
    case SpvOpConstantTrue:
    case SpvOpConstantFalse: *value = i->opcode == SpvOpConstantTrue || i->opcode == SpvOpSpecConstantTrue; return true;
    case SpvOpConstantNull: *value = 0; return true;
    case SpvOpSpecConstantOp: *assumed |= !m->fixed; return constant_operation(m, i, value);
    case SpvOpCompositeExtract: { /* of a size of workgroups, say */
        const qg_instruction *of = m->made[i->words[3]];
        return m->fixed && i->n_words == 5 && of && of->opcode == SpvOpSpecConstantComposite &&
               i->words[4] + 3 < of->n_words && qg_is_constant(m, of->words[3 + i->words[4]], value, assumed);
    }
    case SpvOpULessThan:
    case SpvOpUGreaterThan:
    case SpvOpIEqual:
    case SpvOpINotEqual: return m->fixed && comparison(m, i, value, assumed);
    default: return false;
    }
}

/* ---- what ids are called ---- */

static const char *name_of_built_in(uint32_t number) {
    switch (number) {
    case SpvBuiltInNumWorkgroups: return "gl_NumWorkGroups";
    case SpvBuiltInWorkgroupSize: return "gl_WorkGroupSize";
    case SpvBuiltInWorkgroupId: return "gl_WorkGroupID";
    case SpvBuiltInLocalInvocationId: return "gl_LocalInvocationID";
    case SpvBuiltInGlobalInvocationId: return "gl_GlobalInvocationID";
    case SpvBuiltInLocalInvocationIndex: return "gl_LocalInvocationIndex";
    case SpvBuiltInSubgroupSize: return "gl_SubgroupSize";
    case SpvBuiltInNumSubgroups: return "gl_NumSubgroups";
    case SpvBuiltInSubgroupId: return "gl_SubgroupID";
    case SpvBuiltInSubgroupLocalInvocationId: return "gl_SubgroupInvocationID";
    default: return NULL;
    }
}

static const char *member_name(const qg_module *m, uint32_t type, uint32_t member) {
    for (uint32_t at = 0; at < m->count; ++at) {
        const qg_instruction *i = &m->items[at];
        if (i->opcode == SpvOpFunction) break;
        if (i->opcode == SpvOpMemberName && i->words[1] == type && i->words[2] == member)
            return (const char *)(i->words + 3);
    }
    return NULL;
}

static const char *called_pointer(const qg_module *m, uint32_t id) {
    const qg_instruction *i = m->made[id];
    const uint32_t base = qg_base_of(m, id);
    if (!base) return qg_format(m->arena, "%%%u", id);
    const char *own = name_of_built_in(m->built_in[base]);
    const uint32_t number = qg_decoration(m, base, UINT32_MAX, SpvDecorationBinding, UINT32_MAX);
    const bool push = m->made[base]->words[3] == SpvStorageClassPushConstant;
    const char *name = own                                 ? own
                       : m->names[base] && *m->names[base] ? m->names[base]
                       : push                              ? "push constants"
                       : number != UINT32_MAX              ? qg_format(m->arena, "binding %u", number)
                                                           : qg_format(m->arena, "%%%u", base);
    if (i->opcode == SpvOpVariable || i->n_words < 5) return name;
    uint64_t member = 0;
    bool assumed = false;
    if (!qg_is_constant(m, i->words[4], &member, &assumed)) return name;
    const uint32_t type = m->made[m->made[base]->type]->words[3];
    if (own) return qg_format(m->arena, "%s.%c", name, "xyzw"[member & 3]);
    if (m->made[type]->opcode != SpvOpTypeStruct) return name;
    const char *called = member_name(m, type, (uint32_t)member);
    if (called) return qg_format(m->arena, "%s.%s", name, called);
    if (!push) return name;
    return qg_format(m->arena, "the push constant at byte %u",
                     qg_decoration(m, type, (uint32_t)member, SpvDecorationOffset, 0));
}

const char *qg_called(const qg_module *m, uint32_t id) {
    const qg_instruction *i = m->made[id];
    uint64_t value = 0;
    bool assumed = false;
    if (m->names[id] && *m->names[id]) return m->names[id];
    if (!i) return "?";
    if (qg_is_constant(m, id, &value, &assumed) && !assumed)
        return qg_format(m->arena, "%llu", (unsigned long long)value);
    if (i->opcode == SpvOpBitcast || i->opcode == SpvOpUConvert || i->opcode == SpvOpSConvert)
        return qg_called(m, i->words[3]);
    if (i->opcode == SpvOpLoad && m->kept[i->words[3]]) return qg_called(m, m->kept[i->words[3]]);
    if (i->opcode == SpvOpLoad) return called_pointer(m, i->words[3]);
    if (i->opcode == SpvOpVariable || is_chain(i->opcode)) return called_pointer(m, id);
    if (i->opcode == SpvOpCompositeExtract && i->n_words == 5)
        return qg_format(m->arena, "%s.%c", qg_called(m, i->words[3]), "xyzw"[i->words[4] & 3]);
    return qg_format(m->arena, "%%%u", id);
}

const char *qg_where(const qg_module *m, const qg_instruction *i) {
    for (const qg_instruction *at = i; at-- > m->items;) {
        if (at->opcode == SpvOpNoLine || at->opcode == SpvOpLabel || at->opcode == SpvOpFunction) break;
        if (at->opcode != SpvOpLine) continue;
        const qg_instruction *file = m->made[at->words[1]];
        const char *path = file && file->opcode == SpvOpString ? (const char *)(file->words + 2) : "";
        return qg_format(m->arena, "%s:%u", *path ? path : "line", at->words[2]);
    }
    return i->result ? qg_format(m->arena, "%%%u", i->result)
                     : qg_format(m->arena, "instruction %u", (uint32_t)(i - m->items));
}

/* ---- blocks ---- */

static void add_next(qg_module *m, qg_flow_block *b, uint32_t label) {
    const uint32_t to = label < m->bound ? m->block_of[label] : QG_NO_BLOCK;
    if (to == QG_NO_BLOCK) return;
    for (uint32_t k = 0; k < b->n_next; ++k)
        if (b->next[k] == to) return;
    b->next[b->n_next++] = to;
    m->blocks[to].n_before += 1;
}

static void link_blocks(qg_module *m) {
    for (uint32_t k = 0; k < m->n_blocks; ++k) {
        qg_flow_block *b = &m->blocks[k];
        const qg_instruction *last = b->end - 1;
        b->next = QG_NEW_ARRAY(m->arena, uint32_t, last->n_words + 1);
        if (last->opcode == SpvOpBranch) add_next(m, b, last->words[1]);
        if (last->opcode == SpvOpBranchConditional) {
            add_next(m, b, last->words[2]);
            add_next(m, b, last->words[3]);
        }
        const uint32_t literals =
            last->opcode == SpvOpSwitch && qg_width_of(m, m->made[last->words[1]]->type) > 32 ? 2 : 1;
        for (uint32_t w = 2; last->opcode == SpvOpSwitch && w < last->n_words; w += 1 + literals)
            add_next(m, b, last->words[w]);
    }
}

static void find_blocks(qg_module *m) {
    uint32_t function = 0, current = QG_NO_BLOCK;
    for (uint32_t at = 0; at < m->count; ++at) {
        const qg_instruction *i = &m->items[at];
        if (i->opcode == SpvOpFunction) function = i->result;
        if (i->opcode == SpvOpLabel) {
            const qg_flow_block b = {.label = i->result, .function = function, .first = i, .end = i};
            current = m->n_blocks;
            QG_PUSH(m->arena, m->blocks, m->n_blocks, m->blocks_capacity, b);
        }
        if (i->opcode == SpvOpFunctionEnd) current = QG_NO_BLOCK;
        if (current == QG_NO_BLOCK) continue;
        m->blocks[current].end = i + 1;
        if (i->result) m->block_of[i->result] = current;
    }
}

static void note_call(qg_module *m, const qg_instruction *call) {
    const qg_instruction *f = m->made[call->words[3]];
    for (uint32_t k = 4; f && k < call->n_words; ++k) {
        do ++f;
        while (f->opcode != SpvOpFunctionParameter && f->opcode != SpvOpFunctionEnd);
        if (f->opcode == SpvOpFunctionEnd) return;
        m->argument[f->result] = call->words[k];
    }
}

static void reach(qg_module *m, uint32_t block) {
    if (m->blocks[block].reached) return;
    m->blocks[block].reached = true;
    for (const qg_instruction *i = m->blocks[block].first; i < m->blocks[block].end; ++i) {
        if (i->opcode != SpvOpFunctionCall) continue;
        note_call(m, i);
        for (uint32_t k = 0; k < m->n_blocks; ++k)
            if (m->blocks[k].function == i->words[3]) {
                reach(m, k);
                break;
            }
    }
    for (uint32_t k = 0; k < m->blocks[block].n_next; ++k) reach(m, m->blocks[block].next[k]);
}

/* Variables of functions that are stored once, as a whole. Text that was not optimised has many. */
static void find_kept(qg_module *m) {
    bool *several = QG_NEW_ARRAY(m->arena, bool, m->bound);
    m->kept = QG_NEW_ARRAY(m->arena, uint32_t, m->bound);
    for (uint32_t at = 0; at < m->count; ++at) {
        const qg_instruction *i = &m->items[at];
        if (i->opcode == SpvOpStore && !m->kept[i->words[1]])
            m->kept[i->words[1]] = i->words[2];
        else if (i->opcode == SpvOpStore)
            several[i->words[1]] = true;
        if (i->opcode == SpvOpVariable && i->n_words > 4) several[i->result] = true;
        if (i->opcode == SpvOpFunctionCall)
            for (uint32_t w = 4; w < i->n_words; ++w) several[i->words[w]] = true;
        if (is_chain(i->opcode)) several[i->words[3]] = true;
    }
    for (uint32_t id = 0; id < m->bound; ++id) {
        const qg_instruction *v = m->made[id];
        if (several[id] || !v || v->opcode != SpvOpVariable || v->words[3] != SpvStorageClassFunction) m->kept[id] = 0;
    }
}

static const char *find_entry(qg_module *m) {
    for (uint32_t at = 0; at < m->count && !m->entry; ++at) {
        const qg_instruction *i = &m->items[at];
        if (i->opcode != SpvOpEntryPoint || i->words[1] != SpvExecutionModelGLCompute) continue;
        m->entry = i->words[2];
        m->audit->entry = (const char *)(i->words + 3);
    }
    return m->entry ? NULL : "it holds no compute shader; audit looks at compute shaders alone";
}

const char *qg_module_read(qg_module *m, const void *words, size_t bytes) {
    const char *why = NULL;
    m->items = qg_spirv_read(m->arena, words, bytes, &m->count, &m->bound, &why);
    if (!m->items) return why;
    m->made = QG_NEW_ARRAY(m->arena, const qg_instruction *, m->bound);
    m->names = QG_NEW_ARRAY(m->arena, const char *, m->bound);
    m->built_in = QG_NEW_ARRAY(m->arena, uint32_t, m->bound);
    m->block_of = QG_NEW_ARRAY(m->arena, uint32_t, m->bound);
    m->argument = QG_NEW_ARRAY(m->arena, uint32_t, m->bound);
    memset(m->built_in, 0xff, m->bound * sizeof *m->built_in);
    memset(m->block_of, 0xff, m->bound * sizeof *m->block_of);
    for (uint32_t at = 0; at < m->count; ++at) {
        const qg_instruction *i = &m->items[at];
        if (i->result) m->made[i->result] = i;
        if (i->opcode == SpvOpName) m->names[i->words[1]] = (const char *)(i->words + 2);
        if (i->opcode == SpvOpDecorate && i->words[2] == SpvDecorationBuiltIn) m->built_in[i->words[1]] = i->words[3];
    }
    if ((why = find_entry(m))) return why;
    find_blocks(m);
    find_kept(m);
    link_blocks(m);
    for (uint32_t k = 0; k < m->n_blocks; ++k)
        if (m->blocks[k].function == m->entry) {
            reach(m, k);
            break;
        }
    qg_module_dominators(m);
    return NULL;
}
