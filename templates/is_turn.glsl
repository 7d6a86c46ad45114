// Tiles are multiplied in TURNS turns, a part of the terms in each. What is asked here is true, but no compiler knows, which would load
// for all turns first, into registers that another subgroup could have.
bool is_turn(uint turn) { return turn == 0u || (turn == 1u ? rows : turn == 2u ? batch : y_rows) != 0u; }
