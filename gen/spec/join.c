/* Blocks joined: several neighbours as one block of a layout of its own. Where a block has a part of a
 * word, as many as make whole words together are joined, and then every place in them is known in words. */
#include "spec/spec.h"

bool qg_has_segments(const qg_code *code) { return code->slices[code->n_slices - 1].first > 0; }

/* One digit more, which goes over the blocks. */
static qg_slice join_slice(qg_arena *arena, const qg_slice *slice, uint32_t count, uint32_t bits) {
    qg_digit *digits = QG_NEW_ARRAY(arena, qg_digit, slice->n_digits + 1);
    for (uint32_t d = 0; d < slice->n_digits; ++d) digits[d] = slice->digits[d];
    digits[slice->n_digits] = (qg_digit){count, (int32_t)bits};
    qg_slice joined = *slice;
    joined.digits = digits;
    joined.n_digits += 1;
    joined.count *= count;
    return joined;
}

/* A segment has instances of its own, which do not go on in the next block: lowering adds where that begins. */
static qg_code join_code(qg_arena *arena, const qg_layout *layout, const qg_code *code, uint32_t count) {
    qg_code joined = *code;
    joined.count *= count;
    if (qg_has_segments(code)) return joined;
    qg_slice *slices = QG_NEW_ARRAY(arena, qg_slice, code->n_slices);
    for (uint32_t s = 0; s < code->n_slices; ++s) {
        const qg_buffer *buffer = &layout->buffers[code->slices[s].buffer];
        const uint32_t bits = buffer->shared ? 0 : buffer->bytes * 8;
        slices[s] = join_slice(arena, &code->slices[s], count, bits);
    }
    joined.slices = slices;
    return joined;
}

const qg_layout *qg_layout_joined(qg_arena *arena, const qg_layout *layout, uint32_t count) {
    if (count == 1) return layout;
    if (layout->view != QG_VIEW_BLOCKS) return NULL;
    qg_code *codes = QG_NEW_ARRAY(arena, qg_code, layout->n_codes);
    qg_buffer *buffers = QG_NEW_ARRAY(arena, qg_buffer, layout->n_buffers);
    for (uint32_t c = 0; c < layout->n_codes; ++c) codes[c] = join_code(arena, layout, &layout->codes[c], count);
    for (uint32_t b = 0; b < layout->n_buffers; ++b) {
        buffers[b] = layout->buffers[b];
        if (!buffers[b].shared) buffers[b].bytes *= count;
    }
    qg_layout *joined = QG_NEW(arena, qg_layout);
    *joined = *layout;
    joined->joined = count;
    joined->elements *= count;
    joined->block_cols *= count;
    joined->block_bytes *= count;
    joined->codes = codes;
    joined->buffers = buffers;
    return joined;
}

/* Fewer elements than a tile should have. */
enum { SHORT = 64 };

/* Whether blocks are short parts of a row that lie one after the other, but for what all of the tensor shares. */
static bool is_row_of_blocks(const qg_layout *layout) {
    if (layout->view != QG_VIEW_MATRIX || layout->block_rows != 1 || layout->block_cols >= SHORT ||
        layout->buffers[0].header || layout->each)
        return false;
    for (uint32_t i = 0; i < layout->n_buffers; ++i) {
        const qg_buffer *buffer = &layout->buffers[i];
        const bool rows_first =
            buffer->n_axes == 2 && buffer->axes[0] == QG_AXIS_ROWS && buffer->axes[1] == QG_AXIS_COLS;
        if (buffer->n_axes > 0 && !rows_first) return false;
    }
    return true;
}

static const qg_buffer *buffers_of_blocks(qg_arena *arena, const qg_layout *layout) {
    qg_buffer *buffers = QG_NEW_ARRAY(arena, qg_buffer, layout->n_buffers);
    for (uint32_t i = 0; i < layout->n_buffers; ++i) {
        buffers[i] = layout->buffers[i];
        buffers[i].shared = buffers[i].n_axes == 0;
        buffers[i].n_axes = 0;
    }
    return buffers;
}

const qg_layout *qg_layout_whole(qg_arena *arena, const qg_layout *layout) {
    const bool row_of_blocks = is_row_of_blocks(layout);
    if (!layout->ragged && !row_of_blocks) return layout;
    qg_layout *whole = QG_NEW(arena, qg_layout);
    *whole = *layout;
    whole->ragged = false;
    if (layout->view == QG_VIEW_SEQUENCE || row_of_blocks) {
        whole->view = QG_VIEW_BLOCKS;
        whole->buffers = buffers_of_blocks(arena, layout);
    }
    return whole;
}

const qg_layout *qg_layout_to_encode(qg_arena *arena, const qg_layout *layout) {
    return layout->view == QG_VIEW_SEQUENCE ? qg_layout_whole(arena, layout) : layout;
}

bool qg_has_experts(const qg_layout *layout) {
    return layout->view == QG_VIEW_BLOCKS || (layout->view == QG_VIEW_MATRIX && !layout->ragged);
}

const qg_layout *qg_layout_of_experts(qg_arena *arena, const qg_layout *layout) {
    bool by_rows = true;
    for (uint32_t i = 0; i < layout->n_buffers; ++i)
        by_rows &= layout->buffers[i].n_axes > 0 && layout->buffers[i].axes[0] == QG_AXIS_ROWS;
    if (by_rows || layout->view == QG_VIEW_BLOCKS) return layout;
    qg_layout *stacked = QG_NEW(arena, qg_layout);
    *stacked = *layout;
    stacked->each = layout;
    return stacked;
}
