/* report_html.h: what the files of the page share. Tags are those of XML, too: each is closed, so that a test can see
 * that they balance. */
#ifndef QKGEN_REPORT_HTML_H
#define QKGEN_REPORT_HTML_H

#include "judge/report.h"

/* One judgement on its way into the page. */
typedef struct qg_page {
    qg_text *text;
    qg_arena *arena;
    const qg_judgement *judgement;
    uint32_t number; /* of the judgement, from 1: ids of its parts begin with it */
} qg_page;

/* Markup as it is. */
void qg_html(const qg_page *page, const char *format, ...) QG_PRINTF(2, 3);
/* Text of any origin: visible, and with all that markup is made of escaped. Good in attributes, too. */
const char *qg_html_escaped(qg_arena *arena, const char *text);

/* ---- report_html_map.c ---- */

/* The block's picture: each field with the state of each bit. */
void qg_html_map(const qg_page *page);
/* The key to it: each state that there is, and how many bits are in it. */
void qg_html_legend(const qg_page *page);

/* ---- report_html_pairs.c ---- */

/* Where findings name elements: those that the bits belong to beside those that they reach. Nothing where none does. */
void qg_html_pairs(const qg_page *page);

/* ---- report_html_style.c ---- */

/* The style sheet, in pieces up to NULL. */
extern const char *const qg_html_style[];

#endif
