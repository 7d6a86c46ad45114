@if experts
@if sets
// Pairs are counted through all sets; of this one is that at hand.
uint set = 0u, weights_begin = 0u;
uint pair_of(uint n) {
    if (VIEWS == 0u) return n;
    const uint pairs = batch * slots, before = n / pairs;
    set = set_first + before, weights_begin = weights_first + before * weights_outer;
    return n % pairs;
}
@else
uint group_number() { return gl_WorkGroupID.x; }
uint group_count() { return gl_NumWorkGroups.x; }

const uint set = 0u, weights_begin = 0u;
@end

@if sets
// Where a row lies, counted from the first of an expert that is bound.
@if gates_rows
uint row_of_weights(uint n) { return VIEWS == 2u ? n / 2u + n % 2u * weights_outer : n; }
uint row_of_expert(uint n) { return VIEWS == 0u ? n * rows : (weights_begin + n * weights_inner) * (VIEWS == 2u ? 2u : 1u); }
@else
uint row_of_weights(uint n) { return n; }
uint row_of_expert(uint n) { return VIEWS == 0u ? n * rows : weights_begin + n * weights_inner; }
@end
@else
// Among all rows of weights: experts may be further apart than their rows.
uint row_of_weights(uint n) { return VIEWS == 0u ? n : weights_begin + n / rows * weights_inner + n % rows; }
@end

// Where the x of a token, or of one of its slots, begins, in runs.
uint x_from(uint vector, uint row_runs) {
    return VIEWS == 0u ? vector * row_runs : (x_first + vector / x_slots * x_inner + vector % x_slots * x_stride) / @{lanes}u;
}
uint id_of(uint pair) { return VIEWS == 0u ? pair : ids_skip + pair / slots * ids_inner + pair % slots; }  // among the ids
@else
// The matrix that a workgroup multiplies, of this launch; and where its weights, its x and its y begin.
uint matrix = 0u, weights_begin = 0u, x_begin = 0u, y_begin = 0u;
void find_matrix() {
    if (VIEWS == 0u) return;
    matrix = gl_WorkGroupID.x / groups;
    const uint inner = (matrix_first + matrix) % matrices, outer = (matrix_first + matrix) / matrices;
    weights_begin = weights_first + inner / sharing * weights_inner + outer / sharing_outer * weights_outer;
    x_begin = x_first + inner * x_inner + outer * x_outer, y_begin = inner * y_inner + outer * y_outer;
    if (inner >= second) weights_begin += weights_second, y_begin += y_second;
    if (inner >= third) weights_begin += weights_third, y_begin += y_third;
}
uint group_number() { return VIEWS == 0u ? gl_WorkGroupID.x : gl_WorkGroupID.x % groups; }
uint group_count() { return VIEWS == 0u ? gl_NumWorkGroups.x : groups; }
@if gates_rows
uint row_within(uint n) { return VIEWS == 2u ? n / 2u + n % 2u * weights_outer : n; }
uint row_of_weights(uint n) { return weights_begin + row_within(n); }  // among all of them
@else
uint row_of_weights(uint n) { return weights_begin + n; }  // among all of them
@end
@if cuts
// Where a right-hand side begins in x, of so many elements, or runs.
uint x_element_from(uint vector, uint row_elements) {
    return VIEWS == 0u ? vector * row_elements : x_begin + vector * x_stride;
}
@end
@if norms
uint x_row = 0u;  // the run where the right-hand side at hand begins
uint x_from(uint vector, uint row_runs) { return x_row = VIEWS == 0u ? vector * row_runs : (x_begin + vector * x_stride) / @{lanes}u; }
@else
@if cuts
uint x_from(uint vector, uint row_runs) { return VIEWS == 0u ? vector * row_runs : (x_begin + vector * x_stride) / @{lanes}u; }
@else
uint x_from(uint vector, uint row_runs) { return VIEWS == 0u ? vector * row_runs : (x_begin + vector * x_stride) / @{lanes}u; }  // its runs
@end
@end
@end
