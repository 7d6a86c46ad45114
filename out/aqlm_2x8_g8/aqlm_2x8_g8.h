/* aqlm_2x8_g8: kernels, dispatch and reference decoder of the format.
 * Generated from the specification below by `qkgen emit --format aqlm_2x8_g8`; do not edit.
 * Licence: none of qkgen's applies; this text is under that of its specification, or yours.
 * 36 bytes for 8 elements, 2 bits each.
 * dequant, gather in f32: for each weight 0.25 bytes read and 4 written, 10.2 operations: 1.75 loads, 1 bits, 3.25 integer, 2 float, 2.25
 * conversions.
 * gemv in f32: for each weight 0.25 bytes read, 7.62 operations: 0.625 loads, 1 bits, 0.75 integer, 3.12 float, 2.12 conversions.
 * gemv_id in f32: for each weight 0.25 bytes read, 8.75 operations: 0.625 loads, 1 bits, 1.88 integer, 3.12 float, 2.12 conversions.
 *     format aqlm_2x8_g8 "sums of two vectors of 8, each out of a table of 256, a scale for each row"
 *     from "AQLM: inference_lib, two codebooks of 8 bits"
 *     block 1 x 8 {
 *         buffer codes                { n: u8[1][2] }
 *         buffer codebook0[c0 of 256] { vectors0: f16[1][8] }    # codebooks[0]
 *         buffer codebook1[c1 of 256] { vectors1: f16[1][8] }    # codebooks[1], which follows in the same tensor
 *         buffer scales[rows]         { d: f16 }
 *     }
 *     code c0 per 8     = n        { 8 @ 0 }
 *     code c1 per 8     = n        { 8 @ 8 }
 *     code v0: f16      = vectors0 { 16 @ 0 (8:16) }
 *     code v1: f16      = vectors1 { 16 @ 0 (8:16) }
 *     code s: f16 per 8 = d        { 16 @ 0 }
 *     value = (v0 + v1) * s
 */
#ifndef QK_aqlm_2x8_g8_KERNELS_H
#define QK_aqlm_2x8_g8_KERNELS_H

#include <qkgen/kernel.h>

#if QK_ABI_VERSION != 22
#error "made for version 22 of qkgen/kernel.h, and this is another: generate it again, with the qkgen of these headers"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* All descriptors below, for qkgen/registry.h. */
extern const qk_kernel_set qk_aqlm_2x8_g8_kernels;

/* aqlm_2x8_g8_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32. */
extern const qk_kernel qk_aqlm_2x8_g8_dequant_f32_vulkan;
extern const qk_kernel qk_aqlm_2x8_g8_dequant_f32_metal;
qk_status qk_aqlm_2x8_g8_dequant_f32(const qk_backend *backend, const qk_range weights[4],
    qk_range dst, uint64_t rows, uint64_t cols, qk_error *error);
void qk_aqlm_2x8_g8_dequant_f32_ref(const void *const weights[4],
    uint64_t rows, uint64_t cols, float *dst);

/* aqlm_2x8_g8_dequant_f16: decodes a whole tensor: dst[i] = value(i), in f16. */
extern const qk_kernel qk_aqlm_2x8_g8_dequant_f16_vulkan;
extern const qk_kernel qk_aqlm_2x8_g8_dequant_f16_metal;
qk_status qk_aqlm_2x8_g8_dequant_f16(const qk_backend *backend, const qk_range weights[4],
    qk_range dst, uint64_t rows, uint64_t cols, qk_error *error);
void qk_aqlm_2x8_g8_dequant_f16_ref(const void *const weights[4],
    uint64_t rows, uint64_t cols, uint16_t *dst);

/* aqlm_2x8_g8_dequant_bf16: decodes a whole tensor: dst[i] = value(i), in bf16. */
extern const qk_kernel qk_aqlm_2x8_g8_dequant_bf16_vulkan;
extern const qk_kernel qk_aqlm_2x8_g8_dequant_bf16_metal;
qk_status qk_aqlm_2x8_g8_dequant_bf16(const qk_backend *backend, const qk_range weights[4],
    qk_range dst, uint64_t rows, uint64_t cols, qk_error *error);
void qk_aqlm_2x8_g8_dequant_bf16_ref(const void *const weights[4],
    uint64_t rows, uint64_t cols, uint16_t *dst);

/* aqlm_2x8_g8_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32. */
extern const qk_kernel qk_aqlm_2x8_g8_gather_f32_vulkan;
extern const qk_kernel qk_aqlm_2x8_g8_gather_f32_metal;
qk_status qk_aqlm_2x8_g8_gather_f32(const qk_backend *backend, const qk_range weights[4],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_aqlm_2x8_g8_gather_f32_ref(const void *const weights[4],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, float *dst);

/* aqlm_2x8_g8_gather_f16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16. */
extern const qk_kernel qk_aqlm_2x8_g8_gather_f16_vulkan;
extern const qk_kernel qk_aqlm_2x8_g8_gather_f16_metal;
qk_status qk_aqlm_2x8_g8_gather_f16(const qk_backend *backend, const qk_range weights[4],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_aqlm_2x8_g8_gather_f16_ref(const void *const weights[4],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, uint16_t *dst);

/* aqlm_2x8_g8_gather_bf16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in bf16. */
extern const qk_kernel qk_aqlm_2x8_g8_gather_bf16_vulkan;
extern const qk_kernel qk_aqlm_2x8_g8_gather_bf16_metal;
qk_status qk_aqlm_2x8_g8_gather_bf16(const qk_backend *backend, const qk_range weights[4],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_aqlm_2x8_g8_gather_bf16_ref(const void *const weights[4],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, uint16_t *dst);

/* aqlm_2x8_g8_gemv_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32. */
extern const qk_kernel qk_aqlm_2x8_g8_gemv_f32_vulkan;
extern const qk_kernel qk_aqlm_2x8_g8_gemv_f32_metal;
qk_status qk_aqlm_2x8_g8_gemv_f32(const qk_backend *backend, const qk_range weights[4],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);
void qk_aqlm_2x8_g8_gemv_f32_ref(const void *const weights[4],
    const float *x, uint64_t rows, uint64_t cols, uint64_t batch, float *y);

/* aqlm_2x8_g8_gemv_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16. */
extern const qk_kernel qk_aqlm_2x8_g8_gemv_f16_vulkan;
extern const qk_kernel qk_aqlm_2x8_g8_gemv_f16_metal;
qk_status qk_aqlm_2x8_g8_gemv_f16(const qk_backend *backend, const qk_range weights[4],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);
void qk_aqlm_2x8_g8_gemv_f16_ref(const void *const weights[4],
    const uint16_t *x, uint64_t rows, uint64_t cols, uint64_t batch, float *y);

/* aqlm_2x8_g8_gemv_id_f32: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f32. */
extern const qk_kernel qk_aqlm_2x8_g8_gemv_id_f32_vulkan;
extern const qk_kernel qk_aqlm_2x8_g8_gemv_id_f32_metal;
qk_status qk_aqlm_2x8_g8_gemv_id_f32(const qk_backend *backend, const qk_range weights[4],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);
uint64_t qk_aqlm_2x8_g8_gemv_id_f32_ref(const void *const weights[4],
    const float *x, const uint32_t *ids, uint64_t experts, uint64_t rows, uint64_t cols,
    uint64_t tokens, uint64_t slots, uint64_t x_slots, float *y);

/* aqlm_2x8_g8_gemv_id_f16: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f16. */
extern const qk_kernel qk_aqlm_2x8_g8_gemv_id_f16_vulkan;
extern const qk_kernel qk_aqlm_2x8_g8_gemv_id_f16_metal;
qk_status qk_aqlm_2x8_g8_gemv_id_f16(const qk_backend *backend, const qk_range weights[4],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);
uint64_t qk_aqlm_2x8_g8_gemv_id_f16_ref(const void *const weights[4],
    const uint16_t *x, const uint32_t *ids, uint64_t experts, uint64_t rows, uint64_t cols,
    uint64_t tokens, uint64_t slots, uint64_t x_slots, float *y);

#ifdef __cplusplus
}
#endif
#endif
