/* The stage: a subgroup's copy of its slice of several rows, in shared memory.
 *
 * Rows are copied in units of 16 bytes, one after the other over the lanes, whatever the blocks are; a tile then reads its own
 * words from the copy. The units of the next step are on their way into registers while this one is computed. */
#include "stage.h"

#include <ctype.h>
#include <string.h>

enum { UNIT_BYTES = 16, STAGE_UNITS = 1760, USUAL_LANES = 32, MOST_ROWS = 4 };

uint32_t qg_stage_rows(const qg_plan *plan) {
    const uint32_t tile_bytes = plan->layout->block_bytes / plan->tiles, bytes = tile_bytes * USUAL_LANES;
    return bytes >= 1024 ? 1 : bytes >= 512 ? 2 : 4;
}

uint32_t qg_stage_batch(const qg_plan *plan) { return plan->tile_elements > 64 ? 1 : 2; }

static uint32_t joined(const qg_plan *plan) { return plan->layout->joined ? plan->layout->joined : 1; }

static char *upper(qg_arena *arena, const char *name) {
    char *text = qg_format(arena, "%s", name);
    for (char *c = text; *c; ++c) *c = (char)toupper((unsigned char)*c);
    return text;
}

void qg_stage_buffers(qg_text *text, const qg_kernel *kernel) {
    const qg_layout *layout = kernel->layout;
    for (uint32_t i = 0; i < layout->n_buffers; ++i)
        qg_text_printf(text, "layout(binding = %u, std430) readonly buffer %sUnits { uvec4 %s_16[]; };\n", i,
                       upper(text->arena, layout->buffers[i].name), layout->buffers[i].name);
}

/* ---- a buffer ---- */

/* Units of all subgroups for one row: as many as their lanes' tiles take, and up to two more for each subgroup. */
static char *buffer_units(qg_arena *arena, const qg_plan *plan, uint32_t buffer) {
    const uint32_t words = plan->layout->buffers[buffer].bytes / 4;
    return qg_format(arena, "(THREADS * %uu + %uu) / %uu + THREADS / 8u * 2u", words, 4 * plan->tiles - 1,
                     4 * plan->tiles);
}

/* A word of which the last bytes may lie behind the end, from words as narrow as the buffer has them. */
static void add_word(qg_text *text, const qg_kernel *kernel, uint32_t buffer) {
    const char *name = kernel->layout->buffers[buffer].name;
    const uint32_t bytes = kernel->plan->units[buffer] / 8;
    qg_text_printf(
        text,
        "// Word `w`, of which the bytes from `end` on are none of the buffer.\nuint %s_word(uint w, uint end) {\n",
        name);
    if (bytes == 4) {
        qg_text_printf(text, "    return %s[w];\n}\n\n", name);
        return;
    }
    const uint32_t in_word = 4 / bytes;
    qg_text_printf(text, "    uint word = uint(%s[w * %uu]);\n", name, in_word);
    for (uint32_t i = 1; i < in_word; ++i)
        qg_text_printf(text, "    if (w * 4u + %uu < end) word |= uint(%s[w * %uu + %uu]) << %u;\n", i * bytes, name,
                       in_word, i, 8 * bytes * i);
    qg_text_puts(text, "    return word;\n}\n\n");
}

/* Units of a row that a lane copies. */
static uint32_t slots_of(const qg_plan *plan, uint32_t buffer) {
    const uint32_t words = plan->layout->buffers[buffer].bytes / 4;
    const uint32_t blocks = plan->tiles < USUAL_LANES ? USUAL_LANES / plan->tiles : 1;
    return (blocks * words + 4 * USUAL_LANES - 1) / (4 * USUAL_LANES);
}

/* Rows at a time for which there are registers. */
static uint32_t most_rows(const qg_plan *plan) {
    uint32_t slots = 0;
    for (uint32_t i = 0; i < plan->layout->n_buffers; ++i) slots += slots_of(plan, i);
    return slots > 2 ? 2 : MOST_ROWS;
}

/* Written out for each row and unit of a lane, so that all of them are registers. */
static char *ahead(qg_arena *arena, const char *name, uint32_t rows, uint32_t slots) {
    qg_text text = qg_text_new(arena);
    for (uint32_t r = 0; r < rows; ++r)
        for (uint32_t s = 0; s < slots; ++s)
            qg_text_printf(&text, "%s%s_ahead%u_%u", r + s ? ", " : "uvec4 ", name, r, s);
    qg_text_puts(&text, ";");
    return text.data;
}

static char *fetch(qg_arena *arena, const char *name, uint32_t rows, uint32_t slots) {
    qg_text text = qg_text_new(arena);
    for (uint32_t r = 0; r < rows; ++r) {
        if (r) qg_text_printf(&text, "if (AT_ONCE > %uu) {\n", r);
        const char *in = r ? "    " : "";
        qg_text_printf(&text, "%sconst uint own%u = min(row + %uu, rows - 1u), last%u = %s_last(own%u, c);\n", in, r, r,
                       r, name, r);
        qg_text_printf(&text, "%sconst uint first%u = %s_start(own%u, c) / 16u + gl_SubgroupInvocationID;\n", in, r,
                       name, r);
        for (uint32_t s = 0; s < slots; ++s)
            qg_text_printf(&text, "%s%s_ahead%u_%u = %s_16[min(first%u + %uu * gl_SubgroupSize, last%u)];\n", in, name,
                           r, s, name, r, s, r);
        if (r) qg_text_puts(&text, "}\n");
    }
    return text.data;
}

static char *put(qg_arena *arena, const char *name, uint32_t rows, uint32_t slots) {
    qg_text text = qg_text_new(arena);
    for (uint32_t r = 0; r < rows; ++r)
        for (uint32_t s = 0; s < slots; ++s)
            qg_text_printf(&text, "put_unit(region, count, %uu, %uu, %s_ahead%u_%u);\n", r, s, name, r, s);
    return text.data;
}

static bool add_buffer(qg_text *text, const qg_template *part, const qg_kernel *kernel, uint32_t buffer,
                       const char **why) {
    qg_arena *arena = text->arena;
    const qg_plan *plan = kernel->staged;
    const qg_buffer *own = &kernel->layout->buffers[buffer];
    const uint32_t words = plan->layout->buffers[buffer].bytes / 4;
    qg_holes holes = {.count = 0};
    qg_text first = qg_text_new(arena);
    qg_text_puts(&first, "0u");
    for (uint32_t i = 0; i < buffer; ++i)
        qg_text_printf(&first, " + AT_ONCE * %s_ALL", upper(arena, kernel->layout->buffers[i].name));
    qg_hole(&holes, "name", own->name);
    qg_hole(&holes, "NAME", upper(arena, own->name));
    qg_hole(&holes, "words", qg_format(arena, "%u", words));
    qg_hole(&holes, "block_bytes", qg_format(arena, "%u", words * 4));
    qg_hole(&holes, "own_bytes", qg_format(arena, "%u", own->bytes));
    qg_hole(&holes, "joined", qg_format(arena, "%u", joined(plan)));
    qg_hole(&holes, "joined_text", joined(plan) > 1 ? qg_format(arena, "%u blocks", joined(plan)) : "a block");
    const uint32_t slots = slots_of(plan, buffer);
    qg_hole(&holes, "slots", qg_format(arena, "%u", slots));
    qg_hole(&holes, "ahead", ahead(arena, own->name, most_rows(plan), slots));
    qg_hole(&holes, "fetch", fetch(arena, own->name, most_rows(plan), slots));
    qg_hole(&holes, "put", put(arena, own->name, most_rows(plan), slots));
    qg_hole(&holes, "first_unit", first.data);
    add_word(text, kernel, buffer);
    const char *expanded = qg_expand(arena, part->text, holes.items, holes.count, why);
    if (!expanded) return false;
    qg_text_puts(text, expanded);
    qg_text_puts(text, "\n");
    return true;
}

/* ---- tables ---- */

static uint32_t table_bytes(qg_arena *arena, const qg_plan *plan) {
    uint32_t sum = 0, bytes;
    for (uint32_t i = 0; i < plan->layout->n_tables; ++i) {
        if (!plan->near[i]) continue;
        (void)qg_table_words(arena, &plan->layout->tables[i], &bytes);
        sum += bytes;
    }
    return sum;
}

/* True when all that is done with the values of a table is to convert them: that is done once, then. */
static bool only_as_floats(const qg_ir *ir, uint32_t table) {
    for (uint32_t i = 0; i < ir->n_nodes; ++i) {
        const qg_node *node = ir->nodes[i];
        const bool converts = node->op == QG_TO_FLOAT || (node->op == QG_VECTOR && node->kind == QG_K_FLOAT);
        if (!node->used || converts) continue;
        for (uint32_t a = 0; a < node->n_args; ++a)
            if (node->arg[a]->op == QG_TABLE && node->arg[a]->ref == table) return false;
    }
    return true;
}

/* Copies of the stored tables, and the lines that make them. */
static void add_tables(qg_text *text, qg_text *copy, const qg_plan *plan, const qg_ir *ir) {
    static const char *const types[] = {"bool", "uint", "int", "float"};
    uint32_t bytes;
    for (uint32_t i = 0; i < plan->layout->n_tables; ++i) {
        const qg_table *table = &plan->layout->tables[i];
        if (!plan->near[i]) continue;
        (void)qg_table_words(text->arena, table, &bytes);
        const char *near = qg_near_table(text->arena, table);
        const qg_kind kind = table->columns > 1 ? QG_K_UINT : only_as_floats(ir, i) ? QG_K_FLOAT : qg_table_kind(table);
        qg_text_printf(text, "shared %s %s[%u];\n", types[kind], near, bytes / 4);
        qg_text_printf(copy,
                       "for (uint i = gl_LocalInvocationID.x; i < %uu; i += gl_WorkGroupSize.x) %s[i] = %s(%s[i]);\n",
                       bytes / 4, near, types[kind], table->name);
    }
    if (copy->data) qg_text_puts(copy, "barrier();\n");
}

/* ---- all ---- */

static char *each(qg_arena *arena, const qg_kernel *kernel, const char *pattern, const char *between) {
    qg_text text = qg_text_new(arena);
    for (uint32_t i = 0; i < kernel->layout->n_buffers; ++i) {
        qg_text_puts(&text, i ? between : "");
        qg_print_filled(&text, pattern, 'b', kernel->layout->buffers[i].name);
    }
    return text.data;
}

char *qg_glsl_stage(qg_arena *arena, const qg_templates *templates, const qg_kernel *kernel, const qg_ir *ir,
                    const char *load_x, const char *accumulate, const char **why) {
    const qg_plan *plan = kernel->staged;
    const qg_template part = {.text = qg_template_text(templates, "gemv_stage_buffer.glsl")};
    qg_text buffers = qg_text_new(arena), alls = qg_text_new(arena), sum = qg_text_new(arena);
    qg_text tables = qg_text_new(arena), copy = qg_text_new(arena);
    qg_holes holes = {.count = 0};
    for (uint32_t i = 0; i < kernel->layout->n_buffers; ++i) {
        const char *name = upper(arena, kernel->layout->buffers[i].name);
        qg_text_printf(&alls, "const uint %s_ALL = %s;\n", name, buffer_units(arena, plan, i));
        qg_text_printf(&sum, "%s%s_ALL", i ? " + " : "", name);
        if (!add_buffer(&buffers, &part, kernel, i, why)) return NULL;
    }
    add_tables(&tables, &copy, plan, ir);
    qg_hole(&holes, "most_rows", qg_format(arena, "%u", most_rows(plan)));
    qg_hole(&holes, "limit", qg_format(arena, "%u", STAGE_UNITS - table_bytes(arena, plan) / UNIT_BYTES));
    qg_hole(&holes, "block_tiles", qg_format(arena, "%u", plan->tiles));
    qg_hole(&holes, "joined", qg_format(arena, "%u", joined(plan)));
    qg_hole(&holes, "row_units", sum.data);
    qg_hole(&holes, "alls", alls.data);
    qg_hole(&holes, "buffers", buffers.data);
    qg_hole(&holes, "fetch", each(arena, kernel, "$b_fetch(row, c);\n", ""));
    qg_hole(&holes, "put", each(arena, kernel, "$b_put(row, c);\n", ""));
    qg_hole(&holes, "awkward", each(arena, kernel, "$b_awkward()", " || "));
    qg_hole(&holes, "mend", each(arena, kernel, "$b_mend(row, c);\n", ""));
    qg_hole(&holes, "tables", tables.data ? tables.data : "");
    qg_hole(&holes, "copy", copy.data ? copy.data : "");
    qg_hole(&holes, "load_x", load_x);
    qg_hole(&holes, "accumulate", accumulate);
    return qg_expand(arena, qg_template_text(templates, "gemv_stage.glsl"), holes.items, holes.count, why);
}
