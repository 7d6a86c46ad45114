/* The table of storage types, from scalars.def. */
#include "spec/spec.h"

#include <string.h>

const qg_scalar_info qg_scalars[QG_SCALAR_COUNT] = {
#define S(id, name, bits, kind, exponent, mantissa, bias, specials)                                                    \
    {name, bits, kind, exponent, mantissa, bias, specials},
#include "spec/scalars.def"
#undef S
};

qg_scalar qg_scalar_named(const char *name, size_t length) {
    uint32_t at = 0;
    while (at < QG_SCALAR_COUNT &&
           (strlen(qg_scalars[at].name) != length || memcmp(qg_scalars[at].name, name, length) != 0)) {
        at++;
    }
    return (qg_scalar)at;
}
