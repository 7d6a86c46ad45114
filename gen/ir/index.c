/* Index forms. An address of a layout is a sum of digits times strides, and the digits of one tile are
 * partly known when the kernel is generated. Keeping an index as a sum of digits with known ranges
 * lets division and remainder by constants act on the sum: what is static about a word's number or a
 * shift comes out as a constant, and the rest stays a short expression in the digits that are not. */
#include "ir/ir.h"

qg_index qg_index_constant(int64_t value) { return (qg_index){.constant = value}; }

qg_index qg_index_digit(const qg_node *digit, uint64_t extent) {
    if (extent <= 1) return qg_index_constant(0);
    return (qg_index){.n_terms = 1, .terms = {{digit, extent, 1}}};
}

int64_t qg_index_max(qg_index a) {
    int64_t max = a.constant;
    for (uint32_t i = 0; i < a.n_terms; ++i)
        if (a.terms[i].coefficient > 0) max += a.terms[i].coefficient * (int64_t)(a.terms[i].extent - 1);
    return max;
}

static void add_term(qg_index *sum, struct qg_index_term term) {
    for (uint32_t i = 0; i < sum->n_terms; ++i) {
        if (sum->terms[i].digit != term.digit) continue;
        sum->terms[i].coefficient += term.coefficient;
        if (sum->terms[i].coefficient == 0) sum->terms[i] = sum->terms[--sum->n_terms];
        return;
    }
    if (term.coefficient) sum->terms[sum->n_terms++] = term;
}

/* A form that has run out of room for terms is one digit from here on. */
static qg_index opaque(qg_ir *ir, qg_index a) {
    return qg_index_digit(qg_index_node(ir, NULL, a), (uint64_t)qg_index_max(a) + 1);
}

qg_index qg_index_add(qg_ir *ir, qg_index a, qg_index b) {
    if (a.n_terms + b.n_terms > QG_INDEX_TERMS) {
        a = opaque(ir, a);
        b = opaque(ir, b);
    }
    a.constant += b.constant;
    for (uint32_t i = 0; i < b.n_terms; ++i) add_term(&a, b.terms[i]);
    return a;
}

qg_index qg_index_scale(qg_index a, int64_t factor) {
    if (factor == 0) return qg_index_constant(0);
    a.constant *= factor;
    for (uint32_t i = 0; i < a.n_terms; ++i) a.terms[i].coefficient *= factor;
    return a;
}

/* a = divisor * whole + part, where part lies in [0, divisor) for all digits; false when the form
 * does not fall apart so. */
static bool split(qg_ir *ir, qg_index a, uint32_t divisor, qg_index *whole, qg_index *part) {
    const int64_t d = divisor;
    *whole = qg_index_constant(a.constant / d);
    *part = qg_index_constant(a.constant % d);
    uint32_t crossing = QG_INDEX_TERMS;
    for (uint32_t i = 0; i < a.n_terms; ++i) {
        struct qg_index_term term = a.terms[i], rest = term;
        term.coefficient /= d;
        rest.coefficient %= d;
        add_term(whole, term);
        if (rest.coefficient && d % rest.coefficient == 0 && (int64_t)term.extent * rest.coefficient > d &&
            crossing == QG_INDEX_TERMS) {
            crossing = i; /* a digit that is itself split in two */
        } else {
            add_term(part, rest);
        }
    }
    if (crossing == QG_INDEX_TERMS) return qg_index_max(*part) < d;
    struct qg_index_term term = a.terms[crossing];
    term.coefficient %= d;
    if (qg_index_max(*part) >= term.coefficient) return false;
    const uint32_t low_extent = (uint32_t)(d / term.coefficient);
    const qg_node *low = qg_apply(ir, QG_MOD, term.digit, qg_uint(ir, low_extent), NULL);
    const qg_node *high = qg_apply(ir, QG_DIV, term.digit, qg_uint(ir, low_extent), NULL);
    add_term(part, (struct qg_index_term){low, low_extent, term.coefficient});
    add_term(whole, (struct qg_index_term){high, (term.extent + low_extent - 1) / low_extent, 1});
    return true;
}

static bool has_room(qg_index a) { return a.n_terms < QG_INDEX_TERMS - 1 && a.constant >= 0; }

/* A power of two that divides `divisor`, and the form whatever its digits are. */
static uint32_t common_power(qg_index a, uint32_t divisor) {
    uint32_t common = 1;
    for (bool divides = true; divides && divisor % (2 * common) == 0; common *= divides ? 2 : 1) {
        divides = a.constant % (2 * common) == 0;
        for (uint32_t i = 0; i < a.n_terms; ++i) divides &= a.terms[i].coefficient % (2 * common) == 0;
    }
    return common;
}

qg_index qg_index_div(qg_ir *ir, qg_index a, uint32_t divisor) {
    qg_index whole, part;
    if (divisor == 1) return a;
    if (has_room(a) && split(ir, a, divisor, &whole, &part)) return whole;
    const qg_node *node = qg_apply(ir, QG_DIV, qg_index_node(ir, NULL, a), qg_uint(ir, divisor), NULL);
    return qg_index_digit(node, (uint64_t)qg_index_max(a) / divisor + 1);
}

qg_index qg_index_mod(qg_ir *ir, qg_index a, uint32_t divisor) {
    qg_index whole, part;
    if (divisor == 1) return qg_index_constant(0);
    if (has_room(a) && split(ir, a, divisor, &whole, &part)) return part;
    const qg_node *node = qg_apply(ir, QG_MOD, qg_index_node(ir, NULL, a), qg_uint(ir, divisor), NULL);
    return qg_index_digit(node, divisor - common_power(a, divisor) + 1);
}

bool qg_index_difference(qg_index a, qg_index b, int64_t *difference) {
    if (a.n_terms != b.n_terms) return false;
    for (uint32_t i = 0; i < a.n_terms; ++i) {
        bool found = false;
        for (uint32_t j = 0; j < b.n_terms; ++j)
            found |= a.terms[i].digit == b.terms[j].digit && a.terms[i].coefficient == b.terms[j].coefficient;
        if (!found) return false;
    }
    *difference = a.constant - b.constant;
    return true;
}

/* x / m * m + x % m is x again, also when both are scaled: puts back together what splitting took apart. */
static void rejoin(qg_index *a) {
    for (uint32_t i = 0; i < a->n_terms; ++i) {
        for (uint32_t j = 0; j < a->n_terms; ++j) {
            const qg_node *high = a->terms[i].digit, *low = a->terms[j].digit;
            if (high->op != QG_DIV || low->op != QG_MOD || high->arg[0] != low->arg[0] || high->arg[1] != low->arg[1])
                continue;
            if (a->terms[i].coefficient != a->terms[j].coefficient * high->arg[1]->integer) continue;
            const struct qg_index_term joined = {low->arg[0], low->arg[0]->max + 1, a->terms[j].coefficient};
            const uint32_t first = i < j ? i : j, second = i < j ? j : i;
            a->terms[first] = joined;
            for (uint32_t k = second; k + 1 < a->n_terms; ++k) a->terms[k] = a->terms[k + 1];
            a->n_terms -= 1;
            i = j = 0;
        }
    }
}

/* Large strides first, in the order of arrival among equals. */
static void sort_terms(qg_index *a) {
    for (uint32_t i = 1; i < a->n_terms; ++i) {
        const struct qg_index_term term = a->terms[i];
        uint32_t at = i;
        for (; at > 0 && a->terms[at - 1].coefficient < term.coefficient; --at) a->terms[at] = a->terms[at - 1];
        a->terms[at] = term;
    }
}

const qg_node *qg_index_node(qg_ir *ir, const qg_node *start, qg_index a) {
    rejoin(&a);
    sort_terms(&a);
    const qg_node *sum = start ? start : qg_uint(ir, 0);
    for (uint32_t i = 0; i < a.n_terms; ++i) {
        const qg_node *scale = qg_uint(ir, (uint32_t)a.terms[i].coefficient);
        sum = qg_apply(ir, QG_ADD, sum, qg_apply(ir, QG_MUL, a.terms[i].digit, scale, NULL), NULL);
    }
    return qg_apply(ir, QG_ADD, sum, qg_uint(ir, (uint32_t)a.constant), NULL);
}
