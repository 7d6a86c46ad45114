// What C structs can have beside scalars and arrays in a row.
#include <stdint.h>

typedef float real;
typedef uint8_t nibbles[16];
typedef enum { KIND_A, KIND_B } kind;

struct pair {
    __fp16 d;
    uint16_t code;
};

// Padding inside and at the end; names that a specification cannot have; types that
// it has not.
struct shapes {
    uint8_t value;     // a keyword of specifications
    uint32_t _private; // behind padding
    int32_t whole;
    kind what;
    uint64_t mask[2];
    real r;
    nibbles twice[2][3];
    struct pair first;
    struct pair second;
    struct pair many[3];
    union {
        uint8_t bytes[8];
        struct {
            int16_t low[2];
            struct {
                uint8_t inner;
            };
        };
        uint32_t words[2];
    };
    uint8_t pad161;
};

#ifdef __cplusplus
namespace engine {
struct half {
    uint16_t bits;
};
extern "C" {
struct from_cpp {
    half d;
    int8_t qs[3];
};
}
struct derived : from_cpp {
    int8_t more;
};
typedef uint16_t buf16;
typedef uint16_t float16_t;
} // namespace engine

// Types through using-declarations; two bytes that are no half; members that share a name.
namespace other {
using engine::float16_t;
using engine::half;
struct names {
    const float16_t d;
    half h[2];
    engine::buf16 code;
    struct {
        union {
            uint8_t m;
            struct {
                int8_t m;
            } s;
        } u;
        bool flag;
    } part;
};
} // namespace other
#endif
