@{banner}
#include <metal_stdlib>
using namespace metal;

// Each operation is rounded as written: compile without fast math (-fno-fast-math, or MTLMathModeSafe).
#pragma clang fp contract(off)

namespace qk_@{set} {

@{prelude}

}  // namespace qk_@{set}

@{kernels}
