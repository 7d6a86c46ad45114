/* The grammar of `encode`: equations, searches for the best of some candidates, and sweeps over the elements of a
 * group. `best`, `sweep`, `of` and `where` have a meaning here alone. */
#include "spec/lex.h"

#include <string.h>

typedef struct equations {
    qg_spec_equation *items;
    uint32_t count, capacity;
} equations;

static bool is_word(const qg_token *token, const char *word) {
    return token->kind == QG_T_NAME && token->length == strlen(word) && memcmp(token->text, word, token->length) == 0;
}

static bool accept_word(qg_parser *parser, const char *word) {
    if (!is_word(&parser->token, word)) {
        return false;
    }
    qg_advance(parser);
    return true;
}

static bool parse_per(qg_parser *parser, const qg_expr **per) {
    if (!qg_accept(parser, QG_T_PER)) {
        return true;
    }
    *per = qg_parse_constant(parser);
    return *per != NULL;
}

/* The same, or `per row`. */
static bool parse_per_or_row(qg_parser *parser, qg_spec_equation *equation) {
    if (!qg_accept(parser, QG_T_PER)) {
        return true;
    }
    equation->of_row = accept_word(parser, "row");
    if (equation->of_row) {
        return true;
    }
    equation->per = qg_parse_constant(parser);
    return equation->per != NULL;
}

static const qg_expr *parse_expression(qg_parser *parser) {
    parser->nesting = 0;
    return qg_parse_value(parser);
}

static bool add(qg_parser *parser, equations *list, qg_spec_equation equation, uint32_t *all) {
    if (qg_too_many(parser, *all, QG_MAX_EQUATIONS, "equations")) {
        return false;
    }
    *all += 1;
    QG_PUSH(parser->arena, list->items, list->count, list->capacity, equation);
    return true;
}

/* NAME [per N | per row] = EXPRESSION [then EXPRESSION] */
static bool parse_equation(qg_parser *parser, equations *list, uint32_t *all) {
    qg_spec_equation equation = {0};
    if (!qg_parse_name(parser, "the name that an equation sets, or '}'", &equation.name, &equation.loc) ||
        !parse_per_or_row(parser, &equation) || !qg_expect(parser, QG_T_ASSIGN, "'=' and an expression")) {
        return false;
    }
    equation.value = parse_expression(parser);
    if (equation.value != NULL && accept_word(parser, "then")) {
        equation.next = parse_expression(parser);
        if (equation.next == NULL) {
            return false;
        }
    }
    return equation.value != NULL && add(parser, list, equation, all);
}

/* best [per N] of NAME in COUNT { equations } where CONDITION; the same with `sweep`. */
static bool parse_best(qg_parser *parser, equations *list, uint32_t *all, bool sweeps) {
    qg_spec_equation best = {.loc = parser->previous.loc, .sweeps = sweeps};
    equations body = {0};
    if (!parse_per(parser, &best.per)) {
        return false;
    }
    if (!accept_word(parser, "of")) {
        qg_expected(parser, sweeps ? "'of' and the name that counts how often"
                                   : "'of' and the name that counts the candidates");
        return false;
    }
    if (!qg_parse_name(parser, "the name that counts the candidates", &best.name, &best.loc) ||
        !qg_expect(parser, QG_T_IN, "'in' and the number of candidates")) {
        return false;
    }
    best.count = qg_parse_constant(parser);
    if (best.count == NULL || !qg_expect(parser, QG_T_OPEN_BRACE, "'{' and equations")) {
        return false;
    }
    while (parser->token.kind != QG_T_CLOSE_BRACE) {
        if (!parse_equation(parser, &body, all)) {
            return false;
        }
    }
    qg_advance(parser);
    if (!accept_word(parser, "where")) {
        qg_expected(parser, sweeps ? "'where' and when states become what is behind 'then'"
                                   : "'where' and when a candidate takes the place of the one that is kept");
        return false;
    }
    best.value = parse_expression(parser);
    best.body = body.items;
    best.n_body = body.count;
    return best.value != NULL && add(parser, list, best, all);
}

static bool parse_body(qg_parser *parser, qg_spec *spec) {
    equations list = {0};
    uint32_t all = 0;
    while (parser->token.kind != QG_T_CLOSE_BRACE) {
        const bool best = accept_word(parser, "best"), sweeps = !best && accept_word(parser, "sweep");
        if (!(best || sweeps ? parse_best(parser, &list, &all, sweeps) : parse_equation(parser, &list, &all))) {
            return false;
        }
    }
    if (list.count == 0) {
        qg_error(parser->diag, parser->token.loc, "'encode' is empty: write equations, or leave it out");
        return false;
    }
    spec->equations = list.items;
    spec->n_equations = list.count;
    qg_advance(parser);
    spec->encode_end = (size_t)(parser->previous.text - parser->lexer.source->text) + 1;
    return true;
}

bool qg_parse_encode(qg_parser *parser, qg_spec *spec) {
    qg_loc loc = parser->previous.loc;
    if (spec->n_equations > 0) {
        qg_error(parser->diag, loc, "a second 'encode': a format has one way to make its blocks, remove the other");
        qg_note(parser->diag, spec->encode_loc, "the first is here");
        return false;
    }
    spec->encode_loc = loc;
    spec->encode_begin = (size_t)(parser->previous.text - parser->lexer.source->text);
    if (!qg_expect(parser, QG_T_OPEN_BRACE, "'{' and equations")) {
        return false;
    }
    parser->encoding = true;
    bool parsed = parse_body(parser, spec);
    parser->encoding = false;
    return parsed;
}
