/* Sums: rows that are long, and x of very different sizes, by the bound of what the kernel claims. */
#include "judge/trial.h"

#include <math.h>

static void see_length(qg_trial *t, uint64_t blocks, float spread) {
    qg_judgement *j = t->judgement;
    qg_call *call = QG_NEW(t->arena, qg_call);
    const qg_call_shape shape = qg_shape_of(t->layout, 16, blocks, 1);
    if (t->unable || qg_call_of(t, shape, call)) return;
    const qg_comparison c = qg_compare(t, shape, qg_random(&t->random), (qg_wish){.spread = spread});
    if (c.wrong == UINT64_MAX) return;
    j->worst_error = fmax(j->worst_error, c.worst);
    if (c.wrong == 0 || qg_found(t, "beyond-bound")) return;
    qg_find(t, QG_WRONG, "beyond-bound",
            qg_format(t->arena,
                      "with %s, and x between 2^-%d and 2^%d, %llu of %llu sums are beyond the bound of %s, by up to "
                      "%s times: %s",
                      qg_say_shape(t, shape), (int)spread, (int)spread + 1, (unsigned long long)c.wrong,
                      (unsigned long long)c.all, qg_claim_names[t->options.claim], qg_say_number(t->arena, c.worst),
                      c.sentence));
}

void qg_see_sums(qg_trial *t) {
    if (t->harness->computes != QG_COMPUTES_SUMS) {
        t->judgement->runs[t->evidence].done = false;
        t->judgement->runs[t->evidence].left_out = "the kernel computes no sums";
        return;
    }
    if (qg_sums_are_known(t)) return;
    if (t->wrong_shapes) {
        t->judgement->runs[t->evidence].left_out = "sums of some shapes are wrong, not only rounded";
        return;
    }
    t->judgement->sum = qg_claim_names[t->options.claim];
    const uint64_t lengths[] = {256, 1024, t->options.quick ? 2048 : 8192};
    for (int i = 0; i < 3; ++i) {
        const uint64_t blocks = (lengths[i] + t->layout->block_cols - 1) / t->layout->block_cols;
        see_length(t, blocks, 0);
        see_length(t, blocks, 6);
    }
}
