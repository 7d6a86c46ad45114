/* `qkgen gallery`: writes or compares the page of all formats. */
#include "cli/command.h"
#include "cli/gallery.h"

int qg_command_gallery(qg_session *session, int argc, char **argv) {
    qg_texts rest = {0};
    const char *out = "docs";
    bool check = false;
    const qg_option options[] = {{"--out", QG_TEXT, &out, "DIR", "the folder that is written to (default: docs)"},
                                 {"--check", QG_FLAG, &check, NULL, "compares with what is there, and writes nothing"},
                                 QG_SESSION_OPTIONS(session)};
    if (!qg_options_read(session, argc, argv, options, QG_LENGTH(options), &rest)) return 1;
    if (rest.count) return qg_complain("gallery takes no '%s': it shows all formats", rest.items[0]);
    if (!qg_session_load(session)) return 1;
    uint32_t files = 0, changed = 0;
    qg_text log = qg_text_new(session->arena);
    const bool good = qg_gallery(session->arena, session->library, out, check, &files, &changed, &log);
    if (log.data) fputs(log.data, stderr);
    if (!good) return 1;
    if (check)
        printf("%u files are what the specifications generate\n", files);
    else
        printf("%u files, %u changed\n", files, changed);
    return 0;
}
