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
            const qg_call_shape s = qg_with_experts(t, qg_shape_of(t->layout, rows[i], blocks[i] + more, 1), 3, 2);
            if (t->unable || qg_call_of(t, s, call)) continue;
            o->shapes[o->count++] = s;
            break;
        }
}

static void repeat(orders *o) {
    qg_trial *t = o->t;
    for (uint32_t i = 0; i < o->count; ++i) {
        o->seeds[i] = qg_random(&t->random);
        o->y[i] = qg_compare(t, o->shapes[i], o->seeds[i], (qg_wish){0}).y;
        for (int k = 0; k < 2 && o->y[i]; ++k) {
            const qg_comparison again = qg_compare(t, o->shapes[i], o->seeds[i], (qg_wish){0});
            if (again.y && !same_bits(o, i, again.y) && !qg_found(t, "not-repeatable"))
                qg_find(t, QG_WRONG, "not-repeatable",
                        qg_format(t->arena, "with %s, the same launch gives other results when it is repeated",
                                  qg_say_shape(t, o->shapes[i])));
        }
    }
}

/* What was right before must be right in another order, too; sums may round otherwise. */
static void compare_elsewhere(orders *o, const char *how, const char *rule) {
    qg_trial *t = o->t;
    for (uint32_t i = 0; i < o->count && !qg_found(t, rule); ++i) {
        if (!o->y[i] || (t->in_executor && qg_results(t->harness, o->shapes[i]) * o->shapes[i].cols > 2000000))
            continue;
        const qg_comparison c = qg_compare(t, o->shapes[i], o->seeds[i], (qg_wish){0});
        if (c.wrong == UINT64_MAX || c.wrong == 0 || same_bits(o, i, c.y)) continue;
        qg_find(t, QG_WRONG, rule,
                qg_format(t->arena, "%s, with %s, %llu of %llu results are others, and wrong: %s", how,
                          qg_say_shape(t, o->shapes[i]), (unsigned long long)c.wrong, (unsigned long long)c.all,
                          c.sentence));
    }
}

static void leave_out(qg_trial *t, const char *how, const char *why) {
    qg_evidence_run *run = &t->judgement->runs[t->evidence];
    if (!run->left_out) run->left_out = qg_format(t->arena, "%s: %s", how, why);
}

static void other_lanes(orders *o) {
    static const uint32_t lanes[] = {4, 16};
    qg_trial *t = o->t;
    qg_home home = {0};
    if (!strstr(t->judgement->where, "llvmpipe")) {
        leave_out(t, "other sizes of subgroups", "this driver takes no wish for them");
        return;
    }
    for (int i = 0; i < 2; ++i) {
        const char *how = qg_format(t->arena, "in subgroups of %u", lanes[i]);
        qg_worker_options options = t->options.worker;
        options.lanes = lanes[i];
        const char *why = qg_leave(t, t->kernel, &options, &home);
        if (why) {
            leave_out(t, how, why);
            continue;
        }
        compare_elsewhere(o, how, "other-subgroups");
        qg_return(t, &home);
    }
}

static void other_turns(orders *o) {
    qg_trial *t = o->t;
    qg_home home = {0};
    for (int i = 0; i < 3; ++i) {
        const qg_turns turns = i == 0 ? QG_TURNS_REVERSE : QG_TURNS_RANDOM;
        const char *how = i == 0 ? "when threads run in reverse order" : "when threads run in a random order";
        qg_worker_options options = t->options.worker;
        options.turns = turns;
        options.seed = (uint64_t)i;
        const char *why = t->harness->target == QG_FOREIGN_METAL ? qg_leave(t, t->kernel, &options, &home)
                                                                 : qg_leave_for_executor(t, turns, (uint64_t)i, &home);
        if (why) {
            leave_out(t, how, why);
            return;
        }
        compare_elsewhere(o, how, "other-order");
        qg_return(t, &home);
        if (t->unable &&
            t->harness->target == QG_FOREIGN_VULKAN) { /* the executor lacks something: no fault of the kernel */
            leave_out(t, how, t->unable);
            t->unable = NULL;
            return;
        }
    }
}

void qg_see_order(qg_trial *t) {
    orders o = {.t = t};
    if (qg_sums_are_known(t)) return;
    choose_shapes(&o);
    repeat(&o);
    if (t->harness->target == QG_FOREIGN_VULKAN) other_lanes(&o);
    if (t->harness->target != QG_FOREIGN_C && !t->stopped) other_turns(&o);
}
