/*
 * A hash table that only grows. An entry is complete before the pointer to it is stored, so looking a text up takes no
 * lock; the texts are copies, since the program may build them on its stack.
 */
#include "runtime/channel/name.h"

#include <stdatomic.h>
#include <string.h>

#include "core/hash.h"
#include "runtime/sys/sys.h"

enum { NAME_BITS = 16, MOST = 3 << (NAME_BITS - 2), LONGEST = 1000, CHUNK = 1 << 16 };

struct entry {
    uint32_t number, length;
    char text[];
};

static struct {
    struct pt_spin lock;
    struct entry *_Atomic slots[1 << NAME_BITS];
    uint32_t count;
    const struct entry *by_number[MOST + 1]; /* complete before the number is given out */
    char *chunk;
    size_t left;
} names = {.lock = PT_SPIN(PT_RANK_NAME)};

static struct entry *keep(const char *text, size_t length)
{
    size_t bytes = (sizeof(struct entry) + length + 1 + 7) & ~(size_t)7;
    if (names.left < bytes) {
        names.chunk = pt_sys_reserve(CHUNK);
        names.left = names.chunk ? CHUNK : 0;
        if (!names.chunk)
            return NULL;
    }
    struct entry *entry = (void *)names.chunk;
    names.chunk += bytes;
    names.left -= bytes;
    entry->number = ++names.count;
    entry->length = (uint32_t)length;
    memcpy(entry->text, text, length + 1);
    names.by_number[entry->number] = entry;
    return entry;
}

/* The slot with this text, or the free one where it belongs. */
static struct entry *_Atomic *find(const char *text, size_t length)
{
    uint64_t hash = pt_fnv(PT_FNV_NOTHING, text, length);
    for (uint32_t at = (uint32_t)(hash ^ hash >> 32);; at++) {
        struct entry *_Atomic *slot = &names.slots[at & ((1u << NAME_BITS) - 1)];
        /* acquire: partner of the release in pt_name_number */
        const struct entry *entry = atomic_load_explicit(slot, memory_order_acquire);
        if (!entry || (entry->length == length && memcmp(entry->text, text, length) == 0))
            return slot;
    }
}

uint32_t pt_name_number(const char *text)
{
    size_t length = strlen(text);
    if (length > LONGEST)
        return 0;
    const struct entry *entry = atomic_load_explicit(find(text, length), memory_order_acquire);
    if (entry)
        return entry->number;
    pt_spin_lock(&names.lock);
    struct entry *_Atomic *slot = find(text, length); /* another thread may have been faster */
    entry = atomic_load_explicit(slot, memory_order_relaxed);
    if (!entry && names.count < MOST) {
        struct entry *made = keep(text, length);
        atomic_store_explicit(slot, made, memory_order_release);
        entry = made;
    }
    pt_spin_unlock(&names.lock);
    return entry ? entry->number : 0;
}

const char *pt_name_text(uint32_t number)
{
    return number && number <= MOST && names.by_number[number] ? names.by_number[number]->text : "?";
}
