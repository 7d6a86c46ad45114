/* NaNs count for neither the least nor the largest element; of zeros, -0 is the least. */
static void qk_qdq_range(const float *w, uint32_t group, float *least, float *largest) {
    *least = *largest = NAN;
    for (uint32_t i = 0; i < group; ++i) {
        if (!(w[i] >= *least) && !isnan(w[i])) *least = w[i];
        if (w[i] == 0 && *least == 0 && signbit(w[i])) *least = w[i];
        if (!(w[i] <= *largest) && !isnan(w[i])) *largest = w[i];
    }
}

void qk_@{name}_ref(@{reference_parameters}) {
    for (uint64_t g = 0; g < groups; ++g, w += group, q += group) {
        float least, largest;
        qk_qdq_range(w, group, &least, &largest);
        float scale = (largest - least) / (float)(bins - 1);
        if (!(scale > 0)) scale = 1;
        scales[g] = scale;
        biases[g] = least;
        for (uint32_t i = 0; i < group; ++i) {
            const float z = (w[i] - least) / scale; /* at least 0, or NaN */
            const float code = floorf(z + 0.5f);
            q[i] = (uint8_t)(!(code > 0) ? 0 : code > (float)(bins - 1) ? bins - 1 : (uint32_t)code);
        }
    }
}
