/* Which functions are instrumented, as the command line says. */
#ifndef PT_INSTRUMENT_CHOICE_H
#define PT_INSTRUMENT_CHOICE_H

#include "base/err.h"
#include "base/mem.h"
#include "instrument/args.h"

/* Patterns of the shell, * ? [...]. */
struct pt_choice {
    struct pt_args only_files, skip_files, skip_functions;          /* --only-file, --skip-file, --skip-function */
    struct pt_args ignored_files, ignored_functions, ignored_units; /* src:, fun:, mainfile: of -fsanitize-ignorelist */
};

/* Takes the options of Portent's own out of a command line, and reads the lists that clang's option names; that one
 * stays. Strings go to the arena. */
enum pt_status pt_choice_take(struct pt_choice *choice, int argc, char **argv, struct pt_arena *arena,
                              struct pt_args *ret_rest, struct pt_err *err) PT_WARN_UNUSED;
void pt_choice_release(struct pt_choice *choice);

/* A function, as debug information and the linker know it; files are as the compiler was given them. */
struct pt_chosen {
    const char *name, *symbol;        /* ns::f, _ZN2ns1fEv */
    const char *file, *folder, *unit; /* the folder is that of relative names */
};
bool pt_choice_leaves_alone(const struct pt_choice *choice, const struct pt_chosen *function);

#endif
