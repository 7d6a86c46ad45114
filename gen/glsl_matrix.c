/* GLSL of sums over rows on matrix units: what templates/gemv_matrix.comp leaves open. */
#include "matrix.h"

#include <string.h>

/* Loads are calls: of the copy of a buffer, which may begin within a word, and of stored tables. */
static qg_target staged_target(void) {
    qg_target target = qg_targets[QG_GLSL];
    target.wide_load = "$b_word($i)";
    return target;
}

static uint32_t common_divisor(uint32_t a, uint32_t b) { return b ? common_divisor(b, a % b) : a; }

static uint32_t unit_bits(uint32_t bytes) { return bytes % 4 == 0 ? 32 : bytes % 2 == 0 ? 16 : 8; }

static const char *unit_type(uint32_t bits) { return bits == 8 ? "uint8_t" : bits == 16 ? "uint16_t" : "uint"; }

static uint32_t chunk_bytes(const qg_matrix *m, uint32_t buffer) {
    return m->steps * m->blocks * m->plan->layout->buffers[buffer].bytes;
}

/* Blocks with a capital, for interface blocks. */
static const char *capital(qg_arena *arena, const char *name) {
    const bool lower = *name >= 'a' && *name <= 'z';
    return qg_format(arena, "%c%s", lower ? *name - 'a' + 'A' : *name, name + 1);
}

/* Every buffer twice: in sixteen bytes, and, for what is left at its end, in the units that its blocks are made of. */
char *qg_matrix_buffers(qg_arena *arena, const qg_matrix *m) {
    const qg_layout *layout = m->plan->layout;
    qg_text text = qg_text_new(arena);
    for (uint32_t i = 0; i < layout->n_buffers; ++i) {
        const qg_buffer *b = &layout->buffers[i];
        const char *name = capital(arena, b->name);
        qg_text_printf(&text, "layout(binding = %u, std430) readonly buffer %sBuffer { uvec4 %s[]; };\n", i, name,
                       b->name);
        qg_text_printf(&text, "layout(binding = %u, std430) readonly buffer %sEnd { %s %s_end[]; };\n", i, name,
                       unit_type(unit_bits(b->bytes)), b->name);
    }
    return text.data;
}

uint32_t qg_matrix_chunk_shared(const qg_matrix *m) {
    const uint32_t sums = m->n_sums ? m->n_sums : 1;
    return m->steps * (m->n_x / 2 * 32 * 8 + sums * 32 + 32) + 32; /* x_words, x_sums, x_most; x_scale */
}

bool qg_matrix_has_unit(const qg_matrix *m, uint32_t bits) {
    for (uint32_t i = 0; i < m->plan->layout->n_buffers; ++i)
        if (unit_bits(m->plan->layout->buffers[i].bytes) == bits) return true;
    return false;
}

/* Units of 16 bytes that hold a chunk of a row wherever it begins; rows stay clear of each other's banks. */
char *qg_matrix_constants(qg_arena *arena, const qg_matrix *m) {
    const qg_layout *layout = m->plan->layout;
    qg_text text = qg_text_new(arena);
    const char *before = "0u";
    for (uint32_t i = 0; i < layout->n_buffers; ++i) {
        const char *name = layout->buffers[i].name;
        const uint32_t bytes = chunk_bytes(m, i), step = common_divisor(bytes, 16);
        const uint32_t any = common_divisor(layout->buffers[i].bytes, 16);
        qg_text_printf(&text, "const uint %s_UNITS = ALIGNED == 1u ? %uu : %uu;  // 16 bytes each, of a chunk of %u\n",
                       name, (bytes + 16 - step + 15) / 16, (bytes + 16 - any + 15) / 16, bytes);
        qg_text_printf(&text, "const uint %s_STRIDE = 4u * (%s_UNITS | 1u), %s_FIRST = %s;\n", name, name, name,
                       before);
        qg_text_printf(&text, "const uint %s_LOADS = (ROWS * %s_UNITS + SUBGROUP - 1u) / SUBGROUP;\n", name, name);
        before = qg_format(arena, "%s_FIRST + ROWS * %s_STRIDE", name, name);
    }
    qg_text_printf(&text, "const uint STAGE_WORDS = %s;", before);
    return text.data;
}

static void add_fetch(qg_text *text, const qg_matrix *m, uint32_t i) {
    const qg_buffer *b = &m->plan->layout->buffers[i];
    const char *n = b->name;
    const uint32_t bits = unit_bits(b->bytes), in_word = 32 / bits;
    qg_text_printf(text, "uvec4 %s_next[%s_LOADS];\n\n", n, n);
    qg_text_printf(text,
                   "// Sixteen bytes, of which the buffer may not have all.\n"
                   "uvec4 %s_unit(uint at) {\n"
                   "    if (ALIGNED == 1u) return %s[min(at, uint(%s.length()) - 1u)];\n"
                   "    if (at < uint(%s.length())) return %s[at];\n"
                   "    uvec4 bytes = uvec4(0u);\n"
                   "    for (uint e = 0u; e < %uu; ++e) {\n"
                   "        const uint from = at * %uu + e;\n",
                   n, n, n, n, n, 4 * in_word, 4 * in_word);
    qg_text_printf(text,
                   "        if (at <= uint(%s.length()) && from < uint(%s_end.length())) bytes[e / %uu] |= "
                   "uint(%s_end[from]) << (e %% %uu * %uu);\n",
                   n, n, in_word, n, in_word, bits);
    qg_text_puts(text, "    }\n    return bytes;\n}\n\n");
    qg_text_printf(text,
                   "uint %s_from[%s_LOADS], %s_to[%s_LOADS];\n\n"
                   "// Where a thread's units lie in the rows of a tile, and in the copy; a thread that has none "
                   "copies another's.\n"
                   "void %s_places() {\n"
                   "    [[unroll]] for (uint i = 0u; i < %s_LOADS; ++i) {\n"
                   "        const uint at = min(i * SUBGROUP + lane(), ROWS * %s_UNITS - 1u), r = at / %s_UNITS;\n"
                   "        const uint u = at %% %s_UNITS;\n"
                   "        %s_from[i] = ALIGNED == 1u ? r * (row_blocks * %uu / 16u) + u : r << 16 | u;\n"
                   "        %s_to[i] = subgroup() * STAGE_WORDS + %s_FIRST + r * %s_STRIDE + u * 4u;\n"
                   "    }\n}\n\n",
                   n, n, n, n, n, n, n, n, n, n, b->bytes, n, n, n);
    qg_text_printf(
        text,
        "void %s_fetch(uint first, uint chunk) {\n"
        "    const uint row_bytes = row_blocks * %uu, start = first * row_bytes + chunk * %uu;\n"
        "    [[unroll]] for (uint i = 0u; i < %s_LOADS; ++i) {\n"
        "        if (ALIGNED == 1u)\n"
        "            %s_next[i] = %s_unit(start / 16u + %s_from[i]);\n"
        "        else\n"
        "            %s_next[i] = %s_unit((start + (%s_from[i] >> 16) * row_bytes) / 16u + (%s_from[i] & 0xFFFFu));\n"
        "    }\n}\n\n",
        n, b->bytes, chunk_bytes(m, i), n, n, n, n, n, n, n, n);
    qg_text_printf(text,
                   "void %s_keep() {\n"
                   "    [[unroll]] for (uint i = 0u; i < %s_LOADS; ++i) {\n"
                   "        [[unroll]] for (uint e = 0u; e < 4u; ++e) stage[%s_to[i] + e] = %s_next[i][e];\n"
                   "    }\n}\n\n",
                   n, n, n, n);
    qg_text_printf(text, "uint %s_shift;  // where the row's copy begins in its first word, in bits\n\n", n);
    qg_text_printf(text,
                   "// The word in the copy at which the chunk of a row begins.\n"
                   "uint %s_start(uint first, uint chunk, uint r) {\n"
                   "    const uint from = (ALIGNED == 1u ? 0u : (first + r) * (row_blocks * %uu)) + chunk * %uu;\n"
                   "    %s_shift = from %% 4u * 8u;\n"
                   "    return subgroup() * STAGE_WORDS + %s_FIRST + r * %s_STRIDE + from %% 16u / 4u;\n}\n\n",
                   n, b->bytes, chunk_bytes(m, i), n, n, n);
    /* in aligned rows the compiler sees that the shift is 0, where it is */
    if (bits == 32)
        qg_text_printf(text, "uint %s_word(uint at) {\n    return stage[at];\n}\n\n", n);
    else if (chunk_bytes(m, i) % 4 == 0)
        qg_text_printf(text,
                       "uint %s_word(uint at) {\n"
                       "    if (ALIGNED == 1u) return stage[at];\n"
                       "    return stage[at] >> %s_shift | stage[at + 1u] << 1 << (31u - %s_shift);\n}\n\n",
                       n, n, n);
    else if (bits == 16)
        qg_text_printf(text,
                       "uint %s_word(uint at) {\n"
                       "    return %s_shift != 0u ? stage[at] >> 16 | stage[at + 1u] << 16 : stage[at];\n}\n\n",
                       n, n);
    else
        qg_text_printf(text,
                       "uint %s_word(uint at) {\n"
                       "    return stage[at] >> %s_shift | stage[at + 1u] << 1 << (31u - %s_shift);\n}\n\n",
                       n, n, n);
}

/* A buffer's words begin at the start of a step, so that a step's start within a word shifts them all. */
char *qg_matrix_staging(qg_arena *arena, const qg_matrix *m) {
    const qg_layout *layout = m->plan->layout;
    qg_text text = qg_text_new(arena);
    for (uint32_t i = 0; i < layout->n_buffers; ++i) add_fetch(&text, m, i);
    for (uint32_t i = 0; i < layout->n_tables; ++i)
        if (m->plan->stored[i] && layout->tables[i].columns > 1)
            qg_text_printf(&text, "uint %s_word(uint at) {\n    return %s[at];\n}\n\n", layout->tables[i].name,
                           layout->tables[i].name);
    qg_text_puts(&text, "void find_places() {\n");
    for (uint32_t i = 0; i < layout->n_buffers; ++i)
        qg_text_printf(&text, "    %s_places();\n", layout->buffers[i].name);
    qg_text_puts(&text, "}\n\nvoid fetch(uint first, uint chunk) {\n");
    for (uint32_t i = 0; i < layout->n_buffers; ++i)
        qg_text_printf(&text, "    %s_fetch(first, chunk);\n", layout->buffers[i].name);
    qg_text_puts(&text, "}\n\nvoid keep() {\n");
    for (uint32_t i = 0; i < layout->n_buffers; ++i) qg_text_printf(&text, "    %s_keep();\n", layout->buffers[i].name);
    qg_text_puts(&text, "}\n");
    return text.data;
}

/* `uint blocks_at, ` and so on, or the arguments of a call. */
static const char *starts(qg_arena *arena, const qg_layout *layout, const char *before, const char *after) {
    qg_text text = qg_text_new(arena);
    for (uint32_t i = 0; i < layout->n_buffers; ++i)
        qg_text_printf(&text, "%s%s%s, ", before, layout->buffers[i].name, after);
    return text.data;
}

static void add_statements(qg_text *text, const qg_ir *ir, const qg_target *target) {
    for (uint32_t i = 0; i < ir->n_statements; ++i) qg_print_statement(text, ir, target, ir->statements[i], "    ");
}

static void add_operands(qg_text *text, const qg_matrix *m, const qg_target *target) {
    qg_arena *arena = text->arena;
    qg_text_printf(text,
                   "// The words of a row that the thread brings into the products of a step.\n"
                   "void operands(%sout uvec2 a[%u]) {\n",
                   starts(arena, m->plan->layout, "uint ", "_at"), m->n_products);
    add_statements(text, m->operands, target);
    for (uint32_t i = 0; i < m->n_products; ++i) {
        qg_text_printf(text, "    a[%u] = uvec2(", i);
        qg_print_expression(text, m->operands, target, m->operands->outputs[2 * i].node);
        qg_text_puts(text, ", ");
        qg_print_expression(text, m->operands, target, m->operands->outputs[2 * i + 1].node);
        qg_text_puts(text, ");\n");
    }
    qg_text_puts(text, "}\n\n");
}

static void add_values(qg_text *text, const qg_matrix *m, const qg_target *target) {
    qg_arena *arena = text->arena;
    qg_text_printf(text,
                   "// The sums of a row's blocks, from the accumulators and the sums of x.\n"
                   "void values(%svec2 c[%u], vec2 xs[%u], out vec2 v[%u]) {\n",
                   starts(arena, m->plan->layout, "uint ", "_at"), m->n_groups, m->n_sums ? m->n_sums : 1, m->blocks);
    add_statements(text, m->values, target);
    for (uint32_t i = 0; i < m->blocks; ++i) {
        qg_text_printf(text, "    v[%u] = ", i);
        qg_print_expression(text, m->values, target, m->values->outputs[i].node);
        qg_text_puts(text, ";\n");
    }
    qg_text_puts(text, "}\n\n");
}

static void add_chunk(qg_text *text, const qg_matrix *m) {
    const qg_layout *layout = m->plan->layout;
    qg_arena *arena = text->arena;
    qg_text_puts(text, "// The sums over a chunk of rows g and g + 8, for two right-hand sides each.\n"
                       "vec4 multiply_chunk(uint first, uint chunk, uint k) {\n");
    for (uint32_t h = 0; h < 2; ++h)
        for (uint32_t i = 0; i < layout->n_buffers; ++i) {
            const char *n = layout->buffers[i].name;
            qg_text_printf(text, "    const uint %s_%s = %s_start(first, chunk, g%s), %s_%s_shift = %s_shift;\n", n,
                           h ? "high" : "low", n, h ? " + 8u" : "", n, h ? "high" : "low", n);
        }
    qg_text_puts(text, "    vec4 sum = vec4(0.0);\n"
                       "    [[dont_unroll]] for (uint s = 0u; s < STEPS; ++s) {\n");
    qg_text_printf(text,
                   "        const uint block = (chunk * STEPS + s) * BLOCKS, at = k * STEPS + s;\n"
                   "        if (WHOLE != 1u && block >= row_blocks) break;\n"
                   "        uvec2 low[%u], high[%u];\n        vec4 c[%u];\n",
                   m->n_products, m->n_products, m->n_groups);
    qg_text_printf(text, "        vec2 xs[%u], c_low[%u], c_high[%u], v[BLOCKS];\n", m->n_sums ? m->n_sums : 1,
                   m->n_groups, m->n_groups);
    for (uint32_t i = 0; i < m->n_sums; ++i)
        qg_text_printf(text, "        xs[%u] = x_sums[at * %uu + %uu][t];\n", i, m->n_sums, i);
    const char *const sides[] = {"low", "high"};
    for (uint32_t h = 0; h < 2; ++h) {
        for (uint32_t i = 0; i < layout->n_buffers; ++i)
            qg_text_printf(text, "        %s_shift = %s_%s_shift;\n", layout->buffers[i].name, layout->buffers[i].name,
                           sides[h]);
        qg_text_puts(text, "        operands(");
        for (uint32_t i = 0; i < layout->n_buffers; ++i)
            qg_text_printf(text, "%s_%s + s * %uu, ", layout->buffers[i].name, sides[h],
                           m->blocks * layout->buffers[i].bytes / 4);
        qg_text_printf(text, "%s);\n", sides[h]);
    }
    uint32_t group = UINT32_MAX;
    for (uint32_t i = 0; i < m->n_products; ++i) {
        const qg_matrix_product *p = &m->products[i];
        const char *from = qg_format(arena, "c[%u]", p->group);
        if (p->group != group)
            from = m->start[p->group]
                       ? qg_format(arena, "vec4(xs[%u], xs[%u])", m->start[p->group] - 1, m->start[p->group] - 1)
                       : "vec4(0.0)";
        group = p->group;
        qg_text_printf(
            text,
            "        c[%u] = multiply(low[%u], high[%u], x_words[(at * %uu + %uu) * SUBGROUP + 4u * g + t], %s);\n",
            p->group, i, i, m->n_x / 2, p->x / 2, from);
    }
    for (uint32_t h = 0; h < 2; ++h) {
        for (uint32_t i = 0; i < layout->n_buffers; ++i)
            qg_text_printf(text, "        %s_shift = %s_%s_shift;\n", layout->buffers[i].name, layout->buffers[i].name,
                           sides[h]);
        qg_text_printf(text, "        [[unroll]] for (uint i = 0u; i < %uu; ++i) c_%s[i] = c[i].%s;\n", m->n_groups,
                       sides[h], h ? "zw" : "xy");
        qg_text_puts(text, "        values(");
        for (uint32_t i = 0; i < layout->n_buffers; ++i)
            qg_text_printf(text, "%s_%s + s * %uu, ", layout->buffers[i].name, sides[h],
                           m->blocks * layout->buffers[i].bytes / 4);
        qg_text_printf(text, "c_%s, xs, v);\n", sides[h]);
        qg_text_printf(text,
                       "        [[unroll]] for (uint i = 0u; i < BLOCKS; ++i) {\n"
                       "            if (WHOLE == 1u || block + i < row_blocks) sum.%s += v[i];\n        }\n",
                       h ? "zw" : "xy");
    }
    qg_text_puts(text, "    }\n    return sum;\n}\n\n");
}

static const char *lane_of(qg_arena *arena, const qg_matrix_x *x, uint32_t half) {
    if (x->factor[half] == 0) return "0.0";
    const char *value = qg_format(arena, "x[%u].%c", x->run[half], "xyzw"[x->lane[half]]);
    if (x->factor[half] == 1) return value;
    qg_text text = qg_text_new(arena);
    qg_text_printf(&text, "%s * ", value);
    qg_print_float(&text, &qg_targets[QG_GLSL], x->factor[half]);
    return text.data;
}

/* x of a chunk, as halves: so scaled, by a power of two, that the greatest of a right-hand side is large among halves. */
static void add_load_x(qg_text *text, const qg_matrix *m, const char *load) {
    qg_arena *arena = text->arena;
    const qg_target *target = &qg_targets[QG_GLSL];
    const uint32_t lanes = m->plan->lanes, elements = m->plan->layout->elements;
    const char *vec = target->types[QG_K_FLOAT][lanes];
    const uint32_t in_block = m->n_runs / m->blocks;
    qg_text_printf(text,
                   "// What a step of a row meets of x.\n"
                   "void load_step(uint block, out %s x[RUNS]) {\n"
                   "    const uint step = min(g, batch - 1u) * (row_blocks * %uu) + block * %uu;\n",
                   vec, elements / lanes, elements / lanes);
    for (uint32_t r = 0; r < m->n_runs; ++r) {
        qg_text place = qg_text_new(arena);
        qg_text_puts(&place, "step + ");
        qg_print_expression(&place, m->places, target, m->places->outputs[r].node);
        qg_text_printf(text, "    x[%u] = %s(0.0);\n", r, vec);
        qg_text_printf(text, "    if (g < batch && (WHOLE == 1u || block + %uu < row_blocks)) x[%u] = ", r / in_block,
                       r);
        qg_print_filled(text, load, 'i', place.data);
        qg_text_puts(text, ";\n");
    }
    qg_text_printf(text,
                   "}\n\n"
                   "// The greatest of x that a step meets, for every right-hand side.\n"
                   "void measure_x(uint block, uint at) {\n"
                   "    %s x[RUNS];\n"
                   "    float most = 0.0;\n"
                   "    load_step(block, x);\n"
                   "    [[unroll]] for (uint i = 0u; i < RUNS; ++i) {\n"
                   "        [[unroll]] for (uint e = 0u; e < %uu; ++e) most = max(most, abs(x[i][e]));\n"
                   "    }\n"
                   "    most = max_of_four(most);\n"
                   "    if (t == 0u) x_most[at][g] = most;\n"
                   "}\n\n"
                   "// Keeps x of a step as halves: scaled by a power of two, so that the greatest one that the chunk "
                   "meets is large\n"
                   "// among halves.\n"
                   "void keep_x(uint block, uint at) {\n"
                   "    %s x[RUNS];\n"
                   "    const uint k = at / STEPS;\n"
                   "    float most = 0.0;\n"
                   "    for (uint s = 0u; s < STEPS; ++s) most = max(most, x_most[k * STEPS + s][g]);\n"
                   "    const uint exponent = clamp(floatBitsToUint(most) >> 23, 15u, 239u);\n"
                   "    const float scale = uintBitsToFloat((254u + 13u - exponent) << 23);\n"
                   "    if (t == 0u) x_scale[k][g / 2u][g %% 2u] = uintBitsToFloat((exponent - 13u) << 23);\n"
                   "    load_step(block, x);\n"
                   "    [[unroll]] for (uint i = 0u; i < RUNS; ++i) {\n",
                   vec, lanes, vec);
    if (lanes == 4)
        qg_text_puts(text, "        x[i].xy = unpackHalf2x16(packHalf2x16(x[i].xy * scale));\n"
                           "        x[i].zw = unpackHalf2x16(packHalf2x16(x[i].zw * scale));\n");
    else
        qg_text_puts(text, "        x[i] = unpackHalf2x16(packHalf2x16(x[i] * scale));\n");
    qg_text_puts(text, "    }\n");
    for (uint32_t i = 0; i < m->n_x; i += 2)
        qg_text_printf(text,
                       "    x_words[(at * %uu + %uu) * SUBGROUP + 4u * g + t] = uvec2(\n"
                       "        packHalf2x16(vec2(%s, %s)), packHalf2x16(vec2(%s, %s)));\n",
                       m->n_x / 2, i / 2, lane_of(arena, &m->x[i], 0), lane_of(arena, &m->x[i], 1),
                       lane_of(arena, &m->x[i + 1], 0), lane_of(arena, &m->x[i + 1], 1));
    if (m->n_sums) qg_text_puts(text, "    float sum;\n");
    for (uint32_t i = 0; i < m->n_sums; ++i) {
        qg_text_printf(text, "    sum = dot(");
        bool first = true;
        for (uint32_t r = 0; r < m->n_runs; ++r) {
            if (!(m->sums[i].runs >> r & 1)) continue;
            qg_text_printf(text, "%sx[%u]", first ? "" : " + ", r);
            first = false;
        }
        qg_text_printf(text, ", %s(1.0));\n    sum = sum_of_four(sum) * ", vec);
        qg_print_float(text, target, m->sums[i].coefficient);
        qg_text_printf(text, ";\n    if (t == 0u) x_sums[at * %uu + %uu][g / 2u][g %% 2u] = sum;\n", m->n_sums, i);
    }
    qg_text_puts(text, "}\n");
}

char *qg_matrix_functions(qg_arena *arena, const qg_matrix *m, const char *load) {
    const qg_target target = staged_target();
    qg_text text = qg_text_new(arena);
    add_operands(&text, m, &target);
    add_values(&text, m, &target);
    add_chunk(&text, m);
    add_load_x(&text, m, load);
    return text.data;
}
