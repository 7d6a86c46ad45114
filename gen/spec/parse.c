/* The grammar of specifications, by recursive descent.
 *
 * The one idea: no token needs its line. A specification is a sequence of items, each begun by a keyword that can stand
 * nowhere else, so the parser never asks where a line ends, and after an error it can always find firm ground again: it
 * skips to the next keyword that begins an item and goes on, with no guess about what the author meant. Every function
 * here consumes its construct or reports one error and returns false; only the loop over the items recovers. */
#include "spec/lex.h"

#include <string.h>

/* Lists under construction; they become the const arrays of qg_spec. */
typedef struct items {
    qg_spec_buffer *buffers;
    qg_spec_code *codes;
    qg_spec_table *tables;
    qg_spec_param *params;
    uint32_t buffers_capacity, codes_capacity, tables_capacity, params_capacity;
    bool had_block, had_value, had_params;
} items;

/* ---- tokens --------------------------------------------------------------------------------------------------- */

void qg_advance(qg_parser *parser) {
    parser->previous = parser->token;
    parser->token = qg_lex(&parser->lexer);
}

bool qg_accept(qg_parser *parser, qg_token_kind kind) {
    if (parser->token.kind != kind) {
        return false;
    }
    qg_advance(parser);
    return true;
}

void qg_expected(qg_parser *parser, const char *what) {
    const char *found = qg_token_text(parser->arena, &parser->token);
    qg_loc loc = parser->token.loc;
    if (parser->previous.loc.line == 0) {
        qg_error(parser->diag, loc, "expected %s at the start, found %s", what, found);
        return;
    }
    if (parser->token.kind == QG_T_END) {
        loc = parser->previous.loc;
        loc.column += loc.length;
        loc.length = 1;
    }
    const char *after = qg_token_text(parser->arena, &parser->previous);
    qg_error(parser->diag, loc, "expected %s after %s, found %s", what, after, found);
}

bool qg_expect(qg_parser *parser, qg_token_kind kind, const char *what) {
    if (qg_accept(parser, kind)) {
        return true;
    }
    qg_expected(parser, what);
    return false;
}

static const char *text_of(qg_parser *parser, const qg_token *token) {
    return qg_strndup(parser->arena, token->text, token->length);
}

/* A name, with a better word than "expected" for a keyword in its place. */
bool qg_parse_name(qg_parser *parser, const char *what, const char **name, qg_loc *loc) {
    if (parser->token.kind <= QG_T_VALUE) {
        qg_error(parser->diag, parser->token.loc, "expected %s, found the keyword %s: choose another name", what,
                 qg_token_text(parser->arena, &parser->token));
        return false;
    }
    if (!qg_expect(parser, QG_T_NAME, what)) {
        return false;
    }
    *name = text_of(parser, &parser->previous);
    *loc = parser->previous.loc;
    return true;
}

bool qg_too_many(qg_parser *parser, uint32_t count, uint32_t limit, const char *what) {
    if (count < limit) {
        return false;
    }
    qg_error(parser->diag, parser->previous.loc, "too many %s: at most %u are allowed here", what, limit);
    return true;
}

/* ---- parameters ----------------------------------------------------------------------------------------------- */

/* One value of a parameter: an integer or a scalar type, as the first value decided. */
static bool parse_param_value(qg_parser *parser, qg_spec_param *param, int64_t *value) {
    bool is_type = parser->token.kind == QG_T_NAME;
    if (param->n_values > 0 && is_type != param->is_type) {
        qg_error(parser->diag, parser->token.loc, "the values of '%s' mix integers and types: use one of both",
                 param->name);
        return false;
    }
    param->is_type = is_type;
    if (!is_type) {
        bool found = qg_expect(parser, QG_T_INT, "an integer or a scalar type");
        *value = parser->previous.integer;
        return found;
    }
    qg_advance(parser);
    const qg_token *token = &parser->previous;
    *value = qg_scalar_named(token->text, token->length);
    if (*value == QG_SCALAR_COUNT) {
        qg_error(parser->diag, token->loc, "'%s' is not a scalar type: use u8 i8 u16 i16 u32 f16 bf16 or f32",
                 text_of(parser, token));
        return false;
    }
    return true;
}

static bool parse_param(qg_parser *parser, qg_spec *spec, items *list) {
    qg_spec_param param = {0};
    int64_t *values = NULL;
    uint32_t capacity = 0;
    if (!qg_parse_name(parser, "the name of a parameter", &param.name, &param.loc) ||
        qg_too_many(parser, spec->n_params, QG_MAX_PARAMS, "parameters") ||
        !qg_expect(parser, QG_T_IN, "'in' and the values of the parameter")) {
        return false;
    }
    do {
        int64_t value;
        if (!parse_param_value(parser, &param, &value) ||
            qg_too_many(parser, param.n_values, QG_MAX_PARAM_VALUES, "values")) {
            return false;
        }
        for (uint32_t i = 0; i < param.n_values; i++) {
            if (values[i] == value) {
                qg_error(parser->diag, parser->previous.loc, "the value %s stands twice: remove one",
                         qg_token_text(parser->arena, &parser->previous));
                return false;
            }
        }
        QG_PUSH(parser->arena, values, param.n_values, capacity, value);
    } while (parser->token.kind == QG_T_INT || parser->token.kind == QG_T_NAME);
    param.values = values;
    QG_PUSH(parser->arena, list->params, spec->n_params, list->params_capacity, param);
    return true;
}

static bool parse_params(qg_parser *parser, qg_spec *spec, items *list) {
    if (list->had_params) {
        qg_error(parser->diag, parser->previous.loc,
                 "a second 'for': name all parameters behind the first, with commas");
        return false;
    }
    list->had_params = true;
    do {
        if (!parse_param(parser, spec, list)) {
            return false;
        }
    } while (qg_accept(parser, QG_T_COMMA));
    return true;
}

/* ---- the block ------------------------------------------------------------------------------------------------ */

static bool parse_type(qg_parser *parser, qg_spec_type *type) {
    return qg_parse_name(parser, "a type", &type->name, &type->loc);
}

static bool parse_field(qg_parser *parser, qg_spec_field *field) {
    field->spare = qg_accept(parser, QG_T_SPARE);
    if (!qg_parse_name(parser, "the name of a field", &field->name, &field->loc) ||
        !qg_expect(parser, QG_T_COLON, "':' and a type") || !parse_type(parser, &field->type)) {
        return false;
    }
    if (!qg_accept(parser, QG_T_OPEN_BRACKET)) {
        return true;
    }
    field->count = qg_parse_constant(parser);
    if (field->count == NULL || !qg_expect(parser, QG_T_CLOSE_BRACKET, "']'")) {
        return false;
    }
    if (!qg_accept(parser, QG_T_OPEN_BRACKET)) {
        return true;
    }
    field->columns = qg_parse_constant(parser);
    return field->columns != NULL && qg_expect(parser, QG_T_CLOSE_BRACKET, "']'");
}

/* `NAME: TYPE ...` up to the closing brace. */
static bool parse_fields(qg_parser *parser, qg_spec_buffer *buffer, uint32_t *total) {
    qg_spec_field *fields = NULL;
    uint32_t capacity = 0;
    while (parser->token.kind == QG_T_NAME || parser->token.kind == QG_T_SPARE) {
        qg_spec_field field = {0};
        if (!parse_field(parser, &field) || qg_too_many(parser, (*total)++, QG_MAX_FIELDS, "fields")) {
            return false;
        }
        QG_PUSH(parser->arena, fields, buffer->n_fields, capacity, field);
    }
    buffer->fields = fields;
    if (parser->token.kind == QG_T_BUFFER) {
        qg_error(parser->diag, parser->token.loc,
                 "a buffer among fields: put all fields of the block into buffers, or none");
        return false;
    }
    return qg_expect(parser, QG_T_CLOSE_BRACE, buffer->n_fields == 0 ? "a field" : "a field or '}'");
}

/* A word that has its meaning in one place alone, so that it can be a name elsewhere. */
static bool at_word(const qg_parser *parser, const char *word) {
    const qg_token *token = &parser->token;
    return token->kind == QG_T_NAME && token->length == strlen(word) && memcmp(token->text, word, token->length) == 0;
}

static bool accept_word(qg_parser *parser, const char *word) {
    bool found = at_word(parser, word);
    if (found) {
        qg_advance(parser);
    }
    return found;
}

/* `[rows][cols]` behind a buffer's name. */
static bool parse_axes(qg_parser *parser, qg_spec_buffer *buffer) {
    while (qg_accept(parser, QG_T_OPEN_BRACKET)) {
        qg_spec_axis axis;
        buffer->has_axes = true;
        if (buffer->n_axes == 0 && qg_accept(parser, QG_T_CLOSE_BRACKET)) {
            return true;
        }
        if (!qg_parse_name(parser, "'rows', 'cols' or a code", &axis.name, &axis.loc)) {
            return false;
        }
        axis.entries = NULL;
        if (accept_word(parser, "of") && (axis.entries = qg_parse_constant(parser)) == NULL) {
            return false;
        }
        if (qg_too_many(parser, buffer->n_axes, QG_MAX_AXES, "axes") || !qg_expect(parser, QG_T_CLOSE_BRACKET, "']'")) {
            return false;
        }
        buffer->axes[buffer->n_axes++] = axis;
    }
    return true;
}

static bool parse_buffers(qg_parser *parser, qg_spec *spec, items *list) {
    uint32_t total = 0;
    while (qg_accept(parser, QG_T_BUFFER)) {
        qg_spec_buffer buffer = {0};
        if (!qg_parse_name(parser, "the name of a buffer", &buffer.name, &buffer.loc) ||
            qg_too_many(parser, spec->n_buffers, QG_MAX_BUFFERS, "buffers") || !parse_axes(parser, &buffer) ||
            !qg_expect(parser, QG_T_OPEN_BRACE, "'{' and the fields") || !parse_fields(parser, &buffer, &total)) {
            return false;
        }
        QG_PUSH(parser->arena, list->buffers, spec->n_buffers, list->buffers_capacity, buffer);
    }
    return qg_expect(parser, QG_T_CLOSE_BRACE, "'buffer' or '}'");
}

/* ELEMENTS [ragged], ROWS x COLUMNS [ragged], or ROWS apart x COLUMNS. */
static bool parse_size(qg_parser *parser, qg_spec *spec) {
    spec->elements = qg_parse_constant(parser);
    if (spec->elements == NULL) {
        return false;
    }
    spec->apart = accept_word(parser, "apart");
    if (accept_word(parser, "x")) {
        spec->rows = spec->elements;
        spec->elements = qg_parse_constant(parser);
    } else if (spec->apart) {
        qg_expected(parser, "'x' and the columns of a block");
        return false;
    }
    if (spec->elements == NULL) {
        return false;
    }
    const qg_loc loc = parser->token.loc;
    spec->ragged = accept_word(parser, "ragged");
    if (spec->ragged && spec->apart) {
        qg_error(parser->diag, loc, "'ragged' and 'apart' exclude each other: groups that lie apart are whole");
        return false;
    }
    return true;
}

/* `header { fields }` behind the size: they stand before the blocks of each row. */
static bool parse_header(qg_parser *parser, qg_spec *spec, qg_spec_buffer *header, uint32_t *total) {
    spec->header_loc = parser->token.loc;
    if (!accept_word(parser, "header")) {
        return true;
    }
    if (spec->rows != NULL || spec->ragged) {
        qg_error(parser->diag, spec->header_loc,
                 "a header stands before the whole blocks of one row: write 'block ELEMENTS header', without rows, "
                 "'apart' or 'ragged'");
        return false;
    }
    if (!qg_expect(parser, QG_T_OPEN_BRACE, "'{' and the fields of the header") ||
        !parse_fields(parser, header, total)) {
        return false;
    }
    spec->n_header = header->n_fields;
    if (spec->n_header == 0) {
        qg_error(parser->diag, spec->header_loc, "the header has no fields: give it one, or remove it");
    }
    return spec->n_header > 0;
}

/* The header's fields, and then the block's. */
static bool join_header(qg_parser *parser, const qg_spec *spec, const qg_spec_buffer *header, qg_spec_buffer *blocks) {
    if (spec->n_header == 0) {
        return true;
    }
    if (blocks->n_fields == 0) {
        qg_error(parser->diag, blocks->loc, "a block has no fields beside the row's header: declare some");
        return false;
    }
    qg_spec_field *fields = QG_NEW_ARRAY(parser->arena, qg_spec_field, header->n_fields + blocks->n_fields);
    memcpy(fields, header->fields, header->n_fields * sizeof *fields);
    memcpy(fields + header->n_fields, blocks->fields, blocks->n_fields * sizeof *fields);
    blocks->fields = fields;
    blocks->n_fields += header->n_fields;
    return true;
}

static bool parse_block(qg_parser *parser, qg_spec *spec, items *list) {
    qg_loc loc = parser->previous.loc;
    if (list->had_block) {
        qg_error(parser->diag, loc, "a second 'block': a format has one, join both");
        qg_note(parser->diag, spec->block_loc, "the first is here");
        return false;
    }
    list->had_block = true;
    spec->block_loc = loc;
    qg_spec_buffer header = {.name = "header", .loc = loc};
    uint32_t total = 0;
    if (!parse_size(parser, spec) || !parse_header(parser, spec, &header, &total) ||
        !qg_expect(parser, QG_T_OPEN_BRACE, "'{' and the fields")) {
        return false;
    }
    if (parser->token.kind == QG_T_BUFFER && spec->n_header > 0) {
        qg_error(parser->diag, parser->token.loc,
                 "a row with a header lies in one buffer: write fields in place of buffers, or remove the header");
        return false;
    }
    if (parser->token.kind == QG_T_BUFFER) {
        return parse_buffers(parser, spec, list);
    }
    qg_spec_buffer blocks = {.name = "blocks", .loc = loc};
    bool parsed = parse_fields(parser, &blocks, &total) && join_header(parser, spec, &header, &blocks);
    QG_PUSH(parser->arena, list->buffers, spec->n_buffers, list->buffers_capacity, blocks);
    return parsed;
}

/* ---- codes ---------------------------------------------------------------------------------------------------- */

/* A stride, '^', or '='. */
static bool parse_stride(qg_parser *parser, qg_spec_digit *digit) {
    digit->same = parser->token.kind == QG_T_ASSIGN;
    if (qg_accept(parser, QG_T_XOR) || qg_accept(parser, QG_T_ASSIGN)) {
        digit->power_loc = parser->previous.loc;
        return true;
    }
    digit->stride = qg_parse_constant(parser);
    return digit->stride != NULL;
}

static bool parse_digits(qg_parser *parser, qg_spec_slice *slice) {
    qg_spec_digit *digits = NULL;
    uint32_t capacity = 0;
    do {
        qg_spec_digit digit = {0};
        digit.extent = qg_parse_constant(parser);
        if (digit.extent == NULL || !qg_expect(parser, QG_T_COLON, "':' and a stride in bits")) {
            return false;
        }
        if (!parse_stride(parser, &digit) || qg_too_many(parser, slice->n_digits, QG_MAX_DIGITS, "digits")) {
            return false;
        }
        QG_PUSH(parser->arena, digits, slice->n_digits, capacity, digit);
    } while (qg_accept(parser, QG_T_COMMA));
    slice->digits = digits;
    return qg_expect(parser, QG_T_CLOSE, "',' or ')'");
}

/* WIDTH [base RADIX] @ BASE [(EXTENT:STRIDE, ...)] */
static bool parse_slice(qg_parser *parser, qg_spec_slice *slice) {
    slice->loc = parser->token.loc;
    slice->width = qg_parse_constant(parser);
    if (slice->width == NULL) {
        return false;
    }
    if (accept_word(parser, "base")) {
        slice->radix = qg_parse_constant(parser);
        if (slice->radix == NULL) {
            return false;
        }
    }
    if (!qg_expect(parser, QG_T_AT, "'@' and the first bit")) {
        return false;
    }
    slice->base = qg_parse_constant(parser);
    if (slice->base == NULL || (qg_accept(parser, QG_T_OPEN) && !parse_digits(parser, slice))) {
        return false;
    }
    if (parser->previous.loc.line == slice->loc.line) {
        slice->loc.length = parser->previous.loc.column + parser->previous.loc.length - slice->loc.column;
    }
    return true;
}

/* FIELD { slice ... } */
static bool parse_part(qg_parser *parser, qg_spec_code *code, qg_spec_slice **slices, uint32_t *capacity) {
    qg_spec_slice part = {.segment = code->n_segments - 1};
    if (!qg_parse_name(parser, "the field that holds the bits", &part.field, &part.field_loc) ||
        !qg_expect(parser, QG_T_OPEN_BRACE, "'{' and slices")) {
        return false;
    }
    do {
        qg_spec_slice slice = part;
        if (!parse_slice(parser, &slice) || qg_too_many(parser, code->n_slices, QG_MAX_SLICES, "slices")) {
            return false;
        }
        QG_PUSH(parser->arena, *slices, code->n_slices, *capacity, slice);
    } while (parser->token.kind == QG_T_INT || parser->token.kind == QG_T_NAME || parser->token.kind == QG_T_OPEN);
    return qg_expect(parser, QG_T_CLOSE_BRACE, "a slice or '}'");
}

/* `then`, which begins a segment; before '{' it is a field of that name. */
static bool accept_then(qg_parser *parser) {
    if (!at_word(parser, "then")) {
        return false;
    }
    qg_diag scratch = qg_diag_new(parser->arena, false);
    qg_lexer ahead = parser->lexer;
    ahead.diag = &scratch;
    return qg_lex(&ahead).kind != QG_T_OPEN_BRACE && accept_word(parser, "then");
}

static bool parse_code_head(qg_parser *parser, qg_spec_code *code) {
    if (!qg_parse_name(parser, "the name of a code", &code->name, &code->loc)) {
        return false;
    }
    if (qg_accept(parser, QG_T_COLON) && !parse_type(parser, &code->type)) {
        return false;
    }
    if (qg_accept(parser, QG_T_PER)) {
        code->per = qg_parse_constant(parser);
        return code->per != NULL && qg_expect(parser, QG_T_ASSIGN, "'=' and a field");
    }
    return qg_expect(parser, QG_T_ASSIGN, code->type.name != NULL ? "'per' or '='" : "':', 'per' or '='");
}

static bool parse_code(qg_parser *parser, qg_spec *spec, items *list, bool spare) {
    qg_spec_code code = {.name = "", .loc = parser->previous.loc, .spare = spare, .n_segments = 1};
    qg_spec_slice *slices = NULL;
    uint32_t capacity = 0;
    if ((!spare && !parse_code_head(parser, &code)) || qg_too_many(parser, spec->n_codes, QG_MAX_CODES, "codes")) {
        return false;
    }
    bool more = true;
    while (more) {
        if (!parse_part(parser, &code, &slices, &capacity)) {
            return false;
        }
        more = parser->token.kind == QG_T_NAME;
        if (accept_then(parser)) {
            code.n_segments++;
        }
        if (spare && code.n_segments > 1) {
            qg_error(parser->diag, parser->previous.loc,
                     "'then' among spare bits, which serve no elements: leave it out");
            return false;
        }
    }
    code.slices = slices;
    QG_PUSH(parser->arena, list->codes, spec->n_codes, list->codes_capacity, code);
    return true;
}

/* ---- tables --------------------------------------------------------------------------------------------------- */

static bool parse_table_values(qg_parser *parser, qg_spec_table *table) {
    double *values = NULL;
    qg_loc *locs = NULL;
    uint32_t values_capacity = 0, locs_capacity = 0, n_locs = 0;
    while (parser->token.kind == QG_T_INT || parser->token.kind == QG_T_FLOAT || parser->token.kind == QG_T_MINUS) {
        qg_loc loc = parser->token.loc;
        bool negative = qg_accept(parser, QG_T_MINUS);
        if (!qg_accept(parser, QG_T_FLOAT) && !qg_expect(parser, QG_T_INT, "a number")) {
            return false;
        }
        const qg_token *token = &parser->previous;
        double value = token->kind == QG_T_INT ? (double)token->integer : token->real;
        value = negative ? -value : value;
        if (token->kind == QG_T_INT && token->integer > INT64_C(1) << 53) {
            qg_error(parser->diag, token->loc, "number too large: an integer in a table has at most 53 bits");
            return false;
        }
        if (qg_too_many(parser, table->n_values, QG_MAX_TABLE_VALUES, "values")) {
            return false;
        }
        QG_PUSH(parser->arena, values, table->n_values, values_capacity, value);
        if (token->loc.line == loc.line) {
            loc.length = token->loc.column + token->loc.length - loc.column;
        }
        QG_PUSH(parser->arena, locs, n_locs, locs_capacity, loc);
        if (!qg_accept(parser, QG_T_COMMA)) {
            break;
        }
    }
    table->values = values;
    table->value_locs = locs;
    return qg_expect(parser, QG_T_CLOSE_BRACE, parser->previous.kind == QG_T_COMMA ? "a number or '}'" : "',' or '}'");
}

static bool parse_extent(qg_parser *parser, const qg_expr **extent) {
    *extent = qg_parse_constant(parser);
    return *extent != NULL && qg_expect(parser, QG_T_CLOSE_BRACKET, "']'");
}

/* NAME: TYPE[ROWS][COLUMNS] = { numbers } or file "name" */
static bool parse_table(qg_parser *parser, qg_spec *spec, items *list) {
    qg_spec_table table = {0};
    if (!qg_parse_name(parser, "the name of a table", &table.name, &table.loc) ||
        qg_too_many(parser, spec->n_tables, QG_MAX_TABLES, "tables") ||
        !qg_expect(parser, QG_T_COLON, "':' and a type") || !parse_type(parser, &table.type) ||
        !qg_expect(parser, QG_T_OPEN_BRACKET, "'[' and the number of rows") || !parse_extent(parser, &table.rows)) {
        return false;
    }
    if ((qg_accept(parser, QG_T_OPEN_BRACKET) && !parse_extent(parser, &table.columns)) ||
        !qg_expect(parser, QG_T_ASSIGN, "'=' and the values")) {
        return false;
    }
    bool parsed;
    if (qg_accept(parser, QG_T_FILE)) {
        parsed = qg_expect(parser, QG_T_STRING, "the name of a file in '\"'");
        table.file = text_of(parser, &parser->previous);
        table.file_loc = parser->previous.loc;
    } else {
        parsed = qg_expect(parser, QG_T_OPEN_BRACE, "'{' and values, or 'file'") && parse_table_values(parser, &table);
    }
    QG_PUSH(parser->arena, list->tables, spec->n_tables, list->tables_capacity, table);
    return parsed;
}

/* ---- items ---------------------------------------------------------------------------------------------------- */

static bool parse_format(qg_parser *parser, qg_spec *spec) {
    if (!qg_expect(parser, QG_T_FORMAT, "'format' and a name") ||
        !qg_expect(parser, QG_T_PATTERN, "the name of the format")) {
        return false;
    }
    spec->name = text_of(parser, &parser->previous);
    spec->name_loc = parser->previous.loc;
    if (!qg_expect(parser, QG_T_STRING, "a sentence in '\"' that says what the format is")) {
        return false;
    }
    spec->summary = text_of(parser, &parser->previous);
    return true;
}

static bool parse_origin(qg_parser *parser, qg_spec *spec) {
    qg_loc loc = parser->previous.loc;
    if (spec->origin != NULL) {
        qg_error(parser->diag, loc, "a second 'from': a format has one origin, join both texts");
        qg_note(parser->diag, spec->origin_loc, "the first is here");
        return false;
    }
    if (!qg_expect(parser, QG_T_STRING, "a text in '\"' that names the origin")) {
        return false;
    }
    spec->origin = text_of(parser, &parser->previous);
    spec->origin_loc = loc;
    return true;
}

static bool parse_value(qg_parser *parser, qg_spec *spec, items *list) {
    if (list->had_value) {
        qg_error(parser->diag, parser->previous.loc, "a second 'value': an element has one, remove the other");
        return false;
    }
    list->had_value = true;
    parser->nesting = 0;
    if (!qg_expect(parser, QG_T_ASSIGN, "'=' and an expression")) {
        return false;
    }
    spec->value = qg_parse_value(parser);
    return spec->value != NULL;
}

static bool parse_item(qg_parser *parser, qg_spec *spec, items *list) {
    if (qg_accept(parser, QG_T_FROM)) {
        return parse_origin(parser, spec);
    }
    if (qg_accept(parser, QG_T_FOR)) {
        return parse_params(parser, spec, list);
    }
    if (qg_accept(parser, QG_T_BLOCK)) {
        return parse_block(parser, spec, list);
    }
    if (qg_accept(parser, QG_T_CODE)) {
        return parse_code(parser, spec, list, false);
    }
    if (qg_accept(parser, QG_T_SPARE)) {
        return parse_code(parser, spec, list, true);
    }
    if (qg_accept(parser, QG_T_TABLE)) {
        return parse_table(parser, spec, list);
    }
    if (qg_accept(parser, QG_T_VALUE)) {
        return parse_value(parser, spec, list);
    }
    if (qg_accept(parser, QG_T_ENCODE)) {
        return qg_parse_encode(parser, spec);
    }
    if (parser->token.kind == QG_T_FORMAT) {
        qg_error(parser->diag, parser->token.loc,
                 "a second 'format': a file holds one, move the other to its own file");
        qg_advance(parser);
        return false;
    }
    qg_expected(parser, "'from', 'for', 'block', 'code', 'spare', 'table', 'value' or 'encode'");
    return false;
}

bool qg_begins_item(qg_token_kind kind) {
    return kind == QG_T_FROM || kind == QG_T_FOR || kind == QG_T_BLOCK || kind == QG_T_CODE || kind == QG_T_SPARE ||
           kind == QG_T_TABLE || kind == QG_T_VALUE || kind == QG_T_ENCODE || kind == QG_T_FORMAT;
}

/* After an error: to the keyword that begins the next item. Inside of a block `spare` begins a field, so there it does
 * not count. */
static void resynchronise(qg_parser *parser, bool in_block) {
    while (parser->token.kind != QG_T_END &&
           (!qg_begins_item(parser->token.kind) || (in_block && parser->token.kind == QG_T_SPARE))) {
        qg_advance(parser);
    }
}

static bool is_complete(qg_parser *parser, const items *list) {
    if (!list->had_block) {
        qg_expected(parser, "'block' and the layout of a block");
    } else if (!list->had_value) {
        qg_expected(parser, "'value' and the expression that decodes an element");
    }
    return list->had_block && list->had_value;
}

const qg_spec *qg_parse(qg_arena *arena, qg_diag *diag, const qg_source *source) {
    uint32_t errors_before = diag->errors;
    qg_parser parser = {.arena = arena, .diag = diag, .lexer = qg_lexer_new(arena, diag, source)};
    qg_spec *spec = QG_NEW(arena, qg_spec);
    items list = {0};
    spec->source = source;
    parser.token = qg_lex(&parser.lexer);
    if (!parse_format(&parser, spec)) {
        resynchronise(&parser, false);
    }
    while (parser.token.kind != QG_T_END) {
        bool in_block = parser.token.kind == QG_T_BLOCK;
        if (!parse_item(&parser, spec, &list)) {
            resynchronise(&parser, in_block);
        }
    }
    if (diag->errors != errors_before || !is_complete(&parser, &list)) {
        return NULL;
    }
    spec->params = list.params;
    spec->buffers = list.buffers;
    spec->codes = list.codes;
    spec->tables = list.tables;
    spec->n_exprs = parser.n_exprs;
    return spec;
}
