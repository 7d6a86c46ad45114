@include gemm_tiles.comp
