/*
 * Memory that is given back ends the lives of the variables in it: whoever gets the address next has new ones. Only the
 * giving back is of interest, so malloc and its kin are left alone. realloc moves contents: a read of the old object
 * and a write of the new one. Memory that comes from the kernel is in mapping.c.
 *
 * While races are looked for, or all is recorded by which they are, free keeps small blocks for a while, so that their
 * use by other threads is found. While lifetimes are looked at it keeps blocks of all sizes (race/kept.c), and realloc
 * moves them.
 *
 * Guarantee: what was known of memory is forgotten before anybody else can get it. For races at most 1 MiB is kept, and
 * a block that is freed twice ends the program later than it would, if at all. Cost: linear in the pages of it that
 * have shadow; for what is kept, linear in its bytes, twice; a load and a branch without an observer.
 */
#include "runtime/wrap/memory.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC visibility push(default)
#include "core/hooks.h"
#pragma GCC visibility pop
#include "runtime/explore/explore.h"
#include "runtime/race/life.h"
#include "runtime/shadow/shadow.h"
#include "runtime/shadow/slow.h"
#include "runtime/sys/heap.h"
#include "runtime/wrap/hooks.h"
#include "runtime/wrap/interpose.h"

struct pt_thread *pt_memory_recorder(void)
{
    struct pt_thread *self = pt_is_active() ? pt_thread_now() : NULL;
    return self && !self->shadow.busy ? self : NULL;
}

static void say_freed(struct pt_thread *self, const void *memory, size_t size, unsigned ends)
{
    if (pt_runtime_records_full())
        pt_thread_hooks.freed(self, (uintptr_t)memory, (uintptr_t)memory + size, ends);
}

static bool forget(const void *memory, size_t size, bool keep, bool deferred)
{
    struct pt_thread *self = pt_memory_recorder();
    if (!self || !memory)
        return false;
    pt_thread_enter(self);
    bool races = self->shadow.race && pt_is_racing();
    if (self->shadow.race && pt_is_between())
        pt_race_discard(self->shadow.race, (uintptr_t)memory, (uintptr_t)memory + size);
    else if (races && deferred)
        pt_race_free(self->shadow.race, (uintptr_t)memory, (uintptr_t)memory + size, NULL);
    else if (races)
        pt_race_forget(self->shadow.race, (uintptr_t)memory, (uintptr_t)memory + size, NULL);
    self->shadow.gives_back = true;
    bool any = pt_shadow_clear(&self->shadow, (uintptr_t)memory, (uintptr_t)memory + size, keep);
    self->shadow.gives_back = false;
    say_freed(self, memory, size, deferred ? PT_MEMORY_WRITTEN : PT_MEMORY_WRITTEN | PT_MEMORY_FORGOTTEN);
    pt_thread_leave(self);
    return any;
}

bool pt_memory_forget(const void *memory, size_t size, bool keep)
{
    return forget(memory, size, keep, false);
}

/* While races are looked for, or will be in what is recorded, a block of at most DEFERRED_BYTES is really freed only
 * when DEFERRED others have been: until then nobody can get its memory, and who uses it races with the free. */
enum { DEFERRED = 256, DEFERRED_BYTES = 1 << 12 };
static struct {
    _Atomic uint32_t next;
    void *_Atomic blocks[DEFERRED];
} deferred;

/* What is to be freed instead, or NULL. */
static void *end_block(void *memory, size_t size)
{
    struct pt_thread *self = pt_memory_recorder();
    bool races = self && self->shadow.race && pt_is_racing();
    if (!self || (!races && !pt_runtime_records_memory()) || size > DEFERRED_BYTES) {
        forget(memory, size, false, false);
        return memory;
    }
    forget(memory, size, false, true);
    uint32_t at = atomic_fetch_add_explicit(&deferred.next, 1, memory_order_relaxed) % DEFERRED;
    /* acq_rel: who frees it does so after all that was done with it here */
    void *oldest = atomic_exchange_explicit(&deferred.blocks[at], memory, memory_order_acq_rel);
    if (oldest) {
        size_t bytes = pt_heap_size(oldest);
        pt_thread_enter(self);
        if (races)
            pt_race_discard(self->shadow.race, (uintptr_t)oldest, (uintptr_t)oldest + bytes);
        say_freed(self, oldest, bytes, PT_MEMORY_FORGOTTEN);
        pt_thread_leave(self);
    }
    return oldest;
}

void pt_memory_written(const void *memory, size_t size)
{
    struct pt_thread *self = pt_memory_recorder();
    struct pt_locked_range range;
    if (!self || !self->shadow.clock.id)
        return;
    pt_thread_enter(self);
    for (size_t done = 0, piece; done < size; done += piece) {
        piece = size - done < 4096 ? size - done : 4096;
        if (pt_slow_begin(&self->shadow, (uintptr_t)memory + done, piece, true, &range))
            pt_slow_end_write(&self->shadow, &range, PT_KIND_WRITE, NULL);
    }
    pt_thread_leave(self);
}

#ifdef PT_RT_STATIC
#define HAVE_FREE true
void __real_free(void *memory);
void *__real_realloc(void *memory, size_t size);

static void free_now(void *memory)
{
    __real_free(memory);
}
#else
/* The only place that looks for it: dlsym may free something on its way, the text of an error before, and would look
 * for it again and again. That little is lost. NULL: that is what happens now. */
static void (*find_free(void))(void *)
{
    static __thread bool looking __attribute__((tls_model("initial-exec")));
    if (looking)
        return NULL;
    looking = true;
    void (*found)(void *) = PT_REAL(free); /* cppcheck-suppress internalAstError; it does not see through the macro */
    looking = false;
    return found;
}

static void free_now(void *memory)
{
    void (*found)(void *) = find_free();
    if (found)
        found(memory);
}
#define HAVE_FREE (find_free() != NULL)
#endif

void __portent_allocated(const void *memory, size_t size, const struct pt_site *site)
{
    if (pt_is_exploring() && memory)
        pt_explore_allocated(memory, size ? size : pt_heap_size(memory));
    struct pt_thread *self = pt_thread_now(); /* also before a second thread runs, when nothing can race yet */
    bool recorded = self && pt_runtime_records_memory() && pt_is_recording();
    if (!self || !(self->shadow.race || recorded) || self->shadow.busy || !memory)
        return;
    size_t bytes = size ? size : pt_heap_size(memory);
    pt_thread_enter(self);
    if (self->shadow.race)
        pt_race_allocated(self->shadow.race, (uintptr_t)memory, bytes, site);
    if (recorded)
        pt_thread_hooks.allocated(self, (uintptr_t)memory, bytes, site);
    pt_thread_leave(self);
}

/* ---- while lifetimes are looked at ---- */

static enum pt_life_free look_at(struct pt_thread *self, const void *memory)
{
    pt_thread_enter(self);
    enum pt_life_free found = pt_life_free(self->shadow.race, (uintptr_t)memory, (uintptr_t)__builtin_frame_address(0));
    pt_thread_leave(self);
    return found;
}

/* The block has ended: whoever wants to know of it does, and it is kept, and others are given back for it. */
static bool retire(struct pt_thread *self, void *memory, size_t size, bool keep)
{
    bool small = pt_race_looks.races && pt_is_racing() && size <= DEFERRED_BYTES;
    pt_thread_enter(self);
    enum pt_life_keep kept = pt_life_keep(self->shadow.race, (uintptr_t)memory, size);
    pt_thread_leave(self);
    if (kept == PT_LIFE_KEPT_ALREADY) {
        look_at(self, memory);
        return false;
    }
    bool any = forget(memory, size, keep, small && kept == PT_LIFE_KEPT);
    if (kept == PT_LIFE_NOT_KEPT)
        free_now(memory);
    return any;
}

static void make_room(struct pt_thread *self, size_t size)
{
    for (;;) {
        pt_thread_enter(self);
        uintptr_t oldest = pt_life_give_back(self->shadow.race, size);
        if (oldest && pt_is_racing())
            pt_race_discard(self->shadow.race, oldest, oldest + pt_heap_size((void *)oldest));
        pt_thread_leave(self);
        if (!oldest)
            return;
        free_now((void *)oldest);
    }
}

/* Who may look at lifetimes now; NULL: nobody. */
static struct pt_thread *keeper(void)
{
    struct pt_thread *self = pt_is_living() ? pt_memory_recorder() : NULL;
    return self && self->shadow.race ? self : NULL;
}

static void end_life(struct pt_thread *self, void *memory)
{
    enum pt_life_free found = look_at(self, memory);
    size_t size = found == PT_LIFE_GOOD ? pt_heap_size(memory) : 0;
    if (found == PT_LIFE_AGAIN)
        return;
    if (size) {
        make_room(self, size);
        retire(self, memory, size, false);
        return;
    }
    pt_race_freed((uintptr_t)memory);
    free_now(memory);
}

__thread bool pt_memory_of_the_ended __attribute__((tls_model("initial-exec")));

static void free_of_the_ended(void *memory)
{
    size_t size = pt_is_active() ? pt_heap_size(memory) : 0;
    struct pt_thread *self = size ? pt_memory_recorder() : NULL;
    if (self) {
        pt_thread_enter(self);
        if (self->shadow.race && (pt_is_racing() || pt_is_between()))
            pt_race_discard(self->shadow.race, (uintptr_t)memory, (uintptr_t)memory + size);
        pt_shadow_clear(&self->shadow, (uintptr_t)memory, (uintptr_t)memory + size, false);
        say_freed(self, memory, size, PT_MEMORY_FORGOTTEN);
        pt_thread_leave(self);
    }
    free_now(memory);
}

PT_WRAP(void, free, (void *memory))
{
    if (__builtin_expect(pt_memory_of_the_ended, 0) && memory) {
        free_of_the_ended(memory);
        return;
    }
    if (__builtin_expect(pt_shadow_gated, 0) && memory)
        pt_wrap_hooks.frees(memory, pt_heap_size(memory));
    if (pt_is_exploring() && memory)
        pt_explore_freed(memory, pt_heap_size(memory));
    if (pt_is_living() && memory && HAVE_FREE) {
        struct pt_thread *self = keeper();
        if (self) {
            end_life(self, memory);
            return;
        }
        if (!pt_thread_now()) /* the thread is not known any more, or not yet */
            pt_life_drop((uintptr_t)memory);
    }
    size_t size = pt_is_active() ? pt_heap_size(memory) : 0;
    const struct pt_thread *self = pt_thread_now();
    if (size)
        memory = end_block(memory, size);
    else if (self && self->shadow.race)
        pt_race_freed((uintptr_t)memory);
    free_now(memory);
}

static void *moved(void *from, size_t old, void *to, bool known)
{
    pt_shadow_race(to, to && pt_heap_size(to) < old ? pt_heap_size(to) : old, PT_RACE_WRITE, NULL);
    if (known)
        pt_memory_written(to ? to : from, to && pt_heap_size(to) < old ? pt_heap_size(to) : old);
    return to;
}

/* A block that grows, or shrinks to less than half, moves, so that who uses the old one is found. */
static void *move_life(struct pt_thread *self, void *memory, size_t size)
{
    enum pt_life_free found = look_at(self, memory);
    if (found == PT_LIFE_WRONG)
        return PT_REAL(realloc)(memory, size);
    size_t old = pt_heap_size(memory), least = old < size ? old : size;
    bool stays = found == PT_LIFE_GOOD && size <= old && size > old / 2;
    void *to = stays ? memory : malloc(size);
    if (!to)
        return NULL;
    if (!stays)
        memcpy(to, memory, least);
    if (found == PT_LIFE_AGAIN)
        return moved(memory, old, to, false);
    if (!stays)
        make_room(self, old);
    bool known = stays ? pt_memory_forget(memory, old, true) : retire(self, memory, old, true);
    return moved(memory, old, to, known);
}

PT_WRAP(void *, realloc, (void *memory, size_t size))
{
    struct pt_thread *self = memory && size ? keeper() : NULL;
    if (self && pt_heap_size(memory))
        return move_life(self, memory, size);
    size_t old = pt_is_active() ? pt_heap_size(memory) : 0;
    bool known = old && pt_memory_forget(memory, old, true);
    void *to = PT_REAL(realloc)(memory, size);
    return moved(memory, old, to, known && (to || size));
}

PT_WRAP(void *, reallocarray, (void *memory, size_t count, size_t size))
{
    size_t bytes;
    struct pt_thread *self = memory && !__builtin_mul_overflow(count, size, &bytes) && bytes ? keeper() : NULL;
    if (self && pt_heap_size(memory))
        return move_life(self, memory, bytes);
    size_t old = pt_is_active() ? pt_heap_size(memory) : 0;
    bool known = old && pt_memory_forget(memory, old, true);
    void *to = PT_REAL(reallocarray)(memory, count, size);
    return moved(memory, old, to, known && (to || (count && size)));
}

#ifndef PT_RT_STATIC
/* Variables of a library that is loaded now may be watched. It stays, whatever is closed: what threads know of each
 * other names places in its constants, and another library at its addresses would be taken for it. */
PT_WRAP(void *, dlopen, (const char *file, int mode))
{
    void *handle = PT_REAL(dlopen)(file, pt_channel ? mode | RTLD_NODELETE : mode);
    struct pt_thread *self = handle && pt_channel ? pt_thread_self() : NULL;
    if (self && !self->shadow.busy)
        pt_wrap_hooks.opened(self);
    return handle;
}
#endif
