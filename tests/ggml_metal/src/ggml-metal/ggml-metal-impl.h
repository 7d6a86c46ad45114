// A stand-in for ggml's header of the same name: names, types and order of the arguments that three kernels take (commit d99724f2), and
// for two types how many rows a simdgroup takes and how many simdgroups there are.
#define N_R0_Q4_K 2
#define N_SG_Q4_K 2
#define N_R0_Q8_0 2
#define N_SG_Q8_0 4

#define FC_MUL_MV 600

struct ggml_metal_kargs_mul_mv {
    int32_t ne00, ne01, ne02;
    uint64_t nb00, nb01, nb02, nb03;
    int32_t ne10, ne11, ne12;
    uint64_t nb10, nb11, nb12, nb13;
    int32_t ne0, ne1, nr0;
    int16_t r2, r3;
};

struct ggml_metal_kargs_mul_mv_id {
    int32_t nei0, nei1;
    uint64_t nbi1;
    int32_t ne00, ne01, ne02;
    uint64_t nb00, nb01, nb02;
    int32_t ne10, ne11, ne12, ne13;
    uint64_t nb10, nb11, nb12;
    int32_t ne0, ne1;
    uint64_t nb1;
    int32_t nr0;
};

struct ggml_metal_kargs_get_rows {
    int32_t ne00t, ne00;
    uint64_t nb01, nb02, nb03;
    int32_t ne10;
    uint64_t nb10, nb11, nb12, nb1, nb2, nb3;
};
