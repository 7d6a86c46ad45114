// check.h: the little that the tests here need.
#pragma once

#include "executor.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

static int failures = 0, checks = 0;

#define CHECK(CONDITION, ...)                                                                                          \
    do {                                                                                                               \
        ++checks;                                                                                                      \
        if (!(CONDITION)) {                                                                                            \
            if (++failures <= 40) {                                                                                    \
                printf("%s:%d: ", __FILE__, __LINE__);                                                                 \
                printf(__VA_ARGS__);                                                                                   \
                printf("\n");                                                                                          \
            }                                                                                                          \
        }                                                                                                              \
    } while (0)

// Opens a file of this folder; ends the test when it does not compile.
static inline qk_msl *open_file(const std::string &path, const qk_msl_options *options = nullptr) {
    qk_msl_error error;
    qk_msl *file = qk_msl_open_file(path.c_str(), options, &error);
    if (!file) {
        printf("%s\n", error.text);
        exit(1);
    }
    int cached;
    const double seconds = qk_msl_open_seconds(file, &cached);
    printf("# %s opened in %.2f s%s\n", path.c_str(), seconds, cached ? ", from the cache" : "");
    return file;
}

// One launch, with its buffers by index.
struct launch {
    std::vector<qk_msl_buffer> buffers, shared;
    qk_msl_launch what = {};
    qk_msl_error error = {};
    launch(uint32_t groups = 1, uint32_t group = 1) {
        what.groups[0] = groups;
        what.group[0] = group;
    }
    template <class T> launch &add(uint32_t index, std::vector<T> &data) {
        buffers.push_back({index, data.data(), data.size() * sizeof(T)});
        return *this;
    }
    template <class T> launch &value(uint32_t index, T &x) {
        buffers.push_back({index, &x, sizeof x});
        return *this;
    }
    launch &threadgroup(uint32_t index, uint64_t bytes) {
        shared.push_back({index, nullptr, bytes});
        return *this;
    }
    launch &order(qk_msl_order o, uint64_t seed = 0) {
        what.order = o;
        what.seed = seed;
        return *this;
    }
    qk_msl_status run(qk_msl *file, const char *kernel) {
        what.buffers = buffers.data();
        what.buffer_count = uint32_t(buffers.size());
        what.threadgroup = shared.data();
        what.threadgroup_count = uint32_t(shared.size());
        return qk_msl_run(file, qk_msl_find(file, kernel), &what, &error);
    }
    // For launches that must succeed.
    void must(qk_msl *file, const char *kernel) {
        const qk_msl_status s = run(file, kernel);
        CHECK(s == QK_MSL_OK, "%s: %s", kernel, error.text);
    }
};

static inline uint64_t random64(uint64_t *s) {
    uint64_t x = (*s += 0x9E3779B97F4A7C15u);
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

static inline int finish(const char *name) {
    printf("%s: %d checks, %d failed\n", name, checks, failures);
    return failures ? 1 : 0;
}
