/* Calls the hooks by hand, as the instrumentor would; each place gets its own site. */
#ifndef RT_HOOKS_H
#define RT_HOOKS_H

#include "core/hooks.h"
#include "portent.h"

#define SITE                                                                                                           \
    ({                                                                                                                 \
        static const struct pt_site site_ = {__FILE__, "", "", __LINE__, 1};                                           \
        &site_;                                                                                                        \
    })
#define LD4(p)     ((int)__portent_load4(p, SITE))
#define ST4(p, v)  __portent_store4(p, (uint32_t)(v), SITE)
#define LD8(p)     ((long)__portent_load8(p, SITE))
#define ST8(p, v)  __portent_store8(p, (uint64_t)(v), SITE)
#define ADD4(p, v) __portent_atomic_rmw4(p, (uint32_t)(v), PT_RMW_ADD, __ATOMIC_SEQ_CST, SITE)

#endif
