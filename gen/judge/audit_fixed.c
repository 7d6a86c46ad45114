/* Indices of arrays whose length specialisation constants give: they are looked at for each legal value of these
 * constants, which the descriptor of a kernel of ours has. */
#include "judge/audit_module.h"

#include <spirv_cross/spirv.h>

enum { MOST_CHOICES = 8192, MOST_CONSTANTS_SEEN = 8, MOST_SEEN = 2000 };

uint32_t qg_fixed_value(const qg_module *m, uint32_t id) {
    if (!m->fixed) return QG_NOT_FIXED;
    const uint32_t number = qg_decoration(m, id, UINT32_MAX, SpvDecorationSpecId, UINT32_MAX);
    return number < QG_MOST_CONSTANTS ? m->fixed[number] : QG_NOT_FIXED;
}

/* What an index, a length and the branches before them are made of. */
typedef struct seen {
    const qg_module *m;
    bool *ids;
    uint32_t steps;
    uint32_t count;
    const qk_spec_constant *constants[MOST_CONSTANTS_SEEN];
    bool too_many;
} seen;

static void add_constant(seen *s, uint32_t number) {
    const qk_kernel *kernel = s->m->kernel;
    for (uint32_t k = 0; k < s->count; ++k)
        if (s->constants[k]->id == number) return;
    for (uint32_t i = 0; i < kernel->spec_constant_count; ++i) {
        const qk_spec_constant *c = &kernel->spec_constants[i];
        if (c->id != number || !c->legal_count || number >= QG_MOST_CONSTANTS) continue;
        s->too_many |= s->count == MOST_CONSTANTS_SEEN;
        if (!s->too_many) s->constants[s->count++] = c;
        return;
    }
}

static void walk(seen *s, uint32_t id) {
    const qg_module *m = s->m;
    const qg_instruction *i = id < m->bound ? m->made[id] : NULL;
    if (!i || s->ids[id] || ++s->steps > MOST_SEEN) return;
    s->ids[id] = true;
    if (i->opcode == SpvOpSpecConstant)
        add_constant(s, qg_decoration(m, id, UINT32_MAX, SpvDecorationSpecId, UINT32_MAX));
    if (i->opcode == SpvOpLoad || i->opcode == SpvOpVariable) add_constant(s, QK_CONSTANT_LOCAL_SIZE_X);
    for (uint32_t w = 3; w < i->n_words; ++w)
        walk(s, i->words[w]); /* a literal that is taken for an id adds, at most */
}

static void walk_branches(seen *s, uint32_t block) {
    const qg_module *m = s->m;
    for (uint32_t b = block, guard = 0; b < m->n_blocks && guard < 256; ++guard) {
        const uint32_t up = m->blocks[b].dominator;
        if (up >= m->n_blocks || up == b) return;
        const qg_instruction *last = m->blocks[up].end - 1;
        if (last->opcode == SpvOpBranchConditional) walk(s, last->words[1]);
        b = up;
    }
}

/* Whether a branch that leads to the block is not taken with the constants as they are. */
static bool is_never_reached(const qg_module *m, uint32_t block) {
    for (uint32_t b = block, guard = 0; b < m->n_blocks && guard < 256; ++guard) {
        const uint32_t up = m->blocks[b].dominator;
        if (up >= m->n_blocks || up == b) return false;
        const qg_instruction *last = m->blocks[up].end - 1;
        uint64_t value;
        bool assumed = false;
        if (last->opcode == SpvOpBranchConditional && m->blocks[b].n_before == 1 && last->words[2] != last->words[3] &&
            qg_is_constant(m, last->words[1], &value, &assumed) && !assumed &&
            m->blocks[b].label == last->words[value ? 3 : 2])
            return true;
        b = up;
    }
    return false;
}

static bool is_inside(const qg_module *m, uint32_t index, uint32_t block, uint32_t length) {
    uint64_t count = 0;
    bool assumed = false;
    if (!qg_is_constant(m, length, &count, &assumed) || assumed) return false;
    const qg_interval r = qg_interval_of(m, index, block);
    return (r.known && !r.assumed && r.low >= 0 && r.high < (int64_t)count) || is_never_reached(m, block);
}

/* For each choice of the constants that were seen; others have their legal values all at once. */
static bool is_inside_for_all(qg_module *m, const seen *s, uint32_t index, uint32_t block, uint32_t length) {
    uint32_t fixed[QG_MOST_CONSTANTS];
    uint64_t choices = 1;
    bool inside = true;
    for (uint32_t k = 0; k < s->count; ++k) choices *= s->constants[k]->legal_count;
    if (s->too_many || choices > MOST_CHOICES) return false;
    for (uint32_t k = 0; k < QG_MOST_CONSTANTS; ++k) fixed[k] = QG_NOT_FIXED;
    m->fixed = fixed;
    for (uint64_t n = 0; n < choices && inside; ++n) {
        uint64_t rest = n;
        for (uint32_t k = 0; k < s->count; ++k) {
            fixed[s->constants[k]->id] = (uint32_t)s->constants[k]->legal[rest % s->constants[k]->legal_count];
            rest /= s->constants[k]->legal_count;
        }
        inside = is_inside(m, index, block, length);
    }
    m->fixed = NULL;
    return inside;
}

bool qg_is_always_inside(qg_module *m, uint32_t index, uint32_t block, uint32_t length) {
    if (!m->kernel) return false;
    seen s = {.m = m, .ids = QG_NEW_ARRAY(m->arena, bool, m->bound)};
    walk(&s, length); /* those of the length alone are the fewest */
    if (is_inside_for_all(m, &s, index, block, length)) return true;
    walk(&s, index);
    walk_branches(&s, block);
    return is_inside_for_all(m, &s, index, block, length);
}
