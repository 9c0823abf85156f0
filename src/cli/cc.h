/* What portent cc and c++ (commands.h) know of the runtime. */
#ifndef PT_CLI_CC_H
#define PT_CLI_CC_H

/* The runtime as a shared library, for LD_PRELOAD; the caller frees it. NULL: it is not installed. */
char *pt_cc_shared_runtime(void);

#endif
