/* pthread_exit and cancellation unwind C++ frames: destructors write.
 * holds: x <= 4
 * violated: x != 3
 * ordered: yes
 */
#include "say.h"

static int x;

struct guard {
    int value;
    ~guard()
    {
        SAY(x, value);
    }
};

static void *leaves(void *given)
{
    guard outer{2};
    {
        guard inner{1};
        pthread_exit(given);
    }
}

static void *cancelled(void *given)
{
    guard here{3};
    for (;;)
        pause();
    return given;
}

int main()
{
    pthread_t thread;
    void *result;
    NEED(pthread_create(&thread, NULL, leaves, &x) == 0);
    pthread_join(thread, &result);
    NEED(result == &x);
    NEED(pthread_create(&thread, NULL, cancelled, NULL) == 0);
    pthread_cancel(thread);
    pthread_join(thread, &result);
    printf("%d\n", result == PTHREAD_CANCELED);
    return 0;
}
