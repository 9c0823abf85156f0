/*
 * A race is one finding for each pair of places (contract section 4), whichever came second and whatever was accessed
 * there: a line may access several variables, and through a pointer any. The first that was found stands for all,
 * with the names of the other variables beside it. Of a race whose places are not both known its variable is all that
 * is known: those stay apart. So do those about which people have decided differently, or what they know of one
 * variable would hide another.
 *
 * Cost: a look-up for each finding.
 */
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "core/finding_key.h"
#include "core/hash.h"
#include "finding/finding.h"

static bool is_same_element(const char *a, const char *b)
{
    while (*a && *a == *b) {
        a = pt_finding_key_next(a);
        b = pt_finding_key_next(b);
    }
    return *a == *b;
}

/* Blocks of the heap, and addresses, are called otherwise in each run. */
static bool has_name(const struct pt_finding *finding)
{
    return !finding->block && strncmp(finding->object, "0x", 2) != 0;
}

void pt_finding_join(struct pt_finding *into, const struct pt_finding *other)
{
    uint32_t count = 0;
    bool known = !has_name(other) || is_same_element(into->object, other->object);
    for (; into->also && into->also[count]; count++)
        known |= is_same_element(into->also[count], other->object);
    if (known || count == PT_ALSO_MAX)
        return;
    const char **names = pt_arena_alloc(&into->arena, ((size_t)count + 2) * sizeof *names);
    if (count)
        memcpy(names, into->also, count * sizeof *names);
    names[count] = pt_arena_strndup(&into->arena, other->object, strlen(other->object));
    names[count + 1] = NULL;
    into->also = names;
}

uint64_t pt_finding_places(const struct pt_finding *finding)
{
    return finding->side_count == 2 ? pt_finding_key_places(finding->sides[0].step.loc, finding->sides[1].step.loc) : 0;
}

void pt_finding_join_places(struct pt_finding *first, bool (*suppressed)(void *context, const struct pt_finding *),
                            void *context)
{
    struct pt_map64 by_places;
    uint32_t kept = 0;
    pt_map64_init(&by_places);
    for (uint32_t i = 0; i <= first->more_count; i++) {
        struct pt_finding *finding = i ? first->more[i - 1] : first;
        uint64_t key = pt_finding_places(finding);
        if (key && suppressed && suppressed(context, finding))
            key = pt_mix64(key);
        uint32_t *index = key ? pt_map64_at(&by_places, key) : NULL;
        if (index && *index != PT_NONE) {
            struct pt_finding *same = *index ? first->more[*index - 1] : first;
            pt_finding_join(same, finding);
            same->count += finding->count;
            pt_finding_free(finding);
            continue;
        }
        if (index)
            *index = i ? kept + 1 : 0;
        if (i)
            first->more[kept++] = finding;
    }
    first->more_count = kept;
    pt_map64_release(&by_places);
}
