/* audit.h: what a module of SPIR-V is, reads, writes and leaves to chance, without running it.
 *
 *   words --read--> blocks, ids --ranges, flow, access, uses--> qg_audit --report--> table, JSON, what changed
 *
 * A finding is wrong only where that is decided: it holds for each launch, or for some launch that the sentence names.
 * What cannot be decided is a note. docs/audit.md says what is looked at. */
#ifndef QKGEN_AUDIT_H
#define QKGEN_AUDIT_H

#include "build/program.h"
#include "judge/judge.h"

typedef struct qg_audit_finding {
    qg_severity severity;
    const char *rule;     /* "shift", "barrier", ... */
    const char *sentence; /* module, entry, place, cause and remedy */
} qg_audit_finding;

typedef struct qg_audit_binding {
    uint32_t set, binding;
    const char *name;   /* "" where the module has none */
    bool reads, writes; /* by an instruction that is reached */
} qg_audit_binding;

typedef struct qg_audit_constant {
    uint32_t id, value;
    const char *name;
} qg_audit_constant;

/* So many places of a kind: of these, how many are proven. */
typedef struct qg_audit_count {
    uint32_t all, proven;
} qg_audit_count;

typedef struct qg_audit {
    const char *name;  /* of the file, or of the module of a kernel */
    const char *why;   /* it could not be audited; NULL: it was */
    const char *entry; /* of the compute shader */
    size_t bytes;
    uint32_t workgroup[3]; /* with the constants' own values */
    bool sized_by_constants;
    uint32_t n_bindings, bindings_capacity;
    qg_audit_binding *bindings;
    uint32_t push_declared, push_used; /* bytes */
    uint32_t n_constants, constants_capacity;
    qg_audit_constant *constants;
    qg_texts capabilities, unused, float_controls;
    uint32_t shared_bytes;                            /* of a workgroup, with the constants' own values */
    uint32_t subgroup_operations, operations, stores; /* stores: into buffers */
    qg_audit_count barriers, shifts, shared, arrays;  /* in uniform flow; below the width; inside of their arrays */
    /* Of our own kernels: */
    bool ours;
    qg_audit_count loads; /* of the format's buffers, in the program; those that are not proven have the guard */
    const char *guard;
    uint32_t bits, bits_read,
        bits_once;     /* of a block: that belong to codes; of these, read; of these, by one tile each */
    double per_weight; /* operations, of the program */
    uint32_t n_findings, capacity;
    qg_audit_finding *findings;
} qg_audit;

typedef struct qg_audit_options {
    uint32_t push_bytes; /* that the host declares; 0: not known */
} qg_audit_options;

/* Takes a module apart. Never NULL: `why` is set where the words are no module, or hold no compute shader. */
qg_audit *qg_audit_words(qg_arena *arena, const char *name, const void *words, size_t bytes,
                         const qg_audit_options *options);
/* The same of a module of ours, beside its descriptor, and its program unless that is NULL. */
qg_audit *qg_audit_kernel(qg_arena *arena, const char *name, const qk_kernel *kernel, const qg_program *program,
                          const qk_code *code);
/* A copy that lives as long as `arena`; what it was made from is a thousand times as large. */
qg_audit *qg_audit_keep(qg_arena *arena, const qg_audit *audit);
/* Of findings, those that are wrong. */
uint32_t qg_audit_wrong(const qg_audit *audit);

/* ---- audit_report.c, audit_diff.c -------------------------------------------------------------------------------- */

typedef struct qg_audits {
    uint32_t count, capacity;
    qg_audit **items;
} qg_audits;

/* A line for each module, then what is wrong, with `notes` the rest, and what there is in all. */
void qg_audit_table(qg_text *text, const qg_audits *audits, bool notes);
void qg_audit_json(qg_text *text, const qg_audits *audits);
/* audit_load.c: what qg_audit_json wrote, for comparisons. NULL, or why it is none. */
const char *qg_audit_load(qg_arena *arena, const char *json, qg_audits *audits);
/* What another set has that the first has not, module by module; returns the findings that are wrong in `after`
 * alone. */
uint32_t qg_audit_diff(qg_text *text, const qg_audits *before, const qg_audits *after);

#endif
