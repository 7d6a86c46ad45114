// A stand-in for ggml's header of the same name, of which make.sh needs that it is there.
#define QKGEN_STAND_IN 1
