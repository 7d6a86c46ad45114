/* The text of operands of matrix units (ir/operands.c): those of weights, and those of x. Shared by GLSL and MSL. */
#include "text/text.h"

#include <string.h>

static bool is_values(const qg_operand *word) { return word->scale == QG_AS_VALUES; }

static void add_scaled(qg_text *text, const qg_operands *o, const qg_target *target, uint32_t i, float factor) {
    const qg_node *node = o->scales[i].node;
    if (factor != 1 || !node) qg_print_float(text, target, factor);
    if (factor != 1 && node) qg_text_puts(text, " * ");
    if (node) qg_print_factor(text, o->ir, target, node);
}

static float magnitude(float x) { return x < 0 ? -x : x; }

static float bound_of(const qg_operands *o, uint32_t i) { return magnitude(o->scales[i].factor) * o->scales[i].most; }

/* Of scales that differ by a constant, the largest one. */
static bool is_largest(const qg_operands *o, uint32_t i) {
    for (uint32_t k = 0; k < o->n_scales; ++k)
        if (o->scales[k].node == o->scales[i].node && bound_of(o, k) > bound_of(o, i)) return false;
    return true;
}

/* The largest of what becomes a half. */
static void add_most(qg_text *text, const qg_operands *o, const qg_target *target) {
    const char *absolute = target->absolute, *vec = NULL;
    bool first = true;
    qg_text_printf(text, "    float most = 0.0%s;\n", target->float_suffix);
    for (uint32_t i = 0; i < o->n_scales + o->n_offsets; ++i) {
        qg_text item = qg_text_new(text->arena);
        if (i < o->n_scales && !is_largest(o, i)) continue;
        qg_text_printf(&item, "most = max(most, %s(", absolute);
        if (i < o->n_scales)
            add_scaled(&item, o, target, i, o->scales[i].factor * o->scales[i].most);
        else
            qg_print_expression(&item, o->ir, target, o->offsets[i - o->n_scales]);
        qg_text_puts(&item, "))");
        qg_add_item(text, "    ", item.data, first);
        first = false;
    }
    for (uint32_t i = 0; i < o->n_words; ++i) {
        const qg_operand *word = &o->words[i];
        if (!is_values(word) || !word->node || word->lane) continue;
        if (!vec) qg_text_printf(text, "    %s all = ", target->types[QG_K_FLOAT][word->node->lanes]);
        qg_text value = qg_text_new(text->arena);
        qg_text_printf(&value, vec ? "all = max(all, %s(" : "%s(", absolute);
        qg_print_expression(&value, o->ir, target, word->node);
        if (vec)
            qg_add_item(text, "    ", qg_format(text->arena, "%s))", value.data), first);
        else
            qg_text_printf(text, "%s);\n", value.data);
        first = !vec;
        vec = word->node->lanes == 4 ? "max(max(all.x, all.y), max(all.z, all.w))" : "max(all.x, all.y)";
    }
    if (vec) qg_text_printf(text, "    most = max(most, %s);\n", vec);
}

/* A node that would be a statement, where it stands in one place only. */
static void add_in_place(qg_text *text, const qg_operands *o, const qg_target *target, const qg_node *node) {
    qg_node unnamed = *node;
    unnamed.name = NULL;
    qg_print_expression(text, o->ir, target, &unnamed);
}

static const char *word_text(const qg_operands *o, const qg_target *target, const qg_operand *word) {
    const char *half2 = target->halves[2];
    qg_text text = qg_text_new(o->ir->arena);
    if (!word->node) return qg_format(text.arena, "%s(0.0%s)", half2, target->float_suffix);
    const bool added = word->offset != QG_NO_OFFSET;
    if (added) qg_text_puts(&text, "fma(");
    if (word->floats) {
        qg_text_printf(&text, "%s(%s", half2, is_values(word) ? "scale * " : "");
        qg_print_expression(&text, o->ir, target, word->node);
        qg_text_printf(&text, "%s)", word->node->lanes == 2 ? "" : word->lane ? ".zw" : ".xy");
    } else {
        add_in_place(&text, o, target, word->node);
    }
    if (added)
        qg_text_printf(&text, ", mul%u, add%u)", word->scale, word->offset);
    else if (!is_values(word))
        qg_text_printf(&text, " * mul%u", word->scale);
    return text.data;
}

/* Whether words of that scale are added to: then it is two halves, as what is added. */
static bool is_added_to(const qg_operands *o, uint32_t scale) {
    for (uint32_t i = 0; i < o->n_words; ++i)
        if (o->words[i].node && o->words[i].scale == scale && o->words[i].offset != QG_NO_OFFSET) return true;
    return false;
}

static bool reaches(const qg_ir *ir, const qg_node *from, const qg_node *node) {
    if (from == node) return true;
    if (qg_fetched_at(ir->fetched, from) != UINT32_MAX) return false;
    for (uint32_t i = 0; i < from->n_args; ++i)
        if (reaches(ir, from->arg[i], node)) return true;
    return false;
}

static bool in_scales(const qg_operands *o, const qg_node *node) {
    for (uint32_t i = 0; i < o->n_scales; ++i)
        if (o->scales[i].node && reaches(o->ir, o->scales[i].node, node)) return true;
    for (uint32_t i = 0; i < o->n_offsets; ++i)
        if (reaches(o->ir, o->offsets[i], node)) return true;
    return false;
}

static bool in_words(const qg_operands *o, uint32_t first, uint32_t count, const qg_node *node) {
    for (uint32_t i = first; i < first + count && i < o->n_words; ++i)
        if (o->words[i].node && o->words[i].node != node && reaches(o->ir, o->words[i].node, node)) return true;
    return false;
}

static bool in_values(const qg_operands *o, const qg_node *node) {
    for (uint32_t i = 0; i < o->n_words; ++i)
        if (is_values(&o->words[i]) && o->words[i].node && reaches(o->ir, o->words[i].node, node)) return true;
    return false;
}

void qg_operands_most(qg_text *text, const qg_operands *operands, const qg_ir *ir, const qg_target *target) {
    qg_operands copy = *operands, *o = &copy; /* with what is fetched */
    o->ir = ir;
    for (uint32_t i = 0; i < ir->n_statements; ++i)
        if (in_scales(o, ir->statements[i]) || in_values(o, ir->statements[i]))
            qg_print_statement(text, ir, target, ir->statements[i], "    ");
    add_most(text, o, target);
    qg_text_puts(text, "    return most;\n");
}

enum { QG_ALL_PARTS = 0x7FFFFFFF }; /* a number that no part has */

/* The part that a statement is of alone; QG_ALL_PARTS where it is of several, or of scales. */
static uint32_t part_of(const qg_operands *o, const qg_node *node, bool *used) {
    const uint32_t each = 2 * o->part;
    uint32_t part = QG_ALL_PARTS;
    *used = in_scales(o, node);
    if (*used) return QG_ALL_PARTS;
    for (uint32_t p = 0; p * each < o->n_words; ++p) {
        bool own = in_words(o, p * each, each, node);
        for (uint32_t i = p * each; i < (p + 1) * each && i < o->n_words; ++i)
            own |= o->words[i].floats && o->words[i].node == node;
        if (own && *used) return QG_ALL_PARTS;
        if (own) part = p;
        *used |= own;
    }
    return part;
}

/* The part whose words alone have a scale, or an offset, of that number; QG_ALL_PARTS where several have. */
static uint32_t part_of_scale(const qg_operands *o, uint32_t number, bool offset) {
    uint32_t part = QG_ALL_PARTS;
    for (uint32_t i = 0; i < o->n_words; ++i) {
        const qg_operand *word = &o->words[i];
        if (!word->node || (offset ? word->offset : word->scale) != number) continue;
        if (part != QG_ALL_PARTS && part != i / (2 * o->part)) return QG_ALL_PARTS;
        part = i / (2 * o->part);
    }
    return part;
}

static const char *scale_text(const qg_operands *o, const qg_target *target, uint32_t i, bool two) {
    const char *half = target->halves[1];
    const bool product = o->scales[i].factor != 1 && o->scales[i].node;
    qg_text text = qg_text_new(o->ir->arena);
    qg_text_printf(&text, "mul%u = %s%s%s(scale * %s", i, two ? target->halves[2] : "", two ? "(" : "", half,
                   product ? "(" : "");
    add_scaled(&text, o, target, i, o->scales[i].factor);
    qg_text_printf(&text, ")%s%s", product ? ")" : "", two ? ")" : "");
    return text.data;
}

static const char *offset_text(const qg_operands *o, const qg_target *target, uint32_t i) {
    qg_text text = qg_text_new(o->ir->arena);
    qg_text_printf(&text, "add%u = %s(%s(scale * (", i, target->halves[2], target->halves[1]);
    qg_print_expression(&text, o->ir, target, o->offsets[i]);
    qg_text_puts(&text, ")))");
    return text.data;
}

/* Scales and offsets as halves: those of a part alone, or those of several. What a part does not have is not made
 * before it, or a compiler keeps it in registers for the parts that have it. */
static void add_scales(qg_text *text, const qg_operands *o, const qg_target *target, uint32_t part, const char *in) {
    for (uint32_t two = 0; two < 2; ++two) {
        const char *begin = qg_format(text->arena, "%sconst %s ", in, target->halves[two + 1]);
        bool first = true;
        for (uint32_t i = 0; i < o->n_scales; ++i) {
            if (part_of_scale(o, i, false) != part || is_added_to(o, i) != two) continue;
            qg_add_item(text, begin, scale_text(o, target, i, two), first);
            first = false;
        }
        for (uint32_t i = 0; i < o->n_offsets && two; ++i) {
            if (part_of_scale(o, i, true) != part) continue;
            qg_add_item(text, begin, offset_text(o, target, i), first);
            first = false;
        }
    }
}

enum { MOST_PARTS = 8, MOST_PARAMETERS = 8, LEAST_TEXT = 300 };

/* Parts whose operands are made alike, but for some names and numbers: these are the parameters of a function. */
typedef struct alike {
    uint32_t n_parts, n;
    const char *own[MOST_PARAMETERS][MOST_PARTS]; /* what a part has for a parameter */
    const char *type[MOST_PARAMETERS], *name[MOST_PARAMETERS];
    const char *text; /* of the first part, the items apart by lines */
} alike;

static const char *part_text(const qg_operands *o, const qg_target *target, uint32_t p) {
    const uint32_t each = 2 * o->part;
    qg_text text = qg_text_new(o->ir->arena);
    for (uint32_t i = 0; i < each; ++i)
        qg_text_printf(&text, "v[%u] = %s\n", i, word_text(o, target, &o->words[p * each + i]));
    return text.data;
}

/* The next word of a text, or the next letter that is of none. */
static const char *next_token(qg_arena *arena, const char **at) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    const size_t length = strspn(*at, letters);
    const char *token = qg_format(arena, "%.*s", (int)(length ? length : 1), *at);
    *at += length ? length : 1;
    return token;
}

/* The type of what a part has of its own, or of what `operands` has; NULL of all else. */
static const char *token_type(const qg_operands *o, const qg_target *target, const char *token) {
    if (strcmp(token, "scale") == 0) return target->types[QG_K_FLOAT][1];
    if (strncmp(token, "add", 3) == 0 && strspn(token + 3, "0123456789") == strlen(token) - 3 && token[3])
        return target->halves[2];
    for (uint32_t i = 0; i < o->n_scales; ++i)
        if (strcmp(token, qg_format(o->ir->arena, "mul%u", i)) == 0) return target->halves[is_added_to(o, i) ? 2 : 1];
    for (uint32_t i = 0; i < o->ir->n_statements; ++i) {
        const qg_node *node = o->ir->statements[i];
        if (strcmp(token, node->name) == 0) return target->types[node->kind][node->lanes];
    }
    return NULL;
}

static bool is_number(const char *token) {
    return token[0] >= '0' && token[0] <= '9' && token[strlen(token) - 1] == 'u';
}

/* Adds a parameter, unless there is one that all parts have the same for. */
static bool add_parameter(const qg_operands *o, const qg_target *target, alike *a, const char *const *own) {
    const char *type = is_number(own[0]) ? target->types[QG_K_UINT][1] : token_type(o, target, own[0]);
    for (uint32_t i = 0; i < a->n; ++i) {
        bool same = true;
        for (uint32_t p = 0; p < a->n_parts; ++p) same &= strcmp(a->own[i][p], own[p]) == 0;
        if (same) return true;
    }
    for (uint32_t p = 1; p < a->n_parts; ++p) {
        const char *other = is_number(own[p]) ? target->types[QG_K_UINT][1] : token_type(o, target, own[p]);
        if (!type || !other || strcmp(type, other) != 0 || is_number(own[p]) != is_number(own[0])) return false;
    }
    if (a->n == MOST_PARAMETERS) return false;
    memcpy(a->own[a->n], own, a->n_parts * sizeof *own);
    a->type[a->n] = type;
    a->name[a->n] = is_number(own[0]) ? qg_format(o->ir->arena, "mask%u", a->n) : own[0];
    a->n += 1;
    return true;
}

/* What part `p` has where the first has `token`; with names of parameters, the parameter. */
static const char *token_of(const alike *a, uint32_t p, const char *token) {
    for (uint32_t i = 0; i < a->n; ++i)
        if (strcmp(a->own[i][0], token) == 0) return p < a->n_parts ? a->own[i][p] : a->name[i];
    return token;
}

/* Whether what stands in the first part for a parameter stands for nothing else there. */
static bool is_made_of(const qg_operands *o, const qg_target *target, const alike *a, uint32_t p) {
    qg_text text = qg_text_new(o->ir->arena);
    for (const char *at = a->text; *at;) qg_text_puts(&text, token_of(a, p, next_token(o->ir->arena, &at)));
    return strcmp(text.data, part_text(o, target, p)) == 0;
}

/* Whether the parts of a row's operands are alike. */
static bool find_alike(const qg_operands *o, const qg_target *target, alike *a) {
    const char *at[MOST_PARTS], *own[MOST_PARTS];
    *a = (alike){.n_parts = o->n_words / (2 * o->part)};
    if (!*target->unroll || a->n_parts < 2 || a->n_parts > MOST_PARTS) return false;
    for (uint32_t p = 0; p < a->n_parts; ++p) at[p] = part_text(o, target, p);
    a->text = at[0];
    if (strlen(a->text) < LEAST_TEXT) return false;
    while (*at[0]) {
        bool same = true;
        for (uint32_t p = 0; p < a->n_parts; ++p) {
            if (!*at[p]) return false;
            own[p] = next_token(o->ir->arena, &at[p]);
            same &= strcmp(own[p], own[0]) == 0;
        }
        if ((!same || token_type(o, target, own[0])) && !add_parameter(o, target, a, own)) return false;
    }
    for (uint32_t p = 1; p < a->n_parts; ++p)
        if (*at[p] || !is_made_of(o, target, a, p)) return false;
    return true;
}

void qg_operands_alike(qg_text *text, const qg_operands *operands, const qg_ir *ir, const qg_target *target) {
    qg_operands copy = *operands, *o = &copy;
    o->ir = ir;
    alike a;
    if (!find_alike(o, target, &a)) return;
    qg_text_puts(text, "// Operands of a part: words lie alike in all.\nvoid operands_of_part(");
    for (uint32_t i = 0; i < a.n; ++i) qg_text_printf(text, "%s %s, ", a.type[i], a.name[i]);
    qg_text_printf(text, "out %s v[2u * PART]) {\n", target->halves[2]);
    for (const char *at = a.text, *line = at; *at; line = at) {
        qg_text item = qg_text_new(text->arena);
        while (*at != '\n') qg_text_puts(&item, token_of(&a, a.n_parts, next_token(text->arena, &at)));
        ++at;
        qg_add_item(text, "    ", item.data, line == a.text);
    }
    qg_text_puts(text, "}\n\n");
}

/* What a part has of its own, and its operands. */
static void add_part(qg_text *text, const qg_operands *o, const qg_target *target, uint32_t p, const alike *a) {
    const uint32_t each = 2 * o->part;
    bool used;
    for (uint32_t i = 0; i < o->ir->n_statements; ++i)
        if (part_of(o, o->ir->statements[i], &used) == p)
            qg_print_statement(text, o->ir, target, o->ir->statements[i], "        ");
    add_scales(text, o, target, p, "        ");
    for (uint32_t i = 0; i < each && !a; ++i)
        qg_add_item(text, "        ",
                    qg_format(text->arena, "v[%u] = %s", i, word_text(o, target, &o->words[p * each + i])), i == 0);
    if (!a) return;
    qg_text_puts(text, "        operands_of_part(");
    for (uint32_t i = 0; i < a->n; ++i) qg_text_printf(text, "%s, ", a->own[i][p]);
    qg_text_puts(text, "v);\n");
}

void qg_operands_body(qg_text *text, const qg_operands *operands, const qg_ir *ir, const qg_target *target) {
    const uint32_t parts = operands->n_words / (2 * operands->part);
    qg_operands copy = *operands, *o = &copy;
    o->ir = ir;
    bool used;
    alike a;
    const bool are_alike = find_alike(o, target, &a);
    for (uint32_t i = 0; i < ir->n_statements; ++i)
        if (part_of(o, ir->statements[i], &used) == QG_ALL_PARTS && used)
            qg_print_statement(text, ir, target, ir->statements[i], "    ");
    add_scales(text, o, target, QG_ALL_PARTS, "    ");
    const char *texts[MOST_PARTS];
    bool brief = are_alike; /* each is one line */
    for (uint32_t p = 0; p < parts; ++p) {
        qg_text part = qg_text_new(text->arena);
        add_part(&part, o, target, p, are_alike ? &a : NULL);
        texts[p] = part.data;
        brief &= strchr(part.data, '\n')[1] == '\0';
    }
    for (uint32_t p = 0; p < parts; ++p) {
        const char *test = p + 1 < parts ? qg_format(text->arena, "if (part == %uu) ", p) : "";
        if (brief)
            qg_text_printf(text, "    %s%s%s", p ? "else " : "", test, texts[p] + strlen("        "));
        else
            qg_text_printf(text, "    %s%s{\n%s", p ? "} else " : "", test, texts[p]);
    }
    if (!brief) qg_text_puts(text, "    }\n");
}

/* A run of x: of an array where the target has loops that a compiler unrolls. */
static const char *run_of_x(qg_arena *arena, const qg_target *target, uint32_t run) {
    return *target->unroll ? qg_format(arena, "run[%u]", run) : qg_format(arena, "x%u", run);
}

/* An element of x; with `apart`, of the run so many behind it for each turn of a loop. */
static void add_element(qg_text *text, uint16_t element, const qg_plan *plan, const qg_target *target, uint32_t apart) {
    qg_arena *arena = text->arena;
    if (element == QG_NO_ELEMENT) {
        qg_text_printf(text, "0.0%s", target->float_suffix);
        return;
    }
    const uint32_t run = element / plan->lanes;
    const char *turns = apart == 1 ? "i" : qg_format(arena, "i * %uu", apart);
    const char *name = !apart ? run_of_x(arena, target, run)
                       : run  ? qg_format(arena, "run[%s + %uu]", turns, run)
                              : qg_format(arena, "run[%s]", turns);
    qg_text_printf(text, "%s.%c", name, "xyzw"[element % plan->lanes]);
}

/* How many runs words lie apart of which each `at_once` have the same elements of their runs; 0 where they do not. */
static uint32_t runs_apart(const qg_operands *o, const qg_plan *plan, uint32_t at_once) {
    if (o->n_words < 2 * at_once) return 0;
    const uint32_t apart = (uint32_t)o->words[at_once].element[0] - o->words[0].element[0];
    for (uint32_t i = 0; i < o->n_words; ++i)
        for (uint32_t e = 0; e < 2; ++e) {
            const uint16_t first = o->words[i % at_once].element[e];
            if (first == QG_NO_ELEMENT || o->words[i].element[e] != first + i / at_once * apart) return 0;
        }
    return apart % plan->lanes ? 0 : apart / plan->lanes;
}

static void add_largest_of_x(qg_text *text, const qg_x_operands *x, const qg_plan *plan, const qg_target *target) {
    const char *absolute = target->absolute, *vec = target->types[QG_K_FLOAT][plan->lanes];
    qg_text_printf(text, "    %s all = %s(%s);\n", vec, absolute, run_of_x(text->arena, target, 0));
    if (*target->unroll)
        qg_text_printf(text, "    %sfor (uint r = 1u; r < %uu; ++r) all = max(all, %s(run[r]));\n", target->unroll,
                       plan->n_runs, absolute);
    for (uint32_t r = 1; r < plan->n_runs && !*target->unroll; ++r)
        qg_text_printf(text, "    all = max(all, %s(x%u));\n", absolute, r);
    qg_print_filled(text, x->scale, 'm',
                    plan->lanes == 4 ? "max(max(all.x, all.y), max(all.z, all.w))" : "max(all.x, all.y)");
}

void qg_operands_of_x(qg_text *text, const qg_x_operands *x, const qg_step *step, const qg_target *target) {
    const qg_operands *o = step->of_unit;
    const qg_plan *plan = step->plan;
    const char *suffix = target->unsigned_suffix;
    const uint32_t apart = *target->unroll ? runs_apart(o, plan, x->at_once) : 0;
    if (x->scale) add_largest_of_x(text, x, plan, target);
    if (apart)
        qg_text_printf(text, "    %sfor (uint i = 0u; i < %uu; ++i)\n    ", target->unroll, o->n_words / x->at_once);
    for (uint32_t i = 0; i < (apart ? x->at_once : o->n_words); ++i) {
        const bool first = i % x->at_once == 0, last = i % x->at_once + 1 == x->at_once;
        const char *number = apart ? "i" : qg_format(text->arena, "%u%s", i / x->at_once, suffix);
        if (first) qg_print_filled(text, x->open, 'i', number);
        qg_text_printf(text, first ? "%s" : ", %s", x->word);
        add_element(text, o->words[i].element[0], plan, target, apart);
        qg_text_puts(text, ", ");
        add_element(text, o->words[i].element[1], plan, target, apart);
        qg_text_printf(text, "%s%s", x->word_end, last ? x->close : "");
    }
}
