/* expect: try true, try true, twice false, twice false */
/* The branch knows how the trylock ended, so the unlock never comes without its lock. */
#include <threads.h>

#include "portent.h"

static mtx_t m;
static int x;

static int run(void *arg)
{
    portent_begin("try");
    if (mtx_trylock(&m) == thrd_success) {
        x++;
        mtx_unlock(&m);
    }
    portent_end("try");
    portent_begin("twice");
    for (int i = 0; i < 2; i++) {
        int busy = mtx_trylock(&m);
        if (!busy) {
            x++;
            mtx_unlock(&m);
        }
    }
    portent_end("twice");
    return arg != NULL;
}

int main(void)
{
    thrd_t a, b;
    mtx_init(&m, mtx_plain);
    thrd_create(&a, run, NULL);
    thrd_create(&b, run, NULL);
    thrd_join(a, NULL);
    thrd_join(b, NULL);
    return 0;
}
