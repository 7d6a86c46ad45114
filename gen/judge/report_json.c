/* The report for programs. docs/judge-reports.md has the schema; who changes a member changes its number. */
#include "judge/report_json.h"
#include "judge/report.h"

#include <cjson/cJSON.h>
#include <stdlib.h>

enum { SCHEMA = 1 };

/* ---- also for SARIF ---------------------------------------------------------------------------------------------- */

void qg_json_text(qg_arena *arena, cJSON *object, const char *name, const char *text) {
    if (text == NULL) {
        cJSON_AddNullToObject(object, name);
    } else {
        cJSON_AddStringToObject(object, name, qg_report_utf8(arena, text));
    }
}

cJSON *qg_json_item(cJSON *array) {
    cJSON *object = cJSON_CreateObject();
    cJSON_AddItemToArray(array, object);
    return object;
}

void qg_json_place(qg_arena *arena, cJSON *object, const qg_judgement *judgement, const qg_finding *finding) {
    const qg_layout *layout = judgement->layout;
    bool bits = finding->bits > 0 && finding->buffer < layout->n_buffers;
    qg_json_text(arena, object, "repeat", finding->repeat);
    qg_json_text(arena, object, "code", qg_report_code(judgement, finding));
    qg_json_text(arena, object, "buffer", bits ? layout->buffers[finding->buffer].name : NULL);
    if (bits) {
        cJSON_AddNumberToObject(object, "bit", finding->bit);
    } else {
        cJSON_AddNullToObject(object, "bit");
    }
    cJSON_AddNumberToObject(object, "bits", bits ? finding->bits : 0);
    qg_json_text(arena, object, "right", finding->right);
    qg_json_text(arena, object, "found", finding->found);
}

void qg_json_print(qg_text *text, cJSON *root) {
    char *printed = cJSON_Print(root);
    if (printed == NULL) { /* as the arena does */
        fputs("qkgen: out of memory\n", stderr);
        exit(3);
    }
    qg_text_puts(text, printed);
    qg_text_puts(text, "\n");
    cJSON_free(printed);
    cJSON_Delete(root);
}

/* ---- the schema -------------------------------------------------------------------------------------------------- */

/* Neighbours of the same state are one item. */
static void add_states(const qg_judgement *judgement, uint32_t buffer, cJSON *states) {
    const uint8_t *bits = judgement->bits[buffer];
    uint32_t end = judgement->layout->buffers[buffer].bytes * 8;
    for (uint32_t bit = 0, next; bit < end; bit = next) {
        for (next = bit + 1; next < end && bits[next] == bits[bit]; next++) {
        }
        cJSON *item = qg_json_item(states);
        cJSON_AddNumberToObject(item, "bit", bit);
        cJSON_AddNumberToObject(item, "bits", next - bit);
        cJSON_AddStringToObject(item, "state", qg_bit_states[bits[bit]]);
    }
}

static void add_block(qg_arena *arena, const qg_judgement *judgement, cJSON *parent) {
    const qg_layout *layout = judgement->layout;
    cJSON *block = cJSON_AddObjectToObject(parent, "block");
    cJSON_AddNumberToObject(block, "elements", layout->elements);
    cJSON_AddNumberToObject(block, "bytes", layout->block_bytes);
    cJSON *buffers = cJSON_AddArrayToObject(block, "buffers");
    for (uint32_t b = 0; b < layout->n_buffers; b++) {
        cJSON *buffer = qg_json_item(buffers);
        qg_json_text(arena, buffer, "name", layout->buffers[b].name);
        cJSON_AddNumberToObject(buffer, "bytes", layout->buffers[b].bytes);
        cJSON *states = cJSON_AddArrayToObject(buffer, "states");
        if (judgement->bits != NULL) {
            add_states(judgement, b, states);
        }
    }
}

static void add_evidence(qg_arena *arena, const qg_judgement *judgement, cJSON *parent) {
    cJSON *list = cJSON_AddArrayToObject(parent, "evidence");
    for (uint32_t e = 0; e < QG_EVIDENCE_COUNT; e++) {
        const qg_evidence_run *run = &judgement->runs[e];
        cJSON *item = qg_json_item(list);
        cJSON_AddStringToObject(item, "name", qg_evidences[e].name);
        cJSON_AddStringToObject(item, "title", qg_evidences[e].title);
        cJSON_AddBoolToObject(item, "done", run->done);
        qg_json_text(arena, item, "left_out", run->left_out);
        cJSON_AddNumberToObject(item, "launches", run->launches);
        cJSON_AddNumberToObject(item, "compared", (double)run->compared);
        cJSON_AddNumberToObject(item, "seconds", run->seconds);
        cJSON_AddNumberToObject(item, "wrong", qg_report_count(judgement, (qg_evidence)e, QG_WRONG));
        cJSON_AddNumberToObject(item, "notes", qg_report_count(judgement, (qg_evidence)e, QG_NOTE));
    }
}

static void add_findings(qg_arena *arena, const qg_judgement *judgement, cJSON *parent) {
    cJSON *list = cJSON_AddArrayToObject(parent, "findings");
    for (uint32_t i = 0; i < judgement->n_findings; i++) {
        const qg_finding *finding = &judgement->findings[i];
        cJSON *item = qg_json_item(list);
        cJSON_AddStringToObject(item, "evidence", qg_evidences[finding->evidence].name);
        cJSON_AddStringToObject(item, "severity", qg_severities[finding->severity]);
        qg_json_text(arena, item, "rule", finding->rule);
        qg_json_text(arena, item, "sentence", finding->sentence);
        qg_json_place(arena, item, judgement, finding);
    }
}

static void add_judgement(qg_arena *arena, const qg_judgement *it, cJSON *item) {
    uint32_t wrong = qg_judgement_wrong(it);
    qg_json_text(arena, item, "file", it->file);
    qg_json_text(arena, item, "kernel", it->kernel);
    qg_json_text(arena, item, "format", it->layout->name);
    qg_json_text(arena, item, "family", it->family);
    qg_json_text(arena, item, "type", it->type);
    qg_json_text(arena, item, "harness", it->harness);
    qg_json_text(arena, item, "where", it->where);
    qg_json_text(arena, item, "class", it->sum);
    if (it->sum != NULL) {
        cJSON_AddNumberToObject(item, "worst_error", it->worst_error);
    } else {
        cJSON_AddNullToObject(item, "worst_error");
    }
    cJSON_AddNumberToObject(item, "seconds", it->seconds);
    cJSON_AddStringToObject(item, "verdict", qg_verdicts[qg_verdict_of(it)]);
    cJSON_AddNumberToObject(item, "wrong", wrong);
    cJSON_AddNumberToObject(item, "notes", it->n_findings - wrong);
    add_block(arena, it, item);
    add_evidence(arena, it, item);
    add_findings(arena, it, item);
}

void qg_report_json(qg_text *text, const qg_judgement *const *judgements, uint32_t count) {
    cJSON *root = cJSON_CreateObject();
    cJSON_AddNumberToObject(root, "schema", SCHEMA);
    cJSON_AddStringToObject(root, "tool", "qkgen judge");
    cJSON_AddStringToObject(root, "version", QG_VERSION);
    cJSON_AddStringToObject(root, "summary", qg_report_summary(text->arena, judgements, count));
    cJSON *list = cJSON_AddArrayToObject(root, "judgements");
    for (uint32_t i = 0; i < count; i++) {
        add_judgement(text->arena, judgements[i], qg_json_item(list));
    }
    qg_json_print(text, root);
}
