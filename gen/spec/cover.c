/* The proof that the slices of a format cover its block exactly: enumerate every bit that every instance claims, find
 * the first that two claim and all that none claims. Addresses are known to lie in the block, and a slice stops at its
 * first conflict, so the work is bounded by the block's bits. */
#include "spec/check.h"

#include <string.h>

/* One slice that claims bits: of a code, or spare when code is NULL. */
typedef struct claim {
    const qg_code *code;
    const qg_slice *slice;
} claim;

typedef struct cover_proof {
    qg_work *work;
    uint16_t **owner; /* for each buffer and bit: number of the claim, from 1; 0: nobody */
    claim *claims;
    uint32_t n_claims;
    bool good;
} cover_proof;

enum { SHOWN_GAPS = 8, SHOWN_CONFLICTS = 8 };

/* The first instance of a slice that claims `bit`, below `limit`. */
static uint32_t instance_at(const qg_slice *slice, uint32_t bit, uint32_t limit) {
    for (uint32_t j = slice->first; j < limit; j++) {
        uint32_t address = qg_slice_address(slice, j);
        if (bit >= address && bit - address < slice->width) {
            return j;
        }
    }
    return limit;
}

/* "by bit 2 of code 'sc', instance 3 (elements 96 to 127)" */
static const char *describe(qg_work *work, const claim *by, uint32_t j, uint32_t bit) {
    uint32_t within = bit - qg_slice_address(by->slice, j);
    if (by->code == NULL) {
        return "as spare";
    }
    const qg_code *code = by->code;
    const qg_field *field = &work->fields[by->slice->field];
    if (strcmp(code->name, field->name) == 0) {
        return "as a whole, for the value names the field";
    }
    const char *what = by->slice->radix == 0 ? qg_format(work->arena, "bit %u", by->slice->shift + within)
                                             : qg_format(work->arena, "digits of base %u", by->slice->radix);
    if (code->count == 1) {
        return qg_format(work->arena, "by %s of code '%s'", what, code->name);
    }
    if (code->per == 1) {
        return qg_format(work->arena, "by %s of code '%s' for element %u", what, code->name, j);
    }
    return qg_format(work->arena, "by %s of code '%s', instance %u (elements %u to %u)", what, code->name, j,
                     j * code->per, (j + 1) * code->per - 1);
}

static void report_conflict(cover_proof *proof, uint32_t number, uint32_t j, uint32_t bit) {
    qg_work *work = proof->work;
    const claim *mine = &proof->claims[number - 1];
    uint32_t first = proof->owner[mine->slice->buffer][bit];
    const claim *other = &proof->claims[first - 1];
    const qg_field *field = &work->fields[mine->slice->field];
    uint32_t limit = first == number ? j : other->slice->first + other->slice->count;
    uint32_t other_j = instance_at(other->slice, bit, limit);
    qg_error(work->diag, mine->slice->loc, "bit %u of field '%s' is claimed twice: here %s", bit - field->offset * 8,
             field->name, describe(work, mine, j, bit));
    qg_note(work->diag, other->slice->loc, "and here %s: correct the base, an extent or a stride of one",
            describe(work, other, other_j, bit));
}

/* Claims all bits of a slice; false at the first that is taken. */
static bool claim_slice(cover_proof *proof, uint32_t number) {
    const qg_slice *slice = proof->claims[number - 1].slice;
    uint16_t *owner = proof->owner[slice->buffer];
    for (uint32_t j = slice->first; j < slice->first + slice->count; j++) {
        if (qg_slice_repeats(slice, j)) {
            continue; /* its bits are those that the first one claims for all */
        }
        uint32_t bit = qg_slice_address(slice, j);
        for (uint32_t end = bit + slice->width; bit < end; bit++) {
            if (owner[bit] != 0) {
                report_conflict(proof, number, j, bit);
                return false;
            }
            owner[bit] = (uint16_t)number;
        }
    }
    return true;
}

/* At most 64 codes and spares of 64 slices, and 64 fields: the numbers fit 16 bits. */
static void gather(cover_proof *proof) {
    qg_work *work = proof->work;
    uint32_t count = work->n_spares;
    for (uint32_t c = 0; c < work->n_codes; c++) {
        count += work->codes[c].n_slices;
    }
    proof->claims = QG_NEW_ARRAY(work->arena, claim, count);
    for (uint32_t c = 0; c < work->n_codes; c++) {
        const qg_code *code = &work->codes[c];
        proof->good = proof->good && code->width != 0;
        for (uint32_t s = 0; s < code->n_slices && code->width != 0; s++) {
            proof->claims[proof->n_claims++] = (claim){code, &code->slices[s]};
        }
    }
    for (uint32_t s = 0; s < work->n_spares; s++) {
        proof->claims[proof->n_claims++] = (claim){NULL, &work->spares[s]};
    }
}

static void add_gap(qg_text *text, uint32_t *n_gaps, uint32_t from, uint32_t to) {
    if (*n_gaps < SHOWN_GAPS) {
        qg_text_printf(text, from == to ? "%s%u" : "%s%u-%u", *n_gaps == 0 ? "" : ", ", from, to);
    }
    ++*n_gaps;
}

static void report_gaps(qg_work *work, const qg_field *field, const char *gaps, uint32_t missing, uint32_t n_gaps) {
    uint32_t bits = field->count * qg_scalars[field->type].bits;
    if (missing == bits) {
        const char *name_it = field->is_array ? "take its bits in a code" : "name it in the value";
        qg_error(work->diag, field->loc, "field '%s' is never used: %s, or declare it spare", field->name, name_it);
        return;
    }
    const char *more = n_gaps > SHOWN_GAPS ? qg_format(work->arena, " and %u more ranges", n_gaps - SHOWN_GAPS) : "";
    const char *which = qg_format(work->arena, missing == 1 ? "bit %s%s" : "bits %s%s", gaps, more);
    qg_error(work->diag, field->loc,
             "%s of field '%s' belong%s to no code (%u of its %u bits): take %s in a code, or declare %s spare", which,
             field->name, missing == 1 ? "s" : "", missing, bits, missing == 1 ? "it" : "them",
             missing == 1 ? "it" : "them");
}

static void find_gaps(cover_proof *proof, const qg_field *field) {
    const uint16_t *owner = proof->owner[field->buffer] + field->offset * 8;
    uint32_t bits = field->count * qg_scalars[field->type].bits;
    uint32_t missing = 0, n_gaps = 0, from = 0;
    for (uint32_t bit = 0; bit < bits; bit++) {
        missing += owner[bit] == 0;
    }
    if (missing == 0) {
        return;
    }
    qg_text gaps = qg_text_new(proof->work->arena);
    for (uint32_t bit = 0; bit <= bits; bit++) {
        bool open = bit < bits && owner[bit] == 0;
        bool was_open = bit > 0 && owner[bit - 1] == 0;
        if (open && !was_open) {
            from = bit;
        } else if (!open && was_open) {
            add_gap(&gaps, &n_gaps, from, bit - 1);
        }
    }
    report_gaps(proof->work, field, gaps.data, missing, n_gaps);
}

void qg_prove_cover(qg_work *work, bool value_known) {
    cover_proof proof = {.work = work, .good = true};
    proof.owner = QG_NEW_ARRAY(work->arena, uint16_t *, work->spec->n_buffers);
    for (uint32_t b = 0; b < work->spec->n_buffers; b++) {
        proof.owner[b] = QG_NEW_ARRAY(work->arena, uint16_t, work->buffers[b].bytes * 8);
    }
    gather(&proof);
    const qg_code *conflicting = NULL;
    uint32_t n_conflicts = 0;
    for (uint32_t number = 1; number <= proof.n_claims && n_conflicts < SHOWN_CONFLICTS; number++) {
        const qg_code *code = proof.claims[number - 1].code;
        if (code != NULL && code == conflicting) {
            continue; /* one conflict for each code: the others mostly follow from it */
        }
        if (!claim_slice(&proof, number)) {
            proof.good = false;
            conflicting = code;
            n_conflicts++;
        }
    }
    for (uint32_t f = 0; f < work->n_fields && proof.good; f++) {
        if (value_known || work->fields[f].is_array) {
            find_gaps(&proof, &work->fields[f]);
        }
    }
}

/* Writes the bits of one slice into a map. */
static void map_slice(qg_owner *map, const qg_slice *slice, qg_owner owner) {
    for (owner.instance = slice->first; owner.instance < slice->first + slice->count; owner.instance++) {
        uint32_t start = qg_slice_address(slice, owner.instance);
        for (uint32_t bit = 0; bit < slice->width && !qg_slice_repeats(slice, owner.instance); bit++) {
            owner.bit = slice->shift + bit;
            map[start + bit] = owner;
        }
    }
}

const qg_owner *qg_bit_map(qg_arena *arena, const qg_layout *layout, uint32_t buffer) {
    qg_owner *map = QG_NEW_ARRAY(arena, qg_owner, layout->buffers[buffer].bytes * 8);
    for (uint32_t c = 0; c < layout->n_codes; c++) {
        const qg_code *code = &layout->codes[c];
        for (uint32_t s = 0; s < code->n_slices; s++) {
            if (code->slices[s].buffer == buffer) {
                map_slice(map, &code->slices[s], (qg_owner){.kind = QG_OWNER_CODE, .code = c, .slice = s});
            }
        }
    }
    for (uint32_t s = 0; s < layout->n_spares; s++) {
        if (layout->spares[s].buffer == buffer) {
            map_slice(map, &layout->spares[s], (qg_owner){.kind = QG_OWNER_SPARE, .slice = s});
        }
    }
    return map;
}
