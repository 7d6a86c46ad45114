@if apart
// Whether it is that turn's: always, but no compiler knows, which would load for all first, into registers that others could have.
bool is_turn(uint turn) { return TURNS == 1u || (turn == 0u ? row_tiles : turn == 1u ? rows : turn == 2u ? batch : y_rows) != 0u; }

// 0, but no compiler knows: what is loaded so waits for that sum, or it would be in registers beside what is loaded before.
uint after(float sum) { return floatBitsToUint(sum) & rows >> 31u; }
@else
bool is_turn(uint turn) { return turn == 0u || (turn == 1u ? rows : turn == 2u ? batch : y_rows) != 0u; }  // true; but loads wait
@end
