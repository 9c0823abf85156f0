/*
 * Which plain accesses are looked at, where not all are: lists of files and functions, and sampling (window.h). Each
 * thread has a table of the places it has met, which nearly always knows what the lists say.
 */
#ifndef PT_RUNTIME_RACE_CHOOSE_H
#define PT_RUNTIME_RACE_CHOOSE_H

#include "runtime/race/race.h"
#include "runtime/race/window.h"

/* Whether the lists leave out a place. */
struct pt_race_choice {
    const struct pt_site *site;
    bool out;
};
struct pt_race_choices {
    uint32_t mask, count;
    struct pt_race_choice entries[]; /* by place */
};

/* What the options say, before the first thread. */
void pt_race_choose_start(void);
extern bool pt_race_chooses; /* not all plain accesses are looked at */
extern bool pt_race_lists;   /* because of lists */
extern __thread struct pt_race_choices *pt_race_choices __attribute__((tls_model("initial-exec"))); /* the caller's */
/* Whether a plain access at this place is left out. Asked once for each, while pt_race_chooses, where what is below
 * does not know it. */
bool pt_race_choose(struct pt_race_self *self, const struct pt_site *site);

static inline size_t pt_race_choice_at(const struct pt_race_choices *choices, const struct pt_site *site)
{
    return (uintptr_t)site >> 3 & choices->mask; /* sites lie next to each other, and are an odd number of words long */
}
/* Where nearly all that is left out is: an access of which it is known already. */
static inline bool pt_race_skips(const struct pt_site *site)
{
    const struct pt_race_choices *choices = pt_race_choices;
    const struct pt_race_choice *choice = &choices->entries[pt_race_choice_at(choices, site)];
    return choice->site == site && choice->out;
}
/* Where nearly all that is looked at is. False: nothing has happened. */
static inline bool pt_race_takes(struct pt_race_self *self, const struct pt_site *site)
{
    if (!pt_race_lists)
        return pt_race_window_looks(self, site);
    const struct pt_race_choices *choices = self->choices;
    const struct pt_race_choice *choice = choices ? &choices->entries[pt_race_choice_at(choices, site)] : NULL;
    return choice && choice->site == site && !choice->out && (!pt_race_samples || pt_race_window_looks(self, site));
}

#endif
