/* expect: count false, wrapped false, read true */
/* note: formats.c:\d+: what 'printf with %n' does is not known.* */
/* note: formats.c:\d+: what 'vprintf with %n' does is not known.* */
/* unknown: printf with %n, vprintf with %n */
/* printf writes through %n, also with a length and in a format that comes from elsewhere; without it, it reads. */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

#include "portent.h"

static int count;
static signed char wrapped;
static char text[4];

static void print(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vprintf(format, args);
    va_end(args);
}

static void *run(void *arg)
{
    printf("abc%n", &count);
    print("abc%hhn", &wrapped);
    printf("%s", text);
    return arg;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, run, NULL);
    portent_begin("count");
    count++;
    portent_end("count");
    portent_begin("wrapped");
    wrapped++;
    portent_end("wrapped");
    portent_begin("read");
    printf("%s", text);
    printf("%s", text);
    portent_end("read");
    return pthread_join(thread, NULL);
}
