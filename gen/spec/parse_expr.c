/* Expressions, by precedence climbing. Constants of the layout are integers, parameters, + - * / % and parentheses;
 * the value has all operations of C's conditional expressions but assignment, && and ||, and table lookups. */
#include "spec/lex.h"

#include <string.h>

enum { CONSTANT_LEVEL = 8, UNARY_LEVEL = 10 };

static const struct {
    qg_token_kind token;
    qg_op op;
    int level; /* binds tighter when larger */
} binary_ops[] = {
    /* clang-format off */
    {QG_T_STAR, QG_MUL, 9}, {QG_T_SLASH, QG_DIV, 9}, {QG_T_PERCENT, QG_MOD, 9},
    {QG_T_PLUS, QG_ADD, 8}, {QG_T_MINUS, QG_SUB, 8},
    {QG_T_SHL, QG_SHL, 7},  {QG_T_SHR, QG_SHR, 7},
    {QG_T_LT, QG_LT, 6},    {QG_T_LE, QG_LE, 6},     {QG_T_GT, QG_GT, 6},      {QG_T_GE, QG_GE, 6},
    {QG_T_EQ, QG_EQ, 5},    {QG_T_NE, QG_NE, 5},
    {QG_T_AND, QG_AND, 4},  {QG_T_XOR, QG_XOR, 3},   {QG_T_OR, QG_OR, 2},
    /* clang-format on */
};

static const qg_expr *parse_select(qg_parser *parser, bool constant);

/* Finishes a node whose operands are set; false when the tree grows beyond the limits. */
static const qg_expr *finish(qg_parser *parser, qg_expr node) {
    for (int i = 0; i < 3; i++) {
        if (node.arg[i] != NULL && node.arg[i]->depth > node.depth) {
            node.depth = node.arg[i]->depth;
        }
    }
    node.depth++;
    if (node.depth > QG_MAX_DEPTH) {
        qg_error(parser->diag, node.loc, "operations nest deeper than %d here: simplify the expression", QG_MAX_DEPTH);
        return NULL;
    }
    if (++parser->n_exprs > QG_MAX_EXPRS) {
        if (parser->n_exprs == QG_MAX_EXPRS + 1) {
            qg_error(parser->diag, node.loc,
                     "a specification has at most %d numbers, names and operations in its expressions: simplify them",
                     QG_MAX_EXPRS);
        }
        return NULL;
    }
    qg_expr *expr = QG_NEW(parser->arena, qg_expr);
    *expr = node;
    return expr;
}

static bool enter(qg_parser *parser) {
    if (++parser->nesting <= QG_MAX_DEPTH) {
        return true;
    }
    qg_error(parser->diag, parser->token.loc, "parentheses and signs nest deeper than %d here: simplify the expression",
             QG_MAX_DEPTH);
    return false;
}

/* `(row)` in brackets behind a table's name. */
static const qg_expr *parse_index(qg_parser *parser) {
    const qg_expr *index = qg_parse_value(parser);
    return index != NULL && qg_expect(parser, QG_T_CLOSE_BRACKET, "']'") ? index : NULL;
}

/* `type(bits)`, behind the name of a type; or the name alone, an argument of a function. */
static const qg_expr *parse_bits(qg_parser *parser, qg_expr node) {
    if (parser->token.kind == QG_T_CLOSE || parser->token.kind == QG_T_COMMA) {
        return finish(parser, node);
    }
    node.kind = QG_E_BITS;
    if (!qg_expect(parser, QG_T_OPEN, "'(' and the bits that are to be taken as this type")) {
        return NULL;
    }
    node.arg[0] = qg_parse_value(parser);
    if (node.arg[0] == NULL || !qg_expect(parser, QG_T_CLOSE, "')'")) {
        return NULL;
    }
    return finish(parser, node);
}

/* `(argument, ...)` or `(index in COUNT: argument)`, behind the name of a function. */
static const qg_expr *parse_call(qg_parser *parser, qg_expr node) {
    node.kind = QG_E_CALL;
    for (int i = 0; i < 3; i++) {
        node.arg[i] = qg_parse_value(parser);
        if (node.arg[i] == NULL) {
            return NULL;
        }
        if (i == 0 && node.arg[0]->kind == QG_E_NAME && qg_accept(parser, QG_T_IN)) {
            const uint32_t nesting = parser->nesting;
            node.index = node.arg[0]->name;
            node.arg[0] = qg_parse_constant(parser);
            parser->nesting = nesting;
            if (node.arg[0] == NULL || !qg_expect(parser, QG_T_COLON, "':' and a number")) {
                return NULL;
            }
            continue;
        }
        if (i == 2 || (node.index != NULL && i == 1) || !qg_accept(parser, QG_T_COMMA)) {
            break;
        }
    }
    return qg_expect(parser, QG_T_CLOSE, "')'") ? finish(parser, node) : NULL;
}

static const qg_expr *parse_name(qg_parser *parser, bool constant) {
    const qg_token *token = &parser->previous;
    qg_expr node = {.kind = QG_E_NAME, .loc = token->loc};
    node.name = qg_strndup(parser->arena, token->text, token->length);
    if (!constant && qg_scalar_named(token->text, token->length) != QG_SCALAR_COUNT) {
        return parse_bits(parser, node);
    }
    if (!constant && parser->encoding && qg_accept(parser, QG_T_OPEN)) {
        return parse_call(parser, node);
    }
    if (constant || !qg_accept(parser, QG_T_OPEN_BRACKET)) {
        return finish(parser, node);
    }
    node.kind = QG_E_INDEX;
    node.arg[0] = parse_index(parser);
    if (node.arg[0] == NULL) {
        return NULL;
    }
    if (qg_accept(parser, QG_T_OPEN_BRACKET)) {
        node.arg[1] = parse_index(parser);
        if (node.arg[1] == NULL) {
            return NULL;
        }
    }
    return finish(parser, node);
}

static const qg_expr *parse_primary(qg_parser *parser, bool constant) {
    if (qg_accept(parser, QG_T_INT)) {
        return finish(parser,
                      (qg_expr){.kind = QG_E_INT, .loc = parser->previous.loc, .integer = parser->previous.integer});
    }
    if (!constant && qg_accept(parser, QG_T_FLOAT)) {
        return finish(parser,
                      (qg_expr){.kind = QG_E_FLOAT, .loc = parser->previous.loc, .real = parser->previous.real});
    }
    if (qg_accept(parser, QG_T_NAME)) {
        return parse_name(parser, constant);
    }
    if (qg_accept(parser, QG_T_OPEN)) {
        const qg_expr *inner = parse_select(parser, constant);
        return inner != NULL && qg_expect(parser, QG_T_CLOSE, "')'") ? inner : NULL;
    }
    qg_token_kind kind = parser->token.kind;
    if (kind == parser->previous.kind && (kind == QG_T_AND || kind == QG_T_OR)) {
        qg_error(parser->diag, parser->token.loc,
                 "there is no '%s': write choices, 'condition ? a : b', one in the other",
                 kind == QG_T_AND ? "&&" : "||");
        return NULL;
    }
    qg_expected(parser, constant ? "an integer, a parameter or '('" : "a number, a name or '('");
    return NULL;
}

static const qg_expr *parse_unary(qg_parser *parser, bool constant) {
    if (!qg_accept(parser, QG_T_MINUS)) {
        return parse_primary(parser, constant);
    }
    qg_expr node = {.kind = QG_E_UNARY, .op = QG_NEG, .loc = parser->previous.loc};
    if (!enter(parser)) {
        return NULL;
    }
    node.arg[0] = parse_unary(parser, constant);
    parser->nesting--;
    return node.arg[0] == NULL ? NULL : finish(parser, node);
}

/* The row of binary_ops for the next token, or -1. */
static int next_op(const qg_parser *parser, int level) {
    for (int i = 0; i < (int)(sizeof binary_ops / sizeof binary_ops[0]); i++) {
        if (binary_ops[i].token == parser->token.kind && binary_ops[i].level >= level) {
            return i;
        }
    }
    return -1;
}

/* Recursion is bounded by the number of levels. */
static const qg_expr *parse_binary(qg_parser *parser, int level, bool constant) {
    if (level == UNARY_LEVEL) {
        return parse_unary(parser, constant);
    }
    const qg_expr *left = parse_binary(parser, level + 1, constant);
    for (int row; left != NULL && (row = next_op(parser, level)) >= 0;) {
        qg_advance(parser);
        qg_expr node = {.kind = QG_E_BINARY, .op = binary_ops[row].op, .loc = parser->previous.loc, .arg = {left}};
        node.arg[1] = parse_binary(parser, level + 1, constant);
        left = node.arg[1] == NULL ? NULL : finish(parser, node);
    }
    return left;
}

static const qg_expr *parse_branches(qg_parser *parser, const qg_expr *condition) {
    qg_expr node = {.kind = QG_E_SELECT, .op = QG_SELECT, .loc = parser->previous.loc, .arg = {condition}};
    node.arg[1] = parse_select(parser, false);
    if (node.arg[1] == NULL || !qg_expect(parser, QG_T_COLON, "':' and the other branch")) {
        return NULL;
    }
    node.arg[2] = parse_select(parser, false);
    return node.arg[2] == NULL ? NULL : finish(parser, node);
}

static const qg_expr *parse_select(qg_parser *parser, bool constant) {
    if (!enter(parser)) {
        return NULL;
    }
    const qg_expr *expr = parse_binary(parser, constant ? CONSTANT_LEVEL : 2, constant);
    if (expr != NULL && !constant && qg_accept(parser, QG_T_QUESTION)) {
        expr = parse_branches(parser, expr);
    }
    parser->nesting--;
    return expr;
}

const qg_expr *qg_parse_constant(qg_parser *parser) {
    parser->nesting = 0;
    return parse_select(parser, true);
}

const qg_expr *qg_parse_value(qg_parser *parser) { return parse_select(parser, false); }
