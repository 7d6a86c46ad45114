/* Figures as tables in Markdown: one for each family and batch. */
#include "cli/run_bench.h"

#include <string.h>

static void add_head(qg_text *text, const qg_figures *figures, const qg_peers *peers, const qg_figure *first) {
    qg_arena *arena = text->arena;
    bool there[4] = {false, false, false, false};
    for (uint32_t i = 0; i < figures->count; ++i)
        for (uint32_t n = 0; n < peers->n_names; ++n)
            there[n] |=
                qg_figure_same_group(first, &figures->items[i]) && qg_peers_rate(peers, n, &figures->items[i]) > 0;
    qg_text_printf(text, "\n**%s, %s**\n\n| format | bits | us | least to greatest | GB/s | of copy | error |",
                   qg_figure_group(arena, first), qg_figure_shape(arena, first));
    for (uint32_t n = 0; n < peers->n_names; ++n)
        if (there[n]) qg_text_printf(text, " %s | times |", peers->names[n]);
    qg_text_puts(text, "\n|---|---|---|---|---|---|---|");
    for (uint32_t n = 0; n < peers->n_names; ++n)
        if (there[n]) qg_text_puts(text, "---|---|");
    qg_text_puts(text, "\n");
    for (uint32_t i = 0; i < figures->count; ++i) {
        const qg_figure *f = &figures->items[i];
        const double rate = qg_figure_rate(f);
        if (!qg_figure_same_group(first, f) || f->rows != first->rows || f->cols != first->cols) continue;
        qg_text_printf(text, "| %s | %.4g | %.1f | %.1f to %.1f | %.0f | %.1f%% | %s |", f->format, f->bits,
                       1e6 * f->time.median, 1e6 * f->time.least, 1e6 * f->time.greatest, rate / 1e9,
                       100 * rate / figures->copy,
                       f->checked.wrong        ? "wrong"
                       : f->checked.error == 0 ? "0"
                                               : qg_format(arena, "%.1e", f->checked.error));
        for (uint32_t n = 0; n < peers->n_names; ++n) {
            const double theirs = qg_peers_rate(peers, n, f);
            if (there[n] && theirs > 0) qg_text_printf(text, " %.0f | %.2f |", theirs / 1e9, rate / theirs);
            if (there[n] && theirs == 0) qg_text_puts(text, " - | - |");
        }
        qg_text_puts(text, "\n");
    }
}

const char *qg_figures_markdown(qg_arena *arena, const qg_figures *figures, const qg_peers *peers) {
    qg_text text = qg_text_new(arena);
    qg_text_printf(&text, "%s%s, driver %s: copies %.0f GB/s, read and written%s.\n", figures->device,
                   figures->cpu ? ", a CPU device" : "", figures->driver, figures->copy / 1e9,
                   qg_figures_cold(arena, figures));
    for (uint32_t i = 0; i < figures->count; ++i) {
        bool before = false;
        const qg_figure *f = &figures->items[i];
        for (uint32_t j = 0; j < i; ++j)
            before |= qg_figure_same_group(f, &figures->items[j]) && f->rows == figures->items[j].rows &&
                      f->cols == figures->items[j].cols;
        if (!before) add_head(&text, figures, peers, f);
    }
    return text.data;
}
