/*
 * Open addressing with linear probing in tables of a power of two, at most half full: a look-up costs a hash and a few
 * slots, growing doubles. Texts are compared in full, so equal ids mean equal texts.
 */
#include "base/table.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

void pt_strtab_init(struct pt_strtab *tab)
{
    *tab = (struct pt_strtab){0};
    pt_arena_init(&tab->arena);
    tab->slot_mask = 63;
    tab->slots = pt_xcalloc(tab->slot_mask + 1, sizeof *tab->slots);
}

void pt_strtab_release(struct pt_strtab *tab)
{
    pt_arena_release(&tab->arena);
    free(tab->entries);
    free(tab->slots);
    free(tab->deferred);
    *tab = (struct pt_strtab){0};
}

static uint32_t hash_bytes(const char *text, size_t len)
{
    return (uint32_t)XXH3_64bits(text, len);
}

/* The slot that holds the text, or the free slot where it would go. */
static uint32_t *find_slot(const struct pt_strtab *tab, const char *text, size_t len, uint32_t hash)
{
    for (uint32_t i = hash & tab->slot_mask;; i = (i + 1) & tab->slot_mask) {
        uint32_t id = tab->slots[i];
        if (!id)
            return &tab->slots[i];
        const struct pt_strtab_entry *e = &tab->entries[id - 1];
        if (e->hash == hash && e->len == len && memcmp(e->text, text, len) == 0)
            return &tab->slots[i];
    }
}

/* Twice as many slots. */
static void rehash(struct pt_strtab *tab)
{
    uint32_t *old = tab->slots, old_mask = tab->slot_mask;
    tab->slot_mask = old_mask * 2 + 1;
    tab->slots = pt_xcalloc((size_t)tab->slot_mask + 1, sizeof *tab->slots);
    for (uint32_t at = 0; at <= old_mask; at++) {
        if (!old[at])
            continue;
        uint32_t i = tab->entries[old[at] - 1].hash & tab->slot_mask;
        while (tab->slots[i])
            i = (i + 1) & tab->slot_mask;
        tab->slots[i] = old[at];
    }
    free(old);
}

static void fill_slot(struct pt_strtab *tab, uint32_t *slot, uint32_t id)
{
    *slot = id + 1;
    if (tab->count - tab->deferred_count > tab->slot_mask / 2)
        rehash(tab);
}

static bool is_like_deferred(const char *text, size_t len)
{
    return len >= sizeof PT_DEFERRED - 1 && memcmp(text, PT_DEFERRED, sizeof PT_DEFERRED - 1) == 0;
}

const struct pt_strtab_entry *pt_strtab_make(const struct pt_strtab *tab, uint32_t id)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct pt_strtab *all = (struct pt_strtab *)tab; /* nobody can tell that it was not there before */
    struct pt_strtab_entry *e = &all->entries[id];
    char text[PT_DEFERRED_MOST];
    pthread_mutex_lock(&lock);
    uint64_t recipe = (uint64_t)e->hash << 32 | e->len;
    bool made = e->text != NULL;
    pthread_mutex_unlock(&lock);
    if (made)
        return e;
    size_t len = tab->make(tab, recipe, text); /* may ask for other texts */
    pthread_mutex_lock(&lock);
    if (!e->text) {
        const char *copy = pt_arena_strndup(&all->arena, text, len);
        e->len = (uint32_t)len;
        e->hash = hash_bytes(text, len);
        __atomic_store_n(&e->text, copy, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&lock);
    return e;
}

/* All of them can be found from here on. */
static void make_all(struct pt_strtab *tab)
{
    while (tab->deferred_count) {
        uint32_t id = tab->deferred[--tab->deferred_count];
        const struct pt_strtab_entry *e = pt_strtab_entry(tab, id);
        fill_slot(tab, find_slot(tab, e->text, e->len, e->hash), id);
    }
}

uint32_t pt_strtab_intern(struct pt_strtab *tab, const char *text, size_t len)
{
    uint32_t hash = hash_bytes(text, len), id = tab->count;
    if (tab->deferred_count && is_like_deferred(text, len))
        make_all(tab);
    uint32_t *slot = find_slot(tab, text, len, hash);
    if (*slot)
        return *slot - 1;
    struct pt_strtab_entry e = {pt_arena_strndup(&tab->arena, text, len), (uint32_t)len, hash};
    tab->given = tab->given || is_like_deferred(text, len);
    PT_PUSH(tab->entries, tab->count, tab->cap, e);
    fill_slot(tab, slot, id);
    return id;
}

uint32_t pt_strtab_defer(struct pt_strtab *tab, uint64_t recipe)
{
    char text[PT_DEFERRED_MOST];
    uint32_t id = tab->count;
    if (tab->given)
        return pt_strtab_intern(tab, text, tab->make(tab, recipe, text));
    PT_PUSH(tab->entries, tab->count, tab->cap,
            ((struct pt_strtab_entry){NULL, (uint32_t)recipe, (uint32_t)(recipe >> 32)}));
    PT_PUSH(tab->deferred, tab->deferred_count, tab->deferred_cap, id);
    return id;
}

uint32_t pt_strtab_find(const struct pt_strtab *tab, const char *text, size_t len)
{
    if (tab->deferred_count && is_like_deferred(text, len))
        make_all((struct pt_strtab *)tab);
    uint32_t slot = *find_slot(tab, text, len, hash_bytes(text, len));
    return slot ? slot - 1 : PT_NONE;
}

size_t pt_strtab_bytes(const struct pt_strtab *tab)
{
    return tab->arena.bytes + tab->cap * sizeof *tab->entries + ((size_t)tab->slot_mask + 1) * sizeof *tab->slots +
           tab->deferred_cap * sizeof *tab->deferred;
}

void pt_map64_init(struct pt_map64 *map)
{
    map->count = 0;
    map->mask = 15;
    map->slots = pt_xcalloc((size_t)map->mask + 1, sizeof *map->slots);
}

void pt_map64_release(struct pt_map64 *map)
{
    free(map->slots);
    *map = (struct pt_map64){0};
}

static struct pt_map64_slot *map_slot(const struct pt_map64 *map, uint64_t key)
{
    for (uint32_t i = (uint32_t)pt_mix64(key) & map->mask;; i = (i + 1) & map->mask)
        if (!map->slots[i].used || map->slots[i].key == key)
            return &map->slots[i];
}

static void map_grow(struct pt_map64 *map)
{
    struct pt_map64 old = *map;
    map->mask = old.mask * 2 + 1;
    map->slots = pt_xcalloc((size_t)map->mask + 1, sizeof *map->slots);
    for (uint32_t i = 0; i <= old.mask; i++)
        if (old.slots[i].used)
            *map_slot(map, old.slots[i].key) = old.slots[i];
    free(old.slots);
}

uint32_t *pt_map64_at(struct pt_map64 *map, uint64_t key)
{
    struct pt_map64_slot *s = map_slot(map, key);
    if (s->used)
        return &s->value;
    if (map->count >= map->mask / 2) {
        map_grow(map);
        s = map_slot(map, key);
    }
    map->count++;
    *s = (struct pt_map64_slot){key, PT_NONE, 1};
    return &s->value;
}

uint32_t pt_map64_get(const struct pt_map64 *map, uint64_t key)
{
    const struct pt_map64_slot *s = map_slot(map, key);
    return s->used ? s->value : PT_NONE;
}

size_t pt_map64_bytes(const struct pt_map64 *map)
{
    return ((size_t)map->mask + 1) * sizeof *map->slots;
}

static int compare_ids(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

uint32_t pt_sort_distinct(uint32_t *ids, uint32_t count)
{
    uint32_t distinct = 0;
    qsort(ids, count, sizeof *ids, compare_ids);
    for (uint32_t i = 0; i < count; i++)
        if (i == 0 || ids[i] != ids[i - 1])
            ids[distinct++] = ids[i];
    return distinct;
}
