/*
 * Following pointers to a watched variable as they change.
 *
 * A store of a link is a relevant event of the variable, with the value that is then at the end of the path. It is made
 * not with the store, since granules are locked in ascending order and the end of the path may lie anywhere, but when
 * the thread leaves the runtime, under the lock of watched variables. What others store at the new end in between has
 * no event of its own: its value is that of the event here, which comes after it, because the end is written as far as
 * clocks go. Events before the path moved come before it: the old end's clocks are taken, and whoever frees it, or
 * moves the path, leaves its clock at `order` for the next one that does.
 *
 * While a link is NULL, or memory on the way has ended, there is no event: the variable keeps the value it had last.
 * Memory that has ended is on the way again when the link that points to it is written. Cost: a few granules locked for
 * each link, when one is written; every other access as for any watched variable.
 */
#include "runtime/shadow/path.h"

#include "runtime/shadow/hooks.h"
#include "runtime/shadow/slow.h"
#include "runtime/sys/sys.h"

static struct pt_path *paths;

void pt_path_restart(void)
{
    paths = NULL;
}

void pt_path_written(struct pt_shadow_self *self, uint32_t link, const struct pt_site *site)
{
    struct pt_path *path = pt_watched[link].path;
    uint32_t index = 0;
    while (index < path->link_count && path->links[index] != link)
        index++;
    atomic_fetch_and_explicit(&path->dead, ~(UINT32_C(1) << index), memory_order_relaxed);
    atomic_store_explicit(&path->written, true, memory_order_relaxed);
    atomic_store_explicit(&path->moved, true, memory_order_relaxed);
    self->moved_at = site;
    self->attention |= PT_ATTEND_PATHS;
}

void pt_path_ended(struct pt_shadow_self *self, uint32_t object, uintptr_t address)
{
    struct pt_path *path = pt_watched[object].path;
    for (uint32_t i = 0; address && i < path->link_count; i++) {
        uint32_t next = i + 1 < path->link_count ? path->links[i + 1] : path->object;
        if (next == object)
            atomic_fetch_or_explicit(&path->dead, UINT32_C(1) << i, memory_order_relaxed);
    }
    atomic_store_explicit(&path->moved, true, memory_order_relaxed);
    self->attention |= PT_ATTEND_PATHS;
}

/* Where link i leads to, 0: nowhere. */
static uintptr_t led_to(struct pt_shadow_self *self, const struct pt_path *path, uint32_t i)
{
    uintptr_t at = pt_watch_address(&pt_watched[path->links[i]]), pointer = 0;
    if (!at || atomic_load_explicit(&path->dead, memory_order_relaxed) >> i & 1 ||
        !pt_slow_look(self, at, sizeof pointer, &pointer) || !pointer)
        return 0;
    return pt_address_ok(pointer) ? pointer + path->after[i] : 0;
}

/* Whether the object lies at `address` now. */
static bool place(struct pt_shadow_self *self, uint32_t object, uintptr_t address)
{
    struct pt_watched *watched = &pt_watched[object];
    unsigned char byte;
    if (pt_watch_address(watched) == address)
        return address;
    pt_watch_take(self, object);
    if (!address || !pt_address_ok(address + watched->size) || !pt_sys_read_memory(&byte, (const void *)address, 1) ||
        !pt_sys_read_memory(&byte, (const void *)(address + watched->size - 1), 1))
        return false;
    return pt_watch_put(self, object, address);
}

static void follow(struct pt_shadow_self *self, struct pt_path *path)
{
    bool written = atomic_exchange_explicit(&path->written, false, memory_order_relaxed), there = true;
    pt_slow_sync(&path->order, PT_SYNC_QUIET_WRITE, NULL);
    for (uint32_t i = 0; i < path->link_count; i++) {
        uint32_t next = i + 1 < path->link_count ? path->links[i + 1] : path->object;
        there = place(self, next, there ? led_to(self, path, i) : 0);
    }
    if (!there || !(written || !path->begun))
        return;
    pt_slow_say(self, path->object, path->begun, self->moved_at);
    path->begun = true;
}

void pt_path_follow(struct pt_shadow_self *self)
{
    pt_watch_lock();
    for (struct pt_path *path = paths; path; path = path->next)
        if (atomic_exchange_explicit(&path->moved, false, memory_order_relaxed))
            follow(self, path);
    pt_watch_unlock();
}

void pt_path_begin(struct pt_shadow_self *self, uint32_t object, const struct pt_watch *watch, uintptr_t address)
{
    struct pt_path *path = pt_watch_room(sizeof *path);
    struct pt_watched *watched = &pt_watched[object];
    if (!path || !(watched->last = pt_watch_room(watched->size))) {
        pt_runtime_give_up();
        return;
    }
    *path = (struct pt_path){.object = object, .link_count = watch->link_count, .after = watch->after, .next = paths};
    watched->path = path;
    for (uint32_t i = 0; i < path->link_count; i++) {
        uint32_t link = path->links[i] = pt_watch_new(sizeof(void *));
        if (!link) {
            pt_runtime_give_up();
            return;
        }
        pt_watched[link].path = path;
        pt_watched[link].is_link = true;
    }
    paths = path;
    if (pt_watch_put(self, path->links[0], address))
        follow(self, path);
}
