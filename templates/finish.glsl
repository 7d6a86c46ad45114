layout(constant_id = @{id.epilogue}) const uint EPILOGUE = 0xffffffffu;  // bits that the epilogue may have; the rest is left out

layout(constant_id = @{id.y_type}) const uint Y_TYPE = 0;  // how y is stored: 0 as f32, 1 as f16, 2 as bf16

layout(binding = @{binding_y}, std430) buffer Output { float y[]; };
layout(binding = @{binding_y}, std430) buffer OutputHalves { @{y_half_type} y_halves[]; };
layout(binding = @{binding_result_scale}, std430) readonly buffer ResultScale { float result_scale[]; };
layout(binding = @{binding_row_bias}, std430) readonly buffer RowBias { float row_bias[]; };
layout(binding = @{binding_result_gate}, std430) readonly buffer ResultGate { float result_gate[]; };
layout(binding = @{binding_residual}, std430) readonly buffer Residual { float residual[]; };

// Bits of the epilogue: what is done with results, and what has a scale of its own; else all of a tensor have one.
const uint ADDS_TO_Y = 1u, ADDS_BIAS = 2u, SCALES = 4u, GATES = 8u, ADDS_RESIDUAL = 16u, SCALES_ROWS = 256u, SCALES_VECTORS = 512u;

bool does(uint part) {
    return (EPILOGUE & part & epilogue) != 0u;
}

float silu(float v) {
    return v / (1.0 + exp(-v));
}

uint y_place(uint at) {
    return VIEWS == 0u ? at : at + y_skip;
}

@if stores_halves
float y_half(uint at) {
    const uint bits = uint(y_halves[at]);
    return Y_TYPE == 1u ? unpackHalf2x16(bits).x : uintBitsToFloat(bits << 16);
}

void store_half(uint at, uint bits) {
    y_halves[at] = uint16_t(bits);
}
@else
// Two results share a word, and may be those of different threads: neither takes the other's part.
float y_half(uint at) {
    const uint bits = atomicOr(y_halves[at / 2u], 0u) >> at % 2u * 16u & 0xffffu;
    return Y_TYPE == 1u ? unpackHalf2x16(bits).x : uintBitsToFloat(bits << 16);
}

void store_half(uint at, uint bits) {
    atomicAnd(y_halves[at / 2u], 0xffff0000u >> at % 2u * 16u);
    atomicOr(y_halves[at / 2u], bits << at % 2u * 16u);
}
@end

// What y holds.
float y_before(uint at) {
    return Y_TYPE == 0u ? y[y_place(at)] : y_half(y_place(at));
}

// Rounds once, to the nearest, ties to even.
void store_y(uint at, float sum) {
    if (Y_TYPE == 0u)
        y[y_place(at)] = sum;
    else
        store_half(y_place(at), Y_TYPE == 1u ? f32_to_f16(sum) : f32_to_bf16(sum));
}

@if experts
// Row `n` of a token's expert is done. An expert that is not there has zeros, to which no more is added than what stands there.
void finish(uint pair, uint n, float sum) {
    const uint at = VIEWS == 0u ? pair * rows + n : pair / slots * y_inner + pair % slots * y_stride + n;
    const uint expert = ids[id_of(pair)], row = expert * rows + n;
    const bool found = expert < experts;
    if (found && does(SCALES))
        sum *= result_scale[does(SCALES_ROWS) ? row : does(SCALES_VECTORS) ? pair : expert];
    if (found && does(ADDS_BIAS)) sum += row_bias[row];
    if (does(ADDS_TO_Y)) sum += y_before(at);
    if (found && does(GATES)) sum *= silu(result_gate[at]);
    if (does(ADDS_RESIDUAL)) sum += residual[at];
    store_y(at, sum);
}
@else
// Among the right-hand sides of all matrices.
uint vector_number(uint vector) {
    return VIEWS == 0u ? vector : (matrix_first + matrix) * vectors + vector;
}

// Row `n` of right-hand side `m` is done; or, where sums come in parts, one of them is, which may be the first or the last.
void finish(uint m, uint n, float sum, bool first, bool last) {
    const uint row = y_first % y_rows + n, vector = m + y_first / y_rows;
    const uint at = VIEWS == 0u ? m * y_rows + y_first + n : y_begin + vector * y_stride + row;
    if (does(SCALES))
        sum *= result_scale[does(SCALES_ROWS) ? row : does(SCALES_VECTORS) ? vector_number(vector) : 0u];
    if (first && does(ADDS_BIAS)) sum += row_bias[row];
    if (!first || does(ADDS_TO_Y)) sum += y_before(at);
    if (last && does(GATES)) sum *= silu(result_gate[at]);
    if (last && does(ADDS_RESIDUAL)) sum += residual[at];
    store_y(at, sum);
}

void finish(uint m, uint n, float sum) {
    finish(m, n, sum, true, true);
}
@end
