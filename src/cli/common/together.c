/*
 * Several processes, one command; see together.h. Guarantee: whatever goes wrong with one of them is told once, and all
 * end with the same status; that they have read the same trace is compared by a hash of its events and names. Cost: a
 * few short messages, and a few multiplications for each event.
 */
#include "cli/common/together.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/diag.h"
#include "cli/common/prefix.h"

static struct {
    struct pt_group *group;
    int held, shown;
} together;

/* Open MPI's mpirun tells how many there are; other launchers that speak PMIx only which one this is. */
static bool is_one_of_several(void)
{
    const char *size = getenv("OMPI_COMM_WORLD_SIZE");
    return size ? strtol(size, NULL, 10) > 1 : getenv("PMIX_RANK") && getenv("PMIX_NAMESPACE");
}

static bool is_first(void)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    rank = rank ? rank : getenv("PMIX_RANK");
    return !rank || strcmp(rank, "0") == 0;
}

int pt_together_hand_over(char **argv)
{
    char prefix[PATH_MAX], program[PATH_MAX + 64];
    struct pt_err err;
    if (!is_one_of_several())
        return -1;
    if (pt_prefix_find(prefix, sizeof prefix)) {
        snprintf(program, sizeof program, "%s/libexec/portent/portent-mpi", prefix);
        if (access(program, X_OK) == 0) {
            execv(program, argv);
            (void)pt_err_set(&err, PT_EIO, "cannot start %.300s: %s", program, strerror(errno));
            pt_diag_error(&err);
            return PT_EXIT_BAD;
        }
    }
    if (is_first()) {
        (void)pt_err_set(&err, PT_EUSAGE,
                         "mpirun started this as one of several processes, and portent-mpi, which divides the work "
                         "among them, is not installed");
        pt_err_hint(&err, "install the package portent-mpi, or run 'portent check' without mpirun");
        pt_diag_error(&err);
    }
    return PT_EXIT_BAD;
}

void pt_together_begin(struct pt_group *group, int held, int shown)
{
    together.group = group;
    together.held = held;
    together.shown = shown;
}

struct pt_group *pt_together_group(void)
{
    return together.group;
}

bool pt_together_leads(void)
{
    return pt_group_leads(together.group);
}

static void show_held(void)
{
    char text[4096];
    ssize_t n;
    off_t at = 0;
    dprintf(together.shown, "rank %u of %u:\n", together.group->rank, together.group->size);
    while ((n = pread(together.held, text, sizeof text, at)) > 0) {
        at += n;
        if (write(together.shown, text, (size_t)n) != n)
            return; /* nobody is left to tell */
    }
}

/* The first process of which `no` is true; PT_NONE: none is. */
static uint32_t first_of(bool no)
{
    const struct pt_group *group = together.group;
    unsigned char mine = no;
    uint32_t first = PT_NONE;
    struct pt_group_bytes *all = pt_group_gather(group, &mine, 1);
    for (uint32_t p = group->size; p-- > 0;)
        if (all[p].data[0])
            first = p;
    pt_group_bytes_release(all, group->size);
    return first;
}

bool pt_together_agree(bool well)
{
    if (!pt_group_shares(together.group))
        return well;
    uint32_t first = first_of(!well);
    if (first == together.group->rank && first != 0)
        show_held();
    return first == PT_NONE;
}

void pt_together_part(void)
{
    if (together.group)
        together.group->size = 1;
}

uint64_t pt_together_digest(uint64_t before, const struct pt_event *event)
{
    bool text = event->value.kind == PT_VALUE_STRING;
    uint64_t value = text ? pt_fnv(PT_FNV_NOTHING, event->value.s, event->value.len) : event->value.u;
    before = pt_mix64(before ^ event->op ^ (uint64_t)event->thread << 32);
    before = pt_mix64(before ^ event->object ^ (uint64_t)event->loc << 32);
    for (uint32_t i = 0; i < event->clock_len; i++)
        before = pt_mix64(before ^ event->clock[i].thread ^ event->clock[i].count << 32);
    return pt_mix64(before ^ value ^ (uint64_t)event->value.kind << 56);
}

bool pt_together_same(uint64_t digest, const struct pt_names *names)
{
    const struct pt_group *group = together.group;
    struct pt_err err;
    if (!pt_group_shares(group))
        return true;
    for (uint32_t space = 0; space < PT_SPACE_COUNT; space++)
        for (uint32_t id = 0; id < names->space[space].count; id++)
            digest = pt_mix64(digest ^ names->space[space].entries[id].hash);
    uint64_t first = digest;
    group->spread(group->context, 0, &first, sizeof first);
    if (first != digest) {
        (void)pt_err_set(&err, PT_EINPUT, "this process has read another trace than the first one");
        pt_diag_error(&err);
    }
    return pt_together_agree(first == digest);
}
