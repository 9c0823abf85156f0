/* A lock in freed memory.
 * life: use after free, observed uwracqel:B free:A
 * levels: -O0
 */
#include "races.h"

struct account {
    int balance;
    pthread_mutex_t lock;
};

int main(void)
{
    struct account *account = calloc(1, sizeof *account);
    pthread_mutex_init(&account->lock, NULL);
    free(account); /* A */
    pthread_mutex_lock(&account->lock); /* B */
    return 0;
}
