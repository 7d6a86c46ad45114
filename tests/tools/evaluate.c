/* An oracle: decodes blocks straight from the proven layout and evaluates the value's tree as it stands (gen/value.h).
 * It shares
 * no line with planning, lowering or printing. `evaluate SPEC FORMAT OUT IN...`, one input for each buffer in the
 * order of the specification; writes f32. EVALUATE_MATH=f16 or bf16 rounds each float of the value to that type. */
#include "library.h"
#include "value.h"

#include <stdlib.h>
#include <string.h>

static int fail(const char *what, const char *why) {
    fprintf(stderr, "evaluate: %s: %s\n", what, why);
    return 1;
}

int main(int argc, char **argv) {
    if (argc < 5) return fail("usage", "evaluate SPEC FORMAT OUT IN...");
    qg_arena *arena = qg_arena_new();
    qg_library *library = qg_library_new(arena, false);
    if (!qg_library_add_file(library, argv[1])) return fail(argv[1], library->diag.text.data);
    const qg_layout *layout = qg_library_find(library, argv[2]);
    if (!layout || (uint32_t)argc != 4 + layout->n_buffers)
        return fail(argv[2], "no such format, or wrong number of inputs");
    const unsigned char *inputs[64];
    size_t length = 0;
    for (uint32_t i = 0; i < layout->n_buffers; ++i) {
        const char *why = NULL;
        inputs[i] = (unsigned char *)qg_read_file(arena, argv[4 + i], (size_t)1 << 30, &length, &why);
        if (!inputs[i]) return fail(argv[4 + i], why);
    }
    const char *named = getenv("EVALUATE_MATH");
    const qg_scalar math = named ? qg_scalar_named(named, strlen(named)) : QG_F32;
    if (math == QG_SCALAR_COUNT) return fail(named, "no such type");
    const qg_layout *rounded = qg_layout_in(arena, layout, math);
    const uint64_t elements = length / layout->buffers[layout->n_buffers - 1].bytes * layout->elements;
    float *out = qg_alloc(arena, (elements + 1) * sizeof *out);
    for (uint64_t n = 0; n < elements; ++n) {
        const unsigned char *blocks[64];
        for (uint32_t i = 0; i < layout->n_buffers; ++i)
            blocks[i] = inputs[i] + n / layout->elements * layout->buffers[i].bytes;
        const qg_element e = {rounded, blocks, (uint32_t)(n % layout->elements)};
        out[n] = qg_value_of(&e);
    }
    const char *why = qg_write_file(arena, argv[3], out, elements * sizeof *out);
    qg_arena_free(arena);
    return why ? fail(argv[3], why) : 0;
}
