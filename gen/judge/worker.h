/* worker.h: foreign code in a process of its own. The process gets calls through shared memory, and is ended when
 * one takes too long. A fault there is an answer here. */
#ifndef QKGEN_WORKER_H
#define QKGEN_WORKER_H

#include "judge/harness.h"

/* A kernel that somebody else wrote. */
typedef struct qg_foreign_kernel {
    const char *path;  /* of the file; of a library, what is loaded */
    const char *entry; /* the entry point */
    const void *bytes; /* SPIR-V words, or the text of a Metal file */
    size_t length;
    const qg_texts *defines;        /* of a Metal text */
    bool crossed;                   /* a Metal text that was SPIR-V: push constants are a buffer of it, */
    uint32_t group[3], group_id[3]; /* and workgroups have the module's size */
} qg_foreign_kernel;

/* The order in which threads of the Metal executor take turns. */
typedef enum qg_turns { QG_TURNS_FORWARD, QG_TURNS_REVERSE, QG_TURNS_RANDOM } qg_turns;

typedef struct qg_worker_options {
    qg_foreign target;
    const char *device;        /* Vulkan: part of its name; NULL: the first CPU device, else the first */
    uint32_t lanes;            /* of subgroups, where the CPU's driver takes a wish; 0: as it is */
    qg_turns turns;            /* Metal */
    uint64_t seed;             /* of random turns */
    const char *metal_library; /* the executor */
    double time_limit;         /* seconds for a launch */
} qg_worker_options;

/* How a launch ended. */
typedef enum qg_outcome {
    QG_RAN,
    QG_FAULT, /* the kernel did what it must not: the text says what */
    QG_SLOW,  /* it took too long to compile for this call */
    QG_UNABLE /* it could not be launched */
} qg_outcome;

typedef struct qg_worker qg_worker;

/* The memory of a tensor or struct that is passed, with what lies around it. */
typedef struct qg_room {
    unsigned char *data; /* of the tensor; `margin` bytes before it and behind it belong to it, too */
    uint64_t bytes;
} qg_room;

enum { QG_MARGIN = 4096 };

/* Starts a process and makes the kernel ready. NULL and a sentence when that fails; `*outcome` tells whether the
 * kernel is to blame. */
qg_worker *qg_worker_open(qg_arena *arena, const qg_foreign_kernel *kernel, const qg_worker_options *options,
                          qg_outcome *outcome, const char **why);
void qg_worker_close(qg_worker *worker);

/* "llvmpipe (LLVM 15.0.6, 256 bits)": where it runs. */
const char *qg_worker_where(const qg_worker *worker);
/* Lanes of a subgroup; 0: not known. */
uint32_t qg_worker_lanes(const qg_worker *worker);

/* Whether the last launch took too long. */
bool qg_worker_hung(const qg_worker *worker);

/* Memory for everything that `call` passes, which is zero, margins included; the same order as call->passed. False
 * when there is not that much. What was given before is gone. */
bool qg_worker_rooms(qg_worker *worker, const qg_call *call, qg_room *rooms);

/* `open`: what is bound goes on to the end of the margin, and not to the end of the tensor (Vulkan). `low`: a tensor
 * begins at the edge of what may be touched, and does not end there (C). */
typedef struct qg_launch_mode {
    bool open, low;
} qg_launch_mode;

/* Launches, with what is in the rooms, and waits. After a fault the process is there again, if it can be. */
qg_outcome qg_worker_launch(qg_worker *worker, const qg_call *call, qg_launch_mode mode, const char **why);

/* ---- what runs in the process ------------------------------------------------------------------------------------ */

/* A driver may take long to compile: that is no hang of the kernel. */
typedef enum qg_stage { QG_STAGE_LAUNCH, QG_STAGE_COMPILE } qg_stage;

enum { QG_ANSWER_TEXT = 4096 };

typedef struct qg_message {
    qg_call call;
    qg_launch_mode mode;
    uint64_t offsets[QG_MAX_ARGUMENTS]; /* of the tensor, in the shared memory */
    uint64_t begin, end;                /* of all rooms there */
    volatile int stage;                 /* qg_stage: what takes time now */
    /* The answer. */
    qg_outcome outcome;
    uint32_t lanes;
    char where[256];
    char text[QG_ANSWER_TEXT];
} qg_message;

/* An engine opens the kernel, answers calls, and never returns from a fault. */
typedef struct qg_engine {
    qg_outcome (*open)(void **state, const qg_foreign_kernel *kernel, const qg_worker_options *options,
                       qg_message *message);
    qg_outcome (*launch)(void *state, qg_message *message, unsigned char *shared);
} qg_engine;

extern const qg_engine qg_engine_vulkan, qg_engine_metal, qg_engine_c;

/* Writes the answer's text. */
qg_outcome qg_answer(qg_message *message, qg_outcome outcome, const char *format, ...) QG_PRINTF(3, 4);

#endif
