/* cost.h: a static count of what a kernel does for each weight, taken from its IR. */
#ifndef QKGEN_COST_H
#define QKGEN_COST_H

#include "build/program.h"

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
 * What is counted is what stands in decode(), or in accumulate() for one right-hand side: each operation
 * of the IR once, however often its text is printed, for a compiler sees that they are the same. A vector
 * operation of n lanes counts n, a dot product of n lanes 2n - 1: n products, n - 1 sums. Making vectors,
 * taking lanes, repeating one, reading integers as the other kind of integer or bits as f32, the sign of
 * a float and what is made of constants alone count nothing. A rounding to f16 or bf16 counts one, also
 * where the target writes it in integers. A sum counts one addition more, to that of the row.
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

/* What an IR of the plan's tile costs; `stored` and `written` are 0. Where x is integers, what is
 * done for a digit of it counts `digits` times. */
qg_cost qg_cost_of_ir(const qg_ir *ir, const qg_plan *plan, uint32_t digits);
/* Of a program, on its longest way: of wide tiles where it has them. */
qg_cost qg_cost_of_program(const qg_program *program);
/* All classes together. */
uint32_t qg_cost_total(const qg_cost *cost);
/* The lines of a banner: what each family of the request costs, or `only` one kernel. Families that
 * cost the same share a line. Each line begins with `prefix`. */
void qg_cost_lines(qg_text *text, const qg_request *request, const qg_program *only, const char *prefix);

#endif
