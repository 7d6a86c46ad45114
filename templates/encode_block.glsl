@{prelude}

@include encode.glsl

float qk_x(uint at) {
    return src[at];
}

vec4 qk_four(uint at) {
    return src_four[at];
}

@{encoder}
