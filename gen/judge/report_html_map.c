/* The picture of the block. Rows hold few bytes, as many as a narrow window shows with their labels, and stand beside
 * each other where there is more room. Below the name of each cell is the state of each of its bits. */
#include "judge/report_html.h"
#include "spec/show.h"

#include <string.h>

enum {
    MOST_LISTED = 3, /* findings that a cell names */
    LEAST_FOLDED = 4 /* rows that are worth a line to unfold them */
};

typedef struct map {
    const qg_page *page;
    const qg_show *show;
} map;

/* From what a reader must see to what needs no look. */
static const uint8_t gravity[QG_BIT_STATES] = {
    [QG_BIT_SPARE] = 0, [QG_BIT_RIGHT] = 1, [QG_BIT_UNSEEN] = 2, [QG_BIT_UNREAD] = 3, [QG_BIT_WRONG] = 4};

static uint8_t state_of(const map *m, uint32_t buffer, uint32_t bit) {
    return m->page->judgement->bits == NULL ? QG_BIT_UNSEEN : m->page->judgement->bits[buffer][bit];
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

static const char *const meanings[QG_BIT_STATES] = {
    [QG_BIT_UNSEEN] = "not tried",
    [QG_BIT_SPARE] = "spare, and not read",
    [QG_BIT_RIGHT] = "right",
    [QG_BIT_WRONG] = "reaching the wrong elements",
    [QG_BIT_UNREAD] = "never read, and should be",
};

static void add_count(qg_text *text, qg_arena *arena, uint32_t count, uint8_t state) {
    qg_text_printf(text, "%s%s %s", text->length == 0 ? "" : ", ", qg_report_many(arena, count, "bit", "bits"),
                   meanings[state]);
}

/* "90 bits right, 6 bits reaching the wrong elements" */
static const char *told(const map *m, uint32_t buffer, uint32_t bit, uint32_t bits) {
    uint32_t counts[QG_BIT_STATES] = {0};
    qg_text text = qg_text_new(m->page->arena);
    for (uint32_t i = 0; i < bits; i++) {
        counts[state_of(m, buffer, bit + i)]++;
    }
    for (uint8_t s = 0; s < QG_BIT_STATES; s++) {
        if (counts[s] > 0) {
            add_count(&text, m->page->arena, counts[s], s);
        }
    }
    return text.data;
}

void qg_html_legend(const qg_page *page) {
    static const uint8_t order[] = {QG_BIT_WRONG, QG_BIT_UNREAD, QG_BIT_RIGHT, QG_BIT_SPARE, QG_BIT_UNSEEN};
    uint32_t counts[QG_BIT_STATES];
    qg_report_bits(page->judgement, counts);
    qg_html(page, "<ul class=\"legend\" aria-label=\"Key\">\n");
    for (uint32_t i = 0; i < QG_BIT_STATES; i++) {
        if (counts[order[i]] > 0) {
            qg_html(page, "<li><i class=\"%s\"></i>%s %s</li>\n", qg_bit_states[order[i]],
                    qg_report_many(page->arena, counts[order[i]], "bit", "bits"), meanings[order[i]]);
        }
    }
    qg_html(page, "</ul>\n");
}

/* ---- cells ------------------------------------------------------------------------------------------------------- */

static bool is_about(const qg_finding *finding, uint32_t buffer, const qg_show_cell *cell) {
    return finding->severity == QG_WRONG && finding->buffer == buffer && finding->bits > 0 &&
           finding->bit < cell->bit + cell->width && cell->bit < finding->bit + finding->bits;
}

/* The numbers of the findings about a cell. */
static const char *numbers(const map *m, uint32_t buffer, const qg_show_cell *cell) {
    qg_text text = qg_text_new(m->page->arena);
    uint32_t count = 0;
    for (uint32_t i = 0; i < m->page->judgement->n_findings; i++) {
        if (is_about(&m->page->judgement->findings[i], buffer, cell)) {
            count++;
            if (count <= MOST_LISTED) {
                qg_text_printf(&text, "%s%u", count == 1 ? "" : ",", i + 1);
            } else if (count == MOST_LISTED + 1) {
                qg_text_puts(&text, "+");
            }
        }
    }
    return text.data;
}

static void add_cell(const map *m, uint32_t buffer, const qg_show_cell *cell) {
    const qg_page *page = m->page;
    uint8_t worst = QG_BIT_SPARE;
    for (uint32_t i = 0; i < cell->width; i++) {
        uint8_t state = state_of(m, buffer, cell->bit + i);
        worst = gravity[state] > gravity[worst] ? state : worst;
    }
    bool bad = gravity[worst] >= gravity[QG_BIT_UNREAD];
    const char *name = qg_html_escaped(page->arena, qg_show_label(m->show, cell));
    const char *about = bad ? numbers(m, buffer, cell) : NULL;
    qg_html(page, "<span class=\"cell%s%s\" style=\"flex:%u\"", worst == QG_BIT_RIGHT ? "" : " is-",
            worst == QG_BIT_RIGHT ? "" : qg_bit_states[worst], cell->width);
    if (bad) {
        qg_html(page, " title=\"%s%s%s: %s%s%s\"", name, cell->part ? " " : "",
                cell->part ? qg_show_part(m->show, cell) : "", told(m, buffer, cell->bit, cell->width),
                about == NULL ? "" : "; findings ", about == NULL ? "" : about);
    }
    qg_html(page, "><b>%s", name);
    if (cell->ranged) {
        qg_html(page, "<br/>%s", qg_show_part(m->show, cell));
    }
    if (about != NULL) {
        qg_html(page, "<br/><em>%s</em>", about);
    }
    qg_html(page, "</b><span class=\"bits\">");
    for (uint32_t i = 0; i < cell->width; i++) {
        qg_html(page, "<i class=\"%s\"></i>", qg_bit_states[state_of(m, buffer, cell->bit + i)]);
    }
    qg_html(page, "</span></span>");
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static uint32_t row_bit(const qg_show_section *section, uint32_t row) {
    return (section->byte + row * section->row_bytes) * 8;
}

/* Of the last row, only what there is. */
static uint32_t row_bits(const qg_show_section *section, uint32_t row) {
    uint32_t rest = section->bytes - row * section->row_bytes;
    return (rest < section->row_bytes ? rest : section->row_bytes) * 8;
}

static void add_row(const map *m, const qg_show_section *section, uint32_t row) {
    uint32_t missing = section->row_bytes * 8 - row_bits(section, row);
    qg_html(m->page, "<div class=\"row\"><span class=\"at\">%u</span><span class=\"cells\">",
            row_bit(section, row) / 8);
    for (uint32_t i = section->rows[row]; i < section->rows[row + 1]; i++) {
        add_cell(m, section->buffer, &section->cells[i]);
    }
    if (missing > 0 && section->n_rows > 1) {
        qg_html(m->page, "<span style=\"flex:%u\"></span>", missing);
    }
    qg_html(m->page, "</span></div>\n");
}

/* A picture, whose label tells in words what there is to see. */
static void add_rows(const map *m, const qg_show_section *section, uint32_t from, uint32_t to) {
    uint32_t bits = row_bit(section, to - 1) + row_bits(section, to - 1) - row_bit(section, from);
    const char *where = qg_show_bytes(m->page->arena, row_bit(section, from) / 8, bits / 8);
    qg_html(m->page, "<div class=\"rows%s\" role=\"img\" aria-label=\"%s: %s\" style=\"--w:%u\">\n",
            section->n_rows == 1 ? " one" : "", where, told(m, section->buffer, row_bit(section, from), bits),
            (section->row_bytes * 8 * section->bit_width + 999) / 1000);
    for (uint32_t row = from; row < to; row++) {
        add_row(m, section, row);
    }
    qg_html(m->page, "</div>\n");
}

/* Whether a row has the owners and the states that the row a period before has. */
static bool is_alike(const map *m, const qg_show_section *section, uint32_t row) {
    if (row < section->hidden || row >= section->shown) {
        return false;
    }
    uint32_t back = section->period * section->row_bytes * 8;
    for (uint32_t i = 0; i < row_bits(section, row); i++) {
        uint32_t bit = row_bit(section, row) + i;
        if (state_of(m, section->buffer, bit) != state_of(m, section->buffer, bit - back)) {
            return false;
        }
    }
    return true;
}

/* Rows [from, to) that continue what those before them do, behind a line that says so. */
static void add_folded(const map *m, const qg_show_section *section, uint32_t from, uint32_t to) {
    uint32_t bytes = (to - from) * section->row_bytes;
    qg_html(m->page, "<details class=\"fold\"><summary>%s continue in the same way: %s</summary>\n",
            qg_show_bytes(m->page->arena, row_bit(section, from) / 8, bytes),
            told(m, section->buffer, row_bit(section, from), bytes * 8));
    add_rows(m, section, from, to);
    qg_html(m->page, "</details>\n");
}

static void add_section_rows(const map *m, const qg_show_section *section) {
    uint32_t drawn = 0;
    for (uint32_t row = 0; row < section->n_rows;) {
        uint32_t end = row;
        while (end < section->n_rows && is_alike(m, section, end)) {
            end++;
        }
        if (end - row >= LEAST_FOLDED) {
            add_rows(m, section, drawn, row);
            add_folded(m, section, row, end);
            drawn = end;
        }
        row = end + 1;
    }
    if (drawn < section->n_rows) {
        add_rows(m, section, drawn, section->n_rows);
    }
}

/* ---- the block --------------------------------------------------------------------------------------------------- */

static void add_section(const map *m, const qg_show_section *section) {
    const qg_layout *layout = m->page->judgement->layout;
    qg_html(m->page, "<figure class=\"field\">\n<figcaption>");
    for (uint32_t f = 0; f < section->n_fields; f++) {
        const char *field = qg_show_field(m->show, &layout->fields[section->first_field + f]);
        qg_html(m->page, "<strong class=\"mono\">%s</strong> ", qg_html_escaped(m->page->arena, field));
    }
    qg_html(m->page, "<span class=\"soft\">%s%s%s</span></figcaption>\n",
            qg_show_bytes(m->page->arena, section->byte, section->bytes), section->note[0] == '\0' ? "" : ", ",
            qg_html_escaped(m->page->arena, section->note));
    add_section_rows(m, section);
    qg_html(m->page, "</figure>\n");
}

void qg_html_map(const qg_page *page) {
    /* In thousandths of a pixel: a window of 320 px, less its margins and the addresses; letters of 10 px. */
    static const qg_show_room room = {
        .row = 256000, .character = 6100, .padding = 4000, .least = 7500, .step = 1, .stacked = true};
    const qg_layout *layout = page->judgement->layout;
    map m = {page, qg_show_new(page->arena, layout, &room)};
    for (uint32_t s = 0; s < m.show->n_sections; s++) {
        const qg_show_section *section = &m.show->sections[s];
        if (layout->n_buffers > 1 && (s == 0 || section[-1].buffer != section->buffer)) {
            qg_html(page, "<p class=\"buffer\">Buffer %s</p>\n",
                    qg_html_escaped(page->arena, layout->buffers[section->buffer].name));
        }
        add_section(&m, section);
    }
}
