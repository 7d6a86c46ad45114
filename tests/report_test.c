/* The reports of `qkgen judge`: judgements that are made up here, with hostile texts among them, in each report.
 *
 *   report_test                runs the tests
 *   report_test --page FILE    writes the page, for a browser (browser.sh) */
#include "judge/report.h"
#include "spec/library.h"

#include <cjson/cJSON.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HOSTILE                                                                                                        \
    "k<script>alert(\"1\")</script>&'\x1b[31m\n\xe2\x80\xae"                                                           \
    "\xc3\xa9\xff.comp"

enum { JUDGEMENTS = 5, MANY = 70 };

typedef struct fixture {
    qg_arena *arena;
    qg_library *known;
    qg_judgement judgements[JUDGEMENTS];
    const qg_judgement *list[JUDGEMENTS];
} fixture;

/* ---- judgements -------------------------------------------------------------------------------------------------- */

/* All bits as the specification has them, and all evidence taken. */
static qg_judgement *begin(fixture *f, uint32_t index, const char *format, const char *file) {
    qg_judgement *it = &f->judgements[index];
    const qg_layout *layout = qg_library_find(f->known, format);
    assert_non_null(layout);
    *it = (qg_judgement){.layout = layout,
                         .file = file,
                         .kernel = "main",
                         .harness = "ggml-vulkan-dequant",
                         .family = "dequant",
                         .type = "f16",
                         .where = "llvmpipe (LLVM 15.0.6, 256 bits), subgroups of 8",
                         .seconds = 1.25};
    it->bits = QG_NEW_ARRAY(f->arena, uint8_t *, layout->n_buffers);
    for (uint32_t b = 0; b < layout->n_buffers; b++) {
        const qg_owner *owners = qg_bit_map(f->arena, layout, b);
        it->bits[b] = QG_NEW_ARRAY(f->arena, uint8_t, layout->buffers[b].bytes * 8);
        for (uint32_t bit = 0; bit < layout->buffers[b].bytes * 8; bit++) {
            it->bits[b][bit] = owners[bit].kind == QG_OWNER_SPARE ? QG_BIT_SPARE : QG_BIT_RIGHT;
        }
    }
    for (uint32_t e = 0; e < QG_EVIDENCE_COUNT; e++) {
        it->runs[e] = (qg_evidence_run){.done = true, .launches = e + 1, .compared = 295168 * (e + 1), .seconds = 0.2};
    }
    it->runs[QG_SEEN_SUMS] = (qg_evidence_run){.left_out = "the kernel sums nothing"};
    f->list[index] = it;
    return it;
}

static void find(fixture *f, qg_judgement *it, qg_finding finding) {
    for (uint32_t i = 0; i < finding.bits; i++) {
        it->bits[finding.buffer][finding.bit + i] = strcmp(finding.found, "none") == 0 ? QG_BIT_UNREAD : QG_BIT_WRONG;
    }
    QG_PUSH(f->arena, it->findings, it->n_findings, it->capacity, finding);
}

/* Bits [bit, bit + bits) of the only buffer reach `found` in place of the elements of their owner. */
static void misread(fixture *f, qg_judgement *it, uint32_t bit, uint32_t bits, const char *found) {
    const qg_owner *owners = qg_bit_map(f->arena, it->layout, 0);
    const qg_code *code = &it->layout->codes[owners[bit].code];
    uint32_t first = owners[bit].instance * code->per, last = first + code->per - 1;
    const char *right = first == last ? qg_format(f->arena, "%u", first) : qg_format(f->arena, "%u..%u", first, last);
    bool unread = strcmp(found, "none") == 0;
    find(
        f, it,
        (qg_finding){.evidence = QG_SEEN_BITS,
                     .severity = QG_WRONG,
                     .rule = unread ? "unread-bits" : "wrong-element",
                     .sentence = qg_format(f->arena, "bits %u..%u of the block (of %s%u) reach %s%s; they belong to %s",
                                           bit, bit + bits - 1, code->name, owners[bit].instance,
                                           unread ? "no element" : "elements ", unread ? "" : found, right),
                     .code = owners[bit].code,
                     .bit = bit,
                     .bits = bits,
                     .right = right,
                     .found = found});
}

/* The scales of groups 4 to 7, taken for those of 0 to 3 by a kernel that knows no high bits. */
static void make_scales(fixture *f) {
    qg_judgement *it = begin(f, 0, "q4_K", "kernels/dequant_q4_k.spv");
    for (uint32_t g = 0; g < 4; g++) {
        misread(f, it, 32 + 64 + g * 8, 4, qg_format(f->arena, "%u..%u", g * 32, g * 32 + 31));
        misread(f, it, 32 + 64 + g * 8 + 4, 4,
                qg_format(f->arena, "%u..%u and %u..%u", g * 32, g * 32 + 31, 128 + g * 32, 159 + g * 32));
        misread(f, it, 32 + g * 8 + 6, 2, "none");
    }
    find(f, it,
         (qg_finding){.evidence = QG_SEEN_SHAPES,
                      .severity = QG_WRONG,
                      .rule = "unwritten-result",
                      .sentence = "256 results are not written",
                      .repeat = "1 row of 256, zeros",
                      .code = it->layout->n_codes});
    find(f, it,
         (qg_finding){.evidence = QG_SEEN_ORDER,
                      .severity = QG_NOTE,
                      .rule = "one-subgroup-size",
                      .sentence = "the device has subgroups of one size, 8, so that no other was tried",
                      .code = it->layout->n_codes});
}

/* Many findings, in codes of one element each. */
static void make_many(fixture *f) {
    qg_judgement *it = begin(f, 1, "q6_K", "kernels/dequant_q6_k.comp");
    for (uint32_t i = 0; i < MANY; i++) {
        misread(f, it, i * 8, 4, qg_format(f->arena, "%u", i ^ 1));
    }
    it->runs[QG_SEEN_ORDER].left_out = "other sizes of subgroups: the device has but one";
}

/* Texts from a file's name, a driver, a kernel. */
static void make_hostile(fixture *f) {
    qg_judgement *it = begin(f, 2, "q4_K", HOSTILE);
    it->kernel = it->harness = it->family = it->type = it->where = it->sum = HOSTILE;
    it->runs[QG_SEEN_PLACES] = (qg_evidence_run){.left_out = HOSTILE};
    find(f, it,
         (qg_finding){.evidence = QG_SEEN_BITS,
                      .severity = QG_WRONG,
                      .rule = HOSTILE,
                      .sentence = HOSTILE,
                      .repeat = HOSTILE,
                      .code = 0,
                      .bit = 3,
                      .bits = 2,
                      .right = HOSTILE,
                      .found = HOSTILE});
}

static int open_all(void **state) {
    static fixture f;
    const char *source = getenv("SOURCE");
    f.arena = qg_arena_new();
    f.known = qg_library_new(f.arena, false);
    qg_library_add_folder(f.known, qg_format(f.arena, "%s/formats", source ? source : "."));
    make_scales(&f);
    make_many(&f);
    make_hostile(&f);
    begin(&f, 3, "affine_b4_g64_f16", "kernels/several buffers.metal");
    qg_judgement *none = begin(&f, 4, "q4_0", "kernels/a:b.comp");
    memset(none->runs, 0, sizeof none->runs);
    none->bits = NULL;
    *state = &f;
    return 0;
}

static int close_all(void **state) {
    qg_arena_free(((fixture *)*state)->arena);
    return 0;
}

/* ---- what is looked for ------------------------------------------------------------------------------------------ */

static void holds(const char *text, const char *piece) {
    if (strstr(text, piece) == NULL) fail_msg("no '%s' in:\n%.3000s", piece, text);
}

static void lacks(const char *text, const char *piece) {
    const char *at = strstr(text, piece);
    if (at != NULL) fail_msg("'%s' in: %.200s", piece, at);
}

static uint32_t count_of(const char *text, const char *piece) {
    const size_t length = strlen(piece);
    uint32_t count = 0;
    for (; *text != 0; text++)
        count += strncmp(text, piece, length) == 0; /* sanitizers read all that follows for each strstr */
    return count;
}

static bool is_utf8(const char *text) {
    for (const unsigned char *at = (const unsigned char *)text; *at != 0;) {
        uint32_t more = *at < 0x80 ? 0 : *at >> 5 == 6 ? 1 : *at >> 4 == 14 ? 2 : *at >> 3 == 30 ? 3 : 9;
        at++;
        for (; more > 0; more--, at++) {
            if (more > 3 || *at >> 6 != 2) return false;
        }
    }
    return true;
}

static const char *string_of(const cJSON *object, const char *name) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    if (!cJSON_IsString(item)) fail_msg("%s is no text", name);
    return item->valuestring;
}

static double number_of(const cJSON *object, const char *name) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    if (!cJSON_IsNumber(item)) fail_msg("%s is no number", name);
    return item->valuedouble;
}

static const cJSON *member(const cJSON *object, const char *name) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    if (item == NULL) fail_msg("there is no %s", name);
    return item;
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

static const char *text_of(const fixture *f, uint32_t count, uint32_t most, bool color) {
    qg_text text = qg_text_new(f->arena);
    qg_report_text(&text, f->list, count, most, color);
    return text.data;
}

static void test_text(void **state) {
    const char *text = text_of(*state, JUDGEMENTS, 4, false);
    holds(text,
          "kernels/dequant_q4_k.spv: main, dequant of q4_K to f16, on llvmpipe (LLVM 15.0.6, 256 bits), subgroups of "
          "8, 1.2 s\n  harness ggml-vulkan-dequant\n");
    holds(text, "\n  bits    done, 1 launch, 295,168 values compared, 12 wrong\n");
    holds(text, "\n    wrong  bits 96..99 of the block (of sc4) reach elements 0..31; they belong to 128..159\n");
    holds(text, "\n    and 8 more\n  values  done, 2 launches, 590,336 values compared, none wrong\n");
    holds(text, "\n    wrong  256 results are not written\n           seen with 1 row of 256, zeros\n");
    holds(text, "\n    note   the device has subgroups");
    holds(text, "none wrong; left out: other sizes of subgroups: the device has but one\n");
    holds(text, "\n  sums    left out: the kernel sums nothing\n");
    holds(text, "\n  bits    left out\n");
    holds(text, "\n5 kernels judged: 3 wrong (84 findings), 1 clean, 1 not judged\n");
    lacks(text, "\x1b");
    lacks(text, "\xe2\x80\xae");
    holds(text, "\\x1B[31m\\x0A\\u{202E}\xc3\xa9\xef\xbf\xbd.comp");
    assert_true(is_utf8(text));
}

/* What is wrong is not hidden behind notes, and colour is no more than colour. */
static void test_text_cut(void **state) {
    fixture *f = *state;
    const char *none = text_of(f, 1, 0, false);
    holds(none, "    and 12 more\n");
    holds(none, "    and 1 more, none of them wrong\n");
    const char *color = text_of(f, 1, 99, true), *plain = text_of(f, 1, 99, false);
    holds(color, "    \033[1;31mwrong\033[0m  256 results");
    holds(color, "    \033[1;36mnote\033[0m   the device");
    qg_text bare = qg_text_new(f->arena);
    for (const char *at = color; *at != '\0'; at++) {
        if (*at == '\033') {
            at = strchr(at, 'm');
        } else {
            qg_text_add(&bare, at, 1);
        }
    }
    assert_string_equal(bare.data, plain);
    fixture mixed = *f;
    qg_finding both[] = {f->judgements[0].findings[13], f->judgements[0].findings[12]};
    both[0].evidence = both[1].evidence;
    mixed.judgements[0].findings = both;
    mixed.judgements[0].n_findings = 2;
    mixed.list[0] = &mixed.judgements[0];
    const char *cut = text_of(&mixed, 1, 1, false);
    holds(cut, "    wrong  256 results");
    holds(cut, "    and 1 more, none of them wrong\n");
    holds(text_of(f, 0, 9, false), "0 kernels judged: 0 clean\n");
}

/* What is no UTF-8: cut off, longer than needed, a surrogate, beyond the last character. */
static void test_utf8(void **state) {
    qg_arena *arena = ((fixture *)*state)->arena;
    assert_string_equal(qg_report_utf8(arena, "a\xe2(z"), "a\xef\xbf\xbd(z");
    assert_string_equal(qg_report_utf8(arena, "\xe2\x80"), "\xef\xbf\xbd\xef\xbf\xbd");
    assert_string_equal(qg_report_utf8(arena, "\xc0\xaf"), "\xef\xbf\xbd\xef\xbf\xbd");
    assert_string_equal(qg_report_utf8(arena, "\xed\xa0\x80"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    assert_string_equal(qg_report_utf8(arena, "\xf4\x90\x80\x80"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    assert_string_equal(qg_report_utf8(arena, "\xef\xbf\xbd\xf0\x9f\x98\x80"), "\xef\xbf\xbd\xf0\x9f\x98\x80");
    assert_string_equal(qg_report_utf8(arena, NULL), "");
    assert_string_equal(qg_report_visible(arena, "\t\x7f\xc2\x9b"), "\\x09\\x7F\\x9B");
}

/* ---- JSON -------------------------------------------------------------------------------------------------------- */

static cJSON *parsed(const char *text) {
    assert_true(is_utf8(text));
    cJSON *root = cJSON_ParseWithOpts(text, NULL, true);
    assert_non_null(root);
    return root;
}

static void check_states(const cJSON *buffer) {
    const cJSON *run;
    double next = 0;
    cJSON_ArrayForEach(run, member(buffer, "states")) {
        assert_true(number_of(run, "bit") == next);
        next += number_of(run, "bits");
        string_of(run, "state");
    }
    assert_true(next == number_of(buffer, "bytes") * 8);
}

static void test_json(void **state) {
    const fixture *f = *state;
    qg_text text = qg_text_new(f->arena);
    qg_report_json(&text, f->list, JUDGEMENTS);
    cJSON *root = parsed(text.data);
    assert_true(number_of(root, "schema") == 1);
    string_of(root, "tool");
    string_of(root, "version");
    assert_string_equal(string_of(root, "summary"), "5 kernels judged: 3 wrong (84 findings), 1 clean, 1 not judged");
    const cJSON *list = member(root, "judgements"), *first = cJSON_GetArrayItem(list, 0);
    assert_int_equal(cJSON_GetArraySize(list), JUDGEMENTS);
    assert_string_equal(string_of(first, "file"), "kernels/dequant_q4_k.spv");
    assert_string_equal(string_of(first, "format"), "q4_K");
    assert_string_equal(string_of(first, "verdict"), "wrong");
    assert_true(cJSON_IsNull(member(first, "class")) && cJSON_IsNull(member(first, "worst_error")));
    assert_true(number_of(first, "wrong") == 13 && number_of(first, "notes") == 1);
    assert_int_equal(cJSON_GetArraySize(member(first, "findings")), 14);
    const cJSON *finding = cJSON_GetArrayItem(member(first, "findings"), 0);
    assert_string_equal(string_of(finding, "rule"), "wrong-element");
    assert_string_equal(string_of(finding, "code"), "sc");
    assert_string_equal(string_of(finding, "right"), "128..159");
    assert_string_equal(string_of(finding, "found"), "0..31");
    assert_true(number_of(finding, "bit") == 96 && number_of(finding, "bits") == 4);
    finding = cJSON_GetArrayItem(member(first, "findings"), 12);
    assert_true(cJSON_IsNull(member(finding, "code")) && cJSON_IsNull(member(finding, "bit")));
    assert_string_equal(string_of(finding, "repeat"), "1 row of 256, zeros");
    const cJSON *evidence = member(first, "evidence"), *bits = cJSON_GetArrayItem(evidence, 0);
    assert_int_equal(cJSON_GetArraySize(evidence), QG_EVIDENCE_COUNT);
    assert_true(number_of(bits, "wrong") == 12 && number_of(bits, "compared") == 295168);
    check_states(cJSON_GetArrayItem(member(member(first, "block"), "buffers"), 0));
    const cJSON *third = cJSON_GetArrayItem(list, 2);
    assert_string_equal(string_of(third, "kernel"),
                        "k<script>alert(\"1\")</script>&'\x1b[31m\n\xe2\x80\xae\xc3\xa9\xef\xbf\xbd.comp");
    assert_string_equal(string_of(cJSON_GetArrayItem(list, 3), "verdict"), "clean");
    assert_string_equal(string_of(cJSON_GetArrayItem(list, 4), "verdict"), "not judged");
    cJSON_Delete(root);
}

/* ---- SARIF ------------------------------------------------------------------------------------------------------- */

static void check_result(const cJSON *run, const cJSON *result) {
    const cJSON *rules = member(member(member(run, "tool"), "driver"), "rules");
    const cJSON *rule = cJSON_GetArrayItem(rules, (int)number_of(result, "ruleIndex"));
    assert_string_equal(string_of(rule, "id"), string_of(result, "ruleId"));
    const char *level = string_of(result, "level");
    assert_true(strcmp(level, "error") == 0 || strcmp(level, "note") == 0);
    assert_true(strlen(string_of(member(result, "message"), "text")) > 0);
    const cJSON *location = cJSON_GetArrayItem(member(result, "locations"), 0);
    const cJSON *physical = member(location, "physicalLocation");
    const char *uri = string_of(member(physical, "artifactLocation"), "uri");
    assert_int_equal(strspn(uri, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/%"), strlen(uri));
    assert_int_equal(strlen(string_of(member(result, "fingerprints"), "qkgenJudge/v1")), 64);
}

static void test_sarif(void **state) {
    const fixture *f = *state;
    qg_text text = qg_text_new(f->arena);
    qg_report_sarif(&text, f->list, JUDGEMENTS);
    cJSON *root = parsed(text.data);
    assert_string_equal(string_of(root, "version"), "2.1.0");
    string_of(root, "$schema");
    const cJSON *run = cJSON_GetArrayItem(member(root, "runs"), 0), *results = member(run, "results"), *one, *two;
    string_of(member(member(run, "tool"), "driver"), "name");
    assert_int_equal(cJSON_GetArraySize(results), 14 + MANY + 1);
    cJSON_ArrayForEach(one, results) {
        check_result(run, one);
        for (two = results->child; two != one; two = two->next) {
            assert_string_not_equal(string_of(member(one, "fingerprints"), "qkgenJudge/v1"),
                                    string_of(member(two, "fingerprints"), "qkgenJudge/v1"));
        }
    }
    assert_string_equal(string_of(cJSON_GetArrayItem(results, 0), "level"), "error");
    assert_string_equal(string_of(cJSON_GetArrayItem(results, 13), "level"), "note");
    const cJSON *invocation = cJSON_GetArrayItem(member(run, "invocations"), 0);
    assert_int_equal(cJSON_GetArraySize(member(invocation, "toolExecutionNotifications")),
                     4 + 1 + 1 + QG_EVIDENCE_COUNT);
    cJSON_Delete(root);
}

/* The fingerprint of a finding does not hang on its words or its neighbours, and findings that are alike differ. */
static void test_fingerprints(void **state) {
    const fixture *f = *state;
    qg_judgement other = f->judgements[0];
    const qg_judgement *list[] = {&other};
    qg_finding last = other.findings[12];
    last.sentence = "in other words";
    other.findings = &last;
    other.n_findings = 1;
    qg_text all = qg_text_new(f->arena), alone = qg_text_new(f->arena);
    qg_report_sarif(&all, f->list, 1);
    qg_report_sarif(&alone, list, 1);
    const char *hex = strstr(alone.data, "qkgenJudge/v1");
    assert_non_null(hex);
    const char *print = qg_strndup(f->arena, hex, strcspn(hex, "\n"));
    holds(all.data, print);
    qg_finding twice[] = {last, last};
    other.findings = twice;
    other.n_findings = 2;
    qg_text alike = qg_text_new(f->arena);
    qg_report_sarif(&alike, list, 1);
    assert_int_equal(count_of(alike.data, "qkgenJudge/v1"), 2);
    assert_int_equal(count_of(alike.data, print), 1);
}

/* ---- the page ---------------------------------------------------------------------------------------------------- */

/* Each tag is closed by its like, and each < and > belongs to one. */
static void check_tags(const char *page) {
    char open[64][16];
    uint32_t depth = 0, tags = 0;
    for (const char *at = strchr(page, '\n'); *at != '\0';) {
        size_t plain = strcspn(at, "<>");
        at += plain;
        if (*at == '\0') break;
        if (*at == '>') fail_msg("a loose > at: %.80s", at);
        size_t length = strcspn(at, ">"), name;
        bool closes = at[1] == '/', closed = at[length - 1] == '/';
        const char *word = at + 1 + closes;
        name = strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789");
        if (name == 0 || name > 15 || strcspn(at + 1, "<") < length - 1) fail_msg("no tag: %.80s", at);
        if (closes) {
            if (depth == 0 || strlen(open[depth - 1]) != name || strncmp(open[depth - 1], word, name) != 0)
                fail_msg("%.*s closes %s", (int)length, at, depth == 0 ? "nothing" : open[depth - 1]);
            depth--;
        } else if (!closed) {
            assert_true(depth < 64);
            snprintf(open[depth++], sizeof *open, "%.*s", (int)name, word);
        }
        tags++;
        at += length + 1;
    }
    assert_int_equal(depth, 0);
    assert_true(tags > 1000);
}

static const char *page_of(const fixture *f, uint32_t count) {
    qg_text text = qg_text_new(f->arena);
    qg_report_html(&text, f->list, count);
    return text.data;
}

static void test_html(void **state) {
    const char *page = page_of(*state, JUDGEMENTS);
    check_tags(page);
    assert_true(is_utf8(page));
    static const char *const never[] = {"http:", "https:",  "src=", "@import",
                                        "url(",  "<script", "\x1b", "\xe2\x80\xae"};
    for (size_t i = 0; i < sizeof never / sizeof *never; i++) lacks(page, never[i]);
    holds(
        page,
        "k&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;&#39;\\x1B[31m\\x0A\\u{202E}\xc3\xa9\xef\xbf\xbd.comp");
    holds(page, "<h1>5 kernels judged: 3 wrong (84 findings), 1 clean, 1 not judged</h1>");
    holds(page, "Wrong: 13 findings.</span> Of the 1,152 bits of a block, 32 reach the wrong elements, and 8 are "
                "never read. 1 of 7 kinds of evidence was left out.");
    holds(page, "<li id=\"j1f1\">");
    holds(page, "href=\"#j1f1\"");
    holds(page, "bits 96..99 of the block (of sc4) reach elements 0..31; they belong to 128..159");
    holds(page, "Nothing wrong was found.");
    holds(page, "Not judged:");
    holds(page, "and 54 more");
}

/* Every bit of the block is drawn, once, in its state; each of the states is told in the key. */
static void test_every_bit(void **state) {
    const fixture *f = *state;
    const char *page = page_of(f, 1), *map = strstr(page, "<figure");
    assert_non_null(map);
    assert_int_equal(count_of(map, "<i class=\"wrong\">"), 32);
    assert_int_equal(count_of(map, "<i class=\"unread\">"), 8);
    assert_int_equal(count_of(map, "<i class=\"right\">"), 1152 - 40);
    holds(page, "<i class=\"wrong\"></i>32 bits reaching the wrong elements");
    holds(page, "<i class=\"unread\"></i>8 bits never read");
}

/* Rows are folded where they repeat, and only where their states do. */
static void test_folded(void **state) {
    fixture f = *(fixture *)*state;
    const qg_layout *longest = NULL;
    for (uint32_t i = 0; i < f.known->layouts.count; i++) {
        const qg_layout *layout = f.known->layouts.items[i];
        if (longest == NULL || layout->block_bytes > longest->block_bytes) longest = layout;
    }
    qg_judgement *it = begin(&f, 0, longest->name, "long.comp");
    const char *whole = page_of(&f, 1);
    holds(whole, "<details class=\"fold\">");
    check_tags(whole);
    assert_int_equal(count_of(strstr(whole, "<figure"), "<i class=\"right\">"), longest->block_bytes * 8);
    uint32_t largest = 0;
    for (uint32_t b = 1; b < longest->n_buffers; b++) {
        largest = longest->buffers[b].bytes > longest->buffers[largest].bytes ? b : largest;
    }
    for (uint32_t bit = 0; bit < longest->buffers[largest].bytes * 8; bit++) {
        it->bits[largest][bit] = bit % 3 == 0 ? QG_BIT_WRONG : (bit * bit / 7) % 2 ? QG_BIT_UNREAD : QG_BIT_RIGHT;
    }
    const char *mixed = page_of(&f, 1);
    assert_true(count_of(mixed, "class=\"fold\"") < count_of(whole, "class=\"fold\""));
}

static int write_page(const char *path) {
    void *state = NULL;
    open_all(&state);
    const fixture *f = state;
    const char *page = page_of(f, JUDGEMENTS), *why = qg_write_file(f->arena, path, page, strlen(page));
    if (why != NULL) fprintf(stderr, "%s\n", why);
    close_all(&state);
    return why != NULL;
}

int main(int argc, char **argv) {
    if (argc == 3 && strcmp(argv[1], "--page") == 0) {
        return write_page(argv[2]);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),      cmocka_unit_test(test_text_cut),     cmocka_unit_test(test_utf8),
        cmocka_unit_test(test_json),      cmocka_unit_test(test_sarif),        cmocka_unit_test(test_html),
        cmocka_unit_test(test_every_bit), cmocka_unit_test(test_fingerprints), cmocka_unit_test(test_folded),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
