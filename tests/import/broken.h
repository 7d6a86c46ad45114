#include <stdint.h>

typedef struct {
    uint16_t d;
    uint8_t qs[16];
} block;

_Static_assert(sizeof(block) == 20, "the block has another size");

typedef struct {
    unknown_half d;
} other;
