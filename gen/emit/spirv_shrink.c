/* The passes of SPIRV-Tools. They are those that glslang runs when it is asked to optimise for size, in its order, but
 * for nine that change nothing in our modules but numbers of ids, and two more, which make constants and types one
 * that are the same. None unrolls a loop, and none changes what a float becomes.
 *
 * What differs is where functions go. A text calls a function of a hundred lines twice, and a driver puts it in the
 * place of both calls: then the module need not hold it twice. Small ones go into the place of their calls here, since
 * a call and its arguments are as long. So do all of texts with matrix units. Where lanes shuffle sums, functions hand
 * on what lies in registers, row after row, and no driver is trusted with that: there a function stays only if it
 * returns nothing and reaches into no array or vector that a thread has for itself, as what is done with results. To
 * keep a function, it is marked as one that shall not be inlined. The mark is taken away when the passes are done: it
 * would bind drivers, too. */
#include "emit/spirv_shrink.h"

#include <string.h>

/* The header defines this one, and two files that include it would have it twice. */
#define kDefaultMaxIdBound qg_spirv_shrink_most_ids
#include <spirv-tools/libspirv.h>

enum {
    HEADER_WORDS = 5,
    KEPT_WORDS = 200, /* before the passes, of a function with several calls: from here on it stays */
    OP_CAPABILITY = 17,
    OP_TYPE_VOID = 19,
    OP_TYPE_POINTER = 32,
    OP_ACCESS_CHAIN = 65,
    SHUFFLE = 65, /* GroupNonUniformShuffle */
    COOPERATIVE_MATRIX = 6022,
    OP_FUNCTION = 54,
    OP_FUNCTION_END = 56,
    OP_FUNCTION_CALL = 57,
    DONT_INLINE = 2,
    PRIVATE = 6, /* storage that a thread has for itself */
    LOCAL = 7
};

bool qg_spirv_shrinks(void) { return QKGEN_SPIRV_OPTIMIZER; }

/* What is known of a function, by its id, or of a type. */
typedef struct function {
    bool own;          /* a pointer to what a thread has for itself */
    uint32_t *control; /* the word with its marks */
    size_t begin, end; /* its words */
    uint32_t calls;
    bool known;    /* the following are */
    uint32_t size; /* in words, with those of functions that go into the place of their calls in it */
    bool reaches;  /* into an array or a vector that a thread has for itself; and so do they */
    bool kept;
} function;

/* The length of the instruction at `at`; of one that goes beyond the end, what is left. */
static size_t length_at(const uint32_t *words, size_t count, size_t at) {
    const size_t length = words[at] >> 16;
    return length == 0 || length > count - at ? count - at : length;
}

typedef struct module {
    uint32_t *words;
    size_t count;
    function *by_id;  /* `words[3]` of them */
    uint32_t nothing; /* the type of what returns nothing */
    bool shuffles;
} module;

/* What is known before a function is decided; false where none may stay. */
static bool find_functions(module *m) {
    const uint32_t *words = m->words, bound = words[3];
    function *inside = NULL;
    for (size_t at = HEADER_WORDS; at < m->count; at += length_at(words, m->count, at)) {
        const size_t length = length_at(words, m->count, at);
        const uint32_t opcode = words[at] & 0xffff;
        if (opcode == OP_CAPABILITY && length == 2 && words[at + 1] == COOPERATIVE_MATRIX) return false;
        m->shuffles |= opcode == OP_CAPABILITY && length == 2 && words[at + 1] == SHUFFLE;
        if (opcode == OP_TYPE_VOID && length == 2) m->nothing = words[at + 1];
        if (opcode == OP_TYPE_POINTER && length == 4 && words[at + 1] < bound)
            m->by_id[words[at + 1]].own = words[at + 2] == PRIVATE || words[at + 2] == LOCAL;
        if (opcode == OP_FUNCTION && length == 5 && words[at + 2] < bound) {
            inside = &m->by_id[words[at + 2]];
            inside->control = &m->words[at + 3];
            inside->begin = at;
        }
        if (opcode == OP_FUNCTION_CALL && length > 3 && words[at + 3] < bound) m->by_id[words[at + 3]].calls += 1;
        if (opcode == OP_FUNCTION_END && inside) inside->end = at;
    }
    return true;
}

/* Shaders have no recursion. */
static void decide(const module *m, function *f) {
    const uint32_t *words = m->words, bound = words[3];
    if (f->known) return;
    f->known = true;
    for (size_t at = f->begin; at < f->end; at += length_at(words, m->count, at)) {
        const size_t length = length_at(words, m->count, at);
        const uint32_t opcode = words[at] & 0xffff;
        f->size += (uint32_t)length;
        f->reaches |= opcode == OP_ACCESS_CHAIN && length > 3 && words[at + 1] < bound && m->by_id[words[at + 1]].own;
        if (opcode != OP_FUNCTION_CALL || length < 4 || words[at + 3] >= bound) continue;
        function *called = &m->by_id[words[at + 3]];
        decide(m, called);
        f->size += called->kept ? 0 : called->size;
        f->reaches |= called->reaches;
    }
    const bool gives = f->control && words[f->begin + 1] != m->nothing;
    f->kept = f->control && f->calls > 1 && f->size >= KEPT_WORDS && !(m->shuffles && (f->reaches || gives));
}

static void mark_functions(qg_arena *arena, uint32_t *words, size_t count) {
    const uint32_t bound = words[3];
    module m = {.words = words, .count = count, .by_id = QG_NEW_ARRAY(arena, function, bound + 1)};
    if (!find_functions(&m)) return;
    for (uint32_t id = 0; id < bound; ++id) {
        decide(&m, &m.by_id[id]);
        if (m.by_id[id].kept) *m.by_id[id].control |= DONT_INLINE;
    }
}

static void unmark_functions(uint32_t *words, size_t count) {
    for (size_t at = HEADER_WORDS; at < count; at += length_at(words, count, at))
        if ((words[at] & 0xffff) == OP_FUNCTION && length_at(words, count, at) == 5)
            words[at + 3] &= ~(uint32_t)DONT_INLINE;
}

#if QKGEN_SPIRV_OPTIMIZER
static const char *const passes[] = {
    "--merge-return",
    "--inline-entry-points-exhaustive",
    "--eliminate-dead-functions",
    "--scalar-replacement",
    "--convert-local-access-chains",
    "--eliminate-local-single-block",
    "--eliminate-local-single-store",
    "--simplify-instructions",
    "--eliminate-dead-code-aggressive",
    "--eliminate-dead-branches",
    "--merge-blocks",
    "--eliminate-local-multi-store",
    "--if-conversion",
    "--simplify-instructions",
    "--redundancy-elimination",
    "--eliminate-dead-code-aggressive",
    "--unify-const",
    "--remove-duplicates",
};

static uint32_t *run(qg_arena *arena, const uint32_t *words, size_t count, size_t *left, const char **why) {
    spv_optimizer_t *optimizer = spvOptimizerCreate(SPV_ENV_VULKAN_1_1);
    spv_optimizer_options options = spvOptimizerOptionsCreate();
    spv_binary made = NULL;
    uint32_t *out = NULL;
    bool good = optimizer && options;
    for (size_t i = 0; good && i < sizeof passes / sizeof *passes; ++i)
        good = spvOptimizerRegisterPassFromFlag(optimizer, passes[i]);
    if (options) spvOptimizerOptionsSetRunValidator(options, false); /* who compiles validates */
    if (good && spvOptimizerRun(optimizer, words, count, &made, options) == SPV_SUCCESS && made) {
        out = QG_NEW_ARRAY(arena, uint32_t, made->wordCount);
        memcpy(out, made->code, made->wordCount * sizeof *out);
        *left = made->wordCount;
    } else {
        *why = good ? "SPIRV-Tools cannot optimise it" : "SPIRV-Tools lacks a pass that makes words fewer";
    }
    spvBinaryDestroy(made);
    spvOptimizerOptionsDestroy(options);
    spvOptimizerDestroy(optimizer);
    return out;
}
#else
static uint32_t *run(qg_arena *arena, const uint32_t *words, size_t count, size_t *left, const char **why) {
    uint32_t *out = QG_NEW_ARRAY(arena, uint32_t, count);
    (void)why;
    memcpy(out, words, count * sizeof *out);
    *left = count;
    return out;
}
#endif

const uint32_t *qg_spirv_shrink(qg_arena *arena, const uint32_t *words, size_t count, size_t *shrunk,
                                const char **why) {
    uint32_t *marked = QG_NEW_ARRAY(arena, uint32_t, count);
    memcpy(marked, words, count * sizeof *marked);
    mark_functions(arena, marked, count);
    uint32_t *out = run(arena, marked, count, shrunk, why);
    if (out) unmark_functions(out, *shrunk);
    return out;
}

const uint32_t *qg_spirv_flatten(qg_arena *arena, const uint32_t *words, size_t count, size_t *flat, const char **why) {
    bool calls = false;
    for (size_t at = HEADER_WORDS; at < count; at += length_at(words, count, at))
        calls |= (words[at] & 0xffff) == OP_FUNCTION_CALL;
    *flat = count;
    return calls ? run(arena, words, count, flat, why) : words;
}
