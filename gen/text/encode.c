/* Encoders: a function that makes a block of floats, from the equations of `encode`.
 *
 * The one idea: the languages differ in a few words alone, so one printer writes them all, statement by statement.
 * What looks at a group becomes a loop before the statement that it stands in; names of `per` 1 are written out in
 * each loop that wants them; and what is the same for a group, in a loop over groups, is kept in an array where others
 * need it. */
#include "text/encode_print.h"

#include <stdlib.h>
#include <string.h>

typedef qg_encoder_printer printer;
typedef qg_encoder_loop loop;

typedef qg_encoder_dialect dialect;

static const dialect dialects[] = {
    {QG_GLSL, "int", "uint", "float", "", "precise ", "uintBitsToFloat", "[[unroll]] "},
    {QG_MSL, "int", "uint", "float", "const ", "", "as_type<float>", ""},
    {QG_C, "int32_t", "uint32_t", "float", "const ", "", "qk_bits_to_f32", ""},
};

/* ---- equations ---- */

static void print_best(printer *p, uint32_t number);
static void print_sweep(printer *p, uint32_t number);

/* How many equations from here on look at the same, and need nothing of each other; of a sum that a team makes in
 * turns, one. */
static uint32_t together(const printer *p, uint32_t first, uint32_t end) {
    const qg_term *term = qg_encoder_items(p)[first].value;
    const bool shared = qg_encoder_is_shared(p, term->per);
    uint32_t count = 1;
    for (uint32_t i = first + 1; i < end && (!shared || count < qg_words_left(p->layout)); ++i, ++count) {
        const qg_equation *e = &qg_encoder_items(p)[i];
        if ((shared && (term->call == QG_CALL_SUM || e->value->call == QG_CALL_SUM)) || e->is_code || e->of_row ||
            e->candidates || e->per != qg_encoder_items(p)[first].per || !qg_encoder_is_group(e->value) ||
            qg_encoder_step(e->value, e->per) != qg_encoder_step(term, e->per) ||
            qg_encoder_depends(p, e->value, first, i))
            break;
    }
    return count;
}

/* Equations of one group. */
static void print_equations(printer *p, uint32_t first, uint32_t end) {
    for (uint32_t i = first; i < end;) {
        const qg_equation *e = &qg_encoder_items(p)[i];
        if (e->candidates) {
            (e->sweeps ? print_sweep : print_best)(p, i);
            i = e->end;
        } else if (e->per == 1 && e->next) {
            const loop before = qg_encoder_begin_group(p, p->unit ? p->unit : p->layout->elements);
            const char *value = qg_encoder_text(p, e->value);
            qg_encoder_line(p, qg_format(p->arena, "%s = %s;", qg_encoder_name(p, i++, false), value));
            qg_encoder_leave(p, &before);
        } else if (e->per == 1 || qg_encoder_is_late(p, i)) {
            ++i;
        } else if (e->is_code) {
            qg_encoder_store_code(p, i++);
        } else if (!e->of_row && qg_encoder_is_group(e->value)) {
            const qg_term *terms[QG_MOST_WRITTEN];
            const char *into[QG_MOST_WRITTEN];
            const uint32_t count = together(p, i, end);
            for (uint32_t k = 0; k < count; ++k, ++i) {
                terms[k] = qg_encoder_items(p)[i].value;
                into[k] = qg_encoder_name(p, i, false);
            }
            qg_encoder_print_group(p, terms, into, count);
        } else {
            const char *value = qg_encoder_text(p, e->value);
            qg_encoder_line(p, qg_format(p->arena, "%s %s = %s;",
                                         qg_encoder_declared(p, qg_encoder_is_float(e->value), !e->next),
                                         qg_encoder_name(p, i, false), value));
            ++i;
        }
    }
}

/* Whether the best candidate's value of a name is wanted: behind the search, or to compare with. */
static bool keeps(const printer *p, uint32_t equation, uint32_t best) {
    const qg_equation *e = qg_encoder_items(p);
    if (e[equation].per == 1) return false;
    for (uint32_t i = 0; i < p->encode->count; ++i)
        if (qg_encoder_compares(e[i].value, equation) ||
            (i != best && e[i].best != best + 1 && qg_encoder_names(p, e[i].value, equation)))
            return true;
    return false;
}

static void print_best(printer *p, uint32_t number) {
    const qg_equation *best = &qg_encoder_items(p)[number];
    const char *t = qg_encoder_fresh(p);
    for (uint32_t i = best->first; i < best->end; ++i)
        if (keeps(p, i, number))
            qg_encoder_line(p,
                            qg_format(p->arena, "%s %s = 0;",
                                      qg_encoder_declared(p, qg_encoder_is_float(qg_encoder_items(p)[i].value), false),
                                      qg_encoder_items(p)[i].name));
    qg_encoder_begin(p,
                     qg_format(p->arena, "for (%s %s = 0; %s < %u; ++%s) {", p->d->integer, t, t, best->candidates, t));
    p->counters[0] = t;
    p->best = number + 1;
    print_equations(p, best->first, best->end);
    const char *condition = qg_encoder_operand(p, best->value);
    qg_encoder_begin(p, qg_format(p->arena, "if (%s == 0 || %s) {", t, condition));
    for (uint32_t i = best->first; i < best->end; ++i)
        if (keeps(p, i, number))
            qg_encoder_line(
                p, qg_format(p->arena, "%s = qk_try_%s;", qg_encoder_items(p)[i].name, qg_encoder_items(p)[i].name));
    p->best = 0;
    qg_encoder_finish(p);
    qg_encoder_finish(p);
}

/* Goes over the elements of the group, one after the other; all states change together. */
static void print_sweep(printer *p, uint32_t number) {
    const qg_equation *sweep = &qg_encoder_items(p)[number];
    const char *t = qg_encoder_fresh(p), *next[QG_MOST_WRITTEN];
    print_equations(p, sweep->first, sweep->end);
    qg_encoder_begin(
        p, qg_format(p->arena, "for (%s %s = 0; %s < %u; ++%s) {", p->d->integer, t, t, sweep->candidates, t));
    p->counters[0] = t;
    const loop before = qg_encoder_begin_group(p, sweep->per);
    const char *condition = qg_encoder_operand(p, sweep->value);
    for (uint32_t i = sweep->first; i < sweep->end; ++i) {
        const qg_equation *e = &qg_encoder_items(p)[i];
        if (!e->next) continue;
        const char *value = qg_encoder_text(p, e->next);
        next[i] = qg_encoder_fresh(p);
        qg_encoder_line(p, qg_format(p->arena, "%s %s = %s;",
                                     qg_encoder_declared(p, qg_encoder_is_float(e->next), true), next[i], value));
    }
    qg_encoder_begin(p, qg_format(p->arena, "if (%s) {", condition));
    for (uint32_t i = sweep->first; i < sweep->end; ++i)
        if (qg_encoder_items(p)[i].next)
            qg_encoder_line(p, qg_format(p->arena, "%s = %s;", qg_encoder_name(p, i, false), next[i]));
    qg_encoder_finish(p);
    qg_encoder_leave(p, &before);
    qg_encoder_finish(p);
}

/* Equations from `first` on that are of the same groups. */
static uint32_t segment_end(const printer *p, uint32_t first) {
    uint32_t end = first;
    while (end < p->encode->count &&
           (qg_encoder_items(p)[end].per == qg_encoder_items(p)[first].per || qg_encoder_items(p)[end].per == 1))
        ++end;
    return end;
}

/* Whether a run of so many elements is loaded at once. In C, nothing is gained. */
static bool can_hold(const printer *p, uint32_t count) {
    return p->d->id != QG_C && count <= QG_UNROLLED && count % 4 == 0;
}

/* Where run `qk_j` of so many elements is, counted in them from the thread's first one on. */
static const char *runs_of(const printer *p, uint32_t of) {
    const uint32_t n = p->run / of;
    return n == 1 ? qg_format(p->arena, "uint(qk_j) * %uu", p->team)
                  : qg_format(p->arena, "uint(qk_j / %u * %u + qk_j %% %u)", n, n * p->team, n);
}

/* The same, eight at a time, of which halves take 16 bytes. */
static void hold_eights(printer *p, uint32_t count, const char *from) {
    const char *j = "uint(qk_j)";
    if (p->run < p->share) {
        from = "qk_first / 4u";
        j = runs_of(p, 8);
    }
    qg_encoder_begin(p, qg_format(p->arena, "[[unroll]] for (int qk_j = 0; qk_j < %u; ++qk_j) {", count / 8));
    qg_encoder_line(p, "vec4 qk_v, qk_w;");
    qg_encoder_line(p, p->spread ? "qk_eight(qk_spread(qk_from, qk_t, qk_n, 8u * uint(qk_j)) / 8u, qk_v, qk_w);"
                                 : qg_format(p->arena, "qk_eight((%s) / 2u + %s, qk_v, qk_w);", from, j));
    for (uint32_t i = 0; i < 8; ++i)
        qg_encoder_line(p, qg_format(p->arena, "qk_held[8 * qk_j + %u] = qk_%s[%u];", i, i < 4 ? "v" : "w", i % 4));
    qg_encoder_finish(p);
    p->held = true;
}

/* Loads x of `count` elements, four at a time; `from` counts in fours. */
static void load(printer *p, uint32_t count, const char *from) {
    const uint32_t run = p->spread ? qg_spread_run(p->spread) : p->run;
    if (p->d->id == QG_GLSL && !p->kept && run % 8 == 0 && count % 8 == 0 && p->layout->elements % 8 == 0) {
        hold_eights(p, count, from);
        return;
    }
    qg_encoder_begin(
        p, qg_format(p->arena, "%sfor (%s qk_j = 0; qk_j < %u; ++qk_j) {", p->d->unroll, p->d->integer, count / 4));
    qg_encoder_line(
        p, p->spread             ? "const vec4 qk_v = qk_four(qk_spread(qk_from, qk_t, qk_n, 4u * uint(qk_j)) / 4u);"
           : p->run < p->share   ? qg_format(p->arena, "const vec4 qk_v = qk_four(qk_first / 4u + %s);", runs_of(p, 4))
           : p->d->id == QG_GLSL ? qg_format(p->arena, "const vec4 qk_v = qk_four(%s + uint(qk_j));", from)
           : p->kept ? qg_format(p->arena, "const float4 qk_v = ((thread const float4 *)qk_x)[%s + uint(qk_j)];", from)
                     : qg_format(p->arena, "const float4 qk_v = qk_four(qk_x, %s + uint(qk_j));", from));
    for (uint32_t i = 0; i < 4; ++i)
        qg_encoder_line(p, qg_format(p->arena, "qk_held[4 * qk_j + %u] = qk_v[%u];", i, i));
    p->indent -= 1;
    qg_encoder_line(p, "}");
    p->held = true;
}

static void hold(printer *p, uint32_t count, const char *from) {
    qg_encoder_line(p, qg_format(p->arena, "%s qk_held[%u];", p->d->floating, count));
    load(p, count, from);
}

/* Where rows are looked at before blocks are made, a thread keeps the floats of its block meanwhile. */
bool qg_encoder_holds_rows(const printer *p) { return p->d->id == QG_GLSL && p->encode->rows && can_hold(p, p->share); }

void qg_encoder_print_hold(printer *p, const char *parameters, const char *of) {
    qg_encoder_line(p, qg_format(p->arena, "// Loads what a thread has of %s.", of));
    qg_encoder_begin(p, qg_format(p->arena, "void qk_hold(%s, out float qk_held[%u]) {", parameters, p->share));
    load(p, p->share, "qk_from / 4u");
    qg_encoder_finish(p);
    qg_encoder_line(p, "");
}

static void print_load(printer *p) {
    if (p->spread) qg_encoder_print_spread(p);
    qg_encoder_print_hold(p, p->spread ? "uint qk_from, uint qk_t, uint qk_n" : "uint qk_from", "the row");
}

static void print_segment(printer *p, uint32_t first, uint32_t end) {
    const uint32_t per = qg_encoder_items(p)[first].per, n = p->share / per;
    const bool grouped = per < p->layout->elements;
    loop before = {.at = NULL};
    for (uint32_t i = first; i < end; ++i)
        if (qg_encoder_items(p)[i].per == 1 && qg_encoder_items(p)[i].next)
            qg_encoder_line(p,
                            qg_format(p->arena, "%s qk_all_%s[%u];",
                                      qg_encoder_declared(p, qg_encoder_is_float(qg_encoder_items(p)[i].value), false),
                                      qg_encoder_items(p)[i].name, p->share));
    if (grouped) {
        for (uint32_t i = first; i < end; ++i)
            if (qg_encoder_items(p)[i].per != 1 && !qg_encoder_items(p)[i].candidates &&
                qg_encoder_is_kept(p, i, first, end))
                qg_encoder_line(
                    p, qg_format(p->arena, "%s qk_all_%s[%u];",
                                 qg_encoder_declared(p, qg_encoder_is_float(qg_encoder_items(p)[i].value), false),
                                 qg_encoder_items(p)[i].name, n));
        qg_encoder_begin(p, qg_format(p->arena, "%sfor (%s qk_g = 0; qk_g < %u; ++qk_g) {",
                                      p->whole ? p->d->unroll : "", p->d->integer, n));
        before = qg_encoder_enter(p, "qk_g", per);
    }
    bool looks = false;
    for (uint32_t i = first; i < end; ++i)
        looks |=
            qg_encoder_sees_x(p, qg_encoder_items(p)[i].value) || qg_encoder_sees_x(p, qg_encoder_items(p)[i].next);
    const bool holds = grouped && !p->held && looks && can_hold(p, per);
    if (holds)
        hold(p, per,
             p->d->id == QG_GLSL ? qg_format(p->arena, "(qk_from + uint(qk_g) * %uu) / 4u", per)
                                 : qg_format(p->arena, "uint(qk_g) * %uu", per / 4));
    p->first = first;
    p->end = end;
    print_equations(p, first, end);
    if (holds) p->held = false;
    if (grouped) {
        for (uint32_t i = first; i < end; ++i)
            if (qg_encoder_items(p)[i].per != 1 && !qg_encoder_items(p)[i].candidates &&
                qg_encoder_is_kept(p, i, first, end))
                qg_encoder_line(p, qg_format(p->arena, "qk_all_%s[qk_g] = %s;", qg_encoder_items(p)[i].name,
                                             qg_encoder_items(p)[i].name));
        qg_encoder_leave(p, &before);
    }
    p->first = p->end = 0;
}

/* Codes that each element has of its own, in one loop. */
static void print_codes(printer *p) {
    bool any = false;
    for (uint32_t i = 0; i < p->encode->count; ++i)
        any |= qg_encoder_items(p)[i].is_code && qg_encoder_items(p)[i].per == 1;
    if (!any) return;
    const uint32_t n = p->share;
    bool looks = false;
    for (uint32_t i = 0; i < p->encode->count; ++i)
        looks |= qg_encoder_items(p)[i].is_code && qg_encoder_items(p)[i].per == 1 &&
                 qg_encoder_sees_x(p, qg_encoder_items(p)[i].value);
    for (uint32_t i = 0; i < p->encode->count; ++i)
        if (qg_encoder_items(p)[i].is_code && qg_encoder_items(p)[i].per == 1)
            qg_encoder_begin_parts(p, &p->layout->codes[qg_encoder_items(p)[i].code]);
    for (uint32_t i = 0; i < p->encode->count; ++i)
        if (qg_encoder_guesses(p, i)) {
            const uint32_t words = (n + 31) / 32;
            const char *name = qg_encoder_items(p)[i].name;
            qg_encoder_line(p, qg_format(p->arena, "uint qk_open_%s[%u];", name, words));
            for (uint32_t w = 0; w < words; ++w)
                qg_encoder_line(p, qg_format(p->arena, "qk_open_%s[%u] = 0u;", name, w));
            if (qg_encoder_guesses_alike(p, i))
                qg_encoder_line(p, qg_format(p->arena, "bool qk_clear_%s = true;", name));
        }
    p->chosen = qg_encoder_choice_of_block(p);
    if (p->chosen)
        qg_encoder_begin(p, qg_format(p->arena, qg_encoder_is_zero(p->chosen->arg[1]) ? "if (!(%s)) {" : "if (%s) {",
                                      qg_encoder_text(p, p->chosen->arg[0])));
    const loop before = qg_encoder_begin_elements(p, NULL, n, 1, QG_UNROLLED, looks);
    for (uint32_t i = 0; i < p->encode->count; ++i)
        if (qg_encoder_items(p)[i].is_code && qg_encoder_items(p)[i].per == 1) qg_encoder_store_code(p, i);
    qg_encoder_leave(p, &before);
    for (uint32_t i = 0; i < p->encode->count; ++i)
        if (qg_encoder_items(p)[i].is_code && qg_encoder_items(p)[i].per == 1) {
            qg_encoder_finish_sums(p, i);
            if (qg_encoder_guesses(p, i) && qg_encoder_guesses_alike(p, i)) qg_encoder_drop_guesses(p, i);
        }
    if (p->chosen) qg_encoder_finish(p);
    p->chosen = NULL;
    for (uint32_t i = 0; i < p->encode->count; ++i)
        if (qg_encoder_items(p)[i].is_code && qg_encoder_items(p)[i].per == 1)
            qg_encoder_finish_parts(p, &p->layout->codes[qg_encoder_items(p)[i].code]);
}

static void add_table(printer *p, const qg_table *table) {
    const bool real = qg_scalars[table->type].kind == QG_FLOATING;
    const uint32_t count = table->rows * table->columns;
    const char *type = real ? p->d->floating : p->d->integer;
    qg_text text = qg_text_new(p->arena);
    qg_text_printf(&text, "%s %s qk_table_%s[%u] = %s",
                   p->d->id == QG_MSL ? "constant"
                   : p->d->id == QG_C ? "static const"
                                      : "const",
                   type, table->name, count, p->d->id == QG_GLSL ? qg_format(p->arena, "%s[%u](", type, count) : "{");
    for (uint32_t i = 0; i < count; ++i)
        qg_text_printf(&text, "%s%s", i ? ", " : "",
                       real ? qg_encoder_floating(p, (float)table->values[i])
                            : qg_format(p->arena, "%lld", (long long)table->values[i]));
    qg_text_puts(&text, p->d->id == QG_GLSL ? ");" : "};");
    qg_encoder_line(p, text.data);
}

static bool looks_up(const qg_term *term, uint32_t table) {
    if (!term) return false;
    if (term->op == QG_TABLE && term->ref == table) return true;
    return looks_up(term->arg[0], table) || looks_up(term->arg[1], table) || looks_up(term->arg[2], table);
}

static void add_tables(printer *p) {
    for (uint32_t t = 0; t < p->layout->n_tables; ++t)
        for (uint32_t i = 0; i < p->encode->count; ++i)
            if (looks_up(qg_encoder_items(p)[i].value, t) || looks_up(qg_encoder_items(p)[i].next, t)) {
                add_table(p, &p->layout->tables[t]);
                break;
            }
}

static const char *parameters(const printer *p) {
    qg_text text = qg_text_new(p->arena);
    if (p->encode->rows) return qg_encoder_row_parameters(p);
    if (p->team > 1) return "uint qk_from, uint qk_part";
    if (p->d->id == QG_GLSL) return p->kept ? "uint qk_block, uint qk_from" : "uint qk_part, uint qk_from";
    qg_text_puts(&text, p->d->id == QG_C ? "const float *qk_x"
                        : p->kept        ? "uint qk_block, thread const float *qk_x"
                                         : "uint qk_block, device const T *qk_x");
    for (uint32_t i = 0; i < p->layout->n_buffers; ++i) {
        const uint32_t unit = qg_encode_unit(&p->layout->buffers[i]);
        qg_text_printf(&text, ", %s *%s",
                       p->d->id == QG_C ? "uint8_t"
                                        : qg_format(p->arena, "device %s",
                                                    unit == 32   ? "uint"
                                                    : unit == 16 ? "ushort"
                                                                 : "uchar"),
                       p->layout->buffers[i].name);
    }
    return text.data;
}

static void begin_function(printer *p, const char *name) {
    const qg_target_id id = p->d->id;
    qg_encoder_line(p, id == QG_C      ? "/* Makes a block of floats. */"
                       : p->spread     ? "// Makes words of what a thread has of the row."
                       : id == QG_GLSL ? "// Makes a block of the floats from `qk_from` on."
                                       : "// Makes a block of floats.");
    qg_encoder_begin(p, qg_format(p->arena, "%svoid %s(%s) {",
                                  id == QG_C     ? "static "
                                  : id == QG_MSL ? p->kept ? "inline " : "template <typename T>\ninline "
                                                 : "",
                                  name, parameters(p)));
}

/* The floats of the block, or of a thread's part of it, where they are loaded at once. */
void qg_encoder_begin_values(printer *p) {
    if (p->whole && !qg_encoder_holds_rows(p)) hold(p, p->share, p->d->id == QG_GLSL ? "qk_from / 4u" : "0u");
}

void qg_encoder_print_all(printer *p) {
    for (uint32_t i = 0; i < p->encode->count;) {
        if (qg_encoder_items(p)[i].per == 1) {
            ++i;
            continue;
        }
        const uint32_t end = segment_end(p, i);
        print_segment(p, i, end);
        i = end;
    }
    print_codes(p);
}

/* The words of a buffer's part of the block, all 0, but those that are stored whole. Whether a team has to wait for
 * that. */
static bool begin_words(printer *p, uint32_t number) {
    const uint32_t n = (p->layout->buffers[number].bytes + 3) / 4;
    const char *name = p->layout->buffers[number].name, *unroll = n <= QG_UNROLLED ? p->d->unroll : "";
    if (qg_encoder_in_place(p, number)) {
        const bool alone = p->team == 1, whole = !alone && qg_stores_whole(p->layout, number);
        const char *slot = qg_format(p->arena, alone ? "" : " / %u", p->team);
        qg_encoder_line(p, qg_format(p->arena, "const int qk_own_%s = int(gl_LocalInvocationIndex)%s * %u;", name, slot,
                                     qg_staged_words(p->layout, number)));
        if (whole) return false;
        qg_encoder_line(p, qg_format(p->arena,
                                     "for (int qk_j = %s; qk_j < %u; qk_j += %u) qk_staged_%s[qk_own_%s + qk_j] = 0u;",
                                     alone ? "0" : "qk_t", n, p->team, name, name));
    } else if (p->d->id == QG_GLSL) {
        qg_encoder_line(p, qg_format(p->arena, "uint qk_words_%s[%u];", name, n));
        qg_encoder_line(
            p, qg_format(p->arena, "%sfor (int qk_j = 0; qk_j < %u; ++qk_j) qk_words_%s[qk_j] = 0u;", unroll, n, name));
    } else {
        qg_encoder_line(p, qg_format(p->arena, "%s qk_words_%s[%u] = {0};", p->d->word, name, n));
    }
    return true;
}

void qg_encoder_begin_words(printer *p, uint32_t buffer) { begin_words(p, buffer); }

/* Whether a term begins with what all of a team look at. */
static bool begins_together(const qg_term *term) {
    if (!term || term->op == QG_SELECT) return false;
    if (qg_encoder_is_group(term)) return qg_encoder_step(term, term->per) < term->per;
    return begins_together(term->arg[0]);
}

/* Whether a team waits for each other in any case before bits are stored. */
static bool waits(const printer *p) {
    const qg_equation *first = &qg_encoder_items(p)[0];
    return first->per == p->layout->elements && !first->candidates && begins_together(first->value);
}

static bool has_digits(const qg_layout *layout) {
    for (uint32_t c = 0; c < layout->n_codes; ++c)
        for (uint32_t s = 0; s < layout->codes[c].n_slices; ++s)
            if (layout->codes[c].slices[s].radix) return true;
    return false;
}

static printer printer_of(qg_arena *arena, const qg_layout *layout, qg_target_id id) {
    printer p = {.arena = arena, .text = qg_text_new(arena), .layout = layout, .encode = layout->encode};
    for (size_t i = 0; i < sizeof dialects / sizeof *dialects; ++i)
        if (dialects[i].id == id) p.d = &dialects[i];
    p.target = qg_targets[id];
    p.team = p.parts = 1;
    if (layout->view == QG_VIEW_GROUPS) {
        p.planes = layout;
        p.layout = qg_encoder_group_layout(arena, layout);
    }
    p.run = p.share = p.layout->elements;
    if (layout->encode->rows) qg_encoder_find_rows(&p);
    if (id != QG_GLSL || !qg_encoder_holds_rows(&p)) return p;
    p.spread = qg_spread_slice(layout);
    if (!p.spread) return p;
    p.parts = qg_spread_parts(layout);
    p.layout = qg_spread_layout(arena, layout);
    p.encode = p.layout->encode;
    p.run = p.share = p.layout->elements;
    return p;
}

static void mend_guesses(printer *p) {
    for (uint32_t i = 0; i < p->encode->count; ++i)
        if (qg_encoder_guesses(p, i)) qg_encoder_mend(p, i);
}

/* `name`: of a function of floats that the thread has; NULL: of floats in memory. MSL has tables outside of functions
 * alone, which stand in a namespace of their own then. */
static char *print_encoder(qg_arena *arena, const qg_layout *layout, qg_target_id id, const char *name, bool streams) {
    printer p = printer_of(arena, layout, id);
    p.kept = name != NULL;
    p.streams = streams;
    p.team = id == QG_GLSL && !name ? qg_encode_team(layout) : 1;
    if (p.planes && p.team > 1) p.layout = qg_encoder_team_layout(arena, layout);
    p.share = p.layout->elements / p.team;
    p.run = p.team > 1 ? qg_encode_run(layout) : p.share;
    const bool within = name && id == QG_C;
    if (!within) add_tables(&p);
    if (p.planes) {
        p.whole = can_hold(&p, p.share);
        qg_encoder_print_planes(&p);
        return p.text.data;
    }
    if (qg_encoder_holds_rows(&p)) print_load(&p);
    if (layout->encode->rows) qg_encoder_print_look(&p);
    begin_function(&p, name ? name : "qk_encode");
    if (within) add_tables(&p);
    if (p.team > 1)
        qg_encoder_line(&p, qg_format(arena, "const int qk_t = int(gl_LocalInvocationIndex) %% %u;", p.team));
    if (p.run < p.share)
        qg_encoder_line(&p, qg_format(arena, "const uint qk_first = qk_from - uint(qk_t) * %uu;", p.share - p.run));
    const bool alone = id == QG_GLSL && !name && p.team == 1 && !layout->encode->rows;
    p.whole = can_hold(&p, p.share);
    if (p.team > 1 || alone) qg_encoder_begin_values(&p);
    if (p.team > 1) qg_encoder_line(&p, "qk_place(qk_part);");
    if (alone) qg_encoder_line(&p, "const uint qk_block = qk_place(qk_part);");
    if (alone) qg_encoder_line(&p, "if (qk_block == QK_NONE) return;");
    bool zeros = false;
    for (uint32_t i = 0; i < layout->n_buffers; ++i) zeros |= begin_words(&p, i);
    if (p.team > 1 && zeros && !waits(&p)) qg_encoder_line(&p, "barrier();");
    if (p.team == 1 && !alone) qg_encoder_begin_values(&p);
    qg_encoder_print_all(&p);
    if (p.team > 1 && has_digits(layout)) qg_encoder_line(&p, "barrier();");
    for (uint32_t c = 0; c < layout->n_codes; ++c) qg_encoder_gather_digits(&p, &layout->codes[c]);
    for (uint32_t c = 0; c < layout->n_codes; ++c)
        for (uint32_t s = 0; s < layout->codes[c].n_slices; ++s)
            if (layout->codes[c].slices[s].radix && !qg_encoder_gathers(&p, &layout->codes[c]))
                qg_encoder_finish_digits(&p, &layout->codes[c].slices[s]);
    if (layout->encode->rows) mend_guesses(&p);
    for (uint32_t i = 0; i < layout->n_buffers; ++i) qg_encoder_store_buffer(&p, i);
    if (!layout->encode->rows) mend_guesses(&p);
    if (p.team > 1 && !strstr(p.text.data, "barrier();"))
        qg_encoder_line(&p, "barrier();"); /* for what qk_place leaves */
    qg_encoder_finish(&p);
    return p.text.data;
}

char *qg_encoder(qg_arena *arena, const qg_layout *layout, qg_target_id target) {
    return print_encoder(arena, layout, target, NULL, true);
}

char *qg_encoder_of_thread(qg_arena *arena, const qg_layout *layout, qg_target_id target, const char *name,
                           bool streams) {
    return print_encoder(arena, layout, target, name, streams);
}

void qg_row_holes(qg_arena *arena, qg_holes *holes, const qg_layout *layout, qg_target_id target) {
    printer begin = printer_of(arena, layout, target), join = begin;
    join.text = qg_text_new(arena);
    for (uint32_t k = 0; k < begin.n_row; ++k) {
        const char *into = qg_format(arena, "qk_of_row[%u]", k), *v = qg_format(arena, "v%u", k);
        qg_encoder_line(&begin, qg_format(arena, "%s = %s;", into, qg_encoder_begin_of(&begin, begin.row[k])));
        qg_encoder_line(&join, qg_format(arena, "const float %s = qk_found[next * %uu + %uu];", v, begin.n_row, k));
        qg_encoder_compare(&join, join.row[k], v, into);
    }
    if (begin.n_row) begin.text.data[begin.text.length - 1] = join.text.data[join.text.length - 1] = 0;
    qg_hole(holes, "row_values", begin.n_row ? qg_format(arena, "%u", begin.n_row) : NULL);
    qg_hole(holes, "row_begin", begin.n_row ? begin.text.data : "");
    qg_hole(holes, "row_join", begin.n_row ? join.text.data : "");
    qg_hole(holes, "of_row", begin.n_row ? ", qk_of_row" : "");
    qg_hole(holes, "holds", qg_encoder_holds_rows(&begin) ? "yes" : NULL);
    qg_hole(holes, "spread", begin.spread ? "yes" : NULL);
    qg_hole(holes, "row_parts", begin.parts > 1 ? qg_format(arena, "row_blocks * %uu", begin.parts) : "row_blocks");
    qg_hole(holes, "row_share", qg_format(arena, "%u", begin.share));
}
