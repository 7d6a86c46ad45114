/* Encoders: how codes become bits of a block. */
#include "text/encode_print.h"

#include <stdlib.h>
#include <string.h>

typedef qg_encoder_printer printer;
typedef qg_encoder_loop loop;

/* ---- storing ---- */

const char *qg_encoder_address(const printer *p, const qg_slice *slice, const char *j) {
    qg_text text = qg_text_new(p->arena);
    uint32_t below = 1;
    qg_text_printf(&text, "%u", slice->bit);
    for (uint32_t i = 0; i < slice->n_digits; ++i) {
        const qg_digit *digit = &slice->digits[i];
        const bool power = slice->radix && i == slice->power;
        const bool last = below * digit->extent == slice->count;
        const char *digits = below == 1 ? j : qg_format(p->arena, "%s / %u", j, below);
        if (!power && digit->extent > 1)
            qg_text_printf(&text, last ? " %s %s * %d" : " %s (%s) %% %u * %d", digit->stride < 0 ? "-" : "+", digits,
                           last ? (uint32_t)abs(digit->stride) : digit->extent, abs(digit->stride));
        below *= digit->extent;
    }
    return text.data;
}

static bool crosses(const qg_slice *slice) {
    for (uint32_t j = 0; j < slice->count; ++j)
        if (qg_slice_address(slice, slice->first + j) % 32 + slice->width > 32) return true;
    return false;
}

/* What digit `power` of base `radix` weighs, of `count` digits. */
static const char *weight(const printer *p, const qg_slice *slice, const char *j) {
    uint32_t below = 1, count = slice->digits[slice->power].extent, value = 1;
    for (uint32_t i = 0; i < slice->power; ++i) below *= slice->digits[i].extent;
    const char *digit =
        qg_format(p->arena, below == 1 ? "%s %% %u" : "%s / %u %% %u", j, below == 1 ? count : below, count);
    const char *text = "1u";
    for (uint32_t i = count - 1; i-- > 0;) {
        value *= slice->radix;
        text = qg_format(p->arena, "%s == %u ? %uu : %s", digit, i, value, text);
    }
    return text;
}

/* A word of a buffer's part of the block. Where loops are not written out, its index is not known, and an array of the
 * thread's own would lie in memory: then it is the one that the workgroup shares. */
static const char *word(const printer *p, uint32_t buffer, const char *index) {
    const char *name = p->layout->buffers[buffer].name;
    if (p->mends && !qg_encoder_in_place(p, buffer))
        return qg_format(p->arena, "qk_staged_%s[int(gl_LocalInvocationIndex) * %u + (%s)]", name,
                         qg_staged_words(p->layout, buffer), index);
    return qg_encoder_in_place(p, buffer) ? qg_format(p->arena, "qk_staged_%s[qk_own_%s + (%s)]", name, name, index)
                                          : qg_format(p->arena, "qk_words_%s[%s]", name, index);
}

bool qg_encoder_in_place(const printer *p, uint32_t buffer) {
    return p->d->id == QG_GLSL && !p->kept && (p->team > 1 || p->layout->elements > QG_UNROLLED) &&
           qg_staged_words(p->layout, buffer);
}

/* Bits join those of others, where there is 0; a sum is what most GPUs do together with the shift. */
static const char *joins(const printer *p, const qg_slice *slice) {
    return slice->radix || p->d->id == QG_GLSL ? "+" : "|";
}

/* Adds bits to a word of the block, or digits, where others may do so at once. */
static void add_bits(printer *p, const qg_slice *slice, uint32_t per, const char *index, const char *bits) {
    const char *at = word(p, slice->buffer, index);
    if (p->team == 1 || !qg_encoder_in_place(p, slice->buffer))
        qg_encoder_line(p, qg_format(p->arena, "%s %s= %s;", at, joins(p, slice), bits));
    else if (!p->mends && qg_stores_alone(p->layout, slice, per))
        qg_encoder_line(p, qg_format(p->arena, "%s = %s;", at, bits));
    else
        qg_encoder_line(p, qg_format(p->arena, "%s(%s, %s);", slice->radix ? "atomicAdd" : "atomicOr", at, bits));
}

bool qg_encoder_gathers(const printer *p, const qg_code *code) {
    return p->team > 1 && qg_digit_words(p->layout, code) > 0;
}

/* While words are added up: whether a code's guesses stay more than they are, and whether it has a sign, which borrows
 * of the code above; and what is added up, without what would cut that off. */
static bool is_raised(const printer *p, uint32_t number);
static bool is_signed(const printer *p, uint32_t number);
static const qg_term *stored_term(const printer *p, uint32_t number);

/* Takes a code's bits out of a word again. */
static void drop_bits(printer *p, const qg_slice *slice, const char *index, const char *bits) {
    const char *at = word(p, slice->buffer, index);
    qg_encoder_line(p, qg_format(p->arena, p->team == 1 ? "%s &= ~(%s);" : "atomicAnd(%s, ~(%s));", at, bits));
}

/* The same, and puts others there, in the one of a thread's words that it is, since those have no index that is known
 * late. */
static void change_bits(printer *p, const qg_slice *slice, uint32_t mask, const char *part) {
    const qg_buffer *buffer = &p->layout->buffers[slice->buffer];
    const char *w = qg_format(p->arena, "qk_words_%s[qk_j]", buffer->name);
    qg_encoder_begin(
        p, qg_format(p->arena, "[[unroll]] for (int qk_j = 0; qk_j < %u; ++qk_j) {", (buffer->bytes + 3) / 4));
    qg_encoder_line(p, qg_format(p->arena,
                                 "if (qk_j == qk_at >> 5) %s = %s & ~(0x%Xu << (qk_at & 31)) | %s << (qk_at & 31);", w,
                                 w, mask, part));
    qg_encoder_finish(p);
    qg_encoder_finish(p);
}

static bool has_parts(const printer *p, const qg_slice *slice);
static void clear_parts(printer *p, const qg_code *code, const qg_slice *slice);
static void store_part(printer *p, const qg_code *code, const qg_slice *slice, const char *part, const char *j);

/* Of a slice that splits: the group's number of the code says in which word it is, and the plane where there. */
static void store_in_plane(printer *p, const qg_slice *slice, const char *part, const char *j, uint32_t count) {
    qg_slice low, high;
    qg_encoder_split(slice, count, &low, &high);
    qg_encoder_begin(p, "{");
    qg_encoder_line(p, qg_format(p->arena, "const %s qk_at = %s;", p->d->integer, qg_encoder_address(p, &low, j)));
    add_bits(p, slice, 1, "qk_at >> 5",
             qg_format(p->arena, "%s << ((qk_at & 31) + %s)", part, qg_encoder_address(p, &high, "qk_plane")));
    qg_encoder_finish(p);
}

/* `fits`: a code has no bits beyond its width. */
static void store_slice(printer *p, const qg_code *code, const qg_slice *slice, const char *bits, bool fits,
                        const char *j) {
    const uint32_t mask = slice->bits >= 32 ? UINT32_MAX : (UINT32_C(1) << slice->bits) - 1;
    const bool last = slice->shift + slice->bits >= code->width && !slice->radix;
    const char *part =
        slice->shift ? qg_format(p->arena, last && fits ? "(%s >> %u)" : "%s >> %u", bits, slice->shift) : bits;
    if (slice->bits < 32 && !(last && fits)) part = qg_format(p->arena, "(%s & 0x%Xu)", part, mask);
    if (code->per == 1 && !p->mends && has_parts(p, slice)) {
        store_part(p, code, slice, part, j);
        return;
    }
    if (qg_encoder_splits(p, slice, code->count)) {
        store_in_plane(p, slice, part, j, code->count);
        return;
    }
    const bool shared = p->planes && !qg_encoder_is_of_group(p, slice->buffer);
    const bool cut = slice->count < code->count * (shared ? p->planes->block_rows : 1);
    if (shared) j = qg_encoder_in_planes(p, j, code->count);
    qg_encoder_begin(
        p,
        cut ? qg_format(p->arena, "if (%s >= %u && %s < %u) {", j, slice->first, j, slice->first + slice->count) : "{");
    const char *own = slice->first ? qg_format(p->arena, "(%s - %u)", j, slice->first) : j;
    if (slice->radix) part = qg_format(p->arena, "%s * (%s)", part, weight(p, slice, own));
    qg_encoder_line(p, qg_format(p->arena, "const %s qk_at = %s;", p->d->integer, qg_encoder_address(p, slice, own)));
    if (p->mends && p->encode->rows) {
        change_bits(p, slice, mask, part);
        return;
    }
    if (p->mends) drop_bits(p, slice, "qk_at >> 5", qg_format(p->arena, "0x%Xu << (qk_at & 31)", mask));
    add_bits(p, slice, code->per, "qk_at >> 5", qg_format(p->arena, "%s << (qk_at & 31)", part));
    if (crosses(slice)) {
        qg_encoder_begin(p, qg_format(p->arena, "if ((qk_at & 31) > %u) {", 32 - slice->width));
        if (p->mends)
            drop_bits(p, slice, "(qk_at >> 5) + 1", qg_format(p->arena, "0x%Xu >> (32 - (qk_at & 31))", mask));
        add_bits(p, slice, code->per, "(qk_at >> 5) + 1", qg_format(p->arena, "%s >> (32 - (qk_at & 31))", part));
        qg_encoder_finish(p);
    }
    qg_encoder_finish(p);
}

/* Groups that a thread has several of, or states, are arrays, which would have to lie in memory to be looked up. */
static bool has_arrays(const printer *p) {
    for (uint32_t i = 0; i < p->encode->count; ++i) {
        const qg_equation *e = &qg_encoder_items(p)[i];
        if (e->next || (e->per > 1 && e->per < p->share)) return true;
    }
    return false;
}

bool qg_encoder_guesses(const printer *p, uint32_t number) {
    const qg_equation *e = &qg_encoder_items(p)[number];
    if (p->d->id != QG_GLSL || p->kept || p->planes || !e->is_code || e->per != 1 || qg_encoder_is_float(e->value))
        return false;
    if (p->share > QG_UNROLLED || !qg_encoder_can_guess(p, e->value)) return false;
    if (has_arrays(p) || qg_encoder_is_used(p, number)) return false;
    const qg_code *code = &p->layout->codes[e->code];
    for (uint32_t s = 0; s < code->n_slices; ++s) {
        const qg_slice *slice = &code->slices[s];
        const bool can_mend =
            p->encode->rows ? !crosses(slice)
                            : qg_staged_words(p->layout, slice->buffer) > 0 && !qg_streams(p->layout, slice->buffer);
        if (slice->radix || !can_mend) return false;
    }
    return true;
}

void qg_encoder_mend(printer *p, uint32_t number) {
    const char *name = qg_encoder_items(p)[number].name;
    const uint32_t words = (p->share + 31) / 32;
    const char *open = qg_format(p->arena, "qk_open_%s[0]", name);
    for (uint32_t w = 1; w < words; ++w)
        open = qg_format(p->arena, "qk_w == %u ? qk_open_%s[%u] : %s", w, name, w, open);
    qg_encoder_begin(p, qg_format(p->arena, "for (int qk_w = 0; qk_w < %u; ++qk_w) {", words));
    qg_encoder_begin(p, qg_format(p->arena, "for (uint qk_open = %s; qk_open != 0u; qk_open &= qk_open - 1u) {", open));
    qg_encoder_line(p, "const int qk_i = 32 * qk_w + findLSB(qk_open);");
    const qg_encoder_loop before = qg_encoder_enter(p, "qk_i", 1);
    const bool held = p->held, whole = p->whole;
    p->held = p->whole = false;
    p->mends = true;
    qg_encoder_store_code(p, number);
    p->mends = false;
    p->held = held;
    p->whole = whole;
    qg_encoder_leave(p, &before);
    qg_encoder_finish(p);
}

static void write_code(printer *p, uint32_t number) {
    const char *value = qg_encoder_text(p, stored_term(p, number));
    qg_encoder_line(p, qg_format(p->arena, "int %s = %s;", qg_encoder_items(p)[number].name, value));
    p->written[number] = true;
}

/* The code, and a note where it is not certain. */
static void guess_code(printer *p, uint32_t number) {
    const qg_equation *e = &qg_encoder_items(p)[number];
    const bool alike = qg_encoder_guesses_alike(p, number);
    p->clear = qg_format(p->arena, "qk_clear_%s", e->name);
    p->raised = is_raised(p, number);
    if (!alike) qg_encoder_line(p, qg_format(p->arena, "bool %s = true;", p->clear));
    const char *value = qg_encoder_text(p, stored_term(p, number)), *clear = p->clear;
    p->clear = NULL;
    p->raised = false;
    qg_encoder_line(p, qg_format(p->arena, "int %s = %s;", e->name, value));
    p->written[number] = true;
    if (alike) return;
    qg_encoder_line(
        p, qg_format(p->arena, "if (!%s) qk_open_%s[%s / 32] |= 1u << (%s & 31);", clear, e->name, p->at, p->at));
}

bool qg_encoder_guesses_alike(const printer *p, uint32_t number) {
    const qg_equation *e = &qg_encoder_items(p)[number];
    const qg_code *code = &p->layout->codes[e->code];
    if (p->team == 1 || qg_encoder_guesses_quotient(p, e->value)) return false;
    for (uint32_t s = 0; s < code->n_slices; ++s)
        if (!has_parts(p, &code->slices[s])) return false;
    return true;
}

void qg_encoder_drop_guesses(printer *p, uint32_t number) {
    const qg_equation *e = &qg_encoder_items(p)[number];
    const qg_code *code = &p->layout->codes[e->code];
    qg_encoder_begin(p, qg_format(p->arena, "if (!qk_clear_%s) {", e->name));
    for (uint32_t w = 0; w < p->share; w += 32)
        qg_encoder_line(p, qg_format(p->arena, "qk_open_%s[%u] = 0x%Xu;", e->name, w / 32,
                                     p->share - w < 32 ? (1u << (p->share - w)) - 1 : UINT32_MAX));
    for (uint32_t s = 0; s < code->n_slices; ++s) clear_parts(p, code, &code->slices[s]);
    qg_encoder_finish(p);
}

/* Sets a code of the group in hand; the name becomes what was stored, where somebody asks. */
void qg_encoder_store_code(printer *p, uint32_t number) {
    const qg_equation *e = &qg_encoder_items(p)[number];
    const qg_code *code = &p->layout->codes[e->code];
    const char *bits = qg_format(p->arena, "qk_bits_%s", code->name), *c = p->d->id == QG_C ? "qk_" : "";
    const bool real = qg_encoder_is_float(e->value);
    const bool guesses = !p->mends && qg_encoder_guesses(p, number);
    if (guesses)
        guess_code(p, number);
    else if (stored_term(p, number) != e->value)
        write_code(p, number);
    const char *value = e->per == 1 && !real ? qg_encoder_name(p, number, false) : qg_encoder_apart(p, e->value);
    if (real) {
        const char *type = qg_scalars[code->type].name;
        qg_encoder_line(p, qg_format(p->arena, "%s %s = qk_bits_of_%s(%s);", p->d->word, bits, type, value));
        const char *back = code->type == QG_F32 ? qg_format(p->arena, "%s(%s)", p->d->bits_of_f32, bits)
                                                : qg_format(p->arena, "%s%s_to_f32(%s)", c, type, bits);
        if (e->per != 1 && qg_encoder_is_used(p, number))
            qg_encoder_line(p, qg_format(p->arena, "%s %s = %s;", qg_encoder_declared(p, true, true), e->name, back));
    } else {
        if (e->per != 1)
            qg_encoder_line(p, qg_format(p->arena, "%s %s = %s;", qg_encoder_declared(p, false, true), e->name, value));
        qg_encoder_line(p, p->d->id == QG_C
                               ? qg_format(p->arena, "const %s %s = (%s)%s;", p->d->word, bits, p->d->word, e->name)
                               : qg_format(p->arena, "const %s %s = %s(%s);", p->d->word, bits, p->d->word, e->name));
    }
    const char *j = code->count == 1 ? "0" : qg_encoder_in_block(p, p->at, p->share / e->per);
    if (qg_encoder_gathers(p, code)) {
        qg_encoder_line(
            p, qg_format(p->arena, "qk_bytes_%s[%s >> 2] += %s << 8 * (%s & 3);", code->name, p->at, bits, p->at));
        return;
    }
    const bool one = qg_encoder_is_shared(p, e->per) && !p->late;
    if (one) qg_encoder_begin(p, "if (qk_t == 0) {");
    const bool fits = p->d->id == QG_GLSL &&
                      (real || is_signed(p, number) || (e->value->low >= 0 && e->value->high >> code->width == 0));
    for (uint32_t s = 0; s < code->n_slices; ++s) store_slice(p, code, &code->slices[s], bits, fits, j);
    if (one) qg_encoder_finish(p);
}

/* ---- a team's codes ---- */

static uint32_t most(uint32_t a, uint32_t b) { return a > b ? a : b; }

static qg_parts parts_of(const printer *p, const qg_slice *slice) {
    return p->team > 1 ? qg_encode_parts(p->layout, slice) : (qg_parts){.fits = false};
}

static bool has_parts(const printer *p, const qg_slice *slice) { return parts_of(p, slice).fits; }

const char *qg_encoder_parts_name(const printer *p, const qg_code *code, const qg_slice *slice) {
    return qg_format(p->arena, "qk_part_%s%u", code->name, (uint32_t)(slice - code->slices));
}

/* Number `i` of what a thread has, counted in the block, in runs of so many; NULL: of the first thread. */
static const char *element(const printer *p, const char *thread, const char *i, uint32_t run) {
    const char *text = run == 1 ? qg_format(p->arena, "%s * %u", i, p->team)
                                : qg_format(p->arena, "%s / %u * %u + %s %% %u", i, run, run * p->team, i, run);
    return !thread    ? text
           : run == 1 ? qg_format(p->arena, "%s + %s", thread, text)
                      : qg_format(p->arena, "%s * %u + %s", thread, run, text);
}

/* A number for each slice, by which of them word `qk_j` of all is in. */
static const char *of_slice(const printer *p, const qg_code *code, const char *pattern,
                            uint32_t (*number)(const qg_slice *slice)) {
    const char *text = NULL;
    uint32_t words = 0;
    for (uint32_t s = 0; s < code->n_slices; ++s) words += code->slices[s].digits[0].extent / 4;
    for (uint32_t s = code->n_slices; s-- > 0;) {
        const char *own;
        words -= code->slices[s].digits[0].extent / 4;
        own = qg_format(p->arena, pattern, number(&code->slices[s]), words);
        text = text
                   ? qg_format(p->arena, "qk_j < %u ? %s : %s", words + code->slices[s].digits[0].extent / 4, own, text)
                   : own;
    }
    return text;
}

static uint32_t first_of(const qg_slice *slice) { return slice->first / 4; }
static uint32_t step_of(const qg_slice *slice) { return slice->digits[0].extent / 4; }
static uint32_t count_of(const qg_slice *slice) { return slice->digits[1].extent; }
static uint32_t word_of(const qg_slice *slice) { return slice->bit / 32; }

/* Four bytes at once: digits that are not there are 0, which leaves the fraction as it is. */
void qg_encoder_gather_digits(printer *p, const qg_code *code) {
    uint32_t words = 0, count = 0, all = 1;
    if (!qg_encoder_gathers(p, code)) return;
    for (uint32_t s = 0; s < code->n_slices; ++s) {
        words += step_of(&code->slices[s]);
        count = most(count, count_of(&code->slices[s]));
    }
    for (uint32_t i = 0; i < count; ++i) all *= code->slices[0].radix;
    qg_encoder_begin(p, qg_format(p->arena, "for (int qk_j = qk_t; qk_j < %u; qk_j += %u) {", words, p->team));
    qg_encoder_line(p, qg_format(p->arena, "const int qk_at = %s;", of_slice(p, code, "%u + qk_j - %u", first_of)));
    qg_encoder_line(p, qg_format(p->arena, "const int qk_step = %s;", of_slice(p, code, "%u", step_of)));
    qg_encoder_line(p, qg_format(p->arena, "const int qk_count = %s;", of_slice(p, code, "%u", count_of)));
    qg_encoder_line(p, "uint qk_v = 0u, qk_w = 0u;");
    qg_encoder_begin(p, qg_format(p->arena, "[[unroll]] for (int qk_k = 0; qk_k < %u; ++qk_k) {", count));
    qg_encoder_line(p, "const int qk_from = qk_at + qk_k * qk_step;");
    qg_encoder_line(p, qg_format(p->arena,
                                 "qk_v = qk_v * %uu + (qk_k < qk_count ? qk_digits_%s[qk_own_%s + qk_from%s] : 0u);",
                                 code->slices[0].radix, code->name, code->name,
                                 p->run < p->share ? "" : qg_format(p->arena, " + qk_from / %u", p->share / 4)));
    qg_encoder_finish(p);
    qg_encoder_line(p, qg_format(p->arena,
                                 "[[unroll]] for (int qk_k = 0; qk_k < 32; qk_k += 8) qk_w += (((qk_v >> qk_k & "
                                 "0xFFu) << 8) + %uu) / %uu << qk_k;",
                                 all - 1, all));
    qg_encoder_line(p, qg_format(p->arena, "%s = qk_w;",
                                 word(p, code->slices[0].buffer, of_slice(p, code, "%u + qk_j - %u", word_of))));
    qg_encoder_finish(p);
}

enum { MOST_SUMS = 64 }; /* words of a block that are made good */

/* Whether words of a code are added up from numbers that have more bits than the code, which is made good at once. */
static bool makes_sums(const printer *p, uint32_t number) {
    const qg_equation *e = &qg_encoder_items(p)[number];
    const qg_code *code = &p->layout->codes[e->code];
    const qg_slice *slice = code->slices;
    if (p->d->id != QG_GLSL || p->mends || e->per != 1 || code->n_slices != 1 || slice->radix || p->share > QG_UNROLLED)
        return false;
    if (p->team > 1) return has_parts(p, slice) && parts_of(p, slice).span <= MOST_SUMS;
    return !p->planes && !qg_encoder_in_place(p, slice->buffer) &&
           p->layout->buffers[slice->buffer].bytes <= 4 * MOST_SUMS;
}

bool qg_encoder_is_zero(const qg_term *term) {
    return term->op == QG_CONST && !qg_encoder_is_float(term) && term->integer == 0;
}

const qg_term *qg_encoder_choice_of_block(const printer *p) {
    const qg_term *choice = NULL;
    if (p->d->id != QG_GLSL || !p->encode->rows) return NULL;
    for (uint32_t i = 0; i < p->encode->count; ++i) {
        const qg_equation *e = &qg_encoder_items(p)[i];
        if (!e->is_code || e->per != 1) continue;
        if (choice) return NULL;
        choice = stored_term(p, i);
        if (choice->op != QG_SELECT || choice->arg[0]->per != p->layout->elements * p->parts) return NULL;
    }
    return choice && (qg_encoder_is_zero(choice->arg[1]) || qg_encoder_is_zero(choice->arg[2])) ? choice : NULL;
}

static bool is_raised(const printer *p, uint32_t number) {
    const qg_equation *e = &qg_encoder_items(p)[number];
    const qg_term *term = stored_term(p, number);
    if (term == p->chosen) term = term->arg[qg_encoder_is_zero(term->arg[1]) ? 2 : 1];
    return makes_sums(p, number) && qg_encoder_guesses(p, number) && qg_encoder_is_guess(term) &&
           (is_signed(p, number) || (term->low >= 0 && term->high >> p->layout->codes[e->code].width == 0));
}

/* Whether a term has no more bits than the code, one of which is its sign. */
static bool has_sign(const printer *p, uint32_t number, const qg_term *term) {
    const qg_code *code = &p->layout->codes[qg_encoder_items(p)[number].code];
    const int64_t half = INT64_C(1) << (code->width - 1);
    return makes_sums(p, number) && !qg_encoder_is_float(term) && !crosses(code->slices) && term->low < 0 &&
           term->low >= -half && term->high < half;
}

static const qg_term *stored_term(const printer *p, uint32_t number) {
    const qg_equation *e = &qg_encoder_items(p)[number];
    const qg_term *term = e->value;
    const int64_t mask = (INT64_C(1) << p->layout->codes[e->code].width) - 1;
    const bool cuts = term->op == QG_AND && term->arg[1]->op == QG_CONST && term->arg[1]->integer == mask;
    return cuts && has_sign(p, number, term->arg[0]) && !qg_encoder_is_used(p, number) ? term->arg[0] : term;
}

static bool is_signed(const printer *p, uint32_t number) { return has_sign(p, number, stored_term(p, number)); }

void qg_encoder_finish_sums(printer *p, uint32_t number) {
    enum { ZERO = 0x4B400000 };
    const qg_code *code = &p->layout->codes[qg_encoder_items(p)[number].code];
    const qg_slice *slice = code->slices;
    const bool raised = is_raised(p, number), with_sign = is_signed(p, number);
    uint32_t more[MOST_SUMS + 1] = {0}, signs[MOST_SUMS + 1] = {0};
    const uint32_t first = p->team == 1 ? 0 : parts_of(p, slice).first;
    for (uint32_t i = 0; i < p->share && (raised || with_sign); ++i) {
        const bool apart = p->run < p->share && !parts_of(p, slice).dense;
        const uint32_t element = apart ? i / p->run * p->run * p->team + i % p->run : i;
        const uint32_t at = qg_slice_address(slice, slice->first + element) - 32 * first, shift = at % 32;
        if (raised) more[at / 32] -= (uint32_t)ZERO << shift;
        if (raised && shift + slice->width > 32) more[at / 32 + 1] -= (uint32_t)ZERO >> (32 - shift);
        if (with_sign) signs[at / 32] += UINT32_C(1) << (shift + slice->width - 1);
    }
    for (uint32_t w = 0; w <= MOST_SUMS; ++w) {
        if (!more[w] && !signs[w]) continue;
        const char *at = p->team == 1 ? word(p, slice->buffer, qg_format(p->arena, "%u", w))
                                      : qg_format(p->arena, "%s[%u]", qg_encoder_parts_name(p, code, slice), w);
        const char *lowered = qg_format(p->arena, "%s = %s + 0x%Xu", at, at, more[w] + signs[w]);
        qg_encoder_line(p, signs[w] ? qg_format(p->arena, "%s ^ 0x%Xu;", lowered, signs[w])
                                    : qg_format(p->arena, "%s;", lowered));
    }
}

void qg_encoder_clear_words(printer *p, const qg_slice *slice, const char *name) {
    const qg_parts own = parts_of(p, slice);
    if (qg_part_words(&own) <= QG_UNROLLED)
        qg_encoder_line(p, qg_format(p->arena, "[[unroll]] for (int qk_j = 0; qk_j < %u; ++qk_j) %s[qk_j] = 0u;",
                                     qg_part_words(&own), name));
    for (uint32_t w = 0; qg_part_words(&own) > QG_UNROLLED && w < own.span; ++w)
        if (qg_is_used(&own, w)) qg_encoder_line(p, qg_format(p->arena, "%s[%u] = 0u;", name, w));
}

static void clear_parts(printer *p, const qg_code *code, const qg_slice *slice) {
    qg_encoder_clear_words(p, slice, qg_encoder_parts_name(p, code, slice));
}

void qg_encoder_begin_parts(printer *p, const qg_code *code) {
    if (qg_encoder_gathers(p, code)) {
        const uint32_t n = p->share / 4;
        qg_encoder_line(p, qg_format(p->arena, "const int qk_own_%s = int(gl_LocalInvocationIndex) / %u * %u;",
                                     code->name, p->team, qg_digit_words(p->layout, code)));
        qg_encoder_line(p, qg_format(p->arena, "uint qk_bytes_%s[%u];", code->name, n));
        qg_encoder_line(p,
                        qg_format(p->arena, "[[unroll]] for (int qk_j = 0; qk_j < %u; ++qk_j) qk_bytes_%s[qk_j] = 0u;",
                                  n, code->name));
        return;
    }
    for (uint32_t s = 0; s < code->n_slices; ++s) {
        const qg_parts own = parts_of(p, &code->slices[s]);
        if (!own.fits) continue;
        const char *name = qg_encoder_parts_name(p, code, &code->slices[s]);
        qg_encoder_line(p, qg_format(p->arena, "uint %s[%u];", name, qg_part_words(&own)));
        clear_parts(p, code, &code->slices[s]);
    }
}

/* Which threads of a team have codes of a slice; NULL: all. */
static const char *has_codes(const printer *p, const qg_code *code, const qg_slice *slice) {
    if (slice->count == code->count) return NULL;
    return qg_format(p->arena, "if (qk_t >= %u && qk_t < %u) {", slice->first / p->share,
                     (slice->first + slice->count) / p->share);
}

void qg_encoder_store_parts(printer *p, const qg_code *code, const qg_slice *slice, const char *name) {
    const qg_parts own = parts_of(p, slice);
    const char *test = has_codes(p, code, slice);
    qg_encoder_begin(p, test ? test : "{");
    const char *j = qg_format(p->arena, "(qk_t - %u) * %u", slice->first / p->share, p->run);
    qg_encoder_line(p, qg_format(p->arena, "const int qk_far = %s - %u;",
                                 qg_encoder_address(p, slice, qg_format(p->arena, "(%s)", j)), slice->bit));
    if (own.count == own.span)
        qg_encoder_begin(p, qg_format(p->arena, "[[unroll]] for (int qk_j = 0; qk_j < %u; ++qk_j) {", own.span));
    for (uint32_t w = 0; w < (own.count == own.span ? 1 : own.span); ++w) {
        const char *j_word = own.count == own.span ? "qk_j" : qg_format(p->arena, "%u", w);
        const char *from = own.count == own.span ? "qk_j" : qg_format(p->arena, "%u", qg_part_word(&own, w));
        if (qg_is_used(&own, w))
            add_bits(p, slice, code->per, qg_format(p->arena, "%u + %s + (qk_far >> 5)", own.first, j_word),
                     qg_format(p->arena, "%s[%s] << (qk_far & 31)", name, from));
    }
    if (own.count == own.span) qg_encoder_finish(p);
    qg_encoder_finish(p);
}

void qg_encoder_finish_parts(printer *p, const qg_code *code) {
    if (qg_encoder_gathers(p, code)) {
        const uint32_t n = p->share / 4;
        const char *own =
            p->run < p->share ? element(p, "qk_t", "qk_j", p->run / 4) : qg_format(p->arena, "qk_t * %u + qk_j", n + 1);
        qg_encoder_line(
            p, qg_format(
                   p->arena,
                   "[[unroll]] for (int qk_j = 0; qk_j < %u; ++qk_j) qk_digits_%s[qk_own_%s + %s] = qk_bytes_%s[qk_j];",
                   n, code->name, code->name, own, code->name));
        return;
    }
    for (uint32_t s = 0; s < code->n_slices; ++s) {
        const qg_slice *slice = &code->slices[s];
        if (!has_parts(p, slice)) continue;
        if (qg_encoder_joins_planes(p))
            qg_encoder_add_plane(p, code, slice);
        else
            qg_encoder_store_parts(p, code, slice, qg_encoder_parts_name(p, code, slice));
    }
}

/* Whether one digit of a base is all that a thread has. */
static bool has_one_power(const printer *p, const qg_slice *slice) {
    for (uint32_t j = 0; j < slice->count; ++j)
        if (qg_slice_power(slice, slice->first + j) != qg_slice_power(slice, slice->first + j - j % p->share))
            return false;
    return true;
}

/* Into the thread's own words: element `i` of its own. Their places are known where the loop is written out. */
static void store_part(printer *p, const qg_code *code, const qg_slice *slice, const char *part, const char *j) {
    const qg_parts own = parts_of(p, slice);
    const char *name = qg_encoder_parts_name(p, code, slice), *test = has_codes(p, code, slice), *op = joins(p, slice);
    qg_encoder_begin(p, test ? test : "{");
    if (slice->radix && has_one_power(p, slice)) j = qg_format(p->arena, "qk_t * %u", p->share);
    if (slice->radix)
        part = qg_format(p->arena, "%s * (%s)", part,
                         weight(p, slice, slice->first ? qg_format(p->arena, "(%s - %u)", j, slice->first) : j));
    const bool apart = p->run < p->share && !own.dense;
    const char *at = apart ? qg_format(p->arena, "(%s)", element(p, NULL, p->at, p->run)) : p->at;
    qg_encoder_line(
        p, qg_format(p->arena, "const int qk_at = %s - %u;", qg_encoder_address(p, slice, at), 32 * own.first));
    qg_encoder_line(p, qg_format(p->arena, "%s[qk_at >> 5] %s= %s << (qk_at & 31);", name, op, part));
    if (crosses(slice))
        qg_encoder_line(p, qg_format(p->arena,
                                     "if ((qk_at & 31) > %u) %s[(qk_at >> 5) + 1] %s= %s >> (32 - (qk_at & 31));",
                                     32 - slice->width, name, op, part));
    qg_encoder_finish(p);
}

/* Digits of a base were added up: as a fraction, rounded up. */
void qg_encoder_finish_digits(printer *p, const qg_slice *slice) {
    const char *at = word(p, slice->buffer, "qk_at >> 5");
    uint32_t all = 1, count = slice->digits[slice->power].extent;
    for (uint32_t i = 0; i < count; ++i) all *= slice->radix;
    qg_slice rest = *slice;
    qg_digit digits[16];
    rest.n_digits = 0;
    for (uint32_t i = 0; i < slice->n_digits; ++i)
        if (i != slice->power) digits[rest.n_digits++] = slice->digits[i];
    rest.digits = digits;
    rest.radix = 0;
    rest.count = slice->count / count;
    const uint32_t mask = (UINT32_C(1) << slice->width) - 1;
    qg_encoder_begin(p, qg_format(p->arena, "for (%s qk_j = %s; qk_j < %u; qk_j += %u) {", p->d->integer,
                                  p->team > 1 ? "qk_t" : "0", rest.count, p->team));
    qg_encoder_line(p,
                    qg_format(p->arena, "const %s qk_at = %s;", p->d->integer, qg_encoder_address(p, &rest, "qk_j")));
    /* Others of the team may be at other digits of the word. */
    const char *now = p->team > 1 ? qg_format(p->arena, "atomicAdd(%s, 0u)", at) : at;
    qg_encoder_line(p, qg_format(p->arena, "const %s qk_v = %s >> (qk_at & 31) & 0x%Xu;", p->d->word, now, mask));
    add_bits(p, slice, 1, "qk_at >> 5",
             qg_format(p->arena, "(((qk_v << %u) + %uu) / %uu - qk_v) << (qk_at & 31)", slice->width, all - 1, all));
    qg_encoder_finish(p);
}

/* The block's words become part of a stream in which it begins at any byte that is a multiple of the unit, and so are
 * shifted. The first one has bytes of the block before: what is this block's of it waits, until that is stored. */
static void store_stream(printer *p, uint32_t number) {
    const qg_buffer *buffer = &p->layout->buffers[number];
    const uint32_t n = (buffer->bytes + 3) / 4, shifted = 4 - qg_encode_unit(buffer) / 8,
                   all = (buffer->bytes + shifted + 3) / 4;
    const char *name = buffer->name;
    qg_encoder_begin(p, "{");
    qg_encoder_line(p, qg_format(p->arena, "const uint qk_byte = gl_LocalInvocationIndex * %uu;", buffer->bytes));
    qg_encoder_line(p, "const uint qk_shift = qk_byte % 4u * 8u;");
    qg_encoder_line(p, "uint qk_before = 0u;");
    qg_encoder_begin(p, qg_format(p->arena, "[[unroll]] for (int qk_j = 0; qk_j < %u; ++qk_j) {", all));
    qg_encoder_line(p, all > n
                           ? qg_format(p->arena, "const uint qk_word = qk_j < %u ? qk_words_%s[min(qk_j, %u)] : 0u;", n,
                                       name, n - 1)
                           : qg_format(p->arena, "const uint qk_word = qk_words_%s[qk_j];", name));
    qg_encoder_line(p, "const uint qk_bits = qk_word << qk_shift | qk_before >> 1 >> 31u - qk_shift;");
    qg_encoder_line(p, qg_format(p->arena, "if (qk_j == 0) qk_first_%s = qk_bits;", name));
    const char *within =
        all > n ? qg_format(p->arena, "if (qk_shift + %uu > 32u * uint(qk_j)) ", 8 * buffer->bytes) : "";
    qg_encoder_line(p, qg_format(p->arena, "else %sqk_staged_%s[qk_byte / 4u + uint(qk_j)] = qk_bits;", within, name));
    qg_encoder_line(p, "qk_before = qk_word;");
    qg_encoder_finish(p);
    qg_encoder_finish(p);
}

/* Bits of the words in which a buffer's part of a block is stored. */
void qg_encoder_store_buffer(printer *p, uint32_t number) {
    const qg_buffer *buffer = &p->layout->buffers[number];
    if (qg_encoder_in_place(p, number)) return;
    if (p->encode->rows) {
        qg_encoder_store_in_row(p, number);
        return;
    }
    if (p->d->id == QG_GLSL && p->streams && qg_streams(p->layout, number)) {
        store_stream(p, number);
        return;
    }
    if (p->d->id == QG_GLSL && !p->planes && qg_stores_fours(p->layout, number)) {
        qg_encoder_store_fours(p, buffer, "qk_block");
        return;
    }
    const uint32_t staged = p->d->id == QG_GLSL && !p->kept ? qg_staged_words(p->layout, number) : 0;
    const uint32_t unit = p->d->id == QG_C ? 8 : qg_encode_unit(buffer), n = buffer->bytes * 8 / unit;
    const char *value = qg_format(p->arena,
                                  unit == 32   ? "qk_words_%s[qk_j]"
                                  : unit == 16 ? "qk_words_%s[qk_j >> 1] >> (qk_j & 1) * 16"
                                               : "qk_words_%s[qk_j >> 2] >> (qk_j & 3) * 8",
                                  buffer->name);
    const char *type = unit == 32           ? "uint"
                       : p->d->id == QG_MSL ? (unit == 16 ? "ushort" : "uchar")
                       : unit == 16         ? "uint16_t"
                                            : "uint8_t";
    const char *block = qg_encoder_is_of_group(p, number) ? "qk_group" : "qk_block";
    const uint32_t steps = staged ? (buffer->bytes + 3) / 4 : n;
    qg_encoder_begin(p, qg_format(p->arena, "%sfor (%s qk_j = 0; qk_j < %u; ++qk_j) {",
                                  steps <= QG_UNROLLED ? p->d->unroll : "", p->d->integer, steps));
    if (staged)
        qg_encoder_line(p, qg_format(p->arena,
                                     "qk_staged_%s[gl_LocalInvocationIndex * %uu + uint(qk_j)] = qk_words_%s[qk_j];",
                                     buffer->name, staged, buffer->name));
    else if (p->d->id == QG_C && p->planes)
        qg_encoder_line(p,
                        qg_format(p->arena, "%s[%s * %u + qk_j] = (uint8_t)(qk_words_%s[qk_j >> 2] >> (qk_j & 3) * 8);",
                                  buffer->name, block, n, buffer->name));
    else if (p->d->id == QG_C)
        qg_encoder_line(p, qg_format(p->arena, "%s[qk_j] = (uint8_t)(qk_words_%s[qk_j >> 2] >> (qk_j & 3) * 8);",
                                     buffer->name, buffer->name));
    else
        qg_encoder_line(
            p, qg_format(p->arena, "%s[%s * %uu + uint(qk_j)] = %s(%s);", buffer->name, block, n, type, value));
    qg_encoder_finish(p);
}
