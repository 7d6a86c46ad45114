// Needs -I include.
#include "inner/half.h"

struct inner {
    half d;
    uint8_t qs[16];
};

typedef struct inner outer;
