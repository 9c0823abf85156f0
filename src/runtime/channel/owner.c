#include "runtime/channel/owner.h"

#include "runtime/sys/runtime.h"
#include "runtime/sys/sys.h"

static volatile uint32_t always = 1; /* where the kernel cannot wipe: then only forks that libc makes are seen */
const volatile uint32_t *pt_owner = &always;

void pt_owner_start(void)
{
    static volatile uint32_t *page;
    page = page ? page : pt_sys_reserve_unforked();
    if (!page)
        return;
    *page = 1;
    pt_owner = page;
}
