#include "runtime/shadow/self.h"

#include "runtime/shadow/shadow.h"
#include "runtime/shadow/silence.h"
#include "runtime/sys/runtime.h"

__thread struct pt_shadow_self *pt_self __attribute__((tls_model("initial-exec")));

void pt_shadow_settle(struct pt_shadow_self *self)
{
    bool counts = !self->slow || (self->quiet && !self->full);
    self->fast = counts && !atomic_load_explicit(&pt_shadow_steps, memory_order_relaxed) ? self->clock.id : PT_NOT_FAST;
    self->evaluates = !counts && !self->full;
    self->keeper = self->fast == self->clock.id && self->clock.id && !self->slow ? self->kept_as : 0;
}

void pt_shadow_refresh(struct pt_shadow_self *self)
{
    self->care = self->clock.id ? UINT64_C(0xff) << PT_SHADOW_BYTES_AT : 0;
    self->slow = self->full || self->steps;
    pt_shadow_settle(self);
}

void pt_shadow_set_clock(struct pt_shadow_self *self, pt_clock_id owned)
{
    pt_clock_id before = self->clock.id;
    pt_silence_end();
    pt_self_replace(&self->clock, owned); /* which remembers `before`: its number keeps its meaning */
    if (pt_shadow_hooks.clock_changed)
        pt_shadow_hooks.clock_changed(self, before);
    pt_shadow_refresh(self);
}

void pt_shadow_say(struct pt_shadow_self *self, pt_clock_id owned)
{
    if (!owned)
        return;
    pt_silence_end();
    pt_self_replace(&self->clock, owned);
    pt_know_settle(&self->clock, pt_clocks[owned].knows.vector);
    self->care = UINT64_C(0xff) << PT_SHADOW_BYTES_AT;
}

void pt_shadow_take(struct pt_shadow_self *self, pt_clock_id id)
{
    if (pt_self_is_past(&self->clock, id))
        return;
    if (!pt_clock_leq(id, self->clock.id)) {
        pt_clock_id joined = pt_clock_next_join(&self->clock, id);
        if (!joined)
            return;
        pt_shadow_set_clock(self, joined);
    }
    pt_self_note_seen(&self->clock, id);
}

void pt_shadow_tick(struct pt_shadow_self *self)
{
    if (pt_silence_tick(self))
        return;
    pt_clock_id next = pt_clock_next_tick(&self->clock, ++self->clock.events);
    if (next)
        pt_shadow_set_clock(self, next);
}
