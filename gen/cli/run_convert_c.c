/* Converting on the processor: the references in C, decoder of one format and encoder of the other. */
#include "cli/run_convert.h"

#include <dlfcn.h>
#include <string.h>

typedef void dequant_function(const void *const *, uint64_t, void *);
typedef void dequant_rows_function(const void *const *, uint64_t, uint64_t, void *);

typedef struct function {
    const qg_layout *layout;
    bool encodes;
    void *object, *function;
} function;

typedef struct references {
    uint32_t count;
    function *items;
} references;

static void *function_of(const references *r, const qg_layout *layout, bool encodes) {
    for (uint32_t i = 0; i < r->count; ++i)
        if (r->items[i].layout == layout && r->items[i].encodes == encodes) return r->items[i].function;
    return NULL;
}

/* ISO C has no conversion from object to function pointers. */
static void decode(const references *r, const qg_storage *kind, const void *from, uint64_t elements, float *floats) {
    const void *const blocks[] = {from};
    void *function = function_of(r, kind->layout, false);
    if (kind->row) {
        dequant_rows_function *dequant;
        memcpy(&dequant, &function, sizeof dequant);
        dequant(blocks, elements / kind->row, kind->row, floats);
        return;
    }
    dequant_function *dequant;
    memcpy(&dequant, &function, sizeof dequant);
    dequant(blocks, elements, floats);
}

static const char *piece(void *context, const qg_conversion *c, const void *from, uint64_t elements, float *floats,
                         void *to) {
    const references *r = context;
    if (c->from.layout)
        decode(r, &c->from, from, elements, floats);
    else
        qg_floats_of(c->from.plain, from, elements, floats);
    if (c->to.row)
        qg_reference_encode_rows(function_of(r, c->to.layout, true), &to, elements / c->to.row, c->to.row, floats);
    else if (c->to.layout)
        qg_reference_encode(function_of(r, c->to.layout, true), &to, elements, floats);
    else
        qg_floats_to(c->to.plain, floats, elements, to);
    return NULL;
}

static const char *close_references(void *context) {
    const references *r = context;
    for (uint32_t i = 0; i < r->count; ++i) dlclose(r->items[i].object);
    return NULL;
}

static const char *add(qg_arena *arena, const qg_templates *templates, references *r, const qg_layout *layout,
                       bool encodes) {
    function *f = &r->items[r->count];
    if (!layout || function_of(r, layout, encodes)) return NULL;
    *f = (function){.layout = layout, .encodes = encodes};
    const qg_family *family = &qg_families[encodes ? QG_FAMILY_ENCODE : QG_FAMILY_DEQUANT];
    const char *why = qg_reference_open(arena, templates, layout, family, QG_F32, &f->object, &f->function);
    r->count += f->object != NULL;
    return why ? qg_format(arena, "%s of %s: %s", family->name, layout->name, why) : NULL;
}

const char *qg_convert_open_c(qg_arena *arena, const qg_templates *templates, const qg_plan_of_file *plan,
                              qg_converter *converter) {
    references *r = QG_NEW(arena, references);
    const char *why = NULL;
    r->items = QG_NEW_ARRAY(arena, function, 2 * (size_t)plan->count + 1);
    for (uint32_t i = 0; i < plan->count && !why; ++i) {
        const qg_conversion *c = &plan->items[i];
        if (!c->converts) continue;
        why = add(arena, templates, r, c->from.layout, false);
        if (!why) why = add(arena, templates, r, c->to.layout, true);
    }
    *converter = (qg_converter){r, "the C reference", true, piece, close_references};
    if (why) close_references(r);
    return why;
}
