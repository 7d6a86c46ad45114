/* Two sets of modules, by name: what one has that the other has not. */
#include "judge/audit.h"

#include <string.h>

static const qg_audit *find(const qg_audits *audits, const char *name) {
    for (uint32_t i = 0; i < audits->count; ++i)
        if (strcmp(audits->items[i]->name, name) == 0) return audits->items[i];
    return NULL;
}

/* A line of what changed in a module, below its name. */
typedef struct changes {
    qg_text *text;
    const char *name;
    uint32_t count;
} changes;

static qg_text *line(changes *c) {
    if (c->count++ == 0) qg_text_printf(c->text, "changed %s\n", c->name);
    qg_text_puts(c->text, "  ");
    return c->text;
}

static void compare_numbers(changes *c, const char *what, double before, double after) {
    if (before == after) return;
    qg_text *text = line(c);
    qg_text_printf(text, "%s: %.5g -> %.5g", what, before, after);
    if (before > 0 && after > 0) qg_text_printf(text, " (%+.1f%%)", (after / before - 1) * 100);
    qg_text_puts(text, "\n");
}

static bool has(const qg_texts *list, const char *text) {
    for (uint32_t i = 0; i < list->count; ++i)
        if (strcmp(list->items[i], text) == 0) return true;
    return false;
}

static void compare_lists(changes *c, const char *what, const qg_texts *before, const qg_texts *after) {
    for (uint32_t i = 0; i < after->count; ++i)
        if (!has(before, after->items[i])) qg_text_printf(line(c), "%s added: %s\n", what, after->items[i]);
    for (uint32_t i = 0; i < before->count; ++i)
        if (!has(after, before->items[i])) qg_text_printf(line(c), "%s removed: %s\n", what, before->items[i]);
}

static const char *access_of(const qg_audit_binding *b) {
    if (!b) return "none";
    return b->reads && b->writes ? "read and written" : b->reads ? "read" : b->writes ? "written" : "not used";
}

static const qg_audit_binding *binding(const qg_audit *a, const qg_audit_binding *like) {
    for (uint32_t i = 0; i < a->n_bindings; ++i)
        if (a->bindings[i].set == like->set && a->bindings[i].binding == like->binding) return &a->bindings[i];
    return NULL;
}

static void compare_bindings(changes *c, const qg_audit *before, const qg_audit *after) {
    for (uint32_t i = 0; i < after->n_bindings; ++i) {
        const char *was = access_of(binding(before, &after->bindings[i])), *is = access_of(&after->bindings[i]);
        if (strcmp(was, is) != 0)
            qg_text_printf(line(c), "binding %u: %s -> %s\n", after->bindings[i].binding, was, is);
    }
    for (uint32_t i = 0; i < before->n_bindings; ++i)
        if (!binding(after, &before->bindings[i]))
            qg_text_printf(line(c), "binding %u: %s -> none\n", before->bindings[i].binding,
                           access_of(&before->bindings[i]));
}

static bool has_finding(const qg_audit *a, const char *sentence) {
    for (uint32_t i = 0; a && i < a->n_findings; ++i)
        if (strcmp(a->findings[i].sentence, sentence) == 0) return true;
    return false;
}

/* What `after` has that `before` has not; returns how many of these are wrong. */
static uint32_t compare_findings(changes *c, const char *what, const qg_audit *before, const qg_audit *after) {
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < after->n_findings; ++i) {
        const qg_audit_finding *f = &after->findings[i];
        if (has_finding(before, f->sentence)) continue;
        wrong += f->severity == QG_WRONG;
        qg_text_printf(line(c), "%s %s: %s\n", what, f->severity == QG_WRONG ? "wrong" : "note", f->sentence);
    }
    return wrong;
}

static uint32_t compare(changes *c, const qg_audit *before, const qg_audit *after) {
    compare_numbers(c, "bytes", (double)before->bytes, (double)after->bytes);
    compare_bindings(c, before, after);
    compare_numbers(c, "push constants read, bytes", before->push_used, after->push_used);
    compare_numbers(c, "push constants declared, bytes", before->push_declared, after->push_declared);
    compare_numbers(c, "threads", before->workgroup[0] * before->workgroup[1] * before->workgroup[2],
                    after->workgroup[0] * after->workgroup[1] * after->workgroup[2]);
    compare_numbers(c, "shared bytes", before->shared_bytes, after->shared_bytes);
    compare_lists(c, "capability", &before->capabilities, &after->capabilities);
    compare_lists(c, "float control", &before->float_controls, &after->float_controls);
    compare_numbers(c, "operations", before->operations, after->operations);
    compare_numbers(c, "operations for a weight", before->per_weight, after->per_weight);
    const uint32_t wrong = compare_findings(c, "new", before, after);
    compare_findings(c, "gone", after, before);
    return wrong;
}

uint32_t qg_audit_diff(qg_text *text, const qg_audits *before, const qg_audits *after) {
    uint32_t wrong = 0, added = 0, removed = 0, changed = 0, same = 0;
    for (uint32_t i = 0; i < after->count; ++i) {
        const qg_audit *a = after->items[i], *b = find(before, a->name);
        changes c = {text, a->name, 0};
        if (!b) {
            qg_text_printf(text, "added %s: %zu bytes, %u operations\n", a->name, a->bytes, a->operations);
            c.count = 1; /* it has its line */
            wrong += compare_findings(&c, "new", NULL, a);
            added += 1;
            continue;
        }
        if ((a->why == NULL) != (b->why == NULL))
            qg_text_printf(line(&c), "%s\n", a->why ? a->why : "it could not be audited before");
        else
            wrong += compare(&c, b, a);
        changed += c.count > 0;
        same += c.count == 0;
    }
    for (uint32_t i = 0; i < before->count; ++i) {
        if (find(after, before->items[i]->name)) continue;
        qg_text_printf(text, "removed %s: %zu bytes\n", before->items[i]->name, before->items[i]->bytes);
        removed += 1;
    }
    qg_text_printf(text, "%u added, %u removed, %u changed, %u as they were; %u wrong that were not\n", added, removed,
                   changed, same, wrong);
    return wrong;
}
