@{buffers}
@{wide_buffers}
layout(binding = @{binding_ids}, std430) readonly buffer Ids { uint ids[]; };
layout(binding = @{binding_y}, std430) writeonly buffer Output { float y[]; };
layout(binding = @{binding_status}, std430) buffer Status { uint out_of_range; };

layout(push_constant) uniform Push {
    uint rows;          // of one expert
    uint row_tiles;     // tiles of @{tile_elements} elements in a row
    uint batch;         // right-hand sides: tokens
    uint slots;         // experts of each token
    uint experts;       // all there are
    uint expert_first;  // those that are bound in this launch
    uint expert_end;
};

@include x_run.glsl

@{tables}
@{prelude}
// Row `n` of a token's expert is done.
void finish(uint pair, uint n, float sum) {
    y[pair * rows + n] = sum;
}
