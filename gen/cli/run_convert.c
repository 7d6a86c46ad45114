/* `qkgen convert`: the command, and the threads that do the work. */
#include "cli/run_convert.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_JOBS = 64, COPIED = 4 << 20 /* bytes of a tensor that is kept, at once */ };

typedef struct convert {
    qg_arena *arena;
    const qg_plan_of_file *plan;
    qg_converter converter;
    const qg_input *in;
    int from;
    qg_run_output out;
    uint64_t jobs, src_bytes, dst_bytes, floats;
    /* What threads share. */
    pthread_mutex_t lock;
    uint32_t tensor; /* the piece that is made next: of this tensor, from this element or byte on */
    uint64_t at, done, all;
    char why[512];
    qg_progress progress;
} convert;

/* A piece of a tensor: elements where it is converted, bytes where it is kept. */
typedef struct unit {
    uint32_t tensor;
    uint64_t first, count;
} unit;

/* ---- pieces ---- */

static void fail(convert *v, const char *why) {
    pthread_mutex_lock(&v->lock);
    if (!v->why[0]) snprintf(v->why, sizeof v->why, "%s", why);
    pthread_mutex_unlock(&v->lock);
}

/* False at the end, or where something failed. */
static bool take_unit(convert *v, unit *u) {
    pthread_mutex_lock(&v->lock);
    uint64_t all = 0;
    for (; v->tensor < v->plan->count; ++v->tensor, v->at = 0) {
        const qg_conversion *c = &v->plan->items[v->tensor];
        all = c->converts ? c->weight->elements : c->bytes;
        if (v->at < all) break;
    }
    const bool more = v->tensor < v->plan->count && !v->why[0];
    if (more) {
        const qg_conversion *c = &v->plan->items[v->tensor];
        const uint64_t most = c->converts ? c->piece : COPIED;
        *u = (unit){v->tensor, v->at, all - v->at < most ? all - v->at : most};
        v->at += u->count;
    }
    pthread_mutex_unlock(&v->lock);
    return more;
}

static bool read_at(convert *v, void *to, uint64_t bytes, uint64_t at) {
    for (char *next = to; bytes > 0;) {
        const ssize_t n = pread(v->from, next, bytes, (off_t)at);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            char text[512];
            snprintf(text, sizeof text, "%s: byte %llu cannot be read: %s", v->in->path, (unsigned long long)at,
                     n ? strerror(errno) : "the file has become shorter; convert it when nothing writes to it");
            fail(v, text);
            return false;
        }
        next += n;
        at += (uint64_t)n;
        bytes -= (uint64_t)n;
    }
    return true;
}

static bool write_at(convert *v, const void *from, uint64_t bytes, uint64_t at) {
    for (const char *next = from; bytes > 0;) {
        const ssize_t n = pwrite(v->out.file, next, bytes, (off_t)at);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            char text[512];
            snprintf(text, sizeof text, "cannot write %s: %s", v->out.path, strerror(errno));
            fail(v, text);
            return false;
        }
        next += n;
        at += (uint64_t)n;
        bytes -= (uint64_t)n;
    }
    return true;
}

typedef struct room {
    void *src, *dst;
    float *floats;
} room;

static bool make_unit(convert *v, const unit *u, const room *r) {
    const qg_conversion *c = &v->plan->items[u->tensor];
    const uint64_t to = v->plan->written[u->tensor].offset;
    if (!c->converts)
        return read_at(v, r->src, u->count, c->source + u->first) && write_at(v, r->src, u->count, to + u->first);
    if (!read_at(v, r->src, qg_storage_bytes(&c->from, u->count), c->source + qg_storage_bytes(&c->from, u->first)))
        return false;
    const char *why = v->converter.piece(v->converter.context, c, r->src, u->count, r->floats, r->dst);
    if (why) fail(v, why);
    return !why && write_at(v, r->dst, qg_storage_bytes(&c->to, u->count), to + qg_storage_bytes(&c->to, u->first));
}

static void count_unit(convert *v, const unit *u) {
    const qg_conversion *c = &v->plan->items[u->tensor];
    pthread_mutex_lock(&v->lock);
    v->done += c->converts ? qg_storage_bytes(&c->from, u->count) : u->count;
    qg_progress_show(&v->progress, v->done, v->all, (double)v->done);
    pthread_mutex_unlock(&v->lock);
}

static void *work(void *context) {
    convert *v = context;
    const room r = {malloc(v->src_bytes), malloc(v->dst_bytes), malloc(4 * v->floats)};
    unit u;
    if (!r.src || !r.dst || !r.floats) fail(v, "out of memory; fewer --jobs take less");
    while (r.src && r.dst && r.floats && take_unit(v, &u) && make_unit(v, &u, &r)) count_unit(v, &u);
    free(r.src);
    free(r.dst);
    free(r.floats);
    return NULL;
}

/* Room for the largest pieces. */
static void measure(convert *v) {
    v->src_bytes = v->dst_bytes = v->floats = 1;
    for (uint32_t i = 0; i < v->plan->count; ++i) {
        const qg_conversion *c = &v->plan->items[i];
        const uint64_t all = c->converts ? c->weight->elements : c->bytes, piece = c->converts ? c->piece : COPIED;
        const uint64_t most = all < piece ? all : piece, src = c->converts ? qg_storage_bytes(&c->from, most) : most;
        const uint64_t dst = c->converts ? qg_storage_bytes(&c->to, most) : 0;
        if (src > v->src_bytes) v->src_bytes = src;
        if (dst > v->dst_bytes) v->dst_bytes = dst;
        if (c->converts && most > v->floats) v->floats = most;
        v->all += c->bytes;
    }
}

/* All pieces, by the threads that there are; this is one of them. */
static bool make_all(convert *v) {
    pthread_t threads[MOST_JOBS];
    uint64_t started = 0;
    measure(v);
    v->progress.start = qg_seconds_now();
    bool good = write_at(v, v->plan->head.data, v->plan->head.length, 0);
    if (good && ftruncate(v->out.file, (off_t)v->plan->bytes) != 0) { /* what is not written is the padding */
        fail(v, qg_format(v->arena, "cannot write %s: %s", v->out.path, strerror(errno)));
        good = false;
    }
    while (good && started + 1 < v->jobs && pthread_create(&threads[started], NULL, work, v) == 0) ++started;
    if (good) work(v);
    for (uint64_t i = 0; i < started; ++i) pthread_join(threads[i], NULL);
    qg_progress_end(&v->progress);
    return !v->why[0] || qg_complain("%s", v->why) == 0;
}

/* ---- the summary ---- */

static uint64_t peak_memory(void) {
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
#ifdef __APPLE__
    return (uint64_t)usage.ru_maxrss;
#else
    return (uint64_t)usage.ru_maxrss * 1024;
#endif
}

/* The same in the summary: converted from and to the same, or kept for the same reason. */
static bool are_alike(const qg_conversion *a, const qg_conversion *b) {
    if (a->converts != b->converts || strcmp(a->from.name, b->from.name) != 0) return false;
    return a->converts ? strcmp(a->to.name, b->to.name) == 0 : strcmp(a->why, b->why) == 0;
}

static void print_line(const qg_plan_of_file *plan, uint32_t first) {
    const qg_conversion *c = &plan->items[first];
    uint32_t count = 0;
    uint64_t before = 0, after = 0;
    for (uint32_t i = first; i < plan->count; ++i) {
        if (!are_alike(c, &plan->items[i])) continue;
        count += 1;
        before += plan->items[i].bytes;
        after += plan->written[i].bytes;
    }
    printf("%-9s %5u tensor%s ", c->converts ? "converted" : "kept", count, count == 1 ? ", " : "s,");
    if (c->converts)
        printf("%s to %s, %.1f to %.1f MB\n", c->from.name, c->to.name, (double)before / 1e6, (double)after / 1e6);
    else
        printf("%s, %.1f MB: %s (%s%s)\n", c->from.name, (double)before / 1e6, c->why, c->weight->name,
               count > 1 ? ", ..." : "");
}

static void print_summary(const convert *v, double seconds) {
    const qg_plan_of_file *plan = v->plan;
    for (uint32_t pass = 0; pass < 2; ++pass)
        for (uint32_t i = 0; i < plan->count; ++i) {
            uint32_t first = 0;
            while (!are_alike(&plan->items[first], &plan->items[i])) ++first;
            if (first == i && plan->items[i].converts == (pass == 0)) print_line(plan, i);
        }
    printf("%.1f MB became %.1f MB in %.2f s, on %s%s; peak memory %.0f MB\n", (double)v->in->bytes / 1e6,
           (double)plan->bytes / 1e6, seconds, v->converter.where,
           v->jobs > 1 ? qg_format(v->arena, " in %llu threads", (unsigned long long)v->jobs) : "",
           (double)peak_memory() / 1e6);
}

/* ---- the command ---- */

static const char *temporary; /* what is removed when the user ends the command */

static void end(int number) {
    if (temporary) unlink(temporary);
    signal(number, SIG_DFL);
    raise(number);
}

/* Makes the file; the converter is open, and closed. */
static bool make_file(convert *v, const char *out) {
    pthread_mutex_init(&v->lock, NULL);
    v->from = open(v->in->path, O_RDONLY);
    bool good = v->from >= 0 || qg_complain("cannot read %s: %s", v->in->path, strerror(errno)) == 0;
    good = good && qg_run_output_open(v->arena, out, &v->out);
    const bool opened = good;
    if (opened) {
        temporary = v->out.temporary;
        signal(SIGINT, end);
        signal(SIGTERM, end);
        good = make_all(v);
    }
    const char *why = v->converter.close(v->converter.context);
    if (why && good) good = qg_complain("%s", why) == 0;
    if (opened) good = qg_run_output_close(&v->out, good);
    temporary = NULL;
    if (v->from >= 0) close(v->from);
    return good;
}

static bool same_file(const char *a, const char *b) {
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static bool read_rules(const qg_session *session, const qg_texts *files, qg_rules *rules) {
    const char *why = NULL;
    for (uint32_t i = 0; i < files->count && !why; ++i) why = qg_rules_add(rules, files->items[i]);
    if (!why)
        why = qg_rules_add(rules, qg_format(session->arena, "%s/formats/containers.txt", qg_session_data(session)));
    return !why || qg_complain("%s", why) == 0;
}

static bool count_jobs(convert *v, bool vulkan) {
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (v->jobs > MOST_JOBS)
        return qg_complain("--jobs must be at most %d, not %llu", MOST_JOBS, (unsigned long long)v->jobs) == 0;
    if (v->jobs > 1 && vulkan) return qg_complain("--jobs is for --target c; a device takes one piece at a time") == 0;
    if (!v->jobs) v->jobs = vulkan || cores < 1 ? 1 : cores > MOST_JOBS ? MOST_JOBS : (uint64_t)cores;
    return true;
}

int qg_command_convert(qg_session *session, int argc, char **argv) {
    const char *target = "c", *device = NULL, *out = NULL, *why = NULL;
    qg_texts rest = {0}, rules = {0};
    qg_convert_request request = {0};
    qg_plan_of_file plan = {0};
    qg_templates templates;
    qg_input file;
    convert v = {.arena = session->arena, .plan = &plan, .in = &file};
    const double start = qg_seconds_now();
    const qg_option options[] = {
        {"--to", QG_TEXT, &request.to, "FORMAT", "what matrices become: a format of `qkgen list`, or f32, f16 or bf16"},
        {"--tensor", QG_TEXTS, &request.tensors, "PATTERN[=FORMAT]",
         "these tensors become FORMAT, or, without it, they alone become that of --to; `=keep` leaves them. The first "
         "pattern that fits counts"},
        {"--out", QG_TEXT, &out, "FILE", "the new file"},
        {"--target", QG_TEXT, &target, "c|vulkan", "what converts: the processor or a Vulkan device (default: c)"},
        {"--device", QG_TEXT, &device, "NAME|NUMBER", "vulkan: one of `qkgen devices` (default: the best)"},
        {"--jobs", QG_COUNT, &v.jobs, "N", "c: threads (default: as many as there are processors)"},
        {"--rules", QG_TEXTS, &rules, "FILE", "more rules for types and names of tensors: docs/convert.md"},
        QG_SESSION_OPTIONS(session)};
    if (!qg_options_read(session, argc, argv, options, sizeof options / sizeof *options, &rest)) return 1;
    if (rest.count != 1) return qg_complain("convert needs one file: qkgen convert IN.gguf --to FORMAT --out OUT.gguf");
    if (!out) return qg_complain("convert needs --out FILE, the new file");
    const bool vulkan = strcmp(target, "vulkan") == 0;
    if (!vulkan && strcmp(target, "c") != 0) return qg_complain("--target must be c or vulkan, not '%s'", target);
    if (device && !vulkan) return qg_complain("--device is for --target vulkan");
    if (!count_jobs(&v, vulkan) || !qg_session_load(session) || !qg_input_open(rest.items[0], &file)) return 1;
    if (same_file(file.path, out))
        return qg_complain("--out %s is the file that is read: give the new one another name", out);
    qg_rules *all = qg_rules_new(session->arena);
    if (!read_rules(session, &rules, all)) return 1;
    request.in = file.path;
    request.rules = all;
    if (!qg_convert_plan(session, &request, &file, &plan)) return 1;
    if (!qg_templates_load(session->arena, qg_session_templates(session), &templates, &why))
        return qg_complain("%s", why);
    why = vulkan ? qg_convert_open_vulkan(session->arena, &templates, &plan, device, &v.converter)
                 : qg_convert_open_c(session->arena, &templates, &plan, &v.converter);
    if (why) return qg_complain("%s", why);
#ifdef SIGXFSZ
    signal(SIGXFSZ, SIG_IGN); /* a file-size limit is an error of write, like a full disk */
#endif
    if (!make_file(&v, out)) return 1;
    print_summary(&v, qg_seconds_now() - start);
    return 0;
}
