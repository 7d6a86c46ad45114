// Atomics. Threads of the executor take turns, so plain memory operations are atomic; what counts is that they are told
// apart from plain accesses when the executor looks for races.
#pragma once

extern "C" void qkm_atomic(const volatile void *address, unsigned long size, int writes);

namespace metal {

enum memory_order {
    memory_order_relaxed,
    memory_order_acquire,
    memory_order_release,
    memory_order_acq_rel,
    memory_order_seq_cst
};
enum thread_scope { thread_scope_thread, thread_scope_simdgroup, thread_scope_threadgroup, thread_scope_device };
enum class mem_flags : uint {
    mem_none = 0,
    mem_device = 1,
    mem_threadgroup = 2,
    mem_texture = 4,
    mem_threadgroup_imageblock = 8,
    mem_object_data = 16
};
constexpr mem_flags operator|(mem_flags a, mem_flags b) { return mem_flags(uint(a) | uint(b)); }
constexpr mem_flags operator&(mem_flags a, mem_flags b) { return mem_flags(uint(a) & uint(b)); }

template <class T> struct atomic { T qkm_value; };

#define QKM_PLAIN __attribute__((no_sanitize("address"), noinline))
template <class T> QKM_PLAIN void atomic_store_explicit(volatile atomic<T> *p, T x, memory_order) {
    qkm_atomic(p, sizeof(T), 1);
    const_cast<atomic<T> *>(p)->qkm_value = x;
}
template <class T> QKM_PLAIN T atomic_load_explicit(const volatile atomic<T> *p, memory_order) {
    qkm_atomic(p, sizeof(T), 0);
    return const_cast<const atomic<T> *>(p)->qkm_value;
}
#define QKM_FETCH(NAME, EXPR)                                                                                          \
    template <class T> QKM_PLAIN T NAME(volatile atomic<T> *p, typename qkm::identity<T>::type y, memory_order) {      \
        qkm_atomic(p, sizeof(T), 1);                                                                                   \
        T &at = const_cast<atomic<T> *>(p)->qkm_value;                                                                 \
        const T x = at;                                                                                                \
        at = T(EXPR);                                                                                                  \
        return x;                                                                                                      \
    }
QKM_FETCH(atomic_exchange_explicit, y)
QKM_FETCH(atomic_fetch_add_explicit, x + y)
QKM_FETCH(atomic_fetch_sub_explicit, x - y)
QKM_FETCH(atomic_fetch_and_explicit, x &y)
QKM_FETCH(atomic_fetch_or_explicit, x | y)
QKM_FETCH(atomic_fetch_xor_explicit, x ^ y)
QKM_FETCH(atomic_fetch_min_explicit, y < x ? y : x)
QKM_FETCH(atomic_fetch_max_explicit, x < y ? y : x)
#undef QKM_FETCH
template <class T>
QKM_PLAIN bool atomic_compare_exchange_weak_explicit(volatile atomic<T> *p, T *expected,
                                                     typename qkm::identity<T>::type y, memory_order, memory_order) {
    qkm_atomic(p, sizeof(T), 1);
    T &at = const_cast<atomic<T> *>(p)->qkm_value;
    if (__builtin_memcmp(&at, expected, sizeof(T)) == 0) {
        at = y;
        return true;
    }
    *expected = at;
    return false;
}
#undef QKM_PLAIN
inline void atomic_thread_fence(mem_flags, memory_order = memory_order_seq_cst, thread_scope = thread_scope_device) {}

using atomic_int = atomic<int>;
using atomic_uint = atomic<uint>;
using atomic_bool = atomic<bool>;
using atomic_float = atomic<float>;
using atomic_long = atomic<long>;
using atomic_ulong = atomic<ulong>;

} // namespace metal

using metal::atomic_bool;
using metal::atomic_float;
using metal::atomic_int;
using metal::atomic_uint;
using metal::atomic_ulong;
