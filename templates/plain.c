@{banner}
#include "@{set}.h"

#include <math.h>
#include <string.h>

@{dispatch}

/* Each operation is rounded as written. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

/* ---- reference ---- */

@{reference}

/* ---- descriptors ---- */

@{descriptors}

/* ---- dispatch ---- */

@{dispatch_stubs}
