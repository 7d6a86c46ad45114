/* family.h: families, classes, kernels, and their descriptors. */
#ifndef QKGEN_FAMILY_H
#define QKGEN_FAMILY_H

#include "build/plan.h"

#include <qkgen/kernel.h>

enum { QG_MAX_FAMILY_BINDINGS = 12, QG_MAX_PUSH = 32, QG_MAX_FAMILY_TYPES = 3 };

/* The last bindings of a family that sums, and how many they are. */
#define QG_EPILOGUE_BINDING(bit, NAME, field, binding, many, meaning)                                                  \
    , { #binding, QK_ROLE_##NAME, QK_READ }
#define QG_RESULT_BINDINGS {"y", QK_ROLE_OUTPUT, QK_READ_WRITE} QK_EPILOGUES(QG_EPILOGUE_BINDING)
enum {
#define QG_EPILOGUE_ONE(...) +1
    QG_N_EPILOGUES = QK_EPILOGUES(QG_EPILOGUE_ONE),
#undef QG_EPILOGUE_ONE
    QG_N_RESULTS = 1 + QG_N_EPILOGUES
};
/* The push constants of families whose values belong to rows at indices: see templates/rows_push.fields. */
#define QG_ROWS_PUSH                                                                                                   \
    "rows", "row_first", "row_end", "row_tiles", "tokens", "batch_tokens", "batches", "value_step", "value_batch",     \
        "value_outer", "index_words", "index_step", "index_batch", "index_outer", "index_batches", "index_outers",     \
        "row_step", "row_batch", "row_outer", "value_first", "index_first", "table_first"
/* Push constants of views, at the end of all others. */
#define QG_VIEWS_PUSH                                                                                                  \
    "groups", "matrix_first", "matrices", "vectors", "sharing", "sharing_outer", "weights_first", "weights_inner",     \
        "weights_outer", "x_first", "x_stride", "x_inner", "x_outer", "y_skip", "y_stride", "y_inner", "y_outer",      \
        "second", "third", "weights_second", "weights_third", "y_second", "y_third"
#define QG_EXPERT_VIEWS_PUSH                                                                                           \
    "weights_inner", "x_first", "x_stride", "x_inner", "y_skip", "y_stride", "y_inner", "ids_skip", "ids_inner",       \
        "sets", "set_first", "weights_first", "weights_outer", "y_outer"
enum { QG_N_VIEWS_PUSH = 23, QG_N_EXPERT_VIEWS_PUSH = 14 };
/* Whether an epilogue reads what has that role. */
bool qg_is_epilogue(qk_role role);

typedef enum qg_family_id {
#define F(ID, ...) QG_FAMILY_##ID,
#include "build/family.def"
#undef F
    QG_FAMILY_COUNT
} qg_family_id;

/* A kernel family: one schedule, in templates/NAME.*, for every format. Its bindings follow the format's buffers. */
typedef struct qg_family {
    qg_family_id id;
    const char *name;
    const char *summary; /* completes "Q: " in a banner */
    bool experts;        /* it chooses one of several matrices by number, for each vector */
    bool sums;           /* over rows: the results are f32, and the kernel's type is that of x */
    bool encodes;        /* it makes blocks, of formats that say how; a tile is one, and the type is that of x */
    bool in_tiles;       /* it makes tiles of a result with many columns, of operands of matrix units */
    bool in_bands;       /* it takes several rows at a time, where their blocks have them in the same words */
    uint32_t n_types;
    qg_scalar types[QG_MAX_FAMILY_TYPES]; /* of results, or of x */
    uint32_t n_bindings;
    struct qg_family_binding {
        const char *name;
        qk_role role;
        qk_access access;
    } bindings[QG_MAX_FAMILY_BINDINGS];
    /* For formats whose blocks lie one after the other, for those whose blocks are patches, and for planes, where that
     * is something else; a suffix that is NULL: it is not. */
    struct qg_family_form {
        const char *suffix; /* of the template's name */
        uint32_t n_push;
        const char *push[QG_MAX_PUSH]; /* u32 each */
    } blocks, matrix, planes;
    /* The checked call, likewise: the name behind qk_dispatch_, and what is passed behind the weights. */
    struct qg_family_call {
        const char *function, *arguments;
    } call, matrix_call;
} qg_family;

typedef struct qg_family_form qg_family_form;
typedef struct qg_family_call qg_family_call;

const qg_family_form *qg_form(const qg_family *family, const qg_layout *layout);
const qg_family_call *qg_checked_call(const qg_family *family, const qg_layout *layout);
/* What it binds of that name, or NULL; and whether it binds something with that role. */
const struct qg_family_binding *qg_family_binding_named(const qg_family *family, const char *name);
bool qg_has_role(const qg_family *family, qk_role role);
/* Whether it is about rows of a table at indices; else it is about all of a tensor, or sums. */
bool qg_at_indices(const qg_family *family);
/* Whether its call takes rows and columns; else it takes the number of elements. */
bool qg_takes_shape(const qg_family *family, const qg_layout *layout);
/* Of those that decode, how many results there are; at indices, of so many tokens. */
uint64_t qg_result_count(const qg_family *family, uint64_t elements, uint64_t rows, uint64_t cols, uint64_t tokens);
/* Makes the results of a row of its values, in their place, and returns how many they are. */
uint64_t qg_results_of_row(const qg_family *family, float *values, uint64_t cols);

/* From family.def, in its order. */
extern const qg_family qg_families[QG_FAMILY_COUNT];
extern const uint32_t qg_n_families;
const qg_family *qg_family_named(const char *name);

typedef enum qg_class_id {
#define C(ID, ...) QG_CLASS_##ID,
#include "build/class.def"
#undef C
    QG_CLASS_COUNT
} qg_class_id;

/* How a family that sums over rows multiplies, and what that costs in exactness. */
typedef struct qg_sum_class {
    const char *name;
    const char *infix;  /* of a kernel's name */
    const char *module; /* of the name of its code, which several classes may share */
    qg_products products;
    uint32_t digits; /* bytes of each x, where products are of bytes */
    qk_numeric_class numeric;
    bool metal;
    bool on_request; /* emitted only where it is named */
} qg_sum_class;

/* From class.def, in its order. */
extern const qg_sum_class qg_sum_classes[QG_CLASS_COUNT];
extern const uint32_t qg_n_sum_classes;
/* The names of all classes, "|" between them, for help. */
const char *qg_class_words(void);
/* The class of that name, or NULL. */
const qg_sum_class *qg_sum_class_named(const char *name);

/* Bits of the words in which an encoder stores its part of a block. */
uint32_t qg_encode_unit(const qg_buffer *buffer);
/* Whether what a row has in a buffer is stored 16 bytes at a time. */
bool qg_stores_fours(const qg_layout *layout, uint32_t buffer);
/* Bytes that a workgroup has on any Vulkan device; threads of one that shares its blocks, unless others are asked
 * for. */
enum { QG_LEAST_SHARED_MEMORY = 16384, QG_STAGING_WORKGROUP = 64 };
/* encode_team.c: how many threads make a block on Vulkan, which follow each other; 1, 2, 4, 8 or 16. Each takes as
 * many of its elements. */
uint32_t qg_encode_team(const qg_layout *layout);
/* encode_planes.c: elements that are made together: those of a block, or of a group of planes. */
uint32_t qg_made_elements(const qg_layout *layout);
/* The one slice of which a buffer has bits, that of a code of each element; NULL: it has others. */
const qg_slice *qg_slice_of_elements(const qg_layout *layout, uint32_t buffer);
/* Whether the plane says in which bits of a word a code of the slice is, of which a group has `count`, and its number
 * in the group in which word. */
bool qg_splits_planes(const qg_layout *layout, const qg_slice *slice, uint32_t count);
/* Whether a team of so many can make the groups of a block one after the other, each thread its own words of codes of
 * all planes. */
bool qg_can_share_planes(const qg_layout *layout, uint32_t team);
/* encode_run.c: elements that follow each other of those that a thread of a team has; between them and its next ones
 * are as many of each of the others. */
uint32_t qg_encode_run(const qg_layout *layout);
uint32_t qg_run_of_team(const qg_layout *layout, uint32_t team);
/* Whether no thread of such a team has bits in words of another one. */
bool qg_deals_alone(const qg_layout *layout, uint32_t team);
/* Words that each of a team of planes has. */
uint32_t qg_words_of_planes(const qg_layout *layout, uint32_t team);
/* encode_spread.c: of rows whose blocks are words of neighbouring elements, the one slice of which these words are,
 * NULL where they are not; and how many neighbours a word has. A thread takes as many words as a block has, each so
 * many after the one before as there are threads. */
enum { QG_MOST_OF_SPREAD = 64 };
const qg_slice *qg_spread_slice(const qg_layout *layout);
uint32_t qg_spread_run(const qg_slice *slice);
/* In how many parts threads take such a block, so that registers suffice; and the layout of a part, which has as many
 * words less. */
uint32_t qg_spread_parts(const qg_layout *layout);
const qg_layout *qg_spread_layout(qg_arena *arena, const qg_layout *layout);
/* The words that codes of a slice lie in, of one thread of a team, where each thread has the same ones, but for a
 * distance that is its own: those of the slice's first thread, a bit for each of `span` from the first on. */
enum { QG_PARTS_USED = 2 };
typedef struct qg_parts {
    bool fits;
    uint32_t first, span, count;
    uint64_t used[QG_PARTS_USED];
    bool dense; /* of planes: without those that others have, they are as those of elements that follow each other */
} qg_parts;
bool qg_is_used(const qg_parts *parts, uint32_t word);
/* How a thread counts its words: of those that are dense, all; and number `word` of them. */
uint32_t qg_part_words(const qg_parts *parts);
uint32_t qg_part_word(const qg_parts *parts, uint32_t word);
qg_parts qg_encode_parts(const qg_layout *layout, const qg_slice *slice);
/* Whether nobody but the thread that stores a code of the slice has bits in its words; and whether all words of a
 * buffer's part of the block are stored so. */
bool qg_stores_alone(const qg_layout *layout, const qg_slice *slice, uint32_t per);
bool qg_stores_whole(const qg_layout *layout, uint32_t buffer);
/* Words of 32 bits in memory that a workgroup shares, for each block that encode makes on Vulkan: those of a buffer,
 * through which neighbours in memory are written by neighbours; 0 where a thread writes what it made itself. And the
 * bytes of all that is shared, for each thread. */
uint32_t qg_staged_words(const qg_layout *layout, uint32_t buffer);
uint32_t qg_staged_bytes(const qg_layout *layout);
/* Words that each thread of a team tells the others at a time, where it makes blocks. */
uint32_t qg_words_left(const qg_layout *layout);
/* The same of memory: groups of planes take turns, so that what one left is there while others begin with the next. */
uint32_t qg_room_left(const qg_layout *layout);
/* A team leaves a code of each element as bytes in shared memory, of which then each word of digits of a base is made,
 * where words have four neighbours each and all slices have one base. Words of it for each block, one more behind those
 * of each thread, so that all begin in different banks; 0: the team does not. */
uint32_t qg_digit_words(const qg_layout *layout, const qg_code *code);
bool qg_has_digit_words(const qg_code *code);
/* Whether those words are a stream, as blocks are in memory: without gaps, so that it is written in words where blocks
 * are none. And how many blocks are whole words together. */
bool qg_streams(const qg_layout *layout, uint32_t buffer);
/* Whether teams join units of fewer than 32 bits, of blocks that are staged with gaps, to words. */
bool qg_joins_units(const qg_layout *layout, uint32_t buffer);
uint32_t qg_stream_blocks(const qg_layout *layout, uint32_t buffer);

/* transcode.c: the family of two formats, which is none of those above. The module has its name from both, too. */
extern const qg_family qg_transcode;
/* Why blocks of one cannot become blocks of the other in one launch: a sentence; NULL where they can. */
const char *qg_transcode_hindrance(qg_arena *arena, const qg_layout *from, const qg_layout *to);

/* Whether it makes rows at indices, and the format spreads a row over planes, so that none can be made alone. */
bool qg_spreads_rows(const qg_family *family, const qg_layout *layout);
/* Whether there are kernels of the family for a format. */
bool qg_takes(const qg_family *family, const qg_layout *layout);

/* One kernel: a family for a format, with results of one type. */
typedef struct qg_kernel {
    const char *name; /* q4_K_dequant_f16, say */
    const qg_family *family;
    const qg_layout *layout;
    const qg_layout *to;  /* of qg_transcode: what is made; its buffers are called qk_to_NAME. NULL of all others */
    const qg_plan *plan;  /* on Vulkan */
    const qg_plan *whole; /* on Vulkan, of a ragged format, where a matrix is whole blocks; NULL: as any other */
    const qg_plan
        *wide; /* on Vulkan, for one vector and rows that it fits: larger tiles, loads of 16 bytes; NULL: none */
    const qg_plan
        *ahead; /* on Vulkan, tiles out of memory into which rows are loaded ahead; NULL: none, or it does not pay */
    const qg_plan *metal_plan; /* the same for all types */
    const qg_plan *metal_wide; /* on Metal, for rows that it fits: larger tiles, in words; NULL: none */
    const qg_plan *columns;    /* on Vulkan, the tiles of QK_SCHEDULE_COLUMNS; NULL: its rows lie one after the other */
    qg_scalar type;
    const qg_plan *teams;    /* on Vulkan, the tiles of QK_SCHEDULE_TEAMS; NULL: it does not share x */
    const qg_sum_class *sum; /* NULL where the family does not sum */
    const char *module;      /* name of its GLSL and its words, but for the schedule (qg_module_name) */
    uint32_t rows_at_once;   /* at most, of one right-hand side; 0: as many as usual */
    uint32_t wide_loads;     /* of a thread for each row, where rows can be loaded ahead */
    bool in_turns;           /* on Vulkan, terms of a wide tile may be added in turns */
    bool teams_in_turns;     /* the same of runs of a tile of teams */
    bool apart;              /* and each loads for itself, row by row: what they share would take registers */
    uint32_t overruns;       /* buffers whose wide loads go beyond the last block, a bit each */
    uint32_t left_out;       /* schedules that nobody asked for, a bit for each number */
    bool reference;          /* in C: of the first class; what the others are held against is the same */
} qg_kernel;

/* The schedules of a kernel's modules for Vulkan, a bit for each number; 0: it is one module. */
uint32_t qg_schedules_of(const qg_kernel *kernel);
/* Rows that the schedule `ahead` copies at a time, of a kernel that has it. */
uint32_t qg_rows_ahead(const qg_kernel *kernel);
uint32_t qg_registers_of_loads(const qg_fetches *all);
/* Runs of x in each of the turns in which a tile of teams can be multiplied; 0: it cannot. */
uint32_t qg_turn_runs(qg_arena *arena, const qg_kernel *kernel);
/* Turns of one right-hand side in floats, where words and scales, or what was looked up, take many registers beside x;
 * of several, whose x teams share, where it can be. */
void qg_plan_turns(qg_arena *arena, qg_kernel *kernel);
/* Whether a kernel before number `i` of a list has the same module for that schedule. */
bool qg_is_shared(const qg_kernel *list, uint32_t i, qk_schedule schedule);
/* The one that banners and lists speak of: of larger tiles where it has them; QK_SCHEDULE_NONE where there are none. */
qk_schedule qg_main_schedule(const qg_kernel *kernel);
/* What <qkgen/schedule.def> says of each schedule, by its number; of QK_SCHEDULE_NONE, zeros. */
typedef struct qg_schedule {
    const char *name;
    enum { QG_VECTORS_ANY, QG_VECTORS_FEW, QG_VECTORS_SEVERAL, QG_VECTORS_MANY, QG_VECTORS_EXPERTS } vectors;
    enum {
        QG_TILE_ROWS,
        QG_TILE_SHARED,
        QG_TILE_WIDE,
        QG_TILE_AHEAD,
        QG_TILE_TEAMS,
        QG_TILE_COLUMNS,
        QG_TILE_OPERANDS
    } tile;
    enum { QG_SUBGROUPS_NOTHING, QG_SUBGROUPS_ARITHMETIC, QG_SUBGROUPS_SHUFFLE } subgroups;
    enum { QG_RESULTS_WHOLE, QG_RESULTS_IN_PARTS } results;
} qg_schedule;

extern const qg_schedule qg_schedules[QK_SCHEDULE_COUNT];
/* The tiles that a schedule other than QK_SCHEDULE_NONE walks with; NULL: the kernel does not have it. */
const qg_plan *qg_tile_of(const qg_kernel *kernel, qk_schedule schedule);
const char *qg_schedule_name(qk_schedule schedule);
/* Whether rows may be of two matrices in turn, one of which gates the other: neighbours have their sums. */
bool qg_gates_rows(const qg_kernel *kernel, qk_schedule schedule);
/* Whether results may be sums over the slots of a token. */
bool qg_adds_slots(const qg_kernel *kernel, qk_schedule schedule);
/* Whether x may be normed: a workgroup sees all of it. */
bool qg_takes_norms(const qg_kernel *kernel, qk_schedule schedule);
/* The schedule of sums over rows of that name, or QK_SCHEDULE_NONE; and all their names, "|" between them. */
qk_schedule qg_schedule_of_rows(const char *name);
const char *qg_schedule_words(qg_arena *arena);
/* Whether it is for several right-hand sides, whose x a workgroup shares. */
bool qg_schedule_shares_x(qk_schedule schedule);
/* The name of a kernel's GLSL and words with a schedule. */
const char *qg_module_name(qg_arena *arena, const qg_kernel *kernel, qk_schedule schedule);

/* Whether words of two rows, with scales and offsets, fill the registers of a thread beside its operands of x, where
 * matrix units load theirs from memory. */
bool qg_crowds_registers(const qg_operands *operands, const qg_fetches *all);
/* Metal has no integer dot products: kernels that need them are for Vulkan alone. */
bool qg_on_metal(const qg_kernel *kernel);
/* Simdgroups in a threadgroup of Metal, where matrix units multiply. */
enum { QG_MMA_SIMDGROUPS = 8, QG_TILE_SIMDGROUPS = 4 };
/* Whether, with several right-hand sides, a workgroup of Vulkan shares x. */
bool qg_shares_x(const qg_kernel *kernel);
/* Whether a launch can make for others what workgroups share of x: integers, which are fewer bytes than x. */
bool qg_packs_x(const qg_kernel *kernel);
/* Of one right-hand side, it can load the x of wide tiles together, whole blocks at a time,
 * QG_LEAST_STAGED runs or a multiple. */
bool qg_stages_x(const qg_kernel *kernel);
enum { QG_LEAST_STAGED = 512 };
/* Whether its products are those of matrix units. */
bool qg_is_mma(const qg_kernel *kernel);
/* Whether a format has sums of that class. */
bool qg_has_class(qg_arena *arena, const qg_layout *layout, const qg_family *family, const qg_sum_class *sum);

/* constants.c: the specialisation constant of that id, with this value in a descriptor. */
qk_spec_constant qg_constant(qk_constant_id id, uint32_t value);
/* The constants of a kernel, into its description, which has its API and workgroup size. */
void qg_describe_constants(qg_arena *arena, const qg_kernel *kernel, qk_kernel *described);
/* Plans the kernel as its family wants it. */
qg_kernel qg_kernel_new(qg_arena *arena, const qg_layout *layout, const qg_family *family, qg_scalar type,
                        const qg_sum_class *sum);
/* The plan of rows that its schedules other than plain rows begin with. */
const qg_plan *qg_plan_of_whole(const qg_kernel *kernel);
/* Whether it loads or stores single elements of 16 bits: with any type of x, for types share a module. */
bool qg_has_narrow_elements(const qg_kernel *kernel);
/* transcode.c: the kernel from one format to another, which qg_transcode_hindrance has nothing against. */
qg_kernel qg_transcode_new(qg_arena *arena, const qg_layout *from, const qg_layout *to);
/* Elements that dispatch counts as a block: of a format, or of the one of two whose blocks are larger. */
uint32_t qg_unit(const qg_kernel *kernel);
/* Whether the threads of a kernel from one format to another, each of which makes one block, share those as streams. */
bool qg_transcode_streams(const qg_kernel *kernel);
/* encode_team.c: qg_staged_bytes of what the kernel makes. */
uint32_t qg_kernel_staged_bytes(const qg_kernel *kernel);
/* Threads of a workgroup of such a kernel: of teams twice as many, who wait together for what one of each looks up. */
uint32_t qg_staging_workgroup(const qg_kernel *kernel);
/* Bindings of a kernel, without stored tables. */
uint32_t qg_bindings_of(const qg_kernel *kernel);
/* Whether a kernel that sums stores results of 16 bits by themselves, on Vulkan: where it asks for such storage anyway.
 * Else two of them share a word. */
bool qg_stores_halves(const qg_kernel *kernel);
/* The kernel as the C side sees it. Its text or words are `code`, which may be NULL. */
const qk_kernel *qg_describe(qg_arena *arena, const qg_kernel *kernel, qk_api api, const qk_code *code);

/* error.c: the numbers of the bound of a kernel that sums, into its description. */
void qg_describe_error(const qg_kernel *kernel, qk_kernel *described);

/* Whether a kernel stores single values. */
bool qg_stores_singly(const qg_kernel *kernel);
/* Whether it has the constant QK_CONSTANT_ROUNDS_F16. */
bool qg_rounds_f16(const qg_kernel *kernel);
/* Whether it decodes to a type of 16 bits: modules of Vulkan are of all such types, and a constant says which. */
bool qg_decodes_halves(const qg_kernel *kernel);

/* ---- requests ---------------------------------------------------------------------------------------------------- */

/* The kernels of a request, once they are planned. */
typedef struct qg_kernel_list {
    bool made;
    uint32_t count;
    const qg_kernel *items;
} qg_kernel_list;

/* Which families a format is emitted for, and how. */
typedef struct qg_request {
    const qg_layout *layout;
    uint32_t n_families;
    const qg_family *const *families;
    uint32_t n_to; /* formats that blocks are transcoded to */
    const qg_layout *const *to;
    uint32_t classes;   /* of sums, as bits; 0: the first, exact */
    uint32_t types;     /* of results, or, of sums, of x: bits of qg_scalar; 0: all */
    uint32_t schedules; /* of sums over rows, beside plain rows: bits of their numbers; 0: all */
    bool vulkan, metal;
    bool without_mma;     /* the compiler of GLSL does not know matrix units */
    const char *command;  /* that regenerates, for the banner */
    qg_kernel_list *list; /* where qg_kernels keeps them; NULL: they are planned each time */
} qg_request;

/* Whether a request has the kernel for Vulkan. */
bool qg_on_vulkan(const qg_request *request, const qg_kernel *kernel);

/* All kernels of a request: families in order, and each of their types. Plans that are the same are shared. */
uint32_t qg_kernels(qg_arena *arena, const qg_request *request, const qg_kernel **kernels);

#endif
