// A C++ engine with Vulkan-Hpp: what it writes to launch qkgen's kernels, without qkgen's runtime. `main` gathers rows of a q8_0 table.
#include "q8_0.h"
#include "qkgen_kernels.h"

#include <qkgen/dispatch.h>
#include <qkgen/vulkan_limits.h>
#include <vulkan/vulkan_raii.hpp>

#include <cstdio>
#include <cstring>
#include <vector>

// ---- what the engine has anyway ----

struct engine {
    vk::raii::Context context;
    vk::raii::Instance instance = nullptr;
    vk::raii::PhysicalDevice physical = nullptr;
    vk::raii::Device device = nullptr;
    vk::raii::Queue queue = nullptr;
};

struct buffer {
    vk::raii::Buffer handle = nullptr;
    vk::raii::DeviceMemory memory = nullptr;
    void *data = nullptr;
    uint64_t size = 0;
};

static buffer make_buffer(const engine &e, uint64_t bytes) {
    buffer b;
    b.size = bytes;
    b.handle = vk::raii::Buffer(e.device, {{}, bytes, vk::BufferUsageFlagBits::eStorageBuffer});
    const auto need = b.handle.getMemoryRequirements();
    const auto types = e.physical.getMemoryProperties();
    const auto host = vk::MemoryPropertyFlagBits::eHostVisible | vk::MemoryPropertyFlagBits::eHostCoherent;
    uint32_t type = 0;
    while (!(need.memoryTypeBits >> type & 1) || (types.memoryTypes[type].propertyFlags & host) != host) ++type;
    b.memory = vk::raii::DeviceMemory(e.device, {need.size, type});
    b.handle.bindMemory(*b.memory, 0);
    b.data = b.memory.mapMemory(0, VK_WHOLE_SIZE);
    return b;
}

static bool open_device(engine &e) {
    const vk::ApplicationInfo application("engine", 1, "engine", 1, VK_API_VERSION_1_2);
    e.instance = vk::raii::Instance(e.context, vk::InstanceCreateInfo({}, &application));
    auto devices = e.instance.enumeratePhysicalDevices();
    if (devices.empty()) return false;
    e.physical = std::move(devices[0]);
    const float priority = 1;
    const vk::DeviceQueueCreateInfo queue({}, 0, 1, &priority);
    vk::PhysicalDeviceVulkan11Features f11;
    vk::PhysicalDeviceVulkan12Features f12;
    f11.storageBuffer16BitAccess = f12.storageBuffer8BitAccess = VK_TRUE;
    f11.pNext = &f12;
    vk::DeviceCreateInfo info({}, queue);
    info.pNext = &f11;
    e.device = vk::raii::Device(e.physical, info);
    e.queue = vk::raii::Queue(e.device, 0, 0);
    return true;
}

static qk_range range_of(const buffer &b) { return {static_cast<VkBuffer>(*b.handle), 0, b.size}; }

// ---- the backend: from here to the next line of this kind ----

// Makes a pipeline, launches, and waits. An engine keeps pipelines, by module and constants, and records into its own command buffer.
static qk_status launch(void *context, const qk_launch *l, qk_error *error) {
    const engine &e = *static_cast<engine *>(context);
    const qk_kernel &k = *l->kernel;
    const qk_code &code = *qk_code_of(&k, l->constants);
    try {
        std::vector<vk::DescriptorSetLayoutBinding> bindings;
        std::vector<vk::SpecializationMapEntry> entries;
        std::vector<uint32_t> values;
        for (uint32_t i = 0; i < k.binding_count; ++i)
            bindings.emplace_back(k.bindings[i].index, vk::DescriptorType::eStorageBuffer, 1, vk::ShaderStageFlagBits::eCompute);
        for (uint32_t i = 0; i < k.table_count; ++i)
            bindings.emplace_back(k.tables[i].index, vk::DescriptorType::eStorageBuffer, 1, vk::ShaderStageFlagBits::eCompute);
        for (uint32_t i = 0; i < k.spec_constant_count; ++i) {
            entries.emplace_back(k.spec_constants[i].id, 4 * i, 4);
            values.push_back(l->constants ? l->constants[i] : k.spec_constants[i].value);
        }
        const vk::raii::DescriptorSetLayout set_layout(e.device, {{}, bindings});
        const vk::PushConstantRange push(vk::ShaderStageFlagBits::eCompute, 0, k.push_bytes);
        const vk::raii::PipelineLayout layout(e.device, {{}, *set_layout, push});
        const vk::raii::ShaderModule module(e.device, {{}, code.bytes, static_cast<const uint32_t *>(code.data)});
        const vk::SpecializationInfo constants(static_cast<uint32_t>(entries.size()), entries.data(), 4 * values.size(), values.data());
        const vk::PipelineShaderStageCreateInfo stage({}, vk::ShaderStageFlagBits::eCompute, *module, k.entry, &constants);
        const vk::raii::Pipeline pipeline(e.device, nullptr, vk::ComputePipelineCreateInfo({}, stage, *layout));
        const vk::DescriptorPoolSize size(vk::DescriptorType::eStorageBuffer, static_cast<uint32_t>(bindings.size()));
        const vk::raii::DescriptorPool pool(e.device, {vk::DescriptorPoolCreateFlagBits::eFreeDescriptorSet, 1, size});
        const auto sets = vk::raii::DescriptorSets(e.device, {*pool, *set_layout});
        for (uint32_t i = 0; i < k.binding_count; ++i) {
            const vk::DescriptorBufferInfo at(static_cast<VkBuffer>(l->ranges[i].buffer), l->ranges[i].offset, l->ranges[i].size);
            e.device.updateDescriptorSets(
                vk::WriteDescriptorSet(*sets[0], k.bindings[i].index, 0, vk::DescriptorType::eStorageBuffer, {}, at), {});
        }
        std::vector<buffer> tables; // constant data; an engine uploads it once
        for (uint32_t i = 0; i < k.table_count; ++i) {
            tables.push_back(make_buffer(e, k.tables[i].bytes));
            memcpy(tables[i].data, k.tables[i].words, k.tables[i].bytes);
            const vk::DescriptorBufferInfo at(*tables[i].handle, 0, k.tables[i].bytes);
            e.device.updateDescriptorSets(
                vk::WriteDescriptorSet(*sets[0], k.tables[i].index, 0, vk::DescriptorType::eStorageBuffer, {}, at), {});
        }
        const vk::raii::CommandPool commands(e.device, vk::CommandPoolCreateInfo());
        const auto recorded = vk::raii::CommandBuffers(e.device, {*commands, vk::CommandBufferLevel::ePrimary, 1});
        recorded[0].begin(vk::CommandBufferBeginInfo());
        recorded[0].bindPipeline(vk::PipelineBindPoint::eCompute, *pipeline);
        recorded[0].bindDescriptorSets(vk::PipelineBindPoint::eCompute, *layout, 0, *sets[0], {});
        recorded[0].pushConstants<uint8_t>(
            *layout, vk::ShaderStageFlagBits::eCompute, 0,
            vk::ArrayProxy<const uint8_t>(k.push_bytes, static_cast<const uint8_t *>(l->push)));
        recorded[0].dispatch(l->workgroups, 1, 1);
        recorded[0].end();
        e.queue.submit(vk::SubmitInfo({}, {}, *recorded[0]));
        e.queue.waitIdle();
    } catch (const vk::SystemError &what) {
        snprintf(error->text, sizeof error->text, "%s: %s", k.name, what.what());
        return QK_ERROR_DEVICE;
    }
    return QK_OK;
}

static qk_backend backend_of(engine &e) {
    const auto subgroups = e.physical.getProperties2<vk::PhysicalDeviceProperties2, vk::PhysicalDeviceSubgroupProperties>();
    qk_backend b = {};
    b.context = &e;
    b.api = QK_API_VULKAN;
    b.launch = launch;
    QK_TAKE_VULKAN_LIMITS(b.limits, e.physical.getProperties().limits);
    b.limits.subgroup_size = subgroups.get<vk::PhysicalDeviceSubgroupProperties>().subgroupSize;
    b.limits.features = qk_vulkan_features(1, 1, 0, 0);
    return b;
}

// ---- what it does with it ----

int main() {
    enum { ROWS = 50, COLS = 256, TOKENS = 9, BYTES = ROWS * COLS / 32 * 34 };
    engine e;
    if (!open_device(e)) return 77;
    const qk_backend backend = backend_of(e);
    const buffer table = make_buffer(e, BYTES), indices = make_buffer(e, TOKENS * 4), rows = make_buffer(e, TOKENS * COLS * 4),
                 status_word = make_buffer(e, 4);
    auto bytes = static_cast<unsigned char *>(table.data);
    for (unsigned i = 0, seed = 1; i < BYTES; ++i) {
        seed = seed * 1664525u + 1013904223u;
        bytes[i] = i % 34 == 1 ? 0x2c : static_cast<unsigned char>(seed >> 24);
    }
    auto wanted_rows = static_cast<uint32_t *>(indices.data);
    for (uint32_t t = 0; t < TOKENS; ++t) wanted_rows[t] = t * 7; // the last is no row
    memset(status_word.data, 0, 4);

    const qk_kernel *kernel = qk_find_kernel(qkgen_kernels, QKGEN_KERNEL_SETS, QK_API_VULKAN, "q8_0", "gather", nullptr, "f32");
    const qk_range weights = range_of(table);
    qk_error error;
    if (!kernel || qk_dispatch_gather(&backend, kernel, &weights, range_of(indices), range_of(rows), range_of(status_word), ROWS, COLS, TOKENS,
                                      &error) != QK_OK) {
        printf("engine: %s\n", kernel ? error.text : "there is no kernel");
        return 1;
    }
    std::vector<float> wanted(TOKENS * COLS);
    const void *from = bytes;
    const uint64_t missing = qk_q8_0_gather_f32_ref(&from, wanted_rows, ROWS, COLS, TOKENS, wanted.data());
    uint32_t counted;
    memcpy(&counted, status_word.data, 4);
    const bool right = memcmp(wanted.data(), rows.data, wanted.size() * 4) == 0 && missing == 1 && counted == 1;
    printf("engine: rows of q8_0 with Vulkan-Hpp: %s\n", right ? "right" : "WRONG");
    return !right;
}
