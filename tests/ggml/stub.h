// What integrations/ggml/ggml-vulkan-qkgen.cpp uses of ggml's Vulkan backend, with a device that notes what is recorded.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

// ---- ggml.h ----

enum ggml_type { GGML_TYPE_F32, GGML_TYPE_F16, GGML_TYPE_Q4_0, GGML_TYPE_I32, GGML_TYPE_BF16, GGML_TYPE_I64, GGML_TYPE_Q8_0, GGML_TYPE_IQ4_NL };
enum ggml_op { GGML_OP_NONE, GGML_OP_ADD, GGML_OP_ADD_ID, GGML_OP_MUL, GGML_OP_MUL_MAT, GGML_OP_MUL_MAT_ID, GGML_OP_GET_ROWS, GGML_OP_SET_ROWS, GGML_OP_CPY, GGML_OP_CONT, GGML_OP_GLU, GGML_OP_RMS_NORM, GGML_OP_VIEW, GGML_OP_COUNT };
enum ggml_glu_op { GGML_GLU_OP_REGLU, GGML_GLU_OP_SWIGLU };
enum { GGML_TENSOR_FLAG_OUTPUT = 2 };
enum rms_norm_mode { RMS_NORM_COUNT, RMS_NORM_MUL, RMS_NORM_MUL_ROPE };
enum { GGML_MAX_DIMS = 4, GGML_MAX_SRC = 10 };
struct ggml_backend_buffer { void * context; };
struct ggml_tensor { ggml_type type; ggml_op op; ggml_backend_buffer * buffer; int64_t ne[4]; size_t nb[4]; ggml_tensor * src[GGML_MAX_SRC]; uint64_t at, view_offs; ggml_tensor * view_src; int32_t op_params[2], flags; };
struct ggml_cgraph { ggml_tensor ** nodes; int n_nodes; };
#define GGML_ASSERT(x) do { if (!(x)) { fprintf(stderr, "assertion failed: %s\n", #x); abort(); } } while (0)

inline const char * ggml_type_name(ggml_type t) {
    static const char * const names[] = { "f32", "f16", "q4_0", "i32", "bf16", "i64", "q8_0", "iq4_nl" };
    return names[t];
}
inline const char * ggml_op_name(ggml_op op) {
    static const char * const names[] = { "NONE", "ADD", "ADD_ID", "MUL", "MUL_MAT", "MUL_MAT_ID", "GET_ROWS", "SET_ROWS", "CPY", "CONT", "GLU", "RMS_NORM", "VIEW" };
    return names[op];
}
inline size_t ggml_type_size(ggml_type t) { return t == GGML_TYPE_Q4_0 ? 18 : t == GGML_TYPE_F16 || t == GGML_TYPE_BF16 ? 2 : t == GGML_TYPE_I64 ? 8 : 4; }
inline int64_t ggml_blck_size(ggml_type t) { return t == GGML_TYPE_Q4_0 ? 32 : 1; }
inline size_t ggml_row_size(ggml_type t, int64_t n) { return ggml_type_size(t) * (size_t) n / (size_t) ggml_blck_size(t); }
inline bool ggml_is_quantized(ggml_type t) { return t == GGML_TYPE_Q4_0; }
inline size_t ggml_nbytes(const ggml_tensor * t) {
    size_t bytes = ggml_row_size(t->type, t->ne[0]);
    for (int i = 1; i < GGML_MAX_DIMS; i++) bytes += (size_t) (t->ne[i] - 1) * t->nb[i];
    return bytes;
}

inline int64_t ggml_nrows(const ggml_tensor * t) { return t->ne[1] * t->ne[2] * t->ne[3]; }
inline int64_t ggml_nelements(const ggml_tensor * t) { return t->ne[0] * ggml_nrows(t); }
inline bool ggml_is_contiguous(const ggml_tensor * t) {
    size_t next = ggml_type_size(t->type);
    for (int i = 0; i < GGML_MAX_DIMS; i++) {
        if (t->ne[i] > 1 && t->nb[i] != next) return false;
        next = i == 0 ? ggml_row_size(t->type, t->ne[0]) : next * (size_t) t->ne[i];
    }
    return true;
}
inline bool ggml_are_same_shape(const ggml_tensor * a, const ggml_tensor * b) { return std::equal(a->ne, a->ne + GGML_MAX_DIMS, b->ne); }

inline ggml_glu_op ggml_get_glu_op(const ggml_tensor * t) { return (ggml_glu_op) t->op_params[0]; }
inline int32_t ggml_get_op_params_i32(const ggml_tensor * t, uint32_t i) { return t->op_params[i]; }
inline float ggml_get_op_params_f32(const ggml_tensor * t, uint32_t i) { float f; std::memcpy(&f, t->op_params + i, 4); return f; }
inline int32_t ggml_node_get_use_count(const ggml_cgraph * graph, int at) {
    int32_t count = 0;
    for (int k = 0; k < graph->n_nodes; k++) count += (int32_t) std::count(graph->nodes[k]->src, graph->nodes[k]->src + GGML_MAX_SRC, graph->nodes[at]);
    return count;
}
inline bool ggml_op_is_empty(ggml_op op) { return op == GGML_OP_NONE || op == GGML_OP_VIEW; }
// Whether nodes are of these operations, and none but the last is read by others behind them.
inline bool ggml_can_fuse_subgraph(const ggml_cgraph * graph, int at, int count, const ggml_op * ops, const int * outputs, int) {
    const int end = at + count;
    bool can = end <= graph->n_nodes;
    for (int i = at; can && i < end; i++) {
        can = graph->nodes[i]->op == ops[i - at];
        for (int k = end; i != outputs[0] && k < graph->n_nodes; k++)
            can = can && std::count(graph->nodes[k]->src, graph->nodes[k]->src + GGML_MAX_SRC, graph->nodes[i]) == 0;
    }
    return can;
}
inline bool ggml_can_fuse_subgraph(const ggml_cgraph * graph, int at, std::initializer_list<ggml_op> ops, std::initializer_list<int> outputs) {
    return ggml_can_fuse_subgraph(graph, at, (int) ops.size(), ops.begin(), outputs.begin(), 1);
}
inline bool ggml_can_fuse(const ggml_cgraph * graph, int at, std::initializer_list<ggml_op> ops) {
    if (!ggml_can_fuse_subgraph(graph, at, ops, { at + 1 })) return false;
    const ggml_tensor * first = graph->nodes[at], * second = graph->nodes[at + 1];
    return (second->src[0] == first || second->src[1] == first) && ggml_are_same_shape(first, second);
}
inline bool ggml_vk_tensors_overlap(const ggml_tensor * a, const ggml_tensor * b, bool in_place) {
    return !(in_place && a->at == b->at && ggml_nbytes(a) == ggml_nbytes(b)) && a->at < b->at + ggml_nbytes(b) && b->at < a->at + ggml_nbytes(a);
}
struct ggml_backend_graph_optimize_params { void (*add_alloc_dep)(void *, ggml_tensor *, ggml_tensor *); void * user_data; };

// ---- Vulkan ----

typedef struct VkBuffer_T * VkBuffer;
typedef void * VkInstance;
enum VkStructureType { VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR = 1000506001 };
enum { VK_COMPONENT_TYPE_FLOAT16_KHR = 0, VK_COMPONENT_TYPE_FLOAT32_KHR = 1, VK_SCOPE_SUBGROUP_KHR = 3 };
struct VkCooperativeMatrixPropertiesKHR {
    VkStructureType sType; void * pNext; uint32_t MSize, NSize, KSize; int AType, BType, CType, ResultType; uint32_t saturating; int scope;
};
typedef int (*PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR)(int, uint32_t *, VkCooperativeMatrixPropertiesKHR *);
inline PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR matrix_shapes = nullptr;
inline void * vkGetInstanceProcAddr(VkInstance, const char *) { return (void *) matrix_shapes; }

namespace vk {
enum class ShaderStageFlagBits { eCompute };
enum class PipelineBindPoint { eCompute };
enum class DescriptorType { eStorageBuffer };
enum class PhysicalDeviceType { eCpu, eDiscreteGpu };
enum class DriverId { eMesaLlvmpipe, eNvidiaProprietary };
struct Fence {};
struct DescriptorBufferInfo {
    VkBuffer buffer; uint64_t offset, range;
    DescriptorBufferInfo(VkBuffer b = nullptr, uint64_t o = 0, uint64_t r = 0) : buffer(b), offset(o), range(r) {}
};
struct DescriptorSet {};
struct WriteDescriptorSet {
    DescriptorSet set; uint32_t first, element, count; DescriptorType type; const void * images; const DescriptorBufferInfo * buffers;
};
}

// ---- the device ----

struct vk_buffer_struct { VkBuffer buffer; uint64_t size; };
typedef std::shared_ptr<vk_buffer_struct> vk_buffer;
struct vk_subbuffer { vk_buffer buffer; uint64_t offset, size; };
struct vk_pipeline_struct { std::string name; int layout, pipeline; uint32_t push_constant_size, parameter_count; bool initialized; };
typedef std::shared_ptr<vk_pipeline_struct> vk_pipeline;

// What a test looks at: launches with their buffers and push constants, barriers, and copies of x.
struct noted { std::string what; std::vector<vk::DescriptorBufferInfo> buffers; std::vector<uint32_t> push; };
inline bool operator==(const noted & a, const noted & b) {
    const auto same = [](const vk::DescriptorBufferInfo & p, const vk::DescriptorBufferInfo & q) {
        return p.buffer == q.buffer && p.offset == q.offset && p.range == q.range;
    };
    return a.what == b.what && a.push == b.push && a.buffers.size() == b.buffers.size() &&
           std::equal(a.buffers.begin(), a.buffers.end(), b.buffers.begin(), same);
}
inline std::vector<noted> notes;
inline std::vector<vk::DescriptorBufferInfo> bound;

namespace vk {
struct CommandBuffer {
    std::vector<uint32_t> push;
    void pushConstants(int, ShaderStageFlagBits, int, uint32_t bytes, const void * data) {
        push.assign((const uint32_t *) data, (const uint32_t *) data + bytes / 4);
    }
    void bindPipeline(PipelineBindPoint, int pipeline) { current = pipeline; }
    void bindDescriptorSets(PipelineBindPoint, int, int, std::vector<DescriptorSet>, std::vector<int>) {}
    void dispatch(uint32_t, uint32_t, uint32_t);
    int current;
};
struct Device {
    void updateDescriptorSets(std::vector<WriteDescriptorSet> writes, std::vector<int>) {
        bound.assign(writes[0].buffers, writes[0].buffers + writes[0].count);
    }
    int waitForFences(std::vector<Fence>, bool, uint64_t) { return 0; }
    void resetFences(std::vector<Fence>) {}
};
}
inline std::vector<std::string> pipeline_names;
inline void vk::CommandBuffer::dispatch(uint32_t, uint32_t, uint32_t) { notes.push_back({ pipeline_names[(size_t) current], bound, push }); }

struct vk_limits {
    uint64_t maxStorageBufferRange = 1u << 30, minStorageBufferOffsetAlignment = 16;
    uint32_t maxComputeWorkGroupCount[3] = { 65535, 65535, 65535 }, maxComputeWorkGroupSize[3] = { 1024, 1024, 64 };
    uint32_t maxComputeWorkGroupInvocations = 1024, maxPushConstantsSize = 256, maxComputeSharedMemorySize = 49152;
};
struct vk_queue { int cmd_pool; };
struct vk_device_struct {
    std::recursive_mutex mutex;
    struct { vk_limits limits; vk::PhysicalDeviceType deviceType = vk::PhysicalDeviceType::eDiscreteGpu; } properties;
    uint32_t subgroup_size = 32, shader_core_count = 100;
    vk::DriverId driver_id = vk::DriverId::eNvidiaProprietary;
    bool subgroup_basic = true, subgroup_arithmetic = true, subgroup_shuffle = true, fp16 = true, integer_dot_product = true;
    bool coopmat_support = false, vulkan_memory_model = true, float_controls_rte_fp16 = true, float_controls_denorm_preserve_fp16 = true;
    int physical_device = 0;
    vk::Device device;
    vk::Fence fence;
    std::shared_ptr<vk_queue> compute_queue = std::make_shared<vk_queue>();
    bool disable_fusion = false, uma = false;
    std::shared_ptr<struct vk_qk_state> qk;
};
typedef std::shared_ptr<vk_device_struct> vk_device;
struct vk_command_buffer { vk::CommandBuffer buf; };
struct vk_submission { vk_command_buffer * buffer; };
struct vk_context_struct { vk_command_buffer buffer; vk_submission submission { &buffer }; vk_submission * s = &submission; };
typedef std::shared_ptr<vk_context_struct> vk_context;
struct ggml_backend_vk_context {
    vk_device device = std::make_shared<vk_device_struct>();
    vk_buffer prealloc_y = std::make_shared<vk_buffer_struct>();
    size_t prealloc_size_y = 0;
    bool prealloc_y_need_sync = false;
    vk_pipeline_struct * prealloc_y_last_pipeline_used = nullptr;
    const ggml_tensor * prealloc_y_last_tensor_used = nullptr;
    int num_additional_fused_ops = 0, fused_ops_write_mask = 1;
    std::vector<const ggml_tensor *> unsynced_nodes_written;
    std::vector<vk::DescriptorSet> descriptor_sets = std::vector<vk::DescriptorSet>(1000);
    size_t descriptor_set_idx = 0;
    std::shared_ptr<struct vk_qk_node> qk;
    rms_norm_mode fused_rms_norm_mode = RMS_NORM_COUNT;
    bool do_add_rms_partials_offset_calculation = false;
};
struct ggml_backend_vk_buffer_context { vk_buffer dev_buffer; };
struct vk_instance_t { VkInstance instance; };
inline vk_instance_t vk_instance;
enum { MAX_PARAMETER_COUNT = 12 };
#define VK_CHECK(result, what, device) do { (void) (result); (void) (device); } while (0)

// All tensors lie in one buffer, at the place that they say.
inline vk_buffer ggml_vk_memory() {
    static vk_buffer memory = std::make_shared<vk_buffer_struct>(vk_buffer_struct { (VkBuffer) 1, 1u << 30 });
    return memory;
}
inline ggml_backend_buffer * ggml_vk_all_tensors() {
    static ggml_backend_vk_buffer_context context = { ggml_vk_memory() };
    static ggml_backend_buffer buffer = { &context };
    return &buffer;
}
inline size_t ggml_vk_tensor_buffer_offset(const struct ggml_backend_vk_context *, const ggml_tensor * t) { return t->at; }
inline uint64_t ggml_vk_align_size(uint64_t size, uint64_t to) { return (size + to - 1) / to * to; }
inline uint32_t get_misalign_bytes(const ggml_backend_vk_context *, const ggml_tensor * t) { return t->at & 15; }
inline vk_subbuffer ggml_vk_tensor_subbuffer(const ggml_backend_vk_context *, const ggml_tensor * t, bool = false) {
    return { ggml_vk_memory(), t->at & ~UINT64_C(15), ggml_nbytes(t) };
}
inline vk_buffer ggml_vk_create_buffer_device(vk_device &, size_t size) {
    static uintptr_t next = 100;
    return std::make_shared<vk_buffer_struct>(vk_buffer_struct { (VkBuffer) ++next, size });
}
inline void ggml_vk_destroy_buffer(vk_buffer & b) { b = nullptr; }
inline void ggml_vk_buffer_write(vk_buffer &, size_t, const void *, size_t) {}
inline std::vector<float> device_wrote;
inline void ggml_vk_buffer_read(vk_buffer & buffer, size_t offset, void * to, size_t size) {
    GGML_ASSERT(offset + size <= buffer->size && size == device_wrote.size() * sizeof(float));
    std::memcpy(to, device_wrote.data(), size);
}
inline vk_context ggml_vk_create_temporary_context(int) { return std::make_shared<vk_context_struct>(); }
inline void ggml_vk_ctx_begin(vk_device &, vk_context &) {}
inline void ggml_vk_ctx_end(vk_context &) {}
inline void ggml_vk_submit(vk_context &, vk::Fence) {}
inline void ggml_vk_preallocate_buffers(ggml_backend_vk_context * ctx, vk_context) {
    ctx->prealloc_y = ggml_vk_create_buffer_device(ctx->device, ctx->prealloc_size_y);
    ctx->prealloc_y_last_pipeline_used = nullptr;
    ctx->prealloc_y_last_tensor_used = nullptr;
}
inline void ggml_vk_sync_buffers(ggml_backend_vk_context * ctx, vk_context &) {
    ctx->prealloc_y_need_sync = false;
    notes.push_back({ "barrier", {}, {} });
}
inline vk_pipeline ggml_vk_get_cpy_pipeline(ggml_backend_vk_context *, const ggml_tensor *, const ggml_tensor *, ggml_type) { return nullptr; }
inline void ggml_pipeline_request_descriptor_sets(ggml_backend_vk_context *, vk_pipeline &, uint32_t) {}
inline void ggml_vk_cpy_to_contiguous(ggml_backend_vk_context * ctx, vk_context & subctx, vk_pipeline, const ggml_tensor *, const vk_subbuffer &,
                                      const vk_subbuffer & to) {
    notes.push_back({ "copy", { { to.buffer->buffer, to.offset, to.size } }, {} });
    ggml_vk_sync_buffers(ctx, subctx);
}
inline void ggml_vk_create_pipeline_func(vk_device &, vk_pipeline & pipeline, size_t, const void *, const char *, uint32_t,
                                         std::array<uint32_t, 3>, std::vector<uint32_t>, bool, bool, uint32_t) {
    pipeline->pipeline = (int) pipeline_names.size();
    pipeline_names.push_back(pipeline->name);
}
