// Blocks of quantised weights, declared as the headers of engines do: for C, for C++, and for devices, by macros.
//
// Define one of BLOCKS_DECL_C, BLOCKS_DECL_CPP before this is included.

#ifndef BLOCKS_DECL

#if defined(BLOCKS_DECL_C)
#include <stdint.h>

typedef uint16_t blk_half;
typedef uint32_t blk_half2;

#define BLOCKS_AGGR_U
#define BLOCKS_AGGR_S

#define BLOCKS_DECL
#elif defined(BLOCKS_DECL_CPP)
#include <cstdint>

typedef uint16_t blk_half;
typedef uint32_t blk_half2;

// C++ has unnamed unions, but no unnamed structs
#define BLOCKS_AGGR_U
#define BLOCKS_AGGR_S data

#define BLOCKS_DECL
#endif

#if defined(BLOCKS_DECL)

#ifndef __cplusplus
#ifndef static_assert
#define static_assert(cond, msg) _Static_assert(cond, msg)
#endif
#endif // __cplusplus

#define QK_K 256
#define K_SCALE_SIZE 12

#define QK4_0 32
typedef struct {
    blk_half d;            // delta
    uint8_t qs[QK4_0 / 2]; // nibbles
} block_q4_0;
static_assert(sizeof(block_q4_0) == sizeof(blk_half) + QK4_0 / 2, "wrong q4_0 block size/padding");

#define QK5_1 32
typedef struct {
    union {
        struct {
            blk_half d; // delta
            blk_half m; // min
        } BLOCKS_AGGR_S;
        blk_half2 dm;
    } BLOCKS_AGGR_U;
    uint8_t qh[4];         // 5-th bit of quants
    uint8_t qs[QK5_1 / 2]; // nibbles
} block_q5_1;
static_assert(sizeof(block_q5_1) == 2 * sizeof(blk_half) + sizeof(uint32_t) + QK5_1 / 2, "wrong q5_1 block size/padding");

#define QK8_0 32
typedef struct {
    blk_half d;       // delta
    int8_t qs[QK8_0]; // quants
} block_q8_0;
static_assert(sizeof(block_q8_0) == sizeof(blk_half) + QK8_0, "wrong q8_0 block size/padding");

#define QK4_NL 32
typedef struct {
    blk_half d;
    uint8_t qs[QK4_NL / 2];
} block_iq4_nl;
static_assert(sizeof(block_iq4_nl) == sizeof(blk_half) + QK4_NL / 2, "wrong iq4_nl block size/padding");

// 4-bit quantisation, 8 groups of 32 elements
typedef struct {
    union {
        struct {
            blk_half d;    // super-block scale for quantised scales
            blk_half dmin; // super-block scale for quantised mins
        } BLOCKS_AGGR_S;
        blk_half2 dm;
    } BLOCKS_AGGR_U;
    uint8_t scales[K_SCALE_SIZE]; // scales and mins, quantised with 6 bits
    uint8_t qs[QK_K / 2];         // 4-bit quants
} block_q4_K;
static_assert(sizeof(block_q4_K) == 2 * sizeof(blk_half) + K_SCALE_SIZE + QK_K / 2, "wrong q4_K block size/padding");

// 5-bit quantisation
typedef struct {
    union {
        struct {
            blk_half d;
            blk_half dmin;
        } BLOCKS_AGGR_S;
        blk_half2 dm;
    } BLOCKS_AGGR_U;
    uint8_t scales[K_SCALE_SIZE];
    uint8_t qh[QK_K / 8]; // quants, high bit
    uint8_t qs[QK_K / 2]; // quants, low 4 bits
} block_q5_K;
static_assert(sizeof(block_q5_K) == 2 * sizeof(blk_half) + K_SCALE_SIZE + QK_K / 2 + QK_K / 8, "wrong q5_K size");

// 6-bit quantisation, 16 groups of 16 elements
typedef struct {
    uint8_t ql[QK_K / 2];     // quants, lower 4 bits
    uint8_t qh[QK_K / 4];     // quants, upper 2 bits
    int8_t scales[QK_K / 16]; // scales, quantised with 8 bits
    blk_half d;               // super-block scale
} block_q6_K;
static_assert(sizeof(block_q6_K) == sizeof(blk_half) + QK_K / 16 + 3 * QK_K / 4, "wrong q6_K block size/padding");

#endif // BLOCKS_DECL
#endif // BLOCKS_DECL
