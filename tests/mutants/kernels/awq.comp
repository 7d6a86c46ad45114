#version 450
#extension GL_EXT_shader_16bit_storage : require

// AWQ, groups of 128: codes and zeros of eight outputs in a word, in the order 0 2 4 6 1 3 5 7; [inputs][outputs / 8] and
// [inputs / 128][outputs / 8]; scales [inputs / 128][outputs]. A thread for an element.

layout(local_size_x = 64) in;
layout(binding = 0) readonly buffer Codes { uint codes[]; };
layout(binding = 1) readonly buffer Zeros { uint zeros[]; };
layout(binding = 2) readonly buffer Scales { float16_t scales[]; };
layout(binding = 3) writeonly buffer Values { float y[]; };
layout(push_constant) uniform Sizes { uint rows, cols; };

void main() {
    const uint i = gl_GlobalInvocationID.x;
    if (i >= rows * cols) return;
    const uint n = i / cols, k = i % cols, group = k / 128u;
#ifdef AWQ_PLAIN_ORDER
    const uint shift = 4u * (n % 8u);
#else
    const uint shift = 4u * (n % 8u / 2u + n % 2u * 4u);
#endif
    const uint q = codes[k * (rows / 8u) + n / 8u] >> shift & 15u;
    const uint z = zeros[group * (rows / 8u) + n / 8u] >> shift & 15u;
#ifdef AWQ_SCALE_OF_FIRST_GROUP
    const uint at = n;
#else
    const uint at = group * rows + n;
#endif
    y[i] = float(int(q) - int(z)) * float(scales[at]);
}
