@include x_type.glsl
@include y_constants.glsl
@include views_constant.glsl
@if norms
layout(constant_id = @{id.norm}) const uint NORM = 0;  // of x that is normed: bits of epsilon
@end
@if overruns
layout(constant_id = @{id.padded}) const uint PADDED = 0;  // 1: behind the weights are 32 bytes or more, which may be read
@end
@if stages
layout(constant_id = @{id.staged}) const uint STAGED = 1;  // runs of x that a workgroup loads together, where there are few rows; 1: none
@end
@if pairs
layout(constant_id = @{id.copies}) const uint COPIES = 1;  // of a table of pairs, for threads that are neighbours
@end
@if copied
layout(constant_id = @{id.table_copies}) const uint COPIES = 1;  // of tables, for threads that are neighbours; 1: none
@end
@if digits
layout(constant_id = @{id.digits}) const uint DIGITS = 1;  // bytes of each x: class int8 has 1, split 2, int24 3
@end
