/* What all evidence does: shapes, launches, comparisons, findings. */
#include "judge/trial.h"
#include "judge/cross.h"
#include "spec/value.h"

#include <math.h>
#include <string.h>
#include <time.h>

enum { MOST_FAULTS = 40 }; /* after which a kernel is launched no more */

const char *const qg_claim_names[] = {"exact", "half", "bf16", "int8"};

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

qg_finding *qg_find(qg_trial *t, qg_severity severity, const char *rule, const char *sentence) {
    qg_judgement *j = t->judgement;
    const qg_finding finding = {
        .evidence = t->evidence, .severity = severity, .rule = rule, .sentence = sentence, .code = t->layout->n_codes};
    QG_PUSH(t->arena, j->findings, j->n_findings, j->capacity, finding);
    return &j->findings[j->n_findings - 1];
}

uint32_t qg_found(const qg_trial *t, const char *rule) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->judgement->n_findings; ++i)
        n += t->judgement->findings[i].evidence == t->evidence && !strcmp(t->judgement->findings[i].rule, rule);
    return n;
}

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

void qg_store_value(qg_scalar type, float value, unsigned char *to) {
    const uint32_t bits = qg_bits_of(type, value);
    for (uint32_t i = 0; i < qg_scalars[type].bits / 8; ++i) to[i] = (unsigned char)(bits >> (8 * i));
}

float qg_loaded(qg_scalar type, const unsigned char *from) {
    float value;
    uint32_t bits;
    if (type == QG_F16) {
        const uint32_t half = from[0] | (uint32_t)from[1] << 8, exponent = half >> 10 & 31, mantissa = half & 1023;
        const double sign = half >> 15 ? -1 : 1;
        if (exponent == 31) return mantissa ? NAN : (float)(sign * INFINITY);
        return (float)(sign * (exponent ? ldexp(1024 + mantissa, (int)exponent - 25) : ldexp(mantissa, -24)));
    }
    bits = type == QG_BF16 ? (uint32_t)from[0] << 16 | (uint32_t)from[1] << 24
                           : from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
    memcpy(&value, &bits, sizeof value);
    return value;
}

float qg_stored(const qg_trial *t, float value) {
    unsigned char bytes[4];
    qg_store_value(t->y_type, value, bytes);
    return qg_loaded(t->y_type, bytes);
}

/* The smallest step of a type. */
static double grain(qg_scalar type) { return type == QG_F16 ? 0x1p-24 : 0x1p-126; }

bool qg_near(const qg_trial *t, float actual, float expected, float magnitude) {
    const double stored = (double)qg_stored(t, expected), size = fmax(fabs((double)magnitude), fabs(stored));
    if (isnan(stored)) return isnan(actual);
    if (isinf(stored)) return !isfinite(actual);
    if (isinf(actual)) return size * (1 + t->rounding) >= 65504 && t->y_type == QG_F16;
    return fabs((double)actual - stored) <= t->rounding * size + grain(t->y_type);
}

void qg_expect_values(qg_trial *t, const qg_blocks *blocks, float *values, float *magnitudes) {
    const qg_layout *l = t->layout;
    const unsigned char **at = QG_NEW_ARRAY(t->arena, const unsigned char *, l->n_buffers);
    for (uint64_t i = 0; i < blocks->count; ++i) {
        for (uint32_t b = 0; b < l->n_buffers; ++b) at[b] = blocks->data[b] + i * l->buffers[b].bytes;
        qg_memory_clear(t->memory);
        for (uint32_t e = 0; e < l->elements; ++e) {
            const qg_element element = {l, at, e, t->memory};
            values[i * l->elements + e] = qg_value_of(&element);
            if (magnitudes) magnitudes[i * l->elements + e] = qg_magnitude_of(&element, 0);
        }
    }
}

uint64_t qg_spot_of(const qg_trial *t, qg_call_shape s, uint64_t row, uint64_t col) {
    const uint64_t expert = row / s.rows, blocks = expert ? qg_blocks_in(t->layout, s.rows, s.cols) : 0;
    return expert * blocks * t->layout->elements + qg_place_in_blocks(t->layout, s.rows, s.cols, row % s.rows, col);
}

uint64_t qg_count_blocks(const qg_trial *t, qg_call_shape s) {
    return qg_experts(s) * qg_blocks_in(t->layout, s.rows, s.cols);
}

/* ---- shapes ------------------------------------------------------------------------------------------------------ */

uint64_t qg_results(const qg_harness *h, qg_call_shape s) {
    return h->computes == QG_COMPUTES_VALUES
               ? s.rows * s.cols
               : s.batch * (h->computes == QG_COMPUTES_ROWS ? s.cols : qg_slots(s) * s.rows);
}

const char *qg_call_of(qg_trial *t, qg_call_shape shape, qg_call *call) {
    bool broken;
    const char *why = qg_harness_call(t->arena, t->harness, shape, call, &broken);
    if (broken && !t->unable)
        t->unable = qg_format(t->arena, "%s, %s: %s", t->harness->name, qg_say_shape(t, shape), why);
    return why;
}

/* Rows of a patch; of blocks that lie one after the other 1. */
static uint64_t high_of(const qg_trial *t) { return t->layout->view == QG_VIEW_MATRIX ? t->layout->block_rows : 1; }

bool qg_shape_for(qg_trial *t, uint64_t blocks, qg_call_shape *shape) {
    qg_call *call = QG_NEW(t->arena, qg_call);
    const char *why = NULL;
    for (uint64_t wide = 1; wide <= 64; ++wide) {
        const uint64_t rows = (blocks + wide - 1) / wide;
        for (uint64_t more = 0; more < 64 && !t->unable; ++more) {
            *shape = qg_shape_of(t->layout, (rows + more) * high_of(t), wide, 1);
            if (t->harness->computes == QG_COMPUTES_ROWS) shape->batch = shape->rows;
            why = qg_call_of(t, *shape, call);
            if (!why) return true;
        }
    }
    if (!t->unable)
        t->unable = qg_format(t->arena, "%s takes no shape of up to 64 blocks a row: %s", t->harness->name, why);
    return false;
}

/* ---- launches ---------------------------------------------------------------------------------------------------- */

static void lay_weights(qg_trial *t, const qg_call *call, uint32_t buffer, const qg_blocks *blocks, unsigned char *to) {
    const qg_call_shape s = call->shape;
    const uint64_t bytes = qg_buffer_bytes(t->layout, buffer, s.rows, s.cols);
    const uint64_t of_expert = qg_blocks_in(t->layout, s.rows, s.cols) * t->layout->buffers[buffer].bytes;
    for (uint64_t e = 0; e < qg_experts(s); ++e)
        qg_lay_blocks(t->layout, buffer, s.rows, s.cols, blocks->data[buffer] + e * of_expert, to + e * bytes);
}

bool qg_fill_rooms(qg_trial *t, const qg_call *call, const qg_launch_data *data, qg_room *rooms) {
    if (!qg_worker_rooms(t->worker, call, rooms)) {
        t->judgement->runs[t->evidence].left_out = "shapes that take more than 3 GiB";
        return false;
    }
    for (uint32_t i = 0; i < call->n_passed; ++i) {
        const qg_passed *p = &call->passed[i];
        const uint64_t size = qg_scalars[p->type].bits / 8, count = size ? p->bytes / size : 0;
        if (p->use == QG_USE_WEIGHTS) lay_weights(t, call, p->buffer, data->blocks, rooms[i].data);
        if (p->use == QG_USE_X)
            for (uint64_t k = 0; k < count; ++k) qg_store_value(p->type, data->x[k], rooms[i].data + k * size);
        if (p->use == QG_USE_Y) memset(rooms[i].data, 0xff, p->bytes); /* NaN: what is not written is seen */
        if (p->use == QG_USE_INDICES)
            for (uint32_t k = 0; k < count; ++k) {
                const uint32_t row = data->indices ? data->indices[k] : k;
                memcpy(rooms[i].data + 4 * (size_t)k, &row, 4);
            }
        if (p->use == QG_USE_IDS && data->ids) memcpy(rooms[i].data, data->ids, p->bytes);
    }
    return true;
}

void qg_read_y(qg_trial *t, const qg_call *call, const qg_room *rooms, float *y) {
    const uint64_t size = qg_scalars[t->y_type].bits / 8;
    for (uint32_t i = 0; i < call->n_passed; ++i)
        if (call->passed[i].use == QG_USE_Y)
            for (uint64_t k = 0; k < rooms[i].bytes / size; ++k) y[k] = qg_loaded(t->y_type, rooms[i].data + k * size);
}

/* What the executor says of a text that nobody has seen, without the place in it. */
static const char *of_crossed(const char *why, const char *entry) {
    const char *at = strstr(why, entry);
    return at && !strncmp(at + strlen(entry), ": ", 2) ? at + strlen(entry) + 2 : why;
}

/* A kernel that faults does so with most shapes: the smallest is told. */
static void tell_fault(qg_trial *t, const qg_call *call, const char *why) {
    const qg_call_shape s = call->shape;
    const uint64_t size = s.rows * s.cols * s.batch * qg_experts(s) * qg_slots(s);
    const char *shape = qg_say_shape(t, call->shape);
    const char *sentence = t->in_executor ? qg_format(t->arena, "with %s, each access checked: %s", shape,
                                                      of_crossed(why, t->kernel->entry))
                                          : qg_format(t->arena, "with %s: %s", shape, why);
    if (t->fault_size == 0 || size < t->fault_size) {
        if (t->fault_size == 0) t->fault = (uint32_t)(qg_find(t, QG_WRONG, "fault", sentence) - t->judgement->findings);
        t->judgement->findings[t->fault].sentence = sentence;
        t->judgement->findings[t->fault].repeat = qg_say_shape(t, call->shape);
        t->fault_size = size;
    }
    if (++t->faults >= MOST_FAULTS || qg_worker_hung(t->worker)) t->stopped = true;
}

bool qg_launch(qg_trial *t, const qg_call *call, qg_launch_mode mode) {
    const char *why;
    if (t->unable || t->stopped) return false;
    const qg_outcome outcome = qg_worker_launch(t->worker, call, mode, &why);
    t->judgement->runs[t->evidence].launches += 1;
    if (outcome == QG_UNABLE) t->unable = why;
    if (outcome == QG_SLOW && t->evidence == QG_SEEN_BITS)
        t->unable = qg_format(t->arena, "%s; --time-limit gives it more", why);
    else if (outcome == QG_SLOW)
        t->judgement->runs[t->evidence].left_out =
            qg_format(t->arena, "shapes like %s: %s", qg_say_shape(t, call->shape), why);
    if (outcome == QG_FAULT) tell_fault(t, call, why);
    return outcome == QG_RAN;
}

bool qg_try(qg_trial *t, const qg_call *call, const qg_launch_data *data) {
    qg_room rooms[QG_MAX_ARGUMENTS];
    if (t->unable || !qg_fill_rooms(t, call, data, rooms)) return false;
    if (!qg_launch(t, call, (qg_launch_mode){0})) return false;
    qg_read_y(t, call, rooms, data->y);
    t->judgement->runs[t->evidence].compared += data->n_y;
    return true;
}

/* Blocks with copies of the first behind them. */
static qg_blocks padded(qg_trial *t, const qg_blocks *blocks, uint64_t count) {
    if (blocks->count == count) return *blocks;
    qg_blocks more = qg_blocks_new(t->arena, t->layout, count);
    for (uint64_t i = 0; i < count; ++i) qg_block_copy(t->layout, blocks, i < blocks->count ? i : 0, &more, i);
    return more;
}

/* Each row of sums is one block, as often as the kernel's narrowest row has blocks: what is not finite in one block
 * would spoil others of its row, also those times 0. */
static bool shape_of_sums(qg_trial *t, uint64_t count, qg_call *call) {
    qg_call_shape shape;
    if (!qg_shape_for(t, 1, &shape)) return false;
    for (uint64_t more = 0; more < 64 && !t->unable; ++more)
        if (!qg_call_of(t, qg_shape((count + more) * high_of(t), shape.cols, 1), call)) return true;
    if (!t->unable)
        t->unable = qg_format(t->arena, "%s takes no shape of %llu rows", t->harness->name, (unsigned long long)count);
    return false;
}

static qg_blocks repeated(qg_trial *t, const qg_blocks *blocks, qg_call_shape shape) {
    const uint64_t wide = shape.cols / t->layout->block_cols, high = shape.rows / high_of(t);
    qg_blocks rows = qg_blocks_new(t->arena, t->layout, high * wide);
    for (uint64_t r = 0; r < high; ++r)
        for (uint64_t k = 0; k < wide; ++k)
            qg_block_copy(t->layout, blocks, r < blocks->count ? r : 0, &rows, r * wide + k);
    return rows;
}

/* A right-hand side with a single 1 makes a sum that is one element of each row's first block. */
static bool values_of_sums(qg_trial *t, const qg_call *call, const qg_blocks *rows, uint64_t count, float *values) {
    const uint64_t elements = t->layout->elements, wide = t->layout->block_cols, high = high_of(t);
    const uint64_t n = call->shape.rows;
    float *x = QG_NEW_ARRAY(t->arena, float, call->shape.cols), *y = QG_NEW_ARRAY(t->arena, float, n);
    const qg_launch_data data = {.blocks = rows, .x = x, .y = y, .n_y = n};
    for (uint64_t c = 0; c < wide; ++c) {
        x[c] = 1;
        if (!qg_try(t, call, &data)) return false;
        x[c] = 0;
        for (uint64_t r = 0; r < count * high; ++r) values[r / high * elements + r % high * wide + c] = y[r];
    }
    return true;
}

static float draw_shown(uint64_t *random) {
    const int size = (int)(qg_random(random) % 96) + 32;
    return (float)(qg_random(random) & 1 ? -size : size) / 64;
}

/* Whether a kernel that claims to be exact sums all rows rightly with a few random right-hand sides. Then its
 * weights are those of the specification, as far as roundings tell; launches for each column need not be made. */
static bool sums_agree(qg_trial *t, const qg_call *call, const qg_blocks *blocks, const float *values,
                       const float *magnitudes) {
    const uint64_t cols = call->shape.cols, rows = call->shape.rows;
    float *x = QG_NEW_ARRAY(t->arena, float, cols), *y = QG_NEW_ARRAY(t->arena, float, rows);
    const qg_launch_data data = {.blocks = blocks, .x = x, .y = y, .n_y = rows};
    if (t->options.claim != QG_CLAIM_EXACT || t->y_type != QG_F32) return false;
    for (int k = 0; k < 3; ++k) {
        for (uint64_t c = 0; c < cols; ++c) x[c] = draw_shown(&t->random);
        if (!qg_try(t, call, &data)) return false;
        for (uint64_t r = 0; r < rows; ++r) {
            double sum = 0, size = 0;
            for (uint64_t c = 0; c < cols; ++c) {
                const uint64_t at = qg_spot_of(t, call->shape, r, c);
                sum += (double)values[at] * (double)x[c];
                size += fabs((double)magnitudes[at] * (double)x[c]);
            }
            const double bound = ((double)cols * 0x1p-24 + 0x1p-20) * size + 0x1p-120;
            if (isfinite(sum) != isfinite(y[r])) return false;
            if (isfinite(sum) && !(fabs((double)y[r] - sum) <= bound)) return false;
        }
    }
    return true;
}

static bool actual_sums(qg_trial *t, const qg_blocks *blocks, float *values) {
    qg_call *call = QG_NEW(t->arena, qg_call);
    if (!shape_of_sums(t, blocks->count, call)) return false;
    const qg_blocks rows = repeated(t, blocks, call->shape);
    const uint64_t elements = t->layout->elements, all = rows.count * elements;
    const uint64_t wide = rows.count / (call->shape.rows / high_of(t));
    float *expected = QG_NEW_ARRAY(t->arena, float, all), *magnitudes = QG_NEW_ARRAY(t->arena, float, all);
    qg_expect_values(t, &rows, expected, magnitudes);
    if (!sums_agree(t, call, &rows, expected, magnitudes))
        return !t->unable && !t->stopped && values_of_sums(t, call, &rows, blocks->count, values);
    for (uint64_t r = 0; r < blocks->count; ++r)
        for (uint64_t e = 0; e < elements; ++e)
            values[r * elements + e] = qg_stored(t, expected[r * wide * elements + e]);
    return true;
}

/* Rows that are wrong when many are wanted at once are asked for one by one: what many get wrong is for `shapes`. */
static bool row_by_row(qg_trial *t, qg_call_shape shape, const qg_blocks *whole, float *y) {
    const uint64_t all = whole->count * t->layout->elements;
    float *expected = QG_NEW_ARRAY(t->arena, float, all), *magnitudes = QG_NEW_ARRAY(t->arena, float, all);
    qg_call *call = QG_NEW(t->arena, qg_call);
    uint64_t wrong = 0;
    qg_expect_values(t, whole, expected, magnitudes);
    for (uint64_t r = 0; r < shape.rows; ++r)
        for (uint64_t c = 0; c < shape.cols; ++c) {
            const uint64_t at = qg_spot_of(t, shape, r, c);
            wrong += !qg_near(t, y[r * shape.cols + c], expected[at], magnitudes[at]);
        }
    if (!wrong || qg_call_of(t, qg_shape(shape.rows, shape.cols, 1), call)) return !t->unable;
    for (uint32_t r = 0; r < shape.rows; ++r) {
        const qg_launch_data data = {.blocks = whole, .indices = &r, .y = y + r * shape.cols, .n_y = shape.cols};
        if (!qg_try(t, call, &data)) return false;
    }
    return true;
}

bool qg_actual(qg_trial *t, const qg_blocks *blocks, float *values) {
    qg_call_shape shape;
    qg_call *call = QG_NEW(t->arena, qg_call);
    if (t->harness->computes == QG_COMPUTES_SUMS) return actual_sums(t, blocks, values);
    if (!qg_shape_for(t, blocks->count, &shape) || qg_call_of(t, shape, call)) return false;
    const uint64_t all = shape.rows * shape.cols, wanted = blocks->count * t->layout->elements;
    const qg_blocks whole = padded(t, blocks, qg_count_blocks(t, shape));
    float *y = QG_NEW_ARRAY(t->arena, float, all);
    const qg_launch_data data = {.blocks = &whole, .y = y, .n_y = all};
    if (!qg_try(t, call, &data)) return false;
    if (t->harness->computes == QG_COMPUTES_ROWS && !row_by_row(t, shape, &whole, y)) return false;
    for (uint64_t r = 0; r < shape.rows; ++r)
        for (uint64_t c = 0; c < shape.cols; ++c) {
            const uint64_t at = qg_spot_of(t, shape, r, c);
            if (at < wanted) values[at] = y[r * shape.cols + c];
        }
    return true;
}

/* ---- other workers ----------------------------------------------------------------------------------------------- */

const char *qg_leave(qg_trial *t, const qg_foreign_kernel *kernel, const qg_worker_options *options, qg_home *home) {
    qg_outcome outcome;
    const char *why;
    qg_worker *other = qg_worker_open(t->arena, kernel, options, &outcome, &why);
    if (!other) return why;
    *home = (qg_home){t->worker, t->kernel, t->harness->lanes};
    t->worker = other;
    t->kernel = kernel;
    t->harness->lanes = qg_worker_lanes(other);
    return NULL;
}

void qg_return(qg_trial *t, const qg_home *home) {
    qg_worker_close(t->worker);
    t->worker = home->worker;
    t->kernel = home->kernel;
    t->harness->lanes = home->lanes;
    t->in_executor = false;
}

const char *qg_leave_for_executor(qg_trial *t, qg_turns turns, uint64_t seed, qg_home *home) {
    qg_worker_options options = t->options.worker;
    if (!t->crossed) return t->not_crossed;
    options.target = QG_FOREIGN_METAL;
    options.turns = turns;
    options.seed = seed;
    options.lanes = 0;
    const char *why = qg_leave(t, t->crossed, &options, home);
    t->in_executor = !why;
    return why;
}

static void make_crossed(qg_trial *t) {
    qg_crossed crossed;
    qg_foreign_kernel *kernel = QG_NEW(t->arena, qg_foreign_kernel);
    if (t->harness->target != QG_FOREIGN_VULKAN) return;
    t->not_crossed = *t->options.worker.metal_library
                         ? qg_cross(t->arena, t->kernel->bytes, t->kernel->length, t->kernel->entry, &crossed)
                         : "this qkgen has no executor of Metal texts";
    if (t->not_crossed) return;
    *kernel = (qg_foreign_kernel){.path = qg_format(t->arena, "%s.metal", t->kernel->path),
                                  .entry = crossed.entry,
                                  .bytes = crossed.text,
                                  .length = strlen(crossed.text),
                                  .crossed = true};
    memcpy(kernel->group, crossed.group, sizeof kernel->group);
    memcpy(kernel->group_id, crossed.group_id, sizeof kernel->group_id);
    t->crossed = kernel;
}

static double rounding_of(qg_scalar type) { return type == QG_F32 ? 0x1p-20 : type == QG_F16 ? 0x1p-9 : 0x1p-6; }

/* By what part of its magnitude a value may be off, before anything is known of the kernel. */
static double allowed_rounding(const qg_trial *t) {
    const double rounding = rounding_of(t->y_type);
    if (t->harness->computes != QG_COMPUTES_SUMS || t->options.claim == QG_CLAIM_EXACT) return rounding;
    return fmax(rounding, t->options.claim == QG_CLAIM_BF16 ? 0x1p-7 : 0x1p-10);
}

/* The bits again, in the executor, into a judgement that is thrown away. Whether all is right there. */
static bool executor_agrees(qg_trial *t, uint8_t ***bits) {
    qg_judgement *j = t->judgement, again = *j;
    const qg_trial before = *t;
    qg_home home = {0};
    if (qg_leave_for_executor(t, QG_TURNS_FORWARD, 0, &home)) return false;
    again.n_findings = again.capacity = 0;
    again.findings = NULL;
    again.bits = QG_NEW_ARRAY(t->arena, uint8_t *, t->layout->n_buffers);
    for (uint32_t b = 0; b < t->layout->n_buffers; ++b)
        again.bits[b] = QG_NEW_ARRAY(t->arena, uint8_t, t->layout->buffers[b].bytes * 8);
    t->known = QG_NEW_ARRAY(t->arena, bool, t->layout->elements);
    t->judgement = &again;
    t->fault_size = 0;
    t->rounding = allowed_rounding(t);
    t->random = t->options.seed; /* the same blocks */
    const bool taken = qg_take_bits(t);
    qg_return(t, &home);
    *t = before;
    *bits = again.bits;
    return taken && !qg_judgement_wrong(&again);
}

/* Where results on a device are wrong, and those of the executor are not, the driver is to blame. */
static void doubt_driver(qg_trial *t) {
    qg_judgement *j = t->judgement;
    uint8_t **bits;
    uint32_t wrong = 0, kept = 0;
    const char *first = NULL;
    for (uint32_t i = 0; i < j->n_findings; ++i) {
        if (j->findings[i].severity != QG_WRONG || j->findings[i].evidence != QG_SEEN_BITS) continue;
        if (wrong++ == 0) first = j->findings[i].sentence;
    }
    if (!wrong || t->stopped || t->unable || t->harness->target != QG_FOREIGN_VULKAN || !executor_agrees(t, &bits))
        return;
    for (uint32_t i = 0; i < j->n_findings; ++i)
        if (j->findings[i].severity == QG_NOTE || !strcmp(j->findings[i].rule, "fault"))
            j->findings[kept++] = j->findings[i];
    j->n_findings = kept;
    j->bits = bits;
    t->evidence = QG_SEEN_BITS;
    qg_find(
        t, QG_NOTE, "driver",
        qg_format(
            t->arena,
            "%s gives wrong results (%u findings; the first: %s), and the executor gives the right ones for the same "
            "module: as far as can be told, the driver compiles it wrongly",
            j->where, wrong, first));
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

/* What a test like those of engines would see: random data of usual size, 16 rows, an even width, one vector. */
static void take_nmse(qg_trial *t) {
    const uint64_t blocks = (256 + t->layout->block_cols - 1) / t->layout->block_cols;
    qg_call_shape shape = qg_shape_of(t->layout, 16, blocks, t->harness->computes == QG_COMPUTES_ROWS ? 16 : 1);
    t->judgement->nmse = -1;
    if (!t->options.nmse || t->unable || t->stopped) return;
    const qg_comparison c = qg_compare(t, shape, 1, (qg_wish){0});
    if (c.wrong != UINT64_MAX && c.squares > 0)
        t->judgement->nmse = isnan(c.error_squares) ? INFINITY : c.error_squares / c.squares;
}

static bool has_code(const qg_buffer *buffer) {
    return buffer->axes[0] == QG_AXIS_CODE || (buffer->n_axes > 1 && buffer->axes[1] == QG_AXIS_CODE);
}

static const char *prepare(qg_trial *t) {
    qg_judgement *j = t->judgement;
    const qg_layout *l = t->layout;
    j->bits = QG_NEW_ARRAY(t->arena, uint8_t *, l->n_buffers);
    for (uint32_t b = 0; b < l->n_buffers; ++b) {
        const qg_buffer *buffer = &l->buffers[b];
        const bool patches = l->view == QG_VIEW_MATRIX;
        if (buffer->shared || l->view == QG_VIEW_GROUPS)
            return qg_format(
                t->arena, "%s is made of blocks that share bytes, or whose rows lie apart, which judge does not take",
                l->name);
        if (patches && (buffer->n_axes != 2 || has_code(buffer)))
            return qg_format(
                t->arena,
                "%s of %s is not a matrix of rows and columns of its own, so that a block's bytes there are "
                "those of other blocks, too, which judge does not take",
                buffer->name, l->name);
        j->bits[b] = QG_NEW_ARRAY(t->arena, uint8_t, l->buffers[b].bytes * 8);
    }
    t->known = QG_NEW_ARRAY(t->arena, bool, l->elements);
    t->y_type = qg_harness_argument(t->harness, QG_USE_Y)->type;
    t->rounding = allowed_rounding(t);
    j->type = qg_scalars[t->y_type].name;
    return NULL;
}

const char *qg_judge(qg_arena *arena, const qg_foreign_kernel *kernel, qg_harness *harness, uint32_t threads,
                     const qg_trial_options *options, qg_judgement *judgement) {
    static void (*const see[QG_EVIDENCE_COUNT])(qg_trial *) = {
        qg_see_bits, qg_see_values, qg_see_shapes, qg_see_places, qg_see_order, qg_see_sums, qg_see_unused};
    qg_trial *t = QG_NEW(arena, qg_trial);
    qg_outcome outcome;
    const double begin = now();
    *t = (qg_trial){.arena = arena,
                    .layout = harness->layout,
                    .harness = harness,
                    .kernel = kernel,
                    .options = *options,
                    .judgement = judgement,
                    .random = options->seed,
                    .memory = qg_memory_new(arena, harness->layout),
                    .threads = threads};
    const char *why = prepare(t);
    if (why) return why;
    t->worker = qg_worker_open(arena, kernel, &options->worker, &outcome, &why);
    if (!t->worker) return why;
    harness->lanes = qg_worker_lanes(t->worker);
    judgement->where = qg_format(arena, "%s", qg_worker_where(t->worker));
    make_crossed(t);
    qg_find_idle(t);
    for (uint32_t e = 0; e < QG_EVIDENCE_COUNT && !t->unable; ++e) {
        const double from = now();
        t->evidence = (qg_evidence)e;
        judgement->runs[e].done = !t->stopped;
        if (t->stopped)
            judgement->runs[e].left_out = "it hangs or faults each time";
        else
            see[e](t);
        judgement->runs[e].seconds = now() - from;
    }
    doubt_driver(t);
    take_nmse(t);
    qg_worker_close(t->worker);
    judgement->seconds = now() - begin;
    return t->unable;
}
