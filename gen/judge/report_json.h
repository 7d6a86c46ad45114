/* report_json.h: what the two reports in JSON share. */
#ifndef QKGEN_REPORT_JSON_H
#define QKGEN_REPORT_JSON_H

#include "judge/judge.h"

struct cJSON;

/* A member with that text as UTF-8, or null. */
void qg_json_text(qg_arena *arena, struct cJSON *object, const char *name, const char *text);
/* A new object at the end of an array. */
struct cJSON *qg_json_item(struct cJSON *array);
/* Members that say what a finding is about: repeat, code, buffer, bit, bits, right, found. */
void qg_json_place(qg_arena *arena, struct cJSON *object, const qg_judgement *judgement, const qg_finding *finding);
/* Prints the tree and frees it. */
void qg_json_print(qg_text *text, struct cJSON *root);

#endif
