/* Execution modes that a module gets on devices that have them: a module that was written with them would be refused by
 * the others. */
#include "vulkan_internal.h"

#include <stdlib.h>
#include <string.h>

enum { HEADER_WORDS = 5, OP_EXTENSION = 10, OP_ENTRY_POINT = 15, OP_EXECUTION_MODE = 16, OP_CAPABILITY = 17 };

typedef struct growing {
    uint32_t *words;
    size_t count;
} growing;

static void add(growing *out, const uint32_t *words, size_t count) {
    memcpy(out->words + out->count, words, count * sizeof *words);
    out->count += count;
}

static uint32_t head(uint32_t opcode, uint32_t words) {
    return words << 16 | opcode;
}

static void add_capabilities(growing *out, const qk_vk_mode *modes, uint32_t n_modes) {
    static const char extension[24] = "SPV_KHR_float_controls";
    uint32_t words[7] = {head(OP_EXTENSION, 7)};
    for (uint32_t i = 0; i < n_modes; i++) {
        const uint32_t capability[] = {head(OP_CAPABILITY, 2), modes[i].capability};
        add(out, capability, 2);
    }
    for (size_t i = 0; i < sizeof extension; i++) /* the first byte is the lowest, on every host */
        words[1 + i / 4] |= (uint32_t)(unsigned char)extension[i] << i % 4 * 8;
    add(out, words, 7);
}

static void add_modes(growing *out, uint32_t entry, const qk_vk_mode *modes, uint32_t n_modes) {
    for (uint32_t i = 0; i < n_modes; i++) {
        const uint32_t words[] = {head(OP_EXECUTION_MODE, 4), entry, modes[i].mode, modes[i].bits};
        add(out, words, 4);
    }
}

uint32_t *qk_vk_with_modes(const uint32_t *words, size_t bytes, const qk_vk_mode *modes, uint32_t n_modes,
                           size_t *grown) {
    const size_t count = bytes / 4;
    uint32_t last = 0;
    int entries = 0, capabilities = 0;
    growing out = {malloc(bytes + (7 + 6 * (size_t)n_modes) * sizeof *words), 0};
    if (out.words == NULL)
        return NULL;
    add(&out, words, count < HEADER_WORDS ? count : HEADER_WORDS);
    for (size_t at = HEADER_WORDS; at < count;) {
        const uint32_t opcode = words[at] & 0xFFFF, length = words[at] >> 16;
        if (length == 0 || length > count - at || (opcode == OP_ENTRY_POINT && length < 3)) {
            entries = 0;
            break;
        }
        if (last == OP_CAPABILITY && opcode != OP_CAPABILITY && capabilities++ == 0)
            add_capabilities(&out, modes, n_modes);
        add(&out, words + at, length);
        if (opcode == OP_ENTRY_POINT && entries++ == 0)
            add_modes(&out, words[at + 2], modes, n_modes);
        last = opcode;
        at += length;
    }
    *grown = out.count * 4;
    if (entries == 1 && capabilities == 1)
        return out.words;
    free(out.words);
    return NULL;
}

uint32_t qk_vk_modes_of(const qk_vulkan_device *device, const qk_kernel *kernel, qk_vk_mode modes[2]) {
    enum { DENORM_PRESERVE = 4464, NAN_PRESERVE = 4466, ROUNDING_RTE = 4467 }; /* capabilities */
    static const qk_vk_mode rounding[] = {{DENORM_PRESERVE, 4459, 16}, {ROUNDING_RTE, 4462, 16}};
    uint32_t count = 0;
    if (qk_encodes(kernel)) {
        if (device->keeps_nan_f32)
            modes[count++] = (qk_vk_mode){NAN_PRESERVE, 4461, 32};
        if (device->keeps_subnormal_f32)
            modes[count++] = (qk_vk_mode){DENORM_PRESERVE, 4459, 32};
        return count;
    }
    if (!device->rounds_f16)
        return 0;
    for (uint32_t i = 0; i < kernel->spec_constant_count; i++)
        if (kernel->spec_constants[i].id == QK_CONSTANT_ROUNDS_F16)
            count = 2;
    memcpy(modes, rounding, count * sizeof *modes);
    return count;
}
