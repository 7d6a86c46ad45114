/* SPIR-V as Metal text. */
#include "judge/cross.h"

#include <spirv_cross/spirv_cross_c.h>
#include <string.h>

/* What the executor has under another name, or not at all. */
static char *without_simd_header(qg_arena *arena, const char *text) {
    static const char header[] = "#include <simd/simd.h>";
    char *copy = qg_format(arena, "%s", text), *at = strstr(copy, header);
    if (at) memset(at, ' ', sizeof header - 1);
    return copy;
}

/* A copy of a text in which the part from `at` to `end` is another. */
static char *replaced(qg_arena *arena, const char *text, const char *at, const char *end, const char *by) {
    return qg_format(arena, "%.*s%s%s", (int)(at - text), text, by, end);
}

/* A size of workgroups that a constant gives may be in the length of an array, which the executor must know when it
 * compiles: a macro, as SPIRV-Cross makes it of other constants in lengths. */
static char *with_size_as_macro(qg_arena *arena, char *text, uint32_t id, char axis) {
    const char *mark = qg_format(arena, "_tmp [[function_constant(%u)]];\nconstant uint ", id);
    char *found = strstr(text, mark), *line = found;
    if (!found) return text;
    while (line > text && line[-1] != '\n') --line;
    const char *name = found + strlen(mark), *value = strstr(name, "_tmp : "), *end = value ? strchr(value, ';') : NULL;
    if (!end) return text;
    const char *called = qg_strndup(arena, name, strcspn(name, " "));
    const char *own = qg_strndup(arena, value + strlen("_tmp : "), (size_t)(end - value) - strlen("_tmp : "));
    text = replaced(arena, text, line, end,
                    qg_format(arena,
                              "#ifndef SPIRV_CROSS_CONSTANT_ID_%u\n#define SPIRV_CROSS_CONSTANT_ID_%u %s\n#endif\n"
                              "constant uint %s = SPIRV_CROSS_CONSTANT_ID_%u",
                              id, id, own, called, id));
    const char *use = qg_format(arena, " = gl_WorkGroupSize.%c;", axis);
    for (char *at; (at = strstr(text, use));)
        text = replaced(arena, text, at, at + strlen(use), qg_format(arena, " = %s;", called));
    return text;
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
    char *own = without_simd_header(arena, text);
    for (int i = 0; i < 3; ++i)
        if (crossed->group_id[i] != UINT32_MAX) own = with_size_as_macro(arena, own, crossed->group_id[i], "xyz"[i]);
    crossed->text = own;
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
