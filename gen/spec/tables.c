/* Codebooks: values written in the specification, or read from a file beside it. Every value is exact in its type. */
#include "spec/check.h"
#include "spec/lex.h"

#include <math.h>
#include <string.h>

/* The value that a little-endian bit pattern of a type has. */
static double decode(qg_scalar type, uint32_t bits) {
    const qg_scalar_info *info = &qg_scalars[type];
    if (info->kind != QG_FLOATING) {
        bool negative = info->kind == QG_SIGNED && (bits >> (info->bits - 1)) != 0;
        return (double)bits - (negative ? ldexp(1.0, (int)info->bits) : 0.0);
    }
    uint32_t mantissa = bits & ((UINT32_C(1) << info->mantissa_bits) - 1);
    uint32_t top = (UINT32_C(1) << info->exponent_bits) - 1;
    uint32_t exponent = (bits >> info->mantissa_bits) & top;
    double sign = (bits >> (info->bits - 1)) != 0 ? -1.0 : 1.0;
    if (exponent == top) {
        return mantissa == 0 ? sign * HUGE_VAL : NAN;
    }
    uint32_t whole = exponent == 0 ? mantissa : mantissa | (UINT32_C(1) << info->mantissa_bits);
    int shift = (exponent == 0 ? 1 : (int)exponent) - info->bias - (int)info->mantissa_bits;
    return sign * ldexp((double)whole, shift);
}

/* Whether the type has the value: a whole number in range, or enough exponent and mantissa. */
static bool is_exact(qg_scalar type, double value) {
    const qg_scalar_info *info = &qg_scalars[type];
    if (info->kind != QG_FLOATING) {
        double low = info->kind == QG_SIGNED ? -ldexp(1.0, (int)info->bits - 1) : 0.0;
        double high = ldexp(1.0, (int)info->bits - (info->kind == QG_SIGNED ? 1 : 0)) - 1;
        return value >= low && value <= high && floor(value) == value;
    }
    int exponent;
    frexp(value, &exponent);
    int lowest = 1 - info->bias;
    int scale = exponent - 1 < lowest ? lowest : exponent - 1;
    double steps = ldexp(value, (int)info->mantissa_bits - scale);
    return value == 0 || (floor(steps) == steps && exponent - 1 <= info->bias);
}

static bool fill_inline(qg_work *work, const qg_spec_table *written, qg_table *table, double *values, uint32_t count) {
    const char *type = qg_scalars[table->type].name;
    if (written->n_values != count) {
        qg_error(work->diag, written->loc, "table '%s' needs %u values, and %u are written: %s", written->name, count,
                 written->n_values, written->n_values < count ? "add the others" : "remove some or make it larger");
        return false;
    }
    bool good = true;
    for (uint32_t i = 0; i < count && good; i++) {
        values[i] = written->values[i];
        if (!is_exact(table->type, values[i])) {
            qg_error(work->diag, written->value_locs[i], "type %s has no such value: change the number or the type",
                     type);
            good = false;
        }
    }
    return good;
}

static bool is_plain_name(const char *name) {
    return name[0] != '\0' && name[0] != '.' && strpbrk(name, "/\\:") == NULL && strstr(name, "..") == NULL;
}

/* The path of a file beside the specification. */
static const char *beside(qg_work *work, const char *name) {
    const char *path = work->spec->source->path;
    const char *slash = strrchr(path, '/');
    int folder = slash == NULL ? 0 : (int)(slash - path + 1);
    return qg_format(work->arena, "%.*s%s", folder, path, name);
}

static uint32_t little_endian(const unsigned char *bytes, uint32_t count) {
    uint32_t word = 0;
    for (uint32_t i = 0; i < count; i++) {
        word |= (uint32_t)bytes[i] << (8 * i);
    }
    return word;
}

static bool fill_from_file(qg_work *work, const qg_spec_table *written, qg_table *table, double *values,
                           uint32_t count) {
    const qg_scalar_info *info = &qg_scalars[table->type];
    if (!is_plain_name(written->file)) {
        qg_error(work->diag, written->file_loc,
                 "the file of a table lies beside the specification: write its name alone, without a folder, '..' or a "
                 "leading dot");
        return false;
    }
    size_t size, needed = (size_t)count * (info->bits / 8);
    const char *why = NULL;
    const char *data = qg_read_file(work->arena, beside(work, written->file), 4 * QG_MAX_TABLE_VALUES, &size, &why);
    if (data == NULL) {
        qg_error(work->diag, written->file_loc, "%s", why);
        return false;
    }
    if (size != needed) {
        qg_error(work->diag, written->file_loc,
                 "the file has %zu bytes, and table '%s' needs %zu: %u values of type %s", size, written->name, needed,
                 count, info->name);
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        values[i] = decode(table->type,
                           little_endian((const unsigned char *)data + (size_t)i * (info->bits / 8), info->bits / 8));
        if (isnan(values[i])) {
            qg_error(work->diag, written->file_loc, "value %u of the file is not a number: a table holds numbers only",
                     i);
            return false;
        }
    }
    return true;
}

static bool fill_table(qg_work *work, const qg_spec_table *written, qg_table *table) {
    *table = (qg_table){.name = written->name, .loc = written->loc, .columns = 1};
    if (!qg_resolve_type(work, &written->type, &table->type) ||
        !qg_eval_within(work, written->rows, "the number of rows of a table", 1, QG_MAX_TABLE_VALUES, &table->rows)) {
        return false;
    }
    const qg_scalar_info *type = &qg_scalars[table->type];
    if (type->kind == QG_FLOATING && type->bits < 16) {
        qg_error(work->diag, written->type.loc, "a table cannot hold %s: write the numbers as f32", type->name);
        return false;
    }
    if (written->columns != NULL && !qg_eval_within(work, written->columns, "the number of columns of a table", 1,
                                                    QG_MAX_TABLE_VALUES / table->rows, &table->columns)) {
        return false;
    }
    uint32_t count = table->rows * table->columns;
    double *values = QG_NEW_ARRAY(work->arena, double, count);
    work->cost += count;
    table->values = values;
    return written->file != NULL ? fill_from_file(work, written, table, values, count)
                                 : fill_inline(work, written, table, values, count);
}

static qg_range range_of(const qg_table *table) {
    double low = table->values[0], high = table->values[0];
    for (uint32_t i = 1; i < table->rows * table->columns; i++) {
        low = table->values[i] < low ? table->values[i] : low;
        high = table->values[i] > high ? table->values[i] : high;
    }
    return (qg_range){(int64_t)low, (int64_t)high};
}

bool qg_fill_tables(qg_work *work) {
    bool good = true;
    work->tables = QG_NEW_ARRAY(work->arena, qg_table, work->spec->n_tables);
    work->table_ranges = QG_NEW_ARRAY(work->arena, qg_range, work->spec->n_tables);
    work->table_used = QG_NEW_ARRAY(work->arena, bool, work->spec->n_tables);
    for (uint32_t t = 0; t < work->spec->n_tables; t++) {
        if (!fill_table(work, &work->spec->tables[t], &work->tables[t])) {
            work->tables[t].rows = 0; /* the value does not complain about it again */
            good = false;
        } else if (qg_scalars[work->tables[t].type].kind != QG_FLOATING) {
            work->table_ranges[t] = range_of(&work->tables[t]);
        }
    }
    return good;
}
