@include gemv_id.c
