/* Where the installation is: PREFIX of PREFIX/bin/portent. The build folder has the same shape, so the program works in
 * place. */
#ifndef PT_CLI_COMMON_PREFIX_H
#define PT_CLI_COMMON_PREFIX_H

#include <stdbool.h>
#include <stddef.h>

bool pt_prefix_find(char *prefix, size_t size);
/* PREFIX/FOLDER, if it holds `file`. */
bool pt_prefix_folder(const char *prefix, const char *folder, const char *file, char *ret, size_t size);
/* The folder that holds this form of the runtime (libportent-rt.a, ...). */
bool pt_prefix_runtime(const char *prefix, const char *file, char *ret, size_t size);
/* The runtime as a shared library, for LD_PRELOAD; the caller frees it. NULL: it is not installed. */
char *pt_prefix_shared_runtime(void);

#endif
