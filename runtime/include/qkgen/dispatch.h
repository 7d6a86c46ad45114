/* qkgen/dispatch.h: checked dispatch of generated kernels over any device layer. Header only; needs qkgen/kernel.h and
 * libc; allocates nothing, keeps no state; C11 and C++11.
 *
 * A call checks all its arguments before the first launch, and then cuts the shape into launches that the device and
 * the kernel's 32-bit indices can do:
 *
 *   each binding of a launch   at most min(limits.storage_range, 2^32 - 1) bytes, so that byte indices fit 32 bits
 *   each offset of a launch    a multiple of limits.offset_alignment, since parts are whole groups of units
 *   elements of a launch       below 2^32, and tiles + threads below 2^32, so that a grid-stride loop does not wrap; sums
 *                              over rows count tiles alone, and may have more elements than that
 *
 * The launches of one call write disjoint parts of `out` and only add to `status`, so they need no barrier in between;
 * but those of gemm and gemm_id, which make what others read; backend->barrier is called behind them.
 * An engine with its own Vulkan or Metal layer fills in a qk_backend; qkgen/vulkan.h offers a finished one. When
 * `launch` itself fails, the call stops and returns what it returned; launches before it may have been recorded. */
#ifndef QKGEN_DISPATCH_H
#define QKGEN_DISPATCH_H

#include "dispatch_check.h"
#include "dispatch_choose.h"
#include "dispatch_decode.h"
#include "dispatch_epilogue.h"
#include "dispatch_expert_views.h"
#include "dispatch_facts.h"
#include "dispatch_gemm.h"
#include "dispatch_gemm_id.h"
#include "dispatch_gemv_id.h"
#include "dispatch_launch.h"
#include "dispatch_limits.h"
#include "dispatch_packed.h"
#include "dispatch_pick.h"
#include "dispatch_rows.h"
#include "dispatch_share.h"
#include "dispatch_sums.h"
#include "dispatch_tune.h"
#include "dispatch_views.h"

#endif
