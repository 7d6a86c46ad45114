/* What the readers of containers share. */
#include "files/container.h"

#include <stdlib.h>
#include <string.h>

/* ---- containers ---- */

const char *qg_printable(qg_arena *arena, const void *bytes, uint64_t length, bool message) {
    const unsigned char *from = bytes;
    const uint64_t shown = message && length > 80 ? 80 : length;
    char *text = qg_alloc(arena, (size_t)(4 * shown) + 4), *to = text;
    for (uint64_t i = 0; i < shown; ++i) {
        if (from[i] < 0x20 || from[i] == 0x7F)
            to += sprintf(to, "\\x%02X", from[i]);
        else
            *to++ = (char)from[i];
    }
    if (shown < length) memcpy(to, "...", 3);
    return text;
}

bool qg_tensor_dim(qg_tensor *tensor, uint64_t extent) {
    const uint64_t most = (uint64_t)1 << 63;
    if (tensor->n_dims == QG_MAX_DIMS || (extent && tensor->elements > most / extent)) return false;
    tensor->dims[tensor->n_dims++] = extent;
    tensor->elements *= extent;
    return true;
}

static int by_name(const void *a, const void *b) {
    const qg_tensor *x = *(const qg_tensor *const *)a, *y = *(const qg_tensor *const *)b;
    const int order = strcmp(x->name, y->name);
    return order ? order : (x > y) - (x < y);
}

static const char *sort_names(qg_arena *arena, qg_container *c) {
    c->by_name = QG_NEW_ARRAY(arena, const qg_tensor *, c->count);
    for (uint32_t i = 0; i < c->count; ++i) c->by_name[i] = &c->tensors[i];
    qsort(c->by_name, c->count, sizeof *c->by_name, by_name);
    for (uint32_t i = 1; i < c->count; ++i)
        if (strcmp(c->by_name[i - 1]->name, c->by_name[i]->name) == 0)
            return QG_AT(arena, c->by_name[i]->place,
                         "a second tensor is named '%s', after the one at byte %llu; rename one of them",
                         qg_printable(arena, c->by_name[i]->name, strlen(c->by_name[i]->name), true),
                         (unsigned long long)c->by_name[i - 1]->place);
    return NULL;
}

static int name_order(const void *name, const void *item) {
    return strcmp(name, (*(const qg_tensor *const *)item)->name);
}

const qg_tensor *qg_container_find(const qg_container *c, const char *name) {
    if (!c->count) return NULL;
    const qg_tensor *const *found = bsearch(name, c->by_name, c->count, sizeof *c->by_name, name_order);
    return found ? *found : NULL;
}

const char *qg_container_read(qg_arena *arena, const void *file, uint64_t length, qg_container *c) {
    *c = (qg_container){.file = file, .length = length};
    const char *why;
    if (length >= 4 && memcmp(file, "GGUF", 4) == 0)
        why = qg_gguf_read(arena, c);
    else if (length > 8 && c->file[8] == '{')
        why = qg_safetensors_read(arena, c);
    else
        why = QG_AT(arena, 0, "neither GGUF nor safetensors; give a model file of one of these kinds");
    return why ? why : sort_names(arena, c);
}
