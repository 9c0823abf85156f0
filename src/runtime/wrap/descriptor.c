/*
 * The table of descriptors and their queues. A descriptor is described when it is first used; pipes and pairs of
 * sockets when they are made, so that one end may be used and closed before the other is. Entries are read without a
 * lock. A queue stays when its last descriptor is closed, since the other end may not have been used yet; when there is
 * no more room, one that has none is given up for a new one.
 *
 * Guarantee: an order that the kernel makes is there, but for what the table in docs/what-is-seen.md names; one that
 * it does not make is there only between operations on the same queue: whoever takes knows of all who have put so far.
 * Without one of its own that a child of vfork closes, the parent's table is left alone. Cost: without an observer a
 * load and a branch; with one, an array element and one operation of shadow/slow.c, and the calls of descriptor_key.c
 * once.
 */
#include "runtime/wrap/descriptor.h"

#include <stdatomic.h>
#include <string.h>

#include "runtime/shadow/shadow.h"
#include "runtime/sys/sys.h"
#include "runtime/thread/call.h"
#include "runtime/wrap/file_lock.h"
#include "runtime/wrap/hooks.h"
#include "runtime/wrap/turn.h"

enum { DESCRIPTORS = 1 << 20, QUEUES = 1 << 16, BUCKETS = 1 << 12, NONE = 1, STANDARD = 3 };

struct queue {
    uint64_t object;                   /* stands for it; nobody touches it */
    struct pt_identity identity, peer; /* of the socket of a pair: the queue of the other one */
    uint32_t used, next;               /* descriptors that have it; in its bucket */
    _Atomic uint32_t source;           /* the queue from which splice or its kin fill this one; 0: they do not */
    char name[32];
    bool named, signals;
};

/* An entry has the number of the queue it takes from, and, from bit 32, of the one it puts into. 0: not known. */
static struct {
    struct pt_spin lock;
    _Atomic uint64_t *_Atomic entries;
    _Atomic bool *closed; /* the number was closed before; there are as many */
    struct queue *queues;
    uint32_t count, hand;
    uint32_t buckets[BUCKETS];
    uint32_t opened; /* bit n: standard descriptor n is the program's own by now */
} table = {.lock = PT_SPIN(PT_RANK_DESCRIPTOR), .count = NONE + 1};

/* --- the lock --- */

struct hold {
    struct pt_thread *self;
    uint64_t mask;
};

static void unlock(const struct hold *hold)
{
    pt_spin_unlock(&table.lock);
    if (hold->self)
        pt_thread_leave(hold->self);
    else
        pt_sys_swap_signal_mask(hold->mask);
}

/* No handler runs while it is locked. False: there is no memory, or a handler that the runtime does not know of has
 * interrupted it. */
static bool lock(struct hold *hold)
{
    hold->self = pt_thread_now();
    if (hold->self && hold->self->shadow.busy)
        return false;
    if (hold->self)
        pt_thread_enter(hold->self);
    else
        hold->mask = pt_sys_swap_signal_mask(~(uint64_t)0);
    pt_spin_lock(&table.lock);
    if (!table.queues) {
        table.queues = pt_sys_reserve(sizeof *table.queues * QUEUES);
        table.closed = pt_sys_reserve(sizeof *table.closed * DESCRIPTORS);
        /* release: partner of the acquire in entry_of */
        if (table.queues && table.closed)
            atomic_store_explicit(&table.entries, pt_sys_reserve(sizeof *table.entries * DESCRIPTORS),
                                  memory_order_release);
    }
    if (atomic_load_explicit(&table.entries, memory_order_relaxed))
        return true;
    unlock(hold);
    return false;
}

static _Atomic uint64_t *entry_of(int fd)
{
    _Atomic uint64_t *entries = atomic_load_explicit(&table.entries, memory_order_acquire);
    return entries && fd >= 0 && fd < DESCRIPTORS ? &entries[fd] : NULL;
}

/* In the child of a vfork descriptors are its own, and memory is its parent's. */
static bool is_elsewhere(const struct hold *hold)
{
    return hold->self && pt_sys_thread() != hold->self->tid;
}

/* --- queues, under the lock --- */

static uint32_t *bucket_of(struct pt_identity identity)
{
    return &table.buckets[identity.first % BUCKETS];
}

static bool is_same(struct pt_identity a, struct pt_identity b)
{
    return a.first == b.first && a.second == b.second;
}

static bool is_none(struct pt_identity identity)
{
    return is_same(identity, (struct pt_identity){0});
}

static uint32_t find(struct pt_identity identity)
{
    uint32_t number = is_none(identity) ? 0 : *bucket_of(identity);
    while (number && !is_same(table.queues[number].identity, identity))
        number = table.queues[number].next;
    return number;
}

/* What it knows ends: the next one there is another object. */
static void clear(const struct hold *hold, uint32_t number)
{
    uintptr_t at = (uintptr_t)&table.queues[number].object;
    if (!hold->self)
        return;
    pt_shadow_clear(&hold->self->shadow, at, at + 8, false);
    if (pt_runtime_records_full())
        pt_thread_hooks.freed(hold->self, at, at + 8, PT_MEMORY_FORGOTTEN);
    table.queues[number].named = false;
}

static void unlist(uint32_t number)
{
    if (is_none(table.queues[number].identity))
        return;
    uint32_t *link = bucket_of(table.queues[number].identity);
    while (*link != number)
        link = &table.queues[*link].next;
    *link = table.queues[number].next;
}

/* One that no descriptor has; 0: there is none. */
static uint32_t reclaim(const struct hold *hold)
{
    for (uint32_t tries = 0; tries < QUEUES; tries++) {
        table.hand = table.hand + 1 < QUEUES && table.hand > NONE ? table.hand + 1 : NONE + 1;
        if (table.queues[table.hand].used)
            continue;
        unlist(table.hand);
        clear(hold, table.hand);
        return table.hand;
    }
    return 0;
}

static void append_number(char *text, unsigned number)
{
    char digits[12];
    size_t count = 0, at = strlen(text);
    for (; count == 0 || number; number /= 10)
        digits[count++] = (char)('0' + number % 10);
    while (count)
        text[at++] = digits[--count];
    text[at] = 0;
}

static uint32_t make(const struct hold *hold, struct pt_identity identity, const char *sort, int fd, const char *end)
{
    uint32_t number = table.count < QUEUES ? table.count++ : reclaim(hold);
    if (!number)
        return NONE;
    struct queue *queue = &table.queues[number];
    *queue = (struct queue){.identity = identity, .signals = strcmp(sort, "signalfd") == 0};
    strncpy(queue->name, sort, 12);
    strcat(queue->name, " ");
    append_number(queue->name, (unsigned)fd);
    strcat(queue->name, end);
    if (!is_none(identity)) {
        queue->next = *bucket_of(identity);
        *bucket_of(identity) = number;
    }
    return number;
}

static uint32_t find_or_make(const struct hold *hold, struct pt_identity identity, const char *sort, int fd,
                             const char *end)
{
    uint32_t number = find(identity);
    return number ? number : make(hold, identity, sort, fd, end);
}

/* --- entries, under the lock --- */

static void count_in(uint64_t entry)
{
    table.queues[(uint32_t)entry].used++;
    table.queues[entry >> 32].used++;
}

static void set_entry(int fd, uint64_t entry)
{
    _Atomic uint64_t *at = entry_of(fd);
    if (!at)
        return;
    uint64_t before = atomic_load_explicit(at, memory_order_relaxed);
    if (entry)
        count_in(entry);
    if (before) {
        table.queues[(uint32_t)before].used--;
        table.queues[before >> 32].used--;
    }
    /* release: the queues are there */
    atomic_store_explicit(at, entry, memory_order_release);
    if (fd < STANDARD)
        table.opened |= 1u << fd;
}

static uint64_t entry_with(uint32_t in, uint32_t out)
{
    return in | (uint64_t)out << 32;
}

/* Of what the kernel says. 0: it may still become something else. */
static uint64_t describe(const struct hold *hold, int fd)
{
    struct pt_described d;
    char text[PT_SORT_MAX];
    if (fd < STANDARD && !(table.opened >> fd & 1))
        return entry_with(NONE, NONE);
    pt_describe(fd, text, &d);
    uint32_t own = find(d.own);
    if (own && !is_none(table.queues[own].peer)) { /* of a pair */
        uint32_t peer = find(table.queues[own].peer);
        return entry_with(peer ? peer : NONE, own);
    }
    if (!d.lasts)
        return 0;
    if (d.takes && d.puts && is_none(d.in)) {
        uint32_t both = make(hold, d.in, d.sort, fd, "");
        return entry_with(both, both);
    }
    uint32_t out = d.puts ? find_or_make(hold, d.out, d.sort, fd, "") : NONE;
    return entry_with(d.takes ? find_or_make(hold, d.in, d.sort, fd, " in") : NONE, out);
}

static uint64_t learn(const struct hold *hold, int fd)
{
    const _Atomic uint64_t *at = entry_of(fd);
    if (!at)
        return 0;
    uint64_t entry = atomic_load_explicit(at, memory_order_relaxed);
    if (entry)
        return entry;
    entry = describe(hold, fd);
    if (entry)
        set_entry(fd, entry);
    return entry;
}

static uint64_t learned(int fd)
{
    struct hold hold;
    if (!lock(&hold))
        return 0;
    uint64_t entry = is_elsewhere(&hold) ? 0 : learn(&hold, fd);
    unlock(&hold);
    return entry;
}

static uint64_t look_up(int fd)
{
    const _Atomic uint64_t *at = entry_of(fd);
    uint64_t entry = at ? atomic_load_explicit(at, memory_order_acquire) : 0;
    return entry ? entry : learned(fd);
}

/* --- what happens --- */

static void sync_queue(uint32_t number, int kind, const struct pt_site *site)
{
    struct queue *queue = &table.queues[number];
    if (number <= NONE)
        return;
    if (pt_call_wanted && !queue->named && pt_thread_now()) {
        queue->named = true;
        pt_wrap_name(&queue->object, queue->name);
    }
    pt_wrap_sync_kernel(&queue->object, kind, site);
}

void pt_descriptor_sync(int fd, bool puts, int kind, const struct pt_site *site)
{
    uint64_t entry = look_up(fd);
    uint32_t number = puts ? (uint32_t)(entry >> 32) : (uint32_t)entry;
    uint32_t source = puts || !entry ? 0 : atomic_load_explicit(&table.queues[number].source, memory_order_relaxed);
    if (source)
        sync_queue(source, kind, site);
    sync_queue(number, kind, site);
}

void pt_descriptor_feed(int from, int to)
{
    uint64_t in = look_up(from), out = look_up(to);
    if (in && (uint32_t)in > NONE && out >> 32 > NONE)
        atomic_store_explicit(&table.queues[out >> 32].source, (uint32_t)in, memory_order_relaxed);
}

void pt_descriptor_sync_number(int fd, int kind, const struct pt_site *site)
{
    const _Atomic uint64_t *at = entry_of(fd);
    char name[32] = "descriptor ";
    if (!at || !pt_is_active())
        return;
    if (kind != PT_KIND_WAIT)
        atomic_store_explicit(&table.closed[fd], true, memory_order_relaxed);
    else if (!atomic_load_explicit(&table.closed[fd], memory_order_relaxed))
        return;
    if (pt_call_wanted) {
        append_number(name, (unsigned)fd);
        pt_wrap_name((const void *)at, name);
    }
    pt_wrap_sync_kernel((const void *)at, kind,
                        site); /* its entry stands for it, as no code of the program touches that */
}

static void sync_identity(int fd, struct pt_identity identity, const char *sort, int kind, const struct pt_site *site)
{
    struct hold hold;
    if (is_none(identity) || !lock(&hold))
        return;
    uint32_t number = find_or_make(&hold, identity, sort, fd, "");
    unlock(&hold);
    sync_queue(number, kind, site);
}

void pt_descriptor_sync_address(int fd, const struct sockaddr *address, socklen_t len, bool listener, int kind,
                                const struct pt_site *site)
{
    sync_identity(fd, pt_describe_address(address, len, listener), listener ? "listener" : "datagrams", kind, site);
}

void pt_descriptor_sync_listener(int fd, int kind, const struct pt_site *site)
{
    sync_identity(fd, pt_describe_listener(fd), "listener", kind, site);
}

bool pt_descriptor_is_of_signals(int fd)
{
    uint64_t entry = look_up(fd);
    return entry && table.queues[(uint32_t)entry].signals;
}

/* --- descriptors come and go --- */

bool pt_descriptor_is_known(int fd)
{
    const _Atomic uint64_t *at = entry_of(fd);
    return at && atomic_load_explicit(at, memory_order_relaxed);
}

void pt_descriptor_forget(int fd)
{
    struct hold hold;
    if (!pt_is_watching() || (fd >= STANDARD && !pt_descriptor_is_known(fd)) || !lock(&hold))
        return;
    if (!is_elsewhere(&hold))
        set_entry(fd, 0);
    unlock(&hold);
}

void pt_descriptor_copy(int from, int to)
{
    struct hold hold;
    if (!pt_is_watching() || from == to || !lock(&hold))
        return;
    if (!is_elsewhere(&hold))
        set_entry(to, learn(&hold, from));
    unlock(&hold);
}

/* The inode may be that of one that is gone. */
static uint32_t make_anew(const struct hold *hold, struct pt_identity identity, const char *sort, int fd)
{
    uint32_t before = find(identity);
    if (before && !table.queues[before].used) {
        unlist(before);
        table.queues[before].identity = (struct pt_identity){0};
    }
    return find_or_make(hold, identity, sort, fd, "");
}

static void are_new(const int ends[2])
{
    pt_turn_made(ends);
    pt_descriptor_sync_number(ends[0], PT_KIND_WAIT, NULL);
    pt_descriptor_sync_number(ends[1], PT_KIND_WAIT, NULL);
}

void pt_descriptor_piped(const int ends[2])
{
    struct hold hold;
    struct pt_described d;
    char text[PT_SORT_MAX];
    are_new(ends);
    if (!pt_is_watching() || !lock(&hold))
        return;
    if (!is_elsewhere(&hold)) {
        set_entry(ends[0], 0);
        set_entry(ends[1], 0);
        pt_describe(ends[0], text, &d);
        uint32_t queue = d.takes ? make_anew(&hold, d.in, "pipe", ends[0]) : NONE;
        set_entry(ends[0], entry_with(queue, queue));
        set_entry(ends[1], entry_with(queue, queue));
    }
    unlock(&hold);
}

void pt_descriptor_paired(const int ends[2])
{
    struct hold hold;
    are_new(ends);
    if (!pt_is_watching() || !lock(&hold))
        return;
    if (!is_elsewhere(&hold)) {
        uint32_t queues[2];
        set_entry(ends[0], 0);
        set_entry(ends[1], 0);
        for (int i = 0; i < 2; i++)
            queues[i] = make_anew(&hold, pt_describe_socket(ends[i]), "socket", ends[i]);
        for (int i = 0; i < 2 && queues[0] > NONE && queues[1] > NONE; i++) {
            table.queues[queues[i]].peer = table.queues[queues[1 - i]].identity;
            set_entry(ends[i], entry_with(queues[1 - i], queues[i]));
        }
    }
    unlock(&hold);
}

void pt_descriptor_restart(void)
{
    pt_spin_reset(&table.lock);
    for (uint32_t i = 0; table.queues && i < table.count; i++)
        table.queues[i].named = false;
    pt_file_lock_restart();
}
