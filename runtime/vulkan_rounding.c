/* Execution modes that a module gets on devices that have them: a module that was written with them would be refused by
 * the others. */
#include "vulkan_internal.h"

#include <stdlib.h>
#include <string.h>

enum {
    HEADER_WORDS = 5,
    OP_EXTENSION = 10,
    OP_ENTRY_POINT = 15,
    OP_EXECUTION_MODE = 16,
    OP_CAPABILITY = 17,
    CAPABILITY_DENORM_PRESERVE = 4464,
    CAPABILITY_ROUNDING_MODE_RTE = 4467,
    MODE_DENORM_PRESERVE = 4459,
    MODE_ROUNDING_MODE_RTE = 4462
};

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

static void add_capabilities(growing *out) {
    static const char extension[24] = "SPV_KHR_float_controls";
    uint32_t words[11] = {head(OP_CAPABILITY, 2), CAPABILITY_DENORM_PRESERVE, head(OP_CAPABILITY, 2),
                          CAPABILITY_ROUNDING_MODE_RTE, head(OP_EXTENSION, 7)};
    for (size_t i = 0; i < sizeof extension; i++) /* the first byte is the lowest, on every host */
        words[5 + i / 4] |= (uint32_t)(unsigned char)extension[i] << i % 4 * 8;
    add(out, words, 11);
}

static void add_modes(growing *out, uint32_t entry) {
    const uint32_t words[] = {head(OP_EXECUTION_MODE, 4), entry, MODE_DENORM_PRESERVE,   16,
                              head(OP_EXECUTION_MODE, 4), entry, MODE_ROUNDING_MODE_RTE, 16};
    add(out, words, 8);
}

uint32_t *qk_vk_with_rounding(const uint32_t *words, size_t bytes, size_t *grown) {
    const size_t count = bytes / 4;
    uint32_t last = 0;
    int entries = 0, capabilities = 0;
    growing out = {malloc(bytes + 19 * sizeof *words), 0};
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
            add_capabilities(&out);
        add(&out, words + at, length);
        if (opcode == OP_ENTRY_POINT && entries++ == 0)
            add_modes(&out, words[at + 2]);
        last = opcode;
        at += length;
    }
    *grown = out.count * 4;
    if (entries == 1 && capabilities == 1)
        return out.words;
    free(out.words);
    return NULL;
}
