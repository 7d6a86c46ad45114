/* gptq_v1_b3_g64: kernels, dispatch and reference decoder of the format.
 * Generated from the specification below by `qkgen emit --format gptq_v1_b3_g64`; do not edit.
 * 844 bytes for 2048 elements, 3.297 bits each.
 * dequant in f32: for each weight 0.412 bytes read and 4 written, 19.2 operations: 1.19 loads, 4.31 bits, 11.5 integer, 1 float, 1.25 conversions.
 * gather in f32: for each weight 0.412 bytes read and 4 written, 24 operations: 1.25 loads, 4.5 bits, 16 integer, 1 float, 1.25 conversions.
 * gemv in f32: for each weight 0.412 bytes read, 8.09 operations: 0.188 loads, 2.38 bits, 2.47 integer, 2.03 float, 1.03 conversions.
 *
 *     format gptq_v1_b{bits}_g{group} "GPTQ: codes packed along the inputs, zeros less one along the outputs"
 *     from "AutoGPTQ, GPTQModel: qlinear, checkpoints of version 1"
 *     for bits in 2 3 4 8, group in 32 64 128
 *
 *     block 32 x group ragged {
 *         buffer qweight[cols][rows] { w: u32[32][group * bits / 32] }
 *         buffer qzeros[cols][rows]  { zs: u32[bits][1] }
 *         buffer scales[cols][rows]  { d: f16[32][1] }
 *     }
 *
 *     code q                = w  { bits @ 0 (32 * group:bits) }
 *     code z per group      = zs { bits @ 0 (32:bits) }
 *     code s: f16 per group = d  { 16 @ 0 (32:16) }
 *
 *     value = (q - (z + 1 & (1 << bits) - 1)) * s
 *
 * Here bits = 3, group = 64.
 */
#ifndef QK_gptq_v1_b3_g64_KERNELS_H
#define QK_gptq_v1_b3_g64_KERNELS_H

#include <qkgen/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* gptq_v1_b3_g64_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32. */
extern const qk_kernel qk_gptq_v1_b3_g64_dequant_f32_vulkan;
extern const qk_kernel qk_gptq_v1_b3_g64_dequant_f32_metal;
qk_status qk_gptq_v1_b3_g64_dequant_f32(const qk_backend *backend, const qk_range weights[3],
    qk_range dst, uint64_t rows, uint64_t cols, qk_error *error);
void qk_gptq_v1_b3_g64_dequant_f32_ref(const void *const weights[3],
    uint64_t rows, uint64_t cols, float *dst);

/* gptq_v1_b3_g64_dequant_f16: decodes a whole tensor: dst[i] = value(i), in f16. */
extern const qk_kernel qk_gptq_v1_b3_g64_dequant_f16_vulkan;
extern const qk_kernel qk_gptq_v1_b3_g64_dequant_f16_metal;
qk_status qk_gptq_v1_b3_g64_dequant_f16(const qk_backend *backend, const qk_range weights[3],
    qk_range dst, uint64_t rows, uint64_t cols, qk_error *error);
void qk_gptq_v1_b3_g64_dequant_f16_ref(const void *const weights[3],
    uint64_t rows, uint64_t cols, uint16_t *dst);

/* gptq_v1_b3_g64_dequant_bf16: decodes a whole tensor: dst[i] = value(i), in bf16. */
extern const qk_kernel qk_gptq_v1_b3_g64_dequant_bf16_vulkan;
extern const qk_kernel qk_gptq_v1_b3_g64_dequant_bf16_metal;
qk_status qk_gptq_v1_b3_g64_dequant_bf16(const qk_backend *backend, const qk_range weights[3],
    qk_range dst, uint64_t rows, uint64_t cols, qk_error *error);
void qk_gptq_v1_b3_g64_dequant_bf16_ref(const void *const weights[3],
    uint64_t rows, uint64_t cols, uint16_t *dst);

/* gptq_v1_b3_g64_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32. */
extern const qk_kernel qk_gptq_v1_b3_g64_gather_f32_vulkan;
extern const qk_kernel qk_gptq_v1_b3_g64_gather_f32_metal;
qk_status qk_gptq_v1_b3_g64_gather_f32(const qk_backend *backend, const qk_range weights[3],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_gptq_v1_b3_g64_gather_f32_ref(const void *const weights[3],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, float *dst);

/* gptq_v1_b3_g64_gather_f16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16. */
extern const qk_kernel qk_gptq_v1_b3_g64_gather_f16_vulkan;
extern const qk_kernel qk_gptq_v1_b3_g64_gather_f16_metal;
qk_status qk_gptq_v1_b3_g64_gather_f16(const qk_backend *backend, const qk_range weights[3],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_gptq_v1_b3_g64_gather_f16_ref(const void *const weights[3],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, uint16_t *dst);

/* gptq_v1_b3_g64_gather_bf16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in bf16. */
extern const qk_kernel qk_gptq_v1_b3_g64_gather_bf16_vulkan;
extern const qk_kernel qk_gptq_v1_b3_g64_gather_bf16_metal;
qk_status qk_gptq_v1_b3_g64_gather_bf16(const qk_backend *backend, const qk_range weights[3],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_gptq_v1_b3_g64_gather_bf16_ref(const void *const weights[3],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, uint16_t *dst);

/* gptq_v1_b3_g64_gemv_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32. */
extern const qk_kernel qk_gptq_v1_b3_g64_gemv_f32_vulkan;
extern const qk_kernel qk_gptq_v1_b3_g64_gemv_f32_metal;
qk_status qk_gptq_v1_b3_g64_gemv_f32(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);
void qk_gptq_v1_b3_g64_gemv_f32_ref(const void *const weights[3],
    const float *x, uint64_t rows, uint64_t cols, uint64_t batch, float *y);

/* gptq_v1_b3_g64_gemv_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16. */
extern const qk_kernel qk_gptq_v1_b3_g64_gemv_f16_vulkan;
extern const qk_kernel qk_gptq_v1_b3_g64_gemv_f16_metal;
qk_status qk_gptq_v1_b3_g64_gemv_f16(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);
void qk_gptq_v1_b3_g64_gemv_f16_ref(const void *const weights[3],
    const uint16_t *x, uint64_t rows, uint64_t cols, uint64_t batch, float *y);

#ifdef __cplusplus
}
#endif
#endif
