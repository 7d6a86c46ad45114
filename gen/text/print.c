/* Expressions as text. The table of operations says how each one is written; here are only precedence, the
 * few operations whose form depends on their operands, and what differs between the languages as data. */
#include "text/text.h"

#include <math.h>
#include <string.h>

/* How tightly an operation binds, loosest first. Operators that readers mix up are put in parentheses even where the
 * languages would not need them, so that `a | b << 4` never appears. */
typedef enum binding_strength {
    CHOOSING,
    COMPARING,
    BITS,
    SHIFTING,
    ADDING,
    MULTIPLYING,
    PREFIX,
    TIGHT
} binding_strength;

static binding_strength strength(const qg_node *node) {
    static const binding_strength strengths[] = {
#define O(id, name, arity, rule, strength, glsl, msl, c) strength,
#include "spec/ops.def"
#undef O
    };
    return node->op == QG_SELECT && node->lanes > 1 ? TIGHT : strengths[node->op]; /* a call, then */
}

static bool needs_parentheses(const qg_node *parent, const qg_node *child, bool right) {
    if (child->name) return false;
    const binding_strength outer = strength(parent), inner = strength(child);
    if (inner == TIGHT || outer == TIGHT) return false;
    if (outer == CHOOSING) return inner == CHOOSING && child != parent->arg[2];
    if (outer == ADDING && inner == MULTIPLYING) return false;
    if (outer == inner && (outer == ADDING || outer == MULTIPLYING)) return right;
    if (outer == inner && parent->op == child->op && outer == BITS) return false;
    if (outer == COMPARING && inner >= ADDING) return false;
    if (inner == PREFIX) return outer == PREFIX || right;
    return true;
}

static void print(qg_text *text, const qg_ir *ir, const qg_target *target, const qg_node *node);

static void print_operand(qg_text *text, const qg_ir *ir, const qg_target *target, const qg_node *parent, uint32_t i) {
    const qg_node *child = parent->arg[i];
    const bool cast =
        target->casts && (parent->op == QG_TO_FLOAT || parent->op == QG_TO_INT || parent->op == QG_TO_UINT);
    const bool wrap = cast ? !child->name && strength(child) < TIGHT : needs_parentheses(parent, child, i > 0);
    if (wrap) qg_text_puts(text, "(");
    print(text, ir, target, child);
    if (wrap) qg_text_puts(text, ")");
}

static const char *pattern_of(qg_op op, const qg_target *target) {
    static const char *const patterns[][3] = {
#define O(id, name, arity, rule, strength, glsl, msl, c) {glsl, msl, c},
#include "spec/ops.def"
#undef O
    };
    return target->own[op] ? target->own[op] : patterns[op][target->column];
}

static void print_pattern(qg_text *text, const qg_ir *ir, const qg_target *target, const qg_node *node) {
    const bool halves = ir->half && node->op == QG_HALVES;
    for (const char *at = halves ? target->halves_of_word : pattern_of(node->op, target); *at; ++at) {
        if (*at != '$') {
            qg_text_add(text, at, 1);
        } else if (*++at == 'T') {
            qg_text_puts(text, target->types[node->kind][node->lanes]);
        } else if (*at == 'b') {
            qg_text_puts(text, qg_load_name(ir->layout, node->ref));
        } else if (*at == 'n') {
            qg_text_printf(text, "%lld", (long long)node->integer);
        } else {
            print_operand(text, ir, target, node, (uint32_t)(*at - '1'));
        }
    }
}

void qg_print_float(qg_text *text, const qg_target *target, float value) {
    char digits[64];
    if (isinf(value)) {
        qg_text_printf(text, "%s%s", value < 0 ? "-" : "", target->infinity);
        return;
    }
    for (int precision = 1; precision <= 9; ++precision) {
        snprintf(digits, sizeof digits, "%.*g", precision, (double)value);
        float back;
        if (sscanf(digits, "%f", &back) == 1 && back == value) break;
    }
    qg_text_puts(text, digits);
    if (!strpbrk(digits, ".en")) qg_text_puts(text, ".0");
    qg_text_puts(text, target->float_suffix);
}

static void print_unsigned(qg_text *text, const qg_target *target, uint32_t value) {
    const bool mask = value > 0xFFFF || (value > 31 && (value & (value + 1)) == 0);
    qg_text_printf(text, mask ? "0x%X%s" : "%u%s", value, target->unsigned_suffix);
}

static void print_constant(qg_text *text, const qg_target *target, const qg_node *node) {
    if (node->kind == QG_K_FLOAT)
        qg_print_float(text, target, node->real);
    else if (node->kind == QG_K_UINT)
        print_unsigned(text, target, (uint32_t)node->integer);
    else
        qg_text_printf(text, "%lld", (long long)node->integer);
}

static void print_call(qg_text *text, const qg_ir *ir, const qg_target *target, const char *function,
                       const qg_node *const *args, uint32_t count) {
    qg_text_printf(text, "%s(", function);
    for (uint32_t i = 0; i < count; ++i) {
        if (i) qg_text_puts(text, ", ");
        print(text, ir, target, args[i]);
    }
    qg_text_puts(text, ")");
}

/* A constructor converts its arguments, so literals in it need no suffix. */
static void print_vector(qg_text *text, const qg_ir *ir, const qg_target *target, const qg_node *node) {
    if (qg_is_four_codes(node)) {
        const qg_node *mask, *word = qg_four_codes(node, &mask), *const args[] = {word, mask};
        print_call(text, ir, target, "four_codes", args, 2);
        return;
    }
    qg_print_filled(text, target->vector, 'T', target->types[node->kind][node->lanes]);
    for (uint32_t i = 0; i < node->n_args; ++i) {
        if (i) qg_text_puts(text, ", ");
        if (node->arg[i]->op == QG_CONST && node->arg[i]->kind != QG_K_FLOAT)
            qg_text_printf(text, "%lld", (long long)node->arg[i]->integer);
        else
            print(text, ir, target, node->arg[i]);
    }
    qg_text_puts(text, ")");
}

static void print_load(qg_text *text, const qg_ir *ir, const qg_target *target, const qg_node *node) {
    const bool copied = ir->copied && node->ref >= ir->layout->n_buffers;
    const char *pattern = copied ? "$b_at($i)" : node->integer == 32 ? target->wide_load : target->narrow_load;
    for (; *pattern; ++pattern) {
        if (*pattern != '$')
            qg_text_add(text, pattern, 1);
        else if (*++pattern == 'b')
            qg_text_printf(text, "%s%s", qg_load_name(ir->layout, node->ref),
                           qg_alias(ir, node->ref, (uint32_t)node->integer));
        else
            print(text, ir, target, node->arg[0]);
    }
}

static void print_lookup(qg_text *text, const qg_ir *ir, const qg_target *target, const qg_node *node) {
    const char *name = ir->layout->tables[node->ref].name;
    if (ir->copied) {
        print_call(text, ir, target, qg_format(text->arena, "%s_at", name), node->arg, node->n_args);
        return;
    }
    qg_text_printf(text, "%s%s", name, qg_looks_up_floats(ir, node->ref) ? "_as_float" : "");
    for (uint32_t i = 0; i < node->n_args; ++i) {
        qg_text_puts(text, "[");
        print(text, ir, target, node->arg[i]);
        qg_text_puts(text, "]");
    }
}

static void print_select(qg_text *text, const qg_ir *ir, const qg_target *target, const qg_node *node) {
    if (node->lanes > 1) { /* mix and select take the value for false first */
        const qg_node *args[] = {node->arg[2], node->arg[1], node->arg[0]};
        print_call(text, ir, target, target->choose, args, 3);
        return;
    }
    static const char *const between[] = {"", " ? ", " : "};
    for (uint32_t i = 0; i < 3; ++i) {
        qg_text_puts(text, between[i]);
        print_operand(text, ir, target, node, i);
    }
}

/* True for lanes that are halves before they are floats. */
static bool is_of_halves(const qg_node *node) {
    if (node->op == QG_VECTOR) {
        for (uint32_t i = 0; i < node->n_args; ++i)
            if (!is_of_halves(node->arg[i])) return false;
        return true;
    }
    return node->op == QG_HALVES || (node->op == QG_LANE && node->arg[0]->op == QG_HALVES);
}

const char *qg_kept_at(const qg_ir *ir) { return ir->single ? "[k]" : "[k][m]"; }

const char *qg_kept_numbers(const qg_ir *ir) { return ir->single ? "k" : "k, m"; }

/* Products of halves, whose sum is a float again. */
static void print_half_dot(qg_text *text, const qg_ir *ir, const qg_target *target, const qg_node *node) {
    const qg_node *vector = node->arg[0];
    const bool codes = qg_is_four_codes(vector);
    qg_text_printf(text, "%s(%s%s[%lld]%s%s", vector->lanes > 1 ? "dot_halves" : "float", ir->x, qg_kept_at(ir),
                   (long long)node->integer, vector->lanes > 1 ? ", " : " * ",
                   codes ? "" : qg_format(text->arena, "%s(", target->halves[vector->lanes]));
    if (!codes && vector->op == QG_VECTOR && is_of_halves(vector)) {
        for (uint32_t i = 0; i < vector->n_args; ++i) {
            if (i) qg_text_puts(text, ", ");
            print(text, ir, target, vector->arg[i]);
        }
    } else {
        print(text, ir, target, vector);
    }
    qg_text_puts(text, codes ? ")" : "))");
}

/* x and its sums are arrays of the kernel: tile, right-hand side where there are several, run. */
static void print_dot(qg_text *text, const qg_ir *ir, const qg_target *target, const qg_node *node) {
    if (ir->half) {
        print_half_dot(text, ir, target, node);
        return;
    }
    const bool several = node->arg[0]->lanes > 1;
    qg_text_printf(text, "%s(%s%s[%lld]%s", several ? "dot" : "", ir->x, qg_kept_at(ir), (long long)node->integer,
                   several ? ", " : " * ");
    const bool wrap = !several && !node->arg[0]->name && strength(node->arg[0]) < TIGHT;
    if (wrap) qg_text_puts(text, "(");
    print(text, ir, target, node->arg[0]);
    qg_text_puts(text, wrap ? "))" : ")");
}

static void print_added_dot(qg_text *text, const qg_ir *ir, const qg_target *target, const qg_node *node) {
    qg_text_puts(text, qg_begins_turn(ir, node) ? "dot_add(TURNS > 1u ? 0.0 : " : "dot_add(");
    print(text, ir, target, node->arg[0]);
    qg_text_printf(text, ", %s%s[%lld], ", ir->x, qg_kept_at(ir), (long long)node->arg[1]->integer);
    print(text, ir, target, node->arg[1]->arg[0]);
    qg_text_puts(text, ")");
}

/* With x, whose bytes are signed; of four words at once, too, as fours.c has them. */
static void print_dot4(qg_text *text, const qg_ir *ir, const qg_target *target, const qg_node *node) {
    const qg_node *codes = node->arg[0];
    const uint32_t number = (uint32_t)node->integer;
    qg_text_printf(text, "%s%s(%s", codes->lanes > 1 ? "dot16" : "dot4", qg_meets_signed(node) ? "" : "_unsigned",
                   codes->kind == QG_K_INT ? "uint(" : "");
    if (node->n_args > 1) {
        print(text, ir, target, node->arg[1]);
        qg_text_puts(text, ", ");
    }
    print(text, ir, target, codes);
    qg_text_printf(text, "%s, %s)", codes->kind == QG_K_INT ? ")" : "",
                   codes->lanes > 1 ? qg_four_of_x(text->arena, ir, number) : qg_word_of_x(text->arena, ir, number));
}

/* A float that is kept of x: an item of an array, or behind integers what a function finds. */
static void print_kept(qg_text *text, const qg_ir *ir, const char *what, int64_t number) {
    if (ir->n_x_quads)
        qg_text_printf(text, "%s_%s(%s, %lldu)", ir->x, what, qg_kept_numbers(ir), (long long)number);
    else
        qg_text_printf(text, "%s_%s%s[%lld]", ir->x, what, qg_kept_at(ir), (long long)number);
}

/* What was loaded elsewhere is in arrays. */
static bool print_fetched(qg_text *text, const qg_ir *ir, const qg_node *node) {
    const uint32_t at = qg_fetched_at(ir->fetched, node);
    if (at != UINT32_MAX) qg_text_printf(text, "%s[%u]", node->op == QG_LOAD_FOUR ? "fours" : "words", at);
    return at != UINT32_MAX;
}

/* Weights that are in memory which a subgroup shares, from `at` on. */
static bool print_held(qg_text *text, const qg_ir *ir, const qg_target *target, const qg_node *node) {
    const bool four = node->op == QG_LOAD_FOUR;
    if (!ir->held || (!four && node->op != QG_LOAD) || node->ref >= ir->layout->n_buffers) return false;
    const qg_node *index = node->arg[0];
    const bool wrap = four || (!index->name && strength(index) < ADDING);
    qg_text_puts(text, four ? "held_four(at + 4u * " : "held[at + ");
    qg_text_puts(text, wrap ? "(" : "");
    print(text, ir, target, index);
    qg_text_puts(text, wrap ? ")" : "");
    qg_text_puts(text, four ? ")" : "]");
    return true;
}

static void print(qg_text *text, const qg_ir *ir, const qg_target *target, const qg_node *node) {
    if (node->name) {
        qg_text_printf(text, "%s%s", node->name, ir->each && qg_is_of_x(node) ? "[m]" : "");
        return;
    }
    if (print_fetched(text, ir, node) || print_held(text, ir, target, node)) return;
    switch (node->op) {
    case QG_CONST: print_constant(text, target, node); return;
    case QG_LOAD: print_load(text, ir, target, node); return;
    case QG_X_SUM: print_kept(text, ir, "sum", node->integer); return;
    case QG_X_DIGITS:
        qg_text_printf(text, "%s_digits(%s, digit, %lldu)", ir->x, qg_kept_numbers(ir), (long long)node->integer);
        return;
    case QG_X_STEP: print_kept(text, ir, "step", node->integer); return;
    case QG_DIGITS: qg_text_printf(text, "dots%lld", (long long)node->integer); return;
    case QG_DOT4: print_dot4(text, ir, target, node); return;
    case QG_DOT: print_dot(text, ir, target, node); return;
    case QG_TABLE: print_lookup(text, ir, target, node); return;
    case QG_PAIRS:
        print_call(text, ir, target, qg_format(text->arena, "%s_pairs", ir->layout->tables[node->ref].name), node->arg,
                   1);
        return;
    case QG_PAIR:
        print_call(text, ir, target, qg_format(text->arena, "%s_pair", ir->layout->tables[node->ref].name), node->arg,
                   1);
        return;
    case QG_TWO:
        qg_text_printf(text, "%s_of_two[", ir->layout->tables[node->ref].name);
        print(text, ir, target, node->arg[0]);
        qg_text_puts(text, "]");
        return;
    case QG_VECTOR: print_vector(text, ir, target, node); return;
    case QG_SELECT: print_select(text, ir, target, node); return;
    case QG_LANE: {
        const bool wrap = !node->arg[0]->name && strength(node->arg[0]) < TIGHT;
        if (wrap) qg_text_puts(text, "(");
        print(text, ir, target, node->arg[0]);
        qg_text_printf(text, "%s.%c", wrap ? ")" : "", "xyzw"[node->integer]);
        return;
    }
    default: break;
    }
    const bool comparison = node->op >= QG_EQ && node->op <= QG_GE;
    if (qg_is_added_dot(ir, node)) {
        print_added_dot(text, ir, target, node);
        return;
    }
    if (comparison && node->lanes > 1 && target->comparisons[node->op - QG_EQ])
        print_call(text, ir, target, target->comparisons[node->op - QG_EQ], node->arg, 2);
    else
        print_pattern(text, ir, target, node);
}

void qg_print_expression(qg_text *text, const qg_ir *ir, const qg_target *target, const qg_node *node) {
    print(text, ir, target, node);
}

void qg_print_filled(qg_text *text, const char *pattern, char hole, const char *value) {
    for (; *pattern; ++pattern) {
        if (*pattern == '$' && pattern[1] == hole) {
            qg_text_puts(text, value);
            ++pattern;
        } else {
            qg_text_add(text, pattern, 1);
        }
    }
}

void qg_print_factor(qg_text *text, const qg_ir *ir, const qg_target *target, const qg_node *node) {
    const bool wrap = !node->name && strength(node) < TIGHT;
    if (wrap) qg_text_puts(text, "(");
    print(text, ir, target, node);
    if (wrap) qg_text_puts(text, ")");
}

/* How much of `text` stands before the end of its last line, where that is a semicolon and `behind`; else 0. */
static size_t before_end(const qg_text *text, const char *behind) {
    const char *end = qg_format(text->arena, ";%s\n", behind);
    const size_t length = strlen(end);
    return text->length > length && strcmp(text->data + text->length - length, end) == 0 ? text->length - length : 0;
}

bool qg_says_of_what(const char *values, size_t length, const char *remark) {
    const char *name = remark + strspn(remark, " /");
    const size_t of = strcspn(name, ": ");
    for (size_t i = 0; name[of] == ':' && i + of + 2 < length; ++i)
        if ((i == 0 || values[i - 1] == ' ') && strncmp(values + i, name, of) == 0 &&
            strncmp(values + i + of, " =", 2) == 0)
            return true;
    return false;
}

/* How much of `text` stands before the value that is declared next, where its last line declares values of the same
 * type, and says the same behind them, or nothing; else 0. */
static size_t before_joined(const qg_text *text, const qg_ir *ir, const char *begin, const char *value,
                            const char *behind) {
    enum { COLUMNS = 140 };
    size_t end = before_end(text, behind);
    if (!end && (!ir->gathers || qg_says_of_what(value, strlen(value), behind))) end = before_end(text, "");
    if (!end) return 0;
    size_t from = end;
    while (from > 0 && text->data[from - 1] != '\n') --from;
    if (strncmp(text->data + from, begin, strlen(begin)) != 0) return 0;
    return end - from + strlen(", ;") + strlen(value) + strlen(behind) <= COLUMNS ? end : 0;
}

void qg_print_statement(qg_text *text, const qg_ir *ir, const qg_target *target, const qg_node *node,
                        const char *indent) {
    const bool precise = node->kind == QG_K_FLOAT && !qg_is_added_dot(ir, node) && qg_rounds_as_written(node);
    const bool halves = ir->half && (node->op == QG_HALVES || qg_is_four_codes(node));
    qg_text value = qg_text_new(text->arena);
    qg_text_printf(&value, "%s = ", node->name);
    qg_node unnamed = *node;
    unnamed.name = NULL;
    if (!print_fetched(&value, ir, node)) print(&value, ir, target, &unnamed);
    const char *begin = qg_format(text->arena, "%s%s%s ", indent, precise ? target->precise : target->local,
                                  halves ? target->halves[node->lanes] : target->types[node->kind][node->lanes]);
    const char *behind = node->comment ? qg_format(text->arena, "  // %s", node->comment) : "";
    const size_t joined = before_joined(text, ir, begin, value.data, behind);
    if (joined) text->length = joined;
    qg_text_printf(text, "%s%s;%s\n", joined ? ", " : begin, value.data, behind);
}

void qg_add_item(qg_text *text, const char *begin, const char *item, bool first) {
    enum { COLUMNS = 140 };
    size_t line = text->length;
    while (line > 0 && (line == text->length || text->data[line - 1] != '\n')) --line;
    const bool joined = !first && text->length - line + strlen(", ") + strlen(item) <= COLUMNS + strlen("\n");
    if (joined) text->length -= strlen(";\n");
    qg_text_printf(text, "%s%s;\n", joined ? ", " : begin, item);
}

qg_target_id qg_target_of_api(const char *name) {
    for (uint32_t i = 0; i < QG_TARGET_COUNT; ++i)
        if (qg_targets[i]->api && strcmp(qg_targets[i]->api, name) == 0) return (qg_target_id)i;
    return QG_TARGET_COUNT;
}

const char *qg_api_words(qg_arena *arena) {
    const char *words = "";
    for (uint32_t i = 0; i < QG_TARGET_COUNT; ++i)
        if (qg_targets[i]->api) words = qg_format(arena, "%s|%s", words, qg_targets[i]->api);
    return words;
}

const qg_target *const qg_targets[QG_TARGET_COUNT] = {
#define T(ID, name, words) &qg_target_##name,
#include "spec/target.def"
#undef T
};
