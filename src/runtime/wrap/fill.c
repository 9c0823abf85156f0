/*
 * Reports what a function has filled where a watched variable lies: it gets its new value. Other memory is reported
 * only in recordings of everything, and not of a thread that evaluates properties: it has the same events whether it is
 * recorded or not.
 *
 * Guarantee: a fill of a watched variable is one step with its event, except for threads that look at the variable
 * while the function runs; they find a value that nobody has reported, and say so (shadow/watch.h). Cost: a load and a
 * branch without an observer, else a look at a shadow word for every 8 bytes on pages that have any.
 */
#include "runtime/wrap/fill.h"

#include <errno.h>

#include "runtime/shadow/shadow.h"
#include "runtime/shadow/silence.h"
#include "runtime/shadow/slow.h"
#include "runtime/shadow/watch.h"
#include "runtime/thread/thread.h"

enum { PAGE = 4096 };

/* Is all that is filled recorded? Not of a thread that evaluates properties, see above, nor of one that is still
 * beginning. */
static bool records_all(void)
{
    const struct pt_thread *self = pt_runtime_records_memory() ? pt_thread_now() : NULL;
    return self && self->shadow.full && !self->shadow.steps;
}

/* Whether a watched variable lies near. Within one page. */
static bool is_watched(uintptr_t from, uintptr_t to)
{
    if (pt_silence_is_outside(from, to - from) || !pt_shadow_any(from, to))
        return false;
    for (uintptr_t granule = from & ~(uintptr_t)7; granule < to; granule += 8) {
        const pt_shadow_word *word = pt_shadow_peek(granule);
        uint64_t seen = word ? atomic_load_explicit(word, memory_order_relaxed) : 0;
        if (seen & PT_SHADOW_FINE && pt_fines[pt_shadow_access(seen)].watch)
            return true;
    }
    return false;
}

static void report_page(uintptr_t from, uintptr_t to, const struct pt_site *site)
{
    struct pt_shadow_self *self = pt_shadow_caller();
    struct pt_locked_range range;
    if (!self)
        return;
    if (self->busy) { /* by a handler that signal.c does not know of */
        pt_runtime_lost();
        return;
    }
    pt_shadow_before(self, from, to - from, true, NULL);
    pt_enter(self);
    if (pt_slow_begin(self, from, to - from, true, &range))
        pt_slow_end_write(self, &range, PT_KIND_WRITE, site);
    pt_leave(self);
}

void pt_fill_report(const struct pt_site *site, const void *memory, size_t size)
{
    uintptr_t from = (uintptr_t)memory, end = from + size, to;
    int error = errno;
    if (end < from || !pt_address_ok(end))
        return;
    pt_shadow_race(memory, size, PT_RACE_WRITE, site);
    if (!pt_is_recording())
        return;
    bool all = records_all();
    for (; from < end; from = to) {
        to = (from | (PAGE - 1)) + 1 < end ? (from | (PAGE - 1)) + 1 : end;
        if (all || is_watched(from, to))
            report_page(from, to, site);
    }
    errno = error;
}

void pt_fill_vector(const struct pt_site *site, const struct iovec *pieces, size_t count, size_t size)
{
    for (size_t i = 0, piece; i < count && size && pt_is_active(); i++, size -= piece) {
        piece = pieces[i].iov_len < size ? pieces[i].iov_len : size;
        pt_fill(site, pieces[i].iov_base, piece);
    }
}
