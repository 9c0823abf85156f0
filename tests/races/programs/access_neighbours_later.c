/* A word is written once, together with the one before it, and nobody writes it again; its neighbours in the same eight
 * bytes are written a hundred times since, under locks. Another thread's write of it, of which nobody knows, races with
 * that first one, however much has come after it there.
 * race: place w:A w:B
 */
#include "races.h"

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, two = PTHREAD_MUTEX_INITIALIZER;
static struct __attribute__((packed, aligned(32))) {
    char first[15];
    short before, word;
    char behind[3];
} place;

static void *early(void *unused)
{
    place.word = 1; /* A */
    place.before = 1;
    for (int i = 0; i < 200; i++) {
        pthread_mutex_lock(&one);
        for (int j = 0; j < 3; j++)
            place.behind[j] = (char)i;
        pthread_mutex_unlock(&one);
    }
    for (int i = 0; i < 200; i++) {
        pthread_mutex_lock(&two);
        place.before++;
        pthread_mutex_unlock(&two);
    }
    pass(1);
    return NULL;
}

static void *late(void *unused)
{
    await(1);
    place.word = 2; /* B */
    return NULL;
}

int main(void)
{
    both(early, late);
    return place.word != 2 || place.before != 201 || place.behind[2] != (char)199;
}
