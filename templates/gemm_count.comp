@{banner}
#version 450
@{extensions}

layout(local_size_x_id = @{id.local_size_x}) in;

@include gemm_operands.glsl

shared uint count_of[MOST_EXPERTS + 1u];

void main() {
    const uint thread = gl_LocalInvocationID.x, threads = gl_WorkGroupSize.x;
    for (uint block = gl_WorkGroupID.x; block < blocks_of_pairs(); block += gl_NumWorkGroups.x) {
        const uint first = block * pairs_of_block(), end = min(first + pairs_of_block(), all_pairs());
        for (uint e = thread; e <= experts; e += threads) count_of[e] = 0u;
        barrier();
        for (uint i = first + thread; i < end; i += threads) atomicAdd(count_of[min(ids[id_of(i)], experts)], 1u);
        barrier();
        for (uint e = thread; e <= experts; e += threads) sorted[counts_at() + block * (experts + 1u) + e] = count_of[e];
        barrier();
    }
}
