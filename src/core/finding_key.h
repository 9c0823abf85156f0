/*
 * When two violations of a decentralised property are the same finding. A property with race_free or atomic_block
 * stands for many: each race, and each block that is disturbed, is reported once, and people decide about each by
 * itself. A race is met by its two sides, whichever came second: the place in the source and what was accessed there,
 * elements of an array being one and memory without a name too; and told by its two places (finding/join.c). A
 * disturbed block by its name and those of the two threads, `worker#2` counting as `worker`. All else that makes a
 * property false is one finding. What people have suppressed is kept apart: a race that they know of in one thread does
 * not hide the same one in another.
 */
#ifndef PT_CORE_FINDING_KEY_H
#define PT_CORE_FINDING_KEY_H

#include <stdint.h>

enum {
    PT_FINDINGS_MAX = 256,          /* of a property that are reported beside the first one; others are counted */
    PT_CHECK_FINDINGS_MAX = 100000, /* the same of a built-in check */
    PT_FINDINGS_AT_STATE = 16,      /* that are looked at in one state */
};
#define PT_FINDING_PLAIN UINT64_C(1) /* false, and neither by a race nor by a block */

struct pt_finding_side {
    const char *place, *object;
};
/* Never 0; that it is PT_FINDING_PLAIN is as unlikely as that two findings have one number. */
/* Of both places alone; 0: one of them is not known. */
uint64_t pt_finding_key_places(const char *one, const char *other);
uint64_t pt_finding_key_race(struct pt_finding_side one, struct pt_finding_side other);
uint64_t pt_finding_key_block(const char *block, const char *thread, const char *other);
/* The next character of a variable's name that counts: numbers of elements do not, `a[3].b` is `a[].b`. */
const char *pt_finding_key_next(const char *at);
/* How much of a thread's name its start function is: all but the `#2` at its end. */
uint32_t pt_finding_key_thread(const char *name);

#endif
