/* qkgen/tuning.h: reads what `qkgen tune` wrote. Header only; needs qkgen/dispatch.h and libc; allocates nothing,
 * keeps no
 * state; C11 and C++11.
 *
 *     uint32_t count = 0;
 *     qk_tuning_parse(path, text, device, NULL, &count, &tuning, &error);      // how many entries there are
 *     qk_tuning_entry *entries = malloc(count * sizeof *entries);
 *     qk_tuning_parse(path, text, device, entries, &count, &tuning, &error);
 *     backend.tuning = &tuning;                                               // the stubs take it from there
 *
 * The text is lines of words. `#` starts a comment.
 *
 *     qkgen-tuning 1                  first: the version of the text
 *     device NAME                     second: the device that was measured, to the end of the line
 *     KERNEL ROWSxCOLSxBATCH NAME=VALUE...
 *
 * KERNEL is qk_kernel.name; the shape is as in qk_tuning_find; each NAME is a constant of the kernel with one of its
 * legal values,
 * or "workgroups", the most workgroups of a launch. `default` in their place keeps the constants of the descriptor, as
 * do kernels
 * that the text does not have. */
#ifndef QKGEN_TUNING_H
#define QKGEN_TUNING_H

#include "dispatch.h"

/* The rest of a text, and where it is. */
typedef struct qk_tuning_reader_ {
    const char *path, *at;
    uint32_t line;
    qk_error *error;
} qk_tuning_reader_;

static inline qk_status qk_tuning_fail_(const qk_tuning_reader_ *reader, const char *format, ...) QK_PRINTF(2, 3);
static inline qk_status qk_tuning_fail_(const qk_tuning_reader_ *reader, const char *format, ...) {
    char text[170];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return qk_fail(reader->error, QK_ERROR_ARGUMENT, "%.80s:%" PRIu32 ": %s", reader->path, reader->line, text);
}

static inline int qk_is_blank_(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

/* The next word of the line; its length is 0 at the end. */
static inline const char *qk_tuning_word_(qk_tuning_reader_ *reader, size_t *length) {
    const char *word;
    while (qk_is_blank_(*reader->at))
        reader->at++;
    word = reader->at;
    while (*reader->at != '\0' && *reader->at != '\n' && *reader->at != '#' && !qk_is_blank_(*reader->at))
        reader->at++;
    *length = (size_t)(reader->at - word);
    return word;
}

static inline void qk_tuning_next_line_(qk_tuning_reader_ *reader) {
    while (*reader->at != '\0' && *reader->at != '\n')
        reader->at++;
    if (*reader->at == '\n')
        reader->at++;
    reader->line++;
}

/* Goes to the next line that has a word, this one included; 0 at the end of the text. */
static inline int qk_tuning_find_line_(qk_tuning_reader_ *reader) {
    for (; *reader->at != '\0'; qk_tuning_next_line_(reader)) {
        size_t length;
        const char *word = qk_tuning_word_(reader, &length);
        reader->at = word;
        if (length > 0)
            return 1;
    }
    return 0;
}

/* A number that ends at `end`, from 1 to `most`; 0 where there is none. */
static inline uint64_t qk_tuning_number_(const char *text, const char *end, uint64_t most) {
    uint64_t number = 0;
    if (text == end)
        return 0;
    for (; text < end; text++) {
        if (*text < '0' || *text > '9' || number > (most - (uint64_t)(*text - '0')) / 10)
            return 0;
        number = number * 10 + (uint64_t)(*text - '0');
    }
    return number;
}

static inline const char *qk_tuning_until_(const char *text, const char *end, char c) {
    while (text < end && *text != c)
        text++;
    return text;
}

/* The id of the constant of that name; QK_CONSTANT_NONE where there is none. */
static inline uint32_t qk_constant_named(const char *name, size_t length) {
    static const struct {
        uint32_t id;
        const char *name;
    } all[] = {
#define QK_NAMED_(id, NAME, name, setter, otherwise, legal, meaning) {QK_CONSTANT_##NAME, name},
        QK_CONSTANTS(QK_NAMED_)
#undef QK_NAMED_
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strlen(all[i].name) == length && memcmp(all[i].name, name, length) == 0)
            return all[i].id;
    return QK_CONSTANT_NONE;
}

static inline qk_status qk_tuning_shape_(qk_tuning_reader_ *reader, qk_tuning_entry *entry) {
    size_t length;
    const char *word = qk_tuning_word_(reader, &length), *end = word + length;
    const char *first = qk_tuning_until_(word, end, 'x');
    const char *second = first < end ? qk_tuning_until_(first + 1, end, 'x') : end;
    if (second < end) {
        entry->rows = qk_tuning_number_(word, first, UINT64_MAX);
        entry->cols = qk_tuning_number_(first + 1, second, UINT64_MAX);
        entry->batch = (uint32_t)qk_tuning_number_(second + 1, end, UINT32_MAX);
    }
    if (entry->rows != 0 && entry->cols != 0 && entry->batch != 0)
        return QK_OK;
    return qk_tuning_fail_(reader, "'%.*s' is no shape; write ROWSxCOLSxBATCH, such as 4096x14336x1",
                           (int)qk_min_(length, 40), word);
}

static inline qk_status qk_tuning_values_(qk_tuning_reader_ *reader, qk_tuning_entry *entry) {
    for (;;) {
        size_t length;
        const char *word = qk_tuning_word_(reader, &length), *end = word + length;
        const char *equal = qk_tuning_until_(word, end, '=');
        static const char none[] = "default";
        qk_tuned_value *value = &entry->values[entry->count];
        if (length == 0)
            break;
        if (length == sizeof none - 1 && memcmp(word, none, length) == 0 && entry->count == 0) {
            qk_tuning_word_(reader, &length);
            return length == 0 ? QK_OK
                               : qk_tuning_fail_(reader, "nothing may follow 'default'; remove it, or the rest");
        }
        if (entry->count == QK_MAX_TUNED)
            return qk_tuning_fail_(reader, "more than %u constants; remove some", QK_MAX_TUNED);
        if (equal == word || equal == end)
            return qk_tuning_fail_(reader, "'%.*s' is no constant; write NAME=VALUE", (int)qk_min_(length, 40), word);
        value->id = qk_constant_named(word, (size_t)(equal - word));
        if (value->id == QK_CONSTANT_NONE)
            return qk_tuning_fail_(reader, "no constant is named '%.*s'; measure again with this qkgen's tune",
                                   (int)qk_min_((uint64_t)(equal - word), 40), word);
        value->value = (uint32_t)qk_tuning_number_(equal + 1, end, UINT32_MAX);
        if (value->value == 0)
            return qk_tuning_fail_(reader, "'%.*s' has no value; write a whole number from 1 to 4294967295",
                                   (int)qk_min_(length, 40), word);
        for (uint32_t i = 0; i < entry->count; i++)
            if (entry->values[i].id == value->id)
                return qk_tuning_fail_(reader, "%s is set twice; remove one", qk_constant_name(value->id));
        entry->count++;
    }
    if (entry->count == 0)
        return qk_tuning_fail_(reader, "no constant follows the shape; write NAME=VALUE or default");
    return QK_OK;
}

static inline qk_status qk_tuning_entry_(qk_tuning_reader_ *reader, qk_tuning_entry *entry) {
    size_t length;
    const char *word = qk_tuning_word_(reader, &length);
    memset(entry, 0, sizeof *entry);
    entry->line = reader->line;
    if (length >= sizeof entry->kernel)
        return qk_tuning_fail_(reader, "the name of a kernel has %zu characters, must be fewer than %zu", length,
                               sizeof entry->kernel);
    memcpy(entry->kernel, word, length);
    qk_status status = qk_tuning_shape_(reader, entry);
    return status == QK_OK ? qk_tuning_values_(reader, entry) : status;
}

/* The two lines that come first. */
static inline qk_status qk_tuning_head_(qk_tuning_reader_ *reader, const char *device, qk_tuning *tuning) {
    static const char magic[] = "qkgen-tuning", named[] = "device";
    size_t length = 0, size;
    const char *word, *name;
    if (qk_tuning_find_line_(reader))
        word = qk_tuning_word_(reader, &length);
    else
        word = reader->at;
    if (length != sizeof magic - 1 || memcmp(word, magic, length) != 0)
        return qk_tuning_fail_(reader,
                               "this is no tuning: it does not begin with 'qkgen-tuning 1'; qkgen tune writes them");
    word = qk_tuning_word_(reader, &length);
    if (length != 1 || *word != '1')
        return qk_tuning_fail_(reader, "version '%.*s' is unknown, must be 1; write the file with this qkgen's tune",
                               (int)qk_min_(length, 20), word);
    qk_tuning_next_line_(reader);
    length = 0;
    if (qk_tuning_find_line_(reader))
        word = qk_tuning_word_(reader, &length);
    if (length != sizeof named - 1 || memcmp(word, named, length) != 0)
        return qk_tuning_fail_(reader, "the second line must be 'device NAME', as qkgen devices has the name");
    while (qk_is_blank_(*reader->at))
        reader->at++;
    name = reader->at;
    while (*reader->at != '\0' && *reader->at != '\n')
        reader->at++;
    size = (size_t)(reader->at - name);
    while (size > 0 && qk_is_blank_(name[size - 1]))
        size--;
    if (size == 0 || size >= sizeof tuning->device)
        return qk_tuning_fail_(reader, "the name of the device has %zu characters, must have from 1 to %zu", size,
                               sizeof tuning->device - 1);
    memcpy(tuning->device, name, size);
    if (device != NULL && strcmp(device, tuning->device) != 0)
        return qk_tuning_fail_(reader, "measured on '%.60s', but this device is '%.60s'; run qkgen tune here",
                               tuning->device, device);
    qk_tuning_next_line_(reader);
    return QK_OK;
}

/* Reads a NUL-terminated text, whose name in messages is `path`.
 *
 * device   the name of the device that it is for; another is an error. NULL takes any
 * entries  takes the entries, which the tuning then points to; NULL: only counts them
 * count    the room in `entries` on entry, and the number of entries on return
 * tuning   is filled in; without `entries` it has none
 *
 * Returns QK_OK; QK_ERROR_ARGUMENT, and a text with path and line, where the text is wrong or the device another;
 * QK_ERROR_SIZE where there is not enough room. Whether a kernel has the constants is seen when it is launched. */
static inline qk_status qk_tuning_parse(const char *path, const char *text, const char *device,
                                        qk_tuning_entry *entries, uint32_t *count, qk_tuning *tuning, qk_error *error) {
    qk_tuning_reader_ reader = {path, text, 1, error};
    uint32_t found = 0, room = *count;
    *count = 0;
    memset(tuning, 0, sizeof *tuning);
    qk_status status = qk_tuning_head_(&reader, device, tuning);
    for (; status == QK_OK && qk_tuning_find_line_(&reader); qk_tuning_next_line_(&reader)) {
        qk_tuning_entry entry;
        status = qk_tuning_entry_(&reader, &entry);
        if (status != QK_OK)
            break;
        for (uint32_t i = 0; entries != NULL && i < found && i < room; i++) {
            const qk_tuning_entry *e = &entries[i];
            if (strcmp(e->kernel, entry.kernel) == 0 && e->rows == entry.rows && e->cols == entry.cols &&
                e->batch == entry.batch)
                return qk_tuning_fail_(&reader, "line %" PRIu32 " has this kernel and shape, too; remove one", e->line);
        }
        if (entries != NULL && found < room)
            entries[found] = entry;
        found++;
    }
    if (status != QK_OK)
        return status;
    *count = found;
    if (entries == NULL)
        return QK_OK;
    tuning->entries = entries;
    tuning->count = found < room ? found : room;
    if (found > room)
        return qk_fail(error, QK_ERROR_SIZE, "%.80s: there is room for %" PRIu32 " entries, must be for %" PRIu32, path,
                       room, found);
    return QK_OK;
}

#endif
