/* When all blocks are written, main takes the queue away that a consumer still looks at.
 * bug: shutdown race
 * depth: 2
 * fails: signal
 * signal: SEGV
 * place: A
 */
#include "catalogue.h"

struct queue {
    pthread_mutex_t m;
    int left;
};
static struct queue blocks = {LOCK, 1};
static struct queue *_Atomic queue = &blocks;
static _Atomic int written;

static void *consumer(void *unused)
{
    for (;;) {
        struct queue *q = queue;
        lock(&q->m); /* A */
        int mine = q->left > 0;
        q->left -= mine;
        unlock(&q->m);
        if (!mine)
            break;
        written++;
    }
    return unused;
}

int main(void)
{
    pthread_t thread = start(consumer, NULL);
    while (!written)
        usleep(1000);
#ifdef FIXED
    join(thread);
    queue = NULL;
#else
    queue = NULL;
    join(thread);
#endif
    return 0;
}
