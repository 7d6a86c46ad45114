/* fp8_block: kernels, dispatch and reference decoder of the format.
 * Generated from the specification below by `qkgen emit --format fp8_block`; do not edit.
 * Licence: none of qkgen's applies; this text is under that of its specification, or yours.
 * 16388 bytes for 16384 elements, 8.002 bits each.
 * dequant, gather in f32: for each weight 1 bytes read and 4 written, 19.2 operations: 1.25 loads, 8.5 bits, 6.5 integer, 2 float, 1
 * conversions.
 * gemv in f32: for each weight 1 bytes read, 5.81 operations: 0.0781 loads, 2.75 bits, 0.453 integer, 2.03 float, 0.5 conversions.
 *     format fp8_block "E4M3 codes, a scale for each patch of 128 x 128"
 *     from "DeepSeek-V3: block-wise FP8"
 *     block 128 x 128 ragged {
 *         buffer weight           { w: u8[128][128] }
 *         buffer weight_scale_inv { s: f32 }
 *     }
 *     code q: e4m3 = w { 8 @ 0 (16384:8) }
 *     value = q * s
 */
#ifndef QK_fp8_block_KERNELS_H
#define QK_fp8_block_KERNELS_H

#include <qkgen/kernel.h>

#if QK_ABI_VERSION != 22
#error "made for version 22 of qkgen/kernel.h, and this is another: generate it again, with the qkgen of these headers"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* All descriptors below, for qkgen/registry.h. */
extern const qk_kernel_set qk_fp8_block_kernels;

/* fp8_block_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32. */
extern const qk_kernel qk_fp8_block_dequant_f32_vulkan;
extern const qk_kernel qk_fp8_block_dequant_f32_metal;
qk_status qk_fp8_block_dequant_f32(const qk_backend *backend, const qk_range weights[2],
    qk_range dst, uint64_t rows, uint64_t cols, qk_error *error);
void qk_fp8_block_dequant_f32_ref(const void *const weights[2],
    uint64_t rows, uint64_t cols, float *dst);

/* fp8_block_dequant_f16: decodes a whole tensor: dst[i] = value(i), in f16. */
extern const qk_kernel qk_fp8_block_dequant_f16_vulkan;
extern const qk_kernel qk_fp8_block_dequant_f16_metal;
qk_status qk_fp8_block_dequant_f16(const qk_backend *backend, const qk_range weights[2],
    qk_range dst, uint64_t rows, uint64_t cols, qk_error *error);
void qk_fp8_block_dequant_f16_ref(const void *const weights[2],
    uint64_t rows, uint64_t cols, uint16_t *dst);

/* fp8_block_dequant_bf16: decodes a whole tensor: dst[i] = value(i), in bf16. */
extern const qk_kernel qk_fp8_block_dequant_bf16_vulkan;
extern const qk_kernel qk_fp8_block_dequant_bf16_metal;
qk_status qk_fp8_block_dequant_bf16(const qk_backend *backend, const qk_range weights[2],
    qk_range dst, uint64_t rows, uint64_t cols, qk_error *error);
void qk_fp8_block_dequant_bf16_ref(const void *const weights[2],
    uint64_t rows, uint64_t cols, uint16_t *dst);

/* fp8_block_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32. */
extern const qk_kernel qk_fp8_block_gather_f32_vulkan;
extern const qk_kernel qk_fp8_block_gather_f32_metal;
qk_status qk_fp8_block_gather_f32(const qk_backend *backend, const qk_range weights[2],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_fp8_block_gather_f32_ref(const void *const weights[2],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, float *dst);

/* fp8_block_gather_f16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16. */
extern const qk_kernel qk_fp8_block_gather_f16_vulkan;
extern const qk_kernel qk_fp8_block_gather_f16_metal;
qk_status qk_fp8_block_gather_f16(const qk_backend *backend, const qk_range weights[2],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_fp8_block_gather_f16_ref(const void *const weights[2],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, uint16_t *dst);

/* fp8_block_gather_bf16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in bf16. */
extern const qk_kernel qk_fp8_block_gather_bf16_vulkan;
extern const qk_kernel qk_fp8_block_gather_bf16_metal;
qk_status qk_fp8_block_gather_bf16(const qk_backend *backend, const qk_range weights[2],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_fp8_block_gather_bf16_ref(const void *const weights[2],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, uint16_t *dst);

/* fp8_block_gemv_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32. */
extern const qk_kernel qk_fp8_block_gemv_f32_vulkan;
extern const qk_kernel qk_fp8_block_gemv_f32_metal;
qk_status qk_fp8_block_gemv_f32(const qk_backend *backend, const qk_range weights[2],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);
void qk_fp8_block_gemv_f32_ref(const void *const weights[2],
    const float *x, uint64_t rows, uint64_t cols, uint64_t batch, float *y);

/* fp8_block_gemv_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16. */
extern const qk_kernel qk_fp8_block_gemv_f16_vulkan;
extern const qk_kernel qk_fp8_block_gemv_f16_metal;
qk_status qk_fp8_block_gemv_f16(const qk_backend *backend, const qk_range weights[2],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);
void qk_fp8_block_gemv_f16_ref(const void *const weights[2],
    const uint16_t *x, uint64_t rows, uint64_t cols, uint64_t batch, float *y);

#ifdef __cplusplus
}
#endif
#endif
