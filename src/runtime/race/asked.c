/* What is asked (asked.h). Modules are in a list, under a lock of its own. */
#pragma GCC visibility push(default)
#include "core/look.h"
#pragma GCC visibility pop

#include <stdbool.h>
#include <string.h>

#include "runtime/race/asked.h"
#include "runtime/sys/spin.h"

static struct {
    struct pt_spin lock;
    struct pt_asked *modules;
} all = {.lock = PT_SPIN(PT_RANK_ASKED)};

static void set(struct pt_asked *asked, enum pt_asks which)
{
    if (which == PT_ASKS_RARE)
        memcpy(asked->quiet, asked->quiet + asked->count, asked->count);
    else
        memset(asked->quiet, which == PT_ASKS_NOBODY, asked->count);
}

/* What is asked first, then the bytes: pt_race_asked_known does it the other way round. */
void pt_race_ask(enum pt_asks which)
{
    pt_spin_lock(&all.lock);
    __atomic_store_n(&__portent_asks, which, __ATOMIC_SEQ_CST);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    for (struct pt_asked *asked = all.modules; asked; asked = asked->next)
        set(asked, which);
    pt_spin_unlock(&all.lock);
}

static bool is_in_list(const struct pt_asked *asked)
{
    const struct pt_asked *other = all.modules;
    while (other && other != asked)
        other = other->next;
    return other;
}

/* The state comes last: a child that is forked in the middle lists it once more. */
void pt_race_asked_list(struct pt_asked *asked)
{
    if (__atomic_load_n(&asked->state, __ATOMIC_RELAXED) != PT_ASKED_NEW || !pt_spin_try(&all.lock))
        return;
    if (asked->state == PT_ASKED_NEW) {
        if (!is_in_list(asked)) {
            asked->next = all.modules;
            all.modules = asked;
        }
        set(asked, __atomic_load_n(&__portent_asks, __ATOMIC_RELAXED));
        __atomic_store_n(&asked->state, PT_ASKED_LISTED, __ATOMIC_RELEASE);
    }
    pt_spin_unlock(&all.lock);
}

void pt_race_asked_known(struct pt_asked *asked, uint32_t stretch, enum pt_asks asks)
{
    uint8_t *quiet = &asked->quiet[stretch];
    /* acquire: partner of the release by whom it was listed, whose bytes this one's follows */
    if (__atomic_load_n(&asked->state, __ATOMIC_ACQUIRE) != PT_ASKED_LISTED)
        return;
    if (asks == PT_ASKS_RARE)
        __atomic_store_n(quiet + asked->count, 1, __ATOMIC_RELAXED);
    __atomic_store_n(quiet, 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (__atomic_load_n(&__portent_asks, __ATOMIC_RELAXED) != asks)
        __atomic_store_n(quiet, 0, __ATOMIC_RELAXED);
}

void pt_race_asked_reset(void)
{
    pt_spin_reset(&all.lock);
}

void pt_race_asked_leave(struct pt_asked *asked)
{
    pt_spin_lock(&all.lock);
    for (struct pt_asked **at = &all.modules; *at; at = &(*at)->next)
        if (*at == asked) {
            *at = asked->next;
            break;
        }
    __atomic_store_n(&asked->state, PT_ASKED_LEFT, __ATOMIC_RELAXED);
    set(asked, __atomic_load_n(&__portent_asks, __ATOMIC_RELAXED) == PT_ASKS_NOBODY ? PT_ASKS_NOBODY : PT_ASKS_ALL);
    pt_spin_unlock(&all.lock);
}
