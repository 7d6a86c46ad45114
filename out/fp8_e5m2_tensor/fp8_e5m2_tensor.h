/* fp8_e5m2_tensor: kernels, dispatch and reference decoder of the format.
 * Generated from the specification below by `qkgen emit --format fp8_e5m2_tensor`; do not edit.
 * 36 bytes for 32 elements, 8 bits each.
 * dequant, gather in f32: for each weight 1 bytes read and 4 written, 11.8 operations: 1.25 loads, 4.5 bits, 4 integer, 1 float, 1 conversions.
 * gemv in f32: for each weight 1 bytes read, 11.9 operations: 1.06 loads, 4.5 bits, 3.25 integer, 2.06 float, 1 conversions.
 *
 *     format fp8_e5m2_tensor "E5M2 codes, a scale for the tensor"
 *     from "compressed-tensors and others: float-quantized with E5M2, a scale for the tensor"
 *
 *     block 1 x 32 ragged {
 *         buffer weight         { w: u8[32] }
 *         buffer weight_scale[] { s: f32 }
 *     }
 *
 *     code q: e5m2 = w { 8 @ 0 (32:8) }
 *
 *     value = q * s
 */
#ifndef QK_fp8_e5m2_tensor_KERNELS_H
#define QK_fp8_e5m2_tensor_KERNELS_H

#include <qkgen/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* fp8_e5m2_tensor_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32. */
extern const qk_kernel qk_fp8_e5m2_tensor_dequant_f32_vulkan;
extern const qk_kernel qk_fp8_e5m2_tensor_dequant_f32_metal;
qk_status qk_fp8_e5m2_tensor_dequant_f32(const qk_backend *backend, const qk_range weights[2],
    qk_range dst, uint64_t rows, uint64_t cols, qk_error *error);
void qk_fp8_e5m2_tensor_dequant_f32_ref(const void *const weights[2],
    uint64_t rows, uint64_t cols, float *dst);

/* fp8_e5m2_tensor_dequant_f16: decodes a whole tensor: dst[i] = value(i), in f16. */
extern const qk_kernel qk_fp8_e5m2_tensor_dequant_f16_vulkan;
extern const qk_kernel qk_fp8_e5m2_tensor_dequant_f16_metal;
qk_status qk_fp8_e5m2_tensor_dequant_f16(const qk_backend *backend, const qk_range weights[2],
    qk_range dst, uint64_t rows, uint64_t cols, qk_error *error);
void qk_fp8_e5m2_tensor_dequant_f16_ref(const void *const weights[2],
    uint64_t rows, uint64_t cols, uint16_t *dst);

/* fp8_e5m2_tensor_dequant_bf16: decodes a whole tensor: dst[i] = value(i), in bf16. */
extern const qk_kernel qk_fp8_e5m2_tensor_dequant_bf16_vulkan;
extern const qk_kernel qk_fp8_e5m2_tensor_dequant_bf16_metal;
qk_status qk_fp8_e5m2_tensor_dequant_bf16(const qk_backend *backend, const qk_range weights[2],
    qk_range dst, uint64_t rows, uint64_t cols, qk_error *error);
void qk_fp8_e5m2_tensor_dequant_bf16_ref(const void *const weights[2],
    uint64_t rows, uint64_t cols, uint16_t *dst);

/* fp8_e5m2_tensor_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32. */
extern const qk_kernel qk_fp8_e5m2_tensor_gather_f32_vulkan;
extern const qk_kernel qk_fp8_e5m2_tensor_gather_f32_metal;
qk_status qk_fp8_e5m2_tensor_gather_f32(const qk_backend *backend, const qk_range weights[2],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_fp8_e5m2_tensor_gather_f32_ref(const void *const weights[2],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, float *dst);

/* fp8_e5m2_tensor_gather_f16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16. */
extern const qk_kernel qk_fp8_e5m2_tensor_gather_f16_vulkan;
extern const qk_kernel qk_fp8_e5m2_tensor_gather_f16_metal;
qk_status qk_fp8_e5m2_tensor_gather_f16(const qk_backend *backend, const qk_range weights[2],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_fp8_e5m2_tensor_gather_f16_ref(const void *const weights[2],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, uint16_t *dst);

/* fp8_e5m2_tensor_gather_bf16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in bf16. */
extern const qk_kernel qk_fp8_e5m2_tensor_gather_bf16_vulkan;
extern const qk_kernel qk_fp8_e5m2_tensor_gather_bf16_metal;
qk_status qk_fp8_e5m2_tensor_gather_bf16(const qk_backend *backend, const qk_range weights[2],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_fp8_e5m2_tensor_gather_bf16_ref(const void *const weights[2],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, uint16_t *dst);

/* fp8_e5m2_tensor_gemv_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32. */
extern const qk_kernel qk_fp8_e5m2_tensor_gemv_f32_vulkan;
extern const qk_kernel qk_fp8_e5m2_tensor_gemv_f32_metal;
qk_status qk_fp8_e5m2_tensor_gemv_f32(const qk_backend *backend, const qk_range weights[2],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);
void qk_fp8_e5m2_tensor_gemv_f32_ref(const void *const weights[2],
    const float *x, uint64_t rows, uint64_t cols, uint64_t batch, float *y);

/* fp8_e5m2_tensor_gemv_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16. */
extern const qk_kernel qk_fp8_e5m2_tensor_gemv_f16_vulkan;
extern const qk_kernel qk_fp8_e5m2_tensor_gemv_f16_metal;
qk_status qk_fp8_e5m2_tensor_gemv_f16(const qk_backend *backend, const qk_range weights[2],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);
void qk_fp8_e5m2_tensor_gemv_f16_ref(const void *const weights[2],
    const uint16_t *x, uint64_t rows, uint64_t cols, uint64_t batch, float *y);

#ifdef __cplusplus
}
#endif
#endif
