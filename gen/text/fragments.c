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

void qg_operands_body(qg_text *text, const qg_operands *operands, const qg_ir *ir, const qg_target *target) {
    const uint32_t each = 2 * operands->part, parts = operands->n_words / each;
    qg_operands copy = *operands, *o = &copy;
    o->ir = ir;
    bool used;
    for (uint32_t i = 0; i < ir->n_statements; ++i)
        if (part_of(o, ir->statements[i], &used) == QG_ALL_PARTS && used)
            qg_print_statement(text, ir, target, ir->statements[i], "    ");
    add_scales(text, o, target, QG_ALL_PARTS, "    ");
    for (uint32_t p = 0; p < parts; ++p) {
        if (parts > 1 && p + 1 < parts)
            qg_text_printf(text, "    %sif (part == %uu) {\n", p ? "} else " : "", p);
        else
            qg_text_puts(text, p ? "    } else {\n" : "    {\n");
        for (uint32_t i = 0; i < ir->n_statements; ++i)
            if (part_of(o, ir->statements[i], &used) == p)
                qg_print_statement(text, ir, target, ir->statements[i], "        ");
        add_scales(text, o, target, p, "        ");
        for (uint32_t i = 0; i < each; ++i)
            qg_add_item(text, "        ",
                        qg_format(text->arena, "v[%u] = %s", i, word_text(o, target, &o->words[p * each + i])), i == 0);
    }
    qg_text_puts(text, "    }\n");
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
