// stdint.h: the types are those of metal_stdlib.
#include <metal_stdlib>
