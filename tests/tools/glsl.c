/* Compiles a compute shader as `qkgen judge` does: `glsl IN.comp OUT.spv [MACRO]...`. */
#include "emit/spirv.h"

#include <stdio.h>
#include <string.h>

static const char *compile(qg_arena *arena, char **argv, int n_macros) {
    const char *why = NULL;
    size_t length, bytes;
    const char *glsl = qg_read_file(arena, argv[1], 1 << 20, &length, &why);
    if (!glsl) return why;
    const char *version = strstr(glsl, "#version"), *body = version ? strchr(version, '\n') : NULL;
    if (!body) return "it has no line with #version";
    qg_text text = qg_text_new(arena);
    qg_text_add(&text, glsl, (size_t)(body + 1 - glsl));
    for (int i = 0; i < n_macros; ++i) qg_text_printf(&text, "#define %s 1\n", argv[3 + i]);
    qg_text_printf(&text, "#line 2\n%s", body + 1);
    const uint32_t *words = qg_spirv_compile(arena, argv[1], text.data, &bytes, &why);
    return words ? qg_write_file(arena, argv[2], words, bytes) : why;
}

int main(int argc, char **argv) {
    const char *why = "usage: glsl IN.comp OUT.spv [MACRO]...";
    qg_arena *arena = qg_arena_new();
    if (argc >= 3) why = qg_spirv_open() ? compile(arena, argv, argc - 3) : "the compiler cannot be initialised";
    if (why) fprintf(stderr, "%s: %s\n", argc > 1 ? argv[1] : "glsl", why);
    qg_spirv_close();
    qg_arena_free(arena);
    return why != NULL;
}
