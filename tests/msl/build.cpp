// build.cpp: from a text to a shared object, by clang, kept by content. What is compiled once for all files (the
// precompiled header, the runtime) is kept beside the objects.
#include "internal.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <fstream>
#include <map>
#include <mutex>
#include <spawn.h>
#include <sstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

using std::string;
using std::vector;

string msl::read_file(const string &path, bool *found) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream all;
    if (in) all << in.rdbuf();
    if (found) *found = bool(in);
    return all.str();
}

bool msl::write_file(const string &path, const string &content) {
    std::ofstream out(path, std::ios::binary);
    out.write(content.data(), std::streamsize(content.size()));
    out.close();
    return bool(out);
}

// Runs a command; what it writes, to either stream, goes to `output`.
bool msl::run(const vector<string> &command, string *output) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    vector<char *> argv;
    for (const string &s : command) argv.push_back(const_cast<char *>(s.c_str()));
    argv.push_back(nullptr);
    pid_t child;
    const int failed = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (failed) {
        close(ends[0]);
        if (output) *output = strerror(failed);
        return false;
    }
    char buffer[4096];
    for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) != 0;) {
        if (n < 0) {
            if (errno == EINTR) continue;
            break;
        }
        if (output) output->append(buffer, size_t(n));
    }
    close(ends[0]);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

namespace {

string first(const char *given, const char *variable, const string &otherwise) {
    if (given && *given) return given;
    const char *e = getenv(variable);
    return e && *e ? e : otherwise;
}

string hash(const string &s) {
    uint64_t a = 0xCBF29CE484222325u, b = 0x9E3779B97F4A7C15u;
    for (unsigned char c : s) {
        a = (a ^ c) * 0x100000001B3u;
        b = (b + c) * 0xD6E8FEB86659FD93u;
        b ^= b >> 29;
    }
    char text[40];
    snprintf(text, sizeof text, "%016llx%016llx", (unsigned long long)a, (unsigned long long)b);
    return text;
}

bool make_folders(const string &path) {
    for (size_t at = path.find('/', 1); at != string::npos; at = path.find('/', at + 1))
        mkdir(path.substr(0, at).c_str(), 0700);
    return mkdir(path.c_str(), 0700) == 0 || errno == EEXIST;
}

// The headers and the runtime, as one text: part of every key.
string contents(const string &folder) {
    vector<string> names;
    if (DIR *d = opendir(folder.c_str())) {
        while (const dirent *e = readdir(d))
            if (e->d_name[0] != '.') names.push_back(e->d_name);
        closedir(d);
    }
    std::sort(names.begin(), names.end());
    string r;
    for (const string &n : names) {
        const string path = folder + "/" + n;
        struct stat info;
        if (stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode))
            r += contents(path);
        else
            r += n + "\n" + msl::read_file(path);
    }
    return r;
}

bool has_cpu(const char *feature) {
#if defined(__x86_64__)
    static const string all = [] {
        std::ifstream in("/proc/cpuinfo");
        for (string line; std::getline(in, line);)
            if (!line.compare(0, 5, "flags")) return line + " ";
        return string();
    }();
    return all.find(string(" ") + feature + " ") != string::npos;
#else
    (void)feature;
    return false;
#endif
}

vector<string> language(const msl::settings &s) {
    vector<string> f = {"-std=c++17",
                        "-nostdinc",
                        "-isystem",
                        s.include,
                        "-w",
                        "-fno-exceptions",
                        "-fno-rtti",
                        "-fno-threadsafe-statics",
                        "-fno-math-errno",
                        "-fno-strict-aliasing",
                        "-fwrapv",
                        "-fPIC",
                        "-fvisibility=hidden",
                        "-D__METAL_VERSION__=320",
                        "-D__METAL_MACOS__=1",
                        "-D__METAL__=1",
                        "-D__METAL_CPP__=1",
                        "-D__HAVE_BFLOAT__=1",
                        "-D__HAVE_SIMDGROUP_MATRIX__=1",
                        "-D__HAVE_SIMDGROUP_REDUCTION__=1",
                        "-D__HAVE_ATOMIC_FLOAT__=1"};
#if defined(__x86_64__)
    f.push_back("-fexcess-precision=16");
#endif
    if (has_cpu("f16c")) f.push_back("-mf16c");
    if (s.math == QK_MSL_MATH_SAFE) {
        f.push_back("-ffp-contract=off");
    } else {
        if (has_cpu("fma")) f.push_back("-mfma");
        if (s.math == QK_MSL_MATH_FAST) f.push_back("-ffast-math");
        for (const char *x : {"-Xclang", "-ffp-contract=fast-honor-pragmas"}) f.push_back(x);
    }
    for (const string &d : s.defines)
        if (!d.compare(0, 4, "QKM_")) f.push_back("-D" + d); // our headers know no other; so they are compiled once
    return f;
}

vector<string> instrumentation(const msl::settings &s) {
    // Without the optimiser, sums over rows compile in half of the time; but a fault in a function of ours that is not
    // inlined then has no line.
    const bool plain = getenv("QKGEN_MSL_O0") && s.math == QK_MSL_MATH_SAFE;
    vector<string> f = {plain ? "-O0" : "-O1", "-gline-tables-only", "-ftrivial-auto-var-init=pattern"};
    if (!(s.skip & QK_MSL_NO_ACCESS_CHECK))
        for (const char *x : {"-fsanitize=address", "-fno-sanitize-address-use-after-scope", "-mllvm",
                              "-asan-instrumentation-with-call-threshold=0", "-mllvm", "-asan-stack=0", "-mllvm",
                              "-asan-globals=0", "-mllvm", "-asan-opt-globals=0"})
            f.push_back(x);
    if (!(s.skip & QK_MSL_NO_UNDEFINED_CHECK))
        f.push_back(
            "-fsanitize=shift-exponent,integer-divide-by-zero,array-bounds,float-cast-overflow,alignment,return");
    return f;
}

vector<string> join(std::initializer_list<vector<string>> all) {
    vector<string> r;
    for (const vector<string> &v : all) r.insert(r.end(), v.begin(), v.end());
    return r;
}

string folder_of(const string &path) {
    const size_t at = path.rfind('/');
    return at == string::npos ? "." : path.substr(0, at);
}

// Of this call, among all processes and threads that may be at the same file.
string unique() {
    static std::atomic<unsigned> serial;
    return std::to_string(long(getpid())) + "-" + std::to_string(serial++);
}

// The compiler's own name for itself: part of every key. It is kept beside the objects, for each state of the compiler's file:
// to ask costs as much as to load an object. Of a script the file says too little.
bool version(const msl::settings &s, string *text, qk_msl_error *error) {
    static std::mutex lock;
    static std::map<string, string> known;
    std::lock_guard<std::mutex> guard(lock);
    string &v = known[s.compiler];
    if (v.empty()) {
        string kept;
        struct stat info;
        char start[4] = "";
        std::ifstream(s.compiler, std::ios::binary).read(start, sizeof start);
        if (s.compiler[0] == '/' && !memcmp(start, "\177ELF", 4) && stat(s.compiler.c_str(), &info) == 0) {
            char state[160];
            snprintf(state, sizeof state, "|%lld|%lld|%lld.%09ld", (long long)info.st_ino, (long long)info.st_size,
                     (long long)info.st_ctim.tv_sec, info.st_ctim.tv_nsec);
            kept = s.cache + "/" + hash(s.compiler + state) + ".version";
            v = msl::read_file(kept);
            if (v.find("clang") != string::npos) {
                *text = v;
                return true;
            }
            v.clear();
        }
        string output;
        if (!msl::run({s.compiler, "--version"}, &output) || output.find("clang") == string::npos) {
            msl::fail(error, QK_MSL_ERROR_COMPILER, 0,
                      "cannot run %s (Debian package clang-16; or name another clang++ in QKGEN_MSL_CLANG): %s",
                      s.compiler.c_str(), output.c_str());
            return false;
        }
        v = output;
        if (!kept.empty()) {
            const string part = kept + "." + unique() + ".part";
            if (!msl::write_file(part, v) || rename(part.c_str(), kept.c_str()) != 0) unlink(part.c_str());
        }
    }
    *text = v;
    return true;
}

qkm_describe_function *reader() {
    static void *const library = dlopen(QKM_READER, RTLD_NOW | RTLD_LOCAL);
    return library ? reinterpret_cast<qkm_describe_function *>(dlsym(library, "qkm_describe")) : nullptr;
}

bool exists(const string &path) { return access(path.c_str(), R_OK) == 0; }

// Makes `path` by a command that writes to the last word given; other processes may be at it, too.
bool make(vector<string> command, const string &path, string *output) {
    const string part = path + "." + unique() + ".part";
    command.push_back(part);
    if (!msl::run(command, output)) {
        unlink(part.c_str());
        return false;
    }
    return rename(part.c_str(), path.c_str()) == 0;
}

} // namespace

msl::settings msl::choose(const qk_msl_options *o) {
    static const qk_msl_options none = {};
    if (!o) o = &none;
    settings s;
    s.compiler = first(o->compiler, "QKGEN_MSL_CLANG", QKM_CLANG);
    s.include = first(o->include, "QKGEN_MSL_INCLUDE", QKM_INCLUDE);
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    s.cache =
        first(o->cache, "QKGEN_MSL_CACHE",
              xdg && *xdg ? string(xdg) + "/qkgen/msl" : string(home && *home ? home : "/tmp") + "/.cache/qkgen/msl");
    s.skip = o->skip;
    s.math = o->math;
    for (uint32_t i = 0; i < o->define_count; ++i) s.defines.push_back(o->defines[i]);
    const char *define = getenv("QKGEN_MSL_DEFINE");
    if (define && *define) s.defines.push_back(define);
    return s;
}

bool msl::build(const settings &s, const string &text, const string &name, string *object, bool *cached,
                qk_msl_error *error) {
    const string base = folder_of(s.include);
    string compiler;
    if (!make_folders(s.cache)) {
        fail(error, QK_MSL_ERROR_COMPILER, 0, "cannot make the folder %s: %s", s.cache.c_str(), strerror(errno));
        return false;
    }
    if (!version(s, &compiler, error)) return false;
    if (!exists(s.include + "/metal_stdlib") || !exists(base + "/runtime.cpp")) {
        fail(error, QK_MSL_ERROR_COMPILER, 0, "%s is not the folder of our metal_stdlib (QKGEN_MSL_INCLUDE)",
             s.include.c_str());
        return false;
    }
    const vector<string> lang = language(s), instr = instrumentation(s);
    string all_flags;
    for (const string &f : join({lang, instr})) all_flags += f + " ";
    static std::mutex lock;
    static std::map<string, string> support_of;
    string support;
    {
        std::lock_guard<std::mutex> guard(lock);
        string &t = support_of[s.include];
        if (t.empty())
            t = contents(s.include) + read_file(base + "/runtime.cpp") + read_file(base + "/bridge.h") +
                read_file(base + "/executor.h") + read_file(base + "/text.cpp") + read_file(base + "/signature.cpp") +
                read_file(base + "/build.cpp");
        support = t;
    }
    const string common = hash(compiler + "|" + all_flags + "|" + support);
    string macros;
    for (const string &d : s.defines) macros += "|-D" + d;
    const string stem = s.cache + "/" + hash(common + macros + "|" + name + "|" + text);
    *object = stem + ".so";
    *cached = exists(*object);
    if (*cached) return true;

    string output;
    const string header = s.cache + "/" + common + ".pch", runtime = s.cache + "/" + common + ".o";
    if (!exists(header) &&
        !make(
            join(
                {{s.compiler},
                 lang,
                 instr,
                 // what our headers instantiate is done once, and not for each text: it would be half of that one's time
                 {"-fpch-instantiate-templates", "-Xclang", "-fno-pch-timestamp", "-x", "c++-header",
                  s.include + "/metal_stdlib", "-o"}}),
            header, &output)) {
        fail(error, QK_MSL_ERROR_COMPILER, 0, "%s cannot compile our metal_stdlib: %s", s.compiler.c_str(),
             output.c_str());
        return false;
    }
    if (!exists(runtime) && !make({s.compiler, "-std=c++17", "-O2", "-fPIC", "-fvisibility=hidden", "-fno-exceptions",
                                   "-fno-rtti", "-c", base + "/runtime.cpp", "-o"},
                                  runtime, &output)) {
        fail(error, QK_MSL_ERROR_COMPILER, 0, "%s cannot compile runtime.cpp: %s", s.compiler.c_str(), output.c_str());
        return false;
    }

    // Preprocess, with our headers empty; rewrite; let libclang read it; compile it with what comes from that.
    const string own = stem + "." + unique();
    const string msl_file = own + ".metal", unit_file = own + ".cpp", object_file = own + ".o";
    struct cleaner {
        vector<string> paths;
        ~cleaner() {
            for (const string &p : paths) unlink(p.c_str());
        }
    } clean{{msl_file, unit_file, object_file}};
    const string first_line = "# 1 \"" + name + "\"\n";
    string preprocessed;
    if (s.defines.empty() && is_preprocessed(text, &preprocessed)) {
        preprocessed = first_line + preprocessed + "\n";
    } else {
        preprocessed.clear();
        write_file(msl_file, first_line + text + "\n");
        vector<string> preprocess = join({{s.compiler}, lang, {"-E", "-DQKM_PREPROCESS", "-x", "c++"}});
        for (const string &d : s.defines) preprocess.push_back("-D" + d);
        const string beside = folder_of(name);
        preprocess.push_back("-I" + beside);
        preprocess.push_back(msl_file);
        if (!run(preprocess, &preprocessed)) {
            fail(error, QK_MSL_ERROR_SOURCE, 0, "%s", preprocessed.c_str());
            return false;
        }
    }
    string unit = rewrite(preprocessed), glue;
    qkm_describe_function *const describe = reader();
    if (!describe) {
        const char *why = dlerror();
        fail(error, QK_MSL_ERROR_COMPILER, 0, "cannot load %s: %s", QKM_READER, why ? why : "");
        return false;
    }
    const vector<string> reading = join({lang, instr, {"-x", "c++", "-include-pch", header}});
    if (!describe(unit_file, unit, reading, false, base + "/executor.h", &glue, error)) return false;
    write_file(unit_file, unit + glue);
    output.clear();
    if (!run(
            join(
                {{s.compiler}, lang, instr, {"-x", "c++", "-include-pch", header, "-c", unit_file, "-o", object_file}}),
            &output)) {
        if (describe(unit_file, unit, reading, true, base + "/executor.h", &glue, error)) // it says the line
            fail(error, QK_MSL_ERROR_SOURCE, 0, "%s", output.c_str());
        return false;
    }
    // The linker by itself takes half of the time; what it lacks, the compiler knows where to find.
    const vector<string> what = {object_file, runtime, "-lm", "-lc", "-o"};
    if (!make(join({{"ld", "-shared", "--hash-style=gnu", "--eh-frame-hdr", "-Bsymbolic", "-z", "defs"}, what}),
              *object, &output)) {
        output.clear();
        if (!make(join({{s.compiler, "-shared", "-nostdlib++", "-Wl,-Bsymbolic", "-Wl,-z,defs"}, what}), *object,
                  &output)) {
            fail(error, QK_MSL_ERROR_SOURCE, 0, "cannot link %s: %s", name.c_str(), output.c_str());
            return false;
        }
    }
    if (getenv("QKGEN_MSL_KEEP")) clean.paths.clear();
    return true;
}
