/* A family's kernel, launched by its checked call. */
#include "cli/run_launch.h"

qk_status qg_launch_kernel(const qk_backend *b, const qg_launch *l, qk_error *error) {
    const qk_kernel *k = l->kernel;
    const bool matrix = k->view != QK_VIEW_BLOCKS;
    switch ((qg_family_id)l->family->id) {
    case QG_FAMILY_DEQUANT:
        return matrix ? qk_dispatch_dequant_matrix(b, k, l->weights, l->out, l->rows, l->cols, error)
                      : qk_dispatch_dequant(b, k, l->weights, l->out, l->count, error);
    case QG_FAMILY_GATHER:
        return (matrix ? qk_dispatch_gather_matrix : qk_dispatch_gather)(b, k, l->weights, l->indices, l->out,
                                                                         l->status, l->rows, l->cols, l->count, error);
    case QG_FAMILY_ENCODE:
        return matrix ? qk_dispatch_encode_matrix(b, k, l->weights, l->in, l->rows, l->cols, error)
                      : qk_dispatch_encode(b, k, l->weights, l->in, l->count, error);
    case QG_FAMILY_SET_ROWS:
        return (matrix ? qk_dispatch_set_rows_matrix : qk_dispatch_set_rows)(
            b, k, l->weights, l->indices, l->in, l->status, l->rows, l->cols, l->count, error);
    case QG_FAMILY_GEMV:
        return qk_dispatch_gemv_views(b, k, l->weights, l->in, l->out, l->rows, l->cols, l->count, l->views,
                                      l->epilogue, error);
    case QG_FAMILY_GEMM:
        return qk_dispatch_gemm_views(b, k, l->weights, l->in, l->scratch, l->out, l->rows, l->cols, l->count, l->views,
                                      l->epilogue, error);
    case QG_FAMILY_GEMV_ID:
        return qk_dispatch_gemv_id_views(b, k, l->weights, l->in, l->indices, l->out, l->status, l->experts, l->rows,
                                         l->cols, l->count, l->slots, l->x_slots, l->expert_views, l->epilogue, error);
    case QG_FAMILY_GEMM_ID:
        return qk_dispatch_gemm_id_views(b, k, l->weights, l->in, l->indices, l->scratch, l->out, l->status, l->experts,
                                         l->rows, l->cols, l->count, l->slots, l->x_slots, l->expert_views, l->epilogue,
                                         error);
    case QG_FAMILY_COUNT: break;
    }
    return QK_ERROR_ARGUMENT;
}
