#version 450
#extension GL_EXT_shader_16bit_storage : require

// GPTQ, 4 bits, groups of 128: codes of eight inputs in a word, [inputs / 8][outputs]; zeros, less one, of eight outputs in a
// word, [inputs / 128][outputs / 8]; scales [inputs / 128][outputs]. A thread for an element.

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
#ifdef GPTQ_CODES_NOT_TURNED
    const uint q = codes[n * ((cols + 7u) / 8u) + k / 8u] >> 4u * (k % 8u) & 15u;
#else
    const uint q = codes[k / 8u * rows + n] >> 4u * (k % 8u) & 15u;
#endif
#ifdef GPTQ_ROWS_OF_WHOLE_WORDS
    const uint zero_cols = rows / 8u;
#else
    const uint zero_cols = (rows + 7u) / 8u;
#endif
#ifdef GPTQ_ZEROS_ALONG_INPUTS
    const uint z = zeros[group * zero_cols + n / 8u] >> 4u * (k % 8u) & 15u;
#else
    const uint z = zeros[group * zero_cols + n / 8u] >> 4u * (n % 8u) & 15u;
#endif
    const uint at = group * rows + n;
    const float s = float(scales[at]);
#ifdef GPTQ_ZERO_WITHOUT_ONE
    y[i] = float(int(q) - int(z)) * s;
#else
    y[i] = float(int(q) - int(z + 1u & 15u)) * s;
#endif
}
