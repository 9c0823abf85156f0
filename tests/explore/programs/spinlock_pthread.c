/* pthread_spin_lock around each half of an update.
 * bug: lost update
 * depth: 2
 * fails: status
 * place: A
 */
#include "catalogue.h"

static pthread_spinlock_t s;
static int count;

static void *add(void *unused)
{
    for (int i = 0; i < 2; i++) {
        pthread_spin_lock(&s);
        int seen = count;
#ifndef FIXED
        pthread_spin_unlock(&s);
        pthread_spin_lock(&s);
#endif
        count = seen + 1; /* A */
        pthread_spin_unlock(&s);
    }
    return unused;
}

int main(void)
{
    pthread_spin_init(&s, PTHREAD_PROCESS_PRIVATE);
    both(add, add);
    return count == 4 ? 0 : 1;
}
