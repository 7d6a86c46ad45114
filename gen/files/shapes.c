/* The shape of a weight, from those of the tensors that are its buffers.
 *
 * Of whole blocks one after the other, each tensor holds as many. Where blocks are patches of a matrix, each tensor
 * is a matrix of items, and each of its extents says of the rows or columns of the weight that they lie in a range,
 * which is one number unless the last block may be cut off. A shape fits when all ranges have a number in common. */
#include "files/rules.h"

#include <string.h>

/* Extents beyond are none of a tensor of less than 2^32 elements; below, products with a block's extent fit 64 bits. */
static const uint64_t MOST = (uint64_t)1 << 40;

typedef struct range {
    uint64_t low, high;
} range;

static uint64_t smaller(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* ---- whole blocks ---- */

/* The outer dimensions are those of the tensor that has the fewest; what others have more is part of a row's bytes. */
static bool solve_blocks(const qg_layout *layout, const qg_tensor *const *tensors, qg_shape *shape) {
    const qg_tensor *least = tensors[0];
    for (uint32_t i = 1; i < layout->n_buffers; ++i)
        if (tensors[i]->n_dims < least->n_dims) least = tensors[i];
    if (least->n_dims == 0 || least->elements == 0) return false;
    *shape = (qg_shape){.n_dims = least->n_dims};
    memcpy(shape->dims, least->dims, sizeof shape->dims);
    uint64_t rows = 1, blocks = 0;
    for (uint32_t d = 0; d + 1 < least->n_dims; ++d) rows *= least->dims[d];
    for (uint32_t i = 0; i < layout->n_buffers; ++i) {
        const qg_tensor *t = tensors[i];
        const uint64_t header = qg_header_bytes(&layout->buffers[i]), bytes = layout->buffers[i].bytes - header;
        if (t->bytes % rows || t->bytes / rows < header || (t->bytes / rows - header) % bytes) return false;
        for (uint32_t d = 0; d + 1 < least->n_dims; ++d)
            if (t->dims[d] != least->dims[d]) return false;
        const uint64_t found = (t->bytes / rows - header) / bytes;
        if (i && found != blocks) return false;
        blocks = found;
    }
    shape->dims[least->n_dims - 1] = blocks * layout->elements;
    shape->elements = rows * blocks * layout->elements;
    return blocks > 0;
}

/* ---- patches of a matrix ---- */

/* The tensor's extents, as many as its buffer has axes: those of 1 may be left out at the end, or be too many. */
static bool read_extents(const qg_layout *layout, const qg_buffer *buffer, const qg_tensor *t, uint64_t *extents) {
    uint32_t n = t->n_dims;
    uint64_t dims[QG_MAX_DIMS + QG_MAX_AXES];
    if (layout->view == QG_VIEW_SEQUENCE) {
        for (uint32_t i = 0; i < buffer->n_axes; ++i) extents[i] = buffer->axes[i] == QG_AXIS_ROWS ? 1 : t->elements;
        return true;
    }
    memcpy(dims, t->dims, sizeof t->dims);
    for (; buffer->entries && n > buffer->n_axes; --n) dims[n - 2] *= dims[n - 1]; /* entries of several items */
    while (n < buffer->n_axes) dims[n++] = 1;
    for (uint32_t i = n; i-- > 0 && n > buffer->n_axes;)
        if (dims[i] == 1) memmove(&dims[i], &dims[i + 1], (--n - i) * sizeof *dims);
    if (n != buffer->n_axes) return false;
    memcpy(extents, dims, n * sizeof *dims);
    return true;
}

/* Keeps of a range the numbers of which `items` are the part that a buffer has, which has `tile`
 * items for each `block`. */
static bool narrow(range *r, uint64_t items, uint32_t tile, uint32_t block, bool ragged) {
    if (items == 0 || items > MOST || tile == 0) return false;
    const bool whole = tile == block || !ragged;
    if (whole && tile != block && items % tile) return false;
    const uint64_t high = whole && tile != block ? items / tile * block : items * block / tile;
    const uint64_t low = whole ? high : (items - 1) * block / tile + 1;
    if (low > r->low) r->low = low;
    r->high = smaller(r->high, high);
    return r->low <= r->high;
}

static bool narrow_both(const qg_layout *layout, const qg_buffer *buffer, const qg_tensor *t, range *rows,
                        range *cols) {
    const bool groups = layout->view == QG_VIEW_GROUPS, sequence = layout->view == QG_VIEW_SEQUENCE;
    uint64_t extents[QG_MAX_AXES];
    if (!read_extents(layout, buffer, t, extents)) return false;
    for (uint32_t i = 0; i < buffer->n_axes; ++i) {
        const bool down = buffer->axes[i] == QG_AXIS_ROWS;
        const bool ragged = layout->ragged || (down ? groups : sequence);
        if (!down && buffer->entries) {
            if (extents[i] != (uint64_t)buffer->entries * buffer->tile_cols) return false;
            continue;
        }
        if (down ? !narrow(rows, extents[i], buffer->tile_rows, layout->block_rows, ragged)
                 : !narrow(cols, extents[i], buffer->tile_cols, layout->block_cols, ragged))
            return false;
    }
    return true;
}

static uint64_t items(uint64_t count, uint32_t tile, uint32_t block) { return (count * tile + block - 1) / block; }

/* The bytes of a buffer are those that its tensor has. */
static bool has_bytes(const qg_layout *layout, const qg_buffer *buffer, const qg_tensor *t, uint64_t rows,
                      uint64_t cols) {
    uint64_t count = 1;
    for (uint32_t i = 0; i < buffer->n_axes; ++i)
        count *= buffer->axes[i] == QG_AXIS_ROWS ? items(rows, buffer->tile_rows, layout->block_rows)
                 : buffer->entries               ? (uint64_t)buffer->entries * buffer->tile_cols
                                                 : items(cols, buffer->tile_cols, layout->block_cols);
    return count * (buffer->item_bits / 8) == t->bytes && count == t->elements;
}

/* "64x256" */
static bool read_said(const char *said, qg_shape *shape) {
    *shape = (qg_shape){.elements = 1};
    for (const char *at = said; shape->n_dims < QG_MAX_DIMS; ++at) {
        uint64_t extent = 0;
        const char *start = at;
        for (; *at >= '0' && *at <= '9' && extent <= UINT32_MAX; ++at) extent = 10 * extent + (uint64_t)(*at - '0');
        if (at == start || extent == 0 || shape->elements > UINT32_MAX / extent) return false;
        shape->elements *= extent;
        shape->dims[shape->n_dims++] = extent;
        if (!*at) return true;
        if (*at != 'x') return false;
    }
    return false;
}

/* The weight's own shape, where its elements are cut without regard to it. */
static bool shape_elements(const range *count, uint64_t unit, const char *said, qg_shape *shape) {
    if (said) {
        if (!read_said(said, shape) || shape->elements % unit) return false;
        const uint64_t found = shape->elements / unit;
        return found >= count->low && found <= count->high;
    }
    *shape = (qg_shape){.elements = count->high * unit, .n_dims = 1};
    shape->dims[0] = shape->elements;
    return true;
}

static bool shape_matrix(const range *rows, const range *cols, const char *said, qg_shape *shape) {
    *shape = (qg_shape){.n_dims = 2, .dims = {rows->high, cols->high}};
    if (said) {
        if (!read_said(said, shape) || shape->n_dims != 2) return false;
        if (shape->dims[0] < rows->low || shape->dims[0] > rows->high) return false;
        if (shape->dims[1] < cols->low || shape->dims[1] > cols->high) return false;
    }
    shape->elements = shape->dims[0] * shape->dims[1];
    return true;
}

static bool solve_matrix(const qg_layout *layout, const qg_tensor *const *tensors, const char *said, qg_shape *shape) {
    range rows = {1, UINT32_MAX}, cols = {1, UINT32_MAX};
    bool good = true;
    for (uint32_t i = 0; i < layout->n_buffers && good; ++i)
        good = narrow_both(layout, &layout->buffers[i], tensors[i], &rows, &cols);
    if (!good || rows.high == UINT32_MAX || cols.high == UINT32_MAX || rows.high > UINT32_MAX / cols.high) return false;
    if (layout->view == QG_VIEW_GROUPS) {
        if (cols.low > layout->block_cols || cols.high < layout->block_cols) return false;
        good = shape_elements(&rows, layout->block_cols, said, shape);
    } else if (layout->view == QG_VIEW_SEQUENCE) {
        good = shape_elements(&cols, 1, said, shape);
    } else {
        good = shape_matrix(&rows, &cols, said, shape);
    }
    if (!good) return false;
    shape->cols = shape->dims[shape->n_dims - 1];
    shape->rows = shape->elements / shape->cols;
    uint64_t down = shape->rows, across = shape->cols;
    if (layout->view == QG_VIEW_GROUPS) {
        down = shape->elements / layout->block_cols;
        across = layout->block_cols;
    } else if (layout->view == QG_VIEW_SEQUENCE) {
        down = 1;
        across = shape->elements;
    }
    for (uint32_t i = 0; i < layout->n_buffers && good; ++i)
        good = has_bytes(layout, &layout->buffers[i], tensors[i], down, across);
    return good;
}

bool qg_shape_solve(const qg_layout *layout, const qg_tensor *const *tensors, const char *said, qg_shape *shape) {
    return layout->view == QG_VIEW_BLOCKS || layout->spec->n_header > 0 ? solve_blocks(layout, tensors, shape)
                                                                        : solve_matrix(layout, tensors, said, shape);
}
