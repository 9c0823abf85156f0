/* Character arrays that the library's string functions write. */
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

char state[16], padded[8], made[700];

static void format(const char *how, ...)
{
    va_list arguments;
    va_start(arguments, how);
    vsnprintf(state, sizeof state, how, arguments);
    va_end(arguments);
}

static void *writer(void *name)
{
    strcpy(state, "start");
    if (stpcpy(state, name) != state + strlen(name))
        return NULL;
    strcat(state, "-on");
    strncat(state, "linear", 3);
    strncpy(padded, "ab", sizeof padded);
    if (stpncpy(padded, "longer than that", sizeof padded) != padded + sizeof padded)
        return NULL;
    snprintf(state, sizeof state, "n=%d", 42);
    format("%s!", "done");
    memset(made, 'x', sizeof made - 1);
    return name;
}

int main(void)
{
    pthread_t thread;
    void *result;
    char name[] = "go";
    pthread_create(&thread, NULL, writer, name);
    pthread_join(thread, &result);
    char copy[sizeof made] = "y";
    strcpy(copy, made); /* more than one piece of the runtime's */
    printf("%s %.8s %zu\n", state, padded, strlen(copy));
    return result ? 0 : 1;
}
