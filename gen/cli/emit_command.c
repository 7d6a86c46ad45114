/* `qkgen emit`: what is written, and what that is made from. */
#include "cli/choose.h"
#include "emit/spirv.h"

#include <string.h>

/* Families without a format, named alone or by their set. They come along when neither formats nor
 * families are named. */
static bool choose_plains(qg_session *session, const qg_texts *names, const qg_texts *formats, qg_emit_options *emit) {
    const qg_plain **plains = NULL;
    uint32_t capacity = 0;
    for (uint32_t s = 0; s < qg_n_plain_sets; ++s)
        for (uint32_t f = 0; f < qg_plain_sets[s].n_families; ++f) {
            const qg_plain *family = &qg_plain_sets[s].families[f];
            bool chosen = names->count == 0 && formats->count == 0;
            for (uint32_t n = 0; n < names->count; ++n)
                chosen |= qg_plain_named(names->items[n], NULL) == family ||
                          qg_plain_set_named(names->items[n]) == &qg_plain_sets[s];
            if (chosen) QG_PUSH(session->arena, plains, emit->n_plains, capacity, family);
        }
    emit->plains = plains;
    if (!emit->n_plains || !formats->count) return true;
    return qg_complain("%s takes no format: emit it without --format", plains[0]->name) == 0;
}

/* All classes that a format has, but those that want to be asked for, unless some are named. */
static bool choose_classes(qg_session *session, const qg_texts *names, qg_emit_options *emit) {
    for (uint32_t i = 0; i < qg_n_sum_classes && !names->count; ++i)
        if (!qg_sum_classes[i].on_request) emit->classes |= UINT32_C(1) << i;
    for (uint32_t n = 0; n < names->count; ++n) {
        const qg_sum_class *sum = qg_sum_class_named(names->items[n]);
        if (!sum) return qg_complain("--class takes %s, not '%s'", qg_class_list(session->arena), names->items[n]) == 0;
        emit->classes |= UINT32_C(1) << (sum - qg_sum_classes);
    }
    return true;
}

/* Types of results and of x, and schedules beside plain rows: all, unless some are named. */
static bool choose_variants(qg_session *session, const qg_texts *types, const qg_texts *schedules,
                            qg_emit_options *emit) {
    for (uint32_t n = 0; n < types->count; ++n) {
        qg_scalar type = QG_F32;
        if (!qg_math_named(types->items[n], &type)) return false;
        emit->types |= UINT32_C(1) << type;
    }
    for (uint32_t n = 0; n < schedules->count; ++n) {
        const qk_schedule schedule = qg_schedule_of_rows(schedules->items[n]);
        if (schedule == QK_SCHEDULE_NONE)
            return qg_complain("--schedule takes %s, not '%s'", qg_schedule_words(session->arena),
                               schedules->items[n]) == 0;
        emit->schedules |= UINT32_C(1) << schedule;
    }
    for (uint32_t f = 0; f < emit->n_families && emit->types; ++f)
        for (uint32_t t = 0; t < emit->families[f]->n_types; ++t)
            if (emit->types >> emit->families[f]->types[t] & 1) return true;
    return !emit->types || !emit->n_families ||
           qg_complain("no kernel of these families has that type: sums take x in f32 and f16, and encoders in f32") ==
               0;
}

/* Those with descriptors, unless some are named. */
static bool choose_apis(qg_session *session, const qg_texts *names, qg_emit_options *emit) {
    emit->vulkan = emit->metal = names->count == 0;
    for (uint32_t n = 0; n < names->count; ++n) {
        if (strcmp(names->items[n], "vulkan") == 0)
            emit->vulkan = true;
        else if (strcmp(names->items[n], "metal") == 0)
            emit->metal = true;
        else if (qg_target_of_api(names->items[n]) < QG_TARGET_COUNT)
            emit->texts |= UINT32_C(1) << qg_target_of_api(names->items[n]);
        else
            return qg_complain("--api takes vulkan|metal%s, not '%s'", qg_api_words(session->arena), names->items[n]) ==
                   0;
    }
    return true;
}

/* FROM:TO, of formats; FROM is emitted, with nothing else where neither formats nor families are named. */
static bool choose_transcodes(qg_session *session, const qg_texts *pairs, qg_emit_options *emit) {
    qg_transcoding *all = QG_NEW_ARRAY(session->arena, qg_transcoding, pairs->count + 1);
    for (uint32_t i = 0; i < pairs->count; ++i) {
        const char *pair = pairs->items[i], *colon = strchr(pair, ':');
        if (!colon) return qg_complain("--transcode takes FROM:TO, two formats, not '%s'", pair) == 0;
        const char *name = qg_strndup(session->arena, pair, (size_t)(colon - pair));
        all[i] = (qg_transcoding){qg_session_format(session, name), NULL};
        if (!all[i].from || !(all[i].to = qg_session_format(session, colon + 1))) return false;
        const char *why = qg_transcode_hindrance(session->arena, all[i].from, all[i].to);
        if (why) return qg_complain("--transcode %s: %s", pair, why) == 0;
        for (uint32_t k = 0; k < i; ++k)
            if (all[k].from == all[i].from && all[k].to == all[i].to)
                return qg_complain("--transcode %s is given twice", pair) == 0;
    }
    emit->n_transcodes = pairs->count;
    emit->transcodes = all;
    return true;
}

/* The formats that are read, unless others are named; each must be emitted. */
static bool add_sources(qg_session *session, const qg_emit_options *emit, qg_texts *formats) {
    const bool named = formats->count > 0;
    for (uint32_t i = 0; i < emit->n_transcodes; ++i) {
        const char *name = emit->transcodes[i].from->name;
        bool there = false;
        for (uint32_t f = 0; f < formats->count; ++f) there |= strcmp(formats->items[f], name) == 0;
        if (!there && named)
            return qg_complain("--transcode %s:%s goes into the files of %s: name that with --format, too", name,
                               emit->transcodes[i].to->name, name) == 0;
        if (!there) QG_PUSH(session->arena, formats->items, formats->count, formats->capacity, name);
    }
    return true;
}

/* Texts that need no C stand alone where nothing else is asked for; of all formats, those that have one. */
static void choose_alone(qg_arena *arena, const qg_texts *formats, qg_emit_options *emit) {
    emit->texts_alone = emit->texts && !emit->vulkan && !emit->metal;
    for (uint32_t t = 0; t < QG_TARGET_COUNT; ++t)
        if (emit->texts >> t & 1 && !qg_targets[t]->prefix) emit->texts_alone = false;
    if (!emit->texts_alone) return;
    emit->every_format = false;
    const qg_layout **taken = QG_NEW_ARRAY(arena, const qg_layout *, emit->n_layouts + 1);
    uint32_t count = 0;
    for (uint32_t i = 0; i < emit->n_layouts; ++i) {
        bool takes = formats->count != 0;
        for (uint32_t t = 0; t < QG_TARGET_COUNT; ++t)
            if (emit->texts >> t & 1) takes |= !qg_targets[t]->takes || qg_targets[t]->takes(emit->layouts[i]);
        if (takes) taken[count++] = emit->layouts[i];
    }
    emit->layouts = taken;
    emit->n_layouts = count;
    emit->n_plains = 0;
}

/* The files that the chosen formats are made from: specifications and the tables beside them. */
static void find_inputs(qg_session *session, qg_emit_options *emit) {
    qg_texts inputs = {0};
    for (uint32_t i = 0; i < emit->n_layouts + emit->n_transcodes; ++i) {
        const qg_spec *spec = (i < emit->n_layouts ? emit->layouts[i] : emit->transcodes[i - emit->n_layouts].to)->spec;
        const char *path = spec->source->path, *slash = strrchr(path, '/');
        QG_PUSH(session->arena, inputs.items, inputs.count, inputs.capacity, path);
        for (uint32_t t = 0; t < spec->n_tables; ++t) {
            if (!spec->tables[t].file) continue;
            const char *table =
                qg_format(session->arena, "%.*s%s", slash ? (int)(slash + 1 - path) : 0, path, spec->tables[t].file);
            QG_PUSH(session->arena, inputs.items, inputs.count, inputs.capacity, table);
        }
    }
    if (emit->shown_list) QG_PUSH(session->arena, inputs.items, inputs.count, inputs.capacity, emit->shown_list);
    emit->n_inputs = inputs.count;
    emit->inputs = inputs.items;
}

/* Which formats are shown, where --shown lists them. */
static bool choose_shown(qg_session *session, const char *path, qg_emit_options *emit) {
    if (!path) return true;
    if (!emit->every_format || emit->embed)
        return qg_complain("--shown is for the tree of all formats: leave out --format, --decode-math and --embed, and "
                           "families that take no format") == 0;
    qg_diag diag = qg_diag_new(session->arena, session->color);
    emit->shown_list = path;
    emit->shown = qg_shown_read(session->arena, &diag, session->library, path);
    qg_print_errors(&diag);
    return emit->shown != NULL;
}

/* In the sources, runtime/include; installed, the include folder. */
static const char *find_headers(const qg_session *session) {
    const char *sources = qg_format(session->arena, "%s/runtime/include", session->data);
    return qg_is_folder(sources) ? sources : qg_format(session->arena, "%s/../../include", session->data);
}

static void print_report(qg_arena *arena, const qg_emit_options *emit, const qg_emit_report *report) {
    const char *more = report->hashed ? qg_format(arena, ", and the hashes of %u more", report->hashed) : "";
    if (emit->check)
        printf("%u files%s are what the specifications generate; %u modules validated\n", report->files, more,
               report->modules);
    else
        printf("%u formats, %u files%s, %u changed; %u SPIR-V modules validated, %zu KiB\n", emit->n_layouts,
               report->files, more, report->changed, report->modules, report->module_bytes / 1024);
}

int qg_command_emit(qg_session *session, int argc, char **argv) {
    qg_texts formats = {0}, families = {0}, apis = {0}, classes = {0}, types = {0}, schedules = {0}, transcodes = {0},
             rest = {0};
    const char *math_name = NULL, *shown = NULL;
    qg_scalar math;
    qg_emit_options emit = {.out = "out"};
    const qg_option options[] = {
        {"--format", QG_TEXTS, &formats, "F", "a format (default: all)"},
        {"--family", QG_TEXTS, &families, "FAMILY", "a kernel family (default: all)"},
        {"--transcode", QG_TEXTS, &transcodes, "FROM:TO",
         "a kernel that makes blocks of one format of those of another, into the files of the first; alone, without "
         "--format and --family, nothing else"},
        {"--api", QG_TEXTS, &apis, qg_format(session->arena, "vulkan|metal%s", qg_api_words(session->arena)),
         "an API (default: vulkan and metal)"},
        {"--target", QG_TEXTS, &apis, "API", "the same"},
        {"--class", QG_TEXTS, &classes, qg_class_words(),
         "how sums over rows multiply (default: all but half and mma)"},
        {"--type", QG_TEXTS, &types, "f32|f16|bf16", "types of results and, of sums, of x (default: all)"},
        {"--schedule", QG_TEXTS, &schedules, qg_schedule_words(session->arena),
         "of sums over rows on Vulkan, beside plain rows, which are always there (default: all)"},
        {"--decode-math", QG_TEXT, &math_name, "f32|bf16|f16",
         "rounds each operation of a value to that type (default: f32)"},
        {"--out", QG_TEXT, &emit.out, "DIR", "the folder that is written to (default: out)"},
        {"--check", QG_FLAG, &emit.check, NULL, "compares with what is there, and writes nothing"},
        {"--shown", QG_TEXT, &shown, "FILE",
         "of all formats, writes those alone that FILE lists; of the others, hashes in manifest.json"},
        {"--embed", QG_FLAG, &emit.embed, NULL,
         "writes one header and one source for each format, which need nothing else"},
        {"--pack", QG_FLAG, &emit.pack, NULL,
         "with --embed: words for Vulkan take a quarter of the bytes, and the engine unpacks them (qkgen/unpack.h)"},
        {"--includes", QG_FLAG, &emit.includes, NULL,
         "with --embed: pairs include the headers of qkgen/ in place of holding them, so that several share them"},
        {"--depfile", QG_TEXT, &emit.depfile, "FILE", "also writes what the files are made from, for make or ninja"},
        QG_SESSION_OPTIONS(session)};
    if (!qg_options_read(session, argc, argv, options, QG_LENGTH(options), &rest)) return 1;
    for (uint32_t i = 0; i < rest.count; ++i)
        QG_PUSH(session->arena, session->specs.items, session->specs.count, session->specs.capacity, rest.items[i]);
    if (!qg_math_named(math_name, &math) || !qg_session_load(session)) return 1;
    if (!choose_transcodes(session, &transcodes, &emit)) return 1;
    if (transcodes.count && math != QG_F32)
        return qg_complain("--transcode decodes to f32: leave --decode-math %s out", math_name);
    const bool alone = transcodes.count && !formats.count && !families.count;
    if (!add_sources(session, &emit, &formats)) return 1;
    if (!choose_classes(session, &classes, &emit) || (!alone && !qg_choose_families(session, &families, &emit)) ||
        !choose_variants(session, &types, &schedules, &emit) || !choose_apis(session, &apis, &emit) ||
        !choose_plains(session, &families, &formats, &emit) || !qg_choose_layouts(session, &formats, math, &emit) ||
        !choose_shown(session, shown, &emit))
        return 1;
    choose_alone(session->arena, &formats, &emit);
    if ((emit.pack || emit.includes) && !emit.embed)
        return qg_complain("%s is for pairs: add --embed", emit.pack ? "--pack" : "--includes"), 1;
    emit.templates = qg_session_templates(session);
    emit.runtime_headers = find_headers(session);
    find_inputs(session, &emit);

    qg_emit_report report = {0};
    qg_text log = qg_text_new(session->arena);
    const bool good = qg_emit(session->arena, &emit, &report, &log);
    if (log.data) fputs(log.data, stderr);
    if (!good) return 1;
    print_report(session->arena, &emit, &report);
    if (report.left_out)
        fprintf(stderr, "qkgen: warning: %u kernels for Vulkan are left out: " QG_SPIRV_LACKS_MATRICES "\n",
                report.left_out);
    return 0;
}
