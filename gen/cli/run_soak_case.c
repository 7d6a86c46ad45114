/* The cases of `qkgen soak`: drawn at random around what matters, written as one line, and read from it. */
#include "cli/run_soak.h"
#include "emit/spirv.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

uint64_t qg_soak_random(uint64_t *state) {
    uint64_t x = *state += UINT64_C(0x9E3779B97F4A7C15);
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

static uint64_t below(uint64_t *state, uint64_t count) { return count ? qg_soak_random(state) % count : 0; }

static bool one_in(uint64_t *state, uint64_t count) { return below(state, count) == 0; }

/* ---- the kernel ---- */

static bool is_wanted(const qg_texts *wanted, const char *name) {
    for (uint32_t i = 0; i < wanted->count; ++i)
        if (fnmatch(wanted->items[i], name, 0) == 0) return true;
    return wanted->count == 0;
}

/* Of a name under a key, whichever other names there are, so that one more of them takes some of the others' cases and
 * leaves all else as it is. */
static uint64_t hash_of(uint64_t key, const char *name) {
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    for (; *name; ++name) hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001B3);
    hash ^= key;
    return qg_soak_random(&hash);
}

/* A format that the family takes: first one of the specifications, then one of those that its parameters make, so that
 * large families of formats do not crowd out the others. */
static const qg_layout *draw_format(const qg_soak_choice *choice, uint64_t key, const qg_family *family) {
    const qg_library *library = choice->session->library;
    const qg_layout *best = NULL;
    uint64_t best_file = 0, best_own = 0;
    for (uint32_t i = 0; i < library->layouts.count; ++i) {
        const qg_layout *layout = library->layouts.items[i];
        const char *slash = strrchr(library->paths[i], '/');
        if (!is_wanted(&choice->formats, layout->name) || !qg_takes(family, layout)) continue;
        const uint64_t file = hash_of(key, slash ? slash + 1 : library->paths[i]), own = hash_of(key, layout->name);
        if (best && (file > best_file || (file == best_file && own >= best_own))) continue;
        best = layout;
        best_file = file;
        best_own = own;
    }
    return best;
}

typedef struct candidate {
    const qg_family *family; /* NULL: it is `plain` */
    const qg_plain *plain;
    uint64_t rank, state;
} candidate;

/* The smallest of so many numbers. */
static candidate candidate_of(uint64_t key, const char *name, uint32_t numbers) {
    candidate c = {.rank = UINT64_MAX, .state = hash_of(key, name)};
    uint64_t state = ~c.state;
    while (numbers-- > 0) {
        const uint64_t rank = qg_soak_random(&state);
        if (rank < c.rank) c.rank = rank;
    }
    return c;
}

static int by_rank(const void *a, const void *b) {
    const candidate *x = a, *y = b;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* Families in the order in which a group of cases asks them. Sums have most of the schedules, and get most of the
 * cases. */
static candidate *order_families(qg_arena *arena, const qg_soak_choice *choice, uint64_t key, uint32_t *count) {
    candidate *all = NULL;
    uint32_t capacity = 0;
    *count = 0;
    for (uint32_t i = 0; i < qg_n_families; ++i) {
        const qg_family *family = &qg_families[i];
        candidate c = candidate_of(key, family->name, family->sums ? 6 : 2);
        c.family = family;
        if (is_wanted(&choice->families, family->name) && (family->sums || choice->classes.count == 0))
            QG_PUSH(arena, all, *count, capacity, c);
    }
    for (uint32_t s = 0; s < qg_n_plain_sets && choice->formats.count == 0; ++s)
        for (uint32_t i = 0; i < qg_plain_sets[s].n_families; ++i) {
            const qg_plain *plain = &qg_plain_sets[s].families[i];
            candidate c = candidate_of(key, plain->name, 1);
            c.plain = plain;
            if (is_wanted(&choice->families, plain->name)) QG_PUSH(arena, all, *count, capacity, c);
        }
    if (*count) qsort(all, *count, sizeof *all, by_rank);
    return all;
}

/* Tiles take plain arithmetic where there are no matrix units. */
static bool device_takes(const qg_soak_choice *choice, const qg_family *family, const qg_sum_class *sum) {
    return sum->products != QG_PRODUCTS_MMA || (family->in_tiles ? qg_spirv_has_matrices() : choice->matrix_units);
}

static bool draw_class(qg_arena *arena, const qg_soak_choice *choice, uint64_t *state, qg_soak_case *c) {
    c->sum = &qg_sum_classes[below(state, qg_n_sum_classes)];
    if (!is_wanted(&choice->classes, c->sum->name) || !device_takes(choice, c->family, c->sum)) return false;
    return (c->sum == &qg_sum_classes[QG_CLASS_EXACT] && !c->family->in_tiles) ||
           qg_has_class(arena, c->layout, c->family, c->sum);
}

static bool try_kernel(qg_arena *arena, const qg_soak_choice *choice, candidate *of, qg_soak_case *c) {
    *c = (qg_soak_case){.constants = "", .views = "", .parts = 1, .family = of->family, .plain = of->plain};
    if (c->plain) return true;
    c->layout = draw_format(choice, qg_soak_random(&of->state), c->family);
    if (!c->layout) return false;
    c->type = c->family->types[below(&of->state, c->family->n_types)];
    return !c->family->sums || draw_class(arena, choice, &of->state, c);
}

/* The kernel of a group of cases: of the first family whose format has the class that is drawn, so that one with few
 * classes has few cases. What else is drawn follows from `state`, which is the family's own. */
static bool draw_kernel(qg_arena *arena, const qg_soak_choice *choice, uint64_t key, uint64_t *state, qg_soak_case *c) {
    uint32_t count;
    candidate *families = order_families(arena, choice, key, &count);
    for (uint32_t i = 0; i < 64 * count; ++i) {
        candidate *of = &families[i % count];
        if (!try_kernel(arena, choice, of, c)) continue;
        *state = of->state;
        return true;
    }
    return false;
}

/* ---- the shape ---- */

uint64_t qg_soak_x_slots(const qg_soak_case *c) { return c->x_slots ? c->x_slots : 1; }

const char *qg_soak_places(qg_arena *arena, const qg_soak_case *c, qg_views *views, qg_places *places) {
    const bool experts = c->family->experts;
    const qg_sum_shape shape = {c->rows, c->cols, c->batch, experts ? c->experts : 0, c->slots, qg_soak_x_slots(c)};
    *views = (qg_views){.given = false};
    const char *why = *c->views ? qg_views_read(arena, c->views, experts, views) : NULL;
    return why ? why : qg_places_of(arena, views, &shape, places);
}

/* A number of units up to `most`: few, near a power of two, as in a real model, or any. `unit` is
 * what the numbers of models count. */
static uint64_t draw_size(uint64_t *state, uint64_t most, uint64_t unit) {
    static const uint32_t models[] = {256,  512,  576,  768,  1024,  1536,  2048,  2560,  2880,  3072,  3584,
                                      4096, 5120, 7168, 8192, 11008, 12288, 14336, 18944, 27648, 28672, 65536};
    static const int near[] = {-1, 0, 0, 0, 1};
    uint64_t size = 0;
    switch (below(state, 5)) {
    case 0: size = below(state, 20); break;
    case 1: {
        uint32_t bits = 0;
        while (most >> bits > 1) bits += 1;
        size = (UINT64_C(1) << below(state, bits + 1)) + (uint64_t)near[below(state, 5)];
        break;
    }
    case 2: size = models[below(state, sizeof models / sizeof *models)] / unit; break;
    case 3: size = 32 * (1 + below(state, 8)) + (uint64_t)near[below(state, 5)]; break;
    default: size = 1 + below(state, most); break;
    }
    return size <= most ? size : 1 + below(state, most);
}

/* Elements of the weights: as many as a device has time for, and at times far more. */
static uint64_t draw_elements(const qg_soak_choice *choice, uint64_t *state) {
    if (choice->cpu) return one_in(state, 16) ? 1 << 20 : 1 << 17;
    if (one_in(state, 512) && choice->memory > UINT64_C(32) << 30) return UINT64_C(1) << 33;
    return one_in(state, 24) ? UINT64_C(1) << 28 : UINT64_C(1) << 23;
}

static void draw_plain(const qg_soak_choice *choice, uint64_t *state, qg_soak_case *c) {
    const uint64_t most = choice->cpu ? 1 << 18 : 1 << 22;
    c->cols = 4 * (1 + draw_size(state, 1023, 4));
    if (c->cols > 4096) c->cols = 4096;
    c->rows = draw_size(state, most / c->cols, 1);
    c->batch = 2 + below(state, 255);
}

static void draw_shape(qg_arena *arena, const qg_soak_choice *choice, uint64_t *state, qg_soak_case *c) {
    const qg_layout *layout = c->layout;
    const bool blocks = layout->view == QG_VIEW_BLOCKS || c->family->encodes, /* what is encoded is whole blocks */
        any = !blocks && layout->ragged && one_in(state, 2);
    const uint64_t tile = c->family->in_tiles ? qg_soak_describe(arena, c)->wide_block : 1;
    uint64_t wide = blocks && layout->view != QG_VIEW_GROUPS ? layout->elements : any ? 1 : layout->block_cols;
    const uint64_t high = blocks || any ? 1 : layout->block_rows;
    if (tile > wide) wide = tile;
    uint64_t most = draw_elements(choice, state);
    if (!blocks && most > UINT64_C(1) << 30) most = UINT64_C(1) << 30;
    if (c->family->experts) {
        c->experts = 1 + below(state, one_in(state, 4) ? 128 : 8);
        c->slots = 1 + below(state, 8);
        c->x_slots = one_in(state, 2) ? c->slots : 1;
        most /= c->experts;
    }
    /* A long row, or many of them, now and then: in between, as they come. */
    const uint64_t most_cols = most < 65536 ? most : one_in(state, 6) ? 131072 : 16384;
    c->cols = wide * draw_size(state, most_cols > wide ? most_cols / wide : 1, wide);
    const uint64_t most_rows = most / (c->cols ? c->cols : 1) / high;
    c->rows = high * draw_size(state, most_rows ? (most_rows < 300000 ? most_rows : 300000) : 1, high);
    if (most > UINT64_C(1) << 32 && c->cols) c->rows = most / c->cols;
    if (c->family->sums)
        c->batch = c->family->experts && !c->family->in_tiles ? below(state, 18)
                   : c->family->in_tiles ? (one_in(state, 6) ? below(state, 300) : 1 + below(state, 40))
                   : one_in(state, 32)   ? 0
                   : one_in(state, 3)    ? 1                    /* as many schedules as for all others */
                   : one_in(state, 8)    ? 9 + below(state, 12) /* several launches */
                                         : 1 + below(state, 8);
    if (qg_at_indices(c->family)) {
        c->batch = below(state, 70);
        c->rows = c->rows ? c->rows : high; /* a table has rows */
        c->cols = c->cols ? c->cols : wide;
    }
    const uint64_t results = c->family->experts ? UINT64_C(1) << 22 : UINT64_C(1) << 24;
    if (c->family->experts && c->rows * c->batch * c->slots > results) c->batch = 1;
    if (!c->family->sums && c->batch * c->cols > results / 8) c->batch = 1;
    if (c->family->encodes && c->rows * c->cols > 4 * results) c->rows = 4 * results / c->cols + 1; /* read back */
    if (!c->family->sums && !qg_at_indices(c->family) && c->rows * c->cols > results)
        c->rows = high * (results / c->cols / high + 1);
}

/* ---- what else is drawn ---- */

static const char *draw_constants(qg_arena *arena, uint64_t *state, const qg_soak_case *c) {
    const qk_kernel *kernel = qg_soak_describe(arena, c);
    qg_text text = qg_text_new(arena);
    for (uint32_t i = 0; i < kernel->spec_constant_count; ++i) {
        const qk_spec_constant *constant = &kernel->spec_constants[i];
        if (constant->legal_count < 2 || qk_follows_call(constant->id) || !one_in(state, 3)) continue;
        qg_text_printf(&text, "%s%s:%u", text.length ? "," : "", constant->name,
                       constant->legal[below(state, constant->legal_count)]);
    }
    return text.data ? text.data : "";
}

const qk_kernel *qg_soak_describe(qg_arena *arena, const qg_soak_case *c) {
    if (c->plain) return qg_plain_describe(arena, c->plain, QK_API_VULKAN, NULL);
    qg_kernel *kernel = QG_NEW(arena, qg_kernel);
    *kernel = qg_kernel_new(arena, c->layout, c->family, c->type, c->sum);
    return qg_describe(arena, kernel, QK_API_VULKAN, NULL);
}

/* ---- a sweep ---- */

static bool is_first_of_specification(const qg_library *library, uint32_t layout) {
    return layout == 0 || strcmp(library->paths[layout], library->paths[layout - 1]) != 0;
}

uint64_t qg_soak_sweep(qg_arena *arena, qg_soak_choice *choice) {
    const qg_library *library = choice->session->library;
    uint32_t capacity = 0;
    choice->n_kernels = 0;
    for (uint32_t l = 0; l < library->layouts.count; ++l) {
        const qg_layout *layout = library->layouts.items[l];
        if (!is_wanted(&choice->formats, layout->name)) continue;
        if (choice->one_of_each && !is_first_of_specification(library, l)) continue;
        for (uint32_t i = 0; i < qg_n_families * qg_n_sum_classes; ++i) {
            const qg_family *family = &qg_families[i / qg_n_sum_classes];
            const qg_sum_class *sum = &qg_sum_classes[i % qg_n_sum_classes];
            if (!family->sums || !is_wanted(&choice->families, family->name) || !qg_takes(family, layout)) continue;
            if (!is_wanted(&choice->classes, sum->name)) continue;
            if (!device_takes(choice, family, sum)) continue;
            if ((sum != &qg_sum_classes[QG_CLASS_EXACT] || family->in_tiles) &&
                !qg_has_class(arena, layout, family, sum))
                continue;
            const qg_soak_case kernel = {
                .layout = layout, .family = family, .sum = sum, .type = family->types[0], .constants = "", .views = ""};
            QG_PUSH(arena, choice->kernels, choice->n_kernels, capacity, kernel);
        }
    }
    return (uint64_t)choice->n_shapes * choice->n_kernels * QG_SOAK_GROUP;
}

/* Case `number` of a sweep: one to eight vectors, which make a group; then the shapes; then the kernels. */
static bool case_of_sweep(const qg_soak_choice *choice, uint64_t number, qg_soak_case *c) {
    const uint64_t group = number / QG_SOAK_GROUP;
    const qg_matrix *shape = &choice->shapes[group % choice->n_shapes];
    *c = choice->kernels[group / choice->n_shapes % choice->n_kernels];
    const bool experts = shape->experts != 0;
    if (experts != c->family->experts) return false;
    c->rows = shape->rows;
    c->cols = shape->cols;
    c->experts = shape->experts;
    c->slots = experts ? shape->used : 0;
    c->x_slots = experts ? 1 : 0;
    c->batch = number % QG_SOAK_GROUP + 1;
    c->parts = 1;
    c->seed = choice->seed + group;
    c->padding = group % 2 ? QK_PADDING : 0;
    c->x = (qg_soak_x)(number % (QG_SOAK_ONE + 1));
    if (c->layout->view == QG_VIEW_BLOCKS) return c->cols % c->layout->elements == 0;
    return true;
}

/* The bit of a scale. */
#define SCALE_BIT(bit, NAME, ...) SCALES_OF_##NAME = (bit),
enum { QK_EPILOGUES(SCALE_BIT) SCALES = SCALES_OF_SCALE };
#undef SCALE_BIT

/* Each part of an epilogue one time in two. */
static uint64_t draw_epilogue(uint64_t *state) {
#define EPILOGUE_BIT(bit, ...) | (bit)
    const uint32_t of_what[] = {0, QK_SCALES_ROWS_, QK_SCALES_VECTORS_};
    uint64_t bits = qg_soak_random(state) >> 20 & (QK_ADDS_TO_Y_ QK_EPILOGUES(EPILOGUE_BIT));
    if (qg_epilogue_clashes(bits)) bits &= ~(uint64_t)QK_ADDS_TO_Y_;
    return bits | of_what[below(state, 3)];
#undef EPILOGUE_BIT
}

/* A stride beyond `least` at times, of a multiple of `unit`. */
static uint64_t draw_stride(uint64_t *state, uint64_t least, uint64_t unit) {
    return one_in(state, 2) ? least : least + unit * (1 + below(state, 9));
}

static void add_offsets(qg_text *text, uint64_t *state, const qg_soak_case *c) {
    static const char *const types[] = {"f32", "f32", "f16", "bf16"};
    const uint32_t type = (uint32_t)below(state, 4);
    qg_text_printf(text, ",y_type=%s", types[type]);
    if (one_in(state, 3))
        qg_text_printf(text, ",x_offset=%llu", (unsigned long long)(below(state, 20) * (c->type == QG_F32 ? 16 : 8)));
    if (one_in(state, 3))
        qg_text_printf(text, ",y_offset=%llu", (unsigned long long)(below(state, 20) * (type < 2 ? 4 : 2)));
}

/* The least stride of x: runs of four are loaded, but where columns may end anywhere. */
static uint64_t least_stride_of_x(const qg_soak_case *c) { return c->layout->ragged ? c->cols : (c->cols + 3) / 4 * 4; }

/* Two or three sets of experts, which lie one after the other, with room between them, or one set between the other. */
static void add_sets(qg_text *text, uint64_t *state, const qg_soak_case *c, uint64_t expert, uint64_t y_token) {
    const uint64_t sets = 2 + below(state, 2), unit = c->layout->view == QG_VIEW_BLOCKS ? 1 : c->rows;
    const uint64_t rows = one_in(state, 3) ? expert : draw_stride(state, c->experts * expert, unit);
    qg_text_printf(text, ",sets=%llu,weights_set_stride=%llu,y_set_stride=%llu", (unsigned long long)sets,
                   (unsigned long long)rows, (unsigned long long)draw_stride(state, c->batch * y_token, 1));
}

static const char *draw_expert_views(qg_arena *arena, uint64_t *state, const qg_soak_case *c) {
    qg_text text = qg_text_new(arena);
    const bool blocks = c->layout->view == QG_VIEW_BLOCKS;
    const unsigned long long x_slot = draw_stride(state, least_stride_of_x(c), 4),
                             y_slot = draw_stride(state, c->rows, 1),
                             y_token = draw_stride(state, c->slots * y_slot, 1),
                             x_token = draw_stride(state, qg_soak_x_slots(c) * x_slot, 4),
                             expert = blocks ? draw_stride(state, c->rows, 1) : c->rows,
                             ids = draw_stride(state, c->slots, 1);
    qg_text_printf(&text, "x_slot_stride=%llu,x_stride=%llu,y_slot_stride=%llu,y_stride=%llu", x_slot, x_token, y_slot,
                   y_token);
    qg_text_printf(&text, ",ids_stride=%llu,weights_stride=%llu", ids, expert);
    add_offsets(&text, state, c);
    const uint64_t results = c->rows * c->batch * c->slots;
    const bool small = c->experts * c->rows * c->cols < 1 << 20 && results < 1 << 20;
    if (!c->family->in_tiles && small && one_in(state, 3)) add_sets(&text, state, c, expert, y_token);
    return text.data;
}

/* Products of the same x, or not, in parts that lie in any order, with room between them. */
static const char *draw_parts(qg_arena *arena, uint64_t *state, const qg_soak_case *c) {
    const unsigned long long x = draw_stride(state, least_stride_of_x(c), c->layout->ragged ? 1 : 4);
    const unsigned long long y = draw_stride(state, c->rows, 1), y0 = draw_stride(state, c->batch * y, 1);
    const unsigned long long rows = draw_stride(state, c->rows, 1);
    const uint64_t n = 1 + below(state, QK_MOST_PARTS), turn = below(state, n), back = below(state, n);
    unsigned long long products[QK_MOST_PARTS], weights[QK_MOST_PARTS], results[QK_MOST_PARTS], all = 0;
    uint64_t weights_end = 0, y_end = 0;
    for (uint64_t i = 0; i < n; ++i) all += products[i] = 1 + below(state, 3);
    for (uint64_t i = 0; i < n; ++i) {
        const uint64_t w = (i + turn) % n, r = (2 * n - i - back - 1) % n;
        weights[w] = draw_stride(state, weights_end, 1);
        results[r] = draw_stride(state, y_end, 1);
        weights_end = weights[w] + products[w] * rows;
        y_end = results[r] + products[r] * y0;
    }
    qg_text text = qg_text_new(arena);
    qg_text_printf(&text, "batches=%llu,weights_batches=%llu,x_stride=%llu,y_stride=%llu", all, all, x, y);
    qg_text_printf(&text, ",x_strides=%s,y_strides=%llu,weights_strides=%llu,parts=", one_in(state, 3) ? "0" : "same",
                   y0, rows);
    for (uint64_t i = 0; i < n; ++i)
        qg_text_printf(&text, "%s%llu:%llu:%llu", i ? ":" : "", products[i], weights[i], results[i]);
    add_offsets(&text, state, c);
    return text.data;
}

/* Products in two dimensions, some with the same weights, of vectors with room between them. */
static const char *draw_views(qg_arena *arena, uint64_t *state, const qg_soak_case *c) {
    const bool blocks = c->layout->view == QG_VIEW_BLOCKS, small = c->rows * c->cols < 1 << 20;
    const unsigned long long most = blocks && small ? 3 : 1;
    if (most > 1 && one_in(state, 4)) return draw_parts(arena, state, c);
    const unsigned long long w0 = 1 + below(state, most), w1 = 1 + below(state, most);
    const unsigned long long n0 = w0 * (1 + below(state, small ? 4 : 1)), n1 = w1 * (1 + below(state, small ? 2 : 1));
    const unsigned long long x = draw_stride(state, least_stride_of_x(c), c->layout->ragged ? 1 : 4);
    const unsigned long long y = draw_stride(state, c->rows, 1);
    unsigned long long x0 = draw_stride(state, c->batch * x, 4), y0 = draw_stride(state, c->batch * y, 1);
    unsigned long long x1 = draw_stride(state, n0 * x0, 4), y1 = draw_stride(state, n0 * y0, 1);
    if (one_in(state, 3)) { /* the outer dimension has the smaller strides */
        x1 = draw_stride(state, c->batch * x, 4);
        y1 = draw_stride(state, c->batch * y, 1);
        x0 = draw_stride(state, n1 * x1, 4);
        y0 = draw_stride(state, n1 * y1, 1);
    }
    const unsigned long long rows = blocks ? draw_stride(state, c->rows, 1) : c->rows;
    qg_text text = qg_text_new(arena);
    qg_text_printf(&text, "batches=%llu:%llu,weights_batches=%llu:%llu,x_stride=%llu,y_stride=%llu", n0, n1, w0, w1, x,
                   y);
    const uint64_t same = below(state, 9); /* of which dimensions all products have the same x */
    const char *inner = same == 1 || same == 3 ? "same" : qg_format(arena, "%llu", x0);
    const char *outer = same == 2 || same == 3 ? "same" : qg_format(arena, "%llu", x1);
    qg_text_printf(&text, ",x_strides=%s:%s,y_strides=%llu:%llu,weights_strides=%llu:%llu", inner, outer, y0, y1, rows,
                   (unsigned long long)(blocks ? draw_stride(state, w0 * rows, 1) : c->rows));
    add_offsets(&text, state, c);
    return text.data;
}

/* Two matrices, or sets of experts, of which the first or the second is the gate of the other. */
static const char *draw_gated(qg_arena *arena, uint64_t *state, const qg_soak_case *c) {
    qg_text text = qg_text_new(arena);
    const bool outer = one_in(state, 2);
    const unsigned long long rows = draw_stride(state, c->rows, 1), gate = 1 + below(state, 2);
    if (c->family->experts) {
        const unsigned long long set = one_in(state, 3) ? rows : draw_stride(state, c->experts * rows, 1);
        qg_text_printf(&text, "sets=2,weights_stride=%llu,weights_set_stride=%llu,y_slot_stride=%llu", rows, set,
                       (unsigned long long)draw_stride(state, c->rows, 1));
    } else {
        const char *one = outer ? "1:" : "";
        qg_text_printf(&text, "batches=%s2,weights_batches=%s2,weights_strides=%s%llu,x_strides=same:same", one, one,
                       outer ? "0:" : "", rows);
    }
    qg_text_printf(&text, ",gated=%llu", gate);
    add_offsets(&text, state, c);
    return text.data;
}

static bool may_gate(qg_arena *arena, const qg_soak_case *c) {
    const bool small = c->rows * c->cols * (c->experts + 1) < 1 << 20 && c->rows && c->cols;
    return small && c->epilogue == 0 && (c->family->experts ? c->batch > 0 : c->batch == 1) &&
           qk_kinds_of_views_(qg_soak_describe(arena, c)) > 2;
}

static bool may_add_slots(qg_arena *arena, const qg_soak_case *c) {
    return c->family->experts && c->rows && c->cols && c->batch && qk_kinds_of_views_(qg_soak_describe(arena, c)) > 3;
}

/* Slots that are added up; of an epilogue, what may be with them. */
static const char *draw_added(qg_arena *arena, uint64_t *state, qg_soak_case *c) {
    qg_text text = qg_text_new(arena);
    qg_text_printf(&text, "adds_slots=1,weights_stride=%llu,y_stride=%llu",
                   (unsigned long long)draw_stride(state, c->rows, 1),
                   (unsigned long long)draw_stride(state, c->rows, 1));
    add_offsets(&text, state, c);
    c->epilogue &= ~(uint64_t)(QK_SCALES_ROWS_ | SCALES_OF_BIAS | SCALES_OF_GATE);
    return text.data;
}

/* The views of a case whose x is normed, too; "" where it cannot be. */
static const char *draw_norm(qg_arena *arena, uint64_t *state, const qg_soak_case *c) {
    static const char *const epsilons[] = {"1e-6", "1e-5", "0.01", "3"};
    const qk_kernel *kernel = qg_soak_describe(arena, c);
    if (c->x > QG_SOAK_ZEROS || !c->rows || !c->cols || !c->batch || !qk_takes_norm_(kernel)) return "";
    return qg_format(arena, "%s%sepsilon=%s", c->views, *c->views ? "," : "", epsilons[below(state, 4)]);
}

bool qg_soak_draw(qg_arena *arena, const qg_soak_choice *choice, uint64_t number, qg_soak_case *c) {
    if (choice->n_shapes) {
        if (!case_of_sweep(choice, number, c)) return false;
        return c->layout->view == QG_VIEW_BLOCKS ||
               qk_weight_bytes(qg_soak_describe(arena, c), 0, c->rows, c->cols) > 0;
    }
    uint64_t state = choice->seed * UINT64_C(0xD1342543DE82EF95) + number / QG_SOAK_GROUP;
    const uint64_t key = qg_soak_random(&state);
    if (!draw_kernel(arena, choice, key, &state, c)) return false;
    state += number % QG_SOAK_GROUP * UINT64_C(0xA0761D6478BD642F);
    c->seed = qg_soak_random(&state) >> 40;
    if (c->plain)
        draw_plain(choice, &state, c);
    else
        draw_shape(arena, choice, &state, c);
    const bool sums = c->family && c->family->sums;
    const bool encodes = c->family && c->family->encodes;
    c->x = (qg_soak_x)below(&state, encodes ? QG_SOAK_X_COUNT : sums ? QG_SOAK_BITS : QG_SOAK_ZEROS + 1);
    c->weights = one_in(&state, 4) ? QG_BYTES_CONSTANT : QG_BYTES_RANDOM;
    if (!sums && one_in(&state, 3)) c->weights = QG_BYTES_ANY;
    c->offset = below(&state, 4);
    c->padding = one_in(&state, 2) ? QK_PADDING : one_in(&state, 4) ? 4 * below(&state, 16) : 0;
    c->parts = one_in(&state, 6) ? 2 + below(&state, 4) : 1;
    c->workgroups = one_in(&state, 5) ? 1 + below(&state, 24) : 0;
    /* So few would take so long for a large tensor that a driver gives up. */
    if (c->rows * c->cols > UINT64_C(1) << 28) c->workgroups = 0;
    if (!c->plain && one_in(&state, 3)) c->constants = draw_constants(arena, &state, c);
    if (sums && one_in(&state, 3)) c->epilogue = draw_epilogue(&state);
    if (sums && c->rows && c->cols && c->batch && one_in(&state, 3))
        c->views = (c->family->experts ? draw_expert_views : draw_views)(arena, &state, c);
    if (strstr(c->views, "parts")) c->epilogue &= QK_ADDS_TO_Y_;
    if (sums && may_gate(arena, c) && one_in(&state, 3)) c->views = draw_gated(arena, &state, c);
    if (sums && may_add_slots(arena, c) && one_in(&state, 4)) c->views = draw_added(arena, &state, c);
    const char *normed = sums && one_in(&state, 4) ? draw_norm(arena, &state, c) : "";
    if (*normed) {
        c->views = normed;
        c->epilogue &= ~(uint64_t)(SCALES | QK_SCALES_ROWS_ | QK_SCALES_VECTORS_);
    }
    if (c->plain || !c->rows || !c->cols) return true;
    return c->layout->view == QG_VIEW_BLOCKS || qk_weight_bytes(qg_soak_describe(arena, c), 0, c->rows, c->cols) > 0;
}

/* ---- as text ---- */

static const char *const x_names[QG_SOAK_X_COUNT] = {"gaussian", "outliers",  "mixed",    "sparse", "one",
                                                     "zeros",    "subnormal", "infinite", "bits"};
static const char *const weight_names[] = {"random", "constant", "any"};

const char *qg_soak_text(qg_arena *arena, const qg_soak_case *c) {
    qg_text text = qg_text_new(arena);
    if (c->layout) qg_text_printf(&text, "format=%s ", c->layout->name);
    qg_text_printf(&text, "family=%s ", c->plain ? c->plain->name : c->family->name);
    if (c->sum) qg_text_printf(&text, "class=%s ", c->sum->name);
    if (c->family) qg_text_printf(&text, "type=%s ", qg_scalars[c->type].name);
    const struct {
        const char *name;
        uint64_t value, usual;
    } numbers[] = {{"rows", c->rows, UINT64_MAX},
                   {"cols", c->cols, UINT64_MAX},
                   {"batch", c->batch, 0},
                   {"experts", c->experts, 0},
                   {"slots", c->slots, 0},
                   {"seed", c->seed, UINT64_MAX},
                   {"offset", c->offset, 0},
                   {"padding", c->padding, 0},
                   {"parts", c->parts, 1},
                   {"workgroups", c->workgroups, 0},
                   {"range", c->range, 0},
                   {"epilogue", c->epilogue, 0},
                   {"x_slots", c->x_slots > 1 ? c->x_slots : 0, 0}};
    for (uint32_t i = 0; i < sizeof numbers / sizeof *numbers; ++i)
        if (numbers[i].value != numbers[i].usual)
            qg_text_printf(&text, "%s=%llu ", numbers[i].name, (unsigned long long)numbers[i].value);
    qg_text_printf(&text, "x=%s weights=%s", x_names[c->x], weight_names[c->weights]);
    if (*c->constants) qg_text_printf(&text, " constants=%s", c->constants);
    if (*c->views) qg_text_printf(&text, " views=%s", c->views);
    return text.data;
}

static bool read_name(const char *value, const char *const *names, uint32_t count, int *number) {
    for (uint32_t i = 0; i < count; ++i)
        if (strcmp(value, names[i]) == 0) {
            *number = (int)i;
            return true;
        }
    return false;
}

/* A word NAME=VALUE that is a number. */
static bool read_number(qg_soak_case *c, const char *name, const char *value) {
    const struct {
        const char *name;
        uint64_t *target;
    } numbers[] = {{"rows", &c->rows},      {"cols", &c->cols},
                   {"batch", &c->batch},    {"experts", &c->experts},
                   {"slots", &c->slots},    {"seed", &c->seed},
                   {"offset", &c->offset},  {"padding", &c->padding},
                   {"parts", &c->parts},    {"workgroups", &c->workgroups},
                   {"range", &c->range},    {"epilogue", &c->epilogue},
                   {"x_slots", &c->x_slots}};
    char *end;
    for (uint32_t i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
        if (strcmp(name, numbers[i].name) != 0) continue;
        *numbers[i].target = strtoull(value, &end, 10);
        return *value >= '0' && *value <= '9' && !*end;
    }
    return false;
}

static bool read_word(const qg_session *session, qg_soak_case *c, const char *name, const char *value,
                      const char **type) {
    int number = 0;
    if (strcmp(name, "format") == 0) return (c->layout = qg_library_find(session->library, value)) != NULL;
    if (strcmp(name, "family") == 0) {
        c->family = qg_family_named(value);
        c->plain = c->family ? NULL : qg_plain_named(value, NULL);
        return c->family || c->plain;
    }
    if (strcmp(name, "class") == 0) return (c->sum = qg_sum_class_named(value)) != NULL;
    if (strcmp(name, "type") == 0) return (*type = value) != NULL;
    if (strcmp(name, "constants") == 0) return (c->constants = value) != NULL;
    if (strcmp(name, "views") == 0) return (c->views = value) != NULL;
    if (strcmp(name, "x") == 0) {
        if (!read_name(value, x_names, QG_SOAK_X_COUNT, &number)) return false;
        c->x = (qg_soak_x)number;
        return true;
    }
    if (strcmp(name, "weights") == 0) {
        if (!read_name(value, weight_names, 3, &number)) return false;
        c->weights = (qg_bytes_of)number;
        return true;
    }
    return read_number(c, name, value);
}

const char *qg_soak_read(qg_arena *arena, const qg_session *session, const char *text, qg_soak_case *c) {
    const char *type = NULL;
    *c = (qg_soak_case){.constants = "", .views = "", .parts = 1, .type = QG_SCALAR_COUNT};
    for (const char *at = text + strspn(text, " "); *at; at += strspn(at, " ")) {
        const size_t length = strcspn(at, " ");
        char *word = qg_strndup(arena, at, length), *equal = strchr(word, '=');
        at += length;
        if (equal) *equal = 0;
        if (!equal || !read_word(session, c, word, equal + 1, &type))
            return qg_format(arena,
                             "'%.*s' is no NAME=VALUE of a case, or a value that %s cannot have; a case is what "
                             "`qkgen soak` printed",
                             (int)length, at - length, word);
    }
    if (!c->family && !c->plain) return "the case names no family";
    if (c->plain) return NULL;
    if (!c->layout || !type) return "the case names no format, or no type";
    c->type = qg_family_type(c->family, type);
    if (c->type == QG_SCALAR_COUNT) return qg_format(arena, "%s has no kernels of type %s", c->family->name, type);
    if (!qg_takes(c->family, c->layout)) return qg_format(arena, "%s takes no %s", c->family->name, c->layout->name);
    if (c->family->sums && !c->sum) return "the case names no class";
    const qg_sum_class *exact = &qg_sum_classes[QG_CLASS_EXACT]; /* which all that need no tiles have */
    if (c->sum && (c->sum != exact || c->family->in_tiles) && !qg_has_class(arena, c->layout, c->family, c->sum))
        return qg_format(arena, "%s has no sums of class %s", c->layout->name, c->sum->name);
    qg_views views;
    qg_places places;
    return c->family->sums ? qg_soak_places(arena, c, &views, &places) : NULL;
}
