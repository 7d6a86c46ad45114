@{banner}
#include <math.h>
#include <stdint.h>
#include <string.h>

#define static static __device__
@{prelude}
#undef static

@{tables}

// The value of element `index` of a tensor.
static __device__ float value_at(@{pointers}, uint64_t index) {
@{value}
}

extern "C" __global__ void @{name}_dequant(@{pointers}, float *dst, uint64_t elements) {
    for (uint64_t i = blockIdx.x * (uint64_t)blockDim.x + threadIdx.x; i < elements; i += (uint64_t)gridDim.x * blockDim.x)
        dst[i] = value_at(@{names}, i);
}
