/* awq_b4_g64: kernels, dispatch and reference decoder of the format.
 * Generated from the specification below by `qkgen emit --format awq_b4_g64`; do not edit.
 * 276 bytes for 512 elements, 4.312 bits each.
 * dequant in f32: for each weight 0.539 bytes read and 4 written, 6.88 operations: 0.406 loads, 2.19 bits, 2.03 integer, 1 float, 1.25 conversions.
 * gather in f32: for each weight 0.539 bytes read and 4 written, 13 operations: 1.5 loads, 2.5 bits, 6.75 integer, 1 float, 1.25 conversions.
 * gemv in f32: for each weight 0.539 bytes read, 10.3 operations: 1.12 loads, 2.12 bits, 3.69 integer, 2.25 float, 1.12 conversions.
 *
 *     format awq_b4_g{group} "AWQ: codes and zeros of eight outputs in a word, out of order"
 *     from "AutoAWQ: WQLinear_GEMM"
 *     for group in 32 64 128
 *
 *     block 8 x group {
 *         buffer qweight[cols][rows] { w: u32[1][group] }
 *         buffer qzeros[cols][rows]  { zs: u32 }
 *         buffer scales[cols][rows]  { d: f16[8][1] }
 *     }
 *
 *     # Output r of eight is nibble (0, 4, 1, 5, 2, 6, 3, 7)[r].
 *     code q                = w  { 4 @ 0 (group:32, 2:16, 4:4) }
 *     code z per group      = zs { 4 @ 0 (2:16, 4:4) }
 *     code s: f16 per group = d  { 16 @ 0 (8:16) }
 *
 *     value = (q - z) * s
 *
 * Here group = 64.
 */
#ifndef QK_awq_b4_g64_KERNELS_H
#define QK_awq_b4_g64_KERNELS_H

#include <qkgen/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* awq_b4_g64_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32. */
extern const qk_kernel qk_awq_b4_g64_dequant_f32_vulkan;
extern const qk_kernel qk_awq_b4_g64_dequant_f32_metal;
qk_status qk_awq_b4_g64_dequant_f32(const qk_backend *backend, const qk_range weights[3],
    qk_range dst, uint64_t rows, uint64_t cols, qk_error *error);
void qk_awq_b4_g64_dequant_f32_ref(const void *const weights[3],
    uint64_t rows, uint64_t cols, float *dst);

/* awq_b4_g64_dequant_f16: decodes a whole tensor: dst[i] = value(i), in f16. */
extern const qk_kernel qk_awq_b4_g64_dequant_f16_vulkan;
extern const qk_kernel qk_awq_b4_g64_dequant_f16_metal;
qk_status qk_awq_b4_g64_dequant_f16(const qk_backend *backend, const qk_range weights[3],
    qk_range dst, uint64_t rows, uint64_t cols, qk_error *error);
void qk_awq_b4_g64_dequant_f16_ref(const void *const weights[3],
    uint64_t rows, uint64_t cols, uint16_t *dst);

/* awq_b4_g64_dequant_bf16: decodes a whole tensor: dst[i] = value(i), in bf16. */
extern const qk_kernel qk_awq_b4_g64_dequant_bf16_vulkan;
extern const qk_kernel qk_awq_b4_g64_dequant_bf16_metal;
qk_status qk_awq_b4_g64_dequant_bf16(const qk_backend *backend, const qk_range weights[3],
    qk_range dst, uint64_t rows, uint64_t cols, qk_error *error);
void qk_awq_b4_g64_dequant_bf16_ref(const void *const weights[3],
    uint64_t rows, uint64_t cols, uint16_t *dst);

/* awq_b4_g64_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32. */
extern const qk_kernel qk_awq_b4_g64_gather_f32_vulkan;
extern const qk_kernel qk_awq_b4_g64_gather_f32_metal;
qk_status qk_awq_b4_g64_gather_f32(const qk_backend *backend, const qk_range weights[3],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_awq_b4_g64_gather_f32_ref(const void *const weights[3],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, float *dst);

/* awq_b4_g64_gather_f16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16. */
extern const qk_kernel qk_awq_b4_g64_gather_f16_vulkan;
extern const qk_kernel qk_awq_b4_g64_gather_f16_metal;
qk_status qk_awq_b4_g64_gather_f16(const qk_backend *backend, const qk_range weights[3],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_awq_b4_g64_gather_f16_ref(const void *const weights[3],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, uint16_t *dst);

/* awq_b4_g64_gather_bf16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in bf16. */
extern const qk_kernel qk_awq_b4_g64_gather_bf16_vulkan;
extern const qk_kernel qk_awq_b4_g64_gather_bf16_metal;
qk_status qk_awq_b4_g64_gather_bf16(const qk_backend *backend, const qk_range weights[3],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_awq_b4_g64_gather_bf16_ref(const void *const weights[3],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, uint16_t *dst);

/* awq_b4_g64_gemv_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32. */
extern const qk_kernel qk_awq_b4_g64_gemv_f32_vulkan;
extern const qk_kernel qk_awq_b4_g64_gemv_f32_metal;
qk_status qk_awq_b4_g64_gemv_f32(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);
void qk_awq_b4_g64_gemv_f32_ref(const void *const weights[3],
    const float *x, uint64_t rows, uint64_t cols, uint64_t batch, float *y);

/* awq_b4_g64_gemv_int8_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32; class int8. */
extern const qk_kernel qk_awq_b4_g64_gemv_int8_f32_vulkan;
qk_status qk_awq_b4_g64_gemv_int8_f32(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* awq_b4_g64_gemv_split_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32; class split. */
extern const qk_kernel qk_awq_b4_g64_gemv_split_f32_vulkan;
qk_status qk_awq_b4_g64_gemv_split_f32(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* awq_b4_g64_gemv_int24_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32; class int24. */
extern const qk_kernel qk_awq_b4_g64_gemv_int24_f32_vulkan;
qk_status qk_awq_b4_g64_gemv_int24_f32(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* awq_b4_g64_gemv_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16. */
extern const qk_kernel qk_awq_b4_g64_gemv_f16_vulkan;
extern const qk_kernel qk_awq_b4_g64_gemv_f16_metal;
qk_status qk_awq_b4_g64_gemv_f16(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);
void qk_awq_b4_g64_gemv_f16_ref(const void *const weights[3],
    const uint16_t *x, uint64_t rows, uint64_t cols, uint64_t batch, float *y);

/* awq_b4_g64_gemv_int8_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16; class int8. */
extern const qk_kernel qk_awq_b4_g64_gemv_int8_f16_vulkan;
qk_status qk_awq_b4_g64_gemv_int8_f16(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* awq_b4_g64_gemv_split_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16; class split. */
extern const qk_kernel qk_awq_b4_g64_gemv_split_f16_vulkan;
qk_status qk_awq_b4_g64_gemv_split_f16(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* awq_b4_g64_gemv_int24_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16; class int24. */
extern const qk_kernel qk_awq_b4_g64_gemv_int24_f16_vulkan;
qk_status qk_awq_b4_g64_gemv_int24_f16(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

#ifdef __cplusplus
}
#endif
#endif
