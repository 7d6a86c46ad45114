/* q4_K: kernels, dispatch and reference decoder of the format.
 * Generated from the specification below by `qkgen emit --format q4_K`; do not edit.
 * Licence: none of qkgen's applies; this text is under that of its specification, or yours.
 * 144 bytes for 256 elements, 4.5 bits each.
 * dequant, gather in f32: for each weight 0.562 bytes read and 4 written, 12.8 operations: 0.75 loads, 5.12 bits, 2.62 integer, 2.5 float,
 * 1.75 conversions.
 * gemv, gemv_id in f32: for each weight 0.562 bytes read, 4.17 operations: 0.0781 loads, 1.02 bits, 0.328 integer, 2.16 float, 0.594
 * conversions.
 *     format q4_K "4-bit codes, 6-bit scales and minimums in groups of 32"
 *     from "ggml (llama.cpp), ggml-common.h"
 *     block 256 {
 *         d:      f16
 *         dmin:   f16
 *         scales: u8[12]
 *         qs:     u8[128]
 *     }
 *     # Groups 0 to 3 have their six bits in one byte; groups 4 to 7 borrow the two high bits of those bytes.
 *     code sc per 32 = scales { 4 @ 0 (4:8, 2:64)   2 @ 4 (4:8, 2:2) }
 *     code mn per 32 = scales { 4 @ 32 (4:8, 2:36)  2 @ 36 (4:8, 2:2) }
 *     # 32 low nibbles, 32 high nibbles, and so on in steps of 32 bytes.
 *     code q = qs { 4 @ 0 (32:8, 2:4, 4:256) }
 *     value = d * sc * q - dmin * mn
 *     # ggml's quantize_row_q4_K_ref. For each group 22 steps are tried: each gives codes, and the codes a scale and a minimum by weighted
 *     # least squares; those with the least error are kept. Scales and minimums are then rounded to 6 bits, and all codes made again.
 *     encode {
 *         mean per 32 = sqrt(sum(x * x) / 32.0)
 *         w per 1 = mean + abs(x)
 *         lo per 32 = min(min(x), 0.0)
 *         hi per 32 = max(x)
 *         sw per 32 = sum(w)
 *         sx per 32 = sum(w * x)
 *         best per 32 of t in 22 {
 *             base = t == 0 ? lo : kept(low)
 *             r = (t == 0 ? 15.0 : -1.0 + 0.1 * (t - 1) + 15.0) / (hi - base)
 *             l per 1 = even(r * (x - base), 0, 15)
 *             sl = sum(w * l)
 *             sll = sum(w * l * l)
 *             sxl = sum(w * l * x)
 *             det = sw * sll - sl * sl
 *             m = (sll * sx - sl * sxl) / det
 *             g = t == 0 ? 1.0 / r : m > 0.0 ? sxl / sll : (sw * sxl - sx * sl) / det
 *             low = t == 0 ? lo : m > 0.0 ? 0.0 : m
 *             off per 1 = g * l + low - x
 *             error = sum(w * (off * off))
 *         } where (det > 0.0 ? error : kept(error)) < kept(error)
 *         same per 32 = hi == lo ? 1 : 0
 *         gf per 32 = same ? 0.0 : g
 *         mf per 32 = same ? -lo : -low
 *         gs = max(0.0, max(gf))
 *         ms = max(0.0, max(mf))
 *         gr = gs > 0.0 ? 63.0 / gs : 0.0
 *         mr = ms > 0.0 ? 63.0 / ms : 0.0
 *         d = gs / 63.0
 *         dmin = ms / 63.0
 *         sc = min(even(gr * gf, -128, 63) & 255, 63)    # a scale below 0, which is rare, becomes 63
 *         mn = even(mr * mf, 0, 63)
 *         ds per 32 = d * sc
 *         dm per 32 = dmin * mn
 *         q = ds == 0.0 ? (same ? 0 : even(r * (x - base), 0, 15)) : even((x + dm) / ds, 0, 15)
 *     }
 */
#ifndef QK_q4_K_KERNELS_H
#define QK_q4_K_KERNELS_H

#include <qkgen/kernel.h>

#if QK_ABI_VERSION != 22
#error "made for version 22 of qkgen/kernel.h, and this is another: generate it again, with the qkgen of these headers"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* All descriptors below, for qkgen/registry.h. */
extern const qk_kernel_set qk_q4_K_kernels;

/* q4_K_dequant_f32: decodes a whole tensor: dst[i] = value(i), in f32. */
extern const qk_kernel qk_q4_K_dequant_f32_vulkan;
extern const qk_kernel qk_q4_K_dequant_f32_metal;
qk_status qk_q4_K_dequant_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range dst, uint64_t elements, qk_error *error);
void qk_q4_K_dequant_f32_ref(const void *const weights[1],
    uint64_t elements, float *dst);

/* q4_K_dequant_f16: decodes a whole tensor: dst[i] = value(i), in f16. */
extern const qk_kernel qk_q4_K_dequant_f16_vulkan;
extern const qk_kernel qk_q4_K_dequant_f16_metal;
qk_status qk_q4_K_dequant_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range dst, uint64_t elements, qk_error *error);
void qk_q4_K_dequant_f16_ref(const void *const weights[1],
    uint64_t elements, uint16_t *dst);

/* q4_K_dequant_bf16: decodes a whole tensor: dst[i] = value(i), in bf16. */
extern const qk_kernel qk_q4_K_dequant_bf16_vulkan;
extern const qk_kernel qk_q4_K_dequant_bf16_metal;
qk_status qk_q4_K_dequant_bf16(const qk_backend *backend, const qk_range weights[1],
    qk_range dst, uint64_t elements, qk_error *error);
void qk_q4_K_dequant_bf16_ref(const void *const weights[1],
    uint64_t elements, uint16_t *dst);

/* q4_K_gather_f32: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f32. */
extern const qk_kernel qk_q4_K_gather_f32_vulkan;
extern const qk_kernel qk_q4_K_gather_f32_metal;
qk_status qk_q4_K_gather_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_q4_K_gather_f32_ref(const void *const weights[1],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, float *dst);

/* q4_K_gather_f16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in f16. */
extern const qk_kernel qk_q4_K_gather_f16_vulkan;
extern const qk_kernel qk_q4_K_gather_f16_metal;
qk_status qk_q4_K_gather_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_q4_K_gather_f16_ref(const void *const weights[1],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, uint16_t *dst);

/* q4_K_gather_bf16: decodes rows of an embedding table: dst[t][d] = value of row indices[t], element d, in bf16. */
extern const qk_kernel qk_q4_K_gather_bf16_vulkan;
extern const qk_kernel qk_q4_K_gather_bf16_metal;
qk_status qk_q4_K_gather_bf16(const qk_backend *backend, const qk_range weights[1],
    qk_range indices, qk_range dst, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_q4_K_gather_bf16_ref(const void *const weights[1],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, uint16_t *dst);

/* q4_K_gemv_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32. */
extern const qk_kernel qk_q4_K_gemv_f32_vulkan;
extern const qk_kernel qk_q4_K_gemv_f32_metal;
qk_status qk_q4_K_gemv_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);
void qk_q4_K_gemv_f32_ref(const void *const weights[1],
    const float *x, uint64_t rows, uint64_t cols, uint64_t batch, float *y);

/* q4_K_gemv_int8_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32; class int8. */
extern const qk_kernel qk_q4_K_gemv_int8_f32_vulkan;
qk_status qk_q4_K_gemv_int8_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* q4_K_gemv_split_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32; class split. */
extern const qk_kernel qk_q4_K_gemv_split_f32_vulkan;
qk_status qk_q4_K_gemv_split_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* q4_K_gemv_int24_f32: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f32; class int24. */
extern const qk_kernel qk_q4_K_gemv_int24_f32_vulkan;
qk_status qk_q4_K_gemv_int24_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* q4_K_gemv_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16. */
extern const qk_kernel qk_q4_K_gemv_f16_vulkan;
extern const qk_kernel qk_q4_K_gemv_f16_metal;
qk_status qk_q4_K_gemv_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);
void qk_q4_K_gemv_f16_ref(const void *const weights[1],
    const uint16_t *x, uint64_t rows, uint64_t cols, uint64_t batch, float *y);

/* q4_K_gemv_int8_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16; class int8. */
extern const qk_kernel qk_q4_K_gemv_int8_f16_vulkan;
qk_status qk_q4_K_gemv_int8_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* q4_K_gemv_split_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16; class split. */
extern const qk_kernel qk_q4_K_gemv_split_f16_vulkan;
qk_status qk_q4_K_gemv_split_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* q4_K_gemv_int24_f16: matrix times vectors: y[m][n] = sum over k of value(n, k) * x[m][k], in f16; class int24. */
extern const qk_kernel qk_q4_K_gemv_int24_f16_vulkan;
qk_status qk_q4_K_gemv_int24_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range y, uint64_t rows, uint64_t cols, uint64_t batch, qk_error *error);

/* q4_K_gemv_id_f32: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f32. */
extern const qk_kernel qk_q4_K_gemv_id_f32_vulkan;
extern const qk_kernel qk_q4_K_gemv_id_f32_metal;
qk_status qk_q4_K_gemv_id_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);
uint64_t qk_q4_K_gemv_id_f32_ref(const void *const weights[1],
    const float *x, const uint32_t *ids, uint64_t experts, uint64_t rows, uint64_t cols,
    uint64_t tokens, uint64_t slots, uint64_t x_slots, float *y);

/* q4_K_gemv_id_int8_f32: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f32; class int8. */
extern const qk_kernel qk_q4_K_gemv_id_int8_f32_vulkan;
qk_status qk_q4_K_gemv_id_int8_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);

/* q4_K_gemv_id_split_f32: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f32; class split. */
extern const qk_kernel qk_q4_K_gemv_id_split_f32_vulkan;
qk_status qk_q4_K_gemv_id_split_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);

/* q4_K_gemv_id_int24_f32: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f32; class int24. */
extern const qk_kernel qk_q4_K_gemv_id_int24_f32_vulkan;
qk_status qk_q4_K_gemv_id_int24_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);

/* q4_K_gemv_id_f16: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f16. */
extern const qk_kernel qk_q4_K_gemv_id_f16_vulkan;
extern const qk_kernel qk_q4_K_gemv_id_f16_metal;
qk_status qk_q4_K_gemv_id_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);
uint64_t qk_q4_K_gemv_id_f16_ref(const void *const weights[1],
    const uint16_t *x, const uint32_t *ids, uint64_t experts, uint64_t rows, uint64_t cols,
    uint64_t tokens, uint64_t slots, uint64_t x_slots, float *y);

/* q4_K_gemv_id_int8_f16: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f16; class int8. */
extern const qk_kernel qk_q4_K_gemv_id_int8_f16_vulkan;
qk_status qk_q4_K_gemv_id_int8_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);

/* q4_K_gemv_id_split_f16: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f16; class split. */
extern const qk_kernel qk_q4_K_gemv_id_split_f16_vulkan;
qk_status qk_q4_K_gemv_id_split_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);

/* q4_K_gemv_id_int24_f16: experts times vectors: y[t][s][n] = sum over k of value(ids[t][s], n, k) * x[t][s][k], in f16; class int24. */
extern const qk_kernel qk_q4_K_gemv_id_int24_f16_vulkan;
qk_status qk_q4_K_gemv_id_int24_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range x, qk_range ids, qk_range y, qk_range status, uint64_t experts,
    uint64_t rows, uint64_t cols, uint64_t tokens, uint64_t slots, uint64_t x_slots, qk_error *error);

/* q4_K_encode_f32: makes blocks of floats, for formats that say how: blocks = encode(src), in f32. */
extern const qk_kernel qk_q4_K_encode_f32_vulkan;
extern const qk_kernel qk_q4_K_encode_f32_metal;
qk_status qk_q4_K_encode_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range src, uint64_t elements, qk_error *error);
void qk_q4_K_encode_f32_ref(void *const weights[1],
    uint64_t elements, const float *src);

/* q4_K_encode_f16: makes blocks of floats, for formats that say how: blocks = encode(src), in f16. */
extern const qk_kernel qk_q4_K_encode_f16_vulkan;
extern const qk_kernel qk_q4_K_encode_f16_metal;
qk_status qk_q4_K_encode_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range src, uint64_t elements, qk_error *error);
void qk_q4_K_encode_f16_ref(void *const weights[1],
    uint64_t elements, const uint16_t *src);

/* q4_K_encode_bf16: makes blocks of floats, for formats that say how: blocks = encode(src), in bf16. */
extern const qk_kernel qk_q4_K_encode_bf16_vulkan;
extern const qk_kernel qk_q4_K_encode_bf16_metal;
qk_status qk_q4_K_encode_bf16(const qk_backend *backend, const qk_range weights[1],
    qk_range src, uint64_t elements, qk_error *error);
void qk_q4_K_encode_bf16_ref(void *const weights[1],
    uint64_t elements, const uint16_t *src);

/* q4_K_set_rows_f32: makes rows of blocks of floats: row indices[t] of the blocks = encode(src[t]), in f32. */
extern const qk_kernel qk_q4_K_set_rows_f32_vulkan;
extern const qk_kernel qk_q4_K_set_rows_f32_metal;
qk_status qk_q4_K_set_rows_f32(const qk_backend *backend, const qk_range weights[1],
    qk_range indices, qk_range src, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_q4_K_set_rows_f32_ref(void *const weights[1],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, const float *src);

/* q4_K_set_rows_f16: makes rows of blocks of floats: row indices[t] of the blocks = encode(src[t]), in f16. */
extern const qk_kernel qk_q4_K_set_rows_f16_vulkan;
extern const qk_kernel qk_q4_K_set_rows_f16_metal;
qk_status qk_q4_K_set_rows_f16(const qk_backend *backend, const qk_range weights[1],
    qk_range indices, qk_range src, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_q4_K_set_rows_f16_ref(void *const weights[1],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, const uint16_t *src);

/* q4_K_set_rows_bf16: makes rows of blocks of floats: row indices[t] of the blocks = encode(src[t]), in bf16. */
extern const qk_kernel qk_q4_K_set_rows_bf16_vulkan;
extern const qk_kernel qk_q4_K_set_rows_bf16_metal;
qk_status qk_q4_K_set_rows_bf16(const qk_backend *backend, const qk_range weights[1],
    qk_range indices, qk_range src, qk_range status, uint64_t rows, uint64_t cols, uint64_t tokens, qk_error *error);
uint64_t qk_q4_K_set_rows_bf16_ref(void *const weights[1],
    const uint32_t *indices, uint64_t rows, uint64_t cols, uint64_t tokens, const uint16_t *src);

#ifdef __cplusplus
}
#endif
#endif
