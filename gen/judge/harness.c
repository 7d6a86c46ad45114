/* The text of a harness: statements, each of which begins with a word, with the lexer and the expressions of
 * specifications. */
#include "judge/harness.h"

#include "spec/lex.h"

#include <string.h>

const char *const qg_foreign_names[] = {"vulkan", "metal", "c"};
const char *const qg_computes_names[] = {"values", "rows", "sums"};
static const char *const number_names[] = {"u8", "u16", "u32", "i32", "u64", "i64", "f32"};

typedef struct parse {
    qg_parser p;
    qg_harness *h;
    bool has_target, has_computes;
} parse;

static bool is_word(const qg_token *token, const char *word) {
    return token->kind != QG_T_STRING && token->length == strlen(word) && !memcmp(token->text, word, token->length);
}

static bool accept_word(parse *s, const char *word) {
    if (!is_word(&s->p.token, word)) return false;
    qg_advance(&s->p);
    return true;
}

static bool complain(parse *s, qg_loc loc, const char *text) {
    qg_error(s->p.diag, loc, "%s", text);
    return false;
}

/* The index of the next word in `names`. */
static bool one_of(parse *s, const char *const *names, uint32_t count, uint32_t *chosen) {
    qg_text known = qg_text_new(s->p.arena);
    for (uint32_t i = 0; i < count; ++i) {
        if (accept_word(s, names[i])) {
            *chosen = i;
            return true;
        }
        qg_text_printf(&known, "%s%s", i == 0 ? "" : i + 1 == count ? " or " : ", ", names[i]);
    }
    qg_expected(&s->p, known.data);
    return false;
}

static bool integer(parse *s, const char *what, uint32_t *value) {
    if (s->p.token.kind != QG_T_INT || s->p.token.integer < 0 || s->p.token.integer > 1000000) {
        qg_expected(&s->p, what);
        return false;
    }
    *value = (uint32_t)s->p.token.integer;
    qg_advance(&s->p);
    return true;
}

static bool is_known(const parse *s, const char *name) {
    static const char *const sizes[] = {"rows",        "cols",   "batch",        "elements",  "block_elements",
                                        "block_bytes", "blocks", "weight_bytes", "lanes",     "experts",
                                        "slots",       "tokens", "block_rows",   "block_cols"};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; ++i)
        if (!strcmp(sizes[i], name)) return true;
    for (uint32_t i = 0; i < s->h->n_lets; ++i)
        if (!strcmp(s->h->lets[i].name, name)) return true;
    return false;
}

/* Names are known, and all is integers. */
static bool check_expr(parse *s, const qg_expr *e) {
    if (!e) return true;
    if (e->kind == QG_E_FLOAT || e->kind == QG_E_INDEX || e->kind == QG_E_BITS)
        return complain(s, e->loc, "a harness computes with integers alone: numbers, names and C's operators");
    if (e->kind == QG_E_NAME && !is_known(s, e->name)) {
        qg_error(
            s->p.diag, e->loc,
            "'%s' is not known here: there are rows, cols, batch, elements, block_elements, block_rows, block_cols, "
            "block_bytes, blocks, "
            "weight_bytes, lanes, experts, slots, tokens, and names that a `let` before gives",
            e->name);
        return false;
    }
    for (int i = 0; i < 3; ++i)
        if (!check_expr(s, e->arg[i])) return false;
    return true;
}

static const qg_expr *expr(parse *s) {
    const qg_expr *e = qg_parse_value(&s->p);
    return e && check_expr(s, e) ? e : NULL;
}

/* `{ TYPE EXPR, ... }` */
static bool members(parse *s, qg_struct_member *items, uint32_t *count) {
    if (!qg_expect(&s->p, QG_T_OPEN_BRACE, "'{'")) return false;
    while (s->p.token.kind != QG_T_CLOSE_BRACE) {
        uint32_t type;
        if (*count == QG_MAX_ITEMS) return complain(s, s->p.token.loc, "a struct has at most 64 numbers");
        if (!one_of(s, number_names, QG_NUMBER_COUNT, &type)) return false;
        items[*count] = (qg_struct_member){(qg_number)type, expr(s)};
        if (!items[(*count)++].value) return false;
        if (!qg_accept(&s->p, QG_T_COMMA)) break;
    }
    return qg_expect(&s->p, QG_T_CLOSE_BRACE, "',' or '}'");
}

static bool weights(parse *s, qg_argument *a) {
    const qg_layout *layout = s->h->layout;
    a->use = QG_USE_WEIGHTS;
    for (uint32_t i = 0; i < layout->n_buffers; ++i)
        if (accept_word(s, layout->buffers[i].name)) {
            a->buffer = i;
            return true;
        }
    if (layout->n_buffers == 1) return true;
    qg_text names = qg_text_new(s->p.arena);
    for (uint32_t i = 0; i < layout->n_buffers; ++i)
        qg_text_printf(&names, "%s%s", i ? ", " : "", layout->buffers[i].name);
    qg_error(s->p.diag, s->p.previous.loc, "%s has several buffers: write which one behind `weights`: %s", layout->name,
             names.data);
    return false;
}

static bool float_type(parse *s, qg_argument *a) {
    static const char *const names[] = {"f32", "f16", "bf16"};
    static const qg_scalar types[] = {QG_F32, QG_F16, QG_BF16};
    uint32_t chosen;
    if (!one_of(s, names, 3, &chosen)) return false;
    a->type = types[chosen];
    return true;
}

/* `table NAME [TYPE]` */
static bool table(parse *s, qg_argument *a) {
    const qg_layout *layout = s->h->layout;
    qg_text names = qg_text_new(s->p.arena);
    uint32_t type;
    a->use = QG_USE_TABLE;
    for (a->table = 0; a->table < layout->n_tables; ++a->table) {
        if (accept_word(s, layout->tables[a->table].name)) break;
        qg_text_printf(&names, "%s%s", a->table ? ", " : "", layout->tables[a->table].name);
    }
    if (a->table == layout->n_tables) {
        qg_error(s->p.diag, s->p.token.loc, "which table of %s? %s%s", layout->name,
                 layout->n_tables ? "it has " : "it has none", layout->n_tables ? names.data : "");
        return false;
    }
    for (type = 0; type < QG_NUMBER_COUNT; ++type)
        if (accept_word(s, number_names[type])) break;
    a->converted = type < QG_NUMBER_COUNT;
    a->number = (qg_number)(a->converted ? type : 0);
    return true;
}

static bool buffer(parse *s) {
    static const char *const uses[] = {"weights", "x", "y", "indices", "ids", "zeros", "table"};
    static const char *const index_types[] = {"u32", "i32"}, *const slot[] = {"slot"};
    qg_harness *h = s->h;
    uint32_t use, type;
    if (h->n_arguments == QG_MAX_ARGUMENTS)
        return complain(s, s->p.previous.loc, "a kernel has at most 32 arguments here");
    qg_argument *a = &h->arguments[h->n_arguments++];
    *a = (qg_argument){.loc = s->p.previous.loc};
    if (!integer(s, "the number of the binding, buffer or argument", &a->index)) return false;
    if (s->p.token.kind == QG_T_OPEN_BRACE) {
        a->use = QG_USE_STRUCT;
        a->items = QG_NEW_ARRAY(s->p.arena, qg_struct_member, QG_MAX_ITEMS);
        return members(s, a->items, &a->n_items);
    }
    if (!one_of(s, uses, 7, &use)) return false;
    if (!strcmp(uses[use], "table")) return table(s, a);
    a->use = (qg_use)use;
    if (a->use == QG_USE_WEIGHTS) return weights(s, a);
    if (a->use == QG_USE_ZEROS) return (a->value = expr(s)) != NULL;
    if (a->use == QG_USE_X) {
        if (!float_type(s, a)) return false;
        if (accept_word(s, "per")) return one_of(s, slot, 1, &type) && (a->per_slot = true);
        return true;
    }
    if (a->use == QG_USE_Y) return float_type(s, a);
    a->type = QG_U32;
    return one_of(s, index_types, 2, &type);
}

static bool uniform(parse *s) {
    qg_harness *h = s->h;
    if (h->target == QG_FOREIGN_C) return complain(s, s->p.previous.loc, "a C function has no uniform buffers");
    if (h->n_arguments == QG_MAX_ARGUMENTS)
        return complain(s, s->p.previous.loc, "a kernel has at most 32 arguments here");
    qg_argument *a = &h->arguments[h->n_arguments++];
    *a = (qg_argument){.loc = s->p.previous.loc, .use = QG_USE_STRUCT, .uniform = true};
    a->items = QG_NEW_ARRAY(s->p.arena, qg_struct_member, QG_MAX_ITEMS);
    return integer(s, "the number of the binding", &a->index) && members(s, a->items, &a->n_items);
}

/* `called N TYPE NAME` */
static bool called(parse *s) {
    const qg_loc loc = s->p.previous.loc;
    uint32_t index;
    if (!integer(s, "the number of a buffer that a statement before gives", &index)) return false;
    for (uint32_t i = 0; i < s->h->n_arguments; ++i) {
        qg_argument *a = &s->h->arguments[i];
        if (a->index != index) continue;
        for (int word = 0; word < 2; ++word) {
            if (s->p.token.kind == QG_T_STRING || s->p.token.kind == QG_T_END || s->p.token.kind == QG_T_INT) {
                qg_expected(&s->p, word ? "the name of the argument" : "its type in Metal");
                return false;
            }
            *(word ? &a->called : &a->called_type) = qg_strndup(s->p.arena, s->p.token.text, s->p.token.length);
            qg_advance(&s->p);
        }
        return true;
    }
    qg_error(s->p.diag, loc, "no buffer %u stands before: write it first, and then what it is called", index);
    return false;
}

static bool value(parse *s) {
    qg_harness *h = s->h;
    if (h->n_arguments == QG_MAX_ARGUMENTS)
        return complain(s, s->p.previous.loc, "a kernel has at most 32 arguments here");
    qg_argument *a = &h->arguments[h->n_arguments++];
    *a = (qg_argument){.loc = s->p.previous.loc, .use = QG_USE_VALUE};
    return integer(s, "the place of the argument", &a->index) && (a->value = expr(s)) != NULL;
}

static bool constant(parse *s) {
    qg_harness *h = s->h;
    uint32_t type;
    if (h->n_constants == QG_MAX_ITEMS) return complain(s, s->p.previous.loc, "a kernel has at most 64 constants here");
    qg_foreign_constant *c = &h->constants[h->n_constants++];
    if (!integer(s, "the number of the constant", &c->id)) return false;
    if (!one_of(s, number_names, QG_NUMBER_COUNT, &type)) return false;
    c->member.type = (qg_number)type;
    return qg_expect(&s->p, QG_T_ASSIGN, "'='") && (c->member.value = expr(s)) != NULL;
}

static bool three(parse *s, const qg_expr **to) {
    for (int i = 0; i < 3; ++i) {
        if (!(to[i] = expr(s))) return false;
        if (!qg_accept(&s->p, QG_T_COMMA)) return true;
    }
    return complain(s, s->p.previous.loc, "a grid has at most three sizes");
}

static bool let(parse *s) {
    qg_harness *h = s->h;
    if (s->p.token.kind != QG_T_NAME) {
        qg_expected(&s->p, "a name");
        return false;
    }
    const char *name = qg_strndup(s->p.arena, s->p.token.text, s->p.token.length);
    if (is_known(s, name)) return complain(s, s->p.token.loc, "this name has a value already: take another");
    if (h->n_lets == QG_MAX_LETS) return complain(s, s->p.token.loc, "a harness has at most 32 names");
    qg_advance(&s->p);
    if (!qg_expect(&s->p, QG_T_ASSIGN, "'='")) return false;
    const qg_expr *e = expr(s);
    if (!e) return false;
    h->lets[h->n_lets++] = (qg_harness_let){.name = name, .value = e};
    return true;
}

static bool needs(parse *s) {
    qg_harness *h = s->h;
    if (h->n_needs == QG_MAX_ITEMS) return complain(s, s->p.previous.loc, "a harness has at most 64 `needs`");
    qg_need *n = &h->needs[h->n_needs++];
    if (!(n->value = expr(s))) return false;
    if (s->p.token.kind != QG_T_STRING) {
        qg_expected(&s->p, "why, between quotes");
        return false;
    }
    n->why = qg_strndup(s->p.arena, s->p.token.text, s->p.token.length);
    qg_advance(&s->p);
    return true;
}

static bool threadgroup(parse *s) {
    qg_harness *h = s->h;
    if (h->n_threadgroup == QG_MAX_ITEMS) return complain(s, s->p.previous.loc, "a kernel has at most 64 of these");
    qg_argument *a = &h->threadgroup[h->n_threadgroup++];
    *a = (qg_argument){.loc = s->p.previous.loc};
    return integer(s, "the number of the threadgroup memory", &a->index) && (a->value = expr(s)) != NULL;
}

static bool entry(parse *s) {
    if (s->p.token.kind != QG_T_NAME && s->p.token.kind != QG_T_STRING) {
        qg_expected(&s->p, "the name of the kernel");
        return false;
    }
    s->h->entry = qg_strndup(s->p.arena, s->p.token.text, s->p.token.length);
    qg_advance(&s->p);
    return true;
}

static bool statement(parse *s) {
    static const char *const outside_names[] = {"zeros", "nothing"};
    qg_harness *h = s->h;
    uint32_t chosen;
    if (accept_word(s, "target")) {
        if (!one_of(s, qg_foreign_names, QG_FOREIGN_COUNT, &chosen)) return false;
        h->target = (qg_foreign)chosen;
        return s->has_target = true;
    }
    if (accept_word(s, "computes")) {
        if (!one_of(s, qg_computes_names, QG_COMPUTES_COUNT, &chosen)) return false;
        h->computes = (qg_computes)chosen;
        return s->has_computes = true;
    }
    if (accept_word(s, "entry")) return entry(s);
    if (accept_word(s, "buffer")) return buffer(s);
    if (accept_word(s, "uniform")) return uniform(s);
    if (accept_word(s, "called")) return called(s);
    if (accept_word(s, "value")) return value(s);
    if (accept_word(s, "push")) return members(s, h->push, &h->n_push);
    if (accept_word(s, "constant")) return constant(s);
    if (accept_word(s, "group")) return three(s, h->group);
    if (accept_word(s, "grid")) return three(s, h->grid);
    if (accept_word(s, "let")) return let(s);
    if (accept_word(s, "needs")) return needs(s);
    if (accept_word(s, "threadgroup")) return threadgroup(s);
    if (accept_word(s, "outside")) {
        if (!one_of(s, outside_names, 2, &chosen)) return false;
        h->outside = chosen == 0 ? QG_OUTSIDE_ZEROS : QG_OUTSIDE_NOTHING;
        return true;
    }
    qg_expected(&s->p, "a statement: target, computes, entry, buffer, uniform, called, value, push, constant, group, "
                       "grid, threadgroup, let, "
                       "needs or outside");
    return false;
}

/* What every kernel has. */
static bool complete(parse *s) {
    const qg_harness *h = s->h;
    const qg_loc end = s->p.token.loc;
    if (!s->has_target) return complain(s, end, "the harness does not say `target vulkan`, `metal` or `c`");
    if (!s->has_computes) return complain(s, end, "the harness does not say `computes values`, `rows` or `sums`");
    if (!qg_harness_argument(h, QG_USE_WEIGHTS))
        return complain(s, end, "no buffer has the weights: `buffer 0 weights`");
    if (!qg_harness_argument(h, QG_USE_Y)) return complain(s, end, "no buffer has the results: `buffer 1 y f32`");
    if (h->computes == QG_COMPUTES_SUMS && !qg_harness_argument(h, QG_USE_X))
        return complain(s, end, "a sum needs right-hand sides: `buffer 1 x f32`");
    if (h->computes == QG_COMPUTES_ROWS && !qg_harness_argument(h, QG_USE_INDICES))
        return complain(s, end, "rows are chosen by indices: `buffer 1 indices u32`");
    const bool has_ids = qg_harness_argument(h, QG_USE_IDS) != NULL;
    if (has_ids && h->computes != QG_COMPUTES_SUMS)
        return complain(s, end, "`ids` choose experts of `computes sums`; rows are chosen by `indices`");
    if (h->outside && !has_ids && h->computes != QG_COMPUTES_ROWS)
        return complain(s, end, "`outside` is for kernels with `ids` or `indices`");
    for (uint32_t i = 0; i < h->n_arguments && qg_harness_has_body(h); ++i) {
        if (h->target != QG_FOREIGN_METAL) return complain(s, end, "`called` is for bodies of Metal kernels");
        if (h->arguments[i].called) continue;
        qg_error(s->p.diag, h->arguments[i].loc, "what is argument %u called in the body? `called %u TYPE NAME` says",
                 h->arguments[i].index, h->arguments[i].index);
        return false;
    }
    for (uint32_t i = 0; i < h->n_arguments; ++i)
        for (uint32_t j = 0; j < i; ++j)
            if (h->arguments[i].index == h->arguments[j].index) {
                qg_error(s->p.diag, h->arguments[i].loc, "number %u stands for another argument, too",
                         h->arguments[i].index);
                return false;
            }
    return true;
}

qg_harness *qg_harness_parse(qg_arena *arena, qg_diag *diag, const qg_source *source, const qg_layout *layout) {
    parse s = {.p = {.arena = arena, .diag = diag, .lexer = qg_lexer_new(arena, diag, source)},
               .h = QG_NEW(arena, qg_harness)};
    s.h->source = source;
    s.h->layout = layout;
    s.h->name = source->path;
    qg_advance(&s.p);
    while (s.p.token.kind != QG_T_END)
        if (!statement(&s)) return NULL;
    return complete(&s) && !diag->errors ? s.h : NULL;
}

bool qg_harness_set(qg_harness *harness, const char *name, int64_t value) {
    for (uint32_t i = 0; i < harness->n_lets; ++i)
        if (!strcmp(harness->lets[i].name, name)) {
            harness->lets[i].set = true;
            harness->lets[i].number = value;
            return true;
        }
    return false;
}

const qg_argument *qg_harness_argument(const qg_harness *harness, qg_use use) {
    for (uint32_t i = 0; i < harness->n_arguments; ++i)
        if (harness->arguments[i].use == use) return &harness->arguments[i];
    return NULL;
}

/* ---- bodies ------------------------------------------------------------------------------------------------------ */

bool qg_harness_has_body(const qg_harness *harness) {
    for (uint32_t i = 0; i < harness->n_arguments; ++i)
        if (harness->arguments[i].called) return true;
    return false;
}

/* What a body may ask of its thread, as MLX's metal_kernel gives it: where it is named. */
static void add_positions(qg_text *text, const char *body) {
    static const char *const wide[] = {"thread_position_in_grid",        "threads_per_grid",
                                       "threadgroup_position_in_grid",   "threadgroups_per_grid",
                                       "thread_position_in_threadgroup", "threads_per_threadgroup"};
    static const char *const narrow[] = {"thread_index_in_threadgroup", "thread_index_in_simdgroup",
                                         "simdgroup_index_in_threadgroup", "threads_per_simdgroup",
                                         "simdgroups_per_threadgroup"};
    for (size_t i = 0; i < sizeof wide / sizeof *wide; ++i)
        if (strstr(body, wide[i])) qg_text_printf(text, ",\n    uint3 %s [[%s]]", wide[i], wide[i]);
    for (size_t i = 0; i < sizeof narrow / sizeof *narrow; ++i)
        if (strstr(body, narrow[i])) qg_text_printf(text, ",\n    uint %s [[%s]]", narrow[i], narrow[i]);
}

const char *qg_harness_wrap(qg_arena *arena, const qg_harness *h, const char *path, const char *body,
                            const qg_texts *defines) {
    qg_text text = qg_text_new(arena);
    qg_text_puts(&text, "#include <metal_stdlib>\nusing namespace metal;\n"
                        "typedef half float16_t;\ntypedef bfloat bfloat16_t;\n");
    for (uint32_t i = 0; i < defines->count; ++i) { /* behind the library, which has a T of its own */
        const char *define = defines->items[i], *equals = strchr(define, '=');
        const int length = equals ? (int)(equals - define) : (int)strlen(define);
        qg_text_printf(&text, "#define %.*s %s\n", length, define, equals ? equals + 1 : "1");
    }
    qg_text_printf(&text, "kernel void %s(", h->entry ? h->entry : "body");
    for (uint32_t i = 0; i < h->n_arguments; ++i) {
        const qg_argument *a = &h->arguments[i];
        const char *space = a->use == QG_USE_STRUCT                        ? "const constant"
                            : a->use == QG_USE_Y || a->use == QG_USE_ZEROS ? "device"
                                                                           : "const device";
        qg_text_printf(&text, "%s\n    %s %s *%s [[buffer(%u)]]", i ? "," : "", space, a->called_type, a->called,
                       a->index);
    }
    add_positions(&text, body);
    qg_text_printf(&text, ") {\n#line 1 \"%s\"\n%s\n}\n", path, body);
    return text.data;
}
