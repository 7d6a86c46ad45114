/* hqq_b3_g64: kernels, dispatch and reference decoder of the format.
 * Generated from the specification below by `qkgen emit --format hqq_b3_g64`; do not edit.
 * Licence: none of qkgen's applies; this text is under that of its specification, or yours.
 * 296 bytes for 640 elements, 3.7 bits each.
 * dequant in f32: for each weight 0.463 bytes read and 4 written, 6.65 operations: 0.6 loads, 1.9 bits, 0.65 integer, 2 float, 1.5
 * conversions.
 * gather in f32: for each weight 0.463 bytes read and 4 written, 9.75 operations: 1.5 loads, 2 bits, 2.75 integer, 2 float, 1.5
 * conversions.
 * gemv in f32: for each weight 0.463 bytes read, 5.66 operations: 0.281 loads, 2 bits, 0.281 integer, 2.06 float, 1.03 conversions.
 *     format hqq_b3_g{group} "HQQ: the groups of the whole tensor in ten planes of 3 bits, a float zero"
 *     from "HQQ: BitPack, axis 1"
 *     for group in 64 128
 *     block 10 apart x group {
 *         buffer W_q   { w: u32[1][group] }
 *         buffer scale { d: f16[10][1] }
 *         buffer zero  { m: f16[10][1] }
 *     }
 *     code q                = w { 3 @ 27 (group:32, 10:-3) }
 *     spare                   w { 2 @ 30 (group:32) }
 *     code s: f16 per group = d { 16 @ 0 (10:16) }
 *     code z: f16 per group = m { 16 @ 0 (10:16) }
 *     value = (q - z) * s
 *     # Quantizer.quantize without optimisation, as for other numbers of bits.
 *     encode {
 *         low = min(x)
 *         high = max(x)
 *         room = high - low
 *         r = room <= 1e-4 ? 1.0 : min(7.0 / room, 2e4)
 *         zero_point = -low * r
 *         q = even(x * r + zero_point, 0, 7)
 *         s = 1.0 / r
 *         z = zero_point
 *     }
 *
 * Here group = 64.
 */
#ifndef QK_hqq_b3_g64_KERNELS_H
#define QK_hqq_b3_g64_KERNELS_H

#include <qkgen/kernel.h>

#if QK_ABI_VERSION != 22
#error "made for version 22 of qkgen/kernel.h, and this is another: generate it again, with the qkgen of these headers"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* All descriptors below, for qkgen/registry.h. */
extern const qk_kernel_set qk_hqq_b3_g64_kernels;

/* hqq_b3_g64_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32. */
extern const qk_kernel qk_hqq_b3_g64_dequant_f32_vulkan;
extern const qk_kernel qk_hqq_b3_g64_dequant_f32_metal;
qk_status qk_hqq_b3_g64_dequant_f32(const qk_backend *backend, const qk_range weights[3],
    qk_range dst, uint64_t rows, uint64_t cols, qk_error *error);
void qk_hqq_b3_g64_dequant_f32_ref(const void *const weights[3],
    uint64_t rows, uint64_t cols, float *dst);

/* hqq_b3_g64_dequant_f16: decodes a whole tensor: dst[i] = value(i), in f16. */
extern const qk_kernel qk_hqq_b3_g64_dequant_f16_vulkan;
extern const qk_kernel qk_hqq_b3_g64_dequant_f16_metal;
qk_status qk_hqq_b3_g64_dequant_f16(const qk_backend *backend, const qk_range weights[3],
    qk_range dst, uint64_t rows, uint64_t cols, qk_error *error);
void qk_hqq_b3_g64_dequant_f16_ref(const void *const weights[3],
    uint64_t rows, uint64_t cols, uint16_t *dst);

/* hqq_b3_g64_dequant_bf16: decodes a whole tensor: dst[i] = value(i), in bf16. */
extern const qk_kernel qk_hqq_b3_g64_dequant_bf16_vulkan;
extern const qk_kernel qk_hqq_b3_g64_dequant_bf16_metal;
qk_status qk_hqq_b3_g64_dequant_bf16(const qk_backend *backend, const qk_range weights[3],
    qk_range dst, uint64_t rows, uint64_t cols, qk_error *error);
void qk_hqq_b3_g64_dequant_bf16_ref(const void *const weights[3],
    uint64_t rows, uint64_t cols, uint16_t *dst);

/* hqq_b3_g64_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32. */
extern const qk_kernel qk_hqq_b3_g64_gather_f32_vulkan;
extern const qk_kernel qk_hqq_b3_g64_gather_f32_metal;
qk_status qk_hqq_b3_g64_gather_f32(const qk_backend *backend, const qk_range weights[3],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_hqq_b3_g64_gather_f32_ref(const void *const weights[3],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, float *dst);

/* hqq_b3_g64_gather_f16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16. */
extern const qk_kernel qk_hqq_b3_g64_gather_f16_vulkan;
extern const qk_kernel qk_hqq_b3_g64_gather_f16_metal;
qk_status qk_hqq_b3_g64_gather_f16(const qk_backend *backend, const qk_range weights[3],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_hqq_b3_g64_gather_f16_ref(const void *const weights[3],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, uint16_t *dst);

/* hqq_b3_g64_gather_bf16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in bf16. */
extern const qk_kernel qk_hqq_b3_g64_gather_bf16_vulkan;
extern const qk_kernel qk_hqq_b3_g64_gather_bf16_metal;
qk_status qk_hqq_b3_g64_gather_bf16(const qk_backend *backend, const qk_range weights[3],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_hqq_b3_g64_gather_bf16_ref(const void *const weights[3],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, uint16_t *dst);

/* hqq_b3_g64_gemv_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32. */
extern const qk_kernel qk_hqq_b3_g64_gemv_f32_vulkan;
extern const qk_kernel qk_hqq_b3_g64_gemv_f32_metal;
qk_status qk_hqq_b3_g64_gemv_f32(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);
void qk_hqq_b3_g64_gemv_f32_ref(const void *const weights[3],
    const float *x, uint64_t rows, uint64_t cols, uint64_t batch, float *y);

/* hqq_b3_g64_gemv_int8_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32; class int8. */
extern const qk_kernel qk_hqq_b3_g64_gemv_int8_f32_vulkan;
qk_status qk_hqq_b3_g64_gemv_int8_f32(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* hqq_b3_g64_gemv_split_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32; class split. */
extern const qk_kernel qk_hqq_b3_g64_gemv_split_f32_vulkan;
qk_status qk_hqq_b3_g64_gemv_split_f32(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* hqq_b3_g64_gemv_int24_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32; class int24. */
extern const qk_kernel qk_hqq_b3_g64_gemv_int24_f32_vulkan;
qk_status qk_hqq_b3_g64_gemv_int24_f32(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* hqq_b3_g64_gemv_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16. */
extern const qk_kernel qk_hqq_b3_g64_gemv_f16_vulkan;
extern const qk_kernel qk_hqq_b3_g64_gemv_f16_metal;
qk_status qk_hqq_b3_g64_gemv_f16(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);
void qk_hqq_b3_g64_gemv_f16_ref(const void *const weights[3],
    const uint16_t *x, uint64_t rows, uint64_t cols, uint64_t batch, float *y);

/* hqq_b3_g64_gemv_int8_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16; class int8. */
extern const qk_kernel qk_hqq_b3_g64_gemv_int8_f16_vulkan;
qk_status qk_hqq_b3_g64_gemv_int8_f16(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* hqq_b3_g64_gemv_split_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16; class split. */
extern const qk_kernel qk_hqq_b3_g64_gemv_split_f16_vulkan;
qk_status qk_hqq_b3_g64_gemv_split_f16(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* hqq_b3_g64_gemv_int24_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16; class int24. */
extern const qk_kernel qk_hqq_b3_g64_gemv_int24_f16_vulkan;
qk_status qk_hqq_b3_g64_gemv_int24_f16(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* hqq_b3_g64_encode_f32: makes blocks of floats, for formats that say how: blocks = encode(src), in f32. */
extern const qk_kernel qk_hqq_b3_g64_encode_f32_vulkan;
extern const qk_kernel qk_hqq_b3_g64_encode_f32_metal;
qk_status qk_hqq_b3_g64_encode_f32(const qk_backend *backend, const qk_range weights[3],
    qk_range src, uint64_t rows, uint64_t cols, qk_error *error);
void qk_hqq_b3_g64_encode_f32_ref(void *const weights[3],
    uint64_t rows, uint64_t cols, const float *src);

/* hqq_b3_g64_encode_f16: makes blocks of floats, for formats that say how: blocks = encode(src), in f16. */
extern const qk_kernel qk_hqq_b3_g64_encode_f16_vulkan;
extern const qk_kernel qk_hqq_b3_g64_encode_f16_metal;
qk_status qk_hqq_b3_g64_encode_f16(const qk_backend *backend, const qk_range weights[3],
    qk_range src, uint64_t rows, uint64_t cols, qk_error *error);
void qk_hqq_b3_g64_encode_f16_ref(void *const weights[3],
    uint64_t rows, uint64_t cols, const uint16_t *src);

/* hqq_b3_g64_encode_bf16: makes blocks of floats, for formats that say how: blocks = encode(src), in bf16. */
extern const qk_kernel qk_hqq_b3_g64_encode_bf16_vulkan;
extern const qk_kernel qk_hqq_b3_g64_encode_bf16_metal;
qk_status qk_hqq_b3_g64_encode_bf16(const qk_backend *backend, const qk_range weights[3],
    qk_range src, uint64_t rows, uint64_t cols, qk_error *error);
void qk_hqq_b3_g64_encode_bf16_ref(void *const weights[3],
    uint64_t rows, uint64_t cols, const uint16_t *src);

#ifdef __cplusplus
}
#endif
#endif
