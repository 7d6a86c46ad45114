// As apply.sh writes it, of one format x in f32, and rows set of f16.
#include "q4_0.h"
static const qk_kernel * const qkgen_some[] = {
    &qk_q4_0_gather_f32_vulkan,
    &qk_q4_0_gemv_f32_vulkan,
    &qk_q4_0_gemv_id_f32_vulkan,
    &qk_q4_0_gemm_mma_f32_vulkan,
    &qk_q4_0_gemm_id_mma_f32_vulkan,
    &qk_q4_0_set_rows_f16_vulkan,
};
static const qk_kernel_set qkgen_q4_0 = { "q4_0", 6, qkgen_some, nullptr };
static const qk_kernel_set * const qkgen_kernels[] = { &qkgen_q4_0 };
enum { QKGEN_KERNEL_SETS = 1 };
