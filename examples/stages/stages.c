/*
 * A table is migrated in two stages, first its schema, then its rows; a server answers requests from it. Every access
 * of shared data is under a lock, so there is no data race. What is missing is that the server waits for the migration
 * before it opens.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

enum { PAUSE_US = 50000 };

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    int schema, rows; /* versions; under table_lock */
} table = {1, 1};

static pthread_mutex_t state_lock = PTHREAD_MUTEX_INITIALIZER;
static bool serving; /* under state_lock */

static void *migrate(void *unused)
{
    pthread_mutex_lock(&table_lock);
    table.schema = 2;
    pthread_mutex_unlock(&table_lock);
    usleep(PAUSE_US);
    pthread_mutex_lock(&table_lock);
    table.rows = 2;
    pthread_mutex_unlock(&table_lock);
    return unused;
}

static void set_serving(bool value)
{
    pthread_mutex_lock(&state_lock);
    serving = value;
    pthread_mutex_unlock(&state_lock);
}

static void *serve(void *unused)
{
    usleep(4 * PAUSE_US); /* opens its sockets */
    set_serving(true);
    pthread_mutex_lock(&table_lock);
    printf("a request: rows of version %d, read by schema %d\n", table.rows, table.schema);
    pthread_mutex_unlock(&table_lock);
    set_serving(false);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    if (pthread_create(&a, NULL, migrate, NULL) != 0 || pthread_create(&b, NULL, serve, NULL) != 0)
        return 1;
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
