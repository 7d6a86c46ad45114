/* `qkgen audit`: modules of SPIR-V, taken apart: those of files and folders, and our own. */
#include "cli/choose.h"
#include "emit/spirv.h"
#include "judge/audit.h"

#include <dirent.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { UNABLE = 2, MOST_BYTES = 1 << 28 };

typedef struct audit_run {
    qg_session *session;
    qg_arena *arena;
    qg_texts files, formats, families, classes;
    const char *from, *json;
    bool all, notes, diff;
    uint64_t push;
    qg_audits audits;
} audit_run;

/* ---- files ---- */

static bool ends_with(const char *name, const char *end) {
    const size_t n = strlen(name), e = strlen(end);
    return n >= e && strcmp(name + n - e, end) == 0;
}

static bool is_glsl(const char *name) { return ends_with(name, ".comp") || ends_with(name, ".glsl"); }

static void add(audit_run *r, qg_audits *to, const qg_audit *audit) {
    QG_PUSH(r->arena, to->items, to->count, to->capacity, qg_audit_keep(r->arena, audit));
}

static void audit_file(audit_run *r, qg_audits *to, const char *path, const char *name) {
    qg_arena *scratch = qg_arena_new();
    const qg_audit_options options = {(uint32_t)r->push};
    const char *why = NULL;
    size_t bytes = 0;
    const void *words = qg_read_file(scratch, path, MOST_BYTES, &bytes, &why);
    if (words && is_glsl(name)) words = qg_spirv_compile(scratch, name, words, &bytes, &why);
    if (words)
        add(r, to, qg_audit_words(scratch, name, words, bytes, &options));
    else
        add(r, to, &(qg_audit){.name = name, .entry = "", .why = why});
    qg_arena_free(scratch);
}

static int by_name(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

/* What lies below a folder and ends as modules do, by name. */
static void audit_folder(audit_run *r, qg_audits *to, const char *folder, const char *below, uint32_t depth) {
    qg_texts names = {0};
    DIR *dir = depth < 8 ? opendir(folder) : NULL;
    if (!dir) return;
    for (const struct dirent *e; (e = readdir(dir));)
        if (e->d_name[0] != '.') {
            const char *name = qg_strndup(r->arena, e->d_name, strlen(e->d_name));
            QG_PUSH(r->arena, names.items, names.count, names.capacity, name);
        }
    closedir(dir);
    if (names.count) qsort(names.items, names.count, sizeof *names.items, by_name);
    for (uint32_t i = 0; i < names.count; ++i) {
        const char *path = qg_format(r->arena, "%s/%s", folder, names.items[i]);
        const char *name = qg_format(r->arena, "%s%s", below, names.items[i]);
        if (qg_is_folder(path))
            audit_folder(r, to, path, qg_format(r->arena, "%s/", name), depth + 1);
        else if (ends_with(name, ".spv") || is_glsl(name))
            audit_file(r, to, path, name);
    }
}

static bool load_json(audit_run *r, qg_audits *to, const char *path) {
    size_t length = 0;
    const char *why = NULL, *json = qg_read_file(r->arena, path, MOST_BYTES, &length, &why);
    if (json) why = qg_audit_load(r->arena, json, to);
    return !why || qg_complain("%s: %s", path, why) == 0;
}

static bool audit_path(audit_run *r, qg_audits *to, const char *path) {
    const uint32_t before = to->count;
    struct stat info;
    if (stat(path, &info) != 0) return qg_complain("there is no file or folder %s", path) == 0;
    if (S_ISDIR(info.st_mode))
        audit_folder(r, to, path, "", 0);
    else if (r->diff && ends_with(path, ".json"))
        return load_json(r, to, path);
    else
        audit_file(r, to, path, path);
    return to->count > before ||
           qg_complain("%s has no module: no file below it ends with .spv, .comp or .glsl", path) == 0;
}

/* ---- our own ---- */

static bool is_chosen(const audit_run *r, const qg_layout *layout) {
    bool chosen = r->all || (r->from && layout->spec->origin && strstr(layout->spec->origin, r->from));
    for (uint32_t i = 0; i < r->formats.count; ++i) chosen |= fnmatch(r->formats.items[i], layout->name, 0) == 0;
    return chosen;
}

/* All but those that want to be asked for, unless some are named. */
static bool choose_classes(audit_run *r, uint32_t *classes) {
    for (uint32_t i = 0; i < qg_n_sum_classes && !r->classes.count; ++i)
        if (!qg_sum_classes[i].on_request) *classes |= UINT32_C(1) << i;
    for (uint32_t i = 0; i < r->classes.count; ++i) {
        const qg_sum_class *sum = qg_sum_class_named(r->classes.items[i]);
        if (!sum)
            return qg_complain("no class of sums is named %s; there are %s", r->classes.items[i], qg_class_words()) ==
                   0;
        *classes |= 1u << (sum - qg_sum_classes);
    }
    return true;
}

static const char *audit_kernel(audit_run *r, qg_arena *scratch, const qg_templates *templates,
                                const qg_request *request, const qg_kernel *kernel, qk_schedule schedule) {
    const char *why = NULL;
    const qg_program *program = qg_program_of(scratch, kernel, QK_API_VULKAN, schedule);
    const char *name = qg_module_name(scratch, kernel, schedule);
    const char *glsl = qg_glsl(scratch, templates, request, program, &why);
    qk_code code = {0};
    if (glsl) code.data = qg_spirv_compile(scratch, name, glsl, &code.bytes, &why);
    if (!code.data) return qg_format(r->arena, "%s", why);
    const qk_kernel *described = qg_describe(scratch, kernel, QK_API_VULKAN, &code);
    add(r, &r->audits, qg_audit_kernel(scratch, name, described, program, &code));
    return NULL;
}

/* Families that take no format: those that are named, or with --all. */
static const char *audit_plain(audit_run *r, const qg_templates *templates, const qg_plain_set *set,
                               const qg_plain *family) {
    qg_arena *scratch = qg_arena_new();
    const qg_plain_request request = {
        .set = set, .n_families = 1, .families = &family, .vulkan = true, .command = "qkgen audit"};
    const char *why = NULL, *glsl = qg_plain_glsl(scratch, templates, &request, family, &why);
    qk_code code = {0};
    if (glsl) code.data = qg_spirv_compile(scratch, family->name, glsl, &code.bytes, &why);
    const qk_kernel *described = qg_plain_describe(scratch, family, QK_API_VULKAN, &code);
    if (code.data) add(r, &r->audits, qg_audit_kernel(scratch, family->name, described, NULL, &code));
    why = code.data ? NULL : qg_format(r->arena, "%s", why);
    qg_arena_free(scratch);
    return why;
}

static const char *audit_plains(audit_run *r, const qg_templates *templates) {
    const char *why = NULL;
    for (uint32_t s = 0; s < qg_n_plain_sets; ++s)
        for (uint32_t f = 0; f < qg_plain_sets[s].n_families && !why; ++f) {
            const qg_plain *family = &qg_plain_sets[s].families[f];
            bool chosen = r->all && !r->families.count;
            for (uint32_t i = 0; i < r->families.count; ++i)
                chosen |= strcmp(r->families.items[i], family->name) == 0 ||
                          strcmp(r->families.items[i], qg_plain_sets[s].name) == 0;
            if (chosen) why = audit_plain(r, templates, &qg_plain_sets[s], family);
        }
    return why;
}

static const char *audit_format(audit_run *r, const qg_templates *templates, const qg_emit_options *chosen,
                                uint32_t classes, const qg_layout *layout) {
    qg_arena *scratch = qg_arena_new();
    qg_kernel_list list = {0};
    qg_request request = {.layout = layout,
                          .n_families = chosen->n_families,
                          .families = chosen->families,
                          .classes = classes,
                          .vulkan = true,
                          .without_mma = !qg_spirv_has_matrices(),
                          .command = "qkgen audit"};
    request.list = &list;
    const qg_kernel *kernels;
    const uint32_t count = qg_kernels(scratch, &request, &kernels);
    const char *why = NULL;
    for (uint32_t i = 0; i < count && !why; ++i) {
        const uint32_t all = qg_schedules_of(&kernels[i]) ? qg_schedules_of(&kernels[i]) : 1u;
        for (uint32_t s = 0; s < QK_SCHEDULE_COUNT && qg_on_vulkan(&request, &kernels[i]) && !why; ++s) {
            if (!(all >> s & 1) || qg_is_shared(kernels, i, (qk_schedule)s)) continue;
            qg_arena *one = qg_arena_new();
            why = audit_kernel(r, one, templates, &request, &kernels[i], (qk_schedule)s);
            qg_arena_free(one);
        }
    }
    qg_arena_free(scratch);
    return why;
}

static bool audit_ours(audit_run *r) {
    qg_emit_options chosen = {0};
    qg_templates templates = {0};
    uint32_t classes = 0;
    const char *why = NULL;
    if (!qg_session_load(r->session) || !qg_choose_families(r->session, &r->families, &chosen) ||
        !choose_classes(r, &classes))
        return false;
    for (uint32_t i = 0; i < r->formats.count; ++i)
        if (!strpbrk(r->formats.items[i], "*?[") && !qg_session_format(r->session, r->formats.items[i])) return false;
    if (!qg_templates_load(r->arena, qg_session_templates(r->session), &templates, &why))
        return qg_complain("%s", why) == 0;
    const qg_layouts all = r->session->library->layouts;
    for (uint32_t i = 0; i < all.count && !why; ++i)
        if (is_chosen(r, all.items[i])) why = audit_format(r, &templates, &chosen, classes, all.items[i]);
    if (!why) why = audit_plains(r, &templates);
    if (why) return qg_complain("%s", why) == 0;
    return r->audits.count ||
           qg_complain("no kernel is chosen; `qkgen list` shows formats, `qkgen list families` families") == 0;
}

/* ---- */

static int report(audit_run *r) {
    qg_text text = qg_text_new(r->arena), json = qg_text_new(r->arena);
    uint32_t wrong = 0, failed = 0;
    for (uint32_t i = 0; i < r->audits.count; ++i) {
        wrong += qg_audit_wrong(r->audits.items[i]);
        failed += r->audits.items[i]->why != NULL;
    }
    qg_audit_table(&text, &r->audits, r->notes);
    fputs(text.data, stdout);
    if (r->json) {
        qg_audit_json(&json, &r->audits);
        const char *why = qg_write_file(r->arena, r->json, json.data, json.length);
        if (why) return qg_complain("cannot write %s: %s", r->json, why), UNABLE;
    }
    return failed ? UNABLE : wrong != 0;
}

static int compare(audit_run *r) {
    qg_audits before = {0};
    qg_text text = qg_text_new(r->arena);
    if (r->files.count != 2) return qg_complain("--diff takes two folders or files, not %u", r->files.count), UNABLE;
    if (!audit_path(r, &before, r->files.items[0]) || !audit_path(r, &r->audits, r->files.items[1])) return UNABLE;
    /* Two files are compared whatever they are called. */
    if (before.count == 1 && r->audits.count == 1 && !qg_is_folder(r->files.items[0]))
        before.items[0]->name = r->audits.items[0]->name;
    const uint32_t wrong = qg_audit_diff(&text, &before, &r->audits);
    fputs(text.data, stdout);
    return wrong != 0;
}

static int run(audit_run *r) {
    const bool ours = r->formats.count || r->from || r->all || (r->families.count && !r->files.count);
    if (r->diff && ours) return qg_complain("--diff compares files and folders, not formats"), UNABLE;
    if (ours == (r->files.count > 0))
        return qg_complain(ours ? "audit takes files, or formats, not both"
                                : "audit needs files or folders, or --format F, --from ORIGIN or --all"),
               UNABLE;
    if (!ours && (r->families.count || r->classes.count))
        return qg_complain("--family and --class belong to --format, --from and --all"), UNABLE;
    if (r->diff) return compare(r);
    if (ours && !audit_ours(r)) return UNABLE;
    for (uint32_t i = 0; i < r->files.count; ++i)
        if (!audit_path(r, &r->audits, r->files.items[i])) return UNABLE;
    return report(r);
}

int qg_command_audit(qg_session *session, int argc, char **argv) {
    audit_run r = {.session = session, .arena = session->arena};
    const qg_option options[] = {
        {"--format", QG_TEXTS, &r.formats, "F,...", "formats of ours, or patterns of their names"},
        {"--from", QG_TEXT, &r.from, "ORIGIN", "formats whose specification says that they are from there"},
        {"--all", QG_FLAG, &r.all, NULL, "all formats"},
        {"--family", QG_TEXTS, &r.families, "FAMILY,...", "of these kernel families (default: all)"},
        {"--class", QG_TEXTS, &r.classes, "C,...", "of these classes of sums (default: as emit has them)"},
        {"--push", QG_COUNT, &r.push, "BYTES", "of files: the push constants that the host declares"},
        {"--diff", QG_FLAG, &r.diff, NULL,
         "of two folders, modules, or files of --json: what the second has that the first has not"},
        {"--notes", QG_FLAG, &r.notes, NULL, "shows what cannot be decided, too"},
        {"--json", QG_TEXT, &r.json, "FILE", "writes all that was found"},
        QG_SESSION_OPTIONS(session),
    };
    if (!qg_options_read(session, argc, argv, options, QG_LENGTH(options), &r.files)) return 1;
    qg_texts *lists[] = {&r.formats, &r.families, &r.classes};
    for (uint32_t l = 0; l < QG_LENGTH(lists); ++l) {
        qg_texts words = {0};
        for (uint32_t i = 0; i < lists[l]->count; ++i) qg_split(r.arena, lists[l]->items[i], &words);
        *lists[l] = words;
    }
    if (!qg_spirv_open()) return qg_complain("the GLSL compiler cannot be initialised"), UNABLE;
    const int status = run(&r);
    qg_spirv_close();
    return status;
}
