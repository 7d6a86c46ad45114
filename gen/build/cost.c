/* The static count of operations and bytes. One row of cost.def says by which rule an operation is counted. */
#include "build/cost.h"

#include <string.h>

const char *const qg_cost_names[QG_COST_CLASSES] = {"loads", "bits", "integer", "float", "conversions", "lookups"};

typedef enum counting {
    FREE,
    LOADED,    /* of a buffer: a load; of a stored table: a lookup. Several where the words are narrower than asked */
    LOOKED_UP, /* a lookup */
    ONE_PAIR,  /* of two values, where a byte says */
    PAIRED,    /* two, where two bytes of a word say, and their results side by side */
    BY_KIND,   /* one for each lane, integer or float as the last operand is */
    SIGN,      /* the same, but that floats have a bit for it, which the next operation flips on its way */
    BITWISE,   /* an operation on bits for each lane */
    CONVERTED, /* a conversion for each lane, but between int and uint */
    ONE_CONVERSION, /* a conversion, of all lanes at once */
    BUILT,          /* a conversion for each lane of a float vector that is none */
    DOTTED,         /* products and sums */
    OF_DIGITS       /* a conversion, and the sum before it times 256, added */
} counting;

/* Rules by the names of operations, so that one without a row does not compile. */
enum {
#define C(id, rule) RULE_##id = rule,
#include "build/cost.def"
#undef C
};

static const counting rules[] = {
#define O(id, name, arity, rule, strength, glsl, msl, c) [QG_##id] = (counting)RULE_##id,
#include "spec/ops.def"
#undef O
};

static bool is_constant(const qg_node *node) {
    if (node->op == QG_CONST) return true;
    if (node->n_args == 0 || node->op == QG_LOAD || node->op == QG_LOAD_WIDE || node->op == QG_LOAD_FOUR ||
        node->op == QG_LOAD_U8 || node->op == QG_LOAD_I8 || node->op == QG_DOT || node->op == QG_DOT4)
        return false;
    for (uint32_t i = 0; i < node->n_args; ++i)
        if (!is_constant(node->arg[i])) return false;
    return node->op != QG_TABLE;
}

static uint32_t lanes_to_convert(const qg_node *vector) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < vector->n_args && vector->kind == QG_K_FLOAT; ++i)
        count += vector->arg[i]->kind != QG_K_FLOAT && !is_constant(vector->arg[i]);
    return count;
}

static void count_load(const qg_node *node, const qg_plan *plan, qg_cost *cost) {
    const uint32_t loads = node->op == QG_LOAD_WIDE ? 32 / (uint32_t)node->integer : 1;
    const bool table = node->ref >= plan->layout->n_buffers;
    cost->counts[table ? QG_COST_LOOKUP : QG_COST_LOAD] += loads;
    if (!table) cost->loaded += loads * node->lanes * (uint32_t)node->integer / 8;
    cost->counts[QG_COST_INTEGER] += loads - 1;    /* the next word's index, */
    cost->counts[QG_COST_BITS] += 2 * (loads - 1); /* a shift, an or */
}

static bool is_integer(qg_kind kind) { return kind == QG_K_UINT || kind == QG_K_INT; }

static void count_node(const qg_node *node, const qg_plan *plan, uint32_t digits, qg_cost *cost) {
    uint32_t *counts = cost->counts;
    const qg_node *last = node->n_args ? node->arg[node->n_args - 1] : node;
    const bool real = last->kind == QG_K_FLOAT;
    switch (rules[node->op]) {
    case FREE: return;
    case LOADED: count_load(node, plan, cost); return;
    case LOOKED_UP: counts[QG_COST_LOOKUP] += 1; return;
    case PAIRED:
        counts[QG_COST_LOOKUP] += 2;
        counts[QG_COST_INTEGER] += 5; /* the copy of the table, and places in it */
        counts[QG_COST_BITS] += 5;
        return;
    case ONE_PAIR:
        counts[QG_COST_LOOKUP] += 1;
        counts[QG_COST_INTEGER] += 2; /* the copy of the table, and the place in it */
        return;
    case BY_KIND: counts[real ? QG_COST_FLOAT : QG_COST_INTEGER] += node->lanes; return;
    case SIGN: counts[QG_COST_INTEGER] += real ? 0 : node->lanes; return;
    case BITWISE: counts[QG_COST_BITS] += node->lanes; return;
    case CONVERTED:
        counts[QG_COST_CONVERSION] += is_integer(node->kind) && is_integer(last->kind) ? 0 : node->lanes;
        return;
    case ONE_CONVERSION: counts[QG_COST_CONVERSION] += 1; return;
    case BUILT: counts[QG_COST_CONVERSION] += lanes_to_convert(node); return;
    case DOTTED: counts[QG_COST_FLOAT] += 2 * last->lanes - 1; return;
    case OF_DIGITS:
        counts[QG_COST_CONVERSION] += digits;
        counts[QG_COST_FLOAT] += 2 * (digits - 1);
        return;
    }
}

/* What is done for each digit of x. */
static bool of_digit(const qg_node *node) {
    if (node->op == QG_DOT4 || node->op == QG_X_DIGITS) return true;
    for (uint32_t i = 0; i < node->n_args && node->op != QG_DIGITS; ++i)
        if (of_digit(node->arg[i])) return true;
    return false;
}

/* Where all steps are one, their sums are added up as integers, and converted and multiplied once. */
static void count_one_step(const qg_ir *ir, uint32_t digits, qg_cost *cost) {
    uint32_t steps = 0;
    for (uint32_t i = 0; i < ir->n_nodes; ++i) steps += ir->nodes[i]->used && ir->nodes[i]->op == QG_DIGITS;
    if (!ir->one_step || digits < 2) return;
    cost->counts[QG_COST_INTEGER] += digits * (steps - 1);
    cost->counts[QG_COST_CONVERSION] -= digits * (steps - 1);
    cost->counts[QG_COST_FLOAT] -= (2 * (digits - 1) + 2) * (steps - 1); /* those of digits, a step, an addition */
}

qg_cost qg_cost_of_ir(const qg_ir *ir, const qg_plan *plan, uint32_t digits) {
    qg_cost cost = {.weights = plan->tile_elements * plan->tile_rows};
    for (uint32_t i = 0; i < ir->n_nodes; ++i) {
        const qg_node *node = ir->nodes[i];
        if (!node->used || is_constant(node)) continue;
        const uint32_t times = ir->n_x_quads && of_digit(node) ? digits : 1;
        for (uint32_t t = 0; t < times; ++t) count_node(node, plan, digits, &cost);
    }
    count_one_step(ir, digits, &cost);
    return cost;
}

/* Operands of matrix units: what makes them of the codes, two at a time; what the units do is no
 * operation of a thread. */
static qg_cost cost_of_operands(const qg_program *program) {
    const qg_step *wide = program->wide;
    const qg_operands *o = wide->of_unit;
    qg_cost cost = qg_cost_of_ir(wide->code, wide->plan, 0);
    for (uint32_t i = 0; i < o->n_words; ++i)
        if (o->words[i].node && o->words[i].node->op == QG_HALVES) /* no conversion: the bits as they are */
            cost.counts[QG_COST_CONVERSION] -= 1;
    cost.counts[QG_COST_FLOAT] += o->n_words + 2 * (o->n_scales + o->n_offsets);
    cost.counts[QG_COST_CONVERSION] += o->n_scales + o->n_offsets + o->n_values * wide->plan->lanes;
    return cost;
}

static qg_cost cost_of_sum(const qg_program *program) {
    const qg_step *step = program->main;
    qg_cost cost = qg_cost_of_ir(step->code, step->plan, program->kernel->sum->digits);
    cost.counts[QG_COST_FLOAT] += step->code->half ? 2 : 1;
    return cost;
}

static qg_cost cost_of_values(const qg_program *program) {
    const qg_scalar type = program->kernel->type;
    qg_cost cost = qg_cost_of_ir(program->values->code, program->plan, 0);
    const uint64_t results = program->kernel->to ? 1 : qg_result_count(program->kernel->family, 1, 0, 1, 1);
    cost.written = (double)(results * qg_scalars[type].bits / 8);
    if (type != QG_F32) cost.counts[QG_COST_CONVERSION] += cost.weights;
    return cost;
}

qg_cost qg_cost_of_program(const qg_program *program) {
    const bool units = program->wide && program->wide->of_unit;
    qg_cost cost = units                  ? cost_of_operands(program)
                   : program->kernel->sum ? cost_of_sum(program)
                                          : cost_of_values(program);
    cost.stored = qg_bits_per_element(program->kernel->layout) / 8;
    return cost;
}

uint32_t qg_cost_total(const qg_cost *cost) {
    uint32_t total = 0;
    for (uint32_t i = 0; i < QG_COST_CLASSES; ++i) total += cost->counts[i];
    return total;
}

/* ---- banners ---- */

static void add_line(qg_text *text, const char *prefix, const char *families, const qg_cost *cost) {
    const double weights = cost->weights;
    qg_text_printf(text, "%s%sor each weight %.3g bytes read", prefix, *families ? families : "F", cost->stored);
    if (cost->written > 0) qg_text_printf(text, " and %.3g written", cost->written);
    qg_text_printf(text, ", %.3g operations:", qg_cost_total(cost) / weights);
    for (uint32_t i = 0; i < QG_COST_CLASSES; ++i)
        if (cost->counts[i]) qg_text_printf(text, " %.3g %s,", cost->counts[i] / weights, qg_cost_names[i]);
    text->data[text->length - 1] = '.';
    qg_text_puts(text, "\n");
}

static bool same_cost(const qg_cost *a, const qg_cost *b) {
    return a->weights == b->weights && a->loaded == b->loaded && a->stored == b->stored && a->written == b->written &&
           memcmp(a->counts, b->counts, sizeof a->counts) == 0;
}

/* The family's kernel in f32 and of the first class: that of the request, where it has it. */
static qg_kernel kernel_of(qg_arena *arena, const qg_request *request, const qg_family *family) {
    const qg_kernel *all = NULL;
    const uint32_t count = request->list ? qg_kernels(arena, request, &all) : 0;
    for (uint32_t i = 0; i < count; ++i)
        if (all[i].family == family && all[i].type == QG_F32 &&
            (!all[i].sum || all[i].sum == &qg_sum_classes[QG_CLASS_EXACT]))
            return all[i];
    return qg_kernel_new(arena, request->layout, family, QG_F32, &qg_sum_classes[QG_CLASS_EXACT]);
}

void qg_cost_lines(qg_text *text, const qg_request *request, const qg_program *only, const char *prefix) {
    qg_arena *arena = text->arena;
    if (only) {
        const qg_cost cost = qg_cost_of_program(only);
        add_line(text, prefix, "", &cost);
        return;
    }
    qg_cost *costs = QG_NEW_ARRAY(arena, qg_cost, request->n_families + 1);
    const char **names = QG_NEW_ARRAY(arena, const char *, request->n_families + 1);
    uint32_t count = 0;
    for (uint32_t f = 0; f < request->n_families; ++f) {
        const qg_family *family = request->families[f];
        if (!qg_takes(family, request->layout) || family->in_tiles || family->encodes) continue;
        const qg_kernel kernel = kernel_of(arena, request, family);
        const qk_api api = request->vulkan ? QK_API_VULKAN : QK_API_METAL;
        costs[count] = qg_cost_of_program(qg_program_of(arena, &kernel, api, qg_main_schedule(&kernel)));
        uint32_t same = 0;
        while (!same_cost(&costs[same], &costs[count])) ++same;
        names[same] = same < count ? qg_format(arena, "%s, %s", names[same], family->name) : family->name;
        count += same == count;
    }
    for (uint32_t i = 0; i < count; ++i) add_line(text, prefix, qg_format(arena, "%s in f32: f", names[i]), &costs[i]);
}
