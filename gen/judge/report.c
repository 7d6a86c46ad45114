/* Counts, words and harmless text for the reports. */
#include "judge/report.h"

#include <string.h>

const char *const qg_verdicts[QG_VERDICT_COUNT] = {"clean", "wrong", "not judged"};
const char *const qg_severities[QG_WRONG + 1] = {"note", "wrong"};
const char *const qg_bit_states[QG_BIT_STATES] = {"unseen", "spare", "right", "wrong", "unread"};

/* ---- counts ------------------------------------------------------------------------------------------------------ */

qg_verdict qg_verdict_of(const qg_judgement *judgement) {
    if (qg_judgement_wrong(judgement) > 0) {
        return QG_VERDICT_WRONG;
    }
    bool done = false;
    for (uint32_t e = 0; e < QG_EVIDENCE_COUNT; e++) {
        done |= judgement->runs[e].done;
    }
    return done ? QG_VERDICT_CLEAN : QG_VERDICT_NONE;
}

const char *qg_report_summary(qg_arena *arena, const qg_judgement *const *judgements, uint32_t count) {
    uint32_t of[QG_VERDICT_COUNT] = {0}, wrong = 0;
    for (uint32_t i = 0; i < count; i++) {
        of[qg_verdict_of(judgements[i])]++;
        wrong += qg_judgement_wrong(judgements[i]);
    }
    qg_text text = qg_text_new(arena);
    qg_text_printf(&text, "%s judged: ", qg_report_many(arena, count, "kernel", "kernels"));
    if (of[QG_VERDICT_WRONG] > 0) {
        qg_text_printf(&text, "%u wrong (%s), ", of[QG_VERDICT_WRONG],
                       qg_report_many(arena, wrong, "finding", "findings"));
    }
    qg_text_printf(&text, "%u clean", of[QG_VERDICT_CLEAN]);
    if (of[QG_VERDICT_NONE] > 0) {
        qg_text_printf(&text, ", %u not judged", of[QG_VERDICT_NONE]);
    }
    return text.data;
}

uint32_t qg_report_count(const qg_judgement *judgement, qg_evidence evidence, qg_severity severity) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < judgement->n_findings; i++) {
        const qg_finding *finding = &judgement->findings[i];
        count += finding->evidence == evidence && finding->severity == severity;
    }
    return count;
}

void qg_report_bits(const qg_judgement *judgement, uint32_t counts[QG_BIT_STATES]) {
    memset(counts, 0, sizeof *counts * QG_BIT_STATES);
    for (uint32_t b = 0; b < judgement->layout->n_buffers; b++) {
        for (uint32_t bit = 0; bit < judgement->layout->buffers[b].bytes * 8; bit++) {
            counts[judgement->bits == NULL ? QG_BIT_UNSEEN : judgement->bits[b][bit]]++;
        }
    }
}

const char *qg_report_code(const qg_judgement *judgement, const qg_finding *finding) {
    return finding->code < judgement->layout->n_codes ? judgement->layout->codes[finding->code].name : NULL;
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

const char *qg_report_number(qg_arena *arena, uint64_t number) {
    const char *rest = number < 1000 ? "" : qg_report_number(arena, number / 1000);
    return qg_format(arena, number < 1000 ? "%s%u" : "%s,%03u", rest, (unsigned)(number % 1000));
}

const char *qg_report_many(qg_arena *arena, uint64_t number, const char *one, const char *several) {
    return qg_format(arena, "%s %s", qg_report_number(arena, number), number == 1 ? one : several);
}

const char *qg_report_seconds(qg_arena *arena, double seconds) {
    return qg_format(arena,
                     seconds == 0    ? "%.0f s"
                     : seconds < 0.1 ? "%.3f s"
                     : seconds < 10  ? "%.1f s"
                                     : "%.0f s",
                     seconds);
}

/* ---- harmless text ----------------------------------------------------------------------------------------------- */

/* The character that begins at `at`, and its bytes; U+FFFD and one byte where that is not UTF-8. */
static uint32_t decode(const unsigned char *at, size_t *bytes) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t n = at[0] < 0x80 ? 1 : at[0] >> 5 == 6 ? 2 : at[0] >> 4 == 14 ? 3 : at[0] >> 3 == 30 ? 4 : 0;
    *bytes = 1;
    if (n <= 1) {
        return n == 1 ? at[0] : 0xFFFD;
    }
    uint32_t character = at[0] & (0x7Fu >> n);
    for (size_t i = 1; i < n; i++) {
        if (at[i] >> 6 != 2) {
            return 0xFFFD;
        }
        character = character << 6 | (at[i] & 0x3Fu);
    }
    if (character < least[n] || character > 0x10FFFF || (character >= 0xD800 && character < 0xE000)) {
        return 0xFFFD;
    }
    *bytes = n;
    return character;
}

/* Controls, and what turns the direction of writing or begins a line of its own. */
static bool is_hidden(uint32_t c) {
    return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x061C || c == 0x200E || c == 0x200F || c == 0x2028 ||
           c == 0x2029 || (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069) || c == 0xFEFF;
}

static const char *cleaned(qg_arena *arena, const char *text, bool visible) {
    qg_text clean = qg_text_new(arena);
    size_t bytes;
    for (const char *at = text == NULL ? "" : text; *at != '\0'; at += bytes) {
        uint32_t character = decode((const unsigned char *)at, &bytes);
        if (visible && is_hidden(character)) {
            qg_text_printf(&clean, character < 0x100 ? "\\x%02X" : "\\u{%04X}", (unsigned)character);
        } else if (character == 0xFFFD) {
            qg_text_puts(&clean, "\xEF\xBF\xBD");
        } else {
            qg_text_add(&clean, at, bytes);
        }
    }
    return clean.data != NULL ? clean.data : "";
}

const char *qg_report_utf8(qg_arena *arena, const char *text) { return cleaned(arena, text, false); }
const char *qg_report_visible(qg_arena *arena, const char *text) { return cleaned(arena, text, true); }
