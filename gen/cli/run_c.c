/* The C target: writes the reference decoder of the format, lets the system's compiler make a shared object of it, and
 * calls it. Objects are kept by content, beside the text that they were made from. */
#include "cli/run.h"

#include <dlfcn.h>
#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

typedef struct reference {
    void *object;
    void *function;
    double seconds;
    uint64_t out_of_range;
} reference;

static uint64_t hash(const char *text) {
    uint64_t h = 0xCBF29CE484222325u;
    for (; *text; ++text) h = (h ^ (unsigned char)*text) * 0x100000001B3u;
    return h;
}

static const char *cache_folder(qg_arena *arena) {
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (cache && *cache) return qg_format(arena, "%s/qkgen/c", cache);
    return home && *home ? qg_format(arena, "%s/.cache/qkgen/c", home) : NULL;
}

static bool make_folders(qg_arena *arena, const char *path) {
    char *copy = qg_strndup(arena, path, strlen(path));
    for (char *at = copy + 1; *at; ++at) {
        if (*at != '/') continue;
        *at = '\0';
        mkdir(copy, 0700);
        *at = '/';
    }
    return mkdir(copy, 0700) == 0 || errno == EEXIST;
}

char *qg_reference_text(qg_arena *arena, const char *header, const char *source) {
    const char *include = strstr(source, "#include \""), *rest = include ? strchr(include, '\n') : NULL;
    if (!rest) return qg_format(arena, "%s", source);
    return qg_format(arena, "%s%.*s%s", header, (int)(include - source), source, rest);
}

static char *reference_text(qg_arena *arena, const qg_templates *templates, const qg_request *request,
                            const char **why) {
    const qg_c_options options = {
        .embed = true, .kernel_h = "#include <stddef.h>\n#include <stdint.h>", .dispatch_h = ""};
    const char *header = qg_c_header(arena, templates, request, &options, why);
    const char *source = header ? qg_c_source(arena, templates, request, &options, why) : NULL;
    return source ? qg_reference_text(arena, header, source) : NULL;
}

/* Compiles `source` to `object`; the compiler's own messages go to stderr. */
static const char *compile(qg_arena *arena, const char *source, const char *object) {
    const char *part = qg_format(arena, "%s.%ld.part", object, (long)getpid());
    const char *const args[] = {"sh",
                                "-c",
                                "exec ${CC:-cc} \"$@\"",
                                "cc",
                                "-std=c11",
                                "-O2",
                                "-ffp-contract=off",
                                "-fPIC",
                                "-shared",
                                "-o",
                                part,
                                source,
                                NULL};
    pid_t child;
    int status = 0;
    if (posix_spawnp(&child, "sh", NULL, NULL, (char *const *)args, environ) != 0 || waitpid(child, &status, 0) < 0)
        return qg_format(arena, "cannot start the C compiler: %s", strerror(errno));
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        unlink(part);
        const char *hint = WIFEXITED(status) && WEXITSTATUS(status) == 127
                               ? "; --target c needs a C compiler: install gcc or clang, or name one in CC"
                               : "";
        return qg_format(arena, "the C compiler failed on %s%s", source, hint);
    }
    return rename(part, object) == 0 ? NULL : qg_format(arena, "cannot write %s: %s", object, strerror(errno));
}

static const char *ensure_object(qg_arena *arena, const char *text, const char *name, char **object) {
    const char *why = NULL, *folder = cache_folder(arena);
    char temporary[] = "/tmp/qkgen-XXXXXX";
    if (!folder || !make_folders(arena, folder)) folder = mkdtemp(temporary);
    if (!folder) return qg_format(arena, "cannot make a folder for the reference decoder: %s", strerror(errno));
    const char *stem = qg_format(arena, "%s/%s-%016llx", folder, name,
                                 (unsigned long long)(hash(text) ^ hash(getenv("CC") ? getenv("CC") : "cc")));
    const char *source = qg_format(arena, "%s.c", stem);
    *object = qg_format(arena, "%s.so", stem);
    size_t length = 0;
    const char *kept = qg_read_file(arena, source, (size_t)1 << 24, &length, &why);
    if (kept && length == strlen(text) && memcmp(kept, text, length) == 0 && access(*object, R_OK) == 0) return NULL;
    why = qg_write_file(arena, source, text, strlen(text));
    if (why) return qg_format(arena, "cannot write %s: %s", source, why);
    return compile(arena, source, *object);
}

const char *qg_reference_load(qg_arena *arena, const char *text, const char *name, void **object) {
    char *path = NULL;
    const char *why = ensure_object(arena, text, name, &path);
    if (why) return why;
    *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return *object ? NULL : qg_format(arena, "cannot load %s: %s", path, dlerror());
}

const char *qg_reference_open_kernel(qg_arena *arena, const qg_templates *templates, const qg_request *request,
                                     const char *kernel, void **object, void **function) {
    const char *why = NULL, *text = reference_text(arena, templates, request, &why);
    if (text) why = qg_reference_load(arena, text, request->layout->name, object);
    if (!text || why) return why;
    *function = dlsym(*object, qg_format(arena, "qk_%s_ref", kernel));
    return *function ? NULL : qg_format(arena, "the reference has no function qk_%s_ref", kernel);
}

const char *qg_reference_open(qg_arena *arena, const qg_templates *templates, const qg_layout *layout,
                              const qg_family *family, qg_scalar type, void **object, void **function) {
    const qg_request request = {.layout = layout, .n_families = 1, .families = &family, .command = "qkgen run"};
    const char *kernel = qg_format(arena, "%s_%s_%s", layout->name, family->name, qg_scalars[type].name);
    return qg_reference_open_kernel(arena, templates, &request, kernel, object, function);
}

typedef void dequant_function(const void *const *, uint64_t, void *);
typedef void matrix_function(const void *const *, uint64_t, uint64_t, void *);
typedef void gemv_function(const void *const *, const void *, uint64_t, uint64_t, uint64_t, float *);
typedef uint64_t gemv_id_function(const void *const *, const void *, const uint32_t *, uint64_t, uint64_t, uint64_t,
                                  uint64_t, uint64_t, uint64_t, float *);
typedef uint64_t gather_function(const void *const *, const uint32_t *, uint64_t, uint64_t, uint64_t, void *);

/* What becomes of the sums of result vector `v`, and where they are stored. */
static void store_vector(const qg_job *job, uint64_t v, const float *sums, void *y) {
    const qg_epilogue *e = &job->epilogue;
    const qg_scalar type = qg_views_type(&job->views, job->ids != NULL);
    double limit = 0;
    for (uint64_t n = 0; n < job->rows; ++n)
        qg_result_store(y, type, job->places.y_of[v] + n,
                        (float)(job->places.adds_slots ? qg_epilogue_rest : qg_epilogue_result)(
                            e, (double)sums[n], v * job->rows + n, &limit));
}

/* A vector of x as f32, normed but for what its sums are multiplied with. */
static float *normed_x(const qg_job *job, const void *x, double *factor) {
    double *values = QG_NEW_ARRAY(job->arena, double, job->cols);
    float *made = QG_NEW_ARRAY(job->arena, float, job->cols);
    for (uint64_t k = 0; k < job->cols; ++k) values[k] = (double)qg_result_at(x, job->type, k);
    *factor = qg_norm_x(values, job->norm, job->cols, job->views.dense.epsilon);
    for (uint64_t k = 0; k < job->cols; ++k) made[k] = (float)values[k];
    return made;
}

/* The sums of result vector `v`; how many experts there are not. */
static uint64_t sum_vector(const reference *r, const qg_job *job, uint64_t v, float *sums) {
    const qg_layout *layout = job->layout;
    const qg_places *p = &job->places;
    gemv_function *gemv;
    gemv_id_function *gemv_id;
    memcpy(&gemv, &r->function, sizeof gemv);
    memcpy(&gemv_id, &r->function, sizeof gemv_id);
    const char *x = (const char *)job->x + p->x_of[p->vector_of[v]] * (qg_scalars[job->type].bits / 8);
    const uint64_t id = qg_matrix_of(p, job->ids, v);
    const bool apart = job->sizes != NULL; /* the reference finds an expert in all of them */
    const uint32_t missing = id >= p->matrices;
    const uint32_t number = !apart || missing ? 0 - missing : (uint32_t)(p->weights_of[id] / job->rows);
    const void *weights[64];
    for (uint32_t i = 0; i < layout->n_buffers && i < 64; ++i) {
        const uint64_t first = missing || apart ? 0 : p->weights_of[id] * job->cols / layout->elements;
        weights[i] = (const char *)job->weights[i] + first * layout->buffers[i].bytes;
    }
    if (job->ids)
        return gemv_id(weights, x, &number, apart ? (uint32_t)(p->weight_rows / job->rows) : 1, job->rows, job->cols, 1,
                       1, 1, sums);
    double factor = 1;
    gemv(weights, job->norm ? (const void *)normed_x(job, x, &factor) : x, job->rows, job->cols, 1, sums);
    for (uint64_t n = 0; n < job->rows && job->norm; ++n) sums[n] = (float)((double)sums[n] * factor);
    return 0;
}

/* Of result vector `v`, whose sums are there, and those of the same token behind it, `others`: all of them, each
 * times its scale. */
static void add_slots(reference *r, const qg_job *job, uint64_t v, float *sums, float *others) {
    double limit = 0;
    for (uint64_t slot = 0; slot < job->places.added; ++slot) {
        float *of = slot ? others : sums;
        if (slot) r->out_of_range += sum_vector(r, job, v + slot, others);
        for (uint64_t n = 0; n < job->rows; ++n) {
            const uint64_t at = (v + slot) * job->rows + n;
            const float scaled = (float)qg_epilogue_scaled(&job->epilogue, (double)of[n], at, &limit);
            sums[n] = slot ? sums[n] + scaled : scaled;
        }
    }
}

/* Sums, vector by vector. */
static void run_sums(reference *r, const qg_job *job, void *y) {
    const qg_places *p = &job->places;
    const uint64_t half = p->gated ? p->vectors / 2 : p->vectors;
    float *sums = malloc((size_t)(2 * job->rows + 1) * sizeof *sums), *others = sums + job->rows;
    for (uint64_t v = 0; v < half && sums; v += p->added) {
        r->out_of_range += sum_vector(r, job, v, sums);
        if (p->adds_slots) add_slots(r, job, v, sums, others);
        if (p->gated) sum_vector(r, job, v + half, others);
        for (uint64_t n = 0; n < job->rows && p->gated; ++n) {
            const float gate = p->gated == 1 ? sums[n] : others[n], other = p->gated == 1 ? others[n] : sums[n];
            double limit = 0;
            sums[n] = (float)qg_gated_result((double)other, (double)gate, 0, &limit);
        }
        store_vector(job, v, sums, y);
    }
    free(sums);
}

static const char *run_part(void *context, const qg_job *job, uint64_t first, uint64_t count, void *dst) {
    reference *r = context;
    const double start = qg_seconds_now();
    if (job->x) {
        run_sums(r, job, dst);
    } else if (job->indices) {
        gather_function *gather;
        memcpy(&gather, &r->function, sizeof gather); /* ISO C has no conversion from object to function pointers */
        r->out_of_range += gather(job->weights, job->indices + first, job->rows, job->cols, count, dst);
    } else if (job->sizes) {
        matrix_function *dequant;
        memcpy(&dequant, &r->function, sizeof dequant);
        dequant(job->weights, job->rows, job->cols, dst);
    } else {
        dequant_function *dequant;
        memcpy(&dequant, &r->function, sizeof dequant);
        const void *weights[64];
        for (uint32_t i = 0; i < job->layout->n_buffers && i < 64; ++i)
            weights[i] = (const char *)job->weights[i] + first / job->layout->elements * job->layout->buffers[i].bytes;
        dequant(weights, count, dst);
    }
    r->seconds += qg_seconds_now() - start;
    return NULL;
}

static double spent(void *context) { return ((reference *)context)->seconds; }

static uint64_t missed(void *context) { return ((reference *)context)->out_of_range; }

static const char *close_reference(void *context) {
    dlclose(((reference *)context)->object);
    return NULL;
}

const char *qg_run_open_c(const qg_job *job, uint64_t most, qg_runner *runner) {
    (void)most;
    reference *r = QG_NEW(job->arena, reference);
    const char *why = qg_reference_open(job->arena, job->templates, job->layout, job->family,
                                        job->norm ? QG_F32 : job->type, &r->object, &r->function);
    if (why) return why;
    *runner = (qg_runner){r, "the C reference", run_part, spent, missed, close_reference};
    return NULL;
}
