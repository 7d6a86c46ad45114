        // Where the values of the token begin, in tiles, and the row of the table that it is of, or NO_ROW.
        const uint NO_ROW = ~0u, batch_tokens = push.batch_tokens, batch = batch_tokens == 0 ? 0 : token / batch_tokens;
        const uint inner = batch_tokens == 0 ? 0 : batch % push.batches, outer = batch_tokens == 0 ? 0 : batch / push.batches;
        uint values = token * push.row_tiles, row = batch_tokens == 0 ? indices[token] : token % batch_tokens;
        if (batch_tokens != 0) {
            values = push.value_first + row * push.value_step + inner * push.value_batch + outer * push.value_outer;
            if (push.index_words != 0) {
                const uint at = push.index_first + row * push.index_step + inner % push.index_batches * push.index_batch +
                                outer % push.index_outers * push.index_outer;
                row = push.index_words == 2 && indices[at + 1] != 0 ? NO_ROW : indices[at];
            }
            if (row < push.rows) row = row * push.row_step + inner * push.row_batch + outer * push.row_outer;
            else row = NO_ROW;
        } else if (row >= push.rows) {
            row = NO_ROW;
        }
