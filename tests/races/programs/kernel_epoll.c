/* An event loop: epoll says that an eventfd can be read, and it is.
 * race: none
 */
#include "races.h"
#include <sys/epoll.h>
#include <sys/eventfd.h>

static int event, poll, x;

static void *one(void *unused)
{
    x = 1;
    NEED(eventfd_write(event, 1) == 0);
    return NULL;
}

static void *two(void *unused)
{
    struct epoll_event ready;
    eventfd_t value;
    NEED(epoll_wait(poll, &ready, 1, -1) == 1);
    NEED(eventfd_read(event, &value) == 0);
    x++;
    return NULL;
}

int main(void)
{
    struct epoll_event wanted = {.events = EPOLLIN};
    event = eventfd(0, EFD_NONBLOCK);
    poll = epoll_create1(0);
    NEED(epoll_ctl(poll, EPOLL_CTL_ADD, event, &wanted) == 0);
    both(one, two);
    return x != 2;
}
