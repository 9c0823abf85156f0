/* Destructors of keys write, and set their key again, in each of the four rounds that there are.
 * holds: round_ <= 4
 * violated: round_ < 4
 * ordered: yes
 */
#include "say.h"

static int round_;
static pthread_key_t key;

static void again(void *value)
{
    long n = (long)value;
    SAY(round_, n);
    pthread_setspecific(key, (void *)(n + 1));
}

static void *worker(void *given)
{
    pthread_setspecific(key, (void *)1L);
    return given;
}

int main(void)
{
    pthread_t thread;
    pthread_key_create(&key, again);
    for (int i = 0; i < 3; i++) {
        NEED(pthread_create(&thread, NULL, worker, NULL) == 0);
        pthread_join(thread, NULL);
        SAY(round_, 0);
    }
    puts("rounds");
    return 0;
}
