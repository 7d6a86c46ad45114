/* rules.h: the lines of formats/containers.txt, and the numbers that tensors' shapes make: what the
 * mapper of container.c works with. */
#ifndef QKGEN_RULES_H
#define QKGEN_RULES_H

#include "files/container.h"

enum { QG_MAX_PARTS = 8 }; /* tensors of one weight, conditions, and keys, in one rule */

/* `gguf 12 FORMAT`: a type of a container, and the format or scalar that it is. `file-type 15 FORMAT`: the number of a
 * file that is mostly of it. */
typedef struct qg_type_rule {
    const char *container, *type, *name;
} qg_type_rule;

/* `PARAMETER=VALUE`, which something must say, or `PARAMETER=VALUE?`, which nothing may contradict. */
typedef struct qg_condition {
    const char *parameter, *value;
    bool needed;
} qg_condition;

/* `tensors FORMAT BUFFER=SUFFIX:TYPE ... !SUFFIX PARAMETER=VALUE`: one weight in several tensors. */
typedef struct qg_set_rule {
    const char *format;
    uint32_t n_buffers;
    const char *buffer[QG_MAX_PARTS], *suffix[QG_MAX_PARTS], *type[QG_MAX_PARTS];
    uint32_t n_absent;
    const char *absent[QG_MAX_PARTS]; /* suffixes of tensors that must not be there */
    uint32_t n_conditions;
    qg_condition conditions[QG_MAX_PARTS];
} qg_set_rule;

/* `beside SUFFIX:TYPE PARAMETER` or `beside SUFFIX:TYPE PARAMETER=KEY ...`: a tensor that tells about a weight. */
typedef struct qg_beside_rule {
    const char *suffix, *type;
    const char *numbers; /* the parameter that its numbers are; NULL else */
    uint32_t n_keys;     /* it is the text of a JSON object then */
    const char *parameters[QG_MAX_PARTS], *keys[QG_MAX_PARTS];
} qg_beside_rule;

/* `config OBJECT PARAMETER=KEY`: what a model's configuration calls a parameter. */
typedef struct qg_config_rule {
    const char *object, *parameter, *key;
} qg_config_rule;

struct qg_rules {
    qg_arena *arena;
    struct {
        uint32_t count, capacity;
        qg_type_rule *items;
    } types;
    struct {
        uint32_t count, capacity;
        qg_set_rule *items;
    } sets;
    struct {
        uint32_t count, capacity;
        qg_beside_rule *items;
    } besides;
    struct {
        uint32_t count, capacity;
        qg_config_rule *items;
    } configs;
    qg_texts names;           /* `name TEXT`: what a tensor is called that is named after its parameters */
    qg_texts converts, keeps; /* `convert PATTERN` and `keep PATTERN`: names of tensors */
};

/* Our name of a container's type, or NULL. */
const char *qg_rules_type(const qg_rules *rules, const char *container, const char *type);
/* Whether a type is one of those that a rule lists, `A|B`. */
bool qg_type_listed(const char *list, const char *type);

/* ---- shapes.c ---- */

/* The shape of a weight. */
typedef struct qg_shape {
    uint64_t elements;
    uint64_t rows, cols; /* where blocks are patches of a matrix */
    uint32_t n_dims;
    uint64_t dims[QG_MAX_DIMS];
} qg_shape;

/* The shape that a weight has whose buffers are these tensors, in the order of the layout; false when they are not
 * those of one. Where the tensors leave it open, `said` is asked, "ROWSxCOLS" or NULL; else it is the largest. */
bool qg_shape_solve(const qg_layout *layout, const qg_tensor *const *tensors, const char *said, qg_shape *shape);

#endif
