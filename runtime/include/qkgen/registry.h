/* qkgen/registry.h: descriptors by name. Plain C11, usable from C++; needs libc alone. Every pair has a list of its descriptors,
 * qk_FORMAT_kernels; qkgen_add_kernels() makes a list of these lists, qkgen_kernels.h, for all formats of a target. */
#ifndef QKGEN_REGISTRY_H
#define QKGEN_REGISTRY_H

#include "kernel.h"

#include <stdio.h>
#include <string.h>

/* Fills in the words of pairs that were emitted with --pack, before any of their kernels is used, on one thread; 0: there was no memory. */
static inline int qk_unpack_kernels(const qk_kernel_set *const *sets, size_t count) {
    for (size_t s = 0; s < count; s++)
        if (sets[s]->unpack != NULL && !sets[s]->unpack())
            return 0;
    return 1;
}

/* The kernel of a format for an API; NULL where there is none in the `count` sets. `family` is "gemv", say; `klass` a class of sums,
 * such as "split"; NULL and "exact" are the same, and all others' is NULL; `type` is "f32", "f16" or "bf16", of results or, of sums, of x. */
static inline const qk_kernel *qk_find_kernel(const qk_kernel_set *const *sets, size_t count, qk_api api,
                                              const char *format, const char *family, const char *klass,
                                              const char *type) {
    char name[160];
    const int exact = klass == NULL || strcmp(klass, "exact") == 0;
    snprintf(name, sizeof name, "%s_%s%s%s_%s", format, family, exact ? "" : "_", exact ? "" : klass, type);
    for (size_t s = 0; s < count; s++) {
        if (strcmp(sets[s]->name, format) != 0)
            continue;
        for (uint32_t i = 0; i < sets[s]->count; i++)
            if (sets[s]->items[i]->api == api && strcmp(sets[s]->items[i]->name, name) == 0)
                return sets[s]->items[i];
    }
    return NULL;
}

/* The kernels of a sum in all classes that the sets have, as qk_choose of qkgen/dispatch.h takes them: at most `room` of them; how many. */
static inline size_t qk_find_classes(const qk_kernel_set *const *sets, size_t count, qk_api api, const char *format,
                                     const char *family, const char *type, const qk_kernel **found, size_t room) {
    size_t have = 0;
    const size_t length = strlen(type);
    for (size_t s = 0; s < count; s++)
        for (uint32_t i = 0; strcmp(sets[s]->name, format) == 0 && i < sets[s]->count && have < room; i++) {
            const qk_kernel *kernel = sets[s]->items[i];
            const size_t name = strlen(kernel->name);
            if (kernel->api == api && strcmp(kernel->family, family) == 0 && name > length &&
                kernel->name[name - length - 1] == '_' && strcmp(kernel->name + name - length, type) == 0)
                found[have++] = kernel;
        }
    return have;
}

#endif
