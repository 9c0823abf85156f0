/*
 * Three threads that compute with four variables, in an order that makes the predicted states which the DAME paper
 * prints in section 2.1. Pipes give the turns, by bare system calls, which are unseen: for Portent nothing orders the
 * threads but the variables.
 */
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile int x, y, u, v;

/* Turn k passes through descriptors 100 + 2 * k and 101 + 2 * k: numbers, so that no variable is read for it. */
static void await(int turn)
{
    char byte;
    if (syscall(SYS_read, 100 + 2 * turn, &byte, 1) != 1)
        abort();
}

static void go(int turn)
{
    if (syscall(SYS_write, 101 + 2 * turn, "", 1) != 1)
        abort();
}

static void *t1(void *unused)
{
    x = 1;
    v = x;
    y = v;
    go(0);
    return unused;
}

static void *t2(void *unused)
{
    await(1);
    (void)x;
    v = u + v;
    go(2);
    await(3);
    v = v + x; /* does not know that u has become 9 */
    return unused;
}

static void *t3(void *unused)
{
    await(0);
    u = x + 1;
    u = y + u; /* e_3^3, e_3^4, e_3^5: read y, read u, write u */
    go(1);
    await(2);
    u = u * 3;
    go(3);
    return unused;
}

int main(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 4; i++) {
        int ends[2];
        if (pipe(ends) != 0 || dup2(ends[0], 100 + 2 * i) < 0 || dup2(ends[1], 101 + 2 * i) < 0)
            return 1;
    }
    if (pthread_create(&threads[0], NULL, t1, NULL) != 0 || pthread_create(&threads[1], NULL, t2, NULL) != 0 ||
        pthread_create(&threads[2], NULL, t3, NULL) != 0)
        return 1;
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return v == 5 && u == 9 ? 0 : 1;
}
