/* A program as text: what the host must know, then step by step what a thread does. */
#include "build/program.h"

#include <string.h>

static const char *access_of(const qk_binding *b) {
    return b->access == QK_READ ? "read" : b->access == QK_WRITE ? "written" : "read and written";
}

static void add_bindings(qg_text *text, const qk_kernel *k) {
    qg_text_puts(text, "bindings\n");
    for (uint32_t i = 0; i < k->binding_count; ++i) {
        const qk_binding *b = &k->bindings[i];
        qg_text_printf(text, "  %u %s, %s", b->index, b->name, access_of(b));
        if (b->block_bytes) qg_text_printf(text, ": blocks of %u bytes", b->block_bytes);
        qg_text_puts(text, "\n");
    }
    for (uint32_t i = 0; i < k->table_count; ++i)
        qg_text_printf(text, "  %u %s, read: a table of %u bytes\n", k->tables[i].index, k->tables[i].name,
                       k->tables[i].bytes);
    qg_text_puts(text, "push constants\n ");
    for (uint32_t i = 0; i < k->push_count; ++i)
        qg_text_printf(text, " %s at %u%s", k->push[i].name, k->push[i].offset, i + 1 < k->push_count ? "," : "\n");
}

static void add_constants(qg_text *text, const qk_kernel *k) {
    qg_text_puts(text, k->spec_constant_count ? "constants\n" : "constants: none\n");
    for (uint32_t i = 0; i < k->spec_constant_count; ++i) {
        const qk_spec_constant *c = &k->spec_constants[i];
        qg_text_printf(text, "  %u %s = %u", c->id, c->name, c->value);
        for (uint32_t l = 0; l < c->legal_count; ++l) qg_text_printf(text, "%s%u", l ? " " : ", of ", c->legal[l]);
        qg_text_puts(text, "\n");
    }
}

static void add_features(qg_text *text, const qk_kernel *k) {
    static const char *const names[] = {
#define FEATURE(number, NAME, what) [number] = what,
        QK_FEATURES(FEATURE)
#undef FEATURE
    };
    qg_text_printf(text, "workgroup of %u threads; needs", k->workgroup_size);
    bool any = false;
    for (uint32_t bit = 0; bit < sizeof names / sizeof *names; ++bit) {
        if (!(k->features >> bit & 1)) continue;
        qg_text_printf(text, "%s %s", any ? "," : "", names[bit]);
        any = true;
    }
    qg_text_puts(text, any ? "\n" : " no feature\n");
    if (k->sum_roundings) qg_text_printf(text, "a tile's sum is rounded %u times, by 2^-24", k->sum_roundings);
    if (k->x_levels) qg_text_printf(text, "; x has %u levels, and a step for %u elements", k->x_levels, k->x_group);
    if (k->sum_roundings) qg_text_puts(text, "\n");
}

static void add_loads(qg_text *text, const qg_step *step, const qg_load_proof *proofs) {
    const qg_fetches *all = step->code->fetched;
    if (all) qg_text_printf(text, "  loaded first: %u times 16 bytes, %u words\n", all->n_fours, all->n_words);
    for (uint32_t b = 0; b < step->code->layout->n_buffers; ++b) {
        if (!proofs[b].proven && !proofs[b].guarded) continue;
        qg_text_printf(text, "  loads of %s:", step->code->layout->buffers[b].name);
        if (proofs[b].proven) qg_text_printf(text, " %u proven to be in their block", proofs[b].proven);
        if (proofs[b].guarded)
            qg_text_printf(text, "%s %u by dispatch, which checks the tensor's size", proofs[b].proven ? "," : "",
                           proofs[b].guarded);
        qg_text_puts(text, step->code->overruns >> b & 1 ? ", or in QK_PADDING bytes behind it\n" : "\n");
    }
}

static void add_step(qg_text *text, const qg_step *step, const qg_load_proof *proofs) {
    const qg_plan *plan = step->plan;
    qg_text_printf(text, "\nstep %s: %s\n  %u elements", step->name, step->meaning, plan->tile_elements);
    if (plan->tile_rows > 1) qg_text_printf(text, " of each of %u rows", plan->tile_rows);
    qg_text_printf(text, " in runs of %u at", plan->lanes);
    for (uint32_t i = 0; i < plan->n_runs; ++i) qg_text_printf(text, " %u", plan->runs[i]);
    if (step->size > 1) qg_text_printf(text, "; %u tiles of %u elements", step->size, plan->tile_elements / step->size);
    qg_text_puts(text, "\n");
    add_loads(text, step, proofs);
    qg_text_puts(text, qg_dump_ir(text->arena, step->code));
}

char *qg_dump_program(qg_arena *arena, const qg_program *program) {
    const qg_kernel *kernel = program->kernel;
    const qk_kernel *k = qg_describe(arena, kernel, program->api, NULL);
    const uint32_t n = kernel->layout->n_buffers;
    qg_proofs proofs;
    const char *wrong = qg_verify(arena, program, &proofs);
    qg_text text = qg_text_new(arena);
    qg_text_printf(&text, "program %s for %s: %s\n", kernel->name, program->api == QK_API_VULKAN ? "Vulkan" : "Metal",
                   kernel->family->summary);
    if (kernel->sum) qg_text_printf(&text, "class %s", kernel->sum->name);
    if (program->schedule) qg_text_printf(&text, ", schedule %s", qg_schedule_name(program->schedule));
    if (kernel->sum) qg_text_puts(&text, "\n");
    add_bindings(&text, k);
    add_constants(&text, k);
    add_features(&text, k);
    if (wrong) qg_text_printf(&text, "NOT AS IT MUST BE: %s\n", wrong);
    if (proofs.unproven) qg_text_printf(&text, "not proven: %u, the first: %s\n", proofs.unproven, proofs.first);
    for (uint32_t i = 0; i < program->n_steps; ++i) add_step(&text, &program->steps[i], proofs.loads + (size_t)i * n);
    return text.data;
}
