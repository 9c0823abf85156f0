/* A lock-free stack: between a pop's look at the top and its exchange, others pop two nodes and push the first again.
 * bug: ABA
 * depth: 2
 * fails: signal
 * place: A
 */
#include "catalogue.h"

enum { NODES = 3, NONE = NODES };
static _Atomic unsigned head; /* node, and above it how often it was changed */
static _Atomic int next[NODES], owners[NODES + 1];

static unsigned after(unsigned was, unsigned node)
{
#ifdef FIXED
    return ((was >> 8) + 1) << 8 | node;
#else
    (void)was;
    return node;
#endif
}

static void push(int node)
{
    unsigned was = head;
    owners[node]--;
    do
        next[node] = was & 255;
    while (!atomic_compare_exchange_strong(&head, &was, after(was, node)));
}

static int pop(void)
{
    unsigned was = head, to;
    do {
        if ((was & 255) == NONE)
            return NONE;
        to = after(was, next[was & 255]);
    } while (!atomic_compare_exchange_strong(&head, &was, to)); /* A */
    assert(atomic_fetch_add(&owners[was & 255], 1) == 0);
    return was & 255;
}

static void *one(void *unused)
{
    pop();
    pop();
    return unused;
}

static void *two(void *unused)
{
    int first = pop();
    pop();
    if (first != NONE)
        push(first);
    return unused;
}

int main(void)
{
    head = 0;
    for (int i = 0; i < NODES; i++)
        next[i] = i + 1;
    both(one, two);
    return 0;
}
