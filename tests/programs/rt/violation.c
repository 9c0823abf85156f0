/*
 * Violations told to the program, as an engine in the runtime would: violation MODE. Links the archive, whose insides
 * are visible.
 */
#include "hooks.h"
#include "runtime/local/violation.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

static int a;
static jmp_buf out;
static pthread_t violator;

static void tell(void *context, const char *property)
{
    printf("%s %s%s%s\n", (const char *)context, property, pthread_equal(pthread_self(), violator) ? "" : " elsewhere",
           pt_self->busy ? " inside" : "");
}

static void violate_again(void *context, const char *property)
{
    tell(context, property);
    pt_violation_notify(pt_thread_now(), "again");
}

static void leave(void *context, const char *property)
{
    tell(context, property);
    longjmp(out, 1);
}

/* As a hook does: the callback must wait until the thread has let everything go. */
static void violate_inside(void)
{
    pt_enter(pt_self);
    pt_enter(pt_self);
    pt_violation_notify(pt_thread_now(), "p");
    pt_violation_notify(pt_thread_now(), "q");
    pt_violation_notify(pt_thread_now(), "p");
    pt_leave(pt_self);
    puts("still inside");
    pt_leave(pt_self);
}

static void *run(void *mode)
{
    violator = pthread_self();
    if (strcmp(mode, "leave") == 0) {
        portent_on_violation(leave, "first");
        if (!setjmp(out))
            pt_violation_notify(pt_thread_now(), "p");
        if (!setjmp(out))
            pt_violation_notify(pt_thread_now(), "q");
        return NULL;
    }
    portent_on_violation(NULL, NULL);
    portent_on_violation(strcmp(mode, "again") == 0 ? violate_again : tell, "first");
    portent_on_violation(tell, "second");
    violate_inside();
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    ST4(&a, 1);
    if (argc < 2 || pthread_create(&thread, NULL, run, argv[1]) != 0)
        return 2;
    pthread_join(thread, NULL);
    puts("end");
    return 0;
}
