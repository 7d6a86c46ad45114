// The glue of integrations/ggml without ggml: what it records for nodes of a graph, and which it leaves to ggml.
#include "stub.h"

#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

#include "ggml-vulkan-qkgen.cpp"

static int failures;
static ggml_backend_vk_context ctx;
static vk_context subctx = std::make_shared<vk_context_struct>();

#define CHECK(x) do { if (!(x)) { failures++; fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #x); show(); } } while (0)

static void show() {
    for (const noted & n : notes) {
        fprintf(stderr, "  %s", n.what.c_str());
        for (const auto & b : n.buffers) fprintf(stderr, " %llu+%llu", (unsigned long long) b.offset, (unsigned long long) b.range);
        fprintf(stderr, "\n");
    }
}

static ggml_tensor tensor(ggml_type type, uint64_t at, int64_t a, int64_t b = 1, int64_t c = 1) {
    ggml_tensor t {};
    t.type = type;
    t.buffer = ggml_vk_all_tensors();
    t.at = at;
    const int64_t ne[] = { a, b, c, 1 };
    for (int i = 0; i < 4; i++) {
        t.ne[i] = ne[i];
        t.nb[i] = i == 0 ? ggml_type_size(type) : i == 1 ? ggml_row_size(type, a) : t.nb[i - 1] * (size_t) ne[i - 1];
    }
    return t;
}

static ggml_tensor op(ggml_op what, uint64_t at, ggml_tensor * a, ggml_tensor * b, int64_t rows, int64_t n, int64_t m = 1) {
    ggml_tensor t = tensor(GGML_TYPE_F32, at, rows, n, m);
    t.op = what;
    t.src[0] = a;
    t.src[1] = b;
    return t;
}

static void forget() {
    ctx.qk.reset();
    ctx.device->qk.reset();
}

static size_t launches(const char * name) {
    return (size_t) std::count_if(notes.begin(), notes.end(), [&](const noted & n) { return n.what == name; });
}

static int prepare(const ggml_cgraph * graph, int at = 0) {
    ctx.num_additional_fused_ops = 0;
    ctx.fused_ops_write_mask = 1;
    ggml_vk_qk_prepare(&ctx, graph, at);
    return ctx.num_additional_fused_ops;
}

static bool multiply(const ggml_cgraph * graph, int at = 0) {
    notes.clear();
    ctx.unsynced_nodes_written.clear();
    prepare(graph, at);
    return ggml_vk_qk_mul_mat(&ctx, subctx, graph, at);
}

// `second` is fused with `first`, or is a product, as `third`; the node before was done.
static bool mul_mat(ggml_tensor * first, ggml_tensor * second = nullptr, ggml_tensor * before = nullptr, ggml_tensor * third = nullptr) {
    ggml_tensor * nodes[] = { before, first, second, third };
    const int skip = before == nullptr;
    const ggml_cgraph graph = { nodes + skip, 4 - skip - (second == nullptr) - (third == nullptr) };
    return multiply(&graph, !skip);
}

// How many nodes behind the first are of its launch; all are written where they are products, else the last.
static int fuses(const ggml_cgraph * graph) {
    const int count = prepare(graph);
    const bool joins = ggml_vk_qk_multiplies(graph->nodes[count]);
    CHECK(ctx.fused_ops_write_mask == (joins ? (2 << count) - 1 : 1 << count));
    return count;
}

static bool may_fuse(ggml_tensor * first, ggml_tensor * second) {
    ggml_tensor * nodes[] = { first, second };
    const ggml_cgraph graph = { nodes, 2 };
    return fuses(&graph) == 1;
}

enum { X = 1 << 20, Y = 1 << 21, Z = 1 << 22, IDS = 1 << 23, OTHER = 1 << 24 };

static void test_gemv() {
    ggml_tensor w = tensor(GGML_TYPE_Q4_0, 0, 256, 64), x = tensor(GGML_TYPE_F32, X, 256, 3), y = op(GGML_OP_MUL_MAT, Y, &w, &x, 64, 3);
    CHECK(mul_mat(&y) && launches("qkgen_q4_0_gemv_f32") == 1 && notes.size() == 1);
    CHECK(notes[0].buffers[0].range == 64 * 144 + QK_PADDING); // loads may pass the last block
    CHECK(notes[0].buffers[1].offset == X && notes[0].buffers[1].range == 3 * 1024);
    CHECK(notes[0].buffers[2].offset == Y && notes[0].buffers[2].range == 3 * 256);
    x.nb[1] = 2048; // every other vector
    for (const ggml_tensor * t : { &w, &x, &y }) {
        CHECK(ggml_vk_qk_tensor(&ctx, t).range.size == ggml_nbytes(t));
    }
    CHECK(mul_mat(&y) && notes.size() == 1 && notes[0].buffers[1].offset == X && notes[0].buffers[1].range == 2 * 2048 + 1024);
    x.nb[0] = 8; // every other element
    CHECK(mul_mat(&y) && notes[0].what == "copy" && launches("qkgen_q4_0_gemv_f32") == 1);
    CHECK(notes.back().buffers[1].buffer == ctx.prealloc_y->buffer && notes.back().buffers[1].range == 3 * 1024);
    x.at = X + 4; // ggml copies from where buffers can be bound
    CHECK(!mul_mat(&y) && notes.empty());
    x.at = X;
    w.nb[1] = 288;
    CHECK(!mul_mat(&y) && notes.empty());
    w.nb[1] = 144;
    x.type = GGML_TYPE_I32;
    CHECK(!mul_mat(&y) && notes.empty());
}

// Pipelines are made once for each module and its constants, which follow from how many vectors there are: three were there before.
static void test_pipelines() {
    ggml_tensor w = tensor(GGML_TYPE_Q4_0, 0, 256, 64);
    const int64_t vectors[] = { 4, 3, 8 };
    for (int64_t n : vectors) {
        ggml_tensor x = tensor(GGML_TYPE_F32, X, 256, n), y = op(GGML_OP_MUL_MAT, Y, &w, &x, 64, n);
        const size_t before = pipeline_names.size();
        CHECK(mul_mat(&y) && notes.size() == 1);
        const size_t made = pipeline_names.size();
        CHECK(made == before + (n != 3));
        CHECK(mul_mat(&y) && pipeline_names.size() == made);
    }
}

// Those that a model's shape asks for can be made before.
static void test_warm_up() {
    ggml_tensor w = tensor(GGML_TYPE_Q4_0, 0, 4096, 512), x = tensor(GGML_TYPE_F32, X, 4096, 1), y = op(GGML_OP_MUL_MAT, Y, &w, &x, 512, 1);
    vk_qk_call call = { &ctx, subctx, ggml_vk_qk_state(&ctx), nullptr };
    static qk_pipeline items[64];
    qk_pipeline_list list = { items, 64, 0 };
    const qk_backend lists = qk_listing_backend(QK_API_VULKAN, &call.launcher.limits, &list);
    const auto & kernels = ggml_vk_qk_routing().find("gemv,gemm", "q4_0", "f32");
    qk_epilogue none {};
    qk_product like {};
    like.weights = ggml_vk_qk_tensor(&ctx, &w, true);
    like.x = ggml_vk_qk_tensor(&ctx, &x);
    like.y = ggml_vk_qk_tensor(&ctx, &y);
    like.epilogue = &none;
    CHECK(qk_list_products(&lists, kernels.data(), (uint32_t) kernels.size(), INFINITY, &like, 40, nullptr) == QK_OK);
    const size_t before = pipeline_names.size();
    notes.clear();
    CHECK(list.count > 4 && call.launcher.warm_up(call, list, nullptr) == QK_OK && notes.empty());
    const size_t made = pipeline_names.size();
    CHECK(made > before && made <= before + list.count);
    for (int64_t n = 1; n <= 40; n++) {
        ggml_tensor many = tensor(GGML_TYPE_F32, X, 4096, n), z = op(GGML_OP_MUL_MAT, Y, &w, &many, 512, n);
        CHECK(mul_mat(&z) && pipeline_names.size() == made);
    }
}

// One launch; a matrix of it may begin where nothing can be bound, but with a whole row.
static void test_batch() {
    ggml_tensor w = tensor(GGML_TYPE_Q4_0, 0, 256, 64, 2), x = tensor(GGML_TYPE_F32, X, 256, 1, 4), y = op(GGML_OP_MUL_MAT, Y, &w, &x, 64, 1, 4);
    CHECK(mul_mat(&y) && notes.size() == 1 && launches("qkgen_q4_0_gemv_f32") == 1);
    CHECK(notes[0].buffers[0].range == 2 * 64 * 144 + QK_PADDING);
    CHECK(notes[0].buffers[1].range == 4 * 1024 && notes[0].buffers[2].range == 4 * 256);
    w.nb[2] += 9 * 144;
    CHECK(mul_mat(&y) && notes.size() == 1 && notes[0].buffers[0].range == (2 * 64 + 9) * 144 + QK_PADDING);
    y.at = Y + 4;
    CHECK(mul_mat(&y) && notes.size() == 1 && notes[0].buffers[2].offset == Y && notes[0].buffers[2].range == 4 * 256 + 4);
    w.nb[2] += 18;
    CHECK(!mul_mat(&y) && notes.empty());
}

static uint32_t bias_bits() {
    const qk_range some = { nullptr, 0, 0 };
    qk_epilogue biased = {};
    biased.bias = &some;
    return qk_epilogue_bits_(&biased);
}

static void test_fused() {
    ggml_tensor w = tensor(GGML_TYPE_Q4_0, 0, 256, 64), x = tensor(GGML_TYPE_F32, X, 256), y = op(GGML_OP_MUL_MAT, Y, &w, &x, 64, 1);
    ggml_tensor residual = tensor(GGML_TYPE_F32, Z, 64), sum = op(GGML_OP_ADD, Y + 4096, &residual, &y, 64, 1);
    CHECK(mul_mat(&y, &sum) && notes.size() == 1);
    CHECK(notes[0].buffers[2].offset == Y + 4096 && notes[0].buffers[4].offset == Z && notes[0].push[5] == bias_bits());
    sum.at = Z; // in place: what is added is where the sum goes
    CHECK(mul_mat(&y, &sum) && notes[0].buffers[2].offset == Z && notes[0].push[5] == QK_ADDS_TO_Y_);
    CHECK(may_fuse(&y, &sum) && ggml_vk_qk_multiplies(&y) && !ggml_vk_qk_multiplies(&sum));
    x.op = residual.op = GGML_OP_MUL; // that were computed, too
    CHECK(may_fuse(&y, &sum));
    sum.at = Z + 16; // over some of what is added
    CHECK(!may_fuse(&y, &sum));
    sum.at = X; // over x
    CHECK(!may_fuse(&y, &sum));
    w.type = GGML_TYPE_F16; // not ours
    CHECK(!ggml_vk_qk_multiplies(&y));
}

// Of many columns, too, what is behind a product has a place where its shape says so.
static void test_fused_columns() {
    ggml_tensor w = tensor(GGML_TYPE_Q4_0, 0, 256, 64);
    for (const int64_t n : { 3, 40 }) {
        ggml_tensor x = tensor(GGML_TYPE_F32, X, 256, n), y = op(GGML_OP_MUL_MAT, Y, &w, &x, 64, n);
        ggml_tensor residual = tensor(GGML_TYPE_F32, Z, 64, n), bias = tensor(GGML_TYPE_F32, OTHER, 64);
        ggml_tensor sum = op(GGML_OP_ADD, Y + 65536, &residual, &y, 64, n), vector = op(GGML_OP_ADD, Y + 65536, &y, &bias, 64, n);
        CHECK(may_fuse(&y, &sum) && mul_mat(&y, &sum));
        const noted last = notes.back();
        const auto reads = [](const noted & launch, uint64_t at) {
            const auto is = [&](const vk::DescriptorBufferInfo & b) { return b.buffer == (VkBuffer) 1 && b.offset == at; };
            return std::any_of(launch.buffers.begin(), launch.buffers.end(), is);
        };
        const vk::DescriptorBufferInfo * behind = last.buffers.data() + last.buffers.size(); // y, a scale, bias, gate, residual
        CHECK(reads(last, Z) && behind[-1].offset == Z && behind[-5].offset == Y + 65536);
        sum.at = Z; // in place
        CHECK(mul_mat(&y, &sum) && reads(notes.back(), Z) && !reads(notes.back(), Y + 65536) && !(notes.back() == last));
        CHECK(may_fuse(&y, &vector) && mul_mat(&y, &vector) && reads(notes.back(), OTHER));
        CHECK(std::count(notes.back().push.begin(), notes.back().push.end(), bias_bits()) >= 1);
        residual.nb[1] += 64; // not as results lie
        CHECK(!may_fuse(&y, &sum));
        residual = tensor(GGML_TYPE_F32, Z + 4, 64, n);
        CHECK(!may_fuse(&y, &sum));
        residual = tensor(GGML_TYPE_F16, Z, 64, n);
        CHECK(!may_fuse(&y, &sum));
        bias.ne[0] = 1; // one for all
        CHECK(!may_fuse(&y, &vector));
        ggml_tensor wide = op(GGML_OP_ADD, Y + 65536, &bias, &y, 64, 1); // results have another shape
        bias = tensor(GGML_TYPE_F32, OTHER, 64);
        CHECK(!may_fuse(&y, &wide));
    }
}

// What cannot be launched is ggml's, and then what is behind it, too: that waits for the product.
static void test_parted() {
    ggml_tensor w = tensor(GGML_TYPE_Q4_0, 0, 256, 64), x = tensor(GGML_TYPE_F32, X, 256, 40), y = op(GGML_OP_MUL_MAT, Y, &w, &x, 64, 40);
    ggml_tensor residual = tensor(GGML_TYPE_F32, Z, 64, 40), sum = op(GGML_OP_ADD, Z + 16, &residual, &y, 64, 40);
    CHECK(!mul_mat(&y, &sum) && ctx.num_additional_fused_ops == 0); // sums lie over some of what is added
    CHECK(!notes.empty() && launches("barrier") == notes.size() && ctx.unsynced_nodes_written == std::vector<const ggml_tensor *> { &y });
    sum.at = Z;
    CHECK(mul_mat(&y, &sum) && ctx.num_additional_fused_ops == 1 && ctx.unsynced_nodes_written.empty());
}

// Products of one vector and the same x are one launch, where weights are whole rows apart, and results lie behind each other.
static void test_joined() {
    ggml_tensor w = tensor(GGML_TYPE_Q4_0, 0, 256, 64), v = tensor(GGML_TYPE_Q4_0, 70 * 144, 256, 64), x = tensor(GGML_TYPE_F32, X, 256);
    ggml_tensor y = op(GGML_OP_MUL_MAT, Y, &w, &x, 64, 1), z = op(GGML_OP_MUL_MAT, Z, &v, &x, 64, 1);
    const auto joins = [&](ggml_tensor * first, ggml_tensor * second) {
        ggml_tensor * nodes[] = { first, second };
        const ggml_cgraph graph = { nodes, 1 + (second != nullptr) };
        return fuses(&graph);
    };
    CHECK(joins(&y, &z) == 1 && joins(&z, &y) == 1 && joins(&y, nullptr) == 0);
    CHECK(mul_mat(&y, &z) && notes.size() == 1 && launches("qkgen_q4_0_gemv_f32") == 1 && ctx.num_additional_fused_ops == 1);
    CHECK(notes[0].buffers[0].range == (70 + 64) * 144 + QK_PADDING && notes[0].buffers[1].range == 1024);
    CHECK(notes[0].buffers[2].offset == Y && notes[0].buffers[2].range == Z - Y + 256);
    CHECK(mul_mat(&y) && notes[0].buffers[2].range == 256); // alone it is another
    ctx.device->disable_fusion = true;
    CHECK(!joins(&y, &z));
    ctx.device->disable_fusion = false;
    v.at += 18; // no whole rows
    CHECK(!joins(&y, &z));
    v.at = 70 * 144;
    z.at = Y + 252;
    CHECK(!joins(&y, &z));
    z.at = Z;
    v.ne[1] = z.ne[0] = 3; // as many rows as do not divide the others
    CHECK(!joins(&y, &z));
    v.ne[1] = z.ne[0] = 64;
    ggml_tensor other = tensor(GGML_TYPE_F32, X + 1024, 256), sum = op(GGML_OP_ADD, Z, &x, &x, 64, 1);
    z.src[1] = &other;
    CHECK(!joins(&y, &z) && !joins(&y, &sum));
    z.src[1] = &x;
    CHECK(joins(&y, &z));
    x.ne[1] = y.ne[1] = z.ne[1] = 2; // of several vectors each is a launch
    CHECK(!joins(&y, &z));
    x.ne[1] = y.ne[1] = z.ne[1] = 1;
    x.at = X + 4; // x is copied first
    CHECK(!joins(&y, &z));
}

// As q, k and v: of other numbers of rows, in whatever order.
static void test_three_joined() {
    ggml_tensor w = tensor(GGML_TYPE_Q4_0, 200 * 144, 256, 128), v = tensor(GGML_TYPE_Q4_0, 0, 256, 64), u = tensor(GGML_TYPE_Q4_0, 144 * 100, 256, 64);
    ggml_tensor x = tensor(GGML_TYPE_F32, X, 256), y = op(GGML_OP_MUL_MAT, Z, &w, &x, 128, 1), z = op(GGML_OP_MUL_MAT, Y, &v, &x, 64, 1);
    ggml_tensor last = op(GGML_OP_MUL_MAT, Z + 4096, &u, &x, 64, 1), fourth = last;
    ggml_tensor * nodes[] = { &y, &z, &last, &fourth };
    const ggml_cgraph graph = { nodes, 4 };
    CHECK(fuses(&graph) == 2);
    CHECK(mul_mat(&y, &z, nullptr, &last) && notes.size() == 1 && launches("qkgen_q4_0_gemv_f32") == 1 && ctx.num_additional_fused_ops == 2);
    CHECK(notes[0].buffers[0].range == (200 + 128) * 144 + QK_PADDING);
    CHECK(notes[0].buffers[2].offset == Y && notes[0].buffers[2].range == Z + 4096 - Y + 256);
    const std::vector<uint32_t> push = notes[0].push;
    std::swap(z.at, last.at); // results where the other's were are another product
    CHECK(mul_mat(&y, &z, nullptr, &last) && notes[0].buffers[2].offset == Y && notes[0].push != push);
    std::swap(z.at, last.at);
    z.src[0] = &u; // and so is another matrix
    CHECK(mul_mat(&y, &z, nullptr, &last) && notes[0].buffers[0].offset == 100 * 144);
}

// So can be products of experts, of few tokens; in graphs they are not.
static void test_joined_experts() {
    ggml_tensor w = tensor(GGML_TYPE_Q4_0, 0, 256, 64, 8), v = tensor(GGML_TYPE_Q4_0, 16 * 64 * 144, 256, 64, 8), x = tensor(GGML_TYPE_F32, X, 256, 1, 3);
    ggml_tensor ids = tensor(GGML_TYPE_I32, IDS, 2, 3), others = tensor(GGML_TYPE_I32, IDS + 4096, 2, 3);
    ggml_tensor y = op(GGML_OP_MUL_MAT_ID, Y, &w, &x, 64, 2, 3), z = op(GGML_OP_MUL_MAT_ID, Z, &v, &x, 64, 2, 3);
    const auto joins = [&] {
        qk_product p = ggml_vk_qk_product(&ctx, &y), q = ggml_vk_qk_product(&ctx, &z);
        return qk_product_joins(&p, &q);
    };
    y.src[2] = z.src[2] = &ids;
    qk_product both = ggml_vk_qk_product(&ctx, &y);
    const qk_product other = ggml_vk_qk_product(&ctx, &z);
    vk_qk_call call = { &ctx, subctx, ggml_vk_qk_state(&ctx), &x };
    const auto kernels = [] { return ggml_vk_qk_routing().find("gemv_id,gemm_id", "q4_0", "f32"); };
    notes.clear();
    CHECK(joins() && qk_product_joins(&both, &other) && call.launcher.multiply(call, kernels, true, both, nullptr) == QK_OK);
    CHECK(notes.size() == 1 && launches("qkgen_q4_0_gemv_id_f32") == 1);
    CHECK(notes[0].buffers[0].range == (16 + 8) * 64 * 144 + QK_PADDING && notes[0].buffers[4].offset == Y);
    CHECK(notes[0].buffers[4].range == Z - Y + 3 * 2 * 256);
    z.src[2] = &others;
    CHECK(!joins());
    z.src[2] = &ids;
    v.at = 7 * 64 * 144; // over the last of the first
    CHECK(!joins());
    v.at = 16 * 64 * 144;
    z.at = Y + 5 * 256;
    CHECK(!joins());
    z.at = Z;
    x.ne[2] = ids.ne[1] = y.ne[2] = z.ne[2] = 9; // which are sorted
    CHECK(!joins());
    ggml_tensor dense = op(GGML_OP_MUL_MAT, Z, &v, &x, 64, 2, 3);
    x.ne[2] = ids.ne[1] = y.ne[2] = z.ne[2] = 3;
    for (ggml_tensor * second : { &z, &dense }) {
        ggml_tensor * nodes[] = { &y, second };
        const ggml_cgraph graph = { nodes, 2 };
        CHECK(joins() && fuses(&graph) == 0);
    }
    ggml_tensor glu = op(GGML_OP_GLU, Y, &y, &z, 64, 2, 3); // but where one gates the other
    glu.op_params[0] = GGML_GLU_OP_SWIGLU;
    ggml_tensor * nodes[] = { &y, &z, &glu };
    const ggml_cgraph graph = { nodes, 3 };
    CHECK(fuses(&graph) == 2);
    z.src[2] = &others;
    CHECK(fuses(&graph) == 0);
}

// Gate and up, in either order, are one launch with what is behind them.
static void test_gated() {
    ggml_tensor w = tensor(GGML_TYPE_Q4_0, 0, 256, 64), v = tensor(GGML_TYPE_Q4_0, 70 * 144, 256, 64), x = tensor(GGML_TYPE_F32, X, 256);
    ggml_tensor gate = op(GGML_OP_MUL_MAT, Y, &w, &x, 64, 1), up = op(GGML_OP_MUL_MAT, Z, &v, &x, 64, 1);
    ggml_tensor glu = op(GGML_OP_GLU, Y, &gate, &up, 64, 1), reads = op(GGML_OP_ADD, Z + 4096, &x, &x, 64, 1);
    glu.op_params[0] = GGML_GLU_OP_SWIGLU;
    ggml_tensor * nodes[] = { &gate, &up, &glu, &reads };
    const ggml_cgraph graph = { nodes, 4 };
    qk_product p {};
    const auto gates = [&] { return fuses(&graph) == 2 && (p = ctx.qk->p, p.gated != 0); };
    const auto multiply = [&] { return ::multiply(&graph); };
    CHECK(gates() && p.gated == 1 && multiply() && notes.size() == 1 && launches("qkgen_q4_0_gemv_f32") == 1);
    CHECK(notes[0].buffers[0].range == (70 + 64) * 144 + QK_PADDING && notes[0].buffers[2].offset == Y && notes[0].buffers[2].range == 256);
    const std::vector<noted> first = notes;
    std::swap(nodes[0], nodes[1]);
    CHECK(gates() && p.gated == 1 && multiply() && notes == first);
    std::swap(glu.src[0], glu.src[1]);
    CHECK(gates() && p.gated == 2 && multiply() && notes.size() == 1 && !(notes == first));
    std::swap(glu.src[0], glu.src[1]);
    CHECK(multiply() && notes == first);
    for (uint64_t * at : { &glu.at, &x.at }) { // what is written is read by others
        const uint64_t was = *at;
        *at = at == &glu.at ? X : Y;
        CHECK(!gates());
        *at = was;
    }
    for (int32_t * param : { &glu.op_params[0], &glu.op_params[1] }) {
        *param ^= 1;
        CHECK(!gates());
        *param ^= 1;
    }
    reads.src[0] = &up;
    CHECK(!gates());
    reads.src[0] = &x;
    glu.src[1] = &reads;
    CHECK(!gates());
    glu.src[1] = &up;
    CHECK(fuses(&graph) == 2);
    ctx.device->disable_fusion = true;
    CHECK(fuses(&graph) == 0);
    ctx.device->disable_fusion = false;
    x.ne[1] = gate.ne[1] = up.ne[1] = glu.ne[1] = 2;
    CHECK(!gates());
    x.ne[1] = gate.ne[1] = up.ne[1] = glu.ne[1] = 1;
    CHECK(gates());
    // A device without such lanes has a launch for each.
    forget();
    ctx.device->subgroup_shuffle = false;
    CHECK(multiply() && ctx.num_additional_fused_ops == 0 && launches("qkgen_q4_0_gemv_f32") == 1);
    CHECK(ctx.unsynced_nodes_written == std::vector<const ggml_tensor *> { nodes[0] });
    ctx.unsynced_nodes_written.clear();
    forget();
    ctx.device->subgroup_shuffle = true;
    std::vector<ggml_tensor *> kept;
    ggml_backend_graph_optimize_params params = { [](void * to, ggml_tensor * t, ggml_tensor * until) {
        CHECK(until->op == GGML_OP_GLU);
        ((std::vector<ggml_tensor *> *) to)->push_back(t);
    }, &kept };
    ggml_vk_qk_keep(&graph, &params);
    CHECK(kept == std::vector<ggml_tensor *> { &x });
}

// Slots of a token, times their factors, are added up in the launch of their product, and a residual to them.
static void test_added() {
    ggml_tensor w = tensor(GGML_TYPE_Q4_0, 0, 256, 64, 8), x = tensor(GGML_TYPE_F32, X, 256, 3, 2), ids = tensor(GGML_TYPE_I32, IDS, 3, 2);
    ggml_tensor y = op(GGML_OP_MUL_MAT_ID, Y, &w, &x, 64, 3, 2), factors = tensor(GGML_TYPE_F32, OTHER, 1, 3, 2);
    ggml_tensor all = op(GGML_OP_MUL, Y + 65536, &y, &factors, 64, 3, 2), slots[3], sums[3], residual = tensor(GGML_TYPE_F32, OTHER + 65536, 64, 2);
    y.src[2] = &ids;
    std::vector<ggml_tensor *> nodes = { &y, &all };
    for (int s = 0; s < 3; s++) {
        slots[s] = op(GGML_OP_VIEW, all.at, &all, nullptr, 64, 2);
        slots[s].view_src = &all;
        slots[s].view_offs = (size_t) s * all.nb[1];
        slots[s].nb[1] = all.nb[2];
        sums[s] = op(GGML_OP_ADD, Z + 4096 * (uint64_t) s, s == 0 ? &slots[0] : &sums[s - 1], &slots[s], 64, 2);
        nodes.push_back(&slots[s]);
    }
    sums[1].src[0] = &slots[0];
    ggml_tensor out = op(GGML_OP_ADD, Z + 65536, &sums[2], &residual, 64, 2), later = op(GGML_OP_ADD, Z + 131072, &x, &x, 256, 3, 2);
    for (ggml_tensor * t : { &sums[1], &sums[2], &out, &later }) nodes.push_back(t);
    const ggml_cgraph graph = { nodes.data(), (int) nodes.size() };
    const auto adds = [&] { const int n = prepare(&graph); return ctx.qk->p.adds_slots != 0 ? n : -n; };
    const auto multiply = [&] { return ::multiply(&graph); };
    // Two results of 64, at the end of all.
    CHECK(adds() == 7 && ctx.fused_ops_write_mask == 1 << 7 && multiply() && notes.size() == 1 && launches("qkgen_q4_0_gemv_id_f32") == 1);
    CHECK(notes[0].buffers[4].offset == out.at && notes[0].buffers[4].range == 2 * 256);
    const auto reads = [&](uint64_t at) { return std::any_of(notes[0].buffers.begin(), notes[0].buffers.end(), [&](const auto & b) { return b.offset == at; }); };
    CHECK(reads(OTHER) && reads(residual.at));
    const std::vector<noted> first = notes;
    std::swap(out.src[0], out.src[1]);
    CHECK(adds() == 7 && multiply() && notes == first);
    residual.at = out.at; // to which is added
    CHECK(adds() == 7 && multiply() && notes.size() == 1 && !(notes == first) && notes[0].buffers[4].offset == out.at);
    residual.at = OTHER + 65536;
    for (const ggml_tensor * t : { &x, &ids, &factors, &residual }) { // what is written is read by others
        const uint64_t was = out.at;
        out.at = t->at + (t == &residual ? 256 : 0);
        CHECK(adds() == -1);
        out.at = was;
    }
    later.src[0] = &sums[2]; // which others read without the residual
    CHECK(adds() == 6);
    later.src[0] = &x;
    out.src[0] = out.src[1] = &residual; // no residual
    CHECK(adds() == 6 && ctx.fused_ops_write_mask == 1 << 6 && multiply() && notes[0].buffers[4].offset == sums[2].at);
    out.src[1] = &sums[2];
    for (int s = 0; s < 3; s++) { // which is none of the slots, or not in their order
        slots[s].view_offs += 4;
        CHECK(adds() == -1);
        slots[s].view_offs -= 4;
        slots[s].nb[1] = all.nb[1];
        CHECK(adds() == -1);
        slots[s].nb[1] = all.nb[2];
    }
    std::swap(sums[1].src[1], sums[2].src[1]);
    CHECK(adds() == -1);
    std::swap(sums[1].src[1], sums[2].src[1]);
    std::vector<ggml_tensor *> kept;
    ggml_backend_graph_optimize_params params = { [](void * to, ggml_tensor * t, ggml_tensor * until) {
        CHECK(until->op == GGML_OP_ADD && until->at == Z + 65536);
        ((std::vector<ggml_tensor *> *) to)->push_back(t);
    }, &kept };
    ggml_vk_qk_keep(&graph, &params);
    CHECK(kept == (std::vector<ggml_tensor *> { &x, &ids, &y, &factors }));
    // Of many tokens, or a device without such sums, ggml adds them.
    forget();
    ctx.device->subgroup_shuffle = false;
    CHECK(multiply() && ctx.num_additional_fused_ops == 0 && launches("qkgen_q4_0_gemv_id_f32") == 1 && notes.back().buffers[4].offset == Y);
    ctx.unsynced_nodes_written.clear();
    forget();
    ctx.device->subgroup_shuffle = true;
}

// A norm of one token is in the launch of the products behind it, where these are all that read it.
static void test_normed() {
    ggml_tensor x = tensor(GGML_TYPE_F32, X, 256), factors = tensor(GGML_TYPE_F32, OTHER, 256);
    ggml_tensor rms = op(GGML_OP_RMS_NORM, Z, &x, nullptr, 256, 1), normed = op(GGML_OP_MUL, Z, &rms, &factors, 256, 1);
    ggml_tensor w = tensor(GGML_TYPE_Q4_0, 0, 256, 64), v = tensor(GGML_TYPE_Q4_0, 70 * 144, 256, 64);
    ggml_tensor gate = op(GGML_OP_MUL_MAT, Y, &w, &normed, 64, 1), up = op(GGML_OP_MUL_MAT, Y + 4096, &v, &normed, 64, 1);
    ggml_tensor last = op(GGML_OP_GLU, Y, &gate, &up, 64, 1), reads = op(GGML_OP_ADD, Z + 4096, &x, &x, 64, 1);
    ggml_tensor * nodes[8] = { &rms, &normed, &gate, &up, &last, &reads };
    ggml_cgraph graph = { nodes, 6 };
    const float epsilon = 1e-5f;
    std::memcpy(rms.op_params, &epsilon, 4);
    last.op_params[0] = GGML_GLU_OP_SWIGLU;
    const auto fuses = [&] { // as ggml does, with the weights
        ctx.num_additional_fused_ops = 1;
        ctx.fused_ops_write_mask = 1 << 1;
        ggml_vk_qk_prepare(&ctx, &graph, 0);
        return ctx.num_additional_fused_ops;
    };
    const auto launch = [&] {
        notes.clear();
        return ggml_vk_qk_mul_mat(&ctx, subctx, &graph, 0);
    };
    const auto apart = [&] { return fuses() == 1 && ctx.fused_ops_write_mask == 1 << 1 && !launch() && notes.empty(); };
    CHECK(apart());
    ctx.fused_rms_norm_mode = RMS_NORM_MUL;
    CHECK(fuses() == 4 && ctx.fused_ops_write_mask == 1 << 4 && ctx.qk->p.gated == 1 && ctx.qk->p.epsilon == epsilon);
    CHECK(launch() && notes.size() == 1 && launches("qkgen_q4_0_gemv_f32") == 1);
    CHECK(notes[0].buffers[1].offset == X && notes[0].buffers[2].offset == Y && notes[0].buffers[3].offset == OTHER);
    std::swap(normed.src[0], normed.src[1]); // weights may be the first
    const std::vector<noted> first = notes;
    CHECK(fuses() == 4 && launch() && notes == first);
    last.op = GGML_OP_CONT; // joined ones, both written
    CHECK(fuses() == 3 && ctx.fused_ops_write_mask == 3 << 2 && launch() && notes.size() == 1 && !(notes == first));
    last.op = GGML_OP_GLU;
    reads.src[1] = &normed;
    CHECK(apart());
    reads.src[1] = &x;
    normed.flags = GGML_TENSOR_FLAG_OUTPUT;
    CHECK(apart());
    normed.flags = 0;
    ctx.do_add_rms_partials_offset_calculation = true;
    CHECK(apart());
    ctx.do_add_rms_partials_offset_calculation = false;
    up.src[1] = &x; // one product alone is faster without
    CHECK(apart());
    up.src[1] = &normed;
    for (ggml_tensor * t : { &x, &factors }) {
        t->type = GGML_TYPE_F16;
        CHECK(apart());
        t->type = GGML_TYPE_F32;
    }
    for (ggml_tensor * t : { &x, &rms, &normed, &gate, &up, &last }) t->ne[1] = 2;
    CHECK(apart());
    for (ggml_tensor * t : { &x, &rms, &normed, &gate, &up, &last }) t->ne[1] = 1;
    // What a kernel refuses, ggml norms, and then come the products.
    x.at = Y;
    CHECK(fuses() == 4 && !launch() && ctx.num_additional_fused_ops == 1);
    CHECK(ctx.unsynced_nodes_written == std::vector<const ggml_tensor *> { &normed });
    ctx.unsynced_nodes_written.clear();
    x.at = X;
    // Views may come in between, which nobody launches; but not of what is normed.
    ggml_tensor view = op(GGML_OP_VIEW, Z + 65536, &factors, nullptr, 256, 1), other = view;
    ggml_tensor * const with[8] = { &rms, &normed, &view, &other, &gate, &up, &last, &reads };
    std::copy(with, with + 8, nodes);
    graph.n_nodes = 8;
    CHECK(fuses() == 6 && ctx.fused_ops_write_mask == 1 << 6 && launch() && notes == first);
    other.src[0] = &normed;
    CHECK(apart());
    other.src[0] = &factors;
    x.at = Y;
    CHECK(fuses() == 6 && !launch() && ctx.num_additional_fused_ops == 1);
    CHECK(ctx.unsynced_nodes_written == std::vector<const ggml_tensor *> { &normed });
    ctx.unsynced_nodes_written.clear();
    x.at = X;
    graph.n_nodes = 4; // of which none is a product
    CHECK(apart());
    ctx.fused_rms_norm_mode = RMS_NORM_COUNT;
}

static std::vector<noted> notes_of(ggml_tensor * y, ggml_tensor * second = nullptr) {
    CHECK(mul_mat(y, second));
    return notes;
}

// A product that was planned before is recorded as it was, and only with the tensors, ranges and epilogue that it had.
static void test_remembered() {
    ggml_tensor w = tensor(GGML_TYPE_Q4_0, 0, 256, 64), x = tensor(GGML_TYPE_F32, X, 256, 2), y = op(GGML_OP_MUL_MAT, Y, &w, &x, 64, 2);
    const std::vector<noted> first = notes_of(&y);
    CHECK(first.size() == 1 && notes_of(&y) == first);
    for (uint64_t * at : { &w.at, &x.at, &y.at }) {
        *at += 4096;
        const std::vector<noted> moved = notes_of(&y);
        CHECK(moved.size() == 1 && !(moved == first) && notes_of(&y) == moved);
        *at -= 4096;
        CHECK(notes_of(&y) == first);
    }
    x.nb[1] += 64;
    CHECK(!(notes_of(&y) == first));
    x.nb[1] -= 64;
    x.ne[1] = y.ne[1] = 1;
    ggml_tensor residual = tensor(GGML_TYPE_F32, Z, 64), sum = op(GGML_OP_ADD, Y, &residual, &y, 64, 1);
    const std::vector<noted> plain = notes_of(&y), added = notes_of(&y, &sum);
    CHECK(!(added == plain) && notes_of(&y) == plain && notes_of(&y, &sum) == added);
    residual.at += 4096;
    CHECK(!(notes_of(&y, &sum) == added));
    for (int many = 0; many < 40; many++) { // more places than are kept
        x.at += 4096;
        CHECK(notes_of(&y)[0].buffers[1].offset == x.at);
    }
    x.at = X;
    CHECK(notes_of(&y) == plain);
    ggml_tensor tiles = tensor(GGML_TYPE_F32, X, 256, 32), z = op(GGML_OP_MUL_MAT, Z, &w, &tiles, 64, 32);
    ctx.prealloc_y_last_tensor_used = nullptr;
    ctx.prealloc_y_need_sync = false;
    const std::vector<noted> made = notes_of(&z), kept = notes_of(&z);
    CHECK(made.size() == kept.size() + 2 && kept == std::vector<noted>(made.begin() + 2, made.end()));
    ctx.prealloc_y_last_tensor_used = nullptr;
    ctx.prealloc_y_need_sync = false;
    CHECK(notes_of(&z) == made && notes_of(&z) == kept);
    ctx.prealloc_y_last_tensor_used = nullptr; // a barrier only where launches may still read
    CHECK(ctx.prealloc_y_need_sync && notes_of(&z).size() == made.size() + 1 && notes[0].what == "barrier" && notes_of(&z) == kept);
}

// Products that keep operands of x in scratch are known in that memory alone, apart for operands that are to be made first.
static void test_remembered_scratch() {
    ggml_tensor w = tensor(GGML_TYPE_Q4_0, 8192, 256, 64), x = tensor(GGML_TYPE_F32, X, 256, 32);
    ggml_tensor y = op(GGML_OP_MUL_MAT, Y, &w, &x, 64, 32);
    qk_product p {};
    p.weights = ggml_vk_qk_tensor(&ctx, &w, true);
    p.x = ggml_vk_qk_tensor(&ctx, &x);
    p.y = ggml_vk_qk_tensor(&ctx, &y);
    p.types = (uint64_t) w.type << 32 | (uint32_t) x.type;
    ctx.prealloc_y_last_tensor_used = nullptr;
    vk_qk_call call = { &ctx, subctx, ggml_vk_qk_state(&ctx), nullptr };
    const std::vector<noted> made = notes_of(&y);
    p.scratch = vk_qk_call::range_of(ctx.prealloc_y);
    const qk_kernel * kernel = (const qk_kernel *) (void *) ctx.prealloc_y_last_pipeline_used;
    p.kernel = kernel;
    CHECK(!call.launcher.repeat_product(call, p)); // it was not launched with operands that are there
    const std::vector<noted> kept = notes_of(&y);
    notes.clear();
    CHECK(call.launcher.repeat_product(call, p) && p.packed == 1 && p.scratch_bytes != 0 && notes == kept);
    p.kernel = nullptr;
    ctx.prealloc_y_need_sync = false;
    notes.clear();
    CHECK(call.launcher.repeat_product(call, p) && p.packed == 0 && p.kernel == kernel);
    CHECK(made.size() == notes.size() + (made[0].what == "barrier") && std::equal(notes.rbegin(), notes.rend(), made.rbegin()));
    p.scratch.offset += 256;
    CHECK(!call.launcher.repeat_product(call, p));
    p.scratch.offset -= 256;
    p.scratch.size += 256;
    CHECK(!call.launcher.repeat_product(call, p));
    p.scratch.size -= 256;
    CHECK(call.launcher.repeat_product(call, p));
    p.shares = 1; // what was planned for a matrix alone is not for several
    CHECK(!call.launcher.repeat_product(call, p));
    p.shares = 0; // nor is what was planned for x as it is for one that is normed, in which way ever
    CHECK(call.launcher.repeat_product(call, p));
    p.norm.offset = 4096;
    CHECK(!call.launcher.repeat_product(call, p));
    p.norm.offset = 0;
    p.epsilon = 1e-5f;
    CHECK(!call.launcher.repeat_product(call, p));
}

// x becomes operands once, for all matrices that are multiplied with it; not for another x, nor behind a copy.
static void test_gemm() {
    ggml_tensor w = tensor(GGML_TYPE_Q4_0, 0, 256, 64), x = tensor(GGML_TYPE_F32, X, 256, 32), y = op(GGML_OP_MUL_MAT, Y, &w, &x, 64, 32);
    ggml_tensor other = tensor(GGML_TYPE_F32, X + 65536, 256, 32), z = op(GGML_OP_MUL_MAT, Z, &w, &other, 64, 32);
    ctx.prealloc_y_need_sync = false;
    CHECK(mul_mat(&y));
    const size_t first = launches("qkgen_q4_0_gemm_mma_f32");
    CHECK(first >= 2 && notes[0].what != "barrier" && notes[1].what == "barrier");
    CHECK(notes[0].buffers[2].buffer == ctx.prealloc_y->buffer);
    CHECK(mul_mat(&y) && launches("qkgen_q4_0_gemm_mma_f32") == first - 1);
    CHECK(mul_mat(&z) && launches("qkgen_q4_0_gemm_mma_f32") == first && notes[0].what == "barrier"); // others may still read
    ggml_tensor many = tensor(GGML_TYPE_F32, X, 256, 32, 2), both = op(GGML_OP_MUL_MAT, Y, &w, &many, 64, 32, 2);
    CHECK(mul_mat(&both) && launches("qkgen_q4_0_gemm_mma_f32") == first); // one of 64 vectors
    CHECK(mul_mat(&both) && launches("qkgen_q4_0_gemm_mma_f32") == first);
    // Of few rows, parts are added behind the operands: memory that grows has none of them any more.
    ggml_tensor wide = tensor(GGML_TYPE_Q4_0, 0, 2048, 8192), few = tensor(GGML_TYPE_Q4_0, 0, 2048, 64), row = tensor(GGML_TYPE_F32, OTHER, 2048, 32);
    ggml_tensor p = op(GGML_OP_MUL_MAT, OTHER + (1 << 20), &wide, &row, 8192, 32), q = op(GGML_OP_MUL_MAT, OTHER + (1 << 20), &few, &row, 64, 32);
    CHECK(mul_mat(&p) && launches("qkgen_q4_0_gemm_mma_f32") == 2);
    CHECK(mul_mat(&q) && launches("qkgen_q4_0_gemm_mma_f32") == 3);
    CHECK(mul_mat(&p) && launches("qkgen_q4_0_gemm_mma_f32") == 1);
    CHECK(mul_mat(&q) && launches("qkgen_q4_0_gemm_mma_f32") == 2);
    x.nb[0] = 8;
    CHECK(mul_mat(&y) && notes[0].what == "barrier" && notes[1].what == "copy" && launches("qkgen_q4_0_gemm_mma_f32") == first);
    CHECK(mul_mat(&y) && launches("qkgen_q4_0_gemm_mma_f32") == first);
}

static void test_experts() {
    ggml_tensor w = tensor(GGML_TYPE_Q4_0, 0, 256, 64, 8), x = tensor(GGML_TYPE_F32, X, 256, 1, 3), y = op(GGML_OP_MUL_MAT_ID, Y, &w, &x, 64, 2, 3);
    ggml_tensor ids = tensor(GGML_TYPE_I32, IDS, 2, 3), bias = tensor(GGML_TYPE_F32, Z, 64, 8);
    y.src[2] = &ids;
    CHECK(mul_mat(&y) && notes.size() == 1 && notes[0].push[2] == 3 && notes[0].push[3] == 2);
    ids.nb[1] = 32; // of all experts, sorted
    CHECK(mul_mat(&y) && notes.size() == 1 && notes[0].buffers[2].offset == IDS && notes[0].buffers[2].range == 2 * 32 + 8 && notes[0].push[2] == 3);
    ids.nb[1] = 8;
    ggml_tensor sum = op(GGML_OP_ADD_ID, Y + 65536, &y, &bias, 64, 2, 3);
    sum.src[2] = &ids;
    CHECK(mul_mat(&y, &sum) && notes[0].buffers[4].offset == Y + 65536 && notes[0].push[8] == bias_bits());
    ggml_tensor one = tensor(GGML_TYPE_F32, X, 256), of_one = op(GGML_OP_MUL_MAT_ID, Y, &w, &one, 64, 2, 1);
    ggml_tensor factors = tensor(GGML_TYPE_F32, Z, 1, 2), scaled = op(GGML_OP_MUL, Y + 65536, &of_one, &factors, 64, 2, 1);
    of_one.src[2] = &ids;
    ids.ne[1] = 1;
    CHECK(mul_mat(&of_one, &scaled) && notes.size() == 1 && notes[0].buffers[4].offset == Y + 65536);
    CHECK(notes[0].buffers[5].offset == Z && notes[0].buffers[5].range == 2 * 4 && notes[0].push[8] == (4 | QK_SCALES_VECTORS_));
    scaled.at = Z; // factors are read, never added to
    CHECK(!mul_mat(&of_one, &scaled) && launches("barrier") == notes.size());
    ids.ne[1] = 3;
    ggml_tensor each = tensor(GGML_TYPE_F32, X, 256, 2, 3); // an x of each slot
    y.src[1] = &each;
    CHECK(mul_mat(&y) && notes[0].push[2] == 3 && notes[0].push[3] == 2 && notes[0].push[4] == 2);
    w.nb[2] += 18;
    CHECK(!mul_mat(&y) && notes.empty());
    w.nb[2] -= 18;
    ids = tensor(GGML_TYPE_I32, IDS, 2, 9);
    y = op(GGML_OP_MUL_MAT_ID, Y, &w, &each, 64, 2, 9);
    y.src[2] = &ids;
    each = tensor(GGML_TYPE_F32, X, 256, 1, 9);
    CHECK(mul_mat(&y) && launches("qkgen_q4_0_gemm_id_mma_f32") == 5); // operands, three to sort, tiles
    ggml_tensor up = op(GGML_OP_MUL_MAT_ID, Z, &w, &each, 64, 2, 9), shares = tensor(GGML_TYPE_F32, OTHER, 1, 2, 9);
    ggml_tensor product = op(GGML_OP_MUL, Z + 65536, &up, &shares, 64, 2, 9);
    up.src[2] = &ids;
    for (int i = 0; i < 2; i++) { // the same x and tokens: their order is known
        CHECK(mul_mat(&up, nullptr, &y) && notes.size() == 1 && notes[0].buffers[5].offset == Z);
    }
    CHECK(may_fuse(&up, &product) && mul_mat(&up, &product, &y) && notes.size() == 1 && notes[0].buffers[6].offset == OTHER);
    shares = tensor(GGML_TYPE_F32, OTHER, 1, 1, 9);
    CHECK(!may_fuse(&up, &product));
    shares = tensor(GGML_TYPE_F32, OTHER, 1, 2, 9);
    ggml_tensor others = ids, more = w, outer = y;
    const auto again = [&] { return mul_mat(&up, nullptr, &outer) && launches("qkgen_q4_0_gemm_id_mma_f32") == 5; };
    outer.src[2] = &others;
    CHECK(again());
    outer = y, more.ne[1] = 128, outer.src[0] = &more; // tiles of other rows are others
    CHECK(again());
    CHECK(mul_mat(&up) && launches("qkgen_q4_0_gemm_id_mma_f32") == 5);
    ctx.prealloc_y_last_tensor_used = &x;
    CHECK(mul_mat(&up, nullptr, &y) && launches("qkgen_q4_0_gemm_id_mma_f32") == 5);
    sum = op(GGML_OP_ADD_ID, Z + 65536, &up, &bias, 64, 2, 9);
    sum.src[2] = &ids;
    CHECK(may_fuse(&up, &sum) && mul_mat(&up, &sum, &y) && notes.size() == 1 && notes[0].buffers[7].offset == Z);
    sum.src[2] = &others;
    CHECK(!may_fuse(&up, &sum));
    each.nb[0] = 8; // x is copied, and scratch lies behind
    ids.nb[1] = 32;
    CHECK(mul_mat(&y) && launches("qkgen_q4_0_gemm_id_mma_f32") == 5);
    const noted & tiles = notes.back();
    CHECK(launches("copy") == 1 && tiles.buffers[1].offset == 0 && tiles.buffers[4].offset == 9 * 1024 && tiles.buffers[2].offset == IDS);
    w.ne[2] = QK_GEMM_ID_EXPERTS + 1; // more than tiles sort by
    w.at = OTHER;
    CHECK(mul_mat(&y) && launches("copy") == 1 && launches("qkgen_q4_0_gemv_id_f32") == 1);
}

// Many tokens of experts whose rows are no whole tiles: ours where somebody asks for the operation, in one launch.
static void test_uneven_experts(bool named) {
    ggml_tensor w = tensor(GGML_TYPE_Q4_0, 0, 96, 64, 8), x = tensor(GGML_TYPE_F32, X, 96, 1, 9), y = op(GGML_OP_MUL_MAT_ID, Y, &w, &x, 64, 2, 9);
    ggml_tensor ids = tensor(GGML_TYPE_I32, IDS, 2, 9);
    y.src[2] = &ids;
    CHECK(mul_mat(&y) == named && notes.size() == named && launches("qkgen_q4_0_gemv_id_f32") == named);
    CHECK(!named || (notes[0].push[2] == 9 && notes[0].push[3] == 2 && notes[0].buffers[4].range == 9 * 2 * 64 * 4));
    w = tensor(GGML_TYPE_Q4_0, 0, 128, 64, 8), x = tensor(GGML_TYPE_F32, X, 128, 1, 9);
    CHECK(mul_mat(&y) && launches("qkgen_q4_0_gemm_id_mma_f32") == 5);
}

// Nothing is asked for. In a process of its own, for that is looked at once; whether all was right.
static bool try_usual() {
    const pid_t child = fork();
    if (child == 0) {
        unsetenv("GGML_VK_QKGEN");
        test_uneven_experts(false);
        forget();
        _exit(failures != 0);
    }
    int status = 1;
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static bool rows(ggml_tensor * node) {
    notes.clear();
    return ggml_vk_qk_rows(&ctx, subctx, node);
}

static void test_rows() {
    ggml_tensor w = tensor(GGML_TYPE_Q4_0, 0, 256, 64), ids = tensor(GGML_TYPE_I32, IDS, 5), y = op(GGML_OP_GET_ROWS, Y, &w, &ids, 256, 5);
    CHECK(rows(&y) && launches("qkgen_q4_0_gather_f32") == 1);
    CHECK(notes[0].buffers[3].range >= 4); // nobody asks for what is counted there
    CHECK(notes[0].buffers[1].offset == IDS && notes[0].buffers[2].range == 5 * 1024 && notes[0].push[0] == 64 && notes[0].push[4] == 5);
    CHECK(notes[0].push[5] == 5 && notes[0].push[6] == 1 && notes[0].push[10] == 1 && notes[0].push[11] == 1 && notes[0].push[16] == 1);
    w.at = 8;
    CHECK(!rows(&y) && notes.empty());
    w = tensor(GGML_TYPE_Q4_0, 4096 + 3 * 18, 32, 64); // a view from the fourth row on, with all indices but the first
    ids.at = IDS + 4;
    y = op(GGML_OP_GET_ROWS, Y, &w, &ids, 32, 5);
    CHECK(rows(&y) && notes.size() == 1 && notes[0].buffers[0].offset == 4096 && notes[0].buffers[0].range == 67 * 18);
    CHECK(notes[0].buffers[1].offset == IDS && notes[0].buffers[1].range == 6 * 4 && notes[0].push[20] == 1);
    CHECK(notes[0].push[21] == 3 * notes[0].push[3]);
}

// Rows of a cache at 64-bit indices, of several batches, which have the same indices; and copies into blocks, and out of them.
static void test_set_rows() {
    ggml_tensor cache = tensor(GGML_TYPE_Q4_0, 0, 64, 10, 3), x = tensor(GGML_TYPE_F16, X, 64, 4, 3), ids = tensor(GGML_TYPE_I64, IDS, 4);
    ggml_tensor y = tensor(GGML_TYPE_Q4_0, 0, 64, 10, 3);
    y.op = GGML_OP_SET_ROWS;
    y.src[0] = &x;
    y.src[1] = &ids;
    CHECK(rows(&y) && launches("qkgen_q4_0_set_rows_f16") == 1);
    const std::vector<uint32_t> push = { 10, 0, 30, 2, 12, 4, 3, 2, 8, 0, 2, 2, 0, 0, 1, 1, 1, 10, 0, 0, 0, 0 };
    CHECK(notes[0].push == push);
    CHECK(ggml_vk_qk_supports(ctx.device, &y));
    x.nb[0] = 4;
    CHECK(!rows(&y) && !ggml_vk_qk_supports(ctx.device, &y));
    x.nb[0] = 2;
    y.view_offs = 8;
    CHECK(!ggml_vk_qk_supports(ctx.device, &y));
    y.view_offs = 0;
    ids.type = GGML_TYPE_F32;
    CHECK(!rows(&y));
    y.op = GGML_OP_CPY;
    CHECK(!rows(&y)); // 10 rows of 4
    x = tensor(GGML_TYPE_F16, X, 64, 10, 3);
    std::swap(x.nb[1], x.nb[2]);
    x.nb[1] = 384, x.nb[2] = 128;
    CHECK(rows(&y) && launches("qkgen_q4_0_set_rows_f16") == 1 && notes[0].push[7] == 6 && notes[0].push[8] == 2 && notes[0].push[10] == 0);
    ggml_tensor z = op(GGML_OP_CPY, Y, &cache, &cache, 64, 10, 3);
    CHECK(rows(&z) && launches("qkgen_q4_0_gather_f32") == 1 && !ggml_vk_qk_supports(ctx.device, &z));
    z.op = GGML_OP_CONT;
    CHECK(!rows(&z));
}

static int shapes_of_device(int, uint32_t * count, VkCooperativeMatrixPropertiesKHR * shapes) {
    CHECK(*count >= 2);
    const int f16 = VK_COMPONENT_TYPE_FLOAT16_KHR, f32 = VK_COMPONENT_TYPE_FLOAT32_KHR;
    for (uint32_t i = 0; i < 2; i++) {
        CHECK(shapes[i].sType == VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR);
        shapes[i] = { shapes[i].sType, nullptr, 16, i == 0 ? 16u : 8u, 16, f16, f16, f32, f32, 0, VK_SCOPE_SUBGROUP_KHR };
    }
    *count = 2;
    return 0;
}

// A device with matrix units is asked once, by one launch, and believed where its products are right.
static void test_matrices() {
    for (bool right : { false, true }) {
        ggml_backend_vk_context other;
        other.device->coopmat_support = true;
        matrix_shapes = shapes_of_device;
        device_wrote.assign(QK_MATRIX_TO_FLOATS, right ? 16.0f / 16777216.0f : 0.0f);
        notes.clear();
        const qk_limits limits = ggml_vk_qk_state(&other).limits;
        CHECK(limits.matrix_rows == 16 && limits.matrix_cols == 8 && limits.matrix_depth == 16 && limits.matrix_lanes == 32);
        CHECK(((limits.features & QK_FEATURE_COOPERATIVE_MATRIX) != 0) == right);
        CHECK(notes.size() == 1 && launches("qkgen_matrix_probe") == 1 && notes[0].buffers.size() == 2);
        CHECK(notes[0].buffers[0].range == QK_MATRIX_FROM_WORDS * 4 && notes[0].buffers[1].range == QK_MATRIX_TO_FLOATS * 4);
        CHECK(notes[0].buffers[0].buffer != notes[0].buffers[1].buffer);
        ggml_vk_qk_state(&other);
        CHECK(notes.size() == 1);
        matrix_shapes = nullptr;
    }
}

static size_t kernels_of_class(const char * least) {
    setenv("QK_TEST_CLASS", least, 1);
    return qkgen::routing("QK_TEST", "", qkgen_kernels, QKGEN_KERNEL_SETS).find("gemv,gemm", "q4_0", "f32").size();
}

// What variables of the environment say.
static void test_routing() {
    const auto takes = [](const char * asked, const char * operation) {
        asked != nullptr ? setenv("QK_TEST", asked, 1) : unsetenv("QK_TEST");
        return qkgen::routing("QK_TEST", "ADD,MUL", qkgen_kernels, QKGEN_KERNEL_SETS).takes(operation);
    };
    const auto names = [] { return qkgen::routing("QK_TEST", "ADD", qkgen_kernels, QKGEN_KERNEL_SETS).names_operations(); };
    for (const char * usual : { "1", (const char *) nullptr }) {
        CHECK(takes(usual, "ADD") && !names() && takes(usual, "MUL") && !takes(usual, "SUB") && !takes(usual, "MU"));
    }
    CHECK(!takes("0", "ADD") && !takes("", "ADD") && !takes("sub", "ADD") && takes("sub", "SUB"));
    CHECK(takes("mul,sub", "MUL") && names() && takes("mul,sub", "SUB") && takes("SUB,mul", "MUL") && !takes("mul,sub", "ADD"));
    const size_t exact = kernels_of_class("exact"), split = kernels_of_class("split"), best = kernels_of_class("best");
    CHECK(exact == 1 && split == 1 && best == 2); // there is none of split
}

int main() {
    CHECK(try_usual());
    setenv("GGML_VK_QKGEN", "mul_mat,mul_mat_id,get_rows,set_rows,cpy", 1); // rows are not routed unless somebody asks
    test_gemv();
    test_pipelines();
    test_batch();
    test_fused();
    test_fused_columns();
    test_parted();
    test_joined();
    test_three_joined();
    test_joined_experts();
    test_gated();
    test_added();
    test_normed();
    test_remembered();
    test_remembered_scratch();
    test_gemm();
    test_experts();
    test_uneven_experts(true);
    test_rows();
    test_set_rows();
    test_warm_up();
    test_routing();
    test_matrices();
    forget();
    printf("%d failures\n", failures);
    return failures != 0;
}
