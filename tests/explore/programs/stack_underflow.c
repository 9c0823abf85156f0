/* A stack with one element: two threads see that it is not empty, and both pop.
 * bug: check-then-act
 * depth: 2
 * fails: signal
 * place: A
 */
#include "catalogue.h"

static int stack[4], top;
static pthread_mutex_t m = LOCK;

static void push(int value)
{
    lock(&m);
    stack[top++] = value;
    unlock(&m);
}

static int pop_locked(void)
{
    assert(top > 0); /* A */
    return stack[--top];
}

static void *popper(void *unused)
{
    lock(&m);
    int empty = top == 0;
#ifdef FIXED
    if (!empty)
        pop_locked();
    unlock(&m);
#else
    unlock(&m);
    if (!empty) {
        lock(&m);
        pop_locked();
        unlock(&m);
    }
#endif
    return unused;
}

int main(void)
{
    push(7);
    both(popper, popper);
    return 0;
}
