/* A list without locks: pushed by compare-exchange, taken whole by an exchange, freed by who took it.
 * race: none
 */
#include "races.h"

struct node {
    struct node *next;
    int value;
};
static struct node *_Atomic head;
static atomic_int left = 20;

static void *push(void *unused)
{
    for (int i = 0; i < 20; i++) {
        struct node *node = malloc(sizeof *node);
        node->value = i;
        node->next = atomic_load_explicit(&head, memory_order_relaxed);
        while (!atomic_compare_exchange_weak_explicit(&head, &node->next, node, memory_order_release,
                                                      memory_order_relaxed))
            ;
    }
    return NULL;
}

static void *take(void *unused)
{
    while (atomic_load_explicit(&left, memory_order_relaxed) > 0) {
        struct node *node = atomic_exchange_explicit(&head, NULL, memory_order_acquire);
        while (node) {
            struct node *next = node->next;
            node->value++;
            free(node);
            node = next;
            atomic_fetch_sub_explicit(&left, 1, memory_order_relaxed);
        }
        usleep(100);
    }
    return NULL;
}

int main(void)
{
    both(push, take);
    return left != 0;
}
