/* judge.h: what a kernel that somebody else wrote does with each bit of a block, beside what the specification says.
 *
 *   harness text --parse--> qg_harness
 *   kernel file + harness --worker--> a process that launches it
 *   worker + layout --evidence--> qg_judgement --report--> text, JSON, SARIF, HTML
 *
 * Foreign code never runs in the judging process. docs/judge.md has the language of harnesses and what each evidence
 * is. */
#ifndef QKGEN_JUDGE_H
#define QKGEN_JUDGE_H

#include "spec/spec.h"

/* ---- what was found ---------------------------------------------------------------------------------------------- */

/* The kinds of evidence, in the order in which they are taken. */
typedef enum qg_evidence {
#define E(id, name, title) QG_SEEN_##id,
#include "judge/evidence.def"
#undef E
    QG_EVIDENCE_COUNT
} qg_evidence;

typedef struct qg_evidence_info {
    const char *name;  /* "bits" */
    const char *title; /* "one bit at a time" */
} qg_evidence_info;

extern const qg_evidence_info qg_evidences[QG_EVIDENCE_COUNT];

typedef enum qg_severity {
    QG_NOTE, /* worth knowing, not wrong */
    QG_WRONG /* the kernel does not do what the specification says */
} qg_severity;

typedef struct qg_finding {
    qg_evidence evidence;
    qg_severity severity;
    const char *rule;     /* a short name that does not change with the format: "wrong-element" */
    const char *sentence; /* one, in the specification's words */
    const char *repeat;   /* shape and data with which it was seen; NULL: any */
    /* What it is about, for pictures. */
    uint32_t code;     /* in layout->codes; n_codes: none */
    uint32_t buffer;   /* of the bits */
    uint32_t bit;      /* the first, from the start of the block's part of the buffer */
    uint32_t bits;     /* how many; 0: none */
    const char *right; /* elements that they belong to, "160..191"; NULL: not about elements */
    const char *found; /* elements that they reach; "none" */
} qg_finding;

/* What is known of a bit of the block. */
typedef enum qg_bit_state {
    QG_BIT_UNSEEN, /* not tried */
    QG_BIT_SPARE,  /* belongs to no code, and reaches nothing */
    QG_BIT_RIGHT,  /* reaches the elements that it belongs to, and no others */
    QG_BIT_WRONG,  /* reaches others, or not all */
    QG_BIT_UNREAD  /* reaches nothing, and should */
} qg_bit_state;

typedef struct qg_evidence_run {
    bool done;
    const char *left_out; /* why not; or what of it */
    uint32_t launches;
    uint64_t compared; /* values */
    double seconds;
} qg_evidence_run;

typedef struct qg_judgement {
    const qg_layout *layout;
    const char *file;    /* as it was named */
    const char *kernel;  /* entry point */
    const char *harness; /* its name */
    const char *family;  /* "dequant" */
    const char *type;    /* of results: "f16" */
    const char *where;   /* "llvmpipe (...), subgroups of 8" */
    const char *sum;     /* the class that sums are held to; NULL where nothing is summed */
    double seconds;
    double worst_error; /* of sums, as a part of the bound */
    double nmse;        /* errors by values, squared, of 16 rows of random data; negative: not taken */
    uint32_t n_findings, capacity;
    qg_finding *findings; /* in the order of evidence */
    qg_evidence_run runs[QG_EVIDENCE_COUNT];
    uint8_t **bits; /* qg_bit_state, for each buffer of the layout and bit of a block */
} qg_judgement;

/* How many findings are QG_WRONG. */
uint32_t qg_judgement_wrong(const qg_judgement *judgement);

/* ---- report_*.c: one judgement, or several of one call, for people and machines ---------------------------------- */

/* At most `most` findings of each evidence, and how many more there are. */
void qg_report_text(qg_text *text, const qg_judgement *const *judgements, uint32_t count, uint32_t most, bool color);
/* A page that needs no other file. */
void qg_report_html(qg_text *text, const qg_judgement *const *judgements, uint32_t count);
void qg_report_json(qg_text *text, const qg_judgement *const *judgements, uint32_t count);
/* SARIF 2.1.0. */
void qg_report_sarif(qg_text *text, const qg_judgement *const *judgements, uint32_t count);

#endif
