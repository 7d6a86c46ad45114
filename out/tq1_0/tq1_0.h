/* tq1_0: kernels, dispatch and reference decoder of the format.
 * Generated from the specification below by `qkgen emit --format tq1_0`; do not edit.
 * Licence: none of qkgen's applies; this text is under that of its specification, or yours.
 * 54 bytes for 256 elements, 1.688 bits each.
 * dequant, gather in f32: for each weight 0.211 bytes read and 4 written, 15 operations: 0.75 loads, 4.5 bits, 7.5 integer, 1 float, 1.25
 * conversions.
 * gemv, gemv_id in f32: for each weight 0.211 bytes read, 5.84 operations: 0.141 loads, 2.33 bits, 0.828 integer, 2.03 float, 0.516
 * conversions.
 *     format tq1_0 "ternary codes, five in a byte, one scale for 256"
 *     block 256 {
 *         qs: u8[48]
 *         qh: u8[4]
 *         d:  f16
 *     }
 *     code t = qs { 8 base 3 @ 0   (32:8, 5:^) }    # elements 0 to 159
 *         then qs { 8 base 3 @ 256 (16:8, 5:^) }    # 160 to 239
 *         then qh { 8 base 3 @ 0   (4:8,  4:^) }    # 240 to 255
 *     value = (t - 1) * d
 *     # ggml's quantize_row_tq1_0_ref
 *     encode {
 *         s = max(abs(x))
 *         r = s == 0.0 ? 0.0 : 1.0 / s
 *         d = s
 *         t = round(x * r, -1, 1) + 1
 *     }
 */
#ifndef QK_tq1_0_KERNELS_H
#define QK_tq1_0_KERNELS_H

#include <qkgen/kernel.h>

#if QK_ABI_VERSION != 22
#error "made for version 22 of qkgen/kernel.h, and this is another: generate it again, with the qkgen of these headers"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* All descriptors below, for qkgen/registry.h. */
extern const qk_kernel_set qk_tq1_0_kernels;

/* tq1_0_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32. */
extern const qk_kernel qk_tq1_0_dequant_f32_vulkan;
extern const qk_kernel qk_tq1_0_dequant_f32_metal;
qk_status qk_tq1_0_dequant_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range dst, uint64_t elements, qk_error *error);
void qk_tq1_0_dequant_f32_ref(const void *const weights[1],
    uint64_t elements, float *dst);

/* tq1_0_dequant_f16: decodes a whole tensor: dst[i] = value(i), in f16. */
extern const qk_kernel qk_tq1_0_dequant_f16_vulkan;
extern const qk_kernel qk_tq1_0_dequant_f16_metal;
qk_status qk_tq1_0_dequant_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range dst, uint64_t elements, qk_error *error);
void qk_tq1_0_dequant_f16_ref(const void *const weights[1],
    uint64_t elements, uint16_t *dst);

/* tq1_0_dequant_bf16: decodes a whole tensor: dst[i] = value(i), in bf16. */
extern const qk_kernel qk_tq1_0_dequant_bf16_vulkan;
extern const qk_kernel qk_tq1_0_dequant_bf16_metal;
qk_status qk_tq1_0_dequant_bf16(const qk_backend *backend, const qk_range weights[1],
    qk_range dst, uint64_t elements, qk_error *error);
void qk_tq1_0_dequant_bf16_ref(const void *const weights[1],
    uint64_t elements, uint16_t *dst);

/* tq1_0_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32. */
extern const qk_kernel qk_tq1_0_gather_f32_vulkan;
extern const qk_kernel qk_tq1_0_gather_f32_metal;
qk_status qk_tq1_0_gather_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_tq1_0_gather_f32_ref(const void *const weights[1],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, float *dst);

/* tq1_0_gather_f16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16. */
extern const qk_kernel qk_tq1_0_gather_f16_vulkan;
extern const qk_kernel qk_tq1_0_gather_f16_metal;
qk_status qk_tq1_0_gather_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_tq1_0_gather_f16_ref(const void *const weights[1],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, uint16_t *dst);

/* tq1_0_gather_bf16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in bf16. */
extern const qk_kernel qk_tq1_0_gather_bf16_vulkan;
extern const qk_kernel qk_tq1_0_gather_bf16_metal;
qk_status qk_tq1_0_gather_bf16(const qk_backend *backend, const qk_range weights[1],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_tq1_0_gather_bf16_ref(const void *const weights[1],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, uint16_t *dst);

/* tq1_0_gemv_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32. */
extern const qk_kernel qk_tq1_0_gemv_f32_vulkan;
extern const qk_kernel qk_tq1_0_gemv_f32_metal;
qk_status qk_tq1_0_gemv_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);
void qk_tq1_0_gemv_f32_ref(const void *const weights[1],
    const float *x, uint64_t rows, uint64_t cols, uint64_t batch, float *y);

/* tq1_0_gemv_int8_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32; class int8. */
extern const qk_kernel qk_tq1_0_gemv_int8_f32_vulkan;
qk_status qk_tq1_0_gemv_int8_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* tq1_0_gemv_split_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32; class split. */
extern const qk_kernel qk_tq1_0_gemv_split_f32_vulkan;
qk_status qk_tq1_0_gemv_split_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* tq1_0_gemv_int24_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32; class int24. */
extern const qk_kernel qk_tq1_0_gemv_int24_f32_vulkan;
qk_status qk_tq1_0_gemv_int24_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* tq1_0_gemv_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16. */
extern const qk_kernel qk_tq1_0_gemv_f16_vulkan;
extern const qk_kernel qk_tq1_0_gemv_f16_metal;
qk_status qk_tq1_0_gemv_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);
void qk_tq1_0_gemv_f16_ref(const void *const weights[1],
    const uint16_t *x, uint64_t rows, uint64_t cols, uint64_t batch, float *y);

/* tq1_0_gemv_int8_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16; class int8. */
extern const qk_kernel qk_tq1_0_gemv_int8_f16_vulkan;
qk_status qk_tq1_0_gemv_int8_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* tq1_0_gemv_split_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16; class split. */
extern const qk_kernel qk_tq1_0_gemv_split_f16_vulkan;
qk_status qk_tq1_0_gemv_split_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* tq1_0_gemv_int24_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16; class int24. */
extern const qk_kernel qk_tq1_0_gemv_int24_f16_vulkan;
qk_status qk_tq1_0_gemv_int24_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* tq1_0_gemv_id_f32: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f32. */
extern const qk_kernel qk_tq1_0_gemv_id_f32_vulkan;
extern const qk_kernel qk_tq1_0_gemv_id_f32_metal;
qk_status qk_tq1_0_gemv_id_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);
uint64_t qk_tq1_0_gemv_id_f32_ref(const void *const weights[1],
    const float *x, const uint32_t *ids, uint64_t experts, uint64_t rows, uint64_t cols,
    uint64_t tokens, uint64_t slots, uint64_t x_slots, float *y);

/* tq1_0_gemv_id_int8_f32: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f32; class int8. */
extern const qk_kernel qk_tq1_0_gemv_id_int8_f32_vulkan;
qk_status qk_tq1_0_gemv_id_int8_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);

/* tq1_0_gemv_id_split_f32: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f32; class split. */
extern const qk_kernel qk_tq1_0_gemv_id_split_f32_vulkan;
qk_status qk_tq1_0_gemv_id_split_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);

/* tq1_0_gemv_id_int24_f32: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f32; class int24. */
extern const qk_kernel qk_tq1_0_gemv_id_int24_f32_vulkan;
qk_status qk_tq1_0_gemv_id_int24_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);

/* tq1_0_gemv_id_f16: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f16. */
extern const qk_kernel qk_tq1_0_gemv_id_f16_vulkan;
extern const qk_kernel qk_tq1_0_gemv_id_f16_metal;
qk_status qk_tq1_0_gemv_id_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);
uint64_t qk_tq1_0_gemv_id_f16_ref(const void *const weights[1],
    const uint16_t *x, const uint32_t *ids, uint64_t experts, uint64_t rows, uint64_t cols,
    uint64_t tokens, uint64_t slots, uint64_t x_slots, float *y);

/* tq1_0_gemv_id_int8_f16: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f16; class int8. */
extern const qk_kernel qk_tq1_0_gemv_id_int8_f16_vulkan;
qk_status qk_tq1_0_gemv_id_int8_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);

/* tq1_0_gemv_id_split_f16: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f16; class split. */
extern const qk_kernel qk_tq1_0_gemv_id_split_f16_vulkan;
qk_status qk_tq1_0_gemv_id_split_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);

/* tq1_0_gemv_id_int24_f16: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f16; class int24. */
extern const qk_kernel qk_tq1_0_gemv_id_int24_f16_vulkan;
qk_status qk_tq1_0_gemv_id_int24_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);

/* tq1_0_encode_f32: makes blocks of floats, for formats that say how: blocks = encode(src), in f32. */
extern const qk_kernel qk_tq1_0_encode_f32_vulkan;
extern const qk_kernel qk_tq1_0_encode_f32_metal;
qk_status qk_tq1_0_encode_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range src, uint64_t elements, qk_error *error);
void qk_tq1_0_encode_f32_ref(void *const weights[1],
    uint64_t elements, const float *src);

/* tq1_0_encode_f16: makes blocks of floats, for formats that say how: blocks = encode(src), in f16. */
extern const qk_kernel qk_tq1_0_encode_f16_vulkan;
extern const qk_kernel qk_tq1_0_encode_f16_metal;
qk_status qk_tq1_0_encode_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range src, uint64_t elements, qk_error *error);
void qk_tq1_0_encode_f16_ref(void *const weights[1],
    uint64_t elements, const uint16_t *src);

/* tq1_0_encode_bf16: makes blocks of floats, for formats that say how: blocks = encode(src), in bf16. */
extern const qk_kernel qk_tq1_0_encode_bf16_vulkan;
extern const qk_kernel qk_tq1_0_encode_bf16_metal;
qk_status qk_tq1_0_encode_bf16(const qk_backend *backend, const qk_range weights[1],
    qk_range src, uint64_t elements, qk_error *error);
void qk_tq1_0_encode_bf16_ref(void *const weights[1],
    uint64_t elements, const uint16_t *src);

/* tq1_0_set_rows_f32: makes rows of blocks of floats: row indices[t] of the blocks = encode(src[t]), in f32. */
extern const qk_kernel qk_tq1_0_set_rows_f32_vulkan;
extern const qk_kernel qk_tq1_0_set_rows_f32_metal;
qk_status qk_tq1_0_set_rows_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range indices, qk_range src, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_tq1_0_set_rows_f32_ref(void *const weights[1],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, const float *src);

/* tq1_0_set_rows_f16: makes rows of blocks of floats: row indices[t] of the blocks = encode(src[t]), in f16. */
extern const qk_kernel qk_tq1_0_set_rows_f16_vulkan;
extern const qk_kernel qk_tq1_0_set_rows_f16_metal;
qk_status qk_tq1_0_set_rows_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range indices, qk_range src, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_tq1_0_set_rows_f16_ref(void *const weights[1],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, const uint16_t *src);

/* tq1_0_set_rows_bf16: makes rows of blocks of floats: row indices[t] of the blocks = encode(src[t]), in bf16. */
extern const qk_kernel qk_tq1_0_set_rows_bf16_vulkan;
extern const qk_kernel qk_tq1_0_set_rows_bf16_metal;
qk_status qk_tq1_0_set_rows_bf16(const qk_backend *backend, const qk_range weights[1],
    qk_range indices, qk_range src, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_tq1_0_set_rows_bf16_ref(void *const weights[1],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, const uint16_t *src);

#ifdef __cplusplus
}
#endif
#endif
