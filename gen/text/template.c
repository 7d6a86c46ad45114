/* Templates: holes and flat conditions, and nothing more. What needs a loop or an expression
 * belongs in the generator. */
#include "text/text.h"

#include <string.h>

/* @{id.NAME}, in every template: the id of a specialisation constant. */
static const qg_binding ids[] = {
#define ID(id, NAME, name, setter, otherwise, legal, meaning) {"id." name, #id},
    QK_CONSTANTS(ID)};

static const qg_binding *find_in(const qg_binding *bindings, size_t count, const char *name, size_t length) {
    for (size_t i = 0; i < count; ++i)
        if (strlen(bindings[i].name) == length && memcmp(bindings[i].name, name, length) == 0) return &bindings[i];
    return NULL;
}

static const qg_binding *find(const qg_binding *bindings, uint32_t count, const char *name, size_t length) {
    const qg_binding *own = find_in(bindings, count, name, length);
    return own ? own : find_in(ids, sizeof ids / sizeof *ids, name, length);
}

/* Appends a text of several lines, each after `indent` except empty ones. */
static void add_indented(qg_text *out, const char *value, const char *indent, size_t indent_length) {
    while (*value) {
        const char *end = strchr(value, '\n');
        const size_t length = end ? (size_t)(end - value) : strlen(value);
        if (length) qg_text_add(out, indent, indent_length);
        qg_text_add(out, value, length);
        qg_text_puts(out, "\n");
        value += length + (end != NULL);
    }
}

/* The hole that fills a whole line, or NULL. */
static const char *lone_hole(const char *line, size_t length, size_t *indent, size_t *name_length) {
    size_t at = 0;
    while (at < length && line[at] == ' ') ++at;
    *indent = at;
    if (length - at < 4 || line[at] != '@' || line[at + 1] != '{' || line[length - 1] != '}') return NULL;
    const char *close = memchr(line + at, '}', length - at);
    if (close != line + length - 1) return NULL;
    *name_length = length - at - 3;
    return line + at + 2;
}

static bool expand_line(qg_text *out, const char *line, size_t length, const qg_binding *bindings, uint32_t count,
                        const char **why) {
    size_t indent, name_length;
    const char *lone = lone_hole(line, length, &indent, &name_length);
    if (lone) {
        const qg_binding *binding = find(bindings, count, lone, name_length);
        if (!binding) goto unknown;
        if (binding->value) add_indented(out, binding->value, line, indent);
        return true;
    }
    for (size_t at = 0; at < length;) {
        const char *hole = NULL;
        for (size_t i = at; i + 1 < length && !hole; ++i)
            if (line[i] == '@' && line[i + 1] == '{') hole = line + i;
        const char *close = hole ? memchr(hole, '}', length - (size_t)(hole - line)) : NULL;
        if (!close) {
            qg_text_add(out, line + at, length - at);
            break;
        }
        qg_text_add(out, line + at, (size_t)(hole - line) - at);
        lone = hole + 2;
        name_length = (size_t)(close - lone);
        const qg_binding *binding = find(bindings, count, lone, name_length);
        if (!binding) goto unknown;
        if (binding->value) qg_text_puts(out, binding->value);
        at = (size_t)(close - line) + 1;
    }
    qg_text_puts(out, "\n");
    return true;
unknown:
    *why = qg_format(out->arena, "the template names @{%.*s}, which does not exist", (int)name_length, lone);
    return false;
}

static bool starts(const char *line, size_t length, const char *word) {
    const size_t n = strlen(word);
    return length >= n && memcmp(line, word, n) == 0;
}

/* Two blank lines in a row come from holes that stayed empty. */
static char *squeeze(qg_arena *arena, const char *text) {
    qg_text out = qg_text_new(arena);
    uint32_t breaks = 2;
    for (; *text; ++text) {
        breaks = *text == '\n' ? breaks + 1 : 0;
        if (breaks <= 2) qg_text_add(&out, text, 1);
    }
    return out.data ? out.data : qg_format(arena, "%s", "");
}

char *qg_expand(qg_arena *arena, const char *template_text, const qg_binding *bindings, uint32_t count,
                const char **why) {
    qg_text out = qg_text_new(arena);
    bool active = true;
    for (const char *line = template_text; *line;) {
        const char *end = strchr(line, '\n');
        const size_t length = end ? (size_t)(end - line) : strlen(line);
        if (starts(line, length, "@if ")) {
            const qg_binding *binding = find(bindings, count, line + 4, length - 4);
            if (!binding) {
                *why = qg_format(arena, "the template asks @if %.*s, which does not exist", (int)length - 4, line + 4);
                return NULL;
            }
            active = binding->value != NULL;
        } else if (starts(line, length, "@else")) {
            active = !active;
        } else if (starts(line, length, "@end")) {
            active = true;
        } else if (active && !expand_line(&out, line, length, bindings, count, why)) {
            return NULL;
        }
        line += length + (end != NULL);
    }
    return squeeze(arena, out.data ? out.data : "");
}
