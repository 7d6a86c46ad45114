/* Functions that a text calls, out of one that has more: paragraphs, each of which declares one. */
#include "text/text.h"

#include <ctype.h>
#include <string.h>

enum { MOST_FUNCTIONS = 64 };

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

static bool names_word(const char *text, size_t length, const char *word, size_t n) {
    for (size_t i = 0; i + n <= length; ++i)
        if (strncmp(text + i, word, n) == 0 && (i == 0 || !is_word(text[i - 1])) && !is_word(text[i + n])) return true;
    return false;
}

/* What a paragraph declares: the word before the first bracket, or sign of equality, behind its comment. */
static const char *declared_word(const char *paragraph, size_t *n) {
    for (; strncmp(paragraph, "//", 2) == 0; ++paragraph) paragraph = strchr(paragraph, '\n');
    if (strncmp(paragraph, "/*", 2) == 0) paragraph = strstr(paragraph, "*/");
    const char *end = paragraph + strcspn(paragraph, "(="), *word;
    while (end > paragraph && !is_word(end[-1])) --end;
    for (word = end; word > paragraph && is_word(word[-1]);) --word;
    *n = (size_t)(end - word);
    return word;
}

const char *qg_called_functions(qg_arena *arena, const char *all, const char *text) {
    const char *paragraphs[MOST_FUNCTIONS];
    size_t lengths[MOST_FUNCTIONS];
    bool called[MOST_FUNCTIONS] = {false};
    uint32_t count = 0;
    for (const char *at = all; *at && count < MOST_FUNCTIONS; ++count) {
        const char *end = strstr(at, "\n\n");
        paragraphs[count] = at;
        lengths[count] = end ? (size_t)(end - at) : strlen(at);
        at += lengths[count] + strspn(at + lengths[count], "\n");
    }
    for (uint32_t i = count; i-- > 0;) {
        size_t n;
        const char *word = declared_word(paragraphs[i], &n);
        called[i] = names_word(text, strlen(text), word, n);
        for (uint32_t k = i + 1; k < count; ++k)
            called[i] |= called[k] && names_word(paragraphs[k], lengths[k], word, n);
    }
    qg_text result = qg_text_new(arena);
    qg_text_puts(&result, "");
    for (uint32_t i = 0; i < count; ++i)
        if (called[i]) qg_text_printf(&result, "%s%.*s", result.length ? "\n\n" : "", (int)lengths[i], paragraphs[i]);
    return result.data;
}
