/* Reports of judge: hostile text stays text, JSON and SARIF parse and hold what they must, HTML is balanced and alone. */
#include "judge/judge.h"
#include "spec/library.h"

#include <cjson/cJSON.h>

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>

#include <cmocka.h>

#define HOSTILE "<script>alert(\"&'\x01\xff\")</script> \xc3\xa9"

typedef struct bench {
    qg_arena *arena;
    qg_judgement judgement;
    const qg_judgement *list[2];
} bench;

static void add(bench *b, qg_evidence evidence, qg_severity severity, const char *rule, const char *sentence,
                uint32_t bits) {
    qg_judgement *j = &b->judgement;
    const qg_finding f = {.evidence = evidence,
                          .severity = severity,
                          .rule = rule,
                          .sentence = sentence,
                          .code = bits ? 0 : j->layout->n_codes,
                          .bit = 32,
                          .bits = bits,
                          .right = bits ? "0..31" : NULL,
                          .found = bits ? "32..63" : NULL};
    QG_PUSH(b->arena, j->findings, j->n_findings, j->capacity, f);
}

static bench make(void) {
    bench b = {.arena = qg_arena_new()};
    qg_library *library = qg_library_new(b.arena, false);
    const char *source = getenv("SOURCE");
    assert_non_null(source);
    assert_true(qg_library_add_file(library, qg_format(b.arena, "%s/formats/q4_K.quant", source)));
    qg_judgement *j = &b.judgement;
    j->layout = qg_library_find(library, "q4_K");
    assert_non_null(j->layout);
    j->file = HOSTILE, j->kernel = HOSTILE, j->harness = "h", j->family = "values", j->type = "f32", j->where = HOSTILE;
    j->bits = QG_NEW_ARRAY(b.arena, uint8_t *, 1);
    j->bits[0] = QG_NEW_ARRAY(b.arena, uint8_t, 144 * 8);
    memset(j->bits[0], QG_BIT_RIGHT, 144 * 8);
    j->bits[0][32] = QG_BIT_WRONG, j->bits[0][40] = QG_BIT_UNREAD;
    for (int e = 0; e < QG_EVIDENCE_COUNT; ++e) j->runs[e].done = true;
    j->runs[QG_SEEN_SUMS] = (qg_evidence_run){.left_out = HOSTILE};
    add(&b, QG_SEEN_BITS, QG_WRONG, "wrong-element", HOSTILE, 4);
    for (int i = 0; i < 3; ++i) add(&b, QG_SEEN_SHAPES, QG_WRONG, "wrong-shape", "with rows 1: wrong", 0);
    add(&b, QG_SEEN_VALUES, QG_NOTE, "flushed", "small numbers become 0", 0);
    return b;
}

static const char *printed(bench *b, void (*report)(qg_text *, const qg_judgement *const *, uint32_t)) {
    qg_text text = qg_text_new(b->arena);
    b->list[0] = &b->judgement;
    report(&text, b->list, 1);
    return text.data;
}

static uint32_t times(const char *text, const char *part) {
    uint32_t count = 0;
    while ((text = strstr(text, part))) ++count, ++text;
    return count;
}

static void test_text(void **state) {
    (void)state;
    bench b = make();
    qg_text text = qg_text_new(b.arena);
    b.list[0] = &b.judgement;
    qg_report_text(&text, b.list, 1, 2, false);
    assert_int_equal(times(text.data, "wrong  with rows 1: wrong\n"), 2);
    assert_non_null(strstr(text.data, "and 1 more by shapes"));
    assert_non_null(strstr(text.data, "note   small numbers become 0\n"));
    assert_non_null(strstr(text.data, "not taken: " HOSTILE));
    assert_non_null(strstr(text.data, "\n1 kernel judged: 1 wrong (4 findings), 0 clean\n"));
    assert_null(strstr(text.data, "nothing wrong was found"));
    qg_arena_free(b.arena);
}

static void test_json(void **state) {
    (void)state;
    bench b = make();
    cJSON *root = cJSON_Parse(printed(&b, qg_report_json));
    assert_non_null(root);
    const cJSON *j = cJSON_GetArrayItem(cJSON_GetObjectItem(root, "judgements"), 0);
    assert_int_equal(cJSON_GetObjectItem(j, "wrong")->valueint, 4);
    assert_string_equal(cJSON_GetObjectItem(j, "format")->valuestring, "q4_K");
    assert_string_equal(cJSON_GetObjectItem(j, "kernel")->valuestring, "<script>alert(\"&'\x01?\")</script> \xc3\xa9");
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(j, "evidence")), QG_EVIDENCE_COUNT);
    const cJSON *findings = cJSON_GetObjectItem(j, "findings"), *first = cJSON_GetArrayItem(findings, 0);
    assert_int_equal(cJSON_GetArraySize(findings), 5);
    assert_string_equal(cJSON_GetObjectItem(first, "belongs_to")->valuestring, "0..31");
    assert_string_equal(cJSON_GetObjectItem(first, "reaches")->valuestring, "32..63");
    assert_int_equal(cJSON_GetObjectItem(first, "bit")->valueint, 32);
    const char *bits = cJSON_GetObjectItem(cJSON_GetObjectItem(j, "bits"), "blocks")->valuestring;
    assert_int_equal(strlen(bits), 144 * 8);
    assert_true(bits[31] == 'r' && bits[32] == 'w' && bits[40] == 'n');
    cJSON_Delete(root);
    qg_arena_free(b.arena);
}

static void test_sarif(void **state) {
    (void)state;
    bench b = make();
    cJSON *root = cJSON_Parse(printed(&b, qg_report_sarif));
    assert_non_null(root);
    assert_string_equal(cJSON_GetObjectItem(root, "version")->valuestring, "2.1.0");
    const cJSON *run = cJSON_GetArrayItem(cJSON_GetObjectItem(root, "runs"), 0);
    const cJSON *driver = cJSON_GetObjectItem(cJSON_GetObjectItem(run, "tool"), "driver");
    const cJSON *rules = cJSON_GetObjectItem(driver, "rules"), *results = cJSON_GetObjectItem(run, "results"), *r;
    assert_int_equal(cJSON_GetArraySize(rules), 3);
    assert_int_equal(cJSON_GetArraySize(results), 5);
    uint32_t notes = 0;
    cJSON_ArrayForEach(r, results) {
        const cJSON *rule;
        bool known = false;
        cJSON_ArrayForEach(rule, rules) {
            known |=
                !strcmp(cJSON_GetObjectItem(rule, "id")->valuestring, cJSON_GetObjectItem(r, "ruleId")->valuestring);
        }
        assert_true(known);
        notes += !strcmp(cJSON_GetObjectItem(r, "level")->valuestring, "note");
        assert_non_null(cJSON_GetObjectItem(cJSON_GetObjectItem(r, "message"), "text"));
        assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(r, "locations")), 1);
    }
    assert_int_equal(notes, 1);
    cJSON_Delete(root);
    qg_arena_free(b.arena);
}

static void test_html(void **state) {
    static const char *const pairs[] = {"article", "h1",     "h2",    "h3",   "ol", "li", "table", "div",
                                        "span",    "strong", "style", "main", "p",  "i",  "b"};
    (void)state;
    bench b = make();
    const char *html = printed(&b, qg_report_html);
    assert_null(strstr(html, "<script"));
    assert_null(strstr(html, "\x01"));
    assert_null(strstr(html, "http:"));
    assert_null(strstr(html, "https:"));
    assert_null(strstr(html, "src="));
    assert_non_null(strstr(html, "&lt;script&gt;alert(&quot;&amp;'"));
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; ++i) {
        const uint32_t closed = times(html, qg_format(b.arena, "</%s>", pairs[i]));
        assert_int_equal(closed, times(html, qg_format(b.arena, "<%s>", pairs[i])) +
                                     times(html, qg_format(b.arena, "<%s ", pairs[i])));
    }
    assert_int_equal(times(html, "<i class=\""), 144 * 8); /* each bit of the block once */
    assert_int_equal(times(html, "<i class=\"wrong\">x</i>"), 1);
    assert_int_equal(times(html, "<i class=\"never\">-</i>"), 1);
    assert_non_null(strstr(html, "4 findings: the kernel does not do what the specification says."));
    b.judgement.n_findings = 0;
    assert_non_null(strstr(printed(&b, qg_report_html), "Nothing wrong was found."));
    qg_arena_free(b.arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_text), cmocka_unit_test(test_json),
                                       cmocka_unit_test(test_sarif), cmocka_unit_test(test_html)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
