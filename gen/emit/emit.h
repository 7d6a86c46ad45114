/* emit.h: all files of a run. */
#ifndef QKGEN_EMIT_H
#define QKGEN_EMIT_H

#include "text/plain.h"

/* A kernel from one format to another. */
typedef struct qg_transcoding {
    const qg_layout *from, *to;
} qg_transcoding;

typedef struct qg_emit_options {
    const char *out;
    const char *templates; /* folder */
    bool check;            /* compare with what is there and write nothing */
    bool pack;             /* with `embed`: words of SPIR-V are packed */
    bool includes;         /* with `embed`: pairs include the headers of the runtime in place of holding them */
    bool embed;            /* drop-in pairs in `out` itself instead of the reviewed tree */
    bool vulkan, metal;
    uint32_t texts;    /* other APIs, whose targets are text alone: bits of qg_target_id */
    bool texts_alone;  /* no C beside them */
    bool every_format; /* `out` is the whole tree: files that belong to nothing are orphans */
    uint32_t n_families;
    const qg_family *const *families;
    uint32_t n_layouts;
    const qg_layout *const *layouts;
    uint32_t n_transcodes;
    const qg_transcoding *transcodes;
    uint32_t classes;          /* of sums, as bits */
    uint32_t types, schedules; /* as a qg_request has them */
    uint32_t n_plains;         /* families without a format; their sets are emitted with these */
    const qg_plain *const *plains;
    const char *shown_list; /* the file of `shown`, for messages */
    const bool
        *shown; /* of each layout, whether its text is written; NULL: of all. Others are hashes in the manifest */
    const char *runtime_headers; /* folder of qkgen/kernel.h and qkgen/dispatch.h, for `embed` */
    const char *depfile;
    uint32_t n_inputs; /* files named in the depfile beside the templates */
    const char *const *inputs;
} qg_emit_options;

typedef struct qg_emit_report {
    uint32_t files, changed, modules;
    uint32_t hashed; /* files of which only the hash is written or compared */
    size_t module_bytes;
    uint32_t left_out; /* kernels that the GLSL compiler is too old for */
} qg_emit_report;

/* Generates everything in memory, compiles and validates every GLSL kernel, then writes (or compares).
 * Returns false after an error, whose text it appends to `*log`; nothing has been written then. */
bool qg_emit(qg_arena *arena, const qg_emit_options *options, qg_emit_report *report, qg_text *log);
/* Writes a generated file if it would change, and counts it then; with `check` only compares. False
 * after an error, whose text names `command`, the remedy. */
bool qg_settle(qg_arena *arena, const char *path, const char *text, const char *command, bool check, uint32_t *changed,
               qg_text *log);

#endif
