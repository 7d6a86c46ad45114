/* Diagnostics: the place, the sentence, the line of source, and a caret under what is wrong. */
#include "base/base.h"

#include <string.h>

enum { SHOWN_ERRORS = 20, SHOWN_COLUMNS = 120 };

qg_diag qg_diag_new(qg_arena *arena, bool color) {
    return (qg_diag){.arena = arena, .text = qg_text_new(arena), .color = color};
}

/* The line of `loc` without its end; NULL when the source has no such line. */
static const char *source_line(qg_loc loc, size_t *length) {
    const char *at = loc.source->text;
    const char *end = at + loc.source->length;
    for (uint32_t line = 1; line < loc.line; line++) {
        at = memchr(at, '\n', (size_t)(end - at));
        if (at == NULL) {
            return NULL;
        }
        at++;
    }
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    *length = (size_t)((stop == NULL ? end : stop) - at);
    if (*length > 0 && at[*length - 1] == '\r') {
        --*length;
    }
    return at;
}

static void put_shown(qg_text *text, char byte) {
    char shown = byte == '\t' ? ' ' : byte >= ' ' && byte <= '~' ? byte : '?';
    qg_text_add(text, &shown, 1);
}

/* The source line, or a window of a long one around the caret, and the underline. Each byte takes one column. */
static void show_line(qg_diag *diag, qg_loc loc) {
    size_t length;
    const char *line = source_line(loc, &length);
    if (line == NULL || length == 0) {
        return;
    }
    size_t caret = loc.column > 0 ? loc.column - 1 : 0;
    caret = caret > length ? length : caret;
    size_t start = 0, stop = length;
    if (length > SHOWN_COLUMNS) {
        start = caret < SHOWN_COLUMNS / 2 ? 0 : caret - SHOWN_COLUMNS / 2;
        start = start > length - SHOWN_COLUMNS ? length - SHOWN_COLUMNS : start;
        stop = start + SHOWN_COLUMNS;
    }
    qg_text *text = &diag->text;
    qg_text_puts(text, "    ");
    for (size_t i = start; i < stop; i++) {
        bool cut = (start > 0 && i < start + 3) || (stop < length && i + 3 >= stop);
        put_shown(text, cut ? '.' : line[i]);
    }
    qg_text_puts(text, "\n    ");
    for (size_t i = start; i < caret; i++) {
        put_shown(text, ' ');
    }
    qg_text_puts(text, diag->color ? "\033[32m^" : "^");
    for (size_t i = 1; i < loc.length && caret + i < stop; i++) {
        put_shown(text, '~');
    }
    qg_text_puts(text, diag->color ? "\033[0m\n" : "\n");
}

static void report(qg_diag *diag, qg_loc loc, const char *kind, const char *color, const char *message) {
    qg_text *text = &diag->text;
    if (loc.source != NULL) {
        qg_text_printf(text, "%s:", loc.source->path);
    }
    if (loc.source != NULL && loc.line > 0) {
        qg_text_printf(text, "%u:%u:", loc.line, loc.column);
    }
    const char *space = loc.source != NULL ? " " : "";
    if (diag->color) {
        qg_text_printf(text, "%s\033[1;%sm%s:\033[0m ", space, color, kind);
    } else {
        qg_text_printf(text, "%s%s: ", space, kind);
    }
    qg_text_puts(text, message);
    qg_text_puts(text, "\n");
    if (loc.source != NULL && loc.line > 0) {
        show_line(diag, loc);
    }
}

/* Keeps one last line that counts the errors that are not shown. */
static void count_only(qg_diag *diag) {
    if (diag->errors == SHOWN_ERRORS + 1) {
        diag->shown = diag->text.length;
    }
    diag->text.length = diag->shown;
    uint32_t more = diag->errors - SHOWN_ERRORS;
    qg_text_printf(&diag->text, "%u more error%s not shown\n", more, more == 1 ? " is" : "s are");
}

static const char *format_message(qg_diag *diag, const char *format, va_list list) {
    char message[2048];
    int needed = vsnprintf(message, sizeof message, format, list);
    size_t length = needed < 0 ? 0 : (size_t)needed;
    return qg_strndup(diag->arena, message, length < sizeof message ? length : sizeof message - 1);
}

void qg_error(qg_diag *diag, qg_loc loc, const char *format, ...) {
    diag->errors++;
    if (diag->errors > SHOWN_ERRORS) {
        count_only(diag);
        return;
    }
    va_list list;
    va_start(list, format);
    const char *message = format_message(diag, format, list);
    va_end(list);
    report(diag, loc, "error", "31", message);
}

void qg_note(qg_diag *diag, qg_loc loc, const char *format, ...) {
    if (diag->errors > SHOWN_ERRORS) {
        return;
    }
    va_list list;
    va_start(list, format);
    const char *message = format_message(diag, format, list);
    va_end(list);
    report(diag, loc, "note", "36", message);
}
