// text.cpp: the few rewritings that make MSL text C++ text. It works on tokens, after preprocessing, and keeps the lines.
//
//   1.0            1.0f                                 (1.0h: 1.0_h)
//   kernel         __attribute__((annotate("qkm kernel")))
//   [[buffer(0)]]  __attribute__((annotate("qkm device buffer(0)")))
//   device thread  nothing;  constant: const
//   threadgroup    nothing before a pointer or reference; a variable becomes static, in a section of its own
//   template [[host_name("N")]] kernel void f<A>(P);    a pointer to f<A>, annotated with N
//   constant T c [[function_constant(1)]];              a constant that takes its value when the object is loaded
//   a function defined twice, for two address spaces    once
#include "internal.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <set>

namespace {

struct token {
    enum { END, WORD, NUMBER, TEXT, MARK, LINE } kind;
    std::string space, text; // what stands before it, and itself
};

std::vector<token> lex(const std::string &s) {
    std::vector<token> out;
    size_t i = 0;
    std::string space;
    bool line_start = true;
    auto push = [&](decltype(token::kind) kind, size_t n) {
        out.push_back({kind, space, s.substr(i, n)});
        space.clear();
        i += n;
        line_start = false;
    };
    while (i < s.size()) {
        const char c = s[i];
        if (c == '\n' || isspace((unsigned char)c)) {
            if (c == '\n') line_start = true;
            space += c;
            ++i;
        } else if (c == '#' && line_start) {
            size_t end = s.find('\n', i);
            if (end == std::string::npos) end = s.size();
            const std::string line = s.substr(i, end - i);
            const bool pragma = line.find("pragma") != std::string::npos;
            if (!pragma || line.find("clang fp") != std::string::npos ||
                line.find("STDC FP_CONTRACT") != std::string::npos)
                push(token::LINE, end - i);
            else
                i = end;
        } else if (isalpha((unsigned char)c) || c == '_') {
            size_t n = 1;
            while (i + n < s.size() && (isalnum((unsigned char)s[i + n]) || s[i + n] == '_')) ++n;
            push(token::WORD, n);
        } else if (isdigit((unsigned char)c) || (c == '.' && i + 1 < s.size() && isdigit((unsigned char)s[i + 1]))) {
            size_t n = 1;
            while (i + n < s.size()) {
                const char d = s[i + n], p = s[i + n - 1];
                const bool hex = i + 1 < s.size() && (s[i + 1] == 'x' || s[i + 1] == 'X');
                if (isalnum((unsigned char)d) || d == '.' || d == '_')
                    ++n;
                else if ((d == '+' || d == '-') && (((p == 'e' || p == 'E') && !hex) || p == 'p' || p == 'P'))
                    ++n;
                else
                    break;
            }
            push(token::NUMBER, n);
        } else if (c == '"' || c == '\'') {
            size_t n = 1;
            while (i + n < s.size() && s[i + n] != c) n += s[i + n] == '\\' ? 2 : 1;
            push(token::TEXT, n + 1);
        } else {
            const bool two = !s.compare(i, 2, "::") || !s.compare(i, 2, "->");
            push(token::MARK, two ? 2 : 1);
        }
    }
    out.push_back({token::END, space, ""});
    return out;
}

std::string number(const std::string &s) {
    const bool hex = s.size() > 1 && (s[1] == 'x' || s[1] == 'X');
    const bool is_float =
        hex ? s.find_first_of("pP") != std::string::npos : s.find_first_of(".eE") != std::string::npos;
    const size_t n = s.size();
    auto ends = [&](const char *tail) {
        const size_t k = strlen(tail);
        return n > k && !s.compare(n - k, k, tail);
    };
    if (!hex && !is_float && (ends("h") || ends("H"))) return s.substr(0, n - 1) + ".0_h";
    if (!is_float) return s;
    if (ends("bf") || ends("BF")) return s.substr(0, n - 2) + "_bf";
    if (ends("h") || ends("H")) return s.substr(0, n - 1) + "_h";
    if (ends("f") || ends("F") || ends("l") || ends("L")) return s;
    return s + "f";
}

std::string quoted(const std::string &s) {
    std::string r = "\"";
    for (char c : s) {
        if (c == '"' || c == '\\') r += '\\';
        r += c;
    }
    return r + "\"";
}

std::string annotation(const std::string &s) { return " __attribute__((annotate(" + quoted("qkm " + s) + ")))"; }

struct rewriter {
    std::vector<token> t;
    std::string out;
    unsigned host_count = 0;

    bool is(size_t i, const char *text) const { return i < t.size() && t[i].text == text; }

    // The token that closes the bracket at i.
    size_t match(size_t i) const {
        int depth = 0;
        for (; i < t.size(); ++i) {
            if (t[i].kind != token::MARK) continue;
            if (strchr("([{", t[i].text[0])) ++depth;
            if (strchr(")]}", t[i].text[0]) && --depth == 0) return i;
        }
        return t.size() - 1;
    }
    static bool keeps_space(const std::string &w) {
        return w == "device" || w == "threadgroup" || w == "constant" || w == "thread";
    }

    std::string spaces(size_t from, size_t to) const { // newlines, so that lines stay
        std::string r;
        for (size_t i = from; i < to; ++i)
            for (char c : t[i].space)
                if (c == '\n') r += c;
        return r;
    }
    std::string plain(size_t from, size_t to) const {
        std::string r;
        for (size_t i = from; i < to; ++i) {
            if (t[i].kind == token::LINE) continue;
            if (!r.empty() && !t[i].space.empty()) r += ' ';
            r += t[i].text;
        }
        return r;
    }

    struct scope {
        char open;
        enum { NAMESPACE, CLASS, BODY, BRACKET } kind;
        size_t start; // of the statement within it
        std::string path;
    };
    std::vector<scope> scopes{{'{', scope::NAMESPACE, 0, ""}};
    std::set<std::string> seen;

    // One attribute list, [[ at i. Returns what replaces it; *end is behind it.
    std::string attributes(size_t i, size_t *end, const std::string &space, bool in_parameters) const {
        const size_t close = match(i);
        std::string r;
        for (size_t a = i + 2; a < close - 1;) {
            size_t b = a;
            for (; b < close - 1 && !is(b, ","); ++b)
                if (is(b, "(")) b = match(b);
            const std::string text = plain(a, b), name = t[a].text;
            if (is(a + 1, "::") || name == "nodiscard" || name == "maybe_unused" || name == "noreturn" ||
                name == "fallthrough" || name == "likely" || name == "unlikely")
                r += "[[" + text + "]]";
            else if (name == "host_name")
                r += annotation("host_name " + strings(a, b));
            else
                r += annotation(in_parameters ? (space.empty() ? "-" : space) + " " + text : text);
            a = b + 1;
        }
        *end = close + 1;
        return r;
    }
    std::string strings(size_t from, size_t to) const {
        std::string r;
        for (size_t i = from; i < to; ++i)
            if (t[i].kind == token::TEXT) r += t[i].text.substr(1, t[i].text.size() - 2);
        return r;
    }

    // template [[host_name("N")]] [kernel] R f<A>(P);  from `template` at i. False: not of this form.
    bool instantiation(size_t i, size_t *end) {
        size_t stop = i;
        while (stop < t.size() && !is(stop, ";") && t[stop].kind != token::END) {
            if (is(stop, "(") || is(stop, "[") || is(stop, "{")) stop = match(stop);
            ++stop;
        }
        std::string host;
        std::vector<token> rest;
        for (size_t k = i + 1; k < stop; ++k) {
            if (is(k, "[") && is(k + 1, "[")) {
                const size_t close = match(k);
                for (size_t a = k; a < close; ++a)
                    if (is(a, "host_name")) host = strings(a, match(a + 1));
                k = close;
            } else if (!is(k, "kernel")) {
                rest.push_back(t[k]);
            }
        }
        if (host.empty() || rest.empty()) return false;
        rewriter inner; // the same rewritings within what is left
        size_t last = rest.size(), parameters = rest.size();
        auto back = [&](size_t k, char open, char close) { // k is behind `close`; returns the place of `open`
            int depth = 0;
            while (k-- > 0) {
                const std::string &x = rest[k].text;
                if (x.size() == 1 && x[0] == close) ++depth;
                if (x.size() == 1 && x[0] == open && --depth == 0) return k;
                if (open == '<' && x == ")") {
                    int d = 0;
                    for (;; --k) {
                        if (rest[k].text == ")") ++d;
                        if (rest[k].text == "(" && --d == 0) break;
                        if (k == 0) break;
                    }
                }
            }
            return size_t(0);
        };
        if (rest[last - 1].text == ")") last = parameters = back(last, '(', ')');
        size_t name = last;
        if (name > 0 && rest[name - 1].text == ">") name = back(name, '<', '>');
        if (name > 0) --name;
        while (name >= 2 && rest[name - 1].text == "::") name -= 2;
        auto text = [&](size_t from, size_t to) {
            inner.t.assign(rest.begin() + long(from), rest.begin() + long(to));
            inner.t.push_back({token::END, "", ""});
            inner.out.clear();
            inner.scopes.assign(1, {'(', scope::BRACKET, 0, ""});
            inner.all();
            return inner.out;
        };
        const std::string pointer = "qkm_host_" + std::to_string(host_count++);
        const std::string mark = "__attribute__((used, annotate(" + quoted("qkm host " + host) + ")))";
        std::string r = t[i].space;
        if (parameters < rest.size())
            r += "static " + text(0, name) + " (*const " + pointer + ") " + text(parameters, rest.size()) + " " + mark +
                 " = " + text(name, last) + ";";
        else
            r += "static " + text(0, name) + " *const " + pointer + " " + mark + " = " + text(name, rest.size()) + ";";
        // Where the instantiation's own lines were joined, newlines follow.
        size_t have = 0, want = 0;
        for (char c : r) have += c == '\n';
        for (char c : t[i].space + spaces(i + 1, stop + 1)) want += c == '\n';
        out += r;
        for (; have < want; ++have) out += '\n';
        *end = stop + 1;
        return true;
    }

    // constant T name [[function_constant(N)]];  the statement starts at `start`, [[ is at i.
    bool function_constant(size_t start, size_t i, size_t *end) {
        if (!is(i + 2, "function_constant") || scopes.back().kind == scope::BRACKET || scopes.back().open != '{')
            return false;
        const size_t close = match(i);
        const std::string id = plain(i + 4, match(i + 3));
        std::string type;
        for (size_t k = start; k + 1 < i; ++k)
            if (!is(k, "constant") && !is(k, "static") && !is(k, "const") && t[k].kind != token::LINE)
                type += t[k].text + " ";
        const std::string name = t[i - 1].text;
        out.resize(statement_out);
        out += " static const unsigned qkm_number_of_" + name + " = " + id + "; static const " + type + name +
               " __attribute__((used, annotate(" + quoted("qkm function_constant " + id) +
               "))) = metal::qkm::function_constant<" + type + ">(" + id + ");" + spaces(start + 1, close + 2);
        *end = close + 2;
        return true;
    }
    size_t statement_out = 0; // where the present statement starts in `out` (after its leading space)

    // A threadgroup variable, rather than a pointer or reference into threadgroup memory.
    bool threadgroup_variable(size_t i) const {
        if (scopes.back().open != '{' || scopes.back().kind == scope::CLASS || scopes.back().kind == scope::NAMESPACE)
            return false;
        if (i > 0 && (is(i - 1, ")") || (is(i - 1, "const") && i > 1 && is(i - 2, ")")))) return false;
        int angle = 0;
        for (size_t k = i + 1; k < t.size(); ++k) {
            const std::string &x = t[k].text;
            if (x == "<") ++angle;
            if (x == ">") --angle;
            if (angle > 0) continue;
            if (x == "*" || x == "&") return false;
            if (x == ";" || x == "=" || x == "{" || x == "," || t[k].kind == token::END) return true;
            if (x == "(" || x == "[") k = match(k);
        }
        return true;
    }

    void all() {
        std::string space; // the last address space of this parameter
        for (size_t i = 0; i < t.size();) {
            const token &x = t[i];
            scope &s = scopes.back();
            size_t end = i;
            if (s.open == '{' && i == s.start) statement_out = out.size() + x.space.size();
            if (x.kind == token::NUMBER) {
                out += x.space + number(x.text);
                ++i;
            } else if (x.kind == token::MARK && x.text == "[" && is(i + 1, "[")) {
                if (function_constant(s.start, i, &end)) {
                    scopes.back().start = end;
                } else {
                    const std::string replaced = attributes(i, &end, space, s.open == '(');
                    out += x.space + replaced + spaces(i + 1, end);
                }
                i = end;
            } else if (x.text == "template" && !is(i + 1, "<") && s.open == '{' && i == s.start &&
                       instantiation(i, &end)) {
                i = end;
                scopes.back().start = i;
            } else if (x.kind == token::WORD) {
                if (keeps_space(x.text)) space = x.text;
                out += x.space;
                if (x.text == "kernel")
                    out += annotation("kernel");
                else if (x.text == "constant")
                    out += "const";
                else if (x.text == "threadgroup" && threadgroup_variable(i))
                    out += "static __attribute__((used, section(\"qkm_threadgroup\"), aligned(16)))";
                else if (x.text == "device" || x.text == "thread" || x.text == "threadgroup" || x.text == "vertex" ||
                         x.text == "fragment" || x.text == "threadgroup_imageblock" || x.text == "ray_data" ||
                         x.text == "object_data") {
                } else
                    out += x.text;
                ++i;
            } else if (x.kind == token::LINE) {
                out += x.space + x.text;
                if (i == s.start) s.start = i + 1;
                ++i;
            } else if (x.kind == token::MARK) {
                const char c = x.text[0];
                if (x.text.size() == 1 && c == '{') {
                    if (open_brace(i, &end)) {
                        i = end;
                        continue;
                    }
                } else if (x.text.size() == 1 && (c == '(' || c == '[')) {
                    scopes.push_back({c, scope::BRACKET, 0, ""});
                    space.clear();
                }
                out += x.space + x.text;
                if (x.text.size() == 1 && strchr(")]}", c) && scopes.size() > 1) {
                    const bool brace = scopes.back().open == '{';
                    scopes.pop_back();
                    if (brace || c == '}') scopes.back().start = i + 1;
                }
                if (c == ';' || (c == ':' && x.text.size() == 1 && scopes.back().open == '{')) {
                    if (c == ';') scopes.back().start = i + 1;
                    space.clear();
                }
                if (c == ',') space.clear();
                ++i;
            } else {
                out += x.space + x.text;
                ++i;
            }
        }
    }

    // A brace opens at i. True when the definition was one that is there already, and has been left out.
    bool open_brace(size_t i, size_t *end) {
        const scope &s = scopes.back();
        const size_t start = s.open == '{' ? s.start : i;
        bool is_class = false, is_namespace = false, has_parameters = false, assigned = false;
        int depth = 0;
        for (size_t k = start; k < i; ++k) {
            const std::string &x = t[k].text;
            if (x == "(" || x == "<") ++depth;
            if (x == ")" || x == ">") --depth;
            if (x == "(") has_parameters = true;
            if (x == "=" && depth == 0) assigned = true;
            if (depth == 0 && (x == "struct" || x == "class" || x == "union" || x == "enum")) is_class = true;
            if (x == "namespace" || (x == "extern" && t[k + 1].kind == token::TEXT)) is_namespace = true;
        }
        const bool outer = s.open == '{' && (s.kind == scope::NAMESPACE || s.kind == scope::CLASS);
        auto kind = scope::BODY;
        if (outer && is_namespace)
            kind = scope::NAMESPACE;
        else if (is_class && !has_parameters && !assigned)
            kind = scope::CLASS;
        std::string key;
        if (outer) {
            for (size_t k = start; k < i; ++k) {
                const std::string &x = t[k].text;
                if (t[k].kind == token::LINE || x == "device" || x == "thread" || x == "threadgroup") continue;
                key += (x == "constant" ? "const" : x) + " ";
            }
            if (kind == scope::BODY && has_parameters && !assigned && !seen.insert(s.path + "|" + key).second) {
                *end = match(i) + 1;
                out.resize(statement_out);
                out += spaces(start + 1, *end);
                scopes.back().start = *end;
                return true;
            }
        }
        scopes.push_back({'{', kind, i + 1, s.path + (outer ? "{" + key : "")});
        return false;
    }
};

} // namespace

std::string msl::rewrite(const std::string &preprocessed) {
    rewriter r;
    r.t = lex(preprocessed);
    r.all();
    return r.out;
}

// What the preprocessor would make of a text that leaves it nothing to do but to take out comments and the line that includes
// metal_stdlib: the texts that are generated. False for any other text: it has another directive, or may name a macro.
bool msl::is_preprocessed(const std::string &text, std::string *out) {
    static const std::string include = "#include <metal_stdlib>";
    bool line_start = true;
    out->clear();
    for (size_t i = 0, n = text.size(); i < n;) {
        const char c = text[i];
        if (c == '\\' || c == '\0' || c == '\'') return false;
        if (!text.compare(i, 2, "//")) {
            const size_t end = std::min(text.find('\n', i), n);
            if (text[end - 1] == '\\') return false;
            i = end;
        } else if (!text.compare(i, 2, "/*")) {
            const size_t end = text.find("*/", i + 2);
            if (end == std::string::npos) return false;
            *out += ' ';
            for (; i < end; ++i)
                if (text[i] == '\n') *out += '\n';
            i = end + 2;
        } else if (c == '#') {
            const size_t end = std::min(text.find('\n', i), n);
            const std::string line = text.substr(i, end - i);
            if (!line_start || line.find("/*") != std::string::npos) return false;
            if (!line.compare(0, 14, "#pragma clang ") || !line.compare(0, 14, "#pragma unroll"))
                *out += line;
            else if (line != include)
                return false;
            i = end;
        } else if (isalpha((unsigned char)c) || c == '_') {
            const size_t start = i;
            while (i < n && (isalnum((unsigned char)text[i]) || text[i] == '_')) ++i;
            if (!text.compare(start, 2, "__") || !text.compare(start, i - start, "_Pragma")) return false;
            if (i < n && text[i] == '"') return false; // a raw string, perhaps
            out->append(text, start, i - start);
            line_start = false;
        } else if (c == '"') {
            size_t end = i + 1;
            while (end < n && text[end] != '"' && text[end] != '\n' && text[end] != '\\') ++end;
            if (end >= n || text[end] != '"') return false;
            out->append(text, i, end + 1 - i);
            i = end + 1;
            line_start = false;
        } else {
            if (c == '\n') line_start = true;
            if (!isspace((unsigned char)c)) line_start = false;
            *out += c;
            ++i;
        }
    }
    return true;
}
