#include "runtime/shadow/fast.h"

bool pt_fast_begin_evaluated(struct pt_shadow_self *self, pt_shadow_word *word, uint64_t seen, uintptr_t address,
                             unsigned size, bool write)
{
    if (!pt_fast_teaches_nothing(self, seen, pt_bytes_at(address, size), write))
        return false;
    if (pt_fast_lock_passed(self, word, seen))
        return true;
    pt_fast_leave(self);
    return false;
}

void pt_fast_end_evaluated(struct pt_shadow_self *self, pt_shadow_word *word, uint64_t seen, uintptr_t address,
                           unsigned size, enum pt_event_kind kind, const struct pt_site *site)
{
    bool write = kind != PT_KIND_READ_AT;
    unsigned bytes = pt_bytes_at(address, size);
    if (!pt_fast_kept(self))
        seen = pt_granule_take_changed(self, word, bytes, write);
    struct pt_local_event what = {
        .kind = (uint16_t)kind, .object = PT_NO_OBJECT, .size = size, .address = address, .site = site};
    pt_shadow_hooks.access(self, &what);
    pt_granule_end(self, word, seen, address, bytes, write);
    pt_fast_leave(self);
}

void pt_fast_end_evaluated_sync(struct pt_shadow_self *self, pt_shadow_word *word, uint64_t seen, uintptr_t address,
                                enum pt_event_kind kind, const struct pt_site *site, bool write)
{
    pt_shadow_hooks.sync(self, kind, address, site);
    pt_granule_end(self, word, seen, address, pt_bytes_at(address, 4), write);
    pt_fast_leave(self);
}
