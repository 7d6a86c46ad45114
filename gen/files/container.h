/* container.h: model files. A reader (gguf.c, safetensors.c) checks a container and lists its tensors; rules, which are
 * data (formats/containers.txt), say which format each of them has.
 *
 * Files are hostile: nothing is read beyond `length`, and what is allocated is bounded by what was read. Functions that
 * return `const char *` return NULL, or a sentence: `byte N: what is wrong; what to do`. */
#ifndef QKGEN_CONTAINER_H
#define QKGEN_CONTAINER_H

#include "spec/library.h"

enum { QG_MAX_DIMS = 8, QG_MAX_NAME = 1024 };

/* A tensor as its container describes it. */
typedef struct qg_tensor {
    const char *name;           /* control characters are written as \xNN */
    const char *type;           /* as the container says it: "12", "BF16" */
    uint64_t place;             /* the byte of the file that describes it */
    uint64_t offset;            /* of its data, from the start of the file */
    uint64_t bytes;             /* up to the next tensor, when the container states no size */
    uint64_t elements;          /* the product of the shape; at most 2^63 */
    uint32_t n_dims;            /* the last one is contiguous */
    uint64_t dims[QG_MAX_DIMS]; /* outermost first */
} qg_tensor;

/* A value of GGUF's metadata, with its key: where it lies in the file. */
typedef struct qg_metadata {
    const uint8_t *key; /* `length` bytes */
    uint64_t length;
    uint64_t place, end; /* of the whole pair */
} qg_metadata;

typedef struct qg_container {
    const char *kind; /* "gguf" or "safetensors": the word that rules start with */
    const uint8_t *file;
    uint64_t length;
    bool sized; /* tensors state their size; else `bytes` is the room that they have */
    uint32_t count;
    qg_tensor *tensors;        /* in the order of the file's header */
    const qg_tensor **by_name; /* sorted */
    uint32_t n_pairs;          /* GGUF */
    const qg_metadata *pairs;
    uint64_t alignment; /* of its data */
} qg_container;

/* Reads a container from memory; finds its kind by its first bytes. */
const char *qg_container_read(qg_arena *arena, const void *file, uint64_t length, qg_container *container);
/* The tensor of that name, or NULL. */
const qg_tensor *qg_container_find(const qg_container *container, const char *name);

/* ---- writing GGUF ----------------------------------------------------------------------------------------------- */

/* What a tensor is to be in a file that is written. */
typedef struct qg_written {
    const char *type; /* its number, as text */
    uint64_t bytes;
    uint64_t offset; /* from the start of the file: qg_gguf_head sets it */
} qg_written;

/* A u32 that takes the place of the value of that name, or stands behind all others; or a value that is left out. */
typedef struct qg_number {
    const char *key;
    uint32_t value;
    bool leaves_out;
} qg_number;

/* Adds to `head` all that stands in front of the data, padded, of a GGUF file like `from`: its metadata byte for byte,
 * but for `numbers`; its tensors in their order, each with what `tensors` says of it. Returns the length of the whole
 * file. */
uint64_t qg_gguf_head(const qg_container *from, qg_written *tensors, uint32_t n_numbers, const qg_number *numbers,
                      qg_text *head);

/* ---- rules and settings: which format a tensor has -------------------------------------------------------------- */

typedef struct qg_rules qg_rules;

qg_rules *qg_rules_new(qg_arena *arena);
/* Adds the lines of a rule file; where several lines speak of one type, the first that was added counts. The sentence
 * begins with the path and the line. */
const char *qg_rules_add(qg_rules *rules, const char *path);

/* Values of parameters that shapes leave open, where several formats fit a tensor. */
typedef struct qg_setting {
    const char *module; /* the name of the tensor without its suffix; "" for all */
    const char *name, *value;
} qg_setting;

typedef struct qg_settings {
    uint32_t count, capacity;
    qg_setting *items;
} qg_settings;

/* What a rule file calls our name of something: the type of a container, or, of "file-type", the number that GGUF has
 * for files that are mostly of it. NULL where no rule says. */
const char *qg_rules_number(const qg_rules *rules, const char *of, const char *name);
/* Why a tensor of that name is not converted where nobody names it: a pattern, or a sentence; NULL where it is. */
const char *qg_rules_keep(const qg_rules *rules, const char *tensor);

/* Adds what a model's JSON configuration says, sorted by module. */
const char *qg_settings_read(qg_arena *arena, const qg_rules *rules, const char *text, size_t length,
                             qg_settings *settings);
/* Adds the values of some keys of a JSON object, under the names of their parameters, as settings of all modules. */
const char *qg_settings_object(qg_arena *arena, const char *text, size_t length, uint32_t count,
                               const char *const *parameters, const char *const *keys, qg_settings *settings);
/* For qg_settings_read: the rules' name for a key of an object of the configuration, or NULL; and whether a rule speaks
 * of an object or of one within it, which is written OUTER.INNER. */
const char *qg_rules_parameter(const qg_rules *rules, const char *object, const char *key);
bool qg_rules_object(const qg_rules *rules, const char *object);

/* One weight of a model: one tensor, or several that are the buffers of one format. */
typedef struct qg_weight {
    const char *name;         /* of its first tensor */
    const char *stem;         /* without the suffix; what --tensor takes beside the name */
    uint64_t place;           /* the byte of the file that describes it */
    const char *format;       /* the name of the format, known or not, or the container's type */
    const qg_layout *layout;  /* NULL: plain, or not known */
    qg_scalar plain;          /* QG_SCALAR_COUNT: not plain */
    const char *verdict;      /* why no format was chosen although rules name some, in a word or two; NULL else */
    const char *problem;      /* the same as a sentence, which begins after the name */
    const void *const *data;  /* one pointer for each buffer of the layout; one pointer when plain */
    uint64_t bytes, elements; /* bytes of all buffers; 0 when not known */
    uint64_t rows, cols;      /* where blocks are patches of a matrix; their product is below 2^32 */
    uint32_t n_dims;
    uint64_t dims[QG_MAX_DIMS];
} qg_weight;

typedef struct qg_weights {
    uint32_t count, capacity;
    qg_weight *items;
} qg_weights;

/* Finds the format of every tensor, and proves that the data of those with a known one lies inside the file. `said` are
 * the user's settings; they go before those of the model's configuration. */
const char *qg_container_map(qg_arena *arena, const qg_container *container, const qg_rules *rules,
                             const qg_library *library, const qg_settings *said, const qg_settings *configured,
                             qg_weights *weights);

/* ---- for the readers ------------------------------------------------------------------------------------------- */

#define QG_AT(arena, at, ...)                                                                                          \
    qg_format((arena), "byte %llu: %s", (unsigned long long)(at), qg_format((arena), __VA_ARGS__))

const char *qg_gguf_read(qg_arena *arena, qg_container *container);
const char *qg_safetensors_read(qg_arena *arena, qg_container *container);
/* A name from a file as text that a terminal can show; at most 80 bytes of it when it is for a message. */
const char *qg_printable(qg_arena *arena, const void *bytes, uint64_t length, bool message);
/* Adds a dimension behind the others; false when there are too many, or the product exceeds 2^63. */
bool qg_tensor_dim(qg_tensor *tensor, uint64_t extent);

#endif
