/* Figures as a picture: for each format a line, for each family a panel, and in it a dot at the
 * share of the device's copy bandwidth, with the marks of peers beside it. Panels stand side by
 * side, as many as a page is wide, then in a further band. */
#include "cli/run_bench.h"
#include "cli/run_bench_draw.h"

#include <stdlib.h>
#include <string.h>

enum { EDGE = 36, PANEL = 240, RATE = 54, GAP = 28, LINE = 20, MOST_PANELS = 16, IN_BAND = 3, BAND_HEAD = 92 };

typedef struct panel {
    const qg_figure *sample; /* one of the group */
    double most;             /* share at the right edge */
} panel;

typedef struct row {
    const char *format;
    double bits, share; /* in the first panel that has the format */
    uint32_t panel;
} row;

typedef struct picture {
    qg_arena *arena;
    const qg_figures *figures;
    const qg_peers *peers;
    qg_text *svg;
    uint32_t n_panels, n_rows;
    panel panels[MOST_PANELS];
    row *rows;
    double left, top;
} picture;

static double share(const picture *p, double rate) { return rate / p->figures->copy; }

static uint32_t panel_of(const picture *p, const qg_figure *f) {
    uint32_t i = 0;
    while (i < p->n_panels && !qg_figure_same_group(p->panels[i].sample, f)) ++i;
    return i;
}

static double most_share(const picture *p, const qg_figure *f) {
    double most = share(p, f->bytes / f->time.least);
    for (uint32_t n = 0; n < p->peers->n_names; ++n) {
        const double theirs = share(p, qg_peers_rate(p->peers, n, f));
        if (theirs > most) most = theirs;
    }
    return most;
}

static int by_share(const void *left, const void *right) {
    const row *a = left, *b = right;
    if (a->panel != b->panel) return a->panel < b->panel ? -1 : 1;
    if (a->share != b->share) return a->share > b->share ? -1 : 1;
    return strcmp(a->format, b->format);
}

static void find_rows_and_panels(picture *p) {
    p->rows = QG_NEW_ARRAY(p->arena, row, p->figures->count + 1);
    for (uint32_t i = 0; i < p->figures->count; ++i) {
        const qg_figure *f = &p->figures->items[i];
        const uint32_t number = panel_of(p, f);
        uint32_t r = 0;
        if (number == MOST_PANELS) continue;
        if (number == p->n_panels) p->panels[p->n_panels++] = (panel){f, 1.05};
        const double most = most_share(p, f);
        while (most > p->panels[number].most) p->panels[number].most += 0.25;
        while (r < p->n_rows && strcmp(p->rows[r].format, f->format) != 0) ++r;
        if (r == p->n_rows) p->rows[p->n_rows++] = (row){f->format, f->bits, share(p, qg_figure_rate(f)), number};
    }
    if (p->n_rows) qsort(p->rows, p->n_rows, sizeof *p->rows, by_share);
}

/* ---- drawing ---- */

static double panel_left(const picture *p, uint32_t i) { return p->left + i % IN_BAND * (PANEL + RATE + GAP); }

static double panel_top(const picture *p, uint32_t i) { return p->top + i / IN_BAND * (p->n_rows * LINE + BAND_HEAD); }

static double at(const picture *p, uint32_t i, double share) {
    return panel_left(p, i) + PANEL * (share < p->panels[i].most ? share / p->panels[i].most : 1);
}

static double line_of(const picture *p, uint32_t r, uint32_t i) { return panel_top(p, i) + r * LINE; }

static double draw_head(const picture *p, const char *title) {
    const qg_figures *f = p->figures;
    double y = 44, x = EDGE;
    qg_draw_text(p->svg, EDGE, y, "h", title);
    qg_draw_text(p->svg, EDGE, y += 28, "s",
                 qg_format(p->arena, "%s%s, driver %s", f->device,
                           f->cpu ? " (a CPU device: these figures say nothing of GPUs)" : "", f->driver));
    qg_draw_text(
        p->svg, EDGE, y += 22, "g",
        qg_format(p->arena,
                  "100%% is what the device copies in the same run: %.4g GB/s, read and written. Numbers: GB/s.",
                  f->copy / 1e9));
    y += 26;
    qg_draw_shapes(p->svg, p->peers->n_names + 1);
    for (uint32_t n = 0; n <= p->peers->n_names; ++n) {
        const char *name = n ? p->peers->names[n - 1] : "qkgen, median; least to greatest";
        qg_text point = qg_text_new(p->arena);
        qg_draw_point(&point, x + 5, y - 4.5);
        qg_draw_marks(p->svg, n, &point);
        qg_draw_text(p->svg, x + 16, y, "", name);
        x += 16 + (double)strlen(name) * QG_DRAW_CHARACTER / 10 + 30;
    }
    return y + 22;
}

/* The lines of the band that begins with panel `i`. */
static void draw_formats(const picture *p, uint32_t i, double right) {
    qg_draw_text(p->svg, EDGE, panel_top(p, i) - 8, "g n", "format");
    qg_draw_text(p->svg, p->left - 20, panel_top(p, i) - 8, "g n o", "bits");
    for (uint32_t r = 0; r < p->n_rows; ++r) {
        const double y = line_of(p, r, i);
        if (r % 2 == 0) qg_draw_box(p->svg, EDGE - 8, y, right - EDGE + 16, LINE, "class=\"p\"");
        qg_draw_text(p->svg, EDGE, y + 14.5, "", p->rows[r].format);
        qg_draw_text(p->svg, p->left - 20, y + 14.5, "g o", qg_format(p->arena, "%.4g", p->rows[r].bits));
    }
}

static void draw_panel(const picture *p, uint32_t i) {
    const qg_figure *f = p->panels[i].sample;
    const double x = panel_left(p, i), top = panel_top(p, i), bottom = line_of(p, p->n_rows, i);
    const double step = p->panels[i].most > 2.1 ? 1 : p->panels[i].most > 1.3 ? 0.5 : 0.25;
    qg_draw_text(p->svg, x, top - 46, "b", qg_figure_group(p->arena, f));
    qg_draw_text(p->svg, x, top - 28, "g n", qg_figure_shape(p->arena, f));
    for (double s = 0; s <= p->panels[i].most; s += step) {
        qg_draw_line(p->svg, at(p, i, s), top, at(p, i, s), bottom, s == 1 ? "class=\"k\"" : "class=\"l\"");
        qg_draw_text(p->svg, at(p, i, s), top - 8, "g n m", qg_format(p->arena, "%.0f%%", 100 * s));
    }
}

/* What is drawn of all figures of a panel together: an element for each would be most of the picture. */
typedef struct drawn {
    qg_text ranges, points[QG_DRAW_MARKS];
} drawn;

static void draw_figure(const picture *p, uint32_t i, const qg_figure *f, drawn *d) {
    uint32_t r = 0;
    while (strcmp(p->rows[r].format, f->format) != 0) ++r;
    const double y = line_of(p, r, i) + LINE / 2.0, rate = qg_figure_rate(f);
    const double least = share(p, f->bytes / f->time.greatest), greatest = share(p, f->bytes / f->time.least);
    qg_text_printf(&d->ranges, "M%.5g %.5gH%.5g", at(p, i, least), y, at(p, i, greatest));
    qg_draw_point(&d->points[0], at(p, i, share(p, rate)), y);
    for (uint32_t n = 0; n < p->peers->n_names; ++n) {
        const double theirs = qg_peers_rate(p->peers, n, f);
        if (theirs > 0) qg_draw_point(&d->points[n + 1], at(p, i, share(p, theirs)), y);
    }
    const char *text = f->checked.wrong ? "wrong" : qg_format(p->arena, rate < 1e10 ? "%.2f" : "%.0f", rate / 1e9);
    qg_draw_text(p->svg, panel_left(p, i) + PANEL + RATE, y + 4.5, f->checked.wrong ? "e o" : "g o", text);
}

static void draw_figures(const picture *p, uint32_t i) {
    drawn d = {.ranges = qg_text_new(p->arena)};
    for (uint32_t n = 0; n < QG_DRAW_MARKS; ++n) d.points[n] = qg_text_new(p->arena);
    for (uint32_t f = 0; f < p->figures->count; ++f)
        if (panel_of(p, &p->figures->items[f]) == i) draw_figure(p, i, &p->figures->items[f], &d);
    qg_text_printf(p->svg, "<path class=\"r\" d=\"%s\"/>\n", d.ranges.data);
    for (uint32_t n = 0; n < QG_DRAW_MARKS; ++n) qg_draw_marks(p->svg, n, &d.points[n]);
}

const char *qg_figures_svg(qg_arena *arena, const qg_figures *figures, const qg_peers *peers) {
    static const char title[] = "Share of the copy bandwidth";
    qg_text svg = qg_text_new(arena);
    picture p = {.arena = arena, .figures = figures, .peers = peers, .svg = &svg};
    size_t longest = 6;
    find_rows_and_panels(&p);
    for (uint32_t r = 0; r < p.n_rows; ++r)
        if (strlen(p.rows[r].format) > longest) longest = strlen(p.rows[r].format);
    p.left = EDGE + (double)(longest + 7) * QG_DRAW_CHARACTER / 10 + 24;
    p.top = draw_head(&p, title) + 64;
    const uint32_t wide = p.n_panels < IN_BAND ? p.n_panels : IN_BAND;
    const double right = p.left + wide * (PANEL + RATE + GAP) - GAP;
    for (uint32_t i = 0; i < p.n_panels || i == 0; i += IN_BAND) draw_formats(&p, i, right);
    for (uint32_t i = 0; i < p.n_panels; ++i) {
        draw_panel(&p, i);
        draw_figures(&p, i);
    }
    const double width = right + EDGE > 920 ? right + EDGE : 920;
    const char *what = qg_format(arena, "%u formats in %u panels on %s", p.n_rows, p.n_panels, figures->device);
    const uint32_t last = p.n_panels ? p.n_panels - 1 : 0;
    return qg_draw_document(arena, width, line_of(&p, p.n_rows, last) + EDGE, title, what, &svg);
}
