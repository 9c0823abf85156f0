/*
 * Does what a script says, one operation after the other, whichever thread each is for: so run_rt.py can compute what
 * every event must know, byte by byte. The threads hand over by futexes, of which the runtime knows nothing: the calls
 * are made here and not through syscall(), in front of which it stands.
 *
 *   script FILE        a line of FILE: THREAD OPERATION A B C
 *
 *   e        an event                              l s   load, store of B bytes at A     a S  the same, atomic
 *   u        atomic update of B bytes at A         x X   compare-exchange that fails, succeeds
 *   c        copy C bytes from B to A              m     set B bytes at A                w    watch B bytes at A
 *   k j z    create, join, await the end of thread A     F     a child process            n f  a new block A of B
 * bytes; free it p P      load, store of B bytes at A, whose page faults; the handler has an event, loads at 0, stores
 * at 8 and C = 1 helps, 2 helps when it is called again, 3 jumps out, 4 jumps out when it is called again, 5 makes the
 * page readable, lets others go on until this thread's next operation, which must be y, and helps then
 *
 * Addresses below BLOCK are in an array; address BLOCK * (K + 1) + I is byte I of heap block K. Main is thread 0.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hooks.h"

enum { OPERATIONS = 1 << 20, THREADS = 4096, BLOCK = 1 << 20, BLOCKS = 64, PAGE = 4096 };

struct operation {
    int thread;
    char what;
    long a, b, c;
};

static struct operation operations[OPERATIONS];
static int count;
static _Atomic int
    now[THREADS]; /* the operation that the thread may do next, from there on as long as they are its own */
static pthread_t threads[THREADS];
static _Atomic pid_t ids[THREADS];
_Alignas(PAGE) char array[16 * PAGE]; /* run_rt.py looks it up */
static char *blocks[BLOCKS];
static sigjmp_buf back;
static char *guarded;
static int faults, mode;
static const struct operation *faulting;

static char *at(long address)
{
    return address < BLOCK ? array + address : blocks[address / BLOCK - 1] + address % BLOCK;
}

static void futex(_Atomic int *word, long operation, long value)
{
    register long no_time __asm__("r10") = 0;
    long number = SYS_futex;
    __asm__ volatile("syscall"
                     : "+a"(number)
                     : "D"(word), "S"(operation), "d"(value), "r"(no_time)
                     : "rcx", "r11", "memory");
}

static void await(int thread, int turn)
{
    for (;;) {
        int seen = now[thread];
        if (seen == turn)
            return;
        futex(&now[thread], FUTEX_WAIT_PRIVATE, seen);
    }
}

static void hand_over(int turn)
{
    int next = turn < count ? operations[turn].thread : 0;
    now[next] = turn;
    futex(&now[next], FUTEX_WAKE_PRIVATE, 1);
}

/* The others' operations up to the y. */
static void let_others(void)
{
    int turn = (int)(faulting - operations) + 1, mine = turn;
    while (operations[mine].thread != faulting->thread)
        mine++;
    hand_over(turn);
    await(faulting->thread, mine);
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)info, (void)context;
    faults++;
    portent_event("e");
    (void)LD8(array);
    ST8(array + 8, faults);
    if (mode % 2 == 0 && faults == 1)
        return;
    if (mode == 5) {
        mprotect(guarded, PAGE, PROT_READ);
        let_others();
    }
    mprotect(guarded, PAGE, PROT_READ | PROT_WRITE);
    if (mode == 3 || mode == 4)
        siglongjmp(back, 1);
}

static uint64_t load(const char *p, long size)
{
    return size == 1   ? __portent_load1(p, SITE)
           : size == 2 ? __portent_load2(p, SITE)
           : size == 4 ? __portent_load4(p, SITE)
                       : __portent_load8(p, SITE);
}

static void store(char *p, long size)
{
    if (size == 1)
        __portent_store1(p, 1, SITE);
    else if (size == 2)
        __portent_store2(p, 1, SITE);
    else if (size == 4)
        __portent_store4(p, 1, SITE);
    else
        __portent_store8(p, 1, SITE);
}

static void exchange(char *p, long size, bool succeeds)
{
    uint64_t wrong = succeeds ? 0 : 1;
    if (size == 4)
        __portent_atomic_cas4(p, *(uint32_t *)p + (uint32_t)wrong, 7, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED, SITE);
    else
        __portent_atomic_cas8(p, *(uint64_t *)p + wrong, 7, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED, SITE);
}

static void access_guarded(const struct operation *o)
{
    guarded = (char *)((uintptr_t)at(o->a) & ~(uintptr_t)(PAGE - 1));
    faults = 0;
    mode = (int)o->c;
    faulting = o;
    mprotect(guarded, PAGE, PROT_NONE);
    if (sigsetjmp(back, 1) != 0)
        return;
    if (o->what == 'p')
        (void)load(at(o->a), o->b);
    else
        store(at(o->a), o->b);
}

static void in_child(void)
{
    pid_t child = fork();
    int status = 0;
    if (child == 0) {
        for (int i = 0; i < 64; i++) {
            (void)LD8(array + 8 * i);
            ST8(array + 8 * i, 1);
            portent_event("e");
        }
        _exit(0);
    }
    if (waitpid(child, &status, 0) != child || status != 0)
        abort();
}

static void *run(void *context);

static void operate_threads(const struct operation *o)
{
    if (o->what == 'k' && pthread_create(&threads[o->a], NULL, run, (void *)o->a) != 0)
        abort();
    if (o->what == 'j')
        pthread_join(threads[o->a], NULL);
    while (o->what == 'z' && syscall(SYS_tgkill, getpid(), ids[o->a], 0) == 0)
        usleep(100);
}

static void operate(const struct operation *o)
{
    switch (o->what) {
    case 'e':
        portent_event("e");
        break;
    case 'l':
        (void)load(at(o->a), o->b);
        break;
    case 's':
        store(at(o->a), o->b);
        break;
    case 'a':
        if (o->b == 4)
            (void)__portent_atomic_load4(at(o->a), __ATOMIC_SEQ_CST, SITE);
        else
            (void)__portent_atomic_load8(at(o->a), __ATOMIC_SEQ_CST, SITE);
        break;
    case 'S':
        if (o->b == 4)
            __portent_atomic_store4(at(o->a), 1, __ATOMIC_SEQ_CST, SITE);
        else
            __portent_atomic_store8(at(o->a), 1, __ATOMIC_SEQ_CST, SITE);
        break;
    case 'u':
        if (o->b == 4)
            (void)__portent_atomic_rmw4(at(o->a), 1, PT_RMW_ADD, __ATOMIC_SEQ_CST, SITE);
        else
            (void)__portent_atomic_rmw8(at(o->a), 1, PT_RMW_ADD, __ATOMIC_SEQ_CST, SITE);
        break;
    case 'x':
    case 'X':
        exchange(at(o->a), o->b, o->what == 'X');
        break;
    case 'c':
        __portent_memcpy(at(o->a), at(o->b), (size_t)o->c, SITE, SITE);
        break;
    case 'm':
        __portent_memset(at(o->a), 1, (size_t)o->b, SITE);
        break;
    case 'w':
        __portent_watch(at(o->a), (size_t)o->b, 0, "w");
        break;
    case 'n': /* where one was that is free; calloc takes others */
        blocks[o->a] = malloc((size_t)o->b);
        memset(blocks[o->a], 0, (size_t)o->b);
        break;
    case 'f':
        free(blocks[o->a]);
        break;
    case 'F':
        in_child();
        break;
    case 'p':
    case 'P':
        access_guarded(o);
        break;
    case 'y':
        break;
    default:
        operate_threads(o);
    }
}

static void *run(void *context)
{
    int me = (int)(long)context;
    bool mine = false;
    ids[me] = (pid_t)syscall(SYS_gettid);
    for (int i = 0; i < count; i++) {
        if (operations[i].thread != me) {
            mine = false;
            continue;
        }
        if (!mine)
            await(me, i);
        mine = true;
        operate(&operations[i]);
        bool waits = operations[i].what == 'P' && operations[i].c == 5; /* has been handed over, and back */
        if (!waits && (i + 1 == count || operations[i + 1].thread != me))
            hand_over(i + 1);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    FILE *script = argc > 1 ? fopen(argv[1], "r") : NULL;
    struct operation o;
    while (script && count < OPERATIONS &&
           fscanf(script, "%d %c %ld %ld %ld", &o.thread, &o.what, &o.a, &o.b, &o.c) == 5)
        operations[count++] = o;
    if (!script || !count || operations[0].thread != 0)
        return 2;
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    run(NULL);
    if (operations[count - 1].thread != 0)
        await(0, count);
    return 0;
}
