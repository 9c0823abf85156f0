/*
 * Programs as text, so that a front end can be a process of its own. One item per line, fields separated by tabs:
 *
 *   portent-program 1
 *   file    NAME
 *   var     NAME
 *   lock    NAME
 *   thread  NAME  SPAWNED(0|1)  NODES  START  STOP|-  PLACE
 *   block   THREAD  NAME|-  PLACE                                  in the order of their numbers
 *   step    KIND  THREAD  FROM  TO  OBJECT|-  READS  WRITES  PLACE  TEXT
 *   note    PLACE  TEXT
 *   unknown PLACE  RUNS(0|1)  NAME
 *   end
 *
 * Or, instead of all this, why there is no program:
 *
 *   portent-program 1
 *   error   PLACE  TEXT
 *
 * Everything refers to what stands above it. PLACE is three fields: file, line, column. READS and WRITES are numbers of
 * variables separated by commas. A text is `=` and its characters, with \t, \n and \\ for those; `-` is no text.
 */
#ifndef PT_NET_PROGRAM_TEXT_H
#define PT_NET_PROGRAM_TEXT_H

#include "base/buf.h"
#include "net/program.h"

void pt_program_print(const struct pt_program *program, struct pt_buf *to);
void pt_program_print_error(const struct pt_err *why, struct pt_buf *to);
/* Fills an initialised program. Whatever the text says, the program is consistent; an `error` comes back as *err. */
enum pt_status pt_program_parse(const char *text, size_t len, struct pt_program *program,
                                struct pt_err *err) PT_WARN_UNUSED;

#endif
