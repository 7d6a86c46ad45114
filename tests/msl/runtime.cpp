// runtime.cpp: the part of the executor that lives beside the kernels, in the same shared object. The kernels are compiled
// with AddressSanitizer's and UBSan's instrumentation, but not with their libraries: each access calls a function here, which
// asks whether the bytes are in a list of what the running thread may touch. There is no redzone to jump over.
#include "bridge.h"

typedef unsigned long u64;

extern "C" {

__attribute__((visibility("default"))) qkm_bridge qkm_the_bridge;

static inline bool plain_access(u64 address, u64 size, unsigned how, const qkm_range **found) {
    const qkm_range *const ranges = qkm_the_bridge.ranges;
    const unsigned n = qkm_the_bridge.range_count;
    for (unsigned i = 0; i < n; ++i) {
        if (address >= ranges[i].low && address < ranges[i].high) {
            *found = &ranges[i];
            return size <= ranges[i].high - address && (ranges[i].allowed & how) == how;
        }
    }
    return false;
}

static void fault(int what, u64 address, u64 size, u64 pc, const char *detail) {
    qkm_the_bridge.fault(qkm_the_bridge.launch, what, address, size, pc, detail);
}

// Two accesses of different threads to the same bytes, at least one of them a write, with no barrier between them. Threads of
// one simdgroup are ordered by simdgroup_barrier, too. Who has read is a thread, or several of one simdgroup, or several.
enum { SEVERAL = 0xFFFF, SEVERAL_OF = 0x8000 };

static void track(const qkm_range *range, u64 address, u64 size, unsigned how, u64 pc) {
    const qkm_bridge &b = qkm_the_bridge;
    const unsigned short self = (unsigned short)(b.thread + 1), simd = (unsigned short)b.simd_epoch;
    const unsigned group = b.thread / QKM_LANES;
    for (u64 i = 0; i < size; ++i) {
        qkm_cell &cell = range->cells[address - range->low + i];
        if ((how & QKM_READ) && !cell.writer && b.check_uninitialised && !(how & QKM_ATOMIC))
            fault(QKM_FAULT_UNINITIALISED, address, size, pc, 0);
        const bool written_now = cell.writer && cell.write_epoch == b.epoch,
                   read_now = cell.reader && cell.read_epoch == b.epoch;
        const unsigned read_group =
            cell.reader >= SEVERAL_OF ? cell.reader - SEVERAL_OF : (cell.reader - 1u) / QKM_LANES;
        const bool read_here = read_now && cell.reader != SEVERAL && read_group == group;
        if (b.check_races && !(how & QKM_ATOMIC)) {
            const bool write_ordered = (cell.writer - 1u) / QKM_LANES == group && cell.write_simd != simd;
            const bool read_ordered = read_here && cell.read_simd != simd;
            const bool after_write = written_now && cell.writer != self && !write_ordered;
            const bool after_read = (how & QKM_WRITE) && read_now && cell.reader != self && !read_ordered;
            if (after_write || after_read)
                fault(QKM_FAULT_RACE, address, (u64)(after_write ? cell.writer : cell.reader), pc,
                      how & QKM_WRITE ? "writes" : "reads");
        }
        if (how & QKM_WRITE) {
            cell.writer = self;
            cell.write_epoch = how & QKM_ATOMIC ? 0 : b.epoch;
            cell.write_simd = simd;
        }
        if ((how & QKM_READ) && !(how & QKM_ATOMIC)) {
            if (!read_now || cell.reader == self || (read_here && cell.read_simd != simd))
                cell.reader = self;
            else
                cell.reader = read_here ? (unsigned short)(SEVERAL_OF + group) : (unsigned short)SEVERAL;
            cell.read_epoch = b.epoch;
            cell.read_simd = simd;
        }
    }
}

__attribute__((noinline)) static void access_elsewhere(u64 address, u64 size, unsigned how, u64 pc) {
    const qkm_range *range = 0;
    if (!plain_access(address, size, how & 3u, &range)) {
        if (!qkm_the_bridge.range_count) return; // initialisation, before any launch
        fault(how & QKM_WRITE ? QKM_FAULT_WRITE : QKM_FAULT_READ, address, size, pc, 0);
    }
    if (range && range->cells) track(range, address, size, how, pc);
}

// Most accesses are to the running thread's own stack.
static inline void access(u64 address, u64 size, unsigned how, u64 pc) {
    const qkm_bridge &b = qkm_the_bridge;
    const bool own =
        b.range_count && address - b.ranges->low < b.ranges->high - b.ranges->low && size <= b.ranges->high - address;
    if (!own) access_elsewhere(address, size, how, pc);
}

#define HERE ((u64)__builtin_return_address(0))
#define ACCESS(N)                                                                                                      \
    void __asan_load##N(u64 address) { access(address, N, QKM_READ, HERE); }                                           \
    void __asan_store##N(u64 address) { access(address, N, QKM_WRITE, HERE); }
ACCESS(1) ACCESS(2) ACCESS(4) ACCESS(8) ACCESS(16) void __asan_loadN(u64 address, u64 size) {
    access(address, size, QKM_READ, HERE);
}
void __asan_storeN(u64 address, u64 size) { access(address, size, QKM_WRITE, HERE); }

// Loops of our own, kept loops.
__attribute__((no_builtin)) void *__asan_memcpy(void *to, const void *from, u64 size) {
    if (size) access((u64)from, size, QKM_READ, HERE), access((u64)to, size, QKM_WRITE, HERE);
    for (u64 i = 0; i < size; ++i) ((char *)to)[i] = ((const char *)from)[i];
    return to;
}
__attribute__((no_builtin)) void *__asan_memmove(void *to, const void *from, u64 size) {
    if (size) access((u64)from, size, QKM_READ, HERE), access((u64)to, size, QKM_WRITE, HERE);
    if (to < from)
        for (u64 i = 0; i < size; ++i) ((char *)to)[i] = ((const char *)from)[i];
    else
        for (u64 i = size; i-- > 0;) ((char *)to)[i] = ((const char *)from)[i];
    return to;
}
__attribute__((no_builtin)) void *__asan_memset(void *to, int value, u64 size) {
    if (size) access((u64)to, size, QKM_WRITE, HERE);
    for (u64 i = 0; i < size; ++i) ((char *)to)[i] = (char)value;
    return to;
}
void __asan_init(void) {}
void __asan_version_mismatch_check_v8(void) {}
void __asan_handle_no_return(void) {}
void __asan_before_dynamic_init(u64) {}
void __asan_after_dynamic_init(void) {}
int __asan_option_detect_stack_use_after_return = 0;
u64 __asan_shadow_memory_dynamic_address = 0;

// ---- undefined behaviour ----

void __ubsan_handle_out_of_bounds(void *, void *) {
    fault(QKM_FAULT_UNDEFINED, 0, 0, HERE, "an index outside its array");
}
void __ubsan_handle_shift_out_of_bounds(void *, void *, void *) {
    fault(QKM_FAULT_UNDEFINED, 0, 0, HERE, "a shift by the width of its type or more");
}
void __ubsan_handle_divrem_overflow(void *, void *, void *) {
    fault(QKM_FAULT_UNDEFINED, 0, 0, HERE, "an integer division by zero, or with a result that does not fit");
}
void __ubsan_handle_float_cast_overflow(void *, void *) {
    fault(QKM_FAULT_UNDEFINED, 0, 0, HERE, "a conversion to an integer type that cannot hold the value");
}
void __ubsan_handle_type_mismatch_v1(void *, void *at) {
    fault(QKM_FAULT_UNDEFINED, (u64)at, 0, HERE, "a pointer that is not aligned as its type asks, or null");
}
void __ubsan_handle_missing_return(void *) {
    fault(QKM_FAULT_UNDEFINED, 0, 0, HERE, "the end of a function that must return a value");
}

// ---- what the headers call ----

void qkm_atomic(const volatile void *at, u64 size, int writes) {
    access((u64)at, size, (writes ? QKM_READ | QKM_WRITE : QKM_READ) | QKM_ATOMIC, HERE);
}
void qkm_barrier(int simdgroup, const char *file, int line) {
    qkm_the_bridge.barrier(qkm_the_bridge.launch, simdgroup, file, line);
}
void qkm_exchange(const void *value, unsigned bytes, void *all, unsigned *active, int whole, const char *file, int line,
                  int column) {
    qkm_the_bridge.exchange(qkm_the_bridge.launch, value, bytes, all, active, whole, file, line, column);
}
unsigned qkm_attribute(int which, int component) { return qkm_the_bridge.attributes[which][component]; }

// Values of function constants: the loader writes them into a copy of the shared object, before anything runs.
struct constant_slot {
    unsigned id, defined;
    unsigned char value[16];
};
__attribute__((visibility("default"), used, section("qkm_constants"))) volatile constant_slot qkm_constant_slots[64] = {
    {0xFFFFFFFFu, 0, {'q', 'k', 'm', ' ', 'c', 'o', 'n', 's', 't', 'a', 'n', 't', 's'}}};

bool qkm_constant_defined(unsigned id) {
    for (const volatile constant_slot &slot : qkm_constant_slots)
        if (slot.defined && slot.id == id) return true;
    return false;
}
void qkm_constant_value(unsigned id, void *to, unsigned long size) {
    for (const volatile constant_slot &slot : qkm_constant_slots)
        if (slot.defined && slot.id == id)
            for (unsigned i = 0; i < size && i < 16; ++i) ((unsigned char *)to)[i] = slot.value[i];
}

extern char __start_qkm_threadgroup[] __attribute__((weak, visibility("hidden")));
extern char __stop_qkm_threadgroup[] __attribute__((weak, visibility("hidden")));
__attribute__((visibility("default"))) void qkm_threadgroup_memory(char **low, char **high) {
    *low = __start_qkm_threadgroup;
    *high = __stop_qkm_threadgroup;
}

} // extern "C"
