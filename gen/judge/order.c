/* Orders: the same launch again, with subgroups of other sizes, and with threads in other orders. */
#include "judge/trial.h"

#include <string.h>

enum { SHAPES = 3 };

typedef struct orders {
    qg_trial *t;
    qg_call_shape shapes[SHAPES];
    uint64_t seeds[SHAPES];
    uint32_t count;
    float *y[SHAPES]; /* of the first launch; NULL: it failed */
} orders;

static bool same_bits(const orders *o, uint32_t i, const float *y) {
    return !memcmp(o->y[i], y, qg_results(o->t->harness, o->shapes[i]) * sizeof *y);
}

static void choose_shapes(orders *o) {
    static const uint64_t rows[] = {3, 33, 130}, blocks[] = {1, 2, 17};
    qg_trial *t = o->t;
    qg_call *call = QG_NEW(t->arena, qg_call);
    for (int i = 0; i < SHAPES; ++i)
        for (uint64_t more = 0; more < 64; ++more) {
            const qg_call_shape s = {rows[i], (blocks[i] + more) * t->layout->elements, 1};
            if (t->unable || qg_call_of(t, s, call)) continue;
            o->shapes[o->count++] = s;
            break;
        }
}

static void repeat(orders *o) {
    qg_trial *t = o->t;
    for (uint32_t i = 0; i < o->count; ++i) {
        o->seeds[i] = qg_random(&t->random);
        o->y[i] = qg_compare(t, o->shapes[i], o->seeds[i], 0).y;
        for (int k = 0; k < 2 && o->y[i]; ++k) {
            const qg_comparison again = qg_compare(t, o->shapes[i], o->seeds[i], 0);
            if (again.y && !same_bits(o, i, again.y) && !qg_found(t, "not-repeatable"))
                qg_find(t, QG_WRONG, "not-repeatable",
                        qg_format(t->arena, "with %s, the same launch gives other results when it is repeated",
                                  qg_say_shape(t, o->shapes[i])));
        }
    }
}

/* What was right before must be right in another order, too; sums may round otherwise. */
static void elsewhere(orders *o, const qg_worker_options *options, const char *how, const char *rule) {
    qg_trial *t = o->t;
    qg_worker *first = t->worker;
    const uint32_t lanes = t->harness->lanes;
    qg_outcome outcome;
    const char *why;
    t->worker = qg_worker_open(t->arena, t->kernel, options, &outcome, &why);
    if (!t->worker) {
        t->worker = first;
        t->judgement->runs[t->evidence].left_out = qg_format(t->arena, "%s: %s", how, why);
        return;
    }
    t->harness->lanes = qg_worker_lanes(t->worker);
    for (uint32_t i = 0; i < o->count && !qg_found(t, rule); ++i) {
        if (!o->y[i]) continue;
        const qg_comparison c = qg_compare(t, o->shapes[i], o->seeds[i], 0);
        const qg_comparison before = {.y = o->y[i]};
        if (c.wrong == UINT64_MAX || c.wrong == 0 || same_bits(o, i, c.y) || !before.y) continue;
        qg_find(t, QG_WRONG, rule,
                qg_format(t->arena, "%s, with %s, %llu of %llu results are others, and wrong: %s", how,
                          qg_say_shape(t, o->shapes[i]), (unsigned long long)c.wrong, (unsigned long long)c.all,
                          c.sentence));
    }
    qg_worker_close(t->worker);
    t->worker = first;
    t->harness->lanes = lanes;
}

static void other_lanes(orders *o) {
    static const uint32_t lanes[] = {4, 16};
    qg_trial *t = o->t;
    if (!strstr(t->judgement->where, "llvmpipe")) {
        t->judgement->runs[t->evidence].left_out = "other sizes of subgroups: this driver has no wish for them";
        return;
    }
    for (int i = 0; i < 2; ++i) {
        qg_worker_options options = t->options.worker;
        options.lanes = lanes[i];
        elsewhere(o, &options, qg_format(t->arena, "in subgroups of %u", lanes[i]), "other-subgroups");
    }
}

static void other_turns(orders *o) {
    for (int i = 0; i < 3; ++i) {
        qg_worker_options options = o->t->options.worker;
        options.turns = i == 0 ? QG_TURNS_REVERSE : QG_TURNS_RANDOM;
        options.seed = (uint64_t)i;
        elsewhere(o, &options, i == 0 ? "when threads run in reverse order" : "when threads run in a random order",
                  "other-order");
    }
}

void qg_see_order(qg_trial *t) {
    orders o = {.t = t};
    if (qg_sums_are_known(t)) return;
    choose_shapes(&o);
    repeat(&o);
    if (t->harness->target == QG_FOREIGN_VULKAN) other_lanes(&o);
    if (t->harness->target == QG_FOREIGN_METAL) other_turns(&o);
}
