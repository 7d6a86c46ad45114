/* iq1_m: kernels, dispatch and reference decoder of the format.
 * Generated from the specification below by `qkgen emit --format iq1_m`; do not edit.
 * Licence: none of qkgen's applies; this text is under that of its specification, or yours.
 * 56 bytes for 256 elements, 1.75 bits each.
 * dequant, gather in f32: for each weight 0.219 bytes read and 4 written, 23 operations: 1.25 loads, 7.5 bits, 10 integer, 2.5 float, 1.5
 * conversions, 0.25 lookups.
 * gemv, gemv_id in f32: for each weight 0.219 bytes read, 5.83 operations: 0.0938 loads, 1.84 bits, 0.5 integer, 2.69 float, 0.578
 * conversions, 0.125 lookups.
 *     format iq1_m "eights from a ternary codebook of 2048, shifted by an eighth, 3-bit scales in groups of 16"
 *     from "ggml (llama.cpp), ggml-common.h"
 *     block 256 {
 *         qs:     u8[32]
 *         qh:     u8[16]
 *         scales: u16[4]
 *     }
 *     code g  per 8  = qs { 8 @ 0 (32:8) } qh { 3 @ 0 (32:4) }
 *     code sg per 8  = qh { 1 @ 3 (32:4) }
 *     code sc per 16 = scales { 3 @ 0 (4:3, 4:16) }
 *     code d: f16 per 256 = scales { 4 @ 12   4 @ 28   4 @ 44   4 @ 60 }    # spread over the top of four words
 *     table G: i8[2048][8] = file "iq1s_grid.bin"
 *     value = d * (2 * sc + 1) * (G[g][i % 8] + (sg ? -0.125 : 0.125))
 */
#ifndef QK_iq1_m_KERNELS_H
#define QK_iq1_m_KERNELS_H

#include <qkgen/kernel.h>

#if QK_ABI_VERSION != 22
#error "made for version 22 of qkgen/kernel.h, and this is another: generate it again, with the qkgen of these headers"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* All descriptors below, for qkgen/registry.h. */
extern const qk_kernel_set qk_iq1_m_kernels;

/* iq1_m_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32. */
extern const qk_kernel qk_iq1_m_dequant_f32_vulkan;
extern const qk_kernel qk_iq1_m_dequant_f32_metal;
qk_status qk_iq1_m_dequant_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range dst, uint64_t elements, qk_error *error);
void qk_iq1_m_dequant_f32_ref(const void *const weights[1],
    uint64_t elements, float *dst);

/* iq1_m_dequant_f16: decodes a whole tensor: dst[i] = value(i), in f16. */
extern const qk_kernel qk_iq1_m_dequant_f16_vulkan;
extern const qk_kernel qk_iq1_m_dequant_f16_metal;
qk_status qk_iq1_m_dequant_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range dst, uint64_t elements, qk_error *error);
void qk_iq1_m_dequant_f16_ref(const void *const weights[1],
    uint64_t elements, uint16_t *dst);

/* iq1_m_dequant_bf16: decodes a whole tensor: dst[i] = value(i), in bf16. */
extern const qk_kernel qk_iq1_m_dequant_bf16_vulkan;
extern const qk_kernel qk_iq1_m_dequant_bf16_metal;
qk_status qk_iq1_m_dequant_bf16(const qk_backend *backend, const qk_range weights[1],
    qk_range dst, uint64_t elements, qk_error *error);
void qk_iq1_m_dequant_bf16_ref(const void *const weights[1],
    uint64_t elements, uint16_t *dst);

/* iq1_m_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32. */
extern const qk_kernel qk_iq1_m_gather_f32_vulkan;
extern const qk_kernel qk_iq1_m_gather_f32_metal;
qk_status qk_iq1_m_gather_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_iq1_m_gather_f32_ref(const void *const weights[1],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, float *dst);

/* iq1_m_gather_f16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16. */
extern const qk_kernel qk_iq1_m_gather_f16_vulkan;
extern const qk_kernel qk_iq1_m_gather_f16_metal;
qk_status qk_iq1_m_gather_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_iq1_m_gather_f16_ref(const void *const weights[1],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, uint16_t *dst);

/* iq1_m_gather_bf16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in bf16. */
extern const qk_kernel qk_iq1_m_gather_bf16_vulkan;
extern const qk_kernel qk_iq1_m_gather_bf16_metal;
qk_status qk_iq1_m_gather_bf16(const qk_backend *backend, const qk_range weights[1],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_iq1_m_gather_bf16_ref(const void *const weights[1],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, uint16_t *dst);

/* iq1_m_gemv_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32. */
extern const qk_kernel qk_iq1_m_gemv_f32_vulkan;
extern const qk_kernel qk_iq1_m_gemv_f32_metal;
qk_status qk_iq1_m_gemv_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);
void qk_iq1_m_gemv_f32_ref(const void *const weights[1],
    const float *x, uint64_t rows, uint64_t cols, uint64_t batch, float *y);

/* iq1_m_gemv_int8_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32; class int8. */
extern const qk_kernel qk_iq1_m_gemv_int8_f32_vulkan;
qk_status qk_iq1_m_gemv_int8_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* iq1_m_gemv_split_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32; class split. */
extern const qk_kernel qk_iq1_m_gemv_split_f32_vulkan;
qk_status qk_iq1_m_gemv_split_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* iq1_m_gemv_int24_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32; class int24. */
extern const qk_kernel qk_iq1_m_gemv_int24_f32_vulkan;
qk_status qk_iq1_m_gemv_int24_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* iq1_m_gemv_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16. */
extern const qk_kernel qk_iq1_m_gemv_f16_vulkan;
extern const qk_kernel qk_iq1_m_gemv_f16_metal;
qk_status qk_iq1_m_gemv_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);
void qk_iq1_m_gemv_f16_ref(const void *const weights[1],
    const uint16_t *x, uint64_t rows, uint64_t cols, uint64_t batch, float *y);

/* iq1_m_gemv_int8_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16; class int8. */
extern const qk_kernel qk_iq1_m_gemv_int8_f16_vulkan;
qk_status qk_iq1_m_gemv_int8_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* iq1_m_gemv_split_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16; class split. */
extern const qk_kernel qk_iq1_m_gemv_split_f16_vulkan;
qk_status qk_iq1_m_gemv_split_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* iq1_m_gemv_int24_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16; class int24. */
extern const qk_kernel qk_iq1_m_gemv_int24_f16_vulkan;
qk_status qk_iq1_m_gemv_int24_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* iq1_m_gemv_id_f32: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f32. */
extern const qk_kernel qk_iq1_m_gemv_id_f32_vulkan;
extern const qk_kernel qk_iq1_m_gemv_id_f32_metal;
qk_status qk_iq1_m_gemv_id_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);
uint64_t qk_iq1_m_gemv_id_f32_ref(const void *const weights[1],
    const float *x, const uint32_t *ids, uint64_t experts, uint64_t rows, uint64_t cols,
    uint64_t tokens, uint64_t slots, uint64_t x_slots, float *y);

/* iq1_m_gemv_id_int8_f32: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f32; class int8. */
extern const qk_kernel qk_iq1_m_gemv_id_int8_f32_vulkan;
qk_status qk_iq1_m_gemv_id_int8_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);

/* iq1_m_gemv_id_split_f32: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f32; class split. */
extern const qk_kernel qk_iq1_m_gemv_id_split_f32_vulkan;
qk_status qk_iq1_m_gemv_id_split_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);

/* iq1_m_gemv_id_int24_f32: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f32; class int24. */
extern const qk_kernel qk_iq1_m_gemv_id_int24_f32_vulkan;
qk_status qk_iq1_m_gemv_id_int24_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);

/* iq1_m_gemv_id_f16: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f16. */
extern const qk_kernel qk_iq1_m_gemv_id_f16_vulkan;
extern const qk_kernel qk_iq1_m_gemv_id_f16_metal;
qk_status qk_iq1_m_gemv_id_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);
uint64_t qk_iq1_m_gemv_id_f16_ref(const void *const weights[1],
    const uint16_t *x, const uint32_t *ids, uint64_t experts, uint64_t rows, uint64_t cols,
    uint64_t tokens, uint64_t slots, uint64_t x_slots, float *y);

/* iq1_m_gemv_id_int8_f16: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f16; class int8. */
extern const qk_kernel qk_iq1_m_gemv_id_int8_f16_vulkan;
qk_status qk_iq1_m_gemv_id_int8_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);

/* iq1_m_gemv_id_split_f16: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f16; class split. */
extern const qk_kernel qk_iq1_m_gemv_id_split_f16_vulkan;
qk_status qk_iq1_m_gemv_id_split_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);

/* iq1_m_gemv_id_int24_f16: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f16; class int24. */
extern const qk_kernel qk_iq1_m_gemv_id_int24_f16_vulkan;
qk_status qk_iq1_m_gemv_id_int24_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);

#ifdef __cplusplus
}
#endif
#endif
