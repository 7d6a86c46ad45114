/* qkgen/launcher.hpp: what a C++ engine keeps for its launches: pipelines, by module and constants; tables; and what products came to.
 * Header only, over qkgen/pipelines.h; C++11. Locks for itself. A kernel's words and tables stay where they are meanwhile. */
#ifndef QKGEN_LAUNCHER_HPP
#define QKGEN_LAUNCHER_HPP

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstring>
#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "matrix_order.h"
#include "pipelines.h"

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
 *     void record(Pipeline &pipeline, const qk_launch &launch, const qk_range *ranges, uint32_t buffers);
 *                                                                   `ranges` by the numbers of bindings, from 0 on
 *     void barrier();
 *     void before_scratch();                                        a barrier, where launches may still read what products keep in scratch
 */
template <class Pipeline, class Table> class launcher {
    std::mutex mutex;
    using pipeline_key = std::pair<const void *, std::vector<uint32_t>>;
    std::map<pipeline_key, Pipeline> pipelines;
    pipeline_key key; // of the launch at hand: a member, so that its memory is kept
    std::map<const uint32_t *, Table> tables;
    Table spare = Table();

    /* What Engine::record is given. */
    struct step {
        Pipeline pipeline;
        qk_launch launch;
        std::vector<qk_range> ranges;
        std::vector<unsigned char> push;
        bool waits; // for launches before
    };
    static bool same(const qk_range &a, const qk_range &b) {
        return a.buffer == b.buffer && a.offset == b.offset && a.size == b.size;
    }

    /* Of a product: what it launches where operands of x are to be made first, and where scratch has them. */
    struct recording {
        std::vector<step> steps[2];
        const qk_kernel *kernel;
        qk_range scratch;
        uint64_t scratch_bytes; // 0: none

        bool has_place(const qk_product &p) const {
            return scratch_bytes == 0 || same(scratch, p.scratch);
        }
    };
    /* Three words for each range; and for each tensor its counts, its steps and the bytes of an element. */
    enum {
        words_of_tensors = 4 * (3 + 4 + 4 + 1),
        words_of_parts = 3 * QK_MOST_PARTS,
        words_of_epilogue = 2 + 3 * (QK_RESULT_BINDINGS_ - 1),
        words_of_others = 10, /* the types, the status, shares, gated and adds_slots, epsilon and norm */
        most_words = words_of_tensors + words_of_parts + words_of_epilogue + words_of_others
    };
    enum { hashed = 11, most_kept = 16384 };
    /* What a product is known by. It is written and compared for each launch, so there is no memory to ask for. */
    struct words {
        uint64_t at[most_words];
        size_t count;

        void add(uint64_t word) {
            assert(count < most_words);
            at[count++] = word;
        }
        void add(const uint64_t *from, size_t n) {
            assert(count + n <= most_words);
            std::copy(from, from + n, at + count);
            count += n;
        }
        bool operator==(const words &other) const {
            return count == other.count && std::memcmp(at, other.at, count * sizeof at[0]) == 0;
        }
    };
    /* The first words of a product say where its tensors are. */
    struct hash {
        size_t operator()(const words &key) const {
            uint64_t sum = 0;
            for (size_t i = 0; i < hashed; i++)
                sum = (sum ^ (sum >> 29) ^ key.at[i]) * UINT64_C(0x9e3779b97f4a7c15);
            return (size_t)(sum ^ (sum >> 32));
        }
    };
    std::unordered_map<words, recording, hash> kept;
    words product; // at hand

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
            values[c.id] = c.id == QK_CONSTANT_ROUNDS_F16 ? rounds_f16
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

    template <class Engine> qk_range spare_word(Engine &engine) {
        static const uint32_t zeros[64] = {0};
        if (spare == Table())
            spare = engine.make_table(zeros, sizeof zeros);
        return engine.range_of(spare);
    }

    void add(const qk_range &range) {
        product.add((uint64_t)(uintptr_t)range.buffer);
        product.add(range.offset);
        product.add(range.size);
    }

    /* All that launches of a product depend on. */
    void set_product(const qk_product &p) {
        const qk_tensor *const tensors[] = {&p.weights, &p.x, &p.y, &p.ids};
        product.count = 0;
        product.add(p.types);
        for (const qk_tensor *t : tensors)
            add(t->range);
        for (const qk_tensor *t : tensors) {
            product.add(t->counts, 4);
            product.add(t->steps, 4);
            product.add(t->bytes);
        }
        add(p.status);
        for (const qk_part &part : p.parts) {
            product.add(part.products);
            product.add(part.weights);
            product.add(part.y);
        }
        product.add((uint64_t)p.shares);
        product.add(p.gated | p.adds_slots << 8);
        product.add(qk_bits_of_(p.epsilon));
        add(p.norm);
        if (p.epilogue == nullptr)
            return;
        product.add(p.epilogue->adds);
        product.add((uint64_t)p.epilogue->scale_per);
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
            made.waits = k.waits;
            k.waits = false;
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

    qk_matrix_question question; // pipelines of its kernel may stay
    Table numbers = Table();     // that it reads

  public:
    /* The engine sets these before it launches anything. */
    qk_limits limits = qk_limits();
    bool rounds_f16 = false; // the value of QK_CONSTANT_ROUNDS_F16

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
     * before it is planned, in the memory p.scratch. `p.kernel` is the one for which it holds operands of this x; NULL: of no x. Sets
     * `kernel`, `scratch_bytes` and `packed`. Engine::record is called with launches that have no ranges and no constants. Whether it is
     * known. */
    template <class Engine> bool repeat_product(Engine &engine, qk_product &p) {
        const std::lock_guard<std::mutex> lock(mutex);
        set_product(p);
        const auto found = kept.find(product);
        if (found == kept.end() || !found->second.has_place(p))
            return false;
        recording &r = found->second;
        const bool uses = r.scratch_bytes != 0, packed = uses && p.kernel == r.kernel;
        if (r.steps[packed].empty())
            return false;
        p.kernel = r.kernel;
        p.scratch_bytes = r.scratch_bytes;
        p.packed = packed;
        if (uses && !packed)
            engine.before_scratch();
        for (step &s : r.steps[packed]) {
            if (s.waits)
                engine.barrier();
            engine.record(s.pipeline, s.launch, s.ranges.data(), (uint32_t)s.ranges.size());
        }
        return true;
    }

    /* qk_plan_product of kernels that are exact enough (qkgen/routing.hpp). Many tokens of experts that no kernel
     * makes tiles of, as where rows are no whole tiles, are for gemv_id, which loads an expert again for each of
     * them. With `tiles_alone` they are refused: an engine that has kernels of its own has faster ones. */
    template <class Engine>
    qk_status plan_product(Engine &engine, const std::vector<const qk_kernel *> &kernels, bool tiles_alone,
                           qk_product &p, qk_error *error) {
        const qk_backend backend = backend_of(engine);
        const qk_status status =
            qk_plan_product(&backend, kernels.data(), (uint32_t)kernels.size(), INFINITY, &p, error);
        if (status != QK_OK || !tiles_alone || p.ids.bytes == 0 || p.kernel->operand_tile != 0)
            return status;
        const uint64_t most = qk_product_max_tokens_(kernels.data(), (uint32_t)kernels.size(), &p);
        if (p.y.counts[2] > most)
            return qk_fail(error, QK_ERROR_UNSUPPORTED,
                           "%s: more than %" PRIu64 " tokens, and no kernel makes tiles of them", p.kernel->name, most);
        return status;
    }

    /* qk_dispatch_product of what was planned. It is known from then on, unless x was copied first. */
    template <class Engine> qk_status dispatch_product(Engine &engine, const qk_product &p, qk_error *error) {
        const std::lock_guard<std::mutex> lock(mutex);
        std::vector<step> steps;
        keeper<Engine> to = {engine, *this, steps, false};
        const qk_backend backend = {&to,     QK_API_VULKAN,     limits, keeper<Engine>::launch, keeper<Engine>::barrier,
                                    nullptr, spare_word(engine)};
        const bool uses = p.scratch_bytes != 0, packed = uses && p.packed != 0;
        if (uses && !packed)
            engine.before_scratch();
        const qk_status status = qk_dispatch_product(&backend, &p, error);
        if (status != QK_OK || p.copy_bytes != 0 || to.waits || steps.empty())
            return status;
        for (step &s : steps)
            s.launch.push = s.push.data();
        set_product(p);
        if (kept.size() >= most_kept)
            kept.clear();
        recording &r = kept[product];
        if (r.kernel != p.kernel || !r.has_place(p))
            r = recording{{}, p.kernel, p.scratch, p.scratch_bytes};
        r.steps[packed] = std::move(steps);
        return QK_OK;
    }

    /* Repeats a product that is known; else plans it with what `kernels()` is, and launches it. `p.kernel` as of repeat_product; for
     * `tiles_alone` see plan_product. The Engine has, beside what is said above,
     *
     *     qk_range scratch(uint64_t bytes);      memory for what is made of x, of so many bytes at least; what it held is lost where it has
     *                                            to be another
     *     bool copy_x(const qk_product &p);      copies x to its beginning, vector after vector; whether it can */
    template <class Engine, class Kernels>
    qk_status multiply(Engine &engine, Kernels kernels, bool tiles_alone, qk_product &p, qk_error *error) {
        const qk_kernel *const held = p.kernel;
        const qk_range before = p.scratch = engine.scratch(0);
        if (repeat_product(engine, p))
            return QK_OK;
        const qk_status status = plan_product(engine, kernels(), tiles_alone, p, error);
        if (status != QK_OK)
            return status;
        if (p.copy_bytes + p.scratch_bytes != 0) {
            const qk_range memory = engine.scratch(p.copy_bytes + p.scratch_bytes);
            p.packed = p.copy_bytes == 0 && held == p.kernel && same(memory, before);
            qk_product_place(&p, memory);
        }
        if (p.copy_bytes != 0 && !engine.copy_x(p))
            return qk_fail(error, QK_ERROR_UNSUPPORTED, "x begins where nothing can be copied");
        return dispatch_product(engine, p, error);
    }

    /* Makes the pipelines of a list (qkgen/pipelines.h) that are not there yet; nothing is recorded. */
    template <class Engine> qk_status warm_up(Engine &engine, const qk_pipeline_list &list, qk_error *error) {
        const std::lock_guard<std::mutex> lock(mutex);
        const qk_range nowhere[QK_MAX_BINDINGS] = {};
        qk_range ranges[Engine::most_buffers];
        qk_status status = QK_OK;
        for (uint32_t i = 0; status == QK_OK && i < list.count; i++) {
            const qk_launch launch = {list.items[i].kernel, nowhere, nullptr, 1, list.items[i].constants};
            step made = step();
            status = prepare(engine, launch, ranges, made, error);
        }
        return status;
    }

    /* A backend that records into `engine`, whose member `launcher` is this; both stay as long as it is used. */
    template <class Engine> qk_backend backend_of(Engine &engine) {
        const std::lock_guard<std::mutex> lock(mutex);
        return {&engine,
                QK_API_VULKAN,
                limits,
                [](void *context, const qk_launch *launch, qk_error *error) {
                    Engine &to = *static_cast<Engine *>(context);
                    return to.launcher.launch(to, *launch, error);
                },
                [](void *context, qk_error *) {
                    static_cast<Engine *>(context)->barrier();
                    return QK_OK;
                },
                nullptr,
                spare_word(engine)};
    }

    /* Whether a device's matrix units have a shape that kernels take: then `limits` have it. `offers(&count, shapes)` fills in at most
     * `count` of VkCooperativeMatrixPropertiesKHR, says how many they are, and whether that went well. */
    template <class Offers> bool find_matrices(Offers offers) {
        qk_matrix_offer shapes[64] = {};
        uint32_t count = 64;
        for (qk_matrix_offer &shape : shapes)
            shape.type = QK_MATRIX_OFFER_TYPE;
        return offers(&count, static_cast<void *>(shapes)) &&
               qk_matrix_take_shape(shapes, count, limits.subgroup_size, &limits);
    }

    /* Records the small kernel of qkgen/matrix_order.h. When it is done, the first QK_MATRIX_TO_FLOATS of the memory that is returned
     * are what qk_matrix_read_order reads. */
    template <class Engine> Table ask_matrices(Engine &engine) {
        qk_matrix_ask(&question, &limits);
        const std::vector<uint32_t> zeros(QK_MATRIX_TO_FLOATS);
        const Table from = engine.make_table(question.from, sizeof question.from);
        const Table to = engine.make_table(zeros.data(), QK_MATRIX_TO_FLOATS * sizeof(float));
        const qk_range ranges[] = {engine.range_of(from), engine.range_of(to)};
        numbers = from;
        launch(engine, {&question.kernel, ranges, nullptr, 1, nullptr}, nullptr);
        return to;
    }
};

/* A tensor of counts and steps in whatever integers an engine has, from where `range` begins to the last of its elements, of which `block`
 * are in `bytes`; 0: to the end of `range`. */
template <class Count, class Step>
qk_tensor tensor_of(const qk_range &range, const Count *counts, const Step *steps, uint32_t bytes, uint64_t block = 0) {
    qk_tensor t = {range, {}, {}, bytes};
    std::copy(counts, counts + 4, t.counts);
    std::copy(steps, steps + 4, t.steps);
    if (block != 0) {
        t.range.size = bytes + ((block == 1 ? t.counts[0] : t.counts[0] / block) - 1) * t.steps[0];
        for (int d = 1; d < 4; d++)
            t.range.size += (t.counts[d] - 1) * t.steps[d];
    }
    return t;
}

} // namespace qkgen

#endif
