/* Text to tokens. Newlines are white space; `#` starts a comment that ends with the line. */
#include "spec/lex.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *spelling;
    qg_token_kind kind;
} fixed_tokens[] = {
#define T(id, spelling) {spelling, QG_T_##id},
    QG_TOKENS(T)
#undef T
};

enum { N_FIXED = sizeof fixed_tokens / sizeof fixed_tokens[0] };

qg_lexer qg_lexer_new(qg_arena *arena, qg_diag *diag, const qg_source *source) {
    return (qg_lexer){.arena = arena, .diag = diag, .source = source, .line = 1};
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

/* The byte `ahead` of the position; NUL behind the end. */
static char peek(const qg_lexer *lexer, size_t ahead) {
    return lexer->at + ahead < lexer->source->length ? lexer->source->text[lexer->at + ahead] : '\0';
}

static bool at_end(const qg_lexer *lexer) { return lexer->at >= lexer->source->length; }

static qg_loc place(const qg_lexer *lexer, size_t start, size_t length) {
    return (qg_loc){lexer->source, lexer->line, (uint32_t)(start - lexer->line_start + 1), (uint32_t)length};
}

/* A byte that no place of a specification may hold. A lone carriage return is one: compilers of the generated text
 * would take it for a line's end inside a comment. */
static bool is_control(const qg_lexer *lexer) {
    unsigned char c = (unsigned char)peek(lexer, 0);
    if (c == '\r') {
        return lexer->at + 1 < lexer->source->length && peek(lexer, 1) != '\n';
    }
    return (c < ' ' && c != '\t' && c != '\n') || c == 127;
}

static void report_byte(qg_lexer *lexer) {
    unsigned char c = (unsigned char)peek(lexer, 0);
    qg_loc loc = place(lexer, lexer->at, 1);
    if (c == 0) {
        qg_error(lexer->diag, loc, "NUL byte in the text: a specification is plain text, remove it");
    } else if (c < ' ' || c >= 127) {
        qg_error(lexer->diag, loc, "byte 0x%02X has no meaning here: use plain ASCII outside of comments", c);
    } else if (c == '.') {
        qg_error(lexer->diag, loc, "'.' has no meaning here: a float is written with a digit on both sides, as in 0.5");
    } else if (c == '!') {
        qg_error(lexer->diag, loc, "'!' has no meaning here: compare with '!=' or '== 0'");
    } else {
        qg_error(lexer->diag, loc, "character '%c' has no meaning here: remove it", c);
    }
}

static void skip_comment(qg_lexer *lexer) {
    bool told = false;
    while (!at_end(lexer) && peek(lexer, 0) != '\n') {
        if (is_control(lexer) && !told) {
            qg_error(lexer->diag, place(lexer, lexer->at, 1),
                     "control character 0x%02X in a comment: a specification is plain text, remove it",
                     (unsigned)(unsigned char)peek(lexer, 0));
            told = true;
        }
        lexer->at++;
    }
}

static void skip_space(qg_lexer *lexer) {
    while (!at_end(lexer)) {
        char c = peek(lexer, 0);
        if (c == '#') {
            skip_comment(lexer);
        } else if (c == '\n') {
            lexer->at++;
            lexer->line++;
            lexer->line_start = lexer->at;
        } else if (c == ' ' || c == '\t' || (c == '\r' && !is_control(lexer))) {
            lexer->at++;
        } else {
            return;
        }
    }
}

static qg_token make(qg_lexer *lexer, qg_token_kind kind, size_t length) {
    qg_token token = {.kind = kind, .text = lexer->source->text + lexer->at, .length = length};
    token.loc = place(lexer, lexer->at, length);
    lexer->at += length;
    return token;
}

static qg_token lex_word(qg_lexer *lexer) {
    size_t length = 0;
    while (is_letter(peek(lexer, length)) || is_digit(peek(lexer, length))) {
        length++;
    }
    qg_token token = make(lexer, QG_T_NAME, length);
    for (int i = 0; i < N_FIXED; i++) {
        const char *spelling = fixed_tokens[i].spelling;
        if (strlen(spelling) == length && memcmp(spelling, token.text, length) == 0) {
            token.kind = fixed_tokens[i].kind;
        }
    }
    if (token.kind == QG_T_NAME && length > QG_MAX_NAME) {
        qg_error(lexer->diag, token.loc, "a name has at most %d characters, and this one has %zu: shorten it",
                 QG_MAX_NAME, length);
        token.length = QG_MAX_NAME;
    }
    lexer->pattern_next = token.kind == QG_T_FORMAT;
    return token;
}

static qg_token lex_pattern(qg_lexer *lexer) {
    size_t length = 0;
    lexer->pattern_next = false;
    for (char c = peek(lexer, 0); is_letter(c) || is_digit(c) || c == '{' || c == '}'; c = peek(lexer, length)) {
        length++;
    }
    return make(lexer, QG_T_PATTERN, length);
}

static int digit_of(char c) {
    return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
}

static void read_integer(qg_lexer *lexer, qg_token *token, int base) {
    int64_t sum = 0;
    for (size_t i = base == 16 ? 2 : 0; i < token->length; i++) {
        int digit = digit_of(token->text[i]);
        if (sum > (INT64_MAX - digit) / base) {
            qg_error(lexer->diag, token->loc, "number too large: an integer has at most 63 bits");
            return;
        }
        sum = sum * base + digit;
    }
    token->integer = sum;
}

/* Rounds the literal once, to f32. The C library expects the decimal point of the host program's locale. */
static void read_float(qg_lexer *lexer, qg_token *token) {
    char *copy = qg_strndup(lexer->arena, token->text, token->length);
    char *point = strchr(copy, '.');
    if (point != NULL) {
        *point = localeconv()->decimal_point[0];
    }
    float real = strtof(copy, NULL);
    bool zero = strspn(token->text, "0.") >= strcspn(copy, "eE");
    if (isinf(real)) {
        qg_error(lexer->diag, token->loc, "number too large: the largest float is about 3.4e38");
    } else if (real == 0 && !zero) {
        qg_error(lexer->diag, token->loc, "number too small: as an f32 it is zero; write 0.0 if that is meant");
    } else {
        token->real = (double)real;
    }
}

static size_t exponent_length(const qg_lexer *lexer, size_t at) {
    if (peek(lexer, at) != 'e' && peek(lexer, at) != 'E') {
        return 0;
    }
    size_t length = peek(lexer, at + 1) == '+' || peek(lexer, at + 1) == '-' ? 2 : 1;
    size_t digits = 0;
    while (is_digit(peek(lexer, at + length + digits))) {
        digits++;
    }
    return digits == 0 ? 0 : length + digits;
}

static qg_token lex_number(qg_lexer *lexer) {
    size_t length = 0;
    int base =
        peek(lexer, 0) == '0' && (peek(lexer, 1) == 'x' || peek(lexer, 1) == 'X') && digit_of(peek(lexer, 2)) < 16 ? 16
                                                                                                                   : 10;
    length = base == 16 ? 2 : 0;
    while (digit_of(peek(lexer, length)) < base) {
        length++;
    }
    bool real = false;
    if (base == 10 && peek(lexer, length) == '.' && is_digit(peek(lexer, length + 1))) {
        real = true;
        for (length++; is_digit(peek(lexer, length));) {
            length++;
        }
    }
    size_t exponent = base == 10 ? exponent_length(lexer, length) : 0;
    real = real || exponent > 0;
    qg_token token = make(lexer, real ? QG_T_FLOAT : QG_T_INT, length + exponent);
    if (real) {
        read_float(lexer, &token);
    } else {
        read_integer(lexer, &token, base);
    }
    size_t tail = 0;
    while (is_letter(peek(lexer, tail)) || is_digit(peek(lexer, tail))) {
        tail++;
    }
    if (tail > 0) {
        qg_error(lexer->diag, place(lexer, lexer->at, tail),
                 "a number runs into letters: put a space between them, or start the name with a letter");
        lexer->at += tail;
    }
    return token;
}

/* No escapes, printable ASCII only: the text is copied into comments of the generated code. */
static qg_token lex_string(qg_lexer *lexer) {
    size_t length = 1;
    size_t start = lexer->at;
    bool told = false;
    for (char c = peek(lexer, 1); c != '"'; c = peek(lexer, length)) {
        if (start + length >= lexer->source->length || c == '\n') {
            qg_error(lexer->diag, place(lexer, start, length), "text not ended: close it with '\"' on the same line");
            told = true;
            break;
        }
        bool ends_comment = c == '*' && peek(lexer, length + 1) == '/';
        if (!told && (c < ' ' || c > '~' || c == '\\' || ends_comment)) {
            qg_error(lexer->diag, place(lexer, start + length, 1),
                     "text may hold printable ASCII only, without '\\' and '*/', for it is copied into comments");
            told = true;
        }
        length++;
    }
    qg_token token = make(lexer, QG_T_STRING, length);
    token.text++;
    token.length--;
    if (peek(lexer, 0) == '"') {
        lexer->at++;
        token.loc.length++;
    }
    return token;
}

static qg_token lex_fixed(qg_lexer *lexer, bool *found) {
    for (int i = 0; i < N_FIXED; i++) {
        const char *spelling = fixed_tokens[i].spelling;
        size_t length = strlen(spelling);
        if (!is_letter(spelling[0]) && spelling[0] == peek(lexer, 0) &&
            (length == 1 || spelling[1] == peek(lexer, 1))) {
            return make(lexer, fixed_tokens[i].kind, length);
        }
    }
    *found = false;
    return (qg_token){.kind = QG_T_END};
}

qg_token qg_lex(qg_lexer *lexer) {
    bool told = false;
    for (;;) {
        skip_space(lexer);
        char c = peek(lexer, 0);
        if (at_end(lexer)) {
            return make(lexer, QG_T_END, 0);
        }
        if (lexer->pattern_next && (is_letter(c) || is_digit(c) || c == '{')) {
            return lex_pattern(lexer);
        }
        lexer->pattern_next = false;
        if (is_letter(c)) {
            return lex_word(lexer);
        }
        if (is_digit(c)) {
            return lex_number(lexer);
        }
        if (c == '"') {
            return lex_string(lexer);
        }
        bool found = true;
        qg_token token = lex_fixed(lexer, &found);
        if (found) {
            return token;
        }
        if (!told) {
            report_byte(lexer); /* once for a run of bad bytes */
            told = true;
        }
        lexer->at++;
    }
}

const char *qg_token_text(qg_arena *arena, const qg_token *token) {
    if (token->kind == QG_T_END) {
        return "the end of the file";
    }
    size_t shown = token->length < 40 ? token->length : 40;
    const char *cut = token->length > shown ? "..." : "";
    char *text = qg_strndup(arena, token->text, shown);
    for (size_t i = 0; i < shown; i++) {
        text[i] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
    }
    if (token->kind == QG_T_STRING) {
        return qg_format(arena, "\"%s%s\"", text, cut);
    }
    return qg_format(arena, "'%s%s'", text, cut);
}
