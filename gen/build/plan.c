/* Plans. The one idea: a thread takes the elements whose codes share words. The slices of the
 * format's finest codes cut the element index into digits; digits whose stride is smaller than a word
 * belong to one thread (they are the bit planes of the words it has loaded), and so do enough
 * neighbours that every thread starts at the same bit of a word. What is left numbers the threads. */
#include "build/plan.h"

#include <stdlib.h>
#include <string.h>

enum { WORKGROUP = 64, STORING_WORKGROUP = 256, MOST_IN_TEXT = 8, ROWS_AT_ONCE = 4 };

/* What a thread takes. */
typedef struct aim {
    uint32_t fewest, most; /* elements */
    uint32_t value_bits;   /* of a result that is stored; 0: any */
    bool rows;             /* several, where that is of use */
    bool sums;             /* elements may be anywhere in the block */
    bool whole;            /* `fewest` wherever the block's digits come to that */
    bool all_planes; /* bit planes only of digits that are such in all slices, and more neighbours in their place */
    bool midway;     /* whole words, also of blocks that begin in the middle of one */
} aim;

/* Results leave in stores of 16 bytes, which neighbouring threads put side by side; planes may lie between them where
 * each still fills sectors of memory. */
enum { STORE_BITS = 128, SECTOR_BITS = 256 };

/* Elements of a tile that is loaded 16 bytes at a time; larger tiles where it has few bytes, and x
 * takes few registers. */
enum { WIDE_SMALL = 32, WIDE_FEWEST = 64, WIDE_MOST = 128, WIDE_FEWEST_BYTES = 16 };

/* A digit of the element index before it is given to threads or kept. */
typedef struct plan_digit {
    uint32_t extent;
    uint32_t weight; /* elements */
} plan_digit;

static uint32_t finest_per(const qg_layout *layout) {
    uint32_t finest = layout->elements;
    for (uint32_t i = 0; i < layout->n_codes; ++i)
        if (layout->codes[i].per < finest) finest = layout->codes[i].per;
    return finest;
}

/* In a matrix, items are loaded one by one, but where several that are neighbours in memory make
 * whole words in every row. */
static uint32_t load_unit(const qg_layout *layout, const qg_buffer *buffer) {
    if (layout->view != QG_VIEW_BLOCKS) {
        if (buffer->header) return buffer->item_bits;
        if (buffer->entries) return buffer->tile_cols * buffer->item_bits % 32 ? buffer->item_bits : 32;
        const bool neighbours = buffer->n_axes && buffer->axes[buffer->n_axes - 1] == QG_AXIS_COLS && !layout->ragged;
        return neighbours && buffer->tile_cols * buffer->item_bits % 32 == 0 ? 32 : buffer->item_bits;
    }
    return buffer->bytes % 4 == 0 ? 32 : buffer->bytes % 2 == 0 ? 16 : 8;
}

/* Whether every other block begins in the middle of a word. */
static bool begins_midway(const qg_layout *layout, uint32_t buffer) {
    return layout->view == QG_VIEW_BLOCKS && !layout->buffers[buffer].shared && layout->buffers[buffer].bytes % 4 == 2;
}

static int ascending(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static uint32_t common_divisor(uint32_t a, uint32_t b) {
    while (b) {
        const uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* All segments of all codes begin at multiples of this many elements. */
static uint32_t segment_grid(const qg_layout *layout) {
    uint32_t grid = layout->elements;
    for (uint32_t c = 0; c < layout->n_codes; ++c)
        for (uint32_t s = 0; s < layout->codes[c].n_slices; ++s)
            grid = common_divisor(grid, layout->codes[c].slices[s].first * layout->codes[c].per);
    return grid;
}

/* The element indices at which some slice of the finest codes turns to its next digit, counted from its first. */
static uint32_t boundaries(qg_arena *arena, const qg_layout *layout, uint32_t per, uint32_t lanes, uint32_t **list) {
    uint32_t count = 0, capacity = 0, *items = NULL;
    for (uint32_t c = 0; c < layout->n_codes; ++c) {
        const qg_code *code = &layout->codes[c];
        if (code->per != per) continue;
        for (uint32_t s = 0; s < code->n_slices; ++s) {
            uint32_t at = per;
            for (uint32_t d = 0; d + 1 < code->slices[s].n_digits; ++d) {
                const qg_digit *digit = &code->slices[s].digits[d];
                at *= digit->extent;
                const bool seamless = digit[1].stride == digit->stride * (int32_t)digit->extent;
                if (!seamless && at % lanes == 0) QG_PUSH(arena, items, count, capacity, at);
            }
        }
    }
    if (count) qsort(items, count, sizeof *items, ascending);
    *list = items;
    return count;
}

/* Only cuts that are the same in all segments count: those that divide `grid`. The last digit goes
 * over the segments. */
static uint32_t cut_digits(qg_arena *arena, const qg_layout *layout, uint32_t per, uint32_t lanes, uint32_t grid,
                           plan_digit *digits) {
    const uint32_t own = layout->joined ? layout->elements / layout->joined : layout->elements;
    uint32_t *list, count = 0, weight = 1;
    const uint32_t n = boundaries(arena, layout, per, lanes, &list);
    for (uint32_t i = 0; i < n && count < QG_MAX_DIGITS - 4; ++i) {
        if (list[i] == weight || list[i] % weight || grid % list[i]) continue;
        digits[count++] = (plan_digit){list[i] / weight, weight};
        weight = list[i];
    }
    if (grid < layout->elements && (grid > weight || !count)) {
        digits[count++] = (plan_digit){grid / weight, weight};
        weight = grid;
    }
    if (grid < own && own < layout->elements && own > weight && own % weight == 0) {
        digits[count++] = (plan_digit){own / weight, weight};
        weight = own;
    }
    digits[count++] = (plan_digit){layout->elements / weight, weight};
    return count;
}

/* How far, in bits, a slice moves when the element index grows by `step` from its first. */
static uint32_t movement(const qg_code *code, const qg_slice *slice, uint32_t step) {
    if (step % code->per || step / code->per >= slice->count) return 0;
    return qg_slice_address(slice, slice->first + step / code->per) - slice->bit;
}

/* True when runs of `length` elements all start at the same bit of a word, in every slice of the finest codes. */
static bool phase_is_static(const qg_plan *plan, uint32_t per, uint32_t length) {
    for (uint32_t c = 0; c < plan->layout->n_codes; ++c) {
        const qg_code *code = &plan->layout->codes[c];
        if (code->per != per) continue;
        for (uint32_t s = 0; s < code->n_slices; ++s)
            if (movement(code, &code->slices[s], length) % plan->units[code->slices[s].buffer]) return false;
    }
    return true;
}

/* True when a step leads to other bits of the same word, or to another digit of a base in the same bits. */
static bool within_word(const qg_plan *plan, const qg_code *code, const qg_slice *slice, uint32_t step) {
    if (step % code->per || step / code->per >= slice->count) return false;
    const uint32_t j = slice->first + step / code->per, bits = movement(code, slice, step);
    return bits > 0 ? bits < plan->units[slice->buffer] : qg_slice_power(slice, j) > 0;
}

/* In every slice of the finest codes. */
static bool is_plane_of_all(const qg_plan *plan, uint32_t per, plan_digit digit) {
    for (uint32_t c = 0; c < plan->layout->n_codes; ++c) {
        const qg_code *code = &plan->layout->codes[c];
        for (uint32_t s = 0; s < code->n_slices && code->per == per; ++s)
            if (!within_word(plan, code, &code->slices[s], digit.weight)) return false;
    }
    return true;
}

/* In some code, and there in every segment. */
static bool is_plane(const qg_plan *plan, uint32_t per, plan_digit digit) {
    for (uint32_t c = 0; c < plan->layout->n_codes; ++c) {
        const qg_code *code = &plan->layout->codes[c];
        if (code->per != per) continue;
        bool all = true, any = false;
        for (uint32_t s = 0; s < code->n_slices && all; ++s) {
            any |= within_word(plan, code, &code->slices[s], digit.weight);
            if (s + 1 < code->n_slices && code->slices[s].first == code->slices[s + 1].first) continue;
            all = any;
            any = false;
        }
        if (all) return true;
    }
    return false;
}

/* Neighbouring elements of one thread, `least` or more: enough for a static phase, else no more than that. */
static uint32_t neighbours(const qg_plan *plan, uint32_t per, uint32_t extent, uint32_t planes, uint32_t least,
                           uint32_t most) {
    for (uint32_t length = least; length <= extent && length * planes <= most; length *= 2)
        if (extent % length == 0 && phase_is_static(plan, per, length)) return length;
    return least;
}

static void add_runs(qg_plan *plan, uint32_t extent, uint32_t weight) {
    const uint32_t before = plan->n_runs;
    for (uint32_t i = 1; i < extent; ++i)
        for (uint32_t r = 0; r < before; ++r) plan->runs[plan->n_runs++] = plan->runs[r] + i * weight;
}

/* The digit that goes over the segments is one with those below it, when they count on. */
static void join_digits(qg_plan *plan) {
    while (plan->n_digits > 1) {
        qg_digit *below = &plan->digits[plan->n_digits - 2], *last = below + 1;
        if (below->stride * (int32_t)below->extent != last->stride) return;
        below->extent *= last->extent;
        plan->n_digits -= 1;
    }
}

static qg_plan *new_plan(qg_arena *arena, const qg_layout *layout) {
    qg_plan *plan = qg_plan_copy(arena, NULL);
    plan->layout = layout;
    plan->units = QG_NEW_ARRAY(arena, uint32_t, layout->n_buffers);
    plan->midway = QG_NEW_ARRAY(arena, bool, layout->n_buffers);
    plan->stored = QG_NEW_ARRAY(arena, bool, layout->n_tables + 1);
    plan->n_runs = plan->tile_rows = 1;
    plan->workgroup = WORKGROUP;
    return plan;
}

/* A digit goes to the thread that goes over the bits of a word, or over blocks of which each begins
 * elsewhere in one. */
static bool is_kept(const qg_plan *plan, uint32_t per, plan_digit digit, bool all_planes) {
    if (all_planes ? is_plane_of_all(plan, per, digit) : is_plane(plan, per, digit)) return true;
    const bool blocks = plan->layout->joined && digit.weight == plan->layout->elements / plan->layout->joined;
    return blocks && !phase_is_static(plan, per, digit.weight);
}

/* Puts a digit's part, its lower values, before what is left of it. */
static uint32_t split_digit(plan_digit *digits, bool *kept, uint32_t n, uint32_t i, uint32_t part) {
    memmove(&digits[i + 1], &digits[i], (n - i) * sizeof *digits);
    memmove(&kept[i + 1], &kept[i], (n - i) * sizeof *kept);
    digits[i].extent = part;
    digits[i + 1] = (plan_digit){digits[i + 1].extent / part, digits[i + 1].weight * part};
    return n + 1;
}

/* What else of a block a thread takes, where `have` elements are not enough: digits, or a part of one. */
static uint32_t fill_up(plan_digit *digits, bool *kept, uint32_t n, uint32_t have, uint32_t fewest) {
    for (uint32_t i = 1; i < n && have < fewest; ++i) {
        const uint32_t part = fewest / have;
        if (kept[i]) continue;
        if (digits[i].extent > part) {
            if (digits[i].extent % part || n == QG_MAX_DIGITS) continue;
            n = split_digit(digits, kept, n, i, part);
        }
        kept[i] = true;
        have *= digits[i].extent;
    }
    return n;
}

/* The same where codes have segments: the highest digits, as wholes where they fit, for they lead
 * through all segments, so that it is known which of them an element is in; and of digits of a
 * base, the thread has all that are in the same bits. */
static uint32_t fill_up_from_above(plan_digit *digits, bool *kept, uint32_t n, uint32_t own, uint32_t have, aim aim) {
    for (uint32_t i = n; i-- > 1 && have < aim.fewest;) {
        const uint32_t part = aim.fewest / have, extent = digits[i].extent;
        if (kept[i] || digits[i].weight >= own) continue;
        if (have * extent > aim.most) {
            if (extent % part || n == QG_MAX_DIGITS) continue;
            n = split_digit(digits, kept, n, i, part);
        }
        kept[i] = true;
        have *= digits[i].extent;
    }
    return n;
}

/* Neighbours that one store takes, as far as `extent` is made of them; shorter runs leave one by one. */
static uint32_t stored_at_once(const qg_plan *plan, uint32_t extent, uint32_t value_bits) {
    if (plan->lanes < QG_MAX_LANES) return plan->lanes;
    uint32_t length = STORE_BITS / value_bits;
    while (length > plan->lanes && extent % length) length /= 2;
    return length > plan->lanes ? length : plan->lanes;
}

/* The first digit has fewer elements than a store: the store takes some of the second, which counts on. */
static uint32_t store_across(qg_plan *plan, uint32_t length, plan_digit *second, uint32_t store) {
    const uint32_t more = store / length;
    if (more < 2 || second->weight != length || second->extent % more) return length;
    add_runs(plan, more, length);
    second->extent /= more;
    second->weight *= more;
    return length * more;
}

/* True when the finest codes of one column lie in the same word for all rows of a block. */
static bool rows_share_words(const qg_plan *plan, uint32_t per) {
    const qg_layout *layout = plan->layout;
    for (uint32_t c = 0; c < layout->n_codes; ++c) {
        const qg_code *code = &layout->codes[c];
        if (code->per != per || code->of_column) continue;
        for (uint32_t s = 0; s < code->n_slices; ++s) {
            const qg_slice *slice = &code->slices[s];
            if (slice->first || slice->count != code->count) return false;
            for (uint32_t r = 0; r < layout->block_rows; ++r) {
                const uint32_t bit = qg_slice_address(slice, r * layout->block_cols / per);
                if (bit / plan->units[slice->buffer] != slice->bit / plan->units[slice->buffer]) return false;
            }
        }
    }
    return true;
}

bool qg_is_turned(const qg_layout *layout) {
    const uint32_t per = finest_per(layout);
    for (uint32_t c = 0; c < layout->n_codes; ++c) {
        const qg_buffer *buffer = &layout->buffers[layout->codes[c].slices[0].buffer];
        if (layout->codes[c].per == per && buffer->n_axes == 2 && buffer->axes[1] == QG_AXIS_ROWS) return true;
    }
    return false;
}

/* Rows of a tile that has `runs` runs in each: all of a block, where they share words; some, where
 * neighbours in memory are of different rows anyway, so that what they share is computed once. */
static uint32_t rows_of_tile(const qg_plan *plan, uint32_t per, uint32_t runs) {
    const qg_layout *layout = plan->layout;
    const bool cut = layout->view == QG_VIEW_MATRIX || layout->view == QG_VIEW_GROUPS;
    if (!cut || layout->block_cols % per) return 1;
    if (!layout->ragged && layout->block_rows * runs <= QG_MAX_RUNS && rows_share_words(plan, per))
        return layout->block_rows;
    return qg_is_turned(layout) && layout->block_rows % ROWS_AT_ONCE == 0 ? ROWS_AT_ONCE : 1;
}

/* Whether a word of a table in memory has more values than a run. */
static bool looks_up_eights(const qg_plan *plan) {
    for (uint32_t i = 0; i < plan->layout->n_tables; ++i)
        if (plan->stored[i] && 32 / qg_table_bits(&plan->layout->tables[i]) > QG_MAX_LANES) return true;
    return false;
}

static qg_plan *plan_tiles(qg_arena *arena, const qg_layout *layout, aim aim) {
    qg_plan *plan = new_plan(arena, layout);
    for (uint32_t i = 0; i < layout->n_buffers; ++i) {
        plan->units[i] = aim.midway && begins_midway(layout, i) ? 32 : load_unit(layout, &layout->buffers[i]);
    }
    for (uint32_t i = 0; i < layout->n_tables; ++i)
        plan->stored[i] = layout->tables[i].rows * layout->tables[i].columns > MOST_IN_TEXT;
    const uint32_t own = layout->joined ? layout->elements / layout->joined : layout->elements;
    const uint32_t grid = common_divisor(segment_grid(layout), own); /* no tile lies in two segments */
    plan->lanes = grid % 4 == 0 ? 4 : grid % 2 == 0 ? 2 : 1;

    const uint32_t per = finest_per(layout);
    const uint32_t in_row = common_divisor(layout->block_cols, grid); /* a tile lies in one row of its block */
    if (layout->view != QG_VIEW_BLOCKS) plan->lanes = in_row % 4 == 0 ? 4 : in_row % 2 == 0 ? 2 : 1;
    /* Where a run is one element, fewer of them. */
    if (aim.most > QG_MAX_RUNS * plan->lanes) aim.most = QG_MAX_RUNS * plan->lanes;
    if (aim.fewest > aim.most) aim.fewest = aim.most;
    plan_digit digits[QG_MAX_DIGITS] = {{in_row, 1}};
    bool kept[QG_MAX_DIGITS] = {false};
    uint32_t n = layout->view == QG_VIEW_BLOCKS ? cut_digits(arena, layout, per, plan->lanes, grid, digits) : 1;
    const bool eights = aim.whole && looks_up_eights(plan) && digits[0].extent % 8 == 0;
    const uint32_t least = aim.value_bits ? stored_at_once(plan, digits[0].extent, aim.value_bits)
                           : eights       ? 8
                                          : plan->lanes;
    uint32_t planes = 1;
    for (uint32_t i = 1; i < n; ++i) {
        /* Whole eights of a part of a digit rather than halves of them all. */
        const uint32_t blocks = layout->joined && digits[i].weight < own ? layout->joined : 1;
        const uint32_t part = aim.most / (least * planes * blocks);
        if (eights && part > 1 && digits[i].extent > part && digits[i].extent % part == 0 && n < QG_MAX_DIGITS &&
            is_kept(plan, per, digits[i], aim.all_planes))
            n = split_digit(digits, kept, n, i, part);
        if (grid % (digits[i].weight * digits[i].extent) && (!layout->joined || digits[i].weight != own)) continue;
        if (!is_kept(plan, per, digits[i], aim.all_planes) || least * planes * digits[i].extent > aim.most) continue;
        if (aim.value_bits && digits[i].weight * aim.value_bits < SECTOR_BITS) continue;
        kept[i] = true;
        planes *= digits[i].extent;
    }
    uint32_t length = least;
    if (!aim.value_bits) {
        length = neighbours(plan, per, digits[0].extent, planes, least, aim.most);
        while (length * planes < aim.fewest && digits[0].extent % (2 * length) == 0) length *= 2;
    }
    if (aim.sums && grid < own)
        n = fill_up_from_above(digits, kept, n, own, length * planes, aim);
    else if (aim.whole)
        n = fill_up(digits, kept, n, length * planes, aim.fewest);

    add_runs(plan, length / plan->lanes, plan->lanes);
    if (aim.value_bits && plan->lanes == QG_MAX_LANES && length == digits[0].extent && n > 1 && !kept[1])
        length = store_across(plan, length, &digits[1], STORE_BITS / aim.value_bits);
    if (digits[0].extent > length) plan->digits[plan->n_digits++] = (qg_digit){digits[0].extent / length, length};
    for (uint32_t i = 1; i < n; ++i) {
        if (kept[i])
            add_runs(plan, digits[i].extent, digits[i].weight);
        else if (digits[i].extent > 1)
            plan->digits[plan->n_digits++] = (qg_digit){digits[i].extent, digits[i].weight};
    }
    if (grid < layout->elements) join_digits(plan);
    plan->store_lanes = aim.value_bits ? length : layout->ragged ? 1 : plan->lanes;
    plan->tile_elements = plan->n_runs * plan->lanes;
    if (aim.rows) {
        plan->tile_rows = rows_of_tile(plan, per, plan->n_runs);
        add_runs(plan, plan->tile_rows, layout->block_cols);
    }
    plan->tiles = layout->elements / (plan->tile_elements * plan->tile_rows);
    plan->row_tiles = layout->block_cols / plan->tile_elements;
    return plan;
}

const qg_plan *qg_plan_tiles(qg_arena *arena, const qg_layout *layout) {
    return plan_tiles(arena, layout, (aim){.fewest = 8, .most = 32});
}

const qg_plan *qg_plan_stores(qg_arena *arena, const qg_layout *layout, qg_scalar type, bool rows) {
    const aim aim = {.most = 32, .value_bits = qg_scalars[type].bits, .rows = rows};
    qg_plan *plan = plan_tiles(arena, layout, aim);
    plan->workgroup = STORING_WORKGROUP;
    return plan;
}

const qg_plan *qg_plan_rows(qg_arena *arena, const qg_layout *layout) {
    return plan_tiles(arena, layout, (aim){.fewest = 16, .most = 64, .sums = true});
}

/* Where each of the joined blocks begins at a bit of its own, a tile has all of them: the shifts are constants
 * then. Not where codes have segments: of the words of a tile much is made, and a shift of each is little. */
static bool places_are_known(const qg_plan *plan) {
    const qg_layout *layout = plan->layout;
    if (!layout->joined) return true;
    for (uint32_t c = 0; c < layout->n_codes; ++c)
        if (qg_has_segments(&layout->codes[c])) return true;
    const uint32_t own = layout->elements / layout->joined;
    if (phase_is_static(plan, finest_per(layout), own)) return true;
    for (uint32_t i = 0; i < plan->n_digits; ++i)
        if (plan->digits[i].stride >= (int32_t)own ||
            plan->digits[i].stride * (int32_t)plan->digits[i].extent > (int32_t)own)
            return false;
    return true;
}

/* Blocks that are joined: as many as are a tile, and whole words, or `unit` bytes. */
static uint32_t blocks_to_join(const qg_layout *layout, uint32_t fewest, uint32_t unit) {
    uint32_t count = 1;
    if (layout->view != QG_VIEW_BLOCKS) return 1;
    while (layout->elements * count < fewest) count *= 2;
    for (uint32_t i = 0; i < layout->n_buffers; ++i)
        while (!layout->buffers[i].shared && layout->buffers[i].bytes * count % unit) count *= 2;
    return count;
}

/* Blocks of an odd number of halves of a word: words are put together where they are loaded, and codes of 16 bits and
 * fewer are loaded as they lie. */
static void load_midway(qg_plan *plan) {
    for (uint32_t i = 0; i < plan->layout->n_buffers; ++i) {
        plan->midway[i] = begins_midway(plan->layout, i);
        if (plan->midway[i]) plan->units[i] = 16;
        plan->by_words |= plan->midway[i];
    }
}

static qg_plan *plan_wide(qg_arena *arena, const qg_layout *layout, const qg_plan *rows, aim aim) {
    aim.midway &= layout->n_buffers == 1; /* scales by themselves are joined for it */
    const uint32_t count = blocks_to_join(layout, aim.fewest, aim.midway ? 2 : 4);
    const qg_layout *joined = count > 1 ? qg_layout_joined(arena, layout, count) : layout;
    aim.sums = aim.whole = true;
    for (aim.most = aim.fewest; joined && aim.most <= WIDE_MOST; aim.most *= 2) {
        qg_plan *plan = plan_tiles(arena, joined, aim);
        if (plan->lanes != QG_MAX_LANES || !places_are_known(plan)) continue;
        if (plan->tile_elements % rows->tile_elements) continue;
        plan->wide = true;
        plan->own_units = rows->units;
        if (aim.midway) load_midway(plan);
        return plan;
    }
    return NULL;
}

bool qg_is_midway(const qg_plan *plan) {
    for (uint32_t i = 0; i < plan->layout->n_buffers; ++i)
        if (plan->midway[i]) return true;
    return false;
}

const qg_plan *qg_plan_larger(qg_arena *arena, const qg_plan *rows, const qg_plan *wide, bool midway) {
    if (wide->tile_elements != WIDE_FEWEST) return NULL;
    return plan_wide(arena, rows->layout, rows, (aim){.fewest = 2 * WIDE_FEWEST, .midway = midway});
}

const qg_plan *qg_plan_wide(qg_arena *arena, const qg_layout *layout, const qg_plan *rows, bool small_x, bool midway) {
    if (layout->ragged || layout->math != QG_F32) return NULL;
    const qg_plan *plan = plan_wide(arena, layout, rows, (aim){.fewest = WIDE_FEWEST, .midway = midway});
    if (!plan) return NULL;
    const bool few_bytes = plan->tile_elements * qg_bits_per_element(layout) / 8 < WIDE_FEWEST_BYTES;
    const qg_plan *larger = small_x && few_bytes ? qg_plan_larger(arena, rows, plan, midway) : NULL;
    return larger ? larger : plan;
}

const qg_plan *qg_plan_neighbours(qg_arena *arena, const qg_layout *layout, const qg_plan *rows) {
    if (layout->ragged || layout->math != QG_F32) return NULL;
    return plan_wide(arena, layout, rows, (aim){.fewest = WIDE_FEWEST, .all_planes = true});
}

const qg_plan *qg_plan_small(qg_arena *arena, const qg_layout *layout, const qg_plan *rows, bool midway) {
    if (layout->ragged || layout->math != QG_F32) return NULL;
    return plan_wide(arena, layout, rows, (aim){.fewest = WIDE_SMALL, .midway = midway});
}

bool qg_walks_columns(const qg_layout *layout) { return layout->view == QG_VIEW_MATRIX && qg_is_turned(layout); }

static const qg_plan *plan_columns(qg_arena *arena, const qg_layout *layout, const qg_plan *rows, bool wide) {
    const aim aim = {.fewest = rows->tile_elements, .most = WIDE_FEWEST, .sums = true, .rows = true};
    qg_plan *plan = plan_tiles(arena, layout, aim);
    plan->wide = wide;
    if (wide) plan->own_units = rows->units;
    return plan;
}

const qg_plan *qg_plan_columns(qg_arena *arena, const qg_layout *layout, const qg_plan *rows) {
    if (layout->ragged || !qg_walks_columns(layout)) return NULL;
    const qg_plan *plan = plan_columns(arena, layout, rows, true);
    const qg_ir *ir = qg_lower_dot(plan, QG_PRODUCTS_F32);
    if (plan->tile_elements % rows->tile_elements || !ir) return NULL;
    return ir->overruns ? plan_columns(arena, layout, rows, false) : plan;
}

uint32_t qg_x_runs(const qg_plan *plan) { return plan->n_runs / plan->tile_rows; }

const qg_plan *qg_plan_elements(qg_arena *arena, const qg_layout *layout) {
    qg_plan *plan = new_plan(arena, layout);
    for (uint32_t i = 0; i < layout->n_buffers; ++i) plan->units[i] = 8;
    plan->reference = true;
    plan->lanes = plan->store_lanes = plan->tile_elements = 1;
    plan->tiles = layout->elements;
    plan->digits[plan->n_digits++] = (qg_digit){layout->elements, 1};
    return plan;
}

char *qg_dump_plan(qg_arena *arena, const qg_plan *plan) {
    qg_text text = qg_text_new(arena);
    qg_text_printf(&text, "plan %s: %u elements a tile, %u tiles a block\n", plan->layout->name, plan->tile_elements,
                   plan->tiles);
    for (uint32_t i = 0; i < plan->layout->n_buffers; ++i)
        qg_text_printf(&text, "  %s: %u-bit words, %u bytes a block\n", plan->layout->buffers[i].name, plan->units[i],
                       plan->layout->buffers[i].bytes);
    qg_text_printf(&text, "  runs of %u elements at", plan->lanes);
    for (uint32_t i = 0; i < plan->n_runs; ++i) qg_text_printf(&text, " %u", plan->runs[i]);
    qg_text_puts(&text, "\n  tile number, least significant digit first:");
    for (uint32_t i = 0; i < plan->n_digits; ++i)
        qg_text_printf(&text, " %u (x%u elements)", plan->digits[i].extent, plan->digits[i].stride);
    qg_text_puts(&text, plan->n_digits ? "\n" : " none\n");
    return text.data;
}

/* About as many values of x as a thread can keep in registers beside everything else; of small
 * tiles fewer, for the code of each stands in the text once for each row. */
enum { KEPT_VALUES = 64, KEPT_TILES = 16 };

uint32_t qg_kept_tiles(const qg_plan *plan) {
    const uint32_t fit = KEPT_VALUES / plan->tile_elements;
    return fit < 1 ? 1 : fit < KEPT_TILES ? fit : KEPT_TILES;
}

uint32_t qg_mma_tiles(const qg_plan *plan) { return plan->tile_elements < 128 ? 128 / plan->tile_elements : 1; }
