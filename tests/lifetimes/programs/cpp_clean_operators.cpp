/* A class with operators new and delete of its own, out of a pool in a block.
 * life: none
 */
#include "races.h"

struct node {
    static void *operator new(size_t size)
    {
        NEED(size <= 32);
        if (!pool)
            pool = (char *)malloc(32 * 64);
        return pool + 32 * (next++ % 64);
    }
    static void operator delete(void *) {}
    static char *pool;
    static unsigned next;
    int value = 3;
};
char *node::pool;
unsigned node::next;

int main()
{
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 200; i++) {
            node *one = new node;
            USE(*(volatile int *)&one->value);
            delete one;
        }
        free(node::pool);
        node::pool = nullptr;
        for (int i = 0; i < 100; i++) {
            void *volatile block = malloc(32 * 64);
            free(block);
        }
    }
    return 0;
}
