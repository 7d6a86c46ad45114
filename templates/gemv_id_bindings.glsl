@{buffers}
@{wide_buffers}
layout(binding = @{binding_ids}, std430) readonly buffer Ids { uint ids[]; };
layout(binding = @{binding_status}, std430) buffer Status { uint out_of_range; };

layout(push_constant) uniform Push {
    uint rows;          // of one expert
    uint row_tiles;     // tiles of @{tile_elements} elements in a row
    uint batch;         // right-hand sides: tokens
    uint slots;         // experts of each token
    uint experts;       // all there are
    uint expert_first;  // those that are bound in this launch
    uint expert_end;
    uint epilogue;      // what is done with results
};

@include x_run.glsl

@{tables}
@{prelude}
@include finish.glsl
