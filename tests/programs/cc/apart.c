// Functions whose body with hooks is one of its own, and some that have to stay whole (src/instrument/apart.c).
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

struct large {
    long part[6];
};
struct large whole = {{1, 2, 3, 4, 5, 6}};
int x, y;
long total;
jmp_buf back;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noinline)) int add(int n)
{
    x += n;
    return x;
}

// More arguments than registers, of several kinds.
__attribute__((noinline)) double many(char a, short b, int c, long d, float e, double f, int g, long h, signed char i)
{
    y = a + b + c + (int)d + g + (int)h + i;
    total += y;
    return e + f + y + total;
}

__attribute__((noinline)) struct large large(long n)
{
    struct large copy = whole;
    copy.part[n % 6] += n;
    whole.part[(n + 1) % 6] = copy.part[0];
    return copy;
}

__attribute__((noinline)) long by_value(struct large given)
{
    given.part[2] += total;
    total += given.part[2];
    return total + given.part[5];
}

__attribute__((noinline)) int sum(int count, ...)
{
    va_list rest;
    va_start(rest, count);
    for (int i = 0; i < count; i++)
        x += va_arg(rest, int);
    va_end(rest);
    return x;
}

__attribute__((noinline)) long fact(long n)
{
    total++;
    return n < 2 ? 1 : n * fact(n - 1);
}

__attribute__((noinline)) int called_from(void *caller)
{
    x++;
    return __builtin_return_address(0) == caller;
}

__attribute__((noinline)) void last(int n)
{
    y = n;
    if (n > 3)
        longjmp(back, n);
}

static void *worker(void *unused)
{
    for (int i = 0; i < 1000; i++) {
        pthread_mutex_lock(&lock);
        total += i;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void)
{
    pthread_t thread[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, worker, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
    printf("%ld %d\n", total, add(3));
    printf("%g\n", many(-1, 2, -3, 4, 0.5F, 0.25, 7, -8, -9));
    struct large copy = large(8);
    long taken = by_value(copy);
    printf("%ld %ld %ld\n", copy.part[2], whole.part[3], taken);
    printf("%d %ld %d\n", sum(4, 1, 2, 3, 4), fact(10), called_from(NULL));
    int thrown = setjmp(back);
    if (thrown == 0)
        last(5);
    printf("%d %d %ld\n", thrown, y, total);
    return 0;
}
