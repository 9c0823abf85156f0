/* Hooks of the race engine for tests that want every race told, each time it happens. */
#ifndef PT_TESTS_UNIT_RACE_HOOKS_H
#define PT_TESTS_UNIT_RACE_HOOKS_H

#include "runtime/race/race.h"

static bool is_new(uint64_t key)
{
    return key != 0;
}
static uint64_t asked(uintptr_t granule, unsigned bytes, uint32_t one, uint32_t other)
{
    return granule && bytes && one != other ? PT_RACE_CHECK : 0;
}
static uint64_t apart(uintptr_t address, bool element, uint32_t one, uint32_t other)
{
    (void)address, (void)element, (void)one, (void)other;
    return 0;
}

#endif
