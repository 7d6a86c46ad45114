/* Descriptors of kernels: what a runtime has to know of one. */
#include "build/cost.h"

#include <qkgen/choice.def>

#include <string.h>

bool qg_has_narrow_elements(const qg_kernel *kernel) {
    if (kernel->family->sums) return kernel->layout->ragged || kernel->plan->lanes == 1;
    return kernel->type != QG_F32 && !kernel->family->encodes && qg_stores_singly(kernel);
}

static qk_type unit_type(uint32_t bits) { return bits == 8 ? QK_TYPE_U8 : bits == 16 ? QK_TYPE_U16 : QK_TYPE_U32; }

static qk_type stored_type(qg_scalar type) {
    return type == QG_F16 ? QK_TYPE_F16 : type == QG_BF16 ? QK_TYPE_BF16 : QK_TYPE_F32;
}

/* Bits of the words in which a kernel has a buffer of the format. */
static uint32_t buffer_unit(const qg_kernel *kernel, uint32_t buffer) {
    return kernel->family->encodes ? qg_encode_unit(&kernel->layout->buffers[buffer]) : kernel->plan->units[buffer];
}

static uint32_t features(const qg_kernel *kernel) {
    uint32_t bits = 0;
    for (uint32_t i = 0; i < kernel->layout->n_buffers; ++i) {
        if (buffer_unit(kernel, i) == 8) bits |= QK_FEATURE_STORAGE_8BIT;
        if (buffer_unit(kernel, i) == 16) bits |= QK_FEATURE_STORAGE_16BIT;
    }
    for (uint32_t i = 0; kernel->to && i < kernel->to->n_buffers; ++i) {
        if (qg_encode_unit(&kernel->to->buffers[i]) == 8) bits |= QK_FEATURE_STORAGE_8BIT;
        if (qg_encode_unit(&kernel->to->buffers[i]) == 16) bits |= QK_FEATURE_STORAGE_16BIT;
    }
    if (qg_has_narrow_elements(kernel)) bits |= QK_FEATURE_STORAGE_16BIT;
    if (kernel->wide && qg_is_midway(kernel->wide)) bits |= QK_FEATURE_STORAGE_16BIT;
    if (kernel->family->sums) bits |= QK_FEATURE_SUBGROUP_ARITHMETIC;
    if (kernel->wide || qg_shares_x(kernel)) bits |= QK_FEATURE_SUBGROUP_SHUFFLE;
    if (kernel->sum && kernel->sum->products == QG_PRODUCTS_F16) bits |= QK_FEATURE_FLOAT16;
    if (qg_is_mma(kernel)) bits |= QK_FEATURE_STORAGE_16BIT; /* of results, where a device has halves anyway */
    if (qg_is_mma(kernel)) bits |= QK_FEATURE_FLOAT16 | (kernel->family->in_tiles ? 0 : QK_FEATURE_COOPERATIVE_MATRIX);
    if (kernel->sum && kernel->sum->products == QG_PRODUCTS_INT8) bits |= QK_FEATURE_INTEGER_DOT_PRODUCT;
    return bits;
}

bool qg_stores_halves(const qg_kernel *kernel) { return (features(kernel) & QK_FEATURE_STORAGE_16BIT) != 0; }

bool qg_is_epilogue(qk_role role) {
#define EPILOGUE_CASE(bit, NAME, ...) case QK_ROLE_##NAME:
    switch ((int)role) {
        QK_EPILOGUES(EPILOGUE_CASE) return true;
    default: return false;
    }
#undef EPILOGUE_CASE
}

static qk_type type_of_role(const qg_kernel *kernel, qk_role role) {
    if (qg_is_epilogue(role)) return QK_TYPE_F32;
    if (role == QK_ROLE_INPUT) return stored_type(kernel->type);
    if (role == QK_ROLE_OUTPUT) return kernel->family->sums ? QK_TYPE_F32 : stored_type(kernel->type);
    return QK_TYPE_U32;
}

static void describe_tile(const qg_layout *layout, const qg_buffer *buffer, qk_binding *binding) {
    if (layout->view == QG_VIEW_BLOCKS) return;
    binding->item_bytes = buffer->item_bits / 8;
    binding->row_bytes = qg_header_bytes(buffer);
    binding->block_bytes -= binding->row_bytes;
    if (buffer->entries) binding->item_bytes *= buffer->entries * buffer->tile_cols; /* a whole table */
    for (uint32_t i = 0; i < buffer->n_axes && !(buffer->entries && buffer->axes[i] == QG_AXIS_CODE); ++i)
        *(buffer->axes[i] == QG_AXIS_ROWS ? &binding->tile_rows : &binding->tile_cols) =
            buffer->axes[i] == QG_AXIS_ROWS ? buffer->tile_rows : buffer->tile_cols;
}

static const qk_binding *describe_bindings(qg_arena *arena, const qg_kernel *kernel, uint32_t count) {
    qk_binding *bindings = QG_NEW_ARRAY(arena, qk_binding, count);
    const uint32_t n_weights = kernel->layout->n_buffers;
    for (uint32_t i = 0; i < n_weights; ++i) {
        bindings[i] = (qk_binding){.index = i,
                                   .name = kernel->layout->buffers[i].name,
                                   .role = QK_ROLE_WEIGHTS,
                                   .access = kernel->family->encodes ? QK_WRITE : QK_READ,
                                   .element = unit_type(buffer_unit(kernel, i)),
                                   .block_bytes =
                                       kernel->layout->buffers[i].bytes * (qg_unit(kernel) / kernel->layout->elements)};
        describe_tile(kernel->layout, &kernel->layout->buffers[i], &bindings[i]);
    }
    const uint32_t n_written = kernel->to ? kernel->to->n_buffers : 0;
    for (uint32_t i = 0; i < n_written; ++i)
        bindings[n_weights + i] =
            (qk_binding){.index = n_weights + i,
                         .name = kernel->to->buffers[i].name,
                         .role = QK_ROLE_WEIGHTS,
                         .access = QK_WRITE,
                         .element = unit_type(qg_encode_unit(&kernel->to->buffers[i])),
                         .block_bytes = kernel->to->buffers[i].bytes * (qg_unit(kernel) / kernel->to->elements)};
    for (uint32_t i = n_weights + n_written; i < count; ++i) {
        const struct qg_family_binding *own = &kernel->family->bindings[i - n_weights - n_written];
        bindings[i] = (qk_binding){.index = i,
                                   .name = own->name,
                                   .role = own->role,
                                   .access = own->access,
                                   .element = type_of_role(kernel, own->role)};
    }
    return bindings;
}

/* Stored tables are bound after everything else. */
static void describe_tables(qg_arena *arena, const qg_kernel *kernel, qk_kernel *described) {
    const qg_layout *layout = kernel->layout;
    qk_table *tables = QG_NEW_ARRAY(arena, qk_table, layout->n_tables + 1);
    for (uint32_t i = 0; i < layout->n_tables; ++i) {
        if (!kernel->plan->stored[i]) continue;
        qk_table *table = &tables[described->table_count];
        table->index = described->binding_count + described->table_count++;
        table->name = layout->tables[i].name;
        table->words = qg_table_words(arena, &layout->tables[i], &table->bytes);
    }
    described->tables = tables;
}

/* The program of the schedule that walks with such tiles. */
static const qg_program *program_with(qg_arena *arena, const qg_kernel *kernel, int tile) {
    uint32_t s = 1;
    while (s + 1 < QK_SCHEDULE_COUNT && (int)qg_schedules[s].tile != tile) ++s;
    return qg_program_of(arena, kernel, QK_API_VULKAN, (qk_schedule)s);
}

static void describe_tiles(qg_arena *arena, const qg_plan *wide, qk_kernel *described) {
    described->operand_tile = wide->tile_elements;
    described->wide_block = wide->layout->view == QG_VIEW_BLOCKS ? wide->layout->elements : wide->tile_elements;
    const qg_operands *operands = qg_lower_operands(wide);
    described->operand_words = operands->n_words;
    const qg_fetches *all = qg_fetches_of(arena, operands->ir);
    const uint32_t loads = 4 * all->n_fours + all->n_words;
    if (loads >= QK_TILE_MANY_LOADS) described->wide_loads = loads;
    if (described->api == QK_API_VULKAN) described->span_words = qg_span_of(wide, all).stride;
}

/* What dispatch must know of the schedules beside rows. */
static void describe_schedules(qg_arena *arena, const qg_kernel *kernel, qk_kernel *described) {
    const qg_plan *wide = kernel->wide;
    if (qg_is_mma(kernel) && wide && wide->layout->joined) described->wide_block = wide->layout->elements;
    if (!qg_schedules_of(kernel)) return;
    if (wide) {
        described->kept_elements = qg_kept_tiles(wide) * wide->tile_elements;
        described->wide_block = wide->layout->view == QG_VIEW_BLOCKS ? wide->layout->elements : 0;
    }
    if (kernel->columns) {
        described->columns_kept = kernel->columns->tile_elements;
        described->columns_rows = kernel->columns->tile_rows;
    }
    if (kernel->ahead) {
        described->rows_ahead = qg_rows_ahead(kernel);
        described->ahead_kept = kernel->ahead->tile_elements;
        described->ahead_block = kernel->ahead->layout->elements;
        described->wide_loads = kernel->wide_loads;
    }
    if (!qg_shares_x(kernel)) return;
    const qg_program *shared = program_with(arena, kernel, QG_TILE_SHARED);
    described->shared_tile = (qg_shared_words(shared->main, kernel->sum->digits) + 3) / 4;
    described->shares_wide = shared->main->plan == wide;
    const qg_program *teams = program_with(arena, kernel, QG_TILE_TEAMS);
    described->teams_tile = (qg_shared_words(teams->main, kernel->sum->digits) + 3) / 4;
    described->teams_kept = kernel->teams->tile_elements;
    described->teams_block = kernel->teams->layout->view == QG_VIEW_BLOCKS ? kernel->teams->layout->elements : 0;
}

static qk_math decode_math(qg_scalar type) {
    return type == QG_F16 ? QK_MATH_F16 : type == QG_BF16 ? QK_MATH_BF16 : QK_MATH_F32;
}

const qk_kernel *qg_describe(qg_arena *arena, const qg_kernel *kernel, qk_api api, const qk_code *code) {
    qk_kernel *described = QG_NEW(arena, qk_kernel);
    const qg_family_form *form = qg_form(kernel->family, kernel->layout);
    const uint32_t n_push = form->n_push;
    qk_field *push = QG_NEW_ARRAY(arena, qk_field, n_push);
    for (uint32_t i = 0; i < n_push; ++i) push[i] = (qk_field){form->push[i], 4 * i, 4};
    described->abi = QK_ABI_VERSION;
    described->name = kernel->name;
    described->format = kernel->layout->format;
    described->decode_math = decode_math(kernel->layout->math);
    described->family = kernel->family->name;
    described->api = api;
    described->entry = api == QK_API_VULKAN ? "main" : kernel->name;
    described->code = code;
    described->binding_count = qg_bindings_of(kernel);
    described->bindings = describe_bindings(arena, kernel, described->binding_count);
    described->push_bytes = 4 * n_push;
    described->push_count = n_push;
    described->push = push;
    const qg_plan *plan = api == QK_API_VULKAN ? kernel->plan : kernel->metal_plan;
    described->workgroup_size = plan->workgroup;
    if (api == QK_API_VULKAN && qg_kernel_staged_bytes(kernel))
        described->workgroup_size = qg_staging_workgroup(kernel);
    if (api == QK_API_METAL && qg_is_mma(kernel))
        described->workgroup_size = 32 * (kernel->family->in_tiles ? QG_TILE_SIMDGROUPS : QG_MMA_SIMDGROUPS);
    described->features = api == QK_API_VULKAN ? features(kernel)
                          : qg_is_mma(kernel)  ? QK_FEATURE_COOPERATIVE_MATRIX
                                               : 0;
    described->numeric = kernel->sum ? kernel->sum->numeric : QK_NUMERIC_EXACT_DECODE;
    described->output = type_of_role(kernel, QK_ROLE_OUTPUT);
    described->block_elements = qg_unit(kernel);
    if (kernel->layout->view != QG_VIEW_BLOCKS) {
        described->view = (qk_view)kernel->layout->view;
        described->ragged = kernel->layout->ragged;
        described->block_rows = kernel->layout->block_rows;
        described->block_cols = kernel->layout->block_cols;
    }
    described->tile_elements = kernel->family->encodes || kernel->to ? qg_unit(kernel) : plan->tile_elements;
    if (kernel->family->encodes && kernel->layout->view == QG_VIEW_GROUPS)
        described->tile_elements = kernel->layout->block_cols; /* as of tiles that are decoded, it is of one row */
    if (api == QK_API_VULKAN && kernel->family->encodes)
        described->tile_elements /= qg_encode_team(kernel->layout) * qg_spread_parts(kernel->layout);
    described->tile_rows = plan->tile_rows;
    described->rows_at_once = api == QK_API_VULKAN ? kernel->rows_at_once : 0;
    if (kernel->family->in_tiles)
        describe_tiles(arena, api == QK_API_VULKAN ? kernel->wide : kernel->metal_wide, described);
    else if (api == QK_API_VULKAN)
        describe_schedules(arena, kernel, described);
    qg_describe_error(kernel, described);
    if (api == QK_API_VULKAN && !kernel->family->encodes) describe_tables(arena, kernel, described);
    qg_describe_constants(arena, kernel, described);
    return described;
}

bool qg_stores_singly(const qg_kernel *kernel) { return kernel->plan->store_lanes == 1 || kernel->layout->ragged; }

bool qg_rounds_f16(const qg_kernel *kernel) { return qg_decodes_halves(kernel) && kernel->plan->lanes == 4; }
