/*
 * Which plain accesses are looked at, where not all are: lists of files and functions, and sampling. Each thread has a
 * table of the places it has met, which nearly always knows the answer.
 */
#ifndef PT_RUNTIME_RACE_CHOOSE_H
#define PT_RUNTIME_RACE_CHOOSE_H

#include "runtime/race/race.h"

/* What a thread does with its accesses at one place. */
struct pt_race_choice {
    const struct pt_site *site;
    uint32_t skip; /* so many are left out now ... */
    uint16_t left; /* ... then so many looked at */
    uint8_t stage; /* of sampling: how many bursts and gaps there were, as long as gaps grow */
    bool out;      /* all are left out */
};
struct pt_race_choices {
    uint32_t mask, count;
    uint64_t chance;
    struct pt_race_choice entries[]; /* by place */
};

/* What the options say, before the first thread. */
void pt_race_choose_start(void);
/* Whether a plain access at this place is left out, by a list or by sampling. Asked once for each, while
 * pt_race_chooses: first the thread's table, which nearly always knows (below), then this. */
extern bool pt_race_chooses;
extern __thread struct pt_race_choices *pt_race_choices __attribute__((tls_model("initial-exec"))); /* the caller's */
bool pt_race_choose(struct pt_race_self *self, const struct pt_site *site);

static inline size_t pt_race_choice_at(const struct pt_race_choices *choices, const struct pt_site *site)
{
    return (uintptr_t)site >> 3 & choices->mask; /* sites lie next to each other, and are an odd number of words long */
}
/* Where nearly all that is left out is: an access of which it is known already. False: nothing has happened. */
static inline bool pt_race_skips(const struct pt_site *site)
{
    struct pt_race_choices *choices = pt_race_choices;
    struct pt_race_choice *choice = &choices->entries[pt_race_choice_at(choices, site)];
    if (choice->site != site || !choice->skip)
        return false;
    choice->skip--;
    return true;
}
enum pt_race_chosen { PT_RACE_LOOKS, PT_RACE_LEAVES_OUT, PT_RACE_ASKS };
static inline enum pt_race_chosen pt_race_chosen(struct pt_race_self *self, const struct pt_site *site)
{
    struct pt_race_choices *choices = self->choices;
    struct pt_race_choice *choice = choices ? &choices->entries[pt_race_choice_at(choices, site)] : NULL;
    if (!choice || choice->site != site)
        return PT_RACE_ASKS;
    if (__builtin_expect(choice->skip, 1)) {
        choice->skip--;
        return PT_RACE_LEAVES_OUT;
    }
    if (!choice->left)
        return PT_RACE_ASKS;
    choice->left--;
    return PT_RACE_LOOKS;
}

#endif
