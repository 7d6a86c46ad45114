/* CUDA C: one text for each format whose blocks lie one after the other, with a kernel in which a thread decodes an
 * element. */
#include "text/text.h"

static const qg_target *const cuda = &qg_target_cuda;

static bool takes(const qg_layout *layout) { return layout->view == QG_VIEW_BLOCKS; }

/* Of each buffer, what `$` becomes its name in. */
static char *buffers(qg_arena *arena, const qg_layout *layout, const char *before, const char *between) {
    qg_text text = qg_text_new(arena);
    for (uint32_t i = 0; i < layout->n_buffers; ++i)
        qg_text_printf(&text, "%s%s%s", i ? between : "", before, layout->buffers[i].name);
    return text.data;
}

static char *print_cuda(qg_arena *arena, const qg_templates *templates, const qg_request *request, const char **why) {
    const qg_layout *layout = request->layout;
    const qg_program *program = qg_program_of_reference(arena, layout);
    const qg_ir *ir = program->values->code;
    qg_holes prelude = {.count = 0}, holes = {.count = 0};
    qg_text value = qg_text_new(arena);
    qg_prelude_holes(&prelude, ir);
    for (uint32_t i = 0; i < layout->n_buffers; ++i)
        qg_text_printf(&value, "    %s += index / %uu * %uu;\n", layout->buffers[i].name, layout->elements,
                       layout->buffers[i].bytes);
    if (layout->elements > 1 && qg_uses(ir, QG_ARG))
        qg_text_printf(&value, "    const uint32_t i = (uint32_t)(index %% %uu);\n", layout->elements);
    qg_decode_body(&value, ir, cuda);
    const char *prelude_text = qg_expand(arena, templates, "prelude.c", prelude.items, prelude.count, why);
    if (!prelude_text) return NULL;
    const char *sentence = qg_format(arena, "%s: CUDA kernels of the format.", layout->name);
    qg_hole(&holes, "banner", qg_banner(arena, request, NULL, sentence, "// ", "// ", ""));
    qg_hole(&holes, "prelude", prelude_text);
    qg_hole(&holes, "tables", qg_tables(arena, program->plan, cuda, "static __constant__ const"));
    qg_hole(&holes, "name", layout->name);
    qg_hole(&holes, "pointers", buffers(arena, layout, "const uint8_t *", ", "));
    qg_hole(&holes, "names", buffers(arena, layout, "", ", "));
    qg_hole(&holes, "value", value.data);
    return qg_wrap(arena, qg_expand(arena, templates, "format.cu", holes.items, holes.count, why));
}

const qg_target qg_target_cuda = {.api = "cuda",
                                  .ending = "cu",
                                  .takes = takes,
                                  .print = print_cuda,
                                  .column = QG_C,
                                  .vector = "$T(",
                                  .types = {{0, "bool"}, {0, "uint32_t"}, {0, "int32_t"}, {0, "float"}},
                                  .unsigned_suffix = "u",
                                  .float_suffix = "f",
                                  .infinity = "INFINITY",
                                  .casts = true,
                                  .stored_in_text = true,
                                  .result = "return ",
                                  .array = "{",
                                  .array_2 = "{",
                                  .array_end = "}",
                                  .precise = "const ",
                                  .local = "const ",
                                  .unroll = "",
                                  .wide_load = "$b[$i]",
                                  .narrow_load = "(uint32_t)$b[$i]"};
