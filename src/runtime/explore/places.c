/*
 * Places of the program in the memory file, by the address of their site. The table beside it is this process's own;
 * the fork server fills it with what earlier runs have found before it makes the next.
 *
 * Guarantee: the same place has the same number in all runs of one server. Cost: a look-up for each access while
 * several threads are there.
 */
#include <string.h>

#include "runtime/explore/impl.h"
#include "runtime/sys/sys.h"

enum { BITS = 17, TEXTS = 1024 };

static struct {
    struct known {
        uint64_t site;
        uint32_t place;
    } * table;      /* open addressing */
    uint32_t known; /* places that are in it, with 0 */
    struct text {
        const char *text;
        uint32_t at;
    } texts[TEXTS]; /* those that were written last */
} own;

static struct known *entry_of(uint64_t site)
{
    uint64_t at = pt_mix64(site);
    while (own.table[at % (1 << BITS)].site && own.table[at % (1 << BITS)].site != site)
        at++;
    return &own.table[at % (1 << BITS)];
}

void pt_place_start(void)
{
    own.table = pt_sys_reserve(sizeof *own.table << BITS);
    own.known = 1;
    if (!atomic_load(&pt_run.file->place_count))
        atomic_store(&pt_run.file->place_count, 1);
    if (!atomic_load(&pt_run.file->text_bytes))
        atomic_store(&pt_run.file->text_bytes, 1); /* at 0 is the empty one */
}

void pt_place_learn(void)
{
    uint32_t count = atomic_load_explicit(&pt_run.file->place_count, memory_order_acquire);
    for (; own.table && own.known < count; own.known++)
        *entry_of(pt_run.places[own.known].site) = (struct known){pt_run.places[own.known].site, own.known};
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static uint32_t write_text(const char *text)
{
    struct text *last = &own.texts[pt_mix64((uintptr_t)text) % TEXTS];
    size_t len = strlen(text) + 1;
    uint32_t at = atomic_load_explicit(&pt_run.file->text_bytes, memory_order_relaxed);
    if (len == 1)
        return 0;
    if (last->text == text)
        return last->at;
    if (len > pt_run.file->texts_max - at) {
        pt_explore_lost(PT_EXPLORE_LOST_PLACES, NULL);
        return 0;
    }
    memcpy(pt_run.texts + at, text, len);
    atomic_store_explicit(&pt_run.file->text_bytes, at + (uint32_t)len, memory_order_release);
    *last = (struct text){text, at};
    return at;
}

static uint64_t key_of(const struct pt_site *site)
{
    const char *parts[] = {last_part(site->file), site->function, site->variable};
    uint64_t hash = PT_FNV_NOTHING;
    for (unsigned i = 0; i < 3; i++)
        hash = pt_fnv(hash, parts[i], strlen(parts[i]) + 1);
    return pt_fnv(hash, &site->column, sizeof site->column);
}

static uint32_t add(const struct pt_site *site)
{
    uint32_t caller = site->caller ? pt_place_of(site->caller) : 0;
    uint32_t number = atomic_load_explicit(&pt_run.file->place_count, memory_order_relaxed);
    if (number >= pt_run.file->places_max || number >= 1u << (BITS - 1)) {
        pt_explore_lost(PT_EXPLORE_LOST_PLACES, NULL);
        return 0;
    }
    struct pt_explore_place *place = &pt_run.places[number];
    place->key = key_of(site);
    place->site = (uintptr_t)site;
    place->file = write_text(site->file);
    place->function = write_text(site->function);
    place->variable = write_text(site->variable);
    place->line = site->line;
    place->column = site->column;
    place->caller = caller;
    /* a place with the same key is shared already */
    for (uint32_t i = 1; i < number; i++)
        if (pt_run.places[i].key == place->key) {
            atomic_store_explicit(&place->flags, pt_place_flags(i), memory_order_relaxed);
            break;
        }
    atomic_store_explicit(&pt_run.file->place_count, number + 1, memory_order_release);
    own.known = number + 1;
    return number;
}

uint32_t pt_place_of(const struct pt_site *site)
{
    if (!site || !own.table)
        return 0;
    struct known *entry = entry_of((uintptr_t)site);
    if (!entry->site) {
        uint32_t place = add(site);
        entry = entry_of((uintptr_t)site);
        *entry = (struct known){(uintptr_t)site, place};
    }
    return entry->place;
}

void pt_place_meet(uint32_t place)
{
    if (!place || pt_place_flags(place) & PT_EXPLORE_MET)
        return;
    atomic_fetch_or_explicit(&pt_run.places[place].flags, PT_EXPLORE_MET, memory_order_relaxed);
    pt_run.result->fresh++;
}
