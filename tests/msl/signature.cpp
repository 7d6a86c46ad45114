// signature.cpp: what the MSL text says of its kernels, read by libclang: entry points, arguments, struct layouts. From
// this comes the text that is compiled behind the kernels: for each one a function that takes its arguments from an array,
// and the table that describes it. Nothing here knows who wrote the text. A library of its own, which is loaded when there is
// something to compile: libclang takes longer to load than most kernels run.
#include "internal.h"

#include <clang-c/Index.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>

namespace {

std::string text(CXString s) {
    const char *c = clang_getCString(s);
    std::string r = c ? c : "";
    clang_disposeString(s);
    return r;
}

std::string quoted(const std::string &s) {
    std::string r = "\"";
    for (char c : s) {
        if (c == '"' || c == '\\') r += '\\';
        r += c;
    }
    return r + "\"";
}

void children(CXCursor of, const std::function<void(CXCursor)> &f) {
    clang_visitChildren(
        of,
        [](CXCursor c, CXCursor, CXClientData data) {
            (*static_cast<const std::function<void(CXCursor)> *>(data))(c);
            return CXChildVisit_Continue;
        },
        const_cast<void *>(static_cast<const void *>(&f)));
}

// The texts of a declaration's "qkm ..." annotations.
std::vector<std::string> annotations(CXCursor of) {
    std::vector<std::string> r;
    children(of, [&](CXCursor c) {
        if (clang_getCursorKind(c) != CXCursor_AnnotateAttr) return;
        const std::string s = text(clang_getCursorSpelling(c));
        if (!s.compare(0, 4, "qkm ")) r.push_back(s.substr(4));
    });
    return r;
}

int line_of(CXCursor c) {
    unsigned line = 0;
    CXString file;
    clang_getPresumedLocation(clang_getCursorLocation(c), &file, &line, nullptr);
    clang_disposeString(file);
    return int(line);
}

std::string qualified(CXCursor c) {
    std::string r;
    for (; !clang_isTranslationUnit(clang_getCursorKind(c)) && !clang_Cursor_isNull(c);
         c = clang_getCursorSemanticParent(c)) {
        const std::string name = text(clang_getCursorSpelling(c));
        if (clang_getCursorKind(c) == CXCursor_LinkageSpec || name.empty()) continue;
        r = "::" + name + r;
    }
    return r;
}

const char *scalar_of(CXType type) {
    switch (type.kind) {
    case CXType_Bool: return "QK_MSL_BOOL";
    case CXType_Char_S:
    case CXType_SChar: return "QK_MSL_I8";
    case CXType_Char_U:
    case CXType_UChar: return "QK_MSL_U8";
    case CXType_Short: return "QK_MSL_I16";
    case CXType_UShort: return "QK_MSL_U16";
    case CXType_Int: return "QK_MSL_I32";
    case CXType_UInt: return "QK_MSL_U32";
    case CXType_Long:
    case CXType_LongLong: return "QK_MSL_I64";
    case CXType_ULong:
    case CXType_ULongLong: return "QK_MSL_U64";
    case CXType_Float16:
    case CXType_Half: return "QK_MSL_F16";
    case CXType_Float: return "QK_MSL_F32";
    default: return nullptr;
    }
}

struct described {
    std::string name, scalar = "QK_MSL_STRUCT";
    unsigned components = 1, atomic = 0, count = 1;
    long long bytes = 0, alignment = 1;
    CXType element; // of an array; else the type
    bool plain_struct = false;
};

described describe_type(CXType type) {
    described d;
    type = clang_getCanonicalType(type);
    d.name = text(clang_getTypeSpelling(clang_getUnqualifiedType(type)));
    d.bytes = clang_Type_getSizeOf(type);
    d.alignment = clang_Type_getAlignOf(type);
    while (type.kind == CXType_ConstantArray) {
        d.count *= unsigned(clang_getArraySize(type));
        type = clang_getCanonicalType(clang_getArrayElementType(type));
    }
    d.element = type;
    if (d.bytes < 0) d.bytes = 0;
    if (d.alignment < 1) d.alignment = 1;
    if (const char *s = scalar_of(type)) {
        d.scalar = s;
        return d;
    }
    if (type.kind == CXType_Enum) {
        if (const char *s =
                scalar_of(clang_getCanonicalType(clang_getEnumDeclIntegerType(clang_getTypeDeclaration(type)))))
            d.scalar = s;
        return d;
    }
    if (type.kind != CXType_Record) return d;
    const std::string name = text(clang_getTypeSpelling(clang_getUnqualifiedType(type)));
    auto starts = [&](const char *prefix) { return !name.compare(0, strlen(prefix), prefix); };
    if (name == "metal::bfloat") {
        d.scalar = "QK_MSL_BF16";
    } else if (starts("metal::vec<") || starts("metal::packed_vec<") || starts("metal::atomic<") ||
               starts("metal::matrix<")) {
        const CXType inner = clang_getCanonicalType(clang_Type_getTemplateArgumentAsType(type, 0));
        const described e = describe_type(inner);
        d.scalar = e.scalar;
        d.atomic = starts("metal::atomic<");
        // The numbers in the name: vec<float, 4>, matrix<float, 4, 4>.
        for (size_t at = name.find(','); at != std::string::npos; at = name.find(',', at + 1))
            d.components *= unsigned(atoi(name.c_str() + at + 1));
    } else {
        d.plain_struct = true;
    }
    return d;
}

std::string type_text(const described &d) {
    char tail[256];
    snprintf(tail, sizeof tail, ", %s, %u, %u, %u, %lld, %lld}", d.scalar.c_str(), d.components, d.atomic, d.count,
             d.bytes, d.alignment);
    return "{" + quoted(d.name) + tail;
}

const char *const attribute_names[] = {"thread_position_in_grid",      "thread_position_in_threadgroup",
                                       "threadgroup_position_in_grid", "threads_per_grid",
                                       "threads_per_threadgroup",      "dispatch_threads_per_threadgroup",
                                       "threadgroups_per_grid",        "thread_index_in_threadgroup",
                                       "thread_index_in_simdgroup",    "simdgroup_index_in_threadgroup",
                                       "simdgroups_per_threadgroup",   "threads_per_simdgroup",
                                       "thread_index_in_quadgroup",    "quadgroup_index_in_threadgroup",
                                       "quadgroups_per_threadgroup"};
static_assert(sizeof attribute_names / sizeof *attribute_names == QKM_BUILTINS, "one name for each attribute");

int attribute_number(const std::string &name) {
    if (name == "thread_execution_width") return QKM_threads_per_simdgroup;
    if (name == "grid_size") return QKM_threads_per_grid;
    if (name == "dispatch_simdgroups_per_threadgroup") return QKM_simdgroups_per_threadgroup;
    if (name == "dispatch_quadgroups_per_threadgroup") return QKM_quadgroups_per_threadgroup;
    for (int i = 0; i < QKM_BUILTINS; ++i)
        if (name == attribute_names[i]) return i;
    return -1;
}

struct writer {
    bool bodies; // have been read: then a declaration alone is known from a definition
    std::string fields, arguments, kernels, entries, entry_list, constants;
    unsigned kernel_count = 0, constant_count = 0;

    void kernel(const std::string &host, const std::string &callee, CXCursor function,
                const std::vector<std::string> &notes) {
        const std::string n = std::to_string(kernel_count);
        unsigned max_threads = 0;
        for (const std::string &s : notes)
            if (!s.compare(0, 35, "max_total_threads_per_threadgroup("))
                max_threads = unsigned(atoi(s.c_str() + 34));
            else if (size_t at = s.find("max_total_threads_per_threadgroup("); at != std::string::npos)
                max_threads = unsigned(atoi(s.c_str() + at + 34));
        const CXCursor pattern = clang_getSpecializedCursorTemplate(function);
        const int count = clang_Cursor_getNumArguments(function);
        std::vector<CXCursor> written; // the template's parameters, where an instantiation has lost something
        if (!clang_Cursor_isNull(pattern))
            children(pattern, [&](CXCursor c) {
                if (clang_getCursorKind(c) == CXCursor_ParmDecl) written.push_back(c);
            });
        std::vector<bool> used(64, false);
        auto parse_index = [](const std::string &s) {
            const size_t at = s.find('(');
            return at == std::string::npos || !isdigit((unsigned char)s[at + 1]) ? -1 : atoi(s.c_str() + at + 1);
        };
        std::string list, what;
        struct parameter {
            CXCursor cursor;
            std::vector<std::string> notes;
        };
        std::vector<parameter> all;
        for (int i = 0; i < count; ++i) {
            CXCursor c = clang_Cursor_getArgument(function, unsigned(i));
            std::vector<std::string> a = annotations(c);
            if (a.empty() && size_t(i) < written.size()) a = annotations(written[size_t(i)]);
            for (const std::string &s : a)
                if (s.find(" buffer(") != std::string::npos && parse_index(s) >= 0 && parse_index(s) < 64)
                    used[size_t(parse_index(s))] = true;
            all.push_back(
                {size_t(i) < written.size() && text(clang_getCursorSpelling(c)).empty() ? written[size_t(i)] : c, a});
        }
        for (int i = 0; i < count; ++i) {
            const CXType type =
                clang_getCanonicalType(clang_getCursorType(clang_Cursor_getArgument(function, unsigned(i))));
            const bool reference = type.kind == CXType_LValueReference, pointer = type.kind == CXType_Pointer;
            const CXType pointee = reference || pointer ? clang_getPointeeType(type) : type;
            const described d = describe_type(pointee);
            std::string space, attribute, kind = "QK_MSL_UNSUPPORTED";
            int index = 0, number = -1;
            bool optional = false;
            for (const std::string &s : all[size_t(i)].notes) {
                const size_t blank = s.find(' ');
                if (blank == std::string::npos) continue;
                const std::string rest = s.substr(blank + 1), name = rest.substr(0, rest.find('('));
                if (s[0] != '-') space = s.substr(0, blank);
                if (name == "buffer" && (pointer || reference) && parse_index(rest) >= 0)
                    kind = "QK_MSL_BUFFER", index = parse_index(rest);
                else if (name == "threadgroup" && (pointer || reference) && parse_index(rest) >= 0)
                    kind = "QK_MSL_THREADGROUP", index = parse_index(rest);
                else if (name == "function_constant")
                    optional = true;
                else if ((number = attribute_number(name)) >= 0)
                    kind = "QK_MSL_ATTRIBUTE", attribute = name;
                else
                    attribute = rest;
            }
            if (all[size_t(i)].notes.empty() && (pointer || reference)) { // the first index that nobody names
                while (index < 63 && used[size_t(index)]) ++index;
                used[size_t(index)] = true;
                kind = "QK_MSL_BUFFER";
            }
            std::string field_list = "0";
            unsigned field_count = 0;
            if (d.plain_struct && (pointer || reference)) {
                std::string rows;
                children(clang_getTypeDeclaration(d.element), [&](CXCursor f) {
                    if (clang_getCursorKind(f) != CXCursor_FieldDecl) return;
                    rows += "    {" + quoted(text(clang_getCursorSpelling(f))) + ", " +
                            std::to_string(clang_Cursor_getOffsetOfField(f) / 8) + ", " +
                            type_text(describe_type(clang_getCursorType(f))) + "},\n";
                    ++field_count;
                });
                // A specialisation's fields are not its declaration's children: ask the type.
                if (!field_count) {
                    struct data {
                        std::string *rows;
                        unsigned *count;
                    } state{&rows, &field_count};
                    clang_Type_visitFields(
                        d.element,
                        [](CXCursor f, CXClientData p) {
                            const data *s = static_cast<const data *>(p);
                            *s->rows += "    {" + quoted(text(clang_getCursorSpelling(f))) + ", " +
                                        std::to_string(clang_Cursor_getOffsetOfField(f) / 8) + ", " +
                                        type_text(describe_type(clang_getCursorType(f))) + "},\n";
                            ++*s->count;
                            return CXVisit_Continue;
                        },
                        &state);
                }
                if (field_count) {
                    field_list = "fields_" + n + "_" + std::to_string(i);
                    fields += "const qk_msl_field " + field_list + "[] = {\n" + rows + "};\n";
                }
            }
            list += "    {" + kind + ", " + std::to_string(index) + ", " +
                    quoted(text(clang_getCursorSpelling(all[size_t(i)].cursor))) + ", " + quoted(space) + ", " +
                    quoted(attribute) + ", " + std::to_string(reference) + ", " +
                    std::to_string(clang_isConstQualifiedType(pointee) != 0) + ", " + std::to_string(optional) + ", " +
                    type_text(d) + ", " + std::to_string(field_count) + ", " + field_list + ", " +
                    std::to_string(line_of(all[size_t(i)].cursor)) + "},\n";
            what += std::to_string(number) + ", ";
        }
        arguments += "const qk_msl_argument arguments_" + n + "[] = {\n" + list + "    {QK_MSL_UNSUPPORTED}};\n";
        kernels += "    {" + quoted(host) + ", " + std::to_string(line_of(function)) + ", " +
                   std::to_string(max_threads) + ", " + std::to_string(count) + ", arguments_" + n + "},\n";
        entries += "constexpr int what_" + n + "[] = {" + what + "-1};\nQKM_GLUE void entry_" + n +
                   "(void *const *slots) { call(" + callee + ", slots, what_" + n + "); }\n";
        entry_list += "entry_" + n + ", ";
        ++kernel_count;
    }

    // A definition; without bodies, what is declared for the first time, and is no instance of a template.
    bool is_whole(CXCursor function) const {
        if (bodies) return clang_isCursorDefinition(function);
        return clang_equalCursors(function, clang_getCanonicalCursor(function)) &&
               clang_Cursor_isNull(clang_getSpecializedCursorTemplate(function));
    }

    void walk(CXCursor of) {
        children(of, [&](CXCursor c) {
            const CXCursorKind kind = clang_getCursorKind(c);
            if (kind == CXCursor_Namespace || kind == CXCursor_LinkageSpec || kind == CXCursor_UnexposedDecl) {
                if (kind == CXCursor_Namespace && text(clang_getCursorSpelling(c)) == "metal") return;
                walk(c);
            } else if (kind == CXCursor_FunctionDecl && is_whole(c)) {
                const std::vector<std::string> notes = annotations(c);
                std::string host;
                bool is_kernel = false;
                for (const std::string &s : notes) {
                    is_kernel |= s == "kernel" || s == "- kernel";
                    if (!s.compare(0, 10, "host_name ")) host = s.substr(10);
                }
                if (is_kernel)
                    kernel(host.empty() ? text(clang_getCursorSpelling(c)) : host, "&" + qualified(c), c, notes);
            } else if (kind == CXCursor_VarDecl) {
                for (const std::string &s : annotations(c)) {
                    if (!s.compare(0, 5, "host ")) {
                        const CXCursor f = function_in(c);
                        if (clang_Cursor_isNull(f)) continue;
                        std::vector<std::string> notes = annotations(f);
                        const CXCursor pattern = clang_getSpecializedCursorTemplate(f);
                        if (notes.empty() && !clang_Cursor_isNull(pattern)) notes = annotations(pattern);
                        kernel(s.substr(5), qualified(c), f, notes);
                    } else if (!s.compare(0, 18, "function_constant ")) {
                        constants += "    {" + s.substr(18) + ", " + quoted(text(clang_getCursorSpelling(c))) + ", " +
                                     type_text(describe_type(clang_getCursorType(c))) + "},\n";
                        ++constant_count;
                    }
                }
            }
        });
    }

    static CXCursor function_in(CXCursor variable) {
        CXCursor found = clang_getNullCursor();
        std::function<void(CXCursor)> look = [&](CXCursor c) {
            if (clang_getCursorKind(c) == CXCursor_DeclRefExpr) {
                const CXCursor to = clang_getCursorReferenced(c);
                if (clang_getCursorKind(to) == CXCursor_FunctionDecl) found = to;
            }
            if (clang_isExpression(clang_getCursorKind(c))) children(c, look);
        };
        children(variable, look);
        return found;
    }
};

} // namespace

bool qkm_describe(const std::string &path, const std::string &source, const std::vector<std::string> &flags,
                  bool bodies, const std::string &executor_header, std::string *glue, qk_msl_error *error) {
    CXIndex index = clang_createIndex(1, 0); // what the precompiled header declares is of no concern
    std::vector<const char *> args;
    for (const std::string &f : flags) args.push_back(f.c_str());
    args.push_back("-ferror-limit=40");
    CXUnsavedFile file = {path.c_str(), source.data(), source.size()};
    CXTranslationUnit unit = nullptr;
    const CXErrorCode code =
        clang_parseTranslationUnit2(index, path.c_str(), args.data(), int(args.size()), &file, 1,
                                    bodies ? CXTranslationUnit_None : CXTranslationUnit_SkipFunctionBodies, &unit);
    std::string complaints;
    int first_line = 0;
    if (unit) {
        for (unsigned i = 0; i < clang_getNumDiagnostics(unit); ++i) {
            CXDiagnostic d = clang_getDiagnostic(unit, i);
            if (clang_getDiagnosticSeverity(d) >= CXDiagnostic_Error) {
                unsigned line = 0;
                CXString name;
                clang_getPresumedLocation(clang_getDiagnosticLocation(d), &name, &line, nullptr);
                if (!first_line) first_line = int(line);
                if (complaints.size() < 3000)
                    complaints +=
                        text(name) + ":" + std::to_string(line) + ": " + text(clang_getDiagnosticSpelling(d)) + "\n";
                else
                    clang_disposeString(name);
            }
            clang_disposeDiagnostic(d);
        }
    }
    bool ok = code == CXError_Success && unit && complaints.empty();
    if (!ok) {
        msl::fail(error, QK_MSL_ERROR_SOURCE, first_line, "%s",
                  complaints.empty() ? "libclang cannot read the text" : complaints.c_str());
    } else {
        writer w;
        w.bodies = bodies;
        w.walk(clang_getTranslationUnitCursor(unit));
        *glue = "\n# 1 \"kernel table\"\n#undef is_function_constant_defined\n#include \"" + executor_header + "\"\n" +
                R"(
#define QKM_GLUE __attribute__((no_sanitize("address", "undefined")))
namespace qkm_glue {
namespace {
template <class P> struct pass {
    QKM_GLUE static P get(void *, int which) { return P(qkm_attribute(which, 0)); }
};
template <class T, int N> struct pass<metal::vec<T, N>> {
    QKM_GLUE static metal::vec<T, N> get(void *, int which) {
        metal::vec<T, N> v;
        for (int i = 0; i < N; ++i) v.d[i] = i < 3 ? T(qkm_attribute(which, i)) : T(0);
        return v;
    }
};
template <class T> struct pass<T *> { QKM_GLUE static T *get(void *p, int) { return static_cast<T *>(p); } };
template <class T> struct pass<T &> { QKM_GLUE static T &get(void *p, int) { return *static_cast<T *>(p); } };
template <int... I> struct numbers {};
template <int N, int... I> struct count_up : count_up<N - 1, N - 1, I...> {};
template <int... I> struct count_up<0, I...> { using type = numbers<I...>; };
template <class... P, int... I> QKM_GLUE void call_with(void (*f)(P...), void *const *slots, const int *what, numbers<I...>) {
    f(pass<P>::get(slots[I], what[I])...);
}
template <class... P> QKM_GLUE void call(void (*f)(P...), void *const *slots, const int *what) {
    call_with(f, slots, what, typename count_up<int(sizeof...(P))>::type());
}
)" + w.entries + w.fields +
                w.arguments + "const qk_msl_kernel kernels[] = {\n" + w.kernels +
                "    {0}};\nvoid (*const entries[])(void *const *) = {" + w.entry_list + "0};\n" +
                "const qk_msl_constant constants[] = {\n" + w.constants + "    {0}};\n}\n}\n" +
                "struct qkm_table { unsigned kernel_count; const qk_msl_kernel *kernels; void (*const *entries)(void "
                "*const *); unsigned constant_count; "
                "const qk_msl_constant *constants; };\n"
                "extern \"C\" __attribute__((visibility(\"default\"))) const qkm_table qkm_the_table = {" +
                std::to_string(w.kernel_count) + ", qkm_glue::kernels, qkm_glue::entries, " +
                std::to_string(w.constant_count) + ", qkm_glue::constants};\n";
    }
    if (unit) clang_disposeTranslationUnit(unit);
    clang_disposeIndex(index);
    return ok;
}
