/* Python for MLX: a module for each format, whose kernels `mx.fast.metal_kernel` compiles. That takes the body of a
 * kernel and writes the signature itself. So each kernel of the Metal text is taken apart here: what stood in its
 * signature is defined at the beginning of the body, from what MLX passes. */
#include "text/text.h"

#include <ctype.h>
#include <string.h>

/* What precedes the names of MLX's arguments, so that none is a name in a body. */
#define ARGUMENT "arg_"

enum { MAX_CONSTANTS = 5 };

/* A kernel of a Metal text. */
typedef struct kernel_text {
    const char *before; /* its comment, and the struct of its constants */
    const char *parameters, *body;
    const char *constants[MAX_CONSTANTS]; /* names of its function constants */
    uint32_t n_constants;
} kernel_text;

/* References into constant memory become such into a thread's own: MLX passes eight numbers in device memory. */
static char *in_thread(qg_arena *arena, const char *text) {
    static const char constant[] = "constant ";
    qg_text out = qg_text_new(arena);
    for (const char *at = text; *at;) {
        const char *found = strstr(at, constant);
        if (!found) found = at + strlen(at);
        qg_text_add(&out, at, (size_t)(found - at));
        if (!*found) break;
        const char *end = found + sizeof constant - 1;
        while (isalnum((unsigned char)*end) || *end == '_' || *end == ':') ++end;
        qg_text_puts(&out, strncmp(end, " &", 2) == 0 ? "thread const " : constant);
        at = found + sizeof constant - 1;
    }
    return out.data ? out.data : qg_format(arena, "%s", "");
}

/* Takes lines out of `text` that declare function constants, and notes their names. */
static char *without_constants(qg_arena *arena, const char *text, kernel_text *kernel) {
    static const char declared[] = "constant uint ";
    qg_text out = qg_text_new(arena);
    qg_text_puts(&out, "");
    while (*text) {
        const char *end = strchr(text, '\n');
        const size_t length = end ? (size_t)(end + 1 - text) : strlen(text);
        const char *line = qg_strndup(arena, text, length), *name = line + sizeof declared - 1;
        if (strncmp(line, declared, sizeof declared - 1) == 0 && strstr(line, "[[function_constant(") &&
            kernel->n_constants < MAX_CONSTANTS)
            kernel->constants[kernel->n_constants++] = qg_strndup(arena, name, strcspn(name, " "));
        else
            qg_text_puts(&out, line);
        text += length;
    }
    return out.data;
}

/* The kernel of that name in what follows `*at`, which is then behind it; false where its text is not as expected. */
static bool take_apart(qg_arena *arena, const char **at, const char *name, kernel_text *kernel) {
    const char *head = strstr(*at, qg_format(arena, "kernel void %s(\n", name));
    const char *open = head ? strchr(head, '\n') : NULL, *close = open ? strstr(open, ")\n{\n") : NULL;
    const char *end = close ? strstr(close, "\n}\n") : NULL;
    *kernel = (kernel_text){.n_constants = 0};
    if (!end) return false;
    const char *before = qg_strndup(arena, *at, (size_t)(head - *at));
    kernel->before = in_thread(arena, without_constants(arena, before + strspn(before, "\n"), kernel));
    kernel->parameters = qg_strndup(arena, open + 1, (size_t)(close - open - 1));
    kernel->body = in_thread(arena, qg_strndup(arena, close + 4, (size_t)(end + 1 - close - 4)));
    *at = end + 3;
    return true;
}

/* Of these, MLX passes three dimensions. */
static bool has_dimensions(const char *attribute) {
    return strstr(attribute, "_in_grid") || strstr(attribute, "_per_grid") ||
           strcmp(attribute, "threads_per_threadgroup") == 0;
}

/* A line that defines what stood in the signature as `parameter [[attribute]]`. */
static bool add_definition(qg_text *text, const char *parameter) {
    qg_arena *arena = text->arena;
    const char *open = strstr(parameter, " [["), *close = open ? strstr(open, "]]") : NULL;
    if (!close) return false;
    const char *name = open;
    while (name > parameter && (isalnum((unsigned char)name[-1]) || name[-1] == '_')) --name;
    const char *type = qg_strndup(arena, parameter, (size_t)(name - parameter)), *own;
    name = qg_strndup(arena, name, (size_t)(open - name));
    const char *attribute = qg_strndup(arena, open + 3, (size_t)(close - open - 3));
    if (strncmp(attribute, "buffer(", 7) != 0)
        qg_text_printf(text, "    const %s%s = %s%s;\n", type, name, attribute, has_dimensions(attribute) ? ".x" : "");
    else if (strncmp(type, "constant ", 9) == 0 && (own = strchr(type, '&')) != NULL)
        qg_text_printf(text, "    const %.*s%s = *(device const %.*s*)" ARGUMENT "%s;\n", (int)(own - type - 9),
                       type + 9, name, (int)(own - type - 9), type + 9, name);
    else
        qg_text_printf(text, "    %s%s = (%s)" ARGUMENT "%s;\n", type, name, type, name);
    return true;
}

/* The body of a kernel, behind the definitions of what stood in its signature. */
static char *whole_body(qg_arena *arena, const kernel_text *kernel) {
    qg_text text = qg_text_new(arena);
    const char *at = kernel->parameters;
    while (*at) {
        at += strspn(at, " \n");
        const char *end = strstr(at, "]]");
        if (!end || !add_definition(&text, qg_strndup(arena, at, (size_t)(end + 2 - at)))) return NULL;
        at = end + 2;
        at += *at == ',';
    }
    qg_text_puts(&text, kernel->body);
    return text.data;
}

/* Names as a list in Python. */
static void add_name(qg_text *list, const char *prefix, const char *name) {
    qg_text_printf(list, "%s\"%s%s\"", list->length ? ", " : "", prefix, name);
}

static char *kernel_entry(qg_arena *arena, const qg_kernel *kernel, const kernel_text *text, const char **why) {
    const qk_kernel *described = qg_describe(arena, kernel, QK_API_METAL, NULL);
    qg_text inputs = qg_text_new(arena), outputs = qg_text_new(arena), constants = qg_text_new(arena),
            push = qg_text_new(arena), all = qg_text_new(arena);
    for (uint32_t i = 0; i < described->binding_count; ++i) {
        const qk_binding *b = &described->bindings[i];
        add_name(b->access == QK_READ ? &inputs : &outputs, ARGUMENT, b->name);
    }
    add_name(&inputs, ARGUMENT, "push");
    for (uint32_t i = 0; i < text->n_constants; ++i) add_name(&constants, "", text->constants[i]);
    for (uint32_t i = 0; i < described->push_count; ++i) add_name(&push, "", described->push[i].name);
    const char *body = whole_body(arena, text);
    if (!body || strstr(body, "\"\"\"") || strchr(body, '\\')) {
        *why = qg_format(arena, "mlx.c: the Metal text of %s is not as expected", kernel->name);
        return NULL;
    }
    qg_text_printf(&all,
                   "_KERNELS[\"%s\"] = _kernel(\n    \"%s\",\n    inputs=[%s],\n    outputs=[%s],\n    "
                   "constants=[%s],\n    push=[%s],\n    tile=%u,\n    threads=%u,\n    header=r\"\"\"\n%s\"\"\",\n    "
                   "source=r\"\"\"\n%s\"\"\",\n)\n",
                   qg_format(arena, "%s_%s", kernel->family->name, qg_scalars[kernel->type].name), kernel->name,
                   inputs.data ? inputs.data : "", outputs.data ? outputs.data : "",
                   constants.data ? constants.data : "", push.data ? push.data : "", described->tile_elements,
                   described->workgroup_size, text->before, body);
    return all.data;
}

/* What of a request MLX can launch: what reads blocks and writes new arrays. With experts, launches of tiles sort pairs
 * where they lie. */
static qg_request readers_of(qg_arena *arena, const qg_request *request) {
    const qg_family **families = QG_NEW_ARRAY(arena, const qg_family *, request->n_families + 1);
    qg_request own = *request;
    own.vulkan = false;
    own.metal = true;
    own.classes = 0;
    own.command = qg_format(arena, "%s --api mlx", request->command);
    own.families = families;
    own.n_families = 0;
    own.list = QG_NEW(arena, qg_kernel_list);
    for (uint32_t i = 0; i < request->n_families; ++i)
        if (!request->families[i]->encodes && !(request->families[i]->in_tiles && request->families[i]->experts))
            families[own.n_families++] = request->families[i];
    return own;
}

static bool has_family(const qg_request *request, qg_family_id id) {
    for (uint32_t i = 0; i < request->n_families; ++i)
        if (request->families[i]->id == id) return true;
    return false;
}

static char *buffer_list(qg_arena *arena, const qg_layout *layout) {
    qg_text text = qg_text_new(arena);
    for (uint32_t i = 0; i < layout->n_buffers; ++i)
        qg_text_printf(&text, "%s(\"%s\", %u)%s", i ? ", " : "", layout->buffers[i].name, layout->buffers[i].bytes,
                       layout->n_buffers == 1 ? "," : "");
    return text.data;
}

/* What the functions of Python have to know of tiles; not all formats have such a kernel. */
static void tile_holes(qg_arena *arena, qg_holes *holes, const qg_request *own) {
    const qg_kernel *kernels;
    const uint32_t count = qg_kernels(arena, own, &kernels);
    const qk_kernel *described = NULL;
    for (uint32_t i = 0; i < count; ++i)
        if (kernels[i].family->in_tiles) described = qg_describe(arena, &kernels[i], QK_API_METAL, NULL);
    qg_hole(holes, "gemm", described ? "" : NULL);
    if (!described) return;
    qg_hole(holes, "operand_tile", qg_format(arena, "%u", described->operand_tile));
    qg_hole(holes, "operand_words", qg_format(arena, "%u", described->operand_words));
    qg_hole(holes, "wide_block", qg_format(arena, "%u", described->wide_block));
}

static char *module_of(qg_arena *arena, const qg_templates *templates, const qg_request *own, const char *header,
                       const char *kernels, const char **why) {
    const qg_layout *layout = own->layout;
    const bool sums =
        has_family(own, QG_FAMILY_GEMV) || has_family(own, QG_FAMILY_GEMV_ID) || has_family(own, QG_FAMILY_GEMM);
    qg_holes holes = {.count = 0};
    tile_holes(arena, &holes, own);
    qg_hole(&holes, "banner",
            qg_banner(arena, own, NULL, qg_format(arena, "%s: Metal kernels for MLX.", layout->name), "# ", "# ", ""));
    qg_hole(&holes, "format", layout->name);
    qg_hole(&holes, "elements", qg_format(arena, "%u", layout->elements));
    qg_hole(&holes, "buffers", buffer_list(arena, layout));
    qg_hole(&holes, "header", header);
    qg_hole(&holes, "kernels", kernels);
    qg_hole(&holes, "dequant", has_family(own, QG_FAMILY_DEQUANT) ? "" : NULL);
    qg_hole(&holes, "gather", has_family(own, QG_FAMILY_GATHER) ? "" : NULL);
    qg_hole(&holes, "gemv", has_family(own, QG_FAMILY_GEMV) ? "" : NULL);
    qg_hole(&holes, "gemv_id", has_family(own, QG_FAMILY_GEMV_ID) ? "" : NULL);
    qg_hole(&holes, "sums", sums ? "" : NULL);
    qg_hole(&holes, "matmul", has_family(own, QG_FAMILY_GEMV) && has_family(own, QG_FAMILY_DEQUANT) ? "" : NULL);
    return qg_expand(arena, templates, "mlx.py", holes.items, holes.count, why);
}

static bool takes(const qg_layout *layout) { return layout->view == QG_VIEW_BLOCKS; }

static char *print_mlx(qg_arena *arena, const qg_templates *templates, const qg_request *request, const char **why) {
    const qg_request own = readers_of(arena, request);
    if (!takes(request->layout) || !own.n_families) {
        *why = own.n_families
                   ? "modules for MLX are of formats whose blocks lie one after the other; leave this one out"
                   : "MLX has kernels of dequant, gather, gemv, gemm and gemv_id: add --family gemv, say";
        return NULL;
    }
    const char *all = qg_msl(arena, templates, &own, why);
    if (!all) return NULL;
    const char *closing = qg_format(arena, "}  // namespace qk_%s\n", own.layout->name);
    const char *first = strstr(all, "#include <metal_stdlib>"), *end = first ? strstr(first, closing) : NULL;
    if (!end) {
        *why = "mlx.c: the Metal text has no namespace";
        return NULL;
    }
    const char *at = end + strlen(closing);
    const char *header = in_thread(arena, qg_strndup(arena, first, (size_t)(at - first)));
    const qg_kernel *kernels;
    const uint32_t count = qg_kernels(arena, &own, &kernels);
    qg_text text = qg_text_new(arena);
    for (uint32_t i = 0; i < count; ++i) {
        kernel_text kernel;
        if (!qg_on_metal(&kernels[i])) continue;
        if (!take_apart(arena, &at, kernels[i].name, &kernel)) {
            *why = qg_format(arena, "mlx.c: the Metal text of %s is not as expected", kernels[i].name);
            return NULL;
        }
        const char *entry = kernel_entry(arena, &kernels[i], &kernel, why);
        if (!entry) return NULL;
        qg_text_printf(&text, "%s%s", text.length ? "\n" : "", entry);
    }
    return module_of(arena, templates, &own, header, text.data, why);
}

/* Its kernels are those of QG_MSL. */
const qg_target qg_target_mlx = {
    .api = "mlx", .ending = "py", .prefix = "qkgen_", .takes = takes, .print = print_mlx, .column = QG_MSL};
