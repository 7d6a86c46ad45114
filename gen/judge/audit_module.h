/* audit_module.h: a module, taken apart; what the files of the audit share. */
#ifndef QKGEN_AUDIT_MODULE_H
#define QKGEN_AUDIT_MODULE_H

#include "emit/spirv.h"
#include "judge/audit.h"

typedef qg_spirv_instruction qg_instruction;

enum { QG_NO_BLOCK = UINT32_MAX };

typedef struct qg_flow_block {
    uint32_t label, function; /* ids */
    const qg_instruction *first, *end;
    uint32_t n_next, n_before;
    uint32_t *next;            /* blocks */
    bool reached;              /* from the entry point */
    bool always;               /* each thread comes here, unless it does not end */
    uint32_t dominator, after; /* the nearest block before it, and behind it, that each way passes; n_blocks: none */
} qg_flow_block;

typedef struct qg_module {
    qg_arena *arena;
    qg_audit *audit;
    const qk_kernel *kernel; /* of ours: its descriptor; else NULL */
    const qg_instruction *items;
    uint32_t count, bound, entry; /* function */
    uint32_t push_read;           /* bytes of push constants, by what is reached here */
    const qg_instruction **made;  /* by id */
    const char **names;           /* by id; NULL: none */
    uint32_t *built_in;           /* of a variable; UINT32_MAX: none */
    uint32_t *block_of;           /* of labels and results: index; QG_NO_BLOCK */
    uint32_t *argument;           /* of a parameter that is a pointer: what one caller gives */
    uint32_t *kept; /* by variable of a function: the only value that is stored in it; 0: none, or several */
    /* By specialisation constant: what it is taken to be; NULL: its own value. By number, not by id. */
    const uint32_t *fixed;
    uint32_t n_blocks, blocks_capacity;
    qg_flow_block *blocks;
} qg_module;

/* audit_read.c. NULL, or why it cannot be audited. */
const char *qg_module_read(qg_module *m, const void *words, size_t bytes);
/* The first word of a decoration behind its number, or `otherwise`; `member` is UINT32_MAX for the id itself. */
uint32_t qg_decoration(const qg_module *m, uint32_t id, uint32_t member, uint32_t decoration, uint32_t otherwise);
bool qg_is_decorated(const qg_module *m, uint32_t id, uint32_t decoration);
uint32_t qg_base_of(const qg_module *m, uint32_t pointer); /* the variable, or 0 */
uint32_t qg_width_of(const qg_module *m, uint32_t type);   /* of a scalar, or of a vector's */
uint64_t qg_bytes_of(const qg_module *m, uint32_t type);   /* 0: not known */
bool qg_is_constant(const qg_module *m, uint32_t id, uint64_t *value, bool *assumed);
/* What a person calls an id: a name, `p.rows`, gl_LocalInvocationID.x, or %12. */
const char *qg_called(const qg_module *m, uint32_t id);
/* Where an instruction stands: a line of the source, or the id. */
const char *qg_where(const qg_module *m, const qg_instruction *i);
void qg_audit_found(const qg_module *m, qg_severity severity, const char *rule, const char *format, ...)
    QG_PRINTF(4, 5);

/* audit_dominators.c */
void qg_module_dominators(qg_module *m);
bool qg_dominates(const qg_module *m, uint32_t a, uint32_t b);

/* audit_range.c. `taken`: some thread of each launch has the ends. `assumed`: constants have their own values. */
typedef struct qg_interval {
    bool known, taken, assumed;
    int64_t low, high;
} qg_interval;

qg_interval qg_interval_of(const qg_module *m, uint32_t id, uint32_t block);
/* Whether a branch before the block depends on specialisation constants alone. */
bool qg_is_under_constant(const qg_module *m, uint32_t block);

enum { QG_MOST_CONSTANTS = 64, QG_NOT_FIXED = UINT32_MAX };

/* audit_fixed.c. Whether an index at a block is below a length whatever legal values the constants of a kernel of ours
 * have. */
bool qg_is_always_inside(qg_module *m, uint32_t index, uint32_t block, uint32_t length);
/* What a constant is fixed to, by its id; QG_NOT_FIXED: nothing. */
uint32_t qg_fixed_value(const qg_module *m, uint32_t id);

void qg_audit_flow(qg_module *m);   /* audit_flow.c: barriers */
void qg_audit_access(qg_module *m); /* audit_access.c: buffers, push constants, arrays, shifts */
void qg_audit_uses(qg_module *m);   /* audit_uses.c: capabilities, floats, subgroups */
/* audit_reflect.c: what SPIRV-Cross says, beside what was read here. */
void qg_audit_reflect(qg_module *m, const void *words, size_t bytes);

#endif
