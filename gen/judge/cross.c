/* SPIR-V as Metal text. */
#include "judge/cross.h"

#include <spirv_cross/spirv_cross_c.h>
#include <string.h>

/* What the executor has under another name, or not at all. */
static const char *without_simd_header(qg_arena *arena, const char *text) {
    static const char header[] = "#include <simd/simd.h>";
    char *copy = qg_format(arena, "%s", text), *at = strstr(copy, header);
    if (at) memset(at, ' ', sizeof header - 1);
    return copy;
}

static void workgroup(spvc_compiler compiler, qg_crossed *crossed) {
    spvc_specialization_constant sizes[3] = {{0, 0}};
    spvc_compiler_get_work_group_size_specialization_constants(compiler, &sizes[0], &sizes[1], &sizes[2]);
    for (unsigned i = 0; i < 3; ++i) {
        crossed->group[i] = spvc_compiler_get_execution_mode_argument_by_index(compiler, SpvExecutionModeLocalSize, i);
        crossed->group_id[i] = sizes[i].id ? sizes[i].constant_id : UINT32_MAX;
        if (sizes[i].id)
            crossed->group[i] =
                spvc_constant_get_scalar_u32(spvc_compiler_get_constant_handle(compiler, sizes[i].id), 0, 0);
    }
}

static bool cross(qg_arena *arena, spvc_context context, const void *words, size_t bytes, const char *entry,
                  qg_crossed *crossed) {
    spvc_parsed_ir ir;
    spvc_compiler compiler;
    spvc_compiler_options options;
    spvc_msl_resource_binding push;
    const char *text = NULL;
    if (spvc_context_parse_spirv(context, words, bytes / 4, &ir) != SPVC_SUCCESS ||
        spvc_context_create_compiler(context, SPVC_BACKEND_MSL, ir, SPVC_CAPTURE_MODE_TAKE_OWNERSHIP, &compiler) !=
            SPVC_SUCCESS ||
        spvc_compiler_set_entry_point(compiler, entry, SpvExecutionModelGLCompute) != SPVC_SUCCESS ||
        spvc_compiler_create_compiler_options(compiler, &options) != SPVC_SUCCESS)
        return false;
    spvc_compiler_options_set_uint(options, SPVC_COMPILER_OPTION_MSL_VERSION, SPVC_MAKE_MSL_VERSION(2, 4, 0));
    spvc_compiler_options_set_bool(options, SPVC_COMPILER_OPTION_MSL_ENABLE_DECORATION_BINDING, SPVC_TRUE);
    spvc_compiler_options_set_bool(options, SPVC_COMPILER_OPTION_MSL_FORCE_NATIVE_ARRAYS, SPVC_TRUE);
    if (spvc_compiler_install_compiler_options(compiler, options) != SPVC_SUCCESS) return false;
    spvc_msl_resource_binding_init(&push);
    push.stage = SpvExecutionModelGLCompute;
    push.desc_set = SPVC_MSL_PUSH_CONSTANT_DESC_SET;
    push.binding = SPVC_MSL_PUSH_CONSTANT_BINDING;
    push.msl_buffer = QG_CROSS_PUSH;
    spvc_compiler_msl_add_resource_binding(compiler, &push);
    workgroup(compiler, crossed);
    if (spvc_compiler_compile(compiler, &text) != SPVC_SUCCESS) return false;
    crossed->text = without_simd_header(arena, text);
    const char *name = spvc_compiler_get_cleansed_entry_point_name(compiler, entry, SpvExecutionModelGLCompute);
    crossed->entry = qg_format(arena, "%s", name ? name : "main0");
    return true;
}

const char *qg_cross(qg_arena *arena, const void *words, size_t bytes, const char *entry, qg_crossed *crossed) {
    spvc_context context;
    const char *why = NULL;
    *crossed = (qg_crossed){0};
    if (spvc_context_create(&context) != SPVC_SUCCESS) return "SPIRV-Cross cannot be initialised";
    if (!cross(arena, context, words, bytes, entry, crossed))
        why =
            qg_format(arena, "SPIRV-Cross makes no Metal text of it: %s", spvc_context_get_last_error_string(context));
    spvc_context_destroy(context);
    return why;
}
