void qk_@{name}_ref(@{reference_parameters}) {
    for (uint64_t g = 0; g < groups; ++g) {
        double sum = 0;
        for (uint32_t i = 0; i < group; ++i) sum += (double)*dy++;
        d_biases[g] = (float)sum;
    }
}
