/* Tables in memory that a workgroup of Vulkan shares: copies of them, or of all pairs of their
 * values, which it makes when it begins. */
#include "text/text.h"

/* Copies of a table, row by row, so that threads that are neighbours read from other banks. */
static void add_copies(qg_text *tables, qg_text *fill, const qg_table *table) {
    const char *name = table->name, *type = table->columns > 1 ? "uint" : qg_target_glsl.types[qg_table_kind(table)][1];
    const uint32_t words = qg_table_size(table), row = words / table->rows;
    qg_text_printf(tables,
                   "shared %s %s_copies[COPIES == 1u ? 1u : %uu * COPIES];\n\n"
                   "// A word of %s, from the thread's copy.\n"
                   "%s %s_at(uint i) {\n"
                   "    const uint copy = gl_LocalInvocationID.x %% COPIES;\n"
                   "    if (COPIES == 1u) return %s[i];\n",
                   type, name, words, name, type, name, name);
    const char *at = row > 1
                         ? qg_format(tables->arena, "(i - i %% %uu) * COPIES + copy * %uu + i %% %uu", row, row, row)
                         : "i * COPIES + copy";
    qg_text_printf(tables, "    return %s_copies[%s];\n}\n", name, at);
    qg_text_printf(fill,
                   "    for (uint i = gl_LocalInvocationID.x; i < %uu; i += gl_WorkGroupSize.x) {\n"
                   "        const %s value = %s[i];\n"
                   "        for (uint c = 0u; c < COPIES; ++c) {\n"
                   "            const uint copy = (i%s + c) %% COPIES;  // neighbours in other banks\n"
                   "            %s_copies[%s] = value;\n"
                   "        }\n"
                   "    }\n",
                   words, type, name, row > 1 ? qg_format(tables->arena, " / %uu", row) : "", name, at);
}

static bool pairs_up(const qg_ir *ir, qg_op op, uint32_t table) {
    for (uint32_t i = 0; i < ir->n_nodes; ++i)
        if (ir->nodes[i]->used && ir->nodes[i]->op == op && ir->nodes[i]->ref == table) return true;
    return false;
}

/* A table of all pairs of a table's values, for each byte of two codes: as bytes 0 and 2 of a word,
 * or as halves. Threads that are neighbours read copies that lie in other banks. */
static void add_pairs(qg_text *tables, qg_text *fill, const qg_ir *ir, uint32_t table) {
    const char *name = ir->layout->tables[table].name;
    const bool halves = pairs_up(ir, QG_PAIR, table);
    if (!halves && !pairs_up(ir, QG_PAIRS, table)) return;
    qg_text_printf(tables, "shared uint %s_of_two[256u * COPIES];  // for each byte of two codes, %s\n\n", name,
                   halves ? "as halves" : "in bytes 0 and 2");
    if (halves)
        qg_text_printf(tables,
                       "// %s of both codes of a byte, that of the lower half first.\n"
                       "uint %s_pair(uint codes) {\n"
                       "    return %s_of_two[codes * COPIES + gl_LocalInvocationID.x %% COPIES];\n"
                       "}\n",
                       name, name, name);
    else
        qg_text_printf(tables,
                       "// %s of the four codes in the bytes a and b: of the lower half of a, of b, of the upper half "
                       "of a, of b.\n"
                       "uint %s_pairs(uint codes) {\n"
                       "    const uint copy = gl_LocalInvocationID.x %% COPIES;\n"
                       "    return %s_of_two[(codes & 0xFFu) * COPIES + copy] | (%s_of_two[((codes >> 8u) & 0xFFu) * "
                       "COPIES + copy] << 8u);\n"
                       "}\n",
                       name, name, name, name);
    const char *two = halves ? "packHalf2x16(vec2(%s[codes & 15u], %s[codes >> 4u]))"
                             : "(uint(%s[codes & 15u]) & 0xFFu) | ((uint(%s[codes >> 4u]) & 0xFFu) << 16u)";
    qg_text_puts(fill, "// Threads that are neighbours write to other banks.\n"
                       "for (uint codes = gl_LocalInvocationID.x; codes < 256u; codes += gl_WorkGroupSize.x) {\n"
                       "    const uint two = ");
    qg_text_printf(fill, two, name, name);
    qg_text_printf(
        fill,
        ";\n    for (uint i = 0u; i < COPIES; ++i) %s_of_two[codes * COPIES + (codes + i) %% COPIES] = two;\n"
        "}\n",
        name);
}

void qg_lookup_holes(qg_arena *arena, qg_holes *holes, const qg_program *program) {
    const qg_kernel *kernel = program->kernel;
    const qg_ir *ir = program->main->code;
    qg_text tables = qg_text_new(arena), fill = qg_text_new(arena);
    const bool pairs = program->main->plan->pairs, copied = program->main->plan->copied;
    qg_hole(holes, "pairs", pairs ? "" : NULL);
    qg_hole(holes, "copied", copied ? "" : NULL);
    qg_hole(holes, "looks_up", pairs || copied ? "" : NULL);
    for (uint32_t t = 0; t < kernel->layout->n_tables && copied; ++t)
        if (qg_reads_table(ir, t)) add_copies(&tables, &fill, &kernel->layout->tables[t]);
    if (copied) {
        qg_hole(holes, "near_tables", tables.data);
        qg_hole(holes, "fill_tables", qg_format(arena, "if (COPIES > 1u) {\n%s    barrier();\n}", fill.data));
        return;
    }
    for (uint32_t t = 0; t < kernel->layout->n_tables && pairs; ++t) add_pairs(&tables, &fill, ir, t);
    if (pairs) qg_text_puts(&fill, "barrier();");
    qg_hole(holes, "near_tables", tables.data ? tables.data : "");
    qg_hole(holes, "fill_tables", fill.data ? fill.data : "");
}
