@{prelude}

@{functions}

@include x_type.glsl

float qk_of_half(uint bits) {
    return X_TYPE == 1u ? f16_to_f32(bits) : bf16_to_f32(bits);
}

float qk_x(uint at) {
    if (X_TYPE == 0u) return src[at];
    return qk_of_half(src_words[at / 2u] >> at % 2u * 16u & 0xFFFFu);
}

// The lower one first. Whole words are converted: what masks them, and shifts, is an instruction for each.
vec4 qk_of_pairs(uvec2 pairs) {
    if (X_TYPE == 1u) return vec4(unpackHalf2x16(pairs.x), unpackHalf2x16(pairs.y));
    return uintBitsToFloat(uvec4(pairs.x << 16, pairs.x & 0xFFFF0000u, pairs.y << 16, pairs.y & 0xFFFF0000u));
}

// Four from `4 * at` on.
vec4 qk_four(uint at) {
    return X_TYPE == 0u ? src_four[at] : qk_of_pairs(src_pairs[at]);
}

// Eight from `8 * at` on: of halves, one load.
void qk_eight(uint at, out vec4 low, out vec4 high) {
    if (X_TYPE == 0u) {
        low = src_four[2u * at];
        high = src_four[2u * at + 1u];
    } else {
        const uvec4 pairs = src_eight[at];
        low = qk_of_pairs(pairs.xy);
        high = qk_of_pairs(pairs.zw);
    }
}

const uint QK_NONE = 0xFFFFFFFFu;

@if alone
// Says which block a thread makes, number `i` of all: what has to be looked up for that is waited for together with floats.
uint qk_place(uint i);

@end
@if stages
// Blocks that the threads of a workgroup made, and which of all they are.
@{staged}
shared uint qk_made[@{slots}];
@if team
// What threads of a team, which follow each other and make a block together, tell the others.
shared uint qk_left[gl_WorkGroupSize.x * @{left}u];

// Says which blocks a workgroup makes, whose first part is `part` of all: that is waited for together with floats.
void qk_place(uint part);
@end

@end
@if streams
@include follow.glsl

@end
@{encoder}
@if stages

@include write_made.glsl
@end
