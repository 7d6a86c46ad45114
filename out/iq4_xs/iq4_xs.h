/* iq4_xs: kernels, dispatch and reference decoder of the format.
 * Generated from the specification below by `qkgen emit --format iq4_xs`; do not edit.
 * 136 bytes for 256 elements, 4.25 bits each.
 * dequant, gather in f32: for each weight 0.531 bytes read and 4 written, 7.62 operations: 0.375 loads, 2.75 bits, 1.12 integer, 1.12 float, 1.25 conversions, 1 lookups.
 * gemv, gemv_id in f32: for each weight 0.531 bytes read, 5.48 operations: 0.156 loads, 0.938 bits, 1.28 integer, 2.06 float, 0.547 conversions, 0.5 lookups.
 *
 *     format iq4_xs "4-bit indices into a table of unequal steps, 6-bit scales around 32 in groups of 32"
 *     from "ggml (llama.cpp), ggml-common.h"
 *
 *     block 256 {
 *         d:        f16
 *         scales_h: u16
 *         scales_l: u8[4]
 *         qs:       u8[128]
 *     }
 *
 *     code sc per 32 = scales_l { 4 @ 0 (8:4) }
 *                      scales_h { 2 @ 0 (8:2) }
 *     code q = qs { 4 @ 0 (16:8, 2:4, 8:128) }
 *
 *     table N: i8[16] = {
 *         -127, -104, -83, -65, -49, -35, -22, -10,
 *            1,   13,  25,  38,  53,  69,  89, 113,
 *     }
 *
 *     value = d * (sc - 32) * N[q]
 */
#ifndef QK_iq4_xs_KERNELS_H
#define QK_iq4_xs_KERNELS_H

#include <qkgen/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* iq4_xs_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32. */
extern const qk_kernel qk_iq4_xs_dequant_f32_vulkan;
extern const qk_kernel qk_iq4_xs_dequant_f32_metal;
qk_status qk_iq4_xs_dequant_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range dst, uint64_t elements, qk_error *error);
void qk_iq4_xs_dequant_f32_ref(const void *const weights[1],
    uint64_t elements, float *dst);

/* iq4_xs_dequant_f16: decodes a whole tensor: dst[i] = value(i), in f16. */
extern const qk_kernel qk_iq4_xs_dequant_f16_vulkan;
extern const qk_kernel qk_iq4_xs_dequant_f16_metal;
qk_status qk_iq4_xs_dequant_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range dst, uint64_t elements, qk_error *error);
void qk_iq4_xs_dequant_f16_ref(const void *const weights[1],
    uint64_t elements, uint16_t *dst);

/* iq4_xs_dequant_bf16: decodes a whole tensor: dst[i] = value(i), in bf16. */
extern const qk_kernel qk_iq4_xs_dequant_bf16_vulkan;
extern const qk_kernel qk_iq4_xs_dequant_bf16_metal;
qk_status qk_iq4_xs_dequant_bf16(const qk_backend *backend, const qk_range weights[1],
    qk_range dst, uint64_t elements, qk_error *error);
void qk_iq4_xs_dequant_bf16_ref(const void *const weights[1],
    uint64_t elements, uint16_t *dst);

/* iq4_xs_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32. */
extern const qk_kernel qk_iq4_xs_gather_f32_vulkan;
extern const qk_kernel qk_iq4_xs_gather_f32_metal;
qk_status qk_iq4_xs_gather_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_iq4_xs_gather_f32_ref(const void *const weights[1],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, float *dst);

/* iq4_xs_gather_f16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16. */
extern const qk_kernel qk_iq4_xs_gather_f16_vulkan;
extern const qk_kernel qk_iq4_xs_gather_f16_metal;
qk_status qk_iq4_xs_gather_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_iq4_xs_gather_f16_ref(const void *const weights[1],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, uint16_t *dst);

/* iq4_xs_gather_bf16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in bf16. */
extern const qk_kernel qk_iq4_xs_gather_bf16_vulkan;
extern const qk_kernel qk_iq4_xs_gather_bf16_metal;
qk_status qk_iq4_xs_gather_bf16(const qk_backend *backend, const qk_range weights[1],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_iq4_xs_gather_bf16_ref(const void *const weights[1],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, uint16_t *dst);

/* iq4_xs_gemv_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32. */
extern const qk_kernel qk_iq4_xs_gemv_f32_vulkan;
extern const qk_kernel qk_iq4_xs_gemv_f32_metal;
qk_status qk_iq4_xs_gemv_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);
void qk_iq4_xs_gemv_f32_ref(const void *const weights[1],
    const float *x, uint64_t rows, uint64_t cols, uint64_t batch, float *y);

/* iq4_xs_gemv_int8_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32; class int8. */
extern const qk_kernel qk_iq4_xs_gemv_int8_f32_vulkan;
qk_status qk_iq4_xs_gemv_int8_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* iq4_xs_gemv_split_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32; class split. */
extern const qk_kernel qk_iq4_xs_gemv_split_f32_vulkan;
qk_status qk_iq4_xs_gemv_split_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* iq4_xs_gemv_int24_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32; class int24. */
extern const qk_kernel qk_iq4_xs_gemv_int24_f32_vulkan;
qk_status qk_iq4_xs_gemv_int24_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* iq4_xs_gemv_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16. */
extern const qk_kernel qk_iq4_xs_gemv_f16_vulkan;
extern const qk_kernel qk_iq4_xs_gemv_f16_metal;
qk_status qk_iq4_xs_gemv_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);
void qk_iq4_xs_gemv_f16_ref(const void *const weights[1],
    const uint16_t *x, uint64_t rows, uint64_t cols, uint64_t batch, float *y);

/* iq4_xs_gemv_int8_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16; class int8. */
extern const qk_kernel qk_iq4_xs_gemv_int8_f16_vulkan;
qk_status qk_iq4_xs_gemv_int8_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* iq4_xs_gemv_split_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16; class split. */
extern const qk_kernel qk_iq4_xs_gemv_split_f16_vulkan;
qk_status qk_iq4_xs_gemv_split_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* iq4_xs_gemv_int24_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16; class int24. */
extern const qk_kernel qk_iq4_xs_gemv_int24_f16_vulkan;
qk_status qk_iq4_xs_gemv_int24_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* iq4_xs_gemv_id_f32: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][k], in f32. */
extern const qk_kernel qk_iq4_xs_gemv_id_f32_vulkan;
extern const qk_kernel qk_iq4_xs_gemv_id_f32_metal;
qk_status qk_iq4_xs_gemv_id_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, qk_error *error);
uint64_t qk_iq4_xs_gemv_id_f32_ref(const void *const weights[1],
    const float *x, const uint32_t *ids, uint64_t experts, uint64_t rows, uint64_t cols,
    uint64_t tokens, uint64_t slots, float *y);

/* iq4_xs_gemv_id_int8_f32: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][k], in f32; class int8. */
extern const qk_kernel qk_iq4_xs_gemv_id_int8_f32_vulkan;
qk_status qk_iq4_xs_gemv_id_int8_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, qk_error *error);

/* iq4_xs_gemv_id_split_f32: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][k], in f32; class split. */
extern const qk_kernel qk_iq4_xs_gemv_id_split_f32_vulkan;
qk_status qk_iq4_xs_gemv_id_split_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, qk_error *error);

/* iq4_xs_gemv_id_int24_f32: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][k], in f32; class int24. */
extern const qk_kernel qk_iq4_xs_gemv_id_int24_f32_vulkan;
qk_status qk_iq4_xs_gemv_id_int24_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, qk_error *error);

/* iq4_xs_gemv_id_f16: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][k], in f16. */
extern const qk_kernel qk_iq4_xs_gemv_id_f16_vulkan;
extern const qk_kernel qk_iq4_xs_gemv_id_f16_metal;
qk_status qk_iq4_xs_gemv_id_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, qk_error *error);
uint64_t qk_iq4_xs_gemv_id_f16_ref(const void *const weights[1],
    const uint16_t *x, const uint32_t *ids, uint64_t experts, uint64_t rows, uint64_t cols,
    uint64_t tokens, uint64_t slots, float *y);

/* iq4_xs_gemv_id_int8_f16: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][k], in f16; class int8. */
extern const qk_kernel qk_iq4_xs_gemv_id_int8_f16_vulkan;
qk_status qk_iq4_xs_gemv_id_int8_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, qk_error *error);

/* iq4_xs_gemv_id_split_f16: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][k], in f16; class split. */
extern const qk_kernel qk_iq4_xs_gemv_id_split_f16_vulkan;
qk_status qk_iq4_xs_gemv_id_split_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, qk_error *error);

/* iq4_xs_gemv_id_int24_f16: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][k], in f16; class int24. */
extern const qk_kernel qk_iq4_xs_gemv_id_int24_f16_vulkan;
qk_status qk_iq4_xs_gemv_id_int24_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, qk_error *error);

#ifdef __cplusplus
}
#endif
#endif
