/* Two threads change the pointers of a path, what is at its end, and what is not, under one lock, and print what events of
 * head->at[1]->value there are to be: one line for each store of a pointer on the way, or of the value, while all pointers lead
 * somewhere. Memory is freed and allocated again in between. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct leaf {
    char name[12];
    int value;
};
struct node {
    long number;
    struct leaf *at[3];
};
struct node *head;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct node *nodes[3];
static struct leaf *leaves[4];
static unsigned state = 7;

static unsigned below(unsigned bound)
{
    state = state * 1103515245u + 12345u;
    return (state >> 16) % bound;
}

static void tell(void)
{
    if (head && head->at[1])
        printf("%d\n", head->at[1]->value);
}

static void store_value(int value)
{
    unsigned which = below(4);
    int at_end = head && head->at[1] == leaves[which];
    leaves[which]->value = value;
    if (at_end)
        tell();
}

static void store_link(void)
{
    struct node *node = nodes[below(3)];
    node->at[1] = below(5) ? leaves[below(4)] : NULL;
    if (node == head)
        tell();
}

/* A leaf that nobody uses goes, and comes again, perhaps at the same place. */
static void renew(int value)
{
    unsigned which = below(4);
    for (int i = 0; i < 3; i++)
        if (nodes[i]->at[1] == leaves[which])
            return;
    free(leaves[which]);
    leaves[which] = malloc(sizeof *leaves[which]);
    leaves[which]->value = value;
}

static void *work(void *from)
{
    for (int i = 0; i < 400; i++) {
        pthread_mutex_lock(&lock);
        int value = *(int *)from + i;
        switch (below(5)) {
        case 0:
            head = below(6) ? nodes[below(3)] : NULL;
            tell();
            break;
        case 1:
            store_link();
            break;
        case 2:
            renew(value);
            break;
        default:
            store_value(value);
        }
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void)
{
    pthread_t other;
    int mine = 1000, its = 5000;
    for (int i = 0; i < 4; i++)
        leaves[i] = calloc(1, sizeof *leaves[i]);
    for (int i = 0; i < 3; i++)
        nodes[i] = calloc(1, sizeof *nodes[i]);
    nodes[0]->at[1] = leaves[0];
    head = nodes[0];
    pthread_create(&other, NULL, work, &its);
    work(&mine);
    pthread_join(other, NULL);
    return 0;
}
