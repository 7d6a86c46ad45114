/* ct_b4_zp_g32: kernels, dispatch and reference decoder of the format.
 * Generated from the specification below by `qkgen emit --format ct_b4_zp_g32`; do not edit.
 * 148 bytes for 256 elements, 4.625 bits each.
 * dequant, gather in f32: for each weight 0.578 bytes read and 4 written, 10.8 operations: 0.75 loads, 3 bits, 5 integer, 1 float, 1 conversions.
 * gemv in f32: for each weight 0.578 bytes read, 4.94 operations: 0.25 loads, 0.812 bits, 1.06 integer, 2.25 float, 0.562 conversions.
 *
 *     format ct_b4_zp_g{group} "compressed-tensors: 4-bit codes, a scale for each group, zeros packed along the outputs"
 *     from "compressed-tensors: pack-quantized, asymmetric"
 *     for group in 32 128
 *
 *     block 8 x group ragged {
 *         buffer weight_packed     { w: u32[8][group / 8] }
 *         buffer weight_scale      { d: bf16[8][1] }
 *         buffer weight_zero_point { zs: u32 }
 *     }
 *
 *     code q                 = w  { 4 @ 0 (8 * group:4) }
 *     code s: bf16 per group = d  { 16 @ 0 (8:16) }
 *     code z per group       = zs { 4 @ 0 (8:4) }
 *
 *     value = (q - z) * s
 *
 * Here group = 32.
 */
#ifndef QK_ct_b4_zp_g32_KERNELS_H
#define QK_ct_b4_zp_g32_KERNELS_H

#include <qkgen/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ct_b4_zp_g32_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32. */
extern const qk_kernel qk_ct_b4_zp_g32_dequant_f32_vulkan;
extern const qk_kernel qk_ct_b4_zp_g32_dequant_f32_metal;
qk_status qk_ct_b4_zp_g32_dequant_f32(const qk_backend *backend, const qk_range weights[3],
    qk_range dst, uint64_t rows, uint64_t cols, qk_error *error);
void qk_ct_b4_zp_g32_dequant_f32_ref(const void *const weights[3],
    uint64_t rows, uint64_t cols, float *dst);

/* ct_b4_zp_g32_dequant_f16: decodes a whole tensor: dst[i] = value(i), in f16. */
extern const qk_kernel qk_ct_b4_zp_g32_dequant_f16_vulkan;
extern const qk_kernel qk_ct_b4_zp_g32_dequant_f16_metal;
qk_status qk_ct_b4_zp_g32_dequant_f16(const qk_backend *backend, const qk_range weights[3],
    qk_range dst, uint64_t rows, uint64_t cols, qk_error *error);
void qk_ct_b4_zp_g32_dequant_f16_ref(const void *const weights[3],
    uint64_t rows, uint64_t cols, uint16_t *dst);

/* ct_b4_zp_g32_dequant_bf16: decodes a whole tensor: dst[i] = value(i), in bf16. */
extern const qk_kernel qk_ct_b4_zp_g32_dequant_bf16_vulkan;
extern const qk_kernel qk_ct_b4_zp_g32_dequant_bf16_metal;
qk_status qk_ct_b4_zp_g32_dequant_bf16(const qk_backend *backend, const qk_range weights[3],
    qk_range dst, uint64_t rows, uint64_t cols, qk_error *error);
void qk_ct_b4_zp_g32_dequant_bf16_ref(const void *const weights[3],
    uint64_t rows, uint64_t cols, uint16_t *dst);

/* ct_b4_zp_g32_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32. */
extern const qk_kernel qk_ct_b4_zp_g32_gather_f32_vulkan;
extern const qk_kernel qk_ct_b4_zp_g32_gather_f32_metal;
qk_status qk_ct_b4_zp_g32_gather_f32(const qk_backend *backend, const qk_range weights[3],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_ct_b4_zp_g32_gather_f32_ref(const void *const weights[3],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, float *dst);

/* ct_b4_zp_g32_gather_f16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16. */
extern const qk_kernel qk_ct_b4_zp_g32_gather_f16_vulkan;
extern const qk_kernel qk_ct_b4_zp_g32_gather_f16_metal;
qk_status qk_ct_b4_zp_g32_gather_f16(const qk_backend *backend, const qk_range weights[3],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_ct_b4_zp_g32_gather_f16_ref(const void *const weights[3],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, uint16_t *dst);

/* ct_b4_zp_g32_gather_bf16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in bf16. */
extern const qk_kernel qk_ct_b4_zp_g32_gather_bf16_vulkan;
extern const qk_kernel qk_ct_b4_zp_g32_gather_bf16_metal;
qk_status qk_ct_b4_zp_g32_gather_bf16(const qk_backend *backend, const qk_range weights[3],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_ct_b4_zp_g32_gather_bf16_ref(const void *const weights[3],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, uint16_t *dst);

/* ct_b4_zp_g32_gemv_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32. */
extern const qk_kernel qk_ct_b4_zp_g32_gemv_f32_vulkan;
extern const qk_kernel qk_ct_b4_zp_g32_gemv_f32_metal;
qk_status qk_ct_b4_zp_g32_gemv_f32(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);
void qk_ct_b4_zp_g32_gemv_f32_ref(const void *const weights[3],
    const float *x, uint64_t rows, uint64_t cols, uint64_t batch, float *y);

/* ct_b4_zp_g32_gemv_int8_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32; class int8. */
extern const qk_kernel qk_ct_b4_zp_g32_gemv_int8_f32_vulkan;
qk_status qk_ct_b4_zp_g32_gemv_int8_f32(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* ct_b4_zp_g32_gemv_split_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32; class split. */
extern const qk_kernel qk_ct_b4_zp_g32_gemv_split_f32_vulkan;
qk_status qk_ct_b4_zp_g32_gemv_split_f32(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* ct_b4_zp_g32_gemv_int24_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32; class int24. */
extern const qk_kernel qk_ct_b4_zp_g32_gemv_int24_f32_vulkan;
qk_status qk_ct_b4_zp_g32_gemv_int24_f32(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* ct_b4_zp_g32_gemv_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16. */
extern const qk_kernel qk_ct_b4_zp_g32_gemv_f16_vulkan;
extern const qk_kernel qk_ct_b4_zp_g32_gemv_f16_metal;
qk_status qk_ct_b4_zp_g32_gemv_f16(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);
void qk_ct_b4_zp_g32_gemv_f16_ref(const void *const weights[3],
    const uint16_t *x, uint64_t rows, uint64_t cols, uint64_t batch, float *y);

/* ct_b4_zp_g32_gemv_int8_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16; class int8. */
extern const qk_kernel qk_ct_b4_zp_g32_gemv_int8_f16_vulkan;
qk_status qk_ct_b4_zp_g32_gemv_int8_f16(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* ct_b4_zp_g32_gemv_split_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16; class split. */
extern const qk_kernel qk_ct_b4_zp_g32_gemv_split_f16_vulkan;
qk_status qk_ct_b4_zp_g32_gemv_split_f16(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* ct_b4_zp_g32_gemv_int24_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16; class int24. */
extern const qk_kernel qk_ct_b4_zp_g32_gemv_int24_f16_vulkan;
qk_status qk_ct_b4_zp_g32_gemv_int24_f16(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

#ifdef __cplusplus
}
#endif
#endif
