/* A list is freed by a loop that looks at a node after it has freed it. What is left of the loop at -O2 has no line.
 * life: use after free, observed r:B free:A
 * levels: -O0
 */
#include "races.h"

struct node {
    struct node *next;
};

int main(void)
{
    struct node *volatile first = NULL;
    for (int i = 0; i < 5; i++) {
        struct node *node = malloc(sizeof *node);
        node->next = first;
        first = node;
    }
    for (struct node *node = first; node;) {
        free(node); /* A */
        struct node *volatile *next = &node->next;
        node = *next; /* B */
    }
    return 0;
}
