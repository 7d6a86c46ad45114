/* The process of a foreign kernel, seen from here: started, asked, ended. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, which POSIX has since 2024 */
#include "judge/worker.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Only what is touched takes memory. */
#define SHARED_BYTES (UINT64_C(3) << 30)

struct qg_worker {
    qg_arena *arena;
    const qg_foreign_kernel *kernel;
    qg_worker_options options;
    unsigned char *shared;
    qg_message *message;
    pid_t process; /* 0: there is none */
    int to, from;  /* pipes */
    uint64_t used;
    bool hung;
};

qg_outcome qg_answer(qg_message *message, qg_outcome outcome, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(message->text, sizeof message->text, format, list);
    va_end(list);
    return message->outcome = outcome;
}

/* Asked lanes become the width of the CPU driver's vectors: eight lanes are 256 bits. */
static void wish_lanes(uint32_t lanes) {
    char bits[16];
    setenv("GALLIVM_PERF", "nopt", 0); /* it compiles in two thirds of the time */
    if (!lanes) return;
    snprintf(bits, sizeof bits, "%u", lanes * 32);
    setenv("LP_NATIVE_VECTOR_WIDTH", bits, 1);
    setenv("MESA_SHADER_CACHE_DISABLE", "true", 1); /* it keeps code without regard to that width */
}

static bool say(int pipe) {
    const char token = 1;
    return write(pipe, &token, 1) == 1;
}

static bool hear(int pipe) {
    char token;
    ssize_t n;
    do n = read(pipe, &token, 1);
    while (n < 0 && errno == EINTR);
    return n == 1;
}

/* The life of the process. It ends when nobody asks any more. */
static void serve(qg_worker *w, int calls, int answers) {
    static const qg_engine *const engines[] = {&qg_engine_vulkan, &qg_engine_metal, &qg_engine_c};
    const qg_engine *engine = engines[w->options.target];
    void *state = NULL;
    wish_lanes(w->options.lanes);
    w->message->outcome = engine->open(&state, w->kernel, &w->options, w->message);
    while (say(answers) && hear(calls)) w->message->outcome = engine->launch(state, w->message, w->shared);
    _exit(0);
}

enum { COMPILE_TIMES = 3 }; /* as long as a launch */

/* Whether an answer comes in time. */
static bool answers(qg_worker *w) {
    struct pollfd ready = {.fd = w->from, .events = POLLIN};
    double waited = 0;
    while (waited < w->options.time_limit) {
        const int step = 100, got = poll(&ready, 1, step);
        if (got > 0) return true;
        if (got < 0 && errno != EINTR) return false;
        waited += 1e-3 * step / (w->message->stage == QG_STAGE_COMPILE ? COMPILE_TIMES : 1);
    }
    return false;
}

/* Waits for an answer. */
static qg_outcome await(qg_worker *w, const char *doing, const char **why) {
    const bool answered = answers(w), compiles = w->message->stage == QG_STAGE_COMPILE;
    int status = 0;
    if (answered && hear(w->from)) {
        *why = w->message->outcome == QG_RAN ? NULL : qg_format(w->arena, "%s", w->message->text);
        return w->message->outcome;
    }
    w->hung = !answered;
    if (w->hung) kill(w->process, SIGKILL);
    waitpid(w->process, &status, 0);
    w->process = 0;
    close(w->to), close(w->from);
    if (w->hung && compiles) {
        w->hung = false;
        *why = qg_format(w->arena, "the driver takes more than %g seconds to compile it",
                         COMPILE_TIMES * w->options.time_limit);
        return QG_SLOW;
    }
    if (w->hung)
        *why =
            qg_format(w->arena, "%s took more than %g seconds, and was ended: it hangs, or --time-limit is too small",
                      doing, w->options.time_limit);
    else if (w->message->outcome == QG_FAULT)
        *why = qg_format(w->arena, "%s", w->message->text);
    else if (WIFSIGNALED(status))
        *why = qg_format(w->arena, "%s ended the process: %s", compiles ? "the driver, while it compiled it," : doing,
                         strsignal(WTERMSIG(status)));
    else
        *why = qg_format(w->arena, "%s ended the process with status %d", doing, WEXITSTATUS(status));
    return compiles ? QG_UNABLE : QG_FAULT;
}

static qg_outcome start(qg_worker *w, const char **why) {
    int to[2], from[2];
    w->message->outcome = QG_UNABLE;
    w->message->text[0] = 0;
    w->message->stage = QG_STAGE_LAUNCH;
    if (pipe(to)) goto failed;
    if (pipe(from)) {
        close(to[0]), close(to[1]);
        goto failed;
    }
    fflush(NULL);
    w->process = fork();
    if (w->process == 0) {
        close(to[1]), close(from[0]);
        serve(w, to[0], from[1]);
    }
    close(to[0]), close(from[1]);
    w->to = to[1], w->from = from[0];
    if (w->process > 0) return await(w, "making the kernel ready", why);
    close(w->to), close(w->from);
    w->process = 0;
failed:
    *why = qg_format(w->arena, "cannot start a process: %s", strerror(errno));
    return QG_UNABLE;
}

qg_worker *qg_worker_open(qg_arena *arena, const qg_foreign_kernel *kernel, const qg_worker_options *options,
                          qg_outcome *outcome, const char **why) {
    qg_worker *w = QG_NEW(arena, qg_worker);
    *w = (qg_worker){.arena = arena, .kernel = kernel, .options = *options};
    *outcome = QG_UNABLE;
    signal(SIGPIPE, SIG_IGN); /* a process that died is seen in its answer */
    void *shared = mmap(NULL, SHARED_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (shared == MAP_FAILED) {
        *why = qg_format(arena, "cannot share memory with a process: %s", strerror(errno));
        return NULL;
    }
    w->shared = shared;
    w->message = shared;
    *outcome = start(w, why);
    if (*outcome == QG_RAN) return w;
    qg_worker_close(w);
    return NULL;
}

void qg_worker_close(qg_worker *w) {
    if (w->process) {
        close(w->to), close(w->from);
        waitpid(w->process, NULL, 0);
        w->process = 0;
    }
    munmap(w->shared, SHARED_BYTES);
}

const char *qg_worker_where(const qg_worker *w) { return w->message->where; }

bool qg_worker_hung(const qg_worker *w) { return w->hung; }

uint32_t qg_worker_lanes(const qg_worker *w) { return w->message->lanes; }

static uint64_t pages(uint64_t bytes) { return (bytes + QG_MARGIN - 1) / QG_MARGIN * QG_MARGIN; }

bool qg_worker_rooms(qg_worker *w, const qg_call *call, qg_room *rooms) {
    uint64_t at = pages(sizeof *w->message);
    if (w->used > at) memset(w->shared + at, 0, w->used - at);
    for (uint32_t i = 0; i < call->n_passed; ++i) {
        const qg_passed *p = &call->passed[i];
        if (p->bytes > SHARED_BYTES || at + pages(p->bytes) + 2 * QG_MARGIN > SHARED_BYTES) return false;
        w->message->offsets[i] = at + QG_MARGIN;
        rooms[i] = (qg_room){w->shared + at + QG_MARGIN, p->bytes};
        at += pages(p->bytes) + 2 * QG_MARGIN;
    }
    w->used = at;
    w->message->begin = pages(sizeof *w->message);
    w->message->end = at;
    for (uint32_t i = 0; i < call->n_passed; ++i)
        if (call->passed[i].content) memcpy(rooms[i].data, call->passed[i].content, rooms[i].bytes);
    return true;
}

qg_outcome qg_worker_launch(qg_worker *w, const qg_call *call, qg_launch_mode mode, const char **why) {
    *why = NULL;
    if (!w->process) {
        const qg_outcome outcome = start(w, why);
        if (outcome != QG_RAN) return outcome;
    }
    w->message->call = *call;
    w->message->mode = mode;
    w->message->outcome = QG_UNABLE;
    w->message->text[0] = 0;
    w->message->stage = QG_STAGE_LAUNCH;
    say(w->to);
    return await(w, "a launch", why);
}
