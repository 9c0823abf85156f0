/* Main changes the argument of a thread that it has started.
 * race: * r:A w:B
 */
#include "races.h"

static void *work(void *argument)
{
    USE(*(int *)argument); /* A */
    pass(1);
    return NULL;
}

int main(void)
{
    int number = 0;
    pthread_t thread = start(work, &number);
    await(1);
    number = 1; /* B */
    pthread_join(thread, NULL);
    return number != 1;
}
