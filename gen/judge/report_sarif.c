/* SARIF 2.1.0, which code review tools read: a result for each finding, at the file of the kernel. */
#include "base/sha256.h"
#include "judge/report.h"
#include "judge/report_json.h"

#include <cjson/cJSON.h>
#include <string.h>

/* ---- words ------------------------------------------------------------------------------------------------------- */

/* A path as a reference of RFC 3986: relative as it is, absolute with its scheme. A colon is escaped: it would make a
 * scheme of a name. */
static const char *uri_of(qg_arena *arena, const char *path) {
    qg_text uri = qg_text_new(arena);
    qg_text_puts(&uri, path[0] == '/' ? "file://" : "");
    for (const char *at = path; *at != '\0'; at++) {
        unsigned char c = (unsigned char)*at;
        bool plain =
            (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("-._~/", c) != NULL;
        qg_text_printf(&uri, plain ? "%c" : "%%%02X", c);
    }
    return uri.data != NULL ? uri.data : "";
}

static const char *or_empty(const char *text) { return text == NULL ? "" : text; }

/* What stays the same when a sentence is worded otherwise: what is wrong, and where. */
static const char *key_of(qg_arena *arena, const qg_judgement *judgement, const qg_finding *finding) {
    return qg_format(arena, "%s\n%s\n%s\n%s\n%s\n%s\n%s\n%s\n%u %u %u", or_empty(judgement->file),
                     or_empty(judgement->kernel), judgement->layout->name, or_empty(judgement->family),
                     or_empty(judgement->type), qg_evidences[finding->evidence].name, or_empty(finding->rule),
                     or_empty(qg_report_code(judgement, finding)), finding->buffer, finding->bit, finding->bits);
}

static bool is_alike(const qg_finding *one, const qg_finding *two) {
    return one->evidence == two->evidence && one->code == two->code && one->buffer == two->buffer &&
           one->bit == two->bit && one->bits == two->bits && strcmp(or_empty(one->rule), or_empty(two->rule)) == 0;
}

/* Findings that are alike in all this are numbered. */
static void fingerprint(qg_arena *arena, const qg_judgement *judgement, uint32_t index, char hex[QG_SHA256_HEX + 1]) {
    const qg_finding *finding = &judgement->findings[index];
    uint32_t alike = 0;
    for (uint32_t i = 0; i < index; i++) {
        alike += is_alike(finding, &judgement->findings[i]);
    }
    const char *key = qg_format(arena, "%s\n%u", key_of(arena, judgement, finding), alike);
    qg_sha256(key, strlen(key), hex);
}

/* ---- rules ------------------------------------------------------------------------------------------------------- */

typedef struct rules {
    uint32_t count, capacity;
    const qg_finding **items; /* the first that names each */
} rules;

static uint32_t rule_of(const rules *known, const qg_finding *finding) {
    uint32_t at = 0;
    while (at < known->count && strcmp(or_empty(known->items[at]->rule), or_empty(finding->rule)) != 0) {
        at++;
    }
    return at;
}

static rules all_rules(qg_arena *arena, const qg_judgement *const *judgements, uint32_t count) {
    rules known = {0};
    for (uint32_t j = 0; j < count; j++) {
        for (uint32_t i = 0; i < judgements[j]->n_findings; i++) {
            const qg_finding *finding = &judgements[j]->findings[i];
            if (rule_of(&known, finding) == known.count) {
                QG_PUSH(arena, known.items, known.count, known.capacity, finding);
            }
        }
    }
    return known;
}

static const char *level_of(qg_severity severity) { return severity == QG_WRONG ? "error" : "note"; }

static void add_rules(qg_arena *arena, const rules *known, cJSON *driver) {
    cJSON *list = cJSON_AddArrayToObject(driver, "rules");
    for (uint32_t i = 0; i < known->count; i++) {
        const qg_finding *finding = known->items[i];
        cJSON *rule = qg_json_item(list);
        qg_json_text(arena, rule, "id", or_empty(finding->rule));
        qg_json_text(arena, cJSON_AddObjectToObject(rule, "shortDescription"), "text",
                     qg_format(arena, "%s (%s)", or_empty(finding->rule), qg_evidences[finding->evidence].title));
        cJSON_AddStringToObject(cJSON_AddObjectToObject(rule, "defaultConfiguration"), "level",
                                level_of(finding->severity));
    }
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

static void add_location(qg_arena *arena, const qg_judgement *judgement, cJSON *parent) {
    cJSON *location = qg_json_item(cJSON_AddArrayToObject(parent, "locations"));
    cJSON *physical = cJSON_AddObjectToObject(location, "physicalLocation");
    qg_json_text(arena, cJSON_AddObjectToObject(physical, "artifactLocation"), "uri",
                 uri_of(arena, or_empty(judgement->file)));
    /* A finding is about the kernel as a whole; tools that show results beside lines want one. */
    cJSON_AddNumberToObject(cJSON_AddObjectToObject(physical, "region"), "startLine", 1);
    cJSON *logical = qg_json_item(cJSON_AddArrayToObject(location, "logicalLocations"));
    qg_json_text(arena, logical, "name", or_empty(judgement->kernel));
    cJSON_AddStringToObject(logical, "kind", "function");
}

static void add_result(qg_arena *arena, const rules *known, const qg_judgement *judgement, uint32_t index,
                       cJSON *result) {
    const qg_finding *finding = &judgement->findings[index];
    char hex[QG_SHA256_HEX + 1];
    fingerprint(arena, judgement, index, hex);
    qg_json_text(arena, result, "ruleId", or_empty(finding->rule));
    cJSON_AddNumberToObject(result, "ruleIndex", rule_of(known, finding));
    cJSON_AddStringToObject(result, "level", level_of(finding->severity));
    qg_json_text(arena, cJSON_AddObjectToObject(result, "message"), "text", or_empty(finding->sentence));
    add_location(arena, judgement, result);
    cJSON_AddStringToObject(cJSON_AddObjectToObject(result, "fingerprints"), "qkgenJudge/v1", hex);
    cJSON *properties = cJSON_AddObjectToObject(result, "properties");
    qg_json_text(arena, properties, "format", judgement->layout->name);
    cJSON_AddStringToObject(properties, "evidence", qg_evidences[finding->evidence].name);
    qg_json_place(arena, properties, judgement, finding);
}

/* What was left out is no result, but who reads results must know. */
static void add_invocation(qg_arena *arena, const qg_judgement *const *judgements, uint32_t count, cJSON *run) {
    cJSON *invocation = qg_json_item(cJSON_AddArrayToObject(run, "invocations"));
    cJSON_AddBoolToObject(invocation, "executionSuccessful", true);
    cJSON *list = cJSON_AddArrayToObject(invocation, "toolExecutionNotifications");
    for (uint32_t j = 0; j < count; j++) {
        for (uint32_t e = 0; e < QG_EVIDENCE_COUNT; e++) {
            const qg_evidence_run *it = &judgements[j]->runs[e];
            if (it->done && it->left_out == NULL) {
                continue;
            }
            cJSON *item = qg_json_item(list);
            cJSON_AddStringToObject(item, "level", "note");
            qg_json_text(arena, cJSON_AddObjectToObject(item, "message"), "text",
                         qg_format(arena, "%s, %s: left out%s%s", or_empty(judgements[j]->file), qg_evidences[e].title,
                                   it->left_out == NULL ? "" : ": ", or_empty(it->left_out)));
        }
    }
}

void qg_report_sarif(qg_text *text, const qg_judgement *const *judgements, uint32_t count) {
    qg_arena *arena = text->arena;
    rules known = all_rules(arena, judgements, count);
    cJSON *root = cJSON_CreateObject();
    cJSON_AddStringToObject(root, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    cJSON_AddStringToObject(root, "version", "2.1.0");
    cJSON *run = qg_json_item(cJSON_AddArrayToObject(root, "runs"));
    cJSON *driver = cJSON_AddObjectToObject(cJSON_AddObjectToObject(run, "tool"), "driver");
    cJSON_AddStringToObject(driver, "name", "qkgen judge");
    cJSON_AddStringToObject(driver, "semanticVersion", QG_VERSION);
    add_rules(arena, &known, driver);
    add_invocation(arena, judgements, count, run);
    cJSON *results = cJSON_AddArrayToObject(run, "results");
    for (uint32_t j = 0; j < count; j++) {
        for (uint32_t i = 0; i < judgements[j]->n_findings; i++) {
            add_result(arena, &known, judgements[j], i, qg_json_item(results));
        }
    }
    qg_json_print(text, root);
}
