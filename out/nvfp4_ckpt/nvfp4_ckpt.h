/* nvfp4_ckpt: kernels, dispatch and reference decoder of the format.
 * Generated from the specification below by `qkgen emit --format nvfp4_ckpt`; do not edit.
 * Licence: none of qkgen's applies; this text is under that of its specification, or yours.
 * 13 bytes for 16 elements, 4.5 bits each.
 * dequant, gather in f32: for each weight 0.562 bytes read and 4 written, 16 operations: 0.75 loads, 8.5 bits, 3 integer, 2.5 float, 1.25
 * conversions.
 * gemv in f32: for each weight 0.562 bytes read, 5.75 operations: 0.0625 loads, 2.78 bits, 0.156 integer, 2.19 float, 0.562 conversions.
 * gemv_id in f32: for each weight 0.562 bytes read, 6.75 operations: 0.25 loads, 2.69 bits, 1.06 integer, 2.19 float, 0.562 conversions.
 *     format nvfp4_ckpt "NVFP4 checkpoints: E2M1 codes, E4M3 scales for 16, and a scale for the tensor"
 *     from "NVIDIA ModelOpt: NVFP4"
 *     block 1 x 16 {
 *         buffer weight           { w: u8[8] }
 *         buffer weight_scale     { s: e4m3 }
 *         buffer weight_scale_2[] { t: f32 }
 *     }
 *     code q: e2m1 = w { 4 @ 0 (16:4) }
 *     value = q * (s * t)
 */
#ifndef QK_nvfp4_ckpt_KERNELS_H
#define QK_nvfp4_ckpt_KERNELS_H

#include <qkgen/kernel.h>

#if QK_ABI_VERSION != 22
#error "made for version 22 of qkgen/kernel.h, and this is another: generate it again, with the qkgen of these headers"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* All descriptors below, for qkgen/registry.h. */
extern const qk_kernel_set qk_nvfp4_ckpt_kernels;

/* nvfp4_ckpt_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32. */
extern const qk_kernel qk_nvfp4_ckpt_dequant_f32_vulkan;
extern const qk_kernel qk_nvfp4_ckpt_dequant_f32_metal;
qk_status qk_nvfp4_ckpt_dequant_f32(const qk_backend *backend, const qk_range weights[3],
    qk_range dst, uint64_t rows, uint64_t cols, qk_error *error);
void qk_nvfp4_ckpt_dequant_f32_ref(const void *const weights[3],
    uint64_t rows, uint64_t cols, float *dst);

/* nvfp4_ckpt_dequant_f16: decodes a whole tensor: dst[i] = value(i), in f16. */
extern const qk_kernel qk_nvfp4_ckpt_dequant_f16_vulkan;
extern const qk_kernel qk_nvfp4_ckpt_dequant_f16_metal;
qk_status qk_nvfp4_ckpt_dequant_f16(const qk_backend *backend, const qk_range weights[3],
    qk_range dst, uint64_t rows, uint64_t cols, qk_error *error);
void qk_nvfp4_ckpt_dequant_f16_ref(const void *const weights[3],
    uint64_t rows, uint64_t cols, uint16_t *dst);

/* nvfp4_ckpt_dequant_bf16: decodes a whole tensor: dst[i] = value(i), in bf16. */
extern const qk_kernel qk_nvfp4_ckpt_dequant_bf16_vulkan;
extern const qk_kernel qk_nvfp4_ckpt_dequant_bf16_metal;
qk_status qk_nvfp4_ckpt_dequant_bf16(const qk_backend *backend, const qk_range weights[3],
    qk_range dst, uint64_t rows, uint64_t cols, qk_error *error);
void qk_nvfp4_ckpt_dequant_bf16_ref(const void *const weights[3],
    uint64_t rows, uint64_t cols, uint16_t *dst);

/* nvfp4_ckpt_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32. */
extern const qk_kernel qk_nvfp4_ckpt_gather_f32_vulkan;
extern const qk_kernel qk_nvfp4_ckpt_gather_f32_metal;
qk_status qk_nvfp4_ckpt_gather_f32(const qk_backend *backend, const qk_range weights[3],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_nvfp4_ckpt_gather_f32_ref(const void *const weights[3],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, float *dst);

/* nvfp4_ckpt_gather_f16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16. */
extern const qk_kernel qk_nvfp4_ckpt_gather_f16_vulkan;
extern const qk_kernel qk_nvfp4_ckpt_gather_f16_metal;
qk_status qk_nvfp4_ckpt_gather_f16(const qk_backend *backend, const qk_range weights[3],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_nvfp4_ckpt_gather_f16_ref(const void *const weights[3],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, uint16_t *dst);

/* nvfp4_ckpt_gather_bf16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in bf16. */
extern const qk_kernel qk_nvfp4_ckpt_gather_bf16_vulkan;
extern const qk_kernel qk_nvfp4_ckpt_gather_bf16_metal;
qk_status qk_nvfp4_ckpt_gather_bf16(const qk_backend *backend, const qk_range weights[3],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_nvfp4_ckpt_gather_bf16_ref(const void *const weights[3],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, uint16_t *dst);

/* nvfp4_ckpt_gemv_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32. */
extern const qk_kernel qk_nvfp4_ckpt_gemv_f32_vulkan;
extern const qk_kernel qk_nvfp4_ckpt_gemv_f32_metal;
qk_status qk_nvfp4_ckpt_gemv_f32(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);
void qk_nvfp4_ckpt_gemv_f32_ref(const void *const weights[3],
    const float *x, uint64_t rows, uint64_t cols, uint64_t batch, float *y);

/* nvfp4_ckpt_gemv_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16. */
extern const qk_kernel qk_nvfp4_ckpt_gemv_f16_vulkan;
extern const qk_kernel qk_nvfp4_ckpt_gemv_f16_metal;
qk_status qk_nvfp4_ckpt_gemv_f16(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);
void qk_nvfp4_ckpt_gemv_f16_ref(const void *const weights[3],
    const uint16_t *x, uint64_t rows, uint64_t cols, uint64_t batch, float *y);

/* nvfp4_ckpt_gemv_id_f32: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f32. */
extern const qk_kernel qk_nvfp4_ckpt_gemv_id_f32_vulkan;
extern const qk_kernel qk_nvfp4_ckpt_gemv_id_f32_metal;
qk_status qk_nvfp4_ckpt_gemv_id_f32(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);
uint64_t qk_nvfp4_ckpt_gemv_id_f32_ref(const void *const weights[3],
    const float *x, const uint32_t *ids, uint64_t experts, uint64_t rows, uint64_t cols,
    uint64_t tokens, uint64_t slots, uint64_t x_slots, float *y);

/* nvfp4_ckpt_gemv_id_f16: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f16. */
extern const qk_kernel qk_nvfp4_ckpt_gemv_id_f16_vulkan;
extern const qk_kernel qk_nvfp4_ckpt_gemv_id_f16_metal;
qk_status qk_nvfp4_ckpt_gemv_id_f16(const qk_backend *backend, const qk_range weights[3],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);
uint64_t qk_nvfp4_ckpt_gemv_id_f16_ref(const void *const weights[3],
    const uint16_t *x, const uint32_t *ids, uint64_t experts, uint64_t rows, uint64_t cols,
    uint64_t tokens, uint64_t slots, uint64_t x_slots, float *y);

#ifdef __cplusplus
}
#endif
#endif
