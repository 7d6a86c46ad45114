/* What was found, as a table and as JSON. */
#include "judge/audit.h"

#include <string.h>

/* ---- table ---- */

static void add_bindings(qg_text *text, const qg_audit *a) {
    for (uint32_t i = 0; i < a->n_bindings; ++i) {
        const qg_audit_binding *b = &a->bindings[i];
        const char *how = b->reads && b->writes ? "rw" : b->reads ? "r" : b->writes ? "w" : "-";
        if (b->set)
            qg_text_printf(text, "%s%u.%u%s", i ? " " : "", b->set, b->binding, how);
        else
            qg_text_printf(text, "%s%u%s", i ? " " : "", b->binding, how);
    }
}

static void add_share(qg_text *text, uint32_t proven, uint32_t all) {
    if (all)
        qg_text_printf(text, " %5u/%-5u", proven, all);
    else
        qg_text_printf(text, " %5s %-5s", "-", "");
}

static void add_row(qg_text *text, const qg_audit *a) {
    char threads[48];
    if (a->why) {
        qg_text_printf(text, "%-40s not audited\n", a->name);
        return;
    }
    snprintf(threads, sizeof threads, "%u%s", a->workgroup[0] * a->workgroup[1] * a->workgroup[2],
             a->sized_by_constants ? "*" : "");
    qg_text_printf(text, "%-40s %7zu %6s %4u/%-4u %6u", a->name, a->bytes, threads, a->push_used, a->push_declared,
                   a->shared_bytes);
    add_share(text, a->barriers.proven, a->barriers.all);
    add_share(text, a->shifts.proven, a->shifts.all);
    add_share(text, a->shared.proven, a->shared.all);
    add_share(text, a->loads.proven, a->loads.all);
    add_share(text, a->bits_read, a->bits);
    if (a->per_weight > 0)
        qg_text_printf(text, " %6.4g", a->per_weight);
    else
        qg_text_printf(text, " %6s", "-");
    qg_text_printf(text, " %5u %5u  ", qg_audit_wrong(a), a->n_findings - qg_audit_wrong(a));
    add_bindings(text, a);
    qg_text_puts(text, "\n");
}

typedef struct totals {
    uint32_t modules, failed, wrong, notes, ours, whole;
    uint64_t stores, bits, read, once;
    qg_audit_count barriers, shifts, shared, loads;
} totals;

static void add_count(qg_audit_count *sum, qg_audit_count one) {
    sum->all += one.all;
    sum->proven += one.proven;
}

static totals total_of(const qg_audits *audits) {
    totals t = {0};
    for (uint32_t i = 0; i < audits->count; ++i) {
        const qg_audit *a = audits->items[i];
        t.failed += a->why != NULL;
        if (a->why) continue;
        t.modules += 1;
        t.wrong += qg_audit_wrong(a);
        t.notes += a->n_findings - qg_audit_wrong(a);
        t.ours += a->ours;
        t.stores += a->stores;
        t.bits += a->bits;
        t.read += a->bits_read;
        t.once += a->bits_once;
        t.whole += a->bits && a->bits_read == a->bits;
        add_count(&t.barriers, a->barriers);
        add_count(&t.shifts, a->shifts);
        add_count(&t.shared, a->shared);
        add_count(&t.loads, a->loads);
    }
    return t;
}

static void add_totals(qg_text *text, const qg_audits *audits) {
    const totals t = total_of(audits);
    qg_text_printf(text,
                   "%u modules: %u of %u barriers in uniform flow, %u of %u shifts below the width, %u of %u shared "
                   "indices inside\n",
                   t.modules, t.barriers.proven, t.barriers.all, t.shifts.proven, t.shifts.all, t.shared.proven,
                   t.shared.all);
    if (t.ours) {
        qg_text_printf(text,
                       "loads of weights: %u proven to be in their block, %u guarded at run time by dispatch, which "
                       "checks the sizes of all buffers against the shape\n",
                       t.loads.proven, t.loads.all - t.loads.proven);
        qg_text_printf(text, "stores: %llu, guarded at run time by dispatch in the same way\n",
                       (unsigned long long)t.stores);
        qg_text_printf(text,
                       "bits of blocks: %llu of %llu that belong to codes are read, in %u modules all of them; %llu by "
                       "one tile alone\n",
                       (unsigned long long)t.read, (unsigned long long)t.bits, t.whole, (unsigned long long)t.once);
    }
    qg_text_printf(text, "%u wrong, %u notes", t.wrong, t.notes);
    if (t.failed) qg_text_printf(text, ", %u could not be audited", t.failed);
    qg_text_puts(text, "\n");
}

static void add_findings(qg_text *text, const qg_audits *audits, bool notes) {
    for (uint32_t i = 0; i < audits->count; ++i) {
        const qg_audit *a = audits->items[i];
        if (a->why) qg_text_printf(text, "failed %s: %s\n", a->name, a->why);
        for (uint32_t f = 0; f < a->n_findings; ++f)
            if (a->findings[f].severity == QG_WRONG)
                qg_text_printf(text, "wrong  %s\n", a->findings[f].sentence);
            else if (notes)
                qg_text_printf(text, "note   %s\n", a->findings[f].sentence);
    }
}

void qg_audit_table(qg_text *text, const qg_audits *audits, bool notes) {
    qg_text_printf(text, "%-40s %7s %6s %9s %6s %11s %11s %11s %11s %11s %6s %5s %5s  %s\n", "module", "bytes", "group",
                   "push", "shared", "barriers", "shifts", "indices", "loads", "bits", "ops", "wrong", "notes",
                   "bindings");
    for (uint32_t i = 0; i < audits->count; ++i) add_row(text, audits->items[i]);
    add_findings(text, audits, notes);
    add_totals(text, audits);
}

/* ---- JSON ---- */

static void add_string(qg_text *text, const char *string) {
    qg_text_puts(text, "\"");
    for (const char *c = string; *c; ++c) {
        if (*c == '"' || *c == '\\')
            qg_text_printf(text, "\\%c", *c);
        else if ((unsigned char)*c < 32)
            qg_text_printf(text, "\\u%04x", (unsigned)*c);
        else
            qg_text_add(text, c, 1);
    }
    qg_text_puts(text, "\"");
}

static void add_strings(qg_text *text, const char *name, const qg_texts *list) {
    qg_text_printf(text, ", \"%s\": [", name);
    for (uint32_t i = 0; i < list->count; ++i) {
        if (i) qg_text_puts(text, ", ");
        add_string(text, list->items[i]);
    }
    qg_text_puts(text, "]");
}

static void add_pair(qg_text *text, const char *name, qg_audit_count count) {
    qg_text_printf(text, ", \"%s\": {\"all\": %u, \"proven\": %u}", name, count.all, count.proven);
}

static void add_interface(qg_text *text, const qg_audit *a) {
    qg_text_puts(text, ",\n   \"bindings\": [");
    for (uint32_t i = 0; i < a->n_bindings; ++i) {
        const qg_audit_binding *b = &a->bindings[i];
        qg_text_printf(text, "%s{\"set\": %u, \"binding\": %u, \"name\": ", i ? ", " : "", b->set, b->binding);
        add_string(text, b->name);
        qg_text_printf(text, ", \"reads\": %s, \"writes\": %s}", b->reads ? "true" : "false",
                       b->writes ? "true" : "false");
    }
    qg_text_puts(text, "], \"constants\": [");
    for (uint32_t i = 0; i < a->n_constants; ++i) {
        qg_text_printf(text, "%s{\"id\": %u, \"value\": %u, \"name\": ", i ? ", " : "", a->constants[i].id,
                       a->constants[i].value);
        add_string(text, a->constants[i].name);
        qg_text_puts(text, "}");
    }
    qg_text_puts(text, "]");
}

static void add_module(qg_text *text, const qg_audit *a) {
    qg_text_puts(text, "{\"module\": ");
    add_string(text, a->name);
    if (a->why) {
        qg_text_puts(text, ", \"failed\": ");
        add_string(text, a->why);
        qg_text_puts(text, "}");
        return;
    }
    qg_text_puts(text, ", \"entry\": ");
    add_string(text, a->entry);
    qg_text_printf(text,
                   ", \"bytes\": %zu, \"workgroup\": [%u, %u, %u], \"push_declared\": %u, \"push_used\": %u, "
                   "\"shared_bytes\": %u",
                   a->bytes, a->workgroup[0], a->workgroup[1], a->workgroup[2], a->push_declared, a->push_used,
                   a->shared_bytes);
    qg_text_printf(text, ", \"subgroup_operations\": %u, \"operations\": %u, \"stores\": %u", a->subgroup_operations,
                   a->operations, a->stores);
    add_strings(text, "capabilities", &a->capabilities);
    add_strings(text, "float_controls", &a->float_controls);
    add_interface(text, a);
    qg_text_puts(text, ",\n   \"ours\": ");
    qg_text_puts(text, a->ours ? "true" : "false");
    add_pair(text, "barriers", a->barriers);
    add_pair(text, "shifts", a->shifts);
    add_pair(text, "shared", a->shared);
    add_pair(text, "arrays", a->arrays);
    add_pair(text, "loads", a->loads);
    qg_text_printf(text, ", \"bits\": %u, \"bits_read\": %u, \"bits_once\": %u, \"operations_per_weight\": %.6g",
                   a->bits, a->bits_read, a->bits_once, a->per_weight);
    qg_text_puts(text, ",\n   \"findings\": [");
    for (uint32_t f = 0; f < a->n_findings; ++f) {
        qg_text_printf(text, "%s\n    {\"severity\": \"%s\", \"rule\": \"%s\", \"sentence\": ", f ? "," : "",
                       a->findings[f].severity == QG_WRONG ? "wrong" : "note", a->findings[f].rule);
        add_string(text, a->findings[f].sentence);
        qg_text_puts(text, "}");
    }
    qg_text_puts(text, "]}");
}

void qg_audit_json(qg_text *text, const qg_audits *audits) {
    const totals t = total_of(audits);
    qg_text_printf(text, "{\"wrong\": %u, \"notes\": %u, \"failed\": %u, \"modules\": [", t.wrong, t.notes, t.failed);
    for (uint32_t i = 0; i < audits->count; ++i) {
        qg_text_puts(text, i ? ",\n  " : "\n  ");
        add_module(text, audits->items[i]);
    }
    qg_text_puts(text, "\n]}\n");
}
