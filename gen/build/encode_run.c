/* Encoders on Vulkan: which elements each thread of a team has, and in which words of the block their codes lie. */
#include "build/family.h"

enum { LEAST_RUN = 4, WORD = 32, MOST_SPAN = 64 * QG_PARTS_USED, MOST_OWNERS = 256 };

/* How elements are dealt: to each of `team` threads `run` that follow each other, and again, until it has `share`.
 * And again for each of several planes: `low`, codes are counted from the first bit of a word that they have in some
 * plane. A word has at least so many codes of a plane. */
typedef struct deal {
    uint32_t team, run, share, least;
    bool low;
} deal;

static deal deal_to(const qg_layout *layout, uint32_t team) {
    const bool groups = layout->view == QG_VIEW_GROUPS;
    return (deal){.team = team,
                  .share = qg_made_elements(layout) / team,
                  .least = groups ? 1 : 2,
                  .low = groups && layout->block_rows > 1};
}

static uint32_t element_of(deal d, uint32_t thread, uint32_t i) {
    return (i / d.run * d.team + thread) * d.run + i % d.run;
}

static uint32_t thread_of(deal d, uint32_t element) {
    return d.run < d.share ? element / d.run % d.team : element / d.share;
}

static uint32_t address_of(const qg_slice *slice, deal d, uint32_t thread, uint32_t i) {
    return qg_slice_address(slice, slice->first + element_of(d, thread, i)) - (d.low ? slice->bit % WORD : 0);
}

/* Instances that the threads of one team have. */
static uint32_t count_of(const qg_slice *slice, deal d) {
    return slice->count < d.team * d.share ? slice->count : d.team * d.share;
}

/* ---- words ---- */

/* Whether bits of a thread lie as those of the first one do, in words that are further. */
static bool lies_alike(const qg_slice *slice, deal d, uint32_t thread) {
    const uint32_t from = address_of(slice, d, 0, 0), to = address_of(slice, d, thread, 0), far = to - from;
    for (uint32_t i = 0; i < d.share; ++i) {
        const uint32_t own = address_of(slice, d, 0, i);
        if (to < from || address_of(slice, d, thread, i) != own + far) return false;
        if (far % WORD && own % WORD + far % WORD + slice->width > WORD) return false;
    }
    return true;
}

bool qg_is_used(const qg_parts *parts, uint32_t word) { return parts->used[word / 64] >> word % 64 & 1; }

static void set_used(qg_parts *parts, uint32_t word) { parts->used[word / 64] |= UINT64_C(1) << word % 64; }

uint32_t qg_part_words(const qg_parts *parts) { return parts->dense ? parts->count : parts->span; }

uint32_t qg_part_word(const qg_parts *parts, uint32_t word) {
    uint32_t before = 0;
    for (uint32_t w = 0; w < word; ++w) before += qg_is_used(parts, w);
    return parts->dense ? before : word;
}

/* Arrays with gaps are long, and a GPU's compiler may leave long ones in memory. */
static bool is_dense(const qg_slice *slice, deal d, const qg_parts *parts) {
    qg_parts all = *parts;
    all.dense = true;
    for (uint32_t i = 0; i < d.share; ++i) {
        const uint32_t at = address_of(slice, d, 0, i) - WORD * parts->first,
                       own =
                           address_of(slice, (deal){.team = 1, .run = d.share, .share = d.share, .low = d.low}, 0, i) -
                           WORD * parts->first;
        if (own % WORD != at % WORD || own / WORD != qg_part_word(&all, at / WORD)) return false;
        if (at % WORD + slice->width > WORD) return false;
    }
    return true;
}

static qg_parts parts_of(const qg_slice *slice, deal d) {
    const qg_parts none = {.fits = false};
    qg_parts all = {.first = UINT32_MAX, .fits = true};
    if (slice->first % d.share || count_of(slice, d) % d.share) return none;
    if (d.run < d.share && slice->count < d.team * d.share) return none;
    for (uint32_t i = 0; i < d.share; ++i)
        if (address_of(slice, d, 0, i) / WORD < all.first) all.first = address_of(slice, d, 0, i) / WORD;
    for (uint32_t i = 0; i < d.share; ++i) {
        const uint32_t at = address_of(slice, d, 0, i) - WORD * all.first, last = (at + slice->width - 1) / WORD;
        if (last >= MOST_SPAN) return none;
        set_used(&all, at / WORD);
        set_used(&all, last);
        if (last >= all.span) all.span = last + 1;
    }
    for (uint32_t w = 0; w < all.span; ++w) all.count += qg_is_used(&all, w);
    for (uint32_t t = 1; t < count_of(slice, d) / d.share; ++t)
        if (!lies_alike(slice, d, t)) return none;
    all.dense = d.least == 1 && d.run < d.share && is_dense(slice, d, &all);
    return all.count * d.least <= d.share ? all : none;
}

/* So many words of a buffer, from one on, and who has bits in each. */
typedef struct window {
    uint32_t from, owners[MOST_OWNERS]; /* 0: nobody */
} window;

/* Gives `owner` the words in which an instance has bits; false where somebody else has one. */
static bool take_words(window *w, const qg_slice *slice, uint32_t instance, uint32_t owner) {
    const uint32_t at = qg_slice_address(slice, slice->first + instance);
    for (uint32_t word = at / WORD; word <= (at + slice->width - 1) / WORD; ++word) {
        if (word < w->from || word - w->from >= MOST_OWNERS) continue;
        uint32_t *before = &w->owners[word - w->from];
        if (*before && *before != owner) return false;
        *before = owner;
    }
    return true;
}

/* Whether an instance has bits in a word that is taken. */
static bool meets_owner(const window *w, const qg_slice *slice, uint32_t instance) {
    const uint32_t at = qg_slice_address(slice, slice->first + instance);
    for (uint32_t word = at / WORD; word <= (at + slice->width - 1) / WORD; ++word)
        if (word >= w->from && word - w->from < MOST_OWNERS && w->owners[word - w->from]) return true;
    return false;
}

/* Whether no other slice has bits in those of these words that the slice has bits in; nor another thread, or, where it
 * is not of each element, another instance. */
static bool are_alone(const qg_layout *layout, const qg_slice *slice, uint32_t per, deal d, window *w) {
    for (uint32_t j = 0; j < slice->count; ++j)
        if (!take_words(w, slice, j, 1 + (per == 1 ? thread_of(d, (slice->first + j) % (d.team * d.share)) : j)))
            return false;
    for (uint32_t c = 0; c < layout->n_codes; ++c)
        for (uint32_t s = 0; s < layout->codes[c].n_slices; ++s) {
            const qg_slice *other = &layout->codes[c].slices[s];
            for (uint32_t j = 0; other != slice && other->buffer == slice->buffer && j < other->count; ++j)
                if (meets_owner(w, other, j)) return false;
        }
    return true;
}

static bool stores_alone(const qg_layout *layout, const qg_slice *slice, uint32_t per, deal d) {
    if (d.team == 1 || (per == 1 && !parts_of(slice, d).fits)) return false;
    for (uint32_t from = 0; from < (layout->buffers[slice->buffer].bytes + 3) / 4; from += MOST_OWNERS) {
        window w = {.from = from};
        if (!are_alone(layout, slice, per, d, &w)) return false;
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
        if ((e->per > 1 && e->per < qg_made_elements(layout)) || e->candidates || e->next || looks_in_order(e->value))
            return false;
    }
    return true;
}

/* Whether codes of each thread lie in words as those of the others do; `alone`: in words that nobody else has. */
static bool lie_alike(const qg_layout *layout, deal d, bool alone) {
    for (uint32_t c = 0; c < layout->n_codes; ++c) {
        const qg_code *code = &layout->codes[c];
        for (uint32_t s = 0; code->per == 1 && !qg_has_digit_words(code) && s < code->n_slices; ++s) {
            const qg_slice *slice = &code->slices[s];
            if (slice->radix || !parts_of(slice, d).fits) return false;
            if (alone && !stores_alone(layout, slice, 1, d)) return false;
        }
    }
    return true;
}

/* The shortest runs by which nobody has to add bits to words of others; without such, the shortest. Neighbours then
 * load side by side: a GPU takes longer where each of them loads from a line of the cache of its own. */
uint32_t qg_run_of_team(const qg_layout *layout, uint32_t team) {
    deal d = deal_to(layout, team);
    if (team == 1 || !is_free(layout)) return d.share;
    for (int alone = 1; alone >= 0; --alone)
        for (d.run = LEAST_RUN; d.run < d.share + (uint32_t)alone; d.run *= 2)
            if (d.share % d.run == 0 && lie_alike(layout, d, alone)) return d.run;
    return d.share;
}

static deal deal_of(const qg_layout *layout) {
    deal d = deal_to(layout, qg_encode_team(layout));
    d.run = qg_encode_run(layout);
    return d;
}

bool qg_deals_alone(const qg_layout *layout, uint32_t team) {
    deal d = deal_to(layout, team);
    d.run = qg_run_of_team(layout, team);
    return lie_alike(layout, d, true);
}

uint32_t qg_words_of_planes(const qg_layout *layout, uint32_t team) {
    deal d = deal_to(layout, team);
    uint32_t count = 0;
    d.run = qg_run_of_team(layout, team);
    for (uint32_t b = 0; b < layout->n_buffers; ++b) {
        const qg_slice *slice = qg_slice_of_elements(layout, b);
        if (slice) count += parts_of(slice, d).count;
    }
    return count;
}

uint32_t qg_encode_run(const qg_layout *layout) { return qg_run_of_team(layout, qg_encode_team(layout)); }

qg_parts qg_encode_parts(const qg_layout *layout, const qg_slice *slice) {
    const deal d = deal_of(layout);
    return d.team > 1 ? parts_of(slice, d) : (qg_parts){.fits = false};
}

bool qg_stores_alone(const qg_layout *layout, const qg_slice *slice, uint32_t per) {
    return stores_alone(layout, slice, per, deal_of(layout));
}

static bool has_bits(const qg_slice *slice, uint32_t instance, uint32_t word) {
    const uint32_t at = qg_slice_address(slice, slice->first + instance);
    return at / WORD <= word && (at + slice->width - 1) / WORD >= word;
}

/* Whether a word is stored by one thread, or made of digits. */
static bool is_stored(const qg_layout *layout, uint32_t buffer, deal d, uint32_t word) {
    for (uint32_t c = 0; c < layout->n_codes; ++c)
        for (uint32_t s = 0; s < layout->codes[c].n_slices; ++s) {
            const qg_slice *slice = &layout->codes[c].slices[s];
            for (uint32_t j = 0; slice->buffer == buffer && j < slice->count; ++j)
                if (has_bits(slice, j, word))
                    return qg_digit_words(layout, &layout->codes[c]) ||
                           stores_alone(layout, slice, layout->codes[c].per, d);
        }
    return false;
}

bool qg_stores_whole(const qg_layout *layout, uint32_t buffer) {
    const deal d = deal_of(layout);
    if (d.team == 1) return false;
    for (uint32_t w = 0; w < (layout->buffers[buffer].bytes + 3) / 4; ++w)
        if (!is_stored(layout, buffer, d, w)) return false;
    return true;
}
