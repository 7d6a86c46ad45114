/* The words that the pictures of a block share. */
#include "spec/lex.h"
#include "spec/show.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_NAMES = 6 }; /* of the instances in a cell */

const char *qg_show_name(const qg_show *show, const qg_owner *owner) {
    if (owner->kind != QG_OWNER_CODE) {
        return owner->kind == QG_OWNER_SPARE ? "spare" : "?";
    }
    const qg_code *code = &show->layout->codes[owner->code];
    if (code->count == 1) {
        return code->name;
    }
    char last = code->name[strlen(code->name) - 1];
    return qg_format(show->arena, last >= '0' && last <= '9' ? "%s.%u" : "%s%u", code->name, owner->instance);
}

const qg_slice *qg_show_slice(const qg_show *show, const qg_owner *owner) {
    return owner->kind == QG_OWNER_CODE ? &show->layout->codes[owner->code].slices[owner->slice]
                                        : &show->layout->spares[owner->slice];
}

/* How many instances have a digit in the owner's bits, and how far their numbers are apart. */
uint32_t qg_show_sharing(const qg_show *show, const qg_owner *owner, uint32_t *apart) {
    *apart = 1;
    if (owner->kind != QG_OWNER_CODE || qg_show_slice(show, owner)->radix == 0) {
        return 1;
    }
    const qg_slice *slice = qg_show_slice(show, owner);
    for (uint32_t d = 0; d < slice->power; d++) {
        *apart *= slice->digits[d].extent;
    }
    return slice->digits[slice->power].extent;
}

bool qg_show_holds(const qg_show *show, const qg_owner *owner, uint32_t instance) {
    uint32_t apart, count = qg_show_sharing(show, owner, &apart), ahead = instance - owner->instance;
    return owner->kind == QG_OWNER_CODE && instance >= owner->instance && ahead % apart == 0 && ahead / apart < count;
}

/* All instances in the owner's bits; of many, the first two and the last. */
const char *qg_show_names(const qg_show *show, const qg_owner *owner) {
    uint32_t apart, count = qg_show_sharing(show, owner, &apart);
    qg_text text = qg_text_new(show->arena);
    qg_text_puts(&text, qg_show_name(show, owner));
    for (uint32_t n = 1; n < count; n++) {
        bool shown = count <= MOST_NAMES || n == 1 || n + 1 == count;
        qg_text_puts(&text, !shown && n == 2 ? ",.." : "");
        if (shown) {
            qg_text_printf(&text, ",%u", owner->instance + n * apart);
        }
    }
    return text.data;
}

const char *qg_show_bits(qg_arena *arena, uint32_t low, uint32_t width) {
    return width == 1 ? qg_format(arena, "%u", low) : qg_format(arena, "%u:%u", low + width - 1, low);
}

const char *qg_show_label(const qg_show *show, const qg_show_cell *cell) {
    bool code = cell->owner.kind == QG_OWNER_CODE;
    return qg_format(show->arena, "%s%s%s", code && cell->before ? "<" : "", qg_show_names(show, &cell->owner),
                     code && cell->beyond ? ">" : "");
}

const char *qg_show_range(qg_arena *arena, uint32_t low, uint32_t width) {
    return qg_format(arena, "[%s]", qg_show_bits(arena, low, width));
}

/* What the cell gives its code. */
uint32_t qg_show_part_width(const qg_show *show, const qg_show_cell *cell) {
    const qg_slice *slice = qg_show_slice(show, &cell->owner);
    return slice->radix != 0 ? slice->bits : cell->width;
}

uint32_t qg_show_part_low(const qg_show *show, const qg_show_cell *cell) {
    const qg_slice *slice = qg_show_slice(show, &cell->owner);
    return slice->radix != 0 ? slice->shift : cell->owner.bit;
}

const char *qg_show_part(const qg_show *show, const qg_show_cell *cell) {
    return qg_show_range(show->arena, qg_show_part_low(show, cell), qg_show_part_width(show, cell));
}

const char *qg_show_field(const qg_show *show, const qg_field *field) {
    const char *type = qg_scalars[field->type].name;
    const char *spare = field->spare ? " (spare)" : "";
    return field->is_array ? qg_format(show->arena, "%s: %s[%u]%s", field->name, type, field->count, spare)
                           : qg_format(show->arena, "%s: %s%s", field->name, type, spare);
}

const char *qg_show_bytes(qg_arena *arena, uint32_t byte, uint32_t count) {
    return count == 1 ? qg_format(arena, "byte %u", byte) : qg_format(arena, "bytes %u to %u", byte, byte + count - 1);
}

const char *qg_show_size(const qg_show *show) {
    const qg_layout *layout = show->layout;
    return qg_format(show->arena, "%u elements in %u bytes%s: %.6g bits for each element", layout->elements,
                     layout->block_bytes, layout->n_buffers > 1 ? " over all buffers" : "",
                     qg_bits_per_element(layout));
}

const char *qg_show_width(const qg_show *show, const qg_code *code) {
    if (code->typed) {
        return qg_scalars[code->type].name;
    }
    if (code->most != (uint32_t)((UINT64_C(1) << code->width) - 1)) {
        return qg_format(show->arena, "0 to %u", code->most);
    }
    return qg_format(show->arena, code->width == 1 ? "%u bit" : "%u bits", code->width);
}

const char *qg_show_axes(const qg_show *show, const qg_buffer *buffer) {
    static const char *const axes[] = {"rows", "cols"};
    qg_text text = qg_text_new(show->arena);
    qg_text_puts(&text, show->layout->view != QG_VIEW_BLOCKS && buffer->n_axes == 0 ? "[]" : "");
    for (uint32_t i = 0; i < buffer->n_axes; i++) {
        const qg_axis axis = buffer->axes[i];
        qg_text_printf(&text, "[%s", axis == QG_AXIS_CODE ? show->layout->codes[buffer->index].name : axes[axis]);
        if (axis == QG_AXIS_CODE && buffer->entries > 0) {
            qg_text_printf(&text, " of %u", buffer->entries);
        }
        qg_text_puts(&text, "]");
    }
    return text.data;
}

const char *qg_show_count(const qg_show *show, uint32_t at) {
    const qg_code *code = &show->layout->codes[at];
    if (code->count == 1) {
        return "one for the block";
    }
    qg_owner first = {.kind = QG_OWNER_CODE, .code = at}, last = first;
    last.instance = code->count - 1;
    const char *range = qg_format(show->arena, "%s to %s", qg_show_name(show, &first), qg_show_name(show, &last));
    const char *served = code->of_column ? "column" : "element";
    return code->per == 1 ? qg_format(show->arena, "one for each %s: %s", served, range)
                          : qg_format(show->arena, "one for every %u %ss: %s", code->per, served, range);
}

const char *qg_show_segment(const qg_show *show, const qg_code *code, const qg_slice *slice) {
    if (slice->count == code->count) {
        return "";
    }
    qg_owner first = {.kind = QG_OWNER_CODE, .code = (uint32_t)(code - show->layout->codes), .instance = slice->first};
    qg_owner last = first;
    last.instance += slice->count - 1;
    return slice->count == 1
               ? qg_format(show->arena, "%s ", qg_show_name(show, &first))
               : qg_format(show->arena, "%s to %s ", qg_show_name(show, &first), qg_show_name(show, &last));
}

const char *qg_show_place(const qg_show *show, const qg_slice *slice) {
    const char *field = show->layout->fields[slice->field].name;
    if (slice->radix == 0) {
        return field;
    }
    uint32_t count = slice->digits[slice->power].extent;
    return qg_format(show->arena, "%s (%u digit%s of base %u in %u bits)", field, count, count == 1 ? "" : "s",
                     slice->radix, slice->width);
}

const char *qg_show_places(const qg_show *show, const qg_code *code) {
    qg_text text = qg_text_new(show->arena);
    for (uint32_t s = 0; s < code->n_slices; s++) {
        const qg_slice *slice = &code->slices[s];
        bool begins = s == 0 || slice->first != slice[-1].first;
        const char *range = slice->bits == code->width
                                ? ""
                                : qg_format(show->arena, slice->bits == 1 ? "bit %s " : "bits %s ",
                                            qg_show_bits(show->arena, slice->shift, slice->bits));
        qg_text_printf(&text, "%s%s%sin %s",
                       s == 0   ? ""
                       : begins ? "; "
                                : ", ",
                       begins ? qg_show_segment(show, code, slice) : "", range, qg_show_place(show, slice));
    }
    return text.data;
}

static const qg_show_cell *find_cell(const qg_show *show, bool (*is)(const qg_show *show, const qg_show_cell *cell)) {
    for (uint32_t s = 0; s < show->n_sections; s++) {
        for (uint32_t i = 0; i < show->sections[s].n_cells; i++) {
            if (is(show, &show->sections[s].cells[i])) {
                return &show->sections[s].cells[i];
            }
        }
    }
    return NULL;
}

static bool is_ranged(const qg_show *show, const qg_show_cell *cell) {
    (void)show;
    return cell->ranged;
}

static bool is_shared(const qg_show *show, const qg_show_cell *cell) {
    uint32_t apart;
    return qg_show_sharing(show, &cell->owner, &apart) > 1;
}

const char *qg_show_guide(const qg_show *show) {
    const qg_show_cell *ranged = find_cell(show, is_ranged), *shared = find_cell(show, is_shared);
    const char *parts = "", *digits = "";
    if (ranged != NULL) {
        parts = qg_format(show->arena, " Where only a part of a code lies, its bits stand in brackets: %s %s.",
                          qg_show_name(show, &ranged->owner), qg_show_part(show, ranged));
    }
    if (shared != NULL) {
        digits = qg_format(show->arena,
                           " A cell with several numbers, as %s, is a fraction with a digit for each, the most "
                           "significant first.",
                           qg_show_names(show, &shared->owner));
    }
    return qg_format(
        show->arena,
        "Addresses grow to the right and down; the number before a row is that of its first byte. Bit 0 of "
        "each byte, the lowest, is at the left. A cell is the bits of a code that lie together, its "
        "lowest bit at the left, too.%s%s",
        parts, digits);
}

size_t qg_show_line(const char *text, size_t columns) {
    size_t length = strlen(text), at = columns;
    if (length <= columns) {
        return length;
    }
    while (at > 0 && text[at] != ' ') {
        at--;
    }
    return at > 0 ? at : columns;
}

const char *qg_show_table(const qg_show *show, const qg_table *table) {
    const char *type = qg_scalars[table->type].name;
    return table->columns == 1 ? qg_format(show->arena, "a table of %u values of type %s", table->rows, type)
                               : qg_format(show->arena, "a table of %u rows of %u values of type %s", table->rows,
                                           table->columns, type);
}

uint32_t qg_show_lines(qg_arena *arena, const qg_source *source) {
    qg_diag scratch = qg_diag_new(arena, false);
    qg_lexer lexer = qg_lexer_new(arena, &scratch, source);
    uint32_t lines = 0, last = 0;
    bool in_table = false;
    for (qg_token token = qg_lex(&lexer); token.kind != QG_T_END; token = qg_lex(&lexer)) {
        in_table = token.kind == QG_T_TABLE || (in_table && !qg_begins_item(token.kind));
        if (!in_table && token.loc.line != last) {
            last = token.loc.line;
            lines++;
        }
    }
    return lines;
}

/* The text of the value, taken from the source between its first and its last token. */
const char *qg_show_value(qg_arena *arena, const qg_source *source) {
    qg_diag scratch = qg_diag_new(arena, false);
    qg_lexer lexer = qg_lexer_new(arena, &scratch, source);
    qg_text text = qg_text_new(arena);
    qg_token token = qg_lex(&lexer);
    while (token.kind != QG_T_VALUE && token.kind != QG_T_END) {
        token = qg_lex(&lexer);
    }
    qg_lex(&lexer); /* = */
    const char *end = NULL;
    for (token = qg_lex(&lexer); token.kind > QG_T_VALUE && token.kind != QG_T_END; token = qg_lex(&lexer)) {
        if (end != NULL && end != token.text) {
            qg_text_puts(&text, " ");
        }
        qg_text_add(&text, token.text, token.length);
        end = token.text + token.length;
    }
    return text.data != NULL ? text.data : "";
}

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

uint32_t qg_show_piece(const qg_show *show, const char *formula, size_t *length) {
    size_t n = 1;
    bool word = is_word(formula[0]);
    while (formula[n] != '\0' && is_word(formula[n]) == word) {
        n++;
    }
    *length = n;
    for (uint32_t c = 0; c < show->layout->n_codes && word; c++) {
        const char *name = show->layout->codes[c].name;
        if (strlen(name) == n && memcmp(name, formula, n) == 0) {
            return c;
        }
    }
    return UINT32_MAX;
}
