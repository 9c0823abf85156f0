/*
 * Heap blocks that were freed and are kept: the oldest is given back to the allocator when a new one has no room.
 * Records stand in a ring, in the order in which blocks were freed, and are found by their first address in a hash
 * table; the block that an address lies in is looked for downwards, step by step, and those of more than FAR bytes in a
 * list.
 *
 * Guarantee: memory of a block that is kept is nobody's, so whoever uses it does so after its free, and whoever frees
 * it does so again. Cost: a lock for each free; 80 bytes for each block that is kept, beside its own.
 */
#include "runtime/race/life_impl.h"
#include "runtime/sys/sys.h"

enum { RING_BITS = 20, BUCKET_BITS = 18, NONE = 0, STEP = 16, FAR = 1 << 14 };

struct record {
    struct pt_life_end end; /* size 0: taken out of turn */
    uint32_t next, far;     /* the next in its bucket and among the large ones, one more than its place in the ring */
};
static struct record *ring;
static uint32_t *buckets;
static struct {
    struct pt_spin lock;
    uint64_t first, next; /* records there are: from first to next, by their low bits */
    uint64_t bytes, most;
    uint32_t far;
} kept = {.lock = PT_SPIN(PT_RANK_POOL)};

bool pt_life_kept_start(uint64_t bytes)
{
    ring = pt_sys_reserve_table(sizeof *ring << RING_BITS);
    buckets = pt_sys_reserve_table(sizeof *buckets << BUCKET_BITS);
    kept.most = bytes;
    return ring && buckets;
}

/* What the parent kept stays with whoever had it: the child's allocator never gets it back. */
void pt_life_kept_restart(void)
{
    pt_sys_empty(ring, sizeof *ring << RING_BITS);
    pt_sys_empty(buckets, sizeof *buckets << BUCKET_BITS);
    pt_spin_reset(&kept.lock);
    kept.first = kept.next = kept.bytes = kept.far = 0;
}

static struct record *record_at(uint64_t place)
{
    return &ring[place & ((1u << RING_BITS) - 1)];
}

static uint32_t *bucket_of(uintptr_t start)
{
    return &buckets[((uint64_t)start * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - BUCKET_BITS)];
}

/* ---- under the lock ---- */

/* What points to the record of that block. */
static uint32_t *link_to(uintptr_t start)
{
    uint32_t *link = bucket_of(start);
    while (*link != NONE && ring[*link - 1].end.start != start)
        link = &ring[*link - 1].next;
    return link;
}

static void unlink_block(uint32_t *link)
{
    struct record *record = &ring[*link - 1];
    uint32_t *far = &kept.far;
    while (record->end.size > FAR && *far != *link)
        far = &ring[*far - 1].far;
    if (record->end.size > FAR)
        *far = record->far;
    pt_life_unmark(record->end.start, record->end.start + record->end.size);
    kept.bytes -= record->end.size;
    *link = record->next;
    record->end.size = 0;
}

/* The next that is to go; those that went out of turn are passed over. */
static uintptr_t take_oldest(void)
{
    for (; kept.first < kept.next; kept.first++) {
        struct record *record = record_at(kept.first);
        if (!record->end.size)
            continue;
        uintptr_t start = record->end.start;
        unlink_block(link_to(start));
        kept.first++;
        return start;
    }
    return 0;
}

static bool is_full(void)
{
    return (kept.next - kept.first) >> RING_BITS;
}

/* ---- for all ---- */

enum pt_life_keep pt_life_keep(struct pt_race_self *self, uintptr_t start, size_t size)
{
    struct pt_life_end end = pt_life_end_now(self, start, size);
    if (!pt_race_block_of(start, &end.block))
        end.block = (struct pt_race_block){.start = start};
    pt_spin_lock(&kept.lock);
    bool again = *link_to(start) != NONE, keeps = !again && kept.bytes + size <= kept.most && !is_full();
    if (keeps) {
        struct record *record = record_at(kept.next);
        uint32_t *bucket = bucket_of(start);
        *record = (struct record){.end = end, .next = *bucket, .far = kept.far};
        *bucket = (uint32_t)(kept.next++ & ((1u << RING_BITS) - 1)) + 1;
        if (size > FAR)
            kept.far = *bucket;
        kept.bytes += size;
        pt_life_mark(start, start + size);
    }
    pt_spin_unlock(&kept.lock);
    return again ? PT_LIFE_KEPT_ALREADY : keeps ? PT_LIFE_KEPT : PT_LIFE_NOT_KEPT;
}

uintptr_t pt_life_give_back(struct pt_race_self *self, size_t size)
{
    uintptr_t start = 0;
    (void)self;
    pt_spin_lock(&kept.lock);
    if (size <= kept.most && (kept.bytes + size > kept.most || is_full()))
        start = take_oldest();
    pt_spin_unlock(&kept.lock);
    return start;
}

void pt_life_drop(uintptr_t start)
{
    pt_spin_lock(&kept.lock);
    uint32_t *link = link_to(start);
    if (*link != NONE)
        unlink_block(link);
    pt_spin_unlock(&kept.lock);
}

bool pt_life_kept_block(uintptr_t start, struct pt_life_end *ret_end)
{
    pt_spin_lock(&kept.lock);
    uint32_t *link = link_to(start);
    bool there = *link != NONE;
    if (there)
        *ret_end = ring[*link - 1].end;
    pt_spin_unlock(&kept.lock);
    return there;
}

static uint32_t search(uintptr_t address)
{
    uintptr_t start = address & ~(uintptr_t)(STEP - 1), lowest = start > FAR ? start - FAR : STEP;
    for (uint32_t far = kept.far; far != NONE; far = ring[far - 1].far)
        if (address - ring[far - 1].end.start < ring[far - 1].end.size)
            return far;
    for (; start >= lowest && pt_life_is_marked(start); start -= STEP)
        if (*link_to(start) != NONE)
            return *link_to(start);
    return NONE;
}

bool pt_life_kept_at(uintptr_t address, struct pt_life_end *ret_end)
{
    pt_spin_lock(&kept.lock);
    uint32_t found = search(address);
    if (found != NONE)
        *ret_end = ring[found - 1].end;
    pt_spin_unlock(&kept.lock);
    return found != NONE && address - ret_end->start < ret_end->size;
}
