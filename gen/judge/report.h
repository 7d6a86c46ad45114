/* report.h: what the reports share. */
#ifndef QKGEN_REPORT_H
#define QKGEN_REPORT_H

#include "judge/judge.h"

/* What a judgement comes to. */
typedef enum qg_verdict {
    QG_VERDICT_CLEAN,
    QG_VERDICT_WRONG,
    QG_VERDICT_NONE, /* no evidence was taken, and nothing found */
    QG_VERDICT_COUNT
} qg_verdict;

extern const char *const qg_verdicts[QG_VERDICT_COUNT];    /* "clean", "wrong", "not judged" */
extern const char *const qg_severities[QG_WRONG + 1];      /* "note", "wrong" */
extern const char *const qg_bit_states[QG_BIT_UNREAD + 1]; /* "unseen", "spare", "right", "wrong", "unread" */
enum { QG_BIT_STATES = QG_BIT_UNREAD + 1 };

qg_verdict qg_verdict_of(const qg_judgement *judgement);
/* "3 kernels judged: 1 wrong (2 findings), 2 clean". */
const char *qg_report_summary(qg_arena *arena, const qg_judgement *const *judgements, uint32_t count);
/* Findings of one evidence and severity. */
uint32_t qg_report_count(const qg_judgement *judgement, qg_evidence evidence, qg_severity severity);
/* Bits of the block in each state, over all buffers. */
void qg_report_bits(const qg_judgement *judgement, uint32_t counts[QG_BIT_STATES]);

/* The text as valid UTF-8: what is none becomes U+FFFD. "" for NULL. */
const char *qg_report_utf8(qg_arena *arena, const char *text);
/* The same for people to see: control characters, and those that turn the direction of writing, are written out as
 * \x1B or \u{202E}, so that a name cannot change what stands around it. */
const char *qg_report_visible(qg_arena *arena, const char *text);
/* 1234567 as "1,234,567". */
const char *qg_report_number(qg_arena *arena, uint64_t number);
/* "1 launch", "1,152 launches". */
const char *qg_report_many(qg_arena *arena, uint64_t number, const char *one, const char *several);
/* "0.04 s", "12 s". */
const char *qg_report_seconds(qg_arena *arena, double seconds);
/* The code that a finding names, or NULL. */
const char *qg_report_code(const qg_judgement *judgement, const qg_finding *finding);

#endif
