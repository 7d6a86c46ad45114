/* Private to the front end: tokens, the lexer, the parser of expressions, names. */
#ifndef QKGEN_LEX_H
#define QKGEN_LEX_H

#include "spec/spec.h"

/* Limits that keep a hostile specification cheap; no format in use comes near them. */
enum {
    QG_MAX_DEPTH = 200, /* of a tree of operations, and of parentheses */
    QG_MAX_EXPRS = 10000,
    QG_MAX_PARAMS = 8,
    QG_MAX_PARAM_VALUES = 256,
    QG_MAX_BUFFERS = 16,
    QG_MAX_FIELDS = 64,
    QG_MAX_CODES = 64,
    QG_MAX_SLICES = 64,
    QG_MAX_DIGITS = 16,
    QG_MAX_TABLES = 16,
    QG_MAX_TABLE_VALUES = 65536,
    QG_MAX_EQUATIONS = 128, /* of encode, with those of best */
    QG_MAX_NAME = 64
};

/* Tokens without a text of their own: T(id, spelling). Keywords first. */
/* clang-format off */
#define QG_TOKENS(T)                                                                                                 \
    T(FORMAT, "format") T(FROM, "from") T(FOR, "for") T(IN, "in") T(BLOCK, "block") T(BUFFER, "buffer")              \
    T(SPARE, "spare") T(CODE, "code") T(PER, "per") T(TABLE, "table") T(FILE, "file") T(ENCODE, "encode")            \
    T(VALUE, "value")                                                                                                \
    T(SHL, "<<") T(SHR, ">>") T(EQ, "==") T(NE, "!=") T(LE, "<=") T(GE, ">=") T(LT, "<") T(GT, ">")                  \
    T(OPEN_BRACE, "{") T(CLOSE_BRACE, "}") T(OPEN, "(") T(CLOSE, ")") T(OPEN_BRACKET, "[") T(CLOSE_BRACKET, "]")     \
    T(COLON, ":") T(COMMA, ",") T(ASSIGN, "=") T(AT, "@") T(QUESTION, "?") T(PLUS, "+") T(MINUS, "-")                \
    T(STAR, "*") T(SLASH, "/") T(PERCENT, "%") T(AND, "&") T(OR, "|") T(XOR, "^")

typedef enum qg_token_kind {
#define T(id, spelling) QG_T_##id,
    QG_TOKENS(T)
#undef T
    QG_T_END,
    QG_T_NAME,
    QG_T_PATTERN, /* the name of a format, after the keyword `format` */
    QG_T_INT,
    QG_T_FLOAT,
    QG_T_STRING /* `text` is what stands between the quotes */
} qg_token_kind;
/* clang-format on */

typedef struct qg_token {
    qg_token_kind kind;
    qg_loc loc;
    const char *text;
    size_t length;
    int64_t integer;
    double real;
} qg_token;

typedef struct qg_lexer {
    qg_arena *arena;
    qg_diag *diag;
    const qg_source *source;
    size_t at;
    size_t line_start;
    uint32_t line;
    bool pattern_next;
} qg_lexer;

qg_lexer qg_lexer_new(qg_arena *arena, qg_diag *diag, const qg_source *source);
/* The next token. Reports what is no token, and goes on behind it. */
qg_token qg_lex(qg_lexer *lexer);
/* How a message calls a token: 'code', number 12, the end of the file. */
const char *qg_token_text(qg_arena *arena, const qg_token *token);

typedef struct qg_parser {
    qg_arena *arena;
    qg_diag *diag;
    qg_lexer lexer;
    qg_token token;    /* not yet consumed */
    qg_token previous; /* consumed last */
    uint32_t nesting;
    uint32_t n_exprs;
    bool encoding; /* functions may be called */
} qg_parser;

void qg_advance(qg_parser *parser);
bool qg_accept(qg_parser *parser, qg_token_kind kind);
/* Consumes the token, or reports "expected WHAT after Y, found Z". */
bool qg_expect(qg_parser *parser, qg_token_kind kind, const char *what);
void qg_expected(qg_parser *parser, const char *what);

/* A keyword that can stand nowhere but at the start of an item; only `spare` also begins a field. */
bool qg_begins_item(qg_token_kind kind);

/* parse_expr.c. NULL after a reported error. */
const qg_expr *qg_parse_constant(qg_parser *parser);
const qg_expr *qg_parse_value(qg_parser *parser);

/* A name, which is no keyword; false after a reported error. */
bool qg_parse_name(qg_parser *parser, const char *what, const char **name, qg_loc *loc);
/* Whether there are `limit` of something already, which is reported. */
bool qg_too_many(qg_parser *parser, uint32_t count, uint32_t limit, const char *what);

/* parse_encode.c: `encode { equations }`, behind the keyword. */
bool qg_parse_encode(qg_parser *parser, qg_spec *spec);

/* names.c: why a name cannot be used in generated code, or NULL. */
const char *qg_name_problem(const char *name);
/* The same for a buffer or a table, whose names stand in kernels. */
const char *qg_buffer_name_problem(const char *name);

#endif
