@{banner}
#version 450
#extension GL_EXT_control_flow_attributes : require
@{extensions}

layout(local_size_x_id = @{id.local_size_x}) in;

@{buffers}
layout(binding = @{binding_indices}, std430) readonly buffer Indices { uint indices[]; };
@include encode_source.glsl
layout(binding = @{binding_status}, std430) buffer Status { uint out_of_range; };

@include rows_push.glsl

@include encode_block.glsl

// Where the values of part `i` of all begin, in parts: without a view, they follow each other.
uint values_at(uint i) {
    return batch_tokens == 0u ? i : values_of(i / row_tiles) + i % row_tiles;
}

// The tile of the table that a tile of a row is.
uint tile_of(uint token, uint tile) {
    const uint row = row_of(token);
    // A row that there is not is counted once, and a row of another launch is left alone.
    if (row == NO_ROW && row_first == 0u && tile == 0u) atomicAdd(out_of_range, 1u);
    return row < row_first || row >= row_end ? QK_NONE : table_tile(row, tile);
}

@if team
shared bool in_one_row;  // what a workgroup makes

// One thread for each team says which block it makes: an index, and a division.
void qk_place(uint part) {
    if (gl_LocalInvocationIndex >= @{slots}) return;
    part += gl_LocalInvocationIndex * @{team}u;
    const uint token = part / row_tiles, tile = part - token * row_tiles;
    const uint made = part < tokens * row_tiles ? tile_of(token, tile) : QK_NONE;
    qk_made[gl_LocalInvocationIndex] = made == QK_NONE ? QK_NONE : made / @{team}u;
    if (gl_LocalInvocationIndex == 0u) in_one_row = tile + gl_WorkGroupSize.x <= row_tiles;
}
@else
uint qk_place(uint i) {
    const uint token = i / row_tiles, block = tile_of(token, i - token * row_tiles);
@if stages
    qk_made[gl_LocalInvocationIndex] = block;
@end
    return block;
}
@end

void main() {
    const uint threads = gl_NumWorkGroups.x * gl_WorkGroupSize.x;
@if team
    const uint all = tokens * row_tiles;
    for (uint first = gl_WorkGroupID.x * gl_WorkGroupSize.x; first < all; first += threads) {
        const uint i = first + gl_LocalInvocationIndex;
        // All threads have to wait for each other: those that have nothing to make do it with the last block, and leave it.
        qk_encode(values_at(i < all ? i : all - @{team}u + i % @{team}u) * @{share}u, first);
        qk_write_made(in_one_row);
    }
@else
@if stages
    for (uint first = gl_WorkGroupID.x * gl_WorkGroupSize.x; first < tokens * row_tiles; first += threads) {
        const uint i = first + gl_LocalInvocationIndex, token = i / row_tiles, tile = i - token * row_tiles;
        if (i < tokens * row_tiles) qk_encode(i, values_at(i) * @{block_elements}u);
        else qk_made[gl_LocalInvocationIndex] = QK_NONE;
        // Whether all are of one row, in which the workgroup's first tile is so many before this one.
        qk_write_made(gl_LocalInvocationIndex <= tile && tile - gl_LocalInvocationIndex + gl_WorkGroupSize.x <= row_tiles);
    }
@else
    for (uint i = gl_GlobalInvocationID.x; i < tokens * row_tiles; i += threads)
        qk_encode(i, values_at(i) * @{block_elements}u);
@end
@end
}
