// qkgen's kernels for MUL_MAT, MUL_MAT_ID, SET_ROWS, CPY and GET_ROWS of quantised types. Part of ggml-vulkan.cpp, which includes it.
//
// GGML_VK_QKGEN        what is routed: 0; 1 (the default), all but get_rows; or some of mul_mat,mul_mat_id,set_rows,cpy,get_rows
// GGML_VK_QKGEN_CLASS  the least exact class that is taken: best (default, f16 products on matrix units), split, exact
// GGML_VK_QKGEN_DOT    integer dot products also where ggml finds them slow, as on processors
// GGML_VK_QKGEN_LOG    at exit, what was routed, and why the rest was not
//
// A function that routes returns true. Where it returns false, ggml's own kernel takes the node.
#include <qkgen/dispatch.h>
#include <qkgen/matrix_order.h>
#include "qkgen-kernels.h" // all pairs, and qkgen_kernels, their descriptors

enum vk_qk_family { VK_QK_GATHER, VK_QK_SET_ROWS, VK_QK_GEMV, VK_QK_GEMV_ID, VK_QK_GEMM, VK_QK_GEMM_ID, VK_QK_FAMILIES };
static const char * const vk_qk_families[VK_QK_FAMILIES] = { "gather", "set_rows", "gemv", "gemv_id", "gemm", "gemm_id" };

// Of a device: kernels by type of weights and of values (x, results of gather, what set_rows takes); pipelines by module and constants; tables.
struct vk_qk_state {
    std::mutex mutex;
    qk_limits limits {};
    std::vector<const qk_kernel *> kernels[GGML_TYPE_COUNT][VK_QK_FAMILIES][QK_TYPE_F32 + 1];
    std::map<std::pair<const void *, std::array<uint32_t, QK_MAX_CONSTANTS>>, vk_pipeline> pipelines;
    std::map<const uint32_t *, vk_buffer> tables;
    vk_buffer status; // counts numbers that are out of range; nobody reads it
};

static void ggml_vk_qk_free(vk_qk_state * state) { delete state; }

// What a call records into; and the x that gemm packs, or NULL where there are several.
struct vk_qk_call { ggml_backend_vk_context * ctx; vk_context & subctx; vk_qk_state & state; const ggml_tensor * x; };

static bool ggml_vk_qk_log(const ggml_tensor * dst, const std::string & what, bool result = false) {
    struct counts : std::map<std::string, uint64_t> {
        ~counts() { for (const auto & c : *this) fprintf(stderr, "qkgen: %8llu %s\n", (unsigned long long) c.second, c.first.c_str()); }
    };
    static const bool on = getenv("GGML_VK_QKGEN_LOG") != nullptr;
    static std::mutex mutex;
    static counts log;
    if (on) {
        std::lock_guard<std::mutex> lock(mutex);
        log[std::string(ggml_op_name(dst->op)) + (result ? " routed: " : " not routed: ") + what]++;
    }
    return result;
}

// Whether nodes of that kind are ours.
static bool ggml_vk_qk_on(ggml_type quantized, const char * op) {
    static const std::string wanted = "," + std::string(getenv("GGML_VK_QKGEN") != nullptr ? getenv("GGML_VK_QKGEN") : "1") + ",";
    return ggml_is_quantized(quantized) && ((wanted == ",1," && op != std::string("get_rows")) || wanted.find("," + std::string(op) + ",") != std::string::npos);
}

static int ggml_vk_qk_type(ggml_type type) {
    return type == GGML_TYPE_F32 ? QK_TYPE_F32 : type == GGML_TYPE_F16 ? QK_TYPE_F16 : type == GGML_TYPE_BF16 ? QK_TYPE_BF16 : -1;
}

// ggml fuses what has no place in an epilogue: a second addition, and factors of experts.
static bool ggml_vk_qk_may_fuse(const ggml_tensor * dst, const ggml_tensor * last, size_t count) {
    return !(dst->op == GGML_OP_MUL_MAT && count > 2 && ggml_vk_qk_on(dst->src[0]->type, "mul_mat")) &&
           !(dst->op == GGML_OP_MUL_MAT_ID && last->op == GGML_OP_MUL && ggml_vk_qk_on(dst->src[0]->type, "mul_mat_id"));
}

static vk_pipeline & ggml_vk_qk_pipeline(vk_device & device, vk_qk_state & state, const qk_launch * launch) {
    const qk_kernel * kernel = launch->kernel;
    const qk_code * code = qk_code_of(kernel, launch->constants);
    std::array<uint32_t, QK_MAX_CONSTANTS> values {};
    for (uint32_t i = 0; i < kernel->spec_constant_count; i++) {
        values[i] = kernel->spec_constants[i].id == QK_CONSTANT_ROUNDS_F16 ?
                        device->float_controls_rte_fp16 && device->float_controls_denorm_preserve_fp16 :
                        launch->constants != nullptr ? launch->constants[i] : kernel->spec_constants[i].value;
    }
    vk_pipeline & pipeline = state.pipelines[{ code->data, values }];
    if (pipeline == nullptr) {
        std::vector<uint32_t> dense; // ggml numbers constants from 0 on; those between ours are in no module
        for (uint32_t i = 0; i < kernel->spec_constant_count; i++) {
            dense.resize(std::max<size_t>(dense.size(), kernel->spec_constants[i].id + 1));
            dense[kernel->spec_constants[i].id] = values[i];
        }
        pipeline = std::make_shared<vk_pipeline_struct>();
        pipeline->name = std::string("qkgen_") + kernel->name;
        pipeline->parameter_count = kernel->binding_count + kernel->table_count;
        pipeline->push_constant_size = kernel->push_bytes;
        pipeline->initialized = true;
        ggml_vk_create_pipeline_func(device, pipeline, code->bytes, code->data, kernel->entry, pipeline->parameter_count, { 1, 1, 1 }, dense,
                                     qk_constant_(kernel, launch->constants, QK_CONSTANT_CHECKED, 0) == 0, false, device->subgroup_size);
    }
    return pipeline;
}

static qk_status ggml_vk_qk_launch(void * context, const qk_launch * launch, qk_error * error) {
    const vk_qk_call & call = *(const vk_qk_call *) context;
    ggml_backend_vk_context * ctx = call.ctx;
    const qk_kernel * kernel = launch->kernel;
    const uint32_t count = kernel->binding_count + kernel->table_count;
    if (count > MAX_PARAMETER_COUNT) {
        return qk_fail(error, QK_ERROR_LIMIT, "%s: more buffers than %d", kernel->name, MAX_PARAMETER_COUNT);
    }
    if (qk_constant_(kernel, launch->constants, QK_CONSTANT_SCHEDULE, 0) == QK_SCHEDULE_PACK) {
        // As ggml keeps x in q8_1: what other matrices were multiplied with is still there.
        auto key = (vk_pipeline_struct *) (uintptr_t) kernel;
        if (call.x != nullptr && ctx->prealloc_y_last_pipeline_used == key && ctx->prealloc_y_last_tensor_used == call.x) {
            return QK_OK;
        }
        if (ctx->prealloc_y_need_sync) {
            ggml_vk_sync_buffers(ctx, call.subctx);
        }
        ctx->prealloc_y_last_pipeline_used = key;
        ctx->prealloc_y_last_tensor_used = call.x;
        ctx->prealloc_y_need_sync = true;
    }
    std::lock_guard<std::mutex> lock(call.state.mutex);
    vk::DescriptorBufferInfo infos[MAX_PARAMETER_COUNT];
    for (uint32_t i = 0; i < kernel->binding_count; i++) {
        const qk_range & range = launch->ranges[i];
        infos[kernel->bindings[i].index] = vk::DescriptorBufferInfo((VkBuffer) range.buffer, range.offset, range.size);
    }
    for (uint32_t i = 0; i < kernel->table_count; i++) {
        vk_buffer & buffer = call.state.tables[kernel->tables[i].words];
        if (buffer == nullptr) {
            buffer = ggml_vk_create_buffer_device(ctx->device, kernel->tables[i].bytes);
            ggml_vk_buffer_write(buffer, 0, kernel->tables[i].words, kernel->tables[i].bytes);
        }
        infos[kernel->tables[i].index] = vk::DescriptorBufferInfo(buffer->buffer, 0, kernel->tables[i].bytes);
    }
    vk_pipeline & pipeline = ggml_vk_qk_pipeline(ctx->device, call.state, launch);
    ggml_pipeline_request_descriptor_sets(ctx, pipeline, 1);
    vk::DescriptorSet & set = ctx->descriptor_sets[ctx->descriptor_set_idx++];
    ctx->device->device.updateDescriptorSets({ { set, 0, 0, count, vk::DescriptorType::eStorageBuffer, nullptr, infos } }, {});
    vk::CommandBuffer & commands = call.subctx->s->buffer->buf;
    if (kernel->push_bytes != 0) {
        commands.pushConstants(pipeline->layout, vk::ShaderStageFlagBits::eCompute, 0, kernel->push_bytes, launch->push);
    }
    commands.bindPipeline(vk::PipelineBindPoint::eCompute, pipeline->pipeline);
    commands.bindDescriptorSets(vk::PipelineBindPoint::eCompute, pipeline->layout, 0, { set }, {});
    commands.dispatch(launch->workgroups, 1, 1);
    return QK_OK;
}

static qk_status ggml_vk_qk_barrier(void * context, qk_error *) {
    const vk_qk_call & call = *(const vk_qk_call *) context;
    ggml_vk_sync_buffers(call.ctx, call.subctx);
    call.ctx->prealloc_y_need_sync = true; // what follows reads it, and writes sums behind
    return QK_OK;
}

// Whether matrix units multiply as kernels ask, and how threads hold matrices: a small kernel tells.
static void ggml_vk_qk_matrices(ggml_backend_vk_context * ctx, vk_qk_state & state) {
    vk_device & device = ctx->device;
    auto get = (PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR)
        vkGetInstanceProcAddr(vk_instance.instance, "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR");
    std::vector<VkCooperativeMatrixPropertiesKHR> shapes(64);
    uint32_t count = shapes.size();
    for (auto & shape : shapes) {
        shape.sType = VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR;
    }
    if (!device->coopmat_support || !device->vulkan_memory_model || !device->fp16 || device->subgroup_size != 32 || get == nullptr ||
        get(device->physical_device, &count, shapes.data()) < 0 ||
        std::none_of(shapes.begin(), shapes.begin() + count, [](const VkCooperativeMatrixPropertiesKHR & s) {
            return s.MSize == 16 && s.NSize == 8 && s.KSize == 16 && s.AType == VK_COMPONENT_TYPE_FLOAT16_KHR && s.BType == s.AType &&
                   s.CType == VK_COMPONENT_TYPE_FLOAT32_KHR && s.ResultType == s.CType && s.scope == VK_SCOPE_SUBGROUP_KHR;
        })) {
        return;
    }
    static qk_kernel probe;
    static qk_spec_constant constants[QK_MATRIX_CONSTANTS];
    uint32_t from[QK_MATRIX_FROM_WORDS];
    float to[QK_MATRIX_TO_FLOATS];
    qk_matrix_probe(&probe, constants, &state.limits);
    qk_matrix_number(from);
    vk_buffer in = ggml_vk_create_buffer_device(device, sizeof from), out = ggml_vk_create_buffer_device(device, sizeof to);
    ggml_vk_buffer_write(in, 0, from, sizeof from);
    vk_context subctx = ggml_vk_create_temporary_context(device->compute_queue->cmd_pool);
    ggml_vk_ctx_begin(device, subctx);
    vk_qk_call call = { ctx, subctx, state, nullptr };
    const qk_range ranges[] = { { (VkBuffer) in->buffer, 0, sizeof from }, { (VkBuffer) out->buffer, 0, sizeof to } };
    const qk_launch launch = { &probe, ranges, nullptr, 1, nullptr };
    ggml_vk_qk_launch(&call, &launch, nullptr);
    ggml_vk_ctx_end(subctx);
    ggml_vk_submit(subctx, device->fence);
    VK_CHECK(device->device.waitForFences({ device->fence }, true, UINT64_MAX), "qkgen waitForFences", device);
    device->device.resetFences({ device->fence });
    ggml_vk_buffer_read(out, 0, to, sizeof to);
    qk_matrix_read_order(to, &state.limits);
    ggml_vk_destroy_buffer(in);
    ggml_vk_destroy_buffer(out);
}

static vk_qk_state & ggml_vk_qk_state(ggml_backend_vk_context * ctx) {
    static const std::string least = getenv("GGML_VK_QKGEN_CLASS") != nullptr ? getenv("GGML_VK_QKGEN_CLASS") : "best";
    vk_device & device = ctx->device;
    std::lock_guard<std::recursive_mutex> lock(device->mutex);
    if (device->qk != nullptr) {
        return *device->qk;
    }
    vk_qk_state & state = *(device->qk = new vk_qk_state);
    const auto & most = device->properties.limits;
    state.limits.storage_range    = most.maxStorageBufferRange;
    state.limits.offset_alignment = (uint32_t) most.minStorageBufferOffsetAlignment;
    state.limits.workgroup_count  = most.maxComputeWorkGroupCount[0];
    state.limits.workgroup_size   = std::min(most.maxComputeWorkGroupSize[0], most.maxComputeWorkGroupInvocations);
    state.limits.push_bytes       = most.maxPushConstantsSize;
    state.limits.shared_bytes     = most.maxComputeSharedMemorySize;
    state.limits.subgroup_size    = device->subgroup_size;
    state.limits.busy_workgroups  = device->properties.deviceType == vk::PhysicalDeviceType::eCpu ? 16 : 5 * device->shader_core_count;
    state.limits.loop_steps       = device->driver_id == vk::DriverId::eMesaLlvmpipe ? 65535 : 0;
    state.limits.features = QK_FEATURE_STORAGE_8BIT | QK_FEATURE_STORAGE_16BIT | // ggml's own shaders need both
                            (device->subgroup_basic && device->subgroup_arithmetic ? QK_FEATURE_SUBGROUP_ARITHMETIC : 0) |
                            (device->subgroup_shuffle ? QK_FEATURE_SUBGROUP_SHUFFLE : 0) | (device->fp16 ? QK_FEATURE_FLOAT16 : 0) |
                            (device->integer_dot_product || getenv("GGML_VK_QKGEN_DOT") ? QK_FEATURE_INTEGER_DOT_PRODUCT : 0);
    state.status = ggml_vk_create_buffer_device(device, 256);
    ggml_vk_qk_matrices(ctx, state);
    for (const qk_kernel * kernel : qkgen_kernels) {
        for (int type = 0; type < GGML_TYPE_COUNT; type++) {
            const bool ours = ggml_type_name((ggml_type) type) != nullptr && strcmp(kernel->format, ggml_type_name((ggml_type) type)) == 0;
            for (int family = 0; ours && family < VK_QK_FAMILIES; family++) {
                for (uint32_t i = 0; strcmp(kernel->family, vk_qk_families[family]) == 0 && i < kernel->binding_count; i++) {
                    if (kernel->bindings[i].role == (family == VK_QK_GATHER ? QK_ROLE_OUTPUT : QK_ROLE_INPUT) &&
                        kernel->numeric <= (least == "exact" ? QK_NUMERIC_EXACT_SUM : least == "split" ? QK_NUMERIC_SPLIT_SUM : QK_NUMERIC_INT8_SUM)) {
                        state.kernels[type][family][kernel->bindings[i].element].push_back(kernel);
                    }
                }
            }
        }
    }
    return state;
}

// The fastest kernel, or NULL where there is none that the device can launch.
static const qk_kernel * ggml_vk_qk_find(const vk_qk_state & state, vk_qk_family family, const ggml_tensor * w, ggml_type x, uint64_t batch) {
    if (ggml_vk_qk_type(x) < 0) {
        return nullptr;
    }
    const auto & kernels = state.kernels[w->type][family][ggml_vk_qk_type(x)];
    return kernels.empty() ? nullptr : qk_choose(kernels.data(), kernels.size(), &state.limits, w->ne[1], w->ne[0], batch, INFINITY);
}

// `size` bytes of a tensor from byte `at` on; of weights, all up to the end of their buffer: loads may pass the last block.
static qk_range ggml_vk_qk_range(const ggml_backend_vk_context * ctx, const ggml_tensor * t, uint64_t at, uint64_t size) {
    const vk_subbuffer sub = ggml_vk_tensor_subbuffer(ctx, t, true);
    at += sub.offset + get_misalign_bytes(ctx, t);
    return { (VkBuffer) sub.buffer->buffer, at, size != 0 ? size : sub.buffer->size - at };
}

// Whether a tensor, and all of its parts from dimension `outer` on, begin where the device binds buffers.
static bool ggml_vk_qk_aligned(const ggml_backend_vk_context * ctx, const ggml_tensor * t, int outer) {
    uint64_t bits = get_misalign_bytes(ctx, t);
    for (; outer < GGML_MAX_DIMS; outer++) {
        bits |= t->ne[outer] > 1 ? t->nb[outer] : 0;
    }
    return (bits & (ctx->device->properties.limits.minStorageBufferOffsetAlignment - 1)) == 0;
}

// x with its vectors one after the other, in `prealloc_y` where they are not, or begin where nothing can be bound; from byte `at` on.
// Behind that is scratch. With ids, these lie before it, if they are copied.
struct vk_qk_x {
    qk_range range, scratch {};
    uint64_t nb[GGML_MAX_DIMS];
    bool copied;

    vk_qk_x(ggml_backend_vk_context * ctx, vk_context & subctx, const ggml_tensor * x, bool whole, uint64_t scratch_bytes, uint64_t at = 0) {
        const uint64_t size = ggml_type_size(x->type);
        nb[0] = size;
        copied = x->nb[0] != size || !ggml_vk_qk_aligned(ctx, x, whole ? GGML_MAX_DIMS : 2);
        for (int i = 1; i < GGML_MAX_DIMS; i++) {
            nb[i] = nb[i - 1] * x->ne[i - 1];
            copied = copied || (x->ne[i] > 1 && x->nb[i] != nb[i] && (i == 1 || whole));
        }
        const uint64_t bytes = copied ? ggml_vk_align_size(nb[3] * x->ne[3], 256) : 0, end = at + bytes;
        if (ctx->prealloc_size_y < end + scratch_bytes) {
            ctx->prealloc_size_y = end + scratch_bytes;
            ggml_vk_preallocate_buffers(ctx, subctx);
        }
        if (scratch_bytes != 0) {
            scratch = { (VkBuffer) ctx->prealloc_y->buffer, end, ctx->prealloc_y->size - end };
        }
        if (!copied) {
            std::copy(x->nb, x->nb + GGML_MAX_DIMS, nb);
            range = ggml_vk_qk_range(ctx, x, 0, ggml_nbytes(x));
            return;
        }
        vk_pipeline copy = ggml_vk_get_cpy_pipeline(ctx, x, nullptr, x->type);
        ggml_pipeline_request_descriptor_sets(ctx, copy, 1);
        if (ctx->prealloc_y_need_sync) {
            ggml_vk_sync_buffers(ctx, subctx);
        }
        ggml_vk_cpy_to_contiguous(ctx, subctx, copy, x, ggml_vk_tensor_subbuffer(ctx, x), { ctx->prealloc_y, at, bytes });
        ctx->prealloc_y_last_tensor_used = nullptr;
        ctx->prealloc_y_need_sync = true;
        range = { (VkBuffer) ctx->prealloc_y->buffer, at, bytes };
    }

    qk_range part(uint64_t at, uint64_t bytes) const { return { range.buffer, range.offset + at, bytes }; }
};

static qk_backend ggml_vk_qk_backend(vk_qk_call & call) {
    return { &call, QK_API_VULKAN, call.state.limits, ggml_vk_qk_launch, ggml_vk_qk_barrier, nullptr };
}

// What is the same for both products: weights whose rows lie one after the other, and where things begin.
static const char * ggml_vk_qk_refuses(const ggml_backend_vk_context * ctx, const ggml_tensor * w, const ggml_tensor * x, const ggml_tensor * dst) {
    return x->type != GGML_TYPE_F32 && x->type != GGML_TYPE_F16        ? "type of x" :
           w->nb[1] != ggml_row_size(w->type, w->ne[0])                ? "rows of weights have a stride" :
           !ggml_vk_qk_aligned(ctx, w, 2) || get_misalign_bytes(ctx, x) ? "alignment of a matrix in a batch" :
           !ggml_vk_qk_aligned(ctx, dst, 2)                            ? "alignment of results in a batch" : nullptr;
}

static bool ggml_vk_qk_mul_mat(ggml_backend_vk_context * ctx, vk_context & subctx, const ggml_cgraph * cgraph, int node) {
    const ggml_tensor * mul = cgraph->nodes[node], * w = mul->src[0], * x = mul->src[1], * dst = cgraph->nodes[node + ctx->num_additional_fused_ops];
    if (!ggml_vk_qk_on(w->type, "mul_mat")) {
        return false;
    }
    if (const char * why = ggml_vk_qk_refuses(ctx, w, x, dst)) {
        return ggml_vk_qk_log(mul, why);
    }
    vk_qk_state & state = ggml_vk_qk_state(ctx);
    const uint64_t k = w->ne[0], m = w->ne[1], n = dst->ne[1], parts = dst->ne[2] * dst->ne[3];
    const qk_kernel * gemm = n > QK_GEMV_MAX_BATCH ? ggml_vk_qk_find(state, VK_QK_GEMM, w, x->type, n) : nullptr;
    if (gemm != nullptr && gemm->wide_block != 0 && k % gemm->wide_block != 0) {
        gemm = nullptr;
    }
    const qk_kernel * kernel = gemm != nullptr ? gemm : ggml_vk_qk_find(state, VK_QK_GEMV, w, x->type, std::min<uint64_t>(n, QK_GEMV_MAX_BATCH));
    if (kernel == nullptr) {
        return ggml_vk_qk_log(mul, "no kernel for this type and device");
    }
    vk_qk_call call = { ctx, subctx, state, nullptr };
    const qk_backend backend = ggml_vk_qk_backend(call);
    const vk_qk_x in(ctx, subctx, x, false, gemm != nullptr ? qk_gemm_scratch(&backend, gemm, m, k, n) : 0);
    call.x = parts == 1 && !in.copied ? x : nullptr;
    qk_epilogue epilogue {};
    qk_range bias;
    if (ctx->num_additional_fused_ops > 0) { // one vector, and what is added to it
        const ggml_tensor * add = dst->src[0] == mul ? dst->src[1] : dst->src[0];
        bias = ggml_vk_qk_range(ctx, add, 0, m * 4);
        const qk_range y = ggml_vk_qk_range(ctx, dst, 0, m * 4);
        epilogue.adds = bias.buffer == y.buffer && bias.offset == y.offset; // in place
        epilogue.bias = epilogue.adds ? nullptr : &bias;
    }
    for (uint64_t i = 0; i < parts; i++) {
        const uint64_t i2 = i % dst->ne[2], i3 = i / dst->ne[2];
        const qk_range weights = ggml_vk_qk_range(ctx, w, i2 / (x->ne[2] / w->ne[2]) * w->nb[2] + i3 / (x->ne[3] / w->ne[3]) * w->nb[3], 0);
        const qk_range vectors = in.part(i2 * in.nb[2] + i3 * in.nb[3], n * k * in.nb[0]);
        const qk_range y = ggml_vk_qk_range(ctx, dst, i2 * dst->nb[2] + i3 * dst->nb[3], n * m * 4);
        qk_error error;
        if ((gemm != nullptr ? qk_dispatch_gemm_with(&backend, gemm, &weights, vectors, in.scratch, y, m, k, n, &epilogue, &error)
                             : qk_dispatch_gemv_with(&backend, kernel, &weights, vectors, y, m, k, n, &epilogue, &error)) != QK_OK) {
            GGML_ASSERT(i == 0 && "qkgen refused a later part");
            return ggml_vk_qk_log(mul, error.text);
        }
    }
    return ggml_vk_qk_log(mul, std::string(kernel->family) + (in.copied ? ", x copied" : "") + (epilogue.bias != nullptr || epilogue.adds ? ", fused" : ""), true);
}

static bool ggml_vk_qk_mul_mat_id(ggml_backend_vk_context * ctx, vk_context & subctx, const ggml_cgraph * cgraph, int node) {
    const ggml_tensor * mul = cgraph->nodes[node], * w = mul->src[0], * x = mul->src[1], * ids = mul->src[2];
    const ggml_tensor * dst = cgraph->nodes[node + ctx->num_additional_fused_ops];
    if (!ggml_vk_qk_on(w->type, "mul_mat_id")) {
        return false;
    }
    const uint64_t k = w->ne[0], m = w->ne[1], experts = w->ne[2], used = ids->ne[0], tokens = ids->ne[1], each = x->ne[1];
    if (const char * why = ggml_vk_qk_refuses(ctx, w, x, dst)) {
        return ggml_vk_qk_log(mul, why);
    }
    if (w->nb[2] != m * w->nb[1] || (each != 1 && each != used)) {
        return ggml_vk_qk_log(mul, "experts with a stride");
    }
    vk_qk_state & state = ggml_vk_qk_state(ctx);
    const qk_kernel * gemm = tokens > QK_GEMV_MAX_BATCH && experts <= QK_GEMM_ID_EXPERTS ? ggml_vk_qk_find(state, VK_QK_GEMM_ID, w, x->type, tokens) : nullptr;
    if (gemm != nullptr && gemm->wide_block != 0 && k % gemm->wide_block != 0) {
        gemm = nullptr;
    }
    const qk_kernel * kernel = tokens > QK_GEMV_MAX_BATCH ? gemm : ggml_vk_qk_find(state, VK_QK_GEMV_ID, w, x->type, 1);
    if (kernel == nullptr) {
        return ggml_vk_qk_log(mul, "no kernel for this type and device");
    }
    vk_qk_call call = { ctx, subctx, state, nullptr };
    const qk_backend backend = ggml_vk_qk_backend(call);
    // Rows of ids have a stride where they are the first of all sorted experts. Room for all is made before anything is copied.
    const uint64_t id_bytes = ggml_vk_align_size(tokens * used * 4, 256), x_bytes = ggml_vk_align_size(ggml_nelements(x) * ggml_type_size(x->type), 256);
    const uint64_t scratch = gemm != nullptr ? qk_gemm_id_scratch(&backend, gemm, experts, m, k, tokens, used, each) : 0;
    if (ctx->prealloc_size_y < id_bytes + x_bytes + scratch) {
        ctx->prealloc_size_y = id_bytes + x_bytes + scratch;
        ggml_vk_preallocate_buffers(ctx, subctx);
    }
    const vk_qk_x numbers(ctx, subctx, ids, true, 0);
    const vk_qk_x in(ctx, subctx, x, true, scratch, numbers.copied ? id_bytes : 0);
    const qk_range weights = ggml_vk_qk_range(ctx, w, 0, 0), status = { (VkBuffer) state.status->buffer, 0, 4 };
    const qk_range y = ggml_vk_qk_range(ctx, dst, 0, tokens * used * m * 4);
    qk_epilogue epilogue {};
    qk_range bias;
    if (ctx->num_additional_fused_ops > 0) {
        bias = ggml_vk_qk_range(ctx, dst->src[1], 0, experts * m * 4);
        epilogue.bias = &bias;
    }
    qk_error error;
    if ((gemm != nullptr ? qk_dispatch_gemm_id_with(&backend, gemm, &weights, in.range, numbers.range, in.scratch, y, status, experts, m, k, tokens, used, each, &epilogue, &error)
                         : qk_dispatch_gemv_id_with(&backend, kernel, &weights, in.range, numbers.range, y, status, experts, m, k, tokens, used, each, &epilogue, &error)) != QK_OK) {
        return ggml_vk_qk_log(mul, error.text);
    }
    return ggml_vk_qk_log(mul, std::string(kernel->family) + (in.copied ? ", x copied" : "") + (numbers.copied ? ", ids copied" : "") +
                                   (epilogue.bias != nullptr ? ", fused" : ""), true);
}

// Steps of rows in elements, or in whole rows of blocks; false where they are none.
static bool ggml_vk_qk_steps(const ggml_tensor * t, bool blocks, uint64_t * steps) {
    const uint64_t unit = blocks ? ggml_row_size(t->type, t->ne[0]) : ggml_type_size(t->type);
    for (int i = 1; i < GGML_MAX_DIMS; i++) {
        steps[i - 1] = t->nb[i] / unit;
        if (t->ne[i] > 1 && t->nb[i] % unit != 0) {
            return false;
        }
    }
    return t->nb[0] == ggml_type_size(t->type);
}

// What gather and set_rows do for a node: values, the table, and indices if there are any. NULL, or why it is not routed.
struct vk_qk_rows { const ggml_tensor * values, * table, * ids; vk_qk_family family; qk_rows_view view; };

// Our blocks are those of ggml's quantiser. Its copies make others of iq4_nl, where they do not search for a scale, and of q8_0, where
// processors round ties to even; they are rare but in 16 bits.
static bool ggml_vk_qk_differs(ggml_type blocks, ggml_type values) {
    const std::string name = ggml_type_name(blocks);
    return name == "iq4_nl" || (name == "q8_0" && values != GGML_TYPE_F32);
}

static const char * ggml_vk_qk_rows_of(const ggml_tensor * dst, vk_qk_rows & r) {
    const bool gets = dst->op == GGML_OP_GET_ROWS, sets = dst->op == GGML_OP_SET_ROWS, decodes = ggml_is_quantized(dst->src[0]->type);
    r.family = gets || decodes ? VK_QK_GATHER : VK_QK_SET_ROWS;
    r.table  = gets || decodes ? dst->src[0] : dst;
    r.values = gets || decodes ? dst : dst->src[0];
    r.ids    = gets || sets ? dst->src[1] : nullptr;
    r.view   = { (uint64_t) r.values->ne[1], (uint64_t) r.values->ne[2], {}, 0, {}, { 1, 1 }, {} };
    uint64_t rows[3];
    if (ggml_vk_qk_type(r.values->type) < 0 || !ggml_vk_qk_steps(r.values, false, r.view.value_step) || !ggml_vk_qk_steps(r.table, true, rows)) {
        return "type of values, or steps of rows";
    }
    if (r.family == VK_QK_SET_ROWS && ggml_vk_qk_differs(r.table->type, r.values->type)) {
        return "ggml's copies have another method for this type";
    }
    std::copy(rows, rows + 3, r.view.row_step);
    if (r.ids == nullptr) {
        return ggml_are_same_shape(r.values, r.table) ? nullptr : "a copy of another shape";
    }
    if ((r.ids->type != GGML_TYPE_I32 && r.ids->type != GGML_TYPE_I64) || !ggml_vk_qk_steps(r.ids, false, r.view.index_step)) {
        return "type of ids";
    }
    r.view.index_bytes = ggml_type_size(r.ids->type);
    std::copy_backward(r.view.index_step, r.view.index_step + 2, r.view.index_step + 3); // dimension 0 of ids is 1 of values
    r.view.index_step[0] = 1;
    r.view.index_batches[0] = r.ids->ne[1];
    r.view.index_batches[1] = r.ids->ne[2];
    return nullptr;
}

// Whether rows can be set that ggml has no kernel for; where its views begin is known by now.
static bool ggml_vk_qk_supports(const vk_device & device, const ggml_tensor * dst) {
    vk_qk_rows r;
    if ((dst->op != GGML_OP_SET_ROWS && dst->op != GGML_OP_CPY) || !ggml_vk_qk_on(dst->type, dst->op == GGML_OP_CPY ? "cpy" : "set_rows") ||
        ggml_is_quantized(dst->src[0]->type) || ggml_vk_qk_rows_of(dst, r) != nullptr) {
        return false;
    }
    for (const ggml_tensor * t : { r.values, r.table, r.ids }) {
        if (t != nullptr && (t->view_offs & (device->properties.limits.minStorageBufferOffsetAlignment - 1)) != 0) {
            return false;
        }
    }
    for (const qk_kernel * kernel : qkgen_kernels) {
        if (strcmp(kernel->family, "set_rows") == 0 && strcmp(kernel->format, ggml_type_name(dst->type)) == 0) {
            return ggml_nbytes(r.values) <= device->properties.limits.maxStorageBufferRange;
        }
    }
    return false;
}

static bool ggml_vk_qk_rows(ggml_backend_vk_context * ctx, vk_context & subctx, const ggml_tensor * dst) {
    const bool sets = dst->op == GGML_OP_SET_ROWS, copies = dst->op == GGML_OP_CPY;
    vk_qk_rows r;
    if ((!sets && !copies && dst->op != GGML_OP_GET_ROWS) || !ggml_vk_qk_on(sets || (copies && ggml_is_quantized(dst->type)) ? dst->type : dst->src[0]->type, sets ? "set_rows" : copies ? "cpy" : "get_rows") ||
        (copies && dst->type == dst->src[0]->type)) {
        return false;
    }
    if (const char * why = ggml_vk_qk_rows_of(dst, r)) {
        return ggml_vk_qk_log(dst, why);
    }
    vk_qk_state & state = ggml_vk_qk_state(ctx);
    const uint64_t k = r.table->ne[0], tokens = ggml_nrows(r.values);
    const qk_kernel * kernel = ggml_vk_qk_find(state, r.family, r.table, r.values->type, tokens);
    if (kernel == nullptr) {
        return ggml_vk_qk_log(dst, "no kernel for this type and device");
    }
    vk_qk_call call = { ctx, subctx, state, nullptr };
    const qk_backend backend = ggml_vk_qk_backend(call);
    const qk_range status = { (VkBuffer) state.status->buffer, 0, 4 }, table = ggml_vk_qk_range(ctx, r.table, 0, ggml_nbytes(r.table));
    const qk_range values = ggml_vk_qk_range(ctx, r.values, 0, ggml_nbytes(r.values));
    const qk_range ids = r.ids != nullptr ? ggml_vk_qk_range(ctx, r.ids, 0, ggml_nbytes(r.ids)) : status;
    qk_error error;
    if ((r.family == VK_QK_GATHER ? qk_dispatch_gather_view : qk_dispatch_set_rows_view)(&backend, kernel, &table, ids, values, status,
            r.table->ne[1], k, tokens, &r.view, &error) != QK_OK) {
        return ggml_vk_qk_log(dst, error.text);
    }
    return ggml_vk_qk_log(dst, kernel->family, true);
}
