/* Words of a tile: which of them have the bits at an address, how these are loaded, and become one word. */
#include "build/lower.h"

uint32_t qg_unit_of(const lowering *l, uint32_t buffer) {
    return buffer < l->layout->n_buffers ? l->plan->units[buffer] : 32;
}

/* Of a block. */
static uint32_t words_of(const lowering *l, uint32_t buffer) {
    if (buffer < l->layout->n_buffers) return l->layout->buffers[buffer].bytes * 8 / l->plan->units[buffer];
    const qg_table *table = &l->layout->tables[buffer - l->layout->n_buffers];
    return (table->rows * table->columns * qg_table_bits(table) + 31) / 32;
}

static const qg_node *base_of(const lowering *l, uint32_t buffer) {
    return buffer < l->layout->n_buffers ? l->bases[buffer] : NULL;
}

/* Names the scalar fields that lie in a word: `d_dmin`; an array's words are named after the array.
 * NULL for the word of one scalar, which needs no name of its own. */
static const char *word_name(const lowering *l, const qg_slice *slice, qg_index word, uint32_t bits) {
    if (slice->buffer >= l->layout->n_buffers)
        return qg_format(l->ir->arena, "%s_row", qg_load_name(l->layout, slice->buffer));
    const qg_field *field = &l->layout->fields[slice->field];
    const uint32_t field_bytes = qg_scalars[field->type].bits / 8;
    if (field->is_array || word.n_terms) return field->name;
    const uint32_t unit = qg_unit_of(l, slice->buffer);
    const int64_t first = word.constant * unit, end = first + (bits + unit - 1) / unit * unit;
    qg_text name = qg_text_new(l->ir->arena);
    uint32_t count = 0;
    for (uint32_t i = 0; i < l->layout->n_fields; ++i) {
        const qg_field *other = &l->layout->fields[i];
        const int64_t at = 8 * (int64_t)other->offset;
        if (other->buffer != slice->buffer || other->spare || other->is_array || at + 8 <= first || at >= end) continue;
        qg_text_printf(&name, "%s%s", count++ ? "_" : "", other->name);
    }
    return count > 1 ? name.data : slice->width < 8 * field_bytes ? field->name : NULL;
}

/* Where a word of the block lies in the buffer. */
static const qg_node *word_index(lowering *l, uint32_t buffer, qg_index word) {
    if (l->layout->view == QG_VIEW_BLOCKS || buffer >= l->layout->n_buffers)
        return qg_index_node(l->ir, base_of(l, buffer), word);
    return qg_place(l->ir, buffer, qg_unit_of(l, buffer), word, l->by);
}

/* True when 32 bits from word `word` on are neighbours in memory. */
static bool is_contiguous(lowering *l, uint32_t buffer, qg_index word) {
    const uint32_t unit = qg_unit_of(l, buffer), last = words_of(l, buffer) - 1;
    if (qg_index_max(word) + 32 / unit - 1 > last) return false;
    if (l->layout->view == QG_VIEW_BLOCKS || buffer >= l->layout->n_buffers) return true;
    const uint32_t in_item = l->layout->buffers[buffer].item_bits / unit;
    const qg_index part = in_item ? qg_index_mod(l->ir, word, in_item) : qg_index_constant(0);
    return in_item == 32 / unit && part.n_terms == 0 && part.constant == 0;
}

static const qg_node *load_word(lowering *l, uint32_t buffer, qg_index word) {
    const uint32_t unit = qg_unit_of(l, buffer);
    const qg_node *index = word_index(l, buffer, word);
    if (!l->reads || unit != 32 || buffer >= l->layout->n_buffers) return qg_load(l->ir, buffer, unit, index);
    if (!l->reading) return qg_reads_load(l->ir, l->reads, buffer, index);
    qg_reads_note(l->ir, l->reads, buffer, index);
    return qg_load(l->ir, buffer, unit, index);
}

/* The word at `word`, or the block's last one where that lies beyond: its bits are masked off by whoever asked. */
static const qg_node *load_clamped(lowering *l, uint32_t buffer, qg_index word) {
    const uint32_t last = words_of(l, buffer) - 1;
    if (qg_index_max(word) <= last) return load_word(l, buffer, word);
    const qg_node *clamped = binary(l->ir, QG_MIN, qg_index_node(l->ir, NULL, word), qg_uint(l->ir, last));
    return load_word(l, buffer, qg_index_digit(clamped, (uint64_t)last + 1));
}

/* Where a word of 32 bits lies, of those that lie as words from the block's first on: `up`, from the next where the
 * block begins in the middle of its first. */
static const qg_node *aligned_index(lowering *l, uint32_t buffer, qg_index word, bool up) {
    const qg_node *half = up ? binary(l->ir, QG_ADD, l->bases[buffer], qg_uint(l->ir, 1)) : l->bases[buffer];
    const qg_node *first = qg_let(l->ir, binary(l->ir, QG_DIV, half, qg_uint(l->ir, 2)), up ? "next" : "first", NULL);
    return qg_index_node(l->ir, first, word);
}

/* 32 bits from half `half` of a block on that begins at either half of a word. The last word is not loaded from beyond
 * the end, where it is only wanted of blocks that begin at the other: the one before again. NULL: as halves, where it
 * is not known at which they begin, or they are the block's last. */
static const qg_node *load_midway(lowering *l, uint32_t buffer, qg_index half) {
    const qg_index phase = qg_index_mod(l->ir, half, 2), word = qg_index_div(l->ir, half, 2);
    const qg_index after = qg_index_add(l->ir, word, qg_index_constant(1));
    const bool odd = phase.constant == 1, within = 4 * qg_index_max(after) + 4 <= l->layout->buffers[buffer].bytes;
    if (phase.n_terms || (odd && !within)) return NULL;
    const qg_node *index = aligned_index(l, buffer, word, false), *next = aligned_index(l, buffer, after, false);
    if (l->reading) qg_reads_note(l->ir, l->reads, buffer, index);
    if (l->reading && odd) qg_reads_note(l->ir, l->reads, buffer, next);
    const bool wanted = odd || qg_reads_has(l->ir, l->reads, buffer, next);
    const qg_node *low = qg_load(l->ir, buffer, 32, index);
    const qg_node *high = qg_load(l->ir, buffer, 32, wanted ? next : aligned_index(l, buffer, word, true));
    const qg_node *both = binary(l->ir, QG_OR, binary(l->ir, QG_SHR, low, qg_uint(l->ir, 16)),
                                 binary(l->ir, QG_SHL, high, qg_uint(l->ir, 16)));
    const qg_node *bit = binary(l->ir, QG_AND, qg_arg(l->ir, "block", UINT64_C(1) << 32), qg_uint(l->ir, 1));
    const qg_node *midway = qg_let(l->ir, binary(l->ir, QG_NE, bit, qg_uint(l->ir, 0)), "midway",
                                   "midway: the block begins in the middle of a word");
    return qg_apply(l->ir, QG_SELECT, midway, odd ? high : both, odd ? both : low);
}

/* `bits` bits (at most 32) from the start of word `word`, put together from narrower words where
 * the buffer has them. */
static const qg_node *gather_words(lowering *l, uint32_t buffer, qg_index word, uint32_t bits) {
    const uint32_t unit = qg_unit_of(l, buffer);
    const bool wide = bits > 16 && bits > unit && is_contiguous(l, buffer, word);
    const bool midway = buffer < l->layout->n_buffers && l->plan->midway[buffer];
    const qg_node *both = wide && midway ? load_midway(l, buffer, word) : NULL;
    if (both) return both;
    if (wide && !midway) return qg_load_wide(l->ir, buffer, unit, word_index(l, buffer, word));
    const qg_node *sum = NULL;
    for (uint32_t at = 0; at < bits; at += unit) {
        const qg_node *part = load_clamped(l, buffer, qg_index_add(l->ir, word, qg_index_constant(at / unit)));
        part = binary(l->ir, QG_SHL, part, qg_uint(l->ir, at));
        sum = sum ? binary(l->ir, QG_OR, sum, part) : part;
    }
    return sum;
}

/* How much of a shift can be left to whoever takes the bits, so that planes of the same words are shifted alike. */
static int64_t spare_shift(int64_t shift, uint32_t bits) {
    for (uint32_t whole = 16; whole >= 8; whole /= 2)
        if (shift % whole + bits <= 32) return shift % whole;
    return 0;
}

/* The same of a shift that moves: two words are one from a half of the lower on, and what is left moves, once for all
 * planes. */
static qg_index moving_rest(qg_index phase, uint32_t bits) {
    qg_index rest = phase;
    rest.constant = phase.constant % 16;
    return phase.constant >= 16 && qg_index_max(rest) + bits <= 32 ? rest : qg_index_constant(0);
}

const qg_node *qg_window(lowering *l, const qg_slice *slice, const char *words, qg_index address, uint32_t bits,
                         qg_index *phase) {
    const uint32_t unit = qg_unit_of(l, slice->buffer);
    const qg_index word = qg_index_div(l->ir, address, unit);
    *phase = qg_index_mod(l->ir, address, unit);
    const uint32_t reach = (uint32_t)qg_index_max(*phase) + bits;
    if (reach <= 32) {
        const qg_node *bits_node = gather_words(l, slice->buffer, word, reach);
        const char *name = words ? words : word_name(l, slice, word, reach);
        return name ? qg_let(l->ir, bits_node, name, NULL) : bits_node;
    }
    const qg_node *low = gather_words(l, slice->buffer, word, 32), *high = NULL;
    const qg_index next = qg_index_add(l->ir, word, qg_index_constant(32 / unit));
    high = gather_words(l, slice->buffer, next, reach - 32);
    const char *name = words                                  ? words
                       : slice->buffer < l->layout->n_buffers ? l->layout->fields[slice->field].name
                                                              : word_name(l, slice, word, 32);
    low = qg_let(l->ir, low, name, NULL);
    high = qg_let(l->ir, high, name, NULL);
    qg_index rest = l->ir->masked ? moving_rest(*phase, bits) : qg_index_constant(0);
    if (rest.n_terms) *phase = qg_index_constant(phase->constant - rest.constant);
    const qg_node *shift = qg_index_node(l->ir, NULL, *phase), *lifted;
    if (rest.n_terms) {
        lifted = binary(l->ir, QG_SHL, high, qg_uint(l->ir, 32 - (uint32_t)shift->integer));
    } else if (shift->op == QG_CONST) {
        rest.constant = spare_shift(shift->integer, bits);
        shift = qg_uint(l->ir, (uint32_t)(shift->integer - rest.constant));
        lifted = binary(l->ir, QG_SHL, high, qg_uint(l->ir, 32 - (uint32_t)shift->integer));
    } else { /* two steps, because a shift by 32 has no meaning */
        lifted = binary(l->ir, QG_SHL, binary(l->ir, QG_SHL, high, qg_uint(l->ir, 1)),
                        binary(l->ir, QG_SUB, qg_uint(l->ir, 31), shift));
    }
    *phase = rest;
    const char *joined = qg_format(l->ir->arena, "%s_run", name);
    return qg_let(l->ir, binary(l->ir, QG_OR, binary(l->ir, QG_SHR, low, shift), lifted), joined, NULL);
}
