/* `qkgen judge`: kernels that somebody else wrote. */
#include "cli/command.h"
#include "emit/spirv.h"
#include "judge/reflect.h"
#include "judge/trial.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef QKGEN_MSL_LIBRARY
#define QKGEN_MSL_LIBRARY ""
#endif

enum { UNABLE = 2, MOST_FINDINGS = 8 };

/* One call of the command. */
typedef struct judge_run {
    qg_session *session;
    qg_arena *arena;
    const char *kernel, *format, *harness, *claim, *device, *time_limit, *html, *json, *sarif;
    qg_texts sets, defines, files;
    uint64_t seed;
    bool quick;
    const qg_layout *layout;
    qg_trial_options options;
    const qg_judgement **done;
    uint32_t n_done;
} judge_run;

static bool ends_with(const char *text, const char *end) {
    const size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}

static qg_foreign target_of(const char *path) {
    if (ends_with(path, ".metal")) return QG_FOREIGN_METAL;
    return ends_with(path, ".so") || ends_with(path, ".dylib") ? QG_FOREIGN_C : QG_FOREIGN_VULKAN;
}

/* ---- the harness ------------------------------------------------------------------------------------------------- */

static const char *harness_path(const judge_run *r) {
    if (access(r->harness, R_OK) == 0) return r->harness;
    const char *path = qg_format(r->arena, "%s/integrations/judge/%s.harness", qg_session_data(r->session), r->harness);
    return access(path, R_OK) == 0 ? path : NULL;
}

static bool set_names(const judge_run *r, qg_harness *h) {
    for (uint32_t i = 0; i < r->sets.count; ++i) {
        const char *text = r->sets.items[i], *equals = strchr(text, '=');
        char *end = NULL;
        const long long value = equals ? strtoll(equals + 1, &end, 0) : 0;
        if (!equals || end == equals + 1 || *end) {
            qg_complain("--set takes NAME=NUMBER, not '%s'", text);
            return false;
        }
        if (!qg_harness_set(h, qg_strndup(r->arena, text, (size_t)(equals - text)), value)) {
            qg_complain("%s has no `let` of the name in --set %s", h->name, text);
            return false;
        }
    }
    return true;
}

static qg_harness *read_harness(judge_run *r, const char *path, bool quietly) {
    const char *why = NULL;
    size_t length;
    char *text = qg_read_file(r->arena, path, 1 << 20, &length, &why);
    if (!text) {
        if (!quietly) qg_complain("cannot read the harness %s: %s", path, why);
        return NULL;
    }
    qg_source *source = QG_NEW(r->arena, qg_source);
    *source = (qg_source){path, text, length};
    qg_diag diag = qg_diag_new(r->arena, r->session->color);
    qg_harness *h = qg_harness_parse(r->arena, &diag, source, r->layout);
    if (!quietly) qg_print_errors(&diag);
    if (!h) return NULL;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    h->name = qg_strndup(r->arena, name, strcspn(name, "."));
    return quietly || set_names(r, h) ? h : NULL;
}

static int by_name(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

/* The first of the ready harnesses, by name, that names the buffers and push constants that the module uses. */
static const char *guess_harness(judge_run *r, const qg_reflection *reflection) {
    const char *folder = qg_format(r->arena, "%s/integrations/judge", qg_session_data(r->session)), *found = NULL;
    qg_texts names = {0};
    DIR *dir = opendir(folder);
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (ends_with(e->d_name, ".harness"))
            QG_PUSH(r->arena, names.items, names.count, names.capacity,
                    qg_format(r->arena, "%s/%s", folder, e->d_name));
    if (dir) closedir(dir);
    if (names.count) qsort((void *)names.items, names.count, sizeof *names.items, by_name);
    for (uint32_t i = 0; i < names.count && !found; ++i) {
        const qg_harness *h = read_harness(r, names.items[i], true);
        if (h && qg_reflection_matches(r->arena, reflection, h)) found = names.items[i];
    }
    return found;
}

/* ---- the kernel -------------------------------------------------------------------------------------------------- */

/* A GLSL text with macros behind its #version line. */
static const char *with_defines(const judge_run *r, const char *text) {
    qg_text out = qg_text_new(r->arena);
    const char *version = strstr(text, "#version"), *body = version ? strchr(version, '\n') : NULL;
    if (!body) return text;
    qg_text_add(&out, text, (size_t)(body + 1 - text));
    for (uint32_t i = 0; i < r->defines.count; ++i) {
        const char *define = r->defines.items[i], *equals = strchr(define, '=');
        const int length = equals ? (int)(equals - define) : (int)strlen(define);
        qg_text_printf(&out, "#define %.*s %s\n", length, define, equals ? equals + 1 : "1");
    }
    qg_text_printf(&out, "#line 2\n%s", body + 1);
    return out.data;
}

static const char *compile(const judge_run *r, const char *path, qg_foreign_kernel *kernel) {
    const char *why = NULL;
    if (!qg_spirv_open()) return "the GLSL compiler cannot be initialised";
    kernel->bytes = qg_spirv_compile(r->arena, path, with_defines(r, kernel->bytes), &kernel->length, &why);
    qg_spirv_close();
    return kernel->bytes ? NULL : why;
}

/* Reads what a file holds; NULL, or why it cannot be judged. */
static const char *read_kernel(const judge_run *r, const char *path, qg_foreign_kernel *kernel) {
    const char *why = NULL;
    *kernel = (qg_foreign_kernel){.path = path, .defines = &r->defines};
    kernel->bytes = qg_read_file(r->arena, path, 256 << 20, &kernel->length, &why);
    if (!kernel->bytes) return why;
    if (target_of(path) != QG_FOREIGN_VULKAN) return NULL;
    const bool words = kernel->length >= 4 && !memcmp(kernel->bytes, "\x03\x02\x23\x07", 4);
    return words || ends_with(path, ".spv") ? NULL : compile(r, path, kernel);
}

/* The harness that is asked for, or guessed; NULL and why there is none. */
static qg_harness *choose_harness(judge_run *r, const char *path, const qg_reflection *reflection, const char **why) {
    const char *text = r->harness                             ? harness_path(r)
                       : target_of(path) == QG_FOREIGN_VULKAN ? guess_harness(r, reflection)
                                                              : NULL;
    if (!text && r->harness)
        *why = qg_format(r->arena, "there is no harness %s: neither that file, nor integrations/judge/%s.harness in %s",
                         r->harness, r->harness, qg_session_data(r->session));
    else if (!text)
        *why = "how are its arguments laid out? no ready harness names just its buffers; --harness says: docs/judge.md";
    if (!text) return NULL;
    qg_harness *h = read_harness(r, text, false);
    if (!h) *why = "the harness has errors";
    if (h && !r->harness)
        fprintf(stderr, "qkgen: note: %s: harness %s, guessed from the buffers and push constants that it uses\n", path,
                h->name);
    return h;
}

static const char *fit_harness(judge_run *r, const qg_harness *h, const qg_reflection *reflection,
                               qg_foreign_kernel *kernel, uint32_t *threads) {
    bool broken;
    kernel->entry = r->kernel ? r->kernel : h->entry;
    if (h->target != target_of(kernel->path))
        return qg_format(r->arena, "%s is for `target %s`", h->name, qg_foreign_names[h->target]);
    if (h->target == QG_FOREIGN_VULKAN) {
        kernel->entry = reflection->entry;
        *threads = reflection->threads;
        return qg_reflection_fits(r->arena, reflection, h);
    }
    if (qg_harness_has_body(h)) {
        kernel->bytes = qg_harness_wrap(r->arena, h, kernel->path, kernel->bytes, &r->defines);
        kernel->defines = NULL;
        kernel->length = strlen(kernel->bytes);
        kernel->entry = h->entry ? h->entry : "body";
    }
    if (!kernel->entry) return "which kernel is to be judged? --kernel NAME says, or `entry NAME` of the harness";
    qg_call *call = QG_NEW(r->arena, qg_call);
    if (!qg_harness_call(r->arena, h, qg_shape_of(r->layout, 64, 64, 1), call, &broken))
        *threads = call->group[0] * call->group[1];
    return NULL;
}

/* ---- one file ---------------------------------------------------------------------------------------------------- */

static const char *judge_file(judge_run *r, const char *path, qg_judgement *j) {
    qg_foreign_kernel *kernel = QG_NEW(r->arena, qg_foreign_kernel);
    qg_reflection reflection = {0};
    uint32_t threads = 0;
    const char *why = read_kernel(r, path, kernel);
    if (!why && target_of(path) == QG_FOREIGN_VULKAN)
        why = qg_reflect(r->arena, kernel->bytes, kernel->length, r->kernel, &reflection);
    if (why) return why;
    if (target_of(path) == QG_FOREIGN_VULKAN)
        kernel->bytes = qg_without_unrolling(r->arena, kernel->bytes, kernel->length);
    qg_harness *h = choose_harness(r, path, &reflection, &why);
    if (!h) return why;
    why = fit_harness(r, h, &reflection, kernel, &threads);
    if (why) return why;
    *j = (qg_judgement){.layout = r->layout,
                        .file = path,
                        .kernel = kernel->entry,
                        .harness = h->name,
                        .family = qg_computes_names[h->computes]};
    r->options.worker.target = h->target;
    return qg_judge(r->arena, kernel, h, threads, &r->options, j);
}

static bool choose_claim(judge_run *r) {
    if (!r->claim) return true;
    for (uint32_t i = 0; i < QG_CLAIM_COUNT; ++i)
        if (!strcmp(r->claim, qg_claim_names[i])) {
            r->options.claim = (qg_claim)i;
            return true;
        }
    qg_complain("--class is exact, half, bf16 or int8, not '%s'", r->claim);
    return false;
}

static bool choose_worker(judge_run *r) {
    qg_worker_options *w = &r->options.worker;
    const char *library = getenv("QKGEN_MSL_LIBRARY");
    char *end = NULL;
    w->device = r->device;
    w->metal_library = library && *library ? library : QKGEN_MSL_LIBRARY;
    w->time_limit = r->time_limit ? strtod(r->time_limit, &end) : 20;
    if (r->time_limit && (*end || end == r->time_limit || !(w->time_limit > 0 && w->time_limit < 1e6))) {
        qg_complain("--time-limit takes seconds, not '%s'", r->time_limit);
        return false;
    }
    return true;
}

static bool write_report(judge_run *r, const char *path,
                         void (*report)(qg_text *, const qg_judgement *const *, uint32_t)) {
    qg_text text = qg_text_new(r->arena);
    if (!path) return true;
    report(&text, r->done, r->n_done);
    const char *why = qg_write_file(r->arena, path, text.data, text.length);
    if (why) qg_complain("cannot write %s: %s", path, why);
    return !why;
}

/* The bound is that of ggml's test-backend-ops. */
static void print_nmse(const qg_judgement *j) {
    if (j->nmse < 0)
        printf("nmse of %s: not taken\n", j->kernel);
    else
        printf("nmse of %s: %.2g, which a test at 5e-4 %s\n", j->kernel, j->nmse,
               j->nmse <= 5e-4 ? "passes" : "refuses");
}

static int judge_all(judge_run *r) {
    uint32_t wrong = 0, unable = 0;
    r->done = QG_NEW_ARRAY(r->arena, const qg_judgement *, r->files.count);
    for (uint32_t i = 0; i < r->files.count; ++i) {
        qg_judgement *j = QG_NEW(r->arena, qg_judgement);
        const char *why = judge_file(r, r->files.items[i], j);
        if (why) {
            qg_complain("%s cannot be judged: %s", r->files.items[i], why);
            unable += 1;
            continue;
        }
        r->done[r->n_done++] = j;
        wrong += qg_judgement_wrong(j);
    }
    qg_text text = qg_text_new(r->arena);
    if (r->n_done) qg_report_text(&text, r->done, r->n_done, MOST_FINDINGS, r->session->color);
    if (text.data) fputs(text.data, stdout);
    for (uint32_t i = 0; i < r->n_done && r->options.nmse; ++i) print_nmse(r->done[i]);
    if (!write_report(r, r->html, qg_report_html) || !write_report(r, r->json, qg_report_json) ||
        !write_report(r, r->sarif, qg_report_sarif))
        return UNABLE;
    return unable ? UNABLE : wrong != 0;
}

int qg_command_judge(qg_session *session, int argc, char **argv) {
    judge_run r = {.session = session, .arena = session->arena, .seed = 1};
    const qg_option options[] = {
        {"--format", QG_TEXT, &r.format, "F", "the specification that the kernel should follow"},
        {"--kernel", QG_TEXT, &r.kernel, "NAME", "the entry point, or the C function"},
        {"--harness", QG_TEXT, &r.harness, "H", "a ready harness, or a file: how arguments are laid out"},
        {"--set", QG_TEXTS, &r.sets, "NAME=V", "another value for a `let` of the harness"},
        {"-D", QG_TEXTS, &r.defines, "NAME[=V]", "a macro of a GLSL or Metal text"},
        {"--class", QG_TEXT, &r.claim, "C", "what a sum claims: exact, half, bf16 or int8 (default: exact)"},
        {"--device", QG_TEXT, &r.device, "D", "part of the name of a Vulkan device (default: the CPU)"},
        {"--time-limit", QG_TEXT, &r.time_limit, "S", "seconds for a launch (default: 20)"},
        {"--seed", QG_COUNT, &r.seed, "N", "of random data (default: 1)"},
        {"--quick", QG_FLAG, &r.quick, NULL, "fewer shapes and blocks"},
        {"--nmse", QG_FLAG, &r.options.nmse, NULL, "says what a test that compares squared errors would see, too"},
        {"--html", QG_TEXT, &r.html, "FILE", "writes a page for people"},
        {"--json", QG_TEXT, &r.json, "FILE", "writes all that was found"},
        {"--sarif", QG_TEXT, &r.sarif, "FILE", "writes SARIF, which code hosts show in a review"},
        QG_SESSION_OPTIONS(session),
    };
    if (!qg_options_read(session, argc, argv, options, QG_LENGTH(options), &r.files)) return 1;
    if (!r.files.count) return qg_complain("which file is to be judged?"), UNABLE;
    if (!r.format) return qg_complain("which format should the kernel follow? --format F says"), UNABLE;
    if (!choose_claim(&r) || !choose_worker(&r) || !qg_session_load_named(session, r.format, NULL)) return UNABLE;
    r.layout = qg_session_format(session, r.format);
    if (!r.layout) return UNABLE;
    r.options.seed = r.seed;
    r.options.quick = r.quick;
    return judge_all(&r);
}
