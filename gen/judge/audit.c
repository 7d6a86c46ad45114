/* A module, audited: what holds of any, and of ours what their descriptors and programs say. */
#include "judge/audit.h"
#include "build/cost.h"
#include "emit/spirv_shrink.h"
#include "judge/audit_bits.h"
#include "judge/audit_module.h"

#include <string.h>

uint32_t qg_audit_wrong(const qg_audit *audit) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < audit->n_findings; ++i) count += audit->findings[i].severity == QG_WRONG;
    return count;
}

static void look_at_module(qg_module *m, const void *words, size_t bytes) {
    const char *why = NULL;
    qg_audit *a = m->audit;
    if (bytes < 20 || bytes % 4 || memcmp(words, "\x03\x02\x23\x07", 4) != 0)
        why = "it is no SPIR-V: it does not begin with SPIR-V's number 0x07230203";
    if (!why) why = qg_spirv_validate_any(m->arena, words, bytes / 4);
    if (!why) why = qg_module_read(m, words, bytes);
    if (why) {
        a->why = why;
        return;
    }
    qg_audit_reflect(m, words, bytes);
    qg_audit_access(m);
    qg_audit_flow(m);
    qg_audit_uses(m);
}

static qg_audit *new_audit(qg_arena *arena, qg_module *m, const char *name, size_t bytes) {
    qg_audit *a = QG_NEW(arena, qg_audit);
    a->name = name;
    a->entry = "";
    a->bytes = bytes;
    *m = (qg_module){.arena = arena, .audit = a};
    return a;
}

static qg_audit *look_at(qg_arena *arena, const char *name, const void *words, size_t bytes, const qk_kernel *kernel,
                         qg_module *m) {
    qg_audit *a = new_audit(arena, m, name, bytes);
    m->kernel = kernel;
    look_at_module(m, words, bytes);
    return a;
}

qg_audit *qg_audit_words(qg_arena *arena, const char *name, const void *words, size_t bytes,
                         const qg_audit_options *options) {
    qg_module m;
    qg_audit *a = look_at(arena, name, words, bytes, NULL, &m);
    if (!a->why && options->push_bytes && a->push_used > options->push_bytes)
        qg_audit_found(
            &m, QG_WRONG, "push",
            "it reads %u bytes of push constants, and the host declares %u; declare a range of %u, or read less",
            a->push_used, options->push_bytes, a->push_used);
    return a;
}

/* ---- beside a descriptor ---- */

static const char *words_of(qk_access access) {
    return access == QK_READ ? "read" : access == QK_WRITE ? "written" : "read and written";
}

static void compare_binding(const qg_module *m, const qg_audit_binding *b, const qk_kernel *k) {
    const qk_binding *of = NULL;
    const qk_table *table = NULL;
    for (uint32_t i = 0; i < k->binding_count; ++i)
        if (k->bindings[i].index == b->binding) of = &k->bindings[i];
    for (uint32_t i = 0; i < k->table_count; ++i)
        if (k->tables[i].index == b->binding) table = &k->tables[i];
    if (b->set != 0 || (!of && !table)) {
        qg_audit_found(m, QG_WRONG, "binding",
                       "it uses binding %u of set %u, which the descriptor of %s does not have; add it, or "
                       "take it out of the module",
                       b->binding, b->set, k->name);
        return;
    }
    const qk_access access = of ? of->access : QK_READ;
    const char *name = of ? of->name : table->name;
    if ((b->writes && access == QK_READ) || (b->reads && access == QK_WRITE))
        qg_audit_found(
            m, QG_WRONG, "access",
            "binding %u (%s) is %s, and the descriptor of %s says that it is %s; say so there, or take the %s out",
            b->binding, name,
            b->writes && b->reads ? "read and written"
            : b->writes           ? "written"
                                  : "read",
            k->name, words_of(access), access == QK_READ ? "store" : "load");
}

static void compare_constants(const qg_module *m, const qk_kernel *k) {
    for (uint32_t i = 0; i < m->audit->n_constants; ++i) {
        bool known = false;
        for (uint32_t c = 0; c < k->spec_constant_count; ++c)
            known |= k->spec_constants[c].id == m->audit->constants[i].id;
        if (!known)
            qg_audit_found(
                m, QG_WRONG, "constant",
                "its specialisation constant %u is not in the descriptor of %s; list it there, or make it a constant",
                m->audit->constants[i].id, k->name);
    }
}

static const struct {
    const char *capability;
    uint32_t feature;
    const char *name;
} asked[] = {{"StorageBuffer8BitAccess", QK_FEATURE_STORAGE_8BIT, "storageBuffer8BitAccess"},
             {"StorageBuffer16BitAccess", QK_FEATURE_STORAGE_16BIT, "storageBuffer16BitAccess"},
             {"UniformAndStorageBuffer16BitAccess", QK_FEATURE_STORAGE_16BIT, "storageBuffer16BitAccess"},
             {"GroupNonUniformArithmetic", QK_FEATURE_SUBGROUP_ARITHMETIC, "subgroup arithmetic"},
             {"GroupNonUniformShuffle", QK_FEATURE_SUBGROUP_SHUFFLE, "subgroup shuffles"},
             {"GroupNonUniformShuffleRelative", QK_FEATURE_SUBGROUP_SHUFFLE, "subgroup shuffles"},
             {"DotProduct", QK_FEATURE_INTEGER_DOT_PRODUCT, "shaderIntegerDotProduct"},
             {"Float16", QK_FEATURE_FLOAT16, "shaderFloat16"},
             {"CooperativeMatrixKHR", QK_FEATURE_COOPERATIVE_MATRIX, "cooperative matrices"}};

/* Dispatch takes the schedule of tiles only where the device has matrix units; there is another for all else. */
static bool is_guarded(const qg_program *program, uint32_t feature) {
    return program && program->schedule == QK_SCHEDULE_TILES && feature == QK_FEATURE_COOPERATIVE_MATRIX;
}

static void compare_feature(const qg_module *m, const qk_kernel *k, const qg_program *program, const char *capability) {
    for (size_t f = 0; f < sizeof asked / sizeof *asked; ++f) {
        if (strcmp(asked[f].capability, capability) != 0 || k->features & asked[f].feature) continue;
        if (is_guarded(program, asked[f].feature))
            qg_audit_found(m, QG_NOTE, "feature",
                           "its capability %s is guarded at run time by dispatch, which takes this schedule only where "
                           "the device has %s",
                           capability, asked[f].name);
        else
            qg_audit_found(
                m, QG_WRONG, "feature",
                "it declares the capability %s, and the descriptor of %s does not ask for %s; add the feature",
                capability, k->name, asked[f].name);
    }
}

static void compare(const qg_module *m, const qk_kernel *k, const qg_program *program) {
    const qg_audit *a = m->audit;
    const uint32_t threads = a->workgroup[0] * a->workgroup[1] * a->workgroup[2];
    if (strcmp(a->entry, k->entry) != 0)
        qg_audit_found(m, QG_WRONG, "entry", "the descriptor of %s calls the entry point %s; call it so", k->name,
                       k->entry);
    for (uint32_t i = 0; i < a->n_bindings; ++i) compare_binding(m, &a->bindings[i], k);
    if (a->push_used > k->push_bytes)
        qg_audit_found(
            m, QG_WRONG, "push",
            "it reads %u bytes of push constants, and the descriptor of %s declares %u; declare %u, or read less",
            a->push_used, k->name, k->push_bytes, a->push_used);
    compare_constants(m, k);
    for (uint32_t i = 0; i < a->capabilities.count; ++i) compare_feature(m, k, program, a->capabilities.items[i]);
    if (threads && threads != k->workgroup_size && !a->sized_by_constants)
        qg_audit_found(m, QG_WRONG, "workgroup",
                       "its workgroup has %u threads, and the descriptor of %s says %u; make them agree", threads,
                       k->name, k->workgroup_size);
}

/* ---- beside a program ---- */

/* Some schedules work on x or on results alone; the steps of their programs are those of others. */
static bool reads_weights(const qg_module *m, const qk_kernel *k) {
    for (uint32_t i = 0; i < m->audit->n_bindings; ++i)
        for (uint32_t b = 0; b < k->binding_count; ++b)
            if (m->audit->bindings[i].reads && k->bindings[b].index == m->audit->bindings[i].binding &&
                k->bindings[b].role == QK_ROLE_WEIGHTS)
                return true;
    return false;
}

static void add_proofs(const qg_module *m, const qg_program *program) {
    qg_proofs proofs;
    uint32_t at = 0;
    qg_audit *a = m->audit;
    const char *wrong = qg_verify(m->arena, program, &proofs);
    if (wrong)
        qg_audit_found(m, QG_WRONG, "program", "its program is not as it must be: %s; a fault of the generator", wrong);
    if (proofs.unproven)
        qg_audit_found(m, QG_WRONG, "program",
                       "%u loads, lookups or shifts of its program are not proven, the first: %s", proofs.unproven,
                       proofs.first);
    for (uint32_t s = 0; s < program->n_steps; ++s)
        for (uint32_t b = 0; b < program->steps[s].code->layout->n_buffers; ++b, ++at) {
            a->loads.all += proofs.loads[at].proven + proofs.loads[at].guarded;
            a->loads.proven += proofs.loads[at].proven;
        }
    a->guard = "dispatch, which checks the sizes of all buffers against the shape";
    if (program->main || program->values) {
        const qg_cost cost = qg_cost_of_program(program);
        if (cost.weights) a->per_weight = (double)qg_cost_total(&cost) / cost.weights;
    }
}

static void add_bits(const qg_module *m, const qg_program *program) {
    qg_bits_read read;
    if (!qg_count_bits(m->arena, program, &read)) return;
    m->audit->bits = read.owned;
    m->audit->bits_read = read.read;
    m->audit->bits_once = read.once;
    if (read.first)
        qg_audit_found(m, QG_WRONG, "bits",
                       "%u bits of a block that belong to codes are not read, the first of them %s; the value "
                       "cannot be right",
                       read.owned - read.read, read.first);
}

qg_audit *qg_audit_kernel(qg_arena *arena, const char *name, const qk_kernel *kernel, const qg_program *program,
                          const qk_code *code) {
    qg_module m;
    const char *why = NULL;
    size_t count = 0;
    /* What an argument may be is then known at each call by itself. */
    const uint32_t *words = qg_spirv_flatten(arena, code->data, code->bytes / 4, &count, &why);
    qg_audit *a = words ? look_at(arena, name, words, count * 4, kernel, &m) : new_audit(arena, &m, name, code->bytes);
    a->bytes = code->bytes;
    if (!words) a->why = why;
    if (a->why) return a;
    a->ours = true;
    compare(&m, kernel, program);
    if (!program || !reads_weights(&m, kernel)) return a;
    add_proofs(&m, program);
    add_bits(&m, program);
    return a;
}

/* ---- keeping ---- */

static const char *keep(qg_arena *arena, const char *text) {
    return text ? qg_strndup(arena, text, strlen(text)) : NULL;
}

static qg_texts keep_texts(qg_arena *arena, const qg_texts *list) {
    qg_texts kept = {list->count, list->count, QG_NEW_ARRAY(arena, const char *, list->count + 1)};
    for (uint32_t i = 0; i < list->count; ++i) kept.items[i] = keep(arena, list->items[i]);
    return kept;
}

qg_audit *qg_audit_keep(qg_arena *arena, const qg_audit *audit) {
    qg_audit *a = QG_NEW(arena, qg_audit);
    *a = *audit;
    a->name = keep(arena, a->name);
    a->why = keep(arena, a->why);
    a->entry = keep(arena, a->entry);
    a->guard = keep(arena, a->guard);
    a->capabilities = keep_texts(arena, &audit->capabilities);
    a->unused = keep_texts(arena, &audit->unused);
    a->float_controls = keep_texts(arena, &audit->float_controls);
    a->bindings = QG_NEW_ARRAY(arena, qg_audit_binding, a->n_bindings + 1);
    a->constants = QG_NEW_ARRAY(arena, qg_audit_constant, a->n_constants + 1);
    a->findings = QG_NEW_ARRAY(arena, qg_audit_finding, a->n_findings + 1);
    for (uint32_t i = 0; i < a->n_bindings; ++i) {
        a->bindings[i] = audit->bindings[i];
        a->bindings[i].name = keep(arena, audit->bindings[i].name);
    }
    for (uint32_t i = 0; i < a->n_constants; ++i) {
        a->constants[i] = audit->constants[i];
        a->constants[i].name = keep(arena, audit->constants[i].name);
    }
    for (uint32_t i = 0; i < a->n_findings; ++i) {
        const qg_audit_finding *f = &audit->findings[i];
        a->findings[i] = (qg_audit_finding){f->severity, f->rule, keep(arena, f->sentence)};
    }
    return a;
}
