/* Memory, text, files, and names that are alike. */
#define _POSIX_C_SOURCE 200809L
#include "base/base.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- arena ---------------------------------------------------------------------------------------------------- */

enum { CHUNK_BYTES = 64 * 1024 };

typedef struct chunk {
    struct chunk *next;
    size_t used;
    size_t size;
    max_align_t data[];
} chunk;

struct qg_arena {
    chunk *chunks; /* the first is the one that small requests are cut from */
};

static void out_of_memory(void) {
    fputs("qkgen: out of memory\n", stderr);
    exit(3);
}

static chunk *new_chunk(size_t size) {
    chunk *made = NULL;
    if (size <= SIZE_MAX / 2) {
        made = calloc(1, sizeof *made + size);
    }
    if (made == NULL) {
        out_of_memory();
    }
    made->size = size;
    return made;
}

qg_arena *qg_arena_new(void) {
    qg_arena *arena = calloc(1, sizeof *arena);
    if (arena == NULL) {
        out_of_memory();
    }
    arena->chunks = new_chunk(CHUNK_BYTES);
    return arena;
}

void qg_arena_free(qg_arena *arena) {
    if (arena == NULL) {
        return;
    }
    for (chunk *each = arena->chunks; each != NULL;) {
        chunk *next = each->next;
        free(each);
        each = next;
    }
    free(arena);
}

void *qg_alloc(qg_arena *arena, size_t bytes) {
    size_t align = sizeof(max_align_t);
    if (bytes > SIZE_MAX / 4) {
        out_of_memory();
    }
    bytes = (bytes + align - 1) / align * align;
    if (bytes == 0) {
        bytes = align;
    }
    chunk *first = arena->chunks;
    if (bytes > CHUNK_BYTES / 4) {
        /* Large requests stand alone, behind the first chunk, whose free space stays in use. */
        chunk *alone = new_chunk(bytes);
        alone->used = bytes;
        alone->next = first->next;
        first->next = alone;
        return alone->data;
    }
    if (first->size - first->used < bytes) {
        first = new_chunk(CHUNK_BYTES);
        first->next = arena->chunks;
        arena->chunks = first;
    }
    void *memory = (char *)first->data + first->used;
    first->used += bytes;
    return memory;
}

char *qg_strndup(qg_arena *arena, const char *text, size_t length) {
    char *copy = qg_alloc(arena, length + 1);
    if (length > 0) {
        memcpy(copy, text, length);
    }
    return copy;
}

static char *format_list(qg_arena *arena, const char *format, va_list list, size_t *length) {
    va_list again;
    va_copy(again, list);
    int needed = vsnprintf(NULL, 0, format, list);
    size_t size = needed < 0 ? 0 : (size_t)needed;
    char *text = qg_alloc(arena, size + 1);
    if (size > 0) {
        vsnprintf(text, size + 1, format, again);
    }
    va_end(again);
    *length = size;
    return text;
}

char *qg_format(qg_arena *arena, const char *format, ...) {
    size_t length;
    va_list list;
    va_start(list, format);
    char *text = format_list(arena, format, list, &length);
    va_end(list);
    return text;
}

void *qg_grow(qg_arena *arena, void *items, uint32_t count, uint32_t *capacity, size_t item_size) {
    if (count < *capacity) {
        return items;
    }
    if (count > UINT32_MAX / 2) {
        out_of_memory();
    }
    uint32_t larger = *capacity == 0 ? 8 : *capacity * 2;
    void *copy = qg_alloc(arena, item_size * larger);
    if (count > 0) {
        memcpy(copy, items, item_size * count);
    }
    *capacity = larger;
    return copy;
}

/* ---- text ----------------------------------------------------------------------------------------------------- */

qg_text qg_text_new(qg_arena *arena) { return (qg_text){.arena = arena}; }

void qg_text_add(qg_text *text, const char *bytes, size_t length) {
    if (text->capacity - text->length < length + 1) {
        size_t larger = text->capacity * 2 + length + 64;
        char *copy = qg_alloc(text->arena, larger);
        if (text->length > 0) {
            memcpy(copy, text->data, text->length);
        }
        text->data = copy;
        text->capacity = larger;
    }
    if (length > 0) {
        memcpy(text->data + text->length, bytes, length);
    }
    text->length += length;
    text->data[text->length] = '\0';
}

void qg_text_puts(qg_text *text, const char *string) { qg_text_add(text, string, strlen(string)); }

void qg_text_printf(qg_text *text, const char *format, ...) {
    char small[256];
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    int needed = vsnprintf(small, sizeof small, format, list);
    va_end(list);
    if (needed >= 0 && (size_t)needed < sizeof small) {
        qg_text_add(text, small, (size_t)needed);
    } else if (needed > 0) {
        size_t length;
        char *large = format_list(text->arena, format, again, &length);
        qg_text_add(text, large, length);
    }
    va_end(again);
}

/* ---- files ---------------------------------------------------------------------------------------------------- */

static const char *sentence(qg_arena *arena, const char *what, const char *path, int error) {
    return qg_format(arena, "cannot %s '%s': %s", what, path, strerror(error));
}

char *qg_read_file(qg_arena *arena, const char *path, size_t limit, size_t *length, const char **why) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        *why = sentence(arena, "open", path, errno);
        return NULL;
    }
    qg_text text = qg_text_new(arena);
    char bytes[16384];
    size_t got;
    qg_text_add(&text, "", 0);
    while (text.length <= limit && (got = fread(bytes, 1, sizeof bytes, file)) > 0) {
        qg_text_add(&text, bytes, got);
    }
    int error = ferror(file) ? errno : 0;
    fclose(file);
    if (error != 0) {
        *why = sentence(arena, "read", path, error);
        return NULL;
    }
    if (text.length > limit) {
        *why = qg_format(arena, "'%s' is larger than %zu bytes, the most that is read", path, limit);
        return NULL;
    }
    *length = text.length;
    return text.data;
}

/* Creates the folders on the way to `path`. */
static const char *make_folders(qg_arena *arena, const char *path) {
    char *part = qg_strndup(arena, path, strlen(path));
    for (char *at = part + 1; part[0] != '\0' && *at != '\0'; at++) {
        if (*at != '/') {
            continue;
        }
        *at = '\0';
        if (mkdir(part, 0777) != 0 && errno != EEXIST) {
            return sentence(arena, "create the folder", part, errno);
        }
        *at = '/';
    }
    return NULL;
}

static bool holds_already(const char *path, const void *data, size_t length) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return false;
    }
    const char *rest = data;
    char bytes[16384];
    bool same = true;
    size_t got;
    while (same && (got = fread(bytes, 1, sizeof bytes, file)) > 0) {
        same = got <= length && memcmp(bytes, rest, got) == 0;
        if (same) {
            rest += got;
            length -= got;
        }
    }
    same = same && !ferror(file) && length == 0;
    fclose(file);
    return same;
}

const char *qg_write_file(qg_arena *arena, const char *path, const void *data, size_t length) {
    if (holds_already(path, data, length)) {
        return NULL;
    }
    const char *why = make_folders(arena, path);
    if (why != NULL) {
        return why;
    }
    char *temporary = qg_format(arena, "%s.tmp%ld", path, (long)getpid());
    FILE *file = fopen(temporary, "wb");
    if (file == NULL) {
        return sentence(arena, "create", temporary, errno);
    }
    errno = 0;
    bool written = (length == 0 || fwrite(data, 1, length, file) == length) && fflush(file) == 0;
    int error = errno;
    if (fclose(file) != 0) {
        error = written ? errno : error;
        written = false;
    }
    if (!written) {
        remove(temporary);
        return sentence(arena, "write", path, error);
    }
    if (rename(temporary, path) != 0) {
        error = errno;
        remove(temporary);
        return sentence(arena, "replace", path, error);
    }
    return NULL;
}

/* ---- names that are alike --------------------------------------------------------------------------------------- */

/* What it costs to put `b` in the place of `a`: a change of case is half a mistake. */
static uint32_t substitution(char a, char b) {
    return a == b ? 0 : tolower((unsigned char)a) == tolower((unsigned char)b) ? 1 : 2;
}

/* Edit distance, of names short enough for a stack; a whole edit counts 2. */
static uint32_t distance(const char *a, const char *b) {
    enum { MOST = 64 };
    uint32_t row[MOST + 1];
    const size_t n = strlen(b);
    if (n > MOST || strlen(a) > MOST) return UINT32_MAX;
    for (uint32_t j = 0; j <= n; ++j) row[j] = 2 * j;
    for (uint32_t i = 1; *a; ++a, ++i) {
        uint32_t corner = row[0];
        row[0] = 2 * i;
        for (uint32_t j = 1; j <= n; ++j) {
            uint32_t best = corner + substitution(*a, b[j - 1]);
            corner = row[j];
            if (row[j] + 2 < best) best = row[j] + 2;
            if (row[j - 1] + 2 < best) best = row[j - 1] + 2;
            row[j] = best;
        }
    }
    return row[n];
}

void qg_name_nearest(const char *name, const char *known, const char **nearest, uint32_t *least) {
    const uint32_t d = distance(name, known);
    if (d >= *least) return;
    *least = d;
    *nearest = known;
}

uint32_t qg_name_tolerance(const char *name) {
    const size_t length = strlen(name);
    return length < 3 ? 3 : length > 5 ? 8 : (uint32_t)length + 2;
}

/* ---- lists of words ------------------------------------------------------------------------------------------- */

void qg_split(qg_arena *arena, const char *list, qg_texts *words) {
    for (const char *at = list; *at;) {
        const size_t length = strcspn(at, ",");
        const char *word = qg_strndup(arena, at, length);
        if (length) QG_PUSH(arena, words->items, words->count, words->capacity, word);
        at += length + (at[length] == ',');
    }
}
