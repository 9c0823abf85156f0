/* expect: one true, two true, both false, both false */
/* note: fields.c:34: .*all of s.a, s.b, s.list.0., s.list.1. */
/* A field or a constant index is a variable of its own. */
#include <pthread.h>

#include "portent.h"

static struct {
    int a, b, list[2];
} s;

static void *left(void *arg)
{
    portent_begin("one");
    s.a++;
    s.list[0]++;
    portent_end("one");
    return arg;
}

static void *right(void *arg)
{
    portent_begin("two");
    s.b++;
    s.list[1]++;
    portent_end("two");
    return arg;
}

static void *third(void *arg)
{
    portent_begin("both");
    int index = arg != NULL;
    s.list[index] = s.list[index] + 1;
    portent_end("both");
    return arg;
}

int main(void)
{
    pthread_t a, b, c, d;
    pthread_create(&a, NULL, left, NULL);
    pthread_create(&b, NULL, right, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_create(&c, NULL, third, &a);
    pthread_create(&d, NULL, third, NULL);
    pthread_join(c, NULL);
    pthread_join(d, NULL);
    return 0;
}
