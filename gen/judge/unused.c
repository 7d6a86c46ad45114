/* Bits that change nothing by the specification, and numbers that no encoder writes: such bits are 0 in all other
 * evidence, so that what goes wrong through them alone is told here, once. */
#include "judge/trial.h"

#include "spec/value.h"

#include <math.h>
#include <string.h>

enum { DRAWS = 16, SEEN_BLOCKS = 16 };

/* ---- which bits ---------------------------------------------------------------------------------------------- */

static bool same_value(float a, float b) { return a == b || (isnan(a) && isnan(b)); }

/* Whether bit `bit` of an instance changes an element of a block. */
static bool matters(const qg_layout *l, const qg_blocks *blocks, uint64_t block, const unsigned char *const *at,
                    uint32_t code, uint32_t instance, uint32_t bit) {
    const qg_code *c = &l->codes[code];
    const uint32_t first = c->of_column ? 0 : instance * c->per;
    for (uint32_t e = first; e < l->elements && (c->of_column || e < first + c->per); ++e) {
        const qg_element element = {.layout = l, .blocks = at, .index = e};
        if (qg_instance_of(l, c, e) != instance) continue;
        const float before = qg_value_of(&element);
        qg_block_flip(l, blocks, block, code, instance, bit);
        const float after = qg_value_of(&element);
        qg_block_flip(l, blocks, block, code, instance, bit);
        if (!same_value(before, after)) return true;
    }
    return false;
}

/* A bit may matter for a value that stands apart, such as a scale that is none: what does so less often than in one of
 * 16 is idle. */
static bool is_idle(const qg_layout *l, const qg_blocks *blocks, const unsigned char *const *const *at, uint32_t code,
                    uint32_t bit) {
    const uint32_t count = l->codes[code].count, step = count > 64 ? count / 64 : 1;
    uint64_t all = 0, changes = 0;
    for (uint64_t k = 0; k < DRAWS; ++k)
        for (uint32_t j = (uint32_t)k % step; j < count; j += step) {
            all += 1;
            changes += matters(l, blocks, k, at[k], code, j, bit);
            if (changes > (uint64_t)DRAWS * 4) return false; /* a 16th of all */
        }
    return changes * 16 <= all && (all > 16 || !changes);
}

void qg_find_idle(qg_trial *t) {
    const qg_layout *l = t->layout;
    uint64_t random = t->options.seed;
    const qg_blocks blocks = qg_blocks_new(t->arena, l, DRAWS);
    const unsigned char **at[DRAWS];
    t->idle = QG_NEW_ARRAY(t->arena, uint32_t, l->n_codes);
    for (uint64_t k = 0; k < DRAWS; ++k) {
        at[k] = QG_NEW_ARRAY(t->arena, const unsigned char *, l->n_buffers);
        for (uint32_t b = 0; b < l->n_buffers; ++b) at[k][b] = blocks.data[b] + k * l->buffers[b].bytes;
        qg_block_draw(t, &blocks, k, 20000, &random);
    }
    for (uint32_t c = 0; c < l->n_codes; ++c) {
        if (!qg_block_set(l, &blocks, 0, c, 0, qg_block_bits(l, &blocks, 0, c, 0))) continue; /* digits */
        for (uint32_t bit = 0; bit < l->codes[c].width; ++bit)
            if (is_idle(l, &blocks, (const unsigned char *const *const *)at, c, bit)) t->idle[c] |= UINT32_C(1) << bit;
    }
}

/* ---- what they do -------------------------------------------------------------------------------------------- */

/* A kind of bits that nobody writes: those of a code, digits of a code, or spare ones. */
typedef struct unwritten {
    uint32_t code; /* n_codes: spare bits */
    bool digits;
    const char *what;
} unwritten;

static void fill(qg_trial *t, const unwritten *u, const qg_blocks *blocks, uint64_t block) {
    const qg_layout *l = t->layout;
    const uint64_t step = block % 2; /* all such bits; then some, at random */
    for (uint32_t i = 0; u->code == l->n_codes && i < l->n_spares; ++i) {
        const qg_slice *s = &l->spares[i];
        for (uint32_t j = s->first; j < s->first + s->count; ++j)
            for (uint32_t k = 0; k < s->width; ++k) {
                const uint32_t at = qg_slice_address(s, j) + k;
                if (!step || qg_random(&t->random) & 1)
                    blocks->data[s->buffer][block * l->buffers[s->buffer].bytes + at / 8] |=
                        (unsigned char)(1u << at % 8);
            }
    }
    if (u->code == l->n_codes) return;
    if (u->digits) {
        qg_block_unusual(l, blocks, block, u->code, &t->random);
        return;
    }
    for (uint32_t j = 0; j < l->codes[u->code].count; ++j) {
        const uint32_t bits = step ? (uint32_t)qg_random(&t->random) & t->idle[u->code] : t->idle[u->code];
        qg_block_set(l, blocks, block, u->code, j, qg_block_bits(l, blocks, block, u->code, j) | bits);
    }
}

/* The block's elements that are wrong, over all blocks; how many, and what is wrong with the first. */
static const char *compare(qg_trial *t, const qg_blocks *blocks, const float *actual, bool *wrong) {
    const uint32_t count = t->layout->elements;
    float *expected = QG_NEW_ARRAY(t->arena, float, blocks->count *count);
    float *magnitudes = QG_NEW_ARRAY(t->arena, float, blocks->count *count);
    const char *first = NULL;
    qg_expect_values(t, blocks, expected, magnitudes);
    for (uint64_t i = 0; i < blocks->count * count; ++i) {
        const uint32_t e = (uint32_t)(i % count);
        if (t->known[e] || qg_near(t, actual[i], expected[i], magnitudes[i])) continue;
        wrong[e] = true;
        if (!first)
            first = qg_format(t->arena, "element %u %s", e,
                              qg_say_instead(t->arena, (double)actual[i], (double)qg_stored(t, expected[i])));
    }
    return first;
}

/* Whether the executor, which checks each access, stops at one: its words, or NULL. */
static const char *fault_of(qg_trial *t, const qg_blocks *blocks, float *actual) {
    qg_judgement *j = t->judgement;
    const uint32_t before = j->n_findings;
    const uint64_t size = t->fault_size;
    const char *said = NULL;
    qg_home home = {0};
    const bool crossed = t->harness->target == QG_FOREIGN_VULKAN;
    if (crossed && qg_leave_for_executor(t, QG_TURNS_FORWARD, 0, &home)) return NULL;
    t->fault_size = 0;
    if (!qg_actual(t, blocks, actual) && j->n_findings > before) said = j->findings[before].sentence;
    t->fault_size = size;
    j->n_findings = before;
    if (crossed) {
        qg_return(t, &home);
        t->unable = NULL; /* what the executor lacks is no fault of the kernel */
    }
    return said;
}

static void see(qg_trial *t, const unwritten *u) {
    const uint32_t count = t->layout->elements;
    const qg_blocks blocks = qg_blocks_new(t->arena, t->layout, SEEN_BLOCKS);
    float *actual = QG_NEW_ARRAY(t->arena, float, blocks.count *count);
    bool *wrong = QG_NEW_ARRAY(t->arena, bool, count);
    const char *first = NULL;
    for (uint64_t i = 0; i < blocks.count; ++i) {
        qg_block_draw(t, &blocks, i, 20000, &t->random);
        fill(t, u, &blocks, i);
    }
    const char *fault = fault_of(t, &blocks, actual);
    if (t->harness->target == QG_FOREIGN_VULKAN) {
        if (!qg_actual(t, &blocks, actual)) return;
        first = compare(t, &blocks, actual, wrong);
    } else if (!fault) {
        if (t->unable || t->stopped) return;
        first = compare(t, &blocks, actual, wrong);
    }
    if (!first && !fault) return;
    const char *sentence =
        first ? qg_format(t->arena, "where %s, %s: wrong, %s%s%s", u->what, qg_say_which(t->arena, wrong, count), first,
                          fault ? "; " : "", fault ? fault : "")
              : qg_format(t->arena, "where %s, %s", u->what, fault);
    const bool spare = u->code == t->layout->n_codes;
    qg_finding *f = qg_find(t, spare && !fault ? QG_NOTE : QG_WRONG, "unused-bits", sentence);
    f->code = u->code;
    if (first) f->right = f->found = qg_say_elements(t->arena, wrong, count);
}

static bool has_digits(const qg_code *c) {
    for (uint32_t i = 0; i < c->n_slices; ++i)
        if (c->slices[i].radix) return true;
    return false;
}

static const char *name_idle(qg_trial *t, uint32_t code) {
    const uint32_t bits = t->idle[code];
    uint32_t bit = 0;
    while (!(bits >> bit & 1)) ++bit;
    return bits == UINT32_C(1) << bit
               ? qg_format(t->arena, "bit %u of %s is set, which the specification makes no use of", bit,
                           t->layout->codes[code].name)
               : qg_format(t->arena, "bits 0x%x of %s are set, which the specification makes no use of", bits,
                           t->layout->codes[code].name);
}

void qg_see_unused(qg_trial *t) {
    const qg_layout *l = t->layout;
    uint32_t seen = 0;
    for (uint32_t c = 0; c <= l->n_codes && !t->unable && !t->stopped; ++c) {
        unwritten u = {.code = c};
        if (c == l->n_codes) {
            if (!l->n_spares) break;
            u.what = "bits of no code are set";
        } else if (t->idle[c]) {
            u.what = name_idle(t, c);
        } else if (has_digits(&l->codes[c])) {
            u.digits = true;
            u.what = qg_format(t->arena, "the digits of %s are in words that no encoder writes", l->codes[c].name);
        } else {
            continue;
        }
        seen += 1;
        see(t, &u);
    }
    if (seen) return;
    t->judgement->runs[t->evidence].done = false;
    t->judgement->runs[t->evidence].left_out = "each bit of a block means something";
}
