/* What a module asks of a device, and whether it uses it: capabilities, float controls, subgroups. */
#include "judge/audit_module.h"

#include <spirv_cross/spirv.h>
#include <string.h>

/* What is found in the words. */
typedef struct uses {
    uint32_t subgroup[8]; /* operations by capability, from GroupNonUniform on */
    uint32_t matrices, dots, half_operations, short_operations, byte_operations, long_operations, double_operations;
    uint32_t stored_16, stored_8; /* 1: a type of that size is in a buffer */
    uint32_t to_half, from_half, contracted;
    bool reads_size; /* gl_SubgroupSize */
    uint32_t lanes;  /* a number of lanes that stands as a constant beside a thread's number; 0: none */
    const qg_instruction *where;
} uses;

static uint32_t class_of_subgroup(uint32_t opcode) {
    if (opcode == SpvOpGroupNonUniformElect) return SpvCapabilityGroupNonUniform;
    if (opcode <= SpvOpGroupNonUniformAllEqual) return SpvCapabilityGroupNonUniformVote;
    if (opcode <= SpvOpGroupNonUniformBallotFindMSB) return SpvCapabilityGroupNonUniformBallot;
    if (opcode <= SpvOpGroupNonUniformShuffleXor) return SpvCapabilityGroupNonUniformShuffle;
    if (opcode <= SpvOpGroupNonUniformShuffleDown) return SpvCapabilityGroupNonUniformShuffleRelative;
    if (opcode <= SpvOpGroupNonUniformLogicalXor) return SpvCapabilityGroupNonUniformArithmetic;
    return SpvCapabilityGroupNonUniformQuad;
}

/* Operations that compute, and not move, convert or compare. */
static bool is_arithmetic(uint32_t opcode) {
    return (opcode >= SpvOpSNegate && opcode <= SpvOpDot) ||
           (opcode >= SpvOpShiftRightLogical && opcode <= SpvOpBitCount) || opcode == SpvOpExtInst;
}

static bool is_float(const qg_module *m, uint32_t type) {
    const qg_instruction *t = m->made[type];
    if (t && t->opcode == SpvOpTypeVector) t = m->made[t->words[2]];
    return t && t->opcode == SpvOpTypeFloat;
}

static void look_at_floats(const qg_module *m, const qg_instruction *i, uses *u) {
    if (i->opcode == SpvOpFConvert) {
        const uint32_t from = qg_width_of(m, m->made[i->words[3]]->type), to = qg_width_of(m, i->type);
        u->to_half += to == 16 && from > 16;
        u->from_half += from == 16 && to > 16;
    }
    if (i->opcode == SpvOpExtInst) {
        u->to_half += i->words[4] == 58;   /* PackHalf2x16 */
        u->from_half += i->words[4] == 62; /* UnpackHalf2x16 */
    }
    if ((i->opcode != SpvOpFAdd && i->opcode != SpvOpFSub) || qg_is_decorated(m, i->result, SpvDecorationNoContraction))
        return;
    for (uint32_t w = 3; w < 5; ++w) {
        const qg_instruction *by = m->made[i->words[w]];
        if (by && by->opcode == SpvOpFMul && !qg_is_decorated(m, by->result, SpvDecorationNoContraction)) {
            u->contracted += 1;
            return;
        }
    }
}

/* A thread's number, divided by a constant number of lanes. */
static void look_at_lanes(const qg_module *m, const qg_instruction *i, uses *u) {
    uint64_t value = 0;
    bool assumed = false;
    if (i->n_words != 5 || !qg_is_constant(m, i->words[4], &value, &assumed) || assumed) return;
    uint32_t lanes = 0;
    if (i->opcode == SpvOpUDiv || i->opcode == SpvOpUMod) lanes = (uint32_t)value;
    if (i->opcode == SpvOpShiftRightLogical && value < 8) lanes = 1u << value;
    if (i->opcode == SpvOpBitwiseAnd) lanes = (uint32_t)value + 1;
    if (lanes != 32 && lanes != 64) return;
    const char *called = qg_called(m, i->words[3]);
    if (strncmp(called, "gl_LocalInvocation", 18) != 0) return;
    if (!u->lanes) u->where = i;
    u->lanes = lanes;
}

static void look_at(const qg_module *m, const qg_instruction *i, uses *u) {
    const uint32_t bits = i->type ? qg_width_of(m, i->type) : 0;
    const bool matrix = i->opcode >= 4457 && i->opcode <= 4460;
    if (i->opcode >= SpvOpGroupNonUniformElect && i->opcode <= SpvOpGroupNonUniformQuadSwap) {
        u->subgroup[class_of_subgroup(i->opcode) - SpvCapabilityGroupNonUniform] += 1;
        m->audit->subgroup_operations += 1;
    }
    u->matrices += matrix;
    u->dots += i->opcode >= 4450 && i->opcode <= 4455;
    if (is_arithmetic(i->opcode)) {
        m->audit->operations += 1;
        const bool f = is_float(m, i->type);
        u->half_operations += f && bits == 16;
        u->double_operations += f && bits == 64;
        u->short_operations += !f && bits == 16;
        u->byte_operations += !f && bits == 8;
    }
    u->long_operations += bits == 64 && !is_float(m, i->type);
    if (i->opcode == SpvOpLoad) {
        const uint32_t base = qg_base_of(m, i->words[3]);
        u->reads_size |= base && m->built_in[base] == SpvBuiltInSubgroupSize;
    }
    look_at_floats(m, i, u);
    look_at_lanes(m, i, u);
}

/* ---- capabilities ---- */

/* 1: used; 0: not; -1: not looked at. */
static int is_used(const uses *u, uint32_t capability) {
    if (capability >= SpvCapabilityGroupNonUniformVote && capability <= SpvCapabilityGroupNonUniformShuffleRelative)
        return u->subgroup[capability - SpvCapabilityGroupNonUniform] > 0;
    switch (capability) {
    case SpvCapabilityFloat64: return u->double_operations > 0 ? 1 : -1;
    case 6022: return u->matrices > 0; /* CooperativeMatrixKHR */
    case SpvCapabilityDotProduct: return u->dots > 0;
    default: return -1;
    }
}

static const struct {
    uint32_t number;
    const char *name;
} names[] = {
    {1, "Shader"},
    {9, "Float16"},
    {10, "Float64"},
    {11, "Int64"},
    {12, "Int64Atomics"},
    {22, "Int16"},
    {39, "Int8"},
    {61, "GroupNonUniform"},
    {62, "GroupNonUniformVote"},
    {63, "GroupNonUniformArithmetic"},
    {64, "GroupNonUniformBallot"},
    {65, "GroupNonUniformShuffle"},
    {66, "GroupNonUniformShuffleRelative"},
    {67, "GroupNonUniformClustered"},
    {68, "GroupNonUniformQuad"},
    {4427, "DrawParameters"},
    {4433, "StorageBuffer16BitAccess"},
    {4434, "UniformAndStorageBuffer16BitAccess"},
    {4435, "StoragePushConstant16"},
    {4448, "StorageBuffer8BitAccess"},
    {4449, "UniformAndStorageBuffer8BitAccess"},
    {4450, "StoragePushConstant8"},
    {4464, "DenormPreserve"},
    {4465, "DenormFlushToZero"},
    {4466, "SignedZeroInfNanPreserve"},
    {4467, "RoundingModeRTE"},
    {4468, "RoundingModeRTZ"},
    {5116, "BFloat16TypeKHR"},
    {5118, "BFloat16CooperativeMatrixKHR"},
    {5345, "VulkanMemoryModel"},
    {5346, "VulkanMemoryModelDeviceScope"},
    {5347, "PhysicalStorageBufferAddresses"},
    {6016, "DotProductInputAll"},
    {6017, "DotProductInput4x8Bit"},
    {6018, "DotProductInput4x8BitPacked"},
    {6019, "DotProduct"},
    {6022, "CooperativeMatrixKHR"},
    {6033, "AtomicFloat32AddEXT"},
};

static const char *name_of(qg_arena *arena, uint32_t capability) {
    for (size_t k = 0; k < sizeof names / sizeof *names; ++k)
        if (names[k].number == capability) return names[k].name;
    return qg_format(arena, "capability %u", capability);
}

static void add(qg_module *m, qg_texts *list, const char *text) {
    QG_PUSH(m->arena, list->items, list->count, list->capacity, text);
}

static void list_header(qg_module *m, const uses *u) {
    static const char *const modes[] = {"DenormPreserve", "DenormFlushToZero", "SignedZeroInfNanPreserve",
                                        "RoundingModeRTE", "RoundingModeRTZ"};
    for (uint32_t at = 0; at < m->count && m->items[at].opcode != SpvOpFunction; ++at) {
        const qg_instruction *i = &m->items[at];
        if (i->opcode == SpvOpCapability) {
            const char *name = name_of(m->arena, i->words[1]);
            add(m, &m->audit->capabilities, name);
            if (is_used(u, i->words[1]) != 0) continue;
            add(m, &m->audit->unused, name);
            qg_audit_found(m, QG_NOTE, "capability",
                           "the capability %s is declared and not used; without it, more devices run the module", name);
        }
        if (i->opcode == SpvOpExecutionMode && i->words[2] >= SpvExecutionModeDenormPreserve &&
            i->words[2] <= SpvExecutionModeRoundingModeRTZ)
            add(m, &m->audit->float_controls,
                qg_format(m->arena, "%s %u", modes[i->words[2] - SpvExecutionModeDenormPreserve], i->words[3]));
    }
}

static bool has_control(const qg_module *m, const char *name) {
    for (uint32_t k = 0; k < m->audit->float_controls.count; ++k)
        if (strcmp(m->audit->float_controls.items[k], name) == 0) return true;
    return false;
}

void qg_audit_uses(qg_module *m) {
    uses u = {.reads_size = false};
    for (uint32_t b = 0; b < m->n_blocks; ++b)
        for (const qg_instruction *i = m->blocks[b].first; i < m->blocks[b].end && m->blocks[b].reached; ++i)
            look_at(m, i, &u);
    list_header(m, &u);
    if (u.to_half && !has_control(m, "RoundingModeRTE 16"))
        qg_audit_found(m, QG_NOTE, "float-control",
                       "%u conversions to f16 round as the device does, for the module has no RoundingModeRTE 16",
                       u.to_half);
    if ((u.from_half || u.half_operations) && !has_control(m, "DenormPreserve 16"))
        qg_audit_found(
            m, QG_NOTE, "float-control",
            "subnormal halves may be flushed to zero in %u conversions and %u operations, for the module has no "
            "DenormPreserve 16",
            u.from_half, u.half_operations);
    if (u.contracted)
        qg_audit_found(
            m, QG_NOTE, "contraction",
            "%u sums of products may be contracted to one rounding, for they are not decorated NoContraction",
            u.contracted);
    if (m->audit->subgroup_operations && !u.reads_size && u.lanes)
        qg_audit_found(m, QG_NOTE, "subgroup-size",
                       "it has %u subgroup operations, never reads gl_SubgroupSize, and divides a thread's number by "
                       "%u (%s): if that "
                       "is to be the number of a subgroup, ask for subgroups of %u when the pipeline is made",
                       m->audit->subgroup_operations, u.lanes, qg_where(m, u.where), u.lanes);
}
