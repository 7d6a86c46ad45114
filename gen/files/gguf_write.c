/* Writing GGUF: the head of a file that is like another, but for types, places, and some numbers. */
#include "files/container.h"

#include <stdlib.h>
#include <string.h>

enum { COUNTS = 8, U32 = 4, TYPE_AND_OFFSET = 4 + 8 }; /* where counts stand, behind magic number and version */

static void put(qg_text *head, uint64_t value, uint32_t bytes) {
    char little[8];
    for (uint32_t i = 0; i < bytes; ++i) little[i] = (char)(value >> (8 * i) & 0xFF);
    qg_text_add(head, little, bytes);
}

static void copy(const qg_container *from, uint64_t place, uint64_t end, qg_text *head) {
    qg_text_add(head, (const char *)from->file + place, (size_t)(end - place));
}

static void pad(qg_text *head, uint64_t alignment) {
    static const char zeros[64];
    for (uint64_t left = -head->length & (alignment - 1), n; left > 0; left -= n) {
        n = left < sizeof zeros ? left : sizeof zeros;
        qg_text_add(head, zeros, (size_t)n);
    }
}

static bool is_named(const qg_metadata *pair, const char *key) {
    return pair->length == strlen(key) && memcmp(pair->key, key, pair->length) == 0;
}

static bool is_one_of(const qg_metadata *pair, uint32_t count, const qg_number *numbers) {
    for (uint32_t i = 0; i < count; ++i)
        if (is_named(pair, numbers[i].key)) return true;
    return false;
}

static void put_number(const qg_number *number, qg_text *head) {
    put(head, strlen(number->key), 8);
    qg_text_puts(head, number->key);
    put(head, U32, 4);
    put(head, number->value, 4);
}

/* In its place where the file has it; its first one, should it have several. */
static void put_pair(const qg_container *from, uint32_t i, uint32_t count, const qg_number *numbers, qg_text *head) {
    const qg_metadata *pair = &from->pairs[i];
    if (!is_one_of(pair, count, numbers)) {
        copy(from, pair->place, pair->end, head);
        return;
    }
    for (uint32_t n = 0; n < count; ++n) {
        bool first = is_named(pair, numbers[n].key) && !numbers[n].leaves_out;
        for (uint32_t k = 0; k < i && first; ++k) first = !is_named(&from->pairs[k], numbers[n].key);
        if (first) put_number(&numbers[n], head);
    }
}

/* How many pairs there will be, and whether number `n` is not yet among them. */
static uint64_t count_pairs(const qg_container *from, uint32_t count, const qg_number *numbers, bool *new) {
    uint64_t pairs = 0;
    for (uint32_t i = 0; i < from->n_pairs; ++i) pairs += !is_one_of(&from->pairs[i], count, numbers);
    for (uint32_t n = 0; n < count; ++n) {
        new[n] = !numbers[n].leaves_out;
        pairs += !numbers[n].leaves_out;
        for (uint32_t i = 0; i < from->n_pairs; ++i)
            if (is_named(&from->pairs[i], numbers[n].key)) new[n] = false;
    }
    return pairs;
}

/* The end of a tensor's name and dimensions, where its type stands. */
static uint64_t end_of_shape(const qg_container *from, const qg_tensor *t) {
    uint64_t length = 0;
    for (uint32_t i = 0; i < 8; ++i) length |= (uint64_t)from->file[t->place + i] << (8 * i);
    return t->place + 8 + length + 4 + 8 * (uint64_t)t->n_dims;
}

uint64_t qg_gguf_head(const qg_container *from, qg_written *tensors, uint32_t n_numbers, const qg_number *numbers,
                      qg_text *head) {
    const uint64_t alignment = from->alignment;
    bool *new = QG_NEW_ARRAY(head->arena, bool, n_numbers + 1);
    uint64_t offset = 0;
    copy(from, 0, COUNTS, head);
    put(head, from->count, 8);
    put(head, count_pairs(from, n_numbers, numbers, new), 8);
    for (uint32_t i = 0; i < from->n_pairs; ++i) put_pair(from, i, n_numbers, numbers, head);
    for (uint32_t n = 0; n < n_numbers; ++n)
        if (new[n]) put_number(&numbers[n], head);
    for (uint32_t i = 0; i < from->count; ++i) {
        copy(from, from->tensors[i].place, end_of_shape(from, &from->tensors[i]), head);
        put(head, strtoul(tensors[i].type, NULL, 10), 4);
        put(head, offset, 8);
        tensors[i].offset = offset;
        offset += (tensors[i].bytes + alignment - 1) & ~(alignment - 1);
    }
    if (from->count) pad(head, alignment);
    for (uint32_t i = 0; i < from->count; ++i) tensors[i].offset += head->length;
    return head->length + offset;
}
