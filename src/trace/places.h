/*
 * Addresses of a running program to the variables of a trace, for threads that are recorded in full, and for what
 * threads report of decentralised properties.
 *
 * Memory is cut into *cells*, one variable each. A global variable is cut as its type says (struct members, array
 * elements); a union, and adjacent bit-fields, are one cell, as they are one memory location in C; padding is a cell of
 * its own, `tank+12`. Other memory is cut
 * as it is first accessed, copies and fills in aligned 8 bytes; a later access of part of a cell counts as one of the
 * cell, which orders more than the program does, never less. Memory that is given back loses its cells: what comes to
 * stand there next has new ones, with new names. In a block of memory whose beginning was recorded they are called
 * after it.
 *
 * Names: `tank.level`, `grid[2][1]`; elements of less than 8 bytes in large arrays by eighths: see place_cell;
 * elsewhere `0x7f3a10`, then `0x7f3a10#2` for the next life; in a block that is called so, `0x7f3a10#2+8`.
 */
#ifndef PT_TRACE_PLACES_H
#define PT_TRACE_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "core/channel.h"
#include "trace/event.h"

struct pt_cell {
    uint64_t low;
    uint32_t size;
    uint32_t name; /* id in its space */
    uint8_t space; /* PT_SPACE_VAR, PT_SPACE_LOCK or PT_SPACE_OTHER */
    uint8_t type;  /* enum pt_watch_type of a variable's value */
};

/* What debug information says of an address. */
struct pt_placed {
    const char *name;
    uint64_t offset; /* where it begins, as the module's file has it */
    uint32_t size;
    enum pt_watch_type type;
};
/* `file`: the module's, "" for the program. `whole`: an object as a whole (a lock), not its first member. */
typedef bool (*pt_place_function)(void *context, const char *file, uint64_t offset, bool whole,
                                  struct pt_placed *ret_placed);

struct pt_places;

struct pt_places *pt_places_new(struct pt_names *names);
void pt_places_free(struct pt_places *places);
void pt_places_set_function(struct pt_places *places, pt_place_function function, void *context);
void pt_places_add_module(struct pt_places *places, const char *file, uint64_t base, uint64_t low, uint64_t high);
/* The file of the module that was loaded there; NULL: nobody said. */
const char *pt_places_module(const struct pt_places *places, uint64_t base);
/* The cell that holds `address`, made if need be for an access that goes up to `end`. */
struct pt_cell pt_places_cell(struct pt_places *places, uint64_t address, uint64_t end, bool block);
/* The cells, for who looks for those that are there; to be changed by nobody else. */
struct pt_cells *pt_places_cells(struct pt_places *places);
/* The name of a lock (PT_SPACE_LOCK) or other object there. */
uint32_t pt_places_object(struct pt_places *places, uint64_t address, enum pt_space space);
/* The object of PT_SPACE_OTHER that begins its life there is called so, with `#2` and so on if others were before. One
 * that has a name keeps it. */
void pt_places_name_object(struct pt_places *places, uint64_t address, const char *name);
/* The variable, lock or other object there, for somebody who only asks: no new life begins. Memory of which nothing is
 * known is one byte. */
struct pt_cell pt_places_look(struct pt_places *places, uint64_t address, enum pt_space space);
/* The cell of a variable that debug information knows there; false: it knows none. */
bool pt_places_variable(struct pt_places *places, uint64_t address, struct pt_cell *ret_cell);
void pt_places_forget(struct pt_places *places, uint64_t low, uint64_t high);
/* A block of memory begins: its name in PT_SPACE_HEAP. What was known of the memory is forgotten. */
uint32_t pt_places_begin_block(struct pt_places *places, uint64_t low, uint64_t size);
/* There will soon be a block that begins or ends there. */
void pt_places_expect_block(const struct pt_places *places, uint64_t low);
/* Memory ends: calls for each block that lies in it, and for each variable there that is in no such block, with its
 * name in PT_SPACE_HEAP. All of them are known until they are forgotten. */
void pt_places_end(struct pt_places *places, uint64_t low, uint64_t high, void (*ends)(void *context, uint32_t name),
                   void *context);

#endif
