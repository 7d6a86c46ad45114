/* GLSL of kernels that make blocks. */
#include "text/glsl.h"

#include <string.h>

static const qg_target *const glsl = &qg_target_glsl;

/* From binding `first` on. `streams`: what is a stream, or joined from units, is written in words, too. */
static char *written_buffers(qg_arena *arena, const qg_layout *layout, uint32_t first, bool streams) {
    qg_text text = qg_text_new(arena);
    for (uint32_t i = 0; i < layout->n_buffers; ++i) {
        const char *name = layout->buffers[i].name;
        const bool lower = *name >= 'a' && *name <= 'z',
                   stream = streams && (qg_streams(layout, i) || qg_joins_units(layout, i)),
                   fours = qg_stores_fours(layout, i);
        if (fours) {
            qg_text_printf(&text,
                           "layout(binding = %u, std430) restrict writeonly buffer %c%sBuffer { uvec4 %s[]; };\n",
                           first + i, lower ? *name - 'a' + 'A' : *name, name + 1, name);
            continue;
        }
        qg_text_printf(&text, "layout(binding = %u, std430) %swriteonly buffer %c%sBuffer { %s %s[]; };\n", first + i,
                       stream ? "" : "restrict ", lower ? *name - 'a' + 'A' : *name, name + 1,
                       qg_glsl_storage(qg_encode_unit(&layout->buffers[i])), name);
        if (stream)
            qg_text_printf(&text, "layout(binding = %u, std430) writeonly buffer %c%sWords { uint qk_whole_%s[]; };\n",
                           first + i, lower ? *name - 'a' + 'A' : *name, name + 1, name);
    }
    return text.data;
}

/* The threads of a workgroup, or the teams. */
static const char *slots(qg_arena *arena, const qg_layout *layout) {
    const uint32_t team = qg_encode_team(layout);
    return team == 1 ? "gl_WorkGroupSize.x" : qg_format(arena, "gl_WorkGroupSize.x / %uu", team);
}

/* Words of a stream, for all threads. */
static char *stream_words(qg_arena *arena, const qg_layout *layout, uint32_t buffer) {
    return qg_format(arena, "gl_WorkGroupSize.x * %uu / 4u", layout->buffers[buffer].bytes);
}

/* Blocks in memory that a workgroup shares, a buffer's words behind each other. */
static char *staged_buffers(qg_arena *arena, const qg_layout *layout) {
    qg_text text = qg_text_new(arena);
    for (uint32_t i = 0; i < layout->n_buffers; ++i) {
        const uint32_t words = qg_staged_words(layout, i);
        const char *name = layout->buffers[i].name;
        if (words && qg_streams(layout, i))
            qg_text_printf(&text,
                           "%s// The last word takes what is shifted beyond the end, which is 0.\n"
                           "shared uint qk_staged_%s[%s + 1u];\n"
                           "// Of a thread that makes no block, nothing is joined to the block before.\n"
                           "uint qk_first_%s = 0u;",
                           text.length ? "\n" : "", name, stream_words(arena, layout, i), name);
        else if (words)
            qg_text_printf(&text, "%sshared uint qk_staged_%s[%s * %uu];", text.length ? "\n" : "", name,
                           slots(arena, layout), words);
    }
    for (uint32_t c = 0; c < layout->n_codes; ++c)
        if (qg_digit_words(layout, &layout->codes[c]))
            qg_text_printf(&text, "\nshared uint qk_digits_%s[%s * %uu];", layout->codes[c].name, slots(arena, layout),
                           qg_digit_words(layout, &layout->codes[c]));
    return text.data;
}

/* What waits of a block goes to where the block before has its last bytes, if it has any there. */
static char *join_streams(qg_arena *arena, const qg_layout *layout) {
    qg_text text = qg_text_new(arena);
    for (uint32_t i = 0; i < layout->n_buffers; ++i)
        if (qg_streams(layout, i))
            qg_text_printf(
                &text,
                "%s{\n    const uint byte = gl_LocalInvocationIndex * %uu, others = (1u << byte %% 4u * 8u) - 1u;\n"
                "    qk_staged_%s[byte / 4u] = qk_staged_%s[byte / 4u] & others | qk_first_%s;\n}",
                text.length ? "\n" : "", layout->buffers[i].bytes, layout->buffers[i].name, layout->buffers[i].name,
                layout->buffers[i].name);
    return text.length ? text.data : NULL;
}

/* Writes a stream: in words where blocks follow each other in memory, too, else unit by unit. */
static void write_stream(qg_arena *arena, qg_text *text, const qg_layout *layout, uint32_t number) {
    const qg_buffer *buffer = &layout->buffers[number];
    const uint32_t unit = qg_encode_unit(buffer), blocks = qg_stream_blocks(layout, number),
                   words = blocks * buffer->bytes / 4;
    const char *name = buffer->name;
    qg_text_printf(text, "%sfor (uint u = gl_LocalInvocationIndex; u < %s; u += gl_WorkGroupSize.x) {\n",
                   text->length ? "\n" : "", stream_words(arena, layout, number));
    qg_text_printf(text, "    const uint word = qk_staged_%s[u], slot = u / %uu * %uu;\n", name, words, blocks);
    qg_text_printf(text, "    if (first %% %uu == 0u) qk_whole_%s[first / %uu * %uu + u] = word;\n", blocks, name,
                   blocks, words);
    qg_text_printf(text,
                   "    else if (qk_follow(slot, %uu)) qk_whole_%s[qk_made[slot] / %uu * %uu + u %% %uu] = word;\n"
                   "    else\n"
                   "        for (uint i = 0u; i < %uu; ++i) {\n"
                   "            const uint n = u * %uu + i, block = qk_made[n / %uu];\n",
                   blocks, name, blocks, words, words, blocks, blocks, buffer->bytes * 8 / unit);
    qg_text_printf(text,
                   "            if (block != QK_NONE) %s[block * %uu + n %% %uu] = %s(word >> i * %uu);\n"
                   "        }\n}",
                   name, buffer->bytes * 8 / unit, buffer->bytes * 8 / unit, qg_glsl_storage(unit), unit);
}

/* Unit `part` of the block in `slot`, in the low bits of what the pattern takes of memory. */
static const char *staged_unit(const qg_buffer *buffer) {
    static const char *const patterns[] = {[8] = "qk_staged_%s[slot * %uu + part / 4u] >> part %% 4u * 8u",
                                           [16] = "qk_staged_%s[slot * %uu + part / 2u] >> part %% 2u * 16u",
                                           [32] = "qk_staged_%s[slot * %uu + part]"};
    return patterns[qg_encode_unit(buffer)];
}

/* Of teams whose blocks follow each other, and begin where a word does: words, each of units of one or two blocks. */
static void write_joined(qg_arena *arena, qg_text *text, const qg_layout *layout, uint32_t number) {
    const qg_buffer *buffer = &layout->buffers[number];
    const uint32_t unit = qg_encode_unit(buffer), n = buffer->bytes * 8 / unit, each = 32 / unit,
                   blocks = qg_stream_blocks(layout, number);
    const char *all = slots(arena, layout);
    qg_text_printf(text, "%sconst bool whole_%s = first %% %uu == 0u && %s %% %uu == 0u;\n", text->length ? "\n" : "",
                   buffer->name, blocks, all, blocks);
    qg_text_printf(text,
                   "for (uint u = gl_LocalInvocationIndex; whole_%s && u < %s * %uu / 4u; u += gl_WorkGroupSize.x) {\n"
                   "    uint word = 0u;\n"
                   "    [[unroll]] for (uint i = 0u; i < %uu; ++i) {\n"
                   "        const uint slot = (u * %uu + i) / %uu, part = (u * %uu + i) %% %uu;\n"
                   "        word |= (",
                   buffer->name, all, buffer->bytes, each, each, n, each, n);
    qg_text_printf(text, staged_unit(buffer), buffer->name, qg_staged_words(layout, number));
    qg_text_printf(text, " & 0x%Xu) << i * %uu;\n    }\n    qk_whole_%s[first / %uu * %uu + u] = word;\n}",
                   (1u << unit) - 1, unit, buffer->name, blocks, blocks * buffer->bytes / 4);
}

/* Where blocks that are whole words follow each other, so do their words. */
static const char *copy_word(qg_arena *arena, const qg_layout *layout, uint32_t number) {
    const uint32_t n = layout->buffers[number].bytes / 4, staged = qg_staged_words(layout, number);
    const char *name = layout->buffers[number].name;
    return qg_format(
        arena,
        "    if (first != QK_NONE) {\n        %s[first * %uu + u] = qk_staged_%s[%s];\n        continue;\n    }\n",
        name, n, name, staged == n ? "u" : qg_format(arena, "u + u / %uu", n));
}

/* Writes them, unit by unit, but for what is written in words. */
static char *write_made(qg_arena *arena, const qg_layout *layout) {
    qg_text text = qg_text_new(arena);
    for (uint32_t i = 0; i < layout->n_buffers; ++i) {
        const qg_buffer *buffer = &layout->buffers[i];
        const uint32_t words = qg_staged_words(layout, i), unit = qg_encode_unit(buffer), n = buffer->bytes * 8 / unit;
        const bool joins = qg_encode_team(layout) > 1 && unit < 32;
        if (!words) continue;
        if (qg_streams(layout, i)) {
            write_stream(arena, &text, layout, i);
            continue;
        }
        if (joins) write_joined(arena, &text, layout, i);
        qg_text_printf(&text,
                       "%sfor (uint u = gl_LocalInvocationIndex; %su < %s * %uu; u += gl_WorkGroupSize.x) {\n"
                       "%s    const uint slot = u / %uu, part = u %% %uu, block = qk_made[slot];\n",
                       text.length ? "\n" : "", joins ? qg_format(arena, "!whole_%s && ", buffer->name) : "",
                       slots(arena, layout), n, unit == 32 ? copy_word(arena, layout, i) : "", n, n);
        qg_text_printf(&text, "    if (block != QK_NONE) %s[block * %uu + part] = %s(", buffer->name, n,
                       qg_glsl_storage(unit));
        qg_text_printf(&text, staged_unit(buffer), buffer->name, words);
        qg_text_puts(&text, ");\n}");
    }
    return text.data;
}

static uint32_t written_units(const qg_layout *layout) {
    uint32_t units = 0;
    for (uint32_t i = 0; i < layout->n_buffers; ++i) units |= qg_encode_unit(&layout->buffers[i]);
    return units;
}

static char *narrow_storage(qg_arena *arena, uint32_t units) {
    return qg_format(arena, "%s%s", units & 8 ? "#extension GL_EXT_shader_8bit_storage : require\n" : "",
                     units & 16 ? "#extension GL_EXT_shader_16bit_storage : require\n" : "");
}

/* What encoders call, and code of values where there is some. */
static char *encoder_prelude(qg_arena *arena, const qg_templates *templates, const qg_ir *ir, const char **why) {
    qg_holes prelude = {.count = 0};
    qg_prelude_holes(&prelude, ir);
    qg_no_store_holes(&prelude);
    qg_hole_set(&prelude, "bf16_to_f32");
    qg_hole(&prelude, "to_f16", "");
    qg_hole(&prelude, "to_bf16", "");
    return qg_expand(arena, templates, "prelude.glsl", prelude.items, prelude.count, why);
}

/* The template, with what it calls of encode.glsl. */
static char *expand_with_functions(qg_arena *arena, const qg_templates *templates, const char *name, qg_holes *holes,
                                   const char **why) {
    const char *all = qg_expand(arena, templates, "encode.glsl", NULL, 0, why);
    qg_hole(holes, "functions", "");
    char *text = all ? qg_expand(arena, templates, name, holes->items, holes->count, why) : NULL;
    if (!text) return NULL;
    holes->items[holes->count - 1].value = qg_called_functions(arena, all, text);
    return qg_wrap(arena, qg_expand(arena, templates, name, holes->items, holes->count, why));
}

/* From one format to another: the decoder of the one, and the encoder of the other. */
char *qg_glsl_transcode(qg_arena *arena, const qg_templates *templates, const qg_request *request,
                        const qg_program *program, const char **why) {
    const qg_kernel *kernel = program->kernel;
    const qg_step *values = program->values;
    const qg_plan *plan = program->plan;
    qg_holes holes = {.count = 0};
    const char *prelude = encoder_prelude(arena, templates, values->code, why);
    if (!prelude) return NULL;
    uint32_t units = written_units(kernel->to);
    for (uint32_t i = 0; i < plan->layout->n_buffers; ++i) units |= plan->units[i];
    qg_text code = qg_text_new(arena);
    qg_glsl_wide_loads(&code, values->code, NULL, plan);
    qg_text_puts(&code, qg_glsl_decode(arena, values));
    const char *sentence = qg_format(arena, "%s: %s.", kernel->module, kernel->family->summary);
    qg_plan_holes(arena, &holes, plan, glsl);
    qg_transcode_holes(arena, &holes, program);
    qg_hole(&holes, "banner", qg_banner(arena, request, program, sentence, "// ", "// ", ""));
    qg_hole(&holes, "extensions", narrow_storage(arena, units));
    qg_hole(&holes, "buffers", qg_glsl_buffers(arena, program));
    const bool streams = qg_transcode_streams(kernel);
    qg_hole(&holes, "written_buffers", written_buffers(arena, kernel->to, kernel->layout->n_buffers, streams));
    qg_hole(&holes, "tables", qg_tables(arena, plan, glsl, "const"));
    qg_hole(&holes, "prelude", prelude);
    qg_hole(&holes, "decode", code.data);
    qg_hole(&holes, "keep_tile", qg_keep_tile(arena, values, glsl));
    qg_hole(&holes, "encoder", qg_encoder_of_thread(arena, kernel->to, QG_GLSL, "qk_encode_kept", streams));
    qg_hole(&holes, "streams", streams ? "yes" : NULL);
    qg_hole(&holes, "slots", "gl_WorkGroupSize.x");
    qg_hole(&holes, "staged", streams ? staged_buffers(arena, kernel->to) : "");
    qg_hole(&holes, "join_streams", streams ? join_streams(arena, kernel->to) : "");
    qg_hole(&holes, "write_made", streams ? write_made(arena, kernel->to) : "");
    return expand_with_functions(arena, templates, "transcode.comp", &holes, why);
}

char *qg_glsl_encode(qg_arena *arena, const qg_templates *templates, const qg_request *request,
                     const qg_program *program, const char **why) {
    const qg_kernel *kernel = program->kernel;
    const qg_layout *layout = kernel->layout;
    qg_holes holes = {.count = 0};
    const char *prelude_text = encoder_prelude(arena, templates, program->main->code, why);
    if (!prelude_text) return NULL;
    const char *sentence = qg_format(arena, "%s: %s.", kernel->module, kernel->family->summary);
    qg_plan_holes(arena, &holes, kernel->plan, glsl);
    qg_hole(&holes, "banner", qg_banner(arena, request, program, sentence, "// ", "// ", ""));
    qg_hole(&holes, "extensions", narrow_storage(arena, written_units(layout)));
    qg_hole(&holes, "buffers", written_buffers(arena, layout, 0, true));
    qg_binding_holes(arena, &holes, kernel);
    qg_hole(&holes, "block_elements", qg_format(arena, "%u", layout->elements));
    qg_hole(&holes, "prelude", prelude_text);
    qg_hole(&holes, "encoder", qg_encoder(arena, layout, QG_GLSL));
    const uint32_t team = qg_encode_team(layout);
    qg_hole(&holes, "alone", team == 1 && !layout->encode->rows && layout->view != QG_VIEW_GROUPS ? "yes" : NULL);
    qg_hole(&holes, "stages", qg_staged_bytes(layout) ? "yes" : NULL);
    qg_hole(&holes, "team", team > 1 ? qg_format(arena, "%u", team) : NULL);
    qg_hole(&holes, "share", qg_format(arena, "%u", layout->elements / team));
    qg_hole(&holes, "left", qg_format(arena, "%u", qg_room_left(layout)));
    qg_hole(&holes, "slots", slots(arena, layout));
    qg_row_holes(arena, &holes, layout, QG_GLSL);
    qg_plane_holes(arena, &holes, layout, QG_GLSL);
    qg_hole(&holes, "staged", staged_buffers(arena, layout));
    qg_hole(&holes, "write_made", write_made(arena, layout));
    const char *join = join_streams(arena, layout);
    qg_hole(&holes, "streams", join ? "yes" : NULL);
    qg_hole(&holes, "join_streams", join ? join : "");
    return expand_with_functions(arena, templates, qg_template_of(arena, kernel, "comp"), &holes, why);
}
