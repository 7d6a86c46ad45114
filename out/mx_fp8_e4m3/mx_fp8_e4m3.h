/* mx_fp8_e4m3: kernels, dispatch and reference decoder of the format.
 * Generated from the specification below by `qkgen emit --format mx_fp8_e4m3`; do not edit.
 * Licence: none of qkgen's applies; this text is under that of its specification, or yours.
 * 33 bytes for 32 elements, 8.25 bits each.
 * dequant, gather in f32: for each weight 1.03 bytes read and 4 written, 14.2 operations: 0.5 loads, 7.25 bits, 3.5 integer, 2 float, 1
 * conversions.
 * gemv, gemv_id in f32: for each weight 1.03 bytes read, 6 operations: 0.0781 loads, 2.84 bits, 0.531 integer, 2.05 float, 0.5 conversions.
 *
 *     format mx_fp8_e4m3 "OCP MX: E4M3 codes, a power of two for 32"
 *     from "OCP Microscaling Formats v1.0"
 *
 *     block 32 {
 *         buffer codes  { w: u8[32] }
 *         buffer scales { s: e8m0 }
 *     }
 *
 *     code q: e4m3 = w { 8 @ 0 (32:8) }
 *
 *     value = q * s
 */
#ifndef QK_mx_fp8_e4m3_KERNELS_H
#define QK_mx_fp8_e4m3_KERNELS_H

#include <qkgen/kernel.h>

#if QK_ABI_VERSION != 16
#error "made for version 16 of qkgen/kernel.h, and this is another: generate it again, with the qkgen of these headers"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* All descriptors below, for qkgen/registry.h. */
extern const qk_kernel_set qk_mx_fp8_e4m3_kernels;

/* mx_fp8_e4m3_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32. */
extern const qk_kernel qk_mx_fp8_e4m3_dequant_f32_vulkan;
extern const qk_kernel qk_mx_fp8_e4m3_dequant_f32_metal;
qk_status qk_mx_fp8_e4m3_dequant_f32(const qk_backend *backend, const qk_range weights[2],
    qk_range dst, uint64_t elements, qk_error *error);
void qk_mx_fp8_e4m3_dequant_f32_ref(const void *const weights[2],
    uint64_t elements, float *dst);

/* mx_fp8_e4m3_dequant_f16: decodes a whole tensor: dst[i] = value(i), in f16. */
extern const qk_kernel qk_mx_fp8_e4m3_dequant_f16_vulkan;
extern const qk_kernel qk_mx_fp8_e4m3_dequant_f16_metal;
qk_status qk_mx_fp8_e4m3_dequant_f16(const qk_backend *backend, const qk_range weights[2],
    qk_range dst, uint64_t elements, qk_error *error);
void qk_mx_fp8_e4m3_dequant_f16_ref(const void *const weights[2],
    uint64_t elements, uint16_t *dst);

/* mx_fp8_e4m3_dequant_bf16: decodes a whole tensor: dst[i] = value(i), in bf16. */
extern const qk_kernel qk_mx_fp8_e4m3_dequant_bf16_vulkan;
extern const qk_kernel qk_mx_fp8_e4m3_dequant_bf16_metal;
qk_status qk_mx_fp8_e4m3_dequant_bf16(const qk_backend *backend, const qk_range weights[2],
    qk_range dst, uint64_t elements, qk_error *error);
void qk_mx_fp8_e4m3_dequant_bf16_ref(const void *const weights[2],
    uint64_t elements, uint16_t *dst);

/* mx_fp8_e4m3_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32. */
extern const qk_kernel qk_mx_fp8_e4m3_gather_f32_vulkan;
extern const qk_kernel qk_mx_fp8_e4m3_gather_f32_metal;
qk_status qk_mx_fp8_e4m3_gather_f32(const qk_backend *backend, const qk_range weights[2],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_mx_fp8_e4m3_gather_f32_ref(const void *const weights[2],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, float *dst);

/* mx_fp8_e4m3_gather_f16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16. */
extern const qk_kernel qk_mx_fp8_e4m3_gather_f16_vulkan;
extern const qk_kernel qk_mx_fp8_e4m3_gather_f16_metal;
qk_status qk_mx_fp8_e4m3_gather_f16(const qk_backend *backend, const qk_range weights[2],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_mx_fp8_e4m3_gather_f16_ref(const void *const weights[2],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, uint16_t *dst);

/* mx_fp8_e4m3_gather_bf16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in bf16. */
extern const qk_kernel qk_mx_fp8_e4m3_gather_bf16_vulkan;
extern const qk_kernel qk_mx_fp8_e4m3_gather_bf16_metal;
qk_status qk_mx_fp8_e4m3_gather_bf16(const qk_backend *backend, const qk_range weights[2],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_mx_fp8_e4m3_gather_bf16_ref(const void *const weights[2],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, uint16_t *dst);

/* mx_fp8_e4m3_gemv_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32. */
extern const qk_kernel qk_mx_fp8_e4m3_gemv_f32_vulkan;
extern const qk_kernel qk_mx_fp8_e4m3_gemv_f32_metal;
qk_status qk_mx_fp8_e4m3_gemv_f32(const qk_backend *backend, const qk_range weights[2],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);
void qk_mx_fp8_e4m3_gemv_f32_ref(const void *const weights[2],
    const float *x, uint64_t rows, uint64_t cols, uint64_t batch, float *y);

/* mx_fp8_e4m3_gemv_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16. */
extern const qk_kernel qk_mx_fp8_e4m3_gemv_f16_vulkan;
extern const qk_kernel qk_mx_fp8_e4m3_gemv_f16_metal;
qk_status qk_mx_fp8_e4m3_gemv_f16(const qk_backend *backend, const qk_range weights[2],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);
void qk_mx_fp8_e4m3_gemv_f16_ref(const void *const weights[2],
    const uint16_t *x, uint64_t rows, uint64_t cols, uint64_t batch, float *y);

/* mx_fp8_e4m3_gemv_id_f32: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f32. */
extern const qk_kernel qk_mx_fp8_e4m3_gemv_id_f32_vulkan;
extern const qk_kernel qk_mx_fp8_e4m3_gemv_id_f32_metal;
qk_status qk_mx_fp8_e4m3_gemv_id_f32(const qk_backend *backend, const qk_range weights[2],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);
uint64_t qk_mx_fp8_e4m3_gemv_id_f32_ref(const void *const weights[2],
    const float *x, const uint32_t *ids, uint64_t experts, uint64_t rows, uint64_t cols,
    uint64_t tokens, uint64_t slots, uint64_t x_slots, float *y);

/* mx_fp8_e4m3_gemv_id_f16: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f16. */
extern const qk_kernel qk_mx_fp8_e4m3_gemv_id_f16_vulkan;
extern const qk_kernel qk_mx_fp8_e4m3_gemv_id_f16_metal;
qk_status qk_mx_fp8_e4m3_gemv_id_f16(const qk_backend *backend, const qk_range weights[2],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);
uint64_t qk_mx_fp8_e4m3_gemv_id_f16_ref(const void *const weights[2],
    const uint16_t *x, const uint32_t *ids, uint64_t experts, uint64_t rows, uint64_t cols,
    uint64_t tokens, uint64_t slots, uint64_t x_slots, float *y);

#ifdef __cplusplus
}
#endif
#endif
