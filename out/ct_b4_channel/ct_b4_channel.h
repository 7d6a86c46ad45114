/* ct_b4_channel: kernels, dispatch and reference decoder of the format.
 * Generated from the specification below by `qkgen emit --format ct_b4_channel`; do not edit.
 * Licence: none of qkgen's applies; this text is under that of its specification, or yours.
 * 18 bytes for 32 elements, 4 bits each.
 * dequant, gather in f32: for each weight 0.5 bytes read and 4 written, 8 operations: 0.5 loads, 2.5 bits, 3 integer, 1 float, 1
 * conversions.
 * gemv, gemv_id in f32: for each weight 0.5 bytes read, 3.38 operations: 0.0625 loads, 0.656 bits, 0.0625 integer, 2.09 float, 0.5
 * conversions.
 *
 *     format ct_b4_channel "compressed-tensors: 4-bit codes around 8, a scale for each row"
 *     from "compressed-tensors: pack-quantized, symmetric, by channels"
 *
 *     block 1 x 32 {
 *         buffer weight_packed      { w: u32[4] }
 *         buffer weight_scale[rows] { s: bf16 }
 *     }
 *
 *     code q = w { 4 @ 0 (32:4) }
 *
 *     value = (q - 8) * s
 */
#ifndef QK_ct_b4_channel_KERNELS_H
#define QK_ct_b4_channel_KERNELS_H

#include <qkgen/kernel.h>

#if QK_ABI_VERSION != 11
#error "made for version 11 of qkgen/kernel.h, and this is another: generate it again, with the qkgen of these headers"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* All descriptors below, for qkgen/registry.h. */
extern const qk_kernel_set qk_ct_b4_channel_kernels;

/* ct_b4_channel_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32. */
extern const qk_kernel qk_ct_b4_channel_dequant_f32_vulkan;
extern const qk_kernel qk_ct_b4_channel_dequant_f32_metal;
qk_status qk_ct_b4_channel_dequant_f32(const qk_backend *backend, const qk_range weights[2],
    qk_range dst, uint64_t rows, uint64_t cols, qk_error *error);
void qk_ct_b4_channel_dequant_f32_ref(const void *const weights[2],
    uint64_t rows, uint64_t cols, float *dst);

/* ct_b4_channel_dequant_f16: decodes a whole tensor: dst[i] = value(i), in f16. */
extern const qk_kernel qk_ct_b4_channel_dequant_f16_vulkan;
extern const qk_kernel qk_ct_b4_channel_dequant_f16_metal;
qk_status qk_ct_b4_channel_dequant_f16(const qk_backend *backend, const qk_range weights[2],
    qk_range dst, uint64_t rows, uint64_t cols, qk_error *error);
void qk_ct_b4_channel_dequant_f16_ref(const void *const weights[2],
    uint64_t rows, uint64_t cols, uint16_t *dst);

/* ct_b4_channel_dequant_bf16: decodes a whole tensor: dst[i] = value(i), in bf16. */
extern const qk_kernel qk_ct_b4_channel_dequant_bf16_vulkan;
extern const qk_kernel qk_ct_b4_channel_dequant_bf16_metal;
qk_status qk_ct_b4_channel_dequant_bf16(const qk_backend *backend, const qk_range weights[2],
    qk_range dst, uint64_t rows, uint64_t cols, qk_error *error);
void qk_ct_b4_channel_dequant_bf16_ref(const void *const weights[2],
    uint64_t rows, uint64_t cols, uint16_t *dst);

/* ct_b4_channel_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32. */
extern const qk_kernel qk_ct_b4_channel_gather_f32_vulkan;
extern const qk_kernel qk_ct_b4_channel_gather_f32_metal;
qk_status qk_ct_b4_channel_gather_f32(const qk_backend *backend, const qk_range weights[2],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_ct_b4_channel_gather_f32_ref(const void *const weights[2],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, float *dst);

/* ct_b4_channel_gather_f16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16. */
extern const qk_kernel qk_ct_b4_channel_gather_f16_vulkan;
extern const qk_kernel qk_ct_b4_channel_gather_f16_metal;
qk_status qk_ct_b4_channel_gather_f16(const qk_backend *backend, const qk_range weights[2],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_ct_b4_channel_gather_f16_ref(const void *const weights[2],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, uint16_t *dst);

/* ct_b4_channel_gather_bf16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in bf16. */
extern const qk_kernel qk_ct_b4_channel_gather_bf16_vulkan;
extern const qk_kernel qk_ct_b4_channel_gather_bf16_metal;
qk_status qk_ct_b4_channel_gather_bf16(const qk_backend *backend, const qk_range weights[2],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_ct_b4_channel_gather_bf16_ref(const void *const weights[2],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, uint16_t *dst);

/* ct_b4_channel_gemv_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32. */
extern const qk_kernel qk_ct_b4_channel_gemv_f32_vulkan;
extern const qk_kernel qk_ct_b4_channel_gemv_f32_metal;
qk_status qk_ct_b4_channel_gemv_f32(const qk_backend *backend, const qk_range weights[2],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);
void qk_ct_b4_channel_gemv_f32_ref(const void *const weights[2],
    const float *x, uint64_t rows, uint64_t cols, uint64_t batch, float *y);

/* ct_b4_channel_gemv_int8_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32; class int8. */
extern const qk_kernel qk_ct_b4_channel_gemv_int8_f32_vulkan;
qk_status qk_ct_b4_channel_gemv_int8_f32(const qk_backend *backend, const qk_range weights[2],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* ct_b4_channel_gemv_split_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32; class split. */
extern const qk_kernel qk_ct_b4_channel_gemv_split_f32_vulkan;
qk_status qk_ct_b4_channel_gemv_split_f32(const qk_backend *backend, const qk_range weights[2],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* ct_b4_channel_gemv_int24_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32; class int24. */
extern const qk_kernel qk_ct_b4_channel_gemv_int24_f32_vulkan;
qk_status qk_ct_b4_channel_gemv_int24_f32(const qk_backend *backend, const qk_range weights[2],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* ct_b4_channel_gemv_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16. */
extern const qk_kernel qk_ct_b4_channel_gemv_f16_vulkan;
extern const qk_kernel qk_ct_b4_channel_gemv_f16_metal;
qk_status qk_ct_b4_channel_gemv_f16(const qk_backend *backend, const qk_range weights[2],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);
void qk_ct_b4_channel_gemv_f16_ref(const void *const weights[2],
    const uint16_t *x, uint64_t rows, uint64_t cols, uint64_t batch, float *y);

/* ct_b4_channel_gemv_int8_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16; class int8. */
extern const qk_kernel qk_ct_b4_channel_gemv_int8_f16_vulkan;
qk_status qk_ct_b4_channel_gemv_int8_f16(const qk_backend *backend, const qk_range weights[2],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* ct_b4_channel_gemv_split_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16; class split. */
extern const qk_kernel qk_ct_b4_channel_gemv_split_f16_vulkan;
qk_status qk_ct_b4_channel_gemv_split_f16(const qk_backend *backend, const qk_range weights[2],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* ct_b4_channel_gemv_int24_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16; class int24. */
extern const qk_kernel qk_ct_b4_channel_gemv_int24_f16_vulkan;
qk_status qk_ct_b4_channel_gemv_int24_f16(const qk_backend *backend, const qk_range weights[2],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* ct_b4_channel_gemv_id_f32: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f32. */
extern const qk_kernel qk_ct_b4_channel_gemv_id_f32_vulkan;
extern const qk_kernel qk_ct_b4_channel_gemv_id_f32_metal;
qk_status qk_ct_b4_channel_gemv_id_f32(const qk_backend *backend, const qk_range weights[2],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);
uint64_t qk_ct_b4_channel_gemv_id_f32_ref(const void *const weights[2],
    const float *x, const uint32_t *ids, uint64_t experts, uint64_t rows, uint64_t cols,
    uint64_t tokens, uint64_t slots, uint64_t x_slots, float *y);

/* ct_b4_channel_gemv_id_int8_f32: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f32; class
 * int8. */
extern const qk_kernel qk_ct_b4_channel_gemv_id_int8_f32_vulkan;
qk_status qk_ct_b4_channel_gemv_id_int8_f32(const qk_backend *backend, const qk_range weights[2],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);

/* ct_b4_channel_gemv_id_split_f32: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f32; class
 * split. */
extern const qk_kernel qk_ct_b4_channel_gemv_id_split_f32_vulkan;
qk_status qk_ct_b4_channel_gemv_id_split_f32(const qk_backend *backend, const qk_range weights[2],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);

/* ct_b4_channel_gemv_id_int24_f32: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f32; class
 * int24. */
extern const qk_kernel qk_ct_b4_channel_gemv_id_int24_f32_vulkan;
qk_status qk_ct_b4_channel_gemv_id_int24_f32(const qk_backend *backend, const qk_range weights[2],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);

/* ct_b4_channel_gemv_id_f16: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f16. */
extern const qk_kernel qk_ct_b4_channel_gemv_id_f16_vulkan;
extern const qk_kernel qk_ct_b4_channel_gemv_id_f16_metal;
qk_status qk_ct_b4_channel_gemv_id_f16(const qk_backend *backend, const qk_range weights[2],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);
uint64_t qk_ct_b4_channel_gemv_id_f16_ref(const void *const weights[2],
    const uint16_t *x, const uint32_t *ids, uint64_t experts, uint64_t rows, uint64_t cols,
    uint64_t tokens, uint64_t slots, uint64_t x_slots, float *y);

/* ct_b4_channel_gemv_id_int8_f16: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f16; class
 * int8. */
extern const qk_kernel qk_ct_b4_channel_gemv_id_int8_f16_vulkan;
qk_status qk_ct_b4_channel_gemv_id_int8_f16(const qk_backend *backend, const qk_range weights[2],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);

/* ct_b4_channel_gemv_id_split_f16: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f16; class
 * split. */
extern const qk_kernel qk_ct_b4_channel_gemv_id_split_f16_vulkan;
qk_status qk_ct_b4_channel_gemv_id_split_f16(const qk_backend *backend, const qk_range weights[2],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);

/* ct_b4_channel_gemv_id_int24_f16: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f16; class
 * int24. */
extern const qk_kernel qk_ct_b4_channel_gemv_id_int24_f16_vulkan;
qk_status qk_ct_b4_channel_gemv_id_int24_f16(const qk_backend *backend, const qk_range weights[2],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);

#ifdef __cplusplus
}
#endif
#endif
