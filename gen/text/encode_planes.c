/* Encoders of formats whose blocks are groups of planes: each group is made as a block of its own would be. What is
 * stored in rows of its own is written at once, and codes that share words with those of other groups when all are
 * there. What fills up the last plane has no group, and stays 0. */
#include "text/encode_print.h"

typedef qg_encoder_printer printer;

enum { WORD = 32, MOST_WAITED = 4 };

/* ---- the layout of a group ---- */

/* The digits of the first `count` instances. */
static qg_slice first_instances(qg_arena *arena, const qg_slice *slice, uint32_t count) {
    qg_digit *digits = QG_NEW_ARRAY(arena, qg_digit, slice->n_digits + 1);
    qg_slice own = *slice;
    own.digits = digits;
    own.n_digits = 0;
    own.count = count;
    for (uint32_t below = 1; below < count; ++own.n_digits) {
        digits[own.n_digits] = slice->digits[own.n_digits];
        if (below * digits[own.n_digits].extent > count) digits[own.n_digits].extent = count / below;
        below *= digits[own.n_digits].extent;
    }
    return own;
}

static bool has_row_of_group(const qg_layout *layout, const qg_buffer *buffer) {
    return buffer->tile_rows == layout->block_rows;
}

const qg_layout *qg_encoder_group_layout(qg_arena *arena, const qg_layout *layout) {
    qg_layout *group = QG_NEW(arena, qg_layout);
    qg_buffer *buffers = QG_NEW_ARRAY(arena, qg_buffer, layout->n_buffers);
    qg_code *codes = QG_NEW_ARRAY(arena, qg_code, layout->n_codes);
    *group = *layout;
    group->elements = layout->block_cols;
    group->buffers = buffers;
    group->codes = codes;
    for (uint32_t i = 0; i < layout->n_buffers; ++i) {
        buffers[i] = layout->buffers[i];
        if (!has_row_of_group(layout, &buffers[i])) continue;
        buffers[i].bytes /= buffers[i].tile_rows;
        buffers[i].tile_rows = 1;
    }
    for (uint32_t c = 0; c < layout->n_codes; ++c) {
        const qg_code *code = &layout->codes[c];
        qg_slice *slices = QG_NEW_ARRAY(arena, qg_slice, code->n_slices);
        codes[c] = *code;
        codes[c].count = code->count / layout->block_rows;
        codes[c].slices = slices;
        for (uint32_t s = 0; s < code->n_slices; ++s) {
            slices[s] = code->slices[s];
            if (layout->block_rows > 1 && has_row_of_group(layout, &layout->buffers[slices[s].buffer]))
                slices[s] = first_instances(arena, &slices[s], codes[c].count);
        }
    }
    return group;
}

bool qg_encoder_is_of_group(const printer *p, uint32_t buffer) {
    return p->planes && has_row_of_group(p->planes, &p->planes->buffers[buffer]);
}

/* ---- codes among those of other groups ---- */

const char *qg_encoder_in_planes(const printer *p, const char *at, uint32_t count) {
    if (p->planes->block_rows == 1) return at;
    return count == 1 ? "qk_plane" : qg_format(p->arena, "(qk_plane * %u + %s)", count, at);
}

bool qg_encoder_splits(const printer *p, const qg_slice *slice, uint32_t count) {
    return p->planes && !qg_encoder_is_of_group(p, slice->buffer) && qg_splits_planes(p->planes, slice, count);
}

void qg_encoder_split(const qg_slice *slice, uint32_t count, qg_slice *low, qg_slice *high) {
    *low = *high = *slice;
    for (uint32_t below = 1; below < count; ++high->digits, --high->n_digits) below *= high->digits->extent;
    low->n_digits -= high->n_digits;
    low->count = count;
    high->count /= count;
    low->bit -= low->bit % WORD;
    high->bit %= WORD;
}

/* ---- a team ---- */

const qg_layout *qg_encoder_team_layout(qg_arena *arena, const qg_layout *layout) {
    qg_layout *group = QG_NEW(arena, qg_layout);
    qg_code *codes = QG_NEW_ARRAY(arena, qg_code, layout->n_codes);
    *group = *qg_encoder_group_layout(arena, layout);
    if (layout->block_rows == 1) return group;
    group->block_rows = 1;
    for (uint32_t c = 0; c < layout->n_codes; ++c) {
        qg_slice *slices = QG_NEW_ARRAY(arena, qg_slice, group->codes[c].n_slices), high;
        codes[c] = group->codes[c];
        for (uint32_t s = 0; s < codes[c].n_slices; ++s) {
            slices[s] = codes[c].slices[s];
            if (!has_row_of_group(layout, &layout->buffers[slices[s].buffer]))
                qg_encoder_split(&codes[c].slices[s], layout->block_cols, &slices[s], &high);
        }
        codes[c].slices = slices;
    }
    group->codes = codes;
    return group;
}

bool qg_encoder_joins_planes(const printer *p) { return p->planes && p->team > 1 && p->planes->block_rows > 1; }

/* Words of all planes, of which each has bits of its own. */
static const char *sums_name(const printer *p, const qg_code *code, const qg_slice *slice) {
    return qg_format(p->arena, "qk_sum_%s%u", code->name, (uint32_t)(slice - code->slices));
}

static void begin_sums(printer *p) {
    for (uint32_t c = 0; c < p->layout->n_codes; ++c) {
        const qg_code *code = &p->layout->codes[c];
        for (uint32_t s = 0; code->per == 1 && s < code->n_slices; ++s) {
            const qg_slice *slice = &code->slices[s];
            const char *name = sums_name(p, code, slice);
            const qg_parts own = qg_encode_parts(p->layout, slice);
            qg_encoder_line(p, qg_format(p->arena, "uint %s[%u];", name, qg_part_words(&own)));
            qg_encoder_clear_words(p, slice, name);
        }
    }
}

void qg_encoder_add_plane(printer *p, const qg_code *code, const qg_slice *slice) {
    const qg_slice *all = &p->planes->codes[code - p->layout->codes].slices[slice - code->slices];
    const qg_parts own = qg_encode_parts(p->layout, slice);
    qg_slice low, high;
    qg_encoder_split(all, p->layout->elements, &low, &high);
    qg_encoder_begin(p, "if (qk_there) {");
    qg_encoder_line(p, qg_format(p->arena, "const int qk_up = %s;", qg_encoder_address(p, &high, "qk_plane")));
    for (uint32_t w = 0; w < own.span; ++w)
        if (qg_is_used(&own, w))
            qg_encoder_line(p, qg_format(p->arena, "%s[%u] += %s[%u] << qk_up;", sums_name(p, code, slice),
                                         qg_part_word(&own, w), qg_encoder_parts_name(p, code, slice),
                                         qg_part_word(&own, w)));
    qg_encoder_finish(p);
}

static void finish_sums(printer *p) {
    for (uint32_t c = 0; c < p->layout->n_codes; ++c) {
        const qg_code *code = &p->layout->codes[c];
        for (uint32_t s = 0; code->per == 1 && s < code->n_slices; ++s)
            qg_encoder_store_parts(p, code, &code->slices[s], sums_name(p, code, &code->slices[s]));
    }
}

/* ---- a block ---- */

static const char *storage(const printer *p, uint32_t unit) {
    return p->d->id == QG_C ? "uint8_t" : unit == 32 ? "device uint" : unit == 16 ? "device ushort" : "device uchar";
}

/* In a block of one group, that is the block. */
static const char *parameters(const printer *p) {
    qg_text text = qg_text_new(p->arena);
    const bool many = p->planes->block_rows > 1;
    if (p->team > 1) return "uint qk_block, uint qk_part";
    if (p->d->id == QG_GLSL) return "uint qk_block";
    if (p->d->id == QG_C)
        qg_text_printf(&text, "uint64_t qk_block%s, const float *qk_all",
                       many ? ", uint64_t qk_blocks, uint64_t qk_groups" : "");
    else
        qg_text_printf(&text, "uint qk_block%s, device const T *qk_all",
                       many ? ", uint qk_blocks, uint qk_groups" : "");
    for (uint32_t i = 0; i < p->layout->n_buffers; ++i)
        qg_text_printf(&text, ", %s *%s", storage(p, qg_encode_unit(&p->layout->buffers[i])),
                       p->layout->buffers[i].name);
    return text.data;
}

static void begin_block(printer *p) {
    static const char *const heads[] = {[QG_GLSL] = "void qk_encode(%s) {",
                                        [QG_MSL] = "template <typename T>\ninline void qk_encode(%s) {",
                                        [QG_C] = "static void qk_encode(%s) {"};
    qg_encoder_line(p, p->d->id == QG_C ? "/* Makes the groups of a block, which are as far from each other as there "
                                          "are blocks. */"
                                        : "// Makes the groups of a block, which are as far from each other as there "
                                          "are blocks.");
    qg_encoder_begin(p, qg_format(p->arena, heads[p->d->id], parameters(p)));
}

/* Where the thread's part of the group in hand begins. All of a team have to wait for each other. */
static void begin_part(printer *p) {
    const uint32_t group = p->layout->elements;
    qg_encoder_line(p, "// Without a group, it takes the floats of the first one, and leaves what it makes.");
    qg_encoder_line(p, "const bool qk_there = qk_block < blocks && qk_group < groups;");
    qg_encoder_line(p, qg_format(p->arena, "const uint qk_from = (qk_there ? qk_group : 0u) * %uu + uint(qk_t) * %uu;",
                                 group, p->share));
    if (p->run < p->share)
        qg_encoder_line(p, qg_format(p->arena, "const uint qk_first = qk_from - uint(qk_t) * %uu;", p->share - p->run));
}

/* Where the group in hand is among all, and its floats. A block of one group has no loop. */
static void begin_group(printer *p) {
    const uint32_t count = p->planes->block_rows, group = p->layout->elements;
    const bool c = p->d->id == QG_C, glsl = p->d->id == QG_GLSL, many = count > 1;
    const char *word = c ? "uint64_t" : "uint", *blocks = glsl ? "blocks" : "qk_blocks";
    if (many)
        qg_encoder_begin(
            p, qg_format(p->arena, "for (%s qk_plane = 0; qk_plane < %u; ++qk_plane) {", p->d->integer, count));
    qg_encoder_line(p, many ? qg_format(p->arena, "const %s qk_group = %s * %s + qk_block;", word,
                                        c ? "(uint64_t)qk_plane" : "uint(qk_plane)", blocks)
                            : qg_format(p->arena, "const %s qk_group = qk_block;", word));
    if (p->team > 1) {
        begin_part(p);
        return;
    }
    if (many) qg_encoder_line(p, glsl ? "if (qk_group >= groups) break;" : "if (qk_group >= qk_groups) break;");
    qg_encoder_line(p, glsl   ? qg_format(p->arena, "const uint qk_from = qk_group * %uu;", group)
                       : !c   ? qg_format(p->arena, "device const T *qk_x = qk_all + qk_group * %uu;", group)
                       : many ? qg_format(p->arena, "const float *const qk_x = qk_all + qk_plane * %u;", group)
                              : "const float *const qk_x = qk_all;");
}

/* Words of the buffers that have rows of the group, or of those that have not. */
static void begin_words(printer *p, bool of_group) {
    for (uint32_t i = 0; i < p->layout->n_buffers; ++i)
        if (qg_encoder_is_of_group(p, i) == of_group) qg_encoder_begin_words(p, i);
}

static void store_words(printer *p, bool of_group) {
    for (uint32_t c = 0; c < p->layout->n_codes; ++c)
        for (uint32_t s = 0; s < p->layout->codes[c].n_slices; ++s) {
            const qg_slice *slice = &p->layout->codes[c].slices[s];
            if (slice->radix && qg_encoder_is_of_group(p, slice->buffer) == of_group)
                qg_encoder_finish_digits(p, slice);
        }
    for (uint32_t i = 0; i < p->layout->n_buffers; ++i)
        if (qg_encoder_is_of_group(p, i) == of_group) qg_encoder_store_buffer(p, i);
}

/* ---- numbers of a group ---- */

/* Whether an equation sets a number of the group of what all of the team have, and no other needs what was stored. */
static bool can_be_late(const printer *p, uint32_t number) {
    const qg_equation *e = &qg_encoder_items(p)[number];
    return !qg_encoder_is_used(p, number) && !qg_encoder_sees_x(p, e->value);
}

static bool is_number(const printer *p, uint32_t number) {
    const qg_equation *e = &qg_encoder_items(p)[number];
    return e->is_code && e->per == p->layout->elements;
}

/* All of them, or none. */
static bool are_late(const printer *p) {
    bool any = false;
    for (uint32_t i = 0; i < p->encode->count; ++i) {
        if (!is_number(p, i)) continue;
        if (!can_be_late(p, i)) return false;
        any = true;
    }
    return any && qg_encoder_joins_planes(p);
}

bool qg_encoder_is_late(const printer *p, uint32_t number) {
    return p->planes && !p->late && is_number(p, number) && are_late(p);
}

/* Whether numbers that are late are made of it. */
static bool is_kept(const printer *p, uint32_t equation) {
    for (uint32_t i = 0; i < p->encode->count; ++i)
        if (is_number(p, i) && qg_encoder_names(p, qg_encoder_items(p)[i].value, equation)) return true;
    return false;
}

static const char *declared(const printer *p, uint32_t equation) {
    return qg_encoder_declared(p, qg_encoder_is_float(qg_encoder_items(p)[equation].value), false);
}

static void begin_late(printer *p) {
    qg_encoder_line(p, "// Of each group, one thread sets what it has one of, when all have a group.");
    qg_encoder_line(p, "uint qk_late = QK_NONE;");
    for (uint32_t i = 0; i < p->encode->count; ++i)
        if (is_kept(p, i))
            qg_encoder_line(p, qg_format(p->arena, "%s qk_late_%s = %s;", declared(p, i), qg_encoder_items(p)[i].name,
                                         qg_encoder_is_float(qg_encoder_items(p)[i].value) ? "0.0" : "0"));
}

static void store_buffers(printer *p, const char *test) {
    qg_encoder_begin(p, test);
    for (uint32_t i = 0; i < p->layout->n_buffers; ++i) qg_encoder_store_buffer(p, i);
    qg_encoder_finish(p);
}

static void begin_numbers(printer *p) {
    for (uint32_t i = 0; i < p->layout->n_buffers; ++i)
        if (!qg_encoder_in_place(p, i)) qg_encoder_begin_words(p, i);
}

static void store_late(printer *p) {
    qg_encoder_begin(p, qg_format(p->arena, "if (qk_plane %% %u == qk_t) {", p->team));
    qg_encoder_line(p, "qk_late = qk_there ? qk_group : QK_NONE;");
    for (uint32_t i = 0; i < p->encode->count; ++i)
        if (is_kept(p, i))
            qg_encoder_line(
                p, qg_format(p->arena, "qk_late_%s = %s;", qg_encoder_items(p)[i].name, qg_encoder_items(p)[i].name));
    qg_encoder_finish(p);
    qg_encoder_begin(p, qg_format(p->arena, "if (qk_plane %% %u == %u || qk_plane == %u) {", p->team, p->team - 1,
                                  p->planes->block_rows - 1));
    qg_encoder_line(p, "const uint qk_group = qk_late;");
    for (uint32_t i = 0; i < p->encode->count; ++i)
        if (is_kept(p, i))
            qg_encoder_line(p, qg_format(p->arena, "%s %s = qk_late_%s;", declared(p, i), qg_encoder_items(p)[i].name,
                                         qg_encoder_items(p)[i].name));
    begin_numbers(p);
    p->late = true;
    for (uint32_t i = 0; i < p->encode->count; ++i)
        if (is_number(p, i)) qg_encoder_store_code(p, i);
    p->late = false;
    store_buffers(p, "if (qk_group != QK_NONE) {");
    qg_encoder_line(p, "qk_late = QK_NONE;");
    qg_encoder_finish(p);
}

/* What one thread stores of a group. */
static void store_numbers(printer *p) {
    bool any = false;
    for (uint32_t i = 0; i < p->layout->n_buffers; ++i) any |= !qg_encoder_in_place(p, i);
    if (any) store_buffers(p, "if (qk_there && qk_t == 0) {");
}

/* Whether the floats of the next plane are on their way while a team makes those of one: it waits for so many. */
static bool loads_ahead(const printer *p) { return p->whole && p->planes->block_rows > MOST_WAITED; }

static void print_ahead(printer *p) {
    const uint32_t group = p->layout->elements;
    qg_encoder_line(p, "// Where a thread begins in a group; where there is no such one, in the first.");
    qg_encoder_begin(p, "uint qk_begin(uint qk_block, uint qk_group, int qk_t) {");
    qg_encoder_line(p, qg_format(p->arena,
                                 "return (qk_block < blocks && qk_group < groups ? qk_group : 0u) * %uu + uint(qk_t) * "
                                 "%uu;",
                                 group, p->run));
    qg_encoder_finish(p);
    qg_encoder_line(p, "");
    qg_encoder_print_hold(p, p->run < p->share ? "uint qk_first" : "uint qk_from", "a group");
    p->held = false;
}

static void begin_ahead(printer *p) {
    qg_encoder_line(p, qg_format(p->arena, "float qk_next[%u];", p->share));
    qg_encoder_line(p, "qk_hold(qk_begin(qk_block, qk_block, qk_t), qk_next);");
}

/* The floats of the plane in hand, and loads of those of the next. */
static void take_ahead(printer *p) {
    qg_encoder_line(p, qg_format(p->arena, "float qk_held[%u] = qk_next;", p->share));
    qg_encoder_line(p, qg_format(p->arena,
                                 "if (qk_plane < %u) qk_hold(qk_begin(qk_block, qk_group + blocks, qk_t), qk_next);",
                                 p->planes->block_rows - 1));
    p->held = true;
}

/* A team makes one group after the other, each thread its part of it, and adds its words up. */
static void print_team(printer *p) {
    const bool ahead = loads_ahead(p);
    if (ahead) print_ahead(p);
    begin_block(p);
    qg_encoder_line(p, qg_format(p->arena, "const int qk_t = int(gl_LocalInvocationIndex) %% %u;", p->team));
    qg_encoder_line(p, "qk_place(qk_part);");
    for (uint32_t i = 0; i < p->layout->n_buffers; ++i)
        if (qg_encoder_in_place(p, i)) qg_encoder_begin_words(p, i);
    if (qg_encoder_joins_planes(p)) begin_sums(p);
    const bool late = are_late(p);
    if (late) begin_late(p);
    if (ahead) begin_ahead(p);
    begin_group(p);
    if (!late) begin_numbers(p);
    (ahead ? take_ahead : qg_encoder_begin_values)(p);
    qg_encoder_print_all(p);
    (late ? store_late : store_numbers)(p);
    if (p->planes->block_rows > 1) qg_encoder_finish(p);
    if (qg_encoder_joins_planes(p)) finish_sums(p);
    qg_encoder_finish(p);
}

void qg_encoder_print_planes(printer *p) {
    if (p->team > 1) {
        print_team(p);
        return;
    }
    begin_block(p);
    begin_words(p, false);
    begin_group(p);
    begin_words(p, true);
    qg_encoder_begin_values(p);
    qg_encoder_print_all(p);
    store_words(p, true);
    if (p->planes->block_rows > 1) qg_encoder_finish(p);
    store_words(p, false);
    qg_encoder_finish(p);
}

void qg_plane_holes(qg_arena *arena, qg_holes *holes, const qg_layout *layout, qg_target_id target) {
    const char *suffix = target == QG_C ? "u" : "";
    qg_hole(holes, "planes", qg_format(arena, "%u%s", layout->block_rows, suffix));
    qg_hole(holes, "group", qg_format(arena, "%u%s", layout->block_cols, suffix));
    qg_hole(holes, "many_planes", layout->block_rows > 1 ? "yes" : NULL);
}
