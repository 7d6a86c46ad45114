// qkgen's kernels for MUL_MAT, MUL_MAT_ID, SET_ROWS, CPY and GET_ROWS of quantised types. Part of ggml-vulkan.cpp, which includes it.
//
// GGML_VK_QKGEN        what is routed: 0; 1 (the default), all but get_rows; or some of mul_mat,mul_mat_id,set_rows,cpy,get_rows
// GGML_VK_QKGEN_CLASS  the least exact class that is taken: best (default: x in 8 bits, f16 products on matrix units), split, exact
// GGML_VK_QKGEN_DOT    integer dot products also where ggml finds them slow, as on processors
// GGML_VK_QKGEN_LOG    at exit, what was routed, and why the rest was not
//
// A function that routes returns true. Where it returns false, ggml's own kernel takes the node.
#include <qkgen/launcher.hpp>
#include <qkgen/matrix_order.h>
#include <qkgen/tensors.h>
#include <qkgen/vulkan_limits.h>
#include "qkgen-kernels.h" // all pairs, and qkgen_kernels, lists of their descriptors

// Of a device.
struct vk_qk_state {
    qkgen::launcher<vk_pipeline, vk_buffer> launcher;
    qk_limits limits {};
    vk_buffer status; // counts numbers that are out of range; nobody reads it
};

static void ggml_vk_qk_free(vk_qk_state * state) { delete state; }

// Counts what became of a node, where somebody wants to know: `what` and `how`, so that no text is made else.
static bool ggml_vk_qk_log(const ggml_tensor * dst, const char * what, const char * how = "", bool result = false) {
    static struct counts : std::map<std::string, uint64_t> {
        std::mutex mutex;
        ~counts() { for (const auto & c : *this) fprintf(stderr, "qkgen: %8llu %s\n", (unsigned long long) c.second, c.first.c_str()); }
    } log;
    static const bool on = getenv("GGML_VK_QKGEN_LOG") != nullptr;
    if (on) {
        std::lock_guard<std::mutex> lock(log.mutex);
        log[std::string(ggml_op_name(dst->op)) + (result ? " routed: " : " not routed: ") + what + how]++;
    }
    return result;
}

// Whether nodes of that kind are ours.
static bool ggml_vk_qk_on(ggml_type quantized, ggml_op op) {
    static const std::map<ggml_op, bool> wanted = [] {
        const char * const asked = getenv("GGML_VK_QKGEN");
        const std::string all = "," + std::string(asked != nullptr ? asked : "1") + ",";
        std::map<ggml_op, bool> on;
        for (const auto & op : { std::make_pair(GGML_OP_MUL_MAT, ",mul_mat,"), std::make_pair(GGML_OP_MUL_MAT_ID, ",mul_mat_id,"),
                                 std::make_pair(GGML_OP_SET_ROWS, ",set_rows,"), std::make_pair(GGML_OP_CPY, ",cpy,"),
                                 std::make_pair(GGML_OP_GET_ROWS, ",get_rows,") }) {
            on[op.first] = (all == ",1," && op.first != GGML_OP_GET_ROWS) || all.find(op.second) != std::string::npos;
        }
        return on;
    }();
    const auto at = wanted.find(op);
    return at != wanted.end() && at->second && ggml_is_quantized(quantized);
}

// ggml fuses what has no place in an epilogue: a second addition, and factors behind one.
static bool ggml_vk_qk_may_fuse(const ggml_tensor * dst, size_t count) {
    return (dst->op != GGML_OP_MUL_MAT && dst->op != GGML_OP_MUL_MAT_ID) || count <= 2 || !ggml_vk_qk_on(dst->src[0]->type, dst->op);
}

// The kernels that are exact enough.
static const std::vector<const qk_kernel *> & ggml_vk_qk_find(const char * families, ggml_type w, ggml_type x) {
    static const std::string least = getenv("GGML_VK_QKGEN_CLASS") != nullptr ? getenv("GGML_VK_QKGEN_CLASS") : "best";
    static qkgen::kernel_index index(qkgen_kernels, QKGEN_KERNEL_SETS,
                                     least == "exact" ? QK_NUMERIC_EXACT_SUM : least == "split" ? QK_NUMERIC_SPLIT_SUM : QK_NUMERIC_INT8_SUM);
    return index.find(families, ggml_type_name(w), ggml_type_name(x));
}

// What qkgen::launcher calls to record into a command buffer.
struct vk_qk_call {
    ggml_backend_vk_context * ctx;
    vk_context & subctx;
    qkgen::launcher<vk_pipeline, vk_buffer> & launcher;
    enum { most_buffers = MAX_PARAMETER_COUNT };

    bool rounds_f16() const { return ctx->device->float_controls_rte_fp16 && ctx->device->float_controls_denorm_preserve_fp16; }
    static qk_range range_of(const vk_buffer & buffer) { return { (VkBuffer) buffer->buffer, 0, buffer->size }; }

    vk_buffer make_table(const uint32_t * words, uint32_t bytes) {
        vk_buffer buffer = ggml_vk_create_buffer_device(ctx->device, bytes);
        ggml_vk_buffer_write(buffer, 0, words, bytes);
        return buffer;
    }

    vk_pipeline make_pipeline(const qk_launch & launch, const qk_code & code, const std::vector<uint32_t> & values, uint32_t buffers) {
        vk_pipeline pipeline = std::make_shared<vk_pipeline_struct>();
        pipeline->name = std::string("qkgen_") + launch.kernel->name;
        pipeline->parameter_count = buffers;
        pipeline->push_constant_size = launch.kernel->push_bytes;
        pipeline->initialized = true;
        ggml_vk_create_pipeline_func(ctx->device, pipeline, code.bytes, code.data, launch.kernel->entry, buffers, { 1, 1, 1 }, values,
                                     qk_constant_(launch.kernel, launch.constants, QK_CONSTANT_CHECKED, 0) == 0, false, ctx->device->subgroup_size);
        return pipeline;
    }

    void record(vk_pipeline pipeline, const qk_launch & launch, const qk_range * ranges, uint32_t buffers) {
        vk::DescriptorBufferInfo infos[MAX_PARAMETER_COUNT];
        std::transform(ranges, ranges + buffers, infos, [](const qk_range & r) { return vk::DescriptorBufferInfo((VkBuffer) r.buffer, r.offset, r.size); });
        ggml_pipeline_request_descriptor_sets(ctx, pipeline, 1);
        vk::DescriptorSet & set = ctx->descriptor_sets[ctx->descriptor_set_idx++];
        ctx->device->device.updateDescriptorSets({ { set, 0, 0, buffers, vk::DescriptorType::eStorageBuffer, nullptr, infos } }, {});
        vk::CommandBuffer & commands = subctx->s->buffer->buf;
        if (launch.kernel->push_bytes != 0) {
            commands.pushConstants(pipeline->layout, vk::ShaderStageFlagBits::eCompute, 0, launch.kernel->push_bytes, launch.push);
        }
        commands.bindPipeline(vk::PipelineBindPoint::eCompute, pipeline->pipeline);
        commands.bindDescriptorSets(vk::PipelineBindPoint::eCompute, pipeline->layout, 0, { set }, {});
        commands.dispatch(launch.workgroups, 1, 1);
    }

    void barrier() { ggml_vk_sync_buffers(ctx, subctx); }
};

// Whether matrix units multiply as kernels ask, and how threads hold matrices: a small kernel tells.
static void ggml_vk_qk_matrices(ggml_backend_vk_context * ctx, vk_qk_state & state) {
    vk_device & device = ctx->device;
    auto get = (PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR)
        vkGetInstanceProcAddr(vk_instance.instance, "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR");
    VkCooperativeMatrixPropertiesKHR shapes[64] = {};
    for (auto & shape : shapes) shape.sType = VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR;
    uint32_t count = 64;
    if (!device->coopmat_support || !device->vulkan_memory_model || !device->fp16 || device->subgroup_size != 32 || get == nullptr ||
        get(device->physical_device, &count, shapes) < 0 || !qk_matrix_take_shape((const qk_matrix_offer *) shapes, count, 32, &state.limits)) {
        return;
    }
    qk_matrix_question ask;
    qk_matrix_ask(&ask, &state.limits);
    vk_buffer memory = ggml_vk_create_buffer_device(device, sizeof ask.from + sizeof ask.to);
    ggml_vk_buffer_write(memory, 0, ask.from, sizeof ask.from);
    vk_context subctx = ggml_vk_create_temporary_context(device->compute_queue->cmd_pool);
    ggml_vk_ctx_begin(device, subctx);
    vk_qk_call call = { ctx, subctx, state.launcher };
    const qk_range ranges[] = { { (VkBuffer) memory->buffer, 0, sizeof ask.from }, { (VkBuffer) memory->buffer, sizeof ask.from, sizeof ask.to } };
    const qk_launch launch = { &ask.kernel, ranges, nullptr, 1, nullptr };
    state.launcher.launch(call, launch, nullptr);
    ggml_vk_ctx_end(subctx);
    ggml_vk_submit(subctx, device->fence);
    VK_CHECK(device->device.waitForFences({ device->fence }, true, UINT64_MAX), "qkgen waitForFences", device);
    device->device.resetFences({ device->fence });
    ggml_vk_buffer_read(memory, sizeof ask.from, ask.to, sizeof ask.to);
    qk_matrix_read_order(ask.to, &state.limits);
    ggml_vk_destroy_buffer(memory);
}

static vk_qk_state & ggml_vk_qk_state(ggml_backend_vk_context * ctx) {
    vk_device & device = ctx->device;
    std::lock_guard<std::recursive_mutex> lock(device->mutex);
    if (device->qk == nullptr) {
        vk_qk_state & state = *(device->qk = new vk_qk_state);
        QK_TAKE_VULKAN_LIMITS(state.limits, device->properties.limits);
        state.limits.subgroup_size   = device->subgroup_size;
        state.limits.busy_workgroups = qk_busy_workgroups(device->properties.deviceType == vk::PhysicalDeviceType::eCpu, device->shader_core_count);
        state.limits.loop_steps      = device->driver_id == vk::DriverId::eMesaLlvmpipe ? QK_LLVMPIPE_LOOP_STEPS : 0;
        state.limits.features        = qk_vulkan_features(device->subgroup_basic && device->subgroup_arithmetic, device->subgroup_shuffle,
                                                          device->fp16, device->integer_dot_product || getenv("GGML_VK_QKGEN_DOT"));
        state.status = ggml_vk_create_buffer_device(device, 256);
        ggml_vk_qk_matrices(ctx, state);
    }
    return *device->qk;
}

// A tensor from its first element on; of weights, up to the end of their buffer: loads may pass the last block.
static qk_tensor ggml_vk_qk_tensor(const ggml_backend_vk_context * ctx, const ggml_tensor * t, bool weights = false) {
    qk_tensor q {};
    if (t == nullptr) {
        return q;
    }
    q.bytes = ggml_type_size(t->type);
    std::copy_n(t->ne, GGML_MAX_DIMS, q.counts);
    std::copy_n(t->nb, GGML_MAX_DIMS, q.steps);
    if (ctx != nullptr) {
        const vk_subbuffer sub = ggml_vk_tensor_subbuffer(ctx, t, true);
        const uint64_t at = sub.offset + get_misalign_bytes(ctx, t);
        q.range = { (VkBuffer) sub.buffer->buffer, at, weights ? sub.buffer->size - at : ggml_nbytes(t) };
    }
    return q;
}

// MUL_MAT and MUL_MAT_ID. x that kernels do not load from where it lies is copied to `prealloc_y`; behind it is scratch.
static bool ggml_vk_qk_mul_mat(ggml_backend_vk_context * ctx, vk_context & subctx, const ggml_cgraph * cgraph, int node) {
    const ggml_tensor * mul = cgraph->nodes[node], * w = mul->src[0], * x = mul->src[1], * ids = mul->src[2];
    const ggml_tensor * dst = cgraph->nodes[node + ctx->num_additional_fused_ops];
    if (!ggml_vk_qk_on(w->type, mul->op)) {
        return false;
    }
    vk_qk_state & state = ggml_vk_qk_state(ctx);
    vk_qk_call call = { ctx, subctx, state.launcher };
    const bool fused = ctx->num_additional_fused_ops > 0;
    const uint64_t types = (uint64_t) w->type << 32 | (uint32_t) x->type;
    qk_epilogue epilogue {};
    qk_range other;
    qk_product p {};
    p.weights  = ggml_vk_qk_tensor(ctx, w, true);
    p.x        = ggml_vk_qk_tensor(ctx, x);
    p.y        = ggml_vk_qk_tensor(ctx, dst);
    p.ids      = ggml_vk_qk_tensor(ctx, ids);
    p.status   = call.range_of(state.status);
    p.epilogue = &epilogue;
    if (fused) { // one vector, and what is added to it; or what is of experts, or the token's factors
        other = ggml_vk_qk_tensor(ctx, dst->src[0] == mul ? dst->src[1] : dst->src[0]).range;
        epilogue.adds = dst->op != GGML_OP_MUL && other.buffer == p.y.range.buffer && other.offset == p.y.range.offset; // in place
        epilogue.scale_per = QK_PER_VECTOR;
        (dst->op == GGML_OP_MUL ? epilogue.scale : epilogue.bias) = epilogue.adds ? nullptr : &other;
    }
    if (const qk_kernel * known = state.launcher.repeat_product(call, p, types)) {
        return ggml_vk_qk_log(mul, known->family, fused ? ", fused" : "", true);
    }
    const auto & kernels = ggml_vk_qk_find(ids != nullptr ? "gemv_id,gemm_id" : "gemv,gemm", w->type, x->type);
    const qk_backend backend = qkgen::backend_of(call, state.limits);
    qk_error error;
    if (qk_plan_product(&backend, kernels.data(), kernels.size(), INFINITY, &p, &error) != QK_OK) {
        return ggml_vk_qk_log(mul, error.text);
    }
    const bool copied = p.copy_bytes != 0, tiles = p.scratch_bytes != 0;
    if ((copied && get_misalign_bytes(ctx, x) != 0) || (ids != nullptr && ids->ne[1] > QK_GEMV_MAX_BATCH && !tiles)) {
        return ggml_vk_qk_log(mul, copied ? "x begins where nothing can be copied" : "many tokens, and no gemm_id");
    }
    if (copied || tiles) {
        if (ctx->prealloc_size_y < p.copy_bytes + p.scratch_bytes) {
            ctx->prealloc_size_y = p.copy_bytes + p.scratch_bytes;
            ggml_vk_preallocate_buffers(ctx, subctx);
        }
        qk_product_place(&p, call.range_of(ctx->prealloc_y));
    }
    // As ggml keeps x in q8_1: what other matrices were multiplied with is still there.
    auto key = (vk_pipeline_struct *) (uintptr_t) p.kernel;
    const bool kept = tiles && !copied && ids == nullptr && ggml_nrows(x) == x->ne[1];
    p.packed = kept && ctx->prealloc_y_last_pipeline_used == key && ctx->prealloc_y_last_tensor_used == x;
    if ((copied || tiles) && !p.packed) {
        if (ctx->prealloc_y_need_sync) {
            ggml_vk_sync_buffers(ctx, subctx);
        }
        ctx->prealloc_y_last_tensor_used = nullptr;
    }
    if (copied) {
        vk_pipeline copy = ggml_vk_get_cpy_pipeline(ctx, x, nullptr, x->type);
        ggml_pipeline_request_descriptor_sets(ctx, copy, 1);
        ggml_vk_cpy_to_contiguous(ctx, subctx, copy, x, ggml_vk_tensor_subbuffer(ctx, x), { ctx->prealloc_y, 0, p.copy_bytes });
    }
    if (state.launcher.dispatch_product(call, state.limits, p, types, &error) != QK_OK) {
        return ggml_vk_qk_log(mul, error.text);
    }
    if (kept) {
        ctx->prealloc_y_last_pipeline_used = key;
        ctx->prealloc_y_last_tensor_used   = x;
    }
    ctx->prealloc_y_need_sync |= copied || tiles; // the launches read it
    return ggml_vk_qk_log(mul, p.kernel->family, copied ? (fused ? ", x copied, fused" : ", x copied") : fused ? ", fused" : "", true);
}

// GET_ROWS, SET_ROWS and CPY: values, the table, and indices if there are any.
struct vk_qk_rows {
    qk_tensor values, table, ids;
    const qk_kernel * kernel; // NULL: there is none

    vk_qk_rows(const ggml_backend_vk_context * ctx, const ggml_tensor * dst) {
        const bool decodes = ggml_is_quantized(dst->src[0]->type);
        const ggml_tensor * v = decodes ? dst : dst->src[0], * t = decodes ? dst->src[0] : dst;
        values = ggml_vk_qk_tensor(ctx, v);
        table  = ggml_vk_qk_tensor(ctx, t);
        ids    = ggml_vk_qk_tensor(ctx, dst->op == GGML_OP_CPY ? nullptr : dst->src[1]);
        // Our blocks are those of ggml's quantiser. Its copies make others of iq4_nl, where they do not search for a scale, and of q8_0,
        // where processors round ties to even; they are rare but in 16 bits.
        const std::string name = ggml_type_name(t->type);
        const bool differs = !decodes && (name == "iq4_nl" || (name == "q8_0" && v->type != GGML_TYPE_F32));
        const auto & kernels = ggml_vk_qk_find(decodes ? "gather" : "set_rows", t->type, v->type);
        kernel = differs || kernels.empty() ? nullptr : kernels[0];
    }
};

// Whether rows can be set that ggml has no kernel for; where its views begin is known by now.
static bool ggml_vk_qk_supports(const vk_device & device, const ggml_tensor * dst) {
    if ((dst->op != GGML_OP_SET_ROWS && dst->op != GGML_OP_CPY) || !ggml_vk_qk_on(dst->type, dst->op)) {
        return false;
    }
    for (const ggml_tensor * t : { dst, (const ggml_tensor *) dst->src[0], (const ggml_tensor *) dst->src[1] }) {
        if (t != nullptr && t->view_offs % device->properties.limits.minStorageBufferOffsetAlignment != 0) {
            return false;
        }
    }
    const vk_qk_rows r(nullptr, dst);
    qk_rows_view view;
    return r.kernel != nullptr && qk_encodes(r.kernel) && ggml_nbytes(dst->src[0]) <= device->properties.limits.maxStorageBufferRange &&
           qk_tensor_rows(r.kernel, &r.table, &r.values, &r.ids, &view, nullptr) == QK_OK;
}

static bool ggml_vk_qk_rows(ggml_backend_vk_context * ctx, vk_context & subctx, const ggml_tensor * dst) {
    const bool sets = dst->op == GGML_OP_SET_ROWS || (dst->op == GGML_OP_CPY && ggml_is_quantized(dst->type));
    if (!ggml_vk_qk_on(sets ? dst->type : dst->src[0]->type, dst->op)) {
        return false;
    }
    vk_qk_state & state = ggml_vk_qk_state(ctx);
    vk_qk_call call = { ctx, subctx, state.launcher };
    const qk_backend backend = qkgen::backend_of(call, state.limits);
    const vk_qk_rows r(ctx, dst);
    qk_error error { "no kernel for these types, or ggml's copies have another method" };
    if (r.kernel == nullptr || qk_dispatch_rows(&backend, r.kernel, &r.table, &r.values, &r.ids, call.range_of(state.status), &error) != QK_OK) {
        return ggml_vk_qk_log(dst, error.text);
    }
    return ggml_vk_qk_log(dst, r.kernel->family, "", true);
}
