/* C: the words of all modules of a format, packed, for pairs that are to be small. */
#include "text/text.h"

#include <qkgen/unpack.h>

#include <string.h>

static uint32_t add_sizes(qg_text *text, const char *name, const qg_packed_module *modules, uint32_t count) {
    uint32_t bytes = 0;
    qg_text_printf(text, "static const uint32_t %s_sizes[] = {", name);
    for (uint32_t i = 0; i < count; ++i) {
        qg_text_printf(text, "%s%zu", i ? ", " : "", modules[i].code->bytes);
        bytes += (uint32_t)modules[i].code->bytes;
    }
    qg_text_puts(text, "};\n");
    return bytes;
}

static void add_bytes(qg_text *text, const unsigned char *bytes, size_t count) {
    for (size_t i = 0; i < count; ++i) qg_text_printf(text, "%s%u,", i % 24 ? "" : "\n    ", bytes[i]);
}

bool qg_c_add_packed(qg_text *text, const char *name, const qg_packed_module *modules, uint32_t count) {
    qg_arena *arena = text->arena;
    uint32_t *sizes = QG_NEW_ARRAY(arena, uint32_t, count);
    const uint32_t bytes = add_sizes(text, name, modules, count);
    uint32_t *words = QG_NEW_ARRAY(arena, uint32_t, bytes / 4), at = 0;
    for (uint32_t i = 0; i < count; ++i) {
        sizes[i] = (uint32_t)modules[i].code->bytes;
        memcpy(words + at, modules[i].code->data, sizes[i]);
        at += sizes[i] / 4;
    }
    unsigned char *packed = QG_NEW_ARRAY(arena, unsigned char, bytes);
    const size_t length = qk_pack_words(words, sizes, count, packed, bytes);
    if (!length) return false;
    qg_text_printf(text, "static const unsigned char %s_packed[] = {", name);
    add_bytes(text, packed, length);
    qg_text_printf(text, "\n};\nstatic uint32_t %s_words[%u]; /* %s_unpack fills them in */\n\n", name, bytes / 4,
                   name);
    for (uint32_t i = 0, from = 0; i < count; from += sizes[i] / 4, ++i)
        qg_text_printf(text, "static const qk_code qk_%s_spirv = {%s_words + %u, %u};\n", modules[i].name, name, from,
                       sizes[i]);
    qg_text_printf(text,
                   "\nstatic int %s_unpack(void) {\n"
                   "    return qk_unpack_words(%s_packed, sizeof %s_packed, %s_words, %s_sizes, %u);\n}\n\n",
                   name, name, name, name, name, count);
    return true;
}
