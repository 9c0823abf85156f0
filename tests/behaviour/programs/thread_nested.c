/* Each thread starts the next one, eight deep, and joins it.
 * holds: depth >= 0 && depth <= 8
 * violated: depth < 8
 * ordered: yes
 */
#include "say.h"

static int depth;

static void *deeper(void *given)
{
    long level = (long)given;
    SAY(depth, level);
    if (level < 8) {
        pthread_t next;
        void *result;
        NEED(pthread_create(&next, NULL, deeper, (void *)(level + 1)) == 0);
        pthread_join(next, &result);
        NEED((long)result == level + 1);
    }
    SAY(depth, 8 - level);
    return (void *)level;
}

int main(void)
{
    deeper((void *)0);
    printf("%d\n", depth);
    return 0;
}
