/* Ten threads have read when one writes, more than any fixed number of places in a shadow.
 * race: x r:A w:C
 */
#include "races.h"

static int x;

static void *reader(void *unused)
{
    USE(x); /* A */
    pass_one();
    await(11);
    return NULL;
}

int main(void)
{
    pthread_t readers[10];
    for (int i = 0; i < 10; i++)
        readers[i] = start(reader, NULL);
    await(10);
    x = 1; /* C */
    pass(11);
    for (int i = 0; i < 10; i++)
        pthread_join(readers[i], NULL);
    return x != 1;
}
