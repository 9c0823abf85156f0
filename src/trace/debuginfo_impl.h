/* The modules of a program, as the parts of debuginfo share them. */
#ifndef PT_TRACE_DEBUGINFO_IMPL_H
#define PT_TRACE_DEBUGINFO_IMPL_H

#include <elfutils/libdwfl.h>

#include "base/table.h"
#include "trace/debuginfo.h"
#include "trace/dwarf_index.h"

struct pt_elf {
    char *path;
    bool opened, sought, indexed;
    Dwfl *session;
    Dwfl_Module *module;
    Elf *elf;
    Dwarf *dwarf;   /* once it was sought */
    uint64_t bias;  /* of elf's addresses */
    uint64_t shift; /* from addresses of the debug information, which may be a separate file, to those of the module */
    uint64_t base;  /* where it was loaded, when has_base */
    bool has_base;
    struct pt_dwarf_index index;
    struct pt_module_var *by_address; /* variables with a fixed place, in order; made when first needed */
    uint32_t by_address_count;
    bool sorted;
    struct pt_module_answer {
        bool known, whole, found;
        uint64_t offset;
        const char *name;
        struct pt_variable variable;
    } last; /* of pt_debuginfo_at: who names memory asks several times */
};

struct pt_element_names;
struct pt_module_var {
    uint64_t address, size;
    uint32_t var;
    struct pt_element_names *elements; /* NULL: nobody has asked for one */
};

struct pt_debuginfo {
    struct pt_elf *modules; /* 0 is the program */
    uint32_t count;
    size_t cap;
    char *library_path;
    char **extra; /* modules named by the user, then NULL */
    bool libraries_found;
    struct pt_strtab texts;    /* what callers were given */
    struct pt_map64 heads;     /* names of variables, ids in texts: which module has them */
    struct pt_map64 functions; /* start addresses asked for: id in texts, or unknown */
};

/* Frees the list of variables by address. */
void pt_module_forget_addresses(struct pt_elf *m);
/* Its debug information, or NULL. */
Dwarf *pt_module_dwarf(struct pt_elf *m);
/* What it defines; empty without debug information. */
const struct pt_dwarf_index *pt_module_index(struct pt_elf *m);
/* Lists the libraries; may move info->modules. */
void pt_debuginfo_libraries(struct pt_debuginfo *info);
/* The module that was loaded by the name `file`, "" for the program; NULL: none that is known. */
struct pt_elf *pt_debuginfo_module(struct pt_debuginfo *info, const char *file);
/* Is `file` the end of `path`, by whole components? */
bool pt_module_file_matches(const char *path, const char *file);
/* The file a variable is declared in. */
const char *pt_module_file_of(const struct pt_dwarf_var *var);
/* Is it one of the libraries that come with the system? */
bool pt_module_is_of_the_system(const char *path);
/* Is the address loaded? Sections that the linker dropped leave variables at address 0 or at the end of memory. */
bool pt_module_has(const struct pt_elf *m, uint64_t address);

#endif
