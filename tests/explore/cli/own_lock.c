/* A lock of its own, whose system call stands in assembly: who waits for it sleeps in the kernel, with the turn. It is
 * a right lock. */
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { WAIT = 0, WAKE = 1 };
static int word, shared;

#if defined(__x86_64__)
static void futex(int operation, int value)
{
    long result;
    register long limit __asm__("r10") = 0;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"((long)SYS_futex), "D"(&word), "S"((long)operation), "d"((long)value), "r"(limit)
                     : "rcx", "r11", "memory");
}
static int swap(int value)
{
    __asm__ volatile("xchgl %0, %1" : "+r"(value), "+m"(word)::"memory");
    return value;
}
#else
#error "no assembly for this machine"
#endif

static void lock(void)
{
    while (swap(2))
        futex(WAIT, 2);
}

static void unlock(void)
{
    swap(0);
    futex(WAKE, 1);
}

static void *work(void *unused)
{
    for (int i = 0; i < 10; i++) {
        lock();
        int seen = __atomic_load_n(&shared, __ATOMIC_SEQ_CST);
        __atomic_store_n(&shared, seen + 1, __ATOMIC_SEQ_CST);
        unlock();
    }
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return shared == 20 ? 0 : 1;
}
