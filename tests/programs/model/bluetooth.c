/* The simplified Bluetooth driver of the KISS and causal-atomicity papers, in C. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "portent.h"

static struct {
    atomic_int pending_io;
    int stopping_flag, stopping_event, stopped;
} device = {.pending_io = 1};

static int io_increment(void)
{
    if (device.stopping_flag)
        return -1;
    atomic_fetch_add(&device.pending_io, 1);
    return 0;
}

static void io_decrement(void)
{
    atomic_fetch_sub(&device.pending_io, 1);
    if (device.pending_io == 0)
        device.stopping_event = 1;
}

static void *add(void *arg)
{
    portent_begin("Add");
    int status = io_increment();
    if (status == 0 && device.stopped)
        fprintf(stderr, "used after it was stopped\n");
    io_decrement();
    portent_end("Add");
    return arg;
}

static void *stop(void *arg)
{
    portent_begin("Stop");
    device.stopping_flag = 1;
    io_decrement();
    while (!device.stopping_event)
        ;
    device.stopped = 1;
    portent_end("Stop");
    return arg;
}

int main(void)
{
    pthread_t a, s;
    pthread_create(&a, NULL, add, NULL);
    pthread_create(&s, NULL, stop, NULL);
    pthread_join(a, NULL);
    pthread_join(s, NULL);
    return 0;
}
