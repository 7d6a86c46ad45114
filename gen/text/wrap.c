/* Long lines of emitted text are broken where their expression is: at the outermost operators and commas. */
#include "text/text.h"

#include <string.h>

enum { COLUMNS = 140, SHORTEST = 40, STEP = 4 };

static bool at(const char *line, size_t i, size_t length, const char *word) {
    const size_t n = strlen(word);
    return i + n <= length && memcmp(line + i, word, n) == 0;
}

/* What a line is: its indentation, its code, and the comment behind it. */
typedef struct line_parts {
    size_t indent, code; /* lengths; the comment begins behind both */
} line_parts;

static line_parts parts_of(const char *line, size_t length) {
    line_parts p = {0, 0};
    while (p.indent < length && line[p.indent] == ' ') ++p.indent;
    bool quoted = false;
    size_t end = p.indent;
    for (; end < length; ++end) {
        if (line[end] == '"' && line[end - (end > 0)] != '\\') quoted = !quoted;
        if (!quoted && (at(line, end, length, "//") || at(line, end, length, "/*"))) break;
    }
    while (end > p.indent && line[end - 1] == ' ') --end;
    p.code = end - p.indent;
    return p;
}

/* How loosely what a line may be broken at binds, loosest first; TIGHT: it may not be broken there. Before an operator,
 * or behind a comma, a semicolon, the head of a loop. */
typedef enum looseness { BEHIND, CHOICE, LOGIC, BITS, SUM, PRODUCT, TIGHT } looseness;

static looseness looseness_before(const char *code, size_t i, size_t length, int depth) {
    static const struct {
        const char *word;
        looseness how;
    } operators[] = {{"? ", CHOICE}, {": ", CHOICE}, {"&& ", LOGIC}, {"|| ", LOGIC},  {"| ", BITS},    {"& ", BITS},
                     {"^ ", BITS},   {"+ ", SUM},    {"- ", SUM},    {"* ", PRODUCT}, {"/ ", PRODUCT}, {"% ", PRODUCT}};
    if (i < 3 || code[i - 1] != ' ' || code[i] == ' ') return TIGHT;
    if (code[i - 2] == ',' || code[i - 2] == ';') return BEHIND;
    for (size_t k = 0; k < sizeof operators / sizeof *operators; ++k)
        if (at(code, i, length, operators[k].word)) return operators[k].how;
    return code[i - 2] == ')' && depth == 0 && code[i] != '=' && code[i] != '{' ? BEHIND : TIGHT;
}

/* Where to break code that has `length` characters, of which `room` fit: at the least depth of brackets, there at what
 * binds loosest, and of equals at the last; 0: nowhere. */
static size_t place_of_break(const char *code, size_t length, size_t room) {
    size_t best = 0;
    int depth = 0, best_depth = 0;
    looseness best_how = TIGHT;
    bool quoted = false;
    for (size_t i = 0; i < length && i <= room; ++i) {
        const char c = code[i];
        if (c == '"' && code[i - (i > 0)] != '\\') quoted = !quoted;
        if (quoted) continue;
        const looseness how = looseness_before(code, i, length, depth);
        const bool better = depth < best_depth || (depth == best_depth && how <= best_how);
        if (how != TIGHT && (better || best < SHORTEST)) {
            best = i;
            best_depth = depth;
            best_how = how;
        }
        depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
    }
    return best;
}

static void add_blanks(qg_text *out, size_t count) {
    while (count--) qg_text_puts(out, " ");
}

static void add_code(qg_text *out, const char *code, size_t length, size_t indent) {
    for (size_t own = indent; length > 0; own = indent + STEP) {
        const size_t fits = COLUMNS > own ? COLUMNS - own : 1;
        size_t end = length <= fits ? length : place_of_break(code, length, fits);
        if (end == 0) end = length;
        add_blanks(out, own);
        size_t shown = end;
        while (shown > 0 && code[shown - 1] == ' ') --shown;
        qg_text_add(out, code, shown);
        qg_text_puts(out, "\n");
        code += end;
        length -= end;
    }
}

/* A line that is a comment, or the comment of a line: words after `open`, on further lines after `next`. */
static void add_comment(qg_text *out, const char *text, size_t length, size_t indent, const char *open,
                        const char *next) {
    for (; length > 0; open = next) {
        const size_t room = COLUMNS - indent - strlen(open);
        size_t end = length;
        if (length > room)
            for (end = room; end > 0 && text[end] != ' '; --end) continue;
        if (end == 0) end = length;
        add_blanks(out, indent);
        qg_text_puts(out, open);
        qg_text_add(out, text, end);
        qg_text_puts(out, "\n");
        while (end < length && text[end] == ' ') ++end;
        text += end;
        length -= end;
    }
}

static void add_long_line(qg_text *out, const char *line, size_t length) {
    const line_parts p = parts_of(line, length);
    if (at(line, p.indent, length, "* ")) { /* within a comment of several lines */
        add_comment(out, line + p.indent + 2, length - p.indent - 2, p.indent, "* ", "* ");
        return;
    }
    const char *comment = line + p.indent + p.code;
    size_t left = length - p.indent - p.code;
    while (left > 0 && *comment == ' ') ++comment, --left;
    if (left > 3 && at(comment, 0, left, "// ")) {
        /* Code that is short without its comment has it on the line before. */
        add_comment(out, comment + 3, left - 3, p.indent, "// ", "// ");
        left = 0;
    }
    if (left > 0 && p.code == 0 && at(comment, 0, left, "/* ")) {
        add_comment(out, comment + 3, left - 3, p.indent, "/* ", " * ");
        return;
    }
    const bool directive = p.code > 0 && (line[p.indent] == '#' || line[length - 1] == '\\');
    if (left > 0 || directive) {
        qg_text_add(out, line, length);
        qg_text_puts(out, "\n");
        return;
    }
    add_code(out, line + p.indent, p.code, p.indent);
}

char *qg_wrap(qg_arena *arena, char *text) {
    qg_text out = qg_text_new(arena);
    const char *from = text; /* what is not yet in `out`: lines that are short */
    for (const char *line = text; line && *line;) {
        const char *end = strchr(line, '\n');
        const size_t length = end ? (size_t)(end - line) : strlen(line);
        if (length > COLUMNS) {
            qg_text_add(&out, from, (size_t)(line - from));
            add_long_line(&out, line, length);
            from = line + length + (end != NULL);
        }
        line += length + (end != NULL);
    }
    if (from == text) return text;
    qg_text_puts(&out, from);
    return out.data;
}
