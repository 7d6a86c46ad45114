// Barriers, and the functions of a simdgroup (32 threads) and a quadgroup (4). Each lane gives its value, waits until the
// active lanes of its simdgroup have come to the same place of the text, and computes its result from all values.
#pragma once

extern "C" void qkm_barrier(int simdgroup, const char *file, int line);
extern "C" void qkm_exchange(const void *value, unsigned bytes, void *all, unsigned *active, int whole,
                             const char *file, int line, int column);
extern "C" unsigned qkm_attribute(int which, int component);

namespace metal {

#define QKM_PLACE const char *file = __builtin_FILE(), int line = __builtin_LINE(), int column = __builtin_COLUMN()
#define QKM_HERE file, line, column

// 0 where it orders threadgroup memory, 2 where it only waits.
inline int qkm_orders(mem_flags flags) { return uint(flags) & uint(mem_flags::mem_threadgroup) ? 0 : 2; }
inline void threadgroup_barrier(mem_flags flags, const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
    qkm_barrier(qkm_orders(flags), file, line);
}
inline void threadgroup_barrier(mem_flags flags, thread_scope, const char *file = __builtin_FILE(),
                                int line = __builtin_LINE()) {
    qkm_barrier(qkm_orders(flags), file, line);
}
inline void simdgroup_barrier(mem_flags, const char *file = __builtin_FILE(), int line = __builtin_LINE()) {
    qkm_barrier(1, file, line);
}

class simd_vote {
  public:
    using vote_t = ulong;
    simd_vote() = default;
    explicit simd_vote(vote_t bits) : bits_(bits) {}
    explicit operator vote_t() const { return bits_; }
    bool all() const { return bits_ == 0xFFFFFFFFul; }
    bool any() const { return bits_ != 0; }

  private:
    vote_t bits_;
};

namespace qkm {

template <class T> struct lanes {
    T v[32];
    uint active; // a bit for each lane that came here
    uint self;
    lanes(const T &x, QKM_PLACE) : lanes(x, false, QKM_HERE) {}
    // `whole`: it is an error if a lane does not come.
    lanes(const T &x, bool whole, const char *file, int line, int column) : self(qkm_attribute(8, 0)) {
        qkm_exchange(&x, sizeof x, v, &active, whole, QKM_HERE);
    }
    bool has(uint lane) const { return lane < 32 && (active >> lane & 1u); }
    // From a lane that is not there: any value; here all bits set.
    T from(uint lane) const {
        if (has(lane)) return v[lane];
        T x;
        __builtin_memset(&x, 0xFF, sizeof x);
        return x;
    }
    // Pairs at distance `width` / 2, then / 4, ... within each run of `width` lanes: the same order for every lane.
    template <class F> T reduce(F f, uint width = 32) const {
        const uint base = self & ~(width - 1);
        T r[32];
        bool there[32];
        for (uint i = 0; i < width; ++i)
            if ((there[i] = has(base + i))) r[i] = v[base + i];
        for (uint half = width / 2; half > 0; half /= 2)
            for (uint i = 0; i < half; ++i)
                if (there[i + half]) {
                    r[i] = there[i] ? f(r[i], r[i + half]) : r[i + half];
                    there[i] = true;
                }
        return r[0];
    }
    template <class F> T scan(F f, T first, bool inclusive, uint width = 32) const {
        const uint base = self & ~(width - 1);
        T r = first;
        bool any = false;
        for (uint i = base; i < self + inclusive; ++i)
            if (has(i)) r = any ? f(r, v[i]) : v[i], any = true;
        return r;
    }
};

struct op_add {
    template <class T> T operator()(T a, T b) const { return T(a + b); }
};
struct op_mul {
    template <class T> T operator()(T a, T b) const { return T(a * b); }
};
struct op_min {
    template <class T> T operator()(T a, T b) const { return metal::min(a, b); }
};
struct op_max {
    template <class T> T operator()(T a, T b) const { return metal::max(a, b); }
};
struct op_and {
    template <class T> T operator()(T a, T b) const { return T(a & b); }
};
struct op_or {
    template <class T> T operator()(T a, T b) const { return T(a | b); }
};
struct op_xor {
    template <class T> T operator()(T a, T b) const { return T(a ^ b); }
};

} // namespace qkm

#define QKM_REDUCE(NAME, OP)                                                                                           \
    template <class T> inline T simd_##NAME(T x, QKM_PLACE) { return qkm::lanes<T>(x, QKM_HERE).reduce(OP()); }        \
    template <class T> inline T quad_##NAME(T x, QKM_PLACE) { return qkm::lanes<T>(x, QKM_HERE).reduce(OP(), 4); }
QKM_REDUCE(sum, qkm::op_add)
QKM_REDUCE(product, qkm::op_mul) QKM_REDUCE(min, qkm::op_min) QKM_REDUCE(max, qkm::op_max) QKM_REDUCE(and, qkm::op_and)
    QKM_REDUCE(or, qkm::op_or) QKM_REDUCE(xor, qkm::op_xor)
#undef QKM_REDUCE
#define QKM_SCAN(NAME, OP, FIRST)                                                                                      \
    template <class T> inline T simd_prefix_inclusive_##NAME(T x, QKM_PLACE) {                                         \
        return qkm::lanes<T>(x, QKM_HERE).scan(OP(), T(FIRST), true);                                                  \
    }                                                                                                                  \
    template <class T> inline T simd_prefix_exclusive_##NAME(T x, QKM_PLACE) {                                         \
        return qkm::lanes<T>(x, QKM_HERE).scan(OP(), T(FIRST), false);                                                 \
    }                                                                                                                  \
    template <class T> inline T quad_prefix_inclusive_##NAME(T x, QKM_PLACE) {                                         \
        return qkm::lanes<T>(x, QKM_HERE).scan(OP(), T(FIRST), true, 4);                                               \
    }                                                                                                                  \
    template <class T> inline T quad_prefix_exclusive_##NAME(T x, QKM_PLACE) {                                         \
        return qkm::lanes<T>(x, QKM_HERE).scan(OP(), T(FIRST), false, 4);                                              \
    }
        QKM_SCAN(sum, qkm::op_add, 0) QKM_SCAN(product, qkm::op_mul, 1)
#undef QKM_SCAN

// The lane that a shuffle reads, in terms of a (this lane within its group) and n (the argument).
#define QKM_SHUFFLE(NAME, LANE)                                                                                        \
    template <class T> inline T simd_##NAME(T x, ushort n, QKM_PLACE) {                                                \
        const qkm::lanes<T> all(x, QKM_HERE);                                                                          \
        const uint base = 0, a = all.self, width = 32;                                                                 \
        (void)width;                                                                                                   \
        return all.from(LANE);                                                                                         \
    }                                                                                                                  \
    template <class T> inline T quad_##NAME(T x, ushort n, QKM_PLACE) {                                                \
        const qkm::lanes<T> all(x, QKM_HERE);                                                                          \
        const uint base = all.self & ~3u, a = all.self & 3u, width = 4;                                                \
        (void)width;                                                                                                   \
        return all.from(LANE);                                                                                         \
    }
            QKM_SHUFFLE(shuffle, base + (n & (width - 1))) QKM_SHUFFLE(broadcast, base + (n & (width - 1)))
                QKM_SHUFFLE(shuffle_xor, base + ((a ^ n) & (width - 1)))
                    QKM_SHUFFLE(shuffle_up, base + (a >= n ? a - n : a))
                        QKM_SHUFFLE(shuffle_down, base + (a + n < width ? a + n : a))
                            QKM_SHUFFLE(shuffle_rotate_up, base + ((a - n) & (width - 1)))
                                QKM_SHUFFLE(shuffle_rotate_down, base + ((a + n) & (width - 1)))
#undef QKM_SHUFFLE
                                    template <class T>
                                    inline T simd_shuffle_and_fill_up(T x, T fill, ushort n, QKM_PLACE) {
    const qkm::lanes<T> all(x, QKM_HERE), filling(fill, QKM_HERE);
    return all.self >= n ? all.from(all.self - n) : filling.from(all.self + 32 - n);
}
template <class T> inline T simd_shuffle_and_fill_down(T x, T fill, ushort n, QKM_PLACE) {
    const qkm::lanes<T> all(x, QKM_HERE), filling(fill, QKM_HERE);
    return all.self + n < 32 ? all.from(all.self + n) : filling.from(all.self + n - 32);
}

template <class T> inline T simd_broadcast_first(T x, QKM_PLACE) {
    const qkm::lanes<T> all(x, QKM_HERE);
    return all.v[__builtin_ctz(all.active)];
}
template <class T> inline T quad_broadcast_first(T x, QKM_PLACE) {
    const qkm::lanes<T> all(x, QKM_HERE);
    const uint base = all.self & ~3u;
    return all.v[base + uint(__builtin_ctz(all.active >> base & 15u))];
}
inline simd_vote simd_ballot(bool c, QKM_PLACE) {
    const qkm::lanes<bool> all(c, QKM_HERE);
    ulong bits = 0;
    for (uint i = 0; i < 32; ++i)
        if (all.has(i) && all.v[i]) bits |= 1ul << i;
    return simd_vote(bits);
}
inline simd_vote simd_active_threads_mask(QKM_PLACE) { return simd_vote(qkm::lanes<bool>(true, QKM_HERE).active); }
inline bool simd_any(bool c, QKM_PLACE) { return qkm::lanes<bool>(c, QKM_HERE).reduce(qkm::op_or()); }
inline bool simd_all(bool c, QKM_PLACE) { return qkm::lanes<bool>(c, QKM_HERE).reduce(qkm::op_and()); }
inline bool quad_any(bool c, QKM_PLACE) { return qkm::lanes<bool>(c, QKM_HERE).reduce(qkm::op_or(), 4); }
inline bool quad_all(bool c, QKM_PLACE) { return qkm::lanes<bool>(c, QKM_HERE).reduce(qkm::op_and(), 4); }
inline bool simd_is_first(QKM_PLACE) {
    const qkm::lanes<bool> all(true, QKM_HERE);
    return all.self == uint(__builtin_ctz(all.active));
}
inline bool simd_is_helper_thread() { return false; }

} // namespace metal
