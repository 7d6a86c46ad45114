/* A harness at one shape: its expressions become numbers. */
#include "judge/harness.h"

#include "spec/value.h"

#include <string.h>

qg_call_shape qg_shape(uint64_t rows, uint64_t cols, uint64_t batch) {
    return (qg_call_shape){.rows = rows, .cols = cols, .batch = batch};
}

qg_call_shape qg_shape_of(const qg_layout *layout, uint64_t rows, uint64_t blocks, uint64_t batch) {
    const uint64_t high = layout->view == QG_VIEW_MATRIX && !layout->ragged ? layout->block_rows : 1;
    return qg_shape((rows + high - 1) / high * high, blocks * layout->block_cols, batch);
}

uint64_t qg_experts(qg_call_shape shape) { return shape.experts ? shape.experts : 1; }

uint64_t qg_slots(qg_call_shape shape) { return shape.slots ? shape.slots : 1; }

typedef struct evaluation {
    const qg_harness *harness;
    qg_call_shape shape;
    bool failed; /* divided by zero */
} evaluation;

static int64_t evaluate(evaluation *v, const qg_expr *e);

static int64_t name_value(evaluation *v, const char *name) {
    const qg_layout *layout = v->harness->layout;
    const uint64_t rows = v->shape.rows, cols = v->shape.cols, elements = rows * cols;
    const uint64_t blocks = qg_blocks_in(layout, rows, cols);
    uint64_t bytes = 0;
    for (uint32_t b = 0; b < layout->n_buffers; ++b) bytes += qg_buffer_bytes(layout, b, rows, cols);
    const struct {
        const char *name;
        uint64_t value;
    } sizes[] = {{"rows", rows},
                 {"cols", cols},
                 {"block_rows", layout->block_rows},
                 {"block_cols", layout->block_cols},
                 {"batch", v->shape.batch},
                 {"elements", elements},
                 {"block_elements", layout->elements},
                 {"block_bytes", layout->block_bytes},
                 {"blocks", blocks},
                 {"weight_bytes", bytes},
                 {"lanes", v->harness->lanes},
                 {"experts", qg_experts(v->shape)},
                 {"slots", qg_slots(v->shape)},
                 {"tokens", v->shape.batch}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i)
        if (!strcmp(sizes[i].name, name)) return (int64_t)sizes[i].value;
    for (uint32_t i = 0; i < v->harness->n_lets; ++i) {
        const qg_harness_let *let = &v->harness->lets[i];
        if (!strcmp(let->name, name)) return let->set ? let->number : evaluate(v, let->value);
    }
    v->failed = true; /* qg_harness_parse has refused it */
    return 0;
}

static int64_t divide(evaluation *v, qg_op op, int64_t a, int64_t b) {
    if (b == 0 || (a == INT64_MIN && b == -1)) {
        v->failed = true;
        return 0;
    }
    return op == QG_DIV ? a / b : a % b;
}

/* Wraps, as the machine does: kernels get the low bits. */
static int64_t binary(evaluation *v, qg_op op, int64_t a, int64_t b) {
    const uint64_t x = (uint64_t)a, y = (uint64_t)b;
    switch (op) {
    case QG_ADD: return (int64_t)(x + y);
    case QG_SUB: return (int64_t)(x - y);
    case QG_MUL: return (int64_t)(x * y);
    case QG_DIV:
    case QG_MOD: return divide(v, op, a, b);
    case QG_SHL: return (int64_t)(x << (y & 63));
    case QG_SHR: return (int64_t)(x >> (y & 63));
    case QG_AND: return (int64_t)(x & y);
    case QG_OR: return (int64_t)(x | y);
    case QG_XOR: return (int64_t)(x ^ y);
    case QG_LT: return a < b;
    case QG_LE: return a <= b;
    case QG_GT: return a > b;
    case QG_GE: return a >= b;
    case QG_EQ: return a == b;
    case QG_NE: return a != b;
    default: v->failed = true; return 0;
    }
}

static int64_t evaluate(evaluation *v, const qg_expr *e) {
    switch (e->kind) {
    case QG_E_INT: return e->integer;
    case QG_E_NAME: return name_value(v, e->name);
    case QG_E_UNARY: return binary(v, QG_SUB, 0, evaluate(v, e->arg[0]));
    case QG_E_SELECT: return evaluate(v, evaluate(v, e->arg[0]) ? e->arg[1] : e->arg[2]);
    case QG_E_BINARY: return binary(v, e->op, evaluate(v, e->arg[0]), evaluate(v, e->arg[1]));
    default: v->failed = true; return 0;
    }
}

static uint32_t number_bytes(qg_number type) {
    static const uint32_t bytes[] = {1, 2, 4, 4, 8, 8, 4};
    return bytes[type];
}

/* Little-endian, as the devices are. */
static void store(unsigned char *to, qg_number type, int64_t value) {
    uint64_t bits = (uint64_t)value;
    if (type == QG_NUMBER_F32) {
        const float real = (float)value;
        uint32_t word;
        memcpy(&word, &real, sizeof word);
        bits = word;
    }
    for (uint32_t i = 0; i < number_bytes(type); ++i) to[i] = (unsigned char)(bits >> (8 * i));
}

/* Lays numbers out as C does; the size of the whole. */
static uint32_t lay_out(evaluation *v, const qg_struct_member *items, uint32_t count, unsigned char *to) {
    uint32_t at = 0, widest = 1;
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t bytes = number_bytes(items[i].type);
        at = (at + bytes - 1) / bytes * bytes;
        store(to + at, items[i].type, evaluate(v, items[i].value));
        at += bytes;
        if (bytes > widest) widest = bytes;
    }
    return (at + widest - 1) / widest * widest;
}

static uint64_t pass_bytes(evaluation *v, const qg_argument *a) {
    const qg_layout *layout = v->harness->layout;
    const qg_call_shape *s = &v->shape;
    const uint64_t size = qg_scalars[a->type].bits / 8;
    switch (a->use) {
    case QG_USE_WEIGHTS: return qg_experts(*s) * qg_buffer_bytes(layout, a->buffer, s->rows, s->cols);
    case QG_USE_X: return s->batch * (a->per_slot ? qg_slots(*s) : 1) * s->cols * size;
    case QG_USE_IDS: return s->batch * qg_slots(*s) * 4;
    case QG_USE_INDICES: return s->batch * 4;
    case QG_USE_Y:
        return size * (v->harness->computes == QG_COMPUTES_VALUES ? s->rows * s->cols
                       : v->harness->computes == QG_COMPUTES_ROWS ? s->batch * s->cols
                                                                  : s->batch * qg_slots(*s) * s->rows);
    default: return 0;
    }
}

/* Values as the specification's table has them, or as numbers of another type. */
static void pass_table(qg_arena *arena, const qg_layout *layout, const qg_argument *a, qg_passed *to) {
    const qg_table *table = &layout->tables[a->table];
    const qg_scalar_info *type = &qg_scalars[table->type];
    const uint32_t count = table->rows * table->columns;
    const uint32_t bytes = a->converted ? number_bytes(a->number) : (type->bits + 7) / 8;
    unsigned char *content = QG_NEW_ARRAY(arena, unsigned char, (uint64_t)count *bytes);
    for (uint32_t i = 0; i < count; ++i) {
        const double value = table->values[i];
        uint64_t bits = type->kind == QG_FLOATING ? qg_bits_of(table->type, (float)value) : (uint64_t)(int64_t)value;
        const float real = (float)value;
        uint32_t word;
        memcpy(&word, &real, sizeof word);
        if (a->converted) bits = a->number == QG_NUMBER_F32 ? word : (uint64_t)(int64_t)value;
        for (uint32_t k = 0; k < bytes; ++k) content[(uint64_t)i * bytes + k] = (unsigned char)(bits >> 8 * k);
    }
    to->bytes = (uint64_t)count * bytes;
    to->content = content;
}

static void pass(qg_arena *arena, evaluation *v, const qg_argument *a, qg_passed *to) {
    *to = (qg_passed){.use = a->use, .index = a->index, .buffer = a->buffer, .type = a->type};
    to->uniform = a->uniform;
    if (a->use == QG_USE_TABLE) {
        pass_table(arena, v->harness->layout, a, to);
    } else if (a->use == QG_USE_STRUCT) {
        unsigned char *content = QG_NEW_ARRAY(arena, unsigned char, QG_MAX_STRUCT);
        to->bytes = lay_out(v, a->items, a->n_items, content);
        to->content = content;
        if (a->uniform) to->bytes = (to->bytes + 15) / 16 * 16; /* of a structure, by std140 */
    } else if (a->use == QG_USE_VALUE) {
        to->value = evaluate(v, a->value);
    } else if (a->use == QG_USE_ZEROS) {
        to->bytes = (uint64_t)evaluate(v, a->value);
    } else {
        to->bytes = pass_bytes(v, a);
    }
}

/* False when a size is none. */
static bool sizes(evaluation *v, const qg_expr *const *from, uint32_t least, uint32_t *to) {
    for (int i = 0; i < 3; ++i) {
        const int64_t n = from[i] ? evaluate(v, from[i]) : i == 0 ? (int64_t)least : 1;
        if (n < (int64_t)(from[i] ? 1 : least) || n > INT32_MAX) return false;
        to[i] = (uint32_t)n;
    }
    return true;
}

const char *qg_harness_call(qg_arena *arena, const qg_harness *h, qg_call_shape shape, qg_call *call, bool *broken) {
    evaluation v = {.harness = h, .shape = shape};
    memset(call, 0, sizeof *call);
    call->shape = shape;
    *broken = false;
    for (uint32_t i = 0; i < h->n_needs; ++i)
        if (!evaluate(&v, h->needs[i].value)) return h->needs[i].why;
    *broken = true;
    call->n_passed = h->n_arguments;
    for (uint32_t i = 0; i < h->n_arguments; ++i) pass(arena, &v, &h->arguments[i], &call->passed[i]);
    call->push_bytes = lay_out(&v, h->push, h->n_push, call->push);
    call->n_constants = h->n_constants;
    for (uint32_t i = 0; i < h->n_constants; ++i) {
        call->constants[i] = (qg_constant_value){h->constants[i].id, number_bytes(h->constants[i].member.type), {0}};
        store(call->constants[i].value, h->constants[i].member.type, evaluate(&v, h->constants[i].member.value));
    }
    call->n_threadgroup = h->n_threadgroup;
    for (uint32_t i = 0; i < h->n_threadgroup; ++i) {
        call->threadgroup_index[i] = h->threadgroup[i].index;
        call->threadgroup_bytes[i] = (uint64_t)evaluate(&v, h->threadgroup[i].value);
    }
    const bool group = sizes(&v, h->group, 0, call->group), grid = sizes(&v, h->grid, 1, call->grid);
    if (v.failed) return "an expression divides by zero";
    if (!group) return "`group` is not from 1 to 2147483647 here";
    if (!grid) return "`grid` is not from 1 to 2147483647 here";
    *broken = false;
    return NULL;
}
