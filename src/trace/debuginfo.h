/*
 * Names of a program to places in it, and back, through its debug information (DWARF, read with libdw). Done before the
 * program runs, so addresses are those in the files; whoever loads them adds the load address.
 */
#ifndef PT_TRACE_DEBUGINFO_H
#define PT_TRACE_DEBUGINFO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "core/channel.h"

struct pt_debuginfo;

struct pt_debuginfo_options {
    const char *library_path;   /* what LD_LIBRARY_PATH will be, or NULL */
    const char *const *modules; /* libraries that the program opens later (dlopen), then NULL; may be NULL */
};

/* PT_EINPUT: the program, or a module, is no ELF file of this machine. Without debug information it opens, but finds
 * no variables. */
enum pt_status pt_debuginfo_open(const char *program, const struct pt_debuginfo_options *options,
                                 struct pt_debuginfo **ret_info, struct pt_err *err) PT_WARN_UNUSED;
void pt_debuginfo_free(struct pt_debuginfo *info);

/* A variable or a part of one; the fields are those of struct pt_watch. */
struct pt_variable {
    const char *module; /* the file of the library it lies in, NULL: the program itself; lives as long as the info */
    uint64_t offset;
    uint32_t size;
    enum pt_watch_type type;
    uint32_t bit_offset, bit_size;
    /* Where pointers lead to it: `offset` is the first pointer's, and so many bytes behind what pointer i points to
     * lies the next one, or at last the variable. */
    uint32_t link_count, after[PT_LINKS_MAX];
    /* Where it lies in a structure that is atomic as a whole (std::atomic, _Atomic), so that all of it is stored in one
     * step: 1 + how far behind the beginning of that. 0: in none. */
    uint32_t in_atomic;
};

/* The length of the variable's own name, which a path begins with. */
size_t pt_debuginfo_head(const char *path);

/*
 * Contract section 2, [file.c:]path. `file` may be NULL; it matches by its last components. The program's own variables
 * hide those of libraries. PT_EINPUT: unknown, ambiguous (all candidates are listed) or not something with a value.
 */
enum pt_status pt_debuginfo_find(struct pt_debuginfo *info, const char *file, const char *path,
                                 struct pt_variable *ret_variable, struct pt_err *err) PT_WARN_UNUSED;

/* The same of what need not have a value: of an array or a structure all its bytes. */
enum pt_status pt_debuginfo_find_extent(struct pt_debuginfo *info, const char *file, const char *path,
                                        struct pt_variable *ret_variable, struct pt_err *err) PT_WARN_UNUSED;

/* Is there a variable that the path begins with? */
bool pt_debuginfo_knows(struct pt_debuginfo *info, const char *path);

/* The function of the program that has a variable or parameter of its own called as the path begins, which no property
 * can name; NULL: none. Searches all debug information of the program. Lives as long as the info. */
const char *pt_debuginfo_local(struct pt_debuginfo *info, const char *path);

/* Offers every name that `path` may have been meant to be: the members at the point it fails, or all variables
 * of the program with their members, and those of libraries that are not the system's. */
typedef void (*pt_debuginfo_visit)(void *context, const char *name);
/*
 * Functions that the program or its libraries define. Every name, of the program first; whether there is one of that
 * name; and whether its argument `number`, from 1, is an integer, an enumeration or a pointer, as all its definitions
 * have it, none of them with a structure among its arguments: then it has a value in events (core/functions.h).
 */
void pt_debuginfo_callables(struct pt_debuginfo *info, pt_debuginfo_visit visit, void *context);
bool pt_debuginfo_is_callable(struct pt_debuginfo *info, const char *name);
bool pt_debuginfo_has_argument(struct pt_debuginfo *info, const char *name, uint32_t number);
void pt_debuginfo_near(struct pt_debuginfo *info, const char *path, pt_debuginfo_visit visit, void *context);

/*
 * The other way round: the variable, or the smallest part of one (dwarf_place.h), that holds the byte at `offset` of a
 * module's file (`file`: the name it was loaded by, "" for the program). Its name is as a property would write it, with
 * the file in front where several variables have it. The name lives as long as the info.
 */
bool pt_debuginfo_at(struct pt_debuginfo *info, const char *file, uint64_t offset, bool whole, const char **ret_name,
                     struct pt_variable *ret_variable);

/* What these bytes of a module (as in struct pt_variable) are before the program begins; false: the file does not say,
 * because the loader puts them together. */
bool pt_debuginfo_image(struct pt_debuginfo *info, const char *module, uint64_t offset, uint32_t size, void *ret_bytes);

/*
 * May `text` be an argument of `function` (portent_event, portent_watch)? True when a module that uses the function
 * holds the text as a constant, or the end of one, since linkers merge those. Who makes such names up at run time is
 * not found. A program without debug information does not say what it uses: `guess` takes it to use everything.
 */
bool pt_debuginfo_may_pass(struct pt_debuginfo *info, const char *function, const char *text, bool guess);
/* Whether the program uses the function, as far as its own file says; its libraries are not looked at. */
bool pt_debuginfo_uses(struct pt_debuginfo *info, const char *function);
/* The constant texts of the modules that use the function: what was meant may be among them. They live as long as the
 * info. */
void pt_debuginfo_texts(struct pt_debuginfo *info, const char *function, pt_debuginfo_visit visit, void *context);

/* Does the program bring the runtime, as one that was linked by `portent cc` does? */
bool pt_debuginfo_has_runtime(struct pt_debuginfo *info);

/* The same of the program or any of its libraries: is there anything in it that can be observed? */
bool pt_debuginfo_is_instrumented(struct pt_debuginfo *info);

/* Says where a module was loaded, so that functions in it need not be guessed. False: no such module is known. */
bool pt_debuginfo_loaded(struct pt_debuginfo *info, const char *file, uint64_t base);

/*
 * The function that starts at address `start` of a module loaded at `base`: "worker", "ns::C::run"; for the body of a
 * std::thread (_State_impl<...>::_M_run) the callable it was made for. NULL when nobody knows. Lives as long as the
 * info.
 */
const char *pt_debuginfo_function(struct pt_debuginfo *info, uint64_t start, uint64_t base);

/* Every function that debug information or a symbol has, with the name it gives to a thread that starts with it, the
 * same as above: module by module (NULL: the program), by offset, each once. Libraries of the system are left out where
 * they are not instrumented. Names live as long as the info. */
typedef void (*pt_debuginfo_visit_function)(void *context, const char *module, uint64_t offset, const char *name);
void pt_debuginfo_functions(struct pt_debuginfo *info, pt_debuginfo_visit_function visit, void *context);

/* What tells this build of a module (as in struct pt_variable) from others: see struct pt_library. The number of bytes;
 * 0: none. */
uint32_t pt_debuginfo_identity(struct pt_debuginfo *info, const char *module, unsigned char ret_id[PT_ID_MAX]);

#endif
