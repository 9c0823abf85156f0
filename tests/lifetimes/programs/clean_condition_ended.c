/* A condition is destroyed and freed when all who waited were woken, though they have not returned.
 * life: none
 */
#include "races.h"

struct box {
    pthread_mutex_t *lock;
    pthread_cond_t woken;
    int ready, waits;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct box *box;

static void *one(void *unused)
{
    pthread_mutex_lock(&lock);
    struct box *mine = box;
    mine->waits++;
    pass_one();
    while (!mine->ready)
        pthread_cond_wait(&mine->woken, &lock);
    if (--mine->waits == 0) {
        pthread_cond_destroy(&mine->woken);
        free(mine);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    box = calloc(1, sizeof *box);
    pthread_cond_init(&box->woken, NULL);
    pthread_t first = start(one, NULL), second = start(one, NULL);
    await(2);
    pthread_mutex_lock(&lock);
    box->ready = 1;
    pthread_cond_broadcast(&box->woken);
    pthread_mutex_unlock(&lock);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    return 0;
}
