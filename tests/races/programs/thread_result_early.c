/* The result is read before the thread is joined.
 * race: result w:A r:B
 */
#include "races.h"

static int result;

static void *work(void *unused)
{
    result = 5; /* A */
    pass(1);
    return NULL;
}

int main(void)
{
    pthread_t thread = start(work, NULL);
    await(1);
    USE(result); /* B */
    pthread_join(thread, NULL);
    return result != 5;
}
