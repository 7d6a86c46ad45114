/* The report for terminals: as a compiler speaks, and a summary at the end. */
#include "judge/report.h"

#include <string.h>

typedef struct printer {
    qg_text *text;
    qg_arena *arena;
    const qg_judgement *judgement;
    uint32_t most;
    bool color;
} printer;

/* `style` is what stands in the escape sequence. */
static const char *styled(const printer *p, const char *style, const char *text) {
    return p->color ? qg_format(p->arena, "\033[%sm%s\033[0m", style, text) : text;
}

static const char *of_severity(qg_severity severity) { return severity == QG_WRONG ? "1;31" : "1;36"; }

static void add_head(const printer *p) {
    const qg_judgement *it = p->judgement;
    qg_text_printf(p->text, "%s: ", styled(p, "1", qg_report_visible(p->arena, it->file)));
    if (it->kernel != NULL) {
        qg_text_printf(p->text, "%s, ", qg_report_visible(p->arena, it->kernel));
    }
    qg_text_printf(p->text, "%s of %s", qg_report_visible(p->arena, it->family),
                   qg_report_visible(p->arena, it->layout->name));
    if (it->type != NULL) {
        qg_text_printf(p->text, " to %s", qg_report_visible(p->arena, it->type));
    }
    if (it->where != NULL) {
        qg_text_printf(p->text, ", on %s", qg_report_visible(p->arena, it->where));
    }
    qg_text_printf(p->text, ", %s\n", qg_report_seconds(p->arena, it->seconds));
    if (it->harness != NULL) {
        qg_text_printf(p->text, "  harness %s\n", qg_report_visible(p->arena, it->harness));
    }
}

static void add_finding(const printer *p, const qg_finding *finding) {
    qg_text_printf(p->text, "    %s%s%s\n", styled(p, of_severity(finding->severity), qg_severities[finding->severity]),
                   finding->severity == QG_WRONG ? "  " : "   ", qg_report_visible(p->arena, finding->sentence));
    if (finding->repeat != NULL) {
        qg_text_printf(p->text, "           seen with %s\n", qg_report_visible(p->arena, finding->repeat));
    }
}

/* What is wrong comes first, so that no note takes its place. */
static void add_findings(const printer *p, qg_evidence evidence) {
    const qg_judgement *it = p->judgement;
    uint32_t shown = 0, left[QG_WRONG + 1] = {0};
    for (int severity = QG_WRONG; severity >= QG_NOTE; severity--) {
        for (uint32_t i = 0; i < it->n_findings; i++) {
            const qg_finding *finding = &it->findings[i];
            if (finding->evidence != evidence || finding->severity != (qg_severity)severity) {
                continue;
            }
            if (shown < p->most) {
                add_finding(p, finding);
                shown++;
            } else {
                left[severity]++;
            }
        }
    }
    if (left[QG_WRONG] + left[QG_NOTE] > 0) {
        qg_text_printf(p->text, "    and %u more%s\n", left[QG_WRONG] + left[QG_NOTE],
                       left[QG_WRONG] == 0 ? ", none of them wrong" : "");
    }
}

static void add_evidence(const printer *p, qg_evidence evidence) {
    const qg_evidence_run *run = &p->judgement->runs[evidence];
    const char *why = run->left_out == NULL ? NULL : qg_report_visible(p->arena, run->left_out);
    qg_text_printf(p->text, "  %-6s  ", qg_evidences[evidence].name);
    if (!run->done) {
        qg_text_printf(p->text, "left out%s%s\n", why == NULL ? "" : ": ", why == NULL ? "" : why);
        add_findings(p, evidence);
        return;
    }
    uint32_t wrong = qg_report_count(p->judgement, evidence, QG_WRONG);
    qg_text_printf(p->text, "done, %s, %s compared, ", qg_report_many(p->arena, run->launches, "launch", "launches"),
                   qg_report_many(p->arena, run->compared, "value", "values"));
    qg_text_puts(p->text, wrong == 0 ? styled(p, "32", "none wrong")
                                     : styled(p, of_severity(QG_WRONG), qg_format(p->arena, "%u wrong", wrong)));
    if (evidence == QG_SEEN_SUMS && p->judgement->sum != NULL) {
        qg_text_printf(p->text, ", at most %.3g of the bound of %s", p->judgement->worst_error,
                       qg_report_visible(p->arena, p->judgement->sum));
    }
    qg_text_printf(p->text, "%s%s\n", why == NULL ? "" : "; left out: ", why == NULL ? "" : why);
    add_findings(p, evidence);
}

void qg_report_text(qg_text *text, const qg_judgement *const *judgements, uint32_t count, uint32_t most, bool color) {
    for (uint32_t i = 0; i < count; i++) {
        printer p = {text, text->arena, judgements[i], most, color};
        add_head(&p);
        for (uint32_t e = 0; e < QG_EVIDENCE_COUNT; e++) {
            add_evidence(&p, (qg_evidence)e);
        }
        qg_text_puts(text, "\n");
    }
    qg_text_printf(text, "%s\n", qg_report_summary(text->arena, judgements, count));
}
