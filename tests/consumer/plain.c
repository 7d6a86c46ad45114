/* An engine with its own device layer: reads what the descriptors say, and decodes a block with the C reference. */
#include "q4_K.h"
#include "q8_0.h"

#include <stdio.h>

static const qk_kernel *const kernels[] = {
    &qk_q4_K_dequant_f16_vulkan, &qk_q4_K_dequant_f16_metal, &qk_q4_K_gather_f32_vulkan,
    &qk_q8_0_dequant_f32_vulkan, &qk_q8_0_gather_bf16_metal, &qk_q8_0_transcode_q4_0_vulkan,
};

int main(void) {
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        const qk_kernel *k = kernels[i];
        printf("%-20s %-6s %6zu bytes of code, %u threads, %u elements in a block\n", k->name,
               k->api == QK_API_VULKAN ? "vulkan" : "metal", k->code->bytes, (unsigned)k->workgroup_size,
               (unsigned)k->block_elements);
        for (uint32_t b = 0; b < k->binding_count; b++) {
            printf("  binding %u: %s, %u bytes in a block\n", (unsigned)k->bindings[b].index, k->bindings[b].name,
                   (unsigned)k->bindings[b].block_bytes);
        }
        for (uint32_t p = 0; p < k->push_count; p++) {
            printf("  push +%u: %s\n", (unsigned)k->push[p].offset, k->push[p].name);
        }
    }

    /* d = 1, dmin = 0.5; of the first eighth: scale 3, minimum 4, codes 0, 1, 2, ... 15, 0, ... */
    unsigned char block[144] = {0x00, 0x3c, 0x00, 0x38, 3, 0, 0, 0, 4};
    for (int i = 0; i < 128; i++) {
        block[16 + i] = (unsigned char)(i % 16);
    }
    const void *weights[1] = {block};
    float value[256];
    qk_q4_K_dequant_f32_ref(weights, 256, value);
    for (int i = 0; i < 32; i++) {
        if (value[i] != 3.0f * (float)(i % 16) - 2.0f) {
            printf("element %d is %g\n", i, (double)value[i]);
            return 1;
        }
    }
    printf("decoded: %g %g %g ...\n", (double)value[0], (double)value[1], (double)value[2]);
    return 0;
}
