/* The words of findings. */
#include "judge/trial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct run {
    uint32_t first, last, step, count;
} run;

/* The longest run of equal steps from element `at` on. */
static run run_from(const bool *set, uint32_t count, uint32_t at) {
    run r = {at, at, 1, 1};
    uint32_t next = at + 1;
    while (next < count && !set[next]) ++next;
    if (next == count) return r;
    r.step = next - at;
    while (next < count && set[next]) {
        bool between = false;
        for (uint32_t k = r.last + 1; k < next; ++k) between |= set[k];
        if (between) break;
        r.last = next;
        r.count += 1;
        next += r.step;
    }
    return r;
}

const char *qg_say_elements(qg_arena *arena, const bool *set, uint32_t count) {
    qg_text text = qg_text_new(arena);
    uint32_t members = 0, runs = 0, first = count, last = 0;
    for (uint32_t i = 0; i < count; ++i) {
        if (!set[i]) continue;
        if (members++ == 0) first = i;
        last = i;
    }
    if (members == 0) return "none";
    for (uint32_t i = first; i <= last && first < count;) {
        if (!set[i]) {
            ++i;
            continue;
        }
        run r = run_from(set, count, i);
        if (r.step > 1 && r.count < 4) r.last = i, r.count = 1;
        if (++runs > 4) return qg_format(arena, "%u elements between %u and %u", members, first, last);
        qg_text_printf(&text, "%s%u", runs > 1 ? ", " : "", r.first);
        if (r.count == 2) qg_text_printf(&text, ", %u", r.last);
        if (r.count > 2) qg_text_printf(&text, "..%u", r.last);
        if (r.count > 2 && r.step > 1) qg_text_printf(&text, " in steps of %u", r.step);
        i = r.last + 1;
    }
    return text.data;
}

const char *qg_say_which(qg_arena *arena, const bool *set, uint32_t count) {
    const char *which = qg_say_elements(arena, set, count);
    uint32_t members = 0;
    for (uint32_t i = 0; i < count; ++i) members += set[i];
    if (members == 0) return "no element";
    return strstr(which, "elements") ? which : qg_format(arena, "element%s %s", members == 1 ? "" : "s", which);
}

const char *qg_say_code(qg_arena *arena, const qg_layout *layout, uint32_t code, uint32_t instance) {
    const qg_code *c = &layout->codes[code];
    return c->count == 1 ? c->name : qg_format(arena, "%s[%u]", c->name, instance);
}

/* "bit 4", "bits 4..7". */
static const char *bits_of(qg_arena *arena, uint32_t first, uint32_t count) {
    return count == 1 ? qg_format(arena, "bit %u", first) : qg_format(arena, "bits %u..%u", first, first + count - 1);
}

static const char *in_field(qg_arena *arena, const qg_layout *layout, uint32_t buffer, uint32_t bit, uint32_t bits) {
    for (uint32_t i = 0; i < layout->n_fields; ++i) {
        const qg_field *f = &layout->fields[i];
        const uint32_t width = qg_scalars[f->type].bits, begin = f->offset * 8;
        if (f->buffer != buffer || bit < begin || bit >= begin + width * f->count) continue;
        const uint32_t item = (bit - begin) / width, low = (bit - begin) % width;
        const char *name = f->is_array ? qg_format(arena, "%s[%u]", f->name, item) : f->name;
        if (low == 0 && bits == width) return name;
        if (low + bits <= width) return qg_format(arena, "%s of %s", bits_of(arena, low, bits), name);
        return qg_format(arena, "%s from %s on", bits_of(arena, low, bits), name);
    }
    return bits_of(arena, bit, bits);
}

const char *qg_say_bits(qg_arena *arena, const qg_layout *layout, uint32_t buffer, uint32_t bit, uint32_t bits) {
    const qg_owner owner = qg_bit_map(arena, layout, buffer)[bit];
    const char *place = in_field(arena, layout, buffer, bit, bits);
    if (owner.kind != QG_OWNER_CODE) return qg_format(arena, "%s (of no code)", place);
    const qg_code *c = &layout->codes[owner.code];
    const char *name = qg_say_code(arena, layout, owner.code, owner.instance);
    if (c->slices[owner.slice].radix) return qg_format(arena, "%s (a digit of %s)", place, name);
    if (bits == c->width && !strcmp(place, name)) return place;
    if (bits == c->width) return qg_format(arena, "%s (all of %s)", place, name);
    if (c->count == 1 && c->per == layout->elements && !strncmp(place, "bit", 3) && strstr(place, name)) return place;
    return qg_format(arena, "%s (%s of %s)", place, bits_of(arena, owner.bit, bits), name);
}

const char *qg_say_shape(qg_trial *t, qg_call_shape s) {
    const char *base =
        qg_format(t->arena, "rows %llu, cols %llu", (unsigned long long)s.rows, (unsigned long long)s.cols);
    if (t->harness->computes == QG_COMPUTES_VALUES) return base;
    if (qg_harness_argument(t->harness, QG_USE_IDS))
        return qg_format(t->arena, "%s, experts %llu, slots %llu, tokens %llu", base, (unsigned long long)qg_experts(s),
                         (unsigned long long)qg_slots(s), (unsigned long long)s.batch);
    return qg_format(t->arena, "%s, %s %llu", base, t->harness->computes == QG_COMPUTES_ROWS ? "tokens" : "batch",
                     (unsigned long long)s.batch);
}

const char *qg_say_number(qg_arena *arena, double number) {
    char text[40];
    if (isnan(number)) return "NaN";
    if (isinf(number)) return number < 0 ? "-infinity" : "infinity";
    for (int digits = 4; digits < 10; ++digits) {
        snprintf(text, sizeof text, "%.*g", digits, number);
        if (fabs(strtod(text, NULL) - number) <= 1e-6 * fabs(number)) break;
    }
    return qg_format(arena, "%s", text);
}

const char *qg_say_instead(qg_arena *arena, double actual, double expected) {
    const char *a = qg_say_number(arena, actual), *e = qg_say_number(arena, expected);
    for (int digits = 7; digits <= 17 && !strcmp(a, e) && actual != expected && !isnan(actual); ++digits)
        a = qg_format(arena, "%.*g", digits, actual), e = qg_format(arena, "%.*g", digits, expected);
    return qg_format(arena, "is %s, and should be %s", a, e);
}
