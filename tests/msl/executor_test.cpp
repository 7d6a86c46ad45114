// executor_test: planted faults are found, and named with their line; faultless kernels pass; signatures are what the text
// says, and differ from a descriptor where they must. Argument: the folder of the .metal files.
#include "check.h"

#include <qkgen/kernel.h>

using std::string;
using std::vector;

static string folder;

// The line of `// LINE name` in faults.metal.
static int line_of(const char *name) {
    static vector<string> lines;
    if (lines.empty()) {
        FILE *f = fopen((folder + "/faults.metal").c_str(), "r");
        char row[512];
        while (f && fgets(row, sizeof row, f)) lines.push_back(row);
        if (f) fclose(f);
    }
    for (size_t i = 0; i < lines.size(); ++i) {
        const size_t at = lines[i].find(string("// LINE ") + name);
        if (at != string::npos && strspn(lines[i].c_str() + at + 8 + strlen(name), "\n") > 0) return int(i) + 1;
    }
    return 0;
}

static void expect(launch &l, qk_msl *file, const char *kernel, qk_msl_status status, const char *says,
                   const char *line = nullptr) {
    const qk_msl_status s = l.run(file, kernel);
    CHECK(s == status, "%s: status %d, expected %d: %s", kernel, s, status, l.error.text);
    CHECK(strstr(l.error.text, kernel), "%s is not named: %s", kernel, l.error.text);
    CHECK(strstr(l.error.text, says), "%s: expected \"%s\" in: %s", kernel, says, l.error.text);
    const int want = line_of(line ? line : kernel);
    CHECK(want > 0 && l.error.line == want, "%s: line %d, expected %d: %s", kernel, l.error.line, want, l.error.text);
    if (s == status) printf("found: %s\n", l.error.text);
}

static const qk_msl_order orders[] = {QK_MSL_FORWARD, QK_MSL_REVERSE, QK_MSL_RANDOM};

static void bounds(qk_msl *file) {
    vector<uint8_t> from(13, 7), to(13, 0);
    uint32_t n = 13;
    launch(1, 32).add(0, from).add(1, to).value(2, n).must(file, "copy_bytes");
    CHECK(from == to, "copy_bytes copies");
    vector<uint8_t> empty;
    n = 0;
    launch(1, 32).add(0, empty).add(1, empty).value(2, n).must(file, "copy_bytes");

    // One byte too far, at either end of either buffer.
    vector<uint8_t> shorter(12, 7);
    n = 13;
    launch read(1, 32), write(1, 32), before(1, 1), before_write(1, 1);
    CHECK(read.add(0, shorter).add(1, to).value(2, n).run(file, "copy_bytes") == QK_MSL_ERROR_ACCESS,
          "a read one byte past the end: %s", read.error.text);
    CHECK(strstr(read.error.text, "read of 1 byte") && strstr(read.error.text, "byte 12 of from") &&
              read.error.line > 0,
          "%s", read.error.text);
    CHECK(write.add(0, from).add(1, shorter).value(2, n).run(file, "copy_bytes") == QK_MSL_ERROR_ACCESS,
          "a write one byte past the end");
    CHECK(strstr(write.error.text, "write of 1 byte") && strstr(write.error.text, "byte 12 of to"), "%s",
          write.error.text);
    printf("found: %s\nfound: %s\n", read.error.text, write.error.text);
    expect(before.add(0, from).add(1, to), file, "reads_before", QK_MSL_ERROR_ACCESS, "byte -1 of from");
    expect(before_write.add(0, from).add(1, to), file, "writes_before", QK_MSL_ERROR_ACCESS, "byte -1 of to");

    vector<uint32_t> words(4, 1), out(64, 0);
    uint32_t zero = 0;
    launch wraps, vector_tail, constant, shared(1, 8), past;
    expect(wraps.add(0, words).add(1, out).value(2, zero), file, "index_wraps", QK_MSL_ERROR_ACCESS,
           "byte 17179869180 of from");
    vector<float> three(3, 1.0f), four(4, 0.0f);
    // (12 bytes are not aligned as a float4 asks only when the buffer is bound elsewhere; here the size is what fails.)
    expect(vector_tail.add(0, three).add(1, four), file, "vector_tail", QK_MSL_ERROR_ACCESS, "which has 12 bytes");
    expect(constant.add(0, words), file, "writes_constant", QK_MSL_ERROR_ACCESS, "may only read");
    expect(shared.add(0, out).threadgroup(0, 31), file, "threadgroup_bound", QK_MSL_ERROR_ACCESS, "[[threadgroup(0)]]");
    launch(1, 8).add(0, out).threadgroup(0, 32).must(file, "threadgroup_bound");
    expect(past.value(0, zero).add(1, out), file, "past_the_struct", QK_MSL_ERROR_ACCESS, "byte 4 of n");
}

static void barriers(qk_msl *file) {
    for (const qk_msl_order order : orders)
        for (uint64_t seed = 0; seed < (order == QK_MSL_RANDOM ? 8u : 1u); ++seed) {
            vector<uint32_t> to(64, 0);
            launch(3, 64).order(order, seed).add(0, to).must(file, "neighbour");
            bool right = true;
            for (uint32_t i = 0; i < 64; ++i) right &= to[i] == (i + 1) % 64 * 3;
            CHECK(right, "neighbour, order %d", order);
            // Either it reads what nobody has written yet, or it meets the other thread's access: never silence.
            launch without(1, 64), rounds(1, 64);
            const qk_msl_status s = without.order(order, seed).add(0, to).run(file, "neighbour_without");
            CHECK(s == QK_MSL_ERROR_RACE || s == QK_MSL_ERROR_UNINITIALISED, "a missing barrier, order %d: %s", order,
                  without.error.text);
            CHECK(s == QK_MSL_OK || abs(without.error.line - line_of("neighbour_without")) <= 1, "%s",
                  without.error.text);
            expect(rounds.order(order, seed).add(0, to), file, "rounds_without", QK_MSL_ERROR_RACE,
                   "since the last barrier");
        }
    vector<uint32_t> to(64, 0);
    for (const qk_msl_order order : orders) {
        launch(2, 64).order(order, 3).add(0, to).must(file, "simdgroup_rounds");
        CHECK(to[3] == 10 && to[40] == 60, "simdgroup_rounds: %u %u", to[3], to[40]);
        launch rounds(1, 64), only(1, 64);
        CHECK(rounds.order(order, 3).add(0, to).run(file, "simdgroup_rounds_without") == QK_MSL_ERROR_RACE,
              "a missing simdgroup barrier: %s", rounds.error.text);
        const qk_msl_status s = only.order(order, 3).add(0, to).run(file, "simdgroup_barrier_only");
        CHECK(s == QK_MSL_ERROR_RACE || s == QK_MSL_ERROR_UNINITIALISED, "a barrier of the wrong scope: %s",
              only.error.text);
        launch d(1, 64), e(1, 64), two(1, 64), simd(1, 64);
        expect(d.order(order, 3).add(0, to), file, "divergent", QK_MSL_ERROR_BARRIER,
               "63 of 64 threads; thread (5, 0, 0) of threadgroup (0, 0, 0) has ended");
        uint32_t n = 40;
        expect(e.order(order, 3).add(0, to).value(1, n), file, "early_return", QK_MSL_ERROR_BARRIER,
               "40 of 64 threads");
        expect(two.order(order, 3).add(0, to), file, "two_barriers", QK_MSL_ERROR_BARRIER, "32 of 64 threads");
        expect(simd.order(order, 3).add(0, to), file, "divergent_simdgroup", QK_MSL_ERROR_BARRIER,
               "simdgroup_barrier is reached by 7 of 32");
        n = 64;
        launch(1, 64).add(0, to).value(1, n).must(file, "early_return");
        for (const char *kernel : {"divergent_matrix", "divergent_matrix_store"}) {
            vector<float> numbers(128);
            launch whole(1, 64), part(1, 64), few(1, 48);
            n = 32;
            whole.order(order, 3).add(0, numbers).value(1, n).must(file, kernel);
            CHECK(numbers[5] == (strcmp(kernel, "divergent_matrix") == 0 ? 9 : 1), "%s: %g", kernel,
                  double(numbers[5]));
            expect(few.order(order, 3).add(0, numbers).value(1, n), file, kernel, QK_MSL_ERROR_BARRIER,
                   "a simdgroup function is reached by 16 of 16 threads");
            n = 31;
            expect(part.order(order, 3).add(0, numbers).value(1, n), file, kernel, QK_MSL_ERROR_BARRIER,
                   "a simdgroup function is reached by 31 of 32 threads");
        }
    }
}

// Without the checks: the poison and the orders alone show the missing barrier.
static void orders_alone() {
    qk_msl_options options = {};
    options.skip = QK_MSL_NO_RACE_CHECK | QK_MSL_NO_UNINITIALISED_CHECK;
    qk_msl *file = open_file(folder + "/faults.metal", &options);
    auto run = [&](const char *kernel, qk_msl_order order) {
        vector<uint32_t> to(64, 0);
        launch(1, 64).order(order, 1).add(0, to).must(file, kernel);
        return to;
    };
    int wrong = 0;
    for (const qk_msl_order order : orders) {
        CHECK(run("neighbour", order) == run("neighbour", QK_MSL_FORWARD), "neighbour does not depend on the order");
        wrong += run("neighbour_without", order) != run("neighbour", QK_MSL_FORWARD);
    }
    CHECK(wrong == 3, "a missing barrier changes the result in %d of 3 orders", wrong);
    CHECK(run("neighbour_without", QK_MSL_FORWARD)[0] == 0xFFFFFFFFu, "threadgroup memory is poisoned with 0xff");
    const vector<uint32_t> forward = run("rounds_without", QK_MSL_FORWARD),
                           reverse = run("rounds_without", QK_MSL_REVERSE);
    CHECK(forward != reverse, "rounds_without differs between two orders");
    qk_msl_close(file);
}

static void undefined(qk_msl *file) {
    vector<uint32_t> to(64, 0), four(4, 9);
    vector<uint8_t> bytes(8, 1);
    uint32_t k = 32, zero = 0;
    launch u(1, 64), shift, division, array, aligned, poisoned;
    expect(u.add(0, to), file, "uninitialised", QK_MSL_ERROR_UNINITIALISED, "nobody has written");
    expect(shift.add(0, to).value(1, k), file, "wide_shift", QK_MSL_ERROR_UNDEFINED, "shift");
    k = 31;
    launch().add(0, to).value(1, k).must(file, "wide_shift");
    CHECK(to[0] == 0x80000000u, "1 << 31");
    expect(division.add(0, to).value(1, zero), file, "zero_division", QK_MSL_ERROR_UNDEFINED, "division");
    k = 4;
    expect(array.add(0, to).value(1, k), file, "outside_array", QK_MSL_ERROR_UNDEFINED, "outside its array");
    expect(aligned.add(0, bytes).add(1, to), file, "misaligned", QK_MSL_ERROR_UNDEFINED, "aligned");
    k = 2;
    to[0] = 0;
    poisoned.add(0, to).value(1, k).must(file, "poisoned_local");
    CHECK(to[0] == 0xAAAAAAAAu, "a local array that nobody has written holds a pattern, not %x", to[0]);
}

static void arguments(qk_msl *file) {
    vector<uint8_t> a(4), b(4);
    uint32_t n = 4;
    uint16_t small = 4;
    launch missing, extra, short_struct, big(1, 2048);
    CHECK(missing.add(0, a).add(1, b).run(file, "copy_bytes") == QK_MSL_ERROR_ARGUMENT &&
              strstr(missing.error.text, "[[buffer(2)]]"),
          "%s", missing.error.text);
    CHECK(extra.add(0, a).add(1, b).value(2, n).add(3, a).run(file, "copy_bytes") == QK_MSL_ERROR_ARGUMENT, "%s",
          extra.error.text);
    CHECK(short_struct.add(0, a).add(1, b).value(2, small).run(file, "copy_bytes") == QK_MSL_ERROR_ARGUMENT, "%s",
          short_struct.error.text);
    CHECK(big.add(0, a).add(1, b).value(2, n).run(file, "copy_bytes") == QK_MSL_ERROR_ARGUMENT &&
              strstr(big.error.text, "2048"),
          "%s", big.error.text);
    launch none;
    CHECK(none.run(file, "no_such_kernel") == QK_MSL_ERROR_ARGUMENT, "a kernel that is not there");
    qk_msl_error error;
    const char bad[] = "#include <metal_stdlib>\nusing namespace metal;\nkernel void f(device float *p [[buffer(0)]]) "
                       "{\n    p[0] = max(1.0, 2);\n}\n";
    CHECK(!qk_msl_open(bad, sizeof bad - 1, "bad.metal", nullptr, &error) && error.status == QK_MSL_ERROR_SOURCE &&
              error.line == 4 && strstr(error.text, "bad.metal:4") && strstr(error.text, "ambiguous"),
          "max(float, int) is ambiguous: %s", error.text);
    qk_msl_options options = {};
    options.compiler = "/no/such/compiler";
    CHECK(!qk_msl_open(bad, sizeof bad - 1, "bad.metal", &options, &error) && error.status == QK_MSL_ERROR_COMPILER,
          "%s", error.text);
}

// ---- signatures ----

static vector<string> sentences;
static void hear(void *, const char *sentence) { sentences.push_back(sentence); }
static bool heard(const char *part) {
    for (const string &s : sentences)
        if (s.find(part) != string::npos) return true;
    return false;
}

static void signatures(const string &folder_) {
    int factor = 5;
    const char yes = 1;
    const qk_msl_value values[] = {{0, 1, &yes}, {7, 4, &factor}};
    qk_msl_options options = {};
    qk_msl *plain = open_file(folder_ + "/signature.metal");
    options.values = values;
    options.value_count = 2;
    qk_msl *file = open_file(folder_ + "/signature.metal", &options);

    static const qk_binding bindings[] = {{0, "blocks", QK_ROLE_WEIGHTS, QK_READ, QK_TYPE_U32, 144, 0, 0, 0, 0},
                                          {1, "indices", QK_ROLE_INDICES, QK_READ, QK_TYPE_U32, 0, 0, 0, 0, 0},
                                          {2, "dst", QK_ROLE_OUTPUT, QK_WRITE, QK_TYPE_F16, 0, 0, 0, 0, 0},
                                          {3, "status", QK_ROLE_STATUS, QK_READ_WRITE, QK_TYPE_U32, 0, 0, 0, 0, 0}};
    static const qk_field push[] = {
        {"rows", 0, 4}, {"row_first", 4, 4}, {"row_end", 8, 4}, {"row_tiles", 12, 4}, {"tokens", 16, 4}};
    qk_kernel d = {};
    d.name = "gather_f16";
    d.api = QK_API_METAL;
    d.entry = "gather";
    d.binding_count = 4;
    d.bindings = bindings;
    d.push_bytes = 20;
    d.push_count = 5;
    d.push = push;
    d.workgroup_size = 64;
    auto compare = [&](const char *kernel) {
        sentences.clear();
        d.entry = kernel;
        const int n = qk_msl_compare(&d, qk_msl_find(file, kernel), hear, nullptr);
        CHECK(n == int(sentences.size()), "as many sentences as differences");
        for (const string &s : sentences) printf("found: %s: %s\n", kernel, s.c_str());
        return n;
    };
    CHECK(compare("gather") == 0, "the descriptor agrees with the text");
    CHECK(compare("gather_swapped") == 2 && heard("buffer 0 is blocks in the descriptor and indices in the text") &&
              heard("buffer 1 is indices"),
          "a buffer index swapped");
    CHECK(compare("gather_moved") == 2 &&
              heard("field 1 of the push struct is row_first in the descriptor and row_end") && heard("field 2"),
          "a struct field moved");
    CHECK(compare("gather_types") >= 9, "many differences");
    CHECK(heard("row_first is at byte 4 of the push struct in the descriptor and at byte 8") &&
              heard("row_first has 4 bytes"),
          "padding");
    CHECK(heard("20 bytes in the descriptor and 32") && heard("dst (buffer 2) holds f16") && heard("only read") &&
              heard("constant address space") && heard("is the status word") && heard("argument more"),
          "each of them");
    CHECK(compare("no_such") == 1, "no such kernel");

    // Instantiations, with their own types.
    static const struct {
        const char *name;
        qk_msl_scalar scalar;
    } scales[] = {{"scale_f32", QK_MSL_F32},
                  {"scale_f16", QK_MSL_F16},
                  {"scale_bf16", QK_MSL_BF16},
                  {"scale_u32", QK_MSL_U32},
                  {"deduced_short", QK_MSL_I16}};
    for (const auto &s : scales) {
        const qk_msl_kernel *k = qk_msl_find(file, s.name);
        CHECK(k, "%s", s.name);
        if (!k) continue;
        CHECK(k->arguments[0].type.scalar == s.scalar && k->arguments[0].index == 0 &&
                  !strcmp(k->arguments[0].space, "device"),
              "%s: %s", s.name, k->arguments[0].type.name);
    }
    CHECK(!qk_msl_find(file, "scale"), "a template is no kernel");
    vector<float> from = {1.5f, -2.0f}, to(2);
    float by = 2.0f;
    launch(1, 2).add(0, from).add(1, to).value(2, by).must(file, "scale_f32");
    CHECK(to[0] == 4.0f && to[1] == -3.0f, "scale_f32");
    vector<uint16_t> bf = {0x3FC0}, bf_to(1); // 1.5
    uint16_t bf_by = 0x4000;
    launch(1, 1).add(0, bf).add(1, bf_to).value(2, bf_by).must(file, "scale_bf16");
    CHECK(bf_to[0] == 0x40C0, "scale_bf16: %x", bf_to[0]);

    // Function constants: this opening, and one without them.
    CHECK(qk_msl_constant_count(file) == 2 && qk_msl_constant_at(file, 1)->id == 7 &&
              qk_msl_constant_at(file, 1)->type.scalar == QK_MSL_I32,
          "function constants");
    vector<int32_t> in = {11}, out(1);
    launch(1, 4).add(0, in).add(1, out).must(file, "constants");
    CHECK(out[0] == 11 * 10 + 1, "constants: %d", out[0]);
    launch(1, 4).add(0, in).add(1, out).must(plain, "constants");
    CHECK(out[0] == -11, "constants, not defined: %d", out[0]);
    const qk_msl_kernel *k = qk_msl_find(file, "constants");
    CHECK(k && k->max_threads == 96, "max_total_threads_per_threadgroup");

    const qk_msl_kernel *inner = qk_msl_find(file, "in_namespace");
    CHECK(inner && inner->arguments[0].field_count == 4, "a struct in a namespace");
    if (inner) {
        const qk_msl_field *f = inner->arguments[0].fields;
        CHECK(f[1].offset == 4 && f[1].type.count == 3 && f[2].offset == 16 && f[2].type.components == 3 &&
                  f[3].offset == 24 && f[3].type.scalar == QK_MSL_U8,
              "%u %u %u", f[1].offset, f[2].offset, f[3].offset);
        CHECK(inner->arguments[0].index == 0 && inner->arguments[0].kind == QK_MSL_BUFFER,
              "an argument without an index has the first one");
    }
    qk_msl_close(file);
    qk_msl_close(plain);
}

int main(int argc, char **argv) {
    folder = argc > 1 ? argv[1] : ".";
    qk_msl *file = open_file(folder + "/faults.metal");
    bounds(file);
    barriers(file);
    undefined(file);
    arguments(file);
    qk_msl_close(file);
    orders_alone();
    signatures(folder);
    return finish("executor");
}
