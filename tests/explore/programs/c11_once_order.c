/* call_once makes the table, but a reader that found the flag of another once set does not wait for it.
 * bug: order violation
 * depth: 2
 * fails: signal
 * place: A
 */
#include "catalogue.h"

static once_flag once = ONCE_FLAG_INIT;
static _Atomic int begun, table;

static void make(void)
{
    begun = 1;
    table = 7; /* A */
}

static int user(void *unused)
{
    (void)unused;
#ifdef FIXED
    call_once(&once, make);
#else
    if (!begun)
        call_once(&once, make);
#endif
    assert(table == 7);
    return 0;
}

int main(void)
{
    thrd_t one, two;
    NEED(thrd_create(&one, user, NULL) == thrd_success);
    NEED(thrd_create(&two, user, NULL) == thrd_success);
    thrd_join(one, NULL);
    thrd_join(two, NULL);
    return 0;
}
