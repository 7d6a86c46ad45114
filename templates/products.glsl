@if digits
// Kept of x: of each digit, the highest first, signed bytes of four elements in a word; then steps of the integers, and sums of runs.
@else
  @if halves
// What a thread keeps of x: tiles of each right-hand side in steps that let halves hold them; the step; and sums over runs that
// share a scale.
  @else
// Kept of x: tiles, in the order of the weights, and sums over runs that share a scale.
  @end
@end
@{x_kept}
@if halves

// The unit of x that halves are steps of: weights are up to 2^16, or codes of ten bits that stand for 2^-24 each.
float scale_of(@{vec} most, @{vec} all) {
    const float largest = @{largest_of_most};
    return @{any}(isnan(all)) || isinf(largest) ? uintBitsToFloat(0x7FC00000u) : min(0.001953125 / max(largest, 1e-37), 0.5e38);
}

@{dot_halves}

@end
@if digits
const float LARGEST = DIGITS == 1u ? 127.0 : DIGITS == 2u ? 32639.0 : 8355708.0;  // that digits hold, less what rounding may add
float scale_of(vec4 most, vec4 all) {  // `most`: the largest magnitudes. What is not finite makes the step NaN
    const float largest = max(max(most.x, most.y), max(most.z, most.w));
    return any(isnan(all)) || isinf(largest) ? uintBitsToFloat(0x7FC00000u) : min(LARGEST / max(largest, 1e-37), 0.5e38);
}
@if signed_codes
spirv_instruction(extensions = ["SPV_KHR_integer_dot_product"], capabilities = [6018, 6019], id = 4450)
int signed_dot(uint codes, uint x, spirv_literal int packed);
int dot4(uint codes, uint x) { return signed_dot(codes, x, 0); }  // OpSDot of four bytes in a word each
  @if signed_fours
int dot16(int sum, uvec4 codes, uvec4 x) { return sum + dot4(codes.x, x.x) + dot4(codes.y, x.y) + dot4(codes.z, x.z) + dot4(codes.w, x.w); }
  @end

@end
@if unsigned_codes
// OpSUDot of four bytes in a word each: those of x have a sign, codes have none.
spirv_instruction(extensions = ["SPV_KHR_integer_dot_product"], capabilities = [6018, 6019], id = 4452)
int mixed_dot(uint x, uint codes, spirv_literal int packed);
int dot4_unsigned(uint codes, uint x) { return mixed_dot(x, codes, 0); }
  @if unsigned_fours
int dot16_unsigned(int sum, uvec4 codes, uvec4 x) {
    return sum + dot4_unsigned(codes.x, x.x) + dot4_unsigned(codes.y, x.y) + dot4_unsigned(codes.z, x.z) + dot4_unsigned(codes.w, x.w);
}
  @end

@end
// The nearest integers plus BIAS; digits below the highest have the sign bit turned over. Floats round where their last bit stands for 1.
const int BIAS = DIGITS == 3u ? 0x8080 : DIGITS == 2u ? 0x4B400080 : 0x4B400000;
ivec4 integers(vec4 v) { return DIGITS == 3u ? ivec4(roundEven(v)) + BIAS : floatBitsToInt(v + intBitsToFloat(BIAS)); }
@if sums_runs
int sum_of(ivec4 v) { return v.x + v.y + v.z + v.w; }
@end
uint bytes_of(ivec4 v, uint digit) {  // two share a word, so that most is done once for two digits
    const uint place = DIGITS - 1u - digit;
    const ivec4 halves = v >> (place / 2u * 16u);
    const ivec2 pairs = (halves.xy & 0xFFFF) | (halves.zw << 16), bytes = (pairs >> (place % 2u * 8u)) & 0x00FF00FF;
    return uint(bytes.x | (bytes.y << 8)) ^ (digit == 0u ? 0u : 0x80808080u);
}

  @if digit_sums
  @if fours_of_digits
int sum_of_bytes(uvec4 bytes) { return dot16(0, bytes, uvec4(0x01010101u)); }
  @else
int sum_of_bytes(uint bytes) { return dot4(bytes, 0x01010101u); }
  @end

  @end
@end
@if adds_dots

// sum + dot(a, b), in as many operations as a has lanes.
float dot_add(float sum, vec4 a, vec4 b) { return fma(a.w, b.w, fma(a.z, b.z, fma(a.y, b.y, fma(a.x, b.x, sum)))); }

@end
