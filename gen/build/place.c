/* Where a word of a block lies in its buffer, when blocks are patches of a matrix.
 *
 * The layout knows the word's number in the block's own tile; the axes of the buffer and the shape of the tensor,
 * which the kernel learns when it is launched, say where in memory that is: a row and a column of the buffer's
 * matrix, and the length of its rows. Arguments of the code: `row` and `tile`, of the whole matrix, `block_row`
 * and `block_col`, and of its shape `rows`, `cols`, `grid_rows` and `grid_cols`, the numbers of blocks. Where several
 * matrices are stacked, all that is of one of them, whose number is `expert`. */
#include "build/plan.h"

static const uint64_t WORD = UINT64_C(1) << 32;

typedef struct place {
    qg_ir *ir;
    const qg_layout *layout;
    const qg_buffer *buffer;
    uint32_t units;    /* in a row of the tile */
    uint32_t in_item;  /* units; 1 where an item has no more */
    const qg_node *by; /* the column of blocks, when a code says it */
} place;

static const qg_node *argument(const place *p, const char *name) { return qg_arg(p->ir, name, WORD); }

static const qg_node *number(const place *p, uint32_t value) { return qg_uint(p->ir, value); }

static const qg_node *apply(const place *p, qg_op op, const qg_node *a, const qg_node *b) {
    return qg_apply(p->ir, op, a, b, NULL);
}

static bool grows_along(const qg_buffer *buffer, qg_axis axis) {
    for (uint32_t i = 0; i < buffer->n_axes; ++i)
        if (buffer->axes[i] == axis) return true;
    return false;
}

/* Items that the whole tensor has along an axis of which a block of `block` elements has `items`. */
static const qg_node *total(const place *p, const char *elements, const char *blocks, uint32_t items, uint32_t block) {
    if (items == block && (p->layout->ragged || block == 1)) return argument(p, elements);
    if (items == 1 || !p->layout->ragged) return apply(p, QG_MUL, argument(p, blocks), number(p, items));
    /* elements * items / block, rounded up; the product, or the sum in its place, need not fit into 32 bits. */
    const qg_node *all = argument(p, elements);
    if (block % items == 0) {
        const qg_node *before = apply(p, QG_SUB, all, number(p, 1));
        return apply(p, QG_ADD, apply(p, QG_DIV, before, number(p, block / items)), number(p, 1));
    }
    const qg_node *size = number(p, block);
    const qg_node *rest = apply(p, QG_MUL, apply(p, QG_MOD, all, size), number(p, items));
    const qg_node *last = apply(p, QG_DIV, apply(p, QG_ADD, rest, number(p, block - 1)), size);
    return apply(p, QG_ADD, apply(p, QG_MUL, apply(p, QG_DIV, all, size), number(p, items)), last);
}

static const qg_node *total_rows(const place *p) {
    return total(p, "rows", "grid_rows", p->buffer->tile_rows, p->layout->block_rows);
}

/* In units. Where a unit holds several items, a row of the tile is whole units, and nothing is ragged. */
static const qg_node *total_cols(const place *p) {
    if (p->buffer->entries) return number(p, p->units * p->buffer->entries);
    if (p->layout->view == QG_VIEW_GROUPS) return number(p, p->units);
    const uint32_t items = p->units / p->in_item;
    return apply(p, QG_MUL, total(p, "cols", "grid_cols", items, p->layout->block_cols), number(p, p->in_item));
}

static const qg_node *within(const place *p, const qg_node *at, const qg_node *count) {
    const bool one_more = count->op == QG_ADD && count->arg[1]->op == QG_CONST && count->arg[1]->integer == 1;
    return apply(p, QG_MIN, at, one_more ? count->arg[0] : apply(p, QG_SUB, count, number(p, 1)));
}

/* The row of the buffer's matrix; `x` is the row of the tile. */
static const qg_node *row_of(const place *p, qg_index x) {
    const uint32_t height = p->buffer->tile_rows;
    int64_t apart;
    const qg_index own = qg_index_digit(qg_arg(p->ir, "r", p->layout->block_rows), p->layout->block_rows);
    if (height == p->layout->block_rows && qg_index_difference(x, own, &apart) && apart == 0) return argument(p, "row");
    const qg_index block = qg_index_digit(argument(p, "block_row"), WORD);
    if (p->layout->view == QG_VIEW_GROUPS) {
        if (height == 1) return argument(p, "block_row");
        const qg_node *far = apply(p, QG_MUL, qg_index_node(p->ir, NULL, x), argument(p, "grid_rows"));
        return apply(p, QG_ADD, far, argument(p, "block_row"));
    }
    const qg_node *at = qg_index_node(p->ir, NULL, qg_index_add(p->ir, qg_index_scale(block, height), x));
    return p->layout->ragged && height > 1 ? within(p, at, total_rows(p)) : at;
}

/* The column of the buffer's matrix, in units; `y` is that of the tile. */
static const qg_node *col_of(const place *p, qg_index y) {
    const uint64_t extent = WORD;
    if (p->by && p->buffer->entries) {
        const qg_node *entry = qg_let(p->ir, p->by, "entry", NULL);
        return qg_index_node(
            p->ir, NULL, qg_index_add(p->ir, qg_index_scale(qg_index_digit(entry, p->buffer->entries), p->units), y));
    }
    if (p->by) {
        const qg_node *group = qg_let(p->ir, within(p, p->by, argument(p, "grid_cols")), "group", NULL);
        return qg_index_node(p->ir, NULL,
                             qg_index_add(p->ir, qg_index_scale(qg_index_digit(group, extent), p->units), y));
    }
    if (!grows_along(p->buffer, QG_AXIS_COLS) || p->layout->view == QG_VIEW_GROUPS)
        return qg_index_node(p->ir, NULL, y);
    int64_t apart;
    const qg_index own = qg_index_digit(qg_arg(p->ir, "t", p->units), p->units);
    if (p->units > 1 && qg_index_difference(y, own, &apart) && apart == 0) return argument(p, "tile");
    const qg_index block = qg_index_scale(qg_index_digit(argument(p, "block_col"), extent), p->units);
    const qg_node *at = qg_index_node(p->ir, NULL, qg_index_add(p->ir, block, y));
    return p->layout->ragged && p->units > 1 ? within(p, at, total_cols(p)) : at;
}

/* Units of the whole buffer of one matrix. */
static const qg_node *total_units(const place *p) {
    const qg_buffer *b = p->buffer;
    const bool along_cols =
        b->n_axes == 2 || b->entries || grows_along(b, QG_AXIS_COLS) || grows_along(b, QG_AXIS_CODE);
    const qg_node *cols = along_cols ? total_cols(p) : number(p, p->units);
    return grows_along(b, QG_AXIS_ROWS) ? apply(p, QG_MUL, total_rows(p), cols) : cols;
}

static const qg_node *place_in_matrix(qg_ir *ir, uint32_t buffer, uint32_t unit, qg_index word, const qg_node *by) {
    const qg_buffer *b = &ir->layout->buffers[buffer];
    place p = {.ir = ir, .layout = ir->layout, .buffer = b, .by = by};
    p.units = b->tile_cols * b->item_bits / unit;
    p.in_item = b->item_bits > unit ? b->item_bits / unit : 1;
    const qg_index x = qg_index_div(ir, word, p.units), y = qg_index_mod(ir, word, p.units);
    if (b->header) { /* its words, the same for all blocks of the row, are numbered before those of the block */
        const uint32_t header = b->header * b->item_bits / unit;
        const qg_node *pitch = apply(&p, QG_ADD, total_cols(&p), number(&p, header));
        const qg_node *begin = apply(&p, QG_MUL, argument(&p, "row"), pitch);
        const bool before = qg_index_max(word) < header;
        const qg_index block = qg_index_scale(qg_index_digit(argument(&p, "block_col"), WORD), p.units);
        const qg_node *at = qg_index_node(ir, NULL, before ? word : qg_index_add(ir, block, word));
        return apply(&p, QG_ADD, begin, at);
    }
    const bool has_rows = grows_along(b, QG_AXIS_ROWS) && ir->layout->view != QG_VIEW_SEQUENCE;
    if (!has_rows) return col_of(&p, y);
    if (b->n_axes == 2 && b->axes[1] == QG_AXIS_ROWS) { /* turned: the row changes fastest */
        const uint32_t in_item = p.in_item;
        const qg_index part = qg_index_mod(ir, y, in_item), item = qg_index_div(ir, y, in_item);
        p.units /= in_item;
        p.in_item = 1;
        const qg_node *at = apply(&p, QG_ADD, apply(&p, QG_MUL, col_of(&p, item), total_rows(&p)), row_of(&p, x));
        const qg_index whole = qg_index_scale(qg_index_digit(at, WORD), in_item);
        return qg_index_node(ir, NULL, qg_index_add(ir, whole, part));
    }
    if (b->n_axes == 1) { /* no columns: a row is an item */
        const qg_index at = qg_index_scale(qg_index_digit(row_of(&p, x), WORD), p.units);
        return qg_index_node(ir, NULL, qg_index_add(ir, at, y));
    }
    return apply(&p, QG_ADD, apply(&p, QG_MUL, row_of(&p, x), total_cols(&p)), col_of(&p, y));
}

const qg_node *qg_place(qg_ir *ir, uint32_t buffer, uint32_t unit, qg_index word, const qg_node *by) {
    const qg_node *at = place_in_matrix(ir, buffer, unit, word, by);
    if (!ir->layout->each) return at;
    const qg_buffer *b = &ir->layout->buffers[buffer];
    place p = {.ir = ir, .layout = ir->layout, .buffer = b};
    p.units = b->tile_cols * b->item_bits / unit;
    p.in_item = b->item_bits > unit ? b->item_bits / unit : 1;
    return apply(&p, QG_ADD, apply(&p, QG_MUL, argument(&p, "expert"), total_units(&p)), at);
}
