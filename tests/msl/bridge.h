/* bridge.h: what the executor and a compiled MSL file know of each other. Plain declarations, no header: the runtime
 * (runtime.cpp) is compiled into the same object as the kernels. */
#ifndef QKM_BRIDGE_H
#define QKM_BRIDGE_H

enum { QKM_LANES = 32, QKM_BRIDGE_VERSION = 1 };

/* The attributes of one thread, each with three components. */
enum {
    QKM_thread_position_in_grid,
    QKM_thread_position_in_threadgroup,
    QKM_threadgroup_position_in_grid,
    QKM_threads_per_grid,
    QKM_threads_per_threadgroup,
    QKM_dispatch_threads_per_threadgroup,
    QKM_threadgroups_per_grid,
    QKM_thread_index_in_threadgroup,
    QKM_thread_index_in_simdgroup,
    QKM_simdgroup_index_in_threadgroup,
    QKM_simdgroups_per_threadgroup,
    QKM_threads_per_simdgroup,
    QKM_thread_index_in_quadgroup,
    QKM_quadgroup_index_in_threadgroup,
    QKM_quadgroups_per_threadgroup,
    QKM_BUILTINS
};

/* One byte of tracked threadgroup memory: when it was last written and read, by which thread (number + 1). An epoch
 * counts the threadgroup's barriers; `simd` counts the thread's simdgroup barriers within it. */
struct qkm_cell {
    unsigned write_epoch, read_epoch;
    unsigned short writer, reader;
    unsigned short write_simd, read_simd;
};

enum { QKM_READ = 1, QKM_WRITE = 2, QKM_ATOMIC = 4 };
struct qkm_range {
    unsigned long low, high; /* the bytes that may be touched */
    unsigned allowed;        /* QKM_READ, QKM_WRITE */
    struct qkm_cell *cells;  /* threadgroup memory: one for each byte; else null */
};

/* The state of the running thread, and the way back. One for each compiled file. */
struct qkm_bridge {
    const struct qkm_range *ranges; /* the first is the running thread's stack */
    unsigned range_count;
    unsigned thread; /* in the threadgroup */
    unsigned epoch, simd_epoch;
    unsigned check_races, check_uninitialised;
    unsigned (*attributes)[3];
    void *launch;
    /* Ends the launch. `what` is one of QKM_FAULT_; these do not return. */
    void (*fault)(void *launch, int what, unsigned long address, unsigned long size, unsigned long pc,
                  const char *detail);
    void (*barrier)(void *launch, int simdgroup, const char *file, int line);
    /* `whole`: all lanes of a simdgroup must come. */
    void (*exchange)(void *launch, const void *value, unsigned bytes, void *all, unsigned *active, int whole,
                     const char *file, int line, int column);
};

enum { QKM_FAULT_READ = 1, QKM_FAULT_WRITE, QKM_FAULT_RACE, QKM_FAULT_UNINITIALISED, QKM_FAULT_UNDEFINED };

#endif
