/* compare.c: what the generator says of its kernel against what libclang read in the text. */
#include "executor.h"

#include <qkgen/kernel.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct listener {
    void (*report)(void *context, const char *sentence);
    void *context;
    const char *kernel;
    int count;
} listener;

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static void
differs(listener *to, const char *format, ...) {
    char text[512];
    int n = snprintf(text, sizeof text, "%s: ", to->kernel);
    va_list list;
    va_start(list, format);
    vsnprintf(text + n, sizeof text - (size_t)n, format, list);
    va_end(list);
    if (to->report) to->report(to->context, text);
    ++to->count;
}

static const char *const type_names[] = {"u8", "u16", "u32", "f16", "bf16", "f32"};

/* bf16 is also written as the bits that it has, so that no Metal version with bfloat is needed. */
static int holds(qk_msl_scalar scalar, qk_type element) {
    switch (element) {
    case QK_TYPE_U8: return scalar == QK_MSL_U8;
    case QK_TYPE_U16: return scalar == QK_MSL_U16;
    case QK_TYPE_U32: return scalar == QK_MSL_U32;
    case QK_TYPE_F16: return scalar == QK_MSL_F16;
    case QK_TYPE_BF16: return scalar == QK_MSL_BF16 || scalar == QK_MSL_U16;
    case QK_TYPE_F32: return scalar == QK_MSL_F32;
    }
    return 0;
}

static const qk_msl_argument *buffer_at(const qk_msl_kernel *kernel, uint32_t index) {
    for (uint32_t i = 0; i < kernel->argument_count; ++i)
        if (kernel->arguments[i].kind == QK_MSL_BUFFER && kernel->arguments[i].index == index)
            return &kernel->arguments[i];
    return NULL;
}

static void compare_binding(listener *to, const qk_binding *b, const qk_msl_kernel *kernel) {
    const qk_msl_argument *a = buffer_at(kernel, b->index);
    if (!a) {
        differs(to, "the descriptor has %s at buffer %u; the text has no such buffer", b->name, (unsigned)b->index);
        return;
    }
    const int status = b->role == QK_ROLE_STATUS;
    if (strcmp(a->name, b->name) != 0 && !(status && strcmp(a->name, "out_of_range") == 0))
        differs(to, "buffer %u is %s in the descriptor and %s in the text", (unsigned)b->index, b->name, a->name);
    if (!holds(a->type.scalar, b->element))
        differs(to, "%s (buffer %u) holds %s in the descriptor and %s in the text", b->name, (unsigned)b->index,
                type_names[b->element], a->type.name);
    if (status != (int)a->type.atomic)
        differs(to, "%s (buffer %u) %s in the descriptor and %s in the text", b->name, (unsigned)b->index,
                status ? "is the status word" : "is no status word", a->type.name);
    if (strcmp(a->space, "device") != 0)
        differs(to, "%s (buffer %u) is in the %s address space; it must be device", b->name, (unsigned)b->index,
                *a->space ? a->space : "unnamed");
    if ((b->access == QK_READ) != (a->is_const != 0))
        differs(to, "%s (buffer %u) is %s in the descriptor and %s in the text", b->name, (unsigned)b->index,
                b->access == QK_READ ? "only read" : "written", a->is_const ? "const" : "not const");
    if (b->block_bytes && a->type.bytes && b->block_bytes % a->type.bytes != 0)
        differs(to, "blocks of %u bytes in %s (buffer %u) do not start at a multiple of %s", (unsigned)b->block_bytes,
                b->name, (unsigned)b->index, a->type.name);
}

static void compare_push(listener *to, const qk_kernel *d, const qk_msl_kernel *kernel) {
    const qk_msl_argument *a = buffer_at(kernel, d->binding_count);
    if (!a) {
        if (d->push_bytes)
            differs(to, "the descriptor has a push struct at buffer %u; the text has no such buffer",
                    (unsigned)d->binding_count);
        return;
    }
    if (!d->push_bytes) return; /* found below as a buffer too many */
    if (strcmp(a->space, "constant") != 0 || !a->is_reference)
        differs(to, "buffer %u, the push struct, must be a constant reference", (unsigned)d->binding_count);
    if (a->type.bytes != d->push_bytes)
        differs(to, "the push struct has %u bytes in the descriptor and %u in the text", (unsigned)d->push_bytes,
                (unsigned)a->type.bytes);
    if (a->field_count != d->push_count)
        differs(to, "the push struct has %u fields in the descriptor and %u in the text", (unsigned)d->push_count,
                (unsigned)a->field_count);
    for (uint32_t i = 0; i < d->push_count && i < a->field_count; ++i) {
        const qk_field *want = &d->push[i];
        const qk_msl_field *have = &a->fields[i];
        if (strcmp(want->name, have->name) != 0)
            differs(to, "field %u of the push struct is %s in the descriptor and %s in the text", (unsigned)i,
                    want->name, have->name);
        if (want->offset != have->offset)
            differs(to, "%s is at byte %u of the push struct in the descriptor and at byte %u in the text", want->name,
                    (unsigned)want->offset, (unsigned)have->offset);
        if (want->bytes != have->type.bytes)
            differs(to, "%s has %u bytes in the descriptor and %u in the text", want->name, (unsigned)want->bytes,
                    (unsigned)have->type.bytes);
    }
}

int qk_msl_compare(const struct qk_kernel *d, const qk_msl_kernel *kernel,
                   void (*report)(void *context, const char *sentence), void *context) {
    listener to = {report, context, d->name, 0};
    if (d->api != QK_API_METAL) differs(&to, "the descriptor is not one of a Metal kernel");
    if (!kernel) {
        differs(&to, "the text has no kernel %s", d->entry);
        return to.count;
    }
    if (strcmp(d->entry, kernel->name) != 0)
        differs(&to, "the entry is %s in the descriptor and %s in the text", d->entry, kernel->name);
    for (uint32_t i = 0; i < d->binding_count; ++i) compare_binding(&to, &d->bindings[i], kernel);
    compare_push(&to, d, kernel);
    for (uint32_t i = 0; i < kernel->argument_count; ++i) {
        const qk_msl_argument *a = &kernel->arguments[i];
        int known =
            a->kind == QK_MSL_ATTRIBUTE || (a->kind == QK_MSL_BUFFER && d->push_bytes && a->index == d->binding_count);
        for (uint32_t b = 0; b < d->binding_count && !known; ++b)
            known = a->kind == QK_MSL_BUFFER && a->index == d->bindings[b].index;
        if (!known) differs(&to, "the text has an argument %s that the descriptor does not know", a->name);
    }
    if (kernel->max_threads && kernel->max_threads < d->workgroup_size)
        differs(&to, "workgroups of %u threads; the text allows %u", (unsigned)d->workgroup_size,
                (unsigned)kernel->max_threads);
    return to.count;
}
