/* What becomes of each tensor of a file: which are converted, to what, and why the others are not. */
#include "cli/run_convert.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 1 << 20 }; /* elements, about */

/* One --tensor. */
typedef struct choice {
    const char *pattern;
    qg_storage to;
    bool keeps, used;
} choice;

typedef struct planner {
    qg_session *session;
    const qg_convert_request *request;
    qg_plan_of_file *plan;
    qg_storage to; /* without a name: there is no --to */
    choice *choices;
    bool named_alone; /* --to is for the tensors that are named without a format */
} planner;

/* ---- kinds ---- */

static const qg_scalar plain_types[] = {QG_F32, QG_F16, QG_BF16};

/* The kind of that name, which GGUF must have a number for, and which can be made. */
static bool find_kind(const planner *p, const char *name, qg_storage *kind) {
    *kind = (qg_storage){.name = name, .plain = QG_SCALAR_COUNT};
    for (uint32_t i = 0; i < QG_LENGTH(plain_types); ++i)
        if (strcmp(name, qg_scalars[plain_types[i]].name) == 0) kind->plain = plain_types[i];
    if (kind->plain == QG_SCALAR_COUNT && !(kind->layout = qg_session_format(p->session, name))) return false;
    if (kind->layout && !kind->layout->encode)
        return qg_complain("%s does not say how its blocks are made: its specification needs 'encode', see "
                           "docs/format-language.md",
                           name) == 0;
    if (kind->layout && kind->layout->view == QG_VIEW_GROUPS)
        return qg_complain("%s has its tensors in planes, and a file is converted in pieces of whole rows: decode the "
                           "tensor, and make it with `qkgen run encode`",
                           name) == 0;
    if (!qg_rules_number(p->request->rules, "gguf", name) || (kind->layout && kind->layout->n_buffers != 1))
        return qg_complain("GGUF has no type for %s; formats/containers.txt names those that it has", name) == 0;
    return true;
}

/* ---- --tensor ---- */

static bool read_choice(planner *p, const char *text, choice *c) {
    const char *equals = strrchr(text, '=');
    *c = (choice){.pattern = text, .to = p->to};
    if (equals) {
        c->pattern = qg_strndup(p->session->arena, text, (size_t)(equals - text));
        c->keeps = strcmp(equals + 1, "keep") == 0;
        return c->keeps || find_kind(p, equals + 1, &c->to);
    }
    p->named_alone = true;
    return p->to.name ||
           qg_complain("--tensor %s needs --to FORMAT, or its own: --tensor '%s=FORMAT'", text, text) == 0;
}

static choice *choice_of(const planner *p, const char *tensor) {
    for (uint32_t i = 0; i < p->request->tensors.count; ++i)
        if (fnmatch(p->choices[i].pattern, tensor, 0) == 0) return &p->choices[i];
    return NULL;
}

/* Patterns of no tensor, and those whose tensors others took, are mistakes. */
static bool check_choices(const planner *p) {
    const qg_container *file = &p->plan->container;
    for (uint32_t i = 0; i < p->request->tensors.count; ++i) {
        const choice *c = &p->choices[i];
        const char *nearest = NULL;
        uint32_t least = qg_name_tolerance(c->pattern);
        bool matches = false;
        if (c->used) continue;
        for (uint32_t t = 0; t < file->count; ++t) {
            matches |= fnmatch(c->pattern, file->tensors[t].name, 0) == 0;
            qg_name_nearest(c->pattern, file->tensors[t].name, &nearest, &least);
        }
        if (matches)
            return qg_complain("--tensor %s: earlier patterns have taken all of its tensors; put it before them",
                               c->pattern) == 0;
        if (nearest)
            return qg_complain("%s: no tensor is named %s; did you mean %s?", p->request->in, c->pattern, nearest) == 0;
        return qg_complain("%s: no tensor is named %s; `qkgen verify --target c` lists them", p->request->in,
                           c->pattern) == 0;
    }
    return true;
}

/* ---- tensors ---- */

static bool is_decoded(qg_scalar type) {
    for (uint32_t i = 0; i < QG_LENGTH(plain_types); ++i)
        if (plain_types[i] == type) return true;
    return false;
}

/* Why it cannot become that; NULL where it can. */
static const char *hindrance(const planner *p, const qg_weight *w, const qg_storage *to) {
    qg_arena *arena = p->session->arena;
    const uint64_t row = w->n_dims ? w->dims[w->n_dims - 1] : 1;
    if (w->problem) return qg_format(arena, "it %s", w->problem);
    if (!w->layout && !is_decoded(w->plain))
        return qg_format(arena, "%s is neither a format with a specification nor f32, f16 or bf16", w->format);
    if (w->layout && w->layout->view != QG_VIEW_BLOCKS && w->layout->spec->n_header == 0)
        return qg_format(arena, "blocks of %s are patches of a matrix, and such are not converted", w->format);
    if (to->layout && row % to->layout->elements)
        return qg_format(arena, "its rows of %llu do not divide by the %u of a block of %s", (unsigned long long)row,
                         to->layout->elements, to->name);
    return NULL;
}

/* Why a tensor that nobody names stays as it is; NULL where it does not. */
static const char *reluctance(const planner *p, const qg_weight *w, const qg_storage *to) {
    if (w->n_dims < 2) return "it has one dimension";
    const char *why = hindrance(p, w, to);
    return why ? why : qg_rules_keep(p->request->rules, w->name);
}

static uint64_t common_divisor(uint64_t a, uint64_t b) { return b ? common_divisor(b, a % b) : a; }

/* Whole blocks of both kinds. */
static uint64_t piece_of(const qg_storage *from, const qg_storage *to) {
    const uint64_t a = qg_storage_unit(from), b = qg_storage_unit(to), unit = a / common_divisor(a, b) * b;
    return unit > PIECE ? unit : PIECE / unit * unit;
}

static bool same_kind(const qg_storage *a, const qg_storage *b) {
    return a->layout == b->layout && a->plain == b->plain;
}

/* What is wanted of a tensor; false where it was named and cannot be had. */
static bool decide(const planner *p, qg_conversion *c) {
    const qg_weight *w = c->weight;
    choice *named = choice_of(p, w->name);
    const qg_storage *to = named ? &named->to : &p->to;
    if (named) named->used = true;
    if (named && named->keeps) return (c->why = "--tensor says so") != NULL;
    if (!named && p->named_alone) return (c->why = "--tensor does not name it") != NULL;
    if (!to->name) return (c->why = "no --to is given for it") != NULL;
    const char *why = named ? hindrance(p, w, to) : reluctance(p, w, to);
    if (named && why)
        return qg_complain("%s: byte %llu: the tensor '%s' cannot become %s: %s; leave it out of --tensor",
                           p->request->in, (unsigned long long)w->place, w->name, to->name, why) == 0;
    if (!why && same_kind(&c->from, to)) why = "it has that format already";
    c->why = why;
    c->converts = !why;
    if (!c->converts) return true;
    c->to = *to;
    if (to->layout && to->layout->spec->n_header > 0) c->to.row = w->cols;
    c->piece = piece_of(&c->from, &c->to);
    return true;
}

/* A weight is one tensor here. Of a format that is not known, the data are all up to the next tensor. */
static bool plan_tensor(const planner *p, const qg_weight *w, uint32_t number) {
    const qg_tensor *t = &p->plan->container.tensors[number];
    qg_conversion *c = &p->plan->items[number];
    const bool known = w->layout || w->plain != QG_SCALAR_COUNT;
    *c = (qg_conversion){.weight = w, .source = t->offset, .bytes = known ? w->bytes : t->bytes};
    c->from = c->to = (qg_storage){.name = w->format, .layout = w->layout, .plain = w->plain};
    if (w->layout && w->layout->spec->n_header > 0) c->from.row = c->to.row = w->cols;
    if (!decide(p, c)) return false;
    qg_written *to = &p->plan->written[number];
    to->type = c->converts ? qg_rules_number(p->request->rules, "gguf", c->to.name) : t->type;
    to->bytes = c->converts ? qg_storage_bytes(&c->to, w->elements) : c->bytes;
    return true;
}

static bool plan_tensors(const planner *p, const qg_weights *weights) {
    const qg_container *file = &p->plan->container;
    for (uint32_t i = 0; i < weights->count; ++i) {
        const qg_tensor *t = qg_container_find(file, weights->items[i].name);
        if (t && !plan_tensor(p, &weights->items[i], (uint32_t)(t - file->tensors))) return false;
    }
    for (uint32_t i = 0; i < file->count; ++i)
        if (!p->plan->items[i].weight)
            return qg_complain(
                       "%s: byte %llu: the tensor '%s' is part of a weight in several tensors, which GGUF has not",
                       p->request->in, (unsigned long long)file->tensors[i].place, file->tensors[i].name) == 0;
    return check_choices(p);
}

/* The head of the new file: it says how formats are made (version 2 of all that quantise), and what most of it is. */
static void make_head(const planner *p) {
    qg_plan_of_file *plan = p->plan;
    const char *type = p->to.name ? qg_rules_number(p->request->rules, "file-type", p->to.name) : NULL;
    qg_number numbers[2];
    uint32_t count = 0;
    bool in_blocks = false;
    for (uint32_t i = 0; i < plan->count; ++i) in_blocks |= plan->items[i].converts && plan->items[i].to.layout;
    if (in_blocks) numbers[count++] = (qg_number){.key = "general.quantization_version", .value = 2};
    if (p->to.name && !p->named_alone)
        numbers[count++] = (qg_number){.key = "general.file_type",
                                       .value = type ? (uint32_t)strtoul(type, NULL, 10) : 0,
                                       .leaves_out = type == NULL};
    plan->head = qg_text_new(p->session->arena);
    plan->bytes = qg_gguf_head(&plan->container, plan->written, count, numbers, &plan->head);
}

bool qg_convert_plan(qg_session *session, const qg_convert_request *request, const qg_input *file,
                     qg_plan_of_file *plan) {
    qg_arena *arena = session->arena;
    planner p = {.session = session, .request = request, .plan = plan};
    const qg_settings none = {0};
    qg_weights weights = {0};
    p.choices = QG_NEW_ARRAY(arena, choice, request->tensors.count + 1);
    if (request->to && !find_kind(&p, request->to, &p.to)) return false;
    for (uint32_t i = 0; i < request->tensors.count; ++i)
        if (!read_choice(&p, request->tensors.items[i], &p.choices[i])) return false;
    if (!request->to && request->tensors.count == 0)
        return qg_complain(
                   "convert needs --to FORMAT; `qkgen list` shows them, and `--tensor PATTERN=FORMAT` is for some "
                   "tensors alone") == 0;
    const char *why = qg_container_read(arena, file->data, file->bytes, &plan->container);
    if (!why && strcmp(plan->container.kind, "gguf") != 0)
        return qg_complain("%s: convert reads GGUF, and this is %s; convert it to GGUF first, as llama.cpp's "
                           "convert_hf_to_gguf.py does",
                           file->path, plan->container.kind) == 0;
    if (!why) why = qg_container_map(arena, &plan->container, request->rules, session->library, &none, &none, &weights);
    if (why) return qg_complain("%s: %s", file->path, why) == 0;
    plan->count = plan->container.count;
    plan->items = QG_NEW_ARRAY(arena, qg_conversion, plan->count + 1);
    plan->written = QG_NEW_ARRAY(arena, qg_written, plan->count + 1);
    qg_weights *kept = QG_NEW(arena, qg_weights);
    *kept = weights; /* conversions point to its items */
    if (!plan_tensors(&p, kept)) return false;
    make_head(&p);
    return true;
}
