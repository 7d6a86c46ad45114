/* mxfp4: kernels, dispatch and reference decoder of the format.
 * Generated from the specification below by `qkgen emit --format mxfp4`; do not edit.
 * Licence: none of qkgen's applies; this text is under that of its specification, or yours.
 * 17 bytes for 32 elements, 4.25 bits each.
 * dequant, gather in f32: for each weight 0.531 bytes read and 4 written, 8.12 operations: 0.625 loads, 3.25 bits, 1.25 integer, 1 float, 1
 * conversions, 1 lookups.
 * gemv in f32: for each weight 0.531 bytes read, 6.23 operations: 0.234 loads, 3 bits, 0.438 integer, 2.06 float, 0.5 conversions.
 * gemv_id in f32: for each weight 0.531 bytes read, 6.31 operations: 0.234 loads, 3.09 bits, 0.453 integer, 2.03 float, 0.5 conversions.
 *     format mxfp4 "E2M1 codes, a power of two for 32"
 *     from "ggml (llama.cpp), ggml-common.h"
 *     block 32 {
 *         e:  u8
 *         qs: u8[16]
 *     }
 *     code q = qs { 4 @ 0 (16:8, 2:4) }    # low nibbles, then high nibbles
 *     table K: i8[16] = { 0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12 }    # twice the E2M1 value
 *     # 2^(e - 128), since the table is doubled: e - 1 is the exponent of an f32, but that the two smallest are subnormals.
 *     value = K[q] * f32(e < 2 ? 2097152 << (e & 1) : (e + 255 & 255) << 23)
 *     # ggml's quantize_row_mxfp4_ref: e is floor(log2(m)) + 125, where the logarithm is rounded to f32 first. So the floats just below
 *     # the power of two 2^p count as that where the logarithm's last bit is large enough: n of them, by the size of p.
 *     encode {
 *         m = max(abs(x))
 *         b = bits(m)
 *         u = b >> 23
 *         p = u < 127 ? 126 - u : u - 127
 *         n = p < 2 ? 0 : p < 4 ? 1 : p < 8 ? 2 : p < 16 ? 5 : p < 32 ? 11 : p < 64 ? 22 : 44
 *         e = m > 0.0 ? max((b + n >> 23) - 2, 0) : 0
 *         s = f32(e < 2 ? 2097152 << (e & 1) : (e + 255 & 255) << 23)
 *         # The nearest of K by three comparisons; of two that are as near, the smaller. From an infinity all are as far, and the first
 *         # is taken; a product that is not finite is never near.
 *         seven = 8.0 * s - s
 *         ten = 12.0 * s - 2.0 * s
 *         y per 1 = abs(x) <= 3.4028234663852886e38 ? x : 0.0
 *         a per 1 = abs(y)
 *         n4 per 1 = a > 3.5 * s ? 4 : 0
 *         n2 per 1 = a > (n4 ? seven : 1.5 * s) ? 2 : 0
 *         n1 per 1 = a > (n4 ? n2 ? ten : 5.0 * s : n2 ? 2.5 * s : 0.5 * s) ? 1 : 0
 *         q = n4 + n2 + n1 + (y < -0.5 * s ? 8 : 0)
 *     }
 */
#ifndef QK_mxfp4_KERNELS_H
#define QK_mxfp4_KERNELS_H

#include <qkgen/kernel.h>

#if QK_ABI_VERSION != 22
#error "made for version 22 of qkgen/kernel.h, and this is another: generate it again, with the qkgen of these headers"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* All descriptors below, for qkgen/registry.h. */
extern const qk_kernel_set qk_mxfp4_kernels;

/* mxfp4_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32. */
extern const qk_kernel qk_mxfp4_dequant_f32_vulkan;
extern const qk_kernel qk_mxfp4_dequant_f32_metal;
qk_status qk_mxfp4_dequant_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range dst, uint64_t elements, qk_error *error);
void qk_mxfp4_dequant_f32_ref(const void *const weights[1],
    uint64_t elements, float *dst);

/* mxfp4_dequant_f16: decodes a whole tensor: dst[i] = value(i), in f16. */
extern const qk_kernel qk_mxfp4_dequant_f16_vulkan;
extern const qk_kernel qk_mxfp4_dequant_f16_metal;
qk_status qk_mxfp4_dequant_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range dst, uint64_t elements, qk_error *error);
void qk_mxfp4_dequant_f16_ref(const void *const weights[1],
    uint64_t elements, uint16_t *dst);

/* mxfp4_dequant_bf16: decodes a whole tensor: dst[i] = value(i), in bf16. */
extern const qk_kernel qk_mxfp4_dequant_bf16_vulkan;
extern const qk_kernel qk_mxfp4_dequant_bf16_metal;
qk_status qk_mxfp4_dequant_bf16(const qk_backend *backend, const qk_range weights[1],
    qk_range dst, uint64_t elements, qk_error *error);
void qk_mxfp4_dequant_bf16_ref(const void *const weights[1],
    uint64_t elements, uint16_t *dst);

/* mxfp4_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32. */
extern const qk_kernel qk_mxfp4_gather_f32_vulkan;
extern const qk_kernel qk_mxfp4_gather_f32_metal;
qk_status qk_mxfp4_gather_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_mxfp4_gather_f32_ref(const void *const weights[1],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, float *dst);

/* mxfp4_gather_f16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16. */
extern const qk_kernel qk_mxfp4_gather_f16_vulkan;
extern const qk_kernel qk_mxfp4_gather_f16_metal;
qk_status qk_mxfp4_gather_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_mxfp4_gather_f16_ref(const void *const weights[1],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, uint16_t *dst);

/* mxfp4_gather_bf16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in bf16. */
extern const qk_kernel qk_mxfp4_gather_bf16_vulkan;
extern const qk_kernel qk_mxfp4_gather_bf16_metal;
qk_status qk_mxfp4_gather_bf16(const qk_backend *backend, const qk_range weights[1],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_mxfp4_gather_bf16_ref(const void *const weights[1],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, uint16_t *dst);

/* mxfp4_gemv_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32. */
extern const qk_kernel qk_mxfp4_gemv_f32_vulkan;
extern const qk_kernel qk_mxfp4_gemv_f32_metal;
qk_status qk_mxfp4_gemv_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);
void qk_mxfp4_gemv_f32_ref(const void *const weights[1],
    const float *x, uint64_t rows, uint64_t cols, uint64_t batch, float *y);

/* mxfp4_gemv_int8_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32; class int8. */
extern const qk_kernel qk_mxfp4_gemv_int8_f32_vulkan;
qk_status qk_mxfp4_gemv_int8_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* mxfp4_gemv_split_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32; class split. */
extern const qk_kernel qk_mxfp4_gemv_split_f32_vulkan;
qk_status qk_mxfp4_gemv_split_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* mxfp4_gemv_int24_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32; class int24. */
extern const qk_kernel qk_mxfp4_gemv_int24_f32_vulkan;
qk_status qk_mxfp4_gemv_int24_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* mxfp4_gemv_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16. */
extern const qk_kernel qk_mxfp4_gemv_f16_vulkan;
extern const qk_kernel qk_mxfp4_gemv_f16_metal;
qk_status qk_mxfp4_gemv_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);
void qk_mxfp4_gemv_f16_ref(const void *const weights[1],
    const uint16_t *x, uint64_t rows, uint64_t cols, uint64_t batch, float *y);

/* mxfp4_gemv_int8_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16; class int8. */
extern const qk_kernel qk_mxfp4_gemv_int8_f16_vulkan;
qk_status qk_mxfp4_gemv_int8_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* mxfp4_gemv_split_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16; class split. */
extern const qk_kernel qk_mxfp4_gemv_split_f16_vulkan;
qk_status qk_mxfp4_gemv_split_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* mxfp4_gemv_int24_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16; class int24. */
extern const qk_kernel qk_mxfp4_gemv_int24_f16_vulkan;
qk_status qk_mxfp4_gemv_int24_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* mxfp4_gemv_id_f32: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f32. */
extern const qk_kernel qk_mxfp4_gemv_id_f32_vulkan;
extern const qk_kernel qk_mxfp4_gemv_id_f32_metal;
qk_status qk_mxfp4_gemv_id_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);
uint64_t qk_mxfp4_gemv_id_f32_ref(const void *const weights[1],
    const float *x, const uint32_t *ids, uint64_t experts, uint64_t rows, uint64_t cols,
    uint64_t tokens, uint64_t slots, uint64_t x_slots, float *y);

/* mxfp4_gemv_id_int8_f32: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f32; class int8. */
extern const qk_kernel qk_mxfp4_gemv_id_int8_f32_vulkan;
qk_status qk_mxfp4_gemv_id_int8_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);

/* mxfp4_gemv_id_split_f32: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f32; class split. */
extern const qk_kernel qk_mxfp4_gemv_id_split_f32_vulkan;
qk_status qk_mxfp4_gemv_id_split_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);

/* mxfp4_gemv_id_int24_f32: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f32; class int24. */
extern const qk_kernel qk_mxfp4_gemv_id_int24_f32_vulkan;
qk_status qk_mxfp4_gemv_id_int24_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);

/* mxfp4_gemv_id_f16: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f16. */
extern const qk_kernel qk_mxfp4_gemv_id_f16_vulkan;
extern const qk_kernel qk_mxfp4_gemv_id_f16_metal;
qk_status qk_mxfp4_gemv_id_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);
uint64_t qk_mxfp4_gemv_id_f16_ref(const void *const weights[1],
    const uint16_t *x, const uint32_t *ids, uint64_t experts, uint64_t rows, uint64_t cols,
    uint64_t tokens, uint64_t slots, uint64_t x_slots, float *y);

/* mxfp4_gemv_id_int8_f16: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f16; class int8. */
extern const qk_kernel qk_mxfp4_gemv_id_int8_f16_vulkan;
qk_status qk_mxfp4_gemv_id_int8_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);

/* mxfp4_gemv_id_split_f16: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f16; class split. */
extern const qk_kernel qk_mxfp4_gemv_id_split_f16_vulkan;
qk_status qk_mxfp4_gemv_id_split_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);

/* mxfp4_gemv_id_int24_f16: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f16; class int24. */
extern const qk_kernel qk_mxfp4_gemv_id_int24_f16_vulkan;
qk_status qk_mxfp4_gemv_id_int24_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);

/* mxfp4_encode_f32: makes blocks of floats, for formats that say how: blocks = encode(src), in f32. */
extern const qk_kernel qk_mxfp4_encode_f32_vulkan;
extern const qk_kernel qk_mxfp4_encode_f32_metal;
qk_status qk_mxfp4_encode_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range src, uint64_t elements, qk_error *error);
void qk_mxfp4_encode_f32_ref(void *const weights[1],
    uint64_t elements, const float *src);

/* mxfp4_encode_f16: makes blocks of floats, for formats that say how: blocks = encode(src), in f16. */
extern const qk_kernel qk_mxfp4_encode_f16_vulkan;
extern const qk_kernel qk_mxfp4_encode_f16_metal;
qk_status qk_mxfp4_encode_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range src, uint64_t elements, qk_error *error);
void qk_mxfp4_encode_f16_ref(void *const weights[1],
    uint64_t elements, const uint16_t *src);

/* mxfp4_encode_bf16: makes blocks of floats, for formats that say how: blocks = encode(src), in bf16. */
extern const qk_kernel qk_mxfp4_encode_bf16_vulkan;
extern const qk_kernel qk_mxfp4_encode_bf16_metal;
qk_status qk_mxfp4_encode_bf16(const qk_backend *backend, const qk_range weights[1],
    qk_range src, uint64_t elements, qk_error *error);
void qk_mxfp4_encode_bf16_ref(void *const weights[1],
    uint64_t elements, const uint16_t *src);

/* mxfp4_set_rows_f32: makes rows of blocks of floats: row indices[t] of the blocks = encode(src[t]), in f32. */
extern const qk_kernel qk_mxfp4_set_rows_f32_vulkan;
extern const qk_kernel qk_mxfp4_set_rows_f32_metal;
qk_status qk_mxfp4_set_rows_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range indices, qk_range src, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_mxfp4_set_rows_f32_ref(void *const weights[1],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, const float *src);

/* mxfp4_set_rows_f16: makes rows of blocks of floats: row indices[t] of the blocks = encode(src[t]), in f16. */
extern const qk_kernel qk_mxfp4_set_rows_f16_vulkan;
extern const qk_kernel qk_mxfp4_set_rows_f16_metal;
qk_status qk_mxfp4_set_rows_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range indices, qk_range src, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_mxfp4_set_rows_f16_ref(void *const weights[1],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, const uint16_t *src);

/* mxfp4_set_rows_bf16: makes rows of blocks of floats: row indices[t] of the blocks = encode(src[t]), in bf16. */
extern const qk_kernel qk_mxfp4_set_rows_bf16_vulkan;
extern const qk_kernel qk_mxfp4_set_rows_bf16_metal;
qk_status qk_mxfp4_set_rows_bf16(const qk_backend *backend, const qk_range weights[1],
    qk_range indices, qk_range src, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_mxfp4_set_rows_bf16_ref(void *const weights[1],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, const uint16_t *src);

#ifdef __cplusplus
}
#endif
#endif
