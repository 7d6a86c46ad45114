/* Judgements for a terminal. */
#include "judge/judge.h"

#include <string.h>

typedef struct paint {
    qg_text *text;
    bool color;
} paint;

/* One word, in colour where that is wanted. */
static void word(const paint *p, const char *code, const char *what) {
    if (p->color)
        qg_text_printf(p->text, "\033[%sm%s\033[0m", code, what);
    else
        qg_text_puts(p->text, what);
}

static uint32_t wrong_of(const qg_judgement *j, qg_evidence evidence) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < j->n_findings; ++i)
        count += j->findings[i].evidence == evidence && j->findings[i].severity == QG_WRONG;
    return count;
}

static void evidence_line(const paint *p, const qg_judgement *j, qg_evidence e) {
    const qg_evidence_run *run = &j->runs[e];
    const uint32_t wrong = wrong_of(j, e);
    qg_text_printf(p->text, "  %-7s %-26s ", qg_evidences[e].name, qg_evidences[e].title);
    if (!run->done) {
        qg_text_printf(p->text, "not taken: %s\n", run->left_out ? run->left_out : "nothing more could be launched");
        return;
    }
    word(p, wrong ? "1;31" : "32", wrong ? qg_format(p->text->arena, "%u wrong", wrong) : "right");
    qg_text_printf(p->text, "; %u launches, %llu results, %.2f s\n", run->launches, (unsigned long long)run->compared,
                   run->seconds);
    if (run->left_out) qg_text_printf(p->text, "  %-34s left out: %s\n", "", run->left_out);
}

static void findings(const paint *p, const qg_judgement *j, uint32_t most) {
    for (uint32_t e = 0; e < QG_EVIDENCE_COUNT; ++e) {
        uint32_t said = 0, more = 0;
        for (uint32_t i = 0; i < j->n_findings; ++i) {
            const qg_finding *f = &j->findings[i];
            if (f->evidence != (qg_evidence)e) continue;
            if (++said > most) {
                more += 1;
                continue;
            }
            word(p, f->severity == QG_WRONG ? "1;31" : "1;34", f->severity == QG_WRONG ? "wrong" : "note");
            qg_text_printf(p->text, "%s %s\n", f->severity == QG_WRONG ? " " : "  ", f->sentence);
        }
        if (more)
            qg_text_printf(p->text, "       and %u more by %s; --json and --html have all\n", more,
                           qg_evidences[e].name);
    }
}

static void one(const paint *p, const qg_judgement *j, uint32_t most) {
    const uint32_t wrong = qg_judgement_wrong(j);
    qg_text_printf(p->text, "%s: %s, judged by %s (%s, harness %s)\n  on %s, %.1f s\n", j->file, j->kernel,
                   j->layout->name, j->family, j->harness, j->where, j->seconds);
    for (uint32_t e = 0; e < QG_EVIDENCE_COUNT; ++e) evidence_line(p, j, (qg_evidence)e);
    if (j->sum && j->runs[QG_SEEN_SUMS].done)
        qg_text_printf(p->text, "  the largest error of a sum is %.3g of the bound of %s\n", j->worst_error, j->sum);
    findings(p, j, most);
    if (!wrong) qg_text_puts(p->text, "nothing wrong was found\n");
    qg_text_puts(p->text, "\n");
}

void qg_report_text(qg_text *text, const qg_judgement *const *judgements, uint32_t count, uint32_t most, bool color) {
    const paint p = {text, color};
    uint32_t wrong = 0, found = 0;
    for (uint32_t i = 0; i < count; ++i) {
        one(&p, judgements[i], most);
        found += qg_judgement_wrong(judgements[i]);
        wrong += qg_judgement_wrong(judgements[i]) != 0;
    }
    qg_text_printf(text, "%u kernel%s judged: %u wrong (%u finding%s), %u clean\n", count, count == 1 ? "" : "s", wrong,
                   found, found == 1 ? "" : "s", count - wrong);
}
