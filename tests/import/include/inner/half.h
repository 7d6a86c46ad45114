#include <stdint.h>

#ifdef NO_HALF
#error no half here
#endif

typedef struct {
    uint16_t bits;
} half;
