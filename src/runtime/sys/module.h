/* Loaded modules: where they lie. */
#ifndef PT_RUNTIME_SYS_MODULE_H
#define PT_RUNTIME_SYS_MODULE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/channel.h"

/* Every module that is loaded; the program's own file is "". */
typedef void (*pt_module_visit)(void *context, const char *file, uint64_t base, uint64_t low, uint64_t high);
void pt_module_each(pt_module_visit visit, void *context);
/* The parts of all modules that nobody may write or execute: constants. */
typedef void (*pt_module_visit_part)(uint64_t from, uint64_t to);
void pt_module_each_constant(pt_module_visit_part visit);
/* Load address of the module that an address lies in; 0 when none. */
uint64_t pt_module_base(uint64_t address);
/* Load address of a module by file name ("" the program itself); false while it is not loaded. */
bool pt_module_find(const char *file, uint64_t *ret_base);
/* What tells the build of a loaded module from others (struct pt_library): the number of bytes; 0: it is not loaded. */
uint32_t pt_module_identity(const char *file, unsigned char ret_id[PT_ID_MAX]);
/* Do these bytes lie in one readable part of a loaded module? */
bool pt_module_covers(uint64_t address, uint64_t size);

/*
 * What a thread really runs: `start`, unless that is libstdc++'s own function for every std::thread; then the function
 * the program gave, or for other callables the instance of _M_run that calls it, whose symbol names it.
 */
uint64_t pt_module_callable(uint64_t start, const void *argument);

#endif
