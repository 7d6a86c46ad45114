/* qkgen/launcher.hpp: what a C++ engine keeps for its launches: pipelines, by module and constants; tables; what products came to; and
 * kernels, by name. Header only, over qkgen/tensors.h and qkgen/registry.h; C++11. Locks for itself. A kernel's words and tables stay
 * where they are meanwhile. */
#ifndef QKGEN_LAUNCHER_HPP
#define QKGEN_LAUNCHER_HPP

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "registry.h"
#include "tensors.h"

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

    /* What Engine::record is given. */
    struct step {
        Pipeline pipeline;
        qk_launch launch;
        std::vector<qk_range> ranges;
        std::vector<unsigned char> push;
    };
    using words = std::vector<uint64_t>;
    /* The first words of a product say where its tensors are. */
    struct hash {
        size_t operator()(const words &key) const {
            uint64_t sum = 0;
            for (size_t i = 0; i < hashed; i++)
                sum = (sum ^ (sum >> 29) ^ key[i]) * UINT64_C(0x9e3779b97f4a7c15);
            return (size_t)(sum ^ (sum >> 32));
        }
    };
    enum { hashed = 11, most_kept = 16384 };
    std::unordered_map<words, std::vector<step>, hash> kept;
    words product; // at hand, as `key`

    template <class Engine>
    qk_status prepare(Engine &engine, const qk_launch &launch, qk_range *ranges, step &to, qk_error *error) {
        const qk_kernel &kernel = *launch.kernel;
        const uint32_t buffers = kernel.binding_count + kernel.table_count;
        if (buffers > (uint32_t)Engine::most_buffers)
            return qk_fail(error, QK_ERROR_LIMIT, "%s: it has %u buffers, must be at most %u", kernel.name, buffers,
                           (unsigned)Engine::most_buffers);
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
        to.pipeline = found->second;
        to.launch = launch;
        return QK_OK;
    }

    void add(const qk_range &range) {
        product.insert(product.end(), {(uint64_t)(uintptr_t)range.buffer, range.offset, range.size});
    }

    /* All that launches of a product depend on. */
    void set_product(const qk_product &p, uint64_t types) {
        const qk_tensor *const tensors[] = {&p.weights, &p.x, &p.y, &p.ids};
        product.clear();
        product.push_back(types);
        for (const qk_tensor *t : tensors)
            add(t->range);
        for (const qk_tensor *t : tensors) {
            product.insert(product.end(), t->counts, t->counts + 4);
            product.insert(product.end(), t->steps, t->steps + 4);
            product.push_back(t->bytes);
        }
        add(p.status);
        if (p.epilogue == nullptr)
            return;
        product.push_back(p.epilogue->adds);
        product.push_back((uint64_t)p.epilogue->scale_per);
#define QK_EPILOGUE_WORDS_(bit, NAME, field, binding, many, meaning)                                                   \
    add(p.epilogue->field != nullptr ? *p.epilogue->field : qk_range());
        QK_EPILOGUES(QK_EPILOGUE_WORDS_)
#undef QK_EPILOGUE_WORDS_
    }

    /* A backend that records launches, and keeps them. */
    template <class Engine> struct keeper {
        Engine &engine;
        launcher &from;
        std::vector<step> &steps;
        bool waits;

        static qk_status launch(void *context, const qk_launch *launch, qk_error *error) {
            keeper &k = *static_cast<keeper *>(context);
            qk_range ranges[Engine::most_buffers];
            step made = step();
            const qk_status status = k.from.prepare(k.engine, *launch, ranges, made, error);
            if (status != QK_OK)
                return status;
            const unsigned char *push = static_cast<const unsigned char *>(launch->push);
            made.ranges.assign(ranges, ranges + launch->kernel->binding_count + launch->kernel->table_count);
            made.push.assign(push, push + launch->kernel->push_bytes);
            made.launch.ranges = nullptr;
            made.launch.constants = nullptr;
            k.steps.push_back(std::move(made));
            k.engine.record(k.steps.back().pipeline, *launch, ranges, (uint32_t)k.steps.back().ranges.size());
            return QK_OK;
        }

        static qk_status barrier(void *context, qk_error *) {
            keeper &k = *static_cast<keeper *>(context);
            k.waits = true;
            k.engine.barrier();
            return QK_OK;
        }
    };

  public:
    template <class Engine> qk_status launch(Engine &engine, const qk_launch &launch, qk_error *error) {
        const std::lock_guard<std::mutex> lock(mutex);
        qk_range ranges[Engine::most_buffers];
        step made = step();
        const qk_status status = prepare(engine, launch, ranges, made, error);
        if (status == QK_OK)
            engine.record(made.pipeline, launch, ranges, launch.kernel->binding_count + launch.kernel->table_count);
        return status;
    }

    /* Models multiply the same tensors for each token. Records a product that dispatch_product launched before, with all that `p` says
     * before it is planned, and the same `types`: a number for those of weights and x. Engine::record is called with launches that have
     * no ranges and no constants. The kernel; NULL: it is not known. */
    template <class Engine> const qk_kernel *repeat_product(Engine &engine, const qk_product &p, uint64_t types) {
        const std::lock_guard<std::mutex> lock(mutex);
        set_product(p, types);
        const auto found = kept.find(product);
        if (found == kept.end())
            return nullptr;
        for (const step &s : found->second)
            engine.record(s.pipeline, s.launch, s.ranges.data(), (uint32_t)s.ranges.size());
        return found->second[0].launch.kernel;
    }

    /* qk_dispatch_product of what was planned. It is known from then on, unless it takes memory of the engine, scratch or a copy, or has
     * launches that wait for others. */
    template <class Engine>
    qk_status dispatch_product(Engine &engine, const qk_limits &limits, const qk_product &p, uint64_t types,
                               qk_error *error) {
        const std::lock_guard<std::mutex> lock(mutex);
        std::vector<step> steps;
        keeper<Engine> to = {engine, *this, steps, false};
        qk_backend backend = qk_backend();
        backend.context = &to;
        backend.api = QK_API_VULKAN;
        backend.limits = limits;
        backend.launch = keeper<Engine>::launch;
        backend.barrier = keeper<Engine>::barrier;
        const qk_status status = qk_dispatch_product(&backend, &p, error);
        if (status != QK_OK || p.scratch_bytes != 0 || p.copy_bytes != 0 || to.waits || steps.empty())
            return status;
        for (step &s : steps)
            s.launch.push = s.push.data();
        set_product(p, types);
        if (kept.size() >= most_kept)
            kept.clear();
        kept[product] = std::move(steps);
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
