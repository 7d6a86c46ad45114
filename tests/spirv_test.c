/* qg_spirv_compile: what comes out, what is said when nothing does, and that threads do not disturb each other. */
#include "emit/spirv.h"
#include "emit/spirv_cache.h"
#include "emit/spirv_shrink.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char good[] = "#version 450\n"
                           "layout(local_size_x_id = 0) in;\n"
                           "layout(std430, binding = 0) readonly buffer In { float data[]; } source;\n"
                           "layout(std430, binding = 1) writeonly buffer Out { float data[]; } result;\n"
                           "float twice(float x) { return x + x; }\n"
                           "void main() {\n"
                           "    uint i = gl_GlobalInvocationID.x;\n"
                           "    precise float scaled = source.data[i] * 3.0;\n"
                           "    precise float value = twice(scaled) - source.data[i + 1u];\n"
                           "    result.data[i] = value;\n"
                           "}\n";

static int open_compiler(void **state) {
    (void)state;
    return qg_spirv_open() ? 0 : -1;
}

static int close_compiler(void **state) {
    (void)state;
    qg_spirv_close();
    return 0;
}

/* How many instructions of that opcode a module has. */
static unsigned count(const uint32_t *words, size_t bytes, uint32_t opcode) {
    unsigned found = 0;
    for (size_t at = 5; at < bytes / 4 && words[at] >> 16 != 0; at += words[at] >> 16) {
        found += (words[at] & 0xffff) == opcode;
    }
    return found;
}

/* The OpDecorate instructions (71) with that decoration. */
static unsigned decorations(const uint32_t *words, size_t bytes, uint32_t decoration) {
    unsigned found = 0;
    for (size_t at = 5; at < bytes / 4 && words[at] >> 16 != 0; at += words[at] >> 16) {
        found += (words[at] & 0xffff) == 71 && words[at + 2] == decoration;
    }
    return found;
}

static void test_module(void **state) {
    (void)state;
    qg_arena *arena = qg_arena_new();
    size_t bytes;
    const char *why;
    const uint32_t *words = qg_spirv_compile(arena, "good.comp", good, &bytes, &why);
    assert_non_null(words);
    assert_null(why);
    assert_int_equal(bytes % 4, 0);
    assert_int_equal(words[0], 0x07230203);
    assert_int_equal(words[1], 0x00010300);
    assert_int_equal(count(words, bytes, 3) + count(words, bytes, 5) + count(words, bytes, 6), 0); /* source, names */
    assert_int_equal(decorations(words, bytes, 1), 1);                                             /* SpecId */
    assert_true(decorations(words, bytes, 42) >= 2); /* NoContraction stays on what was precise */
    qg_arena_free(arena);
}

static void expect_failure(const char *glsl, const char *text) {
    qg_arena *arena = qg_arena_new();
    size_t bytes;
    const char *why = NULL;
    assert_null(qg_spirv_compile(arena, "bad.comp", glsl, &bytes, &why));
    assert_int_equal(bytes, 0);
    assert_non_null(why);
    if (strstr(why, text) == NULL) {
        fail_msg("'%s' is not in:\n%s", text, why);
    }
    qg_arena_free(arena);
}

static void test_errors(void **state) {
    (void)state;
    expect_failure("#version 450\nvoid main() {\n    uint i = missing;\n}\n",
                   "bad.comp:3: error: 'missing' : undeclared identifier\n     3 |     uint i = missing;\n");
    expect_failure("#version 450\n#error stop here\nvoid main() { }\n", "bad.comp:2: error: '#error' : stop here");
    expect_failure("#version 450\nvoid f();\nvoid main() { f(); }\n", "No function definition (body) found");
    expect_failure("#version 450\nvoid f() { }\n", "bad.comp");
    expect_failure("", "bad.comp");
}

/* A text with a function of `lines` lines, which is called `calls` times. */
static const uint32_t *compile_calls(qg_arena *arena, uint32_t lines, uint32_t calls, size_t *bytes) {
    const char *why = NULL;
    qg_text text = qg_text_new(arena);
    qg_text_puts(&text, "#version 450\nlayout(binding = 0) buffer B { uint b[]; };\nuint f(uint x) {\n");
    for (uint32_t i = 0; i < lines; ++i)
        qg_text_printf(&text, "    x = (x ^ b[x & 7u]) * %uu + b[%u];\n", 2 * i + 3, i);
    qg_text_puts(&text, "    return x;\n}\nvoid main() {\n");
    for (uint32_t i = 0; i < calls; ++i) qg_text_printf(&text, "    b[%u] = f(b[%u]);\n", i, i + 9);
    qg_text_puts(&text, "}\n");
    const uint32_t *words = qg_spirv_compile(arena, "calls.comp", text.data, bytes, &why);
    assert_non_null(words);
    return words;
}

/* How many functions a text has whose lanes shuffle what `type` f returns, if it does; `line` is in f, too. */
static uint32_t functions_of_lanes(const char *type, const char *line, const char *last) {
    qg_arena *arena = qg_arena_new();
    const char *why = NULL;
    size_t bytes;
    qg_text text = qg_text_new(arena);
    qg_text_printf(&text,
                   "#version 450\n#extension GL_KHR_shader_subgroup_shuffle : require\n"
                   "layout(binding = 0) buffer B { uint b[]; };\nuint kept[4];\n%s f(uint x) {\n%s",
                   type, line);
    for (uint32_t i = 0; i < 20; ++i) qg_text_printf(&text, "    x = (x ^ b[x & 7u]) * %uu + b[%u];\n", 2 * i + 3, i);
    qg_text_printf(&text, "    b[x & 31u] = x;\n%s}\nvoid main() {\n", last);
    for (uint32_t i = 0; i < 3; ++i) qg_text_printf(&text, "    f(subgroupShuffleXor(b[%u], 1u));\n", i);
    qg_text_puts(&text, "}\n");
    const uint32_t *words = qg_spirv_compile(arena, "lanes.comp", text.data, &bytes, &why);
    assert_non_null(words);
    const uint32_t functions = (uint32_t)count(words, bytes, 54);
    qg_arena_free(arena);
    return functions;
}

/* Where lanes shuffle, a function stays that returns nothing and reaches into nothing that a thread has for itself. */
static void test_functions_of_lanes(void **state) {
    (void)state;
    if (!qg_spirv_shrinks()) skip();
    assert_int_equal(functions_of_lanes("void", "", ""), 2);
    assert_int_equal(functions_of_lanes("void", "    kept[x & 3u] += x, x += kept[b[0] & 3u];\n", ""), 1);
    assert_int_equal(functions_of_lanes("void", "    uvec4 v = uvec4(x); v[x & 3u] = 1u, x = v[b[0] & 3u];\n", ""), 1);
    assert_int_equal(functions_of_lanes("uint", "", "    return x;\n"), 1);
}

/* A large function with several calls is there once, and nothing forbids a driver to inline it; others are not there. */
static void test_functions(void **state) {
    (void)state;
    enum { FUNCTION = 54, CALL = 57, MULTIPLY = 132, DONT_INLINE = 2 };
    if (!qg_spirv_shrinks()) skip();
    qg_arena *arena = qg_arena_new();
    const char *kept = getenv("QKGEN_SPIRV_CACHE"), *before = kept ? qg_strndup(arena, kept, strlen(kept)) : NULL;
    unsetenv("QKGEN_SPIRV_CACHE"); /* what was compiled before is not looked at */
    size_t bytes, flat = 0;
    const char *why = NULL;
    const uint32_t *words = compile_calls(arena, 20, 3, &bytes);
    assert_int_equal(count(words, bytes, FUNCTION), 2);
    assert_int_equal(count(words, bytes, CALL), 3);
    assert_int_equal(count(words, bytes, MULTIPLY), 20);
    for (size_t at = 5; at < bytes / 4; at += words[at] >> 16)
        if ((words[at] & 0xffff) == FUNCTION) assert_int_equal(words[at + 3] & DONT_INLINE, 0);
    const uint32_t *inlined = qg_spirv_flatten(arena, words, bytes / 4, &flat, &why);
    assert_non_null(inlined);
    assert_null(qg_spirv_validate(arena, "flat", inlined, flat));
    assert_int_equal(count(inlined, flat * 4, FUNCTION), 1);
    assert_int_equal(count(inlined, flat * 4, MULTIPLY), 60);
    words = compile_calls(arena, 20, 1, &bytes);
    assert_int_equal(count(words, bytes, FUNCTION), 1);
    words = compile_calls(arena, 1, 3, &bytes);
    assert_int_equal(count(words, bytes, FUNCTION), 1);
    assert_ptr_equal(qg_spirv_flatten(arena, words, bytes / 4, &flat, &why), words);
    assert_int_equal(flat, bytes / 4);
    if (before) setenv("QKGEN_SPIRV_CACHE", before, 1);
    qg_arena_free(arena);
}

typedef struct worker {
    pthread_t thread;
    const uint32_t *words;
    size_t bytes;
    unsigned differing;
} worker;

static void *compile_often(void *data) {
    worker *w = data;
    for (int i = 0; i < 20; i++) {
        qg_arena *arena = qg_arena_new();
        size_t bytes;
        const char *why;
        const uint32_t *words = qg_spirv_compile(arena, "thread.comp", good, &bytes, &why);
        w->differing += words == NULL || bytes != w->bytes || memcmp(words, w->words, bytes) != 0;
        (void)qg_spirv_compile(arena, "thread.comp", "#version 450\nnonsense", &bytes, &why);
        qg_arena_free(arena);
    }
    return NULL;
}

static void test_threads(void **state) {
    (void)state;
    qg_arena *arena = qg_arena_new();
    size_t bytes;
    const char *why;
    const uint32_t *words = qg_spirv_compile(arena, "good.comp", good, &bytes, &why);
    assert_non_null(words);
    worker workers[4] = {0};
    for (size_t i = 0; i < 4; i++) {
        workers[i].words = words;
        workers[i].bytes = bytes;
        assert_int_equal(pthread_create(&workers[i].thread, NULL, compile_often, &workers[i]), 0);
    }
    for (size_t i = 0; i < 4; i++) {
        pthread_join(workers[i].thread, NULL);
        assert_int_equal(workers[i].differing, 0);
    }
    qg_arena_free(arena);
}

/* A module that was kept is taken as it is; one whose file has changed, in any word or in its length, is made again. */
static void test_kept(void **state) {
    (void)state;
    qg_arena *arena = qg_arena_new();
    const char *build = getenv("BUILD"), *kept = getenv("QKGEN_SPIRV_CACHE"), *why = NULL;
    char *before = kept ? qg_strndup(arena, kept, strlen(kept)) : NULL;
    size_t bytes = 0, again = 0, length = 0;
    const uint32_t *fresh = qg_spirv_compile(arena, "good.comp", good, &bytes, &why);
    assert_non_null(fresh);
    setenv("QKGEN_SPIRV_CACHE", build ? build : ".", 1);
    const char *path = qg_spirv_cache_path(arena, good, 99);
    remove(path);
    assert_null(qg_spirv_cache_read(arena, path, &again));
    qg_spirv_cache_write(arena, path, fresh, bytes);
    const uint32_t *words = qg_spirv_cache_read(arena, path, &again);
    assert_non_null(words);
    assert_int_equal(again, bytes);
    assert_memory_equal(words, fresh, bytes);
    unsigned char *file = (unsigned char *)qg_read_file(arena, path, 1 << 20, &length, &why);
    assert_non_null(file);
    for (size_t at = 0; at < length; at += 4) {
        file[at + at / 4 % 4] ^= 16;
        assert_true(qg_write_file(arena, path, file, length) == NULL);
        assert_null(qg_spirv_cache_read(arena, path, &again));
        file[at + at / 4 % 4] ^= 16;
    }
    assert_true(qg_write_file(arena, path, file, length - 4) == NULL);
    assert_null(qg_spirv_cache_read(arena, path, &again));
    remove(path);
    if (before)
        setenv("QKGEN_SPIRV_CACHE", before, 1);
    else
        unsetenv("QKGEN_SPIRV_CACHE");
    qg_arena_free(arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_module),    cmocka_unit_test(test_errors),
        cmocka_unit_test(test_functions), cmocka_unit_test(test_functions_of_lanes),
        cmocka_unit_test(test_kept),      cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, open_compiler, close_compiler);
}
