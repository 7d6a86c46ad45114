/* Codes of a tile. Every code is found the same way: the index of its instance is a sum of digits, the layout turns it
 * into a bit address, and the address falls apart into a word and a shift. Where the lanes of a run differ by known
 * distances, one word serves them all and the shifts are constants; where they do not, each lane finds its own. */
#include "build/lower.h"

#include <string.h>

static uint32_t low_mask(uint32_t width) { return width >= 32 ? UINT32_MAX : (UINT32_C(1) << width) - 1; }

/* ---- codes ---- */

/* `instance` counts from the slice's first. With a radix, `*power` becomes which of its digits the instance is. */
static qg_index slice_address(lowering *l, const qg_slice *slice, qg_index instance, qg_index *power) {
    qg_index address = qg_index_constant(slice->bit);
    if (l->layout->joined && slice->buffer < l->layout->n_buffers && !l->layout->buffers[slice->buffer].shared) {
        const uint32_t bits = l->layout->buffers[slice->buffer].bytes / l->layout->joined * 8;
        address = qg_index_add(l->ir, address, qg_index_scale(l->joined, bits));
    }
    for (uint32_t d = 0; d < slice->n_digits; ++d) {
        const qg_digit digit = slice->digits[d];
        const bool last = d + 1 == slice->n_digits;
        qg_index value = last ? instance : qg_index_mod(l->ir, instance, digit.extent);
        if (slice->radix && d == slice->power) *power = value;
        int64_t stride = digit.stride;
        if (stride < 0 && value.n_terms) { /* counted from the other end, so that no term is negative */
            const qg_node *rest =
                binary(l->ir, QG_SUB, qg_uint(l->ir, digit.extent - 1), qg_index_node(l->ir, NULL, value));
            value = qg_index_digit(rest, digit.extent);
            address.constant += (digit.extent - 1) * stride;
            stride = -stride;
        }
        address = qg_index_add(l->ir, address, qg_index_scale(value, stride));
        if (!last) instance = qg_index_div(l->ir, instance, digit.extent);
    }
    return address;
}

const qg_node *qg_one_lane(lowering *l, const qg_slice *slice, const char *words, qg_index address) {
    qg_index phase;
    const qg_node *word = qg_window(l, slice, words, address, slice->width, &phase);
    word = binary(l->ir, QG_SHR, word, qg_index_node(l->ir, NULL, phase));
    return binary(l->ir, QG_AND, word, qg_uint(l->ir, low_mask(slice->width)));
}

/* The shift of each lane from the lowest, when all distances are known and the lanes fit in 32 bits. */
static bool share_window(lowering *l, const qg_slice *slice, const qg_index *addresses, uint32_t lanes, qg_index *start,
                         int64_t *shifts, uint32_t *span) {
    int64_t low = 0, high = 0;
    for (uint32_t i = 0; i < lanes; ++i) {
        if (!qg_index_difference(addresses[i], addresses[0], &shifts[i])) return false;
        if (shifts[i] < low) low = shifts[i];
        if (shifts[i] > high) high = shifts[i];
    }
    *span = (uint32_t)(high - low) + slice->width;
    if (high - low + slice->width > 32) return false;
    for (uint32_t i = 0; i < lanes; ++i) shifts[i] -= low;
    *start = qg_index_add(l->ir, addresses[0], qg_index_constant(low));
    return true;
}

const qg_node *qg_several_lanes(lowering *l, const qg_slice *slice, const char *words, const qg_index *addresses,
                                uint32_t lanes) {
    qg_ir *ir = l->ir;
    const qg_node *parts[QG_MAX_LANES];
    int64_t shifts[QG_MAX_LANES];
    qg_index start;
    uint32_t span;
    if (!share_window(l, slice, addresses, lanes, &start, shifts, &span)) {
        for (uint32_t i = 0; i < lanes; ++i) parts[i] = qg_one_lane(l, slice, words, addresses[i]);
        return qg_vector(ir, parts, lanes);
    }
    qg_index phase;
    const qg_node *word = qg_window(l, slice, words, start, span, &phase);
    if (phase.n_terms) { /* what is not constant is shifted away once, for all lanes */
        qg_index moving = phase;
        moving.constant = 0;
        for (uint32_t i = 0; i < lanes; ++i) shifts[i] += phase.constant;
        word = binary(ir, QG_SHR, word, qg_index_node(ir, NULL, moving));
    } else {
        for (uint32_t i = 0; i < lanes; ++i) shifts[i] += phase.constant;
    }
    for (uint32_t i = 0; i < lanes; ++i) parts[i] = qg_uint(ir, (uint32_t)shifts[i]);
    const qg_node *spread = binary(ir, QG_SHR, qg_splat(ir, word, lanes), qg_vector(ir, parts, lanes));
    return binary(ir, QG_AND, spread, qg_uint(ir, low_mask(slice->width)));
}

/* `words` is what the words are called, when they are of several fields. */
static const char *slice_comment(const lowering *l, const qg_code *code, const qg_slice *slice, const char *words) {
    const char *field = words ? words : l->layout->fields[slice->field].name;
    if (slice->radix)
        return qg_format(l->ir->arena, "%s: a digit of base %u, from bit %u of %s", field, slice->radix, slice->shift,
                         code->name);
    if (slice->width == 1) return qg_format(l->ir->arena, "%s: bit %u of %s", field, slice->shift, code->name);
    return qg_format(l->ir->arena, "%s: bits %u-%u of %s", field, slice->shift, slice->shift + slice->width - 1,
                     code->name);
}

static const char *code_comment(const lowering *l, const qg_code *code) {
    const qg_field *field = &l->layout->fields[code->slices[0].field];
    bool digits = code->slices[0].radix > 0;
    for (uint32_t s = 0; s < code->n_slices; ++s)
        digits &= code->slices[s].radix == code->slices[0].radix && code->slices[s].bits == code->width;
    if (digits) return qg_format(l->ir->arena, "a digit of base %u", code->slices[0].radix);
    if (code->n_slices > 1 || !field->is_array) return NULL;
    return qg_format(l->ir->arena, "%s: %u bit%s", field->name, code->width, code->width > 1 ? "s" : "");
}

/* A float of few bits as the half with the same digits, which is right but for a power of two. */
static const qg_node *as_half(qg_ir *ir, const qg_scalar_info *type, const qg_node *bits) {
    const uint32_t digits = type->exponent_bits + type->mantissa_bits, shift = 10 - type->mantissa_bits;
    if (digits + shift == 15) return binary(ir, QG_SHL, bits, qg_uint(ir, shift)); /* the sign falls into place, too */
    const qg_node *magnitude = binary(ir, QG_AND, bits, qg_uint(ir, low_mask(digits)));
    const qg_node *sign = binary(ir, QG_AND, bits, qg_uint(ir, UINT32_C(1) << digits));
    const qg_node *half = binary(ir, QG_SHL, magnitude, qg_uint(ir, shift));
    if (type->specials == QG_NAN_ON_TOP) {
        const qg_node *top = binary(ir, QG_EQ, magnitude, qg_uint(ir, low_mask(digits)));
        half = qg_apply(ir, QG_SELECT, top, qg_uint(ir, 0x7E00), half);
    }
    return binary(ir, QG_OR, half, binary(ir, QG_SHL, sign, qg_uint(ir, 15 - digits)));
}

/* A power of two without a sign: its bits are the exponent of an f32, but that 0 is a subnormal and
 * the last one NaN. */
static const qg_node *as_power(qg_ir *ir, const qg_node *bits) {
    const qg_node *word = binary(ir, QG_SHL, bits, qg_uint(ir, 23));
    word = qg_apply(ir, QG_SELECT, binary(ir, QG_EQ, bits, qg_uint(ir, 0)), qg_uint(ir, 0x400000), word);
    word = qg_apply(ir, QG_SELECT, binary(ir, QG_EQ, bits, qg_uint(ir, 255)), qg_uint(ir, 0x7FC00000), word);
    return qg_float_bits(ir, QG_F32, word);
}

static const qg_node *float_of_bits(lowering *l, qg_scalar scalar, const char *name, const qg_node *bits) {
    const qg_scalar_info *type = &qg_scalars[scalar];
    if (type->bits >= 16) return qg_float_bits(l->ir, scalar, bits);
    bits = qg_let(l->ir, bits, name, NULL);
    if (type->exponent_bits == 8) return as_power(l->ir, bits);
    const qg_node *half = qg_float_bits(l->ir, QG_F16, as_half(l->ir, type, bits));
    return type->bias == 15 ? half : binary(l->ir, QG_MUL, half, qg_real(l->ir, (float)(1u << (15 - type->bias))));
}

/* Bits as a value of a type; `name` is what they are called when they need one. */
const qg_node *qg_bits_as(lowering *l, qg_scalar type, const char *name, const qg_node *bits) {
    const qg_node *parts[QG_MAX_LANES];
    const uint32_t lanes = bits->lanes;
    if (qg_scalars[type].kind == QG_UNSIGNED) return bits;
    if (qg_scalars[type].kind == QG_SIGNED) {
        const bool masked = bits->op == QG_AND && !bits->name;
        return qg_sign_extend(l->ir, masked ? bits->arg[0] : bits, qg_scalars[type].bits);
    }
    if (lanes > 1) bits = qg_let(l->ir, bits, name, NULL);
    for (uint32_t i = 0; i < lanes; ++i) parts[i] = float_of_bits(l, type, name, qg_lane(l->ir, bits, i));
    return qg_vector(l->ir, parts, lanes);
}

static const qg_node *typed(lowering *l, const qg_code *code, const qg_node *bits) {
    return code->typed ? qg_bits_as(l, code->type, qg_format(l->ir->arena, "%s_bits", code->name), bits) : bits;
}

/* A slice as the tile sees it, with the address of each lane, and which digit of its radix the lane is. */
typedef struct plane {
    qg_slice slice;
    const char *words; /* what its words are called; NULL: after the field */
    qg_index addresses[QG_MAX_LANES];
    qg_index powers[QG_MAX_LANES];
} plane;

/* A code, or a segment of it, for the lanes of a run. */
typedef struct run {
    const qg_code *code;
    const qg_slice *slices;
    uint32_t n_slices;
    uint32_t start; /* of a segment: the first value of the moving digit that lies in it */
    uint32_t n_planes;
    plane *planes;
} run;

/* Slices that continue each other at every lane are one plane, however the specification cuts them. */
static void find_planes(lowering *l, run *run, const qg_index *instances, uint32_t lanes) {
    plane *planes = QG_NEW_ARRAY(l->ir->arena, plane, run->n_slices);
    uint32_t count = 0;
    for (uint32_t s = 0; s < run->n_slices; ++s) {
        plane next = {.slice = run->slices[s]};
        bool joins = count > 0 && planes[count - 1].slice.buffer == next.slice.buffer && !next.slice.radix &&
                     !planes[count - 1].slice.radix;
        for (uint32_t i = 0; i < lanes; ++i) {
            int64_t distance;
            next.addresses[i] = slice_address(l, &next.slice, instances[i], &next.powers[i]);
            joins = joins && qg_index_difference(next.addresses[i], planes[count - 1].addresses[i], &distance) &&
                    distance == planes[count - 1].slice.width;
        }
        if (joins)
            planes[count - 1].slice.width += next.slice.width;
        else
            planes[count++] = next;
    }
    run->planes = planes;
    run->n_planes = count;
}

static uint32_t to_the_power(uint32_t radix, uint32_t n) {
    uint32_t power = 1;
    for (uint32_t i = 0; i < n; ++i) power *= radix;
    return power;
}

/* radix^n, for the first four n a byte of a constant each. */
static const qg_node *power_in_bytes(qg_ir *ir, uint32_t radix, const qg_node *n, uint32_t most) {
    uint32_t powers = 0;
    for (uint32_t i = 0; i < 4 && i <= most; ++i) powers |= to_the_power(radix, i) << 8 * i;
    const qg_node *place = most > 3 ? binary(ir, QG_AND, n, qg_uint(ir, 3)) : n;
    const qg_node *power = binary(ir, QG_SHR, qg_uint(ir, powers), binary(ir, QG_MUL, place, qg_uint(ir, 8)));
    power = binary(ir, QG_AND, power, qg_uint(ir, 255));
    if (most < 4) return power;
    const qg_node *last = qg_uint(ir, to_the_power(radix, 4));
    return qg_apply(ir, QG_SELECT, binary(ir, QG_LT, n, qg_uint(ir, 4)), power, last);
}

/* The same, as a product over the bits of n. */
static const qg_node *power_of_bits(qg_ir *ir, uint32_t radix, const qg_node *n, uint32_t most) {
    const qg_node *product = NULL;
    for (uint32_t bit = 1; bit <= most; bit *= 2) {
        const qg_node *set = bit == 1 && most == 1 ? n
                             : 2 * bit > most      ? NULL
                                                   : binary(ir, QG_AND, n, qg_uint(ir, bit));
        const qg_node *holds = set ? binary(ir, QG_NE, set, qg_uint(ir, 0)) : binary(ir, QG_GE, n, qg_uint(ir, bit));
        const qg_node *factor = qg_apply(ir, QG_SELECT, holds, qg_uint(ir, to_the_power(radix, bit)), qg_uint(ir, 1));
        product = product ? binary(ir, QG_MUL, product, factor) : factor;
    }
    return product;
}

static const qg_node *power_of(lowering *l, uint32_t radix, qg_index index) {
    qg_ir *ir = l->ir;
    const uint32_t most = (uint32_t)qg_index_max(index);
    if (!index.n_terms) return qg_uint(ir, to_the_power(radix, most));
    const char *comment = qg_format(ir->arena, "which digit of base %u, from the top", radix);
    const qg_node *n = qg_let(ir, qg_index_node(ir, NULL, index), "digit", comment);
    const bool in_bytes = most > 1 && most <= 4 && to_the_power(radix, most < 3 ? most : 3) < 256;
    const qg_node *power = in_bytes ? power_in_bytes(ir, radix, n, most) : power_of_bits(ir, radix, n, most);
    return qg_let(ir, power, "power", qg_format(ir->arena, "%u^n", radix));
}

/* The same digit of each byte of a word, two at a time. Sums have it so by a rule of bytes.c. */
static const qg_node *digits_of_bytes(lowering *l, const qg_node *word, const qg_node *power, uint32_t radix) {
    qg_ir *ir = l->ir;
    if (power->op == QG_CONST && power->integer == 1) power = NULL;
    const qg_node *even = qg_times_radix(ir, word, power, radix, "evens");
    const qg_node *odd = qg_times_radix(ir, binary(ir, QG_SHR, word, qg_uint(ir, 8)), power, radix, "odds");
    const qg_node *pairs[] = {even, odd, even, odd};
    const qg_node *shifts[] = {qg_uint(ir, 8), qg_uint(ir, 8), qg_uint(ir, 24), qg_uint(ir, 24)};
    const qg_node *digits = binary(ir, QG_SHR, qg_vector(ir, pairs, 4), qg_vector(ir, shifts, 4));
    return binary(ir, QG_AND, digits, qg_uint(ir, 255));
}

/* A digit of a base, from bits that hold several as a fraction: the more significant ones are moved
 * out above the bits, and the base moves this one out. */
static const qg_node *digit_of(lowering *l, const run *run, const plane *plane, const qg_node *bits, uint32_t lanes) {
    const qg_slice *slice = &plane->slice;
    const qg_node *powers[QG_MAX_LANES];
    bool same = true;
    for (uint32_t i = 0; i < lanes; ++i) {
        powers[i] = power_of(l, slice->radix, plane->powers[i]);
        same &= powers[i] == powers[0];
    }
    const qg_node *word = l->decoding && same && slice->width == 8 ? qg_word_of_bytes(l->ir, bits) : NULL;
    if (word) return digits_of_bytes(l, word, powers[0], slice->radix);
    const char *comment = qg_format(l->ir->arena, "%u bits each, with up to %u digits of base %u", slice->width,
                                    slice->digits[slice->power].extent, slice->radix);
    bits = qg_let(l->ir, bits, qg_format(l->ir->arena, "%s_digits", run->code->name), comment);
    bits = binary(l->ir, QG_MUL, bits, qg_vector(l->ir, powers, same ? 1 : lanes));
    bits = binary(l->ir, QG_AND, bits, qg_uint(l->ir, low_mask(slice->width)));
    bits = binary(l->ir, QG_MUL, bits, qg_uint(l->ir, slice->radix));
    return binary(l->ir, QG_SHR, bits, qg_uint(l->ir, slice->width));
}

/* A piece of a code that moves, of a block that begins at a half of a word: of what would be a word if it began at a
 * whole one. Those of two codes then lie sixteen bits apart, as in other blocks, and become floats together. NULL where
 * it is none such, or no piece of a few bits. */
static const qg_node *piece_in_block(lowering *l, const run *run, const qg_slice *slice, qg_index address) {
    const qg_layout *layout = l->layout;
    bool small = l->ir->masked && layout->joined && run->n_planes > 1 && slice->buffer < layout->n_buffers;
    for (uint32_t i = 0; i < run->n_planes; ++i) small &= run->planes[i].slice.width < 8;
    if (!small || qg_unit_of(l, slice->buffer) != 32) return NULL;
    const int64_t bits = layout->buffers[slice->buffer].bytes / layout->joined * 8, block = address.constant / bits;
    const bool one_block = (int64_t)qg_index_max(address) / bits == block;
    address.constant -= 16;
    qg_index moving = qg_index_mod(l->ir, address, 32);
    if (!one_block || block * bits % 32 != 16 || !moving.n_terms || qg_index_max(moving) + slice->width > 32)
        return NULL;
    const qg_index still = qg_index_constant(moving.constant);
    qg_index start = qg_index_scale(qg_index_div(l->ir, address, 32), 32), none;
    start.constant += 16;
    moving.constant = 0;
    const qg_node *word = qg_window(l, slice, NULL, start, 32, &none);
    word = qg_let(l->ir, binary(l->ir, QG_SHR, word, qg_index_node(l->ir, NULL, moving)), "shifted", NULL);
    word = binary(l->ir, QG_SHR, word, qg_index_node(l->ir, NULL, still));
    return binary(l->ir, QG_AND, word, qg_uint(l->ir, low_mask(slice->width)));
}

static const qg_node *lower_plane(lowering *l, const run *run, const plane *plane, uint32_t lanes) {
    bool apart = false;
    for (uint32_t i = 1; i < lanes; ++i) {
        int64_t distance = 1;
        apart |= !qg_index_difference(plane->addresses[i], plane->addresses[0], &distance) || distance;
    }
    const qg_node *piece = apart ? NULL : piece_in_block(l, run, &plane->slice, plane->addresses[0]);
    if (piece) return piece;
    const qg_node *bits = apart ? qg_several_lanes(l, &plane->slice, plane->words, plane->addresses, lanes)
                                : qg_one_lane(l, &plane->slice, plane->words, plane->addresses[0]);
    return plane->slice.radix ? digit_of(l, run, plane, bits, lanes) : bits;
}

static const qg_node *lower_planes(lowering *l, const run *run, uint32_t lanes) {
    const qg_node *sum = NULL;
    for (uint32_t p = 0; p < run->n_planes; ++p) {
        const plane *plane = &run->planes[p];
        const qg_node *bits = lower_plane(l, run, plane, lanes);
        if (run->n_planes > 1) {
            const char *name = run->n_planes == 2
                                   ? qg_format(l->ir->arena, "%s_%s", run->code->name, p ? "hi" : "lo")
                                   : qg_format(l->ir->arena, "%s_%ubit", run->code->name, plane->slice.shift);
            bits = qg_let(l->ir, bits, name, slice_comment(l, run->code, &plane->slice, plane->words));
        }
        bits = binary(l->ir, QG_SHL, bits, qg_uint(l->ir, plane->slice.shift));
        sum = sum ? binary(l->ir, QG_OR, sum, bits) : bits;
    }
    return sum;
}

/* ---- segments ---- */

/* The part of an instance's index that is not constant: `digit` * `step`. */
typedef struct moving {
    const qg_node *digit;
    uint64_t extent;
    int64_t step;
} moving;

static moving moving_part(lowering *l, qg_index instance) {
    instance.constant = 0;
    if (instance.n_terms == 0) return (moving){.extent = 1, .step = 1};
    if (instance.n_terms == 1)
        return (moving){instance.terms[0].digit, instance.terms[0].extent, instance.terms[0].coefficient};
    return (moving){qg_index_node(l->ir, NULL, instance), (uint64_t)qg_index_max(instance) + 1, 1};
}

/* The first value of the moving digit with which an index of that constant is not below `first`;
 * its extent where there is none. */
static int64_t start_of(moving m, int64_t constant, uint32_t first) {
    const int64_t start = first <= constant ? 0 : (first - constant + m.step - 1) / m.step;
    return start < (int64_t)m.extent ? start : (int64_t)m.extent;
}

/* The segments that some lane can lie in, in their order; 0 when the lanes of a run may lie in different
 * ones. With `clamp`, the index within each of them stays in its bounds when the lanes lie in another. */
static uint32_t find_segments(lowering *l, const qg_code *code, const qg_index *instances, uint32_t lanes, bool clamp,
                              moving m, run *runs) {
    uint32_t count = 0;
    for (uint32_t s = 0, end = 0; s < code->n_slices; s = end) {
        const uint32_t first = code->slices[s].first, behind = first + code->slices[s].count;
        while (end < code->n_slices && code->slices[end].first == first) ++end;
        const int64_t start = start_of(m, instances[0].constant, first);
        const int64_t stop = start_of(m, instances[0].constant, behind);
        for (uint32_t i = 1; i < lanes; ++i)
            if (start_of(m, instances[i].constant, first) != start) return 0;
        if (start >= stop) continue;
        const qg_node *digit = m.digit;
        if (start) digit = binary(l->ir, QG_SUB, digit, qg_uint(l->ir, (uint32_t)start));
        if (clamp && digit) digit = binary(l->ir, QG_MIN, digit, qg_uint(l->ir, (uint32_t)(stop - start - 1)));
        const qg_index within = qg_index_scale(qg_index_digit(digit, (uint64_t)(stop - start)), m.step);
        qg_index own[QG_MAX_LANES];
        for (uint32_t i = 0; i < lanes; ++i)
            own[i] =
                qg_index_add(l->ir, within, qg_index_constant(instances[i].constant + m.step * start - (int64_t)first));
        runs[count] = (run){.code = code, .slices = &code->slices[s], .n_slices = end - s, .start = (uint32_t)start};
        find_planes(l, &runs[count++], own, lanes);
    }
    return count;
}

/* One of several nodes, by the segment that the run lies in. */
static const qg_node *choose(lowering *l, moving m, const run *runs, const qg_node *const *nodes, uint32_t count) {
    const qg_node *chosen = nodes[count - 1];
    for (uint32_t s = count - 1; s-- > 0;) {
        if (nodes[s] == chosen) continue;
        const qg_node *before = binary(l->ir, QG_LT, m.digit, qg_uint(l->ir, runs[s + 1].start));
        chosen = qg_apply(l->ir, QG_SELECT, qg_splat(l->ir, before, nodes[s]->lanes), nodes[s], chosen);
    }
    return chosen;
}

/* The same for indices. */
static qg_index choose_index(lowering *l, moving m, const run *runs, const qg_index *indices, uint32_t count,
                             const char *name, const char *comment) {
    const qg_node **nodes = QG_NEW_ARRAY(l->ir->arena, const qg_node *, count);
    int64_t most = 0;
    for (uint32_t s = 0; s < count; ++s) {
        nodes[s] = qg_index_node(l->ir, NULL, indices[s]);
        if (qg_index_max(indices[s]) > most) most = qg_index_max(indices[s]);
    }
    const qg_node *chosen = choose(l, m, runs, nodes, count);
    if (chosen->op == QG_CONST) return qg_index_constant(chosen->integer);
    return qg_index_digit(name ? qg_let(l->ir, chosen, name, comment) : chosen, (uint64_t)most + 1);
}

/* The fields that a plane has in the segments: each once, or all with commas. */
static const char *field_names(const lowering *l, const run *runs, uint32_t count, uint32_t p, bool once) {
    qg_text text = qg_text_new(l->ir->arena);
    for (uint32_t s = 0; s < count; ++s) {
        const uint32_t field = runs[s].planes[p].slice.field;
        bool known = false;
        for (uint32_t before = 0; before < s; ++before) known |= runs[before].planes[p].slice.field == field;
        if (once && known) continue;
        const char *between = s == 0 ? "" : once ? "_" : s + 1 == count ? " or " : ", ";
        qg_text_printf(&text, "%s%s", between, l->layout->fields[field].name);
    }
    return text.data;
}

/* True when plane `p` has the same shape in both segments, and the lanes the same distances. */
static bool same_shape(const run *a, const run *b, uint32_t p, uint32_t lanes) {
    const plane *x = &a->planes[p], *y = &b->planes[p];
    bool same = x->slice.width == y->slice.width && x->slice.shift == y->slice.shift &&
                x->slice.radix == y->slice.radix && x->slice.buffer == y->slice.buffer;
    for (uint32_t i = 1; i < lanes && same; ++i) {
        int64_t here, there;
        same = qg_index_difference(x->addresses[i], x->addresses[0], &here) &&
               qg_index_difference(y->addresses[i], y->addresses[0], &there) && here == there;
    }
    return same;
}

/* Plane `p` of all segments as one, at a word that is chosen by the segment. */
static plane join_planes(lowering *l, moving m, const run *runs, uint32_t count, uint32_t p, uint32_t lanes) {
    qg_index *indices = QG_NEW_ARRAY(l->ir->arena, qg_index, count);
    const plane *first = &runs[0].planes[p];
    const uint32_t unit = qg_unit_of(l, first->slice.buffer);
    plane joined = {.slice = first->slice, .words = field_names(l, runs, count, p, true)};
    int64_t distance = 0;
    uint32_t lowest = 0;
    for (uint32_t i = 1; i < lanes; ++i)
        if (qg_index_difference(first->addresses[i], first->addresses[lowest], &distance) && distance < 0) lowest = i;
    for (uint32_t s = 0; s < count; ++s) indices[s] = qg_index_div(l->ir, runs[s].planes[p].addresses[lowest], unit);
    const char *where =
        qg_format(l->ir->arena, "of %s, in %s", runs->code->name, field_names(l, runs, count, p, false));
    const qg_index word = choose_index(l, m, runs, indices, count, unit == 8 ? "byte" : "word", where);
    for (uint32_t s = 0; s < count; ++s) indices[s] = qg_index_mod(l->ir, runs[s].planes[p].addresses[lowest], unit);
    const qg_index bit = choose_index(l, m, runs, indices, count, "bit", "of that, where it begins");
    const qg_index address = qg_index_add(l->ir, qg_index_scale(word, unit), bit);
    for (uint32_t i = 0; i < lanes; ++i) {
        qg_index_difference(first->addresses[i], first->addresses[lowest], &distance);
        joined.addresses[i] = qg_index_add(l->ir, address, qg_index_constant(distance));
        for (uint32_t s = 0; s < count; ++s) indices[s] = runs[s].planes[p].powers[i];
        joined.powers[i] = choose_index(l, m, runs, indices, count, NULL, NULL);
    }
    return joined;
}

/* Where all segments have planes of one shape, the run has these planes. */
static bool join_segments(lowering *l, moving m, const run *runs, uint32_t count, uint32_t lanes, run *joined) {
    for (uint32_t s = 1; s < count; ++s) {
        if (runs[s].n_planes != runs[0].n_planes) return false;
        for (uint32_t p = 0; p < runs[0].n_planes; ++p)
            if (!same_shape(&runs[0], &runs[s], p, lanes)) return false;
    }
    *joined = runs[0];
    joined->planes = QG_NEW_ARRAY(l->ir->arena, plane, joined->n_planes);
    for (uint32_t p = 0; p < joined->n_planes; ++p) joined->planes[p] = join_planes(l, m, runs, count, p, lanes);
    return true;
}

/* Each segment as if the run lay in it, and then the right one. */
static const qg_node *lower_each_segment(lowering *l, const qg_code *code, const qg_index *instances, uint32_t lanes,
                                         moving m, run *runs) {
    const uint32_t count = find_segments(l, code, instances, lanes, true, m, runs);
    const qg_node **nodes = QG_NEW_ARRAY(l->ir->arena, const qg_node *, count);
    for (uint32_t s = 0; s < count; ++s) {
        const qg_slice *slice = runs[s].slices;
        const char *field = l->layout->fields[slice->field].name;
        const char *comment = qg_format(l->ir->arena, "for elements %u to %u", slice->first * code->per,
                                        (slice->first + slice->count) * code->per - 1);
        nodes[s] = qg_splat(l->ir, lower_planes(l, &runs[s], lanes), lanes);
        nodes[s] = qg_let(l->ir, nodes[s], qg_format(l->ir->arena, "%s_%s", code->name, field), comment);
    }
    return choose(l, m, runs, nodes, count);
}

static const qg_node *lower_segments(lowering *l, const qg_code *code, const qg_index *instances, uint32_t lanes) {
    run *runs = QG_NEW_ARRAY(l->ir->arena, run, code->n_slices), joined;
    const moving m = moving_part(l, instances[0]);
    bool together = true;
    for (uint32_t i = 1; i < lanes; ++i) {
        int64_t distance;
        together &= qg_index_difference(instances[i], instances[0], &distance);
    }
    const uint32_t count = together ? find_segments(l, code, instances, lanes, false, m, runs) : 0;
    if (!count) {
        const qg_node *parts[QG_MAX_LANES];
        for (uint32_t i = 0; i < lanes; ++i) parts[i] = lower_segments(l, code, &instances[i], 1);
        return qg_vector(l->ir, parts, lanes);
    }
    if (count == 1) return lower_planes(l, &runs[0], lanes);
    if (join_segments(l, m, runs, count, lanes, &joined)) return lower_planes(l, &joined, lanes);
    return lower_each_segment(l, code, instances, lanes, m, runs);
}

static qg_index instance_of(lowering *l, const qg_code *code, qg_index element) {
    if (code->count == 1) return qg_index_constant(0);
    if (code->of_column) element = qg_index_mod(l->ir, element, l->layout->block_cols);
    return qg_index_div(l->ir, element, code->per);
}

/* A code whose place depends on another code's value: every lane for itself. */
static const qg_node *lower_indexed(lowering *l, const qg_code *code, const qg_buffer *indexed) {
    const qg_node *parts[QG_MAX_LANES], *index = qg_lower_code(l, &l->layout->codes[indexed->index]);
    const qg_plan *plan = l->plan;
    qg_plan single = *plan;
    const qg_index first = l->lanes[0];
    single.lanes = 1;
    for (uint32_t i = 0; i < plan->lanes; ++i) {
        l->plan = &single;
        l->by = index->lanes > 1 ? qg_lane(l->ir, index, i) : index;
        const qg_index own = l->lanes[i];
        l->lanes[0] = own;
        parts[i] = qg_lower_code(l, code);
        l->lanes[0] = first;
    }
    l->by = NULL;
    l->plan = plan;
    return qg_let(l->ir, qg_vector(l->ir, parts, plan->lanes), code->name, NULL);
}

/* Takes the number of the block out of instances of a code that has segments, in blocks that are joined. */
static void find_block(lowering *l, const qg_code *code, qg_index *instances) {
    const uint32_t own = code->count / l->layout->joined;
    l->joined = qg_index_div(l->ir, instances[0], own);
    for (uint32_t i = 0; i < l->plan->lanes; ++i) instances[i] = qg_index_mod(l->ir, instances[i], own);
}

const qg_node *qg_lower_code(lowering *l, const qg_code *code) {
    const qg_buffer *indexed = qg_index_of(l->layout->buffers, code);
    if (indexed && !l->by && l->plan->lanes > 1) return lower_indexed(l, code, indexed);
    if (indexed && !l->by) {
        l->by = qg_lower_code(l, &l->layout->codes[indexed->index]);
        const qg_node *node = qg_lower_code(l, code);
        l->by = NULL;
        return node;
    }
    qg_index instances[QG_MAX_LANES];
    uint32_t lanes = 1;
    for (uint32_t i = 0; i < l->plan->lanes; ++i) {
        int64_t difference = 1;
        instances[i] = instance_of(l, code, l->lanes[i]);
        if (i && (!qg_index_difference(instances[i], instances[0], &difference) || difference)) lanes = l->plan->lanes;
    }
    run run = {.code = code, .slices = code->slices, .n_slices = code->n_slices};
    const qg_node *bits;
    if (qg_has_segments(code)) {
        if (l->layout->joined) find_block(l, code, instances);
        bits = lower_segments(l, code, instances, lanes);
        l->joined = qg_index_constant(0);
    } else {
        find_planes(l, &run, instances, lanes);
        bits = lower_planes(l, &run, lanes);
    }
    return qg_let(l->ir, typed(l, code, bits), code->name, code_comment(l, code));
}
