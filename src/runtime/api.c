/* The runtime's side of portent.h. What is not defined here (atomic blocks, internal events) is not recorded: the
 * header then calls nothing. */
#pragma GCC visibility push(default)
#include "portent.h"
#pragma GCC visibility pop

#include "runtime/emit.h"
#include "runtime/shadow.h"
#include "runtime/watch.h"

static struct pt_thread *recorder(void)
{
    struct pt_thread *self = pt_channel ? pt_thread_self() : NULL;
    return self && !self->busy ? self : NULL;
}

void __portent_event(const char *name)
{
    struct pt_thread *self = pt_is_active() ? recorder() : NULL;
    int64_t event = self ? pt_watch_event(name) : -1;
    if (event < 0)
        return;
    pt_enter(self);
    pt_thread_tick(self);
    pt_emit_event(self, PT_KIND_USER, (uint32_t)event, NULL, "", 0);
    pt_leave(self);
}

void __portent_watch(const void *address, size_t size, int type, const char *name)
{
    struct pt_thread *self = recorder();
    if (!self || !size || size > UINT32_MAX || !pt_address_ok((uintptr_t)address))
        return;
    pt_enter(self);
    pt_watch_add(self, (uintptr_t)address, (uint32_t)size, (uint32_t)type, name);
    pt_leave(self);
}
