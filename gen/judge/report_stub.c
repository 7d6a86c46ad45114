#include "judge/judge.h"
void qg_report_text(qg_text *text, const qg_judgement *const *judgements, uint32_t count, uint32_t most, bool color) {
    (void)color, (void)most;
    for (uint32_t i = 0; i < count; ++i) {
        const qg_judgement *j = judgements[i];
        qg_text_printf(text, "%s %s %s on %s: %.2f s\n", j->file, j->kernel, j->layout->name, j->where, j->seconds);
        for (int e = 0; e < QG_EVIDENCE_COUNT; ++e)
            qg_text_printf(text, "  %-8s %s %u launches, %llu compared, %.2f s%s%s\n", qg_evidences[e].name,
                           j->runs[e].done ? "done" : "-", j->runs[e].launches, (unsigned long long)j->runs[e].compared,
                           j->runs[e].seconds, j->runs[e].left_out ? "; left out: " : "",
                           j->runs[e].left_out ? j->runs[e].left_out : "");
        for (uint32_t f = 0; f < j->n_findings; ++f)
            qg_text_printf(text, "%s [%s] %s: %s\n", j->findings[f].severity ? "wrong" : "note",
                           qg_evidences[j->findings[f].evidence].name, j->findings[f].rule, j->findings[f].sentence);
        qg_text_printf(text, "worst error/bound %.3g\n", j->worst_error);
    }
}
void qg_report_html(qg_text *text, const qg_judgement *const *j, uint32_t n) { (void)text, (void)j, (void)n; }
void qg_report_json(qg_text *text, const qg_judgement *const *j, uint32_t n) { (void)text, (void)j, (void)n; }
void qg_report_sarif(qg_text *text, const qg_judgement *const *j, uint32_t n) { (void)text, (void)j, (void)n; }
