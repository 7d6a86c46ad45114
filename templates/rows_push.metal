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
