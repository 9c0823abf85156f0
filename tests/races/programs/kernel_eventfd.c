/* An eventfd that is written, and read.
 * race: none
 */
#include "races.h"
#include <sys/eventfd.h>

static int event, x;

static void *one(void *unused)
{
    uint64_t one = 1;
    x = 1;
    NEED(write(event, &one, sizeof one) == sizeof one);
    return NULL;
}

static void *two(void *unused)
{
    uint64_t value;
    NEED(read(event, &value, sizeof value) == sizeof value);
    x++;
    return NULL;
}

int main(void)
{
    event = eventfd(0, 0);
    both(one, two);
    return x != 2;
}
