// launch.cpp: opens compiled files and runs their kernels. The threads of a threadgroup are fibers on one host thread: one
// runs until it ends or waits. When all wait, those that wait for the same thing are let go on; when there is nothing to
// let go, some barrier is out of reach for some thread, and that is the error.
#include "internal.h"

#include <algorithm>
#include <chrono>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <memory>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>
#if !defined(__x86_64__) && !defined(__aarch64__)
#include <ucontext.h>
#endif

using std::string;
using std::vector;

namespace {

// ---- fibers ----

#if defined(__x86_64__)
// Saves what the calling convention asks for on the old stack, and goes on where the new one was left.
extern "C" void qkm_switch(void **save, void *to);
asm(R"(
.text
.p2align 4
.globl qkm_switch
.hidden qkm_switch
.type qkm_switch, @function
qkm_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size qkm_switch, .-qkm_switch
)");
void *prepare(char *top, void (*start)()) {
    void **sp = reinterpret_cast<void **>(top) - 1; // at `start` the stack is as after a call
    *sp = nullptr;
    *--sp = reinterpret_cast<void *>(start);
    for (int i = 0; i < 6; ++i) *--sp = nullptr;
    return sp;
}
#elif defined(__aarch64__)
extern "C" void qkm_switch(void **save, void *to);
asm(R"(
.text
.p2align 4
.globl qkm_switch
.hidden qkm_switch
.type qkm_switch, %function
qkm_switch:
    sub sp, sp, #160
    stp x19, x20, [sp, #0]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x2, sp
    str x2, [x0]
    mov sp, x1
    ldp x19, x20, [sp, #0]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    ret
.size qkm_switch, .-qkm_switch
)");
void *prepare(char *top, void (*start)()) {
    void **sp = reinterpret_cast<void **>(top) - 20;
    memset(sp, 0, 160);
    sp[11] = reinterpret_cast<void *>(start);
    return sp;
}
#else
#error "write qkm_switch for this machine"
#endif

enum { STACK_BYTES = 256 * 1024, PAGE = 4096 };

struct stack {
    char *low; // behind a page that may not be touched
};

stack new_stack() {
    void *p =
        mmap(nullptr, STACK_BYTES + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) return {nullptr};
    mprotect(p, PAGE, PROT_NONE);
    return {static_cast<char *>(p) + PAGE};
}

// Stacks are kept for the next launch of this host thread.
struct stack_pool {
    vector<stack> free;
    stack take() {
        if (free.empty()) return new_stack();
        const stack s = free.back();
        free.pop_back();
        return s;
    }
    ~stack_pool() {
        for (const stack &s : free) munmap(s.low - PAGE, STACK_BYTES + PAGE);
    }
};
thread_local stack_pool stacks;

// ---- a launch ----

enum state { NEW, READY, AT_BARRIER, AT_SIMD_BARRIER, AT_EXCHANGE, DONE };

struct fiber {
    state at;
    void *sp;
    stack own;
    const char *file;
    int line, column;
    unsigned simd_epoch;
    bool only_waits; // at a barrier that orders no threadgroup memory
    const void *value;
    void *all;
    unsigned bytes, *active;
    bool whole; // all lanes must come
    unsigned attributes[QKM_BUILTINS][3];
};

struct launch_state {
    qk_msl *file;
    const qk_msl_kernel *kernel;
    void (*entry)(void *const *);
    void *const *slots;
    qk_msl_error *error;
    qk_msl_status status = QK_MSL_OK;
    vector<fiber> fibers;
    vector<qkm_range> ranges;
    void *scheduler;
    unsigned current, count, epoch;
    uint64_t random;
    unsigned group[3];
    sigjmp_buf crash;
};

thread_local launch_state *running;

uint64_t next_random(uint64_t *s) {
    uint64_t x = (*s += 0x9E3779B97F4A7C15u);
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

// Where in the MSL text a place of the compiled object comes from. The compiler's line tables tell; addr2line reads them.
// Frames of our own headers are passed over: what counts is the kernel's line.
string place(const launch_state *l, unsigned long pc, int *line) {
    *line = 0;
    Dl_info info;
    if (!pc || !dladdr(reinterpret_cast<void *>(pc), &info)) return "";
    char offset[32];
    snprintf(offset, sizeof offset, "0x%lx", pc - 1 - reinterpret_cast<unsigned long>(info.dli_fbase));
    string output;
    bool found = false;
    for (const char *tool : {"addr2line", "llvm-addr2line-16", "llvm-addr2line-19", "llvm-addr2line"}) {
        output.clear();
        if ((found = msl::run({tool, "-i", "-e", l->file->object, offset}, &output))) break;
    }
    if (!found) return "";
    size_t at = 0;
    while (at < output.size()) {
        size_t end = output.find('\n', at);
        if (end == string::npos) end = output.size();
        string row = output.substr(at, end - at);
        at = end + 1;
        const size_t extra = row.find(" (discriminator");
        if (extra != string::npos) row.resize(extra);
        const size_t colon = row.rfind(':');
        if (colon == string::npos || row[0] == '?') continue;
        const string path = row.substr(0, colon);
        if (path.find("include/qkm/") != string::npos || path.find("kernel table") != string::npos) continue;
        *line = atoi(row.c_str() + colon + 1);
        if (*line) {
            // The name as it was given: the debug information makes it a full path, or names the rewritten text.
            const string &name = l->file->name;
            if (path.size() > 4 && !path.compare(path.size() - 4, 4, ".cpp") && path.find(l->file->key) != string::npos)
                return name + ":" + std::to_string(*line);
            if (path.size() >= name.size() && !path.compare(path.size() - name.size(), name.size(), name))
                return name + ":" + std::to_string(*line);
            return path + ":" + std::to_string(*line);
        }
    }
    return "";
}

string thread_text(const launch_state *l, unsigned thread) {
    const fiber &f = l->fibers[thread];
    const unsigned *p = f.attributes[QKM_thread_position_in_threadgroup],
                   *g = f.attributes[QKM_threadgroup_position_in_grid];
    char text[128];
    snprintf(text, sizeof text, "thread (%u, %u, %u) of threadgroup (%u, %u, %u)", p[0], p[1], p[2], g[0], g[1], g[2]);
    return text;
}

void end_launch(launch_state *l) {
    void *unused;
    qkm_switch(&unused, l->scheduler);
    abort();
}

// Tells a buffer's name from an address that is in it, or near it.
string near_buffer(const launch_state *l, unsigned long address, unsigned long size) {
    unsigned long best = ~0ul;
    const qk_msl_argument *which = nullptr;
    long where = 0;
    unsigned long bytes = 0;
    for (uint32_t i = 0; i < l->kernel->argument_count; ++i) {
        const qk_msl_argument &a = l->kernel->arguments[i];
        if (a.kind != QK_MSL_BUFFER && a.kind != QK_MSL_THREADGROUP) continue;
        for (const qkm_range &r : l->ranges) {
            if (r.low != reinterpret_cast<unsigned long>(l->slots[i]) || !r.low) continue;
            const unsigned long distance = address < r.low           ? r.low - address
                                           : address + size > r.high ? address + size - r.high
                                                                     : 0;
            if (distance < best) {
                best = distance;
                which = &a;
                where = long(address - r.low);
                bytes = r.high - r.low;
            }
        }
    }
    char text[256];
    if (!which) return "no buffer is near";
    if (best == 0)
        snprintf(text, sizeof text, "%s, which the kernel may only read, at byte %ld", which->name, where);
    else if (best > (1ul << 34))
        snprintf(text, sizeof text, "no buffer is near");
    else
        snprintf(text, sizeof text, "byte %ld of %s ([[%s(%u)]]), which has %lu bytes", where, which->name,
                 which->kind == QK_MSL_BUFFER ? "buffer" : "threadgroup", which->index, bytes);
    return text;
}

void on_fault(void *launch, int what, unsigned long address, unsigned long size, unsigned long pc, const char *detail) {
    launch_state *l = static_cast<launch_state *>(launch);
    int line;
    const string at = place(l, pc, &line), who = thread_text(l, l->current);
    const char *kernel = l->kernel->name, *where = at.empty() ? l->file->name.c_str() : at.c_str();
    switch (what) {
    case QKM_FAULT_READ:
    case QKM_FAULT_WRITE:
        l->status =
            msl::fail(l->error, QK_MSL_ERROR_ACCESS, line, "%s: %s: %s of %lu byte%s outside what it may touch: %s; %s",
                      where, kernel, what == QKM_FAULT_READ ? "read" : "write", size, size == 1 ? "" : "s",
                      near_buffer(l, address, size).c_str(), who.c_str());
        break;
    case QKM_FAULT_RACE: {
        const string other = size >= 0x8000 ? "several others" : thread_text(l, unsigned(size - 1));
        l->status = msl::fail(l->error, QK_MSL_ERROR_RACE, line,
                              "%s: %s: %s %s threadgroup memory that %s touched since the last barrier", where, kernel,
                              who.c_str(), detail, other.c_str());
        break;
    }
    case QKM_FAULT_UNINITIALISED:
        l->status =
            msl::fail(l->error, QK_MSL_ERROR_UNINITIALISED, line,
                      "%s: %s: %s reads threadgroup memory that nobody has written", where, kernel, who.c_str());
        break;
    default:
        l->status =
            msl::fail(l->error, QK_MSL_ERROR_UNDEFINED, line, "%s: %s: %s; %s", where, kernel, detail, who.c_str());
    }
    end_launch(l);
}

void wait_as(launch_state *l, state at, const char *file, int line, int column) {
    fiber &f = l->fibers[l->current];
    f.at = at;
    f.file = file;
    f.line = line;
    f.column = column;
    qkm_switch(&f.sp, l->scheduler);
}

// `kind`: 0 of a threadgroup, 1 of a simdgroup, 2 of a threadgroup whose memory it does not order.
void on_barrier(void *launch, int kind, const char *file, int line) {
    launch_state *l = static_cast<launch_state *>(launch);
    l->fibers[l->current].only_waits = kind == 2;
    wait_as(l, kind == 1 ? AT_SIMD_BARRIER : AT_BARRIER, file, line, 0);
}

void on_exchange(void *launch, const void *value, unsigned bytes, void *all, unsigned *active, int whole,
                 const char *file, int line, int column) {
    launch_state *l = static_cast<launch_state *>(launch);
    fiber &f = l->fibers[l->current];
    f.value = value;
    f.bytes = bytes;
    f.all = all;
    f.active = active;
    f.whole = whole != 0;
    wait_as(l, AT_EXCHANGE, file, line, column);
}

void fiber_start() {
    launch_state *l = running;
    l->entry(l->slots);
    fiber &f = l->fibers[l->current];
    f.at = DONE;
    qkm_switch(&f.sp, l->scheduler);
    abort();
}

// One turn of thread t. False: the launch has ended with an error.
bool turn(launch_state *l, unsigned t) {
    fiber &f = l->fibers[t];
    if (f.at == NEW) {
        f.own = stacks.take();
        if (!f.own.low) {
            l->status =
                msl::fail(l->error, QK_MSL_ERROR_ARGUMENT, 0, "%s: no memory for the threads' stacks", l->kernel->name);
            return false;
        }
        f.sp = prepare(f.own.low + STACK_BYTES, fiber_start);
    }
    f.at = READY;
    l->current = t;
    qkm_bridge *b = l->file->bridge;
    b->thread = t;
    b->epoch = l->epoch;
    b->simd_epoch = f.simd_epoch;
    b->attributes = f.attributes;
    l->ranges[0].low = reinterpret_cast<unsigned long>(f.own.low);
    l->ranges[0].high = reinterpret_cast<unsigned long>(f.own.low + STACK_BYTES);
    qkm_switch(&l->scheduler, f.sp);
    if (f.at == DONE) {
        stacks.free.push_back(f.own);
        f.own.low = nullptr;
    }
    return l->status == QK_MSL_OK;
}

const char *barrier_name(state s) {
    return s == AT_BARRIER        ? "threadgroup_barrier"
           : s == AT_SIMD_BARRIER ? "simdgroup_barrier"
                                  : "a simdgroup function";
}

void divergent(launch_state *l, unsigned waiting, unsigned from, unsigned to) {
    const fiber &f = l->fibers[waiting];
    unsigned there = 0, other = ~0u;
    for (unsigned t = from; t < to; ++t) {
        const fiber &g = l->fibers[t];
        if (g.at == f.at && g.line == f.line && g.file == f.file)
            ++there;
        else if (other == ~0u)
            other = t;
    }
    string why;
    if (other != ~0u) {
        const fiber &g = l->fibers[other];
        why = thread_text(l, other) +
              (g.at == DONE ? " has ended"
                            : string(" waits in ") + barrier_name(g.at) + " at line " + std::to_string(g.line));
    }
    l->status = msl::fail(l->error, QK_MSL_ERROR_BARRIER, f.line, "%s:%d: %s: %s is reached by %u of %u threads; %s",
                          f.file, f.line, l->kernel->name, barrier_name(f.at), there, to - from, why.c_str());
}

// All threads wait or have ended. Lets go on what can; false: an error, or all have ended (*more false).
bool release(launch_state *l, bool *more) {
    bool any = false, alive = false;
    for (unsigned base = 0; base < l->count; base += QKM_LANES) {
        const unsigned end = std::min(base + unsigned(QKM_LANES), l->count);
        // The exchange that comes first in the text: lanes that are ahead wait for those that took another branch.
        const fiber *first = nullptr;
        unsigned barriers = 0, here = 0, one = 0;
        for (unsigned t = base; t < end; ++t) {
            const fiber &f = l->fibers[t];
            if (f.at != DONE) alive = true;
            if (f.at == AT_EXCHANGE &&
                (!first || f.line < first->line || (f.line == first->line && f.column < first->column)))
                first = &f;
            if (f.at == AT_SIMD_BARRIER) ++barriers, one = t;
        }
        if (first) {
            unsigned active = 0;
            const int line = first->line, column = first->column;
            const unsigned bytes = first->bytes;
            auto joins = [&](const fiber &f) {
                return f.at == AT_EXCHANGE && f.line == line && f.column == column && f.bytes == bytes;
            };
            for (unsigned t = base; t < end; ++t)
                if (joins(l->fibers[t])) active |= 1u << (t - base);
            if (first->whole && active != ~0u) {
                divergent(l, unsigned(first - &l->fibers[0]), base, end);
                return false;
            }
            for (unsigned t = base; t < end; ++t) {
                fiber &f = l->fibers[t];
                if (!(active >> (t - base) & 1u)) continue;
                memset(f.all, 0xFF, size_t(bytes) * QKM_LANES);
                for (unsigned u = base; u < end; ++u)
                    if (active >> (u - base) & 1u)
                        memcpy(static_cast<char *>(f.all) + size_t(bytes) * (u - base), l->fibers[u].value, bytes);
                *f.active = active;
            }
            for (unsigned t = base; t < end; ++t)
                if (active >> (t - base) & 1u) l->fibers[t].at = READY;
            any = true;
        } else if (barriers) {
            for (unsigned t = base; t < end; ++t)
                here += l->fibers[t].at == AT_SIMD_BARRIER && l->fibers[t].line == l->fibers[one].line &&
                        l->fibers[t].file == l->fibers[one].file;
            if (here != end - base) {
                divergent(l, one, base, end);
                return false;
            }
            for (unsigned t = base; t < end; ++t) {
                l->fibers[t].at = READY;
                ++l->fibers[t].simd_epoch;
            }
            any = true;
        }
    }
    *more = alive;
    if (any || !alive) return true;
    // All that are left wait at threadgroup barriers.
    unsigned waiting = 0;
    while (l->fibers[waiting].at != AT_BARRIER) ++waiting;
    for (unsigned t = 0; t < l->count; ++t) {
        const fiber &f = l->fibers[t], &w = l->fibers[waiting];
        if (f.at != AT_BARRIER || f.line != w.line || strcmp(f.file, w.file) != 0) {
            divergent(l, waiting, 0, l->count);
            return false;
        }
    }
    const bool orders = !l->fibers[waiting].only_waits;
    for (unsigned t = 0; t < l->count; ++t) {
        l->fibers[t].at = READY;
        if (orders) l->fibers[t].simd_epoch = 0;
    }
    if (orders) ++l->epoch;
    return true;
}

bool run_threadgroup(launch_state *l, qk_msl_order order) {
    vector<unsigned> sequence(l->count);
    for (unsigned i = 0; i < l->count; ++i) sequence[i] = order == QK_MSL_REVERSE ? l->count - 1 - i : i;
    for (bool more = true; more;) {
        if (order == QK_MSL_RANDOM)
            for (size_t i = sequence.size(); i > 1; --i)
                std::swap(sequence[i - 1], sequence[next_random(&l->random) % i]);
        for (const unsigned t : sequence)
            if ((l->fibers[t].at == NEW || l->fibers[t].at == READY) && !turn(l, t)) return false;
        if (!release(l, &more)) return false;
    }
    return true;
}

// ---- memory ----

// Each buffer stands alone: a slot of address space of which only the buffer's own pages are there, so far from the next
// that an index that wraps at 32 bits does not reach it.
enum { SLOTS = 80 };
const unsigned long SLOT_BYTES = 72ul << 30;

struct arena {
    char *base;
    unsigned used;
    unsigned long slot;
    arena() : base(nullptr), used(0), slot(SLOT_BYTES) {
        for (; !base && slot >= (1ul << 20); slot /= 8) {
            void *p = mmap(nullptr, slot * SLOTS, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            if (p != MAP_FAILED) {
                base = static_cast<char *>(p);
                break;
            }
        }
    }
    ~arena() {
        if (base) munmap(base, slot * SLOTS);
    }
    // The address of `bytes` bytes; null when there is no room.
    char *take(uint64_t bytes) {
        const uint64_t whole = (bytes + PAGE - 1) / PAGE * PAGE;
        if (!base || used == SLOTS || whole > slot / 2) return nullptr;
        char *at = base + slot * used++ + slot / 4 / PAGE * PAGE;
        if (whole && mprotect(at, whole, PROT_READ | PROT_WRITE) != 0) return nullptr;
        return at;
    }
    void release() {
        if (!base) return;
        for (unsigned i = 0; i < used; ++i) {
            char *at = base + slot * i + slot / 4 / PAGE * PAGE;
            const uint64_t whole = sizes[i];
            if (whole) {
                madvise(at, whole, MADV_DONTNEED);
                mprotect(at, whole, PROT_NONE);
            }
        }
        used = 0;
    }
    uint64_t sizes[SLOTS];
    char *place(uint64_t bytes) {
        char *at = take(bytes);
        if (at) sizes[used - 1] = (bytes + PAGE - 1) / PAGE * PAGE;
        return at;
    }
};
thread_local std::unique_ptr<arena> memory;

// ---- crashes: what no check has foreseen (a stack that overflows, ...) ----

void on_signal(int number, siginfo_t *, void *context) {
    launch_state *l = running;
    if (!l) {
        signal(number, SIG_DFL);
        raise(number);
        return;
    }
    (void)context;
    siglongjmp(l->crash, number);
}

struct signals {
    struct sigaction old[4];
    stack_t old_stack;
    std::unique_ptr<char[]> room{new char[65536]};
    static constexpr int which[4] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    signals() {
        stack_t s = {};
        s.ss_sp = room.get();
        s.ss_size = 65536;
        sigaltstack(&s, &old_stack);
        struct sigaction a = {};
        a.sa_sigaction = on_signal;
        a.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
        for (int i = 0; i < 4; ++i) sigaction(which[i], &a, &old[i]);
    }
    ~signals() {
        for (int i = 0; i < 4; ++i) sigaction(which[i], &old[i], nullptr);
        sigaltstack(&old_stack, nullptr);
    }
};
constexpr int signals::which[4];

// ---- opening ----

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

struct constant_slot {
    uint32_t id, defined;
    unsigned char value[16];
};

// A copy of the object with the values of the function constants in their place.
bool specialise(const string &object, const qk_msl_options *o, string *copy, qk_msl_error *error) {
    string bytes = msl::read_file(object);
    constant_slot mark = {0xFFFFFFFFu, 0, {'q', 'k', 'm', ' ', 'c', 'o', 'n', 's', 't', 'a', 'n', 't', 's'}};
    const size_t at = bytes.find(string(reinterpret_cast<const char *>(&mark), 8 + 13));
    if (at == string::npos || o->value_count > 63) {
        msl::fail(error, QK_MSL_ERROR_ARGUMENT, 0, "more than 63 function constants");
        return false;
    }
    for (uint32_t i = 0; i < o->value_count; ++i) {
        constant_slot s = {o->values[i].id, 1, {0}};
        memcpy(s.value, o->values[i].value, std::min<size_t>(o->values[i].bytes, 16));
        memcpy(&bytes[at + sizeof s * (i + 1)], &s, sizeof s);
    }
    static std::mutex lock;
    static unsigned serial;
    std::lock_guard<std::mutex> guard(lock);
    *copy = object + "." + std::to_string(long(getpid())) + "." + std::to_string(serial++) + ".so";
    if (msl::write_file(*copy, bytes)) return true;
    msl::fail(error, QK_MSL_ERROR_COMPILER, 0, "cannot write %s", copy->c_str());
    return false;
}

// Where the object lies: its constants may be read.
void map_image(qk_msl *f) {
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[4608];
    unsigned long last = 0;
    while (maps && fgets(line, sizeof line, maps)) {
        unsigned long low, high;
        char mode[8];
        if (sscanf(line, "%lx-%lx %7s", &low, &high, mode) != 3) continue;
        const bool ours = strstr(line, f->object.c_str()) != nullptr;
        if ((ours || (low == last && !strchr(line, '/'))) && mode[0] == 'r')
            f->image.push_back({low, high, unsigned(QKM_READ), nullptr});
        last = ours ? high : 0;
    }
    if (maps) fclose(maps);
}

} // namespace

extern "C" {

qk_msl *qk_msl_open(const char *text, size_t bytes, const char *name, const qk_msl_options *options,
                    qk_msl_error *error) {
    const double start = now();
    const msl::settings s = msl::choose(options);
    string object;
    bool cached = false;
    if (error) *error = {};
    if (!msl::build(s, string(text, bytes), name ? name : "kernels.metal", &object, &cached, error)) return nullptr;
    std::unique_ptr<qk_msl> f(new qk_msl());
    f->name = name ? name : "kernels.metal";
    f->object = object;
    f->key = object.substr(object.rfind('/') + 1, 32);
    f->cached = cached;
    f->skip = s.skip;
    // Always a copy when there are values; else the object itself, which the loader shares between openings: so a copy, too,
    // when it is open already.
    static const qk_msl_options none = {};
    void *already = dlopen(object.c_str(), RTLD_NOW | RTLD_NOLOAD);
    if (already) dlclose(already);
    if (already || (options && options->value_count)) {
        if (!specialise(object, options ? options : &none, &f->object, error)) return nullptr;
        f->temporary = true;
    }
    f->handle = dlopen(f->object.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!f->handle) {
        msl::fail(error, QK_MSL_ERROR_COMPILER, 0, "cannot load %s: %s", f->object.c_str(), dlerror());
        if (f->temporary) unlink(f->object.c_str());
        return nullptr;
    }
    f->table = static_cast<const msl::table *>(dlsym(f->handle, "qkm_the_table"));
    f->bridge = static_cast<qkm_bridge *>(dlsym(f->handle, "qkm_the_bridge"));
    auto section = reinterpret_cast<void (*)(char **, char **)>(dlsym(f->handle, "qkm_threadgroup_memory"));
    section(&f->threadgroup_low, &f->threadgroup_high);
    map_image(f.get());
    f->seconds = now() - start;
    return f.release();
}

qk_msl *qk_msl_open_file(const char *path, const qk_msl_options *options, qk_msl_error *error) {
    bool found;
    const string text = msl::read_file(path, &found);
    if (!found) {
        msl::fail(error, QK_MSL_ERROR_ARGUMENT, 0, "cannot read %s", path);
        return nullptr;
    }
    return qk_msl_open(text.data(), text.size(), path, options, error);
}

void qk_msl_close(qk_msl *f) {
    if (!f) return;
    dlclose(f->handle);
    if (f->temporary) unlink(f->object.c_str());
    delete f;
}

uint32_t qk_msl_kernel_count(const qk_msl *f) { return f->table->kernel_count; }
const qk_msl_kernel *qk_msl_kernel_at(const qk_msl *f, uint32_t i) { return &f->table->kernels[i]; }
const qk_msl_kernel *qk_msl_find(const qk_msl *f, const char *name) {
    for (uint32_t i = 0; i < f->table->kernel_count; ++i)
        if (!strcmp(f->table->kernels[i].name, name)) return &f->table->kernels[i];
    return nullptr;
}
uint32_t qk_msl_constant_count(const qk_msl *f) { return f->table->constant_count; }
const qk_msl_constant *qk_msl_constant_at(const qk_msl *f, uint32_t i) { return &f->table->constants[i]; }
double qk_msl_open_seconds(const qk_msl *f, int *cached) {
    if (cached) *cached = f->cached;
    return f->seconds;
}

qk_msl_status qk_msl_run(qk_msl *file, const qk_msl_kernel *kernel, const qk_msl_launch *launch, qk_msl_error *given) {
    qk_msl_error ignored;
    qk_msl_error *const volatile error = given ? given : &ignored;
    *error = {};
    if (!kernel) return msl::fail(error, QK_MSL_ERROR_ARGUMENT, 0, "%s: no kernel of that name", file->name.c_str());
    const char *name = kernel->name;
    if (!memory) memory.reset(new arena);
    memory->release();

    launch_state l;
    l.file = file;
    l.kernel = kernel;
    l.entry = file->table->entries[kernel - file->table->kernels];
    l.error = error;
    l.random = launch->seed;
    l.epoch = 0;

    unsigned groups[3], threads[3];
    const bool exact = launch->threads[0] || launch->threads[1] || launch->threads[2];
    uint64_t size = 1;
    for (int i = 0; i < 3; ++i) {
        l.group[i] = launch->group[i] ? launch->group[i] : 1;
        size *= l.group[i];
        if (exact) {
            threads[i] = launch->threads[i] ? launch->threads[i] : 1;
            groups[i] = unsigned((uint64_t(threads[i]) + l.group[i] - 1) / l.group[i]);
        } else {
            groups[i] = launch->groups[i] ? launch->groups[i] : 1;
            const uint64_t all = uint64_t(groups[i]) * l.group[i];
            if (all > 0xFFFFFFFFu)
                return msl::fail(error, QK_MSL_ERROR_ARGUMENT, 0, "%s: a grid of more than 2^32 - 1 threads", name);
            threads[i] = unsigned(all);
        }
    }
    const uint64_t most = kernel->max_threads ? kernel->max_threads : 1024;
    if (size > most)
        return msl::fail(error, QK_MSL_ERROR_ARGUMENT, 0, "%s: a threadgroup of %llu threads; at most %llu", name,
                         (unsigned long long)size, (unsigned long long)most);

    // Buffers.
    vector<void *> slots(kernel->argument_count + 1, nullptr);
    struct copied {
        void *at, *data;
        uint64_t bytes;
        bool back;
    };
    vector<copied> copies;
    vector<std::pair<size_t, uint64_t>> tracked;               // ranges of threadgroup memory
    l.ranges.push_back({0, 0, QKM_READ | QKM_WRITE, nullptr}); // the running thread's stack
    for (uint32_t i = 0; i < kernel->argument_count; ++i) {
        const qk_msl_argument &a = kernel->arguments[i];
        if (a.kind == QK_MSL_UNSUPPORTED)
            return msl::fail(error, QK_MSL_ERROR_ARGUMENT, a.line,
                             "%s:%d: %s: the executor has nothing for the argument %s (%s %s)", file->name.c_str(),
                             a.line, name, a.name, a.type.name, a.attribute);
        if (a.kind == QK_MSL_ATTRIBUTE) continue;
        const bool shared = a.kind == QK_MSL_THREADGROUP;
        const qk_msl_buffer *list = shared ? launch->threadgroup : launch->buffers, *found = nullptr;
        const uint32_t n = shared ? launch->threadgroup_count : launch->buffer_count;
        for (uint32_t k = 0; k < n; ++k)
            if (list[k].index == a.index) found = &list[k];
        if (!found) {
            if (a.optional) continue;
            return msl::fail(error, QK_MSL_ERROR_ARGUMENT, a.line, "%s:%d: %s: nothing is bound to %s, [[%s(%u)]]",
                             file->name.c_str(), a.line, name, a.name, shared ? "threadgroup" : "buffer", a.index);
        }
        if (a.is_reference && found->bytes < a.type.bytes)
            return msl::fail(error, QK_MSL_ERROR_ARGUMENT, a.line,
                             "%s:%d: %s: %s, [[buffer(%u)]], has %llu bytes; %s has %llu", file->name.c_str(), a.line,
                             name, a.name, a.index, (unsigned long long)found->bytes, a.type.name,
                             (unsigned long long)a.type.bytes);
        char *at = memory->place(found->bytes);
        if (!at)
            return msl::fail(error, QK_MSL_ERROR_ARGUMENT, 0, "%s: no address space for %llu bytes", name,
                             (unsigned long long)found->bytes);
        slots[i] = at;
        const unsigned long low = reinterpret_cast<unsigned long>(at);
        const bool writable = shared || !a.is_const;
        l.ranges.push_back({low, low + found->bytes, unsigned(writable ? QKM_READ | QKM_WRITE : QKM_READ), nullptr});
        if (shared) {
            tracked.push_back({l.ranges.size() - 1, found->bytes});
        } else {
            if (found->bytes) memcpy(at, found->data, found->bytes);
            copies.push_back({at, found->data, found->bytes, writable});
        }
    }
    for (uint32_t k = 0; k < launch->buffer_count; ++k) {
        bool known = false;
        for (uint32_t i = 0; i < kernel->argument_count; ++i)
            known |=
                kernel->arguments[i].kind == QK_MSL_BUFFER && kernel->arguments[i].index == launch->buffers[k].index;
        if (!known)
            return msl::fail(error, QK_MSL_ERROR_ARGUMENT, 0, "%s: the kernel has no [[buffer(%u)]]", name,
                             launch->buffers[k].index);
    }
    l.slots = slots.data();
    if (file->threadgroup_low && file->threadgroup_high > file->threadgroup_low) {
        const unsigned long low = reinterpret_cast<unsigned long>(file->threadgroup_low),
                            high = reinterpret_cast<unsigned long>(file->threadgroup_high);
        l.ranges.push_back({low, high, QKM_READ | QKM_WRITE, nullptr});
        tracked.push_back({l.ranges.size() - 1, high - low});
    }
    vector<vector<qkm_cell>> cells(tracked.size());
    for (size_t i = 0; i < tracked.size(); ++i) {
        cells[i].resize(tracked[i].second);
        l.ranges[tracked[i].first].cells = cells[i].data();
    }
    for (const qkm_range &r : file->image) l.ranges.push_back(r);

    qkm_bridge *b = file->bridge;
    b->check_races = !(file->skip & QK_MSL_NO_RACE_CHECK);
    b->check_uninitialised = !(file->skip & QK_MSL_NO_UNINITIALISED_CHECK);
    b->launch = &l;
    b->fault = on_fault;
    b->barrier = on_barrier;
    b->exchange = on_exchange;
    b->ranges = l.ranges.data();
    b->range_count = unsigned(l.ranges.size());

    l.fibers.resize(size);
    for (fiber &f : l.fibers) f.own.low = nullptr;
    const uint64_t group_count = uint64_t(groups[0]) * groups[1] * groups[2];
    vector<uint64_t> random_groups;
    if (launch->order == QK_MSL_RANDOM) {
        for (uint64_t i = 0; i < group_count; ++i) random_groups.push_back(i);
        for (size_t i = random_groups.size(); i > 1; --i)
            std::swap(random_groups[i - 1], random_groups[next_random(&l.random) % i]);
    }

    launch_state *const outer = running;
    running = &l;
    {
        signals guard;
        const int crashed = sigsetjmp(l.crash, 1);
        if (crashed) {
            l.status =
                msl::fail(error, QK_MSL_ERROR_ACCESS, kernel->line, "%s:%d: %s: signal %d (%s); %s", file->name.c_str(),
                          kernel->line, name, crashed, strsignal(crashed), thread_text(&l, l.current).c_str());
        } else {
            for (uint64_t k = 0; k < group_count && l.status == QK_MSL_OK; ++k) {
                const uint64_t n = launch->order == QK_MSL_REVERSE  ? group_count - 1 - k
                                   : launch->order == QK_MSL_RANDOM ? random_groups[k]
                                                                    : k;
                const unsigned g[3] = {unsigned(n % groups[0]), unsigned(n / groups[0] % groups[1]),
                                       unsigned(n / groups[0] / groups[1])};
                unsigned here[3];
                for (int i = 0; i < 3; ++i) here[i] = std::min(l.group[i], threads[i] - g[i] * l.group[i]);
                l.count = here[0] * here[1] * here[2];
                l.epoch = 1;
                for (size_t i = 0; i < tracked.size(); ++i) {
                    const qkm_range &r = l.ranges[tracked[i].first];
                    memset(reinterpret_cast<void *>(r.low), 0xFF, r.high - r.low);
                    std::fill(cells[i].begin(), cells[i].end(), qkm_cell());
                }
                for (unsigned t = 0; t < l.count; ++t) {
                    fiber &f = l.fibers[t];
                    f.at = NEW;
                    f.simd_epoch = 0;
                    const unsigned p[3] = {t % here[0], t / here[0] % here[1], t / here[0] / here[1]};
                    auto set = [&](int which, unsigned x, unsigned y, unsigned z) {
                        f.attributes[which][0] = x;
                        f.attributes[which][1] = y;
                        f.attributes[which][2] = z;
                    };
                    const unsigned simdgroups = (l.count + QKM_LANES - 1) / QKM_LANES;
                    set(QKM_thread_position_in_grid, g[0] * l.group[0] + p[0], g[1] * l.group[1] + p[1],
                        g[2] * l.group[2] + p[2]);
                    set(QKM_thread_position_in_threadgroup, p[0], p[1], p[2]);
                    set(QKM_threadgroup_position_in_grid, g[0], g[1], g[2]);
                    set(QKM_threads_per_grid, threads[0], threads[1], threads[2]);
                    set(QKM_threads_per_threadgroup, here[0], here[1], here[2]);
                    set(QKM_dispatch_threads_per_threadgroup, l.group[0], l.group[1], l.group[2]);
                    set(QKM_threadgroups_per_grid, groups[0], groups[1], groups[2]);
                    set(QKM_thread_index_in_threadgroup, t, 0, 0);
                    set(QKM_thread_index_in_simdgroup, t % QKM_LANES, 0, 0);
                    set(QKM_simdgroup_index_in_threadgroup, t / QKM_LANES, 0, 0);
                    set(QKM_simdgroups_per_threadgroup, simdgroups, 1, 1);
                    set(QKM_threads_per_simdgroup, QKM_LANES, 1, 1);
                    set(QKM_thread_index_in_quadgroup, t % 4, 0, 0);
                    set(QKM_quadgroup_index_in_threadgroup, t / 4, 0, 0);
                    set(QKM_quadgroups_per_threadgroup, (l.count + 3) / 4, 1, 1);
                }
                if (!run_threadgroup(&l, launch->order)) break;
            }
        }
    }
    running = outer;
    b->range_count = 0;
    for (fiber &f : l.fibers)
        if (f.own.low) stacks.free.push_back(f.own);
    for (const copied &c : copies)
        if (c.back && c.bytes) memcpy(c.data, c.at, c.bytes);
    memory->release();
    return l.status;
}

} // extern "C"
