/* Two pictures side by side: the elements that bits belong to, and those that they reach. Findings stand in the order
 * of the codes, and between them, where they are few, the parts of the same code that are right, so that what a kernel
 * mixes up can be seen. */
#include "judge/report_html.h"
#include "spec/show.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_CONTEXT = 32, /* instances of a code that are drawn with those that are wrong */
    MOST_ROWS = 24,    /* before the rest is folded */
    MOST_RANGES = 3,   /* that a row of context lists */
    TICKS = 8
};

typedef struct pair {
    uint32_t code, instance;
    const qg_finding *finding; /* NULL: of context */
    uint32_t number;
} pair;

typedef struct pairs {
    uint32_t count, capacity;
    pair *items;
} pairs;

/* ---- which rows -------------------------------------------------------------------------------------------------- */

static bool is_pair(const qg_judgement *judgement, const qg_finding *finding) {
    return finding->severity == QG_WRONG && finding->bits > 0 && finding->buffer < judgement->layout->n_buffers &&
           finding->right != NULL && finding->found != NULL;
}

static int in_order(const void *left, const void *right) {
    const pair *a = left, *b = right;
    if (a->code != b->code) return a->code < b->code ? -1 : 1;
    if (a->instance != b->instance) return a->instance < b->instance ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* Instances of the codes with findings that no finding is about. */
static void add_context(const qg_page *page, pairs *rows) {
    const qg_layout *layout = page->judgement->layout;
    uint32_t found = rows->count;
    for (uint32_t c = 0; c < layout->n_codes; c++) {
        bool *taken = QG_NEW_ARRAY(page->arena, bool, layout->codes[c].count);
        bool concerned = false;
        for (uint32_t i = 0; i < found; i++) {
            if (rows->items[i].code == c) {
                taken[rows->items[i].instance] = concerned = true;
            }
        }
        for (uint32_t j = 0; concerned && layout->codes[c].count <= MOST_CONTEXT && j < layout->codes[c].count; j++) {
            if (!taken[j]) {
                pair row = {.code = c, .instance = j};
                QG_PUSH(page->arena, rows->items, rows->count, rows->capacity, row);
            }
        }
    }
}

static pairs find_pairs(const qg_page *page) {
    const qg_judgement *judgement = page->judgement;
    pairs rows = {0};
    for (uint32_t i = 0; i < judgement->n_findings; i++) {
        const qg_finding *finding = &judgement->findings[i];
        if (!is_pair(judgement, finding)) {
            continue;
        }
        const qg_owner *owners = qg_bit_map(page->arena, judgement->layout, finding->buffer);
        uint32_t end = judgement->layout->buffers[finding->buffer].bytes * 8;
        qg_owner owner = finding->bit < end ? owners[finding->bit] : (qg_owner){0};
        pair row = {.code = UINT32_MAX, .finding = finding, .number = i + 1};
        if (owner.kind == QG_OWNER_CODE) {
            row.code = owner.code;
            row.instance = owner.instance;
        }
        QG_PUSH(page->arena, rows.items, rows.count, rows.capacity, row);
    }
    add_context(page, &rows);
    if (rows.count > 0) {
        qsort(rows.items, rows.count, sizeof *rows.items, in_order);
    }
    return rows;
}

/* ---- elements ---------------------------------------------------------------------------------------------------- */

/* "0..31, 64..95 and 7" as a set; NULL where the text says something else. */
static bool *parse_elements(const qg_page *page, const char *text) {
    uint32_t elements = page->judgement->layout->elements;
    bool *set = QG_NEW_ARRAY(page->arena, bool, elements);
    if (strcmp(text, "none") == 0) {
        return set;
    }
    for (const char *at = text; *at != '\0';) {
        char *end;
        unsigned long first = strtoul(at, &end, 10), last = first;
        if (end == at || *at < '0' || *at > '9') {
            return NULL;
        }
        if (strncmp(end, "..", 2) == 0) {
            at = end + 2;
            last = strtoul(at, &end, 10);
        }
        if (end == at || first > last || last >= elements) {
            return NULL;
        }
        memset(set + first, true, last - first + 1);
        at = end + (strncmp(end, ", ", 2) == 0 ? 2 : strncmp(end, " and ", 5) == 0 ? 5 : 0);
        if (at == end && *at != '\0') {
            return NULL;
        }
    }
    return set;
}

/* Elements that an instance serves, and in words. */
static bool *own_elements(const qg_page *page, const pair *row, const char **words) {
    const qg_layout *layout = page->judgement->layout;
    bool *set = QG_NEW_ARRAY(page->arena, bool, layout->elements);
    qg_text text = qg_text_new(page->arena);
    uint32_t ranges = 0;
    for (uint32_t e = 0; e < layout->elements; e++) {
        set[e] = qg_instance_of(layout, &layout->codes[row->code], e) == row->instance;
    }
    for (uint32_t e = 0, next; e < layout->elements; e = next) {
        next = e + 1;
        if (!set[e]) {
            continue;
        }
        while (next < layout->elements && set[next]) {
            next++;
        }
        ranges++;
        if (ranges <= MOST_RANGES) {
            qg_text_printf(&text, next == e + 1 ? "%s%u" : "%s%u..%u", ranges == 1 ? "" : ", ", e, next - 1);
        }
    }
    qg_text_puts(&text, ranges > MOST_RANGES ? ", ..." : "");
    *words = text.data;
    return set;
}

/* ---- strips ------------------------------------------------------------------------------------------------------ */

/* Runs of elements for which `of` and `but` differ so: drawn at least as wide as can be seen. */
static void add_runs(const qg_page *page, const char *style, const bool *in, const bool *also, bool with) {
    uint32_t n = page->judgement->layout->elements, least = (n + 99) / 100;
    for (uint32_t e = 0; e < n; e++) {
        uint32_t first = e;
        while (e < n && in[e] && (also == NULL || also[e] == with)) {
            e++;
        }
        if (e > first) {
            uint32_t width = e - first < least ? least : e - first;
            qg_html(page, "<rect class=\"%s\" x=\"%u\" y=\"1\" width=\"%u\" height=\"8\"/>", style,
                    first + width > n ? n - width : first, width);
        }
    }
}

/* The elements of `found`, of which those that are not in `right` are wrong; what is missing is outlined. */
static void add_strip(const qg_page *page, const bool *right, const bool *found) {
    uint32_t n = page->judgement->layout->elements;
    qg_html(page, "<svg class=\"strip\" viewBox=\"0 0 %u 10\" preserveAspectRatio=\"none\" aria-hidden=\"true\">", n);
    for (uint32_t t = 1; t < TICKS && n >= TICKS; t++) {
        qg_html(page, "<rect class=\"tick\" x=\"%u\" y=\"0\" width=\"%.3g\" height=\"10\"/>", n * t / TICKS, n / 400.0);
    }
    if (right != NULL && found != right) {
        add_runs(page, "missing", right, found, false);
    }
    add_runs(page, "own", found, right, true);
    if (right != NULL) {
        add_runs(page, "other", found, right, false);
    }
    qg_html(page, "</svg>");
}

static void add_cell(const qg_page *page, const bool *right, const bool *shown, const char *words, bool bad) {
    qg_html(page, bad ? "<td class=\"bad\">" : "<td>");
    if (shown != NULL) {
        add_strip(page, right, shown);
    }
    qg_html(page, "<span class=\"range mono\">%s</span></td>", qg_html_escaped(page->arena, words));
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

static const char *name_of(const qg_page *page, const pair *row) {
    const qg_layout *layout = page->judgement->layout;
    const qg_show show = {.arena = page->arena, .layout = layout};
    if (row->code == UINT32_MAX) {
        return "spare";
    }
    qg_owner owner = {.kind = QG_OWNER_CODE, .code = row->code, .instance = row->instance};
    return qg_html_escaped(page->arena, qg_show_name(&show, &owner));
}

static const char *place_of(const qg_page *page, const qg_finding *finding) {
    uint32_t byte = finding->bit / 8, low = finding->bit % 8, last = finding->bit + finding->bits - 1;
    return finding->bits == 1 ? qg_format(page->arena, "byte %u, bit %u", byte, low)
           : last / 8 == byte
               ? qg_format(page->arena, "byte %u, bits %u..%u", byte, low, last % 8)
               : qg_format(page->arena, "byte %u bit %u to byte %u bit %u", byte, low, last / 8, last % 8);
}

static void add_pair(const qg_page *page, const pair *row) {
    if (row->finding == NULL) {
        const char *words;
        const bool *own = own_elements(page, row, &words);
        qg_html(page, "<tr class=\"context\"><th scope=\"row\"><span class=\"mono\">%s</span></th>",
                name_of(page, row));
        add_cell(page, NULL, own, words, false);
        add_cell(page, NULL, own, words, false);
        qg_html(page, "</tr>\n");
        return;
    }
    const qg_finding *finding = row->finding;
    const bool *right = parse_elements(page, finding->right), *found = parse_elements(page, finding->found);
    qg_html(
        page,
        "<tr><th scope=\"row\"><span class=\"mono\">%s</span> <a href=\"#j%uf%u\" aria-label=\"finding %u\">%u</a><br/>"
        "<small>%s</small></th>",
        name_of(page, row), page->number, row->number, row->number, row->number, place_of(page, finding));
    add_cell(page, NULL, right, finding->right, false);
    add_cell(page, right, found, finding->found, true);
    qg_html(page, "</tr>\n");
}

static void add_table(const qg_page *page, const pairs *rows, uint32_t from, uint32_t to) {
    uint32_t last = page->judgement->layout->elements - 1;
    const char *axis = qg_format(
        page->arena, "<span class=\"axis mono\" aria-hidden=\"true\"><span>0</span><span>%u</span></span>", last);
    qg_html(page,
            "<table class=\"pairs\"><thead><tr><th scope=\"col\">Bits</th><th scope=\"col\">belong to elements %s</th>"
            "<th scope=\"col\">reach elements %s</th></tr></thead>\n<tbody>\n",
            axis, axis);
    for (uint32_t i = from; i < to; i++) {
        add_pair(page, &rows->items[i]);
    }
    qg_html(page, "</tbody></table>\n");
}

void qg_html_pairs(const qg_page *page) {
    const pairs rows = find_pairs(page);
    if (rows.count == 0) {
        return;
    }
    qg_html(page, "<h3>What bits belong to, and what they reach</h3>\n<p class=\"soft\">On the left what the "
                  "specification says, on the "
                  "right what this kernel does: red where bits reach elements that are not theirs, a broken line where "
                  "they do not reach "
                  "their own.</p>\n");
    uint32_t shown = rows.count < MOST_ROWS ? rows.count : MOST_ROWS;
    add_table(page, &rows, 0, shown);
    if (shown < rows.count) {
        qg_html(page, "<details><summary>and %u more</summary>\n", rows.count - shown);
        add_table(page, &rows, shown, rows.count);
        qg_html(page, "</details>\n");
    }
}
