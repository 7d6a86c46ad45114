/* `qkgen soak`: cases without end, each in a process that may hang, crash or lose its device
 * without taking the others along. */
#include "cli/run_soak.h"
#include "emit/spirv.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_JOBS = 64, LINE = 2048 };

typedef struct request {
    qg_session *session;
    qg_soak_choice choice;
    const char *device, *one; /* a case that was printed */
    uint64_t seed, minutes, seconds, jobs, limit, failures, first;
    uint64_t cases; /* the number behind the last; 0: until the time is over */
    double end;     /* when to stop, or 0 */
} request;

/* What a worker says: 'B' and a case that it begins; then 'R' (right), 'N' (refused), 'W' (wrong)
 * with the largest error and a text, or 'D', a case that there is not. */
typedef struct worker {
    pid_t process;
    int from;
    uint64_t next, number; /* cases: that it is to begin with, and that it is at */
    double since;          /* of the case at hand; 0: it is between cases */
    size_t length;
    char line[LINE], at[LINE];
} worker;

typedef struct tally {
    const char *name;
    uint64_t cases;
    double ratio;
} tally;

typedef struct soak {
    request *r;
    worker workers[MOST_JOBS];
    uint64_t right, refused, failed,
        none; /* none: numbers of cases that there are not, as of shapes that a format cannot have */
    tally families[16], classes[8];
    uint32_t n_families, n_classes;
    double start;
} soak;

/* ---- a worker ---- */

static void say(int to, char what, uint64_t number, double ratio, const char *text) {
    char line[LINE];
    const int n = snprintf(line, sizeof line - 1, "%c %llu %.6g %s", what, (unsigned long long)number, ratio, text);
    const size_t length = n < 0 ? 0 : (size_t)n < sizeof line - 1 ? (size_t)n : sizeof line - 2;
    for (size_t i = 0; i < length; ++i)
        if (line[i] == '\n') line[i] = ' ';
    line[length] = '\n';
    if (write(to, line, length + 1) < 0) _exit(1);
}

static bool open_device(const request *r, qg_soak_device *device, const char **why) {
    static qk_error error;
    qg_templates *templates = QG_NEW(r->session->arena, qg_templates);
    const qk_vulkan_options options = {.device = r->device, .cache_path = ""};
    if (!qg_templates_load(r->session->arena, qg_session_templates(r->session), templates, why)) return false;
    *why = error.text;
    if (!qg_spirv_open() || qk_vulkan_create(&options, &device->vk, &error) != QK_OK) return false;
    device->templates = templates;
    device->kept = QG_NEW(r->session->arena, qg_soak_weights);
    device->most = qk_vulkan_info(device->vk)->type == QK_VULKAN_CPU ? 1 << 16 : 1 << 17;
    device->flushes = qg_soak_flushes(device);
    return true;
}

/* The cases of the group of `number`, from there on, whose kernel is compiled once. False when the device is gone. */
static bool try_group(const request *r, const qg_soak_device *device, uint64_t number, int to) {
    const uint64_t end = (number / QG_SOAK_GROUP + 1) * QG_SOAK_GROUP;
    qg_soak_kernel kernel = {NULL, NULL};
    qg_soak_result result = {.outcome = QG_SOAK_RIGHT};
    qg_arena *arena = qg_arena_new();
    for (; number < end && (!r->cases || number < r->cases) && !result.lost; ++number) {
        qg_soak_case c;
        const char *why = NULL;
        if (r->end > 0 && qg_seconds_now() > r->end) break;
        if (!qg_soak_draw(arena, &r->choice, number, &c)) {
            say(to, 'D', number, 0, "");
            continue;
        }
        say(to, 'B', number, 0, qg_soak_text(arena, &c));
        if (!kernel.kernel && !qg_soak_compile(device, &c, &kernel, &why)) {
            say(to, 'W', number, 0, why);
            break;
        }
        qg_soak_try(device, &kernel, &c, &result);
        say(to, "RNW"[result.outcome], number, result.ratio, result.text);
    }
    qg_soak_forget(device, &kernel);
    qg_arena_free(arena);
    return !result.lost;
}

/* Groups of cases in turn with the other workers, from case `next` on. */
static void work(const request *r, uint64_t next, int to) {
    qg_soak_device device = {.flushes = false};
    const char *why = NULL;
    if (!open_device(r, &device, &why)) {
        say(to, 'X', next, 0, why);
        _exit(1);
    }
    while ((!r->cases || next < r->cases) && !(r->end > 0 && qg_seconds_now() > r->end)) {
        if (!try_group(r, &device, next, to)) _exit(1); /* its device is gone: another process goes on */
        next = (next / QG_SOAK_GROUP + r->jobs) * QG_SOAK_GROUP;
    }
    qk_vulkan_destroy(device.vk);
    _exit(0);
}

static bool start(soak *s, worker *w) {
    int ends[2];
    fflush(stdout);
    if (pipe(ends) != 0) return qg_complain("cannot make a pipe: %s", strerror(errno)) == 0;
    w->process = fork();
    if (w->process < 0) return qg_complain("cannot start a process: %s", strerror(errno)) == 0;
    if (w->process == 0) {
        close(ends[0]);
        signal(SIGPIPE, SIG_DFL);
        work(s->r, w->next, ends[1]);
    }
    close(ends[1]);
    w->from = ends[0];
    w->length = 0;
    w->since = 0;
    return true;
}

/* ---- what workers say ---- */

static void count(tally *list, uint32_t *n, uint32_t most, const char *name, double ratio) {
    uint32_t i = 0;
    while (i < *n && strcmp(list[i].name, name) != 0) ++i;
    if (i == most) return;
    if (i == *n) list[(*n)++] = (tally){name, 0, 0};
    list[i].cases += 1;
    if (ratio > list[i].ratio) list[i].ratio = ratio;
}

static void count_case(soak *s, const worker *w, double ratio) {
    qg_soak_case c;
    if (qg_soak_read(s->r->session->arena, s->r->session, w->at, &c) != NULL) return;
    count(s->families, &s->n_families, 16, c.plain ? c.plain->name : c.family->name, 0);
    if (c.sum) count(s->classes, &s->n_classes, 8, c.sum->name, ratio);
}

static void report_failure(soak *s, const worker *w, const char *text) {
    s->failed += 1;
    printf("FAILED after %.1f s, case %llu: %s\n    qkgen soak%s%s --case '%s'\n", qg_seconds_now() - s->start,
           (unsigned long long)w->number, text, s->r->device ? " --device " : "", s->r->device ? s->r->device : "",
           w->at);
    fflush(stdout);
}

/* False where no worker can open the device. */
static bool take_line(soak *s, worker *w) {
    char what = 0;
    unsigned long long number = 0;
    double ratio = 0;
    int text = 0;
    if (sscanf(w->line, "%c %llu %lf %n", &what, &number, &ratio, &text) < 3) return true;
    w->number = number;
    w->next = number + 1; /* of its own cases */
    if (w->next % QG_SOAK_GROUP == 0) w->next += (s->r->jobs - 1) * QG_SOAK_GROUP;
    if (what == 'X') return qg_complain("%s", w->line + text) == 0;
    w->since = what == 'B' ? qg_seconds_now() : 0;
    if (what == 'B') snprintf(w->at, sizeof w->at, "%s", w->line + text);
    s->right += what == 'R';
    s->refused += what == 'N';
    s->none += what == 'D';
    if (what == 'R') count_case(s, w, ratio);
    if (what == 'W') report_failure(s, w, w->line + text);
    return true;
}

/* Reads what there is; false at the end of the pipe, or where the device cannot be opened. */
static bool take_lines(soak *s, worker *w, bool *usable) {
    char bytes[4096];
    const ssize_t n = read(w->from, bytes, sizeof bytes);
    for (ssize_t i = 0; i < n; ++i) {
        if (bytes[i] != '\n') {
            if (w->length < LINE - 1) w->line[w->length++] = bytes[i];
            continue;
        }
        w->line[w->length] = 0;
        w->length = 0;
        if (!take_line(s, w)) *usable = false;
    }
    return n > 0 || (n < 0 && errno == EINTR);
}

/* ---- all of them ---- */

/* The worker is at its end: by itself, or in the middle of a case. True when another is to go on. */
static bool ended(soak *s, worker *w) {
    int status = 0;
    close(w->from);
    waitpid(w->process, &status, 0);
    w->process = 0;
    if (w->since > 0 && WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL)
        report_failure(s, w, qg_format(s->r->session->arena, "the process ended by signal %d", WTERMSIG(status)));
    else if (w->since > 0 && WIFEXITED(status))
        report_failure(s, w, "the process ended");
    const bool done = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (done || (s->r->end > 0 && qg_seconds_now() > s->r->end)) return false;
    return !s->r->cases || w->next < s->r->cases;
}

static void check_time(soak *s, worker *w) {
    if (w->process == 0 || w->since == 0 || qg_seconds_now() - w->since < (double)s->r->limit) return;
    report_failure(s, w,
                   qg_format(s->r->session->arena, "did not come back within %llu s", (unsigned long long)s->r->limit));
    kill(w->process, SIGKILL);
    w->since = 0;
}

static bool enough(const soak *s) { return s->r->failures && s->failed >= s->r->failures; }

static bool run_all(soak *s) {
    bool usable = true;
    uint32_t open = 0;
    for (uint32_t i = 0; i < s->r->jobs; ++i) {
        s->workers[i].next = s->r->first + (uint64_t)i * QG_SOAK_GROUP;
        if (!start(s, &s->workers[i])) return false;
        open += 1;
    }
    while (open && usable && !enough(s)) {
        struct pollfd pipes[MOST_JOBS];
        worker *of[MOST_JOBS];
        nfds_t n = 0;
        for (uint32_t i = 0; i < s->r->jobs; ++i) {
            if (s->workers[i].process == 0) continue;
            of[n] = &s->workers[i];
            pipes[n++] = (struct pollfd){.fd = s->workers[i].from, .events = POLLIN};
        }
        if (poll(pipes, n, 500) < 0 && errno != EINTR) return false;
        for (nfds_t i = 0; i < n; ++i) {
            if (pipes[i].revents == 0 || take_lines(s, of[i], &usable)) continue;
            if (!(ended(s, of[i]) && usable && !enough(s) && start(s, of[i]))) open -= 1;
        }
        for (uint32_t i = 0; i < s->r->jobs; ++i) check_time(s, &s->workers[i]);
    }
    for (uint32_t i = 0; i < s->r->jobs; ++i) {
        if (s->workers[i].process == 0) continue;
        kill(s->workers[i].process, SIGKILL);
        waitpid(s->workers[i].process, NULL, 0);
    }
    return usable;
}

static void report(const soak *s) {
    printf("%llu cases right, %llu refused for want of room or features, %llu failed, in %.0f s; seed %llu\n",
           (unsigned long long)s->right, (unsigned long long)s->refused, (unsigned long long)s->failed,
           qg_seconds_now() - s->start, (unsigned long long)s->r->seed);
    uint64_t next = UINT64_MAX;
    for (uint32_t i = 0; i < s->r->jobs; ++i)
        if (s->workers[i].next < next) next = s->workers[i].next;
    if (next < s->r->cases)
        printf("    the time was over, or failures were too many: `--from %llu` goes on, up to %llu\n",
               (unsigned long long)next, (unsigned long long)s->r->cases);
    for (uint32_t i = 0; i < s->n_families; ++i)
        printf("    %-20s %8llu cases\n", s->families[i].name, (unsigned long long)s->families[i].cases);
    for (uint32_t i = 0; i < s->n_classes; ++i)
        printf("    class %-14s %8llu cases, the largest error %.3g of its bound\n", s->classes[i].name,
               (unsigned long long)s->classes[i].cases, s->classes[i].ratio);
}

/* ---- the command ---- */

static int try_one(request *r) {
    qg_soak_case c;
    qg_soak_device device = {.flushes = false};
    qg_soak_kernel kernel = {NULL, NULL};
    qg_soak_result result;
    const char *why = qg_soak_read(r->session->arena, r->session, r->one, &c);
    if (why) return qg_complain("--case: %s", why);
    if (!open_device(r, &device, &why)) return qg_complain("%s", why);
    if (!qg_soak_compile(&device, &c, &kernel, &why)) return qg_complain("%s", why);
    alarm((unsigned)r->limit); /* a launch that hangs ends the process */
    qg_soak_try(&device, &kernel, &c, &result);
    alarm(0);
    qg_soak_forget(&device, &kernel);
    qk_vulkan_destroy(device.vk);
    if (result.outcome == QG_SOAK_WRONG) return qg_complain("%s", result.text);
    if (result.outcome == QG_SOAK_REFUSED) printf("refused: %s\n", result.text);
    if (result.outcome == QG_SOAK_RIGHT && c.sum)
        printf("right; the largest error is %.3g of its bound\n", result.ratio);
    else if (result.outcome == QG_SOAK_RIGHT)
        puts("right");
    return 0;
}

/* What matters of the device; `why` where there is none. */
typedef struct answer {
    bool cpu, matrix_units;
    uint64_t memory;
    char why[256];
} answer;

static void look_at_device(const request *r, answer *a) {
    qk_vulkan_device devices[16];
    uint32_t all = 16, chosen = 0;
    qk_error error;
    if (qk_vulkan_list(devices, &all, &error) != QK_OK ||
        qk_vulkan_choose(devices, all < 16 ? all : 16, r->device, &chosen, &error) != QK_OK) {
        snprintf(a->why, sizeof a->why, "%s", error.text);
        return;
    }
    const qk_vulkan_device *d = &devices[chosen];
    *a = (answer){.cpu = d->type == QK_VULKAN_CPU,
                  .memory = d->memory,
                  .matrix_units = d->cooperative_matrix && qg_spirv_has_matrices()};
}

/* In a process of its own: that of workers must not have loaded a driver. */
static bool ask_device(request *r) {
    int ends[2];
    answer a = {.why = "the process that looks for the device ended"};
    if (pipe(ends) != 0) return qg_complain("cannot make a pipe: %s", strerror(errno)) == 0;
    const pid_t process = fork();
    if (process == 0) {
        a.why[0] = 0;
        look_at_device(r, &a);
        _exit(write(ends[1], &a, sizeof a) == (ssize_t)sizeof a ? 0 : 1);
    }
    close(ends[1]);
    const bool read_all = process > 0 && read(ends[0], &a, sizeof a) == (ssize_t)sizeof a;
    close(ends[0]);
    if (process > 0) waitpid(process, NULL, 0);
    if (!read_all || a.why[0]) return qg_complain("%s", a.why) == 0;
    r->choice.cpu = a.cpu;
    r->choice.memory = a.memory;
    r->choice.matrix_units = a.matrix_units;
    if (!r->limit) r->limit = r->choice.cpu ? 240 : 40;
    if (!r->jobs) {
        const long cores = sysconf(_SC_NPROCESSORS_ONLN);
        r->jobs = cores > 2 ? (uint64_t)cores - 1 : 2;
        if (r->jobs > MOST_JOBS) r->jobs = MOST_JOBS;
    }
    return true;
}

static const char *class_names(qg_arena *arena) {
    qg_text text = qg_text_new(arena);
    for (uint32_t i = 0; i < qg_n_sum_classes; ++i)
        qg_text_printf(&text, "%s %s", i ? "," : "", qg_sum_classes[i].name);
    return text.data;
}

static bool check_names(const request *r) {
    for (uint32_t i = 0; i < r->choice.formats.count; ++i)
        if (!strpbrk(r->choice.formats.items[i], "*?[") && !qg_session_format(r->session, r->choice.formats.items[i]))
            return false;
    for (uint32_t i = 0; i < r->choice.families.count; ++i)
        if (!qg_family_named(r->choice.families.items[i]) && !qg_plain_named(r->choice.families.items[i], NULL))
            return qg_complain("no kernel family is named %s; `qkgen list families` shows them",
                               r->choice.families.items[i]) == 0;
    for (uint32_t i = 0; i < r->choice.classes.count; ++i)
        if (!qg_sum_class_named(r->choice.classes.items[i]))
            return qg_complain("no class of sums is named %s; there are%s", r->choice.classes.items[i],
                               class_names(r->session->arena)) == 0;
    return true;
}

static void split_all(qg_arena *arena, qg_texts *texts) {
    qg_texts words = {0};
    for (uint32_t i = 0; i < texts->count; ++i) qg_split(arena, texts->items[i], &words);
    *texts = words;
}

static int by_elements(const void *a, const void *b) {
    const qg_matrix *x = a, *y = b;
    const double m = (double)x->rows * (double)x->cols * (double)(x->experts ? x->experts : 1);
    const double n = (double)y->rows * (double)y->cols * (double)(y->experts ? y->experts : 1);
    return m > n ? -1 : m < n;
}

/* The matrices of models, the largest first, and as many cases as they make. */
static bool list_sweep(request *r, const qg_texts *names, uint64_t largest) {
    qg_arena *arena = r->session->arena;
    qg_models models = {0};
    uint32_t count = 0;
    if (!qg_models_read(arena, qg_session_data(r->session), names, &models)) return false;
    qg_matrix *shapes = qg_models_shapes(arena, &models, &count);
    qsort(shapes, count, sizeof *shapes, by_elements);
    r->choice.shapes = shapes;
    r->choice.n_shapes = largest && largest < count ? (uint32_t)largest : count;
    const uint64_t all = qg_soak_sweep(arena, &r->choice);
    if (!r->cases || r->cases > all) r->cases = all;
    if (r->first >= all)
        return qg_complain("--from %llu: there are %llu cases", (unsigned long long)r->first,
                           (unsigned long long)all) == 0;
    return true;
}

int qg_command_soak(qg_session *session, int argc, char **argv) {
    request r = {.session = session, .seed = 1, .failures = 10};
    qg_texts rest = {0}, models = {0};
    uint64_t largest = 0;
    const qg_option options[] = {
        {"--minutes", QG_COUNT, &r.minutes, "N", "how long (default: 1, where nothing says how long or how many)"},
        {"--seconds", QG_COUNT, &r.seconds, "N", "how much longer"},
        {"--cases", QG_COUNT, &r.cases, "N", "how many cases, fewer when the time is over before"},
        {"--seed", QG_COUNT, &r.seed, "N", "which cases: the same on devices of one kind (default: 1)"},
        {"--from", QG_COUNT, &r.first, "N", "the number of the first case (default: 0)"},
        {"--format", QG_TEXTS, &r.choice.formats, "F,...", "formats, by names or patterns (default: all)"},
        {"--family", QG_TEXTS, &r.choice.families, "FAMILY,...",
         "kernel families, also those without a format (default: all)"},
        {"--class", QG_TEXTS, &r.choice.classes, "C,...", "classes of sums (default: all)"},
        {"--model", QG_TEXTS, &models, "NAME|FILE,...",
         "instead of random shapes: each matrix of these models, with one to eight vectors, for each format and class"},
        {"--largest", QG_COUNT, &largest, "N", "--model: only so many of the matrices, the largest"},
        {"--one-of-each", QG_FLAG, &r.choice.one_of_each, NULL, "--model: one format of each specification"},
        {"--jobs", QG_COUNT, &r.jobs, "N", "processes (default: one less than there are processors, at least 2)"},
        {"--limit", QG_COUNT, &r.limit, "S", "seconds after which a case is taken to hang (default: 40; 240 on a CPU)"},
        {"--failures", QG_COUNT, &r.failures, "N", "after how many to stop; 0: never (default: 10)"},
        {"--device", QG_TEXT, &r.device, "D",
         "a device of `qkgen devices`, by number or part of its name (default: a CPU device)"},
        {"--case", QG_TEXT, &r.one, "CASE", "one case, as it was printed"},
        QG_SESSION_OPTIONS(session)};
    if (!qg_options_read(session, argc, argv, options, sizeof options / sizeof *options, &rest)) return 1;
    if (rest.count) return qg_complain("soak takes no '%s'", rest.items[0]);
    if (r.jobs > MOST_JOBS)
        return qg_complain("--jobs must be at most %d, not %llu", MOST_JOBS, (unsigned long long)r.jobs);
    split_all(session->arena, &r.choice.formats);
    split_all(session->arena, &r.choice.families);
    split_all(session->arena, &r.choice.classes);
    split_all(session->arena, &models);
    if (!models.count && (largest || r.choice.one_of_each))
        return qg_complain("--largest and --one-of-each belong to --model");
    if (!qg_session_load(session) || !check_names(&r)) return 1;
    r.choice.session = session;
    r.choice.seed = r.seed;
    if (!ask_device(&r)) return 1;
    if (r.cases) r.cases += r.first;
    if (models.count && !list_sweep(&r, &models, largest)) return 1;
    if (r.one) return try_one(&r);
    if (!r.cases && !r.minutes && !r.seconds && !models.count) r.minutes = 1;
    soak *s = QG_NEW(session->arena, soak);
    s->r = &r;
    s->start = qg_seconds_now();
    if (r.minutes || r.seconds) r.end = s->start + 60.0 * (double)r.minutes + (double)r.seconds;
    if (!run_all(s)) return 1;
    report(s);
    if (s->right == 0 && s->failed == 0) return qg_complain("no case was tried: nothing matches what is asked for");
    return s->failed ? 1 : 0;
}
