// qdq_test: the division in the MSL text of qdq_init against that of this processor, also where the device's own is some units
// off. Argument: the .metal file that qkgen generates.
#include "check.h"

#include "../quotients.h"

static const char guess[] = "float(n) / float(d)";
static const char kernel[] =
    "\nkernel void quotients(device const uint2 *pairs [[buffer(0)]], device uint *out [[buffer(1)]],\n"
    "    constant uint &count [[buffer(2)]], uint i [[thread_position_in_grid]])\n{\n"
    "    if (i < count) out[i] = qk_qdq::qk_exact_quotient(pairs[i].x, pairs[i].y);\n}\n";

static std::string read_text(const char *path) {
    std::string text;
    FILE *file = fopen(path, "rb");
    char buffer[65536];
    for (size_t n; file && (n = fread(buffer, 1, sizeof buffer, file)) > 0;) text.append(buffer, n);
    if (file) fclose(file);
    return text;
}

int main(int argc, char **argv) {
    const std::string text = argc == 2 ? read_text(argv[1]) : "";
    const size_t at = text.find(guess);
    if (at == std::string::npos) {
        printf("usage: qdq_test QDQ.metal, which divides as %s\n", guess);
        return 2;
    }
    std::vector<uint32_t> pairs(2 * QUOTIENTS);
    make_pairs(pairs.data());
    const uint32_t halves = count_halves(pairs.data());
    CHECK(halves > QUOTIENTS / 10, "the pairs are hard: %u", halves);
    for (const char *off : {"", " * (1.0f + 4.0f / 8388608.0f)", " * (1.0f - 4.0f / 8388608.0f)"}) {
        std::string changed = text + kernel;
        changed.insert(at + strlen(guess), off);
        qk_msl_error error;
        qk_msl *file = qk_msl_open(changed.data(), changed.size(), "quotients.metal", nullptr, &error);
        CHECK(file, "%s", error.text);
        if (!file) break;
        std::vector<uint32_t> out(QUOTIENTS);
        uint32_t count = QUOTIENTS;
        launch((QUOTIENTS + 255) / 256, 256).add(0, pairs).add(1, out).value(2, count).must(file, "quotients");
        const uint32_t wrong = count_wrong(pairs.data(), out.data());
        CHECK(wrong == 0, "%u of %d quotients are wrong with the guess%s", wrong, QUOTIENTS, off);
        qk_msl_close(file);
    }
    printf("%d quotients, %u of them within 1e-6 units of halfway, or there\n", QUOTIENTS, halves);
    return finish("qdq");
}
