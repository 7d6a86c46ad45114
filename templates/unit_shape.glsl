layout(constant_id = @{id.unit_rows}) const uint UNIT_ROWS = 16;  // of what a matrix unit multiplies
layout(constant_id = @{id.unit_cols}) const uint UNIT_COLS = 8;
layout(constant_id = @{id.unit_depth}) const uint UNIT_DEPTH = 16;
layout(constant_id = @{id.lanes}) const uint LANES = 32;  // of a subgroup
// Whether threads hold the elements of matrices that they decode (16 x 16 times 16 x 8). Else operands and results go through memory.
const bool DIRECT = ORDER_A != 0u;
