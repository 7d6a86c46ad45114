@{banner}
#include <metal_stdlib>
using namespace metal;

// Decoding rounds each operation as written: compile without fast math (-fno-fast-math, or MTLMathModeSafe).
#pragma clang fp contract(off)

namespace qk_@{format} {

@{tables}
@{prelude}

@{decode}

@{write_tile}

@{rows}

@{encoder}

}  // namespace qk_@{format}

@{kernels}
