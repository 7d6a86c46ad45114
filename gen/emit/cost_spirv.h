/* cost_spirv.h: the count of cost.h, taken from the words of a kernel. */
#ifndef QKGEN_COST_SPIRV_H
#define QKGEN_COST_SPIRV_H

#include "build/cost.h"

/* Counts the same classes in a module that was made from the text of a program for Vulkan: in the body of
 * the innermost loop that holds all loads of the format's buffers, with loops inside of it once. So
 * the loop's own counter and bounds, the number of the tile and the addresses of results are in it.
 * Returns false and sets *why where the words are no module, or where no loop holds the loads. */
bool qg_cost_of_spirv(qg_arena *arena, const qg_program *program, const uint32_t *words, size_t bytes, qg_cost *cost,
                      const char **why);

#endif
