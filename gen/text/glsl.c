/* GLSL for Vulkan 1.1: one text for each kernel. */
#include "text/glsl.h"

#include <string.h>

const qg_target qg_target_glsl = {
    .column = QG_GLSL,
    .vector = "$T(",
    .types = {{0, "bool", "bvec2", "bvec3", "bvec4"},
              {0, "uint", "uvec2", "uvec3", "uvec4"},
              {0, "int", "ivec2", "ivec3", "ivec4"},
              {0, "float", "vec2", "vec3", "vec4"}},
    .halves = {0, "float16_t", "f16vec2", "f16vec3", "f16vec4"},
    .halves_of_word = "unpackFloat2x16($1)",
    .absolute = "abs",
    .unsigned_suffix = "u",
    .float_suffix = "",
    .infinity = "uintBitsToFloat(0x7F800000u)",
    .result = "v[$r] = ",
    .array = "$T[](",
    .array_2 = "$T[][](",
    .array_end = ")",
    .precise = "precise ",
    .local = "",
    .unroll = "[[unroll]] ",
    .comparisons = {"equal", "notEqual", "lessThan", "lessThanEqual", "greaterThan", "greaterThanEqual"},
    .choose = "mix",
    .wide_load = "$b[$i]",
    .narrow_load = "uint($b[$i])"};

static const qg_target *const glsl = &qg_target_glsl;

const char *qg_glsl_storage(uint32_t unit) { return unit == 8 ? "uint8_t" : unit == 16 ? "uint16_t" : "uint"; }

static bool has_unit(const qg_program *program, uint32_t unit) {
    const qg_plan *plan = program->plan, *wide = program->wide ? program->wide->plan : plan;
    for (uint32_t i = 0; i < plan->layout->n_buffers; ++i)
        if (plan->units[i] == unit || wide->units[i] == unit) return true;
    return false;
}

static char *extensions(qg_arena *arena, const qg_program *program) {
    const qg_kernel *kernel = program->kernel;
    const bool dots = kernel->sum && kernel->sum->digits;
    const bool narrow =
        qg_has_narrow_elements(kernel) && (!kernel->sum || !program->plan->layout->ragged == !kernel->layout->ragged);
    const bool halves_of_y = kernel->sum && qg_stores_halves(kernel);
    const bool halves = kernel->sum && (kernel->sum->products == QG_PRODUCTS_F16 || qg_is_mma(kernel));
    static const char *const of_subgroups[] = {
        [QG_SUBGROUPS_NOTHING] = "#extension GL_KHR_shader_subgroup_basic : require\n",
        [QG_SUBGROUPS_ARITHMETIC] = "#extension GL_KHR_shader_subgroup_arithmetic : require\n",
        [QG_SUBGROUPS_SHUFFLE] = "#extension GL_KHR_shader_subgroup_shuffle : require\n"};
    const char *adds = of_subgroups[qg_schedules[program->schedule].subgroups];
    return qg_format(
        arena, "%s%s%s%s%s", adds,
        halves ? "#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require\n" : "",
        dots ? "#extension GL_EXT_spirv_intrinsics : require\n" : "",
        has_unit(program, 8) ? "#extension GL_EXT_shader_8bit_storage : require\n" : "",
        has_unit(program, 16) || narrow || halves_of_y ? "#extension GL_EXT_shader_16bit_storage : require\n" : "");
}

/* An interface block is called like its buffer, with a capital. */
static void add_buffer(qg_text *text, uint32_t binding, const char *type, const char *name, const char *suffix) {
    const bool lower = *name >= 'a' && *name <= 'z';
    qg_text_printf(text, "layout(binding = %u, std430) readonly buffer %c%s%s { %s %s[]; };", binding,
                   lower ? *name - 'a' + 'A' : *name, name + 1, suffix, type, name);
}

char *qg_glsl_buffers(qg_arena *arena, const qg_program *program) {
    const qg_kernel *kernel = program->kernel;
    const qg_plan *plan = program->plan;
    const qg_layout *layout = plan->layout;
    qg_text text = qg_text_new(arena);
    for (uint32_t i = 0; i < layout->n_buffers; ++i) {
        add_buffer(&text, i, qg_glsl_storage(plan->units[i]), layout->buffers[i].name, "Buffer");
        qg_text_puts(&text, "\n");
    }
    uint32_t binding = qg_bindings_of(kernel);
    for (uint32_t i = 0; i < layout->n_tables; ++i) {
        const qg_table *table = &layout->tables[i];
        if (!plan->stored[i]) continue;
        const bool packed = table->columns > 1;
        add_buffer(&text, binding++, packed ? "uint" : glsl->types[qg_table_kind(table)][1], table->name, "Table");
        if (packed)
            qg_text_printf(&text, "  // %u rows of %u: %s", table->rows, table->columns,
                           qg_table_packing(arena, table));
        qg_text_puts(&text, "\n");
    }
    return text.data;
}

/* Of one or two functions; `other` may be NULL. */
void qg_glsl_wide_loads(qg_text *text, const qg_ir *ir, const qg_ir *other, const qg_plan *plan) {
    for (uint32_t i = 0; i < plan->layout->n_buffers; ++i) {
        const char *name = plan->layout->buffers[i].name;
        const uint32_t unit = qg_wide_unit(ir, i) || !other ? qg_wide_unit(ir, i) : qg_wide_unit(other, i);
        if (!unit) continue;
        qg_text_printf(text, "// 32 bits from words of %u.\nuint %s_u32(uint at) {\n    return uint(%s[at])", unit,
                       name, name);
        for (uint32_t at = 1; at < 32 / unit; ++at)
            qg_text_printf(text, " | (uint(%s[at + %uu]) << %u)", name, at, at * unit);
        qg_text_puts(text, ";\n}\n\n");
    }
}

char *qg_glsl_decode(qg_arena *arena, const qg_step *values) {
    const qg_ir *ir = values->code;
    const qg_plan *plan = values->plan;
    qg_text text = qg_text_new(arena);
    const char *vec = glsl->types[QG_K_FLOAT][plan->lanes];
    const bool matrix = plan->layout->view != QG_VIEW_BLOCKS;
    const char *rows = plan->tile_rows > 1 ? qg_format(arena, "%u rows", plan->tile_rows) : "a row";
    qg_text_printf(&text, "// The %u values of a tile of %s, in runs of %u consecutive elements.\n",
                   plan->n_runs * plan->lanes, matrix ? rows : "a block", plan->lanes);
    const char *first = !matrix ? "block" : plan->tile_rows > 1 ? "band" : "row";
    qg_text_printf(&text, "void decode(uint %s, uint tile, out precise %s v[%u]) {\n", first, vec, plan->n_runs);
    if (matrix) qg_text_puts(&text, qg_grid_lines(arena, ir, plan, glsl));
    qg_decode_body(&text, ir, glsl);
    qg_text_puts(&text, "}\n");
    return text.data;
}

/* ---- sums ---- */

/* A run of x as halves, and what makes floats of it. */
static void x_holes(qg_arena *arena, qg_holes *holes, const qg_program *program) {
    static const struct {
        const char *stored, *loaded, *of_f16, *of_bf16;
    } runs[] = {
        [1] = {"uint16_t", "uint", "unpackHalf2x16(run).x", "uintBitsToFloat(run << 16)"},
        [2] = {"uint", "uint", "unpackHalf2x16(run)", "uintBitsToFloat(uvec2(run << 16, run & 0xffff0000u))"},
        [4] = {"uvec2", "uvec2", "vec4(unpackHalf2x16(run.x), unpackHalf2x16(run.y))",
               "uintBitsToFloat(uvec4(run.x << 16, run.x & 0xffff0000u, run.y << 16, run.y & 0xffff0000u))"},
    };
    const uint32_t lanes = program->kernel->plan->lanes;
    qg_hole(holes, "result_buffers", qg_glsl_result_buffers(arena, program->kernel));
    qg_hole(holes, "halves_type", runs[lanes].stored);
    qg_hole(holes, "run_type", runs[lanes].loaded);
    qg_hole(holes, "x_of_f16", runs[lanes].of_f16);
    qg_hole(holes, "x_of_bf16", runs[lanes].of_bf16);
    qg_hole(holes, "cuts", program->values ? "" : NULL);
    const bool parts = qg_schedules[program->schedule].results == QG_RESULTS_IN_PARTS || qg_is_mma(program->kernel);
    qg_hole(holes, "in_parts", parts ? "" : NULL);
    qg_hole(holes, "norms", qg_takes_norms(program->kernel, program->schedule) ? "" : NULL);
    qg_hole(holes, "gates_rows", qg_gates_rows(program->kernel, program->schedule) ? "" : NULL);
}

/* Whether a workgroup loads the x of this program's tiles together, where rows are few. */
static bool stages_x(const qg_program *program) {
    return qg_schedules[program->schedule].tile == QG_TILE_WIDE && qg_stages_x(program->kernel);
}

/* Whether neighbours load runs of a tile for each other, four at a time, which lie side by side. */
static bool loads_runs(const qg_program *program, const qg_step *step) {
    const qg_plan *plan = step->plan;
    const qg_schedule *schedule = &qg_schedules[program->schedule];
    if (schedule->tile == QG_TILE_WIDE && !step->code->n_x_quads) return false;
    const bool shuffles = !program->schedule || schedule->subgroups == QG_SUBGROUPS_SHUFFLE;
    const bool whole = shuffles && (step->of_unit || !qg_is_mma(program->kernel)) && !program->kernel->family->in_tiles;
    if (!whole || program->kernel->plan->lanes != 4 || plan->lanes != 4 || plan->n_runs % 4 || plan->layout->ragged)
        return false;
    for (uint32_t r = 0; r < plan->n_runs; ++r)
        if (plan->runs[r] != plan->runs[r / 4 * 4] + r % 4 * 4) return false;
    return true;
}

static char *load_x(qg_arena *arena, const qg_program *program, const qg_step *step, const qg_x_operands *operands) {
    const qg_kernel *kernel = program->kernel;
    const qg_ir *ir = step->code;
    const qg_plan *plan = step->plan;
    const char *row_runs = plan->layout->ragged
                               ? qg_format(arena, "(%s / %uu)", qg_row_cols(arena, plan, ""), plan->lanes)
                               : qg_format(arena, "row_tiles * %uu", kernel->plan->n_runs);
    qg_text text = qg_text_new(arena);
    qg_text_printf(&text, "void load_%s(uint vector, uint j, uint k) {  // what %stile `j` of a row meets of %s\n",
                   ir->x, operands ? "wide " : "",
                   ir->single ? "right-hand side `vector`" : "x, from right-hand side `vector` on");
    const char *vectors = kernel->family->experts ? "(batch * x_slots)" : "batch";
    qg_load_x_body(&text, step, operands, glsl, row_runs, vectors, stages_x(program) ? "staged_x($i)" : "x_run($i)",
                   loads_runs(program, step) ? "load_runs" : NULL);
    qg_text_puts(&text, "}\n");
    return text.data;
}

/* ---- what is loaded before it is used ---- */

/* What both functions take after the place of the tile: what the first loads, and the second computes with. */
static char *fetched_parameters(qg_arena *arena, const qg_step *step, const char *qualifier) {
    const qg_fetches *all = step->code->fetched;
    qg_text text = qg_text_new(arena);
    if (all->n_fours) qg_text_printf(&text, "%suvec4 fours[%u]", qualifier, all->n_fours);
    if (all->n_fours && all->n_words) qg_text_puts(&text, ", ");
    if (all->n_words) qg_text_printf(&text, "%suint words[%u]", qualifier, all->n_words);
    return text.data;
}

/* What is loaded of so many rows, "" being one; and how it is passed on, of row r of them. */
static char *fetched_arrays(qg_arena *arena, const qg_fetches *all, const char *rows) {
    qg_text text = qg_text_new(arena);
    if (all->n_fours) qg_text_printf(&text, "uvec4 fours%s[%u];", rows, all->n_fours);
    if (all->n_fours && all->n_words) qg_text_puts(&text, " ");
    if (all->n_words) qg_text_printf(&text, "uint words%s[%u];", rows, all->n_words);
    return text.data;
}

static char *fetched_at(qg_arena *arena, const qg_fetches *all, const char *row) {
    return qg_format(arena, "%s%s%s%s%s", all->n_fours ? "fours" : "", all->n_fours ? row : "",
                     all->n_fours && all->n_words ? ", " : "", all->n_words ? "words" : "", all->n_words ? row : "");
}

static const char *last_arrays(qg_arena *arena, const qg_fetches *all) {
    return qg_format(arena, "uvec4 last_fours[%u];%s", all->n_fours,
                     all->n_words ? qg_format(arena, " uint last_words[%u];", all->n_words) : "");
}

static const char *last_of(const qg_fetches *all) { return all->n_words ? "last_fours, last_words" : "last_fours"; }

/* Tiles of a block, where blocks lie one after the other. */
static uint32_t block_tiles(const qg_step *step) {
    return step->plan->layout->view == QG_VIEW_BLOCKS ? step->plan->tiles : 1;
}

/* `where` are the parameters that say which tile it is, `row_tiles` as qg_accumulate_body has it. */
static char *accumulate(qg_arena *arena, const qg_step *step, const char *where, const char *row_tiles, bool rows) {
    const qg_ir *ir = step->code;
    const char *of_rows = rows ? "[TILE_ROWS]" : "";
    const char *fetched = ir->fetched ? qg_format(arena, ", %s", fetched_parameters(arena, step, "")) : "";
    qg_text text = qg_text_new(arena);
    qg_text_puts(&text, qg_codes_of_words(arena, ir, glsl, ""));
    qg_text_printf(&text, "void accumulate(%s, uint k%s%s, inout float sum%s%s) {  // `sum` += %s * x%s\n", where,
                   fetched, ir->in_turns || ir->turn_runs ? ", bvec4 turns" : "", of_rows, ir->single ? "" : "[BATCH]",
                   step->plan->tile_rows > 1 ? "tile `j` of band `n`"
                   : row_tiles               ? "tile `j` of row `n`"
                                             : "tile `j`",
                   ir->single ? "" : ", for each right-hand side");
    qg_accumulate_body(&text, step, glsl, row_tiles, rows);
    qg_text_puts(&text, "}\n");
    return text.data;
}

/* ---- wide tiles ---- */

/* For the last block of all: word by word what is elsewhere loaded 16 bytes at a time. Where it
 * ends is known; what a device says of the length of a buffer above 2 GiB is not always so. */
static void fetch_last(qg_text *text, const qg_program *program) {
    const qg_plan *plan = program->plan;
    const qg_step *wide = program->wide;
    const uint32_t overruns = wide->code->overruns;
    for (uint32_t i = 0; i < plan->layout->n_buffers; ++i) {
        const uint32_t unit = plan->units[i], in_word = 32 / unit;
        const char *name = plan->layout->buffers[i].name;
        if (!(overruns >> i & 1)) continue;
        qg_text_printf(text,
                       "\n// 16 bytes, as far as block `block` goes.\nuvec4 %s_to_end(uint at, uint block) {\n"
                       "    const uint end = (block + 1u) * %uu;\n"
                       "    uvec4 four = uvec4(0u);\n"
                       "    [[unroll]] for (uint i = 0u; i < %uu; ++i) {\n"
                       "        const uint word = at * %uu + i;\n"
                       "        if (word < end) ",
                       name, wide->plan->layout->buffers[i].bytes * 8 / unit, 128 / unit, 128 / unit);
        if (in_word == 1)
            qg_text_printf(text, "four[i] = %s[word];\n", name);
        else
            qg_text_printf(text, "four[i / %uu] |= uint(%s[word]) << (i %% %uu * %uu);\n", in_word, name, in_word,
                           unit);
        qg_text_puts(text, "    }\n    return four;\n}\n");
    }
    qg_text_printf(text,
                   "\n// Loads tile `j` of row `n` of the last block of all.\nvoid fetch_last(uint n, uint j, %s) {\n",
                   fetched_parameters(text->arena, wide, "out "));
    qg_fetch_body(text, wide, glsl, "row_tiles", overruns);
    qg_text_puts(text, "}\n");
}

/* `name` is that of the function. */
static char *fetch(qg_arena *arena, const qg_program *program, const char *name) {
    const qg_kernel *kernel = program->kernel;
    const qg_step *wide = program->wide;
    const bool clamped = wide->code->overruns && !wide->of_unit;
    qg_text text = qg_text_new(arena);
    const uint32_t own = block_tiles(wide);
    qg_text_printf(
        &text, "%svoid %s(uint n, uint j, %s) {%s\n",
        clamped ? "// Not that of the last block of all, from where loads of 16 bytes would go beyond the end.\n" : "",
        name, fetched_parameters(arena, wide, "out "),
        wide->of_unit ? "  // wide tile `j` of row `n`" : "  // tile `j` of row `n`");
    if (clamped) {
        const char *rows = kernel->family->experts ? "row_of_expert(expert_end - expert_first - 1u) + rows" : "rows";
        qg_text_printf(
            &text,
            "    if (PADDED == 0u && n + 1u == %s && j + %uu >= row_tiles / %uu) {\n        n = 0u;\n        j = ",
            rows, own, wide->size);
        qg_text_printf(&text, own > 1 ? "j %% %uu;\n    }\n" : "0u;\n    }\n", own);
    }
    qg_fetch_body(&text, wide, glsl, "row_tiles", 0);
    qg_text_puts(&text, "}\n");
    if (clamped) fetch_last(&text, program);
    return text.data;
}

/* `ahead`: fours are loaded there, whatever else is. */
static char *wide_buffers(qg_arena *arena, const qg_step *wide, bool ahead) {
    const qg_ir *ir = wide->code;
    const qg_plan *plan = wide->plan;
    qg_text text = qg_text_new(arena);
    for (uint32_t i = 0; i < plan->layout->n_buffers; ++i) {
        const char *name = plan->layout->buffers[i].name;
        for (uint32_t unit = 16; unit <= 32; unit += 16) {
            const char *alias = qg_alias(ir, i, unit);
            if (!*alias || !qg_loads_units(ir, i, unit)) continue;
            add_buffer(&text, i, qg_glsl_storage(unit), qg_format(arena, "%s%s", name, alias), "Buffer");
            qg_text_puts(&text, "\n");
        }
        if (ahead || qg_loads(ir, QG_LOAD_FOUR, i)) {
            add_buffer(&text, i, "uvec4", qg_format(arena, "%s_four", name), "Buffer");
            qg_text_puts(&text, "\n");
        }
    }
    return text.data;
}

static bool has_dots(const qg_ir *ir, const qg_node *node, bool with_sign, bool fours) {
    if (node->op == QG_DOT4 && qg_meets_signed(node) == with_sign && (node->arg[0]->lanes > 1) == fours) return true;
    for (uint32_t i = 0; i < node->n_args; ++i)
        if (has_dots(ir, node->arg[i], with_sign, fours)) return true;
    return false;
}

/* The functions that bytes of x meet codes in, as the text has them. */
static void dot_holes(qg_holes *holes, const qg_ir *ir, const qg_plan *plan) {
    const uint32_t each = qg_digits_each(ir, plan);
    const bool of_fours = each > 0 && each % 4 == 0;
    const qg_ir *shown = ir->n_x_quads ? qg_in_fours(ir) : ir;
    bool has[4] = {ir->n_x_digits > 0, of_fours};
    for (uint32_t way = 0; way < 4; ++way)
        for (uint32_t i = 0; i < shown->n_nodes && ir->n_x_quads; ++i) {
            const qg_node *node = shown->nodes[i];
            if (node->used && node->op == QG_DIGITS) has[way] |= has_dots(shown, node->arg[0], way < 2, way % 2);
        }
    qg_hole(holes, "fours_of_digits", of_fours ? "" : NULL);
    qg_hole(holes, "signed_fours", has[1] ? "" : NULL);
    qg_hole(holes, "unsigned_fours", has[3] ? "" : NULL);
    qg_hole(holes, "signed_codes", has[0] || has[1] ? "" : NULL);
    qg_hole(holes, "unsigned_codes", has[2] || has[3] ? "" : NULL);
}

/* What is loaded first, and what follows of the last block of all. `loads` are functions that loads call. */
static void fetch_holes(qg_arena *arena, qg_holes *holes, const qg_program *program, const char *loads) {
    const qg_step *step = program->main, *wide = program->wide;
    const qg_fetches *all = step->code->fetched;
    const bool held = program->ahead;
    qg_hole(holes, "fetches", all ? "" : NULL);
    qg_hole(holes, "adds_dots", step->plan->wide && !step->code->n_x_quads ? "" : NULL);
    qg_hole(holes, "overruns", wide && wide->code->overruns ? "" : NULL);
    qg_hole(holes, "wide_buffers", step->plan->wide ? wide_buffers(arena, step, held) : "");
    qg_hole(holes, "fetch", wide ? qg_format(arena, "%s%s", loads, fetch(arena, program, "fetch")) : "");
    qg_hole(holes, "fetched", all ? fetched_arrays(arena, all, held ? "" : "[ROWS]") : "");
    qg_hole(holes, "fetched_at", all ? fetched_at(arena, all, held ? "" : "[r]") : "");
    qg_hole(holes, "last_arrays", all ? last_arrays(arena, all) : "");
    qg_hole(holes, "last_names", all ? last_of(all) : "");
    qg_hole(holes, "block_tiles", qg_format(arena, "%u", block_tiles(step)));
    qg_hole(holes, "tiles_of_row", step->size > 1 ? qg_format(arena, "row_tiles / %uu", step->size) : "row_tiles");
}

/* Rows that are loaded ahead. */
static void ahead_holes(qg_arena *arena, qg_holes *holes, const qg_program *program) {
    const qg_step *ahead = program->ahead;
    if (!ahead) return;
    qg_text take = qg_text_new(arena);
    qg_text_printf(&take, "void take(uint at, uint j, %s) {  // tile `j` of a slice, which lies from word `at` on\n",
                   fetched_parameters(arena, ahead, "out "));
    qg_fetch_body(&take, ahead, glsl, NULL, 0);
    qg_text_puts(&take, "}\n");
    qg_hole(holes, "held_fours", qg_uses(ahead->code, QG_LOAD_FOUR) ? "" : NULL);
    qg_hole(holes, "take", take.data);
    qg_hole(holes, "held_tiles", qg_format(arena, "%u", ahead->plan->tiles));
    qg_hole(holes, "held_words", qg_format(arena, "%u", ahead->plan->layout->buffers[0].bytes / 4));
    qg_hole(holes, "block_fours", qg_format(arena, "%s_four", ahead->plan->layout->buffers[0].name));
}

/* Few rows: x is loaded by the whole workgroup, a part of whole blocks at a time. */
static void staged_holes(qg_arena *arena, qg_holes *holes, const qg_program *program) {
    const qg_kernel *kernel = program->kernel;
    qg_hole(holes, "row_tile_runs", qg_format(arena, "%u", kernel->plan->n_runs));
    qg_hole(holes, "row_tile_elements", qg_format(arena, "%u", kernel->plan->tile_elements));
    qg_hole(holes, "stages", stages_x(program) ? "" : NULL);
    if (!stages_x(program)) return;
    const uint32_t tiles = block_tiles(program->wide), runs = program->wide->plan->n_runs;
    const char *of_block =
        tiles > 1 ? qg_format(arena, " / %uu * %uu", tiles, tiles * runs) : qg_format(arena, " * %uu", runs);
    /* Tiles of fewer runs share a gap: dispatch counts two bytes of it for each run. */
    qg_hole(holes, "staged_runs", qg_format(arena, "%u", runs > 8 ? runs : 8));
    qg_hole(holes, "staged_begin", qg_format(arena, "begin%s", of_block));
    qg_hole(holes, "staged_end",
            tiles > 1 ? qg_format(arena, "(end + %uu)%s", tiles - 1, of_block) : qg_format(arena, "end%s", of_block));
    qg_hole(holes, "staged_block", qg_format(arena, "j%s", of_block));
}

static char *sum_cut(qg_arena *arena, const qg_program *program) {
    const qg_plan *plan = program->plan;
    const qg_cut_names names = {.decode = "decode", .arguments = "", .batch = "batch", .load = "x_element($i)"};
    qg_text text = qg_text_new(arena);
    qg_text_printf(&text, "%s\n", qg_glsl_decode(arena, program->values));
    qg_text_puts(&text, "// The products of what tile `j` of row `n` has in that row, for each right-hand side.\n"
                        "void sum_cut(uint n, uint j, out float part[BATCH]) {\n");
    qg_text_printf(&text, "    const uint row_cols = %s;\n", qg_row_cols(arena, plan, ""));
    qg_sum_cut_body(&text, plan, glsl, &names);
    qg_text_puts(&text, "}\n");
    return text.data;
}

/* The functions of a schedule, and what they keep. */
static void sum_holes(qg_arena *arena, qg_holes *holes, const qg_program *program) {
    const qg_kernel *kernel = program->kernel;
    const qg_step *step = program->main, *values = program->values;
    const qg_ir *ir = step->code;
    qg_text loads = qg_text_new(arena);
    qg_text_puts(&loads, "");
    if (step->plan == program->plan) qg_glsl_wide_loads(&loads, ir, values ? values->code : NULL, program->plan);
    qg_hole(holes, "sum_cut", values ? sum_cut(arena, program) : "");
    x_holes(arena, holes, program);
    qg_kept_holes(arena, holes, program);
    qg_hole(holes, "single", ir->single ? "" : NULL);
    qg_hole(holes, "in_turns", ir->in_turns || ir->turn_runs ? "" : NULL);
    qg_hole(holes, "apart", ir->turn_runs && kernel->apart ? "" : NULL);
    qg_hole(holes, "digits", kernel->sum->digits ? "" : NULL);
    qg_hole(holes, "digit_sums", ir->n_x_digits ? "" : NULL);
    dot_holes(holes, ir, step->plan);
    qg_hole(holes, "halves", ir->half ? "" : NULL);
    qg_hole(holes, "largest_of_most",
            kernel->plan->lanes == 4   ? "max(max(most.x, most.y), max(most.z, most.w))"
            : kernel->plan->lanes == 2 ? "max(most.x, most.y)"
                                       : "most");
    qg_hole(holes, "any", kernel->plan->lanes > 1 ? "any" : "");
    qg_hole(holes, "dot_halves", qg_dot_halves(arena, kernel->plan, glsl, ""));
    fetch_holes(arena, holes, program, loads.data);
    ahead_holes(arena, holes, program);
    qg_lookup_holes(arena, holes, program);
    staged_holes(arena, holes, program);
    qg_hole(holes, "loads_runs", loads_runs(program, step) ? "" : NULL);
    const char *tiles = step->size > 1 ? qg_format(arena, "row_tiles / %uu", step->size) : "row_tiles";
    const bool packs = qg_packs_x(kernel) && qg_schedules[program->schedule].tile == QG_TILE_TEAMS;
    qg_hole(holes, "packs", packs ? "" : NULL);
    qg_hole(holes, "load_x", load_x(arena, program, step, NULL));
    const char *where = program->ahead ? "uint j" : "uint n, uint j";
    qg_hole(holes, "accumulate",
            qg_format(arena, "%s%s", ir->fetched ? "" : loads.data,
                      accumulate(arena, step, where, program->ahead ? NULL : "row_tiles",
                                 qg_schedules[program->schedule].tile == QG_TILE_COLUMNS)));
    qg_hole(holes, "band_rows", qg_format(arena, "%u", step->plan->tile_rows));
    qg_hole(holes, "own_tiles", tiles);
}

/* ---- matrix units ---- */

static char *operands_of(qg_arena *arena, const qg_step *wide) {
    qg_text text = qg_text_new(arena);
    qg_text_printf(
        &text, "float largest_factor(uint n, uint j, %s) {  // of what becomes halves in wide tile `j` of row `n`\n",
        fetched_parameters(arena, wide, ""));
    qg_operands_of_row(&text, wide, glsl, "row_tiles", true);
    qg_text_printf(&text,
                   "}\n\n// Makes operands of a part of it, times `scale`.\n"
                   "void operands(uint part, uint n, uint j, %s, float scale, out f16vec2 v[2u * PART]) {\n",
                   fetched_parameters(arena, wide, ""));
    qg_operands_of_row(&text, wide, glsl, "row_tiles", false);
    qg_text_puts(&text, "}\n");
    return text.data;
}

/* In floats: the products of a small tile. */
static char *narrow(qg_arena *arena, const qg_program *program) {
    const qg_step *sum = program->sum;
    return qg_format(arena, "%s\n\n%s\n%s", qg_x_kept(arena, sum, "1", "", false), load_x(arena, program, sum, NULL),
                     accumulate(arena, sum, "uint n, uint j", "row_tiles", false));
}

/* What the code of one or two steps calls; `other` may be NULL. */
static char *unit_prelude(qg_arena *arena, const qg_templates *templates, const qg_ir *ir, const qg_ir *other,
                          const char **why) {
    qg_holes prelude = {.count = 0};
    qg_prelude_holes(&prelude, ir);
    if (other) qg_prelude_add(&prelude, other);
    const bool rounds = qg_uses(ir, QG_ROUND_F16) || (other && qg_uses(other, QG_ROUND_F16));
    qg_hole(&prelude, "to_f16", rounds ? "" : NULL);
    qg_hole(&prelude, "to_bf16", NULL);
    qg_no_store_holes(&prelude);
    return qg_expand(arena, templates, "prelude.glsl", prelude.items, prelude.count, why);
}

/* What all kernels of operands have. */
static void unit_holes(qg_arena *arena, qg_holes *holes, const qg_request *request, const qg_program *program,
                       const char *prelude) {
    const qg_kernel *kernel = program->kernel;
    const qg_step *wide = program->wide;
    const char *sentence =
        qg_format(arena, "%s: %s.", qg_module_name(arena, kernel, program->schedule), kernel->family->summary);
    qg_plan_holes(arena, holes, kernel->plan, glsl);
    qg_hole(holes, "banner", qg_banner(arena, request, program, sentence, "// ", "// ", ""));
    qg_hole(holes, "extensions", extensions(arena, program));
    qg_hole(holes, "buffers", qg_glsl_buffers(arena, program));
    qg_hole(holes, "wide_buffers", wide_buffers(arena, wide, false));
    qg_binding_holes(arena, holes, kernel);
    x_holes(arena, holes, program);
    qg_hole(holes, "tables", qg_tables(arena, wide->plan, glsl, "const"));
    qg_hole(holes, "prelude", prelude);
    qg_hole(holes, "part", qg_format(arena, "%u", wide->of_unit->part));
    qg_hole(holes, "wide_ratio", qg_format(arena, "%u", wide->size));
    qg_lookup_holes(arena, holes, program);
}

static char *mma_glsl(qg_arena *arena, const qg_templates *templates, const qg_request *request,
                      const qg_program *program, const char **why) {
    const qg_kernel *kernel = program->kernel;
    const qg_step *wide = program->wide;
    const qg_ir *ir = wide->code, *small = program->sum->code;
    const qg_operands *operands = wide->of_unit;
    const qg_x_operands x = {.scale = "    float unit;\n"
                                      "    const float scale = scale_of(most_of_four($m), 7u, unit);\n"
                                      "    wide_x_unit[k] = of_vectors(unit);\n",
                             .at_once = 2,
                             .open = "    wide_x[k][$i] = uvec2(",
                             .word = "packHalf2x16(scale * vec2(",
                             .word_end = "))",
                             .close = ");\n"};
    qg_holes holes = {.count = 0};
    qg_text loads = qg_text_new(arena);
    const char *end = qg_mma_end(arena, program, "");
    const char *prelude = unit_prelude(arena, templates, ir, *end ? small : NULL, why);
    if (!prelude) return NULL;
    unit_holes(arena, &holes, request, program, prelude);
    qg_hole(&holes, "products", qg_format(arena, "%u", operands->n_words / 2));
    qg_hole(&holes, "kept", qg_format(arena, "%u", qg_mma_tiles(wide->plan)));
    qg_hole(&holes, "loads_runs", loads_runs(program, wide) ? "" : NULL);
    qg_hole(&holes, "stages", NULL);
    qg_hole(&holes, "load_wide_x", load_x(arena, program, wide, &x));
    qg_hole(&holes, "fetch_wide", fetch(arena, program, "fetch_wide"));
    qg_hole(&holes, "operands", operands_of(arena, wide));
    qg_hole(&holes, "crowded", qg_crowds_registers(operands, ir->fetched) ? "" : NULL);
    qg_glsl_wide_loads(&loads, small, ir, kernel->plan);
    qg_hole(&holes, "narrow", qg_format(arena, "%s%s", loads.data ? loads.data : "", narrow(arena, program)));
    qg_hole(&holes, "restricted", *end ? "" : NULL);
    qg_hole(&holes, "mma_end", end);
    qg_hole(&holes, "fetched", fetched_arrays(arena, ir->fetched, "[KEPT][2]"));
    qg_hole(&holes, "fetched_low", fetched_at(arena, ir->fetched, "[k][0]"));
    qg_hole(&holes, "fetched_high", fetched_at(arena, ir->fetched, "[k][1]"));
    return qg_wrap(arena, qg_expand(arena, templates, "gemv_mma.comp", holes.items, holes.count, why));
}

/* Rows that threads load together, each words of others. */
static void span_holes(qg_arena *arena, qg_holes *holes, const qg_step *wide, bool tiles) {
    const qg_span span = tiles ? qg_span_of(wide->plan, wide->code->fetched) : (qg_span){.words = 0};
    const uint32_t in_block = wide->plan->tiles;
    qg_ir held = *wide->code;
    qg_step step = *wide;
    qg_text take = qg_text_new(arena);
    qg_hole(holes, "span", span.words ? qg_format(arena, "%u", span.words) : NULL);
    qg_hole(holes, "span_left", span.left ? qg_format(arena, "%u", span.left) : NULL);
    if (!span.words) return;
    qg_hole(holes, "span_left_count", qg_format(arena, "%u", span.left));
    qg_hole(holes, "span_runs", qg_format(arena, "%u", span.runs));
    qg_hole(holes, "span_stride", qg_format(arena, "%u", span.stride));
    qg_hole(holes, "span_buffer",
            qg_format(arena, "%s%s", wide->plan->layout->buffers[0].name, qg_alias(wide->code, 0, 32)));
    qg_hole(holes, "span_row_words",
            in_block > 1 ? qg_format(arena, "wide_tiles / %uu * %uu", in_block, span.words * in_block / 4)
                         : qg_format(arena, "wide_tiles * %uu", span.words / 4));
    held.held = true;
    step.code = &held;
    qg_text_printf(&take,
                   "// Takes wide tile `j` of four, of a row that lies from word `at` on.\n"
                   "void take(uint at, uint j, %s) {\n",
                   fetched_parameters(arena, wide, "out "));
    qg_fetch_body(&take, &step, glsl, NULL, 0);
    qg_text_puts(&take, "}\n");
    qg_hole(holes, "take", take.data);
    qg_hole(holes, "taken", fetched_at(arena, wide->code->fetched, "[i][high]"));
}

/* A kernel of tiles: x becomes operands in a launch of its own. */
static char *tiles_glsl(qg_arena *arena, const qg_templates *templates, const qg_request *request,
                        const qg_program *program, const char **why) {
    const qg_step *wide = program->wide;
    const qg_operands *operands = wide->of_unit;
    const qg_fetches *all = wide->code->fetched;
    const bool packs = program->schedule == QK_SCHEDULE_PACK;
    const qg_x_operands x = {.at_once = 2,
                             .open = "    packed_x[k + $i * stride] = uvec2(",
                             .word = "packHalf2x16(scale * vec2(",
                             .word_end = "))",
                             .close = ");\n"};
    qg_holes holes = {.count = 0};
    const char *prelude = unit_prelude(arena, templates, wide->code, NULL, why);
    if (!prelude) return NULL;
    unit_holes(arena, &holes, request, program, prelude);
    qg_hole(&holes, "units", program->schedule == QK_SCHEDULE_TILES ? "" : NULL);
    qg_hole(&holes, "load_wide_x", packs ? load_x(arena, program, wide, &x) : "");
    qg_hole(&holes, "largest_of_run",
            wide->plan->lanes == 4 ? "max(max(run.x, run.y), max(run.z, run.w))" : "max(run.x, run.y)");
    qg_text loads = qg_text_new(arena);
    qg_glsl_wide_loads(&loads, wide->code, NULL, wide->plan);
    qg_hole(&holes, "fetch_wide",
            qg_format(arena, "%s%s", loads.data ? loads.data : "", fetch(arena, program, "fetch_wide")));
    qg_hole(&holes, "operands", operands_of(arena, wide));
    qg_hole(&holes, "products", qg_format(arena, "%u", operands->n_words / 2));
    qg_hole(&holes, "fetched", fetched_arrays(arena, all, "[DECODED][2]"));
    qg_hole(&holes, "fetched_low", fetched_at(arena, all, "[i][0]"));
    qg_hole(&holes, "fetched_high", fetched_at(arena, all, "[i][1]"));
    span_holes(arena, &holes, wide, program->schedule == QK_SCHEDULE_TILES);
    const char *template = qg_format(arena, "gemm_%s.comp", qg_schedule_name(program->schedule));
    return qg_wrap(arena, qg_expand(arena, templates, template, holes.items, holes.count, why));
}

char *qg_glsl(qg_arena *arena, const qg_templates *templates, const qg_request *request, const qg_program *program,
              const char **why) {
    const qg_kernel *kernel = program->kernel;
    if (kernel->family->encodes) return qg_glsl_encode(arena, templates, request, program, why);
    if ((*why = qg_verify(arena, program, NULL)) != NULL) return NULL;
    if (kernel->to) return qg_glsl_transcode(arena, templates, request, program, why);
    if (kernel->family->in_tiles) return tiles_glsl(arena, templates, request, program, why);
    if (qg_is_mma(kernel)) return mma_glsl(arena, templates, request, program, why);
    const qg_plan *plan = program->plan;
    const bool sums = kernel->family->sums;
    const qg_ir *ir = program->main->code;
    qg_holes prelude = {.count = 0}, holes = {.count = 0};
    qg_prelude_holes(&prelude, ir);
    for (uint32_t i = 0; i < program->n_steps; ++i) qg_prelude_add(&prelude, program->steps[i].code);
    const bool singly = qg_decodes_halves(kernel) && (qg_stores_singly(kernel) || plan->lanes < 4);
    bool rounds = qg_uses(ir, QG_ROUND_F16);
    for (uint32_t i = 0; i < program->n_steps; ++i) rounds |= qg_uses(program->steps[i].code, QG_ROUND_F16);
    qg_hole(&prelude, "to_f16", singly || rounds ? "" : NULL);
    qg_hole(&prelude, "to_bf16", singly ? "" : NULL);
    if (sums)
        qg_no_store_holes(&prelude);
    else
        qg_store_holes(arena, &holes, &prelude, program);
    char *prelude_text = qg_expand(arena, templates, "prelude.glsl", prelude.items, prelude.count, why);
    if (!prelude_text) return NULL;

    const char *of_type = sums ? "" : qg_decodes_halves(kernel) ? ", in f16 or bf16" : ", in f32";
    const char *sentence = qg_format(arena, "%s: %s%s.", qg_module_name(arena, kernel, program->schedule),
                                     kernel->family->summary, of_type);
    qg_plan_holes(arena, &holes, plan, glsl);
    qg_hole(&holes, "banner", qg_banner(arena, request, program, sentence, "// ", "// ", ""));
    qg_hole(&holes, "extensions", extensions(arena, program));
    qg_hole(&holes, "buffers", qg_glsl_buffers(arena, program));
    qg_binding_holes(arena, &holes, kernel);
    qg_hole(&holes, "tables", qg_tables(arena, plan, glsl, "const"));
    qg_hole(&holes, "prelude", prelude_text);
    if (sums) {
        sum_holes(arena, &holes, program);
    } else {
        qg_text code = qg_text_new(arena);
        qg_glsl_wide_loads(&code, ir, NULL, plan);
        qg_text_puts(&code, qg_glsl_decode(arena, program->values));
        qg_hole(&holes, "decode", code.data);
        qg_hole(&holes, "thread", "gl_GlobalInvocationID.x");
        qg_hole(&holes, "push", "");
        qg_hole(&holes, "to_decode", "decode(");
        qg_hole(&holes, "to_write", "write_tile(");
        return qg_wrap(arena, qg_kernel_text(arena, templates, kernel, "comp", &holes, why));
    }
    const char *template = program->schedule == QK_SCHEDULE_NONE ? qg_template_of(arena, kernel, "comp")
                                                                 : qg_format(arena, "%s_%s.comp", kernel->family->name,
                                                                             qg_schedule_name(program->schedule));
    return qg_wrap(arena, qg_expand(arena, templates, template, holes.items, holes.count, why));
}
