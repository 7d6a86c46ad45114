/* Names that generated code cannot use. They are refused in a specification, so that no printer has to rename: what the
 * author wrote is what stands in the kernel. */
#include "spec/lex.h"

#include <qkgen/epilogue.def>

#include <string.h>

/* clang-format off */
/* Keywords, types and functions of C, GLSL, MSL and OpenCL C that a name of a specification could hide or clash with,
 * and the names that specifications themselves give a meaning. */
static const char reserved[] =
#define T(ID, name, words) " " words
#include "spec/target.def"
#undef T
    /* functions that kernels call */
    "abs all any ceil clamp cos cross dot exp exp2 floor fma fract isinf isnan ldexp length log log2 max min mix mod "
    "modf normalize pow round select sign sin sqrt step trunc pack unpack as_type popcount "
    "atomicAdd coopMatMulAdd coopmat floatBitsToInt floatBitsToUint intBitsToFloat uintBitsToFloat roundEven "
    "subgroupAdd subgroupElect subgroupShuffle subgroupShuffleXor spirv_instruction spirv_literal packHalf2x16 "
    "unpackHalf2x16 packFloat2x16 unpackFloat2x16 "
    /* what generated kernels call their own things */
    "decode write_tile store value_at f16_at bf16_at f32_to_f16 f32_to_bf16 f16_to_f32 bf16_to_f32 load_u32 dst "
    "indices round_f16 round_bf16 "
    "out_of_range tiles rows row_first row_end row_tiles tokens push threads from to index cols grid_rows grid_cols "
    "table_rows table_cols row col tile block_row block_col token found first start "
    /* types and names of specifications */
    "u8 i8 u16 i16 u32 f16 bf16 f32 e2m1 e2m3 e3m2 e4m3 e5m2 e8m0 i blocks ";
/* Names that stand in kernels beside those of buffers and tables, which are the author's own there;
 * codes and fields are not. */
static const char beside_buffers[] =
    " BATCH BUSY ROWS SPLIT SUMS TILES TILE_ROWS WIDTH Dst Ids Indices Input InputElementHalves InputElements "
    "InputHalves Output Push Status accumulate apart at band bands base "
    "batch c decode_tile e elements_of expert epilogue expert_end expert_first experts group groups held "
    "held_token ids j k kept kept_sum lane lanes load_x m n pair part partial parts place r row_cols "
    "row_runs s shape simd_sum simdgroup simdgroups slice slices slots split standing status sum sum_cut "
    "sum_rows sum_shape t team teams thread_index finish total v vector results silu does place_of_result to to_row "
    "weights whole_tiles work x x_at x_in x_sum y y_first y_rows "
    /* in tiles of Metal */
    "ACROSS COLS DOWN NEAR THREADS UNITS WEIGHTS WORDS across all_tiles columns down end_of_operands expert_tiles "
    "find_lane find_pairs finish_pair finish_tile fours fours_of_row k_parts make_sums make_tiles memory own "
    "own_column own_row pairs_of row_32 scratch share_sums shared sums units vectors_of wide_tiles without_expert "
    "x_operands x_parts x_unit "
    /* what is at the top of a text in GLSL: constants, functions and what a thread keeps */
    "ADDS_TO_Y AGAIN SCALES_ROWS SCALES_VECTORS EPILOGUE AT_ONCE BIAS COPIES DIGITS FIT "
    "KEPT LANES LARGEST LOADS ORDER_A ORDER_BC PADDED PART PRODUCTS SHARED_FOURS SLICE SLICE_FOURS SLICE_WORDS "
    "STAGED SUBGROUPS TURNS after is_turn turn turn_of turns X_FOURS X_PACKED packed_x packed_y "
    "accumulators add_rounds bytes_of dot4 dot4_unsigned dot16 dot16_unsigned dot_add dot_halves fetch fetch_last "
    "fetch_wide four_codes g held_four hold_four integers keep_word kept_word largest_factor load_ahead load_runs "
    "load_wide_x load_large_x "
    "accumulate_large sum_large_rows walk_large_rows mixed_dot most_of_four "
    "multiply no_products of_vectors operands pack_bf16 pack_f16 pack_halves f32_to_half rounds_f16 "
    "scale_of scale_of_pair share_slice share_x tile_expert "
    "shared_x signed_dot stage_x staged staged_from staged_x subgroup sum_of sum_of_bytes sum_of_lanes "
    "take take_x values_of walk walk_rows wide_x wide_x_unit write_row x_digits x_step X_TYPE half_word run "
    "x_element x_half_at x_halves x_run src src_four Src SrcFour "
    "batch_tokens batches value_step value_batch value_outer index_words index_step index_batch index_outer "
    "index_batches index_outers row_step row_batch row_outer value_first index_first table_first table_tile "
    "NO_ROW not_before row_of inner outer values src_words src_pairs "
    "SrcWords SrcPairs SrcEight src_eight "
    "add_products left_shared multiply_through_memory right_shared sums_shared team_barrier team_values "
    "ALONE own_weights VECTORS GROUPS PARTIAL "
    "K_SLICES TOGETHER SOON SPAN STRIDE RUNS LEFT ahead row_words load_rows hold_rows wait_for_team take_four "
    "thread VIEWS Y_TYPE OutputHalves y_halves y_before store_y number views matrices matrix "
    "vectors sharing sharing_outer weights_first weights_inner weights_outer weights_begin x_first x_stride x_inner "
    "x_outer x_begin y_skip y_stride y_inner y_outer y_begin ids_skip ids_inner id_of matrix_first find_matrix "
    "group_number group_count row_of_weights row_of_expert row_within other x_from x_element_from "
    "NORM NormWeights norm_weights x_stored x_row SQUARES add_squares "
    "set sets set_first before pair_of pairs works y_set second third weights_second weights_third y_second y_third ";
/* clang-format on */

/* What finish.glsl calls the parts of an epilogue. */
static const struct {
    const char *buffer, *does, *adds;
} epilogues[] = {
#define E(bit, NAME, field, binding, many, meaning) {#binding, #NAME "S", "ADDS_" #NAME},
    QK_EPILOGUES(E)
#undef E
};

/* Whether `name` is a name of words_like_this as WordsLikeThis. */
static bool is_capitalised(const char *name, const char *words) {
    for (bool begins = true; *words; ++words) {
        if (*words == '_') {
            begins = true;
            continue;
        }
        if (*name++ != (begins && *words >= 'a' && *words <= 'z' ? *words - 'a' + 'A' : *words)) return false;
        begins = false;
    }
    return *name == 0;
}

static bool is_of_epilogue(const char *name) {
    for (size_t i = 0; i < sizeof epilogues / sizeof *epilogues; ++i)
        if (strcmp(name, epilogues[i].buffer) == 0 || is_capitalised(name, epilogues[i].buffer) ||
            strcmp(name, epilogues[i].does) == 0 || strcmp(name, epilogues[i].adds) == 0)
            return true;
    return false;
}

static bool is_listed(const char *list, const char *name) {
    size_t length = strlen(name);
    for (const char *at = strstr(list, name); at != NULL; at = strstr(at + 1, name)) {
        if (at > list && at[-1] == ' ' && at[length] == ' ') {
            return true;
        }
    }
    return false;
}

const char *qg_name_problem(const char *name) {
    if (strcmp(name, "i") == 0) {
        return "it is the index of the element in its block";
    }
    if (strstr(name, "__") != NULL) {
        return "C and GLSL keep names with '__' for themselves";
    }
    if (strncmp(name, "gl_", 3) == 0) {
        return "GLSL keeps names that begin with 'gl_' for itself";
    }
    if (strncmp(name, "qk_", 3) == 0) {
        return "names that begin with 'qk_' belong to the runtime";
    }
    if (name[0] == '_') {
        return "C keeps names that begin with '_' for itself";
    }
    return is_listed(reserved, name) ? "it is reserved in C, GLSL, MSL, this language or the kernels" : NULL;
}

const char *qg_buffer_name_problem(const char *name) {
    const char *problem = qg_name_problem(name);
    const bool is_taken = is_listed(beside_buffers, name) || is_of_epilogue(name);
    return problem == NULL && is_taken ? "kernels have something else of that name" : problem;
}
