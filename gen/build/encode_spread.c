/* Encoders of rows on Vulkan: what a thread takes of a row, where its blocks are words of neighbouring floats. Threads
 * that are neighbours then load neighbours, and store neighbours. */
#include "build/family.h"

enum { WORD = 32 };

/* Whether the largest magnitude is looked for, the same in any order: those that are equal have the same bits. */
static bool is_free(const qg_term *term) {
    if (!term) return true;
    if (term->op == QG_CALL && term->count == 0 &&
        (term->call == QG_CALL_MAX || term->call == QG_CALL_MIN || term->call == QG_CALL_EXTREME))
        return term->call == QG_CALL_MAX && term->arg[0]->op == QG_CALL && term->arg[0]->call == QG_CALL_ABS;
    return is_free(term->arg[0]) && is_free(term->arg[1]) && is_free(term->arg[2]);
}

/* Whether a word has all bits of as many neighbours as make one with the first digit, and of what follows them in steps
 * of that digit's extent; and the block has such words alone. */
static bool fills_words(const qg_layout *layout, const qg_slice *slice) {
    const qg_buffer *buffer = &layout->buffers[slice->buffer];
    if (slice->n_digits == 0) return false; /* a block of one element */
    const uint32_t header = qg_header_bytes(buffer) * 8, bits = buffer->bytes * 8 - header;
    const int32_t stride = slice->digits[0].stride;
    uint32_t last = slice->width;
    if (slice->radix || slice->first || slice->shift || slice->count != layout->elements || slice->bit != header ||
        header % WORD || stride <= 0 || WORD % stride || WORD / stride % 4)
        return false;
    for (uint32_t d = 1; d < slice->n_digits; ++d) {
        if (slice->digits[d].stride < 0) return false;
        last += (slice->digits[d].extent - 1) * (uint32_t)slice->digits[d].stride;
    }
    return last <= (uint32_t)stride && slice->digits[0].extent * (uint32_t)stride == bits && bits % WORD == 0;
}

const qg_slice *qg_spread_slice(const qg_layout *layout) {
    const qg_slice *slice = NULL;
    const qg_encode *encode = layout->encode;
    if (!encode || !encode->rows || layout->view != QG_VIEW_MATRIX || layout->elements > QG_MOST_OF_SPREAD) return NULL;
    for (uint32_t i = 0; i < encode->count; ++i) {
        const qg_equation *e = &encode->items[i];
        if (e->candidates || e->next || (e->of_row && !is_free(e->value)) || (!e->of_row && e->per > 1)) return NULL;
        if (!e->is_code || e->of_row) continue;
        const qg_code *code = &layout->codes[e->code];
        if (slice || code->n_slices != 1 || !fills_words(layout, &code->slices[0])) return NULL;
        slice = &code->slices[0];
    }
    for (uint32_t b = 0; slice && b < layout->n_buffers; ++b)
        if (b != slice->buffer && layout->buffers[b].n_axes != 1) return NULL;
    return slice;
}

uint32_t qg_spread_run(const qg_slice *slice) { return WORD / (uint32_t)slice->digits[0].stride; }
