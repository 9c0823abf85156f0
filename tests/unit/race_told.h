/* The races that runtime/race has told of, each with its earlier side. */
#ifndef RACE_TOLD_H
#define RACE_TOLD_H

#include "race_hooks.h"
#include "race_util.h"
#include "runtime/race/fast.h"

enum { SITES = 8, FOUND = 64 };

static struct pt_site sites[SITES];
static unsigned found_count;
static struct {
    uint64_t thread;
    const struct pt_site *site;
} told[FOUND];

static void on_found(const struct pt_found *found, uint64_t asked_for)
{
    (void)asked_for;
    assert_true(found_count < FOUND);
    told[found_count].thread = found->sides[0].thread - 1;
    told[found_count++].site = found->sides[0].stack.sites[0];
}

static bool is_told(uint64_t thread, unsigned site)
{
    for (unsigned i = 0; i < found_count; i++)
        if (told[i].thread == thread && told[i].site == &sites[site])
            return true;
    return false;
}

/* Before all tests. */
static int start_told(void **state)
{
    (void)state;
    pt_race_looks.threads = true;
    return start_races(sites, SITES, on_found) ? 0 : -1;
}

#endif
