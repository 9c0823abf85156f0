/* Main ends by pthread_exit, and a thread joins it.
 * race: none
 */
#include "races.h"

static int x;
static pthread_t main_thread;

static void *work(void *unused)
{
    pthread_join(main_thread, NULL);
    x++;
    exit(x != 2);
}

int main(void)
{
    main_thread = pthread_self();
    start(work, NULL);
    x = 1;
    pthread_exit(NULL);
}
