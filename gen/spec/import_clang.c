/* Reading a C struct with libclang, into the flat list of members that import.c works on. */
#include "spec/import.h"
#include "spec/lex.h"

#include <string.h>

#ifndef QKGEN_LIBCLANG

const qg_struct *qg_struct_read(qg_arena *arena, qg_diag *diag, const char *header, const char *name,
                                const qg_texts *arguments) {
    (void)arena, (void)header, (void)name, (void)arguments;
    qg_error(diag, (qg_loc){0},
             "this qkgen was built without libclang, which reads C structs: install it (Debian, Ubuntu: package "
             "libclang-dev) and configure again");
    return NULL;
}

#else

#include <clang-c/Index.h>
#include <ctype.h>
#include <dlfcn.h>

enum { MOST_BYTES = 1 << 20, MOST_SOURCE = 64 << 20, NAMES_SHOWN = 8 };

/* The functions of libclang that are called here. It is loaded when a header is read: it brings a whole compiler along,
 * with which every other command would start slowly. */
/* clang-format off */
#define FUNCTIONS(F)                                                                                                 \
    F(createIndex) F(disposeIndex) F(parseTranslationUnit2) F(disposeTranslationUnit) F(getNumDiagnostics)           \
    F(getDiagnostic) F(disposeDiagnostic) F(getDiagnosticSeverity) F(getDiagnosticSpelling) F(getDiagnosticLocation) \
    F(getTranslationUnitCursor) F(visitChildren) F(getCursorKind) F(getCursorSpelling) F(getCursorType)              \
    F(getCursorLocation) F(isCursorDefinition) F(getCanonicalType) F(getTypeDeclaration) F(getTypeSpelling)          \
    F(getTypedefDeclUnderlyingType) F(getEnumDeclIntegerType) F(getElementType) F(getNumElements)                    \
    F(Type_getNamedType) F(Type_getSizeOf) F(Type_visitFields) F(Cursor_getOffsetOfField) F(Cursor_isBitField)       \
    F(getExpansionLocation) F(Location_isInSystemHeader) F(getFileName) F(getCString) F(disposeString)
/* clang-format on */

typedef struct clang {
#define F(name) __typeof__(&clang_##name) name;
    FUNCTIONS(F)
#undef F
} clang;

typedef struct reader {
    qg_arena *arena;
    qg_diag *diag;
    clang api;
    CXTranslationUnit unit;
    const char *wanted;
    CXCursor found; /* the struct or a typedef of it */
    bool is_found;
    qg_texts known; /* names of structs, when none is the wanted */
    qg_struct *c;
    uint32_t capacity;
    uint32_t n_sources, sources_capacity;
    const qg_source **sources;
} reader;

static const char *load(qg_arena *arena, clang *api) {
    void *library = dlopen(QKGEN_LIBCLANG, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return qg_format(arena, "cannot load libclang (%s): install it (Debian, Ubuntu: package libclang-dev)",
                         dlerror());
    void *symbol;
    /* ISO C has no conversion from object to function pointers; POSIX promises this one. */
#define F(name)                                                                                                        \
    symbol = dlsym(library, "clang_" #name);                                                                           \
    if (!symbol) return QKGEN_LIBCLANG " has no clang_" #name ": install version 14 or newer (package libclang-dev)";  \
    memcpy(&api->name, &symbol, sizeof symbol);
    FUNCTIONS(F)
#undef F
    return NULL;
}

/* A copy of a text of libclang, which is released. */
static const char *take(reader *r, CXString string) {
    const char *text = r->api.getCString(string);
    const char *copy = text ? qg_strndup(r->arena, text, strlen(text)) : "";
    r->api.disposeString(string);
    return copy;
}

/* ---- places ---- */

static const qg_source *source_of(reader *r, const char *path) {
    for (uint32_t i = 0; i < r->n_sources; ++i)
        if (strcmp(r->sources[i]->path, path) == 0) return r->sources[i];
    const char *why;
    qg_source *source = QG_NEW(r->arena, qg_source);
    source->path = path;
    source->text = qg_read_file(r->arena, path, MOST_SOURCE, &source->length, &why);
    if (!source->text) *source = (qg_source){path, "", 0};
    const qg_source *item = source;
    QG_PUSH(r->arena, r->sources, r->n_sources, r->sources_capacity, item);
    return item;
}

static qg_loc place(reader *r, CXSourceLocation location, size_t length) {
    CXFile file = NULL;
    unsigned line = 0, column = 0;
    r->api.getExpansionLocation(location, &file, &line, &column, NULL);
    if (!file) return (qg_loc){.source = source_of(r, r->c->header)};
    return (qg_loc){source_of(r, take(r, r->api.getFileName(file))), line, column, (uint32_t)(length ? length : 1)};
}

static qg_loc place_of(reader *r, CXCursor cursor) {
    const char *name = take(r, r->api.getCursorSpelling(cursor));
    const size_t length = strcspn(name, " (");
    return place(r, r->api.getCursorLocation(cursor), name[length] ? 1 : length);
}

/* ---- types ---- */

/* What a type is in a specification: a scalar, and how many. `why` says why it is none. */
typedef struct shape {
    qg_scalar type;
    bool exact, is_array;
    uint64_t count;
    const char *why;
} shape;

/* Whether a name has the part at the beginning of a word: some_half, __fp16, BigFloat16, but not buf16. */
static bool has_word(const char *name, const char *part) {
    const size_t length = strlen(part);
    for (const char *at = name; *at; ++at) {
        if (at > name && isalpha((unsigned char)at[-1]) && !isupper((unsigned char)*at)) continue;
        size_t i = 0;
        while (i < length && tolower((unsigned char)at[i]) == part[i]) ++i;
        if (i == length) return true;
    }
    return false;
}

/* Half precision has no type in plain C: headers name an integer or a struct of 2 bytes, `half`, and pairs of it. */
static qg_scalar float_by_name(const char *name) {
    static const struct {
        const char *word;
        qg_scalar type;
    } words[] = {{"bf16", QG_BF16}, {"bfloat", QG_BF16}, {"half", QG_F16},
                 {"fp16", QG_F16},  {"f16", QG_F16},     {"float16", QG_F16}};
    if (strpbrk(name, "(<")) return QG_SCALAR_COUNT; /* "(unnamed at ...)", a template: no name */
    for (size_t i = 0; i < sizeof words / sizeof *words; ++i)
        if (has_word(name, words[i].word)) return words[i].type;
    return QG_SCALAR_COUNT;
}

static bool is_integer(enum CXTypeKind kind) { return kind >= CXType_Bool && kind <= CXType_Int128; }

/* By the name of the declaration, else by that of a using-declaration in between. */
static qg_scalar float_of_name(reader *r, CXType type) {
    const qg_scalar declared = float_by_name(take(r, r->api.getCursorSpelling(r->api.getTypeDeclaration(type))));
    if (declared != QG_SCALAR_COUNT) return declared;
    const char *written = take(r, r->api.getTypeSpelling(type)), *colon = strrchr(written, ':');
    return float_by_name(colon ? colon + 1 : written);
}

static bool named_float(reader *r, CXType type, shape *s) {
    const CXType plain = r->api.getCanonicalType(type);
    const long long bytes = r->api.Type_getSizeOf(type);
    if (plain.kind == CXType_ConstantArray || bytes < 2 || bytes > (plain.kind == CXType_Record ? 4 : 8) || bytes % 2)
        return false;
    if (plain.kind == CXType_Float || plain.kind == CXType_Double) return false;
    const qg_scalar scalar = float_of_name(r, type);
    if (scalar == QG_SCALAR_COUNT) return false;
    s->type = scalar;
    s->exact = true;
    s->count *= (uint64_t)bytes / 2;
    s->is_array |= bytes > 2;
    return true;
}

static qg_scalar scalar_of(qg_scalar_kind kind, uint64_t bits) {
    for (uint32_t i = 0; i < QG_SCALAR_COUNT; ++i)
        if (qg_scalars[i].kind == kind && qg_scalars[i].bits == bits) return (qg_scalar)i;
    return QG_SCALAR_COUNT;
}

/* An integer, or what has its size: 64 bits are two words of 32. */
static void integer_shape(reader *r, CXType type, shape *s) {
    const bool is_signed = type.kind >= CXType_Char_S;
    const uint64_t bits = 8 * (uint64_t)r->api.Type_getSizeOf(type);
    s->type = scalar_of(is_signed ? QG_SIGNED : QG_UNSIGNED, bits);
    s->exact = s->type != QG_SCALAR_COUNT;
    if (!s->exact) s->type = scalar_of(QG_UNSIGNED, bits);
    if (s->type != QG_SCALAR_COUNT) return;
    s->type = QG_U32;
    s->count *= bits / 32;
    s->is_array = true;
}

static void plain_shape(reader *r, CXType type, shape *s) {
    s->exact = true;
    if (is_integer(type.kind))
        integer_shape(r, type, s);
    else if (type.kind == CXType_Enum)
        integer_shape(r, r->api.getCanonicalType(r->api.getEnumDeclIntegerType(r->api.getTypeDeclaration(type))), s);
    else if (type.kind == CXType_Half || type.kind == CXType_Float16)
        s->type = QG_F16;
    else if (type.kind == CXType_BFloat16)
        s->type = QG_BF16;
    else if (type.kind == CXType_Float)
        s->type = QG_F32;
    else
        s->why = "is neither an integer nor a float of at most 32 bits";
}

/* A struct inside of an array: a specification has no arrays of structs, so these are bytes. */
static void bytes_shape(reader *r, CXType type, shape *s) {
    s->type = QG_U8;
    s->exact = false;
    s->count *= (uint64_t)r->api.Type_getSizeOf(type);
}

/* Through typedefs and arrays, of arrays too, to the scalar. */
static shape shape_of(reader *r, CXType type) {
    shape s = {.type = QG_U8, .count = 1};
    for (;;) {
        if (named_float(r, type, &s)) return s;
        if (type.kind == CXType_Typedef) {
            type = r->api.getTypedefDeclUnderlyingType(r->api.getTypeDeclaration(type));
        } else if (type.kind == CXType_Elaborated) {
            type = r->api.Type_getNamedType(type);
        } else if (type.kind == CXType_ConstantArray || type.kind == CXType_Vector || type.kind == CXType_ExtVector) {
            s.count *= (uint64_t)r->api.getNumElements(type);
            s.is_array = true;
            type = r->api.getElementType(type);
        } else {
            break;
        }
    }
    type = r->api.getCanonicalType(type);
    if (type.kind == CXType_Record)
        bytes_shape(r, type, &s);
    else
        plain_shape(r, type, &s);
    return s;
}

/* ---- members ---- */

/* A struct or union on the way through its fields. */
typedef struct walk {
    reader *r;
    uint32_t base; /* byte of the outermost struct */
    const char *path;
    bool is_union, failed;
    bool has_view; /* of a union: the member taken so far */
    bool view_is_struct;
    long long view_bytes;
    uint32_t view, view_end; /* its members */
} walk;

static bool walk_record(reader *r, CXType type, uint32_t base, const char *path);

/* Of a union, keeps the larger view, and of equals the first struct; the other's members become alternatives. */
static void choose_view(walk *w, CXType type, uint32_t begin) {
    const bool is_struct = w->r->api.getCanonicalType(type).kind == CXType_Record;
    const long long bytes = w->r->api.Type_getSizeOf(type);
    const bool better =
        !w->has_view || bytes > w->view_bytes || (bytes == w->view_bytes && is_struct && !w->view_is_struct);
    const uint32_t end = w->r->c->n_members;
    const uint32_t from = better ? w->view : begin, to = better ? w->view_end : end;
    for (uint32_t i = from; i < to; ++i) w->r->c->members[i].alternative = true;
    if (!better) return;
    w->has_view = true;
    w->view_is_struct = is_struct;
    w->view_bytes = bytes;
    w->view = begin;
    w->view_end = end;
}

static bool add_member(reader *r, CXCursor field, CXType type, uint32_t offset, const char *path) {
    const shape s = shape_of(r, type);
    const char *name = take(r, r->api.getCursorSpelling(field));
    const qg_loc loc = place_of(r, field);
    qg_member m = {.name = name, .path = path, .loc = loc, .type = s.type, .exact = s.exact, .is_array = s.is_array};
    m.c_type = take(r, r->api.getTypeSpelling(type));
    if (s.why) {
        qg_error(r->diag, loc, "'%s' is of type %s, which %s: no specification has such a field", path, m.c_type,
                 s.why);
        return false;
    }
    m.count = (uint32_t)s.count; /* the struct has at most MOST_BYTES */
    m.offset = offset;
    m.bytes = m.count * (qg_scalars[s.type].bits / 8);
    if (m.bytes) QG_PUSH(r->arena, r->c->members, r->c->n_members, r->capacity, m);
    return true;
}

static bool is_record(reader *r, CXType type) {
    shape s = {.count = 1};
    return r->api.getCanonicalType(type).kind == CXType_Record && !named_float(r, type, &s);
}

static bool walk_field(walk *w, CXCursor field) {
    reader *r = w->r;
    const CXType type = r->api.getCursorType(field);
    const char *name = take(r, r->api.getCursorSpelling(field));
    if (strchr(name, '(')) name = ""; /* how newer versions call what has no name */
    const char *path = !*name ? w->path : *w->path ? qg_format(r->arena, "%s.%s", w->path, name) : name;
    if (r->api.Cursor_isBitField(field)) {
        qg_error(r->diag, place_of(r, field),
                 "'%s' is a bit-field, whose place in its bytes is the compiler's choice: declare the whole bytes, and "
                 "take the bits in a code",
                 path);
        return false;
    }
    const long long offset = r->api.Cursor_getOffsetOfField(field), bytes = r->api.Type_getSizeOf(type);
    if (offset < 0 || bytes < 0) {
        qg_error(r->diag, place_of(r, field), "'%s' has no size of its own: give it one", path);
        return false;
    }
    const uint32_t begin = r->c->n_members, at = w->base + (uint32_t)(offset / 8);
    if (is_record(r, type) ? !walk_record(r, type, at, path) : !add_member(r, field, type, at, path)) return false;
    if (w->is_union) choose_view(w, type, begin);
    return true;
}

static enum CXVisitorResult visit_field(CXCursor field, CXClientData data) {
    walk *w = data;
    w->failed = !walk_field(w, field);
    return w->failed ? CXVisit_Break : CXVisit_Continue;
}

static enum CXChildVisitResult visit_bases(CXCursor cursor, CXCursor parent, CXClientData data) {
    (void)parent;
    walk *w = data;
    if (w->r->api.getCursorKind(cursor) != CXCursor_CXXBaseSpecifier) return CXChildVisit_Continue;
    qg_error(w->r->diag, place(w->r, w->r->api.getCursorLocation(cursor), 1),
             "the struct has a base class: declare its members in the struct itself");
    w->failed = true;
    return CXChildVisit_Break;
}

static bool walk_record(reader *r, CXType type, uint32_t base, const char *path) {
    const CXCursor declaration = r->api.getTypeDeclaration(r->api.getCanonicalType(type));
    const bool is_union = r->api.getCursorKind(declaration) == CXCursor_UnionDecl;
    walk w = {.r = r, .base = base, .path = path, .is_union = is_union};
    r->api.visitChildren(declaration, visit_bases, &w);
    if (!w.failed) r->api.Type_visitFields(r->api.getCanonicalType(type), visit_field, &w);
    return !w.failed;
}

/* Members that share a name get those of the structs around them in front. */
static void separate_names(reader *r) {
    qg_struct *c = r->c;
    const char **names = QG_NEW_ARRAY(r->arena, const char *, c->n_members + 1);
    for (uint32_t i = 0; i < c->n_members; ++i) {
        bool shared = false;
        for (uint32_t j = 0; j < c->n_members; ++j)
            shared |= j != i && strcmp(c->members[i].name, c->members[j].name) == 0;
        char *whole = qg_strndup(r->arena, c->members[i].path, strlen(c->members[i].path));
        for (char *dot = whole; shared && (dot = strchr(dot, '.'));) *dot = '_';
        names[i] = shared ? whole : c->members[i].name;
    }
    for (uint32_t i = 0; i < c->n_members; ++i) c->members[i].name = names[i];
}

/* ---- the struct ---- */

static bool names_struct(reader *r, CXCursor cursor) {
    const enum CXCursorKind kind = r->api.getCursorKind(cursor);
    const bool declares = kind == CXCursor_StructDecl || kind == CXCursor_UnionDecl || kind == CXCursor_ClassDecl ||
                          kind == CXCursor_TypedefDecl || kind == CXCursor_TypeAliasDecl;
    return declares && r->api.getCanonicalType(r->api.getCursorType(cursor)).kind == CXType_Record;
}

static void remember(reader *r, CXCursor cursor, const char *name) {
    if (!*name || strchr(name, '(') || r->api.Location_isInSystemHeader(r->api.getCursorLocation(cursor))) return;
    for (uint32_t i = 0; i < r->known.count; ++i)
        if (strcmp(r->known.items[i], name) == 0) return;
    QG_PUSH(r->arena, r->known.items, r->known.count, r->known.capacity, name);
}

/* Finds the wanted name at file scope, and in namespaces and linkage blocks. A typedef is better than a struct, which
 * newer versions call by the typedef's name when it has none, and a definition is better than a declaration. */
static enum CXChildVisitResult visit_declaration(CXCursor cursor, CXCursor parent, CXClientData data) {
    (void)parent;
    reader *r = data;
    const enum CXCursorKind kind = r->api.getCursorKind(cursor);
    if (kind == CXCursor_Namespace || kind == CXCursor_LinkageSpec || kind == CXCursor_UnexposedDecl)
        return CXChildVisit_Recurse;
    if (!names_struct(r, cursor)) return CXChildVisit_Continue;
    const char *name = take(r, r->api.getCursorSpelling(cursor));
    remember(r, cursor, name);
    if (strcmp(name, r->wanted) != 0) return CXChildVisit_Continue;
    const bool is_typedef = kind == CXCursor_TypedefDecl || kind == CXCursor_TypeAliasDecl;
    if (!r->is_found || is_typedef || r->api.isCursorDefinition(cursor)) r->found = cursor;
    r->is_found = true;
    return is_typedef ? CXChildVisit_Break : CXChildVisit_Continue;
}

static void report_missing(reader *r) {
    qg_text text = qg_text_new(r->arena);
    for (uint32_t i = 0; i < r->known.count && i < NAMES_SHOWN; ++i)
        qg_text_printf(&text, "%s%s", i ? ", " : "it has ", r->known.items[i]);
    if (r->known.count > NAMES_SHOWN) qg_text_printf(&text, " and %u more", r->known.count - NAMES_SHOWN);
    if (r->known.count == 0) qg_text_puts(&text, "it has none; a macro may hide them, which -D after -- defines");
    qg_error(r->diag, (qg_loc){.source = source_of(r, r->c->header)}, "no struct is named %s here: %s", r->wanted,
             text.data);
}

static bool read_struct(reader *r) {
    r->api.visitChildren(r->api.getTranslationUnitCursor(r->unit), visit_declaration, r);
    if (!r->is_found) {
        report_missing(r);
        return false;
    }
    const CXType type = r->api.getCursorType(r->found);
    const long long bytes = r->api.Type_getSizeOf(type);
    r->c->loc = place_of(r, r->found);
    if (bytes < 0) {
        qg_error(r->diag, r->c->loc, "%s is declared, but not defined: include the header that defines it", r->wanted);
        return false;
    }
    if (bytes == 0 || bytes > MOST_BYTES) {
        qg_error(r->diag, r->c->loc, "%s has %lld bytes, and a block has 1 to %d", r->wanted, bytes, MOST_BYTES);
        return false;
    }
    r->c->bytes = (uint32_t)bytes;
    if (!walk_record(r, type, 0, "")) return false;
    separate_names(r);
    return true;
}

/* What clang finds wrong, as errors of ours. */
static bool report_problems(reader *r) {
    bool good = true;
    for (unsigned i = 0; i < r->api.getNumDiagnostics(r->unit); ++i) {
        CXDiagnostic diagnostic = r->api.getDiagnostic(r->unit, i);
        if (r->api.getDiagnosticSeverity(diagnostic) >= CXDiagnostic_Error) {
            const char *sentence = take(r, r->api.getDiagnosticSpelling(diagnostic));
            qg_error(r->diag, place(r, r->api.getDiagnosticLocation(diagnostic), 1), "clang: %s", sentence);
            good = false;
        }
        r->api.disposeDiagnostic(diagnostic);
    }
    const qg_loc header = {.source = source_of(r, r->c->header)};
    if (!good)
        qg_note(r->diag, header, "what the compiler needs to read this header, such as -I, -D or -x c++, follows --");
    return good;
}

static bool parse(reader *r, CXIndex index, const qg_texts *arguments) {
    const enum CXErrorCode code =
        r->api.parseTranslationUnit2(index, r->c->header, arguments->items, (int)arguments->count, NULL, 0,
                                     CXTranslationUnit_SkipFunctionBodies, &r->unit);
    if (code == CXError_Success) return report_problems(r);
    r->unit = NULL;
    qg_error(r->diag, (qg_loc){.source = source_of(r, r->c->header)},
             "clang cannot read this header (code %d): look at the arguments after --", (int)code);
    return false;
}

/* Without the namespaces: structs are found in all of them. */
static const char *unqualified(const char *name) {
    const char *colon = strrchr(name, ':');
    return colon ? colon + 1 : name;
}

const qg_struct *qg_struct_read(qg_arena *arena, qg_diag *diag, const char *header, const char *name,
                                const qg_texts *arguments) {
    reader *r = QG_NEW(arena, reader);
    *r = (reader){.arena = arena, .diag = diag, .wanted = unqualified(name), .c = QG_NEW(arena, qg_struct)};
    r->c->name = name;
    r->c->header = header;
    const char *why = NULL;
    size_t length;
    const qg_source file = {.path = header};
    if (!qg_read_file(arena, header, MOST_SOURCE, &length, &why)) {
        qg_error(diag, (qg_loc){.source = &file}, "%s", why);
        return NULL;
    }
    if ((why = load(arena, &r->api))) {
        qg_error(diag, (qg_loc){0}, "%s", why);
        return NULL;
    }
    CXIndex index = r->api.createIndex(0, 0);
    const bool good = parse(r, index, arguments) && read_struct(r);
    if (r->unit) r->api.disposeTranslationUnit(r->unit);
    r->api.disposeIndex(index);
    return good ? r->c : NULL;
}

#endif
