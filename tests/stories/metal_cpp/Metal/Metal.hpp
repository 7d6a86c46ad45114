// What docs/engines.md calls of metal-cpp, with metal-cpp's names and parameters, on a machine without Metal: it notes the calls.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace NS {
using UInteger = std::uintptr_t;
}

namespace MTL {
enum DataType : NS::UInteger { DataTypeUInt = 33 };

struct Size {
    NS::UInteger width, height, depth;
    Size(NS::UInteger w, NS::UInteger h, NS::UInteger d) : width(w), height(h), depth(d) {}
};

class Buffer {};

class FunctionConstantValues {
  public:
    std::map<NS::UInteger, uint32_t> values;
    static int alive;
    static FunctionConstantValues *alloc() {
        ++alive;
        return new FunctionConstantValues;
    }
    FunctionConstantValues *init() { return this; }
    void setConstantValue(const void *value, DataType type, NS::UInteger index) {
        if (type == DataTypeUInt) std::memcpy(&values[index], value, sizeof(uint32_t));
    }
    void release() {
        --alive;
        delete this;
    }
};
inline int FunctionConstantValues::alive = 0;

class Library {};
class ComputePipelineState {};

class ComputeCommandEncoder {
  public:
    const ComputePipelineState *state = nullptr;
    std::map<NS::UInteger, std::pair<const Buffer *, NS::UInteger>> buffers;
    std::map<NS::UInteger, std::vector<unsigned char>> bytes;
    std::vector<NS::UInteger> grid; // of the last dispatch, which needs a pipeline

    void setComputePipelineState(const ComputePipelineState *pipeline) { state = pipeline; }
    void setBuffer(const Buffer *buffer, NS::UInteger offset, NS::UInteger index) { buffers[index] = {buffer, offset}; }
    void setBytes(const void *from, NS::UInteger length, NS::UInteger index) {
        const unsigned char *begin = static_cast<const unsigned char *>(from);
        bytes[index].assign(begin, begin + length);
    }
    void dispatchThreadgroups(Size groups, Size threads) {
        if (state) grid = {groups.width, groups.height, groups.depth, threads.width, threads.height, threads.depth};
    }
};
} // namespace MTL
