/* run_bench_draw.h: SVG by hand, in the fonts and colours of the block maps (show_svg.c). Lengths are in pixels. */
#ifndef QKGEN_RUN_BENCH_DRAW_H
#define QKGEN_RUN_BENCH_DRAW_H

#include "spec/spec.h"

enum { QG_DRAW_CHARACTER = 78 }; /* tenths of a pixel that a character of 13 px is wide */

/* Text with its base line at y; `style` are classes: h (title), s (subtitle), b (heading), g (grey), n (small); m and
 * o centre it and
 * end it there. "" for none. */
void qg_draw_text(qg_text *svg, double x, double y, const char *style, const char *text);
/* A rectangle, a line and a mark with further attributes. */
void qg_draw_box(qg_text *svg, double x, double y, double width, double height, const char *more);
void qg_draw_line(qg_text *svg, double x1, double y1, double x2, double y2, const char *more);
/* Mark 0 is a dot; 1, 2, ... are the outlines of a circle, a diamond, a square and a triangle. Each has its colour. */
void qg_draw_mark(qg_text *svg, double x, double y, uint32_t mark);
/* The whole document around what was drawn. */
const char *qg_draw_document(qg_arena *arena, double width, double height, const char *title, const char *description,
                             const qg_text *drawn);

#endif
