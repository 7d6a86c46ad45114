/* Encoders on Vulkan: how many threads make a block together, and what of it lies in memory that they share. */
#include "build/family.h"

/* A thread may hold so many elements, and alone makes blocks of the usual share, or larger ones of several buffers that
 * a team would not load side by side; else each of a team has some, fewer where codes lie in pieces of fewer. */
enum { MOST_OF_ONE = 64, USUAL_SHARE = 32, LEAST_SHARE = 8, MOST_THREADS = 16, MOST_KEPT = 48 };
enum { MOST_LEFT = 2 };   /* words that each of a team tells the others at a time */
enum { MOST_STORES = 4 }; /* of a thread that stores itself: they still fill the lines that they share */

uint32_t qg_encode_unit(const qg_buffer *buffer) {
    const uint32_t rows = buffer->tile_rows > 1 ? buffer->tile_rows : 1; /* which may lie far from each other */
    const uint32_t all = buffer->bytes / rows | qg_header_bytes(buffer);
    return all % 4 == 0 ? 32 : all % 2 == 0 ? 16 : 8;
}

bool qg_stores_fours(const qg_layout *layout, uint32_t buffer) {
    const qg_buffer *b = &layout->buffers[buffer];
    if (b->bytes % 16 || qg_header_bytes(b) || layout->view == QG_VIEW_GROUPS) return false;
    return layout->encode->rows ? !qg_spread_slice(layout) && b->n_axes == 2
                                : b->tile_rows <= 1 && !qg_staged_words(layout, buffer);
}

/* A function that looks at all that is made together. */
static bool is_block_group(const qg_layout *layout, const qg_term *term) {
    return term->op == QG_CALL && term->count == 0 && term->per == qg_made_elements(layout) &&
           (term->call == QG_CALL_SUM || term->call == QG_CALL_MAX || term->call == QG_CALL_MIN ||
            term->call == QG_CALL_EXTREME);
}

/* Whether threads would have to wait for each other while they take turns: a block is looked at within what looks at
 * it. */
static bool nests(const qg_layout *layout, const qg_term *term, bool within) {
    if (!term) return false;
    const bool looks = is_block_group(layout, term);
    if (looks && within) return true;
    if (term->op == QG_CALL && term->call == QG_CALL_LOCAL) {
        const qg_equation *e = &layout->encode->items[term->ref];
        return within && e->per == 1 && !e->next && nests(layout, e->value, true);
    }
    for (uint32_t i = 0; i < 3; ++i)
        if (nests(layout, term->arg[i], within || looks)) return true;
    return false;
}

/* Elements of a group that is no block, of the largest there are; 0: there is none. */
static uint32_t largest_group(const qg_layout *layout) {
    uint32_t largest = 0;
    for (uint32_t i = 0; i < layout->encode->count; ++i) {
        const uint32_t per = layout->encode->items[i].per;
        if (per > 1 && per < qg_made_elements(layout) && per > largest) largest = per;
    }
    return largest;
}

/* Digits of a base, in words of four bytes that follow each other. */
bool qg_has_digit_words(const qg_code *code) {
    for (uint32_t s = 0; s < code->n_slices; ++s) {
        const qg_slice *slice = &code->slices[s];
        if (!slice->radix || slice->radix != code->slices[0].radix || slice->width != 8) return false;
        if (slice->n_digits != 2 || slice->power != 1 || slice->bit % 32 || slice->first % 4) return false;
        if (slice->digits[0].stride != 8 || slice->digits[0].extent % 4) return false;
        if (slice->buffer != code->slices[0].buffer) return false;
    }
    return code->per == 1;
}

/* Whether each thread's codes are all of one segment. */
static bool is_whole(const qg_layout *layout, uint32_t share) {
    for (uint32_t c = 0; c < layout->n_codes; ++c)
        for (uint32_t s = 0;
             layout->codes[c].per == 1 && !qg_has_digit_words(&layout->codes[c]) && s < layout->codes[c].n_slices; ++s)
            if (layout->codes[c].slices[s].first % share || layout->codes[c].slices[s].count % share) return false;
    return true;
}

static bool can_share(const qg_layout *layout, uint32_t share) {
    const qg_encode *encode = layout->encode;
    const uint32_t all = qg_made_elements(layout), threads = all / share;
    if (share < LEAST_SHARE || share > MOST_OF_ONE || all % share) return false;
    if (threads < 2 || threads > MOST_THREADS || (threads & (threads - 1))) return false;
    for (uint32_t i = 0; i < encode->count; ++i) {
        const qg_equation *e = &encode->items[i];
        if (e->candidates && e->per == all) return false;
        if (e->per > 1 && e->per < all && share % e->per) return false;
        if (nests(layout, e->value, false) || nests(layout, e->next, false)) return false;
    }
    return true;
}

/* Each group of planes is what a block is elsewhere, without smaller groups within it. A thread keeps its floats of a
 * group, and words of all planes. */
static uint32_t share_of_plane(const qg_layout *layout) {
    const uint32_t all = qg_made_elements(layout);
    for (uint32_t share = USUAL_SHARE; share >= LEAST_SHARE && !largest_group(layout); share /= 2)
        if (can_share(layout, share) && qg_can_share_planes(layout, all / share) &&
            share + qg_words_of_planes(layout, all / share) <= MOST_KEPT)
            return share;
    return all;
}

static uint32_t share_of(const qg_layout *layout) {
    if (layout->view == QG_VIEW_GROUPS && layout->encode) return share_of_plane(layout);
    if (!layout->encode) return layout->elements;
    uint32_t share = largest_group(layout);
    const uint32_t two = layout->elements / 2;
    if (!share && layout->elements <= USUAL_SHARE) return layout->elements;
    if (!share && layout->n_buffers > 1 && layout->elements <= MOST_OF_ONE && qg_run_of_team(layout, 2) == two)
        return layout->elements;
    if (!share) share = USUAL_SHARE;
    while (layout->elements / share > MOST_THREADS) share *= 2;
    while (!largest_group(layout) && !is_whole(layout, share) && share > LEAST_SHARE &&
           layout->elements / (share / 2) <= MOST_THREADS)
        share /= 2;
    return can_share(layout, share) ? share : layout->elements;
}

/* Whether a term rounds a quotient within bounds. */
static bool rounds_quotient(const qg_layout *layout, const qg_term *term) {
    if (!term) return false;
    const qg_term *rounded = term->op == QG_CALL && term->call == QG_CALL_CLAMPED ? term->arg[0] : NULL;
    if (rounded && rounded->op == QG_CALL && (rounded->call == QG_CALL_ROUND || rounded->call == QG_CALL_EVEN) &&
        rounded->arg[0]->op == QG_CALL && rounded->arg[0]->call == QG_CALL_DIVIDE)
        return true;
    if (term->op == QG_CALL && term->call == QG_CALL_SMALL && term->arg[0]->op == QG_CALL &&
        term->arg[0]->call == QG_CALL_DIVIDE)
        return true;
    if (term->op == QG_CALL && term->call == QG_CALL_LOCAL && layout->encode->items[term->ref].per == 1)
        return rounds_quotient(layout, layout->encode->items[term->ref].value);
    for (uint32_t i = 0; i < 3; ++i)
        if (rounds_quotient(layout, term->arg[i])) return true;
    return false;
}

/* Whether each element has a code that is a guess first: what is made again lies in memory. */
static bool guesses(const qg_layout *layout, uint32_t buffer) {
    for (uint32_t i = 0; i < layout->encode->count; ++i) {
        const qg_equation *e = &layout->encode->items[i];
        if (e->is_code && e->per == 1 && layout->codes[e->code].slices[0].buffer == buffer &&
            rounds_quotient(layout, e->value))
            return true;
    }
    return false;
}

/* Whether each thread makes all that is made together. */
static bool is_alone(const qg_layout *layout) { return share_of(layout) == qg_made_elements(layout); }

/* An odd number of words: blocks of neighbours begin in different banks. Those that a team makes are all staged, but
 * for what a group of planes has one of, which one thread stores. */
static uint32_t words_to_stage(const qg_layout *layout, uint32_t number) {
    const qg_buffer *buffer = &layout->buffers[number];
    if (layout->view == QG_VIEW_GROUPS && (is_alone(layout) || !qg_slice_of_elements(layout, number))) return 0;
    const bool many = buffer->bytes * 8 / qg_encode_unit(buffer) > MOST_STORES || guesses(layout, number);
    return many || !is_alone(layout) ? (buffer->bytes + 3) / 4 | 1 : 0;
}

/* A search by one thread takes so much longer than its stores that it had rather have more workgroups at once. */
static bool searches(const qg_encode *encode) {
    for (uint32_t i = 0; i < encode->count; ++i)
        if (encode->items[i].candidates) return true;
    return false;
}

uint32_t qg_words_left(const qg_layout *layout) {
    uint32_t count = 0, most = 1;
    for (uint32_t i = 0; i < layout->encode->count; ++i) {
        count = is_block_group(layout, layout->encode->items[i].value) ? count + 1 : 0;
        if (count > most) most = count;
    }
    return most < MOST_LEFT ? most : MOST_LEFT;
}

uint32_t qg_room_left(const qg_layout *layout) {
    return qg_words_left(layout) * (layout->view == QG_VIEW_GROUPS && layout->block_rows > 1 ? 2 : 1);
}

/* Bytes for each thread: of blocks, a number of each of them, and what a team has in hand. */
uint32_t qg_staged_bytes(const qg_layout *layout) {
    uint32_t words = 0;
    if (!layout->encode || layout->encode->rows) return 0; /* a workgroup makes a row */
    const uint32_t threads = qg_made_elements(layout) / share_of(layout);
    if (threads == 1 && searches(layout->encode)) return 0;
    for (uint32_t i = 0; i < layout->n_buffers; ++i) words += words_to_stage(layout, i);
    for (uint32_t c = 0; threads > 1 && c < layout->n_codes; ++c)
        if (qg_has_digit_words(&layout->codes[c])) words += layout->elements / 4 + threads;
    const uint32_t bytes = (4 * (words + 1) + threads - 1) / threads + (threads > 1 ? 4 * qg_room_left(layout) : 0);
    return words && bytes * QG_STAGING_WORKGROUP <= QG_LEAST_SHARED_MEMORY ? bytes : 0;
}

uint32_t qg_kernel_staged_bytes(const qg_kernel *kernel) {
    if (kernel->to) return qg_transcode_streams(kernel) ? qg_staged_bytes(kernel->to) : 0;
    return kernel->family->encodes ? qg_staged_bytes(kernel->layout) : 0;
}

uint32_t qg_staging_workgroup(const qg_kernel *kernel) {
    const bool teams = !kernel->to && qg_encode_team(kernel->layout) > 1;
    return teams && 2 * QG_STAGING_WORKGROUP * qg_kernel_staged_bytes(kernel) <= QG_LEAST_SHARED_MEMORY
               ? 2 * QG_STAGING_WORKGROUP
               : QG_STAGING_WORKGROUP;
}

uint32_t qg_staged_words(const qg_layout *layout, uint32_t buffer) {
    return qg_staged_bytes(layout) ? words_to_stage(layout, buffer) : 0;
}

uint32_t qg_digit_words(const qg_layout *layout, const qg_code *code) {
    const uint32_t team = qg_encode_team(layout);
    return team > 1 && qg_has_digit_words(code) ? layout->elements / 4 + team : 0;
}

bool qg_streams(const qg_layout *layout, uint32_t buffer) {
    return is_alone(layout) && layout->elements <= MOST_OF_ONE && qg_staged_words(layout, buffer) &&
           qg_encode_unit(&layout->buffers[buffer]) < 32;
}

bool qg_joins_units(const qg_layout *layout, uint32_t buffer) {
    return qg_encode_team(layout) > 1 && qg_staged_words(layout, buffer) &&
           qg_encode_unit(&layout->buffers[buffer]) < 32;
}

uint32_t qg_stream_blocks(const qg_layout *layout, uint32_t buffer) {
    return 32 / qg_encode_unit(&layout->buffers[buffer]);
}

uint32_t qg_encode_team(const qg_layout *layout) {
    return qg_staged_bytes(layout) ? qg_made_elements(layout) / share_of(layout) : 1;
}
