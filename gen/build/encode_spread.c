/* Encoders of rows on Vulkan: what a thread takes of a row, where its blocks are words of neighbouring floats. Threads
 * that are neighbours then load neighbours, and store neighbours. */
#include "build/family.h"

#include <string.h>

enum { WORD = 32, MOST_HELD = 32 }; /* elements that a thread holds, of which each takes a register */

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

uint32_t qg_spread_parts(const qg_layout *layout) {
    const qg_slice *slice = qg_spread_slice(layout);
    const uint32_t parts = slice ? layout->elements / MOST_HELD : 1;
    return parts > 1 && slice->digits[0].extent % (parts * qg_spread_run(slice)) == 0 ? parts : 1;
}

/* A slice that has fewer of its words; each of them has what it had. */
static qg_slice part_of_slice(qg_arena *arena, const qg_slice *slice, uint32_t parts) {
    qg_digit *digits = QG_NEW_ARRAY(arena, qg_digit, slice->n_digits);
    qg_slice own = *slice;
    memcpy(digits, slice->digits, slice->n_digits * sizeof *digits);
    digits[0].extent /= parts;
    own.digits = digits;
    own.count /= parts;
    return own;
}

const qg_layout *qg_spread_layout(qg_arena *arena, const qg_layout *layout) {
    const uint32_t parts = qg_spread_parts(layout);
    const qg_slice *slice = qg_spread_slice(layout);
    if (parts == 1) return layout;
    qg_layout *part = QG_NEW(arena, qg_layout);
    qg_buffer *buffers = QG_NEW_ARRAY(arena, qg_buffer, layout->n_buffers);
    qg_code *codes = QG_NEW_ARRAY(arena, qg_code, layout->n_codes);
    qg_encode *encode = QG_NEW(arena, qg_encode);
    qg_equation *items = QG_NEW_ARRAY(arena, qg_equation, layout->encode->count);
    *part = *layout;
    *encode = *layout->encode;
    memcpy(buffers, layout->buffers, layout->n_buffers * sizeof *buffers);
    memcpy(codes, layout->codes, layout->n_codes * sizeof *codes);
    memcpy(items, encode->items, encode->count * sizeof *items);
    const uint32_t header = qg_header_bytes(&buffers[slice->buffer]);
    buffers[slice->buffer].bytes = header + (buffers[slice->buffer].bytes - header) / parts;
    for (uint32_t i = 0; i < encode->count; ++i) {
        if (items[i].per == layout->elements) items[i].per /= parts; /* of the row: as much as a thread looks at */
        if (!items[i].is_code || items[i].of_row) continue;
        qg_code *code = &codes[items[i].code];
        qg_slice *own = QG_NEW(arena, qg_slice);
        *own = part_of_slice(arena, slice, parts);
        code->slices = own;
        code->count /= parts;
    }
    part->elements /= parts;
    part->block_cols /= parts;
    part->buffers = buffers;
    part->codes = codes;
    part->encode = encode;
    encode->items = items;
    return part;
}
