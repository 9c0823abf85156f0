/* The owner of a queue and a thief take its last job, since neither makes sure that the other does not.
 * bug: check-then-act
 * depth: 2
 * fails: signal
 * place: A
 */
#include "catalogue.h"

static _Atomic int top, bottom = 1, runs[1];

static void run_job(int job)
{
    assert(runs[job]++ == 0);
}

static void *owner(void *unused)
{
    int at = bottom - 1;
    bottom = at;
    int first = top;
    if (first < at)
        run_job(at);
    else if (first == at) {
#ifdef FIXED
        if (atomic_compare_exchange_strong(&top, &first, first + 1))
            run_job(at);
#else
        run_job(at);
        top = first + 1;
#endif
        bottom = at + 1;
    } else
        bottom = at + 1;
    return unused;
}

static void *thief(void *unused)
{
    int first = top, end = bottom;
    if (first < end) {
#ifdef FIXED
        if (atomic_compare_exchange_strong(&top, &first, first + 1))
            run_job(first);
#else
        top = first + 1; /* A */
        run_job(first);
#endif
    }
    return unused;
}

int main(void)
{
    both(owner, thief);
    return 0;
}
