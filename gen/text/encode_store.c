/* Encoders: how codes become bits of a block. */
#include "text/encode_print.h"

#include <stdlib.h>
#include <string.h>

typedef qg_encoder_printer printer;
typedef qg_encoder_loop loop;

/* ---- storing ---- */

/* The bit of the block at which instance `j` of the slice, counted from its first, begins. */
static const char *address(const printer *p, const qg_slice *slice, const char *j) {
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
    return qg_encoder_in_place(p, buffer) ? qg_format(p->arena, "qk_staged_%s[qk_own_%s + (%s)]", name, name, index)
                                          : qg_format(p->arena, "qk_words_%s[%s]", name, index);
}

bool qg_encoder_in_place(const printer *p, uint32_t buffer) {
    return p->d->id == QG_GLSL && !p->kept && p->layout->elements > QG_UNROLLED && qg_staged_words(p->layout, buffer);
}

static void store_slice(printer *p, const qg_code *code, const qg_slice *slice, const char *bits, const char *j) {
    const uint32_t mask = slice->bits >= 32 ? UINT32_MAX : (UINT32_C(1) << slice->bits) - 1;
    const char *part = slice->shift ? qg_format(p->arena, "%s >> %u", bits, slice->shift) : bits;
    if (slice->bits < 32) part = qg_format(p->arena, "(%s & 0x%Xu)", part, mask);
    const bool cut = slice->count < code->count;
    qg_encoder_begin(
        p,
        cut ? qg_format(p->arena, "if (%s >= %u && %s < %u) {", j, slice->first, j, slice->first + slice->count) : "{");
    const char *own = slice->first ? qg_format(p->arena, "(%s - %u)", j, slice->first) : j;
    if (slice->radix) part = qg_format(p->arena, "%s * (%s)", part, weight(p, slice, own));
    qg_encoder_line(p, qg_format(p->arena, "const %s qk_at = %s;", p->d->integer, address(p, slice, own)));
    qg_encoder_line(p, qg_format(p->arena, "%s %s= %s << (qk_at & 31);", word(p, slice->buffer, "qk_at >> 5"),
                                 slice->radix ? "+" : "|", part));
    if (crosses(slice))
        qg_encoder_line(p, qg_format(p->arena, "if ((qk_at & 31) > %u) %s |= %s >> (32 - (qk_at & 31));",
                                     32 - slice->width, word(p, slice->buffer, "(qk_at >> 5) + 1"), part));
    qg_encoder_finish(p);
}

/* Sets a code of the group in hand; the name becomes what was stored, where somebody asks. */
void qg_encoder_store_code(printer *p, uint32_t number) {
    const qg_equation *e = &qg_encoder_items(p)[number];
    const qg_code *code = &p->layout->codes[e->code];
    const char *bits = qg_format(p->arena, "qk_bits_%s", code->name), *c = p->d->id == QG_C ? "qk_" : "";
    const bool real = qg_encoder_is_float(e->value);
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
    const char *j = code->count == 1 ? "0" : p->at;
    for (uint32_t s = 0; s < code->n_slices; ++s) store_slice(p, code, &code->slices[s], bits, j);
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
    qg_encoder_begin(p, qg_format(p->arena, "for (%s qk_j = 0; qk_j < %u; ++qk_j) {", p->d->integer, rest.count));
    qg_encoder_line(p, qg_format(p->arena, "const %s qk_at = %s;", p->d->integer, address(p, &rest, "qk_j")));
    qg_encoder_line(p, qg_format(p->arena, "const %s qk_v = %s >> (qk_at & 31) & 0x%Xu;", p->d->word, at, mask));
    qg_encoder_line(p, qg_format(p->arena, "%s += (((qk_v << %u) + %uu) / %uu - qk_v) << (qk_at & 31);", at,
                                 slice->width, all - 1, all));
    qg_encoder_finish(p);
}

/* Bits of the words in which a buffer's part of a block is stored. */
void qg_encoder_store_buffer(printer *p, uint32_t number) {
    const qg_buffer *buffer = &p->layout->buffers[number];
    if (qg_encoder_in_place(p, number)) return;
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
    const uint32_t steps = staged ? (buffer->bytes + 3) / 4 : n;
    qg_encoder_begin(p, qg_format(p->arena, "%sfor (%s qk_j = 0; qk_j < %u; ++qk_j) {",
                                  steps <= QG_UNROLLED ? p->d->unroll : "", p->d->integer, steps));
    if (staged)
        qg_encoder_line(p, qg_format(p->arena,
                                     "qk_staged_%s[gl_LocalInvocationIndex * %uu + uint(qk_j)] = qk_words_%s[qk_j];",
                                     buffer->name, staged, buffer->name));
    else if (p->d->id == QG_C)
        qg_encoder_line(p, qg_format(p->arena, "%s[qk_j] = (uint8_t)(qk_words_%s[qk_j >> 2] >> (qk_j & 3) * 8);",
                                     buffer->name, buffer->name));
    else
        qg_encoder_line(p,
                        qg_format(p->arena, "%s[qk_block * %uu + uint(qk_j)] = %s(%s);", buffer->name, n, type, value));
    qg_encoder_finish(p);
}
