/* Which kernels take tiles in turns, so that a thread has fewer registers at a time: gen/ir/turns.c cuts the sums. */
#include "build/family.h"
#include "build/program.h"

enum {
#define D(NAME, value, meaning) QG_DEVICE_##NAME = value,
#include "build/device.def"
#undef D
};

uint32_t qg_turn_runs(qg_arena *arena, const qg_kernel *kernel) {
    const qg_plan *teams = kernel->teams;
    qg_ir ir = *qg_lower_dot(teams, kernel->sum->products);
    if (ir.n_x_quads) {
        ir.turn_runs = QG_STEP_ELEMENTS / QG_MAX_LANES;
        return qg_turns_of_integers(&ir) == qg_x_steps(teams) ? ir.turn_runs : 0;
    }
    if (teams->lanes != QG_MAX_LANES || teams->n_runs % QG_TURNS != 0) return 0;
    ir.turn_runs = teams->n_runs / QG_TURNS;
    return qg_turns_of(arena, &ir) ? ir.turn_runs : 0;
}

/* Integers have a turn for each step of x. Where a step has several scales, or minimums, what one turn leaves for the
 * next takes more registers than 64 lanes of a device have. */
static void plan_turns_of_integers(qg_arena *arena, qg_kernel *kernel) {
    const qg_ir *ir = kernel->teams ? qg_lower_dot(kernel->teams, QG_PRODUCTS_INT8) : NULL;
    const uint32_t steps = ir ? qg_x_steps(kernel->teams) : 0;
    kernel->teams_in_turns = ir && qg_turn_runs(arena, kernel) != 0;
    kernel->apart = kernel->teams_in_turns && (ir->n_x_sums > steps || ir->n_x_digits > steps);
}

void qg_plan_turns(qg_arena *arena, qg_kernel *kernel) {
    if (kernel->family->experts) return;
    if (kernel->sum->products == QG_PRODUCTS_INT8) plan_turns_of_integers(arena, kernel);
    if (kernel->sum->products != QG_PRODUCTS_F32) return;
    const qg_ir *ir = qg_lower_dot(kernel->wide, QG_PRODUCTS_F32);
    const uint32_t beside_x = qg_registers_of_loads(qg_fetches_of(arena, ir)) + 2 * ir->n_x_sums;
    kernel->in_turns = beside_x >= QG_DEVICE_TURNS_REGISTERS || kernel->wide->pairs;
    kernel->teams_in_turns = kernel->teams && qg_turn_runs(arena, kernel) != 0;
}
