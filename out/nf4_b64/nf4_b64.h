/* nf4_b64: kernels, dispatch and reference decoder of the format.
 * Generated from the specification below by `qkgen emit --format nf4_b64`; do not edit.
 * Licence: none of qkgen's applies; this text is under that of its specification, or yours.
 * 36 bytes for 64 elements, 4.5 bits each.
 * dequant, gather in f32: for each weight 0.562 bytes read and 4 written, 7.25 operations: 0.75 loads, 2.5 bits, 2 integer, 1 float, 1
 * lookups.
 * gemv in f32: for each weight 0.562 bytes read, 5.09 operations: 0.0469 loads, 2 bits, 0.0312 integer, 2.02 float, 1 lookups.
 *     format nf4_b{group} "bitsandbytes NF4: the even element in the high nibble, a scale for each block of the flat tensor"
 *     from "bitsandbytes: Linear4bit with quant_type nf4"
 *     for group in 64 128
 *     block group ragged {
 *         buffer weight { w: u8[group / 2] }
 *         buffer absmax { s: f32 }
 *     }
 *     table N: f32[16] = {
 *         -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453,
 *         -0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0.0,
 *         0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
 *         0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0,
 *     }
 *     code q = w { 4 @ 4 (2:-4, group / 2:8) }
 *     value = N[q] * s
 *     # bitsandbytes' blockwise quantisation, whose comparisons are with what it has as the middles of neighbours. What is no number gets
 *     # code 0, and so does all of a block of zeros, whose scale has no inverse.
 *     encode {
 *         m = max(abs(x))
 *         s = max(m, 0.0)
 *         r = m > 0.0 ? 1.0 / m : 0.0
 *         v per 1 = m > 0.0 ? abs(x) <= 3.4028234663852886e38 ? x * r : -2.0 : -2.0
 *         n8 per 1 = v > 0.03979014977812767 ? 8 : 0
 *         n4 per 1 = v > (n8 ? 0.3893125355243683 : -0.33967943489551544) ? 4 : 0
 *         n2 per 1 = v > (n8 ? n4 ? 0.6427869200706482 : 0.2035212516784668 : n4 ? -0.13791173323988914 : -0.6106329262256622) ? 2 : 0
 *         high per 1 = n4 ? n2 ? 0.8614784181118011 : 0.5016634166240692 : n2 ? 0.2920137718319893 : 0.1202552504837513
 *         low per 1 = n4 ? n2 ? -0.045525018125772476 : -0.23460740596055984 : n2 ? -0.4599952697753906 : -0.8480964004993439
 *         q = n8 + n4 + n2 + (v > (n8 ? high : low) ? 1 : 0)
 *     }
 *
 * Here group = 64.
 */
#ifndef QK_nf4_b64_KERNELS_H
#define QK_nf4_b64_KERNELS_H

#include <qkgen/kernel.h>

#if QK_ABI_VERSION != 22
#error "made for version 22 of qkgen/kernel.h, and this is another: generate it again, with the qkgen of these headers"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* All descriptors below, for qkgen/registry.h. */
extern const qk_kernel_set qk_nf4_b64_kernels;

/* nf4_b64_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32. */
extern const qk_kernel qk_nf4_b64_dequant_f32_vulkan;
extern const qk_kernel qk_nf4_b64_dequant_f32_metal;
qk_status qk_nf4_b64_dequant_f32(const qk_backend *backend, const qk_range weights[2],
    qk_range dst, uint64_t rows, uint64_t cols, qk_error *error);
void qk_nf4_b64_dequant_f32_ref(const void *const weights[2],
    uint64_t rows, uint64_t cols, float *dst);

/* nf4_b64_dequant_f16: decodes a whole tensor: dst[i] = value(i), in f16. */
extern const qk_kernel qk_nf4_b64_dequant_f16_vulkan;
extern const qk_kernel qk_nf4_b64_dequant_f16_metal;
qk_status qk_nf4_b64_dequant_f16(const qk_backend *backend, const qk_range weights[2],
    qk_range dst, uint64_t rows, uint64_t cols, qk_error *error);
void qk_nf4_b64_dequant_f16_ref(const void *const weights[2],
    uint64_t rows, uint64_t cols, uint16_t *dst);

/* nf4_b64_dequant_bf16: decodes a whole tensor: dst[i] = value(i), in bf16. */
extern const qk_kernel qk_nf4_b64_dequant_bf16_vulkan;
extern const qk_kernel qk_nf4_b64_dequant_bf16_metal;
qk_status qk_nf4_b64_dequant_bf16(const qk_backend *backend, const qk_range weights[2],
    qk_range dst, uint64_t rows, uint64_t cols, qk_error *error);
void qk_nf4_b64_dequant_bf16_ref(const void *const weights[2],
    uint64_t rows, uint64_t cols, uint16_t *dst);

/* nf4_b64_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32. */
extern const qk_kernel qk_nf4_b64_gather_f32_vulkan;
extern const qk_kernel qk_nf4_b64_gather_f32_metal;
qk_status qk_nf4_b64_gather_f32(const qk_backend *backend, const qk_range weights[2],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_nf4_b64_gather_f32_ref(const void *const weights[2],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, float *dst);

/* nf4_b64_gather_f16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16. */
extern const qk_kernel qk_nf4_b64_gather_f16_vulkan;
extern const qk_kernel qk_nf4_b64_gather_f16_metal;
qk_status qk_nf4_b64_gather_f16(const qk_backend *backend, const qk_range weights[2],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_nf4_b64_gather_f16_ref(const void *const weights[2],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, uint16_t *dst);

/* nf4_b64_gather_bf16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in bf16. */
extern const qk_kernel qk_nf4_b64_gather_bf16_vulkan;
extern const qk_kernel qk_nf4_b64_gather_bf16_metal;
qk_status qk_nf4_b64_gather_bf16(const qk_backend *backend, const qk_range weights[2],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_nf4_b64_gather_bf16_ref(const void *const weights[2],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, uint16_t *dst);

/* nf4_b64_gemv_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32. */
extern const qk_kernel qk_nf4_b64_gemv_f32_vulkan;
extern const qk_kernel qk_nf4_b64_gemv_f32_metal;
qk_status qk_nf4_b64_gemv_f32(const qk_backend *backend, const qk_range weights[2],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);
void qk_nf4_b64_gemv_f32_ref(const void *const weights[2],
    const float *x, uint64_t rows, uint64_t cols, uint64_t batch, float *y);

/* nf4_b64_gemv_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16. */
extern const qk_kernel qk_nf4_b64_gemv_f16_vulkan;
extern const qk_kernel qk_nf4_b64_gemv_f16_metal;
qk_status qk_nf4_b64_gemv_f16(const qk_backend *backend, const qk_range weights[2],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);
void qk_nf4_b64_gemv_f16_ref(const void *const weights[2],
    const uint16_t *x, uint64_t rows, uint64_t cols, uint64_t batch, float *y);

/* nf4_b64_encode_f32: makes blocks of floats, for formats that say how: blocks = encode(src), in f32. */
extern const qk_kernel qk_nf4_b64_encode_f32_vulkan;
extern const qk_kernel qk_nf4_b64_encode_f32_metal;
qk_status qk_nf4_b64_encode_f32(const qk_backend *backend, const qk_range weights[2],
    qk_range src, uint64_t elements, qk_error *error);
void qk_nf4_b64_encode_f32_ref(void *const weights[2],
    uint64_t elements, const float *src);

/* nf4_b64_encode_f16: makes blocks of floats, for formats that say how: blocks = encode(src), in f16. */
extern const qk_kernel qk_nf4_b64_encode_f16_vulkan;
extern const qk_kernel qk_nf4_b64_encode_f16_metal;
qk_status qk_nf4_b64_encode_f16(const qk_backend *backend, const qk_range weights[2],
    qk_range src, uint64_t elements, qk_error *error);
void qk_nf4_b64_encode_f16_ref(void *const weights[2],
    uint64_t elements, const uint16_t *src);

/* nf4_b64_encode_bf16: makes blocks of floats, for formats that say how: blocks = encode(src), in bf16. */
extern const qk_kernel qk_nf4_b64_encode_bf16_vulkan;
extern const qk_kernel qk_nf4_b64_encode_bf16_metal;
qk_status qk_nf4_b64_encode_bf16(const qk_backend *backend, const qk_range weights[2],
    qk_range src, uint64_t elements, qk_error *error);
void qk_nf4_b64_encode_bf16_ref(void *const weights[2],
    uint64_t elements, const uint16_t *src);

/* nf4_b64_set_rows_f32: makes rows of blocks of floats: row indices[t] of the blocks = encode(src[t]), in f32. */
extern const qk_kernel qk_nf4_b64_set_rows_f32_vulkan;
extern const qk_kernel qk_nf4_b64_set_rows_f32_metal;
qk_status qk_nf4_b64_set_rows_f32(const qk_backend *backend, const qk_range weights[2],
    qk_range indices, qk_range src, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_nf4_b64_set_rows_f32_ref(void *const weights[2],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, const float *src);

/* nf4_b64_set_rows_f16: makes rows of blocks of floats: row indices[t] of the blocks = encode(src[t]), in f16. */
extern const qk_kernel qk_nf4_b64_set_rows_f16_vulkan;
extern const qk_kernel qk_nf4_b64_set_rows_f16_metal;
qk_status qk_nf4_b64_set_rows_f16(const qk_backend *backend, const qk_range weights[2],
    qk_range indices, qk_range src, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_nf4_b64_set_rows_f16_ref(void *const weights[2],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, const uint16_t *src);

/* nf4_b64_set_rows_bf16: makes rows of blocks of floats: row indices[t] of the blocks = encode(src[t]), in bf16. */
extern const qk_kernel qk_nf4_b64_set_rows_bf16_vulkan;
extern const qk_kernel qk_nf4_b64_set_rows_bf16_metal;
qk_status qk_nf4_b64_set_rows_bf16(const qk_backend *backend, const qk_range weights[2],
    qk_range indices, qk_range src, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_nf4_b64_set_rows_bf16_ref(void *const weights[2],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, const uint16_t *src);

#ifdef __cplusplus
}
#endif
#endif
