/* The stack of calls, in every way in which a function can be entered and left. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>

void print_stack(const char *what);
int shared;

#define APART __attribute__((noinline))

APART static int inner(const char *what)
{
    print_stack(what);
    return shared;
}

APART static int middle(const char *what)
{
    return inner(what) + 1;
}

static inline __attribute__((always_inline)) int inlined(const char *what)
{
    return middle(what) * 2;
}

APART static int tail(const char *what)
{
    return inner(what);
}

APART static int must_tail(const char *what)
{
    __attribute__((musttail)) return inner(what);
}

static jmp_buf back;

APART static void jumps(int depth)
{
    if (depth == 0)
        longjmp(back, 1);
    jumps(depth - 1);
    shared++;
}

APART static void jumped(void)
{
    if (setjmp(back) == 0)
        jumps(5);
    inner("longjmp");
}

APART static void deep(int depth)
{
    if (depth == 0)
        print_stack("deep");
    else
        deep(depth - 1);
    shared++;
}

static int compare(const void *a, const void *b)
{
    static int once;
    if (!once++)
        inner("callback");
    return *(const int *)a - *(const int *)b;
}

static void first(void)
{
    inner("once");
}

static void on_signal(int number)
{
    inner("signal");
    shared = number;
}

static void *thread(void *arg)
{
    inner("thread");
    return arg;
}

static int chosen(const char *what)
{
    return inner(what);
}

static int (*choose(void))(const char *)
{
    return chosen;
}
int by_ifunc(const char *what) __attribute__((ifunc("choose")));

int in_library(int (*call)(const char *), const char *what);

int main(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int numbers[] = {2, 1}, (*volatile pointer)(const char *) = middle;
    pthread_t id;
    print_stack("main");
    inlined("inlined");
    middle("twice");
    tail("tail");
    must_tail("musttail");
    pointer("pointer");
    jumped();
    by_ifunc("ifunc");
    in_library(middle, "library");
    qsort(numbers, 2, sizeof *numbers, compare);
    pthread_once(&once, first);
    signal(SIGUSR1, on_signal);
    raise(SIGUSR1);
    pthread_create(&id, NULL, thread, NULL);
    pthread_join(id, NULL);
    deep(300);
    print_stack("main again");
    return 0;
}
