/* Hash tables: names to small ids, and 64-bit keys to 32-bit values. Ids count from 0 in order of first appearance. */
#ifndef PT_BASE_TABLE_H
#define PT_BASE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"
#include "core/hash.h"

#define PT_NONE UINT32_MAX /* "no id", in every id space */

/*
 * Interned byte strings. The stored copies are NUL-terminated and never move.
 *
 * Texts can be *deferred*: such an id has a recipe in the place of a text, from which `make` makes it when somebody
 * asks for it. Whoever defers sees to it that no two recipes make the same text; all of them make texts that begin with
 * PT_DEFERRED, and where such a text is looked for, all are made first.
 */
struct pt_strtab {
    struct pt_arena arena;
    struct pt_strtab_entry {
        const char *text; /* NULL: it is deferred, and `len` and `hash` are the recipe */
        uint32_t len;
        uint32_t hash;
    } * entries;
    uint32_t count;
    size_t cap;
    uint32_t *slots; /* id + 1, 0: free */
    uint32_t slot_mask;
    uint32_t *deferred; /* ids that are in no slot */
    uint32_t deferred_count;
    size_t deferred_cap;
    bool given; /* a text that begins with PT_DEFERRED was interned */
    /* The text of a recipe, into `text`, which has room for PT_DEFERRED_MOST bytes; returns its length. */
    size_t (*make)(const struct pt_strtab *tab, uint64_t recipe, char *text);
};
#define PT_DEFERRED "0x"
enum { PT_DEFERRED_MOST = 128 };
void pt_strtab_init(struct pt_strtab *tab);
void pt_strtab_release(struct pt_strtab *tab);
uint32_t pt_strtab_intern(struct pt_strtab *tab, const char *text, size_t len);
/* A new id for the text of a recipe; where an equal text may have been interned, that one's. */
uint32_t pt_strtab_defer(struct pt_strtab *tab, uint64_t recipe);
uint32_t pt_strtab_find(const struct pt_strtab *tab, const char *text, size_t len); /* PT_NONE when absent */
size_t pt_strtab_bytes(const struct pt_strtab *tab);
/* Makes a deferred text. Several threads may ask for texts, as long as none interns. */
const struct pt_strtab_entry *pt_strtab_make(const struct pt_strtab *tab, uint32_t id);
static inline const struct pt_strtab_entry *pt_strtab_entry(const struct pt_strtab *tab, uint32_t id)
{
    const struct pt_strtab_entry *entry = &tab->entries[id];
    bool made = __atomic_load_n(&entry->text, __ATOMIC_ACQUIRE) != NULL;
    return __builtin_expect(made, 1) ? entry : pt_strtab_make(tab, id);
}
static inline const char *pt_strtab_text(const struct pt_strtab *tab, uint32_t id)
{
    return pt_strtab_entry(tab, id)->text;
}
static inline uint32_t pt_strtab_len(const struct pt_strtab *tab, uint32_t id)
{
    return pt_strtab_entry(tab, id)->len;
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
