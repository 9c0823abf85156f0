/* A node is put before the head in two steps; the other thread's node is lost.
 * bug: lost update
 * depth: 2
 * fails: status
 * place: A
 */
#include "catalogue.h"

struct node {
    struct node *_Atomic next;
};
static struct node nodes[3];
static struct node *_Atomic head;

static void *insert(void *argument)
{
    struct node *node = argument, *seen = head;
#ifdef FIXED
    do
        node->next = seen;
    while (!atomic_compare_exchange_strong(&head, &seen, node));
#else
    node->next = seen;
    head = node; /* A */
#endif
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    int length = 0;
    for (int i = 0; i < 3; i++)
        threads[i] = start(insert, &nodes[i]);
    for (int i = 0; i < 3; i++)
        join(threads[i]);
    for (struct node *node = head; node; node = node->next)
        length++;
    printf("length %d\n", length);
    return length == 3 ? 0 : 1;
}
