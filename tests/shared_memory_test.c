/* No launch takes more shared memory than its device has. A driver need not refuse one that does: its first launch loses the device, as
 * two right-hand sides of eight rows at a time did by 20 bytes. Here a backend that launches nothing takes what dispatch decides, for
 * devices of several sizes, and adds up the shared variables of the module with those constants. */
#include "emit/modules.h"
#include "emit/spirv.h"
#include "spec/library.h"
#include "text/text.h"

#include "../runtime/vulkan_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static qg_arena *arena;
static qg_library *library;
static qg_templates templates;

static const qk_limits devices[] = {
    /* A large GPU, one of 64 lanes, one of 16, a CPU, and what Vulkan promises at least. */
    {.subgroup_size = 32, .shared_bytes = 49152, .busy_workgroups = 660, .workgroup_size = 1024},
    {.subgroup_size = 64, .shared_bytes = 65536, .busy_workgroups = 384, .workgroup_size = 1024},
    {.subgroup_size = 16, .shared_bytes = 32768, .busy_workgroups = 96, .workgroup_size = 1024},
    {.subgroup_size = 8, .shared_bytes = 32768, .busy_workgroups = 4, .workgroup_size = 1024},
    {.subgroup_size = 32, .shared_bytes = 16384, .workgroup_size = 128},
};

typedef struct seen {
    uint32_t shared_bytes, launches;
    uint64_t most;
    uint64_t cases[3]; /* rows, cols, right-hand sides */
} seen;

static qk_status look(void *context, const qk_launch *launch, qk_error *error) {
    seen *s = context;
    uint64_t bytes = 0;
    uint32_t values[QK_MAX_CONSTANTS];
    for (uint32_t i = 0; i < launch->kernel->spec_constant_count; ++i)
        values[i] = launch->constants ? launch->constants[i] : launch->kernel->spec_constants[i].value;
    if (!qk_vk_shared_bytes(launch->kernel, values, &bytes))
        return qk_fail(error, QK_ERROR_ARGUMENT, "%s: its shared memory cannot be added up", launch->kernel->name);
    if (bytes > s->most) s->most = bytes;
    s->launches += 1;
    if (bytes > s->shared_bytes)
        return qk_fail(error, QK_ERROR_LIMIT, "%s: %llu bytes of shared memory of %u, %llu x %llu, %llu vectors",
                       launch->kernel->name, (unsigned long long)bytes, s->shared_bytes,
                       (unsigned long long)s->cases[0], (unsigned long long)s->cases[1],
                       (unsigned long long)s->cases[2]);
    return QK_OK;
}

static qk_range whole(uint32_t number) { return (qk_range){&templates, (uint64_t)number << 50, UINT64_C(1) << 49}; }

static qk_status dispatch(const qk_backend *backend, const qk_kernel *kernel, const uint64_t *of, qk_error *error) {
    qk_range weights[QK_MAX_BINDINGS];
    for (uint32_t i = 0; i < QK_MAX_BINDINGS; ++i) weights[i] = whole(i);
    if (strcmp(kernel->family, "gemv_id") == 0)
        return qk_dispatch_gemv_id(backend, kernel, weights, whole(20), whole(21), whole(22), whole(23), 16, of[0],
                                   of[1], of[2], 4, 1, error);
    return qk_dispatch_gemv(backend, kernel, weights, whole(20), whole(21), of[0], of[1], of[2], error);
}

static void try_shapes(const qk_kernel *kernel) {
    static const uint64_t rows[] = {1, 300, 1024, 4096, 14336, 128256}, cols[] = {256, 2048, 4096, 14336, 65536};
    for (uint32_t d = 0; d < sizeof devices / sizeof *devices; ++d) {
        seen s = {.shared_bytes = devices[d].shared_bytes};
        qk_backend backend = {.context = &s, .api = QK_API_VULKAN, .limits = devices[d], .launch = look};
        backend.limits.storage_range = UINT64_C(1) << 32;
        backend.limits.offset_alignment = 16;
        backend.limits.workgroup_count = 65535;
        backend.limits.push_bytes = 128;
        backend.limits.features = UINT32_MAX;
        for (uint32_t i = 0; i < 6 * 5 * 8; ++i) {
            qk_error error;
            s.cases[0] = rows[i % 6];
            s.cases[1] = cols[i / 6 % 5];
            s.cases[2] = i / 30 + 1;
            const int experts = strcmp(kernel->family, "gemv_id") == 0;
            if (s.cases[1] % kernel->block_elements || (experts && s.cases[0] > 14336)) continue;
            if (kernel->view != QK_VIEW_BLOCKS && s.cases[0] * s.cases[1] >> 32) continue; /* more than one takes */
            if (dispatch(&backend, kernel, s.cases, &error) != QK_OK) fail_msg("%s", error.text);
        }
        assert_true(s.launches > 0);
    }
}

static void try_kernels(const qg_layout *layout, const qg_family *family, const char *products_of) {
    const qg_products products = qg_sum_class_named(products_of)->products;
    qg_arena *own = qg_arena_new();
    for (uint32_t c = 0; c < qg_n_sum_classes; ++c) {
        const qg_sum_class *sum = &qg_sum_classes[c];
        const char *why = NULL;
        if (sum->products != products || (c && !qg_has_class(own, layout, family, sum))) continue;
        const qg_kernel kernel = qg_kernel_new(own, layout, family, QG_F32, sum);
        const qg_request request = {
            .layout = layout, .n_families = 1, .families = &family, .vulkan = true, .command = "t"};
        const qk_kernel *described = qg_compile_kernel(own, &templates, &request, &kernel, 0, &why);
        if (!described) fail_msg("%s: %s", kernel.name, why);
        try_shapes(described);
    }
    qg_arena_free(own);
}

/* Formats with tables, pairs, copies, of one and several buffers, of small and large tiles. */
static const char *const formats[] = {"q1_0",       "q4_0",   "q8_0",  "q2_K",  "q3_K",
                                      "q4_K",       "q6_K",   "tq1_0", "iq1_m", "iq2_xs",
                                      "iq3_s",      "iq4_xs", "mxfp4", "nvfp4", "affine_b4_g64_bf16",
                                      "aqlm_2x8_g8"};

static void shared_memory_fits(void **state) {
    (void)state;
    const char *classes[] = {"exact", "int8", "mma"};
    for (uint32_t f = 0; f < sizeof formats / sizeof *formats; ++f) {
        const qg_layout *layout = qg_library_find(library, formats[f]);
        if (!layout) fail_msg("no format is named %s", formats[f]);
        for (uint32_t c = 0; c < 3; ++c) {
            if (c == 2 && !qg_spirv_has_matrices()) continue;
            try_kernels(layout, qg_family_named("gemv"), classes[c]);
            if (c < 2 && qg_takes(qg_family_named("gemv_id"), layout))
                try_kernels(layout, qg_family_named("gemv_id"), classes[c]);
        }
    }
}

static int open_all(void **state) {
    (void)state;
    const char *why = NULL, *source = getenv("SOURCE");
    arena = qg_arena_new();
    if (!source || !qg_spirv_open()) return -1;
    library = qg_library_new(arena, false);
    if (!qg_library_add_folder(library, qg_format(arena, "%s/formats", source))) return -1;
    return qg_templates_load(arena, qg_format(arena, "%s/templates", source), &templates, &why) ? 0 : -1;
}

static int close_all(void **state) {
    (void)state;
    qg_spirv_close();
    qg_arena_free(arena);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(shared_memory_fits)};
    return cmocka_run_group_tests(tests, open_all, close_all);
}
