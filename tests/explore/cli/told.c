/* Failures of all kinds, by the first argument, for what is told of them. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef STATUS
#define STATUS 3
#endif

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static int hits, turns;
static long *block;

static void take_turns(void)
{
    for (int i = 0; i < 4; i++) {
        pthread_mutex_lock(&a);
        turns++;
        pthread_mutex_unlock(&a);
    }
}

/* The race comes first, and many steps come after it. */
static void *race(void *unused)
{
    hits++; /* races */
    take_turns();
    return unused;
}

static void *lose(void *unused)
{
    int seen = __atomic_load_n(&hits, __ATOMIC_SEQ_CST);
    __atomic_store_n(&hits, seen + 1, __ATOMIC_SEQ_CST);
    return unused;
}

static void *drop(void *unused)
{
    pthread_mutex_lock(&a);
    long *mine = block;
    pthread_mutex_unlock(&a);
    if (mine) {
        free(mine); /* frees */
        pthread_mutex_lock(&a);
        block = NULL;
        pthread_mutex_unlock(&a);
    }
    return unused;
}

static void *drop_and_race(void *unused)
{
    hits++;
    return drop(unused);
}

static void *left(void *unused)
{
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b); /* wants b */
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    return unused;
}

static void *right(void *unused)
{
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a); /* wants a */
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    return unused;
}

/* What libc leaves in freed memory. */
static void *use(void *unused)
{
    char text[40];
    pthread_mutex_lock(&a);
    int len = snprintf(text, sizeof text, "%016lx\n", (unsigned long)block[1]);
    pthread_mutex_unlock(&a);
    return write(STDERR_FILENO, text, (size_t)len) == len ? unused : NULL;
}

static void both(void *(*one)(void *), void *(*other)(void *))
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, one, NULL);
    pthread_create(&threads[1], NULL, other, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";
    block = calloc(2, sizeof *block);
    if (strcmp(way, "race") == 0)
        both(race, race);
    else if (strcmp(way, "double") == 0)
        both(drop, drop);
    else if (strcmp(way, "worse") == 0)
        both(drop_and_race, drop_and_race);
    else if (strcmp(way, "deadlock") == 0)
        both(left, right);
    else if (strcmp(way, "freed") == 0) {
        pthread_t user;
        pthread_create(&user, NULL, use, NULL);
        free(block);
        pthread_join(user, NULL);
        return STATUS;
    } else {
        both(lose, lose);
        return hits == 2 ? 0 : STATUS;
    }
    return 0;
}
