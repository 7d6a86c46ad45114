/* cross.h: a SPIR-V module as Metal text, through SPIRV-Cross, so that the executor of this machine can run it and
 * check each access, each barrier and each order of threads, whoever wrote it. */
#ifndef QKGEN_CROSS_H
#define QKGEN_CROSS_H

#include "base/base.h"

/* The buffer in which the text takes push constants; bindings keep their numbers. */
enum { QG_CROSS_PUSH = 30 };

typedef struct qg_crossed {
    const char *text;
    const char *entry;
    uint32_t group[3];    /* of a workgroup, */
    uint32_t group_id[3]; /* or the specialisation constants that say so; UINT32_MAX: none */
} qg_crossed;

/* NULL, or why a module has no such text. */
const char *qg_cross(qg_arena *arena, const void *words, size_t bytes, const char *entry, qg_crossed *crossed);

#endif
