/* q6_K: kernels, dispatch and reference decoder of the format.
 * Generated from the specification below by `qkgen emit --format q6_K`; do not edit.
 * Licence: none of qkgen's applies; this text is under that of its specification, or yours.
 * 210 bytes for 256 elements, 6.562 bits each.
 * dequant, gather in f32: for each weight 0.82 bytes read and 4 written, 12.6 operations: 0.688 loads, 6.88 bits, 2.44 integer, 1.25 float,
 * 1.31 conversions.
 * gemv, gemv_id in f32: for each weight 0.82 bytes read, 6.38 operations: 0.312 loads, 2.52 bits, 0.781 integer, 2.19 float, 0.578
 * conversions.
 *     format q6_K "6-bit codes around 32, signed 8-bit scales in groups of 16"
 *     from "ggml (llama.cpp), ggml-common.h"
 *     block 256 {
 *         ql:     u8[128]
 *         qh:     u8[64]
 *         scales: i8[16]
 *         d:      f16
 *     }
 *     code sc: i8 per 16 = scales { 8 @ 0 (16:8) }
 *     code q = ql { 4 @ 0 (64:8, 2:4, 2:512) }         # low four bits
 *              qh { 2 @ 0 (32:8, 4:2, 2:256) }         # high two bits
 *     value = d * sc * (q - 32)
 *     # ggml's quantize_row_q6_K_ref. For each group 19 steps are tried, each with codes and with the scale that is best for them, weighted
 *     # with x^2; the one with the least error is kept. Scales are then rounded to 8 bits, and all codes made again.
 *     encode {
 *         m per 16 = extreme(x)
 *         best per 16 of t in 19 {
 *             r = t == 0 ? -32.0 / m : -(32.0 + 0.1 * (t < 10 ? t - 10 : t - 9)) / m
 *             l per 1 = even(r * x, -32, 31)
 *             a = sum(x * x * x * l)
 *             b = sum(x * x * l * l)
 *             g = b == 0.0 ? 0.0 : a / b
 *             score = g * a
 *         } where (b > 0.0 ? a * a : -1.0) > kept(score) * b
 *         small per 16 = abs(m) < 1e-15 ? 1 : 0
 *         gf per 16 = small ? 0.0 : g
 *         top = extreme(gf)
 *         zero = abs(top) < 1e-15 ? 1 : 0
 *         inv = -128.0 / top
 *         d = zero ? 0.0 : 1.0 / inv
 *         sc = zero ? 0 : even(inv * gf, -128, 127)
 *         ds per 16 = d * sc
 *         q = zero ? 0 : ds != 0.0 ? even(x / ds, -32, 31) + 32 : small ? 0 : even(r * x, -32, 31) + 32
 *     }
 */
#ifndef QK_q6_K_KERNELS_H
#define QK_q6_K_KERNELS_H

#include <qkgen/kernel.h>

#if QK_ABI_VERSION != 22
#error "made for version 22 of qkgen/kernel.h, and this is another: generate it again, with the qkgen of these headers"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* All descriptors below, for qkgen/registry.h. */
extern const qk_kernel_set qk_q6_K_kernels;

/* q6_K_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32. */
extern const qk_kernel qk_q6_K_dequant_f32_vulkan;
extern const qk_kernel qk_q6_K_dequant_f32_metal;
qk_status qk_q6_K_dequant_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range dst, uint64_t elements, qk_error *error);
void qk_q6_K_dequant_f32_ref(const void *const weights[1],
    uint64_t elements, float *dst);

/* q6_K_dequant_f16: decodes a whole tensor: dst[i] = value(i), in f16. */
extern const qk_kernel qk_q6_K_dequant_f16_vulkan;
extern const qk_kernel qk_q6_K_dequant_f16_metal;
qk_status qk_q6_K_dequant_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range dst, uint64_t elements, qk_error *error);
void qk_q6_K_dequant_f16_ref(const void *const weights[1],
    uint64_t elements, uint16_t *dst);

/* q6_K_dequant_bf16: decodes a whole tensor: dst[i] = value(i), in bf16. */
extern const qk_kernel qk_q6_K_dequant_bf16_vulkan;
extern const qk_kernel qk_q6_K_dequant_bf16_metal;
qk_status qk_q6_K_dequant_bf16(const qk_backend *backend, const qk_range weights[1],
    qk_range dst, uint64_t elements, qk_error *error);
void qk_q6_K_dequant_bf16_ref(const void *const weights[1],
    uint64_t elements, uint16_t *dst);

/* q6_K_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32. */
extern const qk_kernel qk_q6_K_gather_f32_vulkan;
extern const qk_kernel qk_q6_K_gather_f32_metal;
qk_status qk_q6_K_gather_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_q6_K_gather_f32_ref(const void *const weights[1],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, float *dst);

/* q6_K_gather_f16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16. */
extern const qk_kernel qk_q6_K_gather_f16_vulkan;
extern const qk_kernel qk_q6_K_gather_f16_metal;
qk_status qk_q6_K_gather_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_q6_K_gather_f16_ref(const void *const weights[1],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, uint16_t *dst);

/* q6_K_gather_bf16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in bf16. */
extern const qk_kernel qk_q6_K_gather_bf16_vulkan;
extern const qk_kernel qk_q6_K_gather_bf16_metal;
qk_status qk_q6_K_gather_bf16(const qk_backend *backend, const qk_range weights[1],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_q6_K_gather_bf16_ref(const void *const weights[1],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, uint16_t *dst);

/* q6_K_gemv_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32. */
extern const qk_kernel qk_q6_K_gemv_f32_vulkan;
extern const qk_kernel qk_q6_K_gemv_f32_metal;
qk_status qk_q6_K_gemv_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);
void qk_q6_K_gemv_f32_ref(const void *const weights[1],
    const float *x, uint64_t rows, uint64_t cols, uint64_t batch, float *y);

/* q6_K_gemv_int8_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32; class int8. */
extern const qk_kernel qk_q6_K_gemv_int8_f32_vulkan;
qk_status qk_q6_K_gemv_int8_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* q6_K_gemv_split_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32; class split. */
extern const qk_kernel qk_q6_K_gemv_split_f32_vulkan;
qk_status qk_q6_K_gemv_split_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* q6_K_gemv_int24_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32; class int24. */
extern const qk_kernel qk_q6_K_gemv_int24_f32_vulkan;
qk_status qk_q6_K_gemv_int24_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* q6_K_gemv_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16. */
extern const qk_kernel qk_q6_K_gemv_f16_vulkan;
extern const qk_kernel qk_q6_K_gemv_f16_metal;
qk_status qk_q6_K_gemv_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);
void qk_q6_K_gemv_f16_ref(const void *const weights[1],
    const uint16_t *x, uint64_t rows, uint64_t cols, uint64_t batch, float *y);

/* q6_K_gemv_int8_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16; class int8. */
extern const qk_kernel qk_q6_K_gemv_int8_f16_vulkan;
qk_status qk_q6_K_gemv_int8_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* q6_K_gemv_split_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16; class split. */
extern const qk_kernel qk_q6_K_gemv_split_f16_vulkan;
qk_status qk_q6_K_gemv_split_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* q6_K_gemv_int24_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16; class int24. */
extern const qk_kernel qk_q6_K_gemv_int24_f16_vulkan;
qk_status qk_q6_K_gemv_int24_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* q6_K_gemv_id_f32: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f32. */
extern const qk_kernel qk_q6_K_gemv_id_f32_vulkan;
extern const qk_kernel qk_q6_K_gemv_id_f32_metal;
qk_status qk_q6_K_gemv_id_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);
uint64_t qk_q6_K_gemv_id_f32_ref(const void *const weights[1],
    const float *x, const uint32_t *ids, uint64_t experts, uint64_t rows, uint64_t cols,
    uint64_t tokens, uint64_t slots, uint64_t x_slots, float *y);

/* q6_K_gemv_id_int8_f32: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f32; class int8. */
extern const qk_kernel qk_q6_K_gemv_id_int8_f32_vulkan;
qk_status qk_q6_K_gemv_id_int8_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);

/* q6_K_gemv_id_split_f32: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f32; class split. */
extern const qk_kernel qk_q6_K_gemv_id_split_f32_vulkan;
qk_status qk_q6_K_gemv_id_split_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);

/* q6_K_gemv_id_int24_f32: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f32; class int24. */
extern const qk_kernel qk_q6_K_gemv_id_int24_f32_vulkan;
qk_status qk_q6_K_gemv_id_int24_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);

/* q6_K_gemv_id_f16: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f16. */
extern const qk_kernel qk_q6_K_gemv_id_f16_vulkan;
extern const qk_kernel qk_q6_K_gemv_id_f16_metal;
qk_status qk_q6_K_gemv_id_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);
uint64_t qk_q6_K_gemv_id_f16_ref(const void *const weights[1],
    const uint16_t *x, const uint32_t *ids, uint64_t experts, uint64_t rows, uint64_t cols,
    uint64_t tokens, uint64_t slots, uint64_t x_slots, float *y);

/* q6_K_gemv_id_int8_f16: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f16; class int8. */
extern const qk_kernel qk_q6_K_gemv_id_int8_f16_vulkan;
qk_status qk_q6_K_gemv_id_int8_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);

/* q6_K_gemv_id_split_f16: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f16; class split. */
extern const qk_kernel qk_q6_K_gemv_id_split_f16_vulkan;
qk_status qk_q6_K_gemv_id_split_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);

/* q6_K_gemv_id_int24_f16: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f16; class int24. */
extern const qk_kernel qk_q6_K_gemv_id_int24_f16_vulkan;
qk_status qk_q6_K_gemv_id_int24_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);

/* q6_K_encode_f32: makes blocks of floats, for formats that say how: blocks = encode(src), in f32. */
extern const qk_kernel qk_q6_K_encode_f32_vulkan;
extern const qk_kernel qk_q6_K_encode_f32_metal;
qk_status qk_q6_K_encode_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range src, uint64_t elements, qk_error *error);
void qk_q6_K_encode_f32_ref(void *const weights[1],
    uint64_t elements, const float *src);

/* q6_K_encode_f16: makes blocks of floats, for formats that say how: blocks = encode(src), in f16. */
extern const qk_kernel qk_q6_K_encode_f16_vulkan;
extern const qk_kernel qk_q6_K_encode_f16_metal;
qk_status qk_q6_K_encode_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range src, uint64_t elements, qk_error *error);
void qk_q6_K_encode_f16_ref(void *const weights[1],
    uint64_t elements, const uint16_t *src);

/* q6_K_encode_bf16: makes blocks of floats, for formats that say how: blocks = encode(src), in bf16. */
extern const qk_kernel qk_q6_K_encode_bf16_vulkan;
extern const qk_kernel qk_q6_K_encode_bf16_metal;
qk_status qk_q6_K_encode_bf16(const qk_backend *backend, const qk_range weights[1],
    qk_range src, uint64_t elements, qk_error *error);
void qk_q6_K_encode_bf16_ref(void *const weights[1],
    uint64_t elements, const uint16_t *src);

/* q6_K_set_rows_f32: makes rows of blocks of floats: row indices[t] of the blocks = encode(src[t]), in f32. */
extern const qk_kernel qk_q6_K_set_rows_f32_vulkan;
extern const qk_kernel qk_q6_K_set_rows_f32_metal;
qk_status qk_q6_K_set_rows_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range indices, qk_range src, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_q6_K_set_rows_f32_ref(void *const weights[1],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, const float *src);

/* q6_K_set_rows_f16: makes rows of blocks of floats: row indices[t] of the blocks = encode(src[t]), in f16. */
extern const qk_kernel qk_q6_K_set_rows_f16_vulkan;
extern const qk_kernel qk_q6_K_set_rows_f16_metal;
qk_status qk_q6_K_set_rows_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range indices, qk_range src, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_q6_K_set_rows_f16_ref(void *const weights[1],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, const uint16_t *src);

/* q6_K_set_rows_bf16: makes rows of blocks of floats: row indices[t] of the blocks = encode(src[t]), in bf16. */
extern const qk_kernel qk_q6_K_set_rows_bf16_vulkan;
extern const qk_kernel qk_q6_K_set_rows_bf16_metal;
qk_status qk_q6_K_set_rows_bf16(const qk_backend *backend, const qk_range weights[1],
    qk_range indices, qk_range src, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_q6_K_set_rows_bf16_ref(void *const weights[1],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, const uint16_t *src);

#ifdef __cplusplus
}
#endif
#endif
