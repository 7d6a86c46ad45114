/* `qkgen show`: the map of a block, on the terminal or as a picture. */
#include "cli/command.h"
#include "spec/show.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint32_t terminal_columns(void) {
    const char *columns = getenv("COLUMNS");
    const int number = columns ? atoi(columns) : 0;
    return number >= 40 && number <= 1000 ? (uint32_t)number : 100;
}

int qg_command_show(qg_session *session, int argc, char **argv) {
    qg_texts rest = {0};
    const char *svg = NULL;
    const qg_option options[] = {{"--svg", QG_TEXT, &svg, "FILE", "draws the map into a file instead"},
                                 QG_SESSION_OPTIONS(session)};
    if (!qg_options_read(session, argc, argv, options, QG_LENGTH(options), &rest)) return 1;
    if (rest.count != 1) return qg_complain("show needs one format: qkgen show FORMAT [--svg FILE]");
    if (!qg_session_load_named(session, rest.items[0], NULL)) return 1;
    const qg_layout *layout = qg_session_format(session, rest.items[0]);
    if (!layout) return 1;
    if (svg) {
        const char *text = qg_show_svg(session->arena, layout);
        const char *why = qg_write_file(session->arena, svg, text, strlen(text));
        return why ? qg_complain("cannot write %s: %s", svg, why) : 0;
    }
    qg_text text = qg_text_new(session->arena);
    qg_show_terminal(&text, layout, session->color && isatty(STDOUT_FILENO), terminal_columns());
    fputs(text.data, stdout);
    return 0;
}
