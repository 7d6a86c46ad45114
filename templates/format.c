@{banner}
#include "@{format}.h"

/* Not all of what it embeds is called; compiled as C++, designated initialisers are an extension before C++20. */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wunused-function"
#endif
#if defined(__cplusplus) && defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wc++20-extensions"
#endif

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
