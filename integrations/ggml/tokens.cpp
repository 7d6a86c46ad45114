// tokens: how many tokens a second llama.cpp makes of a model file, and how far its logits are from those of another run.
//
//   tokens MODEL.gguf [pp=512] [tg=128] [batch=4] [repeat=3] [warm=1000] [layers=99] [write=FILE] [compare=FILE]
//
// pp       tokens of a prompt, read at once; several with commas. tg: tokens made one after the other; batch: sequences at once, of
//          which each makes tg / 4 tokens. 0 leaves one out
// warm     milliseconds of runs that are not measured, before each line, beside a first one. A device's clocks take that long to rise
// layers   on the device; 0: all on the processor
// write    the logits of 40 tokens that are read one after the other, then 2, 3, 4 and 8 at once, and 100, as f32. compare: with those
//          of a file; prints the normalised mean squared error
//
// One line for each: what, tokens a second (the median of the repeats), the least, the largest; then the milliseconds of the first
// run, in which pipelines are made, and of the second. Links llama.cpp's library.
#include "llama.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

struct options {
    std::vector<int> pp { 512 }, batch { 4 };
    int tg = 128, repeat = 3, warm = 1000, layers = 99;
    std::string write, compare;
};

static std::vector<int> numbers(const char * text) {
    std::vector<int> all;
    for (char * at = const_cast<char *>(text); *at != 0; at += *at == ',') {
        char * end;
        const long number = strtol(at, &end, 10);
        if (end == at) {
            break;
        }
        if (number > 0) {
            all.push_back((int) number);
        }
        at = end;
    }
    return all;
}

static bool read_option(options & o, const std::string & word) {
    const size_t is = word.find('=');
    const std::string name = word.substr(0, is);
    if (is == std::string::npos) {
        return false;
    }
    const char * value = word.c_str() + is + 1;
    if (name == "pp") o.pp = numbers(value);
    else if (name == "batch") o.batch = numbers(value);
    else if (name == "tg") o.tg = atoi(value);
    else if (name == "repeat") o.repeat = std::max(1, atoi(value));
    else if (name == "warm") o.warm = atoi(value);
    else if (name == "layers") o.layers = atoi(value);
    else if (name == "write") o.write = value;
    else if (name == "compare") o.compare = value;
    else return false;
    return true;
}

// `each` tokens of each of `sequences` from position `at` on, in one call; logits of the last, or of all.
static bool decode(llama_context * ctx, int sequences, int each, int at, bool all) {
    const int vocabulary = llama_vocab_n_tokens(llama_model_get_vocab(llama_get_model(ctx)));
    llama_batch batch = llama_batch_init(sequences * each, 0, 1);
    for (int s = 0; s < sequences; s++) {
        for (int i = 0; i < each; i++) {
            const int n = batch.n_tokens++;
            batch.token[n] = (llama_token) ((7919u * (unsigned) (at + i) + 104729u * (unsigned) s + 17u) % (unsigned) vocabulary);
            batch.pos[n] = at + i;
            batch.n_seq_id[n] = 1;
            batch.seq_id[n][0] = s;
            batch.logits[n] = all || i == each - 1;
        }
    }
    const bool good = llama_decode(ctx, batch) == 0;
    llama_batch_free(batch);
    return good;
}

// Seconds of a run from an empty context.
static double seconds_of(llama_context * ctx, const std::string & what, const std::function<bool()> & run) {
    llama_memory_clear(llama_get_memory(ctx), true);
    llama_synchronize(ctx);
    const auto begin = std::chrono::steady_clock::now();
    const bool good = run();
    llama_synchronize(ctx);
    if (!good) {
        fprintf(stderr, "tokens: %s: llama_decode failed\n", what.c_str());
        exit(1);
    }
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

static void measure(llama_context * ctx, const options & o, const std::string & what, int tokens, const std::function<bool()> & run) {
    std::vector<double> first, rates;
    double spent = 0;
    while (first.empty() || spent < o.warm / 1000.0) { // while pipelines are made, in the first run, the device has nothing to do
        first.push_back(seconds_of(ctx, what, run));
        spent += first.size() > 1 ? first.back() : 0;
    }
    for (int i = 0; i < o.repeat; i++) {
        rates.push_back(tokens / seconds_of(ctx, what, run));
    }
    std::sort(rates.begin(), rates.end());
    printf("%s %.1f %.1f %.1f, first", what.c_str(), rates[rates.size() / 2], rates.front(), rates.back());
    for (size_t i = 0; i < std::min<size_t>(first.size(), 2); i++) {
        printf(" %.1f", first[i] * 1e3);
    }
    printf(" ms\n");
    fflush(stdout);
}

static std::vector<float> logits_of(llama_context * ctx) {
    const int vocabulary = llama_vocab_n_tokens(llama_model_get_vocab(llama_get_model(ctx)));
    std::vector<float> all;
    llama_memory_clear(llama_get_memory(ctx), true);
    auto take = [&](int each, int at) {
        if (!decode(ctx, 1, each, at, true)) {
            fprintf(stderr, "tokens: logits: llama_decode failed\n");
            exit(1);
        }
        for (int i = 0; i < each; i++) {
            const float * row = llama_get_logits_ith(ctx, i);
            all.insert(all.end(), row, row + vocabulary);
        }
    };
    int at = 0;
    for (; at < 40; at++) {
        take(1, at);
    }
    for (const int each : { 2, 3, 4, 8, 100 }) {
        take(each, at);
        at += each;
    }
    return all;
}

static int compare(const std::vector<float> & a, const char * path) {
    std::vector<float> b(a.size());
    FILE * file = fopen(path, "rb");
    if (file == nullptr || fread(b.data(), 4, b.size(), file) != b.size()) {
        fprintf(stderr, "tokens: %s: cannot be read, or has fewer logits\n", path);
        return 1;
    }
    fclose(file);
    double error = 0, square = 0;
    for (size_t i = 0; i < a.size(); i++) {
        error += ((double) a[i] - b[i]) * ((double) a[i] - b[i]);
        square += (double) b[i] * b[i];
    }
    printf("logits nmse %.3g\n", error / square);
    return error == error && square > 0 ? 0 : 1;
}

int main(int argc, char ** argv) {
    options o;
    for (int i = 2; i < argc; i++) {
        if (!read_option(o, argv[i])) {
            fprintf(stderr, "tokens: %s is no option; they are pp= tg= batch= repeat= warm= layers= write= compare=\n", argv[i]);
            return 1;
        }
    }
    if (argc < 2) {
        fprintf(stderr, "usage: tokens MODEL.gguf [pp=N,..] [tg=N] [batch=N,..] [repeat=N] [warm=MS] [layers=N] [write=FILE] "
                        "[compare=FILE]\n");
        return 1;
    }
    llama_log_set([](ggml_log_level level, const char * text, void *) { if (level >= GGML_LOG_LEVEL_ERROR) fputs(text, stderr); }, nullptr);
    llama_backend_init();
    llama_model_params mp = llama_model_default_params();
    mp.n_gpu_layers = o.layers;
    llama_model * model = llama_model_load_from_file(argv[1], mp);
    if (model == nullptr) {
        fprintf(stderr, "tokens: %s cannot be loaded\n", argv[1]);
        return 1;
    }
    const int most_pp = o.pp.empty() ? 0 : *std::max_element(o.pp.begin(), o.pp.end());
    const int sequences = o.batch.empty() ? 1 : *std::max_element(o.batch.begin(), o.batch.end());
    llama_context_params cp = llama_context_default_params();
    cp.n_ctx = (uint32_t) (std::max({ most_pp, o.tg, 256 }) + 256) * (uint32_t) sequences;
    cp.n_batch = 2048;
    cp.n_ubatch = 512;
    cp.n_seq_max = (uint32_t) sequences;
    llama_context * ctx = llama_init_from_model(model, cp);
    if (ctx == nullptr) {
        fprintf(stderr, "tokens: there is no memory for the context\n");
        return 1;
    }
    int status = 0;
    if (!o.write.empty() || !o.compare.empty()) {
        const std::vector<float> logits = logits_of(ctx);
        FILE * file = o.write.empty() ? nullptr : fopen(o.write.c_str(), "wb");
        if (!o.write.empty() && (file == nullptr || fwrite(logits.data(), 4, logits.size(), file) != logits.size() || fclose(file) != 0)) {
            fprintf(stderr, "tokens: %s cannot be written\n", o.write.c_str());
            return 1;
        }
        status = o.compare.empty() ? 0 : compare(logits, o.compare.c_str());
    }
    for (int n : o.pp) {
        measure(ctx, o, "pp" + std::to_string(n), n, [&] { return decode(ctx, 1, n, 0, false); });
    }
    if (o.tg > 0) {
        measure(ctx, o, "tg" + std::to_string(o.tg), o.tg, [&] {
            bool good = true;
            for (int i = 0; good && i < o.tg; i++) good = decode(ctx, 1, 1, i, false);
            return good;
        });
    }
    for (int s : o.batch) {
        const int each = std::max(1, o.tg / 4);
        measure(ctx, o, "batch" + std::to_string(s), each * s, [&] {
            bool good = true;
            for (int i = 0; good && i < each; i++) good = decode(ctx, s, 1, i, false);
            return good;
        });
    }
    llama_free(ctx);
    llama_model_free(model);
    llama_backend_free();
    return status;
}
