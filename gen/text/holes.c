/* What the printers of kernels share: the holes of the templates that follow from the plan, banners, tables, bodies. */
#include "build/cost.h"
#include "text/plain.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

void qg_hole(qg_holes *holes, const char *name, const char *value) {
    if (holes->count == QG_MAX_HOLES) abort(); /* whatever is asked for: a printer has more of them */
    holes->items[holes->count++] = (qg_binding){name, value};
}

void qg_hole_set(qg_holes *holes, const char *name) {
    for (uint32_t i = 0; i < holes->count; ++i)
        if (strcmp(holes->items[i].name, name) == 0) holes->items[i].value = "";
}

const char *qg_template_text(const qg_templates *templates, const char *name) {
    for (uint32_t i = 0; i < templates->count; ++i)
        if (strcmp(templates->items[i].name, name) == 0) return templates->items[i].text;
    return NULL;
}

static int by_name(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

/* The files of a folder, sorted; hidden ones are the user's. */
static uint32_t list_files(qg_arena *arena, const char *folder, const char ***names) {
    uint32_t count = 0, capacity = 0;
    DIR *dir = opendir(folder);
    *names = NULL;
    for (const struct dirent *entry; dir && (entry = readdir(dir));)
        if (entry->d_name[0] != '.')
            QG_PUSH(arena, *names, count, capacity, qg_strndup(arena, entry->d_name, strlen(entry->d_name)));
    if (dir) closedir(dir);
    if (count) qsort(*names, count, sizeof **names, by_name);
    return count;
}

bool qg_templates_load(qg_arena *arena, const char *folder, qg_templates *templates, const char **why) {
    const char **names;
    const uint32_t count = list_files(arena, folder, &names);
    qg_template *items = QG_NEW_ARRAY(arena, qg_template, count + 1);
    if (!count) *why = qg_format(arena, "cannot read templates from %s: name the folder above it with --data", folder);
    for (uint32_t i = 0; i < count; ++i) {
        items[i].name = names[i];
        items[i].path = qg_format(arena, "%s/%s", folder, names[i]);
        size_t length;
        const char *reason = NULL;
        items[i].text = qg_read_file(arena, items[i].path, 1u << 20, &length, &reason);
        if (!items[i].text) {
            *why = qg_format(arena, "cannot read template %s: %s", items[i].path, reason);
            return false;
        }
    }
    *templates = (qg_templates){count, items};
    return count > 0;
}

static const char *times(qg_arena *arena, const char *variable, const char *operator, uint32_t by, const char *suffix) {
    return qg_format(arena, "%s %s %u%s", variable, operator, by, suffix);
}

void qg_plan_holes(qg_arena *arena, qg_holes *holes, const qg_plan *plan, const qg_target *target) {
    const char *suffix = target->unsigned_suffix;
    const bool whole = plan->tiles == 1; /* a tile is a block */
    qg_hole(holes, "format", plan->layout->name);
    qg_hole(holes, "runs", qg_format(arena, "%u", plan->n_runs));
    qg_hole(holes, "tile_elements", qg_format(arena, "%u", plan->tile_elements));
    qg_hole(holes, "vec", target->types[QG_K_FLOAT][plan->lanes]);
    qg_hole(holes, "block_of_i", whole ? "i" : times(arena, "i", "/", plan->tiles, suffix));
    qg_hole(holes, "tile_of_i", whole ? qg_format(arena, "0%s", suffix) : times(arena, "i", "%", plan->tiles, suffix));
    qg_hole(holes, "block_of_from", whole ? "from" : times(arena, "from", "/", plan->tiles, suffix));
    const qg_layout *layout = plan->layout;
    qg_hole(holes, "lanes", qg_format(arena, "%u", plan->lanes));
    qg_hole(holes, "element", qg_element_text(arena, plan, suffix));
    qg_hole(holes, "row_tiles", qg_format(arena, "%u", plan->row_tiles));
    qg_hole(holes, "sequence", layout->view == QG_VIEW_SEQUENCE ? "" : NULL);
    qg_hole(holes, "groups", layout->view == QG_VIEW_GROUPS ? "" : NULL);
    qg_hole(holes, "ragged", layout->ragged ? "" : NULL);
    qg_hole(holes, "of_matrix", layout->view != QG_VIEW_BLOCKS ? "" : NULL);
    qg_hole(holes, "row_cols", qg_row_cols(arena, plan, target == &qg_target_msl ? "shape." : ""));
    qg_hole(holes, "x_tiles", qg_format(arena, "%u", qg_kept_tiles(plan)));
    qg_hole(holes, "whole_unit", qg_format(arena, "%u", qg_whole_unit(plan)));
}

/* MSL: y and what an epilogue reads, as parameters of a kernel, and as the first members of `results`. */
static void result_holes(qg_arena *arena, qg_holes *holes, const qg_kernel *kernel) {
    const qg_family *family = kernel->family;
    qg_text parameters = qg_text_new(arena), passed = qg_text_new(arena);
    for (uint32_t i = family->n_bindings - QG_N_RESULTS; i < family->n_bindings; ++i) {
        const bool is_y = family->bindings[i].role == QK_ROLE_OUTPUT;
        qg_text_printf(&parameters, "%s    device %sfloat *%s [[buffer(%u)]],", is_y ? "" : "\n", is_y ? "" : "const ",
                       family->bindings[i].name, kernel->layout->n_buffers + i);
        qg_text_printf(&passed, "%s%s", is_y ? "" : ", ", family->bindings[i].name);
    }
    qg_hole(holes, "result_parameters", parameters.data);
    qg_hole(holes, "results_passed", passed.data);
}

void qg_binding_holes(qg_arena *arena, qg_holes *holes, const qg_kernel *kernel) {
    const qg_family *family = kernel->family;
    for (uint32_t i = 0; i < family->n_bindings; ++i)
        qg_hole(holes, qg_format(arena, "binding_%s", family->bindings[i].name),
                qg_format(arena, "%u", kernel->layout->n_buffers + i));
    qg_hole(holes, "rows_tile",
            family->encodes ? qg_format(arena, "blocks of %u elements", kernel->layout->elements)
                            : qg_format(arena, "tiles of %u elements", kernel->plan->tile_elements));
    if (family->sums) result_holes(arena, holes, kernel);
    /* Of all programs of a kernel the same, whatever plan they have. */
    qg_hole(holes, "pushes_matrix", kernel->layout->view != QG_VIEW_BLOCKS ? "" : NULL);
    qg_hole(holes, "stores_halves", family->sums && qg_stores_halves(kernel) ? "" : NULL);
    qg_hole(holes, "experts", family->sums && family->experts ? "" : NULL);
    qg_hole(holes, "sets", family->sums && family->experts && !family->in_tiles ? "" : NULL);
}

const char *qg_template_of(qg_arena *arena, const qg_kernel *kernel, const char *ending) {
    return qg_format(arena, "%s%s.%s", kernel->family->name, qg_form(kernel->family, kernel->layout)->suffix, ending);
}

/* ---- matrices ---- */

char *qg_shape_arguments(qg_arena *arena, const qg_ir *ir, const char *pattern) {
    static const char *const names[] = {"rows", "cols", "grid_rows", "grid_cols"};
    qg_text text = qg_text_new(arena);
    qg_text_puts(&text, "");
    const bool apart = ir->layout->view == QG_VIEW_GROUPS; /* the lines below take the number of blocks */
    for (size_t i = 0; i < sizeof names / sizeof *names; ++i)
        if (qg_uses_argument(ir, names[i]) || (apart && strcmp(names[i], "grid_rows") == 0) ||
            (i == 0 && qg_uses_argument(ir, "expert"))) /* which is found by the rows */
            qg_print_filled(&text, pattern, '$', names[i]);
    return text.data;
}

char *qg_buffer_units(qg_arena *arena, const qg_layout *layout, uint32_t buffer, uint32_t unit, const char *grid_rows,
                      const char *grid_cols) {
    const qg_buffer *b = &layout->buffers[buffer];
    const uint32_t units = b->tile_cols * b->item_bits / unit;
    bool along_rows = false, along_cols = false;
    for (uint32_t i = 0; i < b->n_axes; ++i) {
        along_rows |= b->axes[i] == QG_AXIS_ROWS;
        along_cols |= b->axes[i] == QG_AXIS_COLS || (b->axes[i] == QG_AXIS_CODE && !b->entries);
    }
    const char *row = b->entries   ? qg_format(arena, "%uu", units * b->entries)
                      : along_cols ? qg_format(arena, "%s * %uu", grid_cols, units)
                                   : qg_format(arena, "%uu", units);
    if (b->header) row = qg_format(arena, "(%s + %uu)", row, b->header * b->item_bits / unit);
    if (!along_rows) return qg_format(arena, "%s", row);
    return b->tile_rows == 1 ? qg_format(arena, "%s * %s", grid_rows, row)
                             : qg_format(arena, "%s * %uu * %s", grid_rows, b->tile_rows, row);
}

static void add_quotient(qg_text *text, const qg_ir *ir, const char *type, const char *name, const char *of,
                         const char *operator, const char * by) {
    if (qg_uses_argument(ir, name)) qg_text_printf(text, "    const %s %s = %s %s %s;\n", type, name, of, operator, by);
}

char *qg_grid_lines(qg_arena *arena, const qg_ir *ir, const qg_plan *plan, const qg_target *target) {
    const qg_layout *layout = plan->layout;
    const char *type = plan->reference ? "uint64_t" : target->types[QG_K_UINT][1], *s = target->unsigned_suffix;
    const bool apart = layout->view == QG_VIEW_GROUPS;
    const char *rows = apart ? "grid_rows" : qg_format(arena, "%u%s", layout->block_rows, s);
    const char *cols = qg_format(arena, "%u%s", plan->reference ? layout->block_cols : plan->row_tiles, s);
    const char *along = plan->reference ? "col" : "tile";
    qg_text text = qg_text_new(arena);
    qg_text_puts(&text, "");
    if (plan->tile_rows > 1) { /* `band` says which rows */
        const uint32_t bands = layout->block_rows / plan->tile_rows;
        const char *by = qg_format(arena, "%u%s", bands, s);
        if (bands == 1 && qg_uses_argument(ir, "block_row"))
            qg_text_printf(&text, "    const %s block_row = band;\n", type);
        if (bands > 1) add_quotient(&text, ir, type, "block_row", "band", "/", by);
        if (bands > 1) add_quotient(&text, ir, type, "r", "band", "%", by);
    } else {
        add_quotient(&text, ir, type, "block_row", "row", apart ? "%" : "/", rows);
        if (layout->block_rows > 1) add_quotient(&text, ir, type, "r", "row", apart ? "/" : "%", rows);
    }
    add_quotient(&text, ir, type, "block_col", along, "/", cols);
    add_quotient(&text, ir, type, plan->reference ? "c" : "t", along, "%", cols);
    return text.data;
}

typedef struct prelude_function {
    const char *name;
    qg_op op;
} prelude_function;

static const prelude_function prelude_functions[] = {{"f16_to_f32", QG_F16_BITS},
                                                     {"bf16_to_f32", QG_BF16_BITS},
                                                     {"bits_to_f32", QG_F32_BITS},
                                                     {"load_u32", QG_LOAD_WIDE},
                                                     {"min", QG_MIN},
                                                     {"sign_extend", QG_SEXT},
                                                     {"round_f16", QG_ROUND_F16},
                                                     {"round_bf16", QG_ROUND_BF16}};

void qg_prelude_holes(qg_holes *holes, const qg_ir *ir) {
    for (size_t i = 0; i < sizeof prelude_functions / sizeof *prelude_functions; ++i)
        qg_hole(holes, prelude_functions[i].name, qg_uses(ir, prelude_functions[i].op) ? "" : NULL);
}

void qg_prelude_add(qg_holes *holes, const qg_ir *ir) {
    for (size_t i = 0; i < sizeof prelude_functions / sizeof *prelude_functions; ++i)
        if (qg_uses(ir, prelude_functions[i].op)) qg_hole_set(holes, prelude_functions[i].name);
}

void qg_decode_body(qg_text *text, const qg_ir *ir, const qg_target *target) {
    uint32_t statement = 0;
    for (uint32_t r = 0; r < ir->n_outputs; ++r) {
        if (ir->outputs[r].comment) qg_text_printf(text, "%s    // %s\n", r ? "\n" : "", ir->outputs[r].comment);
        for (; statement < ir->outputs[r].after; ++statement)
            qg_print_statement(text, ir, target, ir->statements[statement], "    ");
        qg_text_puts(text, "    ");
        qg_print_filled(text, target->result, 'r', qg_format(text->arena, "%u", r));
        qg_print_expression(text, ir, target, ir->outputs[r].node);
        qg_text_puts(text, ";\n");
    }
}

/* ---- banner ---- */

/* Text inside a comment: what would end it, or continue it on the next line, is broken up. */
static void add_comment(qg_text *text, const char *line, size_t length) {
    for (size_t i = 0; i < length; ++i) {
        qg_text_add(text, line + i, 1);
        if (line[i] == '*' && i + 1 < length && line[i + 1] == '/') qg_text_puts(text, " ");
    }
    if (length && line[length - 1] == '\\') qg_text_puts(text, " .");
}

static void add_lines(qg_text *text, const char *lines, size_t length, const char *prefix) {
    while (length && (lines[length - 1] == '\n' || lines[length - 1] == ' ')) --length;
    for (size_t at = 0; at < length;) {
        const char *end = memchr(lines + at, '\n', length - at);
        const size_t n = end ? (size_t)(end - lines) - at : length - at;
        if (n) {
            qg_text_printf(text, "%s    ", prefix);
            add_comment(text, lines + at, n);
            qg_text_puts(text, "\n");
        }
        at += n + (end != NULL);
    }
}

/* Where encode begins in the text of its specification, with the comments before it. */
static size_t encode_begin(const qg_spec *spec) {
    const char *text = spec->source->text;
    size_t begin = spec->encode_begin;
    while (begin > 0 && text[begin - 1] != '\n') --begin;
    while (begin > 0) {
        size_t line = begin - 1;
        while (line > 0 && text[line - 1] != '\n') --line;
        if (text[line] != '#') break;
        begin = line;
    }
    return begin;
}

/* The specification; of encode, what makes blocks alone has need. */
static void add_specification(qg_text *text, const qg_request *request, const qg_program *program, const char *prefix) {
    const qg_spec *spec = request->layout->spec;
    const char *source = spec->source->text;
    bool encodes = !spec->n_equations;
    for (uint32_t i = 0; i < request->n_families && !program; ++i) encodes |= request->families[i]->encodes;
    if (encodes || (program && program->kernel->family->encodes)) {
        add_lines(text, source, spec->source->length, prefix);
        return;
    }
    add_lines(text, source, encode_begin(spec), prefix);
    add_lines(text, source + spec->encode_end, spec->source->length - spec->encode_end, prefix);
}

/* The specification of what is made. */
static void add_other(qg_text *text, const qg_layout *to, const char *prefix) {
    qg_text_add(text, prefix, strlen(prefix) - 1);
    qg_text_printf(text, "\n%sTo %s:\n", prefix, to->name);
    qg_text_add(text, prefix, strlen(prefix) - 1);
    qg_text_puts(text, "\n");
    add_lines(text, to->spec->source->text, to->spec->source->length, prefix);
    if (to->parameters && *to->parameters) qg_text_printf(text, "%sHere %s.\n", prefix, to->parameters);
}

char *qg_banner(qg_arena *arena, const qg_request *request, const qg_program *program, const char *sentence,
                const char *open, const char *prefix, const char *close) {
    const qg_layout *layout = request->layout;
    qg_text text = qg_text_new(arena);
    qg_text_printf(&text, "%s%s\n", open, sentence);
    qg_text_printf(&text, "%sGenerated from the specification below by `%s`; do not edit.\n", prefix, request->command);
    qg_text_printf(&text, "%s" QG_LICENCE_LINE "\n", prefix);
    qg_text_printf(&text, "%s%u bytes for %u elements, %.4g bits each.\n", prefix, layout->block_bytes,
                   layout->elements, qg_bits_per_element(layout));
    const qg_layout *to = program ? program->kernel->to : NULL;
    if (!program || (!program->kernel->family->encodes && !to)) qg_cost_lines(&text, request, program, prefix);
    if (layout->math != QG_F32)
        qg_text_printf(&text, "%sEach float and each operation of the value is rounded to %s.\n", prefix,
                       qg_scalars[layout->math].name);
    add_specification(&text, request, program, prefix);
    if (layout->parameters && *layout->parameters) {
        qg_text_add(&text, prefix, strlen(prefix) - 1);
        qg_text_printf(&text, "\n%sHere %s.\n", prefix, layout->parameters);
    }
    if (to) add_other(&text, to, prefix);
    qg_text_puts(&text, close);
    return text.data;
}

/* ---- tables ---- */

static void add_table_row(qg_text *text, const qg_table *table, const qg_target *target, uint32_t row) {
    const bool floating = qg_scalars[table->type].kind == QG_FLOATING;
    const uint32_t count = table->columns > 1 ? table->columns : table->rows;
    for (uint32_t i = 0; i < count; ++i) {
        const double value = table->values[row * count + i];
        qg_text_puts(text, i == 0 ? "" : i % 16 == 0 ? ",\n    " : ", ");
        if (floating)
            qg_print_float(text, target, (float)value);
        else
            qg_text_printf(text, "%lld", (long long)value);
    }
}

static void add_table(qg_text *text, const qg_table *table, const qg_target *target, const char *qualifier) {
    const qg_kind kind = qg_table_kind(table);
    const char *type = target->types[kind][1];
    const bool nested = table->columns > 1;
    qg_text_printf(text, "%s %s %s[%u]", qualifier, type, table->name, table->rows);
    if (nested) qg_text_printf(text, "[%u]", table->columns);
    qg_text_puts(text, " = ");
    qg_print_filled(text, nested ? target->array_2 : target->array, 'T', type);
    for (uint32_t row = 0; row < (nested ? table->rows : 1); ++row) {
        qg_text_puts(text, row ? ",\n    " : "\n    ");
        if (nested) qg_print_filled(text, target->array, 'T', type);
        add_table_row(text, table, target, row);
        if (nested) qg_text_puts(text, target->array_end);
    }
    qg_text_printf(text, "\n%s;\n\n", target->array_end);
}

void qg_add_words(qg_text *text, const uint32_t *words, size_t count) {
    for (size_t i = 0; i < count; ++i)
        qg_text_printf(text, "%s0x%08X%s", i % 8 ? " " : "\n    ", words[i], i + 1 < count ? "," : "");
}

static void add_stored(qg_text *text, const qg_table *table, const char *qualifier) {
    uint32_t bytes;
    const uint32_t *words = qg_table_words(text->arena, table, &bytes);
    qg_text_printf(text, "// %u rows of %u: %s.\n%s uint %s[%u] = {", table->rows, table->columns,
                   qg_table_packing(text->arena, table), qualifier, table->name, bytes / 4);
    qg_add_words(text, words, bytes / 4);
    qg_text_puts(text, "\n};\n\n");
}

char *qg_tables(qg_arena *arena, const qg_plan *plan, const qg_target *target, const char *qualifier) {
    qg_text text = qg_text_new(arena);
    for (uint32_t i = 0; i < plan->layout->n_tables; ++i) {
        const qg_table *table = &plan->layout->tables[i];
        const bool packed = plan->stored[i] && table->columns > 1;
        if (plan->stored[i] && !target->stored_in_text) continue;
        if (packed)
            add_stored(&text, table, qualifier);
        else
            add_table(&text, table, target, qualifier);
    }
    return text.data ? text.data : qg_format(arena, "%s", "");
}
