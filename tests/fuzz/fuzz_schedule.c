/* Any text is a schedule, or is refused with its line; whatever is one can be compared with a run. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "explore/schedule.h"

/* A run that follows the schedule for a while: the answer is a stretch of it, or that there is none. */
static void compare(const struct pt_explore_schedule *schedule)
{
    enum { STEPS = 64 };
    struct pt_explore_step steps[STEPS] = {0};
    struct pt_explore_outcome outcome = {.steps = steps, .step_count = STEPS};
    struct pt_explore_places places;
    uint64_t step = 0, all = 0;
    pt_explore_places_init(&places);
    uint32_t stretch = pt_explore_schedule_compare(schedule, &outcome, &places, &step);
    for (uint32_t i = 0; i < schedule->stretch_count; i++) {
        if (!schedule->stretches[i].steps || !schedule->points[i])
            abort();
        all += schedule->stretches[i].steps;
    }
    if (stretch > schedule->stretch_count || (stretch == schedule->stretch_count && all > STEPS))
        abort();
    pt_explore_places_release(&places);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pt_explore_schedule schedule;
    struct pt_err err;
    char *text = pt_xmalloc(size + 1);
    if (size)
        memcpy(text, data, size);
    enum pt_status status = pt_explore_schedule_read("fuzz", text, size, &schedule, &err);
    if (status != PT_OK && (status != PT_EINPUT || !err.message[0]))
        abort();
    if (status == PT_OK) {
        compare(&schedule);
        pt_explore_schedule_release(&schedule);
    }
    free(text);
    return 0;
}
