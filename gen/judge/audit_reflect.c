/* A second witness: what SPIRV-Cross says of workgroup, constants, push constants and buffers. */
#include "judge/audit_module.h"

#include <spirv_cross/spirv_cross_c.h>

static void read_push(qg_module *m, spvc_compiler compiler, const spvc_reflected_resource *push) {
    const spvc_buffer_range *ranges = NULL;
    size_t count = 0, declared = 0;
    uint32_t used = 0;
    spvc_compiler_get_active_buffer_ranges(compiler, push->id, &ranges, &count);
    for (size_t i = 0; i < count; ++i)
        if (ranges[i].offset + ranges[i].range > used) used = (uint32_t)(ranges[i].offset + ranges[i].range);
    spvc_compiler_get_declared_struct_size(compiler, spvc_compiler_get_type_handle(compiler, push->base_type_id),
                                           &declared);
    m->audit->push_declared = (uint32_t)declared;
    m->audit->push_used = used;
}

static void read_constants(qg_module *m, spvc_compiler compiler) {
    const spvc_specialization_constant *list = NULL;
    size_t count = 0;
    qg_audit *a = m->audit;
    spvc_compiler_get_specialization_constants(compiler, &list, &count);
    for (size_t i = 0; i < count; ++i) {
        const char *name = m->names[list[i].id] ? m->names[list[i].id] : "";
        const qg_audit_constant c = {
            list[i].constant_id,
            spvc_constant_get_scalar_u32(spvc_compiler_get_constant_handle(compiler, list[i].id), 0, 0), name};
        QG_PUSH(m->arena, a->constants, a->n_constants, a->constants_capacity, c);
    }
}

static void read_workgroup(qg_module *m, spvc_compiler compiler) {
    spvc_specialization_constant sizes[3] = {{0, 0}};
    spvc_compiler_get_work_group_size_specialization_constants(compiler, &sizes[0], &sizes[1], &sizes[2]);
    for (unsigned i = 0; i < 3; ++i) {
        m->audit->workgroup[i] =
            spvc_compiler_get_execution_mode_argument_by_index(compiler, SpvExecutionModeLocalSize, i);
        if (!sizes[i].id) continue;
        m->audit->sized_by_constants = true;
        m->audit->workgroup[i] =
            spvc_constant_get_scalar_u32(spvc_compiler_get_constant_handle(compiler, sizes[i].id), 0, 0);
    }
}

void qg_audit_reflect(qg_module *m, const void *words, size_t bytes) {
    spvc_context context;
    spvc_parsed_ir ir;
    spvc_compiler compiler;
    spvc_resources resources;
    const spvc_reflected_resource *list = NULL;
    size_t count = 0;
    if (spvc_context_create(&context) != SPVC_SUCCESS) return;
    if (spvc_context_parse_spirv(context, words, bytes / 4, &ir) != SPVC_SUCCESS ||
        spvc_context_create_compiler(context, SPVC_BACKEND_NONE, ir, SPVC_CAPTURE_MODE_TAKE_OWNERSHIP, &compiler) !=
            SPVC_SUCCESS) {
        m->audit->sized_by_constants = true; /* for all that is known */
        qg_audit_found(m, QG_NOTE, "reflection",
                       "SPIRV-Cross cannot read it (%s), so that its constants are not listed",
                       spvc_context_get_last_error_string(context));
        spvc_context_destroy(context);
        return;
    }
    spvc_compiler_set_entry_point(compiler, m->audit->entry, SpvExecutionModelGLCompute);
    read_workgroup(m, compiler);
    read_constants(m, compiler);
    if (spvc_compiler_create_shader_resources(compiler, &resources) == SPVC_SUCCESS &&
        spvc_resources_get_resource_list_for_type(resources, SPVC_RESOURCE_TYPE_PUSH_CONSTANT, &list, &count) ==
            SPVC_SUCCESS &&
        count)
        read_push(m, compiler, &list[0]);
    spvc_context_destroy(context);
}
