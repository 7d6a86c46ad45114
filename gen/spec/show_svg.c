/* The block map as a drawing. Lengths are in tenths of a pixel, so that all arithmetic is in integers. */
#include "spec/show.h"

#include <string.h>

enum {
    LEFT = 840, /* of the map; row offsets stand before it */
    MAP = 9600,
    WIDTH = LEFT + MAP + 360,
    EDGE = 360, /* of the text */
    LEGEND = 78 /* a character of 13 px: monospaced fonts are 0.6 of their size wide */
};

typedef struct canvas {
    const qg_show *show;
    qg_text *text;
    uint32_t y;
} canvas;

/* ---- elements ------------------------------------------------------------------------------------------------- */

static const char *px(const canvas *c, uint32_t tenths) {
    return qg_format(c->show->arena, tenths % 10 == 0 ? "%u" : "%u.%u", tenths / 10, tenths % 10);
}

static void add_escaped(qg_text *text, const char *bytes, size_t length) {
    for (size_t i = 0; i < length; i++) {
        switch (bytes[i]) {
        case '&': qg_text_puts(text, "&amp;"); break;
        case '<': qg_text_puts(text, "&lt;"); break;
        case '>': qg_text_puts(text, "&gt;"); break;
        default: qg_text_add(text, &bytes[i], 1);
        }
    }
}

/* One line of text; `style` is a class of the style sheet, "" for none. */
static void add_text(const canvas *c, uint32_t x, uint32_t y, const char *style, const char *bytes, size_t length) {
    qg_text_printf(c->text, "<text x=\"%s\" y=\"%s\"", px(c, x), px(c, y));
    qg_text_printf(c->text, style[0] == '\0' ? ">" : " class=\"%s\">", style);
    add_escaped(c->text, bytes, length);
    qg_text_puts(c->text, "</text>\n");
}

static void add_label(const canvas *c, uint32_t x, uint32_t y, const char *style, const char *label) {
    add_text(c, x, y, style, label, strlen(label));
}

/* Labels of one height and style, in one text: the attributes of each would be most of a picture. */
typedef struct labels {
    uint32_t y;
    const char *style;
    qg_text parts;
} labels;

static labels labels_at(const canvas *c, uint32_t y, const char *style) {
    return (labels){.y = y, .style = style, .parts = qg_text_new(c->show->arena)};
}

static void join_label(const canvas *c, labels *to, uint32_t x, const char *label) {
    qg_text_printf(&to->parts, "<tspan x=\"%s\">", px(c, x));
    add_escaped(&to->parts, label, strlen(label));
    qg_text_puts(&to->parts, "</tspan>");
}

static void add_labels(const canvas *c, const labels *all) {
    if (all->parts.length == 0) return;
    qg_text_printf(c->text, "<text y=\"%s\" class=\"%s\">%s</text>\n", px(c, all->y), all->style, all->parts.data);
}

/* A paragraph in lines of `size` tenths of a pixel. */
static void add_lines(canvas *c, uint32_t x, uint32_t size, const char *style, const char *text) {
    while (*text != '\0') {
        size_t length = qg_show_line(text, (WIDTH - EDGE - x) * 10 / (6 * size));
        c->y += size * 3 / 2;
        add_text(c, x, c->y, style, text, length);
        text += length;
        text += strspn(text, " ");
    }
}

/* Text in 13 px that begins on this line and goes on below where it does not fit. */
static void add_wrapped(canvas *c, uint32_t x, const char *style, const char *text) {
    size_t length = qg_show_line(text, (WIDTH - EDGE - x) / LEGEND);
    add_text(c, x, c->y, style, text, length);
    text += length;
    add_lines(c, x, 130, style, text + strspn(text, " "));
}

/* `more` holds further attributes. */
static void add_rect(const canvas *c, uint32_t x, uint32_t y, uint32_t width, uint32_t height, const char *more) {
    qg_text_printf(c->text, "<rect x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\" %s/>\n", px(c, x), px(c, y),
                   px(c, width), px(c, height), more);
}

static const char *fill(const canvas *c, const qg_owner *owner, bool whole) {
    return qg_format(c->show->arena, "fill=\"#%06X\"", (unsigned)qg_show_color(c->show, owner, whole));
}

/* A name on its colour; `y` is the base line of a text of `size`. */
static void add_chip(const canvas *c, uint32_t x, uint32_t y, uint32_t size, const qg_owner *owner, const char *name) {
    uint32_t width = (uint32_t)strlen(name) * size * 6 / 10;
    const char *more = qg_format(c->show->arena, "rx=\"3\" %s", fill(c, owner, true));
    add_rect(c, x - 20, y - size, width + 40, size * 4 / 3, more);
    add_label(c, x + width / 2, y, size > 140 ? "f m" : "m", name);
}

/* ---- head ----------------------------------------------------------------------------------------------------- */

static qg_owner owner_of(uint32_t code) { return (qg_owner){.kind = QG_OWNER_CODE, .code = code}; }

static qg_owner example_of(const qg_show *show, uint32_t code) {
    qg_owner owner = owner_of(code);
    owner.instance = qg_instance_of(show->layout, &show->layout->codes[code], show->example);
    return owner;
}

/* The formula in 16 px; with the names of instances when it is that of the example. */
static void add_formula(canvas *c, bool example) {
    const uint32_t each = 96;
    const char *lead = "value = ";
    uint32_t start = EDGE + 40 + (uint32_t)strlen(lead) * each, x = start;
    c->y += 300;
    add_label(c, EDGE + 40, c->y, "f", lead);
    for (const char *at = c->show->value; *at != '\0';) {
        size_t length;
        uint32_t code = qg_show_piece(c->show, at, &length);
        qg_owner owner = code == UINT32_MAX ? (qg_owner){0} : example_of(c->show, code);
        const char *name = code == UINT32_MAX ? qg_strndup(c->show->arena, at, length)
                           : example          ? qg_show_name(c->show, &owner)
                                              : c->show->layout->codes[code].name;
        uint32_t width = (uint32_t)strlen(name) * each;
        if (x > start && x + width > WIDTH - EDGE) {
            x = start;
            c->y += 260;
        }
        if (code == UINT32_MAX) {
            size_t blank = strspn(name, " ");
            add_label(c, x + (uint32_t)blank * each, c->y, "f", name + blank);
        } else {
            add_chip(c, x, c->y, 160, &owner, name);
        }
        x += width;
        at += length;
    }
    c->y += 60;
}

static uint32_t longer(uint32_t most, const char *text) {
    uint32_t length = (uint32_t)strlen(text);
    return length > most ? length : most;
}

/* Where the parts of a code lie, each part with its shade, and each segment on a line of its own. */
static void add_places(canvas *c, uint32_t code, uint32_t left) {
    const qg_code *it = &c->show->layout->codes[code];
    uint32_t x = left;
    if (it->n_slices == 1) {
        add_wrapped(c, x, "g", qg_show_places(c->show, it));
        return;
    }
    for (uint32_t s = 0; s < it->n_slices; s++) {
        qg_owner owner = owner_of(code);
        owner.slice = s;
        const qg_slice *slice = &it->slices[s];
        bool begins = s > 0 && slice->first != slice[-1].first, whole = slice->bits == it->width;
        const char *text =
            qg_format(c->show->arena, "%s%s%sin %s", s == 0 || begins ? qg_show_segment(c->show, it, slice) : "",
                      whole ? "" : qg_show_range(c->show->arena, slice->shift, slice->bits), whole ? "" : " ",
                      qg_show_place(c->show, slice));
        uint32_t width = 180 + (uint32_t)strlen(text) * LEGEND;
        if (x > left && (begins || x + width > WIDTH - EDGE)) {
            x = left;
            c->y += begins ? 240 : 200;
        }
        add_rect(c, x, c->y - 110, 130, 130, qg_format(c->show->arena, "rx=\"2\" %s", fill(c, &owner, whole)));
        add_label(c, x + 180, c->y, "g", text);
        x += width + 160;
    }
}

/* Each code in a line; where long names leave no room for that, in several. */
static void add_codes(canvas *c) {
    const qg_layout *layout = c->show->layout;
    uint32_t name = 0, width = 0, count = 0;
    for (uint32_t i = 0; i < layout->n_codes; i++) {
        name = longer(name, layout->codes[i].name);
        width = longer(width, qg_show_width(c->show, &layout->codes[i]));
        count = longer(count, qg_show_count(c->show, i));
    }
    for (uint32_t i = 0; i < layout->n_tables; i++) {
        name = longer(name, layout->tables[i].name);
    }
    bool stacked = (name + width + count + 6) * LEGEND > (WIDTH - 2 * EDGE) * 3 / 4;
    c->y += 60;
    for (uint32_t i = 0; i < layout->n_codes; i++) {
        uint32_t code = c->show->order[i], x = EDGE + 40;
        qg_owner owner = owner_of(code);
        c->y += 240;
        add_chip(c, x, c->y, 130, &owner, layout->codes[code].name);
        x += ((stacked ? 0 : name) + 2) * LEGEND;
        c->y += stacked ? 200 : 0;
        add_label(c, x, c->y, "", qg_show_width(c->show, &layout->codes[code]));
        x += (width + 2) * LEGEND;
        add_wrapped(c, x, "", qg_show_count(c->show, code));
        x += stacked ? 0 : (count + 2) * LEGEND;
        c->y += stacked ? 200 : 0;
        add_places(c, code, x);
    }
    for (uint32_t i = 0; i < layout->n_tables; i++) {
        c->y += 240;
        add_label(c, EDGE + 40, c->y, "", layout->tables[i].name);
        add_wrapped(c, EDGE + 40 + (name + 2) * LEGEND, "", qg_show_table(c->show, &layout->tables[i]));
    }
}

static void add_example(canvas *c) {
    const qg_show *show = c->show;
    uint32_t name = 0;
    for (uint32_t i = 0; i < show->layout->n_codes; i++) {
        qg_owner owner = example_of(show, i);
        name = longer(name, qg_show_name(show, &owner));
    }
    c->y += 250;
    add_lines(c, EDGE, 140, "b",
              qg_format(show->arena, "For example, element %u (heavy outlines in the map)", show->example));
    add_formula(c, true);
    for (uint32_t i = 0; i < show->layout->n_codes; i++) {
        qg_owner owner = example_of(show, show->order[i]);
        c->y += 240;
        add_chip(c, EDGE + 40, c->y, 130, &owner, qg_show_name(show, &owner));
        add_wrapped(c, EDGE + 40 + (name + 2) * LEGEND, "", qg_show_where(show, owner.code));
    }
}

static void add_head(canvas *c) {
    const qg_layout *layout = c->show->layout;
    c->y = 180;
    add_lines(c, EDGE, 260, "h", layout->name);
    add_lines(c, EDGE, 150, "s", layout->summary != NULL ? layout->summary : "");
    add_lines(c, EDGE, 150, "s", qg_show_size(c->show));
    add_lines(c, EDGE, 150, "s", layout->parameters);
    c->y += 100;
    add_formula(c, false);
    add_codes(c);
    add_example(c);
    c->y += 250;
    add_lines(c, EDGE, 140, "b", "The map");
    add_lines(c, EDGE, 130, "g", qg_show_guide(c->show));
}

/* ---- map ------------------------------------------------------------------------------------------------------ */

static uint32_t bit_width(const qg_show_section *section) { return MAP / 8 / section->row_bytes; }

/* The label strip of the fields of a section, then the numbers of bytes and bits. */
static void add_strip(canvas *c, const qg_show_section *section) {
    const qg_show *show = c->show;
    uint32_t bit = bit_width(section), bytes = section->bytes;
    bytes = bytes < section->row_bytes ? bytes : section->row_bytes;
    for (uint32_t f = 0; f < section->n_fields; f++) {
        const qg_field *field = &show->layout->fields[section->first_field + f];
        uint32_t size = field->count * qg_scalars[field->type].bits / 8, most = size < bytes ? size : bytes;
        uint32_t x = LEFT + (field->offset - section->byte) * 8 * bit;
        const char *name = qg_show_field(show, field), *note = section->note;
        const char *rest = qg_format(show->arena, "%s%s%s", qg_show_bytes(show->arena, field->offset, size),
                                     note[0] == '\0' ? "" : ", ", note);
        add_rect(c, x, c->y, most * 8 * bit, 240, "class=\"p\"");
        add_rect(c, x, c->y, 30, 240, "class=\"q\"");
        /* Of several fields, each label ends before the next. */
        bool last = f + 1 == section->n_fields;
        uint32_t room = (last ? LEFT + MAP - x : most * 8 * bit) - 100, length = (uint32_t)strlen(name);
        add_text(c, x + 100, c->y + 170, "b", name, length * 84 <= room ? length : room / 84);
        if ((length + 2) * 84 + strlen(rest) * LEGEND <= room) {
            add_label(c, x + 100 + (length + 2) * 84, c->y + 170, "g", rest);
        }
    }
    c->y += 240;
    labels numbers = labels_at(c, c->y + 140, "r"), bits = labels_at(c, c->y + 250, "d");
    for (uint32_t b = 0; b < bytes; b++) {
        join_label(c, &numbers, LEFT + (8 * b + 4) * bit, qg_format(show->arena, "+%u", b));
    }
    for (uint32_t b = 0; b < 8 * bytes; b += bit < 100 ? 4 : 1) { /* all of them, where they do not touch */
        join_label(c, &bits, LEFT + (2 * b + 1) * bit / 2, qg_format(show->arena, "%u", b % 8));
    }
    add_labels(c, &numbers);
    add_labels(c, &bits);
    c->y += 280;
}

/* A row of cells, whose first bit is at the left. */
typedef struct cell_row {
    const qg_show_cell *cells;
    uint32_t n, bit, height;
} cell_row;

static uint32_t cell_x(const cell_row *r, uint32_t i) { return LEFT + (r->cells[i].bit - r->cells[0].bit) * r->bit; }

/* Neighbours of one colour are one area: the lines between them come later. */
static void add_fills(const canvas *c, const cell_row *r) {
    for (uint32_t i = 0, width; i < r->n;) {
        const uint32_t x = cell_x(r, i);
        const char *color = fill(c, &r->cells[i].owner, !r->cells[i].part);
        for (width = 0; i < r->n && strcmp(color, fill(c, &r->cells[i].owner, !r->cells[i].part)) == 0; i++) {
            width += r->cells[i].width * r->bit;
        }
        add_rect(c, x, c->y, width, r->height, color);
    }
}

static void add_names(const canvas *c, const cell_row *r, bool large) {
    const uint32_t base = c->y + r->height / 2 + (large ? 45 : 35);
    const char *style = large ? "m" : "n";
    labels names = labels_at(c, base, style), upper = labels_at(c, base - 65, style);
    labels lower = labels_at(c, base + 75, "n");
    for (uint32_t i = 0; i < r->n; i++) {
        const qg_show_cell *cell = &r->cells[i];
        const char *name = qg_show_label(c->show, cell);
        const uint32_t room = cell->width * r->bit / (large ? 78 : 63), x = cell_x(r, i) + cell->width * r->bit / 2;
        if (strlen(name) > room) { /* of a piece of a code, or of a very long name */
            name = qg_format(c->show->arena, "%.*s", (int)room, name);
        }
        join_label(c, cell->ranged ? &upper : &names, x, name);
        if (cell->ranged) join_label(c, &lower, x, qg_show_part(c->show, cell));
    }
    add_labels(c, &names);
    add_labels(c, &upper);
    add_labels(c, &lower);
}

static bool in_example(const qg_show *show, const qg_owner *owner) {
    return owner->kind == QG_OWNER_CODE &&
           qg_show_holds(show, owner, qg_instance_of(show->layout, &show->layout->codes[owner->code], show->example));
}

/* Vertical lines where cells begin, heavy ones where bytes do; inside of a cell only the ends of those, for the code
 * goes through. */
static void add_borders(const canvas *c, const cell_row *r) {
    qg_text light = qg_text_new(c->show->arena), heavy = qg_text_new(c->show->arena);
    const char *y = px(c, c->y), *height = px(c, r->height), *inner = px(c, r->height - 80);
    for (uint32_t i = 0; i < r->n; i++) {
        uint32_t at = r->cells[i].bit - r->cells[0].bit, next = at - at % 8 + 8;
        if (at > 0) {
            qg_text_printf(at % 8 ? &light : &heavy, "M%s %sv%s", px(c, LEFT + at * r->bit), y, height);
        }
        for (; next < at + r->cells[i].width; next += 8) {
            qg_text_printf(&heavy, "M%s %sv4m0 %sv4", px(c, LEFT + next * r->bit), y, inner);
        }
    }
    if (light.length) qg_text_printf(c->text, "<path class=\"w\" d=\"%s\"/>\n", light.data);
    if (heavy.length) qg_text_printf(c->text, "<path class=\"k\" d=\"%s\"/>\n", heavy.data);
}

static void add_row(canvas *c, const qg_show_section *section, uint32_t row, uint32_t height) {
    const uint32_t first = section->rows[row], end = section->rows[row + 1];
    const cell_row r = {&section->cells[first], end - first, bit_width(section), height};
    const qg_show_cell *last = &r.cells[r.n - 1];
    add_label(c, LEFT - 120, c->y + height / 2 + 45, "o", qg_format(c->show->arena, "%u", r.cells[0].bit / 8));
    add_fills(c, &r);
    add_names(c, &r, r.bit * 100 >= section->bit_width * 13 / 10);
    add_borders(c, &r);
    add_rect(c, LEFT, c->y, (last->bit + last->width - r.cells[0].bit) * r.bit, height, "class=\"k\"");
    for (uint32_t i = 0; i < r.n; i++) {
        if (in_example(c->show, &r.cells[i].owner)) {
            add_rect(c, cell_x(&r, i), c->y, r.cells[i].width * r.bit, height, "class=\"y\"");
            add_rect(c, cell_x(&r, i), c->y, r.cells[i].width * r.bit, height, "class=\"e\"");
        }
    }
    c->y += height;
}

static void add_section(canvas *c, const qg_show_section *section) {
    uint32_t height = 260;
    for (uint32_t i = 0; i < section->n_cells && height == 260; i++) {
        height = section->cells[i].ranged ? 380 : height;
    }
    c->y += 200;
    add_strip(c, section);
    for (uint32_t row = 0; row < section->n_rows; row++) {
        if (row < section->hidden || row >= section->shown) {
            add_row(c, section, row, height);
            c->y += 30;
        } else if (row == section->hidden) {
            const char *text = qg_format(c->show->arena, "... %s", qg_show_hidden(c->show, section));
            c->y += 60;
            add_lines(c, LEFT, 130, "g", text);
            c->y += 140;
        }
    }
}

static void add_map(canvas *c) {
    const qg_layout *layout = c->show->layout;
    for (uint32_t s = 0; s < c->show->n_sections; s++) {
        const qg_show_section *section = &c->show->sections[s];
        const qg_buffer *buffer = &layout->buffers[section->buffer];
        if (layout->n_buffers > 1 && (s == 0 || section[-1].buffer != section->buffer)) {
            c->y += 200;
            add_lines(c, EDGE, 140, "b",
                      qg_format(c->show->arena, "Buffer %s%s: %u bytes for each block", buffer->name,
                                qg_show_axes(c->show, buffer), buffer->bytes));
            c->y -= 60;
        }
        add_section(c, section);
    }
}

/* ---- document ------------------------------------------------------------------------------------------------- */

static const char style[] =
    "<style>\n"
    "text { font: 13px 'DejaVu Sans Mono', Menlo, Consolas, 'Liberation Mono', monospace; fill: #212529; "
    "white-space: pre }\n"
    "text.h { font-size: 26px; font-weight: bold }\n"
    "text.s { font-size: 15px }\n"
    "text.f { font-size: 16px }\n"
    "text.b { font-size: 14px; font-weight: bold }\n"
    "text.g { fill: #495057 }\n"
    "text.m { fill: #000; text-anchor: middle }\n"
    "text.n { font-size: 10.5px; fill: #000; text-anchor: middle }\n"
    "text.o { text-anchor: end; fill: #495057 }\n"
    "text.r { font-size: 11px; text-anchor: middle; fill: #495057 }\n"
    "text.d { font-size: 9px; text-anchor: middle; fill: #495057 }\n"
    ".a { fill: #FFF }\n"
    ".p { fill: #E9ECEF }\n"
    ".q { fill: #495057 }\n"
    "path { fill: none }\n"
    ".w { stroke: #000; stroke-width: 1; stroke-opacity: 0.45 }\n"
    ".k { fill: none; stroke: #212529; stroke-width: 1.6 }\n"
    ".y { fill: none; stroke: #FFF; stroke-width: 5.5 }\n"
    ".e { fill: none; stroke: #000; stroke-width: 3.5 }\n"
    "@media (prefers-color-scheme: dark) {\n"
    ".a { fill: #0D1117 }\n"
    ".p { fill: #21262D }\n"
    ".q { fill: #8B949E }\n"
    "text { fill: #E6EDF3 }\n"
    "text.g, text.o, text.r, text.d { fill: #9DA7B3 }\n"
    "}\n"
    "</style>\n";

char *qg_show_svg(qg_arena *arena, const qg_layout *layout) {
    qg_show_room room = {
        .row = MAP * 100, .character = 6300, .padding = 4000, .least = 1000, .step = 1, .stacked = true};
    qg_text body = qg_text_new(arena), text = qg_text_new(arena);
    canvas c = {.show = qg_show_new(arena, layout, &room), .text = &body};
    add_head(&c);
    add_map(&c);
    c.y = (c.y + 309) / 10 * 10;
    const char *width = px(&c, WIDTH), *height = px(&c, c.y);
    qg_text_printf(&text,
                   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%s\" height=\"%s\" "
                   "viewBox=\"0 0 %s %s\" role=\"img\">\n",
                   width, height, width, height);
    qg_text_printf(&text, "<title>The block of %s</title>\n<desc>", layout->name);
    const char *desc = qg_format(arena, "Which bits of a block belong to which code: %s; value = %s",
                                 qg_show_size(c.show), c.show->value);
    add_escaped(&text, desc, strlen(desc));
    qg_text_printf(&text, "</desc>\n%s<rect class=\"a\" width=\"100%%\" height=\"100%%\"/>\n", style);
    qg_text_add(&text, body.data, body.length);
    qg_text_puts(&text, "</svg>\n");
    return text.data;
}
