/* Double-checked locking with a plain pointer.
 * race: made w:A r:B
 * tsan: also what it points to, w:X r:Y, as happens-before alone leaves them unordered
 */
#include "races.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *made;

static void *one(void *unused)
{
    pthread_mutex_lock(&lock);
    int *p = malloc(sizeof *p);
    *p = 5;   /* X */
    made = p; /* A */
    pthread_mutex_unlock(&lock);
    pass(1);
    return NULL;
}

static void *two(void *unused)
{
    await(1);
    int *p = made; /* B */
    NEED(*p == 5); /* Y */
    return NULL;
}

int main(void)
{
    both(one, two);
    free(made);
    return 0;
}
