#include "engine/crew.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/mem.h"

struct pt_crew {
    pthread_t *threads;
    unsigned count;
    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t begun, ended;
    void (*work)(void *context, uint32_t number);
    void *context;
    uint32_t next, pieces, unfinished;
    bool quit;
};

/* Takes pieces until there are none. With the lock. */
static void take_part(struct pt_crew *crew)
{
    while (crew->next < crew->pieces) {
        uint32_t number = crew->next++;
        pthread_mutex_unlock(&crew->lock);
        crew->work(crew->context, number);
        pthread_mutex_lock(&crew->lock);
        if (--crew->unfinished == 0)
            pthread_cond_signal(&crew->ended);
    }
}

static void *thread_main(void *argument)
{
    struct pt_crew *crew = argument;
    pthread_mutex_lock(&crew->lock);
    while (!crew->quit) {
        take_part(crew);
        if (!crew->quit)
            pthread_cond_wait(&crew->begun, &crew->lock);
    }
    pthread_mutex_unlock(&crew->lock);
    return NULL;
}

struct pt_crew *pt_crew_new(unsigned threads)
{
    struct pt_crew *crew = pt_xcalloc(1, sizeof *crew);
    pthread_mutex_init(&crew->lock, NULL);
    pthread_cond_init(&crew->begun, NULL);
    pthread_cond_init(&crew->ended, NULL);
    crew->threads = pt_xcalloc(threads, sizeof *crew->threads);
    while (crew->count < threads && pthread_create(&crew->threads[crew->count], NULL, thread_main, crew) == 0)
        crew->count++;
    return crew;
}

void pt_crew_free(struct pt_crew *crew)
{
    if (!crew)
        return;
    pthread_mutex_lock(&crew->lock);
    crew->quit = true;
    pthread_cond_broadcast(&crew->begun);
    pthread_mutex_unlock(&crew->lock);
    for (unsigned i = 0; i < crew->count; i++)
        pthread_join(crew->threads[i], NULL);
    pthread_mutex_destroy(&crew->lock);
    pthread_cond_destroy(&crew->begun);
    pthread_cond_destroy(&crew->ended);
    free(crew->threads);
    free(crew);
}

void pt_crew_run(struct pt_crew *crew, void (*work)(void *context, uint32_t number), void *context, uint32_t count)
{
    pthread_mutex_lock(&crew->lock);
    crew->work = work;
    crew->context = context;
    crew->next = 0;
    crew->pieces = crew->unfinished = count;
    pthread_cond_broadcast(&crew->begun);
    take_part(crew);
    while (crew->unfinished)
        pthread_cond_wait(&crew->ended, &crew->lock);
    pthread_mutex_unlock(&crew->lock);
}
