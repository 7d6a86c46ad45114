/* Transcoding: a kernel that decodes blocks of one format and makes blocks of another of the values, which never leave
 * the thread. The one family that two formats have a part in: its row stands here, and not in family.def. */
#include "build/family.h"

const qg_family qg_transcode = {
    .id = QG_FAMILY_COUNT,
    .name = "transcode",
    .summary = "makes blocks of another format: to = encode(value(weights))",
    .n_types = 1,
    .types = {QG_F32},
    .call = {"transcode", "to, elements"},
    .blocks = {.suffix = "", .n_push = 1, .push = {"tiles"}},
    .matrix = {.suffix = ""},
};

static uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }

uint32_t qg_unit(const qg_kernel *kernel) {
    return kernel->to ? larger(kernel->layout->elements, kernel->to->elements) : kernel->layout->elements;
}

bool qg_transcode_streams(const qg_kernel *kernel) {
    const qg_layout *to = kernel->to;
    if (qg_unit(kernel) != to->elements || qg_encode_team(to) > 1 || !qg_staged_bytes(to)) return false;
    for (uint32_t i = 0; i < to->n_buffers; ++i)
        if (qg_staged_words(to, i) && !qg_streams(to, i)) return false;
    return true;
}

uint32_t qg_bindings_of(const qg_kernel *kernel) {
    return kernel->layout->n_buffers + (kernel->to ? kernel->to->n_buffers : 0) + kernel->family->n_bindings;
}

const char *qg_transcode_hindrance(qg_arena *arena, const qg_layout *from, const qg_layout *to) {
    const uint32_t a = from->elements, b = to->elements;
    if (!to->encode)
        return qg_format(arena,
                         "%s does not say how its blocks are made: its specification needs 'encode', see "
                         "docs/format-language.md",
                         to->name);
    if (from->view != QG_VIEW_BLOCKS || to->view != QG_VIEW_BLOCKS)
        return qg_format(arena,
                         "blocks of %s are patches of a matrix, and transcode takes those that lie one after the "
                         "other: decode and encode it",
                         from->view != QG_VIEW_BLOCKS ? from->name : to->name);
    if (larger(a, b) % (a < b ? a : b))
        return qg_format(arena,
                         "blocks of %s have %u elements, and those of %s %u: one must divide the other; decode and "
                         "encode it",
                         from->name, a, to->name, b);
    if (from->n_buffers + to->n_buffers > QG_MAX_FAMILY_BINDINGS)
        return qg_format(arena, "%s and %s have %u buffers together, and a kernel may have %d: decode and encode it",
                         from->name, to->name, from->n_buffers + to->n_buffers, QG_MAX_FAMILY_BINDINGS);
    return NULL;
}

/* Buffers of the other format are called apart from those that are read. */
static const qg_layout *written(qg_arena *arena, const qg_layout *layout) {
    qg_layout *to = QG_NEW(arena, qg_layout);
    qg_buffer *buffers = QG_NEW_ARRAY(arena, qg_buffer, layout->n_buffers);
    *to = *layout;
    for (uint32_t i = 0; i < layout->n_buffers; ++i) {
        buffers[i] = layout->buffers[i];
        buffers[i].name = qg_format(arena, "qk_to_%s", layout->buffers[i].name);
    }
    to->buffers = buffers;
    return to;
}

qg_kernel qg_transcode_new(qg_arena *arena, const qg_layout *from, const qg_layout *to) {
    qg_kernel kernel = qg_kernel_new(arena, from, &qg_transcode, QG_F32, NULL);
    kernel.to = written(arena, to);
    kernel.name = kernel.module = qg_format(arena, "%s_transcode_%s", from->name, to->name);
    kernel.reference = true;
    return kernel;
}
