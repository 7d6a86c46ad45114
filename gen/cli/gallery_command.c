/* `qkgen gallery`: writes or compares the page of all formats. */
#include "cli/command.h"
#include "cli/gallery.h"

int qg_command_gallery(qg_session *session, int argc, char **argv) {
    qg_texts rest = {0};
    const char *out = "docs", *list = NULL;
    bool check = false;
    const qg_option options[] = {{"--out", QG_TEXT, &out, "DIR", "the folder that is written to (default: docs)"},
                                 {"--check", QG_FLAG, &check, NULL, "compares with what is there, and writes nothing"},
                                 {"--shown", QG_TEXT, &list, "FILE",
                                  "writes pictures of those formats alone that FILE lists; of the others, hashes in "
                                  "formats/pictures.txt; and links to ../formats for the text of specifications"},
                                 QG_SESSION_OPTIONS(session)};
    if (!qg_options_read(session, argc, argv, options, QG_LENGTH(options), &rest)) return 1;
    if (rest.count) return qg_complain("gallery takes no '%s': it shows all formats", rest.items[0]);
    if (!qg_session_load(session)) return 1;
    const bool *shown = NULL;
    if (list) {
        qg_diag diag = qg_diag_new(session->arena, session->color);
        shown = qg_shown_read(session->arena, &diag, session->library, list);
        qg_print_errors(&diag);
        if (!shown) return 1;
    }
    qg_gallery_report report = {0};
    qg_text log = qg_text_new(session->arena);
    const bool good = qg_gallery(session->arena, session->library, shown, out, check, &report, &log);
    if (log.data) fputs(log.data, stderr);
    if (!good) return 1;
    const char *more = report.hashed ? qg_format(session->arena, ", and the hashes of %u pictures", report.hashed) : "";
    if (check)
        printf("%u files%s are what the specifications generate\n", report.files, more);
    else
        printf("%u files%s, %u changed\n", report.files, more, report.changed);
    return 0;
}
