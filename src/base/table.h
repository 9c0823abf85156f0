/* Hash tables: names to small ids, and 64-bit keys to 32-bit values. Ids count from 0 in order of first appearance. */
#ifndef PT_BASE_TABLE_H
#define PT_BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"
#include "core/hash.h"

#define PT_NONE UINT32_MAX /* "no id", in every id space */

/* Interned byte strings. The stored copies are NUL-terminated and never move. */
struct pt_strtab {
    struct pt_arena arena;
    struct pt_strtab_entry {
        const char *text;
        uint32_t len;
        uint32_t hash;
    } * entries;
    uint32_t count;
    size_t cap;
    uint32_t *slots; /* id + 1, 0: free */
    uint32_t slot_mask;
};
void pt_strtab_init(struct pt_strtab *tab);
void pt_strtab_release(struct pt_strtab *tab);
uint32_t pt_strtab_intern(struct pt_strtab *tab, const char *text, size_t len);
uint32_t pt_strtab_find(const struct pt_strtab *tab, const char *text, size_t len); /* PT_NONE when absent */
size_t pt_strtab_bytes(const struct pt_strtab *tab);
static inline const char *pt_strtab_text(const struct pt_strtab *tab, uint32_t id)
{
    return tab->entries[id].text;
}
static inline uint32_t pt_strtab_len(const struct pt_strtab *tab, uint32_t id)
{
    return tab->entries[id].len;
}

/* 64-bit keys to 32-bit values. */
struct pt_map64 {
    struct pt_map64_slot {
        uint64_t key;
        uint32_t value;
        uint32_t used;
    } * slots;
    uint32_t count;
    uint32_t mask;
};
void pt_map64_init(struct pt_map64 *map);
void pt_map64_release(struct pt_map64 *map);
/* The place of the key's value; a new one holds PT_NONE. Valid until the next call. */
uint32_t *pt_map64_at(struct pt_map64 *map, uint64_t key);
/* PT_NONE when absent. */
uint32_t pt_map64_get(const struct pt_map64 *map, uint64_t key);
size_t pt_map64_bytes(const struct pt_map64 *map);

/* Sorts the ids and drops repeated ones; returns how many are left. */
uint32_t pt_sort_distinct(uint32_t *ids, uint32_t count);

#endif
