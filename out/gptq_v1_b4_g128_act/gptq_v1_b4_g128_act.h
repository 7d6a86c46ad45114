/* gptq_v1_b4_g128_act: kernels, dispatch and reference decoder of the format.
 * Generated from the specification below by `qkgen emit --format gptq_v1_b4_g128_act`; do not edit.
 * Licence: none of qkgen's applies; this text is under that of its specification, or yours.
 * 2640 bytes for 4096 elements, 4.156 bits each.
 * dequant in f32: for each weight 0.52 bytes read and 4 written, 16.9 operations: 1.75 loads, 5.25 bits, 6.88 integer, 1 float, 2
 * conversions.
 * gather in f32: for each weight 0.52 bytes read and 4 written, 26 operations: 3.25 loads, 5.25 bits, 14.5 integer, 1 float, 2 conversions.
 * gemv in f32: for each weight 0.52 bytes read, 15.8 operations: 1.34 loads, 5 bits, 4.53 integer, 2.95 float, 2 conversions.
 *     format gptq_v1_b{bits}_g{group}_act "GPTQ with reordered groups: an index says the group of each input"
 *     from "AutoGPTQ, GPTQModel: qlinear with desc_act, checkpoints of version 1"
 *     for bits in 2 3 4 8, group in 32 64 128
 *     block 32 x group ragged {
 *         buffer qweight[cols][rows] { w: u32[32][group * bits / 32] }
 *         buffer qzeros[g][rows]     { zs: u32[bits][1] }
 *         buffer scales[g][rows]     { d: f16[32][1] }
 *         buffer g_idx[cols]         { groups: u32[group] }
 *     }
 *     code q                = w      { bits @ 0 (32 * group:bits) }
 *     code z per group      = zs     { bits @ 0 (32:bits) }
 *     code s: f16 per group = d      { 16 @ 0 (32:16) }
 *     code g                = groups { 32 @ 0 (group:32) }
 *     value = (q - (z + 1 & (1 << bits) - 1)) * s
 *
 * Here bits = 4, group = 128.
 */
#ifndef QK_gptq_v1_b4_g128_act_KERNELS_H
#define QK_gptq_v1_b4_g128_act_KERNELS_H

#include <qkgen/kernel.h>

#if QK_ABI_VERSION != 22
#error "made for version 22 of qkgen/kernel.h, and this is another: generate it again, with the qkgen of these headers"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* All descriptors below, for qkgen/registry.h. */
extern const qk_kernel_set qk_gptq_v1_b4_g128_act_kernels;

/* gptq_v1_b4_g128_act_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32. */
extern const qk_kernel qk_gptq_v1_b4_g128_act_dequant_f32_vulkan;
extern const qk_kernel qk_gptq_v1_b4_g128_act_dequant_f32_metal;
qk_status qk_gptq_v1_b4_g128_act_dequant_f32(const qk_backend *backend, const qk_range weights[4],
    qk_range dst, uint64_t rows, uint64_t cols, qk_error *error);
void qk_gptq_v1_b4_g128_act_dequant_f32_ref(const void *const weights[4],
    uint64_t rows, uint64_t cols, float *dst);

/* gptq_v1_b4_g128_act_dequant_f16: decodes a whole tensor: dst[i] = value(i), in f16. */
extern const qk_kernel qk_gptq_v1_b4_g128_act_dequant_f16_vulkan;
extern const qk_kernel qk_gptq_v1_b4_g128_act_dequant_f16_metal;
qk_status qk_gptq_v1_b4_g128_act_dequant_f16(const qk_backend *backend, const qk_range weights[4],
    qk_range dst, uint64_t rows, uint64_t cols, qk_error *error);
void qk_gptq_v1_b4_g128_act_dequant_f16_ref(const void *const weights[4],
    uint64_t rows, uint64_t cols, uint16_t *dst);

/* gptq_v1_b4_g128_act_dequant_bf16: decodes a whole tensor: dst[i] = value(i), in bf16. */
extern const qk_kernel qk_gptq_v1_b4_g128_act_dequant_bf16_vulkan;
extern const qk_kernel qk_gptq_v1_b4_g128_act_dequant_bf16_metal;
qk_status qk_gptq_v1_b4_g128_act_dequant_bf16(const qk_backend *backend, const qk_range weights[4],
    qk_range dst, uint64_t rows, uint64_t cols, qk_error *error);
void qk_gptq_v1_b4_g128_act_dequant_bf16_ref(const void *const weights[4],
    uint64_t rows, uint64_t cols, uint16_t *dst);

/* gptq_v1_b4_g128_act_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32. */
extern const qk_kernel qk_gptq_v1_b4_g128_act_gather_f32_vulkan;
extern const qk_kernel qk_gptq_v1_b4_g128_act_gather_f32_metal;
qk_status qk_gptq_v1_b4_g128_act_gather_f32(const qk_backend *backend, const qk_range weights[4],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_gptq_v1_b4_g128_act_gather_f32_ref(const void *const weights[4],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, float *dst);

/* gptq_v1_b4_g128_act_gather_f16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16. */
extern const qk_kernel qk_gptq_v1_b4_g128_act_gather_f16_vulkan;
extern const qk_kernel qk_gptq_v1_b4_g128_act_gather_f16_metal;
qk_status qk_gptq_v1_b4_g128_act_gather_f16(const qk_backend *backend, const qk_range weights[4],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_gptq_v1_b4_g128_act_gather_f16_ref(const void *const weights[4],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, uint16_t *dst);

/* gptq_v1_b4_g128_act_gather_bf16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in bf16. */
extern const qk_kernel qk_gptq_v1_b4_g128_act_gather_bf16_vulkan;
extern const qk_kernel qk_gptq_v1_b4_g128_act_gather_bf16_metal;
qk_status qk_gptq_v1_b4_g128_act_gather_bf16(const qk_backend *backend, const qk_range weights[4],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_gptq_v1_b4_g128_act_gather_bf16_ref(const void *const weights[4],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, uint16_t *dst);

/* gptq_v1_b4_g128_act_gemv_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32. */
extern const qk_kernel qk_gptq_v1_b4_g128_act_gemv_f32_vulkan;
extern const qk_kernel qk_gptq_v1_b4_g128_act_gemv_f32_metal;
qk_status qk_gptq_v1_b4_g128_act_gemv_f32(const qk_backend *backend, const qk_range weights[4],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);
void qk_gptq_v1_b4_g128_act_gemv_f32_ref(const void *const weights[4],
    const float *x, uint64_t rows, uint64_t cols, uint64_t batch, float *y);

/* gptq_v1_b4_g128_act_gemv_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16. */
extern const qk_kernel qk_gptq_v1_b4_g128_act_gemv_f16_vulkan;
extern const qk_kernel qk_gptq_v1_b4_g128_act_gemv_f16_metal;
qk_status qk_gptq_v1_b4_g128_act_gemv_f16(const qk_backend *backend, const qk_range weights[4],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);
void qk_gptq_v1_b4_g128_act_gemv_f16_ref(const void *const weights[4],
    const uint16_t *x, uint64_t rows, uint64_t cols, uint64_t batch, float *y);

#ifdef __cplusplus
}
#endif
#endif
