/* Words that are packed are the same when they are unpacked, whatever they are; and what is damaged or cut off is no fault. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <qkgen/unpack.h>

#include <stdlib.h>
#include <string.h>

enum { MODULES = 7, MOST = 4000, ROOM = MODULES * MOST * 8 };

static uint32_t words[MODULES * MOST], got[MODULES * MOST], sizes[MODULES];
static unsigned char packed[ROOM];

static uint64_t state = 1;

static uint32_t next(uint32_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

/* Instructions as modules have them: few kinds, ids near the last, constants of all sizes. */
static size_t make_modules(void) {
    size_t total = 0;
    for (uint32_t m = 0; m < MODULES; ++m) {
        uint32_t *w = words + total, count = 5, id = 1;
        const uint32_t header[5] = {0x07230203, 0x00010300, next(1 << 20), next(5000), 0};
        memcpy(w, header, sizeof header);
        while (count + 20 < MOST && (count < 100 || next(500) != 0)) {
            const uint32_t length = 1 + next(next(8) ? 5 : 19), op = next(6) ? 100 + next(30) : next(65536);
            w[count] = length << 16 | op;
            for (uint32_t k = 1; k < length; ++k) {
                static const uint32_t odd[] = {0, 1, 0xFFFFFFFF, 0x80000000, 0x7FFFFFFF, 0x0001FFFF, 0x00020000};
                const uint32_t kind = next(8);
                w[count + k] = kind < 2   ? id++
                               : kind < 6 ? next(id + 3)
                               : kind < 7 ? odd[next(7)]
                                          : next(0x7FFFFFFF) * 2;
            }
            count += length;
        }
        sizes[m] = count * 4;
        total += count;
    }
    return total;
}

static void same(void **unused) {
    (void)unused;
    for (int run = 0; run < 40; ++run) {
        const size_t total = make_modules();
        memcpy(got, words, total * 4);
        const size_t bytes = qk_pack_words(got, sizes, MODULES, packed, ROOM);
        assert_true(bytes > 0);
        assert_memory_equal(got, words, total * 4); /* they are read alone */
        memset(got, 0xA5, sizeof got);
        assert_true(qk_unpack_words(packed, bytes, got, sizes, MODULES));
        assert_memory_equal(got, words, total * 4);
        assert_int_equal(got[total < MODULES * MOST ? total : 0], total < MODULES * MOST ? 0xA5A5A5A5 : words[0]);
    }
}

static void no_modules(void **unused) {
    (void)unused;
    uint32_t none[] = {0x07230203, 0x00010300, 0, 9, 0, 0x00000011}, size = sizeof none;
    assert_int_equal(qk_pack_words(none, &size, 1, packed, ROOM), 0); /* an instruction without a length */
    none[5] = 0x00090011;
    assert_int_equal(qk_pack_words(none, &size, 1, packed, ROOM), 0); /* one that goes beyond the end */
    none[5] = 0x00010011;
    assert_true(qk_pack_words(none, &size, 1, packed, ROOM) > 0);
}

static void damaged(void **unused) {
    (void)unused;
    const size_t total = make_modules(), bytes = qk_pack_words(words, sizes, MODULES, packed, ROOM);
    assert_int_equal(qk_pack_words(words, sizes, MODULES, packed, bytes - 1), 0); /* no room */
    assert_int_equal(qk_pack_words(words, sizes, MODULES, packed, bytes), bytes);
    for (size_t at = 0; at < bytes; at += 1 + bytes / 200) {
        unsigned char *const copy = malloc(bytes); /* of which nothing is read beyond its end */
        memcpy(copy, packed, bytes);
        copy[at] ^= (unsigned char)(1 + next(255));
        qk_unpack_words(copy, bytes, got, sizes, MODULES);
        memcpy(copy, packed, bytes);
        if (at + 64 < bytes) assert_false(qk_unpack_words(copy, at, got, sizes, MODULES));
        free(copy);
    }
    assert_true(total > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(same), cmocka_unit_test(no_modules), cmocka_unit_test(damaged)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
