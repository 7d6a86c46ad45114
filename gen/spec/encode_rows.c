/* Rows in `encode`: what the blocks of a row share, a header or an item of a buffer of [rows], is made of all of the
 * row, and so before its blocks are. */
#include "spec/check.h"

enum { MOST_ELEMENTS = 4096, MOST_BYTES = 4096 };

static bool is_shared_by_row(const qg_buffer *buffer) { return buffer->n_axes == 1 && buffer->axes[0] == QG_AXIS_ROWS; }

bool qg_is_of_row(const qg_buffer *buffers, const qg_code *code) {
    for (uint32_t s = 0; s < code->n_slices; s++) {
        const qg_buffer *buffer = &buffers[code->slices[s].buffer];
        if (!is_shared_by_row(buffer) && code->slices[s].bit >= buffer->header * buffer->item_bits) {
            return false;
        }
    }
    return true;
}

/* Rows of blocks, each with what is its own beside or before them. */
static bool has_rows(const qg_work *work) {
    if (work->view != QG_VIEW_MATRIX || work->block_rows != 1) {
        return false;
    }
    for (uint32_t i = 0; i < work->spec->n_buffers || i == 0; i++) {
        const qg_buffer *b = &work->buffers[i];
        const bool blocks =
            b->header > 0 || (b->n_axes == 2 && b->axes[0] == QG_AXIS_ROWS && b->axes[1] == QG_AXIS_COLS);
        if (b->entries > 0 || !(blocks || is_shared_by_row(b))) {
            return false;
        }
    }
    return true;
}

/* Blocks one after the other, in every buffer. */
static bool has_blocks(const qg_work *work) {
    if (work->view == QG_VIEW_BLOCKS) {
        return true;
    }
    for (uint32_t i = 0; i < work->spec->n_buffers; i++) {
        if (work->buffers[i].n_axes != 2 || work->buffers[i].entries > 0) {
            return false;
        }
    }
    return work->view == QG_VIEW_SEQUENCE;
}

bool qg_is_encodable(qg_work *work) {
    const char *why = NULL;
    if (!has_blocks(work) && work->view != QG_VIEW_GROUPS && !has_rows(work)) {
        why = "'encode' is for formats whose blocks lie one after the other, or are groups of planes, or pieces of "
              "rows, beside what a row has of its own";
    } else if (work->elements > MOST_ELEMENTS || work->block_bytes > MOST_BYTES) {
        why = "'encode' is for blocks of at most 4096 elements and 4096 bytes";
    }
    if (why != NULL) {
        qg_error(work->diag, work->spec->encode_loc, "%s: leave it out", why);
    }
    return why == NULL && (work->view != QG_VIEW_GROUPS || qg_check_planes(work));
}

static bool fail(qg_work *work, const qg_term *term, const char *name, const char *why) {
    qg_error(work->diag, term->loc, "'%s' is the same for all blocks of a row: %s", name, why);
    return false;
}

/* Whether a term that `name` is made of is the same in all blocks of the row; `within` what looks at them all. */
static bool check_term(qg_work *work, const qg_term *term, const char *name, bool within) {
    const qg_scope *scope = work->scope;
    if (term == NULL) {
        return true;
    }
    const qg_equation *e = term->op == QG_CALL && term->call == QG_CALL_LOCAL ? &scope->equations[term->ref] : NULL;
    if (e != NULL && e->per == 1 && within && e->next == NULL) {
        return check_term(work, e->value, name, true);
    }
    const bool of_row =
        e != NULL ? e->of_row : term->op == QG_CODE && qg_is_of_row(work->buffers, &work->codes[term->ref]);
    if ((e != NULL || term->op == QG_CODE) && (!of_row || within)) {
        return fail(work, term, name,
                    within ? "what looks at a row is given x alone" : "it takes names of 'per row' alone");
    }
    if (term->op == QG_CALL && term->count == 0 &&
        (term->call == QG_CALL_SUM || term->call == QG_CALL_MAX || term->call == QG_CALL_MIN ||
         term->call == QG_CALL_EXTREME)) {
        if (term->call == QG_CALL_SUM || term->kind != QG_K_FLOAT) {
            return fail(work, term, name, "of a row there is the largest, the least or the extreme float, and no sum");
        }
        within = true;
    }
    return check_term(work, term->arg[0], name, within) && check_term(work, term->arg[1], name, within) &&
           check_term(work, term->arg[2], name, within);
}

bool qg_check_rows(qg_work *work) {
    bool good = true;
    for (uint32_t i = 0; i < work->scope->n_equations; i++) {
        qg_equation *e = &work->scope->equations[i];
        if (e->is_code && work->view == QG_VIEW_MATRIX) {
            e->of_row = qg_is_of_row(work->buffers, &work->codes[e->code]);
        } else if (e->of_row && work->view != QG_VIEW_MATRIX) {
            qg_error(work->diag, e->loc,
                     "'per row' is for formats whose rows have a header, or a buffer of [rows]: '%s' has the block",
                     e->name);
            good = false;
            continue;
        }
        if (e->of_row && e->best != 0) {
            qg_error(work->diag, e->loc, "a search is for the elements of a block: move '%s' before it", e->name);
            good = false;
        } else if (e->of_row && !check_term(work, e->value, e->name, false)) {
            good = false;
        }
    }
    return good;
}
