/* SPIR-V from GLSL, in process, through the C interfaces of glslang and SPIRV-Tools.
 *
 *   GLSL --preprocess, parse, link--> AST --generate--> words --shrink--> words --strip--> words --validate--> words
 *
 * spirv_shrink.c runs the optimiser of SPIRV-Tools, where that has an interface in C for it; else glslang does, where
 * it was built with it, and only when it is asked to optimise for size. Its time grows with the square of the stores in
 * a straight line, which shows past some 500 of them; kernels have few. Without an optimiser the words are longer, and
 * the driver optimises. We strip names ourselves, so that all builds do, and validate ourselves, so that a complaint is
 * an error here. */
#include "emit/spirv.h"
#include "emit/spirv_cache.h"
#include "emit/spirv_shrink.h"

#include <string.h>

#include <glslang/Include/glslang_c_interface.h>
#include <glslang/Public/resource_limits_c.h>
#include <spirv-tools/libspirv.h>

const char *const qg_spirv_absent = NULL;

bool qg_spirv_open(void) { return glslang_initialize_process() != 0; }

bool qg_spirv_has_matrices(void) { return QKGEN_GLSLANG_VERSION >= 13; }

void qg_spirv_close(void) { glslang_finalize_process(); }

/* ---- messages ------------------------------------------------------------------------------------------------- */

/* The text of line `number`, counted from 1; empty past the end. */
static const char *line_at(const char *text, unsigned long number, size_t *length) {
    while (number > 1 && *text != '\0') {
        const char *end = strchr(text, '\n');
        if (end == NULL) {
            text += strlen(text);
        } else {
            text = end + 1;
            number--;
        }
    }
    *length = strcspn(text, "\r\n");
    return text;
}

/* One line of glslang's log: `ERROR: 0:LINE: MESSAGE` becomes `NAME:LINE: error: MESSAGE` and the line of the GLSL. */
static void add_complaint(qg_text *out, const char *name, const char *glsl, const char *line, size_t length) {
    static const char prefix[] = "ERROR: 0:";
    unsigned long number = 0;
    size_t at = sizeof prefix - 1;
    if (length > at && strncmp(line, prefix, at) == 0) {
        while (at < length && line[at] >= '0' && line[at] <= '9' && number < 100000000) {
            number = number * 10 + (unsigned long)(line[at++] - '0');
        }
    }
    if (number == 0 || at + 2 > length || line[at] != ':') {
        qg_text_printf(out, "%s: %.*s\n", name, (int)length, line);
        return;
    }
    at += at + 1 < length && line[at + 1] == ' ' ? 2 : 1;
    qg_text_printf(out, "%s:%lu: error: %.*s\n", name, number, (int)(length - at), line + at);
    size_t source_length;
    const char *source = line_at(glsl, number, &source_length);
    qg_text_printf(out, "%6lu | %.*s\n", number, (int)source_length, source);
}

static bool ends_with(const char *line, size_t length, const char *end) {
    size_t n = strlen(end);
    return length >= n && memcmp(line + length - n, end, n) == 0;
}

/* A line that tells how many complaints there were, or that there will be no more. */
static bool is_summary(const char *line, size_t length) {
    return ends_with(line, length, "compilation errors.  No code generated.") ||
           ends_with(line, length, "compilation terminated");
}

/* Rewrites a log of glslang. Never empty: a failure without a log still says which stage it was. */
static const char *complaints(qg_arena *arena, const char *name, const char *glsl, const char *stage, const char *log) {
    qg_text out = qg_text_new(arena);
    while (log != NULL && *log != '\0') {
        size_t length = strcspn(log, "\n");
        size_t text = length;
        while (text > 0 && (log[text - 1] == '\r' || log[text - 1] == ' ')) {
            text--;
        }
        if (text > 0 && !is_summary(log, text)) {
            add_complaint(&out, name, glsl, log, text);
        }
        log += length + (log[length] == '\n');
    }
    if (out.length == 0) {
        qg_text_printf(&out, "%s: error: the GLSL compiler failed to %s, and did not say why\n", name, stage);
    }
    return out.data;
}

/* ---- words ---------------------------------------------------------------------------------------------------- */

enum { HEADER_WORDS = 5 };

/* Instructions that describe the source and change nothing that runs. OpString stays: others may refer to it. */
static bool is_debug(uint32_t opcode) {
    switch (opcode) {
    case 2:   /* OpSourceContinued */
    case 3:   /* OpSource */
    case 4:   /* OpSourceExtension */
    case 5:   /* OpName */
    case 6:   /* OpMemberName */
    case 8:   /* OpLine */
    case 317: /* OpNoLine */
    case 330: /* OpModuleProcessed */ return true;
    default: return false;
    }
}

/* Copies a module without its debug instructions. */
static uint32_t *strip(qg_arena *arena, const uint32_t *words, size_t count, size_t *stripped) {
    uint32_t *out = QG_NEW_ARRAY(arena, uint32_t, count);
    size_t used = HEADER_WORDS < count ? HEADER_WORDS : count;
    memcpy(out, words, used * sizeof *words);
    for (size_t at = used; at < count;) {
        size_t length = words[at] >> 16;
        if (length == 0 || length > count - at) {
            length = count - at; /* malformed: the validator says so */
        }
        if (!is_debug(words[at] & 0xffff)) {
            memcpy(out + used, words + at, length * sizeof *words);
            used += length;
        }
        at += length;
    }
    *stripped = used;
    return out;
}

/* An eighth of the time goes into names that only a complaint has: `named` says whether it shall have them. */
static spv_result_t validate(spv_context context, const uint32_t *words, size_t count, bool named,
                             spv_diagnostic *diagnostic) {
    spv_const_binary_t binary = {words, count};
    spv_validator_options options = spvValidatorOptionsCreate();
#if QKGEN_SPIRV_OPTIMIZER
    spvValidatorOptionsSetFriendlyNames(options, named); /* older ones always make them */
#else
    (void)named;
#endif
    const spv_result_t result = spvValidateWithOptions(context, options, &binary, diagnostic);
    spvValidatorOptionsDestroy(options);
    return result;
}

const char *qg_spirv_validate(qg_arena *arena, const char *name, const uint32_t *words, size_t count) {
    spv_context context = spvContextCreate(SPV_ENV_VULKAN_1_1);
    if (context == NULL) {
        return qg_format(arena, "%s: error: SPIRV-Tools has no validator for Vulkan 1.1\n", name);
    }
    spv_diagnostic diagnostic = NULL;
    const char *why = NULL;
    if (validate(context, words, count, false, NULL) != SPV_SUCCESS &&
        validate(context, words, count, true, &diagnostic) != SPV_SUCCESS) {
        bool said = diagnostic != NULL && diagnostic->error != NULL;
        why = qg_format(arena, "%s: error: the SPIR-V is not valid for Vulkan 1.1, at instruction %zu: %s\n", name,
                        said ? diagnostic->position.index : (size_t)0, said ? diagnostic->error : "no reason given");
    }
    spvDiagnosticDestroy(diagnostic);
    spvContextDestroy(context);
    return why;
}

const char *qg_spirv_validate_any(qg_arena *arena, const uint32_t *words, size_t count) {
    spv_context context = spvContextCreate(SPV_ENV_UNIVERSAL_1_6);
    spv_validator_options options = spvValidatorOptionsCreate();
    spv_const_binary_t binary = {words, count};
    spv_diagnostic diagnostic = NULL;
    const char *why = NULL;
    spvValidatorOptionsSetScalarBlockLayout(options, true);
    spvValidatorOptionsSetWorkgroupScalarBlockLayout(options, true);
    if (spvValidateWithOptions(context, options, &binary, &diagnostic) != SPV_SUCCESS) {
        const bool said = diagnostic != NULL && diagnostic->error != NULL;
        const char *text = said ? diagnostic->error : "no reason given";
        why = qg_format(arena, "the SPIR-V is not valid, at instruction %zu: %.*s",
                        said ? diagnostic->position.index : 0, (int)strcspn(text, "\n"), text);
    }
    spvDiagnosticDestroy(diagnostic);
    spvValidatorOptionsDestroy(options);
    spvContextDestroy(context);
    return why;
}

/* ---- compilation ---------------------------------------------------------------------------------------------- */

static const uint32_t *generate(qg_arena *arena, const char *name, const char *glsl, glslang_program_t *program,
                                size_t *bytes, const char **why) {
    const bool shrinks = qg_spirv_shrinks();
    glslang_spv_options_t options = {.disable_optimizer = shrinks, .optimize_size = !shrinks};
    glslang_program_SPIRV_generate_with_options(program, GLSLANG_STAGE_COMPUTE, &options);
    const char *log = glslang_program_SPIRV_get_messages(program);
    size_t count = glslang_program_SPIRV_get_size(program);
    if (count == 0) {
        *why = complaints(arena, name, glsl, "write SPIR-V", log);
        return NULL;
    }
    const uint32_t *words = strip(arena, glslang_program_SPIRV_get_ptr(program), count, &count);
    const char *unshrunk = NULL;
    if (shrinks && !(words = qg_spirv_shrink(arena, words, count, &count, &unshrunk))) {
        *why = qg_format(arena, "%s: error: %s\n", name, unshrunk);
        return NULL;
    }
    const char *invalid = qg_spirv_validate(arena, name, words, count);
    if (invalid != NULL) {
        *why = log != NULL && *log != '\0' ? qg_format(arena, "%s%s: %s\n", invalid, name, log) : invalid;
        return NULL;
    }
    *bytes = count * sizeof *words;
    return words;
}

/* Who parses preprocesses what is no C: once is enough. */
static bool preprocess(glslang_shader_t *shader, const glslang_input_t *input) {
#if QKGEN_GLSLANG_VERSION >= 13
    glslang_shader_set_preprocessed_code(shader, input->code);
    return true;
#else
    return glslang_shader_preprocess(shader, input);
#endif
}

static const uint32_t *compile(qg_arena *arena, const char *name, const char *glsl, size_t *bytes, const char **why) {
    const glslang_messages_t rules = GLSLANG_MSG_SPV_RULES_BIT | GLSLANG_MSG_VULKAN_RULES_BIT;
    const glslang_input_t input = {
        .language = GLSLANG_SOURCE_GLSL,
        .stage = GLSLANG_STAGE_COMPUTE,
        .client = GLSLANG_CLIENT_VULKAN,
        .client_version = GLSLANG_TARGET_VULKAN_1_1,
        .target_language = GLSLANG_TARGET_SPV,
        .target_language_version = GLSLANG_TARGET_SPV_1_3,
        .code = glsl,
        .default_version = 450,
        .default_profile = GLSLANG_CORE_PROFILE,
        .messages = rules,
        .resource = glslang_default_resource(),
    };
    *bytes = 0;
    *why = NULL;
    const uint32_t *words = NULL;
    glslang_shader_t *shader = glslang_shader_create(&input);
    glslang_program_t *program = glslang_program_create();
    if (shader == NULL || program == NULL) {
        *why = qg_format(arena, "%s: error: the GLSL compiler does not start; was it opened?\n", name);
    } else if (!preprocess(shader, &input)) {
        *why = complaints(arena, name, glsl, "preprocess", glslang_shader_get_info_log(shader));
    } else if (!glslang_shader_parse(shader, &input)) {
        *why = complaints(arena, name, glsl, "parse", glslang_shader_get_info_log(shader));
    } else {
        glslang_program_add_shader(program, shader);
        if (!glslang_program_link(program, (int)rules)) {
            *why = complaints(arena, name, glsl, "link", glslang_program_get_info_log(program));
        } else {
            words = generate(arena, name, glsl, program, bytes, why);
        }
    }
    if (program != NULL) {
        glslang_program_delete(program); /* before the shader that it refers to */
    }
    if (shader != NULL) {
        glslang_shader_delete(shader);
    }
    return words;
}

const uint32_t *qg_spirv_compile(qg_arena *arena, const char *name, const char *glsl, size_t *bytes, const char **why) {
    *why = NULL;
    const char *kept = qg_spirv_cache_path(arena, glsl, QKGEN_GLSLANG_VERSION);
    const uint32_t *words = qg_spirv_cache_read(arena, kept, bytes);
    if (words) return words;
    words = compile(arena, name, glsl, bytes, why);
    qg_spirv_cache_write(arena, kept, words, *bytes);
    return words;
}

/* ---- reading -------------------------------------------------------------------------------------------------- */

typedef struct reader {
    qg_arena *arena;
    qg_spirv_instruction *items;
    uint32_t count, capacity, bound;
} reader;

static spv_result_t read_header(void *context, spv_endianness_t endian, uint32_t magic, uint32_t version,
                                uint32_t generator, uint32_t bound, uint32_t schema) {
    (void)endian, (void)magic, (void)version, (void)generator, (void)schema;
    ((reader *)context)->bound = bound;
    return SPV_SUCCESS;
}

static spv_result_t read_instruction(void *context, const spv_parsed_instruction_t *parsed) {
    reader *r = context;
    uint32_t *words = QG_NEW_ARRAY(r->arena, uint32_t, parsed->num_words);
    memcpy(words, parsed->words, parsed->num_words * sizeof *words);
    const qg_spirv_instruction one = {parsed->opcode, parsed->type_id, parsed->result_id, parsed->num_words, words};
    QG_PUSH(r->arena, r->items, r->count, r->capacity, one);
    return SPV_SUCCESS;
}

const qg_spirv_instruction *qg_spirv_read(qg_arena *arena, const uint32_t *words, size_t bytes, uint32_t *count,
                                          uint32_t *bound, const char **why) {
    reader r = {.arena = arena};
    spv_context context = spvContextCreate(SPV_ENV_UNIVERSAL_1_6);
    spv_diagnostic diagnostic = NULL;
    const bool good = context && spvBinaryParse(context, &r, words, bytes / 4, read_header, read_instruction,
                                                &diagnostic) == SPV_SUCCESS;
    if (!good) {
        *why = qg_format(arena, "not a SPIR-V module: %s", diagnostic ? diagnostic->error : "no reason given");
    }
    spvDiagnosticDestroy(diagnostic);
    spvContextDestroy(context);
    *count = r.count;
    *bound = r.bound;
    return good ? r.items : NULL;
}
