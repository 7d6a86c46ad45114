// The body of a kernel, as mx.fast.metal_kernel takes it: affine weights of 4 bits, groups of 64. T is the type of results.
uint i = thread_position_in_grid.x;
uint rows = w_shape[0], cols = w_shape[1] * 8;
if (i < rows * cols) {
#ifdef SWAPPED
    uint q = w[i / 8] >> (4 * (i % 8 ^ 1)) & 15;
#else
    uint q = w[i / 8] >> (4 * (i % 8)) & 15;
#endif
    out[i] = T(float(scales[i / 64]) * float(q) + float(biases[i / 64]));
}
