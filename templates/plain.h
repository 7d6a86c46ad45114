@{banner}
#ifndef QK_@{set}_KERNELS_H
#define QK_@{set}_KERNELS_H

@{kernel_types}

#ifdef __cplusplus
extern "C" {
#endif

@{declarations}

#ifdef __cplusplus
}
#endif
#endif
