/* The table of core/sync.def, and the search in it. */
#include "core/sync.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/utsname.h>
#include <threads.h>
#include <time.h>

#include "core/channel.h"
#include "core/hooks.h"

/* The details of a row. */
#define OBJECT(n, pointee) .object = (n), .bytes = sizeof(pointee)
#define KERNEL             .kernel = true
#define CARRIED            .carried = true
#define THREAD(n)          .object = (n)
#define STD_THREAD(n)      .object = (n), .joins = true
#define MEMORY(n)          .object = (n)
#define WAITS(n)           .waits = true, .mutex = (n)
#define RUNS(f, a)         .function = (f), .argument = (a)
#define BLOCKS             .patience = PT_SYNC_BLOCKS
#define TRIES(result)      .patience = PT_SYNC_TRIES, .failure = (result)
#define TIMED(result)      .patience = PT_SYNC_TIMED, .failure = (result)
#define SUCCESS(result)    .success = (result)
#define FILLS(n, how)      .buffer = (n), .extent = PT_SYNC_##how
#define ALLOCATES(how)     .buffer = PT_SYNC_RESULT, .extent = PT_SYNC_##how
#define TYPE(name)         .type = sizeof(name)
#define SIZE(n)            .size = (n)
#define COUNT(n)           .count = (n)
#define ZEROED             .zeroed = true
#define FROM(n)            .source = (n)
#define ROOM(n)            .room = (n)
#define MOVES              .moves = true
#define STRING(op)         .string = PT_STRING_##op
#define RETURNS_END        .returns_end = true
#define INTRINSIC          .intrinsic = true

const struct pt_sync_row pt_sync_rows[PT_SYNC_ID_COUNT] = {
#define PT_SYNC(called, by, hook, model, event, ...)                                                                   \
    {.name = #called, .wrapper = PT_SYNC_WRAPPER_##by, .effect = PT_KIND_##event, __VA_ARGS__},
#include "core/sync.def"
};

const struct pt_sync_row *pt_sync_find(const char *name, size_t len)
{
    bool intrinsic = len > 5 && memcmp(name, "llvm.", 5) == 0;
    if (intrinsic) {
        const char *dot = memchr(name + 5, '.', len - 5);
        len = dot ? (size_t)(dot - name) - 5 : 0;
        name += 5;
    }
    for (size_t i = 0; i < PT_SYNC_ID_COUNT; i++) {
        const struct pt_sync_row *row = &pt_sync_rows[i];
        if (*row->name == *name && strncmp(row->name, name, len) == 0 && row->name[len] == '\0')
            return intrinsic && !row->intrinsic ? NULL : row;
    }
    return NULL;
}

bool pt_sync_gives_back(const struct pt_sync_row *row)
{
    return row->effect == PT_KIND_REL || row->effect == PT_KIND_RREL;
}
