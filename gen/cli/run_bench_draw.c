/* Elements of pictures: see run_bench_draw.h. */
#include "cli/run_bench_draw.h"

#include <string.h>

static const char style[] =
    "<style>\n"
    "text { font: 13px 'DejaVu Sans Mono', Menlo, Consolas, 'Liberation Mono', monospace; fill: #212529; "
    "white-space: pre }\n"
    "text.h { font-size: 26px; font-weight: bold }\n"
    "text.s { font-size: 15px }\n"
    "text.b { font-size: 14px; font-weight: bold }\n"
    "text.g { fill: #495057 }\n"
    "text.n { font-size: 11px }\n"
    "text.m { text-anchor: middle }\n"
    "text.o { text-anchor: end }\n"
    "text.e { fill: #C92A2A; font-weight: bold }\n"
    ".a { fill: #FFF }\n"
    ".p { fill: #F1F3F5 }\n"
    ".l { stroke: #CED4DA; stroke-width: 1 }\n"
    ".k { stroke: #495057; stroke-width: 1.6 }\n"
    ".c0 { fill: #1971C2; stroke: #1971C2 }\n"
    ".c1 { fill: none; stroke: #D9480F; stroke-width: 1.8 }\n"
    ".c2 { fill: none; stroke: #2B8A3E; stroke-width: 1.8 }\n"
    ".c3 { fill: none; stroke: #862E9C; stroke-width: 1.8 }\n"
    ".c4 { fill: none; stroke: #5C4813; stroke-width: 1.8 }\n"
    ".r { stroke: #1971C2; stroke-width: 2 }\n"
    "@media (prefers-color-scheme: dark) {\n"
    ".a { fill: #0D1117 }\n"
    ".p { fill: #161B22 }\n"
    ".l { stroke: #30363D }\n"
    ".k { stroke: #8B949E }\n"
    ".c0 { fill: #58A6FF; stroke: #58A6FF }\n"
    ".r { stroke: #58A6FF }\n"
    ".c1 { stroke: #FF922B }\n"
    ".c2 { stroke: #51CF66 }\n"
    ".c3 { stroke: #DA77F2 }\n"
    ".c4 { stroke: #FFD43B }\n"
    "text { fill: #E6EDF3 }\n"
    "text.g { fill: #9DA7B3 }\n"
    "text.e { fill: #FF8787 }\n"
    "}\n"
    "</style>\n";

static void add_escaped(qg_text *svg, const char *text) {
    for (; *text; ++text) {
        switch (*text) {
        case '&': qg_text_puts(svg, "&amp;"); break;
        case '<': qg_text_puts(svg, "&lt;"); break;
        case '>': qg_text_puts(svg, "&gt;"); break;
        default: qg_text_add(svg, text, 1);
        }
    }
}

void qg_draw_text(qg_text *svg, double x, double y, const char *class, const char *text) {
    qg_text_printf(svg, *class ? "<text x=\"%.5g\" y=\"%.5g\" class=\"%s\">" : "<text x=\"%.5g\" y=\"%.5g\">", x, y,
                   class);
    add_escaped(svg, text);
    qg_text_puts(svg, "</text>\n");
}

void qg_draw_box(qg_text *svg, double x, double y, double width, double height, const char *more) {
    qg_text_printf(svg, "<rect x=\"%.5g\" y=\"%.5g\" width=\"%.5g\" height=\"%.5g\" %s/>\n", x, y, width, height, more);
}

void qg_draw_line(qg_text *svg, double x1, double y1, double x2, double y2, const char *more) {
    qg_text_printf(svg, "<path d=\"M%.5g %.5gL%.5g %.5g\" %s/>\n", x1, y1, x2, y2, more);
}

void qg_draw_shapes(qg_text *svg, uint32_t count) {
    static const char *const shapes[] = {"<circle r=\"4.2\"", "<circle r=\"3.8\"",
                                         "<path d=\"M-4.5 0L0-4.5 4.5 0 0 4.5z\"", "<path d=\"M-3.5-3.5h7v7h-7z\"",
                                         "<path d=\"M-4.5 3.5h9L0-4z\""};
    for (uint32_t mark = 0; mark < count; ++mark)
        qg_text_printf(svg,
                       "<marker id=\"m%u\" markerUnits=\"userSpaceOnUse\" overflow=\"visible\">%s class=\"c%u\"/>"
                       "</marker>\n",
                       mark, shapes[mark], mark);
}

void qg_draw_point(qg_text *points, double x, double y) {
    qg_text_printf(points, "%s%.5g,%.5g", points->length ? " " : "", x, y);
}

void qg_draw_marks(qg_text *svg, uint32_t mark, const qg_text *points) {
    if (points->length == 0) return;
    /* Of one point alone, some draw nothing. */
    const char *twice = strchr(points->data, ' ') ? "" : points->data;
    qg_text_printf(svg, "<polyline fill=\"none\" style=\"marker: url(#m%u)\" points=\"%s%s%s\"/>\n", mark, points->data,
                   *twice ? " " : "", twice);
}

const char *qg_draw_document(qg_arena *arena, double width, double height, const char *title, const char *description,
                             const qg_text *drawn) {
    qg_text svg = qg_text_new(arena);
    qg_text_printf(&svg,
                   "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.5g\" height=\"%.5g\" viewBox=\"0 0 %.5g %.5g\" "
                   "role=\"img\">\n<title>",
                   width, height, width, height);
    add_escaped(&svg, title);
    qg_text_puts(&svg, "</title>\n<desc>");
    add_escaped(&svg, description);
    qg_text_printf(&svg, "</desc>\n%s<rect class=\"a\" width=\"100%%\" height=\"100%%\"/>\n", style);
    qg_text_add(&svg, drawn->data, drawn->length);
    qg_text_puts(&svg, "</svg>\n");
    return svg.data;
}
