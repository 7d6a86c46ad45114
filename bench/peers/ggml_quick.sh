#!/usr/bin/env bash
# `bench/peers/ggml_quick.sh ggml/tests/test-backend-ops.cpp` lets ggml's program measure hundreds of cases in minutes: with
# QK_PERF_MS=50 in its environment, `test-backend-ops perf` spends 50 ms on a case. Without QK_PERF_MS it does what it did.
#
# What QK_PERF_MS changes; see README.md for why the figures mean the same:
# * Quantised weights lie in one buffer of random bytes, which is filled once and holds at least QK_POOL_MIB (1280).
# * A graph has as many nodes as take that time, at most 8192, by the time of a graph of 32; it runs until that time has passed.
# * The first case runs for QK_WARMUP_MS (0) before it is measured, each other for QK_PERF_MS: between cases clocks fall.
# * The experts of MUL_MAT_ID are drawn from all, not from the first ones alone.
set -euo pipefail

file=${1:?is the path of tests/test-backend-ops.cpp}
die() {
  echo "ggml_quick.sh: error: $1" >&2
  exit 1
}
[ -w "$file" ] || die "cannot write '$file'; name ggml's tests/test-backend-ops.cpp"
! grep -q QK_PERF_MS "$file" || die "$file is changed already"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/pool" <<'CODE'
static const int64_t qk_perf_us = getenv("QK_PERF_MS") ? atoll(getenv("QK_PERF_MS")) * 1000 : 0;
static ggml_backend_buffer_t qk_pool = nullptr;

static void qk_fill_pool(ggml_backend_buffer_type_t type, size_t size) {
    if (qk_pool) ggml_backend_buffer_free(qk_pool);
    qk_pool = ggml_backend_buft_alloc_buffer(type, size);
    GGML_ASSERT(qk_pool);
    ggml_context_ptr own(ggml_init({ 2 * ggml_tensor_overhead(), nullptr, true }));
    ggml_tensor * all = ggml_new_tensor_1d(own.get(), GGML_TYPE_I8, size);
    GGML_ASSERT(ggml_backend_tensor_alloc(qk_pool, all, ggml_backend_buffer_get_base(qk_pool)) == GGML_STATUS_SUCCESS);
    std::mt19937_64 random;
    std::vector<uint64_t> words(8 << 20);
    for (size_t at = 0; at < size; at += words.size() * 8) {
        for (uint64_t & word : words) word = random();
        ggml_backend_tensor_set(all, words.data(), at, std::min(words.size() * 8, size - at));
    }
}

// The first quantised matrix of a case: the weights.
static void qk_place_in_pool(ggml_backend_t backend, ggml_context * ctx) {
    for (ggml_tensor * t = ggml_get_first_tensor(ctx); t; t = ggml_get_next_tensor(ctx, t)) {
        if (!ggml_is_quantized(t->type) || t->data || t->view_src) continue;
        ggml_backend_buffer_type_t type = ggml_backend_get_default_buffer_type(backend);
        const size_t least = (getenv("QK_POOL_MIB") ? atoll(getenv("QK_POOL_MIB")) : 1280) * 1048576ull;
        const size_t need = ggml_backend_buft_get_alloc_size(type, t);
        if (!qk_pool || ggml_backend_buffer_get_size(qk_pool) < need) qk_fill_pool(type, std::max(least, need));
        GGML_ASSERT(ggml_backend_tensor_alloc(qk_pool, t, ggml_backend_buffer_get_base(qk_pool)) == GGML_STATUS_SUCCESS);
        return;
    }
}

CODE
cat >"$work/probe" <<'CODE'
        int qk_have = 1;
        if (qk_perf_us) {
            static int64_t warm_us = getenv("QK_WARMUP_MS") ? atoll(getenv("QK_WARMUP_MS")) * 1000 : 0;
            const int probe = is_cpu ? 2 : 32;
            for (; qk_have < probe; qk_have++) ggml_graph_add_node(gf, out);
            int64_t time_us = 0;
            for (int64_t spent = 0; time_us == 0 || spent < warm_us; spent += time_us) {
                const int64_t start = ggml_time_us();
                GGML_ASSERT(ggml_backend_graph_compute(backend, gf) == GGML_STATUS_SUCCESS);
                time_us = std::max<int64_t>(1, ggml_time_us() - start);
            }
            warm_us = qk_perf_us;
            n_runs = (int) std::min<int64_t>(graph_nodes, std::max<int64_t>(probe, qk_perf_us * probe / time_us));
        }

CODE
sed -e "/^static void init_tensor_uniform(/{
a\\
    if (qk_pool \&\& tensor->buffer == qk_pool) return;
e cat $work/pool
}" -e "/bool eval_perf(/,/bool eval_support(/{
/ggml_backend_alloc_ctx_tensors(ctx.get(), backend)/i\\
        if (qk_perf_us) qk_place_in_pool(backend, ctx.get());
/\\/\\/ duplicate the op/e cat $work/probe
s/for (int i = 1; i < n_runs; i++)/for (int i = qk_have; i < n_runs; i++)/
s/while (total_time_us < 1000\\*1000)/while (total_time_us < (qk_perf_us ? qk_perf_us : 1000*1000))/
}" -e '/op == GGML_OP_MUL_MAT_ID || op == GGML_OP_ADD_ID) {/,/std::shuffle/{
s/data(t->ne\[0\])/data(qk_perf_us ? n_expert : t->ne[0])/
s/i < t->ne\[0\]/i < (int32_t) data.size()/
}' "$file" >"$work/changed"
for part in 'tensor->buffer == qk_pool' 'qk_fill_pool(type' 'qk_place_in_pool(backend, ctx.get())' 'int i = qk_have' \
  'qk_perf_us * probe' '(qk_perf_us ? qk_perf_us' 'data(qk_perf_us ? n_expert' 'i < (int32_t) data.size()'; do
  [ "$(grep -cF "$part" "$work/changed")" -eq 1 ] ||
    die "$file has not the lines that were to be changed ('$part'); it was written for ggml d99724f2"
done
cat "$work/changed" >"$file"
