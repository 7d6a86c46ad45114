@{banner}
#include "@{format}.h"

#include <math.h>
#include <string.h>

@{dispatch}

/* Decoding rounds each operation as written. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

/* ---- reference ---- */

@{prelude}

@{tables}
@{decode}

@{encoder}

@{reference}

/* ---- descriptors ---- */

@{descriptors}

/* ---- dispatch ---- */

@{dispatch_stubs}
