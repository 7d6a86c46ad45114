struct @{name}_push {
    @{fields}
};

kernel void @{name}(
@{buffers}
    device @{result} *dst [[buffer(@{binding_dst})]],
    constant @{name}_push &push [[buffer(@{binding_push})]],
    uint thread_index [[thread_position_in_grid]],
    uint threads [[threads_per_grid]])
{
    @{body}
}
