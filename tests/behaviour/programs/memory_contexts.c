/* Coroutines by makecontext and swapcontext: three of them take turns, each on a stack from malloc.
 * holds: x <= 302
 * violated: x != 202
 * ordered: yes
 */
#include "say.h"
#include <ucontext.h>

static int x;
static ucontext_t back, contexts[3];

static void coroutine(int me)
{
    for (int i = 0; i < 3; i++) {
        volatile int own = 100 * (me + 1) + i;
        SAY(x, own);
        swapcontext(&contexts[me], &back);
        NEED(own == 100 * (me + 1) + i);
    }
}

int main(void)
{
    for (int i = 0; i < 3; i++) {
        NEED(getcontext(&contexts[i]) == 0);
        contexts[i].uc_stack.ss_sp = malloc(65536);
        contexts[i].uc_stack.ss_size = 65536;
        contexts[i].uc_link = &back;
        makecontext(&contexts[i], (void (*)(void))coroutine, 1, i);
    }
    for (int turn = 0; turn < 4; turn++)
        for (int i = 0; i < 3; i++) {
            swapcontext(&back, &contexts[i]);
            printf("%d ", x);
        }
    puts("");
    for (int i = 0; i < 3; i++)
        free(contexts[i].uc_stack.ss_sp);
    return 0;
}
