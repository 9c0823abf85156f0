/* Threads that come and go as a file of steps says (lane_steps.c): what each of them does to variables and locks. */
#include <portent.h>
#include <pthread.h>

void take_steps(const char *file), done(void), make(int, void *(*)(void *)), join(int), detach(int);
char step(int thread, int *with);

_Alignas(64) volatile int x;
_Alignas(64) volatile int y;
_Alignas(64) volatile int z;
_Alignas(64) volatile int q; /* which no property names */
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void *guest(void *number);

static void act(char what, int with)
{
    switch (what) {
    case 'x':
        x = with;
        break;
    case 'y':
        y = with;
        break;
    case 'z':
        z = with;
        break;
    case 'q':
        q = with;
        break;
    case 'r':
        (void)(with == 0 ? x : with == 1 ? y : with == 2 ? z : q);
        break;
    case 'g':
        portent_event("go");
        break;
    case 'l':
        pthread_mutex_lock(&m);
        break;
    case 'u':
        pthread_mutex_unlock(&m);
        break;
    case 'f':
        make(with, guest);
        break;
    case 'j':
        join(with);
        break;
    case 'd':
        detach(with);
        break;
    }
}

static void live(int number)
{
    for (int with;;) {
        char what = step(number, &with);
        if (what != 'e' && what)
            act(what, with);
        done();
        if (what == 'e' || !what)
            return;
    }
}

static void *guest(void *number)
{
    live((int)(long)number);
    return NULL;
}

int main(int argc, char **argv)
{
    (void)argc;
    take_steps(argv[1]);
    live(0);
    return 0;
}
