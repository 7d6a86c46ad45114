/* The block map as text. Colour only adds: without it, the letters and numbers say whose each bit is. */
#include "spec/show.h"

#include <string.h>

enum { MARGIN = 8, SEPARATOR = 1 };

typedef struct canvas {
    const qg_show *show;
    qg_text *text;
    bool color;
    uint32_t columns;
} canvas;

static void pad(qg_text *text, size_t count) {
    for (size_t i = 0; i < count; i++) {
        qg_text_puts(text, " ");
    }
}

/* A text of any length, broken at spaces; all lines but the first are indented. */
static void add_lines(const canvas *c, const char *text, uint32_t indent) {
    size_t room = c->columns > indent + 20 ? c->columns - indent : 20;
    for (bool first = true; *text != '\0'; first = false) {
        size_t length = qg_show_line(text, room);
        pad(c->text, first ? 0 : indent);
        qg_text_add(c->text, text, length);
        qg_text_puts(c->text, "\n");
        text += length;
        text += strspn(text, " ");
    }
}

/* ---- colours -------------------------------------------------------------------------------------------------- */

/* One of the six levels of the 256-colour cube: 0, 95, 135, 175, 215, 255. */
static uint32_t level(uint32_t value) { return value < 48 ? 0 : value < 115 ? 1 : (value - 35) / 40; }

static void paint(const canvas *c, const qg_owner *owner, bool whole) {
    if (c->color) {
        uint32_t color = qg_show_color(c->show, owner, whole);
        uint32_t cube = 16 + 36 * level(color >> 16) + 6 * level(color >> 8 & 255) + level(color & 255);
        qg_text_printf(c->text, "\033[48;5;%u;38;5;%um", cube, qg_show_ink(color) == 0 ? 16 : 231);
    }
}

static void unpaint(const canvas *c) {
    if (c->color) {
        qg_text_puts(c->text, "\033[0m");
    }
}

static void add_bold(const canvas *c, const char *text) {
    qg_text_printf(c->text, c->color ? "\033[1m%s\033[0m" : "%s", text);
}

/* ---- legend --------------------------------------------------------------------------------------------------- */

/* The formula; with the names of instances when it is that of the example. */
static void add_formula(const canvas *c, bool example) {
    const qg_show *show = c->show;
    const char *lead = "    value = ";
    size_t column = strlen(lead);
    qg_text_puts(c->text, lead);
    for (const char *at = show->value; *at != '\0';) {
        size_t length;
        uint32_t code = qg_show_piece(show, at, &length);
        bool named = code != UINT32_MAX;
        qg_owner owner = {.kind = QG_OWNER_CODE, .code = code};
        owner.instance = named ? qg_instance_of(show->layout, &show->layout->codes[code], show->example) : 0;
        const char *piece = named && example ? qg_show_name(show, &owner) : qg_strndup(show->arena, at, length);
        if (column > strlen(lead) && column + strlen(piece) > c->columns) {
            qg_text_puts(c->text, "\n");
            pad(c->text, strlen(lead));
            column = strlen(lead);
        }
        if (named) {
            paint(c, &owner, true);
        }
        qg_text_puts(c->text, piece);
        if (named) {
            unpaint(c);
        }
        column += strlen(piece);
        at += length;
    }
    qg_text_puts(c->text, "\n");
}

static size_t longest(size_t most, const char *text) {
    size_t length = strlen(text);
    return length > most ? length : most;
}

static void add_codes(const canvas *c) {
    const qg_layout *layout = c->show->layout;
    size_t name = 0, width = 0, count = 0;
    for (uint32_t i = 0; i < layout->n_codes; i++) {
        name = longest(name, layout->codes[i].name);
        width = longest(width, qg_show_width(c->show, &layout->codes[i]));
        count = longest(count, qg_show_count(c->show, i));
    }
    for (uint32_t i = 0; i < layout->n_tables; i++) {
        name = longest(name, layout->tables[i].name);
    }
    for (uint32_t i = 0; i < layout->n_codes; i++) {
        uint32_t at = c->show->order[i];
        const qg_code *code = &layout->codes[at];
        const char *places = qg_show_places(c->show, code);
        bool fits = 12 + name + width + count + strlen(places) <= c->columns;
        qg_text_puts(c->text, "    ");
        paint(c, &(qg_owner){.kind = QG_OWNER_CODE, .code = at}, true);
        qg_text_printf(c->text, "%s", code->name);
        unpaint(c);
        pad(c->text, name - strlen(code->name));
        qg_text_printf(c->text, "  %-*s  %-*s", (int)width, qg_show_width(c->show, code), fits ? (int)count : 0,
                       qg_show_count(c->show, at));
        qg_text_puts(c->text, fits ? "  " : ",\n");
        pad(c->text, fits ? 0 : 8 + name + width);
        add_lines(c, places, (uint32_t)(8 + name + width));
    }
    for (uint32_t i = 0; i < layout->n_tables; i++) {
        qg_text_printf(c->text, "    %-*s  ", (int)name, layout->tables[i].name);
        add_lines(c, qg_show_table(c->show, &layout->tables[i]), (uint32_t)(6 + name));
    }
}

static void add_example(const canvas *c) {
    const qg_show *show = c->show;
    size_t name = 0;
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < show->layout->n_codes; i++) {
            qg_owner owner = {.kind = QG_OWNER_CODE, .code = show->order[i]};
            owner.instance = qg_instance_of(show->layout, &show->layout->codes[owner.code], show->example);
            const char *text = qg_show_name(show, &owner);
            name = longest(name, text);
            if (pass == 1) {
                qg_text_printf(c->text, "    %-*s  ", (int)name, text);
                add_lines(c, qg_show_where(show, owner.code), (uint32_t)name + 6);
            }
        }
    }
}

static void add_head(const canvas *c) {
    const qg_layout *layout = c->show->layout;
    add_bold(c, layout->name);
    qg_text_puts(c->text, "\n");
    add_lines(c, layout->summary != NULL ? layout->summary : "", 0);
    add_lines(c, qg_show_size(c->show), 0);
    if (layout->parameters[0] != '\0') {
        add_lines(c, layout->parameters, 0);
    }
    qg_text_puts(c->text, "\n");
    add_formula(c, false);
    qg_text_puts(c->text, "\n");
    add_codes(c);
    qg_text_printf(c->text, "\nFor example, element %u:\n\n", c->show->example);
    add_formula(c, true);
    qg_text_puts(c->text, "\n");
    add_example(c);
    qg_text_puts(c->text, "\n");
    const char *marks = "A byte starts with '|', another cell in it with ':'; a byte that starts inside of a cell is "
                        "marked '.'.";
    add_lines(c, qg_format(c->show->arena, "%s %s", qg_show_guide(c->show), marks), 0);
}

/* ---- map ------------------------------------------------------------------------------------------------------ */

/* The heads of bytes and the numbers of bits. */
static void add_ruler(const canvas *c, const qg_show_section *section, uint32_t width) {
    uint32_t bytes = section->bytes < section->row_bytes ? section->bytes : section->row_bytes;
    pad(c->text, MARGIN);
    for (uint32_t b = 0; b < bytes; b++) {
        const char *head = qg_format(c->show->arena, " +%u", b);
        qg_text_puts(c->text, head);
        pad(c->text, b + 1 < bytes ? 8 * width - strlen(head) : 0);
    }
    qg_text_puts(c->text, "\n");
    pad(c->text, MARGIN);
    for (uint32_t bit = 0; bit < 8 * bytes; bit++) {
        qg_text_printf(c->text, " %u", bit % 8);
        pad(c->text, bit + 1 < 8 * bytes ? width - 2 : 0);
    }
    qg_text_puts(c->text, "\n");
}

/* A cell starts with '|' at a byte, else ':'; inside, '.' marks where the next byte starts. */
static void add_cell(const canvas *c, const qg_show_cell *cell, uint32_t width) {
    const char *range = cell->ranged ? qg_show_part(c->show, cell) : "";
    const char *label = qg_format(c->show->arena, "%s%s", qg_show_label(c->show, cell), range);
    size_t length = strlen(label), room = (size_t)cell->width * width - SEPARATOR;
    length = length > room ? room : length;
    paint(c, &cell->owner, !cell->part);
    qg_text_puts(c->text, cell->bit % 8 == 0 ? "|" : ":");
    qg_text_add(c->text, label, length);
    for (size_t at = length + SEPARATOR; at < room + SEPARATOR; at++) {
        bool byte = at % width == 0 && (cell->bit + at / width) % 8 == 0;
        qg_text_puts(c->text, byte && cell->owner.kind == QG_OWNER_CODE ? "." : " ");
    }
    unpaint(c);
}

static void add_row(const canvas *c, const qg_show_section *section, uint32_t row, uint32_t width) {
    qg_text_printf(c->text, "%*u ", MARGIN - 1, section->byte + row * section->row_bytes);
    for (uint32_t i = section->rows[row]; i < section->rows[row + 1]; i++) {
        add_cell(c, &section->cells[i], width);
    }
    qg_text_puts(c->text, "|\n");
}

static void add_section(const canvas *c, const qg_show_section *section) {
    const qg_layout *layout = c->show->layout;
    uint32_t width = section->bit_width / 1000;
    qg_text_puts(c->text, "\n");
    for (uint32_t f = 0; f < section->n_fields; f++) {
        const qg_field *field = &layout->fields[section->first_field + f];
        uint32_t bytes = field->count * qg_scalars[field->type].bits / 8;
        qg_text_puts(c->text, f == 0 ? "" : "; ");
        add_bold(c, qg_show_field(c->show, field));
        qg_text_printf(c->text, ", %s", qg_show_bytes(c->show->arena, field->offset, bytes));
    }
    qg_text_printf(c->text, "%s%s\n", section->note[0] != '\0' ? ", " : "", section->note);
    add_ruler(c, section, width);
    for (uint32_t row = 0; row < section->n_rows; row++) {
        if (row < section->hidden || row >= section->shown) {
            add_row(c, section, row, width);
        } else if (row == section->hidden) {
            pad(c->text, MARGIN);
            qg_text_puts(c->text, "... ");
            add_lines(c, qg_show_hidden(c->show, section), MARGIN + 4);
        }
    }
}

void qg_show_terminal(qg_text *text, const qg_layout *layout, bool color, uint32_t columns) {
    qg_show_room room = {.character = 1000, .padding = 1000 * SEPARATOR, .least = 2000, .step = 1000};
    columns = columns < 40 ? 40 : columns > 10000 ? 10000 : columns;
    room.row = (columns - MARGIN - 1) * 1000;
    canvas c = {.show = qg_show_new(text->arena, layout, &room), .text = text, .color = color, .columns = columns};
    add_head(&c);
    for (uint32_t s = 0; s < c.show->n_sections; s++) {
        const qg_show_section *section = &c.show->sections[s];
        const qg_buffer *buffer = &layout->buffers[section->buffer];
        if (layout->n_buffers > 1 && (s == 0 || section[-1].buffer != section->buffer)) {
            const char *title = qg_format(text->arena, "Buffer %s%s: %u bytes for each block", buffer->name,
                                          qg_show_axes(c.show, buffer), buffer->bytes);
            qg_text_puts(text, "\n");
            add_bold(&c, title);
            qg_text_puts(text, "\n");
        }
        add_section(&c, section);
    }
}
