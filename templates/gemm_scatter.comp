@{banner}
#version 450
@{extensions}

layout(local_size_x_id = @{id.local_size_x}) in;

@include gemm_operands.glsl

shared uint next_of[MOST_EXPERTS + 1u];  // where the next pair of an expert goes
shared uint expert_of[gl_WorkGroupSize.x];

void main() {
    const uint thread = gl_LocalInvocationID.x, threads = gl_WorkGroupSize.x;
    for (uint block = gl_WorkGroupID.x; block < blocks_of_pairs(); block += gl_NumWorkGroups.x) {
        const uint first = block * pairs_of_block(), end = min(first + pairs_of_block(), all_pairs());
        for (uint e = thread; e <= experts; e += threads)
            next_of[e] = sorted[begins_at() + e] + sorted[counts_at() + block * (experts + 1u) + e];
        for (uint some = first; some < end; some += threads) {
            const uint pair = some + thread, expert = pair < end ? min(ids[id_of(pair)], experts) : ~0u;
            expert_of[thread] = expert;
            barrier();
            uint before = 0u, behind = 0u;  // threads with the same expert
            for (uint other = 0u; other < threads; ++other) {
                const uint same = uint(expert_of[other] == expert);
                if (other < thread) before += same;
                if (other > thread) behind += same;
            }
            uint place = 0u;
            if (pair < end) place = next_of[expert] + before;
            barrier();
            if (pair < end) sorted[pairs_at() + place] = pair;
            if (pair < end && behind == 0u) next_of[expert] = place + 1u;
            barrier();
        }
        barrier();
    }
}
