/* Judgements as one page that needs no other file: the verdict, the block with what was read rightly, wrongly and
 * never, and the
 * sentences. Without scripts. */
#include "judge/judge.h"

#include <string.h>

static const char *const state_names[] = {"unseen", "spare", "right", "wrong", "never"};
static const char *const state_words[] = {"not tried", "of no code", "right", "wrong", "never read"};

static const char style[] =
    ":root{color-scheme:light dark;--paper:#fbfaf7;--ink:#1d1f21;--soft:#5f6368;--line:#d9d6ce;--card:#fff;"
    "--right:#2e7d4f;--right-in:#fff;--wrong:#b3261e;--wrong-in:#fff;--never:#8a6d00;--never-in:#fff;--spare:#e7e4dc;"
    "--spare-in:#5f6368}\n"
    "@media(prefers-color-scheme:dark){:root{--paper:#16181a;--ink:#e8e6e1;--soft:#a3a6aa;--line:#34373a;--card:#"
    "1e2124;"
    "--right:#2f8f5b;--wrong:#d9483f;--never:#b08900;--never-in:#000;--spare:#2b2e31;--spare-in:#a3a6aa}}\n"
    "*{box-sizing:border-box}body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 "
    "system-ui,sans-serif}\n"
    "main{max-width:62rem;margin:0 auto;padding:1.5rem 1rem 4rem}h1{font-size:1.5rem;margin:.5rem 0 1rem}\n"
    "h2{font-size:1.15rem;margin:0;overflow-wrap:anywhere}h3{font-size:1rem;margin:1.5rem 0 .5rem}\n"
    "article{background:var(--card);border:1px solid var(--line);border-radius:.5rem;padding:1rem;margin:0 0 1.5rem}\n"
    ".about{color:var(--soft);margin:.25rem 0 1rem;overflow-wrap:anywhere}.verdict{font-weight:600;margin:.75rem 0}\n"
    ".verdict.bad{color:var(--wrong)}.verdict.good{color:var(--right)}\n"
    "nav{margin:0 0 1.5rem}nav "
    "td{overflow-wrap:anywhere}a{color:inherit}.skip{position:absolute;left:-99rem}.skip:focus{left:1rem;top:1rem;"
    "background:var(--card);padding:"
    ".5rem}\n"
    ":focus-visible{outline:3px solid #4c8bf5;outline-offset:2px}\n"
    "table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.3rem .6rem .3rem 0;border-bottom:1px "
    "solid var(--line);"
    "vertical-align:top;font-weight:400}thead th{color:var(--soft);font-size:.85rem}td.n{text-align:right;"
    "font-variant-numeric:tabular-nums}\n"
    ".wide{overflow-x:auto}ol{padding-left:1.5rem}li{margin:.4rem 0;overflow-wrap:anywhere}\n"
    ".tag{font-size:.8rem;font-weight:700;text-transform:uppercase;letter-spacing:.03em;margin-right:.5rem}\n"
    ".tag.wrong{color:var(--wrong)}.tag.note{color:var(--soft)}\n"
    ".field{margin:.6rem 0}.field b{font-weight:600}.bytes{display:flex;flex-wrap:wrap;gap:3px;margin-top:.25rem}\n"
    ".byte{display:flex;border-radius:3px;overflow:hidden}.byte i{display:block;width:11px;height:20px;font:10px/20px "
    "ui-monospace,monospace;text-align:center;font-style:normal}\n"
    ".right{background:var(--right);color:var(--right-in)}.wrong{background:var(--wrong);color:var(--wrong-in)}"
    ".never{background:var(--never);color:var(--never-in)}.spare,.unseen{background:var(--spare);color:var(--spare-in)}"
    "\n"
    ".tag.wrong,.tag.note{background:none}.key span{display:inline-block;padding:0 .4rem;border-radius:3px;margin:0 "
    ".8rem .3rem 0;"
    "font-size:.85rem}\n"
    "summary{cursor:pointer;padding:.2rem 0}\n"
    "@media print{body{background:#fff;color:#000}article{break-inside:avoid-page;border-color:#999}.byte i{"
    "print-color-adjust:exact;-webkit-print-color-adjust:exact}.skip{display:none}}\n";

/* Text between tags, or in quotes. Bytes that a page may not hold become '?'. */
static void put(qg_text *text, const char *what) {
    for (const unsigned char *c = (const unsigned char *)(what ? what : ""); *c; ++c) {
        const char byte = (char)*c;
        if (*c == '<')
            qg_text_puts(text, "&lt;");
        else if (*c == '>')
            qg_text_puts(text, "&gt;");
        else if (*c == '&')
            qg_text_puts(text, "&amp;");
        else if (*c == '"')
            qg_text_puts(text, "&quot;");
        else if (*c < 32 && *c != '\n' && *c != '\t')
            qg_text_puts(text, "?");
        else
            qg_text_add(text, &byte, 1);
    }
}

static uint32_t wrong_by(const qg_judgement *j, uint32_t evidence) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < j->n_findings; ++i)
        count += (uint32_t)j->findings[i].evidence == evidence && j->findings[i].severity == QG_WRONG;
    return count;
}

static void evidence_table(qg_text *text, const qg_judgement *j) {
    qg_text_puts(text,
                 "<h3>What was looked at</h3>\n<div class=\"wide\"><table><thead><tr><th>evidence<th>result<th>launches"
                 "<th>results<th>seconds</tr></thead><tbody>\n");
    for (uint32_t e = 0; e < QG_EVIDENCE_COUNT; ++e) {
        const qg_evidence_run *run = &j->runs[e];
        qg_text_printf(text, "<tr><th scope=\"row\">%s<td>", qg_evidences[e].title);
        if (!run->done)
            qg_text_puts(text, "not taken");
        else if (wrong_by(j, e))
            qg_text_printf(text, "<strong>%u wrong</strong>", wrong_by(j, e));
        else
            qg_text_puts(text, "right");
        if (run->left_out) {
            qg_text_puts(text, run->done ? "; left out: " : ": ");
            put(text, run->left_out);
        }
        qg_text_printf(text, "<td class=\"n\">%u<td class=\"n\">%llu<td class=\"n\">%.2f</tr>\n", run->launches,
                       (unsigned long long)run->compared, run->seconds);
    }
    qg_text_puts(text, "</tbody></table></div>\n");
}

/* The code of a bit, and its instance. */
static const char *owner_name(qg_arena *arena, const qg_layout *layout, const qg_owner *owner) {
    if (owner->kind != QG_OWNER_CODE) return "spare";
    const qg_code *c = &layout->codes[owner->code];
    return c->count == 1 ? c->name : qg_format(arena, "%s[%u]", c->name, owner->instance);
}

static void byte_cells(qg_text *text, const qg_judgement *j, uint32_t buffer, const qg_owner *map, uint32_t byte) {
    static const char letters[] = {' ', ' ', ' ', 'x', '-'};
    qg_text_printf(text, "<span class=\"byte\" title=\"byte %u: ", byte);
    const char *last = "";
    for (uint32_t bit = byte * 8; bit < byte * 8 + 8; ++bit) {
        const char *name = owner_name(text->arena, j->layout, &map[bit]);
        if (strcmp(name, last)) {
            qg_text_puts(text, *last ? ", " : "");
            put(text, name);
        }
        last = name;
    }
    qg_text_puts(text, "\">");
    for (uint32_t bit = byte * 8 + 8; bit-- > byte * 8;) {
        const uint8_t state = j->bits[buffer][bit];
        qg_text_printf(text, "<i class=\"%s\">%c</i>", state_names[state], letters[state]);
    }
    qg_text_puts(text, "</span>");
}

/* The codes that a field holds, for those who do not see the picture. */
static void field_codes(qg_text *text, const qg_judgement *j, const qg_owner *map, uint32_t from, uint32_t to) {
    bool seen[256] = {0};
    uint32_t count = 0;
    for (uint32_t bit = from; bit < to; ++bit) {
        if (map[bit].kind != QG_OWNER_CODE || map[bit].code >= 256 || seen[map[bit].code]) continue;
        seen[map[bit].code] = true;
        qg_text_puts(text, count++ ? ", " : ": ");
        put(text, j->layout->codes[map[bit].code].name);
    }
}

static void field_picture(qg_text *text, const qg_judgement *j, const qg_field *f) {
    const qg_owner *map = qg_bit_map(text->arena, j->layout, f->buffer);
    const uint32_t bytes = f->count * qg_scalars[f->type].bits / 8;
    uint32_t states[5] = {0};
    for (uint32_t bit = f->offset * 8; bit < (f->offset + bytes) * 8; ++bit) states[j->bits[f->buffer][bit]] += 1;
    qg_text_puts(text, "<div class=\"field\"><b>");
    put(text, f->name);
    qg_text_printf(text, "</b> %s%s, bytes %u to %u", qg_scalars[f->type].name,
                   f->is_array ? qg_format(text->arena, "[%u]", f->count) : "", f->offset, f->offset + bytes - 1);
    field_codes(text, j, map, f->offset * 8, (f->offset + bytes) * 8);
    for (int s = 0; s < 5; ++s)
        if (states[s]) qg_text_printf(text, "; %u %s", states[s], state_words[s]);
    qg_text_puts(text, "<div class=\"bytes\" aria-hidden=\"true\">");
    for (uint32_t byte = f->offset; byte < f->offset + bytes; ++byte) byte_cells(text, j, f->buffer, map, byte);
    qg_text_puts(text, "</div></div>\n");
}

static void block_picture(qg_text *text, const qg_judgement *j) {
    if (!j->bits || !j->runs[QG_SEEN_BITS].done) return;
    qg_text_puts(
        text,
        "<h3>The block, bit by bit</h3>\n<p class=\"key\"><span class=\"right\">right</span><span class=\"wrong\">x "
        "reaches other elements, or not all</span><span class=\"never\">- never read</span><span class=\"spare\">of "
        "no code, or not tried</span></p>\n");
    for (uint32_t i = 0; i < j->layout->n_fields; ++i) field_picture(text, j, &j->layout->fields[i]);
    qg_text_puts(text, "<p class=\"about\">In a byte, the highest bit is on the left.</p>\n");
}

static void two_sides(qg_text *text, const qg_judgement *j) {
    uint32_t rows = 0;
    for (uint32_t i = 0; i < j->n_findings; ++i) {
        const qg_finding *f = &j->findings[i];
        if (!f->bits) continue;
        if (rows++ == 0)
            qg_text_puts(
                text,
                "<h3>Where bits belong, and where they were found</h3>\n<div class=\"wide\"><table><thead><tr><th>bits"
                "<th>belong to elements<th>reach elements</tr></thead><tbody>\n");
        qg_text_puts(text, "<tr><th scope=\"row\">");
        put(text, f->code < j->layout->n_codes ? j->layout->codes[f->code].name : "of no code");
        qg_text_printf(text, ", byte %u, %u bit%s from bit %u on<td>", f->bit / 8, f->bits, f->bits == 1 ? "" : "s",
                       f->bit % 8);
        put(text, f->right);
        qg_text_puts(text, "<td>");
        put(text, f->found);
        qg_text_puts(text, "</tr>\n");
    }
    if (rows) qg_text_puts(text, "</tbody></table></div>\n");
}

static void finding_list(qg_text *text, const qg_judgement *j) {
    if (!j->n_findings) return;
    qg_text_puts(text, "<h3>Findings</h3>\n<ol>\n");
    for (uint32_t i = 0; i < j->n_findings; ++i) {
        const bool wrong = j->findings[i].severity == QG_WRONG;
        qg_text_printf(text, "<li><span class=\"tag %s\">%s</span>", wrong ? "wrong" : "note",
                       wrong ? "wrong" : "note");
        put(text, j->findings[i].sentence);
        qg_text_puts(text, "</li>\n");
    }
    qg_text_puts(text, "</ol>\n");
}

static void one(qg_text *text, const qg_judgement *j, uint32_t number) {
    const uint32_t wrong = qg_judgement_wrong(j);
    qg_text_printf(text, "<article id=\"kernel-%u\" aria-labelledby=\"name-%u\">\n<h2 id=\"name-%u\">", number, number,
                   number);
    put(text, j->kernel);
    qg_text_puts(text, "</h2>\n<p class=\"about\">");
    put(text, j->file);
    qg_text_puts(text, "; format ");
    put(text, j->layout->name);
    qg_text_printf(text, "; %s to %s; harness ", j->family, j->type);
    put(text, j->harness);
    qg_text_puts(text, "; on ");
    put(text, j->where);
    qg_text_printf(text, "; %.1f s</p>\n<p class=\"verdict %s\">", j->seconds, wrong ? "bad" : "good");
    if (wrong)
        qg_text_printf(text, "%u finding%s: the kernel does not do what the specification says.", wrong,
                       wrong == 1 ? "" : "s");
    else
        qg_text_puts(text, "Nothing wrong was found.");
    qg_text_puts(text, "</p>\n");
    finding_list(text, j);
    block_picture(text, j);
    two_sides(text, j);
    evidence_table(text, j);
    qg_text_puts(text, "</article>\n");
}

static void overview(qg_text *text, const qg_judgement *const *judgements, uint32_t count) {
    if (count < 2) return;
    qg_text_puts(
        text,
        "<nav aria-label=\"Kernels\"><div class=\"wide\"><table><thead><tr><th>kernel<th>format<th>verdict</tr></thead>"
        "<tbody>\n");
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t wrong = qg_judgement_wrong(judgements[i]);
        qg_text_printf(text, "<tr><td><a href=\"#kernel-%u\">", i);
        put(text, judgements[i]->file);
        qg_text_puts(text, ": ");
        put(text, judgements[i]->kernel);
        qg_text_puts(text, "</a><td>");
        put(text, judgements[i]->layout->name);
        qg_text_printf(text, "<td>%s</tr>\n",
                       wrong ? qg_format(text->arena, "<strong>%u wrong</strong>", wrong) : "clean");
    }
    qg_text_puts(text, "</tbody></table></div></nav>\n");
}

void qg_report_html(qg_text *text, const qg_judgement *const *judgements, uint32_t count) {
    qg_text_puts(
        text, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
              "content=\"width=device-width, initial-scale=1\">\n<link rel=\"icon\" href=\"data:,\">\n<title>Kernels "
              "judged</title>\n<style>\n");
    qg_text_puts(text, style);
    qg_text_puts(text,
                 "</style>\n</head>\n<body>\n<a class=\"skip\" href=\"#all\">To the findings</a>\n<main id=\"all\" "
                 "tabindex=\"-1\">\n<h1>Kernels judged by their formats' specifications</h1>\n");
    overview(text, judgements, count);
    for (uint32_t i = 0; i < count; ++i) one(text, judgements[i], i);
    qg_text_printf(text, "<p class=\"about\">qkgen judge %s</p>\n</main>\n</body>\n</html>\n", QG_VERSION);
}
