/* Templates: what is taken of them, how it is indented, and what is wrong in them. */
#include "text/text.h"

#include <setjmp.h>
#include <string.h>

#include <cmocka.h>

static const qg_binding bindings[] = {{"yes", ""},         {"also", "text"}, {"no", NULL},
                                      {"lines", "a\nb\n"}, {"empty", ""},    {"word", "w"}};

/* What becomes of template `main`, with `other` beside it; or "error: " and what is wrong. */
static const char *expand(qg_arena *arena, const char *text, const char *other) {
    const qg_template items[] = {{"other", "templates/other", other}, {"main", "templates/main", text}};
    const qg_templates templates = {2, items};
    const char *why = NULL;
    const char *expanded = qg_expand(arena, &templates, "main", bindings, sizeof bindings / sizeof *bindings, &why);
    assert_true((expanded == NULL) == (why != NULL));
    return expanded ? expanded : qg_format(arena, "error: %s", why);
}

typedef struct example {
    const char *text, *expected;
} example;

static void check(const example *examples, size_t count, const char *other) {
    qg_arena *arena = qg_arena_new();
    for (size_t i = 0; i < count; ++i)
        assert_string_equal(expand(arena, examples[i].text, other), examples[i].expected);
    qg_arena_free(arena);
}

#define CHECK(examples, other) check(examples, sizeof(examples) / sizeof *(examples), other)

static void holes(void **state) {
    (void)state;
    static const example examples[] = {
        {"", ""},
        {"one line without end", "one line without end\n"},
        {"a @{word}@{word} b@{no}@{empty}c\n", "a ww bc\n"},
        {"  @{lines}\nafter\n", "  a\n  b\nafter\n"},
        {"before\n    @{empty}\n    @{no}\nafter\n", "before\nafter\n"},
        {"@{id.local_size_x}\n", "0\n"},
        {"\n\na\n\n\n\nb\n", "a\n\nb\n"},
        {"{word} @ a@b\n", "{word} @ a@b\n"},
        {"@{nothing}\n", "error: template main:1: there is no hole @{nothing}"},
        {"a\nb @{wor} c\n", "error: template main:2: there is no hole @{wor}"},
        {"a @{word\n}\n", "error: template main:1: a hole @{ that no } ends on its line"},
        {"@if no\n@{nothing}\n@end\nb\n", "b\n"}, /* other kernels have it */
    };
    CHECK(examples, NULL);
}

static void conditions(void **state) {
    (void)state;
    static const example examples[] = {
        {"@if yes\na\n@else\nb\n@end\nc\n", "a\nc\n"},
        {"@if no\na\n@else\nb\n@end\nc\n", "b\nc\n"},
        {"@if !yes\na\n@else\nb\n@end\n", "b\n"},
        {"@if !no\na\n@end\n", "a\n"},
        {"@if also\na\n@end", "a\n"},
        {"@if yes\n1\n  @if no\n2\n  @else\n3\n  @end\n4\n@else\n5\n  @if yes\n6\n  @else\n7\n  @end\n@end\n8\n",
         "1\n3\n4\n8\n"},
        {"@if no\n1\n@if yes\n2\n@else\n3\n@end\n4\n@else\n5\n@if yes\n6\n@else\n7\n@end\n@end\n8\n", "5\n6\n8\n"},
        /* What is left out stays so, whatever the conditions within. */
        {"@if no\n@if no\n1\n@else\n2\n@if yes\n3\n@end\n@end\n@end\n4\n", "4\n"},
        {"@if yes\n@if yes\n@if no\n1\n@end\n2\n@end\n3\n@end\n", "2\n3\n"},
    };
    CHECK(examples, NULL);
}

static void unbalanced(void **state) {
    (void)state;
    static const example examples[] = {
        {"a\n@end\n", "error: template main:2: @end without @if"},
        {"@if yes\n@end\n@end\n", "error: template main:3: @end without @if"},
        {"a\n\n@else\n@end\n", "error: template main:3: @else without @if"},
        {"@if yes\n@else\n@else\n@end\n", "error: template main:3: a second @else of the @if in line 1"},
        {"@if no\n@if no\n@else\n@end\n@else\na\n@else\n@end\n",
         "error: template main:7: a second @else of the @if in line 1"},
        {"a\n@if yes\nb\n", "error: template main:2: this @if has no @end"},
        {"@if no\n@if yes\n@else\nb\n@end\n", "error: template main:1: this @if has no @end"},
    };
    CHECK(examples, NULL);
}

static void words(void **state) {
    (void)state;
    static const char known[] = ": a line begins with @{, @if, @else, @end or @include";
    qg_arena *arena = qg_arena_new();
    static const char *const wrong[] = {"@endif", "@elif yes", "@", "@ if yes", "@ifyes", "@include(other)", "@END"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i) {
        const char *expected = qg_format(arena, "error: template main:2: there is no '%s'%s", wrong[i], known);
        assert_string_equal(expand(arena, qg_format(arena, "a\n  %s\n", wrong[i]), NULL), expected);
        assert_string_equal(expand(arena, qg_format(arena, "@if no\n%s\n@end\n", wrong[i]), NULL), expected);
    }
    qg_arena_free(arena);
    static const example examples[] = {
        {"@if\n@end\n", "error: template main:1: @if needs the name of a condition"},
        {"@if !\n@end\n", "error: template main:1: @if needs the name of a condition"},
        {"a\n@if nothing\n@end\n", "error: template main:2: there is no condition 'nothing'"},
        {"@if !nothing\n@end\n", "error: template main:1: there is no condition 'nothing'"},
        {"@if ye\n@end\n", "error: template main:1: there is no condition 'ye'"},
        {"@if yes no\n@end\n", "error: template main:1: there is no condition 'yes no'"},
        {"@if no\n@if nothing\n@end\n@end\n", "error: template main:2: there is no condition 'nothing'"},
        {"@if yes\n@else no\n@end\n", "error: template main:2: @else takes nothing behind it"},
        {"@if yes\n@end yes\n", "error: template main:2: @end takes nothing behind it"},
        {"@include\n", "error: template main:1: @include needs the name of a template"},
    };
    CHECK(examples, NULL);
}

static void included(void **state) {
    (void)state;
    static const example good[] = {
        {"a\n@include other\nb\n", "a\nx w\n\n  a\n  b\nb\n"},
        {"a\n    @include other\nb\n", "a\n    x w\n\n      a\n      b\nb\n"},
        {"@if yes\n  @if no\n@include other\n  @else\nc\n  @end\n@end\n", "c\n"},
        {"@include nothing\n", "error: template main:1: there is no template 'nothing' among those that are loaded"},
        {"@if no\n@include nothing\n@end\n",
         "error: template main:2: there is no template 'nothing' among those that are loaded"},
        {"a\n@include main\n",
         "error: template main:2: @include goes deeper than 8: does it lead back here?, included at main:2, included "
         "at "
         "main:2, included at main:2, included at main:2, included at main:2, included at main:2, included at main:2, "
         "included at main:2"},
    };
    CHECK(good, "@if yes\nx @{word}\n\n  @{lines}\n@else\ny\n@end\n");
    static const example empty[] = {{"a\n@include other\nb\n", "a\nb\n"}};
    CHECK(empty, "");
    CHECK(empty, "@if no\nx\n@end\n");
    /* A region ends where it began. */
    static const example open[] = {
        {"@if yes\na\n@include other\n", "error: template other:1: @end without @if, included at main:3"}};
    CHECK(open, "@end\n");
    static const example within[] = {
        {"@include other\n@end\n", "error: template other:2: this @if has no @end, included at main:1"}};
    CHECK(within, "x\n@if yes\n");
    static const example hole[] = {
        {"a\n@include other\n", "error: template other:3: there is no hole @{nothing}, included at main:2"}};
    CHECK(hole, "x\n\n@{nothing}\n");
}

static void deep(void **state) {
    (void)state;
    qg_arena *arena = qg_arena_new();
    for (int depth = 16; depth <= 17; ++depth) {
        qg_text text = qg_text_new(arena);
        for (int i = 0; i < depth; ++i) qg_text_puts(&text, i % 2 ? "@if !no\n" : "@if yes\n");
        qg_text_puts(&text, "a\n");
        for (int i = 0; i < depth; ++i) qg_text_puts(&text, "@end\n");
        assert_string_equal(expand(arena, text.data, NULL),
                            depth == 16 ? "a\n" : "error: template main:17: @if nests deeper than 16");
    }
    /* main, then 1 to 8 or 9, each of which includes the next. */
    for (uint32_t depth = 8; depth <= 9; ++depth) {
        qg_template items[10];
        for (uint32_t i = 0; i <= depth; ++i) {
            items[i] = (qg_template){.name = qg_format(arena, "%u", i), .text = "a\n"};
            if (i < depth) items[i].text = qg_format(arena, "  @include %u\n", i + 1);
        }
        const qg_templates templates = {depth + 1, items};
        const char *why = NULL;
        const char *expanded = qg_expand(arena, &templates, "0", NULL, 0, &why);
        if (depth == 8)
            assert_string_equal(expanded, "                a\n");
        else
            assert_ptr_equal(strstr(why, "template 8:1: @include goes deeper than 8"), why);
    }
    qg_arena_free(arena);
}

static void unknown_template(void **state) {
    (void)state;
    qg_arena *arena = qg_arena_new();
    const qg_templates none = {0, NULL};
    const char *why = NULL;
    assert_null(qg_expand(arena, &none, "main", NULL, 0, &why));
    assert_string_equal(why, "there is no template 'main' among those that are loaded");
    qg_arena_free(arena);
}

/* ---- long lines ---- */

static void long_lines(void **state) {
    (void)state;
    qg_arena *arena = qg_arena_new();
    const char *head = "    const float dot = x[0].x * w0 + x[0].y * w1 + x[0].z * w2 + x[0].w * w3";
    static const struct {
        const char *tail, *wrapped;
    } of_head[] = {{";\n", ";\n"},
                   {" + x[1].x * w4 + x[1].y * w5 + x[1].z * w6 + x[1].w * w7 + x[2].x * w8;\n",
                    " + x[1].x * w4 + x[1].y * w5 + x[1].z * w6 + x[1].w * w7\n        + x[2].x * w8;\n"},
                   {" + (x[1].x * w4 + x[1].y * w5 + x[1].z * w6 + x[1].w * w7 + x[2].x * w8);",
                    "\n        + (x[1].x * w4 + x[1].y * w5 + x[1].z * w6 + x[1].w * w7 + x[2].x * w8);\n"},
                   {";  // of which nothing is left out, and to which nothing is added, whatever x may be", NULL}};
    for (size_t i = 0; i < sizeof of_head / sizeof *of_head; ++i) {
        const char *wrapped = qg_wrap(arena, qg_format(arena, "%s%s", head, of_head[i].tail));
        if (of_head[i].wrapped)
            assert_string_equal(wrapped, qg_format(arena, "%s%s", head, of_head[i].wrapped));
        else /* a comment goes before its code */
            assert_string_equal(wrapped,
                                qg_format(arena,
                                          "    // of which nothing is left out, and to which nothing is added, "
                                          "whatever x may be\n%s;\n",
                                          head));
    }
    const char *names =
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb, ccccccccccccccccccccccccccccccc, "
        "dddddddddddddddddddddddd, ";
    assert_string_equal(qg_wrap(arena, qg_format(arena, "void f(%suint e) {\n", names)),
                        qg_format(arena, "void f(%.*s\n    uint e) {\n", (int)strlen(names) - 1, names));
    /* A directive, a line that goes on, and a string are as they were. */
    const char *name = "one_name_of_sixty_characters_one_name_of_sixty_characters_60";
    const char *words = qg_format(arena, "%s, %s, %s", name, name, name);
    char *kept[] = {qg_format(arena, "#define F(a) %s\n", words), qg_format(arena, "    %s \\\n", words),
                    qg_format(arena, "char *s = \"%s\";\n", words)};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; ++i) assert_string_equal(qg_wrap(arena, kept[i]), kept[i]);
    assert_null(qg_wrap(arena, NULL));
    char empty[] = "";
    assert_string_equal(qg_wrap(arena, empty), "");
    qg_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(long_lines), cmocka_unit_test(holes),
                                       cmocka_unit_test(conditions), cmocka_unit_test(unbalanced),
                                       cmocka_unit_test(words),      cmocka_unit_test(included),
                                       cmocka_unit_test(deep),       cmocka_unit_test(unknown_template)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
