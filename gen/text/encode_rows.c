/* Encoders of formats whose rows have something of their own: each block of the row is looked at, and then each is made
 * with what was found. */
#include "text/encode_print.h"

typedef qg_encoder_printer printer;

static void find_in(printer *p, const qg_term *term) {
    if (!term) return;
    if (qg_encoder_is_group(term)) {
        if (p->n_row < QG_MOST_OF_ROW) p->row[p->n_row++] = term;
        return;
    }
    for (uint32_t i = 0; i < 3; ++i) find_in(p, term->arg[i]);
}

void qg_encoder_find_rows(printer *p) {
    for (uint32_t i = 0; i < p->encode->count; ++i)
        if (qg_encoder_items(p)[i].of_row) find_in(p, qg_encoder_items(p)[i].value);
}

const char *qg_encoder_of_row(const printer *p, const qg_term *term) {
    for (uint32_t i = 0; i < p->n_row; ++i)
        if (p->row[i] == term) return qg_format(p->arena, "qk_of_row[%u]", i);
    return NULL;
}

void qg_encoder_print_look(printer *p) {
    static const char *const heads[] = {
        [QG_GLSL] = "void qk_look(uint qk_from, inout float qk_of_row[%u]) {",
        [QG_MSL] = "template <typename T>\ninline void qk_look(device const T *qk_x, thread float *qk_of_row) {",
        [QG_C] = "static void qk_look(const float *qk_x, float *qk_of_row) {"};
    static const char *const held_head = "void qk_look(float qk_held[%u], inout float qk_of_row[%u]) {";
    if (!p->n_row) return;
    qg_encoder_line(p, p->d->id == QG_C ? "/* Looks at a block of the row. */"
                       : p->spread      ? "// Looks at what a thread has of the row."
                                        : "// Looks at a block of the row.");
    const bool holds = qg_encoder_holds_rows(p), held = p->held;
    qg_encoder_begin(p,
                     qg_format(p->arena, holds ? held_head : heads[p->d->id], holds ? p->share : p->n_row, p->n_row));
    p->held = holds;
    const char *into[QG_MOST_OF_ROW];
    for (uint32_t i = 0; i < p->n_row; ++i) into[i] = qg_format(p->arena, "qk_of_row[%u]", i);
    const bool found = qg_encoder_look_freely(p, p->row, into, p->n_row);
    for (uint32_t i = 0; !found && i < p->n_row; ++i) {
        const qg_encoder_loop before = qg_encoder_begin_elements(p, NULL, p->layout->elements, 1, QG_UNROLLED, true);
        qg_encoder_add_value(p, p->row[i], into[i]);
        qg_encoder_leave(p, &before);
    }
    p->held = held;
    qg_encoder_finish(p);
    qg_encoder_line(p, "");
}

void qg_encoder_print_spread(printer *p) {
    const qg_slice *slice = p->spread;
    const uint32_t run = qg_spread_run(slice), extent = slice->digits[0].extent, words = extent / run,
                   elements = slice->count, own = extent / p->parts;
    const bool one = extent == elements;
    qg_encoder_line(
        p, "// Where element `i` of thread `t` of `n` is, whose words of the row are number `t`, `t + n` and so on.");
    qg_encoder_begin(p, "uint qk_spread(uint from, uint t, uint n, uint i) {");
    qg_encoder_line(p, qg_format(p->arena, "const uint word = t + i %s/ %uu * n;",
                                 one ? "" : qg_format(p->arena, "%% %uu ", own), run));
    qg_encoder_line(p, one ? qg_format(p->arena, "return from + word * %uu + i %% %uu;", run, run)
                           : qg_format(p->arena,
                                       "return from + word / %uu * %uu + word %% %uu * %uu + i / %uu * %uu + i %% %uu;",
                                       words, elements, words, run, own, extent, run));
    qg_encoder_finish(p);
    qg_encoder_line(p, "");
}

static const char *pointer_type(const printer *p, uint32_t unit) {
    return p->d->id == QG_C ? "uint8_t" : unit == 32 ? "device uint" : unit == 16 ? "device ushort" : "device uchar";
}

const char *qg_encoder_row_parameters(const printer *p) {
    qg_text text = qg_text_new(p->arena);
    if (p->d->id == QG_GLSL) {
        qg_text_puts(&text, "uint qk_row, uint qk_col, uint qk_from");
        if (p->spread) qg_text_puts(&text, ", uint qk_t, uint qk_n");
        if (qg_encoder_holds_rows(p)) qg_text_printf(&text, ", float qk_held[%u]", p->share);
        if (p->n_row) qg_text_printf(&text, ", float qk_of_row[%u]", p->n_row);
        return text.data;
    }
    qg_text_puts(&text, p->d->id == QG_C ? "uint64_t qk_row, uint64_t qk_col, uint64_t qk_row_blocks, const float *qk_x"
                                         : "uint qk_row, uint qk_col, uint qk_row_blocks, device const T *qk_x");
    if (p->n_row)
        qg_text_puts(&text, p->d->id == QG_C ? ", const float *qk_of_row" : ", thread const float *qk_of_row");
    for (uint32_t i = 0; i < p->layout->n_buffers; ++i)
        qg_text_printf(&text, ", %s *%s", pointer_type(p, qg_encode_unit(&p->layout->buffers[i])),
                       p->layout->buffers[i].name);
    return text.data;
}

/* Words `from` to `end` of the block's, in units, to `at` on. */
static void store(printer *p, const qg_buffer *buffer, uint32_t unit, uint32_t from, uint32_t end, const char *at) {
    const char *type = unit == 32           ? p->d->word
                       : p->d->id == QG_C   ? "uint8_t"
                       : p->d->id == QG_MSL ? (unit == 16 ? "ushort" : "uchar")
                       : unit == 16         ? "uint16_t"
                                            : "uint8_t";
    const char *word = unit == 32   ? "qk_words_%s[qk_j]"
                       : unit == 16 ? "qk_words_%s[qk_j >> 1] >> (qk_j & 1) * 16"
                                    : "qk_words_%s[qk_j >> 2] >> (qk_j & 3) * 8";
    const char *index = p->d->id == QG_C ? "qk_j" : "uint(qk_j)", *value = qg_format(p->arena, word, buffer->name);
    qg_encoder_begin(p, qg_format(p->arena, "%sfor (%s qk_j = %u; qk_j < %u; ++qk_j) {",
                                  end - from <= QG_UNROLLED ? p->d->unroll : "", p->d->integer, from, end));
    qg_encoder_line(p, qg_format(p->arena, p->d->id == QG_C ? "%s[%s + %s] = (%s)(%s);" : "%s[%s + %s] = %s(%s);",
                                 buffer->name, at, index, type, value));
    qg_encoder_finish(p);
}

void qg_encoder_store_fours(printer *p, const qg_buffer *buffer, const char *block) {
    const uint32_t n = buffer->bytes / 16;
    const char *w = buffer->name;
    qg_encoder_begin(
        p, qg_format(p->arena, "%sfor (int qk_j = 0; qk_j < %u; ++qk_j) {", n <= QG_UNROLLED ? p->d->unroll : "", n));
    qg_encoder_line(p, qg_format(p->arena, "%s[%s * %uu + uint(qk_j)] = uvec4(", w, block, n));
    qg_encoder_line(p, qg_format(p->arena,
                                 "    qk_words_%s[4 * qk_j], qk_words_%s[4 * qk_j + 1], qk_words_%s[4 * qk_j + 2], "
                                 "qk_words_%s[4 * qk_j + 3]);",
                                 w, w, w, w));
    qg_encoder_finish(p);
}

/* What a thread has of all words of the row. Its first block is that of the workgroup. */
static void store_words(printer *p, const qg_buffer *buffer, uint32_t header) {
    const uint32_t n = buffer->bytes / 4 - header;
    const uint32_t all = n * p->parts;
    const char *row =
        header ? qg_format(p->arena, "qk_row * (%uu + row_blocks * %uu) + %uu + qk_col * %uu", header, all, header, n)
        : p->parts > 1 ? qg_format(p->arena, "qk_row * row_blocks * %uu + qk_col * %uu", all, n)
                       : qg_format(p->arena, "(qk_row * row_blocks + qk_col) * %uu", n);
    qg_encoder_line(p, qg_format(p->arena,
                                 "[[unroll]] for (uint qk_j = 0u; qk_j < %uu; ++qk_j) %s[%s + qk_t + qk_j * qk_n] = "
                                 "qk_words_%s[%s];",
                                 n, buffer->name, row, buffer->name,
                                 header ? qg_format(p->arena, "%uu + qk_j", header) : "qk_j"));
}

void qg_encoder_store_in_row(printer *p, uint32_t number) {
    const qg_buffer *buffer = &p->layout->buffers[number];
    if (p->d->id == QG_GLSL && qg_stores_fours(p->layout, number)) {
        qg_encoder_store_fours(p, buffer, "(qk_row * row_blocks + qk_col)");
        return;
    }
    const uint32_t unit = p->d->id == QG_C ? 8 : qg_encode_unit(buffer), n = buffer->bytes * 8 / unit,
                   header = qg_header_bytes(buffer) * 8 / unit;
    const char *u = p->d->id == QG_C ? "" : "u", *blocks = p->d->id == QG_GLSL ? "row_blocks" : "qk_row_blocks";
    const bool of_row = buffer->n_axes == 1;
    const char *begin =
        of_row   ? qg_format(p->arena, "qk_row * %u%s", n, u)
        : header ? qg_format(p->arena, "qk_row * (%u%s + %s * %u%s)", header, u, blocks, (n - header) * p->parts, u)
                 : qg_format(p->arena, "(qk_row * %s + qk_col) * %u%s", blocks, n, u);
    if (header || of_row) {
        qg_encoder_begin(p, qg_format(p->arena, p->spread ? "if (qk_col + qk_t == 0%s) {" : "if (qk_col == 0%s) {", u));
        store(p, buffer, unit, 0, of_row ? n : header, begin);
        qg_encoder_finish(p);
    }
    if (p->spread && !of_row) {
        store_words(p, buffer, header);
        return;
    }
    if (header) begin = qg_format(p->arena, "%s + qk_col * %u%s", begin, n - header, u);
    if (!of_row) store(p, buffer, unit, header, n, begin);
}
