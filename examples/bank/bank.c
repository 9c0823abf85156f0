/*
 * Two transfers from a checking to a saving account. Each account has its lock, and a flag says that a transfer is on
 * its way, so that nobody adds up the accounts meanwhile. But there is one flag, and whoever finishes first takes it
 * down.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <unistd.h>

enum { PAUSE_US = 50000 };

static pthread_mutex_t checking_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t saving_lock = PTHREAD_MUTEX_INITIALIZER;
static int checking = 100;
static int saving = 0;
static atomic_bool active;

static void transfer(int amount)
{
    active = true;
    usleep(2 * PAUSE_US);

    pthread_mutex_lock(&checking_lock);
    checking -= amount;
    pthread_mutex_unlock(&checking_lock);
    usleep(2 * PAUSE_US);

    pthread_mutex_lock(&saving_lock);
    saving += amount;
    pthread_mutex_unlock(&saving_lock);
    usleep(2 * PAUSE_US);

    active = false;
}

static void *teller(void *unused)
{
    transfer(30);
    return unused;
}

/* Half a step behind the teller: each of its steps falls between two of the teller's. */
static void *standing_order(void *unused)
{
    usleep(PAUSE_US);
    transfer(20);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    if (pthread_create(&a, NULL, teller, NULL) != 0 || pthread_create(&b, NULL, standing_order, NULL) != 0)
        return 1;
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return checking == 50 && saving == 50 ? 0 : 1;
}
