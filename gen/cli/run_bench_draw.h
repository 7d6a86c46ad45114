/* run_bench_draw.h: SVG by hand, in the fonts and colours of the block maps (show_svg.c). Lengths are in pixels. */
#ifndef QKGEN_RUN_BENCH_DRAW_H
#define QKGEN_RUN_BENCH_DRAW_H

#include "spec/spec.h"

enum { QG_DRAW_CHARACTER = 78 }; /* tenths of a pixel that a character of 13 px is wide */

/* Text with its base line at y; `style` are classes: h (title), s (subtitle), b (heading), g (grey), n (small); m and
 * o centre it and
 * end it there. "" for none. */
void qg_draw_text(qg_text *svg, double x, double y, const char *style, const char *text);
/* A rectangle and a line with further attributes. */
void qg_draw_box(qg_text *svg, double x, double y, double width, double height, const char *more);
void qg_draw_line(qg_text *svg, double x1, double y1, double x2, double y2, const char *more);
/* Marks: 0 is a dot; 1 to 4 are the outlines of a circle, a diamond, a square and a triangle. Each has its colour.
 * The shapes of the first `count` are drawn nowhere, but must stand before marks; these are drawn at all points that
 * were added to a text. */
enum { QG_DRAW_MARKS = 5 };
void qg_draw_shapes(qg_text *svg, uint32_t count);
void qg_draw_point(qg_text *points, double x, double y);
void qg_draw_marks(qg_text *svg, uint32_t mark, const qg_text *points);
/* The whole document around what was drawn. */
const char *qg_draw_document(qg_arena *arena, double width, double height, const char *title, const char *description,
                             const qg_text *drawn);

#endif
