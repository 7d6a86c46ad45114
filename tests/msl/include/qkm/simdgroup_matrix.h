// simdgroup_matrix<T, 8, 8>: each of the 32 lanes holds two neighbouring elements of a row. Loads and stores touch the
// lane's own elements only, so that a bound is exact; products read the other lanes' elements. All lanes must take part in each.
// Which lane holds which elements, Apple does not say: here as its GPUs have it, or, with QKM_OTHER_LANES, in another order, that
// shows who relies on it.
#pragma once

namespace metal {

template <class T, int C, int R> struct simdgroup_matrix {
    static_assert(C == 8 && R == 8, "only 8x8");
    using storage_type = vec<T, 2>;
    vec<T, 2> qkm_elements;
    simdgroup_matrix() = default;
    explicit simdgroup_matrix(T diagonal) {
        for (int i = 0; i < 2; ++i) qkm_elements.d[i] = row() == column() + uint(i) ? diagonal : T(0);
    }
    vec<T, 2> &thread_elements() { return qkm_elements; }
    const vec<T, 2> &thread_elements() const { return qkm_elements; }

#ifdef QKM_OTHER_LANES
    static uint row_of(uint lane) { return 7 - lane % 8; }
    static uint column_of(uint lane) { return lane / 8 * 2; }
#else
    static uint row_of(uint lane) { return ((lane / 4) & 4u) + (lane / 2) % 4; }
    static uint column_of(uint lane) { return ((lane / 4) & 2u) * 2 + (lane % 2) * 2; }
#endif
    static uint row() { return row_of(qkm_attribute(8, 0)); }
    static uint column() { return column_of(qkm_attribute(8, 0)); }
};
using simdgroup_float8x8 = simdgroup_matrix<float, 8, 8>;
using simdgroup_half8x8 = simdgroup_matrix<half, 8, 8>;
using simdgroup_bfloat8x8 = simdgroup_matrix<bfloat, 8, 8>;

template <class T, int C = 8, int R = C> inline simdgroup_matrix<T, C, R> make_filled_simdgroup_matrix(T x) {
    simdgroup_matrix<T, C, R> m;
    m.qkm_elements = vec<T, 2>(x);
    return m;
}
template <class T, int C = 8, int R = C> inline simdgroup_matrix<T, C, R> make_diagonal_simdgroup_matrix(T x) {
    return simdgroup_matrix<T, C, R>(x);
}

namespace qkm {
template <class P, class M> inline P *element(P *p, ulong stride, const ulong2 &origin, bool transposed, int i) {
    const ulong r = M::row(), c = M::column() + uint(i);
    return p + (origin.d[1] + (transposed ? c : r)) * stride + origin.d[0] + (transposed ? r : c);
}
} // namespace qkm

#ifdef QKM_COUNTED
// For counts of instructions alone (bench/metal.sh): a product is one, a load or a store those of a lane's two elements, wherever they
// are, as on a GPU. Results mean nothing.
namespace qkm {
inline uint operand(half x) { return __builtin_bit_cast(ushort, x); }
inline uint operand(bfloat x) { return __builtin_bit_cast(ushort, x); }
inline uint operand(float x) { return __builtin_bit_cast(uint, x); }
} // namespace qkm

template <class T, int C, int R>
inline void simdgroup_load(simdgroup_matrix<T, C, R> &m, const T *p, ulong stride = C, ulong2 origin = ulong2(0ul),
                           bool = false) {
    for (int i = 0; i < 2; ++i) m.qkm_elements.d[i] = p[origin.d[1] * stride + origin.d[0] + ulong(i)];
}
template <class T, int C, int R>
inline void simdgroup_store(const simdgroup_matrix<T, C, R> &m, T *p, ulong stride = C, ulong2 origin = ulong2(0ul),
                            bool = false) {
    for (int i = 0; i < 2; ++i) p[origin.d[1] * stride + origin.d[0] + ulong(i)] = m.qkm_elements.d[i];
}
template <class D, class A, class B, class S, int C, int R>
inline void simdgroup_multiply_accumulate(simdgroup_matrix<D, C, R> &d, const simdgroup_matrix<A, C, R> &a,
                                          const simdgroup_matrix<B, C, R> &b, const simdgroup_matrix<S, C, R> &c,
                                          QKM_PLACE) {
    float sums[2] = {float(c.qkm_elements.d[0]), float(c.qkm_elements.d[1])};
    asm volatile("nop"
                 : "+x"(sums[0]), "+x"(sums[1])
                 : "r"(qkm::operand(a.qkm_elements.d[0])), "r"(qkm::operand(a.qkm_elements.d[1])), "r"(qkm::operand(b.qkm_elements.d[0])),
                   "r"(qkm::operand(b.qkm_elements.d[1])));
    (void)file, (void)line, (void)column;
    d.qkm_elements = vec<D, 2>(D(sums[0]), D(sums[1]));
}
#else
template <class T, int C, int R>
inline void simdgroup_load(simdgroup_matrix<T, C, R> &m, const T *p, ulong stride = C, ulong2 origin = ulong2(0ul),
                           bool transposed = false, QKM_PLACE) {
    qkm::lanes<bool>(true, true, QKM_HERE);
    for (int i = 0; i < 2; ++i)
        m.qkm_elements.d[i] = *qkm::element<const T, simdgroup_matrix<T, C, R>>(p, stride, origin, transposed, i);
}
template <class T, int C, int R>
inline void simdgroup_store(const simdgroup_matrix<T, C, R> &m, T *p, ulong stride = C, ulong2 origin = ulong2(0ul),
                            bool transposed = false, QKM_PLACE) {
    qkm::lanes<bool>(true, true, QKM_HERE);
    for (int i = 0; i < 2; ++i)
        *qkm::element<T, simdgroup_matrix<T, C, R>>(p, stride, origin, transposed, i) = m.qkm_elements.d[i];
}

// d = a * b + c: products and sums in float, k upwards, rounded to d's type once.
template <class D, class A, class B, class S, int C, int R>
inline void simdgroup_multiply_accumulate(simdgroup_matrix<D, C, R> &d, const simdgroup_matrix<A, C, R> &a,
                                          const simdgroup_matrix<B, C, R> &b, const simdgroup_matrix<S, C, R> &c,
                                          QKM_PLACE) {
    using M = simdgroup_matrix<A, C, R>;
    const qkm::lanes<vec<A, 2>> left(a.qkm_elements, true, QKM_HERE);
    const qkm::lanes<vec<B, 2>> right(b.qkm_elements, true, QKM_HERE);
    float am[8][8], bm[8][8];
    for (uint lane = 0; lane < 32; ++lane)
        for (uint i = 0; i < 2; ++i) {
            am[M::row_of(lane)][M::column_of(lane) + i] = float(left.from(lane).d[i]);
            bm[M::row_of(lane)][M::column_of(lane) + i] = float(right.from(lane).d[i]);
        }
    for (uint i = 0; i < 2; ++i) {
        float sum = float(c.qkm_elements.d[i]);
        for (uint k = 0; k < 8; ++k) sum += am[M::row()][k] * bm[k][M::column() + i];
        d.qkm_elements.d[i] = D(sum);
    }
}
#endif
template <class D, class A, class B, int C, int R>
inline void simdgroup_multiply(simdgroup_matrix<D, C, R> &d, const simdgroup_matrix<A, C, R> &a,
                               const simdgroup_matrix<B, C, R> &b, QKM_PLACE) {
    simdgroup_multiply_accumulate(d, a, b, make_filled_simdgroup_matrix<float, C, R>(0.0f), QKM_HERE);
}
template <class T, int C, int R>
inline simdgroup_matrix<T, C, R> operator*(const simdgroup_matrix<T, C, R> &a, const simdgroup_matrix<T, C, R> &b) {
    simdgroup_matrix<T, C, R> d;
    simdgroup_multiply(d, a, b);
    return d;
}

} // namespace metal

#undef QKM_PLACE
#undef QKM_HERE
