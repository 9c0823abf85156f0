/* C11 threads: thrd_create, mtx_t, cnd_t, call_once, tss_t with a destructor.
 * holds: x >= 0 && x <= 40
 * violated: x != 37
 */
#include "say.h"
#include <threads.h>

static int x, turns;
static mtx_t lock;
static cnd_t turned;
static once_flag flag = ONCE_FLAG_INIT;
static tss_t key;

static void at_first(void)
{
    SAY(x, 1);
}

static void at_end(void *value)
{
    mtx_lock(&lock);
    SAY(x, *(int *)value);
    mtx_unlock(&lock);
}

static int work(void *given)
{
    static int values[2] = {36, 37};
    int me = *(int *)given;
    call_once(&flag, at_first);
    tss_set(key, &values[me]);
    for (int i = 0; i < 10; i++) {
        mtx_lock(&lock);
        while (turns % 2 != me)
            cnd_wait(&turned, &lock);
        SAY(x, 2 + turns);
        turns++;
        cnd_broadcast(&turned);
        mtx_unlock(&lock);
    }
    return me + 5;
}

int main(void)
{
    thrd_t threads[2];
    int me[2] = {0, 1}, result, sum = 0;
    mtx_init(&lock, mtx_plain);
    cnd_init(&turned);
    tss_create(&key, at_end);
    for (int i = 0; i < 2; i++)
        NEED(thrd_create(&threads[i], work, &me[i]) == thrd_success);
    for (int i = 0; i < 2; i++) {
        thrd_join(threads[i], &result);
        sum += result;
    }
    printf("%d %d\n", turns, sum);
    return 0;
}
