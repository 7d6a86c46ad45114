/* From written layout to numbers: constants, fields with offsets, codes with absolute bit addresses.
 *
 * The one idea: a layout is arithmetic on digits. Instance j of a code is written in mixed radix by the extents of a
 * slice, least significant digit first, and each digit moves the address by its stride; the bit address is linear in
 * the digits. So the reach of a slice is known without enumeration: base + sum((extent - 1) * stride) + width, and with
 * the negative strides alone how far it goes down. This
 * file establishes that reach, and with it that every address lies in its field; only then may cover.c enumerate the
 * bits, and its work is bounded by the block's size. All arithmetic is done in 64 bits on values kept within 32, so
 * that no extent, stride or product that an author can write wraps around unseen. */
#include "spec/check.h"
#include "spec/lex.h"

#include <string.h>

enum { QG_MAX_RADIX_BITS = 16 }; /* so that products in the decoder stay within 32 bits */

static const int64_t CONSTANT_LIMIT = INT32_MAX;

/* ---- constants ------------------------------------------------------------------------------------------------ */

static const char *list_params(qg_work *work) {
    const qg_spec *spec = work->spec;
    qg_text text = qg_text_new(work->arena);
    for (uint32_t i = 0; i < spec->n_params; i++) {
        qg_text_printf(&text, "%s%s", i == 0 ? ": " : ", ", spec->params[i].name);
    }
    return spec->n_params == 0 ? ", and this format has none" : text.data;
}

static bool eval_name(qg_work *work, const qg_expr *expr, int64_t *value) {
    for (uint32_t i = 0; i < work->spec->n_params; i++) {
        const qg_spec_param *param = &work->spec->params[i];
        if (strcmp(param->name, expr->name) != 0) {
            continue;
        }
        if (param->is_type) {
            qg_error(work->diag, expr->loc, "'%s' is a type, and a number is needed here: use an integer parameter",
                     expr->name);
            return false;
        }
        *value = work->bound[i];
        if (*value > CONSTANT_LIMIT) {
            qg_error(work->diag, expr->loc, "the value of '%s' is larger than 32 bits: make it smaller", expr->name);
            return false;
        }
        return true;
    }
    qg_error(work->diag, expr->loc, "'%s' is not a parameter: a constant is made of integers and parameters%s",
             expr->name, list_params(work));
    return false;
}

static int64_t apply(qg_op op, int64_t a, int64_t b) {
    switch (op) {
    case QG_ADD: return a + b;
    case QG_SUB: return a - b;
    case QG_MUL: return a * b;
    case QG_DIV: return a / b;
    default: return a % b;
    }
}

bool qg_eval(qg_work *work, const qg_expr *expr, int64_t *value) {
    int64_t a = 0, b = 0;
    if (expr->kind == QG_E_NAME) {
        return eval_name(work, expr, value);
    }
    if (expr->kind == QG_E_INT) {
        *value = expr->integer;
    } else if (expr->kind == QG_E_UNARY) {
        if (!qg_eval(work, expr->arg[0], &a)) {
            return false;
        }
        *value = -a;
    } else {
        bool left = qg_eval(work, expr->arg[0], &a);
        if (!qg_eval(work, expr->arg[1], &b) || !left) {
            return false;
        }
        if (b == 0 && (expr->op == QG_DIV || expr->op == QG_MOD)) {
            qg_error(work->diag, expr->loc, "division by zero: the right side is 0 here");
            return false;
        }
        *value = apply(expr->op, a, b);
    }
    if (*value > CONSTANT_LIMIT || *value < -CONSTANT_LIMIT) {
        qg_error(work->diag, expr->loc, "a constant leaves the range of 32 bits: use smaller numbers");
        return false;
    }
    return true;
}

bool qg_eval_within(qg_work *work, const qg_expr *expr, const char *what, int64_t low, int64_t high, uint32_t *value) {
    int64_t exact;
    if (!qg_eval(work, expr, &exact)) {
        return false;
    }
    if (exact < low || exact > high) {
        qg_error(work->diag, expr->loc, "%s is %lld, and must be from %lld to %lld", what, (long long)exact,
                 (long long)low, (long long)high);
        return false;
    }
    *value = (uint32_t)exact;
    return true;
}

bool qg_resolve_type(qg_work *work, const qg_spec_type *type, qg_scalar *scalar) {
    *scalar = qg_scalar_named(type->name, strlen(type->name));
    for (uint32_t i = 0; i < work->spec->n_params && *scalar == QG_SCALAR_COUNT; i++) {
        const qg_spec_param *param = &work->spec->params[i];
        if (param->is_type && strcmp(param->name, type->name) == 0) {
            *scalar = (qg_scalar)work->bound[i];
        }
    }
    if (*scalar == QG_SCALAR_COUNT) {
        qg_error(work->diag, type->loc, "'%s' is not a type: use u8 i8 u16 i16 u32 f16 bf16 f32 or a type parameter",
                 type->name);
        return false;
    }
    return true;
}

/* ---- fields --------------------------------------------------------------------------------------------------- */

/* An array's items, as rows and columns. */
static bool layout_extents(qg_work *work, const qg_spec_field *written, uint32_t most, qg_field *field) {
    const char *const what = "the number of items in an array";
    field->rows = field->columns = 1;
    if (written->columns == NULL) {
        bool good = !field->is_array || qg_eval_within(work, written->count, what, 1, most, &field->count);
        field->columns = field->count;
        return good;
    }
    if (work->view == QG_VIEW_BLOCKS || work->spec->n_header > 0) {
        qg_error(work->diag, written->loc,
                 "array '%s' has two dimensions, and only a block of ROWS x COLUMNS has any use for rows: write the "
                 "number of items",
                 written->name);
        return false;
    }
    if (!qg_eval_within(work, written->count, what, 1, most, &field->rows) ||
        !qg_eval_within(work, written->columns, what, 1, most / field->rows, &field->columns)) {
        return false;
    }
    field->count = field->rows * field->columns;
    return true;
}

static bool layout_field(qg_work *work, const qg_spec_field *written, uint32_t buffer) {
    qg_field field = {
        .name = written->name, .loc = written->loc, .spare = written->spare, .buffer = buffer, .count = 1};
    field.is_array = written->count != NULL;
    if (!qg_resolve_type(work, &written->type, &field.type)) {
        return false;
    }
    uint32_t size = qg_scalars[field.type].bits / 8;
    if (qg_scalars[field.type].bits % 8 != 0) {
        qg_error(
            work->diag, written->type.loc,
            "type %s has %u bits, and a field has whole bytes: make it an array of u8, and let a code of this type "
            "take its bits from there",
            qg_scalars[field.type].name, qg_scalars[field.type].bits);
        return false;
    }
    if (!layout_extents(work, written, QG_MAX_BLOCK_BYTES / size, &field)) {
        return false;
    }
    uint32_t bytes = size * field.count;
    if (bytes > QG_MAX_BLOCK_BYTES - work->block_bytes) {
        qg_error(work->diag, written->loc, "with field '%s' a block has more than %d bytes: make it smaller",
                 written->name, QG_MAX_BLOCK_BYTES);
        return false;
    }
    field.offset = work->buffers[buffer].bytes;
    work->buffers[buffer].bytes += bytes;
    work->block_bytes += bytes;
    work->fields[work->n_fields++] = field;
    return true;
}

static bool layout_block(qg_work *work) {
    const qg_spec *spec = work->spec;
    work->block_rows = 1;
    if (spec->rows == NULL) {
        work->view = spec->n_header > 0 ? QG_VIEW_MATRIX : spec->ragged ? QG_VIEW_SEQUENCE : QG_VIEW_BLOCKS;
        bool good = qg_eval_within(work, spec->elements, "the number of elements in a block", 1, QG_MAX_ELEMENTS,
                                   &work->elements);
        work->block_cols = work->elements;
        return good;
    }
    work->view = spec->apart ? QG_VIEW_GROUPS : QG_VIEW_MATRIX;
    if (!qg_eval_within(work, spec->rows, "the number of rows of a block", 1, QG_MAX_ELEMENTS, &work->block_rows) ||
        !qg_eval_within(work, spec->elements, "the number of columns of a block", 1, QG_MAX_ELEMENTS / work->block_rows,
                        &work->block_cols)) {
        return false;
    }
    work->elements = work->block_rows * work->block_cols;
    return true;
}

bool qg_layout_fields(qg_work *work) {
    const qg_spec *spec = work->spec;
    bool good = layout_block(work);
    uint32_t count = 0;
    for (uint32_t i = 0; i < spec->n_buffers; i++) {
        count += spec->buffers[i].n_fields;
    }
    work->buffers = QG_NEW_ARRAY(work->arena, qg_buffer, spec->n_buffers);
    work->fields = QG_NEW_ARRAY(work->arena, qg_field, count);
    work->codes = QG_NEW_ARRAY(work->arena, qg_code, spec->n_codes + count);
    work->used = QG_NEW_ARRAY(work->arena, bool, spec->n_codes + count);
    for (uint32_t b = 0; b < spec->n_buffers; b++) {
        work->buffers[b].name = spec->buffers[b].name;
        for (uint32_t f = 0; f < spec->buffers[b].n_fields; f++) {
            good &= layout_field(work, &spec->buffers[b].fields[f], b);
        }
    }
    work->cost += 8 * (uint64_t)work->block_bytes;
    return good && qg_layout_tiles(work);
}

/* ---- slices --------------------------------------------------------------------------------------------------- */

uint32_t qg_instance_of(const qg_layout *layout, const qg_code *code, uint32_t element) {
    return (code->of_column ? element % layout->block_cols : element) / code->per;
}

uint32_t qg_slice_address(const qg_slice *slice, uint32_t j) {
    uint32_t bit = slice->bit;
    j -= slice->first;
    for (uint32_t d = 0; d < slice->n_digits; d++) {
        bit += j % slice->digits[d].extent * (uint32_t)slice->digits[d].stride; /* modulo 2^32 */
        j /= slice->digits[d].extent;
    }
    return bit;
}

uint32_t qg_slice_power(const qg_slice *slice, uint32_t j) {
    if (slice->radix == 0) {
        return 0;
    }
    j -= slice->first;
    for (uint32_t d = 0; d < slice->power; d++) {
        j /= slice->digits[d].extent;
    }
    return j % slice->digits[slice->power].extent;
}

bool qg_slice_repeats(const qg_slice *slice, uint32_t j) {
    if (slice->radix == 0 && slice->same == 0) {
        return false;
    }
    if (qg_slice_power(slice, j) > 0) {
        return true;
    }
    j -= slice->first;
    for (uint32_t d = 0; d < slice->n_digits; d++) {
        if ((slice->same >> d & 1) != 0 && j % slice->digits[d].extent > 0) {
            return true;
        }
        j /= slice->digits[d].extent;
    }
    return false;
}

bool qg_has_same(const qg_code *code) {
    for (uint32_t s = 0; s < code->n_slices; s++) {
        if (code->slices[s].same != 0) {
            return true;
        }
    }
    return false;
}

static bool find_field(qg_work *work, const qg_spec_slice *written, uint32_t *at) {
    for (uint32_t i = 0; i < work->n_fields; i++) {
        if (strcmp(work->fields[i].name, written->field) != 0) {
            continue;
        }
        if (work->fields[i].spare) {
            qg_error(work->diag, written->field_loc, "field '%s' is declared spare: remove 'spare' there to use it",
                     written->field);
            return false;
        }
        *at = i;
        return true;
    }
    qg_error(work->diag, written->field_loc, "there is no field '%s' in the block: declare it there", written->field);
    return false;
}

/* Digits with the product of their extents. A digit with '^' or '=' has stride 0. */
static bool layout_digits(qg_work *work, const qg_spec_slice *written, uint32_t per, qg_slice *slice) {
    qg_digit *digits = QG_NEW_ARRAY(work->arena, qg_digit, written->n_digits);
    uint64_t instances = 1;
    for (uint32_t d = 0; d < written->n_digits; d++) {
        const qg_spec_digit *digit = &written->digits[d];
        uint32_t stride = 0;
        if (!qg_eval_within(work, digit->extent, "an extent", 1, 8 * QG_MAX_BLOCK_BYTES, &digits[d].extent) ||
            (digit->stride != NULL && !qg_eval_within(work, digit->stride, "a stride", -8 * QG_MAX_BLOCK_BYTES,
                                                      8 * QG_MAX_BLOCK_BYTES, &stride))) {
            return false;
        }
        if (digit->same && per == 0) {
            qg_error(work->diag, digit->power_loc, "spare bits belong to no instance: write a stride in place of '='");
            return false;
        }
        digits[d].stride = (int32_t)stride;
        slice->same |= (uint32_t)digit->same << d;
        instances *= digits[d].extent;
        if (instances > 8 * QG_MAX_BLOCK_BYTES) {
            qg_error(work->diag, digit->extent->loc,
                     "the extents multiply to more instances than a block can have bits: make them smaller");
            return false;
        }
    }
    slice->digits = digits;
    slice->n_digits = written->n_digits;
    slice->count = (uint32_t)instances;
    return true;
}

/* ---- digits of a base ----------------------------------------------------------------------------------------- */

/* The digit of the index that has '^': exactly one with a base, and none without. */
static bool find_power(qg_work *work, const qg_spec_slice *written, qg_slice *slice) {
    uint32_t found = 0;
    for (uint32_t d = 0; d < written->n_digits; d++) {
        if (written->digits[d].stride != NULL || written->digits[d].same) {
            continue;
        }
        if (written->radix == NULL) {
            qg_error(
                work->diag, written->digits[d].power_loc,
                "'^' chooses among digits of a base, and this slice has plain bits: write a stride, or the base, as "
                "in '8 base 3 @ 0'");
            return false;
        }
        if (found++ > 0) {
            qg_error(work->diag, written->digits[d].power_loc,
                     "a second '^': one digit of the index chooses among the digits of base %u", slice->radix);
            return false;
        }
        slice->power = d;
    }
    if (written->radix != NULL && found == 0) {
        qg_error(work->diag, written->loc,
                 "nothing chooses among the digits of base %u: give one digit of the index '^' in place of a stride",
                 slice->radix);
        return false;
    }
    return true;
}

/* The digits of a base fit the bits: with radix^extent <= 2^width, a fraction rounded up gives every digit back. */
static bool digits_fit(qg_work *work, const qg_spec_slice *written, const qg_slice *slice) {
    const uint32_t extent = slice->digits[slice->power].extent;
    uint32_t most = 0;
    for (uint64_t values = slice->radix; values <= UINT64_C(1) << slice->width; values *= slice->radix) {
        most++;
    }
    if (extent <= most) {
        return true;
    }
    qg_error(work->diag, written->digits[slice->power].extent->loc,
             "%u digits of base %u in %u bits, which hold at most %u: make the slice wider, or the extent smaller",
             extent, slice->radix, slice->width, most);
    return false;
}

static uint32_t bits_of(uint32_t most) {
    uint32_t bits = 0;
    for (; most > 0; most >>= 1) {
        bits++;
    }
    return bits;
}

/* `per` is 0 for spare bits. */
static bool layout_radix(qg_work *work, const qg_spec_slice *written, uint32_t per, qg_slice *slice) {
    slice->bits = slice->width;
    if (written->radix != NULL && per == 0) {
        qg_error(work->diag, written->radix->loc, "spare bits have no digits of a base: leave 'base' out");
        return false;
    }
    if (written->radix != NULL) {
        if (!qg_eval_within(work, written->radix, "the base of digits", 2, 1 << QG_MAX_RADIX_BITS, &slice->radix)) {
            return false;
        }
        slice->bits = bits_of(slice->radix - 1);
    }
    return find_power(work, written, slice) && (written->radix == NULL || digits_fit(work, written, slice));
}

/* ---- places --------------------------------------------------------------------------------------------------- */

/* "element 5", "elements 32 to 63": what instance j serves. */
static const char *served(qg_work *work, uint32_t per, uint32_t j) {
    if (per == 1) {
        return qg_format(work->arena, "element %u", j);
    }
    return qg_format(work->arena, "elements %u to %u", j * per, j * per + per - 1);
}

/* The first bit of instance j, from the start of the field. */
static int64_t address_in_field(const qg_slice *slice, int64_t base, uint64_t j) {
    for (uint32_t d = 0; d < slice->n_digits; d++) {
        base += (int64_t)(j % slice->digits[d].extent) * slice->digits[d].stride;
        j /= slice->digits[d].extent;
    }
    return base;
}

/* The first instance that leaves a field of `bits` bits; there is one. */
static uint64_t first_outside(const qg_slice *slice, int64_t base, int64_t bits, int64_t *bit) {
    for (uint64_t j = 0;; j++) {
        *bit = address_in_field(slice, base, j);
        if (*bit < 0 || *bit + slice->width > bits) {
            return j;
        }
    }
}

/* `per` is 0 for spare bits. */
static void report_outside(qg_work *work, const qg_slice *slice, uint32_t per) {
    const qg_field *field = &work->fields[slice->field];
    uint64_t bits = (uint64_t)field->count * qg_scalars[field->type].bits;
    int64_t bit;
    uint64_t j = slice->first + first_outside(slice, slice->bit - field->offset * 8, (int64_t)bits, &bit);
    const char *whose = per == 0 ? "" : qg_format(work->arena, " (%s)", served(work, per, (uint32_t)j));
    const char *which = qg_format(work->arena, slice->width == 1 ? "bit %lld" : "bits %lld to %lld", (long long)bit,
                                  (long long)(bit + slice->width - 1));
    qg_error(work->diag, slice->loc,
             "%s of instance %llu%s %s outside of field '%s', which has %llu bits: correct the base, an extent or a "
             "stride",
             which, (unsigned long long)j, whose, slice->width == 1 ? "lies" : "lie", field->name,
             (unsigned long long)bits);
    qg_note(work->diag, field->loc, "the field is declared here");
}

/* A slice without its shift, for instances from `first` on. `per` is 0 for spare bits. */
static bool layout_slice(qg_work *work, const qg_spec_slice *written, uint32_t per, uint32_t first, qg_slice *slice) {
    *slice = (qg_slice){.loc = written->loc, .first = first};
    const char *what = written->radix == NULL ? "the width of a slice" : "the width of a slice of digits";
    uint32_t base, highest = per == 0 ? 8 * QG_MAX_BLOCK_BYTES : written->radix == NULL ? 32 : QG_MAX_RADIX_BITS;
    if (!find_field(work, written, &slice->field) ||
        !qg_eval_within(work, written->width, what, 1, highest, &slice->width) ||
        !qg_eval_within(work, written->base, "the first bit of a slice", 0, 8 * QG_MAX_BLOCK_BYTES, &base) ||
        !layout_digits(work, written, per, slice) || !layout_radix(work, written, per, slice)) {
        return false;
    }
    const qg_field *field = &work->fields[slice->field];
    slice->buffer = field->buffer;
    slice->bit = field->offset * 8 + base;
    int64_t lowest = base, reach = (int64_t)base + slice->width;
    for (uint32_t d = 0; d < slice->n_digits; d++) {
        const int64_t way = (int64_t)(slice->digits[d].extent - 1) * slice->digits[d].stride;
        *(way < 0 ? &lowest : &reach) += way;
    }
    if (lowest < 0 || reach > (int64_t)field->count * qg_scalars[field->type].bits) {
        report_outside(work, slice, per);
        return false;
    }
    return true;
}

/* ---- codes ---------------------------------------------------------------------------------------------------- */

/* What the slices of one segment of a code have in common. */
typedef struct qg_segment {
    uint32_t first; /* instance */
    uint32_t width; /* bits of the code */
    uint32_t most;  /* their largest value */
} qg_segment;

static bool layout_per(qg_work *work, const qg_spec_code *written, qg_code *code) {
    code->per = 1;
    if (written->per != NULL && !qg_eval_within(work, written->per, "'per'", 1, QG_MAX_ELEMENTS, &code->per)) {
        return false;
    }
    const uint32_t served_elements = code->of_column ? work->block_cols : work->elements;
    if (served_elements % code->per != 0) {
        qg_error(work->diag, written->per->loc,
                 "'per' is %u, which does not divide the %u %s of a block: every instance of code '%s' must "
                 "serve the same number of elements",
                 code->per, served_elements, code->of_column ? "columns" : "elements", code->name);
        return false;
    }
    code->count = served_elements / code->per;
    return true;
}

/* Bits of a buffer that grows along the columns alone are shared by all rows. */
static bool is_of_column(const qg_work *work, const qg_spec_code *written) {
    for (uint32_t f = 0; f < work->n_fields; f++) {
        const qg_buffer *buffer = &work->buffers[work->fields[f].buffer];
        if (strcmp(work->fields[f].name, written->slices[0].field) == 0) {
            return buffer->n_axes == 1 && buffer->axes[0] == QG_AXIS_COLS;
        }
    }
    return false;
}

/* All instances of the code, or as many as the first slice of a segment. */
static bool covers_all(qg_work *work, const qg_spec_code *written, const qg_code *code, const qg_slice *slice,
                       const qg_slice *first) {
    if (written->n_segments == 1 && slice->count != code->count) {
        qg_error(work->diag, slice->loc,
                 "the extents of this slice cover %u of the %u instances of code '%s' (%u elements, "
                 "%u for each instance): their product must be %u",
                 slice->count, code->count, code->name, work->elements, code->per, code->count);
        return false;
    }
    if (slice->count != first->count && first->count != 0) {
        qg_error(work->diag, slice->loc,
                 "the extents of this slice cover %u instances, and those of the first slice of the segment %u: all "
                 "slices of a segment serve the same instances",
                 slice->count, first->count);
        return false;
    }
    return true;
}

/* The slices [at, end) of one segment, with their shifts; their bits together, and the largest value of those. */
static bool layout_segment(qg_work *work, const qg_spec_code *written, const qg_code *code, qg_slice *slices,
                           uint32_t at, uint32_t end, qg_segment *segment) {
    bool good = true;
    for (uint32_t s = at; s < end; s++) {
        qg_slice *slice = &slices[s];
        good &= layout_slice(work, &written->slices[s], code->per, segment->first, slice) &&
                covers_all(work, written, code, slice, &slices[at]);
        slice->shift = segment->width;
        segment->width += slice->bits;
        const uint64_t most = slice->radix != 0 ? slice->radix - 1 : (UINT64_C(1) << slice->bits) - 1;
        segment->most |= segment->width <= 32 ? (uint32_t)(most << slice->shift) : 0;
    }
    if (good && segment->width > 32) {
        qg_error(work->diag, written->loc, "code '%s' has %u bits, and a code has at most 32: split it into two codes",
                 written->name, (unsigned)segment->width);
        good = false;
    }
    return good;
}

/* The segments one after the other; they give the same bits, and together serve every instance. */
static bool layout_slices(qg_work *work, const qg_spec_code *written, qg_code *code) {
    qg_slice *slices = QG_NEW_ARRAY(work->arena, qg_slice, written->n_slices);
    qg_text lengths = qg_text_new(work->arena);
    bool good = true;
    uint32_t width = 0;
    uint64_t first = 0;
    for (uint32_t at = 0, end = 0; at < written->n_slices && good; at = end) {
        while (end < written->n_slices && written->slices[end].segment == written->slices[at].segment) {
            end++;
        }
        qg_segment segment = {.first = (uint32_t)first};
        good = layout_segment(work, written, code, slices, at, end, &segment);
        if (good && at > 0 && segment.width != width) {
            qg_error(work->diag, slices[at].loc,
                     "this segment gives code '%s' %u bits, and those before give %u: they must be equal", code->name,
                     segment.width, width);
            good = false;
        }
        width = segment.width;
        code->most = segment.most > code->most ? segment.most : code->most;
        first += slices[at].count;
        qg_text_printf(&lengths, "%s%u", at == 0 ? "" : " + ", slices[at].count);
    }
    if (good && first != code->count) {
        qg_error(work->diag, written->loc,
                 "the segments of code '%s' cover %s = %llu instances, and there are %u (%u elements, %u for each "
                 "instance): correct their extents",
                 code->name, lengths.data, (unsigned long long)first, code->count, work->elements, code->per);
        good = false;
    }
    code->width = good ? width : 0;
    code->n_slices = written->n_slices;
    code->slices = slices;
    return good;
}

static bool layout_type(qg_work *work, const qg_spec_code *written, qg_code *code) {
    code->typed = written->type.name != NULL;
    if (!code->typed) {
        return true;
    }
    if (!qg_resolve_type(work, &written->type, &code->type)) {
        return false;
    }
    uint32_t bits = qg_scalars[code->type].bits;
    if (code->width != 0 && bits != code->width) {
        qg_error(work->diag, written->type.loc,
                 "type %s has %u bits, but the slices of code '%s' have %u together: they must be equal",
                 qg_scalars[code->type].name, bits, code->name, code->width);
        return false;
    }
    return true;
}

/* All blocks of a row share its header, so that a code there has one instance. */
static bool fits_header(qg_work *work, const qg_spec_code *written, const qg_code *code) {
    for (uint32_t s = 0; s < code->n_slices; s++) {
        if (code->slices[s].field < work->spec->n_header && code->count > 1) {
            qg_error(work->diag, written->slices[s].loc,
                     "code '%s' has %u instances in a block, and the row's header holds '%s' once for all of its "
                     "blocks: write 'per %u', or move the field into the block",
                     code->name, code->count, work->fields[code->slices[s].field].name, work->elements);
            return false;
        }
    }
    return true;
}

static void layout_code(qg_work *work, const qg_spec_code *written) {
    qg_code code = {.name = written->name, .loc = written->loc, .of_column = is_of_column(work, written)};
    bool good = layout_per(work, written, &code) && layout_slices(work, written, &code);
    if (!layout_type(work, written, &code) || !good || !fits_header(work, written, &code)) {
        code.width = 0;
    }
    work->codes[work->n_codes++] = code;
}

static void add_spare_field(qg_work *work, uint32_t at) {
    const qg_field *field = &work->fields[at];
    work->spares[work->n_spares++] = (qg_slice){.loc = field->loc,
                                                .width = field->count * qg_scalars[field->type].bits,
                                                .bits = field->count * qg_scalars[field->type].bits,
                                                .field = at,
                                                .buffer = field->buffer,
                                                .bit = field->offset * 8,
                                                .count = 1};
}

void qg_layout_codes(qg_work *work) {
    const qg_spec *spec = work->spec;
    uint32_t room = work->n_fields;
    for (uint32_t c = 0; c < spec->n_codes; c++) {
        room += spec->codes[c].spare ? spec->codes[c].n_slices : 0;
    }
    work->spares = QG_NEW_ARRAY(work->arena, qg_slice, room);
    for (uint32_t f = 0; f < work->n_fields; f++) {
        if (work->fields[f].spare) {
            add_spare_field(work, f);
        }
    }
    for (uint32_t c = 0; c < spec->n_codes; c++) {
        const qg_spec_code *written = &spec->codes[c];
        if (!written->spare) {
            layout_code(work, written);
            continue;
        }
        for (uint32_t s = 0; s < written->n_slices; s++) {
            if (layout_slice(work, &written->slices[s], 0, 0, &work->spares[work->n_spares])) {
                work->n_spares++;
            }
        }
    }
}

uint32_t qg_code_of_field(qg_work *work, uint32_t at) {
    const qg_field *field = &work->fields[at];
    for (uint32_t c = 0; c < work->n_codes; c++) {
        if (strcmp(work->codes[c].name, field->name) == 0) {
            return c;
        }
    }
    uint32_t bits = qg_scalars[field->type].bits;
    qg_slice *slice = QG_NEW(work->arena, qg_slice);
    *slice = (qg_slice){.loc = field->loc,
                        .width = bits,
                        .bits = bits,
                        .field = at,
                        .buffer = field->buffer,
                        .bit = field->offset * 8,
                        .count = 1};
    work->codes[work->n_codes] = (qg_code){.name = field->name,
                                           .loc = field->loc,
                                           .typed = true,
                                           .type = field->type,
                                           .width = bits,
                                           .most = (uint32_t)((UINT64_C(1) << bits) - 1),
                                           .per = work->elements,
                                           .count = 1,
                                           .n_slices = 1,
                                           .slices = slice};
    return work->n_codes++;
}
