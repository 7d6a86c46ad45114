/* A block that stands behind the header of a row, and with it. */
#include <stdint.h>

typedef struct {
    uint8_t scales[8];
    uint8_t qs[128];
} block;

typedef struct {
    float d;
    block b;
} row;
