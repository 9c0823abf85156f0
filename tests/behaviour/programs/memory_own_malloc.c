/* A program that brings its own malloc, which takes locks and writes what is watched.
 * holds: given >= 0
 * violated: given < 3
 * optional: unsaid
 */
#include "say.h"

static char pool[8 << 20];
static size_t used;
static int given;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *malloc(size_t size)
{
    size_t room = (size + 31) & ~(size_t)15;
    pthread_mutex_lock(&lock);
    char *block = used + room > sizeof pool ? NULL : pool + used;
    used += block ? room : 0;
    given++;
    pthread_mutex_unlock(&lock);
    if (block)
        *(size_t *)block = size;
    return block ? block + 16 : NULL;
}

void free(void *block)
{
    if (block && ((char *)block < pool || (char *)block >= pool + sizeof pool))
        abort();
}

void *calloc(size_t count, size_t size)
{
    return malloc(count * size); /* the pool is zero */
}

void *realloc(void *old, size_t size)
{
    char *block = malloc(size);
    size_t had = old ? *(size_t *)((char *)old - 16) : 0;
    for (size_t i = 0; block && i < had && i < size; i++)
        block[i] = ((char *)old)[i];
    return block;
}

static void *worker(void *text)
{
    for (int i = 0; i < 50; i++) {
        char *copy = strdup(text);
        copy = realloc(copy, 100);
        NEED(strcmp(copy, text) == 0);
        free(copy);
    }
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        NEED(pthread_create(&threads[i], NULL, worker, (void *)"hello") == 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    puts(given >= 300 ? "its own" : "not its own");
    return 0;
}
