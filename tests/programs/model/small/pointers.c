/* expect: called false, called false, table false, table false */
/* note: pointers.c:30: a call through a pointer: taken to call any of 2 functions */
/* Functions through pointers: from a structure, and one of a table. */
#include <pthread.h>
#include <stdlib.h>

#include "portent.h"

static int x, y;
static void up(void)
{
    x++;
}
static void down(void)
{
    y--;
}
static void (*const table[2])(void) = {up, down};
struct object {
    void (*method)(void);
};

static void *run(void *arg)
{
    struct object *object = arg;
    portent_begin("called");
    object->method();
    portent_end("called");
    portent_begin("table");
    table[rand() % 2]();
    portent_end("table");
    return NULL;
}

int main(void)
{
    static struct object object = {up};
    pthread_t a, b;
    pthread_create(&a, NULL, run, &object);
    pthread_create(&b, NULL, run, &object);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
