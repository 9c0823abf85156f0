/*
 * Which memory several threads use, one of them writing: what is accessed there is a scheduling point from the next run
 * on. Of each granule of 4 bytes it is known who uses it, whether anybody has written it, and at which places; once a
 * second thread is among those who use it, and one has written it, all these places are met.
 *
 * What is done while a thread is alone does not count: it comes before or after all others. Memory that is allocated,
 * or becomes the stack of a new thread, begins anew; memory that is freed is written by who frees it.
 *
 * Guarantee: of two accesses of common memory by different threads, one a write, both places are met, if there was room
 * (LOST_PLACES). More are where threads use a granule after each other, or different bytes of it. Cost: 8 bytes for
 * each granule that is used while there are several threads, and some ten instructions for each access of it.
 */
#include <string.h>

#include "runtime/explore/impl.h"
#include "runtime/sys/sys.h"

enum {
    UNIT_BITS = 2, /* bytes in a granule: two neighbouring ints are two */
    UNIT = 1 << UNIT_BITS,
    CHUNK_BITS = 16, /* bytes of the program's in a chunk */
    CHUNK = 1 << (CHUNK_BITS - UNIT_BITS),
    CHUNKS = 1 << 14,
    NODES = 1 << 20,
    LISTS = 1 << 14,
    SCAN = 64,     /* places of one granule that are looked at */
    TOUCHED = 256, /* granules that are emptied one by one */
};
enum { MANY = 0xffffff, WRITTEN = 1 << 24, SHARED = 1 << 25 };

struct granule {
    uint32_t who;   /* MANY, or 1 + number of the only thread; 0: nobody; WRITTEN, SHARED */
    uint32_t nodes; /* places: a list, the last one first, 0: none */
};
static struct {
    struct granule *room; /* of CHUNKS chunks */
    uint32_t used;
    struct {
        uintptr_t chunk; /* 1 + address >> CHUNK_BITS */
        uint32_t at;
    } index[2 * CHUNKS];
    uint32_t taken[CHUNKS]; /* places in it */
    /* lists with the same places in the same order are one: there are few, however much memory is used */
    struct node {
        uint32_t place, next, same; /* same: the next in its bucket */
    } * nodes;
    uint32_t lists[LISTS]; /* nodes by what they hold; 0: none */
    uint32_t node_count;
    struct granule *touched[TOUCHED]; /* the first that were used since they were emptied */
    uint32_t touched_count;           /* more than TOUCHED: not all are listed */
    bool full;
} own;

bool pt_shared_start(void)
{
    own.room = pt_sys_reserve(sizeof *own.room * CHUNK * CHUNKS);
    own.nodes = pt_sys_reserve(sizeof *own.nodes * NODES);
    own.node_count = 1;
    return own.room && own.nodes;
}

/* Few buckets, so that a short run touches few pages. */
static uint32_t *bucket_of(uint32_t place, uint32_t next)
{
    return &own.lists[pt_mix64((uint64_t)place << 32 | next) % LISTS];
}

/* The list of a place and the places of another list; 0: there is no room for it. */
static uint32_t list_of(uint32_t place, uint32_t next)
{
    uint32_t *bucket = bucket_of(place, next);
    for (uint32_t at = *bucket; at; at = own.nodes[at].same)
        if (own.nodes[at].place == place && own.nodes[at].next == next)
            return at;
    if (own.node_count == NODES)
        return 0;
    own.nodes[own.node_count] = (struct node){place, next, *bucket};
    return *bucket = own.node_count++;
}

static void forget_lists(void)
{
    for (uint32_t i = 1; i < own.node_count; i++)
        *bucket_of(own.nodes[i].place, own.nodes[i].next) = 0;
    own.node_count = 1;
}

/* A function that is repeated in one process uses little memory: to give its pages back, and to take others, would cost
 * more than its run. */
static void empty(void)
{
    if (own.touched_count > TOUCHED)
        pt_sys_empty(own.room, sizeof *own.room * CHUNK * own.used);
    for (uint32_t i = 0; i < own.touched_count && own.touched_count <= TOUCHED; i++)
        *own.touched[i] = (struct granule){0};
    own.touched_count = 0;
}

void pt_shared_reset(void)
{
    if (!own.used)
        return;
    empty();
    for (uint32_t i = 0; i < own.used; i++)
        own.index[own.taken[i]].chunk = 0;
    own.used = 0;
    forget_lists();
}

/* NULL: there is none, or no room for it. */
static struct granule *chunk_of(uintptr_t address, bool make)
{
    uintptr_t chunk = 1 + (address >> CHUNK_BITS);
    uint64_t at = pt_mix64(chunk) % (2 * CHUNKS);
    while (own.index[at].chunk && own.index[at].chunk != chunk)
        at = (at + 1) % (2 * CHUNKS);
    if (own.index[at].chunk)
        return own.room + (size_t)own.index[at].at * CHUNK;
    if (!make || own.used == CHUNKS) {
        own.full |= make;
        return NULL;
    }
    own.index[at].chunk = chunk;
    own.taken[own.used] = (uint32_t)at;
    own.index[at].at = own.used++;
    return own.room + (size_t)own.index[at].at * CHUNK;
}

static void note_place(struct granule *granule, uint32_t place)
{
    unsigned seen = 0;
    if (!place)
        return;
    for (uint32_t at = granule->nodes; at && seen < SCAN; at = own.nodes[at].next, seen++)
        if (own.nodes[at].place == place)
            return;
    uint32_t list = list_of(place, granule->nodes);
    if (list)
        granule->nodes = list;
    else
        own.full = true;
}

static void meet_all(struct granule *granule)
{
    for (uint32_t at = granule->nodes; at; at = own.nodes[at].next)
        pt_place_meet(own.nodes[at].place);
    granule->nodes = 0;
    granule->who |= SHARED;
}

static void note(struct granule *granule, uint32_t me, bool write, uint32_t place)
{
    if (granule->who & SHARED) {
        pt_place_meet(place);
        return;
    }
    if (!granule->who && own.touched_count <= TOUCHED) {
        if (own.touched_count < TOUCHED)
            own.touched[own.touched_count] = granule;
        own.touched_count++;
    }
    uint32_t who = granule->who & MANY, now = !who || who == me ? me : MANY;
    granule->who = now | (granule->who & WRITTEN) | (write ? WRITTEN : 0);
    note_place(granule, place);
    if (now == MANY && granule->who & WRITTEN)
        meet_all(granule);
}

static uint32_t own_number(void)
{
    return 1 + pt_run.threads[pt_explore_slot()].number;
}

void pt_shared_note(uintptr_t address, size_t size, bool write, uint32_t place)
{
    uint32_t me = own_number();
    for (uintptr_t at = address & ~(uintptr_t)(UNIT - 1); at < address + size; at += UNIT) {
        struct granule *chunk = chunk_of(at, true);
        if (chunk)
            note(&chunk[at >> UNIT_BITS & (CHUNK - 1)], me, write, place);
    }
    if (own.full)
        pt_explore_lost(PT_EXPLORE_LOST_PLACES, NULL);
}

static void forget_in_chunk(struct granule *chunk, uintptr_t from, uintptr_t to)
{
    memset(&chunk[from >> UNIT_BITS & (CHUNK - 1)], 0, sizeof *chunk * ((to - from) >> UNIT_BITS));
}

/* Of a stack few chunks are used, mostly: then those are looked at, not all that there could be. */
static void forget_used(uintptr_t from, uintptr_t to)
{
    for (uint32_t i = 0; i < own.used; i++) {
        uintptr_t begin = (own.index[own.taken[i]].chunk - 1) << CHUNK_BITS;
        uintptr_t end = begin + ((uintptr_t)1 << CHUNK_BITS);
        if (begin < to && end > from)
            forget_in_chunk(own.room + (size_t)i * CHUNK, begin > from ? begin : from, end < to ? end : to);
    }
}

void pt_shared_forget(uintptr_t from, uintptr_t to)
{
    from &= ~(uintptr_t)(UNIT - 1);
    to = (to + UNIT - 1) & ~(uintptr_t)(UNIT - 1);
    if ((to - from) >> CHUNK_BITS >= own.used) {
        forget_used(from, to);
        return;
    }
    for (uintptr_t at = from; at < to;) {
        uintptr_t end = (at | (((uintptr_t)1 << CHUNK_BITS) - 1)) + 1;
        struct granule *chunk = chunk_of(at, false);
        if (end > to)
            end = to;
        if (chunk)
            forget_in_chunk(chunk, at, end);
        at = end;
    }
}

static bool is_anothers(const struct granule *granule, uint32_t me)
{
    if (granule->who & SHARED || ((granule->who & MANY) != me && granule->who))
        return true;
    for (uint32_t at = granule->nodes; at; at = own.nodes[at].next)
        if (pt_place_flags(own.nodes[at].place) & PT_EXPLORE_SHARED)
            return true;
    return false;
}

bool pt_shared_is_used(uintptr_t address, size_t size)
{
    uint32_t me = own_number();
    for (uintptr_t at = address & ~(uintptr_t)(UNIT - 1); at < address + size; at += UNIT) {
        struct granule *chunk = chunk_of(at, false);
        if (chunk && is_anothers(&chunk[at >> UNIT_BITS & (CHUNK - 1)], me))
            return true;
    }
    return false;
}

/* Who uses it later uses what this thread has written. Only what anybody has used is looked at. */
void pt_shared_free(uintptr_t address, size_t size)
{
    uint32_t me = own_number();
    for (uintptr_t at = address & ~(uintptr_t)(UNIT - 1); at < address + size; at += UNIT) {
        struct granule *chunk = chunk_of(at, false);
        struct granule *granule = chunk ? &chunk[at >> UNIT_BITS & (CHUNK - 1)] : NULL;
        if (!granule || !granule->who)
            continue;
        note(granule, me, true, 0);
        granule->who = me | WRITTEN;
    }
}
