/* Floats of at most 8 bits, as encode makes them: bits(number, type). */
#include "spec/check.h"

#include <string.h>

enum { F32_DIGITS = 23, F32_BIAS = 127, MOST_BITS = 8 };

/* The code of the largest finite number, without a sign. */
static uint32_t largest_code(const qg_scalar_info *type) {
    const uint32_t codes = UINT32_C(1) << (type->bits - 1), digits = UINT32_C(1) << type->mantissa_bits;
    return type->specials == QG_FINITE ? codes - 1 : type->specials == QG_IEEE ? codes - digits - 1 : codes - 2;
}

qg_small_float qg_small_float_of(qg_scalar scalar) {
    const qg_scalar_info *type = &qg_scalars[scalar];
    const uint32_t largest = largest_code(type), shift = F32_DIGITS - type->mantissa_bits;
    return (qg_small_float){.digits = type->mantissa_bits,
                            .least = (uint32_t)(F32_BIAS + 1 - type->bias) << F32_DIGITS,
                            .most = (largest << shift) + ((uint32_t)(F32_BIAS - type->bias) << F32_DIGITS)};
}

static bool is_small_float(qg_scalar type) {
    return type < QG_SCALAR_COUNT && qg_scalars[type].kind == QG_FLOATING && qg_scalars[type].bits <= MOST_BITS &&
           qg_scalars[type].mantissa_bits > 0;
}

const qg_term *qg_type_small(qg_work *work, const qg_expr *expr) {
    const qg_expr *name = expr->arg[1];
    const qg_scalar type =
        name->kind == QG_E_NAME ? qg_scalar_named(name->name, strlen(name->name)) : (qg_scalar)QG_SCALAR_COUNT;
    const qg_term *a = qg_type_expr(work, expr->arg[0]);
    if (a == NULL || !qg_is_number(work, a, "as an argument") || (a = qg_to_float(work, a)) == NULL) {
        return NULL;
    }
    if (!is_small_float(type)) {
        qg_error(work->diag, name->loc,
                 "'bits' takes a number and, if anything, a float of at most 8 bits: one of e2m1 e2m3 e3m2 e4m3 e5m2");
        return NULL;
    }
    return qg_new_term(work, (qg_term){.op = QG_CALL,
                                       .call = QG_CALL_SMALL,
                                       .kind = QG_K_INT,
                                       .loc = expr->loc,
                                       .ref = type,
                                       .high = largest_code(&qg_scalars[type]),
                                       .per = a->per,
                                       .arg = {a}});
}
