/*
 * Places of the program over all jobs. Each job's file has its own list, in the order in which its program met them;
 * here they are one list, by the address of the site, which is the same in all jobs since they are loaded to the same
 * addresses. What is a scheduling point goes by key, which survives changes of the source. Keys that a file lacks are
 * written to it as places without a site: the program makes whatever has such a key a point from its first access on.
 * Cost: linear in what is new.
 */
#include "explore/places.h"

#include <stdlib.h>
#include <string.h>

void pt_explore_places_init(struct pt_explore_places *places)
{
    *places = (struct pt_explore_places){.limit = UINT32_MAX};
    pt_arena_init(&places->arena);
    pt_map64_init(&places->by_site);
    pt_map64_init(&places->by_key);
    pt_map64_init(&places->chosen);
    struct pt_explore_spot none = {.file = "", .function = "", .variable = ""};
    PT_PUSH(places->spots, places->spot_count, places->spot_cap, none);
}

void pt_explore_places_release(struct pt_explore_places *places)
{
    for (size_t i = 0; i < sizeof places->jobs / sizeof *places->jobs; i++)
        free(places->jobs[i].spots);
    free(places->spots);
    free(places->shared);
    pt_map64_release(&places->by_site);
    pt_map64_release(&places->by_key);
    pt_map64_release(&places->chosen);
    pt_arena_release(&places->arena);
}

/* Whatever stands in the file, the text ends. */
static const char *copy_text(struct pt_explore_places *places, const struct pt_explore *file, uint32_t offset)
{
    if (offset >= file->texts_max)
        return "";
    const char *text = PT_EXPLORE_AT(const char, file, texts_offset) + offset;
    size_t len = strnlen(text, file->texts_max - offset);
    return len ? pt_arena_strndup(&places->arena, text, len) : "";
}

static uint32_t add_spot(struct pt_explore_places *places, const struct pt_explore *file,
                         const struct pt_explore_place *place)
{
    uint32_t *at = place->site ? pt_map64_at(&places->by_site, place->site) : NULL;
    if (at && *at != PT_NONE)
        return *at;
    uint32_t index = places->spot_count;
    if (at)
        *at = index;
    struct pt_explore_spot spot = {.key = place->key,
                                   .site = place->site,
                                   .file = copy_text(places, file, place->file),
                                   .function = copy_text(places, file, place->function),
                                   .variable = copy_text(places, file, place->variable),
                                   .line = place->line,
                                   .column = place->column};
    PT_PUSH(places->spots, places->spot_count, places->spot_cap, spot);
    return index;
}

void pt_explore_places_read(struct pt_explore_places *places, uint32_t job, const struct pt_explore *file)
{
    const struct pt_explore_place *list = PT_EXPLORE_AT(const struct pt_explore_place, file, places_offset);
    uint32_t count = atomic_load_explicit(&file->place_count, memory_order_acquire);
    if (count > file->places_max)
        count = file->places_max;
    while (places->jobs[job].count < count) {
        uint32_t i = places->jobs[job].count;
        uint32_t spot = i == 0 ? 0 : add_spot(places, file, &list[i]);
        PT_PUSH(places->jobs[job].spots, places->jobs[job].count, places->jobs[job].cap, spot);
    }
}

bool pt_explore_places_share(struct pt_explore_places *places, uint64_t key, const char *variable)
{
    uint32_t *at = pt_map64_at(&places->by_key, key);
    if (*at != PT_NONE)
        return false;
    *at = places->shared_count;
    struct pt_explore_shared shared = {.key = key,
                                       .variable = pt_arena_strndup(&places->arena, variable, strlen(variable))};
    PT_PUSH(places->shared, places->shared_count, places->shared_cap, shared);
    return true;
}

void pt_explore_places_unmeet(struct pt_explore *file)
{
    struct pt_explore_place *list = PT_EXPLORE_AT(struct pt_explore_place, file, places_offset);
    uint32_t count = atomic_load_explicit(&file->place_count, memory_order_acquire);
    for (uint32_t i = 1; i < count && i < file->places_max; i++)
        atomic_fetch_and_explicit(&list[i].flags, ~(uint32_t)PT_EXPLORE_MET, memory_order_relaxed);
}

static int compare_keys(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* In an order that does not depend on what the job has run before. */
void pt_explore_places_met(const struct pt_explore *file, struct pt_explore_outcome *outcome)
{
    const struct pt_explore_place *list = PT_EXPLORE_AT(const struct pt_explore_place, file, places_offset);
    uint32_t count = atomic_load_explicit(&file->place_count, memory_order_acquire);
    size_t cap = 0;
    for (uint32_t i = 1; i < count && i < file->places_max; i++)
        if (atomic_load_explicit(&list[i].flags, memory_order_relaxed) & PT_EXPLORE_MET)
            PT_PUSH(outcome->met, outcome->met_count, cap, list[i].key);
    if (outcome->met_count)
        qsort(outcome->met, outcome->met_count, sizeof *outcome->met, compare_keys);
}

static const char *variable_of(const struct pt_explore_places *places, uint64_t key)
{
    for (uint32_t i = 1; i < places->spot_count; i++)
        if (places->spots[i].key == key)
            return places->spots[i].variable;
    return "";
}

uint32_t pt_explore_places_meet(struct pt_explore_places *places, const struct pt_explore_outcome *outcome)
{
    uint32_t fresh = 0;
    for (uint32_t i = 0; i < outcome->met_count; i++)
        if (pt_map64_get(&places->by_key, outcome->met[i]) == PT_NONE)
            fresh += pt_explore_places_share(places, outcome->met[i], variable_of(places, outcome->met[i]));
    return fresh;
}

void pt_explore_places_choose_none(struct pt_explore_places *places)
{
    pt_map64_release(&places->chosen);
    pt_map64_init(&places->chosen);
}

void pt_explore_places_choose(struct pt_explore_places *places, uint64_t key)
{
    *pt_map64_at(&places->chosen, key) = 1;
}

/* A key that none of the file's places has. */
static void add_key(struct pt_explore *file, uint64_t key, uint32_t flags)
{
    struct pt_explore_place *list = PT_EXPLORE_AT(struct pt_explore_place, file, places_offset);
    uint32_t count = atomic_load(&file->place_count);
    if (count == 0)
        count = 1; /* index 0 is no place */
    if (count >= file->places_max)
        return;
    list[count] = (struct pt_explore_place){.key = key};
    atomic_store(&list[count].flags, flags);
    atomic_store_explicit(&file->place_count, count + 1, memory_order_release);
}

void pt_explore_places_write(const struct pt_explore_places *places, struct pt_explore *file)
{
    struct pt_explore_place *list = PT_EXPLORE_AT(struct pt_explore_place, file, places_offset);
    uint32_t count = atomic_load_explicit(&file->place_count, memory_order_acquire);
    bool *there = pt_xcalloc((size_t)places->shared_count + 1, sizeof *there);
    for (uint32_t i = 1; i < count && i < file->places_max; i++) {
        uint32_t shared = pt_map64_get(&places->by_key, list[i].key);
        uint32_t flags = atomic_load(&list[i].flags) & ~(uint32_t)(PT_EXPLORE_SHARED | PT_EXPLORE_CHOSEN);
        if (shared < places->limit && shared != PT_NONE) {
            there[shared] = true;
            flags |= PT_EXPLORE_SHARED;
        }
        if (pt_map64_get(&places->chosen, list[i].key) != PT_NONE)
            flags |= PT_EXPLORE_CHOSEN;
        atomic_store(&list[i].flags, flags);
    }
    for (uint32_t i = 0; i < places->shared_count && i < places->limit; i++)
        if (!there[i])
            add_key(file, places->shared[i].key, PT_EXPLORE_SHARED);
    free(there);
}

void pt_explore_places_take(const struct pt_explore_places *places, struct pt_explore_outcome *outcome)
{
    const uint32_t *spots = places->jobs[outcome->job].spots;
    uint32_t count = places->jobs[outcome->job].count;
    for (uint32_t i = 0; i < outcome->step_count; i++)
        outcome->steps[i].place = outcome->steps[i].place < count ? spots[outcome->steps[i].place] : 0;
    for (uint32_t i = 0; i < outcome->thread_count; i++)
        outcome->threads[i].place = outcome->threads[i].place < count ? spots[outcome->threads[i].place] : 0;
    if (outcome->result.lost_place)
        outcome->result.lost_place = outcome->result.lost_place < count ? spots[outcome->result.lost_place] : 0;
}
