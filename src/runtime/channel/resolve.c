#include "runtime/channel/resolve.h"

#include "runtime/shadow/watch.h"
#include "runtime/sys/module.h"

void pt_resolve_watched(struct pt_thread *self, bool (*is_other)(const char *module))
{
    const struct pt_config *config = pt_runtime_config();
    const struct pt_watch *watches = (const void *)((const char *)config + config->watches);
    for (uint32_t i = 0; i < config->watch_count; i++) {
        uint64_t base;
        const char *module = watches[i].module ? (const char *)config + watches[i].module : "";
        if (!watches[i].size || pt_watch_is_placed(i) || !pt_module_find(module, &base) || is_other(module) ||
            !pt_module_covers(base + watches[i].offset, watches[i].link_count ? sizeof(void *) : watches[i].size))
            continue;
        pt_watch_place(&self->shadow, i, base + watches[i].offset);
    }
}
