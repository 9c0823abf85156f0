#include "runtime/clock/self.h"

void pt_self_replace(struct pt_clock_self *self, pt_clock_id owned)
{
    pt_clock_id before = self->id;
    int64_t credit = self->credit;
    pt_self_begin(self, owned);
    self->credit = 1;
    self->changes++;
    pt_self_pass(self, before, credit);
}

/* The empty clock is not counted; its credit may be anything. */
void pt_self_buy(struct pt_clock_self *self, int64_t references)
{
    int64_t bulk = (1 << 16) + references, *local = pt_self_local_count(self, self->id);
    if (local)
        *local += bulk;
    else
        pt_clock_acquire(self->id, bulk);
    self->credit += bulk;
}

void pt_self_drop_passed(struct pt_clock_self *self)
{
    for (unsigned i = 0; i < 1 << PT_PASSED_BITS; i++) {
        pt_clock_release(self, self->passed[i].id, self->passed[i].references);
        self->passed[i] = (struct pt_passed){0};
    }
}
