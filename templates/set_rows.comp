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

@if team
shared bool in_one_row;  // what a workgroup makes

// Where the values of part `i` of all begin, in parts: without a view, they follow each other.
uint values_at(uint i) {
    return batch_tokens == 0u ? i : values_of(i / row_tiles) + i % row_tiles;
}

// The block of the table that a part of a row is of.
uint block_of(uint token, uint tile) {
    const uint row = row_of(token);
    // A row that there is not is counted once, and a row of another launch is left alone.
    if (row == NO_ROW && row_first == 0u && tile == 0u) atomicAdd(out_of_range, 1u);
    return row < row_first || row >= row_end ? QK_NONE : table_tile(row, tile) / @{team}u;
}

// One thread for each team says which block it makes: an index, and a division.
void qk_place(uint part) {
    if (gl_LocalInvocationIndex >= @{slots}) return;
    part += gl_LocalInvocationIndex * @{team}u;
    const uint token = part / row_tiles, tile = part - token * row_tiles;
    qk_made[gl_LocalInvocationIndex] = part < tokens * row_tiles ? block_of(token, tile) : QK_NONE;
    if (gl_LocalInvocationIndex == 0u) in_one_row = tile + gl_WorkGroupSize.x <= row_tiles;
}
@else
// Encodes a block of a row, and says which one of all it is.
uint set_tile(uint token, uint tile) {
    const uint row = row_of(token);
    // A row that there is not is counted once, and a row of another launch is left alone.
    if (row == NO_ROW && row_first == 0u && tile == 0u) atomicAdd(out_of_range, 1u);
    if (row < row_first || row >= row_end) return QK_NONE;
    const uint block = table_tile(row, tile);
    qk_encode(block, (values_of(token) + tile) * @{block_elements}u);
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
        qk_made[gl_LocalInvocationIndex] = i < tokens * row_tiles ? set_tile(token, tile) : QK_NONE;
        // Whether all are of one row, in which the workgroup's first tile is so many before this one.
        qk_write_made(gl_LocalInvocationIndex <= tile && tile - gl_LocalInvocationIndex + gl_WorkGroupSize.x <= row_tiles);
    }
@else
    for (uint i = gl_GlobalInvocationID.x; i < tokens * row_tiles; i += threads) set_tile(i / row_tiles, i % row_tiles);
@end
@end
}
