// Structs that differ from the specification of q4_K, q4_0, q5_1 or q6_K in one thing, and some that have no block.
#pragma once

#include <stdint.h>

typedef uint16_t some_half;

// scales and qs have changed places
typedef struct {
    some_half d;
    some_half dmin;
    uint8_t qs[128];
    uint8_t scales[12];
} moved;

typedef struct {
    some_half d;
    int16_t dmin;
    uint8_t scales[12];
    uint8_t qs[128];
} wrong_float;

typedef struct {
    uint8_t ql[128];
    uint8_t qh[64];
    uint8_t scales[16];
    some_half d;
} wrong_sign;

typedef struct {
    some_half d;
    uint8_t m[2];
    uint32_t qh;
    uint8_t qs[16];
} wrong_width;

typedef struct {
    some_half d;
    uint8_t qs[12];
    uint8_t more[4];
} wrong_count;

typedef struct {
    some_half d;
    some_half dmin;
    uint8_t scales[12];
} missing;

typedef struct {
    some_half d;
    some_half dmin;
    uint8_t scales[12];
    uint8_t quants[128];
} renamed;

typedef struct {
    some_half d;
    uint8_t qs[16];
    uint8_t extra[2];
} extra;

// the compiler puts two bytes before qs, and none after it
typedef struct {
    some_half d;
    uint32_t qs[4];
} padded;

typedef struct {
    some_half d;
    uint8_t low : 4, high : 4;
    uint8_t qs[15];
} bits;

struct declared;

typedef struct {
    some_half d;
    const uint8_t *qs;
} pointer;

typedef struct {
    some_half d;
    uint8_t qs[];
} flexible;

typedef struct {
    some_half d;
    uint16_t odd;
    double wide;
} wide;
