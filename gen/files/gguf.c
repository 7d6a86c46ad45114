/* GGUF, versions 2 and 3, little-endian: a header, metadata, descriptions of tensors, padding,
 * data. Sizes of tensors are not stated; they follow from the type. */
#include "files/container.h"

#include <stdlib.h>
#include <string.h>

enum { STRING = 8, ARRAY = 9, TYPES = 13, MAX_NESTING = 4, MAX_TENSOR_DIMS = 4, U32 = 4 };
enum { LEAST_PAIR = 8 + 4 + 1, LEAST_TENSOR = 8 + 4 + 4 + 8 }; /* bytes in the file */

static const char damaged[] = "the file is damaged or cut short: fetch it again";

/* Bytes of a metadata value, by its type; 0 for those with a length of their own. */
static const uint8_t value_bytes[TYPES] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};

typedef struct reader {
    qg_arena *arena;
    const uint8_t *file;
    uint64_t length, at;
    uint64_t alignment, alignment_at; /* 0: not stated */
    uint32_t n_pairs, capacity;
    qg_metadata *pairs;
    const char *why;
} reader;

#define FAIL(r, place, ...) ((r)->why = QG_AT((r)->arena, place, __VA_ARGS__), false)

static uint64_t left(const reader *r) { return r->length - r->at; }

static bool take(reader *r, uint32_t bytes, uint64_t *value, const char *what) {
    if (left(r) < bytes)
        return FAIL(r, r->at, "%s needs %u bytes, and the file has %llu more; %s", what, bytes,
                    (unsigned long long)left(r), damaged);
    *value = 0;
    for (uint32_t i = 0; i < bytes; ++i) *value |= (uint64_t)r->file[r->at + i] << (8 * i);
    r->at += bytes;
    return true;
}

static bool take_string(reader *r, const uint8_t **bytes, uint64_t *length, const char *what) {
    const uint64_t place = r->at;
    if (!take(r, 8, length, what)) return false;
    if (*length > left(r))
        return FAIL(r, place, "%s is %llu bytes long, and the file has %llu more; %s", what,
                    (unsigned long long)*length, (unsigned long long)left(r), damaged);
    *bytes = r->file + r->at;
    r->at += *length;
    return true;
}

/* ---- metadata ---- */

static bool skip_value(reader *r, uint64_t type, uint32_t depth);

static bool skip_array(reader *r, uint32_t depth) {
    const uint64_t place = r->at;
    uint64_t type, count;
    if (!take(r, 4, &type, "the type of an array") || !take(r, 8, &count, "the length of an array")) return false;
    if (type >= TYPES) return FAIL(r, place, "an array has values of the unknown type %u; %s", (unsigned)type, damaged);
    if (depth == MAX_NESTING)
        return FAIL(r, place, "arrays are nested deeper than %d; write the model's metadata without them", MAX_NESTING);
    const uint64_t least = type == STRING ? 8 : type == ARRAY ? 12 : value_bytes[type];
    if (count > left(r) / least)
        return FAIL(r, place, "an array has %llu values, for which the file is too short; %s",
                    (unsigned long long)count, damaged);
    if (value_bytes[type]) {
        r->at += count * value_bytes[type];
        return true;
    }
    for (uint64_t i = 0; i < count; ++i)
        if (!skip_value(r, type, depth + 1)) return false;
    return true;
}

static bool skip_value(reader *r, uint64_t type, uint32_t depth) {
    const uint8_t *bytes;
    uint64_t value;
    if (type == STRING) return take_string(r, &bytes, &value, "a text");
    if (type == ARRAY) return skip_array(r, depth);
    return take(r, value_bytes[type], &value, "a value");
}

static bool take_alignment(reader *r, uint64_t type) {
    const uint64_t place = r->at;
    uint64_t value;
    if (r->alignment)
        return FAIL(r, place, "the alignment is stated twice, here and at byte %llu; remove one of them",
                    (unsigned long long)r->alignment_at);
    if (type != U32)
        return FAIL(r, place, "the alignment must be a u32 (type 4), not of type %u; %s", (unsigned)type, damaged);
    if (!take(r, 4, &value, "the alignment")) return false;
    if (value == 0 || (value & (value - 1)))
        return FAIL(r, place, "the alignment is %u, and must be a power of two; %s", (unsigned)value, damaged);
    r->alignment = value;
    r->alignment_at = place;
    return true;
}

static bool read_value(reader *r, const uint8_t *key, uint64_t length) {
    static const char alignment[] = "general.alignment";
    uint64_t type;
    if (!take(r, 4, &type, "the type of a value")) return false;
    if (type >= TYPES)
        return FAIL(r, r->at - 4, "the value of '%s' has the unknown type %u; %s",
                    qg_printable(r->arena, key, length, true), (unsigned)type, damaged);
    if (length == sizeof alignment - 1 && memcmp(key, alignment, length) == 0) return take_alignment(r, type);
    return skip_value(r, type, 0);
}

static bool read_pair(reader *r) {
    qg_metadata pair = {.place = r->at};
    if (!take_string(r, &pair.key, &pair.length, "a key") || !read_value(r, pair.key, pair.length)) return false;
    pair.end = r->at;
    QG_PUSH(r->arena, r->pairs, r->n_pairs, r->capacity, pair);
    return true;
}

/* ---- tensors ---- */

static bool read_dims(reader *r, qg_tensor *t) {
    uint64_t count, extents[MAX_TENSOR_DIMS] = {0};
    if (!take(r, 4, &count, "the number of dimensions")) return false;
    if (count > MAX_TENSOR_DIMS)
        return FAIL(r, r->at - 4, "the tensor '%s' has %u dimensions, and may have %d; %s", t->name, (unsigned)count,
                    MAX_TENSOR_DIMS, damaged);
    const uint64_t place = r->at;
    for (uint64_t i = 0; i < count; ++i)
        if (!take(r, 8, &extents[i], "a dimension")) return false;
    t->elements = 1;
    for (uint64_t i = count; i-- > 0;)
        if (!qg_tensor_dim(t, extents[i]))
            return FAIL(r, place, "the tensor '%s' has more than 2^63 elements; %s", t->name, damaged);
    return true;
}

static bool read_tensor(reader *r, qg_tensor *t) {
    const uint8_t *name;
    uint64_t length, type;
    t->place = r->at;
    if (!take_string(r, &name, &length, "the name of a tensor")) return false;
    if (length > QG_MAX_NAME)
        return FAIL(r, t->place, "the name of a tensor has %llu bytes, and may have %d; %s", (unsigned long long)length,
                    QG_MAX_NAME, damaged);
    t->name = qg_printable(r->arena, name, length, false);
    if (!read_dims(r, t) || !take(r, 4, &type, "the type of a tensor") || !take(r, 8, &t->offset, "an offset"))
        return false;
    t->type = qg_format(r->arena, "%u", (unsigned)type);
    return true;
}

static int by_offset(const void *a, const void *b) {
    const qg_tensor *x = *(const qg_tensor *const *)a, *y = *(const qg_tensor *const *)b;
    if (x->offset != y->offset) return x->offset < y->offset ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

/* Turns offsets into places in the file, and says how much room each tensor has. */
static bool place_tensors(reader *r, qg_container *c) {
    const uint64_t alignment = r->alignment ? r->alignment : 32;
    c->alignment = alignment;
    c->n_pairs = r->n_pairs;
    c->pairs = r->pairs;
    const uint64_t start = (r->at + alignment - 1) & ~(alignment - 1);
    if (c->count && start > r->length)
        return FAIL(r, r->at, "the data should start at byte %llu, after the end of the file; %s",
                    (unsigned long long)start, damaged);
    const qg_tensor **sorted = QG_NEW_ARRAY(r->arena, const qg_tensor *, c->count);
    for (uint32_t i = 0; i < c->count; ++i) {
        qg_tensor *t = &c->tensors[i];
        if (t->offset % alignment)
            return FAIL(r, t->place, "the data of the tensor '%s' is at offset %llu, which is no multiple of %llu; %s",
                        t->name, (unsigned long long)t->offset, (unsigned long long)alignment, damaged);
        if (t->offset > r->length - start)
            return FAIL(r, t->place, "the data of the tensor '%s' is at offset %llu, after the end of the file; %s",
                        t->name, (unsigned long long)t->offset, damaged);
        t->offset += start;
        sorted[i] = t;
    }
    qsort(sorted, c->count, sizeof *sorted, by_offset);
    for (uint32_t i = 0; i < c->count; ++i) {
        const uint64_t end = i + 1 < c->count ? sorted[i + 1]->offset : r->length;
        c->tensors[sorted[i] - c->tensors].bytes = end - sorted[i]->offset;
    }
    return true;
}

static bool read_counts(reader *r, uint64_t *tensors, uint64_t *pairs) {
    uint64_t version;
    r->at = 4; /* the caller saw the magic number */
    if (!take(r, 4, &version, "the version")) return false;
    if (version && (version & 0xFFFF) == 0)
        return FAIL(r, 4, "the file is big-endian; convert it to little-endian, which all but a few files are");
    if (version != 2 && version != 3)
        return FAIL(r, 4, "the file has version %u, and qkgen reads 2 and 3; convert it", (unsigned)version);
    if (!take(r, 8, tensors, "the number of tensors") || !take(r, 8, pairs, "the number of metadata values"))
        return false;
    if (*tensors > left(r) / LEAST_TENSOR || *tensors > UINT32_MAX / 2)
        return FAIL(r, 8, "the file claims %llu tensors, for which it is too short; %s", (unsigned long long)*tensors,
                    damaged);
    if (*pairs > left(r) / LEAST_PAIR)
        return FAIL(r, 16, "the file claims %llu metadata values, for which it is too short; %s",
                    (unsigned long long)*pairs, damaged);
    return true;
}

const char *qg_gguf_read(qg_arena *arena, qg_container *c) {
    reader r = {.arena = arena, .file = c->file, .length = c->length};
    uint64_t tensors, pairs;
    uint32_t capacity = 0;
    c->kind = "gguf";
    c->sized = false;
    if (!read_counts(&r, &tensors, &pairs)) return r.why;
    for (uint64_t i = 0; i < pairs; ++i)
        if (!read_pair(&r)) return r.why;
    for (uint64_t i = 0; i < tensors; ++i) {
        qg_tensor t = {0};
        if (!read_tensor(&r, &t)) return r.why;
        QG_PUSH(arena, c->tensors, c->count, capacity, t);
    }
    return place_tensors(&r, c) ? NULL : r.why;
}
