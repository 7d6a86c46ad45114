/* plain.h: kernel families that take no format. Their arrays hold plain numbers, in groups whose
 * size is an argument of the call. A set of them is emitted together, as a format's kernels are. */
#ifndef QKGEN_GEN_PLAIN_H
#define QKGEN_GEN_PLAIN_H

#include "text/text.h"

enum { QG_MAX_PLAIN_BINDINGS = 4, QG_MAX_PLAIN_PUSH = 4 };

typedef struct qg_plain_binding {
    const char *name;
    qk_role role; /* QK_ROLE_INPUT or QK_ROLE_OUTPUT */
    qk_type type;
    bool per_group; /* one number for each group; else one for each element */
} qg_plain_binding;

typedef enum qg_plain_id {
#define P(ID, ...) QG_PLAIN_##ID,
#include "text/plain.def"
#undef P
} qg_plain_id;

/* One family: one schedule, in templates/NAME.*. */
typedef struct qg_plain {
    qg_plain_id id;
    const char *name;
    const char *summary; /* completes "NAME: " in a banner */
    uint32_t n_bindings;
    qg_plain_binding bindings[QG_MAX_PLAIN_BINDINGS];
    uint32_t n_push;
    const char *push[QG_MAX_PLAIN_PUSH]; /* u32 each */
    qk_numeric_class numeric;
    bool has_bins;          /* takes the number of bins */
    const char *prelude[2]; /* parts of the set's GLSL prelude that it calls */
} qg_plain;

typedef struct qg_plain_set {
    const char *name; /* of its files */
    const char *summary;
    const char *dispatch; /* the header of its dispatch functions, below qkgen/ */
    uint32_t n_families;
    const qg_plain *families;
} qg_plain_set;

extern const qg_plain_set qg_plain_sets[];
extern const uint32_t qg_n_plain_sets;

/* The family of that name, or NULL. `set`, unless NULL, takes its set. */
const qg_plain *qg_plain_named(const char *name, const qg_plain_set **set);
/* The set of that name, or NULL. */
const qg_plain_set *qg_plain_set_named(const char *name);
/* Bytes that a binding has for each group of `group` elements. */
uint64_t qg_plain_unit(const qg_plain_binding *binding, uint32_t group);
/* The family as the C side sees it. Its text or words are `code`, which may be NULL. */
const qk_kernel *qg_plain_describe(qg_arena *arena, const qg_plain *family, qk_api api, const qk_code *code);

/* Which families of a set are emitted, and how. */
typedef struct qg_plain_request {
    const qg_plain_set *set;
    uint32_t n_families;
    const qg_plain *const *families;
    bool vulkan, metal;
    const char *command; /* that regenerates, for the banner */
} qg_plain_request;

/* GLSL of one family; MSL of all that are asked for; C header, source and code, with the options of text.h. NULL and
 * *why on a broken template. */
char *qg_plain_glsl(qg_arena *arena, const qg_templates *templates, const qg_plain_request *request,
                    const qg_plain *family, const char **why);
char *qg_plain_msl(qg_arena *arena, const qg_templates *templates, const qg_plain_request *request, const char **why);
char *qg_plain_header(qg_arena *arena, const qg_templates *templates, const qg_plain_request *request,
                      const qg_c_options *options, const char **why);
char *qg_plain_source(qg_arena *arena, const qg_templates *templates, const qg_plain_request *request,
                      const qg_c_options *options, const char **why);
char *qg_plain_code(qg_arena *arena, const qg_plain_request *request, const qg_c_options *options);

#endif
