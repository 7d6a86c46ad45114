/* mx_fp6_e3m2: kernels, dispatch and reference decoder of the format.
 * Generated from the specification below by `qkgen emit --format mx_fp6_e3m2`; do not edit.
 * 25 bytes for 32 elements, 6.25 bits each.
 * dequant, gather in f32: for each weight 0.781 bytes read and 4 written, 15.2 operations: 0.75 loads, 8.25 bits, 3.25 integer, 2 float, 1 conversions.
 * gemv, gemv_id in f32: for each weight 0.781 bytes read, 11.8 operations: 0.0625 loads, 7.47 bits, 0.234 integer, 3.03 float, 1 conversions.
 *
 *     format mx_fp6_e3m2 "OCP MX: E3M2 codes in one bit stream, a power of two for 32"
 *     from "OCP Microscaling Formats v1.0; packed as AMD Quark does"
 *
 *     block 32 {
 *         buffer codes  { w: u8[24] }
 *         buffer scales { s: e8m0 }
 *     }
 *
 *     code q: e3m2 = w { 6 @ 0 (32:6) }
 *
 *     value = q * s
 */
#ifndef QK_mx_fp6_e3m2_KERNELS_H
#define QK_mx_fp6_e3m2_KERNELS_H

#include <qkgen/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* mx_fp6_e3m2_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32. */
extern const qk_kernel qk_mx_fp6_e3m2_dequant_f32_vulkan;
extern const qk_kernel qk_mx_fp6_e3m2_dequant_f32_metal;
qk_status qk_mx_fp6_e3m2_dequant_f32(const qk_backend *backend, const qk_range weights[2],
    qk_range dst, uint64_t elements, qk_error *error);
void qk_mx_fp6_e3m2_dequant_f32_ref(const void *const weights[2],
    uint64_t elements, float *dst);

/* mx_fp6_e3m2_dequant_f16: decodes a whole tensor: dst[i] = value(i), in f16. */
extern const qk_kernel qk_mx_fp6_e3m2_dequant_f16_vulkan;
extern const qk_kernel qk_mx_fp6_e3m2_dequant_f16_metal;
qk_status qk_mx_fp6_e3m2_dequant_f16(const qk_backend *backend, const qk_range weights[2],
    qk_range dst, uint64_t elements, qk_error *error);
void qk_mx_fp6_e3m2_dequant_f16_ref(const void *const weights[2],
    uint64_t elements, uint16_t *dst);

/* mx_fp6_e3m2_dequant_bf16: decodes a whole tensor: dst[i] = value(i), in bf16. */
extern const qk_kernel qk_mx_fp6_e3m2_dequant_bf16_vulkan;
extern const qk_kernel qk_mx_fp6_e3m2_dequant_bf16_metal;
qk_status qk_mx_fp6_e3m2_dequant_bf16(const qk_backend *backend, const qk_range weights[2],
    qk_range dst, uint64_t elements, qk_error *error);
void qk_mx_fp6_e3m2_dequant_bf16_ref(const void *const weights[2],
    uint64_t elements, uint16_t *dst);

/* mx_fp6_e3m2_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32. */
extern const qk_kernel qk_mx_fp6_e3m2_gather_f32_vulkan;
extern const qk_kernel qk_mx_fp6_e3m2_gather_f32_metal;
qk_status qk_mx_fp6_e3m2_gather_f32(const qk_backend *backend, const qk_range weights[2],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_mx_fp6_e3m2_gather_f32_ref(const void *const weights[2],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, float *dst);

/* mx_fp6_e3m2_gather_f16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16. */
extern const qk_kernel qk_mx_fp6_e3m2_gather_f16_vulkan;
extern const qk_kernel qk_mx_fp6_e3m2_gather_f16_metal;
qk_status qk_mx_fp6_e3m2_gather_f16(const qk_backend *backend, const qk_range weights[2],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_mx_fp6_e3m2_gather_f16_ref(const void *const weights[2],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, uint16_t *dst);

/* mx_fp6_e3m2_gather_bf16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in bf16. */
extern const qk_kernel qk_mx_fp6_e3m2_gather_bf16_vulkan;
extern const qk_kernel qk_mx_fp6_e3m2_gather_bf16_metal;
qk_status qk_mx_fp6_e3m2_gather_bf16(const qk_backend *backend, const qk_range weights[2],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_mx_fp6_e3m2_gather_bf16_ref(const void *const weights[2],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, uint16_t *dst);

/* mx_fp6_e3m2_gemv_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32. */
extern const qk_kernel qk_mx_fp6_e3m2_gemv_f32_vulkan;
extern const qk_kernel qk_mx_fp6_e3m2_gemv_f32_metal;
qk_status qk_mx_fp6_e3m2_gemv_f32(const qk_backend *backend, const qk_range weights[2],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);
void qk_mx_fp6_e3m2_gemv_f32_ref(const void *const weights[2],
    const float *x, uint64_t rows, uint64_t cols, uint64_t batch, float *y);

/* mx_fp6_e3m2_gemv_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16. */
extern const qk_kernel qk_mx_fp6_e3m2_gemv_f16_vulkan;
extern const qk_kernel qk_mx_fp6_e3m2_gemv_f16_metal;
qk_status qk_mx_fp6_e3m2_gemv_f16(const qk_backend *backend, const qk_range weights[2],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);
void qk_mx_fp6_e3m2_gemv_f16_ref(const void *const weights[2],
    const uint16_t *x, uint64_t rows, uint64_t cols, uint64_t batch, float *y);

/* mx_fp6_e3m2_gemv_id_f32: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][k], in f32. */
extern const qk_kernel qk_mx_fp6_e3m2_gemv_id_f32_vulkan;
extern const qk_kernel qk_mx_fp6_e3m2_gemv_id_f32_metal;
qk_status qk_mx_fp6_e3m2_gemv_id_f32(const qk_backend *backend, const qk_range weights[2],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, qk_error *error);
uint64_t qk_mx_fp6_e3m2_gemv_id_f32_ref(const void *const weights[2],
    const float *x, const uint32_t *ids, uint64_t experts, uint64_t rows, uint64_t cols,
    uint64_t tokens, uint64_t slots, float *y);

/* mx_fp6_e3m2_gemv_id_f16: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][k], in f16. */
extern const qk_kernel qk_mx_fp6_e3m2_gemv_id_f16_vulkan;
extern const qk_kernel qk_mx_fp6_e3m2_gemv_id_f16_metal;
qk_status qk_mx_fp6_e3m2_gemv_id_f16(const qk_backend *backend, const qk_range weights[2],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, qk_error *error);
uint64_t qk_mx_fp6_e3m2_gemv_id_f16_ref(const void *const weights[2],
    const uint16_t *x, const uint32_t *ids, uint64_t experts, uint64_t rows, uint64_t cols,
    uint64_t tokens, uint64_t slots, float *y);

#ifdef __cplusplus
}
#endif
#endif
