/* mlx_mxfp4: kernels, dispatch and reference decoder of the format.
 * Generated from the specification below by `qkgen emit --format mlx_mxfp4`; do not edit.
 * 17 bytes for 32 elements, 4.25 bits each.
 * dequant, gather in f32: for each weight 0.531 bytes read and 4 written, 12.8 operations: 0.5 loads, 7.5 bits, 1.75 integer, 2 float, 1 conversions.
 * gemv, gemv_id in f32: for each weight 0.531 bytes read, 11.3 operations: 0.0469 loads, 7.09 bits, 0.156 integer, 3.03 float, 1 conversions.
 *
 *     format mlx_mxfp4 "E2M1 codes in one bit stream, a power of two for 32"
 *     from "MLX, mlx.core.quantize with mode='mxfp4'"
 *
 *     block 32 {
 *         buffer weight { w: u32[4] }
 *         buffer scales { e: u8 }
 *     }
 *
 *     code q: e2m1 = w { 4 @ 0 (32:4) }
 *
 *     value = q * f32(e == 0 ? 4194304 : e << 23)    # 0 is 2^-127, 255 is infinity
 */
#ifndef QK_mlx_mxfp4_KERNELS_H
#define QK_mlx_mxfp4_KERNELS_H

#include <qkgen/kernel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* mlx_mxfp4_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32. */
extern const qk_kernel qk_mlx_mxfp4_dequant_f32_vulkan;
extern const qk_kernel qk_mlx_mxfp4_dequant_f32_metal;
qk_status qk_mlx_mxfp4_dequant_f32(const qk_backend *backend, const qk_range weights[2],
    qk_range dst, uint64_t elements, qk_error *error);
void qk_mlx_mxfp4_dequant_f32_ref(const void *const weights[2],
    uint64_t elements, float *dst);

/* mlx_mxfp4_dequant_f16: decodes a whole tensor: dst[i] = value(i), in f16. */
extern const qk_kernel qk_mlx_mxfp4_dequant_f16_vulkan;
extern const qk_kernel qk_mlx_mxfp4_dequant_f16_metal;
qk_status qk_mlx_mxfp4_dequant_f16(const qk_backend *backend, const qk_range weights[2],
    qk_range dst, uint64_t elements, qk_error *error);
void qk_mlx_mxfp4_dequant_f16_ref(const void *const weights[2],
    uint64_t elements, uint16_t *dst);

/* mlx_mxfp4_dequant_bf16: decodes a whole tensor: dst[i] = value(i), in bf16. */
extern const qk_kernel qk_mlx_mxfp4_dequant_bf16_vulkan;
extern const qk_kernel qk_mlx_mxfp4_dequant_bf16_metal;
qk_status qk_mlx_mxfp4_dequant_bf16(const qk_backend *backend, const qk_range weights[2],
    qk_range dst, uint64_t elements, qk_error *error);
void qk_mlx_mxfp4_dequant_bf16_ref(const void *const weights[2],
    uint64_t elements, uint16_t *dst);

/* mlx_mxfp4_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32. */
extern const qk_kernel qk_mlx_mxfp4_gather_f32_vulkan;
extern const qk_kernel qk_mlx_mxfp4_gather_f32_metal;
qk_status qk_mlx_mxfp4_gather_f32(const qk_backend *backend, const qk_range weights[2],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_mlx_mxfp4_gather_f32_ref(const void *const weights[2],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, float *dst);

/* mlx_mxfp4_gather_f16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16. */
extern const qk_kernel qk_mlx_mxfp4_gather_f16_vulkan;
extern const qk_kernel qk_mlx_mxfp4_gather_f16_metal;
qk_status qk_mlx_mxfp4_gather_f16(const qk_backend *backend, const qk_range weights[2],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_mlx_mxfp4_gather_f16_ref(const void *const weights[2],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, uint16_t *dst);

/* mlx_mxfp4_gather_bf16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in bf16. */
extern const qk_kernel qk_mlx_mxfp4_gather_bf16_vulkan;
extern const qk_kernel qk_mlx_mxfp4_gather_bf16_metal;
qk_status qk_mlx_mxfp4_gather_bf16(const qk_backend *backend, const qk_range weights[2],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_mlx_mxfp4_gather_bf16_ref(const void *const weights[2],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, uint16_t *dst);

/* mlx_mxfp4_gemv_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32. */
extern const qk_kernel qk_mlx_mxfp4_gemv_f32_vulkan;
extern const qk_kernel qk_mlx_mxfp4_gemv_f32_metal;
qk_status qk_mlx_mxfp4_gemv_f32(const qk_backend *backend, const qk_range weights[2],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);
void qk_mlx_mxfp4_gemv_f32_ref(const void *const weights[2],
    const float *x, uint64_t rows, uint64_t cols, uint64_t batch, float *y);

/* mlx_mxfp4_gemv_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16. */
extern const qk_kernel qk_mlx_mxfp4_gemv_f16_vulkan;
extern const qk_kernel qk_mlx_mxfp4_gemv_f16_metal;
qk_status qk_mlx_mxfp4_gemv_f16(const qk_backend *backend, const qk_range weights[2],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);
void qk_mlx_mxfp4_gemv_f16_ref(const void *const weights[2],
    const uint16_t *x, uint64_t rows, uint64_t cols, uint64_t batch, float *y);

/* mlx_mxfp4_gemv_id_f32: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][k], in f32. */
extern const qk_kernel qk_mlx_mxfp4_gemv_id_f32_vulkan;
extern const qk_kernel qk_mlx_mxfp4_gemv_id_f32_metal;
qk_status qk_mlx_mxfp4_gemv_id_f32(const qk_backend *backend, const qk_range weights[2],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, qk_error *error);
uint64_t qk_mlx_mxfp4_gemv_id_f32_ref(const void *const weights[2],
    const float *x, const uint32_t *ids, uint64_t experts, uint64_t rows, uint64_t cols,
    uint64_t tokens, uint64_t slots, float *y);

/* mlx_mxfp4_gemv_id_f16: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][k], in f16. */
extern const qk_kernel qk_mlx_mxfp4_gemv_id_f16_vulkan;
extern const qk_kernel qk_mlx_mxfp4_gemv_id_f16_metal;
qk_status qk_mlx_mxfp4_gemv_id_f16(const qk_backend *backend, const qk_range weights[2],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, qk_error *error);
uint64_t qk_mlx_mxfp4_gemv_id_f16_ref(const void *const weights[2],
    const uint16_t *x, const uint32_t *ids, uint64_t experts, uint64_t rows, uint64_t cols,
    uint64_t tokens, uint64_t slots, float *y);

#ifdef __cplusplus
}
#endif
#endif
