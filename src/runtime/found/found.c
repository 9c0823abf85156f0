/*
 * What built-in checks found, reported once for each key and counted afterwards.
 *
 * Keys stand in a table without locks that only grows; a full one takes no more, and those that did not fit are counted
 * together. How often something was found is sent to the observer when it has doubled and when the program ends, so
 * that a killed one has told at least half of it.
 *
 * Guarantee: of each key at most one report is made, by one thread; what does not fit into a record counts as lost.
 * Cost: a look-up for each time something is found; its bytes, a record or a printed page for each key.
 */
#include "runtime/found/found_impl.h"

#include <string.h>

#include "runtime/channel/emit.h"
#include "runtime/found/suppressed.h"
#include "runtime/found/verdict.h"
#include "runtime/pool/pool.h"
#include "runtime/sys/log.h"

const struct pt_found_taker *pt_found_taker;

enum { PROBES = 64 };
static struct {
    _Atomic uint64_t key, count;
} table[PT_FOUND_KINDS];
static _Atomic uint64_t untold;
static _Atomic bool any; /* something stands in the table */

/* Its place in the table; -1: there is none left. */
static int64_t find(uint64_t key)
{
    for (uint32_t i = 0; i < PROBES; i++) {
        uint32_t at = (uint32_t)(key + i) % PT_FOUND_KINDS;
        uint64_t there = 0;
        if (atomic_compare_exchange_strong(&table[at].key, &there, key) || there == key)
            return at;
    }
    return -1;
}

static void emit_count(struct pt_thread *self, uint64_t key, uint64_t count)
{
    if (pt_verdict_is_observed())
        pt_emit_found(self, key, count, NULL, 0);
}

bool pt_found_is_new(struct pt_thread *self, uint64_t key)
{
    int64_t at = find(key);
    atomic_store_explicit(&any, true, memory_order_relaxed);
    if (at < 0) {
        atomic_fetch_add_explicit(&untold, 1, memory_order_relaxed);
        return false;
    }
    uint64_t count = atomic_fetch_add_explicit(&table[at].count, 1, memory_order_relaxed) + 1;
    if (count > 1 && pt_found_taker)
        pt_found_taker->again(key, count);
    else if (count > 1 && (count & (count - 1)) == 0)
        emit_count(self, key, count);
    return count == 1;
}

static void halt_for(const struct pt_found *found)
{
    static const char *const what[] = {[PT_FOUND_RACE] = "a data race was found",
                                       [PT_FOUND_DEADLOCK] = "a deadlock was found",
                                       [PT_FOUND_LIFETIME] = "a use after free was found"};
    pt_verdict_halt(what[found->check]);
}

bool pt_found_report(struct pt_thread *self, const struct pt_found *found, bool halt)
{
    char *bytes = pt_pool_take(pt_thread_pool(self), PT_FOUND_BYTES);
    size_t len = bytes ? pt_found_write(found, bytes, PT_FOUND_BYTES) : 0;
    bool observed = pt_verdict_is_observed(), suppressed = len && pt_suppressed_found(bytes, len);
    if (pt_found_taker && !suppressed)
        pt_found_taker->found(found, bytes, len);
    else if (!len)
        pt_runtime_lost();
    else if (observed) /* who suppresses it itself, and says so */
        pt_emit_found(self, found->key, 1, bytes, (uint32_t)len);
    else if (!suppressed)
        pt_found_print(self, bytes, len);
    pt_pool_give(pt_thread_pool(self), bytes);
    if (suppressed)
        return false;
    if (pt_found_taker) /* whose status is the program's own */
        return true;
    pt_verdict_count();
    if (halt)
        halt_for(found);
    return true;
}

static void say_untold(uint64_t count)
{
    struct pt_line line = {0};
    pt_line_text(&line, "portent: ");
    pt_line_number(&line, count);
    pt_line_text(&line, " more times something was found for which there was no room; it is not reported");
    pt_line_write(&line);
}

void pt_found_finish(struct pt_thread *self)
{
    uint64_t more = atomic_load_explicit(&untold, memory_order_relaxed);
    for (uint32_t at = 0; pt_verdict_is_observed() && at < PT_FOUND_KINDS; at++) {
        uint64_t count = atomic_load_explicit(&table[at].count, memory_order_relaxed);
        if (count > 1)
            emit_count(self, atomic_load_explicit(&table[at].key, memory_order_relaxed), count);
    }
    if (more && pt_verdict_is_observed())
        emit_count(self, 0, more);
    else if (more)
        say_untold(more);
}

void pt_found_restart(void)
{
    if (!atomic_exchange_explicit(&any, false, memory_order_relaxed))
        return;
    memset((void *)table, 0, sizeof table);
    atomic_store_explicit(&untold, 0, memory_order_relaxed);
}
