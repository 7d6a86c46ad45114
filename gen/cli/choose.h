/* choose.h: families and formats that a command names. */
#ifndef QKGEN_CHOOSE_H
#define QKGEN_CHOOSE_H

#include "cli/command.h"
#include "emit/emit.h"

/* Sets the families of `emit` to those that are named, or to all that take a format when none is. Names of families
 * without a format are passed over; false after a message about a name that no family has. */
bool qg_choose_families(qg_session *session, const qg_texts *names, qg_emit_options *emit);
/* Sets its formats, after the families, to those that are named, or to all, each with values computed in `math`; none
 * when nothing is named and no family takes a format. False after a message about a name that no format has. */
bool qg_choose_layouts(qg_session *session, const qg_texts *names, qg_scalar math, qg_emit_options *emit);

#endif
