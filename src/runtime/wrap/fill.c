/*
 * Reports what a function has filled, as far as anybody wants to know: a watched variable in it gets its new value, and
 * a thread whose every event counts has a write of all of it.
 *
 * Guarantee: a fill of a watched variable is one step with its event, except for threads that look at the variable
 * while the function runs; they find a value that nobody has reported, and say so (shadow/watch.h). Cost: a load and a
 * branch without an observer, else a look at a shadow word for every 8 bytes on pages that have any.
 */
#include "runtime/wrap/fill.h"

#include <errno.h>

#include "runtime/shadow/shadow.h"
#include "runtime/shadow/slow.h"
#include "runtime/shadow/watch.h"

enum { PAGE = 4096 };

/* Something there may be watched: whether it is shows when it is locked. Within one page. */
static bool may_be_watched(uintptr_t from, uintptr_t to)
{
    if (!pt_shadow_any(from, to))
        return false;
    for (uintptr_t granule = from & ~(uintptr_t)7; granule < to; granule += 8) {
        const pt_shadow_word *word = pt_shadow_peek(granule);
        if (word && atomic_load_explicit(word, memory_order_relaxed) & (PT_SHADOW_FINE | PT_SHADOW_LOCKED))
            return true;
    }
    return false;
}

/* Inside the runtime: a call of its own, or of a handler that signal.c does not know of. If what it fills is watched,
 * something is lost. */
static void note_lost(uintptr_t from, uintptr_t to)
{
    for (uintptr_t granule = from & ~(uintptr_t)7; granule < to; granule += 8) {
        const pt_shadow_word *word = pt_shadow_peek(granule);
        uint64_t seen = word ? atomic_load_explicit(word, memory_order_relaxed) : 0;
        if (seen & PT_SHADOW_FINE && pt_fines[pt_shadow_access(seen)].watch)
            pt_runtime_lost();
    }
}

static void report_page(uintptr_t from, uintptr_t to, const struct pt_site *site)
{
    struct pt_shadow_self *self = pt_shadow_caller();
    struct pt_locked_range range;
    if (!self)
        return;
    if (self->busy) {
        note_lost(from, to);
        return;
    }
    pt_shadow_before(self, from, to - from, true);
    pt_enter(self);
    if (pt_slow_begin(self, from, to - from, true, &range))
        pt_slow_end_write(self, &range, PT_KIND_WRITE, site);
    pt_leave(self);
}

void pt_fill_report(const struct pt_site *site, const void *memory, size_t size)
{
    uintptr_t from = (uintptr_t)memory, end = from + size, to;
    int error = errno;
    bool all = pt_self ? pt_self->slow : pt_runtime_records_full();
    if (end < from || !pt_address_ok(end))
        return;
    for (; from < end; from = to) {
        to = (from | (PAGE - 1)) + 1 < end ? (from | (PAGE - 1)) + 1 : end;
        if (all || may_be_watched(from, to))
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
