/* The list of formats that a tree shows: a text file, a name on each line. */
#include "spec/library.h"

#include <string.h>

enum { LIST_LIMIT = 1 << 20 };
static const char SPACE[] = " \t\r";

typedef struct reader {
    qg_arena *arena;
    qg_diag *diag;
    const qg_library *known;
    qg_source source;
    bool *shown;
    uint32_t *lines; /* that name each layout, to tell of a second one */
    uint32_t count;
} reader;

static void add_name(reader *r, qg_loc loc, const char *name) {
    const qg_layouts layouts = r->known->layouts;
    uint32_t i = 0;
    while (i < layouts.count && strcmp(layouts.items[i]->name, name) != 0) ++i;
    if (i == layouts.count) {
        const char *nearest = qg_library_nearest(r->known, name);
        if (nearest)
            qg_error(r->diag, loc, "no format is named %s; did you mean %s?", name, nearest);
        else
            qg_error(r->diag, loc, "no format is named %s; `qkgen list` shows those that are known", name);
    } else if (r->shown[i]) {
        qg_error(r->diag, loc, "%s is named in line %u already: delete one of the two", name, r->lines[i]);
    } else {
        r->shown[i] = true;
        r->lines[i] = loc.line;
        r->count += 1;
    }
}

/* `[begin, end)` is a line without its comment. */
static void read_line(reader *r, uint32_t line, const char *start, const char *begin, const char *end) {
    while (begin < end && strchr(SPACE, *begin)) ++begin;
    while (end > begin && strchr(SPACE, end[-1])) --end;
    if (begin == end) return;
    const qg_loc loc = {&r->source, line, (uint32_t)(begin - start) + 1, (uint32_t)(end - begin)};
    const char *name = qg_strndup(r->arena, begin, (size_t)(end - begin));
    if (strpbrk(name, SPACE))
        qg_error(r->diag, loc, "a line has one name: write the next on a line of its own, and # before a comment");
    else
        add_name(r, loc, name);
}

const bool *qg_shown_read(qg_arena *arena, qg_diag *diag, const qg_library *library, const char *path) {
    const char *why = NULL;
    reader r = {.arena = arena, .diag = diag, .known = library, .source.path = path};
    r.source.text = qg_read_file(arena, path, LIST_LIMIT, &r.source.length, &why);
    if (!r.source.text) {
        qg_text_printf(&diag->text, "%s: error: %s; name a list of formats with --shown\n", path, why);
        return NULL;
    }
    r.shown = QG_NEW_ARRAY(arena, bool, library->layouts.count + 1);
    r.lines = QG_NEW_ARRAY(arena, uint32_t, library->layouts.count + 1);
    const char *at = r.source.text, *end = at + r.source.length;
    for (uint32_t line = 1; at < end; ++line) {
        const char *newline = memchr(at, '\n', (size_t)(end - at)), *stop = newline ? newline : end;
        const char *comment = memchr(at, '#', (size_t)(stop - at));
        read_line(&r, line, at, at, comment ? comment : stop);
        at = stop + 1;
    }
    if (diag->errors) return NULL;
    if (r.count) return r.shown;
    qg_text_printf(&diag->text, "%s: error: names no format: write the name of one on each line\n", path);
    return NULL;
}
