/* affine_b3_g64_bf16: kernels, dispatch and reference decoder of the format.
 * Generated from the specification below by `qkgen emit --format affine_b3_g64_bf16`; do not edit.
 * Licence: none of qkgen's applies; this text is under that of its specification, or yours.
 * 28 bytes for 64 elements, 3.5 bits each.
 * dequant, gather in f32: for each weight 0.438 bytes read and 4 written, 9.75 operations: 1 loads, 3.5 bits, 2.25 integer, 2 float, 1
 * conversions.
 * gemv, gemv_id in f32: for each weight 0.438 bytes read, 5.17 operations: 0.0625 loads, 1.86 bits, 0.203 integer, 2.05 float, 1
 * conversions.
 *     format affine_b{bits}_g{group}_{T} "affine codes in one bit stream, a scale and a bias for each group"
 *     from "MLX, mlx.core.quantize with mode='affine'"
 *     for bits in 2 3 4 5 6 8, group in 32 64 128, T in f16 bf16 f32
 *     block group {
 *         buffer weight { w: u32[group * bits / 32] }
 *         buffer scales { s: T }
 *         buffer biases { b: T }
 *     }
 *     code q = w { bits @ 0 (group:bits) }
 *     value = q * s + b
 *     # MLX's affine quantize. The edge that is farther from 0 is met exactly; codes are made with scale and bias before they are rounded.
 *     encode {
 *         lo = min(x)
 *         hi = max(x)
 *         left = abs(lo) > abs(hi) ? 1 : 0
 *         width = max((hi - lo) / ((1 << bits) - 1), 1e-7)
 *         near = left ? width : -width
 *         edge = left ? lo : hi
 *         n = even(edge / near)
 *         scale = n == 0.0 ? near : edge / n
 *         bias = n == 0.0 ? 0.0 : edge
 *         s = scale
 *         b = bias
 *         q = even((x - bias) / scale, 0, (1 << bits) - 1)
 *     }
 *
 * Here bits = 3, group = 64, T = bf16.
 */
#ifndef QK_affine_b3_g64_bf16_KERNELS_H
#define QK_affine_b3_g64_bf16_KERNELS_H

#include <qkgen/kernel.h>

#if QK_ABI_VERSION != 22
#error "made for version 22 of qkgen/kernel.h, and this is another: generate it again, with the qkgen of these headers"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* All descriptors below, for qkgen/registry.h. */
extern const qk_kernel_set qk_affine_b3_g64_bf16_kernels;

/* affine_b3_g64_bf16_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32. */
extern const qk_kernel qk_affine_b3_g64_bf16_dequant_f32_vulkan;
extern const qk_kernel qk_affine_b3_g64_bf16_dequant_f32_metal;
qk_status qk_affine_b3_g64_bf16_dequant_f32(const qk_backend *backend, const qk_range weights[3],
    qk_range dst, uint64_t elements, qk_error *error);
void qk_affine_b3_g64_bf16_dequant_f32_ref(const void *const weights[3],
    uint64_t elements, float *dst);

/* affine_b3_g64_bf16_dequant_f16: decodes a whole tensor: dst[i] = value(i), in f16. */
extern const qk_kernel qk_affine_b3_g64_bf16_dequant_f16_vulkan;
extern const qk_kernel qk_affine_b3_g64_bf16_dequant_f16_metal;
qk_status qk_affine_b3_g64_bf16_dequant_f16(const qk_backend *backend, const qk_range weights[3],
    qk_range dst, uint64_t elements, qk_error *error);
void qk_affine_b3_g64_bf16_dequant_f16_ref(const void *const weights[3],
    uint64_t elements, uint16_t *dst);

/* affine_b3_g64_bf16_dequant_bf16: decodes a whole tensor: dst[i] = value(i), in bf16. */
extern const qk_kernel qk_affine_b3_g64_bf16_dequant_bf16_vulkan;
extern const qk_kernel qk_affine_b3_g64_bf16_dequant_bf16_metal;
qk_status qk_affine_b3_g64_bf16_dequant_bf16(const qk_backend *backend, const qk_range weights[3],
    qk_range dst, uint64_t elements, qk_error *error);
void qk_affine_b3_g64_bf16_dequant_bf16_ref(const void *const weights[3],
    uint64_t elements, uint16_t *dst);

/* affine_b3_g64_bf16_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32. */
extern const qk_kernel qk_affine_b3_g64_bf16_gather_f32_vulkan;
extern const qk_kernel qk_affine_b3_g64_bf16_gather_f32_metal;
qk_status qk_affine_b3_g64_bf16_gather_f32(const qk_backend *backend, const qk_range weights[3],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_affine_b3_g64_bf16_gather_f32_ref(const void *const weights[3],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, float *dst);

/* affine_b3_g64_bf16_gather_f16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16. */
extern const qk_kernel qk_affine_b3_g64_bf16_gather_f16_vulkan;
extern const qk_kernel qk_affine_b3_g64_bf16_gather_f16_metal;
qk_status qk_affine_b3_g64_bf16_gather_f16(const qk_backend *backend, const qk_range weights[3],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_affine_b3_g64_bf16_gather_f16_ref(const void *const weights[3],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, uint16_t *dst);

/* affine_b3_g64_bf16_gather_bf16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in bf16. */
extern const qk_kernel qk_affine_b3_g64_bf16_gather_bf16_vulkan;
extern const qk_kernel qk_affine_b3_g64_bf16_gather_bf16_metal;
qk_status qk_affine_b3_g64_bf16_gather_bf16(const qk_backend *backend, const qk_range weights[3],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_affine_b3_g64_bf16_gather_bf16_ref(const void *const weights[3],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, uint16_t *dst);

/* affine_b3_g64_bf16_gemv_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32. */
extern const qk_kernel qk_affine_b3_g64_bf16_gemv_f32_vulkan;
extern const qk_kernel qk_affine_b3_g64_bf16_gemv_f32_metal;
qk_status qk_affine_b3_g64_bf16_gemv_f32(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);
void qk_affine_b3_g64_bf16_gemv_f32_ref(const void *const weights[3],
    const float *x, uint64_t rows, uint64_t cols, uint64_t batch, float *y);

/* affine_b3_g64_bf16_gemv_int8_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32; class int8. */
extern const qk_kernel qk_affine_b3_g64_bf16_gemv_int8_f32_vulkan;
qk_status qk_affine_b3_g64_bf16_gemv_int8_f32(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* affine_b3_g64_bf16_gemv_split_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32; class split. */
extern const qk_kernel qk_affine_b3_g64_bf16_gemv_split_f32_vulkan;
qk_status qk_affine_b3_g64_bf16_gemv_split_f32(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* affine_b3_g64_bf16_gemv_int24_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32; class int24. */
extern const qk_kernel qk_affine_b3_g64_bf16_gemv_int24_f32_vulkan;
qk_status qk_affine_b3_g64_bf16_gemv_int24_f32(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* affine_b3_g64_bf16_gemv_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16. */
extern const qk_kernel qk_affine_b3_g64_bf16_gemv_f16_vulkan;
extern const qk_kernel qk_affine_b3_g64_bf16_gemv_f16_metal;
qk_status qk_affine_b3_g64_bf16_gemv_f16(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);
void qk_affine_b3_g64_bf16_gemv_f16_ref(const void *const weights[3],
    const uint16_t *x, uint64_t rows, uint64_t cols, uint64_t batch, float *y);

/* affine_b3_g64_bf16_gemv_int8_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16; class int8. */
extern const qk_kernel qk_affine_b3_g64_bf16_gemv_int8_f16_vulkan;
qk_status qk_affine_b3_g64_bf16_gemv_int8_f16(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* affine_b3_g64_bf16_gemv_split_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16; class split. */
extern const qk_kernel qk_affine_b3_g64_bf16_gemv_split_f16_vulkan;
qk_status qk_affine_b3_g64_bf16_gemv_split_f16(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* affine_b3_g64_bf16_gemv_int24_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16; class int24. */
extern const qk_kernel qk_affine_b3_g64_bf16_gemv_int24_f16_vulkan;
qk_status qk_affine_b3_g64_bf16_gemv_int24_f16(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* affine_b3_g64_bf16_gemv_id_f32: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f32. */
extern const qk_kernel qk_affine_b3_g64_bf16_gemv_id_f32_vulkan;
extern const qk_kernel qk_affine_b3_g64_bf16_gemv_id_f32_metal;
qk_status qk_affine_b3_g64_bf16_gemv_id_f32(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);
uint64_t qk_affine_b3_g64_bf16_gemv_id_f32_ref(const void *const weights[3],
    const float *x, const uint32_t *ids, uint64_t experts, uint64_t rows, uint64_t cols,
    uint64_t tokens, uint64_t slots, uint64_t x_slots, float *y);

/* affine_b3_g64_bf16_gemv_id_int8_f32: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f32; class
 * int8. */
extern const qk_kernel qk_affine_b3_g64_bf16_gemv_id_int8_f32_vulkan;
qk_status qk_affine_b3_g64_bf16_gemv_id_int8_f32(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);

/* affine_b3_g64_bf16_gemv_id_split_f32: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f32;
 * class split. */
extern const qk_kernel qk_affine_b3_g64_bf16_gemv_id_split_f32_vulkan;
qk_status qk_affine_b3_g64_bf16_gemv_id_split_f32(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);

/* affine_b3_g64_bf16_gemv_id_int24_f32: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f32;
 * class int24. */
extern const qk_kernel qk_affine_b3_g64_bf16_gemv_id_int24_f32_vulkan;
qk_status qk_affine_b3_g64_bf16_gemv_id_int24_f32(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);

/* affine_b3_g64_bf16_gemv_id_f16: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f16. */
extern const qk_kernel qk_affine_b3_g64_bf16_gemv_id_f16_vulkan;
extern const qk_kernel qk_affine_b3_g64_bf16_gemv_id_f16_metal;
qk_status qk_affine_b3_g64_bf16_gemv_id_f16(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);
uint64_t qk_affine_b3_g64_bf16_gemv_id_f16_ref(const void *const weights[3],
    const uint16_t *x, const uint32_t *ids, uint64_t experts, uint64_t rows, uint64_t cols,
    uint64_t tokens, uint64_t slots, uint64_t x_slots, float *y);

/* affine_b3_g64_bf16_gemv_id_int8_f16: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f16; class
 * int8. */
extern const qk_kernel qk_affine_b3_g64_bf16_gemv_id_int8_f16_vulkan;
qk_status qk_affine_b3_g64_bf16_gemv_id_int8_f16(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);

/* affine_b3_g64_bf16_gemv_id_split_f16: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f16;
 * class split. */
extern const qk_kernel qk_affine_b3_g64_bf16_gemv_id_split_f16_vulkan;
qk_status qk_affine_b3_g64_bf16_gemv_id_split_f16(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);

/* affine_b3_g64_bf16_gemv_id_int24_f16: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f16;
 * class int24. */
extern const qk_kernel qk_affine_b3_g64_bf16_gemv_id_int24_f16_vulkan;
qk_status qk_affine_b3_g64_bf16_gemv_id_int24_f16(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);

/* affine_b3_g64_bf16_encode_f32: makes blocks of floats, for formats that say how: blocks = encode(src), in f32. */
extern const qk_kernel qk_affine_b3_g64_bf16_encode_f32_vulkan;
extern const qk_kernel qk_affine_b3_g64_bf16_encode_f32_metal;
qk_status qk_affine_b3_g64_bf16_encode_f32(const qk_backend *backend, const qk_range weights[3],
    qk_range src, uint64_t elements, qk_error *error);
void qk_affine_b3_g64_bf16_encode_f32_ref(void *const weights[3],
    uint64_t elements, const float *src);

/* affine_b3_g64_bf16_encode_f16: makes blocks of floats, for formats that say how: blocks = encode(src), in f16. */
extern const qk_kernel qk_affine_b3_g64_bf16_encode_f16_vulkan;
extern const qk_kernel qk_affine_b3_g64_bf16_encode_f16_metal;
qk_status qk_affine_b3_g64_bf16_encode_f16(const qk_backend *backend, const qk_range weights[3],
    qk_range src, uint64_t elements, qk_error *error);
void qk_affine_b3_g64_bf16_encode_f16_ref(void *const weights[3],
    uint64_t elements, const uint16_t *src);

/* affine_b3_g64_bf16_encode_bf16: makes blocks of floats, for formats that say how: blocks = encode(src), in bf16. */
extern const qk_kernel qk_affine_b3_g64_bf16_encode_bf16_vulkan;
extern const qk_kernel qk_affine_b3_g64_bf16_encode_bf16_metal;
qk_status qk_affine_b3_g64_bf16_encode_bf16(const qk_backend *backend, const qk_range weights[3],
    qk_range src, uint64_t elements, qk_error *error);
void qk_affine_b3_g64_bf16_encode_bf16_ref(void *const weights[3],
    uint64_t elements, const uint16_t *src);

/* affine_b3_g64_bf16_set_rows_f32: makes rows of blocks of floats: row indices[t] of the blocks = encode(src[t]), in f32. */
extern const qk_kernel qk_affine_b3_g64_bf16_set_rows_f32_vulkan;
extern const qk_kernel qk_affine_b3_g64_bf16_set_rows_f32_metal;
qk_status qk_affine_b3_g64_bf16_set_rows_f32(const qk_backend *backend, const qk_range weights[3],
    qk_range indices, qk_range src, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_affine_b3_g64_bf16_set_rows_f32_ref(void *const weights[3],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, const float *src);

/* affine_b3_g64_bf16_set_rows_f16: makes rows of blocks of floats: row indices[t] of the blocks = encode(src[t]), in f16. */
extern const qk_kernel qk_affine_b3_g64_bf16_set_rows_f16_vulkan;
extern const qk_kernel qk_affine_b3_g64_bf16_set_rows_f16_metal;
qk_status qk_affine_b3_g64_bf16_set_rows_f16(const qk_backend *backend, const qk_range weights[3],
    qk_range indices, qk_range src, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_affine_b3_g64_bf16_set_rows_f16_ref(void *const weights[3],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, const uint16_t *src);

/* affine_b3_g64_bf16_set_rows_bf16: makes rows of blocks of floats: row indices[t] of the blocks = encode(src[t]), in bf16. */
extern const qk_kernel qk_affine_b3_g64_bf16_set_rows_bf16_vulkan;
extern const qk_kernel qk_affine_b3_g64_bf16_set_rows_bf16_metal;
qk_status qk_affine_b3_g64_bf16_set_rows_bf16(const qk_backend *backend, const qk_range weights[3],
    qk_range indices, qk_range src, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_affine_b3_g64_bf16_set_rows_bf16_ref(void *const weights[3],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, const uint16_t *src);

#ifdef __cplusplus
}
#endif
#endif
