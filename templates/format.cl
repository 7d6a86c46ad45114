@{banner}

// OpenCL C 1.2, and no extension. Decoding rounds each operation as written: build it with no option that relaxes
// mathematics (-cl-mad-enable, -cl-denorms-are-zero, -cl-unsafe-math-optimizations, -cl-fast-relaxed-math).
#pragma OPENCL FP_CONTRACT OFF

@{tables}
@if load_u32
// 32 bits from narrower words.
static uint load_u32_of_u16(__global const ushort *words, uint at) {
    return words[at] | ((uint)words[at + 1] << 16);
}

static uint load_u32_of_u8(__global const uchar *words, uint at) {
    return words[at] | ((uint)words[at + 1] << 8) | ((uint)words[at + 2] << 16) | ((uint)words[at + 3] << 24);
}

@end
@if sign_extend
// The number in the low `width` bits.
static int sign_extend_int(int bits, uint width) {
    return as_int(as_uint(bits) << (32u - width)) >> (32u - width);
}

static int2 sign_extend_int2(int2 bits, uint width) {
    return as_int2(as_uint2(bits) << (32u - width)) >> (int2)(32u - width);
}

static int4 sign_extend_int4(int4 bits, uint width) {
    return as_int4(as_uint4(bits) << (32u - width)) >> (int4)(32u - width);
}

@end
@if f16_to_f32
// The half in the low 16 bits. OpenCL keeps subnormal halves here, on every device.
static float f16_to_f32(uint bits) {
    const ushort low = bits;
    return vload_half(0, (const half *)&low);
}

@end
@if bf16_to_f32
// The bfloat16 in the low 16 bits.
static float bf16_to_f32(uint bits) {
    return as_float(bits << 16);
}

@end
@if round_f16
// The nearest half, ties to even, as a float.
static float round_f16_float(float x) {
    ushort bits;
    vstore_half_rte(x, 0, (half *)&bits);
    return vload_half(0, (const half *)&bits);
}

static float2 round_f16_float2(float2 v) {
    return (float2)(round_f16_float(v.x), round_f16_float(v.y));
}

static float4 round_f16_float4(float4 v) {
    return (float4)(round_f16_float(v.x), round_f16_float(v.y), round_f16_float(v.z), round_f16_float(v.w));
}

@end
@if round_bf16
// The nearest bfloat16, ties to even, as a float.
static float round_bf16_float(float x) {
    const uint bits = as_uint(x);
    if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return as_float((bits & 0x80000000u) | 0x7FC00000u);  // NaN
    return as_float((bits + 0x7FFFu + ((bits >> 16) & 1u)) & 0xFFFF0000u);
}

static float2 round_bf16_float2(float2 v) {
    return (float2)(round_bf16_float(v.x), round_bf16_float(v.y));
}

static float4 round_bf16_float4(float4 v) {
    return (float4)(round_bf16_float(v.x), round_bf16_float(v.y), round_bf16_float(v.z), round_bf16_float(v.w));
}

@end
// Rounds to the nearest bfloat16, ties to even.
static ushort f32_to_bf16(float x) {
    const uint bits = as_uint(x);
    if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return ((bits >> 16) & 0x8000u) | 0x7FC0u;  // NaN
    return (bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16;
}

// A run as it is stored, with `at` counted in runs: f32, f16, or the bits of bf16.
static void store_f32(@{vec} v, uint at, __global @{vec} *dst) {
    dst[at] = v;
}

static void store_f16(@{vec} v, uint at, __global half *dst) {
    @{store_half}(v, at, dst);
}

static void store_bf16(@{vec} v, uint at, __global @{ushort_vec} *dst) {
    dst[at] = @{bf16_of_v};
}

@{decode}

@{kernels}
