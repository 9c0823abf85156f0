/*
 * `portent cc` and `portent c++`: clang's command line, with every shared memory access of the compiled code going
 * through the runtime. See driver.c for the plan and rewrite.h for what happens to the code.
 */
#ifndef PT_INSTRUMENT_INSTRUMENT_H
#define PT_INSTRUMENT_INSTRUMENT_H

#include <stdbool.h>

/*
 * Compiles and links as clang would with these arguments (without the program's name in front), and returns clang's
 * exit status. `runtime_dir` holds libportent-rt.a, libportent-rt-static.a and portent-rt-static.wrap, `include_dir`
 * portent.h; both must outlive the call. Diagnostics go to standard error, as a compiler's do. The environment's
 * PORTENT_CLANG names another clang, TMPDIR another place for intermediate files. Not reentrant: it installs signal
 * handlers that remove the intermediate files. Does not return when there is nothing to instrument: the process then
 * becomes clang itself.
 */
int pt_instrument_main(bool cxx, const char *runtime_dir, const char *include_dir, int argc, char **argv);

/* The clang to run: that of the LLVM Portent was built with, unless the environment's PORTENT_CLANG names another. */
const char *pt_instrument_clang(void);

#endif
