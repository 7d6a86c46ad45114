/* Encoders on Vulkan: which elements each thread of a team has, and in which words of the block their codes lie. */
#include "build/family.h"

enum { LEAST_RUN = 4, WORD_BITS = 32, MOST_SPAN = 64 };

static uint32_t element_of(uint32_t team, uint32_t run, uint32_t thread, uint32_t i) {
    return (i / run * team + thread) * run + i % run;
}

/* ---- words ---- */

/* Whether bits of a thread lie as those of the first one do, in words that are `far` bits away. */
static bool lies_alike(const qg_slice *slice, uint32_t team, uint32_t run, uint32_t thread, uint32_t share) {
    const uint32_t far = qg_slice_address(slice, slice->first + element_of(team, run, thread, 0)) -
                         qg_slice_address(slice, slice->first);
    for (uint32_t i = 0; i < share; ++i) {
        const uint32_t own = qg_slice_address(slice, slice->first + element_of(team, run, 0, i));
        if (qg_slice_address(slice, slice->first + element_of(team, run, thread, i)) != own + far) return false;
        if (far % WORD_BITS && own % WORD_BITS + far % WORD_BITS + slice->width > WORD_BITS) return false;
    }
    return true;
}

static uint64_t words_of(const qg_slice *slice, uint32_t team, uint32_t run, uint32_t share, uint32_t first) {
    uint64_t used = 0;
    for (uint32_t i = 0; i < share; ++i) {
        const uint32_t at = qg_slice_address(slice, slice->first + element_of(team, run, 0, i));
        for (uint32_t w = at / WORD_BITS; w <= (at + slice->width - 1) / WORD_BITS; ++w)
            if (w - first < MOST_SPAN) used |= UINT64_C(1) << (w - first);
    }
    return used;
}

static qg_parts parts_of(const qg_slice *slice, uint32_t team, uint32_t run, uint32_t share) {
    const qg_parts none = {.fits = false};
    qg_parts all = {.first = UINT32_MAX, .fits = true};
    uint32_t end = 0;
    if (slice->first % share || slice->count % share || (run < share && slice->count < team * share)) return none;
    for (uint32_t i = 0; i < share; ++i) {
        const uint32_t at = qg_slice_address(slice, slice->first + element_of(team, run, 0, i)),
                       last = (at + slice->width - 1) / WORD_BITS + 1;
        if (at / WORD_BITS < all.first) all.first = at / WORD_BITS;
        if (last > end) end = last;
    }
    all.span = end - all.first;
    if (all.span > MOST_SPAN) return none;
    all.used = words_of(slice, team, run, share, all.first);
    for (uint64_t used = all.used; used; used &= used - 1) all.count += 1;
    for (uint32_t t = 1; t < slice->count / share; ++t) {
        const uint32_t to = element_of(team, run, t, 0);
        if (qg_slice_address(slice, slice->first + to) < qg_slice_address(slice, slice->first)) return none;
        if (!lies_alike(slice, team, run, t, share)) return none;
    }
    return all.count * 2 <= share ? all : none;
}

/* ---- who stores a word ---- */

/* Whether an instance of a slice has bits in a word. */
static bool has_bits(const qg_slice *slice, uint32_t instance, uint32_t word) {
    const uint32_t at = qg_slice_address(slice, slice->first + instance);
    return at / WORD_BITS <= word && (at + slice->width - 1) / WORD_BITS >= word;
}

static bool others_have(const qg_layout *layout, const qg_slice *slice, uint32_t word) {
    for (uint32_t c = 0; c < layout->n_codes; ++c)
        for (uint32_t s = 0; s < layout->codes[c].n_slices; ++s) {
            const qg_slice *other = &layout->codes[c].slices[s];
            for (uint32_t j = 0; other != slice && other->buffer == slice->buffer && j < other->count; ++j)
                if (has_bits(other, j, word)) return true;
        }
    return false;
}

static uint32_t thread_of(uint32_t team, uint32_t run, uint32_t share, uint32_t element) {
    return run < share ? element / run % team : element / share;
}

static bool stores_alone(const qg_layout *layout, const qg_slice *slice, uint32_t per, uint32_t run) {
    const uint32_t team = qg_encode_team(layout), share = layout->elements / team;
    if (team == 1 || (per == 1 && !parts_of(slice, team, run, share).fits)) return false;
    for (uint32_t j = 0; j < slice->count; ++j) {
        const uint32_t at = qg_slice_address(slice, slice->first + j), end = (at + slice->width - 1) / WORD_BITS + 1;
        for (uint32_t w = at / WORD_BITS; w < end; ++w) {
            if (others_have(layout, slice, w)) return false;
            for (uint32_t k = 0; k < slice->count; ++k) {
                const bool same = per == 1 && thread_of(team, run, share, slice->first + k) ==
                                                  thread_of(team, run, share, slice->first + j);
                if (k != j && !same && has_bits(slice, k, w)) return false;
            }
        }
    }
    return true;
}

/* ---- elements ---- */

/* Whether a function needs elements in their order. */
static bool looks_in_order(const qg_term *term) {
    if (!term) return false;
    if (term->op == QG_CALL && term->count == 0 && (term->call == QG_CALL_SUM || term->call == QG_CALL_EXTREME))
        return true;
    return looks_in_order(term->arg[0]) || looks_in_order(term->arg[1]) || looks_in_order(term->arg[2]);
}

/* Whether it is all the same which elements of the block a thread has. */
static bool is_free(const qg_layout *layout) {
    for (uint32_t i = 0; i < layout->encode->count; ++i) {
        const qg_equation *e = &layout->encode->items[i];
        if ((e->per > 1 && e->per < layout->elements) || e->candidates || e->next || looks_in_order(e->value))
            return false;
    }
    return true;
}

/* Whether codes of each thread lie in words as those of the others do; `alone`: in words that nobody else has. */
static bool lie_alike(const qg_layout *layout, uint32_t run, bool alone) {
    const uint32_t team = qg_encode_team(layout), share = layout->elements / team;
    for (uint32_t c = 0; c < layout->n_codes; ++c) {
        const qg_code *code = &layout->codes[c];
        if (code->per > 1 || qg_digit_words(layout, code)) continue;
        for (uint32_t s = 0; s < code->n_slices; ++s) {
            const qg_parts own = parts_of(&code->slices[s], team, run, share);
            if (!own.fits || code->slices[s].radix) return false;
            if (alone && !stores_alone(layout, &code->slices[s], 1, run)) return false;
        }
    }
    return true;
}

/* The shortest runs by which nobody has to add bits to words of others; without such, the shortest. Loads of neighbours
 * then lie side by side: GPUs take a line of the cache at a time. */
uint32_t qg_encode_run(const qg_layout *layout) {
    const uint32_t team = qg_encode_team(layout), share = layout->elements / team;
    if (team == 1 || !is_free(layout)) return share;
    for (int alone = 1; alone >= 0; --alone)
        for (uint32_t run = LEAST_RUN; run < share + (uint32_t)alone; run *= 2)
            if (share % run == 0 && lie_alike(layout, run, alone)) return run;
    return share;
}

qg_parts qg_encode_parts(const qg_layout *layout, const qg_slice *slice) {
    const uint32_t team = qg_encode_team(layout);
    if (team == 1) return (qg_parts){.fits = false};
    return parts_of(slice, team, qg_encode_run(layout), layout->elements / team);
}

bool qg_stores_alone(const qg_layout *layout, const qg_slice *slice, uint32_t per) {
    return stores_alone(layout, slice, per, qg_encode_run(layout));
}

/* Whether a word gets bits of what others of the team do not store. */
static bool is_stored(const qg_layout *layout, uint32_t buffer, uint32_t word) {
    for (uint32_t c = 0; c < layout->n_codes; ++c)
        for (uint32_t s = 0; s < layout->codes[c].n_slices; ++s) {
            const qg_slice *slice = &layout->codes[c].slices[s];
            for (uint32_t j = 0; slice->buffer == buffer && j < slice->count; ++j)
                if (has_bits(slice, j, word))
                    return qg_digit_words(layout, &layout->codes[c]) ||
                           qg_stores_alone(layout, slice, layout->codes[c].per);
        }
    return false;
}

bool qg_stores_whole(const qg_layout *layout, uint32_t buffer) {
    if (qg_encode_team(layout) == 1) return false;
    for (uint32_t w = 0; w < (layout->buffers[buffer].bytes + 3) / 4; ++w)
        if (!is_stored(layout, buffer, w)) return false;
    return true;
}
