/* Ten threads have read, and all of them are joined when one writes.
 * race: none
 */
#include "races.h"

static int x;

static void *reader(void *unused)
{
    USE(x);
    pass_one();
    await(10);
    return NULL;
}

int main(void)
{
    pthread_t readers[10];
    for (int i = 0; i < 10; i++)
        readers[i] = start(reader, NULL);
    for (int i = 0; i < 10; i++)
        pthread_join(readers[i], NULL);
    x = 1;
    return x != 1;
}
