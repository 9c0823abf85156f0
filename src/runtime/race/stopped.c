/*
 * Stacks of threads that have ended, and mappings that are no more: a few of each, the latest.
 *
 * libc keeps the stack of a thread that has ended until it is joined (or at once, if it is detached), and then in a
 * cache of 40 MiB, out of which threads that start get theirs; beyond that it unmaps those that are there longest. So
 * a stack is nobody's until a thread begins on it, or CACHED bytes of others have come after it.
 *
 * Where something was unmapped the kernel may put something else, for whoever asks: a use of it counts only while
 * nothing is there.
 *
 * Guarantee: what is found is memory that nobody has. Cost: marking, twice; a system call for a use of what was
 * unmapped.
 */
#include <string.h>

#include "runtime/race/life_impl.h"
#include "runtime/sys/sys.h"

enum { STACKS = 256, MAPPINGS = 64, PAGE = 4096 };
#define CACHED       ((size_t)24 << 20)
#define LARGEST_MARK ((size_t)256 << 20)

struct stopped {
    struct pt_life_end end; /* size 0: free */
    uint64_t released;      /* when, counted; 0: not yet */
};
static struct {
    struct pt_spin lock;
    struct stopped stacks[STACKS];
    uint64_t releases;
    struct pt_life_end mappings[MAPPINGS];
    uint32_t next_mapping;
} stopped = {.lock = PT_SPIN(PT_RANK_POOL)};

void pt_life_stopped_restart(void)
{
    memset(stopped.stacks, 0, sizeof stopped.stacks);
    memset(stopped.mappings, 0, sizeof stopped.mappings);
    pt_spin_reset(&stopped.lock);
}

static void drop(struct pt_life_end *end)
{
    pt_life_unmark(end->start, end->start + end->size);
    end->size = 0;
}

static bool overlaps(const struct pt_life_end *end, uintptr_t low, uintptr_t high)
{
    return end->size && end->start < high && low < end->start + end->size;
}

/* ---- stacks ---- */

void pt_life_own_stack(struct pt_race_self *self, uintptr_t low, uintptr_t high)
{
    self->stack_low = low;
    self->stack_high = high;
}

void pt_life_stack_ends(struct pt_race_self *self, uintptr_t low, uintptr_t high)
{
    struct pt_life_end end = pt_life_end_now(self, low, high - low);
    end.what = PT_LIFE_STACK;
    self->stack_low = self->stack_high = 0;
    pt_spin_lock(&stopped.lock);
    for (unsigned i = 0; i < STACKS && end.size <= CACHED; i++) {
        if (stopped.stacks[i].end.size)
            continue;
        stopped.stacks[i] = (struct stopped){.end = end};
        pt_life_mark(low, high);
        break;
    }
    pt_spin_unlock(&stopped.lock);
}

/* Under the lock: the one that was released first, and how many bytes all of them have. */
static struct stopped *oldest(size_t *ret_bytes)
{
    struct stopped *first = NULL;
    *ret_bytes = 0;
    for (unsigned i = 0; i < STACKS; i++) {
        struct stopped *stack = &stopped.stacks[i];
        if (!stack->end.size || !stack->released)
            continue;
        *ret_bytes += stack->end.size;
        if (!first || stack->released < first->released)
            first = stack;
    }
    return first;
}

void pt_life_stack_released(uint32_t thread)
{
    size_t bytes;
    pt_spin_lock(&stopped.lock);
    for (unsigned i = 0; i < STACKS; i++)
        if (stopped.stacks[i].end.size && stopped.stacks[i].end.thread == thread)
            stopped.stacks[i].released = ++stopped.releases;
    for (struct stopped *first = oldest(&bytes); bytes > CACHED; first = oldest(&bytes))
        drop(&first->end);
    pt_spin_unlock(&stopped.lock);
}

void pt_life_stack_begins(uintptr_t low, uintptr_t high)
{
    pt_spin_lock(&stopped.lock);
    for (unsigned i = 0; i < STACKS; i++)
        if (overlaps(&stopped.stacks[i].end, low, high))
            drop(&stopped.stacks[i].end);
    pt_spin_unlock(&stopped.lock);
}

void pt_life_forget_stacks(void)
{
    pt_life_stack_begins(0, UINTPTR_MAX);
}

/* ---- mappings ---- */

void pt_life_unmapped(struct pt_race_self *self, uintptr_t from, uintptr_t to)
{
    to = (to + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
    if (from >= to || (to - 1) >> PT_RACE_ADDRESS_BITS || to - from > LARGEST_MARK)
        return;
    struct pt_life_end end = pt_life_end_now(self, from, to - from);
    end.what = PT_LIFE_MAPPING;
    pt_spin_lock(&stopped.lock);
    struct pt_life_end *place = &stopped.mappings[stopped.next_mapping++ % MAPPINGS];
    if (place->size)
        drop(place);
    *place = end;
    pt_life_mark(from, to);
    pt_spin_unlock(&stopped.lock);
}

bool pt_life_stopped_at(uintptr_t address, struct pt_life_end *ret_end)
{
    bool found = false;
    pt_spin_lock(&stopped.lock);
    for (unsigned i = 0; i < STACKS && !found; i++)
        if (overlaps(&stopped.stacks[i].end, address, address + 1)) {
            *ret_end = stopped.stacks[i].end;
            found = true;
        }
    for (unsigned i = 0; i < MAPPINGS && !found; i++) {
        struct pt_life_end *mapping = &stopped.mappings[i];
        if (!overlaps(mapping, address, address + 1))
            continue;
        *ret_end = *mapping;
        found = pt_sys_is_unmapped(address);
        if (!found)
            drop(mapping);
    }
    pt_spin_unlock(&stopped.lock);
    return found;
}
