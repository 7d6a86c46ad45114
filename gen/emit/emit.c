/* Writing the tree. Everything is generated, compiled and validated in memory first; only when all of it is good does a
 * file change. Formats are independent of each other, so threads take them one by one. */
#include "emit/emit.h"
#include "base/sha256.h"
#include "emit/spirv.h"

#include <dirent.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct emitted {
    const char *path; /* below `out` */
    const char *text; /* NULL of a product that is not shown */
    bool built;       /* depends on the installed compiler, so it is neither committed nor compared */
    bool differs;     /* from the file that is there */
    char sha256[QG_SHA256_HEX + 1];
} emitted;

/* What one format became. */
typedef struct product {
    emitted files[96];
    uint32_t n_files;
    bool shown; /* its text is written; of others the manifest has hashes */
    uint32_t modules, left_out;
    size_t module_bytes;
    const char *why; /* after a failure */
} product;

typedef struct emission {
    const qg_emit_options *options;
    qg_templates templates;
    const char *kernel_h, *dispatch_h, *unpack_h;
    const char **set_dispatch_h; /* of each set of families without a format */
    uint32_t n_products;
    product *products; /* of the formats, then of the sets */
    uint32_t next;
    pthread_mutex_t lock;
} emission;

static void add(product *product, const char *path, const char *text, bool built) {
    product->files[product->n_files++] = (emitted){.path = path, .text = text, .built = built};
}

static const char *command(qg_arena *arena, const qg_layout *layout) {
    const char *math =
        layout->math == QG_F32 ? "" : qg_format(arena, " --decode-math %s", qg_scalars[layout->math].name);
    return qg_format(arena, "qkgen emit --format %s%s", layout->format, math);
}

/* Compiles one module, and adds its GLSL where that is written. */
static bool add_module(qg_arena *arena, const emission *e, const char *path, const char *glsl, qk_code *code,
                       product *product) {
    code->data = qg_spirv_compile(arena, path, glsl, &code->bytes, &product->why);
    if (!code->data) return false;
    product->modules += 1;
    product->module_bytes += code->bytes;
    if (!e->options->embed) add(product, path, glsl, false);
    return true;
}

/* GLSL and words of one schedule of a kernel. */
static const qk_code *compile_module(qg_arena *arena, const emission *e, const qg_request *request,
                                     const qg_kernel *kernel, qk_schedule schedule, product *product) {
    const char *path = qg_format(arena, "%s/%s.comp", request->layout->name, qg_module_name(arena, kernel, schedule));
    const char *glsl =
        qg_glsl(arena, &e->templates, request, qg_program_of(arena, kernel, QK_API_VULKAN, schedule), &product->why);
    qk_code *code = QG_NEW(arena, qk_code);
    return glsl && add_module(arena, e, path, glsl, code, product) ? code : NULL;
}

/* GLSL and words of every kernel. */
static const qg_modules *compile_kernels(qg_arena *arena, const emission *e, const qg_request *request,
                                         product *product) {
    const qg_kernel *kernels;
    const uint32_t count = qg_kernels(arena, request, &kernels);
    qg_modules *modules = QG_NEW_ARRAY(arena, qg_modules, count + 1);
    for (uint32_t i = 0; i < count; ++i) {
        /* Classes that share modules may have other schedules. */
        const uint32_t all = qg_schedules_of(&kernels[i]) ? qg_schedules_of(&kernels[i]) : 1u;
        for (uint32_t s = 0; s < QK_SCHEDULE_COUNT && qg_on_vulkan(request, &kernels[i]); ++s) {
            if (!(all >> s & 1) || qg_is_shared(kernels, i, (qk_schedule)s)) continue;
            const qk_code *code = compile_module(arena, e, request, &kernels[i], (qk_schedule)s, product);
            if (!code) return NULL;
            modules[i].of[s] = code;
        }
    }
    return modules;
}

static bool any_on_metal(qg_arena *arena, const qg_request *request) {
    const qg_kernel *kernels;
    const uint32_t count = qg_kernels(arena, request, &kernels);
    for (uint32_t i = 0; i < count; ++i)
        if (qg_on_metal(&kernels[i])) return true;
    return false;
}

/* The kernels of APIs that are text alone. */
static bool add_texts(qg_arena *arena, const emission *e, const qg_request *request, const char *folder,
                      product *product) {
    for (uint32_t t = 0; t < QG_TARGET_COUNT; ++t) {
        const qg_target *target = qg_targets[t];
        if (!(e->options->texts >> t & 1)) continue;
        const char *text = target->print(arena, &e->templates, request, &product->why);
        if (!text) return false;
        const char *prefix = target->prefix ? target->prefix : "";
        add(product, qg_format(arena, "%s%s%s.%s", folder, prefix, request->layout->name, target->ending), text, false);
    }
    return true;
}

/* The formats that blocks of this one are transcoded to, which the command of the banner names, too. */
static void add_transcodes(qg_arena *arena, const qg_emit_options *o, qg_request *request) {
    const qg_layout **to = QG_NEW_ARRAY(arena, const qg_layout *, o->n_transcodes + 1);
    for (uint32_t i = 0; i < o->n_transcodes; ++i) {
        if (strcmp(o->transcodes[i].from->name, request->layout->name) != 0) continue;
        to[request->n_to++] = o->transcodes[i].to;
        request->command = qg_format(arena, "%s --transcode %s:%s", request->command, request->layout->name,
                                     o->transcodes[i].to->name);
    }
    request->to = to;
}

static void emit_format(qg_arena *arena, const emission *e, const qg_layout *layout, product *product) {
    const qg_emit_options *o = e->options;
    qg_kernel_list kernels = {0};
    qg_request request = {.layout = layout,
                          .n_families = o->n_families,
                          .families = o->families,
                          .classes = o->classes,
                          .types = o->types,
                          .schedules = o->schedules,
                          .vulkan = o->vulkan,
                          .metal = o->metal,
                          .command = command(arena, layout)};
    add_transcodes(arena, o, &request);
    request.metal = o->metal && any_on_metal(arena, &request);
    if (o->vulkan && !qg_spirv_has_matrices()) {
        const qg_kernel *all;
        const uint32_t count = qg_kernels(arena, &request, &all);
        for (uint32_t i = 0; i < count; ++i) product->left_out += qg_is_mma(&all[i]);
        request.without_mma = true;
    }
    request.list = &kernels; /* from here on it stays as it is */
    const char *name = layout->name, *msl = "";
    if (o->texts_alone) {
        add_texts(arena, e, &request, "", product);
        return;
    }
    const qg_modules *modules = compile_kernels(arena, e, &request, product);
    if (!modules) return;
    if (request.metal && !(msl = qg_msl(arena, &e->templates, &request, &product->why))) return;
    const qg_c_options c = {.embed = o->embed,
                            .pack = o->pack,
                            .unpack_h = e->unpack_h,
                            .kernel_h = e->kernel_h,
                            .dispatch_h = e->dispatch_h,
                            .modules = modules,
                            .msl = msl};
    const char *header = qg_c_header(arena, &e->templates, &request, &c, &product->why);
    const char *source = header ? qg_c_source(arena, &e->templates, &request, &c, &product->why) : NULL;
    if (!source) return;
    const char *folder = o->embed ? "" : qg_format(arena, "%s/", name);
    if (!add_texts(arena, e, &request, folder, product)) return;
    if (request.metal && !o->embed) add(product, qg_format(arena, "%s%s.metal", folder, name), msl, false);
    add(product, qg_format(arena, "%s%s.h", folder, name), header, false);
    add(product, qg_format(arena, "%s%s.c", folder, name), source, false);
    if (product->shown && !o->embed && (request.vulkan || request.metal))
        add(product, qg_format(arena, "%s%s_code.c", folder, name), qg_c_code(arena, &request, &c), true);
}

/* ---- families that take no format ---- */

static qg_plain_request plain_request(qg_arena *arena, const qg_emit_options *o, const qg_plain_set *set) {
    const qg_plain **families = QG_NEW_ARRAY(arena, const qg_plain *, set->n_families);
    qg_plain_request r = {.set = set, .vulkan = o->vulkan, .metal = o->metal, .command = "qkgen emit"};
    for (uint32_t i = 0; i < o->n_plains; ++i) {
        const qg_plain_set *of = NULL;
        qg_plain_named(o->plains[i]->name, &of);
        if (of == set) families[r.n_families++] = o->plains[i];
    }
    r.families = families;
    return r;
}

static void emit_set(qg_arena *arena, const emission *e, uint32_t number, product *product) {
    const qg_emit_options *o = e->options;
    const qg_plain_request request = plain_request(arena, o, &qg_plain_sets[number]);
    const char *name = request.set->name, *msl = "";
    if (!request.n_families) return;
    qk_code *codes = QG_NEW_ARRAY(arena, qk_code, request.n_families);
    const char *folder = o->embed ? "" : qg_format(arena, "%s/", name);
    for (uint32_t i = 0; request.vulkan && i < request.n_families; ++i) {
        const char *glsl = qg_plain_glsl(arena, &e->templates, &request, request.families[i], &product->why);
        const char *path = qg_format(arena, "%s%s.comp", folder, request.families[i]->name);
        if (!glsl || !add_module(arena, e, path, glsl, &codes[i], product)) return;
    }
    if (request.metal && !(msl = qg_plain_msl(arena, &e->templates, &request, &product->why))) return;
    const qg_c_options c = {.embed = o->embed,
                            .kernel_h = e->kernel_h,
                            .dispatch_h = o->embed ? e->set_dispatch_h[number] : NULL,
                            .spirv = codes,
                            .msl = msl};
    const char *header = qg_plain_header(arena, &e->templates, &request, &c, &product->why);
    const char *source = header ? qg_plain_source(arena, &e->templates, &request, &c, &product->why) : NULL;
    if (!source) return;
    if (request.metal && !o->embed) add(product, qg_format(arena, "%s%s.metal", folder, name), msl, false);
    add(product, qg_format(arena, "%s%s.h", folder, name), header, false);
    add(product, qg_format(arena, "%s%s.c", folder, name), source, false);
    if (product->shown && !o->embed && (request.vulkan || request.metal))
        add(product, qg_format(arena, "%s%s_code.c", folder, name), qg_plain_code(arena, &request, &c), true);
}

/* What is to be written outlives what it was made from, which is a hundred times as large. */
static void keep(qg_arena *arena, product *product) {
    for (uint32_t f = 0; f < product->n_files; ++f) {
        emitted *file = &product->files[f];
        const size_t length = strlen(file->text);
        if (!file->built) qg_sha256(file->text, length, file->sha256);
        file->path = qg_strndup(arena, file->path, strlen(file->path));
        file->text = product->shown ? qg_strndup(arena, file->text, length) : NULL;
    }
    if (product->why) product->why = qg_strndup(arena, product->why, strlen(product->why));
}

typedef struct worker {
    emission *emission;
    qg_arena *arena;
    pthread_t thread;
} worker;

static void *work(void *context) {
    worker *w = context;
    emission *e = w->emission;
    for (;;) {
        pthread_mutex_lock(&e->lock);
        const uint32_t i = e->next < e->n_products ? e->next++ : UINT32_MAX, formats = e->options->n_layouts;
        pthread_mutex_unlock(&e->lock);
        if (i == UINT32_MAX) return NULL;
        qg_arena *scratch = qg_arena_new();
        if (i < formats)
            emit_format(scratch, e, e->options->layouts[i], &e->products[i]);
        else
            emit_set(scratch, e, i - formats, &e->products[i]);
        keep(w->arena, &e->products[i]);
        qg_arena_free(scratch);
    }
}

/* ---- manifest ---- */

/* How a manifest names a file among those of a format: by its path in the folder, without the name of the format. */
static const char *key(const char *name, const char *path) {
    const char *slash = strrchr(path, '/'), *file = slash ? slash + 1 : path;
    const size_t length = strlen(name);
    return strncmp(file, name, length) == 0 && strchr("_.", file[length]) ? file + length : file;
}

/* A file on each line, so that a change shows in a comparison of two manifests as the lines of what changed. */
static void add_files(qg_text *text, const char *name, const product *p) {
    for (uint32_t f = 0, n = 0; f < p->n_files; ++f)
        if (!p->files[f].built)
            qg_text_printf(text, "%s\n \"%s\": \"%.*s\"", n++ ? "," : "", key(name, p->files[f].path), QG_SHA256_SHORT,
                           p->files[f].sha256);
    qg_text_puts(text, "}}");
}

/* How the entry of a format begins. */
static const char *entry(qg_arena *arena, const char *name) { return qg_format(arena, "\n{\"name\": \"%s\",", name); }

static char *manifest(qg_arena *arena, const emission *e) {
    qg_text text = qg_text_new(arena);
    qg_text_puts(&text, "{\"formats\": [");
    for (uint32_t i = 0; i < e->options->n_layouts; ++i) {
        const qg_layout *layout = e->options->layouts[i];
        qg_text_printf(&text, "%s%s \"elements\": %u, \"bytes\": %u, \"buffers\": [", i ? "," : "",
                       entry(arena, layout->name), layout->elements, layout->block_bytes);
        for (uint32_t b = 0; b < layout->n_buffers; ++b)
            qg_text_printf(&text, "%s{\"name\": \"%s\", \"bytes\": %u}", b ? ", " : "", layout->buffers[b].name,
                           layout->buffers[b].bytes);
        qg_text_puts(&text, "], \"sha256\": {");
        add_files(&text, layout->name, &e->products[i]);
    }
    qg_text_puts(&text, "\n],\n\"without_format\": [");
    for (uint32_t s = 0, n = 0; s < qg_n_plain_sets; ++s) {
        const product *p = &e->products[e->options->n_layouts + s];
        if (!p->n_files) continue;
        qg_text_printf(&text, "%s%s \"sha256\": {", n++ ? "," : "", entry(arena, qg_plain_sets[s].name));
        add_files(&text, qg_plain_sets[s].name, p);
    }
    qg_text_puts(&text, "\n]}\n");
    return text.data;
}

/* ---- writing and checking ---- */

static bool listed(const emission *e, const char *path) {
    for (uint32_t i = 0; i < e->n_products; ++i)
        for (uint32_t f = 0; e->products[i].shown && f < e->products[i].n_files; ++f)
            if (strcmp(e->products[i].files[f].path, path) == 0) return true;
    return strcmp(path, "manifest.json") == 0;
}

/* Whether a file lies in the folder of a format that is not shown. */
static bool of_hidden(const emission *e, const char *path) {
    for (uint32_t i = 0; i < e->options->n_layouts; ++i) {
        const char *name = e->options->layouts[i]->name;
        const size_t length = strlen(name);
        if (!e->products[i].shown && strncmp(path, name, length) == 0 && path[length] == '/') return true;
    }
    return false;
}

/* The command that makes the tree what it should be. */
static const char *remedy(qg_arena *arena, const qg_emit_options *o) {
    return o->shown ? qg_format(arena, "qkgen emit --shown %s --out %s", o->shown_list, o->out) : "qkgen emit";
}

typedef struct orphans {
    qg_arena *arena;
    const emission *e;
    bool remove;
    uint32_t count;
    qg_text *log;
} orphans;

/* Files below `out` that are generated no more, or not shown. Hidden files are the user's. */
static void find_orphans(orphans *o, const char *below, uint32_t depth) {
    const char *folder = qg_format(o->arena, "%s%s%s", o->e->options->out, *below ? "/" : "", below);
    DIR *dir = depth < 4 ? opendir(folder) : NULL;
    if (!dir) return;
    for (const struct dirent *entry; (entry = readdir(dir));) {
        if (entry->d_name[0] == '.') continue;
        const char *path = qg_format(o->arena, "%s%s%s", below, *below ? "/" : "", entry->d_name);
        const char *full = qg_format(o->arena, "%s/%s", o->e->options->out, path);
        struct stat info;
        if (lstat(full, &info) != 0) continue;
        if (S_ISDIR(info.st_mode)) {
            find_orphans(o, path, depth + 1);
            if (o->remove) rmdir(full); /* goes only when it has become empty */
            continue;
        }
        if (listed(o->e, path)) continue;
        o->count += 1;
        if (o->remove)
            unlink(full);
        else if (of_hidden(o->e, path))
            qg_text_printf(o->log, "%s: error: %s does not list its format; delete it, or run `%s`\n", full,
                           o->e->options->shown_list, remedy(o->arena, o->e->options));
        else
            qg_text_printf(o->log, "%s: error: nothing generates this file; delete it, or run `%s`\n", full,
                           remedy(o->arena, o->e->options));
    }
    closedir(dir);
}

static bool check_file(qg_arena *arena, const char *full, const char *text, const char *command, qg_text *log) {
    size_t length = 0;
    const char *why = NULL;
    const char *there = qg_read_file(arena, full, (size_t)1 << 28, &length, &why);
    if (!there) {
        qg_text_printf(log, "%s: error: missing; run `%s`\n", full, command);
        return false;
    }
    if (length == strlen(text) && memcmp(there, text, length) == 0) return true;
    uint32_t line = 1;
    for (size_t i = 0; i < length && text[i] && there[i] == text[i]; ++i) line += text[i] == '\n';
    qg_text_printf(log, "%s:%u: error: differs from what the specification generates; run `%s`\n", full, line, command);
    return false;
}

static bool write_file(qg_arena *arena, const char *full, const char *text, uint32_t *changed, qg_text *log) {
    size_t length = 0;
    const char *why = NULL;
    const char *there = qg_read_file(arena, full, (size_t)1 << 28, &length, &why);
    if (there && length == strlen(text) && memcmp(there, text, length) == 0) return true;
    why = qg_write_file(arena, full, text, strlen(text));
    if (why)
        qg_text_printf(log, "%s: error: cannot write: %s\n", full, why);
    else
        *changed += 1;
    return !why;
}

bool qg_settle(qg_arena *arena, const char *path, const char *text, const char *command, bool check, uint32_t *changed,
               qg_text *log) {
    return check ? check_file(arena, path, text, command, log) : write_file(arena, path, text, changed, log);
}

static bool settle(qg_arena *arena, const emission *e, const char *path, const char *text, bool built,
                   qg_emit_report *report, qg_text *log) {
    const qg_emit_options *o = e->options;
    report->files += 1;
    if (o->check && built) return true;
    const char *full = qg_format(arena, "%s/%s", o->out, path);
    return qg_settle(arena, full, text, remedy(arena, o), o->check, &report->changed, log);
}

static bool settle_product(const emission *e, product *p, qg_emit_report *report, qg_text *log) {
    qg_arena *scratch = qg_arena_new(); /* for what is there, in all as much as is written */
    bool good = true;
    for (uint32_t f = 0; f < p->n_files; ++f) {
        emitted *file = &p->files[f];
        if (p->shown)
            file->differs = !settle(scratch, e, file->path, file->text, file->built, report, log);
        else
            report->hashed += !file->built;
        good &= !file->differs;
    }
    qg_arena_free(scratch);
    return good;
}

/* A manifest that is there. */
typedef struct hashes {
    const char *path, *text;
} hashes;

/* The hash of a file, or NULL. */
static const char *find_hash(qg_arena *arena, const hashes *there, const char *name, const char *path) {
    const char *from = strstr(there->text, entry(arena, name)), *next = from ? strstr(from + 1, "\n{\"name\"") : NULL;
    const char *wanted = qg_format(arena, "\n \"%s\": \"", key(name, path)),
               *found = from ? strstr(from, wanted) : NULL;
    return found && (!next || found < next) ? found + strlen(wanted) : NULL;
}

static uint32_t line_at(const char *text, const char *at) {
    uint32_t line = 1;
    for (; text < at; ++text) line += *text == '\n';
    return line;
}

static void check_hash(qg_arena *arena, const emission *e, uint32_t number, const emitted *file, const hashes *there,
                       qg_text *log) {
    const qg_emit_options *o = e->options;
    const char *name = number < o->n_layouts ? o->layouts[number]->name : qg_plain_sets[number - o->n_layouts].name;
    const char *hash = find_hash(arena, there, name, file->path);
    if (hash && strncmp(hash, file->sha256, QG_SHA256_SHORT) == 0) return;
    if (!hash) {
        qg_text_printf(log, "%s: error: has no hash of %s; run `%s`\n", there->path, file->path, remedy(arena, o));
        return;
    }
    const uint32_t line = line_at(there->text, hash);
    if (e->products[number].shown) {
        qg_text_printf(log, "%s:%u: error: this is not the hash of %s; run `%s`\n", there->path, line, file->path,
                       remedy(arena, o));
        return;
    }
    qg_text_printf(
        log,
        "%s:%u: error: %s of format %s is not what it was: `qkgen emit --format %s --out DIR`, of this qkgen "
        "and of the one before, shows how; if it is right, run `%s`\n",
        there->path, line, file->path, name, name, remedy(arena, o));
}

/* Which files a manifest that differs is about. Of a file that was compared itself, that was said. */
static void explain_manifest(qg_arena *arena, const emission *e, qg_text *log) {
    const char *why = NULL;
    size_t length = 0;
    hashes there = {.path = qg_format(arena, "%s/manifest.json", e->options->out)};
    there.text = qg_read_file(arena, there.path, (size_t)1 << 28, &length, &why);
    if (!there.text) return;
    for (uint32_t i = 0; i < e->n_products; ++i)
        for (uint32_t f = 0; f < e->products[i].n_files; ++f) {
            const emitted *file = &e->products[i].files[f];
            if (!file->built && !file->differs) check_hash(arena, e, i, file, &there, log);
        }
}

static bool settle_all(qg_arena *arena, const emission *e, qg_emit_report *report, qg_text *log) {
    bool good = true;
    for (uint32_t i = 0; i < e->n_products; ++i) good &= settle_product(e, &e->products[i], report, log);
    if (!e->options->every_format || e->options->embed) return good;
    if (!settle(arena, e, "manifest.json", manifest(arena, e), false, report, log)) {
        good = false;
        if (e->options->check) explain_manifest(arena, e, log);
    }
    orphans o = {.arena = arena, .e = e, .remove = !e->options->check, .log = log};
    find_orphans(&o, "", 0);
    return good && (o.count == 0 || o.remove);
}

/* ---- depfile ---- */

static void add_path(qg_text *text, const char *path) {
    for (; *path; ++path) {
        if (*path == ' ' || *path == '#') qg_text_puts(text, "\\");
        if (*path == '$') qg_text_puts(text, "$");
        qg_text_add(text, path, 1);
    }
}

static bool write_depfile(qg_arena *arena, const emission *e, qg_text *log) {
    const qg_emit_options *o = e->options;
    qg_text text = qg_text_new(arena);
    for (uint32_t i = 0; i < e->n_products; ++i)
        for (uint32_t f = 0; e->products[i].shown && f < e->products[i].n_files; ++f) {
            if (text.length) qg_text_puts(&text, " ");
            add_path(&text, qg_format(arena, "%s/%s", o->out, e->products[i].files[f].path));
        }
    qg_text_puts(&text, ":");
    for (uint32_t i = 0; i < o->n_inputs; ++i) {
        qg_text_puts(&text, " \\\n  ");
        add_path(&text, o->inputs[i]);
    }
    for (uint32_t i = 0; i < e->templates.count; ++i) {
        qg_text_puts(&text, " \\\n  ");
        add_path(&text, e->templates.items[i].path);
    }
    qg_text_puts(&text, "\n");
    const char *why = qg_write_file(arena, o->depfile, text.data, text.length);
    if (why) qg_text_printf(log, "%s: error: cannot write: %s\n", o->depfile, why);
    return !why;
}

/* ---- */

/* Headers of the runtime that have a place in what is emitted. */
typedef struct embedding {
    qg_arena *arena;
    const char *folder;
    qg_text *log;
    const char *done[32];
    uint32_t n_done;
} embedding;

static bool is_done(const embedding *e, const char *name, size_t length) {
    for (uint32_t i = 0; i < e->n_done; ++i)
        if (strlen(e->done[i]) == length && memcmp(e->done[i], name, length) == 0) return true;
    return false;
}

/* Appends a header of the runtime, with those that it includes in their place, each where it is wanted first. */
static bool embed(embedding *e, const char *name, qg_text *text) {
    static const char include[] = "#include \"";
    const char *why = NULL, *path = qg_format(e->arena, "%s/qkgen/%s", e->folder, name);
    size_t length;
    const char *line = qg_read_file(e->arena, path, 1u << 20, &length, &why);
    if (!line || e->n_done == sizeof e->done / sizeof *e->done) {
        qg_text_printf(e->log, "%s: error: %s\n", path, line ? "one header too many to embed" : why);
        return false;
    }
    e->done[e->n_done++] = name;
    while (*line) {
        const char *end = strchr(line, '\n'), *own = line + sizeof include - 1;
        const size_t size = end ? (size_t)(end + 1 - line) : strlen(line);
        const char *quote = strncmp(line, include, sizeof include - 1) == 0 ? strchr(own, '"') : NULL;
        if (!quote)
            qg_text_add(text, line, size);
        else if (!is_done(e, own, (size_t)(quote - own)) &&
                 !embed(e, qg_strndup(e->arena, own, (size_t)(quote - own)), text))
            return false;
        line += size;
    }
    return true;
}

/* Lines that include the same. */
static void include_headers(qg_arena *arena, emission *e) {
    e->kernel_h = "#include \"qkgen/kernel.h\"";
    e->dispatch_h = "#include \"qkgen/dispatch.h\"";
    e->unpack_h = "#include \"qkgen/unpack.h\"";
    e->set_dispatch_h = QG_NEW_ARRAY(arena, const char *, qg_n_plain_sets);
    for (uint32_t s = 0; s < qg_n_plain_sets; ++s)
        e->set_dispatch_h[s] = qg_format(arena, "%s\n#include \"qkgen/%s\"", e->dispatch_h, qg_plain_sets[s].dispatch);
}

/* kernel.h goes into a format's header; dispatch.h, and that of a set of families without a format
 * behind it, into its source. */
static bool embed_headers(qg_arena *arena, emission *e, qg_text *log) {
    embedding of = {.arena = arena, .folder = e->options->runtime_headers, .log = log};
    qg_text kernel_h = qg_text_new(arena), dispatch_h = qg_text_new(arena);
    if (!embed(&of, "kernel.h", &kernel_h) || !embed(&of, "dispatch.h", &dispatch_h)) return false;
    embedding unpacking = of;
    qg_text unpack_h = qg_text_new(arena);
    if (!embed(&unpacking, "unpack.h", &unpack_h)) return false;
    e->unpack_h = unpack_h.data;
    e->kernel_h = kernel_h.data;
    e->dispatch_h = dispatch_h.data;
    e->set_dispatch_h = QG_NEW_ARRAY(arena, const char *, qg_n_plain_sets);
    for (uint32_t s = 0; s < qg_n_plain_sets; ++s) {
        embedding of_set = of;
        qg_text text = qg_text_new(arena);
        qg_text_printf(&text, "%s\n", e->dispatch_h);
        if (!embed(&of_set, qg_plain_sets[s].dispatch, &text)) return false;
        e->set_dispatch_h[s] = text.data;
    }
    return true;
}

static bool load_inputs(qg_arena *arena, emission *e, qg_text *log) {
    const char *why = NULL;
    if (!qg_templates_load(arena, e->options->templates, &e->templates, &why)) {
        qg_text_printf(log, "error: %s\n", why);
        return false;
    }
    if (e->options->includes) include_headers(arena, e);
    return !e->options->embed || e->options->includes || embed_headers(arena, e, log);
}

bool qg_emit(qg_arena *arena, const qg_emit_options *options, qg_emit_report *report, qg_text *log) {
    emission e = {.options = options, .lock = PTHREAD_MUTEX_INITIALIZER};
    if (!load_inputs(arena, &e, log)) return false;
    if (options->vulkan && !qg_spirv_open()) {
        qg_text_printf(log, "error: %s\n",
                       qg_spirv_absent ? qg_spirv_absent : "the GLSL compiler cannot be initialised");
        return false;
    }
    e.n_products = options->n_layouts + qg_n_plain_sets;
    e.products = QG_NEW_ARRAY(arena, product, e.n_products);
    for (uint32_t i = 0; i < e.n_products; ++i)
        e.products[i].shown = !options->shown || i >= options->n_layouts || options->shown[i];
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t n_workers = processors > 0 ? (uint32_t)processors : 1;
    if (n_workers > e.n_products) n_workers = e.n_products;
    worker *workers = QG_NEW_ARRAY(arena, worker, n_workers);
    for (uint32_t i = 0; i < n_workers; ++i) {
        workers[i] = (worker){.emission = &e, .arena = qg_arena_new()};
        if (i && pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0) workers[i].thread = 0;
    }
    work(&workers[0]);
    for (uint32_t i = 1; i < n_workers; ++i)
        if (workers[i].thread) pthread_join(workers[i].thread, NULL);

    bool good = true;
    for (uint32_t i = 0; i < e.n_products; ++i) {
        report->modules += e.products[i].modules;
        report->module_bytes += e.products[i].module_bytes;
        report->left_out += e.products[i].left_out;
        if (!e.products[i].why) continue;
        const bool format = i < options->n_layouts;
        const char *name = format ? options->layouts[i]->name : qg_plain_sets[i - options->n_layouts].name;
        qg_text_printf(log, "error: %s: %s\n", name, e.products[i].why);
        good = false;
    }
    good = good && settle_all(arena, &e, report, log) && (!options->depfile || write_depfile(arena, &e, log));
    if (options->vulkan) qg_spirv_close();
    for (uint32_t i = 0; i < n_workers; ++i) qg_arena_free(workers[i].arena);
    return good;
}
