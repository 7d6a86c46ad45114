/* Metal text in the executor, which checks each access. */
#include "judge/cross.h"
#include "judge/worker.h"

#include "msl/executor.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef struct metal_state {
    qk_msl *(*open)(const char *, size_t, const char *, const qk_msl_options *, qk_msl_error *);
    void (*close)(qk_msl *);
    const qk_msl_kernel *(*find)(const qk_msl *, const char *);
    qk_msl_status (*run)(qk_msl *, const qk_msl_kernel *, const qk_msl_launch *, qk_msl_error *);
    const qg_foreign_kernel *kernel;
    qg_worker_options options;
    const char *defines[64];
    uint32_t n_defines;
    qk_msl *file;
    const qk_msl_kernel *found;
    uint32_t n_constants; /* with which the file was compiled */
    qg_constant_value constants[QG_MAX_ITEMS];
} metal_state;

static bool find_function(void *library, const char *name, void *function, size_t size) {
    void *object = dlsym(library, name);
    if (object) memcpy(function, &object, size);
    return object != NULL;
}

#define FIND(member, name) find_function(library, name, &m->member, sizeof m->member)

static qg_outcome open_metal(void **state, const qg_foreign_kernel *kernel, const qg_worker_options *options,
                             qg_message *message) {
    static metal_state only;
    metal_state *m = &only;
    void *library = dlopen(options->metal_library, RTLD_NOW | RTLD_LOCAL);
    if (!library) return qg_answer(message, QG_UNABLE, "cannot load the MSL executor: %s", dlerror());
    if (!FIND(open, "qk_msl_open") || !FIND(close, "qk_msl_close") || !FIND(find, "qk_msl_find") ||
        !FIND(run, "qk_msl_run"))
        return qg_answer(message, QG_UNABLE, "%s is not the MSL executor", options->metal_library);
    if (kernel->crossed) setenv("QKGEN_MSL_O0", "1", 0); /* it compiles in half of the time; no line of it is told */
    m->kernel = kernel;
    m->options = *options;
    for (uint32_t i = 0; kernel->defines && i < kernel->defines->count && i < 64; ++i)
        m->defines[m->n_defines++] = kernel->defines->items[i];
    *state = m;
    snprintf(message->where, sizeof message->where, "the Metal executor, on the processor");
    message->lanes = 32;
    return QG_RAN;
}

/* SPIRV-Cross makes macros of constants that are lengths of arrays. */
static uint32_t crossed_defines(metal_state *m, const char **defines) {
    static char texts[QG_MAX_ITEMS][64];
    uint32_t count = m->n_defines;
    memcpy(defines, m->defines, count * sizeof *defines);
    for (uint32_t i = 0; m->kernel->crossed && i < m->n_constants; ++i) {
        uint32_t value;
        memcpy(&value, m->constants[i].value, sizeof value);
        snprintf(texts[i], sizeof texts[i], "SPIRV_CROSS_CONSTANT_ID_%u=%uu", m->constants[i].id, value);
        defines[count++] = texts[i];
    }
    return count;
}

/* Function constants are compiled in. */
static qg_outcome prepare(metal_state *m, qg_message *message) {
    const qg_call *call = &message->call;
    static qk_msl_error error;
    qk_msl_value values[QG_MAX_ITEMS];
    const char *defines[64 + QG_MAX_ITEMS];
    const size_t size = call->n_constants * sizeof *call->constants;
    if (m->file && m->n_constants == call->n_constants && !memcmp(m->constants, call->constants, size)) return QG_RAN;
    if (m->file) m->close(m->file);
    m->n_constants = call->n_constants;
    memcpy(m->constants, call->constants, size);
    for (uint32_t i = 0; i < call->n_constants; ++i)
        values[i] = (qk_msl_value){m->constants[i].id, m->constants[i].bytes, m->constants[i].value};
    const qk_msl_options options = {.values = values,
                                    .value_count = m->n_constants,
                                    .defines = defines,
                                    .define_count = crossed_defines(m, defines)};
    message->stage = QG_STAGE_COMPILE;
    m->file = m->open(m->kernel->bytes, m->kernel->length, m->kernel->path, &options, &error);
    message->stage = QG_STAGE_LAUNCH;
    if (!m->file) return qg_answer(message, QG_UNABLE, "%s", error.text);
    m->found = m->find(m->file, m->kernel->entry);
    if (!m->found) return qg_answer(message, QG_UNABLE, "%s has no kernel %s", m->kernel->path, m->kernel->entry);
    return QG_RAN;
}

/* Of a module, which says its workgroup itself or by a constant. */
static uint32_t crossed_size(const qg_foreign_kernel *kernel, const qg_call *call, int axis) {
    uint32_t size = kernel->group[axis];
    for (uint32_t i = 0; i < call->n_constants; ++i)
        if (call->constants[i].id == kernel->group_id[axis]) memcpy(&size, call->constants[i].value, sizeof size);
    return size;
}

static qg_outcome launch_metal(void *state, qg_message *message, unsigned char *shared) {
    metal_state *m = state;
    const qg_call *call = &message->call;
    static qk_msl_error error;
    qk_msl_buffer buffers[QG_MAX_ARGUMENTS + 1], memory[QG_MAX_ITEMS];
    uint32_t count = 0;
    if (prepare(m, message) != QG_RAN) return message->outcome;
    if (m->kernel->crossed && call->push_bytes)
        buffers[count++] = (qk_msl_buffer){QG_CROSS_PUSH, message->call.push, call->push_bytes};
    for (uint32_t i = 0; i < call->n_passed; ++i)
        buffers[count++] = (qk_msl_buffer){call->passed[i].index, shared + message->offsets[i], call->passed[i].bytes};
    for (uint32_t i = 0; i < call->n_threadgroup; ++i)
        memory[i] = (qk_msl_buffer){call->threadgroup_index[i], NULL, call->threadgroup_bytes[i]};
    uint32_t group[3] = {call->group[0], call->group[1], call->group[2]};
    for (int i = 0; i < 3 && m->kernel->crossed; ++i) group[i] = crossed_size(m->kernel, call, i);
    const qk_msl_launch launch = {.buffers = buffers,
                                  .buffer_count = count,
                                  .threadgroup = memory,
                                  .threadgroup_count = call->n_threadgroup,
                                  .group = {group[0], group[1], group[2]},
                                  .groups = {call->grid[0], call->grid[1], call->grid[2]},
                                  .order = (qk_msl_order)m->options.turns,
                                  .seed = m->options.seed};
    const qk_msl_status status = m->run(m->file, m->found, &launch, &error);
    if (status == QK_MSL_OK) return QG_RAN;
    const bool ours =
        status == QK_MSL_ERROR_ARGUMENT || status == QK_MSL_ERROR_COMPILER || status == QK_MSL_ERROR_SOURCE;
    return qg_answer(message, ours ? QG_UNABLE : QG_FAULT, "%s", error.text);
}

const qg_engine qg_engine_metal = {open_metal, launch_metal};
