/* qkgen/vulkan_limits.h: qk_limits from what Vulkan says of a device. Needs no Vulkan header; C11 and C++11. */
#ifndef QKGEN_VULKAN_LIMITS_H
#define QKGEN_VULKAN_LIMITS_H

#include "kernel.h"

/* Sets the limits of `to`, a qk_limits, from a VkPhysicalDeviceLimits, or Vulkan-Hpp's. */
#define QK_TAKE_VULKAN_LIMITS(to, from)                                                                                \
    ((to).storage_range = (from).maxStorageBufferRange,                                                                \
     (to).offset_alignment = (uint32_t)(from).minStorageBufferOffsetAlignment,                                         \
     (to).workgroup_count = (from).maxComputeWorkGroupCount[0],                                                        \
     (to).workgroup_size = (from).maxComputeWorkGroupSize[0] < (from).maxComputeWorkGroupInvocations                   \
                               ? (from).maxComputeWorkGroupSize[0]                                                     \
                               : (from).maxComputeWorkGroupInvocations,                                                \
     (to).push_bytes = (from).maxPushConstantsSize, (to).shared_bytes = (from).maxComputeSharedMemorySize)

/* qk_limits.loop_steps of Mesa's llvmpipe: what it lets a thread take, of all its loops together; it ends the loop there and goes on
 * behind it (the constant LP_MAX_TGSI_LOOP_ITERATIONS of its sources). */
#define QK_LLVMPIPE_LOOP_STEPS 65535u

/* qk_limits.busy_workgroups of a device with so many multiprocessors, of which each holds 5, of about 96 registers
 * a thread; 0 where that is not known. A processor's cores take workgroups one
 * after the other, and each costs something. */
static inline uint32_t qk_busy_workgroups(int is_cpu, uint32_t multiprocessors) {
    return is_cpu ? 16 : 5 * multiprocessors;
}

/* What follows from the kind of a device. */
static inline void qk_take_kind(qk_limits *limits, int is_cpu, int is_llvmpipe, uint32_t multiprocessors) {
    limits->busy_workgroups = qk_busy_workgroups(is_cpu, multiprocessors);
    limits->loop_steps = is_llvmpipe ? QK_LLVMPIPE_LOOP_STEPS : 0;
}

/* Features of a device that an engine opened with storage of 8 and 16 bits, and these; matrices are asked for (qkgen/matrix_order.h). */
static inline uint32_t qk_vulkan_features(int sums_in_subgroups, int shuffles, int float16, int dot_products) {
    return QK_FEATURE_STORAGE_8BIT | QK_FEATURE_STORAGE_16BIT |
           (sums_in_subgroups ? (uint32_t)QK_FEATURE_SUBGROUP_ARITHMETIC : 0) |
           (shuffles ? (uint32_t)QK_FEATURE_SUBGROUP_SHUFFLE : 0) | (float16 ? (uint32_t)QK_FEATURE_FLOAT16 : 0) |
           (dot_products ? (uint32_t)QK_FEATURE_INTEGER_DOT_PRODUCT : 0);
}

#endif
