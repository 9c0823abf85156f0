/* Steps through types that following a path (dwarf_path.c) and finding one (dwarf_place.c) have in common. */
#ifndef PT_TRACE_DWARF_TYPE_H
#define PT_TRACE_DWARF_TYPE_H

#include "core/channel.h"
#include "trace/dwarf_index.h"

enum { PT_TYPE_DEPTH = 64 };

bool pt_dwarf_type_of(Dwarf_Die *die, Dwarf_Die *ret_type);
bool pt_dwarf_number_of(Dwarf_Die *die, unsigned attribute, uint64_t *ret_number);
/* Removes what does not change the value, and finds the definition of a type that is only declared here. */
bool pt_dwarf_strip(const struct pt_dwarf_index *index, Dwarf_Die *type);
/* Where a member or base class stands in its class. False for virtual bases: only the running program knows. */
bool pt_dwarf_member_offset(Dwarf_Die *member, uint64_t *ret_offset);
bool pt_dwarf_is_data_member(Dwarf_Die *die);
bool pt_dwarf_is_class(Dwarf_Die *type);  /* a union too */
bool pt_dwarf_is_atomic(Dwarf_Die *type); /* std::atomic<T>, std::atomic_flag */
/* Whether what has this type, a variable or a member, is _Atomic. */
bool pt_dwarf_is_marked_atomic(Dwarf_Die *holder);
/* A base class without members: it has no place of its own, though its size is said to be 1. */
bool pt_dwarf_is_empty_base(const struct pt_dwarf_index *index, Dwarf_Die *member);
/* The class's one data member or base; bases without members do not count. */
bool pt_dwarf_single_member(const struct pt_dwarf_index *index, Dwarf_Die *type, Dwarf_Die *ret_member);
bool pt_dwarf_is_character(Dwarf_Die *type);
bool pt_dwarf_enum_is_signed(const struct pt_dwarf_index *index, Dwarf_Die *type);
/* How a base type of this encoding and size is watched. False: not at all. */
bool pt_dwarf_base_class(uint64_t encoding, uint64_t size, enum pt_watch_type *ret_class);

#endif
