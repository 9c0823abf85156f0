/* A thread's argument is what was written before the thread was made, its result what it wrote before its end.
 * race: none
 */
#include "races.h"

struct job {
    int given, result;
};

static void *work(void *argument)
{
    struct job *job = argument;
    job->result = job->given * 2;
    return &job->result;
}

int main(void)
{
    struct job job = {.given = 4};
    void *result;
    pthread_t thread = start(work, &job);
    pthread_join(thread, &result);
    return *(int *)result != 8;
}
