// The backend of docs/engines.md for metal-cpp, which the test takes out of that page as backend.inc: what it tells Metal of a product
// is what qkgen/dispatch.h launches.
#include <Metal/Metal.hpp>

#include "q4_K.h"

#include <qkgen/dispatch.h>

#include <cstdio>

struct engine {
    MTL::ComputeCommandEncoder *encoder;
    MTL::Library library;
    MTL::ComputePipelineState pipeline;
    const qk_code *code;
    std::string entry;
    std::map<NS::UInteger, uint32_t> values;

    MTL::Library *compiled(const qk_code *text) {
        code = text;
        return &library;
    }
    MTL::ComputePipelineState *pipeline_of(MTL::Library *, const char *name, MTL::FunctionConstantValues *constants) {
        entry = name;
        values = constants->values;
        return &pipeline;
    }
};

#include "backend.inc"

static int failures;
#define CHECK(x) ((x) ? (void)0 : (void)(++failures, std::fprintf(stderr, "line %d: %s\n", __LINE__, #x)))

// Launches, and compares with what was noted.
static qk_status compare(void *context, const qk_launch *l, qk_error *error) {
    engine &e = *static_cast<engine *>(context);
    const qk_kernel &k = *l->kernel;
    MTL::ComputeCommandEncoder encoder;
    e.encoder = &encoder;
    CHECK(launch(context, l, error) == QK_OK);
    CHECK(e.code == k.code && e.entry == k.entry && encoder.state == &e.pipeline);
    CHECK(encoder.buffers.size() == k.binding_count && e.values.size() == k.spec_constant_count);
    for (uint32_t i = 0; i < k.binding_count; ++i) {
        const auto &bound = encoder.buffers[k.bindings[i].index];
        CHECK(bound.first == l->ranges[i].buffer && bound.second == l->ranges[i].offset);
    }
    for (uint32_t i = 0; i < k.spec_constant_count; ++i)
        CHECK(e.values[k.spec_constants[i].id] == (l->constants ? l->constants[i] : k.spec_constants[i].value));
    const auto &push = encoder.bytes[k.binding_count];
    CHECK(encoder.bytes.size() == 1 && push.size() == k.push_bytes && !std::memcmp(push.data(), l->push, push.size()));
    const std::vector<NS::UInteger> grid = {l->workgroups, 1, 1, k.workgroup_size, 1, 1};
    CHECK(encoder.grid == grid && MTL::FunctionConstantValues::alive == 0);
    std::printf("%s: %u workgroups\n", k.name, l->workgroups);
    return QK_OK;
}

int main() {
    MTL::Buffer buffers[4];
    engine e = {};
    qk_backend backend = {};
    backend.context = &e;
    backend.api = QK_API_METAL;
    backend.limits.storage_range = UINT64_C(1) << 32;
    backend.limits.offset_alignment = 16;
    backend.limits.workgroup_count = 65535;
    backend.limits.workgroup_size = 1024;
    backend.limits.push_bytes = 4096;
    backend.limits.features = ~0u;
    backend.limits.subgroup_size = 32;
    backend.launch = compare;
    const auto range = [&](int i, uint64_t offset, uint64_t bytes) { return qk_range{&buffers[i], offset, bytes}; };
    const qk_range weights = range(0, 288, 64 * 4 * 144 + QK_PADDING);
    qk_error error;
    CHECK(qk_dispatch_gemv(&backend, &qk_q4_K_gemv_f32_metal, &weights, range(1, 4096, 3 * 4096), range(2, 16, 3 * 256),
                           64, 1024, 3, &error) == QK_OK);
    CHECK(qk_dispatch_dequant(&backend, &qk_q4_K_dequant_f32_metal, &weights, range(1, 0, 4096 * 4), 4096, &error) ==
          QK_OK);
    return failures != 0;
}
