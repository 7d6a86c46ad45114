// Operands on their way to a matrix whose order is not known.
shared uint operand_a[ORDER_A == 0u ? SUBGROUPS * 128u : 1u];
shared uint operand_b[ORDER_A == 0u ? SUBGROUPS * 64u : 1u];
shared float operand_c[ORDER_A == 0u ? SUBGROUPS * 128u : 1u];

uint lane() {
    return gl_SubgroupInvocationID;
}

uint subgroup() {
    return gl_SubgroupID;
}

void subgroup_barrier() {
    controlBarrier(gl_ScopeSubgroup, gl_ScopeSubgroup, gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
}

// Over the four threads that share a row.
float max_of_four(float value) {
    return subgroupClusteredMax(value, 4);
}

float sum_of_four(float value) {
    return subgroupClusteredAdd(value, 4);
}

// c + a * b. The words of `low` are of row g, those of `high` of row g + 8.
vec4 multiply(uvec2 low, uvec2 high, uvec2 x, vec4 c) {
    coopmat<float16_t, gl_ScopeSubgroup, 16, 16, gl_MatrixUseA> A;
    coopmat<float16_t, gl_ScopeSubgroup, 16, 8, gl_MatrixUseB> B;
    coopmat<float, gl_ScopeSubgroup, 16, 8, gl_MatrixUseAccumulator> C;
    if (ORDER_A != 0u) {
        const f16vec2 a0 = unpackFloat2x16(low.x), a1 = unpackFloat2x16(high.x), a2 = unpackFloat2x16(low.y),
                      a3 = unpackFloat2x16(high.y), b0 = unpackFloat2x16(x.x), b1 = unpackFloat2x16(x.y);
        A[ORDER_A & 7u] = a0.x;
        A[ORDER_A >> 3 & 7u] = a0.y;
        A[ORDER_A >> 6 & 7u] = a1.x;
        A[ORDER_A >> 9 & 7u] = a1.y;
        A[ORDER_A >> 12 & 7u] = a2.x;
        A[ORDER_A >> 15 & 7u] = a2.y;
        A[ORDER_A >> 18 & 7u] = a3.x;
        A[ORDER_A >> 21 & 7u] = a3.y;
        B[ORDER_BC & 3u] = b0.x;
        B[ORDER_BC >> 2 & 3u] = b0.y;
        B[ORDER_BC >> 4 & 3u] = b1.x;
        B[ORDER_BC >> 6 & 3u] = b1.y;
        C[ORDER_BC >> 8 & 3u] = c.x;
        C[ORDER_BC >> 10 & 3u] = c.y;
        C[ORDER_BC >> 12 & 3u] = c.z;
        C[ORDER_BC >> 14 & 3u] = c.w;
        C = coopMatMulAdd(A, B, C);
        return vec4(C[ORDER_BC >> 8 & 3u], C[ORDER_BC >> 10 & 3u], C[ORDER_BC >> 12 & 3u], C[ORDER_BC >> 14 & 3u]);
    }
    const uint at_a = subgroup() * 128u, at_b = subgroup() * 64u;
    subgroup_barrier();
    operand_a[at_a + g * 8u + t] = low.x;
    operand_a[at_a + g * 8u + t + 4u] = low.y;
    operand_a[at_a + g * 8u + t + 64u] = high.x;
    operand_a[at_a + g * 8u + t + 68u] = high.y;
    operand_b[at_b + g * 8u + t] = x.x;
    operand_b[at_b + g * 8u + t + 4u] = x.y;
    [[unroll]] for (uint e = 0u; e < 4u; ++e) operand_c[at_a + (g + e / 2u * 8u) * 8u + 2u * t + e % 2u] = c[e];
    subgroup_barrier();
    coopMatLoad(A, operand_a, at_a, 8u, gl_CooperativeMatrixLayoutRowMajor);
    coopMatLoad(B, operand_b, at_b, 8u, gl_CooperativeMatrixLayoutColumnMajor);
    coopMatLoad(C, operand_c, at_a, 8u, gl_CooperativeMatrixLayoutRowMajor);
    C = coopMatMulAdd(A, B, C);
    coopMatStore(C, operand_c, at_a, 8u, gl_CooperativeMatrixLayoutRowMajor);
    subgroup_barrier();
    vec4 sum;
    [[unroll]] for (uint e = 0u; e < 4u; ++e) sum[e] = operand_c[at_a + (g + e / 2u * 8u) * 8u + 2u * t + e % 2u];
    return sum;
}
