/* The specialisation constants of a kernel: rows of <qkgen/constant.def>, with what the planner knows better. */
#include "build/family.h"

#define VALUES(...) __VA_ARGS__
/* One more than there are, for a list may be empty. */
#define LEGAL(id, NAME, name, setter, otherwise, legal, meaning)                                                       \
    static const uint32_t legal_##NAME[] = {0, VALUES legal};
QK_CONSTANTS(LEGAL)

static const qk_spec_constant constants[] = {
#define CONSTANT(id, NAME, name, setter, otherwise, legal, meaning)                                                    \
    [id] = {id, name, otherwise, sizeof legal_##NAME / sizeof *legal_##NAME - 1, legal_##NAME + 1},
    QK_CONSTANTS(CONSTANT)};

qk_spec_constant qg_constant(qk_constant_id id, uint32_t value) {
    qk_spec_constant constant = constants[id];
    constant.value = value;
    return constant;
}

/* Whether a compiler had better not know that loads may be put off, of one right-hand side: those
 * of integers, where there are few operations for each, or no window around it. */
static bool is_checked(const qg_kernel *kernel) {
    const bool in_place = !kernel->overruns && kernel->layout->n_buffers == 1;
    const uint32_t digits = kernel->sum->digits;
    return !kernel->family->experts && digits != 0 && (digits == 1 || in_place);
}

/* The value in a kernel's descriptor. */
static uint32_t value_of(const qg_kernel *kernel, const qk_kernel *described, qk_constant_id id) {
    switch (id) {
    case QK_CONSTANT_LOCAL_SIZE_X: return described->workgroup_size;
    case QK_CONSTANT_DIGITS: return kernel->sum->digits;
    case QK_CONSTANT_CHECKED: return is_checked(kernel);
    case QK_CONSTANT_X_TYPE: return kernel->type == QG_F32 ? 0 : kernel->type == QG_F16 ? 1 : 2;
    case QK_CONSTANT_Y_TYPE: return !qg_decodes_halves(kernel) ? 0 : kernel->type == QG_F16 ? 1 : 2;
    case QK_CONSTANT_KEPT: return qg_mma_tiles(kernel->wide);
    default: return constants[id].value;
    }
}

/* Which constants a kernel has, in the order of its descriptor. */
typedef struct choice {
    qk_constant_id id;
    bool has;
} choice;

/* Those that the kernel has, behind the 0 that leaves it to dispatch. */
static const uint32_t *schedules_of(qg_arena *arena, const qg_kernel *kernel, uint32_t *count) {
    const uint32_t all = qg_schedules_of(kernel);
    uint32_t *list = QG_NEW_ARRAY(arena, uint32_t, QK_SCHEDULE_COUNT);
    *count = 1;
    for (uint32_t s = 1; s < QK_SCHEDULE_COUNT; ++s)
        if (all >> s & 1) list[(*count)++] = s;
    return list;
}

static bool may(const qg_kernel *kernel, bool (*does)(const qg_kernel *, qk_schedule)) {
    const uint32_t all = qg_schedules_of(kernel);
    for (uint32_t s = 1; s < QK_SCHEDULE_COUNT; ++s)
        if (all >> s & 1 && does(kernel, (qk_schedule)s)) return true;
    return false;
}

/* Sizes of a workgroup whose blocks fit into the memory that every device has. */
static uint32_t sizes_that_fit(const qg_kernel *kernel, const qk_spec_constant *size) {
    const uint32_t bytes = qg_kernel_staged_bytes(kernel);
    uint32_t count = size->legal_count;
    while (bytes && count > 1 && size->legal[count - 1] * bytes > QG_LEAST_SHARED_MEMORY) count -= 1;
    return count;
}

static void add_constants(qg_arena *arena, const qg_kernel *kernel, qk_kernel *described, const choice *all,
                          size_t count) {
    static const uint32_t powers[] = {1, 2, 4, 8};
    qk_spec_constant *list = QG_NEW_ARRAY(arena, qk_spec_constant, count);
    for (size_t i = 0; i < count; ++i) {
        if (!all[i].has) continue;
        qk_spec_constant *c = &list[described->spec_constant_count++];
        *c = qg_constant(all[i].id, value_of(kernel, described, all[i].id));
        if (c->id == QK_CONSTANT_LOCAL_SIZE_X) c->legal_count = sizes_that_fit(kernel, c);
        if (c->id == QK_CONSTANT_SCHEDULE) c->legal = schedules_of(arena, kernel, &c->legal_count);
        if (c->id == QK_CONSTANT_VIEWS) {
            const bool vulkan = described->api == QK_API_VULKAN;
            c->legal_count = vulkan && may(kernel, qg_adds_slots) ? 4 : vulkan && may(kernel, qg_gates_rows) ? 3 : 2;
        }
        if (c->id == QK_CONSTANT_BATCH && described->api == QK_API_METAL) { /* each is a case of its text */
            c->legal = powers;
            c->legal_count = sizeof powers / sizeof *powers;
        }
        const bool planned = c->id == QK_CONSTANT_Y_TYPE && qg_decodes_halves(kernel);
        if (c->id != QK_CONSTANT_DIGITS && c->id != QK_CONSTANT_X_TYPE && !planned) continue;
        while (*c->legal != c->value) ++c->legal; /* another is another kernel */
        c->legal_count = 1;
    }
    described->spec_constants = list;
}

/* Which value of a thread is which element, is for Vulkan's host to find out; kernels of Metal do it themselves. */
static void describe_mma_constants(qg_arena *arena, const qg_kernel *kernel, qk_kernel *described) {
    const bool vulkan = described->api == QK_API_VULKAN;
    const choice all[] = {{QK_CONSTANT_LOCAL_SIZE_X, vulkan}, {QK_CONSTANT_KEPT, true},
                          {QK_CONSTANT_AT_ONCE, vulkan},      {QK_CONSTANT_ORDER_A, vulkan},
                          {QK_CONSTANT_ORDER_BC, vulkan},     {QK_CONSTANT_X_TYPE, vulkan},
                          {QK_CONSTANT_UNIT_ROWS, vulkan},    {QK_CONSTANT_UNIT_COLS, vulkan},
                          {QK_CONSTANT_UNIT_DEPTH, vulkan},   {QK_CONSTANT_LANES, vulkan},
                          {QK_CONSTANT_EPILOGUE, vulkan},     {QK_CONSTANT_VIEWS, true},
                          {QK_CONSTANT_Y_TYPE, true},         {QK_CONSTANT_COPIES, vulkan && kernel->wide->pairs},
                          {QK_CONSTANT_VECTORS, vulkan}};
    add_constants(arena, kernel, described, all, sizeof all / sizeof *all);
}

static void describe_tile_constants(qg_arena *arena, const qg_kernel *kernel, qk_kernel *described) {
    const bool vulkan = described->api == QK_API_VULKAN;
    const choice all[] = {{QK_CONSTANT_LOCAL_SIZE_X, vulkan},
                          {QK_CONSTANT_TILE_ROWS, vulkan},
                          {QK_CONSTANT_TILE_COLS, true},
                          {QK_CONSTANT_LARGE_COLS, vulkan && kernel->family->experts},
                          {QK_CONSTANT_LARGEST_COLS, vulkan && kernel->family->experts},
                          {QK_CONSTANT_OWN_ROWS, vulkan},
                          {QK_CONSTANT_OWN_COLS, vulkan},
                          {QK_CONSTANT_ORDER_A, vulkan},
                          {QK_CONSTANT_ORDER_BC, vulkan},
                          {QK_CONSTANT_SCHEDULE, true},
                          {QK_CONSTANT_X_TYPE, vulkan},
                          {QK_CONSTANT_K_PARTS, true},
                          {QK_CONSTANT_UNIT_ROWS, vulkan},
                          {QK_CONSTANT_UNIT_COLS, vulkan},
                          {QK_CONSTANT_UNIT_DEPTH, vulkan},
                          {QK_CONSTANT_LANES, vulkan},
                          {QK_CONSTANT_EPILOGUE, vulkan},
                          {QK_CONSTANT_VIEWS, true},
                          {QK_CONSTANT_Y_TYPE, true},
                          {QK_CONSTANT_K_SLICES, vulkan},
                          {QK_CONSTANT_TOGETHER, described->span_words != 0},
                          {QK_CONSTANT_COPIES, vulkan && kernel->wide->pairs}};
    add_constants(arena, kernel, described, all, sizeof all / sizeof *all);
}

void qg_describe_constants(qg_arena *arena, const qg_kernel *kernel, qk_kernel *described) {
    const bool vulkan = described->api == QK_API_VULKAN, wide = vulkan && kernel->wide;
    const bool sums = kernel->family->sums, dense = sums && !kernel->family->experts;
    /* With experts, right-hand sides are taken one by one. */
    const choice all[] = {{QK_CONSTANT_LOCAL_SIZE_X, vulkan},
                          {QK_CONSTANT_BATCH, dense},
                          {QK_CONSTANT_ROWS, sums && vulkan},
                          {QK_CONSTANT_SPLIT, dense && vulkan},
                          {QK_CONSTANT_DIGITS, kernel->sum && kernel->sum->digits},
                          {QK_CONSTANT_SHARED_FOURS, qg_shares_x(kernel) && vulkan},
                          {QK_CONSTANT_X_PACKED, vulkan && qg_packs_x(kernel)},
                          {QK_CONSTANT_PADDED, kernel->overruns && vulkan},
                          {QK_CONSTANT_CHECKED, wide},
                          {QK_CONSTANT_TURNS, wide && (kernel->in_turns || kernel->teams_in_turns)},
                          {QK_CONSTANT_STAGED, qg_stages_x(kernel) && vulkan},
                          {QK_CONSTANT_COPIES, wide && kernel->wide->pairs},
                          {QK_CONSTANT_TABLE_COPIES, wide && kernel->wide->copied},
                          {QK_CONSTANT_ROUNDS_F16, qg_rounds_f16(kernel) && vulkan},
                          {QK_CONSTANT_SCHEDULE, sums && vulkan},
                          {QK_CONSTANT_LANES, kernel->ahead && vulkan},
                          {QK_CONSTANT_WIDTH, kernel->columns && vulkan},
                          {QK_CONSTANT_X_TYPE, (sums || kernel->family->encodes) && vulkan},
                          {QK_CONSTANT_EPILOGUE, sums && vulkan},
                          {QK_CONSTANT_NORM, vulkan && may(kernel, qg_takes_norms)},
                          {QK_CONSTANT_VIEWS, sums},
                          {QK_CONSTANT_Y_TYPE, sums || (qg_decodes_halves(kernel) && vulkan)}};
    if (kernel->family->in_tiles)
        describe_tile_constants(arena, kernel, described);
    else if (qg_is_mma(kernel))
        describe_mma_constants(arena, kernel, described);
    else
        add_constants(arena, kernel, described, all, sizeof all / sizeof *all);
}
