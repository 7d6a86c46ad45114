/* Programs: that each one of each format is as it must be, and that the verifier notices what is not. */
#include "build/program.h"
#include "spec/library.h"
#include "text/text.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct fixture {
    qg_arena *arena;
    qg_library *known;
} fixture;

static int open_all(void **state) {
    static fixture f;
    const char *source = getenv("SOURCE");
    f.arena = qg_arena_new();
    f.known = qg_library_new(f.arena, false);
    qg_library_add_folder(f.known, qg_format(f.arena, "%s/formats", source ? source : "."));
    *state = &f;
    return f.known->layouts.count > 100 ? 0 : -1;
}

static int close_all(void **state) {
    qg_arena_free(((fixture *)*state)->arena);
    return 0;
}

static const qg_program *program_of(const fixture *f, const char *format, const char *family, qg_class_id class,
                                    qk_api api, qk_schedule schedule) {
    const qg_layout *layout = qg_library_find(f->known, format);
    assert_non_null(layout);
    qg_kernel *kernel = QG_NEW(f->arena, qg_kernel);
    *kernel = qg_kernel_new(f->arena, layout, qg_family_named(family), QG_F32, &qg_sum_classes[class]);
    return qg_program_of(f->arena, kernel, api, schedule);
}

/* ---- all of them ---- */

typedef struct tally {
    uint32_t programs, proven, guarded;
} tally;

static void verify(const qg_kernel *kernel, qk_api api, qk_schedule schedule, tally *t) {
    qg_arena *arena = qg_arena_new();
    const qg_program *program = qg_program_of(arena, kernel, api, schedule);
    const uint32_t n = program->n_steps * kernel->layout->n_buffers;
    qg_proofs proofs;
    const char *why = qg_verify(arena, program, &proofs);
    if (why || proofs.unproven) fail_msg("%s, API %d: %s", kernel->name, (int)api, why ? why : proofs.first);
    t->programs += 1;
    for (uint32_t i = 0; i < n; ++i) {
        t->proven += proofs.loads[i].proven;
        t->guarded += proofs.loads[i].guarded;
        if (program->main->plan->layout->view == QG_VIEW_BLOCKS) assert_int_equal(proofs.loads[i].guarded, 0);
    }
    qg_arena_free(arena);
}

static void test_all(void **state) {
    const fixture *f = *state;
    const qg_family *families[QG_FAMILY_COUNT];
    tally t = {0, 0, 0};
    for (uint32_t i = 0; i < qg_n_families; ++i) families[i] = &qg_families[i];
    for (uint32_t l = 0; l < f->known->layouts.count; ++l) {
        qg_arena *arena = qg_arena_new();
        const qg_request request = {.layout = f->known->layouts.items[l],
                                    .n_families = qg_n_families,
                                    .families = families,
                                    .classes = (1u << QG_CLASS_COUNT) - 1,
                                    .vulkan = true,
                                    .metal = true};
        const qg_kernel *kernels;
        const uint32_t count = qg_kernels(arena, &request, &kernels);
        for (uint32_t k = 0; k < count; ++k) {
            const uint32_t all = qg_schedules_of(&kernels[k]) ? qg_schedules_of(&kernels[k]) : 1u;
            for (uint32_t s = 0; s < QK_SCHEDULE_COUNT; ++s)
                if (all >> s & 1 && !qg_is_shared(kernels, k, (qk_schedule)s))
                    verify(&kernels[k], QK_API_VULKAN, (qk_schedule)s, &t);
            if (qg_on_metal(&kernels[k])) verify(&kernels[k], QK_API_METAL, QK_SCHEDULE_NONE, &t);
        }
        qg_arena_free(arena);
    }
    print_message("%u programs; of their loads %u are proven, %u guarded by dispatch\n", t.programs, t.proven,
                  t.guarded);
    assert_true(t.programs > 2000 && t.proven > 10000);
}

/* ---- what each has ---- */

static void test_steps(void **state) {
    const fixture *f = *state;
    const qg_program *p = program_of(f, "q4_K", "gemv", QG_CLASS_INT8, QK_API_VULKAN, QK_SCHEDULE_ROWS);
    assert_int_equal(p->n_steps, 1);
    assert_ptr_equal(p->sum, &p->steps[0]);
    assert_ptr_equal(p->main, p->sum);
    assert_null(p->values);
    assert_true(p->sum->code->single && !p->sum->code->fetched);
    p = program_of(f, "q4_K", "gemv", QG_CLASS_INT8, QK_API_VULKAN, QK_SCHEDULE_WIDE);
    assert_int_equal(p->n_steps, 1);
    assert_ptr_equal(p->main, p->wide);
    assert_non_null(p->wide->code->fetched);
    assert_int_equal(p->wide->size, p->wide->plan->tile_elements / p->plan->tile_elements);
    p = program_of(f, "q4_K", "gemv", QG_CLASS_INT8, QK_API_VULKAN, QK_SCHEDULE_AHEAD);
    assert_ptr_equal(p->main, p->ahead);
    assert_null(p->wide);
    p = program_of(f, "q4_K", "gemv", QG_CLASS_INT8, QK_API_VULKAN, QK_SCHEDULE_SHARED);
    assert_ptr_equal(p->main, p->wide); /* of integers */
    p = program_of(f, "q4_K", "gemv", QG_CLASS_EXACT, QK_API_VULKAN, QK_SCHEDULE_SHARED);
    assert_ptr_equal(p->main, p->sum);
    p = program_of(f, "q4_K", "gemv", QG_CLASS_EXACT, QK_API_METAL, QK_SCHEDULE_NONE);
    assert_int_equal(p->n_steps, 2); /* and larger tiles, where rows are whole ones */
    assert_ptr_equal(p->main, p->wide);
    assert_false(p->sum->code->single); /* of BATCH right-hand sides */
    assert_true(p->wide->code->masked);
    p = program_of(f, "nf4_b64", "gemv", QG_CLASS_EXACT, QK_API_VULKAN, QK_SCHEDULE_ROWS);
    assert_non_null(p->values); /* rows end within tiles */
    const qg_plan *cut = p->plan;
    p = program_of(f, "nf4_b64", "gemv", QG_CLASS_EXACT, QK_API_VULKAN, QK_SCHEDULE_SHARED);
    assert_null(p->values); /* of whole blocks */
    assert_true(cut->layout->ragged && !p->plan->layout->ragged && p->plan->tile_elements == cut->tile_elements);
    assert_true(p->sum->code->single);
    p = program_of(f, "gptq_v1_b4_g128", "gemv", QG_CLASS_EXACT, QK_API_VULKAN, QK_SCHEDULE_COLUMNS);
    assert_ptr_equal(p->main, p->sum);
    assert_int_equal(p->sum->plan->tile_rows, 4);
    assert_int_equal(p->sum->code->n_outputs, 4);
    assert_true(qg_uses(p->sum->code, QG_LOAD_FOUR) && qg_uses(p->sum->code, QG_HALVES));
    assert_true(p->sum->code->x_factors[0][0] == 16777216 && p->sum->code->x_factors[0][1] == 1048576);
    p = program_of(f, "awq_b4_g128", "gemv", QG_CLASS_EXACT, QK_API_VULKAN, QK_SCHEDULE_COLUMNS);
    assert_int_equal(p->sum->code->n_outputs, 8);
    assert_true(p->sum->code->x_factors[0][0] == 1 && qg_uses(p->sum->code, QG_HALVES)); /* rows have the factors */
    p = program_of(f, "q4_0", "dequant", QG_CLASS_EXACT, QK_API_VULKAN, QK_SCHEDULE_NONE);
    assert_non_null(p->stores);
    assert_null(p->sum);
    p = program_of(f, "q4_0", "gemv", QG_CLASS_MMA, QK_API_METAL, QK_SCHEDULE_NONE);
    assert_non_null(p->wide->of_unit);
    assert_non_null(p->sum); /* of rows that no unit takes */
}

/* Each feature of a descriptor stands in its text: a bit that is missing there is not asked for. */
static void test_features(void **state) {
    const fixture *f = *state;
    const qg_program *p = program_of(f, "q4_0", "gemv", QG_CLASS_MMA, QK_API_VULKAN, QK_SCHEDULE_NONE);
    const qk_kernel *described = qg_describe(f->arena, p->kernel, QK_API_VULKAN, NULL);
    qg_text text = qg_text_new(f->arena);
    const qg_module_names names = {.of = {p->kernel->module}};
    qg_c_lists lists = {.count = 0};
    qg_c_add_kernel(&text, "q4_0", &lists, &names, described, NULL);
    assert_true((described->features & QK_FEATURE_COOPERATIVE_MATRIX) != 0);
#define FEATURE(bit, NAME, what)                                                                                       \
    assert_true(((described->features & QK_FEATURE_##NAME) != 0) == (strstr(text.data, "QK_FEATURE_" #NAME) != NULL));
    QK_FEATURES(FEATURE)
#undef FEATURE
    const char *dump = qg_dump_program(f->arena, p);
    assert_non_null(strstr(dump, "needs storageBuffer16BitAccess, subgroup arithmetic in compute shaders"));
    assert_null(strstr(dump, "NOT AS IT MUST BE"));
}

/* The descriptor of a kernel, behind those that are there. */
static const char *described(const fixture *f, qg_c_lists *lists, const char *family, qg_class_id class) {
    const qg_program *p = program_of(f, "q4_0", family, class, QK_API_VULKAN, QK_SCHEDULE_NONE);
    qg_text text = qg_text_new(f->arena);
    const qg_module_names names = {.of = {p->kernel->module}};
    qg_c_add_kernel(&text, "q4_0", lists, &names, qg_describe(f->arena, p->kernel, QK_API_VULKAN, NULL), NULL);
    return text.data;
}

/* A list of a file that is like another of its kind is not there again; one that differs is. */
static void test_lists(void **state) {
    const fixture *f = *state;
    qg_c_lists lists = {.count = 0};
    assert_non_null(strstr(described(f, &lists, "gemv", QG_CLASS_EXACT), "static const qk_field q4_0_gemv_f32_push[]"));
    const char *again = described(f, &lists, "gemv", QG_CLASS_EXACT);
    assert_null(strstr(again, "static"));
    assert_non_null(strstr(again, "    .push = q4_0_gemv_f32_push,\n"));
    const char *other = described(f, &lists, "gemv", QG_CLASS_SPLIT);
    assert_null(strstr(other, "static const qk_field"));
    assert_non_null(strstr(other, "    .push = q4_0_gemv_f32_push,\n"));
    assert_non_null(strstr(other, "    .spec_constants = q4_0_gemv_split_f32_vulkan_constants,\n"));
    assert_non_null(strstr(other, "    {4, \"digits\", 2, 1, q4_0_gemv_split_f32_vulkan_digits}"));
    assert_non_null(strstr(described(f, &lists, "dequant", QG_CLASS_EXACT), "    .push = q4_0_dequant_f32_push,\n"));
}

/* Texts of Metal have a case for each power of two of right-hand sides, and none for other numbers; loops of Vulkan take any. */
static void test_batches(void **state) {
    const fixture *f = *state;
    for (qk_api api = QK_API_VULKAN; api <= QK_API_METAL; ++api) {
        const qk_schedule schedule = api == QK_API_METAL ? QK_SCHEDULE_NONE : QK_SCHEDULE_TEAMS;
        const qg_program *p = program_of(f, "q4_K", "gemv", QG_CLASS_EXACT, api, schedule);
        const qk_kernel *described = qg_describe(f->arena, p->kernel, api, NULL);
        uint32_t i = 0;
        while (i < described->spec_constant_count && described->spec_constants[i].id != QK_CONSTANT_BATCH) i++;
        assert_true(i < described->spec_constant_count);
        const qk_spec_constant *batch = &described->spec_constants[i];
        assert_int_equal(batch->legal_count, api == QK_API_METAL ? 4 : 8);
        for (uint32_t n = 0; n < batch->legal_count; ++n)
            assert_int_equal(batch->legal[n], api == QK_API_METAL ? 1u << n : n + 1);
    }
}

/* ---- planted faults ---- */

typedef bool is_place(const qg_node *node);

static qg_node *find(const qg_step *step, is_place *fits) {
    for (uint32_t i = 0; i < step->code->n_nodes; ++i)
        if (step->code->nodes[i]->used && fits(step->code->nodes[i])) return step->code->nodes[i];
    fail_msg("step %s has no place for the fault", step->name);
    return NULL;
}

static bool is_shift(const qg_node *node) { return node->op == QG_SHR && node->arg[1]->op == QG_CONST; }
static bool is_load(const qg_node *node) { return node->op == QG_LOAD && node->arg[0]->op == QG_ADD; }
static bool is_four(const qg_node *node) { return node->op == QG_LOAD_FOUR && node->arg[0]->op == QG_ADD; }
static bool is_lookup(const qg_node *node) { return node->op == QG_TABLE; }
static bool is_dot(const qg_node *node) { return node->op == QG_DOT; }
static bool is_dot4(const qg_node *node) { return node->op == QG_DOT4; }
static bool is_x_sum(const qg_node *node) { return node->op == QG_X_SUM; }
static bool is_lane(const qg_node *node) { return node->op == QG_LANE; }
static bool is_sum(const qg_node *node) { return node->op == QG_ADD && node->kind == QG_K_FLOAT; }

static void is_noticed(const fixture *f, const qg_program *p, const char *what) {
    qg_proofs proofs;
    const char *why = qg_verify(f->arena, p, &proofs);
    if (!why) why = proofs.first;
    if (!why || !strstr(why, what)) fail_msg("'%s' is not noticed; the verifier says: %s", what, why ? why : "nothing");
    assert_non_null(strstr(qg_dump_program(f->arena, p), what)); /* the dump says so, too */
}

/* Puts `fault` in the place of a node, sees it noticed, and takes it back. */
static void plant(const fixture *f, const qg_program *p, qg_node *node, qg_node fault, const char *what) {
    const qg_node was = *node;
    qg_proofs proofs;
    *node = fault;
    is_noticed(f, p, what);
    *node = was;
    assert_null(qg_verify(f->arena, p, &proofs));
    assert_null(proofs.first);
}

static qg_node with_operand(qg_node node, uint32_t i, const qg_node *operand) {
    node.arg[i] = operand;
    return node;
}

static qg_node with_number(qg_node node, int64_t number) {
    node.integer = number;
    return node;
}

static void test_faults(void **state) {
    const fixture *f = *state;
    const qg_program *k = program_of(f, "q4_K", "gemv", QG_CLASS_INT8, QK_API_VULKAN, QK_SCHEDULE_ROWS);
    const qg_program *wide = program_of(f, "q4_K", "gemv", QG_CLASS_INT8, QK_API_VULKAN, QK_SCHEDULE_WIDE);
    const qg_program *ahead = program_of(f, "q4_K", "gemv", QG_CLASS_INT8, QK_API_VULKAN, QK_SCHEDULE_AHEAD);
    const qg_program *floats = program_of(f, "q4_K", "gemv", QG_CLASS_EXACT, QK_API_VULKAN, QK_SCHEDULE_ROWS);
    const qg_program *looked_up = program_of(f, "iq4_nl", "dequant", QG_CLASS_EXACT, QK_API_VULKAN, QK_SCHEDULE_NONE);
    qg_ir *ir = qg_ir_new(f->arena, k->kernel->layout);
    const qg_node *width = qg_uint(ir, 32), *behind = qg_uint(ir, k->kernel->layout->buffers[0].bytes / 4);

    qg_node *node = find(k->sum, is_shift);
    plant(f, k, node, with_operand(*node, 1, width), "shift by 32 bits or more");
    plant(f, k, node, with_operand(*node, 1, qg_int(ir, -1)), "shift by 32 bits or more");
    node = find(k->sum, is_load);
    plant(f, k, node, with_operand(*node, 0, qg_apply(ir, QG_ADD, node->arg[0], behind, NULL)), "not of its block");
    node = find(ahead->ahead, is_four);
    plant(f, ahead, node, with_operand(*node, 0, qg_apply(ir, QG_ADD, node->arg[0], qg_uint(ir, 9), NULL)),
          "not of its block");
    node = find(k->sum, is_dot4);
    plant(f, k, node, with_number(*node, k->sum->code->n_x_quads), "not kept of x");
    node = find(k->sum, is_x_sum);
    plant(f, k, node, with_number(*node, k->sum->code->n_x_sums), "not kept of x");
    node = find(floats->sum, is_dot);
    plant(f, floats, node, with_number(*node, floats->sum->plan->n_runs), "not kept of x");
    node = find(looked_up->values, is_lookup);
    plant(f, looked_up, node, with_operand(*node, 0, qg_uint(ir, 16)), "beyond the table");
    node = find(wide->wide, is_lane);
    plant(f, wide, node, with_number(*node, 4), "operands are not of its type");
    node = find(k->sum, is_sum);
    plant(f, k, node, with_operand(*node, 1, width), "operands are not of its type");
}

/* What is wrong with a step as a whole. */
static void test_faults_of_steps(void **state) {
    const fixture *f = *state;
    qg_program p = *program_of(f, "q4_0", "dequant", QG_CLASS_EXACT, QK_API_VULKAN, QK_SCHEDULE_NONE);
    p.values = &p.steps[0];
    qg_ir code = *p.steps[0].code;
    p.steps[0].code = &code;
    assert_null(qg_verify(f->arena, &p, NULL));
    code.n_outputs -= 1;
    is_noticed(f, &p, "results, must have");
    code.n_outputs += 1;
    const qg_node *statements[2] = {code.statements[0], code.statements[0]};
    code.statements = statements;
    code.n_statements = 2;
    is_noticed(f, &p, "two statements are called");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all),
                                       cmocka_unit_test(test_steps),
                                       cmocka_unit_test(test_features),
                                       cmocka_unit_test(test_lists),
                                       cmocka_unit_test(test_batches),
                                       cmocka_unit_test(test_faults),
                                       cmocka_unit_test(test_faults_of_steps)};
    return cmocka_run_group_tests(tests, open_all, close_all);
}
