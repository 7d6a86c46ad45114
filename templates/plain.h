@{banner}
#ifndef QK_@{set}_KERNELS_H
#define QK_@{set}_KERNELS_H

@{kernel_types}

@if abi
#if QK_ABI_VERSION != @{abi}
#error "made for version @{abi} of qkgen/kernel.h, and this is another: generate it again, with the qkgen of these headers"
#endif

@end
#ifdef __cplusplus
extern "C" {
#endif

@{declarations}

#ifdef __cplusplus
}
#endif
#endif
