/* Families and the kernels that they make of a format. */
#include "build/cost.h"

#include <math.h>
#include <string.h>

const qg_family qg_families[QG_FAMILY_COUNT] = {
#define CALL(function, ...)                                                                                            \
    { #function, #__VA_ARGS__ }
#define CALL_VIEWS(function, views, ...) CALL(function, __VA_ARGS__)
#define F(ID, name_, summary_, usage, call_, matrix_call_, gives, ...)                                                 \
    [QG_FAMILY_##ID] = {.id = QG_FAMILY_##ID,                                                                          \
                        .name = name_,                                                                                 \
                        .summary = summary_,                                                                           \
                        .call = call_,                                                                                 \
                        .matrix_call = matrix_call_,                                                                   \
                        __VA_ARGS__},
#include "build/family.def"
#undef F
#undef CALL_VIEWS
#undef CALL
};

const qg_family_form *qg_form(const qg_family *family, const qg_layout *layout) {
    if (layout->view == QG_VIEW_GROUPS && family->planes.suffix) return &family->planes;
    return layout->view == QG_VIEW_BLOCKS ? &family->blocks : &family->matrix;
}

const qg_family_call *qg_checked_call(const qg_family *family, const qg_layout *layout) {
    return layout->view == QG_VIEW_BLOCKS ? &family->call : &family->matrix_call;
}

const struct qg_family_binding *qg_family_binding_named(const qg_family *family, const char *name) {
    for (uint32_t i = 0; i < family->n_bindings; ++i)
        if (strcmp(family->bindings[i].name, name) == 0) return &family->bindings[i];
    return NULL;
}

bool qg_has_role(const qg_family *family, qk_role role) {
    for (uint32_t i = 0; i < family->n_bindings; ++i)
        if (family->bindings[i].role == role) return true;
    return false;
}

bool qg_at_indices(const qg_family *family) { return !family->sums && qg_has_role(family, QK_ROLE_INDICES); }

bool qg_takes_shape(const qg_family *family, const qg_layout *layout) {
    return strstr(qg_checked_call(family, layout)->arguments, "rows") != NULL;
}

#define F(ID, name, summary, usage, call, matrix_call, gives, ...)                                                     \
    case QG_FAMILY_##ID: return gives;

uint64_t qg_result_count(const qg_family *family, uint64_t elements, uint64_t rows, uint64_t cols, uint64_t tokens) {
    (void)rows;
    switch (family->id) {
#define GIVES(count, result) count
#include "build/family.def"
#undef GIVES
    case QG_FAMILY_COUNT: break;
    }
    return 0;
}

static float result_of(const qg_family *family, float result, float v) {
    (void)result;
    switch (family->id) {
#define GIVES(count, result) result
#include "build/family.def"
#undef GIVES
    case QG_FAMILY_COUNT: break;
    }
    return v;
}

#undef F

uint64_t qg_results_of_row(const qg_family *family, float *values, uint64_t cols) {
    const uint64_t count = qg_result_count(family, cols, 1, cols, 1);
    float result = 0;
    for (uint64_t i = 0; i < cols; ++i) {
        result = result_of(family, result, values[i]);
        values[i < count ? i : count - 1] = result;
    }
    return count;
}

const uint32_t qg_n_families = QG_FAMILY_COUNT;

const qg_family *qg_family_named(const char *name) {
    for (uint32_t i = 0; i < qg_n_families; ++i)
        if (strcmp(qg_families[i].name, name) == 0) return &qg_families[i];
    return NULL;
}

bool qg_spreads_rows(const qg_family *family, const qg_layout *layout) {
    return family->encodes && qg_at_indices(family) && layout->view == QG_VIEW_GROUPS;
}

bool qg_takes(const qg_family *family, const qg_layout *layout) {
    if (family->encodes) return layout->encode != NULL && !qg_spreads_rows(family, layout);
    return !family->experts || qg_has_experts(layout);
}

const qg_sum_class qg_sum_classes[QG_CLASS_COUNT] = {
#define C(ID, name, infix, module, products, digits, numeric, metal, on_request)                                       \
    [QG_CLASS_##ID] = {name, infix, module, QG_PRODUCTS_##products, digits, QK_NUMERIC_##numeric, metal, on_request},
#include "build/class.def"
#undef C
};

const uint32_t qg_n_sum_classes = QG_CLASS_COUNT;

static const char class_words[] =
#define C(ID, name, infix, module, products, digits, numeric, metal, on_request) "|" name
#include "build/class.def"
#undef C
    ;

const char *qg_class_words(void) { return class_words + 1; }

const qg_sum_class *qg_sum_class_named(const char *name) {
    for (uint32_t i = 0; i < qg_n_sum_classes; ++i)
        if (strcmp(qg_sum_classes[i].name, name) == 0) return &qg_sum_classes[i];
    return NULL;
}

const qg_schedule qg_schedules[QK_SCHEDULE_COUNT] = {
#define S(number, NAME, name, vectors, tile, subgroups, results, bytes, meaning)                                       \
    [number] = {name, QG_VECTORS_##vectors, QG_TILE_##tile, QG_SUBGROUPS_##subgroups, QG_RESULTS_##results},
    QK_SCHEDULES(S)
#undef S
};

const char *qg_schedule_name(qk_schedule schedule) { return qg_schedules[schedule].name; }

bool qg_gates_rows(const qg_kernel *kernel, qk_schedule schedule) {
    return kernel->layout->view == QG_VIEW_BLOCKS && qg_schedules[schedule].vectors == QG_VECTORS_FEW;
}

bool qg_adds_slots(const qg_kernel *kernel, qk_schedule schedule) {
    return kernel->family->experts && qg_gates_rows(kernel, schedule);
}

bool qg_takes_norms(const qg_kernel *kernel, qk_schedule schedule) {
    return !kernel->family->experts && qg_gates_rows(kernel, schedule);
}

bool qg_schedule_shares_x(qk_schedule schedule) { return qg_schedules[schedule].vectors == QG_VECTORS_SEVERAL; }

const qg_plan *qg_tile_of(const qg_kernel *kernel, qk_schedule schedule) {
    switch (qg_schedules[schedule].tile) {
    case QG_TILE_ROWS: return kernel->plan;
    case QG_TILE_SHARED: {
        const bool wide = kernel->wide && kernel->sum->products == QG_PRODUCTS_INT8;
        return !qg_shares_x(kernel) ? NULL : wide ? kernel->wide : qg_plan_of_whole(kernel);
    }
    case QG_TILE_WIDE: return kernel->wide;
    case QG_TILE_AHEAD: return kernel->ahead;
    case QG_TILE_TEAMS: return kernel->teams;
    case QG_TILE_COLUMNS: return kernel->columns;
    case QG_TILE_OPERANDS: return kernel->family->in_tiles ? kernel->wide : NULL;
    }
    return NULL;
}

uint32_t qg_schedules_of(const qg_kernel *kernel) {
    const bool in_tiles = kernel->family->in_tiles;
    uint32_t all = 0;
    if (!kernel->family->sums || (qg_is_mma(kernel) && !in_tiles)) return 0;
    for (uint32_t s = 1; s < QK_SCHEDULE_COUNT; ++s) {
        const qg_schedule *schedule = &qg_schedules[s];
        if ((schedule->tile == QG_TILE_OPERANDS) != in_tiles || !qg_tile_of(kernel, (qk_schedule)s)) continue;
        if (schedule->vectors == QG_VECTORS_EXPERTS && !kernel->family->experts) continue;
        all |= 1u << s;
    }
    return in_tiles ? all : all & ~kernel->left_out;
}

qk_schedule qg_main_schedule(const qg_kernel *kernel) {
    const uint32_t all = qg_schedules_of(kernel);
    qk_schedule main = all ? QK_SCHEDULE_ROWS : QK_SCHEDULE_NONE;
    if (kernel->family->in_tiles) return QK_SCHEDULE_TILES;
    for (uint32_t s = 1; s < QK_SCHEDULE_COUNT; ++s)
        if (all >> s & 1 && (qg_schedules[s].tile == QG_TILE_WIDE || qg_schedules[s].tile == QG_TILE_COLUMNS))
            main = (qk_schedule)s;
    return main;
}

const char *qg_module_name(qg_arena *arena, const qg_kernel *kernel, qk_schedule schedule) {
    if (schedule == QK_SCHEDULE_NONE) return kernel->module;
    return qg_format(arena, "%s_%s", kernel->module, qg_schedule_name(schedule));
}

qk_schedule qg_schedule_of_rows(const char *name) {
    for (uint32_t s = 1; s < QK_SCHEDULE_COUNT; ++s)
        if (qg_schedules[s].tile != QG_TILE_OPERANDS && strcmp(qg_schedules[s].name, name) == 0) return (qk_schedule)s;
    return QK_SCHEDULE_NONE;
}

const char *qg_schedule_words(qg_arena *arena) {
    const char *words = "";
    for (uint32_t s = 1; s < QK_SCHEDULE_COUNT; ++s)
        if (qg_schedules[s].tile != QG_TILE_OPERANDS)
            words = qg_format(arena, "%s%s%s", words, *words ? "|" : "", qg_schedules[s].name);
    return words;
}

bool qg_is_mma(const qg_kernel *kernel) { return kernel->sum && kernel->sum->products == QG_PRODUCTS_MMA; }

bool qg_stages_x(const qg_kernel *kernel) {
    const qg_plan *wide = kernel->wide;
    const uint32_t tiles = wide && wide->layout->view == QG_VIEW_BLOCKS ? wide->tiles : 1;
    return wide && !qg_is_mma(kernel) && QG_LEAST_STAGED % (tiles * wide->n_runs) == 0;
}

const qg_plan *qg_plan_of_whole(const qg_kernel *kernel) { return kernel->whole ? kernel->whole : kernel->plan; }

bool qg_shares_x(const qg_kernel *kernel) {
    const bool sums = kernel->family->sums && !kernel->family->experts && !qg_plan_of_whole(kernel)->layout->ragged;
    return sums && !kernel->columns && kernel->sum->products != QG_PRODUCTS_F16 &&
           kernel->sum->products != QG_PRODUCTS_MMA;
}

bool qg_packs_x(const qg_kernel *kernel) { return qg_shares_x(kernel) && kernel->sum->digits != 0 && kernel->teams; }

bool qg_on_metal(const qg_kernel *kernel) { return !kernel->sum || kernel->sum->metal; }

bool qg_on_vulkan(const qg_request *request, const qg_kernel *kernel) {
    return request->vulkan && !(request->without_mma && qg_is_mma(kernel));
}

enum {
#define D(NAME, value, meaning) QG_DEVICE_##NAME = value,
#include "build/device.def"
#undef D
};

/* Lookups all over a cache, which registers serve better that hold more threads. */
static bool looks_up_afar(const qg_plan *plan) {
    for (uint32_t i = 0; i < plan->layout->n_tables; ++i)
        if (plan->stored[i] && qg_table_size(&plan->layout->tables[i]) * 4 > QG_DEVICE_NEAR_BYTES) return true;
    return false;
}

/* Whether all tables are in memory, and have at most so many words, so that there is room for copies. */
static bool copies_tables(const qg_plan *wide, uint32_t most) {
    uint32_t words = 0;
    for (uint32_t t = 0; t < wide->layout->n_tables; ++t) {
        if (!wide->stored[t]) return false;
        words += qg_table_size(&wide->layout->tables[t]);
    }
    return words > 0 && words <= most;
}

/* With lookups in memory that a workgroup shares: of two codes at a time, or in copies of tables. */
static const qg_plan *look_up_nearby(qg_arena *arena, const qg_plan *wide, qg_products products, uint32_t most) {
    qg_plan *near = qg_plan_copy(arena, wide);
    near->pairs = true;
    const qg_ir *ir = qg_lower_dot(near, products);
    if (ir && (qg_uses(ir, QG_PAIRS) || qg_uses(ir, QG_PAIR))) return near;
    if (!copies_tables(wide, most)) return wide;
    near = qg_plan_copy(arena, wide);
    near->copied = true;
    return near;
}

/* Plans of operands. On Vulkan, both codes of a byte become a word of one, looked up in such memory. */
static void plan_operands(qg_arena *arena, qg_kernel *kernel, const qg_plan *wide) {
    kernel->metal_wide = kernel->wide = wide;
    if (!wide) return;
    qg_plan *near = qg_plan_copy(arena, wide);
    near->pairs = true;
    const qg_operands *operands = qg_lower_operands(near);
    if (operands && qg_uses(operands->ir, QG_PAIR)) kernel->wide = near;
}

uint32_t qg_registers_of_loads(const qg_fetches *all) { return 4 * all->n_fours + all->n_words; }

bool qg_crowds_registers(const qg_operands *operands, const qg_fetches *all) {
    const uint32_t of_row = qg_registers_of_loads(all) + operands->n_scales + operands->n_offsets;
    return operands->n_words + 2 * of_row > QG_DEVICE_UNIT_REGISTERS;
}

/* x of floats takes half of the registers: where loads of 16 bytes bring nearly half again of what is
 * wanted, words are loaded one by one; and where a table of pairs takes their place in the cache, too. */
static const qg_plan *save_registers(qg_arena *arena, const qg_plan *wide) {
    qg_plan *plan = qg_plan_copy(arena, wide);
    plan->by_words = true;
    const qg_fetches *fours = qg_fetches_of(arena, qg_lower_dot(wide, QG_PRODUCTS_F32));
    const qg_fetches *words = qg_fetches_of(arena, qg_lower_dot(plan, QG_PRODUCTS_F32));
    if (fours->n_fours == 0 || wide->pairs) return plan;
    return 100 * qg_registers_of_loads(fours) >= QG_DEVICE_FOURS_PERCENT * qg_registers_of_loads(words) ? plan : wide;
}

/* By words, for what is loaded at once there is for the compiler to say, and lookups in the text's tables. */
static const qg_plan *by_words_of_metal(qg_arena *arena, const qg_plan *wide, const qg_plan *rows) {
    if (!wide || wide->tile_elements == rows->tile_elements) return NULL;
    qg_plan *plan = qg_plan_copy(arena, wide);
    plan->by_words = true;
    plan->masked = true;
    return qg_lower_dot(plan, QG_PRODUCTS_F32)->overruns ? NULL : plan;
}

/* What a tile takes with one right-hand side, and with as many as share one walk. */
static uint32_t operations_of(const qg_plan *plan) {
    enum { SHARING = 4 };
    const qg_ir *ir = qg_lower_dot(plan, QG_PRODUCTS_F32);
    const qg_cost cost = qg_cost_of_ir(ir, plan, 0);
    uint32_t of_each = 0;
    for (uint32_t i = 0; i < ir->n_nodes; ++i)
        if (ir->nodes[i]->used && qg_is_of_x(ir->nodes[i]))
            of_each += ir->nodes[i]->op == QG_DOT ? 2 * ir->nodes[i]->arg[0]->lanes - 1 : ir->nodes[i]->op != QG_X_SUM;
    return 2 * qg_cost_total(&cost) + (SHARING - 1) * of_each;
}

/* Of Metal: tiles of which there is less to do. */
static const qg_plan *plan_metal_wide(qg_arena *arena, const qg_kernel *kernel) {
    const qg_plan *rows = kernel->metal_plan;
    const bool one_by_one = kernel->family->experts || kernel->family->in_tiles || rows->layout->ragged;
    if (one_by_one || kernel->sum->products != QG_PRODUCTS_F32 || rows->layout->view != QG_VIEW_BLOCKS) return NULL;
    const qg_plan *planes = by_words_of_metal(arena, qg_plan_wide(arena, rows->layout, rows, false, false), rows);
    const qg_plan *near = by_words_of_metal(arena, qg_plan_neighbours(arena, rows->layout, rows), rows);
    if (!planes || !near || near->tile_elements != planes->tile_elements) return planes;
    return operations_of(near) < operations_of(planes) ? near : planes;
}

/* Rows of experts are short, so that larger tiles leave threads without any: only where smaller
 * ones have nothing to load so, and cost more because these are smaller still. */
static const qg_plan *plan_of_experts(qg_arena *arena, const qg_layout *layout, const qg_plan *rows,
                                      const qg_plan *wide) {
    const qg_plan *small = qg_plan_wide(arena, layout, rows, false, true);
    const qg_ir *ir = qg_lower_dot(small, QG_PRODUCTS_INT8);
    const bool loads = ir && (qg_uses(ir, QG_LOAD_FOUR) || qg_is_midway(small));
    return loads || (ir && small->tile_elements == rows->tile_elements) ? small : wide;
}

/* The plan of 16 bytes at a time, where there is something to load so; or of words, where blocks begin in the middle of
 * one. */
static const qg_plan *plan_wide(qg_arena *arena, const qg_layout *layout, const qg_family *family, const qg_plan *rows,
                                qg_products products, bool midway) {
    /* Not of halves, whose step for a tile has to be fine. */
    if (products == QG_PRODUCTS_F16) return NULL;
    const qg_plan *wide = qg_plan_wide(arena, layout, rows, products != QG_PRODUCTS_F32, midway);
    if (wide && products == QG_PRODUCTS_INT8 && family->experts) wide = plan_of_experts(arena, layout, rows, wide);
    if (wide && products == QG_PRODUCTS_F32) {
        const qg_plan *near = look_up_nearby(arena, wide, products, QG_DEVICE_COPIED_WITH_F32);
        if (looks_up_afar(wide) && !near->copied) return NULL;
        if (looks_up_afar(wide) || near->pairs) wide = near;
    }
    const qg_ir *ir = wide ? qg_lower_dot(wide, products) : NULL;
    /* Where the last block ends is known of blocks that lie one after the other. */
    if (ir && ir->overruns && layout->view != QG_VIEW_BLOCKS) return NULL;
    const bool by_words =
        (products == QG_PRODUCTS_F32 && layout->view == QG_VIEW_BLOCKS) || (wide && qg_is_midway(wide));
    if (!ir || (!by_words && !qg_uses(ir, QG_LOAD_FOUR))) return NULL;
    return products == QG_PRODUCTS_F32 ? save_registers(arena, wide) : wide;
}

/* Whether blocks that begin in the middle of a word are taken as they are, and not joined: of experts, whose rows are
 * short; else those that are no shorter than a tile, and where words of many threads are wanted `at_once`, those with
 * few bytes. */
static bool takes_midway(const qg_family *family, const qg_layout *layout, bool at_once) {
    const double bytes = QG_DEVICE_MIDWAY_ELEMENTS * qg_bits_per_element(layout) / 8;
    const bool small = !at_once || bytes <= QG_DEVICE_MIDWAY_BYTES;
    return family->experts || (layout->elements >= QG_DEVICE_MIDWAY_ELEMENTS && small);
}

/* Operands of a tile. A workgroup shares them with all its threads, which wait for each other anyway: where loads of 16
 * bytes would go beyond the last block, or rows begin anywhere, there are loads of words instead. Where each element
 * has a scale of its own, tiles are smaller, for loads of two rows are on their way. NULL: the format's values are no
 * such. */
static const qg_plan *plan_tiles(qg_arena *arena, const qg_family *family, const qg_plan *rows) {
    const qg_layout *layout = rows->layout;
    const bool midway = takes_midway(family, layout, false);
    const qg_plan *wide = layout->ragged ? NULL : plan_wide(arena, layout, family, rows, QG_PRODUCTS_MMA, midway);
    const bool scattered = !wide && layout->view != QG_VIEW_BLOCKS;
    if (scattered) wide = qg_plan_wide(arena, layout, rows, true, false);
    const qg_operands *operands = wide ? qg_lower_operands(wide) : NULL;
    if (operands && qg_registers_of_loads(qg_fetches_of(arena, operands->ir)) > QG_DEVICE_REGISTERS) {
        const qg_plan *small = qg_plan_small(arena, layout, rows, qg_is_midway(wide));
        if (small && qg_lower_operands(small)) wide = small;
        operands = qg_lower_operands(wide);
    }
    if (operands && (scattered || operands->ir->overruns)) {
        qg_plan *words = qg_plan_copy(arena, wide);
        words->by_words = true;
        wide = words;
        operands = qg_lower_operands(wide);
    }
    return operands && operands->n_words % (4 * QG_TILE_PART) == 0 ? wide : NULL;
}

/* Of a ragged format, or of one with short blocks: tiles of a tensor without such ends, or of blocks one after the
 * other. They are as large, so that launches count them alike. */
static const qg_plan *plan_whole(qg_arena *arena, const qg_plan *rows) {
    const qg_layout *layout = qg_layout_whole(arena, rows->layout);
    if (layout == rows->layout) return NULL;
    const qg_plan *whole = qg_plan_rows(arena, layout);
    return whole->tile_elements == rows->tile_elements && whole->lanes == rows->lanes ? whole : NULL;
}

/* Tiles have whole blocks alone, so that a ragged format has none. */
static const qg_plan *whole_of_tiles(qg_arena *arena, const qg_plan *rows) {
    return rows->layout->ragged ? NULL : plan_whole(arena, rows);
}

/* `rows` is the plan of sums over rows of the format. Threads with rows of their own meet all of x: to make bytes of
 * it, each for itself, would take longer than to multiply. */
static bool has_class(qg_arena *arena, const qg_plan *rows, const qg_family *family, const qg_sum_class *sum) {
    if (family->in_tiles) {
        const qg_plan *whole = whole_of_tiles(arena, rows);
        return sum->products == QG_PRODUCTS_MMA && plan_tiles(arena, family, whole ? whole : rows);
    }
    if (sum->products == QG_PRODUCTS_INT8 && qg_walks_columns(rows->layout)) return false;
    if (sum->products != QG_PRODUCTS_MMA) return qg_lower_dot(rows, sum->products) != NULL;
    const bool whole = !family->experts && !rows->layout->ragged;
    const qg_plan *wide = whole ? plan_wide(arena, rows->layout, family, rows, sum->products, true) : NULL;
    return wide && qg_lower_operands(wide);
}

/* The layout of the tensors that a family's kernels read, or write. */
static const qg_layout *layout_for(qg_arena *arena, const qg_layout *layout, const qg_family *family) {
    if (family->encodes) return qg_layout_to_encode(arena, layout);
    return family->experts ? qg_layout_of_experts(arena, layout) : layout;
}

bool qg_has_class(qg_arena *arena, const qg_layout *layout, const qg_family *family, const qg_sum_class *sum) {
    return has_class(arena, qg_plan_rows(arena, layout_for(arena, layout, family)), family, sum);
}

static double operations_of_weight(const qg_plan *plan) {
    const qg_cost cost = qg_cost_of_ir(qg_lower_dot(plan, QG_PRODUCTS_INT8), plan, 1);
    return qg_cost_total(&cost) / (double)cost.weights;
}

/* Integers of x are small: tiles may be larger, where that saves an operation of each weight; then
 * of fewer rows at a time. Not with experts, whose rows are short. */
static void plan_integers(qg_arena *arena, qg_kernel *kernel, bool midway) {
    const qg_plan *rows = qg_plan_of_whole(kernel);
    const qg_plan *larger = kernel->family->experts ? NULL : qg_plan_larger(arena, rows, kernel->wide, midway);
    kernel->wide = look_up_nearby(arena, kernel->wide, QG_PRODUCTS_INT8, QG_DEVICE_COPIED_WORDS);
    if (!larger || !qg_lower_dot(larger, QG_PRODUCTS_INT8)) return;
    larger = look_up_nearby(arena, larger, QG_PRODUCTS_INT8, QG_DEVICE_COPIED_WORDS);
    if (operations_of_weight(kernel->wide) - operations_of_weight(larger) < 1) return;
    kernel->wide = larger;
    kernel->rows_at_once = 4;
}

/* Whether what a thread keeps of x, and tiles of eight rows, take more registers than it has, so that loads wait for
 * each other. */
static bool fills_registers(const qg_kernel *kernel) {
    const double tile = kernel->wide->tile_elements, x = tile * kernel->sum->digits / 4;
    return !kernel->family->experts && x + 8 * tile * qg_bits_per_element(kernel->layout) / 32 > QG_DEVICE_REGISTERS;
}

/* Whether what threads load by themselves is so scattered that it is better loaded side by side: word by word, or with
 * windows and gaps that bring more than a tile has. Lookups are in the same memory, and wait for each other there. */
static bool is_scattered(qg_arena *arena, const qg_kernel *kernel, const qg_plan *plan) {
    const qg_fetches *all = qg_fetches_of(arena, qg_lower_dot(plan, kernel->sum->products));
    const double bits = qg_bits_per_element(kernel->layout), words = plan->tile_elements * bits / 32;
    const double loads = 100 * (all->n_fours + all->n_words) / words,
                 registers = 100 * qg_registers_of_loads(all) / words;
    if (plan->pairs || plan->copied) return loads >= QG_DEVICE_SCATTERED_LOOKUPS;
    if (kernel->sum->digits) return loads >= QG_DEVICE_SCATTERED_LOADS || registers >= QG_DEVICE_SCATTERED_WORDS;
    return bits >= QG_DEVICE_SCATTERED_BITS && registers >= QG_DEVICE_SCATTERED_FLOATS;
}

/* The plan of larger tiles, but of operands. */
static void plan_large(qg_arena *arena, qg_kernel *kernel, bool midway) {
    const qg_plan *rows = qg_plan_of_whole(kernel);
    kernel->wide = plan_wide(arena, rows->layout, kernel->family, rows, kernel->sum->products, midway);
    if (kernel->wide && kernel->sum->products == QG_PRODUCTS_INT8) plan_integers(arena, kernel, midway);
}

/* The plan for rows that are loaded ahead. A subgroup loads whole slices side by side, which begin where blocks do; so
 * these lie one after the other, in one buffer. Of larger tiles there would be many bytes on their way, or lookups. */
static const qg_plan *plan_ahead(qg_arena *arena, const qg_kernel *kernel) {
    qg_kernel whole = *kernel;
    const qg_layout *layout = kernel->layout;
    if (kernel->family->experts || layout->view != QG_VIEW_BLOCKS || layout->n_buffers != 1) return NULL;
    if (kernel->wide->midway[0]) plan_large(arena, &whole, false);
    const qg_plan *wide = whole.wide;
    if (!wide) return NULL;
    if (wide->tile_elements > QG_DEVICE_AHEAD_ELEMENTS) {
        if (wide->pairs || wide->copied) return NULL;
        if (wide->tile_elements * qg_bits_per_element(layout) / 8 > QG_DEVICE_AHEAD_BYTES)
            wide = qg_plan_wide(arena, layout, kernel->plan, false, false);
    }
    if (qg_kept_tiles(wide) != 1 || !is_scattered(arena, kernel, wide)) return NULL;
    const uint32_t block = wide->layout->elements;
    if (QG_DEVICE_AHEAD_LANES * wide->tile_elements % block || wide->layout->buffers[0].bytes % 4) return NULL;
    qg_plan *plan = qg_plan_copy(arena, wide);
    plan->held = true;
    plan->by_words = false;
    return plan;
}

static qg_kernel kernel_named(qg_arena *arena, const qg_layout *layout, const qg_family *family, qg_scalar type,
                              const qg_sum_class *sum) {
    const char *scalar = qg_scalars[type].name;
    const char *stem = qg_format(arena, "%s_%s", layout->name, family->name);
    const char *stored = type == QG_F32 ? scalar : "halves";
    if (!family->sums) sum = NULL;
    return (qg_kernel){.name = qg_format(arena, "%s%s_%s", stem, sum ? sum->infix : "", scalar),
                       .module = sum               ? qg_format(arena, "%s%s", stem, sum->module)
                                 : family->encodes ? stem
                                                   : qg_format(arena, "%s_%s", stem, stored),
                       .family = family,
                       .layout = layout_for(arena, layout, family),
                       .type = type,
                       .sum = sum};
}

/* The plan of teams: tiles are small, for sums of several right-hand sides take registers, too; those of integers with
 * the lookups that the larger ones have. */
static const qg_plan *plan_teams(qg_arena *arena, const qg_kernel *kernel) {
    const bool midway = kernel->wide && qg_is_midway(kernel->wide) &&
                        takes_midway(kernel->family, kernel->layout, kernel->sum->digits != 0);
    const qg_plan *rows = qg_plan_of_whole(kernel), *small;
    qg_kernel whole = *kernel;
    if (!kernel->wide) return rows;
    if (kernel->sum->products == QG_PRODUCTS_F32) {
        small = qg_plan_small(arena, rows->layout, rows, midway);
        return small ? save_registers(arena, small) : rows;
    }
    if (qg_is_midway(kernel->wide) && !midway) plan_large(arena, &whole, false);
    const qg_plan *wide = whole.wide ? whole.wide : kernel->wide;
    small = qg_plan_wide(arena, rows->layout, rows, false, midway);
    if (!small || small->tile_elements >= wide->tile_elements || !qg_lower_dot(small, QG_PRODUCTS_INT8)) return wide;
    small = look_up_nearby(arena, small, QG_PRODUCTS_INT8, QG_DEVICE_COPIED_WORDS);
    return small->pairs == wide->pairs && small->copied == wide->copied ? small : wide;
}

/* Of kernels that sum, plans follow from the products, and of rows that are loaded ahead from the
 * digits of x: where `like` has the same, its plans are taken. NULL: there is none. */
static void plan_sums(qg_arena *arena, qg_kernel *kernel, const qg_kernel *like) {
    const qg_sum_class *sum = kernel->sum;
    if (kernel->family->in_tiles)
        kernel->whole = like ? like->whole : whole_of_tiles(arena, kernel->plan);
    else if (!kernel->family->experts && sum->products != QG_PRODUCTS_F16 && sum->products != QG_PRODUCTS_MMA)
        kernel->whole = like ? like->whole : plan_whole(arena, kernel->plan);
    const qg_plan *rows = qg_plan_of_whole(kernel);
    if (sum->products == QG_PRODUCTS_F32 && !kernel->family->experts)
        kernel->columns = like ? like->columns : qg_plan_columns(arena, rows->layout, rows);
    if (kernel->columns) return;
    if (like) {
        kernel->wide = like->wide;
        kernel->metal_wide = like->metal_wide;
        kernel->rows_at_once = like->rows_at_once;
    } else if (kernel->family->in_tiles) {
        plan_operands(arena, kernel, plan_tiles(arena, kernel->family, rows));
    } else {
        const bool mma = sum->products == QG_PRODUCTS_MMA;
        /* What is looked up takes registers beside operands. */
        plan_large(arena, kernel, takes_midway(kernel->family, rows->layout, mma) && !(mma && looks_up_afar(rows)));
        if (mma) plan_operands(arena, kernel, kernel->wide);
    }
    if (kernel->family->in_tiles) return;
    if (qg_shares_x(kernel)) kernel->teams = like ? like->teams : plan_teams(arena, kernel);
    if (!kernel->wide || qg_is_mma(kernel)) return;
    if (sum->products == QG_PRODUCTS_INT8 && fills_registers(kernel)) kernel->rows_at_once = 4;
    kernel->ahead = like && like->sum == sum ? like->ahead : plan_ahead(arena, kernel);
    if (kernel->ahead) {
        const qg_fetches *all = qg_fetches_of(arena, qg_lower_dot(kernel->wide, sum->products));
        kernel->wide_loads = all->n_fours + all->n_words;
    }
    qg_plan_turns(arena, kernel);
    kernel->overruns = qg_lower_dot(kernel->wide, sum->products)->overruns;
    if (kernel->teams) kernel->overruns |= qg_lower_dot(kernel->teams, sum->products)->overruns;
}

/* Metal's tiles are as large as those of Vulkan, but where it moves its pointers to an expert's matrix. */
static void plan_metal_tiles(qg_arena *arena, qg_kernel *kernel, const qg_kernel *like) {
    if (!kernel->layout->each) {
        kernel->metal_plan = qg_plan_of_whole(kernel);
        return;
    }
    const qg_plan *whole = whole_of_tiles(arena, kernel->metal_plan);
    kernel->metal_plan = like ? like->metal_plan : whole ? whole : kernel->metal_plan;
    kernel->metal_wide = like ? like->metal_wide : plan_tiles(arena, kernel->family, kernel->metal_plan);
}

/* `list` are kernels of the same format, whose plans are taken where they are the same. */
static qg_kernel plan_kernel(qg_arena *arena, qg_kernel kernel, const qg_kernel *list, uint32_t count) {
    const bool sums = kernel.family->sums;
    const qg_kernel *like = NULL;
    for (uint32_t i = 0; i < count; ++i) {
        if (!sums && !list[i].sum) kernel.metal_plan = list[i].metal_plan;
        if (!sums || !list[i].sum || list[i].family != kernel.family || list[i].sum->products != kernel.sum->products)
            continue;
        if (!like || list[i].sum == kernel.sum) like = &list[i];
    }
    const qg_layout *each = kernel.layout->each ? kernel.layout->each : kernel.layout; /* Metal moves its pointers */
    if (!kernel.metal_plan) kernel.metal_plan = sums ? qg_plan_rows(arena, each) : qg_plan_tiles(arena, each);
    kernel.plan = sums ? (each == kernel.layout ? kernel.metal_plan : qg_plan_rows(arena, kernel.layout))
                       : qg_plan_stores(arena, kernel.layout, kernel.type, kernel.family->in_bands);
    if (sums) plan_sums(arena, &kernel, like);
    if (kernel.family->in_tiles)
        plan_metal_tiles(arena, &kernel, like);
    else if (sums && !kernel.metal_wide)
        kernel.metal_wide = like ? like->metal_wide : plan_metal_wide(arena, &kernel);
    return kernel;
}

qg_kernel qg_kernel_new(qg_arena *arena, const qg_layout *layout, const qg_family *family, qg_scalar type,
                        const qg_sum_class *sum) {
    return plan_kernel(arena, kernel_named(arena, layout, family, type, sum), NULL, 0);
}

/* The classes of a family's kernels that a request wants and a format has. */
static uint32_t classes_of(qg_arena *arena, const qg_request *request, const qg_family *family, const qg_plan *rows) {
    uint32_t classes = request->classes ? request->classes : 1, has = 0;
    if (!family->sums) return 1;
    /* Of all families, where it is asked for. */
    if (family->in_tiles && request->n_families < qg_n_families) classes |= UINT32_C(1) << QG_CLASS_MMA;
    for (uint32_t i = 0; i < qg_n_sum_classes; ++i) {
        const qg_sum_class *sum = &qg_sum_classes[i];
        const bool wanted = classes >> i & 1 && (sum->metal || request->vulkan) &&
                            (request->metal || !request->without_mma || sum->products != QG_PRODUCTS_MMA);
        if (wanted && ((i == 0 && !family->in_tiles) || has_class(arena, rows, family, sum))) has |= UINT32_C(1) << i;
    }
    return has;
}

uint32_t qg_rows_ahead(const qg_kernel *kernel) {
    const double bits = 100 * qg_bits_per_element(kernel->layout);
    const qg_plan *ahead = kernel->ahead;
    const uint32_t digits = kernel->sum->digits, most = QG_DEVICE_AHEAD_ROWS;
    const bool large = bits > QG_DEVICE_AHEAD_LARGE_BITS, looks_up = ahead->pairs || ahead->copied;
    const bool medium = bits > QG_DEVICE_AHEAD_SMALL_BITS && bits <= QG_DEVICE_AHEAD_MEDIUM_BITS;
    const bool small_x = digits == 1 && ahead->tile_elements <= QG_DEVICE_AHEAD_ELEMENTS;
    uint32_t rows = most;
    if (large)
        rows = digits == 1 || digits > 2 ? 1 : 2;
    else if (digits && medium && !small_x)
        rows = 2;
    return looks_up && rows > QG_DEVICE_AHEAD_ROWS_LOOKED_UP ? QG_DEVICE_AHEAD_ROWS_LOOKED_UP : rows;
}

bool qg_decodes_halves(const qg_kernel *kernel) {
    return !kernel->family->sums && !kernel->family->encodes && !kernel->to && kernel->type != QG_F32;
}

/* Types of x, types of 16 bits to decode to, and classes with the same products share modules: what else they differ
 * in, constants tell it. Whether rows are loaded ahead follows from the class. */
bool qg_is_shared(const qg_kernel *list, uint32_t i, qk_schedule schedule) {
    const qg_kernel *kernel = &list[i];
    for (uint32_t k = 0; k < i; ++k) {
        const qg_kernel *other = &list[k];
        if (kernel->family != other->family) continue;
        if (kernel->family->encodes) return true;
        if (qg_decodes_halves(kernel) && qg_decodes_halves(other)) return true;
        if (kernel->sum && kernel->sum->products == other->sum->products &&
            (schedule == QK_SCHEDULE_NONE || qg_schedules_of(other) >> schedule & 1))
            return true;
    }
    return false;
}

static qg_kernel_list plan_kernels(qg_arena *arena, const qg_request *request) {
    const qg_plan *rows = qg_plan_rows(arena, request->layout);
    qg_kernel *list = NULL;
    uint32_t count = 0, capacity = 0;
    for (uint32_t f = 0; f < request->n_families; ++f) {
        const qg_family *family = request->families[f];
        if (!qg_takes(family, request->layout)) continue;
        const qg_layout *own = layout_for(arena, request->layout, family);
        const qg_plan *of = own == request->layout ? rows : qg_plan_rows(arena, own);
        const uint32_t classes = classes_of(arena, request, family, of);
        for (uint32_t t = 0; t < family->n_types; ++t) {
            if (request->types && !(request->types >> family->types[t] & 1)) continue;
            for (uint32_t c = 0; c < qg_n_sum_classes; ++c) {
                if (!(classes >> c & 1)) continue;
                qg_kernel kernel = kernel_named(arena, request->layout, family, family->types[t], &qg_sum_classes[c]);
                if (kernel.sum) kernel.metal_plan = rows;
                kernel = plan_kernel(arena, kernel, list, count);
                kernel.reference = (classes & ((UINT32_C(1) << c) - 1)) == 0;
                if (request->schedules) kernel.left_out = ~(request->schedules | 1u << QK_SCHEDULE_ROWS);
                QG_PUSH(arena, list, count, capacity, kernel);
            }
        }
    }
    for (uint32_t i = 0; i < request->n_to; ++i)
        QG_PUSH(arena, list, count, capacity, qg_transcode_new(arena, request->layout, request->to[i]));
    return (qg_kernel_list){true, count, list};
}

uint32_t qg_kernels(qg_arena *arena, const qg_request *request, const qg_kernel **kernels) {
    qg_kernel_list own = {0}, *list = request->list ? request->list : &own;
    if (!list->made) *list = plan_kernels(arena, request);
    *kernels = list->items;
    return list->count;
}
