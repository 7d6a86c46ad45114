/* What a kernel that sums may differ by from the exact sum: the numbers of its bound, which
 * docs/error-bounds.md proves. */
#include "build/family.h"

/* Roundings beside those of a tile's products and of the value's operations: of x, of integers of several
 * digits, over lanes, over subgroups; those of halves, in units of 2^-24; and how many there are for each
 * product that a matrix unit adds, which cuts off what its terms have below the largest of them. */
enum {
    OTHER_ROUNDINGS = 56,
    HALF_ROUNDING = 1 << 13,
    OF_HALVES = 3,
    OF_OPERANDS = 4,
    OF_TILES = 10,
    UNIT_ROUNDINGS = 16
};

/* Integers that the largest x of a group becomes; of halves, whose own last digit is that far below the largest. */
enum { ROW_ROUNDINGS = 40 };

enum { LEVELS_OF_HALF = 1 << 14, LEVELS_OF_UNIT = 1 << 30 };

static uint32_t levels_of(const qg_sum_class *sum) {
    static const uint32_t of_digits[] = {0, 127, 32639, 8355708};
    if (sum->products == QG_PRODUCTS_MMA) return LEVELS_OF_UNIT;
    return sum->products == QG_PRODUCTS_F16 ? LEVELS_OF_HALF : of_digits[sum->digits];
}

/* Where tile `tile` of a block begins, in elements. */
static uint32_t first_of(const qg_plan *plan, uint32_t tile) {
    if (plan->layout->view != QG_VIEW_BLOCKS) return tile * plan->tile_elements;
    const uint32_t in_block = tile % plan->tiles;
    uint32_t at = tile / plan->tiles * plan->layout->elements, left = in_block;
    for (uint32_t d = 0; d < plan->n_digits; ++d) {
        at += left % plan->digits[d].extent * plan->digits[d].stride;
        left /= plan->digits[d].extent;
    }
    return at;
}

/* How far apart elements can be whose x has one step: `joined` tiles that are neighbours, or parts
 * of a tile with so many runs. */
static uint32_t reach_of(const qg_plan *plan, uint32_t joined, uint32_t runs) {
    uint32_t reach = 1;
    for (uint32_t tile = 0; tile < joined * plan->tiles; tile += joined) {
        for (uint32_t part = 0; part < plan->n_runs; part += runs) {
            uint32_t low = UINT32_MAX, high = 0;
            for (uint32_t i = 0; i < joined * runs && part + i % runs < plan->n_runs; ++i) {
                const uint32_t first = first_of(plan, tile + i / runs) + plan->runs[part + i % runs];
                if (first < low) low = first;
                if (first + plan->lanes > high) high = first + plan->lanes;
            }
            if (high - low > reach) reach = high - low;
        }
    }
    return reach;
}

/* Bytes have a step for each QG_STEP_ELEMENTS; of more digits, a tile below one scale has one for all. */
static uint32_t runs_of_step(const qg_sum_class *sum, const qg_plan *plan) {
    const uint32_t in_step = QG_STEP_ELEMENTS / plan->lanes;
    if (!sum->digits || plan->n_runs <= in_step) return plan->n_runs;
    const qg_ir *ir = sum->digits > 1 ? qg_lower_dot(plan, sum->products) : NULL;
    return ir && ir->one_step ? plan->n_runs : in_step;
}

static void add_plan(const qg_kernel *kernel, const qg_plan *plan, qk_kernel *described) {
    const qg_sum_class *sum = kernel->sum;
    if (!plan) return;
    const uint32_t terms = plan->tile_elements * (sum->products == QG_PRODUCTS_MMA ? UNIT_ROUNDINGS : 1);
    if (terms > described->sum_roundings) described->sum_roundings = terms;
    if (!described->x_levels) return;
    const uint32_t joined = sum->products == QG_PRODUCTS_MMA ? 4 : 1, runs = runs_of_step(sum, plan);
    const uint32_t group = joined * runs * plan->lanes, reach = reach_of(plan, joined, runs);
    if (group > described->x_group) described->x_group = group;
    if (reach > described->x_reach) described->x_reach = reach;
}

/* Operations of floats on the longest way through a value. */
static uint32_t operations_of(const qg_term *term) {
    uint32_t most = 0;
    for (uint32_t i = 0; i < 3 && term->arg[i]; ++i) {
        const uint32_t below = operations_of(term->arg[i]);
        if (below > most) most = below;
    }
    const bool rounds = term->op == QG_ADD || term->op == QG_SUB || term->op == QG_MUL;
    return most + (rounds && term->kind == QG_K_FLOAT);
}

void qg_describe_error(const qg_kernel *kernel, qk_kernel *described) {
    if (!kernel->sum) return;
    described->x_levels = levels_of(kernel->sum);
    if (described->api == QK_API_VULKAN) {
        add_plan(kernel, kernel->plan, described);
        add_plan(kernel, kernel->wide, described);
        add_plan(kernel, kernel->ahead, described);
        add_plan(kernel, kernel->teams, described);
        add_plan(kernel, kernel->columns, described);
    } else {
        add_plan(kernel, kernel->metal_plan, described);
        add_plan(kernel, qg_is_mma(kernel) ? kernel->wide : kernel->metal_wide, described);
    }
    described->sum_roundings += OTHER_ROUNDINGS + 2 * operations_of(kernel->layout->value);
    if (kernel->sum->products == QG_PRODUCTS_F16) described->sum_roundings += OF_HALVES * HALF_ROUNDING;
    if (kernel->sum->products == QG_PRODUCTS_MMA)
        described->sum_roundings += (kernel->family->in_tiles ? OF_TILES : OF_OPERANDS) * HALF_ROUNDING;
    if (!kernel->family->in_tiles) return;
    /* A column of x has one scale, and a row is one sum. */
    described->x_group = described->x_reach = UINT32_MAX;
    described->row_roundings = ROW_ROUNDINGS;
}
