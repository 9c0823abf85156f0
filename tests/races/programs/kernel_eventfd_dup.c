/* An eventfd that was copied while main was alone: two numbers, one counter.
 * race: none
 */
#include "races.h"
#include <sys/eventfd.h>

static int event, copy, x;

static void *one(void *unused)
{
    x = 1;
    NEED(eventfd_write(event, 1) == 0);
    return NULL;
}

static void *two(void *unused)
{
    eventfd_t value;
    NEED(eventfd_read(copy, &value) == 0);
    x++;
    return NULL;
}

int main(void)
{
    NEED((event = eventfd(0, 0)) >= 0);
    NEED((copy = dup(event)) >= 0);
    both(one, two);
    return x != 2;
}
