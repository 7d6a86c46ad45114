@if wide
layout(constant_id = @{id.load_words}) const uint LOAD_WORDS = 4;  // 4: larger tiles, and weights 16 bytes at a time where that pays
@end
@if ahead
layout(constant_id = @{id.ahead}) const uint AHEAD = 0;   // 1: rows, of whole fours of words, are loaded ahead
layout(constant_id = @{id.lanes}) const uint LANES = 32;  // of a subgroup that does so
@end
@if overruns
layout(constant_id = @{id.padded}) const uint PADDED = 0;  // 1: behind the weights are 32 bytes or more, which may be read
@end
@if stages
layout(constant_id = @{id.staged}) const uint STAGED_RUNS = 1;  // of x, that a workgroup loads together, where there are few rows; 1: none
const uint STAGED = @{staged_of};
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
