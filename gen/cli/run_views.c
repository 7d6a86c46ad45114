/* Views in the host's memory. */
#include "cli/run_views.h"

#include "spec/value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- as text ---- */

typedef struct member {
    const char *name;
    uint64_t *values;
    uint32_t count;
    bool same; /* may be that word: QK_SAME_X */
} member;

static const char *read_type(qg_arena *arena, const char *value, qg_views *views) {
    static const char *const names[] = {"f32", "f16", "bf16"};
    for (uint32_t i = 0; i < sizeof names / sizeof *names; ++i)
        if (strcmp(value, names[i]) == 0) {
            views->dense.y_type = views->experts.y_type = (qk_y_type)i;
            return NULL;
        }
    return qg_format(arena, "y_type must be f32, f16 or bf16, not '%s'", value);
}

static const char *read_gated(qg_arena *arena, const char *value, qg_views *views) {
    views->dense.gated = views->experts.gated = (uint32_t)(*value - '0');
    const bool is_known = *value >= '0' && *value <= '2' && !value[1];
    return is_known ? NULL : qg_format(arena, "gated must be 0, 1 or 2, not '%s'", value);
}

static const char *read_adds_slots(qg_arena *arena, const char *value, qg_views *views) {
    views->experts.adds_slots = *value == '1';
    const bool is_known = (*value == '0' || *value == '1') && !value[1];
    return is_known ? NULL : qg_format(arena, "adds_slots must be 0 or 1, not '%s'", value);
}

static const char *read_epsilon(qg_arena *arena, const char *value, qg_views *views) {
    char *end;
    views->dense.epsilon = strtof(value, &end);
    return views->dense.epsilon > 0 && isfinite(views->dense.epsilon) && !*end
               ? NULL
               : qg_format(arena, "epsilon must be a number above 0, not '%s'", value);
}

static const char *read_numbers(qg_arena *arena, const member *m, const char *value) {
    static const char same[] = "same";
    const char *at = value;
    for (uint32_t i = 0; i < m->count; ++i) {
        const bool is_same = m->same && strncmp(at, same, strlen(same)) == 0;
        if (!is_same && (*at < '0' || *at > '9')) break;
        char *end = (char *)(uintptr_t)(at + strlen(same));
        m->values[i] = is_same ? QK_SAME_X : strtoull(at, &end, 10);
        if (*end == 0) return NULL;
        if (*end != ':') break;
        at = end + 1;
    }
    return qg_format(arena, "%s must be %s%s, not '%s'", m->name,
                     m->count > 2   ? "PRODUCTS:ROWS:ELEMENTS of each part, with ':' between parts, at most three"
                     : m->count > 1 ? "a number, or two with ':' between them"
                                    : "a number",
                     m->same ? "; each may be 'same'" : "", value);
}

static const char *read_one(qg_arena *arena, const char *name, const char *value, bool experts, qg_views *v) {
    const member all[] = {{"batches", v->dense.batches, 2, false},
                          {"weights_batches", v->dense.weights_batches, 2, false},
                          {"x_stride", &v->dense.x_stride, 1, false},
                          {"x_strides", v->dense.x_strides, 2, true},
                          {"y_stride", &v->dense.y_stride, 1, false},
                          {"y_strides", v->dense.y_strides, 2, false},
                          {"weights_strides", v->dense.weights_strides, 2, false},
                          {"parts", &v->dense.parts[0].products, 3 * QK_MOST_PARTS, false},
                          {"x_offset", &v->x_offset, 1, false},
                          {"y_offset", &v->y_offset, 1, false}};
    const member of_experts[] = {{"x_stride", &v->experts.x_stride, 1, false},
                                 {"x_slot_stride", &v->experts.x_slot_stride, 1, false},
                                 {"y_stride", &v->experts.y_stride, 1, false},
                                 {"y_slot_stride", &v->experts.y_slot_stride, 1, false},
                                 {"ids_stride", &v->experts.ids_stride, 1, false},
                                 {"weights_stride", &v->experts.weights_stride, 1, false},
                                 {"sets", &v->experts.sets, 1, false},
                                 {"weights_set_stride", &v->experts.weights_set_stride, 1, false},
                                 {"y_set_stride", &v->experts.y_set_stride, 1, false},
                                 {"x_offset", &v->x_offset, 1, false},
                                 {"y_offset", &v->y_offset, 1, false}};
    const member *members = experts ? of_experts : all;
    const size_t count = experts ? sizeof of_experts / sizeof *of_experts : sizeof all / sizeof *all;
    if (strcmp(name, "y_type") == 0) return read_type(arena, value, v);
    if (strcmp(name, "gated") == 0) return read_gated(arena, value, v);
    if (strcmp(name, "epsilon") == 0 && !experts) return read_epsilon(arena, value, v);
    if (strcmp(name, "adds_slots") == 0 && experts) return read_adds_slots(arena, value, v);
    for (size_t i = 0; i < count; ++i)
        if (strcmp(name, members[i].name) == 0) return read_numbers(arena, &members[i], value);
    qg_text text = qg_text_new(arena);
    for (size_t i = 0; i < count; ++i) qg_text_printf(&text, "%s, ", members[i].name);
    return qg_format(arena, "there is no '%s'; there are %s%sgated and y_type", name, text.data,
                     experts ? "adds_slots, " : "epsilon, ");
}

const char *qg_views_read(qg_arena *arena, const char *text, bool experts, qg_views *views) {
    *views = (qg_views){.given = true};
    while (*text) {
        const size_t length = strcspn(text, ",");
        char *word = qg_strndup(arena, text, length), *equal = strchr(word, '=');
        if (!equal) return qg_format(arena, "'%s' is no NAME=N", word);
        *equal = 0;
        const char *why = read_one(arena, word, equal + 1, experts, views);
        if (why) return why;
        text += length + (text[length] == ',');
    }
    return NULL;
}

/* ---- places ---- */

static uint64_t or_else(uint64_t stride, uint64_t otherwise) { return stride ? stride : otherwise; }

static uint64_t step_of_x(uint64_t stride, uint64_t otherwise) {
    return stride == QK_SAME_X ? 0 : or_else(stride, otherwise);
}

static void reach(uint64_t *end, uint64_t from, uint64_t count) {
    if (from + count > *end) *end = from + count;
}

static void place_experts(const qk_expert_views *v, const qg_sum_shape *s, qg_places *p) {
    const uint64_t x_slot = or_else(v->x_slot_stride, s->cols);
    const uint64_t y_slot = v->adds_slots ? 0 : or_else(v->y_slot_stride, s->rows);
    const uint64_t x = or_else(v->x_stride, s->x_slots * x_slot);
    const uint64_t y = or_else(v->y_stride, v->adds_slots ? s->rows : s->slots * y_slot);
    const uint64_t ids = or_else(v->ids_stride, s->slots), expert = or_else(v->weights_stride, s->rows);
    const uint64_t pairs = s->batch * s->slots, y_set = or_else(v->y_set_stride, s->batch * y);
    const uint64_t set = or_else(v->weights_set_stride, s->experts * expert);
    for (uint64_t i = 0; i < p->matrices; ++i) p->weights_of[i] = i / s->experts * set + i % s->experts * expert;
    for (uint64_t i = 0; i < p->x_vectors; ++i) p->x_of[i] = i / s->x_slots * x + i % s->x_slots * x_slot;
    for (uint64_t i = 0; i < p->vectors; ++i) {
        const uint64_t pair = i % pairs, token = pair / s->slots, slot = pair % s->slots;
        p->y_of[i] = (p->gated ? 0 : i / pairs * y_set) + token * y + slot * y_slot;
        p->ids_of[i] = token * ids + slot;
        p->vector_of[i] = s->x_slots == 1 ? token : pair;
        p->matrix_of[i] = i / pairs * s->experts;
    }
}

/* The part that a product is of, and what number it has in that. */
static qk_part part_of(const qk_views *v, uint64_t product, uint64_t *number) {
    *number = product;
    for (uint32_t i = 0; i < QK_MOST_PARTS && v->parts[i].products; ++i) {
        if (*number < v->parts[i].products) return v->parts[i];
        *number -= v->parts[i].products;
    }
    return (qk_part){0, 0, 0};
}

static void place_dense(const qk_views *v, const qg_sum_shape *s, qg_places *p) {
    const uint64_t inner = or_else(v->batches[0], 1), outer = or_else(v->batches[1], 1);
    const uint64_t matrices = or_else(v->weights_batches[0], 1), matrices_outer = or_else(v->weights_batches[1], 1);
    const uint64_t x = or_else(v->x_stride, s->cols), y = or_else(v->y_stride, s->rows);
    const uint64_t x0 = step_of_x(v->x_strides[0], s->batch * x), y0 = or_else(v->y_strides[0], s->batch * y);
    const uint64_t x1 = step_of_x(v->x_strides[1], inner > 1 && x0 ? inner * x0 : s->batch * x);
    const uint64_t y1 = or_else(v->y_strides[1], inner > 1 ? inner * y0 : s->batch * y);
    const uint64_t w0 = or_else(v->weights_strides[0], s->rows);
    const uint64_t w1 = or_else(v->weights_strides[1], matrices > 1 ? matrices * w0 : s->rows);
    uint64_t number;
    for (uint64_t i = 0; i < p->matrices; ++i) {
        const qk_part part = part_of(v, i % matrices, &number);
        p->weights_of[i] = part.weights + number * w0 + i / matrices * w1;
    }
    for (uint64_t i = 0; i < p->vectors; ++i) {
        const uint64_t m = i % s->batch, a = i / s->batch % inner, b = i / s->batch / inner;
        const qk_part part = part_of(v, a, &number);
        p->x_of[i] = m * x + a * x0 + b * x1;
        p->y_of[i] = p->gated ? 0 : part.y + m * y + number * y0 + b * y1;
        p->vector_of[i] = i;
        p->matrix_of[i] = a / (inner / matrices) + b / (outer / matrices_outer) * matrices;
    }
}

const char *qg_places_of(qg_arena *arena, const qg_views *views, const qg_sum_shape *shape, qg_places *p) {
    enum { MOST = 1 << 24 };
    const qk_views *v = &views->dense;
    const uint64_t sets = shape->experts ? or_else(views->experts.sets, 1) : 1;
    *p = (qg_places){.matrices = shape->experts * sets, .experts = shape->experts};
    if (sets > MOST)
        return qg_format(arena, "there are %llu sets, and must be at most %u", (unsigned long long)sets, MOST);
    if (!shape->experts) {
        for (int d = 0; d < 2; ++d)
            if (or_else(v->batches[d], 1) % or_else(v->weights_batches[d], 1))
                return qg_format(arena, "weights_batches is %llu, and must divide batches, %llu",
                                 (unsigned long long)v->weights_batches[d],
                                 (unsigned long long)or_else(v->batches[d], 1));
        p->matrices = or_else(v->weights_batches[0], 1) * or_else(v->weights_batches[1], 1);
    }
    p->gated = shape->experts ? views->experts.gated : v->gated;
    p->adds_slots = shape->experts && views->experts.adds_slots;
    p->added = p->adds_slots ? shape->slots : 1;
    if (p->adds_slots && sets != 1) return "slots that are added up are of one set";
    const uint64_t products = shape->experts ? 1 : or_else(v->batches[0], 1) * or_else(v->batches[1], 1);
    p->vectors = shape->experts ? sets * shape->batch * shape->slots : products * shape->batch;
    p->x_vectors = shape->experts ? shape->batch * shape->x_slots : p->vectors;
    if (p->gated && (shape->experts ? sets : products * shape->batch) != 2)
        return "gated products are two, of one vector, or of two sets";
    if (p->vectors > MOST || p->matrices > MOST)
        return qg_format(arena, "there are %llu vectors and %llu matrices, and must be at most %u",
                         (unsigned long long)p->vectors, (unsigned long long)p->matrices, MOST);
    p->x_of = QG_NEW_ARRAY(arena, uint64_t, p->x_vectors + 1);
    p->y_of = QG_NEW_ARRAY(arena, uint64_t, p->vectors + 1);
    p->ids_of = QG_NEW_ARRAY(arena, uint64_t, p->vectors + 1);
    p->vector_of = QG_NEW_ARRAY(arena, uint64_t, p->vectors + 1);
    p->matrix_of = QG_NEW_ARRAY(arena, uint64_t, p->vectors + 1);
    p->weights_of = QG_NEW_ARRAY(arena, uint64_t, p->matrices + 1);
    if (shape->experts)
        place_experts(&views->experts, shape, p);
    else
        place_dense(v, shape, p);
    for (uint64_t i = 0; i < p->matrices; ++i) reach(&p->weight_rows, p->weights_of[i], shape->rows);
    for (uint64_t i = 0; i < p->x_vectors; ++i) reach(&p->x_elements, p->x_of[i], shape->cols);
    for (uint64_t i = 0; i < p->vectors; ++i) reach(&p->y_elements, p->y_of[i], shape->rows);
    for (uint64_t i = 0; i < p->vectors && shape->experts; ++i) reach(&p->ids, p->ids_of[i], 1);
    return NULL;
}

uint64_t qg_experts_of_sets(const qg_views *views, uint64_t experts, uint64_t rows) {
    const qk_expert_views *v = &views->experts;
    return experts + (or_else(v->sets, 1) - 1) * or_else(v->weights_set_stride / rows, experts);
}

void qg_matrices_of(const qg_places *p, const uint32_t *ids, uint32_t *matrices) {
    for (uint64_t v = 0; v < p->vectors; ++v) matrices[v] = (uint32_t)qg_matrix_of(p, ids, v);
}

/* ---- results ---- */

float qg_result_at(const void *y, qg_scalar type, uint64_t at) {
    if (type == QG_F32) return ((const float *)y)[at];
    return qg_float_of(type, ((const uint16_t *)y)[at]);
}

void qg_result_store(void *y, qg_scalar type, uint64_t at, float value) {
    if (type == QG_F32)
        ((float *)y)[at] = value;
    else
        ((uint16_t *)y)[at] = (uint16_t)qg_bits_of(type, value);
}
