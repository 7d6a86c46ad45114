/* gptq_v2_b4_g64: kernels, dispatch and reference decoder of the format.
 * Generated from the specification below by `qkgen emit --format gptq_v2_b4_g64`; do not edit.
 * 1104 bytes for 2048 elements, 4.312 bits each.
 * dequant in f32: for each weight 0.539 bytes read and 4 written, 9.19 operations: 0.562 loads, 2.75 bits, 3.62 integer, 1 float, 1.25 conversions.
 * gather in f32: for each weight 0.539 bytes read and 4 written, 12.5 operations: 0.75 loads, 2.75 bits, 6.75 integer, 1 float, 1.25 conversions.
 * gemv in f32: for each weight 0.539 bytes read, 5.44 operations: 0.25 loads, 0.75 bits, 1.56 integer, 2.25 float, 0.625 conversions.
 *
 *     format gptq_v2_b{bits}_g{group} "GPTQ: codes packed along the inputs, zeros along the outputs"
 *     from "GPTQModel: checkpoints of version 2"
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
 *     value = (q - z) * s
 *
 * Here bits = 4, group = 64.
 */
#ifndef QK_gptq_v2_b4_g64_KERNELS_H
#define QK_gptq_v2_b4_g64_KERNELS_H

#include <qkgen/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* gptq_v2_b4_g64_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32. */
extern const qk_kernel qk_gptq_v2_b4_g64_dequant_f32_vulkan;
extern const qk_kernel qk_gptq_v2_b4_g64_dequant_f32_metal;
qk_status qk_gptq_v2_b4_g64_dequant_f32(const qk_backend *backend, const qk_range weights[3],
    qk_range dst, uint64_t rows, uint64_t cols, qk_error *error);
void qk_gptq_v2_b4_g64_dequant_f32_ref(const void *const weights[3],
    uint64_t rows, uint64_t cols, float *dst);

/* gptq_v2_b4_g64_dequant_f16: decodes a whole tensor: dst[i] = value(i), in f16. */
extern const qk_kernel qk_gptq_v2_b4_g64_dequant_f16_vulkan;
extern const qk_kernel qk_gptq_v2_b4_g64_dequant_f16_metal;
qk_status qk_gptq_v2_b4_g64_dequant_f16(const qk_backend *backend, const qk_range weights[3],
    qk_range dst, uint64_t rows, uint64_t cols, qk_error *error);
void qk_gptq_v2_b4_g64_dequant_f16_ref(const void *const weights[3],
    uint64_t rows, uint64_t cols, uint16_t *dst);

/* gptq_v2_b4_g64_dequant_bf16: decodes a whole tensor: dst[i] = value(i), in bf16. */
extern const qk_kernel qk_gptq_v2_b4_g64_dequant_bf16_vulkan;
extern const qk_kernel qk_gptq_v2_b4_g64_dequant_bf16_metal;
qk_status qk_gptq_v2_b4_g64_dequant_bf16(const qk_backend *backend, const qk_range weights[3],
    qk_range dst, uint64_t rows, uint64_t cols, qk_error *error);
void qk_gptq_v2_b4_g64_dequant_bf16_ref(const void *const weights[3],
    uint64_t rows, uint64_t cols, uint16_t *dst);

/* gptq_v2_b4_g64_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32. */
extern const qk_kernel qk_gptq_v2_b4_g64_gather_f32_vulkan;
extern const qk_kernel qk_gptq_v2_b4_g64_gather_f32_metal;
qk_status qk_gptq_v2_b4_g64_gather_f32(const qk_backend *backend, const qk_range weights[3],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_gptq_v2_b4_g64_gather_f32_ref(const void *const weights[3],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, float *dst);

/* gptq_v2_b4_g64_gather_f16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16. */
extern const qk_kernel qk_gptq_v2_b4_g64_gather_f16_vulkan;
extern const qk_kernel qk_gptq_v2_b4_g64_gather_f16_metal;
qk_status qk_gptq_v2_b4_g64_gather_f16(const qk_backend *backend, const qk_range weights[3],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_gptq_v2_b4_g64_gather_f16_ref(const void *const weights[3],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, uint16_t *dst);

/* gptq_v2_b4_g64_gather_bf16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in bf16. */
extern const qk_kernel qk_gptq_v2_b4_g64_gather_bf16_vulkan;
extern const qk_kernel qk_gptq_v2_b4_g64_gather_bf16_metal;
qk_status qk_gptq_v2_b4_g64_gather_bf16(const qk_backend *backend, const qk_range weights[3],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_gptq_v2_b4_g64_gather_bf16_ref(const void *const weights[3],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, uint16_t *dst);

/* gptq_v2_b4_g64_gemv_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32. */
extern const qk_kernel qk_gptq_v2_b4_g64_gemv_f32_vulkan;
extern const qk_kernel qk_gptq_v2_b4_g64_gemv_f32_metal;
qk_status qk_gptq_v2_b4_g64_gemv_f32(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);
void qk_gptq_v2_b4_g64_gemv_f32_ref(const void *const weights[3],
    const float *x, uint64_t rows, uint64_t cols, uint64_t batch, float *y);

/* gptq_v2_b4_g64_gemv_int8_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32; class int8. */
extern const qk_kernel qk_gptq_v2_b4_g64_gemv_int8_f32_vulkan;
qk_status qk_gptq_v2_b4_g64_gemv_int8_f32(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* gptq_v2_b4_g64_gemv_split_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32; class split. */
extern const qk_kernel qk_gptq_v2_b4_g64_gemv_split_f32_vulkan;
qk_status qk_gptq_v2_b4_g64_gemv_split_f32(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* gptq_v2_b4_g64_gemv_int24_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32; class int24. */
extern const qk_kernel qk_gptq_v2_b4_g64_gemv_int24_f32_vulkan;
qk_status qk_gptq_v2_b4_g64_gemv_int24_f32(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* gptq_v2_b4_g64_gemv_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16. */
extern const qk_kernel qk_gptq_v2_b4_g64_gemv_f16_vulkan;
extern const qk_kernel qk_gptq_v2_b4_g64_gemv_f16_metal;
qk_status qk_gptq_v2_b4_g64_gemv_f16(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);
void qk_gptq_v2_b4_g64_gemv_f16_ref(const void *const weights[3],
    const uint16_t *x, uint64_t rows, uint64_t cols, uint64_t batch, float *y);

/* gptq_v2_b4_g64_gemv_int8_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16; class int8. */
extern const qk_kernel qk_gptq_v2_b4_g64_gemv_int8_f16_vulkan;
qk_status qk_gptq_v2_b4_g64_gemv_int8_f16(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* gptq_v2_b4_g64_gemv_split_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16; class split. */
extern const qk_kernel qk_gptq_v2_b4_g64_gemv_split_f16_vulkan;
qk_status qk_gptq_v2_b4_g64_gemv_split_f16(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* gptq_v2_b4_g64_gemv_int24_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16; class int24. */
extern const qk_kernel qk_gptq_v2_b4_g64_gemv_int24_f16_vulkan;
qk_status qk_gptq_v2_b4_g64_gemv_int24_f16(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

#ifdef __cplusplus
}
#endif
#endif
