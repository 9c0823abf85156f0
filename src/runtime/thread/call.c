#pragma GCC visibility push(default)
#include "core/hooks.h"
#pragma GCC visibility pop

#include "runtime/thread/call.h"

bool pt_call_wanted;

void __portent_call(const void *object, const struct pt_site *site, const struct pt_site *mutex)
{
    bool wanted = pt_call_wanted || (!object && pt_is_active());
    if (__builtin_expect(wanted, 0) && pt_thread_now())
        __portent_calls.call = (struct pt_call){object, site, mutex};
}
