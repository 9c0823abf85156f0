/*
 * Relevant events that are in one order for long, because of a lock, then because of plain memory alone, and then are
 * not: what the runtime keeps of clocks changes there (clock/ladder.h). Meanwhile each thread has memory of its own,
 * which it copies, gives back and gets again. The number of runs is known: of the last six events the two of `x` are in
 * no order with the four of `y`, 6 over 2 are 15.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TURNS = 400, ROOM = 5000 };
int x, y;
static volatile int first, second;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;

static unsigned work(unsigned seed)
{
    unsigned char *one = malloc(ROOM), *other = malloc(ROOM);
    unsigned sum = 0;
    memset(one, (int)seed, ROOM);
    for (unsigned i = 0; i < 40; i++)
        ((unsigned short *)one)[(seed + i * 37) % (ROOM / 2)] = (unsigned short)i;
    memcpy(other, one, ROOM);
    for (unsigned i = 0; i + 4 <= ROOM; i += 4)
        sum += *(unsigned *)(other + i);
    free(one);
    free(other);
    return sum;
}

static void await(volatile int *flag)
{
    while (!*flag)
        usleep(100);
}

static void take_turns(int *variable)
{
    for (unsigned i = 0; i < TURNS; i++) {
        pthread_mutex_lock(&lock);
        ++*variable;
        pthread_mutex_unlock(&lock);
        if (i % 8 == 0)
            work(i);
    }
    pthread_barrier_wait(&barrier);
}

static void *count_x(void *unused)
{
    take_turns(&x);
    x++;
    first = 1;
    work(1);
    pthread_barrier_wait(&barrier);
    x++;
    second = 1;
    work(2);
    x++;
    work(3);
    x++;
    return unused;
}

static void *count_y(void *unused)
{
    take_turns(&y);
    await(&first);
    y++;
    work(4);
    pthread_barrier_wait(&barrier);
    await(&second);
    for (unsigned i = 0; i < 4; i++) {
        y++;
        work(i);
    }
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&threads[0], NULL, count_x, NULL);
    pthread_create(&threads[1], NULL, count_y, NULL);
    for (unsigned i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
