// qkgen's kernels for MUL_MAT, MUL_MAT_ID, SET_ROWS, CPY and GET_ROWS of quantised types. ggml-vulkan.cpp includes it.
// A function that routes returns true; where it returns false, ggml's own kernel takes the node. README.md has the
// variables of the environment that say what is routed.
#include <qkgen/launcher.hpp>
#include <qkgen/routing.hpp>
#include <qkgen/vulkan_limits.h>
#include "qkgen-kernels.h" // all pairs, and qkgen_kernels, lists of their descriptors

// Of a device.
struct vk_qk_state : qkgen::launcher<vk_pipeline, vk_buffer> {};

// Of a context: the product at hand, from the question what is launched with it to the launch.
struct vk_qk_node {
    vk_qk_state & launcher;
    qk_product p;
    qk_epilogue epilogue;
    qk_tensor other, residual; // that the epilogue reads
    const ggml_tensor * norm; // of its x, which is in the launch, too
    int behind; // the product comes so many nodes behind its norm
};

static qkgen::routing & ggml_vk_qk_routing() {
    static qkgen::routing routing("GGML_VK_QKGEN", "MUL_MAT,MUL_MAT_ID,SET_ROWS,CPY", qkgen_kernels, QKGEN_KERNEL_SETS);
    return routing;
}

// Whether nodes of that kind are ours. Each node is asked for, and not by name.
static bool ggml_vk_qk_on(ggml_type quantized, ggml_op op) {
    static const auto ours = ggml_vk_qk_routing().taken(GGML_OP_COUNT, [](int i) { return ggml_op_name((ggml_op) i); });
    return ours[op] && ggml_is_quantized(quantized);
}

// Whether a node is a product of ours.
static bool ggml_vk_qk_multiplies(const ggml_tensor * t) {
    return (t->op == GGML_OP_MUL_MAT || t->op == GGML_OP_MUL_MAT_ID) && ggml_vk_qk_on(t->src[0]->type, t->op);
}

// What qkgen::launcher calls to record into a command buffer.
struct vk_qk_call {
    ggml_backend_vk_context * ctx;
    vk_context & subctx;
    vk_qk_state & launcher;
    const ggml_tensor * x; // of a product
    enum { most_buffers = MAX_PARAMETER_COUNT };

    static qk_range range_of(const vk_buffer & buffer) { return { (VkBuffer) buffer->buffer, 0, buffer->size }; }

    vk_buffer make_table(const uint32_t * words, uint32_t bytes) {
        vk_buffer buffer = ggml_vk_create_buffer_device(ctx->device, bytes);
        ggml_vk_buffer_write(buffer, 0, words, bytes);
        return buffer;
    }

    vk_pipeline make_pipeline(const qk_launch & launch, const qk_code & code, const std::vector<uint32_t> & values, uint32_t buffers) {
        const qk_kernel & kernel = *launch.kernel;
        const bool unchecked = qk_constant_(&kernel, launch.constants, QK_CONSTANT_CHECKED, 0) == 0;
        vk_pipeline pipeline = std::make_shared<vk_pipeline_struct>();
        pipeline->name = std::string("qkgen_") + kernel.name;
        pipeline->parameter_count = buffers;
        pipeline->push_constant_size = kernel.push_bytes;
        pipeline->initialized = true;
        ggml_vk_create_pipeline_func(ctx->device, pipeline, code.bytes, code.data, kernel.entry, buffers, { 1, 1, 1 },
                                     values, unchecked, false, ctx->device->subgroup_size);
        return pipeline;
    }

    void record(vk_pipeline & pipeline, const qk_launch & launch, const qk_range * ranges, uint32_t buffers) {
        static_assert(sizeof(qk_range) == sizeof(vk::DescriptorBufferInfo), "buffer, offset and size");
        const auto * infos = (const vk::DescriptorBufferInfo *) ranges;
        vk::CommandBuffer & commands = subctx->s->buffer->buf;
        ggml_pipeline_request_descriptor_sets(ctx, pipeline, 1);
        vk::DescriptorSet & set = ctx->descriptor_sets[ctx->descriptor_set_idx++];
        const vk::WriteDescriptorSet all = { set, 0, 0, buffers, vk::DescriptorType::eStorageBuffer, nullptr, infos };
        ctx->device->device.updateDescriptorSets({ all }, {});
        if (launch.kernel->push_bytes != 0) {
            commands.pushConstants(pipeline->layout, vk::ShaderStageFlagBits::eCompute, 0, launch.kernel->push_bytes, launch.push);
        }
        commands.bindPipeline(vk::PipelineBindPoint::eCompute, pipeline->pipeline);
        commands.bindDescriptorSets(vk::PipelineBindPoint::eCompute, pipeline->layout, 0, { set }, {});
        commands.dispatch(launch.workgroups, 1, 1);
    }

    void barrier() { ggml_vk_sync_buffers(ctx, subctx); }

    void before_scratch() { if (ctx->prealloc_y_need_sync) { barrier(); } }

    qk_range scratch(uint64_t bytes) {
        if (ctx->prealloc_size_y < bytes) {
            ctx->prealloc_size_y = bytes;
            ggml_vk_preallocate_buffers(ctx, subctx);
        }
        return ctx->prealloc_y != nullptr ? range_of(ctx->prealloc_y) : qk_range {};
    }

    bool copy_x(const qk_product & p) {
        if (get_misalign_bytes(ctx, x) != 0) {
            return false;
        }
        before_scratch();
        vk_pipeline copy = ggml_vk_get_cpy_pipeline(ctx, x, nullptr, x->type);
        ggml_pipeline_request_descriptor_sets(ctx, copy, 1);
        ggml_vk_cpy_to_contiguous(ctx, subctx, copy, x, ggml_vk_tensor_subbuffer(ctx, x), { ctx->prealloc_y, 0, p.copy_bytes });
        return true;
    }
};

// Whether matrix units multiply as kernels ask, and how threads hold matrices: a small kernel tells.
static void ggml_vk_qk_matrices(ggml_backend_vk_context * ctx, vk_qk_state & state) {
    vk_device & device = ctx->device;
    auto get = (PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR)
        vkGetInstanceProcAddr(vk_instance.instance, "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR");
    const auto offers = [&](uint32_t * count, void * shapes) {
        return get(device->physical_device, count, (VkCooperativeMatrixPropertiesKHR *) shapes) >= 0;
    };
    if (!device->coopmat_support || !device->vulkan_memory_model || !device->fp16 || device->subgroup_size != 32 ||
        get == nullptr || !state.find_matrices(offers)) {
        return;
    }
    vk_context subctx = ggml_vk_create_temporary_context(device->compute_queue->cmd_pool);
    ggml_vk_ctx_begin(device, subctx);
    vk_qk_call call = { ctx, subctx, state, nullptr };
    vk_buffer answer = state.ask_matrices(call);
    ggml_vk_ctx_end(subctx);
    ggml_vk_submit(subctx, device->fence);
    VK_CHECK(device->device.waitForFences({ device->fence }, true, UINT64_MAX), "qkgen waitForFences", device);
    device->device.resetFences({ device->fence });
    float order[QK_MATRIX_TO_FLOATS];
    ggml_vk_buffer_read(answer, 0, order, sizeof order);
    qk_matrix_read_order(order, &state.limits);
}

static qk_limits ggml_vk_qk_limits(const vk_device & device) {
    const bool is_cpu = device->properties.deviceType == vk::PhysicalDeviceType::eCpu;
    const bool sums = device->subgroup_basic && device->subgroup_arithmetic;
    const bool dots = device->integer_dot_product || getenv("GGML_VK_QKGEN_DOT") != nullptr;
    qk_limits limits {};
    QK_TAKE_VULKAN_LIMITS(limits, device->properties.limits);
    qk_take_kind(&limits, is_cpu, device->driver_id == vk::DriverId::eMesaLlvmpipe, device->shader_core_count);
    limits.subgroup_size = device->subgroup_size;
    limits.features = qk_vulkan_features(sums, device->subgroup_shuffle, device->fp16, dots);
    return limits;
}

static vk_qk_state & ggml_vk_qk_state(ggml_backend_vk_context * ctx) {
    std::shared_ptr<vk_qk_state> & state = ctx->device->qk;
    std::lock_guard<std::recursive_mutex> lock(ctx->device->mutex);
    if (state == nullptr) {
        state = std::make_shared<vk_qk_state>();
        state->limits = ggml_vk_qk_limits(ctx->device);
        state->rounds_f16 = ctx->device->float_controls_rte_fp16 && ctx->device->float_controls_denorm_preserve_fp16;
        ggml_vk_qk_matrices(ctx, *state);
    }
    return *state;
}

// Where a tensor begins, and all of its buffer behind that. Without `ctx` that is not known yet, but for how far into it a view begins.
static qk_range ggml_vk_qk_place(const ggml_backend_vk_context * ctx, const ggml_tensor * t) {
    if (ctx == nullptr) {
        return { const_cast<ggml_tensor *>(t), t->view_offs, UINT64_MAX };
    }
    const uint64_t at = ggml_vk_tensor_buffer_offset(ctx, t);
    const vk_buffer_struct * buffer = ctx->device->uma ? ggml_vk_tensor_subbuffer(ctx, t, true).buffer.get() // which may be the host's
                                                       : ((ggml_backend_vk_buffer_context *) t->buffer->context)->dev_buffer.get();
    return { (VkBuffer) buffer->buffer, at, buffer->size - at };
}

// A tensor from its first element to its last; of weights, to the end of their buffer: loads may pass the last block.
static qk_tensor ggml_vk_qk_tensor(const ggml_backend_vk_context * ctx, const ggml_tensor * t, bool weights = false) {
    if (t == nullptr) {
        return {};
    }
    const uint64_t block = weights ? 0 : ggml_blck_size(t->type);
    return qkgen::tensor_of(ggml_vk_qk_place(ctx, t), t->ne, t->nb, ggml_type_size(t->type), block);
}

// Lets a product be that of the weights and results of another node.
static const qk_product * ggml_vk_qk_turn(const ggml_backend_vk_context * ctx, const ggml_tensor * mul, qk_product & p) {
    p.weights = ggml_vk_qk_tensor(ctx, mul->src[0], true);
    p.y = ggml_vk_qk_tensor(ctx, mul);
    p.types = (uint64_t) mul->src[0]->type << 32 | (uint32_t) mul->src[1]->type;
    return &p;
}

static qk_product ggml_vk_qk_product(const ggml_backend_vk_context * ctx, const ggml_tensor * mul) {
    qk_product p {};
    ggml_vk_qk_turn(ctx, mul, p);
    p.x = ggml_vk_qk_tensor(ctx, mul->src[1]);
    p.ids = ggml_vk_qk_tensor(ctx, mul->src[2]);
    return p;
}

// Whether the node behind a product, of however many columns, is in its kernel: it adds a tensor, or a vector of all columns, or of experts
// their own; or it multiplies with factors of a token and a slot. Nobody else reads the product, and nothing is written over what is read.
static bool ggml_vk_qk_fuses(const ggml_backend_vk_context * ctx, const ggml_cgraph * graph, int at, vk_qk_node & node) {
    const ggml_tensor * mul = graph->nodes[at], * dst = graph->nodes[at + 1];
    const bool ids = mul->op == GGML_OP_MUL_MAT_ID, factors = ids && dst->op == GGML_OP_MUL;
    if (!ggml_can_fuse(graph, at, { mul->op, factors ? GGML_OP_MUL : ids ? GGML_OP_ADD_ID : GGML_OP_ADD })) {
        return false;
    }
    const ggml_tensor * t = dst->src[dst->src[0] == mul];
    const auto over = [&](const ggml_tensor * read, bool in_place) {
        return read != nullptr && read->op != GGML_OP_NONE && ggml_vk_tensors_overlap(read, dst, in_place);
    };
    if (t->type != GGML_TYPE_F32 || get_misalign_bytes(ctx, t) != 0 || (ids && !factors && mul->src[2] != dst->src[2]) ||
        over(t, true) || over(mul->src[0], false) || over(mul->src[1], false) || over(mul->src[2], false)) {
        return false;
    }
    node.other = ggml_vk_qk_tensor(ctx, t);
    const qk_tensor y = ggml_vk_qk_tensor(ctx, dst);
    return qk_product_fuses(&node.p, &node.epilogue, &node.other, factors, &y);
}

// Of a product with experts at `at`, times the factors of its slots: the last of the nodes that add up the slots of each token, and then maybe
// a residual; 0: there are none. Results in between are for nobody else.
static int ggml_vk_qk_last_of_slots(const ggml_cgraph * graph, int at) {
    const ggml_tensor * all = at + 1 < graph->n_nodes ? graph->nodes[at + 1] : nullptr, * sum = nullptr;
    const int slots = all != nullptr ? (int) std::min<int64_t>(all->ne[1], 16) : 0, last = at + 2 * slots;
    if (graph->nodes[at]->op != GGML_OP_MUL_MAT_ID || slots < 2 || slots > 14 || last + 1 >= graph->n_nodes) {
        return 0;
    }
    std::vector<ggml_op> ops = { GGML_OP_MUL_MAT_ID, GGML_OP_MUL };
    ops.resize(2 + slots, GGML_OP_VIEW);
    ops.resize(1 + 2 * slots, GGML_OP_ADD);
    for (int s = 0; s < slots; s++) {
        const ggml_tensor * slot = graph->nodes[at + 2 + s], * next = s > 0 ? graph->nodes[at + 1 + slots + s] : slot;
        if (slot->view_src != all || slot->view_offs != s * all->nb[1] || slot->ne[0] != all->ne[0] || slot->ne[1] != all->ne[2] ||
            slot->nb[1] != all->nb[2] || (s > 0 && (next->src[0] != sum || next->src[1] != slot))) {
            return 0;
        }
        sum = next;
    }
    for (int more = 1; more >= 0; more--) { // a residual
        const ggml_tensor * end = graph->nodes[last + more];
        ops.resize(1 + 2 * slots + more, GGML_OP_ADD);
        const int outputs[] = { last + more };
        if (ggml_can_fuse_subgraph(graph, at, (int) ops.size(), ops.data(), outputs, 1) && (!more || (end->src[0] == sum) != (end->src[1] == sum))) {
            return last + more;
        }
    }
    return 0;
}

// Whether these nodes are in the launch of the product, which fuses its factors. Returns how many nodes follow it.
static int ggml_vk_qk_adds_slots(const ggml_backend_vk_context * ctx, const ggml_cgraph * graph, int at, vk_qk_node & node) {
    const int last = ggml_vk_qk_last_of_slots(graph, at), slots = (int) graph->nodes[at + 1]->ne[1];
    const ggml_tensor * mul = graph->nodes[at], * dst = graph->nodes[last], * factors = graph->nodes[at + 1];
    factors = factors->src[factors->src[0] == mul];
    if (last == 0 || dst->type != GGML_TYPE_F32) {
        return 1;
    }
    const ggml_tensor * sum = graph->nodes[at + 2 * slots], * t = dst != sum ? dst->src[dst->src[0] == sum] : nullptr;
    for (const ggml_tensor * read : { (const ggml_tensor *) mul->src[1], (const ggml_tensor *) mul->src[2], factors, t }) {
        if (read != nullptr && ggml_vk_tensors_overlap(read, dst, read == t)) {
            return 1;
        }
    }
    node.residual = ggml_vk_qk_tensor(ctx, t);
    const qk_tensor y = ggml_vk_qk_tensor(ctx, dst);
    const bool fits = t == nullptr || (t->type == GGML_TYPE_F32 && get_misalign_bytes(ctx, t) == 0);
    return fits && qk_product_adds_slots(&node.p, &node.epilogue, t != nullptr ? &node.residual : nullptr, &y) ? last - at : 1;
}

// Lets what gates one product by another have memory of its own, not that of x: workgroups that write it do not wait for those that read.
// So do sums over slots.
static void ggml_vk_qk_keep(const ggml_cgraph * graph, ggml_backend_graph_optimize_params * params) {
    for (int i = 0; i < graph->n_nodes; i++) {
        ggml_tensor * glu = graph->nodes[i], * mul = glu->src[0];
        const bool gates = glu->op == GGML_OP_GLU && glu->src[1] != nullptr && ggml_vk_qk_multiplies(mul);
        for (int s = 1; s < 3 && gates; s++) {
            if (mul->src[s] != nullptr) {
                params->add_alloc_dep(params->user_data, mul->src[s], glu);
            }
        }
        const int last = ggml_vk_qk_multiplies(graph->nodes[i]) ? ggml_vk_qk_last_of_slots(graph, i) : 0;
        for (int s = 0; s < 4 && last != 0; s++) { // x, ids and factors
            params->add_alloc_dep(params->user_data, graph->nodes[i + s / 2]->src[s % 2 + (s < 2)], graph->nodes[last]);
        }
    }
}

// Whether a product, the next one of the same x and what gates one of them by the other are one launch; which is then `p`. Results of the
// two are for nobody else.
static bool ggml_vk_qk_gates(const ggml_backend_vk_context * ctx, const ggml_cgraph * graph, int at, qk_product & p) {
    const ggml_tensor * mul = graph->nodes[at], * next = graph->nodes[at + 1];
    if (!ggml_can_fuse_subgraph(graph, at, { mul->op, mul->op, GGML_OP_GLU }, { at + 2 })) {
        return false;
    }
    const ggml_tensor * glu = graph->nodes[at + 2];
    const bool first = glu->src[0] == mul && glu->src[1] == next, second = glu->src[0] == next && glu->src[1] == mul;
    if (ggml_get_glu_op(glu) != GGML_GLU_OP_SWIGLU || ggml_get_op_params_i32(glu, 1) != 0 || first == second ||
        ggml_vk_tensors_overlap(mul->src[1], glu, false)) {
        return false;
    }
    qk_product other = p;
    ggml_vk_qk_turn(ctx, next, other);
    const qk_tensor y = ggml_vk_qk_tensor(ctx, glu);
    const bool gates = first ? qk_product_gates(&p, &other, &y) : qk_product_gates(&other, &p, &y);
    p = gates && second ? other : p;
    return gates;
}

static void ggml_vk_qk_prepare(ggml_backend_vk_context * ctx, const ggml_cgraph * graph, int at);

// Takes a norm of one token, which ggml fused with its weights, into the launch of the products behind it, if these are more than one, and
// all that reads it. Where there are several sequences, a view of their cache comes in between.
static void ggml_vk_qk_norms(ggml_backend_vk_context * ctx, const ggml_cgraph * graph, int at) {
    int & count = ctx->num_additional_fused_ops;
    const ggml_tensor * rms = graph->nodes[at], * x = rms->src[0];
    int first = at + 2;
    while (first < graph->n_nodes && ggml_op_is_empty(graph->nodes[first]->op)) {
        first++;
    }
    if (ctx->qk != nullptr) {
        ctx->qk->norm = nullptr;
    }
    if (count != 1 || ctx->fused_rms_norm_mode != RMS_NORM_MUL || ctx->do_add_rms_partials_offset_calculation ||
        first >= graph->n_nodes || graph->nodes[first]->src[1] != graph->nodes[at + 1] || !ggml_vk_qk_multiplies(graph->nodes[first])) {
        return;
    }
    const ggml_tensor * normed = graph->nodes[at + 1], * weights = normed->src[normed->src[0] == rms];
    count = 0;
    ggml_vk_qk_prepare(ctx, graph, first);
    vk_qk_node & node = *ctx->qk;
    const qk_tensor factors = ggml_vk_qk_tensor(ctx, weights);
    const bool all = node.p.epilogue == nullptr && ggml_node_get_use_count(graph, at + 1) == (node.p.gated ? 2 : count + 1);
    if (count > 0 && all && x->type == GGML_TYPE_F32 && ggml_is_contiguous(x) && weights->type == GGML_TYPE_F32 &&
        (normed->flags & GGML_TENSOR_FLAG_OUTPUT) == 0 && qk_product_norms(&node.p, &factors, ggml_get_op_params_f32(rms, 0))) {
        node.p.x.range = ggml_vk_qk_tensor(ctx, x).range;
        node.norm = rms;
        node.behind = first - at;
        count += node.behind;
        ctx->fused_ops_write_mask <<= node.behind;
    } else {
        count = 1;
        ctx->fused_ops_write_mask = 1 << 1;
    }
}

// Makes the product of a node, with the nodes behind it that are of its launch, and a norm before it. Experts are a launch each unless one
// gates the other, for joined ones are not measured.
static void ggml_vk_qk_prepare(ggml_backend_vk_context * ctx, const ggml_cgraph * graph, int at) {
    const ggml_tensor * mul = graph->nodes[at];
    if (mul->op == GGML_OP_RMS_NORM) {
        ggml_vk_qk_norms(ctx, graph, at);
    }
    if (!ggml_vk_qk_multiplies(mul)) {
        return;
    }
    if (ctx->qk == nullptr) {
        ctx->qk.reset(new vk_qk_node { ggml_vk_qk_state(ctx), {}, {}, {}, {}, nullptr, 0 });
    }
    vk_qk_node & node = *ctx->qk;
    int & count = ctx->num_additional_fused_ops, & written = ctx->fused_ops_write_mask;
    const bool asks = !ctx->device->disable_fusion && at + 1 < graph->n_nodes;
    const auto same = [&] { // whether the next one has the same x and experts
        const ggml_tensor * t = at + count + 1 < graph->n_nodes ? graph->nodes[at + count + 1] : mul->src[0];
        return t->op == mul->op && t->src[1] == mul->src[1] && t->src[2] == mul->src[2] && ggml_vk_qk_multiplies(t);
    };
    node.p = ggml_vk_qk_product(ctx, mul);
    node.norm = nullptr;
    if (asks && ggml_vk_qk_fuses(ctx, graph, at, node)) {
        count = ggml_vk_qk_adds_slots(ctx, graph, at, node);
        written = 1 << count;
    } else if (asks && same() && ggml_vk_qk_gates(ctx, graph, at, node.p)) {
        count = 2;
        written = 1 << 2;
    } else if (asks && same() && mul->op == GGML_OP_MUL_MAT) {
        qk_product other = node.p;
        while (same() && qk_product_joins(&node.p, ggml_vk_qk_turn(ctx, graph->nodes[at + count + 1], other))) {
            count++;
        }
        written = (2 << count) - 1;
    }
}

// MUL_MAT and MUL_MAT_ID, or the RMS_NORM before, as they were prepared.
static bool ggml_vk_qk_mul_mat(ggml_backend_vk_context * ctx, vk_context & subctx, const ggml_cgraph * graph, int at) {
    const bool norms = graph->nodes[at]->op == GGML_OP_RMS_NORM && ctx->qk != nullptr && ctx->qk->norm == graph->nodes[at];
    const int begin = at;
    at += norms ? ctx->qk->behind : 0;
    const ggml_tensor * mul = graph->nodes[at], * w = mul->src[0], * ids = mul->src[2];
    const ggml_tensor * x = norms ? ctx->qk->norm->src[0] : mul->src[1];
    if (!ggml_vk_qk_multiplies(mul)) {
        return false;
    }
    qk_product & p = ctx->qk->p;
    vk_qk_call call = { ctx, subctx, ctx->qk->launcher, x };
    ggml_tensor ** next = graph->nodes + at + 1, ** end = graph->nodes + std::min(graph->n_nodes, at + 9);
    p.shares = std::any_of(next, end, [&](const ggml_tensor * t) { return t->src[1] == x; }); // as of q, k and v
    // Operands of x are kept in `prealloc_y` as ggml keeps x in q8_1: for other matrices that are multiplied with it, as of experts
    // are the tokens in their order.
    const ggml_tensor * last = at > 0 ? graph->nodes[at - 1] : mul;
    const bool same = last->src[2] == ids && last->src[1] == x && ggml_are_same_shape(last->src[0], w);
    const bool keeps = ids != nullptr || ggml_nrows(x) == x->ne[1];
    const bool held = keeps && ctx->prealloc_y_last_tensor_used == x && (ids == nullptr || (at > 0 && same));
    p.kernel = held ? (const qk_kernel *) (void *) ctx->prealloc_y_last_pipeline_used : nullptr;
    auto & routing = ggml_vk_qk_routing();
    const auto kernels = [&] {
        return routing.find(ids != nullptr ? "gemv_id,gemm_id" : "gemv,gemm", ggml_type_name(w->type), ggml_type_name(x->type));
    };
    qk_error error;
    const bool ours = call.launcher.multiply(call, kernels, !routing.names_operations(), p, &error) == QK_OK;
    if (p.copy_bytes + p.scratch_bytes != 0) { // the launches read it
        ctx->prealloc_y_last_pipeline_used = (vk_pipeline_struct *) (uintptr_t) p.kernel;
        ctx->prealloc_y_last_tensor_used = ours && keeps ? x : nullptr;
        ctx->prealloc_y_need_sync = true;
    }
    if (!ours && ctx->num_additional_fused_ops != 0) { // ggml takes the product alone, which may lie where something still reads
        ctx->num_additional_fused_ops = norms ? 1 : 0;
        ctx->unsynced_nodes_written.push_back(norms ? graph->nodes[begin + 1] : mul);
        call.barrier();
    }
    if (!ours && norms) {
        return false; // the products come again
    }
    if (!ours && (p.gated || p.adds_slots)) {
        p = ggml_vk_qk_product(ctx, mul);
        return ggml_vk_qk_mul_mat(ctx, subctx, graph, at);
    }
    const bool joined = p.parts[0].products != 0;
    const char * how = norms ? ", normed" : p.gated ? ", gated" : p.adds_slots ? ", added" : joined ? ", joined" : p.epilogue != nullptr ? ", fused" : "";
    return routing.count(ours, ggml_op_name(mul->op), ours ? p.kernel->family : error.text, how);
}

// GET_ROWS, SET_ROWS and CPY.
static qk_status ggml_vk_qk_rows(const ggml_backend_vk_context * ctx, const qk_backend & backend,
                                 const ggml_tensor * dst, qk_error * error) {
    const bool decodes = ggml_is_quantized(dst->src[0]->type);
    const ggml_tensor * v = decodes ? dst : dst->src[0], * t = decodes ? dst->src[0] : dst;
    // ggml copies to iq4_nl without its quantiser's search, and to q8_0 as processors round ties: often, of halves.
    const bool differs = t->type == GGML_TYPE_IQ4_NL || (t->type == GGML_TYPE_Q8_0 && v->type != GGML_TYPE_F32);
    const char * family = decodes ? "gather" : "set_rows";
    const auto & kernels = ggml_vk_qk_routing().find(family, ggml_type_name(t->type), ggml_type_name(v->type));
    if (kernels.empty() || (differs && !decodes)) {
        return qk_fail(error, QK_ERROR_UNSUPPORTED, "no kernel for these types%s", differs ? " rounds as ggml" : "");
    }
    const qk_tensor values = ggml_vk_qk_tensor(ctx, v), table = ggml_vk_qk_tensor(ctx, t);
    const qk_tensor ids = ggml_vk_qk_tensor(ctx, dst->op == GGML_OP_CPY ? nullptr : dst->src[1]);
    return qk_dispatch_rows(&backend, kernels[0], &table, &values, &ids, {}, error);
}

// Whether rows can be set that ggml has no kernel for.
static bool ggml_vk_qk_supports(const vk_device & device, const ggml_tensor * dst) {
    if ((dst->op != GGML_OP_SET_ROWS && dst->op != GGML_OP_CPY) || !ggml_vk_qk_on(dst->type, dst->op)) {
        return false;
    }
    const qk_limits limits = ggml_vk_qk_limits(device);
    return ggml_vk_qk_rows(nullptr, qk_listing_backend(QK_API_VULKAN, &limits, nullptr), dst, nullptr) == QK_OK;
}

static bool ggml_vk_qk_rows(ggml_backend_vk_context * ctx, vk_context & subctx, const ggml_tensor * dst) {
    const bool sets = dst->op == GGML_OP_SET_ROWS || (dst->op == GGML_OP_CPY && ggml_is_quantized(dst->type));
    if (!ggml_vk_qk_on(sets ? dst->type : dst->src[0]->type, dst->op)) {
        return false;
    }
    vk_qk_call call = { ctx, subctx, ggml_vk_qk_state(ctx), nullptr };
    qk_error error;
    const bool ours = ggml_vk_qk_rows(ctx, call.launcher.backend_of(call), dst, &error) == QK_OK;
    return ggml_vk_qk_routing().count(ours, ggml_op_name(dst->op), !ours ? error.text : sets ? "set_rows" : "gather");
}
