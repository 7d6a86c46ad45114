/* The block map: cells and rows that the pictures share.
 *
 * A picture of a block is honest when it is made from the bits themselves. So everything here starts from the map of
 * owners, one for each bit: neighbours that are consecutive bits of the same instance become a cell; cells stand in
 * rows, as many bytes in each as the labels leave room for. Bit addresses grow to the right, as the specification
 * counts them, so that a code that crosses from one byte into the next is one piece in the picture, too. */
#include "spec/show.h"
#include "spec/lex.h"

#include <stdlib.h>
#include <string.h>

enum {
    LONG_ROWS = 40,   /* only longer sections are shortened */
    MOST_PERIOD = 16, /* rows after which a regular section repeats */
    MOST_ROWS = 96    /* of one that does not */
};

/* ---- colours -------------------------------------------------------------------------------------------------- */

/* Eight hues that stay apart for colour-blind readers (after Okabe and Ito), each light, middle and dark. */
static const uint32_t palette[8][3] = {
    {0xC3E0F7, 0x8CC3EE, 0x5FA4DB}, {0xFFE1A8, 0xF9C056, 0xDD9712}, {0xC2EBD9, 0x7AD0AD, 0x2BA67E},
    {0xF2D0E3, 0xE09FC4, 0xC070A2}, {0xFBF4A6, 0xEFE24A, 0xCBBE1F}, {0xFCD2BC, 0xF2996C, 0xD9661B},
    {0xDBD7F4, 0xB1A9E2, 0x8478C6}, {0xDFD9CF, 0xC2B7A4, 0x9A8B75},
};

uint32_t qg_show_color(const qg_show *show, const qg_owner *owner, bool whole) {
    if (owner->kind != QG_OWNER_CODE) {
        return 0xE6E6E6;
    }
    /* The middle shade is that of whole codes; parts are light and dark in turn. */
    return palette[show->hue[owner->code] % 8][whole ? 1 : owner->slice % 2 * 2];
}

uint32_t qg_show_ink(uint32_t color) {
    uint64_t red = color >> 16, green = color >> 8 & 255, blue = color & 255;
    /* Relative luminance with a gamma of 2; black and white contrast equally at 0.18. */
    uint64_t luminance = 2126 * red * red + 7152 * green * green + 722 * blue * blue;
    return luminance > (uint64_t)1800 * 255 * 255 ? 0x000000 : 0xFFFFFF;
}

/* The code that fills most of the block comes first, and so has the same colour in every picture. */
static void order_codes(qg_show *show) {
    const qg_code *codes = show->layout->codes;
    uint32_t n = show->layout->n_codes;
    uint32_t *order = QG_NEW_ARRAY(show->arena, uint32_t, n), *hue = QG_NEW_ARRAY(show->arena, uint32_t, n);
    for (uint32_t c = 0; c < n; c++) {
        uint32_t at = c;
        for (; at > 0 && codes[order[at - 1]].count < codes[c].count; at--) {
            order[at] = order[at - 1];
        }
        order[at] = c;
    }
    for (uint32_t i = 0; i < n; i++) {
        hue[order[i]] = i;
    }
    show->order = order;
    show->hue = hue;
}

/* ---- sections and cells --------------------------------------------------------------------------------------- */

static uint32_t field_bytes(const qg_field *field) { return field->count * qg_scalars[field->type].bits / 8; }

/* A scalar that is a code as it stands. */
static bool is_plain(const qg_layout *layout, uint32_t field) {
    for (uint32_t c = 0; c < layout->n_codes; c++) {
        const qg_code *code = &layout->codes[c];
        if (code->slices[0].field == field && code->width == qg_scalars[layout->fields[field].type].bits) {
            return code->count == 1 && code->n_slices == 1;
        }
    }
    return false;
}

/* A few scalars side by side take one row of four bytes. */
static bool joins(const qg_layout *layout, const qg_show_section *section, uint32_t field) {
    return section->buffer == layout->fields[field].buffer &&
           section->bytes + field_bytes(&layout->fields[field]) <= 4 && is_plain(layout, field) &&
           is_plain(layout, field - 1);
}

static void make_sections(qg_show *show) {
    const qg_layout *layout = show->layout;
    show->sections = QG_NEW_ARRAY(show->arena, qg_show_section, layout->n_fields);
    for (uint32_t f = 0; f < layout->n_fields; f++) {
        const qg_field *field = &layout->fields[f];
        qg_show_section *last = show->n_sections == 0 ? NULL : &show->sections[show->n_sections - 1];
        if (last != NULL && joins(layout, last, f)) {
            last->n_fields++;
            last->bytes += field_bytes(field);
            continue;
        }
        show->sections[show->n_sections++] = (qg_show_section){.buffer = field->buffer,
                                                               .first_field = f,
                                                               .n_fields = 1,
                                                               .byte = field->offset,
                                                               .bytes = field_bytes(field)};
    }
}

/* Bit `b` is the next bit of the same instance, in the same field. */
static bool continues(const qg_show *show, const qg_owner *a, const qg_owner *b) {
    const qg_slice *one = qg_show_slice(show, a), *two = qg_show_slice(show, b);
    return a->kind == b->kind && a->code == b->code && a->instance == b->instance && a->bit + 1 == b->bit &&
           one->field == two->field && (one == two || (one->radix == 0 && two->radix == 0));
}

static void make_cells(qg_show *show, qg_show_section *section, const qg_owner *map) {
    uint32_t end = (section->byte + section->bytes) * 8;
    qg_show_cell *cells = NULL;
    uint32_t capacity = 0;
    for (uint32_t bit = section->byte * 8; bit < end; bit++) {
        if (section->n_cells > 0 && continues(show, &map[bit - 1], &map[bit])) {
            cells[section->n_cells - 1].width++;
            continue;
        }
        qg_show_cell cell = {.owner = map[bit], .bit = bit, .width = 1};
        QG_PUSH(show->arena, cells, section->n_cells, capacity, cell);
    }
    section->cells = cells;
}

/* Decides which cells say their range of bits. Where all cells of a code have the same, the section says it once. */
static void note_ranges(qg_show *show, qg_show_section *section) {
    const qg_layout *layout = show->layout;
    qg_show_cell *cells = QG_NEW_ARRAY(show->arena, qg_show_cell, section->n_cells);
    const qg_show_cell **first = QG_NEW_ARRAY(show->arena, const qg_show_cell *, layout->n_codes);
    bool *mixed = QG_NEW_ARRAY(show->arena, bool, layout->n_codes);
    memcpy(cells, section->cells, sizeof *cells * section->n_cells);
    for (uint32_t i = 0; i < section->n_cells; i++) {
        const qg_show_cell *cell = &cells[i], **known = &first[cell->owner.code];
        if (cell->owner.kind == QG_OWNER_CODE) {
            *known = *known == NULL ? cell : *known;
            mixed[cell->owner.code] |= qg_show_part_low(show, cell) != qg_show_part_low(show, *known) ||
                                       qg_show_part_width(show, cell) != qg_show_part_width(show, *known);
        }
    }
    qg_text note = qg_text_new(show->arena);
    for (uint32_t c = 0; c < layout->n_codes; c++) {
        uint32_t width = first[c] == NULL ? 0 : qg_show_part_width(show, first[c]);
        if (first[c] != NULL && !mixed[c] && width < layout->codes[c].width) {
            qg_text_printf(&note, "%s%s %s of %s%s", note.length == 0 ? "" : ", ", width == 1 ? "bit" : "bits",
                           qg_show_bits(show->arena, qg_show_part_low(show, first[c]), width),
                           layout->codes[c].count > 1 ? "each " : "", layout->codes[c].name);
        }
    }
    for (uint32_t i = 0; i < section->n_cells; i++) {
        const qg_owner *owner = &cells[i].owner;
        cells[i].part =
            owner->kind == QG_OWNER_CODE && qg_show_part_width(show, &cells[i]) < layout->codes[owner->code].width;
        cells[i].ranged = cells[i].part && mixed[owner->code];
    }
    section->cells = cells;
    section->note = note.data != NULL ? note.data : "";
}

/* ---- rows ----------------------------------------------------------------------------------------------------- */

/* The width of a bit that the labels need. */
static uint32_t bit_need(const qg_show *show, const qg_show_section *section, const qg_show_room *room) {
    uint32_t need = room->least;
    for (uint32_t i = 0; i < section->n_cells; i++) {
        const qg_show_cell *cell = &section->cells[i];
        uint32_t name = (uint32_t)strlen(qg_show_names(show, &cell->owner)), range = 0;
        if (cell->ranged) {
            range = (uint32_t)strlen(qg_show_part(show, cell));
        }
        uint32_t length = !room->stacked ? name + range : name > range ? name : range;
        uint32_t each = (length * room->character + room->padding + cell->width - 1) / cell->width;
        need = each > need ? each : need;
    }
    return (need + room->step - 1) / room->step * room->step;
}

static bool breaks_cells(const qg_show_section *section, uint32_t row_bytes) {
    uint32_t row = row_bytes * 8, start = section->byte * 8;
    for (uint32_t i = 0; i < section->n_cells; i++) {
        uint32_t at = section->cells[i].bit - start;
        if (at / row != (at + section->cells[i].width - 1) / row) {
            return true;
        }
    }
    return false;
}

/* As many bytes in a row as fit, a power of two if that breaks no code; short fields in short rows, drawn larger. */
static uint32_t choose_row(const qg_show_section *section, const qg_show_room *room) {
    static const uint32_t candidates[] = {16, 8, 4, 12, 10, 6, 5, 3, 2, 1};
    uint32_t most = section->bytes <= 12 ? 4 : section->bytes <= 64 ? 8 : 16, fallback = 0;
    uint32_t fitting = room->row / 8 / section->bit_width;
    for (uint32_t i = 0; i < sizeof candidates / sizeof *candidates; i++) {
        uint32_t bytes = candidates[i];
        if (bytes > most || bytes > fitting) {
            continue;
        }
        if (!breaks_cells(section, bytes)) {
            return bytes;
        }
        fallback = fallback == 0 ? bytes : fallback;
    }
    return fallback == 0 ? 1 : fallback;
}

/* Cuts the cells at the ends of rows. */
static void make_rows(qg_show *show, qg_show_section *section) {
    uint32_t row = section->row_bytes * 8, start = section->byte * 8, count = 0, capacity = 0;
    section->n_rows = (section->bytes + section->row_bytes - 1) / section->row_bytes;
    uint32_t *rows = QG_NEW_ARRAY(show->arena, uint32_t, section->n_rows + 1);
    qg_show_cell *cut = NULL;
    for (uint32_t i = 0; i < section->n_cells; i++) {
        qg_show_cell rest = section->cells[i];
        while (rest.width > 0) {
            uint32_t at = (rest.bit - start) % row;
            qg_show_cell piece = rest;
            piece.beyond = rest.width > row - at;
            piece.width = piece.beyond ? row - at : rest.width;
            if (at == 0) {
                rows[(rest.bit - start) / row] = count;
            }
            QG_PUSH(show->arena, cut, count, capacity, piece);
            rest.before = true;
            rest.bit += piece.width;
            rest.owner.bit += piece.width;
            rest.width -= piece.width;
        }
    }
    rows[section->n_rows] = count;
    section->cells = cut;
    section->n_cells = count;
    section->rows = rows;
}

/* Row `r` is row `r - period` with other instances, each of which is as far ahead as it was a period before. */
static bool repeats(const qg_show *show, const qg_show_section *section, uint32_t r, uint32_t period) {
    const uint32_t *rows = section->rows;
    uint32_t n = rows[r + 1] - rows[r], row_bits = section->row_bytes * 8 * period;
    if (n != rows[r + 1 - period] - rows[r - period]) {
        return false;
    }
    for (uint32_t i = 0; i < n; i++) {
        const qg_show_cell *cell = &section->cells[rows[r] + i], *before = &section->cells[rows[r - period] + i];
        const qg_show_cell *one = &section->cells[rows[r % period] + i];
        const qg_show_cell *two = &section->cells[rows[r % period + period] + i];
        uint32_t step = cell->owner.instance - before->owner.instance; /* modulo 2^32, to be compared only */
        if (cell->bit - before->bit != row_bits || cell->width != before->width ||
            cell->owner.kind != before->owner.kind || cell->owner.code != before->owner.code ||
            (cell->owner.kind == QG_OWNER_CODE && cell->owner.bit != before->owner.bit) ||
            step != two->owner.instance - one->owner.instance ||
            (qg_show_slice(show, &cell->owner)->radix != 0 && cell->owner.slice != before->owner.slice)) {
            return false;
        }
    }
    return true;
}

static void hide_rows(const qg_show *show, qg_show_section *section) {
    uint32_t whole = section->bytes / section->row_bytes;
    for (uint32_t period = 1; period <= MOST_PERIOD && section->n_rows > LONG_ROWS; period++) {
        uint32_t r = period;
        while (r < whole && repeats(show, section, r, period)) {
            r++;
        }
        uint32_t head = period * (period < 4 ? 4 : 2), tail = period;
        if (r == whole && whole > 2 * (head + tail)) {
            section->hidden = head;
            section->shown = whole - whole % period - tail;
            section->period = period;
            return;
        }
    }
    if (section->n_rows > MOST_ROWS) { /* more than anybody reads; `--dump=layout` has them */
        section->hidden = MOST_ROWS * 3 / 4;
        section->shown = section->n_rows - MOST_ROWS / 4;
    }
}

/* What is left out: by how much one period of rows moves the instances of each code. */
const char *qg_show_hidden(const qg_show *show, const qg_show_section *section) {
    qg_text steps = qg_text_new(show->arena);
    bool *told = QG_NEW_ARRAY(show->arena, bool, show->layout->n_codes);
    for (uint32_t r = 0; r < section->period; r++) {
        uint32_t n = section->rows[r + 1] - section->rows[r];
        for (uint32_t i = 0; i < n; i++) {
            const qg_owner *one = &section->cells[section->rows[r] + i].owner;
            const qg_owner *two = &section->cells[section->rows[r + section->period] + i].owner;
            if (one->kind == QG_OWNER_CODE && !told[one->code] && two->instance > one->instance) {
                told[one->code] = true;
                qg_text_printf(&steps, "%s%u to the number of %s", steps.length == 0 ? "" : " and ",
                               two->instance - one->instance, show->layout->codes[one->code].name);
            }
        }
    }
    uint32_t first = section->byte + section->hidden * section->row_bytes;
    uint32_t count = (section->shown - section->hidden) * section->row_bytes;
    const char *bytes = qg_show_bytes(show->arena, first, count);
    if (section->period == 0) {
        return qg_format(show->arena, "%s are left out; qkgen --dump=layout has where they lie", bytes);
    }
    if (steps.length == 0) {
        return qg_format(show->arena, "%s continue in the same way", bytes);
    }
    const char *rows =
        section->period == 1 ? "each row adds" : qg_format(show->arena, "every %u rows add", section->period);
    return qg_format(show->arena, "%s continue in the same way: %s %s", bytes, rows, steps.data);
}

/* ---- the example ---------------------------------------------------------------------------------------------- */

/* The element in the most cells and bytes, all of them drawn, that is nearest to two thirds of the block. */
static void choose_example(qg_show *show) {
    const qg_layout *layout = show->layout;
    uint32_t **cells = QG_NEW_ARRAY(show->arena, uint32_t *, layout->n_codes), most = 0;
    uint32_t aim = (uint32_t)((uint64_t)layout->elements * 2 / 3), best_distance = 0;
    for (uint32_t c = 0; c < layout->n_codes; c++) {
        cells[c] = QG_NEW_ARRAY(show->arena, uint32_t, layout->codes[c].count);
    }
    for (uint32_t s = 0; s < show->n_sections; s++) {
        const qg_show_section *section = &show->sections[s];
        for (uint32_t r = 0; r < section->n_rows; r++) {
            bool drawn = r < section->hidden || r >= section->shown;
            for (uint32_t i = section->rows[r]; i < section->rows[r + 1] && drawn; i++) {
                const qg_owner *owner = &section->cells[i].owner;
                uint32_t first = section->cells[i].bit, last = first + section->cells[i].width - 1;
                uint32_t apart, count = qg_show_sharing(show, owner, &apart);
                for (uint32_t n = 0; n < count && owner->kind == QG_OWNER_CODE; n++) {
                    cells[owner->code][owner->instance + n * apart] += 1 + last / 8 - first / 8;
                }
            }
        }
    }
    for (uint32_t e = 0; e < layout->elements; e++) {
        uint32_t sum = 0, distance = e > aim ? e - aim : aim - e;
        bool drawn = true;
        for (uint32_t c = 0; c < layout->n_codes; c++) {
            uint32_t n = cells[c][qg_instance_of(layout, &layout->codes[c], e)];
            drawn = drawn && n > 0;
            sum += n;
        }
        if (drawn && (sum > most || (sum == most && distance < best_distance))) {
            most = sum;
            best_distance = distance;
            show->example = e;
        }
    }
}

/* "byte 9, bits 4 to 7" */
static const char *place(const qg_show *show, uint32_t buffer, uint32_t bit, uint32_t width) {
    const char *of =
        show->layout->n_buffers > 1 ? qg_format(show->arena, " of %s", show->layout->buffers[buffer].name) : "";
    uint32_t byte = bit / 8, last = bit + width - 1;
    if (bit % 8 == 0 && width % 8 == 0) {
        return qg_format(show->arena, "%s%s", qg_show_bytes(show->arena, byte, width / 8), of);
    }
    if (last / 8 != byte) {
        return qg_format(show->arena, "byte %u bit %u to byte %u bit %u%s", byte, bit % 8, last / 8, last % 8, of);
    }
    return width == 1 ? qg_format(show->arena, "byte %u%s, bit %u", byte, of, bit % 8)
                      : qg_format(show->arena, "byte %u%s, bits %u to %u", byte, of, bit % 8, last % 8);
}

const char *qg_show_where(const qg_show *show, uint32_t at) {
    const qg_code *code = &show->layout->codes[at];
    uint32_t instance = qg_instance_of(show->layout, code, show->example);
    qg_text text = qg_text_new(show->arena);
    for (uint32_t s = 0; s < code->n_slices;) {
        const qg_slice *slice = &code->slices[s++];
        if (instance - slice->first >= slice->count) {
            continue; /* of another segment */
        }
        uint32_t bit = qg_slice_address(slice, instance), width = slice->width;
        for (; s < code->n_slices && slice->radix == 0 && code->slices[s].radix == 0 &&
               code->slices[s].first == slice->first && code->slices[s].buffer == slice->buffer &&
               qg_slice_address(&code->slices[s], instance) == bit + width;
             s++) {
            width += code->slices[s].width;
        }
        qg_text_printf(&text, "%s%s", text.length == 0 ? "" : "; ", place(show, slice->buffer, bit, width));
        if (slice->radix != 0) {
            qg_text_printf(&text, ", digit %u of base %u", qg_slice_power(slice, instance), slice->radix);
        }
    }
    return text.data;
}

/* ---- both pictures begin here --------------------------------------------------------------------------------- */

qg_show *qg_show_new(qg_arena *arena, const qg_layout *layout, const qg_show_room *room) {
    qg_show *show = QG_NEW(arena, qg_show);
    show->arena = arena;
    show->layout = layout;
    show->value = qg_show_value(arena, layout->spec->source);
    order_codes(show);
    make_sections(show);
    const qg_owner *map = NULL;
    for (uint32_t s = 0; s < show->n_sections; s++) {
        qg_show_section *section = &show->sections[s];
        if (s == 0 || section->buffer != section[-1].buffer) {
            map = qg_bit_map(arena, layout, section->buffer);
        }
        make_cells(show, section, map);
        note_ranges(show, section);
        section->bit_width = bit_need(show, section, room);
        section->row_bytes = choose_row(section, room);
        make_rows(show, section);
        hide_rows(show, section);
    }
    choose_example(show);
    return show;
}
