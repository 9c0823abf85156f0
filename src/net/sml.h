/* SML, the modelling language of `portent model`: text to a program. */
#ifndef PT_NET_SML_H
#define PT_NET_SML_H

#include "net/program.h"

/* Nested statements and parentheses beyond this are an error: the parser is recursive, and its stack is finite. */
enum { PT_SML_DEPTH = 1000 };

/* Adds the program that `text` holds to `program`, which is freshly initialised. `file` is how errors name the text.
 * On failure the program is to be released as usual. */
enum pt_status pt_sml_parse(const char *file, const char *text, size_t len, struct pt_program *program,
                            struct pt_err *err) PT_WARN_UNUSED;

#endif
