/* C functions of a shared library. A tensor ends where the next page may not be touched, or begins behind such a
 * page. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, which POSIX has since 2024 */
#include "judge/worker.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* As many as any of the calling conventions at hand passes alike, whatever the function takes. */
enum { MOST_ARGUMENTS = 16, GUARD_BYTES = 1 << 20 };

typedef intptr_t argument_list[MOST_ARGUMENTS];
typedef void function(intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t,
                      intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t);

/* A tensor between two guards. */
typedef struct guarded {
    unsigned char *map;
    size_t mapped;
    unsigned char *data;
    uint64_t bytes;
    const char *name;
} guarded;

typedef struct c_state {
    function *function;
    guarded memory[QG_MAX_ARGUMENTS];
    uint32_t count;
} c_state;

/* What the handler of signals knows. */
static c_state *running;
static qg_message *telling;

static const char *const use_names[QG_USE_COUNT] = {
    [QG_USE_WEIGHTS] = "the weights",
    [QG_USE_X] = "x",
    [QG_USE_Y] = "the results",
    [QG_USE_INDICES] = "the indices",
    [QG_USE_IDS] = "the ids",
    [QG_USE_ZEROS] = "the room for scratch",
    [QG_USE_STRUCT] = "the struct of arguments",
    [QG_USE_TABLE] = "a table",
    [QG_USE_VALUE] = "a number",
};

static void tell_fault(int number, siginfo_t *info, void *context) {
    const unsigned char *at = info->si_addr;
    (void)context;
    for (uint32_t i = 0; running && i < running->count; ++i) {
        const guarded *g = &running->memory[i];
        if (at < g->map || at >= g->map + g->mapped) continue;
        const int behind = at >= g->data;
        qg_answer(telling, QG_FAULT, "it touches byte %lld %s %s, which has %llu bytes",
                  (long long)(behind ? at - g->data - (long long)g->bytes : g->data - at),
                  behind ? "behind the end of" : "before the start of", g->name, (unsigned long long)g->bytes);
        _exit(1);
    }
    qg_answer(telling, QG_FAULT, "it touches memory that is nobody's, or does what the processor refuses: %s",
              strsignal(number));
    _exit(1);
}

static void catch_faults(void) {
    static char stack[65536];
    stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_sigaction = tell_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigaltstack(&own, NULL);
    sigemptyset(&action.sa_mask);
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    sigaction(SIGFPE, &action, NULL);
    sigaction(SIGILL, &action, NULL);
}

static qg_outcome open_c(void **state, const qg_foreign_kernel *kernel, const qg_worker_options *options,
                         qg_message *message) {
    static c_state only;
    (void)options;
    char *path = realpath(kernel->path, NULL); /* a name without a folder would be looked for elsewhere */
    void *library = dlopen(path ? path : kernel->path, RTLD_NOW | RTLD_LOCAL);
    free(path);
    if (!library) return qg_answer(message, QG_UNABLE, "cannot load the library: %s", dlerror());
    void *object = dlsym(library, kernel->entry);
    if (!object) return qg_answer(message, QG_UNABLE, "%s has no function %s", kernel->path, kernel->entry);
    memcpy(&only.function, &object, sizeof object);
    running = &only;
    telling = message;
    *state = &only;
    catch_faults();
    snprintf(message->where, sizeof message->where, "the processor");
    return QG_RAN;
}

/* An address below or above all that is mapped between is within a guard, or far away. */
static bool guard(guarded *g, uint64_t bytes, bool low, const char *name) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), body = (bytes + page - 1) / page * page;
    g->mapped = body + 2 * (size_t)GUARD_BYTES;
    void *map = mmap(NULL, g->mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) return false;
    g->map = map;
    g->bytes = bytes;
    g->name = name;
    if (body && mprotect(g->map + GUARD_BYTES, body, PROT_READ | PROT_WRITE)) return false;
    g->data = g->map + GUARD_BYTES + (low ? 0 : body - bytes);
    return true;
}

static void drop(c_state *c) {
    for (uint32_t i = 0; i < c->count; ++i) munmap(c->memory[i].map, c->memory[i].mapped);
    c->count = 0;
}

static qg_outcome launch_c(void *state, qg_message *message, unsigned char *shared) {
    c_state *c = state;
    const qg_call *call = &message->call;
    argument_list a = {0};
    guarded *of[QG_MAX_ARGUMENTS] = {0};
    for (uint32_t i = 0; i < call->n_passed; ++i) {
        const qg_passed *p = &call->passed[i];
        if (p->index >= MOST_ARGUMENTS)
            return qg_answer(message, QG_UNABLE, "a C function has at most %d arguments here", MOST_ARGUMENTS);
        if (p->use == QG_USE_VALUE) {
            a[p->index] = (intptr_t)p->value;
            continue;
        }
        of[i] = &c->memory[c->count];
        if (!guard(of[i], p->bytes, message->mode.low, use_names[p->use]))
            return qg_answer(message, QG_UNABLE, "there is not enough memory for a tensor of %llu bytes",
                             (unsigned long long)p->bytes);
        c->count += 1;
        memcpy(of[i]->data, shared + message->offsets[i], p->bytes);
        a[p->index] = (intptr_t)of[i]->data;
    }
    c->function(a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13], a[14], a[15]);
    for (uint32_t i = 0; i < call->n_passed; ++i)
        if (of[i]) memcpy(shared + message->offsets[i], of[i]->data, call->passed[i].bytes);
    drop(c);
    return QG_RAN;
}

const qg_engine qg_engine_c = {open_c, launch_c};
