/* What `qkgen audit --json` wrote, as far as two sets are compared. */
#include "judge/audit.h"

#include <cjson/cJSON.h>
#include <string.h>

static const char *text_of(qg_arena *arena, const cJSON *object, const char *name) {
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
    return text ? qg_strndup(arena, text, strlen(text)) : NULL;
}

static double number_of(const cJSON *object, const char *name) {
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, name);
    const double number = cJSON_IsNumber(item) ? item->valuedouble : 0;
    return number >= 0 && number < 4294967296.0 ? number : 0;
}

static uint32_t count_of(const cJSON *object, const char *name) { return (uint32_t)number_of(object, name); }

static bool is_true(const cJSON *object, const char *name) {
    return cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(object, name));
}

static qg_texts texts_of(qg_arena *arena, const cJSON *object, const char *name) {
    qg_texts list = {0};
    const cJSON *item;
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(object, name)) {
        const char *text = cJSON_GetStringValue(item);
        if (text) QG_PUSH(arena, list.items, list.count, list.capacity, qg_strndup(arena, text, strlen(text)));
    }
    return list;
}

static qg_audit *audit_of(qg_arena *arena, const cJSON *module) {
    qg_audit *a = QG_NEW(arena, qg_audit);
    const cJSON *item;
    uint32_t k = 0;
    a->name = text_of(arena, module, "module");
    a->why = text_of(arena, module, "failed");
    a->entry = text_of(arena, module, "entry");
    a->bytes = (size_t)number_of(module, "bytes");
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(module, "workgroup")) if (k < 3 && cJSON_IsNumber(item))
        a->workgroup[k++] = (uint32_t)item->valueint;
    a->push_declared = count_of(module, "push_declared");
    a->push_used = count_of(module, "push_used");
    a->shared_bytes = count_of(module, "shared_bytes");
    a->operations = count_of(module, "operations");
    a->per_weight = number_of(module, "operations_per_weight");
    a->capabilities = texts_of(arena, module, "capabilities");
    a->float_controls = texts_of(arena, module, "float_controls");
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(module, "bindings")) {
        const qg_audit_binding b = {count_of(item, "set"), count_of(item, "binding"), "", is_true(item, "reads"),
                                    is_true(item, "writes")};
        QG_PUSH(arena, a->bindings, a->n_bindings, a->bindings_capacity, b);
    }
    cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(module, "findings")) {
        const char *severity = text_of(arena, item, "severity");
        const qg_audit_finding f = {severity && strcmp(severity, "wrong") == 0 ? QG_WRONG : QG_NOTE, "",
                                    text_of(arena, item, "sentence")};
        if (f.sentence) QG_PUSH(arena, a->findings, a->n_findings, a->capacity, f);
    }
    return a;
}

const char *qg_audit_load(qg_arena *arena, const char *json, qg_audits *audits) {
    cJSON *all = cJSON_Parse(json);
    const cJSON *modules = cJSON_GetObjectItemCaseSensitive(all, "modules"), *module;
    const char *why = NULL;
    if (!cJSON_IsArray(modules)) why = "it is not what `qkgen audit --json` writes: no list of modules";
    cJSON_ArrayForEach(module, modules) {
        qg_audit *a = audit_of(arena, module);
        if (a->name)
            QG_PUSH(arena, audits->items, audits->count, audits->capacity, a);
        else
            why = "it is not what `qkgen audit --json` writes: a module has no name";
    }
    cJSON_Delete(all);
    return why;
}
