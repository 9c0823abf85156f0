/* Two threads take turns (a lock and a condition), each in a block of its own, with a local variable and an end that
 * matches nothing. `balance` is what properties name. With an argument it then waits to be ended. */
#include <portent.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

int balance;
static int turn;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void *depositor(void *argument)
{
    int own = *(int *)argument;
    for (int round = 0; round < 2; round++) {
        portent_begin("deposit");
        portent_internal("busy", own + 1);
        pthread_mutex_lock(&lock);
        while (turn != own)
            pthread_cond_wait(&changed, &lock);
        balance += 10;
        turn = 1 - turn;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
        portent_internal("busy", 0);
        portent_end("deposit");
        portent_end("deposit");
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static int numbers[] = {0, 1};
    pthread_t threads[2];
    (void)argv;
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, depositor, &numbers[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("balance %d\n", balance);
    fflush(stdout);
    if (argc > 1)
        sleep(600);
    return 3;
}
