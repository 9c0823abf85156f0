/* portent cc, portent c++: clang's command line, so they have no options of their own to parse. */
#ifndef PT_CLI_CC_H
#define PT_CLI_CC_H

#include <stdbool.h>

/* The arguments after the command's name. */
int pt_cc_main(bool cxx, int argc, char **argv);
/* The runtime as a shared library, for LD_PRELOAD; the caller frees it. NULL: it is not installed. */
char *pt_cc_shared_runtime(void);

#endif
