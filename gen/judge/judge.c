/* What the evidences are called, and the verdict of a judgement. */
#include "judge/judge.h"

const qg_evidence_info qg_evidences[QG_EVIDENCE_COUNT] = {
#define E(id, name, title) {name, title},
#include "judge/evidence.def"
#undef E
};

uint32_t qg_judgement_wrong(const qg_judgement *judgement) {
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < judgement->n_findings; i++) {
        wrong += judgement->findings[i].severity == QG_WRONG;
    }
    return wrong;
}
