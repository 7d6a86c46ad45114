/* nf4_b64: kernels, dispatch and reference decoder of the format.
 * Generated from the specification below by `qkgen emit --format nf4_b64`; do not edit.
 * Licence: none of qkgen's applies; this text is under that of its specification, or yours.
 * 36 bytes for 64 elements, 4.5 bits each.
 * dequant, gather in f32: for each weight 0.562 bytes read and 4 written, 7.25 operations: 0.75 loads, 2.5 bits, 2 integer, 1 float, 1
 * lookups.
 * gemv in f32: for each weight 0.562 bytes read, 5.09 operations: 0.0469 loads, 2 bits, 0.0312 integer, 2.02 float, 1 lookups.
 *
 *     format nf4_b{group} "bitsandbytes NF4: the even element in the high nibble, a scale for each block of the flat tensor"
 *     from "bitsandbytes: Linear4bit with quant_type nf4"
 *     for group in 64 128
 *
 *     block group ragged {
 *         buffer weight { w: u8[group / 2] }
 *         buffer absmax { s: f32 }
 *     }
 *
 *     table N: f32[16] = {
 *         -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453,
 *         -0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0.0,
 *         0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
 *         0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0,
 *     }
 *
 *     code q = w { 4 @ 4 (2:-4, group / 2:8) }
 *
 *     value = N[q] * s
 *
 * Here group = 64.
 */
#ifndef QK_nf4_b64_KERNELS_H
#define QK_nf4_b64_KERNELS_H

#include <qkgen/kernel.h>

#if QK_ABI_VERSION != 16
#error "made for version 16 of qkgen/kernel.h, and this is another: generate it again, with the qkgen of these headers"
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

#ifdef __cplusplus
}
#endif
#endif
