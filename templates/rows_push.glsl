layout(push_constant) uniform Push {
    uint rows;       // that an index may name
    uint row_first;  // rows of the table that are bound in this launch
    uint row_end;
    uint row_tiles;  // @{rows_tile} in a row
    uint tokens;
    // 0 where values, indices and rows each lie one after the other. Else tokens come in batches of so many, which count in two dimensions.
    uint batch_tokens;
    uint batches;                                // of the inner dimension
    uint value_step, value_batch, value_outer;   // tiles from the values of a token, an inner and an outer batch to the next
    uint index_words;                            // of an index: 1; 2, of 64 bits; 0: there are none, tokens are rows in order
    uint index_step, index_batch, index_outer;   // words
    uint index_batches, index_outers;            // batches that have indices of their own; further ones have the same again
    uint row_step, row_batch, row_outer;         // rows of the table
    uint value_first, index_first, table_first;  // tiles, words and tiles that are bound before those of the call
};

const uint NO_ROW = ~0u;

// Where the values of a token begin, in tiles.
uint values_of(uint token) {
    if (batch_tokens == 0u) return token * row_tiles;
    const uint batch = token / batch_tokens;
    return value_first + token % batch_tokens * value_step + batch % batches * value_batch + batch / batches * value_outer;
}

// The row of the table that a token is of, or NO_ROW.
uint row_of(uint token) {
    if (batch_tokens == 0u) {
        const uint row = indices[token];
        return row < rows ? row : NO_ROW;
    }
    const uint batch = token / batch_tokens, inner = batch % batches, outer = batch / batches;
    uint index = token % batch_tokens;
    if (index_words != 0u) {
        const uint at = index_first + index * index_step + inner % index_batches * index_batch + outer % index_outers * index_outer;
        if (index_words == 2u && indices[at + 1u] != 0u) return NO_ROW;
        index = indices[at];
    }
    return index < rows ? index * row_step + inner * row_batch + outer * row_outer : NO_ROW;
}

// A tile of a row that this launch has, of all tiles that are bound.
uint table_tile(uint row, uint tile) {
    return table_first + (row - row_first) * row_tiles + tile;
}
