/* trial.h: a judgement while it is made. Private to the room. */
#ifndef QKGEN_TRIAL_H
#define QKGEN_TRIAL_H

#include "judge/harness.h"
#include "judge/judge.h"
#include "judge/worker.h"
#include "spec/value.h"

/* What a sum claims of its error. */
typedef enum qg_claim {
    QG_CLAIM_EXACT, /* products of f32 */
    QG_CLAIM_HALF,  /* both operands rounded to f16 */
    QG_CLAIM_BF16,  /* or to bf16 */
    QG_CLAIM_INT8,  /* x rounded to 8 bits with a scale for 32 columns */
    QG_CLAIM_COUNT
} qg_claim;

extern const char *const qg_claim_names[QG_CLAIM_COUNT];

/* What is wanted of a judgement. */
typedef struct qg_trial_options {
    qg_worker_options worker;
    qg_claim claim;
    uint64_t seed;
    bool quick; /* fewer shapes and blocks */
    bool nmse;  /* what a test that compares squares would see, too */
} qg_trial_options;

/* Blocks that lie one after the other in each buffer of a layout. */
typedef struct qg_blocks {
    uint64_t count;
    unsigned char **data; /* for each buffer */
} qg_blocks;

/* What a launch of random data was given, and what is right: shapes.c. */
typedef struct qg_kept_data qg_kept_data;
enum { QG_KEPT = 4 };

typedef struct qg_trial {
    qg_arena *arena;
    const qg_layout *layout;
    qg_harness *harness;
    const qg_foreign_kernel *kernel;
    const qg_foreign_kernel *crossed; /* the same as Metal text; NULL: */
    const char *not_crossed;          /* why not */
    qg_trial_options options;
    qg_worker *worker;
    qg_judgement *judgement;
    qg_evidence evidence; /* that is taken now */
    qg_scalar y_type;
    uint64_t random;
    qg_memory *memory;                 /* of values */
    const qg_kept_data *kept[QG_KEPT]; /* what launches were given last */
    uint32_t next_kept;
    bool in_executor; /* which stands in for a device */
    uint32_t threads; /* of a workgroup; 0: not known */
    double rounding;  /* a value may be off by this part of its magnitude */
    bool *known;      /* elements of a block that are known to be wrong; the evidence that follows leaves them out */
    bool any_known;
    uint32_t *idle;      /* bits of each code that change nothing by the specification; NULL: not known yet */
    bool wrong_shapes;   /* sums of some shapes are wrong */
    uint64_t fault_size; /* of the smallest shape with which it faulted; 0: it has not */
    uint32_t fault;      /* number of that finding */
    uint32_t faults;
    bool stopped;       /* it is launched no more */
    const char *unable; /* why nothing more can be tried */
} qg_trial;

/* Random bits, of which all values are finite and below `most`, and not all 0; unused ones are 0. */
void qg_block_draw(qg_trial *t, const qg_blocks *blocks, uint64_t block, double most, uint64_t *random);

/* The kernel is judged by all evidence. NULL, or why it could not be. */
const char *qg_judge(qg_arena *arena, const qg_foreign_kernel *kernel, qg_harness *harness, uint32_t threads,
                     const qg_trial_options *options, qg_judgement *judgement);

/* ---- draw.c ------------------------------------------------------------------------------------------------------ */

uint64_t qg_random(uint64_t *state);
qg_blocks qg_blocks_new(qg_arena *arena, const qg_layout *layout, uint64_t count);
void qg_block_copy(const qg_layout *layout, const qg_blocks *from, uint64_t i, const qg_blocks *to, uint64_t j);
/* The bits of an instance of a code; codes that share bits with others (a base) are left as they are: false. */
bool qg_block_set(const qg_layout *layout, const qg_blocks *blocks, uint64_t block, uint32_t code, uint32_t instance,
                  uint32_t bits);
/* The bits that an instance of a code has; 0 for digits of a word. */
uint32_t qg_block_bits(const qg_layout *layout, const qg_blocks *blocks, uint64_t block, uint32_t code,
                       uint32_t instance);
/* Flips a bit of an instance of a code. */
void qg_block_flip(const qg_layout *layout, const qg_blocks *blocks, uint64_t block, uint32_t code, uint32_t instance,
                   uint32_t bit);
/* Words of digits become those that an encoder writes for the same digits. */
void qg_block_usual(const qg_layout *layout, const qg_blocks *blocks, uint64_t block);
/* Or, of a code, others. */
void qg_block_unusual(const qg_layout *layout, const qg_blocks *blocks, uint64_t block, uint32_t code,
                      uint64_t *random);

/* ---- trial.c ----------------------------------------------------------------------------------------------------- */

/* Adds a finding of the evidence that is taken now. */
qg_finding *qg_find(qg_trial *t, qg_severity severity, const char *rule, const char *sentence);
/* Findings of this rule so far, of the evidence that is taken now. */
uint32_t qg_found(const qg_trial *t, const char *rule);

/* Values and magnitudes of all blocks, by the specification; elements of a block are neighbours. */
void qg_expect_values(qg_trial *t, const qg_blocks *blocks, float *values, float *magnitudes);
/* Where a value of a tensor stands among those of its blocks; of experts, rows go on. */
uint64_t qg_spot_of(const qg_trial *t, qg_call_shape shape, uint64_t row, uint64_t col);
/* Blocks of the weights of a shape, over all experts. */
uint64_t qg_count_blocks(const qg_trial *t, qg_call_shape shape);
/* What a store to y makes of a value. */
float qg_stored(const qg_trial *t, float value);
float qg_loaded(qg_scalar type, const unsigned char *from);
void qg_store_value(qg_scalar type, float value, unsigned char *to);
/* Whether a result is the one that is expected, but for roundings. */
bool qg_near(const qg_trial *t, float actual, float expected, float magnitude);

/* The shape with the fewest blocks of one row, and rows, that holds `blocks` blocks and that the kernel takes; false
 * when there is none, after a note. */
bool qg_shape_for(qg_trial *t, uint64_t blocks, qg_call_shape *shape);
/* A call of a shape: NULL, or why the kernel does not take it. An error in the harness ends the trial. */
const char *qg_call_of(qg_trial *t, qg_call_shape shape, qg_call *call);

/* What a launch is given, and gives. */
typedef struct qg_launch_data {
    const qg_blocks *blocks;
    const float *x;          /* batch * cols, exact in x's type; NULL: none */
    const uint32_t *indices; /* batch; NULL: all rows in order */
    const uint32_t *ids;     /* batch * slots; NULL: all are expert 0 */
    float *y;                /* as many as the harness says */
    uint64_t n_y;
} qg_launch_data;

/* Launches, and reads y. A fault is a finding, once for each evidence, and returns false; so does what ends the
 * trial. */
bool qg_try(qg_trial *t, const qg_call *call, const qg_launch_data *data);
/* Fills the rooms of a call with what is given. */
bool qg_fill_rooms(qg_trial *t, const qg_call *call, const qg_launch_data *data, qg_room *rooms);
void qg_read_y(qg_trial *t, const qg_call *call, const qg_room *rooms, float *y);
bool qg_launch(qg_trial *t, const qg_call *call, qg_launch_mode mode);
/* The values of the elements of blocks, as the kernel gives them. Sums get right-hand sides of a single 1. */
bool qg_actual(qg_trial *t, const qg_blocks *blocks, float *values);
uint64_t qg_results(const qg_harness *harness, qg_call_shape shape);

/* Another worker in the place of the first: other lanes, another order, or the executor. */
typedef struct qg_home {
    qg_worker *worker;
    const qg_foreign_kernel *kernel;
    uint32_t lanes;
} qg_home;

/* NULL, or why there is no such worker; then nothing has changed. */
const char *qg_leave(qg_trial *t, const qg_foreign_kernel *kernel, const qg_worker_options *options, qg_home *home);
void qg_return(qg_trial *t, const qg_home *home);
/* To the executor, where a module is Metal text and each access is checked. */
const char *qg_leave_for_executor(qg_trial *t, qg_turns turns, uint64_t seed, qg_home *home);

/* ---- say.c ------------------------------------------------------------------------------------------------------- */

/* "0..31", "0, 2, 4", "none", "77 elements between 0 and 255". */
const char *qg_say_elements(qg_arena *arena, const bool *set, uint32_t count);
/* "elements 0..31", "element 5", "no element". */
const char *qg_say_which(qg_arena *arena, const bool *set, uint32_t count);
/* "bits 4..7 of scales[5] (bits 0..3 of mn[5])". */
const char *qg_say_bits(qg_arena *arena, const qg_layout *layout, uint32_t buffer, uint32_t bit, uint32_t bits);
/* "mn[5]", "d". */
const char *qg_say_code(qg_arena *arena, const qg_layout *layout, uint32_t code, uint32_t instance);
/* "rows 3, cols 512, batch 2", "rows 3, cols 512, experts 4, slots 2, tokens 1". */
const char *qg_say_shape(qg_trial *t, qg_call_shape shape);
/* A number, in as few digits as tell it apart. */
const char *qg_say_number(qg_arena *arena, double number);
/* "is 3, and should be 4", with as many digits as it takes to tell them apart. */
const char *qg_say_instead(qg_arena *arena, double actual, double expected);

/* ---- evidence, one file each ------------------------------------------------------------------------------------- */

/* Whether the kernel could be launched for it. */
bool qg_take_bits(qg_trial *t);
void qg_see_bits(qg_trial *t);
void qg_see_values(qg_trial *t);
void qg_see_shapes(qg_trial *t);
void qg_see_places(qg_trial *t);
void qg_see_order(qg_trial *t);
void qg_see_sums(qg_trial *t);
void qg_see_unused(qg_trial *t);
void qg_find_idle(qg_trial *t);

/* shapes.c: compares a launch of random data with what is right, at one shape. How many results are wrong; `*first`
 * the first and `*sentence` what is wrong with it. UINT64_MAX: it could not be launched. */
typedef struct qg_comparison {
    uint64_t wrong, all;
    const char *sentence;
    double worst;                  /* of sums: error by the bound */
    double error_squares, squares; /* sums over all results, of errors and of what is right */
    float *y;                      /* what came out, or NULL */
} qg_comparison;

/* Whether values are known to be wrong, so that sums need not be looked at. */
bool qg_sums_are_known(qg_trial *t);
/* `spread`: x lies between 2^-spread and 2^spread. `outside`: some indices or ids are none. */
typedef struct qg_wish {
    float spread;
    bool outside;
} qg_wish;

qg_comparison qg_compare(qg_trial *t, qg_call_shape shape, uint64_t seed, qg_wish wish);
/* A shape with several experts, where the kernel has any. */
qg_call_shape qg_with_experts(const qg_trial *t, qg_call_shape shape, uint64_t experts, uint64_t slots);
/* Numbers that are no index below `count`, as indices or ids. */
uint32_t qg_outside_of(uint64_t count, uint64_t which);

#endif
