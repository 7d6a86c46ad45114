/* What the rooms of Metal's text share. */
#ifndef QKGEN_TEXT_MSL_H
#define QKGEN_TEXT_MSL_H

#include "text/text.h"

/* The format's buffers, as parameters of a function; `bound` ones as those of a kernel. */
char *qg_msl_buffers(qg_arena *arena, const qg_plan *plan, bool bound);

/* The same, as arguments. */
char *qg_msl_weights(qg_arena *arena, const qg_plan *plan);

/* Holes of templates in which each expert has a matrix. */
void qg_msl_expert_holes(qg_arena *arena, qg_holes *holes, const qg_program *program);

/* Appends the pointers to words through which wide tiles are loaded. */
void qg_msl_add_words(qg_text *text, const qg_step *wide);

/* The functions of kernels of a few vectors on matrix units, and of those of tiles; NULL, and *why, on a broken
 * template. */
char *qg_msl_mma_rows(qg_arena *arena, const qg_templates *templates, const qg_program *program, const char **why);
char *qg_msl_tiles(qg_arena *arena, const qg_templates *templates, const qg_program *program, const char **why);

#endif
