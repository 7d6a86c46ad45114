/* Tables as words of memory: how many bits a value has there, and what the words are. */
#include "ir/ir.h"

#include <string.h>

/* Of a table's values, eight in a word, where so many suffice. */
enum { NARROW_BITS = 4 };

/* Whether rows of bytes are whole words of half as many bits, which stand for so much more than *least. */
static bool is_narrow(const qg_table *table, double *least) {
    const qg_scalar_info *type = &qg_scalars[table->type];
    double greatest = *least = table->values[0];
    if (type->kind == QG_FLOATING || type->bits != 8 || table->columns % (32 / NARROW_BITS)) return false;
    for (uint32_t i = 0; i < table->rows * table->columns && greatest - *least < 1 << NARROW_BITS; ++i) {
        if (table->values[i] < *least) *least = table->values[i];
        if (table->values[i] > greatest) greatest = table->values[i];
    }
    return greatest - *least < 1 << NARROW_BITS;
}

uint32_t qg_table_bits(const qg_table *table) {
    const qg_scalar_info *type = &qg_scalars[table->type];
    double least;
    if (type->kind == QG_FLOATING || table->columns == 1) return 32;
    return is_narrow(table, &least) ? NARROW_BITS : type->bits;
}

int32_t qg_table_offset(const qg_table *table) {
    double least;
    return is_narrow(table, &least) ? (int32_t)least : 0;
}

uint32_t qg_table_size(const qg_table *table) {
    const uint32_t in_word = 32 / qg_table_bits(table);
    return (table->rows * table->columns + in_word - 1) / in_word;
}

const uint32_t *qg_table_words(qg_arena *arena, const qg_table *table, uint32_t *bytes) {
    const uint32_t count = table->rows * table->columns, width = qg_table_bits(table), in_word = 32 / width;
    const int32_t offset = qg_table_offset(table);
    *bytes = qg_table_size(table) * 4;
    uint32_t *words = QG_NEW_ARRAY(arena, uint32_t, *bytes / 4);
    for (uint32_t i = 0; i < count; ++i) {
        const float value = (float)table->values[i];
        uint32_t bits = (uint32_t)((int64_t)table->values[i] - offset);
        if (qg_scalars[table->type].kind == QG_FLOATING) memcpy(&bits, &value, sizeof bits);
        if (width < 32) bits &= (UINT32_C(1) << width) - 1;
        words[i / in_word] |= bits << (i % in_word * width);
    }
    return words;
}

const char *qg_table_packing(qg_arena *arena, const qg_table *table) {
    const char *type = qg_scalars[table->type].name;
    const uint32_t bits = qg_table_bits(table);
    if (bits >= qg_scalars[table->type].bits) return qg_format(arena, "%s, packed", type);
    return qg_format(arena, "%s from %d on, in %u bits each", type, (int)qg_table_offset(table), bits);
}
