/* Something of everything that can be recorded, in a few threads under load. everything ROUNDS */
#include <portent.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORKERS = 3 };

struct account {
    int64_t balance;
    char owner[8];
    unsigned open : 1, rank : 7;
    pthread_mutex_t lock;
};

struct account accounts[2];
int grid[2][3];
double rate = 1.5;
_Atomic unsigned hits;
int total;
static union {
    int64_t whole;
    int32_t half[2];
} both;
static pthread_rwlock_t table_lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_barrier_t start;
static sem_t done;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static long rounds = 10;

static void prepare(void)
{
    grid[1][2] = 7;
}

static void transfer(int from, long amount)
{
    portent_begin("transfer");
    pthread_mutex_lock(&accounts[0].lock);
    pthread_mutex_lock(&accounts[1].lock);
    accounts[from].balance -= amount;
    accounts[1 - from].balance += amount;
    accounts[from].rank++;
    total = (int)(accounts[0].balance + accounts[1].balance);
    pthread_mutex_unlock(&accounts[1].lock);
    pthread_mutex_unlock(&accounts[0].lock);
    portent_end("transfer");
}

static void *worker(void *argument)
{
    int own = (int)(intptr_t)argument;
    pthread_barrier_wait(&start);
    pthread_once(&once, prepare);
    for (long round = 0; round < rounds; round++) {
        portent_internal("round", round);
        transfer(own & 1, round + own);
        hits++;
        pthread_rwlock_rdlock(&table_lock);
        int seen = grid[1][2];
        pthread_rwlock_unlock(&table_lock);
        pthread_rwlock_wrlock(&table_lock);
        grid[own % 2][own] = seen + 1;
        pthread_rwlock_unlock(&table_lock);
        pthread_spin_lock(&spin);
        rate *= 1.25;
        both.half[own & 1] = (int)round;
        pthread_spin_unlock(&spin);
        if (pthread_mutex_trylock(&accounts[0].lock) == 0) {
            struct {
                int64_t balance;
                char owner[8];
            } copy;
            memcpy(&copy, &accounts[0], sizeof copy);
            memcpy(&accounts[0], &copy, sizeof copy);
            pthread_mutex_unlock(&accounts[0].lock);
        }
        int *heap = malloc(64);
        memset(heap, own, 64);
        heap[3] = (int)round;
        total += heap[3] - heap[3];
        free(heap);
        portent_event("round");
    }
    sem_post(&done);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[WORKERS];
    if (argc > 1)
        rounds = atol(argv[1]);
    sem_init(&done, 0, 0);
    pthread_spin_init(&spin, 0);
    pthread_barrier_init(&start, NULL, WORKERS);
    for (int i = 0; i < 2; i++)
        pthread_mutex_init(&accounts[i].lock, NULL);
    strcpy(accounts[0].owner, "ann");
    for (intptr_t i = 0; i < WORKERS; i++)
        pthread_create(&threads[i], NULL, worker, (void *)i);
    for (int i = 0; i < WORKERS; i++)
        sem_wait(&done);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    printf("%u\n", hits);
    return 0;
}
