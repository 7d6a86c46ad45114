/* A family's kernel, launched by the checked call of its row. */
#include "cli/run_launch.h"

#define CALL(function, ...) qk_dispatch_##function(b, l->kernel, l->weights, __VA_ARGS__, error)
#define CALL_VIEWS(function, views, ...) CALL(function##_views, __VA_ARGS__, l->views, l->epilogue)
#define F(ID, name, summary, usage, call, matrix_call, ...)                                                            \
    case QG_FAMILY_##ID: return matrix ? matrix_call : call;

qk_status qg_launch_kernel(const qk_backend *b, const qg_launch *l, qk_error *error) {
    /* What rows call it. */
    const qk_range x = l->in, src = l->in, ids = l->indices, indices = l->indices, y = l->out, dst = l->out;
    const qk_range scratch = l->scratch, status = l->status;
    const uint64_t rows = l->rows, cols = l->cols, elements = l->count, tokens = l->count, batch = l->count;
    const uint64_t experts = l->experts, slots = l->slots, x_slots = l->x_slots;
    const bool matrix = l->kernel->view != QK_VIEW_BLOCKS;
    switch ((qg_family_id)l->family->id) {
#include "build/family.def"
    case QG_FAMILY_COUNT: break;
    }
    return QK_ERROR_ARGUMENT;
}
