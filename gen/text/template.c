/* Templates: holes, conditions that nest, and other templates; nothing more. What needs a loop or an expression belongs
 * in the generator. */
#include "text/text.h"

#include <string.h>

enum { MOST_REGIONS = 16, MOST_INCLUDES = 8 };

/* Text between @if and @end. */
typedef struct region {
    uint32_t line;  /* of its @if */
    bool otherwise; /* behind its @else */
    bool around;    /* what is around it is taken */
    bool taken;
} region;

/* What is the same in all templates of an expansion. */
typedef struct expansion {
    qg_arena *arena;
    const qg_templates *templates;
    const qg_binding *bindings;
    uint32_t count;
    const char **why;
} expansion;

/* A template, up to the line that is expanded. */
typedef struct place {
    const expansion *of;
    const char *name;
    const struct place *from; /* the template that includes it, or NULL */
    uint32_t depth, line, n_regions;
    region regions[MOST_REGIONS];
    qg_text out;
} place;

/* A line without its end. */
typedef struct text_line {
    const char *text;
    size_t length, indent;
} text_line;

static bool expand_template(place *at);

static bool fail(const place *at, const char *message) {
    qg_text text = qg_text_new(at->of->arena);
    qg_text_printf(&text, "template %s:%u: %s", at->name, at->line, message);
    for (const place *from = at->from; from; from = from->from)
        qg_text_printf(&text, ", included at %s:%u", from->name, from->line);
    *at->of->why = text.data;
    return false;
}

/* @{id.NAME}, in every template: the id of a specialisation constant. */
static const qg_binding ids[] = {
#define ID(id, NAME, name, setter, otherwise, legal, meaning) {"id." name, #id},
    QK_CONSTANTS(ID)};

/* @{schedule.NAME}: the number of a schedule. */
static const qg_binding schedules[] = {
#define SCHEDULE(number, NAME, name, vectors, tile, subgroups, results, bytes, meaning) {"schedule." name, #number},
    QK_SCHEDULES(SCHEDULE)};

static const qg_binding *find_in(const qg_binding *bindings, size_t count, const char *name, size_t length) {
    for (size_t i = 0; i < count; ++i)
        if (strlen(bindings[i].name) == length && memcmp(bindings[i].name, name, length) == 0) return &bindings[i];
    return NULL;
}

static const qg_binding *find(const expansion *of, const char *name, size_t length) {
    const qg_binding *own = find_in(of->bindings, of->count, name, length);
    if (!own) own = find_in(ids, sizeof ids / sizeof *ids, name, length);
    return own ? own : find_in(schedules, sizeof schedules / sizeof *schedules, name, length);
}

/* ---- lines of text ---- */

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

static bool unknown_hole(const place *at, const char *name, size_t length) {
    return fail(at, qg_format(at->of->arena, "there is no hole @{%.*s}", (int)length, name));
}

static bool expand_line(place *at, text_line line) {
    size_t indent, name_length;
    const char *lone = lone_hole(line.text, line.length, &indent, &name_length);
    if (lone) {
        const qg_binding *binding = find(at->of, lone, name_length);
        if (!binding) return unknown_hole(at, lone, name_length);
        if (binding->value) add_indented(&at->out, binding->value, line.text, indent);
        return true;
    }
    for (size_t i = 0; i < line.length;) {
        const char *from = line.text + i, *hole = NULL;
        for (size_t j = i; j + 1 < line.length && !hole; ++j)
            if (line.text[j] == '@' && line.text[j + 1] == '{') hole = line.text + j;
        if (!hole) {
            qg_text_add(&at->out, from, line.length - i);
            break;
        }
        const char *close = memchr(hole, '}', line.length - (size_t)(hole - line.text));
        if (!close) return fail(at, "a hole @{ that no } ends on its line");
        qg_text_add(&at->out, from, (size_t)(hole - from));
        const qg_binding *binding = find(at->of, hole + 2, (size_t)(close - hole) - 2);
        if (!binding) return unknown_hole(at, hole + 2, (size_t)(close - hole) - 2);
        if (binding->value) qg_text_puts(&at->out, binding->value);
        i = (size_t)(close - line.text) + 1;
    }
    qg_text_puts(&at->out, "\n");
    return true;
}

/* ---- lines that begin with @ ---- */

static bool takes(const place *at) { return at->n_regions == 0 || at->regions[at->n_regions - 1].taken; }

static bool begin_region(place *at, const char *name, size_t length) {
    qg_arena *arena = at->of->arena;
    const bool negated = length && *name == '!';
    const qg_binding *binding = find(at->of, name + negated, length - negated);
    if (length == negated) return fail(at, "@if needs the name of a condition");
    if (!binding)
        return fail(at, qg_format(arena, "there is no condition '%.*s'", (int)(length - negated), name + negated));
    if (at->n_regions == MOST_REGIONS) return fail(at, qg_format(arena, "@if nests deeper than %d", MOST_REGIONS));
    const bool around = takes(at);
    at->regions[at->n_regions++] =
        (region){.line = at->line, .around = around, .taken = around && (binding->value != NULL) != negated};
    return true;
}

static bool turn_region(place *at) {
    if (!at->n_regions) return fail(at, "@else without @if");
    region *last = &at->regions[at->n_regions - 1];
    if (last->otherwise) return fail(at, qg_format(at->of->arena, "a second @else of the @if in line %u", last->line));
    last->otherwise = true;
    last->taken = last->around && !last->taken;
    return true;
}

/* What the other template becomes, with the indentation of the line. The name is looked up even where the line is left
 * out, so that a wrong one shows whatever the conditions are. */
static bool include(place *at, text_line line, const char *name, size_t length) {
    qg_arena *arena = at->of->arena;
    place other = {.of = at->of, .name = qg_strndup(arena, name, length), .from = at, .depth = at->depth + 1};
    if (!length) return fail(at, "@include needs the name of a template");
    if (!qg_template_text(at->of->templates, other.name))
        return fail(at, qg_format(arena, "there is no template '%s' among those that are loaded", other.name));
    if (!takes(at)) return true;
    if (other.depth > MOST_INCLUDES)
        return fail(at, qg_format(arena, "@include goes deeper than %d: does it lead back here?", MOST_INCLUDES));
    if (!expand_template(&other)) return false;
    if (other.out.data) add_indented(&at->out, other.out.data, line.text, line.indent);
    return true;
}

static bool is(const char *word, size_t length, const char *expected) {
    return strlen(expected) == length && memcmp(word, expected, length) == 0;
}

/* A line that begins with @ and is no hole. */
static bool expand_directive(place *at, text_line line) {
    const char *word = line.text + line.indent, *end = line.text + line.length, *rest = word + 1;
    while (rest < end && *rest != ' ') ++rest;
    const size_t length = (size_t)(rest - word);
    while (rest < end && *rest == ' ') ++rest;
    const size_t rest_length = (size_t)(end - rest);
    if (is(word, length, "@if")) return begin_region(at, rest, rest_length);
    if (is(word, length, "@include")) return include(at, line, rest, rest_length);
    const bool turns = is(word, length, "@else"), ends = is(word, length, "@end");
    if (!turns && !ends)
        return fail(at,
                    qg_format(at->of->arena, "there is no '%.*s': a line begins with @{, @if, @else, @end or @include",
                              (int)(end - word), word));
    if (rest_length) return fail(at, qg_format(at->of->arena, "%.*s takes nothing behind it", (int)length, word));
    if (turns) return turn_region(at);
    if (!at->n_regions) return fail(at, "@end without @if");
    at->n_regions -= 1;
    return true;
}

static bool expand_template(place *at) {
    const char *next = qg_template_text(at->of->templates, at->name);
    at->out = qg_text_new(at->of->arena);
    while (*next) {
        text_line line = {.text = next, .length = strcspn(next, "\n")};
        next += line.length + (next[line.length] != '\0');
        at->line += 1;
        while (line.indent < line.length && line.text[line.indent] == ' ') ++line.indent;
        const char *first = line.text + line.indent;
        const bool directs = line.indent < line.length && first[0] == '@' && first[1] != '{';
        if (directs ? !expand_directive(at, line) : takes(at) && !expand_line(at, line)) return false;
    }
    if (!at->n_regions) return true;
    at->line = at->regions[at->n_regions - 1].line;
    return fail(at, "this @if has no @end");
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

char *qg_expand(qg_arena *arena, const qg_templates *templates, const char *name, const qg_binding *bindings,
                uint32_t count, const char **why) {
    const expansion of = {arena, templates, bindings, count, why};
    place at = {.of = &of, .name = name};
    if (!qg_template_text(templates, name)) {
        *why = qg_format(arena, "there is no template '%s' among those that are loaded", name);
        return NULL;
    }
    if (!expand_template(&at)) return NULL;
    return squeeze(arena, at.out.data ? at.out.data : "");
}
