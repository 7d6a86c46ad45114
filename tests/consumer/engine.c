/* An engine on the small runtime: decodes q4_K blocks on a Vulkan device and compares with the C reference. */
#include "q4_K.h"

#include <qkgen/dispatch.h>
#include <qkgen/vulkan.h>

#include <stdio.h>
#include <string.h>

enum { BLOCKS = 37, BLOCK_BYTES = 144, ELEMENTS = BLOCKS * 256 };

static unsigned char blocks[BLOCKS * BLOCK_BYTES];
static float wanted[ELEMENTS], got[ELEMENTS];

/* Decodes `blocks` on the device into `got`. What is created is destroyed with the process. */
static qk_status decode(qk_vulkan *vk, qk_error *error) {
    qk_vulkan_buffer *weights, *out;
    qk_status status;
    if ((status = qk_vulkan_buffer_create(vk, sizeof blocks, &weights, error)) != QK_OK ||
        (status = qk_vulkan_buffer_create(vk, sizeof got, &out, error)) != QK_OK ||
        (status = qk_vulkan_upload(vk, weights, 0, blocks, sizeof blocks, error)) != QK_OK ||
        (status = qk_vulkan_begin(vk, error)) != QK_OK) {
        return status;
    }
    const qk_backend backend = qk_vulkan_backend(vk);
    const qk_range ranges[1] = {qk_vulkan_range(weights)};
    if ((status = qk_q4_K_dequant_f32(&backend, ranges, qk_vulkan_range(out), ELEMENTS, error)) != QK_OK ||
        (status = qk_vulkan_submit(vk, error)) != QK_OK ||
        (status = qk_vulkan_download(vk, out, 0, got, sizeof got, error)) != QK_OK) {
        return status;
    }
    qk_vulkan_buffer_destroy(vk, weights);
    qk_vulkan_buffer_destroy(vk, out);
    return QK_OK;
}

int main(void) {
    unsigned seed = 1;
    for (size_t i = 0; i < sizeof blocks; i++) {
        seed = seed * 1664525u + 1013904223u;
        blocks[i] = (unsigned char)(seed >> 24);
        if (i % BLOCK_BYTES == 1 || i % BLOCK_BYTES == 3) {
            blocks[i] &= 0x3f; /* scales below 2 */
        }
    }
    const void *weights[1] = {blocks};
    qk_q4_K_dequant_f32_ref(weights, ELEMENTS, wanted);

    qk_error error;
    qk_vulkan *vk;
    qk_status status = qk_vulkan_create(NULL, &vk, &error);
    if (status == QK_OK) {
        status = decode(vk, &error);
    }
    if (status != QK_OK) {
        printf("engine: %s\n", error.text);
        return 1;
    }
    printf("engine: %d elements on %s, %s\n", ELEMENTS, qk_vulkan_info(vk)->name,
           memcmp(wanted, got, sizeof got) == 0 ? "equal to the reference" : "NOT equal to the reference");
    qk_vulkan_destroy(vk);
    return memcmp(wanted, got, sizeof got) != 0;
}
