/* show.h: the block map, a picture of which bits belong to which code, for the terminal and as SVG. */
#ifndef QKGEN_SHOW_H
#define QKGEN_SHOW_H

#include "spec/spec.h"

/* Appends the map as ASCII in lines of at most `columns` where labels allow it; with `color`, cells get a background
 * from the 256-colour palette. */
void qg_show_terminal(qg_text *text, const qg_layout *layout, bool color, uint32_t columns);
/* A self-contained SVG document, the same for the same layout. */
char *qg_show_svg(qg_arena *arena, const qg_layout *layout);

/* ---- show.c, for both pictures: the block cut into cells and rows ----------------------------------------------- */

/* Adjacent bits of one instance of a code, rising with the address, which are consecutive bits of
 * the code; or bits that hold digits of a base for several instances. */
typedef struct qg_show_cell {
    qg_owner owner; /* of the first bit */
    uint32_t bit;   /* address in the buffer */
    uint32_t width;
    bool part;           /* not the code as a whole */
    bool ranged;         /* the label has to say which part */
    bool before, beyond; /* a row ends inside: the code goes on from the row before, into the next */
} qg_show_cell;

/* One field, or a few scalars in a row; drawn as rows of `row_bytes`. */
typedef struct qg_show_section {
    uint32_t buffer, first_field, n_fields;
    uint32_t byte, bytes; /* address in the buffer */
    uint32_t n_cells, n_rows, row_bytes;
    uint32_t bit_width;        /* that the labels need, in the unit of the room */
    const qg_show_cell *cells; /* cut at the ends of rows */
    const uint32_t *rows;      /* index of the first cell of each row, and the count of cells behind the last */
    /* Rows [hidden, shown) are left out: they continue what the `period` rows before them do; 0: there are too many. */
    uint32_t hidden, shown, period;
    const char *note; /* "bits 3:0 of each q", or "" */
} qg_show_section;

typedef struct qg_show {
    qg_arena *arena;
    const qg_layout *layout;
    uint32_t n_sections;
    qg_show_section *sections;
    const char *value;     /* the formula as it was written, on one line */
    const uint32_t *order; /* codes in the order of their counts, largest first */
    const uint32_t *hue;   /* of each code: its place in that order */
    uint32_t example;      /* an element whose bits are all drawn, and that takes many cells */
} qg_show;

/* What limits the bytes in a row, in thousandths: the room for a row, and what a label needs. */
typedef struct qg_show_room {
    uint32_t row;
    uint32_t character, padding;
    uint32_t least, step; /* a bit takes at least `least`, and is a multiple of `step` wide */
    bool stacked;         /* the range of bits stands in a second line */
} qg_show_room;

qg_show *qg_show_new(qg_arena *arena, const qg_layout *layout, const qg_show_room *room);

/* The formula of a specification as it was written, on one line. */
const char *qg_show_value(qg_arena *arena, const qg_source *source);
/* How many of its lines are neither blank nor comments. Tables do not count. */
uint32_t qg_show_lines(qg_arena *arena, const qg_source *source);
/* "q17", "d", "spare". */
const char *qg_show_name(const qg_show *show, const qg_owner *owner);
/* The name in a cell, with '<' and '>' where the code goes on in another row. Where the cell holds
 * digits of a base, all instances that it holds: "t0,32,64". */
const char *qg_show_label(const qg_show *show, const qg_show_cell *cell);
/* Whether the owner's bits hold that instance of its code, alone or with others. */
bool qg_show_holds(const qg_show *show, const qg_owner *owner, uint32_t instance);
/* "[5:4]", "[4]". */
const char *qg_show_range(qg_arena *arena, uint32_t low, uint32_t width);
/* The same for what a cell gives its code. */
const char *qg_show_part(const qg_show *show, const qg_show_cell *cell);
/* "qs: u8[16]". */
const char *qg_show_field(const qg_show *show, const qg_field *field);
/* "byte 4", "bytes 2 to 17". */
const char *qg_show_bytes(qg_arena *arena, uint32_t byte, uint32_t count);
/* "32 elements in 18 bytes: 4.5 bits for each". */
const char *qg_show_size(const qg_show *show);
/* "4 bits", "0 to 2", "f16". */
const char *qg_show_width(const qg_show *show, const qg_code *code);
/* What a buffer of a matrix grows along: "[rows][cols]"; else "". */
const char *qg_show_axes(const qg_show *show, const qg_buffer *buffer);
/* "one for each element: q0 to q31". */
const char *qg_show_count(const qg_show *show, uint32_t code);
/* "t0 to t159 " when the slice belongs to a segment, else "". */
const char *qg_show_segment(const qg_show *show, const qg_code *code, const qg_slice *slice);
/* "qs", "qs (5 digits of base 3 in 8 bits)". */
const char *qg_show_place(const qg_show *show, const qg_slice *slice);
/* "in qs", "bits 3:0 in qs, bit 4 in qh", "t0 to t159 in qs; t160 to t255 in qh". */
const char *qg_show_places(const qg_show *show, const qg_code *code);
/* "a table of 16 values of type i8". */
const char *qg_show_table(const qg_show *show, const qg_table *table);
/* "bytes 32 to 479 continue in the same way: ..." */
const char *qg_show_hidden(const qg_show *show, const qg_show_section *section);
/* The code whose instance an example needs at that point of the formula, or UINT32_MAX; `*length` is the length of the
 * piece of text there: a name, or what stands between names. */
uint32_t qg_show_piece(const qg_show *show, const char *formula, size_t *length);
/* Where the example finds code `code`: "byte 9, bits 4 to 7; byte 2, bit 5". */
const char *qg_show_where(const qg_show *show, uint32_t code);
/* How to read the map. */
const char *qg_show_guide(const qg_show *show);
/* The length of the first line of a text that is broken at spaces into lines of `columns`. */
size_t qg_show_line(const char *text, size_t columns);

/* The colour of a code, or of the part of it that `owner` names, as 0xRRGGBB; and that of text on it. */
uint32_t qg_show_color(const qg_show *show, const qg_owner *owner, bool whole);
uint32_t qg_show_ink(uint32_t color);

/* The part of its code that a bit belongs to; how many instances share its cell, `apart` from each other. */
const qg_slice *qg_show_slice(const qg_show *show, const qg_owner *owner);
uint32_t qg_show_sharing(const qg_show *show, const qg_owner *owner, uint32_t *apart);
/* All instances in the owner's bits. */
const char *qg_show_names(const qg_show *show, const qg_owner *owner);
/* The first bit and the width of what a cell has of its code; "3" or "3:0". */
uint32_t qg_show_part_low(const qg_show *show, const qg_show_cell *cell);
uint32_t qg_show_part_width(const qg_show *show, const qg_show_cell *cell);
const char *qg_show_bits(qg_arena *arena, uint32_t low, uint32_t width);

#endif
