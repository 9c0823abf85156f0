/*
 * The DAME paper's two accounts: one thread adds them up while another moves money between them. The two executions
 * that the paper prints, as the argument says; pipes give the turns, by bare system calls, which are unseen. So the
 * order is always the same, and nothing but the accounts orders the two threads for Portent.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <portent.h>

static struct {
    volatile int balance;
} checking = {100}, saving;

static int pipes[5][2]; /* turn k ends with a byte in pipe k */
static const char *order;

/* Waits until it is this thread's k-th turn ... */
static void await(int turn)
{
    char byte;
    if (turn > 0 && syscall(SYS_read, pipes[turn - 1][0], &byte, 1) != 1)
        abort();
}

/* ... and ends it. */
static void end(int turn)
{
    if (syscall(SYS_write, pipes[turn][1], "", 1) != 1)
        abort();
}

static int turn_of(char who, int nth)
{
    for (int i = 0; order[i]; i++)
        if (order[i] == who && nth-- == 0)
            return i;
    abort();
}

static void enter(int nth)
{
    portent_internal("inside", 1);
    portent_internal("execution", nth);
}

static void leave(void)
{
    portent_internal("execution", 0);
    portent_internal("inside", 0);
}

static void *calc_balance(void *unused)
{
    await(turn_of('c', 0));
    enter(1);
    int first = checking.balance;
    end(turn_of('c', 0));
    await(turn_of('c', 1));
    int second = saving.balance;
    leave();
    printf("the balance is %d\n", first + second);
    end(turn_of('c', 1));
    return unused;
}

static void *transfer(void *unused)
{
    enum { AMOUNT = 30 };
    await(turn_of('t', 0));
    enter(1);
    checking.balance = checking.balance - AMOUNT;
    end(turn_of('t', 0));
    await(turn_of('t', 1));
    saving.balance = saving.balance + AMOUNT;
    leave();
    end(turn_of('t', 1));
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t a, b;
    order = argc > 1 && strcmp(argv[1], "2") == 0 ? "tcct" : "ctct";
    for (unsigned i = 0; i < sizeof pipes / sizeof *pipes; i++)
        if (pipe(pipes[i]) != 0)
            return 1;
    if (pthread_create(&a, NULL, calc_balance, NULL) != 0 || pthread_create(&b, NULL, transfer, NULL) != 0)
        return 1;
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
