/*
 * Accesses of any size: those the program does inline between a begin and an end, memcpy, memmove, memset, and copies
 * of strings.
 *
 * The latter are not atomic in C either, so they go in pieces, each locked for itself; a piece is read into a buffer
 * and then written, so that source and destination are never locked together. Guarantee: each piece is one step for
 * others. Cost: two copies, and for each piece what an access of the slow path costs.
 */
#pragma GCC visibility push(default)
#include "core/hooks.h"
#pragma GCC visibility pop

#include <string.h>

#include "core/explore.h"
#include "runtime/shadow/kept.h"
#include "runtime/shadow/owned.h"
#include "runtime/shadow/shadow.h"
#include "runtime/shadow/silence.h"
#include "runtime/shadow/slow.h"
#include "runtime/sys/sys.h"

enum { PIECE = 512 };

static struct pt_shadow_self *recorder(const void *address, size_t size, bool write)
{
    if (!pt_is_recording() || !size || !pt_address_ok((uintptr_t)address) || !pt_address_ok((uintptr_t)address + size))
        return NULL;
    return pt_shadow_caller_at((uintptr_t)address, size, write);
}

static void count_lost(const void *address, size_t size)
{
    if (pt_is_recording())
        pt_slow_lost((uintptr_t)address, size);
}

/* Where threads are scheduled. */
static void explore(const void *address, size_t size, unsigned kind, const struct pt_site *site)
{
    if (pt_is_exploring() && size)
        pt_shadow_hooks.point(address, size, kind, site);
}

/* Whether it is made as with nothing to check: silence lasts, and nothing is watched there. The first may be none. */
static bool is_spared(const void *from, size_t read, const void *to, size_t written)
{
    return pt_is_lasting() && (!read || pt_silence_spares((uintptr_t)from, read)) &&
           pt_silence_spares((uintptr_t)to, written);
}

/* While something is open the thread is busy, and signals are deferred: the compiler puts only the access in between.
 */
static void begin(const void *address, size_t size, bool write)
{
    if (is_spared(NULL, 0, address, size))
        return;
    struct pt_shadow_self *self = recorder(address, size, write);
    if (!self || self->busy != self->open_count || self->open_count == PT_OPEN_MAX) {
        count_lost(address, size);
        return;
    }
    if (pt_is_silent() && pt_silence_open(self, (uintptr_t)address, size, &self->open[self->open_count])) {
        self->open_count++;
        return;
    }
    pt_shadow_before(self, (uintptr_t)address, size, write, NULL);
    pt_enter(self);
    struct pt_locked_range *range = &self->open[self->open_count++];
    bool locked = pt_slow_begin(self, (uintptr_t)address, size, write, range);
    if (!locked)
        range->high = 0;
    else if (write)
        pt_slow_check(self, range);
}

static void end(const void *address, int effect, int order, const struct pt_site *site)
{
    struct pt_shadow_self *self = pt_self;
    /* its begin may have found nothing to record */
    if (!self || !self->open_count || self->open[self->open_count - 1].from != (uintptr_t)address)
        return;
    struct pt_locked_range *range = &self->open[--self->open_count];
    if (range->silent) {
        pt_silence_close(self, range);
        return;
    }
    range->order = pt_slow_order(order);
    if (range->high && effect != PT_ATOMIC_READ)
        pt_slow_end_write(self, range, effect == PT_ATOMIC_UPDATE ? PT_KIND_UPDATE : PT_KIND_WRITE, site);
    else if (range->high)
        pt_slow_end_read(self, range, site);
    pt_leave(self);
}

void __portent_begin_read(const void *address, size_t size, const struct pt_site *site)
{
    explore(address, size, PT_EXPLORE_LOAD, site);
    begin(address, size, false);
}

void __portent_end_read(const void *address, size_t size, const struct pt_site *site)
{
    end(address, PT_ATOMIC_READ, PT_PLAIN, site);
    pt_shadow_race(address, size, PT_RACE_READ, site);
}

void __portent_begin_write(void *address, size_t size, const struct pt_site *site)
{
    explore(address, size, PT_EXPLORE_STORE, site);
    pt_shadow_race(address, size, PT_RACE_WRITE, site);
    begin(address, size, true);
}

void __portent_end_write(void *address, size_t size, const struct pt_site *site)
{
    (void)size;
    end(address, PT_ATOMIC_WRITE, PT_PLAIN, site);
}

void __portent_begin_atomic(void *address, size_t size, int effect, const struct pt_site *site)
{
    static const unsigned kinds[] = {[PT_ATOMIC_READ] = PT_EXPLORE_ATOMIC_LOAD,
                                     [PT_ATOMIC_WRITE] = PT_EXPLORE_ATOMIC_STORE,
                                     [PT_ATOMIC_UPDATE] = PT_EXPLORE_ATOMIC_UPDATE};
    explore(address, size, kinds[effect], site);
    if (effect != PT_ATOMIC_READ)
        pt_slow_race_atomic(address, size, PT_RACE_WRITE, __ATOMIC_RELEASE, site);
    begin(address, size, effect != PT_ATOMIC_READ);
}

void __portent_end_atomic(void *address, size_t size, int effect, int order, const struct pt_site *site)
{
    end(address, effect, order, site);
    if (effect != PT_ATOMIC_WRITE)
        pt_slow_race_atomic(address, size, PT_RACE_READ, order, site);
}

static void read_piece(struct pt_shadow_self *self, void *buffer, const void *from, size_t size,
                       const struct pt_site *site)
{
    struct pt_locked_range range;
    pt_shadow_before(self, (uintptr_t)from, size, false, NULL);
    if (pt_owned_begin_piece(self, (uintptr_t)from, size, false)) {
        memcpy(buffer, from, size);
        pt_owned_end_piece(self, PT_KIND_READ_AT, (uintptr_t)from, size, site);
        return;
    }
    pt_enter(self);
    bool locked = true, kept = pt_kept_begin_piece(self, (uintptr_t)from, size, false, &range);
    if (!kept)
        locked = pt_slow_begin(self, (uintptr_t)from, size, false, &range);
    memcpy(buffer, from, size);
    if (locked && !(kept && pt_kept_end_piece(self, &range, false)))
        pt_slow_end_read(self, &range, site);
    pt_leave(self);
}

static void write_piece(struct pt_shadow_self *self, void *to, const void *buffer, size_t size,
                        const struct pt_site *site)
{
    struct pt_locked_range range;
    pt_shadow_before(self, (uintptr_t)to, size, true, NULL);
    if (pt_owned_begin_piece(self, (uintptr_t)to, size, true)) {
        memcpy(to, buffer, size);
        pt_owned_end_piece(self, PT_KIND_WRITE_AT, (uintptr_t)to, size, site);
        return;
    }
    pt_enter(self);
    bool locked = true, kept = pt_kept_begin_piece(self, (uintptr_t)to, size, true, &range);
    if (!kept && (locked = pt_slow_begin(self, (uintptr_t)to, size, true, &range)))
        pt_slow_check(self, &range);
    memcpy(to, buffer, size);
    if (locked && !(kept && pt_kept_end_piece(self, &range, true)))
        pt_slow_end_write(self, &range, PT_KIND_WRITE, site);
    pt_leave(self);
}

static void *recorded_move(void *to, const void *from, size_t size, const struct pt_site *site)
{
    if (is_spared(from, size, to, size))
        return memmove(to, from, size);
    struct pt_shadow_self *self = recorder(to, size, true);
    if (!self || self->busy || !pt_address_ok((uintptr_t)from)) {
        count_lost(to, size);
        return memmove(to, from, size);
    }
    if (pt_is_silent() && pt_silence_begin_piece(self, (uintptr_t)from, size, (uintptr_t)to, size)) {
        memmove(to, from, size);
        pt_silence_end_store(self, (uintptr_t)to, size);
        return to;
    }
    unsigned char buffer[PIECE];
    bool backwards = (uintptr_t)to - (uintptr_t)from < size;
    for (size_t done = 0, piece; done < size; done += piece) {
        piece = size - done < PIECE ? size - done : PIECE;
        size_t at = backwards ? size - done - piece : done;
        read_piece(self, buffer, (const char *)from + at, piece, site);
        write_piece(self, (char *)to + at, buffer, piece, site);
    }
    return to;
}

/* What is read is read in its own step, before that of the writing. */
static void *explored_move(void *to, const void *from, size_t size, const struct pt_site *site,
                           const struct pt_site *source)
{
    unsigned char room[PIECE], *buffer = size <= PIECE ? room : pt_sys_reserve(size);
    explore(from, size, PT_EXPLORE_LOAD, source);
    if (buffer)
        memcpy(buffer, from, size);
    explore(to, size, PT_EXPLORE_STORE, site);
    pt_shadow_race(to, size, PT_RACE_WRITE, site);
    recorded_move(to, buffer ? buffer : from, size, site);
    pt_shadow_race(from, size, PT_RACE_READ, source);
    if (buffer && buffer != room)
        pt_sys_release(buffer, size);
    return to;
}

void *__portent_memmove(void *to, const void *from, size_t size, const struct pt_site *site,
                        const struct pt_site *source)
{
    if (pt_is_exploring())
        return explored_move(to, from, size, site, source);
    pt_shadow_race(to, size, PT_RACE_WRITE, site);
    recorded_move(to, from, size, site);
    pt_shadow_race(from, size, PT_RACE_READ, source);
    return to;
}

void *__portent_memcpy(void *to, const void *from, size_t size, const struct pt_site *site,
                       const struct pt_site *source)
{
    return __portent_memmove(to, from, size, site, source);
}

void *__portent_memset(void *to, int byte, size_t size, const struct pt_site *site)
{
    explore(to, size, PT_EXPLORE_STORE, site);
    pt_shadow_race(to, size, PT_RACE_WRITE, site);
    if (is_spared(NULL, 0, to, size))
        return memset(to, byte, size);
    struct pt_shadow_self *self = recorder(to, size, true);
    if (!self || self->busy) {
        count_lost(to, size);
        return memset(to, byte, size);
    }
    if (pt_is_silent() && pt_silence_begin_piece(self, 0, 0, (uintptr_t)to, size)) {
        memset(to, byte, size);
        pt_silence_end_store(self, (uintptr_t)to, size);
        return to;
    }
    unsigned char buffer[PIECE];
    memset(buffer, byte, size < PIECE ? size : PIECE);
    for (size_t done = 0, piece; done < size; done += piece) {
        piece = size - done < PIECE ? size - done : PIECE;
        write_piece(self, (char *)to + done, buffer, piece, site);
    }
    return to;
}

/* `length` bytes of `from` and `zeros` zeros. Where they fit into one piece the string changes in one event. */
static void copy_and_fill(char *to, const char *from, size_t length, size_t zeros, const struct pt_site *site)
{
    size_t size = length + zeros;
    struct pt_shadow_self *self = is_spared(from, length, to, size) ? NULL : recorder(to, size, true);
    if (!self || self->busy || !pt_address_ok((uintptr_t)from)) {
        count_lost(to, size);
        memcpy(to, from, length);
        memset(to + length, 0, zeros);
        return;
    }
    if (pt_is_silent() && pt_silence_begin_piece(self, (uintptr_t)from, length, (uintptr_t)to, size)) {
        memcpy(to, from, length);
        memset(to + length, 0, zeros);
        pt_silence_end_store(self, (uintptr_t)to, size);
        return;
    }
    unsigned char buffer[PIECE];
    for (size_t done = 0, piece; done < size; done += piece) {
        piece = size - done < PIECE ? size - done : PIECE;
        size_t copied = done >= length ? 0 : length - done < piece ? length - done : piece;
        if (copied)
            read_piece(self, buffer, from + done, copied, site);
        memset(buffer + copied, 0, piece - copied);
        write_piece(self, to + done, buffer, piece, site);
    }
}

/* ---- functions that only read ---- */

/* In pieces, as copies are. Nothing of it is the program's own property: only recordings have it. */
static void record_read(const void *from, size_t size, const struct pt_site *site)
{
    struct pt_shadow_self *self = recorder(from, size, false);
    struct pt_locked_range range;
    if (!self || self->busy || !self->full)
        return;
    for (size_t done = 0, piece; done < size; done += piece) {
        uintptr_t at = (uintptr_t)from + done;
        piece = size - done < PIECE ? size - done : PIECE;
        pt_shadow_before(self, at, piece, false, NULL);
        if (pt_owned_begin_piece(self, at, piece, false)) {
            pt_owned_end_piece(self, PT_KIND_READ_AT, at, piece, site);
            continue;
        }
        pt_enter(self);
        if (pt_slow_begin(self, at, piece, false, &range))
            pt_slow_end_read(self, &range, site);
        pt_leave(self);
    }
}

void pt_slow_read(const void *address, size_t size, const struct pt_site *site)
{
    explore(address, size, PT_EXPLORE_LOAD, site);
    record_read(address, size, site);
    pt_shadow_race(address, size, PT_RACE_READ, site);
}

static unsigned char lower(unsigned char byte)
{
    return byte >= 'A' && byte <= 'Z' ? (unsigned char)(byte - 'A' + 'a') : byte;
}

static size_t compared(const unsigned char *one, const unsigned char *other, size_t most, int op)
{
    for (size_t i = 0; i < most; i++) {
        bool same = op == PT_READ_COMPARE_CASE ? lower(one[i]) == lower(other[i]) : one[i] == other[i];
        if (!same || (op != PT_READ_COMPARE && !one[i]))
            return i + 1;
    }
    return most;
}

static size_t found(const unsigned char *in, unsigned char byte, size_t most, int op)
{
    for (size_t i = 0; i < most; i++)
        if (in[i] == byte || (op == PT_READ_FIND_TEXT && !in[i]))
            return i + 1;
    return most;
}

static size_t searched(const char *in, const char *text)
{
    const char *at = strstr(in, text);
    return at ? (size_t)(at - in) + strlen(text) : strlen(in) + 1;
}

static size_t read_of(const void *address, const void *other, size_t size, int op)
{
    size_t length;
    switch (op) {
    case PT_READ_TEXT:
        length = strnlen(address, size);
        return length + (length < size);
    case PT_READ_COMPARE:
    case PT_READ_COMPARE_TEXT:
    case PT_READ_COMPARE_CASE:
        return compared(address, other, size, op);
    case PT_READ_FIND:
    case PT_READ_FIND_TEXT:
        return found(address, (unsigned char)(uintptr_t)other, size, op);
    case PT_READ_WHILE:
        return strspn(address, other) + 1;
    case PT_READ_UNTIL:
        return strcspn(address, other) + 1;
    case PT_READ_SEARCH:
        return searched(address, other);
    default:
        return size;
    }
}

/* What others write meanwhile may be another length; it is one that the function could have read. */
void __portent_read(const void *address, const void *other, size_t size, int op, const struct pt_site *site)
{
    enum { LOOKS = PT_ACTIVE_RACES | PT_ACTIVE_LIVES | PT_ACTIVE_EXPLORES };
    unsigned mode = atomic_load_explicit(&pt_active, memory_order_relaxed);
    if (__builtin_expect(mode == 0, 1))
        return;
    if ((mode & LOOKS || (mode & PT_ACTIVE_CHOOSES && !pt_race_is_often(site)) || pt_runtime_records_full()) && address)
        pt_slow_read(address, read_of(address, other, size, op), site);
}

_Noreturn void __chk_fail(void); /* glibc's end of programs that overrun a buffer of known size */

char *__portent_string(char *to, const char *from, size_t limit, size_t room, int op, const struct pt_site *site,
                       const struct pt_site *source)
{
    size_t length = strnlen(from, limit), skip = op == PT_STRING_APPEND ? strlen(to) : 0;
    size_t zeros = op == PT_STRING_PAD ? limit - length : 1;
    if (room != SIZE_MAX && (zeros > room || length > room - zeros || skip > room - zeros - length))
        __chk_fail();
    explore(from, length + (length < limit), PT_EXPLORE_LOAD, source);
    explore(to, skip + length + zeros, PT_EXPLORE_STORE, site);
    pt_shadow_race(to + skip, length + zeros, PT_RACE_WRITE, site);
    copy_and_fill(to + skip, from, length, zeros, site);
    pt_shadow_race(from, length + (length < limit), PT_RACE_READ, source);
    pt_shadow_race(to, skip, PT_RACE_READ, site);
    return to + skip + length;
}
