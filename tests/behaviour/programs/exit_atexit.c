/* Handlers of atexit and on_exit run in reverse order, may add one, and write.
 * holds: x <= 6
 * violated: x != 5
 * ordered: yes
 */
#include "say.h"

static int x;

static void first(void)
{
    SAY(x, 6);
    puts("first");
}

static void added(void)
{
    SAY(x, 4);
    puts("added");
}

static void second(int status, void *given)
{
    SAY(x, 5);
    printf("second %d %s\n", status, (char *)given);
}

static void third(void)
{
    SAY(x, 3);
    puts("third");
    atexit(added);
}

int main(void)
{
    atexit(first);
    on_exit(second, (void *)"text");
    atexit(third);
    SAY(x, 1);
    exit(12);
}
