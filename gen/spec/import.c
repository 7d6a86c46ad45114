/* C structs and specifications: `qkgen import`, and `qkgen check --struct`.
 *
 * A struct becomes a flat list of members with offsets. Nested structs are entered. Of a union, one member is taken for
 * its bytes, the largest, and of equals the first that is a struct; the others stay in the list as alternatives, for a
 * specification may follow either view. This file works on that list; import_clang.c makes it. */
#include "spec/import.h"
#include "spec/lex.h"

#include <string.h>

/* ---- the block of a specification ---- */

static uint32_t end_of(const qg_member *m) { return m->offset + m->bytes; }

static const char *type_text(qg_arena *arena, qg_scalar type, bool is_array, uint32_t count) {
    const char *name = qg_scalars[type].name;
    return is_array ? qg_format(arena, "%s[%u]", name, count) : name;
}

typedef struct row {
    const char *name, *type, *remark;
} row;

static bool is_field_name(const char *name) {
#define T(id, spelling)                                                                                                \
    if (strcmp(name, spelling) == 0) return false;
    QG_TOKENS(T)
#undef T
    return strlen(name) <= QG_MAX_NAME && *name != '_' && !qg_name_problem(name);
}

/* The member's name where a specification can have it, else one that it can. */
static const char *field_name(qg_arena *arena, const qg_member *m) {
    if (is_field_name(m->name)) return m->name;
    const char *name = qg_format(arena, "m_%s", m->name + strspn(m->name, "_"));
    return !is_field_name(name) ? qg_format(arena, "m_%u", m->offset) : name;
}

static void remark(qg_text *text, const char *sentence) {
    qg_text_printf(text, "%s%s", text->length ? "; " : "  # ", sentence);
}

/* What a reader of the specification should know of the header: other views of the bytes, other names, other types. */
static const char *remarks(qg_arena *arena, const qg_struct *c, const qg_member *m, const char *name) {
    qg_text text = qg_text_new(arena);
    if (!m->exact) remark(&text, qg_format(arena, "%s in the header", m->c_type));
    if (strcmp(name, m->name) != 0) remark(&text, qg_format(arena, "check with --rename %s=%s", name, m->name));
    for (uint32_t i = 0; i < c->n_members; ++i) {
        const qg_member *other = &c->members[i];
        if (!other->alternative || other->offset < m->offset || other->offset >= end_of(m)) continue;
        remark(&text, qg_format(arena, "the union has %s: %s, too", other->name,
                                type_text(arena, other->type, other->is_array, other->count)));
    }
    return text.data ? text.data : "";
}

static bool has_member(const qg_struct *c, const char *name) {
    for (uint32_t i = 0; i < c->n_members; ++i)
        if (strcmp(c->members[i].name, name) == 0) return true;
    return false;
}

/* Bytes from `from` to `to` that no member has; says how many, in `*n_rows`. */
static void add_padding(qg_arena *arena, const qg_struct *c, uint32_t from, uint32_t to, row *rows, uint32_t *n_rows) {
    if (from >= to) return;
    const char *name = qg_format(arena, "pad%u", from);
    while (has_member(c, name)) name = qg_format(arena, "%s_", name);
    rows[(*n_rows)++] =
        (row){qg_format(arena, "spare %s", name), qg_format(arena, "u8[%u]", to - from), "  # padding of the struct"};
}

static uint32_t block_rows(qg_arena *arena, const qg_struct *c, row *rows) {
    uint32_t n_rows = 0, at = 0;
    for (uint32_t i = 0; i < c->n_members; ++i) {
        const qg_member *m = &c->members[i];
        if (m->alternative) continue;
        add_padding(arena, c, at, m->offset, rows, &n_rows);
        const char *name = field_name(arena, m);
        rows[n_rows++] = (row){name, type_text(arena, m->type, m->is_array, m->count), remarks(arena, c, m, name)};
        at = end_of(m);
    }
    add_padding(arena, c, at, c->bytes, rows, &n_rows);
    return n_rows;
}

const char *qg_struct_block(qg_arena *arena, const qg_struct *c) {
    row *rows = QG_NEW_ARRAY(arena, row, 2 * c->n_members + 1);
    const uint32_t n_rows = block_rows(arena, c, rows);
    size_t widest = 0, longest = 0;
    for (uint32_t i = 0; i < n_rows; ++i) {
        if (strlen(rows[i].name) > widest) widest = strlen(rows[i].name);
        if (strlen(rows[i].type) > longest) longest = strlen(rows[i].type);
    }
    const char *slash = strrchr(c->header, '/');
    qg_text text = qg_text_new(arena);
    qg_text_printf(&text, "# %s of %s, %u bytes. For ELEMENTS write how many elements these bytes hold.\n", c->name,
                   slash ? slash + 1 : c->header, c->bytes);
    qg_text_puts(&text, "block ELEMENTS {\n");
    for (uint32_t i = 0; i < n_rows; ++i) {
        const size_t space = widest - strlen(rows[i].name) + 1;
        qg_text_printf(&text, "    %s:%*s", rows[i].name, (int)space, "");
        const size_t width = *rows[i].remark ? longest : 0;
        qg_text_printf(&text, "%-*s%s\n", (int)width, rows[i].type, rows[i].remark);
    }
    qg_text_puts(&text, "}\n");
    return text.data;
}

/* ---- a specification and a struct ---- */

typedef struct proof {
    qg_diag *diag;
    const qg_layout *layout;
    const qg_struct *c;
    const qg_texts *renames;
    const qg_member **matches; /* for each field, or NULL */
    uint32_t first, header; /* fields and bytes that stand before the blocks of each row: the struct is without them */
} proof;

static uint32_t offset_of(const proof *p, const qg_field *f) { return f->offset - p->header; }

static uint32_t field_bytes(const qg_field *f) { return f->count * (qg_scalars[f->type].bits / 8); }

/* The right side of a FIELD=MEMBER with this field. */
static const char *member_name(const proof *p, const char *field) {
    const size_t length = strlen(field);
    for (uint32_t i = 0; i < p->renames->count; ++i)
        if (strncmp(p->renames->items[i], field, length) == 0 && p->renames->items[i][length] == '=')
            return p->renames->items[i] + length + 1;
    return field;
}

static const qg_member *find_member(const qg_struct *c, const char *name) {
    for (uint32_t i = 0; i < c->n_members; ++i)
        if (strcmp(c->members[i].name, name) == 0 || strcmp(c->members[i].path, name) == 0) return &c->members[i];
    return NULL;
}

static const qg_member *member_at(const qg_struct *c, uint32_t offset, uint32_t bytes) {
    for (uint32_t i = 0; i < c->n_members; ++i)
        if (c->members[i].offset == offset && c->members[i].bytes == bytes) return &c->members[i];
    return NULL;
}

/* Whether the value has the field as a number of its type. Else codes take its bits, and its type gives the size. */
static bool is_number(const qg_layout *layout, const qg_field *f) {
    for (uint32_t i = 0; i < layout->n_codes; ++i)
        if (strcmp(layout->codes[i].name, f->name) == 0) return true;
    return false;
}

/* Of one size: unsigned integers in C stand for floats that C has no type for. Of different sizes: only bits. */
static bool types_agree(const qg_layout *layout, const qg_field *f, const qg_member *m) {
    const qg_scalar_info *a = &qg_scalars[f->type], *b = &qg_scalars[m->type];
    if (f->type == m->type) return true;
    if (a->bits == b->bits) return a->kind == QG_FLOATING && b->kind == QG_UNSIGNED;
    return a->kind != QG_FLOATING && b->kind != QG_FLOATING && !is_number(layout, f);
}

static void compare_field(const proof *p, const qg_field *f, const qg_member *m) {
    const char *name = p->c->name;
    if (offset_of(p, f) != m->offset) {
        qg_error(p->diag, f->loc, "field '%s' begins at byte %u, but in %s at byte %u: give both the same place",
                 f->name, offset_of(p, f), name, m->offset);
    } else if (field_bytes(f) != m->bytes) {
        qg_error(p->diag, f->loc, "field '%s' has %u bytes, but in %s %u: give both the same size", f->name,
                 field_bytes(f), name, m->bytes);
    } else if (!f->spare && !types_agree(p->layout, f, m)) {
        qg_error(p->diag, f->loc, "field '%s' is of type %s, but in %s of type %s: give both the same type", f->name,
                 qg_scalars[f->type].name, name, qg_scalars[m->type].name);
    } else {
        return;
    }
    qg_note(p->diag, m->loc, "'%s' is here, of type %s", m->path, m->c_type);
}

static void compare_fields(proof *p) {
    for (uint32_t i = p->first; i < p->layout->n_fields; ++i) {
        const qg_field *f = &p->layout->fields[i];
        const char *name = member_name(p, f->name);
        const qg_member *m = p->matches[i] = find_member(p->c, name);
        if (m) {
            compare_field(p, f, m);
            continue;
        }
        if (f->spare) continue; /* padding has no name in C */
        qg_error(p->diag, f->loc, "%s has no member '%s': name the field as the header does, or say --rename %s=MEMBER",
                 p->c->name, name, f->name);
        const qg_member *there = member_at(p->c, offset_of(p, f), field_bytes(f));
        if (there)
            qg_note(p->diag, there->loc, "'%s' has the bytes of field '%s'", there->path, f->name);
        else
            qg_note(p->diag, p->c->loc, "%s is here", p->c->name);
    }
}

static void mark(bool *known, uint32_t bytes, uint32_t from, uint32_t to) {
    for (uint32_t i = from; i < to && i < bytes; ++i) known[i] = true;
}

/* Bytes of the struct that the specification accounts for: those of members that fields are matched with, of spare
 * fields, and of fields without a member where a member of another name has exactly their bytes. */
static bool *accounted(const proof *p) {
    bool *known = QG_NEW_ARRAY(p->diag->arena, bool, p->c->bytes);
    for (uint32_t i = p->first; i < p->layout->n_fields; ++i) {
        const qg_field *f = &p->layout->fields[i];
        const uint32_t from = offset_of(p, f), end = from + field_bytes(f);
        const qg_member *m = p->matches[i] ? p->matches[i] : member_at(p->c, from, end - from);
        if (m) mark(known, p->c->bytes, m->offset, end_of(m));
        if (f->spare) mark(known, p->c->bytes, from, end);
    }
    return known;
}

/* Members that the specification leaves out. Another view of the bytes of a union is none. */
static void find_extra(const proof *p) {
    const bool *known = accounted(p);
    for (uint32_t i = 0; i < p->c->n_members; ++i) {
        const qg_member *m = &p->c->members[i];
        uint32_t at = m->offset;
        while (at < end_of(m) && known[at]) ++at;
        if (m->alternative || at == end_of(m)) continue;
        qg_error(p->diag, p->layout->spec->block_loc,
                 "no field is named '%s', a member of %s: add the field at byte %u, or a spare one", m->name,
                 p->c->name, m->offset);
        qg_note(p->diag, m->loc, "'%s' is here, of type %s", m->path, m->c_type);
    }
}

static void check_renames(const proof *p) {
    for (uint32_t i = 0; i < p->renames->count; ++i) {
        const char *item = p->renames->items[i];
        const size_t length = strcspn(item, "=");
        bool found = false;
        for (uint32_t f = p->first; f < p->layout->n_fields; ++f) {
            const char *name = p->layout->fields[f].name;
            found |= item[length] && strlen(name) == length && strncmp(name, item, length) == 0;
        }
        if (!found)
            qg_error(p->diag, p->layout->spec->block_loc,
                     "--rename takes FIELD=MEMBER with a field of this block, and '%s' is not that", item);
    }
}

bool qg_struct_agrees(qg_diag *diag, const qg_layout *layout, const qg_struct *c, const qg_texts *renames) {
    const uint32_t before = diag->errors;
    const qg_loc block = layout->spec->block_loc;
    if (layout->n_buffers != 1) {
        qg_error(diag, block,
                 "%s keeps its blocks in %u buffers, and a struct describes one: check it without --struct",
                 layout->name, layout->n_buffers);
        return false;
    }
    proof p = {.diag = diag,
               .layout = layout,
               .c = c,
               .renames = renames,
               .matches = QG_NEW_ARRAY(diag->arena, const qg_member *, layout->n_fields),
               .first = layout->spec->n_header,
               .header = qg_header_bytes(&layout->buffers[0])};
    check_renames(&p);
    if (layout->block_bytes - p.header != c->bytes) {
        qg_error(diag, block, "a block of %s has %u bytes%s, but %s has %u: give both the same size", layout->name,
                 layout->block_bytes - p.header, p.first ? " behind the row's header" : "", c->name, c->bytes);
        qg_note(diag, c->loc, "%s is here", c->name);
    }
    compare_fields(&p);
    find_extra(&p);
    return diag->errors == before;
}
