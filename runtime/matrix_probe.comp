// Tells which element of a cooperative matrix is which value of a thread, and whether products keep subnormal halves.
// qkgen/matrix_probe.inc has the words of this.
#version 450
#extension GL_KHR_memory_scope_semantics : require
#extension GL_KHR_cooperative_matrix : require
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
layout(local_size_x_id = 0) in;
layout(constant_id = 36) const uint ROWS = 16;  // QK_CONSTANT_UNIT_ROWS and others
layout(constant_id = 37) const uint COLS = 8;
layout(constant_id = 38) const uint DEPTH = 16;
layout(binding = 0, std430) readonly buffer In { uint from[]; };   // A, B, C with numbered elements; A of 2^-24, B of 1
layout(binding = 1, std430) writeonly buffer Out { float to[]; };  // 16 for each of 32 threads; the product of the last two

void main() {
    coopmat<float16_t, gl_ScopeSubgroup, ROWS, DEPTH, gl_MatrixUseA> A;
    coopmat<float16_t, gl_ScopeSubgroup, DEPTH, COLS, gl_MatrixUseB> B;
    coopmat<float, gl_ScopeSubgroup, ROWS, COLS, gl_MatrixUseAccumulator> C;
    const uint at = gl_LocalInvocationID.x * 16u;
    coopMatLoad(A, from, 0u, DEPTH / 2u, gl_CooperativeMatrixLayoutRowMajor);
    coopMatLoad(B, from, 128u, COLS / 2u, gl_CooperativeMatrixLayoutRowMajor);
    coopMatLoad(C, from, 256u, COLS, gl_CooperativeMatrixLayoutRowMajor);
    for (uint i = 0u; i < 8u; ++i) to[at + i] = i < A.length() ? float(A[i]) : -1.0;
    for (uint i = 0u; i < 4u; ++i) to[at + 8u + i] = i < B.length() ? float(B[i]) : -1.0;
    for (uint i = 0u; i < 4u; ++i) to[at + 12u + i] = i < C.length() ? C[i] : -1.0;
    coopMatLoad(A, from, 512u, DEPTH / 2u, gl_CooperativeMatrixLayoutRowMajor);
    coopMatLoad(B, from, 640u, COLS / 2u, gl_CooperativeMatrixLayoutRowMajor);
    C = coopMatMulAdd(A, B, coopmat<float, gl_ScopeSubgroup, ROWS, COLS, gl_MatrixUseAccumulator>(0.0));
    coopMatStore(C, to, 512u, COLS, gl_CooperativeMatrixLayoutRowMajor);
}
