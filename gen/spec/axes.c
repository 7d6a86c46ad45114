/* How the buffers of a block lie in those of a tensor, when blocks are patches of a matrix.
 *
 * The one idea: inside of a block nothing changes. A block's part of a buffer is a tile of items,
 * whose bits are counted row by row, and every layout rule is proven on that. The axes of the
 * buffer only say where the tile's items lie in memory: so packing along another dimension, scales
 * for a whole row, an index that chooses the scale, are all the same layout. */
#include "spec/check.h"
#include "spec/lex.h"

#include <string.h>

static const qg_spec_buffer *written_buffer(const qg_work *work, uint32_t buffer) {
    return &work->spec->buffers[buffer];
}

static bool has_axis(const qg_buffer *buffer, qg_axis axis) {
    for (uint32_t i = 0; i < buffer->n_axes; i++) {
        if (buffer->axes[i] == axis) {
            return true;
        }
    }
    return false;
}

const qg_buffer *qg_index_of(const qg_buffer *buffers, const qg_code *code) {
    for (uint32_t s = 0; s < code->n_slices; s++) {
        const qg_buffer *buffer = &buffers[code->slices[s].buffer];
        if (has_axis(buffer, QG_AXIS_CODE)) {
            return buffer;
        }
    }
    return NULL;
}

uint32_t qg_header_bytes(const qg_buffer *buffer) { return buffer->header * (buffer->item_bits / 8); }

double qg_bits_per_element(const qg_layout *layout) {
    uint32_t bytes = 0;
    for (uint32_t b = 0; b < layout->n_buffers; b++) {
        const bool few = layout->buffers[b].n_axes < QG_MAX_AXES || layout->buffers[b].entries > 0;
        const bool shared = layout->view != QG_VIEW_BLOCKS && few;
        bytes += shared ? 0 : layout->buffers[b].bytes - qg_header_bytes(&layout->buffers[b]);
    }
    return 8.0 * bytes / layout->elements;
}

enum { MOST_ENTRIES = 1 << 20 };

/* How many entries a table has, where the axis is one of those. */
static bool read_entries(qg_work *work, qg_buffer *buffer, const qg_spec_axis *axis) {
    if (axis->entries == NULL) {
        return true;
    }
    if (strcmp(axis->name, "rows") == 0 || strcmp(axis->name, "cols") == 0) {
        qg_error(work->diag, axis->loc,
                 "'of' says how many entries a table has that a code chooses from, and '%s' is no code", axis->name);
        return false;
    }
    return qg_eval_within(work, axis->entries, "the number of entries", 1, MOST_ENTRIES, &buffer->entries);
}

static void read_axes(qg_work *work, uint32_t at) {
    const qg_spec_buffer *written = written_buffer(work, at);
    qg_buffer *buffer = &work->buffers[at];
    if (!written->has_axes) {
        buffer->n_axes = 2;
        buffer->axes[0] = QG_AXIS_ROWS;
        buffer->axes[1] = QG_AXIS_COLS;
        return;
    }
    buffer->n_axes = written->n_axes;
    for (uint32_t i = 0; i < written->n_axes; i++) {
        const char *name = written->axes[i].name;
        buffer->axes[i] = strcmp(name, "rows") == 0   ? QG_AXIS_ROWS
                          : strcmp(name, "cols") == 0 ? QG_AXIS_COLS
                                                      : QG_AXIS_CODE;
    }
}

/* The one field of the buffer; reports where there are more. */
static const qg_field *only_field(qg_work *work, uint32_t at) {
    const qg_field *only = NULL;
    for (uint32_t f = 0; f < work->n_fields; f++) {
        const qg_field *field = &work->fields[f];
        if (field->buffer != at) {
            continue;
        }
        if (only != NULL || field->spare) {
            qg_error(work->diag, field->loc,
                     "buffer '%s' must have one field, and no spare one, for it is a matrix of items: give '%s' a "
                     "buffer of its own",
                     work->buffers[at].name, field->name);
            return NULL;
        }
        only = field;
    }
    return only;
}

static bool tile_fits_axes(qg_work *work, const qg_buffer *buffer, const qg_field *field) {
    const bool along_rows = has_axis(buffer, QG_AXIS_ROWS);
    const bool along_cols = has_axis(buffer, QG_AXIS_COLS) || buffer->entries > 0;
    if (!along_rows && field->rows > 1) {
        qg_error(work->diag, field->loc, "'%s' has %u rows, but its buffer does not grow along the rows: write [rows]",
                 field->name, field->rows);
        return false;
    }
    if (!along_cols && field->columns > 1) {
        qg_error(work->diag, field->loc,
                 "'%s' has %u columns, but its buffer does not grow along the columns: write [cols], or the array as "
                 "[%u][1]",
                 field->name, field->columns, field->columns);
        return false;
    }
    if (work->view == QG_VIEW_GROUPS && field->rows > 1 && field->rows != work->block_rows) {
        qg_error(work->diag, field->loc,
                 "'%s' has %u rows; where the rows of a block lie apart, it must have 1, or %u, one for each",
                 field->name, field->rows, work->block_rows);
        return false;
    }
    return true;
}

static bool check_axes(qg_work *work, uint32_t at) {
    const qg_spec_buffer *written = written_buffer(work, at);
    for (uint32_t i = 0; i < written->n_axes; i++) {
        if (i > 0 && strcmp(written->axes[0].name, written->axes[i].name) == 0) {
            qg_error(work->diag, written->axes[i].loc, "axis '%s' stands twice: a buffer grows along each axis once",
                     written->axes[i].name);
            return false;
        }
    }
    qg_buffer *buffer = &work->buffers[at];
    for (uint32_t i = 0; i < written->n_axes; i++) {
        if (!read_entries(work, buffer, &written->axes[i])) {
            return false;
        }
        if (written->axes[i].entries != NULL && i + 1 < written->n_axes) {
            qg_error(work->diag, written->axes[i].loc,
                     "the entries of a table lie one after the other: write '[%s of ...]' last", written->axes[i].name);
            return false;
        }
    }
    if (buffer->entries > 0 && has_axis(buffer, QG_AXIS_COLS)) {
        qg_error(work->diag, written->axes[0].loc,
                 "a table belongs to a row of blocks, or to the tensor, and not to columns: remove [cols]");
        return false;
    }
    if (has_axis(buffer, QG_AXIS_CODE) && has_axis(buffer, QG_AXIS_COLS)) {
        qg_error(work->diag, written->axes[0].loc,
                 "a code in the place of an axis chooses the column of blocks, so that 'cols' cannot stand beside it: "
                 "keep one of both");
        return false;
    }
    return true;
}

/* In an array of one dimension, what the items lie along follows from the buffer. */
static void turn_array(qg_work *work, qg_field *field) {
    const qg_buffer *buffer = &work->buffers[field->buffer];
    if (field->rows == 1 && buffer->n_axes == 1 && buffer->axes[0] == QG_AXIS_ROWS) {
        field->rows = field->columns;
        field->columns = 1;
    }
}

/* Of a row with a header an item is as many bytes, up to 4, as begin at multiples of that in every row. */
static void tile_behind_header(qg_work *work) {
    qg_buffer *buffer = &work->buffers[0];
    uint32_t bytes = 0;
    for (uint32_t f = 0; f < work->spec->n_header; f++) {
        bytes += work->fields[f].count * qg_scalars[work->fields[f].type].bits / 8;
    }
    const uint32_t item = qg_common_divisor(4, qg_common_divisor(bytes, buffer->bytes));
    read_axes(work, 0);
    buffer->item_bits = 8 * item;
    buffer->header = bytes / item;
    buffer->tile_rows = 1;
    buffer->tile_cols = (buffer->bytes - bytes) / item;
}

bool qg_layout_tiles(qg_work *work) {
    if (work->spec->n_header > 0) {
        tile_behind_header(work);
        return true;
    }
    if (work->view == QG_VIEW_BLOCKS) {
        for (uint32_t b = 0; b < work->spec->n_buffers; b++) {
            const qg_spec_buffer *written = written_buffer(work, b);
            if (written->has_axes) {
                qg_error(work->diag, written->loc,
                         "buffer '%s' has axes, which only a block of ROWS x COLUMNS has: write 'block 1 x %u', or "
                         "remove them",
                         written->name, work->elements);
                return false;
            }
        }
        return true;
    }
    bool good = true;
    for (uint32_t b = 0; b < work->spec->n_buffers; b++) {
        read_axes(work, b);
        const qg_field *field = only_field(work, b);
        if (field == NULL || !check_axes(work, b)) {
            return false;
        }
        turn_array(work, &work->fields[field - work->fields]);
        good = tile_fits_axes(work, &work->buffers[b], field) && good;
        work->buffers[b].item_bits = qg_scalars[field->type].bits;
        work->buffers[b].tile_rows = field->rows;
        work->buffers[b].tile_cols = field->columns;
    }
    return good;
}

/* True when all bits of a code lie in buffers that grow along [cols] alone. */
static bool is_shared_by_rows(const qg_work *work, const qg_code *code) {
    bool shared = true;
    for (uint32_t s = 0; s < code->n_slices; s++) {
        const qg_buffer *buffer = &work->buffers[code->slices[s].buffer];
        shared = shared && buffer->n_axes == 1 && buffer->axes[0] == QG_AXIS_COLS;
    }
    return shared;
}

/* Every value of the code must name an entry, so that no kernel has to look. */
static bool chooses_entry(qg_work *work, const qg_spec_axis *axis, const qg_code *code, bool whole, uint32_t entries) {
    if (!whole || qg_index_of(work->buffers, code) != NULL) {
        qg_error(work->diag, axis->loc,
                 "code '%s' cannot choose an entry: it must be an unsigned integer, and be in no table itself",
                 axis->name);
        return false;
    }
    if (code->most >= entries) {
        qg_error(work->diag, axis->loc, "code '%s' goes up to %u, and the table has %u %s: there must be %llu",
                 axis->name, code->most, entries, entries == 1 ? "entry" : "entries",
                 (unsigned long long)code->most + 1);
        return false;
    }
    return true;
}

static bool find_index(qg_work *work, const qg_spec_axis *axis, uint32_t entries, uint32_t *code) {
    for (uint32_t c = 0; c < work->n_codes; c++) {
        if (strcmp(work->codes[c].name, axis->name) != 0) {
            continue;
        }
        const bool whole = !work->codes[c].typed || qg_scalars[work->codes[c].type].kind == QG_UNSIGNED;
        if (work->codes[c].width == 0) {
            return false; /* reported where it is laid out */
        }
        if (entries > 0) {
            work->used[c] = true;
            *code = c;
            return chooses_entry(work, axis, &work->codes[c], whole, entries);
        }
        if (!whole || !is_shared_by_rows(work, &work->codes[c])) {
            qg_error(work->diag, axis->loc,
                     "code '%s' cannot be an axis: it must be an unsigned integer with all bits in a buffer that grows "
                     "along [cols]",
                     axis->name);
            return false;
        }
        work->used[c] = true;
        *code = c;
        return true;
    }
    qg_error(work->diag, axis->loc, "'%s' is not an axis: write 'rows', 'cols', or the name of a code", axis->name);
    return false;
}

bool qg_layout_indices(qg_work *work) {
    bool good = true;
    for (uint32_t b = 0; b < work->spec->n_buffers && work->view != QG_VIEW_BLOCKS; b++) {
        qg_buffer *buffer = &work->buffers[b];
        for (uint32_t i = 0; i < buffer->n_axes; i++) {
            if (buffer->axes[i] == QG_AXIS_CODE) {
                good = find_index(work, &written_buffer(work, b)->axes[i], buffer->entries, &buffer->index) && good;
            }
        }
    }
    return good;
}

const qg_layout *qg_layout_in(qg_arena *arena, const qg_layout *layout, qg_scalar math) {
    qg_layout *in = QG_NEW(arena, qg_layout);
    *in = *layout;
    in->math = math;
    if (math != QG_F32) {
        in->encode = NULL; /* which is said of f32 alone */
    }
    in->name =
        math == QG_F32 ? layout->format : qg_format(arena, "%s_decode_%s", layout->format, qg_scalars[math].name);
    return in;
}
