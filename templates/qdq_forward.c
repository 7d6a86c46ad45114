void qk_@{name}_ref(@{reference_parameters}) {
    for (uint64_t g = 0; g < groups; ++g)
        for (uint32_t i = 0; i < group; ++i) {
            const float product = (float)*q++ * scales[g];
            *y++ = product + biases[g];
        }
}
