// internal.h: between the files of the executor.
#pragma once

#include "bridge.h"
#include "executor.h"

#include <cstdarg>
#include <cstdio>
#include <string>
#include <vector>

namespace msl {

// What a compiled file carries about itself.
struct table {
    uint32_t kernel_count;
    const qk_msl_kernel *kernels;
    void (*const *entries)(void *const *slots);
    uint32_t constant_count;
    const qk_msl_constant *constants;
};

// ---- text.cpp: from preprocessed MSL to C++ of the same lines ----
std::string rewrite(const std::string &preprocessed);
// Whether a text needs no preprocessor, and what that would make of it.
bool is_preprocessed(const std::string &text, std::string *out);

// ---- build.cpp ----
struct settings {
    std::string compiler, include, cache;
    uint32_t skip;
    qk_msl_math math;
    std::vector<std::string> defines;
};
// Compiles, or finds, the shared object of a text.
bool build(const settings &s, const std::string &text, const std::string &name, std::string *object, bool *cached,
           qk_msl_error *error);
settings choose(const qk_msl_options *options);
bool run(const std::vector<std::string> &command, std::string *output);
std::string read_file(const std::string &path, bool *found = nullptr);
bool write_file(const std::string &path, const std::string &content);

__attribute__((format(printf, 4, 5))) inline qk_msl_status fail(qk_msl_error *error, qk_msl_status status, int line,
                                                                const char *format, ...) {
    if (error) {
        error->status = status;
        error->line = line;
        va_list list;
        va_start(list, format);
        vsnprintf(error->text, sizeof error->text, format, list);
        va_end(list);
    }
    return status;
}

} // namespace msl

// ---- signature.cpp: what libclang reads, as the C++ text that goes behind the kernels ----
// Returns false and fills in `error` when the text does not parse. What is in functions is not read, unless `bodies`.
using qkm_describe_function = bool(const std::string &path, const std::string &text,
                                   const std::vector<std::string> &flags, bool bodies,
                                   const std::string &executor_header, std::string *glue, qk_msl_error *error);
extern "C" __attribute__((visibility("default"))) qkm_describe_function qkm_describe;

struct qk_msl {
    std::string name, object, key;
    bool temporary, cached;
    double seconds;
    void *handle;
    const msl::table *table;
    qkm_bridge *bridge;
    uint32_t skip;
    char *threadgroup_low, *threadgroup_high;
    std::vector<qkm_range> image;
};
