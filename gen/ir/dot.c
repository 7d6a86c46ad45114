/* The dot product of a tile with x: sum(x * value), rewritten so that little is left to do for each element.
 *
 * A value is a sum of products, and most factors of a product are the same for a whole run of elements: a scale, a
 * minimum, a constant. What is the same is multiplied once, with the sum of what is not; where nothing is left but x
 * itself, its sum over the run was made when x was loaded, and serves every row. Rules, applied from the outside in:
 *
 *   distribute   x . (a + b) = x . a + x . b            where a or b is the same for the run; also below
 *                                                       a conversion of integers that floats hold exactly
 *   factor       x . (s * a) = s * (x . a)              s is the same for the run, wherever it stands in a product
 *   choice       x . (bit ? s : -s) = s * (2 * (x . bit) - x . 1)
 *   halves       x . float(codes) = (x * 2^24) . halves  see halves.c
 *   collect      s * (x0 . a0) + s * (x1 . a1) = s * (x0 . a0 + x1 . a1)
 *   begin        s * (x0 . a0 - 8 * x0 . 1) = s * (b + x0 . a0)  where b = -8 * x0 . 1 is made when x is
 *                                                       loaded; of masked codes, which are added one by one,
 *                                                       and of those that are added in as many operations
 *
 * Sums may round differently than the value does: a kernel's numeric class bounds by how much. A
 * value that is asked for in narrower arithmetic is left as it is. */
#include "ir/dot.h"

#include <math.h>
#include <string.h>

static const uint64_t EXACT_IN_FLOAT = UINT64_C(1) << 24;

/* Dot products that are added one after the other: each addition may round, and waits for the one before. */
enum { CHAIN = 8 };

/* Of more scales, what each gives is added when its weights are there, in code that masks codes: else all wait. */
enum { FEW_SCALES = 4 };

static const qg_node *apply(qg_ir *ir, qg_op op, const qg_node *a, const qg_node *b) {
    return qg_apply(ir, op, a, b, NULL);
}

static bool is_uniform(const products *p, const qg_node *node) {
    return p->lanes > 1 && (node->lanes == 1 || node->op == QG_SPLAT);
}

static const qg_node *one_lane(const qg_node *node) { return node->op == QG_SPLAT ? node->arg[0] : node; }

static bool is_real(const qg_node *node) { return node->op == QG_CONST && node->kind == QG_K_FLOAT; }

static bool is_small_mask(const qg_node *node) {
    return node->op == QG_CONST && node->integer >= 0 && node->integer < (int64_t)EXACT_IN_FLOAT;
}

/* True when every lane of an integer is exact as a float. */
static bool fits_float(const qg_node *node) {
    switch (node->op) {
    case QG_CONST: return node->integer > -(int64_t)EXACT_IN_FLOAT && node->integer < (int64_t)EXACT_IN_FLOAT;
    case QG_TO_INT: return node->arg[0]->kind == QG_K_UINT && node->arg[0]->max < EXACT_IN_FLOAT;
    case QG_SEXT: return node->integer <= 24;
    case QG_AND: return node->kind == QG_K_INT ? is_small_mask(node->arg[1]) : node->max < EXACT_IN_FLOAT;
    case QG_TABLE:
    case QG_LANE: return false;
    default: return node->kind == QG_K_UINT && node->max < EXACT_IN_FLOAT;
    }
}

static void add_product(products *p, product one) {
    one.run = p->run;
    QG_PUSH(p->ir->arena, p->items, p->count, p->capacity, one);
}

static const qg_node *times(qg_ir *ir, const qg_node *a, const qg_node *b) { return a ? apply(ir, QG_MUL, a, b) : b; }

/* factor: a uniform factor goes to the scale, a constant one to the coefficient; for sums of
 * integers, one integer stays. */
static product scaled(products *p, product by, const qg_node *factor) {
    factor = one_lane(factor);
    int64_t low, high;
    if (factor->op == QG_NEG && factor->kind == QG_K_FLOAT) {
        by.coefficient = -by.coefficient;
        return scaled(p, by, factor->arg[0]);
    }
    if (is_real(factor)) {
        by.coefficient *= factor->real;
    } else if (p->integers && factor->op == QG_MUL && factor->kind == QG_K_FLOAT) {
        return scaled(p, scaled(p, by, factor->arg[0]), factor->arg[1]);
    } else if (p->integers && factor->op == QG_TO_FLOAT && !by.whole &&
               qg_integer_range(p->ir, factor->arg[0], &low, &high) && low >= -256 && high <= 256) {
        by.whole = apply(p->ir, QG_TO_INT, factor->arg[0], NULL);
    } else {
        by.scale = times(p->ir, by.scale, factor);
    }
    return by;
}

static void expand(products *p, const qg_node *node, product by);

static const qg_node *to_float(products *p, const qg_node *node) {
    return qg_apply(p->ir, QG_TO_FLOAT, node, NULL, NULL);
}

/* distribute and factor below the conversion of an integer; false where they do not apply. */
static bool expand_integer(products *p, const qg_node *node, product by) {
    const bool sum = node->op == QG_ADD || node->op == QG_SUB;
    if ((!sum && node->op != QG_MUL) || !fits_float(node->arg[0]) || !fits_float(node->arg[1])) return false;
    const bool left = is_uniform(p, node->arg[0]), right = is_uniform(p, node->arg[1]);
    if (!left && !right) return false;
    if (sum) {
        expand(p, to_float(p, one_lane(node->arg[0])), by);
        if (node->op == QG_SUB) by.coefficient = -by.coefficient;
        expand(p, to_float(p, one_lane(node->arg[1])), by);
        return true;
    }
    expand(p, to_float(p, node->arg[left]), scaled(p, by, to_float(p, one_lane(node->arg[!left]))));
    return true;
}

/* choice: of a uniform value and its negative, by a bit. */
static bool expand_choice(products *p, const qg_node *node, product by) {
    if (!is_uniform(p, node->arg[1]) || !is_uniform(p, node->arg[2])) return false;
    const qg_node *bit = qg_bit_of(node->arg[0]), *yes = one_lane(node->arg[1]), *no = one_lane(node->arg[2]);
    const bool opposite = yes->op == QG_NEG  ? yes->arg[0] == no
                          : no->op == QG_NEG ? no->arg[0] == yes
                          : is_real(yes)     ? is_real(no) && yes->real == -no->real
                                             : false;
    if (!bit || !opposite) return false;
    expand(p, no, by);
    by.coefficient *= 2.0f;
    expand(p, to_float(p, bit), scaled(p, by, yes));
    return true;
}

/* Multiplies by->vector with the factors of a product that are not uniform, and by->scale with
 * those that are; returns how many are not. */
static uint32_t take_factors(products *p, const qg_node *node, product *by) {
    if (is_uniform(p, node)) {
        *by = scaled(p, *by, node);
        return 0;
    }
    if (node->op == QG_MUL && node->kind == QG_K_FLOAT) {
        const uint32_t left = take_factors(p, node->arg[0], by);
        return left + take_factors(p, node->arg[1], by);
    }
    by->vector = times(p->ir, by->vector, node);
    return 1;
}

static void expand_product(products *p, const qg_node *node, product by) {
    const uint32_t count = take_factors(p, node, &by);
    if (count != 1) {
        add_product(p, by);
        return;
    }
    const qg_node *factor = by.vector;
    by.vector = NULL;
    expand(p, factor, by);
}

/* Takes `by` times (x_run . node) apart. */
static void expand(products *p, const qg_node *node, product by) {
    if (is_uniform(p, node)) {
        add_product(p, scaled(p, by, node));
        return;
    }
    const qg_node *a = node->arg[0], *b = node->arg[1];
    if (p->lanes > 1 && node->kind == QG_K_FLOAT) {
        switch (node->op) {
        case QG_ADD:
        case QG_SUB:
            if (!is_uniform(p, a) && !is_uniform(p, b)) break;
            expand(p, a, by);
            if (node->op == QG_SUB) by.coefficient = -by.coefficient;
            expand(p, b, by);
            return;
        case QG_MUL: expand_product(p, node, by); return;
        case QG_NEG:
            by.coefficient = -by.coefficient;
            expand(p, a, by);
            return;
        case QG_TO_FLOAT:
            if (expand_integer(p, a, by)) return;
            break;
        case QG_SELECT:
            if (expand_choice(p, node, by)) return;
            break;
        default: break;
        }
    }
    by.vector = node;
    add_product(p, by);
}

void qg_dot_expand(products *p, uint32_t n_runs, const qg_node *const *values) {
    for (p->run = 0; p->run < n_runs; ++p->run) expand(p, values[p->run], (product){.coefficient = 1.0f});
}

/* ---- collect ---- */

static float magnitude(float x) { return x < 0 ? -x : x; }

/* A product with a vector keeps its constant in the scale, so that the vector's sum is taken as it is. */
static void settle_scale(products *p, product *one) {
    if (!one->vector || magnitude(one->coefficient) == 1.0f) return;
    const qg_node *constant = qg_real(p->ir, magnitude(one->coefficient));
    one->scale = one->scale ? apply(p->ir, QG_MUL, one->scale, constant) : constant;
    one->coefficient = one->coefficient < 0 ? -1.0f : 1.0f;
}

static const qg_node *plus(qg_ir *ir, const qg_node *sum, const qg_node *term, bool negative) {
    if (!sum) return negative ? qg_apply(ir, QG_NEG, term, NULL, NULL) : term;
    const qg_node *both = apply(ir, negative ? QG_SUB : QG_ADD, sum, term);
    return qg_is_added_dot(ir, both) ? qg_let(ir, both, "dots", NULL) : both;
}

/* The runs whose x is summed up with the scale and the coefficient of product `first`. A run that has
 * them twice is left for another sum. */
static uint64_t take_runs_of_x(products *p, uint32_t first, bool *taken) {
    uint64_t runs = 0;
    const product like = p->items[first];
    for (uint32_t i = first; i < p->count; ++i) {
        const product *one = &p->items[i];
        const uint64_t run = UINT64_C(1) << one->run;
        if (taken[i] || one->scale != like.scale || one->vector || one->coefficient != like.coefficient || runs & run)
            continue;
        taken[i] = true;
        runs |= run;
    }
    return runs;
}

/* The sums of x over runs that have one scale and one coefficient are a single sum. */
static const qg_node *sum_of_x(products *p, uint32_t first, bool *taken) {
    const qg_node *sum = qg_x_sum(p->ir, take_runs_of_x(p, first, taken), 1);
    const float factor = magnitude(p->items[first].coefficient);
    return factor == 1.0f ? sum : apply(p->ir, QG_MUL, qg_real(p->ir, factor), sum);
}

/* Whether x of that run is summed up for another scale, too, which a sum with a factor is of no use to. */
static bool is_summed_twice(const products *p, uint32_t number) {
    for (uint32_t i = 0; i < p->count; ++i)
        if (i != number && !p->items[i].vector && p->items[i].run == p->items[number].run) return true;
    return false;
}

/* begin: a sum that has dot products may begin with x summed up, times its coefficient, which was done
 * when x was loaded: where that is a power of two, and rounds nothing. NULL where there is no such. */
static const qg_node *begin_with_x(products *p, uint32_t first, bool *taken, bool negative) {
    const qg_node *scale = p->items[first].scale;
    bool dots = false;
    uint32_t of_x = p->count;
    int power;
    for (uint32_t i = p->count; i-- > first;) {
        const product *one = &p->items[i];
        if (taken[i] || one->scale != scale) continue;
        dots |= one->vector != NULL;
        if (!one->vector && frexpf(magnitude(one->coefficient), &power) == 0.5f) of_x = i;
    }
    if (!dots || of_x == p->count || (!p->ir->masked && is_summed_twice(p, of_x))) return NULL;
    const float factor = p->items[of_x].coefficient;
    return qg_x_sum(p->ir, take_runs_of_x(p, of_x, taken), negative ? -factor : factor);
}

/* Whether dot products are added to what a sum begins with, in no more operations than they take alone. */
static bool begins(const products *p) {
    return p->ir->masked || (p->ir->own_units && !p->ir->half && p->lanes == QG_MAX_LANES);
}

/* Everything that has one scale: the dot products, then the sums of x. Subtracted where all of it is negative. */
static const qg_node *collect(products *p, uint32_t first, bool *taken, bool *negative) {
    const qg_node *scale = p->items[first].scale, *sum = NULL, *chains = NULL;
    uint32_t links = 0;
    *negative = true;
    for (uint32_t i = first; i < p->count; ++i)
        if (!taken[i] && p->items[i].scale == scale && p->items[i].coefficient > 0) *negative = false;
    if (begins(p)) sum = begin_with_x(p, first, taken, *negative);
    for (int positive = 1; positive >= 0; --positive) {
        for (uint32_t i = first; i < p->count; ++i) {
            const product one = p->items[i];
            if (taken[i] || one.scale != scale || (one.coefficient > 0) != (positive == 1)) continue;
            const bool minus = !positive && !*negative;
            if (one.vector) {
                taken[i] = true;
                if (links++ == CHAIN) {
                    chains = plus(p->ir, chains, sum, false);
                    sum = NULL;
                    links = 1;
                }
                sum = plus(p->ir, sum, qg_dot(p->ir, one.run, one.vector), minus);
            } else {
                sum = plus(p->ir, sum, sum_of_x(p, i, taken), minus);
            }
        }
    }
    if (chains) sum = plus(p->ir, chains, sum, false);
    return scale ? apply(p->ir, QG_MUL, scale, sum) : sum;
}

static bool has_more_scales(const products *p, uint32_t than) {
    uint32_t count = 0;
    for (uint32_t i = 0, k; i < p->count; ++i) {
        for (k = 0; k < i && p->items[k].scale != p->items[i].scale;) ++k;
        count += k == i;
    }
    return count > than;
}

const qg_node *qg_dot_collect(products *p, const qg_node *total) {
    for (uint32_t i = 0; i < p->count; ++i) settle_scale(p, &p->items[i]);
    const bool one_by_one = p->ir->masked && has_more_scales(p, FEW_SCALES);
    bool *taken = QG_NEW_ARRAY(p->ir->arena, bool, p->count + 1);
    for (uint32_t i = 0; i < p->count; ++i) {
        bool negative;
        if (taken[i]) continue;
        const qg_node *group = collect(p, i, taken, &negative);
        if (total && one_by_one) total = qg_let(p->ir, total, "total", NULL);
        total = plus(p->ir, total, group, negative);
    }
    return total;
}

/* ---- halves ---- */

static bool same_factors(const qg_halves *a, const qg_halves *b, uint32_t lanes) {
    for (uint32_t i = 0; i < lanes; ++i)
        if (a->factor[i] != b->factor[i]) return false;
    return true;
}

/* Those of all products of a run, which have the same factors; NULL: they have not, or there are none. */
static const qg_halves *halves_of_run(products *p, uint32_t run, qg_halves *halves) {
    const qg_halves *first = NULL;
    for (uint32_t i = 0; i < p->count; ++i) {
        if (p->items[i].run != run || !p->items[i].vector) continue;
        if (!qg_as_halves_or_nan(p->ir, p->items[i].vector, p->lanes, &halves[i])) return NULL;
        if (first && !same_factors(first, &halves[i], p->lanes)) return NULL;
        first = first ? first : &halves[i];
    }
    return first;
}

/* The rule of halves.c for the products of one run; x has one factor, so that it holds for all of them or for none. */
static void use_halves(products *p, uint32_t run) {
    const uint32_t count = p->count;
    qg_halves *halves = QG_NEW_ARRAY(p->ir->arena, qg_halves, count + 1);
    p->ir->in_place = p->ir->masked;
    const qg_halves *first = halves_of_run(p, run, halves);
    p->ir->in_place = false;
    if (!first && p->ir->masked) first = halves_of_run(p, run, halves);
    if (!first) return;
    for (uint32_t l = 0; l < p->lanes; ++l) p->ir->x_factors[run][l] = first->factor[l];
    p->run = run;
    for (uint32_t i = 0; i < count; ++i) {
        if (p->items[i].run != run || !p->items[i].vector) continue;
        p->items[i].vector = halves[i].vector;
        if (halves[i].nans) p->nans = p->nans ? apply(p->ir, QG_OR, p->nans, halves[i].nans) : halves[i].nans;
        if (halves[i].bias == 0) continue;
        add_product(p, (product){.coefficient = -p->items[i].coefficient * halves[i].bias, .scale = p->items[i].scale});
    }
}

static void leave_x(qg_ir *ir, uint32_t lanes, uint32_t n_runs) {
    ir->n_x_factors = n_runs;
    ir->x_lanes = lanes;
    ir->x_factors = qg_alloc(ir->arena, n_runs * sizeof *ir->x_factors);
    for (uint32_t r = 0; r < n_runs; ++r)
        for (uint32_t l = 0; l < QG_MAX_LANES; ++l) ir->x_factors[r][l] = 1.0f;
}

static void use_all_halves(products *p, uint32_t n_runs) {
    for (uint32_t r = 0; r < n_runs && p->lanes > 1; ++r) use_halves(p, r);
}

/* What a sum begins with that is NaN where one of its weights is. */
static const qg_node *nan_or_zero(qg_ir *ir, const qg_node *nans) {
    const qg_node *any = apply(ir, QG_NE, apply(ir, QG_AND, nans, qg_uint(ir, 0x80808080)), qg_uint(ir, 0));
    const qg_node *bits = qg_apply(ir, QG_SELECT, any, qg_uint(ir, 0x7FC00000), qg_uint(ir, 0));
    return qg_let(ir, qg_float_bits(ir, QG_F32, bits), "nans", "NaN where a weight is");
}

const qg_node *qg_dot_of_runs(qg_ir *ir, uint32_t lanes, uint32_t n_runs, const qg_node *const *values) {
    products p = {.ir = ir, .lanes = lanes};
    qg_dot_expand(&p, n_runs, values);
    leave_x(ir, lanes, n_runs);
    use_all_halves(&p, n_runs);
    return qg_dot_collect(&p, p.nans ? nan_or_zero(ir, p.nans) : NULL);
}

/* ---- rows that meet the same x ---- */

static bool is_like(const float *a, const float *b, uint32_t lanes) {
    for (uint32_t i = 0; i < lanes; ++i)
        if (a[i] != b[i]) return false;
    return true;
}

/* Whether all vectors of all rows are halves whose factors are those of their run, so that x takes them. */
static bool x_takes_factors(qg_ir *ir, const products *all, uint32_t rows, uint32_t lanes) {
    qg_halves halves;
    bool found = false;
    for (uint32_t r = 0; r < rows; ++r)
        for (uint32_t i = 0; i < all[r].count; ++i) {
            const product *one = &all[r].items[i];
            if (!one->vector) continue;
            if (!qg_as_halves(ir, one->vector, lanes, &halves)) return false;
            if (r == 0) memcpy(ir->x_factors[one->run], halves.factor, sizeof halves.factor);
            if (!is_like(ir->x_factors[one->run], halves.factor, lanes)) return false;
            found = true;
        }
    return found;
}

/* The factor that all lanes of a row's vectors have, so that its sum takes it; 0: there is none. */
static float factor_of_row(qg_ir *ir, const products *row, uint32_t lanes) {
    qg_halves halves;
    float factor = 0;
    for (uint32_t i = 0; i < row->count; ++i) {
        if (!row->items[i].vector) continue;
        if (!qg_words_as_halves(ir, row->items[i].vector, lanes, &halves)) return 0;
        for (uint32_t l = 0; l < lanes; ++l) {
            if (factor != 0 && halves.factor[l] != factor) return 0;
            factor = halves.factor[l];
        }
    }
    return factor;
}

/* Halves in the place of a row's vectors. `factor` is what their sum takes; 0: x does. */
static void take_halves(products *row, float factor) {
    const uint32_t count = row->count;
    for (uint32_t i = 0; i < count; ++i) {
        product *one = &row->items[i];
        qg_halves halves;
        if (!one->vector) continue;
        (factor != 0 ? qg_words_as_halves : qg_as_halves)(row->ir, one->vector, row->lanes, &halves);
        one->vector = halves.vector;
        const product bias = {.coefficient = -one->coefficient * halves.bias, .scale = one->scale};
        if (factor != 0) one->coefficient *= factor;
        row->run = one->run;
        if (halves.bias != 0) add_product(row, bias);
    }
}

void qg_dots_of_rows(qg_ir *ir, uint32_t lanes, uint32_t n_runs, uint32_t rows, const qg_node *const *values,
                     const qg_node **sums) {
    products *all = QG_NEW_ARRAY(ir->arena, products, rows);
    leave_x(ir, lanes, n_runs);
    for (uint32_t r = 0; r < rows; ++r) {
        all[r] = (products){.ir = ir, .lanes = lanes};
        qg_dot_expand(&all[r], n_runs, values + r * n_runs);
    }
    const bool by_x = lanes > 1 && x_takes_factors(ir, all, rows, lanes);
    if (!by_x) leave_x(ir, lanes, n_runs);
    for (uint32_t r = 0; r < rows; ++r) {
        const float factor = by_x || lanes == 1 ? 0 : factor_of_row(ir, &all[r], lanes);
        if (by_x || factor != 0) take_halves(&all[r], factor);
        sums[r] = qg_dot_collect(&all[r], NULL);
    }
}

const qg_node *qg_dot_as_written(qg_ir *ir, uint32_t lanes, uint32_t n_runs, const qg_node *const *values) {
    const qg_node *total = NULL;
    leave_x(ir, lanes, n_runs);
    for (uint32_t r = 0; r < n_runs; ++r)
        total = plus(ir, total, qg_dot(ir, r, qg_let(ir, qg_splat(ir, values[r], lanes), "value", NULL)), false);
    return total;
}
