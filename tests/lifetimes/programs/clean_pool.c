/* Blocks that a pool of the program's own hands out again are never freed.
 * life: none
 */
#include "races.h"

struct node {
    struct node *next;
    int value;
};
static struct node pool[8], *available;

int main(void)
{
    for (int i = 0; i < 8; i++) {
        pool[i].next = available;
        available = &pool[i];
    }
    for (int i = 0; i < 100; i++) {
        struct node *node = available;
        available = node->next;
        *(volatile int *)&node->value = i;
        node->next = available;
        available = node;
    }
    return 0;
}
