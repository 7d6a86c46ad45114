/* The kinds of evidence, and what a judgement comes to. */
#include "judge/judge.h"

const qg_evidence_info qg_evidences[] = {
#define E(id, name, title) {name, title},
#include "judge/evidence.def"
#undef E
};

uint32_t qg_judgement_wrong(const qg_judgement *judgement) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < judgement->n_findings; ++i) count += judgement->findings[i].severity == QG_WRONG;
    return count;
}
