/* From a planned kernel to its program: each tile is lowered, and the code is told once how the text will call what it
 * reads and keeps. */
#include "build/program.h"

static const qg_plan *plan_for(const qg_kernel *kernel, qk_api api) {
    return api == QK_API_METAL ? kernel->metal_plan : kernel->plan;
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
    if (p->api == QK_API_VULKAN) code->single = kernel->family->in_blocks || qg_shares_x(kernel) || qg_is_mma(kernel);
    return code;
}

static const qg_step *add_sum(qg_arena *arena, qg_program *p) {
    return add_step(p, (qg_step){.name = "sum",
                                 .meaning = "the products of a tile with x",
                                 .plan = p->plan,
                                 .code = products_of(arena, p, p->plan),
                                 .place = place_of_runs(arena, p->plan)});
}

static const qg_step *add_wide(qg_arena *arena, qg_program *p) {
    const qg_plan *wide = p->kernel->wide;
    const qg_operands *operands = qg_is_mma(p->kernel) ? qg_lower_operands(wide) : NULL;
    qg_ir *code = NULL;
    if (operands) {
        code = QG_NEW(arena, qg_ir);
        *code = *operands->ir;
    } else {
        code = products_of(arena, p, wide);
    }
    code->fetched = qg_fetches_of(arena, code);
    return add_step(p, (qg_step){.name = "wide",
                                 .meaning = operands ? "the operands of matrix units of a larger tile, loaded first"
                                                     : "the products of a larger tile, loaded first",
                                 .plan = wide,
                                 .code = code,
                                 .of_unit = operands,
                                 .place = place_of_runs(arena, wide)});
}

bool qg_keeps_own_x(const qg_program *program) {
    return program->ahead && program->ahead->plan->tile_elements != program->wide->plan->tile_elements;
}

static const qg_step *add_ahead(qg_arena *arena, qg_program *p) {
    const qg_plan *ahead = p->kernel->ahead;
    qg_ir *code = products_of(arena, p, ahead);
    code->fetched = qg_fetches_of(arena, code);
    if (ahead->tile_elements != p->kernel->wide->tile_elements) code->x = "held_x";
    return add_step(p, (qg_step){.name = "ahead",
                                 .meaning = "the same, out of memory into which rows were loaded ahead",
                                 .plan = ahead,
                                 .code = code,
                                 .place = place_of_runs(arena, ahead)});
}

const qg_program *qg_program_of(qg_arena *arena, const qg_kernel *kernel, qk_api api) {
    const bool sums = kernel->family->sums, vulkan = api == QK_API_VULKAN, mma = qg_is_mma(kernel);
    const qg_plan *plan = plan_for(kernel, api);
    qg_program *p = QG_NEW(arena, qg_program);
    *p = (qg_program){.kernel = kernel, .api = api, .plan = plan};
    if (!sums || kernel->layout->ragged) p->values = add_values(arena, p);
    if (sums) p->sum = add_sum(arena, p);
    if (kernel->wide && (vulkan || mma)) p->wide = add_wide(arena, p);
    if (kernel->ahead && vulkan) p->ahead = add_ahead(arena, p);
    if (!sums && plan->layout->view == QG_VIEW_BLOCKS)
        p->stores = qg_lower_place(arena, plan, vulkan ? plan->store_lanes : plan->lanes);
    return p;
}

const qg_program *qg_program_of_reference(qg_arena *arena, const qg_layout *layout) {
    qg_program *p = QG_NEW(arena, qg_program);
    *p = (qg_program){.plan = qg_plan_elements(arena, layout)};
    p->values = add_step(p, (qg_step){.name = "values",
                                      .meaning = "the value of an element",
                                      .plan = p->plan,
                                      .code = qg_lower_decode(p->plan)});
    return p;
}
