// ---- @{name}: @{words} words for @{joined_text}
@{ahead}  // units of the next step, on their way
uint @{name}_from;                   // the byte of the buffer at which the slice of the first row in the stage begins

// Units that a slice of a row has at most.
uint @{name}_units() {
    return (held_blocks() * @{words}u + 3u) / 4u + 1u;
}

// What part of slice `c` a row has, in bytes.
uint @{name}_bytes(uint c) {
    return min(held_blocks() * @{block_bytes}u, row_blocks * @{own_bytes}u - first_block(c) * @{block_bytes}u);
}

// The byte at which slice `c` of row `row` begins.
uint @{name}_start(uint row, uint c) {
    return row * (row_blocks * @{own_bytes}u) + first_block(c) * @{block_bytes}u;
}

// The last unit that there is of slice `c` of a row; the last of the matrix counts only where it is whole.
uint @{name}_last(uint row, uint c) {
    const uint start = @{name}_start(row, c);
    return min((start + @{name}_bytes(c) + 15u) / 16u, rows * (row_blocks * @{own_bytes}u) / 16u) - 1u;
}

// The first unit of this subgroup's part of the stage.
uint @{name}_region() {
    return @{first_unit} + gl_SubgroupID * AT_ONCE * @{name}_units();
}

// What is loaded behind the slice does not matter, and a load that depends on nothing is not waited for.
void @{name}_fetch(uint row, uint c) {
    if (rows * (row_blocks * @{own_bytes}u) >= 16u) {
        @{fetch}
    }
}

// Where the slice of row `r` in the stage begins, in words.
uint @{name}_stage(uint r) {
    return (@{name}_region() + r * @{name}_units()) * 4u + (@{name}_from + r * (row_blocks * @{own_bytes}u)) / 4u % 4u;
}

void @{name}_put(uint row, uint c) {
    const uint count = @{name}_units(), region = @{name}_region();
    @{name}_from = @{name}_start(row, c);
    @{put}
    const bool whole = (row_blocks * @{own_bytes}u | held_blocks() * @{block_bytes}u) % 16u == 0u;
    const uint more = whole ? held_blocks() * @{block_bytes}u / 16u : rows * (row_blocks * @{own_bytes}u) < 16u ? 0u : count;
    for (uint r = 0u; r < AT_ONCE && more > @{slots}u * gl_SubgroupSize; ++r) {
        const uint own = min(row + r, rows - 1u), first = @{name}_start(own, c) / 16u, last = @{name}_last(own, c);
        for (uint i = @{slots}u * gl_SubgroupSize + gl_SubgroupInvocationID; i < more; i += gl_SubgroupSize)
            if (first + i <= last) put(region + r * count + i, @{name}_16[first + i]);
    }
}

// True where some slice of the matrix does not lie in the stage as it must.
bool @{name}_awkward() {
    const uint row_bytes = row_blocks * @{own_bytes}u;
    return row_bytes % 4u != 0u || rows * row_bytes % 16u != 0u || row_blocks % @{joined}u != 0u;
}

// The bytes behind the last whole unit; rows that begin within a word; zeros behind the end of a row.
void @{name}_mend(uint row, uint c) {
    const uint row_bytes = row_blocks * @{own_bytes}u, bytes = @{name}_bytes(c), all = rows * row_bytes;
    const uint last = rows - 1u - row, region = @{name}_region();
    if (last < AT_ONCE && @{name}_start(rows - 1u, c) + bytes == all) {
        const uint first = @{name}_start(rows - 1u, c) / 16u;
        for (uint w = all / 16u * 4u + gl_SubgroupInvocationID; w * 4u < all; w += gl_SubgroupSize)
            stage[(region + last * @{name}_units() - first) * 4u + w] = @{name}_word(w, all);
        sync();
    }
    for (uint r = 0u; r < AT_ONCE && row + r < rows; ++r) {
        const uint shift = @{name}_start(row + r, c) % 4u * 8u, at = @{name}_stage(r);
        const uint count = (bytes + @{block_bytes}u - 1u) / @{block_bytes}u * @{words}u;
        if (shift == 0u && bytes % @{block_bytes}u == 0u) continue;
        for (uint first = 0u; first < count; first += gl_SubgroupSize) {
            const uint i = first + gl_SubgroupInvocationID;
            uint word = 0u;
            if (i * 4u < bytes) {
                word = staged(at + i);
                if (shift != 0u) word = (word >> shift) | (staged(at + i + 1u) << (32u - shift));
                if (i * 4u + 4u > bytes) word &= (1u << (bytes % 4u * 8u)) - 1u;
            }
            sync();
            if (i < count) stage[at + i] = word;
            sync();
        }
    }
}
