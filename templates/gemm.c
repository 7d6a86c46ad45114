@include gemv.c
