/* Files of tuning, for the commands that launch kernels. */
#include "cli/run_bench.h"

#include <stdlib.h>
#include <string.h>

const char *qg_tuning_read(qg_arena *arena, const char *path, const char *device, const qk_tuning **tuning) {
    const char *why = NULL;
    size_t length = 0;
    const char *text = qg_read_file(arena, path, 1 << 24, &length, &why);
    if (!text) return qg_format(arena, "cannot read %s: %s", path, why);
    qk_tuning *read = QG_NEW(arena, qk_tuning);
    qk_error error;
    uint32_t count = 0;
    qk_status status = qk_tuning_parse(path, text, device, NULL, &count, read, &error);
    qk_tuning_entry *entries = QG_NEW_ARRAY(arena, qk_tuning_entry, count + 1);
    if (status == QK_OK) status = qk_tuning_parse(path, text, device, entries, &count, read, &error);
    *tuning = read;
    return status == QK_OK ? NULL : qg_format(arena, "%s", error.text);
}

void qg_tuning_place(const qg_case *c, uint64_t *rows, uint64_t *cols, uint32_t *batch) {
    const bool sums = c->family->sums, experts = c->family->experts;
    *rows = !sums ? 1 : experts ? c->batch * c->slots * c->rows : c->rows;
    *cols = sums ? c->cols : c->rows * c->cols;
    *batch = sums && !experts ? (uint32_t)c->batch : 1;
}

/* Sets one constant in an entry; a message when the text is none. */
static bool set_value(qk_tuning_entry *entry, const char *text) {
    const char *equal = strchr(text, '=');
    char *end = NULL;
    const size_t length = equal ? (size_t)(equal - text) : 0;
    const unsigned long number = equal ? strtoul(equal + 1, &end, 10) : 0;
    if (length == 0 || !end || *end || end == equal + 1 || number > UINT32_MAX)
        return qg_complain("--constant must be NAME=VALUE, such as rows=2, not '%s'", text) == 0;
    const qk_tuned_value value = {qk_constant_named(text, length), (uint32_t)number};
    if (value.id == QK_CONSTANT_NONE)
        return qg_complain("no constant is named '%.*s'; rows=2 or local_size_x=128 would set one", (int)length,
                           text) == 0;
    uint32_t i = 0;
    while (i < entry->count && entry->values[i].id != value.id) ++i;
    if (i == QK_MAX_TUNED) return qg_complain("--constant: at most %u constants can be set", QK_MAX_TUNED) == 0;
    if (i == entry->count) entry->count += 1;
    entry->values[i] = value;
    return true;
}

const qk_tuning *qg_tuning_with(qg_arena *arena, const qk_tuning *tuning, const qk_kernel *kernel, const qg_case *c,
                                const qg_texts *texts) {
    qk_tuning *own = QG_NEW(arena, qk_tuning);
    qk_tuning_entry *entry = QG_NEW(arena, qk_tuning_entry);
    uint64_t rows, cols;
    uint32_t batch;
    qg_tuning_place(c, &rows, &cols, &batch);
    const qk_tuning_entry *found = qk_tuning_find(tuning, kernel->name, rows, cols, batch);
    if (found) *entry = *found;
    snprintf(entry->kernel, sizeof entry->kernel, "%s", kernel->name);
    entry->rows = rows;
    entry->cols = cols;
    entry->batch = batch;
    for (uint32_t i = 0; i < texts->count; ++i)
        if (!set_value(entry, texts->items[i])) return NULL;
    own->count = 1;
    own->entries = entry;
    return own;
}
