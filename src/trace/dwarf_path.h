/* The part of a variable that a path such as `.level[2].low` names, by the variable's type. */
#ifndef PT_TRACE_DWARF_PATH_H
#define PT_TRACE_DWARF_PATH_H

#include "base/err.h"
#include "trace/debuginfo.h"
#include "trace/dwarf_index.h"

/*
 * Follows `path` ("" for the whole variable), which begins after the first `path - name` bytes of the name as the user
 * wrote it. Fills offset (from the variable's start), size, type and bits of *ret_variable. PT_EINPUT says what is
 * wrong and lists the members there are.
 */
enum pt_status pt_dwarf_path(const struct pt_dwarf_index *index, Dwarf_Die *variable, const char *name,
                             const char *path, struct pt_variable *ret_variable, struct pt_err *err) PT_WARN_UNUSED;
/* The same of what need not have a value: of an array or a structure all its bytes. */
enum pt_status pt_dwarf_extent(const struct pt_dwarf_index *index, Dwarf_Die *variable, const char *name,
                               const char *path, struct pt_variable *ret_variable, struct pt_err *err) PT_WARN_UNUSED;

/*
 * Offers names for a path that leads nowhere: what has been resolved of it, followed by each member there is at that
 * point.
 */
void pt_dwarf_path_near(const struct pt_dwarf_index *index, Dwarf_Die *variable, const char *name, const char *path,
                        pt_debuginfo_visit visit, void *context);

#endif
