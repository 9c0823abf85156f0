/* A lock that the program builds from an atomic and the bare futex: it orders, and nobody waits for ever.
 * holds: x <= 400
 * violated: x != 400
 * ordered: yes
 */
#include "say.h"
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>

static int x;
static atomic_int word; /* 0: free, 1: taken, 2: taken, and somebody waits */

static void take(void)
{
    int now = 0;
    if (atomic_compare_exchange_strong(&word, &now, 1))
        return;
    while (atomic_exchange(&word, 2) != 0)
        syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 2, NULL);
}

static void give(void)
{
    if (atomic_exchange(&word, 0) == 2)
        syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1);
}

static void *worker(void *given)
{
    for (int i = 0; i < 100; i++) {
        take();
        SAY(x, x + 1);
        give();
    }
    return given;
}

int main(void)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        NEED(pthread_create(&threads[i], NULL, worker, NULL) == 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    printf("%d\n", x);
    return 0;
}
