/* A block with its own lock: who finds that it is the last frees it, after it has unlocked.
 * life: none
 */
#include "races.h"

struct object {
    pthread_mutex_t lock;
    int references;
};
static struct object *object;

static void *one(void *unused)
{
    pthread_mutex_lock(&object->lock);
    int left = --object->references;
    pthread_mutex_unlock(&object->lock);
    if (left == 0) {
        pthread_mutex_destroy(&object->lock);
        free(object);
    }
    return NULL;
}

int main(void)
{
    object = calloc(1, sizeof *object);
    pthread_mutex_init(&object->lock, NULL);
    object->references = 2;
    both(one, one);
    return 0;
}
