/* Proven ranges of integer operations. Operands lie in 32 bits, so 64 bits hold every intermediate result. What targets
 * disagree on or leave undefined is refused here, so that printers need no thought of it: results beyond 32 bits,
 * division with negative operands, shifts by negative or large counts. */
#include "spec/check.h"

static const char *const AVOID = "rewrite it so that the operands are never negative";

/* The smallest 2^k - 1 at or above a value that is not negative. */
static int64_t all_ones(int64_t value) {
    int64_t ones = 0;
    while (ones < value) {
        ones = ones * 2 + 1;
    }
    return ones;
}

static int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* What bits can express that both operands have, as two's complement. */
static qg_range bits_of(qg_range a, qg_range b) {
    int64_t reach = larger(larger(a.high, b.high), larger(-(a.low + 1), -(b.low + 1)));
    int64_t ones = all_ones(larger(reach, 0));
    return (qg_range){a.low < 0 || b.low < 0 ? -ones - 1 : 0, ones};
}

static qg_range and_range(qg_range a, qg_range b) {
    if (a.low >= 0 && b.low >= 0) {
        return (qg_range){0, smaller(a.high, b.high)};
    }
    if (a.low >= 0 || b.low >= 0) {
        return (qg_range){0, a.low >= 0 ? a.high : b.high};
    }
    return bits_of(a, b);
}

static qg_range or_range(qg_range a, qg_range b) {
    qg_range range = bits_of(a, b);
    if (range.low == 0) {
        range.low = larger(a.low, b.low);
    }
    return range;
}

static qg_range product(qg_range a, qg_range b) {
    int64_t p = a.low * b.low, q = a.low * b.high, r = a.high * b.low, s = a.high * b.high;
    return (qg_range){smaller(smaller(p, q), smaller(r, s)), larger(larger(p, q), larger(r, s))};
}

/* a >> count for a of either sign, rounding down, as every target shifts. */
static int64_t shift_down(int64_t a, int64_t count) {
    int64_t unit = (int64_t)1 << count;
    return a >= 0 ? a / unit : -((-a + unit - 1) / unit);
}

static const char *shift_range(qg_arena *arena, qg_op op, qg_range a, qg_range b, qg_range *result) {
    if (b.low < 0 || b.high > 31) {
        return qg_format(arena,
                         "the shift count ranges from %lld to %lld, and must stay from 0 to 31: mask it with '&'",
                         (long long)b.low, (long long)b.high);
    }
    if (op == QG_SHL && a.low < 0) {
        return "the left side of '<<' can be negative: multiply by a power of two";
    }
    if (op == QG_SHL) {
        *result = (qg_range){a.low << b.low, a.high << b.high};
    } else {
        *result =
            (qg_range){shift_down(a.low, a.low < 0 ? b.low : b.high), shift_down(a.high, a.high < 0 ? b.high : b.low)};
    }
    return NULL;
}

static const char *division_range(qg_arena *arena, qg_op op, qg_range a, qg_range b, qg_range *result) {
    const char *name = op == QG_DIV ? "/" : "%";
    if (b.low <= 0 && b.high >= 0) {
        return qg_format(
            arena, "the right side of '%s' can be zero (it ranges from %lld to %lld): divide by what is never zero",
            name, (long long)b.low, (long long)b.high);
    }
    if (a.low < 0 || b.low < 0) {
        return qg_format(arena, "an operand of '%s' can be negative, and targets round differently then: %s", name,
                         AVOID);
    }
    *result = op == QG_DIV ? (qg_range){a.low / b.high, a.high / b.low} : (qg_range){0, smaller(a.high, b.high - 1)};
    return NULL;
}

/* Constants have one value, which the bounds of bitwise operations and '%' do not tell. */
static bool fold(qg_op op, qg_range a, qg_range b, qg_range *result) {
    int64_t value;
    if (a.low != a.high || b.low != b.high) {
        return false;
    }
    switch (op) {
    case QG_AND: value = (int32_t)a.low & (int32_t)b.low; break;
    case QG_OR: value = (int32_t)a.low | (int32_t)b.low; break;
    case QG_XOR: value = (int32_t)a.low ^ (int32_t)b.low; break;
    case QG_MOD: value = a.low % b.low; break;
    default: return false;
    }
    *result = (qg_range){value, value};
    return true;
}

static const char *unchecked_range(qg_arena *arena, qg_op op, qg_range a, qg_range b, qg_range *result) {
    const char *why = NULL;
    switch (op) {
    case QG_ADD: *result = (qg_range){a.low + b.low, a.high + b.high}; break;
    case QG_SUB: *result = (qg_range){a.low - b.high, a.high - b.low}; break;
    case QG_NEG: *result = (qg_range){-a.high, -a.low}; break;
    case QG_MUL: *result = product(a, b); break;
    case QG_AND: *result = and_range(a, b); break;
    case QG_OR: *result = or_range(a, b); break;
    case QG_XOR: *result = bits_of(a, b); break;
    case QG_SHL:
    case QG_SHR: why = shift_range(arena, op, a, b, result); break;
    default: why = division_range(arena, op, a, b, result); break;
    }
    if (why == NULL) {
        fold(op, a, b, result);
    }
    return why;
}

const char *qg_range_of(qg_arena *arena, qg_op op, qg_range a, qg_range b, qg_range *result) {
    const char *why = unchecked_range(arena, op, a, b, result);
    if (why != NULL) {
        return why;
    }
    if (result->low < INT32_MIN || result->high > INT32_MAX) {
        return qg_format(arena,
                         "the result ranges from %lld to %lld, beyond integers of 32 bits: convert to float earlier, "
                         "for example by a factor 1.0",
                         (long long)result->low, (long long)result->high);
    }
    return NULL;
}

/* Modulo 2^32, of operands from 0 to 2^32 - 1: what may wrap can be any word. */
const char *qg_word_range_of(qg_arena *arena, qg_op op, qg_range a, qg_range b, qg_range *result) {
    const int64_t most = UINT32_MAX;
    switch (op) {
    case QG_ADD: *result = (qg_range){a.low + b.low, a.high + b.high}; break;
    case QG_SUB: *result = (qg_range){a.low - b.high, a.high - b.low}; break;
    case QG_MUL:
        *result =
            b.high != 0 && a.high > most / b.high ? (qg_range){0, most} : (qg_range){a.low * b.low, a.high * b.high};
        break;
    case QG_AND: *result = (qg_range){0, smaller(a.high, b.high)}; break;
    case QG_OR:
    case QG_XOR: *result = (qg_range){0, all_ones(larger(a.high, b.high))}; break;
    case QG_SHL:
    case QG_SHR: {
        const char *why = shift_range(arena, op, a, b, result);
        if (why != NULL) {
            return why;
        }
        break;
    }
    default:
        return "a word, which is modulo 2^32, takes + - * & | ^ << >> alone: make it an integer below 2^31 by a mask "
               "or a "
               "shift";
    }
    if (result->low < 0 || result->high > most) {
        *result = (qg_range){0, most};
    }
    return NULL;
}
