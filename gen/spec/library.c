/* Finding and loading specifications. */
#include "spec/library.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SPECIFICATION_LIMIT = 1 << 20 };

qg_library *qg_library_new(qg_arena *arena, bool color) {
    qg_library *library = QG_NEW(arena, qg_library);
    library->arena = arena;
    library->diag = qg_diag_new(arena, color);
    return library;
}

static bool fail(qg_library *library, const char *path, const char *why) {
    qg_text_printf(&library->diag.text, "%s: error: %s\n", path, why);
    library->diag.errors += 1;
    return false;
}

static bool add_layout(qg_library *library, const qg_layout *layout, const char *path) {
    const qg_layout *known = qg_library_find(library, layout->name);
    if (known) {
        qg_error(&library->diag, layout->spec->name_loc, "a format named %s exists already: rename one of the two",
                 layout->name);
        qg_note(&library->diag, known->spec->name_loc, "the other %s is here", layout->name);
        return false;
    }
    QG_PUSH(library->arena, library->layouts.items, library->layouts.count, library->capacity, layout);
    QG_PUSH(library->arena, library->paths, library->paths_count, library->paths_capacity, path);
    return true;
}

bool qg_library_add_file(qg_library *library, const char *path) {
    const char *why = NULL;
    qg_source *source = QG_NEW(library->arena, qg_source);
    source->path = qg_strndup(library->arena, path, strlen(path));
    source->text = qg_read_file(library->arena, path, SPECIFICATION_LIMIT, &source->length, &why);
    if (!source->text) return fail(library, path, why);
    const uint32_t before = library->diag.errors;
    const qg_spec *spec = qg_parse(library->arena, &library->diag, source);
    if (!spec || library->diag.errors > before) return false;
    const qg_layouts layouts = qg_check(library->arena, &library->diag, spec);
    for (uint32_t i = 0; i < layouts.count; ++i)
        if (!add_layout(library, layouts.items[i], source->path)) break;
    return library->diag.errors == before;
}

static int by_name(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

bool qg_library_add_folder(qg_library *library, const char *folder) {
    DIR *dir = opendir(folder);
    if (!dir) return fail(library, folder, "cannot open the folder of specifications; name it with --formats");
    const char **names = NULL;
    uint32_t count = 0, capacity = 0;
    for (const struct dirent *entry; (entry = readdir(dir));) {
        const char *dot = strrchr(entry->d_name, '.');
        if (!dot || strcmp(dot, ".quant") != 0) continue;
        QG_PUSH(library->arena, names, count, capacity,
                qg_strndup(library->arena, entry->d_name, strlen(entry->d_name)));
    }
    closedir(dir);
    if (count) qsort(names, count, sizeof *names, by_name);
    bool good = true;
    for (uint32_t i = 0; i < count; ++i)
        good &= qg_library_add_file(library, qg_format(library->arena, "%s/%s", folder, names[i]));
    return good;
}

bool qg_library_add_named(qg_library *library, const char *folder, const char *name) {
    for (size_t length = 1; length <= strlen(name); ++length) {
        const char *path = qg_format(library->arena, "%s/%.*s.quant", folder, (int)length, name);
        if (access(path, R_OK) == 0 && !qg_library_add_file(library, path)) return false;
    }
    return qg_library_find(library, name) != NULL;
}

const qg_layout *qg_library_find(const qg_library *library, const char *name) {
    for (uint32_t i = 0; i < library->layouts.count; ++i)
        if (strcmp(library->layouts.items[i]->name, name) == 0) return library->layouts.items[i];
    return NULL;
}

const char *qg_library_nearest(const qg_library *library, const char *name) {
    const char *nearest = NULL;
    uint32_t least = 8;
    for (uint32_t i = 0; i < library->layouts.count; ++i)
        qg_name_nearest(name, library->layouts.items[i]->name, &nearest, &least);
    return nearest;
}
