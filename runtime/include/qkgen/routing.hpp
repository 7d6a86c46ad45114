/* qkgen/routing.hpp: for C++ engines that have kernels of their own, too: which operations are ours, which kernels there are for them, and
 * what became of each. Header only, over qkgen/registry.h; C++11. Locks for itself. */
#ifndef QKGEN_ROUTING_HPP
#define QKGEN_ROUTING_HPP

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "registry.h"

namespace qkgen {

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

/* What people ask for with variables of the environment, whose names begin with a prefix:
 *
 *     PREFIX        0: nothing is ours; 1, or not set: what is usual; or names of operations, in capitals or not, with commas: these, also
 *                   where kernels of the engine are known to be faster
 *     PREFIX_CLASS  the least exact class of sums: exact, split, or best, which is any
 *     PREFIX_LOG    set: counts of what became of operations go to stderr in the end */
class routing {
    std::vector<std::string> ours;
    kernel_index index;
    bool logs, named = true;
    std::mutex mutex;
    std::map<std::string, unsigned long long> counts;

    static std::string variable(const std::string &name, const char *otherwise) {
        const char *value = std::getenv(name.c_str());
        return value != nullptr ? value : otherwise;
    }

    static qk_numeric_class least_exact(const std::string &asked) {
        return asked == "exact" ? QK_NUMERIC_EXACT_SUM : asked == "split" ? QK_NUMERIC_SPLIT_SUM : QK_NUMERIC_INT8_SUM;
    }

  public:
    /* `usual` operations are ours unless told otherwise: names in capitals, with commas. */
    routing(const std::string &prefix, const std::string &usual, const qk_kernel_set *const *sets, size_t count)
        : index(sets, count, least_exact(variable(prefix + "_CLASS", "best"))),
          logs(std::getenv((prefix + "_LOG").c_str()) != nullptr) {
        std::string asked = variable(prefix, "1");
        if (asked == "1") {
            asked = usual;
            named = false;
        }
        std::transform(asked.begin(), asked.end(), asked.begin(),
                       [](unsigned char c) { return (char)std::toupper(c); });
        for (size_t from = 0, to; from < asked.size(); from = to + 1) {
            to = std::min(asked.find(',', from), asked.size());
            ours.push_back(asked.substr(from, to - from));
        }
    }
    routing(const routing &) = delete;
    routing &operator=(const routing &) = delete;

    ~routing() {
        for (const auto &count : counts)
            std::fprintf(stderr, "qkgen: %8llu %s\n", count.second, count.first.c_str());
    }

    /* Whether an operation, by its name in capitals, is ours. */
    bool takes(const char *operation) const {
        for (const std::string &one : ours)
            if (one == operation)
                return true;
        return false;
    }

    /* The same for each of `count` that an engine numbers: `name` says how they are called. */
    template <class Name> std::vector<bool> taken(int count, Name name) const {
        std::vector<bool> all;
        for (int i = 0; i < count; i++)
            all.push_back(takes(name(i)));
        return all;
    }

    /* Whether somebody asked for operations by name. */
    bool names_operations() const {
        return named;
    }

    /* Those that are exact enough, as of kernel_index. */
    const std::vector<const qk_kernel *> &find(const std::string &families, const char *format, const char *type) {
        return index.find(families, format, type);
    }

    /* Counts an operation that was launched, or one that was not, by `what` and `how`, which are only put together where somebody wants
     * to know; whether it was. */
    bool count(bool launched, const char *operation, const char *what, const char *how = "") {
        if (logs) {
            const std::lock_guard<std::mutex> lock(mutex);
            counts[std::string(operation) + (launched ? " routed: " : " not routed: ") + what + how]++;
        }
        return launched;
    }
};

} // namespace qkgen

#endif
