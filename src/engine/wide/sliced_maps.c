/*
 * What the relevant events of a slice do to the property's monitor when it is not known yet where the slice begins: a
 * map from each configuration to the one it ends in (prediction notes, 3.10: "store the map Q->Q per slice"). Equal
 * maps have one number, so that a state keeps a number for each slice after the first, and the run's end is found by
 * going from the end of slice 0 through the maps of the others.
 *
 * Maps are defined on all configurations that the letters known so far lead to, in whatever order they are read: where
 * a slice begins is where those before it have ended, and these have read no others. A letter that comes later leads
 * to new ones, of which older maps, whose words nobody has kept, say nothing: all begins anew then
 * (sliced_live.c), unless no slice has read anything: that has a number of its own, which a word that happens to change
 * none of the configurations known so far does not get. A configuration that is over stays, since nothing is read after
 * a violation.
 *
 * Guarantee: the image under a map is where the monitor is after the words that it stands for, from any configuration
 * that is known. Cost: a look-up per step that was made before, otherwise a step of the monitor for each
 * configuration; memory 8 bytes for each map and configuration.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/wide/sliced_impl.h"

enum { MOST_CONFIGS = 2048, MOST_STEPS = 1 << 18, MOST_IMAGES = 1 << 22 };

void sliced_maps_init(struct sliced_maps *maps, struct sliced_monitor *monitor)
{
    *maps = (struct sliced_maps){.monitor = monitor};
    pt_strtab_init(&maps->known);
    pt_map64_init(&maps->steps);
}

void sliced_maps_release(struct sliced_maps *maps)
{
    free(maps->images);
    free(maps->image);
    pt_strtab_release(&maps->known);
    pt_map64_release(&maps->steps);
}

size_t sliced_maps_bytes(const struct sliced_maps *maps)
{
    return (maps->image_cap + maps->scratch_cap) * sizeof *maps->images + pt_strtab_bytes(&maps->known) +
           pt_map64_bytes(&maps->steps);
}

/* The number of the map in `image`; PT_NONE: there are too many. */
static uint32_t intern(struct sliced_maps *maps)
{
    size_t length = maps->configs * sizeof *maps->image;
    uint32_t number = pt_strtab_find(&maps->known, (const char *)maps->image, length);
    if (number != PT_NONE)
        return number;
    if (((size_t)maps->count + 1) * maps->configs > MOST_IMAGES)
        return PT_NONE;
    number = pt_strtab_intern(&maps->known, (const char *)maps->image, length);
    PT_GROW(maps->images, maps->image_cap, ((size_t)number + 1) * maps->configs);
    memcpy(maps->images + (size_t)number * maps->configs, maps->image, length);
    maps->count++;
    return number;
}

/* All that can be reached by the letters there are. */
static bool reach(struct sliced_monitor *m)
{
    for (uint32_t config = 0; config < m->config_count; config++) {
        if (m->config_count > MOST_CONFIGS || (uint64_t)m->config_count * m->letter_count > MOST_STEPS)
            return false;
        for (uint32_t letter = 0; letter < m->letter_count && !sliced_is_over(m, config); letter++)
            (void)sliced_monitor_step(m, config, letter);
    }
    return true;
}

bool sliced_maps_close(struct sliced_maps *maps)
{
    struct sliced_monitor *monitor = maps->monitor;
    if (!reach(monitor))
        return false;
    sliced_maps_release(maps);
    sliced_maps_init(maps, monitor);
    maps->letters = monitor->letter_count;
    maps->configs = monitor->config_count;
    maps->count = pt_strtab_intern(&maps->known, "", 0) + 1;
    PT_GROW(maps->image, maps->scratch_cap, maps->configs);
    PT_GROW(maps->images, maps->image_cap, maps->configs);
    for (uint32_t config = 0; config < maps->configs; config++)
        maps->images[config] = config;
    return true;
}

uint32_t sliced_maps_step(struct sliced_maps *maps, uint32_t map, uint32_t letter)
{
    uint64_t key = (uint64_t)map << 32 | letter;
    uint32_t known = pt_map64_get(&maps->steps, key);
    if (known != PT_NONE)
        return known;
    for (uint32_t config = 0; config < maps->configs; config++) {
        uint32_t image = sliced_maps_image(maps, map, config);
        maps->image[config] =
            sliced_is_over(maps->monitor, image) ? image : sliced_monitor_step(maps->monitor, image, letter);
    }
    uint32_t after = intern(maps);
    if (after != PT_NONE)
        *pt_map64_at(&maps->steps, key) = after;
    return after;
}
