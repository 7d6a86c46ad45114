/* cost.h: a static count of what a kernel does for each weight, taken from its IR; and the same taken from its SPIR-V. */
#ifndef QKGEN_COST_H
#define QKGEN_COST_H

#include "kernel.h"

/* ---- cost.c ------------------------------------------------------------------------------------------------------- */

typedef enum qg_cost_class {
    QG_COST_LOAD,    /* of weights, scales and so on, from the format's buffers: one for each load instruction */
    QG_COST_BITS,    /* shifts, masks and what joins bits */
    QG_COST_INTEGER, /* addresses, and all else that is done in integers */
    QG_COST_FLOAT,
    QG_COST_CONVERSION, /* between integers and floats, and between float types; one may give two lanes */
    QG_COST_LOOKUP,     /* values of tables, in memory or in the text */
    QG_COST_CLASSES
} qg_cost_class;

extern const char *const qg_cost_names[QG_COST_CLASSES];

/* Counts of one thread's work on a tile of `weights` weights.
 *
 * What is counted is what stands in decode(), or in accumulate() for one right-hand side: each operation of the IR once,
 * however often its text is printed, for a compiler sees that they are the same. A vector operation of n lanes counts n, a
 * dot product of n lanes 2n - 1: n products, n - 1 sums. Making vectors, taking lanes, repeating one, reading integers as the
 * other kind of integer or bits as f32, the sign of a float and what is made of constants alone count nothing. A
 * rounding to f16 or bf16 counts one, also where the target writes it in integers. A sum counts one addition more, to that of
 * the row.
 *
 * Not counted is the schedule around it: the number of the tile, loops, the addresses of results; and of sums what is
 * done once for a slice of x, which is loaded, scaled and summed up for many rows, and then held. */
typedef struct qg_cost {
    uint32_t weights;
    uint32_t counts[QG_COST_CLASSES];
    uint32_t loaded; /* bytes that the loads ask for: neighbours ask for the same, and caches answer */
    double stored;   /* bytes of memory for each weight, each read once */
    double written;  /* bytes of results for each weight; 0 for sums, which write 4 a row */
} qg_cost;

/* What an IR of the plan's tile costs; `stored` and `written` are 0. Where x is integers, what is done for a digit of it counts
 * `digits` times. */
qg_cost qg_cost_of_ir(const qg_ir *ir, const qg_plan *plan, uint32_t digits);
qg_cost qg_cost_of_kernel(const qg_kernel *kernel);
/* All classes together. */
uint32_t qg_cost_total(const qg_cost *cost);
/* The lines of a banner: what each family of the request costs, or `only` one kernel. Families that cost the same share a
 * line. Each line begins with `prefix`. */
void qg_cost_lines(qg_text *text, const qg_request *request, const qg_kernel *only, const char *prefix);

/* ---- cost_spirv.c ------------------------------------------------------------------------------------------------- */

/* Counts the same classes in a module for Vulkan that was made from the kernel's text: in the body of the innermost loop
 * that holds all loads of the format's buffers, with loops inside of it once. So the loop's own counter and bounds, the
 * number of the tile and the addresses of results are in it. Returns false and sets *why where the words are no module, or
 * where no loop holds the loads. */
bool qg_cost_of_spirv(qg_arena *arena, const qg_kernel *kernel, const uint32_t *words, size_t bytes, qg_cost *cost,
                      const char **why);

/* ---- cost_list.c -------------------------------------------------------------------------------------------------- */

typedef struct qg_cost_options {
    uint32_t n_layouts;
    const qg_layout *const *layouts;
    uint32_t n_families;
    const qg_family *const *families;
    const qg_sum_class *sum; /* of families that sum; formats without it are left out */
    const char *templates;   /* folder; NULL: without SPIR-V */
    bool json;
} qg_cost_options;

/* The table of `qkgen list --cost`, a line for each format and family that takes it, in f32. With `templates`, each
 * kernel is compiled, and its SPIR-V's own count stands beside that of the IR. Returns NULL and sets *why on a broken template or
 * module. */
char *qg_cost_list(qg_arena *arena, const qg_cost_options *options, const char **why);

#endif
