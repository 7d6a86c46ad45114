/* The gallery: a page of Markdown that shows every specification with its figures and its block map. All of it comes
 * from the specifications, so that the page can be compared with them. */
#include "cli/gallery.h"
#include "base/sha256.h"
#include "emit/emit.h"
#include "spec/show.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The formats of one specification. */
typedef struct entry {
    const qg_spec *spec;
    uint32_t n_layouts;
    const qg_layout *const *layouts;
    const qg_layout *drawn[2]; /* those that stand for all; the second may be NULL */
    bool shown[2];             /* their pictures are files */
    uint32_t lines;
} entry;

typedef struct gallery {
    qg_arena *arena;
    const char *out;
    bool check;
    uint32_t count, capacity;
    entry *entries;
    const bool *shown; /* NULL: all */
    qg_gallery_report *report;
    qg_text *log;
} gallery;

/* ---- figures -------------------------------------------------------------------------------------------------- */

/* The middle value of every parameter, and the next one of the first parameter. The first parameter varies slowest.
 * `shown` is of the first layout; one that is shown is drawn in place of the middle. */
static void choose_drawn(entry *e, const bool *shown) {
    uint32_t middle = 0, next = e->n_layouts;
    for (uint32_t i = 0; i < e->spec->n_params; ++i) {
        const uint32_t n = e->spec->params[i].n_values;
        middle = middle * n + (n - 1) / 2;
        if (i == 0) next = e->n_layouts / n;
    }
    uint32_t first = 0;
    while (shown && first < e->n_layouts && !shown[first]) ++first;
    if (!shown || first == e->n_layouts) first = middle;
    const uint32_t drawn[2] = {first, middle + next};
    for (uint32_t d = 0; d < 2 && drawn[d] < e->n_layouts; ++d) {
        e->drawn[d] = e->layouts[drawn[d]];
        e->shown[d] = !shown || shown[drawn[d]];
    }
}

static void find_entries(gallery *g, const qg_library *library) {
    const qg_layout **layouts = library->layouts.items;
    for (uint32_t i = 0, n; i < library->layouts.count; i += n) {
        for (n = 1; i + n < library->layouts.count && layouts[i + n]->spec == layouts[i]->spec;) ++n;
        entry e = {.spec = layouts[i]->spec, .n_layouts = n, .layouts = &layouts[i]};
        e.lines = qg_show_lines(g->arena, e.spec->source);
        choose_drawn(&e, g->shown ? g->shown + i : NULL);
        QG_PUSH(g->arena, g->entries, g->count, g->capacity, e);
    }
}

static int by_size(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Of the lines, over all specifications. */
static double median(const gallery *g, uint32_t *most) {
    uint32_t *lines = QG_NEW_ARRAY(g->arena, uint32_t, g->count + 1);
    for (uint32_t i = 0; i < g->count; ++i) lines[i] = g->entries[i].lines;
    qsort(lines, g->count, sizeof *lines, by_size);
    *most = g->count ? lines[g->count - 1] : 0;
    return g->count ? (lines[(g->count - 1) / 2] + lines[g->count / 2]) / 2.0 : 0;
}

static double bits_each(const qg_layout *layout) { return qg_bits_per_element(layout); }

/* "4.5", or "2.25 to 9" of a family. */
static const char *bits_text(const gallery *g, const entry *e) {
    double least = bits_each(e->layouts[0]), most = least;
    for (uint32_t i = 1; i < e->n_layouts; ++i) {
        const double bits = bits_each(e->layouts[i]);
        least = bits < least ? bits : least;
        most = bits > most ? bits : most;
    }
    return least < most ? qg_format(g->arena, "%.6g to %.6g", least, most) : qg_format(g->arena, "%.6g", least);
}

/* ---- Markdown ------------------------------------------------------------------------------------------------- */

static void put_escaped(qg_text *page, const char *text) {
    for (; *text; ++text) {
        if (strchr("*_`[]<>&|~$#", *text)) qg_text_puts(page, "\\");
        qg_text_add(page, text, 1);
    }
}

/* The name that a heading has in links: small letters, digits, '_' and '-'. */
static void put_anchor(qg_text *page, const char *heading) {
    for (; *heading; ++heading) {
        const char c = *heading >= 'A' && *heading <= 'Z' ? (char)(*heading - 'A' + 'a') : *heading;
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-') qg_text_add(page, &c, 1);
    }
}

/* A block of code between more backticks than it has in a row. */
static void put_code(qg_text *page, const char *text, size_t length) {
    uint32_t fence = 3, run = 0;
    for (size_t i = 0; i < length; ++i) {
        run = text[i] == '`' ? run + 1 : 0;
        fence = run >= fence ? run + 1 : fence;
    }
    for (uint32_t i = 0; i < fence; ++i) qg_text_puts(page, "`");
    qg_text_puts(page, "\n");
    qg_text_add(page, text, length);
    qg_text_puts(page, length && text[length - 1] != '\n' ? "\n" : "");
    for (uint32_t i = 0; i < fence; ++i) qg_text_puts(page, "`");
    qg_text_puts(page, "\n");
}

static void put_overview(qg_text *page, const gallery *g) {
    uint32_t most, formats = 0;
    const double middle = median(g, &most);
    for (uint32_t i = 0; i < g->count; ++i) formats += g->entries[i].n_layouts;
    qg_text_printf(page,
                   "%u specifications make %u formats. Lines are those of the specification that are neither blank nor "
                   "comments;\ntables do not count. The median is %.4g lines, the maximum %u.\n\n",
                   g->count, formats, middle, most);
    qg_text_puts(page, "| format | bits for each element | lines |\n|---|---:|---:|\n");
    for (uint32_t i = 0; i < g->count; ++i) {
        const entry *e = &g->entries[i];
        qg_text_printf(page, "| [`%s`](#", e->spec->name);
        put_anchor(page, e->spec->name);
        qg_text_printf(page, ") | %s | %u |\n", bits_text(g, e), e->lines);
    }
    qg_text_printf(page, "| **median** | | %.4g |\n| **maximum** | | %u |\n", middle, most);
}

static void put_params(qg_text *page, const entry *e) {
    qg_text_printf(page, "%u formats:", e->n_layouts);
    for (uint32_t i = 0; i < e->spec->n_params; ++i) {
        const qg_spec_param *param = &e->spec->params[i];
        qg_text_printf(page, "%s `%s` in", i ? "," : "", param->name);
        for (uint32_t v = 0; v < param->n_values; ++v) {
            if (param->is_type)
                qg_text_printf(page, " %s", qg_scalars[param->values[v]].name);
            else
                qg_text_printf(page, " %lld", (long long)param->values[v]);
        }
    }
    qg_text_puts(page, ".\n\n");
}

static void put_figures(qg_text *page, const entry *e) {
    qg_text_puts(page, "| format | elements in a block | bytes | bits for each element |\n|---|---:|---:|---:|\n");
    for (uint32_t i = 0; i < 2 && e->drawn[i]; ++i) {
        const qg_layout *layout = e->drawn[i];
        qg_text_printf(page, "| `%s` | %u | %u", layout->name, layout->elements, layout->block_bytes);
        if (layout->n_buffers > 1) qg_text_printf(page, " in %u buffers", layout->n_buffers);
        qg_text_printf(page, " | %.6g |\n", bits_each(layout));
    }
}

/* The text; or, in the checkout that has the specification beside the page, where it is. */
static void put_specification(qg_text *page, const gallery *g, const entry *e) {
    const qg_source *source = e->spec->source;
    if (g->shown) {
        const char *slash = strrchr(source->path, '/');
        qg_text_printf(page, "\n[The specification](../formats/%s): %u lines.\n", slash ? slash + 1 : source->path,
                       e->lines);
        return;
    }
    qg_text_printf(page, "\n<details><summary>The specification: %u lines</summary>\n\n", e->lines);
    put_code(page, source->text, source->length);
    qg_text_puts(page, "\n</details>\n");
}

static void put_entry(qg_text *page, const gallery *g, const entry *e) {
    const qg_source *source = e->spec->source;
    qg_text_printf(page, "\n## `%s`\n\n", e->spec->name);
    put_escaped(page, e->spec->summary);
    if (e->spec->origin) {
        qg_text_puts(page, "\\\nFrom ");
        put_escaped(page, e->spec->origin);
    }
    qg_text_puts(page, "\n\n");
    if (e->spec->n_params) put_params(page, e);
    put_figures(page, e);
    qg_text_puts(page, "\n");
    const char *value = qg_format(g->arena, "value = %s", qg_show_value(g->arena, source));
    put_code(page, value, strlen(value));
    for (uint32_t i = 0; i < 2 && e->drawn[i]; ++i)
        if (e->shown[i])
            qg_text_printf(page, "\n![The block of %s](formats/%s.svg)\n", e->drawn[i]->name, e->drawn[i]->name);
    if (!e->shown[0]) qg_text_printf(page, "\nIts picture: `qkgen show %s --svg FILE`.\n", e->drawn[0]->name);
    put_specification(page, g, e);
}

static const char *make_page(const gallery *g) {
    qg_text page = qg_text_new(g->arena);
    qg_text_puts(&page, "# Formats\n\n<!-- Generated from the specifications by `qkgen gallery`; do not edit. -->\n\n");
    put_overview(&page, g);
    for (uint32_t i = 0; i < g->count; ++i) put_entry(&page, g, &g->entries[i]);
    return page.data;
}

/* ---- files ---------------------------------------------------------------------------------------------------- */

/* The command that makes the folder what it should be. */
static const char *remedy(const gallery *g) {
    return g->shown ? "qkgen gallery --shown formats/shown.txt" : "qkgen gallery";
}

static bool settle(const gallery *g, const char *path, const char *text) {
    g->report->files += 1;
    return qg_settle(g->arena, qg_format(g->arena, "%s/%s", g->out, path), text, remedy(g), g->check,
                     &g->report->changed, g->log);
}

static const char *picture(const gallery *g, const qg_layout *layout) {
    return qg_format(g->arena, "%s.svg", layout->name);
}

static bool is_file(const gallery *g, const char *name) {
    for (uint32_t i = 0; i < g->count; ++i)
        for (uint32_t d = 0; d < 2 && g->entries[i].drawn[d]; ++d)
            if (g->entries[i].shown[d] && strcmp(picture(g, g->entries[i].drawn[d]), name) == 0) return true;
    return false;
}

/* Pictures that nothing draws any more, or that are not shown. */
static bool settle_orphans(const gallery *g) {
    bool good = true;
    const char *folder = qg_format(g->arena, "%s/formats", g->out);
    DIR *dir = opendir(folder);
    for (const struct dirent *entry; dir && (entry = readdir(dir));) {
        const char *dot = strrchr(entry->d_name, '.'), *full = qg_format(g->arena, "%s/%s", folder, entry->d_name);
        if (!dot || strcmp(dot, ".svg") != 0 || is_file(g, entry->d_name)) continue;
        const bool gone = !g->check && unlink(full) == 0;
        if (gone)
            g->report->changed += 1;
        else
            qg_text_printf(g->log, "%s: error: nothing generates this picture; delete it%s\n", full,
                           g->check ? qg_format(g->arena, ", or run `%s`", remedy(g)) : "");
        good &= gone;
    }
    if (dir) closedir(dir);
    return good;
}

/* Draws all pictures; those that are not files are in the list alone. */
static bool settle_pictures(const gallery *g) {
    bool good = true;
    qg_text list = qg_text_new(g->arena);
    qg_text_printf(
        &list,
        "# The first %d digits of the SHA-256 of the picture of each format in formats.md, also of those that are\n"
        "# not here. Generated by `qkgen gallery`; do not edit.\n",
        QG_SHA256_SHORT);
    for (uint32_t i = 0; i < g->count; ++i)
        for (uint32_t d = 0; d < 2 && g->entries[i].drawn[d]; ++d) {
            const qg_layout *layout = g->entries[i].drawn[d];
            const char *svg = qg_show_svg(g->arena, layout);
            char hash[QG_SHA256_HEX + 1];
            qg_sha256(svg, strlen(svg), hash);
            qg_text_printf(&list, "%.*s  %s\n", QG_SHA256_SHORT, hash, picture(g, layout));
            if (g->entries[i].shown[d])
                good &= settle(g, qg_format(g->arena, "formats/%s", picture(g, layout)), svg);
            else
                g->report->hashed += 1;
        }
    return (!g->shown || settle(g, "formats/pictures.txt", list.data)) && good;
}

bool qg_gallery(qg_arena *arena, const qg_library *library, const bool *shown, const char *out, bool check,
                qg_gallery_report *report, qg_text *log) {
    gallery g = {.arena = arena, .out = out, .check = check, .shown = shown, .report = report, .log = log};
    find_entries(&g, library);
    bool good = settle(&g, "formats.md", make_page(&g));
    good &= settle_pictures(&g);
    return settle_orphans(&g) && good;
}
