/* A sweep over rows and columns as a picture: for each format a field of cells, whose colour is the share of the
 * device's copy
 * bandwidth; below it those of peers that were measured with the same sizes. */
#include "cli/run_bench.h"
#include "cli/run_bench_draw.h"

#include <stdlib.h>
#include <string.h>

enum { EDGE = 36, WIDE = 48, HIGH = 25, LEFT = 70, MOST_SIZES = 64 };

typedef struct sizes {
    qg_arena *arena;
    const qg_figures *figures;
    const qg_peers *peers;
    qg_text *svg;
    uint64_t rows[MOST_SIZES], cols[MOST_SIZES];
    uint32_t n_rows, n_cols;
    double y;
} sizes;

static void add_size(uint64_t *list, uint32_t *count, uint64_t size) {
    uint32_t i = 0;
    while (i < *count && list[i] < size) ++i;
    if ((i < *count && list[i] == size) || *count == MOST_SIZES) return;
    memmove(list + i + 1, list + i, (*count - i) * sizeof *list);
    list[i] = size;
    *count += 1;
}

static uint32_t place(const uint64_t *list, uint32_t count, uint64_t size) {
    uint32_t i = 0;
    while (i < count && list[i] != size) ++i;
    return i;
}

/* From almost white to blue. */
static const char *fill(const sizes *s, double share) {
    static const int pale[] = {0xF1, 0xF3, 0xF5}, full[] = {0x18, 0x64, 0xAB};
    const double t = share < 0 ? 0 : share > 1 ? 1 : share;
    int c[3];
    for (int i = 0; i < 3; ++i) c[i] = (int)(pale[i] + (full[i] - pale[i]) * t + 0.5);
    return qg_format(s->arena, "fill=\"#%02X%02X%02X\"", (unsigned)c[0], (unsigned)c[1], (unsigned)c[2]);
}

static void draw_cell(const sizes *s, const qg_figure *f, double rate, bool wrong) {
    const double share = rate / s->figures->copy, gb = rate / 1e9;
    const uint32_t column = place(s->rows, s->n_rows, f->rows), line = place(s->cols, s->n_cols, f->cols);
    if (column == s->n_rows || line == s->n_cols) return;
    const double x = EDGE + LEFT + column * WIDE, y = s->y + line * HIGH;
    const char *text = wrong ? "wrong" : qg_format(s->arena, gb < 10 ? "%.2f" : gb < 100 ? "%.1f" : "%.0f", gb);
    qg_draw_box(s->svg, x, y, WIDE - 1, HIGH - 1, fill(s, share));
    qg_text_printf(s->svg, "<text class=\"n m\" x=\"%.5g\" y=\"%.5g\" style=\"fill: %s\">%s</text>\n",
                   x + WIDE / 2.0 - 0.5, y + 16.5,
                   wrong          ? "#E03131"
                   : share > 0.55 ? "#FFF"
                                  : "#212529",
                   text);
}

/* The field of one format, ours (`peer` is n_names) or a peer's; nothing where there is no figure. */
static void draw_field(sizes *s, const char *format, uint32_t peer) {
    const bool ours = peer == s->peers->n_names;
    uint32_t count = 0;
    for (uint32_t i = 0; i < s->figures->count; ++i) {
        const qg_figure *f = &s->figures->items[i];
        if (strcmp(f->format, format) == 0 && (ours || qg_peers_rate(s->peers, peer, f) > 0)) count += 1;
    }
    if (count < 2) return;
    s->y += 44;
    qg_draw_text(s->svg, EDGE, s->y - 22, "b",
                 qg_format(s->arena, "%s, %s", format, ours ? "qkgen" : s->peers->names[peer]));
    for (uint32_t r = 0; r < s->n_rows; ++r)
        qg_draw_text(s->svg, EDGE + LEFT + r * WIDE + WIDE / 2.0, s->y - 4, "g n m",
                     qg_format(s->arena, "%llu", (unsigned long long)s->rows[r]));
    for (uint32_t c = 0; c < s->n_cols; ++c)
        qg_draw_text(s->svg, EDGE + LEFT - 10, s->y + c * HIGH + 16.5, "g n o",
                     qg_format(s->arena, "%llu", (unsigned long long)s->cols[c]));
    for (uint32_t i = 0; i < s->figures->count; ++i) {
        const qg_figure *f = &s->figures->items[i];
        const double rate = ours ? qg_figure_rate(f) : qg_peers_rate(s->peers, peer, f);
        if (strcmp(f->format, format) == 0 && rate > 0) draw_cell(s, f, rate, ours && f->checked.wrong);
    }
    s->y += s->n_cols * HIGH + 26;
}

static void draw_scale(sizes *s) {
    const double x = EDGE + LEFT;
    for (int i = 0; i <= 40; ++i) qg_draw_box(s->svg, x + i * 6, s->y, 6.2, 12, fill(s, i / 40.0));
    qg_draw_text(s->svg, x - 8, s->y + 10.5, "g n o", "0");
    qg_draw_text(s->svg, x + 254, s->y + 10.5, "g n",
                 qg_format(s->arena, "%.4g GB/s, what the device copies in the same run", s->figures->copy / 1e9));
    s->y += 12;
}

const char *qg_sizes_svg(qg_arena *arena, const qg_figures *figures, const qg_peers *peers) {
    qg_text svg = qg_text_new(arena);
    sizes s = {.arena = arena, .figures = figures, .peers = peers, .svg = &svg};
    for (uint32_t i = 0; i < figures->count; ++i) {
        add_size(s.rows, &s.n_rows, figures->items[i].rows);
        add_size(s.cols, &s.n_cols, figures->items[i].cols);
    }
    const char *group = qg_figure_group(arena, &figures->items[0]);
    const char *title = qg_format(arena, "Sizes: %s", group);
    qg_draw_text(&svg, EDGE, 44, "h", title);
    qg_draw_text(&svg, EDGE, 72, "s",
                 qg_format(arena, "%s%s, driver %s", figures->device,
                           figures->cpu ? " (a CPU device: these figures say nothing of GPUs)" : "", figures->driver));
    qg_draw_text(&svg, EDGE, 94, "g",
                 "GB/s of weights, rows across and columns down. Small matrices are bound by the time of a launch; "
                 "what fits in a "
                 "cache may beat the copy.");
    s.y = 110;
    draw_scale(&s);
    for (uint32_t i = 0; i < figures->count; ++i) {
        bool before = false;
        for (uint32_t j = 0; j < i; ++j) before |= strcmp(figures->items[i].format, figures->items[j].format) == 0;
        for (uint32_t n = 0; n <= peers->n_names && !before; ++n)
            draw_field(&s, figures->items[i].format, n == 0 ? peers->n_names : n - 1);
    }
    const double width = EDGE + LEFT + s.n_rows * WIDE + EDGE;
    return qg_draw_document(arena, width > 1160 ? width : 1160, s.y + 10, title,
                            qg_format(arena, "Bandwidth over rows and columns on %s", figures->device), &svg);
}
