/* iq3_xxs: kernels, dispatch and reference decoder of the format.
 * Generated from the specification below by `qkgen emit --format iq3_xxs`; do not edit.
 * 98 bytes for 256 elements, 3.062 bits each.
 * dequant, gather in f32: for each weight 0.383 bytes read and 4 written, 21.2 operations: 1.25 loads, 5.75 bits, 8.5 integer, 2.75 float, 2.5 conversions, 0.5 lookups.
 * gemv, gemv_id in f32: for each weight 0.383 bytes read, 7.3 operations: 0.156 loads, 2.83 bits, 1.19 integer, 2.19 float, 0.562 conversions, 0.375 lookups.
 *
 *     format iq3_xxs "fours from a codebook of 256, 7-bit sign masks, 4-bit scales in groups of 32"
 *     from "ggml (llama.cpp), ggml-common.h"
 *
 *     block 256 {
 *         d:     f16
 *         qs:    u8[64]
 *         signs: u32[8]
 *     }
 *
 *     code g  per 4  = qs { 8 @ 0 (64:8) }
 *     code s  per 8  = signs { 7 @ 0 (4:7, 8:32) }
 *     code sc per 32 = signs { 4 @ 28 (8:32) }
 *
 *     table G: u8[256][4] = file "iq3xxs_grid.bin"
 *     table S: u8[128] = file "even_signs.bin"      # seven signs; the eighth makes the number of minus signs even
 *
 *     value = d * (0.5 + sc) * 0.5 * G[g][i % 4] * (S[s] >> i % 8 & 1 ? -1 : 1)
 */
#ifndef QK_iq3_xxs_KERNELS_H
#define QK_iq3_xxs_KERNELS_H

#include <qkgen/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* iq3_xxs_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32. */
extern const qk_kernel qk_iq3_xxs_dequant_f32_vulkan;
extern const qk_kernel qk_iq3_xxs_dequant_f32_metal;
qk_status qk_iq3_xxs_dequant_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range dst, uint64_t elements, qk_error *error);
void qk_iq3_xxs_dequant_f32_ref(const void *const weights[1],
    uint64_t elements, float *dst);

/* iq3_xxs_dequant_f16: decodes a whole tensor: dst[i] = value(i), in f16. */
extern const qk_kernel qk_iq3_xxs_dequant_f16_vulkan;
extern const qk_kernel qk_iq3_xxs_dequant_f16_metal;
qk_status qk_iq3_xxs_dequant_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range dst, uint64_t elements, qk_error *error);
void qk_iq3_xxs_dequant_f16_ref(const void *const weights[1],
    uint64_t elements, uint16_t *dst);

/* iq3_xxs_dequant_bf16: decodes a whole tensor: dst[i] = value(i), in bf16. */
extern const qk_kernel qk_iq3_xxs_dequant_bf16_vulkan;
extern const qk_kernel qk_iq3_xxs_dequant_bf16_metal;
qk_status qk_iq3_xxs_dequant_bf16(const qk_backend *backend, const qk_range weights[1],
    qk_range dst, uint64_t elements, qk_error *error);
void qk_iq3_xxs_dequant_bf16_ref(const void *const weights[1],
    uint64_t elements, uint16_t *dst);

/* iq3_xxs_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32. */
extern const qk_kernel qk_iq3_xxs_gather_f32_vulkan;
extern const qk_kernel qk_iq3_xxs_gather_f32_metal;
qk_status qk_iq3_xxs_gather_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_iq3_xxs_gather_f32_ref(const void *const weights[1],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, float *dst);

/* iq3_xxs_gather_f16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16. */
extern const qk_kernel qk_iq3_xxs_gather_f16_vulkan;
extern const qk_kernel qk_iq3_xxs_gather_f16_metal;
qk_status qk_iq3_xxs_gather_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_iq3_xxs_gather_f16_ref(const void *const weights[1],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, uint16_t *dst);

/* iq3_xxs_gather_bf16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in bf16. */
extern const qk_kernel qk_iq3_xxs_gather_bf16_vulkan;
extern const qk_kernel qk_iq3_xxs_gather_bf16_metal;
qk_status qk_iq3_xxs_gather_bf16(const qk_backend *backend, const qk_range weights[1],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_iq3_xxs_gather_bf16_ref(const void *const weights[1],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, uint16_t *dst);

/* iq3_xxs_gemv_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32. */
extern const qk_kernel qk_iq3_xxs_gemv_f32_vulkan;
extern const qk_kernel qk_iq3_xxs_gemv_f32_metal;
qk_status qk_iq3_xxs_gemv_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);
void qk_iq3_xxs_gemv_f32_ref(const void *const weights[1],
    const float *x, uint64_t rows, uint64_t cols, uint64_t batch, float *y);

/* iq3_xxs_gemv_int8_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32; class int8. */
extern const qk_kernel qk_iq3_xxs_gemv_int8_f32_vulkan;
qk_status qk_iq3_xxs_gemv_int8_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* iq3_xxs_gemv_split_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32; class split. */
extern const qk_kernel qk_iq3_xxs_gemv_split_f32_vulkan;
qk_status qk_iq3_xxs_gemv_split_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* iq3_xxs_gemv_int24_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32; class int24. */
extern const qk_kernel qk_iq3_xxs_gemv_int24_f32_vulkan;
qk_status qk_iq3_xxs_gemv_int24_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* iq3_xxs_gemv_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16. */
extern const qk_kernel qk_iq3_xxs_gemv_f16_vulkan;
extern const qk_kernel qk_iq3_xxs_gemv_f16_metal;
qk_status qk_iq3_xxs_gemv_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);
void qk_iq3_xxs_gemv_f16_ref(const void *const weights[1],
    const uint16_t *x, uint64_t rows, uint64_t cols, uint64_t batch, float *y);

/* iq3_xxs_gemv_int8_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16; class int8. */
extern const qk_kernel qk_iq3_xxs_gemv_int8_f16_vulkan;
qk_status qk_iq3_xxs_gemv_int8_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* iq3_xxs_gemv_split_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16; class split. */
extern const qk_kernel qk_iq3_xxs_gemv_split_f16_vulkan;
qk_status qk_iq3_xxs_gemv_split_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* iq3_xxs_gemv_int24_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16; class int24. */
extern const qk_kernel qk_iq3_xxs_gemv_int24_f16_vulkan;
qk_status qk_iq3_xxs_gemv_int24_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* iq3_xxs_gemv_id_f32: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][k], in f32. */
extern const qk_kernel qk_iq3_xxs_gemv_id_f32_vulkan;
extern const qk_kernel qk_iq3_xxs_gemv_id_f32_metal;
qk_status qk_iq3_xxs_gemv_id_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, qk_error *error);
uint64_t qk_iq3_xxs_gemv_id_f32_ref(const void *const weights[1],
    const float *x, const uint32_t *ids, uint64_t experts, uint64_t rows, uint64_t cols,
    uint64_t tokens, uint64_t slots, float *y);

/* iq3_xxs_gemv_id_int8_f32: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][k], in f32; class int8. */
extern const qk_kernel qk_iq3_xxs_gemv_id_int8_f32_vulkan;
qk_status qk_iq3_xxs_gemv_id_int8_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, qk_error *error);

/* iq3_xxs_gemv_id_split_f32: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][k], in f32; class split. */
extern const qk_kernel qk_iq3_xxs_gemv_id_split_f32_vulkan;
qk_status qk_iq3_xxs_gemv_id_split_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, qk_error *error);

/* iq3_xxs_gemv_id_int24_f32: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][k], in f32; class int24. */
extern const qk_kernel qk_iq3_xxs_gemv_id_int24_f32_vulkan;
qk_status qk_iq3_xxs_gemv_id_int24_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, qk_error *error);

/* iq3_xxs_gemv_id_f16: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][k], in f16. */
extern const qk_kernel qk_iq3_xxs_gemv_id_f16_vulkan;
extern const qk_kernel qk_iq3_xxs_gemv_id_f16_metal;
qk_status qk_iq3_xxs_gemv_id_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, qk_error *error);
uint64_t qk_iq3_xxs_gemv_id_f16_ref(const void *const weights[1],
    const uint16_t *x, const uint32_t *ids, uint64_t experts, uint64_t rows, uint64_t cols,
    uint64_t tokens, uint64_t slots, float *y);

/* iq3_xxs_gemv_id_int8_f16: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][k], in f16; class int8. */
extern const qk_kernel qk_iq3_xxs_gemv_id_int8_f16_vulkan;
qk_status qk_iq3_xxs_gemv_id_int8_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, qk_error *error);

/* iq3_xxs_gemv_id_split_f16: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][k], in f16; class split. */
extern const qk_kernel qk_iq3_xxs_gemv_id_split_f16_vulkan;
qk_status qk_iq3_xxs_gemv_id_split_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, qk_error *error);

/* iq3_xxs_gemv_id_int24_f16: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][k], in f16; class int24. */
extern const qk_kernel qk_iq3_xxs_gemv_id_int24_f16_vulkan;
qk_status qk_iq3_xxs_gemv_id_int24_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, qk_error *error);

#ifdef __cplusplus
}
#endif
#endif
