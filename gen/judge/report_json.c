/* Judgements for machines. docs/judge.md has the members. */
#include "judge/judge.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <string.h>

/* JSON is UTF-8: a byte that is none becomes '?'. */
static cJSON *text_of(qg_arena *arena, const char *text) {
    char *copy = qg_format(arena, "%s", text ? text : "");
    for (unsigned char *c = (unsigned char *)copy; *c;) {
        const int more = *c < 0x80                 ? 0
                         : *c >= 0xc2 && *c < 0xe0 ? 1
                         : *c >= 0xe0 && *c < 0xf0 ? 2
                         : *c >= 0xf0 && *c < 0xf5 ? 3
                                                   : -1;
        int n = 0;
        while (n < more && (c[n + 1] & 0xc0) == 0x80) ++n;
        if (more < 0 || n < more) *c = '?';
        c += n == more && more > 0 ? more + 1 : 1;
    }
    return cJSON_CreateString(copy);
}

static void add_text(qg_arena *arena, cJSON *to, const char *name, const char *text) {
    if (text) cJSON_AddItemToObject(to, name, text_of(arena, text));
}

static void add_finding(qg_arena *arena, cJSON *list, const qg_judgement *j, const qg_finding *f) {
    cJSON *item = cJSON_CreateObject();
    add_text(arena, item, "evidence", qg_evidences[f->evidence].name);
    add_text(arena, item, "severity", f->severity == QG_WRONG ? "wrong" : "note");
    add_text(arena, item, "rule", f->rule);
    add_text(arena, item, "sentence", f->sentence);
    add_text(arena, item, "shape", f->repeat);
    if (f->code < j->layout->n_codes) add_text(arena, item, "code", j->layout->codes[f->code].name);
    if (f->bits) {
        add_text(arena, item, "buffer", j->layout->buffers[f->buffer].name);
        cJSON_AddNumberToObject(item, "bit", f->bit);
        cJSON_AddNumberToObject(item, "bits", f->bits);
    }
    add_text(arena, item, "belongs_to", f->right);
    add_text(arena, item, "reaches", f->found);
    cJSON_AddItemToArray(list, item);
}

static void add_evidence(qg_arena *arena, cJSON *list, const qg_judgement *j, uint32_t e) {
    const qg_evidence_run *run = &j->runs[e];
    cJSON *item = cJSON_CreateObject();
    add_text(arena, item, "name", qg_evidences[e].name);
    cJSON_AddBoolToObject(item, "taken", run->done);
    add_text(arena, item, "left_out", run->left_out);
    cJSON_AddNumberToObject(item, "launches", run->launches);
    cJSON_AddNumberToObject(item, "results", (double)run->compared);
    cJSON_AddNumberToObject(item, "seconds", run->seconds);
    cJSON_AddItemToArray(list, item);
}

/* A letter for each bit of a block: r right, w wrong, n never read, s spare, - not tried. */
static void add_bits(qg_arena *arena, cJSON *to, const qg_judgement *j) {
    static const char letters[] = {'-', 's', 'r', 'w', 'n'};
    cJSON *bits = cJSON_AddObjectToObject(to, "bits");
    for (uint32_t b = 0; b < j->layout->n_buffers; ++b) {
        const uint32_t count = j->layout->buffers[b].bytes * 8;
        char *text = qg_alloc(arena, count + 1);
        for (uint32_t i = 0; i < count; ++i) text[i] = letters[j->bits ? j->bits[b][i] : 0];
        add_text(arena, bits, j->layout->buffers[b].name, text);
    }
}

static void add_judgement(qg_arena *arena, cJSON *list, const qg_judgement *j) {
    cJSON *item = cJSON_CreateObject();
    add_text(arena, item, "file", j->file);
    add_text(arena, item, "kernel", j->kernel);
    add_text(arena, item, "format", j->layout->name);
    add_text(arena, item, "harness", j->harness);
    add_text(arena, item, "computes", j->family);
    add_text(arena, item, "type", j->type);
    add_text(arena, item, "where", j->where);
    cJSON_AddNumberToObject(item, "wrong", qg_judgement_wrong(j));
    cJSON_AddNumberToObject(item, "seconds", j->seconds);
    add_text(arena, item, "class", j->sum);
    if (j->sum) cJSON_AddNumberToObject(item, "worst_error", isfinite(j->worst_error) ? j->worst_error : 1e300);
    cJSON *evidence = cJSON_AddArrayToObject(item, "evidence"), *findings = cJSON_AddArrayToObject(item, "findings");
    for (uint32_t e = 0; e < QG_EVIDENCE_COUNT; ++e) add_evidence(arena, evidence, j, e);
    for (uint32_t i = 0; i < j->n_findings; ++i) add_finding(arena, findings, j, &j->findings[i]);
    add_bits(arena, item, j);
    cJSON_AddItemToArray(list, item);
}

static void print(qg_text *text, cJSON *root) {
    char *printed = cJSON_Print(root);
    qg_text_printf(text, "%s\n", printed ? printed : "{}");
    cJSON_free(printed);
    cJSON_Delete(root);
}

void qg_report_json(qg_text *text, const qg_judgement *const *judgements, uint32_t count) {
    cJSON *root = cJSON_CreateObject();
    add_text(text->arena, root, "tool", "qkgen judge");
    add_text(text->arena, root, "version", QG_VERSION);
    cJSON *list = cJSON_AddArrayToObject(root, "judgements");
    for (uint32_t i = 0; i < count; ++i) add_judgement(text->arena, list, judgements[i]);
    print(text, root);
}

/* ---- SARIF ------------------------------------------------------------------------------------------------------- */

static void add_rule(qg_arena *arena, cJSON *rules, const qg_finding *f) {
    const cJSON *known;
    cJSON_ArrayForEach(known, rules) {
        if (!strcmp(cJSON_GetObjectItem(known, "id")->valuestring, f->rule)) return;
    }
    cJSON *rule = cJSON_CreateObject();
    add_text(arena, rule, "id", f->rule);
    add_text(arena, cJSON_AddObjectToObject(rule, "shortDescription"), "text",
             qg_format(arena, "%s: %s", qg_evidences[f->evidence].title, f->rule));
    cJSON_AddItemToArray(rules, rule);
}

static void add_result(qg_arena *arena, cJSON *results, const qg_judgement *j, const qg_finding *f) {
    cJSON *result = cJSON_CreateObject();
    add_text(arena, result, "ruleId", f->rule);
    add_text(arena, result, "level", f->severity == QG_WRONG ? "error" : "note");
    add_text(arena, cJSON_AddObjectToObject(result, "message"), "text",
             qg_format(arena, "%s, %s: %s", j->kernel, j->layout->name, f->sentence));
    cJSON *location = cJSON_CreateObject();
    cJSON *place = cJSON_AddObjectToObject(location, "physicalLocation");
    add_text(arena, cJSON_AddObjectToObject(place, "artifactLocation"), "uri", j->file);
    cJSON *locations = cJSON_AddArrayToObject(result, "locations");
    cJSON_AddItemToArray(locations, location);
    /* The same mistake stays the same result when lines move. */
    add_text(arena, cJSON_AddObjectToObject(result, "partialFingerprints"), "qkgenJudge/v1",
             qg_format(arena, "%s:%s:%s:%u:%u", j->kernel, j->layout->name, f->rule, f->buffer, f->bit));
    cJSON_AddItemToArray(results, result);
}

void qg_report_sarif(qg_text *text, const qg_judgement *const *judgements, uint32_t count) {
    cJSON *root = cJSON_CreateObject(), *run = cJSON_CreateObject();
    add_text(text->arena, root, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    add_text(text->arena, root, "version", "2.1.0");
    cJSON_AddItemToArray(cJSON_AddArrayToObject(root, "runs"), run);
    cJSON *driver = cJSON_AddObjectToObject(cJSON_AddObjectToObject(run, "tool"), "driver");
    add_text(text->arena, driver, "name", "qkgen judge");
    add_text(text->arena, driver, "version", QG_VERSION);
    cJSON *rules = cJSON_AddArrayToObject(driver, "rules"), *results = cJSON_AddArrayToObject(run, "results");
    for (uint32_t i = 0; i < count; ++i)
        for (uint32_t k = 0; k < judgements[i]->n_findings; ++k) {
            add_rule(text->arena, rules, &judgements[i]->findings[k]);
            add_result(text->arena, results, judgements[i], &judgements[i]->findings[k]);
        }
    print(text, root);
}
