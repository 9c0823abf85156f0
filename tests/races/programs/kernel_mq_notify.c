/* The thread that is started for a message comes after who asked for it, and after who sent the message; not so the
 * other way round.
 * race: later w:A w:B
 */
#include "races.h"
#include <mqueue.h>

static mqd_t queue;
static int asked, sent, got;
int later;

static void told(union sigval value)
{
    char text[8];
    got = asked + sent + value.sival_int;
    NEED(got == 7);
    NEED(mq_receive(queue, text, sizeof text, NULL) == 1);
    later = 1; /* A */
    pass(1);
}

static void *send_one(void *unused)
{
    sent = 2;
    NEED(mq_send(queue, "x", 1, 0) == 0);
    return unused;
}

int main(void)
{
    char name[32];
    struct mq_attr few = {.mq_maxmsg = 4, .mq_msgsize = 8};
    struct sigevent how = {
        .sigev_notify = SIGEV_THREAD, .sigev_notify_function = told, .sigev_value = {.sival_int = 4}};
    snprintf(name, sizeof name, "/portent-%ld", (long)getpid());
    queue = mq_open(name, O_CREAT | O_RDWR, 0600, &few);
    NEED(queue >= 0 && mq_unlink(name) == 0);
    asked = 1;
    NEED(mq_notify(queue, &how) == 0);
    pthread_join(start(send_one, NULL), NULL);
    await(1);
    later = 2; /* B */
    return 0;
}
