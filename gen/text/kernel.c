/* The text of a kernel: its template in the language, or the frame of the language around what GLSL and MSL share. */
#include "text/text.h"

#include <string.h>

/* One part of a template of both languages: that where `part` is true. */
static const char *part_of(qg_arena *arena, const qg_templates *templates, const char *name, const qg_holes *holes,
                           const char *part, const char **why) {
    static const char *const parts[] = {"fields", "result", "body"};
    qg_holes own = *holes;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; ++i)
        qg_hole(&own, parts[i], strcmp(parts[i], part) == 0 ? "" : NULL);
    char *text = qg_expand(arena, templates, name, own.items, own.count, why);
    size_t length = text ? strlen(text) : 0;
    while (length && text[length - 1] == '\n') text[--length] = '\0';
    if (text && !length) *why = qg_format(arena, "template %s has nothing for `@if %s`", name, part);
    return length ? text : NULL;
}

char *qg_kernel_text(qg_arena *arena, const qg_templates *templates, const qg_kernel *kernel, const char *ending,
                     qg_holes *holes, const char **why) {
    const char *shared = qg_template_of(arena, kernel, "kernel"), *own = qg_template_of(arena, kernel, ending);
    if (!qg_template_text(templates, shared)) return qg_expand(arena, templates, own, holes->items, holes->count, why);
    const char *fields = part_of(arena, templates, shared, holes, "fields", why);
    const char *result = fields ? part_of(arena, templates, shared, holes, "result", why) : NULL;
    const char *body = result ? part_of(arena, templates, shared, holes, "body", why) : NULL;
    if (!body) return NULL;
    qg_hole(holes, "fields", fields);
    qg_hole(holes, "result", result);
    qg_hole(holes, "body", body);
    qg_hole(holes, "writes_tiles", strstr(body, "write_tile(") ? "" : NULL);
    return qg_expand(arena, templates, qg_format(arena, "kernel.%s", ending), holes->items, holes->count, why);
}
