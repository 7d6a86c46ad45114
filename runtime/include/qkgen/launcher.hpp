/* qkgen/launcher.hpp: what a C++ engine keeps for its launches: pipelines, by module and constants; tables; and kernels, by name. Header
 * only, over qkgen/kernel.h and qkgen/registry.h; C++11. Locks for itself. A kernel's words and tables stay where they are meanwhile. */
#ifndef QKGEN_LAUNCHER_HPP
#define QKGEN_LAUNCHER_HPP

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "dispatch_check.h"
#include "registry.h"

namespace qkgen {

/* Of one device. `Pipeline` and `Table` are the engine's, and begin as nothing: Pipeline(), Table().
 *
 * An Engine records launches into a command buffer of its own. It has
 *
 *     enum { most_buffers = N };                                    that a pipeline binds; more are QK_ERROR_LIMIT
 *     Pipeline make_pipeline(const qk_launch &launch, const qk_code &code, const std::vector<uint32_t> &values, uint32_t buffers);
 *                                                                   `values` by the ids of constants, from 0 on
 *     Table make_table(const uint32_t *words, uint32_t bytes);      a buffer that is filled
 *     qk_range range_of(const Table &table);
 *     bool rounds_f16();                                            the value of QK_CONSTANT_ROUNDS_F16
 *     void record(const Pipeline &pipeline, const qk_launch &launch, const qk_range *ranges, uint32_t buffers);
 *                                                                   `ranges` by the numbers of bindings, from 0 on
 *     void barrier();
 */
template <class Pipeline, class Table> class launcher {
    std::mutex mutex;
    using pipeline_key = std::pair<const void *, std::vector<uint32_t>>;
    std::map<pipeline_key, Pipeline> pipelines;
    pipeline_key key; // of the launch at hand: a member, so that its memory is kept
    std::map<const uint32_t *, Table> tables;

  public:
    template <class Engine> qk_status launch(Engine &engine, const qk_launch &launch, qk_error *error) {
        const qk_kernel &kernel = *launch.kernel;
        const uint32_t buffers = kernel.binding_count + kernel.table_count;
        if (buffers > (uint32_t)Engine::most_buffers)
            return qk_fail(error, QK_ERROR_LIMIT, "%s: it has %u buffers, must be at most %u", kernel.name, buffers,
                           (unsigned)Engine::most_buffers);
        const std::lock_guard<std::mutex> lock(mutex);
        qk_range ranges[Engine::most_buffers];
        for (uint32_t i = 0; i < kernel.binding_count; i++)
            ranges[kernel.bindings[i].index] = launch.ranges[i];
        for (uint32_t i = 0; i < kernel.table_count; i++) {
            const qk_table &from = kernel.tables[i];
            Table &table = tables[from.words];
            if (table == Table())
                table = engine.make_table(from.words, from.bytes);
            ranges[from.index] = engine.range_of(table);
        }
        std::vector<uint32_t> &values = key.second;
        values.clear();
        for (uint32_t i = 0; i < kernel.spec_constant_count; i++) {
            const qk_spec_constant &c = kernel.spec_constants[i];
            if (values.size() <= c.id)
                values.resize(c.id + 1);
            values[c.id] = c.id == QK_CONSTANT_ROUNDS_F16 ? engine.rounds_f16()
                           : launch.constants != nullptr  ? launch.constants[i]
                                                          : c.value;
        }
        const qk_code *code = qk_code_of(&kernel, launch.constants);
        key.first = code->data;
        auto found = pipelines.find(key);
        if (found == pipelines.end())
            found = pipelines.emplace(key, engine.make_pipeline(launch, *code, values, buffers)).first;
        engine.record(found->second, launch, ranges, buffers);
        return QK_OK;
    }
};

/* A backend that records into `engine`, which has a `launcher` as a member of that name; both stay as long as it is used. */
template <class Engine> qk_backend backend_of(Engine &engine, const qk_limits &limits) {
    qk_backend backend = qk_backend();
    backend.context = &engine;
    backend.api = QK_API_VULKAN;
    backend.limits = limits;
    backend.launch = [](void *context, const qk_launch *launch, qk_error *error) {
        Engine &to = *static_cast<Engine *>(context);
        return to.launcher.launch(to, *launch, error);
    };
    backend.barrier = [](void *context, qk_error *) {
        static_cast<Engine *>(context)->barrier();
        return QK_OK;
    };
    return backend;
}

/* Kernels by name, each looked for once. */
class kernel_index {
    const qk_kernel_set *const *sets;
    size_t count;
    int most;
    std::mutex mutex;
    std::map<std::tuple<std::string, std::string, std::string>, std::vector<const qk_kernel *>> known;

  public:
    /* Of the sets, those whose class is at most `inexact`. */
    kernel_index(const qk_kernel_set *const *all, size_t n, qk_numeric_class inexact)
        : sets(all), count(n), most(inexact) {
    }

    /* Those of `families`, with commas, in all classes, as qk_choose and qk_plan_product take them. */
    const std::vector<const qk_kernel *> &find(const std::string &families, const char *format, const char *type) {
        const std::lock_guard<std::mutex> lock(mutex);
        const auto at = known.insert({std::make_tuple(families, std::string(format), std::string(type)), {}});
        for (size_t from = 0, to; at.second && from < families.size(); from = to + 1) {
            const qk_kernel *some[16];
            to = std::min(families.find(',', from), families.size());
            const std::string family = families.substr(from, to - from);
            const size_t n = qk_find_classes(sets, count, QK_API_VULKAN, format, family.c_str(), type, some, 16);
            for (size_t i = 0; i < n; i++)
                if ((int)some[i]->numeric <= most)
                    at.first->second.push_back(some[i]);
        }
        return at.first->second;
    }
};

} // namespace qkgen

#endif
