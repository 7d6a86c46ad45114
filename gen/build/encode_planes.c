/* Encoders of planes on Vulkan: whether threads can share the groups of a block. The groups lie far from each other in
 * the tensor, so that a team makes one after the other; each thread has the same elements of all of them, and with
 * those, whole words of the block. */
#include "build/family.h"

enum { WORD = 32 };

uint32_t qg_made_elements(const qg_layout *layout) {
    return layout->view == QG_VIEW_GROUPS ? layout->block_cols : layout->elements;
}

const qg_slice *qg_slice_of_elements(const qg_layout *layout, uint32_t buffer) {
    const qg_slice *own = NULL;
    for (uint32_t c = 0; c < layout->n_codes; ++c)
        for (uint32_t s = 0; s < layout->codes[c].n_slices; ++s) {
            const qg_slice *slice = &layout->codes[c].slices[s];
            if (slice->buffer != buffer) continue;
            if (own || layout->codes[c].per != 1) return NULL;
            own = slice;
        }
    return own;
}

bool qg_splits_planes(const qg_layout *layout, const qg_slice *slice, uint32_t count) {
    uint32_t below = 1;
    if (slice->radix || slice->first || slice->count != count * layout->block_rows) return false;
    for (uint32_t i = 0; i < slice->n_digits && below < count; ++i) below *= slice->digits[i].extent;
    if (below != count) return false;
    for (uint32_t j = 0; j < slice->count; ++j) {
        const uint32_t own = qg_slice_address(slice, j % count) - slice->bit, at = qg_slice_address(slice, j);
        if (at / WORD != (own + slice->bit / WORD * WORD) / WORD || at % WORD + slice->width > WORD) return false;
    }
    return true;
}

/* Whether each word of a buffer's part of the block has bits of the slice. */
static bool fills_words(const qg_layout *layout, const qg_slice *slice) {
    for (uint32_t w = 0; w < (layout->buffers[slice->buffer].bytes + 3) / 4; ++w) {
        bool fills = false;
        for (uint32_t j = 0; j < slice->count && j < layout->block_cols && !fills; ++j)
            fills = qg_slice_address(slice, slice->first + j) / WORD == w;
        if (!fills) return false;
    }
    return true;
}

/* Whether a buffer has one row for each group, and numbers of the whole group alone. */
static bool is_of_groups(const qg_layout *layout, uint32_t buffer) {
    if (layout->buffers[buffer].tile_rows != layout->block_rows) return false;
    for (uint32_t c = 0; c < layout->n_codes; ++c)
        for (uint32_t s = 0; s < layout->codes[c].n_slices; ++s)
            if (layout->codes[c].slices[s].buffer == buffer &&
                (layout->codes[c].per != layout->block_cols || layout->codes[c].slices[s].radix))
                return false;
    return true;
}

bool qg_can_share_planes(const qg_layout *layout, uint32_t team) {
    bool any = false;
    for (uint32_t b = 0; b < layout->n_buffers; ++b) {
        const qg_slice *slice = qg_slice_of_elements(layout, b);
        any |= slice != NULL;
        if (!slice && !is_of_groups(layout, b)) return false;
        if (slice && layout->block_rows > 1 && !qg_splits_planes(layout, slice, layout->block_cols)) return false;
        if (slice && (slice->radix || !fills_words(layout, slice))) return false;
    }
    return any && qg_deals_alone(layout, team);
}
