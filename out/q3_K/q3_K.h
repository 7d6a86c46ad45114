/* q3_K: kernels, dispatch and reference decoder of the format.
 * Generated from the specification below by `qkgen emit --format q3_K`; do not edit.
 * 110 bytes for 256 elements, 3.438 bits each.
 * dequant, gather in f32: for each weight 0.43 bytes read and 4 written, 12.5 operations: 0.406 loads, 7.69 bits, 1.88 integer, 1.25 float, 1.28 conversions.
 * gemv, gemv_id in f32: for each weight 0.43 bytes read, 8.12 operations: 0.266 loads, 3.41 bits, 0.672 integer, 3 float, 0.781 conversions.
 *
 *     format q3_K "3-bit codes around 4, 6-bit scales around 32 in groups of 16"
 *     from "ggml (llama.cpp), ggml-common.h"
 *
 *     block 256 {
 *         hmask:  u8[32]
 *         qs:     u8[64]
 *         scales: u8[12]
 *         d:      f16
 *     }
 *
 *     code q = qs    { 2 @ 0 (32:8, 4:2, 2:256) }          # low two bits
 *              hmask { 1 @ 0 (32:8, 8:1) }                 # the third
 *
 *     code sc per 16 = scales { 4 @ 0 (8:8, 2:4)   2 @ 64 (4:8, 4:2) }
 *
 *     value = d * (sc - 32) * (q - 4)
 */
#ifndef QK_q3_K_KERNELS_H
#define QK_q3_K_KERNELS_H

#include <qkgen/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* q3_K_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32. */
extern const qk_kernel qk_q3_K_dequant_f32_vulkan;
extern const qk_kernel qk_q3_K_dequant_f32_metal;
qk_status qk_q3_K_dequant_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range dst, uint64_t elements, qk_error *error);
void qk_q3_K_dequant_f32_ref(const void *const weights[1],
    uint64_t elements, float *dst);

/* q3_K_dequant_f16: decodes a whole tensor: dst[i] = value(i), in f16. */
extern const qk_kernel qk_q3_K_dequant_f16_vulkan;
extern const qk_kernel qk_q3_K_dequant_f16_metal;
qk_status qk_q3_K_dequant_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range dst, uint64_t elements, qk_error *error);
void qk_q3_K_dequant_f16_ref(const void *const weights[1],
    uint64_t elements, uint16_t *dst);

/* q3_K_dequant_bf16: decodes a whole tensor: dst[i] = value(i), in bf16. */
extern const qk_kernel qk_q3_K_dequant_bf16_vulkan;
extern const qk_kernel qk_q3_K_dequant_bf16_metal;
qk_status qk_q3_K_dequant_bf16(const qk_backend *backend, const qk_range weights[1],
    qk_range dst, uint64_t elements, qk_error *error);
void qk_q3_K_dequant_bf16_ref(const void *const weights[1],
    uint64_t elements, uint16_t *dst);

/* q3_K_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32. */
extern const qk_kernel qk_q3_K_gather_f32_vulkan;
extern const qk_kernel qk_q3_K_gather_f32_metal;
qk_status qk_q3_K_gather_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_q3_K_gather_f32_ref(const void *const weights[1],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, float *dst);

/* q3_K_gather_f16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16. */
extern const qk_kernel qk_q3_K_gather_f16_vulkan;
extern const qk_kernel qk_q3_K_gather_f16_metal;
qk_status qk_q3_K_gather_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_q3_K_gather_f16_ref(const void *const weights[1],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, uint16_t *dst);

/* q3_K_gather_bf16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in bf16. */
extern const qk_kernel qk_q3_K_gather_bf16_vulkan;
extern const qk_kernel qk_q3_K_gather_bf16_metal;
qk_status qk_q3_K_gather_bf16(const qk_backend *backend, const qk_range weights[1],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_q3_K_gather_bf16_ref(const void *const weights[1],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, uint16_t *dst);

/* q3_K_gemv_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32. */
extern const qk_kernel qk_q3_K_gemv_f32_vulkan;
extern const qk_kernel qk_q3_K_gemv_f32_metal;
qk_status qk_q3_K_gemv_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);
void qk_q3_K_gemv_f32_ref(const void *const weights[1],
    const float *x, uint64_t rows, uint64_t cols, uint64_t batch, float *y);

/* q3_K_gemv_int8_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32; class int8. */
extern const qk_kernel qk_q3_K_gemv_int8_f32_vulkan;
qk_status qk_q3_K_gemv_int8_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* q3_K_gemv_split_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32; class split. */
extern const qk_kernel qk_q3_K_gemv_split_f32_vulkan;
qk_status qk_q3_K_gemv_split_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* q3_K_gemv_int24_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32; class int24. */
extern const qk_kernel qk_q3_K_gemv_int24_f32_vulkan;
qk_status qk_q3_K_gemv_int24_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* q3_K_gemv_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16. */
extern const qk_kernel qk_q3_K_gemv_f16_vulkan;
extern const qk_kernel qk_q3_K_gemv_f16_metal;
qk_status qk_q3_K_gemv_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);
void qk_q3_K_gemv_f16_ref(const void *const weights[1],
    const uint16_t *x, uint64_t rows, uint64_t cols, uint64_t batch, float *y);

/* q3_K_gemv_int8_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16; class int8. */
extern const qk_kernel qk_q3_K_gemv_int8_f16_vulkan;
qk_status qk_q3_K_gemv_int8_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* q3_K_gemv_split_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16; class split. */
extern const qk_kernel qk_q3_K_gemv_split_f16_vulkan;
qk_status qk_q3_K_gemv_split_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* q3_K_gemv_int24_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16; class int24. */
extern const qk_kernel qk_q3_K_gemv_int24_f16_vulkan;
qk_status qk_q3_K_gemv_int24_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* q3_K_gemv_id_f32: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][k], in f32. */
extern const qk_kernel qk_q3_K_gemv_id_f32_vulkan;
extern const qk_kernel qk_q3_K_gemv_id_f32_metal;
qk_status qk_q3_K_gemv_id_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, qk_error *error);
uint64_t qk_q3_K_gemv_id_f32_ref(const void *const weights[1],
    const float *x, const uint32_t *ids, uint64_t experts, uint64_t rows, uint64_t cols,
    uint64_t tokens, uint64_t slots, float *y);

/* q3_K_gemv_id_int8_f32: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][k], in f32; class int8. */
extern const qk_kernel qk_q3_K_gemv_id_int8_f32_vulkan;
qk_status qk_q3_K_gemv_id_int8_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, qk_error *error);

/* q3_K_gemv_id_split_f32: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][k], in f32; class split. */
extern const qk_kernel qk_q3_K_gemv_id_split_f32_vulkan;
qk_status qk_q3_K_gemv_id_split_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, qk_error *error);

/* q3_K_gemv_id_int24_f32: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][k], in f32; class int24. */
extern const qk_kernel qk_q3_K_gemv_id_int24_f32_vulkan;
qk_status qk_q3_K_gemv_id_int24_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, qk_error *error);

/* q3_K_gemv_id_f16: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][k], in f16. */
extern const qk_kernel qk_q3_K_gemv_id_f16_vulkan;
extern const qk_kernel qk_q3_K_gemv_id_f16_metal;
qk_status qk_q3_K_gemv_id_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, qk_error *error);
uint64_t qk_q3_K_gemv_id_f16_ref(const void *const weights[1],
    const uint16_t *x, const uint32_t *ids, uint64_t experts, uint64_t rows, uint64_t cols,
    uint64_t tokens, uint64_t slots, float *y);

/* q3_K_gemv_id_int8_f16: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][k], in f16; class int8. */
extern const qk_kernel qk_q3_K_gemv_id_int8_f16_vulkan;
qk_status qk_q3_K_gemv_id_int8_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, qk_error *error);

/* q3_K_gemv_id_split_f16: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][k], in f16; class split. */
extern const qk_kernel qk_q3_K_gemv_id_split_f16_vulkan;
qk_status qk_q3_K_gemv_id_split_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, qk_error *error);

/* q3_K_gemv_id_int24_f16: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][k], in f16; class int24. */
extern const qk_kernel qk_q3_K_gemv_id_int24_f16_vulkan;
qk_status qk_q3_K_gemv_id_int24_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, qk_error *error);

#ifdef __cplusplus
}
#endif
#endif
