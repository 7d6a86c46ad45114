/* From a planned kernel to its program: each tile is lowered, and the code is told once how the text will call what it
 * reads and keeps. */
#include "build/program.h"

/* Plain rows take whatever shape there is. */
static const qg_plan *plan_for(const qg_kernel *kernel, qk_api api, qk_schedule schedule) {
    if (api == QK_API_METAL) return kernel->metal_plan;
    const bool any_shape = schedule == QK_SCHEDULE_NONE || qg_schedules[schedule].tile == QG_TILE_ROWS;
    return any_shape ? kernel->plan : qg_plan_of_whole(kernel);
}

static const qg_step *add_step(qg_program *p, qg_step step) {
    step.size = step.plan->tile_elements / p->plan->tile_elements;
    p->steps[p->n_steps] = step;
    return &p->steps[p->n_steps++];
}

static const qg_ir *place_of_runs(qg_arena *arena, const qg_plan *plan) {
    return plan->layout->view == QG_VIEW_BLOCKS ? qg_lower_place(arena, plan, plan->lanes) : NULL;
}

static const qg_step *add_values(qg_arena *arena, qg_program *p) {
    return add_step(p, (qg_step){.name = "values",
                                 .meaning = "the values of a tile",
                                 .plan = p->plan,
                                 .code = qg_lower_decode(p->plan),
                                 .place = place_of_runs(arena, p->plan)});
}

/* Of Vulkan, right-hand sides are taken one by one, but where they cannot be shared; of Metal, together. */
static qg_ir *products_of(qg_arena *arena, const qg_program *p, const qg_plan *plan) {
    const qg_kernel *kernel = p->kernel;
    qg_ir *code = QG_NEW(arena, qg_ir);
    *code = *qg_lower_dot(plan, kernel->sum->products);
    code->x = "x";
    if (p->api == QK_API_VULKAN)
        code->single = kernel->family->experts || (qg_shares_x(kernel) && !plan->layout->ragged) || qg_is_mma(kernel);
    return code;
}

static const qg_step *add_sum(qg_arena *arena, qg_program *p, const qg_plan *plan) {
    return add_step(p, (qg_step){.name = "sum",
                                 .meaning = plan->tile_rows > 1 ? "the products of each row of a tile with x"
                                                                : "the products of a tile with x",
                                 .plan = plan,
                                 .code = products_of(arena, p, plan),
                                 .place = place_of_runs(arena, plan)});
}

static const qg_step *add_wide(qg_arena *arena, qg_program *p, const qg_plan *wide) {
    const qg_operands *operands = qg_is_mma(p->kernel) ? qg_lower_operands(wide) : NULL;
    qg_ir *code = NULL;
    if (operands) {
        code = QG_NEW(arena, qg_ir);
        *code = *operands->ir;
    } else {
        code = products_of(arena, p, wide);
        code->in_turns = p->kernel->in_turns && p->schedule && qg_schedules[p->schedule].tile == QG_TILE_WIDE;
        if (p->kernel->teams_in_turns && p->schedule && qg_schedules[p->schedule].tile == QG_TILE_TEAMS)
            code->turn_runs = qg_turn_runs(arena, p->kernel);
    }
    code->fetched = qg_fetches_of(arena, code);
    return add_step(p, (qg_step){.name = "wide",
                                 .meaning = operands ? "the operands of matrix units of a larger tile, loaded first"
                                            : wide == p->plan ? "the products of a tile, loaded first"
                                                              : "the products of a larger tile, loaded first",
                                 .plan = wide,
                                 .code = code,
                                 .of_unit = operands,
                                 .place = place_of_runs(arena, wide)});
}

/* Of those, so many products are made at a time as a workgroup of tiles shares. */
static const qg_step *add_tiles(qg_arena *arena, qg_program *p, const qg_plan *wide) {
    qg_step *step = &p->steps[p->n_steps];
    add_wide(arena, p, wide);
    qg_operands *operands = QG_NEW(arena, qg_operands);
    *operands = *step->of_unit;
    operands->part = QG_TILE_PART;
    step->of_unit = operands;
    return step;
}

static const qg_step *add_ahead(qg_arena *arena, qg_program *p) {
    const qg_plan *ahead = p->kernel->ahead;
    qg_ir *code = products_of(arena, p, ahead);
    code->fetched = qg_fetches_of(arena, code);
    code->x = "x";
    return add_step(p, (qg_step){.name = "ahead",
                                 .meaning = "the products of a tile out of memory into which rows were loaded ahead",
                                 .plan = ahead,
                                 .code = code,
                                 .place = place_of_runs(arena, ahead)});
}

uint32_t qg_x_steps(const qg_plan *plan) { return (plan->tile_elements + QG_STEP_ELEMENTS - 1) / QG_STEP_ELEMENTS; }

uint32_t qg_shared_words(const qg_step *step, uint32_t digits) {
    const qg_ir *ir = step->code;
    const qg_plan *plan = step->plan;
    if (!ir->n_x_quads) return plan->n_runs * plan->lanes + ir->n_x_sums;
    return digits * (ir->n_x_quads + ir->n_x_digits) + qg_x_steps(plan) + ir->n_x_sums;
}

static const qg_step *add_large(qg_arena *arena, qg_program *p) {
    const qg_plan *plan = p->kernel->metal_wide;
    qg_ir *code = products_of(arena, p, plan);
    code->each = true;
    return add_step(p, (qg_step){.name = "wide",
                                 .meaning = "the products of a larger tile with x",
                                 .plan = plan,
                                 .code = code,
                                 .place = place_of_runs(arena, plan)});
}

/* How a schedule walks: with the products of its tile, or with what is loaded first for them. */
static void add_walk(qg_arena *arena, qg_program *p) {
    const qg_kernel *kernel = p->kernel;
    const qg_plan *tile = p->schedule ? qg_tile_of(kernel, p->schedule) : p->plan;
    switch (p->schedule ? qg_schedules[p->schedule].tile : QG_TILE_ROWS) {
    case QG_TILE_AHEAD: p->main = p->ahead = add_ahead(arena, p); return;
    case QG_TILE_OPERANDS: p->main = p->wide = add_tiles(arena, p, kernel->wide); return;
    case QG_TILE_WIDE:
    case QG_TILE_TEAMS: p->main = p->wide = add_wide(arena, p, tile); return;
    case QG_TILE_SHARED:
        if (tile == kernel->wide) {
            p->main = p->wide = add_wide(arena, p, tile);
            return;
        }
        break;
    case QG_TILE_ROWS:
    case QG_TILE_COLUMNS: break;
    }
    if (kernel->family->in_tiles) {
        p->main = p->wide = add_tiles(arena, p, kernel->metal_wide);
        return;
    }
    p->main = p->sum = add_sum(arena, p, tile);
    if (p->schedule) return;
    const bool metal = p->api == QK_API_METAL;
    if (qg_is_mma(kernel))
        p->main = p->wide = add_wide(arena, p, metal ? kernel->metal_wide : kernel->wide);
    else if (metal && kernel->metal_wide)
        p->main = p->wide = add_large(arena, p);
}

const qg_program *qg_program_of(qg_arena *arena, const qg_kernel *kernel, qk_api api, qk_schedule schedule) {
    const bool sums = kernel->family->sums, vulkan = api == QK_API_VULKAN;
    const qg_plan *plan = plan_for(kernel, api, schedule);
    qg_program *p = QG_NEW(arena, qg_program);
    *p = (qg_program){.kernel = kernel, .api = api, .schedule = vulkan ? schedule : QK_SCHEDULE_NONE, .plan = plan};
    const bool any_shape = p->schedule == QK_SCHEDULE_NONE || qg_schedules[p->schedule].tile == QG_TILE_ROWS;
    if (!sums || (plan->layout->ragged && any_shape)) p->main = p->values = add_values(arena, p);
    if (sums) add_walk(arena, p);
    if (!sums && plan->layout->view == QG_VIEW_BLOCKS)
        p->stores = qg_lower_place(arena, plan, vulkan ? plan->store_lanes : plan->lanes);
    return p;
}

const qg_program *qg_program_of_reference(qg_arena *arena, const qg_layout *layout) {
    qg_program *p = QG_NEW(arena, qg_program);
    *p = (qg_program){.plan = qg_plan_elements(arena, layout)};
    p->main = p->values = add_step(p, (qg_step){.name = "values",
                                                .meaning = "the value of an element",
                                                .plan = p->plan,
                                                .code = qg_lower_decode(p->plan)});
    return p;
}
