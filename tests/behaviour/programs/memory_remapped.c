/* Threads map, grow by mremap and unmap memory that nobody else has: the kernel hands the addresses round.
 * holds: done_ <= 400
 * violated: done_ != 400
 */
#include "say.h"
#include <sys/mman.h>

enum { SIZE = 1 << 14 };
static int done_;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *given)
{
    for (int i = 0; i < 100; i++) {
        char *one = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        memset(one, i, SIZE);
        char *two = mremap(one, SIZE, 2 * SIZE, MREMAP_MAYMOVE);
        NEED(two != MAP_FAILED && two[SIZE - 1] == (char)i && two[SIZE] == 0);
        two[SIZE + 5] = 3;
        munmap(two, 2 * SIZE);
        pthread_mutex_lock(&lock);
        SAY(done_, done_ + 1);
        pthread_mutex_unlock(&lock);
    }
    return given;
}

int main(void)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        NEED(pthread_create(&threads[i], NULL, worker, NULL) == 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    printf("%d\n", done_);
    return 0;
}
