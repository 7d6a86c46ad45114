// tool.cpp: qkgen-msl, the executor as a command.
#include "executor.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

using std::string;
using std::vector;

static const char *const usage =
    "qkgen-msl FILE.metal [--list]                 the kernels and their arguments\n"
    "qkgen-msl FILE.metal --kernel NAME ...        runs one\n"
    "  --groups X[,Y,Z] | --grid X[,Y,Z]           threadgroups, or threads (the last threadgroups may be smaller)\n"
    "  --group X[,Y,Z]                             threads of a threadgroup (1)\n"
    "  --buffer N=FILE                             [[buffer(N)]] is the file's bytes\n"
    "  --zeros N=BYTES                             ... is zeros\n"
    "  --bytes N=HEX  --u32 N=V,V  --i32 N=V,V  --f32 N=V,V\n"
    "  --out N=FILE                                what the buffer holds afterwards\n"
    "  --print N=u8|u16|u32|i32|f16|f32[:COUNT]    the same, as text\n"
    "  --threadgroup N=BYTES                       length of [[threadgroup(N)]]\n"
    "  --constant ID=VALUE                         a function constant (true, 7, 1.5)\n"
    "  --order forward|reverse|random:SEED         of threads between barriers\n"
    "  --math safe|contract|fast                   what the compiler may do\n"
    "  --skip race|uninitialised|undefined|access  leaves a check out\n"
    "  -D NAME[=VALUE]   --time\n"
    "Status: 0, or 1 when the kernel does what it must not, or 2 when the request is wrong.\n";

[[noreturn]] static void quit(const string &why) {
    fprintf(stderr, "qkgen-msl: %s\n", why.c_str());
    exit(2);
}

static string read_all(const string &path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) quit("cannot read " + path);
    std::ostringstream all;
    all << in.rdbuf();
    return all.str();
}

static void three(const char *text, uint32_t out[3]) {
    out[1] = out[2] = 1;
    char *end = const_cast<char *>(text);
    for (int i = 0; i < 3; ++i) {
        out[i] = uint32_t(strtoul(end, &end, 0));
        if (*end != ',') break;
        ++end;
    }
    if (*end || !out[0]) quit(string("not a size: ") + text);
}

static uint32_t numbered(const string &text, string *value) {
    const size_t at = text.find('=');
    if (at == string::npos) quit("expected N=..., not " + text);
    *value = text.substr(at + 1);
    return uint32_t(strtoul(text.c_str(), nullptr, 0));
}

static const char *const scalar_names[] = {"struct", "bool", "i8",  "u8",  "i16",  "u16", "i32",
                                           "u32",    "i64",  "u64", "f16", "bf16", "f32"};

static void print_type(const qk_msl_type &t) {
    printf("%s", t.name);
    if (t.scalar) printf(" = %s%s", t.atomic ? "atomic " : "", scalar_names[t.scalar]);
    if (t.components > 1) printf(" x %u", t.components);
    if (t.count > 1) printf(" [%u]", t.count);
    printf(", %llu bytes", (unsigned long long)t.bytes);
}

static void list(const qk_msl *file) {
    for (uint32_t i = 0; i < qk_msl_constant_count(file); ++i) {
        const qk_msl_constant *c = qk_msl_constant_at(file, i);
        printf("function constant %u: %s, ", c->id, c->name);
        print_type(c->type);
        printf("\n");
    }
    for (uint32_t i = 0; i < qk_msl_kernel_count(file); ++i) {
        const qk_msl_kernel *k = qk_msl_kernel_at(file, i);
        printf("%s (line %d", k->name, k->line);
        if (k->max_threads) printf(", at most %u threads in a threadgroup", k->max_threads);
        printf(")\n");
        for (uint32_t a = 0; a < k->argument_count; ++a) {
            const qk_msl_argument &x = k->arguments[a];
            static const char *const kinds[] = {"buffer", "threadgroup", "", "unsupported"};
            if (x.kind == QK_MSL_BUFFER || x.kind == QK_MSL_THREADGROUP)
                printf("    %s(%u) ", kinds[x.kind], x.index);
            else
                printf("    %s%s ", kinds[x.kind], x.attribute);
            printf("%s: %s%s%s", x.name, x.space, *x.space ? " " : "", x.is_const ? "const " : "");
            print_type(x.type);
            printf("%s\n", x.kind == QK_MSL_ATTRIBUTE ? "" : x.is_reference ? ", one" : ", any number");
            for (uint32_t f = 0; f < x.field_count; ++f) {
                printf("        +%u %s: ", x.fields[f].offset, x.fields[f].name);
                print_type(x.fields[f].type);
                printf("\n");
            }
        }
    }
}

static float half_value(uint16_t h) {
    const int e = h >> 10 & 31;
    const float m = float(h & 1023);
    const float v = e == 0    ? m * 0x1p-24f
                    : e == 31 ? (m != 0 ? __builtin_nanf("") : __builtin_inff())
                              : __builtin_ldexpf(m + 1024.0f, e - 25);
    return h & 0x8000 ? -v : v;
}

static void print_buffer(const string &bytes, const string &how) {
    const size_t colon = how.find(':');
    const string type = how.substr(0, colon);
    size_t width = type == "u8" ? 1 : type == "u16" || type == "f16" ? 2 : 4;
    size_t n = bytes.size() / width;
    if (colon != string::npos) n = std::min(n, size_t(strtoul(how.c_str() + colon + 1, nullptr, 0)));
    for (size_t i = 0; i < n; ++i) {
        uint32_t raw = 0;
        memcpy(&raw, bytes.data() + i * width, width);
        float f;
        memcpy(&f, &raw, 4);
        if (type == "f16")
            printf("%.9g", double(half_value(uint16_t(raw))));
        else if (type == "f32")
            printf("%.9g", double(f));
        else if (type == "i32")
            printf("%d", int(raw));
        else
            printf("%u", raw);
        printf(i % 8 == 7 || i + 1 == n ? "\n" : " ");
    }
}

int main(int argc, char **argv) {
    if (argc < 2 || !strcmp(argv[1], "--help")) {
        fputs(usage, argc < 2 ? stderr : stdout);
        return argc < 2 ? 2 : 0;
    }
    const string path = argv[1];
    string kernel_name, value;
    bool time = false;
    struct bound {
        uint32_t index;
        string bytes;
    };
    vector<bound> buffers;
    vector<qk_msl_buffer> threadgroup;
    vector<std::pair<uint32_t, string>> outs, prints, constants;
    vector<const char *> defines;
    qk_msl_launch launch = {};
    qk_msl_options options = {};
    for (int i = 2; i < argc; ++i) {
        const string a = argv[i];
        if (a == "--list") continue;
        if (a == "--time") {
            time = true;
            continue;
        }
        if (++i == argc) quit("unknown option, or one without its value: " + a);
        const char *v = argv[i];
        auto numbers = [&](auto convert) {
            const uint32_t n = numbered(v, &value);
            string bytes;
            for (const char *at = value.c_str(); *at;) {
                char *end;
                const auto x = convert(at, &end);
                bytes.append(reinterpret_cast<const char *>(&x), sizeof x);
                if (end == at) quit("not a number: " + value);
                at = *end == ',' ? end + 1 : end;
            }
            buffers.push_back({n, bytes});
        };
        if (a == "--kernel")
            kernel_name = v;
        else if (a == "--grid")
            three(v, launch.threads);
        else if (a == "--groups")
            three(v, launch.groups);
        else if (a == "--group")
            three(v, launch.group);
        else if (a == "--buffer") {
            const uint32_t n = numbered(v, &value);
            buffers.push_back({n, read_all(value)});
        } else if (a == "--zeros") {
            const uint32_t n = numbered(v, &value);
            buffers.push_back({n, string(strtoull(value.c_str(), nullptr, 0), '\0')});
        } else if (a == "--u32")
            numbers([](const char *s, char **e) { return uint32_t(strtoul(s, e, 0)); });
        else if (a == "--i32")
            numbers([](const char *s, char **e) { return int32_t(strtol(s, e, 0)); });
        else if (a == "--f32")
            numbers([](const char *s, char **e) { return strtof(s, e); });
        else if (a == "--bytes") {
            const uint32_t n = numbered(v, &value);
            string bytes;
            for (size_t k = 0; k + 1 < value.size(); k += 2)
                bytes += char(strtoul(value.substr(k, 2).c_str(), nullptr, 16));
            buffers.push_back({n, bytes});
        } else if (a == "--out") {
            const uint32_t n = numbered(v, &value);
            outs.push_back({n, value});
        } else if (a == "--print") {
            const uint32_t n = numbered(v, &value);
            prints.push_back({n, value});
        } else if (a == "--threadgroup") {
            const uint32_t n = numbered(v, &value);
            threadgroup.push_back({n, nullptr, strtoull(value.c_str(), nullptr, 0)});
        } else if (a == "--constant") {
            const uint32_t n = numbered(v, &value);
            constants.push_back({n, value});
        } else if (a == "--order") {
            if (!strcmp(v, "forward"))
                launch.order = QK_MSL_FORWARD;
            else if (!strcmp(v, "reverse"))
                launch.order = QK_MSL_REVERSE;
            else if (!strncmp(v, "random", 6)) {
                launch.order = QK_MSL_RANDOM;
                launch.seed = v[6] == ':' ? strtoull(v + 7, nullptr, 0) : 1;
            } else
                quit(string("no such order: ") + v);
        } else if (a == "--math") {
            if (!strcmp(v, "safe"))
                options.math = QK_MSL_MATH_SAFE;
            else if (!strcmp(v, "contract"))
                options.math = QK_MSL_MATH_CONTRACT;
            else if (!strcmp(v, "fast"))
                options.math = QK_MSL_MATH_FAST;
            else
                quit(string("no such math: ") + v);
        } else if (a == "--skip") {
            if (!strcmp(v, "race"))
                options.skip |= QK_MSL_NO_RACE_CHECK;
            else if (!strcmp(v, "uninitialised"))
                options.skip |= QK_MSL_NO_UNINITIALISED_CHECK;
            else if (!strcmp(v, "undefined"))
                options.skip |= QK_MSL_NO_UNDEFINED_CHECK;
            else if (!strcmp(v, "access"))
                options.skip |= QK_MSL_NO_ACCESS_CHECK;
            else
                quit(string("no such check: ") + v);
        } else if (a == "-D")
            defines.push_back(v);
        else
            quit("unknown option " + a);
    }
    options.define_count = uint32_t(defines.size());
    options.defines = defines.data();

    qk_msl_error error;
    qk_msl *file = qk_msl_open_file(path.c_str(), &options, &error);
    if (!file) {
        fprintf(stderr, "%s\n", error.text);
        return error.status == QK_MSL_ERROR_SOURCE ? 1 : 2;
    }
    if (!constants.empty()) { // their types are known only now
        vector<string> raw(constants.size());
        vector<qk_msl_value> values;
        for (size_t i = 0; i < constants.size(); ++i) {
            const qk_msl_constant *c = nullptr;
            for (uint32_t k = 0; k < qk_msl_constant_count(file); ++k)
                if (qk_msl_constant_at(file, k)->id == constants[i].first) c = qk_msl_constant_at(file, k);
            if (!c) quit("the file has no function constant " + std::to_string(constants[i].first));
            const string &s = constants[i].second;
            const float f = strtof(s.c_str(), nullptr);
            const long long n = s == "true" ? 1 : s == "false" ? 0 : strtoll(s.c_str(), nullptr, 0);
            raw[i].assign(c->type.scalar == QK_MSL_F32 ? reinterpret_cast<const char *>(&f)
                                                       : reinterpret_cast<const char *>(&n),
                          size_t(std::min<uint64_t>(c->type.bytes, 8)));
            values.push_back({c->id, uint32_t(raw[i].size()), raw[i].data()});
        }
        qk_msl_close(file);
        options.values = values.data();
        options.value_count = uint32_t(values.size());
        file = qk_msl_open_file(path.c_str(), &options, &error);
        if (!file) quit(error.text);
    }
    int cached;
    const double seconds = qk_msl_open_seconds(file, &cached);
    if (time) fprintf(stderr, "opened in %.3f s%s\n", seconds, cached ? ", from the cache" : "");
    int status = 0;
    if (kernel_name.empty()) {
        list(file);
    } else {
        const qk_msl_kernel *kernel = qk_msl_find(file, kernel_name.c_str());
        if (!kernel) quit(path + " has no kernel " + kernel_name);
        vector<qk_msl_buffer> list;
        for (bound &b : buffers) list.push_back({b.index, &b.bytes[0], b.bytes.size()});
        launch.buffers = list.data();
        launch.buffer_count = uint32_t(list.size());
        launch.threadgroup = threadgroup.data();
        launch.threadgroup_count = uint32_t(threadgroup.size());
        const qk_msl_status s = qk_msl_run(file, kernel, &launch, &error);
        if (s != QK_MSL_OK) {
            fprintf(stderr, "%s\n", error.text);
            status = s == QK_MSL_ERROR_ARGUMENT ? 2 : 1;
        }
        auto bytes_of = [&](uint32_t n) -> const string & {
            for (const bound &b : buffers)
                if (b.index == n) return b.bytes;
            quit("nothing is bound to buffer " + std::to_string(n));
        };
        if (!status) {
            for (const auto &o : outs) {
                std::ofstream out(o.second, std::ios::binary);
                out.write(bytes_of(o.first).data(), std::streamsize(bytes_of(o.first).size()));
                if (!out) quit("cannot write " + o.second);
            }
            for (const auto &p : prints) print_buffer(bytes_of(p.first), p.second);
        }
    }
    qk_msl_close(file);
    return status;
}
