/* Takes kernels as text: prints the Metal text of a format, and decodes a block in C. */
#include "q4_K.h"

#include <qkgen/registry.h>
#include <stdio.h>

int main(void) {
    const qk_kernel_set *const sets[] = {&qk_q4_K_kernels};
    const qk_kernel *kernel = qk_find_kernel(sets, 1, QK_API_METAL, "q4_K", "gemv", NULL, "f16");
    const unsigned char block[144] = {0x00, 0x3c};
    const void *weights = block;
    float values[256];
    qk_q4_K_dequant_f32_ref(&weights, 256, values);
    if (kernel == NULL || values[0] != 0.0f || qk_find_kernel(sets, 1, QK_API_METAL, "q4_K", "gemv", "split", "f16") != NULL) return 1;
    const qk_kernel *classes[4];
    if (qk_find_classes(sets, 1, QK_API_METAL, "q4_K", "gemv", "f16", classes, 4) != 1 || classes[0] != kernel) return 1;
    fputs(kernel->code->data, stdout);
    return 0;
}
