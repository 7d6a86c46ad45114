/* The report as one page that needs no other file. Its text may come from a kernel's file or a driver, so that nothing
 * gets into the page that is not escaped, and the page forbids scripts and what lies elsewhere. */
#include "judge/report_html.h"
#include "spec/show.h"

#include <stdarg.h>
#include <string.h>

enum { MOST_FINDINGS = 16 /* before the rest is folded */ };

/* ---- markup ------------------------------------------------------------------------------------------------------ */

void qg_html(const qg_page *page, const char *format, ...) {
    char small[512];
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    int needed = vsnprintf(small, sizeof small, format, list);
    if (needed >= 0 && (size_t)needed < sizeof small) {
        qg_text_add(page->text, small, (size_t)needed);
    } else if (needed >= 0) {
        char *large = qg_alloc(page->arena, (size_t)needed + 1);
        vsnprintf(large, (size_t)needed + 1, format, again);
        qg_text_add(page->text, large, (size_t)needed);
    }
    va_end(again);
    va_end(list);
}

const char *qg_html_escaped(qg_arena *arena, const char *raw) {
    qg_text text = qg_text_new(arena);
    for (const char *at = qg_report_visible(arena, raw); *at != '\0'; at++) {
        switch (*at) {
        case '&': qg_text_puts(&text, "&amp;"); break;
        case '<': qg_text_puts(&text, "&lt;"); break;
        case '>': qg_text_puts(&text, "&gt;"); break;
        case '"': qg_text_puts(&text, "&quot;"); break;
        case '\'': qg_text_puts(&text, "&#39;"); break;
        default: qg_text_add(&text, at, 1);
        }
    }
    return text.data != NULL ? text.data : "";
}

/* ---- the verdict ------------------------------------------------------------------------------------------------- */

static const char *verdict_class(const qg_judgement *judgement) {
    static const char *const classes[QG_VERDICT_COUNT] = {"is-clean", "is-wrong", "is-none"};
    return classes[qg_verdict_of(judgement)];
}

static const char *are(uint32_t count) { return count == 1 ? "is" : "are"; }

static const char *bits_sentence(const qg_page *page) {
    uint32_t n[QG_BIT_STATES], all = 0;
    qg_report_bits(page->judgement, n);
    for (uint32_t s = 0; s < QG_BIT_STATES; s++) {
        all += n[s];
    }
    const char *total = qg_report_number(page->arena, all);
    const char *wrong = qg_report_number(page->arena, n[QG_BIT_WRONG]);
    const char *unread = qg_report_number(page->arena, n[QG_BIT_UNREAD]);
    const char *reach = n[QG_BIT_WRONG] == 1 ? "reaches" : "reach";
    if (n[QG_BIT_WRONG] > 0 && n[QG_BIT_UNREAD] > 0) {
        return qg_format(page->arena, "Of the %s bits of a block, %s %s the wrong elements, and %s %s never read.",
                         total, wrong, reach, unread, are(n[QG_BIT_UNREAD]));
    }
    if (n[QG_BIT_WRONG] > 0) {
        return qg_format(page->arena, "Of the %s bits of a block, %s %s the wrong elements.", total, wrong, reach);
    }
    if (n[QG_BIT_UNREAD] > 0) {
        return qg_format(page->arena, "Of the %s bits of a block, %s %s never read.", total, unread,
                         are(n[QG_BIT_UNREAD]));
    }
    if (n[QG_BIT_UNSEEN] > 0) {
        return qg_format(page->arena, "Of the %s bits of a block, %s %s not tried.", total,
                         qg_report_number(page->arena, n[QG_BIT_UNSEEN]), n[QG_BIT_UNSEEN] == 1 ? "was" : "were");
    }
    return qg_format(page->arena,
                     "Each of the %s bits of a block reaches the elements that it belongs to, and no others.", total);
}

static void add_verdict(const qg_page *page) {
    const qg_judgement *it = page->judgement;
    uint32_t left = 0, wrong = qg_judgement_wrong(it);
    for (uint32_t e = 0; e < QG_EVIDENCE_COUNT; e++) {
        left += !it->runs[e].done;
    }
    qg_html(page, "<p class=\"verdict %s\"><span class=\"label\">", verdict_class(it));
    switch (qg_verdict_of(it)) {
    case QG_VERDICT_WRONG:
        qg_html(page, "Wrong: %s.</span> %s", qg_report_many(page->arena, wrong, "finding", "findings"),
                bits_sentence(page));
        break;
    case QG_VERDICT_CLEAN: qg_html(page, "Nothing wrong was found.</span> %s", bits_sentence(page)); break;
    default: qg_html(page, "Not judged:</span> no evidence could be taken.");
    }
    if (left > 0 && qg_verdict_of(it) != QG_VERDICT_NONE) {
        qg_html(page, " %u of %d kinds of evidence %s left out.", left, (int)QG_EVIDENCE_COUNT,
                left == 1 ? "was" : "were");
    }
    qg_html(page, "</p>\n");
}

static void add_fact(const qg_page *page, const char *name, const char *value) {
    if (value != NULL && value[0] != '\0') {
        qg_html(page, "<div><dt>%s</dt><dd>%s</dd></div>\n", name, qg_html_escaped(page->arena, value));
    }
}

static void add_facts(const qg_page *page) {
    const qg_judgement *it = page->judgement;
    const qg_show show = {.arena = page->arena, .layout = it->layout};
    qg_html(page, "<dl class=\"facts\">\n");
    add_fact(page, "Format", it->layout->name);
    add_fact(page, "Block", qg_show_size(&show));
    add_fact(page, "Entry point", it->kernel);
    add_fact(page, "Computes",
             it->type == NULL ? it->family : qg_format(page->arena, "%s to %s", it->family, it->type));
    add_fact(page, "Harness", it->harness);
    add_fact(page, "Ran on", it->where);
    if (it->sum != NULL) {
        add_fact(page, "Sums are held to",
                 qg_format(page->arena, "%s; at most %.3g of its bound", it->sum, it->worst_error));
    }
    add_fact(page, "Time", qg_report_seconds(page->arena, it->seconds));
    qg_html(page, "</dl>\n");
}

/* ---- findings ---------------------------------------------------------------------------------------------------- */

static void add_finding(const qg_page *page, uint32_t index) {
    const qg_finding *finding = &page->judgement->findings[index];
    const char *severity = qg_severities[finding->severity];
    qg_html(page, "<li id=\"j%uf%u\"><span class=\"number\">%u</span><span class=\"label is-%s\">%s</span>",
            page->number, index + 1, index + 1, severity, severity);
    qg_html(page, "<div class=\"what\"><p>%s</p><p class=\"aside\">%s", qg_html_escaped(page->arena, finding->sentence),
            qg_evidences[finding->evidence].title);
    if (finding->rule != NULL) {
        qg_html(page, ", <code>%s</code>", qg_html_escaped(page->arena, finding->rule));
    }
    if (finding->repeat != NULL) {
        qg_html(page, "; seen with %s", qg_html_escaped(page->arena, finding->repeat));
    }
    qg_html(page, "</p></div></li>\n");
}

static void add_findings(const qg_page *page) {
    uint32_t count = page->judgement->n_findings, shown = count < MOST_FINDINGS ? count : MOST_FINDINGS;
    if (count == 0) {
        return;
    }
    qg_html(page, "<h3>Findings</h3>\n<ol class=\"findings\">\n");
    for (uint32_t i = 0; i < shown; i++) {
        add_finding(page, i);
    }
    qg_html(page, "</ol>\n");
    if (shown < count) {
        qg_html(page, "<details><summary>and %u more</summary>\n<ol class=\"findings\">\n", count - shown);
        for (uint32_t i = shown; i < count; i++) {
            add_finding(page, i);
        }
        qg_html(page, "</ol></details>\n");
    }
}

/* ---- evidence ---------------------------------------------------------------------------------------------------- */

static void add_number(const qg_page *page, const char *label, const char *number) {
    qg_html(page, "<td class=\"n\" role=\"cell\" data-label=\"%s\">%s</td>", label, number);
}

static void add_run(const qg_page *page, qg_evidence evidence) {
    const qg_evidence_run *run = &page->judgement->runs[evidence];
    uint32_t wrong = qg_report_count(page->judgement, evidence, QG_WRONG);
    qg_html(page, "<tr role=\"row\"><th scope=\"row\" role=\"rowheader\">%s</th><td role=\"cell\">%s",
            qg_evidences[evidence].title, run->done ? "done" : "left out");
    if (run->left_out != NULL) {
        qg_html(page, "%s%s", run->done ? "; left out: " : ": ", qg_html_escaped(page->arena, run->left_out));
    }
    qg_html(page, "</td>");
    add_number(page, "launches", qg_report_number(page->arena, run->launches));
    add_number(page, "values compared", qg_report_number(page->arena, run->compared));
    add_number(page, "wrong",
               wrong == 0 ? run->done ? "none" : "\xE2\x80\x93"
                          : qg_format(page->arena, "<span class=\"label is-wrong\">%u</span>", wrong));
    add_number(page, "notes", qg_report_number(page->arena, qg_report_count(page->judgement, evidence, QG_NOTE)));
    add_number(page, "time", qg_report_seconds(page->arena, run->seconds));
    qg_html(page, "</tr>\n");
}

static void add_evidence(const qg_page *page) {
    static const char *const columns[] = {"launches", "values compared", "wrong", "notes", "time"};
    qg_html(
        page,
        "<h3>Evidence</h3>\n<div class=\"evidence\"><table role=\"table\"><thead role=\"rowgroup\"><tr role=\"row\">"
        "<th scope=\"col\" role=\"columnheader\">evidence</th><th scope=\"col\" role=\"columnheader\">taken</th>");
    for (uint32_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        qg_html(page, "<th class=\"n\" scope=\"col\" role=\"columnheader\">%s</th>", columns[i]);
    }
    qg_html(page, "</tr></thead>\n<tbody role=\"rowgroup\">\n");
    for (uint32_t e = 0; e < QG_EVIDENCE_COUNT; e++) {
        add_run(page, (qg_evidence)e);
    }
    qg_html(page, "</tbody></table></div>\n");
}

/* ---- the page ---------------------------------------------------------------------------------------------------- */

static void add_judgement(const qg_page *page) {
    const char *file = qg_html_escaped(page->arena, page->judgement->file);
    qg_html(page, "<section class=\"judgement\" id=\"j%u\" aria-labelledby=\"j%uh\">\n<h2 id=\"j%uh\">%s</h2>\n",
            page->number, page->number, page->number, file);
    add_verdict(page);
    add_facts(page);
    add_findings(page);
    qg_html(page, "<h3>The block, bit by bit</h3>\n");
    qg_html_legend(page);
    qg_html_map(page);
    qg_html(page,
            "<p class=\"soft\">The number before a row is that of its first byte. Bit 0 of each byte, the lowest, is "
            "at the "
            "left. %s</p>\n",
            qg_judgement_wrong(page->judgement) == 0 ? "" : "Numbers on red are those of findings.");
    qg_html_pairs(page);
    add_evidence(page);
    qg_html(page, "</section>\n");
}

static void add_index(const qg_page *page, const qg_judgement *const *judgements, uint32_t count) {
    qg_html(page, "<nav aria-label=\"Kernels\"><ol class=\"index\">\n");
    for (uint32_t i = 0; i < count; i++) {
        const qg_judgement *it = judgements[i];
        qg_html(page,
                "<li><a href=\"#j%u\">%s</a> <span class=\"soft\">%s</span> <span class=\"label %s\">%s</span></li>\n",
                i + 1, qg_html_escaped(page->arena, it->file), qg_html_escaped(page->arena, it->layout->name),
                verdict_class(it), qg_verdicts[qg_verdict_of(it)]);
    }
    qg_html(page, "</ol></nav>\n");
}

void qg_report_html(qg_text *text, const qg_judgement *const *judgements, uint32_t count) {
    qg_page page = {.text = text, .arena = text->arena};
    const char *summary = qg_html_escaped(text->arena, qg_report_summary(text->arena, judgements, count));
    qg_html(&page,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n<meta "
            "http-equiv=\"Content-Security-Policy\" "
            "content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\"/>\n<meta name=\"viewport\" "
            "content=\"width=device-width, initial-scale=1\"/>\n<link rel=\"icon\" "
            "href=\"data:,\"/>\n<title>%s</title>\n<style>\n",
            summary);
    for (const char *const *style = qg_html_style; *style != NULL; style++) {
        qg_text_puts(text, *style);
    }
    qg_html(
        &page,
        "</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#main\">Skip to the verdict</a>\n<header>\n<h1>%s</h1>\n",
        summary);
    if (count > 1) {
        add_index(&page, judgements, count);
    }
    qg_html(&page, "</header>\n<main id=\"main\" tabindex=\"-1\">\n");
    for (uint32_t i = 0; i < count; i++) {
        page.judgement = judgements[i];
        page.number = i + 1;
        add_judgement(&page);
    }
    qg_html(&page, "</main>\n<footer>qkgen judge %s</footer>\n</body>\n</html>\n", QG_VERSION);
}
