/* The hooks before anything is registered: nothing is done, and nobody is known. */
#include "runtime/shadow/hooks.h"

static struct pt_shadow_self *introduce(void)
{
    return NULL;
}
static struct pt_shadow_self *introduce_at(uintptr_t address, size_t size, bool write)
{
    (void)address, (void)size, (void)write;
    return NULL;
}
static void attend(struct pt_shadow_self *self)
{
    (void)self;
}
static void each(void (*visit)(struct pt_shadow_self *self))
{
    (void)visit;
}
static void before_access(struct pt_shadow_self *self, uintptr_t address, size_t size, bool write,
                          const struct pt_site *site)
{
    (void)self, (void)address, (void)size, (void)write, (void)site;
}
static void locked(const void *object, int kind)
{
    (void)object, (void)kind;
}
static void point(const void *address, size_t size, unsigned kind, const struct pt_site *site)
{
    (void)address, (void)size, (void)kind, (void)site;
}
static void about(struct pt_shadow_self *self, uint32_t object)
{
    (void)self, (void)object;
}
static void written(struct pt_shadow_self *self, uint32_t object, enum pt_event_kind kind, const struct pt_site *site)
{
    (void)self, (void)object, (void)kind, (void)site;
}
static void at(struct pt_shadow_self *self, uint32_t object, const struct pt_site *site)
{
    (void)self, (void)object, (void)site;
}
static void access(struct pt_shadow_self *self, const struct pt_local_event *what)
{
    (void)self, (void)what;
}
static void sync(struct pt_shadow_self *self, enum pt_event_kind kind, uintptr_t address, const struct pt_site *site)
{
    (void)self, (void)kind, (void)address, (void)site;
}
static void fence(struct pt_shadow_self *self, uint8_t order, const struct pt_site *site)
{
    (void)self, (void)order, (void)site;
}

struct pt_shadow_hooks pt_shadow_hooks = {
    .introduce = introduce,
    .introduce_at = introduce_at,
    .attend = attend,
    .each = each,
    .before_access = before_access,
    .gated_read = about,
    .locked = locked,
    .point = point,
    .watch = about,
    .initial = about,
    .written = written,
    .read = at,
    .foreign = at,
    .access = access,
    .sync = sync,
    .fence = fence,
};
bool pt_shadow_gated;
_Atomic bool pt_shadow_steps;
