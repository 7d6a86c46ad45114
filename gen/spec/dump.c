/* The first two stages as text. */
#include "spec/spec.h"

#include <string.h>

/* ---- specification -------------------------------------------------------------------------------------------- */

static const char *op_name(qg_op op) {
    static const char *const names[QG_OP_COUNT] = {
#define O(id, name, arity, rule, strength, glsl, msl, c) name,
#include "spec/ops.def"
#undef O
    };
    return names[op];
}

/* The shortest decimal that reads back as the same f32. */
static void put_float(qg_text *text, double value) {
    char digits[64];
    for (int precision = 1; precision <= 9; precision++) {
        snprintf(digits, sizeof digits, "%.*g", precision, value);
        float back = 0;
        if (sscanf(digits, "%f", &back) == 1 && (double)back == value) {
            break;
        }
    }
    qg_text_puts(text, digits);
    if (strpbrk(digits, ".ein") == NULL) {
        qg_text_puts(text, ".0");
    }
}

static void put_expr(qg_text *text, const qg_expr *expr);

/* An operand: in parentheses unless it is a leaf. The depth is bounded by the parser. */
static void put_operand(qg_text *text, const qg_expr *expr) {
    bool leaf = expr->kind != QG_E_UNARY && expr->kind != QG_E_BINARY && expr->kind != QG_E_SELECT;
    qg_text_puts(text, leaf ? "" : "(");
    put_expr(text, expr);
    qg_text_puts(text, leaf ? "" : ")");
}

static void put_expr(qg_text *text, const qg_expr *expr) {
    switch (expr->kind) {
    case QG_E_INT: qg_text_printf(text, "%lld", (long long)expr->integer); break;
    case QG_E_FLOAT: put_float(text, expr->real); break;
    case QG_E_NAME: qg_text_puts(text, expr->name); break;
    case QG_E_INDEX:
        qg_text_printf(text, "%s[", expr->name);
        put_expr(text, expr->arg[0]);
        if (expr->arg[1] != NULL) {
            qg_text_puts(text, "][");
            put_expr(text, expr->arg[1]);
        }
        qg_text_puts(text, "]");
        break;
    case QG_E_BITS:
        qg_text_printf(text, "%s(", expr->name);
        put_expr(text, expr->arg[0]);
        qg_text_puts(text, ")");
        break;
    case QG_E_CALL:
        qg_text_printf(text, "%s(%s%s", expr->name, expr->index ? expr->index : "", expr->index ? " in " : "");
        for (int a = 0; a < 3 && expr->arg[a] != NULL; a++) {
            qg_text_puts(text, a == 0 ? "" : a == 1 && expr->index ? " : " : ", ");
            put_expr(text, expr->arg[a]);
        }
        qg_text_puts(text, ")");
        break;
    case QG_E_UNARY:
        qg_text_puts(text, "-");
        put_operand(text, expr->arg[0]);
        break;
    default:
        put_operand(text, expr->arg[0]);
        qg_text_printf(text, " %s ", expr->kind == QG_E_SELECT ? "?" : op_name(expr->op));
        put_operand(text, expr->arg[1]);
        if (expr->kind == QG_E_SELECT) {
            qg_text_puts(text, " : ");
            put_operand(text, expr->arg[2]);
        }
    }
}

static void put_extent(qg_text *text, const qg_expr *extent) {
    qg_text_puts(text, "[");
    put_expr(text, extent);
    qg_text_puts(text, "]");
}

static void put_params(qg_text *text, const qg_spec *spec) {
    for (uint32_t i = 0; i < spec->n_params; i++) {
        const qg_spec_param *param = &spec->params[i];
        qg_text_printf(text, "%s %s in", i == 0 ? "for" : ",", param->name);
        for (uint32_t v = 0; v < param->n_values; v++) {
            if (param->is_type) {
                qg_text_printf(text, " %s", qg_scalars[param->values[v]].name);
            } else {
                qg_text_printf(text, " %lld", (long long)param->values[v]);
            }
        }
    }
    qg_text_puts(text, spec->n_params == 0 ? "" : "\n");
}

static void put_fields(qg_text *text, const qg_spec_buffer *buffer, uint32_t first, uint32_t end, const char *indent) {
    for (uint32_t f = first; f < end; f++) {
        const qg_spec_field *field = &buffer->fields[f];
        qg_text_printf(text, "%s%s%s: %s", indent, field->spare ? "spare " : "", field->name, field->type.name);
        if (field->count != NULL) {
            put_extent(text, field->count);
        }
        if (field->columns != NULL) {
            put_extent(text, field->columns);
        }
        qg_text_puts(text, "\n");
    }
}

static void put_axes(qg_text *text, const qg_spec_buffer *buffer) {
    for (uint32_t i = 0; i < buffer->n_axes; i++) {
        qg_text_printf(text, "[%s", buffer->axes[i].name);
        if (buffer->axes[i].entries != NULL) {
            qg_text_puts(text, " of ");
            put_expr(text, buffer->axes[i].entries);
        }
        qg_text_puts(text, "]");
    }
    qg_text_puts(text, buffer->has_axes && buffer->n_axes == 0 ? "[]" : "");
}

static void put_block(qg_text *text, const qg_spec *spec) {
    qg_text_puts(text, "block ");
    if (spec->rows != NULL) {
        put_expr(text, spec->rows);
        qg_text_puts(text, spec->apart ? " apart x " : " x ");
    }
    put_expr(text, spec->elements);
    if (spec->n_header > 0) {
        qg_text_puts(text, " header {\n");
        put_fields(text, &spec->buffers[0], 0, spec->n_header, "    ");
        qg_text_puts(text, "}");
    }
    qg_text_puts(text, spec->ragged ? " ragged {\n" : " {\n");
    bool interleaved = spec->n_buffers == 1 && strcmp(spec->buffers[0].name, "blocks") == 0;
    for (uint32_t b = 0; b < spec->n_buffers; b++) {
        if (interleaved) {
            put_fields(text, &spec->buffers[b], spec->n_header, spec->buffers[b].n_fields, "    ");
            continue;
        }
        qg_text_printf(text, "    buffer %s", spec->buffers[b].name);
        put_axes(text, &spec->buffers[b]);
        qg_text_puts(text, " {\n");
        put_fields(text, &spec->buffers[b], 0, spec->buffers[b].n_fields, "        ");
        qg_text_puts(text, "    }\n");
    }
    qg_text_puts(text, "}\n");
}

static void put_slice(qg_text *text, const qg_spec_slice *slice) {
    qg_text_puts(text, " ");
    put_expr(text, slice->width);
    if (slice->radix != NULL) {
        qg_text_puts(text, " base ");
        put_expr(text, slice->radix);
    }
    qg_text_puts(text, " @ ");
    put_expr(text, slice->base);
    for (uint32_t d = 0; d < slice->n_digits; d++) {
        qg_text_puts(text, d == 0 ? " (" : ", ");
        put_expr(text, slice->digits[d].extent);
        qg_text_puts(text, ":");
        if (slice->digits[d].stride == NULL) {
            qg_text_puts(text, slice->digits[d].same ? "=" : "^");
        } else {
            put_expr(text, slice->digits[d].stride);
        }
    }
    qg_text_puts(text, slice->n_digits == 0 ? "" : ")");
}

static void put_code(qg_text *text, const qg_spec_code *code) {
    qg_text_puts(text, code->spare ? "spare" : "code ");
    qg_text_puts(text, code->name);
    if (code->type.name != NULL) {
        qg_text_printf(text, ": %s", code->type.name);
    }
    if (code->per != NULL) {
        qg_text_puts(text, " per ");
        put_expr(text, code->per);
    }
    qg_text_puts(text, code->spare ? "" : " =");
    for (uint32_t s = 0; s < code->n_slices; s++) {
        const qg_spec_slice *slice = &code->slices[s];
        const qg_spec_slice *before = s == 0 ? NULL : &code->slices[s - 1];
        bool then = before != NULL && before->segment != slice->segment;
        /* A '(' in the next width would be taken for the digits of a slice that has none. */
        if (before == NULL || then || before->n_digits == 0 || strcmp(before->field, slice->field) != 0) {
            qg_text_printf(text, "%s%s %s {", before == NULL ? "" : " }", then ? " then" : "", slice->field);
        }
        put_slice(text, slice);
    }
    qg_text_puts(text, " }\n");
}

static void put_table(qg_text *text, const qg_spec_table *table) {
    qg_text_printf(text, "table %s: %s", table->name, table->type.name);
    put_extent(text, table->rows);
    if (table->columns != NULL) {
        put_extent(text, table->columns);
    }
    if (table->file != NULL) {
        qg_text_printf(text, " = file \"%s\"\n", table->file);
        return;
    }
    qg_text_puts(text, " = {");
    for (uint32_t v = 0; v < table->n_values; v++) {
        double value = table->values[v];
        bool whole = value > -1e15 && value < 1e15 && value == (double)(int64_t)value;
        qg_text_puts(text, v == 0 ? " " : v % 16 == 0 ? ",\n    " : ", ");
        if (whole) {
            qg_text_printf(text, "%lld", (long long)value);
        } else {
            put_float(text, value);
        }
    }
    qg_text_puts(text, " }\n");
}

static void put_equations(qg_text *text, const qg_spec_equation *equations, uint32_t count, int indent) {
    for (uint32_t i = 0; i < count; i++) {
        const qg_spec_equation *e = &equations[i];
        qg_text_printf(text, "%*s%s", indent, "", e->count == NULL ? e->name : e->sweeps ? "sweep" : "best");
        if (e->per != NULL) {
            qg_text_puts(text, " per ");
            put_expr(text, e->per);
        }
        qg_text_puts(text, e->of_row ? " per row" : "");
        if (e->count != NULL) {
            qg_text_printf(text, " of %s in ", e->name);
            put_expr(text, e->count);
            qg_text_puts(text, " {\n");
            put_equations(text, e->body, e->n_body, indent + 4);
            qg_text_printf(text, "%*s} where ", indent, "");
        } else {
            qg_text_puts(text, " = ");
        }
        put_expr(text, e->value);
        if (e->next != NULL) {
            qg_text_puts(text, " then ");
            put_expr(text, e->next);
        }
        qg_text_puts(text, "\n");
    }
}

char *qg_dump_spec(qg_arena *arena, const qg_spec *spec) {
    qg_text text = qg_text_new(arena);
    qg_text_printf(&text, "format %s \"%s\"\n", spec->name, spec->summary);
    if (spec->origin != NULL) {
        qg_text_printf(&text, "from \"%s\"\n", spec->origin);
    }
    put_params(&text, spec);
    put_block(&text, spec);
    for (uint32_t c = 0; c < spec->n_codes; c++) {
        put_code(&text, &spec->codes[c]);
    }
    for (uint32_t t = 0; t < spec->n_tables; t++) {
        put_table(&text, &spec->tables[t]);
    }
    qg_text_puts(&text, "value = ");
    put_expr(&text, spec->value);
    qg_text_puts(&text, "\n");
    if (spec->n_equations > 0) {
        qg_text_puts(&text, "encode {\n");
        put_equations(&text, spec->equations, spec->n_equations, 4);
        qg_text_puts(&text, "}\n");
    }
    return text.data;
}

/* ---- layout --------------------------------------------------------------------------------------------------- */

static void put_layout_fields(qg_text *text, const qg_layout *layout, uint32_t buffer) {
    for (uint32_t f = 0; f < layout->n_fields; f++) {
        const qg_field *field = &layout->fields[f];
        if (field->buffer != buffer) {
            continue;
        }
        qg_text_printf(text, "    %4u  %s: %s", field->offset, field->name, qg_scalars[field->type].name);
        if (field->is_array) {
            qg_text_printf(text, "[%u]", field->count);
        }
        qg_text_puts(text, field->spare ? "  spare\n" : "\n");
    }
}

static void put_layout_slice(qg_text *text, const qg_layout *layout, const qg_slice *slice) {
    const qg_field *field = &layout->fields[slice->field];
    qg_text_printf(text, "    bits %u-%u at %s bit %u, %s bit %u", slice->shift, slice->shift + slice->bits - 1,
                   layout->buffers[slice->buffer].name, slice->bit, field->name, slice->bit - field->offset * 8);
    if (slice->radix != 0) {
        qg_text_printf(text, ", from %u bits in base %u", slice->width, slice->radix);
    }
    for (uint32_t d = 0; d < slice->n_digits; d++) {
        qg_text_printf(text, "%s%u:", d == 0 ? " (" : ", ", slice->digits[d].extent);
        const bool power = slice->radix != 0 && d == slice->power;
        qg_text_printf(text, power ? "^" : slice->same >> d & 1 ? "=" : "%d", slice->digits[d].stride);
    }
    qg_text_puts(text, slice->n_digits == 0 ? "\n" : ")\n");
}

static void put_layout_code(qg_text *text, const qg_layout *layout, const qg_code *code) {
    const char *type = code->typed ? qg_scalars[code->type].name : "unsigned";
    qg_text_printf(text, "code %s: %s, %u bit%s, per %u, %u instance%s\n", code->name, type, code->width,
                   code->width == 1 ? "" : "s", code->per, code->count, code->count == 1 ? "" : "s");
    for (uint32_t s = 0; s < code->n_slices; s++) {
        const qg_slice *slice = &code->slices[s];
        if (slice->count < code->count && (s == 0 || slice->first != slice[-1].first)) {
            qg_text_printf(text, "  instances %u-%u\n", slice->first, slice->first + slice->count - 1);
        }
        put_layout_slice(text, layout, slice);
    }
}

/* FNV-1a of the values' text: shows that a table of thousands changed without printing it. */
static uint32_t fingerprint(qg_arena *arena, const qg_table *table) {
    qg_text text = qg_text_new(arena);
    for (uint32_t v = 0; v < table->rows * table->columns; v++) {
        put_float(&text, table->values[v]);
        qg_text_puts(&text, " ");
    }
    uint32_t hash = 2166136261u;
    for (size_t at = 0; at < text.length; at++) {
        hash = (hash ^ (unsigned char)text.data[at]) * 16777619u;
    }
    return hash;
}

static void put_layout_table(qg_text *text, const qg_table *table) {
    uint32_t count = table->rows * table->columns;
    qg_text_printf(text, "table %s: %s, %u rows of %u:", table->name, qg_scalars[table->type].name, table->rows,
                   table->columns);
    for (uint32_t v = 0; v < count && v < 16; v++) {
        qg_text_printf(text, " %.9g", table->values[v]);
    }
    if (count > 16) {
        qg_text_printf(text, " ... fingerprint %08x", (unsigned)fingerprint(text->arena, table));
    }
    qg_text_puts(text, "\n");
}

/* What stands in encode alone. */
static void put_call(qg_text *text, const qg_layout *layout, const qg_term *term) {
    static const char *const names[QG_CALL_COUNT] = {
#define F(id, name, takes, glsl, msl, c) name,
#include "spec/calls.def"
#undef F
    };
    switch (term->call) {
    case QG_CALL_LOCAL:
    case QG_CALL_KEPT:
        qg_text_printf(text, "%s%s", term->call == QG_CALL_KEPT ? "kept " : "", layout->encode->items[term->ref].name);
        break;
    case QG_CALL_INDEX: qg_text_printf(text, "counter %u", term->ref); break;
    case QG_CALL_CLAMPED: qg_text_puts(text, "bounded"); break;
    case QG_CALL_SMALL: qg_text_printf(text, "bits of %s", qg_scalars[term->ref].name); break;
    default:
        qg_text_puts(text, names[term->call]);
        if (term->count != 0) {
            qg_text_printf(text, " of counter %u below %u", term->ref, term->count);
        }
    }
}

static void put_leaf(qg_text *text, const qg_layout *layout, const qg_term *term) {
    if (term->op == QG_CALL) {
        put_call(text, layout, term);
    } else if (term->op == QG_CODE) {
        qg_text_printf(text, "code %s", layout->codes[term->ref].name);
    } else if (term->op == QG_TABLE) {
        qg_text_printf(text, "table %s", layout->tables[term->ref].name);
    } else if (term->op == QG_CONST && term->kind == QG_K_FLOAT) {
        put_float(text, (double)term->real);
    } else if (term->op == QG_CONST) {
        qg_text_printf(text, "%lld", (long long)term->integer);
    } else {
        qg_text_puts(text, term->op == QG_TO_FLOAT ? "to_float" : op_name(term->op));
    }
}

static void put_term(qg_text *text, const qg_layout *layout, const qg_term *term, int indent) {
    static const char *const kinds[] = {"bool", "uint", "int", "float"};
    qg_text_printf(text, "%*s", indent, "");
    put_leaf(text, layout, term);
    qg_text_printf(text, " : %s", kinds[term->kind]);
    if (term->kind == QG_K_INT || term->kind == QG_K_UINT) {
        qg_text_printf(text, " %lld..%lld", (long long)term->low, (long long)term->high);
    }
    qg_text_printf(text, ", per %u\n", term->per);
    for (int a = 0; a < 3 && term->arg[a] != NULL; a++) {
        put_term(text, layout, term->arg[a], indent + 2);
    }
}

static void put_layout_view(qg_text *text, const qg_layout *layout) {
    static const char *const views[] = {"", "a sequence", "a matrix", "groups apart"};
    if (layout->view != QG_VIEW_BLOCKS) {
        qg_text_printf(text, "patches of %s, %u rows of %u columns%s\n", views[layout->view], layout->block_rows,
                       layout->block_cols, layout->ragged ? ", ragged" : "");
    }
}

static void put_layout_tile(qg_text *text, const qg_layout *layout, const qg_buffer *buffer) {
    static const char *const axes[] = {"rows", "cols"};
    if (layout->view != QG_VIEW_BLOCKS) {
        if (buffer->header > 0) {
            qg_text_printf(text, ", %u bytes of header", qg_header_bytes(buffer));
        }
        qg_text_printf(text, ", %u x %u items of %u bits", buffer->tile_rows, buffer->tile_cols, buffer->item_bits);
        for (uint32_t i = 0; i < buffer->n_axes; i++) {
            const qg_axis axis = buffer->axes[i];
            qg_text_printf(text, "%s[%s", i == 0 ? " in " : "",
                           axis == QG_AXIS_CODE ? layout->codes[buffer->index].name : axes[axis]);
            if (axis == QG_AXIS_CODE && buffer->entries > 0) {
                qg_text_printf(text, " of %u", buffer->entries);
            }
            qg_text_puts(text, "]");
        }
        qg_text_puts(text, buffer->n_axes == 0 ? " in none" : "");
    }
    qg_text_puts(text, "\n");
}

static void put_layout_encode(qg_text *text, const qg_layout *layout) {
    const qg_encode *encode = layout->encode;
    if (encode == NULL) {
        return;
    }
    qg_text_puts(text, "encode\n");
    for (uint32_t i = 0; i < encode->count; i++) {
        const qg_equation *e = &encode->items[i];
        if (e->candidates != 0) {
            qg_text_printf(text, "    %s %u, per %u, equations %u to %u, where\n", e->sweeps ? "sweep of" : "best of",
                           e->candidates, e->per, e->first, e->end);
        } else {
            qg_text_printf(text, "    %u: %s%s, per %u%s\n", i, e->is_code ? "code " : "", e->name, e->per,
                           e->of_row      ? ", of the row"
                           : e->best != 0 ? ", of each candidate"
                                          : "");
        }
        put_term(text, layout, e->value, 8);
        if (e->next != NULL) {
            qg_text_puts(text, "      then\n");
            put_term(text, layout, e->next, 8);
        }
    }
}

char *qg_dump_layout(qg_arena *arena, const qg_layout *layout) {
    qg_text text = qg_text_new(arena);
    qg_text_printf(&text, "format %s\n    %s\n", layout->name, layout->summary);
    if (layout->parameters[0] != '\0') {
        qg_text_printf(&text, "    %s\n", layout->parameters);
    }
    qg_text_printf(&text, "block of %u elements, %u bytes, %.6g bits for each element\n", layout->elements,
                   layout->block_bytes, qg_bits_per_element(layout));
    put_layout_view(&text, layout);
    for (uint32_t b = 0; b < layout->n_buffers; b++) {
        qg_text_printf(&text, "buffer %s, %u bytes", layout->buffers[b].name, layout->buffers[b].bytes);
        put_layout_tile(&text, layout, &layout->buffers[b]);
        put_layout_fields(&text, layout, b);
    }
    for (uint32_t c = 0; c < layout->n_codes; c++) {
        put_layout_code(&text, layout, &layout->codes[c]);
    }
    for (uint32_t s = 0; s < layout->n_spares; s++) {
        qg_text_puts(&text, s == 0 ? "spare\n" : "");
        put_layout_slice(&text, layout, &layout->spares[s]);
    }
    for (uint32_t t = 0; t < layout->n_tables; t++) {
        put_layout_table(&text, &layout->tables[t]);
    }
    qg_text_puts(&text, "value\n");
    put_term(&text, layout, layout->value, 4);
    put_layout_encode(&text, layout);
    return text.data;
}
