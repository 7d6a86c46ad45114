/* int8_channel: kernels, dispatch and reference decoder of the format.
 * Generated from the specification below by `qkgen emit --format int8_channel`; do not edit.
 * 34 bytes for 32 elements, 8 bits each.
 * dequant, gather in f32: for each weight 1 bytes read and 4 written, 11 operations: 1.25 loads, 3.75 bits, 4 integer, 1 float, 1 conversions.
 * gemv in f32: for each weight 1 bytes read, 9.56 operations: 1.06 loads, 2.56 bits, 3.25 integer, 2.19 float, 0.5 conversions.
 *
 *     format int8_channel "signed codes of 8 bits, a scale for each row"
 *     from "compressed-tensors: int-quantized, a scale for each channel"
 *
 *     block 1 x 32 ragged {
 *         buffer weight { w: i8[32] }
 *         buffer weight_scale[rows] { s: bf16 }
 *     }
 *
 *     code q: i8 = w { 8 @ 0 (32:8) }
 *
 *     value = q * s
 */
#ifndef QK_int8_channel_KERNELS_H
#define QK_int8_channel_KERNELS_H

#include <qkgen/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* int8_channel_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32. */
extern const qk_kernel qk_int8_channel_dequant_f32_vulkan;
extern const qk_kernel qk_int8_channel_dequant_f32_metal;
qk_status qk_int8_channel_dequant_f32(const qk_backend *backend, const qk_range weights[2],
    qk_range dst, uint64_t rows, uint64_t cols, qk_error *error);
void qk_int8_channel_dequant_f32_ref(const void *const weights[2],
    uint64_t rows, uint64_t cols, float *dst);

/* int8_channel_dequant_f16: decodes a whole tensor: dst[i] = value(i), in f16. */
extern const qk_kernel qk_int8_channel_dequant_f16_vulkan;
extern const qk_kernel qk_int8_channel_dequant_f16_metal;
qk_status qk_int8_channel_dequant_f16(const qk_backend *backend, const qk_range weights[2],
    qk_range dst, uint64_t rows, uint64_t cols, qk_error *error);
void qk_int8_channel_dequant_f16_ref(const void *const weights[2],
    uint64_t rows, uint64_t cols, uint16_t *dst);

/* int8_channel_dequant_bf16: decodes a whole tensor: dst[i] = value(i), in bf16. */
extern const qk_kernel qk_int8_channel_dequant_bf16_vulkan;
extern const qk_kernel qk_int8_channel_dequant_bf16_metal;
qk_status qk_int8_channel_dequant_bf16(const qk_backend *backend, const qk_range weights[2],
    qk_range dst, uint64_t rows, uint64_t cols, qk_error *error);
void qk_int8_channel_dequant_bf16_ref(const void *const weights[2],
    uint64_t rows, uint64_t cols, uint16_t *dst);

/* int8_channel_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32. */
extern const qk_kernel qk_int8_channel_gather_f32_vulkan;
extern const qk_kernel qk_int8_channel_gather_f32_metal;
qk_status qk_int8_channel_gather_f32(const qk_backend *backend, const qk_range weights[2],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_int8_channel_gather_f32_ref(const void *const weights[2],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, float *dst);

/* int8_channel_gather_f16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16. */
extern const qk_kernel qk_int8_channel_gather_f16_vulkan;
extern const qk_kernel qk_int8_channel_gather_f16_metal;
qk_status qk_int8_channel_gather_f16(const qk_backend *backend, const qk_range weights[2],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_int8_channel_gather_f16_ref(const void *const weights[2],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, uint16_t *dst);

/* int8_channel_gather_bf16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in bf16. */
extern const qk_kernel qk_int8_channel_gather_bf16_vulkan;
extern const qk_kernel qk_int8_channel_gather_bf16_metal;
qk_status qk_int8_channel_gather_bf16(const qk_backend *backend, const qk_range weights[2],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_int8_channel_gather_bf16_ref(const void *const weights[2],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, uint16_t *dst);

/* int8_channel_gemv_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32. */
extern const qk_kernel qk_int8_channel_gemv_f32_vulkan;
extern const qk_kernel qk_int8_channel_gemv_f32_metal;
qk_status qk_int8_channel_gemv_f32(const qk_backend *backend, const qk_range weights[2],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);
void qk_int8_channel_gemv_f32_ref(const void *const weights[2],
    const float *x, uint64_t rows, uint64_t cols, uint64_t batch, float *y);

/* int8_channel_gemv_int8_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32; class int8. */
extern const qk_kernel qk_int8_channel_gemv_int8_f32_vulkan;
qk_status qk_int8_channel_gemv_int8_f32(const qk_backend *backend, const qk_range weights[2],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* int8_channel_gemv_split_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32; class split. */
extern const qk_kernel qk_int8_channel_gemv_split_f32_vulkan;
qk_status qk_int8_channel_gemv_split_f32(const qk_backend *backend, const qk_range weights[2],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* int8_channel_gemv_int24_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32; class int24. */
extern const qk_kernel qk_int8_channel_gemv_int24_f32_vulkan;
qk_status qk_int8_channel_gemv_int24_f32(const qk_backend *backend, const qk_range weights[2],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* int8_channel_gemv_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16. */
extern const qk_kernel qk_int8_channel_gemv_f16_vulkan;
extern const qk_kernel qk_int8_channel_gemv_f16_metal;
qk_status qk_int8_channel_gemv_f16(const qk_backend *backend, const qk_range weights[2],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);
void qk_int8_channel_gemv_f16_ref(const void *const weights[2],
    const uint16_t *x, uint64_t rows, uint64_t cols, uint64_t batch, float *y);

/* int8_channel_gemv_int8_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16; class int8. */
extern const qk_kernel qk_int8_channel_gemv_int8_f16_vulkan;
qk_status qk_int8_channel_gemv_int8_f16(const qk_backend *backend, const qk_range weights[2],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* int8_channel_gemv_split_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16; class split. */
extern const qk_kernel qk_int8_channel_gemv_split_f16_vulkan;
qk_status qk_int8_channel_gemv_split_f16(const qk_backend *backend, const qk_range weights[2],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* int8_channel_gemv_int24_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16; class int24. */
extern const qk_kernel qk_int8_channel_gemv_int24_f16_vulkan;
qk_status qk_int8_channel_gemv_int24_f16(const qk_backend *backend, const qk_range weights[2],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

#ifdef __cplusplus
}
#endif
#endif
