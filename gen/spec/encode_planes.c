/* Planes in `encode`: the groups of a block lie far from each other in the tensor, and so each is made by itself. What
 * they share of the block is the words that their codes lie in. */
#include "spec/check.h"

uint32_t qg_made_together(const qg_work *work) {
    return work->view == QG_VIEW_GROUPS ? work->block_cols : work->elements;
}

/* Rows of items, one for a block or one for each of its groups. */
static bool check_buffer(qg_work *work, uint32_t at) {
    const qg_buffer *b = &work->buffers[at];
    const bool rows = b->n_axes > 0 && b->axes[0] == QG_AXIS_ROWS,
               whole = rows && (b->n_axes == 1 || b->axes[1] == QG_AXIS_COLS);
    if (b->entries == 0 && whole) {
        return true;
    }
    qg_error(work->diag, work->spec->buffers[at].loc,
             "'encode' of planes is for buffers with a row of items for each block or group, and '%s' has other axes: "
             "leave 'encode' out",
             work->spec->buffers[at].name);
    return false;
}

static bool check_per(qg_work *work, const qg_code *code) {
    if (work->block_cols % code->per == 0) {
        return true;
    }
    qg_error(work->diag, code->loc,
             "'%s' is one for %u elements, and 'encode' makes each group of %u for itself: write a 'per' that divides "
             "the group, or leave 'encode' out",
             code->name, code->per, work->block_cols);
    return false;
}

/* Where each group has a row of its own, it has its bits there, and as the first group has them in the first row. */
static bool check_rows(qg_work *work, const qg_code *code, const qg_slice *slice) {
    const qg_buffer *b = &work->buffers[slice->buffer];
    const uint32_t in_group = work->block_cols / code->per, row_bits = b->tile_cols * b->item_bits;
    bool good = b->tile_rows == 1 || (slice->first == 0 && slice->count == code->count);
    for (uint32_t j = 0; b->tile_rows > 1 && j < code->count && good; j++) {
        const uint32_t first = qg_slice_address(slice, j % in_group),
                       power = qg_slice_power(slice, j) - qg_slice_power(slice, j % in_group);
        good = power == 0 && qg_slice_address(slice, j) == first + j / in_group * row_bits;
    }
    if (!good) {
        qg_error(
            work->diag, slice->loc,
            "'%s' has a row for each group, and bits of '%s' lie in other rows, or elsewhere in them than those of "
            "the first group: correct the digits, or leave 'encode' out",
            work->spec->buffers[slice->buffer].name, code->name);
    }
    return good;
}

bool qg_check_planes(qg_work *work) {
    bool good = true;
    for (uint32_t b = 0; b < work->spec->n_buffers; b++) {
        good = check_buffer(work, b) && good;
    }
    for (uint32_t c = 0; c < work->n_codes && good; c++) {
        const qg_code *code = &work->codes[c];
        good = code->width != 0 && check_per(work, code); /* without bits, it was reported */
        for (uint32_t s = 0; s < code->n_slices && good; s++) {
            good = check_rows(work, code, &code->slices[s]);
        }
    }
    return good;
}
