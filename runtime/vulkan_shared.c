/* The shared memory that a workgroup of a specialised module takes. A driver need not refuse a pipeline that takes more than the device
 * has: there are some whose device is lost at its first launch. So it is added up before, from the module itself and the values of its
 * constants. */
#include "vulkan_internal.h"

#include <stdlib.h>

enum {
    HEADER_WORDS = 5,
    OP_TYPE_BOOL = 20,
    OP_TYPE_INT = 21,
    OP_TYPE_FLOAT = 22,
    OP_TYPE_VECTOR = 23,
    OP_TYPE_ARRAY = 28,
    OP_TYPE_STRUCT = 30,
    OP_TYPE_POINTER = 32,
    OP_CONSTANT_TRUE = 41,
    OP_CONSTANT = 43,
    OP_CONSTANT_COMPOSITE = 44,
    OP_SPEC_CONSTANT_TRUE = 48,
    OP_SPEC_CONSTANT = 50,
    OP_SPEC_CONSTANT_COMPOSITE = 51,
    OP_SPEC_CONSTANT_OP = 52,
    OP_FUNCTION = 54,
    OP_VARIABLE = 59,
    OP_DECORATE = 71,
    OP_COMPOSITE_EXTRACT = 81,
    OP_SELECT = 169,
    DECORATION_SPEC_ID = 1,
    STORAGE_WORKGROUP = 4,
    VARIABLE_ALIGNMENT = 16
};

/* What is known of an id: the bytes of a type, or the value of a constant. */
typedef struct known {
    uint64_t bytes;
    uint32_t value;
    uint32_t constant;    /* SpecId plus 1; 0: none */
    const uint32_t *made; /* the instruction of a pointer or composite */
    int is_value;
} known;

typedef struct module {
    const qk_kernel *kernel;
    const uint32_t *values;
    known *ids;
    uint32_t bound;
    uint64_t shared;
    int failed;
} module;

static known *id_of(module *m, uint32_t id) {
    static known nothing;
    if (id < m->bound)
        return &m->ids[id];
    m->failed = 1;
    nothing = (known){0, 0, 0, NULL, 0};
    return &nothing;
}

static uint32_t value_of(module *m, uint32_t id) {
    const known *k = id_of(m, id);
    if (!k->is_value)
        m->failed = 1;
    return k->value;
}

static void set_value(module *m, uint32_t id, uint32_t value) {
    known *k = id_of(m, id);
    k->value = value;
    k->is_value = 1;
    for (uint32_t i = 0; k->constant != 0 && i < m->kernel->spec_constant_count; i++)
        if (m->kernel->spec_constants[i].id == k->constant - 1)
            k->value = m->values[i];
}

/* The result of an operation on unsigned integers and booleans; `*known_op` is cleared for any other. */
static uint32_t compute(uint32_t op, uint32_t a, uint32_t b, int *known_op) {
    switch (op) {
    case 113: /* UConvert */
    case 124: /* Bitcast */
        return a;
    case 126:
        return 0u - a;
    case 128:
        return a + b;
    case 130:
        return a - b;
    case 132:
        return a * b;
    case 134:
        return b != 0 ? a / b : 0;
    case 137:
        return b != 0 ? a % b : 0;
    case 166:
        return a || b;
    case 167:
        return a && b;
    case 168:
        return !a;
    case 164: /* LogicalEqual */
    case 170:
        return a == b;
    case 165:
    case 171:
        return a != b;
    case 172:
        return a > b;
    case 174:
        return a >= b;
    case 176:
        return a < b;
    case 178:
        return a <= b;
    case 194:
        return b < 32 ? a >> b : 0;
    case 196:
        return b < 32 ? a << b : 0;
    case 197:
        return a | b;
    case 198:
        return a ^ b;
    case 199:
        return a & b;
    case 200:
        return ~a;
    default:
        *known_op = 0;
        return 0;
    }
}

/* Words: head, type, result, operation, operands. What floats are made of stays unknown, for no size depends on it. */
static void spec_constant_op(module *m, const uint32_t *w, uint32_t length) {
    const uint32_t op = length > 3 ? w[3] : 0;
    known *result = length > 4 ? id_of(m, w[2]) : NULL;
    if (result == NULL)
        return;
    if (op == OP_COMPOSITE_EXTRACT && length == 6) {
        const uint32_t *made = id_of(m, w[4])->made;
        if (made != NULL && 3 + w[5] < made[0] >> 16) {
            *result = *id_of(m, made[3 + w[5]]);
            result->constant = 0;
        }
        return;
    }
    int known_op = 1;
    const known *a = id_of(m, w[4]), *b = length > 5 ? id_of(m, w[5]) : a, *c = length > 6 ? id_of(m, w[6]) : a;
    if (!a->is_value || !b->is_value || !c->is_value)
        return;
    const uint32_t value =
        op == OP_SELECT ? (a->value ? b->value : c->value) : compute(op, a->value, b->value, &known_op);
    if (known_op)
        set_value(m, w[2], value);
}

static void type_of(module *m, uint32_t op, const uint32_t *w, uint32_t length) {
    uint64_t bytes = 0;
    if (op == OP_TYPE_BOOL)
        bytes = 4;
    else if (op == OP_TYPE_INT || op == OP_TYPE_FLOAT)
        bytes = w[2] / 8;
    else if (op == OP_TYPE_VECTOR)
        bytes = id_of(m, w[2])->bytes * w[3];
    else if (op == OP_TYPE_ARRAY)
        bytes = id_of(m, w[3])->is_value ? id_of(m, w[2])->bytes * value_of(m, w[3]) : UINT64_MAX;
    for (uint32_t i = 2; op == OP_TYPE_STRUCT && i < length; i++)
        bytes += id_of(m, w[i])->bytes;
    id_of(m, w[1])->bytes = bytes;
}

static void variable(module *m, const uint32_t *w) {
    if (w[3] != STORAGE_WORKGROUP)
        return;
    const uint32_t *pointer = id_of(m, w[1])->made;
    const uint64_t bytes = pointer != NULL ? id_of(m, pointer[3])->bytes : UINT64_MAX;
    if (bytes >= UINT32_MAX)
        m->failed = 1;
    else
        m->shared += (bytes + VARIABLE_ALIGNMENT - 1) / VARIABLE_ALIGNMENT * VARIABLE_ALIGNMENT;
}

static void instruction(module *m, uint32_t op, const uint32_t *w, uint32_t length) {
    if (op == OP_DECORATE && length == 4 && w[2] == DECORATION_SPEC_ID)
        id_of(m, w[1])->constant = w[3] + 1;
    else if (op >= OP_TYPE_BOOL && op <= OP_TYPE_STRUCT &&
             length >= (op == OP_TYPE_VECTOR || op == OP_TYPE_ARRAY ? 4u : 2u))
        type_of(m, op, w, length);
    else if (op == OP_TYPE_POINTER && length == 4)
        id_of(m, w[1])->made = w;
    else if ((op == OP_CONSTANT || op == OP_SPEC_CONSTANT) && length == 4)
        set_value(m, w[2], w[3]);
    else if (length == 3 && (op == OP_CONSTANT_TRUE || op == OP_CONSTANT_TRUE + 1 || op == OP_SPEC_CONSTANT_TRUE ||
                             op == OP_SPEC_CONSTANT_TRUE + 1))
        set_value(m, w[2], op == OP_CONSTANT_TRUE || op == OP_SPEC_CONSTANT_TRUE);
    else if ((op == OP_CONSTANT_COMPOSITE || op == OP_SPEC_CONSTANT_COMPOSITE) && length > 3)
        id_of(m, w[2])->made = w;
    else if (op == OP_SPEC_CONSTANT_OP)
        spec_constant_op(m, w, length);
    else if (op == OP_VARIABLE && length >= 4)
        variable(m, w);
}

int qk_vk_shared_bytes(const qk_kernel *kernel, const uint32_t *values, uint64_t *bytes) {
    const qk_code *code = qk_code_of(kernel, values);
    const uint32_t *words = (const uint32_t *)code->data;
    const size_t count = code->bytes / 4;
    module m = {kernel, values, NULL, 0, 0, 0};
    if (count < HEADER_WORDS || words[3] > 4 * count)
        return 0;
    m.bound = words[3];
    m.ids = (known *)calloc((size_t)m.bound + 1, sizeof *m.ids);
    if (m.ids == NULL)
        return 0;
    for (size_t at = HEADER_WORDS; at < count && !m.failed;) {
        const uint32_t op = words[at] & 0xFFFF, length = words[at] >> 16;
        if (length == 0 || length > count - at)
            m.failed = 1;
        if (m.failed || op == OP_FUNCTION)
            break;
        instruction(&m, op, words + at, length);
        at += length;
    }
    free(m.ids);
    *bytes = m.shared;
    return !m.failed;
}
